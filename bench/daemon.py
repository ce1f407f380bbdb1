# SPDX-License-Identifier: BSD-2-Clause
"""The rows about recording all the time: dwelld beside `perf record -a --switch-output`, taking turns on the same
workload, at three rates; what both take of CPU, memory and disk while they go on, start and end left out."""
import json
import os
import re
import re
import shutil
import signal
import subprocess
import time

from common import BUILD, DWELL, QUICK, WORK, environment, notes, one_slice, row, say, tree_bytes
from measure import CannotMeasure, bootstrap, sum_ratio

RATES = 100, 1000, 5200
ROUNDS = 1 if QUICK else 4
PERIOD_S = 5                # a flush, and a file of perf's: at its end perf reads the file again, for the build-ids
PERIODS = 3 if QUICK else 10  # measured in a round
DB = os.path.join(WORK, "daemon-db")



def exact_cpu_s(pid):
    """To the nanosecond: /proc/PID/schedstat, for each thread."""
    return sum(int(open(f"/proc/{pid}/task/{t}/schedstat").read().split()[0]) for t in os.listdir(f"/proc/{pid}/task")) / 1e9


def peak_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(re.search(r"VmHWM:\s*(\d+)", f.read()).group(1)) / 1024


def run_beside(command, ready, cwd):
    """The workload with COMMAND beside it: its CPU seconds once it samples, peak memory, seconds."""
    p = subprocess.Popen(command, env=environment(), cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 20
        while not ready():
            if time.monotonic() > end or p.poll() is not None:
                raise CannotMeasure("%s does not start" % command[0])
            time.sleep(0.1)
        time.sleep(1)
        peak = peak_mb(p.pid)
        before, start = exact_cpu_s(p.pid), time.monotonic()
        while time.monotonic() - start < PERIODS * PERIOD_S:
            one_slice()
        return exact_cpu_s(p.pid) - before, (peak, peak_mb(p.pid)), time.monotonic() - start
    finally:
        p.send_signal(signal.SIGINT)
        p.wait(60)


def ctl(*argv):
    return subprocess.run([DWELL, "ctl", "--db", DB, *argv], capture_output=True, text=True, check=False)


def one_rate(hz):
    pairs, peaks, sizes, stored = [], [], [], []
    for i in range(ROUNDS):
        say(f"daemon, {hz} Hz: {i + 1} of {ROUNDS}")
        shutil.rmtree(DB, ignore_errors=True)
        ours = run_beside([os.path.join(BUILD, "dwelld"), "-e", "cpu-clock", "-F", str(hz), "--no-pin", "--flush", f"{PERIOD_S}s", DB],
                          lambda: ctl("status").returncode == 0, WORK)
        epochs = os.path.join(DB, "epochs")
        mine = tree_bytes(epochs)
        perf_dir = os.path.join(WORK, "daemon-perf")
        shutil.rmtree(perf_dir, ignore_errors=True)
        os.makedirs(perf_dir)
        theirs = run_beside(["perf", "record", "-q", "-a", "-e", "cpu-clock", "-F", str(hz), f"--switch-output={PERIOD_S}s"],
                            lambda: os.listdir(perf_dir), perf_dir)
        pairs.append((ours[0] / ours[2], theirs[0] / theirs[2]))
        peaks.append(ours[1])
        sizes.append((mine / ours[2] * 3600, tree_bytes(perf_dir) / theirs[2] * 3600))
        stored.append(mine)
    ratio = bootstrap(pairs, sum_ratio)
    row(f"daemon's CPU at {hz} Hz", "%.3f %%" % (100 * sum(a for a, _ in pairs) / ROUNDS),
        "%.3f %%" % (100 * sum(b for _, b in pairs) / ROUNDS), ratio, "<= 0.15", ratio[0] <= 0.15)
    top = max(after for _, after in peaks)
    row(f"daemon's peak memory at {hz} Hz", "%.1f MB" % top, "-", None, "< 60 MB", top < 60)
    row(f"daemon's bytes an hour at {hz} Hz", "%.2f MB" % (sum(a for a, _ in sizes) / ROUNDS / 1e6),
        "%.1f MB" % (sum(b for _, b in sizes) / ROUNDS / 1e6), bootstrap(sizes, sum_ratio), "-", None)
    notes.append("at %d Hz the daemon has %.1f MB once it samples; an hour's bytes are those of %d bytes of a short epoch, whose "
                 "places are new: a day's has the same places again" % (hz, max(before for before, _ in peaks), sum(stored) // ROUNDS))


def measure():
    for hz in RATES:
        one_rate(hz)
