/* SPDX-License-Identifier: BSD-2-Clause */
/* /proc/thread-self/maps by lines (/proc/self is empty when the first thread has ended), and ELF
 * headers out of memory.  All of it is read through the kernel or
 * with a cursor: a program may have changed its own headers. */
#include "inproc/mapped.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/rd.h"
#include "inproc/own_memory.h"

/* One line: addresses, "r-xp", offset, "fd:01", inode, path; Documentation/filesystems/proc.rst. */
enum { LINE_MAX_BYTES = PATH_MAX + 128 };

static uint64_t mapped_number(const char **p, int base)
{
	uint64_t n = 0;

	for (;; (*p)++) {
		char c = **p;
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
						   : 99;

		if (digit >= base)
			return n;
		n = n * (uint64_t)base + (uint64_t)digit;
	}
}

static void skip(const char **p, char c)
{
	*p += **p == c;
}

static void parse_line(const char *line, struct loaded_mapping *m)
{
	uint64_t major;

	m->start = mapped_number(&line, 16);
	skip(&line, '-');
	m->end = mapped_number(&line, 16);
	skip(&line, ' ');
	m->is_code = false;
	for (; *line && *line != ' '; line++)
		m->is_code |= *line == 'x';
	skip(&line, ' ');
	m->off = mapped_number(&line, 16);
	skip(&line, ' ');
	major = mapped_number(&line, 16);
	skip(&line, ':');
	m->dev = major << 32 | mapped_number(&line, 16);
	skip(&line, ' ');
	m->ino = mapped_number(&line, 10);
	while (*line == ' ')
		line++;
	m->path = line;
}

/* ELF headers: elf(5), Elf64_Ehdr and Elf64_Phdr. */

struct segments {
	uint8_t bytes[CODE_MAX_SEGMENTS * sizeof(Elf64_Phdr)];
	unsigned n;
};

static bool get_memory(uint64_t at, void *to, size_t n)
{
	return own_memory_move(false, to, &(struct iovec){(void *)at, n}, 1, n) == 1;
}

static bool read_segments(uint64_t header, struct segments *ret)
{
	uint8_t e[sizeof(Elf64_Ehdr)];
	struct rd r;
	uint64_t phoff;

	if (!header || !get_memory(header, e, sizeof(e)) || memcmp(e, ELFMAG, SELFMAG) != 0 ||
	    e[EI_CLASS] != ELFCLASS64)
		return false;
	r = rd_init(e, sizeof(e));
	rd_bytes(&r, offsetof(Elf64_Ehdr, e_phoff));
	phoff = rd_le64(&r);
	r = rd_init(e, sizeof(e));
	rd_bytes(&r, offsetof(Elf64_Ehdr, e_phnum));
	ret->n = rd_le16(&r);
	if (!ret->n || ret->n > CODE_MAX_SEGMENTS)
		return false;
	return get_memory(header + phoff, ret->bytes, ret->n * sizeof(Elf64_Phdr));
}

struct segment {
	uint32_t type, flags;
	uint64_t off, svma, filesz;
};

static struct segment get_segment(const struct segments *s, unsigned i)
{
	struct rd r = rd_init(s->bytes + i * sizeof(Elf64_Phdr), sizeof(Elf64_Phdr));
	struct segment g = {.type = rd_le32(&r), .flags = rd_le32(&r)};

	g.off = rd_le64(&r);
	g.svma = rd_le64(&r);
	rd_le64(&r); /* p_paddr */
	g.filesz = rd_le64(&r);
	return g;
}

/* What to add to an svma for the avma, of the file whose offset 0 is mapped at HEADER.  Other parts
 * of it may have been moved: Node maps its compiled JavaScript a second time. */
static uint64_t bias_of(const struct segments *s, uint64_t header)
{
	for (unsigned i = 0; i < s->n; i++) {
		struct segment g = get_segment(s, i);

		if (g.type == PT_LOAD && g.off < 4096)
			return header - (g.svma - g.off);
	}
	return header;
}

/* Where file offset OFF of M's file is meant to be; false when no executable segment has it. */
static bool find_svma(const struct segments *s, uint64_t off, struct loaded_code *ret)
{
	bool found = false;
	uint64_t end = 0;

	for (unsigned i = 0; i < s->n; i++) {
		struct segment g = get_segment(s, i);
		uint64_t begins = g.off & ~(uint64_t)4095; /* mappings begin at pages */

		if (g.type != PT_LOAD || !(g.flags & PF_X) || !g.filesz)
			continue;
		if (off >= begins && off < g.off + g.filesz) {
			ret->svma = g.svma - (g.off - off);
			found = true;
		}
		if (!end || g.svma < ret->text_start)
			ret->text_start = g.svma;
		if (g.svma + g.filesz > end)
			end = g.svma + g.filesz;
	}
	ret->text_bytes = end - ret->text_start;
	return found;
}

/* The build-id among the notes: elf(5), Elf64_Nhdr; its type is NT_GNU_BUILD_ID, its name "GNU". */
static bool find_id(const uint8_t *bytes, size_t n, struct loaded_code *ret)
{
	struct rd r = rd_init(bytes, n);

	while (!r.bad && rd_left(&r) >= 12) {
		uint32_t n_name = rd_le32(&r), n_desc = rd_le32(&r), type = rd_le32(&r);
		const uint8_t *name = rd_bytes(&r, ((uint64_t)n_name + 3) & ~(uint64_t)3);
		const uint8_t *desc = rd_bytes(&r, ((uint64_t)n_desc + 3) & ~(uint64_t)3);

		if (!desc || type != NT_GNU_BUILD_ID || n_name != 4 ||
		    memcmp(name, "GNU", 4) != 0 || !n_desc || n_desc > CODE_ID_MAX)
			continue;
		ret->n_id = n_desc;
		memcpy(ret->id, desc, n_desc);
		return true;
	}
	return false;
}

/* BIAS: what to add to an svma for the avma. */
static void read_id(const struct segments *s, uint64_t bias, struct loaded_code *ret)
{
	uint8_t notes[1024];

	for (unsigned i = 0; i < s->n; i++) {
		struct segment g = get_segment(s, i);
		size_t n = g.filesz < sizeof(notes) ? (size_t)g.filesz : sizeof(notes);

		if (g.type == PT_NOTE && n && get_memory(g.svma + bias, notes, n) &&
		    find_id(notes, n, ret))
			return;
	}
}

/* The lines. */

/* The last mapping of offset 0 of a file, for those of the same file that follow. */
struct first_page {
	uint64_t dev, ino, avma;
	char path[PATH_MAX];
};

/* Nameless memory in the place of a file's text is a copy of it: `node --use-largepages=on` moves
 * its own text there, in the midst of what is left of the file's mapping. */
static void take_for_text(const struct first_page *first, struct loaded_mapping *m)
{
	struct segments s;
	uint64_t bias;

	if (!first->avma || !read_segments(first->avma, &s))
		return;
	bias = bias_of(&s, first->avma);
	for (unsigned i = 0; i < s.n; i++) {
		struct segment g = get_segment(&s, i);

		if (g.type != PT_LOAD || !(g.flags & PF_X) || m->start < bias + g.svma ||
		    m->end > bias + g.svma + g.filesz)
			continue;
		m->off = m->start - bias - g.svma + g.off;
		m->dev = first->dev;
		m->ino = first->ino;
		m->path = first->path;
		return;
	}
}

static void take_line(const char *line, struct first_page *first, mapping_fn *each, void *ctx)
{
	struct loaded_mapping m = {0};

	parse_line(line, &m);
	if (m.ino && m.off == 0) {
		first->dev = m.dev;
		first->ino = m.ino;
		first->avma = m.start;
		snprintf(first->path, sizeof(first->path), "%s", m.path);
	} else if (!m.ino && m.is_code && !*m.path) {
		take_for_text(first, &m);
	}
	if (m.ino && m.dev == first->dev && m.ino == first->ino)
		m.header = first->avma;
	each(ctx, &m);
}

typedef bool line_fn(const char *line, void *ctx); /* false: no more of them */

struct maps_text {
	char bytes[4 * LINE_MAX_BYTES];
};

/* Calls TAKE with every line.  0 or -errno. */
static int each_line(struct maps_text *text, line_fn *take, void *ctx)
{
	int fd = open("/proc/thread-self/maps", O_RDONLY | O_CLOEXEC);
	bool goes_on = true;
	ssize_t more = 0;
	size_t n = 0;

	if (fd < 0)
		return -errno;
	while (goes_on && (more = read(fd, text->bytes + n, sizeof(text->bytes) - 1 - n)) > 0) {
		char *line = text->bytes, *end;

		n += (size_t)more;
		text->bytes[n] = 0;
		while (goes_on && (end = memchr(line, '\n', (size_t)(text->bytes + n - line)))) {
			*end = 0;
			goes_on = take(line, ctx);
			line = end + 1;
		}
		n = (size_t)(text->bytes + n - line);
		if (n == sizeof(text->bytes) - 1)
			break; /* no line is that long */
		memmove(text->bytes, line, n);
	}
	close(fd);
	return more < 0 ? -errno : 0;
}

struct visit {
	struct first_page first;
	mapping_fn *each;
	void *ctx;
};

static bool visit_line(const char *line, void *ctx)
{
	struct visit *v = ctx;

	take_line(line, &v->first, v->each, v->ctx);
	return true;
}

int mapped_each(mapping_fn *each, void *ctx)
{
	static struct maps_text text;
	static struct visit v;

	v.first.avma = v.first.ino = 0;
	v.each = each;
	v.ctx = ctx;
	return each_line(&text, visit_line, &v);
}

struct wanted_header {
	uint64_t dev, ino, avma;
};

static bool is_wanted_header(const char *line, void *ctx)
{
	struct wanted_header *w = ctx;
	struct loaded_mapping m;

	parse_line(line, &m);
	if (m.off == 0 && m.dev == w->dev && m.ino == w->ino)
		w->avma = m.start;
	return !w->avma;
}

/* Where offset 0 of M's file is mapped, when other files lie between.  Node maps its builtins a
 * second time, into the range of its compiled code, which is wherever there is room
 * (src/heap/code-range.cc RemapEmbeddedBuiltins). */
static uint64_t find_header(const struct loaded_mapping *m)
{
	static struct maps_text text;
	struct wanted_header w = {.dev = m->dev, .ino = m->ino};

	each_line(&text, is_wanted_header, &w);
	return w.avma;
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), n_end = strlen(end);

	return n >= n_end && strcmp(s + n - n_end, end) == 0;
}

void mapped_describe(const struct loaded_mapping *m, struct loaded_code *ret)
{
	struct loaded_code c = {.kind = CODE_FILE, .svma = m->off};
	uint64_t header = m->header;
	struct segments s;

	if (strcmp(m->path, "[vdso]") == 0) {
		c.kind = CODE_VDSO;
		header = m->start;
	} else if (!m->ino) {
		*ret = (struct loaded_code){.kind = CODE_ANON, .svma = m->start};
		return;
	}
	if (ends_with(m->path, " (deleted)"))
		c.flags |= CODE_DELETED;
	if (m->ino && !header)
		header = find_header(m);
	if (!read_segments(header, &s) || !find_svma(&s, m->off, &c)) {
		c.flags |= CODE_OFFSETS;
		c.svma = m->off;
		c.text_start = c.text_bytes = 0;
	} else {
		read_id(&s, bias_of(&s, header), &c);
	}
	*ret = c;
}
