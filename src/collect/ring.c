/* SPDX-License-Identifier: BSD-2-Clause */
/* See ring.h.  data_head is read with acquire and data_tail written with release, as perf_event.h
 * asks for beside struct perf_event_mmap_page. */
#include "collect/ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

static struct perf_event_mmap_page *control(const struct ring *r)
{
	return (struct perf_event_mmap_page *)r->base;
}

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int ring_open(struct ring *r, int fd, size_t n_pages, struct err *err)
{
	size_t n = n_pages * page_bytes();
	void *p = mmap(NULL, n + page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED && errno == EPERM)
		return err_set(err, -EPERM,
			       "cannot map a %zu KiB perf ring: over kernel.perf_event_mlock_kb",
			       n / 1024);
	if (p == MAP_FAILED)
		return err_errno(err, -errno, "cannot map a perf ring");
	r->base = p;
	r->n_bytes = n;
	return 0;
}

void ring_close(struct ring *r)
{
	if (r->n_bytes)
		munmap(r->base, r->n_bytes + page_bytes());
	*r = (struct ring){0};
}

size_t ring_drain(struct ring *r, struct wr *out)
{
	struct perf_event_mmap_page *c = control(r);
	const uint8_t *data = r->base + page_bytes();
	uint64_t head = __atomic_load_n(&c->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = c->data_tail;
	size_t n = (size_t)(head - tail);
	size_t at = (size_t)(tail & (r->n_bytes - 1));
	size_t first = n < r->n_bytes - at ? n : r->n_bytes - at;

	wr_bytes(out, data + at, first);
	wr_bytes(out, data, n - first);
	__atomic_store_n(&c->data_tail, head, __ATOMIC_RELEASE);
	return n;
}

unsigned ring_fill_pct(const struct ring *r)
{
	struct perf_event_mmap_page *c = control(r);
	uint64_t head = __atomic_load_n(&c->data_head, __ATOMIC_ACQUIRE);

	return (unsigned)((head - c->data_tail) * 100 / r->n_bytes);
}
