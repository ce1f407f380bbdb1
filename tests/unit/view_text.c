/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/text.h"
#include "t.h"

static const char *show(const char *s)
{
	static struct str out;

	str_reset(&out);
	EXPECT_EQ(text_show(&out, s), text_width(s));
	return str_get(&out);
}

TEST(text_show_disarms)
{
	EXPECT_STR(show("plain /bin/sh"), "plain /bin/sh");
	EXPECT_STR(show("\033[2Jx\n\t\x7f"), "\\x1b[2Jx\\x0a\\x09\\x7f");
	EXPECT_STR(show("\xc2\x9b"), "\\u{9b}");	 /* C1 CSI */
	EXPECT_STR(show("a\xe2\x80\xae"), "a\\u{202e}"); /* right-to-left override */
	EXPECT_STR(show("caf\xc3\xa9"), "caf\xc3\xa9");
	EXPECT_EQ(text_width("caf\xc3\xa9"), 4);
	EXPECT_STR(show("\xff\xc3"), "\\xff\\xc3");
	EXPECT_STR(show(""), "");
}

static const char *cut(const char *s, enum text_cut how, size_t width)
{
	static struct str out;
	size_t used;

	str_reset(&out);
	used = text_add_cut(&out, s, how, width);
	EXPECT_EQ(used, text_width(str_get(&out)));
	EXPECT(how == TEXT_WHOLE || used <= width);
	return str_get(&out);
}

TEST(text_cut_names)
{
	const char *name = "std::vector<int, std::allocator<int> >::push_back(int const&)";

	EXPECT_STR(cut(name, TEXT_NAME, 100), name);
	EXPECT_STR(cut(name, TEXT_NAME, 54),
		   "std::vector<int, std::allocator<int> >::push_back(...)");
	EXPECT_STR(cut(name, TEXT_NAME, 40), "std::vector<...>::push_back(...)");
	EXPECT_STR(cut(name, TEXT_NAME, 20), "...>::push_back(...)");
	EXPECT_STR(cut("ostream& operator<< (ostream&, char const*)", TEXT_NAME, 30),
		   "ostream& operator<< (...)");
	EXPECT_STR(cut("x::operator()(int, int)", TEXT_NAME, 18), "x::operator()(...)");
	EXPECT_STR(cut("a_long_plain_c_name", TEXT_NAME, 10), "..._c_name");
}

TEST(text_cut_others)
{
	EXPECT_STR(cut("/usr/lib/libc.so.6", TEXT_PATH, 12), "...libc.so.6");
	EXPECT_STR(cut("for (int i = 0;", TEXT_END, 8), "for (...");
	EXPECT_STR(cut("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", TEXT_END, 4), "\xc3\xa9...");
	EXPECT_STR(cut("whole", TEXT_WHOLE, 1), "whole");
}
