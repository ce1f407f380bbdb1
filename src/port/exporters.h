/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples in other tools' formats.  A format is a row of one table: `dwell export`, its help, its
 * manual and completion of command lines are made of it.
 *
 * To add a format: NAME_out.c with a function that writes, a row in exporters.c, a page in
 * docs/formats and a test with a reader that is not ours. */
#ifndef PORT_EXPORTERS_H
#define PORT_EXPORTERS_H

#include "base/out_stream.h"
#include "port/stacks.h"

enum exporter_needs {
	EXPORTER_LINES = 1 << 0,     /* source lines */
	EXPORTER_THREADS = 1 << 1,   /* time lines, where there are any */
	EXPORTER_BRANCHES = 1 << 2,  /* branch stacks, where there are any */
	EXPORTER_SITES = 1 << 4,     /* what compilers ask for: stacks.h of query/ */
	EXPORTER_RUNS = 1 << 5,	     /* how often the program's code ran */
	EXPORTER_LOCALS = 1 << 6,    /* numbers of local symbols of one name */
	EXPORTER_ADDRESSES = 1 << 3, /* of code: sources without them are refused */
	EXPORTER_ONE_NUMBER =
		1 << 7,		/* a sum of samples or of a counter, no ratio; none: no file */
	EXPORTER_TEXT = 1 << 8, /* goes to standard output without -o */
};

struct exporter_result {
	uint64_t n;	  /* of the column that was written, or of the main one */
	const char *unit; /* of N: "samples", "nanoseconds" */
	struct str notes; /* lines about what was left out */
};

/* Writes S to OUT. */
typedef int exporter_write(const struct stacks *s, struct out_stream *out,
			   struct exporter_result *ret, struct err *err);

struct exporter {
	const char *name;   /* the option: "pprof" */
	const char *suffix; /* that files have, ".pb.gz" */
	const char *help;   /* one line */
	const char *cannot; /* what the format cannot hold, one sentence */
	unsigned needs;	    /* enum exporter_needs */
	exporter_write *write;
};

extern const struct exporter exporters[];
extern const size_t n_exporters;

exporter_write pprof_out_write, speedscope_out_write, callgrind_out_write, script_out_write,
	gmon_out_write, firefox_out_write, autofdo_out_write, bolt_out_write, bolt_pre_out_write,
	otlp_out_write, perfetto_out_write, folded_out_write;

#endif
