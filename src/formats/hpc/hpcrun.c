/* SPDX-License-Identifier: BSD-2-Clause */
/* See hpcrun.h.  Numbers are big-endian.  A footer at the end says where the sections are. */
#include "formats/hpc/hpcrun.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/text_lines.h"

#define MAGIC	     "HPCRUN-profile____"
#define VERSION	     "04.00b"
#define TRACE_MAGIC  "HPCRUN-trace______"
#define TRACE_HEADER 32
#define TRACE_POINT  12
#define TRACE_ODD    1u /* flags: points are of data, not of code */
#define FOOTER	     (14 * 8)
#define FOOTER_MAGIC 0x48504352554e736dull /* "HPCRUNsm" */
#define LAST_NODE    0x656e6421u	   /* "end!" */

enum section { HEADER, MODULES, NODES, METRICS, ID_NAMES, VALUES, N_SECTIONS };

static uint16_t be16(struct rd *r)
{
	const uint8_t *p = rd_bytes(r, 2);

	return p ? (uint16_t)(p[0] << 8 | p[1]) : 0;
}

static uint32_t be32(struct rd *r)
{
	const uint32_t high = be16(r);

	return high << 16 | be16(r);
}

static uint64_t be64(struct rd *r)
{
	const uint64_t high = be32(r);

	return high << 32 | be32(r);
}

/* A count of elements of ELEM_BYTES or more each, which must be there. */
static size_t hpcrun_count(struct rd *r, uint64_t n, size_t elem_bytes)
{
	if (n <= rd_left(r) / elem_bytes)
		return (size_t)n;
	r->bad = true;
	return 0;
}

static const char *hpcrun_text(struct hpcrun *h, struct rd *r)
{
	const size_t n = hpcrun_count(r, be32(r), 1);
	const uint8_t *p = rd_bytes(r, n);

	return p && n ? arena_strndup(&h->arena, (const char *)p, n) : "";
}

bool hpcrun_probe(const uint8_t *bytes, size_t n)
{
	return n >= sizeof(MAGIC) - 1 && memcmp(bytes, MAGIC, sizeof(MAGIC) - 1) == 0;
}

static void read_header(struct hpcrun *h, struct rd *r)
{
	uint32_t n;

	rd_bytes(r, sizeof(MAGIC VERSION) - 1);
	n = (uint32_t)hpcrun_count(r, be32(r), 8);
	for (uint32_t i = 0; i < n && !r->bad; i++) {
		const char *name = hpcrun_text(h, r), *text = hpcrun_text(h, r);

		if (strcmp(name, "program-name") == 0)
			h->program = text;
		else if (strcmp(name, "program-path") == 0)
			h->path = text;
		else if (strcmp(name, "process-id") == 0)
			h->pid = (uint32_t)strtoul(text, NULL, 10);
		else if (strcmp(name, "thread-id") == 0)
			h->thread = (uint32_t)strtoul(text, NULL, 10);
		else if (strcmp(name, "host-id") == 0)
			h->hostid = (uint32_t)strtoul(text, NULL, 16);
	}
}

static void read_modules(struct hpcrun *h, struct rd *r)
{
	const size_t n = hpcrun_count(r, be32(r), 14);

	for (size_t i = 0; i < n && !r->bad; i++) {
		struct hpcrun_module m = {.id = be16(r)};

		m.path = hpcrun_text(h, r);
		be64(r);
		vec_push(&h->modules, m);
	}
}

static void read_metrics(struct hpcrun *h, struct rd *r)
{
	const size_t n = hpcrun_count(r, be32(r), 60);

	for (size_t i = 0; i < n && !r->bad; i++) {
		struct hpcrun_metric m = {.name = hpcrun_text(h, r)};
		const uint8_t *flags;

		hpcrun_text(h, r);
		flags = rd_bytes(r, 16);
		m.is_real = flags && flags[2] == 2;
		m.period = be64(r);
		m.is_derived = *hpcrun_text(h, r) != 0;
		hpcrun_text(h, r);
		rd_bytes(r, 2 + 2 + 8 + 8);
		vec_push(&h->metrics, m);
	}
}

static bool same_hpcrun_node(const void *owner, uint32_t i, const void *key)
{
	return ((const struct hpcrun *)owner)->nodes.v[i].id == *(const uint32_t *)key;
}

uint32_t hpcrun_find(const struct hpcrun *h, uint32_t id)
{
	const uint32_t i = index_find(&h->by_id, hash_u64(id), same_hpcrun_node, h, &id);

	return i == INDEX_NONE ? HPCRUN_NONE : i;
}

static void read_nodes(struct hpcrun *h, struct rd *r)
{
	const size_t n = hpcrun_count(r, be64(r), 19);

	for (size_t i = 0; i < n && !r->bad; i++) {
		struct hpcrun_node x = {.id = be32(r), .parent = HPCRUN_NONE};
		const uint32_t parent = be32(r);

		x.module = be16(r);
		x.ip = be64(r);
		x.unwound = rd_u8(r) & 1;
		if (parent) {
			x.parent = hpcrun_find(h, parent);
			r->bad |= x.parent == HPCRUN_NONE;
		}
		r->bad |= !x.id || hpcrun_find(h, x.id) != HPCRUN_NONE;
		index_add(&h->by_id, hash_u64(x.id), (uint32_t)h->nodes.n);
		vec_push(&h->nodes, x);
	}
}

/* Values of all nodes first, then which node's begin where. */
static void read_values(struct hpcrun *h, struct rd *r)
{
	const size_t n_ids = hpcrun_count(r, be16(r), 18);
	uint64_t from = 0;
	size_t n, n_nodes;
	uint32_t node = HPCRUN_NONE;
	struct rd values;

	for (size_t i = 0; i < n_ids; i++) {
		const uint16_t kind = be16(r);
		struct hpcrun_id id = {.kind = kind & 0x3fff, .flags = kind >> 14};

		id.physical = be64(r);
		id.logical = be64(r);
		vec_push(&h->ids, id);
	}
	n = hpcrun_count(r, be64(r), 10);
	n_nodes = be32(r);
	values = *r;
	rd_bytes(r, n * 10);
	n_nodes = hpcrun_count(r, (uint64_t)n_nodes + 1, 12);
	for (size_t i = 0; i < n_nodes && !r->bad; i++) {
		const uint32_t id = be32(r);
		const uint64_t to = be64(r);

		r->bad |= to < from || to > n || (i == 0 && to) || (i + 1 == n_nodes && to != n);
		for (; from < to && !r->bad; from++) {
			struct hpcrun_value v = {.node = node, .bits = be64(&values)};

			v.metric = be16(&values);
			r->bad |= v.metric >= h->metrics.n || node == HPCRUN_NONE;
			vec_push(&h->values, v);
		}
		node = hpcrun_find(h, id);
		r->bad |= i + 1 < n_nodes ? node == HPCRUN_NONE : id != LAST_NODE;
	}
}

int hpcrun_parse(const uint8_t *bytes, size_t n, struct hpcrun *ret, struct err *err)
{
	static const struct {
		const char *name;
		void (*read)(struct hpcrun *h, struct rd *r);
	} sections[N_SECTIONS] = {
		[HEADER] = {"header", read_header},  [MODULES] = {"load map", read_modules},
		[NODES] = {"contexts", read_nodes},  [METRICS] = {"metrics", read_metrics},
		[ID_NAMES] = {"names of ids", NULL}, [VALUES] = {"values", read_values},
	};
	static const enum section order[] = {HEADER, MODULES, METRICS, NODES, VALUES};
	uint64_t at[N_SECTIONS][2];
	struct rd footer;

	*ret = (struct hpcrun){.program = "", .path = ""};
	if (!hpcrun_probe(bytes, n))
		return err_set(err, -EBADMSG, "no profile of hpcrun");
	if (n < sizeof(MAGIC VERSION) - 1 + FOOTER)
		return err_set(err, -EBADMSG, "the file was cut off");
	if (memcmp(bytes + sizeof(MAGIC) - 1, VERSION, sizeof(VERSION) - 1) != 0)
		return err_set(err, -EPROTONOSUPPORT,
			       "version %.5s of hpcrun's profiles; 04.00 is known",
			       (const char *)bytes + sizeof(MAGIC) - 1);
	footer = rd_init(bytes + n - FOOTER, FOOTER);
	for (unsigned s = 0; s < N_SECTIONS; s++) {
		at[s][0] = be64(&footer);
		at[s][1] = be64(&footer);
		if (at[s][0] > at[s][1] || at[s][1] > n)
			return err_set(err, -EBADMSG, "the section of %s is not in the file",
				       sections[s].name);
	}
	be64(&footer);
	if (be64(&footer) != FOOTER_MAGIC)
		return err_set(err, -EBADMSG,
			       "the end is missing: hpcrun was killed, or still runs");
	for (unsigned i = 0; i < n_elems(order); i++) {
		const unsigned s = order[i];
		struct rd r = rd_init(bytes + at[s][0], at[s][1] - at[s][0]);

		sections[s].read(ret, &r);
		if (r.bad)
			return err_set(err, -EBADMSG, "the section of %s is damaged near byte %zu",
				       sections[s].name, (size_t)at[s][0] + rd_off(&r));
	}
	return 0;
}

void hpcrun_release(struct hpcrun *h)
{
	vec_release(&h->metrics);
	vec_release(&h->modules);
	vec_release(&h->nodes);
	vec_release(&h->ids);
	vec_release(&h->values);
	index_release(&h->by_id);
	arena_release(&h->arena);
}

/* lean/placeholders.h and placeholders.c of HPCToolkit. */
const char *hpcrun_state(uint64_t letters)
{
	static const struct {
		char letters[9];
		const char *name;
	} states[] = {
		{"GPU Sync", "gpu sync"},	 {"GPUAlloc", "gpu alloc"},
		{"GPUCp\?2\?", "gpu copy"},	 {"GPUCpD2H", "gpu copyout"},
		{"GPUCpH2D", "gpu copyin"},	 {"GPUDelte", "gpu delete"},
		{"GPUKernl", "gpu kernel"},	 {"GPUMemst", "gpu memset"},
		{"GPUTrace", "gpu kernel"},	 {"OMP Idle", "omp idle"},
		{"OMP Work", "omp work"},	 {"OMPBarrW", "omp barrier wait"},
		{"OMPETask", "omp expl task"},	 {"OMPITask", "omp impl task"},
		{"OMPMtexW", "omp mutex wait"},	 {"OMPOvrHd", "omp overhead"},
		{"OMPTaskW", "omp task wait"},	 {"OMPUresv", "omp region unresolved"},
		{"OMTAlloc", "omp tgt alloc"},	 {"OMTCpIn ", "omp tgt copyin"},
		{"OMTCpOut", "omp tgt copyout"}, {"OMTDelte", "omp tgt delete"},
		{"OMTKernl", "omp tgt kernel"},
	};

	for (size_t i = 0; i < n_elems(states); i++) {
		uint64_t v = 0;

		for (int k = 0; k < 8; k++)
			v = v << 8 | (uint8_t)states[i].letters[k];
		if (v == letters)
			return states[i].name;
	}
	return NULL;
}

double hpcrun_amount(const struct hpcrun *h, const struct hpcrun_value *v)
{
	const struct hpcrun_metric *m = &h->metrics.v[v->metric];
	double real;

	memcpy(&real, &v->bits, sizeof(real));
	return (m->is_real ? real : (double)v->bits) * (double)m->period;
}

bool hpcrun_next_symbol(struct rd *r, struct hpcrun_symbol *ret)
{
	struct text_line l;

	while (text_line_next(r, &l)) {
		uint64_t svma;

		if (!text_line_number(&l, 16, &svma) || l.n < 4 || l.text[0] != ' ' ||
		    l.text[2] != ' ')
			continue;
		*ret = (struct hpcrun_symbol){svma, l.text + 3, l.n - 3, l.text[1]};
		return true;
	}
	return false;
}

int hpctrace_parse(const uint8_t *bytes, size_t n, struct hpctrace *ret, struct err *err)
{
	const size_t magic = sizeof(TRACE_MAGIC) - 1;
	struct rd r = rd_init(bytes, n);
	const uint8_t *p = rd_bytes(&r, magic), *version = rd_bytes(&r, 6);
	uint64_t flags;

	if (!p || memcmp(p, TRACE_MAGIC, magic) != 0)
		return err_set(err, -EBADMSG, "no time line of hpcrun");
	if (!version || memcmp(version, "01.01b", 6) != 0)
		return err_set(err, -EPROTONOSUPPORT, "not version 01.01 of hpcrun's time lines");
	flags = be64(&r);
	if (r.bad || rd_left(&r) % TRACE_POINT)
		return err_set(err, -EBADMSG, "the time line was cut off");
	if (flags & TRACE_ODD)
		return err_set(err, -EPROTONOSUPPORT, "a time line of data");
	*ret = (struct hpctrace){bytes + TRACE_HEADER, rd_left(&r) / TRACE_POINT};
	return 0;
}

struct hpctrace_point hpctrace_get(const struct hpctrace *t, size_t i)
{
	struct rd r = rd_init(t->bytes + i * TRACE_POINT, TRACE_POINT);
	struct hpctrace_point p = {.time_ns = be64(&r)};

	p.node = be32(&r);
	return p;
}
