/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples of AMD's Instruction-Based Sampling: registers, and the facts they tell.
 *
 * The kernel hands the registers out as they are, behind one word of capabilities (the raw part of
 * a sample of the PMUs ibs_op and ibs_fetch; Linux, arch/x86/events/amd/ibs.c,
 * perf_ibs_handle_irq).  An op is a macro-op that was picked when it was dispatched and that
 * retired; a fetch is an attempt to fetch, which may have been given up.  They are two populations:
 * they say nothing of each other but through the address. */
#ifndef FORMATS_FACTS_IBS_H
#define FORMATS_FACTS_IBS_H

#include "model/fact.h"

/* CPUID Fn8000_001B EAX. */
enum ibs_caps {
	IBS_CAP_BRNTRGT = 1u << 5,
	IBS_CAP_RIPINVALID = 1u << 7,
	IBS_CAP_FETCHEXTD = 1u << 9, /* from Zen on */
	IBS_CAP_OPDATA4 = 1u << 10,
	IBS_CAP_ZEN4 = 1u << 11,
	IBS_CAP_DTLBPGSIZE = 1u << 19,
};

enum ibs_op_reg {
	IBS_OP_CTL,
	IBS_OP_RIP,
	IBS_OP_DATA,
	IBS_OP_DATA2,
	IBS_OP_DATA3,
	IBS_OP_LINADDR,
	IBS_OP_PHYSADDR,
	IBS_OP_BRTARGET,
	IBS_OP_DATA4,
	IBS_OP_N_REGS,
};

/* Bits of IBS_OP_DATA3: IBS_OP_LINADDR and IBS_OP_PHYSADDR hold the address of the data (PPR 55898,
 * IbsOpData3: IbsDcLinAddrValid, IbsDcPhyAddrValid). */
#define IBS_LINADDR_VALID  (1u << 17)
#define IBS_PHYSADDR_VALID (1u << 18)

enum ibs_fetch_reg {
	IBS_FETCH_CTL,
	IBS_FETCH_LINADDR,
	IBS_FETCH_PHYSADDR,
	IBS_FETCH_EXTD,
	IBS_FETCH_N_REGS,
};

/* Registers that the sample lacks are 0. */
struct ibs_regs {
	uint32_t caps;
	uint64_t reg[IBS_OP_N_REGS];
};

/* Whose registers they are, for errata: CPUID family and model; 0, 0 when it is not known. */
struct ibs_machine {
	uint32_t family, model;
};

/* Reads a raw part of N bytes; -EBADMSG when it is too short. */
int ibs_read_op(const uint8_t *raw, size_t n, struct ibs_regs *ret);
int ibs_read_fetch(const uint8_t *raw, size_t n, struct ibs_regs *ret);

/* What the registers tell, not settled yet.  When the op's address is not the sample's (its
 * hardware could not tell it) nothing is known of the instruction there: *RET is empty, and the
 * result false. */
bool ibs_op_facts(const struct ibs_regs *r, const struct ibs_machine *m, struct sample_facts *ret);
bool ibs_fetch_facts(const struct ibs_regs *r, const struct ibs_machine *m,
		     struct sample_facts *ret);

#endif
