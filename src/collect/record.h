/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of a perf ring, decoded (perf_event.h, enum perf_event_type).  Only those the
 * recorder acts on; the others decode to RECORD_OTHER.  All events of a recording use one sample
 * layout, RECORD_SAMPLE_TYPE, with sample_id_all, so that time and event can be read from any
 * record. */
#ifndef COLLECT_RECORD_H
#define COLLECT_RECORD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/rd.h"
#include "model/image.h"

#define RECORD_SAMPLE_TYPE                                                                         \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

enum record_kind {
	RECORD_OTHER,
	RECORD_MMAP,
	RECORD_COMM,
	RECORD_FORK,
	RECORD_EXIT,
	RECORD_SAMPLE,
	RECORD_LOST,
	RECORD_KSYMBOL,
};

struct record {
	enum record_kind kind;
	bool exec;			   /* COMM: by exec, not by prctl */
	bool unregistered;		   /* KSYMBOL: the symbol goes away */
	uint32_t pid, tid;		   /* whom it is about; FORK: the child */
	uint32_t ppid;			   /* FORK: the parent process */
	uint64_t time_ns;		   /* CLOCK_MONOTONIC */
	uint64_t id;			   /* of the event that wrote it (PERF_EVENT_IOC_ID) */
	uint64_t ip;			   /* SAMPLE */
	uint64_t lost;			   /* LOST: records that did not fit */
	uint64_t addr, n_bytes, off;	   /* MMAP, KSYMBOL */
	uint64_t dev, ino, ino_generation; /* MMAP without a build-id */
	struct build_id build_id;	   /* MMAP */
	const char *name; /* MMAP: file; COMM; KSYMBOL.  NUL-terminated, in the bytes given */
};

/* Steps over the record at R and tells its time, 0 for one without.  Errors as record_read. */
int record_time(struct rd *r, uint64_t *ret_ns);

/* Decodes the record at R and steps over it.  0, or -EBADMSG when its size cannot be. */
int record_read(struct rd *r, struct record *ret);

#endif
