# SPDX-License-Identifier: BSD-2-Clause
"""What all rows share: where things are, the table, the workload, recording it for a while."""
import json
import mmap
import os
import random
import shutil
import struct
import subprocess
import sys
import time

from measure import CannotMeasure, Tool, bootstrap, median, median_ratio

HZ = 5200
QUICK = os.environ.get("BENCH_QUICK", "0") not in ("", "0")
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build"))
WORK = os.path.join(BUILD, "bench-work")
DB = os.path.join(WORK, "db")
DWELL = os.path.join(BUILD, "dwell")
SPAWN = os.path.join(BUILD, "bench/bench_spawn")
CPUS = sorted(os.sched_getaffinity(0))

rows, notes = [], []


def say(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def row(what, ours, theirs, ratio, must, ok):
    """RATIO: (value, low, high), or one value.  OK None: no demand."""
    if isinstance(ratio, tuple):
        text = "%.4g [%.4g, %.4g]" % ratio
    else:
        text = "%.4g" % ratio if ratio is not None else "-"
    rows.append((what, ours, theirs, text, must, "" if ok is None else "ok" if ok else "MISSED"))


# --- the tools and the workload ---

def environment():
    env = dict(os.environ, HOME=os.path.join(WORK, "home"), LC_ALL="C", TZ="UTC")
    for name in ("DEBUGINFOD_URLS", "DWELLDB", "DCPIDB", "PERF_BUILDID_DIR"):
        env.pop(name, None)
    return env


def dwell_record(db=DB, options=(), hz=HZ):
    return [DWELL, "record", "-a", "-e", "cpu-clock", "-F", str(hz), "--json", "--db", db,
            *options]


def perf_record(data, options=(), hz=HZ):
    return ["perf", "record", "-q", "-a", "-e", "cpu-clock", "-F", str(hz),
            "-o", os.path.join(WORK, data), *options]


def make_workload():
    """What bench/workload works on: a preprocessed C file, a script, bytes to compress."""
    source = os.path.join(ROOT, "src/resolve/disasm_att.c")
    with open(os.path.join(WORK, "input.i"), "w") as out:
        subprocess.run(["gcc", "-E", "-D_GNU_SOURCE", "-I" + os.path.join(ROOT, "src"), source],
                       stdout=out, check=True)
    shutil.copy(os.path.join(HERE, "compute.py"), WORK)
    with open(DWELL, "rb") as f, open(os.path.join(WORK, "input.bin"), "wb") as out:
        out.write(f.read(1500000))


def start_lane(i):
    return subprocess.Popen(["taskset", "-c", str(CPUS[i]), "sh", os.path.join(HERE, "workload"),
                             WORK, str(i)], stdout=subprocess.DEVNULL)


def one_slice():
    """CPU seconds of one slice: every CPU does its share once."""
    used = 0.0
    for p in [start_lane(i) for i in range(len(CPUS))]:
        _, status, u = os.wait4(p.pid, 0)
        p.returncode = status
        if status:
            raise CannotMeasure("the workload failed")
        used += u.ru_utime + u.ru_stime
    return used


# --- the rotation ---

class Slices:
    """What was measured of one tool: a list entry per round, and the sums."""

    def __init__(self):
        self.work_s, self.tool_s, self.bpf = [], [], []  # means of the round's slices; sums
        self.all_work_s = 0.0


def rotate(tools, rounds, work=one_slice, shares=None, pause_s=0, warm=0):
    """Runs the rounds; in each, every tool (None: no tool) samples during one slice of WORK, or as
    many as SHARES says.  PAUSE_S: between slices, for tools that have much to write.  WARM: slices
    of each tool before anything is counted, so that it has met the programs."""
    seen = {name: Slices() for name in tools}
    shares = shares or {}
    rng = random.Random(7)
    work()  # warms the caches
    for tool in tools.values():
        for _ in range(warm if tool else 0):
            tool.enable(True)
            work()
            tool.enable(False)
    time.sleep(pause_s)
    last_ns = {name: t.cpu_ns() for name, t in tools.items() if t}
    for i in range(rounds):
        names = [name for name in tools for _ in range(shares.get(name, 1))]
        rng.shuffle(names)
        work_s, bpf = {name: [] for name in tools}, {name: [0, 0] for name in tools}
        for name in names:
            tool = tools[name]
            say(f"rotation: round {i + 1} of {rounds}: {name}")
            before = tool.bpf_stats() if tool else (0, 0)
            if tool:
                tool.enable(True)
            work_s[name].append(work())
            if tool:
                tool.enable(False)
                after = tool.bpf_stats()
                bpf[name][0] += after[0] - before[0]
                bpf[name][1] += after[1] - before[1]
            time.sleep(pause_s)
        # A tool also works after its slice, on what it gathered: all of the round is its own.
        for name, s in seen.items():
            s.work_s.append(sum(work_s[name]) / len(work_s[name]))
            s.all_work_s += sum(work_s[name])
            if tools[name]:
                now_ns = tools[name].cpu_ns()
                s.tool_s.append((now_ns - last_ns[name]) / 1e9 / len(work_s[name]))
                s.bpf.append(tuple(bpf[name]))
                last_ns[name] = now_ns
    return seen


def start_tool(command, log):
    tool = Tool(SPAWN, command, environment(), os.path.join(WORK, log))
    tool.wait_until_sampling()
    tool.enable(False)
    return tool


# --- recording for a while ---

def record_for(command, log, seconds, lane=start_lane):
    """(CPU seconds, peak MB, CPU seconds from sampling to the end of the work) of recording SECONDS
    while every CPU works: LANE starts the work of one."""
    tool = Tool(SPAWN, command, environment(), os.path.join(WORK, log))
    tool.wait_until_sampling()
    before, end = tool.cpu_ns(), time.monotonic() + seconds
    lanes = [lane(i) for i in range(len(CPUS))]
    while time.monotonic() < end:
        for i, p in enumerate(lanes):
            if p.poll() is not None:
                lanes[i] = lane(i)
        time.sleep(0.01)
    between = (tool.cpu_ns() - before) / 1e9
    used = tool.stop() + (between,)
    for p in lanes:
        p.wait()
    return used


def tree_bytes(path):
    return sum(os.path.getsize(os.path.join(folder, name))
               for folder, _, names in os.walk(path) for name in names)


def account_of(log):
    """What dwell record said at its end."""
    try:
        return json.load(open(os.path.join(WORK, log)))
    except ValueError:
        raise CannotMeasure("dwell record: "
                            + open(os.path.join(WORK, log + ".err")).read().strip()) from None


def perf_samples(data):
    """(samples in a perf.data, samples it says were lost).  Read here, by the records' headers
    (perf.data-file-format.txt, struct perf_event_header): perf refuses a file with one bad record."""
    n = lost = 0
    with open(os.path.join(WORK, data), "rb") as f, \
            mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as m:
        at, size = struct.unpack_from("<QQ", m, 40)
        end = at + size
        while at + 8 <= end:
            kind, _, size = struct.unpack_from("<IHH", m, at)
            n += kind == 9                                     # PERF_RECORD_SAMPLE
            if kind == 13:                                     # PERF_RECORD_LOST_SAMPLES
                lost += struct.unpack_from("<Q", m, at + 8)[0]
            if size < 8:
                break
            at += size
    if not n:
        raise CannotMeasure(f"perf: no samples in {data}")
    return n, lost


def add_median_row(name, pairs, unit, scale, most):
    """A row of the medians of [(ours, theirs)] and of their ratio, which must be at most MOST."""
    ratio = bootstrap(pairs, median_ratio)
    row(name, "%.1f %s" % (median([a for a, _ in pairs]) * scale, unit),
        "%.1f %s" % (median([b for _, b in pairs]) * scale, unit), ratio, f"<= {most}",
        ratio[0] <= most)
