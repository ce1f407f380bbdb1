/* SPDX-License-Identifier: BSD-2-Clause */
/* A file has offsets, counts and a total of 32 bits each, so an image is cut into windows of 4 GiB
 * and these, where counts are larger than that, into several files: readers add them up.  What a
 * line says is as in src/port/dcpi_out.c, but for `dwell-event`: without it a file speaks for
 * itself, so that those of several processes add up. */
#include "inproc/dcpi_write.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inproc/out.h"
#include "inproc/machine.h"

enum { PAGE_BYTES = 4096, MOST_ZEROS = 2 }; /* of which a gap is cheaper than a new chunk */

/* A line with a text, which holds no newline and does not begin with a blank then. */
static void put_text(struct out *o, const char *word, const char *text)
{
	out_put(o, word, strlen(word));
	out_put(o, " ", 1);
	if (!*text)
		text = "unknown";
	for (const char *p = text; *p; p++)
		out_put(o, *p == '\n' || (p == text && (*p == ' ' || *p == '\t')) ? "?" : p, 1);
	out_put(o, "\n", 1);
}

/* FNV-1a. */
static uint64_t hash_more(uint64_t h, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
	return h;
}

static uint64_t hash_image(const struct loaded_code *c, const char *path)
{
	return hash_more(hash_more(0xcbf29ce484222325u, &(uint8_t[]){(uint8_t)c->kind}, 1), path,
			 strlen(path));
}

static const char *kind_name(enum loaded_kind k)
{
	return k == CODE_FILE ? "file" : k == CODE_VDSO ? "vdso" : "anon";
}

static void put_id(struct out *o, const struct loaded_code *c, const char *path)
{
	if (!c->n_id) {
		out_line(o, "image %016" PRIx64 "\n", hash_image(c, path));
		return;
	}
	out_line(o, "image ");
	for (unsigned i = 0; i < c->n_id; i++)
		out_line(o, "%02x", c->id[i]);
	out_line(o, "\n");
}

/* One file's part of an image. */
struct part {
	uint64_t tstart, tsize;
	const struct dcpi_place *places;
	size_t n;
	uint64_t skip; /* of the first place's ticks, that are in an earlier part */
	uint64_t n_ticks;
};

/* UTC of SECONDS since 1970: the civil calendar repeats every 400 years.  gmtime_r(3) takes a lock,
 * which a child of fork(2) may find taken. */
struct date {
	int year, month, day, hour, minute, second;
};

static bool is_leap(int y)
{
	return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
}

static struct date date_of(uint64_t seconds)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	const int of_400_years = 146097;
	int left = (int)(seconds / 86400 % (uint64_t)of_400_years);
	int in_day = (int)(seconds % 86400);
	struct date d = {.year = 1970 + 400 * (int)(seconds / 86400 / (uint64_t)of_400_years),
			 .month = 1,
			 .hour = in_day / 3600,
			 .minute = in_day / 60 % 60,
			 .second = in_day % 60};

	for (; left >= 365 + is_leap(d.year); d.year++)
		left -= 365 + is_leap(d.year);
	for (; left >= days[d.month - 1] + (d.month == 2 && is_leap(d.year)); d.month++)
		left -= days[d.month - 1] + (d.month == 2 && is_leap(d.year));
	d.day = left + 1;
	return d;
}

static void put_header(struct out *o, const struct dcpi_facts *f, const struct loaded_code *c,
		       const char *path, const struct part *p, const struct dcpi_loss *losses,
		       size_t n_losses)
{
	const struct date d = date_of(f->epoch_s);

	out_line(o, "version pdb-0.07\n");
	put_id(o, c, path);
	if (d.year < 2070) /* what two digits of a year can say */
		out_line(o, "epoch %02d%02d%02d%02d%02d\n", d.year % 100, d.month, d.day, d.hour,
			 d.minute);
	else
		out_line(o, "epoch %04d%02d%02d%02d%02d%02d\n", d.year, d.month, d.day, d.hour,
			 d.minute, d.second);
	put_text(o, "platform", f->host);
	put_text(o, "event", f->event);
	out_line(o, "period %" PRIu64 "\ntstart %012" PRIx64 "\ntsize %" PRIu64 "\ncpuspeed %u\n",
		 f->period, p->tstart, p->tsize, machine_mhz(f->host));
	if (*path)
		put_text(o, "path", path);
	out_line(o, "dwell-stride 1\ndwell-kind %s\n",
		 c->kind > CODE_ANON ? "unknown" : kind_name(c->kind));
	if (!c->n_id)
		out_line(o, "dwell-id derived\n");
	if (c->flags & CODE_DELETED)
		out_line(o, "dwell-flag deleted\n");
	if (c->flags & CODE_OFFSETS)
		out_line(o, "dwell-flag offsets\n");
	if (c->text_start != p->tstart || c->text_bytes != p->tsize)
		out_line(o, "dwell-text %" PRIu64 " %" PRIu64 "\n", c->text_start, c->text_bytes);
	out_line(o, "dwell-time %" PRIu64 " %" PRIu64 "\ndwell-engine in-process\n", f->start_ns,
		 f->end_ns);
	put_text(o, "dwell-command", f->command);
	if (f->is_clock)
		out_line(o, "dwell-unit ns\n");
	for (size_t i = 0; i < n_losses; i++)
		if (losses[i].n)
			out_line(o, "dwell-lost %" PRIu64 " %s\n", losses[i].n, losses[i].name);
	out_line(o, "samples");
	while ((o->n_all + 1) % 4)
		out_put(o, " ", 1);
	out_put(o, "\n", 1);
}

/* Ticks of place I of P. */
static uint64_t ticks_of(const struct part *p, size_t i, uint64_t before)
{
	uint64_t n = p->places[i].n - (i ? 0 : p->skip);

	return n < p->n_ticks - before ? n : p->n_ticks - before;
}

static void put_counts(struct out *o, const struct part *p)
{
	uint64_t sum = 0;

	for (size_t i = 0, end; i < p->n; i = end) {
		uint64_t at = p->places[i].svma;

		for (end = i + 1; end < p->n; end++)
			if (p->places[end].svma - p->places[end - 1].svma > MOST_ZEROS + 1)
				break;
		out_u32(o, at - p->tstart);
		out_u32(o, p->places[end - 1].svma - at + 1);
		for (; i < end; i++, at++) {
			for (; at < p->places[i].svma; at++)
				out_u32(o, 0);
			out_u32(o, ticks_of(p, i, sum));
			sum += ticks_of(p, i, sum);
		}
	}
	out_u32(o, p->n);
	out_u32(o, sum);
}

/* Appends TEXT as part of a file's name; what might leave the directory or hide becomes '_'. */
static void add_name(char *name, size_t size, const char *text, size_t max)
{
	size_t n = strlen(name);

	for (size_t i = 0; text[i] && i < max && n + 1 < size; i++) {
		char c = text[i];
		bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
			     (c >= 'A' && c <= 'Z') ||
			     (strchr("-_.+@:=,", c) && !(c == '.' && n == 0));

		name[n++] = plain ? c : '_';
	}
	name[n] = 0;
}

static void make_name(char *name, size_t size, const struct dcpi_facts *f,
		      const struct loaded_code *c, const char *path, const struct part *p,
		      unsigned part)
{
	const char *slash = strrchr(path, '/');
	uint64_t h = hash_image(c, path);
	size_t n;

	h = hash_more(h, c->id, c->n_id);
	h = hash_more(h, &(uint64_t[]){c->flags, c->text_start, f->who, f->period, part}, 40);
	*name = 0;
	add_name(name, size, slash && slash[1] ? slash + 1 : *path ? path : "unknown", 100);
	add_name(name, size, ".", 1);
	add_name(name, size, f->event, 60);
	n = strlen(name);
	snprintf(name + n, size - n, ".%016" PRIx64, h);
}

static int write_part(int dirfd, const struct dcpi_facts *f, const struct loaded_code *c,
		      const char *path, const struct part *p, unsigned part,
		      const struct dcpi_loss *losses, size_t n_losses)
{
	struct profile_out file;
	char name[256];
	int e;

	make_name(name, sizeof(name), f, c, path, p, part);
	e = out_open(&file, dirfd, name);
	if (e < 0)
		return e;
	put_header(&file.out, f, c, path, p, losses, n_losses);
	put_counts(&file.out, p);
	return out_close(&file);
}

/* The part that begins SKIP ticks into the first of the N PLACES: as much as one file holds. */
static struct part next_part(const struct loaded_code *c, const struct dcpi_place *places, size_t n,
			     uint64_t skip)
{
	const uint64_t window = places->svma >> 32;
	bool whole =
		c->text_bytes && c->text_start <= places->svma && c->text_start >> 32 == window;
	struct part p = {.tstart =
				 whole ? c->text_start : places->svma & ~(uint64_t)(PAGE_BYTES - 1),
			 .places = places,
			 .skip = skip};

	while (p.n < n && places[p.n].svma >> 32 == window && p.n_ticks < UINT32_MAX) {
		p.n_ticks += places[p.n].n - (p.n ? 0 : skip);
		p.n++;
	}
	if (p.n_ticks > UINT32_MAX)
		p.n_ticks = UINT32_MAX;
	p.tsize = whole ? c->text_bytes : places[p.n - 1].svma - p.tstart + 1;
	return p;
}

int dcpi_write_image(int dirfd, const struct dcpi_facts *f, const struct loaded_code *code,
		     const char *path, const struct dcpi_place *places, size_t n,
		     const struct dcpi_loss *losses, size_t n_losses)
{
	uint64_t skip = 0;
	int e = 0;

	for (unsigned part = 0; n && e >= 0; part++) {
		struct part p = next_part(code, places, n, skip);
		uint64_t left = p.n_ticks;

		e = write_part(dirfd, f, code, path, &p, part, losses, part ? 0 : n_losses);
		/* go on where this part's ticks end */
		while (n && left >= places->n - skip) {
			left -= places->n - skip;
			places++;
			n--;
			skip = 0;
		}
		skip += left;
	}
	return e;
}

int dcpi_write_nothing(int dirfd, const struct dcpi_facts *f, const struct dcpi_loss *losses,
		       size_t n_losses)
{
	const struct loaded_code none = {.kind = CODE_ANON + 1};
	const struct part p = {0};

	return write_part(dirfd, f, &none, "[no samples]", &p, 0, losses, n_losses);
}

static int open_sub(int dirfd, const char *name)
{
	int fd;

	if (mkdirat(dirfd, name, 0777) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int dcpi_open_dir(const char *dir, const struct dcpi_facts *f)
{
	int root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), epoch, host;
	const struct date d = date_of(f->epoch_s);
	char name[208] = "";

	if (root < 0)
		return -errno;
	snprintf(name, sizeof(name), "%04d%02d%02d%02d%02d%02d", d.year, d.month, d.day, d.hour,
		 d.minute, d.second);
	epoch = open_sub(root, name);
	close(root);
	if (epoch < 0)
		return epoch;
	*name = 0;
	add_name(name, sizeof(name), *f->host ? f->host : "unknown", 200);
	host = open_sub(epoch, name);
	close(epoch);
	return host;
}

/* Heapsort: no memory, no bad cases. */
static void sift(struct dcpi_place *v, size_t at, size_t n)
{
	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		struct dcpi_place up;

		if (child + 1 < n && v[child + 1].svma > v[child].svma)
			child++;
		if (v[at].svma >= v[child].svma)
			return;
		up = v[child];
		v[child] = v[at];
		v[at] = up;
	}
}

void dcpi_sort(struct dcpi_place *v, size_t n)
{
	for (size_t i = n / 2; i-- > 0;)
		sift(v, i, n);
	for (size_t i = n; i-- > 1;) {
		struct dcpi_place last = v[i];

		v[i] = v[0];
		v[0] = last;
		sift(v, 0, i);
	}
}
