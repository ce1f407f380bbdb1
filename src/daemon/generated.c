/* SPDX-License-Identifier: BSD-2-Clause */
/* See generated.h.
 *
 * A dump belongs to the file, not to the process: one that forks shares with its child the code it
 * had generated.  A map belongs to the process it is named after.  Either is read in a cycle when
 * the first sample of that cycle falls into code it may tell of, so a process that runs no
 * generated code costs nothing.  What a dump says follows from its bytes alone (jitcode.h), so it
 * can be forgotten and read again; a map may be written anew, so it is not.
 *
 * Where children read users' files, a cycle waits for their answers CYCLE_WAIT_NS in all: samples
 * wait in the log meanwhile.  What comes later is used by the next cycle. */
#include "daemon/generated.h"

#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/str.h"
#include "machine/procfs.h"
#include "daemon/readers.h"
#include "resolve/jitcode.h"

/* Memory of all code that is followed. */
#define MOST_BYTES ((size_t)32 << 20)

/* A cycle waits so long for all answers together. */
#define CYCLE_WAIT_NS (100ull * 1000000)

/* A flush waits so long for the last of all maps and dumps to be read. */
#define SAVE_WAIT_NS 2000000000ull

/* Runtimes write names late, so that a file is read for so long after the last sample in it.
 * Symbols that are the same are saved again after this time: somebody may have removed them. */
#define LATE_NS 60000000000ull

struct teller {
	uint32_t cycle; /* of the last sample; 0: there was none */
	bool unread;	/* nothing in it could be used: it is something else */
	bool used;	/* since it was last settled */
	bool settled;	/* all that its samples need is saved */
	bool is_map;
	bool cut;      /* not all of it is known, which was said */
	char name[48]; /* for people */
	int fd;	       /* borrowed: of struct images or procs */
	image_id image;
	struct jitcode *code; /* NULL: not read yet, or forgotten */
	uint32_t n_replaced;  /* of code, when it was last asked */
	uint64_t used_ns;     /* when the last sample was in it */
	size_t n_saved;	      /* symbols, at SAVED_AT_NS */
	uint64_t saved_at_ns;
	struct file_map answer; /* of a child; its bytes are read up to REST */
	struct rd rest;
	bool under_way;	 /* a question is */
	bool more;	 /* the file has more than ANSWER */
	bool asked_last; /* the question under way asks about the end as well */
};

/* A dump's identity is this recording's own, like that of code of perf maps. */
static image_id add_image(const struct procs *ps, const struct proc *p)
{
	const uint64_t id[] = {ps->salt, hash_pair(~ps->salt, p->dump)};
	struct image im = {.kind = IMAGE_JIT, .flags = IMAGE_HASHED};
	struct str path = {0};
	image_id ret;

	im.build_id.n_bytes = sizeof(id);
	memcpy(im.build_id.bytes, id, sizeof(id));
	str_addf(&path, "[jit] %s", profile_str(ps->profile, p->comm));
	im.path = str_get(&path);
	ret = profile_intern_image(ps->profile, &im);
	str_release(&path);
	return ret;
}

/* Element I of a list of tellers, made at first sight. */
#define get_teller(list, i)                                                                        \
	({                                                                                         \
		while ((list)->n <= (i))                                                           \
			vec_push(list, NULL);                                                      \
		if (!(list)->v[i])                                                                 \
			(list)->v[i] = xcalloc(1, sizeof(struct teller));                          \
		(list)->v[i];                                                                      \
	})

/* Asks a child what was written since; -EAGAIN when it has not answered by END_NS. */
static int ask_child(struct teller *t, bool last, uint64_t end_ns, bool *ret_last, struct err *err)
{
	struct wr question = {0};
	const uint8_t *bytes;
	size_t n;
	int rc;

	/* What is under way was asked earlier, and is answered first. */
	if (!t->under_way)
		t->asked_last = last;
	jitcode_question(t->code, t->is_map, t->asked_last, &question);
	rc = readers_ask(READ_CODE, t->fd, question.v, question.n, end_ns, &t->answer, err);
	wr_release(&question);
	t->under_way = rc == -EAGAIN;
	if (rc < 0)
		return rc;
	*ret_last = t->asked_last;
	bytes = readers_answer(&t->answer, &n);
	t->rest = rd_init(bytes, n);
	return jitcode_begin(t->code, &t->rest, &t->more, err);
}

/* Takes what children answer, until END_NS. */
static int read_by_child(struct teller *t, uint64_t until_ns, bool last, uint64_t end_ns,
			 struct err *err)
{
	for (;;) {
		bool was_last = false;
		int rc = jitcode_take(t->code, &t->rest, until_ns, err);

		if (rc < 0 || rd_left(&t->rest)) /* the rest is of later */
			return rc;
		file_map_close(&t->answer);
		rc = ask_child(t, last, end_ns, &was_last, err);
		if (rc < 0)
			return rc == -EAGAIN ? 0 : rc;
		rc = jitcode_take(t->code, &t->rest, until_ns, err);
		if (rc < 0 || rd_left(&t->rest))
			return rc;
		if (!t->more && (!last || was_last))
			return 0;
	}
}

/* Reads what was written, and was so by UNTIL_NS; at the LAST time without leaving a rest.  Waits
 * for children until END_NS. */
static void read_on(struct teller *t, uint64_t until_ns, bool last, uint64_t end_ns)
{
	struct err err = {0};
	int rc = -1;

	if (!t->code)
		t->code = jitcode_new();
	if (t->fd >= 0 && readers_live())
		rc = read_by_child(t, until_ns, last, end_ns, &err);
	else if (t->fd >= 0)
		rc = t->is_map ? jitcode_read_map(t->code, t->fd, last, &err)
			       : jitcode_read(t->code, t->fd, until_ns, &err);
	/* After an error what was read before it is good, and nothing more comes. */
	if (rc < 0 && !jitcode_at(t->code))
		t->unread = true;
	if (rc == -E2BIG && !t->cut) {
		t->cut = true;
		readers_say("%s: %s; later procedures have no names", t->name, err.msg);
	}
}

/* Until when the answers of this cycle are waited for. */
static uint64_t cycle_end_ns(struct generated *g, uint32_t cycle)
{
	if (g->cycle != cycle)
		g->cycle_end_ns = clock_mono_ns() + CYCLE_WAIT_NS;
	g->cycle = cycle;
	return g->cycle_end_ns;
}

static bool generated_ask(struct generated *g, struct teller *t, const struct frame_query *q,
			  struct source_place *ret)
{
	if (!t->unread &&
	    (t->cycle != q->procs->cycle || !t->code || jitcode_next_ns(t->code) <= q->time_ns))
		read_on(t, q->time_ns, false, cycle_end_ns(g, q->procs->cycle));
	if (t->unread)
		return false;
	t->cycle = q->procs->cycle;
	t->used = true;
	t->settled = false;
	t->used_ns = q->time_ns;
	q->procs->n_changes += jitcode_n_replaced(t->code) - t->n_replaced;
	t->n_replaced = jitcode_n_replaced(t->code);
	ret->svma = jitcode_svma(t->code, q->avma);
	return true;
}

static bool ask_dump(struct generated *g, const struct frame_query *q, struct source_place *ret)
{
	const struct proc *p = &q->procs->v.v[q->proc];
	struct teller *t = get_teller(&g->dumps, p->dump - 1);
	bool first = !t->cycle;

	t->fd = q->procs->images->codes.v[p->dump - 1].fd;
	if (first)
		snprintf(t->name, sizeof(t->name), "jitdump of process %u", p->tgid);
	if (!generated_ask(g, t, q, ret))
		return false;
	if (first)
		t->image = add_image(q->procs, p);
	ret->image = t->image;
	return true;
}

static bool ask_map(struct generated *g, const struct frame_query *q, struct source_place *ret)
{
	image_id image = procs_anon_image(q->procs, q->proc);
	uint32_t jit = q->procs->v.v[q->proc].jit;
	struct teller *t;

	if (!jit)
		return false;
	t = get_teller(&g->maps, jit - 1);
	t->is_map = true;
	if (!t->cycle)
		snprintf(t->name, sizeof(t->name), "perf map of process %u",
			 q->procs->v.v[q->proc].tgid);
	t->fd = q->procs->jits.v[jit - 1].fd;
	ret->image = t->image = image;
	return generated_ask(g, t, q, ret);
}

static bool generated_find(struct frame_source *s, const struct frame_query *q,
			   struct source_place *ret)
{
	struct generated *g = (struct generated *)s; /* its first member */

	if (!q->map || q->procs->images->codes.v[q->map->code].kind != CODE_ANON)
		return false;
	return (q->procs->v.v[q->proc].dump && ask_dump(g, q, ret)) || ask_map(g, q, ret);
}

struct frame_source *generated_init(struct generated *g)
{
	jitcode_limit_all(MOST_BYTES);
	*g = (struct generated){.source = {.find = generated_find}};
	return &g->source;
}

static void release_teller(struct teller *t)
{
	if (t) {
		jitcode_free(t->code);
		file_map_close(&t->answer);
	}
	free(t);
}

void generated_release(struct generated *g)
{
	vec_each (t, &g->dumps)
		release_teller(*t);
	vec_each (t, &g->maps)
		release_teller(*t);
	vec_release(&g->dumps);
	vec_release(&g->maps);
}

static bool is_followed(const struct teller *t)
{
	return t && t->code && !t->unread;
}

/* Saves what T's samples need.  `dwell top` asks each second: a process that had no sample for a
 * while costs nothing then, and one without new code little. */
static void daemon_generated_save(struct teller *t, const struct procs *ps,
				  struct symbol_sources *symbols, uint64_t end_ns)
{
	const uint64_t now_ns = clock_mono_ns();
	struct symtab st;

	if (t->settled)
		return;
	read_on(t, UINT64_MAX, true, end_ns);
	t->settled = !t->under_way && now_ns > t->used_ns + LATE_NS;
	if (jitcode_n_symbols(t->code) == t->n_saved && now_ns - t->saved_at_ns < LATE_NS)
		return;
	t->n_saved = jitcode_n_symbols(t->code);
	t->saved_at_ns = now_ns;
	jitcode_symbols(t->code, &st);
	image_symbols_save_symtab(symbols, &ps->profile->images.v[t->image], &st, NULL);
	symtab_release(&st);
}

/* Saves a map that is not followed: it has run-time addresses. */
static void save_map(const struct jit *jit, const struct image *im, uint64_t end_ns,
		     struct symbol_sources *symbols)
{
	struct file_map m = {0};
	_fd_ int opened = -1;
	const uint8_t *bytes;
	size_t n;

	if (!readers_live()) {
		image_symbols_save_jit(symbols, im, (pid_t)jit->pid, jit->fd, NULL);
		return;
	}
	if (jit->fd < 0)
		opened = procfs_open_perf_map(jit->pid, true);
	if (readers_ask(READ_MAP, jit->fd < 0 ? opened : jit->fd, NULL, 0, end_ns, &m, NULL) < 0)
		return;
	bytes = readers_answer(&m, &n);
	image_symbols_keep_map(symbols, im, bytes, n, NULL);
	file_map_close(&m);
}

void generated_save(struct generated *g, const struct procs *ps, struct symbol_sources *symbols)
{
	const uint64_t end_ns = clock_mono_ns() + SAVE_WAIT_NS;

	vec_each (t, &g->dumps)
		if (is_followed(*t))
			daemon_generated_save(*t, ps, symbols, end_ns);
	for (size_t i = 0; i < ps->jits.n; i++) {
		const struct jit *jit = &ps->jits.v[i];

		if (i < g->maps.n && is_followed(g->maps.v[i]))
			daemon_generated_save(g->maps.v[i], ps, symbols, end_ns);
		else /* too many to follow all */
			save_map(jit, &ps->profile->images.v[jit->image], end_ns, symbols);
	}
}

/* Answers take memory even when no sample comes for them. */
static void take_answer(struct teller *t)
{
	if (t && t->under_way && is_followed(t))
		read_on(t, clock_mono_ns(), false, 0);
}

void generated_settle(struct generated *g, const struct procs *ps, struct symbol_sources *symbols)
{
	const uint64_t end_ns = clock_mono_ns() + SAVE_WAIT_NS;

	vec_each (t, &g->maps)
		take_answer(*t);
	vec_each (t, &g->dumps) {
		if (!*t)
			continue;
		take_answer(*t);
		if (is_followed(*t) && !(*t)->used && !(*t)->under_way) {
			daemon_generated_save(*t, ps, symbols, end_ns);
			if ((*t)->under_way)
				continue; /* the answer belongs to this code */
			jitcode_free((*t)->code);
			file_map_close(&(*t)->answer);
			(*t)->rest = (struct rd){0};
			(*t)->code = NULL;
			(*t)->n_replaced = 0;
			(*t)->n_saved = 0;
		}
		(*t)->used = false;
	}
}
