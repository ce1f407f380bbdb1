/* SPDX-License-Identifier: BSD-2-Clause */
/* See ring_stacks.h.
 *
 * By frame pointers the kernel says which addresses it found, not why it ended: a path that ends
 * early looks like a whole one, so each of its callers is marked as guessed; it is cut where an
 * address is in no mapping, and one without any caller is not believed.  Copied stacks are walked
 * with the same steps as in the kernel (unwind/walk_host.h), through the process's mappings as the
 * sideband tells them, with tables in the recorder's own memory.  What lies behind the copy's end
 * cannot be read.
 *
 * Frames may be run-time addresses, so a chain's hash is also its process's. */
#include "collect/calls/ring_stacks.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#include "base/file.h"
#include "unwind/walk_host.h"

/* kernel.perf_event_max_stack (Documentation/admin-guide/sysctl/kernel.rst), 127 unless changed. */
static uint32_t read_most_ips(void)
{
	char *text;
	uint32_t n = 0;

	if (file_load("/proc/sys/kernel/perf_event_max_stack", 64, &text, NULL, NULL) >= 0) {
		n = (uint32_t)strtoul(text, NULL, 10);
		free(text);
	}
	return n ? n : 127;
}

void ring_stacks_init(struct ring_stacks *rs, struct chains *chains, struct unwinds *unwinds)
{
	*rs = (struct ring_stacks){.chains = chains,
				   .unwinds = unwinds,
				   .extra = unwinds ? RECORD_STACK_COPY : RECORD_STACK_FP,
				   .most_ips = read_most_ips()};
}

void ring_stacks_release(struct ring_stacks *rs)
{
	*rs = (struct ring_stacks){0};
}

/* What one walk looks for mappings in. */
struct walk_place {
	struct ring_stacks *rs;
	uint32_t proc;
};

static bool find_region(void *ctx, uint64_t avma, struct walk_region *ret)
{
	const struct walk_place *at = ctx;
	struct procs *ps = at->rs->chains->procs;
	const struct mapping *m =
		at->proc == PROC_NONE ? NULL : procs_find_mapping(ps, at->proc, avma);

	if (!m)
		return false;
	unwinds_region(at->rs->unwinds, m, ret);
	if (ret->image != WALK_ANONYMOUS && ret->image != WALK_UNKNOWN_FILE)
		unwinds_want(at->rs->unwinds, ret->image, ps->v.v[at->proc].tgid);
	return true;
}

/* Chains. */

static void ring_stacks_put(struct ring_stacks *rs, struct log_chain *c, uint64_t frame)
{
	if (c->n_frames == CHAIN_MAX_FRAMES)
		c->cause = CHAIN_TOO_DEEP;
	else
		rs->frames[c->n_frames++] = frame;
}

/* The callers in the kernel's list.  Its first address, and in user code that comes by way of the
 * kernel also the first there, is no call but where it was interrupted. */
static void add_ips(struct ring_stacks *rs, const struct perf_record *r,
		    const struct record_stack *s, uint32_t proc, struct log_chain *c)
{
	struct procs *ps = rs->chains->procs;
	struct rd ips = s->ips;
	bool exact = true, in_kernel = false;
	uint32_t n = 0, n_user = 0;

	while (rd_left(&ips)) {
		uint64_t ip = rd_le64(&ips);

		if (ip >= (uint64_t)PERF_CONTEXT_MAX) { /* a mark, no address */
			in_kernel = ip == (uint64_t)PERF_CONTEXT_KERNEL;
			exact = true;
			continue;
		}
		n_user += !in_kernel;
		/* The sample's own, but where the kernel's part was not asked for. */
		if (n++ == 0 && (in_kernel || (int64_t)r->ip >= 0)) {
			exact = false;
			continue;
		}
		ip -= !exact;
		exact = false;
		if (in_kernel) {
			ring_stacks_put(rs, c, ip | FRAME_KERNEL);
			c->n_kernel = c->n_frames;
			continue;
		}
		if (ip > FRAME_OFF_MASK || proc == PROC_NONE || !procs_find_mapping(ps, proc, ip)) {
			c->cause = CHAIN_NO_MAPPING;
			return;
		}
		ring_stacks_put(rs, c, ip | FRAME_GUESSED);
	}
	if (n >= rs->most_ips)
		c->cause = CHAIN_TOO_DEEP;
	else if (n_user == 1) /* and nobody called it?  There is no frame pointer. */
		c->cause = CHAIN_NO_RULE;
}

/* The user's part of a copied stack. */
static void add_walk(struct ring_stacks *rs, const struct perf_record *r,
		     const struct record_stack *s, uint32_t proc, struct log_chain *c)
{
	struct walk_place at = {.rs = rs, .proc = proc};
	struct walk_input in = {.machine = RECORD_MACHINE,
				.stack = s->copy,
				.n_bytes = s->n_copy,
				.stack_avma = s->regs[RECORD_SP],
				.memory = &rs->unwinds->mem,
				.find_region = find_region,
				.ctx = &at};
	bool at_leaf = (int64_t)r->ip >= 0;
	enum chain_cause cause;
	uint32_t n = 0;

	if (s->is_32_bit)
		c->cause = CHAIN_32_BIT;
	if (!s->has_regs)
		return; /* a kernel thread */
	memcpy(in.regs, s->regs, sizeof(s->regs));
	cause = walk_stack(&in, rs->walked, CHAIN_MAX_FRAMES, &n);
	if (c->cause == CHAIN_COMPLETE)
		c->cause = cause;
	for (uint32_t i = at_leaf; i < n; i++)
		ring_stacks_put(rs, c, rs->walked[i]);
}

uint64_t ring_stacks_add(struct ring_stacks *rs, const struct perf_record *sample, uint32_t proc)
{
	struct log_chain c = {.cause = CHAIN_COMPLETE, .frames = rs->frames};
	struct record_stack s;
	uint64_t salt;

	if (record_read_stack(sample, rs->extra | sample->extra, &s) < 0)
		return CHAIN_LOST;
	if (proc != PROC_NONE) {
		c.tgid = rs->chains->procs->v.v[proc].tgid;
		c.generation = rs->chains->procs->v.v[proc].generation;
	}
	add_ips(rs, sample, &s, proc, &c);
	if (rs->extra & PERF_SAMPLE_STACK_USER)
		add_walk(rs, sample, &s, proc, &c);
	if (!c.n_frames && c.cause == CHAIN_COMPLETE)
		return 0;
	salt = c.n_frames > c.n_kernel ? (uint64_t)c.tgid << 32 | c.generation : 0;
	c.hash = hash_pair(hash_bytes(c.frames, c.n_frames * sizeof(*c.frames)) + c.cause, salt);
	c.hash = c.hash && c.hash != CHAIN_LOST ? c.hash : 1;
	chains_add(rs->chains, &c);
	return c.hash;
}
