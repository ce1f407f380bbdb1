# SPDX-License-Identifier: BSD-2-Clause
"""The rows about the first second of recording a machine on which PROGRAMS run: how many of its samples have
complete call paths, into a new database and into one that has met the programs."""
import json
import os
import shutil
import subprocess
import sys
import time

from common import DWELL, QUICK, WORK, environment, notes, row, say
from measure import CannotMeasure, bootstrap

ROUNDS = 2 if QUICK else 6
IDLE_S = 0.5  # between two recordings
# Each works a little and sleeps, as most programs of a machine do: with many libraries, few, and in a shell.
PROGRAMS = [
    (70, [sys.executable, "-c", """
import bz2, ctypes, decimal, hashlib, json, lzma, random, sqlite3, ssl, time, zlib
while True:
    zlib.crc32(json.dumps([random.random() for i in range(200)]).encode())
    time.sleep(random.uniform(0.4, 1))
"""]),
    (70, ["perl", "-e", "while (1) { my %h; $h{$_} = $_ * 2 for 1..300; my @s = sort values %h;"
          " select(undef, undef, undef, 0.4 + rand(0.6)); }"]),
    (60, ["bash", "-c", "while :; do for i in {1..40}; do x=$((i * i)); done; sleep 0.$((RANDOM % 6 + 4)); done"]),
]


NOT_COPIED = " functions not copied]"


def without_functions(db):
    """Samples in DB's newest recording whose paths lack what an interpreter executed."""
    p = subprocess.run([DWELL, "export", "--folded", "--db", db], env=environment(), capture_output=True, text=True, check=True)
    return sum(int(line.rsplit(" ", 1)[1]) for line in p.stdout.splitlines() if NOT_COPIED in line)


def record(db, cut):
    """(samples with complete paths, samples); those of idle CPUs, which are all complete, left out.  Adds up in CUT
    why the others end."""
    p = subprocess.run([DWELL, "record", "-a", "-g", "-e", "cpu-clock", "-F", "997", "-d", "1", "--db", db, "--json"],
                       env=environment(), capture_output=True, text=True, check=False)
    if p.returncode:
        raise CannotMeasure("dwell record: " + p.stderr)
    event = json.loads(p.stdout)["events"][0]
    time.sleep(IDLE_S)
    n = event["samples"] - event["idle"]
    causes = {**event["call_paths"]["truncated"], "functions not copied": without_functions(db)}
    for cause, k in causes.items():
        if k:
            cut[cause] = cut.get(cause, 0) + k
    return n - sum(causes.values()), n


def share(pairs):
    return 100 * sum(a for a, _ in pairs) / sum(b for _, b in pairs)


def measure():
    db = os.path.join(WORK, "first-db")
    seen = {"into a new database": ([], {}), "into one that has its tables": ([], {})}
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
               for n, command in PROGRAMS for _ in range(n)]
    try:
        time.sleep(10)  # until all are at work
        for i in range(ROUNDS):
            say(f"first second: {i + 1} of {ROUNDS}")
            shutil.rmtree(db, ignore_errors=True)
            for pairs, cut in seen.values():
                pairs.append(record(db, cut))
        load = os.getloadavg()[0]
    finally:
        for p in running:
            p.kill()
        for p in running:
            p.wait()
    for (what, (pairs, cut)), must in zip(seen.items(), (99.5, 99.9)):
        row("complete paths in the first second, 200 programs, " + what, "%.2f %% [%.2f, %.2f]" % bootstrap(pairs, share),
            "-", None, f">= {must} %", share(pairs) >= must)
        notes.append("first second, %s: %d samples cut: %s" % (what, sum(cut.values()), cut))
    notes.append("first second: %d samples in %d recordings, load %.1f" %
                 (sum(n for pairs, _ in seen.values() for _, n in pairs), 2 * ROUNDS, load))
