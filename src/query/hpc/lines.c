/* SPDX-License-Identifier: BSD-2-Clause */
/* See hpc_lines.h. */
#include "query/hpc/lines.h"

#include <errno.h>
#include <stdlib.h>

static int add_line(struct hpc_lines *l, const struct hpc_query *q, uint32_t i, uint64_t *zero_ns,
		    struct err *err)
{
	struct hpc_line line = {0};
	int rc = hpc_trace_open(&line.trace, &q->db->traces, i, err);

	if (rc || !line.trace.n)
		return rc;
	line.start_ns = hpc_trace_elem(&line.trace, 0).timestamp;
	line.end_ns = hpc_trace_elem(&line.trace, line.trace.n - 1).timestamp;
	if (line.start_ns < *zero_ns)
		*zero_ns = line.start_ns;
	if (line.trace.profIndex < q->db->profiles.nProfiles &&
	    (!q->wanted || q->wanted[line.trace.profIndex]))
		vec_push(&l->lines, line);
	return 0;
}

/* Opens the chosen lines: all are looked at for when time begins, unless the file says. */
static int open_lines(struct hpc_lines *l, const struct hpc_query *q, struct err *err)
{
	const struct hpc_trace_db *db = &q->db->traces;
	uint64_t zero_ns = UINT64_MAX;
	int rc = 0;

	if (q->wanted && db->minTimestamp) {
		vec_each (p, &q->threads) {
			struct hpc_trace t;

			rc = hpc_trace_open_profile(&t, db, *p, err);
			if (rc == -ENOENT)
				continue;
			if (rc)
				return rc;
			if (t.n)
				vec_push(&l->lines,
					 (struct hpc_line){
						 .trace = t,
						 .start_ns = hpc_trace_elem(&t, 0).timestamp,
						 .end_ns = hpc_trace_elem(&t, t.n - 1).timestamp,
					 });
		}
		rc = 0;
		zero_ns = db->minTimestamp;
		vec_each (line, &l->lines)
			zero_ns = line->start_ns < zero_ns ? line->start_ns : zero_ns;
	} else {
		for (uint32_t i = 0; i < db->nTraces && !rc; i++)
			rc = add_line(l, q, i, &zero_ns, err);
		if (db->minTimestamp && db->minTimestamp < zero_ns)
			zero_ns = db->minTimestamp;
	}
	l->zero_ns = zero_ns == UINT64_MAX ? 0 : zero_ns;
	return rc;
}

static uint64_t add_time(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

int hpc_lines_find(struct hpc_lines *l, const struct hpc_query *q, const struct hpc_lines_opts *o,
		   struct err *err)
{
	uint64_t last = 0;
	int rc;

	*l = (struct hpc_lines){0};
	if (!q->db->has_traces)
		return err_set(err, -ENOENT, "%s has no traces (trace.db)", q->db->path);
	rc = open_lines(l, q, err);
	if (rc)
		return rc;
	vec_each (line, &l->lines)
		last = line->end_ns > last ? line->end_ns : last;
	l->from_ns = o->has_from ? add_time(l->zero_ns, o->from_ns) : l->zero_ns;
	l->to_ns = o->has_to ? add_time(l->zero_ns, o->to_ns) : add_time(last, 1);
	if (l->to_ns <= l->from_ns && l->lines.n)
		return err_set(err, -ENOENT, "the range is empty: the traces are of %.6f s",
			       (double)(last - l->zero_ns) / 1e9);
	vec_each (line, &l->lines) {
		line->first = hpc_trace_find(&line->trace, l->from_ns);
		line->n = hpc_trace_find(&line->trace, l->to_ns) - line->first;
		/* What the thread was in when the range began. */
		if (line->first && line->first < line->trace.n && o->has_from &&
		    hpc_trace_elem(&line->trace, line->first).timestamp > l->from_ns) {
			line->first--;
			line->n++;
		}
		l->n_points += line->n;
	}
	return 0;
}

void hpc_lines_release(struct hpc_lines *l)
{
	vec_release(&l->lines);
}

uint64_t hpc_lines_stretch(const struct hpc_lines *l, unsigned n, unsigned i)
{
	uint64_t length = l->to_ns - l->from_ns;

	return l->from_ns + length / n * i + length % n * i / n;
}

uint64_t hpc_lines_density(const struct hpc_lines *l, const struct hpc_line *line, unsigned n,
			   uint64_t *ret)
{
	uint64_t at = hpc_trace_find(&line->trace, l->from_ns), most = 0;

	for (unsigned i = 0; i < n; i++) {
		uint64_t next = hpc_trace_find(&line->trace, hpc_lines_stretch(l, n, i + 1));

		ret[i] = next > at ? next - at : 0;
		most = ret[i] > most ? ret[i] : most;
		at = next;
	}
	return most;
}
