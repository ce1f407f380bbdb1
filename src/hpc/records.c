/* SPDX-License-Identifier: BSD-2-Clause */
/* See records.h. */
#include "hpc/records.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

#define BUFFER_BYTES (32u << 20)
#define READ_RECORDS 4096u

void records_init(struct records *r, const char *dir, size_t buffer_bytes)
{
	*r = (struct records){.dir = dir, .fd = -1};
	r->n_buffer = (buffer_bytes ? buffer_bytes : BUFFER_BYTES) / sizeof(*r->buffer);
	if (!r->n_buffer)
		r->n_buffer = 1;
	r->buffer = xcalloc(r->n_buffer, sizeof(*r->buffer));
}

void records_release(struct records *r)
{
	if (r->fd >= 0)
		close(r->fd);
	free(r->buffer);
	free(r->scratch);
	vec_release(&r->runs);
	vec_release(&r->first_run);
	*r = (struct records){.fd = -1};
}

static bool is_sorted(const struct records *r)
{
	for (size_t i = 1; i < r->n_buffered; i++)
		if (r->buffer[i - 1].group > r->buffer[i].group)
			return false;
	return true;
}

/* Stable, 16 bits at a time. */
static void sort_pass(struct records *r, unsigned shift)
{
	size_t *at = xcalloc(65537, sizeof(*at));
	struct hpc_record *swap = r->buffer;

	for (size_t i = 0; i < r->n_buffered; i++)
		at[(r->buffer[i].group >> shift & 0xffff) + 1]++;
	for (size_t i = 0; i < 65536; i++)
		at[i + 1] += at[i];
	for (size_t i = 0; i < r->n_buffered; i++)
		r->scratch[at[r->buffer[i].group >> shift & 0xffff]++] = r->buffer[i];
	r->buffer = r->scratch;
	r->scratch = swap;
	free(at);
}

static void records_sort(struct records *r)
{
	uint32_t max = 0;

	if (is_sorted(r))
		return;
	if (!r->scratch)
		r->scratch = xcalloc(r->n_buffer, sizeof(*r->scratch));
	for (size_t i = 0; i < r->n_buffered; i++)
		if (r->buffer[i].group > max)
			max = r->buffer[i].group;
	sort_pass(r, 0);
	if (max > 0xffff)
		sort_pass(r, 16);
}

/* Notes the runs of the sorted buffer, whose first record is number FIRST. */
static void note_runs(struct records *r, uint64_t first)
{
	for (size_t i = 0, next; i < r->n_buffered; i = next) {
		for (next = i; next < r->n_buffered && r->buffer[next].group == r->buffer[i].group;)
			next++;
		vec_push(&r->runs,
			 (struct records_run){first + i, r->buffer[i].group, (uint32_t)(next - i)});
	}
}

int records_spill(struct records *r, struct err *err)
{
	uint64_t first = r->n - r->n_buffered;
	int rc;

	if (r->fd < 0) {
		rc = file_open_nameless(AT_FDCWD, r->dir, err);
		if (rc < 0)
			return rc;
		r->fd = rc;
	}
	records_sort(r);
	note_runs(r, first);
	rc = file_write_all(r->fd, r->buffer, r->n_buffered * sizeof(*r->buffer));
	if (rc < 0)
		return err_errno(err, rc, "%s: cannot write a temporary file", r->dir);
	r->n_buffered = 0;
	return 0;
}

static int by_group(const void *a, const void *b)
{
	const struct records_run *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

int records_finish(struct records *r, uint32_t n_groups, struct err *err)
{
	size_t i = 0;
	int rc = 0;

	if (r->fd >= 0 && r->n_buffered)
		rc = records_spill(r, err);
	if (rc < 0)
		return rc;
	if (r->fd >= 0) {
		free(r->buffer);
		r->buffer = NULL;
	} else {
		records_sort(r);
		note_runs(r, 0);
	}
	free(r->scratch);
	r->scratch = NULL;
	vec_sort(&r->runs, by_group);
	vec_reserve(&r->first_run, (size_t)n_groups + 1);
	for (uint32_t g = 0; g <= n_groups; g++) {
		while (i < r->runs.n && r->runs.v[i].group < g)
			i++;
		r->first_run.v[r->first_run.n++] = i;
	}
	return 0;
}

void records_reader_init(struct records_reader *rd, const struct records *r)
{
	*rd = (struct records_reader){.records = r};
	if (r->fd >= 0)
		rd->buffer = xcalloc(READ_RECORDS, sizeof(*rd->buffer));
}

void records_reader_release(struct records_reader *rd)
{
	free(rd->buffer);
	*rd = (struct records_reader){0};
}

void records_begin(struct records_reader *rd, uint32_t group)
{
	rd->run = rd->records->first_run.v[group];
	rd->end_run = rd->records->first_run.v[group + 1];
	rd->done = 0;
}

/* Up to N records from number FIRST on out of the file. */
static int read_some(struct records_reader *rd, uint64_t first, size_t n, struct err *err)
{
	const size_t sz = sizeof(*rd->buffer);
	int rc = file_pread_all(rd->records->fd, rd->buffer, n * sz, first * sz);

	return rc < 0 ? err_errno(err, rc, "%s: cannot read a temporary file", rd->records->dir)
		      : 0;
}

int records_next(struct records_reader *rd, const struct hpc_record **ret, struct err *err)
{
	const struct records *r = rd->records;
	const struct records_run *run;
	size_t n;
	int rc;

	while (rd->run < rd->end_run && rd->done == r->runs.v[rd->run].n) {
		rd->run++;
		rd->done = 0;
	}
	if (rd->run == rd->end_run)
		return 0;
	run = &r->runs.v[rd->run];
	n = run->n - rd->done;
	if (n > READ_RECORDS)
		n = READ_RECORDS;
	if (r->fd < 0) {
		*ret = r->buffer + run->first + rd->done;
	} else {
		rc = read_some(rd, run->first + rd->done, n, err);
		if (rc < 0)
			return rc;
		*ret = rd->buffer;
	}
	rd->done += (uint32_t)n;
	return (int)n;
}
