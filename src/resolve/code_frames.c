/* SPDX-License-Identifier: BSD-2-Clause */
/* See code_frames.h.
 *
 * A function is followed from its first instruction along all branches.  Before each instruction
 * is known how far the stack pointer is from the canonical frame address (CFA), and where the
 * caller's rbp and rbx are:
 *
 *     push %rbx              CFA = rsp + 8            rbx as it was
 *     push %rbp              CFA = rsp + 16           rbx at CFA - 16
 *     mov  %rsp, %rbp        CFA = rsp + 24           rbp at CFA - 24
 *     and  $-64, %rsp        CFA = rsp + 24 = rbp + 24
 *     ...                    CFA = rbp + 24           rsp is not known
 *     leave                  CFA = rbp + 24
 *     pop  %rbx              CFA = rsp + 16
 *     ret                    CFA = rsp + 8            both as they were: believed
 *
 * A function begins where a stretch begins, where the function before it ends, and where a symbol
 * says so.  Data do not come to returns that fit, and get no rules; nor does code that begins
 * elsewhere. */
#include "resolve/code_frames.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/lower_bound.h"
#include "base/rd.h"
#include "resolve/code_state.h"

#define MOST_STRETCH ((size_t)512 << 10) /* bytes of code that are looked at together */
#define MOST_CODE    ((size_t)2 << 20)	 /* of an image */
#define MOST_SYMBOLS ((size_t)4 << 20)	 /* bytes of a table of them */
#define MOST_STATES  4096		 /* different ones in a stretch */
#define MOST_PADDING 64			 /* bytes; more is no code */
#define ALIGNMENT    16			 /* of functions: what compilers and assemblers choose */

enum mark { UNSEEN, INSIDE, FIRST_STATE };

struct pending {
	size_t off;
	struct code_state state;
};

struct stretch {
	const uint8_t *code;
	size_t n;
	uint64_t svma;
	ZydisDecoder decoder;
	uint16_t *at; /* of each byte: UNSEEN, INSIDE an instruction, FIRST_STATE + number */
	size_t steps; /* that may still be made */
	VEC(struct code_state) states; /* as code_state_known has them */
	struct index by_state;
	VEC(struct pending) pending;
	VEC(size_t) seen; /* instructions of the function that is followed */
};

static bool code_decode(const struct stretch *s, size_t off, struct instruction *ret)
{
	return ZYAN_SUCCESS(
		ZydisDecoderDecodeFull(&s->decoder, s->code + off, s->n - off, &ret->in, ret->op));
}

/* --- following a function --- */

/* What a signal's handler returns to: mov $15 (__NR_rt_sigreturn), %rax or %eax; syscall.  A walk
 * knows it by itself where no rule holds, there and one byte before. */
static bool is_trampoline(const struct stretch *s, size_t off)
{
	static const uint8_t rax[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	static const uint8_t eax[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
	const uint8_t *code = s->code + off;

	return (s->n - off >= sizeof(rax) && memcmp(code, rax, sizeof(rax)) == 0) ||
	       (s->n - off >= sizeof(eax) && memcmp(code, eax, sizeof(eax)) == 0);
}

static bool is_state(const void *owner, uint32_t i, const void *key)
{
	const struct stretch *s = owner;

	return memcmp(&s->states.v[i], key, sizeof(s->states.v[i])) == 0;
}

/* The number of what F says, plus FIRST_STATE; 0: there are too many. */
static uint16_t intern_state(struct stretch *s, const struct code_state *f)
{
	const struct code_state known = code_state_known(f);
	const uint64_t hash = hash_bytes(&known, sizeof(known));
	uint32_t i = index_find(&s->by_state, hash, is_state, s, &known);

	if (i == INDEX_NONE) {
		i = (uint32_t)s->states.n;
		if (i == MOST_STATES)
			return 0;
		vec_push(&s->states, known);
		index_add(&s->by_state, hash, i);
	}
	return (uint16_t)(FIRST_STATE + i);
}

/* Marks the instruction of N bytes at OFF, before which F holds; false: that cannot be. */
static bool code_mark(struct stretch *s, size_t off, size_t n, const struct code_state *f)
{
	const uint16_t state = intern_state(s, f);

	if (!state)
		return false;
	for (size_t i = 1; i < n; i++)
		if (s->at[off + i] != UNSEEN)
			return false;
	s->at[off] = state;
	for (size_t i = 1; i < n; i++)
		s->at[off + i] = INSIDE;
	vec_push(&s->seen, off);
	return true;
}

/* Notes that the function goes on at TARGET, too.  Only a tail call may leave the stretch. */
static bool code_branch(struct stretch *s, uint64_t target, const struct code_state *f)
{
	if (target - s->svma >= s->n)
		return code_state_is_entry(f);
	vec_push(&s->pending, (struct pending){target - s->svma, *f});
	return true;
}

/* The first byte from OFF to END that is no padding; END: all are. */
static size_t skip_padding(const struct stretch *s, size_t off, size_t end)
{
	struct instruction i;

	while (off < end && s->at[off] == UNSEEN) {
		if (s->code[off] == 0 || s->code[off] == 0xcc) {
			off++;
			continue;
		}
		if (!code_decode(s, off, &i) || i.in.mnemonic != ZYDIS_MNEMONIC_NOP)
			break;
		off += i.in.length;
	}
	return off < end ? off : end;
}

/* Whether a function seems to begin at OFF or behind padding there.  If so, the call before it does
 * not return. */
static bool is_next_function(const struct stretch *s, size_t off)
{
	const size_t end = s->n - off < MOST_PADDING ? s->n : off + MOST_PADDING;
	const size_t at = skip_padding(s, off, end);
	struct instruction i;

	if (at == end || (s->svma + at) % ALIGNMENT != 0)
		return at == end;
	return at > off || (code_decode(s, at, &i) && instruction_begins(&i));
}

/* Follows the code from OFF to the next place where nothing follows.  *ENDS: it came to a return,
 * and that was as it must be. */
static bool follow(struct stretch *s, size_t off, struct code_state f, bool *ends)
{
	struct instruction i;
	uint64_t target;

	for (; off < s->n; off += i.in.length) {
		if (s->at[off] >= FIRST_STATE)
			return s->at[off] == intern_state(s, &f);
		if (!s->steps || !s->steps-- || is_trampoline(s, off) || !code_decode(s, off, &i) ||
		    !code_mark(s, off, i.in.length, &f))
			return false;
		switch (i.in.meta.category) {
		case ZYDIS_CATEGORY_RET:
			*ends = true;
			return code_state_is_entry(&f);
		case ZYDIS_CATEGORY_UNCOND_BR:
		case ZYDIS_CATEGORY_COND_BR:
			if (i.op[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
				return code_state_is_entry(&f); /* a tail call */
			if (ZYAN_FAILED(ZydisCalcAbsoluteAddress(&i.in, &i.op[0], s->svma + off,
								 &target)) ||
			    !code_branch(s, target, &f))
				return false;
			if (i.in.meta.category == ZYDIS_CATEGORY_UNCOND_BR)
				return true;
			break;
		default:
			if (i.in.mnemonic == ZYDIS_MNEMONIC_UD2 ||
			    i.in.mnemonic == ZYDIS_MNEMONIC_HLT)
				return true;
			code_state_step(&f, &i);
			if (code_state_is_beyond(&f))
				return false;
			if (i.in.mnemonic == ZYDIS_MNEMONIC_CALL &&
			    is_next_function(s, off + i.in.length))
				return true;
		}
	}
	return false; /* beyond the end */
}

/* Forgets the function that was followed. */
static void forget_function(struct stretch *s)
{
	vec_each (off, &s->seen) {
		s->at[*off] = UNSEEN;
		for (size_t i = *off + 1; i < s->n && s->at[i] == INSIDE; i++)
			s->at[i] = UNSEEN;
	}
}

static bool follow_function(struct stretch *s, size_t entry)
{
	bool ends = false, fits = true;

	s->seen.n = s->pending.n = 0;
	vec_push(&s->pending, (struct pending){entry, CODE_AT_ENTRY});
	while (fits && s->pending.n) {
		struct pending p = s->pending.v[--s->pending.n];

		fits = follow(s, p.off, p.state, &ends);
	}
	if (fits && ends)
		return true;
	forget_function(s);
	return false;
}

/* --- a stretch of code --- */

/* The end of the code that is known from OFF on. */
static size_t end_of_seen(const struct stretch *s, size_t off)
{
	while (off < s->n && s->at[off] != UNSEEN)
		off++;
	return off;
}

/* Where the next function may begin, when the last one began at OFF. */
static size_t next_entry(const struct stretch *s, size_t off)
{
	size_t end = off;

	do {
		off = end;
		end = skip_padding(s, end_of_seen(s, off), s->n);
	} while (end > off && end < s->n && s->at[end] != UNSEEN);
	return end;
}

/* The next one that symbols tell of behind OFF; s->n: none. */
static size_t next_told(const struct stretch *s, size_t off, const code_entries *entries)
{
	for (size_t i = lower_bound(k, 0, entries->n, entries->v[k] <= s->svma + off);
	     i < entries->n && entries->v[i] - s->svma < s->n; i++)
		if (s->at[entries->v[i] - s->svma] == UNSEEN)
			return entries->v[i] - s->svma;
	return s->n;
}

static void put_rules(const struct stretch *s, unwind_put_fn *put, void *owner)
{
	static const struct unwind_rule none = {0};

	for (size_t i = 0; i <= s->n; i++) { /* behind the end is nothing */
		if (s->at[i] != UNSEEN && is_trampoline(s, i + 1)) {
			put(owner, s->svma + i, &none);
		} else if (s->at[i] >= FIRST_STATE) {
			const struct unwind_rule rule =
				code_state_rule(&s->states.v[s->at[i] - FIRST_STATE]);

			put(owner, s->svma + i, &rule);
		} else if (s->at[i] == UNSEEN && i && s->at[i - 1] != UNSEEN) {
			put(owner, s->svma + i, &none);
		}
	}
}

/* Adds the functions of a table of symbols. */
static void read_entries(struct code_frames *c, const char *section)
{
	const struct elf_section *s = elf_file_find_section(c->f, section);
	_mem_ uint8_t *bytes = s && s->size <= MOST_SYMBOLS ? elf_file_load_section(c->f, s) : NULL;
	struct rd r = rd_init(bytes, bytes ? (size_t)s->size : 0);

	while (rd_left(&r) >= sizeof(Elf64_Sym)) { /* gABI, "Symbol Table" */
		uint8_t info;
		uint16_t in;
		uint64_t svma;

		rd_le32(&r); /* st_name */
		info = rd_u8(&r);
		rd_u8(&r); /* st_other */
		in = rd_le16(&r);
		svma = rd_le64(&r);
		rd_le64(&r); /* st_size */
		if (ELF64_ST_TYPE(info) == STT_FUNC && in != SHN_UNDEF)
			vec_push(&c->entries, svma);
	}
}

static int by_address(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static const code_entries *find_entries(struct code_frames *c)
{
	if (c->has_entries)
		return &c->entries;
	c->has_entries = true;
	read_entries(c, ".symtab");
	read_entries(c, ".dynsym");
	if (c->entries.n)
		qsort(c->entries.v, c->entries.n, sizeof(c->entries.v[0]), by_address);
	return &c->entries;
}

void code_frames_find(const uint8_t *code, size_t n_bytes, uint64_t svma, struct code_frames *c,
		      unwind_put_fn *put, void *owner)
{
	struct stretch s = {.code = code, .n = n_bytes, .svma = svma};

	s.at = xcalloc(n_bytes + 1, sizeof(*s.at));
	s.steps = 4 * n_bytes;
	ZydisDecoderInit(&s.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t entry = skip_padding(&s, 0, n_bytes); entry < s.n;)
		entry = follow_function(&s, entry) ? next_entry(&s, entry)
						   : next_told(&s, entry, find_entries(c));
	put_rules(&s, put, owner);
	free(s.at);
	vec_release(&s.states);
	index_release(&s.by_state);
	vec_release(&s.pending);
	vec_release(&s.seen);
}

/* Reads [OFF, END) of the file, code at SVMA. */
static void read_part(struct code_frames *c, uint64_t svma, uint64_t off, uint64_t end,
		      unwind_put_fn *put, void *owner)
{
	while (off < end) {
		const size_t n = end - off < MOST_STRETCH ? (size_t)(end - off) : MOST_STRETCH;
		_mem_ uint8_t *code = n <= c->left ? elf_file_load(c->f, off, n) : NULL;

		if (!code)
			return;
		c->left -= n;
		sha256_add_u64(&c->seen, svma);
		sha256_add(&c->seen, code, n);
		code_frames_find(code, n, svma, c, put, owner);
		off += n;
		svma += n;
	}
}

/* unwind_input.read_code */
static void read_code(void *ctx, uint64_t svma, uint64_t off, uint64_t n_bytes, unwind_put_fn *put,
		      void *owner)
{
	struct code_frames *c = ctx;

	if (!c->n_parts)
		read_part(c, svma, off, off + n_bytes, put, owner);
	for (uint32_t i = 0; i < c->n_parts; i++) {
		const struct code_part *p = &c->parts[i];
		const uint64_t from = p->off > off ? p->off : off;
		const uint64_t end = p->end < off + n_bytes ? p->end : off + n_bytes;

		if (from < end)
			read_part(c, svma + (from - off), from, end, put, owner);
	}
}

/* Sections of code, as far as they are in order: some linkers put constants into the segment of
 * code, too. */
static void find_parts(struct code_frames *c)
{
	uint64_t done = 0;

	for (uint32_t i = 0; i < c->f->n_sections && c->n_parts < CODE_MAX_PARTS; i++) {
		const struct elf_section *s = &c->f->sections[i];

		if (!(s->flags & SHF_EXECINSTR) || s->type != SHT_PROGBITS || s->off < done ||
		    s->off > c->f->size || s->size > c->f->size - s->off)
			continue;
		done = s->off + s->size;
		c->parts[c->n_parts++] = (struct code_part){s->off, done};
	}
}

void code_frames_release(struct code_frames *c)
{
	vec_release(&c->entries);
}

void code_frames_offer(struct code_frames *c, const struct elf_file *f, struct unwind_input *in)
{
	*c = (struct code_frames){.f = f, .left = MOST_CODE};
	sha256_begin(&c->seen);
	if (f->machine != EM_X86_64)
		return;
	find_parts(c);
	in->read_code = read_code;
	in->code = c;
}
