# SPDX-License-Identifier: BSD-2-Clause
# Part of the benchmarks' workload: a fixed amount of interpreter work.
def sieve(n):
    flags = bytearray([1]) * n
    for i in range(2, int(n ** 0.5) + 1):
        if flags[i]:
            flags[i * i::i] = bytes(len(range(i * i, n, i)))
    return sum(flags)


def words(n):
    seen = {}
    for i in range(n):
        key = "w%d" % (i * 7919 % 10007)
        seen[key] = seen.get(key, 0) + 1
    return len(seen)


for _ in range(3):
    sieve(400000)
    words(100000)
