# SPDX-License-Identifier: BSD-2-Clause
"""The rows about recording and reading in one: from a command to its call tree, with complete paths
and inlined calls, beside `perf record --call-graph dwarf` and `perf report`.

Each round records the whole machine for SECONDS by each tool, while every CPU compiles one file
again and again, and reads what it recorded.  CPU time of recorder and reader is added."""
import os
import shutil
import subprocess

from common import CPUS, DWELL, QUICK, SPAWN, WORK, account_of, environment, notes, record_for, row, say
from measure import CannotMeasure, bootstrap, median, run_once, sum_ratio

HZ = 997
SECONDS = 5 if QUICK else 15
ROUNDS = 2 if QUICK else 6           # of all but perf's own way with inlined calls
INLINE_ROUNDS = 1 if QUICK else 2    # of that: two minutes of CPU each
DATA = "both.data"
DB = os.path.join(WORK, "both-db")


def compile_on(i):
    return subprocess.Popen(["taskset", "-c", str(CPUS[i]), "gcc", "-O2", "-g", "-w", "-S", "-o", "/dev/null",
                             os.path.join(WORK, "input.i")])


def by_dwell():
    """(CPU s, peak MB of the recorder, MB on disk, share of complete paths) of one recording, read."""
    command = [DWELL, "record", "-a", "-g", "-e", "cpu-clock", "-F", str(HZ), "--json", "--db", DB]
    cpu, peak, _ = record_for(command, "both.json", SECONDS, lane=compile_on)
    account = account_of("both.json")
    event = account["events"][0]
    disk = sum(os.path.getsize(os.path.join(folder, name))
               for folder, _, names in os.walk(os.path.join(DB, "epochs", account["epoch"])) for name in names)
    read, most = run_once(SPAWN, [DWELL, "tree", "--db", DB], environment())
    return cpu + read, max(peak, most), disk / 1e6, event["call_paths"]["complete"] / event["samples"]


def by_perf():
    """The same of perf's recording, which is left to be read: (CPU s of recording, peak MB, MB).  perf
    cannot read some of its own recordings of whole machines to their end: then it records again."""
    for _ in range(5):
        seen = perf_recording()
        # It ends well, and says this, where it stopped in the middle.
        said = subprocess.run(["perf", "report", "--stdio", "--no-inline", "-g", "none", "-i", os.path.join(WORK, DATA)],
                              env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if "failed to process" not in said.stderr:
            return seen
        notes.append("perf could not read one of its recordings to the end: left out")
    raise CannotMeasure("perf cannot read its recordings: " + said.stderr.strip())


def perf_recording():
    command = ["perf", "record", "-q", "-a", "-e", "cpu-clock", "-F", str(HZ), "--call-graph", "dwarf",
               "-o", os.path.join(WORK, DATA)]
    cpu, peak, _ = record_for(command, "both.log", SECONDS, lane=compile_on)
    return cpu, peak, os.path.getsize(os.path.join(WORK, DATA)) / 1e6


def perf_report(*options):
    return run_once(SPAWN, ["perf", "report", "--stdio", "-g", *options, "-i", os.path.join(WORK, DATA)],
                    environment())


def add(name, pairs, most):
    ratio = bootstrap(pairs, sum_ratio)
    row(name, "%.2f s" % median([a for a, _ in pairs]), "%.1f s" % median([b for _, b in pairs]), ratio,
        f"upper <= {most}", ratio[2] <= most)


def measure():
    by_dwell()  # both keep symbols and tables of the files they meet for the first time
    inline, plain, ours, theirs = [], [], [], []
    for i in range(ROUNDS):
        say(f"record and report: round {i + 1} of {ROUNDS}")
        ours.append(by_dwell())
        theirs.append(by_perf())
        plain.append((ours[-1][0], theirs[-1][0] + perf_report("--no-inline")[0]))
        if i < INLINE_ROUNDS:
            cpu, peak = perf_report()
            inline.append((ours[-1][0], theirs[-1][0] + cpu))
            notes.append("perf report with inlined calls: %.1f s of CPU, %.0f MB" % (cpu, peak))
    what = f"record and report, complete paths, {SECONDS} s of compiles"
    add(what, inline, 0.003)
    add(what + ", perf report --no-inline", plain, 0.08)
    notes.append("record and report: dwell %.2f MB on disk, %.0f MB of memory, %.2f %% of paths complete; perf %.0f MB "
                 "on disk, recorder %.0f MB" % (*(median([o[k] for o in ours]) for k in (2, 1)),
                                                median([o[3] for o in ours]) * 100,
                                                *(median([t[k] for t in theirs]) for k in (2, 1))))
    os.remove(os.path.join(WORK, DATA))
    shutil.rmtree(DB, ignore_errors=True)
