# SPDX-License-Identifier: BSD-2-Clause
"""CPythons of other Debians, stripped as they are: tools/room makes a system for chroot of each suite."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
from e2e import *
from python_graph import *

ROOM = os.path.join(os.path.dirname(WORK), "../../tools/room")


def python_of(suite, version):
    """The room of SUITE, whose Python is to be VERSION."""
    p = subprocess.run([ROOM, suite], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if p.returncode:
        raise Skipped(p.stderr.strip())
    room = p.stdout.strip()
    if not os.path.exists("%s/usr/bin/python%s" % (room, version)):
        raise Skipped("%s has no Python %s" % (suite, version))
    shutil.copy(WORK, room + "/root/")
    return room


def record_in(room, *argv):
    return record("-g", "-e", "cpu-clock", "-c", 500009, "--", "chroot", room, "/usr/bin/python3", "/root/python_work.py", *argv)


def every_way_of_calling(suite, version, most_marked, callees):
    record_in(python_of(suite, version), "w_main", longer(3))
    found = folded_paths("--no-inline", "--comm", "python3")
    total = sum(n for _, n in found)
    enough(total, 1000, "samples")
    n_named = against_the_graph(found, edges("W_Number.__lt__" in callees), "w_main")
    least(n_named, total, 0.8, "paths with functions of the program")
    marked = sum(n for path, n in found if any(f in MARKS for f in path))
    note("%d of %d marked" % (marked, total))
    most(marked, total, most_marked, "paths with a mark")
    for callee in callees:
        likely(any(callee in path for path, _ in found), "no path with " + callee)
    n_lines = {r["line"]: sum(r["counts"].values()) for r in Prof(by="line").rows if r["procedure"] == "w_spin"}
    with open(WORK, encoding="utf-8") as f:
        first = f.read().split("\n").index("def w_spin(n):") + 1
    check(set(n_lines) <= {*range(first, first + 5), None}, "lines of w_spin: %s" % n_lines)
    most(n_lines.get(None, 0), sum(n_lines.values()), 0.001, "w_spin without a line")


CALLEES = "w_key", "w_replaced", "w_reduced", "w_inner", "w_compared", "w_raising", "w_awaited"


def of_debian_11():
    # Each call takes a call of the loop, in whose prologue and epilogue nothing tells that it has no frame.
    every_way_of_calling("bullseye", "3.9", 0.015, (*CALLEES, "__lt__"))


def of_debian_13():
    every_way_of_calling("trixie", "3.13", 0.001, (*CALLEES, "W_Number.__lt__"))


def of_the_debian_after_it():
    every_way_of_calling("forky", "3.14", 0.001, (*CALLEES, "W_Number.__lt__"))


run(of_debian_11, of_debian_13, of_the_debian_after_it)
