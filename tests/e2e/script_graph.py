# SPDX-License-Identifier: BSD-2-Clause
"""What recorded call paths of php_work.php, perl_work.pl and ruby_work.rb say, held against their own call graphs.  COMMAND is what
runs the program, whose path it is told as PROGRAM; `suffix` is which of them it is."""
from e2e import *

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = ("w_", "W_", "main::w_", "block~in~w_", "block~in~<class:W_", "block~(2~levels)~in~w_", "rescue~in~w_", "ensure~in~block~in~w_")
# PHP's generators: while one is resumed it is the running function before it has a caller.
GENERATORS = ("W_Numbers::w_inner", "W_Numbers::w_outer")


def work_file(suffix):
    return os.path.join(HERE, {"php": "php_work.php", "pl": "perl_work.pl", "rb": "ruby_work.rb"}[suffix])


def record_work(command, program, *argv):
    return record("-g", "-e", "cpu-clock", "-c", 500009, "--", *command, program, *argv)


def is_marked(path):
    return any(f.startswith("[no ") or f.endswith((" unreadable]", " code not known]", " unmatched]")) for f in path)


def plain(name):
    """A name as the graphs have it: of Ruby's without spaces and without the class of all."""
    return name.replace("Object#", "").replace(" ", "~")


def against_the_graph(found, known, roots, half_made=0):
    """Each two of our functions that follow each other are an edge, and every path begins with one of ROOTS.  HALF_MADE:
    of how many samples the innermost may be what was there before."""
    n_named = n_begun = n_half_made = 0
    for path, n in found:
        if is_marked(path) or any(f.startswith("[truncated") for f in path):
            continue
        ours = [f for f in map(plain, path) if f.startswith(OURS) and not f.endswith("::BEGIN")]
        edges = list(zip(ours, ours[1:]))
        if half_made and edges and edges[-1] not in known:
            edges.pop()
            n_half_made += n
        for edge in edges:
            check(edge in known, "%s does not call %s: %s" % (*edge, path))
        begun = bool(ours) and ours[0] in GENERATORS
        check(not ours or ours[0] in roots or begun, "begins with %s: %s" % (ours[:1], path))
        n_begun += n if begun else 0
        n_named += n if ours else 0
    most(n_begun, n_named, 0.002, "paths that begin with a generator")
    most(n_half_made, n_named, half_made, "innermost functions that were there before")
    return n_named


def every_way_of_calling(command, suffix, program, roots, callees, deep, named=0.85, half_made=0, lines=0.998):
    record_work(command, program, "w_main", longer(2))
    found = folded_paths("--no-inline")
    total = sum(n for _, n in found)
    enough(total, 1500, "samples")
    n_named = against_the_graph(found, call_graph(work_file(suffix)), roots, half_made)
    # The interpreter's start is not ours, and until its table is built paths are truncated.
    least(n_named, total, named, "paths with functions of the program")
    marked = sum(n for path, n in found if is_marked(path))
    note("%d of %d marked, %d named" % (marked, total, n_named))
    most(marked, total, 0.005, "paths with a mark")
    for callee in callees:
        likely(any(callee in path for path, _ in found), "no path with " + callee)
    functions_known(lines)
    deepest = max(path.count(deep) for path, _ in found)
    likely(deepest == 201, "%s %d deep, not 201" % (deep, deepest))


def shares_of_work(command, suffix, program, prefix):
    record_work(command, program, "w_shares", longer(2))
    a_third([r for r in Prof().rows if r["kind"] == "script"], prefix)
    n_lines = {r["line"]: sum(r["counts"].values()) for r in Prof(by="line").rows if r["procedure"] == prefix + "w_spin"}
    with open(work_file(suffix), encoding="utf-8") as f:
        text = f.read().split("\n")
    first = next(i for i, line in enumerate(text) if line.startswith(("function w_spin(", "sub w_spin ", "def w_spin("))) + 1
    check(set(n_lines) <= {*range(first, first + 9), None}, "lines of w_spin: %s" % n_lines)
    most(n_lines.get(None, 0), sum(n_lines.values()), 0.001, "w_spin without a line")
    loop = [i for i in range(first, first + 9) if "for " in text[i - 1] or "while " in text[i - 1] or " += " in text[i - 1]]
    least(sum(n_lines.get(i, 0) for i in loop), sum(n_lines.values()), 0.9, "lines of w_spin in its loop")


def one_place_in_all_processes(command, program, prefix):
    for _ in range(2):
        record_work(command, program, "w_shares", longer(1))
    rows = [r for r in Prof("--epoch", "all").rows if r["kind"] == "script" and r["procedure"] == prefix + "w_spin"]
    check(len(rows) == 1, "w_spin has %d rows" % len(rows))


def php_calls(command, program, lines=0.998):
    every_way_of_calling(command, "php", program, ("w_main",), (
        "w_compare", "w_mapped", "w_replaced", "W_Numbers::w_inner", "w_raising", "W_Numbers::__toString",
        "W_Numbers::__destruct", "W_Numbers::offsetGet", "W_Numbers::w_static", "w_evaluated"), "w_recurse", lines=lines)


def perl_calls(command, program):
    every_way_of_calling(command, "pl", program, ("main::w_main",), (
        "main::w_compare", "main::w_compared", "main::w_replaced", "main::w_chosen", "main::w_reduced", "main::w_raising",
        "W_Numbers::w_string", "W_Numbers::DESTROY", "W_Tied::FETCH", "main::w_trying", "main::w_evaluated"),
        "main::w_recurse")


def ruby_calls(command, program, named=0.85, half_made=0):
    every_way_of_calling(command, "rb", program, ("w_main", "block~in~w_fiber", "block~in~w_enumerate", "block~in~w_thread"), (
        "Object#w_compared", "Object#w_key", "Object#w_replaced", "Object#w_injected", "Object#w_raising", "Object#w_rescued",
        "W_Numbers#<=>", "W_Numbers#method_missing", "block in <class:W_Numbers>", "W_Numbers.w_class", "W_Numbers#w_super",
        "Object#w_fibered", "block in Object#w_enumerate", "Object#w_threaded", "Object#w_evaluated", "Object#w_throwing"),
        "Object#w_recurse", named, half_made)


def ruby_garbage(command, program):
    """What is shown as garbage collection is what the program measured of GC.start, and none of a thread's without the lock."""
    p = dwell("record", "-g", "-e", "cpu-clock", "-c", 500009, "--db", "db", "--", *command, program, "w_garbage", longer(3))
    said = re.search(r"collected: (\S+)", p.stderr)
    check(said, "the program says nothing: " + p.stderr)
    found = folded_paths("--no-inline")
    mine = [(path, n) for path, n in found if "Object#w_garbage" in path]
    collects = sum(n for path, n in mine if "[garbage collection]" in path)
    total = sum(n for path, n in mine if "Array#initialize" not in path)
    enough(total, 1000, "samples in w_garbage")
    near(collects, total, float(said.group(1)), "garbage collection", 0.05)
    packing = [(path, n) for path, n in found if "Object#w_packing" in path]
    enough(sum(n for _, n in packing), 500, "samples in w_packing")
    most(sum(n for path, n in packing if "[garbage collection]" in path), sum(n for _, n in packing), 0.02,
         "garbage collection in a thread that compresses")
