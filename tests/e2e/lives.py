# SPDX-License-Identifier: BSD-2-Clause
"""Processes that follow each other under one pid are never mixed."""
from e2e import *

FAST = ["-a", "-e", "cpu-clock", "-c", 100003]
LOOPS = 6000000  # about 6 ms
ROUNDS = 70
# Each life is one slice: how fast the CPU was (others may share its core) differs from life to life.  Did half of them
# run a third slower than the rest, by chance, the share of seventy lives would be off by one hundredth.
UNLIKE = 0.01


def ratio(script, *argv, engine="bpf", b_loops=2 * LOOPS):
    """Records something that runs prog_a and prog_b (twice as long) equally often."""
    a = record("--engine", engine, *FAST, "--", *argv)
    e = a["events"][0]
    p = Prof()
    in_a, in_b = p.procedures("prog_a"), p.procedures("prog_b")
    note("prog_a: %s, prog_b: %s" % (in_a, in_b))
    for got, foreign in (in_a, ("hot_of_b", "cold_of_a", "cold_of_b")), (in_b, ("hot_of_a", "cold_of_b", "cold_of_a")):
        for name in foreign:
            check(name not in got, "%s has samples" % name)
    hot_a, hot_b = in_a.get("hot_of_a", 0), in_b.get("hot_of_b", 0)
    enough(hot_a, 50, "samples of prog_a's")
    near(hot_b, hot_a + hot_b, b_loops / (LOOPS + b_loops), script + ": prog_b's share", slack=UNLIKE)
    busy = e["reached"] - e["idle"]
    note("%d of %d busy samples unknown" % (e["unknown"], busy))
    most(e["unknown"], busy, 0.005, "unknown")


def same_pid_again_and_again():
    """The kernel is told which pid to give, so each process has its predecessor's."""
    # Far above the pids that others are given meanwhile.
    pid = 4000000
    with sysctl("/proc/sys/kernel/pid_max", 4194304):
        each_with_pid(pid)


def each_with_pid(pid):
    argv = [prog("samepid"), pid, longer(70), prog("prog_a"), LOOPS, prog("prog_b"), 2 * LOOPS]
    p = subprocess.run([prog("samepid"), str(pid), "1", prog("prog_a"), "1", prog("prog_b"), "1"], check=False)
    if p.returncode == 77:
        raise Skipped("this kernel does not let anyone choose pids")
    check(p.returncode == 0, "samepid exits %d" % p.returncode)
    for engine in "bpf", "ring":
        ratio(engine, *argv, engine=engine)


def small_pid_space():
    """Pids are handed out round and round a small space, by a shell."""
    used = [int(d) for d in os.listdir("/proc") if d.isdigit()]
    size = 1000 + sum(300 <= pid < 1300 for pid in used)
    script = "i=0; while [ $i -lt %d ]; do %s -n %d; %s -n %d; i=$((i + 1)); done" % (
        longer(ROUNDS), prog("prog_a"), LOOPS, prog("prog_b"), 2 * LOOPS)
    # Many short lives beside make the pids go round several times a second.
    with sysctl("/proc/sys/kernel/pid_max", size), \
            running(prog("forkstorm"), 1000000, 2, "/bin/true") as storm:
        ratio("shell", "sh", "-c", script)
        check(storm.poll() is None, "the storm ended early")


def exec_in_place():
    """One process, one pid, one start time: only exec tells the programs apart."""
    script = "i=0; while [ $i -lt %d ]; do (%s -n %d; exec %s -n %d); i=$((i + 1)); done" % (
        longer(ROUNDS), prog("prog_a"), LOOPS, prog("prog_b"), 2 * LOOPS)
    ratio("exec", "sh", "-c", script)


def recorded_from_the_middle():
    """Processes that were there before the recording began, mapped or replaced while it began."""
    with running("sh", "-c", "while :; do %s -n %d; %s -n %d; done" %
                 (prog("prog_a"), LOOPS, prog("prog_b"), 2 * LOOPS)), \
            burning():
        for i in range(3):
            a = record(*FAST, "-d", longer(0.4), db="db%d" % i)
            e = a["events"][0]
            p = Prof(db="db%d" % i)
            busy = e["reached"] - e["idle"]
            note("%d of %d busy samples unknown, %d in burn" % (e["unknown"], busy, p.n(image="burn")))
            enough(p.n(image="burn"), 100, "samples of burn, which was there all the time")
            most(e["unknown"], busy, 0.005, "unknown")
            for name in "hot_of_b", "cold_of_a", "cold_of_b":
                check(name not in p.procedures("prog_a"), "prog_a: %s" % p.procedures("prog_a"))


run(same_pid_again_and_again, small_pid_space, exec_in_place, recorded_from_the_middle)
