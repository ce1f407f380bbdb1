/* SPDX-License-Identifier: BSD-2-Clause */
/* See layouts.h. */
#include "daemon/layouts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_stamp.h"
#include "base/hash.h"
#include "base/sha256.h"
#include "base/vec.h"
#include "daemon/readers.h"
#include "daemon/table_cache.h"
#include "resolve/answer.h"
#include "resolve/elf_probe.h"

/* Files are remembered, so many.  Then root's stay, for which others may pose. */
#define MOST_LAYOUTS 1024

/* A file whose twin's code is not read in this time is another image: a file system that never
 * answers must not hold up another one's file. */
#define TWIN_WAIT_NS (1000ull * 1000000)

/* So long a file waits for its own code to be read, behind others'.  Then one of root's is believed
 * to be what it seems, and another user's is an image by itself. */
#define OWN_WAIT_NS (5000ull * 1000000)

/* A file that was read. */
struct known_layout {
	struct file_stamp stamp;
	int rc; /* what was wrong with it, or 0 */
	int fd; /* of the file, O_PATH; -1 */
	bool is_roots;
	bool settled;	   /* `layout` is what it stays */
	bool has_code;	   /* `code` is known */
	uint64_t since_ns; /* when it was first read, CLOCK_MONOTONIC */
	uint8_t code[IMAGE_DIGEST_BYTES];
	uint8_t base[IMAGE_DIGEST_BYTES]; /* its digest without code */
	struct image_layout layout;
};

static struct {
	VEC(struct known_layout) v;
	struct index by_stamp;
} layouts;

static bool layout_same(const void *owner, uint32_t i, const void *key)
{
	return file_stamp_same(&layouts.v.v[i].stamp, key);
}

static uint64_t stamp_hash(const struct file_stamp *s)
{
	return hash_pair(hash_pair(s->dev, s->ino), hash_pair(s->ctime_s, s->ctime_ns) + s->size);
}

static struct known_layout *layout_find(const struct file_stamp *s)
{
	uint32_t i = index_find(&layouts.by_stamp, stamp_hash(s), layout_same, NULL, s);

	return i == INDEX_NONE ? NULL : &layouts.v.v[i];
}

static void layout_close(struct known_layout *k)
{
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
}

/* Forgets files of users, and root's, too, when these are most. */
static void forget_some(void)
{
	size_t n = 0, n_roots = 0;

	vec_each (k, &layouts.v)
		n_roots += k->is_roots;
	vec_each (k, &layouts.v)
		if (k->is_roots && n_roots <= MOST_LAYOUTS / 2)
			layouts.v.v[n++] = *k;
		else
			layout_close(k);
	layouts.v.n = n;
	index_clear(&layouts.by_stamp);
	vec_each (k, &layouts.v)
		index_add(&layouts.by_stamp, stamp_hash(&k->stamp), (uint32_t)(k - layouts.v.v));
}

/* A descriptor of FD's file for later, unless they run short; -1. */
static int layout_dup(int fd)
{
	struct rlimit l;
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	if (own >= 0 && getrlimit(RLIMIT_NOFILE, &l) >= 0 && (rlim_t)own > l.rlim_cur / 2) {
		close(own);
		return -1;
	}
	return own;
}

static struct known_layout *layout_add(const struct file_stamp *s, bool is_roots, int fd)
{
	if (layouts.v.n == MOST_LAYOUTS)
		forget_some();
	vec_push(&layouts.v, (struct known_layout){.stamp = *s,
						   .fd = layout_dup(fd),
						   .is_roots = is_roots,
						   .since_ns = clock_mono_ns()});
	index_add(&layouts.by_stamp, stamp_hash(s), (uint32_t)layouts.v.n - 1);
	return &layouts.v.v[layouts.v.n - 1];
}

void layouts_end(void)
{
	vec_each (k, &layouts.v)
		layout_close(k);
	vec_release(&layouts.v);
	index_release(&layouts.by_stamp);
}

/* Reads the layout of FD's file; -EAGAIN. */
static int read_layout(int fd, struct image_layout *ret, struct err *err)
{
	struct file_map m = {0};
	struct file_note note = {0};
	struct rd r;
	size_t n;
	int rc;

	if (!readers_live())
		return elf_probe(fd, ret, err);
	if (table_cache_load_note(fd, &note)) {
		*ret = note.layout;
		return 0;
	}
	rc = readers_ask(READ_LAYOUT, fd, NULL, 0, 0, &m, err);
	if (rc < 0)
		return rc;
	r.p = readers_answer(&m, &n);
	r = rd_init(r.p, n);
	if (!answer_get_layout(&r, &note.layout))
		rc = err_set(err, -EBADMSG, "the answer about a file's headers is damaged");
	file_map_close(&m);
	if (rc < 0)
		return rc;
	*ret = note.layout;
	table_cache_save_note(fd, readers_stamp(), readers_nosuid(), &note);
	return 0;
}

/* Reads the code of K's file; -EAGAIN. */
static int read_code(struct known_layout *k)
{
	struct file_map m = {0};
	const uint8_t *bytes;
	size_t n;
	int rc;

	if (k->has_code)
		return 0;
	if (k->fd < 0)
		return -ENOENT;
	if (!readers_live()) {
		rc = elf_probe_code(k->fd, k->code, NULL);
	} else {
		rc = readers_ask(READ_DIGEST, k->fd, NULL, 0, 0, &m, NULL);
		if (rc < 0)
			return rc;
		bytes = readers_answer(&m, &n);
		if (n == IMAGE_DIGEST_BYTES)
			memcpy(k->code, bytes, n);
		else
			rc = -EBADMSG;
		file_map_close(&m);
	}
	k->has_code = rc >= 0;
	return rc;
}

/* The settled file that has K's identity; NULL. */
static struct known_layout *find_twin(const struct known_layout *k)
{
	vec_each (o, &layouts.v)
		if (o->settled && o->rc >= 0 && image_digest_same(o->layout.digest, k->base) &&
		    build_id_same(&o->layout.build_id, &k->layout.build_id))
			return o;
	return NULL;
}

/* The digest of a file whose code cannot be read: no other file has it. */
static void make_digest(struct known_layout *k)
{
	static const char tag[] = "dwell image unread";
	struct sha256 h;

	sha256_begin(&h);
	sha256_add(&h, tag, sizeof(tag) - 1);
	sha256_add(&h, k->base, sizeof(k->base));
	sha256_add_u64(&h, k->stamp.dev);
	sha256_add_u64(&h, k->stamp.ino);
	sha256_add_u64(&h, k->stamp.ctime_s);
	sha256_add_u64(&h, k->stamp.ctime_ns);
	sha256_end(&h, k->code, sizeof(k->code));
}

/* Decides which image K's file is; -EAGAIN. */
static int settle(struct known_layout *k)
{
	struct known_layout *twin = image_digest_known(k->base) ? find_twin(k) : NULL;
	const uint64_t age_ns = clock_mono_ns() - k->since_ns;
	int own, others;

	if (!twin) {
		k->settled = true;
		return 0;
	}
	own = read_code(k);
	others = read_code(twin);
	if ((own == -EAGAIN && age_ns < OWN_WAIT_NS) ||
	    (own >= 0 && others == -EAGAIN && age_ns < TWIN_WAIT_NS))
		return -EAGAIN;
	k->settled = true;
	if (own == -EPIPE || (own == -EAGAIN && k->is_roots) ||
	    (own >= 0 && others >= 0 && image_digest_same(k->code, twin->code)))
		return 0;
	if (own < 0)
		make_digest(k);
	memcpy(k->layout.digest, k->code, sizeof(k->code));
	return 0;
}

int layouts_probe(int fd, struct image_layout *ret, struct err *err)
{
	struct known_layout *k;
	struct file_facts facts;
	struct file_stamp s;
	int rc = file_stamp_get(fd, &s, &facts);

	if (rc < 0)
		return err_errno(err, rc, "statx");
	k = layout_find(&s);
	if (!k) {
		rc = read_layout(fd, ret, err);
		if (rc == -EAGAIN || rc == -EPIPE || rc == -ETIMEDOUT)
			return rc;
		k = layout_add(&s, facts.uid == 0, fd);
		k->rc = rc;
		k->layout = *ret;
		memcpy(k->base, ret->digest, sizeof(k->base));
	}
	if (k->rc < 0) {
		layout_close(k);
		*ret = k->layout;
		return err_set(err, k->rc, "its headers could not be read");
	}
	if (!k->settled) {
		rc = settle(k);
		if (rc < 0)
			return rc;
	}
	*ret = k->layout;
	return 0;
}
