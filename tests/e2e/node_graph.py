# SPDX-License-Identifier: BSD-2-Clause
"""What recorded call paths of the program node_work.js say, held against its own call graph."""
import re

from e2e import *

WORK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "node_work.js")


def work(node, *argv):
    # With inlining a caller's callee is called by the caller's caller, as it were: then both are its code.
    return record("-g", "-e", "cpu-clock", "-c", 500009, "--", node, "--no-turbo-inlining", WORK, *argv)


def paths():
    """Call paths as lists of names, outermost first, and their counts."""
    ret = []
    for line in sh(DWELL, "export", "--folded", "--no-inline", "--db", "db").splitlines():
        path, n = line.rsplit(" ", 1)
        ret.append((path.split(";")[1:], int(n)))
    return ret


def edges():
    with open(WORK, encoding="utf-8") as f:
        words = re.search("EDGES(.*)END", f.read(), re.S).group(1).split()
    return set(zip(words[::2], words[1::2]))


def every_way_of_calling(node):
    work(node, "w_main", longer(3))
    found, known = paths(), edges()
    total = sum(n for _, n in found)
    enough(total, 1000, "samples")
    n_named = 0
    for path, n in found:
        ours = [f for f in path if f.startswith("w_")]
        if any(f.startswith("[truncated") for f in path):
            continue
        for edge in zip(ours, ours[1:]):
            check(edge in known, "%s does not call %s: %s" % (*edge, path))
        check(not ours or ours[0] == "w_main", "begins with %s: %s" % (ours[:1], path))
        n_named += n if ours else 0
    # The start of Node takes a third of a second of its own.
    least(n_named, total, 0.5, "paths with functions of the program")
    for callee in "w_compared", "w_replaced", "w_reduced", "w_inner", "w_called", "w_kept", "w_raising", "w_cold":
        likely(any(callee in path for path, _ in found), "no path with " + callee)
    # Paths begin at the process's entry, with V8's and Node's own procedures between.
    spins = [path for path, _ in found if path[-1] == "w_spin"]
    likely(spins and all(path[0] in ("_start", "__libc_start_main", "__libc_start_call_main") for path in spins),
           "w_spin is not called from the program's entry")


def shares_of_work(node):
    work(node, "w_shares", longer(3))
    rows = {r["procedure"]: r for r in Prof().rows if r["kind"] == "script"}
    one, two = (sum(rows[name]["inclusive"].values()) if name in rows else 0 for name in ("w_third", "w_two_thirds"))
    enough(one + two, 1000, "samples")
    near(one, one + two, 1 / 3, "w_third", 0.02)
    check(rows["w_spin"]["image"] == WORK, "w_spin is in %s" % rows["w_spin"]["image"])
