/* SPDX-License-Identifier: BSD-2-Clause */
/* See sets.h. */
#include "query/compare/sets.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

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

static int sets_parse(struct compared_set *set, struct err *err)
{
	struct select *s = &set->select;
	char *rest = NULL;

	if (access(set->words, F_OK) == 0) {
		s->db = set->words;
		return 0;
	}
	for (char *word = strtok_r(set->words, " \t", &rest); word;
	     word = strtok_r(NULL, " \t", &rest)) {
		size_t n = strcspn(word, "=");
		int rc;

		if (!word[n]) {
			*(strchr(word, '/') || access(word, F_OK) == 0 ? &s->db : &s->epochs) =
				word;
			continue;
		}
		rc = set_key(set, word, n, word + n + 1, err);
		if (rc)
			return rc;
	}
	return 0;
}

int compared_set_open(struct compared_set *set, const char *text, const struct select *base,
		      struct err *err)
{
	struct select *s = &set->select;
	int rc;

	*set = (struct compared_set){.text = text, .words = xstrdup(text), .select = *base};
	for (enum owner_key k = 0; k < N_OWNER_KEYS; k++) {
		s->owners[k] = (opt_list){0};
		copy_list(&s->owners[k], &base->owners[k]);
	}
	s->events = s->paths = s->columns = (opt_list){0};
	copy_list(&s->events, &base->events);
	copy_list(&s->columns, &base->columns);
	copy_list(&s->paths, &base->paths);
	rc = sets_parse(set, err);
	if (!rc)
		rc = source_open(&set->source,
				 &(struct source_opts){.select = s, .threads = set->threads}, err);
	if (rc) {
		compared_set_close(set);
		return err_prefix(err, rc, "set '%s'", text);
	}
	return 0;
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
