/* SPDX-License-Identifier: BSD-2-Clause */
/* See sample_facts.h. */
#include "daemon/sample_facts.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "formats/facts/precise.h"

/* The number behind "NAME\t*: " in the first CPU's lines. */
static uint32_t number_of(const char *text, const char *name)
{
	const char *p = text;

	while ((p = strstr(p, name))) {
		const char *colon = p + strlen(name) + strspn(p + strlen(name), "\t ");

		if (*colon == ':' && (p == text || p[-1] == '\n'))
			return (uint32_t)strtoul(colon + 1, NULL, 10);
		p++;
	}
	return 0;
}

static struct ibs_machine ask_machine(const char *proc)
{
	_mem_ char *path = xasprintf("%s/cpuinfo", proc);
	_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[4096] = ""; /* the first CPU is enough */

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0 || !strstr(text, "AuthenticAMD"))
		return (struct ibs_machine){0};
	return (struct ibs_machine){number_of(text, "cpu family"), number_of(text, "model")};
}

static bool read_fields(struct sample_facts_reader *r, uint32_t i, const struct perf_record *sample,
			const struct record_facts *f, struct sample_facts *ret)
{
	struct precise_sample s = {
		.has = (f->has & PERF_SAMPLE_DATA_SRC ? PRECISE_DATA_SRC : 0) |
		       (f->has & PERF_SAMPLE_WEIGHT ? PRECISE_WEIGHT : 0) |
		       (f->has & PERF_SAMPLE_WEIGHT_STRUCT ? PRECISE_WEIGHT_STRUCT : 0) |
		       (f->has & PERF_SAMPLE_TRANSACTION ? PRECISE_TRANSACTION : 0) |
		       (f->has & PERF_SAMPLE_DATA_PAGE_SIZE ? PRECISE_PAGE_SIZE : 0) |
		       (f->has & PERF_SAMPLE_BRANCH_STACK ? PRECISE_BRANCH : 0),
		.x86 = RECORD_MACHINE == EM_X86_64,
		.exact = sample->exact,
		.retdelay = r->retdelay[i],
		.ip = sample->ip,
		.data_src = f->data_src,
		.weight = f->weight,
		.transaction = f->transaction,
		.data_page_size = f->data_page_size,
		.branch_from = f->branch_from,
		.branch_flags = f->branch_flags,
	};

	precise_facts(&s, ret);
	if (f->has & PERF_SAMPLE_DATA_SRC)
		fact_defs_apply(r->defs, FACT_SOURCE_DATA_SRC, &f->data_src, ret);
	r->retdelay[i] |= ret->counters_known >> FACT_RETDELAY & 1;
	return true;
}

static bool read_sample(struct fact_reader *fr, uint32_t i, const struct event_spec *spec,
			const struct perf_record *sample, const struct record_facts *f,
			struct sample_facts *ret)
{
	struct sample_facts_reader *r = (struct sample_facts_reader *)fr;
	bool fetch = spec->facts == EVENT_FACTS_IBS_FETCH, any;
	struct ibs_regs regs;

	if (spec->facts == EVENT_FACTS_FIELDS)
		any = read_fields(r, i, sample, f, ret);
	else
		any = (fetch ? ibs_read_fetch : ibs_read_op)(f->raw, f->n_raw, &regs) == 0 &&
		      (fetch ? ibs_fetch_facts : ibs_op_facts)(&regs, &r->amd, ret);
	if (!any)
		return false;
	if (spec->facts != EVENT_FACTS_FIELDS)
		fact_defs_apply(r->defs, fetch ? FACT_SOURCE_IBS_FETCH : FACT_SOURCE_IBS_OP,
				regs.reg, ret);
	facts_settle(ret);
	return ret->known || ret->counters_known;
}

struct fact_reader *sample_facts_init(struct sample_facts_reader *r, const char *proc)
{
	*r = (struct sample_facts_reader){.reader.read = read_sample, .amd = ask_machine(proc)};
	return &r->reader;
}
