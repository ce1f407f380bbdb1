/* SPDX-License-Identifier: BSD-2-Clause */
/* dwell ctl: tells the daemon of a database what to do, and waits for its answer. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cmd/cmd.h"
#include "collect/pinned.h"
#include "daemon/ask.h"
#include "daemon/hold.h"
#include "port/dcpi_note.h"
#include "store/store.h"
#include "base/text.h"

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
	if (strcmp(name, "register") == 0)
		return err_set(err, -EINVAL,
			       "generated code needs no register: what its compiler tells (perf "
			       "maps, jitdumps) is found");
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
	memcpy(r->label, words->v[1], strlen(words->v[1]) + 1);
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

/* Samples of a log that nobody stored: at most so many, as its daemon may have died before it could
 * give back what it had stored. */
static uint64_t n_unstored(const struct pin_dir *base, uint64_t number)
{
	struct pinned_note note;
	struct log *log;
	uint64_t n = 0;

	if (pinned_open(base, number, &log, NULL, &note, NULL) < 0)
		return 0;
	for (uint32_t cpu = 0; cpu < log_n_cpus(log); cpu++)
		n += log_head(log, cpu) - log_tail(log, cpu);
	for (unsigned i = 0; i < note.n_events; i++)
		n += log_counts(log, i).spilled;
	log_close(log);
	return n;
}

/* Removes the logs in BASE; adds to *N_LOGS how many there were. */
static int clean_base(struct cmd *c, const struct pin_dir *base, size_t *n_logs)
{
	_vec_ pinned_list logs = {0};
	int rc = 0;

	pinned_find(base, 0, &logs);
	vec_each (number, &logs) {
		uint64_t n = n_unstored(base, *number);

		rc = pinned_remove(base, *number, &c->err);
		if (rc < 0)
			break;
		str_addf(&c->out,
			 "removed the log of a dead daemon, with up to %" PRIu64
			 " samples that nobody stored\n",
			 n);
	}
	*n_logs += logs.n;
	return rc;
}

/* Whether H is of the database PATH; of one that is gone PATH is all there is to know it by. */
static bool is_of(const struct pinned_home *h, const char *path, const struct stat *st)
{
	char name[40];

	snprintf(name, sizeof(name), "/%llx-%llx", (unsigned long long)st->st_dev,
		 (unsigned long long)st->st_ino);
	if (!st->st_ino)
		return !h->there && strcmp(h->db, path) == 0;
	return str_ends(h->base.path, name) &&
	       (strcmp(h->db, path) == 0 || !pinned_is_stale(h, path));
}

/* What is left of databases that are not there any more, as nobody else would ever find it. */
static void tell_others(struct cmd *c, const struct pinned_home *h)
{
	_vec_ pinned_list logs = {0};

	if (!h->there && !h->held)
		pinned_find(&h->base, 0, &logs);
	if (logs.n && *h->db)
		str_addf(&c->out,
			 "%s is not there any more, but the log of its daemon goes on: `dwell ctl "
			 "--db %s clean` removes it\n",
			 h->db, h->db);
	else if (logs.n)
		str_addf(&c->out,
			 "%s has the log of a dead daemon of version 0.1.0: start one on its "
			 "database, or remove the directory\n",
			 h->base.path);
}

static int clean_place(struct cmd *c, const struct pin_dir *fs, const char *path,
		       const struct stat *st, size_t *n_logs)
{
	pinned_homes homes = {0};
	int rc = 0;

	pinned_find_homes(fs, &homes);
	vec_each (h, &homes) {
		if (!is_of(h, path, st)) {
			tell_others(c, h);
			continue;
		}
		if (h->held)
			rc = err_set(&c->err, -EBUSY, "%s: its daemon lives", path);
		else
			rc = clean_base(c, &h->base, n_logs);
		if (rc < 0)
			break;
		pinned_base_remove(fs, &h->base);
	}
	pinned_homes_release(&homes);
	return rc;
}

/* The path as daemons keep it, of a database that may be gone, also with directories above it: then
 * a whole path is taken as it is typed. */
static char *whole_path(const char *db)
{
	_mem_ char *copy = xstrdup(db), *above = NULL;
	char *whole = realpath(db, NULL), *slash, *ret;

	if (whole)
		return whole;
	while (strlen(copy) > 1 && copy[strlen(copy) - 1] == '/')
		copy[strlen(copy) - 1] = '\0';
	slash = strrchr(copy, '/');
	if (slash)
		*slash = '\0';
	above = realpath(slash ? (*copy ? copy : "/") : ".", NULL);
	if (slash && !above && *db == '/') {
		*slash = '/';
		return take_ptr(&copy);
	}
	ret = xasprintf("%s/%s", above && strcmp(above, "/") != 0 ? above : "",
			slash ? slash + 1 : copy);
	return ret;
}

/* clean: no daemon is asked, for there is none. */
static int ctl_clean(struct cmd *c, const char *db, const char *bpffs)
{
	_mem_ char *path = whole_path(db);
	struct pin_places places;
	struct stat st = {0};
	struct err why = {0};
	size_t n = 0;
	bool gone = stat(db, &st) < 0;
	int rc = gone ? -ENOENT : hold_check(db, &c->err);

	if (rc >= 0)
		return err_set(&c->err, -EBUSY, "%s: its daemon lives: `dwell ctl quit` ends it",
			       db);
	pin_places_open(&places, bpffs, false, &why);
	rc = 0;
	for (size_t i = 0; i < places.all.n && rc >= 0; i++)
		rc = clean_place(c, &places.all.v[i], path, &st, &n);
	pin_places_close(&places);
	if (rc >= 0 && !n && gone)
		return err_set(&c->err, -ENOENT,
			       "%s: no such database, and no daemon of it left "
			       "anything",
			       db);
	if (rc >= 0 && !n)
		str_add(&c->out, "no dead daemon left anything\n");
	return rc;
}

/* What the daemon says is shown as text that can drive no terminal. */
static void ctl_show(struct cmd *c, const struct str *answer)
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

static int ctl_ask(struct cmd *c, const char *db, const opt_list *words, struct str *answer)
{
	struct control_request r = {.json = c->json};
	size_t n = words->n;
	int rc = find_verb(words->v[0], &r.verb, &c->err);

	if (rc < 0)
		return rc;
	if (r.verb == CONTROL_LABEL_ME)
		return label_and_run(c, db, &r, words);
	/* `status --json` reads as well as `--json status`. */
	if (r.verb == CONTROL_STATUS && n == 2 && strcmp(words->v[1], "--json") == 0) {
		r.json = true;
		n = 1;
	}
	if (n > 1)
		return err_set(&c->err, -EINVAL, "%s takes no arguments", words->v[0]);
	/* Who asks for a flush waits until all is done, with the DCPI tree. */
	r.tree = r.verb == CONTROL_FLUSH;
	rc = ask_daemon(db, &r, PATIENCE_S, answer, &c->err);
	if (rc != -EREMOTEIO || !r.tree || !strstr(c->err.msg, "does not take that argument"))
		return rc;
	r.tree = false; /* a daemon of before */
	return ask_daemon(db, &r, PATIENCE_S, answer, &c->err);
}

int cmd_ctl(struct cmd *c)
{
	const char *to = NULL, *bpffs = NULL;
	const struct opt table[] = {
		{"db", OPT_STR, &to, "DB",
		 "whose daemon is meant (default $DWELLDB, $DCPIDB, ~/.local/share/dwell)"},
		{"bpffs", OPT_STR, &bpffs, "DIR", "clean: where it pinned, too"},
		{0},
	};
	_str_ struct str answer = {0};
	_vec_ opt_list words = {0};
	_mem_ char *db = NULL;
	_mem_ char *fed = NULL;
	int rc;

	if (c->word) /* dcpiflush and its like */
		vec_push(&words, c->word);
	rc = cmd_parse(c,
		       !c->word ? "[--db DB] flush | epoch | status | metrics | quit | clean\n"
				  "[--db DB] label LABEL -- COMMAND [ARG...]"
		       : strcmp(c->word, "label") == 0 ? "[--db DB] LABEL COMMAND [ARG...]"
						       : "[--db DB]",
		       table, true, &words);
	if (rc != 0) {
		return rc;
	}
	db = to ? xstrdup(to) : store_default_path();
	/* A DCPI tree means the database whose daemon writes it. */
	fed = dcpi_note_read(db);
	if (fed) {
		free(db);
		db = xstrdup(fed);
	}
	if (!words.n)
		rc = err_set(&c->err, -EINVAL,
			     "nothing to do: flush, epoch, label, status, metrics, quit or clean");
	else if (words.n == 1 && strcmp(words.v[0], "clean") == 0)
		rc = ctl_clean(c, db, bpffs);
	else
		rc = ctl_ask(c, db, &words, &answer);
	if (rc >= 0)
		ctl_show(c, &answer);
	return rc;
}
