/* SPDX-License-Identifier: BSD-2-Clause */
/* See source.h.  A file is kept as one block of cleaned text and the offsets of its lines. */
#include "resolve/source.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/vec.h"

struct file {
	struct source_text public; /* first: source_line gets back from it */
	char *wanted;		   /* the path it was asked for by */
	uid_t named_by;
	char *path, *text;
	uint32_t *starts; /* n_lines + 1 of them: the last is the text's length */
	int code;	  /* 0, or why there is no text */
	struct err err;
};

struct rule {
	char *from, *to;
	size_t n_from;
};

struct sources {
	VEC(struct rule) rules;
	VEC(struct file *) files;
	struct index by_wanted;
};

struct sources *sources_new(void)
{
	return xcalloc(1, sizeof(struct sources));
}

void sources_free(struct sources *s)
{
	if (!s)
		return;
	vec_each (r, &s->rules) {
		free(r->from);
		free(r->to);
	}
	vec_each (f, &s->files) {
		free((*f)->wanted);
		free((*f)->path);
		free((*f)->text);
		free((*f)->starts);
		free(*f);
	}
	vec_release(&s->rules);
	vec_release(&s->files);
	index_release(&s->by_wanted);
	free(s);
}

int sources_map(struct sources *s, const char *rule, struct err *err)
{
	const char *eq = strchr(rule, '=');
	size_t n_from = eq ? (size_t)(eq - rule) : 0;

	if (!eq || eq == rule)
		return err_set(err, -EINVAL, "%s: expected FROM=TO", rule);
	while (n_from > 1 && rule[n_from - 1] == '/')
		n_from--;
	vec_push(&s->rules, (struct rule){.from = xstrndup(rule, n_from),
					  .to = xstrdup(eq + 1),
					  .n_from = n_from});
	return 0;
}

/* Length of the valid UTF-8 sequence at P (Unicode 15, table 3-7), 0 when there is none or it is a
 * control character of the C1 set. */
static size_t utf8_length(const unsigned char *p, size_t n_left)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;

	if (p[0] < 0xc2 || p[0] > 0xf4 || n > n_left)
		return 0;
	if (p[0] == 0xc2 || p[0] == 0xe0)
		low = 0xa0; /* C1 controls; overlong forms */
	else if (p[0] == 0xed)
		high = 0x9f; /* surrogates */
	else if (p[0] == 0xf0)
		low = 0x90;
	else if (p[0] == 0xf4)
		high = 0x8f;
	if (p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if (p[i] < 0x80 || p[i] > 0xbf)
			return 0;
	return n;
}

static void source_clean(char *text, size_t n_bytes)
{
	unsigned char *p = (unsigned char *)text, *end = p + n_bytes;

	while (p < end) {
		size_t n = 1;

		if (*p >= 0x80)
			n = utf8_length(p, (size_t)(end - p));
		else if (*p == '\r' && p + 1 < end && p[1] == '\n')
			n = 2;
		else if ((*p < 0x20 && *p != '\t' && *p != '\n') || *p == 0x7f)
			n = 0;
		if (n == 0)
			*p = '?';
		p += n ? n : 1;
	}
}

/* Finds the lines: each ends behind "\n". */
static void source_split(struct file *f, size_t n_bytes)
{
	VEC(uint32_t) starts = {0};
	size_t at = 0;

	while (at < n_bytes) {
		char *nl = memchr(f->text + at, '\n', n_bytes - at);

		vec_push(&starts, (uint32_t)at);
		at = nl ? (size_t)(nl - f->text) + 1 : n_bytes;
	}
	f->public.n_lines = (uint32_t)starts.n;
	vec_push(&starts, (uint32_t)n_bytes);
	f->starts = starts.v;
}

/* The path may name a FIFO or a terminal. */
#define SOURCE_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* Opens PATH, which is as F's binary has it. */
static int source_open_named(struct file *f, const char *path)
{
	int fd;

	if (!open_as_differs(f->named_by)) {
		fd = open(path, SOURCE_FLAGS);
		return fd < 0 ? err_errno(&f->err, -errno, "%s", path) : fd;
	}
	fd = open_as(f->named_by, path, SOURCE_FLAGS);
	if (fd < 0 && fd != -ENOENT)
		return err_set(&f->err, -EACCES,
			       "%s: what names it is not root's, and its owner may not read it; "
			       "--source-map DIR=DIR shows what is below DIR",
			       path);
	return fd < 0 ? err_errno(&f->err, fd, "%s", path) : fd;
}

/* Opens the file REST of directory DIR, which a rule names. */
static int source_open_mapped(struct file *f, const char *dir, const char *rest, const char *path)
{
	const struct open_how how = {.flags = SOURCE_FLAGS, .resolve = RESOLVE_BENEATH};
	_fd_ int at = -1;
	int fd;

	if (!open_as_differs(f->named_by)) {
		fd = open(path, SOURCE_FLAGS);
	} else {
		at = open(*dir ? dir : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
		fd = at < 0 ? at
			    : (int)syscall(SYS_openat2, at, rest + strspn(rest, "/"), &how,
					   sizeof(how));
	}
	return fd < 0 ? err_errno(&f->err, -errno, "%s", path) : fd;
}

/* Loads what FD holds, a file called PATH. */
static int read_text(struct file *f, int fd, const char *path)
{
	struct stat st;
	size_t n = 0;

	if (fstat(fd, &st) < 0)
		return err_errno(&f->err, -errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(&f->err, -EINVAL, "%s: not a regular file", path);
	if (st.st_size > SOURCE_MAX_BYTES)
		return err_set(&f->err, -E2BIG, "%s: larger than %u bytes", path, SOURCE_MAX_BYTES);
	f->text = xmalloc((size_t)st.st_size + 1);
	while (n < (size_t)st.st_size) {
		ssize_t k = read(fd, f->text + n, (size_t)st.st_size - n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return err_errno(&f->err, -errno, "%s", path);
		if (k == 0)
			break;
		n += (size_t)k;
	}
	source_clean(f->text, n);
	source_split(f, n);
	f->path = xstrdup(path);
	f->public.path = f->path;
	f->public.mtime_wall_ns =
		(uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	return 0;
}

static void source_load(const struct sources *s, struct file *f)
{
	f->code = -ENOENT;
	for (size_t i = 0; i < s->rules.n && f->code == -ENOENT; i++) {
		const struct rule *r = &s->rules.v[i];
		const char *rest = f->wanted + r->n_from;
		_mem_ char *path = NULL;
		_fd_ int fd = -1;

		if (strncmp(f->wanted, r->from, r->n_from) != 0 ||
		    (*rest != '/' && *rest != '\0' && strcmp(r->from, "/") != 0))
			continue;
		path = xasprintf("%s%s%s", r->to, strcmp(r->from, "/") ? "" : "/", rest);
		fd = source_open_mapped(f, r->to, rest, path);
		f->code = fd < 0 ? fd : read_text(f, fd, path);
	}
	if (f->code == -ENOENT) {
		_fd_ int fd = source_open_named(f, f->wanted);

		f->code = fd < 0 ? fd : read_text(f, fd, f->wanted);
	}
}

static bool same_wanted(const void *owner, uint32_t i, const void *key)
{
	const struct sources *s = owner;
	const struct file *f = key;

	return s->files.v[i]->named_by == f->named_by && !strcmp(s->files.v[i]->wanted, f->wanted);
}

const struct source_text *sources_load(struct sources *s, const char *path, uid_t named_by,
				       int *ret_code, struct err *err)
{
	const struct file key = {.wanted = (char *)path, .named_by = named_by};
	uint64_t hash = hash_str(path);
	uint32_t i = index_find(&s->by_wanted, hash, same_wanted, s, &key);
	struct file *f;

	if (i == INDEX_NONE) {
		i = (uint32_t)s->files.n;
		f = xcalloc(1, sizeof(*f));
		f->wanted = xstrdup(path);
		f->named_by = named_by;
		source_load(s, f);
		vec_push(&s->files, f);
		index_add(&s->by_wanted, hash, i);
	}
	f = s->files.v[i];
	if (ret_code)
		*ret_code = f->code;
	if (f->code == 0)
		return &f->public;
	err_set(err, f->code, "%s", f->err.msg);
	return NULL;
}

const char *source_line(const struct source_text *file, uint32_t line, size_t *ret_n)
{
	const struct file *f = (const struct file *)file;
	const char *start, *end;

	if (line < 1 || line > f->public.n_lines)
		return NULL;
	start = f->text + f->starts[line - 1];
	end = f->text + f->starts[line];
	if (end > start && end[-1] == '\n')
		end--;
	if (end > start && end[-1] == '\r') /* only before "\n": see clean */
		end--;
	*ret_n = (size_t)(end - start);
	return start;
}
