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
#include "formats/hpc/meta_writer.h"

enum { CHUNK = 1 << 18 }; /* bytes that are written at once */

/* hpcviewer reads sizes of sections as a signed int (observed). */
static const uint64_t max_section = INT32_MAX;

static const unsigned known_flags = HPC_HAS_FUNCTION | HPC_HAS_SRC_LOC | HPC_HAS_POINT;

/* Where the children of a node were written. */
struct placed {
	uint64_t p, sz;
	uint32_t n_nodes; /* of its subtree */
};

void meta_writer_refuse(struct meta_writer *w, int code, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (w->rc >= 0)
		w->rc = err_set(w->err, code, "%s: %s", w->name, text);
}

void meta_writer_flush(struct meta_writer *w, bool all)
{
	int rc;

	if (!all && w->buf.n < CHUNK)
		return;
	rc = w->rc < 0 ? 0 : file_write_all(w->fd, w->buf.v, w->buf.n);
	if (rc < 0)
		w->rc = err_errno(w->err, rc, "%s: write", w->name);
	w->at += w->buf.n;
	w->buf.n = 0;
}

void meta_writer_pad(struct meta_writer *w, unsigned alignment)
{
	while (meta_writer_at(w) % alignment)
		wr_u8(&w->buf, 0);
}

void meta_writer_text(struct meta_writer *w, const char *s)
{
	wr_bytes(&w->buf, s, strlen(s) + 1);
	meta_writer_flush(w, false);
}

static void check_size(struct meta_writer *w, enum hpc_meta_section i, uint64_t sz)
{
	if (sz > max_section)
		meta_writer_refuse(w, -E2BIG,
				   "the %s section would have %" PRIu64
				   " bytes; readers of such databases take at most 2 GB",
				   hpc_meta_section_name(i), sz);
}

void meta_writer_begin(struct meta_writer *w, enum hpc_meta_section i)
{
	meta_writer_pad(w, i == HPC_META_STRINGS ? 1 : 8);
	w->sections[i].p = meta_writer_at(w);
}

void meta_writer_end(struct meta_writer *w, enum hpc_meta_section i)
{
	struct hpc_section *s = &w->sections[i];

	s->sz = meta_writer_at(w) - s->p;
	check_size(w, i, s->sz);
}

/* FORMATS.md "General Properties section". */
static void write_general(struct meta_writer *w)
{
	meta_writer_begin(w, HPC_META_GENERAL);
	wr_le64(&w->buf, meta_writer_at(w) + GENERAL_HEADER);
	wr_le64(&w->buf,
		w->sections[HPC_META_GENERAL].p + GENERAL_HEADER + meta_text_size(w->model->title));
	meta_writer_text(w, w->model->title);
	meta_writer_text(w, w->model->description);
	meta_writer_end(w, HPC_META_GENERAL);
}

/* FORMATS.md "Hierarchical Identifier Names section": the header takes two words. */
static void write_id_names(struct meta_writer *w)
{
	uint32_t n = w->model->n_id_names;
	uint64_t p;

	meta_writer_begin(w, HPC_META_ID_NAMES);
	p = meta_writer_at(w) + 16;
	wr_le64(&w->buf, p);
	wr_u8(&w->buf, (uint8_t)n);
	meta_writer_pad(w, 8);
	p += (uint64_t)n * 8;
	for (uint32_t i = 0; i < n; i++) {
		wr_le64(&w->buf, p);
		p += meta_text_size(w->model->id_names[i]);
	}
	for (uint32_t i = 0; i < n; i++)
		meta_writer_text(w, w->model->id_names[i]);
	meta_writer_end(w, HPC_META_ID_NAMES);
}

/* The strings: names of entries (released), paths of modules, of files, names of functions. */
static void write_strings(struct meta_writer *w)
{
	const struct hpc_meta_model *m = w->model;

	meta_writer_begin(w, HPC_META_STRINGS);
	for (uint32_t i = 0; !w->page && i < m->n_entries; i++)
		meta_writer_text(w, m->entries[i].prettyName);
	for (uint32_t i = 0; i < m->n_modules; i++)
		meta_writer_text(w, m->modules[i].path);
	for (uint32_t i = 0; i < m->n_files; i++)
		meta_writer_text(w, m->files[i].path);
	for (uint32_t i = 0; i < m->n_functions; i++)
		meta_writer_text(w, m->functions[i].name);
	vec_each (f, &w->extra)
		meta_writer_text(w, f->name);
	meta_writer_end(w, HPC_META_STRINGS);
}

/* FORMATS.md "Load Modules section" and the like: pointer, count, stride. */
static void table_header(struct meta_writer *w, uint32_t n, uint16_t stride)
{
	wr_le64(&w->buf, meta_writer_at(w) + 16);
	wr_le32(&w->buf, n);
	wr_le16(&w->buf, stride);
	meta_writer_pad(w, 8);
}

static uint64_t table_element(const struct meta_writer *w, enum hpc_meta_section s, uint32_t i,
			      uint32_t stride)
{
	return i == HPC_NONE ? 0 : w->sections[s].p + 16 + (uint64_t)i * stride;
}

static void write_function(struct meta_writer *w, const struct hpc_function *f, uint64_t p_name)
{
	wr_le64(&w->buf, p_name);
	wr_le64(&w->buf, table_element(w, HPC_META_MODULES, f->module, SZ_MODULE));
	wr_le64(&w->buf, f->offset);
	wr_le64(&w->buf, table_element(w, HPC_META_FILES, f->file, SZ_FILE));
	wr_le32(&w->buf, f->line);
	wr_le32(&w->buf, f->flags);
	meta_writer_flush(w, false);
}

static void write_tables(struct meta_writer *w)
{
	const struct hpc_meta_model *m = w->model;
	uint64_t p = w->sections[HPC_META_STRINGS].p;

	for (uint32_t i = 0; !w->page && i < m->n_entries; i++)
		p += meta_text_size(m->entries[i].prettyName);
	meta_writer_begin(w, HPC_META_MODULES);
	table_header(w, m->n_modules, SZ_MODULE);
	for (uint32_t i = 0; i < m->n_modules; i++) {
		wr_le32(&w->buf, m->modules[i].flags);
		wr_le32(&w->buf, 0);
		wr_le64(&w->buf, p);
		p += meta_text_size(m->modules[i].path);
		meta_writer_flush(w, false);
	}
	meta_writer_end(w, HPC_META_MODULES);
	meta_writer_begin(w, HPC_META_FILES);
	table_header(w, m->n_files, SZ_FILE);
	for (uint32_t i = 0; i < m->n_files; i++) {
		wr_le32(&w->buf, m->files[i].flags);
		wr_le32(&w->buf, 0);
		wr_le64(&w->buf, p);
		p += meta_text_size(m->files[i].path);
		meta_writer_flush(w, false);
	}
	meta_writer_end(w, HPC_META_FILES);
	meta_writer_begin(w, HPC_META_FUNCTIONS);
	table_header(w, m->n_functions + (uint32_t)w->extra.n, SZ_FUNCTION);
	for (uint32_t i = 0; i < m->n_functions; i++) {
		write_function(w, &m->functions[i], p);
		p += meta_text_size(m->functions[i].name);
	}
	vec_each (f, &w->extra) {
		write_function(w, f, p);
		p += meta_text_size(f->name);
	}
	meta_writer_end(w, HPC_META_FUNCTIONS);
}

/* FORMATS.md {Ctx}: node N, whose children are at AT. */
static void write_ctx(struct meta_writer *w, const struct hpc_node *n, const struct placed *at)
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
	meta_writer_flush(w, false);
}

/* The subtree of node I is complete with the nodes before END: writes the array of its children. */
static void finish_subtree(struct meta_writer *w, struct placed *places, uint32_t i, uint32_t end)
{
	uint64_t p = meta_writer_at(w);

	for (uint32_t k = i + 1; k < end; k += places[k].n_nodes)
		write_ctx(w, &w->model->nodes[k], &places[k]);
	places[i] = (struct placed){.p = p, .sz = meta_writer_at(w) - p, .n_nodes = end - i};
}

/* Root number E, node I, in the page layout: with the function that stands for its entry. */
static void write_page_root(struct meta_writer *w, uint32_t i, uint32_t e, const struct placed *at)
{
	struct hpc_node n = w->model->nodes[i];

	if (!(n.flags & HPC_HAS_FUNCTION) && w->entry_functions[e] != HPC_NONE) {
		n.function = w->entry_functions[e];
		n.flags = HPC_HAS_FUNCTION;
	}
	write_ctx(w, &n, at);
}

/* FORMATS.md of the released layout, {Entry}. */
static void write_entry(struct meta_writer *w, uint32_t i, uint32_t e, const struct placed *at,
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
static void write_contexts(struct meta_writer *w, uint64_t *ret_roots, uint64_t *ret_sz_roots)
{
	const struct hpc_meta_model *m = w->model;
	struct placed *places = xcalloc((size_t)m->n_nodes + 1, sizeof(*places));
	uint64_t p_name = w->sections[HPC_META_STRINGS].p;
	uint32_t top = HPC_NONE; /* the subtree that is not finished and is the innermost */

	meta_writer_begin(w, HPC_META_CONTEXT);
	wr_le64(&w->buf, 0);
	wr_le64(&w->buf, 0);
	for (uint32_t i = 0; i < m->n_nodes && w->rc >= 0; i++) {
		while (top != m->nodes[i].parent && top != HPC_NONE) {
			finish_subtree(w, places, top, i);
			top = m->nodes[top].parent;
		}
		if (top != m->nodes[i].parent)
			meta_writer_refuse(w, -EINVAL,
					   "node %" PRIu32 " does not follow its parent", i);
		top = i;
	}
	for (; top != HPC_NONE && w->rc >= 0; top = m->nodes[top].parent)
		finish_subtree(w, places, top, m->n_nodes);
	*ret_roots = meta_writer_at(w);
	for (uint32_t i = 0, e = 0; i < m->n_nodes && w->rc >= 0; i += places[i].n_nodes, e++) {
		if (w->page)
			write_page_root(w, i, e, &places[i]);
		else
			write_entry(w, i, e, &places[i], p_name);
		p_name += meta_text_size(m->entries[e].prettyName);
		meta_writer_flush(w, false);
	}
	*ret_sz_roots = meta_writer_at(w) - *ret_roots;
	meta_writer_end(w, HPC_META_CONTEXT);
	free(places);
}

/* Writes B at another place of the file than its end. */
static void write_at(struct meta_writer *w, uint64_t at, int whence, const struct wr *b)
{
	int rc;

	if (w->rc < 0)
		return;
	rc = lseek(w->fd, (off_t)at, whence) < 0 ? -errno : file_write_all(w->fd, b->v, b->n);
	if (rc < 0)
		w->rc = err_errno(w->err, rc, "%s: write", w->name);
}

/* The header, and that of the contexts, whose places are known only now. */
static void write_headers(struct meta_writer *w, uint64_t roots, uint64_t sz_roots)
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

static bool number_ok(uint32_t i, uint32_t n)
{
	return i == HPC_NONE || i < n;
}

static void check_nodes(struct meta_writer *w)
{
	const struct hpc_meta_model *m = w->model;
	uint32_t n_roots = 0;
	uint64_t sz = 16;

	for (uint32_t i = 0; i < m->n_nodes; i++) {
		const struct hpc_node *n = &m->nodes[i];

		if (!number_ok(n->function, m->n_functions) || !number_ok(n->file, m->n_files) ||
		    !number_ok(n->module, m->n_modules) || n->flags & ~known_flags)
			meta_writer_refuse(
				w, -EINVAL,
				"node %" PRIu32 ": no such function, file, module or flag", i);
		if (n->parent != HPC_NONE && n->parent >= i)
			meta_writer_refuse(w, -EINVAL, "node %" PRIu32 " comes before its parent",
					   i);
		n_roots += n->parent == HPC_NONE;
		sz += hpc_ctx_size(w->page ? HPC_PAGE : HPC_RELEASED, hpc_ctx_flex_words(n->flags));
	}
	check_size(w, HPC_META_CONTEXT, sz);
	if (n_roots != m->n_entries)
		meta_writer_refuse(w, -EINVAL, "%" PRIu32 " roots and %" PRIu32 " entries", n_roots,
				   m->n_entries);
	if (!w->page && m->n_entries > UINT16_MAX)
		meta_writer_refuse(w, -E2BIG, "%" PRIu32 " entry points, the format takes 65535",
				   m->n_entries);
}

static void check_model(struct meta_writer *w)
{
	const struct hpc_meta_model *m = w->model;

	if (m->n_id_names > META_MAX_KINDS)
		meta_writer_refuse(w, -E2BIG,
				   "%" PRIu32 " kinds of identifiers, readers take at most %d",
				   m->n_id_names, META_MAX_KINDS);
	meta_writer_check_metrics(w);
	for (uint32_t i = 0; i < m->n_functions; i++)
		if (!number_ok(m->functions[i].module, m->n_modules) ||
		    !number_ok(m->functions[i].file, m->n_files))
			meta_writer_refuse(w, -EINVAL,
					   "function %" PRIu32 ": no such module or file", i);
	check_nodes(w);
}

/* Functions by name while entries of the page layout look for theirs. */
struct stand_ins {
	struct meta_writer *w;
	VEC(uint32_t) functions; /* numbers; from n_functions on: of extra */
	struct index names;
};

static const char *function_name(const struct meta_writer *w, uint32_t i)
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
static void find_entry_functions(struct meta_writer *w)
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
	struct meta_writer w = {
		.model = model, .name = name, .page = layout == HPC_PAGE, .err = err, .fd = fd};
	uint64_t roots = 0, sz_roots = 0;

	check_model(&w);
	if (w.rc >= 0) {
		if (w.page)
			find_entry_functions(&w);
		for (int i = 0; i < META_HEADER; i++)
			wr_u8(&w.buf, 0);
		write_general(&w);
		write_id_names(&w);
		meta_writer_put_metrics(&w);
		write_strings(&w);
		write_tables(&w);
		write_contexts(&w, &roots, &sz_roots);
		meta_writer_flush(&w, true);
		write_headers(&w, roots, sz_roots);
		wr_bytes(&w.buf, hpc_meta_frame.footer, META_FOOTER);
		write_at(&w, 0, SEEK_END, &(struct wr){.v = w.buf.v, .n = w.buf.n});
	}
	wr_release(&w.buf);
	vec_release(&w.extra);
	free(w.entry_functions);
	return w.rc;
}
