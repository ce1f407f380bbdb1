# SPDX-License-Identifier: BSD-2-Clause
"""Code that is made while it runs, and told of: perf maps as V8 and CPython write them, jitdumps as V8 does."""
import glob
import re

from e2e import *

RATE = ["-e", "cpu-clock", "-c", 500009]
FAST = ["-e", "cpu-clock", "-c", 100003]  # cycles of 0.4 s

# hot() has three times the work of warm(); each is compiled in the first milliseconds.
HOT_JS = """
function hot(n) { let s = 0; for (let i = 0; i < 3 * n; i++) s = (s * 31 + i) % 1000003; return s; }
function warm(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }
function both(n) { return hot(n) + warm(n); }
const ran = () => process.cpuUsage().user / 1000;
const end = ran() + MS;
let sum = 0;
while (ran() < end) sum += both(50000 + Math.floor(100000 * Math.random()));
"""

# Compiles procedures one after the other, named after the half of the time they run in, and drops each: with
# every collection their memory is used again.
CHURN_JS = """
const begin = Date.now(), took = {first: 0, second: 0};
let sum = 0, i = 0;
while (Date.now() < begin + MS) {
  const half = Date.now() < begin + MS / 2 ? 'first' : 'second';
  const f = new Function(`return function ${half}_${i}(n) { let s = ${i};
    for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }`)();
  const before = process.cpuUsage().user;
  for (let k = 0; k < 20; k++) sum += f(20000);
  took[half] += process.cpuUsage().user - before;
  if (++i % 100 == 0) gc();
}
require('fs').writeFileSync('took.json', JSON.stringify(took));
"""


def node(script, *options, rate=RATE, ms=1000):
    with open("work.js", "w") as f:
        f.write(script.replace("MS", str(longer(ms))))
    account = record(*rate, "--", "node", *options, os.path.abspath("work.js"))
    for path in glob.glob("/tmp/perf-*.map"):
        with contextlib.suppress(FileNotFoundError), open(path, errors="replace") as f:  # others' go meanwhile
            if os.getcwd() in f.read():
                os.unlink(path)
    return account


def named(p):
    """Share of the samples in generated code that have a name."""
    jit = [r for r in p.rows if r["kind"] == "jit"]
    n = sum(r["counts"].get(p.event, 0) for r in jit)
    without = sum(r["counts"].get(p.event, 0) for r in jit if r["procedure"] == "[no symbol]")
    anon = p.n(kind="anon")
    note("%d samples in generated code, %d without a name; %d in nameless memory; %d of node's processes" %
         (n, without, anon, p.n()))
    enough(n + anon, 100, "samples in generated code: %s" % p.images())
    return (n - without) / (n + anon)


def js(function):
    """A pattern for what V8 calls FUNCTION: JS:*hot /a/b.js:2:13, in Node 18 LazyCompile:*hot ..."""
    return r"^\w+:[*^~+]?%s /.*work\.js:" % function


def js_path(function):
    """A pattern for FUNCTION in a call path, where it has the name of its code, or the one that was read in V8."""
    return js(function) + r".*_\[j\]$|^%s$" % function


def share(p, function):
    """Samples in the JavaScript procedure FUNCTION, however often it was compiled."""
    return sum(r["counts"].get(p.event, 0) for r in p.rows
               if r["kind"] == "jit" and re.search(js(function), r["procedure"]))


def hot_and_warm():
    p = Prof()
    check({r["image"] for r in p.rows if r["kind"] == "jit"} == {"[jit] node"}, "images %s" % p.images())
    likely(named(p) > 0.99, "named %.4f of it" % named(p))
    hot, warm = share(p, "hot"), share(p, "warm")
    least(hot + warm, p.n(), 0.8, "hot and warm")
    near(hot, hot + warm, 0.75, "hot() beside warm()", slack=0.03)


def called_by(frame, caller, at_least=0.97, share=0.9):
    """AT_LEAST so many samples of FRAME, a pattern, are below CALLER, directly or at some remove, and below the
    process's entry; those apart that met an image before its unwind table was there, which SHARE have not."""
    mine = [(path, n) for path, n in folded_paths() if re.search(frame, path[-1])]
    early = sum(n for path, n in mine if path[0] == "[truncated: no unwind table]")
    below = [(path, n) for path, n in mine if any(re.search(caller, f) for f in path[:-1])
             and "__libc_start_main" in path]
    n, n_below = sum(n for _, n in mine), sum(n for _, n in below)
    note("%s: %d samples, %d of them below %s, %d early; deepest %s" %
         (frame, n, n_below, caller, early, max((len(path) for path, _ in mine), default=0)))
    enough(n, 100, "samples of " + frame)
    least(n_below, n - early, at_least, "%s below %s: %s" % (frame, caller, mine[:3]))
    least(n_below, n, share, "%d early" % early)


# With this option V8 gives every interpreted procedure a frame of its own to be seen by.
INTERPRETED = "--interpreted-frames-native-stack"


def node_call_paths_with_a_map():
    node(HOT_JS, "--perf-basic-prof", INTERPRETED, rate=[*RATE, "-g"])
    called_by(js_path("hot"), js_path("both"))


def node_call_paths_with_a_dump():
    node(HOT_JS, "--perf-prof", INTERPRETED, rate=[*RATE, "-g"])
    called_by(js_path("hot"), js_path("both"))


def node_with_a_map():
    node(HOT_JS, "--perf-basic-prof")
    hot_and_warm()


def node_with_a_dump():
    node(HOT_JS, "--perf-prof")
    check(glob.glob("jit-*.dump"), "node wrote no dump: %s" % os.listdir())
    hot_and_warm()


def node_with_a_dump_from_the_middle():
    """The dump was mapped before the recording began."""
    with open("work.js", "w") as f:
        f.write(HOT_JS.replace("MS", str(longer(2000))))
    with running("node", "--perf-prof", "work.js") as p:
        wait_for(lambda: glob.glob("jit-*.dump"), "node to begin")
        time.sleep(0.5)  # a part of its life
        with Recording("-p", p.pid, *RATE):
            p.wait()
    hot_and_warm()


def node_with_a_dump_that_has_no_name():
    node(HOT_JS, "--perf-prof", "--perf-prof-delete-file")
    check(not glob.glob("jit-*.dump"), "node kept its dump: %s" % os.listdir())
    hot_and_warm()


def code_that_comes_and_goes(option):
    """Were all samples of an address named after who had it last, nearly none would be of the first half."""
    node(CHURN_JS, "--expose-gc", option, rate=FAST, ms=2000)
    p = Prof()
    likely(named(p) > 0.99, "%.4f of it named" % named(p))
    n = {half: sum(r["counts"].get(p.event, 0) for r in p.rows if half + "_" in (r["procedure"] or ""))
         for half in ("first", "second")}
    with open("took.json") as f:
        took = json.load(f)
    near(n["first"], sum(n.values()), took["first"] / sum(took.values()), "the first half", slack=0.2)


def node_that_compiles_all_the_time_with_a_map():
    code_that_comes_and_goes("--perf-basic-prof")


def node_that_compiles_all_the_time_with_a_dump():
    code_that_comes_and_goes("--perf-prof")


def run_trampolines(*argv):
    p = subprocess.run([DWELL, "record", "--json", "--db", "db", *map(str, RATE), *argv], capture_output=True,
                       text=True, check=True)
    for path in (s for s in p.stdout.splitlines() if s.startswith("/tmp/perf-")):
        os.unlink(path)


def trampolines_of_an_interpreter():
    run_trampolines("--", prog("generated"), "trampolines", str(longer(0.8)))
    p = Prof()
    procedures = p.procedures("[jit] generated")
    note(procedures)
    inner, aside = (procedures.get("py::%s:/srv/my app.py" % name, 0) for name in ("inner", "aside"))
    least(inner + aside, p.n(), 0.9, "%s" % procedures)
    near(inner, inner + aside, 0.75, "py::inner beside py::aside", slack=0.01)


def call_paths_through_trampolines():
    """Without frame pointers, on x86-64."""
    run_trampolines("-g", "--", prog("generated"), "calls", str(longer(2)))
    called_by("^(spend|spin)", "^py::(inner|aside):/srv/my app.py")
    called_by("^(spend|spin)", "^py::outer:/srv/my app.py")


def used_again(slack, *engine):
    record(*FAST, *engine, "--", prog("generated"), "dump", longer(2))
    p = Prof()
    procedures = p.procedures("[jit] generated")
    note(procedures)
    check(set(procedures) <= {"before", "after"}, "procedures %s" % procedures)
    likely(len(procedures) == 2, "procedures %s" % procedures)
    n = sum(procedures.values())
    least(n, p.n(), 0.9, "in generated code")
    near(procedures["before"], n, 0.5, "the one that was there before", slack=slack)


def an_address_used_again():
    """What ran at an address keeps its name when something else runs there, but for a cycle."""
    used_again(0.3)


def an_address_used_again_with_times():
    """Samples of perf rings tell their time."""
    used_again(0.04, "--engine", "ring")


run(trampolines_of_an_interpreter, call_paths_through_trampolines, an_address_used_again, an_address_used_again_with_times,
    services=[node_with_a_map, node_with_a_dump, node_with_a_dump_from_the_middle, node_with_a_dump_that_has_no_name,
              node_that_compiles_all_the_time_with_a_map, node_that_compiles_all_the_time_with_a_dump,
              node_call_paths_with_a_map, node_call_paths_with_a_dump])
