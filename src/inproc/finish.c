/* SPDX-License-Identifier: BSD-2-Clause */
/* The slots are sorted by key, that is by image and address; memory for that comes from mmap(2). */
#include "inproc/finish.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "inproc/dcpi_write.h"

enum { MASK_SHIFT = 64 - SHARED_SVMA_BITS };

/* The counts that are not zero into PLACES, their svma the slots' key; how many. */
static size_t take_counts(const struct shared_view *v, struct dcpi_place *places)
{
	struct shared_count c;
	uint64_t at = 0;
	size_t n = 0;

	while (shared_next_count(v, &at, &c)) {
		if (places)
			places[n] = (struct dcpi_place){
				(uint64_t)c.image << SHARED_SVMA_BITS | c.svma, c.n};
		n++;
	}
	return n;
}

/* Two slots of one key: only in files nobody here wrote. */
static size_t finish_join(struct dcpi_place *p, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (kept && p[kept - 1].svma == p[i].svma)
			p[kept - 1].n += p[i].n < UINT64_MAX - p[kept - 1].n
						 ? p[i].n
						 : UINT64_MAX - p[kept - 1].n;
		else
			p[kept++] = p[i];
	}
	return kept;
}

static int write_images(const struct shared_view *v, int dirfd, const struct dcpi_facts *f,
			struct dcpi_place *p, size_t n)
{
	const struct shared_header *h = &v->header;
	const struct dcpi_loss losses[] = {{"unmapped", h->n_outside},
					   {"no_room", h->n_no_room},
					   {DCPI_LOSS_UNPLACED, h->n_unplaced}};
	size_t n_losses = sizeof(losses) / sizeof(losses[0]), end;
	struct rd images = shared_images(v);
	struct shared_image im = {0};
	uint32_t number = 0;
	int e = 0;

	if (!n && (h->n_outside || h->n_no_room || h->n_unplaced))
		return dcpi_write_nothing(dirfd, f, losses, n_losses);
	for (size_t i = 0; i < n && e >= 0; i = end) {
		uint64_t image = p[i].svma >> SHARED_SVMA_BITS;

		while (number < image && shared_next_image(&images, &im))
			number++;
		for (end = i; end < n && p[end].svma >> SHARED_SVMA_BITS == image; end++)
			p[end].svma = p[end].svma << MASK_SHIFT >> MASK_SHIFT;
		e = dcpi_write_image(dirfd, f, &im.code, im.path, p + i, end - i, losses, n_losses);
		n_losses = 0;
	}
	return e;
}

int finish_write(const struct shared_view *v, const char *dir)
{
	const struct shared_header *h = &v->header;
	const struct dcpi_facts f = {.host = h->host,
				     .event = h->event,
				     .command = h->command,
				     .period = h->period,
				     .is_clock = h->is_clock,
				     .epoch_s = h->epoch_s,
				     .start_ns = h->start_ns,
				     .end_ns = h->end_ns,
				     .who = hash_pair(h->pid, h->start_ns)};
	size_t n = take_counts(v, NULL), n_bytes = (n + 1) * sizeof(struct dcpi_place);
	struct dcpi_place *places;
	int dirfd, e;

	if (!n && !h->n_outside && !h->n_no_room && !h->n_unplaced)
		return 0;
	places = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (places == MAP_FAILED)
		return -ENOMEM;
	n = take_counts(v, places);
	dcpi_sort(places, n);
	n = finish_join(places, n);
	dirfd = dcpi_open_dir(dir, &f);
	e = dirfd < 0 ? dirfd : write_images(v, dirfd, &f, places, n);
	if (dirfd >= 0)
		close(dirfd);
	munmap(places, n_bytes);
	return e;
}
