/* SPDX-License-Identifier: BSD-2-Clause */
/* See gopclntab.h.
 *
 * Sources: Go's src/runtime/symtab.go (pcHeader, pcvalue, funcfile), src/runtime/runtime2.go
 * (_func), src/cmd/link/internal/ld/pcln.go, of 1.15, 1.16, 1.18 and 1.20.  For example, the first
 * two stretches of a function whose frame has 0x58 bytes, behind the first value, -1:
 *
 *     02 04    value -1 + 1 = 0, for 4 bytes of code
 *     b0 01 3d value 0 + 0x58, for 0x3d bytes */
#include "unwind/gopclntab.h"

#include <errno.h>
#include <string.h>

#include "base/lower_bound.h"

#define HEAD_BYTES 8

/* Numbers of tables that functions have: src/runtime/symtab.go. */
#define GO_INLINED_AT	    2
#define GO_INLINE_TREE	    3
#define GO_INLINE_TREE_1_15 4

static struct rd at(const struct go_table *t, uint64_t off)
{
	return off <= t->n_bytes ? rd_init(t->bytes + off, t->n_bytes - (size_t)off)
				 : rd_init(NULL, 0);
}

static int open_layout(uint32_t magic, enum go_layout *ret)
{
	switch (magic) {
	case 0xfffffffb:
		*ret = GO_1_2;
		return 0;
	case 0xfffffffa:
		*ret = GO_1_16;
		return 0;
	case 0xfffffff0:
		*ret = GO_1_18;
		return 0;
	case 0xfffffff1:
		*ret = GO_1_20;
		return 0;
	default:
		return -EPROTONOSUPPORT;
	}
}

static uint32_t entry_bytes(const struct go_table *t)
{
	return t->layout >= GO_1_18 ? 4 : 8;
}

static uint64_t read_entry(const struct go_table *t, struct rd *r)
{
	return t->layout >= GO_1_18 ? rd_le32(r) : rd_le64(r);
}

int go_table_open(struct go_table *ret, const uint8_t *bytes, size_t n_bytes, uint64_t text,
		  struct err *err)
{
	struct go_table t = {.bytes = bytes, .n_bytes = n_bytes};
	struct rd r = rd_init(bytes, n_bytes);
	uint32_t magic = rd_le32(&r), pad = rd_le16(&r), pointer_bytes;
	uint64_t n_funcs;

	t.quantum = rd_u8(&r);
	pointer_bytes = rd_u8(&r);
	n_funcs = rd_le64(&r);
	if (r.bad)
		return err_set(err, -ENODATA, "a table of Go's functions that ends early");
	if (open_layout(magic, &t.layout) < 0)
		return err_set(err, -EPROTONOSUPPORT, "a table of Go's functions of kind %#x",
			       magic);
	if (pad || pointer_bytes != 8 || (t.quantum != 1 && t.quantum != 4))
		return err_set(err, -EBADMSG, "a damaged table of Go's functions");
	if (t.layout == GO_1_2) {
		t.funcs = HEAD_BYTES + 8;
	} else {
		rd_le64(&r); /* how many files */
		if (t.layout >= GO_1_18) {
			t.text = rd_le64(&r);
			t.text = t.text ? t.text : text;
		}
		t.names = rd_le64(&r);
		t.units = rd_le64(&r);
		t.files = rd_le64(&r);
		t.values = rd_le64(&r);
		t.funcs = rd_le64(&r);
	}
	if (r.bad || t.names > n_bytes || t.units > n_bytes || t.files > n_bytes ||
	    t.values > n_bytes || t.funcs > n_bytes)
		return err_set(err, -EBADMSG, "a damaged table of Go's functions");
	/* Behind the last function is where it ends. */
	if (n_funcs >= (n_bytes - t.funcs) / entry_bytes(&t) / 2)
		return err_set(err, -EBADMSG, "a damaged table of Go's functions");
	t.n_funcs = (uint32_t)n_funcs;
	if (t.layout == GO_1_2) {
		r = at(&t, t.funcs + n_funcs * 16 + 8);
		t.files = rd_le32(&r);
		if (r.bad || t.files > n_bytes)
			return err_set(err, -EBADMSG, "a damaged table of Go's functions");
	}
	*ret = t;
	return 0;
}

const char *go_table_name(const struct go_table *t, uint32_t name, size_t *ret_n)
{
	struct rd r = at(t, t->names + name);
	const uint8_t *end = rd_left(&r) ? memchr(r.p, 0, rd_left(&r)) : NULL;

	if (!end || end == r.p)
		return NULL;
	*ret_n = (size_t)(end - r.p);
	return (const char *)r.p;
}

bool go_table_func(const struct go_table *t, uint32_t i, struct go_func *ret)
{
	struct rd r = at(t, t->funcs + 2ull * entry_bytes(t) * i);
	struct go_func f = {0};
	uint64_t off, from, head;
	uint32_t n_values, n_data, name, tree, where = 0;

	f.start = t->text + read_entry(t, &r);
	off = read_entry(t, &r);
	f.end = t->text + read_entry(t, &r);
	/* Since 1.16 functions count from their table, before that from the header. */
	from = t->layout == GO_1_2 ? 0 : t->funcs;
	if (r.bad || f.end <= f.start || off > t->n_bytes || off + from > t->n_bytes)
		return false;
	head = off + from;
	r = at(t, head);
	read_entry(t, &r);
	name = rd_le32(&r);
	rd_le32(&r); /* bytes of arguments */
	rd_le32(&r); /* where deferred calls return */
	f.depths = rd_le32(&r);
	f.files = rd_le32(&r);
	f.lines = rd_le32(&r);
	n_values = rd_le32(&r);
	if (t->layout >= GO_1_16)
		f.unit = rd_le32(&r);
	if (t->layout >= GO_1_20)
		f.first_line = rd_le32(&r);
	rd_le16(&r); /* what kind of function, and flags */
	rd_u8(&r);
	n_data = rd_u8(&r);
	if (r.bad || n_values > rd_left(&r) / 4)
		return false;
	for (uint32_t k = 0; k < n_values; k++) {
		uint32_t values = rd_le32(&r);

		if (k == GO_INLINED_AT)
			f.inlined = values;
	}
	where = (uint32_t)(rd_off(&r) + head);
	tree = t->layout == GO_1_2 ? GO_INLINE_TREE_1_15 : GO_INLINE_TREE;
	if (t->layout < GO_1_18 && where % 8) /* pointers are aligned */
		rd_le32(&r);
	if (n_data > tree) {
		const uint32_t n = t->layout >= GO_1_18 ? 4 : 8;

		rd_bytes(&r, tree * n);
		f.inline_tree = n == 4 ? rd_le32(&r) : rd_le64(&r);
		if (r.bad || (n == 4 && f.inline_tree == UINT32_MAX))
			f.inline_tree = 0;
		else if (n == 4) /* 0 is a place like any other */
			f.inline_tree++;
	}
	f.name = go_table_name(t, name, &f.n_name);
	if (!f.name)
		return false;
	*ret = f;
	return true;
}

bool go_func_is(const struct go_func *f, const char *name)
{
	size_t n = f->n_name;

	if (n > 5 && memcmp(f->name + n - 5, ".abi0", 5) == 0)
		n -= 5;
	return strlen(name) == n && memcmp(name, f->name, n) == 0;
}

bool go_table_find_name(const struct go_table *t, const char *name, struct go_func *ret)
{
	for (uint32_t i = 0; i < t->n_funcs; i++)
		if (go_table_func(t, i, ret) && go_func_is(ret, name))
			return true;
	return false;
}

static uint64_t func_start(const struct go_table *t, uint32_t i)
{
	struct rd r = at(t, t->funcs + 2ull * entry_bytes(t) * i);

	return t->text + read_entry(t, &r);
}

bool go_table_find(const struct go_table *t, uint64_t svma, struct go_func *ret)
{
	uint32_t above = lower_bound(i, 0, t->n_funcs, func_start(t, i) <= svma);

	return above && go_table_func(t, above - 1, ret) && svma >= ret->start && svma < ret->end;
}

struct go_values go_values_begin(const struct go_table *t, const struct go_func *f, uint32_t off)
{
	return (struct go_values){
		.rd = off ? at(t, t->values + off) : rd_init(NULL, 0),
		.at = f->start,
		.end = f->end,
		.quantum = t->quantum,
		.value = -1,
		.is_first = true,
	};
}

static uint32_t read_varint(struct rd *r)
{
	uint32_t v = 0;

	for (unsigned shift = 0; shift < 35; shift += 7) {
		uint8_t byte = rd_u8(r);

		v |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	r->bad = true;
	return 0;
}

bool go_values_next(struct go_values *v, struct go_value *ret)
{
	uint32_t delta = read_varint(&v->rd), n;
	uint64_t n_bytes;

	if (v->rd.bad || (!delta && !v->is_first) || v->at >= v->end)
		return false;
	n = read_varint(&v->rd);
	if (v->rd.bad || !n)
		return false;
	v->is_first = false;
	v->value = (int32_t)((uint32_t)v->value + (delta & 1 ? ~(delta >> 1) : delta >> 1));
	ret->start = v->at;
	ret->value = v->value;
	n_bytes = (uint64_t)n * v->quantum;
	v->at = n_bytes < v->end - v->at ? v->at + n_bytes : v->end;
	ret->end = v->at;
	return true;
}

int32_t go_table_value(const struct go_table *t, const struct go_func *f, uint32_t off,
		       uint64_t svma, int32_t fallback)
{
	struct go_values v = go_values_begin(t, f, off);
	struct go_value stretch;

	while (go_values_next(&v, &stretch))
		if (svma - stretch.start < stretch.end - stretch.start)
			return stretch.value;
	return fallback;
}

const char *go_table_file(const struct go_table *t, const struct go_func *f, int32_t file,
			  size_t *ret_n)
{
	struct rd r;
	uint64_t name;

	if (file < 0)
		return NULL;
	if (t->layout == GO_1_2) { /* the table's first word says how many there are */
		r = at(t, t->files + 4ull * (uint32_t)file);
		name = rd_le32(&r);
	} else {
		r = at(t, t->units + 4 * ((uint64_t)f->unit + (uint32_t)file));
		name = t->files + rd_le32(&r);
	}
	if (r.bad)
		return NULL;
	r = at(t, name);
	if (!rd_left(&r) || !memchr(r.p, 0, rd_left(&r)) || !*r.p)
		return NULL;
	*ret_n = strlen((const char *)r.p);
	return (const char *)r.p;
}
