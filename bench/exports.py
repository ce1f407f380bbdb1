# SPDX-License-Identifier: BSD-2-Clause
"""The rows about `dwell export`: each format of a million samples with call paths, beside `perf script` of the same
samples, which is the first half of the usual way to such a file, and beside `perf script report stackcollapse`, which
is perf with a converter; and profiles of pprof, read and written beside Go's own tool."""
import os
import shutil
import subprocess

from common import CPUS, DWELL, QUICK, SPAWN, WORK, add_median_row, environment, notes, perf_record, record_for, say
from measure import run_once

SAMPLES = 200000 if QUICK else 1000000
RECORD_S = 30
HZ = SAMPLES * 21 // 20 // RECORD_S // len(CPUS)
ROUNDS = 3 if QUICK else 5
FORMATS = ("pprof", "speedscope", "callgrind", "firefox", "perf-script", "otlp", "folded")
DB = os.path.join(WORK, "export-db")


def export(name):
    return [DWELL, "export", "--" + name, "-o", os.path.join(WORK, "export." + name), "--db", DB]


def measure():
    data = os.path.join(WORK, "export.data")
    say(f"recording {RECORD_S} s to be exported")
    record_for(perf_record("export.data", ["-g"], HZ), "perf.log", RECORD_S)
    shutil.rmtree(DB, ignore_errors=True)
    said = subprocess.run([DWELL, "import", "--db", DB, data], capture_output=True, text=True, check=True).stdout
    notes.append("exports: " + said.splitlines()[0])
    pairs = {name: [] for name in FORMATS}
    whole = []  # perf with its converter, once a round
    for i in range(ROUNDS):
        say(f"perf script report stackcollapse: {i + 1} of {ROUNDS}")
        whole.append(run_once(SPAWN, ["perf", "script", "report", "stackcollapse", "--no-inline", "-i", data],
                              environment()))
        for name in FORMATS:
            say(f"export, {name}: {i + 1} of {ROUNDS}")
            pairs[name].append([run_once(SPAWN, c, environment())
                                for c in (export(name), ["perf", "script", "--no-inline", "-i", data])])
    for name in FORMATS:
        for k, (what, unit, scale, most) in enumerate((("CPU", "ms", 1e3, 0.1), ("peak memory", "MB", 1, 1))):
            add_median_row(f"export --{name}: {what}, perf script", [(a[k], b[k]) for a, b in pairs[name]], unit,
                           scale, most)
        add_median_row(f"export --{name}: CPU, perf script report stackcollapse",
                       [(a[0], w[0]) for (a, _), w in zip(pairs[name], whole)], "ms", 1e3, 0.1)
    if shutil.which("go"):
        profile = os.path.join(WORK, "export.pprof")
        done = [[run_once(SPAWN, c, environment())
                 for c in ([DWELL, "prof", "--db", profile],
                           ["go", "tool", "pprof", "-symbolize=none", "-top", profile])] for _ in range(ROUNDS)]
        made = [(a[0], run_once(SPAWN, ["go", "tool", "pprof", "-symbolize=none", "-proto", "-output",
                                        profile + ".go", profile], environment())[0]) for a, _ in pairs["pprof"]]
        add_median_row("export --pprof: CPU, go tool pprof -proto", made, "ms", 1e3, 0.1)
        for k, (what, unit, scale) in enumerate((("CPU", "ms", 1e3), ("peak memory", "MB", 1))):
            add_median_row(f"pprof read: {what}, go tool pprof -top", [(a[k], b[k]) for a, b in done], unit, scale, 1)
    os.remove(data)
