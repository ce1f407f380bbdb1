/* SPDX-License-Identifier: BSD-2-Clause */
/* See symtab.h.  Looking up and listing; symtab_build.c makes one.
 *
 * The numbers are read where they lie, little-endian and possibly unaligned, because they may be in
 * a mapped cache file.  Whoever fills a struct symtab has checked that the arrays are there in full
 * and that the pool ends in NUL; a name's offset is checked at each use. */
#include "resolve/symtab.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/demangle.h"
#include "resolve/proc_name.h"

static inline uint64_t le64_at(const uint8_t *p, uint32_t i)
{
	uint64_t v;

	memcpy(&v, p + (size_t)i * 8, 8);
	return le64toh(v);
}

static inline uint32_t le32_at(const uint8_t *p, uint32_t i)
{
	uint32_t v;

	memcpy(&v, p + (size_t)i * 4, 4);
	return le32toh(v);
}

/* Returns the last entry that starts at or before SVMA, PROC_NONE where there is none. */
static uint32_t last_start(const struct symtab *st, uint64_t svma)
{
	uint32_t at = 0, n = st->n;

	if (n == 0 || svma < le64_at(st->starts, 0))
		return PROC_NONE;
	/* Invariant: starts[at] <= svma, and the answer is in [at, at + n).  No branch depends on
	 * the data, so nothing is mispredicted. */
	while (n > 1) {
		uint32_t half = n / 2;

		at = le64_at(st->starts, at + half) <= svma ? at + half : at;
		n -= half;
	}
	return at;
}

uint32_t symtab_find(const struct symtab *st, uint64_t svma)
{
	const uint32_t at = last_start(st, svma);

	return at != PROC_NONE && svma - le64_at(st->starts, at) < le32_at(st->sizes, at)
		       ? at
		       : PROC_NONE;
}

uint32_t symtab_find_first(const struct symtab *st, uint64_t svma, uint64_t n_bytes)
{
	const uint32_t at = symtab_find(st, svma);
	const uint32_t next = last_start(st, svma) + 1; /* PROC_NONE + 1 is the first of all */

	if (at != PROC_NONE || next >= st->n || le64_at(st->starts, next) - svma >= n_bytes)
		return at;
	return symtab_find(st, le64_at(st->starts, next));
}

static const char *name_at(const struct symtab *st, uint32_t off)
{
	if (off >= st->n_pool)
		return "?";
	if (st->check_pool && !st->check_pool(st, off, (uint32_t)strlen(st->pool + off) + 1))
		return "?";
	return st->pool + off;
}

struct procedure symtab_get(const struct symtab *st, uint32_t i)
{
	uint64_t start = le64_at(st->starts, i);

	return (struct procedure){
		.index = i,
		.flags = st->flags[i],
		.start = start,
		.end = start + le32_at(st->sizes, i),
		.name = name_at(st, le32_at(st->names, i)),
	};
}

/* The entry that stands for I's address: I itself, or the procedure behind an alias. */
static uint32_t canonical(const struct symtab *st, uint32_t i)
{
	while (i + 1 < st->n && st->flags[i] & PROC_ALIAS)
		i++;
	return i;
}

/* Finds a word of the linked names of everything called NAME, to save demangling the others:
 * mangling keeps the last identifier of a qualified name as it is.  Names without one (operators),
 * and those that mangling abbreviates (std::string is Ss), give "", which is in every name. */
static void find_hint(const char *name, char *ret, size_t max)
{
	static const char *const never[] = {
		"string",	"allocator", "istream",	      "ostream",       "iostream",
		"basic_string", "operator",  "basic_istream", "basic_ostream", "basic_iostream"};
	size_t n = strcspn(name, "(<"), at = n;

	ret[0] = '\0';
	while (at > 0 && (name[at - 1] == '_' || name[at - 1] == '$' ||
			  (name[at - 1] >= '0' && name[at - 1] <= '9') ||
			  ((name[at - 1] | 32) >= 'a' && (name[at - 1] | 32) <= 'z')))
		at--;
	if (n - at < 2 || n - at >= max || strstr(name, "operator") || name[0] == '(' ||
	    strchr(name, '{') || strchr(name, '['))
		return;
	memcpy(ret, name + at, n - at);
	ret[n - at] = '\0';
	for (size_t i = 0; i < n_elems(never); i++)
		if (strcmp(ret, never[i]) == 0)
			ret[0] = '\0';
}

static bool is_called(const char *linked, const char *name)
{
	bool same = false;

	if (strcmp(linked, name) == 0)
		return true;
	if (!demangle_applies(linked))
		return false;
	for (int args = 0; args < 2 && !same; args++) {
		char *plain = demangle_name(linked, args);

		same = plain && strcmp(plain, name) == 0;
		free(plain);
	}
	return same;
}

static bool is_meant(const char *linked, const char *name)
{
	char *plain;
	bool means;

	if (is_called(linked, name))
		return true;
	if (!demangle_applies(linked))
		return proc_name_means(linked, name);
	plain = demangle_name(linked, true);
	means = plain && proc_name_means(plain, name);
	free(plain);
	return means;
}

/* Whether HINT may be part of a name.  All names are searched at once, which is quicker than one
 * after the other.  A damaged pool may have anything. */
static bool pool_has(const struct symtab *st, const char *hint)
{
	return (st->check_pool && !st->check_pool(st, 0, st->n_pool)) ||
	       (st->n_pool && memmem(st->pool, st->n_pool, hint, strlen(hint)));
}

/* Which entries are named NAME. */
static void find_names(const struct symtab *st, const char *name,
		       bool (*is)(const char *linked, const char *name), proc_list *ret)
{
	char hint[128];
	uint32_t last = PROC_NONE;
	uint64_t svma;

	if (str_starts(name, SYMTAB_UNNAMED) &&
	    str_parse_u64(name + strlen(SYMTAB_UNNAMED), 16, &svma) >= 0) {
		uint32_t i = symtab_find(st, svma);

		if (i != PROC_NONE && st->flags[i] & PROC_UNNAMED && le64_at(st->starts, i) == svma)
			vec_push(ret, i);
	}
	find_hint(name, hint, sizeof(hint));
	if (!pool_has(st, hint))
		return;
	for (uint32_t i = 0; i < st->n; i++) {
		const char *linked = name_at(st, le32_at(st->names, i));
		uint32_t proc;

		if (st->flags[i] & (PROC_REST | PROC_UNNAMED) || !strstr(linked, hint) ||
		    !is(linked, name))
			continue;
		proc = canonical(st, i);
		if (proc != last)
			vec_push(ret, proc);
		last = proc;
	}
}

void symtab_find_name(const struct symtab *st, const char *name, proc_list *ret)
{
	find_names(st, name, is_called, ret);
}

void symtab_find_meant(const struct symtab *st, const char *name, proc_list *ret)
{
	find_names(st, name, is_meant, ret);
}

void symtab_release(struct symtab *st)
{
	free(st->owned);
	*st = (struct symtab){0};
}
