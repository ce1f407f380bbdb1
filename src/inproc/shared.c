/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts are in a hash table with open addressing.  Addresses of one cache line of code begin their
 * search at one place, so that what is counted together lies together.  A slot gets its key before
 * its count, and an image's record is whole before records_end says so: whenever the process dies,
 * what a reader finds makes sense. */
#include "inproc/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"

enum { RECORDS_BYTES = 1 << 20, LINE_BITS = 6 };

static void lay_out(struct shared_header *h, uint64_t n_slots)
{
	memcpy(h->magic, SHARED_MAGIC, sizeof(h->magic));
	h->major = SHARED_MAJOR;
	h->minor = SHARED_MINOR;
	h->records_off = h->records_end = SHARED_HEADER_BYTES;
	h->slots_off = SHARED_HEADER_BYTES + RECORDS_BYTES;
	h->n_slots = n_slots;
	h->n_bytes = h->slots_off + n_slots * SHARED_SLOT_BYTES;
}

/* The empty file at PATH, locked, its size that of H. */
static int make_file(const char *path, const struct shared_header *h, void **ret_bytes)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
	void *bytes = MAP_FAILED;
	int e = 0;

	if (fd < 0)
		return -errno;
	/* The lock belongs to the open file, which the mapping keeps when the descriptor goes. */
	if (flock(fd, LOCK_EX | LOCK_NB) >= 0 && ftruncate(fd, (off_t)h->n_bytes) >= 0)
		bytes = mmap(NULL, h->n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED) {
		e = -errno;
		unlink(path);
	}
	close(fd);
	*ret_bytes = bytes;
	return e;
}

int shared_create(struct shared *s, const char *dir, const struct shared_header *facts,
		  uint64_t n_slots)
{
	struct shared_header h = *facts;
	char temporary[PATH_MAX];
	void *bytes;
	int n, e;

	lay_out(&h, n_slots);
	n = snprintf(s->path, sizeof(s->path), "%s/%u-%llx.hist", dir, h.pid,
		     (unsigned long long)h.start_ns);
	if (n < 0 || (size_t)n + 8 >= sizeof(s->path))
		return -ENAMETOOLONG;
	snprintf(temporary, sizeof(temporary), "%.*s.new", (int)sizeof(temporary) - 8, s->path);
	e = make_file(temporary, &h, &bytes);
	if (e < 0)
		return e;
	madvise(bytes, h.n_bytes, MADV_DONTFORK); /* a child has its own */
	madvise(bytes, h.n_bytes, MADV_DONTDUMP);
	/* without read-ahead: a fault takes one page of the hole, not 32 or more */
	madvise(bytes, h.n_bytes, MADV_RANDOM);
	memcpy(bytes, &h, sizeof(h));
	/* only now is it one that somebody may find */
	if (rename(temporary, s->path) < 0) {
		e = -errno;
		unlink(temporary);
		munmap(bytes, h.n_bytes);
		return e;
	}
	s->header = bytes;
	s->slots = (struct shared_slot *)((uint8_t *)bytes + h.slots_off);
	s->n_bytes = h.n_bytes;
	s->n_images = 0;
	return 0;
}

static void put_le(uint8_t **p, uint64_t x, unsigned n_bytes)
{
	memcpy(*p, &x, n_bytes); /* little-endian machines only */
	*p += n_bytes;
}

static void put_record(uint8_t *p, size_t n_bytes, const struct loaded_code *code, const char *path)
{
	size_t n_path = strlen(path);

	memset(p, 0, n_bytes);
	put_le(&p, n_bytes, 4);
	put_le(&p, code->kind, 1);
	put_le(&p, code->flags, 1);
	put_le(&p, code->n_id, 2);
	put_le(&p, code->text_start, 8);
	put_le(&p, code->text_bytes, 8);
	memcpy(p, code->id, CODE_ID_MAX);
	p += CODE_ID_MAX + 4;
	put_le(&p, n_path, 8);
	memcpy(p, path, n_path);
}

/* The number of the record like the N_BYTES at NEW, which is behind the last; 0: none. */
static uint32_t find_record(const struct shared *s, const uint8_t *new, size_t n_bytes)
{
	const uint8_t *p = (const uint8_t *)s->header + s->header->records_off;

	for (uint32_t image = 1; p < new; image++) {
		uint32_t n;

		memcpy(&n, p, sizeof(n));
		if (n == n_bytes && memcmp(p, new, n) == 0)
			return image;
		p += n;
	}
	return 0;
}

int shared_add_image(struct shared *s, const struct loaded_code *code, const char *path)
{
	struct shared_header *h = s->header;
	size_t n_bytes = (SHARED_RECORD_BYTES + strlen(path) + 1 + 7) & ~(size_t)7;
	uint8_t *new = (uint8_t *)h + h->records_end;
	uint32_t image;

	if (n_bytes > h->slots_off - h->records_end)
		return -ENOSPC;
	put_record(new, n_bytes, code, path);
	image = find_record(s, new, n_bytes);
	if (image)
		return (int)image;
	if (s->n_images + 1 >= 1u << SHARED_IMAGE_BITS)
		return -ENOSPC;
	__atomic_store_n(&h->records_end, h->records_end + n_bytes, __ATOMIC_RELEASE);
	return (int)++s->n_images;
}

void shared_count(struct shared *s, uint32_t image, uint64_t svma, uint64_t n)
{
	struct shared_header *h = s->header;
	const uint64_t mask = h->n_slots - 1;
	uint64_t key = (uint64_t)image << SHARED_SVMA_BITS | svma;

	if (svma >> SHARED_SVMA_BITS) {
		h->n_no_room += n;
		return;
	}
	for (uint64_t i = hash_u64(key >> LINE_BITS);; i++) {
		struct shared_slot *slot = &s->slots[i & mask];

		if (slot->key == key) {
			__atomic_store_n(&slot->n, slot->n + n, __ATOMIC_RELAXED);
			return;
		}
		if (slot->key)
			continue;
		if (h->n_used >= h->n_slots / 8 * 7) {
			h->n_no_room += n;
			return;
		}
		h->n_used++;
		h->pages[(i & mask) / SHARED_PAGE_SLOTS / 8] |=
			(uint8_t)(1u << (i & mask) / SHARED_PAGE_SLOTS % 8);
		__atomic_store_n(&slot->key, key, __ATOMIC_RELAXED);
		__atomic_store_n(&slot->n, n, __ATOMIC_RELEASE);
		return;
	}
}

void shared_close(struct shared *s)
{
	if (s->header)
		munmap(s->header, s->n_bytes);
	s->header = NULL;
}

void shared_forget(struct shared *s)
{
	s->header = NULL; /* not copied to a new process */
}
