/* SPDX-License-Identifier: BSD-2-Clause */
/* See dcpid_words.h.
 *
 *     dcpid -t imiss -merge 10 -verbose DIR     what was typed
 *     dcpid -event imiss -journal 10 DIR        what dwelld reads, with a note on -verbose
 *
 * `-epoch` is a flag of DCPI's and an option with a time of ours: it is ours
 * when a time follows. */
#include "cmd/dcpid_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum word_kind {
	WORD_RENAMED, /* TEXT is our option's name */
	WORD_NOTED,   /* it does nothing, and TEXT says why */
	WORD_REFUSED, /* TEXT says what to do instead */
	WORD_LOG,
	WORD_STATUS,
	WORD_QUIET,
	WORD_VERSION,
	WORD_EPOCH,
};

static const struct word {
	const char *name;
	bool has_value;
	enum word_kind kind;
	const char *text;
} words[] = {
	{"t", true, WORD_RENAMED, "event"},
	{"merge", true, WORD_RENAMED, "journal"},
	{"log", true, WORD_LOG, NULL},
	{"status", true, WORD_STATUS, NULL},
	{"quiet", false, WORD_QUIET, NULL},
	{"version", false, WORD_VERSION, NULL},
	{"epoch", false, WORD_EPOCH, NULL},
	{"verbose", false, WORD_NOTED, "`dcpictl status` tells at any time how it goes"},
	{"logmaps", false, WORD_NOTED,
	 "mappings are not logged; `dcpictl status` counts samples at unknown addresses"},
	{"unknown", false, WORD_NOTED, "unknown addresses are always kept, each by itself"},
	{"gc", false, WORD_NOTED, "old epochs are always removed: --max-age, --max-size, --keep"},
	{"forkid", false, WORD_NOTED, "processes are always told apart from their parents"},
	{"hash", true, WORD_NOTED, "tables grow as they need; --log-slots sizes the log"},
	{"chunk", true, WORD_NOTED, "tables grow as they need; --log-slots sizes the log"},
	{"vprof", true, WORD_REFUSED, "values are not sampled; use -slot pm and its counters"},
	{"vreplay", true, WORD_REFUSED, "values are not sampled; use -slot pm and its counters"},
	{"vtrace", true, WORD_REFUSED, "values are not sampled; use -slot pm and its counters"},
};

static const struct word *find(const char *name, size_t n)
{
	for (size_t i = 0; i < n_elems(words); i++)
		if (strlen(words[i].name) == n && memcmp(words[i].name, name, n) == 0)
			return &words[i];
	return NULL;
}

static bool is_duration(const char *s)
{
	uint64_t ns;

	return s && str_parse_duration_ns(s, &ns) >= 0;
}

static int dcpid_words_take(struct dcpid_words *w, const struct word *word, const char *value,
			    struct err *err)
{
	uint64_t ns;

	switch (word->kind) {
	case WORD_RENAMED:
		vec_push(&w->argv, xasprintf("--%s=%s", word->text, value));
		return 0;
	case WORD_NOTED:
		vec_push(&w->notes, xasprintf("-%s: %s", word->name, word->text));
		return 0;
	case WORD_REFUSED:
		return err_set(err, -EINVAL, "-%s: %s", word->name, word->text);
	case WORD_LOG:
		w->log = value;
		return 0;
	case WORD_STATUS:
		if (str_parse_duration_ns(value, &ns) < 0 || ns < 100000000)
			return err_set(err, -EINVAL, "-status: '%s' is no time of 0.1s or more",
				       value);
		w->status_s = (double)ns / 1e9;
		return 0;
	case WORD_QUIET:
		w->quiet = true;
		return 0;
	case WORD_VERSION:
		w->version = true;
		return 0;
	case WORD_EPOCH: /* each start is a new epoch */
		return 0;
	}
	return 0;
}

int dcpid_words_read(struct dcpid_words *w, int argc, char **argv, struct err *err)
{
	int rc = 0;

	*w = (struct dcpid_words){0};
	for (int i = 0; i < argc && rc >= 0; i++) {
		const char *name = argv[i] + strspn(argv[i], "-"), *eq = strchr(name, '=');
		const struct word *word =
			i && argv[i][0] == '-' ? find(name, eq ? (size_t)(eq - name) : strlen(name))
					       : NULL;
		const char *value = eq ? eq + 1 : i + 1 < argc ? argv[i + 1] : NULL;

		if (!word || (word->kind == WORD_EPOCH && is_duration(value))) {
			vec_push(&w->argv, xstrdup(argv[i]));
			continue;
		}
		if (word->has_value && !value)
			rc = err_set(err, -EINVAL, "%s: needs a value", argv[i]);
		else
			rc = dcpid_words_take(w, word, value, err);
		i += word->has_value && !eq;
	}
	vec_push(&w->argv, NULL);
	w->argv.n--;
	return rc;
}

static void cmd_dcpid_words_release(dcpid_args *v)
{
	vec_each (s, v)
		free(*s);
	vec_release(v);
}

void dcpid_words_release(struct dcpid_words *w)
{
	cmd_dcpid_words_release(&w->argv);
	cmd_dcpid_words_release(&w->notes);
}
