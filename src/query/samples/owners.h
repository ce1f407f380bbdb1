/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose samples: the keys of an owner that readers select and group by, as the words and texts they
 * are called on the command line and in tables. */
#ifndef QUERY_SAMPLES_OWNERS_H
#define QUERY_SAMPLES_OWNERS_H

#include "base/err.h"
#include "base/opts.h"
#include "model/profile.h"

enum owner_key {
	OWNER_KEY_COMM,
	OWNER_KEY_PID,
	OWNER_KEY_TID,
	OWNER_KEY_CGROUP,
	OWNER_KEY_LABEL,
	OWNER_KEY_UID,
	OWNER_KEY_EXE,
	OWNER_KEY_HOST, /* no option: select.host chooses recordings */
	OWNER_KEY_UNIT,
	OWNER_KEY_CONTAINER, /* from here to tenant: enum container_text, in its order */
	OWNER_KEY_IMAGE_TAG,
	OWNER_KEY_POD,
	OWNER_KEY_NAMESPACE,
	OWNER_KEY_VERSION,
	OWNER_KEY_TENANT,
	N_OWNER_KEYS
};

/* All keys, for completions. */
#define OWNER_KEY_WORDS                                                                            \
	"comm pid tid cgroup unit container pod namespace image-tag version tenant label uid exe " \
	"host"

/* "comm", "pid", ...: the option, the word of --by, the JSON key. */
const char *owner_key_name(enum owner_key k);

/* Returns the key called by the N bytes at NAME, N_OWNER_KEYS when there is none.  A process is its
 * pid, a thread its tid. */
enum owner_key owner_key_find(const char *name, size_t n);

/* Whether its values are numbers: pid, tid, uid. */
bool owner_key_is_number(enum owner_key k);

/* O's value as a number that is equal where the values are: the number itself, or
 * the string's id. */
uint32_t owner_value(const struct owner *o, enum owner_key k);

/* O's value as text, for all but numbers; "" when there is none. */
const char *owner_text(const struct profile *p, const struct owner *o, enum owner_key k);

/* The name of thread O, with OWNER_KEY_TID where it has one of its own; else "". */
const char *owner_thread_name(const struct profile *p, const struct owner *o);

/* O's value of a key that is a number: "1234", and for a thread with a name of its own "1234
 * NAME". Free it. */
char *owner_number_text(const struct profile *p, const struct owner *o, enum owner_key k);

/* Whether O's value is known: a label or text that is not empty, a number that was kept. */
bool owner_is_known(const struct owner *o, enum owner_key k);

/* What tables say instead of a value that is not known: "[idle]", "[kernel]", "[no label]",
 * "[unknown]". */
const char *owner_stand_in(const struct owner *o, enum owner_key k);

/* 0 when P's samples can be told apart by K, else -ENOENT with the reason: which option of record
 * keeps it, or that this kind of database never does.  A profile without samples has no reason. */
int owner_key_check(const struct profile *p, enum owner_key k, struct err *err);

/* For each owner of P whether its samples are wanted by LISTS (one of each key; none: all wanted);
 * NULL in *RET when all are, else free it.  An owner must fit one pattern of each list that has
 * any.  A pattern is a text, several with commas between, or one for fnmatch(3); an exe without '/'
 * means the last part of the path, a cgroup also those below it, a uid may be a user's name.
 * -ENOENT for a pattern no owner fits. */
int owners_select(const struct profile *p, const opt_list lists[N_OWNER_KEYS], bool **ret,
		  struct err *err);

#endif
