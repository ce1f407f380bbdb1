/* SPDX-License-Identifier: BSD-2-Clause */
/* Histogram files: the ticks of one process by place, in a file that is mapped all the time, so
 * that whatever ends the process, what was counted is there.  docs/formats/histogram.md states the
 * format; shared_read.h reads it.
 *
 * The file has its full size at once, most of it a hole: nothing ever has to grow, and no
 * descriptor is kept that the program might close.  The mapping holds a lock (flock(2)) on the file
 * for as long as the process lives.  One thread at a time may use a struct shared. */
#ifndef INPROC_SHARED_H
#define INPROC_SHARED_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "inproc/mapped.h"

#define SHARED_MAGIC "dwellhst"

enum {
	SHARED_MAJOR = 1,
	SHARED_MINOR = 1,
	SHARED_HEADER_BYTES = 4096,
	SHARED_RECORD_BYTES = 56, /* of an image without its path */
	SHARED_SLOT_BYTES = 16,
	SHARED_IMAGE_BITS = 16, /* of a slot's key; the other 48 are the svma */
	SHARED_SVMA_BITS = 48,
	SHARED_MAX_SLOTS = 1 << 20,
	SHARED_PAGE_SLOTS = 256, /* that share a bit of the header */
};

/* The header.  Numbers are little-endian, as the machines are that this runs on. */
struct shared_header {
	char magic[8];
	uint16_t major, minor;
	uint32_t flags; /* 0 */
	uint64_t n_bytes;
	uint64_t records_off, records_end; /* the end moves when a record is whole */
	uint64_t slots_off, n_slots;
	uint64_t n_used;
	uint64_t period;
	uint64_t start_ns, end_ns; /* since 1970 */
	uint64_t epoch_s;
	uint64_t n_outside, n_no_room, n_moved, n_missed;
	uint32_t pid, bucket_bytes;
	uint32_t is_clock, unused;
	char event[128], host[128], command[128];
	uint8_t pages[SHARED_MAX_SLOTS / SHARED_PAGE_SLOTS / 8]; /* bits: slots are in use there */
	uint64_t n_unplaced;					 /* since 1.1: ticks without a pc */
};

struct shared_slot {
	uint64_t key, n;
};

struct shared {
	struct shared_header *header; /* NULL: not open */
	struct shared_slot *slots;
	size_t n_bytes;
	uint32_t n_images;
	char path[PATH_MAX];
};

/* Makes a file in DIR (an absolute path) that begins as FACTS say: period, start_ns, epoch_s, pid,
 * bucket_bytes, is_clock and the texts; N_SLOTS is a power of two, at
 * most SHARED_MAX_SLOTS.  0 or -errno. */
int shared_create(struct shared *s, const char *dir, const struct shared_header *facts,
		  uint64_t n_slots);

/* Adds an image, unless it is there, and gives its number, from 1; -ENOSPC without room. */
int shared_add_image(struct shared *s, const struct loaded_code *code, const char *path);

/* Counts N ticks at SVMA of an image. */
void shared_count(struct shared *s, uint32_t image, uint64_t svma, uint64_t n);

/* Lets go of the file, which stays. */
void shared_close(struct shared *s);

/* In a new process after fork(2): the file is the parent's alone. */
void shared_forget(struct shared *s);

#endif
