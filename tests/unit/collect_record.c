/* SPDX-License-Identifier: BSD-2-Clause */
/* Perf records: every kind from hand-made bytes, and bytes no kernel writes. */
#include "machine/perf_record.h"

#include <errno.h>

#include "collect_records.h"
#include "t.h"

static const uint8_t id20[20] = {1,  2,	 3,  4,	 5,  6,	 7,  8,	 9,  10,
				 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};

/* Reads the only record of W, which must be whole. */
static struct perf_record read_only(const struct wr *w)
{
	struct rd r = rd_init(w->v, w->n);
	struct perf_record rec = {0};

	EXPECT_EQ(record_read(&r, &rec), 0);
	EXPECT_EQ(rd_left(&r), 0);
	return rec;
}

TEST(sample)
{
	struct wr w = {0};
	struct perf_record r;

	put_sample(&w, 31, 0xffffffff81000010ull, 100, 101, 555);
	r = read_only(&w);
	EXPECT_EQ(r.kind, RECORD_SAMPLE);
	EXPECT_EQ(r.id, 31);
	EXPECT(r.ip == 0xffffffff81000010ull);
	EXPECT_EQ(r.pid, 100);
	EXPECT_EQ(r.tid, 101);
	EXPECT_EQ(r.time_ns, 555);
	wr_release(&w);
}

TEST(mmap_with_build_id)
{
	struct wr w = {0};
	struct perf_record r;

	put_mmap(&w, 100, 0x400000, 0x2000, 0x1000, id20, "/usr/bin/x", 777);
	r = read_only(&w);
	EXPECT_EQ(r.kind, RECORD_MMAP);
	EXPECT_EQ(r.pid, 100);
	EXPECT_EQ(r.addr, 0x400000);
	EXPECT_EQ(r.n_bytes, 0x2000);
	EXPECT_EQ(r.off, 0x1000);
	EXPECT_EQ(r.build_id.n_bytes, 20);
	EXPECT(memcmp(r.build_id.bytes, id20, 20) == 0);
	EXPECT_EQ(r.dev, 0);
	EXPECT_EQ(r.ino, 0);
	EXPECT_STR(r.name, "/usr/bin/x");
	EXPECT_EQ(r.time_ns, 777);
	EXPECT_EQ(r.id, 7);
	wr_release(&w);
}

TEST(mmap_without_build_id)
{
	struct wr w = {0};
	struct perf_record r;

	put_mmap(&w, 100, 0x400000, 0x2000, 0, NULL, "//anon", 1);
	r = read_only(&w);
	EXPECT_EQ(r.kind, RECORD_MMAP);
	EXPECT_EQ(r.build_id.n_bytes, 0);
	EXPECT_EQ(r.dev, 8ll << 32 | 17);
	EXPECT_EQ(r.ino, 1234);
	EXPECT_STR(r.name, "//anon");
	wr_release(&w);
}

TEST(build_id_longer_than_it_can_be_is_none)
{
	struct wr w = {0};
	struct perf_record r;

	put_mmap(&w, 1, 0x1000, 0x1000, 0, id20, "/x", 1);
	w.v[8 + 8 + 24] = 21; /* after the header, pid and tid, addr, len and pgoff */
	r = read_only(&w);
	EXPECT_EQ(r.kind, RECORD_MMAP);
	EXPECT_EQ(r.build_id.n_bytes, 0);
	EXPECT_STR(r.name, "/x");
	wr_release(&w);
}

TEST(comm_fork_exit)
{
	struct wr w = {0};
	struct rd rd;
	struct perf_record r;

	put_comm(&w, 5, 6, "worker one", false, 10);
	put_comm(&w, 5, 5, "cc1", true, 11);
	put_task(&w, PERF_RECORD_FORK, 9, 5, 9, 12);
	put_task(&w, PERF_RECORD_EXIT, 9, 5, 10, 13);
	rd = rd_init(w.v, w.n);
	EXPECT_EQ(record_read(&rd, &r), 0);
	EXPECT_EQ(r.kind, RECORD_COMM);
	EXPECT(!r.exec);
	EXPECT_EQ(r.pid, 5);
	EXPECT_EQ(r.tid, 6);
	EXPECT_STR(r.name, "worker one");
	EXPECT_EQ(record_read(&rd, &r), 0);
	EXPECT(r.exec);
	EXPECT_STR(r.name, "cc1");
	EXPECT_EQ(r.time_ns, 11);
	EXPECT_EQ(record_read(&rd, &r), 0);
	EXPECT_EQ(r.kind, RECORD_FORK);
	EXPECT_EQ(r.pid, 9);
	EXPECT_EQ(r.ppid, 5);
	EXPECT_EQ(r.tid, 9);
	EXPECT_EQ(r.time_ns, 12);
	EXPECT_EQ(record_read(&rd, &r), 0);
	EXPECT_EQ(r.kind, RECORD_EXIT);
	EXPECT_EQ(r.tid, 10);
	EXPECT_EQ(rd_left(&rd), 0);
	wr_release(&w);
}

TEST(lost_and_ksymbol)
{
	struct wr w = {0};
	struct rd rd;
	struct perf_record r;

	put_lost(&w, 123);
	put_ksymbol(&w, 0xffffffffc0001000ull, 0x200, 0, "bpf_prog_1_x");
	put_ksymbol(&w, 0xffffffffc0001000ull, 0x200, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER,
		    "bpf_prog_1_x");
	rd = rd_init(w.v, w.n);
	EXPECT_EQ(record_read(&rd, &r), 0);
	EXPECT_EQ(r.kind, RECORD_LOST);
	EXPECT_EQ(r.lost, 123);
	EXPECT_EQ(record_read(&rd, &r), 0);
	EXPECT_EQ(r.kind, RECORD_KSYMBOL);
	EXPECT(!r.unregistered);
	EXPECT(r.addr == 0xffffffffc0001000ull);
	EXPECT_EQ(r.n_bytes, 0x200);
	EXPECT_STR(r.name, "bpf_prog_1_x");
	EXPECT_EQ(record_read(&rd, &r), 0);
	EXPECT(r.unregistered);
	wr_release(&w);
}

TEST(switches)
{
	static const uint16_t misc[] = {0, PERF_RECORD_MISC_SWITCH_OUT,
					PERF_RECORD_MISC_SWITCH_OUT |
						PERF_RECORD_MISC_SWITCH_OUT_PREEMPT};

	for (unsigned i = 0; i < n_elems(misc); i++) {
		struct wr w = {0};
		struct perf_record r;

		end_record(&w, begin_record(&w, PERF_RECORD_SWITCH, misc[i]), 777, 9);
		r = read_only(&w);
		EXPECT_EQ(r.kind, RECORD_SWITCH);
		EXPECT_EQ(r.leaves, i > 0);
		EXPECT_EQ(r.preempted, i > 1);
		EXPECT_EQ(r.pid, 4242);
		EXPECT_EQ(r.tid, 4243);
		EXPECT_EQ(r.time_ns, 777);
		EXPECT_EQ(r.id, 9);
		wr_release(&w);
	}
}

TEST(unknown_kinds_are_stepped_over)
{
	struct wr w = {0};
	struct rd rd;
	struct perf_record r;
	size_t at = begin_record(&w, 77, 0xffff);

	wr_le64(&w, 1);
	end_record(&w, at, 1, 1);
	at = begin_record(&w, PERF_RECORD_THROTTLE, 0); /* too short for a sample_id */
	end_sized(&w, at);
	put_sample(&w, 1, 2, 3, 4, 5);
	rd = rd_init(w.v, w.n);
	EXPECT_EQ(record_read(&rd, &r), 0);
	EXPECT_EQ(r.kind, RECORD_OTHER);
	EXPECT_EQ(record_read(&rd, &r), 0);
	EXPECT_EQ(r.kind, RECORD_OTHER);
	EXPECT_EQ(record_read(&rd, &r), 0);
	EXPECT_EQ(r.kind, RECORD_SAMPLE);
	EXPECT_EQ(r.ip, 2);
	wr_release(&w);
}

TEST(a_name_without_its_end_is_no_name)
{
	struct wr w = {0};
	struct perf_record r;
	size_t at = begin_record(&w, PERF_RECORD_COMM, 0);

	wr_le32(&w, 1);
	wr_le32(&w, 1);
	wr_bytes(&w, "eightchr", 8);
	end_record(&w, at, 1, 1);
	r = read_only(&w);
	EXPECT_EQ(r.kind, RECORD_COMM);
	EXPECT_STR(r.name, "");
	wr_release(&w);
}

/* Every size from 0 to the whole, in the header and in the bytes at hand. */
TEST(truncated)
{
	struct wr w = {0};

	put_mmap(&w, 100, 0x400000, 0x2000, 0x1000, id20, "/usr/bin/x", 777);
	for (size_t n = 0; n < w.n; n++) {
		uint8_t *exact = malloc(n ? n : 1);
		struct perf_record r;
		struct rd rd;

		memcpy(exact, w.v, n);
		rd = rd_init(exact, n);
		EXPECT_EQ(record_read(&rd, &r), -EBADMSG);
		if (n >= 8) {
			exact[6] = (uint8_t)n;
			exact[7] = 0;
			rd = rd_init(exact, n);
			EXPECT_EQ(record_read(&rd, &r), 0);
			EXPECT_EQ(rd_left(&rd), 0);
			/* Cut within its fixed part it is nothing; later it has lost its name. */
			if (n < w.n - 16)
				EXPECT_EQ(r.kind, RECORD_OTHER);
			EXPECT(r.name[0] == '\0' || r.kind == RECORD_MMAP);
		}
		free(exact);
	}
	wr_release(&w);
}

TEST(sizes_below_a_header_are_refused)
{
	for (uint16_t size = 0; size < 8; size++) {
		struct wr w = {0};
		struct perf_record r;
		struct rd rd;

		wr_le32(&w, PERF_RECORD_COMM);
		wr_le16(&w, 0);
		wr_le16(&w, size);
		wr_le64(&w, 0);
		rd = rd_init(w.v, w.n);
		EXPECT_EQ(record_read(&rd, &r), -EBADMSG);
		wr_release(&w);
	}
}

TEST(the_stack_of_a_sample)
{
	static const uint64_t ips[] = {(uint64_t)PERF_CONTEXT_USER, 0x1234, 0x5678};
	static const uint8_t copy[16] = "stack";
	struct wr w = {0};
	struct record_stack s;
	struct perf_record r;

	put_stack_sample(&w, 0x1234, 7, ips, 3, copy, 16, 8);
	r = read_only(&w);
	EXPECT_EQ(r.kind, RECORD_SAMPLE);
	EXPECT_EQ(record_read_stack(&r, RECORD_STACK_COPY, &s), 0);
	EXPECT_EQ(rd_left(&s.ips), 24);
	EXPECT(rd_le64(&s.ips) == (uint64_t)PERF_CONTEXT_USER);
	EXPECT_EQ(rd_le64(&s.ips), 0x1234);
	EXPECT(s.has_regs && !s.is_32_bit);
	EXPECT_EQ(s.n_copy, 8);
	EXPECT(memcmp(s.copy, "stack", 6) == 0);
#ifdef __x86_64__
	/* perf_regs.h: ax bx cx dx si di bp sp ip, then r8 to r15; DWARF: ax dx cx bx si di bp sp
	 * r8 to r15, ip. */
	EXPECT_EQ(s.regs[0], 1);
	EXPECT_EQ(s.regs[3], 2);
	EXPECT_EQ(s.regs[1], 4);
	EXPECT_EQ(s.regs[6], 7);
	EXPECT_EQ(s.regs[RECORD_SP], 8);
	EXPECT_EQ(s.regs[16], 9);
	EXPECT_EQ(s.regs[8], 10);
	EXPECT_EQ(s.regs[15], 17);
#endif
	wr_release(&w);

	put_stack_sample(&w, 0x1234, 7, ips, 3, NULL, 0, 0);
	r = read_only(&w);
	EXPECT_EQ(record_read_stack(&r, RECORD_STACK_FP, &s), 0);
	EXPECT(!s.has_regs);
	EXPECT_EQ(record_read_stack(&r, RECORD_STACK_COPY, &s), -EBADMSG);
	wr_release(&w);
}

/* Cut at every byte: read in part never, and nothing outside of it. */
TEST(a_truncated_stack)
{
	static const uint64_t ips[] = {1, 2};
	static const uint8_t copy[8];
	struct wr w = {0};
	size_t whole;

	put_stack_sample(&w, 1, 7, ips, 2, copy, 8, 8);
	whole = w.n;
	for (size_t n = 40; n < whole; n++) {
		uint8_t *exact = malloc(n);
		struct rd rd;
		struct record_stack s;
		struct perf_record r;

		memcpy(exact, w.v, n);
		exact[6] = (uint8_t)n;
		exact[7] = (uint8_t)(n >> 8);
		rd = rd_init(exact, n);
		EXPECT_EQ(record_read(&rd, &r), 0);
		EXPECT_EQ(record_read_stack(&r, RECORD_STACK_COPY, &s), -EBADMSG);
		free(exact);
	}
	wr_release(&w);
}

TEST(counts_of_a_stack_that_cannot_be)
{
	static const uint64_t ips[] = {1};
	static const uint8_t copy[8];

	for (unsigned which = 0; which < 2; which++) {
		struct wr w = {0};
		struct record_stack s;
		struct perf_record r;
		size_t at;

		put_stack_sample(&w, 1, 7, ips, 1, copy, 8, 8);
		at = which ? w.n - 24 : 40; /* of bytes copied; of addresses */
		memset(w.v + at, 0xff, 8);
		r = read_only(&w);
		EXPECT_EQ(record_read_stack(&r, RECORD_STACK_COPY, &s), -EBADMSG);
		wr_release(&w);
	}
}
