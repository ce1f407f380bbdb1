/* SPDX-License-Identifier: BSD-2-Clause */
/* See text_name.h.  One pass, with a stack of the brackets that are open: outside of them, and in
 * those that are part of the path, what lies between brackets is copied; the others' contents are
 * left out.  An operator, "->" and "=>" have no brackets.
 *
 * Mangled names of templates' functions, and no others, have the type that is returned (Itanium C++
 * ABI, 5.1.5.3), which says little where room is scarce: in "unsigned long ns::f<int>(char)" it is
 * what stands before the last blank outside of brackets, up to arguments behind a ">". */
#include "base/text_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/vec.h"

#define HASH_DIGITS 16
#define MOST_OPEN   64 /* deeper ones are copied whole */

struct name_bracket {
	char close;
	bool kept; /* its contents are part of the path */
};

struct name_cut {
	struct str *out;
	const char *name;
	struct name_bracket open[MOST_OPEN];
	unsigned n, n_dropped; /* open ones, and those of them whose contents are left out */
	size_t start, name_at; /* of OUT: where the text begins, and the name behind the type */
	bool is_operator;      /* blanks behind that word end no type */
	bool has_args;
};

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The N bytes of NAME without "::h" and 16 hexadecimal digits at its end, as rustc's mangling has
 * it. */
static size_t without_hash(const char *name, size_t n)
{
	const char *hash = name + n - HASH_DIGITS;

	if (n <= HASH_DIGITS + 3 || memcmp(hash - 3, "::h", 3) != 0 ||
	    strspn(hash, "0123456789abcdef") != HASH_DIGITS)
		return n;
	return n - HASH_DIGITS - 3;
}

/* The characters of the operator that is named at S: "operator()", "operator<<", "operator->". */
static size_t operator_at(const char *name, const char *s)
{
	static const char *const operators[] = {"()", "<=>", "<<=", ">>=", "->*", "<<",
						">>", "<=",  ">=",  "->",  "<",	  ">"};
	const char *word = s;

	while (word > name && word[-1] == ' ')
		word--;
	if (word - name < 8 || memcmp(word - 8, "operator", 8) != 0 ||
	    (word - name > 8 && is_name_char(word[-9])))
		return 0;
	for (size_t i = 0; i < n_elems(operators); i++)
		if (strncmp(s, operators[i], strlen(operators[i])) == 0)
			return strlen(operators[i]);
	return 0;
}

bool text_name_has_turbofish(const char *name, const char *s)
{
	return *s == '<' && s - name > 1 && s[-1] == ':' && s[-2] == ':' &&
	       !str_starts(s, "<impl ") && !str_starts(s, "<lambda") && !str_starts(s, "<unnamed");
}

/* Whether what the bracket at S holds is part of the path: a type in front of "::" or ".",
 * "(*T)", "(anonymous namespace)", "<T as Trait>", Python's "f.<locals>.<lambda>", Ruby's "block
 * (2 levels) in f" and "<top (required)>". */
static bool is_path_bracket(const char *name, const char *s)
{
	static const char anonymous[] = "(anonymous", required[] = "(required)>",
			  levels[] = " levels) in ";

	if (strncmp(s, anonymous, sizeof(anonymous) - 1) == 0 ||
	    strncmp(s, required, sizeof(required) - 1) == 0)
		return true;
	if (*s == '(' &&
	    strncmp(s + 1 + strspn(s + 1, "0123456789"), levels, sizeof(levels) - 1) == 0)
		return true;
	if (s == name)
		return true;
	if (s - name > 1 && s[-1] == ' ' && strchr("<>=", s[-2])) /* operator< <int> */
		return false;
	if (text_name_has_turbofish(name, s))
		return false;
	return *s == '(' ? s[-1] == '.' || s[1] == '*' : strchr(": &*.", s[-1]) != NULL;
}

/* At S, outside of brackets, "(" stands behind a name: of a template's function the type goes. */
static void args_take(struct name_cut *c, const char *s)
{
	const size_t n = c->name_at - c->start;

	if (n && s[-1] == '>' && !c->has_args) {
		memmove(c->out->v + c->start, c->out->v + c->name_at, c->out->n - c->name_at + 1);
		c->out->n -= n;
	}
	c->has_args = true;
}

/* Copies N characters at S, no brackets of a path, and notes where a name may begin. */
static void plain_take(struct name_cut *c, const char *s, size_t n)
{
	static const char word[] = "operator";
	const size_t at = c->out->n;

	str_addn(c->out, s, n);
	if (c->n || c->has_args)
		return;
	for (size_t i = 0; i < n && !c->is_operator; i++) {
		if (s[i] == ' ')
			c->name_at = at + i + 1;
		c->is_operator =
			n - i >= sizeof(word) - 1 && memcmp(s + i, word, sizeof(word) - 1) == 0 &&
			(i == 0 || !is_name_char(s[i - 1])) &&
			(n - i == sizeof(word) - 1 || !is_name_char(s[i + sizeof(word) - 1]));
	}
}

/* Takes the bracket at S. Returns false when it closes what is not open, or there are too many. */
static bool bracket_take(struct name_cut *c, const char *s)
{
	const bool closes = *s == ')' || *s == '>';

	if (!closes) {
		struct name_bracket b = {*s == '(' ? ')' : '>', true};

		if (c->n == MOST_OPEN)
			return false;
		b.kept = !c->n_dropped && is_path_bracket(c->name, s);
		if (!c->n && *s == '(' && s > c->name && s[-1] != ' ')
			args_take(c, s);
		if (!c->n_dropped)
			str_addc(c->out, *s);
		c->n_dropped += !b.kept;
		c->open[c->n++] = b;
		return true;
	}
	if (!c->n || c->open[c->n - 1].close != *s)
		return false;
	c->n--;
	if (!c->open[c->n].kept && --c->n_dropped == 0)
		str_add(c->out, s[-1] == (*s == ')' ? '(' : '<') ? "" : "...");
	if (!c->n_dropped)
		str_addc(c->out, *s);
	return true;
}

bool text_name_is_short(const char *name)
{
	const char *end = name;

	while (*end && *end != '(' && *end != '<')
		end++;
	return !*end && !name[without_hash(name, (size_t)(end - name))];
}

void text_add_short_name(struct str *out, const char *name)
{
	const size_t start = out->n;
	struct name_cut c = {.out = out, .name = name, .start = start, .name_at = start};
	const char *end = name + without_hash(name, strlen(name));
	bool matches = true;

	for (const char *s = name; s < end && matches;) {
		size_t n = strcspn(s, "()<>-");

		if (n > (size_t)(end - s))
			n = (size_t)(end - s);
		if (!n)
			n = operator_at(name, s);
		if (!n)
			n = *s == '-' || (*s == '>' && s > name && (s[-1] == '-' || s[-1] == '='));
		if (!n)
			matches = bracket_take(&c, s);
		else if (!c.n_dropped)
			plain_take(&c, s, n);
		s += n ? n : 1;
	}
	if (matches && !c.n)
		return;
	out->n = start;
	str_addn(out, name, (size_t)(end - name));
}
