/* SPDX-License-Identifier: BSD-2-Clause */
/* See perf_pipe.h.
 *
 * Records go in batches, of which there are a few: the lock is taken once for some thousand, and
 * the reader never is far ahead.  Batches [n_done, n_full) of the ring are the other thread's;
 * chunks are counted by the reader only, which lets go of a batch's when it is done. */
#include "port/perf_pipe.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"

/* The other thread read a record long ago, into another CPU's cache: it is asked for FAR_AHEAD of
 * its turn, and what it is going to look at AHEAD of it. */
enum { N_BATCHES = 4, BATCH = 4096, AHEAD = 4, FAR_AHEAD = 8, LINE_BYTES = 64 };

struct batch {
	size_t n;
	struct {
		const uint8_t *p;
		uint64_t off;
	} v[BATCH];
};

struct perf_pipe {
	struct perf_queue *queue;
	int (*put)(void *ctx, const uint8_t *p, uint64_t off, struct err *err);
	void (*expect)(void *ctx, const uint8_t *p);
	void *ctx;
	pthread_t thread;
	struct batch *batches;
	uint64_t n_free; /* batches that the reader has let go of */
	/* Under the lock: */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t n_full, n_done;
	bool ends;
	int rc;
	struct err err;
};

static int put_all(struct perf_pipe *p, const struct batch *b, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < b->n && rc >= 0; i++) {
		const uint8_t *later = b->v[i + FAR_AHEAD < b->n ? i + FAR_AHEAD : i].p;

		__builtin_prefetch(later);
		__builtin_prefetch(later + LINE_BYTES);
		if (i + AHEAD < b->n)
			p->expect(p->ctx, b->v[i + AHEAD].p);
		rc = p->put(p->ctx, b->v[i].p, b->v[i].off, err);
	}
	return rc;
}

static void *perf_pipe_run(void *arg)
{
	struct perf_pipe *p = arg;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		struct err err = {0};
		int rc = p->rc;

		while (p->n_done == p->n_full && !p->ends)
			pthread_cond_wait(&p->changed, &p->lock);
		if (p->n_done == p->n_full)
			break;
		pthread_mutex_unlock(&p->lock);
		if (rc >= 0)
			rc = put_all(p, &p->batches[p->n_done % N_BATCHES], &err);
		pthread_mutex_lock(&p->lock);
		if (rc < 0 && p->rc == 0) {
			p->rc = rc;
			p->err = err;
		}
		p->n_done++;
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

struct perf_pipe *perf_pipe_new(struct perf_queue *q,
				int (*put)(void *ctx, const uint8_t *p, uint64_t off,
					   struct err *err),
				void (*expect)(void *ctx, const uint8_t *p), void *ctx)
{
	struct perf_pipe *p;
	sigset_t all, before;
	int e;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->queue = q;
	p->put = put;
	p->expect = expect;
	p->ctx = ctx;
	p->batches = xcalloc(N_BATCHES, sizeof(*p->batches));
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	sigfillset(&all); /* signals are the first thread's business */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	e = pthread_create(&p->thread, NULL, perf_pipe_run, p);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (e) {
		free(p->batches);
		free(p);
		return NULL;
	}
	return p;
}

static struct batch *filling(struct perf_pipe *p)
{
	return &p->batches[p->n_full % N_BATCHES];
}

/* Passes the batch at hand on and waits until no more than MOST are not done; lets go of those that
 * are. */
static int perf_pipe_pass(struct perf_pipe *p, uint64_t most, struct err *err)
{
	uint64_t n_done;
	int rc;

	pthread_mutex_lock(&p->lock);
	if (filling(p)->n) {
		p->n_full++;
		pthread_cond_broadcast(&p->changed);
	}
	while (p->n_full - p->n_done > most)
		pthread_cond_wait(&p->changed, &p->lock);
	n_done = p->n_done;
	rc = p->rc;
	if (rc < 0 && err)
		*err = p->err;
	pthread_mutex_unlock(&p->lock);
	for (; p->n_free < n_done; p->n_free++) {
		struct batch *b = &p->batches[p->n_free % N_BATCHES];

		for (size_t i = 0; i < b->n; i++)
			perf_chunk_unref(p->queue, perf_chunk_of(b->v[i].p));
		b->n = 0;
	}
	return rc;
}

int perf_pipe_add(struct perf_pipe *p, const uint8_t *bytes, uint64_t off, struct err *err)
{
	struct batch *b = filling(p);

	perf_chunk_of(bytes)->n_refs++;
	b->v[b->n].p = bytes;
	b->v[b->n++].off = off;
	return b->n == BATCH ? perf_pipe_pass(p, N_BATCHES - 1, err) : 0;
}

int perf_pipe_wait(struct perf_pipe *p, struct err *err)
{
	return perf_pipe_pass(p, 0, err);
}

void perf_pipe_free(struct perf_pipe *p)
{
	if (!p)
		return;
	perf_pipe_pass(p, 0, NULL);
	pthread_mutex_lock(&p->lock);
	p->ends = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p->batches);
	free(p);
}
