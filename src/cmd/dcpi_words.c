/* SPDX-License-Identifier: BSD-2-Clause */
/* See dcpi_words.h.  Options are those of the manual pages of DCPI's tools.
 *
 *     dcpitopcounts -st imiss -m map a.out     what was typed
 *     dcpitopcounts -sort imiss a.out          what `dwell hot` reads, with a note on -m
 *
 * dcpistats and dcpidiff compare sets, each behind a -set of its own.  Ours are one operand each:
 *
 *     dcpistats -i -set -db A -label x -set -db B
 *     dcpistats -i "db=A label=x" db=B
 *
 * dcpidiff's line has a procedure before the first -set, and an image at the end of each. */
#include "cmd/dcpi_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum word_kind {
	WORD_RENAMED, /* TEXT is our option */
	WORD_NOTED,   /* it does nothing, and TEXT says why */
	WORD_REFUSED, /* TEXT says what to do instead */
};

#define READERS	  "dcpiprof dcpilist dcpitopcounts dcpitopstalls dcpiwhatcg dcpicalc dcpicat " DIFFERS
#define DIFFERS	  "dcpistats dcpidiff"
#define CALCS	  "dcpicalc dcpitopstalls dcpiwhatcg dcpidiff"
#define COUNTS	  "dcpi2bb dcpi2pix"
#define ALL	  READERS " dcpi2bb dcpi2pix dcpicoverage dcpiflow dcpisource dcpiscan dcpitar"
#define NO_VALUES "values are not sampled; -pm shows counters, such as retired:latency"

static const struct dcpi_word {
	const char *programs, *names; /* separated by blanks */
	bool has_value;
	enum word_kind kind;
	const char *text;
} dcpi_words[] = {
	{ALL, "version", false, WORD_RENAMED, "-V"},
	{READERS, "m", true, WORD_NOTED,
	 "images are found by their build-id; `dwell scan DIR` keeps symbols of those in DIR"},
	{"dcpiprof dcpitopcounts", "csl", false, WORD_RENAMED, "--csv"},
	{"dcpiprof", "full_output", false, WORD_NOTED, "--json prints every field"},
	{"dcpitopcounts", "st", true, WORD_RENAMED, "--sort"},
	{"dcpilist", "order", false, WORD_NOTED,
	 "lines are in the order of the source, instructions in that of addresses"},
	{"dcpilist", "vprof", false, WORD_REFUSED, NO_VALUES},
	{"dcpilist", "vtrace", true, WORD_REFUSED, NO_VALUES},
	{"dcpicalc", "print_opcode", false, WORD_NOTED,
	 "instructions are shown without their bytes"},
	{CALCS, "cross_procedure", true, WORD_NOTED,
	 "only code of the procedure itself is blamed, never a call's"},
	{"dcpiwhatcg", "pr", false, WORD_NOTED, "it shows no progress"},
	{COUNTS, "make_bbdb", false, WORD_NOTED,
	 "there is no database of blocks; -o FILE keeps "
	 "counts"},
	{COUNTS, "pm", true, WORD_NOTED,
	 "counts alone are written; `dwell prof --pm` shows what else samples tell"},
	{COUNTS, "load_lat", false, WORD_NOTED,
	 "counts alone are written; `dwell prof --pm any:latency` adds up what loads waited"},
	{COUNTS, "trace", true, WORD_NOTED, "no trace is printed"},
	{COUNTS, "scale", false, WORD_NOTED,
	 "counts of retired instructions are scaled, those of branches cannot be"},
	{"dcpisource", "src", true, WORD_NOTED,
	 "source files are found by the image's lines; --source-map FROM=TO moves them"},
	{"dcpisource", "map", true, WORD_REFUSED, "columns of source lines are not told apart"},
	{DIFFERS, "factor", true, WORD_REFUSED,
	 "sets are not multiplied; --shares makes all equally large for dcpistats, and dcpidiff "
	 "does so without --absolute"},
	{"dcpistats", "v", false, WORD_NOTED, "it prints the same with -v"},
	{"dcpidiff", "source_line", false, WORD_RENAMED, "--by=line"},
	{"dcpidiff", "compare", true, WORD_NOTED,
	 "samples are compared; `dwell calc` shows cycles per instruction, frequency and stalls "
	 "of each set"},
	{"dcpidiff", "conf_low conf_med conf_high", false, WORD_NOTED,
	 "samples are compared, which need no estimates"},
};

static bool list_has(const char *list, const char *name, size_t n)
{
	for (size_t m; *list; list += m + (list[m] == ' ')) {
		m = strcspn(list, " ");
		if (m == n && memcmp(list, name, n) == 0)
			return true;
	}
	return false;
}

/* Finds the row of option ARG of PROGRAM; NULL: it stays.  *RET_VALUE is what follows its =. */
static const struct dcpi_word *dcpi_word_find(const char *program, const char *arg,
					      const char **ret_value)
{
	const char *name = arg + strspn(arg, "-"), *eq = strchr(name, '=');

	*ret_value = eq ? eq + 1 : NULL;
	if (arg[0] != '-')
		return NULL;
	for (size_t i = 0; i < n_elems(dcpi_words); i++) {
		const struct dcpi_word *w = &dcpi_words[i];

		if (list_has(w->programs, program, strlen(program)) &&
		    list_has(w->names, name, eq ? (size_t)(eq - name) : strlen(name)))
			return w;
	}
	return NULL;
}

/* Does with option WORD, typed as ARG with VALUE, what its row says. */
static int dcpi_word_take(struct dcpi_words *w, const struct dcpi_word *word, const char *arg,
			  const char *value, struct err *err)
{
	switch (word->kind) {
	case WORD_RENAMED:
		vec_push(&w->argv, xstrdup(word->text));
		if (word->has_value)
			vec_push(&w->argv, xstrdup(value));
		return 0;
	case WORD_NOTED:
		vec_push(&w->notes, xasprintf("%.*s: %s", (int)strcspn(arg, "="), arg, word->text));
		return 0;
	case WORD_REFUSED:
		return err_set(err, -EINVAL, "%.*s: %s", (int)strcspn(arg, "="), arg, word->text);
	}
	return 0;
}

/* Replaces what single options of W's line say. */
static int read_words(struct dcpi_words *w, const char *program, int argc, char **argv,
		      struct err *err)
{
	int rc = 0;

	for (int i = 0; i < argc && rc >= 0; i++) {
		const char *arg = argv[i], *value = NULL;
		const struct dcpi_word *word = i ? dcpi_word_find(program, arg, &value) : NULL;

		if (!word) {
			vec_push(&w->argv, xstrdup(arg));
			continue;
		}
		if (word->has_value && !value)
			value = i + 1 < argc ? argv[++i] : NULL;
		if (word->has_value && !value)
			rc = err_set(err, -EINVAL, "%s: needs a value", arg);
		else
			rc = dcpi_word_take(w, word, arg, value, err);
	}
	return rc;
}

static bool is_set_word(const char *arg)
{
	return strcmp(arg, "-set") == 0 || strcmp(arg, "--set") == 0;
}

/* Adds option ARG of a set to TEXT, the set in our words.  -EINVAL: it is none that a set can
 * have. */
static int add_to_set(struct str *text, const char *arg, const char *value, struct err *err)
{
	const char *const names = "db epoch since until host label comm exe pid tid uid cgroup";
	const char *name = arg + strspn(arg, "-");
	const size_t n = strcspn(name, "=");

	if (!list_has(names, name, n))
		return err_set(err, -EINVAL, "%s: belongs before the first -set", arg);
	if (!value)
		return err_set(err, -EINVAL, "%s: needs a value", arg);
	str_addf(text, "%s%.*s=%s", text->n ? " " : "", (int)n, name, value);
	return 0;
}

/* Reads one set, whose words are ARGV[0 .. N): its options go to TEXT, operands to REST. */
static int read_set(struct str *text, char **argv, size_t n, opt_list *rest, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc >= 0; i++) {
		const char *eq = strchr(argv[i], '=');

		if (argv[i][0] != '-') {
			vec_push(rest, argv[i]);
			continue;
		}
		rc = add_to_set(text, argv[i], eq ? eq + 1 : i + 1 < n ? argv[i + 1] : NULL, err);
		i += !eq;
	}
	return rc;
}

/* A set's operands: dcpidiff's is the image, which OPERANDS have once; dcpistats has a database. */
static void take_set_operands(struct dcpi_words *w, bool is_diff, struct str *text,
			      const opt_list *rest, opt_list *images)
{
	vec_each (name, rest) {
		bool known = !is_diff;

		if (!is_diff)
			str_addf(text, "%s%s", text->n ? " " : "", *name);
		vec_each (image, images)
			known = known || strcmp(*image, *name) == 0;
		if (!known)
			vec_push(images, *name);
	}
	vec_push(&w->argv, xstrdup(text->n ? str_get(text) : "epoch=latest"));
}

/* Makes operands of the sets in ARGS, of dcpistats or, when IS_DIFF, dcpidiff. */
static int read_sets(struct dcpi_words *w, bool is_diff, dcpi_args *args, size_t first,
		     struct err *err)
{
	opt_list images = {0};
	int rc = 0;

	for (size_t i = first, end; i < args->n && rc >= 0; i = end) {
		_str_ struct str text = {0};
		opt_list rest = {0};

		for (end = i + 1; end < args->n && !is_set_word(args->v[end]);)
			end++;
		rc = read_set(&text, args->v + i + 1, end - i - 1, &rest, err);
		if (rc >= 0)
			take_set_operands(w, is_diff, &text, &rest, &images);
		vec_release(&rest);
	}
	vec_each (image, &images)
		vec_push(&w->argv, xstrdup(*image));
	vec_release(&images);
	return rc;
}

/* dcpidiff's procedure, the last word before the sets, is not a word of ours. */
static void drop_procedure(struct dcpi_words *w)
{
	if (w->argv.n < 2 || w->argv.v[w->argv.n - 1][0] == '-')
		return;
	vec_push(&w->notes, xasprintf("%s: all procedures of the image are compared",
				      w->argv.v[w->argv.n - 1]));
	free(w->argv.v[--w->argv.n]);
}

static void dcpi_args_release(dcpi_args *v)
{
	vec_each (s, v)
		free(*s);
	vec_release(v);
}

/* Replaces sets by operands, when W's line has any. */
static int settle_sets(struct dcpi_words *w, bool is_diff, struct err *err)
{
	dcpi_args args = w->argv;
	size_t first = 0;
	int rc;

	while (first < args.n && !is_set_word(args.v[first]))
		first++;
	if (first == args.n)
		return 0;
	w->argv = (dcpi_args){0};
	for (size_t i = 0; i < first; i++)
		vec_push(&w->argv, xstrdup(args.v[i]));
	if (is_diff)
		drop_procedure(w);
	rc = read_sets(w, is_diff, &args, first, err);
	dcpi_args_release(&args);
	return rc;
}

int dcpi_words_read(struct dcpi_words *w, const char *program, int argc, char **argv,
		    struct err *err)
{
	int rc;

	*w = (struct dcpi_words){0};
	rc = read_words(w, program, argc, argv, err);
	if (rc >= 0 && list_has(DIFFERS, program, strlen(program)))
		rc = settle_sets(w, strcmp(program, "dcpidiff") == 0, err);
	vec_push(&w->argv, NULL);
	w->argv.n--;
	return rc;
}

void dcpi_words_release(struct dcpi_words *w)
{
	dcpi_args_release(&w->argv);
	dcpi_args_release(&w->notes);
}
