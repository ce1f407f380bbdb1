/* SPDX-License-Identifier: BSD-2-Clause */
/* Following the code of a procedure: see flow.h.
 *
 * Instructions are decoded once per address, each remembers the one it was reached from.  That
 * chain is a way from the procedure's start (or another root) to the instruction, on which
 * flow_table.c can see what a jump through a register is about to do.  When all that can be reached
 * is decoded, tables whose size is not known are read; then what was not reached begins a new root,
 * first instruction first.  At last the instructions are cut into blocks.
 *
 * Positions are bytes from the start of the first part, the parts laid end to end.  On x86 a jump
 * may lead into the middle of an instruction (behind its lock prefix), so blocks may overlap.
 * Everything is bounded: an instruction is decoded once, tables have at most MAX_ENTRIES, and all
 * the ways that are executed for tables together have MAX_STEPS instructions.
 *
 * Example (case "table" of tests/unit/resolve_flow.c):
 *     cmp $3, %edi;  ja 9                                    block 0: branches to 1 and 4
 *     lea 8, %rdx;  mov %edi, %edi;  movslq (%rdx, %rdi, 4), %rax
 *     add %rdx, %rax;  jmp *%rax                             block 1: table to 2, 3 and 4
 *     1: mov $1, %eax;  ret                                  block 2: leaves
 *     2: mov $2, %eax;  ret                                  block 3: leaves
 *     9: ret                                                 block 4: leaves
 *     8: .long 1-8, 2-8, 1-8, 9-8, 1-8
 * `ja` leads to 9 and on to `lea`.  At `jmp *%rax` the instructions back to the start are executed
 * once, with %edi as the index: %rax is 8 plus an entry of the table at 8, and past `ja` the index
 * is at most 3.  So four entries are read (1, 2, 1, 9), not the fifth, and become edges.  Then all
 * is reached: there is no second root. */
#include "resolve/flow.h"

#include <elf.h>
#include <errno.h>

#include "base/lower_bound.h"
#include "resolve/flow_impl.h"

#define MAX_ENTRIES 4096u      /* of one table */
#define MAX_GUESSED 1024u      /* of one whose size is not known */
#define MAX_TARGETS (1u << 20) /* of all tables */
#define MAX_STEPS   (1u << 20)
#define MAX_OPEN    1024u /* tables of unknown size */
#define SHORT_WAY   64u	  /* instructions that most tables need */
#define LONG_WAY    1984u /* a table's start may be kept in a register from the beginning on */
#define NO_INSN	    UINT32_MAX
#define NO_POS	    UINT32_MAX

enum { IS_LEADER = 1, HAS_PREVIOUS = 2, HAS_TABLE = 4, IS_UNKNOWN = 8, LEAVES = 16, STOPS = 32 };

struct insn {
	uint32_t pos;
	uint32_t target; /* position; NO_POS: none, or outside */
	uint32_t from;	 /* instruction it was reached from; NO_INSN: a root */
	uint8_t n_bytes, kind, flags;
};

struct table_edge {
	uint32_t insn, target; /* position */
};

/* The table that a jump goes through. */
struct table {
	uint32_t insn;
	uint64_t svma;
};

struct step {
	uint32_t pos, from;
};

/* A jump through a table without a known end. */
struct open_table {
	uint32_t insn;
	struct flow_value target;
};

struct walk {
	const struct flow_code *code;
	const struct flow_machine *machine;
	void *engine;
	struct flow *f;
	uint32_t bases[FLOW_MAX_PARTS + 1]; /* positions of the parts */
	uint32_t *at;			    /* number of the instruction at a position, plus 1 */
	VEC(struct insn) insns;
	VEC(struct step) work;
	VEC(struct table_edge) edges;
	VEC(struct table) tables; /* that were read */
	VEC(struct open_table) open;
	VEC(uint64_t) starts; /* of tables, ascending */
	VEC(uint32_t) way;
	uint32_t n_steps;
	VEC(uint32_t) roots; /* instructions */
};

static uint32_t find_pos(const struct walk *w, uint64_t svma)
{
	for (uint32_t i = 0; i < w->code->n_parts; i++) {
		const struct flow_part *p = &w->code->parts[i];

		if (svma - p->start < p->end - p->start)
			return w->bases[i] + (uint32_t)(svma - p->start);
	}
	return NO_POS;
}

static uint32_t part_of(const struct walk *w, uint32_t pos)
{
	uint32_t i = 0;

	while (pos >= w->bases[i + 1])
		i++;
	return i;
}

static uint64_t svma_of(const struct walk *w, uint32_t pos)
{
	uint32_t i = part_of(w, pos);

	return w->code->parts[i].start + (pos - w->bases[i]);
}

/* The bytes from POS to the end of its part. */
static const uint8_t *bytes_at(const struct walk *w, uint32_t pos, size_t *ret_n)
{
	uint32_t i = part_of(w, pos);

	*ret_n = w->bases[i + 1] - pos;
	return w->code->parts[i].bytes + (pos - w->bases[i]);
}

/* Executes the last MAX instructions of the way to instruction I.  Returns where it jumps. */
static struct flow_value execute(struct walk *w, uint32_t i, uint32_t max, struct flow_values *v)
{
	size_t n;
	const uint8_t *p;

	w->way.n = 0;
	for (uint32_t k = w->insns.v[i].from; k != NO_INSN && w->way.n < max;
	     k = w->insns.v[k].from)
		vec_push(&w->way, k);
	w->n_steps += (uint32_t)w->way.n + 1;
	flow_values_init(v, w->machine->sp);
	for (size_t k = w->way.n; k-- > 0;) {
		const struct insn *in = &w->insns.v[w->way.v[k]];
		uint32_t next = w->insns.v[k ? w->way.v[k - 1] : i].pos;

		p = bytes_at(w, in->pos, &n);
		w->machine->step(w->engine, v, p, n, svma_of(w, in->pos),
				 next != in->pos + in->n_bytes);
	}
	p = bytes_at(w, w->insns.v[i].pos, &n);
	return w->machine->target(w->engine, v, p, n, svma_of(w, w->insns.v[i].pos));
}

/* Tells whether POS is the middle of an instruction and the start of none. */
static bool is_inside(const struct walk *w, uint32_t pos)
{
	if (w->at[pos])
		return false;
	for (uint32_t k = 1; k < 15 && k <= pos; k++) {
		uint32_t i = w->at[pos - k];

		if (i)
			return w->insns.v[i - 1].n_bytes > k;
	}
	return false;
}

/* The lowest place in STARTS that is above SVMA. */
static size_t find_start(const struct walk *w, uint64_t svma)
{
	return lower_bound(k, 0, w->starts.n, w->starts.v[k] <= svma);
}

static bool has_start(const struct walk *w, uint64_t svma)
{
	size_t i = find_start(w, svma);

	return i && w->starts.v[i - 1] == svma;
}

static void add_start(struct walk *w, uint64_t svma)
{
	size_t i = find_start(w, svma);

	if (w->starts.n >= MAX_ENTRIES || has_start(w, svma))
		return;
	vec_push(&w->starts, svma);
	memmove(&w->starts.v[i + 1], &w->starts.v[i], (w->starts.n - 1 - i) * sizeof(*w->starts.v));
	w->starts.v[i] = svma;
}

/* Reads the table behind TARGET for the jump I.  BOUND: its entries, 0: as far as they make sense.
 * Returns whether any leads into the procedure. */
static bool read_table(struct walk *w, uint32_t i, const struct flow_value *target, uint64_t bound)
{
	uint32_t n = bound && bound < MAX_ENTRIES ? (uint32_t)bound : MAX_GUESSED, n_found = 0;
	uint64_t end = UINT64_MAX;

	if (bound >= MAX_ENTRIES)
		n = MAX_ENTRIES;
	if (!bound && find_start(w, target->table) < w->starts.n) /* up to the next table */
		end = w->starts.v[find_start(w, target->table)];
	for (uint32_t k = 0; k < n && w->edges.n < MAX_TARGETS; k++) {
		uint64_t svma;
		uint32_t pos;

		if (target->table + k * target->scale >= end && !bound)
			break;
		if (!flow_table_entry(w->code, target, k, &svma))
			break;
		pos = find_pos(w, svma);
		if (pos == NO_POS || is_inside(w, pos)) {
			/* A case that is never taken, or was moved away; offsets are too easily
			 * taken for such. */
			if (!bound &&
			    (target->entry_bytes < 8 || !w->code->has(w->code->ctx, svma)))
				break;
			continue;
		}
		vec_push(&w->edges, (struct table_edge){.insn = i, .target = pos});
		vec_push(&w->work, (struct step){.pos = pos, .from = i});
		n_found++;
	}
	if (!n_found)
		return false;
	w->insns.v[i].flags &= (uint8_t)~IS_UNKNOWN;
	w->insns.v[i].flags |= HAS_TABLE;
	vec_push(&w->tables, (struct table){.insn = i, .svma = target->table});
	return true;
}

/* Says that the jump I goes to the position POS, or leaves (NO_POS). */
static void set_target(struct walk *w, uint32_t i, uint32_t pos)
{
	struct insn *in = &w->insns.v[i];

	in->flags &= (uint8_t)~IS_UNKNOWN;
	in->target = pos;
	if (pos == NO_POS)
		in->flags |= LEAVES;
	else
		vec_push(&w->work, (struct step){.pos = pos, .from = i});
}

/* What is known at a jump after some of the way to it was executed. */
struct way_end {
	struct flow_value target; /* where the jump goes */
	struct flow_values v;
	uint64_t bound; /* entries of the table that TARGET is loaded from; 0: not known */
	bool is_whole;	/* the way began at a root */
};

/* Executes the last MAX instructions of the way to the jump I.  Returns false when more of the way
 * may tell more: where the table is, or how long. */
static bool execute_way(struct walk *w, uint32_t i, uint32_t max, struct way_end *ret)
{
	ret->target = execute(w, i, max, &ret->v);
	ret->is_whole = w->way.n < max;
	ret->bound = ret->target.kind == FLOW_LOADED ? flow_table_bound(&ret->v, &ret->target) : 0;
	if (ret->target.kind == FLOW_LOADED && has_start(w, ret->target.table))
		return true; /* an interpreter's table, which nobody bounds */
	return ret->target.kind == FLOW_CONST || ret->bound || ret->is_whole;
}

/* Finds out where the jump I, through a register or memory, goes. */
static void resolve(struct walk *w, uint32_t i)
{
	struct way_end end;
	struct flow_value target, *sp;
	uint64_t svma;

	if (w->n_steps > MAX_STEPS)
		return;
	if (!execute_way(w, i, SHORT_WAY, &end)) {
		if (w->n_steps > MAX_STEPS)
			return;
		execute_way(w, i, LONG_WAY, &end);
	}
	target = end.target;
	if (target.kind == FLOW_LINEAR) {
		sp = &end.v.regs[w->machine->sp];
		/* A pointer that is kept somewhere is one to a procedure; and who has given up his
		 * frame is about to leave. */
		if (target.table ||
		    (end.is_whole && !w->roots.v[w->roots.n - 1] && sp->kind == FLOW_LINEAR &&
		     sp->id == end.v.sp_id && !sp->addend))
			set_target(w, i, NO_POS);
		return;
	}
	if (target.kind == FLOW_CONST) {
		set_target(w, i, find_pos(w, target.addend));
		return;
	}
	if (!flow_table_entry(w->code, &target, 0, &svma))
		return;
	add_start(w, target.table);
	if (!end.bound && w->open.n < MAX_OPEN) {
		vec_push(&w->open, (struct open_table){.insn = i, .target = target});
	} else if (end.bound) {
		if (!read_table(w, i, &target, end.bound) && find_pos(w, svma) == NO_POS)
			set_target(w, i, NO_POS); /* a table of procedures */
	}
}

/* Deals with the instruction that was just added; false when what follows is not reached. */
static bool falls_through(struct walk *w, uint32_t i, const struct flow_insn *in)
{
	struct insn *insn = &w->insns.v[i];

	switch (in->kind) {
	case FLOW_INSN_PLAIN:
		return true;
	case FLOW_INSN_CALL:
		if (!in->has_target || !w->code->no_return ||
		    !w->code->no_return(w->code->ctx, in->target))
			return true;
		insn->flags |= STOPS;
		return false;
	case FLOW_INSN_JUMP:
	case FLOW_INSN_BRANCH:
		if (in->has_target) {
			insn->target = find_pos(w, in->target);
			if (insn->target == NO_POS) {
				vec_push(&w->f->exits, in->target);
				insn->flags |= LEAVES;
			} else {
				vec_push(&w->work, (struct step){.pos = insn->target, .from = i});
			}
		} else {
			insn->flags |= IS_UNKNOWN;
			resolve(w, i);
		}
		return in->kind == FLOW_INSN_BRANCH;
	default:
		return false;
	}
}

/* Follows everything that waits. */
static void drain(struct walk *w)
{
	while (w->work.n) {
		struct step s = w->work.v[--w->work.n];
		uint32_t part = part_of(w, s.pos), end = w->bases[part + 1];

		while (s.pos < end && !w->at[s.pos]) {
			uint32_t i = (uint32_t)w->insns.n;
			struct flow_insn in;
			size_t n;
			const uint8_t *p = bytes_at(w, s.pos, &n);

			w->machine->decode(w->engine, p, n, svma_of(w, s.pos), &in);
			w->at[s.pos] = i + 1;
			vec_push(&w->insns, (struct insn){.pos = s.pos,
							  .target = NO_POS,
							  .from = s.from,
							  .n_bytes = in.n_bytes,
							  .kind = (uint8_t)in.kind});
			if (!falls_through(w, i, &in))
				break;
			s = (struct step){.pos = s.pos + in.n_bytes, .from = i};
		}
	}
}

/* Reads the tables whose end is not known. */
static void read_open(struct walk *w)
{
	while (w->open.n) {
		struct open_table t = w->open.v[--w->open.n];

		/* Entries of one or two bytes always lead somewhere near. */
		if (t.target.entry_bytes < 4)
			continue;
		if (read_table(w, t.insn, &t.target, 0))
			drain(w);
	}
}

static void flow_follow(struct walk *w, uint32_t pos)
{
	vec_push(&w->roots, (uint32_t)w->insns.n);
	vec_push(&w->work, (struct step){.pos = pos, .from = NO_INSN});
	drain(w);
	read_open(w);
}

/* Follows what nothing leads to. */
static void follow_rest(struct walk *w)
{
	uint32_t end = w->bases[w->code->n_parts];

	for (uint32_t pos = 0; pos < end;) {
		const uint8_t *p;
		struct flow_insn in;
		size_t n;

		if (w->at[pos]) {
			pos += w->insns.v[w->at[pos] - 1].n_bytes;
			continue;
		}
		p = bytes_at(w, pos, &n);
		w->machine->decode(w->engine, p, n, svma_of(w, pos), &in);
		if (in.is_padding || in.kind == FLOW_INSN_BAD) {
			pos += in.n_bytes;
			continue;
		}
		flow_follow(w, pos);
	}
}

static struct insn *insn_at(struct walk *w, uint32_t pos)
{
	return pos < w->bases[w->code->n_parts] && w->at[pos] ? &w->insns.v[w->at[pos] - 1] : NULL;
}

/* The instruction behind IN, when control goes on to it. */
static struct insn *next_of(struct walk *w, const struct insn *in)
{
	uint32_t next = in->pos + in->n_bytes;

	if ((in->kind != FLOW_INSN_PLAIN && in->kind != FLOW_INSN_CALL &&
	     in->kind != FLOW_INSN_BRANCH) ||
	    in->flags & STOPS || next >= w->bases[part_of(w, in->pos) + 1])
		return NULL;
	return insn_at(w, next);
}

/* Marks where blocks begin. */
static void mark_leaders(struct walk *w)
{
	struct insn *next;

	vec_each (r, &w->roots)
		w->insns.v[*r].flags |= IS_LEADER;
	vec_each (e, &w->edges)
		insn_at(w, e->target)->flags |= IS_LEADER;
	vec_each (in, &w->insns) {
		if (in->target != NO_POS)
			insn_at(w, in->target)->flags |= IS_LEADER;
		next = next_of(w, in);
		if (!next)
			continue;
		/* Two that overlap may be followed by the same one. */
		if (in->kind == FLOW_INSN_BRANCH || next->flags & HAS_PREVIOUS)
			next->flags |= IS_LEADER;
		next->flags |= HAS_PREVIOUS;
	}
}

static enum flow_end end_of(struct walk *w, const struct insn *in)
{
	switch (in->kind) {
	case FLOW_INSN_JUMP:
		if (in->flags & HAS_TABLE)
			return FLOW_TABLE;
		if (in->flags & IS_UNKNOWN)
			return FLOW_UNKNOWN;
		return in->flags & LEAVES ? FLOW_LEAVES : FLOW_JUMPS;
	case FLOW_INSN_BRANCH:
		return FLOW_BRANCHES;
	case FLOW_INSN_RETURN:
		return FLOW_LEAVES;
	case FLOW_INSN_TRAP:
		return FLOW_STOPS;
	case FLOW_INSN_BAD:
		return FLOW_BROKEN;
	default:
		/* What ends a part after a call is a call that never returns. */
		if (!next_of(w, in))
			return in->kind == FLOW_INSN_CALL ? FLOW_STOPS : FLOW_BROKEN;
		return FLOW_FALLS;
	}
}

/* Cuts blocks, in order of position.  *RET_LASTS: the last instruction of each. */
static int cut(struct walk *w, struct insn ***ret_lasts)
{
	uint32_t end = w->bases[w->code->n_parts];
	VEC(struct insn *) lasts = {0};

	for (uint32_t pos = 0; pos < end; pos++) {
		struct insn *in = insn_at(w, pos), *next;
		uint32_t n_insns = 1;

		if (!in || !(in->flags & IS_LEADER))
			continue;
		if (w->f->blocks.n == FLOW_MAX_BLOCKS) {
			vec_release(&lasts);
			return -E2BIG;
		}
		for (; in->kind != FLOW_INSN_BRANCH && (next = next_of(w, in)) &&
		       !(next->flags & IS_LEADER);
		     n_insns++)
			in = next;
		vec_push(&lasts, in);
		vec_push(&w->f->blocks, (struct flow_block){
						.start = svma_of(w, pos),
						.end = svma_of(w, in->pos) + in->n_bytes,
						.last = svma_of(w, in->pos),
						.how = end_of(w, in),
						.n_insns = n_insns,
					});
	}
	*ret_lasts = lasts.v;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int compare_svma(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int by_insn(const void *a, const void *b)
{
	const struct table_edge *x = a, *y = b;

	return x->insn != y->insn ? (x->insn > y->insn) - (x->insn < y->insn)
				  : (x->target > y->target) - (x->target < y->target);
}

/* Says at each jump through a table through which. */
static void name_tables(struct walk *w, struct insn **lasts)
{
	uint64_t *table = xcalloc(w->insns.n, sizeof(*table));

	vec_each (t, &w->tables)
		table[t->insn] = t->svma;
	for (size_t b = 0; b < w->f->blocks.n; b++)
		w->f->blocks.v[b].table = table[lasts[b] - w->insns.v];
	free(table);
}

/* Adds the edges of each block.  OF: the block of a leader, by instruction. */
static void connect(struct walk *w, struct insn **lasts, const uint32_t *of)
{
	VEC(uint32_t) succ = {0};
	struct flow *f = w->f;

	vec_sort(&w->edges, by_insn);
	f->first = xcalloc(f->blocks.n + 1, sizeof(*f->first));
	for (size_t b = 0; b < f->blocks.n; b++) {
		uint32_t i = (uint32_t)(lasts[b] - w->insns.v);
		struct insn *next = next_of(w, lasts[b]);
		size_t first = succ.n, n = first;

		if (next)
			vec_push(&succ, of[next - w->insns.v]);
		if (lasts[b]->target != NO_POS)
			vec_push(&succ, of[insn_at(w, lasts[b]->target) - w->insns.v]);
		if (lasts[b]->flags & HAS_TABLE) {
			struct table_edge key = {.insn = i};
			size_t low =
				lower_bound(k, 0, w->edges.n, by_insn(&w->edges.v[k], &key) < 0);

			for (; low < w->edges.n && w->edges.v[low].insn == i; low++)
				vec_push(&succ,
					 of[insn_at(w, w->edges.v[low].target) - w->insns.v]);
		}
		/* Each once. */
		if (succ.n > first + 1)
			qsort(succ.v + first, succ.n - first, sizeof(*succ.v), by_number);
		for (size_t k = first; k < succ.n; k++)
			if (n == first || succ.v[n - 1] != succ.v[k])
				succ.v[n++] = succ.v[k];
		succ.n = n;
		f->first[b + 1] = (uint32_t)n;
	}
	f->succ = succ.v;
}

static int make_blocks(struct walk *w)
{
	struct insn **lasts = NULL;
	uint32_t *of, b = 0, end = w->bases[w->code->n_parts];
	int rc;

	mark_leaders(w);
	rc = cut(w, &lasts);
	if (rc < 0)
		return rc;
	of = xcalloc(w->insns.n, sizeof(*of));
	for (uint32_t pos = 0; pos < end; pos++) {
		const struct insn *in = insn_at(w, pos);

		if (in && in->flags & IS_LEADER)
			of[in - w->insns.v] = b++;
	}
	vec_each (r, &w->roots)
		vec_push(&w->f->roots, of[*r]);
	connect(w, lasts, of);
	name_tables(w, lasts);
	vec_each (in, &w->insns) {
		if (in->kind == FLOW_INSN_CALL)
			vec_push(&w->f->calls, svma_of(w, in->pos) + in->n_bytes);
		w->f->n_tables += !!(in->flags & HAS_TABLE);
		w->f->n_unknown += !!(in->flags & IS_UNKNOWN);
	}
	vec_sort(&w->f->calls, compare_svma);
	w->f->n_insns = (uint32_t)w->insns.n;
	free(lasts);
	free(of);
	return 0;
}

static int walk_code(struct walk *w)
{
	uint64_t n = 0;

	switch (w->code->machine) {
	case EM_X86_64:
	case EM_386:
		w->machine = &flow_x86;
		break;
	case EM_AARCH64:
		w->machine = &flow_arm64;
		break;
	default:
		return -ENOTSUP;
	}
	for (uint32_t i = 0; i < w->code->n_parts; i++) {
		const struct flow_part *p = &w->code->parts[i];

		if (p->end <= p->start)
			return -EINVAL;
		if (p->end - p->start > FLOW_MAX_BYTES - n)
			return -E2BIG;
		w->bases[i] = (uint32_t)n;
		n += p->end - p->start;
		w->bases[i + 1] = (uint32_t)n;
	}
	if (!n)
		return -EINVAL;
	if (w->machine == &flow_x86 && !(w->engine = flow_x86_new(w->code->machine)))
		return -ENOTSUP;
	w->at = xcalloc(n, sizeof(*w->at));
	flow_follow(w, 0);
	follow_rest(w);
	return 0;
}

static void walk_release(struct walk *w)
{
	free(w->engine);
	free(w->at);
	vec_release(&w->insns);
	vec_release(&w->work);
	vec_release(&w->edges);
	vec_release(&w->tables);
	vec_release(&w->open);
	vec_release(&w->starts);
	vec_release(&w->way);
	vec_release(&w->roots);
}

int flow_init(struct flow *f, const struct flow_code *code)
{
	struct walk w = {.code = code, .f = f};
	int rc;

	*f = (struct flow){0};
	rc = walk_code(&w);
	if (rc >= 0)
		rc = make_blocks(&w);
	if (rc < 0)
		flow_release(f);
	walk_release(&w);
	return rc;
}

void flow_read_tables(const struct flow_code *code)
{
	struct flow f = {0};
	struct walk w = {.code = code, .f = &f};

	walk_code(&w);
	walk_release(&w);
	flow_release(&f);
}

void flow_release(struct flow *f)
{
	vec_release(&f->blocks);
	vec_release(&f->roots);
	vec_release(&f->exits);
	vec_release(&f->calls);
	free(f->first);
	free(f->succ);
	*f = (struct flow){0};
}
