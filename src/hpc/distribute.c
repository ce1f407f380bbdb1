/* SPDX-License-Identifier: BSD-2-Clause */
/* See distribute.h. */
#include "hpc/distribute.h"

#include <errno.h>
#include <stdlib.h>

#include "hpc/pack.h"
#include "hpc/write/profile.h"

/* --- records --- */

/* Bytes that go out at a time. */
#define ROUND_BYTES (16u << 20)

struct outgoing {
	VEC(struct hpc_record) v;
};

struct sender {
	struct build *b;
	const struct numbers *numbers;
	struct records_reader reader;
	uint32_t group; /* the next one */
	bool begun;
	struct outgoing *out; /* by process */
	size_t n_out;
};

/* Fills what goes out; false when nothing is left behind. */
static int fill_out(struct sender *s, bool *ret_more, struct err *err)
{
	const struct build *b = s->b;
	const struct ranks *ranks = b->opts.ranks;
	const struct hpc_record *r;
	int n;

	for (; s->group < b->identity_of.n; s->group++, s->begun = false) {
		uint32_t identity = b->identity_of.v[s->group], profile;

		if (identity == HPC_NONE)
			continue;
		profile = s->numbers->identities[identity];
		if (!s->begun)
			records_begin(&s->reader, s->group);
		s->begun = true;
		while ((n = records_next(&s->reader, &r, err)) > 0) {
			struct outgoing *out = &s->out[hpc_profile_owner(
				&ranks->share, profile + 1, (uint32_t)b->identities.v.n + 1)];

			vec_reserve(&out->v, (size_t)n);
			for (int i = 0; i < n; i++)
				out->v.v[out->v.n++] = build_numbered(b, &r[i], profile);
			s->n_out += (size_t)n * sizeof(*r);
			if (s->n_out >= ROUND_BYTES) {
				*ret_more = true;
				return 0;
			}
		}
		if (n < 0)
			return n;
	}
	*ret_more = false;
	return 0;
}

/* Sends what is to go out and takes in what comes. */
static int send_round(struct sender *s, struct records *to, struct err *err)
{
	const struct ranks *ranks = s->b->opts.ranks;
	void **out = xcalloc(ranks->size, sizeof(*out));
	size_t *n_out = xcalloc(ranks->size, sizeof(*n_out)), n;
	void *in = NULL;
	int rc;

	for (unsigned i = 0; i < ranks->size; i++) {
		out[i] = s->out[i].v.v;
		n_out[i] = s->out[i].v.n * sizeof(struct hpc_record);
	}
	rc = ranks_exchange(ranks, out, n_out, &in, &n, err);
	for (size_t i = 0; rc >= 0 && i < n / sizeof(struct hpc_record); i++)
		rc = records_add(to, &((const struct hpc_record *)in)[i], err);
	for (unsigned i = 0; i < ranks->size; i++)
		s->out[i].v.n = 0;
	s->n_out = 0;
	free(in);
	free(out);
	free(n_out);
	return rc;
}

static int send_all(struct sender *s, struct records *to, struct err *err)
{
	uint64_t n_more;
	int rc;

	do {
		bool more = false;

		rc = fill_out(s, &more, err);
		n_more = more;
		if (rc >= 0)
			rc = send_round(s, to, err);
		if (rc >= 0)
			rc = ranks_sum(s->b->opts.ranks, &n_more, 1, err);
	} while (rc >= 0 && n_more);
	return rc;
}

int distribute_records(struct build *b, const struct numbers *n, struct err *err)
{
	struct sender s = {.b = b, .numbers = n};
	struct records own;
	unsigned size = b->opts.ranks ? b->opts.ranks->size : 0;
	uint32_t n_profiles = (uint32_t)b->identities.v.n;
	int rc;

	if (!size)
		return 0;
	records_init(&own, b->opts.dir->aside, b->opts.buffer_bytes);
	records_reader_init(&s.reader, &b->records);
	s.out = xcalloc(size, sizeof(*s.out));
	rc = send_all(&s, &own, err);
	for (unsigned i = 0; i < size; i++)
		vec_release(&s.out[i].v);
	free(s.out);
	records_reader_release(&s.reader);
	records_release(&b->records);
	b->records = own;
	if (rc >= 0)
		rc = records_finish(&b->records, n_profiles, err);
	b->identity_of.n = 0;
	return rc;
}

/* --- databases --- */

int distribute_database(const struct build *b, struct database *d, unsigned owner, struct err *err)
{
	const struct ranks *r = b->opts.ranks;
	struct pack p = {0};
	struct unpack u;
	size_t n;
	int rc;

	if (!r)
		return 0;
	if (r->rank == owner) {
		pack_array(&p, d->ctxs, d->n_ctxs, sizeof(*d->ctxs));
		pack_array(&p, d->prop_ids, d->n_props, sizeof(*d->prop_ids));
		pack_number(&p, d->is_straight);
	}
	n = p.bytes.n;
	rc = ranks_broadcast(r, owner, (void **)&p.bytes.v, &n, err);
	if (rc >= 0 && r->rank != owner) {
		u.at = p.bytes.v;
		d->ctxs = unpack_array(&u, &n, sizeof(*d->ctxs));
		d->n_ctxs = (uint32_t)n;
		d->prop_ids = unpack_array(&u, &n, sizeof(*d->prop_ids));
		d->n_props = (uint32_t)n;
		d->is_straight = unpack_number(&u);
	}
	vec_release(&p.bytes);
	return rc;
}

/* --- time lines --- */

static int send_timelines(const struct build *b, struct err *err)
{
	struct pack p = {0};
	int rc;

	pack_number(&p, b->timelines.v.n);
	vec_each (line, &b->timelines.v) {
		pack_number(&p, line->identity);
		pack_array(&p, line->points.v, line->points.n, sizeof(*line->points.v));
	}
	rc = ranks_send(b->opts.ranks, 0, p.bytes.v, p.bytes.n, err);
	vec_release(&p.bytes);
	return rc;
}

static int receive_timelines(struct build *b, unsigned from, struct err *err)
{
	struct unpack u;
	void *bytes;
	size_t n;
	int rc = ranks_receive(b->opts.ranks, from, &bytes, &n, err);

	if (rc < 0)
		return rc;
	u.at = bytes;
	for (uint64_t n_lines = unpack_number(&u); n_lines > 0; n_lines--) {
		uint32_t identity = (uint32_t)unpack_number(&u);
		struct timeline_point *points = unpack_array(&u, &n, sizeof(*points));

		timelines_add_points(&b->timelines, identity, points, n);
		free(points);
	}
	free(bytes);
	return 0;
}

int gather_timelines(struct build *b, struct err *err)
{
	const struct ranks *r = b->opts.ranks;
	int rc = 0;

	if (!r)
		return 0;
	if (r->rank)
		return send_timelines(b, err);
	for (unsigned i = 1; i < r->size && rc >= 0; i++)
		rc = receive_timelines(b, i, err);
	return rc;
}

/* --- statistics --- */

static int send_block(const struct ranks *r, struct hpc_profile_block *block, struct err *err)
{
	int rc = ranks_send(r, 0, block->values, 10 * block->n_values, err);

	if (rc >= 0)
		rc = ranks_send(r, 0, block->ctxIndices, 12 * (size_t)block->n_ctxs, err);
	hpc_profile_block_release(block);
	return rc;
}

static int receive_block(const struct ranks *r, unsigned from, struct hpc_profile_block *block,
			 struct err *err)
{
	void *values, *indices;
	size_t n;
	int rc = ranks_receive(r, from, &values, &n, err);

	if (rc < 0)
		return rc;
	block->values = values;
	block->n_values = n / 10;
	rc = ranks_receive(r, from, &indices, &n, err);
	if (rc < 0)
		return rc;
	block->ctxIndices = indices;
	block->n_ctxs = (uint32_t)(n / 12);
	return 0;
}

int gather_statistics(const struct build *b, struct statistics *s, struct err *err)
{
	const struct ranks *r = b->opts.ranks;
	int rc = 0;

	for (uint32_t i = 0; r && i < s->n_ranges && rc >= 0; i++) {
		unsigned owner = hpc_share_owner(&r->share, i, s->n_ranges, 1);

		if (owner == 0)
			continue;
		if (r->rank == owner)
			rc = send_block(r, &s->ranges[i], err);
		else if (r->rank == 0)
			rc = receive_block(r, owner, &s->ranges[i], err);
	}
	return rc;
}
