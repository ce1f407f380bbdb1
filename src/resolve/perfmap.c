/* SPDX-License-Identifier: BSD-2-Clause */
/* See perfmap.h; the form is that of Linux, tools/perf/Documentation/jit-interface.txt.
 *
 * Overlaps are settled by a sweep over addresses with a heap of the entries that are open, latest
 * line on top: what is on top has the addresses up to its end or the next entry's start. */
#include "resolve/perfmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/root_file.h"
#include "base/str.h"

#define MAX_MAP (512u << 20)

struct jit_entry {
	struct perfmap_entry e;
	uint32_t line;
	uint32_t named; /* where its name is in the symtab, and 1; 0: nowhere yet */
};

typedef VEC(struct jit_entry) jit_list;

static bool parse_hex(const char **p, const char *end, uint64_t *ret)
{
	const char *s = *p;
	uint64_t v = 0;
	int digits = 0;

	if (end - s > 2 && s[0] == '0' && (s[1] | 32) == 'x')
		s += 2;
	for (; s < end && digits <= 16; s++, digits++) {
		char c = *s;
		int d = c >= '0' && c <= '9'		     ? c - '0'
			: (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
							     : -1;

		if (d < 0)
			break;
		v = v << 4 | (unsigned)d;
	}
	*p = s;
	*ret = v;
	return digits > 0 && digits <= 16;
}

bool perfmap_parse_line(const char *line, const char *eol, struct perfmap_entry *ret)
{
	struct perfmap_entry e;
	const char *s = line;
	uint64_t size;

	if (!parse_hex(&s, eol, &e.start) || s == eol || *s++ != ' ' ||
	    !parse_hex(&s, eol, &size) || s == eol || *s++ != ' ')
		return false;
	while (s < eol && *s == ' ')
		s++;
	while (eol > s && (eol[-1] == '\r' || eol[-1] == ' '))
		eol--;
	e.name = s;
	e.n_name = eol - s > 32768 ? 32768 : (uint32_t)(eol - s);
	e.end = e.start + size;
	if (!e.n_name || e.end <= e.start || memchr(s, '\0', e.n_name))
		return false;
	*ret = e;
	return true;
}

static int by_start(const void *x, const void *y)
{
	const struct jit_entry *a = x, *b = y;

	if (a->e.start != b->e.start)
		return a->e.start < b->e.start ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static void heap_push(jit_list *h, struct jit_entry e)
{
	size_t i = h->n;

	vec_push(h, e);
	for (; i && h->v[(i - 1) / 2].line < e.line; i = (i - 1) / 2)
		h->v[i] = h->v[(i - 1) / 2];
	h->v[i] = e;
}

static void heap_pop(jit_list *h)
{
	struct jit_entry e = h->v[--h->n];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < h->n) {
		if (child + 1 < h->n && h->v[child + 1].line > h->v[child].line)
			child++;
		if (h->v[child].line <= e.line)
			break;
		h->v[i] = h->v[child];
		i = child;
	}
	h->v[i] = e;
}

/* Gives out the addresses from AT up to LIMIT. */
static void perfmap_sweep(jit_list *heap, uint64_t at, uint64_t limit, struct symtab_builder *b)
{
	while (heap->n && at < limit) {
		struct jit_entry top = heap->v[0];
		struct symbol_name name;
		uint64_t end = top.e.end < limit ? top.e.end : limit;

		if (top.e.end <= at) {
			heap_pop(heap);
			continue;
		}
		if (top.named) {
			name = (struct symbol_name){top.named - 1, top.e.n_name};
		} else {
			if (!symtab_builder_name(b, top.e.name, top.e.n_name, &name))
				return;
			heap->v[0].named = name.off + 1;
		}
		symtab_builder_add_named(b, at, end - at, &name, 0);
		at = end;
	}
}

void perfmap_parse(const char *text, size_t n, struct symtab *ret)
{
	struct symtab_builder b = {0};
	jit_list entries = {0}, heap = {0};
	const char *end = text + n;
	uint32_t line = 0;

	for (const char *p = text, *eol; p < end; p = eol + 1, line++) {
		struct jit_entry e = {.line = line};

		eol = memchr(p, '\n', (size_t)(end - p));
		if (!eol)
			eol = end; /* the last line may still be being written, or not: take it */
		if (perfmap_parse_line(p, eol, &e.e))
			vec_push(&entries, e);
		if (eol == end)
			break;
	}
	vec_sort(&entries, by_start);
	for (size_t i = 0; i < entries.n; i++) {
		heap_push(&heap, entries.v[i]);
		perfmap_sweep(&heap, entries.v[i].e.start,
			      i + 1 < entries.n ? entries.v[i + 1].e.start : UINT64_MAX, &b);
	}
	symtab_builder_finish(&b, ret);
	vec_release(&entries);
	vec_release(&heap);
}

/* PID's number in its innermost namespace: the last of NSpid in proc_pid_status(5). */
static pid_t inner_pid(const char *proc_dir, pid_t pid)
{
	_mem_ char *path = xasprintf("%s/%d/status", proc_dir, (int)pid);
	_mem_ char *text = NULL;
	char *at, *number;
	long inner;

	if (file_load(path, 1 << 20, &text, NULL, NULL) < 0)
		return pid;
	at = strstr(text, "\nNSpid:");
	if (!at)
		return pid;
	at += 7;
	at[strcspn(at, "\n")] = '\0';
	number = strrchr(at, '\t');
	inner = number ? strtol(number + 1, NULL, 10) : 0;
	return inner > 0 ? (pid_t)inner : pid;
}

int perfmap_load(const char *proc_dir, pid_t pid, struct symtab *ret, struct err *err)
{
	_mem_ char *process = xasprintf("%s/%d", proc_dir, (int)pid);
	_mem_ char *root = xasprintf("%s/root", process);
	_mem_ char *path = xasprintf("/tmp/perf-%d.map", (int)inner_pid(proc_dir, pid));
	_fd_ int fd = root_file_open(root, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	struct stat file, owner;

	if (fd < 0)
		return err_errno(err, fd, "%s%s", root, path);
	if (fstat(fd, &file) < 0 || stat(process, &owner) < 0)
		return err_errno(err, -errno, "%s", path);
	if (!S_ISREG(file.st_mode) || (file.st_uid != owner.st_uid && file.st_uid != 0))
		return err_set(err, -EPERM, "%s: not a plain file of the process's user", path);
	return perfmap_read(fd, ret, err);
}

int perfmap_read(int fd, struct symtab *ret, struct err *err)
{
	_mem_ char *text = NULL;
	struct stat file;
	size_t n = 0;

	if (fstat(fd, &file) < 0)
		return err_errno(err, -errno, "perf map");
	if (file.st_size > MAX_MAP)
		return err_set(err, -E2BIG, "perf map: larger than %u bytes", MAX_MAP);
	/* Read, not mapped: the process may truncate it at any time. */
	text = xmalloc((size_t)file.st_size + 1);
	while (n < (size_t)file.st_size) {
		ssize_t k = pread(fd, text + n, (size_t)file.st_size - n, (off_t)n);

		if (k <= 0)
			break;
		n += (size_t)k;
	}
	perfmap_parse(text, n, ret);
	return 0;
}
