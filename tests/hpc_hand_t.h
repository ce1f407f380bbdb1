/* SPDX-License-Identifier: BSD-2-Clause */
/* Small files of an HPCToolkit database, put down byte by byte after the tables of FORMATS.md and
 * docs/formats/hpctoolkit.md, without the project's writers.  The three hold the same values:
 *
 *     profile 1: context 0: metric 1 = 1.5, metric 2 = -2; context 5: metric 1 = 4
 *     profile 2: none
 *     summary:   context 0: statistic 7 = 5.5 */
#ifndef TESTS_HPC_HAND_T_H
#define TESTS_HPC_HAND_T_H

#include "base/wr.h"
#include "formats/hpc/hpc.h"

/* What later minor versions may do. */
struct hand_extra {
	uint8_t minor;
	unsigned stride; /* further bytes of each {PI}, {CI}, {TH}: a multiple of 8 */
	uint32_t flags;	 /* further bits of {PI} flags and {Id} flags */
};

static inline void hand_f64(struct wr *w, double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	wr_le64(w, bits);
}

/* Bytes that mean nothing: what hpcprof leaves in padding. */
static inline void hand_fill(struct wr *w, size_t to)
{
	while (w->n < to)
		wr_u8(w, 0xe7);
}

static inline void hand_header(struct wr *w, const char *magic, const struct hand_extra *x)
{
	wr_bytes(w, magic, 14);
	wr_u8(w, 4);
	wr_u8(w, x->minor);
}

/* Where things are in hand_profile: {PI} I, tuples, blocks. */
static inline size_t hand_pi(enum hpc_layout l, const struct hand_extra *x, unsigned i)
{
	return 0x40 + i * ((l == HPC_PAGE ? 0x28 : 0x30) + x->stride);
}

static inline void hand_one_pi(struct wr *w, enum hpc_layout l, const struct hand_extra *x,
			       unsigned i, const uint64_t v[5])
{
	wr_le64(w, v[0]);
	wr_le64(w, v[1]);
	wr_le32(w, (uint32_t)v[2]);
	hand_fill(w, hand_pi(l, x, i) + 0x18);
	wr_le64(w, v[3]);
	wr_le64(w, v[4]);
	if (l == HPC_RELEASED)
		wr_le32(w, (i == 0) | x->flags);
	hand_fill(w, hand_pi(l, x, i + 1));
}

static inline void hand_id(struct wr *w, uint8_t kind, uint16_t flags, uint32_t logical,
			   uint64_t physical)
{
	wr_u8(w, kind);
	wr_u8(w, 0);
	wr_le16(w, flags);
	wr_le32(w, logical);
	wr_le64(w, physical);
}

static inline struct wr hand_profile(enum hpc_layout l, const struct hand_extra *x)
{
	size_t tuples = hand_pi(l, x, 3), blocks = tuples + 24 + 40;
	struct wr w = {0};

	hand_header(&w, "HPCTOOLKITprof", x);
	wr_le64(&w, tuples - 0x30);
	wr_le64(&w, 0x30);
	wr_le64(&w, 64);
	wr_le64(&w, tuples);
	wr_le64(&w, 0x40);
	wr_le32(&w, 3);
	wr_u8(&w, (uint8_t)(hand_pi(l, x, 1) - 0x40));
	hand_fill(&w, 0x40);
	hand_one_pi(&w, l, x, 0, (uint64_t[]){1, blocks + 56, 1, blocks + 68, 0});
	hand_one_pi(&w, l, x, 1, (uint64_t[]){3, blocks, 2, blocks + 32, tuples});
	hand_one_pi(&w, l, x, 2, (uint64_t[]){0, 0xdeadbeef, 0, 0xdeadbeef, tuples + 24});
	wr_le16(&w, 1);
	hand_fill(&w, tuples + 8);
	hand_id(&w, HPC_ID_THREAD, 0, 0, 0);
	wr_le16(&w, 2);
	hand_fill(&w, tuples + 32);
	hand_id(&w, HPC_ID_NODE, (uint16_t)(1 | x->flags), 3, 0xabcdef012345);
	hand_id(&w, HPC_ID_THREAD, 0, 1, 1);

	wr_le16(&w, 1);
	hand_f64(&w, 1.5);
	wr_le16(&w, 2);
	hand_f64(&w, -2);
	wr_le16(&w, 1);
	hand_f64(&w, 4);
	hand_fill(&w, blocks + 32);
	wr_le32(&w, 0);
	wr_le64(&w, 0);
	wr_le32(&w, 5);
	wr_le64(&w, 2);

	wr_le16(&w, 7);
	hand_f64(&w, 5.5);
	hand_fill(&w, blocks + 68);
	wr_le32(&w, 0);
	wr_le64(&w, 0);
	wr_bytes(&w, "_prof.db", 8);
	return w;
}

/* Where {CI} I is in hand_cct; 6 of them. */
static inline size_t hand_ci(const struct hand_extra *x, unsigned i)
{
	return 0x40 + i * (0x20 + x->stride);
}

static inline struct wr hand_cct(const struct hand_extra *x)
{
	size_t blocks = hand_ci(x, 6);
	struct wr w = {0};

	hand_header(&w, "HPCTOOLKITctxt", x);
	wr_le64(&w, blocks - 0x30);
	wr_le64(&w, 0x30);
	hand_fill(&w, 0x30);
	wr_le64(&w, 0x40);
	wr_le32(&w, 6);
	wr_u8(&w, (uint8_t)(0x20 + x->stride));
	hand_fill(&w, 0x40);
	for (unsigned i = 0; i < 6; i++) {
		wr_le64(&w, i == 0 ? 2 : i == 5 ? 1 : 0);
		wr_le64(&w, i == 0 ? blocks : i == 5 ? blocks + 44 : 0xdeadbeef);
		wr_le16(&w, i == 0 ? 2 : i == 5 ? 1 : 0);
		hand_fill(&w, hand_ci(x, i) + 0x18);
		wr_le64(&w, i == 0 ? blocks + 24 : i == 5 ? blocks + 56 : 0xdeadbeef);
		hand_fill(&w, hand_ci(x, i + 1));
	}
	wr_le32(&w, 1);
	hand_f64(&w, 1.5);
	wr_le32(&w, 1);
	hand_f64(&w, -2);
	wr_le16(&w, 1);
	wr_le64(&w, 0);
	wr_le16(&w, 2);
	wr_le64(&w, 1);

	wr_le32(&w, 1);
	hand_f64(&w, 4);
	wr_le16(&w, 1);
	wr_le64(&w, 0);
	wr_bytes(&w, "__ctx.db", 8);
	return w;
}

/* Where {TH} I is in hand_trace; 2 of them. */
static inline size_t hand_th(enum hpc_layout l, const struct hand_extra *x, unsigned i)
{
	return (l == HPC_PAGE ? 0x50 : 0x40) + i * (0x18 + x->stride);
}

/* A line of three elements for profile 1, an empty one for profile 2. */
static inline struct wr hand_trace(enum hpc_layout l, const struct hand_extra *x)
{
	size_t lines = hand_th(l, x, 2), section = hand_th(l, x, 0) - 0x20;
	struct wr w = {0};

	hand_header(&w, "HPCTOOLKITtrce", x);
	wr_le64(&w, lines - section);
	wr_le64(&w, section);
	hand_fill(&w, section);
	wr_le64(&w, hand_th(l, x, 0));
	wr_le32(&w, 2);
	wr_u8(&w, (uint8_t)(0x18 + x->stride));
	hand_fill(&w, section + 0x10);
	wr_le64(&w, 1000);
	wr_le64(&w, 3000);
	for (unsigned i = 0; i < 2; i++) {
		wr_le32(&w, i + 1);
		hand_fill(&w, hand_th(l, x, i) + 8);
		wr_le64(&w, lines + 40 * i);
		wr_le64(&w, lines + (i ? 40 : 36));
		hand_fill(&w, hand_th(l, x, i + 1));
	}
	for (unsigned i = 0; i < 3; i++) {
		wr_le64(&w, 1000 + 500 * i);
		wr_le32(&w, (uint32_t[]){0, 5, 0}[i]);
	}
	hand_fill(&w, lines + 40);
	wr_bytes(&w, "trace.db", 8);
	return w;
}

#endif
