# SPDX-License-Identifier: BSD-2-Clause
"""The row about call paths that reach the entry of their process or thread, over Debian programs at
work (bench/corpus).

What counts is the outermost frame alone, the same way for both tools: it must lie where the frame
information says that the return address is undefined (_start, clone: bench_entry looks it up) or at
a file's entry point, or, without a user part, where the kernel starts a new thread.

A program runs twice under each recorder, for WARM seconds and for SECONDS; the samples of the
second run's processes count, those of the first are told apart: a recorder that has just been
started, or a program nobody has seen, costs the first moments."""
import collections
import json
import os
import re
import subprocess

from common import (BUILD, DWELL, HERE, QUICK, WORK, dwell_record, environment, notes, perf_record,
                    row, say)
from measure import CannotMeasure

HZ = 997
WARM, SECONDS = (2, 3) if QUICK else (2, 8)  # of each program, by each tool
SCRIPT = os.path.join(HERE, "corpus/corpus")
DB = os.path.join(WORK, "corpus-db")

# Each program by the names its processes and threads have.
COMMS = {
    "gcc": {"cc1", "as", "gcc"},
    "python": {"python3"},
    "node": {"node"},
    "postgres": {"postgres"},
    "nginx": {"nginx"},
    "perl": {"perl"},
    "git": {"git"},
    "xz": {"xz"},
    "sqlite": {"sqlite3"},
}
THREAD_STARTS = {"ret_from_fork_asm", "ret_from_fork"}  # arch/x86/entry/entry_64.S
LEAVING = {"do_exit", "begin_new_exec"}                 # kernel/exit.c, fs/exec.c


def run_corpus(program, seconds):
    done = subprocess.run([SCRIPT, program, os.path.join(WORK, "corpus", program), str(seconds)],
                          env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True)
    if done.returncode:
        raise CannotMeasure(f"corpus {program}: {done.stderr.strip()[-300:]}")


def record(command, program):
    """Records both runs.  Returns a process id: those of the second run are larger."""
    between = os.path.join(WORK, "between")
    where = os.path.join(WORK, "corpus", program)
    script = (f"'{SCRIPT}' {program} '{where}' {WARM} && sh -c 'echo $$' > '{between}' && "
              f"'{SCRIPT}' {program} '{where}' {SECONDS}")
    done = subprocess.run(command + ["--", "sh", "-c", f"{{ {script}; }} > /dev/null"],
                          env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True)
    if done.returncode:
        raise CannotMeasure(f"{command[0]}, corpus {program}: {done.stderr.strip()[-300:]}")
    with open(between) as f:
        return int(f.read())


class Paths:
    """Samples of one program by one tool, by how their paths end."""

    def __init__(self):
        self.places = collections.Counter()  # (kind, address, file) -> samples
        self.why_not = collections.Counter()  # cause -> samples
        self.whole = 0                       # kernel only, from the start of a thread
        self.gone = 0                        # of processes without memory: no user stack is left

    def judge(self):
        """(samples, those that reach an entry)."""
        places = list(self.places)
        out = subprocess.run([os.path.join(BUILD, "bench/bench_entry")], capture_output=True,
                             text=True, check=True,
                             input="".join("%s %x %s\n" % p for p in places)).stdout.split()
        reached = self.whole
        for place, is_entry in zip(places, out):
            if is_entry == "1":
                reached += self.places[place]
            else:
                self.why_not["at %s %s%#x" % (os.path.basename(place[2]),
                                              "" if place[0] == "svma" else "file offset ",
                                              place[1])] += self.places[place]
        return self.total(), reached

    def total(self):
        return self.whole + sum(self.places.values()) + sum(
            n for cause, n in self.why_not.items() if not cause.startswith("at "))


def our_paths(program, between):
    """dwell's of the first and of the second run, from the rows at the top of the tree."""
    out = subprocess.run([DWELL, "tree", "--by", "comm,pid,address", "--depth", "3",
                          "--percent-limit", "0", "--no-inline", "--json", "--db", DB],
                         env=environment(), capture_output=True, text=True, check=True).stdout
    rows, runs, parts = json.loads(out)["rows"], (Paths(), Paths()), {}
    comms = set()
    for r in rows:
        if r["kind"] == "comm" and r["name"] in COMMS[program]:
            comms.add(r["id"])
        elif r["kind"] == "pid" and r["parent"] in comms:
            parts[r["id"]] = runs[int(r["name"]) > between]
        elif r["parent"] in parts:
            add_our_row(parts[r["parent"]], r)
    return runs


def add_our_row(paths, r):
    n = r["inclusive"]["cpu-clock"]
    if r["kind"] != "address":
        if r["name"] == "[truncated: process exiting]":
            paths.gone += n
        else:
            paths.why_not[r["name"]] += n
    elif r["image_kind"] == "kernel":
        if r["name"] in THREAD_STARTS:
            paths.whole += n
        else:
            paths.why_not["kernel only: " + r["name"]] += n
    elif r["image_kind"] == "file" and r["image"].startswith("/"):
        # Where two images have one path, the name says which is meant: "/PATH (BUILD-ID...)".
        path = re.sub(r" \([0-9a-f]{6,}\)$", "", r["image"])
        paths.places["svma", int(r["svma"], 16), path] += n
    else:
        paths.why_not["%s (%s)" % (r["image"], r["image_kind"])] += n


def perf_frames(data):
    """Yields (comm, pid, [(address, symbol, file)]) of each sample, innermost first; addresses of user
    code are offsets in their files."""
    p = subprocess.Popen(["perf", "script", "--no-inline", "-F", "comm,pid,ip,sym,dso", "-i", data],
                         env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         text=True, errors="replace")
    frame = re.compile(r"\s+([0-9a-f]+) (.*) \((.*)\)$")
    head, frames = None, []
    for line in p.stdout:
        m = frame.match(line)
        if m:
            frames.append((int(m.group(1), 16), m.group(2), m.group(3)))
        elif line.strip():
            head, frames = line.split(), []
        elif head:
            yield " ".join(head[:-1]), int(head[-1]), frames
            head = None
    p.wait()


def perf_paths(program, data, between):
    runs = Paths(), Paths()
    for comm, pid, frames in perf_frames(data):
        if comm in COMMS[program]:
            add_perf_path(runs[pid > between], frames)
    return runs


def add_perf_path(paths, frames):
    if not frames:
        paths.why_not["no frames"] += 1
        return
    at, name, file = frames[-1]
    if at == (1 << 64) - 1:
        paths.why_not["stack copy too short"] += 1
    elif at >> 63:
        if name in THREAD_STARTS:
            paths.whole += 1
        elif LEAVING & {f[1] for f in frames}:
            paths.gone += 1
        else:
            paths.why_not["kernel only"] += 1
    elif file.startswith("/"):
        paths.places["off", at, file] += 1
    else:
        paths.why_not[file] += 1


def one_program(program):
    """[(samples, reached, without memory)] of: dwell, perf, dwell's and perf's first run."""
    say(f"corpus: {program}")
    run_corpus(program, 1)  # makes its material; warms the caches
    between = record(dwell_record(DB, ["-g", "--by", "pid"], HZ), program)
    ours = our_paths(program, between)
    data = os.path.join(WORK, "corpus.data")
    for _ in range(3):  # a perf.data is sometimes damaged while somebody loads BPF programs
        between = record(perf_record("corpus.data", ["--call-graph", "dwarf"], HZ), program)
        theirs = perf_paths(program, data, between)
        os.remove(data)
        if theirs[1].total():
            break
    judged = [p.judge() + (p.gone,) for p in (ours[1], theirs[1], ours[0], theirs[0])]
    if not all(n for n, _, _ in judged[:2]):
        raise CannotMeasure(f"corpus {program}: no samples: {judged}")
    notes.append("%s: dwell %d of %d (and %d without memory)%s; perf %d of %d (%d)%s"
                 % (program, judged[0][1], judged[0][0], judged[0][2], causes(ours[1]),
                    judged[1][1], judged[1][0], judged[1][2], causes(theirs[1])))
    return judged


def causes(paths):
    most = paths.why_not.most_common(12 if os.environ.get("BENCH_DEBUG") else 3)
    return "".join(", %s: %d" % kv for kv in most)


def mapped_files():
    """Programs and libraries the corpus spent time in."""
    out = subprocess.run([DWELL, "tree", "--flat", "--by", "image", "--percent-limit", "0",
                          "--no-inline", "--json", "--epoch", "all", "--db", DB],
                         env=environment(), capture_output=True, text=True, check=True).stdout
    return [r["image"] for r in json.loads(out)["rows"]
            if r["image_kind"] == "file" and os.path.isfile(r["image"] or "")]


def measure():
    """Returns the files of the corpus."""
    os.makedirs(os.path.join(WORK, "corpus"), exist_ok=True)
    totals = [[0, 0, 0] for _ in range(4)]
    for program in subprocess.run([SCRIPT, "--list"], capture_output=True, text=True,
                                  check=True).stdout.split():
        judged = one_program(program)
        shares = [reached / n * 100 for n, reached, _ in judged]
        row(f"stacks to the entry: {program}", "%.2f %%" % shares[0], "dwarf %.2f %%" % shares[1],
            None, "", None)
        for total, j in zip(totals, judged):
            for k in range(3):
                total[k] += j[k]
    shares = [reached / max(n, 1) * 100 for n, reached, _ in totals]
    row("stacks to the entry, all", "%.2f %%" % shares[0], "dwarf %.2f %%" % shares[1], None,
        ">= 99.5 %, > perf", shares[0] >= 99.5 and shares[0] > shares[1])
    notes.append("stacks of the first %d s of each program, just after the recorder's start: dwell %.2f %%, "
                 "perf %.2f %%" % (WARM, shares[2], shares[3]))
    notes.append("samples of processes that had given up their memory, which have no user stack any more, "
                 "are not among these: dwell %d, perf %d" % (totals[0][2], totals[1][2]))
    return mapped_files()
