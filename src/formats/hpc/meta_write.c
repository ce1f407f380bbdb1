/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing a meta.db.
 *
 * Sections come in the order and with the alignment that HPCToolkit's own writer uses (observed):
 * General, IdNames, Metrics, Strings, Modules, Files, Functions, Context, each 8-aligned but for
 * the strings; the footer follows at once.  Strings are packed back to back and a function without
 * a name points at an empty one, because readers crash otherwise (hatchet counts them, hpcviewer
 * needs the pointer).  The header is written last but the footer, when all sizes are known.
 *
 * Contexts are written in one pass over the nodes.  A context's structure holds the place of its
 * children, so their array has to stand before the array that the context itself is in: arrays are
 * written in postorder.  In preorder a subtree is finished when the first node outside it comes;
 * then the children's array of its top is written, and its place, size and number of nodes are kept
 * for the array of the top's parent.  The number of nodes leads from one sibling to the next. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/wr.h"
#include "formats/hpc/meta_impl.h"

enum {
	CHUNK = 1 << 18,     /* bytes that are written at once */
	MAX_ID = INT16_MAX,  /* metric ids: hpcviewer reads them as signed (observed) */
	MAX_KINDS = INT8_MAX /* identifier kinds: the same */
};

/* hpcviewer reads sizes of sections as a signed int (observed). */
static const uint64_t max_section = INT32_MAX;

static const unsigned known_flags = HPC_HAS_FUNCTION | HPC_HAS_SRC_LOC | HPC_HAS_POINT;

/* Where the children of a node were written. */
struct placed {
	uint64_t p, sz;
	uint32_t n_nodes; /* of its subtree */
};

struct writer {
	const struct hpc_meta_model *model;
	const char *name;
	bool page;
	struct err *err;
	int fd, rc; /* rc: the first failure; nothing is written after it */
	struct wr buf;
	uint64_t at; /* where buf begins */
	struct hpc_section sections[HPC_META_N_SECTIONS];
	VEC(struct hpc_function) extra; /* page: functions that stand for entries */
	uint32_t *entry_functions;	/* page: of each root without a function */
};

static int refuse(struct writer *w, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse(struct writer *w, int code, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!w->rc)
		w->rc = err_set(w->err, code, "%s: %s", w->name, text);
	return w->rc;
}

static uint64_t here(const struct writer *w)
{
	return w->at + w->buf.n;
}

static void flush(struct writer *w, size_t at_least)
{
	int rc;

	if (w->buf.n < at_least)
		return;
	rc = w->rc ? 0 : file_write_all(w->fd, w->buf.v, w->buf.n);
	if (rc)
		w->rc = err_errno(w->err, rc, "%s: write", w->name);
	w->at += w->buf.n;
	w->buf.n = 0;
}

static void pad(struct writer *w, unsigned alignment)
{
	while (here(w) % alignment)
		wr_u8(&w->buf, 0);
}

static void text(struct writer *w, const char *s)
{
	wr_bytes(&w->buf, s, strlen(s) + 1);
	flush(w, CHUNK);
}

static uint64_t text_size(const char *s)
{
	return strlen(s) + 1;
}

static void check_size(struct writer *w, enum hpc_meta_section i, uint64_t sz)
{
	if (sz > max_section)
		refuse(w, -E2BIG,
		       "the %s section would have %" PRIu64
		       " bytes; readers of such databases take at most 2 GB",
		       hpc_meta_section_name(i), sz);
}

static void begin(struct writer *w, enum hpc_meta_section i)
{
	pad(w, i == HPC_META_STRINGS ? 1 : 8);
	w->sections[i].p = here(w);
}

static void end(struct writer *w, enum hpc_meta_section i)
{
	struct hpc_section *s = &w->sections[i];

	s->sz = here(w) - s->p;
	check_size(w, i, s->sz);
}

/* FORMATS.md "General Properties section". */
static void write_general(struct writer *w)
{
	begin(w, HPC_META_GENERAL);
	wr_le64(&w->buf, here(w) + GENERAL_HEADER);
	wr_le64(&w->buf,
		w->sections[HPC_META_GENERAL].p + GENERAL_HEADER + text_size(w->model->title));
	text(w, w->model->title);
	text(w, w->model->description);
	end(w, HPC_META_GENERAL);
}

/* FORMATS.md "Hierarchical Identifier Names section": the header takes two words. */
static void write_id_names(struct writer *w)
{
	uint32_t n = w->model->n_id_names;
	uint64_t p;

	begin(w, HPC_META_ID_NAMES);
	p = here(w) + 16;
	wr_le64(&w->buf, p);
	wr_u8(&w->buf, (uint8_t)n);
	pad(w, 8);
	p += (uint64_t)n * 8;
	for (uint32_t i = 0; i < n; i++) {
		wr_le64(&w->buf, p);
		p += text_size(w->model->id_names[i]);
	}
	for (uint32_t i = 0; i < n; i++)
		text(w, w->model->id_names[i]);
	end(w, HPC_META_ID_NAMES);
}

/* Where the parts of the metrics section are: header, metrics, lists of scopes, lists of summaries,
 * scopes, text. */
struct metrics_places {
	uint64_t metrics, insts, summaries, scopes, text;
};

static struct metrics_places place_metrics(const struct writer *w)
{
	const struct hpc_metrics *ms = &w->model->metrics;
	uint64_t n_insts = 0, n_summaries = 0, p = here(w) + (w->page ? 0x10 : 0x20);
	struct metrics_places at;

	for (uint32_t i = 0; i < ms->n_metrics; i++) {
		n_insts += ms->metrics[i].n_scopes;
		n_summaries += ms->metrics[i].n_summaries;
	}
	at.metrics = p;
	at.insts = p += (uint64_t)ms->n_metrics * (w->page ? SZ_METRIC_PAGE : SZ_METRIC);
	at.summaries = p += n_insts * (w->page ? SZ_SCOPE_PAGE : SZ_SCOPE_INST);
	at.scopes = p += n_summaries * (w->page ? SZ_SUMMARY_PAGE : SZ_SUMMARY);
	at.text = p + (w->page ? 0 : (uint64_t)ms->n_scopes * SZ_SCOPE);
	return at;
}

/* The text of the section: names of scopes, then of each metric its name and its formulas.  The
 * places of strings are found by adding up sizes in this order. */
static uint64_t scopes_text(const struct hpc_metrics *ms, uint32_t n_scopes)
{
	uint64_t sz = 0;

	for (uint32_t i = 0; i < n_scopes; i++)
		sz += text_size(ms->scopes[i].name);
	return sz;
}

static void write_metrics_text(struct writer *w)
{
	const struct hpc_metrics *ms = &w->model->metrics;

	for (uint32_t i = 0; i < ms->n_scopes; i++)
		text(w, ms->scopes[i].name);
	for (uint32_t i = 0; i < ms->n_metrics; i++) {
		text(w, ms->metrics[i].name);
		for (uint32_t k = 0; k < ms->metrics[i].n_summaries; k++)
			text(w, ms->metrics[i].summaries[k].formula);
	}
}

static uint64_t metric_text_size(const struct hpc_metric *m)
{
	uint64_t sz = text_size(m->name);

	for (uint32_t k = 0; k < m->n_summaries; k++)
		sz += text_size(m->summaries[k].formula);
	return sz;
}

static void write_released_metrics(struct writer *w)
{
	const struct hpc_metrics *ms = &w->model->metrics;
	struct metrics_places at = place_metrics(w);
	uint64_t p_insts = at.insts, p_summaries = at.summaries, p;
	uint64_t p_text = at.text + scopes_text(ms, ms->n_scopes);

	wr_le64(&w->buf, at.metrics);
	wr_le32(&w->buf, ms->n_metrics);
	wr_u8(&w->buf, SZ_METRIC);
	wr_u8(&w->buf, SZ_SCOPE_INST);
	wr_u8(&w->buf, SZ_SUMMARY);
	wr_u8(&w->buf, 0);
	wr_le64(&w->buf, at.scopes);
	wr_le16(&w->buf, (uint16_t)ms->n_scopes);
	wr_u8(&w->buf, SZ_SCOPE);
	pad(w, 8);
	p = p_text;
	for (uint32_t i = 0; i < ms->n_metrics; i++) {
		const struct hpc_metric *m = &ms->metrics[i];

		wr_le64(&w->buf, p);
		wr_le64(&w->buf, p_insts);
		wr_le64(&w->buf, p_summaries);
		wr_le16(&w->buf, (uint16_t)m->n_scopes);
		wr_le16(&w->buf, (uint16_t)m->n_summaries);
		wr_le32(&w->buf, 0);
		p += metric_text_size(m);
		p_insts += (uint64_t)m->n_scopes * SZ_SCOPE_INST;
		p_summaries += (uint64_t)m->n_summaries * SZ_SUMMARY;
	}
	for (uint32_t i = 0; i < ms->n_metrics; i++)
		for (uint32_t k = 0; k < ms->metrics[i].n_scopes; k++) {
			const struct hpc_scope_inst *s = &ms->metrics[i].scopes[k];

			wr_le64(&w->buf, at.scopes + (uint64_t)s->scope * SZ_SCOPE);
			wr_le16(&w->buf, s->propMetricId);
			pad(w, 8);
		}
	p = p_text;
	for (uint32_t i = 0; i < ms->n_metrics; i++) {
		p += text_size(ms->metrics[i].name);
		for (uint32_t k = 0; k < ms->metrics[i].n_summaries; k++) {
			const struct hpc_summary *s = &ms->metrics[i].summaries[k];

			wr_le64(&w->buf, at.scopes + (uint64_t)s->scope * SZ_SCOPE);
			wr_le64(&w->buf, p);
			wr_u8(&w->buf, s->combine);
			wr_u8(&w->buf, 0);
			wr_le16(&w->buf, s->statMetricId);
			wr_le32(&w->buf, 0);
			p += text_size(s->formula);
		}
	}
	p = at.text;
	for (uint32_t i = 0; i < ms->n_scopes; i++) {
		wr_le64(&w->buf, p);
		wr_u8(&w->buf, ms->scopes[i].type);
		wr_u8(&w->buf, ms->scopes[i].propagationIndex);
		pad(w, 8);
		p += text_size(ms->scopes[i].name);
	}
}

static uint32_t summaries_of(const struct hpc_metric *m, uint16_t scope)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < m->n_summaries; k++)
		n += m->summaries[k].scope == scope;
	return n;
}

static void write_page_summaries(struct writer *w, const struct hpc_metric *m, uint16_t scope,
				 uint64_t p_text)
{
	p_text += text_size(m->name);
	for (uint32_t k = 0; k < m->n_summaries; k++) {
		const struct hpc_summary *s = &m->summaries[k];

		if (s->scope == scope) {
			wr_le64(&w->buf, p_text);
			wr_u8(&w->buf, s->combine);
			wr_u8(&w->buf, 0);
			wr_le16(&w->buf, s->statMetricId);
			pad(w, 8);
		}
		p_text += text_size(s->formula);
	}
}

static void write_page_metrics(struct writer *w)
{
	const struct hpc_metrics *ms = &w->model->metrics;
	struct metrics_places at = place_metrics(w);
	uint64_t p_insts = at.insts, p_summaries = at.summaries, p;
	uint64_t p_text = at.text + scopes_text(ms, ms->n_scopes);

	wr_le64(&w->buf, at.metrics);
	wr_le32(&w->buf, ms->n_metrics);
	wr_u8(&w->buf, SZ_METRIC_PAGE);
	wr_u8(&w->buf, SZ_SCOPE_PAGE);
	wr_u8(&w->buf, SZ_SUMMARY_PAGE);
	pad(w, 8);
	p = p_text;
	for (uint32_t i = 0; i < ms->n_metrics; i++) {
		wr_le64(&w->buf, p);
		wr_le16(&w->buf, (uint16_t)ms->metrics[i].n_scopes);
		pad(w, 8);
		wr_le64(&w->buf, p_insts);
		p += metric_text_size(&ms->metrics[i]);
		p_insts += (uint64_t)ms->metrics[i].n_scopes * SZ_SCOPE_PAGE;
	}
	for (uint32_t i = 0; i < ms->n_metrics; i++)
		for (uint32_t k = 0; k < ms->metrics[i].n_scopes; k++) {
			const struct hpc_scope_inst *s = &ms->metrics[i].scopes[k];
			uint32_t n = summaries_of(&ms->metrics[i], s->scope);

			wr_le64(&w->buf, at.text + scopes_text(ms, s->scope));
			wr_le16(&w->buf, (uint16_t)n);
			wr_le16(&w->buf, s->propMetricId);
			wr_le32(&w->buf, 0);
			wr_le64(&w->buf, p_summaries);
			p_summaries += (uint64_t)n * SZ_SUMMARY_PAGE;
		}
	p = p_text;
	for (uint32_t i = 0; i < ms->n_metrics; i++) {
		for (uint32_t k = 0; k < ms->metrics[i].n_scopes; k++)
			write_page_summaries(w, &ms->metrics[i], ms->metrics[i].scopes[k].scope, p);
		p += metric_text_size(&ms->metrics[i]);
	}
}

/* FORMATS.md "Performance Metrics section". */
static void write_metrics(struct writer *w)
{
	begin(w, HPC_META_METRICS);
	if (w->page)
		write_page_metrics(w);
	else
		write_released_metrics(w);
	write_metrics_text(w);
	end(w, HPC_META_METRICS);
}

/* The strings: names of entries (released), paths of modules, of files, names of functions. */
static void write_strings(struct writer *w)
{
	const struct hpc_meta_model *m = w->model;

	begin(w, HPC_META_STRINGS);
	for (uint32_t i = 0; !w->page && i < m->n_entries; i++)
		text(w, m->entries[i].prettyName);
	for (uint32_t i = 0; i < m->n_modules; i++)
		text(w, m->modules[i].path);
	for (uint32_t i = 0; i < m->n_files; i++)
		text(w, m->files[i].path);
	for (uint32_t i = 0; i < m->n_functions; i++)
		text(w, m->functions[i].name);
	vec_each (f, &w->extra)
		text(w, f->name);
	end(w, HPC_META_STRINGS);
}

/* FORMATS.md "Load Modules section" and the like: pointer, count, stride. */
static void table_header(struct writer *w, uint32_t n, uint16_t stride)
{
	wr_le64(&w->buf, here(w) + 16);
	wr_le32(&w->buf, n);
	wr_le16(&w->buf, stride);
	pad(w, 8);
}

static uint64_t table_element(const struct writer *w, enum hpc_meta_section s, uint32_t i,
			      uint32_t stride)
{
	return i == HPC_NONE ? 0 : w->sections[s].p + 16 + (uint64_t)i * stride;
}

static void write_function(struct writer *w, const struct hpc_function *f, uint64_t p_name)
{
	wr_le64(&w->buf, p_name);
	wr_le64(&w->buf, table_element(w, HPC_META_MODULES, f->module, SZ_MODULE));
	wr_le64(&w->buf, f->offset);
	wr_le64(&w->buf, table_element(w, HPC_META_FILES, f->file, SZ_FILE));
	wr_le32(&w->buf, f->line);
	wr_le32(&w->buf, f->flags);
	flush(w, CHUNK);
}

static void write_tables(struct writer *w)
{
	const struct hpc_meta_model *m = w->model;
	uint64_t p = w->sections[HPC_META_STRINGS].p;

	for (uint32_t i = 0; !w->page && i < m->n_entries; i++)
		p += text_size(m->entries[i].prettyName);
	begin(w, HPC_META_MODULES);
	table_header(w, m->n_modules, SZ_MODULE);
	for (uint32_t i = 0; i < m->n_modules; i++) {
		wr_le32(&w->buf, m->modules[i].flags);
		wr_le32(&w->buf, 0);
		wr_le64(&w->buf, p);
		p += text_size(m->modules[i].path);
		flush(w, CHUNK);
	}
	end(w, HPC_META_MODULES);
	begin(w, HPC_META_FILES);
	table_header(w, m->n_files, SZ_FILE);
	for (uint32_t i = 0; i < m->n_files; i++) {
		wr_le32(&w->buf, m->files[i].flags);
		wr_le32(&w->buf, 0);
		wr_le64(&w->buf, p);
		p += text_size(m->files[i].path);
		flush(w, CHUNK);
	}
	end(w, HPC_META_FILES);
	begin(w, HPC_META_FUNCTIONS);
	table_header(w, m->n_functions + (uint32_t)w->extra.n, SZ_FUNCTION);
	for (uint32_t i = 0; i < m->n_functions; i++) {
		write_function(w, &m->functions[i], p);
		p += text_size(m->functions[i].name);
	}
	vec_each (f, &w->extra) {
		write_function(w, f, p);
		p += text_size(f->name);
	}
	end(w, HPC_META_FUNCTIONS);
}

/* FORMATS.md {Ctx}: node N, whose children are at AT. */
static void write_ctx(struct writer *w, const struct hpc_node *n, const struct placed *at)
{
	wr_le64(&w->buf, at->sz);
	wr_le64(&w->buf, at->sz ? at->p : 0);
	wr_le32(&w->buf, n->ctxId);
	wr_u8(&w->buf, n->flags);
	wr_u8(&w->buf, n->relation);
	wr_u8(&w->buf, n->lexicalType);
	wr_u8(&w->buf, (uint8_t)hpc_ctx_flex_words(n->flags));
	if (!w->page)
		wr_le64(&w->buf, n->propagation);
	if (n->flags & HPC_HAS_FUNCTION)
		wr_le64(&w->buf, table_element(w, HPC_META_FUNCTIONS, n->function, SZ_FUNCTION));
	if (n->flags & HPC_HAS_SRC_LOC) {
		wr_le64(&w->buf, table_element(w, HPC_META_FILES, n->file, SZ_FILE));
		wr_le64(&w->buf, n->line);
	}
	if (n->flags & HPC_HAS_POINT) {
		wr_le64(&w->buf, table_element(w, HPC_META_MODULES, n->module, SZ_MODULE));
		wr_le64(&w->buf, n->offset);
	}
	flush(w, CHUNK);
}

/* The subtree of node I is complete with the nodes before END: writes the array of its children. */
static void finish_subtree(struct writer *w, struct placed *places, uint32_t i, uint32_t end)
{
	uint64_t p = here(w);

	for (uint32_t k = i + 1; k < end; k += places[k].n_nodes)
		write_ctx(w, &w->model->nodes[k], &places[k]);
	places[i] = (struct placed){.p = p, .sz = here(w) - p, .n_nodes = end - i};
}

/* Root number E, node I, in the page layout: with the function that stands for its entry. */
static void write_page_root(struct writer *w, uint32_t i, uint32_t e, const struct placed *at)
{
	struct hpc_node n = w->model->nodes[i];

	if (!(n.flags & HPC_HAS_FUNCTION) && w->entry_functions[e] != HPC_NONE) {
		n.function = w->entry_functions[e];
		n.flags = HPC_HAS_FUNCTION;
	}
	write_ctx(w, &n, at);
}

/* FORMATS.md of the released layout, {Entry}. */
static void write_entry(struct writer *w, uint32_t i, uint32_t e, const struct placed *at,
			uint64_t p_name)
{
	wr_le64(&w->buf, at->sz);
	wr_le64(&w->buf, at->sz ? at->p : 0);
	wr_le32(&w->buf, w->model->nodes[i].ctxId);
	wr_le16(&w->buf, w->model->entries[e].entryPoint);
	wr_le16(&w->buf, 0);
	wr_le64(&w->buf, p_name);
}

/* Bytes of the section's header before pRoots or pEntryPoints are known: both take two words. */
static void write_contexts(struct writer *w, uint64_t *ret_roots, uint64_t *ret_sz_roots)
{
	const struct hpc_meta_model *m = w->model;
	struct placed *places = xcalloc((size_t)m->n_nodes + 1, sizeof(*places));
	uint64_t p_name = w->sections[HPC_META_STRINGS].p;
	uint32_t top = HPC_NONE; /* the subtree that is not finished and is the innermost */

	begin(w, HPC_META_CONTEXT);
	wr_le64(&w->buf, 0);
	wr_le64(&w->buf, 0);
	for (uint32_t i = 0; i < m->n_nodes && !w->rc; i++) {
		while (top != m->nodes[i].parent && top != HPC_NONE) {
			finish_subtree(w, places, top, i);
			top = m->nodes[top].parent;
		}
		if (top != m->nodes[i].parent)
			refuse(w, -EINVAL, "node %" PRIu32 " does not follow its parent", i);
		top = i;
	}
	for (; top != HPC_NONE && !w->rc; top = m->nodes[top].parent)
		finish_subtree(w, places, top, m->n_nodes);
	*ret_roots = here(w);
	for (uint32_t i = 0, e = 0; i < m->n_nodes && !w->rc; i += places[i].n_nodes, e++) {
		if (w->page)
			write_page_root(w, i, e, &places[i]);
		else
			write_entry(w, i, e, &places[i], p_name);
		p_name += text_size(m->entries[e].prettyName);
		flush(w, CHUNK);
	}
	*ret_sz_roots = here(w) - *ret_roots;
	end(w, HPC_META_CONTEXT);
	free(places);
}

/* Writes B at another place of the file than its end. */
static void write_at(struct writer *w, uint64_t at, int whence, const struct wr *b)
{
	int rc;

	if (w->rc)
		return;
	rc = lseek(w->fd, (off_t)at, whence) < 0 ? -errno : file_write_all(w->fd, b->v, b->n);
	if (rc)
		w->rc = err_errno(w->err, rc, "%s: write", w->name);
}

/* The header, and that of the contexts, whose places are known only now. */
static void write_headers(struct writer *w, uint64_t roots, uint64_t sz_roots)
{
	struct wr h = {0}, c = {0};

	wr_bytes(&h, hpc_meta_frame.magic, 14);
	wr_u8(&h, HPC_MAJOR);
	wr_u8(&h, HPC_MINOR);
	for (int i = 0; i < HPC_META_N_SECTIONS; i++) {
		wr_le64(&h, w->sections[i].sz);
		wr_le64(&h, w->sections[i].p);
	}
	if (w->page) {
		wr_le64(&c, sz_roots);
		wr_le64(&c, sz_roots ? roots : 0);
	} else {
		wr_le64(&c, roots);
		wr_le16(&c, (uint16_t)w->model->n_entries);
		wr_u8(&c, SZ_ENTRY);
	}
	write_at(w, w->sections[HPC_META_CONTEXT].p, SEEK_SET, &c);
	write_at(w, 0, SEEK_SET, &h);
	wr_release(&h);
	wr_release(&c);
}

/* HAS says of each scope whether metric M has an instance of it: in the page layout summaries hang
 * on instances. */
static void check_metric(struct writer *w, const struct hpc_metric *m, uint8_t *has)
{
	uint32_t n_scopes = w->model->metrics.n_scopes;

	if (m->n_scopes > UINT16_MAX || m->n_summaries > UINT16_MAX)
		refuse(w, -E2BIG,
		       "metric %s has %" PRIu32 " scopes and %" PRIu32
		       " summaries, the format takes 65535",
		       m->name, m->n_scopes, m->n_summaries);
	memset(has, 0, n_scopes);
	for (uint32_t k = 0; k < m->n_scopes && !w->rc; k++) {
		const struct hpc_scope_inst *s = &m->scopes[k];

		if (s->scope >= n_scopes || has[s->scope]++)
			refuse(w, -EINVAL, "metric %s: scope %u is unknown or comes twice", m->name,
			       s->scope);
		else if (s->propMetricId > MAX_ID)
			refuse(w, -E2BIG, "metric %s: id %u, readers take at most %d", m->name,
			       s->propMetricId, MAX_ID);
	}
	for (uint32_t k = 0; k < m->n_summaries && !w->rc; k++) {
		const struct hpc_summary *s = &m->summaries[k];

		if (s->scope >= n_scopes || (w->page && !has[s->scope]))
			refuse(w, -EINVAL, "metric %s: a summary in scope %u, which it has not",
			       m->name, s->scope);
		else if (s->statMetricId > MAX_ID)
			refuse(w, -E2BIG, "metric %s: id %u, readers take at most %d", m->name,
			       s->statMetricId, MAX_ID);
	}
}

static void check_metrics(struct writer *w)
{
	const struct hpc_metrics *ms = &w->model->metrics;
	uint8_t *has = xcalloc(ms->n_scopes + (size_t)1, 1);

	if (ms->n_scopes > UINT16_MAX)
		refuse(w, -E2BIG, "%" PRIu32 " scopes, the format takes 65535", ms->n_scopes);
	for (uint32_t i = 0; i < ms->n_metrics && !w->rc; i++)
		check_metric(w, &ms->metrics[i], has);
	free(has);
}

static bool number_ok(uint32_t i, uint32_t n)
{
	return i == HPC_NONE || i < n;
}

static void check_nodes(struct writer *w)
{
	const struct hpc_meta_model *m = w->model;
	uint32_t n_roots = 0;
	uint64_t sz = 16;

	for (uint32_t i = 0; i < m->n_nodes; i++) {
		const struct hpc_node *n = &m->nodes[i];

		if (!number_ok(n->function, m->n_functions) || !number_ok(n->file, m->n_files) ||
		    !number_ok(n->module, m->n_modules) || n->flags & ~known_flags)
			refuse(w, -EINVAL,
			       "node %" PRIu32 ": no such function, file, module or flag", i);
		if (n->parent != HPC_NONE && n->parent >= i)
			refuse(w, -EINVAL, "node %" PRIu32 " comes before its parent", i);
		n_roots += n->parent == HPC_NONE;
		sz += hpc_ctx_size(w->page ? HPC_PAGE : HPC_RELEASED, hpc_ctx_flex_words(n->flags));
	}
	check_size(w, HPC_META_CONTEXT, sz);
	if (n_roots != m->n_entries)
		refuse(w, -EINVAL, "%" PRIu32 " roots and %" PRIu32 " entries", n_roots,
		       m->n_entries);
	if (!w->page && m->n_entries > UINT16_MAX)
		refuse(w, -E2BIG, "%" PRIu32 " entry points, the format takes 65535", m->n_entries);
}

static void check_model(struct writer *w)
{
	const struct hpc_meta_model *m = w->model;

	if (m->n_id_names > MAX_KINDS)
		refuse(w, -E2BIG, "%" PRIu32 " kinds of identifiers, readers take at most %d",
		       m->n_id_names, MAX_KINDS);
	check_metrics(w);
	for (uint32_t i = 0; i < m->n_functions; i++)
		if (!number_ok(m->functions[i].module, m->n_modules) ||
		    !number_ok(m->functions[i].file, m->n_files))
			refuse(w, -EINVAL, "function %" PRIu32 ": no such module or file", i);
	check_nodes(w);
}

/* Functions by name while entries of the page layout look for theirs. */
struct stand_ins {
	struct writer *w;
	VEC(uint32_t) functions; /* numbers; from n_functions on: of extra */
	struct index names;
};

static const char *function_name(const struct writer *w, uint32_t i)
{
	uint32_t n = w->model->n_functions;

	return i < n ? w->model->functions[i].name : w->extra.v[i - n].name;
}

static bool same_name(const void *owner, uint32_t i, const void *key)
{
	const struct stand_ins *s = owner;

	return strcmp(function_name(s->w, s->functions.v[i]), key) == 0;
}

/* The number of the function that stands for an entry called NAME; I: use this one when there is
 * none yet, HPC_NONE: make one. */
static uint32_t stand_in(struct stand_ins *s, const char *name, uint32_t i)
{
	uint64_t hash = hash_str(name);
	uint32_t found = index_find(&s->names, hash, same_name, s, name);

	if (found != INDEX_NONE)
		return s->functions.v[found];
	if (i == HPC_NONE) {
		i = s->w->model->n_functions + (uint32_t)s->w->extra.n;
		vec_push(&s->w->extra,
			 (struct hpc_function){name, .module = HPC_NONE, .file = HPC_NONE});
	}
	index_add(&s->names, hash, (uint32_t)s->functions.n);
	vec_push(&s->functions, i);
	return i;
}

/* Page layout: finds or makes the functions of entries, which are functions of their names that lie
 * nowhere. */
static void find_entry_functions(struct writer *w)
{
	const struct hpc_meta_model *m = w->model;
	struct stand_ins s = {.w = w};

	w->entry_functions = xcalloc(m->n_entries + (size_t)1, sizeof(*w->entry_functions));
	for (uint32_t i = 0; i < m->n_functions; i++)
		if (m->functions[i].module == HPC_NONE && m->functions[i].file == HPC_NONE)
			stand_in(&s, m->functions[i].name, i);
	for (uint32_t i = 0, e = 0; i < m->n_nodes; i++) {
		if (m->nodes[i].parent != HPC_NONE)
			continue;
		w->entry_functions[e] =
			m->nodes[i].flags & HPC_HAS_FUNCTION ||
					strcmp(m->entries[e].prettyName, HPC_UNKNOWN_ENTRY) == 0
				? HPC_NONE
				: stand_in(&s, m->entries[e].prettyName, HPC_NONE);
		e++;
	}
	vec_release(&s.functions);
	index_release(&s.names);
}

int hpc_meta_write(int fd, const char *name, const struct hpc_meta_model *model,
		   enum hpc_layout layout, struct err *err)
{
	struct writer w = {
		.model = model, .name = name, .page = layout == HPC_PAGE, .err = err, .fd = fd};
	uint64_t roots = 0, sz_roots = 0;

	check_model(&w);
	if (!w.rc) {
		if (w.page)
			find_entry_functions(&w);
		for (int i = 0; i < META_HEADER; i++)
			wr_u8(&w.buf, 0);
		write_general(&w);
		write_id_names(&w);
		write_metrics(&w);
		write_strings(&w);
		write_tables(&w);
		write_contexts(&w, &roots, &sz_roots);
		flush(&w, 0);
		write_headers(&w, roots, sz_roots);
		wr_bytes(&w.buf, hpc_meta_frame.footer, META_FOOTER);
		write_at(&w, 0, SEEK_END, &(struct wr){.v = w.buf.v, .n = w.buf.n});
	}
	wr_release(&w.buf);
	vec_release(&w.extra);
	free(w.entry_functions);
	return w.rc;
}
