/* SPDX-License-Identifier: BSD-2-Clause */
/* What a child reads of a jitdump or a perf map, for somebody else to take (jitcode_take).
 *
 * A question says up to where the file is known; the answer has the records behind, some at a time,
 * without code and in a form that can be checked: docs of the bytes are here, for both sides are
 * one program.
 *
 *     question  u8 flags, uleb position, uleb n, n bytes before the position
 *     answer    u8 flags, uleb next position, uleb n, n bytes before that, records
 *     record    u8 kind (1 load, 2 move), uleb time, address, bytes, old address, uleb n, n of name
 *
 * Times are 0 where they are not CLOCK_MONOTONIC's.  Only perf maps have bytes before a position:
 * they tell a map that was continued from one that was written anew. */
#ifndef RESOLVE_JITREAD_H
#define RESOLVE_JITREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/wr.h"

enum jitread_flags {
	JITREAD_MAP = 1u << 0,	/* question: a perf map, else a jitdump */
	JITREAD_LAST = 1u << 1, /* question: a map's last line may lack its end */
	JITREAD_MORE = 1u << 2, /* answer: the file has more */
};

/* By so many bytes it is told whether a map was continued. */
#define JITREAD_TAIL 256

enum { JITREAD_LOAD = 1, JITREAD_MOVE = 2 };

/* Answers the question of N bytes about the file FD.  An error after some records were found comes
 * with the next question. */
int jitread(int fd, const uint8_t *question, size_t n, struct wr *ret, struct err *err);

#endif
