/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files of forker.h: what goes through the socket, each message in one packet. */
#ifndef CONFINE_FORKER_IMPL_H
#define CONFINE_FORKER_IMPL_H

#include "confine/forker.h"

/* To the forker: with the answer's memfd and the files. */
struct confine_request {
	uint32_t id, kind, n_files, n_arg;
	uint8_t arg[CONFINE_MAX_ARG];
};

/* From a child that has opened its files and not looked into them: with them if it was not given
 * them, and what their file systems say of them.  From the forker when a child has ended, and when
 * the machine let it make none. */
struct confine_reply {
	uint32_t id;
	enum { REPLY_FILES, REPLY_FACTS, REPLY_END, REPLY_AGAIN } what;
	int32_t status;	 /* END: waitpid(2)'s; AGAIN: errno, why no child could be made */
	uint32_t nosuid; /* FACTS: bit I: file I is on a mount whose
			  * set-user-id files mean nothing */
};

/* Sends N bytes with the N_FDS descriptors of FDS; 0 or -errno. */
int confine_send(int sock, const void *bytes, size_t n, const int *fds, unsigned n_fds, int flags);

/* Receives up to N bytes, and up to *N_FDS descriptors, of which there are *N_FDS afterwards. */
ssize_t confine_receive(int sock, void *bytes, size_t n, int *fds, unsigned *n_fds, int flags);

/* Address space of the forker, and its private memory. */
struct confine_base {
	size_t all_bytes, data_bytes;
};

/* What a child does, from its fork to its end.  BASE is what it starts with, LENT_MS the CPU time
 * before it has niceness 19. */
_Noreturn void confine_child(const struct confine_job *job, const struct confine_request *q,
			     int sock, int answer_fd, const int *files,
			     const struct confine_base *base, unsigned lent_ms);

#endif
