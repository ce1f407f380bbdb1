# SPDX-License-Identifier: BSD-2-Clause
"""Known call paths through optimised code without frame pointers: executable, library, threads, signals, contexts."""
import re
import shutil

from e2e import *
from paths import compile_c

MAIN = "_start;__libc_start_main;__libc_start_call_main;main"


def user_part(path):
    return ";".join(f for f in path if not f.endswith("_[k]"))


def paths(what):
    """The user part of each sample's path below the process, and the number of samples with it."""
    record("-g", "-e", "cpu-clock", "-c", 500009, "--", prog("walks"), what, longer(1.5))
    ret = {}
    for path, n in folded_paths("--no-inline", "--comm", "walks"):
        user = user_part(path)
        ret[user] = ret.get(user, 0) + n
    return ret


def ends(found, expected, share=0.97):
    """At least SHARE of the samples in leaf() have exactly the path EXPECTED."""
    leaf = {p: n for p, n in found.items() if p.endswith(expected.rsplit(";", 1)[1])}
    n = sum(leaf.values())
    enough(n, 500, "samples: %s" % found)
    note("%d of %d as expected" % (leaf.get(expected, 0), n))
    # Before its first table is built, a program's paths are guessed or truncated, and say so.
    least(leaf.get(expected, 0), n, share, "%s: %s" % (expected, leaf))


def executable_and_library():
    ends(paths("path"), MAIN + ";of_any_size;realigned;through_library;library_calls;called_back;leaf")


def deep():
    ends(paths("deep"), MAIN + ";down" * 101 + ";leaf")


def too_deep():
    found = paths("too_deep")
    cut = {p: n for p, n in found.items() if p.startswith("[truncated: too deep];")}
    # On its way down it is not too deep yet: some samples of thousands.
    shallow = sum(n for p, n in found.items() if p.startswith("_start") and "down" in p)
    most(shallow, sum(found.values()), 0.01, "a wrong root: %s" % list(found)[:3])
    enough(sum(cut.values()), 500, "samples that are cut")
    likely(all(p.count(";down") > 500 for p in cut), "%s" % list(found)[:3])


def a_signal_on_a_stack_of_its_own():
    found = {p.replace("interrupted.cold", "interrupted"): n for p, n in paths("signal").items()}
    ends(found, MAIN + ";interrupted;__restore_rt;after_ud2;leaf", 0.95)


def a_thread():
    ends(paths("thread"), "clone3;start_thread;thread;realigned;through_library;library_calls;called_back;leaf")


def a_context():
    ends(paths("context"), "__start_context;in_context;called_back;leaf")


def from_the_kernel():
    ends(paths("kernel"), MAIN + ";in_kernel;read")


ENDS = """
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static char memory[24 << 20];
__attribute__((noinline, noclone)) static void leave(int how, char **argv)
{
	memset(memory, 1, sizeof(memory));
	if (how)
		execv(argv[0], (char *[]){argv[0], 0});
	_exit(0);
}
/* As deep as a shell's functions are. */
__attribute__((noinline, noclone)) static void down(int n, int how, char **argv)
{
	if (n)
		down(n - 1, how, argv);
	else
		leave(how, argv);
	__asm__ volatile("" ::: "memory");
}
int main(int argc, char **argv)
{
	if (argc < 2)
		return 0;
	for (int i = 0; i < atoi(argv[1]); i++) {
		int pid = fork();
		if (pid == 0)
			down(100, i % 2, argv);
		waitpid(pid, 0, 0);
	}
	return 0;
}
"""


def given_up(period, depth, *command):
    """Records COMMAND, which runs `ender`: samples in the freeing of memory, and those without their callers.
    DEPTH: how many calls of down() in each other there are."""
    if tuple(int(n) for n in re.match(r"(\d+)\.(\d+)", os.uname().release).groups()) < (6, 16):
        raise Skipped("this Linux tells of exits when their memory is gone")
    record("-g", "-e", "cpu-clock", "-c", period, "--", *command)
    found, n, lost = {}, 0, 0
    for path, count in folded_paths("--no-inline", "--comm", "ender"):
        user = user_part(path)
        if "exit_mmap_[k]" not in path or "exit;__run_exit_handlers" in user: # those end by themselves
            continue
        n += count
        lost += count * ("[truncated: process exiting]" in path)
        way = "execv" if any(f.endswith("execve_[k]") for f in path) else "_exit"
        if way in user:
            found[way] = found.get(way, 0) + count
            check(user.startswith(MAIN + ";down" * (depth + 1) + ";leave;"), "a wrong path: %s" % path)
    for way in "execv", "_exit":
        enough(found.get(way, 0), 50, "samples in %s: %s" % (way, found))
    note("%d samples, %d without their callers" % (n, lost))
    return n, lost


def memory_given_up():
    """A process that frees its memory, in exit and in exec, still says who called for that."""
    n, lost = given_up(500009, 100, compile_c("ender", "ender.c", text=ENDS), longer(100))
    most(lost, n, 0.02, "without their callers")


def memory_given_up_before_a_table():
    """The last walks of programs that no recorder has met are taken up when their tables are there."""
    program = compile_c("ender", "ender.c", text=ENDS.replace("24 << 20", "1 << 20").replace("down(100", "down(0"))
    n_programs = int(longer(200))
    for i in range(n_programs):
        os.mkdir("d%d" % i)
        shutil.copy(program, "d%d/ender" % i)
    n, lost = given_up(200003, 0, "sh", "-c", "for i in $(seq 0 %d); do d$i/ender 2; done" % (n_programs - 1))
    most(lost, n, 0.02, "without their callers")


run(memory_given_up, memory_given_up_before_a_table, executable_and_library, deep, too_deep, a_signal_on_a_stack_of_its_own, a_thread, a_context, from_the_kernel)
