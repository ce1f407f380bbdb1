/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's side of a replay: writes a stream (replay_stream.h), multiplied, into the log, the
 * rings of chains and the perf rings of a collector, as the BPF program and perf would. */
#ifndef BENCH_REPLAY_FEED_H
#define BENCH_REPLAY_FEED_H

#include "collect/log.h"
#include "collect/ring.h"
#include "replay_stream.h"

struct feed_opts {
	const char *path;
	uint32_t n_copies;	  /* of the machine that was recorded */
	uint32_t n_variants;	  /* copies with the same files: as many sets of files there are */
	uint32_t n_cpus;	  /* of the recording, and so of each copy */
	double kept;		  /* part of the recorded samples that is fed */
	const struct ring *rings; /* n_copies * n_cpus, in memory shared with the collector */
	struct log_fds log;
	uint32_t n_slots, n_words; /* of a CPU */
};

struct feed_counts {
	uint64_t n_samples, n_dropped;	  /* that the log had no room for */
	uint64_t n_chains, n_chains_lost; /* sent; for which there was no room */
	uint64_t n_records, n_lost;	  /* of the sideband */
	uint64_t n_sideband_bytes;
	uint64_t n_late_ns; /* by which the feeder itself was late, at most */
};

struct feed;

/* Number of whole parts a stream has, and its CPUs; after the first, which is what there was. */
struct feed *feed_open(const struct feed_opts *o, struct err *err);

/* Feeds the mappings that COPY has at the start, which are not counted; then part I of the
 * recording, modulo their number, to all copies. */
void feed_first(struct feed *f, uint32_t copy);
void feed_part(struct feed *f, uint32_t i);
struct feed_counts feed_counts(const struct feed *f);

/* Calls FN for each block of KIND in the stream PATH.  Returns the number of parts, or an error. */
int stream_each(const char *path, enum stream_kind kind,
		void (*fn)(void *ctx, const struct stream_head *h, const void *bytes), void *ctx,
		struct err *err);

/* The pid that PID of the recording has in COPY.  Pids are known in the order in which the stream
 * tells of them first: whoever maps all TASK blocks in order agrees with the feeder. */
uint32_t feed_pid(uint32_t pid, uint32_t copy);

/* The number of file NUMBER of the recording in variant V, of N_IMAGES files. */
static inline uint32_t feed_number(uint32_t number, uint32_t v, uint32_t n_images)
{
	return number < 2 ? number : number + v * n_images;
}

/* Makes PATH that of variant V. */
static inline void feed_path(char *path, uint32_t v)
{
	if (v && path[0] == '/' && path[1] != '/')
		path[1] = (char)('A' + v);
}

#endif
