/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of meta.db's codec share. */
#ifndef FORMATS_HPC_META_IMPL_H
#define FORMATS_HPC_META_IMPL_H

#include "base/rd.h"
#include "formats/hpc/frame.h"
#include "formats/hpc/meta.h"

/* Bytes of the structures, up to the end of their last field: FORMATS.md, tables of meta.db.  Where
 * the layouts differ: released, page. */
enum {
	META_HEADER = 0x90,
	META_FOOTER = 8,
	GENERAL_HEADER = 0x10,
	ID_NAMES_HEADER = 0x09,
	METRICS_HEADER = 0x1b,
	METRICS_HEADER_PAGE = 0x0f,
	TABLE_HEADER = 0x0e, /* modules, files, functions */
	CONTEXTS_HEADER = 0x0b,
	CONTEXTS_HEADER_PAGE = 0x10,
	SZ_METRIC = 0x20, /* {MD} */
	SZ_METRIC_PAGE = 0x18,
	SZ_SCOPE_INST = 0x10, /* {PSI} */
	SZ_SCOPE = 0x10,      /* {PS} */
	SZ_SCOPE_PAGE = 0x18, /* {PS} of the page, which is both */
	SZ_SUMMARY = 0x18,    /* {SS} */
	SZ_SUMMARY_PAGE = 0x10,
	SZ_MODULE = 0x10,
	SZ_FILE = 0x10,
	SZ_FUNCTION = 0x28,
	SZ_ENTRY = 0x20,
	SZ_CTX = 0x20, /* without flex */
	SZ_CTX_PAGE = 0x18,
	MAX_FLEX_WORDS = 5, /* that we know */
};

/* "General Properties", as errors and dumps call section I. */
const char *hpc_meta_section_name(enum hpc_meta_section i);

/* Whether [P, P + N) lies in S. */
static inline bool hpc_section_holds(const struct hpc_section *s, uint64_t p, uint64_t n)
{
	return p >= s->p && n <= s->sz && p - s->p <= s->sz - n;
}

/* A cursor at [AT, AT + N), which must lie in the file. */
static inline struct rd hpc_meta_rd(const struct hpc_meta *m, uint64_t at, uint64_t n)
{
	return rd_init(m->bytes + at, n);
}

/* The string at P, which must lie in section S with its NUL. */
int hpc_meta_text(const struct hpc_meta *m, enum hpc_meta_section s, uint64_t p, uint64_t at,
		  const char *structure, const char *field, const char **ret, struct err *err);

/* Checks that section S holds A. */
int hpc_meta_array(const struct hpc_meta *m, enum hpc_meta_section s, const struct hpc_array *a,
		   uint32_t least_stride, uint64_t at, const char *structure, const char *field,
		   struct err *err);

/* Turns pointer P into the table A to a number, HPC_NONE for 0. */
int hpc_meta_number(const struct hpc_meta *m, const struct hpc_array *a, uint64_t p, uint64_t at,
		    const char *structure, const char *field, uint32_t *ret, struct err *err);

/* Which layout the metrics section says the file has. */
enum hpc_layout hpc_meta_layout(const struct hpc_meta *m);

/* Decodes the metrics section into A. */
int hpc_meta_read_metrics(const struct hpc_meta *m, struct arena *a, struct hpc_metrics *ret,
			  struct err *err);

/* Decodes the header of the contexts section. */
int hpc_meta_read_contexts(struct hpc_meta *m, struct err *err);

/* Bytes of a context of the page layout or the released one, and of its flex words. */
static inline uint32_t hpc_ctx_size(enum hpc_layout l, uint32_t n_flex_words)
{
	return (l == HPC_PAGE ? SZ_CTX_PAGE : SZ_CTX) + 8 * n_flex_words;
}

/* Flex words that FLAGS demand: FORMATS.md "flex". */
static inline uint32_t hpc_ctx_flex_words(uint8_t flags)
{
	return (flags & HPC_HAS_FUNCTION ? 1 : 0) + (flags & HPC_HAS_SRC_LOC ? 2 : 0) +
	       (flags & HPC_HAS_POINT ? 2 : 0);
}

#endif
