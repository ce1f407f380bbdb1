/* SPDX-License-Identifier: BSD-2-Clause */
/* What profiles of a database are called: threads, and streams of GPUs. */
#include "hpc/identity.h"

#include <stdlib.h>

#include "t.h"

static uint32_t add(struct identities *ids, uint32_t tid, const char *label)
{
	struct identity key = {.host = identities_host(ids, "hostid 11ac0300"),
			       .rank = identity_rank(label, ""),
			       .core = identity_core(label),
			       .pid = 100,
			       .tid = tid};

	identity_gpu(label, key.gpu);
	return identities_intern(ids, &key);
}

static bool is_tuple(const struct identities *ids, uint32_t i, const struct hpc_id *want, size_t n)
{
	struct hpc_id found[BUILD_MAX_IDS];

	if (identities_tuple(ids, i, found) != n || identity_most_ids(&ids->v.v[i]) < n)
		return false;
	for (size_t k = 0; k < n; k++)
		if (found[k].kind != want[k].kind || found[k].flags != want[k].flags ||
		    found[k].logicalId != want[k].logicalId ||
		    found[k].physicalId != want[k].physicalId)
			return false;
	return true;
}

TEST(streams_are_no_threads)
{
	static const struct hpc_id thread[] = {{HPC_ID_NODE, HPC_ID_IS_PHYSICAL, 0, 0x11ac0300},
					       {HPC_ID_THREAD, 0, 0, 0}},
				   stream[] = {{HPC_ID_NODE, HPC_ID_IS_PHYSICAL, 0, 0x11ac0300},
					       {HPC_ID_GPUCONTEXT, 0, 1, 1},
					       {HPC_ID_GPUSTREAM, 0, 7, 7}};
	struct identities ids = {0};
	uint32_t *order;

	EXPECT_EQ(add(&ids, 600, "gpucontext=1,gpustream=7"), 0);
	EXPECT_EQ(add(&ids, 100, ""), 1);
	EXPECT_EQ(add(&ids, 600, "gpucontext=1,gpustream=7"), 0);
	EXPECT_EQ(add(&ids, 600, "gpucontext=1,gpustream=8"), 2);
	order = identities_finish(&ids);
	EXPECT_EQ(order[1], 0);
	EXPECT(is_tuple(&ids, order[1], thread, n_elems(thread)));
	EXPECT(is_tuple(&ids, order[0], stream, n_elems(stream)));
	identities_release(&ids);
	free(order);
}
