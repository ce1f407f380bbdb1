# SPDX-License-Identifier: BSD-2-Clause
"""The rows about `dwell export`: a million samples of 300,000 contexts (bench_paths.c), each format beside `perf script`
of the same samples and beside the usual way to such a file; what doubled samples need; what exporters write a second;
and profiles of pprof, read beside Go's own tool.

The usual way is perf with its own converter, `perf script report stackcollapse` (of the formats that Debian has no
converter for, too: theirs read the same text), and Go's for what it writes, of a profile that dwell wrote, without the
way there.  Text of perf script needs no converter."""
import os
import re
import shutil
import subprocess

from common import BUILD, CPUS, DWELL, QUICK, SPAWN, WORK, add_median_row, environment, notes, row, say
from measure import run_once

SAMPLES = 200000 if QUICK else 1000000
RECORD_S = 30
HZ = SAMPLES * 21 // 20 // RECORD_S // len(CPUS)
PATHS = 25000  # 300,000 contexts
ROUNDS = 3 if QUICK else 5
FORMATS = ("folded", "pprof", "speedscope", "callgrind", "firefox", "perf-script", "otlp")
DB = os.path.join(WORK, "export-db")
DATA = os.path.join(WORK, "export.data")
PROFILE = os.path.join(WORK, "export.pprof")
STACKCOLLAPSE = ("perf script report stackcollapse", ["perf", "script", "report", "stackcollapse", "--no-inline", "-i",
                                                      DATA])


def go_tool(option):
    return ("go tool pprof -" + option, ["go", "tool", "pprof", "-symbolize=none", "-" + option, "-output",
                                         PROFILE + ".go", PROFILE])


USUAL = {name: STACKCOLLAPSE for name in FORMATS if name != "perf-script"}
if shutil.which("go"):
    USUAL.update(pprof=go_tool("proto"), callgrind=go_tool("callgrind"))


def export(name, *options):
    """Text of perf script is not written to a disk, as perf's is not."""
    to = {"perf-script": "-", "pprof": PROFILE}.get(name, os.path.join(WORK, "export." + name))
    return [DWELL, "export", "--" + name, "-o", to, "--no-inline", "--db", DB, *options]


def measure_once(command):
    return run_once(SPAWN, command, environment())


def record():
    say(f"recording {RECORD_S} s to be exported")
    work = " & ".join(["%s %d %d" % (os.path.join(BUILD, "bench/bench_paths"), RECORD_S, PATHS)] * len(CPUS))
    subprocess.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", str(HZ), "-g", "-o", DATA, "--", "sh", "-c",
                    work + " & wait"], check=True)
    shutil.rmtree(DB, ignore_errors=True)
    said = subprocess.run([DWELL, "import", "--db", DB, DATA], capture_output=True, text=True, check=True).stdout
    notes.append("exports: " + said.splitlines()[0])


def beside_perf():
    ours = {name: [] for name in FORMATS}
    theirs, usual = [], {name: [] for name in USUAL}
    for i in range(ROUNDS):
        say(f"exports: {i + 1} of {ROUNDS}")
        for name in FORMATS:
            ours[name].append(measure_once(export(name)))
        theirs.append(measure_once(["perf", "script", "--no-inline", "-i", DATA]))
        done = {}
        for name, (way, command) in USUAL.items():
            if way not in done:
                done[way] = measure_once(command)
            usual[name].append(done[way])
    for name in FORMATS:
        for k, (what, unit, scale, most) in enumerate((("CPU", "ms", 1e3, 0.1), ("peak memory", "MB", 1, 1))):
            add_median_row(f"export --{name}: {what}, perf script", [(a[k], b[k]) for a, b in zip(ours[name], theirs)],
                           unit, scale, most)
    for name, (way, _) in USUAL.items():
        add_median_row(f"export --{name}: CPU, {way}", [(a[0], b[0]) for a, b in zip(ours[name], usual[name])], "ms",
                       1e3, 0.1)


def doubled():
    """Memory is bounded by contexts: of the same recording twice over, all counts are doubled."""
    subprocess.run([DWELL, "import", "--db", DB, DATA], stdout=subprocess.DEVNULL, check=True)
    for name in FORMATS:
        pairs = [(measure_once(export(name, "--epoch", "all"))[1], measure_once(export(name))[1])
                 for _ in range(ROUNDS)]
        add_median_row(f"export --{name}: peak memory of twice the samples, of these once", pairs, "MB", 1, 1.5)


def written():
    """Megabytes a CPU second, without reading and naming.  Formats that write little for a path write less."""
    said = subprocess.run([os.path.join(BUILD, "bench/bench_exports"), DB, *FORMATS], capture_output=True, text=True,
                          check=True).stdout
    for name, speed, size in re.findall(r"^(\S+): (\d+) MB/s, ([\d.]+) MB", said, flags=re.M):
        row(f"export --{name}: written a CPU second (of {size} MB)", f"{speed} MB", "-", None, ">= 500 MB",
            int(speed) >= 500)


def beside_go():
    done = [[measure_once(c) for c in ([DWELL, "prof", "--db", PROFILE],
                                       ["go", "tool", "pprof", "-symbolize=none", "-top", PROFILE])]
            for _ in range(ROUNDS)]
    for k, (what, unit, scale) in enumerate((("CPU", "ms", 1e3), ("peak memory", "MB", 1))):
        add_median_row(f"pprof read: {what}, go tool pprof -top", [(a[k], b[k]) for a, b in done], unit, scale, 1)


def measure():
    subprocess.run(["ninja", "-C", BUILD, "bench/bench_paths", "bench/bench_exports"], stdout=subprocess.DEVNULL,
                   check=True)
    record()
    beside_perf()
    if shutil.which("go"):
        beside_go()
    written()
    doubled()
    os.remove(DATA)
