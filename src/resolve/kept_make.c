/* SPDX-License-Identifier: BSD-2-Clause */
/* kept_code_read: from an ELF file to what is kept of it.  It opens nothing, so that it can run in
 * a child without rights: whoever asks opens the separate debug file. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/lower_bound.h"
#include "base/sha256_lanes.h"
#include "resolve/code_file.h"
#include "resolve/debug_file.h"
#include "resolve/elf_probe.h"
#include "resolve/flow.h"
#include "resolve/inlines.h"
#include "resolve/kept_code.h"
#include "resolve/lines_impl.h"

#define HASH_CHUNK  (256u << 10)
#define NEAR_SCOPES 256

/* --- lines --- */

static void keep_rows(struct kept_code *k, struct kept_proc *p, struct lines *l)
{
	_mem_ struct line_row *rows = NULL;
	size_t n = lines_range(l, p->start, p->end, &rows);
	uint64_t end = p->start;

	for (size_t i = 0; i < n; i++) {
		const struct line_row *r = &rows[i];

		if (r->svma > end)
			vec_push(&p->rows, (struct kept_row){.svma = end, .file = KEPT_NONE});
		vec_push(&p->rows, (struct kept_row){.svma = r->svma,
						     .file = kept_text(k, r->at.file),
						     .line = r->at.line,
						     .discriminator = r->at.discriminator,
						     .column = r->at.column});
		end = r->end;
	}
	if (n && end < p->end)
		vec_push(&p->rows, (struct kept_row){.svma = end, .file = KEPT_NONE});
}

static bool same_scope(const struct kept_scope *a, const struct kept_scope *b)
{
	return a->parent == b->parent && a->name == b->name && a->file == b->file &&
	       a->line == b->line && a->column == b->column;
}

/* Number of scope S of P; it is added when it is new.  Scopes near the end are looked at: what
 * follows in the code was inlined near what is before. */
static uint32_t keep_scope(struct kept_proc *p, struct kept_scope s)
{
	for (size_t i = p->scopes.n; i-- > 0 && p->scopes.n - i <= NEAR_SCOPES;)
		if (same_scope(&p->scopes.v[i], &s))
			return (uint32_t)i;
	vec_push(&p->scopes, s);
	return (uint32_t)p->scopes.n - 1;
}

static void keep_scopes_at(struct kept_code *k, struct kept_proc *p, struct lines *l, uint64_t svma)
{
	struct inline_scope chain[INLINES_MAX];
	size_t n = inlines_find(l, svma, chain, INLINES_MAX);
	uint32_t at = KEPT_NONE;

	for (size_t i = 0; i < n; i++)
		at = keep_scope(
			p, (struct kept_scope){
				   .parent = at,
				   .name = kept_text(k, chain[i].name),
				   .file = chain[i].file ? kept_text(k, chain[i].file) : KEPT_NONE,
				   .line = chain[i].line,
				   .column = chain[i].column,
			   });
	if (p->scope_starts.n && p->scope_starts.v[p->scope_starts.n - 1].scope == at)
		return;
	vec_push(&p->scope_starts, (struct kept_scope_start){svma, at});
}

/* The unit that has the procedure; NULL: none. */
static struct lines_unit *unit_at(struct lines *l, uint64_t svma)
{
	struct lines_cursor c = {0};
	const struct lines_span *s = lines_covering(l, svma, &c);

	if (!s)
		return NULL;
	lines_read_scopes(l, s->unit);
	lines_read_decls(l, s->unit);
	return &l->units.v[s->unit];
}

static void keep_scopes(struct kept_code *k, struct kept_proc *p, struct lines *l,
			const struct lines_unit *u)
{
	size_t i = lines_search(u->scope_starts.v, u->scope_starts.n, sizeof(u->scope_starts.v[0]),
				p->start);

	keep_scopes_at(k, p, l, p->start);
	for (; i < u->scope_starts.n && u->scope_starts.v[i].svma < p->end; i++)
		keep_scopes_at(k, p, l, u->scope_starts.v[i].svma);
}

static int compare_kept_decls(const void *a, const void *b)
{
	const struct kept_decl *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->svma < y->svma ? -1 : x->svma > y->svma;
}

/* Adds the last function of U that is declared in FILE at or above LINE.  U's are by file, then
 * line. */
static void keep_decl_above(struct kept_code *k, struct kept_proc *p, const struct lines *l,
			    const struct lines_unit *u, uint32_t file, uint32_t line)
{
	const struct lines_decl *d = u->decls.v;
	size_t n = lower_bound(i, 0, u->decls.n,
			       d[i].file < file || (d[i].file == file && d[i].line <= line));

	if (n && d[n - 1].file == file)
		vec_push(&p->decls,
			 (struct kept_decl){.svma = d[n - 1].svma == p->start ? p->start : 0,
					    .file = kept_text(k, l->texts.v[file]),
					    .line = d[n - 1].line});
}

/* Where the procedure is declared, where the next one of its file is, and where the functions are
 * that were inlined. */
static void keep_decls(struct kept_code *k, struct kept_proc *p, struct lines *l,
		       const struct lines_unit *u)
{
	size_t n = 0;

	for (size_t i = 0; i < u->decls.n; i++) {
		const struct lines_decl *d = &u->decls.v[i];
		const uint32_t file =
			d->svma == p->start ? kept_text(k, l->texts.v[d->file]) : KEPT_NONE;

		if (file == KEPT_NONE)
			continue;
		vec_push(&p->decls, (struct kept_decl){p->start, file, d->line});
		for (size_t next = i + 1; next < u->decls.n && u->decls.v[next].file == d->file;
		     next++) {
			if (u->decls.v[next].line == d->line)
				continue;
			vec_push(&p->decls, (struct kept_decl){0, file, u->decls.v[next].line});
			break;
		}
		break;
	}
	vec_each (r, &p->rows)
		if (r->file != KEPT_NONE)
			keep_decl_above(k, p, l, u, lines_intern(l, k->texts.v[r->file]), r->line);
	vec_sort(&p->decls, compare_kept_decls);
	for (size_t i = 0; i < p->decls.n; i++)
		if (!n || compare_kept_decls(&p->decls.v[n - 1], &p->decls.v[i]) != 0)
			p->decls.v[n++] = p->decls.v[i];
	p->decls.n = n;
}

/* --- constants --- */

struct const_reads {
	struct code_file *code;
	VEC(struct const_read {
		uint64_t svma;
		uint8_t n;
	})
	v;
};

#define MOST_READS 65536

static bool note_read(void *ctx, uint64_t svma, uint8_t *ret, size_t n)
{
	struct const_reads *reads = ctx;

	if (!code_file_read(reads->code, svma, ret, n))
		return false;
	if (n <= 8 && reads->v.n < MOST_READS)
		vec_push(&reads->v, (struct const_read){svma, (uint8_t)n});
	return true;
}

/* Whoever follows what was kept must get the same answer.  The byte is read at the end, in the
 * order of addresses. */
static bool note_has(void *ctx, uint64_t svma)
{
	struct const_reads *reads = ctx;

	if (!code_file_has(reads->code, svma))
		return false;
	if (reads->v.n < MOST_READS)
		vec_push(&reads->v, (struct const_read){svma, 1});
	return true;
}

static int compare_reads(const void *a, const void *b)
{
	const struct const_read *x = a, *y = b;

	return x->svma < y->svma ? -1 : x->svma > y->svma;
}

/* Whether the N bytes of code at P may have a jump to where a register or memory says: the flow of
 * other code reads no constants, and most procedures have none.  On x86 that is opcode FF /4 (Intel
 * SDM, "JMP"), looked for at every byte, but not with an address that no index was added to, as in
 * jmp *8(%rsi) or jmp *8(%rip): what is in an object or a variable is no table, and an FF before a
 * prefix or an AND would be one of these.  On arm64 it is BR and its kind (Arm ARM, "Unconditional
 * branch (register)"). */
static bool may_jump_anywhere(uint16_t machine, const uint8_t *p, size_t n)
{
	const uint8_t *end = p + n;

	if (machine == EM_AARCH64) {
		for (; end - p >= 4; p += 4)
			if ((p[3] & 0xfe) == 0xd6 && !(p[2] & 0x60))
				return true;
		return false;
	}
	for (; (p = memchr(p, 0xff, (size_t)(end - p))) && p + 1 < end; p++) {
		if ((p[1] >> 3 & 7) != 4)
			continue;
		/* A register, maybe with 32 bits; an index; one by 4 or 8 with 8 bits. */
		if (p[1] >= 0x80 || p[1] == 0x24 || (p[1] == 0x64 && p + 2 < end && p[2] >= 0x80))
			return true;
	}
	return false;
}

/* Keeps what the flow of control depends on: the entries of jump tables, as the loader will have
 * them. */
static void keep_consts(struct kept_code *k, struct kept_proc *p, struct code_file *code)
{
	struct const_reads reads = {.code = code};
	const struct flow_code c = {
		.machine = code->elf.machine,
		.n_parts = 1,
		.parts = {{.start = p->start, .end = p->end, .bytes = p->bytes}},
		.read = note_read,
		.has = note_has,
		.ctx = &reads,
	};
	struct wr run = {0};

	if (!may_jump_anywhere(c.machine, p->bytes, (size_t)(p->end - p->start)))
		return;
	flow_read_tables(&c);
	vec_sort(&reads.v, compare_reads);
	for (size_t i = 0; i < reads.v.n;) {
		const uint64_t start = reads.v.v[i].svma;

		run.n = 0;
		for (; i < reads.v.n && reads.v.v[i].svma <= start + run.n; i++) {
			const struct const_read *r = &reads.v.v[i];
			uint8_t bytes[8];

			if (r->svma < start + run.n || !code_file_read(code, r->svma, bytes, r->n))
				continue;
			wr_bytes(&run, bytes, r->n);
		}
		if (run.n)
			vec_push(&p->consts,
				 (struct kept_const){
					 start, memcpy(arena_alloc(&k->arena, run.n), run.v, run.n),
					 run.n});
	}
	wr_release(&run);
	vec_release(&reads.v);
}

/* --- all of it --- */

/* What tells apart files of one build-id whose code differs. */
static void hash_code(const struct elf_file *f, uint8_t ret[KEPT_CONTENT_BYTES])
{
	_mem_ uint8_t *chunk = xmalloc(HASH_CHUNK);
	struct sha256_lanes hash;

	sha256_lanes_begin(&hash);
	for (uint32_t i = 0; i < f->n_segments; i++) {
		const struct elf_segment *s = &f->segments[i];

		if (s->type != PT_LOAD || !(s->flags & PF_X))
			continue;
		sha256_lanes_add_u64(&hash, s->svma);
		sha256_lanes_add_u64(&hash, s->filesz);
		for (uint64_t at = 0; at < s->filesz;) {
			uint64_t left = s->filesz - at;
			size_t n = elf_file_pread(f, s->off + at, chunk,
						  left < HASH_CHUNK ? (size_t)left : HASH_CHUNK);

			if (!n)
				break;
			sha256_lanes_add(&hash, chunk, n);
			at += n;
		}
	}
	sha256_lanes_end(&hash, ret, KEPT_CONTENT_BYTES);
}

static void keep_proc(struct kept_code *k, struct code_file *code, struct lines *l,
		      const struct kept_range *r)
{
	const struct lines_unit *u = l ? unit_at(l, r->start) : NULL;
	uint8_t *bytes = r->only_lines && !u ? NULL : code_file_load(code, r->start, r->end);
	struct inline_scope scope;
	struct kept_proc *p;

	if (!bytes)
		return;
	p = kept_code_add(k, r->start, r->end, bytes);
	free(bytes);
	keep_consts(k, p, code);
	if (!l)
		return;
	keep_rows(k, p, l);
	if (p->rows.n && u) {
		keep_scopes(k, p, l, u);
		keep_decls(k, p, l, u);
	} else if (p->rows.n) { /* of some part of it */
		p->rows.n = 0;
	} else if (inlines_find(l, p->start, &scope, 1) == 0) {
		/* So that readers need not look in vain: it is assembly, nearly always. */
		vec_push(&p->rows, (struct kept_row){.svma = p->start, .file = KEPT_NONE});
	}
}

/* The lines of the code that LAYOUT tells of: those in its own file, else those in its debug
 * file. */
static struct lines *open_lines(struct kept_files files, const struct image_layout *layout)
{
	struct image im = {.build_id = layout->build_id};
	struct lines *l = lines_open_alone(files.code, files.alt);

	memcpy(im.digest, layout->digest, sizeof(im.digest));
	if (!l && files.debug >= 0 && debug_file_is(files.debug, &im, layout))
		l = lines_open_alone(files.debug, files.alt);
	return l;
}

int kept_code_read(struct kept_files files, const uint8_t wanted[IMAGE_DIGEST_BYTES],
		   const uint8_t *content, const struct kept_range *ranges, size_t n, bool lines,
		   struct kept_code *ret, struct err *err)
{
	struct code_file *code = xmalloc(sizeof(*code));
	struct image_layout layout;
	struct lines *l = NULL;
	uint64_t end = 0;
	struct stat st;
	int rc = content ? elf_probe_known(files.code, wanted, &layout, err)
			 : elf_probe_as(files.code, wanted, &layout, err);

	*ret = (struct kept_code){0};
	if (rc >= 0)
		rc = code_file_borrow(code, files.code, err);
	if (rc < 0) {
		free(code);
		return rc;
	}
	ret->info = (struct kept_info){.build_id = layout.build_id,
				       .machine = code->elf.machine,
				       .type = code->elf.type,
				       .path = ""};
	memcpy(ret->info.digest, layout.digest, sizeof(layout.digest));
	if (fstat(files.code, &st) >= 0 && st.st_mtim.tv_sec > 0)
		ret->info.made_s = (uint64_t)st.st_mtim.tv_sec;
	if (content)
		memcpy(ret->info.content, content, KEPT_CONTENT_BYTES);
	else
		hash_code(&code->elf, ret->info.content);
	if (lines)
		l = open_lines(files, &layout);
	for (size_t i = 0; i < n; i++) {
		const struct kept_range *r = &ranges[i];

		if (r->start < end || r->end <= r->start || r->end - r->start > KEPT_MOST_PROC ||
		    ret->n_bytes + (r->end - r->start) > KEPT_MOST_IMAGE)
			continue;
		keep_proc(ret, code, l, r);
		end = r->end;
	}
	lines_close(l);
	code_file_close(code);
	free(code);
	return 0;
}
