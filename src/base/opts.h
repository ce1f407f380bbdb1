/* SPDX-License-Identifier: BSD-2-Clause */
/* Command lines, from one declarative table.
 *
 * One dash and two mean the same (`-db X`, `--db X`, `--db=X`), and so do - and _ within a name
 * (`-no_header`), as DCPI's users expect; flags are not bundled.  `--` ends the options.  The table
 * also prints the help, so that a command's options are written down once. */
#ifndef BASE_OPTS_H
#define BASE_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"

typedef VEC(const char *) opt_list;

enum opt_kind {
	OPT_FLAG,     /* bool *to */
	OPT_STR,      /* const char **to */
	OPT_LIST,     /* opt_list *to; may be repeated */
	OPT_U64,      /* uint64_t *to; decimal or 0x */
	OPT_DOUBLE,   /* double *to; finite */
	OPT_DURATION, /* uint64_t *to, nanoseconds; see str_parse_duration_ns */
	OPT_SAY,      /* no option: `arg` says what to type instead */
};

struct opt {
	const char *names; /* without dashes; alternatives behind spaces: "o output" */
	enum opt_kind kind;
	void *to;
	const char *arg;       /* what the value is called in the help; NULL for flags */
	const char *help;      /* one line; NULL keeps the option out of the help */
	bool no_number_needed; /* OPT_U64: an argument behind it that is no number is not its value */
	/* All that the value, or each part of it between commas, may be, with blanks between them:
	 * for completions.  NULL: `arg` says it. */
	const char *words;
};

/* Parses ARGV[1 .. ARGC) by TABLE (ended by names == NULL).  Operands go to OPERANDS in order. With
 * STOP_AT_OPERAND the first operand ends the options (for `record CMD -x`).  Returns 0, or -EINVAL
 * with a message that names the option and suggests the nearest. */
int opts_parse(const struct opt *table, int argc, char **argv, bool stop_at_operand,
	       opt_list *operands, struct err *err);

/* The options as aligned lines of text, to be freed by the caller. */
char *opts_help(const struct opt *table);

/* Returns the number of WORD among WORDS, which end with NULL.  0, the default's, when WORD is
 * NULL.  -EINVAL names OPTION ("--by") and all words. */
int opts_choose(const char *word, const char *const *words, const char *option, struct err *err);

#endif
