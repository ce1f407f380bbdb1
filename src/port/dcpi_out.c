/* SPDX-License-Identifier: BSD-2-Clause */
/* A profile as a DCPI tree.
 *
 * The format's offsets have 32 bits, so an image's addresses are cut into windows of 4 GiB by the
 * upper half of the address, and each window is a file of its own; nearly every image has one.  Its
 * tstart is the image's text start when that lies in the window and below all places, else the
 * lowest place rounded down to a page.  A footer's sum has 32 bits, too: what passes them goes on
 * in another file of the same column, and readers add the two up.
 *
 * What DCPI's header has no line for goes into lines of our own, `dwell-...`, which the page allows
 * ("unknown" lines, kept by whoever rewrites the file): with them a tree reads back as the same
 * counts of the same events and images.  They repeat in every file what is said of the event as a
 * whole. */
#include "port/dcpi_out.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/out_file.h"
#include "base/str.h"
#include "formats/dcpi.h"
#include "port/dcpi_columns.h"
#include "inproc/machine.h"

#define PAGE_BYTES 4096

/* Files of one column and window: a sum of 2^44, more than a machine counts in an epoch. */
#define MOST_PARTS 4096

struct tree_file {
	char *name;
	struct wr bytes;
};

struct out {
	const struct profile *p;
	struct dcpi_out_opts opts;
	uint64_t *n_placeless; /* by event */
	VEC(struct tree_file) files;
	struct index name_ix;	       /* of files */
	VEC(struct dcpi_count) counts; /* of the window being written */
	uint64_t n_samples;
	unsigned mhz;
	int old; /* the directory that is written into, -1: it is not there yet */
};

/* Appends S as part of a file name: letters, digits and a few signs stay, all else becomes '_', so
 * that no name leaves its directory or hides. */
static void add_name(struct str *s, const char *text, size_t max)
{
	const char *plain = "-_.+@:=,";

	for (size_t i = 0; text[i] && i < max; i++) {
		char c = text[i];
		bool ok = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
			  (c >= 'A' && c <= 'Z') || (strchr(plain, c) && !(c == '.' && i == 0));

		str_addc(s, ok ? c : '_');
	}
	if (!*text)
		str_add(s, "unknown");
}

/* What a file holds: a column of one image and label within a window. */
struct out_key {
	const struct dcpi_row *row; /* one of its rows */
	const char *event;	    /* the column's name, with its counter */
	const char *counter;	    /* that alone; NULL for none */
	unsigned part;		    /* from 0; more than one where a footer cannot hold the sum */
};

/* IMAGE.EVENT.HASH, the hash over all that keeps this file apart from others. */
static char *file_name(const struct out *o, const struct out_key *k)
{
	const struct dcpi_row *row = k->row;
	const struct image *im = &o->p->images.v[row->image];
	const struct event *e = &o->p->events.v[row->event];
	char id[2 * BUILD_ID_MAX + 1];
	struct str s = {0}, key = {0};

	dcpi_image_id(im, id);
	str_addf(&key, "%s\n%s\n%u\n%s\n%s\n%" PRIu64 " %" PRIu64 "\n%s\n%d\n%" PRIx64, id,
		 image_kind_name(im->kind), im->flags & IMAGE_OFFSETS, k->event,
		 profile_str(o->p, e->unit), e->period, e->freq_hz, profile_str(o->p, row->label),
		 row->idle, row->svma >> 32);
	if (k->part)
		str_addf(&key, "\npart %u", k->part);
	add_name(&s, dcpi_image_name(im), 100);
	str_addc(&s, '.');
	if (strlen(k->event) > 60 && k->counter) {
		add_name(&s, k->event, 40);
		str_addc(&s, ':');
		add_name(&s, k->counter, 20);
	} else {
		add_name(&s, k->event, 60);
	}
	str_addf(&s, ".%016" PRIx64, hash_bytes(key.v, key.n));
	str_release(&key);
	return s.v;
}

static void add_event_lines(const struct out *o, struct dcpi_file *f, event_id event)
{
	const struct event *e = &o->p->events.v[event];

	dcpi_add_linef(f, "dwell-event", "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
		       e->enabled_ns, e->running_ns, e->total, e->n_reached);
	if (e->freq_hz)
		dcpi_add_linef(f, "dwell-freq", "%" PRIu64, e->freq_hz);
	if (*profile_str(o->p, e->unit))
		dcpi_add_line(f, "dwell-unit", profile_str(o->p, e->unit));
	vec_each (l, &o->p->losses)
		if (l->event == event)
			dcpi_add_linef(f, "dwell-lost", "%" PRIu64 " %s", l->n,
				       profile_str(o->p, l->name));
	if (o->n_placeless[event])
		dcpi_add_linef(f, "dwell-lost", "%" PRIu64 " no_place", o->n_placeless[event]);
}

static void add_recording_lines(struct dcpi_file *f, const struct profile *p)
{
	const struct profile_meta *m = &p->meta;
	const struct {
		const char *word;
		string_id s;
	} texts[] = {{"dwell-kernel", m->kernel},
		     {"dwell-engine", m->engine},
		     {"dwell-command", m->command}};

	dcpi_add_linef(f, "dwell-time", "%" PRIu64 " %" PRIu64, m->start_wall_ns, m->end_wall_ns);
	for (size_t i = 0; i < n_elems(texts); i++)
		if (*profile_str(p, texts[i].s))
			dcpi_add_line(f, texts[i].word, profile_str(p, texts[i].s));
}

static void add_image_lines(struct dcpi_file *f, const struct image *im, uint64_t tsize)
{
	dcpi_add_line(f, "dwell-kind", image_kind_name(im->kind));
	if (!im->build_id.n_bytes)
		dcpi_add_line(f, "dwell-id", "derived");
	if (im->flags & IMAGE_HASHED)
		dcpi_add_line(f, "dwell-flag", "hashed");
	if (im->flags & IMAGE_DELETED)
		dcpi_add_line(f, "dwell-flag", "deleted");
	if (im->flags & IMAGE_OFFSETS)
		dcpi_add_line(f, "dwell-flag", "offsets");
	if (im->text_start != f->tstart || im->text_bytes != tsize)
		dcpi_add_linef(f, "dwell-text", "%" PRIu64 " %" PRIu64, im->text_start,
			       im->text_bytes);
}

/* LOW and HIGH: the lowest and highest places, in one window. */
static void add_header(const struct out *o, struct dcpi_file *f, const struct out_key *k,
		       uint64_t low, uint64_t high)
{
	const struct profile *p = o->p;
	const struct dcpi_row *row = k->row;
	const struct image *im = &p->images.v[row->image];
	const struct event *e = &p->events.v[row->event];
	bool whole = im->text_bytes && im->text_start <= low && im->text_start >> 32 == low >> 32;
	uint64_t tstart = whole ? im->text_start : low & ~(uint64_t)(PAGE_BYTES - 1);
	uint64_t tsize = whole ? im->text_bytes : high - tstart + 1;
	char id[2 * BUILD_ID_MAX + 1], epoch[15];
	uint64_t start_s = p->meta.start_wall_ns / 1000000000;

	if (o->opts.stride == 4 && tstart % 4)
		tstart -= tstart % 4;
	dcpi_image_id(im, id);
	/* The directory's name has the seconds. */
	dcpi_format_time(start_s, dcpi_time_digits(start_s), epoch);
	dcpi_add_line(f, "image", id);
	dcpi_add_line(f, "epoch", epoch);
	dcpi_add_line(f, "platform", profile_str(p, p->meta.host));
	dcpi_add_line(f, "event", k->event);
	dcpi_add_linef(f, "period", "%" PRIu64, e->period);
	dcpi_add_linef(f, "tstart", "%012" PRIx64, tstart);
	dcpi_add_linef(f, "tsize", "%" PRIu64, tsize);
	dcpi_add_linef(f, "cpuspeed", "%u", o->mhz); /* 0: not known */
	if (p->meta.n_cpus)
		dcpi_add_linef(f, "cpucount", "%u", p->meta.n_cpus);
	if (*im->path)
		dcpi_add_line(f, "path", im->path);
	if (*profile_str(p, row->label))
		dcpi_add_line(f, "label", profile_str(p, row->label));
	dcpi_add_linef(f, "dwell-stride", "%u", o->opts.stride);
	if (row->idle)
		dcpi_add_line(f, "dwell-owner", "idle");
	add_image_lines(f, im, tsize);
	add_recording_lines(f, p);
	add_event_lines(o, f, row->event);
}

static bool name_same(const void *owner, uint32_t i, const void *key)
{
	const struct out *o = owner;

	return strcmp(o->files.v[i].name, key) == 0;
}

/* Keeps the file's BYTES under NAME, taking both; two different keys with one hash would be one
 * file, so the later one is numbered. */
static void add_file(struct out *o, char *name, struct wr bytes)
{
	_mem_ char *first = xstrdup(name);

	for (unsigned n = 2;
	     index_find(&o->name_ix, hash_str(name), name_same, o, name) != INDEX_NONE; n++) {
		free(name);
		name = xasprintf("%s-%u", first, n);
	}
	vec_push(&o->files, (struct tree_file){name, bytes});
	index_add(&o->name_ix, hash_str(name), (uint32_t)o->files.n - 1);
}

/* Goes on with the lines of the file that F is to replace, if there is one. */
static void keep_old_lines(const struct out *o, const char *name, struct dcpi_file *f)
{
	struct file_map map;
	struct dcpi_file old;
	size_t body;

	if (o->old < 0 || file_map_open(&map, o->old, name, true, NULL) < 0)
		return;
	if (dcpi_read_header(&old, map.bytes, map.n_bytes, &body, NULL) >= 0) {
		dcpi_kept_put_old(&old, f);
		dcpi_release(&old);
	}
	file_map_close(&map);
}

static int make_file(struct out *o, const struct out_key *k, const struct dcpi_count *counts,
		     size_t n, uint64_t high, struct err *err)
{
	_mem_ char *name = NULL;
	struct dcpi_file f;
	struct wr bytes = {0};
	int r;

	dcpi_init(&f, o->opts.minor, o->opts.stride);
	add_header(o, &f, k, k->row->svma, high);
	name = file_name(o, k);
	keep_old_lines(o, name, &f);
	dcpi_kept_put(o->opts.kept, o->p, k->row->image, k->event, k->row->label, &f);
	r = dcpi_add_counts(&f, counts, n, err);
	if (r >= 0) {
		dcpi_write(&f, &bytes);
		add_file(o, take_ptr(&name), bytes);
	} else {
		r = err_prefix(err, r, "%s, event %s",
			       dcpi_image_name(&o->p->images.v[k->row->image]), k->event);
	}
	dcpi_release(&f);
	return r;
}

/* Takes from *COUNT as much as a footer that holds SUM has room for. */
static uint64_t take_room(uint64_t sum, uint64_t *count)
{
	uint64_t room = UINT32_MAX - sum, n = *count < room ? *count : room;

	*count -= n;
	return n;
}

/* Writes the counts of o->counts, those of one column and window: in as many files as it takes for
 * 32 bits to hold the sum of each. */
static int make_parts(struct out *o, struct out_key *k, uint64_t high, struct err *err)
{
	_vec_ VEC(struct dcpi_count) part = {0};
	uint64_t sum = 0;
	int r = 0;

	vec_each (c, &o->counts)
		if (c->n >> 32 >= MOST_PARTS)
			return err_set(err, -E2BIG,
				       "%s, event %s: address %#" PRIx64 " has %" PRIu64
				       ", too much for counts of 32 bits",
				       dcpi_image_name(&o->p->images.v[k->row->image]), k->event,
				       c->svma, c->n);
	for (size_t i = 0; i < o->counts.n && r >= 0;) {
		struct dcpi_count c = {.svma = o->counts.v[i].svma};

		c.n = take_room(sum, &o->counts.v[i].n);
		sum += c.n;
		vec_push(&part, c);
		if (o->counts.v[i].n) {
			r = make_file(o, k, part.v, part.n, high, err);
			part.n = 0;
			sum = 0;
			k->part++;
		} else {
			i++;
		}
	}
	if (r >= 0)
		r = make_file(o, k, part.v, part.n, high, err);
	return r;
}

/* Writes column C of ROWS: a file for each window of its addresses. */
static int make_column(struct out *o, const dcpi_rows *rows, const struct dcpi_column *c,
		       struct err *err)
{
	char *found;
	_mem_ char *name = dcpi_column_name(o->p, c, &found), *counter = found;
	_mem_ char *event = counter ? xasprintf("%s:%s", name, counter) : xstrdup(name);
	size_t end;
	int r = 0;

	for (size_t i = c->first; i < c->end && r >= 0; i = end) {
		struct out_key k = {.row = &rows->v[i], .event = event, .counter = counter};

		o->counts.n = 0;
		for (end = i; end < c->end && rows->v[end].svma >> 32 == k.row->svma >> 32; end++) {
			const struct dcpi_row *row = &rows->v[end];

			vec_push(&o->counts,
				 (struct dcpi_count){row->svma, dcpi_column_amount(o->p, c, row)});
			if (!o->p->vectors.v[c->vector].counter)
				o->n_samples += row->n;
		}
		r = make_parts(o, &k, rows->v[end - 1].svma, err);
	}
	return r;
}

/* An event without any sample is a result too: a file without chunks, of an image that stands for
 * none. */
static void make_empty_file(struct out *o, event_id event)
{
	const struct profile *p = o->p;
	struct wr bytes = {0};
	struct dcpi_file f;
	struct profile none;
	struct dcpi_row row = {.event = event};
	const struct out_key k = {.row = &row, .event = profile_str(p, p->events.v[event].name)};
	struct out blank = *o;

	/* The header writer needs an image: the same profile with the one image of no samples. */
	none = *p;
	none.images.v = &(struct image){.kind = IMAGE_UNKNOWN, .path = "[no samples]"};
	none.images.n = 1;
	blank.p = &none;
	dcpi_init(&f, o->opts.minor, o->opts.stride);
	add_header(&blank, &f, &k, 0, 0);
	dcpi_write(&f, &bytes);
	add_file(o, file_name(&blank, &k), bytes);
	dcpi_release(&f);
}

static int make_files(struct out *o, struct err *err)
{
	dcpi_rows rows = {0};
	_mem_ bool *seen = xcalloc(o->p->events.n + 1, sizeof(*seen));
	size_t end;
	int r = 0;

	dcpi_flatten(o->p, o->opts.filter, DCPI_SPLIT_IDLE | DCPI_SPLIT_VECTORS, &rows,
		     o->n_placeless);
	for (size_t i = 0; i < rows.n && r >= 0; i = end) {
		dcpi_columns columns;

		end = dcpi_rows_profile_end(&rows, i);
		columns = dcpi_list_columns(o->p, &rows, i, end);
		vec_each (c, &columns) {
			seen[c->event] = true;
			r = r >= 0 ? make_column(o, &rows, c, err) : r;
		}
		vec_release(&columns);
	}
	for (event_id e = 0; e < o->p->events.n && r >= 0; e++)
		if (!seen[e] && dcpi_wants_event(o->opts.filter, e))
			make_empty_file(o, e);
	vec_release(&rows);
	return r;
}

/* Makes and opens directory NAME in DIRFD; no symbolic link. */
static int open_sub(int dirfd, const char *name, struct err *err)
{
	int fd;

	if (file_mkdirat(dirfd, name) < 0)
		return err_errno(err, -errno, "%s: mkdir", name);
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? err_errno(err, -errno, "%s", name) : fd;
}

/* Whether the file is there already, as it is to be: most of a daemon's files do not change. */
static bool is_there(int dirfd, const struct tree_file *f)
{
	struct file_map map;
	bool same;

	if (file_map_open(&map, dirfd, f->name, true, NULL) < 0)
		return false;
	same = map.n_bytes == f->bytes.n && memcmp(map.bytes, f->bytes.v, map.n_bytes) == 0;
	file_map_close(&map);
	return same;
}

/* Opens DIR's directory for the recording, if it is there. */
static int open_old(const struct out *o, const char *dir)
{
	_fd_ int root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), epoch = -1;
	_str_ struct str name = {0};
	char time[15];
	int fd = -1;

	dcpi_format_time(o->p->meta.start_wall_ns / 1000000000, 14, time);
	add_name(&name, profile_str(o->p, o->p->meta.host), 200);
	if (root >= 0)
		epoch = openat(root, time, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (epoch >= 0)
		fd = openat(epoch, name.v, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd;
}

static int write_files(struct out *o, const char *dir, struct err *err)
{
	_fd_ int root = -1, epoch = -1, host = -1;
	struct str name = {0};
	char time[15];
	int r = file_mkdirs(dir, err);

	if (r < 0)
		return r;
	root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return err_errno(err, -errno, "%s", dir);
	dcpi_format_time(o->p->meta.start_wall_ns / 1000000000, 14, time);
	epoch = open_sub(root, time, err);
	if (epoch < 0)
		return err_prefix(err, epoch, "%s", dir);
	add_name(&name, profile_str(o->p, o->p->meta.host), 200);
	host = open_sub(epoch, name.v, err);
	str_release(&name);
	if (host < 0)
		return err_prefix(err, host, "%s/%s", dir, time);
	out_file_sweep(host, NULL, ".tmp", NULL); /* of a writer that was killed */
	vec_each (f, &o->files) {
		if (is_there(host, f))
			continue;
		r = (o->opts.lazily ? file_replace_lazily : file_replace)(host, f->name, f->bytes.v,
									  f->bytes.n, err);
		if (r < 0)
			return err_prefix(err, r, "%s/%s", dir, time);
	}
	return 0;
}

static bool has_owner(const struct owner *o)
{
	return o->exe || o->comm || o->cgroup || o->uid != OWNER_UID_UNKNOWN || o->pid || o->tid;
}

/* Counts what the files do not say. */
static void count_unsaid(const struct profile *p, const struct dcpi_filter *f,
			 struct dcpi_out_stats *s)
{
	vec_each (v, &p->values) {
		if (!value_is_samples(p, v) || !v->ctx || !dcpi_wants_event(f, v->event) ||
		    (f && f->owners && !f->owners[v->owner]))
			continue;
		s->n_with_callers += p->ctxs.v[v->ctx].parent ? v->count : 0;
		s->n_with_owner += has_owner(&p->owners.v[v->owner]) ? v->count : 0;
		s->n_weighted += v->sum ? v->count : 0;
	}
}

int dcpi_out_save(const struct profile *p, const struct dcpi_out_opts *opts, const char *dir,
		  struct dcpi_out_stats *ret, struct err *err)
{
	struct out o = {.p = p, .opts = *opts};
	struct dcpi_out_stats stats = {0};
	int r;

	assert((opts->minor == 6 || opts->minor == 7) && (opts->stride == 1 || opts->stride == 4));
	o.n_placeless = xcalloc(p->events.n + 1, sizeof(*o.n_placeless));
	o.mhz = machine_mhz(profile_str(p, p->meta.host));
	o.old = open_old(&o, dir);
	r = make_files(&o, err);
	if (o.old >= 0)
		close(o.old);
	if (r >= 0)
		r = write_files(&o, dir, err);
	stats.n_files = o.files.n;
	stats.n_samples = o.n_samples;
	count_unsaid(p, opts->filter, &stats);
	vec_each (f, &o.files) {
		stats.n_bytes += f->bytes.n;
		wr_release(&f->bytes);
		free(f->name);
	}
	vec_release(&o.files);
	index_release(&o.name_ix);
	vec_release(&o.counts);
	free(o.n_placeless);
	if (r >= 0)
		*ret = stats;
	return r;
}
