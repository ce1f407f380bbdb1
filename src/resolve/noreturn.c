/* SPDX-License-Identifier: BSD-2-Clause */
/* Procedures that never return, by their linked names: what follows a call of them is other code.
 *
 * C: ISO C 7.22.4, POSIX, the C libraries' checks.  C++: the Itanium ABI's exception handling and
 * what libstdc++'s functexcept.h declares.  Rust: core::panicking and the failures of core and
 * alloc.  Go: its runtime's; runtime.morestack comes back, but to the procedure's start, which
 * would otherwise look like a loop around all of it. */
#include "resolve/noreturn.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"

static const char *const names[] = {
	"_Exit",
	"_Unwind_Resume",
	"_ZSt10unexpectedv",
	"_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
	"_ZSt9terminatev",
	"____longjmp_chk",
	"__assert",
	"__assert_fail",
	"__assert_perror_fail",
	"__chk_fail",
	"__clang_call_terminate",
	"__cxa_bad_cast",
	"__cxa_bad_typeid",
	"__cxa_call_terminate",
	"__cxa_call_unexpected",
	"__cxa_deleted_virtual",
	"__cxa_pure_virtual",
	"__cxa_rethrow",
	"__cxa_throw",
	"__cxa_throw_bad_array_new_length",
	"__fortify_fail",
	"__libc_fatal",
	"__libc_longjmp",
	"__libc_siglongjmp",
	"__longjmp",
	"__longjmp_cancel",
	"__longjmp_chk",
	"__rust_start_panic",
	"__stack_chk_fail",
	"__stack_chk_fail_local",
	"_exit",
	"_longjmp",
	"abort",
	"do_exit",
	"err",
	"errx",
	"exit",
	"longjmp",
	"make_task_dead",
	"panic",
	"pthread_exit",
	"quick_exit",
	"runtime.fatalpanic",
	"runtime.fatalthrow",
	"runtime.goexit",
	"runtime.gopanic",
	"runtime.morestack",
	"runtime.morestack_noctxt",
	"runtime.throw",
	"rust_begin_unwind",
	"rust_panic",
	"siglongjmp",
	"thrd_exit",
	"verr",
	"verrx",
};

static int by_name(const void *key, const void *entry)
{
	return strcmp(key, *(const char *const *)entry);
}

static bool is_rust_failure(const char *name)
{
	if (!strstr(name, "4core") && !strstr(name, "5alloc") && !strstr(name, "3std"))
		return false;
	return strstr(name, "4core9panicking") || strstr(name, "13unwrap_failed") ||
	       strstr(name, "13expect_failed") || strstr(name, "_len_fail") ||
	       strstr(name, "_order_fail") || strstr(name, "17capacity_overflow") ||
	       strstr(name, "18handle_alloc_error") || strstr(name, "11begin_panic") ||
	       strstr(name, "20rust_panic_with_hook");
}

bool noreturn_is(const char *name)
{
	char plain[64];
	size_t n;

	if (str_starts(name, "__GI_")) /* the C library's own name for it */
		name += 5;
	n = strcspn(name, "@"); /* @plt, and versions */
	if (n < sizeof(plain)) {
		memcpy(plain, name, n);
		plain[n] = '\0';
		if (bsearch(plain, names, n_elems(names), sizeof(names[0]), by_name))
			return true;
	}
	if (str_starts(name, "_ZSt"))
		return strstr(name, "__throw_");
	if (str_starts(name, "runtime.panic"))
		return true;
	return (str_starts(name, "_ZN") || str_starts(name, "_R")) && is_rust_failure(name);
}
