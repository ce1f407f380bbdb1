/* SPDX-License-Identifier: BSD-2-Clause */
/* What a collector on this machine was given, kept in a file: its input, for bench_replay.
 *
 * A stream is blocks: a head, then n_bytes of what its kind says, as it came.  Times and pids are
 * those of the recording.  First come the processes there were (TASK, and SIDEBAND with their
 * mappings), then blocks of each PART_MS, and at the end the files that chains name (IMAGE). */
#ifndef BENCH_REPLAY_STREAM_H
#define BENCH_REPLAY_STREAM_H

#include <stdint.h>

#include "base/err.h"
#include "collect/bpf/record.h"

#define STREAM_PART_MS 100

enum stream_kind {
	STREAM_TASK,	 /* struct stream_task */
	STREAM_SIDEBAND, /* records of a CPU's perf ring */
	STREAM_CHAINS,	 /* words of a CPU's ring of chains */
	STREAM_SAMPLES,	 /* struct stream_sample, of a CPU's log */
	STREAM_PART,	 /* ends a part */
	STREAM_IMAGE,	 /* struct stream_image */
};

struct stream_head {
	uint32_t kind, cpu;
	uint64_t n_bytes;
};

struct stream_task {
	uint64_t now_ns; /* when it was looked at */
	uint32_t tgid, generation, n_threads, is_kernel;
	char comm[16];
};

struct stream_sample {
	struct log_slot slot;
	uint64_t chain;
};

struct stream_image {
	uint32_t number;
	uint64_t dev, ino, ino_generation;
	char path[256];
};

/* Records this machine for N_PARTS parts at HZ into the file PATH. */
int stream_record(const char *path, uint32_t n_parts, uint64_t hz, struct err *err);

#endif
