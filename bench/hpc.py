# SPDX-License-Identifier: BSD-2-Clause
"""The rows about building HPCToolkit databases, on made-up measurements: how many values a second a core makes, what
10, 1,000 and 100,000 threads take, how much memory, what a second thread and a second process bring, and how long it
takes beside `cp` of the result."""
import json
import os
import re
import shutil
import subprocess
import time

from common import BUILD, QUICK, WORK, notes, row, say
from measure import bootstrap, median, median_ratio

ROUNDS = 3 if QUICK else 7
# Threads, contexts, point values of each thread.
SIZES = ((10, 10000, 20000), (1000, 100000, 3000), (100000, 100000, 20)) if QUICK else \
        ((10, 10000, 20000), (1000, 100000, 5000), (100000, 1000000, 100))
DIR = os.path.join(WORK, "hpc")
DEMAND = 12e6  # values a second and core
SPEED_UP = 1.6


def build(size, jobs):
    out = subprocess.run([os.path.join(BUILD, "bench/bench_hpc_build"), DIR, *map(str, size), str(jobs)],
                         stdout=subprocess.PIPE, check=True, text=True).stdout
    return json.loads(out)


def copy_s():
    """Seconds of `cp` of the result beside it."""
    start = time.monotonic()
    subprocess.run(["cp", "-r", DIR, DIR + ".copy"], check=True)
    took = time.monotonic() - start
    shutil.rmtree(DIR + ".copy")
    return took


def measure_size(size):
    seen, copies, all_cpus = [], [], []
    for i in range(ROUNDS if QUICK or size[0] < 10000 else 5):
        say("hpc, %d threads: %d" % (size[0], i + 1))
        seen.append(build(size, 1))
        all_cpus.append(build(size, os.cpu_count()))
        copies.append(copy_s())
    best = min(seen, key=lambda s: s["cpu_s"])
    rate = bootstrap([s["values"] / s["cpu_s"] for s in seen], median)
    what = "hpc, %d threads" % size[0]
    row(what + ": values/s/core", "%.1f M [%.1f, %.1f]" % tuple(r / 1e6 for r in rate),
        "best %.1f M" % (best["values"] / best["cpu_s"] / 1e6), None, ">= %.0f M" % (DEMAND / 1e6), rate[0] >= DEMAND)
    ratio = median([s["wall_s"] / c for s, c in zip(all_cpus, copies)])
    row(what + ": time, beside cp", "%.2f s" % median([s["wall_s"] for s in all_cpus]), "%.2f s" % median(copies), ratio,
        "<= 4", ratio <= 4)
    notes.append("%s: %d contexts, %.0f non-zero values each of %d point values, %.0f MB, memory %.0f MB"
                 % (what, best["contexts"], best["values"] / size[0], size[2], best["bytes"] / 1e6,
                    best["anon_kb"] / 1024))
    return best


def growth():
    """Four times (ten times) the threads over the same contexts: time grows with the values, memory hardly at all. Both
    are so large that buffers are full."""
    n = 40000 if QUICK else 100000
    small, large = ([build((n, 100000, 60), 1) for _ in range(2)] for n in (10000, n))
    a, b = (min(s, key=lambda x: x["cpu_s"]) for s in (small, large))
    what = "hpc, {:,} threads beside 10,000: ".format(n)
    ratio = b["cpu_s"] / b["values"] / (a["cpu_s"] / a["values"])
    row(what + "CPU a value", "%.0f ns" % (b["cpu_s"] / b["values"] * 1e9),
        "%.0f ns" % (a["cpu_s"] / a["values"] * 1e9), ratio, "<= 1.2", ratio <= 1.2)
    for kind, key in (("memory", "anon_kb"), ("memory with files", "max_rss_kb")):
        ratio = b[key] / a[key]
        row(what + kind, "%.0f MB" % (b[key] / 1024), "%.0f MB" % (a[key] / 1024), ratio, "<= 1.2", ratio <= 1.2)


def add_speed_up(what, pairs):
    """A row of PAIRS of seconds, of one and of two."""
    ratio = bootstrap(pairs, median_ratio)
    row(what, "%.2f s" % median([two for _, two in pairs]), "one: %.2f s" % median([one for one, _ in pairs]), ratio,
        ">= %.1f" % SPEED_UP, ratio[0] >= SPEED_UP)


def second_thread(size):
    pairs = [(build(size, 1)["wall_s"], build(size, 2)["wall_s"]) for _ in range(ROUNDS)]
    add_speed_up("hpc, a second thread: speed-up", pairs)


def merge(n):
    """N processes of one thread that copy the database in DIR: wall seconds, and the CPU seconds of the busiest."""
    shutil.rmtree(DIR + ".merged", ignore_errors=True)
    command = ["sh", "-c", '"$@" >/dev/null && times >&2', "sh", os.path.join(BUILD, "dwell"), "hpc", "-j", "1", "-o",
               DIR + ".merged", DIR]
    if n > 1:
        command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(n), *command]
    start = time.monotonic()
    said = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True, text=True).stderr
    wall = time.monotonic() - start
    times = [sum(60 * float(m) + float(s) for m, s in re.findall(r"(\d+)m([\d.]+)s", line)) for line in said.splitlines()]
    return wall, max(times)


def second_process(size):
    """`mpirun -n 2 dwell hpc` beside one process: all but making the tree, which is one process's."""
    if not shutil.which("mpirun"):
        notes.append("hpc, a second process: there is no mpirun")
        return
    build(size, 1)
    pairs = []
    for i in range(ROUNDS):
        say("hpc, processes: %d" % (i + 1))
        pairs.append((merge(1), merge(2)))
    for what, k in (("speed-up", 0), ("CPU of the busier", 1)):
        add_speed_up("hpc, a second process: " + what, [(one[k], two[k]) for one, two in pairs])
    build((10, 1000, 100), 1)
    notes.append("hpc, a second process: starting and ending two processes takes %.2f s of wall time"
                 % median([merge(2)[0] - merge(1)[0] for _ in range(ROUNDS)]))
    shutil.rmtree(DIR + ".merged", ignore_errors=True)


def measure():
    subprocess.run(["ninja", "-C", BUILD, "bench/bench_hpc_build"], stdout=subprocess.DEVNULL, check=True)
    for size in SIZES:
        measure_size(size)
    growth()
    second_thread(SIZES[1])
    second_process((2 * SIZES[1][0], *SIZES[1][1:]))
    shutil.rmtree(DIR, ignore_errors=True)
