/* SPDX-License-Identifier: BSD-2-Clause */
/* See profileme.h.  The parser descends through the grammar and leaves each set as steps for a
 * stack machine of three values.
 *
 * The machine alone would say of `load|!load` that it is unknown where `load` is.  So where it says
 * unknown, the unknown bits are tried one after the other, the machine run again each time, until
 * both answers were seen or no choice is left.  The same search tells an empty set, one
 * that no sample can be in: it cannot be true where nothing is known but that exactly one trap bit
 * is set.
 *
 * That rule is for people's sets only.  Of a sample it is not used: IBS, say, knows `notrap` from
 * the traps it can see, which are not all, and of the others nothing is known. */
#include "query/sets/profileme.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/near.h"
#include "base/str.h"
#include "model/fact.h"

#define DEEPEST	   100	/* brackets and negations within each other */
#define MOST_TRIES 4096 /* runs of the machine for one answer; beyond, unknown stays unknown */

enum set_op { SET_BIT, SET_UNTOLD, SET_ANY, SET_NOT, SET_AND, SET_OR };

struct set_step {
	enum set_op op;
	unsigned bit;
};

/* --- truth --- */

static enum truth not(enum truth a) {
	return a == TRUTH_UNKNOWN ? a
	       : a == TRUTH_YES	  ? TRUTH_NO
				  : TRUTH_YES;
}

/* DECIDER is the value that decides, whatever the other is: NO for "and", YES for "or". */
static enum truth both(enum truth a, enum truth b, enum truth decider)
{
	if (a == decider || b == decider)
		return decider;
	return a == TRUTH_UNKNOWN ? a : b;
}

static enum truth profileme_run(const struct pm_set *s, uint64_t known, uint64_t value)
{
	/* A step takes at most two and leaves one, and DEEPEST bounds what waits: one operand of
	 * "|" and one of "^" per bracket. */
	enum truth stack[2 * DEEPEST + 4];
	size_t n = 0;

	if (!s->steps.n)
		return TRUTH_YES;
	vec_each (step, &s->steps) {
		switch (step->op) {
		case SET_BIT:
			stack[n++] = !(known >> step->bit & 1) ? TRUTH_UNKNOWN
				     : value >> step->bit & 1  ? TRUTH_YES
							       : TRUTH_NO;
			break;
		case SET_UNTOLD:
			stack[n++] = TRUTH_UNKNOWN;
			break;
		case SET_ANY:
			stack[n++] = TRUTH_YES;
			break;
		case SET_NOT:
			stack[n - 1] = not(stack[n - 1]);
			break;
		case SET_AND:
		case SET_OR:
			n--;
			stack[n - 1] = both(stack[n - 1], stack[n],
					    step->op == SET_AND ? TRUTH_NO : TRUTH_YES);
			break;
		}
	}
	return stack[0];
}

/* Adds to what is known that exactly one trap bit is set; false when that cannot be. */
static bool settle_traps(uint64_t *known, uint64_t *value)
{
	uint64_t set = *known & *value & FACT_TRAPS, open = FACT_TRAPS & ~*known;

	if (set & (set - 1))
		return false;
	if (set) {
		*known |= FACT_TRAPS;
		*value &= ~open;
	} else if (!open) {
		return false;
	} else if (!(open & (open - 1))) {
		*known |= open;
		*value |= open;
	}
	return true;
}

struct search {
	const struct pm_set *s;
	enum truth want;
	bool one_trap;	/* exactly one trap bit is set */
	unsigned tries; /* left */
};

/* Whether some sample of which this is known is in the set as wanted.  Gives up with yes. */
static bool can_be(struct search *x, uint64_t known, uint64_t value)
{
	uint64_t bit;
	enum truth t;

	if (x->one_trap && !settle_traps(&known, &value))
		return false;
	t = profileme_run(x->s, known, value);
	if (t != TRUTH_UNKNOWN || !x->tries)
		return t == x->want || t == TRUTH_UNKNOWN;
	x->tries--;
	bit = x->s->bits & ~known;
	if (!bit)
		return true;
	bit &= ~bit + 1;
	return can_be(x, known | bit, value | bit) || can_be(x, known | bit, value & ~bit);
}

enum truth pm_set_truth(const struct pm_set *s, uint64_t known, uint64_t value)
{
	struct search yes = {s, TRUTH_YES, .tries = MOST_TRIES},
		      no = {s, TRUTH_NO, .tries = MOST_TRIES};
	enum truth t = s->is_empty ? TRUTH_NO : profileme_run(s, known, value & known);
	bool can_yes, can_no;

	if (t != TRUTH_UNKNOWN)
		return t;
	can_yes = can_be(&yes, known, value & known);
	can_no = can_be(&no, known, value & known);
	return can_yes == can_no ? TRUTH_UNKNOWN : can_yes ? TRUTH_YES : TRUTH_NO;
}

bool pm_set_same(const struct pm_set *a, const struct pm_set *b)
{
	bool same = a->steps.n == b->steps.n;

	for (size_t i = 0; same && i < a->steps.n; i++)
		same = a->steps.v[i].op == b->steps.v[i].op &&
		       a->steps.v[i].bit == b->steps.v[i].bit;
	return same;
}

/* --- parsing --- */

struct parser {
	const char *what, *text, *at;
	const struct profile *p;
	struct pm_set *set; /* being parsed */
	struct err *err;
	unsigned depth;
};

static void skip_blanks(struct parser *p)
{
	while (*p->at == ' ' || *p->at == '\t')
		p->at++;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-';
}

static size_t name_length(const char *s)
{
	size_t n = 0;

	while (is_name_char(s[n]))
		n++;
	return n;
}

/* Marks N bytes (at least one place) at AT of the text and returns CODE. */
static int profileme_mark(struct parser *p, int code, const char *at, size_t n)
{
	err_mark(p->err, p->text, (size_t)(at - p->text), n);
	return code;
}

static int profileme_expected(struct parser *p, const char *what)
{
	skip_blanks(p);
	err_set(p->err, -EINVAL, "%s: expected %s %s", p->what, what,
		*p->at ? "here" : "at the end");
	return profileme_mark(p, -EINVAL, p->at, *p->at ? 1 : 0);
}

/* The character C, which is not the beginning of a longer token. */
static bool profileme_take(struct parser *p, char c)
{
	skip_blanks(p);
	if (*p->at != c || (c == ':' && p->at[1] == ':'))
		return false;
	p->at++;
	return true;
}

static void add_step(struct parser *p, enum set_op op, unsigned bit)
{
	vec_push(&p->set->steps, (struct set_step){op, bit});
	if (op == SET_BIT)
		p->set->bits |= FACT_MASK(bit);
}

/* --- names --- */

static bool is(const char *name, size_t n, const char *word)
{
	return strlen(word) == n && memcmp(name, word, n) == 0;
}

static void try_near(struct near *near, const char *word)
{
	if (word)
		near_try(near, word);
}

/* How far a word of N bytes may be from another. */
static unsigned near_below(size_t n)
{
	return n > 6 ? 4 : n > 3 ? 3 : 2;
}

static int no_such_bit(struct parser *p, const char *name, size_t n)
{
	_mem_ char *word = xstrndup(name, n);
	struct near near = near_to(word, near_below(n));

	if (fact_find_counter(p->p, name, n) > 0)
		err_set(p->err, -EINVAL,
			"%s: %.*s is a counter; say of which samples, as in any:%.*s", p->what,
			(int)n, name, (int)n, name);
	else if (is(name, n, "default"))
		err_set(p->err, -EINVAL, "%s: default is a column of its own, no sample set",
			p->what);
	else {
		try_near(&near, "any");
		try_near(&near, "trap");
		for (unsigned bit = 0; bit < N_FACT_BITS; bit++)
			try_near(&near, fact_bit_name(p->p, bit));
		if (*near.found)
			err_set(p->err, -EINVAL, "%s: there is no bit '%.*s'; did you mean %s?",
				p->what, (int)n, name, near.found);
		else
			err_set(p->err, -EINVAL,
				"%s: there is no bit '%.*s'; dwell-profileme(7) lists them",
				p->what, (int)n, name);
	}
	return profileme_mark(p, -EINVAL, name, n);
}

static int no_such_counter(struct parser *p, const char *name, size_t n)
{
	_mem_ char *word = xstrndup(name, n);
	struct near near = near_to(word, near_below(n));

	for (unsigned c = 1; c < FACT_MAX_COUNTERS; c++)
		try_near(&near, fact_counter_name(p->p, c));
	if (*near.found)
		err_set(p->err, -EINVAL, "%s: there is no counter '%.*s'; did you mean %s?",
			p->what, (int)n, name, near.found);
	else if (fact_find_bit(p->p, name, n) >= 0)
		err_set(p->err, -EINVAL,
			"%s: %.*s is a bit; behind ':' stands a counter (^ joins bits)", p->what,
			(int)n, name);
	else
		err_set(p->err, -EINVAL,
			"%s: there is no counter '%.*s'; dwell-profileme(7) lists them", p->what,
			(int)n, name);
	return profileme_mark(p, -EINVAL, name, n);
}

/* --- grammar --- */

static int parse_set(struct parser *p);

/* DCPI's files have two bits that its pages do not list, `capped` and `twnzrd`: they are bits also
 * where no sample says them. */
static int parse_name(struct parser *p)
{
	const char *name = p->at;
	size_t n = name_length(name);
	int bit;

	p->at += n;
	if (is(name, n, "any")) {
		add_step(p, SET_ANY, 0);
		return 0;
	}
	if (is(name, n, "trap")) {
		add_step(p, SET_BIT, FACT_NOTRAP);
		add_step(p, SET_NOT, 0);
		return 0;
	}
	bit = fact_find_bit(p->p, name, n);
	if (bit >= 0)
		add_step(p, SET_BIT, (unsigned)bit);
	else if (is(name, n, "capped") || is(name, n, "twnzrd"))
		add_step(p, SET_UNTOLD, 0); /* no sample here says it */
	else
		return no_such_bit(p, name, n);
	return 0;
}

static int parse_one(struct parser *p)
{
	bool negative = false;
	int rc;

	for (;;) {
		/* What a shell left of an escaped "!". */
		if (p->at[0] == '\\' && p->at[1] == '!')
			p->at++;
		if (!profileme_take(p, '!') && !profileme_take(p, '/'))
			break;
		negative = !negative;
	}
	if (profileme_take(p, '(')) {
		if (p->depth == DEEPEST) {
			err_set(p->err, -E2BIG, "%s: brackets are nested too deep", p->what);
			return profileme_mark(p, -E2BIG, p->at - 1, 1);
		}
		p->depth++;
		rc = parse_set(p);
		p->depth--;
		if (rc >= 0 && !profileme_take(p, ')'))
			rc = profileme_expected(p, "')', '^' or '|'");
	} else {
		rc = name_length(p->at) ? parse_name(p) : profileme_expected(p, "a sample set");
	}
	if (rc >= 0 && negative)
		add_step(p, SET_NOT, 0);
	return rc;
}

static int parse_all(struct parser *p)
{
	int rc = parse_one(p);

	while (rc >= 0 && profileme_take(p, '^')) {
		rc = parse_one(p);
		if (rc >= 0)
			add_step(p, SET_AND, 0);
	}
	return rc;
}

static int parse_set(struct parser *p)
{
	int rc = parse_all(p);

	while (rc >= 0 && profileme_take(p, '|')) {
		rc = parse_all(p);
		if (rc >= 0)
			add_step(p, SET_OR, 0);
	}
	return rc;
}

/* Whether no sample can be in S: it contradicts itself, or asks for two traps at once. */
static bool is_empty(const struct pm_set *s)
{
	struct search x = {s, TRUTH_YES, .one_trap = true, .tries = MOST_TRIES};

	return !can_be(&x, 0, 0);
}

/* What was written from START up to here, without blanks. */
static char *text_from(const struct parser *p, const char *start)
{
	struct str s = {0};

	for (const char *c = start; c < p->at; c++)
		if (*c != ' ' && *c != '\t')
			str_addc(&s, *c);
	return s.v ? s.v : xstrdup("");
}

static int parse_item(struct parser *p, struct pm_item *ret)
{
	const char *start;
	int rc, counter;

	skip_blanks(p);
	start = p->at;
	p->set = &ret->set;
	rc = parse_set(p);
	if (rc >= 0)
		ret->set.is_empty = is_empty(&ret->set);
	if (rc >= 0 && profileme_take(p, ':')) {
		const char *name;
		size_t n;

		skip_blanks(p);
		name = p->at;
		n = name_length(name);
		if (!n)
			return profileme_expected(p, "the name of a counter");
		counter = fact_find_counter(p->p, name, n);
		if (counter <= 0)
			return no_such_counter(p, name, n);
		p->at += n;
		ret->counter = (unsigned)counter;
	}
	if (rc >= 0)
		ret->text = text_from(p, start);
	return rc;
}

static int parse_column(struct parser *p, struct pm_column *ret)
{
	const char *start;
	size_t n;
	int rc;

	skip_blanks(p);
	start = p->at;
	n = name_length(start);
	if (is(start, n, "default")) {
		p->at += n;
		ret->is_default = true;
		rc = 0;
	} else {
		rc = parse_item(p, &ret->item);
		skip_blanks(p);
		if (rc >= 0 && p->at[0] == ':' && p->at[1] == ':') {
			p->at += 2;
			ret->is_ratio = true;
			rc = parse_item(p, &ret->per_item);
		}
	}
	if (rc >= 0)
		ret->text = text_from(p, start);
	return rc;
}

/* What may follow a whole column. */
static int expected_more(struct parser *p, const struct pm_column *c)
{
	const struct pm_item *last = c->is_ratio ? &c->per_item : &c->item;

	if (c->is_default)
		return profileme_expected(p, "'+' and another column");
	if (p->at[0] == ':' && c->is_ratio)
		return profileme_expected(p, "'+' and another column: there is one ratio already,");
	if (last->counter)
		return profileme_expected(p, c->is_ratio ? "'+'" : "'::' or '+'");
	return profileme_expected(p, c->is_ratio ? "'^', '|', ':' or '+'"
						 : "'^', '|', ':', '::' or '+'");
}

int pm_columns_parse(pm_columns *ret, const char *what, const char *text, const struct profile *p,
		     struct err *err)
{
	struct parser parser = {.what = what, .text = text, .at = text, .p = p, .err = err};
	int rc;

	do {
		struct pm_column *c = vec_add(ret);

		rc = parse_column(&parser, c);
		skip_blanks(&parser);
		if (rc >= 0 && *parser.at && *parser.at != '+')
			rc = expected_more(&parser, c);
	} while (rc >= 0 && profileme_take(&parser, '+'));
	return rc;
}

static void release_item(struct pm_item *i)
{
	vec_release(&i->set.steps);
	free(i->text);
}

void pm_columns_release(pm_columns *columns)
{
	vec_each (c, columns) {
		release_item(&c->item);
		release_item(&c->per_item);
		free(c->text);
	}
	vec_release(columns);
}
