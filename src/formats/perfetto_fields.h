/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers of fields of Perfetto's traces (protos/perfetto/trace of google/perfetto): the part of
 * its public interface that sampled call paths need. */
#ifndef FORMATS_PERFETTO_FIELDS_H
#define FORMATS_PERFETTO_FIELDS_H

enum perfetto_packet_field {
	PACKET_IN_TRACE = 1, /* of a Trace */
	PACKET_PROCESS_TREE = 2,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_SAMPLE = 66,
};

enum perfetto_flags { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };

enum perfetto_interned_field {
	INTERNED_FUNCTION_NAMES = 5,
	INTERNED_FRAMES = 6,
	INTERNED_CALLSTACKS = 7,
	INTERNED_BUILD_IDS = 16,
	INTERNED_PATHS = 17,
	INTERNED_SOURCES = 18,
	INTERNED_MAPPINGS = 19,
};

enum perfetto_string_field { INTERNED_STRING_ID = 1, INTERNED_STRING_TEXT = 2 };

enum perfetto_mapping_field {
	PERFETTO_MAPPING_ID = 1,
	PERFETTO_MAPPING_BUILD_ID = 2,
	PERFETTO_MAPPING_START = 4,
	PERFETTO_MAPPING_END = 5,
	PERFETTO_MAPPING_PATH = 7,
};

enum perfetto_frame_field {
	PERFETTO_FRAME_ID = 1,
	PERFETTO_FRAME_FUNCTION = 2,
	PERFETTO_FRAME_MAPPING = 3,
	PERFETTO_FRAME_REL_PC = 4,
	PERFETTO_FRAME_SOURCE = 5,
	PERFETTO_FRAME_LINE = 6,
};

enum perfetto_callstack_field { CALLSTACK_ID = 1, CALLSTACK_FRAMES = 2 };

enum perfetto_sample_field {
	PERFETTO_SAMPLE_PID = 2,
	PERFETTO_SAMPLE_TID = 3,
	PERFETTO_SAMPLE_CALLSTACK = 4,
	PERFETTO_SAMPLE_MODE = 5,
};

enum perfetto_mode { MODE_KERNEL = 1, MODE_USER = 2 };

enum perfetto_tree_field {
	TREE_PROCESSES = 1,
	TREE_THREADS = 2,
	TREE_PROCESS_PID = 1,
	TREE_PROCESS_COMMAND = 3,
	TREE_THREAD_TID = 1,
	TREE_THREAD_NAME = 2,
	TREE_THREAD_TGID = 3,
};

#endif
