# SPDX-License-Identifier: BSD-2-Clause
"""A walk that takes the outer frames over from its thread's last one finds what a whole walk finds, however the stack
changes meanwhile: each such walk is done again without (DWELL_CHECK_WALKS)."""
from e2e import *

os.environ["DWELL_CHECK_WALKS"] = "1"


def same(*argv, at_least=500, event=("-e", "cpu-clock", "-c", 100003), through="sized"):
    paths = record("-g", *event, "--", *argv)["call_paths"]
    note("%(frames_walked)d frames walked, %(frames_kept)d taken over; %(walks_checked)d walks checked" % paths)
    check(paths["walks_differing"] == 0, "%d differ" % paths["walks_differing"])
    enough(paths["walks_checked"], at_least, "walks that took frames over")
    likely(paths["frames_kept"] > paths["walks_checked"], "hardly a frame was taken over")
    likely(through in dwell("export", "--folded", "--no-inline", "--db", "db").stdout, "not in " + through)


def recursion():
    same(prog("changing"), "recursion", longer(1.5))
    same(prog("changing_fp"), "recursion", longer(1.5))


def jumps():
    same(prog("changing"), "jumps", longer(1), through="jump_down")


def coroutines():
    """What a context began with is known by its code, which is read each time: only main's own stack is kept."""
    same(prog("changing"), "coroutines", longer(1), at_least=100)


def threads():
    same(prog("changing"), "threads", longer(1))


def signals():
    same(prog("changing"), "signals", longer(1.5))


def libraries():
    same(prog("changing"), "libraries", longer(1.5), prog("libchanging_a.so"), prog("libchanging_b.so"), through="through")


def programs():
    same(prog("changing_a"), "programs", longer(1.5), prog("changing_a"), prog("changing_b"), at_least=100)


def blocks():
    """Code changes while threads block: the programs that watch the scheduler see it."""
    same(prog("changing"), "threads", longer(1), event=("--off-cpu", "--min-block", "0.001us", "-c", 1000003), at_least=100, through="")


def everything():
    """Whatever else the machine does, with the compiler at work."""
    with open("a.c", "w") as f:
        f.write("#include <stdio.h>\n#include <stdlib.h>\n#include <pthread.h>\n"
                + "".join("int f%d(int x) { return x > %d ? f%d(x - 1) * x : printf(\"%%d\", x); }\n" % (i, i, max(i - 1, 0))
                          for i in range(longer(150))))
    same("sh", "-c", "gcc -O2 -g -w -c -o a.o a.c", through="cc1;")


run(recursion, jumps, coroutines, threads, signals, libraries, programs, blocks, everything)
