#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""CPU time of `dwell mem` beside perf c2c and perf mem, and of reading branch stacks, on files made up.

    bench/memory.py BUILD [ROUNDS]     after: ninja -C BUILD bench/make_perfdata bench/bench_branches

10^6 loads and stores of four processes of 16 threads; 10^7 branches in stacks of 16, read and counted (dwell cat
--branches), and counted alone (bench_branches).  Commands take turns; CPU time is user and system.  Ratios are the
median of the rounds, with the least and the most.  Files take 360 MB below $TMPDIR."""
import os
import resource
import subprocess
import sys
import tempfile


def cpu(command):
    """Seconds of CPU time that COMMAND takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build, rounds = os.path.abspath(sys.argv[1]), int((sys.argv[2:] + ["3"])[0])
    dwell = os.path.join(build, "dwell")
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for what, n in ("accesses", 1000000), ("branches", 625000):
            with open(what, "wb") as f:
                subprocess.run([os.path.join(build, "bench/make_perfdata"), what, str(n)], stdout=f, check=True)
        commands = {
            "dwell mem --by line": [dwell, "mem", "accesses", "--by", "line"],
            "dwell mem": [dwell, "mem", "accesses"],
            "perf c2c report": ["perf", "c2c", "report", "-i", "accesses", "--stdio"],
            "perf mem report": ["perf", "mem", "report", "-i", "accesses", "--stdio"],
            "dwell cat --branches": [dwell, "cat", "--branches", "branches"],
        }
        took = {name: [] for name in commands}
        counted = []
        for _ in range(rounds):
            for name, command in commands.items():
                took[name].append(cpu(command))
            text = subprocess.run([os.path.join(build, "bench/bench_branches"), "branches"], capture_output=True,
                                  text=True, check=True).stdout
            counted.append(float(text.split(": ")[1].split()[0]))
        os.chdir("/")
    for name, seconds in took.items():
        print("%-22s %6.2f to %.2f s" % (name, min(seconds), max(seconds)))
    for what, a, b in ("lines beside perf c2c", "dwell mem --by line", "perf c2c report"), \
            ("all beside perf mem", "dwell mem", "perf mem report"):
        ratios = sorted(x / y for x, y in zip(took[a], took[b]))
        print("%s %.3f [%.3f, %.3f]" % (what, ratios[len(ratios) // 2], ratios[0], ratios[-1]))
    read = sorted(10 / s for s in took["dwell cat --branches"])
    print("millions of branches a second: read and counted %.1f to %.1f, counted alone %.1f to %.1f; load %.0f" % (
        read[0], read[-1], min(counted), max(counted), os.getloadavg()[0]))


if __name__ == "__main__":
    main()
