# SPDX-License-Identifier: BSD-2-Clause
"""The rows about looking on: `dwell top` beside `perf top`, at the same time, each on a terminal of its own, at 997 Hz, with the
workload beside them."""
import os
import re
import sys
import time

from common import DWELL, HERE, QUICK, notes, one_slice, row, say
from daemon import exact_cpu_s
from measure import bootstrap, sum_ratio

sys.path.insert(0, os.path.join(HERE, "../tests/cli"))
import screen

ROUNDS = 3 if QUICK else 10
ROUND_S = 20
WARM_S = 25  # until symbols of what runs are read


def memory_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(re.search(r"VmRSS:\s*(\d+)", f.read()).group(1)) / 1024


def look_for(seconds, programs):
    """The workload for a while; what PROGRAMS write meanwhile is read between its slices."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        one_slice()
        for p in programs:
            while p.read(0):
                pass


def measure():
    ours = screen.Program(100, 30, [DWELL, "top"])
    theirs = screen.Program(100, 30, ["perf", "top", "-e", "cpu-clock", "-F", "997"])
    both = ours, theirs
    pairs, memory = [], []
    try:
        look_for(WARM_S, both)
        for i in range(ROUNDS):
            say(f"terminal: {i + 1} of {ROUNDS}")
            before, begun = [exact_cpu_s(p.process.pid) for p in both], time.monotonic()
            look_for(ROUND_S, both)
            took = time.monotonic() - begun
            pairs.append(tuple((exact_cpu_s(p.process.pid) - b) / took for p, b in zip(both, before)))
            memory.append(tuple(memory_mb(p.process.pid) for p in both))
    finally:
        for p in both:
            p.process.terminate()
    percent = ["%.3f %%" % (100 * sum(pair[k] for pair in pairs) / len(pairs)) for k in (0, 1)]
    ratio = bootstrap(pairs, sum_ratio)
    row("dwell top's CPU at 1 s, of one CPU", *percent, ratio, "<= 0.2", ratio[0] <= 0.2)
    row("dwell top's memory", "%.1f MB" % memory[-1][0], "%.1f MB" % memory[-1][1], memory[-1][0] / memory[-1][1], "-", None)
    notes.append("dwell top's memory after %d s: %.1f MB, at the end %.1f MB" % (WARM_S + ROUND_S, memory[0][0], memory[-1][0]))
