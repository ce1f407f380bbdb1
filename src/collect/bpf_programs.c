/* SPDX-License-Identifier: BSD-2-Clause */
/* See bpf_programs.h.  Names are made as kernel/bpf/core.c, bpf_get_prog_name, makes them: of the
 * function's tag, and of its name in the program's types or else of the program's short one. */
#include "collect/bpf_programs.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/str.h"

#define MOST_FUNCTIONS 256 /* of one program: include/linux/bpf_verifier.h, BPF_MAX_SUBPROGS */

/* Types of the program before: the next one is often of the same object, and so has the same. */
struct types {
	const struct btf *given; /* of all that are asked for; NULL: the kernel is asked */
	uint32_t id;
	struct btf *btf;
};

static const struct btf *types_of(struct types *t, uint32_t id)
{
	if (t->given)
		return t->given;
	if (t->id != id) {
		btf__free(t->btf);
		t->btf = btf__load_from_kernel_by_id(id);
		t->id = id;
	}
	return t->btf;
}

static void each_function(int fd, struct types *types,
			  void (*fn)(void *ctx, uint64_t start, uint64_t end, const char *name),
			  void *ctx)
{
	__u64 starts[MOST_FUNCTIONS];
	__u32 lens[MOST_FUNCTIONS], size = sizeof(struct bpf_prog_info);
	__u8 tags[MOST_FUNCTIONS][BPF_TAG_SIZE];
	struct bpf_func_info functions[MOST_FUNCTIONS];
	struct bpf_prog_info info = {.jited_ksyms = (uintptr_t)starts,
				     .nr_jited_ksyms = MOST_FUNCTIONS,
				     .jited_func_lens = (uintptr_t)lens,
				     .nr_jited_func_lens = MOST_FUNCTIONS,
				     .prog_tags = (uintptr_t)tags,
				     .nr_prog_tags = MOST_FUNCTIONS,
				     .func_info = (uintptr_t)functions,
				     .nr_func_info = MOST_FUNCTIONS,
				     .func_info_rec_size = sizeof(functions[0])};
	const struct btf *btf = NULL;

	/* The kernel clears pointers to what it does not tell, and says how many there are. */
	if (bpf_obj_get_info_by_fd(fd, &info, &size) < 0 || !info.jited_ksyms ||
	    !info.jited_func_lens || !info.prog_tags || info.nr_jited_ksyms > MOST_FUNCTIONS ||
	    info.nr_jited_func_lens != info.nr_jited_ksyms ||
	    info.nr_prog_tags != info.nr_jited_ksyms)
		return;
	if (info.nr_func_info) {
		btf = info.nr_func_info == info.nr_jited_ksyms ? types_of(types, info.btf_id)
							       : NULL;
		if (!btf)
			return;
	}
	for (__u32 i = 0; i < info.nr_jited_ksyms; i++) {
		const struct btf_type *t = btf ? btf__type_by_id(btf, functions[i].type_id) : NULL;
		const char *called = t ? btf__name_by_offset(btf, t->name_off) : info.name;
		char tag[2 * BPF_TAG_SIZE + 1];
		_mem_ char *name = NULL;

		if ((btf && !t) || !called || !starts[i] || !lens[i])
			continue;
		/* The first is the program itself, which is listed by its own tag. */
		str_hex(i ? tags[i] : info.tag, BPF_TAG_SIZE, tag);
		name = xasprintf("bpf_prog_%s%s%s", tag, *called ? "_" : "", called);
		fn(ctx, starts[i], starts[i] + lens[i], name);
	}
}

void bpf_program_functions(int fd, const struct btf *types,
			   void (*fn)(void *ctx, uint64_t start, uint64_t end, const char *name),
			   void *ctx)
{
	each_function(fd, &(struct types){.given = types}, fn, ctx);
}

bool bpf_programs_each(void (*fn)(void *ctx, uint64_t start, uint64_t end, const char *name),
		       void *ctx)
{
	struct types types = {0};
	__u32 id = 0;
	int rc;

	while ((rc = bpf_prog_get_next_id(id, &id)) == 0) {
		_fd_ int fd = bpf_prog_get_fd_by_id(id);

		if (fd >= 0) /* or it has gone meanwhile */
			each_function(fd, &types, fn, ctx);
	}
	btf__free(types.btf);
	return rc == -ENOENT; /* there is none behind it */
}
