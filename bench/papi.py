# SPDX-License-Identifier: BSD-2-Clause
"""Rows about PAPI_profil(): our library beside Debian's PAPI (libpapi-dev), by turns.

What a tick costs above a bare event's timer, how many of the samples that are due are in the histogram, and how long
starting and stopping take, also of events that are only counted.  PAPI counts a sample in its signal's handler, so those interruptions in which its
histogram changed are its ticks; ours are counted by another thread, whose CPU time is added."""
import os
import shutil
import subprocess

from common import BUILD, HERE, QUICK, ROOT, WORK, notes, row, say
from measure import CannotMeasure, bootstrap, median, median_ratio

PERIOD_NS, SECONDS = 1000000, 1
ROUNDS = 8 if QUICK else 24


def build():
    """bench_papi with our library and with PAPI's; the second is None without libpapi-dev."""
    source, lib = os.path.join(HERE, "bench_papi.c"), os.path.join(BUILD, "src/inproc")
    ours, theirs = os.path.join(WORK, "papi_ours"), os.path.join(WORK, "papi_theirs")
    subprocess.run(["ninja", "-C", BUILD, "src/inproc/libdwell-papi.so.0"], stdout=subprocess.DEVNULL, check=True)
    subprocess.run(["gcc", "-O2", "-D_GNU_SOURCE", "-I" + os.path.join(ROOT, "include/dwell"), source, "-o", ours,
                    "-L" + lib, "-l:libdwell-papi.so.0", "-Wl,-rpath," + lib], check=True)
    built = subprocess.run(["gcc", "-O2", "-D_GNU_SOURCE", source, "-o", theirs, "-lpapi"], capture_output=True,
                           check=False)
    return ours, theirs if built.returncode == 0 else None


def run(program, *args):
    p = subprocess.run([program, *map(str, args)], capture_output=True, text=True, check=False)
    if p.returncode:
        raise CannotMeasure(f"{os.path.basename(program)} {args[0]} failed: {p.stderr.strip()[-200:]}")
    return [float(x) for x in p.stdout.split()]


def count_only(ours, theirs, n_events):
    """Rows about a set of N_EVENTS that are only counted: its five calls."""
    runs = [(run(ours, "count", n_events, 2000), run(theirs, "count", n_events, 2000) if theirs else None)
            for _ in range(ROUNDS)]
    for k, call in enumerate(("start", "read", "accum", "reset", "stop")):
        pairs = [(a[k], b[k]) for a, b in runs if b]
        ratio = bootstrap(pairs, median_ratio) if pairs else None
        row("PAPI_%s, events counted: %d" % (call, n_events), "%.2f us" % (median([a[k] for a, _ in runs]) / 1000),
            "%.2f us" % (median([b for _, b in pairs]) / 1000) if pairs else "-", ratio, "<= 1", ratio[0] <= 1 if ratio else None)


def measure():
    ours, theirs = build()
    if not theirs:
        notes.append("PAPI: libpapi-dev is not installed; its rows are without it")
    due = SECONDS * 1e9 / PERIOD_NS
    bare, cost, cost_theirs, samples, samples_theirs = [], [], [], [], []
    begin, begin_theirs = [], []
    for i in range(ROUNDS):
        say(f"papi: round {i + 1} of {ROUNDS}")
        floor = run(ours, "bare", PERIOD_NS, SECONDS)[1]
        _, gap, _, _, n, other = run(ours, "profil", PERIOD_NS, SECONDS)
        bare.append(floor)
        cost.append(gap - floor + other / max(n, 1))
        samples.append(n / due)
        begin.append(sum(run(ours, "startstop", PERIOD_NS, 100)))
        if theirs:
            _, _, _, gap, n, _ = run(theirs, "profil", PERIOD_NS, SECONDS)
            cost_theirs.append(gap - floor)
            samples_theirs.append(n / due)
            begin_theirs.append(sum(run(theirs, "startstop", PERIOD_NS, 100)))
    ratio = bootstrap(list(zip(cost, cost_theirs)), median_ratio) if theirs else None
    beside = (lambda text, v: text % median(v)) if theirs else (lambda text, v: "-")
    row("PAPI_profil: a tick above the bare timer (%.1f us), 1 kHz" % (median(bare) / 1000),
        "%.1f us" % (median(cost) / 1000), beside("%.1f us", [v / 1000 for v in cost_theirs]), ratio, "<= 0.25",
        ratio[0] <= 0.25 if ratio else None)
    got = median(samples)
    row("PAPI_profil: samples of those due", "%.3f" % got, beside("%.3f", samples_theirs), got, "0.99 to 1.01",
        0.99 <= got <= 1.01)
    row("PAPI_start and PAPI_stop with a profile", "%.0f us" % (median(begin) / 1000),
        beside("%.0f us", [v / 1000 for v in begin_theirs]),
        bootstrap(list(zip(begin, begin_theirs)), median_ratio) if theirs else None, "", None)
    for n_events in (1, 4):
        say(f"papi: {n_events} events counted")
        count_only(ours, theirs, n_events)
