/* SPDX-License-Identifier: BSD-2-Clause */
/* See code.h. */
#include "query/samples/code.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Names of branch targets: procedures of the same image. */
static const char *target_name(void *ctx, uint64_t svma, uint64_t *ret_offset)
{
	const struct image_code *c = ctx;
	const struct image *im = &c->q->profile->images.v[c->image];
	const struct symtab *st = resolver_image(c->q->resolver, im)->symtab;
	uint32_t i = symtab_find(st, svma);

	if (i == PROC_NONE)
		return NULL;
	*ret_offset = svma - symtab_get(st, i).start;
	return resolver_name(c->q->resolver, im, i, false);
}

static void open_instructions(struct image_code *c, const struct image *im)
{
	struct disasm_opts opts = {.name = target_name, .ctx = c};

	if (im->flags & IMAGE_OFFSETS) {
		err_set(&c->why_no_code, -ENOTSUP, "there is no file with the instructions of %s",
			im->path);
		return;
	}
	c->fd = resolver_open_code(c->q->resolver, im, NULL, &c->why_no_code);
	if (c->fd < 0)
		return;
	if (elf_file_open(&c->elf, c->fd, &c->why_no_code) < 0) {
		close(c->fd);
		c->fd = -1;
		return;
	}
	opts.machine = c->elf.machine;
	c->disasm = disasm_new(&opts, &c->why_no_code);
}

void code_open(struct image_code *c, struct query *q, image_id image)
{
	const struct image *im = &q->profile->images.v[image];
	_mem_ char *path = NULL;
	_fd_ int debug_fd = -1;
	int rc;

	*c = (struct image_code){.q = q, .image = image, .fd = -1};
	open_instructions(c, im);
	if (im->flags & IMAGE_OFFSETS) {
		err_set(&c->why_no_lines, -ENOTSUP, "%s could not be read while it ran", im->path);
		return;
	}
	debug_fd = resolver_open_debug(q->resolver, im, &path, &c->why_no_lines);
	if (debug_fd >= 0)
		c->lines = lines_open(debug_fd, path ? path : im->path, &rc, &c->why_no_lines);
}

void code_close(struct image_code *c)
{
	if (c->fd >= 0) {
		elf_file_close(&c->elf);
		close(c->fd);
	}
	disasm_free(c->disasm);
	lines_close(c->lines);
	*c = (struct image_code){.fd = -1};
}

static const struct elf_segment *find_segment(const struct image_code *c, uint64_t svma)
{
	for (uint32_t i = 0; c->fd >= 0 && i < c->elf.n_segments; i++) {
		const struct elf_segment *s = &c->elf.segments[i];

		if (s->type == PT_LOAD && svma >= s->svma && svma - s->svma < s->filesz)
			return s;
	}
	return NULL;
}

uint64_t code_end(const struct image_code *c, uint64_t svma)
{
	const struct elf_segment *s = find_segment(c, svma);

	return s ? s->svma + s->filesz : svma;
}

uint8_t *code_load(const struct image_code *c, uint64_t start, uint64_t end)
{
	const struct elf_segment *s = find_segment(c, start);

	if (!s || end < start || end - s->svma > s->filesz)
		return NULL;
	return elf_file_load(&c->elf, s->off + (start - s->svma), end - start);
}

#define INSN_MAX 15 /* bytes of the longest instruction, on x86 */

bool code_insn_at(struct image_code *c, uint64_t svma, struct str *ret)
{
	uint64_t end = code_end(c, svma);
	struct disasm_insn in;
	uint8_t *bytes;
	bool found;

	if (!c->disasm || end == svma)
		return false;
	if (end - svma > INSN_MAX)
		end = svma + INSN_MAX;
	bytes = code_load(c, svma, end);
	if (!bytes)
		return false;
	disasm_begin(c->disasm, bytes, end - svma, svma);
	found = disasm_next(c->disasm, &in);
	if (found)
		str_add(ret, in.text);
	free(bytes);
	return found;
}
