#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""CPU time of analysing the hottest procedures of a compiler, models kept, beside perf annotate on the same file.

    bench/stalls.py BUILD [ROUNDS]

GCC's cc1 translates a file of dwell's own, preprocessed: under callgrind once for the counts, under perf record eight
times for the samples.  `dwell stalls --procedures 100` runs `dwell calc`'s analysis on each of 100 procedures; the
first run makes the models (a minute).  perf annotates one symbol a run: the 20 hottest, taken five times."""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

from memory import cpu

SOURCE = "src/base/json.c"
N_ANNOTATED, N_PROCEDURES = 20, 100


def preprocess(build, to):
    for unit in json.load(open(os.path.join(build, "compile_commands.json"))):
        if unit["file"].endswith(SOURCE):
            argv = [a for a in shlex.split(unit["command"]) if a != "ccache"]
            argv[argv.index("-o") + 1], argv[argv.index("-c")] = to, "-E"
            subprocess.run(argv, cwd=unit["directory"], check=True)
            return
    sys.exit("no command compiles " + SOURCE)


def hottest(data, program):
    """Names of PROGRAM's symbols with most samples, as perf annotate takes them."""
    text = subprocess.run(["perf", "report", "-i", data, "--stdio", "--sort", "sym", "--dso", os.path.basename(program)],
                          capture_output=True, text=True, check=True).stdout
    return re.findall(r"^ +[0-9.]+% +\[\.\] (.+?) *$", text, re.M)[:N_ANNOTATED]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build, rounds = os.path.abspath(sys.argv[1]), int((sys.argv[2:] + ["5"])[0])
    cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, check=True).stdout.strip()
    compile_it = [cc1, "-quiet", "-O2", "x.i", "-o", "x.s"]
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        os.environ["XDG_CACHE_HOME"] = scratch
        preprocess(build, os.path.join(scratch, "x.i"))
        cpu(["valgrind", "--tool=callgrind", "--dump-instr=yes", "--callgrind-out-file=counts"] + compile_it)
        cpu(["perf", "record", "-q", "-F", "4000", "-e", "cpu-clock:u", "-o", "data", "--", "sh", "-c",
             "for i in 1 2 3 4 5 6 7 8; do %s; done" % shlex.join(compile_it)])
        stalls = [os.path.join(build, "dwell"), "stalls", "data", "--counts", "counts", "--procedures", str(N_PROCEDURES)]
        first, symbols, ours, theirs, clock = cpu(stalls), hottest("data", cc1), [], [], []
        for _ in range(rounds):
            start = time.monotonic()
            ours.append(cpu(stalls))
            clock.append(time.monotonic() - start)
            theirs.append(sum(cpu(["perf", "annotate", "--stdio", "-i", "data", s]) for s in symbols)
                          * N_PROCEDURES / len(symbols))
        os.chdir("/")
    ratios = sorted(a / b for a, b in zip(ours, theirs))
    print("models made %.1f s; kept: %.2f to %.2f s of CPU, %.2f to %.2f s by the clock; perf annotate %.2f to %.2f s"
          % (first, min(ours), max(ours), min(clock), max(clock), min(theirs), max(theirs)))
    print("beside perf annotate %.3f [%.3f, %.3f]; load %.0f" % (ratios[len(ratios) // 2], ratios[0], ratios[-1],
                                                                  os.getloadavg()[0]))


if __name__ == "__main__":
    main()
