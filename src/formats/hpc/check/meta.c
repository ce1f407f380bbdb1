/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks a meta.db against all that its format's description demands.
 *
 * The reader stops at the first thing it cannot use and takes what it can; this goes through the
 * file's raw structures, reports everything that is not as described, and goes on with what can
 * still be reached.  The tree of contexts is walked with a budget of bytes, as in meta_ctx.c, and
 * the arrays met are held against each other afterwards: no byte may belong to two. */
#include "formats/hpc/check/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "formats/hpc/le.h"
#include "formats/hpc/meta_impl.h"

/* A number that must be the only one of its kind, and where it stands. */
struct id_at {
	uint64_t id, at;
};
typedef VEC(struct id_at) ids;

struct extent {
	uint64_t p, end;
	uint64_t at; /* the pointer that named it */
};

struct meta_check {
	struct hpc_check *c;
	const char *name;
	const uint8_t *bytes;
	uint64_t end;	   /* where the footer begins */
	struct hpc_meta m; /* what the reader's helpers need: bytes, sections, layout, tables */
	uint64_t left;	   /* bytes of contexts that can still come */
	ids ctx_ids;
	VEC(struct extent) arrays; /* of contexts */
};

#define problem(mc, ...) hpc_problem((mc)->c, (mc)->name, __VA_ARGS__)

static uint64_t meta_u64(const struct meta_check *mc, uint64_t at)
{
	return hpc_le64(mc->bytes + at);
}

static uint32_t meta_u32(const struct meta_check *mc, uint64_t at)
{
	return hpc_le32(mc->bytes + at);
}

static uint16_t meta_u16(const struct meta_check *mc, uint64_t at)
{
	return hpc_le16(mc->bytes + at);
}

static uint8_t meta_u8(const struct meta_check *mc, uint64_t at)
{
	return mc->bytes[at];
}

static bool page(const struct meta_check *mc)
{
	return mc->m.layout == HPC_PAGE;
}

/* The char* at AT must lie in section S with its NUL. */
static void check_text(struct meta_check *mc, enum hpc_meta_section s, uint64_t at,
		       const char *structure, const char *field)
{
	const struct hpc_section *sec = &mc->m.sections[s];
	uint64_t p = meta_u64(mc, at);

	if (!hpc_section_holds(sec, p, 1))
		problem(mc, at, structure, field, "0x%" PRIx64 " is not in the %s section", p,
			hpc_meta_section_name(s));
	else if (p >= sec->text_end)
		problem(mc, at, structure, field,
			"the string at 0x%" PRIx64 " has no NUL in the %s section", p,
			hpc_meta_section_name(s));
}

/* The array of N elements of STRIDE bytes that the pointer at AT names: aligned to 8, in section S,
 * elements not shorter than LEAST.  False when its elements cannot be looked at. */
static bool check_array(struct meta_check *mc, enum hpc_meta_section s, uint64_t n, uint32_t stride,
			uint32_t least, uint64_t at, const char *structure, const char *field)
{
	uint64_t p = meta_u64(mc, at);

	if (!n)
		return false;
	if (stride < least) {
		problem(mc, at, structure, field,
			"elements of %" PRIu32 " bytes, must be %" PRIu32 " or more", stride,
			least);
		return false;
	}
	if (!hpc_section_holds(&mc->m.sections[s], p, n * stride)) {
		problem(mc, at, structure, field,
			"%" PRIu64 " elements of %" PRIu32 " bytes at 0x%" PRIx64
			" are not in the %s section",
			n, stride, p, hpc_meta_section_name(s));
		return false;
	}
	if (p % 8)
		problem(mc, at, structure, field, "0x%" PRIx64 " is not a multiple of 8", p);
	return true;
}

/* The pointer at AT must be an element of A, or 0 when OPTIONAL. */
static void check_element(struct meta_check *mc, const struct hpc_array *a, bool optional,
			  uint64_t at, const char *structure, const char *field)
{
	uint64_t p = meta_u64(mc, at);

	if (!p && optional)
		return;
	if (!a->n || p < a->p || (p - a->p) / a->stride >= a->n || (p - a->p) % a->stride)
		problem(mc, at, structure, field, "0x%" PRIx64 " is no element of its table", p);
}

/* A value of an enumeration; later minor versions may have more. */
static void check_enum(struct meta_check *mc, unsigned v, unsigned max, uint64_t at,
		       const char *structure, const char *field)
{
	if (v > max && mc->m.minorVersion <= HPC_MINOR)
		problem(mc, at, structure, field, "%u is unknown, the largest is %u", v, max);
}

static int by_id(const void *a, const void *b)
{
	const struct id_at *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Reports ids that come twice, and frees them. */
static void check_unique(struct meta_check *mc, ids *v, const char *structure, const char *field)
{
	vec_sort(v, by_id);
	for (size_t i = 1; i < v->n; i++)
		if (v->v[i].id == v->v[i - 1].id)
			problem(mc, v->v[i].at, structure, field,
				"%" PRIu64 " is also at 0x%" PRIx64, v->v[i].id, v->v[i - 1].at);
	vec_release(v);
}

static int by_place(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return x->p < y->p ? -1 : x->p > y->p;
}

/* Sections: FORMATS.md "meta.db version 4.0". */
static void check_sections(struct meta_check *mc)
{
	static const char *const fields[] = {"pGeneral", "pIdNames", "pMetrics", "pContext",
					     "pStrings", "pModules", "pFiles",	 "pFunctions"};
	_vec_ VEC(struct extent) extents = {0};

	vec_push(&extents, (struct extent){.p = 0, .end = META_HEADER});
	for (int i = 0; i < HPC_META_N_SECTIONS; i++) {
		struct hpc_section *s = &mc->m.sections[i];
		uint64_t at = 0x18 + 16 * (uint64_t)i;
		const uint8_t *nul;

		*s = (struct hpc_section){.sz = meta_u64(mc, at - 8), .p = meta_u64(mc, at)};
		if (!s->sz)
			continue;
		if (s->p > mc->end || s->sz > mc->end - s->p) {
			problem(mc, at, "header", fields[i],
				"%" PRIu64 " bytes at 0x%" PRIx64 " are not in the file", s->sz,
				s->p);
			*s = (struct hpc_section){0};
			continue;
		}
		if (i != HPC_META_STRINGS && s->p % 8)
			problem(mc, at, "header", fields[i], "0x%" PRIx64 " is not a multiple of 8",
				s->p);
		nul = i == HPC_META_CONTEXT ? NULL : memrchr(mc->bytes + s->p, 0, s->sz);
		s->text_end = nul ? (uint64_t)(nul - mc->bytes) + 1 : s->p;
		vec_push(&extents, (struct extent){s->p, s->p + s->sz, at});
	}
	vec_sort(&extents, by_place);
	for (size_t i = 1; i < extents.n; i++)
		if (extents.v[i].p < extents.v[i - 1].end)
			problem(mc, extents.v[i].at, "header", "",
				"the section at 0x%" PRIx64 " begins in what ends at 0x%" PRIx64,
				extents.v[i].p, extents.v[i - 1].end);
}

/* Whether section I is there and has room for its header of N bytes. */
static bool has_header(struct meta_check *mc, enum hpc_meta_section i, uint32_t n)
{
	const struct hpc_section *s = &mc->m.sections[i];

	if (s->sz && s->sz < n)
		problem(mc, s->p, hpc_meta_section_name(i), "",
			"%" PRIu64 " bytes, the header alone has %" PRIu32, s->sz, n);
	return s->sz >= n;
}

static void check_general(struct meta_check *mc)
{
	uint64_t p = mc->m.sections[HPC_META_GENERAL].p;

	if (!has_header(mc, HPC_META_GENERAL, GENERAL_HEADER))
		return;
	check_text(mc, HPC_META_GENERAL, p, "General Properties", "pTitle");
	check_text(mc, HPC_META_GENERAL, p + 8, "General Properties", "pDescription");
}

static void check_id_names(struct meta_check *mc)
{
	uint64_t p = mc->m.sections[HPC_META_ID_NAMES].p;

	if (!has_header(mc, HPC_META_ID_NAMES, ID_NAMES_HEADER))
		return;
	if (check_array(mc, HPC_META_ID_NAMES, meta_u8(mc, p + 8), 8, 8, p, "Identifier Names",
			"ppNames"))
		for (uint32_t i = 0; i < meta_u8(mc, p + 8); i++)
			check_text(mc, HPC_META_ID_NAMES, meta_u64(mc, p) + 8 * (uint64_t)i,
				   "Identifier Names", "ppNames[]");
}

/* What the lists of metrics are made of. */
struct metrics_check {
	uint8_t sz_metric, sz_scope, sz_summary;
	struct hpc_array scopes; /* released layout */
	uint64_t left;		 /* bytes of lists that can still come: each byte is in one */
	ids props, stats;
};

/* A list that hangs on a metric. */
static bool check_list(struct meta_check *mc, struct metrics_check *x, uint64_t n, uint32_t stride,
		       uint32_t least, uint64_t at, const char *structure, const char *field)
{
	if (!check_array(mc, HPC_META_METRICS, n, stride, least, at, structure, field))
		return false;
	if (n * stride > x->left) {
		problem(mc, at, structure, field, "lists of metrics overlap");
		return false;
	}
	x->left -= n * stride;
	return true;
}

/* The list of N {SS} that the pointer at AT names. */
static void check_summaries(struct meta_check *mc, struct metrics_check *x, uint32_t n, uint64_t at,
			    const char *structure)
{
	uint64_t p = meta_u64(mc, at);

	if (!check_list(mc, x, n, x->sz_summary, page(mc) ? SZ_SUMMARY_PAGE : SZ_SUMMARY, at,
			structure, "pSummaries"))
		return;
	for (uint32_t i = 0; i < n; i++, p += x->sz_summary) {
		uint64_t q = page(mc) ? p : p + 8; /* pFormula */

		if (!page(mc))
			check_element(mc, &x->scopes, false, p, "{SS}", "pScope");
		check_text(mc, HPC_META_METRICS, q, "{SS}", "pFormula");
		check_enum(mc, meta_u8(mc, q + 8), HPC_MAX, q + 8, "{SS}", "combine");
		vec_push(&x->stats, (struct id_at){meta_u16(mc, q + 10), q + 10});
	}
}

static void check_page_metric(struct meta_check *mc, struct metrics_check *x, uint64_t at)
{
	uint32_t n = meta_u16(mc, at + 8);
	uint64_t p = meta_u64(mc, at + 0x10);

	check_text(mc, HPC_META_METRICS, at, "{MD}", "pName");
	if (!check_list(mc, x, n, x->sz_scope, SZ_SCOPE_PAGE, at + 0x10, "{MD}", "pScopes"))
		return;
	for (uint32_t i = 0; i < n; i++, p += x->sz_scope) {
		check_text(mc, HPC_META_METRICS, p, "{PS}", "pScope");
		vec_push(&x->props, (struct id_at){meta_u16(mc, p + 10), p + 10});
		check_summaries(mc, x, meta_u16(mc, p + 8), p + 0x10, "{PS}");
	}
}

static void check_metric(struct meta_check *mc, struct metrics_check *x, uint64_t at)
{
	uint32_t n = meta_u16(mc, at + 0x18);
	uint64_t p = meta_u64(mc, at + 8);

	check_text(mc, HPC_META_METRICS, at, "{MD}", "pName");
	if (check_list(mc, x, n, x->sz_scope, SZ_SCOPE_INST, at + 8, "{MD}", "pScopeInsts"))
		for (uint32_t i = 0; i < n; i++, p += x->sz_scope) {
			check_element(mc, &x->scopes, false, p, "{PSI}", "pScope");
			vec_push(&x->props, (struct id_at){meta_u16(mc, p + 8), p + 8});
		}
	check_summaries(mc, x, meta_u16(mc, at + 0x1a), at + 0x10, "{MD}");
}

/* Released layout: the table of scopes. */
static void check_scopes(struct meta_check *mc, struct metrics_check *x, uint64_t header)
{
	uint32_t n = meta_u16(mc, header + 0x18);
	uint64_t p = meta_u64(mc, header + 0x10);
	ids indexes = {0};

	if (!check_array(mc, HPC_META_METRICS, n, meta_u8(mc, header + 0x1a), SZ_SCOPE,
			 header + 0x10, "Performance Metrics", "pScopes"))
		return;
	x->scopes = (struct hpc_array){.p = p, .n = n, .stride = meta_u8(mc, header + 0x1a)};
	for (uint32_t i = 0; i < n; i++, p += x->scopes.stride) {
		uint8_t type = meta_u8(mc, p + 8), index = meta_u8(mc, p + 9);

		check_text(mc, HPC_META_METRICS, p, "{PS}", "pScopeName");
		check_enum(mc, type, HPC_SCOPE_TRANSITIVE, p + 8, "{PS}", "type");
		if (type == HPC_SCOPE_TRANSITIVE && index >= 16)
			problem(mc, p + 9, "{PS}", "propagationIndex",
				"%u, propagation has bits 0 to 15", index);
		else if (type == HPC_SCOPE_TRANSITIVE)
			vec_push(&indexes, (struct id_at){index, p + 9});
		else if (type < HPC_SCOPE_TRANSITIVE && index != UINT8_MAX)
			problem(mc, p + 9, "{PS}", "propagationIndex",
				"%u, must be 255 in a scope that is not transitive", index);
	}
	check_unique(mc, &indexes, "{PS}", "propagationIndex");
}

static void check_metrics(struct meta_check *mc)
{
	uint64_t s = mc->m.sections[HPC_META_METRICS].p, p;
	struct metrics_check x = {.left = mc->m.sections[HPC_META_METRICS].sz};
	uint32_t n;

	mc->m.layout = hpc_meta_layout(&mc->m);
	if (!has_header(mc, HPC_META_METRICS, page(mc) ? METRICS_HEADER_PAGE : METRICS_HEADER))
		return;
	n = meta_u32(mc, s + 8);
	x.sz_metric = meta_u8(mc, s + 0x0c);
	x.sz_scope = meta_u8(mc, s + 0x0d);
	x.sz_summary = meta_u8(mc, s + 0x0e);
	if (!page(mc))
		check_scopes(mc, &x, s);
	p = meta_u64(mc, s);
	if (check_array(mc, HPC_META_METRICS, n, x.sz_metric, page(mc) ? SZ_METRIC_PAGE : SZ_METRIC,
			s, "Performance Metrics", "pMetrics"))
		for (uint32_t i = 0; i < n; i++, p += x.sz_metric)
			(page(mc) ? check_page_metric : check_metric)(mc, &x, p);
	check_unique(mc, &x.props, page(mc) ? "{PS}" : "{PSI}", "propMetricId");
	check_unique(mc, &x.stats, "{SS}", "statMetricId");
}

/* The header of a table; its array is left empty when it cannot be used. */
static void check_table(struct meta_check *mc, enum hpc_meta_section i, uint32_t least,
			const char *field, struct hpc_array *ret)
{
	uint64_t p = mc->m.sections[i].p;

	if (!has_header(mc, i, TABLE_HEADER))
		return;
	if (check_array(mc, i, meta_u32(mc, p + 8), meta_u16(mc, p + 12), least, p,
			hpc_meta_section_name(i), field))
		*ret = (struct hpc_array){meta_u64(mc, p), meta_u32(mc, p + 8),
					  meta_u16(mc, p + 12)};
}

static void check_paths(struct meta_check *mc, const struct hpc_array *a, const char *structure)
{
	for (uint32_t i = 0; i < a->n; i++)
		check_text(mc, HPC_META_STRINGS, a->p + (uint64_t)i * a->stride + 8, structure,
			   "pPath");
}

static void check_functions(struct meta_check *mc)
{
	const struct hpc_array *a = &mc->m.functions;

	for (uint32_t i = 0; i < a->n; i++) {
		uint64_t at = a->p + (uint64_t)i * a->stride;

		if (meta_u64(mc, at))
			check_text(mc, HPC_META_STRINGS, at, "[FS]", "pName");
		check_element(mc, &mc->m.modules, true, at + 0x08, "[FS]", "pModule");
		check_element(mc, &mc->m.files, true, at + 0x18, "[FS]", "pFile");
		if (!meta_u64(mc, at) && !meta_u64(mc, at + 0x08) && !meta_u64(mc, at + 0x18))
			problem(mc, at, "[FS]", "", "pName, pModule and pFile are all 0");
	}
}

static void check_tables(struct meta_check *mc)
{
	check_table(mc, HPC_META_MODULES, SZ_MODULE, "pModules", &mc->m.modules);
	check_table(mc, HPC_META_FILES, SZ_FILE, "pFiles", &mc->m.files);
	check_table(mc, HPC_META_FUNCTIONS, SZ_FUNCTION, "pFunctions", &mc->m.functions);
	check_paths(mc, &mc->m.modules, "[LMS]");
	check_paths(mc, &mc->m.files, "[SFS]");
	check_functions(mc);
}

/* The array of contexts that the pointer and the size at AT name: true, and its extent, when it can
 * be gone through. */
static bool check_contexts_at(struct meta_check *mc, uint64_t p, uint64_t sz, uint64_t at,
			      const char *structure, const char *field, struct extent *ret)
{
	if (!sz)
		return false;
	if (!hpc_section_holds(&mc->m.sections[HPC_META_CONTEXT], p, sz)) {
		problem(mc, at, structure, field,
			"%" PRIu64 " bytes at 0x%" PRIx64 " are not in the Context Tree section",
			sz, p);
		return false;
	}
	if (p % 8)
		problem(mc, at, structure, field, "0x%" PRIx64 " is not a multiple of 8", p);
	*ret = (struct extent){p, p + sz, at};
	vec_push(&mc->arrays, *ret);
	if (sz > mc->left) {
		problem(mc, at, structure, field,
			"contexts overlap: those at 0x%" PRIx64
			" were met before or hold their own parent",
			p);
		return false;
	}
	mc->left -= sz;
	return true;
}

static void check_ctx_id(struct meta_check *mc, uint64_t at, const char *structure)
{
	uint32_t id = meta_u32(mc, at);

	if (id == HPC_ROOT_CTX)
		problem(mc, at, structure, "ctxId", "0 is the root of all, which is not listed");
	else
		vec_push(&mc->ctx_ids, (struct id_at){id, at});
}

/* The fields of the context at AT, whose FLEX words are in the file. */
static void check_ctx_fields(struct meta_check *mc, uint64_t at, uint64_t flex)
{
	uint8_t flags = meta_u8(mc, at + 0x14), type = meta_u8(mc, at + 0x16);

	check_ctx_id(mc, at + 0x10, "{Ctx}");
	check_enum(mc, meta_u8(mc, at + 0x15), HPC_INLINED_CALL, at + 0x15, "{Ctx}", "relation");
	check_enum(mc, type, HPC_INSTRUCTION, at + 0x16, "{Ctx}", "lexicalType");
	if ((type == HPC_LOOP || type == HPC_LINE) && !(flags & HPC_HAS_SRC_LOC))
		problem(mc, at + 0x14, "{Ctx}", "flags", "a loop or line without hasSrcLoc");
	if (type == HPC_INSTRUCTION && !(flags & HPC_HAS_POINT))
		problem(mc, at + 0x14, "{Ctx}", "flags", "an instruction without hasPoint");
	if (flags & HPC_HAS_FUNCTION) {
		check_element(mc, &mc->m.functions, false, flex, "{Ctx}", "pFunction");
		flex += 8;
	}
	if (flags & HPC_HAS_SRC_LOC) {
		check_element(mc, &mc->m.files, false, flex, "{Ctx}", "pFile");
		flex += 16;
	}
	if (flags & HPC_HAS_POINT)
		check_element(mc, &mc->m.modules, false, flex, "{Ctx}", "pModule");
}

/* The next context of E; its children in *RET.  1: it has some, 0: none, -1: E cannot be gone on
 * with. */
static int check_ctx(struct meta_check *mc, struct extent *e, struct extent *ret)
{
	uint32_t fixed = hpc_ctx_size(mc->m.layout, 0), n_words;
	uint64_t at = e->p;

	if (e->end - at < fixed) {
		problem(mc, at, "{Ctx}", "", "its array ends at 0x%" PRIx64 ", in it", e->end);
		return -1;
	}
	n_words = meta_u8(mc, at + 0x17);
	if (n_words > (e->end - at - fixed) / 8) {
		problem(mc, at + 0x17, "{Ctx}", "nFlexWords",
			"%" PRIu32 " words reach behind its array, which ends at 0x%" PRIx64,
			n_words, e->end);
		return -1;
	}
	e->p += fixed + 8 * (uint64_t)n_words;
	if (n_words < hpc_ctx_flex_words(meta_u8(mc, at + 0x14)))
		problem(mc, at + 0x17, "{Ctx}", "nFlexWords",
			"%" PRIu32 " words, the flags demand %" PRIu32, n_words,
			hpc_ctx_flex_words(meta_u8(mc, at + 0x14)));
	else
		check_ctx_fields(mc, at, at + fixed);
	return check_contexts_at(mc, meta_u64(mc, at + 8), meta_u64(mc, at), at + 8, "{Ctx}",
				 "pChildren", ret);
}

/* All contexts in and below the array E. */
static void check_tree(struct meta_check *mc, struct extent e)
{
	_vec_ VEC(struct extent) stack = {0};

	vec_push(&stack, e);
	while (stack.n) {
		struct extent *top = &stack.v[stack.n - 1], children;
		int rc = top->p < top->end ? check_ctx(mc, top, &children) : -1;

		if (rc < 0)
			stack.n--;
		else if (rc != 0)
			vec_push(&stack, children);
	}
}

static void check_entries(struct meta_check *mc, uint64_t s)
{
	uint32_t n = meta_u16(mc, s + 8), stride = meta_u8(mc, s + 10);
	uint64_t at = meta_u64(mc, s);
	struct extent e;

	if (!check_array(mc, HPC_META_CONTEXT, n, stride, SZ_ENTRY, s, "Context Tree",
			 "pEntryPoints") ||
	    !check_contexts_at(mc, at, (uint64_t)n * stride, s, "Context Tree", "pEntryPoints", &e))
		return;
	for (uint32_t i = 0; i < n; i++, at += stride) {
		check_ctx_id(mc, at + 0x10, "{Entry}");
		check_enum(mc, meta_u16(mc, at + 0x14), HPC_ENTRY_THREAD, at + 0x14, "{Entry}",
			   "entryPoint");
		check_text(mc, HPC_META_STRINGS, at + 0x18, "{Entry}", "pPrettyName");
		if (check_contexts_at(mc, meta_u64(mc, at + 8), meta_u64(mc, at), at + 8, "{Entry}",
				      "pChildren", &e))
			check_tree(mc, e);
	}
}

static void check_contexts(struct meta_check *mc)
{
	uint64_t s = mc->m.sections[HPC_META_CONTEXT].p;
	uint32_t header = page(mc) ? CONTEXTS_HEADER_PAGE : CONTEXTS_HEADER;
	struct extent e;

	if (!has_header(mc, HPC_META_CONTEXT, header))
		return;
	mc->left = mc->m.sections[HPC_META_CONTEXT].sz;
	vec_push(&mc->arrays, (struct extent){s, s + header, s});
	if (!page(mc))
		check_entries(mc, s);
	else if (check_contexts_at(mc, meta_u64(mc, s + 8), meta_u64(mc, s), s + 8, "Context Tree",
				   "pRoots", &e))
		check_tree(mc, e);
	check_unique(mc, &mc->ctx_ids, "{Ctx}", "ctxId");
	vec_sort(&mc->arrays, by_place);
	for (size_t i = 1; i < mc->arrays.n; i++)
		if (mc->arrays.v[i].p < mc->arrays.v[i - 1].end)
			problem(mc, mc->arrays.v[i].at, "{Ctx}", "pChildren",
				"the array at 0x%" PRIx64
				" begins in that which ends at 0x%" PRIx64,
				mc->arrays.v[i].p, mc->arrays.v[i - 1].end);
	vec_release(&mc->arrays);
}

void hpc_check_meta(struct hpc_check *c, const void *bytes, size_t n_bytes, const char *name)
{
	struct meta_check mc = {.c = c, .name = name, .bytes = bytes};

	if (!hpc_check_frame(c, &hpc_meta_frame, bytes, n_bytes, name))
		return;
	mc.end = n_bytes - META_FOOTER;
	mc.m = (struct hpc_meta){.bytes = bytes,
				 .n_bytes = n_bytes,
				 .name = name,
				 .minorVersion = meta_u8(&mc, 0x0f)};
	check_sections(&mc);
	check_general(&mc);
	check_id_names(&mc);
	check_metrics(&mc);
	check_tables(&mc);
	check_contexts(&mc);
}
