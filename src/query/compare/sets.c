/* SPDX-License-Identifier: BSD-2-Clause */
/* See sets.h. */
#include "query/compare/sets.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "fleet/answers.h"
#include "store/store.h"

static void copy_list(opt_list *to, const opt_list *from)
{
	vec_each (s, from)
		vec_push(to, *s);
}

/* Does what the option KEY (N bytes) with VALUE would. */
static int set_key(struct compared_set *set, const char *key, size_t n, const char *value,
		   struct err *err)
{
	struct select *s = &set->select;
	const struct {
		const char *key;
		const char **to;
	} texts[] = {{"db", &s->db},
		     {"epoch", &s->epochs},
		     {"host", &s->host},
		     {"since", &s->since},
		     {"until", &s->until}};
	enum owner_key owner = owner_key_find(key, n);

	for (size_t i = 0; i < n_elems(texts); i++) {
		if (strlen(texts[i].key) != n || memcmp(texts[i].key, key, n) != 0)
			continue;
		*texts[i].to = value;
		return 0;
	}
	if (n == 6 && memcmp(key, "thread", n) == 0) {
		vec_push(&set->threads, value);
		return 0;
	}
	if (owner == N_OWNER_KEYS)
		return err_set(
			err, -EINVAL,
			"there is no '%.*s='; a set is a database, an epoch, or words "
			"db= epoch= since= until= host= label= comm= exe= pid= tid= uid= cgroup= "
			"thread=",
			(int)n, key);
	s->owners[owner].n = 0;
	vec_push(&s->owners[owner], value);
	return 0;
}

/* Whether the blanks at S stand between WORD's date and its time of day: "since=2026-11-21
 * 13:24". */
static bool is_within_time(const char *word, const char *s)
{
	if (!str_starts(word, "since=") && !str_starts(word, "until="))
		return false;
	while (str_is_blank(*s))
		s++;
	return s[0] >= '0' && s[0] <= '2' && s[1] >= '0' && s[1] <= '9' && s[2] == ':';
}

/* Cuts the next word off *REST, without its quotes.  Returns NULL after the last one. */
static char *next_word(char **rest)
{
	char *s = *rest, *word, *to, quote = 0;

	while (str_is_blank(*s))
		s++;
	if (!*s)
		return NULL;
	word = to = s;
	for (; *s && (quote || !str_is_blank(*s) || is_within_time(word, s)); s++) {
		if (quote ? *s == quote : *s == '\'' || *s == '"')
			quote = quote ? 0 : *s;
		else
			*to++ = *s;
	}
	*rest = *s ? s + 1 : s;
	*to = '\0';
	return word;
}

static int sets_parse(struct compared_set *set, struct err *err)
{
	struct select *s = &set->select;
	char *rest = set->words;

	if (access(set->words, F_OK) == 0) {
		s->db = set->words;
		return 0;
	}
	for (char *word = next_word(&rest); word; word = next_word(&rest)) {
		size_t n = strcspn(word, "=");
		int rc;

		if (!word[n]) {
			*(strchr(word, '/') || access(word, F_OK) == 0 ? &s->db : &s->epochs) =
				word;
			continue;
		}
		rc = set_key(set, word, n, word + n + 1, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* SET, not yet open. */
static int set_init(struct compared_set *set, const char *text, const struct select *base,
		    struct err *err)
{
	struct select *s = &set->select;

	*set = (struct compared_set){.text = text, .words = xstrdup(text), .select = *base};
	for (enum owner_key k = 0; k < N_OWNER_KEYS; k++) {
		s->owners[k] = (opt_list){0};
		copy_list(&s->owners[k], &base->owners[k]);
	}
	s->events = s->paths = s->columns = (opt_list){0};
	copy_list(&s->events, &base->events);
	copy_list(&s->columns, &base->columns);
	copy_list(&s->paths, &base->paths);
	return sets_parse(set, err);
}

static int set_read(struct compared_set *set, struct err *err)
{
	return source_open(&set->source,
			   &(struct source_opts){.select = &set->select, .threads = set->threads},
			   err);
}

/* Closes SET if RC says that it could not be opened. */
static int set_opened(struct compared_set *set, int rc, struct err *err)
{
	if (rc >= 0)
		return 0;
	err_prefix(err, rc, "set '%s'", set->text);
	compared_set_close(set);
	return rc;
}

int compared_set_open(struct compared_set *set, const char *text, const struct select *base,
		      struct err *err)
{
	int rc = set_init(set, text, base, err);

	if (rc >= 0)
		rc = set_read(set, err);
	return set_opened(set, rc, err);
}

/* --- two at once --- */

/* A set that another thread reads.  What is to be said of it waits until that thread ended. */
struct set_reader {
	struct compared_set *set;
	VEC(char *) notices;
	struct err err;
	int rc;
};

static void keep_notice(void *ctx, const char *line)
{
	vec_push(&((struct set_reader *)ctx)->notices, xstrdup(line));
}

static void *reader_run(void *p)
{
	struct set_reader *r = p;

	r->rc = set_read(r->set, &r->err);
	return NULL;
}

/* Reads SETS[1] beside SETS[0]. */
static int read_at_once(struct compared_set sets[2], struct err *err)
{
	struct select *s = &sets[1].select;
	const struct select said = *s;
	struct fleet_answers *answers = fleet_answers_new();
	struct set_reader r = {.set = &sets[1]};
	pthread_t thread;
	bool beside;
	int rc;

	s->notice = s->notice ? keep_notice : NULL;
	s->notice_ctx = &r;
	sets[0].select.answers = s->answers = answers;
	beside = pthread_create(&thread, NULL, reader_run, &r) == 0;
	rc = set_opened(&sets[0], set_read(&sets[0], err), err);
	if (beside)
		pthread_join(thread, NULL);
	else
		reader_run(&r);
	vec_each (line, &r.notices) {
		said.notice(said.notice_ctx, *line);
		free(*line);
	}
	vec_release(&r.notices);
	s->notice = said.notice;
	s->notice_ctx = said.notice_ctx;
	sets[0].select.answers = s->answers = NULL;
	fleet_answers_free(answers);
	r.rc = set_opened(&sets[1], r.rc, &r.err);
	if (rc >= 0 && r.rc < 0 && err)
		*err = r.err;
	return rc < 0 ? rc : r.rc;
}

static bool is_of_fleet(const struct compared_set *set)
{
	_mem_ char *usual = store_default_path();

	return fleet_is_url(set->select.db ? set->select.db : usual);
}

int compared_sets_open(struct compared_set sets[2], const char *const texts[2],
		       const struct select *base, struct err *err)
{
	int rc = 0;

	sets[0] = sets[1] = (struct compared_set){0};
	for (unsigned k = 0; k < 2 && rc >= 0; k++)
		rc = set_opened(&sets[k], set_init(&sets[k], texts[k], base, err), err);
	if (rc >= 0 && is_of_fleet(&sets[0]) && is_of_fleet(&sets[1]))
		return read_at_once(sets, err);
	for (unsigned k = 0; k < 2 && rc >= 0; k++)
		rc = set_opened(&sets[k], set_read(&sets[k], err), err);
	return rc;
}

void compared_set_close(struct compared_set *set)
{
	if (!set->words)
		return;
	source_close(set->source);
	vec_release(&set->threads);
	select_release(&set->select);
	free(take_ptr(&set->words));
}

/* --- what two sets have in common --- */

static bool lists_same(const opt_list *a, const opt_list *b)
{
	bool same = a->n == b->n;

	for (size_t i = 0; same && i < a->n; i++)
		same = strcmp(a->v[i], b->v[i]) == 0;
	return same;
}

static bool paths_same(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) >= 0 && stat(b, &y) >= 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Whether the samples are of one time on one machine. */
static bool times_same(const struct profile *a, const struct profile *b)
{
	return a->meta.start_wall_ns == b->meta.start_wall_ns &&
	       a->meta.end_wall_ns == b->meta.end_wall_ns &&
	       strcmp(profile_str(a, a->meta.host), profile_str(b, b->meta.host)) == 0 &&
	       strcmp(profile_str(a, a->meta.command), profile_str(b, b->meta.command)) == 0;
}

/* Whether A and B have as much of each of their events. */
static bool amounts_same(const struct query *a, const struct query *b)
{
	bool same = a->n_events == b->n_events;

	for (unsigned c = 0; same && c < a->n_events; c++)
		same = strcmp(a->cols[c].name, b->cols[c].name) == 0 &&
		       a->cols[c].n_samples == b->cols[c].n_samples;
	return same;
}

bool compared_sets_same(const struct compared_set *a, const struct compared_set *b)
{
	const struct query *x = a->source->query, *y = b->source->query;
	const bool one_path = paths_same(a->source->path, b->source->path);

	for (enum owner_key k = 0; k < N_OWNER_KEYS; k++)
		if (!lists_same(&a->select.owners[k], &b->select.owners[k]))
			return false;
	if (!lists_same(&a->threads, &b->threads))
		return false;
	if (!x || !y)
		return !x && !y && one_path;
	return times_same(x->profile, y->profile) && amounts_same(x, y) &&
	       (one_path || x->profile->meta.start_wall_ns);
}

int compared_set_count(const struct compared_set *set, const char *name, double *ret,
		       struct err *err)
{
	const struct query *q = set->source->query;
	event_ids events = {0};
	int rc;

	*ret = 0;
	if (!q)
		return err_set(err, -EINVAL,
			       "set '%s': --per takes numbers for an HPCToolkit database",
			       set->text);
	rc = select_find_events(q->profile, name, &events, err);
	vec_each (e, &events) {
		uint64_t sum = 0;

		vec_each (v, &q->profile->values)
			if (v->event == *e && value_is_samples(q->profile, v) &&
			    (!q->wanted || q->wanted[v->owner]))
				sum += value_weight(q->profile, v);
		/* The event's own count knows what was lost, but not whose it was. */
		if (!q->wanted && q->profile->events.v[*e].total)
			sum = q->profile->events.v[*e].total;
		*ret += (double)sum;
	}
	vec_release(&events);
	if (rc < 0)
		return err_prefix(err, rc, "set '%s'", set->text);
	return *ret > 0 ? 0 : err_set(err, -ENOENT, "set '%s': %s never happened", set->text, name);
}
