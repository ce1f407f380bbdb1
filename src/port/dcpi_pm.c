/* SPDX-License-Identifier: BSD-2-Clause */
/* See dcpi_pm.h.
 *
 * A set names each bit that is known, with "!" where it is false.  DCPI's form comes from machines
 * that know all trap bits: there the one that is set stands for all sixteen.  In our own form each
 * trap bit that is known is named, since IBS and others know some. */
#include "port/dcpi_pm.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "model/fact.h"

/* dcpiprofileme(1): what `-slot pm0` to pm3 count beside samples; plain pm is mode 1. */
static const struct mode {
	const char *event;
	unsigned counters[2];
} modes[] = {
	{"pm0", {FACT_INFLIGHT, FACT_RETIRES}},
	{"pm", {FACT_INFLIGHT, FACT_RETDELAY}},
	{"pm2", {FACT_RETIRES, FACT_BCMISSES}},
	{"pm3", {FACT_INFLIGHT, FACT_REPLAYS_COUNTER}},
};

static bool has_one_trap_or_none(const struct vector *v)
{
	const uint64_t set = v->value & FACT_TRAPS;

	return !set || ((v->known & FACT_TRAPS) == FACT_TRAPS && !(set & (set - 1)));
}

/* The mode whose columns of DCPI can say this; n_elems(modes): none. */
static size_t mode_for(const char *event, const struct dcpi_pm *c)
{
	size_t m = 0;

	while (m < n_elems(modes) && strcmp(modes[m].event, event) != 0)
		m++;
	if (m == n_elems(modes) || c->measured || !has_one_trap_or_none(&c->vector))
		return n_elems(modes);
	if (c->vector.counter && c->vector.counter != modes[m].counters[0] &&
	    c->vector.counter != modes[m].counters[1])
		return n_elems(modes);
	return m;
}

static void add_set(struct str *s, const struct profile *p, const struct vector *v, bool one_trap)
{
	uint64_t known = v->known;
	bool first = true;

	if (one_trap && (v->value & FACT_TRAPS))
		known &= ~FACT_TRAPS | v->value;
	for (unsigned bit = 0; bit < N_FACT_BITS; bit++) {
		const char *name = fact_bit_name(p, bit);

		if (!(known >> bit & 1))
			continue;
		str_addf(s, "%s%s", first ? "" : "^", v->value >> bit & 1 ? "" : "!");
		if (name)
			str_add(s, name);
		else
			str_addf(s, "bit%u", bit);
		first = false;
	}
	if (first)
		str_add(s, "any");
}

char *dcpi_pm_format(const struct profile *p, event_id event, const struct dcpi_pm *column,
		     char **ret_counter)
{
	const struct vector *v = &column->vector;
	const char *name = profile_str(p, p->events.v[event].name);
	const char *counter = v->counter ? fact_counter_name(p, v->counter) : "count";
	const size_t mode = mode_for(name, column);
	struct str set = {0}, what = {0};

	if (mode == n_elems(modes))
		str_addf(&set, "%s@", name);
	add_set(&set, p, v, mode < n_elems(modes));
	str_addc(&what, 'm');
	if (mode < n_elems(modes))
		str_addf(&what, "%zu", mode);
	if (counter)
		str_add(&what, counter);
	else
		str_addf(&what, "counter%u", v->counter);
	str_add(&what, column->measured ? ".n" : "");
	*ret_counter = what.v;
	return set.v;
}

/* "bit54", of a bit that has no name here. */
static int numbered(const char *name, size_t n, const char *word, uint64_t below)
{
	size_t n_word = strlen(word);
	char digits[4] = "";
	uint64_t number;

	if (n <= n_word || n - n_word >= sizeof(digits) || memcmp(name, word, n_word) != 0)
		return -1;
	memcpy(digits, name + n_word, n - n_word);
	if (str_parse_u64(digits, 10, &number) < 0 || number >= below)
		return -1;
	return (int)number;
}

/* A name that nothing has here is the recording's own. */
static int user_fact(struct profile *p, bool is_counter, const char *name, size_t n)
{
	_mem_ char *text = xstrndup(name, n);
	bool is_name = n && n < 40 && !(name[0] >= '0' && name[0] <= '9');

	for (size_t i = 0; i < n && is_name; i++)
		is_name = name[i] == '_' || name[i] == '.' || name[i] == '-' ||
			  (name[i] >= '0' && name[i] <= '9') ||
			  ((name[i] | 0x20) >= 'a' && (name[i] | 0x20) <= 'z');
	if (!is_name || strcmp(text, "any") == 0 || strcmp(text, "default") == 0)
		return -1;
	return profile_add_user_fact(p, is_counter, text, "as a DCPI profile names it");
}

static bool parse_set(struct profile *p, const char *text, bool one_trap, struct vector *ret)
{
	uint64_t traps;

	if (strcmp(text, "any") == 0)
		return true;
	for (const char *s = text, *end; s; s = *end ? end + 1 : NULL) {
		bool set = *s != '!' && *s != '/';
		size_t n;
		int bit;

		s += !set;
		n = strcspn(s, "^");
		end = s + n;
		if (n == 4 && memcmp(s, "trap", n) == 0) {
			bit = FACT_NOTRAP;
			set = !set;
		} else {
			bit = fact_find_bit(p, s, n);
			bit = bit < 0 ? numbered(s, n, "bit", N_FACT_BITS) : bit;
			bit = bit < 0 ? user_fact(p, false, s, n) : bit;
		}
		if (bit < 0)
			return false;
		ret->known |= FACT_MASK(bit);
		ret->value &= ~FACT_MASK(bit);
		ret->value |= set ? FACT_MASK(bit) : 0;
	}
	traps = ret->value & FACT_TRAPS;
	if (one_trap && traps)
		ret->known |= FACT_TRAPS;
	return !one_trap || !(traps & (traps - 1));
}

static bool parse_counter(struct profile *p, const char *name, struct dcpi_pm *ret)
{
	size_t n = strlen(name);
	int counter = 0;

	ret->measured = n > 2 && strcmp(name + n - 2, ".n") == 0;
	n -= ret->measured ? 2 : 0;
	if (n != 5 || memcmp(name, "count", n) != 0) {
		counter = fact_find_counter(p, name, n);
		counter = counter <= 0 ? numbered(name, n, "counter", FACT_MAX_COUNTERS) : counter;
		counter = counter <= 0 ? user_fact(p, true, name, n) : counter;
		if (counter <= 0)
			return false;
	}
	ret->vector.counter = (uint32_t)counter;
	return !ret->measured || counter;
}

bool dcpi_pm_parse(struct profile *p, const char *name, const char *counter, struct dcpi_pm *ret)
{
	const bool is_dcpi = counter[1] >= '0' && counter[1] <= '3';
	const char *at = is_dcpi ? NULL : strrchr(name, '@');
	struct dcpi_pm c = {0};

	if (!is_dcpi && !at)
		return false;
	c.event = is_dcpi ? modes[counter[1] - '0'].event : name;
	c.n_event = is_dcpi ? strlen(c.event) : (size_t)(at - name);
	if (!parse_set(p, at ? at + 1 : name, is_dcpi, &c.vector) ||
	    !parse_counter(p, counter + 1 + is_dcpi, &c))
		return false;
	*ret = c;
	return true;
}
