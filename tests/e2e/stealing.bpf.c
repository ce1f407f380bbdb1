// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Takes its CPU for up to some 25 ms, with interrupts off, as a host does that runs something else
 * there.  The kernel counts the time for who was interrupted. */
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__u64 stolen_ns = 0;

static int turn(__u32 i, __u32 *sum)
{
	*(volatile __u32 *)sum += i;
	return 0;
}

SEC("perf_event")
int steal(void *ctx)
{
	__u64 begin = bpf_ktime_get_ns();
	__u32 sum = 0, random = bpf_get_prandom_u32();
	/* mostly an eighth; bpf_loop makes 2^23 turns at most */
	__u32 n = (random & ((1 << 23) - 1)) >> (random >> 28 & 3 ? 3 : 0);

	bpf_loop(n, turn, &sum, 0);
	__sync_fetch_and_add(&stolen_ns, bpf_ktime_get_ns() - begin);
	return 0;
}
