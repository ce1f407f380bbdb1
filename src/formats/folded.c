/* SPDX-License-Identifier: BSD-2-Clause */
/* See folded.h. */
#include "formats/folded.h"

#define MOST_PROBED 20

bool folded_parse(const struct text_line *l, struct text_line *ret_stack, uint64_t *ret_n)
{
	size_t n = l->n, at;
	struct text_line number;

	while (n && l->text[n - 1] == ' ')
		n--;
	for (at = n; at && l->text[at - 1] != ' ';)
		at--;
	if (at < 2)
		return false;
	number = (struct text_line){l->text + at, n - at};
	if (!text_line_number(&number, 10, ret_n))
		return false;
	if (number.n && *number.text == '.') {
		uint64_t fraction;

		number.text++;
		number.n--;
		if (number.n && !text_line_number(&number, 10, &fraction))
			return false;
	}
	*ret_stack = (struct text_line){l->text, at - 1};
	return !number.n;
}

bool folded_next_frame(struct text_line *stack, struct text_line *ret)
{
	const char *end;

	if (!stack->text)
		return false;
	end = memchr(stack->text, ';', stack->n);
	ret->text = stack->text;
	ret->n = end ? (size_t)(end - stack->text) : stack->n;
	stack->n -= ret->n + (end != NULL);
	stack->text = end ? end + 1 : NULL;
	return true;
}

bool folded_probe(const uint8_t *bytes, size_t n)
{
	struct rd r = rd_init(bytes, n);
	struct text_line l, stack;
	unsigned seen = 0, n_stacks = 0;
	bool has_two = false;
	uint64_t number;

	while (seen < MOST_PROBED && text_line_next(&r, &l)) {
		if (!l.n || *l.text == '#')
			continue;
		seen++;
		if (!folded_parse(&l, &stack, &number) || *l.text == '\t')
			continue;
		has_two |= memchr(stack.text, ';', stack.n) != NULL;
		n_stacks++;
	}
	return has_two && n_stacks >= seen - n_stacks;
}
