#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""`mpirun -n N dwell hpc` writes the same bytes for every N and every number of threads:
mpi.py DWELL MPIRUN MKDB MKHPC

Of one recording, which all processes share; of four, with the same threads in several of them; of HPCToolkit databases
and recordings mixed. Failures leave nothing behind. Prints TAP."""
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import anydb
from tap import check, finish

dwell, mpirun, mkdb, mkhpc = sys.argv[1:5]
# Processes on this machine talk through shared memory; none is bound to a CPU, of which there may be fewer.
MPIRUN = [mpirun, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca", "btl", "self,vader"]


def run(*argv):
    return subprocess.run([str(a) for a in argv], capture_output=True, text=True, timeout=120)


def make_program():
    functions = ["""__attribute__((noinline)) int f%d(int n) { int s = %d; for (int i = 0; i < n; i++) s += g(s) * i; return s; }
""" % (i, i) for i in range(20)]
    pathlib.Path("prog.c").write_text("static inline int g(int x) { return x * 31 + 7; }\n" + "".join(functions) +
                                      "int main(int c, char **v) { return f1(c); }\n")
    subprocess.run(["gcc", "-g", "-O1", "-no-pie", "-o", "prog", "prog.c"], check=True)
    nm = subprocess.run(["nm", "prog"], capture_output=True, text=True, check=True).stdout
    return [int(line.split()[0], 16) for line in nm.splitlines() if line.split()[-1][0] == "f" and line.split()[1] == "T"]


def make_recording(path, seed, functions):
    """Random samples with random callers, of threads that other recordings have too."""
    r = random.Random(seed)
    lines = ["meta host%d 880000000 60 prog" % (seed % 2), "event cycles 1000", "event misses 10 400 100"]
    for t in range(r.randrange(5, 30)):
        pid, label = r.randrange(1, 9), r.choice(["-", "rank=%d" % r.randrange(3)])
        lines.append("owner - %s comm=c%d pid=%d tid=%d" % (label, r.randrange(3), pid, pid + r.choice([0, 100, 101])))
        lines.append("image file %s/prog" % os.getcwd())
        for _ in range(r.randrange(1, 10)):
            lines.append("event " + r.choice(["cycles 1000", "misses 10 400 100"]))
            lines.append("path")
            lines += ["frame %x" % (r.choice(functions) + r.randrange(1, 16)) for _ in range(r.randrange(5))]
            lines.append("sample %x %d" % (r.choice(functions) + r.randrange(16), r.randrange(1, 1000)))
        if r.randrange(2):
            lines.append("thread %d %d 1000 %d" % (pid, pid, r.choice([0, 90000])))
            lines += ["point %d %x" % (2000 + r.randrange(80000), r.choice(functions)) for _ in range(r.randrange(1, 20))]
    subprocess.run([mkdb, path], input="\n".join(lines) + "\n", text=True, check=True)


def content(path):
    return {str(p.relative_to(path)): p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file()}


def check_same(what, inputs):
    one = pathlib.Path("one-" + what)
    done = run(dwell, "hpc", "-j", 1, "-o", one, *inputs)
    check("%s: is built" % what, done.returncode == 0, done.stderr)
    want = content(one)
    check("%s: all files are there" % what, {"meta.db", "profile.db", "cct.db", "trace.db"} <= set(want), list(want))
    done = run(dwell, "check", one)
    check("%s: has no problems" % what, done.returncode == 0, done.stdout)
    for n in (1, 2, 3):
        for jobs in (1, 2, 4):
            out = pathlib.Path("%s-%d-%d" % (what, n, jobs))
            built = run(*MPIRUN, "-n", n, dwell, "hpc", "-j", jobs, "-o", out, *inputs)
            have = content(out) if out.exists() else {}
            check("%s: %d processes of %d threads" % (what, n, jobs), have == want,
                  built.stderr or [k for k in {*have, *want} if have.get(k) != want.get(k)])
            check("%s: one line is said" % what, built.stdout.count("\n") == 1, built.stdout)
    return one


def check_failures(inputs):
    before = sorted(os.listdir("."))
    done = run(*MPIRUN, "-n", 2, dwell, "hpc", "-o", "bad", *inputs, "/nonexistent")
    check("a failure is everybody's", done.returncode != 0 and "/nonexistent" in done.stderr, done.stderr)
    check("and leaves nothing", sorted(os.listdir(".")) == before, os.listdir("."))
    many = subprocess.Popen([*MPIRUN, "-n", "2", dwell, "hpc", "-o", "bad", *map(str, inputs * 100)],
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    aside = []
    while many.poll() is None and not aside:
        aside = [name for name in os.listdir(".") if name.startswith("bad.tmp-")]
        time.sleep(0.001)
    os.kill(int(aside[0].split("-")[1]), signal.SIGTERM)  # the first process
    many.communicate(timeout=60)
    check("so does an interrupt", sorted(os.listdir(".")) == before and many.returncode != 0, (os.listdir("."), many.returncode))
    env = dict(os.environ, OMPI_COMM_WORLD_SIZE="2")
    copy = pathlib.Path("alone/dwell")
    copy.parent.mkdir()
    copy.write_bytes(pathlib.Path(dwell).read_bytes())
    copy.chmod(0o755)
    done = subprocess.run([copy, "hpc", "-o", "bad", inputs[0]], env=env, capture_output=True, text=True)
    installed = "MPI does not start" in done.stderr or "MPI knows of" in done.stderr
    check("several processes without MPI are refused", done.returncode == 2 and ("built without MPI" in done.stderr or installed),
          done.stderr)


with tempfile.TemporaryDirectory() as scratch:
    dwell, mkdb, mkhpc = (os.path.abspath(p) for p in (dwell, mkdb, mkhpc))
    os.chdir(scratch)
    functions = make_program()
    recordings = ["rec%d" % i for i in range(4)]
    for i, path in enumerate(recordings):
        make_recording(path, i, functions)
    for layout in ("released", "page"):
        subprocess.run([mkhpc, layout, layout], check=True)
    check_same("shared", recordings[:1])
    lines = {f["name"]: (os.path.basename(f["file"] or ""), f["line"])
             for f in anydb.Database("one-shared").functions.values() if f["name"][0] == "f" and f["module"].endswith("prog")}
    check("functions carry the line they are defined at", lines and
          all(at == ("prog.c", 2 + int(name[1:])) for name, at in lines.items()), lines)
    two = check_same("four", recordings)
    check_same("mixed", ["released", recordings[0], "page", two, recordings[2]])
    check_same("database", ["released"])
    check_failures([recordings[0], "released"])
    os.chdir("/")
finish()
