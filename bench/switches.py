# SPDX-License-Identifier: BSD-2-Clause
"""The rows about what recording costs a context switch."""
import os
import signal
import subprocess
import time

from common import BUILD, CPUS, DB, DWELL, QUICK, WORK, environment, notes, row, say
from measure import CannotMeasure, bootstrap, median, median_ratio

SWITCH_ROUNDS = 3 if QUICK else 15  # of none, dwell and perf, each 60,000 times two switches


def switch_ns(command, log):
    """CPU time of a context switch while COMMAND records (None: nothing does), in ns."""
    p = None
    if command:
        with open(os.path.join(WORK, log), "w") as err:
            p = subprocess.Popen(command, env=environment(), stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=err)
        time.sleep(1)
        if p.poll() is not None:
            return None
    text = subprocess.run([os.path.join(BUILD, "bench/bench_switch"), "60000", str(CPUS[-1])],
                          capture_output=True, text=True, check=True).stdout
    if p:
        p.send_signal(signal.SIGINT)
        p.wait()
    return float(text)


def measure():
    off_cpu = [DWELL, "record", "-a", "--off-cpu", "-e", "cpu-clock", "-F", "10", "--db", DB]
    data = os.path.join(WORK, "switch.data")
    tools = {"none": None, "dwell": off_cpu, "all": off_cpu + ["--min-block", "0.001us"],
             "sched": ["perf", "sched", "record", "-a", "-o", data],
             "stacks": ["perf", "record", "-q", "-a", "-g", "-e", "sched:sched_switch", "-o", data]}
    seen = {name: [] for name in tools}
    for i in range(SWITCH_ROUNDS):
        say(f"context switches: round {i + 1} of {SWITCH_ROUNDS}")
        for name, command in tools.items():
            ns = switch_ns(command, "switch.log")
            if ns is not None:
                seen[name].append(ns)
    for name in ("sched", "stacks"):
        if len(seen[name]) < SWITCH_ROUNDS:
            notes.append(f"context switches: perf cannot: {name}")
            seen[name] = []
    for what, ours, theirs, most in (("a context switch, off-CPU, no stack", "dwell", "sched", 0.6),
                                     ("a context switch, off-CPU, with its stack", "all", "stacks", 1)):
        if not seen[ours]:
            raise CannotMeasure("record --off-cpu: " + open(os.path.join(WORK, "switch.log")).read())
        net = [a - b for a, b in zip(seen[ours], seen["none"])]
        beside = [a - b for a, b in zip(seen[theirs], seen["none"])]
        ratio = bootstrap(list(zip(net, beside)), median_ratio) if beside else None
        row(what, "%.0f ns" % median(net), "%.0f ns" % median(beside) if beside else "-", ratio,
            "<= %.1f" % most, ratio[0] <= most if ratio else None)
    notes.append("context switches: %.0f ns each without a recorder" % median(seen["none"]))
