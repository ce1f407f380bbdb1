/* SPDX-License-Identifier: BSD-2-Clause */
/* See importers.h. */
#include "port/importers.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/file.h"
#include "formats/callgrind.h"
#include "formats/folded.h"
#include "formats/gmon.h"
#include "formats/gperf.h"
#include "formats/gzip.h"
#include "formats/perf_script.h"
#include "formats/pprof.h"
#include "formats/utf16.h"

#define MOST_UNPACKED ((size_t)1 << 30) /* bytes that come out of a packed file; of UTF-16 */

/* A byte of a packed file is at most 1032 bytes (zlib, "Maximum Compression Factor").  Profiles
 * have 2 to 160 (seen); larger texts of one repeated sample have more, and can be unpacked
 * first. */
#define FREE_UNPACKED  ((size_t)64 << 20)
#define TIMES_UNPACKED 200

#define PROBED_BYTES ((size_t)1 << 16)
#define PROBED_JSON  ((size_t)4 << 20) /* keys may stand behind long tables */

static bool has_key(const uint8_t *bytes, size_t n, const char *key)
{
	const size_t most = n < PROBED_JSON ? n : PROBED_JSON;
	const size_t last = n - most;

	return memmem(bytes, most, key, strlen(key)) ||
	       memmem(bytes + last, most, key, strlen(key));
}

static bool is_json(const uint8_t *bytes, size_t n)
{
	size_t i = 0;

	while (i < n && memchr(" \t\r\n", bytes[i], 4))
		i++;
	return i < n && bytes[i] == '{';
}

static bool is_speedscope(const uint8_t *bytes, size_t n)
{
	return is_json(bytes, n) && has_key(bytes, n, "speedscope.app/file-format-schema.json");
}

static bool is_firefox(const uint8_t *bytes, size_t n)
{
	if (!is_json(bytes, n))
		return false;
	/* What Firefox itself writes has no such version: the reader says what to do with it. */
	return has_key(bytes, n, "\"preprocessedProfileVersion\"") ||
	       (has_key(bytes, n, "\"threads\"") && has_key(bytes, n, "\"stackTable\"") &&
		has_key(bytes, n, "\"frameTable\""));
}

/* A trace of Chrome's has pieces of such profiles among other things. */
static bool is_cpuprofile(const uint8_t *bytes, size_t n)
{
	if (!is_json(bytes, n) || has_key(bytes, n, "\"traceEvents\":") ||
	    !has_key(bytes, n, "\"startTime\""))
		return false;
	return (has_key(bytes, n, "\"nodes\"") && has_key(bytes, n, "\"callFrame\"")) ||
	       (has_key(bytes, n, "\"head\"") && has_key(bytes, n, "\"functionName\"") &&
		has_key(bytes, n, "\"hitCount\""));
}

/* A message of pprof's has no magic: it begins with any of its fields, and parses to its end. */
static bool starts_pprof(const uint8_t *bytes, size_t n)
{
	const unsigned field = n ? bytes[0] >> 3 : 0, type = n ? bytes[0] & 7 : 7;

	return field >= 1 && field <= 15 && (type == 0 || type == 2);
}

static bool is_pprof(const uint8_t *bytes, size_t n)
{
	struct pprof p;
	bool is;

	if (!starts_pprof(bytes, n))
		return false;
	is = pprof_parse(bytes, n, &p, NULL) >= 0;
	pprof_release(&p);
	return is;
}

const struct importer importers[] = {
	{"gmon.out", gmon_probe, gmon_in_read, false},
	{"CPU profile of gperftools", gperf_probe, gperf_in_read, false},
	{"file of callgrind", callgrind_probe, callgrind_in_read, true},
	{"file of speedscope", is_speedscope, speedscope_in_read, false},
	{"profile of the Firefox Profiler", is_firefox, firefox_in_read, false},
	{"profile of V8", is_cpuprofile, cpuprofile_in_read, false},
	{"profile of pprof", is_pprof, pprof_in_read, false},
	{"text of perf script", perf_script_probe, script_in_read, true},
	{"file of folded stacks", folded_probe, folded_in_read, true},
};

const size_t n_importers = n_elems(importers);

/* How many of the N bytes tell whether they are a text: whole lines, of those that can be read
 * quickly.  One line alone may be longer: a stack of thousands of frames. */
static size_t probed_text(const uint8_t *bytes, size_t n)
{
	const size_t most = n < PROBED_JSON ? n : PROBED_JSON;
	const uint8_t *end;

	if (n <= PROBED_BYTES)
		return n;
	end = memrchr(bytes, '\n', PROBED_BYTES);
	if (!end)
		end = memchr(bytes + PROBED_BYTES, '\n', most - PROBED_BYTES);
	return end ? (size_t)(end - bytes) + 1 : PROBED_BYTES;
}

static const struct importer *probe_bytes(const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n_importers; i++) {
		const struct importer *im = &importers[i];
		const size_t most = im->is_text ? probed_text(bytes, n) : n;

		if (im->probe(bytes, most))
			return im;
	}
	return NULL;
}

/* A file's bytes, unpacked, and as UTF-8 without a mark. */
struct importer_file {
	struct file_map map;
	struct wr room;
	const uint8_t *bytes;
	size_t n;
	const struct importer *importer;
	bool is_coded; /* packed, or UTF-16 */
};

static const struct importer damaged = {.name = "packed profile"};

static void close_file(struct importer_file *f)
{
	file_map_close(&f->map);
	wr_release(&f->room);
}

/* Whether a file of more than these N bytes may be something that an importer reads. */
static bool may_be_profile(const uint8_t *bytes, size_t n)
{
	bool is = is_json(bytes, n) || starts_pprof(bytes, n) || utf16_probe(bytes, n) ||
		  utf8_mark(bytes, n);

	for (size_t i = 0; i < n_importers && !is; i++)
		if (importers[i].probe != is_pprof)
			is = importers[i].probe(bytes,
						importers[i].is_text ? probed_text(bytes, n) : n);
	return is;
}

static int unpack(struct importer_file *f, struct err *err)
{
	static const struct gzip_limits limits = {MOST_UNPACKED, FREE_UNPACKED, TIMES_UNPACKED,
						  may_be_profile};
	int rc;

	if (!gzip_probe(f->bytes, f->n))
		return 0;
	f->is_coded = true;
	rc = gzip_unpack(f->bytes, f->n, &limits, &f->room, err);
	if (rc < 0)
		return rc;
	f->bytes = f->room.v;
	f->n = f->room.n;
	return 0;
}

static int drop_mark(struct importer_file *f, struct err *err)
{
	const size_t n_mark = utf8_mark(f->bytes, f->n);
	struct wr text = {0};

	if (utf16_probe(f->bytes, f->n)) {
		f->is_coded = true;
		/* A file with a hole can be larger than all memory. */
		if (f->n > MOST_UNPACKED)
			return err_set(err, -E2BIG, "UTF-16: more than %zu bytes", MOST_UNPACKED);
		utf16_read(f->bytes, f->n, &text);
		wr_release(&f->room);
		f->room = text;
		f->bytes = text.v;
		f->n = text.n;
	} else if (n_mark) {
		f->bytes += n_mark;
		f->n -= n_mark;
	}
	return 0;
}

static int open_file(struct importer_file *f, const char *path, struct err *err)
{
	struct stat st;
	int rc;

	*f = (struct importer_file){0};
	if (stat(path, &st) < 0)
		return err_errno(err, -errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s: is no file", path);
	rc = file_map_open(&f->map, AT_FDCWD, path, false, err);
	if (rc < 0)
		return rc;
	f->bytes = f->map.bytes;
	f->n = f->map.n_bytes;
	rc = unpack(f, err);
	if (rc >= 0)
		rc = drop_mark(f, err);
	if (rc < 0) {
		close_file(f);
		return err_prefix(err, rc, "%s", path);
	}
	f->importer = f->n ? probe_bytes(f->bytes, f->n) : NULL;
	return 0;
}

const struct importer *importer_find(const char *path)
{
	struct importer_file f;
	const struct importer *ret;

	/* What cannot be decoded is told by who loads it. */
	if (open_file(&f, path, NULL) < 0)
		return f.is_coded ? &damaged : NULL;
	ret = f.importer;
	close_file(&f);
	return ret;
}

/* Whether the amounts of each column add up to 64 bits. */
static bool totals_fit(const struct stacks *s)
{
	for (size_t c = 0; c < s->columns.n; c++) {
		uint64_t sum = 0;

		for (size_t i = 0; i < s->values.n; i++)
			if (__builtin_add_overflow(sum, s->amounts.v[i * s->columns.n + c], &sum))
				return false;
	}
	return true;
}

int importer_read(const struct importer *i, const uint8_t *bytes, size_t n, struct stacks *s,
		  const char *program, struct str *notes, struct err *err)
{
	struct importer_job job = {.program = program, .notes = notes};
	int rc;

	*s = (struct stacks){0};
	stacks_make_begin(&job.make, s);
	rc = i->read(bytes, n, &job, err);
	if (rc >= 0 && (job.make.overflow || !totals_fit(s)))
		rc = err_set(err, -E2BIG, "its counts add up to more than 64 bits hold");
	if (rc < 0)
		job.make.s = NULL; /* what is there is not whole */
	stacks_make_end(&job.make);
	return rc;
}

/* The first of the paths that is a file. */
static const char *find_program(const struct importer_opts *o)
{
	struct stat st;

	for (size_t i = 0; i < o->n_paths; i++)
		if (stat(o->paths[i], &st) >= 0 && S_ISREG(st.st_mode))
			return o->paths[i];
	return NULL;
}

int importer_load(const char *path, const struct importer_opts *o, struct profile *p,
		  stacks_symbol_list *ret, struct str *notes, struct err *err)
{
	const struct stacks_in_opts so = {str_basename(path), o->label, o->keep_pids, o->keep_tids};
	struct importer_file f;
	struct stacks s = {0};
	int rc = open_file(&f, path, err);

	if (rc < 0)
		return rc;
	if (!f.importer)
		rc = err_set(err, -EINVAL, "%s: is no profile that dwell knows", path);
	else
		rc = importer_read(f.importer, f.bytes, f.n, &s, find_program(o), notes, err);
	if (rc < 0 && f.importer)
		err_prefix(err, rc, "%s: as a %s", path, f.importer->name);
	if (rc >= 0 && !s.values.n)
		rc = err_set(err, -ENODATA, "%s: a %s without samples", path, f.importer->name);
	if (rc >= 0)
		stacks_to_profile(&s, &so, p, ret, notes);
	stacks_release(&s);
	close_file(&f);
	return rc;
}
