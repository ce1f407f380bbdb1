# SPDX-License-Identifier: BSD-2-Clause
"""The rows about programs in step with timers: samples beside CPU time, at rates in step and not."""
import collections
import json
import os
import random
import subprocess
import sys

from common import BUILD, DB, DWELL, QUICK, ROOT, WORK, environment, notes, row, say
from measure import CannotMeasure

RATES = (49, 97, 100, 250, 997, 1000, 4000)
ROUNDS = 1 if QUICK else 3
SECONDS = 8
PROGRAMS = os.path.join(ROOT, "tests/e2e/rhythms.py")  # runs them, and says what CPU time each used


def by_program(counts):
    """{program: samples} of [((program, mode), samples)], and those of `halves` by mode."""
    got = collections.Counter()
    for (program, mode), n in counts:
        got[program] += n
        got[f"{program}, {mode}"] += n
    return got


def dwell_samples(hz, program):
    p = subprocess.run([DWELL, "record", "-a", "-e", "cpu-clock", "-F", str(hz), "--db", DB, "--", *program],
                       env=environment(), capture_output=True, text=True)
    if p.returncode:
        raise CannotMeasure("dwell record: " + p.stderr)
    rows = json.loads(subprocess.run([DWELL, "prof", "--db", DB, "--by", "comm,image", "--json"], env=environment(),
                                     capture_output=True, text=True, check=True).stdout)["rows"]
    return json.loads(p.stdout), by_program(((r["comm"], "kernel" if r["kind"] in ("kernel", "module") else "user"),
                                             r["counts"]["cpu-clock"]) for r in rows)


def perf_samples(hz, program):
    data = os.path.join(WORK, "rhythms.data")
    p = subprocess.run(["perf", "record", "-q", "-a", "-e", "cpu-clock", "-F", str(hz), "-o", data, "--", *program],
                       env=environment(), capture_output=True, text=True)
    if p.returncode:
        raise CannotMeasure("perf record: " + p.stderr)
    text = subprocess.run(["perf", "script", "-i", data, "-F", "comm,ip"], env=environment(), capture_output=True, text=True).stdout
    seen = collections.Counter(tuple(line.rsplit(None, 1)) for line in text.splitlines())
    # Addresses of the kernel are negative.
    return json.loads(p.stdout), by_program(((comm.strip(), "kernel" if int(ip, 16) >> 63 else "user"), n)
                                            for (comm, ip), n in seen.items())


def measure():
    ratios = collections.defaultdict(lambda: ([], []))  # (tool, hogs, rate, program): samples, wanted
    turns = [(tool, n, hz) for tool in (dwell_samples, perf_samples) for n in (0, 1) for hz in RATES] * ROUNDS
    random.Random(1).shuffle(turns)
    for i, (tool, n_hogs, hz) in enumerate(turns):
        say(f"rhythms: {i + 1} of {len(turns)}")
        used, got = tool(hz, ["env", "E2E_BIN=" + os.path.join(BUILD, "tests/e2e"), sys.executable, PROGRAMS, "all",
                              str(SECONDS), str(n_hogs)])
        for program, ns in used.items():
            samples, wanted = ratios[tool, n_hogs, hz, program]
            samples.append(got.get(program, 0))
            wanted.append(ns * hz / 1e9)
    notes.append("samples / CPU time: %d runs of %d s a cell" % (ROUNDS, SECONDS))
    for n_hogs in 0, 1:
        for hz in RATES:
            cells = {}
            for tool in dwell_samples, perf_samples:
                of = {k[3]: v for k, v in ratios.items() if k[:3] == (tool, n_hogs, hz)}
                # of each run: what is wrong beyond 5 sigma of chance
                beyond = [max(abs(s - w) - 5 * w ** 0.5, 0) / w for v in of.values() for s, w in zip(*v)]
                worst = min(of.items(), key=lambda p: min(min(s / w, w / max(s, 1)) for s, w in zip(*p[1])))
                worst_of = min(zip(*worst[1]), key=lambda p: min(p[0] / p[1], p[1] / max(p[0], 1)))
                cells[tool] = max(beyond), "%.2f (%s)" % (worst_of[0] / worst_of[1], worst[0])
            ours = cells[dwell_samples]
            row("samples / CPU time at %d Hz, worst program%s" % (hz, ", beside hogs" if n_hogs else ""), ours[1],
                cells[perf_samples][1], None, "<= 3 % beyond chance", ours[0] <= 0.03)
