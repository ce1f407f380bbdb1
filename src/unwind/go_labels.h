/* SPDX-License-Identifier: BSD-2-Clause */
/* The labels of the goroutine that a thread runs (Go's runtime/pprof, Do and SetGoroutineLabels).
 * One source for two compilers, like python.h, with the same functions from whoever includes it.
 *
 * The thread's pointer leads to its `g`, that to `m`, and `m` to the goroutine it runs, also while
 * the thread is on another stack.  The goroutine has a pointer to its labels: since Go 1.24 a list
 * of keys and values, ordered by key, up to 1.22 a map.  For example, of two labels up to 1.22:
 *
 *     g.labels -> map -> count 2, B 0, buckets -> hashes 8a 00 61 ...      place 0 and 2
 *                                                 "job", -, "zone"         keys
 *                                                 "alpha", -, "z1"         values
 *
 * A map of up to 8 labels is one bucket.  A bucket that has overflowed is not followed: the labels
 * in it count as not read, as do those beyond GO_MOST_LABELS.
 *
 * The number of labels is a hash of their texts.  Maps have no order, so labels of one goroutine
 * may have another number than the same ones of another; whoever is told orders them.
 *
 * Sources: Go's src/runtime/proflabel.go, src/runtime/pprof/label.go and src/runtime/map.go of
 * 1.15, 1.19 and 1.24; 1.23 was not at hand. */
#ifndef UNWIND_GO_LABELS_H
#define UNWIND_GO_LABELS_H

#include "unwind/go_labels_state.h"
#include "unwind/text.h"

#ifdef SCRIPT_ENV

/* Provided by the includer. */
static struct go_labels *go_labels_of(SCRIPT_ENV *env);
static void go_each_item(
	SCRIPT_ENV *env); /* go_item for each number below n_items, until it fails */

#ifdef __bpf__
#define GO_SLOT(n) BELOW(n, GO_MOST_LABELS)
#else
#define GO_SLOT(n) ((n) % GO_MOST_LABELS)
#endif

/* Where a thread has its `g`, and that its `m`: walk.h. */
#define GO_G (-8)
#define GO_M 0x30

/* Reads the string whose address and length are at AVMA, of at most MOST bytes, into TO; false: it
 * cannot be. */
SCRIPT_STEP bool go_string(SCRIPT_ENV *env, struct go_labels *g, __u64 avma, __u64 *to,
			   __u32 *ret_n, const __u32 most)
{
	__u32 n;

	if (!script_read(env, avma, g->words, 16, 16))
		return false;
	n = g->words[1] < most ? (__u32)g->words[1] : most;
	*ret_n = g->words[1] < 0xffffffff ? (__u32)g->words[1] : 0xffffffff;
	return !n || script_read(env, g->words[0], to, n, most);
}

/* Adds the label whose key and value are there. */
SCRIPT_PART int go_label_add(SCRIPT_ENV *env, __u64 key_at, __u64 value_at)
{
	struct go_labels *g;
	struct go_label *to;

	if (!env)
		return 0;
	g = go_labels_of(env);
	if (g->n >= GO_MOST_LABELS)
		return 0;
	to = (struct go_label *)script_walk(env)->record.lines + GO_SLOT(g->n);
	for (int i = 0; i < GO_KEY_BYTES / 8; i++)
		to->key[i] = 0;
	for (int i = 0; i < GO_VALUE_BYTES / 8; i++)
		to->value[i] = 0;
	if (!go_string(env, g, key_at, to->key, &to->n_key, GO_KEY_BYTES) ||
	    !go_string(env, g, value_at, to->value, &to->n_value, GO_VALUE_BYTES)) {
		g->failed = 1;
		return 0;
	}
	g->hash = script_mix(g->hash, (__u64)to->n_key << 32 | to->n_value);
	for (int i = 0; i < GO_KEY_BYTES / 8; i++)
		g->hash = script_mix(g->hash, to->key[i]);
	for (int i = 0; i < GO_VALUE_BYTES / 8; i++)
		g->hash = script_mix(g->hash, to->value[i]);
	g->n++;
	return 1;
}

/* Looks at place I; false: no more. */
SCRIPT_STEP bool go_item(SCRIPT_ENV *env, __u32 i)
{
	struct go_labels *g = go_labels_of(env);
	const __u32 in = i % GO_BUCKET_ITEMS;
	__u64 bucket;

	if (!g->is_map)
		return go_label_add(env, g->items + i * GO_ITEM_BYTES,
				    g->items + i * GO_ITEM_BYTES + 16);
	bucket = g->items + i / GO_BUCKET_ITEMS * GO_BUCKET_BYTES;
	if (!in && !script_read(env, bucket, &g->hashes, 8, 8)) {
		g->failed = 1;
		return false;
	}
	if ((__u8)(g->hashes >> 8 * in) < GO_MIN_HASH)
		return true;
	return go_label_add(env, bucket + GO_BUCKET_KEYS + in * 16,
			    bucket + GO_BUCKET_VALUES + in * 16);
}

/* Where the labels at AVMA are; false: they cannot be read. */
SCRIPT_STEP bool go_labels_open(SCRIPT_ENV *env, struct go_labels *g, __u64 avma)
{
	if (!g->is_map) {
		if (!script_read(env, avma, g->words, 16, 16))
			return false;
		g->items = g->words[0];
		g->n_all = g->words[1];
		g->n_items = g->n_all < GO_MOST_LABELS ? g->n_all : GO_MOST_LABELS;
		return true;
	}
	if (!script_read(env, avma, g->words, 8, 8))
		return false;
	avma = g->words[0];
	if (!avma) /* an empty one may have none */
		return true;
	if (!script_read(env, avma, g->words, 8 * GO_MAP_WORDS, 8 * GO_MAP_WORDS))
		return false;
	g->n_all = g->words[0];
	g->items = g->words[2];
	g->n_items = (__u64)GO_BUCKET_ITEMS << (g->words[1] >> 8 & 7);
	if (g->n_items > GO_MOST_ITEMS)
		g->n_items = GO_MOST_ITEMS;
	if (!g->n_all)
		g->n_items = 0;
	return true;
}

/* The number of the labels in G, which have been told of. */
SCRIPT_STEP __u64 go_labels_tell(SCRIPT_ENV *env, struct go_labels *g, __u32 interpreter)
{
	struct python_walk *p = script_walk(env);
	const __u64 number = text_number(p, script_mix(g->hash, g->n_all));

	if (script_is_told(env, number))
		return number;
	p->record.what = SCRIPT_LABELS;
	p->record.number = number;
	p->record.interpreter = interpreter;
	p->record.first_line = g->n_all < 0xffff ? (__u32)g->n_all : 0xffff;
	p->record.source = 0;
	p->record.lines_cut = 0;
	p->record.n_line_bytes = g->n * sizeof(struct go_label);
	if (!script_send(env, p))
		return SCRIPT_GO;
	script_note(env, number);
	return number;
}

/* The number of the labels of the goroutine that runs in a thread of the program that ANCHOR and
 * INTERPRETER are of; 0: it has none; SCRIPT_GO and an enum script_mark: why they are not known. */
SCRIPT_STEP __u64 go_labels_read(SCRIPT_ENV *env, __u64 anchor, __u32 interpreter)
{
	struct go_labels *g = go_labels_of(env);
	const __u64 thread = script_thread(env);
	__u64 at = 0;

	if (interpreter == INTERPRETER_GO)
		return 0;
	if (interpreter == INTERPRETER_GO_LABELS_UNKNOWN)
		return SCRIPT_GO + SCRIPT_NO_STATE;
	if (!thread || !script_read(env, thread + GO_G, &at, 8, 8))
		return SCRIPT_GO + SCRIPT_UNREADABLE;
	if (!at) /* a thread that is not Go's */
		return 0;
	if (!script_read(env, at + GO_M, &at, 8, 8) ||
	    !script_read(env, at + GO_CURG_AT(anchor), &at, 8, 8))
		return SCRIPT_GO + SCRIPT_UNREADABLE;
	if (!at) /* it looks for a goroutine */
		return 0;
	if (!script_read(env, at + GO_LABELS_AT(anchor), &at, 8, 8))
		return SCRIPT_GO + SCRIPT_UNREADABLE;
	if (!at)
		return 0;
	g->n = g->failed = 0;
	g->hash = g->n_all = g->items = g->n_items = 0;
	g->is_map = interpreter == INTERPRETER_GO_LABEL_MAP;
	if (!go_labels_open(env, g, at))
		return SCRIPT_GO + SCRIPT_UNREADABLE;
	if (!g->n_all)
		return 0;
	go_each_item(env);
	return g->failed ? SCRIPT_GO + SCRIPT_UNREADABLE : go_labels_tell(env, g, interpreter);
}

#endif
#endif
