/* SPDX-License-Identifier: BSD-2-Clause */
/* A meta.db as text: the header, then each section with its structures in the order of the file's
 * pointers, contexts each before its children.  Fields are read as they stand, also those this
 * program does not use, so that the text shows what a damaged file holds; what cannot be reached
 * ends the dump with an error. */
#include <errno.h>
#include <inttypes.h>

#include "formats/hpc/dump.h"
#include "formats/hpc/le.h"
#include "formats/hpc/meta_impl.h"

struct meta_dump {
	struct hpc_dump *d;
	struct hpc_meta m;
};

static uint64_t meta_dump_u64(const struct meta_dump *md, uint64_t at)
{
	return hpc_le64(md->m.bytes + at);
}

static uint32_t meta_dump_u32(const struct meta_dump *md, uint64_t at)
{
	return hpc_le32(md->m.bytes + at);
}

static uint16_t meta_dump_u16(const struct meta_dump *md, uint64_t at)
{
	return hpc_le16(md->m.bytes + at);
}

static uint8_t meta_dump_u8(const struct meta_dump *md, uint64_t at)
{
	return md->m.bytes[at];
}

static void field(struct meta_dump *md, uint64_t at, const char *name, uint64_t v)
{
	hpc_dump_field(md->d, at, name, "%" PRIu64, v);
}

/* A pointer, a count of bytes or flags. */
static void field_hex(struct meta_dump *md, uint64_t at, const char *name, uint64_t v)
{
	hpc_dump_field(md->d, at, name, "0x%" PRIx64, v);
}

static void pointer(struct meta_dump *md, uint64_t at, const char *name)
{
	field_hex(md, at, name, meta_dump_u64(md, at));
}

/* A char*, with its text: strings were checked when the file was opened or decoded. */
static void meta_dump_text(struct meta_dump *md, uint64_t at, const char *name)
{
	uint64_t p = meta_dump_u64(md, at);

	hpc_dump_field(md->d, at, name, "0x%" PRIx64 " %s", p,
		       p ? hpc_dump_quote(md->d, (const char *)md->m.bytes + p) : "");
}

static void dump_header(struct meta_dump *md)
{
	static const char *const names[][2] = {
		{"szGeneral", "pGeneral"}, {"szIdNames", "pIdNames"},	  {"szMetrics", "pMetrics"},
		{"szContext", "pContext"}, {"szStrings", "pStrings"},	  {"szModules", "pModules"},
		{"szFiles", "pFiles"},	   {"szFunctions", "pFunctions"},
	};

	hpc_dump_structure(md->d, 0, "meta.db", HPC_NONE);
	hpc_dump_field(md->d, 0, "magic", "%.14s", (const char *)md->m.bytes);
	field(md, 0x0e, "majorVersion", md->m.majorVersion);
	field(md, 0x0f, "minorVersion", md->m.minorVersion);
	for (int i = 0; i < HPC_META_N_SECTIONS; i++) {
		field_hex(md, 0x10 + 16 * i, names[i][0], md->m.sections[i].sz);
		field_hex(md, 0x18 + 16 * i, names[i][1], md->m.sections[i].p);
	}
}

/* Whether section I has anything; begins it. */
static bool meta_dump_begin(struct meta_dump *md, enum hpc_meta_section i)
{
	const struct hpc_section *s = &md->m.sections[i];

	if (s->sz)
		hpc_dump_structure(md->d, s->p, hpc_meta_section_name(i), HPC_NONE);
	return s->sz != 0;
}

static void dump_general(struct meta_dump *md)
{
	uint64_t p = md->m.sections[HPC_META_GENERAL].p;

	if (!meta_dump_begin(md, HPC_META_GENERAL))
		return;
	meta_dump_text(md, p, "pTitle");
	meta_dump_text(md, p + 8, "pDescription");
}

static void dump_id_names(struct meta_dump *md)
{
	uint64_t p = md->m.sections[HPC_META_ID_NAMES].p;

	if (!meta_dump_begin(md, HPC_META_ID_NAMES))
		return;
	pointer(md, p, "ppNames");
	field(md, p + 8, "nKinds", md->m.n_id_names);
	for (uint32_t i = 0; i < md->m.n_id_names; i++)
		meta_dump_text(md, meta_dump_u64(md, p) + 8 * (uint64_t)i, "ppNames[]");
}

static void dump_summaries(struct meta_dump *md, uint64_t p, uint32_t n, uint8_t stride)
{
	bool page = md->m.layout == HPC_PAGE;

	for (uint32_t i = 0; i < n; i++, p += stride) {
		uint64_t at = page ? p : p + 8;

		hpc_dump_structure(md->d, p, "{SS}", i);
		if (!page)
			pointer(md, p, "pScope");
		meta_dump_text(md, at, "pFormula");
		field(md, at + 8, "combine", meta_dump_u8(md, at + 8));
		field(md, at + 10, "statMetricId", meta_dump_u16(md, at + 10));
	}
}

static void dump_page_metric(struct meta_dump *md, uint64_t at, uint8_t sz_scope,
			     uint8_t sz_summary)
{
	uint64_t p = meta_dump_u64(md, at + 0x10);
	uint16_t n = meta_dump_u16(md, at + 8);

	meta_dump_text(md, at, "pName");
	field(md, at + 8, "nScopes", n);
	pointer(md, at + 0x10, "pScopes");
	for (uint32_t i = 0; i < n; i++, p += sz_scope) {
		hpc_dump_structure(md->d, p, "{PS}", i);
		meta_dump_text(md, p, "pScope");
		field(md, p + 8, "nSummaries", meta_dump_u16(md, p + 8));
		field(md, p + 10, "propMetricId", meta_dump_u16(md, p + 10));
		pointer(md, p + 0x10, "pSummaries");
		dump_summaries(md, meta_dump_u64(md, p + 0x10), meta_dump_u16(md, p + 8),
			       sz_summary);
	}
}

static void dump_metric(struct meta_dump *md, uint64_t at, uint8_t sz_inst, uint8_t sz_summary)
{
	uint64_t p = meta_dump_u64(md, at + 8);
	uint16_t n = meta_dump_u16(md, at + 0x18);

	meta_dump_text(md, at, "pName");
	pointer(md, at + 0x08, "pScopeInsts");
	pointer(md, at + 0x10, "pSummaries");
	field(md, at + 0x18, "nScopeInsts", n);
	field(md, at + 0x1a, "nSummaries", meta_dump_u16(md, at + 0x1a));
	for (uint32_t i = 0; i < n; i++, p += sz_inst) {
		hpc_dump_structure(md->d, p, "{PSI}", i);
		pointer(md, p, "pScope");
		field(md, p + 8, "propMetricId", meta_dump_u16(md, p + 8));
	}
	dump_summaries(md, meta_dump_u64(md, at + 0x10), meta_dump_u16(md, at + 0x1a), sz_summary);
}

static void dump_metrics(struct meta_dump *md)
{
	uint64_t s = md->m.sections[HPC_META_METRICS].p, p;
	bool page = md->m.layout == HPC_PAGE;

	if (!meta_dump_begin(md, HPC_META_METRICS))
		return;
	pointer(md, s, "pMetrics");
	field(md, s + 0x08, "nMetrics", meta_dump_u32(md, s + 0x08));
	field(md, s + 0x0c, "szMetric", meta_dump_u8(md, s + 0x0c));
	field(md, s + 0x0d, page ? "szScope" : "szScopeInst", meta_dump_u8(md, s + 0x0d));
	field(md, s + 0x0e, "szSummary", meta_dump_u8(md, s + 0x0e));
	if (!page) {
		pointer(md, s + 0x10, "pScopes");
		field(md, s + 0x18, "nScopes", meta_dump_u16(md, s + 0x18));
		field(md, s + 0x1a, "szScope", meta_dump_u8(md, s + 0x1a));
		p = meta_dump_u64(md, s + 0x10);
		for (uint32_t i = 0; i < meta_dump_u16(md, s + 0x18);
		     i++, p += meta_dump_u8(md, s + 0x1a)) {
			hpc_dump_structure(md->d, p, "{PS}", i);
			meta_dump_text(md, p, "pScopeName");
			field(md, p + 8, "type", meta_dump_u8(md, p + 8));
			field(md, p + 9, "propagationIndex", meta_dump_u8(md, p + 9));
		}
	}
	p = meta_dump_u64(md, s);
	for (uint32_t i = 0; i < meta_dump_u32(md, s + 8); i++, p += meta_dump_u8(md, s + 0x0c)) {
		hpc_dump_structure(md->d, p, "{MD}", i);
		(page ? dump_page_metric : dump_metric)(md, p, meta_dump_u8(md, s + 0x0d),
							meta_dump_u8(md, s + 0x0e));
	}
}

static void table_header(struct meta_dump *md, enum hpc_meta_section i, const char *const names[3],
			 const struct hpc_array *a)
{
	uint64_t p = md->m.sections[i].p;

	pointer(md, p, names[0]);
	field(md, p + 8, names[1], a->n);
	field(md, p + 12, names[2], a->stride);
}

static int dump_paths(struct meta_dump *md, enum hpc_meta_section i, const char *structure,
		      const struct hpc_array *a, struct err *err)
{
	for (uint32_t k = 0; k < a->n; k++) {
		uint64_t at = a->p + (uint64_t)k * a->stride;
		struct hpc_module module; /* a file is alike */
		struct hpc_file file;
		int rc = i == HPC_META_MODULES ? hpc_meta_module(&md->m, k, &module, err)
					       : hpc_meta_file(&md->m, k, &file, err);

		if (rc < 0)
			return rc;
		hpc_dump_structure(md->d, at, structure, k);
		field_hex(md, at, "flags", meta_dump_u32(md, at));
		meta_dump_text(md, at + 8, "pPath");
	}
	return 0;
}

static int dump_functions(struct meta_dump *md, struct err *err)
{
	const struct hpc_array *a = &md->m.functions;

	for (uint32_t k = 0; k < a->n; k++) {
		uint64_t at = a->p + (uint64_t)k * a->stride;
		struct hpc_function f;
		int rc = hpc_meta_function(&md->m, k, &f, err);

		if (rc < 0)
			return rc;
		hpc_dump_structure(md->d, at, "[FS]", k);
		meta_dump_text(md, at, "pName");
		pointer(md, at + 0x08, "pModule");
		pointer(md, at + 0x10, "offset");
		pointer(md, at + 0x18, "pFile");
		field(md, at + 0x20, "line", f.line);
		field_hex(md, at + 0x24, "flags", f.flags);
	}
	return 0;
}

static int dump_tables(struct meta_dump *md, struct err *err)
{
	int rc = 0;

	meta_dump_begin(md, HPC_META_STRINGS);
	if (meta_dump_begin(md, HPC_META_MODULES)) {
		table_header(md, HPC_META_MODULES,
			     (const char *const[]){"pModules", "nModules", "szModule"},
			     &md->m.modules);
		rc = dump_paths(md, HPC_META_MODULES, "[LMS]", &md->m.modules, err);
	}
	if (rc >= 0 && meta_dump_begin(md, HPC_META_FILES)) {
		table_header(md, HPC_META_FILES,
			     (const char *const[]){"pFiles", "nFiles", "szFile"}, &md->m.files);
		rc = dump_paths(md, HPC_META_FILES, "[SFS]", &md->m.files, err);
	}
	if (rc >= 0 && meta_dump_begin(md, HPC_META_FUNCTIONS)) {
		table_header(md, HPC_META_FUNCTIONS,
			     (const char *const[]){"pFunctions", "nFunctions", "szFunction"},
			     &md->m.functions);
		rc = dump_functions(md, err);
	}
	return rc;
}

/* The words of flex, by the names of what FLAGS say they hold. */
static void dump_flex(struct meta_dump *md, uint64_t at, uint8_t flags, uint8_t n_words)
{
	uint64_t end = at + 8 * (uint64_t)n_words;

	if (flags & HPC_HAS_FUNCTION) {
		pointer(md, at, "pFunction");
		at += 8;
	}
	if (flags & HPC_HAS_SRC_LOC) {
		pointer(md, at, "pFile");
		field(md, at + 8, "line", meta_dump_u32(md, at + 8));
		at += 16;
	}
	if (flags & HPC_HAS_POINT) {
		pointer(md, at, "pModule");
		pointer(md, at + 8, "offset");
		at += 16;
	}
	for (; at < end; at += 8)
		pointer(md, at, "flex[]");
}

static void dump_ctx(struct meta_dump *md, const struct hpc_ctx *c)
{
	bool page = md->m.layout == HPC_PAGE, entry = c->isEntry && !page;
	uint64_t at = c->at;

	hpc_dump_structure(md->d, at, entry ? "{Entry}" : "{Ctx}", c->ctxId);
	field_hex(md, at, "szChildren", c->szChildren);
	field_hex(md, at + 0x08, "pChildren", c->pChildren);
	field(md, at + 0x10, "ctxId", c->ctxId);
	if (entry) {
		field(md, at + 0x14, "entryPoint", c->entryPoint);
		meta_dump_text(md, at + 0x18, "pPrettyName");
		return;
	}
	field_hex(md, at + 0x14, "flags", meta_dump_u8(md, at + 0x14));
	field(md, at + 0x15, "relation", c->relation);
	field(md, at + 0x16, "lexicalType", c->lexicalType);
	field(md, at + 0x17, "nFlexWords", meta_dump_u8(md, at + 0x17));
	if (!page)
		field_hex(md, at + 0x18, "propagation", c->propagation);
	dump_flex(md, at + hpc_ctx_size(md->m.layout, 0), meta_dump_u8(md, at + 0x14),
		  meta_dump_u8(md, at + 0x17));
}

static int dump_contexts(struct meta_dump *md, struct err *err)
{
	uint64_t p = md->m.sections[HPC_META_CONTEXT].p;
	struct hpc_walk w;
	struct hpc_ctx c;
	size_t depth;
	int rc;

	if (!meta_dump_begin(md, HPC_META_CONTEXT))
		return 0;
	if (md->m.layout == HPC_PAGE) {
		pointer(md, p, "szRoots");
		pointer(md, p + 8, "pRoots");
	} else {
		pointer(md, p, "pEntryPoints");
		field(md, p + 8, "nEntryPoints", md->m.entries.n);
		field(md, p + 10, "szEntryPoint", md->m.entries.stride);
	}
	hpc_walk_begin(&w, &md->m);
	while ((rc = hpc_walk_next(&w, &c, &depth, err)) > 0 && md->d->failed >= 0)
		dump_ctx(md, &c);
	hpc_walk_release(&w);
	return rc < 0 ? rc : 0;
}

int hpc_meta_dump(struct hpc_dump *d, const void *bytes, size_t n_bytes, const char *name,
		  struct err *err)
{
	struct meta_dump md = {.d = d};
	int rc = hpc_meta_open(&md.m, bytes, n_bytes, name, err);

	if (rc != 0)
		return rc;
	dump_header(&md);
	dump_general(&md);
	dump_id_names(&md);
	dump_metrics(&md);
	rc = dump_tables(&md, err);
	if (rc == 0)
		rc = dump_contexts(&md, err);
	if (rc == 0) {
		uint64_t at = n_bytes - META_FOOTER;

		hpc_dump_structure(d, at, "footer", HPC_NONE);
		hpc_dump_field(d, at, "footer", "%.8s", (const char *)bytes + at);
	}
	hpc_meta_release(&md.m);
	return rc != 0 ? rc : d->failed < 0 ? d->failed : 0;
}
