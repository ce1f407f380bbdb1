/* SPDX-License-Identifier: BSD-2-Clause */
/* Which processes have HotSpot, for the walker.
 *
 * Its compiled code lies in no file and keeps no frame pointers, so a walk that begins there never
 * comes to libjvm.so, from whose table it would learn whose code it is.  The walker asks instead,
 * once it has met code that lies in no file; the answer is a key among those of files (record.h),
 * under which it finds the library's image and where the process has it. */
#include "collect/calls/unwinds_impl.h"

#include <string.h>

#include "machine/procfs.h"

#define MOST_RUNTIMES 1024

/* A process without the library is looked at again: after a cycle at first, as it may be about to
 * load it or its file is being read, later after this many. */
#define LOOK_AGAIN_CYCLES 8

#define LIBRARY "/libjvm.so"

struct library_search {
	struct unwinds *u;
	struct runtime_process *p;
};

static void match_library(void *ctx, const struct procfs_map *m)
{
	struct library_search *s = ctx;
	const char *name = strrchr(m->path, '/');
	uint32_t code;

	if (s->p->number || !name || strncmp(name, LIBRARY, strlen(LIBRARY)) != 0)
		return;
	code = images_intern(s->u->images, &(struct image_ref){.dev = m->dev,
							       .ino = m->ino,
							       .path = m->path,
							       .pid = s->p->tgid,
							       .start = m->start,
							       .end = m->end});
	if (code == INDEX_NONE || s->u->images->codes.v[code].kind != CODE_FILE)
		return;
	s->p->number = unwinds_number_of(s->u, code);
	s->p->bias = m->off - m->start;
}

/* A slot for TASK's key; INDEX_NONE when there is none. */
static uint32_t free_slot(const struct unwinds *u, uint64_t task)
{
	const uint32_t hash = image_key_hash(task, RUNTIME_DEV, 0);

	for (uint32_t i = 0; i < IMAGE_PROBES; i++) {
		const uint32_t at = (hash + i) & (u->n_keys - 1);
		const struct image_key *k = &u->keys[at];

		if (!k->number || (k->dev == RUNTIME_DEV && !k->ino))
			return at;
	}
	return INDEX_NONE;
}

void unwinds_show_runtimes(struct unwinds *u)
{
	vec_each (p, &u->runtimes) {
		const struct shared_table *t;
		struct image_key *k;

		if (!p->number || p->slot != INDEX_NONE || !u->table_of[p->number])
			continue;
		t = &u->tables.v[u->table_of[p->number] - 1];
		if (t->state != TABLE_READY || !INTERPRETER_IS_HOTSPOT(t->interpreter.number))
			continue;
		p->slot = free_slot(u, p->task);
		if (p->slot == INDEX_NONE)
			continue;
		k = &u->keys[p->slot];
		k->ino = p->task;
		k->dev = RUNTIME_DEV;
		k->generation = (uint32_t)(p->bias >> 32);
		k->spare = (uint32_t)p->bias;
		__atomic_store_n(&k->number, p->number, __ATOMIC_RELEASE);
		u->changed = true;
	}
}

/* Gives up the keys of processes that are gone.  A slot stays taken, for what lies behind it, and
 * another process's key may have it. */
static void forget_dead(struct unwinds *u)
{
	size_t n = 0;
	uint32_t uid;

	vec_each (p, &u->runtimes) {
		if (procfs_uid(p->tgid, &uid) >= 0)
			u->runtimes.v[n++] = *p;
		else if (p->slot != INDEX_NONE)
			u->keys[p->slot].ino = 0;
	}
	u->runtimes.n = n;
}

static struct runtime_process *find_runtime(struct unwinds *u, uint64_t task)
{
	vec_each (p, &u->runtimes)
		if (p->task == task)
			return p;
	return NULL;
}

/* Whether P was looked at a moment ago. */
static bool looked_lately(const struct unwinds *u, const struct runtime_process *p)
{
	const uint32_t wait = p->n_asked < LOOK_AGAIN_CYCLES ? p->n_asked : LOOK_AGAIN_CYCLES;

	return p->asked_at + wait > *u->mem.clock;
}

bool unwinds_serve_runtime(struct unwinds *u, const struct image_request *r)
{
	struct runtime_process *p = find_runtime(u, r->ino);
	struct library_search s = {.u = u};

	if (!p && u->runtimes.n >= MOST_RUNTIMES)
		forget_dead(u);
	if (!p && u->runtimes.n >= MOST_RUNTIMES)
		return false;
	if (p && (p->number || looked_lately(u, p)))
		return false;
	if (!p) {
		vec_push(&u->runtimes,
			 ((struct runtime_process){
				 .task = r->ino, .tgid = r->tgid, .slot = INDEX_NONE}));
		p = &u->runtimes.v[u->runtimes.n - 1];
	}
	p->asked_at = *u->mem.clock;
	p->n_asked++;
	s.p = p;
	procfs_each_map(r->tgid, match_library, &s);
	if (!p->number)
		return false;
	unwinds_want_table(u, &u->tables.v[u->table_of[p->number] - 1], r->tgid);
	unwinds_show_runtimes(u);
	return true;
}
