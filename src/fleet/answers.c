/* SPDX-License-Identifier: BSD-2-Clause */
/* See answers.h. */
#include "fleet/answers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Bytes that are kept of all answers; what is above is asked for again. */
#define MOST_KEPT ((size_t)128 << 20)

enum answer_state { ANSWER_ASKED, ANSWER_KEPT, ANSWER_NOT_KEPT };

struct fleet_answer {
	char *question; /* the server's name, a blank, the statement */
	enum answer_state state;
	uint8_t *bytes;
	size_t n;
};

struct fleet_answers {
	pthread_mutex_t lock; /* of all that follows, but for bytes that are kept: they stay */
	pthread_cond_t settled;
	VEC(struct fleet_answer *) all;
	size_t n_bytes;
};

struct fleet_answers *fleet_answers_new(void)
{
	struct fleet_answers *a = xcalloc(1, sizeof(*a));

	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->settled, NULL);
	return a;
}

void fleet_answers_free(struct fleet_answers *a)
{
	if (!a)
		return;
	vec_each (x, &a->all) {
		free((*x)->question);
		free((*x)->bytes);
		free(*x);
	}
	vec_release(&a->all);
	pthread_cond_destroy(&a->settled);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

/* The answer to QUESTION, which somebody has got; or a new one that the caller is to settle:
 * *RET_MINE. */
static struct fleet_answer *claim_answer(struct fleet_answers *a, const char *question,
					 bool *ret_mine)
{
	struct fleet_answer *found = NULL;

	pthread_mutex_lock(&a->lock);
	vec_each (x, &a->all)
		if (strcmp((*x)->question, question) == 0)
			found = *x;
	*ret_mine = !found;
	if (!found) {
		found = xcalloc(1, sizeof(*found));
		found->question = xstrdup(question);
		vec_push(&a->all, found);
	}
	while (!*ret_mine && found->state == ANSWER_ASKED)
		pthread_cond_wait(&a->settled, &a->lock);
	pthread_mutex_unlock(&a->lock);
	return found;
}

/* Keeps the N bytes that answer X if there is room; RC below 0: there is no answer. */
static void settle_answer(struct fleet_answers *a, struct fleet_answer *x, int rc,
			  const struct http_answer *answer)
{
	pthread_mutex_lock(&a->lock);
	x->state = rc >= 0 && answer->n <= MOST_KEPT - a->n_bytes ? ANSWER_KEPT : ANSWER_NOT_KEPT;
	if (x->state == ANSWER_KEPT) {
		x->n = answer->n;
		x->bytes = xmalloc(x->n + 1);
		memcpy(x->bytes, answer->bytes, x->n);
		a->n_bytes += x->n;
	}
	pthread_cond_broadcast(&a->settled);
	pthread_mutex_unlock(&a->lock);
}

int fleet_ask_once(struct fleet_answers *a, struct fleet_server *s, const char *sql,
		   const struct native_col *cols, size_t n_cols, native_row_fn *fn, void *ctx,
		   struct err *err)
{
	_mem_ char *question = NULL;
	struct http_answer answer = {0};
	struct fleet_answer *x;
	bool mine;
	int rc;

	if (!a)
		return fleet_ask(s, sql, cols, n_cols, fn, ctx, err);
	question = xasprintf("%s %s", fleet_server_name(s), sql);
	x = claim_answer(a, question, &mine);
	if (!mine && x->state == ANSWER_KEPT)
		return native_read(x->bytes, x->n, cols, n_cols, fn, ctx, err);
	rc = fleet_fetch(s, sql, &answer, err);
	if (mine)
		settle_answer(a, x, rc, &answer);
	return rc < 0 ? rc : native_read(answer.bytes, answer.n, cols, n_cols, fn, ctx, err);
}
