/* SPDX-License-Identifier: BSD-2-Clause */
/* See dcpi_kept.h. */
#include "port/dcpi_kept.h"

#include <string.h>

static bool word_is(const struct dcpi_line *l, const char *word)
{
	return l->n_word == strlen(word) && memcmp(l->text, word, l->n_word) == 0;
}

/* Whether a writer would not know the line from the samples. */
static bool is_kept(const struct dcpi_line *l)
{
	switch (l->key) {
	case DCPI_CPUSPEED:
		return strspn(l->value, "0") != strlen(l->value);
	case DCPI_CPUAMASK:
	case DCPI_CPUIMPLV:
	case DCPI_PATH:
		return true;
	case DCPI_UNKNOWN:
		return !word_is(l, "label") &&
		       !(l->n_word > 6 && memcmp(l->text, "dwell-", 6) == 0);
	default:
		return false;
	}
}

static bool same_line(const struct dcpi_line *a, const struct dcpi_line *b)
{
	const size_t n_a = (size_t)(a->text + a->n - a->value),
		     n_b = (size_t)(b->text + b->n - b->value);

	return a->n_word == b->n_word && memcmp(a->text, b->text, a->n_word) == 0 && n_a == n_b &&
	       memcmp(a->value, b->value, n_a) == 0;
}

/* Adds L to F unless it says it already.  F has one line of each known word but `path`: a speed
 * takes the place of F's own. */
static void port_dcpi_kept_put(struct dcpi_file *f, const struct dcpi_line *l)
{
	vec_each (have, &f->lines) {
		if (l->key == DCPI_CPUSPEED && have->key == DCPI_CPUSPEED) {
			dcpi_set_line(f, (size_t)(have - f->lines.v), l);
			return;
		}
		if (same_line(have, l) ||
		    (have->key == l->key && l->key != DCPI_PATH && l->key != DCPI_UNKNOWN))
			return;
	}
	dcpi_copy_line(f, l->text, l->n);
}

void dcpi_kept_add_line(struct dcpi_kept *k, struct profile *p, image_id image, const char *event,
			const char *label, const char *text, size_t n)
{
	const struct dcpi_kept_line line = {
		.image = image,
		.event = profile_intern_str(p, event),
		.label = profile_intern_str(p, label),
		.text = arena_strndup(&k->arena, text, n),
		.n_text = n,
	};

	vec_push(&k->lines, line);
}

void dcpi_kept_add(struct dcpi_kept *k, struct profile *p, image_id image, const char *label,
		   const struct dcpi_file *f)
{
	vec_each (l, &f->lines)
		if (is_kept(l))
			dcpi_kept_add_line(k, p, image, f->event, label, l->text, l->n);
}

void dcpi_kept_put(const struct dcpi_kept *k, const struct profile *p, image_id image,
		   const char *event, string_id label, struct dcpi_file *f)
{
	struct dcpi_file one;

	if (!k)
		return;
	vec_each (l, &k->lines) {
		if (l->image != image || l->label != label ||
		    (event && strcmp(profile_str(p, l->event), event) != 0))
			continue;
		dcpi_init(&one, 7, 1);
		if (dcpi_copy_line(&one, l->text, l->n_text) >= 0 &&
		    is_kept(&one.lines.v[one.lines.n - 1]))
			port_dcpi_kept_put(f, &one.lines.v[one.lines.n - 1]);
		dcpi_release(&one);
	}
}

void dcpi_kept_put_old(const struct dcpi_file *old, struct dcpi_file *f)
{
	vec_each (l, &old->lines)
		if (is_kept(l))
			port_dcpi_kept_put(f, l);
}

void dcpi_kept_release(struct dcpi_kept *k)
{
	arena_release(&k->arena);
	vec_release(&k->lines);
}
