/* SPDX-License-Identifier: BSD-2-Clause */
/* See perf_facts.h.  IBS is known by the name of its PMU, or where the file names none by that of
 * the event; its registers by the raw part.  Everything else is in the sample's own fields, which
 * the kernel fills with 0 where there is nothing to tell. */
#include "port/perf_facts.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/str.h"
#include "formats/facts/precise.h"

void perf_facts_init(struct perf_facts *f, const struct perfdata *pd, const struct fact_defs *defs)
{
	*f = (struct perf_facts){.pd = pd, .defs = defs};
}

void perf_facts_release(struct perf_facts *f)
{
	vec_release(&f->events);
}

const char *perf_facts_pmu(const struct perfdata *pd, uint32_t type)
{
	vec_each (p, &pd->pmus)
		if (p->type == type)
			return p->name;
	return NULL;
}

struct arm_spe_machine perf_facts_arm(const struct perfdata *pd)
{
	unsigned long long midr = 0;

	if (pd->cpu_id)
		sscanf(pd->cpu_id, "0x%llx", &midr);
	return arm_spe_machine_from_midr(midr);
}

static void ask_machine(struct perf_facts *f)
{
	const struct perfdata *pd = f->pd;

	f->asked = true;
	/* Without an architecture: a raw recording of IBS tells by its PMU what it is. */
	f->x86 = !pd->arch || str_starts(pd->arch, "x86") || strcmp(pd->arch, "i686") == 0;
	if (pd->cpu_id && sscanf(pd->cpu_id, "AuthenticAMD,%" SCNu32 ",%" SCNu32, &f->amd.family,
				 &f->amd.model) != 2)
		f->amd = (struct ibs_machine){0};
}

#define FIELDS                                                                                     \
	(PERFDATA_S_DATA_SRC | PERFDATA_S_WEIGHT | PERFDATA_S_WEIGHT_STRUCT |                      \
	 PERFDATA_S_TRANSACTION | PERFDATA_S_DATA_PAGE_SIZE | PERFDATA_S_BRANCH_STACK)

static enum perf_facts_kind kind_of(const struct perf_facts *f, uint32_t event)
{
	const struct perfdata_event *e = &f->pd->events.v[event];
	const char *pmu = perf_facts_pmu(f->pd, e->attr.type);

	if (!pmu)
		pmu = e->name ? e->name : "";
	if (e->attr.sample_type & PERFDATA_S_RAW && str_starts(pmu, "ibs_op"))
		return PERF_FACTS_IBS_OP;
	if (e->attr.sample_type & PERFDATA_S_RAW && str_starts(pmu, "ibs_fetch"))
		return PERF_FACTS_IBS_FETCH;
	/* A precise event's address is exact, which says that it retired. */
	if (e->attr.sample_type & FIELDS || (f->x86 && (e->attr.flags >> PERFDATA_A_PRECISE & 3)))
		return PERF_FACTS_FIELDS;
	return PERF_FACTS_NONE;
}

static bool read_registers(struct perf_facts *f, const struct perfdata_sample *s, bool fetch,
			   struct sample_facts *ret)
{
	struct ibs_regs regs;
	int rc = (fetch ? ibs_read_fetch : ibs_read_op)(s->raw.p, s->raw.n, &regs);

	f->addr = f->phys = 0;
	if (rc < 0) {
		f->n_damaged++;
		return false;
	}
	if (!(fetch ? ibs_fetch_facts : ibs_op_facts)(&regs, &f->amd, ret)) {
		f->n_no_ip++;
		return false;
	}
	if (!fetch && regs.reg[IBS_OP_DATA3] & IBS_LINADDR_VALID)
		f->addr = regs.reg[IBS_OP_LINADDR];
	if (!fetch && regs.reg[IBS_OP_DATA3] & IBS_PHYSADDR_VALID)
		f->phys = regs.reg[IBS_OP_PHYSADDR];
	fact_defs_apply(f->defs, fetch ? FACT_SOURCE_IBS_FETCH : FACT_SOURCE_IBS_OP, regs.reg, ret);
	return true;
}

/* Settles in RET what P tells, whose only fields are data_src and a weight. */
static void read_source(struct perf_facts *f, const struct precise_sample *p,
			struct sample_facts *ret)
{
	struct perf_facts_source *s = &f->sources[hash_u64(p->data_src) % PERF_FACTS_N_SOURCES];

	if (!s->used || s->data_src != p->data_src || s->exact != p->exact) {
		const struct precise_sample alone = {.x86 = p->x86,
						     .exact = p->exact,
						     .has = PRECISE_DATA_SRC,
						     .data_src = p->data_src};

		precise_facts(&alone, ret);
		facts_settle(ret);
		*s = (struct perf_facts_source){p->data_src, ret->known, ret->value, true,
						p->exact};
	}
	ret->known = s->known;
	ret->value = s->value;
	ret->counters_known = 0;
	if (p->has & (PRECISE_WEIGHT | PRECISE_WEIGHT_STRUCT))
		precise_weight(p, ret);
}

static void read_fields(struct perf_facts *f, const struct perfdata_record *r, uint32_t event,
			struct sample_facts *ret)
{
	const struct perfdata_sample *s = &r->sample;
	struct precise_sample p = {
		.x86 = f->x86,
		.exact = r->head.misc & PERFDATA_MISC_EXACT_IP,
		.retdelay = f->events.v[event].retdelay,
		.ip = s->ip,
		.data_src = s->data_src,
		.weight = s->weight,
		.transaction = s->transaction,
		.data_page_size = s->data_page_size,
	};

	p.has = (s->has & PERFDATA_S_DATA_SRC ? PRECISE_DATA_SRC : 0) |
		(s->has & PERFDATA_S_WEIGHT ? PRECISE_WEIGHT : 0) |
		(s->has & PERFDATA_S_WEIGHT_STRUCT ? PRECISE_WEIGHT_STRUCT : 0) |
		(s->has & PERFDATA_S_TRANSACTION ? PRECISE_TRANSACTION : 0) |
		(s->has & PERFDATA_S_DATA_PAGE_SIZE ? PRECISE_PAGE_SIZE : 0);
	if (s->branches.n >= 3) {
		struct perfdata_branch b = perfdata_branch(s, 0);

		p.has |= PRECISE_BRANCH;
		p.branch_from = b.from;
		p.branch_flags = b.flags;
	}
	if (p.has & PRECISE_DATA_SRC && !f->defs &&
	    !(p.has & ~(PRECISE_DATA_SRC | PRECISE_WEIGHT | PRECISE_WEIGHT_STRUCT))) {
		read_source(f, &p, ret);
	} else {
		precise_facts(&p, ret);
		if (p.has & PRECISE_DATA_SRC)
			fact_defs_apply(f->defs, FACT_SOURCE_DATA_SRC, &p.data_src, ret);
		facts_settle(ret);
	}
	if (ret->counters_known & 1u << FACT_RETDELAY)
		f->events.v[event].retdelay = true;
}

bool perf_facts_read(struct perf_facts *f, const struct perfdata_record *r, uint32_t event,
		     struct sample_facts *ret)
{
	vec_at(&f->events, event);
	if (f->events.v[event].kind == PERF_FACTS_UNASKED) {
		if (!f->asked)
			ask_machine(f);
		f->events.v[event].kind = kind_of(f, event);
	}
	switch (f->events.v[event].kind) {
	case PERF_FACTS_IBS_OP:
	case PERF_FACTS_IBS_FETCH:
		if (!read_registers(f, &r->sample, f->events.v[event].kind == PERF_FACTS_IBS_FETCH,
				    ret))
			return false;
		facts_settle(ret);
		break;
	case PERF_FACTS_FIELDS:
		read_fields(f, r, event, ret);
		break;
	default:
		return false;
	}
	ret->weight = r->sample.period;
	return ret->known || ret->counters_known;
}
