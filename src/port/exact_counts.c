/* SPDX-License-Identifier: BSD-2-Clause */
/* See exact_counts.h.  callgrind states an instruction once for each function and line that it
 * counts for, so counts are added up.  What a call has below it is left out: it was counted
 * there. */
#include "port/exact_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/lower_bound.h"
#include "base/str.h"
#include "formats/callgrind.h"
#include "formats/gzip.h"
#include "formats/json_in.h"

/* callgrind's event for instructions executed (cl-format.html, "Ir"). */
#define EXECUTED "Ir"

struct counts_reader {
	struct exact_counts *c;
	const char *image;
	unsigned column; /* of EXECUTED, from 1; 0: not there */
	bool is_call;	 /* the next costs are a call's */
};

static int compare_exact(const void *a, const void *b)
{
	const struct exact_count *x = a, *y = b;
	const int d = x->image == y->image ? 0 : strcmp(x->image, y->image);

	return d ? d : (x->svma > y->svma) - (x->svma < y->svma);
}

static unsigned find_event(const char *names, const char *name)
{
	unsigned i = 1;

	for (size_t n; *names; names += n + (names[n] != 0), i++) {
		n = strcspn(names, " \t");
		if (n == strlen(name) && strncmp(names, name, n) == 0)
			return i;
	}
	return 0;
}

static void read_counts_line(struct counts_reader *r, const struct callgrind_line *l)
{
	switch (l->kind) {
	case CALLGRIND_EVENTS:
		r->column = find_event(l->name, EXECUTED);
		break;
	case CALLGRIND_OB:
		r->image = l->name;
		break;
	case CALLGRIND_CALLS:
		r->is_call = true;
		break;
	case CALLGRIND_COSTS:
		if (!r->is_call && r->image && r->column && l->n_costs >= r->column)
			vec_push(&r->c->v,
				 (struct exact_count){r->image, l->instr, l->costs[r->column - 1]});
		r->is_call = false;
		break;
	default:
		break;
	}
}

static void add_equal(struct exact_counts *c)
{
	size_t n = 0;

	vec_sort(&c->v, compare_exact);
	for (size_t i = 0; i < c->v.n; i++)
		if (n && compare_exact(&c->v.v[n - 1], &c->v.v[i]) == 0)
			c->v.v[n - 1].n += c->v.v[i].n;
		else
			c->v.v[n++] = c->v.v[i];
	c->v.n = n;
}

static int read_callgrind(struct exact_counts *c, const uint8_t *bytes, size_t n, struct err *err)
{
	struct counts_reader in = {.c = c};
	struct callgrind_reader reader;
	struct callgrind_line parsed;
	struct rd r = rd_init(bytes, n);
	struct text_line l;
	size_t number = 0;
	int rc = 0;

	callgrind_begin(&reader, &c->arena);
	while (rc >= 0 && text_line_next(&r, &l)) {
		number++;
		rc = callgrind_parse(&reader, &l, &parsed, err);
		if (rc < 0)
			err_prefix(err, rc, "line %zu", number);
		else
			read_counts_line(&in, &parsed);
	}
	if (rc >= 0 && !reader.has_instr)
		rc = err_set(err, -EINVAL,
			     "has no addresses; `callgrind --dump-instr=yes` writes them");
	else if (rc >= 0 && !in.column)
		rc = err_set(err, -EINVAL, "does not count instructions (" EXECUTED ")");
	callgrind_end(&reader);
	if (rc >= 0)
		add_equal(c);
	return rc;
}

/* --- lines --- */

static int compare_gcov_lines(const void *a, const void *b)
{
	const struct gcov_line *x = a, *y = b;
	int d = strcmp(str_basename(x->file), str_basename(y->file));

	d = d ? d : strcmp(x->file, y->file);
	return d ? d : (x->line > y->line) - (x->line < y->line);
}

/* The lines LINE of the file that is called FILE, whole. */
static struct line_range lines_of(const struct exact_counts *c, const char *file, uint32_t line)
{
	const struct gcov_line key = {.file = file, .line = line};
	const struct gcov_line *v = c->lines.v.v;
	const size_t n = c->lines.v.n;
	const size_t first = lower_bound(k, 0, n, compare_gcov_lines(&v[k], &key) < 0);
	const size_t end = lower_bound(k, first, n, compare_gcov_lines(&v[k], &key) <= 0);

	return (struct line_range){v + first, v + end};
}

struct line_range exact_counts_of_line(const struct exact_counts *c, const char *file,
				       uint32_t line)
{
	const char *name = str_basename(file);
	const struct gcov_line *v = c->lines.v.v;
	const size_t n = c->lines.v.n;
	const size_t first = lower_bound(k, 0, n, strcmp(str_basename(v[k].file), name) < 0);
	const size_t end = lower_bound(k, first, n, strcmp(str_basename(v[k].file), name) <= 0);
	const struct line_range ret = lines_of(c, file, line);

	if (ret.first != ret.end || first == end || strcmp(v[first].file, v[end - 1].file) != 0)
		return ret;
	return lines_of(c, v[first].file, line);
}

static int read_gcov(struct exact_counts *c, const uint8_t *bytes, size_t n, struct err *err)
{
	int rc = gcov_read(bytes, n, &c->lines, err);

	c->of_lines = true;
	vec_sort(&c->lines.v, compare_gcov_lines);
	return rc;
}

static bool is_counts(const uint8_t *bytes, size_t n)
{
	return gcov_probe(bytes, n) || callgrind_probe(bytes, n);
}

int exact_counts_init(struct exact_counts *c, const uint8_t *bytes, size_t n, struct err *err)
{
	/* 64 MB may come out of any file, more only at 1000 times what is read at most. */
	const struct gzip_limits limits = {.most = JSON_IN_MOST_BYTES,
					   .free = (size_t)64 << 20,
					   .times = 1000,
					   .known = is_counts};
	struct wr unpacked = {0};
	int rc = 0;

	*c = (struct exact_counts){0};
	if (gzip_probe(bytes, n)) {
		rc = gzip_unpack(bytes, n, &limits, &unpacked, err);
		bytes = unpacked.v;
		n = unpacked.n;
	}
	if (rc >= 0 && gcov_probe(bytes, n))
		rc = read_gcov(c, bytes, n, err);
	else if (rc >= 0 && callgrind_probe(bytes, n))
		rc = read_callgrind(c, bytes, n, err);
	else if (rc >= 0)
		rc = err_set(err, -EINVAL,
			     "no file of callgrind, nor of gcov (gcov --json-format writes one)");
	wr_release(&unpacked);
	if (rc < 0)
		exact_counts_release(c);
	return rc;
}

void exact_counts_release(struct exact_counts *c)
{
	vec_release(&c->v);
	gcov_release(&c->lines);
	arena_release(&c->arena);
	*c = (struct exact_counts){0};
}

static struct exact_range range_of(const struct exact_counts *c, const char *image)
{
	const size_t first = lower_bound(k, 0, c->v.n, strcmp(c->v.v[k].image, image) < 0);
	const size_t end = lower_bound(k, first, c->v.n, strcmp(c->v.v[k].image, image) <= 0);

	return (struct exact_range){c->v.v + first, c->v.v + end};
}

struct exact_range exact_counts_of(const struct exact_counts *c, const char *path)
{
	struct exact_range ret = range_of(c, path);

	for (size_t i = 0; ret.first == ret.end && i < c->v.n; i++)
		if (strcmp(str_basename(c->v.v[i].image), str_basename(path)) == 0)
			ret = range_of(c, c->v.v[i].image);
	return ret;
}
