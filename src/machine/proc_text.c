/* SPDX-License-Identifier: BSD-2-Clause */
/* See proc_text.h. */
#include "machine/proc_text.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

/* The kernel prints a newline in a name as \012, and nothing else specially (seq_file_path with
 * "\n"). */
static void unescape_path(char *s)
{
	char *to = s;

	while (*s) {
		if (strncmp(s, "\\012", 4) == 0) {
			*to++ = '\n';
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

/* One line of /proc/PID/maps, NUL-terminated: "start-end perms off maj:min inode   path". */
static bool parse_map(char *line, struct procfs_map *ret)
{
	unsigned long long start, end, off, ino;
	unsigned maj, min;
	char perms[5];
	int at = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, perms, &off, &maj, &min,
		   &ino, &at) < 7 ||
	    !at)
		return false;
	unescape_path(line + at);
	*ret = (struct procfs_map){.start = start,
				   .end = end,
				   .off = off,
				   .ino = ino,
				   .dev = (uint64_t)maj << 32 | min,
				   .path = line + at};
	return perms[2] == 'x';
}

/* The permissions stand after the first space; most lines are not executable
 * and need no parsing. */
static bool looks_executable(const char *line)
{
	const char *space = strchr(line, ' ');

	return space && strnlen(space, 5) == 5 && space[3] == 'x';
}

size_t proc_text_each_map(char *text, size_t n, void (*fn)(void *ctx, const struct procfs_map *m),
			  void *ctx)
{
	char *line = text, *end;

	while ((end = memchr(line, '\n', n - (size_t)(line - text)))) {
		struct procfs_map m;

		*end = '\0';
		if (looks_executable(line) && parse_map(line, &m))
			fn(ctx, &m);
		line = end + 1;
	}
	return (size_t)(line - text);
}

char *proc_text_value(char *text, const char *key)
{
	size_t n = strlen(key);

	for (char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, n) == 0 && line[n] == ':') {
			char *v = line + n + 1;

			return v + strspn(v, "\t ");
		}
	}
	return NULL;
}

/* fs/proc/array.c, proc_task_name. */
void proc_text_unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (*s == '\\' && s[1])
			*to++ = *++s == 'n' ? '\n' : *s;
		else
			*to++ = *s;
	}
	*to = '\0';
}

/* proc(5), /proc/PID/stat: the name is in parentheses and may have any others in it; the 4th field
 * is the parent, the 22nd the start. */
bool proc_text_birth(const char *text, uint32_t *ret_parent, uint64_t *ret_start_ticks)
{
	const char *at = strrchr(text, ')');
	unsigned long long start;
	unsigned parent;

	if (!at || sscanf(at + 1,
			  " %*c %u %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
			  "%*d %llu",
			  &parent, &start) != 2)
		return false;
	*ret_parent = parent;
	*ret_start_ticks = start;
	return true;
}

bool proc_text_cpu_ticks(const char *text, uint64_t *ret)
{
	const char *at = strrchr(text, ')');
	unsigned long long user, system;

	/* proc(5), /proc/PID/stat: fields 14 and 15 are utime and stime. */
	if (!at || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
			  &system) != 2)
		return false;
	*ret = user + system;
	return true;
}

const char *proc_text_cgroup(char *text)
{
	const char *v1 = NULL, *v2 = NULL;

	for (char *line = text, *next; line && *line; line = next) {
		char *colon = strchr(line, ':'), *at; /* "hierarchy:controllers:path", cgroups(7) */

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		at = colon ? strchr(colon + 1, ':') : NULL;
		if (!at || strcmp(at + 1, "/") == 0)
			continue;
		if (str_starts(line, "0::"))
			v2 = at + 1;
		else if (!v1)
			v1 = at + 1;
	}
	return v2 ? v2 : v1 ? v1 : "/";
}
