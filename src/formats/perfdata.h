/* SPDX-License-Identifier: BSD-2-Clause */
/* The files that Linux's perf writes: bytes to structs (docs/formats/perfdata.md).
 *
 * A file is a header, the descriptions of its events, the records, and sections with facts about
 * the machine.  What perf writes to a pipe is records only; the descriptions are records too.
 * Nothing here reads files or knows what records mean.  The caller gives bytes, of either byte
 * order, and the struct perfdata that the bytes before them filled.
 *
 * Everything comes from outside.  Decoded structs point into the bytes given; text is
 * NUL-terminated there.  Errors: -EBADMSG what cannot be, -ENODATA truncated. */
#ifndef FORMATS_PERFDATA_H
#define FORMATS_PERFDATA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/rd.h"
#include "base/str.h"
#include "base/vec.h"
#include "formats/perfdata_abi.h"
#include "model/image.h"

#define PERFDATA_HEADER_BYTES	   104 /* of a file */
#define PERFDATA_PIPE_HEADER_BYTES 16
#define PERFDATA_MAX_RECORD	   65535
#define PERFDATA_NONE		   UINT32_MAX

/* struct perf_event_attr; fields that the file's version of it lacks are 0.  `flags` has the bits
 * in the order of little-endian machines, whatever the file's. */
struct perfdata_attr {
	uint32_t type, size;
	uint64_t config, config1, config2, config3;
	uint64_t period; /* or Hz: PERFDATA_A_FREQ */
	uint64_t sample_type, read_format, flags;
	uint64_t branch_sample_type, regs_user, regs_intr, sig_data;
	uint32_t stack_user, wakeup, bp_type, aux_watermark, aux_sample_size;
	int32_t clockid;
	uint16_t max_stack;
};

static inline bool perfdata_attr_has(const struct perfdata_attr *a, enum perfdata_attr_flag bit)
{
	return a->flags >> bit & 1;
}

struct perfdata_event {
	struct perfdata_attr attr;
	char *name; /* as perf shows it; NULL: nobody told */
	/* Where its records tell their time: in bytes of a sample's body, or before the end of
	 * another record.  -1: they do not. */
	int16_t sample_time_at, other_time_at;
	uint8_t sample_id_bytes; /* at the end of other records */
};

struct perfdata_section {
	uint64_t off, n_bytes;
};

struct perfdata_pmu {
	uint32_t type; /* of events' attr */
	char *name;
};

/* Which blocks of physical memory a NUMA node has: bit I of WORDS is block I. */
struct perfdata_node {
	uint32_t node;
	uint64_t *words;
	size_t n_words;
};

struct perfdata_tracepoint {
	uint64_t id; /* its events' config */
	char *name;  /* "sched:sched_switch" */
};

struct perfdata_build_id {
	struct build_id id;
	uint16_t misc; /* PERFDATA_MODE_KERNEL or _USER: whose file */
	int32_t pid;   /* -1: the machine's own */
	char *path;
};

struct perfdata {
	/* From the file's header: */
	bool big_endian, pipe;
	bool old; /* the first generation, "PERFFILE" */
	uint64_t attr_entry_bytes;
	struct perfdata_section attrs, data; /* data.n_bytes 0: perf was killed */
	uint64_t features[PERFDATA_MAX_FEATURES / 64];
	/* From descriptions: */
	VEC(struct perfdata_event) events;
	VEC(char *) names; /* of events to come: EVENT_DESC is before them in a pipe */
	struct {
		uint64_t id;
		uint32_t event;
	} * ids; /* n_ids, by id_ix */
	size_t n_ids, ids_cap;
	struct index id_ix;
	/* From features: */
	char *host, *release, *version, *arch, *cpu_desc, *cpu_id, *command;
	uint32_t n_cpus;	    /* online */
	uint64_t total_mem_kib;	    /* 0: not known */
	uint64_t first_ns, last_ns; /* of samples, in the samples' clock */
	bool has_clock;		    /* these two are one moment: */
	uint64_t wall_ns, clock_ns; /* since 1970; in the samples' clock */
	uint32_t clockid;	    /* when has_clock */
	uint64_t written_s;	    /* when the recording ended, since 1970; 0: not told */
	uint64_t dir_version;	    /* not 0: records are in files beside this one */
	VEC(struct perfdata_build_id) build_ids;
	VEC(struct perfdata_pmu) pmus;
	VEC(uint32_t) cpu_nodes; /* by CPU: its NUMA node + 1; 0: not told */
	uint64_t memory_block;	 /* bytes of a block of memory; 0: not told */
	VEC(struct perfdata_node) nodes;
	VEC(struct perfdata_tracepoint) tracepoints;	  /* of TRACING_DATA */
	uint64_t has_feature[PERFDATA_MAX_FEATURES / 64]; /* those that were read */
	/* Set from the events: where a record has its event's id and its time, in bytes of a
	 * sample's body or before the end of another record.  -1: nowhere; -2: that depends on the
	 * event. */
	bool sample_id_all;
	int16_t sample_id_at, other_id_at;
	int16_t sample_time_at, other_time_at;
};

/* Says whether the N bytes begin as perf's files do: 1, or 0. */
int perfdata_probe(const uint8_t *bytes, size_t n);

/* Reads the header from the first N bytes of a file: PERFDATA_HEADER_BYTES of them, or for a pipe
 * PERFDATA_PIPE_HEADER_BYTES are enough.  Release PD with perfdata_release, also
 * after a failure. */
int perfdata_read_header(struct perfdata *pd, const uint8_t *bytes, size_t n, struct err *err);
void perfdata_release(struct perfdata *pd);

/* The events of a file: N bytes, PD's attrs section.  Each tells where the ids of its samples are;
 * RET_IDS gets one section for each event (freed by the caller). */
int perfdata_read_attrs(struct perfdata *pd, const uint8_t *bytes, size_t n,
			struct perfdata_section **ret_ids, struct err *err);
int perfdata_read_ids(struct perfdata *pd, uint32_t event, const uint8_t *bytes, size_t n,
		      struct err *err);

/* Finds out where records tell their time and event.  Call it when all events of a file are read;
 * the readers of records call it themselves. */
int perfdata_set_layout(struct perfdata *pd, struct err *err);

/* Reads the table of sections from the N bytes at the data's end.  It has one section for each bit
 * that is set in PD's features, in the order of the bits. */
int perfdata_read_sections(const struct perfdata *pd, const uint8_t *bytes, size_t n,
			   struct perfdata_section ret[PERFDATA_MAX_FEATURES], struct err *err);
size_t perfdata_n_sections(const struct perfdata *pd);

/* Reads section FEATURE into PD, and with TEXT also as lines of text.  Features not known are
 * passed over.  -EBADMSG: damaged, and PD has what came before. */
int perfdata_read_feature(struct perfdata *pd, uint32_t feature, const uint8_t *bytes, size_t n,
			  struct str *text, struct err *err);

/* Takes the names of tracepoints from N bytes of tracing data: a section, or what follows a record
 * TRACING_DATA.  -EBADMSG: damaged, and PD has what came before. */
int perfdata_read_tracing(struct perfdata *pd, const uint8_t *bytes, size_t n, struct err *err);

/* The NUMA node of the physical address PHYS, and that of a CPU, + 1; 0: the file does not tell. */
uint32_t perfdata_node_of(const struct perfdata *pd, uint64_t phys);
uint32_t perfdata_cpu_node(const struct perfdata *pd, uint32_t cpu);

/* "HOSTNAME", ...; NULL when it is not known. */
const char *perfdata_feature_name(uint32_t feature);

/* Records. */

struct perfdata_head {
	uint32_t type;
	uint16_t misc, size; /* size counts the header's 8 bytes */
};

/* Reads a record's header from 8 bytes; -EBADMSG when its size cannot be. */
int perfdata_read_head(const struct perfdata *pd, const uint8_t *bytes, struct perfdata_head *ret);

/* Bytes that follow the record at P (of HEAD->size bytes) without being in its size: AUX data,
 * tracing data. */
uint64_t perfdata_payload(const struct perfdata *pd, const struct perfdata_head *head,
			  const uint8_t *p);

/* The time of a record of the kernel, at P; 0 for one that tells none. */
uint64_t perfdata_time(const struct perfdata *pd, const struct perfdata_head *head,
		       const uint8_t *p);

/* A list of numbers of 64 bits in the file's byte order. */
struct perfdata_words {
	const uint8_t *p;
	uint32_t n;
	bool big_endian;
};

uint64_t perfdata_word(const struct perfdata_words *w, uint32_t i);

struct perfdata_branch {
	uint64_t from, to, flags; /* flags as little-endian machines lay them out */
};

/* Counts, of PERFDATA_S_READ and PERFDATA_READ. */
struct perfdata_counts {
	uint64_t enabled_ns, running_ns;
	uint32_t n;
	uint64_t format; /* perf_event_read_format */
	uint64_t single; /* these two: see perfdata_count */
	struct perfdata_words values;
};

struct perfdata_count {
	uint64_t value, id, lost;
	bool has_id;
};

struct perfdata_count perfdata_count(const struct perfdata_counts *c, uint32_t i);

struct perfdata_bytes {
	const uint8_t *p;
	size_t n;
};

/* Who a record is of, and when.  Samples have it; other records do when the file has
 * sample_id_all. */
struct perfdata_id {
	uint64_t time, id, stream_id;
	uint32_t pid, tid, cpu;
	uint32_t has; /* PERFDATA_S_TID, _TIME, _ID, _STREAM_ID, _CPU, _IDENTIFIER */
};

struct perfdata_sample {
	uint64_t has; /* the event's sample_type */
	uint64_t ip, addr, period;
	struct perfdata_counts counts;
	bool has_chain;
	struct perfdata_words ips; /* callers, with marks PERFDATA_CONTEXT_* */
	struct perfdata_bytes raw;
	uint64_t hw_idx;		/* of the branches; when asked for */
	struct perfdata_words branches; /* three words each: perfdata_branch */
	struct perfdata_words branch_counters;
	uint64_t user_abi, intr_abi;		    /* enum perfdata_regs_abi */
	struct perfdata_words user_regs, intr_regs; /* one for each bit of attr.regs_* */
	struct perfdata_bytes stack;		    /* only what was the stack's */
	uint64_t weight; /* PERFDATA_S_WEIGHT, or the struct: var1, var2, var3 from bit 0,
			    32, 48 */
	uint64_t data_src, transaction, phys_addr, cgroup, data_page_size, code_page_size;
	struct perfdata_bytes aux;
};

struct perfdata_branch perfdata_branch(const struct perfdata_sample *s, uint32_t i);

/* Reads branches FIRST and behind it of S into RET, at most MOST.  Returns how many there were. */
uint32_t perfdata_branches(const struct perfdata_sample *s, uint32_t first, uint32_t most,
			   struct perfdata_branch *ret);

struct perfdata_mmap {
	uint32_t pid, tid;
	uint64_t addr, n_bytes, off;
	struct build_id build_id; /* MMAP2 with one */
	uint32_t maj, min;	  /* MMAP2 without */
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
	const char *path;
};

struct perfdata_record {
	struct perfdata_head head;
	uint32_t event;	 /* whose it is; PERFDATA_NONE when it cannot be told */
	bool unknown_id; /* it tells an id that no event has */
	struct perfdata_id id;
	union {
		struct perfdata_sample sample;
		struct perfdata_mmap mmap; /* MMAP, MMAP2 */
		struct {
			uint32_t pid, tid;
			bool exec;
			const char *name;
		} comm;
		struct { /* FORK, EXIT */
			uint32_t pid, ppid, tid, ptid;
			uint64_t time;
		} task;
		struct { /* LOST, LOST_SAMPLES */
			uint64_t id, n;
		} lost;
		struct { /* THROTTLE, UNTHROTTLE */
			uint64_t time, id, stream_id;
		} throttle;
		struct {
			uint32_t pid, tid;
			struct perfdata_counts counts;
		} read;
		struct {
			uint64_t off, n_bytes, flags;
		} aux;
		struct { /* ITRACE_START; SWITCH_CPU_WIDE: the next or previous */
			uint32_t pid, tid;
		} thread;
		struct {
			uint32_t pid, tid;
			struct perfdata_words links; /* dev, inode; dev, inode; ... */
		} namespaces;
		struct {
			uint64_t addr;
			uint32_t n_bytes;
			uint16_t type, flags;
			const char *name;
		} ksymbol;
		struct {
			uint16_t type, flags;
			uint32_t id;
			const uint8_t *tag; /* 8 bytes */
		} bpf;
		struct {
			uint64_t id;
			const char *path;
		} cgroup;
		struct {
			uint64_t addr;
			struct perfdata_bytes old, new;
		} poke;
		uint64_t hw_id; /* AUX_OUTPUT_HW_ID */
		struct { /* CALLCHAIN_DEFERRED: the user's part of chains that end in COOKIE */
			uint64_t cookie;
			struct perfdata_words ips;
		} deferred;
		/* Written by perf itself: */
		struct {
			uint32_t type;
			struct perfdata_words words;
		} auxtrace_info;
		struct {
			uint64_t n_bytes, off, reference;
			uint32_t idx, tid, cpu;
		} auxtrace;
		struct {
			uint32_t type, code, cpu, pid, tid;
			uint64_t ip, time;
			const char *msg;
		} auxtrace_error;
		struct {
			uint64_t shift, mult, zero, cycles, mask;
		} time_conv;
		struct { /* STAT: what an event counted so far on a CPU, in a thread */
			uint64_t id, value, enabled_ns, running_ns;
			uint32_t cpu, thread;
		} stat;
		struct {
			uint64_t type, time; /* PERFDATA_STAT_FINAL; ns since the start */
		} stat_round;
		struct perfdata_bytes bytes; /* COMPRESSED, COMPRESSED2, FEATURE: the payload */
	};
	uint32_t feature; /* FEATURE */
};

/* Decodes the whole record at P, of HEAD->size bytes.  Types not known are decoded as far as their
 * id.  -EBADMSG when it is too short for what it must hold. */
int perfdata_read_record(const struct perfdata *pd, const struct perfdata_head *head,
			 const uint8_t *p, struct perfdata_record *ret);

/* Tells the mode, address and thread of the sample at P if it is of an event that has its fields as
 * PD's first one does; else what it tells is another.  False where it tells none. */
bool perfdata_peek(const struct perfdata *pd, const uint8_t *p, unsigned *ret_mode,
		   uint64_t *ret_ip, uint32_t *ret_tid);

/* Takes a record that describes (ATTR, BUILD_ID, EVENT_UPDATE, FEATURE, ID_INDEX) into PD; others
 * change nothing. */
int perfdata_take_record(struct perfdata *pd, const struct perfdata_head *head, const uint8_t *p,
			 struct err *err);

/* Whether bytes of this type of record are put in order of time with others. */
bool perfdata_is_timed(uint32_t type);

/* The number of ID in PD's ids, or PERFDATA_NONE. */
uint32_t perfdata_find_id(const struct perfdata *pd, uint64_t id);

/* The event that ID belongs to, or PERFDATA_NONE. */
uint32_t perfdata_find_event(const struct perfdata *pd, uint64_t id);

/* "SAMPLE", "MMAP2", ...; NULL for a type not known. */
const char *perfdata_type_name(uint32_t type);

/* The record at OFF of the file as one line of text or more, with all its fields. */
void perfdata_format_record(const struct perfdata *pd, const struct perfdata_record *r,
			    uint64_t off, struct str *text);

/* Decompression of COMPRESSED records: all of one file are one stream. */
struct perfdata_inflate;

struct perfdata_inflate *perfdata_inflate_new(void);
void perfdata_inflate_free(struct perfdata_inflate *z);

/* Decompresses from IN, which is advanced, to at most N bytes at OUT; returns how many were
 * written.  Call until IN is empty and less than N came.  -EBADMSG: it is no such stream. */
int perfdata_inflate(struct perfdata_inflate *z, struct perfdata_bytes *in, uint8_t *out, size_t n,
		     size_t *ret_n);

#endif
