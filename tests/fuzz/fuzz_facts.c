/* SPDX-License-Identifier: BSD-2-Clause */
/* What hardware says of sampled instructions: registers of AMD's, packets of Arm's, the kernel's
 * fields.  Whatever the bytes are, at most one trap bit is set and nothing is set that is not
 * known. */
#include <string.h>

#include "base/rd.h"
#include "formats/facts/arm_spe.h"
#include "formats/facts/ibs.h"
#include "formats/facts/precise.h"
#include "fuzz.h"

static void check(struct sample_facts *f)
{
	facts_settle(f);
	FUZZ_REQUIRE(!(f->value & ~f->known));
	FUZZ_REQUIRE(__builtin_popcountll(f->value & FACT_TRAPS) <= 1);
	FUZZ_REQUIRE(!(f->value >> FACT_USER_BIT) && !(f->counters_known >> N_FACT_COUNTERS));
}

static void read_spe(const uint8_t *data, size_t n)
{
	struct arm_spe_reader r = arm_spe_reader_init(data, n);
	struct arm_spe_machine m = arm_spe_machine_from_midr(n & 1 ? 0x410fd402 : 0);
	struct arm_spe_record one;
	struct sample_facts f;

	while (arm_spe_next(&r, &one)) {
		FUZZ_REQUIRE(r.p > data && r.p <= r.end);
		arm_spe_facts(&one, &m, &f);
		check(&f);
	}
	FUZZ_REQUIRE((size_t)(r.end - r.p) <= ARM_SPE_MOST_BYTES + 16);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct rd r = rd_init(data, n);
	struct precise_sample s = {
		.has = rd_u8(&r),
		.x86 = n & 1,
		.exact = n & 2,
		.data_src = rd_le64(&r),
		.weight = rd_le64(&r),
		.transaction = rd_le64(&r),
		.data_page_size = rd_le64(&r),
		.branch_flags = rd_le64(&r),
	};
	const struct ibs_machine m = {n & 4 ? 0x19 : 0x17, n & 8 ? 1 : 0x31};
	struct sample_facts f;
	struct ibs_regs regs;

	precise_facts(&s, &f);
	check(&f);
	if (ibs_read_op(data, n, &regs) == 0) {
		ibs_op_facts(&regs, &m, &f);
		check(&f);
	}
	if (ibs_read_fetch(data, n, &regs) == 0) {
		ibs_fetch_facts(&regs, &m, &f);
		check(&f);
	}
	read_spe(data, n);
	return 0;
}

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	/* A record of Arm's; registers of AMD's with all that there can be. */
	static const uint8_t spe[] = {0xb0, 0x10, 0x20, 0x30, 0x00, 0x00, 0x80, 0xff, 0xa0, 0x65,
				      0x92, 0x10, 0x00, 0x00, 0x49, 0x00, 0x52, 0x16, 0x00, 0x99,
				      0x04, 0x00, 0x98, 0x0c, 0x00, 0x9a, 0x01, 0x00, 0x43, 0x00,
				      0x71, 0x2e, 0x65, 0x2f, 0x6a, 0x0a, 0x00, 0x00, 0x00};
	uint8_t *b;

	if (i > 1)
		return NULL;
	*ret_n = i ? 4 + 9 * 8 : sizeof(spe);
	b = malloc(*ret_n);
	FUZZ_REQUIRE(b);
	if (i) {
		memset(b, 0xa5, *ret_n);
		b[0] = b[1] = 0xff;
	} else {
		memcpy(b, spe, sizeof(spe));
	}
	return b;
}
