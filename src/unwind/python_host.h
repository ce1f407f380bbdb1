/* SPDX-License-Identifier: BSD-2-Clause */
/* The walks over CPython's frames (python.h), V8's (v8.h), HotSpot's (hotspot.h), PHP's (php.h),
 * Perl's (perl.h) and Ruby's (ruby.h), and over labels of Go's goroutines (go_labels.h), outside
 * of the kernel: over any memory that can be read. */
#ifndef UNWIND_PYTHON_HOST_H
#define UNWIND_PYTHON_HOST_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/script_record.h"

struct python_input {
	uint32_t interpreter; /* enum interpreter */
	uint64_t runtime;     /* address of _PyRuntime; HotSpot: of CodeCache::_heaps; PHP:
			       * executor_globals; Perl: PL_thr_key; Ruby: what finds its
			       * threads; Go: an image's anchor, which is no address */
	uint64_t symbols;     /* Ruby: its table of names; 0: not known */
	uint64_t thread;      /* the thread pointer; V8, HotSpot: the frame pointer */
	uint64_t ip, sp;      /* HotSpot: where it was interrupted; PHP: registers r15, r14; V8:
			       * the first frame's return address, 0: it has none */
	bool is_exact;	      /* V8: ip is where it was interrupted */
	bool is_called;	      /* HotSpot: ip is where a call returns to */
	uint64_t r13, rax;
	/* Reads N bytes at AVMA; false when they are not there. */
	bool (*read)(void *ctx, uint64_t avma, void *ret, uint32_t n);
	/* Takes R, of N bytes, before the first frame of its code; NULL: nobody. */
	void (*tell)(void *ctx, const struct script_record *r, size_t n);
	void *ctx;
};

struct python_frames {
	uint64_t *frames; /* room for MAX: FRAME_SCRIPT, the innermost first */
	uint32_t max, n;
	uint32_t n_loops; /* how many calls of the loop execute them */
	uint32_t failed;  /* enum script_mark; 0: the list was read to its end */
};

/* Walks the frames of IN's thread into RET, whose `frames` and `max` are set. */
void python_walk_frames(const struct python_input *in, struct python_frames *ret);

/* Walks V8's frames from IN's frame pointer on into RET. */
void v8_walk_frames(const struct python_input *in, struct python_frames *ret);

/* Walks HotSpot's frames from IN's registers on into RET, up to a frame that is none of them. */
void hotspot_walk_frames(const struct python_input *in, struct python_frames *ret);

/* Walks PHP's frames into RET; n_loops: marks that were met. */
void php_walk_frames(const struct python_input *in, struct python_frames *ret);

/* Walks Perl's frames into RET; n_loops: marks that were met. */
void perl_walk_frames(const struct python_input *in, struct python_frames *ret);

/* Walks Ruby's frames into RET; n_loops: marks that were met. */
void ruby_walk_frames(const struct python_input *in, struct python_frames *ret);

/* The number of the labels that the goroutine of IN's thread has; 0: none; SCRIPT_GO and an enum
 * script_mark: why they are not known. */
uint64_t go_labels_number(const struct python_input *in);

#endif
