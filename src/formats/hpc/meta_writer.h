/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of meta.db's writer share. */
#ifndef FORMATS_HPC_META_WRITER_H
#define FORMATS_HPC_META_WRITER_H

#include <string.h>

#include "base/wr.h"
#include "formats/hpc/meta_impl.h"

enum {
	META_MAX_ID = INT16_MAX,   /* metric ids: hpcviewer reads them as signed (observed) */
	META_MAX_KINDS = INT8_MAX, /* identifier kinds: the same */
};

struct meta_writer {
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

/* Makes CODE the failure, unless there is one. */
void meta_writer_refuse(struct meta_writer *w, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Where the next byte goes. */
static inline uint64_t meta_writer_at(const struct meta_writer *w)
{
	return w->at + w->buf.n;
}

/* Writes what is gathered when it is worth it, or ALL of it. */
void meta_writer_flush(struct meta_writer *w, bool all);

/* Zeroes up to a multiple of ALIGNMENT. */
void meta_writer_pad(struct meta_writer *w, unsigned alignment);

/* S with its NUL. */
void meta_writer_text(struct meta_writer *w, const char *s);

static inline uint64_t meta_text_size(const char *s)
{
	return strlen(s) + 1;
}

/* Begin and end section I. */
void meta_writer_begin(struct meta_writer *w, enum hpc_meta_section i);
void meta_writer_end(struct meta_writer *w, enum hpc_meta_section i);

/* The performance metrics section: refuses what the format or its readers cannot
 * take; writes it. */
void meta_writer_check_metrics(struct meta_writer *w);
void meta_writer_put_metrics(struct meta_writer *w);

#endif
