/* SPDX-License-Identifier: BSD-2-Clause */
/* dcpicat's text: what is printed parses back, and damage is named by line. */
#include "formats/dcpi_text.h"

#include <errno.h>

#include "t.h"

/* The layout is that of the example in dcpicat(1). */
static const char sample[] = "name                 xemacs\n"
			     "image                19970328081403c0c18b\n"
			     "label                foo\n"
			     "path                 /usr/local/bin/xemacs\n"
			     "path                 /usr/bin/xemacs\n"
			     "epoch                199805191724\n"
			     "platform             walnut\n"
			     "text_start           0x000120000000\n"
			     "text_size            0x000000800000\n"
			     "event                39 cycles:63488:10000\n"
			     "event                27 retired^!mispredict:m1retdelay:4096:5000\n"
			     "0x00012006cbb8      29      27\n"
			     "0x00012006cbd0      10       0\n";

TEST(the_manual_s_layout_is_read_and_printed)
{
	struct dcpi_text_reader r = dcpi_text_begin(sample, strlen(sample));
	struct dcpi_text t, none;
	struct err err = {""};
	struct str s = {0};

	EXPECT(dcpi_text_probe(sample, strlen(sample)));
	REQUIRE(dcpi_text_next(&r, &t, &err) == 1);
	EXPECT_EQ(dcpi_text_next(&r, &none, &err), 0);
	EXPECT_STR(t.name, "xemacs");
	EXPECT_STR(t.label, "foo");
	EXPECT_EQ(t.paths.n, 2);
	EXPECT_EQ(t.text_start, 0x120000000);
	EXPECT_EQ(t.text_bytes, 0x800000);
	EXPECT_STR(t.events.v[1].name, "retired^!mispredict");
	EXPECT_STR(t.events.v[1].counter, "m1retdelay");
	EXPECT_EQ(t.events.v[1].duty, 5000);
	EXPECT(!t.events.v[0].counter);
	EXPECT_EQ(t.counts.v[1], 27);
	dcpi_text_format(&t, &s);
	EXPECT_STR(s.v, sample);
	str_release(&s);
	dcpi_text_release(&t);
}

TEST(a_colon_in_an_event_name_is_no_counter)
{
	char text[sizeof(sample) + 16];
	struct dcpi_text_reader r;
	struct dcpi_text t;
	char *at;

	strcpy(text, sample);
	at = strstr(text, "cycles:");
	memmove(at + 8, at + 6, strlen(at + 6) + 1);
	memcpy(at, "cycles:u", 8);
	r = dcpi_text_begin(text, strlen(text));
	REQUIRE(dcpi_text_next(&r, &t, NULL) == 1);
	EXPECT_STR(t.events.v[0].name, "cycles:u");
	EXPECT_EQ(t.events.v[0].period, 63488);
	EXPECT(!t.events.v[0].counter);
	dcpi_text_release(&t);
}

/* SAMPLE with the first FROM replaced by TO must fail with a message that has PART. */
static void check_bad(const char *from, const char *to, const char *part)
{
	struct str s = {0};
	const char *at = strstr(sample, from);
	struct dcpi_text_reader r;
	struct dcpi_text t;
	struct err err = {""};

	str_addn(&s, sample, (size_t)(at - sample));
	str_add(&s, to);
	str_add(&s, at + strlen(from));
	r = dcpi_text_begin(s.v, s.n);
	EXPECT_EQ(dcpi_text_next(&r, &t, &err), -EBADMSG);
	if (!strstr(err.msg, part))
		t_fail_("\"%s\" does not say \"%s\"", err.msg, part);
	EXPECT(!t.pcs.n && !t.events.n);
	str_release(&s);
}

TEST(damage_is_named_by_line)
{
	check_bad("name ", "nome ", "line 1: a profile begins with its name");
	check_bad("platform             walnut\n", "", "has no platform line");
	check_bad("199805191724", "199805191764", "line 6: epoch needs a time");
	check_bad("39 cycles", "38 cycles", "hold 39 samples of cycles, its event line says 38");
	check_bad(":10000", ":10001", "line 10: an event line ends with");
	check_bad("39 cycles", "cycles", "line 10: an event line begins with its total");
	check_bad("29      27", "29", "line 12: column 2 of 2");
	check_bad("29      27", "29  27 1", "line 12: a row has a count for each of the 2 events");
	check_bad("6cbd0", "6cbb8", "line 13: address 0x12006cbb8 is not above");
	check_bad("0x00012006cbd0", "1x0", "line 13: a row begins with an address");
	check_bad("0x00012006cbd0", "0x10000000000000000", "line 13: a row begins with an address");
	check_bad("text_size            0x000000800000", "text_size x",
		  "line 9: text_size needs a number");
	check_bad("image", "platform a\nimage", "line 8: a second platform line");
	check_bad("label                foo", "label", "line 3: not `word value`");
}

static const char *const words[] = {"x",	 "/usr/lib/a b",       "cycles",
				    "cpu-clock", "sched:sched_switch", "retired^notrap",
				    "\xc3\xa9"};

static const char *word(struct t_rng *r)
{
	return words[t_below(r, n_elems(words))];
}

static void generate(struct t_rng *r, struct dcpi_text *t)
{
	uint64_t pc = t_rand(r) >> t_below(r, 64) >> 1;

	*t = (struct dcpi_text){.name = word(r),
				.image = "00ff",
				.epoch = "20261121135900",
				.platform = word(r),
				.text_start = t_rand(r) >> t_below(r, 64),
				.text_bytes = t_rand(r) >> t_below(r, 64)};
	if (t_below(r, 2))
		t->label = word(r);
	for (uint64_t i = t_below(r, 3); i; i--)
		vec_push(&t->paths, word(r));
	for (uint64_t i = 1 + t_below(r, 4); i; i--)
		vec_push(&t->events,
			 (struct dcpi_text_event){.name = word(r),
						  .counter = t_below(r, 2) ? "m0count" : NULL,
						  .period = t_rand(r) >> t_below(r, 64),
						  .duty = (unsigned)t_below(r, 10001)});
	for (uint64_t i = t_below(r, 30); i; i--) {
		vec_push(&t->pcs, pc);
		pc += 1 + t_below(r, 1000);
		for (size_t k = 0; k < t->events.n; k++) {
			uint64_t n = t_rand(r) >> (8 + t_below(r, 56));

			vec_push(&t->counts, n);
			t->events.v[k].total += n;
		}
	}
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same(const struct dcpi_text *a, const struct dcpi_text *b)
{
	bool eq = same_text(a->name, b->name) && same_text(a->image, b->image) &&
		  same_text(a->label, b->label) && same_text(a->epoch, b->epoch) &&
		  same_text(a->platform, b->platform) && a->paths.n == b->paths.n &&
		  a->text_start == b->text_start && a->text_bytes == b->text_bytes &&
		  a->events.n == b->events.n && a->pcs.n == b->pcs.n && a->counts.n == b->counts.n;

	for (size_t i = 0; eq && i < a->paths.n; i++)
		eq = same_text(a->paths.v[i], b->paths.v[i]);
	for (size_t i = 0; eq && i < a->events.n; i++) {
		const struct dcpi_text_event *x = &a->events.v[i], *y = &b->events.v[i];

		eq = same_text(x->name, y->name) && same_text(x->counter, y->counter) &&
		     x->total == y->total && x->period == y->period && x->duty == y->duty;
	}
	return eq && (!a->pcs.n ||
		      (memcmp(a->pcs.v, b->pcs.v, a->pcs.n * sizeof(uint64_t)) == 0 &&
		       memcmp(a->counts.v, b->counts.v, a->counts.n * sizeof(uint64_t)) == 0));
}

TEST(what_is_printed_parses_back)
{
	struct t_rng r = {11};
	unsigned n_cases = t_cases(1000);

	for (unsigned i = 0; i < n_cases; i++) {
		struct dcpi_text a, b, got;
		struct dcpi_text_reader reader;
		struct str s = {0};
		struct err err;

		generate(&r, &a);
		generate(&r, &b);
		dcpi_text_format(&a, &s);
		if (t_below(&r, 2))
			str_add(&s, "\n");
		dcpi_text_format(&b, &s);
		reader = dcpi_text_begin(s.v, s.n);
		if (dcpi_text_next(&reader, &got, &err) != 1)
			t_fail_("%s", err.msg);
		EXPECT(same(&a, &got));
		dcpi_text_release(&got);
		EXPECT_EQ(dcpi_text_next(&reader, &got, &err), 1);
		EXPECT(same(&b, &got));
		dcpi_text_release(&got);
		EXPECT_EQ(dcpi_text_next(&reader, &got, &err), 0);
		str_release(&s);
		dcpi_text_release(&a);
		dcpi_text_release(&b);
	}
}
