# SPDX-License-Identifier: BSD-2-Clause
"""The rows about reading HPCToolkit databases, on a made-up one of many threads: the first rows of `dwell tree` with
nothing of the files in memory, and one context in all threads."""
import json
import os
import shutil
import subprocess
import time

from common import BUILD, QUICK, WORK, notes, row, say
from measure import median

ROUNDS = 5 if QUICK else 15
THREADS, CONTEXTS, VALUES = (10000, 100000, 50) if QUICK else (100000, 1000000, 100)
DIR = os.path.join(WORK, "hpc-read")
DWELL = os.path.join(BUILD, "dwell")


def forget():
    """Drops the files from the page cache."""
    for name in os.listdir(DIR):
        path = os.path.join(DIR, name)
        if os.path.isfile(path):
            fd = os.open(path, os.O_RDONLY)
            os.fsync(fd)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(fd)


def run(*args):
    """Wall milliseconds, CPU milliseconds and peak MB of one command."""
    start = time.monotonic()
    child = subprocess.Popen([DWELL, *args], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, args
    return (time.monotonic() - start) * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3, usage.ru_maxrss / 1024


def hottest():
    out = subprocess.run([DWELL, "tree", DIR, "--json", "--depth", "2"], stdout=subprocess.PIPE, check=True)
    return json.loads(out.stdout)["rows"][0]["contexts"].split("+")[0]


def measure():
    subprocess.run(["ninja", "-C", BUILD, "bench/bench_hpc"], stdout=subprocess.DEVNULL, check=True)
    os.makedirs(DIR, exist_ok=True)
    say("hpc, reading %d threads" % THREADS)
    subprocess.run([os.path.join(BUILD, "bench/bench_hpc"), "write", DIR, str(THREADS), str(CONTEXTS), str(VALUES), "2"],
                   stdout=subprocess.DEVNULL, check=True)
    context, empty, first, one = hottest(), [], [], []
    for _ in range(ROUNDS):
        empty.append(run("version"))
        forget()
        first.append(run("tree", DIR, "--depth", "2"))
        run("prof", DIR, "--context", context, "--keep", "0")
        one.append(run("prof", DIR, "--context", context, "--keep", "0"))
    what = "hpc, %d threads: " % THREADS
    wall, memory = median([r[0] for r in first]), max(r[2] for r in first)
    row(what + "first rows, cold", "%.0f ms" % wall, "-", None, "<= 50 ms", wall <= 50)
    row(what + "first rows, memory", "%.0f MB" % memory, "-", None, "<= 64 MB", memory <= 64)
    took = median([a[0] - b[0] for a, b in zip(one, empty)])
    row(what + "one context in all", "%.1f ms" % took, "-", None, "<= 10 ms", took <= 10)
    notes.append("%sfirst rows %.0f ms of CPU; one context %.1f ms beside `dwell version`, which takes %.1f ms"
                 % (what, median([r[1] for r in first]), took, median([r[0] for r in empty])))
    shutil.rmtree(DIR, ignore_errors=True)
