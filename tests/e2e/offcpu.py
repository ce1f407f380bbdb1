#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Off-CPU time.  The oracle is the scheduler's own account in /proc/TID/schedstat, which each thread of the
program `blocks` prints at its end: time on a CPU, and time waiting for one."""
import glob
import json
import os
import signal
import subprocess
import time

from e2e import (DWELL, Recording, Skipped, check, dwell, folded_paths, likely, longer, note, prog, record, run, running, sh,
                 wait_for)

STATES = ("running", "runnable", "blocked")
# The scheduler takes the time when it begins to choose, the recorder when it has chosen; what wakes a thread
# may count for it already.  Up to some microseconds a switch, of which there are at most 1000 a second here.
TOLERANCE = 0.02


def rows(db, *argv):
    return json.loads(dwell("prof", "--db", db, "--json", *argv).stdout)["rows"]


def stolen_ns():
    """Time the host took from this machine's CPUs: the scheduler takes it off what its threads ran, we do not."""
    with open("/proc/stat", encoding="ascii") as f:
        return int(f.readline().split()[8]) * 1000000000 // os.sysconf("SC_CLK_TCK")


def states_by_tid(db):
    return {r["tid"]: {s: r["counts"][s] for s in STATES} for r in rows(db, "--by", "tid")}


def folded(event, tid):
    """The call paths of a thread, outermost first, and their counts."""
    return [(";".join(path), n) for path, n in folded_paths("--event", event, "--tid", tid)]


def threads_of(text):
    """What `blocks` printed: name -> (tid, elapsed, run, wait, ...), in ns."""
    words = [line.split() for line in text.splitlines() if line.count(" ") == 7 and not line.startswith(" ")]
    return {w[0]: tuple(map(int, w[1:])) for w in words}


# Where stacks are walked: the cases run once with each.
walk_at = "auto"


def recorded_blocks(seconds, *argv, record_argv=()):
    p = subprocess.run([DWELL, "record", "--off-cpu", "--walk-at", walk_at, "--by", "tid", "--db", "db", *record_argv, "--",
                        prog("blocks"), str(longer(seconds)), *argv], capture_output=True, text=True, timeout=300, check=False)
    if "sched_exit_tp" in p.stderr:
        raise Skipped("this kernel has no sched_exit_tp")
    check(p.returncode == 0, p.stderr)
    return threads_of(p.stdout)


def eight_threads(**kw):
    """Records threads of each kind; of each its name, its tid, the scheduler's times (elapsed, ran, waited), what the
    recording has of it, and how long other machines had our CPUs."""
    stolen = stolen_ns()
    said = recorded_blocks(1, "sleeper", "spinner1", "spinner2", "spinner3", "reader", "writer", "holder", "waiter", **kw)
    stolen = stolen_ns() - stolen
    got = states_by_tid("db")
    check(len(said) == 8, said)
    for name, (tid, elapsed, ran, waited, *_) in said.items():
        g = got[tid]
        note("%-9s running %.4f (%.4f)  runnable %.4f (%.4f)  blocked %.4f" %
             (name, g["running"] / 1e9, ran / 1e9, g["runnable"] / 1e9, waited / 1e9, g["blocked"] / 1e9))
        yield name, tid, elapsed, ran, waited, g, stolen


def the_schedulers_own_account_agrees():
    for name, _, elapsed, ran, waited, g, stolen in eight_threads():
        for mine, theirs in ((g["running"], ran), (g["runnable"], waited)):
            # Both also count the thread's birth and death, before and after it looked.
            likely(abs(mine - theirs) <= TOLERANCE * elapsed + 10e6 + stolen, "%s: %d, the scheduler says %d" % (name, mine, theirs))
        total = sum(g.values())
        check(elapsed <= total, "%s: %d of %d ns accounted for" % (name, total, elapsed))
        likely(total <= elapsed + 200e6, "%s: %d of %d ns accounted for" % (name, total, elapsed))


def shares_are_what_the_threads_do():
    said = recorded_blocks(1, "sleeper", "spinner1", "spinner2", "spinner3", "reader", "writer")
    got = states_by_tid("db")

    def share(name, state):
        g = got[said[name][0]]
        return g[state] / sum(g.values())

    for name in ("spinner1", "spinner2", "spinner3"):  # three on two CPUs, or more on fewer
        likely(share(name, "blocked") < 0.01, name)
    for name in ("sleeper", "reader", "writer"):
        g = got[said[name][0]]  # how long it waits for a CPU is the others' doing
        likely(g["blocked"] > 0.9 * (g["blocked"] + g["running"]), "%s: %s" % (name, g))
    if os.cpu_count() <= 2:
        runnable = sum(share(name, "runnable") for name in ("spinner1", "spinner2", "spinner3"))
        likely(runnable > 0.7, "runnable %.3f" % runnable)


def threads_that_live_on_are_whole():
    """Threads that were there before and are after: all have the same time, to the nanosecond, also when a
    part of it was told on the way."""
    with subprocess.Popen([prog("blocks"), "100"], stdout=subprocess.DEVNULL) as p:
        try:
            wait_for(lambda: len(os.listdir("/proc/%d/task" % p.pid)) == 11, "the threads")
            start = time.monotonic()
            with Recording("--off-cpu", "--walk-at", walk_at, "--by", "tid", "-p", p.pid) as r:
                time.sleep(2.5)  # a flush comes after 2 s
            most = time.monotonic() - start
            tids = [int(t) for t in os.listdir("/proc/%d/task" % p.pid)]
        finally:
            p.kill()
    got = states_by_tid("db")
    check(set(got) == set(tids), "%s, not %s: %s" % (got, sorted(tids), r.account))
    totals = {sum(g.values()) for g in got.values()}
    check(len(totals) == 1, "different times: %s" % sorted(totals))
    check(2.5 <= totals.pop() / 1e9 <= most, "not the time of the recording")
    for e in r.account["events"]:
        likely(e["lost"] == 0, "%s lost" % e)


def blocks_are_told_by_where_they_are():
    said = recorded_blocks(1, "sleeper", "reader", "writer", "holder", "waiter")
    where = {"sleeper": "nanosleep", "reader": "pipe_read", "writer": "nanosleep", "holder": "nanosleep"}
    for name, procedure in where.items():
        tid = said[name][0]
        found = {r["procedure"]: r["counts"]["blocked"]
                 for r in rows("db", "--by", "procedure", "--tid", tid, "--event", "blocked")}
        here = sum(ns for p, ns in found.items() if procedure in p)
        likely(here > 0.9 * sum(found.values()), "%s: %s" % (name, found))
        rooted = [path for path, _ in folded("blocked", tid) if "start_thread;run;" + name in path]
        likely(rooted, "%s: %s" % (name, folded("blocked", tid)))
        check(all(";%s;" % name in path or "[truncated: " in path for path, _ in folded("blocked", tid)
                  if "nanosleep" in path or "pipe_read" in path), folded("blocked", tid))
    futex = sum(r["counts"]["blocked"] for r in rows("db", "--by", "procedure", "--tid", said["waiter"][0],
                                                     "--event", "blocked") if "futex" in r["procedure"])
    likely(futex > said["waiter"][1] / 3, "%d ns in futex(2)" % futex)


def wall_time_is_all_of_it():
    said = recorded_blocks(1, "sleeper", "spinner1", "holder", "waiter")
    parts = {r["tid"]: sum(r["counts"].values()) for r in rows("db", "--by", "tid", "--event", "+".join(STATES))}
    wall = {r["tid"]: r["counts"]["wall"] for r in rows("db", "--by", "tid", "--event", "wall")}
    check(wall == parts, "%s, not %s" % (wall, parts))
    spun = sum(ns for path, ns in folded("wall", said["spinner1"][0]) if ";spinner;" in path)
    ran = rows("db", "--by", "tid", "--event", "running", "--tid", said["spinner1"][0])[0]["counts"]["running"]
    likely(0.9 * ran < spun <= 1.01 * ran, "%d of %d ns under spinner" % (spun, ran))


def wakers_are_found():
    said = recorded_blocks(1, "reader", "writer", "holder", "waiter", record_argv=("--wakers",))
    # Who else ran when the timer came did not wake the sleepers: interrupts are nobody's.
    paths = {name: folded("woken", said[name][0]) for name in ("writer", "holder", "reader")}
    wrote = sum(ns for path, ns in paths["writer"] if "run;writer;" in path and "pipe_write" in path)
    blocked = rows("db", "--by", "tid", "--event", "blocked", "--tid", said["reader"][0])[0]["counts"]["blocked"]
    likely(0.8 * blocked < wrote <= 1.01 * blocked, "reader blocked %d, its writer ended %d" % (blocked, wrote))
    freed = sum(ns for path, ns in paths["holder"] if "run;holder;" in path and "futex_wake" in path)
    likely(freed > said["waiter"][1] / 3, "%d ns ended by the holder: %s" % (freed, paths["holder"]))
    check(not any("nanosleep" in path or "hrtimer" in path for p in paths.values() for path, _ in p), paths)


def pages_from_the_disk_are_blocks():
    if "tmpfs" in sh("stat", "-f", "-c", "%T", "."):
        raise Skipped("no disk behind this directory")
    said = recorded_blocks(1, "pager", record_argv=("--min-block", "1us"))
    faults = [(path, ns) for path, ns in folded("blocked", said["pager"][0]) if "page_fault" in path]
    ours = sum(ns for path, ns in faults if ";run;pager;" in path or "[truncated: " in path)
    likely(any(";run;pager;" in path for path, _ in faults), folded("blocked", said["pager"][0]))
    # A thread may wait for a page while it begins or ends.
    likely(ours >= 0.9 * sum(ns for _, ns in faults), faults)


def a_killed_recorder_loses_little():
    """What threads did until the last flush, after 2 s, is there, also of those that live on: all but
    the state each was in at the flush, at most a second here."""
    with running(prog("blocks"), "100", "sleeper", "spinner1", stdout=subprocess.DEVNULL) as p:
        start = time.monotonic()
        r = Recording("--off-cpu", "--walk-at", walk_at, "--by", "tid", "-p", p.pid)
        wait_for(lambda: glob.glob("db/epochs/*/*/*.seg"), "a flush")
        time.sleep(longer(0.5))  # until the manifest names it
        took = time.monotonic() - start
        r.stop(signal.SIGKILL)
    got = states_by_tid("db")
    totals = sorted(sum(g.values()) / 1e9 for g in got.values())[-2:]
    note("%s of %.2f s" % (totals, took))
    likely(len(totals) == 2 and all(0.8 <= t for t in totals), "%s of %.2f s" % (totals, took))
    check(all(t <= took + 1 for t in totals), "%s of %.2f s" % (totals, took))


def short_blocks_are_one_row():
    for shortest, is_short in (("10ms", True), ("1us", False)):
        said = recorded_blocks(1, "twitcher", record_argv=("--min-block", shortest))
        found = {r["image"]: r["counts"]["blocked"]
                 for r in rows("db", "--by", "image", "--tid", said["twitcher"][0], "--event", "blocked")}
        short = sum(ns for image, ns in found.items() if image.startswith("[blocked less than"))
        likely((short > 0.9 * sum(found.values())) == is_short, "%s: %s" % (shortest, found))


def the_whole_machine():
    start = time.monotonic()
    account = record("-a", "-d", longer(1), "--off-cpu")
    took = time.monotonic() - start
    times = {e["name"]: e["time_ns"] for e in account["events"]}
    check(all(times[s] > 0 for s in STATES), times)
    likely(times["blocked"] > 10e9, "blocked %d" % times["blocked"])  # everybody sleeps
    check(times["running"] < took * 1e9 * (os.cpu_count() or 1), "running %d in %.1f s" % (times["running"], took))


def by_records_of_switches():
    """Without BPF: the same times, but what was woken and waits for a CPU is blocked still; paths of user code."""
    global walk_at
    walk_at = "auto"
    for name, tid, elapsed, ran, waited, g, stolen in eight_threads(record_argv=("--engine", "ring")):
        slack = TOLERANCE * elapsed + 10e6 + stolen
        likely(abs(g["running"] - ran) <= slack, "%s: %d, the scheduler says %d" % (name, g["running"], ran))
        likely(g["runnable"] <= waited + slack, "%s: %d, the scheduler says %d" % (name, g["runnable"], waited))
        total = sum(g.values())
        likely(elapsed <= total <= elapsed + 200e6, "%s: %d of %d ns accounted for" % (name, total, elapsed))
        if name.startswith("spinner"):
            likely(g["blocked"] < 0.02 * elapsed, "%s: blocked %d" % (name, g["blocked"]))
            continue
        paths = folded("blocked", tid)
        here = sum(ns for path, ns in paths if "start_thread;run;" + name in path)
        likely(here > 0.9 * g["blocked"], "%s: %s" % (name, paths))
        check(all(";%s;" % name in path for path, _ in paths if "nanosleep" in path), paths)


def by_records_of_a_process():
    """Threads that were there before and are after: each has the time of the recording."""
    with subprocess.Popen([prog("blocks"), "100"], stdout=subprocess.DEVNULL) as p:
        try:
            wait_for(lambda: len(os.listdir("/proc/%d/task" % p.pid)) == 11, "the threads")
            start = time.monotonic()
            with Recording("--off-cpu", "--engine", "ring", "--by", "tid", "-p", p.pid) as r:
                time.sleep(2.5)
            most = time.monotonic() - start
            tids = [int(t) for t in os.listdir("/proc/%d/task" % p.pid)]
        finally:
            p.kill()
    got = states_by_tid("db")
    check(set(got) == set(tids), "%s, not %s: %s" % (got, sorted(tids), r.account))
    for tid, g in got.items():
        likely(2.5 <= sum(g.values()) / 1e9 <= most, "%d: %s of %.2f s" % (tid, g, most))
    for e in r.account["events"]:
        likely(e["lost"] == 0 or e["name"] not in STATES, "%s lost" % e)


def what_cannot_be_is_said():
    for argv, what in ((("-a", "-d", "1"), "--off-cpu needs the bpf engine but for"),
                       (("--wakers", "--", "true"), "--off-cpu --wakers needs the bpf engine"),
                       (("--walk-at", "exit", "--", "true"), "--off-cpu --walk-at needs the bpf engine")):
        p = dwell("record", "--off-cpu", "--engine", "ring", "--db", "db", *argv)
        check(p.returncode == 125 and what in p.stderr, p.stderr)
    p = dwell("record", "--min-block", "5", "--db", "db", "--", "true")
    check(p.returncode == 125 and "--min-block" in p.stderr, p.stderr)
    p = dwell("record", "--walk-at", "exit", "--db", "db", "--", "true")
    check(p.returncode == 125 and "--walk-at" in p.stderr, p.stderr)


def walking_at(where, case):
    def f():
        global walk_at
        walk_at = where
        case()
    f.__name__ = "%s_at_%s" % (case.__name__, where)
    return f


BOTH = (the_schedulers_own_account_agrees, threads_that_live_on_are_whole, blocks_are_told_by_where_they_are, wakers_are_found,
        short_blocks_are_one_row, pages_from_the_disk_are_blocks, a_killed_recorder_loses_little)
run(*(walking_at(where, case) for case in BOTH for where in ("exit", "switch")), wall_time_is_all_of_it, shares_are_what_the_threads_do,
    the_whole_machine, by_records_of_switches, by_records_of_a_process, what_cannot_be_is_said)
