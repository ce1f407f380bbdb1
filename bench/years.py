# SPDX-License-Identifier: BSD-2-Clause
"""A year of hourly epochs: what `dwell prof --since 7d` takes of it, beside the same of a database that has no
more than that week, in interleaved pairs; and a recording's beginning."""
import os
import subprocess
import time

from common import BUILD, DWELL, QUICK, SPAWN, WORK, environment, notes, row, say
from measure import median_ratio, run_once

MKDB = os.path.join(BUILD, "tests/cli/mkdb")
YEAR, WEEK = 8760, 7 * 24 + 1
ROUNDS = 5 if QUICK else 15


def make(db, hours):
    """One recording of 2,000 places, linked to each hour before it."""
    end = int(time.time()) // 3600 * 3600 - 3600
    text = f"recording host {end}\nmeta host {end} 3600 server\nevent cycles 1000\n"
    for image in range(20):
        text += f"image file /usr/lib/lib{image}.so\n"
        text += "".join(f"sample {0x1000 + 16 * i:x} {1 + i}\n" for i in range(100))
    subprocess.run([MKDB, db], input=text, text=True, check=True)

    def path(t):
        return os.path.join(db, "epochs", time.strftime("%Y%m%d%H%M%S", time.gmtime(t)), "host")
    files = os.listdir(path(end))
    for h in range(1, hours):
        os.makedirs(path(end - 3600 * h))
        for f in files:
            os.link(os.path.join(path(end), f), os.path.join(path(end - 3600 * h), f))


def measure():
    year, week = os.path.join(WORK, "year"), os.path.join(WORK, "week")
    say("a year of epochs: making them")
    make(year, YEAR)
    make(week, WEEK)
    for what, argv in (("--since 7d", ["--since", "7d"]), ("the latest epoch", [])):
        pairs = []
        for i in range(ROUNDS):
            say(f"a year of epochs, {what}: {i + 1} of {ROUNDS}")
            pairs.append([run_once(SPAWN, [DWELL, "prof", "--by", "image", "--db", db, *argv], environment())[0] for db in (year, week)])
        a, b = (sorted(p[k] for p in pairs)[ROUNDS // 2] for k in (0, 1))
        ratio = median_ratio(pairs)
        row(f"a year of hourly epochs: prof, {what}: CPU", "%.0f ms" % (1e3 * a), "%.0f ms" % (1e3 * b), ratio, "", None)
    notes.append("a year of hourly epochs stands beside a week of them, not beside perf")
