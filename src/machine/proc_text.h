/* SPDX-License-Identifier: BSD-2-Clause */
/* The words of /proc, of which a user chooses some: names of files, of programs and of cgroups.
 * The texts are the kernel's and end with a NUL; parsers cut them in place. */
#ifndef MACHINE_PROC_TEXT_H
#define MACHINE_PROC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/procfs.h"

/* Calls FN for each executable mapping in the whole lines of TEXT, N bytes of /proc/PID/maps, which
 * need no NUL.  Returns the number of bytes that these lines have. */
size_t proc_text_each_map(char *text, size_t n, void (*fn)(void *ctx, const struct procfs_map *m),
			  void *ctx);

/* The value of "KEY:\tVALUE\n" in TEXT, /proc/PID/status; it goes on behind its line.  NULL. */
char *proc_text_value(char *text, const char *key);

/* The name of a program as its Name: line has it: a newline is "\n" there, a backslash "\\". */
void proc_text_unescape(char *s);

/* Parent and time of birth, in ticks, in TEXT, /proc/PID/stat. */
bool proc_text_birth(const char *text, uint32_t *ret_parent, uint64_t *ret_start_ticks);

/* CPU time used, in ticks, in TEXT, /proc/PID/stat. */
bool proc_text_cpu_ticks(const char *text, uint64_t *ret);

/* The cgroup that procfs_cgroup tells, in TEXT, /proc/PID/cgroup. */
const char *proc_text_cgroup(char *text);

#endif
