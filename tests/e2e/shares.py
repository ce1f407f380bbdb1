# SPDX-License-Identifier: BSD-2-Clause
"""Known shares come out as they are: both engines, one command and the whole machine, and perf beside."""
import os
import re
import shutil

from e2e import *

TRUTH = {"spin_half": 0.5, "spin_third": 0.3, "spin_fifth": 0.2}
ROUNDS = 700  # about two seconds
RATE = ["-e", "cpu-clock", "-c", 250007]


def shares(db):
    got = Prof(prog("shares"), db=db).procedures("shares")
    return {p: got.get(p, 0) for p in TRUTH}


def engines_agree():
    found = {}
    for engine in "bpf", "ring":
        for target in [], ["-a"]:
            name = engine + ("_machine" if target else "_command")
            a = record("--engine", engine, *RATE, *target, "--", prog("shares"), longer(ROUNDS), db=name)
            check(a["engine"] == engine, "it became engine " + a["engine"])
            found[name] = shares(name)
            total = sum(found[name].values())
            enough(total, 1000, "samples of " + name)
            for p, share in TRUTH.items():
                near(found[name][p], total, share, name + " " + p)
    first = found["bpf_command"]
    for name, other in found.items():
        for p in TRUTH:
            same_share(first[p], sum(first.values()), other[p], sum(other.values()),
                       "%s, bpf and %s" % (p, name))


def command_alone():
    """Only the command's own processes, from its very start."""
    a = record(*RATE, "--", "sh", "-c", "%s %d; exec %s %d" %
               (prog("shares"), longer(200), prog("shares"), longer(400)))
    p = Prof()
    e = a["events"][0]
    n = sum(p.procedures("shares").values())
    note("%d of %d samples in the program" % (n, e["samples"]))
    least(n, e["samples"], 0.8, "not others' samples: %s" % p.rows[:5])
    most(e["unknown"], e["samples"], 0.005, "unknown")
    check(p.n() == e["samples"], "%d in rows, %d stored" % (p.n(), e["samples"]))


def perf_shares():
    """comm, image, symbol of every sample perf took, counted."""
    counts = {}
    p = subprocess.run(["perf", "script", "-F", "comm,tid,ip,sym,dso"], capture_output=True, text=True)
    if p.returncode:
        # It gives up on records it does not understand, as when others load BPF programs meanwhile.
        raise Skipped("perf cannot read its own recording: " + (p.stderr.splitlines() or ["?"])[-1])
    for line in p.stdout.splitlines():
        # "comm  tid  ip symbol (dso)"
        m = re.match(r"\s*(.*?)\s+\d+\s+[0-9a-f]+ (.*) \((.*)\)$", line)
        if m:
            key = m.group(1), m.group(2).split("+")[0], m.group(3)
            counts[key] = counts.get(key, 0) + 1
    return counts


WORK = """
{shares} {rounds} &
for i in 1 2 3 {more}; do cc -O2 -x c -c -o out.o - <unit.c; done
wait
"""
COMMANDS = {"sh", "shares", "cc", "cc1", "as"}


def agrees_with_perf():
    """perf and dwell watch the same run at once: a program, and a compiler."""
    if not shutil.which("perf"):
        raise Skipped("perf is not installed")
    with open("unit.c", "w") as f:
        f.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n")
        for i in range(250):
            f.write("static int f%d(int *a, int n) { int s = %d; for (int i = 0; i < n; i++)"
                    " s = s * 31 + a[i] %% %d; return s; }\n" % (i, i, i + 2))
        f.write("int main(int n, char **v) { int a[9] = {n}; return %s; }\n" %
                " + ".join("f%d(a, 9)" % i for i in range(250)))
    work = WORK.format(more=" ".join(map(str, range(4, 1 + longer(3)))), shares=prog("shares"), rounds=longer(ROUNDS))
    # Kernels leave the mark of a build-id in the mapping records of events that asked for none when
    # others did: both ask.  The two ask for different periods, so that their timers do not fire in step.
    record("-a", *RATE, "--", "perf", "record", "-a", "-q", "--buildid-mmap", "--no-bpf-event",
           "-e", "cpu-clock", "-c", 299993, "-o", "perf.data", "--", "sh", "-c", work)
    theirs = perf_shares()
    ours = Prof(db="db")

    # The program: each procedure is compared.
    total = sum(n for (_, _, dso), n in theirs.items() if dso == prog("shares"))
    mine = ours.procedures("shares")
    for p, share in TRUTH.items():
        n = sum(n for (_, sym, dso), n in theirs.items() if dso == prog("shares") and sym == p)
        near(n, total, share, "perf " + p)
        same_share(mine.get(p, 0), sum(mine.get(q, 0) for q in TRUTH), n, total, p)

    # User code of the work's commands: each image with two percent or more is compared.  What else runs does not
    # count: above all perf, which has much to do before its own samples begin.  Samples are not quite
    # independent of each other, where work comes in bursts.  By file name: below a root of its own (chroot) the
    # two do not see every path from the same root.
    images = {}
    for (comm, _, dso), n in theirs.items():
        if dso.startswith("/") and comm in COMMANDS:
            images[os.path.basename(dso)] = images.get(os.path.basename(dso), 0) + n
    total = sum(images.values())
    mine = {}
    for r in Prof(by="comm,image").rows:
        if r["kind"] == "file" and r["comm"] in COMMANDS:
            name = os.path.basename(r["image"])
            mine[name] = mine.get(name, 0) + r["counts"]["cpu-clock"]
    n_ours = sum(mine.values())
    note("%d samples of perf's, %d of ours, in user code" % (total, n_ours))
    enough(min(total, n_ours), 1000, "samples of the work")
    for name, n in sorted(images.items(), key=lambda x: -x[1]):
        if n > total / 50:
            same_share(mine.get(name, 0), n_ours, n, total, name, slack=0.01)
    likely("cc1" in images, "the compiler was not seen")

    # Inside the compiler: its hottest procedures.
    cc1 = next(dso for _, _, dso in theirs if os.path.basename(dso) == "cc1")
    names = {}
    for (_, sym, dso), n in theirs.items():
        if dso == cc1:
            names[sym] = names.get(sym, 0) + n
    if set(names) <= {"[unknown]"}:
        note("cc1 has no symbols here")
        return
    mine = ours.procedures(cc1)
    for sym, n in sorted(names.items(), key=lambda x: -x[1])[:5]:
        if sym in mine:
            same_share(mine[sym], sum(mine.values()), n, sum(names.values()), "cc1 " + sym, slack=0.01)


run(engines_agree, command_alone, agrees_with_perf)
