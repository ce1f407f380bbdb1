# SPDX-License-Identifier: BSD-2-Clause
"""Call paths of a program whose tree of calls is known: as they are, by every way there is to find them."""
import collections
import filecmp

from e2e import *

RATE = ["-e", "cpu-clock", "-c", 500009]
ROUNDS = 400  # more than a second
# The path from where all threads' differ, without what the C library has between; and its share of its thread.
TREE = {
    ("main", "outer", "inner", "burn"): 6 / 15,
    ("main", "to_library", "burn_for", "burn"): 4 / 15,
    ("main",) + ("recurse",) * 5 + ("burn",): 3 / 15,
    ("main", "signals", "handler", "burn"): 2 / 15,
    ("in_thread", "inner", "burn"): 1,
}
OURS = {"main", "outer", "inner", "burn", "to_library", "burn_for", "recurse", "signals", "handler", "in_thread",
        "reads"}


def folded(db, comm):
    """Paths of procedures, outermost first, and their samples."""
    paths = {}
    for path, n in folded_paths("--no-inline", "--comm", comm, db=db):
        paths[tuple(path)] = paths.get(tuple(path), 0) + n
    return paths


def ours(paths):
    """Returns whole paths of our own procedures with their samples, and how many samples had no whole path."""
    tree, cut = {}, 0
    for path, n in paths.items():
        if path and path[0].startswith("[truncated"):
            cut += n
            continue
        own = tuple(p for p in path if p in OURS)
        tree[own] = tree.get(own, 0) + n
    return tree, cut


def check_tree(db, said, what, whole=0.97):
    """Every path has its share of its thread, each thread the share of the time that it SAID it used, and nearly
    all samples have a whole one."""
    tree, cut = ours(folded(db, "calls"))
    burning = {p: n for p, n in tree.items() if p and p[-1] == "burn"}
    total = sum(burning.values())
    note("%s: %d samples, %d of them not whole" % (what, sum(tree.values()) + cut, cut))
    enough(total, 800, "samples in burn: " + what)
    most(cut, total + cut, 1 - whole, what + ": not whole")
    other = {p: n for p, n in burning.items() if p not in TREE}
    most(sum(other.values()), total, 0.01, "%s: paths that do not exist: %s" % (what, other))
    in_main = check_shares(burning, what)
    used = collections.Counter()
    for line in said.splitlines():
        used[line.split()[0]] += int(line.split()[1])
    # The clocks count what a virtual machine loses while a thread runs, of which there is one sample.
    near(in_main, total, used["main"] / sum(used.values()), what + ": the main thread's", slack=0.02)
    return burning


def check_shares(tree, what):
    """Every path of main() has its share of the samples there, which are returned."""
    in_main = sum(n for p, n in tree.items() if p and p[0] == "main" and p[-1] == "burn")
    for path, share in TREE.items():
        if path[0] == "main":
            near(tree.get(path, 0), in_main, share, "%s: %s" % (what, " > ".join(path)))
    return in_main


def check_account(account, what):
    """Complete and truncated samples are all samples."""
    for e in account["events"]:
        c = e["call_paths"]
        check(c["complete"] + sum(c["truncated"].values()) == e["samples"],
              "%s: %s are not %d samples" % (what, c, e["samples"]))
    return account["events"][0]["call_paths"]


def whole_trees():
    """Without frame pointers: by tables in the kernel, and from copied stacks, with equal shares."""
    found = {}
    for name, args in {"bpf": ["--engine", "bpf", "-g"],
                       "machine": ["--engine", "bpf", "-g", "-a"],
                       "copies": ["--engine", "ring", "--call-graph", "dwarf"]}.items():
        # The first tables are built while it starts: so it runs once before what is looked at.
        a = record(*args, *RATE, "--", "sh", "-c", "%s 100; exec %s %d" %
                   (prog("calls"), prog("calls"), longer(ROUNDS)), db=name)
        c = check_account(a, name)
        note("%s: %s, %s" % (name, c, a["call_paths"]))
        check(a["call_paths"]["tables_built"] > 0, "no table was built")
        found[name] = check_tree(name, a["said"], name, whole=0.9)
    mains = {name: sum(n for p, n in tree.items() if p[0] == "main") for name, tree in found.items()}
    for path in TREE:
        if path[0] == "main":
            same_share(found["bpf"].get(path, 0), mains["bpf"], found["copies"].get(path, 0), mains["copies"],
                       " > ".join(path))


def by_frame_pointers():
    """Built with frame pointers, they alone show the same tree; each caller is marked as guessed."""
    for engine in "bpf", "ring":
        a = record("--engine", engine, "--call-graph", "fp", *RATE, "--", prog("calls_fp"), longer(ROUNDS), db=engine)
        c = check_account(a, engine)
        least(c["guessed"], a["events"][0]["samples"], 0.8, "guessed: %s" % c)
        tree, cut = {}, 0
        for path, n in folded(engine, "calls_fp").items():
            # Whatever the C library, which has no frame pointers, makes of what is above main.
            own = tuple(p for p in path if p in OURS)
            if own[0:1] == ("main",) and "handler" in own:  # nor of what is above a signal
                own = ("main", "signals", "handler", "burn")
            tree[own] = tree.get(own, 0) + n
        check_shares(tree, engine)
        total = sum(n for p, n in tree.items() if p and p[-1] == "burn")
        least(sum(tree.get(p, 0) for p in TREE), total, 0.97, engine + ": paths that there are")
        enough(tree.get(("in_thread", "inner", "burn"), 0), 100, "samples of the thread")


def kernel_and_user():
    """A system call's samples have the kernel's part below the program's own."""
    with running(prog("calls"), "system"):
        a = record("-g", "-a", *RATE, "-d", longer(2))
    paths = folded("db", "calls")
    total = sum(paths.values())
    joined = sum(n for p, n in paths.items()
                 if "main" in p and "reads" in p and p[-1].endswith("_[k]")
                 and p.index("main") < p.index("reads") < len(p) - 1
                 and not any(q.endswith("_[k]") for q in p[:p.index("reads")]))
    note("%d of %d samples joined; %s" % (joined, total, a["events"][0]["call_paths"]))
    # On a busy machine the program's table may be late; such paths say so, and have no callers to join.
    early = sum(n for p, n in paths.items() if p[0] == "[truncated: no unwind table]")
    enough(total - early, 500, "samples")
    least(joined, total - early, 0.85, "joined: %s" % sorted(paths.items())[:5])


def flat_sums():
    """What has call paths and what has none say the same of places; DCPI's files can be written."""
    record("-g", *RATE, "--", prog("calls"), longer(ROUNDS), db="paths")
    rows = Prof(db="paths")
    n = sum(ours(folded("paths", "calls"))[0].values()) + ours(folded("paths", "calls"))[1]
    check(rows.n() >= n, "%d samples in rows, %d in paths of one command" % (rows.n(), n))
    least(n, rows.n(), 0.9, "of one command")
    shares = rows.procedures("calls")
    burn = sum(k for p, k in folded("paths", "calls").items() if p[-1] == "burn")
    check(shares["burn"] == burn, "burn has %s samples in rows, %d in paths" % (shares, burn))
    out = sh(DWELL, "export", "--dcpi", "-o", "tree", "--db", "paths")
    check("%d samples" % rows.n() in out.replace(",", ""), "%s, not %d" % (out, rows.n()))
    a = sh(DWELL, "cat", "--db", "paths")
    b = sh(DWELL, "cat", "--db", "tree")
    check(a and b, "nothing in one of them")


def deep_recursion():
    """More callers than are kept: named so, not shown as a root."""
    a = record("-g", *RATE, "--", prog("calls"), "deep")
    c = check_account(a, "deep")
    note(c)
    least(c["truncated"].get("too deep", 0), a["events"][0]["samples"], 0.8, "too deep: %s" % c)


def little_memory():
    """Tables that do not fit are put off; every sample keeps its place."""
    a = record("-g", "-a", "--unwind-memory", "1M", *RATE, "--", prog("calls"), ROUNDS)
    check_account(a, "little memory")
    t = a["call_paths"]
    note(t)
    check(t["table_bytes_most"] <= 1 << 20, "more than was allowed: %s" % t)


if __name__ == "__main__":
    run(whole_trees, by_frame_pointers, kernel_and_user, flat_sums, deep_recursion, little_memory)
