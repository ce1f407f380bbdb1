# SPDX-License-Identifier: BSD-2-Clause
"""What recorded call paths of the program JavaWork.java say, held against its own call graph."""
from e2e import *

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "JavaWork.java")
# Compiled methods as they are called.
CALLED = ["-XX:-Inline"]
# As they are inlined, with a place of the source for each instruction.
DETAILED = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"]
path_of_classes = None  # where the program sees them; None: they are compiled here


def compiled():
    if not os.path.exists("JavaWork.class"):
        sh("javac", "--release", "8", "-Xlint:-options", "-d", ".", SOURCE)
    return os.getcwd()


def work(java, *argv, options=(), record_argv=()):
    return record("-g", "-e", "cpu-clock", "-c", 500009, *record_argv, "--", *java, *options, "-cp", path_of_classes or compiled(), "JavaWork", *argv)


def ours_of(path):
    return [f.rsplit(".", 1)[1] for f in path if re.search(r"^JavaWork[\w$]*\.w_", f)]


def every_way_of_calling(java, options=CALLED, entry="ThreadJavaMain"):
    work(java, "w_main", longer(4), options=options)
    is_known(entry=entry)


def inlined(java):
    """Methods that the compilers inlined, first as a JVM is started: where a loop never stops its time is the method's
    that it was inlined into, and a method may have none."""
    work(java, "w_main", longer(4))
    is_known(has_all=False)
    work(java, "w_main", longer(4), options=DETAILED)
    is_known()
    found = folded_paths("--no-inline")
    spins = sum(n for path, n in found if path[-1] == "JavaWork.w_spin")
    least(spins, sum(n for path, n in found if ours_of(path)), 0.6, "samples in w_spin")
    sorts = [path for path, _ in found if ours_of(path)[-2:] == ["w_compared", "w_spin"]]
    likely(sorts, "no path with w_compared")


def lines_of_compiled_code(java):
    """Samples lie in the two lines of w_spin's loop, and say which line called."""
    work(java, "w_shares", longer(3), options=DETAILED)
    a_third([r for r in Prof().rows if r["kind"] == "script"], "JavaWork.")
    with open(SOURCE) as source:
        text = source.read().split("\n")
    rows = [r for r in Prof("--by", "line").rows if r["kind"] == "script" and r["procedure"].startswith("JavaWork.w_")]
    total = sum(r["counts"].get("cpu-clock", 0) for r in rows)
    enough(total, 1000, "samples")
    right = sum(r["counts"].get("cpu-clock", 0) for r in rows
                if r["procedure"] == "JavaWork.w_spin" and r["line"] and re.search("for|x = x", text[r["line"] - 1]))
    least(right, total, 0.97, "samples in the lines of the loop")
    for name, call in ("w_third", "w_spin(4000)"), ("w_two_thirds", "w_spin(8000)"):
        for r in Prof("--by", "line").rows:
            if r["procedure"] == "JavaWork." + name and r["line"]:
                check(call in text[r["line"] - 1], "%s is at line %d" % (name, r["line"]))


def ran_before(java):
    """A JVM that ran for a while when it is looked at."""
    with running(*java, *CALLED, "-cp", compiled(), "JavaWork", "w_main", 300, stdout=subprocess.PIPE, text=True) as p:
        p.stdout.readline()
        time.sleep(2)
        record("-g", "-e", "cpu-clock", "-c", 500009, "-p", p.pid, "-d", longer(3))
    is_known(0.95)  # until the library's table is there the walker cannot tell whose code it is


def is_known(share=0.995, entry="ThreadJavaMain", has_all=True):
    """ENTRY: the thread's, where it has a name.  HAS_ALL: there is a path with each kind of method."""
    found, known = folded_paths("--no-inline"), call_graph(SOURCE)
    total = sum(n for _, n in found)
    enough(total, 1000, "samples")
    n_named = n_whole = n_java = 0
    for path, n in found:
        ours = ours_of(path)
        cut = any(f.startswith("[truncated") for f in path)
        for edge in zip(ours, ours[1:]):
            # None of 2.48 M samples had a caller that was not there (scripts.md); stubs of other builds may differ.
            likely(edge in known, "%s does not call %s: %s" % (*edge, path))
        check(cut or not ours or ours[0] == "w_main", "begins with %s: %s" % (ours[:1], path))
        is_java = bool(ours) or any(f.startswith("[anon]") for f in path[-1:])
        n_java += n if is_java else 0
        n_whole += n if is_java and not cut else 0
        n_named += n if ours else 0
    note("%d of %d samples of Java code are of whole paths" % (n_whole, n_java))
    # JVM's compilers take their part of the time.
    least(n_named, total, 0.3, "paths with methods of the program")
    least(n_whole, n_java, share, "whole paths")
    for callee in ("w_compared", "w_reduced", "w_next", "w_called", "w_kept", "w_raising", "w_reflected", "w_colder",
                   "w_recurse"):
        likely(not has_all or any(callee in ours_of(path) for path, _ in found), "no path with " + callee)
    spins = [path for path, _ in found if path[-1] == "JavaWork.w_spin"]
    likely(spins and all(not entry or entry in path[:4] or path[0][0] == "[" for path in spins),
           "w_spin is not called from the thread's entry")


def shares_of_work(java):
    work(java, "w_shares", longer(3), options=CALLED)
    rows = {r["procedure"]: r for r in Prof().rows if r["kind"] == "script"}
    a_third(rows.values(), "JavaWork.")
    check(rows["JavaWork.w_spin"]["image"] == "JavaWork.java", "w_spin is in %s" % rows["JavaWork.w_spin"]["image"])


def waiting(java):
    """Where threads wait."""
    work(java, "w_wait", longer(2), record_argv=("--off-cpu",))
    found = [(path, n) for path, n in folded_paths("--no-inline", "--event", "blocked") if any(f.endswith("w_waiting") for f in path)]
    total = sum(n for _, n in found)
    enough(total, 200, "waits")
    asleep = sum(n for path, n in found if ours_of(path) == ["w_waiting", "w_sleep"] and "java.lang.Thread.sleep" in path)
    least(asleep, total, 0.99, "waits of w_sleep")
