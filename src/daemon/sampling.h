/* SPDX-License-Identifier: BSD-2-Clause */
/* A collector and what it needs to know of this machine: the kernel's code, the vdso, generated
 * code, and, at flushes, everybody's symbols.  What recorders of every kind share. */
#ifndef DAEMON_SAMPLING_H
#define DAEMON_SAMPLING_H

#include "collect/collector.h"
#include "daemon/containers.h"
#include "daemon/generated.h"
#include "daemon/keep_code.h"
#include "daemon/sample_facts.h"

typedef VEC(bool) bool_list;

/* Addresses that a module of the kernel may be at. */
struct module_span {
	uint64_t start, end;
};

struct sampling {
	struct collector *collector;
	struct profile profile;
	struct generated generated;
	struct containers containers;
	struct sample_facts_reader facts;
	struct image_layout vdso;
	int64_t clock_offset_ns; /* wall clock minus CLOCK_MONOTONIC at the start */
	bool has_calls;
	size_t n_late;	 /* files that sampling_save_symbols waits for */
	bool names_only; /* procedures' code is not kept with their symbols */
	bool said_room;	 /* that there is no room for names */
	VEC(struct module_span) modules;
	struct image kernel; /* without a build-id: it is not known */
	bool has_programs;   /* the collector was told where these and BPF programs are */
	bool has_all_kernel; /* and all else that /proc/kallsyms tells */
	unsigned n_nameless; /* samples in the kernel that were in none of these */
	bool_list saved;     /* by image: its symbols were kept already */
	/* By code: several files may claim to be one image, and the best of them is believed. */
	bool_list saved_files;
	struct keep_code kept;
};

/* Opens everything OPTS asks for; its probe, vdso, clock_offset_ns and tables' loader are filled
 * here.  FACTS are added to those that have names (NULL: none), COMMAND is shown with the profile.
 * S must not move until sampling_release, which is due after a failure as well. */
int sampling_open(struct sampling *s, const struct collector_opts *opts, struct fact_defs *facts,
		  const char *command, struct err *err);

/* Samples from now on. */
int sampling_start(struct sampling *s, struct err *err);

/* The two halves of it: collector_prepare, collector_go. */
int sampling_prepare(struct sampling *s, struct err *err);
void sampling_go(struct sampling *s);

/* Folds what came since the last time (collector_cycle), and asks about containers that are new. */
void sampling_cycle(struct sampling *s);

/* To be called when the profile is about to be stored: puts everything counted into it, and the
 * names of generated code to IMAGES_DIR. */
void sampling_settle(struct sampling *s, const char *images_dir);

/* Keeps the symbols of all that was sampled in IMAGES_DIR, and the code of procedures with samples,
 * while the files are still open or there; each once.  Where children read the files, waits WAIT_NS
 * for them at most; returns of how many files they are not done.  These are saved by a later
 * call. */
size_t sampling_save_symbols(struct sampling *s, const char *images_dir, uint64_t wait_ns);

/* Keeps the running kernel's symbols in IMAGES_DIR.  Where they are kept nowhere yet it reads them,
 * which takes some 13 MB for a moment: less is in memory at the start than at the first flush. */
void sampling_save_kernel(struct sampling *s, const char *images_dir);

/* Whether the last sampling_save_symbols waited in vain for the symbols of IM, a file. */
bool sampling_is_late(const struct sampling *s, const struct image *im);

/* The memory of what S met: what a new one would begin without. */
size_t sampling_bytes(const struct sampling *s);

void sampling_release(struct sampling *s);

#endif
