/* SPDX-License-Identifier: BSD-2-Clause */
/* See fact_defs.h. */
#include "formats/facts/fact_defs.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "formats/facts/ibs.h"

static const struct {
	const char *name;
	enum fact_source source;
	uint8_t word;
} words[] = {
	{"ibs_op.ctl", FACT_SOURCE_IBS_OP, IBS_OP_CTL},
	{"ibs_op.rip", FACT_SOURCE_IBS_OP, IBS_OP_RIP},
	{"ibs_op.data", FACT_SOURCE_IBS_OP, IBS_OP_DATA},
	{"ibs_op.data2", FACT_SOURCE_IBS_OP, IBS_OP_DATA2},
	{"ibs_op.data3", FACT_SOURCE_IBS_OP, IBS_OP_DATA3},
	{"ibs_op.linaddr", FACT_SOURCE_IBS_OP, IBS_OP_LINADDR},
	{"ibs_op.physaddr", FACT_SOURCE_IBS_OP, IBS_OP_PHYSADDR},
	{"ibs_op.brtarget", FACT_SOURCE_IBS_OP, IBS_OP_BRTARGET},
	{"ibs_op.data4", FACT_SOURCE_IBS_OP, IBS_OP_DATA4},
	{"ibs_fetch.ctl", FACT_SOURCE_IBS_FETCH, IBS_FETCH_CTL},
	{"ibs_fetch.linaddr", FACT_SOURCE_IBS_FETCH, IBS_FETCH_LINADDR},
	{"ibs_fetch.physaddr", FACT_SOURCE_IBS_FETCH, IBS_FETCH_PHYSADDR},
	{"ibs_fetch.extd", FACT_SOURCE_IBS_FETCH, IBS_FETCH_EXTD},
	{"data_src", FACT_SOURCE_DATA_SRC, 0},
	{"spe.events", FACT_SOURCE_SPE_EVENTS, 0},
};

struct parser {
	const char *where;
	const char *line, *p, *end; /* of the line */
	unsigned line_number;
	struct err *err;
};

/* WHAT is wrong at AT: with the line, and a caret below the place. */
static int wrong(const struct parser *s, const char *at, const char *what)
{
	_mem_ char *line = xasprintf("%.*s", (int)(s->end - s->line), s->line);
	size_t column = (size_t)(at - s->line);
	int rc = err_set(s->err, -EINVAL, "%s:%u:%zu: %s", s->where, s->line_number, column + 1,
			 what);

	err_mark(s->err, line, column, 0);
	return rc;
}

static void skip_space(struct parser *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\r'))
		s->p++;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static size_t word_length(const struct parser *s)
{
	size_t n = 0;

	while (s->p + n < s->end && is_word(s->p[n]))
		n++;
	return n;
}

static bool fact_defs_take(struct parser *s, char c)
{
	skip_space(s);
	if (s->p == s->end || *s->p != c)
		return false;
	s->p++;
	skip_space(s);
	return true;
}

/* A number below 64. */
static int take_bit(struct parser *s, uint8_t *ret)
{
	const char *at = s->p;
	unsigned v = 0;

	while (s->p < s->end && isdigit((unsigned char)*s->p) && s->p - at < 3)
		v = v * 10 + (unsigned)(*s->p++ - '0');
	if (s->p == at)
		return wrong(s, at, "the number of a bit is missing");
	if (v > 63)
		return wrong(s, at, "bits are numbered 0 to 63");
	*ret = (uint8_t)v;
	return 0;
}

static int take_name(struct parser *s, const struct fact_defs *d, struct fact_def *f)
{
	const char *at = s->p;
	size_t n = word_length(s);

	if (!n || memchr(at, '.', n) || isdigit((unsigned char)*at))
		return wrong(s, at, "a name of letters, digits and _ is missing");
	if ((f->is_counter ? fact_find_counter : fact_find_bit)(NULL, at, n) >= 0 ||
	    (n == 3 && memcmp(at, "any", n) == 0) || (n == 4 && memcmp(at, "trap", n) == 0) ||
	    (n == 7 && memcmp(at, "default", n) == 0))
		return wrong(s, at, "this name means something already");
	vec_each (old, &d->v)
		if (old->is_counter == f->is_counter && strlen(old->name) == n &&
		    memcmp(old->name, at, n) == 0)
			return wrong(s, at, "this name is defined twice");
	f->name = xstrndup(at, n);
	s->p += n;
	return 0;
}

static int take_field(struct parser *s, struct fact_def *f)
{
	const char *at = s->p, *bits;
	size_t n = word_length(s), i;
	int rc;

	for (i = 0; i < n_elems(words); i++)
		if (strlen(words[i].name) == n && memcmp(words[i].name, at, n) == 0)
			break;
	if (i == n_elems(words))
		return wrong(s, at,
			     "no such field: ibs_op.ctl, rip, data, data2, data3, linaddr, "
			     "physaddr, brtarget, data4; ibs_fetch.ctl, linaddr, physaddr, extd; "
			     "data_src; spe.events");
	f->source = words[i].source;
	f->word = words[i].word;
	s->p += n;
	bits = s->p;
	if (!fact_defs_take(s, '['))
		return wrong(s, s->p, "[BIT] or [HIGH:LOW] is missing");
	rc = take_bit(s, &f->high);
	if (rc < 0)
		return rc;
	f->low = f->high;
	if (fact_defs_take(s, ':')) {
		rc = take_bit(s, &f->low);
		if (rc < 0)
			return rc;
	}
	if (f->low > f->high)
		return wrong(s, bits, "the highest bit comes first");
	if (!fact_defs_take(s, ']'))
		return wrong(s, s->p, "] is missing");
	if (!f->is_counter && f->low != f->high)
		return wrong(s, bits, "a bit is one bit; more are a counter");
	return 0;
}

static int take_meaning(struct parser *s, struct fact_def *f)
{
	const char *at = s->p, *close;

	if (!fact_defs_take(s, '"')) {
		f->meaning = xstrdup("");
		return 0;
	}
	close = memchr(at + 1, '"', (size_t)(s->end - at - 1));
	if (!close)
		return wrong(s, at, "the text does not end");
	f->meaning = xstrndup(at + 1, (size_t)(close - at - 1));
	s->p = close + 1;
	return 0;
}

static int take_definition(struct parser *s, struct fact_defs *d, struct fact_def *f)
{
	const char *at = s->p;
	size_t n = word_length(s);
	int rc;

	f->is_counter = n == 7 && memcmp(at, "counter", n) == 0;
	if (!f->is_counter && !(n == 3 && memcmp(at, "bit", n) == 0))
		return wrong(s, at, "a line begins with bit or counter");
	s->p += n;
	skip_space(s);
	rc = take_name(s, d, f);
	if (rc >= 0 && !fact_defs_take(s, '='))
		rc = wrong(s, s->p, "= is missing");
	if (rc >= 0)
		rc = take_field(s, f);
	if (rc >= 0)
		rc = take_meaning(s, f);
	skip_space(s);
	if (rc >= 0 && s->p < s->end && *s->p != '#')
		rc = wrong(s, s->p, "nothing may follow here but a comment");
	return rc;
}

static int parse_line(struct parser *s, struct fact_defs *d)
{
	struct fact_def f = {.number = -1};
	unsigned n = 1;
	int rc;

	skip_space(s);
	if (s->p == s->end || *s->p == '#')
		return 0;
	rc = take_definition(s, d, &f);
	vec_each (old, &d->v)
		n += old->is_counter == f.is_counter;
	if (rc >= 0 && n > (f.is_counter ? FACT_N_USER_COUNTERS : FACT_N_USER_BITS))
		rc = err_set(s->err, -E2BIG, "%s:%u: more than %u %s", s->where, s->line_number,
			     n - 1, f.is_counter ? "counters" : "bits");
	if (rc < 0) {
		free(f.name);
		free(f.meaning);
		return rc;
	}
	vec_push(&d->v, f);
	return 0;
}

int fact_defs_parse(struct fact_defs *d, const char *where, const char *text, size_t n,
		    struct err *err)
{
	struct parser s = {.where = where, .err = err};
	const char *p = text, *end = text + n;

	*d = (struct fact_defs){0};
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		int rc;

		s.line = s.p = p;
		s.end = nl ? nl : end;
		s.line_number++;
		rc = parse_line(&s, d);
		if (rc < 0)
			return rc;
		p = nl ? nl + 1 : end;
	}
	return 0;
}

void fact_defs_release(struct fact_defs *d)
{
	vec_each (f, &d->v) {
		free(f->name);
		free(f->meaning);
	}
	vec_release(&d->v);
}

int fact_defs_name(struct fact_defs *d, struct profile *p, struct err *err)
{
	vec_each (f, &d->v) {
		f->number = profile_add_user_fact(p, f->is_counter, f->name, f->meaning);
		if (f->number < 0)
			return err_set(err, -E2BIG,
				       "there is no room for \"%s\": this recording has other "
				       "names already",
				       f->name);
	}
	return 0;
}

void fact_defs_apply(const struct fact_defs *d, enum fact_source source, const uint64_t *from,
		     struct sample_facts *f)
{
	if (!d)
		return;
	vec_each (def, &d->v) {
		uint64_t v;

		if (def->source != source || def->number < 0)
			continue;
		v = from[def->word] >> def->low & ((2ull << (def->high - def->low)) - 1);
		if (def->is_counter)
			facts_set_counter(f, (unsigned)def->number, v);
		else
			facts_set(f, (unsigned)def->number, v);
	}
}
