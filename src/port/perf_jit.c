/* SPDX-License-Identifier: BSD-2-Clause */
/* See perf_jit.h.
 *
 * A recording says which dump a process mapped, but nothing of perf maps, and neither is in it:
 * they are where they were written, if at all.  Names of another program would be worse than none,
 * so a file is only believed when the recording says it was made on this host, and
 *   - it is the very inode that was mapped (dumps), or else
 *   - it is a plain file of root's or the user's, written since this machine began to run and since
 *     the process began, and made before perf closed the recording.
 * Below --symfs whoever says so vouches for what is there.
 *
 * Dumps tell when code was made, by CLOCK_MONOTONIC.  Where the samples have that clock too (perf
 * record -k mono) a dump is read on sample by sample; else it is read at once, as maps are, and an
 * address means who had it last.  One that nobody had twice means the same either way. */
#include "port/perf_jit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/plain_file.h"
#include "base/str.h"
#include "resolve/jitcode.h"

#define NS_PER_S 1000000000ull

/* Times of files are those of the kernel's last tick, and clocks are set. */
#define SLACK_NS NS_PER_S

/* So many dumps are followed by time; more are read at once. */
#define MOST_OPEN 256

struct perf_jit {
	uint32_t pid;	/* whose map it is, when is_map */
	uint64_t inode; /* with dev: the file's */
	uint64_t dev;
	bool is_map;
	int fd; /* -1: all was read */
	image_id image;
	struct jitcode *code;
};

void perf_jits_init(struct perf_jits *j, struct profile *p, const struct perfdata *pd)
{
	*j = (struct perf_jits){.profile = p, .pd = pd};
}

static void free_jit(struct perf_jit *jit)
{
	if (jit->fd >= 0)
		close(jit->fd);
	jitcode_free(jit->code);
	free(jit);
}

void perf_jits_release(struct perf_jits *j)
{
	vec_each (jit, &j->v)
		free_jit(*jit);
	vec_release(&j->v);
	*j = (struct perf_jits){0};
}

/* Files. */

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t = {0};

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static bool is_of_this_host(const struct perf_jits *j)
{
	struct utsname u;

	return j->pd->host && uname(&u) >= 0 && strcmp(u.nodename, j->pd->host) == 0;
}

/* Was the file at FD written by the process of Q, as far as times can tell? */
static bool is_of_the_time(const struct perf_jits *j, const struct perf_jit_query *q, int fd)
{
	const struct perfdata *pd = j->pd;
	uint64_t since = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME), written;
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &st) < 0 ||
	    (st.stx_uid && st.stx_uid != geteuid()))
		return false;
	if (pd->has_clock && q->begin_ns)
		since = pd->wall_ns - pd->clock_ns + q->begin_ns;
	written = (uint64_t)st.stx_mtime.tv_sec * NS_PER_S + st.stx_mtime.tv_nsec;
	if (written + SLACK_NS < since)
		return false;
	return !j->written_ns || !(st.stx_mask & STATX_BTIME) ||
	       (uint64_t)st.stx_btime.tv_sec * NS_PER_S + st.stx_btime.tv_nsec <=
		       j->written_ns + SLACK_NS;
}

static int open_plain(const char *root, const char *path, struct stat *ret)
{
	_mem_ char *whole = xasprintf("%s%s", root, path);
	_fd_ int fd = plain_file_open(whole, O_NOFOLLOW);

	return fd >= 0 && fstat(fd, ret) >= 0 ? take_fd(&fd) : -1;
}

static int open_told(const struct perf_jits *j, const struct perf_jit_query *q, struct stat *ret)
{
	const struct image_ref *d = q->dump;
	_mem_ char *path = d ? xstrdup(d->path) : xasprintf("/tmp/perf-%u.map", q->pid);
	_fd_ int fd = -1;

	if (path[0] != '/')
		return -1;
	if (j->symfs)
		fd = open_plain(j->symfs, path, ret);
	if (fd >= 0 || !is_of_this_host(j))
		return take_fd(&fd);
	fd = open_plain("", path, ret);
	if (fd < 0)
		return -1;
	if (d && d->ino)
		return ret->st_ino == d->ino && ((uint64_t)major(ret->st_dev) << 32 |
						 minor(ret->st_dev)) == d->dev
			       ? take_fd(&fd)
			       : -1;
	return is_of_the_time(j, q, fd) ? take_fd(&fd) : -1;
}

/* What they tell. */

/* Is the samples' clock the compilers' (PERFDATA_A_USE_CLOCKID, CLOCK_MONOTONIC)? */
static bool has_their_clock(const struct perf_jits *j)
{
	const struct perfdata_attr *a = j->pd->events.n ? &j->pd->events.v[0].attr : NULL;

	return a && perfdata_attr_has(a, PERFDATA_A_USE_CLOCKID) && a->clockid == CLOCK_MONOTONIC;
}

/* After an error what was read before it is good, and nothing more comes. */
static void read_on(struct perf_jit *jit, uint64_t until_ns)
{
	uint64_t before;

	do {
		before = jitcode_at(jit->code);
		if (jit->is_map ? jitcode_read_map(jit->code, jit->fd, true, NULL)
				: jitcode_read(jit->code, jit->fd, until_ns, NULL))
			until_ns = UINT64_MAX;
	} while (jitcode_at(jit->code) > before && jitcode_next_ns(jit->code) == UINT64_MAX);
	if (until_ns == UINT64_MAX) {
		close(jit->fd);
		jit->fd = -1;
	}
}

/* What tells of this very code: the file, as it is now. */
static image_id add_image(struct perf_jits *j, const struct perf_jit_query *q,
			  const struct stat *st)
{
	const uint64_t written =
		(uint64_t)st->st_mtim.tv_sec * NS_PER_S + (uint64_t)st->st_mtim.tv_nsec;
	const uint64_t id[] = {hash_pair(hash_pair(st->st_dev, st->st_ino), q->dump ? 0 : q->pid),
			       hash_pair(written, (uint64_t)st->st_size)};
	_mem_ char *path = xasprintf("[jit] %s", q->name);
	struct image im = {.kind = IMAGE_JIT, .flags = IMAGE_HASHED, .path = path};

	im.build_id.n_bytes = sizeof(id);
	memcpy(im.build_id.bytes, id, sizeof(id));
	return profile_intern_image(j->profile, &im);
}

uint32_t perf_jits_find(struct perf_jits *j, const struct perf_jit_query *q)
{
	struct perf_jit *jit;
	struct stat st;
	int fd = j->wanted ? open_told(j, q, &st) : -1;

	if (fd < 0)
		return 0;
	for (size_t i = 0; i < j->v.n; i++) {
		const struct perf_jit *k = j->v.v[i];

		if (k->inode == st.st_ino && k->dev == st.st_dev && k->is_map == !q->dump &&
		    (q->dump || k->pid == q->pid)) {
			close(fd);
			return (uint32_t)i + 1;
		}
	}
	jit = xcalloc(1, sizeof(*jit));
	*jit = (struct perf_jit){.pid = q->pid,
				 .inode = st.st_ino,
				 .dev = st.st_dev,
				 .is_map = !q->dump,
				 .fd = fd,
				 .code = jitcode_new()};
	if (q->dump && has_their_clock(j) && j->v.n < MOST_OPEN) {
		jitcode_trust_times(jit->code);
		read_on(jit, 0);
	} else {
		read_on(jit, UINT64_MAX);
	}
	/* It does not begin as a dump, or it is empty. */
	if (!jitcode_at(jit->code)) {
		free_jit(jit);
		return 0;
	}
	jit->image = add_image(j, q, &st);
	vec_push(&j->v, jit);
	return (uint32_t)j->v.n;
}

uint32_t perf_jits_advance(struct perf_jits *j, uint32_t i, uint64_t time_ns)
{
	struct perf_jit *jit = j->v.v[i];

	if (jit->fd >= 0 && jitcode_next_ns(jit->code) <= time_ns)
		read_on(jit, time_ns);
	return jitcode_n_replaced(jit->code);
}

place_id perf_jits_place(const struct perf_jits *j, uint32_t i, uint64_t avma, uint32_t flags)
{
	const struct perf_jit *jit = j->v.v[i];

	return profile_intern_place(j->profile, jit->image, jitcode_svma(jit->code, avma), flags);
}

void perf_jits_save(struct perf_jits *j, struct resolver *r)
{
	vec_each (jit, &j->v) {
		struct symtab st;

		if ((*jit)->fd >= 0)
			read_on(*jit, UINT64_MAX);
		jitcode_symbols((*jit)->code, &st);
		resolver_save_symtab(r, &j->profile->images.v[(*jit)->image], &st, NULL);
		symtab_release(&st);
	}
}
