/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of a log that call paths add: their rings, and the memory the programs walk with.  For
 * log.c and for what shares its walk; everybody else uses log.h. */
#ifndef COLLECT_CALLS_LOG_CHAINS_H
#define COLLECT_CALLS_LOG_CHAINS_H

#include <stdint.h>

#include "base/err.h"
#include "collect/log.h"

struct bpf_map;
struct bpf_object;
struct log_chains;

/* What the programs' variables hold: where they are in memory. */
struct log_chains_shared {
	uint32_t *clock;
	uint64_t *images_epoch;
	uint32_t *scripts_epoch;
};

/* Before loading: sizes the arrays of call paths, or without opts->chains leaves them out. */
void log_chains_prepare(struct bpf_object *obj, const struct log_opts *opts);

/* The tables' memory comes in pieces of 1 << log_chains_table_shift words, made when there are
 * tables for them: zeroing all of it was a quarter of a start.  Returns a descriptor, or -1 and
 * errno. */
uint32_t log_chains_table_shift(const struct log_opts *opts);
int log_chains_make_piece(const struct log_opts *opts);

/* After loading, with opts->chains: maps them.  FIRST_PIECE is the array that `table_pieces` was
 * created with; this takes it over, even when it fails.  SHARED stays valid until
 * log_chains_close. */
int log_chains_open(struct bpf_object *obj, const struct log_opts *opts, int first_piece,
		    struct log_chains_shared shared, struct log_chains **ret, struct err *err);
void log_chains_close(struct log_chains *c);

/* For programs of another object, GUEST, that walk too: before it is loaded, log_chains_lend makes
 * it look up tables and images where C's programs do, and ask through the same ring; after loading,
 * log_chains_adopt makes its chains come out with C's.  It has to stay loaded as
 * long as C is used. */
int log_chains_lend(const struct log_chains *c, struct bpf_object *guest, struct err *err);
int log_chains_adopt(struct log_chains *c, struct bpf_object *guest,
		     struct log_chains_shared shared, struct err *err);

/* The sizes the programs are told. */
const struct log_opts *log_chains_opts(const struct log_chains *c);

/* The hash that slot AT of CPU's log has beside it. */
uint64_t log_chains_get(const struct log_chains *c, uint32_t cpu, uint32_t at);

/* Maps all of an mmapable array, N elements of ELEM_BYTES, which is a multiple of 8; NULL and errno
 * when that fails. */
void *log_map_array(const struct bpf_map *map, size_t elem_bytes, size_t n, int prot);
void *log_map_fd(int fd, size_t elem_bytes, size_t n, int prot);
void log_unmap_array(void *p, size_t elem_bytes, size_t n);

/* Defined in log.c: NULL without call paths. */
struct log_chains *log_chains_of(const struct log *l);

#endif
