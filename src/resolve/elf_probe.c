/* SPDX-License-Identifier: BSD-2-Clause */
/* See elf_probe.h.  The section table is not touched unless the segments hold no build-id: a page
 * or two of the file and its .eh_frame are all that is normally read. */
#include "resolve/elf_probe.h"

#include <elf.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file_stamp.h"
#include "base/hash.h"
#include "base/wr.h"
#include "resolve/elf_digest.h"
#include "resolve/elf_file.h"

/* An identity for files without a build-id.  Three words of the same bytes under different seeds
 * make 20 bytes, so that it looks like a build-id everywhere. */
static void hash_content(const struct elf_file *f, struct build_id *ret)
{
	enum { PIECE = 4096 };
	uint8_t first[PIECE], last[PIECE];
	size_t n_first = elf_file_pread(f, 0, first, PIECE);
	size_t n_last = elf_file_pread(f, f->size > PIECE ? f->size - PIECE : 0, last, PIECE);
	uint64_t a = hash_bytes(first, n_first), b = hash_bytes(last, n_last);
	struct wr w = {0};

	wr_le64(&w, hash_pair(hash_pair(a, b), f->size));
	wr_le64(&w, hash_pair(hash_pair(b, f->size), a));
	wr_le32(&w, (uint32_t)hash_pair(f->size, hash_pair(a, b)));
	ret->n_bytes = BUILD_ID_MAX;
	memcpy(ret->bytes, w.v, BUILD_ID_MAX);
	wr_release(&w);
}

static void read_loads(const struct elf_file *f, struct image_layout *l)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < f->n_segments; i++) {
		const struct elf_segment *s = &f->segments[i];

		if (s->type == PT_LOAD && s->svma + s->memsz > l->memory_end)
			l->memory_end = s->svma + s->memsz;
	}
	for (uint32_t i = 0; i < f->n_segments && l->n_loads < IMAGE_MAX_LOADS; i++) {
		const struct elf_segment *s = &f->segments[i];

		if (s->type != PT_LOAD || !(s->flags & PF_X) || s->filesz == 0 ||
		    s->svma + s->filesz < s->svma || s->off + s->filesz < s->off)
			continue;
		l->loads[l->n_loads++] =
			(struct image_load){.off = s->off, .svma = s->svma, .n_bytes = s->filesz};
		if (l->n_loads == 1 || s->svma < l->text_start)
			l->text_start = s->svma;
		if (s->svma + s->filesz > end)
			end = s->svma + s->filesz;
	}
	l->text_bytes = end - l->text_start;
}

/* The digests of the files probed last: of one file several questions come in turn, and each hashed
 * all of its frame information, or its code.  A file is the same while its stamp is; one that
 * changed within the last seconds, whose next change its stamp may not show, is not remembered.
 * Who finds them taken does without: a child made while another thread of its parent had them would
 * wait for ever. */
#define DIGESTS 128

static atomic_flag digests_taken = ATOMIC_FLAG_INIT;
static struct {
	struct probed_digest {
		struct file_stamp stamp;
		bool has_code; /* elf_digest_code's */
		uint8_t digest[IMAGE_DIGEST_BYTES];
	} v[DIGESTS];
	unsigned n; /* ever added */
} digests;

/* By fstat(2), for children may make no other call that tells it. */
static bool stamp_of(int fd, struct file_stamp *ret)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	*ret = (struct file_stamp){.dev = st.st_dev,
				   .ino = st.st_ino,
				   .size = (uint64_t)st.st_size,
				   .ctime_s = (uint64_t)st.st_ctim.tv_sec,
				   .ctime_ns = (uint32_t)st.st_ctim.tv_nsec};
	return true;
}

static bool digest_find(const struct file_stamp *s, bool has_code, uint8_t ret[IMAGE_DIGEST_BYTES])
{
	bool found = false;

	if (atomic_flag_test_and_set(&digests_taken))
		return false;
	for (unsigned i = 0; !found && i < digests.n && i < DIGESTS; i++) {
		const struct probed_digest *d = &digests.v[i];

		found = d->has_code == has_code && file_stamp_same(&d->stamp, s);
		if (found)
			memcpy(ret, d->digest, IMAGE_DIGEST_BYTES);
	}
	atomic_flag_clear(&digests_taken);
	return found;
}

static void digest_add(const struct probed_digest *new)
{
	if (atomic_flag_test_and_set(&digests_taken))
		return;
	digests.v[digests.n++ % DIGESTS] = *new;
	atomic_flag_clear(&digests_taken);
}

/* F's digest; HAS_CODE: the one with its code. */
static void find_digest(const struct elf_file *f, bool has_code, uint8_t ret[IMAGE_DIGEST_BYTES])
{
	struct probed_digest new = {.has_code = has_code};
	const bool has_stamp = stamp_of(f->fd, &new.stamp);

	if (has_stamp && digest_find(&new.stamp, has_code, ret))
		return;
	(has_code ? elf_digest_code : elf_digest)(f, ret);
	memcpy(new.digest, ret, IMAGE_DIGEST_BYTES);
	if (has_stamp && clock_wall_ns() / 1000000000 > new.stamp.ctime_s + 2)
		digest_add(&new);
}

void elf_probe_remember(int fd, const uint8_t digest[IMAGE_DIGEST_BYTES])
{
	struct probed_digest new = {0};

	if (!stamp_of(fd, &new.stamp) || digest_find(&new.stamp, false, new.digest))
		return;
	memcpy(new.digest, digest, IMAGE_DIGEST_BYTES);
	digest_add(&new);
}

/* RC says whether F could be opened; when not, only its size and bytes are used.  DIGEST is F's, or
 * NULL where it is not known. */
static int probe(struct elf_file *f, int rc, const uint8_t *digest, struct image_layout *ret)
{
	uint8_t id[BUILD_ID_MAX] = {0};
	int n;

	*ret = (struct image_layout){0};
	n = rc < 0 ? rc : elf_file_build_id(f, id);
	if (n > 0) {
		ret->build_id.n_bytes = (uint8_t)n;
		memcpy(ret->build_id.bytes, id, BUILD_ID_MAX);
	} else {
		hash_content(f, &ret->build_id);
		ret->hashed = true;
	}
	if (rc >= 0) {
		ret->machine = f->machine;
		if (digest)
			memcpy(ret->digest, digest, IMAGE_DIGEST_BYTES);
		else
			find_digest(f, false, ret->digest);
		read_loads(f, ret);
	}
	return rc;
}

int elf_probe(int fd, struct image_layout *ret, struct err *err)
{
	struct elf_file f;
	struct stat st;
	int rc = elf_file_open(&f, fd, err);

	if (rc < 0) {
		if (fstat(fd, &st) < 0)
			return rc;
		f = (struct elf_file){.fd = fd,
				      .size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0};
	}
	rc = probe(&f, rc, NULL, ret);
	elf_file_close(&f);
	return rc;
}

int elf_probe_known(int fd, const uint8_t digest[IMAGE_DIGEST_BYTES], struct image_layout *ret,
		    struct err *err)
{
	struct elf_file f;
	int rc = elf_file_open(&f, fd, err);

	if (rc < 0)
		return rc;
	rc = probe(&f, rc, digest, ret);
	elf_file_close(&f);
	return rc;
}

int elf_probe_code(int fd, uint8_t ret[IMAGE_DIGEST_BYTES], struct err *err)
{
	struct elf_file f;
	int rc = elf_file_open(&f, fd, err);

	if (rc < 0)
		return rc;
	find_digest(&f, true, ret);
	elf_file_close(&f);
	return 0;
}

int elf_probe_as(int fd, const uint8_t wanted[IMAGE_DIGEST_BYTES], struct image_layout *ret,
		 struct err *err)
{
	int rc = elf_probe(fd, ret, err);

	if (rc >= 0 && !image_digest_fits(ret->digest, wanted) && elf_probe_is(fd, wanted, ret))
		memcpy(ret->digest, wanted, IMAGE_DIGEST_BYTES);
	return rc;
}

bool elf_probe_is(int fd, const uint8_t wanted[IMAGE_DIGEST_BYTES], const struct image_layout *l)
{
	uint8_t with_code[IMAGE_DIGEST_BYTES];

	return image_digest_fits(l->digest, wanted) ||
	       (elf_probe_code(fd, with_code, NULL) >= 0 && image_digest_same(with_code, wanted));
}

int elf_probe_bytes(const uint8_t *bytes, size_t n, struct image_layout *ret, struct err *err)
{
	struct elf_file f;
	int rc = elf_file_open_bytes(&f, bytes, n, err);

	if (rc < 0)
		f = (struct elf_file){.fd = -1, .bytes = bytes, .size = n};
	rc = probe(&f, rc, NULL, ret);
	elf_file_close(&f);
	return rc;
}
