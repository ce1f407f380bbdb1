/* SPDX-License-Identifier: BSD-2-Clause */
/* See live.h.
 *
 * A second is an excerpt of the recorder's profile (model/excerpt.h), so that it stays as it is
 * while the recorder goes on, and costs what came in it.  Seconds share a resolver, since looking
 * at a file anew costs more than all else.  A new resolver comes after NAMES_NS, so that its memory
 * is bounded, and sooner where generated code has samples, whose names change; the old one stays
 * while a second is shown that has names of it. */
#include "daemon/live.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cleanup.h"
#include "daemon/sampling.h"
#include "daemon/table_cache.h"
#include "model/excerpt.h"
#include "model/fresh.h"
#include "query/samples/query.h"
#include "query/samples/runtime.h"
#include "query/samples/source.h"

/* The first second waits so long for children to have read symbols, the others not at all. */
#define FIRST_WAIT_NS (500ull * 1000000)

#define NAMES_NS     (120ull * 1000000000)
#define JIT_NAMES_NS (5ull * 1000000000)

/* Arrays of so many bytes are mappings of their own.  By itself malloc(3) puts ever larger ones
 * into the heap, where those that grew leave holes: 18 of 45 MB after two minutes. */
#define ARRAY_BYTES (256 << 10)

/* A resolver and how many seconds, and whether LIVE, have it. */
struct live_names {
	struct resolver *resolver;
	unsigned n_users;
	uint64_t since_ns;
};

struct live {
	struct live_opts opts;
	struct sampling sampling;
	char *names_dir;	  /* NULL: there is none */
	int names_fd;		  /* it, locked: somebody lives who needs it */
	struct live_names *names; /* NULL: none yet */
	uint64_t taken_ns;
	bool is_open, any;
};

struct live_own {
	struct live_second second;
	struct profile profile;
	struct live_names *names;
	struct query query;
	struct select select;
	bool has_query;
};

static int open_sampling(struct live *l, struct err *err)
{
	int rc = sampling_open(&l->sampling, &l->opts.collect, NULL, "", err);

	l->is_open = true;
	l->sampling.names_only = true;
	if (rc >= 0) {
		profile_watch(&l->sampling.profile);
		rc = sampling_start(&l->sampling, err);
	}
	return rc;
}

static void close_sampling(struct live *l)
{
	if (l->is_open)
		sampling_release(&l->sampling);
	l->is_open = false;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	return remove(path) < 0 && errno != ENOENT ? -1 : 0;
}

static void remove_dir(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Opens directory PATH of this user's and locks it.  -EAGAIN: somebody else has it. */
static int lock_dir(const char *path)
{
	_fd_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st, there;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid())
		return -EPERM;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	/* Who swept it before it was locked has removed it. */
	if (lstat(path, &there) < 0 || there.st_ino != st.st_ino || there.st_dev != st.st_dev)
		return -ENOENT;
	return take_fd(&fd);
}

/* Removes the directories below TMP of programs that were killed. */
static void sweep_names(const char *tmp)
{
	_mem_ char *pattern = xasprintf("%s/dwell-live.??????", tmp);
	glob_t found;

	if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		_fd_ int fd = lock_dir(found.gl_pathv[i]);

		if (fd >= 0)
			remove_dir(found.gl_pathv[i]);
	}
	globfree(&found);
}

static int make_names_dir(struct live *l, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	int fd = -ENOENT;

	tmp = tmp && *tmp == '/' ? tmp : "/tmp";
	sweep_names(tmp);
	while (fd == -ENOENT || fd == -EAGAIN) { /* until nobody sweeps it away */
		_mem_ char *dir = xasprintf("%s/dwell-live.XXXXXX", tmp);

		if (!mkdtemp(dir))
			return err_errno(err, -errno, "%s: no room for names of procedures", dir);
		fd = lock_dir(dir);
		if (fd < 0)
			remove_dir(dir);
		else
			l->names_dir = take_ptr(&dir);
	}
	l->names_fd = fd;
	return fd < 0 ? err_errno(err, fd, "%s: no room for names of procedures", tmp) : 0;
}

int live_start(const struct live_opts *o, struct live **ret, struct err *err)
{
	struct live *l = xcalloc(1, sizeof(*l));
	int rc;

	l->opts = *o;
	mallopt(M_MMAP_THRESHOLD, ARRAY_BYTES);
	rc = make_names_dir(l, err);
	if (rc >= 0) { /* a recorder that is begun anew has its unwind tables at once */
		table_cache_start(l->names_dir);
		table_cache_keep();
		rc = open_sampling(l, err);
	}
	l->taken_ns = clock_mono_ns();
	if (rc < 0)
		live_stop(l);
	else
		*ret = l;
	return rc;
}

void live_wait(struct live *l, int timeout_ms, int fd)
{
	collector_wake_by(l->sampling.collector, fd);
	collector_wait(l->sampling.collector, timeout_ms);
	/* What woke it, such as a ring of mappings, would wake it again at once. */
	sampling_cycle(&l->sampling);
}

/* --- one second --- */

static bool has_owners(const struct select *s)
{
	for (unsigned k = 0; k < N_OWNER_KEYS; k++)
		if (s->owners[k].n)
			return true;
	return false;
}

/* Fills OWN's query.  Whoever the selection names may have no samples in this second. */
static int query_second(struct live_own *own, const struct select *s, struct err *err)
{
	int rc;

	profile_name_parts(&own->profile);
	rc = query_init(&own->query, &own->profile, own->names->resolver, s, err);
	if (rc == -ENOENT && has_owners(s)) {
		own->select = *s;
		memset(own->select.owners, 0, sizeof(own->select.owners));
		vec_each (v, &own->profile.values)
			v->count = v->sum = 0;
		rc = query_init(&own->query, &own->profile, own->names->resolver, &own->select,
				err);
	}
	own->has_query = rc >= 0;
	return rc;
}

static void let_go_of_names(struct live_names *n)
{
	if (!n || --n->n_users)
		return;
	resolver_free(n->resolver);
	free(n);
}

static bool has_generated_code(const struct profile *p)
{
	vec_each (im, &p->images)
		if (im->kind == IMAGE_JIT)
			return true;
	return p->scripts.n;
}

/* Children read symbols of new files; the second after has them. */
static bool names_are_late(void *ctx, const struct image *im)
{
	const struct live *l = ctx;

	return sampling_is_late(&l->sampling, im);
}

/* Gives OWN the names of L, new ones when it is time. */
static void take_names(struct live *l, struct live_own *own, uint64_t now_ns)
{
	const struct select *s = l->opts.select;
	const struct resolver_opts o = {
		.cache_dir = l->names_dir,
		.paths = s->paths.v,
		.n_paths = s->paths.n,
		.no_save = true,
		.no_rest = true,
		/* What a child did not read, such as a file with 40 million symbols, is not for
		 * this process to read either. */
		.kept_only = !s->paths.n,
		.is_late = names_are_late,
		.late_ctx = l,
	};
	const uint64_t most_ns = has_generated_code(&own->profile) ? JIT_NAMES_NS : NAMES_NS;

	if (l->names && now_ns - l->names->since_ns >= most_ns) {
		let_go_of_names(l->names);
		l->names = NULL;
	}
	if (!l->names) {
		l->names = xcalloc(1, sizeof(*l->names));
		*l->names = (struct live_names){resolver_new(&o), 1, now_ns};
	}
	own->names = l->names;
	own->names->n_users++;
	resolver_look_again(own->names->resolver);
}

/* Dictionaries that only grow are left behind with their recorder. */
static int begin_anew(struct live *l, struct err *err)
{
	/* With call paths there is more of it, and beginning takes 0.75 s of CPU. */
	const size_t most = l->sampling.has_calls ? 2 * LIVE_MOST_BYTES : LIVE_MOST_BYTES;

	if (sampling_bytes(&l->sampling) < most)
		return 0;
	close_sampling(l);
	malloc_trim(0);
	return open_sampling(l, err);
}

int live_take(struct live *l, struct live_second **ret, struct err *err)
{
	struct live_own *own = xcalloc(1, sizeof(*own));
	struct profile *p = &l->sampling.profile;
	const uint64_t now = clock_mono_ns();
	int rc;

	sampling_cycle(&l->sampling);
	sampling_settle(&l->sampling, l->names_dir);
	collector_take_account(l->sampling.collector);
	sampling_save_symbols(&l->sampling, l->names_dir, l->any ? 0 : FIRST_WAIT_NS);
	profile_init(&own->profile);
	profile_excerpt(&own->profile, p);
	p->meta.start_wall_ns = p->meta.end_wall_ns;
	profile_reset_values(p);
	take_names(l, own, now);
	if (!l->opts.select->runtime_frames)
		runtime_fold(&own->profile, own->names->resolver);
	runtime_name_scripts(&own->profile, own->names->resolver);
	own->second.seconds = (double)(now - l->taken_ns) / 1e9;
	l->taken_ns = now;
	l->any = true;
	rc = query_second(own, l->opts.select, err);
	if (rc >= 0)
		rc = samples_source_of(&own->second.source, &own->query, NULL, err);
	if (rc >= 0)
		rc = begin_anew(l, err);
	if (rc < 0)
		live_second_free(&own->second);
	else
		*ret = &own->second;
	return rc;
}

void live_second_free(struct live_second *s)
{
	struct live_own *own = (struct live_own *)s;

	if (!s)
		return;
	source_close(s->source);
	if (own->has_query)
		query_release(&own->query);
	let_go_of_names(own->names);
	profile_release(&own->profile);
	free(own);
}

const struct collector *live_collector(const struct live *l)
{
	return l->sampling.collector;
}

void live_stop(struct live *l)
{
	if (!l)
		return;
	close_sampling(l);
	let_go_of_names(l->names);
	if (l->names_dir) {
		table_cache_end();
		remove_dir(l->names_dir);
		close(l->names_fd);
	}
	free(l->names_dir);
	free(l);
}
