/* SPDX-License-Identifier: BSD-2-Clause */
/* What HPCToolkit's hpcrun measured: a file of a thread, or a directory of such. */
#ifndef PORT_MEASURED_IN_H
#define PORT_MEASURED_IN_H

#include "base/str.h"
#include "port/stacks_in.h"

/* 1: PATH is called as a profile of hpcrun is, or a directory with some; else 0. */
int measured_in_probe(const char *path);

struct measured_in_opts {
	bool traces;		  /* time lines as well */
	const char *const *paths; /* those that are rules (base/path_rules.h) say where modules lie;
				     borrowed */
	size_t n_paths;
};

/* Adds what is at PATH to P, which is empty, and names of the kernel's code to SYMBOLS; what is
 * lost on the way is appended to NOTES, a line each.  hpcrun tells modules by their paths alone:
 * what is there now is taken for what was measured.  -EBADMSG, -EPROTONOSUPPORT, or of reading: the
 * message names the file. */
int measured_in_load(const char *path, const struct measured_in_opts *o, struct profile *p,
		     stacks_symbol_list *symbols, struct str *notes, struct err *err);

#endif
