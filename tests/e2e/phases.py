# SPDX-License-Identifier: BSD-2-Clause
"""What a runtime does by itself (collecting garbage, compiling), against what it says of that itself."""
from e2e import *

COLLECTS, COMPILES = "[garbage collection]", "[JIT compiling]"

PYTHON = '''
import gc, time
class Node:
    def __init__(self): self.me = self
spent = [0, 0]
def on_collect(phase, info):
    spent[1] = time.thread_time()
    if phase == "stop": spent[0] += spent[1] - on_collect.begin
    on_collect.begin = spent[1]
gc.callbacks.append(on_collect)
kept = [Node() for i in range(100000)]
def make():
    for i in range(20000): Node()
begin, end = time.thread_time(), time.time() + %g
while time.time() < end: make()
open("spent", "w").write("%%g %%g" %% (spent[0], time.thread_time() - begin))
'''

NODE = '''
const { PerformanceObserver } = require("perf_hooks");
let spent = 0;
new PerformanceObserver(list => { for (const e of list.getEntries()) spent += e.duration; }).observe({ entryTypes: ["gc"] });
class Tree { constructor(d) { if (d > 0) { this.l = new Tree(d - 1); this.r = new Tree(d - 1); } } }
const kept = []; let n = 0;
const end = Date.now() + %g * 1000;
function make() { for (let i = 0; i < 4; i++) kept[n++ %% 20] = new Tree(14); if (Date.now() < end) setImmediate(make); }
make();
'''

JAVA = '''
import java.util.*;
public class Garbage {
    static final Object[] kept = new Object[1000];
    static Object make() { List<byte[]> l = new ArrayList<>(); for (int k = 0; k < 200; k++) l.add(new byte[500]); return l; }
    public static void main(String[] a) {
        long end = System.nanoTime() + (long)(1e9 * Double.parseDouble(a[0]));
        for (int i = 0; System.nanoTime() < end; i++) kept[i % 1000] = make();
    }
}
'''


def written(name, text):
    with open(name, "w") as f:
        f.write(text)
    return name


def share(mark, paths):
    return sum(n for path, n in paths if mark in path)


def python_collects():
    """A collection's share is what the program measures between its beginning and end, on the clock of its thread."""
    python = sys.executable
    written("garbage.py", PYTHON % longer(3))
    record("-g", "-e", "cpu-clock", "-c", 500009, "--", python, "garbage.py")
    with open("spent") as f:
        spent, ran = map(float, f.read().split())
    found = [(path, n) for path, n in folded_paths("--no-inline") if "make" in path]
    if not share(COLLECTS, found) and "gc_collect_main" not in sh("sh", "-c", "nm $(ldd %s | grep -o '/[^ ]*libpython[^ ]*') %s 2>/dev/null || :" % (python, python)):
        raise Skipped("%s has no names of its own procedures" % python)
    total = sum(n for _, n in found)
    enough(total, 500, "samples")
    # What it measures has a part of its own callback in it.
    near(share(COLLECTS, found), total, spent / ran, COLLECTS, 0.04)


def node_collects():
    if not shutil.which("node"):
        raise Skipped("no node")
    written("garbage.js", NODE % longer(3))
    record("-g", "-e", "cpu-clock", "-c", 500009, "--", "node", "garbage.js")
    found = folded_paths("--no-inline")
    main = [(path, n) for path, n in found if "make" in path]
    enough(sum(n for _, n in main), 200, "samples")
    least(share(COLLECTS, main), sum(n for _, n in main), 0.1, COLLECTS)
    for path, _ in found:
        check(sum(f in (COLLECTS, COMPILES) for f in path) <= 1, "two at once: %s" % path)
    whole = folded_paths("--no-inline", "--runtime-frames")
    check(not share(COLLECTS, whole), "--runtime-frames shows V8's own procedures")
    collected = sum(n for path, n in whole if any("CollectGarbage" in f or "Scavenger" in f for f in path))
    check(share(COLLECTS, found) >= collected, "%d samples in what collects, %d shown" % (collected, share(COLLECTS, found)))


def java_threads():
    """HotSpot's threads say what they are for."""
    if not shutil.which("javac"):
        raise Skipped("no javac")
    sh("javac", "-d", ".", written("Garbage.java", JAVA))
    record("-g", "-e", "cpu-clock", "-c", 500009, "--", "java", "-Xmx300m", "-cp", ".", "Garbage", longer(3))
    found = folded_paths("--no-inline")
    jvm = [(path, n) for path, n in found if "[no symbol]" not in path]
    enough(share(COLLECTS, jvm), 200, "samples of collections")
    enough(share(COMPILES, jvm), 5, "samples of compilations")
    whole = folded_paths("--no-inline", "--runtime-frames")
    for name, mark in ("GangWorker::run", COLLECTS), ("CompileBroker::compiler_thread_loop", COMPILES):
        there = sum(n for path, n in whole if any(name in f for f in path))
        check(share(mark, found) >= there, "%s: %d samples, %d shown" % (name, there, share(mark, found)))


run(python_collects, services=[node_collects, java_threads])
