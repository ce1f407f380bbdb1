/* SPDX-License-Identifier: BSD-2-Clause */
/* See answer.h. */
#include "resolve/answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sha256.h"

/* Bytes of a rule and of a row in an answer. */
#define RULE_BYTES 16
#define ROW_BYTES  4

#define MAX_REGISTER 32 /* DWARF numbers of both machines are below */

void answer_put_layout(const struct image_layout *l, struct wr *ret)
{
	wr_u8(ret, l->build_id.n_bytes);
	wr_bytes(ret, l->build_id.bytes, l->build_id.n_bytes);
	wr_u8(ret, l->hashed);
	wr_bytes(ret, l->digest, sizeof(l->digest));
	wr_le16(ret, l->machine);
	wr_uleb(ret, l->text_start);
	wr_uleb(ret, l->text_bytes);
	wr_uleb(ret, l->n_loads);
	for (uint32_t i = 0; i < l->n_loads; i++) {
		wr_uleb(ret, l->loads[i].off);
		wr_uleb(ret, l->loads[i].svma);
		wr_uleb(ret, l->loads[i].n_bytes);
	}
}

bool answer_get_layout(struct rd *r, struct image_layout *ret)
{
	struct image_layout l = {0};
	const uint8_t *bytes;
	uint8_t hashed;

	l.build_id.n_bytes = rd_u8(r);
	if (l.build_id.n_bytes > BUILD_ID_MAX)
		return false;
	bytes = rd_bytes(r, l.build_id.n_bytes);
	if (bytes)
		memcpy(l.build_id.bytes, bytes, l.build_id.n_bytes);
	hashed = rd_u8(r);
	l.hashed = hashed;
	bytes = rd_bytes(r, sizeof(l.digest));
	if (bytes)
		memcpy(l.digest, bytes, sizeof(l.digest));
	l.machine = rd_le16(r);
	l.text_start = rd_uleb(r);
	l.text_bytes = rd_uleb(r);
	l.n_loads = (uint32_t)rd_count(r, 3);
	if (r->bad || hashed > 1 || l.n_loads > IMAGE_MAX_LOADS || !l.build_id.n_bytes)
		return false;
	for (uint32_t i = 0; i < l.n_loads; i++) {
		struct image_load *s = &l.loads[i];

		s->off = rd_uleb(r);
		s->svma = rd_uleb(r);
		s->n_bytes = rd_uleb(r);
		if (s->off + s->n_bytes < s->off || s->svma + s->n_bytes < s->svma)
			return false;
	}
	if (r->bad)
		return false;
	*ret = l;
	return true;
}

static void put_rule(struct wr *w, const struct unwind_rule *r)
{
	wr_u8(w, r->cfa);
	wr_u8(w, r->cfa_reg);
	wr_u8(w, r->ra);
	wr_u8(w, r->why);
	wr_le32(w, (uint32_t)r->cfa_off);
	wr_le16(w, (uint16_t)r->fp_at);
	wr_le16(w, (uint16_t)r->bx_at);
	wr_le16(w, (uint16_t)r->ra_at);
	wr_u8(w, r->signed_ra);
	wr_u8(w, r->by_fp);
}

static bool get_rule(struct rd *r, struct unwind_rule *ret)
{
	ret->cfa = rd_u8(r);
	ret->cfa_reg = rd_u8(r);
	ret->ra = rd_u8(r);
	ret->why = rd_u8(r);
	ret->cfa_off = (int)rd_le32(r);
	ret->fp_at = (short)rd_le16(r);
	ret->bx_at = (short)rd_le16(r);
	ret->ra_at = (short)rd_le16(r);
	ret->signed_ra = rd_u8(r);
	ret->by_fp = rd_u8(r);
	return ret->cfa <= UNWIND_CFA_GOROUTINE && ret->ra <= UNWIND_RA_NONE &&
	       (ret->why <= UNWIND_BEGIN || ret->why == UNWIND_STOPS) && ret->signed_ra <= 1 &&
	       ret->by_fp <= (UNWIND_FP_BY_FP | UNWIND_BX_BY_FP) &&
	       (ret->cfa != UNWIND_CFA_REG || ret->cfa_reg <= MAX_REGISTER) &&
	       (ret->ra != UNWIND_RA_REGISTER || (ret->ra_at >= 0 && ret->ra_at <= MAX_REGISTER));
}

void answer_put_table(const struct unwind_table *t, struct wr *ret)
{
	vec_reserve(ret, (size_t)t->n_rules * RULE_BYTES + (size_t)t->n_rows * ROW_BYTES +
				 ((size_t)t->n_blocks + 1) * 4 + 100);
	wr_uleb(ret, t->interpreter.number);
	wr_uleb(ret, t->interpreter.version);
	wr_uleb(ret, t->interpreter.refusal);
	wr_uleb(ret, t->interpreter.anchor);
	wr_uleb(ret, t->first_off);
	wr_uleb(ret, t->n_fdes);
	wr_uleb(ret, t->n_too_complex);
	wr_uleb(ret, t->n_damaged);
	wr_uleb(ret, t->n_text_bytes);
	wr_uleb(ret, t->n_rules);
	for (uint32_t i = 0; i < t->n_rules; i++)
		put_rule(ret, &t->rules[i]);
	wr_uleb(ret, t->n_rows);
	for (uint32_t i = 0; i < t->n_rows; i++) {
		wr_le16(ret, t->rows[i].start);
		wr_le16(ret, t->rows[i].rule);
	}
	wr_uleb(ret, t->n_blocks);
	for (uint32_t i = 0; i <= t->n_blocks; i++)
		wr_le32(ret, t->blocks[i]);
}

static bool get_rules(struct rd *r, struct unwind_table *t)
{
	size_t n = rd_count(r, RULE_BYTES);
	bool sound = n && n <= UINT16_MAX;

	if (!sound)
		return false;
	t->n_rules = (uint32_t)n;
	t->rules = xcalloc(n, sizeof(*t->rules));
	for (size_t i = 0; i < n; i++)
		sound &= get_rule(r, &t->rules[i]);
	return sound;
}

static bool get_rows(struct rd *r, struct unwind_table *t)
{
	size_t n = rd_count(r, ROW_BYTES);
	bool sound = n && n <= UINT32_MAX;

	if (!sound)
		return false;
	t->n_rows = (uint32_t)n;
	t->rows = xcalloc(n, sizeof(*t->rows));
	for (size_t i = 0; i < n; i++) {
		t->rows[i].start = rd_le16(r);
		t->rows[i].rule = rd_le16(r);
		sound &= t->rows[i].rule < t->n_rules;
	}
	return sound;
}

static bool get_blocks(struct rd *r, struct unwind_table *t)
{
	size_t n = rd_count(r, 4);
	bool sound = n && n < UINT32_MAX && rd_left(r) / 4 > n;

	if (!sound)
		return false;
	t->n_blocks = (uint32_t)n;
	t->blocks = xcalloc(n + 1, sizeof(*t->blocks));
	for (size_t i = 0; i <= n; i++) {
		t->blocks[i] = rd_le32(r);
		sound &= t->blocks[i] >= (i ? t->blocks[i - 1] : 0);
	}
	/* So that there is a row at or before every offset. */
	return sound && t->blocks[0] == 0 && t->blocks[1] > 0 && t->blocks[n] == t->n_rows &&
	       t->rows[0].start == (uint16_t)t->first_off;
}

void answer_table_key(const uint8_t *bytes, size_t n, uint8_t ret[UNWIND_KEY_BYTES])
{
	struct sha256 h;

	sha256_begin(&h);
	sha256_add(&h, bytes, n);
	sha256_end(&h, ret, UNWIND_KEY_BYTES);
}

int answer_get_table(const uint8_t *bytes, size_t n, const uint8_t *key, struct unwind_table *ret,
		     struct err *err)
{
	struct rd r = rd_init(bytes, n);
	struct unwind_table t = {0};

	t.interpreter.number = (uint32_t)rd_uleb(&r);
	t.interpreter.version = (uint32_t)rd_uleb(&r);
	t.interpreter.refusal = (uint32_t)rd_uleb(&r);
	t.interpreter.anchor = rd_uleb(&r);
	t.first_off = rd_uleb(&r);
	t.n_fdes = (uint32_t)rd_uleb(&r);
	t.n_too_complex = (uint32_t)rd_uleb(&r);
	t.n_damaged = (uint32_t)rd_uleb(&r);
	t.n_text_bytes = rd_uleb(&r);
	if (!get_rules(&r, &t) || !get_rows(&r, &t) || !get_blocks(&r, &t) || r.bad ||
	    rd_left(&r) || t.first_off % UNWIND_BLOCK || t.interpreter.number >= N_INTERPRETERS ||
	    t.interpreter.refusal >= N_INTERPRETER_REFUSALS) {
		unwind_table_release(&t);
		return err_set(err, -EBADMSG, "the answer about an unwind table is damaged");
	}
	if (key)
		memcpy(t.key, key, UNWIND_KEY_BYTES);
	else
		answer_table_key(bytes, n, t.key);
	*ret = t;
	return 0;
}
