/* SPDX-License-Identifier: BSD-2-Clause */
/* DWARF into arrays, through libdw: which unit covers what, a unit's line table, its declarations.
 *
 * The index is built from the ranges of the compilation units' own entries (DW_AT_low_pc, _high_pc,
 * _ranges), which every compiler writes; .debug_aranges is a second copy of the same that clang
 * leaves out and that would have to be checked against the units anyway: it is asked only about
 * units that state no ranges.
 *
 * A line table comes from libdw sorted by address.  Of several rows for one address the last
 * counts, as for addr2line; a row marks where its line begins, an end row where nothing is known
 * any more. libdw keeps its own, larger copy until it is closed, so that it is closed and opened
 * again every million rows, 50 MB.
 *
 * Declarations come from one walk over the unit's procedures, through namespaces and classes but
 * not into bodies. */
#include <dwarf.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/lower_bound.h"
#include "resolve/lines_impl.h"

#define MAX_LIBDW_ROWS (1u << 20)
#define MAX_DEPTH      16
#define MAX_PARTS      16 /* of one procedure */

static void add_span(struct lines *l, uint64_t start, uint64_t end, uint32_t unit)
{
	/* Linkers put the ranges of functions they leave out at 0 (DWARF 5, 2.17.3: at -1 with
	 * lld): in a linked file the ELF header is at 0, never code. */
	if (start == 0 || start >= end || l->spans.n >= LINES_MAX_SPANS)
		return;
	vec_push(&l->spans, (struct lines_span){.start = start, .end = end, .unit = unit});
}

/* Adds the ranges a unit's entry states; false when it states none. */
static bool add_die_ranges(struct lines *l, Dwarf_Die *die, uint32_t unit)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t off = 0;
	bool any = false;

	while (l->spans.n < LINES_MAX_SPANS &&
	       (off = dwarf_ranges(die, off, &base, &start, &end)) > 0) {
		add_span(l, start, end, unit);
		any = true;
	}
	return any;
}

/* Adds what .debug_aranges says about units that say nothing themselves. */
static void add_aranges(struct lines *l, const bool *is_silent)
{
	Dwarf_Aranges *aranges;
	size_t n;

	if (dwarf_getaranges(l->dwarf, &aranges, &n) != 0)
		return;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Arange *a = dwarf_onearange(aranges, i);
		Dwarf_Addr start;
		Dwarf_Word length;
		Dwarf_Off die;
		size_t low;

		if (!a || dwarf_getarangeinfo(a, &start, &length, &die) != 0)
			continue;
		low = lower_bound(k, 0, l->units.n, l->units.v[k].die < die);
		if (low < l->units.n && l->units.v[low].die == die && is_silent[low])
			add_span(l, start, start + length, (uint32_t)low);
	}
}

static int by_start(const void *a, const void *b)
{
	const struct lines_span *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	/* The wider first: going back from an address meets the narrower one before. */
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->unit < y->unit ? -1 : x->unit > y->unit;
}

/* A unit's header is at least as long (DWARF 4, 7.5.1.1).  A hole of a file reads as units of
 * length 0, four bytes each: a billion of them where the file says 4 GiB.  Linkers may pad with
 * some. */
#define UNIT_HEADER	 11
#define MOST_EMPTY_UNITS 65536

void lines_index(struct lines *l)
{
	unsigned n_empty = 0;
	Dwarf_Off off = 0, next;
	size_t header;
	VEC(bool) silent = {0};
	bool any_silent = false;
	uint64_t max_end = 0;

	if (l->is_indexed)
		return;
	l->is_indexed = true;
	if (l->go)
		lines_go_index(l);
	for (; !l->go && l->units.n < LINES_MAX_UNITS && n_empty < MOST_EMPTY_UNITS &&
	       dwarf_nextcu(l->dwarf, off, &next, &header, NULL, NULL, NULL) == 0 && next > off;
	     off = next) {
		Dwarf_Die die;
		int tag;

		n_empty += next - off < UNIT_HEADER;
		if (next - off < UNIT_HEADER || !dwarf_offdie(l->dwarf, off + header, &die))
			continue;
		tag = dwarf_tag(&die);
		if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit)
			continue;
		vec_push(&l->units, (struct lines_unit){.die = off + header});
		vec_push(&silent, !add_die_ranges(l, &die, (uint32_t)l->units.n - 1));
		any_silent |= silent.v[silent.n - 1];
	}
	if (any_silent)
		add_aranges(l, silent.v);
	vec_release(&silent);
	vec_sort(&l->spans, by_start);
	vec_each (s, &l->spans) {
		max_end = s->end > max_end ? s->end : max_end;
		s->max_end = max_end;
	}
}

/* Units are known by offset and stay valid. */
void lines_renew(struct lines *l)
{
	Dwarf *fresh;

	if (l->n_libdw_rows < MAX_LIBDW_ROWS)
		return;
	fresh = dwarf_begin_elf(l->elf, DWARF_C_READ, NULL);
	if (!fresh)
		return;
	if (l->alt)
		dwarf_setalt(fresh, l->alt);
	dwarf_end(l->dwarf);
	l->dwarf = fresh;
	l->n_libdw_rows = 0;
	l->generation++;
}

struct rd lines_section(struct lines *l, const char *name)
{
	size_t names;
	Elf_Scn *scn = NULL;

	if (elf_getshdrstrndx(l->elf, &names) != 0)
		return rd_init("", 0);
	while ((scn = elf_nextscn(l->elf, scn))) {
		GElf_Shdr mem, *sh = gelf_getshdr(scn, &mem);
		const char *s = sh ? elf_strptr(l->elf, names, sh->sh_name) : NULL;
		Elf_Data *data;

		if (!s || s[0] != '.')
			continue;
		s += s[1] == 'z' ? 2 : 1;
		if (strncmp(s, "debug_", 6) != 0 || strcmp(s + 6, name) != 0)
			continue;
		data = elf_rawdata(scn, NULL);
		return data && data->d_buf ? rd_init(data->d_buf, data->d_size) : rd_init("", 0);
	}
	return rd_init("", 0);
}

static const char *comp_dir(Dwarf_Die *unit)
{
	Dwarf_Attribute mem;
	const char *s = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &mem));

	return s ? s : "";
}

/* Number of the file PATH, which is relative to the directory UNIT was compiled in; libdw joins
 * the two only in some cases (observed with 0.188). */
static uint32_t intern_in(struct lines *l, Dwarf_Die *unit, const char *path)
{
	const char *base = comp_dir(unit);
	_mem_ char *full = NULL;

	if (path[0] == '/' || !base[0])
		return lines_intern(l, path);
	full = xasprintf("%s/%s", base, path);
	return lines_intern(l, full);
}

/* Where the number (+ 1) of file I of U's line table in l->texts is kept; 0: not met yet. */
static uint32_t *file_slot(struct lines_unit *u, size_t i)
{
	return vec_at(&u->file_numbers, i);
}

static uint32_t file_number(struct lines *l, struct lines_unit *u, Dwarf_Die *unit,
			    Dwarf_Line *line)
{
	Dwarf_Files *files;
	const char *path;
	uint32_t *slot;
	size_t i;

	if (dwarf_line_file(line, &files, &i) != 0)
		return lines_intern(l, "?");
	slot = file_slot(u, i);
	if (!*slot) {
		path = dwarf_filesrc(files, i, NULL, NULL);
		*slot = intern_in(l, unit, path ? path : "?") + 1;
	}
	return *slot - 1;
}

static void add_row(struct lines *l, struct lines_unit *u, Dwarf_Die *unit, Dwarf_Line *line)
{
	struct lines_row row = {0};
	int number = 0, column = 0;
	Dwarf_Addr svma;

	if (!line || dwarf_lineaddr(line, &svma) != 0)
		return;
	dwarf_lineendsequence(line, &row.end);
	dwarf_lineno(line, &number);
	dwarf_linecol(line, &column);
	dwarf_linediscriminator(line, &row.discriminator);
	row.svma = svma;
	row.line = number > 0 ? (uint32_t)number : 0;
	row.column = column > 0 && column <= UINT16_MAX ? (uint16_t)column : 0;
	row.file = row.end ? 0 : file_number(l, u, unit, line);
	if (u->rows.n && u->rows.v[u->rows.n - 1].svma == row.svma)
		u->rows.v[u->rows.n - 1] = row;
	else if (!u->rows.n || u->rows.v[u->rows.n - 1].svma < row.svma)
		vec_push(&u->rows, row);
}

/* Is the line table of DIE within the limits? */
static bool check_die(struct lines *l, Dwarf_Die *die)
{
	Dwarf_Attribute mem;
	Dwarf_Word off;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_stmt_list, &mem), &off) != 0)
		return false;
	return lines_check_unit(lines_section(l, "line"), lines_section(l, "line_str"),
				lines_section(l, "str"), off, strlen(comp_dir(die)));
}

static bool check_unit(struct lines *l, struct lines_unit *u, Dwarf_Die *die)
{
	if (!u->is_checked)
		u->is_sound = check_die(l, die);
	u->is_checked = true;
	return u->is_sound;
}

/* Counts what libdw has just decoded of U's line table. */
static void count_rows(struct lines *l, struct lines_unit *u, size_t n)
{
	if (u->generation != l->generation + 1)
		l->n_libdw_rows += n;
	u->generation = l->generation + 1; /* 0: never */
}

void lines_read_unit(struct lines *l, uint32_t i)
{
	struct lines_unit *u = &l->units.v[i];
	Dwarf_Lines *lines;
	Dwarf_Die die;
	size_t n;

	if (l->go) {
		lines_go_read_unit(l, i);
		return;
	}
	if (u->is_read)
		return;
	u->is_read = true;
	lines_renew(l);
	if (!dwarf_offdie(l->dwarf, u->die, &die) || !check_unit(l, u, &die) ||
	    dwarf_getsrclines(&die, &lines, &n) != 0)
		return;
	count_rows(l, u, n);
	vec_reserve(&u->rows, n);
	for (size_t k = 0; k < n; k++)
		add_row(l, u, &die, dwarf_onesrcline(lines, k));
	l->n_rows += u->rows.n;
}

/* dwarf_decl_file nearly does it, but takes DWARF 5's file 0, which clang uses, for none (observed
 * with libdw 0.188). */
bool lines_attr_file(struct lines *l, struct lines_unit *u, Dwarf_Attribute *attr, uint32_t *ret)
{
	Dwarf_Files *files;
	Dwarf_Lines *lines;
	const char *path;
	Dwarf_Word i;
	Dwarf_Die unit;
	size_t n;
	bool own;

	/* The attribute may come from an abstract instance in another unit (LTO). */
	if (!attr || dwarf_formudata(attr, &i) != 0 ||
	    !dwarf_cu_die(attr->cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL))
		return false;
	own = dwarf_cu_getdwarf(attr->cu) == l->dwarf && dwarf_dieoffset(&unit) == u->die;
	if (own && i < u->file_numbers.n && u->file_numbers.v[i]) {
		*ret = u->file_numbers.v[i] - 1;
		return true;
	}
	if (own ? !check_unit(l, u, &unit) : !check_die(l, &unit))
		return false;
	/* libdw decodes both together. */
	if (own && dwarf_getsrclines(&unit, &lines, &n) == 0)
		count_rows(l, u, n);
	if (dwarf_getsrcfiles(&unit, &files, &n) != 0)
		return false;
	path = dwarf_filesrc(files, i, NULL, NULL);
	if (!path)
		return false;
	*ret = intern_in(l, &unit, path);
	if (own)
		*file_slot(u, i) = *ret + 1;
	return true;
}

static void add_decl(struct lines *l, struct lines_unit *u, Dwarf_Die *die)
{
	struct lines_decl d = {0};
	Dwarf_Addr base, start, end;
	Dwarf_Attribute mem;
	ptrdiff_t off = 0;
	int line;

	if (dwarf_hasattr(die, DW_AT_declaration) || dwarf_decl_line(die, &line) != 0 ||
	    line <= 0 ||
	    !lines_attr_file(l, u, dwarf_attr_integrate(die, DW_AT_decl_file, &mem), &d.file))
		return;
	d.line = (uint32_t)line;
	/* One for each part: compilers split off the cold ones. */
	for (unsigned n = 0; n < MAX_PARTS; n++) {
		off = dwarf_ranges(die, off, &base, &start, &end);
		if (off <= 0)
			break;
		d.svma = start;
		vec_push(&u->decls, d);
	}
	if (!d.svma) /* inlined everywhere */
		vec_push(&u->decls, d);
}

/* Visits the children of PARENT; *LEFT bounds the walk whatever the entries claim. */
static void lines_read_walk(struct lines *l, struct lines_unit *u, Dwarf_Die *parent,
			    unsigned depth, unsigned *left)
{
	Dwarf_Die die;

	if (depth > MAX_DEPTH || dwarf_child(parent, &die) != 0)
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			add_decl(l, u, &die);
			break;
		case DW_TAG_namespace:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_module:
			lines_read_walk(l, u, &die, depth + 1, left);
			break;
		}
	} while (*left && (*left)-- && dwarf_siblingof(&die, &die) == 0);
}

static int by_file_and_line(const void *a, const void *b)
{
	const struct lines_decl *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->svma < y->svma ? -1 : x->svma > y->svma;
}

void lines_read_decls(struct lines *l, uint32_t i)
{
	struct lines_unit *u = &l->units.v[i];
	unsigned left = LINES_MAX_DIES;
	Dwarf_Die die;

	if (l->go) {
		lines_go_read_decls(l, i);
		return;
	}
	if (u->has_decls)
		return;
	u->has_decls = true;
	/* Paths of declarations come from the line table's header. */
	if (!dwarf_offdie(l->dwarf, u->die, &die) || !check_unit(l, u, &die))
		return;
	lines_read_walk(l, u, &die, 0, &left);
	vec_sort(&u->decls, by_file_and_line);
}
