# SPDX-License-Identifier: BSD-2-Clause
"""What recorded call paths of the program go_work.go say, held against its own call graph."""
import collections

from e2e import *

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "go_work.go")
STRIPPED = ["-ldflags", "-s -w"]
# Where the paths of goroutines, and of threads that look for one, begin.
OUTERMOST = {"runtime.goexit", "runtime.mstart", "runtime.mcall", "runtime.morestack", "runtime.rt0_go", "runtime.clone", "runtime.schedule",
             "_rt0_amd64_linux", "runtime.gogo", "gogo"}


def build(go, *options, at=".", name="go_work", cgo=False):
    """Compiles program NAME with the command GO, which sees the directory AT as this one; where it is."""
    shutil.copy(os.path.join(os.path.dirname(SOURCE), name + ".go"), name + ".go")
    env = {**os.environ, "GOCACHE": at + "/cache", "GOPATH": at + "/path", "GO111MODULE": "off", "CGO_ENABLED": "01"[cgo]}
    sh(*go, "build", *options, "-o", at + "/" + name, at + "/" + name + ".go", env=env)
    return os.path.join(os.getcwd(), name)


def bare(path):
    """The names without what tells inlined calls and assembly from others."""
    return [f.removesuffix("_[i]").removesuffix(".abi0") for f in path]


def ours_of(path):
    """The program's own functions; those without a name are called func1."""
    return [re.split(r"[.]", f)[-1] for f in path if f.startswith("main.") and "w_" in f]


def half_a_signal(path):
    """The kernel sets a handler's stack pointer and its address one after the other (arch/x86/kernel/signal_64.c,
    x64_setup_rt_frame): a path between the two has the interrupted function twice."""
    at = max((i for i, f in enumerate(path) if f == "runtime.sigreturn"), default=len(path))
    return any(f.startswith("x64_setup_rt_frame") for f in path) and at + 1 < len(path) and path[at - 1] == path[at + 1]


def every_way_of_calling(program, inlined=True):
    record("-g", "-e", "cpu-clock", "-c", 500009, "--", program, "w_main", longer(4))
    found = [(bare(path), n) for path, n in folded_paths(*([] if inlined else ["--no-inline"]))]
    known = call_graph(SOURCE)
    total = sum(n for _, n in found)
    enough(total, 1000, "samples")
    n_whole = n_ended = n_nameless = n_half = 0
    for path, n in found:
        ours = ours_of(path)
        cut = any(f.startswith("[truncated") for f in path)
        wrong = [e for e in zip(ours, ours[1:]) if e not in known and (inlined or e[0] != "w_inlines")]
        if half_a_signal(path):
            n_half += n
            continue
        check(not wrong, "these do not call each other: %s: %s" % (wrong, path))
        check(cut or not ours or ours[0] in ("w_main", "w_grow", "func1"), "begins with %s: %s" % (ours[:1], path))
        n_whole += 0 if cut else n
        n_ended += n if cut or path[0] in OUTERMOST or path[0].endswith("_[k]") else 0
        n_nameless += n if any(f == "[go_work]" or f.startswith("sub_") for f in path) else 0
    others = {path[0] for path, _ in found if not path[0].startswith("[") and path[0] not in OUTERMOST}
    note("%d of %d samples are of whole paths; others begin with %s" % (n_whole, total, others))
    least(total - n_half, total, 0.999, "samples at a time when the registers are one frame's")
    check(n_nameless == 0, "functions without a name: %s" % [path for path, _ in found if "[go_work]" in path][:2])
    least(n_whole, total, 0.99, "whole paths")
    least(n_ended, total, 0.99, "paths that begin where goroutines do")
    for callee in "w_called", "w_kept", "w_raising", "w_faulting", "w_deferred", "w_recurse", "w_grow":
        likely(any(callee in ours_of(path) for path, _ in found), "no path with " + callee)
    # The runtime allocates on the thread's stack for who asked on the goroutine's.
    likely(any("runtime.systemstack" in path and "w_allocate" in ours_of(path[:path.index("runtime.systemstack")])
               for path, _ in found), "no path through systemstack")
    if inlined:
        likely(any(["w_inlines", "w_in_outer", "w_in_inner", "w_spin"] == ours_of(path)[-4:] for path, _ in found),
               "no path through what was inlined")


MANY = " ".join("key%d=%d" % (i, i * i) for i in range(7))
# Whose samples those of each function are.
LABELS = {"w_none": {None}, "w_alpha": {"job=alpha"}, "w_beta": {"job=beta zone=z 1"}, "w_many": {MANY},
          "w_garbage": {"job=garbage"},
          "w_inner": {"job=inner", "job=inner zone=z 1", "job=inner " + MANY}}


def labels_of_goroutines(program):
    """Each function of go_labels.go runs in a goroutine of known labels; its own profile has these in the same shares."""
    record("-g", "--by", "label", "-e", "cpu-clock", "-c", 500009, "--", program, "own.prof", longer(4))
    rows = Prof(by="label,procedure").rows
    known = [(r["procedure"].removeprefix("main."), r["label"], sum(r["inclusive"].values())) for r in rows
             if r["image"] == program and r["procedure"].removeprefix("main.") in LABELS]
    enough(sum(n for _, _, n in known), 1000, "samples")
    for name, label, n in known:  # stacks that were copied, because the table was not there, have no labels
        check(label in LABELS[name] | {None}, "%d samples of %s are labelled %s" % (n, name, label))
    for name in LABELS:
        likely({label for found, label, _ in known if found == name} >= LABELS[name], "not all of %s" % name)
    labelled = [(label, n) for name, label, n in known if name != "w_none"]
    least(sum(n for label, n in labelled if label), sum(n for _, n in labelled), 0.95, "samples with labels")
    total = sum(sum(r["counts"].values()) for r in rows)
    jobs = collections.Counter()
    for r in rows:
        jobs[(r["label"] or "").split(" ")[0]] += sum(r["counts"].values())
    tags = sh("go", "tool", "pprof", "-sample_index=samples", "-tags", "own.prof")
    raw = sh("go", "tool", "pprof", "-sample_index=samples", "-raw", "own.prof")
    n_own = sum(int(n) for n in re.findall(r"^ +(\d+) +\d+:", raw, re.M))
    enough(n_own, 100, "samples of its own profile")
    for job in "alpha", "beta", "inner", "garbage":
        own = re.search(r"([\d.]+) \( *[\d.]+%%\): %s$" % job, tags, re.M)
        same_share(jobs["job=" + job], total, round(float(own.group(1))) if own else 0, n_own, job, 0.02)


def through_c(program):
    """Go that calls C that calls Go that calls C: all of it in paths from the goroutine's entry on."""
    record("-g", "-e", "cpu-clock", "-c", 500009, "--", program, longer(4))
    known = call_graph(os.path.join(os.path.dirname(SOURCE), "go_cgo.go"))
    mine = {f for pair in known for f in pair}
    total = n_whole = n_back = 0
    for path, n in ((bare(path), n) for path, n in folded_paths()):
        # A function of C, and that of Go which calls it, may have one name.
        ours = [re.split(r"[.]", f)[-1].split("Cfunc_")[-1] for f in path]
        ours = [f for i, f in enumerate(ours) if f in mine and f not in ours[i + 1:i + 4]]
        for caller, callee in zip(ours, ours[1:]):
            check((caller, callee) in known, "%s does not call %s: %s" % (caller, callee, path))
        if "w_c_leaf" not in ours[-1:]:
            continue
        total += n
        n_whole += n if path[0] == "runtime.goexit" and ours[0] == "w_go" else 0
        n_back += n if "w_back" in ours else 0
    enough(total, 1000, "samples in C")
    note("%d of %d samples in C have the path from the goroutine's entry on; %d below Go that C called" % (n_whole, total, n_back))
    least(n_whole, total, 0.99, "whole paths")
    near(n_back, total, 0.5, "below what C called", 0.03)


def shares_of_work(program):
    record("-g", "-e", "cpu-clock", "-c", 500009, "--", program, "w_shares", longer(3))
    a_third([r for r in Prof().rows if r["image"] == program], "main.")
