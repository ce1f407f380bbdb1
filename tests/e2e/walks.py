# SPDX-License-Identifier: BSD-2-Clause
"""Known call paths through optimised code without frame pointers: executable, library, threads, signals, contexts."""
from e2e import *

MAIN = "_start;__libc_start_main;__libc_start_call_main;main"


def paths(what):
    """The user part of each sample's path below the process, and the number of samples with it."""
    record("-g", "-e", "cpu-clock", "-c", 500009, "--", prog("walks"), what, longer(1.5))
    ret = {}
    for line in sh(DWELL, "export", "--folded", "--no-inline", "--comm", "walks", "--db", "db").splitlines():
        path, n = line.rsplit(" ", 1)
        user = ";".join(f for f in path.split(";")[1:] if not f.endswith("_[k]"))
        ret[user] = ret.get(user, 0) + int(n)
    return ret


def ends(found, expected, share=0.97):
    """At least SHARE of the samples in leaf() have exactly the path EXPECTED."""
    leaf = {p: n for p, n in found.items() if p.endswith(expected.rsplit(";", 1)[1])}
    n = sum(leaf.values())
    enough(n, 500, "samples: %s" % found)
    note("%d of %d as expected" % (leaf.get(expected, 0), n))
    # Before its first table is built, a program's paths are guessed or truncated, and say so.
    least(leaf.get(expected, 0), n, share, "%s: %s" % (expected, leaf))


def executable_and_library():
    ends(paths("path"), MAIN + ";of_any_size;realigned;through_library;library_calls;called_back;leaf")


def deep():
    ends(paths("deep"), MAIN + ";down" * 101 + ";leaf")


def too_deep():
    found = paths("too_deep")
    cut = {p: n for p, n in found.items() if p.startswith("[truncated: too deep];")}
    # On its way down it is not too deep yet: some samples of thousands.
    shallow = sum(n for p, n in found.items() if p.startswith("_start") and "down" in p)
    most(shallow, sum(found.values()), 0.01, "a wrong root: %s" % list(found)[:3])
    enough(sum(cut.values()), 500, "samples that are cut")
    likely(all(p.count(";down") > 500 for p in cut), "%s" % list(found)[:3])


def a_signal_on_a_stack_of_its_own():
    found = {p.replace("interrupted.cold", "interrupted"): n for p, n in paths("signal").items()}
    ends(found, MAIN + ";interrupted;__restore_rt;after_ud2;leaf", 0.95)


def a_thread():
    ends(paths("thread"), "clone3;start_thread;thread;realigned;through_library;library_calls;called_back;leaf")


def a_context():
    ends(paths("context"), "__start_context;in_context;called_back;leaf")


def from_the_kernel():
    ends(paths("kernel"), MAIN + ";in_kernel;read")


run(executable_and_library, deep, too_deep, a_signal_on_a_stack_of_its_own, a_thread, a_context, from_the_kernel)
