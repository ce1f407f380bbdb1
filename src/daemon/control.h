/* SPDX-License-Identifier: BSD-2-Clause */
/* What is said over the daemon's socket: text, in lines of bounded length.
 *
 *     request = verb [" " argument] "\n"            at most CONTROL_LINE bytes
 *     answer  = "ok " n "\n" n bytes of text  |  "error " message "\n"
 *
 * One request, one answer, and the connection is closed.  docs/design/daemon.md has the verbs. */
#ifndef DAEMON_CONTROL_H
#define DAEMON_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

#define CONTROL_LINE   512	  /* bytes of a request, or of an answer's first line */
#define CONTROL_ANSWER (4u << 20) /* bytes of an answer's text */
#define CONTROL_LABEL  128

enum control_verb {
	CONTROL_FLUSH,	  /* everything sampled so far is stored; "flush tree":
			* and written to the DCPI tree */
	CONTROL_EPOCH,	  /* ... and what comes goes into a new epoch */
	CONTROL_LABEL_ME, /* "label L": samples of the asking process and its
			   * children to be have it */
	CONTROL_STATUS,	  /* "status" or "status json" */
	CONTROL_METRICS,  /* OpenMetrics */
	CONTROL_QUIT,	  /* flush, then end */
	CONTROL_N_VERBS
};

struct control_request {
	enum control_verb verb;
	bool json;
	bool tree; /* of flush: the DCPI tree, too, before the answer */
	char label[CONTROL_LABEL + 1];
};

/* Parses LINE of N bytes, without its newline.  -EINVAL and a message for the client. */
int control_parse_request(const char *line, size_t n, struct control_request *ret, struct err *err);

/* The request as a line with its newline. */
void control_format_request(const struct control_request *r, struct str *out);

/* The verb's name. */
const char *control_verb_name(enum control_verb verb);

/* An answer, as bytes. */
void control_put_ok(struct str *out, const char *text, size_t n);
void control_put_error(struct str *out, const char *msg);

/* What the N bytes received so far hold: 1 when the answer is whole (TEXT points into BYTES), 0
 * when more has to come, or the daemon's own error (-EREMOTEIO), or -EBADMSG for bytes that are no
 * answer. */
int control_parse_answer(const char *bytes, size_t n, const char **ret_text, size_t *ret_n,
			 struct err *err);

#endif
