/* SPDX-License-Identifier: BSD-2-Clause */
/* See arm_spe.h.  Packets and events are those of the Arm Architecture Reference Manual, D10.2, as
 * Linux reads them (tools/perf/util/arm-spe-decoder); which event bits a packet of what size can
 * carry is there too.  Data sources are those of the Neoverse cores' technical reference manuals
 * (tools/perf/util/arm-spe.c, common_ds_encoding_cpus). */
#include "formats/facts/arm_spe.h"

#include <endian.h>
#include <string.h>

#include "base/str.h"

enum packet_type {
	PACKET_NONE, /* padding, or one whose meaning is not needed */
	PACKET_END,
	PACKET_TIME,
	PACKET_EVENTS,
	PACKET_SOURCE,
	PACKET_CONTEXT,
	PACKET_OP,
	PACKET_ADDRESS,
	PACKET_COUNTER,
};

struct packet {
	enum packet_type type;
	unsigned index;
	unsigned n_bytes; /* of the payload */
	uint64_t payload;
};

enum event_bit {
	EV_EXCEPTION = 0,
	EV_RETIRED = 1,
	EV_L1D_ACCESS = 2,
	EV_L1D_REFILL = 3,
	EV_TLB_WALK = 5,
	EV_NOT_TAKEN = 6,
	EV_MISPREDICTED = 7,
	EV_LLC_ACCESS = 8,
	EV_LLC_MISS = 9,
	EV_REMOTE = 10,
	EV_ALIGNMENT = 11,
	EV_TXN = 16,
	EV_L2D_ACCESS = 19,
	EV_L2D_MISS = 20,
	EV_SNOOPED = 23,
};

static unsigned wide_index(uint8_t h0, uint8_t h1)
{
	return (h0 & 3u) << 3 | (h1 & 7u);
}

/* By header, or behind an extended header the byte after it: which packet it begins. */
static const uint8_t packet_types[256] = {
	[0x01] = PACKET_END,
	[0x71] = PACKET_TIME,
	[0x42] = PACKET_EVENTS,
	[0x52] = PACKET_EVENTS,
	[0x62] = PACKET_EVENTS,
	[0x72] = PACKET_EVENTS,
	[0x43] = PACKET_SOURCE,
	[0x53] = PACKET_SOURCE,
	[0x63] = PACKET_SOURCE,
	[0x73] = PACKET_SOURCE,
	[0x64 ... 0x67] = PACKET_CONTEXT,
	[0x48 ... 0x4b] = PACKET_OP,
	[0xb0 ... 0xb7] = PACKET_ADDRESS,
	[0x98 ... 0x9f] = PACKET_COUNTER,
};

/* The N (1, 2, 4 or 8) bytes at P. */
static uint64_t payload(const uint8_t *p, const uint8_t *end, unsigned n)
{
	uint64_t v = 0;

	if (end - p >= 8) {
		memcpy(&v, p, 8);
		return le64toh(v) & (~0ull >> (64 - 8 * n));
	}
	for (unsigned i = 0; i < n; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

/* Reads the packet at P: the bytes it takes, 0 when there are not enough, -1 when it is none. */
static int read_packet(const uint8_t *p, const uint8_t *end, uint64_t at, struct packet *ret)
{
	size_t left = (size_t)(end - p), head = 1;
	uint8_t h;

	*ret = (struct packet){0};
	if (!left)
		return 0;
	h = *p;
	ret->index = h & 7;
	if (*p == 0)
		return 1;
	if ((*p & 0xfc) == 0x20) { /* a header of two bytes */
		if (left < 2)
			return 0;
		if (p[1] == 0) { /* on to the next multiple of so many bytes */
			size_t to = 2u << (*p & 0xf), n = to - (size_t)(at & (to - 1));

			return n <= left ? (int)n : 0;
		}
		h = p[1];
		ret->index = wide_index(p[0], h);
		head = 2;
		if (packet_types[h] != PACKET_ADDRESS && packet_types[h] != PACKET_COUNTER)
			return -1;
	}
	ret->type = packet_types[h];
	if (ret->type == PACKET_NONE)
		return -1;
	if (ret->type == PACKET_END)
		return (int)head;
	ret->n_bytes = 1u << (h >> 4 & 3);
	if (left < head + ret->n_bytes)
		return 0;
	ret->payload = payload(p + head, end, ret->n_bytes);
	return (int)(head + ret->n_bytes);
}

#define BYTES_0_6 ((1ull << 56) - 1)

/* The top byte of an address of an instruction says its exception level (62:61) and world (63); the
 * kernel's have ones there. */
static uint64_t code_address(uint64_t v, unsigned *ret_el)
{
	unsigned el = v >> 61 & 3;

	*ret_el = el;
	return (v & BYTES_0_6) | (v >> 63 && (el == 1 || el == 2) ? 0xffull << 56 : 0);
}

static void take_address(const struct packet *k, struct arm_spe_record *r)
{
	unsigned el;

	switch (k->index) {
	case 0:
		r->has |= ARM_SPE_PC;
		r->pc = code_address(k->payload, &r->el);
		break;
	case 1:
		r->has |= ARM_SPE_TARGET;
		r->target = code_address(k->payload, &el);
		break;
	case 2: /* the top byte is a tag; kernel addresses are told by the bits below */
		r->has |= ARM_SPE_VA;
		r->va = (k->payload & BYTES_0_6) |
			((k->payload >> 52 & 0xf) == 0xf ? 0xffull << 56 : 0);
		break;
	case 3:
		r->has |= ARM_SPE_PA;
		r->pa = k->payload & BYTES_0_6;
		break;
	default:
		break;
	}
}

static void take_counter(const struct packet *k, struct arm_spe_record *r)
{
	static const uint32_t has[] = {ARM_SPE_TOTAL, ARM_SPE_ISSUE, ARM_SPE_XLAT};
	uint16_t *const to[] = {&r->total, &r->issue, &r->xlat};

	if (k->index >= n_elems(to))
		return;
	r->has |= has[k->index];
	*to[k->index] = (uint16_t)k->payload;
}

static void take_packet(const struct packet *k, struct arm_spe_record *r)
{
	switch (k->type) {
	case PACKET_TIME:
		r->has |= ARM_SPE_TIME;
		r->time = k->payload;
		break;
	case PACKET_EVENTS:
		r->has |= ARM_SPE_EVENTS;
		r->events = k->payload;
		r->n_event_bits = k->n_bytes * 8;
		break;
	case PACKET_SOURCE:
		r->has |= ARM_SPE_SOURCE;
		r->source = (uint8_t)k->payload;
		break;
	case PACKET_CONTEXT:
		r->has |= ARM_SPE_CONTEXT;
		r->context = (uint32_t)k->payload;
		break;
	case PACKET_OP:
		r->has |= ARM_SPE_OP;
		r->class = (uint8_t)(k->index & 3);
		r->subclass = (uint8_t)k->payload;
		break;
	case PACKET_ADDRESS:
		take_address(k, r);
		break;
	case PACKET_COUNTER:
		take_counter(k, r);
		break;
	default:
		break;
	}
}

static void arm_spe_step(struct arm_spe_reader *r, size_t n)
{
	r->p += n;
	r->at += n;
}

bool arm_spe_next(struct arm_spe_reader *r, struct arm_spe_record *ret)
{
	struct arm_spe_reader begin = *r;
	bool damaged = false;

	*ret = (struct arm_spe_record){0};
	for (;;) {
		struct packet k;
		int n = read_packet(r->p, r->end, r->at, &k);

		if (n == 0)
			break;
		if (r->p - begin.p >= ARM_SPE_MOST_BYTES) {
			r->n_garbage += (uint64_t)(r->p - begin.p);
			damaged = false;
			begin = *r;
			*ret = (struct arm_spe_record){0};
		}
		if (n < 0) {
			r->n_garbage++;
			damaged = true;
			arm_spe_step(r, 1);
			continue;
		}
		arm_spe_step(r, (size_t)n);
		take_packet(&k, ret);
		if (k.type != PACKET_END && k.type != PACKET_TIME) {
			if (!ret->has && !damaged)
				begin = *r; /* padding between records */
			continue;
		}
		if (!damaged)
			return true;
		r->n_damaged++;
		damaged = false;
		begin = *r;
		*ret = (struct arm_spe_record){0};
	}
	*r = begin;
	return false;
}

struct arm_spe_machine arm_spe_machine_from_midr(uint64_t midr)
{
	/* Neoverse N1, N2, N3, V1, V2, V3; Cortex-A720, A725, X1C, X3, X925 (part numbers of
	 * MIDR_EL1, implementer Arm). */
	static const uint16_t parts[] = {0xd0c, 0xd49, 0xd8e, 0xd40, 0xd4f, 0xd84,
					 0xd81, 0xd87, 0xd4c, 0xd4e, 0xd85};
	struct arm_spe_machine m = {0};

	if (midr >> 24 != 0x41)
		return m;
	for (size_t i = 0; i < n_elems(parts); i++)
		if ((midr >> 4 & 0xfff) == parts[i])
			m = (struct arm_spe_machine){.sources = true, .v1p1 = parts[i] != 0xd0c};
	return m;
}

/* Facts. */

static bool event(const struct arm_spe_record *r, unsigned i)
{
	return r->events >> i & 1;
}

static void branch_facts(const struct arm_spe_record *r, struct sample_facts *f)
{
	bool branch = r->class == ARM_SPE_BRANCH, cond = branch && r->subclass & 1;
	bool mispredicted = event(r, EV_MISPREDICTED);
	unsigned call_return = r->subclass >> 3 & 3; /* 0: not told, 1: call, 2: return */

	if (!(r->has & ARM_SPE_OP))
		return;
	facts_set(f, FACT_BRANCH, branch);
	facts_set(f, FACT_COND, cond);
	facts_set(f, FACT_INDIRECT, branch && r->subclass & 2);
	if (!branch || cond || call_return) {
		facts_set(f, FACT_CALL, branch && call_return == 1);
		facts_set(f, FACT_RETURN, branch && call_return == 2);
	}
	if (!(r->has & ARM_SPE_EVENTS))
		return;
	facts_set(f, FACT_MISPREDICTED, branch && mispredicted);
	facts_set(f, FACT_MISPREDICT, branch && mispredicted);
	facts_set(f, FACT_CBRMISPREDICT, cond && mispredicted);
	if (cond)
		facts_set(f, FACT_TAKEN, !event(r, EV_NOT_TAKEN));
}

static void set_levels(struct sample_facts *f, int level)
{
	static const uint8_t levels[] = {FACT_L1HIT, FACT_L2HIT, FACT_L3HIT, FACT_DRAM};

	for (size_t i = 0; i < sizeof(levels); i++)
		facts_set(f, levels[i], levels[i] == level);
}

/* 0 L1, 8 L2, 9 a core beside it, 10 its cluster, 11 the system's cache, 12 another cluster, 13
 * another socket, 14 memory.  Told of loads only. */
static bool source_facts(const struct arm_spe_record *r, struct sample_facts *f)
{
	static const struct {
		uint8_t source, level;
		bool snoop, remote;
	} sources[] = {
		{0, FACT_L1HIT, false, false}, {8, FACT_L2HIT, false, false},  {9, 0, true, false},
		{10, 0, true, false},	       {11, FACT_L3HIT, false, false}, {12, 0, true, false},
		{13, 0, false, true},	       {14, FACT_DRAM, false, false},
	};

	for (size_t i = 0; i < n_elems(sources); i++) {
		if (sources[i].source != r->source)
			continue;
		set_levels(f, sources[i].level);
		facts_set(f, FACT_SNOOPHIT, sources[i].snoop);
		facts_set(f, FACT_REMOTE, sources[i].remote);
		return true;
	}
	return false;
}

/* Without a source, as far as the events say: of a cache that was not asked for nothing. */
static void level_facts(const struct arm_spe_record *r, struct sample_facts *f)
{
	if (event(r, EV_L1D_ACCESS) && !event(r, EV_L1D_REFILL)) {
		set_levels(f, FACT_L1HIT);
		return;
	}
	if (event(r, EV_L1D_REFILL))
		facts_set(f, FACT_L1HIT, false);
	if (event(r, EV_L2D_ACCESS))
		facts_set(f, FACT_L2HIT, !event(r, EV_L2D_MISS));
	if (event(r, EV_LLC_ACCESS))
		facts_set(f, FACT_L3HIT, !event(r, EV_LLC_MISS));
	if (event(r, EV_REMOTE))
		facts_set(f, FACT_REMOTE, true);
	if (event(r, EV_SNOOPED))
		facts_set(f, FACT_SNOOPHIT, true);
}

static void memory_facts(const struct arm_spe_record *r, const struct arm_spe_machine *m,
			 struct sample_facts *f)
{
	bool ldst = r->class == ARM_SPE_LDST, store = ldst && r->subclass & 1;
	/* Loads and stores of atomic instructions, exclusives and acquires share a form; bit 2 says
	 * that it reads and writes. */
	bool special = ldst && (r->subclass & 0xe2) == 0x02, atomic = special && r->subclass & 4;

	if (!(r->has & ARM_SPE_OP))
		return;
	facts_set(f, FACT_LOAD, ldst && (!store || atomic));
	facts_set(f, FACT_STORE, store);
	facts_set(f, FACT_LOCKED, atomic);
	if (!ldst) {
		set_levels(f, -1);
		facts_set(f, FACT_REMOTE, false);
		facts_set(f, FACT_MISALIGNED, false);
		facts_set(f, FACT_UNALIGNTRAP, false);
		return;
	}
	if (!(r->has & ARM_SPE_SOURCE && m->sources && source_facts(r, f)) &&
	    r->has & ARM_SPE_EVENTS)
		level_facts(r, f);
	if (r->has & ARM_SPE_EVENTS && r->n_event_bits > EV_ALIGNMENT &&
	    (m->v1p1 || event(r, EV_ALIGNMENT))) {
		facts_set(f, FACT_MISALIGNED, event(r, EV_ALIGNMENT));
		facts_set(f, FACT_UNALIGNTRAP, event(r, EV_ALIGNMENT));
	}
}

void arm_spe_facts(const struct arm_spe_record *r, const struct arm_spe_machine *m,
		   struct sample_facts *ret)
{
	*ret = (struct sample_facts){0};
	branch_facts(r, ret);
	memory_facts(r, m, ret);
	if (r->has & ARM_SPE_EVENTS) {
		facts_set(ret, FACT_RETIRED, event(r, EV_RETIRED));
		facts_set(ret, FACT_EXCEPTION, event(r, EV_EXCEPTION));
		/* How deep the tables were that were walked is not told: no trap bit is. */
		facts_set(ret, FACT_NOTRAP, !event(r, EV_TLB_WALK));
		facts_set(ret, FACT_L2TLBMISS, event(r, EV_TLB_WALK));
		if (event(r, EV_TLB_WALK))
			facts_set(ret, FACT_L1TLBMISS, true);
		if (r->n_event_bits > EV_TXN)
			facts_set(ret, FACT_INTX, event(r, EV_TXN));
	}
	if (r->has & ARM_SPE_TOTAL)
		facts_set_counter(ret, FACT_INFLIGHT, r->total);
	if (r->has & ARM_SPE_ISSUE)
		facts_set_counter(ret, FACT_ISSUELATENCY, r->issue);
	if (r->has & ARM_SPE_XLAT)
		facts_set_counter(ret, FACT_TLBLATENCY, r->xlat);
}
