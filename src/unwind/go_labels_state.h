/* SPDX-License-Identifier: BSD-2-Clause */
/* Where Go keeps the labels of a goroutine, and the state of reading them; see go_labels.h.
 * Included by both compilers. */
#ifndef UNWIND_GO_LABELS_STATE_H
#define UNWIND_GO_LABELS_STATE_H

#include <linux/types.h>

#include "unwind/script_record.h"
#include "unwind/table.h"

/* An image's anchor: where a `g` has its labels, and `m` its goroutine, in bytes. */
#define GO_ANCHOR(labels_at, curg_at) ((__u64)(curg_at) << 32 | (labels_at))
#define GO_LABELS_AT(anchor)	      ((__u32)(anchor)&0xffff)
#define GO_CURG_AT(anchor)	      ((__u32)((anchor) >> 32) & 0xffff)

/* src/runtime/map.go: hmap: count, flags, B (a byte each from 8 on), buckets (16), oldbuckets (24);
 * bmap of strings: 8 bytes of hashes, 8 keys, 8 values, the next bucket. */
#define GO_MAP_WORDS	 4
#define GO_BUCKET_ITEMS	 8
#define GO_BUCKET_KEYS	 8
#define GO_BUCKET_VALUES (GO_BUCKET_KEYS + GO_BUCKET_ITEMS * 16)
#define GO_BUCKET_BYTES	 (GO_BUCKET_VALUES + GO_BUCKET_ITEMS * 16 + 8)
#define GO_MIN_HASH	 5 /* minTopHash: smaller ones say that there is no item */

/* What a list of labels has of each: key and value. */
#define GO_ITEM_BYTES 32

/* Places that are looked at: buckets of 8. */
#define GO_MOST_ITEMS 64

#define GO_KEY_BYTES   48
#define GO_VALUE_BYTES 200
#define GO_LABEL_WORDS ((8 + GO_KEY_BYTES + GO_VALUE_BYTES) / 8)
#define GO_MOST_LABELS (SCRIPT_LINE_BYTES / 8 / GO_LABEL_WORDS)

/* One label, as the lines of a SCRIPT_LABELS record have them.  Texts are cut where they are
 * longer than there is room for. */
struct go_label {
	__u32 n_key, n_value;					/* bytes */
	__u64 key[GO_KEY_BYTES / 8], value[GO_VALUE_BYTES / 8]; /* zeros behind them */
};

struct go_labels {
	__u64 items, n_items; /* where they are, and at how many places they may be */
	__u64 hashes;	      /* of the bucket being looked at */
	__u64 hash;	      /* of the labels found */
	__u64 n_all;	      /* labels that there are */
	__u32 n, failed;      /* labels found */
	__u32 is_map, spare;
	__u64 words[GO_MAP_WORDS];
};

#endif
