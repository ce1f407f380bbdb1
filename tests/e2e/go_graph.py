# SPDX-License-Identifier: BSD-2-Clause
"""What recorded call paths of the program go_work.go say, held against its own call graph."""
from e2e import *

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "go_work.go")
STRIPPED = ["-ldflags", "-s -w"]
# Where the paths of goroutines, and of threads that look for one, begin.
OUTERMOST = {"runtime.goexit", "runtime.mstart", "runtime.mcall", "runtime.morestack", "runtime.rt0_go", "runtime.clone", "runtime.schedule",
             "_rt0_amd64_linux", "runtime.gogo"}


def build(go, *options, at="."):
    """Compiles the program with the command GO, which sees the directory AT as this one; where it is."""
    shutil.copy(SOURCE, "go_work.go")
    env = {**os.environ, "GOCACHE": at + "/cache", "GOPATH": at + "/path", "GO111MODULE": "off", "CGO_ENABLED": "0"}
    sh(*go, "build", *options, "-o", at + "/go_work", at + "/go_work.go", env=env)
    return os.path.join(os.getcwd(), "go_work")


def bare(path):
    """The names without what tells inlined calls and assembly from others."""
    return [f.removesuffix("_[i]").removesuffix(".abi0") for f in path]


def ours_of(path):
    """The program's own functions; those without a name are called func1."""
    return [re.split(r"[.]", f)[-1] for f in path if f.startswith("main.") and "w_" in f]


def every_way_of_calling(program, inlined=True):
    record("-g", "-e", "cpu-clock", "-c", 500009, "--", program, "w_main", longer(4))
    found = [(bare(path), n) for path, n in folded_paths(*([] if inlined else ["--no-inline"]))]
    known = call_graph(SOURCE)
    total = sum(n for _, n in found)
    enough(total, 1000, "samples")
    n_whole = n_ended = n_nameless = 0
    for path, n in found:
        ours = ours_of(path)
        cut = any(f.startswith("[truncated") for f in path)
        for caller, callee in zip(ours, ours[1:]):
            check((caller, callee) in known or (not inlined and caller == "w_inlines"),
                  "%s does not call %s: %s" % (caller, callee, path))
        check(cut or not ours or ours[0] in ("w_main", "w_grow", "func1"), "begins with %s: %s" % (ours[:1], path))
        n_whole += 0 if cut else n
        n_ended += n if cut or path[0] in OUTERMOST or path[0].endswith("_[k]") else 0
        n_nameless += n if any(f == "[go_work]" or f.startswith("sub_") for f in path) else 0
    others = {path[0] for path, _ in found if not path[0].startswith("[") and path[0] not in OUTERMOST}
    note("%d of %d samples are of whole paths; others begin with %s" % (n_whole, total, others))
    check(n_nameless == 0, "functions without a name: %s" % [path for path, _ in found if "[go_work]" in path][:2])
    least(n_whole, total, 0.99, "whole paths")
    least(n_ended, total, 0.99, "paths that begin where goroutines do")
    for callee in "w_called", "w_kept", "w_raising", "w_deferred", "w_recurse", "w_grow":
        likely(any(callee in ours_of(path) for path, _ in found), "no path with " + callee)
    # The runtime allocates on the thread's stack for who asked on the goroutine's.
    likely(any("runtime.systemstack" in path and "w_allocate" in ours_of(path[:path.index("runtime.systemstack")])
               for path, _ in found), "no path through systemstack")
    if inlined:
        likely(any(["w_inlines", "w_in_outer", "w_in_inner", "w_spin"] == ours_of(path)[-4:] for path, _ in found),
               "no path through what was inlined")


def shares_of_work(program):
    record("-g", "-e", "cpu-clock", "-c", 500009, "--", program, "w_shares", longer(3))
    a_third([r for r in Prof().rows if r["image"] == program], "main.")
