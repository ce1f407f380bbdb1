/* SPDX-License-Identifier: BSD-2-Clause */
/* See kallsyms.h.  The file has some 120,000 lines "ADDRESS TYPE NAME[\t[MODULE]]" (proc(5))
 * without sizes; a procedure therefore ends where the next begins, the last one at the end of its
 * page.  Only types t, T, w and W are code. */
#include "resolve/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/str.h"
#include "resolve/elf_file.h"

#define MAX_KALLSYMS (256u << 20)
#define MAX_MODULES  (16u << 20)
#define MAX_NOTES    (1u << 20)
#define PAGE	     4096u

/* A BPF program is taken to reach to the next one, but not farther than this beyond its first page:
 * what runs between two programs is the first one's. */
#define BPF_MORE_BYTES (1u << 17)

struct line {
	uint64_t address;
	char type;
	const char *name, *module; /* module "" for the kernel itself */
	size_t n_name, n_module;
};

/* A part while its lines are collected. */
struct draft {
	struct kernel_part part;
	struct symtab_builder builder;
	uint64_t lowest, highest;
};

struct loader {
	struct kallsyms *k;
	bool layout_only;
	VEC(struct draft) drafts;
	struct index by_name;
	uint32_t last; /* draft of the line before: modules' lines stand together */
	struct symtab_builder kernel;
	uint64_t text, stext, etext, lowest, highest; /* 0: not seen */
};

/* Parses one line at *P and steps over it; false when it is malformed. */
static bool parse_line(const char **p, const char *end, struct line *l)
{
	const char *s = *p, *eol = memchr(s, '\n', (size_t)(end - s));
	uint64_t a = 0;
	int digits = 0;

	if (!eol)
		eol = end;
	*p = eol < end ? eol + 1 : end;
	for (; s < eol && *s != ' '; s++, digits++) {
		unsigned c = (unsigned char)*s;
		unsigned d = c - '0' < 10 ? c - '0' : (c | 32) - 'a' + 10;

		if (d > 15 || (d > 9 && (c | 32) < 'a'))
			return false;
		a = a << 4 | d;
	}
	if (digits == 0 || digits > 16 || eol - s < 4 || s[2] != ' ')
		return false;
	*l = (struct line){.address = a, .type = s[1], .name = s + 3, .module = ""};
	for (s += 3; s < eol && *s != '\t' && *s != ' '; s++)
		;
	l->n_name = (size_t)(s - l->name);
	while (s < eol && (*s == '\t' || *s == ' '))
		s++;
	if (s < eol && *s == '[' && eol[-1] == ']') {
		l->module = s + 1;
		l->n_module = (size_t)(eol - s) - 2;
	}
	return l->n_name > 0;
}

static bool kallsyms_is(const struct line *l, const char *name)
{
	return l->n_name == strlen(name) && memcmp(l->name, name, l->n_name) == 0;
}

static bool draft_same(const void *owner, uint32_t i, const void *key)
{
	return strcmp(((const struct loader *)owner)->drafts.v[i].part.name, key) == 0;
}

/* Takes NAME over. */
static struct draft *draft_add(struct loader *ld, enum image_kind kind, char *name)
{
	struct draft *d = vec_add(&ld->drafts);

	d->part.kind = kind;
	d->part.name = name;
	d->lowest = UINT64_MAX;
	return d;
}

static struct draft *intern_module(struct loader *ld, const char *name, size_t n_name)
{
	_mem_ char *s = NULL;
	struct draft *d;

	if (ld->last < ld->drafts.n) {
		d = &ld->drafts.v[ld->last];
		if (strlen(d->part.name) == n_name && memcmp(d->part.name, name, n_name) == 0)
			return d;
	}
	s = xstrndup(name, n_name);
	ld->last = index_find(&ld->by_name, hash_str(s), draft_same, ld, s);
	if (ld->last == INDEX_NONE) {
		ld->last = (uint32_t)ld->drafts.n;
		d = draft_add(ld, IMAGE_MODULE, take_ptr(&s));
		index_add(&ld->by_name, hash_str(d->part.name), ld->last);
	}
	return &ld->drafts.v[ld->last];
}

static void add_line(struct loader *ld, const struct line *l)
{
	uint32_t flags = l->type == 't' ? PROC_LOCAL : l->type == 'T' ? 0 : PROC_WEAK;
	struct draft *d;

	if (l->n_module) {
		/* kernel/bpf/core.c names the module of every BPF program
		 * "bpf"; each is an image.  Two programs may have a function of one name. */
		bool bpf = l->n_module == 3 && memcmp(l->module, "bpf", 3) == 0;

		d = bpf ? draft_add(ld, IMAGE_BPF, xstrndup(l->name, l->n_name))
			: intern_module(ld, l->module, l->n_module);
		if (l->address < d->lowest)
			d->lowest = l->address;
		if (l->address > d->highest)
			d->highest = l->address;
		if (!ld->layout_only)
			symtab_builder_add(&d->builder, l->address, 0, l->name, l->n_name, flags);
		return;
	}
	if (kallsyms_is(l, "_text"))
		ld->text = l->address;
	else if (kallsyms_is(l, "_stext"))
		ld->stext = l->address;
	else if (kallsyms_is(l, "_etext"))
		ld->etext = l->address;
	if (!ld->lowest || l->address < ld->lowest)
		ld->lowest = l->address;
	if (l->address > ld->highest)
		ld->highest = l->address;
	if (!ld->layout_only)
		symtab_builder_add(&ld->kernel, l->address, 0, l->name, l->n_name, flags);
}

int kallsyms_find_text(const char *proc_dir, uint64_t *ret_start)
{
	_mem_ char *path = xasprintf("%s/kallsyms", proc_dir);
	_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char buf[1 << 14];
	size_t n = 0;
	ssize_t k;

	if (fd < 0)
		return -errno;
	while ((k = read(fd, buf + n, sizeof(buf) - n)) > 0) {
		const char *p = buf, *end;
		struct line l;

		n += (size_t)k;
		end = memrchr(buf, '\n', n);
		if (!end)
			break;
		while (p <= end) {
			if (!parse_line(&p, end + 1, &l) || !kallsyms_is(&l, "_text"))
				continue;
			*ret_start = l.address;
			return l.address ? 0 : -ENOENT;
		}
		n -= (size_t)(p - buf);
		memmove(buf, p, n);
	}
	return -ENOENT;
}

uint64_t kallsyms_link_start(uint64_t text_start)
{
	/* x86-64: __START_KERNEL_map + LOAD_PHYSICAL_ADDR (page_64_types.h), with
	 * CONFIG_PHYSICAL_START at its default of 16 MiB as every distribution has it. */
	if (text_start >= 0xffffffff80000000ull)
		return 0xffffffff81000000ull;
	/* arm64: KIMAGE_VADDR of 48-bit kernels since 6.5, MODULES_END (asm/memory.h).  KASLR moves
	 * by multiples of 2 MiB there; what is below belongs to the link address. */
	if (text_start >= 0xffff000000000000ull)
		return 0xffff800080000000ull | (text_start & 0x1fffff);
	return text_start;
}

/* Moves a builder's addresses to svma, and settles them. */
static void kallsyms_finish(struct symtab_builder *b, uint64_t slide, uint64_t start, uint64_t end,
			    struct symtab *ret)
{
	vec_each (y, &b->symbols)
		y->svma -= slide;
	symtab_builder_add_range(b, start - slide, end - slide);
	symtab_builder_finish(b, ret);
}

static uint64_t page_end(uint64_t address)
{
	return (address | (PAGE - 1)) + 1;
}

static int by_part_start(const void *x, const void *y)
{
	const struct kernel_part *a = x, *b = y;

	return a->start < b->start ? -1 : a->start > b->start;
}

static void read_notes(const char *path, struct build_id *ret)
{
	_mem_ char *text = NULL;
	size_t n_text;
	int n;

	if (file_load(path, MAX_NOTES, &text, &n_text, NULL) < 0)
		return;
	n = elf_notes_build_id((uint8_t *)text, n_text, 4, ret->bytes);
	ret->n_bytes = n > 0 ? (uint8_t)n : 0;
}

int kallsyms_build_id(const char *sys_dir, struct build_id *ret)
{
	_mem_ char *path = xasprintf("%s/kernel/notes", sys_dir);

	*ret = (struct build_id){0};
	read_notes(path, ret);
	return ret->n_bytes ? 0 : -ENOENT;
}

/* proc_pid_modules(5): NAME SIZE USERS DEPENDENCIES STATE 0xADDRESS. */
void kallsyms_each_module(const char *proc_dir,
			  void (*fn)(void *ctx, const char *name, uint64_t start, uint64_t end),
			  void *ctx)
{
	_mem_ char *path = xasprintf("%s/modules", proc_dir);
	_mem_ char *text = NULL;
	char *save = NULL;

	if (file_load(path, MAX_MODULES, &text, NULL, NULL) < 0)
		return;
	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		char *hex = strstr(l, " 0x"), *space = strchr(l, ' ');
		uint64_t start, size;

		if (!hex || !space)
			continue;
		*space = '\0';
		start = strtoull(hex + 1, NULL, 16);
		size = strtoull(space + 1, NULL, 10);
		if (start != 0 && start + size >= start)
			fn(ctx, l, start, start + size);
	}
}

/* Where a module truly begins; kallsyms alone would say at its first symbol. */
static void begin_module(void *ctx, const char *name, uint64_t start, uint64_t end)
{
	struct loader *ld = ctx;
	const uint32_t i = index_find(&ld->by_name, hash_str(name), draft_same, ld, name);

	if (i != INDEX_NONE && start <= ld->drafts.v[i].lowest)
		ld->drafts.v[i].part.start = start;
}

static void finish_parts(struct loader *ld, const char *sys_dir)
{
	vec_each (d, &ld->drafts) {
		struct kernel_part *p = &d->part;

		if (p->start == 0)
			p->start = d->lowest;
		p->end = page_end(d->highest);
		if (p->kind == IMAGE_BPF) /* nothing says where it ends */
			p->end += BPF_MORE_BYTES;
		kallsyms_finish(&d->builder, p->start, p->start, p->end, &p->symtab);
		if (p->kind == IMAGE_MODULE && !strchr(p->name, '/')) {
			_mem_ char *notes = xasprintf("%s/module/%s/notes/.note.gnu.build-id",
						      sys_dir, p->name);

			read_notes(notes, &p->build_id);
		}
		vec_push(&ld->k->parts, *p);
	}
	vec_sort(&ld->k->parts, by_part_start);
	/* Programs share pages: one ends where the next begins. */
	for (size_t i = 0; i + 1 < ld->k->parts.n; i++)
		if (ld->k->parts.v[i].end > ld->k->parts.v[i + 1].start)
			ld->k->parts.v[i].end = ld->k->parts.v[i + 1].start;
}

/* Reads the file in pieces: whole it is some 6 MB, and the recorder has to stay small. */
static int read_lines(struct loader *ld, const char *path, size_t *ret_n_lines, struct err *err)
{
	enum { PIECE = 1 << 16 };
	_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_mem_ char *buf = xmalloc(PIECE);
	size_t n = 0, total = 0;

	if (fd < 0)
		return err_errno(err, -errno, "%s", path);
	for (;;) {
		ssize_t k = read(fd, buf + n, PIECE - n);
		const char *p = buf, *end;

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return err_errno(err, -errno, "%s", path);
		n += (size_t)k;
		total += (size_t)k;
		if (total > MAX_KALLSYMS)
			return err_set(err, -E2BIG, "%s: larger than %u bytes", path, MAX_KALLSYMS);
		/* Up to the last whole line; at the end of the file, or of a line beyond all
		 * measure, all. */
		end = k > 0 ? memrchr(buf, '\n', n) : NULL;
		end = end ? end + 1 : k == 0 || n == PIECE ? buf + n : buf;
		while (p < end) {
			struct line l;

			if (!parse_line(&p, end, &l))
				continue;
			++*ret_n_lines;
			if (l.address && memchr("tTwW", l.type, 4))
				add_line(ld, &l);
		}
		n -= (size_t)(p - buf);
		memmove(buf, p, n);
		if (k == 0)
			return 0;
	}
}

static int resolve_kallsyms_load(struct kallsyms *k, const char *proc_dir, const char *sys_dir,
				 bool layout_only, struct err *err)
{
	_mem_ char *path = xasprintf("%s/kallsyms", proc_dir);
	struct loader ld = {.k = k, .layout_only = layout_only, .last = INDEX_NONE};
	size_t n_lines = 0;
	int rc;

	*k = (struct kallsyms){0};
	rc = read_lines(&ld, path, &n_lines, err);
	k->hidden = n_lines && !ld.lowest && !ld.drafts.n;
	kallsyms_build_id(sys_dir, &k->build_id);
	if (ld.lowest) {
		k->text_start = ld.text ? ld.text : ld.stext ? ld.stext : ld.lowest;
		k->text_end = ld.etext > k->text_start ? ld.etext : page_end(ld.highest);
		k->slide = k->text_start - kallsyms_link_start(k->text_start);
	}
	kallsyms_finish(&ld.kernel, k->slide, ld.lowest, page_end(ld.highest), &k->symtab);
	kallsyms_each_module(proc_dir, begin_module, &ld);
	finish_parts(&ld, sys_dir);
	vec_release(&ld.drafts);
	index_release(&ld.by_name);
	if (rc < 0) {
		kallsyms_release(k);
		return rc;
	}
	return n_lines ? 0 : err_set(err, -EBADMSG, "%s: no symbols in it", path);
}

int kallsyms_load(struct kallsyms *k, const char *proc_dir, const char *sys_dir, struct err *err)
{
	return resolve_kallsyms_load(k, proc_dir, sys_dir, false, err);
}

int kallsyms_load_layout(struct kallsyms *k, const char *proc_dir, const char *sys_dir,
			 struct err *err)
{
	return resolve_kallsyms_load(k, proc_dir, sys_dir, true, err);
}

void kallsyms_release(struct kallsyms *k)
{
	symtab_release(&k->symtab);
	vec_each (p, &k->parts) {
		symtab_release(&p->symtab);
		free(p->name);
	}
	vec_release(&k->parts);
	*k = (struct kallsyms){0};
}

const struct kernel_part *kallsyms_find_part(const struct kallsyms *k, const char *name)
{
	vec_each (p, &k->parts)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}
