/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens whatever `--db` names, as one profile: a dwell database, a tree of DCPI profile files, or
 * one such file, or what perf recorded. */
#ifndef QUERY_SAMPLES_INPUT_H
#define QUERY_SAMPLES_INPUT_H

#include "port/dcpi_kept.h"
#include "port/stacks_in.h"
#include "query/select.h"
#include "resolve/resolver.h"

struct input {
	struct profile profile; /* its values may repeat a key: sum them; see there for time */
	struct resolver *resolver;
	char *path;		    /* what was opened */
	struct dcpi_kept kept;	    /* of a DCPI tree or file: lines of its headers */
	stacks_symbol_list symbols; /* of another tool's profile, until the resolver has them */
};

/* Returns the path that S names, else the default database.  Where that is not there or an empty
 * directory, ./perf.data is taken if perf wrote it, and S is told so.  Free it. */
char *input_path(const struct select *s);

/* The event "wall" (wall.h) is there when S names it.
 *
 * Loads the epochs and hosts S wants; labels and events are left to the query.  Errors: -ENOENT
 * nothing there or nothing selected, -EPROTONOSUPPORT newer, -EBADMSG damaged. */
int input_open(struct input *in, const struct select *s, struct err *err);

/* Opens what S wants without keeping all values in memory.  Values of a dwell database go to SINK
 * as they are stored, instead of IN's values; so the event "wall", which needs them all, is
 * missing.  Values of other inputs are IN's.  Errors as input_open. */
int input_open_into(struct input *in, const struct select *s, struct value_sink *sink,
		    struct err *err);
void input_close(struct input *in);

/* Where symbols of the images of PATH, a database or a DCPI tree, are kept: DIR/images, to be
 * freed. CREATE: made when it is not there.  NULL: there is none. */
char *input_images_dir(const char *path, bool create, struct err *err);

#endif
