# SPDX-License-Identifier: BSD-2-Clause
"""The rows about reading what perf recorded: `dwell import` beside `perf report --stdio` and `perf
script` on the same files, and how fast records are decoded."""
import os
import re
import shutil
import subprocess

from common import (BUILD, DWELL, QUICK, SPAWN, WORK, add_median_row, environment, notes, perf_record, record_for,
                    row, say)
from measure import CannotMeasure, run_once

RECORD_S = 10
HZ = 10000
ROUNDS = 3 if QUICK else 7
KINDS = (("flat", ()), ("chains", ("-g",)), ("stacks", ("--call-graph", "dwarf")), ("compressed", ("-z",)))
DB = os.path.join(WORK, "import-db")
MADE_MB = 256 if QUICK else 2048


def read_back(name, path):
    """Rows of one file.  perf's answer is not looked at, but it must have read all of it."""
    pairs = {"report": [], "script": []}
    for i in range(ROUNDS):
        say(f"import, {name}: {i + 1} of {ROUNDS}")
        for tool, command in (("report", ["perf", "report", "--stdio", "-i", path]),
                              ("script", ["perf", "script", "-i", path])):
            shutil.rmtree(DB, ignore_errors=True)
            pairs[tool].append([run_once(SPAWN, c, environment())
                                for c in ([DWELL, "import", "--db", DB, path], command)])
    for tool, done in pairs.items():
        for k, (what, unit, scale, most) in enumerate((("CPU", "ms", 1e3, 0.1), ("peak memory", "MB", 1, 0.25))):
            add_median_row(f"import, {name}: {what}, perf {tool}", [(a[k], b[k]) for a, b in done], unit, scale, most)


def decoding():
    """Megabytes of records a second of one CPU, out of a file that is read for the first time and for the second."""
    path = os.path.join(WORK, "made.data")
    with open(path, "wb") as f:
        subprocess.run([os.path.join(BUILD, "bench/make_perfdata"), "flat", str(MADE_MB)], stdout=f, check=True)
    best = 0
    for _ in range(ROUNDS):
        out = subprocess.run([os.path.join(BUILD, "bench/bench_perfdata"), path], capture_output=True, text=True, check=True).stdout
        best = max(best, float(re.search(r"([0-9.]+) MB/s", out).group(1)))
    row("import: records decoded, a CPU second", "%.0f MB" % best, "-", None, ">= 300 MB", best >= 300)
    os.remove(path)


def sampled_instructions():
    """Nanoseconds of a CPU for a record of each machine's, to bits and counters."""
    subprocess.run(["ninja", "-C", BUILD, "bench/bench_facts"], stdout=subprocess.DEVNULL, check=True)
    out = subprocess.run([os.path.join(BUILD, "bench/bench_facts")], capture_output=True, text=True, check=True).stdout
    for kind, what in (("ibs_op", "IBS op"), ("ibs_fetch", "IBS fetch"), ("pebs", "PEBS"), ("spe", "SPE")):
        ns = float(re.search(kind + r" +([0-9.]+) ns", out)[1])
        row("import: an %s record decoded" % what, "%.0f ns" % ns, "-", None, "<= 100 ns", ns <= 100)


def measure():
    for name, argv in KINDS:
        data = "import-%s.data" % name
        seconds = RECORD_S if name != "stacks" else 2
        say(f"recording {seconds} s with perf, {name}")
        record_for(perf_record(data, argv, HZ), "perf.log", seconds)
        path = os.path.join(WORK, data)
        try:
            read_back(name, path)
        except CannotMeasure as e:
            notes.append(f"import, {name}: {e}")
        notes.append("import, %s: %.1f MB" % (name, os.path.getsize(path) / 1e6))
        os.remove(path)
    decoding()
    sampled_instructions()
