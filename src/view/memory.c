/* SPDX-License-Identifier: BSD-2-Clause */
/* See memory.h. */
#include "view/memory.h"

#include <inttypes.h>

#include "base/cleanup.h"
#include "base/plural.h"
#include "view/about.h"

static const struct {
	const char *title, *rows_by;
} words[MEMORY_N_BYS] = {
	[MEMORY_LEVEL] = {"data from", "level"},
	[MEMORY_TLB] = {"translated by", "tlb"},
	[MEMORY_LATENCY] = {"took cycles", "latency"},
	[MEMORY_OBJECT] = {"object", "object"},
	[MEMORY_PAGE] = {"page", "page"},
	[MEMORY_NODE] = {"memory", "node"},
	[MEMORY_PROCEDURE] = {"procedure", "procedure"},
	[MEMORY_LINE] = {"cache line", "line"},
};

void memory_emit_head(struct emit *e, struct source *of, const struct memory *m, bool no_header)
{
	about_emit(e, of, no_header);
	if (emit_json(e)) {
		json_add_u64(emit_json(e), "n_samples", m->n_samples);
		json_add_u64(emit_json(e), "n_accesses", m->all.samples);
	}
	if (no_header)
		return;
	emit_text(e,
		  "%" PRIu64 " of %" PRIu64 " sample%s tell the address of their data: %" PRIu64
		  " load%s, %" PRIu64 " store%s\n",
		  m->all.samples, m->n_samples, plural_s(m->n_samples), m->all.loads,
		  plural_s(m->all.loads), m->all.stores, plural_s(m->all.stores));
}

static struct emit_cell share_cell(uint64_t n, uint64_t of)
{
	return (struct emit_cell){.d = of ? 100.0 * (double)n / (double)of : 0, .none = !of};
}

static struct emit_cell latency_cell(const struct memory_sums *s)
{
	return (struct emit_cell){.d = s->n_latency ? (double)s->latency / (double)s->n_latency : 0,
				  .none = !s->n_latency};
}

/* Where a column with the sum N is shown: tables leave out columns of zeros. */
static unsigned shown(uint64_t n)
{
	return n ? 0 : EMIT_IN_JSON | EMIT_IN_CSV;
}

/* The columns of sums (put_sums).  ALL: the sums of all rows. */
#define SUM_COLS(all)                                                                              \
	{"percent", "%", EMIT_PERCENT, .hot = true}, {"samples", NULL, EMIT_U64},                  \
		{"loads", NULL, EMIT_U64, .in = shown((all)->loads), .spare = 2},                  \
		{"stores", NULL, EMIT_U64, .in = shown((all)->stores), .spare = 2},                \
		{"modified", "hitm", EMIT_U64, .in = shown((all)->modified)},                      \
		{"remote", NULL, EMIT_U64, .in = shown((all)->remote), .spare = 2},                \
	{                                                                                          \
		"latency", "cycles", EMIT_FIXED, .in = shown((all)->n_latency), .decimals = 1      \
	}
#define N_SUM_COLS 7

static void put_sums(const struct memory_sums *s, const struct memory_sums *all,
		     struct emit_cell *ret)
{
	ret[0] = share_cell(s->samples, all->samples);
	ret[1] = (struct emit_cell){.u = s->samples};
	ret[2] = (struct emit_cell){.u = s->loads};
	ret[3] = (struct emit_cell){.u = s->stores};
	ret[4] = (struct emit_cell){.u = s->modified};
	ret[5] = (struct emit_cell){.u = s->remote};
	ret[6] = latency_cell(s);
}

static struct emit_cell text_cell(const char *s)
{
	return (struct emit_cell){.s = s, .none = !s};
}

/* Emits rows that have a name and no address. */
static void emit_plain(struct emit *e, const char *key, enum memory_by by, const struct memory *m)
{
	const struct emit_col cols[] = {
		SUM_COLS(&m->all),
		{"name", words[by].title, EMIT_STR, .cut = TEXT_NAME},
		{"image", NULL, EMIT_STR, .cut = TEXT_PATH, .spare = 1,
		 .in = by == MEMORY_OBJECT || by == MEMORY_PROCEDURE ? 0 : EMIT_IN_NONE},
	};

	emit_table(e, key, cols, n_elems(cols));
	vec_each (r, &m->rows) {
		struct emit_cell cells[n_elems(cols)];

		put_sums(&r->sums, &m->all, cells);
		cells[N_SUM_COLS] = text_cell(r->name);
		cells[N_SUM_COLS + 1] = text_cell(r->image);
		emit_row(e, cells);
	}
	emit_table_end(e);
}

/* Emits rows that have an address: pages and lines. */
static void emit_places(struct emit *e, const char *key, enum memory_by by, const struct memory *m)
{
	const unsigned lines = by == MEMORY_LINE ? 0 : EMIT_IN_NONE;
	const struct emit_col cols[] = {
		{"number", "no", EMIT_U64, .in = lines},
		SUM_COLS(&m->all),
		{"threads", NULL, EMIT_U64, .in = lines},
		{"writers", NULL, EMIT_U64, .in = lines},
		{"pid", NULL, EMIT_U64, .spare = 2},
		{"start", words[by].title, EMIT_HEX},
		{"name", "object", EMIT_STR, .cut = TEXT_NAME},
		{"image", NULL, EMIT_STR, .cut = TEXT_PATH, .spare = 1},
	};
	uint64_t number = 0;

	emit_table(e, key, cols, n_elems(cols));
	vec_each (r, &m->rows) {
		struct emit_cell cells[n_elems(cols)] = {{.u = ++number}};

		put_sums(&r->sums, &m->all, cells + 1);
		cells[N_SUM_COLS + 1] = (struct emit_cell){.u = r->n_threads};
		cells[N_SUM_COLS + 2] = (struct emit_cell){.u = r->n_writers};
		cells[N_SUM_COLS + 3] = (struct emit_cell){.u = r->pid, .none = !r->pid};
		cells[N_SUM_COLS + 4] = (struct emit_cell){.u = r->start};
		cells[N_SUM_COLS + 5] = text_cell(r->name);
		cells[N_SUM_COLS + 6] = text_cell(r->image);
		emit_row(e, cells);
	}
	emit_table_end(e);
}

static const char *source_text(const struct memory_use *u, struct arena *arena)
{
	_mem_ char *text =
		u->file ? xasprintf("%s:%" PRIu32, str_basename(u->file), u->line) : NULL;

	return text ? arena_strdup(arena, text) : NULL;
}

static void emit_uses(struct emit *e, const struct memory *m)
{
	const struct emit_col cols[] = {
		{"number", "no", EMIT_U64},
		{"offset", NULL, EMIT_HEX},
		SUM_COLS(&m->all),
		{"procedure", NULL, EMIT_STR, .cut = TEXT_NAME},
		/* Who writes where says more than the image. */
		{"image", NULL, EMIT_STR, .cut = TEXT_PATH, .spare = EMIT_SPARE_UNSAID},
		{"file", NULL, EMIT_STR, .in = EMIT_IN_JSON | EMIT_IN_CSV},
		{"line", NULL, EMIT_U64, .in = EMIT_IN_JSON | EMIT_IN_CSV},
		{"source", "file:line", EMIT_STR, .in = EMIT_IN_TABLE, .cut = TEXT_PATH},
	};
	struct arena arena = {0};

	emit_table(e, "uses", cols, n_elems(cols));
	vec_each (u, &m->uses) {
		const char *source = source_text(u, &arena);
		struct emit_cell cells[n_elems(cols)] = {{.u = u->row + 1}, {.u = u->offset}};

		put_sums(&u->sums, &m->rows.v[u->row].sums, cells + 2);
		cells[N_SUM_COLS + 2] = text_cell(u->procedure);
		cells[N_SUM_COLS + 3] = text_cell(u->image);
		cells[N_SUM_COLS + 4] = text_cell(u->file);
		cells[N_SUM_COLS + 5] = (struct emit_cell){.u = u->line, .none = !u->line};
		cells[N_SUM_COLS + 6] = text_cell(source);
		emit_row(e, cells);
	}
	emit_table_end(e);
	arena_release(&arena);
}

void memory_emit(struct emit *e, const char *key, enum memory_by by, const struct memory *m)
{
	if (strcmp(key, "rows") == 0)
		emit_rows_by(e, words[by].rows_by);
	else if (!emit_json(e) && m->rows.n == 1 && strcmp(m->rows.v[0].name, MEMORY_UNTOLD) == 0)
		return;
	emit_text(e, "\n");
	if (by == MEMORY_LINE || by == MEMORY_PAGE)
		emit_places(e, key, by, m);
	else
		emit_plain(e, key, by, m);
	if (m->n_left_out)
		emit_text(e, "%zu more; -n 0 shows all\n", m->n_left_out);
	if (by == MEMORY_LINE && m->uses.n) {
		emit_text(e, "\n");
		emit_uses(e, m);
	}
}
