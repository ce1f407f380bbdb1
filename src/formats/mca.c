/* SPDX-License-Identifier: BSD-2-Clause */
/* See mca.h.
 *
 * llvm-mca simulates a block MCA_RUNS times in a row and tells of the first MCA_TOLD_RUNS when
 * each instruction was dispatched, ready, issued, executed and retired (TimelineView).
 * Instructions retire in order, so the time between an instruction's retirement and that of the
 * one before is what it costs: the second half of these runs are taken, where the processor has
 * warmed up.
 *
 *     run 6  add   retired 31        own(add) = 1
 *            mul   retired 35        own(mul) = 4
 *     run 7  add   retired 36
 *            mul   retired 40 ...    repeated = 5
 *
 * The chain is found from the last run's last result back: an instruction that became ready when
 * another's result was there waited for that one. */
#include "formats/mca.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/rd.h"
#include "formats/json_in.h"

#define MAGIC	0x61636d64u /* "dmca" */
#define VERSION 1u

/* An instruction in one run, in cycles. */
struct mca_moment {
	uint32_t dispatched, ready, executed, retired;
};

static bool get_moment(const struct json_in *j, struct mca_moment *ret)
{
	return json_in_u32(json_in_get(j, "CycleDispatched"), &ret->dispatched) &&
	       json_in_u32(json_in_get(j, "CycleReady"), &ret->ready) &&
	       json_in_u32(json_in_get(j, "CycleExecuted"), &ret->executed) &&
	       json_in_u32(json_in_get(j, "CycleRetired"), &ret->retired);
}

static void copy_text(char ret[MCA_TEXT], const char *text)
{
	snprintf(ret, MCA_TEXT, "%s", text ? text : "");
	for (char *c = ret; *c; c++)
		if (*c <= ' ' || *c > '~')
			*c = '?';
}

/* A unit's name.  LLVM writes the number of one of several alike as a character: "Zn3Load.\u0001"
 * is Zn3Load.1, and "Zn3Load.\u0000", which ends at its dot here, is Zn3Load.0
 * (llvm/tools/llvm-mca/PipelinePrinter.cpp: getJSONTargetInfo). */
static void copy_unit(char ret[MCA_TEXT], const char *name)
{
	const char *dot = name ? strrchr(name, '.') : NULL;
	const bool has_number = dot && (unsigned char)dot[1] < ' ' && (!dot[1] || !dot[2]);
	char text[MCA_TEXT];

	if (has_number)
		snprintf(text, sizeof(text), "%.*s%d", (int)(dot + 1 - name), name, dot[1]);
	copy_text(ret, has_number ? text : name);
}

static bool read_insn(const struct json_in *j, struct mca_insn *ret)
{
	*ret = (struct mca_insn){0};
	ret->loads = json_in_is_true(json_in_get(j, "mayLoad"));
	ret->stores = json_in_is_true(json_in_get(j, "mayStore"));
	return json_in_u32(json_in_get(j, "Latency"), &ret->latency) &&
	       json_in_u32(json_in_get(j, "NumMicroOpcodes"), &ret->n_uops);
}

/* Marks the instructions of V, N in each run, that the last result waited for, one after the
 * other. */
static void mark_chain(struct mca_insn *v, size_t n, const struct mca_moment *moments,
		       size_t n_moments)
{
	size_t at = n_moments - 1;

	for (size_t i = n_moments - n; i < n_moments; i++)
		if (moments[i].executed > moments[at].executed)
			at = i;
	while (true) {
		size_t from = at;

		v[at % n].in_chain = true;
		/* Ready when dispatched: it waited for nobody. */
		if (moments[at].ready <= moments[at].dispatched)
			return;
		while (from > 0 && moments[from - 1].executed != moments[at].ready)
			from--;
		if (from == 0)
			return;
		at = from - 1;
	}
}

/* Sets what the instructions of B cost, from the moments of the told runs. */
static void set_costs(struct mca *m, struct mca_block *b, const struct mca_moment *moments)
{
	const size_t n = b->n_insns, first = (MCA_TOLD_RUNS / 2) * n, end = MCA_TOLD_RUNS * n;
	struct mca_insn *v = m->insns.v + b->first;

	for (size_t i = first; i < end; i++)
		if (moments[i].retired > moments[i - 1].retired)
			v[i % n].own += (float)(moments[i].retired - moments[i - 1].retired) /
					(float)(MCA_TOLD_RUNS - MCA_TOLD_RUNS / 2);
	for (size_t i = 0; i < n; i++)
		b->repeated += v[i].own;
}

static bool read_timeline(const struct json_in *j, struct mca *m, struct mca_block *b)
{
	const struct json_in *told = json_in_get(json_in_get(j, "TimelineView"), "TimelineInfo");
	const size_t n = (size_t)b->n_insns * MCA_TOLD_RUNS;
	_mem_ struct mca_moment *moments = NULL;

	if (json_in_n(told) != n)
		return false;
	moments = xcalloc(n, sizeof(*moments));
	for (size_t i = 0; i < n; i++)
		if (!get_moment(json_in_at(told, i), &moments[i]))
			return false;
	set_costs(m, b, moments);
	mark_chain(m->insns.v + b->first, b->n_insns, moments, n);
	return true;
}

/* The cycles that the busiest unit needs for one run; its name to B. */
static double read_ports(const struct json_in *j, const struct json_in *names, struct mca_block *b)
{
	const struct json_in *uses =
		json_in_get(json_in_get(j, "ResourcePressureView"), "ResourcePressureInfo");
	double most = 0;

	for (size_t i = 0; i < json_in_n(uses); i++) {
		const struct json_in *u = json_in_at(uses, i);
		uint32_t insn, unit;
		double n;

		/* The number behind the last instruction's stands for all together. */
		if (!json_in_u32(json_in_get(u, "InstructionIndex"), &insn) || insn != b->n_insns ||
		    !json_in_u32(json_in_get(u, "ResourceIndex"), &unit) ||
		    !json_in_number(json_in_get(u, "ResourceUsage"), &n) || !(n > most))
			continue;
		most = n;
		copy_unit(b->port, json_in_text(json_in_at(names, unit)));
	}
	return most;
}

static enum mca_bound bound_of(const struct mca_block *b, double front, double ports)
{
	if (b->repeated > 1.1 * fmax(front, ports))
		return MCA_CHAIN;
	return front >= ports ? MCA_FRONT : MCA_PORTS;
}

static bool read_block(const struct json_in *j, const struct json_in *names, struct mca *m)
{
	const struct json_in *infos =
		json_in_get(json_in_get(j, "InstructionInfoView"), "InstructionList");
	const struct json_in *summary = json_in_get(j, "SummaryView");
	struct mca_block b = {.first = (uint32_t)m->insns.n};
	double apart, uops = 0, ports;

	if (!json_in_n(infos) || json_in_n(infos) > MCA_MOST_INSNS - m->insns.n ||
	    !json_in_number(json_in_get(summary, "BlockRThroughput"), &apart) ||
	    !json_in_u32(json_in_get(summary, "DispatchWidth"), &m->width) || !m->width)
		return false;
	b.n_insns = (uint32_t)json_in_n(infos);
	for (size_t i = 0; i < b.n_insns; i++) {
		struct mca_insn in;

		if (!read_insn(json_in_at(infos, i), &in))
			return false;
		uops += in.n_uops;
		vec_push(&m->insns, in);
	}
	if (!read_timeline(j, m, &b))
		return false;
	ports = read_ports(j, names, &b);
	b.apart = apart > 0 && apart < 1e9 ? (float)apart : 0;
	b.bound = bound_of(&b, uops / m->width, ports);
	for (size_t i = b.first; i < m->insns.n; i++)
		m->insns.v[i].in_chain &= b.bound == MCA_CHAIN;
	vec_push(&m->blocks, b);
	return true;
}

static bool is_called(const struct json_in *j, uint32_t number)
{
	const char *name = json_in_text(json_in_get(j, "Name"));
	char want[16];

	snprintf(want, sizeof(want), "%u", number);
	return name && strcmp(name, want) == 0;
}

int mca_read(const void *json, size_t n, uint32_t n_blocks, struct mca *ret, struct err *err)
{
	const struct json_in *target, *regions;
	struct json_in *j;
	int rc = json_in_parse_with_nul(json, n, &j, err);

	*ret = (struct mca){0};
	if (rc < 0)
		return rc;
	target = json_in_get(j, "TargetInfo");
	regions = json_in_get(j, "CodeRegions");
	copy_text(ret->cpu, json_in_text(json_in_get(target, "CPUName")));
	if (json_in_n(regions) != n_blocks)
		rc = err_set(err, -EBADMSG, "%zu blocks instead of %u", json_in_n(regions),
			     n_blocks);
	for (uint32_t i = 0; rc >= 0 && i < n_blocks; i++)
		if (!is_called(json_in_at(regions, i), i) ||
		    !read_block(json_in_at(regions, i), json_in_get(target, "Resources"), ret))
			rc = err_set(err, -EBADMSG, "block %u: not what llvm-mca 14 writes", i);
	json_in_free(j);
	if (rc < 0)
		mca_release(ret);
	return rc;
}

int mca_append(struct mca *to, const struct mca *from)
{
	const uint32_t first = (uint32_t)to->insns.n;

	if (!to->blocks.n) {
		memcpy(to->cpu, from->cpu, sizeof(to->cpu));
		to->width = from->width;
	}
	if (strcmp(to->cpu, from->cpu) != 0 || to->width != from->width)
		return -EINVAL;
	vec_each (in, &from->insns)
		vec_push(&to->insns, *in);
	vec_each (b, &from->blocks) {
		vec_push(&to->blocks, *b);
		to->blocks.v[to->blocks.n - 1].first += first;
	}
	return 0;
}

/* --- kept --- */

static void put_float(struct wr *w, float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	wr_le32(w, bits);
}

/* A number of cycles, which is not negative, and no NaN. */
static float get_float(struct rd *r)
{
	const uint32_t bits = rd_le32(r);
	float x;

	memcpy(&x, &bits, sizeof(x));
	if (!(x >= 0 && x < 1e9f))
		r->bad = true;
	return r->bad ? 0 : x;
}

static void put_text(struct wr *w, const char *text)
{
	wr_uleb(w, strlen(text));
	wr_bytes(w, text, strlen(text));
}

static void get_text(struct rd *r, char ret[MCA_TEXT])
{
	const size_t n = rd_count(r, 1);
	const uint8_t *bytes = rd_bytes(r, n);
	char text[MCA_TEXT] = "";

	r->bad |= n >= MCA_TEXT || (bytes && memchr(bytes, 0, n));
	if (!r->bad && bytes)
		memcpy(text, bytes, n);
	copy_text(ret, text);
}

static uint32_t get_u32(struct rd *r)
{
	const uint64_t x = rd_uleb(r);

	r->bad |= x > UINT32_MAX;
	return (uint32_t)x;
}

void mca_seal(uint8_t *bytes, size_t n)
{
	uint64_t sum = n >= 8 ? hash_bytes(bytes, n - 8) : 0;

	for (size_t i = n - 8; n >= 8 && i < n; i++, sum >>= 8)
		bytes[i] = (uint8_t)sum;
}

void mca_format(const struct mca *m, struct wr *ret)
{
	const size_t start = ret->n;

	wr_le32(ret, MAGIC);
	wr_le32(ret, VERSION);
	put_text(ret, m->cpu);
	wr_uleb(ret, m->width);
	wr_uleb(ret, m->blocks.n);
	vec_each (b, &m->blocks) {
		put_float(ret, b->repeated);
		put_float(ret, b->apart);
		wr_u8(ret, (uint8_t)b->bound);
		put_text(ret, b->port);
		wr_uleb(ret, b->n_insns);
		for (uint32_t i = 0; i < b->n_insns; i++) {
			const struct mca_insn *in = &m->insns.v[b->first + i];

			put_float(ret, in->own);
			wr_uleb(ret, in->latency);
			wr_uleb(ret, in->n_uops);
			wr_u8(ret, (uint8_t)(in->loads | in->stores << 1 | in->in_chain << 2));
		}
	}
	wr_le64(ret, hash_bytes(ret->v + start, ret->n - start));
}

static void get_insn(struct rd *r, struct mca *m)
{
	struct mca_insn in = {.own = get_float(r), .latency = get_u32(r), .n_uops = get_u32(r)};
	const uint8_t flags = rd_u8(r);

	in.loads = flags & 1;
	in.stores = flags & 2;
	in.in_chain = flags & 4;
	r->bad |= flags > 7;
	vec_push(&m->insns, in);
}

static void get_block(struct rd *r, struct mca *m)
{
	struct mca_block b = {
		.repeated = get_float(r), .apart = get_float(r), .first = (uint32_t)m->insns.n};
	const uint8_t bound = rd_u8(r);
	size_t n;

	r->bad |= bound >= MCA_N_BOUNDS;
	b.bound = r->bad ? MCA_FRONT : (enum mca_bound)bound;
	get_text(r, b.port);
	n = rd_count(r, 7);
	if (n > MCA_MOST_INSNS - m->insns.n)
		r->bad = true;
	for (size_t i = 0; i < n && !r->bad; i++)
		get_insn(r, m);
	b.n_insns = (uint32_t)(m->insns.n - b.first);
	vec_push(&m->blocks, b);
}

int mca_parse(const void *bytes, size_t n, struct mca *ret, struct err *err)
{
	const size_t body = n >= 8 ? n - 8 : 0;
	struct rd r = rd_init(bytes, body), sum = rd_init((const uint8_t *)bytes + body, n - body);
	size_t n_blocks;

	*ret = (struct mca){0};
	if (rd_le64(&sum) != hash_bytes(bytes, body) || sum.bad || rd_le32(&r) != MAGIC)
		return err_set(err, -EBADMSG, "not a model of blocks, or a damaged one");
	if (rd_le32(&r) != VERSION)
		return err_set(err, -EPROTONOSUPPORT, "a model of blocks of another version");
	get_text(&r, ret->cpu);
	ret->width = get_u32(&r);
	n_blocks = rd_count(&r, 10);
	for (size_t i = 0; i < n_blocks && !r.bad; i++)
		get_block(&r, ret);
	if (r.bad || rd_left(&r)) {
		const size_t at = rd_off(&r);

		mca_release(ret);
		return err_set(err, -EBADMSG, "a model of blocks is damaged at byte %zu", at);
	}
	return 0;
}

void mca_release(struct mca *m)
{
	vec_release(&m->blocks);
	vec_release(&m->insns);
	*m = (struct mca){0};
}
