/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening DWARF, and the questions of lines.h.
 *
 * Finding the unit of an address: lines_index has sorted all units' address ranges by start.  They
 * hardly ever overlap, but may (identical functions folded by the linker, damaged files), so each
 * carries the highest end seen so far: from the last range that starts at or below the address we
 * go back only while that says one might still reach it, and at most MAX_OVERLAP steps.
 *
 * libdw maps the file.  It is used for seconds, while a reader runs; compilers and linkers write a
 * new file instead of changing one in place. */
#include "resolve/lines.h"

#include <elf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/plain_file.h"
#include "base/rd.h"
#include "base/str.h"
#include "resolve/elf_file.h"
#include "resolve/lines_impl.h"

#define MAX_OVERLAP 64

/* How many bytes section S inflates to; 0 when it is not compressed. */
static uint64_t inflated_bytes(const struct elf_file *f, const struct elf_section *s)
{
	uint8_t head[16] = {0};
	struct rd r = rd_init(head, sizeof(head));
	uint64_t n = 0;

	if (s->flags & SHF_COMPRESSED) { /* gABI: Elf32_Chdr and Elf64_Chdr, ch_size */
		elf_file_pread(f, s->off, head, sizeof(head));
		rd_bytes(&r, f->is_64 ? 8 : 4);
		return f->is_64 ? rd_le64(&r) : rd_le32(&r);
	}
	if (str_starts(s->name, ".zdebug")) { /* "ZLIB" and a big-endian size (GNU) */
		elf_file_pread(f, s->off, head, sizeof(head));
		for (unsigned i = 4; i < 12; i++)
			n = n << 8 | head[i];
	}
	return n;
}

/* Refuses files that have nothing for us, and those that inflate to more than we want to hold:
 * libelf limits the ratio of each section, but the sections may share their bytes. */
static int check_sections(const struct elf_file *f, const char *path, struct err *err)
{
	bool has_info = false, has_line = false;
	uint64_t inflated = 0;

	for (uint32_t i = 0; i < f->n_sections; i++) {
		const struct elf_section *s = &f->sections[i];
		uint64_t n;

		if (s->type == SHT_NOBITS)
			continue;
		has_info |= !strcmp(s->name, ".debug_info") || !strcmp(s->name, ".zdebug_info");
		has_line |= !strcmp(s->name, ".debug_line") || !strcmp(s->name, ".zdebug_line");
		n = inflated_bytes(f, s);
		if (n > LINES_MAX_INFLATED || (inflated += n) > LINES_MAX_INFLATED)
			return err_set(err, -E2BIG,
				       "%s: its debug sections inflate to over %llu bytes", path,
				       LINES_MAX_INFLATED);
	}
	if (f->type == ET_REL)
		return err_set(err, -ENOTSUP,
			       "%s: a relocatable object: its lines have no addresses yet", path);
	if (!has_info || !has_line)
		return err_set(err, -ENOENT, "%s: no line numbers (DWARF)", path);
	return 0;
}

static int check_file(int fd, const char *path, struct err *err)
{
	struct elf_file f;
	int rc = elf_file_open(&f, fd, err);

	if (rc < 0)
		return err_prefix(err, rc, "%s", path);
	rc = elf_file_read_sections(&f, err);
	if (rc < 0)
		err_prefix(err, rc, "%s", path);
	else
		rc = check_sections(&f, path, err);
	elf_file_close(&f);
	return rc;
}

/* Opens the file dwz moved common parts to.  libdw would look for it itself, but opens whatever
 * stands at the path, a FIFO too: when there is something, only a regular file with the right
 * build-id will do. */
static int open_alt(struct lines *l, const char *path, struct err *err)
{
	const char *name, *slash = strrchr(path, '/');
	const void *id, *alt_id = NULL;
	ssize_t n_id = dwelf_dwarf_gnu_debugaltlink(l->dwarf, &name, &id);
	char full[PATH_MAX];

	if (n_id <= 0)
		return 0;
	if (snprintf(full, sizeof(full), "%.*s%s",
		     name[0] == '/' || !slash ? 0 : (int)(slash + 1 - path), path,
		     name) >= (int)sizeof(full))
		return err_set(err, -EBADMSG, "%s: the path in .gnu_debugaltlink is too long",
			       path);
	l->alt_fd = plain_file_open(full, 0);
	if (l->alt_fd < 0 && l->alt_fd != -EINVAL)
		return 0;
	if (l->alt_fd < 0 || check_file(l->alt_fd, full, NULL) == -E2BIG)
		return err_set(err, -EBADMSG, "%s: .gnu_debugaltlink names %s, not a debug file",
			       path, full);
	l->alt = dwarf_begin(l->alt_fd, DWARF_C_READ);
	if (l->alt && (dwelf_elf_gnu_build_id(dwarf_getelf(l->alt), &alt_id) != n_id ||
		       memcmp(alt_id, id, (size_t)n_id) != 0)) {
		dwarf_end(l->alt);
		l->alt = NULL;
	}
	if (l->alt)
		dwarf_setalt(l->dwarf, l->alt);
	return 0;
}

/* Makes the debug sections that tell nothing of lines and scopes look absent to libdw, which
 * inflates all it can see when it opens a file: locations are a seventh of libc's, lines another;
 * SCOPES_ONLY: lines too.  The section that holds the sections' names stays, whatever it calls
 * itself.  The file is mapped private, or a copy. */
static void hide_sections(Elf *elf, bool scopes_only)
{
	static const char *const wanted[] = {"info",	    "abbrev", "str",	"line_str",
					     "str_offsets", "addr",   "ranges", "rnglists",
					     "aranges",	    "types",  "line"};
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr mem, *sh = gelf_getshdr(scn, &mem);
		const char *s = sh ? elf_strptr(elf, names, sh->sh_name) : NULL;
		bool hide = s && elf_ndxscn(scn) != names &&
			    (str_starts(s, ".debug_") || str_starts(s, ".zdebug_"));

		for (size_t i = 0; hide && i < n_elems(wanted) - scopes_only; i++)
			hide = strcmp(strchr(s, '_') + 1, wanted[i]) != 0;
		if (!hide)
			continue;
		sh->sh_type = SHT_NOBITS;
		gelf_update_shdr(scn, sh);
	}
}

/* Opens the lines of a Go program that has no DWARF; NULL: it is none. */
static struct lines *open_go(int fd)
{
	struct lines_go *go = lines_go_open(fd);
	struct lines *l;

	if (!go)
		return NULL;
	l = xcalloc(1, sizeof(*l));
	l->fd = l->alt_fd = -1;
	l->go = go;
	return l;
}

static struct lines *open_for(int fd, const char *path, bool scopes_only, int *ret_code,
			      struct err *err)
{
	struct lines *l;
	int rc = check_file(fd, path, err);

	*ret_code = rc;
	if (rc == -ENOENT) {
		l = open_go(fd);
		*ret_code = l ? 0 : rc;
		return l;
	}
	if (rc < 0)
		return NULL;
	l = xcalloc(1, sizeof(*l));
	l->alt_fd = -1;
	l->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	elf_version(EV_CURRENT);
	l->elf = l->fd >= 0 ? elf_begin(l->fd, ELF_C_READ_MMAP_PRIVATE, NULL) : NULL;
	if (l->elf && scopes_only)
		hide_sections(l->elf, true);
	l->dwarf = l->elf ? dwarf_begin_elf(l->elf, DWARF_C_READ, NULL) : NULL;
	if (!l->dwarf)
		*ret_code = err_set(err, -EBADMSG, "%s: %s", path,
				    l->elf ? dwarf_errmsg(-1) : elf_errmsg(-1));
	else
		*ret_code = open_alt(l, path, err);
	if (*ret_code == 0)
		return l;
	lines_close(l);
	return NULL;
}

struct lines *lines_open(int fd, const char *path, int *ret_code, struct err *err)
{
	return open_for(fd, path, false, ret_code, err);
}

struct lines *lines_open_scopes(int fd, const char *path, int *ret_code, struct err *err)
{
	return open_for(fd, path, true, ret_code, err);
}

/* A file up to so many bytes is read into memory; a larger one is mapped, for its pages are no
 * memory of this process's. */
#define MOST_READ (48u << 20)

/* Lets libelf write to the headers of the mapped file IM: it notes there which sections it has
 * inflated.  The mapping is private. */
static bool open_headers(const struct lines_image *im, int fd)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct elf_file f;
	uint64_t start, n;

	if (elf_file_open(&f, fd, NULL) < 0)
		return false;
	start = f.shoff_ / page * page;
	n = f.shoff_ + f.shnum_ * (f.is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)) - start;
	elf_file_close(&f);
	return start < im->n_mapped && n <= im->n_mapped - start &&
	       mprotect(im->bytes, page, PROT_READ | PROT_WRITE) >= 0 &&
	       mprotect(im->bytes + start, n, PROT_READ | PROT_WRITE) >= 0;
}

static bool load_image(struct lines_image *im, int fd, size_t n)
{
	void *at;

	if (n <= MOST_READ) {
		im->bytes = malloc(n);
		return im->bytes && file_pread_all(fd, im->bytes, n, 0) >= 0;
	}
	at = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return false;
	im->bytes = at;
	im->n_mapped = n;
	return open_headers(im, fd);
}

static void drop_image(struct lines_image *im)
{
	if (im->n_mapped)
		munmap(im->bytes, im->n_mapped);
	else
		free(im->bytes);
}

/* Opens the DWARF in the file at FD, whose bytes become IM.  NULL: it has none, or is too large. */
static Dwarf *open_image(int fd, struct lines_image *im, Elf **ret_elf)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (size_t)st.st_size > LINES_MOST_MAPPED ||
	    !load_image(im, fd, (size_t)st.st_size))
		return NULL;
	*ret_elf = elf_memory(im->bytes, (size_t)st.st_size);
	if (!*ret_elf)
		return NULL;
	hide_sections(*ret_elf, false);
	return dwarf_begin_elf(*ret_elf, DWARF_C_READ, NULL);
}

/* Takes the file at FD (-1: none) as the one that L's .gnu_debugaltlink names.  False: L needs one,
 * and it is another. */
static bool take_alt(struct lines *l, int fd)
{
	const void *id, *alt_id = NULL;
	const char *name;
	ssize_t n_id = dwelf_dwarf_gnu_debugaltlink(l->dwarf, &name, &id);

	if (n_id <= 0)
		return true;
	if (fd < 0 || check_file(fd, "", NULL) == -E2BIG)
		return false;
	l->alt = open_image(fd, &l->alt_image, &l->alt_elf);
	if (!l->alt || dwelf_elf_gnu_build_id(l->alt_elf, &alt_id) != n_id ||
	    memcmp(alt_id, id, (size_t)n_id) != 0)
		return false;
	dwarf_setalt(l->dwarf, l->alt);
	return true;
}

struct lines *lines_open_alone(int fd, int alt_fd)
{
	struct lines *l;
	int rc = check_file(fd, "", NULL);

	if (rc < 0)
		return rc == -ENOENT ? open_go(fd) : NULL;
	l = xcalloc(1, sizeof(*l));
	l->alt_fd = l->fd = -1;
	elf_version(EV_CURRENT);
	l->dwarf = open_image(fd, &l->image, &l->elf);
	if (l->dwarf && take_alt(l, alt_fd))
		return l;
	lines_close(l);
	return NULL;
}

void lines_close(struct lines *l)
{
	if (!l)
		return;
	dwarf_end(l->dwarf);
	dwarf_end(l->alt);
	elf_end(l->elf);
	lines_go_close(l->go);
	elf_end(l->alt_elf);
	drop_image(&l->image);
	drop_image(&l->alt_image);
	if (l->fd >= 0)
		close(l->fd);
	if (l->alt_fd >= 0)
		close(l->alt_fd);
	vec_each (u, &l->units) {
		vec_release(&u->rows);
		vec_release(&u->file_numbers);
		vec_release(&u->decls);
		vec_release(&u->scopes);
		vec_release(&u->scope_starts);
	}
	vec_release(&l->units);
	vec_release(&l->spans);
	vec_release(&l->texts);
	index_release(&l->by_text);
	arena_release(&l->text);
	free(l);
}

static bool same_text(const void *owner, uint32_t i, const void *key)
{
	const struct lines *l = owner;

	return !strcmp(l->texts.v[i], key);
}

uint32_t lines_intern(struct lines *l, const char *text)
{
	uint64_t hash = hash_str(text);
	uint32_t i = index_find(&l->by_text, hash, same_text, l, text);

	if (i != INDEX_NONE)
		return i;
	i = (uint32_t)l->texts.n;
	vec_push(&l->texts, arena_strdup(&l->text, text));
	index_add(&l->by_text, hash, i);
	return i;
}

size_t lines_search(const void *v, size_t n, size_t n_bytes, uint64_t svma)
{
	size_t low = 0;

	/* Without a branch to predict: half the time of the usual form. */
	while (n > 0) {
		size_t half = (n + 1) / 2;
		uint64_t start;

		memcpy(&start, (const char *)v + (low + half - 1) * n_bytes, sizeof(start));
		low = start <= svma ? low + half : low;
		n -= half;
	}
	return low;
}

/* Number of the first row, and of the first span, above SVMA. */
static size_t row_above(const struct lines_unit *u, uint64_t svma)
{
	return lines_search(u->rows.v, u->rows.n, sizeof(u->rows.v[0]), svma);
}

static size_t span_above(const struct lines *l, uint64_t svma)
{
	return lines_search(l->spans.v, l->spans.n, sizeof(l->spans.v[0]), svma);
}

/* Where the answer for an address was found. */
struct found {
	struct lines_unit *unit;
	size_t row;
	uint64_t end; /* up to here the same unit answers */
};

const struct lines_span *lines_covering(struct lines *l, uint64_t svma, struct lines_cursor *c)
{
	if (!c->is_set) {
		lines_index(l);
		c->i = span_above(l, svma);
		c->is_set = true;
	}
	for (; c->i > 0 && c->n_steps < MAX_OVERLAP; c->n_steps++) {
		const struct lines_span *s = &l->spans.v[--c->i];

		if (s->max_end <= svma)
			break;
		if (svma < s->end)
			return s;
	}
	c->i = 0;
	return NULL;
}

static bool find_row(struct lines *l, uint64_t svma, struct found *ret)
{
	struct lines_cursor c = {0};
	const struct lines_span *s;

	while ((s = lines_covering(l, svma, &c))) {
		struct lines_unit *u = &l->units.v[s->unit];
		size_t above, next;

		lines_read_unit(l, s->unit);
		above = row_above(u, svma);
		if (above == 0 || u->rows.v[above - 1].end)
			continue;
		*ret = (struct found){.unit = u, .row = above - 1, .end = s->end};
		next = span_above(l, svma);
		if (next < l->spans.n && l->spans.v[next].start < ret->end)
			ret->end = l->spans.v[next].start;
		return true;
	}
	return false;
}

static struct line line_of(const struct lines *l, const struct lines_row *r)
{
	return (struct line){.file = l->texts.v[r->file],
			     .line = r->line,
			     .discriminator = r->discriminator,
			     .column = r->column};
}

int lines_find(struct lines *l, uint64_t svma, struct line *ret)
{
	struct found at;

	if (!find_row(l, svma, &at))
		return -ENOENT;
	*ret = line_of(l, &at.unit->rows.v[at.row]);
	return 0;
}

/* The next address above SVMA (which has no row) where one could begin; UINT64_MAX for none. */
static uint64_t next_start(struct lines *l, uint64_t svma)
{
	size_t i = span_above(l, svma);
	uint64_t next = i < l->spans.n ? l->spans.v[i].start : UINT64_MAX;
	struct lines_cursor c = {0};
	const struct lines_span *s;

	while ((s = lines_covering(l, svma, &c))) {
		const struct lines_unit *u = &l->units.v[s->unit];
		size_t row = row_above(u, svma);

		while (row < u->rows.n && u->rows.v[row].end)
			row++;
		if (row < u->rows.n && u->rows.v[row].svma < next)
			next = u->rows.v[row].svma;
	}
	return next;
}

size_t lines_range(struct lines *l, uint64_t start, uint64_t end, struct line_row **ret)
{
	VEC(struct line_row) rows = {0};
	uint64_t svma = start;

	while (svma < end) {
		const struct lines_row *r, *stop;
		struct found at;

		if (!find_row(l, svma, &at)) {
			svma = next_start(l, svma);
			continue;
		}
		at.end = at.end < end ? at.end : end;
		stop = at.unit->rows.v + at.unit->rows.n;
		for (r = &at.unit->rows.v[at.row]; r < stop && !r->end && svma < at.end; r++) {
			uint64_t next = r + 1 < stop && r[1].svma < at.end ? r[1].svma : at.end;

			vec_push(&rows,
				 (struct line_row){.svma = svma, .end = next, .at = line_of(l, r)});
			svma = next;
		}
	}
	*ret = rows.v;
	return rows.n;
}

/* The declaration of the procedure whose code begins at START, and the line of the next one in the
 * same file (UINT32_MAX for none). */
static const struct lines_decl *find_decl(struct lines *l, uint64_t start, uint32_t *ret_next)
{
	const struct lines_decl *d;
	struct lines_unit *u;
	struct found at;
	size_t i, next;

	if (!find_row(l, start, &at))
		return NULL;
	u = at.unit;
	lines_read_decls(l, (uint32_t)(u - l->units.v));
	for (i = 0; i < u->decls.n && u->decls.v[i].svma != start; i++)
		;
	if (i == u->decls.n)
		return NULL;
	d = &u->decls.v[i];
	*ret_next = UINT32_MAX;
	for (next = i + 1; next < u->decls.n && u->decls.v[next].file == d->file; next++) {
		if (u->decls.v[next].line == d->line)
			continue;
		*ret_next = u->decls.v[next].line;
		break;
	}
	return d;
}

bool lines_declaration(struct lines *l, uint64_t start, const char **ret_file, uint32_t *ret_line)
{
	uint32_t next;
	const struct lines_decl *d = find_decl(l, start, &next);

	if (!d)
		return false;
	*ret_file = l->texts.v[d->file];
	*ret_line = d->line;
	return true;
}

uint32_t lines_declared_above(struct lines *l, uint64_t svma, const char *file, uint32_t line)
{
	uint32_t best = 0;
	struct found at;

	if (!find_row(l, svma, &at))
		return 0;
	lines_read_decls(l, (uint32_t)(at.unit - l->units.v));
	vec_each (d, &at.unit->decls)
		if (d->line <= line && d->line > best && strcmp(l->texts.v[d->file], file) == 0)
			best = d->line;
	return best;
}

int lines_procedure(struct lines *l, uint64_t start, uint64_t end, struct lines_extent *ret)
{
	_mem_ struct line_row *rows = NULL;
	uint32_t first = UINT32_MAX, last = 0, next = UINT32_MAX;
	const struct lines_decl *decl = find_decl(l, start, &next);
	size_t n = lines_range(l, start, end, &rows);
	const char *file = decl ? l->texts.v[decl->file] : NULL;

	if (decl)
		first = last = decl->line;
	for (size_t i = 0; i < n; i++) {
		const struct line *at = &rows[i].at;

		if (!at->line)
			continue;
		if (!file)
			file = at->file;
		if (at->file != file || (decl && (at->line < decl->line || at->line >= next)))
			continue;
		first = at->line < first ? at->line : first;
		last = at->line > last ? at->line : last;
	}
	if (!file)
		return -ENOENT;
	*ret = (struct lines_extent){.file = file, .first = first, .last = last};
	return 0;
}

void lines_stats(const struct lines *l, size_t *ret_n_units, size_t *ret_n_rows)
{
	*ret_n_units = 0;
	vec_each (u, &l->units)
		*ret_n_units += u->is_read;
	*ret_n_rows = l->n_rows;
}
