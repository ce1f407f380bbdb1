/* SPDX-License-Identifier: BSD-2-Clause */
/* See perfdata.h: records other than samples, and what all have in common.
 *
 * Layouts: the comments of enum perf_event_type in linux/perf_event.h for those of the kernel,
 * struct perf_record_* of Linux, tools/lib/perf/include/perf/event.h for perf's own. */
#include "formats/perfdata_impl.h"

#include <errno.h>
#include <inttypes.h>

#define EVENT_UPDATE_UNIT 0
#define EVENT_UPDATE_NAME 2

int perfdata_read_head(const struct perfdata *pd, const uint8_t *bytes, struct perfdata_head *ret)
{
	struct rd r = rd_init(bytes, 8);

	ret->type = rd_32(&r, pd->big_endian);
	ret->misc = rd_16(&r, pd->big_endian);
	ret->size = rd_16(&r, pd->big_endian);
	return ret->size < 8 ? -EBADMSG : 0;
}

bool perfdata_is_timed(uint32_t type)
{
	return type && type < PERFDATA_FIRST_USER;
}

static struct rd body_of(const struct perfdata_head *head, const uint8_t *p)
{
	struct rd r = rd_init(p, head->size);

	rd_bytes(&r, 8);
	return r;
}

uint64_t perfdata_payload(const struct perfdata *pd, const struct perfdata_head *head,
			  const uint8_t *p)
{
	struct rd r = body_of(head, p);

	if (head->type == PERFDATA_AUXTRACE)
		return rd_64(&r, pd->big_endian);
	if (head->type == PERFDATA_TRACING_DATA)
		return rd_32(&r, pd->big_endian);
	return 0;
}

/* Reads the word AT bytes from the body's beginning, or with AT < 0 from its end; false when it is
 * not there. */
static bool word_at(const struct perfdata *pd, const struct rd *body, int at, uint64_t *ret)
{
	size_t n = rd_left(body);
	struct rd r;

	if (at < 0 ? n < (size_t)-at : n < (size_t)at + 8)
		return false;
	r = rd_init(at < 0 ? body->end + at : body->p + at, 8);
	*ret = rd_64(&r, pd->big_endian);
	return true;
}

/* The event that the record with this body is of. */
static uint32_t event_of(const struct perfdata *pd, const struct perfdata_head *head,
			 const struct rd *body, bool *ret_unknown)
{
	bool sample = head->type == PERFDATA_SAMPLE;
	uint32_t event;
	uint64_t id;

	*ret_unknown = false;
	if (!pd->events.n)
		return PERFDATA_NONE;
	if (pd->events.n == 1 || (!sample && !pd->sample_id_all))
		return 0;
	if (sample ? pd->sample_id_at < 0 || !word_at(pd, body, pd->sample_id_at, &id)
		   : pd->other_id_at < 0 || !word_at(pd, body, -pd->other_id_at, &id))
		return sample ? PERFDATA_NONE : 0;
	if (!id) /* perf wrote it, for what it found in /proc */
		return 0;
	event = perfdata_find_event(pd, id);
	*ret_unknown = event == PERFDATA_NONE;
	return *ret_unknown && !sample ? 0 : event;
}

uint64_t perfdata_time(const struct perfdata *pd, const struct perfdata_head *head,
		       const uint8_t *p)
{
	struct rd body = body_of(head, p);
	bool sample = head->type == PERFDATA_SAMPLE, unknown;
	int at = sample ? pd->sample_time_at : pd->other_time_at;
	uint64_t time;

	if (!sample && !pd->sample_id_all)
		return 0;
	if (!sample && pd->n_ids && pd->other_id_at > 0) {
		event_of(pd, head, &body, &unknown);
		if (unknown) /* see read_trailer */
			return 0;
	}
	if (at == -2) {
		uint32_t event = event_of(pd, head, &body, &unknown);

		if (event == PERFDATA_NONE)
			return 0;
		at = sample ? pd->events.v[event].sample_time_at
			    : pd->events.v[event].other_time_at;
	}
	return at >= 0 && word_at(pd, &body, sample ? at : -at, &time) ? time : 0;
}

/* Cuts the identity off the end of R. */
static void read_trailer(const struct perfdata *pd, struct rd *r, struct perfdata_record *ret)
{
	const struct perfdata_attr *a = &pd->events.v[ret->event].attr;
	size_t n = pd->events.v[ret->event].sample_id_bytes;
	bool be = pd->big_endian;
	uint64_t t = a->sample_type;
	struct rd id;

	if (!perfdata_attr_has(a, PERFDATA_A_SAMPLE_ID_ALL))
		return;
	if (rd_left(r) < n) {
		r->bad = true;
		return;
	}
	r->end -= n;
	/* Kernels make KSYMBOL and BPF_EVENT records longer for each event they are written to (the
	 * size in perf_event_ksymbol_output is not set back), with nothing but chance behind the
	 * first's end: an id that no event has, and a time that is none. */
	if (ret->unknown_id)
		return;
	id = rd_init(r->end, n);
	ret->id.has =
		(uint32_t)(t & (PERFDATA_S_TID | PERFDATA_S_TIME | PERFDATA_S_ID |
				PERFDATA_S_STREAM_ID | PERFDATA_S_CPU | PERFDATA_S_IDENTIFIER));
	if (t & PERFDATA_S_TID) {
		ret->id.pid = rd_32(&id, be);
		ret->id.tid = rd_32(&id, be);
	}
	if (t & PERFDATA_S_TIME)
		ret->id.time = rd_64(&id, be);
	if (t & PERFDATA_S_ID)
		ret->id.id = rd_64(&id, be);
	if (t & PERFDATA_S_STREAM_ID)
		ret->id.stream_id = rd_64(&id, be);
	if (t & PERFDATA_S_CPU) {
		ret->id.cpu = rd_32(&id, be);
		rd_32(&id, be);
	}
	if (t & PERFDATA_S_IDENTIFIER)
		ret->id.id = rd_64(&id, be);
}

static void read_mmap(struct rd *r, bool be, struct perfdata_record *ret)
{
	struct perfdata_mmap *m = &ret->mmap;

	m->pid = rd_32(r, be);
	m->tid = rd_32(r, be);
	m->addr = rd_64(r, be);
	m->n_bytes = rd_64(r, be);
	m->off = rd_64(r, be);
	if (ret->head.type == PERFDATA_MMAP2) {
		if (ret->head.misc & PERFDATA_MISC_MMAP_BUILD_ID) {
			uint8_t n = rd_u8(r);
			const uint8_t *id;

			rd_bytes(r, 3);
			id = rd_bytes(r, BUILD_ID_MAX);
			if (id && n <= BUILD_ID_MAX) {
				m->build_id.n_bytes = n;
				memcpy(m->build_id.bytes, id, n);
			}
		} else {
			m->maj = rd_32(r, be);
			m->min = rd_32(r, be);
			m->ino = rd_64(r, be);
			m->ino_generation = rd_64(r, be);
		}
		m->prot = rd_32(r, be);
		m->flags = rd_32(r, be);
	}
	m->path = rd_text(r);
}

static void read_kernel(struct rd *r, bool be, uint64_t read_format, struct perfdata_record *ret)
{
	switch (ret->head.type) {
	case PERFDATA_MMAP:
	case PERFDATA_MMAP2:
		read_mmap(r, be, ret);
		break;
	case PERFDATA_COMM:
		ret->comm.exec = ret->head.misc & PERFDATA_MISC_COMM_EXEC;
		ret->comm.pid = rd_32(r, be);
		ret->comm.tid = rd_32(r, be);
		ret->comm.name = rd_text(r);
		break;
	case PERFDATA_FORK:
	case PERFDATA_EXIT:
		ret->task.pid = rd_32(r, be);
		ret->task.ppid = rd_32(r, be);
		ret->task.tid = rd_32(r, be);
		ret->task.ptid = rd_32(r, be);
		ret->task.time = rd_64(r, be);
		break;
	case PERFDATA_LOST:
		ret->lost.id = rd_64(r, be);
		ret->lost.n = rd_64(r, be);
		break;
	case PERFDATA_LOST_SAMPLES:
		ret->lost.n = rd_64(r, be);
		break;
	case PERFDATA_THROTTLE:
	case PERFDATA_UNTHROTTLE:
		ret->throttle.time = rd_64(r, be);
		ret->throttle.id = rd_64(r, be);
		ret->throttle.stream_id = rd_64(r, be);
		break;
	case PERFDATA_READ:
		ret->read.pid = rd_32(r, be);
		ret->read.tid = rd_32(r, be);
		ret->read.counts = perfdata_read_counts(r, read_format, be);
		break;
	case PERFDATA_AUX:
		ret->aux.off = rd_64(r, be);
		ret->aux.n_bytes = rd_64(r, be);
		ret->aux.flags = rd_64(r, be);
		break;
	case PERFDATA_ITRACE_START:
	case PERFDATA_SWITCH_CPU_WIDE:
		ret->thread.pid = rd_32(r, be);
		ret->thread.tid = rd_32(r, be);
		break;
	case PERFDATA_NAMESPACES: {
		uint64_t n;

		ret->namespaces.pid = rd_32(r, be);
		ret->namespaces.tid = rd_32(r, be);
		n = rd_64(r, be);
		ret->namespaces.links = rd_words(r, n > UINT32_MAX ? UINT32_MAX : n * 2, be);
		break;
	}
	case PERFDATA_KSYMBOL:
		ret->ksymbol.addr = rd_64(r, be);
		ret->ksymbol.n_bytes = rd_32(r, be);
		ret->ksymbol.type = rd_16(r, be);
		ret->ksymbol.flags = rd_16(r, be);
		ret->ksymbol.name = rd_text(r);
		break;
	case PERFDATA_BPF_EVENT:
		ret->bpf.type = rd_16(r, be);
		ret->bpf.flags = rd_16(r, be);
		ret->bpf.id = rd_32(r, be);
		ret->bpf.tag = rd_bytes(r, 8);
		break;
	case PERFDATA_CGROUP:
		ret->cgroup.id = rd_64(r, be);
		ret->cgroup.path = rd_text(r);
		break;
	case PERFDATA_TEXT_POKE: {
		uint16_t n_old, n_new;

		ret->poke.addr = rd_64(r, be);
		n_old = rd_16(r, be);
		n_new = rd_16(r, be);
		ret->poke.old = rd_piece(r, n_old);
		ret->poke.new = rd_piece(r, n_new);
		break;
	}
	case PERFDATA_AUX_OUTPUT_HW_ID:
		ret->hw_id = rd_64(r, be);
		break;
	case PERFDATA_CALLCHAIN_DEFERRED:
		ret->deferred.cookie = rd_64(r, be);
		ret->deferred.ips = rd_words(r, rd_64(r, be), be);
		break;
	}
}

static void read_user(const struct perfdata *pd, struct rd *r, struct perfdata_record *ret)
{
	bool be = pd->big_endian;

	switch (ret->head.type) {
	case PERFDATA_AUXTRACE_INFO:
		ret->auxtrace_info.type = rd_32(r, be);
		rd_32(r, be);
		ret->auxtrace_info.words = rd_words(r, rd_left(r) / 8, be);
		break;
	case PERFDATA_AUXTRACE:
		ret->auxtrace.n_bytes = rd_64(r, be);
		ret->auxtrace.off = rd_64(r, be);
		ret->auxtrace.reference = rd_64(r, be);
		ret->auxtrace.idx = rd_32(r, be);
		ret->auxtrace.tid = rd_32(r, be);
		ret->auxtrace.cpu = rd_32(r, be);
		break;
	case PERFDATA_AUXTRACE_ERROR: {
		uint32_t fmt;
		struct perfdata_bytes msg;

		ret->auxtrace_error.type = rd_32(r, be);
		ret->auxtrace_error.code = rd_32(r, be);
		ret->auxtrace_error.cpu = rd_32(r, be);
		ret->auxtrace_error.pid = rd_32(r, be);
		ret->auxtrace_error.tid = rd_32(r, be);
		fmt = rd_32(r, be);
		ret->auxtrace_error.ip = rd_64(r, be);
		ret->auxtrace_error.time = fmt ? rd_64(r, be) : 0;
		msg = rd_piece(r, rd_left(r) < 64 ? rd_left(r) : 64);
		ret->auxtrace_error.msg =
			msg.n && memchr(msg.p, 0, msg.n) ? (const char *)msg.p : "";
		break;
	}
	case PERFDATA_TIME_CONV:
		ret->time_conv.shift = rd_64(r, be);
		ret->time_conv.mult = rd_64(r, be);
		ret->time_conv.zero = rd_64(r, be);
		if (rd_left(r) >= 16) {
			ret->time_conv.cycles = rd_64(r, be);
			ret->time_conv.mask = rd_64(r, be);
		}
		break;
	case PERFDATA_STAT:
		ret->stat.id = rd_64(r, be);
		ret->stat.cpu = rd_32(r, be);
		ret->stat.thread = rd_32(r, be);
		ret->stat.value = rd_64(r, be);
		ret->stat.enabled_ns = rd_64(r, be);
		ret->stat.running_ns = rd_64(r, be);
		break;
	case PERFDATA_STAT_ROUND:
		ret->stat_round.type = rd_64(r, be);
		ret->stat_round.time = rd_64(r, be);
		break;
	case PERFDATA_COMPRESSED:
		ret->bytes = rd_piece(r, rd_left(r));
		break;
	case PERFDATA_COMPRESSED2: /* its size is a multiple of 8, its data need not be */
		ret->bytes = rd_piece(r, rd_64(r, be));
		break;
	case PERFDATA_FEATURE: {
		uint64_t id = rd_64(r, be);

		ret->feature = id < UINT32_MAX ? (uint32_t)id : UINT32_MAX;
		ret->bytes = rd_piece(r, rd_left(r));
		break;
	}
	}
}

int perfdata_read_record(const struct perfdata *pd, const struct perfdata_head *head,
			 const uint8_t *p, struct perfdata_record *ret)
{
	struct rd r = body_of(head, p);

	memset(ret, 0, sizeof(*ret));
	ret->head = *head;
	if (!perfdata_is_timed(head->type)) {
		ret->event = PERFDATA_NONE;
		read_user(pd, &r, ret);
		return r.bad ? -EBADMSG : 0;
	}
	ret->event = event_of(pd, head, &r, &ret->unknown_id);
	if (ret->event == PERFDATA_NONE)
		return 0;
	if (head->type == PERFDATA_SAMPLE)
		return perfdata_read_sample(pd, &r, ret);
	read_trailer(pd, &r, ret);
	read_kernel(&r, pd->big_endian, pd->events.v[ret->event].attr.read_format, ret);
	return r.bad ? -EBADMSG : 0;
}

bool perfdata_peek(const struct perfdata *pd, const uint8_t *p, unsigned *ret_mode,
		   uint64_t *ret_ip, uint32_t *ret_tid)
{
	const uint64_t need = PERFDATA_S_IP | PERFDATA_S_TID;
	struct perfdata_head head;
	uint64_t type;
	struct rd r;

	perfdata_read_head(pd, p, &head);
	type = pd->events.n ? pd->events.v[0].attr.sample_type : 0;
	if (head.type != PERFDATA_SAMPLE || (type & need) != need)
		return false;
	r = body_of(&head, p);
	if (type & PERFDATA_S_IDENTIFIER)
		rd_bytes(&r, 8);
	*ret_mode = head.misc & PERFDATA_MISC_MODE;
	*ret_ip = rd_64(&r, pd->big_endian);
	rd_32(&r, pd->big_endian);
	*ret_tid = rd_32(&r, pd->big_endian);
	return !r.bad;
}

/* Records that describe. */

static int take_attr(struct perfdata *pd, struct rd *r, struct err *err)
{
	const uint8_t *p = r->p;
	struct perfdata_attr a;
	uint32_t event;
	size_t n;

	perfdata_read_attr(p, rd_left(r), pd->big_endian, &a);
	n = a.size ? a.size : 64;
	if (n > rd_left(r) || n < 64)
		return err_set(err, -EBADMSG, "an event cannot have a description of %zu bytes", n);
	event = perfdata_add_event(pd, &a);
	rd_bytes(r, n);
	while (rd_left(r) >= 8)
		perfdata_add_id(pd, rd_64(r, pd->big_endian), event);
	return perfdata_set_layout(pd, err);
}

static int take_update(struct perfdata *pd, struct rd *r, struct err *err)
{
	uint64_t type = rd_64(r, pd->big_endian), id = rd_64(r, pd->big_endian);
	uint32_t event = perfdata_find_event(pd, id);
	const char *text;

	if (r->bad)
		return err_set(err, -EBADMSG, "a change to an event is damaged");
	if (type != EVENT_UPDATE_NAME || event == PERFDATA_NONE)
		return 0;
	text = rd_text(r);
	free(pd->events.v[event].name);
	pd->events.v[event].name = xstrdup(text);
	return r->bad ? err_set(err, -EBADMSG, "an event's name is damaged") : 0;
}

int perfdata_take_record(struct perfdata *pd, const struct perfdata_head *head, const uint8_t *p,
			 struct err *err)
{
	struct rd r = body_of(head, p);
	struct rd whole = rd_init(p, head->size);
	struct perfdata_record record;
	uint64_t feature;

	switch (head->type) {
	case PERFDATA_ATTR:
		return take_attr(pd, &r, err);
	case PERFDATA_EVENT_UPDATE:
		return take_update(pd, &r, err);
	case PERFDATA_BUILD_ID:
		return perfdata_read_build_id(pd, &whole, NULL, err);
	case PERFDATA_FEATURE:
		if (perfdata_read_record(pd, head, p, &record) < 0)
			return err_set(err, -EBADMSG, "a record FEATURE is too short");
		feature = record.feature;
		return perfdata_read_feature(pd, (uint32_t)feature, record.bytes.p, record.bytes.n,
					     NULL, err);
	default:
		return 0;
	}
}
