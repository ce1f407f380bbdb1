# SPDX-License-Identifier: BSD-2-Clause
"""The rows about recording without call paths, reading that, symbols and starting."""
import os
import re
import shutil
import subprocess

from common import (BUILD, CPUS, DB, DWELL, HZ, QUICK, SPAWN, WORK, account_of, add_median_row,
                    dwell_record, environment, notes, perf_record, perf_samples, record_for, rotate,
                    row, say, start_tool, tree_bytes)
from measure import CannotMeasure, bootstrap, median, median_ratio, run_once, sum_ratio, time_to_sampling

ROUNDS = 8 if QUICK else 100         # of the rotation: each tool samples one slice in a round
RECORD_S = 10 if QUICK else 60       # the recordings that are stored and read
RECORDINGS = 1 if QUICK else 5        # of each tool, in turn
REPORTS = 4 if QUICK else 15         # readings of each
STARTS = 4 if QUICK else 15
SLEEP_S = 0.3                        # what is recorded between start and end
START_CPU_S = 0.015
LOOKUPS = 20000, 500 if QUICK else 2000  # distinct addresses a file: ours, libdwfl's


def rotation():
    tools = {"no tool": None,
             "event": start_tool([os.path.join(BUILD, "bench/bench_event"), str(HZ)], "event.log"),
             "perf": start_tool(perf_record("rotation.data"), "perf.log"),
             "dwell": start_tool(dwell_record(), "dwell.log")}
    try:
        seen = rotate(tools, ROUNDS)
    finally:
        ended = {name: t.stop() for name, t in tools.items() if t}
    in_kernel_rows(seen)
    user_side_rows(seen, ended)


def in_kernel_rows(seen):
    """Our program's time net of the empty one's, beside the event's interrupt: what a slice's work
    costs more with the bare event on, for each sample taken meanwhile."""
    mean = {name: [ns / n for ns, n in seen[name].bpf if n] for name in ("event", "dwell")}
    if not all(mean.values()):
        raise CannotMeasure("no BPF run-time statistics")
    event = [(on - off) / (on * HZ) * 1e9
             for on, off in zip(seen["event"].work_s, seen["no tool"].work_s)]
    each = list(zip(mean["dwell"], mean["event"], event))

    def net(sample):
        return median([a - b for a, b, _ in sample])

    def ratio(sample):
        return net(sample) / median([c for _, _, c in sample])

    ours, floor = bootstrap(each, net), median(event)
    low, high = bootstrap(event, median)[1:]
    row("in kernel, a sample", "%.0f ns [%.0f, %.0f]" % ours,
        "event %.1f us [%.1f, %.1f]" % (floor / 1e3, low / 1e3, high / 1e3),
        bootstrap(each, ratio), "<= 0.01, 150 ns", ours[0] <= 150 and ours[0] <= 0.01 * floor)
    notes.append("an empty BPF program, which is taken off: %.0f ns a run; ours with it: %.0f ns"
                 % (median(mean["event"]), median(mean["dwell"])))


def user_side_rows(seen, ended):
    n = ROUNDS
    pairs = list(zip(seen["dwell"].tool_s, seen["perf"].tool_s))
    around = [ended[name][0] - sum(seen[name].tool_s) for name in ("dwell", "perf")]

    def whole(sample):
        return ((sum(a for a, _ in sample) + around[0]) / (sum(b for _, b in sample) + around[1]))

    ratio = bootstrap(pairs, whole)
    sampled_s = sum(seen["dwell"].work_s) / len(CPUS)
    row("recorder's CPU, %.0f s of work" % sampled_s, "%.3f s" % ended["dwell"][0],
        "%.3f s" % ended["perf"][0], ratio, "<= 0.15", ratio[0] <= 0.15)
    notes.append("of that, start and end: dwell %.3f s, perf %.3f s" % tuple(around))
    total = [(a + ended["dwell"][0] / n, b + ended["perf"][0] / n)
             for a, b in zip(seen["dwell"].work_s, seen["perf"].work_s)]
    ratio = bootstrap(total, median_ratio)
    row("work and recorder, CPU a slice", "%.3f s" % median([a for a, _ in total]),
        "%.3f s" % median([b for _, b in total]), ratio, "upper <= 1.02", ratio[2] <= 1.02)
    off = median(seen["no tool"].work_s)
    notes.append("a slice of work: %.3f s of CPU; with the bare event %+.1f %%, perf %+.1f %%, dwell %+.1f %%"
                 % ((off,) + tuple(median([x / y - 1 for x, y in zip(seen[k].work_s,
                                                                     seen["no tool"].work_s)]) * 100
                                   for k in ("event", "perf", "dwell"))))


# --- one long recording by each, and reading it ---

def first_recordings():
    """Both recorders keep symbols of files they meet for the first time: that is done once, here, so
    that what is measured later is what every further recording costs."""
    say("first recordings")
    ours = record_for(dwell_record(), "dwell.json", 3)
    theirs = record_for(perf_record("first.data"), "perf.log", 3)
    notes.append("the first recording, 3 s, with all symbols still to keep: dwell %.3f s of CPU, "
                 "%.1f MB, perf %.3f s, %.1f MB" % (ours[0], ours[1], theirs[0], theirs[1]))


def long_pair(i):
    """Recordings of RECORD_S by each, in either order: (ours, theirs), as record_for tells."""
    seen = {}
    for tool in ("dwell", "perf")[::1 if i % 2 else -1]:
        say(f"recording {RECORD_S} s with {tool}: {i + 1} of {RECORDINGS + 1}")
        seen[tool] = record_for(dwell_record(), "dwell.json", RECORD_S) if tool == "dwell" else \
            record_for(perf_record("long.data"), "perf.log", RECORD_S)
    return seen["dwell"], seen["perf"]


def recordings():
    pairs = [long_pair(i) for i in range(RECORDINGS + 1)][1:]  # in the first one both keep what 3 s did not show
    notes.append("CPU of each recording of %d s: %s" % (RECORD_S, ", ".join("%.3f beside %.3f" % (a[0], b[0]) for a, b in pairs)))
    cpu = bootstrap([(a[0], b[0]) for a, b in pairs], sum_ratio)
    ours, theirs = ([median([p[side][k] for p in pairs]) for k in range(3)] for side in (0, 1))
    account = account_of("dwell.json")
    event, data = account["events"][0], os.path.join(WORK, "long.data")
    n_ours, n_theirs = event["samples"], perf_samples("long.data")[0]
    if not n_ours:
        raise CannotMeasure("dwell's recording has no samples")
    row(f"recorder's CPU, {RECORD_S} s, start and end", "%.3f s" % ours[0], "%.3f s" % theirs[0], cpu, "<= 0.3", cpu[0] <= 0.3)
    disk = tree_bytes(os.path.join(DB, "epochs", account["epoch"])) / n_ours
    row(f"bytes on disk a sample, {RECORD_S} s", "%.3f" % disk,
        "%.1f" % (os.path.getsize(data) / n_theirs),
        disk / (os.path.getsize(data) / n_theirs), "0.5 B", disk <= 0.5)
    row("recorder's peak memory", "%.1f MB" % ours[1], "%.1f MB" % theirs[1], ours[1] / theirs[1],
        "25 MB", ours[1] <= 25)
    notes.append("of the %d s recordings' CPU, while the work ran: dwell %.3f s, perf %.3f s; the "
                 "rest is start and end" % (RECORD_S, ours[2], theirs[2]))
    notes.append("samples: dwell %d (lost %d, not delivered %d, unknown %d), perf %d"
                 % (n_ours, event["lost"], event["not_delivered"], event["unknown"], n_theirs))
    notes.append("symbols kept besides: dwell %.1f MB (DB/images), perf %.1f MB (~/.debug)"
                 % (tree_bytes(os.path.join(DB, "images")) / 1e6,
                    tree_bytes(os.path.join(WORK, "home/.debug")) / 1e6))


def read_both(cold):
    """[(ours, theirs)], each (CPU seconds, peak MB), one pair a reading."""
    pairs = []
    for i in range(REPORTS):
        say(f"reading, {'cold' if cold else 'warm'}: {i + 1} of {REPORTS}")
        if cold:
            shutil.rmtree(os.path.join(DB, "images"), ignore_errors=True)
            shutil.rmtree(os.path.join(WORK, "home/.debug"), ignore_errors=True)
        pairs.append((run_once(SPAWN, [DWELL, "prof", "--by", "procedure", "--db", DB],
                               environment()),
                      run_once(SPAWN, ["perf", "report", "--stdio", "-i",
                                       os.path.join(WORK, "long.data")], environment())))
    return pairs


def reports():
    for cold, limit in (False, 0.1), (True, 0.3):
        pairs, name = read_both(cold), "cold" if cold else "warm"
        for k, (what, unit, scale, most) in enumerate((("CPU", "ms", 1e3, limit),
                                                       ("peak memory", "MB", 1, 0.5))):
            add_median_row(f"prof, symbol cache {name}: {what}",
                           [(a[k], b[k]) for a, b in pairs], unit, scale, most)


# --- symbols ---

def lookup_files():
    cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True)
    libs = subprocess.run(["ldd", shutil.which("clang"), DWELL], capture_output=True, text=True)
    found = re.findall(r"(/\S*(?:libLLVM|libc\.so)\S*)", libs.stdout)
    return [cc1.stdout.strip()] + sorted(set(found)) + [DWELL]


def lookups():
    for path in lookup_files():
        pairs, same = [], None
        for i in range(2 if QUICK else 5):
            say(f"look-ups in {path}")
            out = subprocess.run([os.path.join(BUILD, "bench/bench_lookup"), path]
                                 + [str(n) for n in LOOKUPS],
                                 capture_output=True, text=True).stdout
            m = re.search(r"dwell ([\d.]+) ns each.*libdwfl ([\d.]+)", out)
            if not m:
                raise CannotMeasure(f"bench_lookup {path}: {out.strip()}")
            pairs.append((float(m.group(1)), float(m.group(2))))
        ours = median([a for a, _ in pairs])
        row("symbol look-up: " + os.path.basename(path), "%.0f ns" % ours,
            "libdwfl %.1f us" % (median([b for _, b in pairs]) / 1e3),
            bootstrap(pairs, median_ratio), "100 ns", ours <= 100)


# --- sample sets ---

def sample_sets():
    say("columns of sample sets")
    out = subprocess.run([os.path.join(BUILD, "bench/bench_sets"), "1000000", "5" if QUICK else "21"],
                         capture_output=True, text=True).stdout
    m = re.search(r"^ *([\d.]+) +([\d.]+)  retired\^!mispredicted$", out, re.M)
    if not m:
        raise CannotMeasure(f"bench_sets: {out.strip()}")
    ours = float(m.group(2))
    row("a sample set over 10^6 addresses and vectors", "%.1f ms" % ours, "-", None, "50 ms", ours <= 50)


# --- starting ---

def starts():
    env, log = environment(), os.path.join(WORK, "start.log")
    pairs = []
    for i in range(STARTS):
        say(f"starting: {i + 1} of {STARTS}")
        pairs.append((time_to_sampling(dwell_record(), env, log),
                      time_to_sampling(perf_record("start.data"), env, log)))
    ratio = bootstrap(pairs, median_ratio)
    row("exec to sampling on every CPU", "%.1f ms" % median([a for a, _ in pairs]),
        "%.1f ms" % median([b for _, b in pairs]), ratio, "<= 1", ratio[0] <= 1)


def start_and_end(more):
    """CPU time of recording a command that sleeps for SLEEP_S, with options MORE."""
    pairs = []
    for i in range(STARTS):
        say(f"start and end: {i + 1} of {STARTS}")
        pairs.append([run_once(SPAWN, [*command, "--", "sleep", str(SLEEP_S)], environment())[0]
                      for command in (dwell_record(DB, more), perf_record("start.data", more))])
    ours = bootstrap([a for a, _ in pairs], median)
    row(" ".join(["start and end, CPU time", *more]), "%.1f ms [%.1f, %.1f]" % tuple(a * 1e3 for a in ours),
        "%.1f ms" % (median([b for _, b in pairs]) * 1e3), bootstrap(pairs, median_ratio), "%.0f ms" % (START_CPU_S * 1e3),
        ours[0] <= START_CPU_S)


# --- all of them ---

def measure():
    first_recordings()
    starts()
    start_and_end([])
    start_and_end(["-g"])
    rotation()
    recordings()
    reports()
    lookups()
    sample_sets()
