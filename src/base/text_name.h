/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of procedures as people want to read them. */
#ifndef BASE_TEXT_NAME_H
#define BASE_TEXT_NAME_H

#include <stdbool.h>

#include "base/str.h"

/* Appends NAME without what says least: arguments and what templates are made with become "...",
 * the hash behind a Rust path goes, and so does the type that a template's function returns.
 *
 *     std::vector<int, std::allocator<int>>::push_back(int const&)
 *                                                         std::vector<...>::push_back(...)
 *     unsigned long ns::count<char, int>(char const*)     ns::count<...>(...)
 *     <alloc::vec::Vec<T> as core::ops::Drop>::drop::h0123456789abcdef <alloc::vec::Vec<...> as
 *                                                                       core::ops::Drop>::drop
 *     main.(*server).serve, (anonymous namespace)::f(), operator()(int)   main.(*server).serve,
 *                                                  (anonymous namespace)::f(), operator()(...)
 *
 * A name whose brackets do not match stays as it is. */
void text_add_short_name(struct str *out, const char *name);

/* Tells whether text_add_short_name leaves NAME as it is, for most names without brackets. */
bool text_name_is_short(const char *name);

/* Whether the < at S, within NAME, begins arguments that Rust writes behind "::", as in "f::<u8>".
 * "<impl T for U>", "<lambda(int)>" and "<unnamed struct>" are parts of a path. */
bool text_name_has_turbofish(const char *name, const char *s);

#endif
