# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of the in-process libraries share: programs that say what they spent (turns.h), and ticks held
against that."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from e2e import likely, near, note  # noqa: E402


def spent(text):
    """{name: {pid: ns}} of what a program says."""
    said = {}
    for line in text.splitlines():
        name, pid, ns = line.split()
        by_pid = said.setdefault(name, {})
        by_pid[int(pid)] = by_pid.get(int(pid), 0) + int(ns)
    return said


def ns_of(said, *names):
    return sum(sum(said[n].values()) for n in names)


def agrees(said, a, b, tick_ns, threads=1):
    """A and B, the ticks of work_a and work_b, are what the program spent there."""
    spent_a, spent_b = ns_of(said, "work_a"), ns_of(said, "work_b")
    ticks = (spent_a + spent_b) / tick_ns
    note("work_a %d, work_b %d ticks; spent %.1f and %.1f" % (a, b, spent_a / tick_ns, spent_b / tick_ns))
    # Reading the clock, in work_a's and work_b's time, is elsewhere, the more the busier the machine.
    least, most = 0.9 * ticks - threads - 2, 1.03 * ticks + threads + 2
    likely(least <= a + b <= most, "%d ticks of %.1f spent" % (a + b, ticks))
    near(a, a + b, spent_a / (spent_a + spent_b), "work_a", slack=0.02)
