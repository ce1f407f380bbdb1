/* SPDX-License-Identifier: BSD-2-Clause */
/* What people type for procedures of C, C++ and Rust. */
#include "resolve/proc_name.h"
#include "t.h"

TEST(last_parts_are_names)
{
	static const struct {
		const char *have, *wanted;
		bool means;
	} cases[] = {
		{"spmv", "spmv", true},
		{"spmv", "mv", false},
		{"bench::spmv", "spmv", true},
		{"bench::spmv::h0123456789abcdef", "spmv", true},
		{"bench::spmv::h0123456789abcdef", "bench::spmv", true},
		{"bench::spmv", "other::spmv", false},
		{"void ns::Table<int>::insert<char>(char) const", "insert", true},
		{"void ns::Table<int>::insert<char>(char) const", "Table::insert", true},
		{"void ns::Table<int>::insert<char>(char) const", "Table<int>::insert", true},
		{"void ns::Table<int>::insert<char>(char) const", "Table<long>::insert", false},
		{"void ns::Table<int>::insert<char>(char) const", "insert<char>", true},
		{"void ns::Table<int>::insert<char>(char) const", "Table", false},
		{"ns::Table<std::pair<int, char> >::insert(std::pair<int, char>)", "insert", true},
		{"std::vector<int, std::allocator<int> >::operator[](unsigned long)", "operator[]",
		 true},
		{"ns::operator<<(std::ostream&, ns::T const&)", "operator<<", true},
		{"ns::F::operator()(int) const", "operator()", true},
		{"ns::F::operator()(int) const", "F::operator()", true},
		{"(anonymous namespace)::words(char const*)", "words", true},
		{"(anonymous namespace)::words(char const*)", "(anonymous namespace)::words", true},
		{"words(char const*)", "words", true},
		{"ns::words(char const*)", "words(char const*)", true},
		{"ns::words(char const*)", "words(int)", false},
		{"count(int)::{lambda(int)#1}::operator()(int) const", "operator()", true},
		{"<bench::Csr as bench::Matrix>::spmv", "spmv", true},
		{"<bench::Csr as bench::Matrix>::spmv", "Csr::spmv", true},
		{"<bench::Csr as bench::Matrix>::spmv", "bench::Csr::spmv", true},
		{"<bench::Csr<T> as bench::Matrix>::spmv", "Csr::spmv", true},
		{"<bench::Csr as bench::Matrix>::spmv", "Matrix::spmv", false},
		{"<[T]>::iter", "iter", true},
		{"r::work::<r::main::{closure#0}>", "work", true},
		{"r::work::<r::main::{closure#0}>", "r::work", true},
		{"r::work::<r::main::{closure#0}>", "main", false},
		{"<a::B<u8>>::add::<u64>", "B::add", true},
		{"core::iter::<impl a::T for b::U>::next", "next", true},
		{"bench::main::{closure#0}", "{closure#0}", true},
		{"bench::main::{closure#0}", "main", false},
		{"spmv.constprop.0", "spmv", true},
		{"spmv.constprop.0", "spm", false},
		{"spmv(int) [clone .cold]", "spmv", true},
		{"ns::Table::~Table()", "~Table", true},
		{"auto f<int>(int)", "f", true},
		{"main.main", "main.main", true},
		{"main.main", "main.other", false},
		{"java.lang.String.hashCode()", "hashCode", true},
		{"java.lang.String.hashCode()", "String.hashCode", true},
		{"Ljava/lang/String;::hashCode", "hashCode", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		EXPECT_STR(proc_name_means(cases[i].have, cases[i].wanted) ? cases[i].wanted : "",
			   cases[i].means ? cases[i].wanted : "");
}

TEST(odd_names_end)
{
	static const char *const odd[] = {
		"",    "::",	   "<",	    ">", "<>",	   "((((", "a::", "a<", "a(b:", "->",
		"a->", "operator", "{{{::", " ", "<a as ", "a [",  ".",	  "a.", "::::"};

	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		for (size_t j = 0; j < sizeof(odd) / sizeof(*odd); j++)
			proc_name_means(odd[i], odd[j]);
}
