# SPDX-License-Identifier: BSD-2-Clause
"""Shares by function, beside what the runtime's own profiler says of the same run: cProfile, V8's --cpu-prof, HotSpot's
perf map with perf, Go's runtime/pprof."""
import go_graph
import node_graph
from e2e import *

PERIOD_NS = 500009
SAMPLING = ("-g", "-e", "cpu-clock", "-c", PERIOD_NS)


def written(name, text):
    with open(name, "w", encoding="utf-8") as f:
        f.write(text)
    return os.path.abspath(name)


def agree(ours, n_ours, theirs, n_theirs, what, slack):
    """OURS and THEIRS are samples (N_THEIRS None: shares without chance) by function.  Misses unless each share is
    within SIGMAS, and all are within two on average; SLACK of systematic difference is taken off."""
    squares = []
    for name in sorted(set(ours) | set(theirs)):
        a, b = ours.get(name, 0) / n_ours, theirs.get(name, 0) / (n_theirs or 1)
        p = (ours.get(name, 0) + theirs.get(name, 0)) / (n_ours + n_theirs) if n_theirs else b
        sigma = math.sqrt(max(p * (1 - p), 1 / n_ours) * (1 / n_ours + (1 / n_theirs if n_theirs else 0)))
        off = max(0, abs(a - b) - slack) / sigma
        note("%s: %s %.2f %%, %s %.2f %%, %.1f sigma" % (what, name, 100 * a, "its own", 100 * b, (a - b) / sigma))
        likely(off <= SIGMAS, "%s: %s has %.4f, %.4f by its own profiler" % (what, name, a, b))
        squares.append(off * off)
    enough(len(squares), 4, "functions")
    rms = math.sqrt(sum(squares) / len(squares))
    note("%s: %.2f sigma on average of %d functions, %d samples" % (what, rms, len(squares), n_ours))
    likely(rms <= 2, "%s: %.2f sigma on average" % (what, rms))


def inclusive(paths, begin):
    """Samples by function that is on the path, and all, of paths with functions that begin with BEGIN."""
    by_name, total = {}, 0
    for path, n in paths:
        names = {f for f in path if f.startswith(begin)}
        for name in names:
            by_name[name] = by_name.get(name, 0) + n
        total += n if names else 0
    return by_name, total


PYTHON = '''
import cProfile, json, sys, time
def w_spin(n):
    x = 0
    for i in range(n): x += i & 3
    return x
def w_key(x): return w_spin(3000) + x
def w_sort(): return sorted(range(20), key=w_key)
def w_recurse(n): return w_recurse(n - 1) if n else w_spin(40000)
def w_generated(n):
    for i in range(n):
        w_spin(2000)
        yield i
def w_generate(): return sum(w_generated(10))
def w_join(): return "".join(map(str, range(1000))).count("7")
def w_own():
    n = 0
    while n < 30000: n += 1
def w_main():
    end = time.time() + %g
    while time.time() < end:
        w_sort(); w_recurse(20); w_generate(); w_own(); w_spin(20000)
        for i in range(20): w_join()
profile = cProfile.Profile(time.process_time)
profile.runcall(w_main)
profile.create_stats()
json.dump({key[2]: value[3] for key, value in profile.stats.items()}, open("own", "w"))
'''


def python():
    """cProfile measures each call with the clock of the process's CPU time."""
    record(*SAMPLING, "--", "/usr/bin/python3.11", written("own.py", PYTHON % longer(3)))
    with open("own", encoding="utf-8") as f:
        seconds = {name: s for name, s in json.load(f).items() if name.startswith("w_")}
    ours, total = inclusive(folded_paths("--no-inline"), "w_")
    enough(total, 2000, "samples")
    # It does not measure what it does itself before and after each call: that is the caller's.
    agree(ours, total, {name: s / seconds["w_main"] for name, s in seconds.items()}, None, "cProfile", 0.01)
    functions_known(0.999)


def node():
    if not shutil.which("node"):
        raise Skipped("no node")
    record(*SAMPLING, "--", "node", "--cpu-prof", "--cpu-prof-name=own", "--cpu-prof-interval=500",
           "--no-turbo-inlining", node_graph.WORK, "w_main", longer(4))
    with open("own", encoding="utf-8") as f:
        nodes = {n["id"]: n for n in json.load(f)["nodes"]}
    parents = {child: n["id"] for n in nodes.values() for child in n.get("children", ())}
    paths = []
    for n in nodes.values():
        path, at = [], n["id"]
        while at:
            path.append(nodes[at]["callFrame"]["functionName"])
            at = parents.get(at)
        paths.append((path, n["hitCount"]))
    theirs, n_theirs = inclusive(paths, "w_")
    # It shows collections beside the functions, not in them.
    ours, n_ours = inclusive([(path, n) for path, n in folded_paths("--no-inline") if "[garbage collection]" not in path],
                             "w_")
    enough(min(n_ours, n_theirs), 1500, "samples")
    agree(ours, n_ours, theirs, n_theirs, "--cpu-prof", 0.01)
    # What runs between the calls of optimised code has no line: V8 does not say which function it was inlined from.
    functions_known(0.5)


JAVA = '''
public class Own {
    static int sink;
    static int w_one(int n) { int x = 1; for (int i = 0; i < n; i++) x = x * 31 + (x >>> 3); return x; }
    static int w_two(int n) { int x = 1; for (int i = 0; i < n; i++) x = x * 17 ^ (x >>> 5); return x; }
    static double w_three(int n) { double x = 1; for (int i = 0; i < n; i++) x = x * 1.0001 + 1 / x; return x; }
    static int w_four(byte[] b) { int x = 1; for (int i = 0; i < b.length; i++) x = x * 31 + b[i]; return x; }
    static int w_below(int n) { return n > 0 ? w_below(n - 1) + 1 : w_one(5000); }
    public static void main(String[] a) {
        byte[] bytes = new byte[20000];
        long end = System.nanoTime() + (long)(1e9 * Double.parseDouble(a[0]));
        while (System.nanoTime() < end) {
            sink += w_one(10000) + w_two(10000) + (int)w_three(3000) + w_four(bytes) + w_below(30);
        }
    }
}
'''


def java():
    """perf, which samples the same run, with the map that HotSpot writes when it ends."""
    for program in "javac", "perf":
        if not shutil.which(program):
            raise Skipped("no " + program)
    sh("javac", "-d", ".", written("Own.java", JAVA))
    # Threads of compilers and collectors are native alone.
    sh("perf", "record", "-q", "-o", "perf.data", "-e", "cpu-clock:u", "-c", PERIOD_NS, "--", DWELL, "record", "--db", "db",
       *map(str, SAMPLING), "--", "java", "-XX:-Inline", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit", "-cp",
       ".", "Own", str(longer(4)))
    theirs, ours = {}, {}
    for line in sh("perf", "script", "-i", "perf.data", "--comm", "java", "-F", "comm,ip,sym").splitlines():
        name = re.search(r"\bOwn\.(w_\w+)\(", line)
        if name:
            theirs[name.group(1)] = theirs.get(name.group(1), 0) + 1
    for path, n in folded_paths("--no-inline", "--comm", "java"):
        # What the kernel does meanwhile is not in perf's samples of user space.
        if path[-1].startswith("Own.w_"):
            ours[path[-1][4:]] = ours.get(path[-1][4:], 0) + n
    n_ours, n_theirs = sum(ours.values()), sum(theirs.values())
    enough(min(n_ours, n_theirs), 1500, "samples")
    # Interpreted calls have no address of their own in a map.
    agree(ours, n_ours, theirs, n_theirs, "perf map", 0.01)
    functions_known(0.98)  # classes that HotSpot makes itself have none


GO = '''
package main
import ("os"; "runtime"; "runtime/pprof"; "sort"; "strconv"; "time")
var sink int
//go:noinline
func w_spin(n int) int { x := 1; for i := 0; i < n; i++ { x = x*1103515245 + i }; return x }
//go:noinline
func w_below(n int) int { if n > 0 { return w_below(n-1) + 1 }; return w_spin(60000) }
//go:noinline
func w_sort(v []int) {
	for i := range v { v[i] = len(v) - i*7%%len(v) }
	sort.Slice(v, func(a, b int) bool { return v[a] < v[b] })
}
//go:noinline
func w_divide(n int) int { x := n; for i := 1; i < n; i++ { x += n / i }; return x }
//go:noinline
func w_sum(v []int) int { x := 0; for i := range v { x += v[i] }; return x }
//go:noinline
func w_main(end time.Time) {
	v := make([]int, 1000)
	for time.Now().Before(end) {
		sink = w_spin(100000) + w_below(20) + w_divide(20000)
		w_sort(v)
		for i := 0; i < 100; i++ { sink += w_sum(v) }
	}
}
func main() {
	own, _ := os.Create("own.pprof")
	runtime.SetCPUProfileRate(250) // StartCPUProfile keeps it, though it says that it cannot
	pprof.StartCPUProfile(own)
	seconds, _ := strconv.ParseFloat(os.Args[1], 64)
	w_main(time.Now().Add(time.Duration(seconds * 1e9)))
	pprof.StopCPUProfile()
}
'''


def go():
    if not shutil.which("go"):
        raise Skipped("no go")
    written("own.go", GO.replace("%%", "%"))
    cwd = os.getcwd()
    sh("go", "build", "-o", "own", "own.go", env={**os.environ, "GOCACHE": cwd + "/cache", "GOPATH": cwd + "/path", "GO111MODULE": "off"})
    record(*SAMPLING, "--", "./own", longer(4))
    theirs = {}
    for line in sh("go", "tool", "pprof", "-top", "-nodecount=100000", "-nodefraction=0", "-sample_index=samples", "own",
                   "own.pprof").splitlines():
        words = line.split()
        if len(words) >= 6 and words[5].startswith("main.w_"):
            theirs[words[5]] = int(words[3])
    ours, n_ours = inclusive([(go_graph.bare(path), n) for path, n in folded_paths()], "main.w_")
    n_theirs = theirs.get("main.w_main", 0)
    enough(n_ours, 1500, "samples")
    enough(n_theirs, 200, "samples of its own")
    agree(ours, n_ours, theirs, n_theirs, "runtime/pprof", 0.01)


if __name__ == "__main__":
    run(python, services=[node, java, go])
