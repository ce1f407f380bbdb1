/* SPDX-License-Identifier: BSD-2-Clause */
/* What this process wants to know of users' files, read by children without privileges
 * (confine/forker.h).  There is one set of readers in a process, made at its start.
 *
 * Asking never blocks for long: a question that is not answered by the time its asker waits for is
 * -EAGAIN, the child goes on, and the next time the same is asked its answer is there.  A file that
 * ended a child is said once, and not looked into again until it has changed. */
#ifndef DAEMON_READERS_H
#define DAEMON_READERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/file.h"
#include "base/file_stamp.h"
#include "machine/images.h"
#include "unwind/build.h"

enum reader_kind {
	READ_LAYOUT,  /* its headers: answer_get_layout */
	READ_DIGEST,  /* its digest with its code: elf_probe_code */
	READ_TABLE,   /* its unwind table: answer_get_table */
	READ_SYMBOLS, /* its symbols and its debug file's, ARG a keep_question: image_symbols_keep */
	READ_SYMBOLS_BARE, /* its own alone */
	READ_KEPT,	   /* code and lines of some procedures: keep_bytes */
	READ_KEPT_BARE,	   /* their code alone */
	READ_CODE,	   /* what a jitdump or perf map tells since: resolve/jitread.h */
	READ_MAP,	   /* all of a perf map, in the same form: image_symbols_keep_jit */
	READ_CONTAINER,	   /* a runtime's file, ARG a wish: formats/container.h */
	N_READER_KINDS
};

/* Makes the readers, while this process has its rights; nothing is done for an ordinary user, who
 * can harm nobody but himself by his own files, and reads them in this process.  PROMPT: somebody
 * waits at a screen (confine_job). */
int readers_start(bool prompt, struct err *err);
void readers_end(void);

/* True when there are readers.  Otherwise this process reads the files itself. */
bool readers_live(void);

/* From now on SAY gets what people should know. */
void readers_on_say(void (*say)(void *ctx, const char *text), void *ctx);
void readers_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Says whether functions of interpreters are not shown by what records (WITHOUT): each interpreter
 * whose table is loaded from then on is named as such. */
void readers_without_scripts(bool without);

/* The descriptor that becomes readable when answers have come; -1: there are no readers.
 * readers_step takes the answers in.  It returns another number than last time when one came. */
int readers_fd(void);
uint64_t readers_step(void);

/* Takes answers in, and waits for one until END_NS (CLOCK_MONOTONIC).  False: none came. */
bool readers_wait(uint64_t end_ns);

/* Number of questions that are not answered yet. */
size_t readers_n_waiting(void);

/* Asks about the file FD (borrowed, O_PATH will do) and waits until END_NS (CLOCK_MONOTONIC) for
 * the answer; 0: not at all.  0: RET is the answer, file_map_close it.  -EAGAIN: not yet; ask
 * again. Else what is wrong with the file. */
int readers_ask(enum reader_kind kind, int fd, const void *arg, size_t n_arg, uint64_t end_ns,
		struct file_map *ret, struct err *err);

/* Whether FD's file was asked about, and the answer not taken: readers_ask needs no question. */
bool readers_was_asked(enum reader_kind kind, int fd);

/* The file of the last answer as it was when it was asked about. */
const struct file_stamp *readers_stamp(void);

/* Whether the file of the last answer lies on a mount whose set-user-id files mean nothing. */
bool readers_nosuid(void);

/* The bytes of an answer, which are in M. */
const uint8_t *readers_answer(const struct file_map *m, size_t *ret_n);

/* An unwind_load_fn: -EAGAIN while a child is at it. */
int readers_load_table(int fd, struct unwind_table *ret, struct err *err);

/* Another, for walks that cannot be put off: waits some seconds before it says so. */
int readers_load_table_now(int fd, struct unwind_table *ret, struct err *err);

/* Files that ended a child, and questions that nobody waited for long enough, since the start. */
struct readers_stats {
	uint64_t n_asked, n_ended, n_late;
};
struct readers_stats readers_stats(void);

#endif
