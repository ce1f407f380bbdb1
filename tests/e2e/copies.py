# SPDX-License-Identifier: BSD-2-Clause
"""A sample in code whose unwind table is not there yet has its path all the same: its stack is copied, and walked when
the table is there, to the path that a walk in the kernel finds."""
import shutil

from calls import RATE, TREE, check_account, folded, ours
from e2e import *


def fresh_programs(n):
    """Programs that no recorder has met, one after another: a script that runs them."""
    for i in range(n):
        shutil.copy(prog("calls"), "calls")
        os.replace("calls", "calls%d" % i)
    return "for i in $(seq 0 %d); do ./calls$i 3; done" % (n - 1)


def recorded(n, **env):
    os.environ.update(env)
    a = record("-g", *RATE, "--", "sh", "-c", fresh_programs(n))
    for name in env:
        del os.environ[name]
    tree, cut = {}, 0
    for i in range(n):
        more, more_cut = ours(folded("db", "calls%d" % i))
        cut += more_cut
        for path, k in more.items():
            tree[path] = tree.get(path, 0) + k
    return a, tree, cut


def whole_from_the_first_sample():
    a, tree, cut = recorded(int(longer(40)))
    check_account(a, "copies")
    paths = a["call_paths"]
    total = sum(tree.values()) + cut
    note("%d samples, %d not whole; %s" % (total, cut, paths))
    check(paths["copies_walked"] >= paths["copies_given_up"], "more given up than walked")
    enough(paths["copies_walked"], 20, "stacks that were copied")
    enough(total, 300, "samples")
    most(cut, total, 0.02, "not whole")
    burning = {p: n for p, n in tree.items() if p and p[-1] == "burn"}
    other = {p: n for p, n in burning.items() if p not in TREE}
    most(sum(other.values()), sum(burning.values()), 0.01, "paths that do not exist: %s" % other)


def truncated_without():
    """What the first test sees is the copies' doing."""
    a, tree, cut = recorded(int(longer(40)), DWELL_NO_COPIES="1")
    check(a["call_paths"]["copies_walked"] == 0, "stacks were copied")
    enough(cut, 20, "truncated paths")


if __name__ == "__main__":
    run(whole_from_the_first_sample, truncated_without)
