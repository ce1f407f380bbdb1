/* SPDX-License-Identifier: BSD-2-Clause */
/* Hand-made perf records: the bytes a kernel would write, for tests of their reader and users. */
#ifndef TESTS_COLLECT_RECORDS_H
#define TESTS_COLLECT_RECORDS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/wr.h"
#include "machine/perf_record.h"

/* Begins a record; returns where it begins, for end_record. */
static inline size_t begin_record(struct wr *w, uint32_t type, uint16_t misc)
{
	size_t at = w->n;

	wr_le32(w, type);
	wr_le16(w, misc);
	wr_le16(w, 0); /* size: end_record */
	return at;
}

/* A name as the kernel pads it: NULs up to the next multiple of eight. */
static inline void put_name(struct wr *w, const char *name)
{
	wr_bytes(w, name, strlen(name) + 1);
	while (w->n % 8)
		wr_u8(w, 0);
}

/* Fills in the size of the record that began at AT. */
static inline void end_sized(struct wr *w, size_t at)
{
	size_t n = w->n - at;

	w->v[at + 6] = (uint8_t)n;
	w->v[at + 7] = (uint8_t)(n >> 8);
}

/* Adds the trailing sample_id of a sideband record, and its size. */
static inline void end_record(struct wr *w, size_t at, uint64_t time_ns, uint64_t id)
{
	wr_le32(w, 4242); /* pid, tid of the writer, which nobody reads */
	wr_le32(w, 4243);
	wr_le64(w, time_ns);
	wr_le64(w, id);
	end_sized(w, at);
}

static inline void put_task(struct wr *w, uint32_t type, uint32_t pid, uint32_t ppid, uint32_t tid,
			    uint64_t time_ns)
{
	size_t at = begin_record(w, type, 0);

	wr_le32(w, pid);
	wr_le32(w, ppid);
	wr_le32(w, tid);
	wr_le32(w, ppid); /* ptid */
	wr_le64(w, time_ns);
	end_record(w, at, time_ns, 7);
}

static inline void put_comm(struct wr *w, uint32_t pid, uint32_t tid, const char *name, bool exec,
			    uint64_t time_ns)
{
	size_t at = begin_record(w, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);

	wr_le32(w, pid);
	wr_le32(w, tid);
	put_name(w, name);
	end_record(w, at, time_ns, 7);
}

/* BUILD_ID: 20 bytes, or NULL for device and inode. */
static inline void put_mmap(struct wr *w, uint32_t pid, uint64_t addr, uint64_t n_bytes,
			    uint64_t off, const uint8_t *build_id, const char *name,
			    uint64_t time_ns)
{
	size_t at =
		begin_record(w, PERF_RECORD_MMAP2, build_id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0);

	wr_le32(w, pid);
	wr_le32(w, pid);
	wr_le64(w, addr);
	wr_le64(w, n_bytes);
	wr_le64(w, off);
	if (build_id) {
		wr_u8(w, 20);
		wr_bytes(w, "\0\0\0", 3);
		wr_bytes(w, build_id, 20);
	} else {
		wr_le32(w, 8);	/* maj */
		wr_le32(w, 17); /* min */
		wr_le64(w, 1234);
		wr_le64(w, 5); /* generation of the inode */
	}
	wr_le32(w, 5); /* prot */
	wr_le32(w, 2); /* flags */
	put_name(w, name);
	end_record(w, at, time_ns, 7);
}

static inline void put_sample(struct wr *w, uint64_t id, uint64_t ip, uint32_t pid, uint32_t tid,
			      uint64_t time_ns)
{
	size_t at = begin_record(w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

	wr_le64(w, id);
	wr_le64(w, ip);
	wr_le32(w, pid);
	wr_le32(w, tid);
	wr_le64(w, time_ns);
	end_sized(w, at);
}

/* A sample with the N_IPS words of a call chain, and with COPY (NULL: without) registers I + 1 for
 * the I-th and N_COPY bytes of stack of which USED are. */
static inline void put_stack_sample(struct wr *w, uint64_t ip, uint32_t pid, const uint64_t *ips,
				    uint64_t n_ips, const uint8_t *copy, uint64_t n_copy,
				    uint64_t used)
{
	size_t at = begin_record(w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

	wr_le64(w, 31);
	wr_le64(w, ip);
	wr_le32(w, pid);
	wr_le32(w, pid);
	wr_le64(w, 555);
	wr_le64(w, n_ips);
	for (uint64_t i = 0; i < n_ips; i++)
		wr_le64(w, ips[i]);
	if (copy) {
		wr_le64(w, PERF_SAMPLE_REGS_ABI_64);
		for (uint64_t bit = 0, i = 0; bit < 64; bit++)
			if (RECORD_REGS >> bit & 1)
				wr_le64(w, ++i);
		wr_le64(w, n_copy);
		wr_bytes(w, copy, n_copy);
		wr_le64(w, used);
	}
	end_sized(w, at);
}

static inline void put_lost(struct wr *w, uint64_t n)
{
	size_t at = begin_record(w, PERF_RECORD_LOST, 0);

	wr_le64(w, 99);
	wr_le64(w, n);
	end_record(w, at, 1, 7);
}

static inline void put_ksymbol(struct wr *w, uint64_t addr, uint32_t n_bytes, uint16_t flags,
			       const char *name)
{
	size_t at = begin_record(w, PERF_RECORD_KSYMBOL, 0);

	wr_le64(w, addr);
	wr_le32(w, n_bytes);
	wr_le16(w, PERF_RECORD_KSYMBOL_TYPE_BPF);
	wr_le16(w, flags);
	put_name(w, name);
	end_record(w, at, 1, 7);
}

#endif
