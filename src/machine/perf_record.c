/* SPDX-License-Identifier: BSD-2-Clause */
/* See record.h.  Layouts: the comments of enum perf_event_type in linux/perf_event.h; ksymbol:
 * kernel 5.1. */
#include "machine/perf_record.h"

#include <errno.h>
#include <string.h>

/* The trailing struct sample_id of RECORD_SAMPLE_TYPE: pid, tid, time, identifier. */
#define SAMPLE_ID_BYTES 24

static void read_sample_id(const uint8_t *p, struct perf_record *ret)
{
	struct rd r = rd_init(p, SAMPLE_ID_BYTES);

	if (ret->kind == RECORD_SWITCH) {
		ret->pid = rd_le32(&r);
		ret->tid = rd_le32(&r);
	} else {
		rd_le64(&r); /* of the task that ran, which is not always the one meant */
	}
	ret->time_ns = rd_le64(&r);
	ret->id = rd_le64(&r);
}

/* A NUL-padded name up to the end of R; "" when the NUL is missing. */
static const char *read_name(struct rd *r)
{
	size_t n = rd_left(r);
	const uint8_t *p = rd_bytes(r, n);

	return n && memchr(p, 0, n) ? (const char *)p : "";
}

static void read_mmap2(struct rd *r, uint16_t misc, struct perf_record *ret)
{
	ret->kind = RECORD_MMAP;
	ret->pid = rd_le32(r);
	ret->tid = rd_le32(r);
	ret->addr = rd_le64(r);
	ret->n_bytes = rd_le64(r);
	ret->off = rd_le64(r);
	if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		uint8_t n = rd_u8(r);
		const uint8_t *id;

		rd_bytes(r, 3);
		id = rd_bytes(r, BUILD_ID_MAX);
		if (id && n <= BUILD_ID_MAX) {
			ret->build_id.n_bytes = n;
			memcpy(ret->build_id.bytes, id, n);
		}
	} else {
		uint32_t maj = rd_le32(r), min = rd_le32(r);

		ret->dev = (uint64_t)maj << 32 | min;
		ret->ino = rd_le64(r);
		ret->ino_generation = rd_le64(r);
	}
	rd_le64(r); /* prot, flags */
	ret->name = read_name(r);
}

static void read_body(struct rd *r, uint32_t type, uint16_t misc, struct perf_record *ret)
{
	switch (type) {
	case PERF_RECORD_MMAP2:
		read_mmap2(r, misc, ret);
		break;
	case PERF_RECORD_COMM:
		ret->kind = RECORD_COMM;
		ret->exec = misc & PERF_RECORD_MISC_COMM_EXEC;
		ret->pid = rd_le32(r);
		ret->tid = rd_le32(r);
		ret->name = read_name(r);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		ret->kind = type == PERF_RECORD_FORK ? RECORD_FORK : RECORD_EXIT;
		ret->pid = rd_le32(r);
		ret->ppid = rd_le32(r);
		ret->tid = rd_le32(r);
		break;
	case PERF_RECORD_LOST:
		ret->kind = RECORD_LOST;
		rd_le64(r); /* id of an event of this ring, not of the one that lost */
		ret->lost = rd_le64(r);
		break;
	case PERF_RECORD_SWITCH: /* of whom, the sample_id says */
		ret->kind = RECORD_SWITCH;
		ret->leaves = misc & PERF_RECORD_MISC_SWITCH_OUT;
		ret->preempted = misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
		break;
	case PERF_RECORD_KSYMBOL:
		ret->kind = RECORD_KSYMBOL;
		ret->addr = rd_le64(r);
		ret->n_bytes = rd_le32(r);
		rd_le16(r); /* ksym_type */
		ret->unregistered = rd_le16(r) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
		ret->name = read_name(r);
		break;
	}
}

/* Steps over the record at R: its header's fields, and BODY without the header. */
static int read_header(struct rd *r, uint32_t *ret_type, uint16_t *ret_misc, struct rd *ret_body)
{
	uint16_t size;
	const uint8_t *p;

	*ret_type = rd_le32(r);
	*ret_misc = rd_le16(r);
	size = rd_le16(r);
	p = size >= 8 ? rd_bytes(r, size - 8u) : NULL;
	if (!p || r->bad)
		return -EBADMSG;
	*ret_body = rd_init(p, size - 8u);
	return 0;
}

int record_time(struct rd *r, uint64_t *ret_ns)
{
	uint32_t type;
	uint16_t misc;
	struct rd body;

	if (read_header(r, &type, &misc, &body) < 0)
		return -EBADMSG;
	*ret_ns = 0;
	if (type == PERF_RECORD_SAMPLE)
		rd_bytes(&body, 24); /* identifier, ip, pid and tid */
	else if (rd_left(&body) >= SAMPLE_ID_BYTES)
		body.p = body.end - 16; /* behind pid and tid */
	else
		return 0;
	*ret_ns = rd_le64(&body);
	return 0;
}

int record_read(struct rd *r, struct perf_record *ret)
{
	uint32_t type;
	uint16_t misc;
	struct rd body;

	*ret = (struct perf_record){.kind = RECORD_OTHER, .name = ""};
	if (read_header(r, &type, &misc, &body) < 0)
		return -EBADMSG;
	if (type == PERF_RECORD_SAMPLE) {
		ret->kind = RECORD_SAMPLE;
		ret->exact = misc & PERF_RECORD_MISC_EXACT_IP;
		ret->id = rd_le64(&body);
		ret->ip = rd_le64(&body);
		ret->pid = rd_le32(&body);
		ret->tid = rd_le32(&body);
		ret->time_ns = rd_le64(&body);
		ret->rest = body;
	} else {
		if (rd_left(&body) < SAMPLE_ID_BYTES)
			return 0;
		body.end -= SAMPLE_ID_BYTES;
		read_body(&body, type, misc, ret);
		read_sample_id(body.end, ret);
	}
	if (body.bad)
		ret->kind = RECORD_OTHER;
	return 0;
}

/* The order of registers in a sample, as DWARF numbers; see RECORD_REGS. */
static unsigned dwarf_number(unsigned i)
{
#ifdef __aarch64__
	return i;
#else
	static const uint8_t x86[RECORD_N_REGS] = {0, 3, 2,  1,	 4,  5,	 6,  7, 16,
						   8, 9, 10, 11, 12, 13, 14, 15};

	return x86[i];
#endif
}

static int read_stack_copy(struct rd *r, struct record_stack *ret)
{
	uint64_t n = rd_le64(r), used;

	if (n > rd_left(r))
		return -EBADMSG;
	ret->copy = rd_bytes(r, n);
	ret->n_copy = n;
	if (!n)
		return 0;
	used = rd_le64(r); /* how much of it is the stack's, and not what was there before */
	ret->n_copy = used < n ? used : n;
	return 0;
}

static int read_branches(struct rd *r, struct record_facts *f)
{
	uint64_t n = rd_le64(r);
	struct rd newest;

	if (n > rd_left(r) / 24) /* struct perf_branch_entry: from, to, flags */
		return -EBADMSG;
	newest = *r;
	rd_bytes(r, n * 24);
	if (!n)
		return 0;
	f->branch_from = rd_le64(&newest);
	rd_le64(&newest);
	f->branch_flags = rd_le64(&newest);
	f->has |= PERF_SAMPLE_BRANCH_STACK;
	return 0;
}

/* What follows the fields that all samples have, in the kernel's order (perf_output_sample,
 * kernel/events/core.c). */
static int read_rest(const struct perf_record *sample, uint64_t extra, struct record_stack *s,
		     struct record_facts *f)
{
	struct rd r = sample->rest;
	uint64_t n, abi;

	*s = (struct record_stack){0};
	*f = (struct record_facts){.has = extra & RECORD_FACTS &
					  ~(uint64_t)PERF_SAMPLE_BRANCH_STACK};
	if (extra & PERF_SAMPLE_CALLCHAIN) {
		n = rd_le64(&r);
		if (n > rd_left(&r) / 8)
			return -EBADMSG;
		s->ips = rd_init(rd_bytes(&r, n * 8), n * 8);
	}
	if (extra & PERF_SAMPLE_RAW) {
		f->n_raw = rd_le32(&r);
		f->raw = rd_bytes(&r, f->n_raw);
	}
	if (extra & PERF_SAMPLE_BRANCH_STACK && read_branches(&r, f) < 0)
		return -EBADMSG;
	if (extra & PERF_SAMPLE_REGS_USER) {
		abi = rd_le64(&r);
		s->has_regs = abi == PERF_SAMPLE_REGS_ABI_64;
		s->is_32_bit = abi == PERF_SAMPLE_REGS_ABI_32;
		for (unsigned i = 0; abi != PERF_SAMPLE_REGS_ABI_NONE && i < RECORD_N_REGS; i++)
			s->regs[dwarf_number(i)] = rd_le64(&r);
	}
	if (extra & PERF_SAMPLE_STACK_USER && read_stack_copy(&r, s) < 0)
		return -EBADMSG;
	if (extra & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		f->weight = rd_le64(&r);
	if (extra & PERF_SAMPLE_DATA_SRC)
		f->data_src = rd_le64(&r);
	if (extra & PERF_SAMPLE_TRANSACTION)
		f->transaction = rd_le64(&r);
	if (extra & PERF_SAMPLE_DATA_PAGE_SIZE)
		f->data_page_size = rd_le64(&r);
	return r.bad ? -EBADMSG : 0;
}

int record_read_stack(const struct perf_record *sample, uint64_t extra, struct record_stack *ret)
{
	struct record_facts facts;

	return read_rest(sample, extra, ret, &facts);
}

int record_read_facts(const struct perf_record *sample, uint64_t extra, struct record_facts *ret)
{
	struct record_stack stack;

	return read_rest(sample, extra, &stack, ret);
}
