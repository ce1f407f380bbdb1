/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/text.h"
#include "base/text_name.h"
#include "base/vec.h"
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

TEST(text_of_a_line_has_no_control_characters)
{
	struct str s = {0};

	text_add_line(&s, "a\nb\r\x1b[2J\x7f\xc2\x9b"
			  "c\xc2\x80\xc2\xa0\xc3\xa9\xc2");
	EXPECT_STR(str_get(&s), "a?b??[2J??"
				"c?\xc2\xa0\xc3\xa9\xc2");
	EXPECT_EQ(text_control("\n"), 1);
	EXPECT_EQ(text_control("\xc2\x9f"), 2);
	EXPECT_EQ(text_control(""), 0);
	str_release(&s);
}

TEST(text_show_names_of_any_language)
{
	EXPECT_STR(show("\xe6\xbc\xa2\xe5\xad\x97"),
		   "\xe6\xbc\xa2\xe5\xad\x97"); /* two CJK letters */
	EXPECT_EQ(text_width("\xe6\xbc\xa2\xe5\xad\x97.so"), 7);
	EXPECT_EQ(text_width("\xef\xbc\xa1"), 2);     /* fullwidth A */
	EXPECT_EQ(text_width("\xf0\x9f\x98\x80"), 2); /* an emoji */
	EXPECT_EQ(text_width("e\xcc\x81"), 1);	      /* e and a combining acute */
	EXPECT_EQ(text_width("\xd7\xa9\xd7\x9c"), 2); /* Hebrew */
	EXPECT_STR(show("\xe2\x80\x8f"
			"x"),
		   "\\u{200f}x"); /* right-to-left mark */
	EXPECT_STR(show("a\xe2\x80\x8b"
			"b"),
		   "a\\u{200b}b"); /* zero width space */
	EXPECT_STR(show("\xef\xbb\xbf"
			"x"),
		   "\\u{feff}x");
	EXPECT_STR(show("\xe2\x80\xa8"), "\\u{2028}"); /* line separator */
	/* A mark with no letter before it, and the third of a letter. */
	EXPECT_STR(show("\xcc\x81"
			"x"),
		   "\\u{301}x");
	EXPECT_STR(show("e\xcc\x81\xcc\x81\xcc\x81"), "e\xcc\x81\xcc\x81\\u{301}");
}

static const char *short_name(const char *s)
{
	static struct str out;

	str_reset(&out);
	text_add_short_name(&out, s);
	return str_get(&out);
}

TEST(names_are_shortened)
{
	static const struct {
		const char *name, *is;
	} t[] = {
		{"main", "main"},
		{"main()", "main()"},
		{"std::vector<int, std::allocator<int> >::push_back(int const&)",
		 "std::vector<...>::push_back(...)"},
		{"ostream& operator<< (ostream&, char const*)", "ostream& operator<< (...)"},
		{"x::operator()(int, int)", "x::operator()(...)"},
		{"bool operator< <int>(a<int> const&, a<int> const&)", "operator< <...>(...)"},
		{"unsigned long ns::count<char, int>(char const*)", "ns::count<...>(...)"},
		{"std::enable_if<(a)1, int>::type ns::f<int>(int) const [clone .cold]",
		 "ns::f<...>(...) const [clone .cold]"},
		{"void std::sort<int*, f()::{lambda(int, int)#1}>(int*, int*)",
		 "std::sort<...>(...)"},
		{"int (anonymous namespace)::f<int>(char)", "(anonymous namespace)::f<...>(...)"},
		{"auto a::run() const::{lambda(auto:1)#1}::operator()<int>(int) const",
		 "auto a::run() const::{lambda(...)#1}::operator()<...>(...) const"},
		{"a::operator unsigned long<int>()", "a::operator unsigned long<...>()"},
		{"non-virtual thunk to a<int>::f(int)", "non-virtual thunk to a<...>::f(...)"},
		{"my_operator x<int>(int)", "x<...>(...)"},
		{"p<int>::operator->() const", "p<...>::operator->() const"},
		{"(anonymous namespace)::run(char**)::{lambda(int)#1}::operator()(int) const",
		 "(anonymous namespace)::run(...)::{lambda(...)#1}::operator()(...) const"},
		{"core::ptr::drop_in_place<alloc::string::String>::h0123456789abcdef",
		 "core::ptr::drop_in_place<...>"},
		{"<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop::hfedcba9876543210",
		 "<alloc::vec::Vec<...> as core::ops::drop::Drop>::drop"},
		{"core::iter::traits::iterator::Iterator::map::h1",
		 "core::iter::traits::iterator::Iterator::map::h1"},
		{"r::work::<r::main::{closure#0}>", "r::work::<...>"},
		{"<a::B<u8>>::add::<u64, &str>::{closure#1}",
		 "<a::B<...>>::add::<...>::{closure#1}"},
		{"core::iter::<impl a::T for b::U>::next",
		 "core::iter::<impl a::T for b::U>::next"},
		{"f(int)::<lambda(char)>", "f(...)::<lambda(...)>"},
		{"main.(*server).serve", "main.(*server).serve"},
		{"main.map[go.shape.int]", "main.map[go.shape.int]"},
		{"void (*pick<int>(int))(char)", "void (*pick<...>(...))(...)"},
		{"f(", "f("},
		{"a<b", "a<b"},
		{"a>b)", "a>b)"},
		{"f(a>b)", "f(a>b)"},
		{"<script>", "<script>"},
		{"sorter.<locals>.<listcomp>", "sorter.<locals>.<listcomp>"},
		{"", ""},
	};

	for (size_t i = 0; i < n_elems(t); i++)
		EXPECT_STR(short_name(t[i].name), t[i].is);
}

TEST(text_cut_names)
{
	EXPECT_STR(cut("std::vector<...>::push_back(...)", TEXT_NAME, 20), "std::vector<...>:...");
	EXPECT_STR(cut("a_long_plain_c_name", TEXT_NAME, 10), "a_long_...");
	EXPECT_STR(cut("short", TEXT_NAME, 5), "short");
}

TEST(text_cut_others)
{
	EXPECT_STR(cut("/usr/lib/libc.so.6", TEXT_PATH, 12), "...libc.so.6");
	EXPECT_STR(cut("for (int i = 0;", TEXT_END, 8), "for (...");
	EXPECT_STR(cut("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", TEXT_END, 4), "\xc3\xa9...");
	EXPECT_STR(cut("whole", TEXT_WHOLE, 1), "whole");
	/* Half a wide letter is none. */
	EXPECT_STR(cut("\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", TEXT_END, 4), "...");
	EXPECT_STR(cut("\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", TEXT_END, 5), "\xe6\xbc\xa2...");
	EXPECT_STR(cut("\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", TEXT_PATH, 4), "...");
	EXPECT_STR(cut("\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", TEXT_PATH, 5), "...\xe6\xbc\xa2");
	/* A mark goes with its letter. */
	EXPECT_STR(cut("abcde\xcc\x81xyz", TEXT_PATH, 6), "...xyz");
	EXPECT_STR(cut("abe\xcc\x81xyz", TEXT_END, 5), "ab...");
}

static const char *fold(const char *s, size_t width, size_t indent)
{
	static struct str out;

	str_reset(&out);
	text_fold(&out, s, width, indent);
	return str_get(&out);
}

TEST(lines_are_folded)
{
	EXPECT_STR(fold("short\n\n", 20, 2), "short\n\n");
	EXPECT_STR(fold("one two three four five six", 20, 2), "one two three four\n  five six");
	EXPECT_STR(fold("  one two three four five\nsix\n", 20, 2),
		   "  one two three four\n    five\nsix\n");
	EXPECT_STR(fold("aaaaaaaaaaaaaaaaaaaaaaaaa b", 20, 2), "aaaaaaaaaaaaaaaaaaaa\n  aaaaa b");
	EXPECT_STR(fold("  aaaaaaaaaaaaaaaaaaaaaaaaa", 20, 0), "  aaaaaaaaaaaaaaaaaa\n  aaaaaaa");
	EXPECT_STR(fold("", 20, 2), "");
}
