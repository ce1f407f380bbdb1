/* SPDX-License-Identifier: BSD-2-Clause */
/* See dcpi_cat.h.  The rows of one image and label, which come by event and address, are put in a
 * table by address and column.  A row in which a column has 0 says that there is no sample, so that
 * a counter's column tells nothing of samples it does not know: of how many it does a column of its
 * own says, unless it is of all. */
#include "port/dcpi_cat.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "formats/dcpi.h"
#include "formats/dcpi_text.h"
#include "port/dcpi_columns.h"

struct block {
	const char *name, *label;
	char id[2 * BUILD_ID_MAX + 1];
	size_t start, end; /* rows */
};

static int by_name(const void *x, const void *y)
{
	const struct block *a = x, *b = y;
	int c = strcmp(a->name, b->name);

	c = c ? c : strcmp(a->id, b->id);
	c = c ? c : strcmp(a->label, b->label);
	return c ? c : a->start < b->start ? -1 : a->start > b->start;
}

static int by_address(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

/* An event's column has its name; what tells more of samples has their bits. */
static void add_event(struct dcpi_text *t, const struct profile *p, const struct dcpi_column *c)
{
	const struct event *e = &p->events.v[c->event];
	struct dcpi_text_event te = {
		.period = e->period,
		.duty = (unsigned)(event_duty(e) * DCPI_DUTY_ALWAYS + .5),
	};
	char *counter;
	_mem_ char *name = dcpi_column_name(p, c, &counter);

	te.name = arena_strdup(&t->arena, name);
	if (counter)
		te.counter = arena_strdup(&t->arena, counter);
	free(counter);
	vec_push(&t->events, te);
}

/* Fills T's events, addresses and counts from rows [START, END). */
static void dcpi_cat_fill(struct dcpi_text *t, const struct profile *p, const dcpi_rows *rows,
			  size_t start, size_t end)
{
	dcpi_columns columns = dcpi_list_columns(p, rows, start, end);
	size_t n = 0;

	for (size_t i = start; i < end; i++)
		vec_push(&t->pcs, rows->v[i].svma);
	vec_sort(&t->pcs, by_address);
	for (size_t i = 0; i < t->pcs.n; i++)
		if (!n || t->pcs.v[n - 1] != t->pcs.v[i])
			t->pcs.v[n++] = t->pcs.v[i];
	t->pcs.n = n;
	t->counts.n = t->counts.cap = n * columns.n;
	t->counts.v = xcalloc(t->counts.n, sizeof(*t->counts.v));
	vec_each (c, &columns) {
		add_event(t, p, c);
		n = 0;
		for (size_t i = c->first; i < c->end; i++) {
			const struct dcpi_row *r = &rows->v[i];
			uint64_t amount = dcpi_column_amount(p, c, r);

			while (t->pcs.v[n] != r->svma) /* both rise */
				n++;
			t->counts.v[n * columns.n + (size_t)(c - columns.v)] = amount;
			t->events.v[t->events.n - 1].total += amount;
		}
	}
	vec_release(&columns);
}

/* Further paths, and lines that the text has no place for. */
static void add_kept(struct dcpi_text *t, const struct dcpi_file *f)
{
	vec_each (l, &f->lines) {
		if (l->key == DCPI_VERSION)
			continue;
		if (l->key != DCPI_PATH)
			vec_push(&t->others, l->text);
		else if (!t->paths.n || strcmp(l->value, t->paths.v[0]) != 0)
			vec_push(&t->paths, l->value);
	}
}

static void port_dcpi_cat_format(const struct profile *p, const dcpi_rows *rows,
				 const struct block *b, const struct dcpi_kept *kept,
				 struct str *out)
{
	const struct image *im = &p->images.v[rows->v[b->start].image];
	char epoch[15];
	struct dcpi_file f;
	struct dcpi_text t = {
		.name = b->name,
		.image = b->id,
		.label = *b->label ? b->label : NULL,
		.epoch = epoch,
		.platform = profile_str(p, p->meta.host),
		.text_start = im->text_start,
		.text_bytes = im->text_bytes,
	};

	dcpi_format_time(p->meta.start_wall_ns / 1000000000, 14, epoch);
	if (*im->path)
		vec_push(&t.paths, im->path);
	dcpi_init(&f, 7, 1);
	dcpi_kept_put(kept, p, rows->v[b->start].image, NULL, rows->v[b->start].label, &f);
	add_kept(&t, &f);
	dcpi_cat_fill(&t, p, rows, b->start, b->end);
	dcpi_text_format(&t, out);
	dcpi_text_release(&t);
	dcpi_release(&f);
}

size_t dcpi_cat_format(const struct profile *p, const struct dcpi_filter *f,
		       const struct dcpi_kept *kept, struct str *out)
{
	_vec_ VEC(struct block) blocks = {0};
	dcpi_rows rows = {0};
	size_t end, n;

	dcpi_flatten(p, f, DCPI_SPLIT_VECTORS, &rows, NULL);
	for (size_t i = 0; i < rows.n; i = end) {
		const struct image *im = &p->images.v[rows.v[i].image];
		struct block *b = vec_add(&blocks);

		end = dcpi_rows_profile_end(&rows, i);
		b->name = dcpi_image_name(im);
		b->label = profile_str(p, rows.v[i].label);
		b->start = i;
		b->end = end;
		dcpi_image_id(im, b->id);
	}
	vec_sort(&blocks, by_name);
	vec_each (b, &blocks) {
		if (b > blocks.v)
			str_addc(out, '\n');
		port_dcpi_cat_format(p, &rows, b, kept, out);
	}
	n = blocks.n;
	vec_release(&rows);
	return n;
}
