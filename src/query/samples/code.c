/* SPDX-License-Identifier: BSD-2-Clause */
/* See code.h. */
#include "query/samples/code.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/alloc.h"

/* Names of branch targets: procedures of the same image. */
static const char *target_name(void *ctx, uint64_t svma, uint64_t *ret_offset)
{
	const struct image_code *c = ctx;
	const struct image *im = &c->q->profile->images.v[c->image];
	const struct symtab *st = resolver_image(c->q->resolver, im)->symtab;
	uint32_t i = symtab_find(st, svma);

	if (i == PROC_NONE || (svma > c->own_start && svma < c->own_end))
		return NULL;
	*ret_offset = svma - symtab_get(st, i).start;
	return resolver_name(c->q->resolver, im, i, false);
}

/* Whose word the contents of a file are. */
static uid_t owner_of(const struct stat *st)
{
	const bool others_write =
		(st->st_mode & S_IWOTH) || ((st->st_mode & S_IWGRP) && st->st_gid);

	return st->st_uid == 0 && others_write ? UID_ANYBODY : st->st_uid;
}

static void open_instructions(struct image_code *c, const struct image *im)
{
	struct disasm_opts opts = {.name = target_name, .ctx = c};
	struct stat st;

	if (im->flags & IMAGE_OFFSETS) {
		err_set(&c->why_no_code, -ENOTSUP, "there is no file with the instructions of %s",
			im->path);
		return;
	}
	if (resolver_open_code_file(c->q->resolver, im, &c->file, &c->why_no_code) < 0)
		return;
	opts.machine = c->file.elf.machine;
	c->disasm = disasm_new(&opts, &c->why_no_code);
	if (!c->disasm) {
		code_file_close(&c->file);
		return;
	}
	c->is_kept = c->file.kept;
	if (c->is_kept) {
		c->made_s = c->file.kept->info.made_s;
		c->made_by = c->file.kept->info.is_claimed ? UID_ANYBODY : 0;
	} else if (fstat(c->file.fd, &st) >= 0) {
		c->made_s = (uint64_t)st.st_mtim.tv_sec;
		c->made_by = owner_of(&st);
	}
}

void code_open(struct image_code *c, struct query *q, image_id image)
{
	const struct image *im = &q->profile->images.v[image];

	*c = (struct image_code){.q = q, .image = image, .file.fd = -1, .made_by = UID_ANYBODY};
	open_instructions(c, im);
	c->lines = resolver_lines_hold(q->resolver, im, &c->why_no_lines);
}

void code_close(struct image_code *c)
{
	if (c->disasm)
		code_file_close(&c->file);
	disasm_free(c->disasm);
	if (c->lines)
		resolver_lines_drop(c->q->resolver, &c->q->profile->images.v[c->image]);
	*c = (struct image_code){.file.fd = -1};
}

uint64_t code_end(const struct image_code *c, uint64_t svma)
{
	return c->disasm ? code_file_end(&c->file, svma) : svma;
}

uint8_t *code_load(const struct image_code *c, uint64_t start, uint64_t end)
{
	return c->disasm ? code_file_load(&c->file, start, end) : NULL;
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
