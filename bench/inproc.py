# SPDX-License-Identifier: BSD-2-Clause
"""The rows about histograms inside a program: libdwell's sprofil(2) beside glibc's, in one program that is written for
the latter (bench_inproc.c)."""
import os
import re
import subprocess
import tempfile
import time

from common import BUILD, QUICK, notes, row, say
from measure import CannotMeasure, median

BENCH = os.path.join(BUILD, "bench/bench_inproc")
LIBRARY = os.path.join(BUILD, "src/inproc/libdwell.so.0")
ROUNDS = 5 if QUICK else 15
SECONDS = 0.3
TICK_HZ = 10000
THREADS = (1, 2, 4, 8, 16, 32, 64)
RATES = (100, 1000, 10000)


def ask(*argv, hz=0):
    """Numbers the program prints; with HZ under libdwell, else under glibc alone."""
    env = dict(os.environ, DWELL_PROFIL_HZ=str(hz), LD_PRELOAD=LIBRARY) if hz else os.environ
    p = subprocess.run([BENCH, *map(str, argv)], env=env, capture_output=True, text=True, timeout=300)
    out = re.findall(r"[\d.]+", p.stdout)
    if not out:  # glibc's sprofil may have ended it
        raise CannotMeasure("bench_inproc %s: %s" % (" ".join(map(str, argv)), p.stderr.strip()))
    return [float(x) for x in out]


def a_tick():
    """What a tick costs above the same timer that nobody listens to: the interruption of the program, and the helper's
    time.  glibc's timer is the kernel's own tick."""
    ours, theirs, helper = [], [], []
    for i in range(ROUNDS):
        say(f"in-process, a tick: {i + 1} of {ROUNDS}")
        bare = ask("gaps", "bare", TICK_HZ, SECONDS)[1]
        _, gap, ticks, other = ask("gaps", "sprofil", TICK_HZ, SECONDS, hz=TICK_HZ)
        helper.append(other / ticks)
        ours.append(gap - bare + other / ticks)
        none = ask("gaps", "none", 0, SECONDS)[1]
        theirs.append(ask("gaps", "signal", 0, SECONDS)[1] - none)
    a, b = median(ours), median(theirs)
    row("in-process: a tick above its timer", "%.2f us" % (a / 1e3), "%.2f us (glibc)" % (b / 1e3), a / b, "<= 0.25", a <= 0.25 * b)
    notes.append("in-process, a tick: %.2f us of ours is the helper thread's" % (median(helper) / 1e3))


def samples_against_time():
    """The least and the most that a thread's ticks are of its CPU time, for each rate."""
    for hz in RATES:
        least, most, counted, told, missing, switches = [], [], [], [], 0, 0
        for n in THREADS:
            say(f"in-process, {hz} Hz, {n} threads")
            seconds = max((1 if QUICK else 4) / n, 50 / hz)
            lo, _, hi, _, _, task_clock, missing_ns, n_switches, with_unplaced = ask("threads", n, seconds, hz=hz)
            half = 0.5 / (hz * seconds)
            least.append(lo + half)
            most.append(hi - half)
            counted.append(task_clock)
            told.append(with_unplaced + half)
            missing += missing_ns
            switches += n_switches
        lo, hi = min(least), max(most)
        row(f"in-process: ticks / CPU time, {hz} Hz", "%.3f to %.3f" % (lo, hi), "-", None, "0.99 to 1.01",
            lo >= 0.99 and hi <= 1.01)
        notes.append("in-process, %d Hz: the worst thread has %.4f with its ticks of no place" % (hz, min(told)))
        notes.append("in-process, %d Hz: the kernel's task clock of the worst thread counts %.4f of its CPU time; %.1f us a switch are missing"
                     % (hz, min(counted), missing / max(switches, 1) / 1e3))
    notes.append("in-process: of each of %s threads, half a tick allowed" % ", ".join(map(str, THREADS)))
    theirs = []
    for n in (1, 4):
        try:
            theirs += [x for x in ask("threads", n, 1)[:3:2]]
        except CannotMeasure:
            pass
    if theirs:
        notes.append("in-process: glibc's ticks / CPU time, 1 and 4 threads: %.2f to %.2f" % (min(theirs), max(theirs)))


def start_and_memory():
    for n in (1, 64):
        runs = [ask("startstop", n, hz=1000) for _ in range(ROUNDS)]
        start, stop, ring, resident = (median([r[k] for r in runs]) for k in range(4))
        row(f"in-process: begin / end, {n + 1} threads", "%.0f / %.0f us" % (start, stop), "-", None, "-", None)
        if n > 1:
            row("in-process: memory a thread, 1000 Hz", "%.1f KB of rings" % (ring / (n + 1) / 1024), "-", None, "-", None)
            notes.append("in-process: resident memory more, %d threads: %.0f KB" % (n + 1, resident / 1024))


def a_preloaded_process():
    """What libdwell-preload.so costs a process that does nothing, in pairs with none: true(1)."""
    plain = dict(os.environ)
    with tempfile.TemporaryDirectory() as tree:
        preloaded = dict(plain, LD_PRELOAD=os.path.join(BUILD, "src/inproc/libdwell-preload.so"), DWELL_PRELOAD_DIR=tree)
        more = []
        for i in range(200):
            say(f"in-process, a preloaded process: {i + 1} of 200")
            took = []
            for env in (plain, preloaded):
                start = time.perf_counter_ns()
                os.waitpid(os.posix_spawn("/bin/true", ["true"], env), 0)
                took.append(time.perf_counter_ns() - start)
            more.append(took[1] - took[0])
    row("in-process: a process with libdwell-preload.so, above one without", "%.2f ms" % (median(more) / 1e6), "-", None,
        "<= 0.5 ms", median(more) <= 5e5)


def many_regions():
    """ns of a look-up; that of 1,000 regions grows with their logarithm."""
    ns = {n: min(ask("regions", n)[0] for _ in range(3)) for n in (1, 10, 100, 1000, 10000)}
    # a binary search over N ranges takes log2 N steps
    row("in-process: look-up, 1000 regions / 10", "%.0f ns" % ns[1000], "%.0f ns" % ns[10], ns[1000] / ns[10], "<= 3",
        ns[1000] <= 3 * ns[10])
    notes.append("in-process, a look-up: " + ", ".join("%d: %.0f ns" % i for i in ns.items()))


def measure():
    a_tick()
    samples_against_time()
    start_and_memory()
    a_preloaded_process()
    many_regions()
