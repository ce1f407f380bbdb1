# SPDX-License-Identifier: BSD-2-Clause
"""Programs in step with timers, or in short bursts, have their true shares at rates that are in step, too."""
import os
import sys

from e2e import *

PROGRAMS = ["aligned 0", "aligned 1700", "aligned 3500", "nap", "wheel", "pipe", "tcp", "forks", "find", "halves"]
SLACK = 0.03  # of the CPU time: what a program does before and after it has its name


def run_all(seconds, programs, n_hogs):
    """Runs all programs at once and says what CPU time each used, as the kernel counts it, in ns; of
    `halves` also what it used in either mode, as it says."""
    cpus = sorted(os.sched_getaffinity(0))
    pids = {}
    said, write_end = os.pipe()
    for i, p in enumerate(programs + ["hog"] * len(cpus) * n_hogs):
        kind, *n = p.split()
        pid = os.fork()
        if pid == 0:
            os.dup2(write_end, 1)
            os.sched_setaffinity(0, [cpus[i % len(cpus)]])
            os.execv(prog("rhythm"), [prog("rhythm"), kind, str(seconds), *n])
        pids[pid] = kind + "".join(n)
    os.close(write_end)
    used = {}
    while pids:
        pid, status, r = os.wait4(-1, 0)
        used[pids[pid]] = used.get(pids[pid], 0) + (r.ru_utime + r.ru_stime) * 1e9
        if status:
            sys.exit("%s ends with status %#x" % (pids[pid], status))
        del pids[pid]
    with os.fdopen(said) as f:
        for mode, ns in zip(("user", "kernel"), f.read().split()):
            used["halves, " + mode] = int(ns)
    print(json.dumps(used))


def samples_by_program():
    """{program: samples}, and those of `halves` by mode."""
    got = {}
    for r in Prof(by="comm,image").rows:
        mode = "kernel" if r["kind"] in ("kernel", "module") else "user"
        for name in r["comm"], "%s, %s" % (r["comm"], mode):
            got[name] = got.get(name, 0) + r["counts"]["cpu-clock"]
    return got


def shares_at(freq):
    a = record("-a", "-e", "cpu-clock", "-F", freq, "--", sys.executable, os.path.abspath(__file__), "all",
               longer(6), 1)
    used = json.loads(a["said"])
    period = a["events"][0]["period"]
    got = samples_by_program()
    # Else the kernel could not say who began meanwhile: they have their parents' names.
    likely(a["rings_full"] == 0, "the kernel's rings were full %d times" % a["rings_full"])
    for name, ns in used.items():
        want, n = ns / period, got.get(name, 0)
        note("%d Hz %s: %d samples, %.0f wanted, %.3f" % (freq, name, n, want, n / max(want, 1)))
    for name, ns in used.items():
        want, n = ns / period, got.get(name, 0)
        likely(abs(n - want) <= SIGMAS * max(want, 1) ** 0.5 + SLACK * want,
               "%s at %d Hz: %d samples, %.0f wanted" % (name, freq, n, want))


def rate_of_the_tick():
    shares_at(250)


def rate_of_programs():
    shares_at(1000)


def processes_shorter_than_a_period():
    """Each new process would begin a period of its own, and end before it has a sample."""
    a = record("-e", "cpu-clock", "-F", 100, "--", sys.executable, os.path.abspath(__file__), "forks", longer(4))
    check(a["events"][0]["drawn_within"] == 1 / 64, str(a["events"][0]))
    ns = json.loads(a["said"])["forks"]
    want = ns / a["events"][0]["period"]
    n = sum(r["counts"]["cpu-clock"] for r in Prof(by="comm").rows if r["comm"] == "forks")
    note("%d samples, %.0f wanted" % (n, want))
    likely(abs(n - want) <= SIGMAS * want ** 0.5 + SLACK * want, "%d samples of short processes, %.0f wanted" % (n, want))
    images = {os.path.basename(r["image"]) for r in Prof(by="comm,image").rows if r["kind"] == "file"}
    check("dwell" not in images, "samples from before the command began: %s" % images)


if len(sys.argv) > 1 and sys.argv[1] == "all":
    run_all(float(sys.argv[2]), PROGRAMS, int(sys.argv[3]))
elif len(sys.argv) > 1:
    run_all(float(sys.argv[2]), [sys.argv[1]], 0)
else:
    run(rate_of_the_tick, rate_of_programs, processes_shorter_than_a_period)
