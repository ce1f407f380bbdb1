/* SPDX-License-Identifier: BSD-2-Clause */
/* See images.h.
 *
 * Two mappings are of one file when the kernel told the same build-id and path, or, where it tells
 * no build-id, the same device, inode, inode generation and path.  Their profile image is then
 * found by content. */
#include "machine/images.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/plain_file.h"
#include "base/root_file.h"
#include "base/str.h"
#include "machine/images_impl.h"

static const char deleted_suffix[] = " (deleted)"; /* fs/d_path.c */

struct key {
	const struct image_ref *ref;
	string_id path;
};

static bool same(const void *owner, uint32_t i, const void *k)
{
	const struct mapped_code *c = &((const struct images *)owner)->codes.v[i];
	const struct key *key = k;

	return c->path == key->path && build_id_same(&c->told, &key->ref->build_id) &&
	       c->dev == key->ref->dev && c->ino == key->ref->ino &&
	       c->ino_generation == key->ref->ino_generation;
}

static uint64_t hash_key(const struct build_id *id, uint64_t dev, uint64_t ino, string_id path)
{
	return hash_pair(hash_bytes(id->bytes, id->n_bytes) + dev, hash_pair(ino, path));
}

void images_init(struct images *im, struct profile *p, image_probe_fn *probe,
		 const struct image_layout *vdso)
{
	*im = (struct images){.profile = p, .probe = probe};
	if (vdso) {
		im->vdso.has_layout = true;
		im->vdso.layout = *vdso;
	}
}

void images_release(struct images *im)
{
	vec_each (c, &im->codes)
		if (c->fd >= 0)
			close(c->fd);
	vec_release(&im->codes);
	vec_release(&im->numbered);
	vec_release(&im->asked);
	index_release(&im->ix);
}

size_t images_bytes(const struct images *im)
{
	return vec_bytes(&im->codes) + index_bytes(&im->ix) + vec_bytes(&im->numbered) +
	       vec_bytes(&im->asked);
}

/* Opens PATH if it is a regular file, without touching it if it is anything else (opening a device
 * or a FIFO can have effects): for reading, or with O_PATH where somebody else reads.  ROOT: as a
 * process sees it whose root that is; NULL: as this one does.  IS_LINK: PATH is a link of /proc to
 * an open file, which leads there without asking its file system. */
static int open_regular(const struct images *im, const char *root, const char *path, bool is_link,
			struct mapped_code *ret)
{
	struct file_facts facts;
	int at, fd;

	if (im->asks && !is_link)
		at = root_file_open_cached(root, path, 0);
	else
		at = root ? root_file_open(root, path, O_PATH) : open(path, O_PATH | O_CLOEXEC);
	if (at < 0)
		return -1;
	if (file_stamp_get(at, &ret->stamp, &facts) < 0 || !facts.is_regular) {
		close(at);
		return -1;
	}
	ret->owner = facts.uid;
	if (im->asks)
		return at;
	fd = plain_file_reopen(at);
	close(at);
	return fd;
}

/* Device numbers differ between stat and mappings on some file systems: the inode must do. */
static bool inode_matches(const struct mapped_code *c, uint64_t ino)
{
	return !ino || c->stamp.ino == ino;
}

/* Linux, tools/perf/util/jitdump.c, jit_detect. */
bool images_is_dump(const char *path)
{
	const char *name = str_basename(path);
	size_t n = str_starts(name, "jit-") ? strspn(name + 4, "0123456789") : 0;

	return n && strcmp(name + 4 + n, ".dump") == 0;
}

/* Is the file that has C's layout the one that C was told to be? */
static bool layout_matches(const struct mapped_code *c)
{
	if (c->told.n_bytes && !c->layout.hashed)
		return build_id_same(&c->told, &c->layout.build_id);
	return inode_matches(c, c->ino);
}

/* The file that somebody else finds. */
static void open_found(struct images *im, struct mapped_code *c, const struct image_ref *ref)
{
	int fd = im->find_file(im->find_ctx, ref, profile_str(im->profile, c->path));

	if (fd < 0)
		return;
	c->has_layout = im->probe(fd, &c->layout, NULL) == 0;
	if (c->has_layout && im->n_open < IMAGES_MAX_OPEN) {
		c->fd = fd;
		im->n_open++;
	} else {
		close(fd);
	}
}

/* C's file at FD is C's own from now on, or is closed. */
static void keep_open(struct images *im, struct mapped_code *c, int fd, bool keep)
{
	if (keep && (im->n_open < IMAGES_MAX_OPEN || c->asked)) {
		c->fd = fd;
		im->n_open++;
	} else {
		close(fd);
	}
}

/* Tries the ways to a mapped file, surest first: the mapping itself (also when deleted), the
 * process's view of the path, our own view of it. */
static void open_code(struct images *im, struct mapped_code *c, const struct image_ref *ref)
{
	const char *path = profile_str(im->profile, c->path);
	char mapping[80], root[40];
	const struct {
		const char *root, *path;
	} try[] = {{NULL, mapping}, {root, path}, {NULL, path}};
	bool found = false;

	snprintf(mapping, sizeof(mapping), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, ref->pid,
		 ref->start, ref->end);
	snprintf(root, sizeof(root), "/proc/%u/root", ref->pid);
	for (unsigned i = ref->pid ? 0 : 2; i < n_elems(try) && !found; i++) {
		int fd = open_regular(im, try[i].root, try[i].path, i == 0, c), rc;

		if (fd < 0)
			continue;
		if (c->is_dump) {
			found = inode_matches(c, ref->ino);
		} else {
			/* A file that is not kept open is read now. */
			c->unread = im->asks && im->n_open < IMAGES_MAX_OPEN;
			rc = c->unread ? -EAGAIN : im->probe(fd, &c->layout, NULL);
			c->has_layout = rc == 0 && layout_matches(c);
			c->asked = im->asks && rc == -EAGAIN && inode_matches(c, ref->ino);
			c->unread &= c->asked;
			found = c->has_layout || c->asked;
		}
		keep_open(im, c, fd, found);
	}
}

int images_reopen(struct images *im, uint32_t code, uint32_t pid)
{
	const struct mapped_code *c = &im->codes.v[code];
	const char *path = profile_str(im->profile, c->path);
	struct mapped_code now = {0};
	char root[40];
	int fd = -1;

	snprintf(root, sizeof(root), "/proc/%u/root", pid);
	if (pid)
		fd = open_regular(im, root, path, false, &now);
	if (fd < 0)
		fd = open_regular(im, NULL, path, false, &now);
	if (fd >= 0 && (now.owner != c->owner || !file_stamp_same(&now.stamp, &c->stamp))) {
		close(fd);
		return -1;
	}
	return fd;
}

image_id images_file_image(struct images *im, const struct mapped_code *c)
{
	struct image i = {
		.kind = c->kind == CODE_VDSO ? IMAGE_VDSO : IMAGE_FILE,
		.flags = c->deleted ? IMAGE_DELETED : 0,
		.build_id = c->told,
		.path = profile_str(im->profile, c->path),
	};

	if (c->has_layout) {
		i.build_id = c->layout.build_id;
		memcpy(i.digest, c->layout.digest, sizeof(i.digest));
		i.flags |= c->layout.hashed ? IMAGE_HASHED : 0;
		i.text_start = c->layout.text_start;
		i.text_bytes = c->layout.text_bytes;
	} else {
		i.flags |= IMAGE_OFFSETS;
	}
	return profile_intern_image(im->profile, &i);
}

/* Mappings that have no file to read: "//anon", "[heap]", "[stack]", "/dev/zero",
 * "/SYSV...", "anon_inode:..." (kernel/events/core.c, perf_event_mmap_event).  Foreign recordings
 * also name files by paths that begin nowhere ("bin/prog", "libfoo.so"). */
static bool is_anonymous(const struct images *im, const char *path)
{
	if (path[0] != '/')
		return !im->find_file || !path[0] || path[0] == '[' ||
		       str_starts(path, "anon_inode:");
	return str_starts(path, "//anon") || str_starts(path, "/dev/zero") ||
	       str_starts(path, "/SYSV") || str_starts(path, "/anon_hugepage") ||
	       str_starts(path, "/[aio]");
}

/* What C maps is code that nobody keeps in a file. */
static void forget_file(struct images *im, struct mapped_code *c)
{
	c->kind = CODE_ANON;
	c->asked = c->unread = false;
	if (c->fd < 0)
		return;
	close(c->fd);
	c->fd = -1;
	im->n_open--;
}

uint32_t images_intern(struct images *im, const struct image_ref *ref)
{
	static const struct image_ref nothing_told;
	size_t n = strlen(ref->path);
	bool deleted = str_ends(ref->path, deleted_suffix);
	bool vdso = strcmp(ref->path, "[vdso]") == 0;
	bool anon = !vdso && !ref->build_id.n_bytes && is_anonymous(im, ref->path);
	struct key key = {.ref = ref};
	struct mapped_code *c;
	uint64_t h;
	uint32_t i;

	key.path = anon ? 0
			: profile_intern_strn(im->profile, ref->path,
					      deleted ? n - strlen(deleted_suffix) : n);
	if (anon || vdso)
		key.ref = &nothing_told;
	h = hash_key(&key.ref->build_id, key.ref->dev, key.ref->ino, key.path);
	i = index_find(&im->ix, h, same, im, &key);
	if (i != INDEX_NONE)
		return i;
	c = vec_add(&im->codes);
	i = (uint32_t)im->codes.n - 1;
	if (vdso)
		*c = im->vdso;
	c->kind = vdso ? CODE_VDSO : anon ? CODE_ANON : CODE_FILE;
	c->path = key.path;
	c->told = key.ref->build_id;
	c->dev = key.ref->dev;
	c->ino = key.ref->ino;
	c->ino_generation = key.ref->ino_generation;
	c->deleted = deleted;
	c->fd = -1;
	c->is_dump = c->kind == CODE_FILE && images_is_dump(profile_str(im->profile, c->path));
	if (c->kind == CODE_FILE && im->find_file)
		open_found(im, c, ref);
	else if (c->kind == CODE_FILE)
		open_code(im, c, ref);
	/* Programs are run from memfds, and JIT compilers write code into them. */
	if (c->kind == CODE_FILE && !c->has_layout && !c->told.n_bytes &&
	    str_starts(ref->path, "/memfd:") && !(c->asked && images_is_program(c)))
		forget_file(im, c);
	if (c->asked)
		images_stand_in(im, i);
	else if (c->kind != CODE_ANON)
		c->image = images_file_image(im, c);
	index_add(&im->ix, h, i);
	return i;
}

uint32_t images_find_build_id(const struct images *im, const struct build_id *id)
{
	uint32_t found = INDEX_NONE;

	vec_each (c, &im->codes) {
		if (!build_id_same(&c->told, id) &&
		    !(c->has_layout && build_id_same(&c->layout.build_id, id)))
			continue;
		if (found == INDEX_NONE)
			found = (uint32_t)(c - im->codes.v);
		else if (im->codes.v[found].image != c->image)
			return INDEX_NONE;
	}
	return found;
}

struct place images_find_place(struct images *im, uint32_t code, uint64_t off)
{
	struct mapped_code *c = &im->codes.v[code];
	uint64_t svma = off;

	images_want(im, code);
	c->sampled = true;
	c->stood_in |= c->asked;
	if (c->has_layout && !image_layout_svma(&c->layout, off, &svma)) {
		/* Code outside every executable segment (a page's slack, a file mapped by hand):
		 * the offset is all there is; it cannot collide, the segments do not cover it. */
		svma = off;
	}
	return (struct place){.image = c->image, .svma = svma};
}

place_id images_place(struct images *im, uint32_t code, uint64_t off, uint32_t flags)
{
	const struct place pl = images_find_place(im, code, off);

	return profile_intern_place(im->profile, pl.image, pl.svma, flags);
}

place_id images_unmapped_place(struct images *im, const struct build_id *id, uint64_t off,
			       uint32_t flags)
{
	char path[2 * BUILD_ID_MAX + 16], hex[2 * BUILD_ID_MAX + 1];
	struct image i = {.kind = IMAGE_FILE, .flags = IMAGE_OFFSETS, .build_id = *id};

	str_hex(id->bytes, id->n_bytes, hex);
	snprintf(path, sizeof(path), "[build-id %s]", hex);
	i.path = path;
	return profile_intern_place(im->profile, profile_intern_image(im->profile, &i), off, flags);
}

/* Numbers 0 and IMAGE_NUMBER_VDSO are given from the start. */
static void begin_numbers(struct images *im)
{
	while (im->numbered.n <= IMAGE_NUMBER_VDSO)
		vec_push(&im->numbered, INDEX_NONE);
}

uint32_t images_add_number(struct images *im, uint32_t code)
{
	begin_numbers(im);
	if (im->numbered.n > FRAME_MAX_IMAGES)
		return 0;
	images_want(im, code);
	vec_push(&im->numbered, code);
	return (uint32_t)im->numbered.n - 1;
}

uint32_t images_numbered(struct images *im, uint32_t number)
{
	begin_numbers(im);
	if (number == IMAGE_NUMBER_VDSO && im->numbered.v[number] == INDEX_NONE) {
		uint32_t code = images_intern(im, &(struct image_ref){.path = "[vdso]"});

		im->numbered.v[number] = code;
	}
	return number < im->numbered.n ? im->numbered.v[number] : INDEX_NONE;
}
