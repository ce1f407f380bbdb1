/* SPDX-License-Identifier: BSD-2-Clause */
#include "gen_hpc.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/str.h"
#include "base/vec.h"

static const char *const words[] = {
	"",	      "main", "a b", "\xc3\xa9t\xc3\xa9", "/usr/lib/libc.so.6", "src/usr/x.c",
	"operator<<", "x",
};

static const char *word(struct t_rng *r)
{
	return words[t_below(r, n_elems(words))];
}

static void *array(struct hpc_meta_model *m, size_t n, size_t elem_bytes)
{
	void *p = arena_alloc(&m->arena, n * elem_bytes + 1);

	memset(p, 0, n * elem_bytes);
	return p;
}

/* 0 .. n-1 or none. */
static uint32_t number(struct t_rng *r, uint32_t n)
{
	return n && t_below(r, 8) ? (uint32_t)t_below(r, n) : HPC_NONE;
}

static void gen_metrics(struct t_rng *r, struct hpc_meta_model *m)
{
	/* In this order, and all of them in the first metric: as the page layout is read. */
	static const struct hpc_scope scopes[] = {
		{"point", HPC_SCOPE_POINT, UINT8_MAX},
		{"function", HPC_SCOPE_TRANSITIVE, 0},
		{"lex_aware", HPC_SCOPE_CUSTOM, UINT8_MAX},
		{"execution", HPC_SCOPE_EXECUTION, UINT8_MAX},
	};
	static const char *const formulas[] = {"1", "$$", "($$^2)"};
	struct hpc_metrics *ms = &m->metrics;
	uint16_t prop = 0, stat = 1;

	ms->n_metrics = (uint32_t)t_below(r, 4);
	ms->n_scopes = ms->n_metrics ? (uint32_t)n_elems(scopes) : 0;
	ms->scopes = array(m, n_elems(scopes), sizeof(*ms->scopes));
	memcpy(ms->scopes, scopes, sizeof(scopes));
	ms->metrics = array(m, ms->n_metrics, sizeof(*ms->metrics));
	for (uint32_t i = 0; i < ms->n_metrics; i++) {
		struct hpc_metric *metric = &ms->metrics[i];

		metric->name = word(r);
		metric->n_scopes =
			i ? (uint32_t)t_below(r, n_elems(scopes) + 1) : (uint32_t)n_elems(scopes);
		metric->scopes = array(m, metric->n_scopes, sizeof(*metric->scopes));
		metric->summaries =
			array(m, 3 * (size_t)metric->n_scopes, sizeof(*metric->summaries));
		for (uint32_t k = 0; k < metric->n_scopes; k++) {
			metric->scopes[k] = (struct hpc_scope_inst){(uint16_t)k, prop++};
			for (uint64_t n = t_below(r, 4); n; n--)
				metric->summaries[metric->n_summaries++] = (struct hpc_summary){
					.scope = (uint16_t)k,
					.statMetricId = stat++,
					.combine = (uint8_t)t_below(r, 3),
					.formula = formulas[t_below(r, n_elems(formulas))],
				};
		}
	}
}

static void gen_tables(struct t_rng *r, struct hpc_meta_model *m)
{
	static const char *const kinds[] = {"SUMMARY", "NODE", "RANK", "THREAD"};

	m->title = word(r);
	m->description = word(r);
	m->n_id_names = (uint32_t)t_below(r, n_elems(kinds) + 1);
	m->id_names = array(m, m->n_id_names, sizeof(*m->id_names));
	for (uint32_t i = 0; i < m->n_id_names; i++)
		m->id_names[i] = kinds[i];
	m->n_modules = (uint32_t)t_below(r, 5);
	m->n_files = (uint32_t)t_below(r, 5);
	m->n_functions = (uint32_t)t_below(r, 9);
	m->modules = array(m, m->n_modules, sizeof(*m->modules));
	m->files = array(m, m->n_files, sizeof(*m->files));
	m->functions = array(m, m->n_functions + 4, sizeof(*m->functions));
	for (uint32_t i = 0; i < m->n_modules; i++)
		m->modules[i] = (struct hpc_module){word(r), (uint32_t)t_rand(r)};
	for (uint32_t i = 0; i < m->n_files; i++)
		m->files[i] = (struct hpc_file){word(r), (uint32_t)t_below(r, 2)};
	for (uint32_t i = 0; i < m->n_functions; i++)
		m->functions[i] = (struct hpc_function){
			.name = word(r),
			.module = number(r, m->n_modules),
			.offset = t_rand(r),
			.file = number(r, m->n_files),
			.line = (uint32_t)t_rand(r),
			.flags = (uint32_t)t_below(r, 2),
		};
}

static void gen_node(struct t_rng *r, const struct hpc_meta_model *m, bool page,
		     struct hpc_node *ret)
{
	*ret = (struct hpc_node){
		.function = HPC_NONE,
		.file = HPC_NONE,
		.module = HPC_NONE,
		.flags = (uint8_t)t_below(r, 8),
		.relation = (uint8_t)t_below(r, 4), /* 3: of a later version */
		.lexicalType = (uint8_t)t_below(r, 5),
	};
	if (ret->flags & HPC_HAS_FUNCTION)
		ret->function = number(r, m->n_functions);
	if (ret->flags & HPC_HAS_SRC_LOC) {
		ret->file = number(r, m->n_files);
		ret->line = (uint32_t)t_rand(r);
	}
	if (ret->flags & HPC_HAS_POINT) {
		ret->module = number(r, m->n_modules);
		ret->offset = t_rand(r);
	}
	ret->propagation = page ? ret->relation == HPC_LEXICAL : (uint16_t)t_below(r, 4);
}

/* A root: an entry point, or the function that the page layout has for it. */
static void gen_root(struct t_rng *r, struct hpc_meta_model *m, bool page, struct hpc_node *node)
{
	static const struct {
		const char *released, *page;
		uint16_t entryPoint;
	} kinds[] = {
		{"unknown entry", "unknown entry", HPC_ENTRY_UNKNOWN},
		{"main thread", "<program root>", HPC_ENTRY_MAIN_THREAD},
		{"application thread", "<thread root>", HPC_ENTRY_THREAD},
	};
	size_t i = t_below(r, n_elems(kinds));

	*node = (struct hpc_node){.function = HPC_NONE,
				  .file = HPC_NONE,
				  .module = HPC_NONE,
				  .relation = HPC_CALL,
				  .lexicalType = HPC_FUNCTION};
	if (page && i && m->n_functions) {
		node->flags = HPC_HAS_FUNCTION;
		node->function = 0;
		m->functions[0].name = kinds[i].page;
	} else if (page) {
		i = 0;
	}
	m->entries[m->n_entries++] =
		(struct hpc_entry){page ? kinds[i].page : kinds[i].released, kinds[i].entryPoint};
}

void gen_hpc_meta(struct t_rng *r, struct hpc_meta_model *m, uint32_t n_nodes,
		  enum hpc_layout layout)
{
	bool page = layout == HPC_PAGE;
	VEC(uint32_t) path = {0};

	*m = (struct hpc_meta_model){0};
	gen_tables(r, m);
	gen_metrics(r, m);
	m->nodes = xcalloc(n_nodes + 1, sizeof(*m->nodes));
	m->entries = xcalloc(n_nodes + 1, sizeof(*m->entries));
	m->n_nodes = n_nodes;
	for (uint32_t i = 0; i < n_nodes; i++) {
		/* mostly a little deeper, sometimes back to anywhere */
		size_t depth = t_below(r, 3) ? path.n : t_below(r, path.n + 1);

		if (!depth)
			gen_root(r, m, page, &m->nodes[i]);
		else
			gen_node(r, m, page, &m->nodes[i]);
		m->nodes[i].parent = depth ? path.v[depth - 1] : HPC_NONE;
		m->nodes[i].ctxId = i + 1;
		path.n = depth;
		vec_push(&path, i);
	}
	vec_release(&path);
	/* in the page layout the name of a root is that of the function, whose name may have
	 * changed since */
	for (uint32_t i = 0, e = 0; page && i < n_nodes; i++)
		if (m->nodes[i].parent == HPC_NONE) {
			struct hpc_entry *entry = &m->entries[e++];

			if (!(m->nodes[i].flags & HPC_HAS_FUNCTION))
				continue;
			entry->prettyName = m->functions[0].name;
			entry->entryPoint = strcmp(entry->prettyName, "<program root>") == 0
						    ? HPC_ENTRY_MAIN_THREAD
						    : HPC_ENTRY_THREAD;
		}
}

static void metrics_text(struct str *s, const struct hpc_metrics *ms)
{
	for (uint32_t i = 0; i < ms->n_scopes; i++)
		str_addf(s, "scope %s %u %u\n", ms->scopes[i].name, ms->scopes[i].type,
			 ms->scopes[i].propagationIndex);
	for (uint32_t i = 0; i < ms->n_metrics; i++) {
		const struct hpc_metric *m = &ms->metrics[i];

		str_addf(s, "metric %s\n", m->name);
		for (uint32_t k = 0; k < m->n_scopes; k++)
			str_addf(s, "  in %u: %u\n", m->scopes[k].scope, m->scopes[k].propMetricId);
		for (uint32_t k = 0; k < m->n_summaries; k++)
			str_addf(s, "  summary in %u: %s %u: %u\n", m->summaries[k].scope,
				 m->summaries[k].formula, m->summaries[k].combine,
				 m->summaries[k].statMetricId);
	}
}

char *gen_hpc_meta_text(const struct hpc_meta_model *m)
{
	struct str s = {0};

	str_addf(&s, "title %s\ndescription %s\n", m->title, m->description);
	for (uint32_t i = 0; i < m->n_id_names; i++)
		str_addf(&s, "kind %s\n", m->id_names[i]);
	metrics_text(&s, &m->metrics);
	for (uint32_t i = 0; i < m->n_modules; i++)
		str_addf(&s, "module %s %x\n", m->modules[i].path, m->modules[i].flags);
	for (uint32_t i = 0; i < m->n_files; i++)
		str_addf(&s, "file %s %x\n", m->files[i].path, m->files[i].flags);
	for (uint32_t i = 0; i < m->n_functions; i++) {
		const struct hpc_function *f = &m->functions[i];

		str_addf(&s, "function %s %d+%#jx %d:%u %x\n", f->name, (int)f->module,
			 (uintmax_t)f->offset, (int)f->file, f->line, f->flags);
	}
	for (uint32_t i = 0, e = 0; i < m->n_nodes; i++) {
		const struct hpc_node *n = &m->nodes[i];

		str_addf(&s, "ctx %u in %d: %x rel %u lex %u prop %x f %d %d:%u %d+%#jx", n->ctxId,
			 (int)n->parent, n->flags, n->relation, n->lexicalType, n->propagation,
			 (int)n->function, (int)n->file, n->line, (int)n->module,
			 (uintmax_t)n->offset);
		if (n->parent == HPC_NONE) {
			str_addf(&s, " entry %s %u", m->entries[e].prettyName,
				 m->entries[e].entryPoint);
			e++;
		}
		str_addc(&s, '\n');
	}
	return s.v;
}

struct wr gen_hpc_meta_bytes(const struct hpc_meta_model *m, enum hpc_layout layout,
			     struct err *err)
{
	int fd = memfd_create("meta.db", 0);
	struct wr w = {0};
	off_t n;

	if (hpc_meta_write(fd, "meta.db", m, layout, err) == 0) {
		n = lseek(fd, 0, SEEK_END);
		vec_reserve(&w, (size_t)n);
		if (pread(fd, w.v, (size_t)n, 0) == n)
			w.n = (size_t)n;
	}
	close(fd);
	return w;
}
