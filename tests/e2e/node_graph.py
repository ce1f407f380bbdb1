# SPDX-License-Identifier: BSD-2-Clause
"""What recorded call paths of the program node_work.js say, held against its own call graph."""
from e2e import *

ASYNC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "node_async.js")
INLINE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "node_inline.js")
WORK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "node_work.js")


def work(node, *argv):
    # With inlining a caller's callee is called by the caller's caller, as it were: then both are its code.
    return record("-g", "-e", "cpu-clock", "-c", 500009, "--", node, "--no-turbo-inlining", WORK, *argv)


def named(found, known, begin="w_main"):
    """Samples of paths with functions of the program, and of those the ones that lack a function.  All others have
    callers that call what they lead to."""
    n_named = n_missed = 0
    for path, n in found:
        at = [i for i, f in enumerate(path) if f.startswith("w_")]
        if not at or any(f.startswith("[truncated") for f in path):
            continue
        missed = False
        for a, b in zip(at, at[1:]):
            # A frame in V8's code that has no name may be a function that was not found: such paths are few.
            hidden = any(f.startswith(("[", "sub_", "(anonymous)")) for f in path[a + 1:b])
            missed |= hidden and (path[a], path[b]) not in known
            check(hidden or (path[a], path[b]) in known, "%s does not call %s: %s" % (path[a], path[b], path))
        unread = any(f.startswith("[JavaScript") for f in path[:at[0]])
        missed |= unread
        check(unread or not begin or path[at[0]] == begin, "begins with %s: %s" % (path[at[0]], path))
        n_named += n
        n_missed += n if missed else 0
    return n_named, n_missed


def every_way_of_calling(node):
    work(node, "w_main", longer(3))
    found, known = folded_paths("--no-inline"), call_graph(WORK)
    total = sum(n for _, n in found)
    enough(total, 1000, "samples")
    n_named, n_missed = named(found, known)
    most(n_missed, total, 0.005, "paths that lack a function")
    # The start of Node takes a third of a second of its own.
    least(n_named, total, 0.5, "paths with functions of the program")
    for callee in "w_compared", "w_replaced", "w_reduced", "w_inner", "w_called", "w_kept", "w_raising", "w_cold":
        likely(any(callee in path for path, _ in found), "no path with " + callee)
    # Paths begin at the process's entry, with V8's and Node's own procedures between.
    spins = [(path, n) for path, n in found if path[-1] == "w_spin"]
    others = [(path, n) for path, n in spins if path[0] not in ("_start", "__libc_start_main", "__libc_start_call_main")]
    likely(all(path[0].startswith("[truncated") for path, _ in others), "not from the program's entry: %s" % others)
    n_spins, n_cut = (sum(n for _, n in paths) for paths in (spins, others))
    enough(n_spins, 300, "samples in w_spin")
    most(n_cut, n_spins, 0.005, "paths that are cut: %s" % others)


# Each round of w_main asks for the time.
COLLECTING = '''
const now = Date.now;
let n = 0;
Date.now = function w_now() {
	if (n++ % 2)
		gc();
	return now.call(Date);
};
'''


def moved_functions(node):
    """The garbage collector moves all functions, over and over, while they are interpreted."""
    with open("collecting.js", "w", encoding="utf-8") as f:
        f.write(COLLECTING)
    every = ["--compact-on-every-full-gc"] if "--compact-on-every-full-gc" in sh(node, "--v8-options") else []
    record("-g", "-e", "cpu-clock", "-c", 100003, "--", node, "--no-opt", "--no-sparkplug", "--expose-gc",
           "--stress-compaction", *every, "-r", os.path.abspath("collecting.js"), WORK, "w_main", longer(4))
    found, known = folded_paths("--no-inline"), call_graph(WORK) | {("w_main", "w_now")}
    n_named, n_missed = named(found, known, None)
    enough(n_named, 1000, "samples in functions that are moved")
    most(n_missed, n_named, 0.005, "paths that lack a function")


WORKERS = '''
const { Worker, isMainThread, workerData } = require("worker_threads");
process.argv = [process.argv[0], process.argv[1], "w_main", String(isMainThread ? 0 : workerData)];
if (isMainThread) for (let i = 0; i < 2; i++) new Worker(__filename, { workerData: Number("%s") });
else require("%s");
'''


def workers(node):
    """Threads of workers have functions of their own, in heaps of their own."""
    with open("workers.js", "w", encoding="utf-8") as f:
        f.write(WORKERS % (longer(3), WORK))
    record("-g", "-e", "cpu-clock", "-c", 500009, "--", node, "--no-turbo-inlining", "workers.js")
    found, known = folded_paths("--no-inline"), call_graph(WORK)
    n_named, n_missed = named(found, known)
    enough(n_named, 1000, "samples in functions of workers")
    most(n_missed, n_named, 0.005, "paths that lack a function")
    for path, _ in found:
        whole = not any(f.startswith("[truncated") for f in path)
        check("w_main" not in path or not whole or "start_thread" in path, "no thread's: %s" % path)


def shares_of_work(node):
    work(node, "w_shares", longer(3))
    rows = {r["procedure"]: r for r in Prof().rows if r["kind"] == "script"}
    a_third(rows.values())
    check(rows["w_spin"]["image"] == WORK, "w_spin is in %s" % rows["w_spin"]["image"])


def lines_of_callers(work_file=INLINE):
    """Samples of callers in functions of WORK_FILE, and of those the ones with a line, in which the called one is."""
    known = call_graph(work_file)
    with open(work_file, encoding="utf-8") as f:
        text = f.read().splitlines()
    rows = json.loads(dwell("tree", "--by", "line", "--percent-limit", 0, "--json", "--db", "db").stdout)["rows"]
    by_id = {r["id"]: r for r in rows}
    n_lines = n_wrong = total = 0
    for r in rows:
        caller = by_id.get(r["parent"])
        if not caller or not (r["name"].startswith("w_") and caller["name"].startswith("w_")):
            continue
        n = sum(r["inclusive"].values())
        if caller["line"]:  # where none is known an inlined function may be missing
            n_lines += n
            if (caller["name"], r["name"]) not in known or r["name"] + "(" not in text[caller["line"] - 1]:
                note("%s calls %s in line %d" % (caller["name"], r["name"], caller["line"]))
                n_wrong += n
        total += n
    most(n_wrong, total, 0.0005, "callers that do not call what is below them in that line")
    return n_lines, total


def inlined_functions(node):
    """Functions that the compiler inlined, in the lines where they are called."""
    # Code of Maglev, the faster compiler of newer versions, tells less; how soon it is compiled again depends on the machine.
    slow = ["--no-maglev"] if " --maglev " in sh(node, "--v8-options") else []
    record("-g", "-e", "cpu-clock", "-c", 500009, "--", node, *slow, INLINE, longer(3))
    n_lines, total = lines_of_callers()
    below = [([f for f in path if f.startswith("w_")], n) for path, n in folded_paths("--no-inline") if "join" in path]
    n_join = sum(n for ours, n in below if ours)
    n_whole = sum(n for ours, n in below if ours in (["w_tick", "w_round", "w_outer", "w_first", "w_second", "w_leaf"],
                                                     ["w_tick", "w_round", "w_outer", "w_second", "w_leaf"]))
    enough(n_join, 1000, "samples below join")
    note("%d of %d whole, %d of %d with a line" % (n_whole, n_join, n_lines, total))
    least(n_whole, n_join, 0.5, "paths with all inlined functions")
    least(n_lines, total, 0.5, "callers with a line")


def functions_that_await(node, *ways):
    """What goes on after an await is below the functions that await it, in the line where they do.  WAYS: flags of Node."""
    known = call_graph(ASYNC)
    for how in ways or ([],):
        record("-g", "-e", "cpu-clock", "-c", 500009, "--", node, *how, ASYNC, longer(2))
        n_named = n_whole = 0
        for path, n in folded_paths("--no-inline"):
            ours = [f for f in path if f.startswith("w_")]
            if not ours or any(f.startswith("[truncated") for f in path):
                continue
            for edge in zip(ours, ours[1:]):
                check(edge in known, "%s does not await %s: %s" % (*edge, path))
            n_named += n
            n_whole += n if ours[0] in ("w_main", "w_after") else 0
        for r in Prof().rows:  # a function of Node's own may have no name, but it has a file
            check(r["procedure"] != "(anonymous)" or not r["image"].startswith("["), "what V8 has built in has no name: %s" % r)
        n_lines, total = lines_of_callers(ASYNC)
        note("%s: %d of %d whole, %d of %d with a line" % (how, n_whole, n_named, n_lines, total))
        enough(n_named, 500, "samples in functions of the program")
        least(n_whole, n_named, 0.98, "paths with all that await")


def spans():
    """The lines of each function of node_inline.js."""
    ret = {}
    with open(INLINE, encoding="utf-8") as f:
        for i, line in enumerate(f, 1):
            if line.startswith("function "):
                name, first = line.split("(")[0][len("function "):], i
            elif line.startswith("}"):
                ret[name] = range(first, i + 1)
    return ret


def unoptimised_lines(node):
    """Functions that are interpreted, and those that the first compiler translated: where they call, and where they are."""
    plain = ["--no-opt"] + (["--no-maglev"] if "--maglev " in sh(node, "--v8-options") else [])
    # The baseline code of V8 9.4 does not lead to its bytecodes.
    for how in ("--no-sparkplug",) if sh(node, "--version").startswith("v16.") else ("--no-sparkplug", "--always-sparkplug"):
        record("-g", "-e", "cpu-clock", "-c", 500009, "--", node, *plain, how, INLINE, longer(2))
        n_lines, total = lines_of_callers()
        note("%s: %d of %d callers with a line" % (how, n_lines, total))
        enough(total, 1000, "samples of callers")
        least(n_lines, total, 0.999, "callers with a line")
        rows = [r for r in Prof(by="line").rows if r["kind"] == "script" and r["procedure"].startswith("w_")]
        known = spans()
        for r in rows:
            check(not r["line"] or r["line"] in known[r["procedure"]], "%s at line %s" % (r["procedure"], r["line"]))
        own = sum(sum(r["inclusive"].values()) for r in rows)
        own_lines = sum(sum(r["inclusive"].values()) for r in rows if r["line"])
        note("%s: %d of %d functions with a line" % (how, own_lines, own))
        least(own_lines, own, 0.99, "functions with a line")
