# SPDX-License-Identifier: BSD-2-Clause
"""The rows about recording with call paths: what a sample and a frame cost, tables, bytes."""
import os
import re
import shutil
import subprocess
import time

from common import (BUILD, CPUS, DWELL, HZ, QUICK, ROOT, SPAWN, WORK, account_of, dwell_record,
                    environment, notes, one_slice, perf_record, perf_samples, record_for, rotate,
                    row, say, start_tool, tree_bytes)
from measure import CannotMeasure, Tool, bootstrap, median

ROUNDS = 4 if QUICK else 40          # of the rotations
DWARF_ROUNDS = 4 if QUICK else 24    # fewer: perf writes about 30 MB a slice
RECORD_S = 10 if QUICK else 60
DEPTHS = 10, 100                     # frames of bench_depth
DEPTH_ROUNDS = 3 if QUICK else 20

DB = os.path.join(WORK, "stacks-db")        # what rows read
ROTATION_DB = os.path.join(WORK, "rotation-db")
FP_BUILD = os.path.join(WORK, "fp")


# --- how deep stacks are ---

def dwell_depth(db):
    """(mean frames, inlined ones not counted; share of complete paths) of the latest recording."""
    out = subprocess.run([DWELL, "export", "--folded", "--no-inline", "--db", db],
                         env=environment(), capture_output=True, text=True, check=True).stdout
    n = frames = whole = 0
    for line in out.splitlines():
        path, _, count = line.rpartition(" ")
        names, count = path.split(";")[1:], int(count)
        truncated = bool(names) and names[0].startswith("[truncated: ")
        n += count
        frames += count * (len(names) - truncated)
        whole += 0 if truncated else count
    if not n:
        raise CannotMeasure("dwell export: no call paths")
    return frames / n, whole / n


def perf_depth(data, most=20000):
    """Mean frames of the first MOST samples of a perf.data, without idle CPUs'."""
    p = subprocess.Popen(["perf", "script", "--no-inline", "-F", "comm,ip", "-i",
                          os.path.join(WORK, data)], env=environment(), stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True, errors="replace")
    n = frames = 0
    idle = False
    for line in p.stdout:
        if line[0] in "\t ":
            frames += not idle
        elif line.strip():
            idle = line.startswith("swapper")
            n += not idle
            if n == most:
                break
    p.terminate()
    p.stdout.close()
    p.wait()
    if not n:
        raise CannotMeasure(f"perf script: no samples in {data}")
    return frames / n


# --- what a sample costs ---

def mean(values):
    values = list(values)
    return sum(values) / len(values)


class Costs:
    """What dwell (0) and perf (1) cost more than the bare event, a sample, in microseconds.

    The work's is put on the samples that hit the work, the tool's own on all it took: others may
    have run beside.  The work's noise has long tails, a tool's work comes in lumps: so a median of
    one and a mean of the other."""

    def __init__(self, seen, kept, taken):
        """KEPT: share of samples that were not lost; TAKEN: samples in a slice."""
        self.kept, self.taken = kept, taken
        self.rounds = [[(seen[n].work_s[i] - seen["event"].work_s[i], seen[n].work_s[i] * HZ,
                         seen[n].tool_s[i]) for n in ("dwell", "perf")]
                       for i in range(len(seen["dwell"].work_s))]

    def of_work(self, tool, rounds=None):
        r = [r[tool] for r in rounds or self.rounds]
        return median([x[0] for x in r]) / mean(x[1] for x in r) / self.kept[tool] * 1e6

    def of_tool(self, tool, rounds=None):
        return mean(r[tool][2] for r in rounds or self.rounds) / self.taken[tool] * 1e6

    def whole(self, tool, rounds=None):
        return self.of_work(tool, rounds) + self.of_tool(tool, rounds)


def sample_cost(what, perf_options, must, rounds, work=one_slice, shares=None, pause_s=0):
    """One rotation and its row.  Returns ([net BPF time of a sample in ns], mean frames)."""
    shutil.rmtree(ROTATION_DB, ignore_errors=True)
    data = "stacks.data"
    # perf last and ended first: it trips over records of BPF programs that come and go.
    tools = {"event": start_tool([os.path.join(BUILD, "bench/bench_event"), str(HZ)], "event.log"),
             "dwell": start_tool(dwell_record(ROTATION_DB, ["-g"]), "dwell.json"),
             "perf": start_tool(perf_record(data, perf_options), "perf.log")}
    ended = {}
    try:
        seen = rotate(tools, rounds, work, shares, pause_s, warm=1)
    finally:
        for name in reversed(tools):
            ended[name] = tools[name].stop()
    account = account_of("dwell.json")["events"][0]
    n_theirs, lost = perf_samples(data)
    busy = 1 - account["idle"] / account["reached"]
    slices = [rounds * (shares or {}).get(name, 1) + 1 for name in ("dwell", "perf")]
    costs = Costs(seen, (1 - account["lost"] / account["reached"], n_theirs / (n_theirs + lost)),
                  (account["reached"] * busy / slices[0], n_theirs * busy / slices[1]))
    ours = bootstrap(costs.rounds, lambda s: costs.whole(0, s))
    theirs = bootstrap(costs.rounds, lambda s: costs.whole(1, s))
    ratio = bootstrap(costs.rounds, lambda s: costs.whole(0, s) / costs.whole(1, s))
    # A cost below nothing is noise, which meets no demand.
    row(what, "%.2f us [%.2f, %.2f]" % ours, "%.1f us [%.1f, %.1f]" % theirs, ratio, f"<= {must}",
        min(ours[0], theirs[0]) > 0 and ratio[0] <= must)
    frames, whole = dwell_depth(ROTATION_DB)
    net = [a[0] / a[1] - b[0] / b[1]
           for a, b in zip(seen["dwell"].bpf, seen["event"].bpf) if a[1] and b[1]]
    if not net:
        raise CannotMeasure("no BPF run-time statistics")
    notes.append("%s: of that the work %.2f us, the recorder %.2f us; perf %.2f and %.2f us. In the BPF "
                 "program %.0f ns" % (what, costs.of_work(0), costs.of_tool(0), costs.of_work(1),
                                      costs.of_tool(1), median(net)))
    size = os.path.getsize(os.path.join(WORK, data))
    notes.append("  frames a sample: dwell %.1f (%.1f %% of the paths complete), perf %.1f; lost: dwell "
                 "%.2f %%, perf %.1f %%; perf wrote %.0f MB, %.0f bytes a sample"
                 % (frames, whole * 100, perf_depth(data), (1 - costs.kept[0]) * 100,
                    (1 - costs.kept[1]) * 100, size / 1e6, size / n_theirs))
    around = [ended[n][0] - sum(seen[n].tool_s) * (shares or {}).get(n, 1) for n in ("dwell", "perf")]
    notes.append("  start, meeting the programs, and end, not in it: dwell %.3f s, perf %.3f s" % tuple(around))
    os.remove(os.path.join(WORK, data))
    shutil.rmtree(ROTATION_DB, ignore_errors=True)
    return net, frames


def cost_without_frame_pointers():
    return sample_cost("stacks, no frame pointers, a sample", ["--call-graph", "dwarf"], 0.15,
                       DWARF_ROUNDS, shares={"event": 3, "dwell": 3}, pause_s=0.1)


# --- programs with frame pointers: dwell itself, reading a recording ---

def build_with_frame_pointers():
    say("building with frame pointers")
    quiet = {"stdout": subprocess.DEVNULL, "check": True}
    subprocess.run(["meson", "setup", FP_BUILD, ROOT, "-Doptimization=2", "-Dc_args="
                    "-fno-omit-frame-pointer -mno-omit-leaf-frame-pointer"], **quiet)
    subprocess.run(["ninja", "-C", FP_BUILD, "dwell"], **quiet)


def reading_slice(epoch):
    """A slice of work: each CPU reads the recording in several ways."""
    reader = os.path.join(FP_BUILD, "dwell")
    ways = (["tree", "--by", "address", "--percent-limit", "0", "--no-inline", "--json"],
            ["tree", "--callers", "--no-inline", "--percent-limit", "0", "--depth", "6"],
            ["export", "--folded", "--no-inline"])
    text = "\n".join(" ".join([reader] + w + ["--db", DB, "--epoch", epoch, "> /dev/null"])
                     for w in ways)

    def one():
        used = 0.0
        lanes = [subprocess.Popen(["taskset", "-c", str(cpu), "sh", "-e", "-c", text],
                                  env=environment()) for cpu in CPUS]
        for p in lanes:
            _, status, u = os.wait4(p.pid, 0)
            p.returncode = status
            if status:
                raise CannotMeasure("dwell with frame pointers failed")
            used += u.ru_utime + u.ru_stime
        return used

    return one


def cost_with_frame_pointers(epoch):
    build_with_frame_pointers()
    sample_cost("stacks, frame pointers, a sample", ["-g"], 0.7, ROUNDS, work=reading_slice(epoch))


# --- what a frame costs ---

def cost_of_a_frame(net, frames):
    """NET: of the workload's samples in rounds, ns; FRAMES: of one.  All that a sample costs there is
    put on its frames.  The other figure is what one more frame costs: of two recorders each watches
    one process, whose stack has another depth and is walked again and again."""
    seconds = DEPTH_ROUNDS * 0.4 + 10
    stacks = {n: subprocess.Popen(["taskset", "-c", str(CPUS[i % len(CPUS)]),
                                   os.path.join(BUILD, "bench/bench_depth"), str(n), str(seconds)])
              for i, n in enumerate(DEPTHS)}
    # Only for the statistics, which are on while it runs.
    event = start_tool([os.path.join(BUILD, "bench/bench_event"), "100"], "event.log")
    tools, each = {}, []
    try:
        for n, p in stacks.items():
            tools[n] = Tool(SPAWN, [DWELL, "record", "-g", "-p", str(p.pid), "-e", "cpu-clock", "-F",
                                    str(HZ), "--db", ROTATION_DB + str(n)], environment(),
                            os.path.join(WORK, "depth%d.log" % n))
            tools[n].wait_until_sampling()
        time.sleep(0.5)  # the tables are there by then
        last = {n: t.bpf_stats() for n, t in tools.items()}
        for i in range(DEPTH_ROUNDS):
            say(f"frames: round {i + 1} of {DEPTH_ROUNDS}")
            time.sleep(0.4)
            now = {n: t.bpf_stats() for n, t in tools.items()}
            each.append({n: (now[n][0] - last[n][0]) / max(now[n][1] - last[n][1], 1)
                         for n in DEPTHS})
            last = now
    finally:
        for p in stacks.values():
            p.kill()
            p.wait()
        for t in tools.values():
            t.stop()
        event.stop()
        for n in DEPTHS:
            shutil.rmtree(ROTATION_DB + str(n), ignore_errors=True)
    few, many = DEPTHS
    ours = bootstrap(net, lambda s: median(s) / frames)
    more = bootstrap(each, lambda s: median([(r[many] - r[few]) / (many - few) for r in s]))
    row("a frame, all of a sample on its %.1f" % frames, "%.0f ns [%.0f, %.0f]" % ours, "", None,
        "80 ns", ours[0] <= 80)
    notes.append("one more frame, between %d and %d deep, in a loop: %.0f ns [%.0f, %.0f]; a sample %d deep "
                 "there %.0f ns" % ((few, many) + more + (few, median([r[few] for r in each]))))


# --- tables ---

def tables(paths):
    """PATHS: executables and libraries of the corpus."""
    say("tables")
    cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True,
                         text=True).stdout.strip()
    table = code = n = 0
    ms = None
    for path in sorted(set(paths) | {cc1}):
        out = subprocess.run([os.path.join(BUILD, "bench/bench_unwind"), path],
                             capture_output=True, text=True).stdout
        m = re.search(r"built in ([\d.]+) ms, ([\d.]+) bytes a byte of code, code ([\d.]+) MB", out)
        if not m:  # no frame information
            continue
        n += 1
        table += float(m.group(2)) * float(m.group(3))
        code += float(m.group(3))
        if path == cc1:
            ms, of_cc1, code_of_cc1 = [float(x) for x in m.groups()]
    if ms is None:
        raise CannotMeasure("bench_unwind: no table of cc1")
    row("unwind table: cc1, read and build", "%.1f ms" % ms, "", None, "<= 0.3 s", ms <= 300)
    row("unwind table: cc1, bytes a byte of code", "%.3f" % of_cc1, "", None, "<= 0.2", of_cc1 <= 0.2)
    if n > 1:
        row("unwind tables: all of the corpus, the same", "%.3f" % (table / code), "", None, "<= 0.2",
            table / code <= 0.2)
    notes.append("unwind tables: cc1 has %.0f MB of code, the %d files of the corpus %.0f MB"
                 % (code_of_cc1, n, code))


# --- a long recording ---

def recordings():
    """Returns the epoch, which is left to be read."""
    if shutil.disk_usage(WORK).free < 4 << 30:
        raise CannotMeasure("less than 4 GB free for recordings")
    say(f"recording {RECORD_S} s of stacks with dwell")
    ours = record_for(dwell_record(DB, ["-g"]), "dwell.json", RECORD_S)
    say(f"recording {RECORD_S} s of stacks with perf")
    theirs = record_for(perf_record("stacks.data", ["-g"]), "perf.log", RECORD_S)
    account = account_of("dwell.json")
    event, data = account["events"][0], os.path.join(WORK, "stacks.data")
    n = event["samples"]
    disk = tree_bytes(os.path.join(DB, "epochs", account["epoch"])) / max(n, 1)
    perf_disk = os.path.getsize(data) / perf_samples("stacks.data")[0]
    row(f"stacks, bytes on disk a sample, {RECORD_S} s", "%.2f" % disk, "-g %.1f" % perf_disk,
        disk / perf_disk, "4 B", disk <= 4)
    paths = event["call_paths"]
    notes.append("of %d samples %.2f %% have complete call paths, %.2f %% guessed frames; %d contexts; "
                 "recorder: dwell %.3f s of CPU, %.1f MB, perf -g (broken stacks) %.3f s, %.1f MB"
                 % (n, paths["complete"] * 100 / n, paths["guessed"] * 100 / n,
                    account["call_paths"]["contexts"], *ours[:2], *theirs[:2]))
    os.remove(data)
    return account["epoch"]


# --- all of them ---

def measure(corpus_paths):
    epoch = recordings()
    net, frames = cost_without_frame_pointers()
    cost_with_frame_pointers(epoch)
    cost_of_a_frame(net, frames)
    tables(corpus_paths)
