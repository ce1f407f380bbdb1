/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes what perf would have recorded:  mkperf [pipe] [big] <DESCRIPTION >FILE
 *
 * One line a record; numbers are decimal but for addresses and build-ids.
 *   host NAME                                 a section; before `finish` of a file
 *   cpu ID                                    a section: what CPU, as perf writes it
 *   event PERIOD [chains|branches|memory]            a software clock; the first line
 *   freq HZ [chains|cycles]                   the same, with periods that vary; cycles for a clock
 *   period N                                  of the samples that follow
 *   comm PID TID NAME, exec PID NAME          at time 1
 *   mmap PID ADDR BYTES OFFSET PATH [ID]      at time 1
 *   fork PID TID PPID TIME
 *   sample PID TID TIME MODE IP [CALLER...]   MODE is u (user), k (kernel), h (hypervisor), gk
 *                                             or gu (guest's); marks are `user`, `kernel`
 *   branches PID TID TIME IP FROM:TO:H[:C]... a sample with its branches, newest first; H is m
 *                                             (mispredicted), p (predicted) or - ; C is cycles
 *   access PID TID TIME IP ADDR WORD,WORD... WEIGHT [PHYS [CPU]]   a sample with the address of its
 *                                             data, of `event PERIOD memory`; see source_words
 *   numa CPUS...                              a section: CPUs of node 0, of node 1, ...
 *   blocks BYTES BITS...                      a section: blocks of memory of node 0, of node 1, ...
 *   counter NAME ID                           an event of perf stat record; its ID
 *   count ID CPU THREAD VALUE ENABLED RUNNING what it counted so far, of perf stat record
 *   final NS                                  the end of all counting, so long after the start
 *   lost N                                    records that found no room
 *   odd TYPE                                  a record nobody knows
 *   round                                     the end of one of perf's rounds */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "perfdata_t.h"

#define EVENT_ID 7
#define HOSTNAME 3 /* HEADER_HOSTNAME */

static struct pd_file f;

static uint64_t word(char **words, int i, int base)
{
	return words[i] ? strtoull(words[i], NULL, base) : 0;
}

static void put_end(uint64_t time)
{
	pd_id(&f, f.events[0].attr.sample_type, 0, 0, time, EVENT_ID);
}

static void put_event(char **words, int n)
{
	struct perfdata_attr a = {.type = 1,
				  .period = word(words, 1, 10),
				  .sample_type = PERFDATA_S_IP | PERFDATA_S_TID | PERFDATA_S_TIME |
						 PERFDATA_S_ID,
				  .flags = 1ull << PERFDATA_A_SAMPLE_ID_ALL};

	if (strcmp(words[0], "freq") == 0) {
		a.flags |= 1ull << PERFDATA_A_FREQ;
		a.sample_type |= PERFDATA_S_PERIOD;
	}
	if (n > 2 && strcmp(words[2], "cycles") == 0)
		a.type = 0; /* PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES */
	else if (n > 2 && strcmp(words[2], "memory") == 0)
		a.sample_type |= PERFDATA_S_ADDR | PERFDATA_S_CPU | PERFDATA_S_WEIGHT |
				 PERFDATA_S_DATA_SRC | PERFDATA_S_PHYS_ADDR;
	else if (n > 2)
		a.sample_type |= strcmp(words[2], "branches") == 0 ? PERFDATA_S_BRANCH_STACK
								   : PERFDATA_S_CALLCHAIN;
	pd_event(&f, &a, EVENT_ID);
}

static void put_mmap(char **words, int n)
{
	struct build_id id = {0};

	for (const char *s = n > 6 ? words[6] : ""; s[0] && s[1]; s += 2) {
		char byte[3] = {s[0], s[1], 0};

		id.bytes[id.n_bytes++] = (uint8_t)strtoul(byte, NULL, 16);
	}
	pd_mmap2(&f, (uint32_t)word(words, 1, 10), word(words, 2, 16), word(words, 3, 16),
		 word(words, 4, 16), words[5], id.n_bytes ? &id : NULL, 1);
}

static unsigned mode_of(const char *word)
{
	static const struct {
		const char *word;
		unsigned mode;
	} modes[] = {{"u", PERFDATA_MODE_USER},
		     {"h", PERFDATA_MODE_HYPERVISOR},
		     {"gk", PERFDATA_MODE_GUEST_KERNEL},
		     {"gu", PERFDATA_MODE_GUEST_USER}};

	for (size_t i = 0; i < n_elems(modes); i++)
		if (strcmp(word, modes[i].word) == 0)
			return modes[i].mode;
	return PERFDATA_MODE_KERNEL;
}

static void put_sample(char **words, int n)
{
	unsigned mode = mode_of(words[4]);
	uint64_t ips[64];
	size_t n_ips = 0;

	for (int i = 5; i < n; i++)
		ips[n_ips++] = strcmp(words[i], "user") == 0	 ? PERFDATA_CONTEXT_USER
			       : strcmp(words[i], "kernel") == 0 ? PERFDATA_CONTEXT_KERNEL
								 : word(words, i, 16);
	pd_sample(&f, 0, (uint16_t)mode, (uint32_t)word(words, 1, 10), (uint32_t)word(words, 2, 10),
		  word(words, 3, 10), ips[0], ips + 1, n_ips - 1);
}

/* perf_event.h: struct perf_branch_entry, of a machine of the lower byte order. */
static void put_branches(char **words, int n)
{
	struct wr *w = pd_begin(&f, PERFDATA_SAMPLE, PERFDATA_MODE_USER);

	pd_64(&f, w, word(words, 4, 16));
	pd_32(&f, w, (uint32_t)word(words, 1, 10));
	pd_32(&f, w, (uint32_t)word(words, 2, 10));
	pd_64(&f, w, word(words, 3, 10));
	pd_64(&f, w, EVENT_ID);
	pd_64(&f, w, (uint64_t)(n - 5));
	for (int i = 5; i < n; i++) {
		unsigned long long from = 0, to = 0, cycles = 0;
		char how = '-';

		sscanf(words[i], "%llx:%llx:%c:%llu", &from, &to, &how, &cycles);
		pd_64(&f, w, from);
		pd_64(&f, w, to);
		pd_64(&f, w, (how == 'm' ? 1 : how == 'p' ? 2 : 0) | cycles << 4);
	}
	pd_end(&f);
}

/* perf_event.h: union perf_mem_data_src, PERF_MEM_*. */
static uint64_t data_source(char *text)
{
	static const struct {
		const char *word;
		uint64_t bits;
	} source_words[] = {{"load", 2},
			    {"store", 4},
			    {"l1", 0xaull << 5},
			    {"lfb", 0x12ull << 5},
			    {"l2", 0x22ull << 5},
			    {"l3", 0x42ull << 5},
			    {"ram", 0x82ull << 5},
			    {"far", 0x102ull << 5 | 1ull << 37},
			    {"io", 0x1002ull << 5},
			    {"miss", 0xcull << 5},
			    {"nosnoop", 2ull << 19},
			    {"hitm", 0x10ull << 19},
			    {"tlb1", 0xaull << 26},
			    {"tlb2", 0x12ull << 26},
			    {"walk", 0x24ull << 26},
			    {"locked", 2ull << 24},
			    {"remote", 1ull << 37}};
	uint64_t bits = 0;
	char *save = NULL;

	for (char *s = strtok_r(text, ",", &save); s; s = strtok_r(NULL, ",", &save))
		for (size_t i = 0; i < n_elems(source_words); i++)
			if (strcmp(s, source_words[i].word) == 0)
				bits |= source_words[i].bits;
	return bits;
}

static void put_access(char **words)
{
	struct wr *w = pd_begin(&f, PERFDATA_SAMPLE, PERFDATA_MODE_USER);

	pd_64(&f, w, word(words, 4, 16));
	pd_32(&f, w, (uint32_t)word(words, 1, 10));
	pd_32(&f, w, (uint32_t)word(words, 2, 10));
	pd_64(&f, w, word(words, 3, 10));
	pd_64(&f, w, word(words, 5, 16));
	pd_64(&f, w, EVENT_ID);
	pd_32(&f, w, words[8] ? (uint32_t)word(words, 9, 10) : 0);
	pd_32(&f, w, 0);
	pd_64(&f, w, word(words, 7, 10));
	pd_64(&f, w, data_source(words[6]));
	pd_64(&f, w, word(words, 8, 16));
	pd_end(&f);
}

static void put_nodes(char **words, int n)
{
	struct wr *w = &f.sections[PERFDATA_F_NUMA_TOPOLOGY];

	pd_32(&f, &f.sections[PERFDATA_F_NRCPUS], 4 * (uint32_t)(n - 1));
	pd_32(&f, &f.sections[PERFDATA_F_NRCPUS], 4 * (uint32_t)(n - 1));
	pd_32(&f, w, (uint32_t)n - 1);
	for (int i = 1; i < n; i++) {
		pd_32(&f, w, (uint32_t)i - 1);
		pd_64(&f, w, 1 << 20);
		pd_64(&f, w, 1 << 20);
		pd_string(&f, w, words[i]);
	}
}

static void put_blocks(char **words, int n)
{
	struct wr *w = &f.sections[PERFDATA_F_MEM_TOPOLOGY];

	pd_64(&f, w, 1);
	pd_64(&f, w, word(words, 1, 10));
	pd_64(&f, w, (uint64_t)n - 2);
	for (int i = 2; i < n; i++) {
		pd_64(&f, w, (uint64_t)i - 2);
		pd_64(&f, w, 1);
		pd_64(&f, w, 64);
		pd_64(&f, w, word(words, i, 16));
	}
}

static const char *counters[PD_MAX_EVENTS]; /* names, by event */

static void put_counter(char **words)
{
	const struct perfdata_attr a = {.type = 4, .sample_type = PERFDATA_S_IDENTIFIER};

	counters[f.n_events] = strdup(words[1]);
	pd_event(&f, &a, word(words, 2, 10));
}

/* The section that names events. */
static void put_names(void)
{
	struct wr *w = &f.sections[PERFDATA_F_EVENT_DESC];

	pd_32(&f, w, f.n_events);
	pd_32(&f, w, PD_ATTR_BYTES);
	for (unsigned i = 0; i < f.n_events; i++) {
		pd_attr(&f, w, &f.events[i].attr);
		pd_32(&f, w, 1);
		pd_string(&f, w, counters[i]);
		pd_64(&f, w, f.events[i].id);
	}
}

/* Linux, tools/lib/perf/include/perf/event.h: struct perf_record_stat, perf_record_stat_round. */
static void put_count(char **words)
{
	struct wr *w = pd_begin(&f, PERFDATA_STAT, 0);

	pd_64(&f, w, word(words, 1, 10));
	pd_32(&f, w, (uint32_t)word(words, 2, 10));
	pd_32(&f, w, (uint32_t)word(words, 3, 10));
	for (int i = 4; i < 7; i++)
		pd_64(&f, w, word(words, i, 10));
	pd_end(&f);
}

static void put_final(char **words)
{
	struct wr *w = pd_begin(&f, PERFDATA_STAT_ROUND, 0);

	pd_64(&f, w, 1);
	pd_64(&f, w, word(words, 1, 10));
	pd_end(&f);
}

static void put(char **words, int n)
{
	const char *what = words[0];
	struct wr *w;

	if (strcmp(what, "host") == 0) {
		pd_string(&f, &f.sections[HOSTNAME], words[1]);
	} else if (strcmp(what, "cpu") == 0) {
		pd_string(&f, &f.sections[PERFDATA_F_CPUID], words[1]);
	} else if (strcmp(what, "event") == 0 || strcmp(what, "freq") == 0) {
		put_event(words, n);
	} else if (strcmp(what, "counter") == 0) {
		put_counter(words);
	} else if (strcmp(what, "count") == 0) {
		put_count(words);
	} else if (strcmp(what, "final") == 0) {
		put_final(words);
	} else if (strcmp(what, "period") == 0) {
		f.period = word(words, 1, 10);
	} else if (strcmp(what, "comm") == 0) {
		pd_comm(&f, (uint32_t)word(words, 1, 10), (uint32_t)word(words, 2, 10), words[3],
			false, 1);
	} else if (strcmp(what, "exec") == 0) {
		pd_comm(&f, (uint32_t)word(words, 1, 10), (uint32_t)word(words, 1, 10), words[2],
			true, 1);
	} else if (strcmp(what, "mmap") == 0) {
		put_mmap(words, n);
	} else if (strcmp(what, "fork") == 0) {
		pd_fork(&f, PERFDATA_FORK, (uint32_t)word(words, 1, 10),
			(uint32_t)word(words, 2, 10), (uint32_t)word(words, 3, 10),
			(uint32_t)word(words, 3, 10), word(words, 4, 10));
	} else if (strcmp(what, "sample") == 0 && n > 5) {
		put_sample(words, n);
	} else if (strcmp(what, "branches") == 0 && n > 5) {
		put_branches(words, n);
	} else if (strcmp(what, "access") == 0 && n > 7) {
		put_access(words);
	} else if (strcmp(what, "numa") == 0) {
		put_nodes(words, n);
	} else if (strcmp(what, "blocks") == 0) {
		put_blocks(words, n);
	} else if (strcmp(what, "lost") == 0) {
		w = pd_begin(&f, PERFDATA_LOST, 0);
		pd_64(&f, w, EVENT_ID);
		pd_64(&f, w, word(words, 1, 10));
		put_end(2);
	} else if (strcmp(what, "odd") == 0) {
		pd_begin(&f, (uint32_t)word(words, 1, 10), 0);
		pd_end(&f);
	} else if (strcmp(what, "round") == 0) {
		pd_round(&f);
	} else {
		fprintf(stderr, "mkperf: %s?\n", what);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	char line[1024];

	for (int i = 1; i < argc; i++) {
		f.pipe |= strcmp(argv[i], "pipe") == 0;
		f.big_endian |= strcmp(argv[i], "big") == 0;
	}
	while (fgets(line, sizeof(line), stdin)) {
		char *words[64] = {0}, *save = NULL;
		int n = 0;

		for (char *s = strtok_r(line, " \t\n", &save); s && n < 63;
		     s = strtok_r(NULL, " \t\n", &save))
			words[n++] = s;
		if (n)
			put(words, n);
	}
	if (counters[0])
		put_names();
	pd_finish(&f);
	return file_write_all(1, f.out.v, f.out.n) < 0;
}
