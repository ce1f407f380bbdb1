/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell mem [DB]`: what memory was accessed.  It shows where data came from, how long that took,
 * and which objects they were; with --by line which cache lines threads contend for. */
#include <errno.h>
#include <string.h>

#include "cmd/source_cmd.h"
#include "view/memory.h"

#define MEM_ROWS   20 /* shown unless the user says otherwise */
#define LINE_BYTES 64 /* of the caches of x86-64 and nearly all arm64 */

struct mem_cmd {
	const char *by;
	bool all, no_header;
	uint64_t n, line_bytes;
	opt_list operands;
	int key; /* enum memory_by; -1: no --by, several tables */
};

static const char *const by_names[MEMORY_N_BYS + 1] = {
	[MEMORY_LEVEL] = "level",	  [MEMORY_TLB] = "tlb",	  [MEMORY_LATENCY] = "latency",
	[MEMORY_OBJECT] = "object",	  [MEMORY_PAGE] = "page", [MEMORY_NODE] = "node",
	[MEMORY_PROCEDURE] = "procedure", [MEMORY_LINE] = "line",
};

static void show_one(struct cmd *c, struct source *s, const struct mem_cmd *a, enum memory_by by,
		     const char *key, bool head)
{
	const struct memory_opts o = {.by = by,
				      .line_bytes = (uint32_t)a->line_bytes,
				      .all_lines = a->all,
				      .n = a->n ? (size_t)a->n : SIZE_MAX};
	struct memory m;

	memory_gather(s->query, &o, &m);
	if (head)
		memory_emit_head(&c->emit, s, &m, a->no_header);
	memory_emit(&c->emit, key, by, &m);
	if (by == MEMORY_LINE && !m.rows.n)
		emit_text(&c->emit, "no cache line is contended for; --all shows the others\n");
	memory_release(&m);
}

static int mem_show(struct cmd *c, struct source *s, void *ctx)
{
	const struct mem_cmd *a = ctx;
	int rc = source_needs(s, SOURCE_SAMPLES, "mem", &c->err);

	if (rc < 0)
		return rc;
	if (!memory_is_told(s->query))
		return err_set(
			&c->err, -ENOENT,
			"no data addresses were recorded; `perf mem record` and `perf record "
			"-d` record them");
	emit_begin(&c->emit);
	if (a->key >= 0) {
		show_one(c, s, a, (enum memory_by)a->key, "rows", true);
	} else {
		show_one(c, s, a, MEMORY_LEVEL, "levels", true);
		show_one(c, s, a, MEMORY_TLB, "tlbs", false);
		show_one(c, s, a, MEMORY_LATENCY, "latencies", false);
		show_one(c, s, a, MEMORY_OBJECT, "rows", false);
	}
	emit_end(&c->emit);
	return 0;
}

static int find_key(struct cmd *c, struct mem_cmd *a)
{
	a->key = -1;
	for (int i = 0; a->by && i < MEMORY_N_BYS; i++)
		if (strcmp(by_names[i], a->by) == 0)
			a->key = i;
	if (a->by && a->key < 0)
		return err_set(
			&c->err, -EINVAL,
			"--by '%s': must be level, tlb, latency, object, page, node, procedure "
			"or line",
			a->by);
	if (a->line_bytes < 8 || a->line_bytes > 4096 || a->line_bytes & (a->line_bytes - 1))
		return err_set(&c->err, -EINVAL,
			       "--line-bytes: must be a power of two from 8 to 4096");
	return 0;
}

int cmd_mem(struct cmd *c)
{
	struct mem_cmd a = {.n = MEM_ROWS, .line_bytes = LINE_BYTES};
	const struct opt table[] = {
		{"by", OPT_STR, &a.by, "KEY",
		 "level, tlb, latency, object, page, node, procedure, or line",
		 .words = "level tlb latency object page node procedure line"},
		{"n limit", OPT_U64, &a.n, "N", "how many rows (default 20; 0: all)"},
		{"all", OPT_FLAG, &a.all, NULL, "--by line: lines that nobody contends for, too"},
		{"line-bytes", OPT_U64, &a.line_bytes, "N", "bytes of a cache line (default 64)"},
		{"no-header", OPT_FLAG, &a.no_header, NULL,
		 "leave out what stands above the table"},
		{0},
	};
	int rc = cmd_parse(c, "[OPTIONS] [DB]", table, false, &a.operands);

	if (rc == 0)
		rc = find_key(c, &a);
	if (rc == 0) {
		cmd_take_only_source(c, &a.operands);
		if (a.operands.n)
			rc = err_set(&c->err, -EINVAL, "%s: there is no such recording",
				     a.operands.v[0]);
	}
	if (rc == 0) {
		c->select.accesses = true;
		rc = cmd_with_source(c, NULL, mem_show, &a);
	}
	vec_release(&a.operands);
	return rc;
}
