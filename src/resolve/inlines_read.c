/* SPDX-License-Identifier: BSD-2-Clause */
/* The scopes of one unit: which procedure and which inlined calls each address lies in.
 *
 * One pass over the unit's entries in the order they stand in, which is that of their tree.  The
 * pass is our own, because libdw steps to an entry's sibling by walking all below it again unless
 * DW_AT_sibling is there (clang writes none), which a deep tree makes quadratic; here every byte is
 * stepped over once.  Only tag and form sizes are read, libdw is asked about the few entries that
 * have code.
 *
 * Scopes are numbered as they come, so that a parent has a lower number than its children and a
 * chain of parents cannot go round.  Their ranges nest, or should: where they overlap the deepest
 * counts, of the equally deep the later.  One sweep over the ranges by start, with a heap of those
 * that are open, cuts them into pieces with one innermost scope each.
 *
 * Sources: DWARF 5, 7.5.1.1 "Full and Partial Compilation Unit Headers", 7.5.3 "Abbreviations
 * Tables", 7.5.6 "Form Encodings"; the GNU forms: gcc, include/dwarf2.def. */
#include <dwarf.h>
#include <string.h>

#include "resolve/lines_impl.h"

#define MAX_DEPTH   1024       /* of the tree of entries: what is deeper ends the pass */
#define MAX_ABBREVS (1u << 20) /* of one unit */
#define MAX_FIXED   (1u << 20) /* bytes of one entry */
#define VARIES	    UINT32_MAX

struct abbrev {
	uint64_t code;
	uint32_t n_bytes; /* of all its attributes; VARIES: walk the forms */
	uint32_t forms;	  /* the first of its forms, in reader.forms */
	uint16_t tag;
	bool has_children, has_code;
};

struct range {
	uint64_t start, end;
	uint32_t scope, depth;
};

struct reader {
	struct lines *l;
	struct lines_unit *u;
	struct rd r; /* the unit's entries */
	Dwarf_Off unit;
	unsigned version, n_address, n_offset;
	VEC(struct abbrev) abbrevs; /* by code */
	VEC(uint16_t) forms;	    /* of one abbreviation after the other, 0 behind each */
	VEC(struct range) ranges;
};

static bool inlines_read_step(struct reader *rd)
{
	return ++rd->l->n_scope_steps <= LINES_MAX_STEPS;
}

/* Bytes of a value of form FORM, VARIES when it has to be looked at; *RET_OK false for forms
 * nobody knows. */
static uint32_t form_size(const struct reader *rd, unsigned form, bool *ret_ok)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_flag:
	case DW_FORM_ref1:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_ref_sup4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return rd->n_address;
	case DW_FORM_ref_addr: /* DWARF 2: the size of an address */
		return rd->version == 2 ? rd->n_address : rd->n_offset;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return rd->n_offset;
	case DW_FORM_block1:
	case DW_FORM_block2:
	case DW_FORM_block4:
	case DW_FORM_block:
	case DW_FORM_exprloc:
	case DW_FORM_string:
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_indirect:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		return VARIES;
	default:
		*ret_ok = false;
		return VARIES;
	}
}

static void skip_leb(struct rd *r)
{
	while (rd_u8(r) & 0x80)
		;
}

static void skip_value(struct reader *rd, uint64_t form)
{
	const uint8_t *nul;
	bool ok = true;
	uint32_t n;

	for (unsigned i = 0; form == DW_FORM_indirect && i < 4; i++)
		form = rd_uleb(&rd->r);
	switch (form) {
	case DW_FORM_block1:
		rd_bytes(&rd->r, rd_u8(&rd->r));
		return;
	case DW_FORM_block2:
		rd_bytes(&rd->r, rd_le16(&rd->r));
		return;
	case DW_FORM_block4:
		rd_bytes(&rd->r, rd_le32(&rd->r));
		return;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		rd_bytes(&rd->r, rd_uleb(&rd->r));
		return;
	case DW_FORM_string:
		nul = rd_left(&rd->r) ? memchr(rd->r.p, '\0', rd_left(&rd->r)) : NULL;
		rd_bytes(&rd->r, nul ? (size_t)(nul + 1 - rd->r.p) : SIZE_MAX);
		return;
	case DW_FORM_indirect:
		rd->r.bad = true;
		return;
	}
	n = form_size(rd, form <= UINT16_MAX ? (unsigned)form : 0, &ok);
	if (!ok)
		rd->r.bad = true;
	else if (n == VARIES)
		skip_leb(&rd->r);
	else
		rd_bytes(&rd->r, n);
}

static bool is_scope(unsigned tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

static int by_code(const void *a, const void *b)
{
	const struct abbrev *x = a, *y = b;

	return x->code < y->code ? -1 : x->code > y->code;
}

static bool read_abbrevs(struct reader *rd, struct rd r)
{
	bool sorted = true;

	for (;;) {
		struct abbrev a = {.code = rd_uleb(&r), .forms = (uint32_t)rd->forms.n};
		bool ok = true;
		uint64_t tag;

		if (r.bad || !a.code)
			break;
		tag = rd_uleb(&r);
		a.tag = tag <= UINT16_MAX ? (uint16_t)tag : 0;
		a.has_children = rd_u8(&r);
		for (;;) {
			uint64_t name = rd_uleb(&r), form = rd_uleb(&r);
			uint32_t n;

			if (form == DW_FORM_implicit_const)
				skip_leb(&r);
			if (r.bad || (!name && !form))
				break;
			if (!inlines_read_step(rd))
				return false;
			a.has_code |= name == DW_AT_low_pc || name == DW_AT_ranges;
			n = form_size(rd, form <= UINT16_MAX ? (unsigned)form : 0, &ok);
			if (!ok)
				return false;
			a.n_bytes = n == VARIES || a.n_bytes > MAX_FIXED ? VARIES : a.n_bytes + n;
			vec_push(&rd->forms, (uint16_t)form);
		}
		vec_push(&rd->forms, 0);
		a.has_code &= is_scope(a.tag);
		sorted &= !rd->abbrevs.n || rd->abbrevs.v[rd->abbrevs.n - 1].code < a.code;
		if (rd->abbrevs.n == MAX_ABBREVS)
			return false;
		vec_push(&rd->abbrevs, a);
	}
	if (!sorted)
		vec_sort(&rd->abbrevs, by_code);
	return !r.bad;
}

static const struct abbrev *find_abbrev(const struct reader *rd, uint64_t code)
{
	struct abbrev key = {.code = code};

	/* Everybody numbers them from 1. */
	if (code - 1 < rd->abbrevs.n && rd->abbrevs.v[code - 1].code == code)
		return &rd->abbrevs.v[code - 1];
	if (!rd->abbrevs.n)
		return NULL;
	return bsearch(&key, rd->abbrevs.v, rd->abbrevs.n, sizeof(key), by_code);
}

static void skip_attributes(struct reader *rd, const struct abbrev *a)
{
	if (a->n_bytes != VARIES) {
		rd_bytes(&rd->r, a->n_bytes);
		return;
	}
	for (const uint16_t *f = &rd->forms.v[a->forms]; *f && !rd->r.bad; f++)
		skip_value(rd, *f);
}

/* Adds the scope whose entry is at OFF of .debug_info, DEPTH deep; its number, or LINES_NO_SCOPE
 * when it has no code. */
static uint32_t add_scope(struct reader *rd, Dwarf_Off off, bool is_inlined, uint32_t parent,
			  uint32_t depth)
{
	uint32_t scope = (uint32_t)rd->u->scopes.n;
	Dwarf_Addr base, start, end;
	size_t n = rd->ranges.n;
	ptrdiff_t at = 0;
	Dwarf_Die die;

	if (!dwarf_offdie(rd->l->dwarf, off, &die))
		return LINES_NO_SCOPE;
	while (rd->ranges.n < LINES_MAX_RANGES && inlines_read_step(rd) &&
	       (at = dwarf_ranges(&die, at, &base, &start, &end)) > 0) {
		/* 0: the linker left it out, see lines_read.c. */
		if (start && start < end)
			vec_push(&rd->ranges, (struct range){.start = start,
							     .end = end,
							     .scope = scope,
							     .depth = depth});
	}
	if (rd->ranges.n == n)
		return LINES_NO_SCOPE;
	vec_push(&rd->u->scopes, (struct lines_scope){
					 .die = off,
					 /* A procedure in a procedure is no call. */
					 .parent = is_inlined ? parent : LINES_NO_SCOPE,
				 });
	return scope;
}

/* Goes over all entries of the unit. */
static void read_entries(struct reader *rd)
{
	struct {
		uint32_t scope, depth; /* that entries of this level are in */
	} levels[MAX_DEPTH], now = {.scope = LINES_NO_SCOPE};
	unsigned level = 0;

	while (rd_left(&rd->r) && !rd->r.bad && inlines_read_step(rd)) {
		Dwarf_Off off = rd->unit + rd_off(&rd->r);
		uint64_t code = rd_uleb(&rd->r);
		const struct abbrev *a;
		uint32_t scope = LINES_NO_SCOPE;

		if (!code) { /* the end of a level */
			if (level == 0)
				return;
			level--;
			now = (__typeof__(now)){.scope = levels[level].scope,
						.depth = levels[level].depth};
			continue;
		}
		a = find_abbrev(rd, code);
		if (!a)
			return;
		skip_attributes(rd, a);
		if (a->has_code && !rd->r.bad)
			scope = add_scope(rd, off, a->tag == DW_TAG_inlined_subroutine, now.scope,
					  now.depth);
		if (!a->has_children)
			continue;
		if (level == MAX_DEPTH)
			return;
		levels[level].scope = now.scope;
		levels[level++].depth = now.depth;
		if (scope != LINES_NO_SCOPE)
			now.scope = scope;
		else if (a->tag == DW_TAG_subprogram)
			now.scope = LINES_NO_SCOPE;
		now.depth += scope != LINES_NO_SCOPE;
	}
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->scope < y->scope ? -1 : x->scope > y->scope;
}

typedef VEC(const struct range *) heap;

static bool is_deeper(const struct range *a, const struct range *b)
{
	return a->depth != b->depth ? a->depth > b->depth : a->scope > b->scope;
}

static void heap_push(heap *h, const struct range *r)
{
	size_t i = h->n, up;

	vec_push(h, r);
	for (; i > 0 && is_deeper(r, h->v[up = (i - 1) / 2]); i = up)
		h->v[i] = h->v[up];
	h->v[i] = r;
}

static void heap_pop(heap *h)
{
	const struct range *last = h->v[--h->n];
	size_t i = 0, below;

	while ((below = 2 * i + 1) < h->n) {
		if (below + 1 < h->n && is_deeper(h->v[below + 1], h->v[below]))
			below++;
		if (!is_deeper(h->v[below], last))
			break;
		h->v[i] = h->v[below];
		i = below;
	}
	h->v[i] = last;
}

static void add_start(struct lines_unit *u, uint64_t svma, uint32_t scope)
{
	if (!u->scope_starts.n || u->scope_starts.v[u->scope_starts.n - 1].scope != scope)
		vec_push(&u->scope_starts,
			 (struct lines_scope_start){.svma = svma, .scope = scope});
}

/* Cuts the ranges into pieces. */
static void inlines_read_sweep(struct reader *rd)
{
	uint64_t svma = 0;
	heap open = {0};
	size_t i = 0;

	vec_sort(&rd->ranges, by_start);
	for (;;) {
		while (open.n && open.v[0]->end <= svma)
			heap_pop(&open);
		if (!open.n) {
			if (i == rd->ranges.n)
				break;
			if (rd->ranges.v[i].start > svma) {
				add_start(rd->u, svma, LINES_NO_SCOPE);
				svma = rd->ranges.v[i].start;
			}
		}
		for (; i < rd->ranges.n && rd->ranges.v[i].start <= svma; i++) {
			if (rd->ranges.v[i].end > svma)
				heap_push(&open, &rd->ranges.v[i]);
		}
		if (!open.n)
			continue;
		add_start(rd->u, svma, open.v[0]->scope);
		svma = open.v[0]->end;
		if (i < rd->ranges.n && rd->ranges.v[i].start < svma)
			svma = rd->ranges.v[i].start;
	}
	add_start(rd->u, svma, LINES_NO_SCOPE);
	vec_release(&open);
}

/* Sets RD up for the entries of the unit whose own entry is DIE. */
static bool inlines_read_begin(struct reader *rd, Dwarf_Die *die)
{
	struct rd abbrevs = lines_section(rd->l, "abbrev");
	Dwarf_Off abbrev_off, first = dwarf_cuoffset(die);
	uint8_t n_address, n_offset;
	Dwarf_Half version;
	uint64_t length;
	Dwarf_Die unit;

	if (!dwarf_cu_die(die->cu, &unit, &version, &abbrev_off, &n_address, &n_offset, NULL,
			  NULL) ||
	    abbrev_off >= rd_left(&abbrevs) || first > rd->u->die)
		return false;
	rd->version = version;
	rd->n_address = n_address;
	rd->n_offset = n_offset;
	rd->unit = rd->u->die - first;
	rd->r = lines_section(rd->l, "info");
	rd_bytes(&rd->r, rd->unit);
	rd->r = rd_init(rd->r.p, rd_left(&rd->r));
	length = rd_le32(&rd->r);
	if (length == 0xffffffff) /* DWARF 5, 7.4: the 64-bit format */
		length = rd_le64(&rd->r);
	if (rd->r.bad || length > rd_left(&rd->r))
		return false;
	rd->r.end = rd->r.p + length;
	rd->r.p = rd->r.start;
	rd_bytes(&rd->r, first);
	rd_bytes(&abbrevs, abbrev_off);
	return !rd->r.bad && read_abbrevs(rd, rd_init(abbrevs.p, rd_left(&abbrevs)));
}

void lines_read_scopes(struct lines *l, uint32_t i)
{
	struct lines_unit *u = &l->units.v[i];
	struct reader rd = {.l = l, .u = u};
	Dwarf_Die die;

	if (l->go) {
		lines_go_read_scopes(l, i);
		return;
	}
	if (u->has_scopes)
		return;
	u->has_scopes = true;
	if (dwarf_offdie(l->dwarf, u->die, &die) && inlines_read_begin(&rd, &die)) {
		read_entries(&rd);
		inlines_read_sweep(&rd);
	}
	vec_release(&rd.abbrevs);
	vec_release(&rd.forms);
	vec_release(&rd.ranges);
}
