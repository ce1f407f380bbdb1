# SPDX-License-Identifier: BSD-2-Clause
"""Call paths of a program whose tree of calls is known: as they are, by every way there is to find them."""
import filecmp

from e2e import *

RATE = ["-e", "cpu-clock", "-c", 500009]
ROUNDS = 6000  # about a second
# The path from where all threads' differ, without what the C library has between; and its share.
TREE = {
    ("main", "outer", "inner", "burn"): 6 / 20,
    ("main", "to_library", "burn_for", "burn"): 4 / 20,
    ("main",) + ("recurse",) * 5 + ("burn",): 3 / 20,
    ("main", "signals", "handler", "burn"): 2 / 20,
    ("in_thread", "inner", "burn"): 5 / 20,
}
OURS = {"main", "outer", "inner", "burn", "to_library", "burn_for", "recurse", "signals", "handler", "in_thread",
        "reads"}


def folded(db, comm):
    """Paths of procedures, outermost first, and their samples."""
    paths = {}
    for line in sh(DWELL, "export", "--folded", "--no-inline", "--db", db, "--comm", comm).splitlines():
        path, n = line.rsplit(" ", 1)
        path = tuple(path.split(";")[1:])
        paths[path] = paths.get(path, 0) + int(n)
    return paths


def ours(paths):
    """The same with our own procedures only, of whole paths; and how many samples were not whole."""
    tree, cut = {}, 0
    for path, n in paths.items():
        if path and path[0].startswith("[truncated"):
            cut += n
            continue
        own = tuple(p for p in path if p in OURS)
        tree[own] = tree.get(own, 0) + n
    return tree, cut


def check_tree(db, what, whole=0.97):
    """Every path has its share, and nearly all samples have a whole one."""
    tree, cut = ours(folded(db, "calls"))
    burning = {p: n for p, n in tree.items() if p and p[-1] == "burn"}
    total = sum(burning.values())
    note("%s: %d samples, %d of them not whole" % (what, sum(tree.values()) + cut, cut))
    check(total > 800, "%s: only %d samples in burn" % (what, total))
    check(cut <= (1 - whole) * (total + cut), "%s: %d of %d are not whole" % (what, cut, total + cut))
    for path, share in TREE.items():
        near(burning.get(path, 0), total, share, "%s: %s" % (what, " > ".join(path)))
    other = {p: n for p, n in burning.items() if p not in TREE}
    check(sum(other.values()) <= 0.01 * total, "%s: paths that do not exist: %s" % (what, other))
    return burning


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
        a = record(*args, *RATE, "--", "sh", "-c", "%s 1000; exec %s %d" % (prog("calls"), prog("calls"), ROUNDS),
                   db=name)
        c = check_account(a, name)
        note("%s: %s, %s" % (name, c, a["call_paths"]))
        check(a["call_paths"]["tables_built"] > 0, "no table was built")
        found[name] = check_tree(name, name, whole=0.9)
    for path in TREE:
        same_share(found["bpf"].get(path, 0), sum(found["bpf"].values()),
                   found["copies"].get(path, 0), sum(found["copies"].values()), " > ".join(path))


def by_frame_pointers():
    """Built with frame pointers, they alone show the same tree; each caller is marked as guessed."""
    for engine in "bpf", "ring":
        a = record("--engine", engine, "--call-graph", "fp", *RATE, "--", prog("calls_fp"), ROUNDS, db=engine)
        c = check_account(a, engine)
        check(c["guessed"] > 0.8 * a["events"][0]["samples"], "guessed: %s" % c)
        tree, cut = {}, 0
        for path, n in folded(engine, "calls_fp").items():
            # Whatever the C library, which has no frame pointers, makes of what is above main.
            own = tuple(p for p in path if p in OURS)
            tree[own] = tree.get(own, 0) + n
        total = sum(n for p, n in tree.items() if p and p[-1] == "burn")
        near(tree.get(("main", "outer", "inner", "burn"), 0), total, 6 / 20, engine + ": outer")
        near(tree.get(("in_thread", "inner", "burn"), 0), total, 5 / 20, engine + ": in_thread")


def kernel_and_user():
    """A system call's samples have the kernel's part below the program's own."""
    with running(prog("calls"), "system"):
        a = record("-g", "-a", *RATE, "-d", "2")
    paths = folded("db", "calls")
    total = sum(paths.values())
    joined = sum(n for p, n in paths.items()
                 if "main" in p and "reads" in p and p[-1].endswith("_[k]")
                 and p.index("main") < p.index("reads") < len(p) - 1
                 and not any(q.endswith("_[k]") for q in p[:p.index("reads")]))
    note("%d of %d samples joined; %s" % (joined, total, a["events"][0]["call_paths"]))
    check(total > 1000, "only %d samples" % total)
    check(joined > 0.85 * total, "%d of %d are joined: %s" % (joined, total, sorted(paths.items())[:5]))


def flat_sums():
    """What has call paths and what has none say the same of places; DCPI's files can be written."""
    record("-g", *RATE, "--", prog("calls"), ROUNDS, db="paths")
    rows = Prof(db="paths")
    n = sum(ours(folded("paths", "calls"))[0].values()) + ours(folded("paths", "calls"))[1]
    check(rows.n() >= n > 0.9 * rows.n(), "%d samples in rows, %d in paths of one command" % (rows.n(), n))
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
    check(c["truncated"].get("too deep", 0) > 0.8 * a["events"][0]["samples"], "not too deep: %s" % c)


def little_memory():
    """Tables that do not fit are put off; every sample keeps its place."""
    a = record("-g", "-a", "--unwind-memory", "1M", *RATE, "--", prog("calls"), ROUNDS)
    check_account(a, "little memory")
    t = a["call_paths"]
    note(t)
    check(t["table_bytes_most"] <= 1 << 20, "more than was allowed: %s" % t)


run(whole_trees, by_frame_pointers, kernel_and_user, flat_sums, deep_recursion, little_memory)
