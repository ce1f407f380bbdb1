/* SPDX-License-Identifier: BSD-2-Clause */
/* Generated code that a jitdump or a perf map tells of: which procedure an address belongs to, and
 * since when.
 *
 * Memory of generated code is used again, so that an address alone does not say which procedure it
 * was.  The svma of generated code is therefore its address and a *layer*: how many procedures had
 * to go before this one could be there.
 *
 *     svma = layer << 48 | address
 *
 * When two procedures ever shared an address, the later one has the higher layer.  So (layer,
 * address) means one procedure for ever.  An address that nobody had yet is in layer 0 and means
 * its first owner: the svma is right even before the compiler has told of the code.  Compilers
 * write through buffers, and what they compiled last may come only at their end.
 * docs/design/generated-code.md says what that leaves wrong. */
#ifndef RESOLVE_JITCODE_H
#define RESOLVE_JITCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/rd.h"
#include "base/wr.h"
#include "resolve/symtab.h"

#define JITCODE_LAYER_SHIFT 48
#define JITCODE_MAX_LAYER   0x7fff

struct jitcode;

/* All of them in this process together may take N_BYTES of memory, in which whoever comes first has
 * room: what many processes tell adds up.  Without a call: any. */
void jitcode_limit_all(size_t n_bytes);

struct jitcode *jitcode_new(void);
void jitcode_free(struct jitcode *j);

/* Takes the N bytes that come next in the dump, at jitcode_at, up to the first that tells of code
 * made after UNTIL_NS (CLOCK_MONOTONIC, which compilers are to use; times by another clock are
 * passed over).  What it needs no more of is behind jitcode_at afterwards, which may be beyond
 * these bytes; what is incomplete stays before it.  0, or what is wrong with the dump: then it can
 * be read no further, and every later call says so. */
int jitcode_feed(struct jitcode *j, const uint8_t *bytes, size_t n, uint64_t until_ns,
		 struct err *err);

/* For who asks about the past: records are waited for however far ahead of UNTIL_NS they are. */
void jitcode_trust_times(struct jitcode *j);

/* Where in the file the next bytes are. */
uint64_t jitcode_at(const struct jitcode *j);

/* The time of the record at which the last reading stopped for its being later than UNTIL_NS;
 * UINT64_MAX when it was for want of bytes. */
uint64_t jitcode_next_ns(const struct jitcode *j);

/* Feeds what was written to the file open at FD since the last time.  Errors as jitcode_feed, or
 * -errno of reading. */
int jitcode_read(struct jitcode *j, int fd, uint64_t until_ns, struct err *err);

/* Feeds what was written to the perf map open at FD since the last time.  A map tells no times: all
 * whole lines are taken, and with LAST also what may be part of one.  A map that was rewritten is
 * read anew, on top of what it said before. */
int jitcode_read_map(struct jitcode *j, int fd, bool last, struct err *err);

/* For who has the file read by a child (jitread.h): jitcode_question is the question about what was
 * written since, of a MAP or a dump.  jitcode_begin takes an answer's head from R, and tells
 * whether the file has more; jitcode_take takes the records, up to the first that is later than
 * UNTIL_NS, before which R stays.  -EBADMSG when the answer is not sound; -E2BIG
 * as jitcode_feed. */
void jitcode_question(const struct jitcode *j, bool map, bool last, struct wr *ret);
int jitcode_begin(struct jitcode *j, struct rd *r, bool *ret_more, struct err *err);
int jitcode_take(struct jitcode *j, struct rd *r, uint64_t until_ns, struct err *err);

/* The svma of the procedure that has run-time address AVMA (below 2^48; others are their own svma)
 * as far as was read; AVMA itself where no procedure was yet. */
uint64_t jitcode_svma(const struct jitcode *j, uint64_t avma);

/* How often a procedure took addresses of another: while that stays the same, what jitcode_svma
 * said of any address holds. */
uint32_t jitcode_n_replaced(const struct jitcode *j);

/* Number of symbols read so far.  While it stays the same, so does what jitcode_symbols fills. */
size_t jitcode_n_symbols(const struct jitcode *j);

/* The procedures read so far, those replaced too, by svma.  Release RET. */
void jitcode_symbols(const struct jitcode *j, struct symtab *ret);

#endif
