/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of code have in common: programs made in a scratch directory, seen as images. */
#ifndef TESTS_UNIT_FLOW_T_H
#define TESTS_UNIT_FLOW_T_H

#include <fcntl.h>

#include "resolve/code_file.h"
#include "resolve/elf_probe.h"
#include "resolve/flow.h"
#include "resolve/loops.h"
#include "resolve/noreturn.h"
#include "resolve/resolver.h"
#include "scratch_t.h"
#include "t.h"

struct program {
	char path[256];
	struct image im;
	struct resolver *r;
	const struct symtab *st;
	struct code_file code;
};

/* Opens the file NAME of the scratch directory, or with a slash of the system. */
static inline bool program_open(struct program *p, const char *name)
{
	struct resolver_opts opts = {0};
	struct image_layout layout;
	int fd;

	memset(p, 0, sizeof(*p));
	snprintf(p->path, sizeof(p->path), "%s%s%s", name[0] == '/' ? "" : scratch_dir,
		 name[0] == '/' ? "" : "/", name);
	fd = open(p->path, O_RDONLY);
	if (fd < 0 || elf_probe(fd, &layout, NULL) < 0 || code_file_open(&p->code, fd, NULL) < 0)
		return false;
	p->im = (struct image){.kind = IMAGE_FILE, .build_id = layout.build_id, .path = p->path};
	p->r = resolver_new(&opts);
	p->st = resolver_image(p->r, &p->im)->symtab;
	return true;
}

static inline void program_close(struct program *p)
{
	code_file_close(&p->code);
	resolver_free(p->r);
}

static inline bool program_find(const struct program *p, const char *name, struct procedure *ret)
{
	for (uint32_t i = 0; i < p->st->n; i++) {
		*ret = symtab_get(p->st, i);
		if (!strcmp(ret->name, name))
			return true;
	}
	printf("# no procedure %s\n", name);
	return false;
}

static inline bool program_no_return(void *ctx, uint64_t svma)
{
	const struct program *p = ctx;
	uint32_t i = symtab_find(p->st, svma);

	return i != PROC_NONE && noreturn_is(symtab_get(p->st, i).name);
}

static inline bool program_read(void *ctx, uint64_t svma, uint8_t *ret, size_t n)
{
	struct program *p = ctx;

	return code_file_read(&p->code, svma, ret, n);
}

static inline bool program_has(void *ctx, uint64_t svma)
{
	const struct program *p = ctx;

	return code_file_has(&p->code, svma);
}

/* Follows procedure PROC. */
static inline int program_follow(struct program *p, const struct procedure *proc, struct flow *ret)
{
	struct flow_code code = {.machine = p->code.elf.machine,
				 .n_parts = 1,
				 .no_return = program_no_return,
				 .read = program_read,
				 .has = program_has,
				 .ctx = p};
	uint8_t *bytes = code_file_load(&p->code, proc->start, proc->end);
	int rc;

	code.parts[0] = (struct flow_part){.start = proc->start, .end = proc->end, .bytes = bytes};
	rc = bytes ? flow_init(ret, &code) : -1;
	free(bytes);
	return rc;
}

#endif
