# SPDX-License-Identifier: BSD-2-Clause
"""What a server's week takes on disk, flat, and a day of each of its CPUs with call paths: time runs faster.

dwelld samples a database, a web server, their clients and short jobs (bench/corpus, bench/cron) so often that a second
stands for a hundred at 100 Hz, in epochs that are merged when they end, as a day's are.  bench_weeks adds them up, one
after the other, leaving out what other programs did and what idle CPUs did, and tells what each sum takes on disk: flat,
with all callers, and pruned.  How that grew from half of the samples to all of them is carried on to those of a day:
bytes = c * samples ** e.  Growth only gets slower the longer one looks, so that is too much rather than too little."""
import math
import os
import shutil
import subprocess
import time

from common import BUILD, CPUS, DWELL, HERE, QUICK, WORK, environment, notes, row, say, tree_bytes
from measure import CannotMeasure

HZ = 100                  # what is asked about
FASTER = 100              # times as many samples
SECONDS = (4, 4, 8, 16) if QUICK else (6, 6, 12, 24, 48)  # of the epochs
PRUNE = "0.001"           # percent, the daemon's default
DAY = 86400 * HZ          # samples of a CPU that never idles
LIMIT = 10e6
LABEL = "server"
DB = os.path.join(WORK, "weeks-db")
DWELLD = os.path.join(BUILD, "dwelld")


def ctl(*argv):
    return subprocess.run([DWELL, "ctl", "--db", DB, *argv], capture_output=True, text=True, check=False)


def start_daemon():
    shutil.rmtree(DB, ignore_errors=True)
    daemon = subprocess.Popen([DWELLD, "-e", "cpu-clock", "-F", str(HZ * FASTER), "-g", "--prune", "0", "--no-pin", "--flush",
                               "3s", "--journal", "1s", "--epoch", "0", DB], env=environment(), stderr=subprocess.DEVNULL)
    end = time.monotonic() + 20
    while ctl("status").returncode:
        if time.monotonic() > end or daemon.poll() is not None:
            raise CannotMeasure("dwelld does not start")
        time.sleep(0.1)
    return daemon


def start_server(seconds, log):
    """The workload, under a label of its own."""
    work = os.path.join(WORK, "weeks")
    os.makedirs(work, exist_ok=True)
    os.chmod(work, 0o755)
    corpus = os.path.join(HERE, "corpus/corpus")
    return [subprocess.Popen([DWELL, "ctl", "--db", DB, "label", LABEL, "--", *command, os.path.join(work, os.path.basename(command[-1])),
                              str(seconds)], env=environment(), stdout=subprocess.DEVNULL, stderr=log)
            for command in ([corpus, "postgres"], [corpus, "nginx"], [os.path.join(HERE, "cron")])]


def new_epoch():
    if ctl("epoch").returncode:
        raise CannotMeasure("dwelld: no new epoch")


def record():
    log_name = os.path.join(WORK, "weeks.log")
    daemon, parts = start_daemon(), []
    try:
        with open(log_name, "w", encoding="utf-8") as log:
            parts = start_server(sum(SECONDS) + 10, log)
            time.sleep(4)           # the database is filled, all are at work
            new_epoch()             # what was before is not measured
            for i, s in enumerate(SECONDS):
                say(f"a server's week: epoch {i + 1} of {len(SECONDS)}, {s} s")
                time.sleep(s)
                new_epoch()
            failed = [p for p in parts if p.wait()]
        if failed:
            with open(log_name, encoding="utf-8") as log:
                raise CannotMeasure("the workload failed: " + log.read()[-300:])
        if ctl("quit").returncode or daemon.wait(60):
            raise CannotMeasure("dwelld does not end well")
    finally:
        for p in parts + [daemon]:
            if p.poll() is None:
                p.terminate()
                p.wait(60)


def sizes():
    """By epoch, of all up to it: samples, bytes flat, with all callers, pruned, samples pruned, places, contexts, left."""
    epochs = sorted(os.listdir(os.path.join(DB, "epochs")))[1:1 + len(SECONDS)]
    out = subprocess.run([os.path.join(BUILD, "bench/bench_weeks"), DB, LABEL, PRUNE, *epochs], capture_output=True,
                         text=True, check=True).stdout
    return [[int(n) for n in line.split()] for line in out.splitlines()]


def carry_on(points, column, samples):
    """(what COLUMN is at SAMPLES, the exponent)."""
    half, last = points[-2], points[-1]
    e = math.log(last[column] / half[column]) / math.log(last[0] / half[0])
    return last[column] * (samples / last[0]) ** e, e


def measure():
    record()
    points = sizes()
    last, n, day = points[-1], len(CPUS), DAY * len(CPUS)
    if not last[0]:
        raise CannotMeasure("the workload has no samples")
    (flat, e_flat), (full, e_full), (few, e_few) = [carry_on(points, c, day) for c in (1, 2, 3)]
    row("a server's week, flat: disk", "%.1f MB" % (7 * flat / 1e6), "-", None, "<= 10 MB", 7 * flat <= LIMIT)
    row("a server's CPU's day, call paths: disk", "%.1f MB" % (few / n / 1e6), "--prune 0: %.1f MB" % (full / n / 1e6),
        few / full, "<= 10 MB", few / n <= LIMIT)
    notes.append("a server's week is of %d CPUs that never idle, at %d Hz: %d samples a day; measured with %d times as many a "
                 "second, and carried on %.0f times" % (n, HZ, day, FASTER, day / last[0]))
    for p in points:
        notes.append("  %8d samples: flat %.3f MB, %d places; call paths %.3f MB, %d contexts; pruned %.3f MB, %d contexts, "
                     "rare callers of %.2f %% of the samples" % (p[0], p[1] / 1e6, p[5], p[2] / 1e6, p[6], p[3] / 1e6, p[7],
                                                                  100 * p[4] / p[0]))
    notes.append("  bytes grow with samples to the power of: flat %.2f, call paths %.2f, pruned %.2f; symbols besides, once: "
                 "%.1f MB" % (e_flat, e_full, e_few, tree_bytes(os.path.join(DB, "images")) / 1e6))
