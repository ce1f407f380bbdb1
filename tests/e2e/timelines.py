#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Time lines of threads.  The program `blocks` says which thread did what, and for how long it ran."""
import json
import math
import time

from e2e import SIGMAS, Skipped, account_of, check, dwell, enough, least, likely, longer, note, prog, run

PERIOD_NS = 1000000


def traced(*argv, record_argv=()):
    p = dwell("record", "--json", "--trace", "-e", "cpu-clock:%d" % PERIOD_NS, *record_argv, "--db", "db", "--",
              prog("blocks"), *argv)
    if "sched_exit_tp" in p.stderr:
        raise Skipped("this kernel has no sched_exit_tp")
    check(p.returncode == 0, p.stderr)
    said = [line.split() for line in p.stdout.splitlines() if line.count(" ") == 7 and not line.startswith(" ")]
    return account_of(p.stdout), {w[0]: tuple(map(int, w[1:])) for w in said}


def trace(*argv):
    return json.loads(dwell("trace", "--db", "db", "--json", *argv).stdout)


def every_sample_is_a_point():
    before = time.time()
    account, said = traced(str(longer(1)), "spinner1", "sleeper")
    after = time.time()
    samples = account["events"][0]["samples"]
    check(account["traces"]["points"] == samples and account["traces"]["trace_full"] == 0, account["traces"])
    shown = trace("--range", "..")
    check(len(shown["points"]) == samples == sum(t["points"] for t in shown["threads"]), "%d points" % len(shown["points"]))
    tid, elapsed, ran, _, spun, pauses, _ = said["spinner1"]
    (line,) = [t for t in shown["threads"] if t["tid"] == tid]
    note("spinner: %d points, ran %.3f s, spun %.3f s, %d pauses" % (line["points"], ran / 1e9, spun / 1e9, pauses))
    # Each pause may bring a point more or less, as often this as that; the thread also begins and ends.
    enough(line["points"], 100, "points")
    likely(abs(line["points"] - spun / PERIOD_NS) < 0.05 * spun / PERIOD_NS + SIGMAS * math.sqrt(pauses) + 10, line)
    # Its life as it saw it itself lies within the line, which lies within the recording.
    check(line["end_ns"] - line["start_ns"] >= elapsed, line)
    likely(line["end_ns"] - line["start_ns"] - elapsed < 100e6 * longer(1), line)
    check(before * 1e9 <= line["start_ns"] <= line["end_ns"] <= after * 1e9, "%s %s" % (line, (before, after)))
    times = [p["time_ns"] for p in shown["points"] if p["tid"] == tid]
    check(times == sorted(times) and line["start_ns"] <= times[0] and times[-1] <= line["end_ns"], line)
    # Points come when the thread has run for a period: never closer than what a late interrupt makes up for.
    close = sum(b - a < PERIOD_NS // 2 for a, b in zip(times, times[1:]))
    likely(close < len(times) / 10 + pauses, "%d of %d points are close to the one before" % (close, len(times)))


def points_say_where_the_thread_was():
    _, said = traced(str(longer(1)), "spinner1", "spinner2", record_argv=("-g",))
    for name in ("spinner1", "spinner2"):
        points = trace("--tid", said[name][0], "--depth", "0")["points"]
        inside = sum("spinner < run < start_thread" in p["path"] for p in points)
        enough(len(points), 100, "points")
        least(inside, len(points), 0.9, "where it was")


def blocks_are_points_too():
    _, said = traced(str(longer(1)), "sleeper", record_argv=("--off-cpu",))
    sleeps = said["sleeper"][-1]
    points = trace("--tid", said["sleeper"][0], "--event", "blocked")["points"]
    enough(sleeps, 5, "sleeps of 50 ms")
    # When each block ended is a point, too, of the event that says what came then.
    ready = [p["time_ns"] for p in trace("--tid", said["sleeper"][0], "--event", "runnable")["points"]]
    check(len(ready) == len(points), "%d ends of %d blocks" % (len(ready), len(points)))
    # It may have waited for memory as well.
    likely(len(points) <= sleeps + 2, "%d blocks, slept %d times" % (len(points), sleeps))
    both = [(a, b) for a, b in zip(points, ready) if a["path"].startswith("hrtimer_nanosleep")]
    likely(len(both) == sleeps, "%d blocks in nanosleep, slept %d times: %s" % (len(both), sleeps, points))
    check(all(b - a["time_ns"] >= 50e6 for a, b in both), "%s %s" % (points, ready))
    points = [a for a, _ in both]
    gaps = [(b["time_ns"] - a["time_ns"]) / 1e6 for a, b in zip(points, points[1:])]
    check(min(gaps) >= 50, "%s" % gaps)


def room_is_bounded_and_what_is_dropped_counted():
    # A fixed amount of work, not a time: some 2 s on a CPU, so 100,000 samples however busy the machine is.
    p = dwell("record", "--json", "--trace", "--trace-memory", "1M", "-e", "cpu-clock:20000", "--db", "db", "--",
              prog("shares"), longer(1400))
    check(p.returncode == 0, p.stderr)
    account = account_of(p.stdout)
    t, samples = account["traces"], account["events"][0]["samples"]
    note("%s of %d samples" % (t, samples))
    check(t["points"] + t["trace_full"] == samples, t)
    likely(t["trace_full"] > 0, "all of it had room")
    check(1 << 14 <= t["points"] <= 1 << 16, t)
    check(trace()["dropped"] == t["trace_full"], "kept with the recording")


def other_engine():
    account, said = traced(str(longer(0.5)), "spinner1", record_argv=("--engine", "ring"))
    check(account["traces"]["points"] == account["events"][0]["samples"], account)
    check([t["tid"] for t in trace("--tid", said["spinner1"][0])["threads"]] == [said["spinner1"][0]], "its line")


run(every_sample_is_a_point, points_say_where_the_thread_was, blocks_are_points_too,
    room_is_bounded_and_what_is_dropped_counted, other_engine)
