# SPDX-License-Identifier: BSD-2-Clause
"""A sample in code whose unwind table is not there yet has its path all the same: its stack is copied, and walked when
the table is there, to the path that a walk in the kernel finds."""
import random
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


SQUEEZE = """
import ctypes, glob, os, shutil, sys
lib = os.path.realpath(next(p for d in ("/lib", "/usr/lib") for p in glob.glob(d + "/*/libz.so.1")))
data, to, n = bytes(range(256)) * 400, ctypes.create_string_buffer(200000), ctypes.c_ulong()
def w_squeeze(z):
    n.value = len(to)
    z.compress2(to, ctypes.byref(n), data, ctypes.c_ulong(len(data)), 6)
def w_each(k):
    for i in range(k):
        shutil.copy(lib, "lib%d.so" % i)
        z = ctypes.CDLL("./lib%d.so" % i)
        for _ in range(8):
            w_squeeze(z)
        os.unlink("lib%d.so" % i)
w_each(int(sys.argv[1]))
"""


def functions_of_an_interpreter():
    """Python calls into libraries that nobody has a table for: its functions are in the paths."""
    a = record("-g", *RATE, "--", sys.executable, "-c", SQUEEZE, int(longer(80)))
    check_account(a, "interpreter")
    inside = [(path, n) for path, n in folded_paths() if "compress2" in path]
    total = sum(n for _, n in inside)
    functions = ["<module>", "w_each", "w_squeeze"]
    named = sum(n for path, n in inside if [f for f in path if f in functions] == functions)
    note("%d samples, %d with Python's functions; %s" % (total, named, a["call_paths"]))
    enough(a["call_paths"]["copies_walked"], 20, "stacks that were copied")
    enough(total, 200, "samples")
    least(named, total, 0.99, "with Python's functions")


def bytes_of(path):
    return open(path, "rb").read() if os.path.exists(path) else b""


def flip_each(path, r):
    """Flips a bit of each kept table; returns their bytes by name."""
    flipped = {}
    for name in os.listdir(path):
        file = os.path.join(path, name)
        data = bytearray(bytes_of(file))
        data[r.randrange(len(data))] ^= 1 << r.randrange(8)
        with open(file, "r+b") as f:
            f.write(data)
        flipped[name] = bytes(data)
    return flipped


def damaged_tables_are_made_again():
    """A flipped bit in each kept table leads to no wrong path: the tables are refused and made anew."""
    script = "for k in 1 2 3 4 5; do %s; done" % fresh_programs(1)
    record("-g", *RATE, "--", "sh", "-c", script)
    flipped = flip_each("db/tables", random.Random(18))
    check(len(flipped) > 1, "%d tables were kept" % len(flipped))
    a = record("-g", *RATE, "--", "sh", "-c", script)
    check_account(a, "damaged tables")
    tree, cut = ours(folded("db", "calls0"))
    burning = {p: n for p, n in tree.items() if p and p[-1] == "burn"}
    other = {p: n for p, n in burning.items() if p not in TREE}
    left = [name for name, data in flipped.items() if bytes_of(os.path.join("db/tables", name)) == data]
    note("%d tables flipped, %d not asked for; %d samples, %d not whole" %
         (len(flipped), len(left), sum(tree.values()), cut))
    enough(sum(burning.values()), 50, "samples")
    check(len(left) < len(flipped), "no damaged table was made again")
    most(sum(other.values()), sum(burning.values()), 0.01, "paths that do not exist: %s" % other)


if __name__ == "__main__":
    run(whole_from_the_first_sample, functions_of_an_interpreter, truncated_without, damaged_tables_are_made_again)
