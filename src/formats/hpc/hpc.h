/* SPDX-License-Identifier: BSD-2-Clause */
/* What the four files of an HPCToolkit database share: meta.db, profile.db, cct.db and trace.db,
 * version 4.0.  Fields have the names of the format's own description (docs/formats/hpctoolkit.md).
 *
 * Two layouts call themselves 4.0: the one described in FORMATS.md of early 2022 ("page") and the
 * one HPCToolkit released ("released").  A file tells by the sizes of its structures which one it
 * is; files of one database may differ.
 *
 * Readers work on the bytes of a mapped file and decode a structure when it is asked for; nothing
 * is read that is not needed.  All pointers and counts are checked against the file first: an error
 * is -EBADMSG (or -EPROTONOSUPPORT for a larger major version) and names file, offset, structure
 * and field.  Readers may be used by several threads at once once they are open. */
#ifndef FORMATS_HPC_HPC_H
#define FORMATS_HPC_HPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hpc_layout { HPC_RELEASED, HPC_PAGE };

/* "released", "page". */
const char *hpc_layout_name(enum hpc_layout l);

enum { HPC_MAJOR = 4, HPC_MINOR = 0 };

/* No module, file, function, context. */
#define HPC_NONE UINT32_MAX

/* The implicit root of all contexts. */
#define HPC_ROOT_CTX 0

/* The profile of the summary statistics. */
#define HPC_SUMMARY_PROFILE 0

enum hpc_relation { HPC_LEXICAL, HPC_CALL, HPC_INLINED_CALL };
enum hpc_lexical_type { HPC_FUNCTION, HPC_LOOP, HPC_LINE, HPC_INSTRUCTION };
enum hpc_combine { HPC_SUM, HPC_MIN, HPC_MAX };
enum hpc_entry_point { HPC_ENTRY_UNKNOWN, HPC_ENTRY_MAIN_THREAD, HPC_ENTRY_THREAD };
enum hpc_scope_type {
	HPC_SCOPE_CUSTOM,
	HPC_SCOPE_POINT,
	HPC_SCOPE_EXECUTION,
	HPC_SCOPE_TRANSITIVE
};

/* Kinds of identifiers as HPCToolkit numbers them; a database names its own. */
enum hpc_id_kind {
	HPC_ID_SUMMARY,
	HPC_ID_NODE,
	HPC_ID_RANK,
	HPC_ID_THREAD,
	HPC_ID_GPUDEVICE,
	HPC_ID_GPUCONTEXT,
	HPC_ID_GPUSTREAM,
	HPC_ID_CORE,
	HPC_N_ID_KINDS
};

enum { HPC_ID_IS_PHYSICAL = 1u << 0 };

/* One identification of a profile's identifier tuple. */
struct hpc_id {
	uint8_t kind;
	uint16_t flags;
	uint32_t logicalId;
	uint64_t physicalId;
};

/* One value of a thread (profile.db): of metric metricId, a propMetricId, or a statMetricId in the
 * summary profile. */
struct hpc_value {
	uint16_t metricId;
	double value;
};

/* Where in a block's values those of a context begin. */
struct hpc_ctx_index {
	uint32_t ctxId;
	uint64_t startIndex;
};

/* One value of a context (cct.db). */
struct hpc_profile_value {
	uint32_t profIndex;
	double value;
};

/* Where in a block's values those of a metric begin. */
struct hpc_metric_index {
	uint16_t metricId;
	uint64_t startIndex;
};

/* One point of a trace line: from TIMESTAMP (nanoseconds since 1970) on the thread was in ctxId; 0:
 * it was not running. */
struct hpc_trace_elem {
	uint64_t timestamp;
	uint32_t ctxId;
};

#endif
