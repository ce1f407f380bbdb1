/* SPDX-License-Identifier: BSD-2-Clause */
/* See proc_name.h.
 *
 * A name is cut at each "::" and, for Java and Go, each "." that is in no bracket.  Of each part
 * its words before template arguments and before arguments remain:
 *
 *     void ns::Table<int>::insert<char>(char) const
 *     ns | Table | insert
 *
 * WANTED is cut in the same way, and its parts must be the last ones. */
#include "resolve/proc_name.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "base/text_name.h"

#define MAX_PARTS 32 /* of a name, the last ones */

struct name_part {
	const char *text; /* "Table<int>" */
	size_t n, n_bare; /* bytes; without template arguments */
};

struct name_parts {
	struct name_part v[MAX_PARTS];
	unsigned n;
	const char *args; /* "(char)", N_ARGS bytes; NULL: none */
	size_t n_args;
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* The end of the operator whose name begins at S with "operator": brackets in it are none. */
static const char *skip_operator(const char *s)
{
	const char *at = s + strlen("operator");

	if (at[0] == '(' && at[1] == ')')
		return at + 2;
	if (at[0] == '[' && at[1] == ']')
		return at + 2;
	while (*at && strchr("<>=!+-*/%^&|~,", *at))
		at++;
	return at;
}

static bool begins_operator(const char *name, const char *at)
{
	return strncmp(at, "operator", 8) == 0 && !is_word(at[8]) &&
	       (at == name || !is_word(at[-1]));
}

/* The bracket that ends what begins with the bracket at S, or the text's end. */
static const char *skip_brackets(const char *s)
{
	unsigned depth = 0;

	for (; *s; s++) {
		if (*s == '-' && s[1] == '>')
			s++;
		else if (strchr("<([{", *s))
			depth++;
		else if (strchr(">)]}", *s) && --depth == 0)
			return s + 1;
	}
	return s;
}

static void add_part(struct name_parts *p, const char *text, size_t n, size_t n_bare)
{
	if (!n)
		return;
	if (p->n == MAX_PARTS)
		memmove(p->v, p->v + 1, --p->n * sizeof(*p->v));
	p->v[p->n++] = (struct name_part){text, n, n_bare < n ? n_bare : n};
}

/* What gcc and clang put behind the names of copies and parts of a procedure. */
static bool is_suffix(const char *s)
{
	static const char *const words[] = {"constprop", "part",  "isra",	"cold", "lto_priv",
					    "llvm",	 "clone", "localalias", "warm", "hot"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		const size_t n = strlen(words[i]);

		if (strncmp(s, words[i], n) == 0 && (!s[n] || s[n] == '.'))
			return true;
	}
	return isdigit((unsigned char)*s);
}

/* Rust's hash: "h" and 16 digits. */
static bool is_hash(const char *s, size_t n)
{
	if (n != 17 || *s != 'h')
		return false;
	for (size_t i = 1; i < n; i++)
		if (!isxdigit((unsigned char)s[i]))
			return false;
	return true;
}

static void split_name(struct name_parts *p, const char *name, const char *end);

/* "<bench::Csr as bench::Matrix>": the parts of the type. */
static void split_type(struct name_parts *p, const char *s, const char *end)
{
	const char *as = s;

	while (as + 4 <= end && strncmp(as, " as ", 4) != 0)
		as = strchr("<([{", *as) ? skip_brackets(as) : as + 1;
	split_name(p, s, as + 4 <= end ? as : end);
}

static void split_name(struct name_parts *p, const char *name, const char *end)
{
	const char *part = name, *bare_end = NULL, *at = name;

	while (at < end) {
		if (begins_operator(name, at)) {
			at = skip_operator(at);
		} else if (at == part && *at == '<') {
			const char *close = skip_brackets(at);

			if (!text_name_has_turbofish(name, at))
				split_type(p, at + 1, close > end || close == at ? end : close - 1);
			part = at = close;
		} else if (*at == '<' || *at == '[' || *at == '{' || *at == '(') {
			const char *close = skip_brackets(at);

			/* "(anonymous namespace)" and "{closure#0}" are names. */
			if (at != part && !bare_end)
				bare_end = at;
			if (*at == '(' && at != part && strncmp(close, "::", 2) != 0) {
				p->args = at;
				p->n_args = (size_t)(close - at);
				break;
			}
			at = close;
		} else if (at[0] == ':' && at[1] == ':') {
			add_part(p, part, (size_t)(at - part),
				 (size_t)((bare_end ? bare_end : at) - part));
			part = at = at + 2;
			bare_end = NULL;
		} else if (*at == ' ' && at[1] != '[' && at > part) {
			/* What stood before was the type that is returned. */
			part = ++at;
			bare_end = NULL;
			p->n = 0;
		} else if (*at == ' ' || (*at == '.' && at > part && is_suffix(at + 1))) {
			break;
		} else if (*at == '.' && at > part) {
			add_part(p, part, (size_t)(at - part),
				 (size_t)((bare_end ? bare_end : at) - part));
			part = ++at;
			bare_end = NULL;
		} else {
			at++;
		}
	}
	if (at > end)
		at = end;
	if (part < at && !is_hash(part, (size_t)(at - part)))
		add_part(p, part, (size_t)(at - part), (size_t)((bare_end ? bare_end : at) - part));
}

/* Tells whether HAVE is WANTED; its template arguments count when WANTED has some. */
static bool part_same(const struct name_part *have, const struct name_part *wanted)
{
	const bool bare = wanted->n == wanted->n_bare;
	const size_t n = bare ? have->n_bare : have->n;

	return n == wanted->n && memcmp(have->text, wanted->text, n) == 0;
}

/* Tells whether HAVE lacks the word that ends WANTED.  Most names do, and splitting them would cost
 * ten times as much.  Where WANTED's last part may be something else, the answer is false. */
static bool lacks_last_word(const char *have, const char *wanted)
{
	const char *word = wanted + strlen(wanted);

	while (word > wanted && is_word(word[-1]))
		word--;
	return !strstr(have, word) && !strpbrk(wanted, "(. ") && !is_hash(word, strlen(word));
}

bool proc_name_means(const char *have, const char *wanted)
{
	struct name_parts h = {.n = 0}, w = {.n = 0};

	if (lacks_last_word(have, wanted))
		return false;
	if (!strstr(have, "::") && !strpbrk(have, ".<( "))
		return strcmp(have, wanted) == 0;
	split_name(&h, have, have + strlen(have));
	split_name(&w, wanted, wanted + strlen(wanted));
	if (!w.n || h.n < w.n ||
	    (w.args && (!h.args || h.n_args != w.n_args || memcmp(h.args, w.args, w.n_args) != 0)))
		return false;
	for (unsigned i = 1; i <= w.n; i++)
		if (!part_same(&h.v[h.n - i], &w.v[w.n - i]))
			return false;
	return true;
}
