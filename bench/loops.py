#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a compiler and a binary optimiser make of dwell's profiles: sqlite3's speedtest1, closed loops.

    bench/loops.py pgo|recordings|bolt BUILD DIR

DIR has sqlite3.c and sqlite3.h, the amalgamation, and speedtest1.c (`apt-get source sqlite3`; configure; make
sqlite3.c); or, with LOOPS_PROGRAM=bzip2, the sources of bzip2, which compresses these.  What is made stays there, and is
not made again.

pgo: clang -O2 beside -fprofile-sample-use of `dwell record`'s samples (the clock's) and of branch stacks made by
single-stepping (step_branches.c), and beside instrumented PGO.  CPU time of interleaved rounds, median of ratios with
95 % interval, and instructions that callgrind counts.
recordings: how much of what instrumented PGO gains in instructions a recording gains: LOOPS_ROUNDS of each kind, each
compiled for itself and counted by callgrind.
bolt: the program, linked with --emit-relocs, beside what llvm-bolt makes of it by branch stacks (`--bolt-pre`, read by
perf2bolt -pa) and by the clock's samples (`--bolt`); callgrind counts instructions, misses of the first instruction
cache, and jumps that its model mispredicts."""
import os
import re
import resource
import shutil
import subprocess
import sys

ROUNDS = int(os.environ.get("LOOPS_ROUNDS", "15"))
TRAIN = os.environ.get("LOOPS_TRAIN", "60")  # speedtest1's --size
STEPPED = os.environ.get("LOOPS_STEPPED", TRAIN)  # while it is single-stepped
JUDGE = os.environ.get("LOOPS_JUDGE", "25")
COUNT = os.environ.get("LOOPS_COUNT", "2")  # under callgrind
STEP_US = os.environ.get("LOOPS_STEP_US", "1000")
FLAGS = ["-O2", "-g", "-fdebug-info-for-profiling", "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"]
IS_BZIP2 = os.environ.get("LOOPS_PROGRAM") == "bzip2"
FILES = [name + ".c" for name in ("blocksort huffman crctable randtable compress decompress bzlib bzip2" if IS_BZIP2 else
                                  "sqlite3 speedtest1").split()] + ["-Wl,--build-id", "-Wl,--emit-relocs", "-lm"]


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit("%s: exit %d\n%s" % (" ".join(command), done.returncode, done.stderr[-2000:]))
    return done.stdout


def there(*names):
    return all(os.path.exists(n) for n in names)


def compile_all(programs):
    """Those of {name: flags} that are not there, beside each other."""
    started = []
    for name, flags in programs.items():
        if not there(name):
            started.append((name, subprocess.Popen(["clang", *FLAGS, *flags, *FILES, "-o", name + ".new"])))
    for name, compiler in started:
        if compiler.wait():
            sys.exit("%s was not compiled" % name)
        os.rename(name + ".new", name)


def data(size):
    """A file of SIZE times 100,000 bytes of bzip2's sources."""
    name = "data-" + size
    if not there(name):
        text = b"".join(open(f, "rb").read() for f in sorted(os.listdir(".")) if f.endswith((".c", ".txt", ".ps")))
        with open(name + ".new", "wb") as f:
            f.write((text * (int(size) * 100000 // len(text) + 1))[:int(size) * 100000])
        os.rename(name + ".new", name)
    return name


def speed(program, size, *before):
    return [*before, "./" + program, *(["-zkf", data(size)] if IS_BZIP2 else ["--memdb", "--size", size])]


def record(build, which=""):
    """Samples and branch stacks of the program as -O2 makes it."""
    samples, branches = "samples" + which, "branches%s.data" % which
    if not there(samples):
        shutil.rmtree(samples + ".new", ignore_errors=True)
        run(os.path.join(build, "dwell"), "record", "-F", "4000", "--db", samples + ".new", "--", *speed("base", TRAIN))
        os.rename(samples + ".new", samples)
    if not there(branches):
        with open(branches + ".new", "wb") as f:
            subprocess.run(speed("base", STEPPED, os.path.join(build, "bench/step_branches"), STEP_US, "32"), stdout=f,
                           check=True, stderr=subprocess.DEVNULL)
        os.rename(branches + ".new", branches)


def export(build, what, source, to):
    run(os.path.join(build, "dwell"), "export", "--" + what, "-o", to, source, "base")


def cpu_s(program):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(*speed(program, JUDGE))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def callgrind(program):
    """Instructions, misses of the first instruction cache, and jumps that its model did not foresee, of a run that is
    always the same."""
    bare = program
    if not program.startswith("bolt-"):  # which llvm-bolt has stripped
        bare += ".bare"  # valgrind does not read clang's DWARF 5
        run("strip", "-g", "-o", bare, program)
    if not there(program + ".callgrind"):
        run(*speed(bare, COUNT, "valgrind", "--tool=callgrind", "--cache-sim=yes", "--branch-sim=yes",
                   "--callgrind-out-file=%s.callgrind.new" % program))
        os.rename(program + ".callgrind.new", program + ".callgrind")
    with open(program + ".callgrind") as f:
        text = f.read()
    amounts = dict(zip(re.search(r"^events: (.*)", text, re.M)[1].split(),
                       map(int, re.search(r"^(?:totals|summary): (.*)", text, re.M)[1].split())))
    return amounts["Ir"], amounts["I1mr"], amounts["Bcm"] + amounts["Bim"]


def median(values):
    values = sorted(values)
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


def interval(ratios):
    """The median with its 95 % interval by order statistics."""
    ratios, n = sorted(ratios), len(ratios)
    k = max(0, int(n / 2 - 0.98 * n ** 0.5) - 1)
    return median(ratios), ratios[k], ratios[n - 1 - k]


def say(name, ratios):
    print("%-28s %.3f [%.3f, %.3f]" % (name, *interval(ratios)), flush=True)


PROFI = ["-mllvm", "-sample-profile-use-profi"]


def instrument():
    compile_all({"base": [], "instrumented": ["-fprofile-instr-generate"]})
    if not there("instr.prof"):
        run(*speed("instrumented", TRAIN), env=dict(os.environ, LLVM_PROFILE_FILE="instr.profraw"))
        run("llvm-profdata", "merge", "-o", "instr.prof", "instr.profraw")


def recordings(build):
    instrument()
    programs = {"of-instruments": ["-fprofile-instr-use=instr.prof"]}
    for k in map(str, range(ROUNDS)):
        record(build, k)
        for kind, source in (("samples", "samples" + k), ("branches", "branches%s.data" % k)):
            export(build, "autofdo", source, kind + k + ".afdo")
            programs["of-" + kind + k] = ["-fprofile-sample-use=%s%s.afdo" % (kind, k), *PROFI]
    for name, flags in programs.items():  # one by one: a compiler of sqlite3 takes half a GB
        compile_all({name: flags})
    counted = {name: callgrind(name)[0] for name in ["base", *programs]}
    gain = counted["base"] - counted["of-instruments"]
    print("instructions beside -O2: instrumented PGO %.4f" % (counted["of-instruments"] / counted["base"]))
    for kind in ("samples", "branches"):
        found = [counted["of-%s%d" % (kind, k)] for k in range(ROUNDS)]
        print(kind, *("%.4f" % (n / counted["base"]) for n in found))
        shares = [(counted["base"] - n) / gain for n in found]
        mean = sum(shares) / ROUNDS
        sd = (sum((x - mean) ** 2 for x in shares) / max(1, ROUNDS - 1)) ** 0.5
        print("%s: share of the gain %.3f, standard deviation %.3f of %d recordings" % (kind, mean, sd, ROUNDS), flush=True)


def pgo(build):
    instrument()
    record(build)
    export(build, "autofdo", "samples", "samples.afdo")
    export(build, "autofdo", "branches.data", "branches.afdo")
    programs = {"of-samples": ["-fprofile-sample-use=samples.afdo", *PROFI],
                "of-branches": ["-fprofile-sample-use=branches.afdo", *PROFI],
                "of-instruments": ["-fprofile-instr-use=instr.prof"]}
    compile_all(programs)
    names = ["base", *programs]
    seen = {name: [] for name in names}
    for i in range(ROUNDS):
        for k in range(len(names)):
            name = names[(i + k) % len(names)]
            seen[name].append(cpu_s(name))
    print("CPU time beside -O2, %d rounds, load %.0f" % (ROUNDS, os.getloadavg()[0]))
    for name in programs:
        say(name, [a / b for a, b in zip(seen[name], seen["base"])])
    for name in list(programs)[:2]:
        gains = [((b - a) / (b - c)) for a, b, c in zip(seen[name], seen["base"], seen["of-instruments"]) if b > c]
        say(name + ": share of gain", gains)
    counted = {name: callgrind(name) for name in names}
    print("callgrind, beside -O2: instructions, I1 misses, mispredicted jumps")
    for name in programs:
        print("%-28s %.4f %.4f %.4f" % (name, *(a / b for a, b in zip(counted[name], counted["base"]))), flush=True)


def bolt(build):
    compile_all({"base": []})
    record(build)
    export(build, "bolt-pre", "branches.data", "branches.preagg")
    if not there("perf2bolt"):  # it is told by its name what to do
        os.symlink(shutil.which("perf2bolt-16") or "/usr/bin/perf2bolt", "perf2bolt")
    run("./perf2bolt", "-pa", "-p", "branches.preagg", "-o", "branches.fdata", "base")
    export(build, "bolt", "branches.data", "jumps.fdata")
    export(build, "bolt", "samples", "samples.fdata")
    programs = []
    for name in ("branches", "jumps", "samples"):
        out = "bolt-" + name
        said = run("llvm-bolt-16", "base", "-o", out, "-data=%s.fdata" % name, "-reorder-blocks=ext-tsp",
                   "-reorder-functions=hfsort", "-split-functions", "-split-all-cold", "-dyno-stats")
        print(name, *re.findall(r"BOLT-INFO: (.*functions.*profile.*)", said)[:2], sep="; ", flush=True)
        programs.append(out)
    counted = {name: callgrind(name) for name in ["base", *programs]}
    print("callgrind, beside the program: instructions, I1 misses, mispredicted jumps")
    for name in programs:
        print("%-28s %.4f %.4f %.4f" % (name, *(a / b for a, b in zip(counted[name], counted["base"]))), flush=True)


def main():
    what, build, directory = sys.argv[1:]
    build = os.path.abspath(build)
    subprocess.run(["ninja", "-C", build, "dwell", "bench/step_branches"], stdout=subprocess.DEVNULL, check=True)
    os.chdir(directory)
    {"pgo": pgo, "recordings": recordings, "bolt": bolt}[what](build)


main()
