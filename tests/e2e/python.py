# SPDX-License-Identifier: BSD-2-Clause
"""Frames of the CPython that Debian installs, stripped as it is, mixed with native ones: checked against the call
graph of the program python_work.py, which is what runs."""
from e2e import *
from python_graph import *

PYTHON = "/usr/bin/python3.11"
OURS = ("--no-inline", "--comm", "python3.11")


def work(*argv, record_argv=("-e", "cpu-clock", "-c", 500009)):
    if not os.path.exists(PYTHON):
        raise Skipped("no " + PYTHON)
    return record("-g", *record_argv, "--", PYTHON, WORK, *argv)


def every_way_of_calling():
    work("w_main", longer(2))
    found = folded_paths(*OURS)
    total = sum(n for _, n in found)
    enough(total, 1500, "samples")
    n_named = against_the_graph(found, edges(), "w_main")
    # The interpreter's start and its imports are not ours, and until its table is built paths are truncated.
    least(n_named, total, 0.85, "paths with functions of the program")
    marked = sum(n for path, n in found if any(f in MARKS for f in path))
    note("%d of %d marked" % (marked, total))
    most(marked, total, 0.005, "paths with a mark")
    for callee in "w_key", "W_Number.__lt__", "w_replaced", "w_reduced", "w_inner", "w_compared", "w_raising", "w_awaited":
        likely(any(callee in path for path, _ in found), "no path with " + callee)
    deep = max(path.count("w_recurse") for path, _ in found)
    likely(deep == 201, "w_recurse %d deep, not 201" % deep)


def native_frames_between():
    work("w_main", longer(2))
    found = folded_paths(*OURS, "--runtime-frames")
    against_the_graph(found, edges(), "w_main")
    keyed = [path for path, _ in found if "w_key" in path and not any(m in path for m in MARKS)]
    likely(keyed, "no path with w_key")
    # Innermost the loop is where the sample itself is, below the function that it executes.
    for path in keyed:
        check("_PyEval_EvalFrameDefault" in path[:path.index("w_main")], "no loop above w_main: %s" % path)
        check("PyObject_CallOneArg" in path[path.index("w_sort"):path.index("w_key")],
              "nothing of the sort between w_sort and w_key: %s" % path)


def code_that_is_made_and_gone():
    work("w_made", longer(2))
    n = 0
    for r in Prof(by="line").rows:
        if not r["procedure"].startswith("made_"):
            continue
        i = int(r["procedure"][5:])
        check(r["image"] == "/made/file_%d.py" % i, "a wrong name: %s" % r)
        check(not r["line"] or r["line"] - 1 - i % 97 in (0, 1, 2), "a wrong line: %s" % r)
        n += sum(r["inclusive"].values())
    enough(n, 300, "samples in code that was made")


def shares_of_work():
    work("w_shares", longer(2))
    a_third([r for r in Prof().rows if r["kind"] == "script"])
    n_lines = {r["line"]: sum(r["counts"].values()) for r in Prof(by="line").rows if r["procedure"] == "w_spin"}
    lines = set(n_lines)
    with open(WORK, encoding="utf-8") as f:
        first = f.read().split("\n").index("def w_spin(n):") + 1
    check(lines <= {*range(first, first + 5), None}, "lines of w_spin: %s" % lines)
    most(n_lines.get(None, 0), sum(n_lines.values()), 0.001, "w_spin without a line")
    listed = sh(DWELL, "list", "--db", "db", "w_spin")
    check("x += i & 3" in listed and "[no line]" not in listed, "no listing of lines: " + listed)


def without_the_lock():
    work("w_squeeze", longer(2), "threads")
    inside = [(path, n) for path, n in folded_paths(*OURS) if any(f.startswith(("deflate", "longest_match", "_tr_", "compress")) or
                                                      f.startswith("sub_") for f in path[-2:]) and "start_thread" in path]
    total = sum(n for _, n in inside)
    enough(total, 500, "samples in zlib")
    least(sum(n for path, n in inside if "w_squeeze" in path), total, 0.995, "zlib with its caller")


def waiting():
    work("w_wait", longer(2), "threads", record_argv=("--off-cpu",))
    found = [(path, n) for path, n in folded_paths(*OURS, "--event", "blocked") if "start_thread" in path]
    total = sum(n for _, n in found)
    enough(total, 1, "time that threads waited")
    named = sum(n for path, n in found if "w_wait" in path)
    note("%.2f %% of waiting has its caller" % (100 * named / total))
    likely(named >= 0.995 * total, "%d of %d ns of waiting have their caller" % (named, total))


def one_place_in_all_processes():
    for _ in range(2):
        work("w_shares", longer(1))
    rows = [r for r in Prof("--epoch", "all").rows if r["kind"] == "script" and r["procedure"] == "w_spin"]
    check(len(rows) == 1, "w_spin has %d rows" % len(rows))


run(every_way_of_calling, native_frames_between, code_that_is_made_and_gone, shares_of_work, without_the_lock, waiting,
    one_place_in_all_processes)
