/* SPDX-License-Identifier: BSD-2-Clause */
/* See exporters.h. */
#include "port/exporters.h"

const struct exporter exporters[] = {
	{"folded", ".folded", "call paths as lines for flamegraph.pl and speedscope",
	 "All events but one, addresses, source lines, whose samples are but for the command, and "
	 "times are left out.",
	 EXPORTER_ONE_NUMBER | EXPORTER_TEXT, folded_out_write},
	{"pprof", ".pb.gz", "a profile for `go tool pprof`, Pyroscope, Parca and others",
	 "Times of samples and their bits and counters are left out.", EXPORTER_LINES,
	 pprof_out_write},
	{"speedscope", ".speedscope.json", "a file for speedscope.app",
	 "Addresses, images and build-ids, lines of calls, and times of samples are left out.",
	 EXPORTER_LINES, speedscope_out_write},
	{"callgrind", ".callgrind.out", "a file for KCachegrind and callgrind_annotate",
	 "Whose the samples are, times of samples, and paths of more than one call are left out.",
	 EXPORTER_LINES, callgrind_out_write},
	{"firefox", ".json", "a file for profiler.firefox.com",
	 "All events but the first, build-ids of code without a file, and lost samples are left "
	 "out.",
	 EXPORTER_LINES | EXPORTER_THREADS, firefox_out_write},
	{"perf-script", ".perf.txt", "text as `perf script` prints it, for what reads that",
	 "Source lines, CPUs, and whose samples are but for command, process and thread are left "
	 "out.",
	 EXPORTER_THREADS | EXPORTER_ADDRESSES, script_out_write},
	{"gmon", ".gmon.out", "a gmon.out of one program, for gprof",
	 "Samples outside of the program, and paths of more than one call are left out.",
	 EXPORTER_ADDRESSES, gmon_out_write},
	{"otlp", ".otlp.pb", "OTLP profiles (v1development of opentelemetry-proto 1.11.0)",
	 "Times of samples, bits and counters, and lost samples are left out.", EXPORTER_LINES,
	 otlp_out_write},
	{"perfetto", ".perfetto-trace", "a trace for ui.perfetto.dev",
	 "Samples without a time, and what samples stand for are left out.",
	 EXPORTER_LINES | EXPORTER_THREADS | EXPORTER_ADDRESSES, perfetto_out_write},
	{"autofdo", ".afdo.txt", "a profile of one program for clang -fprofile-sample-use",
	 "Callers, threads, and samples outside of the program are left out.",
	 EXPORTER_LINES | EXPORTER_SITES | EXPORTER_RUNS | EXPORTER_ADDRESSES | EXPORTER_BRANCHES,
	 autofdo_out_write},
	{"bolt", ".fdata", "a profile of one program for llvm-bolt",
	 "Callers, threads, and samples outside of the program are left out.",
	 EXPORTER_ADDRESSES | EXPORTER_BRANCHES | EXPORTER_LOCALS, bolt_out_write},
	{"bolt-pre", ".preagg", "branch stacks of one program for perf2bolt -pa",
	 "Callers, threads, and samples outside of the program are left out.",
	 EXPORTER_ADDRESSES | EXPORTER_BRANCHES, bolt_pre_out_write},
};

const size_t n_exporters = n_elems(exporters);
