/* SPDX-License-Identifier: BSD-2-Clause */
/* What is said over the daemon's socket. */
#include "daemon/control.h"

#include <errno.h>

#include "base/vec.h"
#include "t.h"

static int parse(const char *line, struct control_request *r, struct err *err)
{
	return control_parse_request(line, strlen(line), r, err);
}

TEST(every_request_reads_as_it_was_written)
{
	for (unsigned i = 0; i < CONTROL_N_VERBS; i++) {
		struct control_request r = {.verb = (enum control_verb)i}, got;
		struct str line = {0};
		struct err err;

		if (r.verb == CONTROL_LABEL_ME)
			strcpy(r.label, "a label with blanks, \xc3\xa4");
		r.json = r.verb == CONTROL_STATUS;
		control_format_request(&r, &line);
		EXPECT_EQ(line.v[line.n - 1], '\n');
		EXPECT_EQ(control_parse_request(line.v, line.n - 1, &got, &err), 0);
		EXPECT_EQ(got.verb, r.verb);
		EXPECT_EQ(got.json, r.json);
		EXPECT_STR(got.label, r.label);
		str_release(&line);
	}
}

TEST(what_is_no_request_is_refused)
{
	static const char *const bad[] = {
		"",	      " ",	  "flushh",	  "flus",	    "flush ", " flush",
		"FLUSH",      "status x", "status jsonx", "epoch now",	    "label",  "label ",
		"label a\tb", "quit\r",	  "label a\x7f",  "status\x1b[31m",
	};
	struct control_request r;
	struct err err;

	for (size_t i = 0; i < n_elems(bad); i++) {
		int rc = parse(bad[i], &r, &err);

		/* A verb with a blank behind it has an empty argument, which is none. */
		EXPECT_EQ(rc, strcmp(bad[i], "flush ") == 0 ? 0 : -EINVAL);
		EXPECT(rc == 0 || *err.msg);
	}
	EXPECT_EQ(control_parse_request("flush\0", 6, &r, &err), -EINVAL);
}

TEST(labels_and_lines_have_bounds)
{
	char line[CONTROL_LINE + 8];
	struct control_request r;
	struct err err;

	memset(line, 'x', sizeof(line));
	memcpy(line, "label ", 6);
	EXPECT_EQ(control_parse_request(line, 6 + CONTROL_LABEL, &r, &err), 0);
	EXPECT_EQ(strlen(r.label), CONTROL_LABEL);
	EXPECT_EQ(control_parse_request(line, 7 + CONTROL_LABEL, &r, &err), -EINVAL);
	EXPECT_EQ(control_parse_request(line, CONTROL_LINE, &r, &err), -EINVAL);
}

TEST(answers_come_in_pieces)
{
	struct str all = {0};
	const char *text;
	size_t n_text;
	struct err err;

	control_put_ok(&all, "two\nlines\n", 10);
	for (size_t n = 1; n < all.n; n++)
		EXPECT_EQ(control_parse_answer(all.v, n, &text, &n_text, &err), 0);
	EXPECT_EQ(control_parse_answer(all.v, all.n, &text, &n_text, &err), 1);
	EXPECT_EQ(n_text, 10);
	EXPECT(memcmp(text, "two\nlines\n", 10) == 0);
	str_reset(&all);
	control_put_error(&all, "the disk\nis full");
	EXPECT_EQ(control_parse_answer(all.v, all.n, &text, &n_text, &err), -EREMOTEIO);
	EXPECT_STR(err.msg, "the disk");
	str_release(&all);
}

TEST(what_is_no_answer_is_refused)
{
	static const char *const bad[] = {"\n",
					  "ok\n",
					  "ok \n",
					  "ok -1\n",
					  "ok 1x\n",
					  "ok 99999999\n",
					  "ok 18446744073709551616\n",
					  "yes 1\n",
					  "HTTP/1.1 200 OK\n"};
	char long_line[CONTROL_LINE];
	const char *text;
	size_t n_text;
	struct err err;

	for (size_t i = 0; i < n_elems(bad); i++)
		EXPECT_EQ(control_parse_answer(bad[i], strlen(bad[i]), &text, &n_text, &err),
			  -EBADMSG);
	memset(long_line, 'o', sizeof(long_line));
	EXPECT_EQ(control_parse_answer(long_line, sizeof(long_line), &text, &n_text, &err),
		  -EBADMSG);
}
