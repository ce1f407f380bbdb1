/* SPDX-License-Identifier: BSD-2-Clause */
/* Strings of interpreters, as php.h and perl.h read them.  One source for two compilers, by the
 * same functions of an includer as python.h. */
#ifndef UNWIND_TEXT_H
#define UNWIND_TEXT_H

#include "unwind/python_state.h"

#ifdef SCRIPT_ENV

/* Provided by the includer: reads the string at AVMA up to its zero, or MOST bytes of it, into RET;
 * how many bytes that are, 0 when it cannot be read. */
static __u32 script_string(SCRIPT_ENV *env, __u64 avma, void *ret, const __u32 most);

SCRIPT_STEP void text_clear(struct script_text *to)
{
	to->n_bytes = 0;
	to->kind = SCRIPT_TEXT_UTF8;
	to->is_cut = 0;
	for (int i = 0; i < SCRIPT_TEXT_BYTES / 8; i++)
		to->words[i] = 0;
}

/* A hash of TO, a text of N bytes, behind which it is zeros.  Some words at once: the verifier
 * follows each way out of the loop. */
SCRIPT_STEP __u64 text_hash(const struct script_text *to, __u64 n)
{
	__u64 hash = script_mix(n, 1);

	for (__u32 i = 0; i < SCRIPT_TEXT_BYTES / 8; i += 4) {
		if (8 * i >= n)
			break;
		hash = script_mix(hash, to->words[i]);
		hash = script_mix(hash, to->words[i + 1]);
		hash = script_mix(hash, to->words[i + 2]);
		hash = script_mix(hash, to->words[i + 3]);
	}
	return hash | 1;
}

/* A hash of N bytes at WORDS, of which MOST are there, and of H. */
SCRIPT_STEP __u64 text_brief(const __u64 *words, __u64 n, const __u32 most, __u64 h)
{
	__u64 hash = script_mix(n, h), word;

	for (__u32 i = 0; i < most / 8; i++) {
		if (8 * i >= n)
			break;
		word = words[i];
		if (n - 8 * i < 8)
			word &= (1ULL << 8 * (n - 8 * i)) - 1;
		hash = script_mix(hash, word);
	}
	return hash | 1;
}

/* The text of P's record that PART says. */
SCRIPT_STEP struct script_text *text_of(struct python_walk *p, enum script_part part)
{
	return &p->record.texts[part & 3]; /* no branch: the verifier would follow each */
}

/* Reads the string of N bytes at AVMA into TO; a hash of it, 0 when it cannot be read. */
SCRIPT_STEP __u64 text_take(SCRIPT_ENV *env, __u64 avma, __u64 n, struct script_text *to)
{
	__u32 n_bytes = n < SCRIPT_TEXT_BYTES ? (__u32)n : SCRIPT_TEXT_BYTES;

	text_clear(to);
	if (!script_read(env, avma, to->words, n_bytes, SCRIPT_TEXT_BYTES))
		return 0;
	to->n_bytes = n_bytes;
	to->is_cut = n > SCRIPT_TEXT_BYTES;
	return text_hash(to, n);
}

/* text_clear() of PART of the record. */
SCRIPT_PART int text_none(SCRIPT_ENV *env, enum script_part part)
{
	if (env)
		text_clear(text_of(script_walk(env), part));
	return 0;
}

/* text_take() into PART of the record. */
SCRIPT_PART __u64 text_read(SCRIPT_ENV *env, __u64 avma, __u64 n, enum script_part part)
{
	return env ? text_take(env, avma, n, text_of(script_walk(env), part)) : 0;
}

/* Reads the string at AVMA that ends with a zero into PART of the record; a hash of it, 0 when it
 * is empty or cannot be read. */
SCRIPT_PART __u64 text_read_string(SCRIPT_ENV *env, __u64 avma, enum script_part part)
{
	struct script_text *to;
	__u32 n;

	if (!env)
		return 0;
	to = text_of(script_walk(env), part);
	text_clear(to);
	n = script_string(env, avma, to->words, SCRIPT_TEXT_BYTES);
	if (!n)
		return 0;
	to->n_bytes = n < SCRIPT_TEXT_BYTES ? n : SCRIPT_TEXT_BYTES;
	to->is_cut = n >= SCRIPT_TEXT_BYTES - 1;
	return text_hash(to, n);
}

/* Tells of the function in the record, of NUMBER, unless that was told; 0: it cannot be. */
SCRIPT_PART int text_tell(SCRIPT_ENV *env, __u64 number, __u32 first_line)
{
	struct python_walk *p;

	if (!env)
		return 0;
	if (script_is_told(env, number))
		return 1;
	p = script_walk(env);
	p->record.what = SCRIPT_FUNCTION;
	p->record.number = number;
	p->record.interpreter = p->interpreter;
	p->record.first_line = first_line;
	p->record.source = 0;
	p->record.n_line_bytes = p->record.lines_cut = 0;
	if (!script_send(env, p))
		return 0;
	script_note(env, number);
	return 1;
}

/* The number of code of which HASH is made. */
SCRIPT_STEP __u64 text_number(const struct python_walk *p, __u64 hash)
{
	const __u64 number = script_mix(p->key, hash) & SCRIPT_CODE_MASK;

	return number < SCRIPT_N_MARKS ? SCRIPT_N_MARKS : number;
}

#endif
#endif
