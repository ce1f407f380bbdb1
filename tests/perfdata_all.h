/* SPDX-License-Identifier: BSD-2-Clause */
/* A perf.data file with a record of every type, samples with every field, and every section. */
#ifndef TESTS_PERFDATA_ALL_H
#define TESTS_PERFDATA_ALL_H

#include <zstd.h>

#include "perfdata_t.h"

#define PD_ALL_GROUP                                                                               \
	(PERFDATA_R_GROUP | PERFDATA_R_ENABLED | PERFDATA_R_RUNNING | PERFDATA_R_ID |              \
	 PERFDATA_R_LOST)

static const struct perfdata_attr pd_plain = {
	.period = 100000,
	.sample_type = PERFDATA_S_IDENTIFIER | PERFDATA_S_IP | PERFDATA_S_TID | PERFDATA_S_TIME |
		       PERFDATA_S_ID | PERFDATA_S_STREAM_ID | PERFDATA_S_CPU,
	.read_format = PERFDATA_R_ENABLED | PERFDATA_R_RUNNING | PERFDATA_R_ID,
	.flags = 1ull << PERFDATA_A_SAMPLE_ID_ALL,
};

/* Every field there is. */
static const struct perfdata_attr pd_rich = {
	.type = 1,
	.period = 4000,
	.sample_type = PERFDATA_S_KNOWN & ~(uint64_t)PERFDATA_S_WEIGHT,
	.read_format = PD_ALL_GROUP,
	.flags = 1ull << PERFDATA_A_SAMPLE_ID_ALL | 1ull << PERFDATA_A_FREQ,
	.branch_sample_type = PERFDATA_B_HW_INDEX | PERFDATA_B_COUNTERS,
	.regs_user = 7,
	.regs_intr = 5,
	.stack_user = 16,
	.aux_sample_size = 8,
};

static inline void pd_count(struct pd_file *f, struct wr *w, uint64_t value, uint64_t id,
			    uint64_t lost)
{
	pd_64(f, w, value);
	pd_64(f, w, id);
	pd_64(f, w, lost);
}

/* The flags of a branch as the file's byte order lays them out: mispredicted, 7 cycles, a call. */
static inline uint64_t pd_branch_flags(const struct pd_file *f)
{
	return f->big_endian ? 1ull << 63 | 7ull << 44 | 4ull << 40 : 1ull | 7ull << 4 | 4ull << 20;
}

static inline void pd_rich_sample(struct pd_file *f, uint64_t time)
{
	struct wr *w = pd_begin(f, PERFDATA_SAMPLE, PERFDATA_MODE_USER | PERFDATA_MISC_EXACT_IP);

	pd_64(f, w, 12);
	pd_64(f, w, 0x401234);
	pd_32(f, w, 70);
	pd_32(f, w, 71);
	pd_64(f, w, time);
	pd_64(f, w, 0x7fff0000); /* addr */
	pd_64(f, w, 12);
	pd_64(f, w, 1012);
	pd_32(f, w, 2);
	pd_32(f, w, 0);
	pd_64(f, w, 250000); /* period */
	pd_64(f, w, 2);	     /* counts of a group */
	pd_64(f, w, 9000);
	pd_64(f, w, 8000);
	pd_count(f, w, 500, 12, 1);
	pd_count(f, w, 600, 11, 2);
	pd_64(f, w, 5); /* chain */
	pd_64(f, w, PERFDATA_CONTEXT_KERNEL);
	pd_64(f, w, 0xffffffff81000010);
	pd_64(f, w, PERFDATA_CONTEXT_USER);
	pd_64(f, w, 0x401234);
	pd_64(f, w, 0x401300);
	pd_32(f, w, 12); /* raw */
	wr_bytes(w, "raw payload", 12);
	pd_64(f, w, 2); /* branches */
	pd_64(f, w, 31);
	for (uint64_t i = 0; i < 2; i++) {
		pd_64(f, w, 0x401200 + i);
		pd_64(f, w, 0x401234);
		pd_64(f, w, pd_branch_flags(f));
	}
	pd_64(f, w, 77);
	pd_64(f, w, 78);
	pd_64(f, w, PERFDATA_REGS_64);
	for (uint64_t i = 0; i < 3; i++)
		pd_64(f, w, 0x1000 + i);
	pd_64(f, w, 16); /* stack, of which half is one */
	wr_bytes(w, "0123456789abcdef", 16);
	pd_64(f, w, 8);
	pd_64(f, w, 0x0003000200000001); /* weights */
	pd_64(f, w, 0x68100142);	 /* data_src */
	pd_64(f, w, 1);			 /* transaction */
	pd_64(f, w, PERFDATA_REGS_32);
	pd_64(f, w, 0x2000);
	pd_64(f, w, 0x2002);
	pd_64(f, w, 0x123456000); /* physical address */
	pd_64(f, w, 555);	  /* cgroup */
	pd_64(f, w, 4096);
	pd_64(f, w, 2097152);
	pd_64(f, w, 8); /* aux */
	wr_bytes(w, "auxbytes", 8);
	pd_end(f);
}

static inline void pd_kernel_records(struct pd_file *f)
{
	const struct build_id id = {
		20, "\1\2\3\4\5\6\7\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14"};
	uint64_t type = pd_plain.sample_type, t = 1000;
	struct wr *w = pd_begin(f, PERFDATA_MMAP, PERFDATA_MODE_KERNEL);

	pd_32(f, w, UINT32_MAX);
	pd_32(f, w, 0);
	pd_64(f, w, 0xffffffff81000000);
	pd_64(f, w, 0x1000000);
	pd_64(f, w, 0xffffffff81000000);
	pd_text(w, "[kernel.kallsyms]_text", 8);
	pd_id(f, type, UINT32_MAX, 0, t, 11);
	pd_comm(f, 70, 70, "prog", true, t += 10);
	pd_mmap2(f, 70, 0x401000, 0x2000, 0x1000, "/usr/bin/prog", &id, t += 10);
	pd_mmap2(f, 70, 0x7f0000000000, 0x5000, 0, "/usr/lib/libx.so", NULL, t += 10);
	pd_fork(f, PERFDATA_FORK, 70, 71, 70, 70, t += 10);
	w = pd_begin(f, PERFDATA_LOST, 0);
	pd_64(f, w, 11);
	pd_64(f, w, 3);
	pd_id(f, type, 70, 71, t += 10, 11);
	w = pd_begin(f, PERFDATA_THROTTLE, 0);
	pd_64(f, w, t);
	pd_64(f, w, 11);
	pd_64(f, w, 1011);
	pd_id(f, type, 70, 71, t += 10, 11);
	w = pd_begin(f, PERFDATA_UNTHROTTLE, 0);
	pd_64(f, w, t);
	pd_64(f, w, 11);
	pd_64(f, w, 1011);
	pd_id(f, type, 70, 71, t += 10, 11);
	w = pd_begin(f, PERFDATA_READ, 0);
	pd_32(f, w, 70);
	pd_32(f, w, 71);
	pd_64(f, w, 12345);
	pd_64(f, w, 900);
	pd_64(f, w, 800);
	pd_64(f, w, 11);
	pd_id(f, type, 70, 71, t += 10, 11);
	w = pd_begin(f, PERFDATA_AUX, 0);
	pd_64(f, w, 0x1000);
	pd_64(f, w, 64);
	pd_64(f, w, 1);
	pd_id(f, type, 70, 71, t += 10, 11);
	w = pd_begin(f, PERFDATA_ITRACE_START, 0);
	pd_32(f, w, 70);
	pd_32(f, w, 71);
	pd_id(f, type, 70, 71, t += 10, 11);
	w = pd_begin(f, PERFDATA_LOST_SAMPLES, 0);
	pd_64(f, w, 4);
	pd_id(f, type, 70, 71, t += 10, 11);
	pd_begin(f, PERFDATA_SWITCH, PERFDATA_MISC_SWITCH_OUT);
	pd_id(f, type, 70, 71, t += 10, 11);
	w = pd_begin(f, PERFDATA_SWITCH_CPU_WIDE, 0);
	pd_32(f, w, 0);
	pd_32(f, w, 0);
	pd_id(f, type, 70, 71, t += 10, 11);
	w = pd_begin(f, PERFDATA_NAMESPACES, 0);
	pd_32(f, w, 70);
	pd_32(f, w, 71);
	pd_64(f, w, 2);
	for (uint64_t i = 1; i <= 4; i++)
		pd_64(f, w, i);
	pd_id(f, type, 70, 71, t += 10, 11);
	w = pd_begin(f, PERFDATA_KSYMBOL, 0);
	pd_64(f, w, 0xffffffffc0000000);
	pd_32(f, w, 0x200);
	pd_16(f, w, 1);
	pd_16(f, w, 0);
	pd_text(w, "bpf_prog_1234_x", 8);
	pd_id(f, type, 70, 71, t += 10, 11);
	w = pd_begin(f, PERFDATA_BPF_EVENT, 0);
	pd_16(f, w, 1);
	pd_16(f, w, 0);
	pd_32(f, w, 42);
	wr_bytes(w, "\x12\x34\x56\x78\x9a\xbc\xde\xf0", 8);
	pd_id(f, type, 70, 71, t += 10, 11);
	w = pd_begin(f, PERFDATA_CGROUP, 0);
	pd_64(f, w, 555);
	pd_text(w, "/user.slice", 8);
	pd_id(f, type, 70, 71, t += 10, 11);
	w = pd_begin(f, PERFDATA_TEXT_POKE, 0);
	pd_64(f, w, 0xffffffff81000100);
	pd_16(f, w, 3);
	pd_16(f, w, 5);
	wr_bytes(w, "\1\2\3\4\5\6\7\x08", 8);
	wr_bytes(w, "\0\0\0\0", 4);
	pd_id(f, type, 70, 71, t += 10, 11);
	w = pd_begin(f, PERFDATA_AUX_OUTPUT_HW_ID, 0);
	pd_64(f, w, 99);
	pd_id(f, type, 70, 71, t += 10, 11);
	w = pd_begin(f, PERFDATA_CALLCHAIN_DEFERRED, 0);
	pd_64(f, w, 0xc00c1e);
	pd_64(f, w, 2);
	pd_64(f, w, 0x401234);
	pd_64(f, w, 0x401300);
	pd_id(f, type, 70, 71, t += 10, 11);
	pd_rich_sample(f, t += 10);
	pd_fork(f, PERFDATA_EXIT, 70, 71, 70, 70, t += 10);
}

static inline void pd_own_records(struct pd_file *f)
{
	struct wr *w = pd_begin(f, PERFDATA_ID_INDEX, 0);

	pd_64(f, w, 0);
	pd_end(f);
	w = pd_begin(f, PERFDATA_AUXTRACE_INFO, 0);
	pd_32(f, w, 4);
	pd_32(f, w, 0);
	pd_64(f, w, 1);
	pd_64(f, w, 2);
	pd_end(f);
	w = pd_begin(f, PERFDATA_AUXTRACE, 0);
	pd_64(f, w, 16);
	pd_64(f, w, 0x1000);
	pd_64(f, w, 0x77);
	pd_32(f, w, 1);
	pd_32(f, w, 71);
	pd_32(f, w, 2);
	pd_32(f, w, 0);
	pd_end(f);
	wr_bytes(w, "0123456789abcdef", 16); /* what follows it */
	w = pd_begin(f, PERFDATA_AUXTRACE_ERROR, 0);
	for (uint32_t i = 1; i <= 6; i++)
		pd_32(f, w, i);
	pd_64(f, w, 0x401000);
	pd_64(f, w, 1500);
	wr_bytes(w, "overflow", 8);
	for (unsigned i = 8; i < 64; i++)
		wr_u8(w, 0);
	pd_end(f);
	w = pd_begin(f, PERFDATA_TIME_CONV, 0);
	for (uint64_t i = 1; i <= 6; i++)
		pd_64(f, w, i * 3);
	pd_end(f);
	for (uint32_t type = PERFDATA_THREAD_MAP; type <= PERFDATA_STAT_CONFIG; type++) {
		w = pd_begin(f, type, 0);
		pd_64(f, w, 0);
		pd_end(f);
	}
	w = pd_begin(f, PERFDATA_STAT, 0);
	pd_64(f, w, 11);
	pd_32(f, w, 1);
	pd_32(f, w, 2);
	for (uint64_t i = 3; i <= 5; i++)
		pd_64(f, w, i * 1000);
	pd_end(f);
	w = pd_begin(f, PERFDATA_STAT_ROUND, 0);
	pd_64(f, w, 1);
	pd_64(f, w, 6000);
	pd_end(f);
	w = pd_begin(f, PERFDATA_EVENT_UPDATE, 0);
	pd_64(f, w, 2); /* a name */
	pd_64(f, w, 12);
	pd_text(w, "renamed", 8);
	pd_end(f);
	pd_begin(f, PERFDATA_FINISHED_INIT, 0);
	pd_end(f);
	w = pd_begin(f, PERFDATA_BPF_METADATA, 0);
	pd_64(f, w, 0);
	pd_end(f);
	pd_end(f);
}

static inline void pd_build_id(struct pd_file *f, struct wr *w)
{
	size_t at = w->n;
	uint16_t n;

	pd_32(f, w, 0);
	pd_16(f, w, PERFDATA_MODE_USER | PERFDATA_MISC_BUILD_ID_SIZE);
	pd_16(f, w, 0);
	pd_32(f, w, UINT32_MAX);
	wr_bytes(w, "ABCDEFGHIJKLMNOPQRST\x10\0\0\0", 24);
	pd_text(w, "/usr/lib/libx.so", 8);
	n = (uint16_t)(w->n - at);
	n = f->big_endian ? __builtin_bswap16(n) : n;
	memcpy(w->v + at + 6, &n, 2);
}

static inline void pd_sections(struct pd_file *f)
{
	static const uint32_t texts[] = {PERFDATA_F_HOSTNAME, PERFDATA_F_OSRELEASE,
					 PERFDATA_F_VERSION,  PERFDATA_F_ARCH,
					 PERFDATA_F_CPUDESC,  PERFDATA_F_CPUID};
	static const char *const said[] = {"box",    "6.1.0", "6.1",
					   "x86_64", "A CPU", "GenuineIntel,6"};
	struct wr *s = f->sections, *w;

	for (size_t i = 0; i < n_elems(texts); i++)
		pd_string(f, &s[texts[i]], said[i]);
	pd_tracing(f, &s[PERFDATA_F_TRACING_DATA]);
	pd_build_id(f, &s[PERFDATA_F_BUILD_ID]);
	pd_32(f, &s[PERFDATA_F_NRCPUS], 8);
	pd_32(f, &s[PERFDATA_F_NRCPUS], 4);
	pd_64(f, &s[PERFDATA_F_TOTAL_MEM], 16000000);
	w = &s[PERFDATA_F_CMDLINE];
	pd_32(f, w, 2);
	pd_string(f, w, "perf");
	pd_string(f, w, "record");
	w = &s[PERFDATA_F_EVENT_DESC];
	pd_32(f, w, f->n_events);
	pd_32(f, w, PD_ATTR_BYTES);
	for (unsigned i = 0; i < f->n_events; i++) {
		pd_attr(f, w, &f->events[i].attr);
		pd_32(f, w, 1);
		pd_string(f, w, i ? "rich" : "cycles:u");
		pd_64(f, w, f->events[i].id);
	}
	w = &s[PERFDATA_F_CPU_TOPOLOGY];
	pd_32(f, w, 1);
	pd_string(f, w, "0-3");
	pd_32(f, w, 1);
	pd_string(f, w, "0");
	for (unsigned i = 0; i < 8; i++) {
		pd_32(f, w, i);
		pd_32(f, w, 0);
	}
	w = &s[PERFDATA_F_NUMA_TOPOLOGY];
	pd_32(f, w, 1);
	pd_32(f, w, 0);
	pd_64(f, w, 1000);
	pd_64(f, w, 500);
	pd_string(f, w, "0-3");
	pd_32(f, &s[PERFDATA_F_PMU_MAPPINGS], 1);
	pd_32(f, &s[PERFDATA_F_PMU_MAPPINGS], 4);
	pd_string(f, &s[PERFDATA_F_PMU_MAPPINGS], "cpu");
	w = &s[PERFDATA_F_GROUP_DESC];
	pd_32(f, w, 1);
	pd_string(f, w, "group");
	pd_32(f, w, 0);
	pd_32(f, w, 2);
	w = &s[PERFDATA_F_AUXTRACE];
	pd_64(f, w, 1);
	pd_64(f, w, 0x400);
	pd_64(f, w, 48);
	w = &s[PERFDATA_F_CACHE];
	pd_32(f, w, 1);
	pd_32(f, w, 1);
	for (uint32_t i = 1; i <= 4; i++)
		pd_32(f, w, i * 8);
	pd_string(f, w, "Data");
	pd_string(f, w, "32K");
	pd_string(f, w, "0");
	pd_64(f, &s[PERFDATA_F_SAMPLE_TIME], 1000);
	pd_64(f, &s[PERFDATA_F_SAMPLE_TIME], 2000);
	w = &s[PERFDATA_F_MEM_TOPOLOGY];
	pd_64(f, w, 1);
	pd_64(f, w, 0x8000000);
	pd_64(f, w, 1);
	pd_64(f, w, 0);
	pd_64(f, w, 3);
	pd_64(f, w, 3);
	pd_64(f, w, 7);
	pd_64(f, &s[PERFDATA_F_CLOCKID], 1);
	w = &s[PERFDATA_F_BPF_PROG_INFO];
	pd_32(f, w, 1);
	pd_32(f, w, 8);
	pd_32(f, w, 4);
	pd_64(f, w, 0);
	wr_bytes(w, "infoinfodata", 12);
	w = &s[PERFDATA_F_BPF_BTF];
	pd_32(f, w, 1);
	pd_32(f, w, 9);
	pd_32(f, w, 4);
	wr_bytes(w, "btf!", 4);
	for (uint32_t i = 1; i <= 5; i++)
		pd_32(f, &s[PERFDATA_F_COMPRESSED], i);
	w = &s[PERFDATA_F_CPU_PMU_CAPS];
	pd_32(f, w, 1);
	pd_string(f, w, "branches");
	pd_string(f, w, "32");
	w = &s[PERFDATA_F_CLOCK_DATA];
	pd_32(f, w, 1);
	pd_32(f, w, 1);
	pd_64(f, w, 1700000000000000000);
	pd_64(f, w, 500);
	w = &s[PERFDATA_F_HYBRID_TOPOLOGY];
	pd_32(f, w, 1);
	pd_string(f, w, "cpu_core");
	pd_string(f, w, "0-3");
	w = &s[PERFDATA_F_PMU_CAPS];
	pd_32(f, w, 1);
	pd_32(f, w, 1);
	pd_string(f, w, "max_precise");
	pd_string(f, w, "3");
	pd_string(f, w, "cpu");
}

/* The records so far as compressed records of PIECE bytes each, of the new kind or the old: one
 * stream, which takes no heed of where records end. */
static inline void pd_compress(struct pd_file *f, bool old, size_t piece)
{
	struct wr plain = f->data;
	size_t cap = ZSTD_compressBound(piece) + 64;
	ZSTD_CCtx *z = ZSTD_createCCtx();
	uint8_t *buf = xmalloc(cap);

	f->data = (struct wr){0};
	for (size_t at = 0; at < plain.n; at += piece) {
		ZSTD_inBuffer in = {plain.v + at, plain.n - at < piece ? plain.n - at : piece, 0};
		ZSTD_outBuffer out = {buf, cap, 0};
		struct wr *w = pd_begin(f, old ? PERFDATA_COMPRESSED : PERFDATA_COMPRESSED2, 0);

		ZSTD_compressStream2(z, &out, &in, ZSTD_e_flush);
		if (!old)
			pd_64(f, w, out.pos);
		wr_bytes(w, buf, out.pos);
		while (!old && (w->n - f->record) % 8)
			wr_u8(w, 0);
		pd_end(f);
	}
	ZSTD_freeCCtx(z);
	free(buf);
	wr_release(&plain);
}

static inline void pd_everything(struct pd_file *f, bool big_endian, bool pipe)
{
	*f = (struct pd_file){.big_endian = big_endian, .pipe = pipe};
	pd_event(f, &pd_plain, 11);
	pd_event(f, &pd_rich, 12);
	pd_own_records(f);
	pd_kernel_records(f);
	pd_round(f);
	if (!pipe)
		pd_sections(f);
	pd_finish(f);
}

#endif
