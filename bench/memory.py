#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""CPU time of `dwell mem` beside perf c2c and perf mem, and of reading branch stacks, on files made up.

    bench/memory.py BUILD [ROUNDS]     after: ninja -C BUILD bench/make_perfdata

10^6 loads and stores of four processes of 16 threads; 10^7 branches in stacks of 16.  Commands take turns; the least
CPU time (user and system) of each counts.  Files take 360 MB below $TMPDIR."""
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
        least = {name: cpu(command) for name, command in commands.items()}
        for _ in range(rounds - 1):
            for name, command in commands.items():
                least[name] = min(least[name], cpu(command))
        os.chdir("/")
    for name, seconds in least.items():
        print("%-22s %6.2f s" % (name, seconds))
    print("lines beside perf c2c %.3f, all beside perf mem %.3f, %.1f million branches a second; load %.0f" % (
        least["dwell mem --by line"] / least["perf c2c report"], least["dwell mem"] / least["perf mem report"],
        10 / least["dwell cat --branches"], os.getloadavg()[0]))


if __name__ == "__main__":
    main()
