/* SPDX-License-Identifier: BSD-2-Clause */
/* See perf_chain.h.
 *
 * A chain as it stands in the file (the kernel's list and the hardware's, not copies of stacks) is
 * looked up by the hash of its words, of its process's mappings and of the kernel's: most were seen
 * before.  64 bits of hash stand for it, as everywhere. */
#include "port/perf_chain.h"

#include <elf.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "collect/calls/chains.h"
#include "unwind/walk_host.h"

#define TABLE_WORDS (64u << 20) /* 256 MiB, touched as far as needed */
#define N_IMAGES    (FRAME_MAX_IMAGES + 2)
#define MOST_KNOWN  (1u << 20)

/* Registers of samples as the kernel numbers them, by DWARF number: AX, BX, CX, DX, SI, DI, BP, SP,
 * IP, seven of no use here, R8 to R15 (arch/x86/include/uapi/asm/perf_regs.h).  arm64's are X0 to
 * X30, SP, PC: the same. */
#define X86_N_REGS 24
#define NO_REG	   255

static const uint8_t x86_dwarf[X86_N_REGS] = {
	0,	3,	2,	1,	4, 5, 6,  7,  16, NO_REG, NO_REG, NO_REG,
	NO_REG, NO_REG, NO_REG, NO_REG, 8, 9, 10, 11, 12, 13,	  14,	  15};

void perf_chains_init(struct perf_chains *c, struct perf_world *w, unwind_load_fn *load)
{
	*c = (struct perf_chains){.world = w, .load = load};
}

void perf_chains_release(struct perf_chains *c)
{
	if (c->unwinds) {
		unwinds_release(c->unwinds);
		free(c->unwinds);
		munmap(c->memory, c->n_memory);
	}
	vec_release(&c->number_of);
	vec_release(&c->frames);
	free(c->known);
	*c = (struct perf_chains){0};
}

/* Known chains. */

static size_t slot_of(const struct perf_chains *c, uint64_t hash)
{
	size_t i = hash & (c->n_slots - 1);

	while (c->known[i].hash && c->known[i].hash != hash)
		i = (i + 1) & (c->n_slots - 1);
	return i;
}

static void perf_chain_remember(struct perf_chains *c, uint64_t hash, ctx_id ctx)
{
	size_t i;

	if (c->n_known >= MOST_KNOWN) {
		memset(c->known, 0, c->n_slots * sizeof(*c->known));
		c->n_known = 0;
	}
	if (c->n_known + 1 > c->n_slots / 4 * 3) {
		__typeof__(c->known) old = c->known;
		size_t n_old = c->n_slots;

		c->n_slots = n_old ? n_old * 2 : 4096;
		c->known = xcalloc(c->n_slots, sizeof(*c->known));
		for (size_t k = 0; k < n_old; k++)
			if (old[k].hash)
				c->known[slot_of(c, old[k].hash)] = old[k];
		free(old);
	}
	i = slot_of(c, hash);
	c->known[i].hash = hash;
	c->known[i].ctx = ctx;
	c->n_known++;
}

/* From the frames gathered, and why they end, to a context. */
static ctx_id perf_chain_finish(struct perf_chains *c, enum chain_cause cause)
{
	struct profile *p = c->world->profile;
	ctx_id ctx = 0;

	if (cause != CHAIN_COMPLETE && !c->marks[cause]) {
		_mem_ char *name = xasprintf("[truncated: %s]", chain_cause_name(cause));

		c->marks[cause] = profile_mark_ctx(p, name);
	}
	if (cause != CHAIN_COMPLETE)
		ctx = c->marks[cause];
	for (size_t i = c->frames.n; i--;)
		ctx = profile_intern_ctx(p, ctx, c->frames.v[i]);
	return ctx;
}

static void perf_chain_put(struct perf_chains *c, uint32_t proc, unsigned mode, uint64_t ip,
			   uint32_t flags)
{
	vec_push(&c->frames, perf_world_place(c->world, proc, mode, ip, flags));
}

static unsigned mode_of(uint64_t mark)
{
	switch (mark) {
	case PERFDATA_CONTEXT_KERNEL:
		return PERFDATA_MODE_KERNEL;
	case PERFDATA_CONTEXT_USER:
		return PERFDATA_MODE_USER;
	case PERFDATA_CONTEXT_HV:
		return PERFDATA_MODE_HYPERVISOR;
	case PERFDATA_CONTEXT_GUEST_KERNEL:
		return PERFDATA_MODE_GUEST_KERNEL;
	case PERFDATA_CONTEXT_GUEST:
	case PERFDATA_CONTEXT_GUEST_USER:
		return PERFDATA_MODE_GUEST_USER;
	default:
		return 0;
	}
}

/* What the kernel's list tells. */
struct listed {
	uint32_t n;    /* addresses */
	bool deferred; /* the user's part comes later */
	bool broken;
};

/* How much of the user's part of the list is wanted: all of it, where it was left for the kernel,
 * or nothing, because a better one is at hand. */
enum listed_user { LISTED_ALL, LISTED_ENTRY, LISTED_NONE };

/* Where the sample's own address stands in the list: it is the first of the sample's own mode, for
 * what is before it was added later (precise events tell of an instruction that is past when the
 * list is made).  The list's length when it is not there: the kernel was asked to leave its part
 * out (exclude_callchain_kernel), and all addresses are callers. */
static uint32_t find_own(const struct perfdata_words *ips, unsigned own)
{
	unsigned mode = own;

	for (uint32_t i = 0; i < ips->n; i++) {
		uint64_t ip = perfdata_word(ips, i);

		if (ip == PERFDATA_CONTEXT_USER_DEFERRED)
			break;
		if (ip >= PERFDATA_CONTEXT_MAX)
			mode = mode_of(ip);
		else if (mode == own)
			return i;
	}
	return ips->n;
}

static bool is_user(unsigned mode)
{
	return mode == PERFDATA_MODE_USER || mode == PERFDATA_MODE_GUEST_USER;
}

/* The callers in the kernel's list, without the sample's own address.  Where the list goes over to
 * user code the first address there is no call but where it was interrupted.
 *
 * A sample in the kernel at K whose list is [user, U1, U2] was made in a system call at U1, so its
 * callers are U1 and the call before U2.  One in user code at U1 with the list [user, U1, U2] has
 * the call before U2 as its only caller. */
static struct listed add_listed(struct perf_chains *c, const struct perfdata_record *r,
				uint32_t proc, enum listed_user user)
{
	const struct perfdata_words *ips = &r->sample.ips;
	unsigned own = r->head.misc & PERFDATA_MISC_MODE, mode = own;
	uint32_t own_at = find_own(ips, own);
	/* Callers in the kernel of a sample in user code cannot be. */
	bool begun = own_at == ips->n && !is_user(own);
	struct listed l = {0};
	bool exact = true;

	for (uint32_t i = 0; i < ips->n; i++) {
		uint64_t ip = perfdata_word(ips, i);

		if (ip == PERFDATA_CONTEXT_USER_DEFERRED) {
			l.deferred = true;
			break;
		}
		if (ip >= PERFDATA_CONTEXT_MAX) {
			mode = mode_of(ip);
			exact = true;
			l.broken |= !mode; /* perf throws such a chain away */
			continue;
		}
		l.n++;
		if (!begun) {
			begun = i == own_at;
			exact = !begun;
			continue;
		}
		if (mode != PERFDATA_MODE_USER)
			perf_chain_put(c, proc, mode, ip - !exact, 0);
		else if (user == LISTED_ALL || (user == LISTED_ENTRY && exact))
			perf_chain_put(c, proc, mode, ip - !exact, exact ? 0 : PLACE_GUESSED);
		exact = false;
	}
	return l;
}

/* Walks. */

static struct unwinds *begin_walks(struct perf_chains *c)
{
	struct unwind_memory mem = {
		.n_words = TABLE_WORDS, .n_images = N_IMAGES, .clock = &c->clock};
	const uint32_t n_keys = 16384;
	size_t rules = UNWIND_N_RULES * sizeof(*mem.rules), words = (size_t)TABLE_WORDS * 4,
	       images = N_IMAGES * sizeof(*mem.images), keys = n_keys * sizeof(struct image_key);
	uint8_t *p;

	c->n_memory = rules + words + images + keys;
	p = mmap(NULL, c->n_memory, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	c->memory = p;
	mem.words = (uint32_t *)p;
	mem.rules = (struct unwind_rule *)(p + words);
	mem.images = (struct unwind_image *)(p + words + rules);
	c->unwinds = xmalloc(sizeof(*c->unwinds));
	unwinds_init(c->unwinds, &mem, (struct image_key *)(p + words + rules + images), n_keys,
		     &c->world->images, c->load);
	return c->unwinds;
}

struct walk_place {
	struct perf_chains *c;
	const struct perf_proc *proc;
};

static uint32_t number_of(struct perf_chains *c, uint32_t code)
{
	uint32_t *n = vec_at(&c->number_of, code);

	if (!*n) {
		uint32_t number = unwinds_number(c->unwinds, code);

		if (number)
			unwinds_want(c->unwinds, number, 0);
		*n = number + 1;
	}
	return *n - 1;
}

static bool find_region(void *ctx, uint64_t avma, struct walk_region *ret)
{
	struct walk_place *at = ctx;
	const struct mapping *m = maps_find(at->proc->maps, avma);
	uint32_t code, number;

	if (!m)
		return false;
	*ret = (struct walk_region){.start = m->start, .end = m->end, .bias = m->off - m->start};
	code = perf_world_code(at->c->world, m);
	if (at->c->world->images.codes.v[code].kind == CODE_ANON)
		return true; /* .image is WALK_ANONYMOUS */
	number = number_of(at->c, code);
	ret->image = number ? number : WALK_UNKNOWN_FILE;
	return true;
}

/* What walks need of a machine's registers, by DWARF number: at least, and to know them all. */
#define X86_LEAST 0x10080ull /* SP, IP */
#define X86_ALL	  0x1ffffull
#define ARM_LEAST (3ull << 31) /* SP, PC */
#define ARM_ALL	  0x1ffffffffull

/* Puts the sample's registers where DWARF has them, and notes which are missing; false when they
 * are not enough. */
static bool take_regs(const struct perfdata_record *r, uint64_t mask, uint16_t machine,
		      struct walk_input *ret)
{
	const struct perfdata_words *w = &r->sample.user_regs;
	const bool is_x86 = machine == EM_X86_64;
	const uint64_t need = is_x86 ? X86_LEAST : ARM_LEAST, all = is_x86 ? X86_ALL : ARM_ALL;
	uint64_t have = 0;
	uint32_t at = 0;

	for (unsigned bit = 0; bit < 64 && at < w->n; bit++) {
		unsigned n = bit;

		if (!(mask >> bit & 1))
			continue;
		if (is_x86)
			n = bit < X86_N_REGS ? x86_dwarf[bit] : NO_REG;
		if (n < WALK_MAX_REGISTERS) {
			ret->regs[n] = perfdata_word(w, at);
			have |= 1ull << n;
		}
		at++;
	}
	ret->lacks = ((have & all) == all ? 0 : WALK_FULL) |
		     (have >> (is_x86 ? WALK_X86_FP : WALK_ARM_FP) & 1 ? 0 : WALK_FP) |
		     (!is_x86 || have >> WALK_X86_BX & 1 ? 0 : WALK_BX);
	return (have & need) == need;
}

/* Frames of user code by walking the copied stack. */
static enum chain_cause add_walk(struct perf_chains *c, const struct perfdata_record *r,
				 uint32_t proc)
{
	const struct perfdata_attr *a = &c->world->pd->events.v[r->event].attr;
	struct walk_place at = {c, &c->world->procs.v[proc]};
	struct walk_input in = {.machine = c->machine,
				.stack = r->sample.stack.p,
				.n_bytes = r->sample.stack.n,
				.find_region = find_region,
				.ctx = &at};
	bool at_leaf = (r->head.misc & PERFDATA_MISC_MODE) == PERFDATA_MODE_USER;
	enum chain_cause cause;
	uint32_t n = 0;

	if (r->sample.user_abi == PERFDATA_REGS_32)
		return CHAIN_32_BIT;
	if (r->sample.user_abi != PERFDATA_REGS_64)
		return CHAIN_COMPLETE; /* a kernel thread */
	if (!c->machine)	       /* the file does not say: arm64 has more registers */
		c->machine = a->regs_user >> 32 ? EM_AARCH64 : EM_X86_64;
	in.machine = c->machine;
	if (!take_regs(r, a->regs_user, c->machine, &in))
		return CHAIN_NO_TABLE;
	if (!c->unwinds && !begin_walks(c))
		return CHAIN_NO_TABLE;
	in.memory = &c->unwinds->mem;
	in.stack_avma = in.regs[c->machine == EM_X86_64 ? WALK_X86_SP : WALK_ARM_SP];
	cause = walk_stack(&in, c->walked, CHAIN_MAX_FRAMES, &n);
	for (uint32_t i = at_leaf; i < n; i++) {
		uint64_t f = c->walked[i], off = f & FRAME_OFF_MASK;
		uint32_t number = (uint32_t)(f >> FRAME_IMAGE_SHIFT) & FRAME_MAX_IMAGES;
		uint32_t flags = f & FRAME_GUESSED ? PLACE_GUESSED : 0;
		uint32_t code = number ? images_numbered(&c->world->images, number) : INDEX_NONE;

		if (code != INDEX_NONE)
			vec_push(&c->frames, images_place(&c->world->images, code, off, flags));
		else
			perf_chain_put(c, proc, PERFDATA_MODE_USER, off, flags);
	}
	return cause;
}

/* The hardware's stack of calls, the innermost first: where each call is. */
static void add_branches(struct perf_chains *c, const struct perfdata_record *r, uint32_t proc)
{
	const struct perfdata_sample *s = &r->sample;

	for (uint32_t i = 0; i < s->branches.n / 3; i++)
		perf_chain_put(c, proc, PERFDATA_MODE_USER, perfdata_word(&s->branches, i * 3), 0);
}

static uint64_t hash_of(const struct perf_chains *c, const struct perfdata_record *r, uint32_t proc,
			bool lbr)
{
	const struct perfdata_sample *s = &r->sample;
	uint64_t h = hash_pair(c->world->procs.v[proc].version, c->world->kernel_version);

	h = hash_pair(h + (r->head.misc & PERFDATA_MISC_MODE),
		      hash_bytes(s->ips.p, (size_t)s->ips.n * 8));
	if (lbr)
		h = hash_pair(h, hash_bytes(s->branches.p, (size_t)s->branches.n * 8));
	return h ? h : 1;
}

ctx_id perf_chains_add(struct perf_chains *c, const struct perfdata_record *r, uint32_t proc)
{
	const struct perfdata_sample *s = &r->sample;
	const struct perfdata_attr *a = &c->world->pd->events.v[r->event].attr;
	const uint64_t copied = PERFDATA_S_REGS_USER | PERFDATA_S_STACK_USER;
	bool walk = (s->has & copied) == copied && s->stack.n && s->user_abi &&
		    c->machine != PERF_CHAIN_OTHER && !c->world->pd->big_endian;
	bool lbr = a->branch_sample_type & PERFDATA_B_CALL_STACK && s->branches.n;
	enum chain_cause cause = CHAIN_COMPLETE;
	uint64_t hash = 0;
	struct listed l;
	ctx_id ctx;

	if (!s->has_chain && !walk && !lbr)
		return 0;
	if (!walk) {
		hash = hash_of(c, r, proc, lbr);
		if (c->known) {
			size_t i = slot_of(c, hash);

			if (c->known[i].hash)
				return c->known[i].ctx;
		}
	}
	c->frames.n = 0;
	l = add_listed(c, r, proc, walk ? LISTED_NONE : lbr ? LISTED_ENTRY : LISTED_ALL);
	if (l.broken) {
		c->frames.n = 0;
		cause = CHAIN_RING_FULL;
	} else if (walk) {
		cause = add_walk(c, r, proc);
	} else if (lbr) {
		add_branches(c, r, proc);
	} else if (l.deferred) {
		cause = CHAIN_RING_FULL;
	} else if (a->max_stack && l.n >= a->max_stack) {
		cause = CHAIN_TOO_DEEP;
	}
	ctx = perf_chain_finish(c, cause);
	if (!walk)
		perf_chain_remember(c, hash, ctx);
	return ctx;
}
