# SPDX-License-Identifier: BSD-2-Clause
"""The rows about reading a recording of a million samples with call paths: `dwell tree` beside
`perf report -g`, on recordings of the same work."""
import os

from common import (CPUS, DWELL, QUICK, SPAWN, WORK, account_of, add_median_row, dwell_record,
                    environment, notes, perf_record, perf_samples, record_for, say)
from measure import run_once
from stacks import perf_depth

SAMPLES = 1000000
RECORD_S = 30
HZ = SAMPLES * 21 // 20 // RECORD_S // len(CPUS)  # a twentieth more: what is idle or lost
REPORTS = 3 if QUICK else 7

DB = os.path.join(WORK, "tree-db")


def drop_page_cache():
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w") as f:
        f.write("1\n")


def measure():
    say(f"recording {RECORD_S} s to be read, with dwell")
    record_for(dwell_record(DB, ["-g"], HZ), "dwell.json", RECORD_S)
    say(f"recording {RECORD_S} s to be read, with perf")
    record_for(perf_record("tree.data", ["-g"], HZ), "perf.log", RECORD_S)
    account = account_of("dwell.json")
    n_ours, n_theirs = account["events"][0]["samples"], perf_samples("tree.data")[0]
    for cold in False, True:
        pairs, name = [], "cold" if cold else "warm"
        for i in range(REPORTS):
            say(f"tree, {name}: {i + 1} of {REPORTS}")
            done = []
            for command in ([DWELL, "tree", "--db", DB],
                            ["perf", "report", "-g", "--stdio", "-i",
                             os.path.join(WORK, "tree.data")]):
                if cold:
                    drop_page_cache()
                done.append(run_once(SPAWN, command, environment()))
            pairs.append(done)
        for k, (what, unit, scale, most) in enumerate((("CPU", "ms", 1e3, 0.05),
                                                       ("peak memory", "MB", 1, 0.5))):
            add_median_row(f"tree, page cache {name}: {what}", [(a[k], b[k]) for a, b in pairs],
                           unit, scale, most)
    notes.append("tree: dwell has %d samples, with complete stacks, %d contexts; perf -g %d, with what frame "
                 "pointers give: %.1f frames"
                 % (n_ours, account["call_paths"]["contexts"], n_theirs, perf_depth("tree.data")))
    os.remove(os.path.join(WORK, "tree.data"))
