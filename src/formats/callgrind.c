/* SPDX-License-Identifier: BSD-2-Clause */
/* See callgrind.h. */
#include "formats/callgrind.h"

#include <errno.h>

#define MOST_PROBED 40 /* lines of a header */

/* The format's space is a blank or a tab. */
static void skip_space(struct text_line *l)
{
	while (l->n && (*l->text == ' ' || *l->text == '\t')) {
		l->text++;
		l->n--;
	}
}

void callgrind_begin(struct callgrind_reader *r, struct arena *arena)
{
	*r = (struct callgrind_reader){.arena = arena, .has_line = true};
}

static void names_release(struct callgrind_names *n)
{
	vec_release(&n->v);
	index_release(&n->index);
}

void callgrind_end(struct callgrind_reader *r)
{
	names_release(&r->objects);
	names_release(&r->files);
	names_release(&r->functions);
}

static bool same_number(const void *owner, uint32_t i, const void *key)
{
	return ((const struct callgrind_names *)owner)->v.v[i].number == *(const uint64_t *)key;
}

/* "(12) name" sets number 12, "(12)" asks for it, "name" is only itself.  A number that was never
 * set (callgrind 0.10 wrote such objects) is "???", callgrind's word for what is not known. */
static void parse_name(struct callgrind_reader *r, struct callgrind_names *names,
		       struct text_line l, const char **ret)
{
	struct text_line rest = l;
	uint64_t number;
	uint32_t i;

	if (!l.n || *l.text != '(') {
		*ret = arena_strndup(r->arena, l.text, l.n);
		return;
	}
	rest.text++;
	rest.n--;
	if (!text_line_number(&rest, 10, &number) || !rest.n || *rest.text != ')') {
		*ret = arena_strndup(r->arena, l.text, l.n); /* a name that begins so */
		return;
	}
	rest.text++;
	rest.n--;
	skip_space(&rest);
	i = index_find(&names->index, hash_u64(number), same_number, names, &number);
	if (i == INDEX_NONE && !rest.n) {
		r->n_untold++;
		*ret = "???";
		return;
	}
	if (i == INDEX_NONE) {
		i = (uint32_t)names->v.n;
		vec_add(&names->v);
		names->v.v[i].number = number;
		index_add(&names->index, hash_u64(number), i);
	}
	if (rest.n)
		names->v.v[i].name = arena_strndup(r->arena, rest.text, rest.n);
	*ret = names->v.v[i].name;
}

/* "0x40" or "64". */
static bool parse_number(struct text_line *l, uint64_t *ret)
{
	if (l->n <= 2 || l->text[0] != '0' || (l->text[1] != 'x' && l->text[1] != 'X'))
		return text_line_number(l, 10, ret);
	l->text += 2;
	l->n -= 2;
	return text_line_number(l, 16, ret);
}

static bool at_space(const struct text_line *l)
{
	return !l->n || *l->text == ' ' || *l->text == '\t';
}

/* "0x40", "64", "+3", "-3", "*": the last one and what is added. */
static bool parse_position(struct text_line *l, uint64_t *last)
{
	uint64_t v;
	char sign;

	skip_space(l);
	sign = l->n ? *l->text : 0;
	if (sign == '*' || sign == '+' || sign == '-') {
		l->text++;
		l->n--;
		if (sign == '*')
			return true;
	}
	if (!parse_number(l, &v))
		return false;
	*last = sign == '+' ? *last + v : sign == '-' ? *last - v : v;
	return true;
}

static int no_number(const struct text_line *l, const char *what, struct err *err)
{
	return err_set(err, -EBADMSG, "'%.*s' is no %s", (int)(l->n < 40 ? l->n : 40), l->text,
		       what);
}

/* A cost is a number.  Xdebug writes a negative one where there is less memory: it counts 0. */
static int parse_cost(struct callgrind_reader *r, struct text_line *l, uint64_t *ret,
		      struct err *err)
{
	const bool negative = *l->text == '-';
	struct text_line number = *l;

	number.text += negative;
	number.n -= negative;
	if (*l->text == '+' || *l->text == '*')
		return err_set(err, -EBADMSG,
			       "'%.*s' is no cost: positions may be relative, costs may not",
			       (int)(l->n < 40 ? l->n : 40), l->text);
	if (!parse_number(&number, ret) || !at_space(&number))
		return no_number(l, "cost", err);
	if (negative && *ret) {
		r->n_negative++;
		*ret = 0;
	}
	*l = number;
	return 0;
}

static int parse_costs(struct callgrind_reader *r, struct text_line l, struct callgrind_line *ret,
		       struct err *err)
{
	if (r->has_instr && !parse_position(&l, &r->instr))
		return no_number(&l, "address", err);
	if (r->has_bb && !parse_position(&l, &r->bb))
		return no_number(&l, "address of a block", err);
	if (r->has_line && !parse_position(&l, &r->line))
		return no_number(&l, "line", err);
	if (!at_space(&l))
		return no_number(&l, "position", err);
	ret->kind = CALLGRIND_COSTS;
	ret->instr = r->has_instr ? r->instr : 0;
	ret->line = r->has_line ? r->line : 0;
	for (skip_space(&l); l.n; skip_space(&l)) {
		uint64_t v;
		const int rc = parse_cost(r, &l, &v, err);

		if (rc < 0)
			return rc;
		if (ret->n_costs == CALLGRIND_MOST_EVENTS)
			return err_set(err, -E2BIG, "more than %d costs on a line",
				       CALLGRIND_MOST_EVENTS);
		ret->costs[ret->n_costs++] = v;
	}
	return 0;
}

static bool cut_prefix(struct text_line *l, const char *prefix)
{
	const size_t n = strlen(prefix);

	if (!text_line_starts(l, prefix))
		return false;
	l->text += n;
	l->n -= n;
	return true;
}

static bool has_word(const struct text_line *l, const char *word)
{
	return memmem(l->text, l->n, word, strlen(word)) != NULL;
}

static int parse_header(struct callgrind_reader *r, struct text_line l, struct callgrind_line *ret)
{
	if (cut_prefix(&l, "positions:")) {
		r->has_instr = has_word(&l, "instr");
		r->has_bb = has_word(&l, "bb");
		r->has_line = has_word(&l, "line");
	} else if (cut_prefix(&l, "events:")) {
		skip_space(&l);
		ret->kind = CALLGRIND_EVENTS;
		ret->name = arena_strndup(r->arena, l.text, l.n);
	} else if (cut_prefix(&l, "cmd:")) {
		skip_space(&l);
		ret->kind = CALLGRIND_COMMAND;
		ret->name = arena_strndup(r->arena, l.text, l.n);
	} else if (cut_prefix(&l, "summary:") || cut_prefix(&l, "totals:")) {
		ret->kind = CALLGRIND_TOTAL;
	}
	return 0;
}

int callgrind_parse(struct callgrind_reader *r, const struct text_line *line,
		    struct callgrind_line *ret, struct err *err)
{
	static const struct {
		const char *prefix;
		enum callgrind_kind kind;
	} names[] = {
		{"ob=", CALLGRIND_OB},
		{"fl=", CALLGRIND_FL},
		{"fi=", CALLGRIND_FI},
		{"fe=", CALLGRIND_FI},
		{"fn=", CALLGRIND_FN},
		{"cob=", CALLGRIND_COB},
		{"cfi=", CALLGRIND_CFI},
		{"cfl=", CALLGRIND_CFI},
		{"cfn=", CALLGRIND_CFN},
		/* not on the page; --collect-jumps=yes writes them, with names told here first */
		{"jfi=", CALLGRIND_JFI},
		{"jfn=", CALLGRIND_JFN}};
	struct text_line l = *line;

	*ret = (struct callgrind_line){0};
	skip_space(&l);
	if (!l.n || *l.text == '#')
		return 0;
	if ((*l.text >= '0' && *l.text <= '9') || *l.text == '+' || *l.text == '-' ||
	    *l.text == '*')
		return parse_costs(r, l, ret, err);
	if (cut_prefix(&l, "calls=")) {
		ret->kind = CALLGRIND_CALLS;
		return 0;
	}
	for (size_t i = 0; i < n_elems(names); i++)
		if (cut_prefix(&l, names[i].prefix)) {
			const enum callgrind_kind k = names[i].kind;

			ret->kind = k;
			skip_space(&l);
			parse_name(r,
				   k == CALLGRIND_OB || k == CALLGRIND_COB ? &r->objects
				   : k == CALLGRIND_FN || k == CALLGRIND_CFN || k == CALLGRIND_JFN
					   ? &r->functions
					   : &r->files,
				   l, &ret->name);
			return 0;
		}
	if (memchr(l.text, ':', l.n))
		return parse_header(r, l, ret);
	if (memchr(l.text, '=', l.n)) /* jump=, jcnd=, rec=, frfn= */
		return 0;
	return err_set(err, -EBADMSG, "'%.*s' is no line of callgrind's",
		       (int)(l.n < 40 ? l.n : 40), l.text);
}

bool callgrind_probe(const uint8_t *bytes, size_t n)
{
	struct rd r = rd_init(bytes, n);
	struct text_line l;

	for (unsigned i = 0; i < MOST_PROBED && text_line_next(&r, &l); i++) {
		if (text_line_starts(&l, "# callgrind format"))
			return true;
		if (text_line_starts(&l, "events:") || text_line_starts(&l, "positions:"))
			return true;
		if (l.n && *l.text != '#' && !memchr(l.text, ':', l.n))
			return false;
	}
	return false;
}
