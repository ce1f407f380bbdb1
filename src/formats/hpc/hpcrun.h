/* SPDX-License-Identifier: BSD-2-Clause */
/* What HPCToolkit's hpcrun leaves of a thread: its profile (hpcrun) and its time line (hpctrace),
 * as docs/formats/hpcrun.md has them. */
#ifndef FORMATS_HPC_HPCRUN_H
#define FORMATS_HPC_HPCRUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/rd.h"
#include "base/vec.h"

/* Modules that are none. */
#define HPCRUN_PLACEHOLDER 0

/* Addresses of nodes in module HPCRUN_PLACEHOLDER: eight letters each. */
#define HPCRUN_ROOT	   0x5e5072696d617279ull /* "^Primary" */
#define HPCRUN_PARTIAL	   0x5e5061727469616cull /* "^Partial" */
#define HPCRUN_MAIN	   0x7c204d61696e2020ull /* "| Main  " */
#define HPCRUN_THREAD	   0x7c20546872656164ull /* "| Thread" */
#define HPCRUN_UNKNOWN	   0x2a556e6e6f726d20ull /* "*Unnorm " */
#define HPCRUN_NO_ACTIVITY 0x4e6f416374767479ull /* "NoActvty" */

struct hpcrun_id {
	uint16_t
		kind; /* of the dictionary that hpcrun writes: NODE 1, RANK 2, THREAD 3, GPUDEVICE 4,
			 * GPUCONTEXT 5, GPUSTREAM 6, CORE 7 */
	uint16_t flags; /* two bits: which of the numbers count */
	uint64_t physical, logical;
};

struct hpcrun_metric {
	const char *name;
	uint64_t period; /* what 1 of its values stands for */
	bool is_real;
	bool is_derived; /* from others, by a formula: has no values */
};

struct hpcrun_module {
	uint16_t id;
	const char *path; /* absolute, or below the directory of measurements */
};

#define HPCRUN_NONE UINT32_MAX

struct hpcrun_node {
	uint32_t id, parent; /* PARENT: its number, a lower one; HPCRUN_NONE: a root */
	uint16_t module;
	bool unwound; /* else there may be calls between it and its parent */
	uint64_t ip;  /* as the module's file states it */
};

struct hpcrun_value {
	uint32_t node; /* number */
	uint16_t metric;
	uint64_t bits;
};

struct hpcrun {
	const char *program, *path; /* "" when not said */
	uint32_t pid, thread, hostid;
	VEC(struct hpcrun_metric) metrics;
	VEC(struct hpcrun_module) modules;
	VEC(struct hpcrun_node) nodes;
	VEC(struct hpcrun_id) ids;
	VEC(struct hpcrun_value) values;
	struct index by_id; /* of nodes */
	struct arena arena;
};

bool hpcrun_probe(const uint8_t *bytes, size_t n);

/* Parses the N bytes of a profile.  -EBADMSG; -EPROTONOSUPPORT for another version.  Release RET in
 * any case. */
int hpcrun_parse(const uint8_t *bytes, size_t n, struct hpcrun *ret, struct err *err);
void hpcrun_release(struct hpcrun *h);

/* The number of the node called ID; HPCRUN_NONE. */
uint32_t hpcrun_find(const struct hpcrun *h, uint32_t id);

/* Value V as it counts: bits, or a double, times the metric's period. */
double hpcrun_amount(const struct hpcrun *h, const struct hpcrun_value *v);

/* What the state is called that a node in module HPCRUN_PLACEHOLDER stands for, such as "gpu
 * kernel"; NULL: it is not known, or not a state. */
const char *hpcrun_state(uint64_t letters);

/* A line of the kernel's symbols, which hpcrun keeps as /proc/kallsyms has them. */
struct hpcrun_symbol {
	uint64_t svma;
	const char *name; /* N_NAME bytes of the text */
	size_t n_name;
	char type; /* as nm(1) has it: 't' and 'T' are code */
};

/* Reads the next line of R that is a symbol; false at the end. */
bool hpcrun_next_symbol(struct rd *r, struct hpcrun_symbol *ret);

/* Points of a time line; BYTES stay the caller's. */
struct hpctrace {
	const uint8_t *bytes;
	size_t n;
};

struct hpctrace_point {
	uint64_t time_ns; /* since 1970 */
	uint32_t node;	  /* its id */
};

int hpctrace_parse(const uint8_t *bytes, size_t n, struct hpctrace *ret, struct err *err);
struct hpctrace_point hpctrace_get(const struct hpctrace *t, size_t i);

#endif
