# SPDX-License-Identifier: BSD-2-Clause
"""Interpreters where they are not expected: in another pid namespace, in a virtual environment, in a C program, several
in one process; programs that pretend to be one; a recorder that cannot read their frames."""
from e2e import *

DEBIANS = "/usr/bin/python3.11"

SPIN = '''
import time
def w_spin(n):
    x = 0
    for i in range(n): x += i & 3
    return x
def w_main(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: w_spin(1000)
'''


def written(name, text):
    with open(name, "w") as f:
        f.write(text)
    return os.path.abspath(name)


def program(seconds=1.5):
    return written("spin.py", SPIN + "w_main(%g)\n" % longer(seconds))


def debians():
    if not os.path.exists(DEBIANS):
        raise Skipped("no " + DEBIANS)
    return DEBIANS


def work(*argv, options=("-e", "cpu-clock", "-c", 500009)):
    return record("-g", *options, "--", *argv)


def is_spinning(callers=("w_main",), share=0.8):
    found = folded_paths("--no-inline")
    total = sum(n for _, n in found)
    enough(total, 500, "samples")
    spins = sum(n for path, n in found if "w_spin" in path and path[path.index("w_spin") - 1] in callers)
    least(spins, total, share, "w_spin below %s" % (callers,))
    return found


def another_pid_namespace():
    # Where / is no mount point, as in a chroot, there is no mount namespace for a /proc of its own.
    own = subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0
    work("unshare", "-pf", *(["--mount-proc"] if own else []), debians(), program())
    is_spinning()


def virtual_environment():
    sh(debians(), "-m", "venv", "--without-pip", "venv")
    work("venv/bin/python", program())
    is_spinning()


EMBEDDED = r'''
#include <Python.h>
int main(int argc, char **argv)
{
	FILE *f = fopen(argv[1], "r");
	Py_Initialize();
	return PyRun_SimpleFile(f, argv[1]) + Py_FinalizeEx();
}
'''


def embedded():
    """libpython in a program of one's own."""
    config = os.path.join(os.path.dirname(os.path.realpath(sys.executable)), "python3-config")
    if not os.path.exists(config):
        raise Skipped("no python3-config")
    written("embedded.c", EMBEDDED)
    flags = sh(config, "--includes", "--ldflags", "--embed").split()
    libs = [f[2:] for f in flags if f.startswith("-L")]
    if subprocess.run(["cc", "embedded.c", "-o", "embedded", *flags, *["-Wl,-rpath," + d for d in libs]],
                      stderr=subprocess.DEVNULL).returncode:
        raise Skipped("no libpython to link with")
    work("./embedded", program())
    is_spinning(share=0.7)


SUBINTERPRETERS = '''
import threading
import _xxsubinterpreters as interpreters
def w_thread(text):
    interpreters.run_string(interpreters.create(), text)
text = open("part.py").read()
threads = [threading.Thread(target=w_thread, args=(text,)) for i in range(3)]
for t in threads: t.start()
for t in threads: t.join()
'''


def several_interpreters():
    """Functions of an interpreter that another one runs are not known; those that run it are."""
    written("part.py", SPIN + "w_main(%g)\n" % longer(0.5))
    work(debians(), written("several.py", SUBINTERPRETERS))
    found = [(path, n) for path, n in folded_paths("--no-inline") if "start_thread" in path]
    total = sum(n for _, n in found)
    enough(total, 500, "samples")
    least(sum(n for path, n in found if "w_thread" in path), total, 0.9, "w_thread")
    for path, _ in found:
        check("w_thread" not in path or "Thread.run" in path[:path.index("w_thread")], "a wrong caller: %s" % path)


# Its loop is an ordinary function, its state and its thread's key lead wherever the bytes say.
FORGED = r'''
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
unsigned char _PyRuntime[4096] = {1};
unsigned long Py_Version = 0x030b02f0;
volatile unsigned sink;
__attribute__((noinline)) void forged_spin(void) { for (int i = 0; i < 100000; i++) sink += i; }
__attribute__((noinline)) void *_PyEval_EvalFrameDefault(void *state, void *frame, int flag)
{
	forged_spin();
	if (flag > 0)
		_PyEval_EvalFrameDefault(state, frame, flag - 1);
	sink++;
	return state;
}
void *PyGILState_GetThisThreadState(void) { return _PyRuntime; }
int PyTraceBack_Here(void *f) { return 0; }
int main(int argc, char **argv)
{
	pthread_key_t key;
	double seconds = atof(argv[1]);
	struct timespec t;
	unsigned seed = 1;

	pthread_key_create(&key, NULL);
	pthread_setspecific(key, _PyRuntime);
	do {
		for (unsigned long i = 0; i < sizeof(_PyRuntime) / 8; i++)
			((unsigned long *)_PyRuntime)[i] = (seed = seed * 1103515245 + 12345) % 3
				? (unsigned long)_PyRuntime + seed % sizeof(_PyRuntime) / 8 * 8 : seed % 64;
		_PyEval_EvalFrameDefault(_PyRuntime, NULL, 8);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_sec + t.tv_nsec / 1e9 < seconds);
	return 0;
}
'''


def forged():
    """A program that exports what CPython does, and whose state is a maze: its native frames are as they are."""
    written("forged.c", FORGED)
    sh("cc", "-g", "-O1", "-fno-optimize-sibling-calls", "-rdynamic", "-o", "forged", "forged.c")
    work("./forged", longer(1.5))
    found = folded_paths("--no-inline", "--runtime-frames")
    total = sum(n for _, n in found)
    enough(total, 500, "samples")
    spins = sum(n for path, n in found if "forged_spin" in path and "main" in path)
    least(spins, total, 0.9, "forged_spin below main")
    for path, _ in found:
        whole = [f for f in path if f.startswith("[") and f.endswith("]")]
        native = [f for f in path if f not in whole]
        check(path.count("_PyEval_EvalFrameDefault") <= 9, "a loop too many: %s" % path)
        check("forged_spin" not in path or native[-1] == "forged_spin" or "forged_spin" in path[:-1], "order: %s" % path)


def without_bpf():
    """The frames are missing, and it is said whose."""
    p = dwell("record", "--json", "--db", "db", "-g", "--engine", "ring", "--", debians(), program(0.5))
    check(p.returncode == 0, p.stderr)
    check(re.search(r"python3\.11: CPython 3\.11\.\d+: its frames are read by engine bpf alone", p.stderr),
          "nothing is said of Python: " + p.stderr)
    check(not any("w_spin" in path for path, _ in folded_paths()), "its functions are there")


def ends_while_it_is_walked():
    """Processes of a hundredth of a second each: whole, or named as what they are."""
    script = written("short.py", SPIN + "w_main(0.01)\n")
    loop = "i=0; while [ $i -lt %d ]; do %s -S -E %s; i=$((i+1)); done" % (longer(30), debians(), script)
    work("sh", "-c", loop)
    found = [(path, n) for path, n in folded_paths("--no-inline", "--comm", "python3.11")]
    total = sum(n for _, n in found)
    enough(total, 300, "samples")
    named = sum(n for path, n in found if "w_spin" in path)
    enough(named, 100, "samples in w_spin")
    for path, _ in found:
        if "w_spin" in path:
            check(path[path.index("w_spin") - 1] == "w_main" or path[0].startswith("[truncated"), "a wrong caller: %s" % path)


# What runs for a tenth of a second of CPU time and is over, again and again.
SHORT = {
    "/usr/bin/python3.11": ("short.py", SPIN + "w_main(0.1)\n"),
    "php": ("short.php", """<?php
function w_spin($n) { $x = 0; for ($i = 0; $i < $n; $i++) $x += $i & 3; return $x; }
function w_main($s) { do { w_spin(10000); $t = getrusage(); } while ($t["ru_utime.tv_sec"] + $t["ru_utime.tv_usec"] / 1e6 < $s); }
w_main(0.1);
"""),
    "perl": ("short.pl", """
sub w_spin { my $x = 0; for my $i (1 .. $_[0]) { $x += $i & 3 } $x }
sub w_main { do { w_spin(10000) } while ((times)[0] < $_[0]) }
w_main(0.1);
"""),
    "ruby": ("short.rb", """
def w_spin(n) = (x = 0; i = 0; (x += i & 3; i += 1) while i < n; x)
def w_main(s) = (w_spin(10000) while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < s)
w_main(0.2)
"""),
    "node": ("short.js", """
function w_spin(n) { let x = 0; for (let i = 0; i < n; i++) x += (i * x) & 3; return x; }
function w_main(s) { while (process.cpuUsage().user < s * 1e6) w_spin(10000); }
w_main(0.2);
"""),
}


def short_programs_are_whole(commands):
    """Short programs from exec on: of all their samples in user mode the paths are whole, and what stands in them is
    functions, not marks.  The first of each reads the file's table; more follow it."""
    n_found = 0
    for command in commands:
        name, text = SHORT[command]
        if not shutil.which(command):
            continue
        n_found += 1
        loop = "i=0; while [ $i -lt %d ]; do %s %s; i=$((i+1)); done" % (longer(12), command, written(name, text))
        work("sh", "-c", loop, options=("-e", "cpu-clock:u", "-c", 500009))
        found = folded_paths("--no-inline", "--comm", os.path.basename(command))
        total = sum(n for _, n in found)
        enough(total, 1500, "samples of " + command)
        whole = sum(n for path, n in found if not any(f.startswith("[truncated") or NAMELESS.search(f) for f in path))
        note("%s: %d of %d whole" % (command, whole, total))
        least(whole, total, 0.98, "whole paths of " + command)
        least(sum(n for path, n in found if "w_main" in re.sub("Object#|main::", "", " ".join(path)).split()), total, 0.1, "w_main")
    if not n_found:
        raise Skipped("no interpreter")


def whole_short_programs():
    short_programs_are_whole([DEBIANS])


def whole_short_programs_of_others():
    short_programs_are_whole([command for command in SHORT if command != DEBIANS])


run(whole_short_programs, another_pid_namespace, virtual_environment, embedded, several_interpreters, forged, without_bpf, ends_while_it_is_walked,
    services=[whole_short_programs_of_others])
