/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of a jitdump, the file in which a JIT compiler tells what code it made.  Source of
 * every fact: Linux, tools/perf/Documentation/jitdump-specification.txt, called "spec" below.
 *
 * The file grows while it is read, so that its last record may be there in part.  No record that a
 * reader needs has to be there whole: what follows the name of a procedure, its code, is not
 * looked at. */
#ifndef RESOLVE_JITDUMP_H
#define RESOLVE_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define JITDUMP_HEADER_BYTES 40

/* Spec III. */
struct jitdump {
	bool big_endian;
	uint16_t machine; /* EM_* */
	uint32_t n_bytes; /* where the first record is */
	uint32_t pid;	  /* as the process knows itself */
	uint64_t flags;
};

#define JITDUMP_FLAG_ARCH_TIMESTAMP 1 /* times are not CLOCK_MONOTONIC's, but a CPU's counter's */

/* Spec IV. */
enum jitdump_kind {
	JITDUMP_LOAD,
	JITDUMP_MOVE,
	JITDUMP_DEBUG_INFO,
	JITDUMP_CLOSE,
	JITDUMP_UNWINDING_INFO,
};

struct jitdump_record {
	uint32_t kind;	       /* enum jitdump_kind, or one that is not known */
	uint32_t n_bytes;      /* with its header: the next one is so much behind its start */
	uint64_t time;	       /* by the compiler's clock */
	uint64_t avma, n_code; /* LOAD, MOVE: where the code is (now), and its size in bytes */
	uint64_t old_avma;     /* MOVE: where it was */
	const char *name;      /* LOAD: in the bytes given, N_NAME long, without the NUL */
	size_t n_name;
};

/* Reads the header from the first N bytes of a file.  0; -ENODATA when N is less than
 * JITDUMP_HEADER_BYTES; -EBADMSG when it is no jitdump; -EPROTONOSUPPORT for another version. */
int jitdump_read_header(const uint8_t *bytes, size_t n, struct jitdump *ret, struct err *err);

/* Reads the record whose first N bytes are given; there may be more of it.  0; -ENODATA when these
 * do not reach to the end of what is needed: for a LOAD the NUL behind its name (with CUT_NAME a
 * name that is all there is to the end is taken as it is); -EBADMSG when no size of a record it
 * could have fits what it says, after which nothing in the file can be found. */
int jitdump_read_record(const struct jitdump *d, const uint8_t *bytes, size_t n, bool cut_name,
			struct jitdump_record *ret);

#endif
