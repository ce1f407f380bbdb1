/* SPDX-License-Identifier: BSD-2-Clause */
/* Work on files of people who may not like us, done by children without privileges.
 *
 * A helper process, the forker, is made while this process is small and still has its rights.  For
 * each thing asked of it, it makes a child.  The child opens the file it was asked about, for which
 * it still has the forker's rights, and then gives up everything: it becomes a user of its own, has
 * no capabilities, little memory and CPU time, the lowest priority, and may only read what it
 * holds, write its answer and end.  Only then does it look into the file.  So a file can at worst
 * end the child that reads it, and a file system that never answers stops that child only.
 *
 * Descriptors that are handed over are made with O_PATH, which this process may hold and close
 * without asking the file's file system anything.
 *
 * An answer is bytes in a memfd.  Whoever asked must check them like any bytes from outside: the
 * child may have been taken over by what it read. */
#ifndef CONFINE_FORKER_H
#define CONFINE_FORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/wr.h"

#define CONFINE_MAX_FILES 3
#define CONFINE_MAX_ARG	  4600

/* The files of one question. */
struct confine_files {
	unsigned n;
	int path[CONFINE_MAX_FILES]; /* O_PATH */
	int fd[CONFINE_MAX_FILES];   /* open for reading; -1: it could not be opened */
};

/* A child whose file system has answered gets so many times its job's wall_s: on a busy machine it
 * waits for CPU time. */
#define CONFINE_BUSY_TIMES 4

/* Lent CPU time comes back at one part in so many of a CPU: files that come again and again in new
 * clothes have 1 % of one with niceness 0, not more. */
#define CONFINE_LENT_BACK 100

struct confine_job {
	/* In the child, with rights: opens what ARG means, up to CONFINE_MAX_FILES files, which are
	 * then sent to who asked.  NULL: the files were handed over. */
	void (*open)(const uint8_t *arg, size_t n_arg, struct confine_files *ret);
	/* In the child, with rights: adds files to those in RET that were handed over, as ARG says.
	 * NULL: none.  Nobody is sent what it opens. */
	void (*open_beside)(const uint8_t *arg, size_t n_arg, struct confine_files *ret);
	/* In the child, without rights: reads FILES and writes the answer. */
	int (*run)(const struct confine_files *files, const uint8_t *arg, size_t n_arg,
		   struct wr *ret, struct err *err);
	size_t memory;	    /* bytes the child may take, without files that it maps */
	size_t mapped;	    /* bytes of files that it may map */
	size_t most_answer; /* bytes its answer may have */
	unsigned cpu_s;	    /* CPU time it may take */
	unsigned wall_s;    /* after which it is ended if its file system has not answered */
	/* CPU time that a child has with niceness 0 before it gets 19, for an answer that is wanted
	 * soon; and all children of such jobs together, less what came back (CONFINE_LENT_BACK).
	 * 0: niceness 19. */
	unsigned lent_ms, lent_in_all_ms;
	/* Jobs of one lane share its memory: none of another lane waits for them. */
	enum confine_lane {
		CONFINE_QUICK,
		CONFINE_TWINS,
		CONFINE_CODE,
		CONFINE_TABLES,
		CONFINE_SLOW,
		CONFINE_N_LANES
	} lane;
};

/* All children together, and answers that nobody has taken yet, have no more memory than this: what
 * the packaged unit allows (256 MiB) less what the daemon itself takes, its logs and tables in the
 * kernel's memory included. */
#define CONFINE_LANE_BYTES                                                                         \
	{                                                                                          \
		(size_t)24 << 20, (size_t)8 << 20, (size_t)16 << 20, (size_t)40 << 20,             \
			(size_t)80 << 20                                                           \
	}

struct forker;

/* Forks the forker, which knows the N jobs of JOBS (borrowed) by their index.  To be called before
 * this process has threads, secrets or descriptors that matter. */
int forker_start(const struct confine_job *jobs, unsigned n, struct forker **ret, struct err *err);

/* Ends it and what it started. */
void forker_free(struct forker *f);

/* Readable when forker_step has something to do. */
int forker_fd(const struct forker *f);

pid_t forker_pid(const struct forker *f);

/* False after the forker has died: nothing can be asked any more. */
bool forker_lives(const struct forker *f);

/* The errno for which no child can be made now, or no file handed over: a limit of processes,
 * of descriptors, of memory.  Questions wait until it can.  0: none. */
int forker_refused(const struct forker *f);

/* Children that a file system holds so that they cannot be ended. */
unsigned forker_n_stuck(const struct forker *f);

/* One question. */
struct confine_ask {
	uint32_t id, kind;
	enum { ASK_QUEUED, ASK_SENT, ASK_DONE } state;
	bool abandoned;
	int rc;		 /* DONE: 0 or the job's error; -EPROTO: the child was ended; -EAGAIN:
			  * descriptors are short */
	int by_signal;	 /* DONE, -EPROTO: what ended it; 0: it ended without an answer */
	int answer_fd;	 /* DONE, rc 0: four bytes that are its own, then the answer */
	size_t n_answer; /* DONE: bytes of the answer */
	bool has_facts;	 /* the files were opened and a byte was read, and `nosuid` is told */
	uint32_t nosuid; /* bit I: file I is on a mount where set-user-id files mean nothing */
	uint64_t since_ns;
	unsigned n_files;
	int files[CONFINE_MAX_FILES]; /* O_PATH: handed over, or as the child opened them; taken
					 by setting -1 */
	size_t n_arg;
	uint8_t arg[];
};

/* Asks for job KIND with the N_FILES descriptors of FILES, which are duplicated.  It runs when
 * there is room.  forker_forget the answer, also before it came. */
struct confine_ask *forker_ask(struct forker *f, unsigned kind, const int *files, unsigned n_files,
			       const void *arg, size_t n_arg);
void forker_forget(struct forker *f, struct confine_ask *a);

/* Takes what has come, starts what now has room; waits for something until END_NS
 * (CLOCK_MONOTONIC), 0: not at all.  False when nothing came. */
bool forker_step(struct forker *f, uint64_t end_ns);

#endif
