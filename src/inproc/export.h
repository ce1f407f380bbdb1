/* SPDX-License-Identifier: BSD-2-Clause */
/* Names that take the place of the C library's.
 *
 * Defined as `inproc_NAME` so that what the C library's headers say of NAME (that an argument is
 * never NULL, for instance) is not believed here.  In the shared libraries NAME carries the
 * versions the C library's own has, or programs that were linked with that one would not find ours.
 */
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

#ifdef DWELL_STATIC
#define EXPORT_AS(name) __asm__(#name) EXPORT
#else
#define EXPORT_AS(name) EXPORT __attribute__((symver(#name "@@" OLDEST)))
#endif

#endif
