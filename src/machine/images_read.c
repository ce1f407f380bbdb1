/* SPDX-License-Identifier: BSD-2-Clause */
/* Layouts that come later: see images.h.
 *
 * A stand-in is an image of the profile that is never stored: before anything is, its values move
 * (model/move.h) to the image that the layout tells, or, when nothing has come in time, to the
 * image that has the file's path and file offsets. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/plain_file.h"
#include "machine/images_impl.h"

void images_ask(struct images *im)
{
	im->asks = true;
}

void images_stand_in(struct images *im, uint32_t code)
{
	struct mapped_code *c = &im->codes.v[code];
	struct image i = {.kind = IMAGE_FILE,
			  .flags = IMAGE_OFFSETS,
			  .build_id = {.n_bytes = BUILD_ID_MAX},
			  .path = profile_str(im->profile, c->path)};

	/* No file has this build-id: it need not be secret, for the image is never stored. */
	memset(i.build_id.bytes, 0xff, BUILD_ID_MAX);
	memcpy(i.build_id.bytes, &code, sizeof(code));
	c->stand_in = c->image = profile_intern_image(im->profile, &i);
	c->asked_ns = clock_mono_ns();
	if (!c->unread)
		vec_push(&im->asked, code);
}

bool images_is_program(const struct mapped_code *c)
{
	_fd_ int own = memfd_create("dwell", MFD_CLOEXEC);
	struct file_stamp stamp;
	char magic[4];
	int fd;
	bool is;

	/* All memfds are on one internal mount, which nobody can make one like. */
	if (own < 0 || c->fd < 0 || file_stamp_get(own, &stamp, NULL) < 0 ||
	    stamp.dev != c->stamp.dev)
		return false;
	fd = plain_file_reopen(c->fd);
	is = fd >= 0 && pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	     memcmp(magic, "\177ELF", sizeof(magic)) == 0;
	if (fd >= 0)
		close(fd);
	return is;
}

/* How file systems with inodes of 32 and 64 bits name a file: its inode, then the generation
 * (include/linux/exportfs.h FILEID_INO32_GEN; fs/xfs/xfs_export.h). */
#define INO32_GEN 1
#define INO64_GEN 0x81

bool images_generation(const struct images *im, uint32_t code, uint32_t *ret)
{
	const struct mapped_code *c = &im->codes.v[code];
	union {
		struct file_handle handle;
		unsigned char bytes[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u = {.handle = {.handle_bytes = MAX_HANDLE_SZ}};
	const unsigned char *name = u.bytes + sizeof(u.handle);
	uint64_t ino = 0;
	size_t n;
	int mount;

	/* It does not ask the file system, as opening the file would. */
	if (c->fd < 0 || name_to_handle_at(c->fd, "", &u.handle, &mount, AT_EMPTY_PATH) < 0)
		return false;
	if (u.handle.handle_type != INO32_GEN && u.handle.handle_type != INO64_GEN)
		return false;
	n = u.handle.handle_type == INO32_GEN ? 4 : 8;
	if (u.handle.handle_bytes < n + sizeof(*ret))
		return false;
	memcpy(&ino, name, n);
	memcpy(ret, name + n, sizeof(*ret));
	return ino == c->ino;
}

/* Whether the layout that came for C, RC, is that of the file it was told to be. */
static bool is_good(const struct mapped_code *c, int rc)
{
	if (rc < 0)
		return false;
	return !c->told.n_bytes || c->layout.hashed || build_id_same(&c->told, &c->layout.build_id);
}

static void take_layout(struct images *im, struct mapped_code *c, int rc)
{
	c->asked = false;
	c->has_layout = is_good(c, rc);
	c->image = images_file_image(im, c);
	im->n_taken++;
	if (c->has_layout && im->n_open <= IMAGES_MAX_OPEN)
		return;
	close(c->fd);
	c->fd = -1;
	im->n_open--;
}

void images_want(struct images *im, uint32_t code)
{
	struct mapped_code *c = &im->codes.v[code];
	int rc;

	if (!c->unread)
		return;
	c->unread = false;
	c->asked_ns = clock_mono_ns();
	rc = im->probe(c->fd, &c->layout, NULL);
	if (rc == -EAGAIN)
		vec_push(&im->asked, code);
	else
		take_layout(im, c, rc);
}

void images_want_all(struct images *im)
{
	for (uint32_t i = 0; i < im->codes.n; i++)
		images_want(im, i);
}

bool images_take(struct images *im)
{
	size_t n = 0, n_before = im->asked.n;

	for (size_t i = 0; i < n_before; i++) {
		struct mapped_code *c = &im->codes.v[im->asked.v[i]];
		int rc = im->probe(c->fd, &c->layout, NULL);

		if (rc == -EAGAIN)
			im->asked.v[n++] = im->asked.v[i];
		else
			take_layout(im, c, rc);
	}
	im->asked.n = n;
	return n < n_before;
}

size_t images_n_awaited(const struct images *im, uint64_t since_ns)
{
	size_t n = 0;

	vec_each (i, &im->asked) {
		const struct mapped_code *c = &im->codes.v[*i];

		n += c->stood_in && c->asked_ns >= since_ns;
	}
	return n;
}

/* The place in C's image that PL, in its stand-in, is. */
static place_id real_place(struct images *im, const struct mapped_code *c, const struct place *pl)
{
	const image_id image = c->asked ? images_file_image(im, c) : c->image;
	uint64_t svma = pl->svma;

	if (c->has_layout && !image_layout_svma(&c->layout, pl->svma, &svma))
		svma = pl->svma; /* as images_place has it */
	return profile_intern_place(im->profile, image, svma, pl->flags);
}

place_id *images_moves(struct images *im, bool awaited)
{
	struct profile *p = im->profile;
	uint32_t *code_of = NULL; /* by stand-in: number + 1 */
	place_id *to;
	size_t n_places = p->places.n;
	const image_id n_images = (image_id)p->images.n;

	vec_each (c, &im->codes) {
		if (!c->stood_in || c->asked != awaited)
			continue;
		if (!code_of)
			code_of = xcalloc(n_images, sizeof(*code_of));
		code_of[c->stand_in] = (uint32_t)(c - im->codes.v) + 1;
	}
	if (!code_of)
		return NULL;
	to = xcalloc(n_places, sizeof(*to));
	for (place_id i = 0; i < n_places; i++) {
		const struct place pl = p->places.v[i];

		to[i] = pl.image < n_images && code_of[pl.image]
				? real_place(im, &im->codes.v[code_of[pl.image] - 1], &pl)
				: i;
	}
	free(code_of);
	return to;
}

bool images_any_came(const struct images *im)
{
	vec_each (c, &im->codes)
		if (c->stood_in && !c->asked)
			return true;
	return false;
}

void images_moved(struct images *im)
{
	vec_each (c, &im->codes)
		if (!c->asked)
			c->stood_in = false;
}
