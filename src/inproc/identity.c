/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of the C library that change the identity of a process, with the helper thread out of
 * the way.
 *
 * The kernel knows the identity of threads only.  So the C library makes each thread do what the
 * caller did (nptl/nptl_setxid.c), and aborts the program when one of them is told something else.
 * A program may change the capabilities of its own thread first, by a system call that the C
 * library knows nothing of: setpriv --reuid keeps them over setresuid(2) with PR_SET_KEEPCAPS.  It
 * may then call setresgid(2), and our thread may not.  So there is no such thread during the
 * call.  The one that is started behind it has the caller's identity and rights, for threads
 * inherit those.
 *
 * In the static libraries each is called __wrap_NAME, for programs linked with --wrap=NAME as
 * pkg-config --static says. */
#ifndef DWELL_STATIC
#include <dlfcn.h>
#endif
#include <grp.h>
#include <unistd.h>

#include "inproc/drain.h"
#include "inproc/export.h"

/* REAL(fn) is the C library's; NAMED(own, fn) gives OWN the name that calls of FN go to. */
#ifdef DWELL_STATIC
#define REAL(fn)	 __real_##fn
#define NAMED(own, fn)	 EXPORT_AS(own, __wrap_##fn)
#define DECLARE_REAL(fn) __typeof__(fn) __real_##fn __attribute__((weak)); /* without --wrap */
#else
#define REAL(fn)       ((__typeof__(fn) *)dlsym(RTLD_NEXT, #fn))
#define NAMED(own, fn) EXPORT_AS(own, fn)
#define DECLARE_REAL(fn)
#endif

/* The C library's FN, called with ARGUMENTS. */
#define WITHOUT_HELPER(fn, ...)                                                                    \
	do {                                                                                       \
		bool held = drain_hold_helper();                                                   \
		int r = REAL(fn)(__VA_ARGS__);                                                     \
		if (held)                                                                          \
			drain_let_helper_go();                                                     \
		return r;                                                                          \
	} while (0)

#define STAND_IN(fn, type_a)                                                                       \
	DECLARE_REAL(fn)                                                                           \
	int inproc_##fn(type_a a) NAMED(inproc_##fn, fn);                                          \
	int inproc_##fn(type_a a)                                                                  \
	{                                                                                          \
		WITHOUT_HELPER(fn, a);                                                             \
	}
#define STAND_IN_2(fn, type_a, type_b)                                                             \
	DECLARE_REAL(fn)                                                                           \
	int inproc_##fn(type_a a, type_b b) NAMED(inproc_##fn, fn);                                \
	int inproc_##fn(type_a a, type_b b)                                                        \
	{                                                                                          \
		WITHOUT_HELPER(fn, a, b);                                                          \
	}
#define STAND_IN_3(fn, type_a, type_b, type_c)                                                     \
	DECLARE_REAL(fn)                                                                           \
	int inproc_##fn(type_a a, type_b b, type_c c) NAMED(inproc_##fn, fn);                      \
	int inproc_##fn(type_a a, type_b b, type_c c)                                              \
	{                                                                                          \
		WITHOUT_HELPER(fn, a, b, c);                                                       \
	}

STAND_IN(setuid, uid_t)
STAND_IN(setgid, gid_t)
STAND_IN(seteuid, uid_t)
STAND_IN(setegid, gid_t)
STAND_IN_2(setreuid, uid_t, uid_t)
STAND_IN_2(setregid, gid_t, gid_t)
STAND_IN_2(setgroups, size_t, const gid_t *)
STAND_IN_3(setresuid, uid_t, uid_t, uid_t)
STAND_IN_3(setresgid, gid_t, gid_t, gid_t)
#ifndef DWELL_STATIC /* it would draw name services into static programs */
STAND_IN_2(initgroups, const char *, gid_t)
#endif
