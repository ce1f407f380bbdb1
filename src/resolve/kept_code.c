/* SPDX-License-Identifier: BSD-2-Clause */
/* See kept_code.h; the layout is docs/formats/code.md, in the order written here. */
#include "resolve/kept_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/lower_bound.h"
#include "base/rd.h"
#include "base/sha256.h"
#include "base/str.h"

#define MAGIC	     "dwellcod"
#define MAJOR	     2 /* 1: the sum is a SHA-256 */
#define MINOR	     0
#define SUM_BYTES    16
#define HEADER_BYTES (8 + 2 + 2 + 4 + SUM_BYTES)
#define MOST_TEXT    32768u

/* --- in memory --- */

static bool text_same(const void *owner, uint32_t i, const void *key)
{
	return strcmp(((const struct kept_code *)owner)->texts.v[i], key) == 0;
}

uint32_t kept_text(struct kept_code *k, const char *text)
{
	uint64_t hash = hash_str(text);
	uint32_t i = index_find(&k->by_text, hash, text_same, k, text);

	if (i != INDEX_NONE)
		return i;
	vec_push(&k->texts, arena_strdup(&k->arena, text));
	index_add(&k->by_text, hash, (uint32_t)k->texts.n - 1);
	return (uint32_t)k->texts.n - 1;
}

static size_t proc_above(const struct kept_code *k, uint64_t svma)
{
	return lower_bound(i, 0, k->procs.n, k->procs.v[i].start <= svma);
}

const struct kept_proc *kept_code_find(const struct kept_code *k, uint64_t svma)
{
	size_t above = proc_above(k, svma);

	return above && svma < k->procs.v[above - 1].end ? &k->procs.v[above - 1] : NULL;
}

bool kept_code_bytes(const struct kept_code *k, uint64_t svma, uint8_t *ret, size_t n)
{
	const struct kept_proc *p = kept_code_find(k, svma);

	if (p && n <= p->end - svma) {
		memcpy(ret, p->bytes + (svma - p->start), n);
		return true;
	}
	vec_each (proc, &k->procs) {
		vec_each (c, &proc->consts) {
			if (svma < c->svma || svma - c->svma > c->n || n > c->n - (svma - c->svma))
				continue;
			memcpy(ret, c->bytes + (svma - c->svma), n);
			return true;
		}
	}
	return false;
}

static uint8_t *copy_bytes(struct kept_code *k, const uint8_t *bytes, size_t n)
{
	return memcpy(arena_alloc(&k->arena, n ? n : 1), n ? bytes : (const uint8_t *)"", n);
}

/* BYTES stay where they are. */
static struct kept_proc *add_proc(struct kept_code *k, uint64_t start, uint64_t end,
				  const uint8_t *bytes)
{
	vec_push(&k->procs, (struct kept_proc){.start = start, .end = end, .bytes = bytes});
	k->n_bytes += (size_t)(end - start);
	return &k->procs.v[k->procs.n - 1];
}

struct kept_proc *kept_code_add(struct kept_code *k, uint64_t start, uint64_t end,
				const uint8_t *bytes)
{
	return add_proc(k, start, end, copy_bytes(k, bytes, (size_t)(end - start)));
}

static void proc_release(struct kept_proc *p)
{
	vec_release(&p->rows);
	vec_release(&p->scopes);
	vec_release(&p->scope_starts);
	vec_release(&p->decls);
	vec_release(&p->consts);
}

void kept_code_release(struct kept_code *k)
{
	vec_each (p, &k->procs)
		proc_release(p);
	vec_release(&k->procs);
	vec_release(&k->texts);
	index_release(&k->by_text);
	arena_release(&k->arena);
	file_map_close(&k->file);
	*k = (struct kept_code){0};
}

/* --- merging --- */

static uint32_t copy_text(struct kept_code *to, const struct kept_code *from, uint32_t text)
{
	return text == KEPT_NONE ? KEPT_NONE : kept_text(to, from->texts.v[text]);
}

/* Copies what FROM's procedure P knows into RET, a procedure of TO. */
static void copy_proc(struct kept_code *to, const struct kept_code *from, const struct kept_proc *p,
		      struct kept_proc *ret)
{
	*ret = (struct kept_proc){.start = p->start, .end = p->end};
	ret->bytes = copy_bytes(to, p->bytes, (size_t)(p->end - p->start));
	vec_each (r, &p->rows) {
		struct kept_row row = *r;

		row.file = copy_text(to, from, r->file);
		vec_push(&ret->rows, row);
	}
	vec_each (s, &p->scopes) {
		struct kept_scope scope = *s;

		scope.name = copy_text(to, from, s->name);
		scope.file = copy_text(to, from, s->file);
		vec_push(&ret->scopes, scope);
	}
	vec_each (s, &p->scope_starts)
		vec_push(&ret->scope_starts, *s);
	vec_each (d, &p->decls) {
		struct kept_decl decl = *d;

		decl.file = copy_text(to, from, d->file);
		vec_push(&ret->decls, decl);
	}
	vec_each (c, &p->consts)
		vec_push(&ret->consts,
			 (struct kept_const){c->svma, copy_bytes(to, c->bytes, c->n), c->n});
}

/* Whether TO has something in [start, end) of P; *RET_SAME: that very procedure. */
static bool overlaps(struct kept_code *to, const struct kept_proc *p, struct kept_proc **ret_same)
{
	size_t above = proc_above(to, p->end - 1);
	struct kept_proc *last = above ? &to->procs.v[above - 1] : NULL;

	*ret_same = last && last->start == p->start && last->end == p->end ? last : NULL;
	return last && last->end > p->start;
}

bool kept_code_merge(struct kept_code *to, const struct kept_code *from)
{
	bool any = false;

	vec_each (p, &from->procs) {
		struct kept_proc *same, copy;
		size_t n = (size_t)(p->end - p->start), at;

		if (overlaps(to, p, &same)) {
			if (!same || same->rows.n || !p->rows.n)
				continue;
			copy_proc(to, from, p, &copy);
			proc_release(same);
			*same = copy;
			any = true;
			continue;
		}
		if (to->n_bytes + n > KEPT_MOST_IMAGE)
			continue;
		copy_proc(to, from, p, &copy);
		at = proc_above(to, p->start);
		vec_push(&to->procs, copy);
		memmove(to->procs.v + at + 1, to->procs.v + at,
			(to->procs.n - 1 - at) * sizeof(copy));
		to->procs.v[at] = copy;
		to->n_bytes += n;
		any = true;
	}
	to->info.is_hidden |= from->info.is_hidden;
	return any;
}

/* --- writing --- */

static void put_text(struct wr *w, const char *s)
{
	wr_uleb(w, strlen(s));
	wr_bytes(w, s, strlen(s));
}

/* A number or nothing, as number + 1 or 0. */
static void put_number(struct wr *w, uint32_t n)
{
	wr_uleb(w, n == KEPT_NONE ? 0 : (uint64_t)n + 1);
}

static void put_kept_info(struct wr *w, const struct kept_info *i)
{
	wr_u8(w, i->build_id.n_bytes);
	wr_bytes(w, i->build_id.bytes, i->build_id.n_bytes);
	wr_bytes(w, i->digest, sizeof(i->digest));
	wr_bytes(w, i->content, sizeof(i->content));
	wr_u8(w, (uint8_t)(i->is_claimed | i->is_hidden << 1));
	wr_uleb(w, i->machine);
	wr_uleb(w, i->type);
	wr_uleb(w, i->made_s);
	put_text(w, i->path ? i->path : "");
}

static void put_proc(struct wr *w, const struct kept_proc *p, uint64_t last_end)
{
	uint64_t at = p->start;
	int64_t line = 0;

	wr_uleb(w, p->start - last_end);
	wr_uleb(w, p->end - p->start);
	wr_bytes(w, p->bytes, (size_t)(p->end - p->start));
	wr_uleb(w, p->rows.n);
	vec_each (r, &p->rows) {
		wr_uleb(w, r->svma - at);
		at = r->svma;
		put_number(w, r->file);
		if (r->file == KEPT_NONE)
			continue;
		wr_sleb(w, (int64_t)r->line - line);
		line = r->line;
		wr_uleb(w, r->column);
		wr_uleb(w, r->discriminator);
	}
	wr_uleb(w, p->scopes.n);
	vec_each (s, &p->scopes) {
		put_number(w, s->parent);
		wr_uleb(w, s->name);
		put_number(w, s->file);
		wr_uleb(w, s->line);
		wr_uleb(w, s->column);
	}
	at = p->start;
	wr_uleb(w, p->scope_starts.n);
	vec_each (s, &p->scope_starts) {
		wr_uleb(w, s->svma - at);
		at = s->svma;
		put_number(w, s->scope);
	}
	wr_uleb(w, p->decls.n);
	vec_each (d, &p->decls) {
		wr_u8(w, d->svma != 0);
		wr_uleb(w, d->file);
		wr_uleb(w, d->line);
	}
	wr_uleb(w, p->consts.n);
	vec_each (c, &p->consts) {
		wr_uleb(w, c->svma);
		wr_uleb(w, c->n);
		wr_bytes(w, c->bytes, c->n);
	}
}

/* The sum of a file of N bytes, were its major version VERSION. */
static void sum_of(uint16_t version, const uint8_t *bytes, size_t n, uint8_t ret[SUM_BYTES])
{
	const uint8_t *body = bytes + HEADER_BYTES;
	const size_t n_body = n - HEADER_BYTES;
	uint8_t head[HEADER_BYTES - SUM_BYTES];
	struct sha256 hash;
	uint64_t sum;

	memcpy(head, bytes, sizeof(head));
	head[8] = version & 255;
	head[9] = (uint8_t)(version >> 8);
	if (version == 1) {
		sha256_begin(&hash);
		sha256_add(&hash, head, sizeof(head));
		sha256_add(&hash, body, n_body);
		sha256_end(&hash, ret, SUM_BYTES);
		return;
	}
	sum = hash_pair(hash_bytes(head, sizeof(head)), hash_bytes(body, n_body));
	memset(ret, 0, SUM_BYTES);
	for (unsigned i = 0; i < 8; i++)
		ret[i] = (uint8_t)(sum >> 8 * i);
}

void kept_code_seal(uint8_t *bytes, size_t n)
{
	if (n >= HEADER_BYTES)
		sum_of(MAJOR, bytes, n, bytes + HEADER_BYTES - SUM_BYTES);
}

void kept_code_format(const struct kept_code *k, struct wr *ret)
{
	static const uint8_t no_sum[SUM_BYTES];
	const size_t start = ret->n;
	uint64_t last_end = 0;

	wr_bytes(ret, MAGIC, 8);
	wr_le16(ret, MAJOR);
	wr_le16(ret, MINOR);
	wr_le32(ret, 0);
	wr_bytes(ret, no_sum, sizeof(no_sum));
	put_kept_info(ret, &k->info);
	wr_uleb(ret, k->texts.n);
	vec_each (t, &k->texts)
		put_text(ret, *t);
	wr_uleb(ret, k->procs.n);
	vec_each (p, &k->procs) {
		put_proc(ret, p, last_end);
		last_end = p->end;
	}
	kept_code_seal(ret->v + start, ret->n - start);
}

/* --- reading --- */

static uint32_t get_number(struct rd *r, size_t n)
{
	uint64_t v = rd_uleb(r);

	r->bad |= v > n;
	return v && !r->bad ? (uint32_t)(v - 1) : KEPT_NONE;
}

static uint32_t get_u32(struct rd *r, uint64_t most)
{
	uint64_t v = rd_uleb(r);

	r->bad |= v > most;
	return r->bad ? 0 : (uint32_t)v;
}

/* An address DELTA above *AT, which may be where the procedure P ends, but not behind it. */
static uint64_t get_svma(struct rd *r, const struct kept_proc *p, uint64_t *at)
{
	uint64_t delta = rd_uleb(r);

	r->bad |= delta > p->end - *at;
	if (!r->bad)
		*at += delta;
	return *at;
}

static const char *get_text(struct kept_code *k, struct rd *r)
{
	size_t n = rd_count(r, 1);
	const uint8_t *text = rd_bytes(r, n);

	r->bad |= n > MOST_TEXT || (text && memchr(text, '\0', n));
	return r->bad || !text ? "" : arena_strndup(&k->arena, (const char *)text, n);
}

static void get_raw(struct rd *r, uint8_t *ret, size_t n)
{
	const uint8_t *p = rd_bytes(r, n);

	if (p)
		memcpy(ret, p, n);
}

static void get_info(struct kept_code *k, struct rd *r)
{
	struct kept_info *i = &k->info;
	uint8_t flags;

	i->build_id.n_bytes = rd_u8(r);
	r->bad |= i->build_id.n_bytes > BUILD_ID_MAX;
	if (!r->bad)
		get_raw(r, i->build_id.bytes, i->build_id.n_bytes);
	get_raw(r, i->digest, sizeof(i->digest));
	get_raw(r, i->content, sizeof(i->content));
	flags = rd_u8(r);
	i->is_claimed = flags & 1;
	i->is_hidden = flags & 2;
	i->machine = (uint16_t)get_u32(r, UINT16_MAX);
	i->type = (uint16_t)get_u32(r, UINT16_MAX);
	i->made_s = rd_uleb(r);
	i->path = get_text(k, r);
}

static void get_rows(const struct kept_code *k, struct rd *r, struct kept_proc *p)
{
	uint64_t at = p->start;
	int64_t line = 0;

	for (size_t n = rd_count(r, 2); n-- && !r->bad;) {
		struct kept_row row = {.svma = get_svma(r, p, &at),
				       .file = get_number(r, k->texts.n)};

		r->bad |= p->rows.n && p->rows.v[p->rows.n - 1].svma >= row.svma;
		if (row.file != KEPT_NONE) {
			int64_t delta = rd_sleb(r);

			r->bad |= delta < -(int64_t)UINT32_MAX || delta > UINT32_MAX;
			line += r->bad ? 0 : delta;
			r->bad |= line < 0 || line > UINT32_MAX;
			row.line = r->bad ? 0 : (uint32_t)line;
			row.column = (uint16_t)get_u32(r, UINT16_MAX);
			row.discriminator = get_u32(r, UINT32_MAX);
		}
		if (!r->bad)
			vec_push(&p->rows, row);
	}
}

static void get_scopes(const struct kept_code *k, struct rd *r, struct kept_proc *p)
{
	uint64_t at = p->start;

	for (size_t n = rd_count(r, 5); n-- && !r->bad;) {
		struct kept_scope s = {.parent = get_number(r, p->scopes.n)};

		s.name = get_u32(r, UINT32_MAX - 1);
		r->bad |= s.name >= k->texts.n;
		s.file = get_number(r, k->texts.n);
		s.line = get_u32(r, UINT32_MAX);
		s.column = (uint16_t)get_u32(r, UINT16_MAX);
		if (!r->bad)
			vec_push(&p->scopes, s);
	}
	for (size_t n = rd_count(r, 2); n-- && !r->bad;) {
		struct kept_scope_start s = {.svma = get_svma(r, p, &at)};

		s.scope = get_number(r, p->scopes.n);
		r->bad |= p->scope_starts.n &&
			  p->scope_starts.v[p->scope_starts.n - 1].svma >= s.svma;
		if (!r->bad)
			vec_push(&p->scope_starts, s);
	}
}

static void get_decls(const struct kept_code *k, struct rd *r, struct kept_proc *p)
{
	for (size_t n = rd_count(r, 3); n-- && !r->bad;) {
		struct kept_decl d = {.svma = rd_u8(r) ? p->start : 0};

		d.file = get_u32(r, UINT32_MAX - 1);
		d.line = get_u32(r, UINT32_MAX);
		r->bad |= d.file >= k->texts.n;
		if (!r->bad)
			vec_push(&p->decls, d);
	}
}

static void get_consts(struct kept_code *k, struct rd *r, struct kept_proc *p)
{
	uint64_t end = 0;

	for (size_t n = rd_count(r, 2); n-- && !r->bad;) {
		struct kept_const c = {.svma = rd_uleb(r)};

		c.n = rd_count(r, 1);
		c.bytes = rd_bytes(r, c.n);
		r->bad |= c.svma < end || c.n > UINT64_MAX - c.svma;
		if (r->bad)
			return;
		end = c.svma + c.n;
		vec_push(&p->consts, c);
	}
}

static void get_proc(struct kept_code *k, struct rd *r, uint64_t last_end)
{
	uint64_t gap = rd_uleb(r), n;
	const uint8_t *bytes;
	struct kept_proc *p;

	r->bad |= gap > UINT64_MAX - last_end;
	n = rd_count(r, 1);
	bytes = rd_bytes(r, (size_t)n);
	r->bad |= n == 0 || n > KEPT_MOST_PROC || n > UINT64_MAX - last_end - gap ||
		  k->n_bytes + n > KEPT_MOST_IMAGE;
	if (r->bad)
		return;
	p = add_proc(k, last_end + gap, last_end + gap + n, bytes);
	get_rows(k, r, p);
	get_scopes(k, r, p);
	get_decls(k, r, p);
	get_consts(k, r, p);
}

/* Whether the file's sum is that of its bytes, were its major version VERSION. */
static bool sum_is_right(uint16_t version, const uint8_t *bytes, size_t n)
{
	uint8_t sum[SUM_BYTES];

	sum_of(version, bytes, n, sum);
	return memcmp(sum, bytes + HEADER_BYTES - SUM_BYTES, sizeof(sum)) == 0;
}

int kept_code_parse(struct kept_code *k, const uint8_t *bytes, size_t n, struct err *err)
{
	struct rd r = rd_init(bytes, n);
	const uint8_t *magic = rd_bytes(&r, 8);
	uint16_t major = rd_le16(&r);
	bool known;

	*k = (struct kept_code){0};
	if (magic && memcmp(magic, MAGIC, 8) != 0)
		return err_set(err, -EBADMSG, "not a file of kept code");
	if (n < HEADER_BYTES)
		return err_set(err, -ENODATA, "kept code: truncated");
	known = major >= 1 && major <= MAJOR;
	if (!known && !sum_is_right(1, bytes, n) && !sum_is_right(MAJOR, bytes, n))
		return err_set(err, -EPROTONOSUPPORT, "kept code: version %u", major);
	if (!known || !sum_is_right(major, bytes, n))
		return err_set(err, -EBADMSG, "kept code: damaged");
	rd_bytes(&r, HEADER_BYTES - 10);
	get_info(k, &r);
	for (size_t i = rd_count(&r, 1); i-- && !r.bad;) {
		const char *text = get_text(k, &r);

		if (!r.bad)
			vec_push(&k->texts, text);
	}
	vec_each (t, &k->texts)
		index_add(&k->by_text, hash_str(*t), (uint32_t)(t - k->texts.v));
	for (size_t i = rd_count(&r, 8); i-- && !r.bad;)
		get_proc(k, &r, k->procs.n ? k->procs.v[k->procs.n - 1].end : 0);
	if (r.bad) {
		kept_code_release(k);
		return err_set(err, -EBADMSG, "kept code: bad record at offset %zu", rd_off(&r));
	}
	return 0;
}
