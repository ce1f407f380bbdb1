/* SPDX-License-Identifier: BSD-2-Clause */
/* A profile of hpcrun and its time line, as docs/formats/hpcrun.md has them, for tests. */
#ifndef TESTS_HPCRUN_T_H
#define TESTS_HPCRUN_T_H

#include <string.h>

#include "base/wr.h"
#include "formats/hpc/hpcrun.h"

static inline void hpcrun_t_put(struct wr *w, uint64_t x, unsigned n_bytes)
{
	while (n_bytes--)
		wr_u8(w, (uint8_t)(x >> 8 * n_bytes));
}

static inline void hpcrun_t_text(struct wr *w, const char *s)
{
	hpcrun_t_put(w, strlen(s), 4);
	wr_bytes(w, s, strlen(s));
}

static inline void hpcrun_t_node(struct wr *w, uint32_t id, uint32_t parent, uint16_t module,
				 uint64_t ip, uint8_t flags)
{
	hpcrun_t_put(w, id, 4);
	hpcrun_t_put(w, parent, 4);
	hpcrun_t_put(w, module, 2);
	hpcrun_t_put(w, ip, 8);
	wr_u8(w, flags);
}

static inline void hpcrun_t_metric(struct wr *w, const char *name, uint8_t format, uint64_t period,
				   const char *formula)
{
	const uint8_t flags[16] = {1, 0, format};

	hpcrun_t_text(w, name);
	hpcrun_t_text(w, "what it counts");
	wr_bytes(w, flags, sizeof(flags));
	hpcrun_t_put(w, period, 8);
	hpcrun_t_text(w, formula);
	hpcrun_t_text(w, "");
	hpcrun_t_put(w, 0, 2 + 2);
	hpcrun_t_put(w, 0, 8);
	hpcrun_t_put(w, 0, 8);
}

static inline uint64_t hpcrun_t_bits(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

/* A thread of the program at PATH: 1.5 s in 0x1010 called from 0x1100, 7 faults there, 0.25 s in a
 * path that nobody could follow, 0.5 s in a module that is not listed. */
static inline void hpcrun_t_make_of(struct wr *w, const char *path)
{
	size_t at[14], n = 0;

	at[n++] = w->n;
	wr_bytes(w, "HPCRUN-profile____04.00b", 24);
	hpcrun_t_put(w, 4, 4);
	hpcrun_t_text(w, "program-name");
	hpcrun_t_text(w, "prog");
	hpcrun_t_text(w, "process-id");
	hpcrun_t_text(w, "5560");
	hpcrun_t_text(w, "thread-id");
	hpcrun_t_text(w, "2");
	hpcrun_t_text(w, "host-id");
	hpcrun_t_text(w, "11ac0300");
	at[n++] = w->n;
	at[n++] = w->n;
	hpcrun_t_put(w, 2, 4);
	hpcrun_t_put(w, 1, 2);
	hpcrun_t_text(w, path);
	hpcrun_t_put(w, 1, 8);
	hpcrun_t_put(w, 2, 2);
	hpcrun_t_text(w, "kernel_symbols/vmlinux.11ac0300");
	hpcrun_t_put(w, 0, 8);
	at[n++] = w->n;
	at[n++] = w->n;
	hpcrun_t_put(w, 8, 8);
	hpcrun_t_node(w, 12, 0, 0, HPCRUN_ROOT, 1);
	hpcrun_t_node(w, 14, 12, 0, HPCRUN_THREAD, 1);
	hpcrun_t_node(w, 16, 14, 1, 0x1100, 1);
	hpcrun_t_node(w, 18, 16, 1, 0x1010, 1);
	hpcrun_t_node(w, 20, 12, 0, HPCRUN_PARTIAL, 1);
	hpcrun_t_node(w, 22, 20, 1, 0x1010, 1);
	hpcrun_t_node(w, 24, 16, 65530, 0, 1);
	hpcrun_t_node(w, 26, 12, 0, HPCRUN_NO_ACTIVITY, 1);
	at[n++] = w->n;
	at[n++] = w->n;
	hpcrun_t_put(w, 3, 4);
	hpcrun_t_metric(w, "CPUTIME (sec)", 2, 1, "");
	hpcrun_t_metric(w, "FAULTS", 1, 7, "");
	hpcrun_t_metric(w, "BOTH", 2, 1, "#0+#1");
	at[n++] = w->n;
	at[n++] = w->n;
	hpcrun_t_put(w, 1, 2);
	hpcrun_t_put(w, 3, 2);
	hpcrun_t_text(w, "THREAD");
	at[n++] = w->n;
	at[n++] = w->n;
	hpcrun_t_put(w, 2, 2); /* RANK 3, physically and logically; THREAD 2 */
	hpcrun_t_put(w, 0xc002, 2);
	hpcrun_t_put(w, 3, 8);
	hpcrun_t_put(w, 3, 8);
	hpcrun_t_put(w, 0xc003, 2);
	hpcrun_t_put(w, 2, 8);
	hpcrun_t_put(w, 2, 8);
	hpcrun_t_put(w, 4, 8);
	hpcrun_t_put(w, 3, 4);
	hpcrun_t_put(w, hpcrun_t_bits(1.5), 8);
	hpcrun_t_put(w, 0, 2);
	hpcrun_t_put(w, 1, 8);
	hpcrun_t_put(w, 1, 2);
	hpcrun_t_put(w, hpcrun_t_bits(0.25), 8);
	hpcrun_t_put(w, 0, 2);
	hpcrun_t_put(w, hpcrun_t_bits(0.5), 8);
	hpcrun_t_put(w, 0, 2);
	hpcrun_t_put(w, 18, 4);
	hpcrun_t_put(w, 0, 8);
	hpcrun_t_put(w, 22, 4);
	hpcrun_t_put(w, 2, 8);
	hpcrun_t_put(w, 24, 4);
	hpcrun_t_put(w, 3, 8);
	hpcrun_t_put(w, 0x656e6421, 4);
	hpcrun_t_put(w, 4, 8);
	at[n++] = w->n;
	at[n++] = w->n;
	for (size_t i = 0; i < n; i++)
		hpcrun_t_put(w, at[i], 8);
	hpcrun_t_put(w, 0x48504352554e736d, 8);
}

static inline void hpcrun_t_make(struct wr *w)
{
	hpcrun_t_make_of(w, "/bin/prog");
}

/* It was idle, then at the call, then in what it called, then in a node that is not there. */
static inline void hpcrun_t_trace(struct wr *w)
{
	static const uint32_t nodes[] = {26, 16, 18, 99};

	wr_bytes(w, "HPCRUN-trace______01.01b", 24);
	hpcrun_t_put(w, 0, 8);
	for (unsigned i = 0; i < 4; i++) {
		hpcrun_t_put(w, 1714021984008891000 + i * 1000, 8);
		hpcrun_t_put(w, nodes[i], 4);
	}
}

#endif
