/* SPDX-License-Identifier: BSD-2-Clause */
/* See perfdata.h: records as text, for people and for tests.  One line each, and more for what a
 * sample carries; all that was decoded is there. */
#include <ctype.h>
#include <inttypes.h>

#include "formats/perfdata.h"

static const char *const types[PERFDATA_N_TYPES] = {
	[PERFDATA_MMAP] = "MMAP",
	[PERFDATA_LOST] = "LOST",
	[PERFDATA_COMM] = "COMM",
	[PERFDATA_EXIT] = "EXIT",
	[PERFDATA_THROTTLE] = "THROTTLE",
	[PERFDATA_UNTHROTTLE] = "UNTHROTTLE",
	[PERFDATA_FORK] = "FORK",
	[PERFDATA_READ] = "READ",
	[PERFDATA_SAMPLE] = "SAMPLE",
	[PERFDATA_MMAP2] = "MMAP2",
	[PERFDATA_AUX] = "AUX",
	[PERFDATA_ITRACE_START] = "ITRACE_START",
	[PERFDATA_LOST_SAMPLES] = "LOST_SAMPLES",
	[PERFDATA_SWITCH] = "SWITCH",
	[PERFDATA_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
	[PERFDATA_NAMESPACES] = "NAMESPACES",
	[PERFDATA_KSYMBOL] = "KSYMBOL",
	[PERFDATA_BPF_EVENT] = "BPF_EVENT",
	[PERFDATA_CGROUP] = "CGROUP",
	[PERFDATA_TEXT_POKE] = "TEXT_POKE",
	[PERFDATA_AUX_OUTPUT_HW_ID] = "AUX_OUTPUT_HW_ID",
	[PERFDATA_CALLCHAIN_DEFERRED] = "CALLCHAIN_DEFERRED",
	[PERFDATA_ATTR] = "ATTR",
	[PERFDATA_EVENT_TYPE] = "EVENT_TYPE",
	[PERFDATA_TRACING_DATA] = "TRACING_DATA",
	[PERFDATA_BUILD_ID] = "BUILD_ID",
	[PERFDATA_FINISHED_ROUND] = "FINISHED_ROUND",
	[PERFDATA_ID_INDEX] = "ID_INDEX",
	[PERFDATA_AUXTRACE_INFO] = "AUXTRACE_INFO",
	[PERFDATA_AUXTRACE] = "AUXTRACE",
	[PERFDATA_AUXTRACE_ERROR] = "AUXTRACE_ERROR",
	[PERFDATA_THREAD_MAP] = "THREAD_MAP",
	[PERFDATA_CPU_MAP] = "CPU_MAP",
	[PERFDATA_STAT_CONFIG] = "STAT_CONFIG",
	[PERFDATA_STAT] = "STAT",
	[PERFDATA_STAT_ROUND] = "STAT_ROUND",
	[PERFDATA_EVENT_UPDATE] = "EVENT_UPDATE",
	[PERFDATA_TIME_CONV] = "TIME_CONV",
	[PERFDATA_FEATURE] = "FEATURE",
	[PERFDATA_COMPRESSED] = "COMPRESSED",
	[PERFDATA_FINISHED_INIT] = "FINISHED_INIT",
	[PERFDATA_COMPRESSED2] = "COMPRESSED2",
	[PERFDATA_BPF_METADATA] = "BPF_METADATA",
};

const char *perfdata_type_name(uint32_t type)
{
	return type < PERFDATA_N_TYPES ? types[type] : NULL;
}

static void add_quoted(struct str *s, const char *text)
{
	str_addc(s, '"');
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			str_addf(s, "\\%c", c);
		else if (isprint(c))
			str_addc(s, (char)c);
		else
			str_addf(s, "\\x%02x", c);
	}
	str_addc(s, '"');
}

static void add_bytes(struct str *s, const struct perfdata_bytes *b)
{
	for (size_t i = 0; i < b->n; i++)
		str_addf(s, "%s%02x", i % 4 || !i ? "" : " ", b->p[i]);
}

static void add_words(struct str *s, const struct perfdata_words *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		str_addf(s, " %" PRIx64, perfdata_word(w, i));
}

static void add_counts(struct str *s, const struct perfdata_counts *c)
{
	str_addf(s, " enabled %" PRIu64 " running %" PRIu64, c->enabled_ns, c->running_ns);
	for (uint32_t i = 0; i < c->n; i++) {
		struct perfdata_count one = perfdata_count(c, i);

		str_addf(s, "; %" PRIu64 " id %" PRIu64 " lost %" PRIu64, one.value, one.id,
			 one.lost);
	}
}

static void add_sample(struct str *s, const struct perfdata_sample *x)
{
	const struct {
		uint64_t bit;
		const char *name;
		uint64_t value;
	} numbers[] = {
		{PERFDATA_S_ADDR, "addr", x->addr},
		{PERFDATA_S_WEIGHT, "weight", x->weight},
		{PERFDATA_S_WEIGHT_STRUCT, "weights", x->weight},
		{PERFDATA_S_DATA_SRC, "data_src", x->data_src},
		{PERFDATA_S_TRANSACTION, "transaction", x->transaction},
		{PERFDATA_S_PHYS_ADDR, "phys_addr", x->phys_addr},
		{PERFDATA_S_CGROUP, "cgroup", x->cgroup},
		{PERFDATA_S_DATA_PAGE_SIZE, "data_page", x->data_page_size},
		{PERFDATA_S_CODE_PAGE_SIZE, "code_page", x->code_page_size},
	};

	str_addf(s, " ip %" PRIx64 " period %" PRIu64, x->ip, x->period);
	for (size_t i = 0; i < n_elems(numbers); i++)
		if (x->has & numbers[i].bit)
			str_addf(s, " %s %" PRIx64, numbers[i].name, numbers[i].value);
	if (x->has & PERFDATA_S_READ) {
		str_add(s, "\n\tread");
		add_counts(s, &x->counts);
	}
	if (x->has_chain) {
		str_add(s, "\n\tchain");
		add_words(s, &x->ips);
	}
	if (x->has & PERFDATA_S_RAW) {
		str_addf(s, "\n\traw %zu bytes ", x->raw.n);
		add_bytes(s, &x->raw);
	}
	for (uint32_t i = 0; i < x->branches.n / 3; i++) {
		struct perfdata_branch b = perfdata_branch(x, i);

		str_addf(s, "\n\tbranch %" PRIx64 " to %" PRIx64 " flags %" PRIx64, b.from, b.to,
			 b.flags);
	}
	if (x->branch_counters.n) {
		str_add(s, "\n\tbranch counters");
		add_words(s, &x->branch_counters);
	}
	if (x->has & PERFDATA_S_REGS_USER) {
		str_addf(s, "\n\tuser registers, abi %" PRIu64 ":", x->user_abi);
		add_words(s, &x->user_regs);
	}
	if (x->has & PERFDATA_S_REGS_INTR) {
		str_addf(s, "\n\tregisters, abi %" PRIu64 ":", x->intr_abi);
		add_words(s, &x->intr_regs);
	}
	if (x->has & PERFDATA_S_STACK_USER)
		str_addf(s, "\n\tstack of %zu bytes, hash %" PRIx64, x->stack.n,
			 hash_bytes(x->stack.p, x->stack.n));
	if (x->has & PERFDATA_S_AUX)
		str_addf(s, "\n\taux of %zu bytes, hash %" PRIx64, x->aux.n,
			 hash_bytes(x->aux.p, x->aux.n));
}

static void add_mmap(struct str *s, const struct perfdata_mmap *m, bool second)
{
	char hex[2 * BUILD_ID_MAX + 1];

	str_addf(s, " %" PRId32 "/%" PRId32 " %" PRIx64 "+%" PRIx64 " off %" PRIx64,
		 (int32_t)m->pid, (int32_t)m->tid, m->addr, m->n_bytes, m->off);
	if (second && m->build_id.n_bytes) {
		build_id_format(&m->build_id, hex);
		str_addf(s, " build-id %s", hex);
	} else if (second) {
		str_addf(s, " %" PRIu32 ":%" PRIu32 " inode %" PRIu64 " generation %" PRIu64,
			 m->maj, m->min, m->ino, m->ino_generation);
	}
	if (second)
		str_addf(s, " prot %" PRIx32 " flags %" PRIx32, m->prot, m->flags);
	str_addc(s, ' ');
	add_quoted(s, m->path);
}

static void add_kernel(struct str *s, const struct perfdata_record *r)
{
	switch (r->head.type) {
	case PERFDATA_MMAP:
	case PERFDATA_MMAP2:
		add_mmap(s, &r->mmap, r->head.type == PERFDATA_MMAP2);
		break;
	case PERFDATA_COMM:
		str_addf(s, "%s %" PRId32 "/%" PRId32 " ", r->comm.exec ? " exec" : "",
			 (int32_t)r->comm.pid, (int32_t)r->comm.tid);
		add_quoted(s, r->comm.name);
		break;
	case PERFDATA_FORK:
	case PERFDATA_EXIT:
		str_addf(s, " %" PRId32 "/%" PRId32 " of %" PRId32 "/%" PRId32 " time %" PRIu64,
			 (int32_t)r->task.pid, (int32_t)r->task.tid, (int32_t)r->task.ppid,
			 (int32_t)r->task.ptid, r->task.time);
		break;
	case PERFDATA_LOST:
	case PERFDATA_LOST_SAMPLES:
		str_addf(s, " %" PRIu64 " id %" PRIu64, r->lost.n, r->lost.id);
		break;
	case PERFDATA_THROTTLE:
	case PERFDATA_UNTHROTTLE:
		str_addf(s, " time %" PRIu64 " id %" PRIu64 " stream %" PRIu64, r->throttle.time,
			 r->throttle.id, r->throttle.stream_id);
		break;
	case PERFDATA_READ:
		str_addf(s, " %" PRId32 "/%" PRId32, (int32_t)r->read.pid, (int32_t)r->read.tid);
		add_counts(s, &r->read.counts);
		break;
	case PERFDATA_SAMPLE:
		add_sample(s, &r->sample);
		break;
	case PERFDATA_AUX:
		str_addf(s, " off %" PRIx64 " of %" PRIu64 " bytes flags %" PRIx64, r->aux.off,
			 r->aux.n_bytes, r->aux.flags);
		break;
	case PERFDATA_ITRACE_START:
	case PERFDATA_SWITCH_CPU_WIDE:
		str_addf(s, " %" PRId32 "/%" PRId32, (int32_t)r->thread.pid,
			 (int32_t)r->thread.tid);
		break;
	case PERFDATA_NAMESPACES:
		str_addf(s, " %" PRId32 "/%" PRId32, (int32_t)r->namespaces.pid,
			 (int32_t)r->namespaces.tid);
		add_words(s, &r->namespaces.links);
		break;
	case PERFDATA_KSYMBOL:
		str_addf(s, " %" PRIx64 "+%" PRIx32 " type %u flags %x ", r->ksymbol.addr,
			 r->ksymbol.n_bytes, r->ksymbol.type, r->ksymbol.flags);
		add_quoted(s, r->ksymbol.name);
		break;
	case PERFDATA_BPF_EVENT:
		str_addf(s, " type %u flags %x id %" PRIu32 " tag ", r->bpf.type, r->bpf.flags,
			 r->bpf.id);
		add_bytes(s, &(struct perfdata_bytes){r->bpf.tag, r->bpf.tag ? 8 : 0});
		break;
	case PERFDATA_CGROUP:
		str_addf(s, " %" PRIu64 " ", r->cgroup.id);
		add_quoted(s, r->cgroup.path);
		break;
	case PERFDATA_TEXT_POKE:
		str_addf(s, " %" PRIx64 " old ", r->poke.addr);
		add_bytes(s, &r->poke.old);
		str_add(s, " new ");
		add_bytes(s, &r->poke.new);
		break;
	case PERFDATA_AUX_OUTPUT_HW_ID:
		str_addf(s, " %" PRIx64, r->hw_id);
		break;
	case PERFDATA_CALLCHAIN_DEFERRED:
		str_addf(s, " cookie %" PRIx64 ":", r->deferred.cookie);
		add_words(s, &r->deferred.ips);
		break;
	}
}

static void add_own(struct str *s, const struct perfdata_record *r)
{
	switch (r->head.type) {
	case PERFDATA_AUXTRACE_INFO:
		str_addf(s, " type %" PRIu32 ":", r->auxtrace_info.type);
		add_words(s, &r->auxtrace_info.words);
		break;
	case PERFDATA_AUXTRACE:
		str_addf(s,
			 " of %" PRIu64 " bytes off %" PRIx64 " reference %" PRIx64 " idx %" PRIu32
			 " tid %" PRId32 " cpu %" PRId32,
			 r->auxtrace.n_bytes, r->auxtrace.off, r->auxtrace.reference,
			 r->auxtrace.idx, (int32_t)r->auxtrace.tid, (int32_t)r->auxtrace.cpu);
		break;
	case PERFDATA_AUXTRACE_ERROR:
		str_addf(s,
			 " type %" PRIu32 " code %" PRIu32 " cpu %" PRId32 " %" PRId32 "/%" PRId32
			 " ip %" PRIx64 " time %" PRIu64 " ",
			 r->auxtrace_error.type, r->auxtrace_error.code,
			 (int32_t)r->auxtrace_error.cpu, (int32_t)r->auxtrace_error.pid,
			 (int32_t)r->auxtrace_error.tid, r->auxtrace_error.ip,
			 r->auxtrace_error.time);
		add_quoted(s, r->auxtrace_error.msg);
		break;
	case PERFDATA_TIME_CONV:
		str_addf(s,
			 " shift %" PRIu64 " mult %" PRIu64 " zero %" PRIu64 " cycles %" PRIu64
			 " mask %" PRIx64,
			 r->time_conv.shift, r->time_conv.mult, r->time_conv.zero,
			 r->time_conv.cycles, r->time_conv.mask);
		break;
	case PERFDATA_STAT:
		str_addf(s,
			 " id %" PRIu64 " cpu %" PRIu32 " thread %" PRIu32 " value %" PRIu64
			 " enabled %" PRIu64 " running %" PRIu64,
			 r->stat.id, r->stat.cpu, r->stat.thread, r->stat.value, r->stat.enabled_ns,
			 r->stat.running_ns);
		break;
	case PERFDATA_STAT_ROUND:
		str_addf(s, " type %" PRIu64 " time %" PRIu64, r->stat_round.type,
			 r->stat_round.time);
		break;
	case PERFDATA_COMPRESSED:
	case PERFDATA_COMPRESSED2:
		str_addf(s, " of %zu bytes", r->bytes.n);
		break;
	case PERFDATA_FEATURE: {
		const char *name = perfdata_feature_name(r->feature);

		str_addf(s, " %s of %zu bytes", name ? name : "not known", r->bytes.n);
		break;
	}
	}
}

void perfdata_format_record(const struct perfdata *pd, const struct perfdata_record *r,
			    uint64_t off, struct str *s)
{
	const char *name = perfdata_type_name(r->head.type);

	str_addf(s, "%" PRIx64 " ", off);
	if (name)
		str_add(s, name);
	else
		str_addf(s, "type %" PRIu32, r->head.type);
	str_addf(s, " misc %x size %u", r->head.misc, r->head.size);
	if (r->event != PERFDATA_NONE && pd->events.n > 1)
		str_addf(s, " event %" PRIu32, r->event);
	if (r->id.has & PERFDATA_S_TID)
		str_addf(s, " by %" PRId32 "/%" PRId32, (int32_t)r->id.pid, (int32_t)r->id.tid);
	if (r->id.has & PERFDATA_S_TIME)
		str_addf(s, " at %" PRIu64, r->id.time);
	if (r->id.has & (PERFDATA_S_ID | PERFDATA_S_IDENTIFIER))
		str_addf(s, " id %" PRIu64, r->id.id);
	if (r->id.has & PERFDATA_S_STREAM_ID)
		str_addf(s, " stream %" PRIu64, r->id.stream_id);
	if (r->id.has & PERFDATA_S_CPU)
		str_addf(s, " cpu %" PRIu32, r->id.cpu);
	if (perfdata_is_timed(r->head.type)) {
		if (r->event != PERFDATA_NONE)
			add_kernel(s, r);
	} else {
		add_own(s, r);
	}
	str_addc(s, '\n');
}
