/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data files made by hand, of either byte order: a header, events, records, sections.
 *
 *     struct pd_file f = {.big_endian = ...};
 *     pd_event(&f, &attr, "cycles", 1, ids)...; pd_mmap(&f, ...); pd_sample(&f, ...);
 *     pd_finish(&f): the whole file in f.out
 *
 * or with .pipe the same as perf writes it to a pipe, where events are records. */
#ifndef TESTS_PERFDATA_T_H
#define TESTS_PERFDATA_T_H

#include <stdbool.h>
#include <string.h>

#include "base/wr.h"
#include "formats/perfdata.h"

#define PD_MAX_EVENTS 8
#define PD_ATTR_BYTES 128

struct pd_file {
	uint64_t period; /* of samples that have one; 0: 1000 */
	bool big_endian, pipe, old;
	struct wr out;	/* pd_finish */
	struct wr data; /* records */
	struct {
		struct perfdata_attr attr;
		uint64_t id;
	} events[PD_MAX_EVENTS];
	unsigned n_events;
	struct wr sections[PERFDATA_N_FEATURES];
	uint64_t empty; /* bits of sections that are there without a byte */
	size_t record;	/* where the one being written begins */
};

static inline void pd_16(const struct pd_file *f, struct wr *w, uint16_t v)
{
	wr_le16(w, f->big_endian ? __builtin_bswap16(v) : v);
}

static inline void pd_32(const struct pd_file *f, struct wr *w, uint32_t v)
{
	wr_le32(w, f->big_endian ? __builtin_bswap32(v) : v);
}

static inline void pd_64(const struct pd_file *f, struct wr *w, uint64_t v)
{
	wr_le64(w, f->big_endian ? __builtin_bswap64(v) : v);
}

static inline void pd_text(struct wr *w, const char *s, size_t align)
{
	wr_bytes(w, s, strlen(s) + 1);
	while (w->n % align)
		wr_u8(w, 0);
}

/* A text of a section: its length, then so many bytes. */
static inline void pd_string(const struct pd_file *f, struct wr *w, const char *s)
{
	pd_32(f, w, (uint32_t)(strlen(s) + 64) / 64 * 64);
	for (size_t i = 0, n = (strlen(s) + 64) / 64 * 64; i < n; i++)
		wr_u8(w, i < strlen(s) ? (uint8_t)s[i] : 0);
}

static inline void pd_attr(const struct pd_file *f, struct wr *w, const struct perfdata_attr *a)
{
	uint64_t flags = a->flags;

	if (f->big_endian) {
		flags = 0;
		for (unsigned i = 0; i < 64; i++)
			flags |= (a->flags >> i & 1) << (63 - i);
	}
	pd_32(f, w, a->type);
	pd_32(f, w, PD_ATTR_BYTES);
	pd_64(f, w, a->config);
	pd_64(f, w, a->period);
	pd_64(f, w, a->sample_type);
	pd_64(f, w, a->read_format);
	pd_64(f, w, flags);
	pd_32(f, w, a->wakeup);
	pd_32(f, w, a->bp_type);
	pd_64(f, w, a->config1);
	pd_64(f, w, a->config2);
	pd_64(f, w, a->branch_sample_type);
	pd_64(f, w, a->regs_user);
	pd_32(f, w, a->stack_user);
	pd_32(f, w, (uint32_t)a->clockid);
	pd_64(f, w, a->regs_intr);
	pd_32(f, w, a->aux_watermark);
	pd_16(f, w, a->max_stack);
	pd_16(f, w, 0);
	pd_32(f, w, a->aux_sample_size);
	pd_32(f, w, 0);
	pd_64(f, w, a->sig_data);
}

/* Records: begin, fields, end. */
static inline struct wr *pd_begin(struct pd_file *f, uint32_t type, uint16_t misc)
{
	f->record = f->data.n;
	pd_32(f, &f->data, type);
	pd_16(f, &f->data, misc);
	pd_16(f, &f->data, 0);
	return &f->data;
}

static inline void pd_end(struct pd_file *f)
{
	uint16_t n = (uint16_t)(f->data.n - f->record);

	if (f->big_endian)
		n = __builtin_bswap16(n);
	memcpy(f->data.v + f->record + 6, &n, 2);
}

static inline void pd_event(struct pd_file *f, const struct perfdata_attr *a, uint64_t id)
{
	f->events[f->n_events].attr = *a;
	f->events[f->n_events++].id = id;
	if (!f->pipe)
		return;
	pd_attr(f, pd_begin(f, PERFDATA_ATTR, 0), a);
	if (id)
		pd_64(f, &f->data, id);
	pd_end(f);
}

/* What stands at the end of records other than samples, of an event with TYPE. */
static inline void pd_id(struct pd_file *f, uint64_t type, uint32_t pid, uint32_t tid,
			 uint64_t time, uint64_t id)
{
	if (type & PERFDATA_S_TID) {
		pd_32(f, &f->data, pid);
		pd_32(f, &f->data, tid);
	}
	if (type & PERFDATA_S_TIME)
		pd_64(f, &f->data, time);
	if (type & PERFDATA_S_ID)
		pd_64(f, &f->data, id);
	if (type & PERFDATA_S_STREAM_ID)
		pd_64(f, &f->data, id + 1000);
	if (type & PERFDATA_S_CPU) {
		pd_32(f, &f->data, 3);
		pd_32(f, &f->data, 0);
	}
	if (type & PERFDATA_S_IDENTIFIER)
		pd_64(f, &f->data, id);
	pd_end(f);
}

static inline void pd_comm(struct pd_file *f, uint32_t pid, uint32_t tid, const char *name,
			   bool exec, uint64_t time)
{
	struct wr *w = pd_begin(f, PERFDATA_COMM, exec ? PERFDATA_MISC_COMM_EXEC : 0);

	pd_32(f, w, pid);
	pd_32(f, w, tid);
	pd_text(w, name, 8);
	pd_id(f, f->events[0].attr.sample_type, pid, tid, time, f->events[0].id);
}

static inline void pd_mmap2(struct pd_file *f, uint32_t pid, uint64_t addr, uint64_t n,
			    uint64_t off, const char *path, const struct build_id *id,
			    uint64_t time)
{
	struct wr *w = pd_begin(f, PERFDATA_MMAP2,
				PERFDATA_MODE_USER | (id ? PERFDATA_MISC_MMAP_BUILD_ID : 0));

	pd_32(f, w, pid);
	pd_32(f, w, pid);
	pd_64(f, w, addr);
	pd_64(f, w, n);
	pd_64(f, w, off);
	if (id) {
		wr_u8(w, id->n_bytes);
		wr_bytes(w, "\0\0", 3);
		wr_bytes(w, id->bytes, BUILD_ID_MAX);
	} else {
		pd_32(f, w, 8);
		pd_32(f, w, 1);
		pd_64(f, w, 4711);
		pd_64(f, w, 5);
	}
	pd_32(f, w, 5);
	pd_32(f, w, 2);
	pd_text(w, path, 8);
	pd_id(f, f->events[0].attr.sample_type, pid, pid, time, f->events[0].id);
}

/* The kernel's mapping or a module's, as perf tells it before all others. */
static inline void pd_mmap_kernel(struct pd_file *f, uint64_t addr, uint64_t n, uint64_t off,
				  const char *path)
{
	struct wr *w = pd_begin(f, PERFDATA_MMAP, PERFDATA_MODE_KERNEL);

	pd_32(f, w, UINT32_MAX);
	pd_32(f, w, 0);
	pd_64(f, w, addr);
	pd_64(f, w, n);
	pd_64(f, w, off);
	pd_text(w, path, 8);
	pd_id(f, f->events[0].attr.sample_type, UINT32_MAX, 0, 0, f->events[0].id);
}

/* An entry of the section BUILD_ID, of the mode MISC. */
static inline void pd_add_build_id(struct pd_file *f, uint16_t misc, const struct build_id *id,
				   const char *path)
{
	struct wr *w = &f->sections[PERFDATA_F_BUILD_ID];
	size_t n_path = (strlen(path) + 8) / 8 * 8;

	pd_32(f, w, 0);
	pd_16(f, w, misc | PERFDATA_MISC_BUILD_ID_SIZE);
	pd_16(f, w, (uint16_t)(8 + 4 + 24 + n_path));
	pd_32(f, w, UINT32_MAX);
	wr_bytes(w, id->bytes, BUILD_ID_MAX);
	wr_u8(w, id->n_bytes);
	wr_bytes(w, "\0\0\0", 3);
	for (size_t i = 0; i < n_path; i++)
		wr_u8(w, i < strlen(path) ? (uint8_t)path[i] : 0);
}

/* Tracing data with one tracepoint, number 1329: "probe_p:main". */
static inline void pd_tracing(const struct pd_file *f, struct wr *w)
{
	static const char event[] = "name: main\nID: 1329\nformat:\n";

	wr_bytes(w, "\x17\x08\x44tracing0.6", 14);
	wr_u8(w, f->big_endian);
	wr_u8(w, 8);
	pd_32(f, w, 4096);
	wr_bytes(w, "header_page", 12);
	pd_64(f, w, 3);
	wr_bytes(w, "abc", 3);
	wr_bytes(w, "header_event", 13);
	pd_64(f, w, 0);
	pd_32(f, w, 1); /* of the function tracer */
	pd_64(f, w, 2);
	wr_bytes(w, "xy", 2);
	pd_32(f, w, 1);
	wr_bytes(w, "probe_p", 8);
	pd_32(f, w, 1);
	pd_64(f, w, sizeof(event) - 1);
	wr_bytes(w, event, sizeof(event) - 1);
	pd_32(f, w, 0); /* kallsyms, printk's formats */
	pd_32(f, w, 0);
	pd_64(f, w, 0);
}

static inline void pd_fork(struct pd_file *f, uint32_t type, uint32_t pid, uint32_t tid,
			   uint32_t ppid, uint32_t ptid, uint64_t time)
{
	struct wr *w = pd_begin(f, type, 0);

	pd_32(f, w, pid);
	pd_32(f, w, ppid);
	pd_32(f, w, tid);
	pd_32(f, w, ptid);
	pd_64(f, w, time);
	pd_id(f, f->events[0].attr.sample_type, pid, tid, time, f->events[0].id);
}

/* A sample of event E; its fields in the kernel's order, as far as the event has them: IP, TID,
 * TIME, ID, CPU, PERIOD, CALLCHAIN. */
static inline void pd_sample(struct pd_file *f, unsigned e, uint16_t misc, uint32_t pid,
			     uint32_t tid, uint64_t time, uint64_t ip, const uint64_t *chain,
			     size_t n_chain)
{
	uint64_t type = f->events[e].attr.sample_type;
	struct wr *w = pd_begin(f, PERFDATA_SAMPLE, misc);

	if (type & PERFDATA_S_IDENTIFIER)
		pd_64(f, w, f->events[e].id);
	if (type & PERFDATA_S_IP)
		pd_64(f, w, ip);
	if (type & PERFDATA_S_TID) {
		pd_32(f, w, pid);
		pd_32(f, w, tid);
	}
	if (type & PERFDATA_S_TIME)
		pd_64(f, w, time);
	if (type & PERFDATA_S_ID)
		pd_64(f, w, f->events[e].id);
	if (type & PERFDATA_S_CPU) {
		pd_32(f, w, 3);
		pd_32(f, w, 0);
	}
	if (type & PERFDATA_S_PERIOD)
		pd_64(f, w, f->period ? f->period : 1000);
	if (type & PERFDATA_S_CALLCHAIN) {
		pd_64(f, w, n_chain);
		for (size_t i = 0; i < n_chain; i++)
			pd_64(f, w, chain[i]);
	}
	pd_end(f);
}

static inline void pd_round(struct pd_file *f)
{
	pd_begin(f, PERFDATA_FINISHED_ROUND, 0);
	pd_end(f);
}

/* The whole file into f->out. */
static inline void pd_finish(struct pd_file *f)
{
	struct wr *w = &f->out;
	uint64_t bits = 0, at = PERFDATA_HEADER_BYTES, n_sections = 0;
	const char *magic = f->old ? "PERFFILE" : f->big_endian ? "2ELIFREP" : "PERFILE2";

	wr_bytes(w, magic, 8);
	if (f->pipe) {
		pd_64(f, w, PERFDATA_PIPE_HEADER_BYTES);
		wr_bytes(w, f->data.v, f->data.n);
		return;
	}
	for (unsigned i = 0; i < PERFDATA_N_FEATURES; i++)
		if (f->sections[i].n || f->empty >> i & 1) {
			bits |= 1ull << i;
			n_sections++;
		}
	pd_64(f, w, PERFDATA_HEADER_BYTES);
	pd_64(f, w, PD_ATTR_BYTES + 16);
	pd_64(f, w, at + f->n_events * 8);
	pd_64(f, w, f->n_events * (PD_ATTR_BYTES + 16));
	pd_64(f, w, at + f->n_events * (8 + PD_ATTR_BYTES + 16));
	pd_64(f, w, f->data.n);
	pd_64(f, w, 0);
	pd_64(f, w, 0);
	pd_64(f, w, bits);
	for (unsigned i = 1; i < 4; i++)
		pd_64(f, w, 0);
	for (unsigned i = 0; i < f->n_events; i++)
		pd_64(f, w, f->events[i].id);
	for (unsigned i = 0; i < f->n_events; i++) {
		pd_attr(f, w, &f->events[i].attr);
		pd_64(f, w, at + i * 8);
		pd_64(f, w, f->events[i].id ? 8 : 0);
	}
	wr_bytes(w, f->data.v, f->data.n);
	at = w->n + n_sections * 16;
	for (unsigned i = 0; i < PERFDATA_N_FEATURES; i++)
		if (bits >> i & 1) {
			pd_64(f, w, at);
			pd_64(f, w, f->sections[i].n);
			at += f->sections[i].n;
		}
	for (unsigned i = 0; i < PERFDATA_N_FEATURES; i++)
		wr_bytes(w, f->sections[i].v, f->sections[i].n);
}

static inline void pd_release(struct pd_file *f)
{
	wr_release(&f->out);
	wr_release(&f->data);
	for (unsigned i = 0; i < PERFDATA_N_FEATURES; i++)
		wr_release(&f->sections[i]);
	*f = (struct pd_file){0};
}

#endif
