# SPDX-License-Identifier: BSD-2-Clause
"""The rows about recording all the time: dwelld beside `perf record -a --switch-output`, taking turns on the same
workload, at three rates; what both take of CPU, memory and disk once they have met its programs, and at their start."""
import os
import re
import shutil
import signal
import subprocess
import time

from common import BUILD, DWELL, QUICK, WORK, environment, notes, one_slice, row, say, tree_bytes
from measure import CannotMeasure, bootstrap, sum_ratio

RATES = 100, 1000, 5200
ROUNDS = 1 if QUICK else 3
PERIOD_S = 5                # a flush, and a file of perf's: at its end perf reads the file again, for the build-ids
START_S = 10                # what the start is: build-ids, unwind tables and symbols of what runs
WARM_S = 20                 # before counting begins, the start included
PERIODS = 3 if QUICK else 13  # counted in a round; with those before, the daemon merges its segments once
DB = os.path.join(WORK, "daemon-db")


def exact_cpu_s(pid):
    """To the nanosecond: /proc/PID/schedstat, for each thread."""
    return sum(int(open(f"/proc/{pid}/task/{t}/schedstat").read().split()[0]) for t in os.listdir(f"/proc/{pid}/task")) / 1e9


def peak_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(re.search(r"VmHWM:\s*(\d+)", f.read()).group(1)) / 1024


def work_for(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        one_slice()


def run_beside(command, ready, cwd):
    """The workload with COMMAND beside it: its CPU seconds at the start, its share of a CPU once warm, peak memory at both, seconds in all."""
    p = subprocess.Popen(command, env=environment(), cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    begun = time.monotonic()
    try:
        while not ready():
            if time.monotonic() > begun + 20 or p.poll() is not None:
                raise CannotMeasure("%s does not start" % command[0])
            time.sleep(0.1)
        work_for(START_S)
        first, peak = exact_cpu_s(p.pid), peak_mb(p.pid)
        work_for(WARM_S - START_S)
        before, start = exact_cpu_s(p.pid), time.monotonic()
        work_for(PERIODS * PERIOD_S)
        now = time.monotonic()
        return first, (exact_cpu_s(p.pid) - before) / (now - start), (peak, peak_mb(p.pid)), now - begun
    finally:
        p.send_signal(signal.SIGINT)
        p.wait(60)


def run_daemon(hz, flush, calls="none"):
    shutil.rmtree(DB, ignore_errors=True)
    return run_beside([os.path.join(BUILD, "dwelld"), "-e", "cpu-clock", "-F", str(hz), "--no-pin", "--call-graph", calls, "--flush", flush,
                       "--journal", f"{PERIOD_S}s", DB],
                      lambda: ctl("status").returncode == 0, WORK)


def ctl(*argv):
    return subprocess.run([DWELL, "ctl", "--db", DB, *argv], capture_output=True, text=True, check=False)


def run_perf(hz, into, options=()):
    shutil.rmtree(into, ignore_errors=True)
    os.makedirs(into)
    return run_beside(["perf", "record", "-q", "-a", "-e", "cpu-clock", "-F", str(hz), *options, f"--switch-output={PERIOD_S}s"],
                      lambda: os.listdir(into), into)


def percent(shares):
    return "%.3f %%" % (100 * sum(shares) / len(shares))


def one_rate(hz):
    pairs, peaks, sizes, stored, starts, journaling = [], [], [], [], [], []
    perf_dir = os.path.join(WORK, "daemon-perf")
    for i in range(ROUNDS):
        say(f"daemon, {hz} Hz: {i + 1} of {ROUNDS}")
        ours = run_daemon(hz, f"{PERIOD_S}s")
        mine = tree_bytes(os.path.join(DB, "epochs"))
        theirs = run_perf(hz, perf_dir)
        starts.append((ours[0], theirs[0]))
        pairs.append((ours[1], theirs[1]))
        peaks.append(ours[2])
        sizes.append((mine / ours[3] * 3600, tree_bytes(perf_dir) / theirs[3] * 3600))
        stored.append(mine)
        if not i:
            journaling.append((run_daemon(hz, "5m")[1], theirs[1]))
    ratio = bootstrap(pairs, sum_ratio)
    row(f"daemon's CPU at {hz} Hz", percent([a for a, _ in pairs]), percent([b for _, b in pairs]), ratio, "<= 0.15", ratio[0] <= 0.15)
    row(f"daemon's CPU at {hz} Hz, journaling", percent([a for a, _ in journaling]), percent([b for _, b in journaling]),
        sum_ratio(journaling), "-", None)
    row(f"daemon's start at {hz} Hz, {START_S} s", "%.3f s" % (sum(a for a, _ in starts) / ROUNDS),
        "%.3f s" % (sum(b for _, b in starts) / ROUNDS), bootstrap(starts, sum_ratio), "-", None)
    top = max(after for _, after in peaks)
    row(f"daemon's peak memory at {hz} Hz", "%.1f MB" % top, "-", None, "< 60 MB", top < 60)
    row(f"daemon's bytes an hour at {hz} Hz", "%.2f MB" % (sum(a for a, _ in sizes) / ROUNDS / 1e6),
        "%.1f MB" % (sum(b for _, b in sizes) / ROUNDS / 1e6), bootstrap(sizes, sum_ratio), "-", None)
    notes.append("at %d Hz the daemon has %.1f MB after its start; an hour's bytes are those of %d bytes of a short epoch, whose "
                 "places are new: a day's has the same places again" % (hz, max(before for before, _ in peaks), sum(stored) // ROUNDS))


def with_calls(hz):
    """Compares both daemons with call paths, which perf follows by frame pointers only."""
    runs = []
    perf_dir = os.path.join(WORK, "daemon-perf")
    for i in range(ROUNDS):
        say(f"daemon with call paths, {hz} Hz: {i + 1} of {ROUNDS}")
        ours = run_daemon(hz, f"{PERIOD_S}s", "auto")
        mine = tree_bytes(os.path.join(DB, "epochs"))
        theirs = run_perf(hz, perf_dir, ["-g"])
        runs.append((ours, theirs, mine / ours[3] * 3600, tree_bytes(perf_dir) / theirs[3] * 3600))
    cpu = [(ours[1], theirs[1]) for ours, theirs, _, _ in runs]
    ratio = bootstrap(cpu, sum_ratio)
    row(f"daemon's CPU with call paths at {hz} Hz", percent([a for a, _ in cpu]), percent([b for _, b in cpu]), ratio, "<= 1", ratio[0] <= 1)
    top = max(ours[2][1] for ours, _, _, _ in runs)
    row(f"daemon's peak memory with call paths at {hz} Hz", "%.1f MB" % top, "-", None, "< 60 MB", top < 60)
    row(f"daemon's bytes an hour with call paths at {hz} Hz", "%.2f MB" % (sum(r[2] for r in runs) / ROUNDS / 1e6),
        "%.1f MB" % (sum(r[3] for r in runs) / ROUNDS / 1e6), bootstrap([r[2:] for r in runs], sum_ratio), "-", None)
    notes.append("with call paths at %d Hz the daemon has %.1f MB after its start; perf record -g follows frame pointers only" %
                 (hz, max(ours[2][0] for ours, _, _, _ in runs)))


def measure():
    for hz in RATES:
        one_rate(hz)
        with_calls(hz)
