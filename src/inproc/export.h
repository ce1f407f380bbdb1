/* SPDX-License-Identifier: BSD-2-Clause */
/* Names that take the place of the C library's.
 *
 * Defined as `inproc_NAME` so that what the C library's headers say of NAME (that an argument is
 * never NULL, for instance) is not believed here.  In the shared libraries NAME carries the
 * versions that the C library's own has: programs linked with that one find ours by them. */
#ifndef INPROC_EXPORT_H
#define INPROC_EXPORT_H

#define EXPORT __attribute__((visibility("default")))

/* The version of the C library's oldest symbols: sysdeps/unix/sysv/linux/ARCH/shlib-versions. */
#if defined(__x86_64__)
#define OLDEST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define OLDEST "GLIBC_2.17"
#else
#error "which version has the C library's sprofil?"
#endif

/* EXPORT_AS(own, name) follows the declaration of own, which becomes NAME.  clang has no attribute
 * for versions and would silently leave NAME out, so it gets the assembler's directive. */
#if defined(DWELL_STATIC)
#define EXPORT_AS(own, name) __asm__(#name) EXPORT
#elif __has_attribute(symver)
#define EXPORT_VERSION(own, version) EXPORT __attribute__((symver(version)))
#else
#define EXPORT_VERSION(own, version)                                                               \
	EXPORT;                                                                                    \
	__asm__(".symver " #own ", " version)
#endif
#ifndef DWELL_STATIC
#define EXPORT_AS(own, name) EXPORT_VERSION(own, #name "@@" OLDEST)
#endif

#endif
