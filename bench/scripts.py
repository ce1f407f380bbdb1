# SPDX-License-Identifier: BSD-2-Clause
"""The rows about functions of interpreters and virtual machines: what a new frame costs in the kernel, and dwell's CPU
beside the sampling profilers of their own.

A program calls and then works at the bottom, at one of two depths: the BPF program's run time a sample (the kernel's
statistics) grows with the depth, and what it grows by, divided by the calls, is a frame.  Frames of a loop are never
taken over from the last walk, so each is a new one.  Either one function calls itself, or each calls another one: what
a walk has met already it does not read again."""
import os
import shutil
import subprocess
import time

from common import DWELL, QUICK, SPAWN, WORK, environment, notes, row, say
from measure import CannotMeasure, Tool, bootstrap, median

DEPTHS = 10, 110
N_FUNCTIONS = 128 # of the programs whose functions call each other
SECONDS = 4 if QUICK else 10
ROUNDS = 2 if QUICK else 5

# Of each runtime: the program's file, its command, what a frame may cost, its text, and one of its functions, %d, which
# calls function %d.
PROGRAMS = {
    "CPython": ("deep.py", ["/usr/bin/python3.11"], 100, '''
import sys, time
def work(end):
    x = 0
    while time.time() < end:
        for i in range(10000): x += i & 3
sys.setrecursionlimit(10000)
%s
f0(int(sys.argv[1]), time.time() + float(sys.argv[2]))
''', '''
def f%d(n, end):
    if n: f%d(n - 1, end)
    else: work(end)
'''),
    "PHP": ("deep.php", ["php"], 100, '''<?php
function work($end) { $x = 0; while (microtime(true) < $end) for ($i = 0; $i < 10000; $i++) $x += $i & 3; }
%s
f0((int)$argv[1], microtime(true) + (float)$argv[2]);
''', "function f%d($n, $end) { if ($n) f%d($n - 1, $end); else work($end); }\n"),
    "V8": ("deep.js", ["node"], 150, '''
function work(end) { let x = 0; while (Date.now() < end) for (let i = 0; i < 10000; i++) x += (i * x) & 3; return x; }
%s
for (let i = 0; i < 3000; i++) f0(20, 0);
f0(Number(process.argv[2]), Date.now() + 1000 * Number(process.argv[3]));
''', "function f%d(n, end) { return n ? f%d(n - 1, end) + 1 : work(end); }\n"),
    "HotSpot": ("Deep.java", ["java", "-XX:-Inline", "-cp", ".", "Deep"], 120, '''
public class Deep {
    static int work(long end) { int x = 1; while (System.nanoTime() < end) for (int i = 0; i < 10000; i++) x = x * 31 + i; return x; }
%s
    public static void main(String[] a) {
        for (int i = 0; i < 30000; i++) f0(20, 0);
        System.out.println(f0(Integer.parseInt(a[0]), System.nanoTime() + (long)(1e9 * Double.parseDouble(a[1]))));
    }
}
''', "    static int f%d(int n, long end) { return n > 0 ? f%d(n - 1, end) + 1 : work(end); }\n"),
    "Ruby": ("deep.rb", ["ruby"], 200, '''
def work(t)
  x = 0
  while Process.clock_gettime(Process::CLOCK_MONOTONIC) < t
    i = 0
    while i < 10000
      x += i & 3
      i += 1
    end
  end
end
%s
f0(ARGV[0].to_i, Process.clock_gettime(Process::CLOCK_MONOTONIC) + ARGV[1].to_f)
''', "def f%d(n, t)\n  n > 0 ? f%d(n - 1, t) : work(t)\nend\n"),
}


def command_of(name, n_functions=1):
    """The command that runs the program NAME with N_FUNCTIONS, without its arguments; None where there is none."""
    file, command, _, text, function = PROGRAMS[name]
    text = text.replace("%s", "".join(function % (i, (i + 1) % n_functions) for i in range(n_functions)))
    if not shutil.which(command[0]) or (file.endswith(".java") and not shutil.which("javac")):
        return None
    with open(os.path.join(WORK, file), "w", encoding="utf-8") as f:
        f.write(text)
    if not file.endswith(".java"):
        return command + [file]
    subprocess.run(["javac", "-d", WORK, os.path.join(WORK, file)], check=True)
    return command


def start_deep(command, depth, seconds):
    return subprocess.Popen(command + [str(depth), str(seconds)], cwd=WORK, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def ns_a_sample(command, depth):
    """The BPF program's time a sample of the program, once it is at the bottom."""
    program = start_deep(command, depth, SECONDS + 3)
    try:
        time.sleep(1)
        tool = dwell_on(program)
        tool.wait_until_sampling()
        time.sleep(0.5)  # tables and functions are known
        ns, runs = tool.bpf_stats()
        time.sleep(SECONDS - 1)
        ns, runs = (b - a for a, b in zip((ns, runs), tool.bpf_stats()))
        tool.stop()
    finally:
        program.kill()
        program.wait()
    if runs < 200:
        raise CannotMeasure("%s: %d samples" % (command[0], runs))
    return ns / runs


def frame_row(name, n_functions):
    command, most = command_of(name, n_functions), PROGRAMS[name][2]
    if not command:
        notes.append("no %s here" % name)
        return
    pairs = []
    for i in range(ROUNDS):
        say("frames of %s: round %d of %d" % (name, i + 1, ROUNDS))
        pairs.append(tuple(ns_a_sample(command, depth) for depth in DEPTHS))
    each = bootstrap(pairs, lambda p: median([b - a for a, b in p]) / (DEPTHS[1] - DEPTHS[0]))
    what = "%s, %s" % (name, "one function" if n_functions == 1 else "each another function")
    row("a new frame of " + what, "%.0f ns [%.0f, %.0f]" % each, "-", None, "<= %d ns" % most, each[0] <= most)
    notes.append("%s: %.1f and %.1f us a sample at %d and %d calls" %
                 (what, *(median([p[k] for p in pairs]) / 1e3 for k in (0, 1)), *DEPTHS))


MIXED = '''
import sys, time
def work(end):
    x = 0
    while time.time() < end:
        for i in range(10000): x += i & 3
def down(n, end):
    if n in (6, 11): return sorted((n,), key=lambda x: down(x - 1, end))
    return down(n - 1, end) if n else work(end)
down(int(sys.argv[1]), time.time() + float(sys.argv[2]))
'''


def mixed_row():
    """A whole sample of a Python program of about 20 functions and 20 native frames between and around them."""
    command, most = PROGRAMS["CPython"][1], 2000
    if not shutil.which(command[0]):
        return
    with open(os.path.join(WORK, "mixed.py"), "w", encoding="utf-8") as f:
        f.write(MIXED)
    command = command + ["mixed.py"]
    each = []
    for i in range(ROUNDS):
        say("a mixed stack of CPython: round %d of %d" % (i + 1, ROUNDS))
        each.append(ns_a_sample(command, 15))
    paths = subprocess.run([DWELL, "export", "--folded", "--runtime-frames", "--no-inline", "--db", os.path.join(WORK, "scripts.db")],
                           stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    longest = max((line.rsplit(" ", 1)[0].split(";")[1:] for line in paths), key=len)
    n_python = sum(f in ("down", "down.<locals>.<lambda>", "work", "<module>") for f in longest)
    ns = bootstrap(each, median)
    row("%d functions of CPython and %d native frames" % (n_python, len(longest) - n_python),
        "%.0f ns [%.0f, %.0f] a sample" % ns, "-", None, "<= %d ns" % most, ns[0] <= most)


def dwell_on(program):
    return Tool(SPAWN, [DWELL, "record", "-g", "-p", str(program.pid), "-e", "cpu-clock", "-F", "997", "--db",
                        os.path.join(WORK, "scripts.db")], environment(), os.path.join(WORK, "scripts.log"))


def dwell_cpu(program):
    """CPU seconds of a recording of SECONDS, with its BPF program's time in the kernel."""
    tool = dwell_on(program)
    tool.wait_until_sampling()
    time.sleep(SECONDS)
    ns, _ = tool.bpf_stats()
    return tool.stop()[0] + ns / 1e9


def py_spy_cpu(spy, program):
    command = [spy, "record", "-r", "997", "-d", str(SECONDS), "-p", str(program.pid), "-f", "raw", "-o", "spy.raw"]
    with open(os.path.join(WORK, "spy.log"), "wb") as log:
        p = subprocess.Popen(command, cwd=WORK, stdout=log, stderr=log, env=environment())
        _, status, used = os.wait4(p.pid, 0)
        p.returncode = status
    if status:
        raise CannotMeasure("py-spy: " + open(os.path.join(WORK, "spy.log")).read()[-300:])
    return used.ru_utime + used.ru_stime


def beside_py_spy():
    """Both at 997 Hz, attached in turns to one Python program for as long."""
    spy, command = shutil.which("py-spy"), command_of("CPython")
    if not spy or not command:
        notes.append("no py-spy here (pip install py-spy): not measured beside it")
        return
    program = start_deep(command, 20, 10000)
    pairs = []
    try:
        for i in range(ROUNDS):
            say("beside py-spy: round %d of %d" % (i + 1, ROUNDS))
            pairs.append((dwell_cpu(program), py_spy_cpu(spy, program)))
    finally:
        program.kill()
        program.wait()
    ratio = bootstrap(pairs, lambda p: median([a / b for a, b in p]))
    row("CPU at 997 Hz, Python, %d s" % SECONDS, "%.3f s" % median([a for a, _ in pairs]),
        "%.3f s" % median([b for _, b in pairs]), ratio, "<= 0.1", ratio[0] <= 0.1)


def measure():
    with open("/proc/sys/kernel/bpf_stats_enabled") as f:
        before = f.read()
    with open("/proc/sys/kernel/bpf_stats_enabled", "w") as f:
        f.write("1")
    try:
        for name in PROGRAMS:
            for n_functions in 1, N_FUNCTIONS:
                frame_row(name, n_functions)
        mixed_row()
        beside_py_spy()
    finally:
        with open("/proc/sys/kernel/bpf_stats_enabled", "w") as f:
            f.write(before)
