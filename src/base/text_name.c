/* SPDX-License-Identifier: BSD-2-Clause */
/* See text_name.h.  One pass, with a stack of the brackets that are open: outside of them, and in
 * those that are part of the path, what lies between brackets is copied; the others' contents are
 * left out.  An operator, "->" and "=>" have no brackets. */
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
};

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
	    (word - name > 8 && (isalnum((unsigned char)word[-9]) || word[-9] == '_')))
		return 0;
	for (size_t i = 0; i < n_elems(operators); i++)
		if (strncmp(s, operators[i], strlen(operators[i])) == 0)
			return strlen(operators[i]);
	return 0;
}

/* Whether what the bracket at S holds is part of the path: a type in front of "::" or ".", "(*T)",
 * "(anonymous namespace)", "<T as Trait>", Python's "f.<locals>.<lambda>". */
static bool is_path_bracket(const char *name, const char *s)
{
	static const char anonymous[] = "(anonymous";

	if (strncmp(s, anonymous, sizeof(anonymous) - 1) == 0)
		return true;
	if (s == name)
		return true;
	if (s - name > 1 && s[-1] == ' ' && strchr("<>=", s[-2])) /* operator< <int> */
		return false;
	return *s == '(' ? s[-1] == '.' || s[1] == '*' : strchr(": &*.", s[-1]) != NULL;
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
	struct name_cut c = {.out = out, .name = name};
	const size_t start = out->n;
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
			str_addn(out, s, n);
		s += n ? n : 1;
	}
	if (matches && !c.n)
		return;
	out->n = start;
	str_addn(out, name, (size_t)(end - name));
}
