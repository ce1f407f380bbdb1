#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""`dwell hpc` of hpcrun's measurements beside hpcprof, one thread each, by turns: CPU time and peak memory.

    bench/hpcrun.py BUILD HPCPROF PROGRAM [THREADS CONTEXTS VALUES POINTS]

The measurements are made up: paths through PROGRAM's functions, which need no DWARF (strip -g), so that not the
reading of it is compared.  Addresses are never a function's last byte, which hpcprof takes for no function's."""
import os
import random
import resource
import struct
import subprocess
import sys
import tempfile

ROUNDS = 5
ROOT, MAIN = 0x5e5072696d617279, 0x7c204d61696e2020  # docs/formats/hpcrun.md


def text(s):
    return struct.pack(">I", len(s)) + s.encode()


def functions(program):
    found = []
    for line in subprocess.run(["nm", "-S", "--defined-only", program], capture_output=True, text=True,
                               check=True).stdout.splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tT" and int(words[1], 16) > 16:
            found.append((int(words[0], 16), int(words[1], 16)))
    return found


def make_nodes(program, n):
    """The ids of N contexts, and their section."""
    rnd, known, ids = random.Random(1), functions(program), [4]
    nodes = [(2, 0, 0, ROOT, 1), (4, 2, 0, MAIN, 1)]
    for i in range(n):
        parent = ids[max(0, rnd.randrange(len(ids)) - rnd.randrange(3))]
        start, size = rnd.choice(known)
        ids.append(6 + 2 * i)
        nodes.append((6 + 2 * i, parent, 1, start + rnd.randrange(size - 1), 1))
    return ids, struct.pack(">Q", len(nodes)) + b"".join(struct.pack(">IIHQB", *node) for node in nodes)


def thread_sections(program, thread, ids, nodes, n_values):
    rnd = random.Random(thread)
    pairs = (("program-name", os.path.basename(program)), ("program-path", program), ("process-id", "4711"),
             ("thread-id", str(thread)), ("host-id", "11ac0300"))
    chosen = sorted(rnd.sample(ids[1:], min(n_values, len(ids) - 1)))
    yield b"HPCRUN-profile____04.00b" + struct.pack(">I", len(pairs)) + b"".join(text(k) + text(v) for k, v in pairs)
    yield struct.pack(">IH", 1, 1) + text(program) + struct.pack(">Q", 0)
    yield nodes
    yield (struct.pack(">I", 1) + text("CPUTIME (sec)") + text("") + bytes([1, 0, 2] + [0] * 13) +
           struct.pack(">Q", 1) + text("") + text("") + struct.pack(">HHdQ", 0, 0, 0.0, 0))
    yield struct.pack(">HH", 2, 1) + text("NODE") + struct.pack(">H", 3) + text("THREAD")
    yield (struct.pack(">HHQQHQQ", 2, 0xc001, 0x11ac0300, 0, 0xc003, thread, thread) +
           struct.pack(">QI", len(chosen), len(chosen)) +
           b"".join(struct.pack(">dH", rnd.randrange(1, 1000) / 1000, 0) for _ in chosen) +
           b"".join(struct.pack(">IQ", node, i) for i, node in enumerate(chosen)) +
           struct.pack(">IQ", 0x656e6421, len(chosen)))


def make(directory, program, n_threads, n_contexts, n_values, n_points):
    ids, nodes = make_nodes(program, n_contexts)
    os.makedirs(directory)
    for thread in range(n_threads):
        body, footer = b"", []
        for section in thread_sections(program, thread, ids, nodes, n_values):
            footer += [len(body), len(body) + len(section)]
            body += section
        name = "%s/p-000000-%03d-11ac0300-4711-0." % (directory, thread)
        with open(name + "hpcrun", "wb") as f:
            f.write(body + struct.pack(">14Q", *footer, len(body), 0x48504352554e736d))
        rnd, at = random.Random(thread), 1714021984008891000
        with open(name + "hpctrace", "wb") as f:
            f.write(b"HPCRUN-trace______01.01b" + struct.pack(">Q", 0))
            for _ in range(n_points):
                at += rnd.randrange(1, 2000000)
                f.write(struct.pack(">QI", at, rnd.choice(ids)))


def run(*command):
    """CPU seconds and peak megabytes."""
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.execvp(command[0], command)
    _, status, used = os.wait4(pid, 0)
    if status:
        sys.exit("%s: status %d" % (command[0], status))
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    build, hpcprof, program = (os.path.abspath(p) for p in sys.argv[1:4])
    sizes = [int(a) for a in sys.argv[4:]] or [24, 20000, 6000, 500]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as work:
        measured = os.path.join(work, "m")
        make(measured, program, *sizes)
        seen = []
        for i in range(ROUNDS):
            ours = run(os.path.join(build, "dwell"), "hpc", "-j1", "-o", "%s/ours%d" % (work, i), measured)
            seen.append(ours + run(hpcprof, "-j1", "-o", "%s/theirs%d" % (work, i), measured))
        for what, unit, k in (("CPU", "s", 0), ("peak memory", "MB", 1)):
            rows = sorted((s[k] / s[k + 2], s[k], s[k + 2]) for s in seen)
            ratio, a, b = rows[len(rows) // 2]
            print("hpcrun: %s, hpcprof: %.2f %s, %.2f %s, ratio %.3f [%.3f, %.3f], load %.0f" %
                  (what, a, unit, b, unit, ratio, rows[0][0], rows[-1][0], os.getloadavg()[0]))


main()
