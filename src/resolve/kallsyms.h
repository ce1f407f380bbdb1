/* SPDX-License-Identifier: BSD-2-Clause */
/* The running kernel's procedures, from /proc/kallsyms: the kernel itself, its modules, and the BPF
 * programs loaded now. */
#ifndef RESOLVE_KALLSYMS_H
#define RESOLVE_KALLSYMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "model/image.h"
#include "resolve/symtab.h"

/* Where one kernel image is now: a module, a BPF program, or generated code such as
 * "__builtin__ftrace".  Its svma is the offset from START. */
struct kernel_part {
	enum image_kind kind; /* IMAGE_MODULE or IMAGE_BPF */
	char *name;	      /* "ext4", "bpf_prog_6deef7357e7b4530_sample" */
	uint64_t start, end;  /* run-time addresses */
	struct build_id build_id;
	struct symtab symtab;
};

struct kallsyms {
	bool hidden;		       /* every address reads as 0: see resolver_note */
	struct build_id build_id;      /* of the kernel; none when the kernel tells none */
	uint64_t text_start, text_end; /* run-time addresses of the kernel's code */
	uint64_t slide;	      /* run-time address minus svma, as KASLR chose it (modulo 2^64) */
	struct symtab symtab; /* of the kernel, by svma */
	VEC(struct kernel_part) parts; /* in order of address */
};

/* Reads PROC_DIR/kallsyms, PROC_DIR/modules, SYS_DIR/kernel/notes and SYS_DIR/module/NAME/notes
 * (normally /proc and /sys).  Only kallsyms must be there.  A hidden kallsyms is no error. */
int kallsyms_load(struct kallsyms *k, const char *proc_dir, const char *sys_dir, struct err *err);
void kallsyms_release(struct kallsyms *k);

/* Loads where the kernel and its parts are, without procedures (the symtabs are empty), in a
 * fraction of the memory. */
int kallsyms_load_layout(struct kallsyms *k, const char *proc_dir, const char *sys_dir,
			 struct err *err);

/* Where the running kernel's code begins, from the first lines of PROC_DIR/kallsyms alone: writing
 * all of them takes the kernel 20 ms and more.  -ENOENT when its addresses are hidden or it has no
 * _text. */
int kallsyms_find_text(const char *proc_dir, uint64_t *ret_start);

/* Gives FN the modules of PROC_DIR/modules, each with the addresses [START, END) that its code is
 * in; none where they are hidden. */
void kallsyms_each_module(const char *proc_dir,
			  void (*fn)(void *ctx, const char *name, uint64_t start, uint64_t end),
			  void *ctx);

/* The part whose name is NAME, or NULL. */
const struct kernel_part *kallsyms_find_part(const struct kallsyms *k, const char *name);

/* The address vmlinux is linked at, of a kernel whose code begins at run-time address TEXT_START:
 * what TEXT_START would be without KASLR. */
uint64_t kallsyms_link_start(uint64_t text_start);

/* The build-id of the running kernel, from SYS_DIR/kernel/notes; -ENOENT when it tells none. */
int kallsyms_build_id(const char *sys_dir, struct build_id *ret);

#endif
