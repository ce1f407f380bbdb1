/* SPDX-License-Identifier: BSD-2-Clause */
/* See perfdata.h: the file's header, its events, and where records tell their time and event.
 *
 * Layouts: struct perf_file_header, perf_file_attr, perf_pipe_file_header of Linux,
 * tools/perf/util/header.h; struct perf_event_attr of linux/perf_event.h. */
#include "formats/perfdata_impl.h"

#include <errno.h>
#include <inttypes.h>

/* perf asks no more of an attr than its first version had (PERF_ATTR_SIZE_VER0); larger ones than
 * this are not believed. */
#define ATTR_MIN_BYTES 64
#define ATTR_MAX_BYTES 4096

/* A sample's record has room for no more events than that. */
#define MAX_EVENTS 65536

int perfdata_probe(const uint8_t *bytes, size_t n)
{
	return n >= 8 && (memcmp(bytes, "PERFILE2", 8) == 0 || memcmp(bytes, "2ELIFREP", 8) == 0 ||
			  memcmp(bytes, "PERFFILE", 8) == 0);
}

static uint64_t reverse_bits(uint64_t v)
{
	uint64_t r = 0;

	for (unsigned i = 0; i < 64; i++)
		r |= (v >> i & 1) << (63 - i);
	return r;
}

void perfdata_read_attr(const uint8_t *bytes, size_t n, bool be, struct perfdata_attr *ret)
{
	uint8_t whole[144] = {0}; /* up to and with config4, of Linux 6.19 */
	struct rd r = rd_init(whole, sizeof(whole));
	struct perfdata_attr *a = ret;

	memcpy(whole, bytes, n < sizeof(whole) ? n : sizeof(whole));
	*a = (struct perfdata_attr){0};
	a->type = rd_32(&r, be);
	a->size = rd_32(&r, be);
	a->config = rd_64(&r, be);
	a->period = rd_64(&r, be);
	a->sample_type = rd_64(&r, be);
	a->read_format = rd_64(&r, be);
	a->flags = rd_64(&r, be);
	if (be) /* bit fields begin at the other end there */
		a->flags = reverse_bits(a->flags);
	a->wakeup = rd_32(&r, be);
	a->bp_type = rd_32(&r, be);
	a->config1 = rd_64(&r, be);
	a->config2 = rd_64(&r, be);
	a->branch_sample_type = rd_64(&r, be);
	a->regs_user = rd_64(&r, be);
	a->stack_user = rd_32(&r, be);
	a->clockid = (int32_t)rd_32(&r, be);
	a->regs_intr = rd_64(&r, be);
	a->aux_watermark = rd_32(&r, be);
	a->max_stack = rd_16(&r, be);
	rd_16(&r, be);
	a->aux_sample_size = rd_32(&r, be);
	rd_32(&r, be);
	a->sig_data = rd_64(&r, be);
	a->config3 = rd_64(&r, be);
}

uint32_t perfdata_add_event(struct perfdata *pd, const struct perfdata_attr *a)
{
	uint32_t i = (uint32_t)pd->events.n;

	vec_push(&pd->events, (struct perfdata_event){.attr = *a});
	if (i < pd->names.n)
		pd->events.v[i].name = xstrdup(pd->names.v[i]);
	return i;
}

static bool same_id(const void *owner, uint32_t i, const void *key)
{
	return ((const struct perfdata *)owner)->ids[i].id == *(const uint64_t *)key;
}

void perfdata_add_id(struct perfdata *pd, uint64_t id, uint32_t event)
{
	uint32_t i = index_find(&pd->id_ix, hash_u64(id), same_id, pd, &id);

	if (i != INDEX_NONE) { /* the first counts, as in perf */
		return;
	}
	if (pd->n_ids == pd->ids_cap) {
		pd->ids_cap = pd->ids_cap * 2 + 16;
		pd->ids = xrealloc(pd->ids, pd->ids_cap, sizeof(*pd->ids));
	}
	pd->ids[pd->n_ids].id = id;
	pd->ids[pd->n_ids].event = event;
	index_add(&pd->id_ix, hash_u64(id), (uint32_t)pd->n_ids++);
}

uint32_t perfdata_find_id(const struct perfdata *pd, uint64_t id)
{
	uint32_t i = index_find(&pd->id_ix, hash_u64(id), same_id, pd, &id);

	return i == INDEX_NONE ? PERFDATA_NONE : i;
}

uint32_t perfdata_find_event(const struct perfdata *pd, uint64_t id)
{
	uint32_t i = perfdata_find_id(pd, id);

	return i == PERFDATA_NONE || pd->ids[i].event >= pd->events.n ? PERFDATA_NONE
								      : pd->ids[i].event;
}

/* Bit FEATURE of a bitmap that was written as an array of unsigned long: on 32-bit big-endian
 * machines its halves are in another order than on others (perf_header__adds_read: HOSTNAME is
 * always set). */
static void read_features(struct perfdata *pd, struct rd *r)
{
	const uint64_t host = 1ull << PERFDATA_F_HOSTNAME;

	for (size_t i = 0; i < n_elems(pd->features); i++)
		pd->features[i] = rd_64(r, pd->big_endian);
	if (pd->features[0] & host || !pd->big_endian)
		return;
	for (size_t i = 0; i < n_elems(pd->features); i++)
		pd->features[i] = pd->features[i] << 32 | pd->features[i] >> 32;
}

static void read_section(struct perfdata *pd, struct rd *r, struct perfdata_section *ret)
{
	ret->off = rd_64(r, pd->big_endian);
	ret->n_bytes = rd_64(r, pd->big_endian);
}

int perfdata_read_header(struct perfdata *pd, const uint8_t *bytes, size_t n, struct err *err)
{
	struct rd r = rd_init(bytes, n);
	uint64_t size;

	*pd = (struct perfdata){
		.sample_id_at = -1, .sample_time_at = -1, .other_id_at = -1, .other_time_at = -1};
	if (n < PERFDATA_PIPE_HEADER_BYTES)
		return err_set(err, -ENODATA, "it ends in its header");
	if (!perfdata_probe(bytes, n))
		return err_set(err, -EBADMSG, "it is no perf.data file");
	pd->old = memcmp(bytes, "PERFFILE", 8) == 0;
	pd->big_endian = bytes[0] == '2';
	rd_64(&r, false);
	size = rd_64(&r, pd->big_endian);
	if (pd->old && size > UINT32_MAX) { /* its magic is the same in either order */
		pd->big_endian = true;
		size = __builtin_bswap64(size);
	}
	if (size == PERFDATA_PIPE_HEADER_BYTES) {
		pd->pipe = true;
		return 0;
	}
	/* The earliest had no features, and their header ended before them. */
	if (size != PERFDATA_HEADER_BYTES && size != PERFDATA_HEADER_BYTES - 32)
		return err_set(err, -EBADMSG, "its header cannot be of %" PRIu64 " bytes", size);
	if (n < size)
		return err_set(err, -ENODATA, "it ends in its header");
	r.end = r.start + size;
	pd->attr_entry_bytes = rd_64(&r, pd->big_endian);
	read_section(pd, &r, &pd->attrs);
	read_section(pd, &r, &pd->data);
	rd_bytes(&r, 16); /* names of events, long gone: EVENT_DESC has them */
	if (rd_left(&r))
		read_features(pd, &r);
	if (pd->attr_entry_bytes < ATTR_MIN_BYTES + 16 || pd->attr_entry_bytes > ATTR_MAX_BYTES)
		return err_set(err, -EBADMSG,
			       "its events cannot have descriptions of %" PRIu64 " bytes",
			       pd->attr_entry_bytes);
	if (pd->attrs.n_bytes / pd->attr_entry_bytes > MAX_EVENTS)
		return err_set(err, -EBADMSG, "it cannot have %" PRIu64 " bytes of events",
			       pd->attrs.n_bytes);
	return 0;
}

void perfdata_release(struct perfdata *pd)
{
	char *const texts[] = {pd->host,     pd->release, pd->version, pd->arch,
			       pd->cpu_desc, pd->cpu_id,  pd->command};

	vec_each (e, &pd->events)
		free(e->name);
	vec_release(&pd->events);
	vec_each (name, &pd->names)
		free(*name);
	vec_release(&pd->names);
	vec_each (b, &pd->build_ids)
		free(b->path);
	vec_release(&pd->build_ids);
	vec_each (p, &pd->pmus)
		free(p->name);
	vec_each (n, &pd->nodes)
		free(n->words);
	vec_release(&pd->nodes);
	vec_release(&pd->cpu_nodes);
	vec_release(&pd->pmus);
	vec_each (t, &pd->tracepoints)
		free(t->name);
	vec_release(&pd->tracepoints);
	free(pd->ids);
	index_release(&pd->id_ix);
	for (size_t i = 0; i < n_elems(texts); i++)
		free(texts[i]);
	*pd = (struct perfdata){0};
}

int perfdata_read_attrs(struct perfdata *pd, const uint8_t *bytes, size_t n,
			struct perfdata_section **ret_ids, struct err *err)
{
	size_t n_events = n / pd->attr_entry_bytes;
	struct perfdata_section *ids;

	if (!n_events)
		return err_set(err, -EBADMSG, "it has no events");
	ids = xcalloc(n_events, sizeof(*ids));
	for (size_t i = 0; i < n_events; i++) {
		const uint8_t *p = bytes + i * pd->attr_entry_bytes;
		struct rd r = rd_init(p + pd->attr_entry_bytes - 16, 16);
		struct perfdata_attr a;

		perfdata_read_attr(p, pd->attr_entry_bytes - 16, pd->big_endian, &a);
		perfdata_add_event(pd, &a);
		read_section(pd, &r, &ids[i]);
	}
	*ret_ids = ids;
	return 0;
}

int perfdata_read_ids(struct perfdata *pd, uint32_t event, const uint8_t *bytes, size_t n,
		      struct err *err)
{
	struct rd r = rd_init(bytes, n);

	while (rd_left(&r) >= 8)
		perfdata_add_id(pd, rd_64(&r, pd->big_endian), event);
	return rd_left(&r) ? err_set(err, -EBADMSG, "the ids of event %u end amid one", event) : 0;
}

/* Bytes of the fields of TYPE that come in a sample before BIT. */
static int16_t sample_at(uint64_t type, uint64_t bit)
{
	static const uint64_t order[] = {PERFDATA_S_IDENTIFIER, PERFDATA_S_IP,	 PERFDATA_S_TID,
					 PERFDATA_S_TIME,	PERFDATA_S_ADDR, PERFDATA_S_ID};
	int16_t at = 0;

	if (!(type & bit))
		return -1;
	for (size_t i = 0; order[i] != bit; i++)
		at = (int16_t)(at + (type & order[i] ? 8 : 0));
	return at;
}

/* Bytes from BIT's field to the end of any other record. */
static int16_t other_at(uint64_t type, uint64_t bit)
{
	static const uint64_t order[] = {PERFDATA_S_IDENTIFIER, PERFDATA_S_CPU,
					 PERFDATA_S_STREAM_ID,	PERFDATA_S_ID,
					 PERFDATA_S_TIME,	PERFDATA_S_TID};
	int16_t at = 8;

	if (!(type & bit))
		return -1;
	for (size_t i = 0; order[i] != bit; i++)
		at = (int16_t)(at + (type & order[i] ? 8 : 0));
	return at;
}

int perfdata_set_layout(struct perfdata *pd, struct err *err)
{
	const struct perfdata_attr *first = &pd->events.v[0].attr;
	uint64_t all = UINT64_MAX, type = first->sample_type;

	vec_each (e, &pd->events) {
		all &= e->attr.sample_type;
		pd->sample_id_all |= perfdata_attr_has(&e->attr, PERFDATA_A_SAMPLE_ID_ALL);
	}
	/* With an identifier, which is first in samples and last in others, each record tells its
	 * event; without, all must have their id at the same place, as perf demands
	 * (evlist__valid_sample_type). */
	if (pd->events.n > 1 && !(all & PERFDATA_S_IDENTIFIER)) {
		vec_each (e, &pd->events) {
			uint64_t t = e->attr.sample_type;

			if (sample_at(t, PERFDATA_S_ID) == sample_at(type, PERFDATA_S_ID) &&
			    (t & PERFDATA_S_IDENTITY) == (type & PERFDATA_S_IDENTITY))
				continue;
			return err_set(err, -EBADMSG, "its events' samples cannot be told apart");
		}
	}
	pd->sample_id_at = all & PERFDATA_S_IDENTIFIER ? 0 : sample_at(type, PERFDATA_S_ID);
	pd->sample_time_at = sample_at(type, PERFDATA_S_TIME);
	pd->other_id_at = all & PERFDATA_S_IDENTIFIER ? 8 : other_at(type, PERFDATA_S_ID);
	pd->other_time_at = other_at(type, PERFDATA_S_TIME);
	vec_each (e, &pd->events) {
		uint64_t t = e->attr.sample_type;

		e->sample_id_bytes = (uint8_t)(8 * __builtin_popcountll(t & PERFDATA_S_IDENTITY));
		e->sample_time_at = sample_at(t, PERFDATA_S_TIME);
		e->other_time_at = other_at(t, PERFDATA_S_TIME);
		if (e->sample_time_at != pd->sample_time_at)
			pd->sample_time_at = -2;
		if (e->other_time_at != pd->other_time_at)
			pd->other_time_at = -2;
	}
	return 0;
}
