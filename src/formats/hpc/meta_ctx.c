/* SPDX-License-Identifier: BSD-2-Clause */
/* The contexts of a meta.db, decoded one by one.
 *
 * The children of a context are an array of structures of varying size.  In the released layout the
 * roots are entry points, structures of their own; in the page layout they are contexts like all
 * others, which stand for functions called <program root> and the like.  Iterators make both look
 * alike: a root is an entry with a name.
 *
 * A walk over all contexts counts the bytes of the arrays it enters.  Each byte of the section
 * belongs to one array, so a walk that needs more of them goes in circles. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/hpc/meta_impl.h"

static const char contexts_name[] = "Context Tree";

int hpc_meta_read_contexts(struct hpc_meta *m, struct err *err)
{
	const struct hpc_section *s = &m->sections[HPC_META_CONTEXT];
	struct rd r;

	if (!s->sz)
		return 0;
	if (s->sz < (m->layout == HPC_PAGE ? CONTEXTS_HEADER_PAGE : CONTEXTS_HEADER))
		return hpc_bad(err, m->name, s->p, contexts_name, "",
			       "the section ends in its header");
	r = hpc_meta_rd(m, s->p, s->sz);
	if (m->layout == HPC_PAGE) {
		m->szRoots = rd_le64(&r);
		m->pRoots = rd_le64(&r);
		if (m->szRoots && !hpc_section_holds(s, m->pRoots, m->szRoots))
			return hpc_bad(err, m->name, s->p + 8, contexts_name, "pRoots",
				       "%" PRIu64 " bytes at %#" PRIx64 " are not in the section",
				       m->szRoots, m->pRoots);
		return 0;
	}
	m->entries.p = rd_le64(&r);
	m->entries.n = rd_le16(&r);
	m->entries.stride = rd_u8(&r);
	return hpc_meta_array(m, HPC_META_CONTEXT, &m->entries, SZ_ENTRY, s->p, contexts_name,
			      "pEntryPoints", err);
}

int hpc_ctxs_begin(struct hpc_ctxs *it, const struct hpc_meta *m, const struct hpc_ctx *parent,
		   struct err *err)
{
	*it = (struct hpc_ctxs){.meta = m, .roots = !parent};
	if (!parent && m->layout == HPC_PAGE) {
		it->at = m->pRoots;
		it->end = m->pRoots + m->szRoots;
	} else if (!parent) {
		it->at = m->entries.p;
		it->end = m->entries.p + (uint64_t)m->entries.n * m->entries.stride;
	} else if (parent->szChildren) {
		if (!hpc_section_holds(&m->sections[HPC_META_CONTEXT], parent->pChildren,
				       parent->szChildren))
			return hpc_bad(err, m->name, parent->at + 8,
				       parent->isEntry ? "{Entry}" : "{Ctx}", "pChildren",
				       "%" PRIu64 " bytes at %#" PRIx64
				       " are not in the Context Tree section",
				       parent->szChildren, parent->pChildren);
		it->at = parent->pChildren;
		it->end = parent->pChildren + parent->szChildren;
	}
	return 0;
}

/* FORMATS.md of the released layout, {Entry}: szChildren 00, pChildren 08, ctxId 10, entryPoint u16
 * 14, pPrettyName 18. */
static int read_entry(const struct hpc_meta *m, uint64_t at, struct hpc_ctx *ret, struct err *err)
{
	struct rd r = hpc_meta_rd(m, at, m->entries.stride);

	*ret = (struct hpc_ctx){
		.at = at,
		.szChildren = rd_le64(&r),
		.pChildren = rd_le64(&r),
		.ctxId = rd_le32(&r),
		.entryPoint = rd_le16(&r),
		.function = HPC_NONE,
		.file = HPC_NONE,
		.module = HPC_NONE,
		.relation = HPC_CALL,
		.lexicalType = HPC_FUNCTION,
		.isEntry = true,
	};
	rd_le16(&r);
	return hpc_meta_text(m, HPC_META_STRINGS, rd_le64(&r), at + 0x18, "{Entry}", "pPrettyName",
			     &ret->prettyName, err);
}

/* FORMATS.md "flex": words in this order, of those that FLAGS say are there.  The line is the only
 * u32, so it has a word for itself, which a later u32 would fill up. */
static int read_flex(const struct hpc_meta *m, struct rd *r, uint64_t at, struct hpc_ctx *ret,
		     struct err *err)
{
	int rc = 0;

	if (ret->flags & HPC_HAS_FUNCTION) {
		rc = hpc_meta_number(m, &m->functions, rd_le64(r), at, "{Ctx}", "pFunction",
				     &ret->function, err);
		at += 8;
	}
	if (rc >= 0 && ret->flags & HPC_HAS_SRC_LOC) {
		rc = hpc_meta_number(m, &m->files, rd_le64(r), at, "{Ctx}", "pFile", &ret->file,
				     err);
		ret->line = rd_le32(r);
		rd_le32(r);
		at += 16;
	}
	if (rc >= 0 && ret->flags & HPC_HAS_POINT) {
		rc = hpc_meta_number(m, &m->modules, rd_le64(r), at, "{Ctx}", "pModule",
				     &ret->module, err);
		ret->offset = rd_le64(r);
	}
	return rc;
}

/* The structure at AT in an array that ends at END; *RET_SIZE is how long it is. */
static int read_ctx(const struct hpc_meta *m, uint64_t at, uint64_t end, struct hpc_ctx *ret,
		    uint32_t *ret_size, struct err *err)
{
	uint32_t fixed = hpc_ctx_size(m->layout, 0), n_words, known;
	struct rd r = hpc_meta_rd(m, at, end - at);

	if (end - at < fixed)
		return hpc_bad(err, m->name, at, "{Ctx}", "", "the array ends in it");
	*ret = (struct hpc_ctx){
		.at = at,
		.szChildren = rd_le64(&r),
		.pChildren = rd_le64(&r),
		.ctxId = rd_le32(&r),
		.flags = rd_u8(&r) & (HPC_HAS_FUNCTION | HPC_HAS_SRC_LOC | HPC_HAS_POINT),
		.relation = rd_u8(&r),
		.lexicalType = rd_u8(&r),
		.function = HPC_NONE,
		.file = HPC_NONE,
		.module = HPC_NONE,
	};
	n_words = rd_u8(&r);
	if (m->layout == HPC_PAGE) {
		ret->propagation = ret->relation == HPC_LEXICAL ? HPC_PROPAGATE_FUNCTION : 0;
	} else {
		ret->propagation = rd_le16(&r);
		rd_bytes(&r, 6);
	}
	if (n_words > (end - at - fixed) / 8)
		return hpc_bad(err, m->name, at + 0x17, "{Ctx}", "nFlexWords",
			       "%" PRIu32 " words, the array ends after %" PRIu64, n_words,
			       (end - at - fixed) / 8);
	known = hpc_ctx_flex_words(ret->flags);
	if (n_words < known)
		return hpc_bad(err, m->name, at + 0x17, "{Ctx}", "nFlexWords",
			       "%" PRIu32 " words, the flags demand %" PRIu32, n_words, known);
	*ret_size = fixed + 8 * n_words;
	return read_flex(m, &r, at + fixed, ret, err);
}

/* A root of the page layout is a function; hpcprof of that time called those of threads so
 * (observed in its databases), and entry points become functions of their names when a database of
 * the released layout is written in this one. */
static int name_root(const struct hpc_meta *m, struct hpc_ctx *ctx, struct err *err)
{
	static const struct {
		const char *name;
		uint16_t entryPoint;
	} known[] = {
		{"<program root>", HPC_ENTRY_MAIN_THREAD},
		{"main thread", HPC_ENTRY_MAIN_THREAD},
		{"<thread root>", HPC_ENTRY_THREAD},
		{"application thread", HPC_ENTRY_THREAD},
	};
	struct hpc_function f = {.name = HPC_UNKNOWN_ENTRY};

	if (ctx->function != HPC_NONE) {
		int rc = hpc_meta_function(m, ctx->function, &f, err);

		if (rc < 0)
			return rc;
	}
	ctx->isEntry = true;
	ctx->prettyName = f.name;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(f.name, known[i].name) == 0)
			ctx->entryPoint = known[i].entryPoint;
	return 0;
}

int hpc_ctxs_next(struct hpc_ctxs *it, struct hpc_ctx *ret, struct err *err)
{
	const struct hpc_meta *m = it->meta;
	uint32_t size = 0;
	int rc;

	if (it->at >= it->end)
		return 0;
	if (it->roots && m->layout == HPC_RELEASED) {
		rc = read_entry(m, it->at, ret, err);
		size = m->entries.stride;
	} else {
		rc = read_ctx(m, it->at, it->end, ret, &size, err);
		if (rc >= 0 && it->roots)
			rc = name_root(m, ret, err);
	}
	it->at += size;
	return rc < 0 ? rc : 1;
}

void hpc_walk_begin(struct hpc_walk *w, const struct hpc_meta *m)
{
	*w = (struct hpc_walk){.meta = m, .left = m->sections[HPC_META_CONTEXT].sz};
}

/* Enters the children of PARENT, or the roots. */
static int meta_ctx_enter(struct hpc_walk *w, const struct hpc_ctx *parent, struct err *err)
{
	struct hpc_ctxs it;
	int rc = hpc_ctxs_begin(&it, w->meta, parent, err);

	if (rc < 0 || it.at == it.end)
		return rc;
	if (it.end - it.at > w->left)
		return hpc_bad(err, w->meta->name, parent ? parent->at + 8 : it.at,
			       parent && !parent->isEntry ? "{Ctx}" : "{Entry}", "pChildren",
			       "contexts overlap: children at %#" PRIx64
			       " were met before or hold their own parent",
			       it.at);
	w->left -= it.end - it.at;
	if (w->depth == w->cap) {
		w->cap = w->cap * 2 + 16;
		w->stack = xrealloc(w->stack, w->cap, sizeof(*w->stack));
	}
	w->stack[w->depth++] = it;
	return 0;
}

int hpc_walk_next(struct hpc_walk *w, struct hpc_ctx *ret, size_t *ret_depth, struct err *err)
{
	int rc = 0;

	if (!w->begun) {
		w->begun = true;
		rc = meta_ctx_enter(w, NULL, err);
	} else if (w->descend) {
		rc = meta_ctx_enter(w, &w->last, err);
	}
	w->descend = false;
	while (rc == 0 && w->depth) {
		rc = hpc_ctxs_next(&w->stack[w->depth - 1], &w->last, err);
		if (rc == 0)
			w->depth--;
	}
	if (rc > 0) {
		w->descend = true;
		*ret = w->last;
		*ret_depth = w->depth - 1;
	}
	return rc;
}

void hpc_walk_release(struct hpc_walk *w)
{
	free(w->stack);
	*w = (struct hpc_walk){0};
}
