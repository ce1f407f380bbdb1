/* SPDX-License-Identifier: BSD-2-Clause */
/* dwell ctl: tells the daemon of a database what to do, and waits for its answer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cmd/cmd.h"
#include "daemon/ask.h"
#include "store/store.h"
#include "view/text.h"

/* A flush of much data to a slow disk takes its time. */
#define PATIENCE_S 120

static int find_verb(const char *name, enum control_verb *ret, struct err *err)
{
	for (unsigned i = 0; i < CONTROL_N_VERBS; i++) {
		if (strcmp(control_verb_name((enum control_verb)i), name) == 0) {
			*ret = (enum control_verb)i;
			return 0;
		}
	}
	return err_set(err, -EINVAL, "'%s' is none of flush, epoch, label, status, metrics, quit",
		       name);
}

/* label L -- CMD: this very process is labelled and becomes the command, so that the daemon needs
 * to trust nothing but what the kernel says of who asks. */
static int label_and_run(struct cmd *c, const char *db, struct control_request *r,
			 const opt_list *words)
{
	size_t first = 2;
	struct str answer = {0};
	char **argv;
	int rc;

	if (words->n > first && strcmp(words->v[first], "--") == 0)
		first++;
	if (words->n <= first)
		return err_set(&c->err, -EINVAL, "label LABEL -- COMMAND [ARG...]");
	if (!*words->v[1] || strlen(words->v[1]) > CONTROL_LABEL)
		return err_set(&c->err, -EINVAL, "a label has 1 to %d bytes", CONTROL_LABEL);
	strcpy(r->label, words->v[1]);
	rc = ask_daemon(db, r, PATIENCE_S, &answer, &c->err);
	str_release(&answer);
	if (rc < 0)
		return rc;
	argv = xcalloc(words->n - first + 1, sizeof(*argv));
	for (size_t i = first; i < words->n; i++)
		argv[i - first] = (char *)words->v[i];
	execvp(argv[0], argv);
	rc = err_errno(&c->err, -errno, "cannot run %s", argv[0]);
	free(argv);
	return rc;
}

/* What the daemon says is shown as text that can drive no terminal. */
static void show(struct cmd *c, const struct str *answer)
{
	const char *line = str_get(answer);

	while (*line) {
		size_t n = strcspn(line, "\n");
		_mem_ char *copy = xasprintf("%.*s", (int)n, line);

		text_show(&c->out, copy);
		str_addc(&c->out, '\n');
		line += n + (line[n] == '\n');
	}
}

int cmd_ctl(struct cmd *c)
{
	const char *to = NULL;
	const struct opt table[] = {
		{"db", OPT_STR, &to, "DB",
		 "whose daemon is meant (default $DWELLDB, $DCPIDB, ~/.local/share/dwell)"},
		{0},
	};
	struct control_request r = {0};
	struct str answer = {0};
	opt_list words = {0};
	_mem_ char *db = NULL;
	int rc = cmd_parse(c,
			   "[--db DB] flush | epoch | status | metrics | quit\n"
			   "[--db DB] label LABEL -- COMMAND [ARG...]",
			   table, true, &words);

	if (rc)
		return rc;
	db = to ? xstrdup(to) : store_default_path();
	if (!words.n)
		rc = err_set(&c->err, -EINVAL,
			     "nothing to do: flush, epoch, label, status, metrics or quit");
	else
		rc = find_verb(words.v[0], &r.verb, &c->err);
	/* `status --json` reads as well as `--json status`. */
	r.json = c->json;
	if (rc >= 0 && r.verb == CONTROL_STATUS && words.n == 2 &&
	    (strcmp(words.v[1], "--json") == 0 || strcmp(words.v[1], "-json") == 0)) {
		r.json = true;
		words.n = 1;
	}
	if (rc >= 0 && r.verb == CONTROL_LABEL_ME)
		rc = label_and_run(c, db, &r, &words);
	else if (rc >= 0 && words.n > 1)
		rc = err_set(&c->err, -EINVAL, "%s takes no arguments", words.v[0]);
	else if (rc >= 0)
		rc = ask_daemon(db, &r, PATIENCE_S, &answer, &c->err);
	if (rc >= 0)
		show(c, &answer);
	str_release(&answer);
	vec_release(&words);
	return rc;
}
