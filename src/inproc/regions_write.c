/* SPDX-License-Identifier: BSD-2-Clause */
/* Regions as DCPI profile files and as gmon.out.
 *
 * gmon.out is glibc's: a header (sys/gmon_out.h struct gmon_hdr), then records, of which only
 * histograms are written (GMON_TAG_TIME_HIST, struct gmon_hist_hdr).  Its counts have 16 bits;
 * gprof adds up records of one range, so that larger counts are spread over several.  gprof wants
 * all records to be of one scale and takes link-time addresses. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "dwell/dwell.h"
#include "inproc/dcpi_write.h"
#include "inproc/drain.h"
#include "inproc/export.h"
#include "inproc/out.h"
#include "inproc/regions.h"
#include "inproc/sprofil.h"

enum { MAX_RECORDS = 4096, GMON_VERSION = 1, GMON_TAG_TIME_HIST = 0 };

/* Gives the settings, and the number of ticks without a place so far.  Returns false, with errno
 * set, when there never was a profile. */
static bool get_settings(struct settings *ret, uint64_t *ret_unplaced)
{
	drain_lock();
	*ret = sprofil_up_to_date();
	*ret_unplaced = sprofil_unplaced();
	drain_unlock();
	if (!ret->spec.period)
		errno = EINVAL;
	return ret->spec.period;
}

static int regions_write_result(int e)
{
	if (e == 0)
		return 0;
	errno = -e;
	return -1;
}

/* DCPI. */

static bool same_image(const struct text *a, const struct text *b)
{
	return a->ino == b->ino && a->dev == b->dev && strcmp(a->path, b->path) == 0 &&
	       a->code.n_id == b->code.n_id && memcmp(a->code.id, b->code.id, CODE_ID_MAX) == 0;
}

/* The counts of T that are not zero; into PLACES, unless it is NULL. */
static size_t take_counts(const struct dwell_regions *r, const struct text *t,
			  struct dcpi_place *places)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_counts; i++) {
		uint64_t count = text_count(r, t, i);

		if (!count)
			continue;
		if (places)
			places[n] = (struct dcpi_place){t->code.svma + i * r->bucket_bytes, count};
		n++;
	}
	return n;
}

/* Adds up what is at one address: a library that was loaded twice. */
static size_t regions_write_join(struct dcpi_place *p, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (kept && p[kept - 1].svma == p[i].svma)
			p[kept - 1].n += p[i].n;
		else
			p[kept++] = p[i];
	return kept;
}

/* Writes the image of text FIRST, with all its other texts, and LOSS, which is 0 afterwards.  No
 * file is written for an image without counts. */
static int write_image(const struct dwell_regions *r, size_t first, int dirfd,
		       const struct dcpi_facts *f, struct dcpi_loss *loss)
{
	const struct text *t = &r->texts[first];
	struct dcpi_place *places;
	size_t n = 0;
	int e;

	for (size_t i = first; i < r->n_texts; i++)
		if (same_image(t, &r->texts[i]))
			n += take_counts(r, &r->texts[i], NULL);
	places = n ? malloc(n * sizeof(*places)) : NULL;
	if (!places)
		return n ? -ENOMEM : 0;
	n = 0;
	for (size_t i = first; i < r->n_texts; i++)
		if (same_image(t, &r->texts[i]))
			n += take_counts(r, &r->texts[i], places + n);
	dcpi_sort(places, n);
	e = dcpi_write_image(dirfd, f, &t->code, t->path, places, regions_write_join(places, n),
			     loss, 1);
	loss->n = 0;
	free(places);
	return e;
}

static int write_images(const struct dwell_regions *r, int dirfd, const struct dcpi_facts *f,
			uint64_t n_unplaced)
{
	struct dcpi_loss loss = {DCPI_LOSS_UNPLACED, n_unplaced};
	int e = 0;

	for (size_t i = 0; i < r->n_texts && e >= 0; i++) {
		size_t k = 0;

		while (k < i && !same_image(&r->texts[k], &r->texts[i]))
			k++;
		if (k == i)
			e = write_image(r, i, dirfd, f, &loss);
	}
	return e >= 0 && loss.n ? dcpi_write_nothing(dirfd, f, &loss, 1) : e;
}

EXPORT int dwell_regions_write_dcpi(struct dwell_regions *r, const char *dir)
{
	char host[256] = "";
	struct settings s;
	struct timespec now;
	struct dcpi_facts f;
	uint64_t n_unplaced;
	int dirfd, e;

	if (!get_settings(&s, &n_unplaced))
		return -1;
	if (gethostname(host, sizeof(host) - 1) < 0)
		memcpy(host, "localhost", sizeof("localhost"));
	clock_gettime(CLOCK_REALTIME, &now);
	f = (struct dcpi_facts){.host = host,
				.event = s.event,
				.command = program_invocation_name,
				.period = s.spec.period,
				.is_clock = s.spec.is_clock,
				.epoch_s = r->start_ns / 1000000000,
				.start_ns = r->start_ns,
				.end_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
				.who = hash_pair((uint64_t)getpid(), r->start_ns)};
	if (mkdir(dir, 0777) < 0 && errno != EEXIST)
		return -1;
	dirfd = dcpi_open_dir(dir, &f);
	if (dirfd < 0)
		return regions_write_result(dirfd);
	e = write_images(r, dirfd, &f, n_unplaced - r->n_unplaced_before);
	close(dirfd);
	return regions_write_result(e);
}

/* gmon.out. */

static bool is_object(const struct text *t, const char *object, const char *program)
{
	const char *slash = strrchr(t->path, '/');

	return object ? strcmp(t->path, object) == 0 || (slash && strcmp(slash + 1, object) == 0)
		      : strcmp(t->path, program) == 0;
}

/* gprof counts a bin of less than two bytes of text (its UNIT) twice: one-byte
 * buckets go in pairs. */
static unsigned per_bin(const struct dwell_regions *r)
{
	return r->bucket_bytes < 2 ? 2 : 1;
}

static uint64_t bin_count(const struct dwell_regions *r, const struct text *t, size_t bin)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < per_bin(r); i++)
		n += text_count(r, t, bin * per_bin(r) + i);
	return n;
}

/* How many records T needs: each takes 65535 of a count. */
static uint64_t records_of(const struct dwell_regions *r, const struct text *t)
{
	uint64_t most = 0;

	for (size_t i = 0; i < t->n_counts / per_bin(r); i++)
		most = bin_count(r, t, i) > most ? bin_count(r, t, i) : most;
	return (most + UINT16_MAX - 1) / UINT16_MAX;
}

static void put_record(struct out *o, const struct dwell_regions *r, const struct text *t,
		       uint64_t number, const struct settings *s)
{
	char dimension[15] = "seconds";

	if (!s->spec.is_clock) {
		memset(dimension, 0, sizeof(dimension));
		memcpy(dimension, s->event, strnlen(s->event, sizeof(dimension) - 1));
	}
	out_put(o, &(uint8_t){GMON_TAG_TIME_HIST}, 1);
	out_u64(o, t->code.svma);
	out_u64(o, t->code.svma + t->n_counts * r->bucket_bytes);
	out_u32(o, t->n_counts / per_bin(r));
	out_u32(o, s->spec.is_clock ? (1000000000 + s->spec.period / 2) / s->spec.period : 1);
	out_put(o, dimension, sizeof(dimension));
	out_put(o, &dimension[0], 1);
	for (size_t i = 0; i < t->n_counts / per_bin(r); i++) {
		uint64_t n = bin_count(r, t, i), before = number * UINT16_MAX;

		n = n > before ? n - before : 0;
		out_u16(o, n < UINT16_MAX ? n : UINT16_MAX);
	}
}

/* PATH's directory and the name in it; a descriptor or -errno. */
static int open_parent(const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? strndup(path, slash > path ? (size_t)(slash - path) : 1) : strdup(".");
	int fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1, e = dir ? errno : ENOMEM;

	free(dir);
	*ret_name = slash ? slash + 1 : path;
	return fd < 0 ? -e : fd;
}

EXPORT int dwell_regions_write_gmon(struct dwell_regions *r, const char *object, const char *path)
{
	char program[4096] = "";
	uint64_t n_all = 0, n_unplaced;
	bool found = false;
	const char *name;
	struct settings s;
	struct profile_out f;
	int dirfd, e;

	if (!get_settings(&s, &n_unplaced))
		return -1;
	if (readlink("/proc/thread-self/exe", program, sizeof(program) - 1) < 0)
		return -1;
	for (size_t i = 0; i < r->n_texts; i++)
		if (is_object(&r->texts[i], object, program)) {
			found = true;
			n_all += records_of(r, &r->texts[i]);
		}
	if (!found || n_all > MAX_RECORDS)
		return regions_write_result(found ? -EOVERFLOW : -ENOENT);
	dirfd = open_parent(path, &name);
	e = dirfd < 0 ? dirfd : out_open(&f, dirfd, name);
	if (e < 0) {
		if (dirfd >= 0)
			close(dirfd);
		return regions_write_result(e);
	}
	out_put(&f.out, "gmon", 4);
	out_u32(&f.out, GMON_VERSION);
	out_put(&f.out, (uint8_t[12]){0}, 12);
	for (size_t i = 0; i < r->n_texts; i++)
		if (is_object(&r->texts[i], object, program))
			for (uint64_t k = 0; k < records_of(r, &r->texts[i]); k++)
				put_record(&f.out, r, &r->texts[i], k, &s);
	e = out_close(&f);
	close(dirfd);
	return regions_write_result(e);
}
