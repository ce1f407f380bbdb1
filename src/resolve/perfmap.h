/* SPDX-License-Identifier: BSD-2-Clause */
/* Procedures of generated code, from the map files JIT compilers write for perf. */
#ifndef RESOLVE_PERFMAP_H
#define RESOLVE_PERFMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "resolve/symtab.h"

struct perfmap_entry {
	uint64_t start, end; /* run-time addresses; end > start */
	const char *name;    /* in the line, without NUL */
	uint32_t n_name;
};

/* Reads one line, from LINE to its end EOL; false when it is malformed. */
bool perfmap_parse_line(const char *line, const char *eol, struct perfmap_entry *ret);

/* Makes a symtab (addresses are run-time addresses) of the N bytes of a perf map: lines
 * "START SIZE NAME", numbers in hex, the name up to the end of the line.  Malformed lines are left
 * out; where entries overlap the later one counts, because code memory is used again. */
void perfmap_parse(const char *text, size_t n, struct symtab *ret);

/* Reads the map of process PID as it wrote it: /tmp/perf-N.map in its root directory, N being its
 * pid in its innermost namespace.  PROC_DIR is normally /proc.  -ENOENT when it has none; -EPERM
 * when the file belongs to neither the process's user nor root, or is no plain file. */
int perfmap_load(const char *proc_dir, pid_t pid, struct symtab *ret, struct err *err);

/* Reads a map that is open at FD, a plain file. */
int perfmap_read(int fd, struct symtab *ret, struct err *err);

#endif
