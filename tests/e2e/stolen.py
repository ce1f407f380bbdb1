# SPDX-License-Identifier: BSD-2-Clause
"""A virtual machine whose host takes time from it: clocks go on, interrupts come late or not at all.  What is missing
is told, and no path is wrong.  (stealing.c takes the time.)"""
from paths import *

LOOPS = 200000000  # about half a second
PLAIN = ";".join(LIBC_MAIN) + ";outer;middle;inner"


@contextlib.contextmanager
def stealing(hz):
    """Some tenth of each CPU; the list that is yielded has the nanoseconds taken, once the block is left."""
    taken = []
    with running(prog("stealing"), hz, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        check(p.stdout.readline() == "ready\n", "no time can be taken here")
        yield taken
        taken.append(int(p.communicate()[0]))


def paths_are_right():
    for engine in "bpf", "ring":
        with stealing(20) as taken:
            p, a = calls("--engine", engine, "--", compile_c("plain", "plain_path.c"), longer(LOOPS), db=engine)
        e = a["events"][0]
        note("%s: %.0f ms taken, %s" % (engine, taken[0] / 1e6, {k: e[k] for k in ("samples", "lost", "not_delivered")}))
        p.only(lambda q: q.frames and q.frames[-1] == "inner").whole(PLAIN, engine)


def what_is_missing_is_told():
    """All CPUs are busy, so each has a sample each period, but for what was taken."""
    n_cpus = os.sysconf("SC_NPROCESSORS_ONLN")
    period = 100003
    with contextlib.ExitStack() as burners:
        for _ in range(n_cpus):
            burners.enter_context(burning(part=1))
        with stealing(20) as taken:
            a = record("-a", "-e", "cpu-clock", "-c", period, "--", "sleep", longer(1.5))
    e = a["events"][0]
    note("%.0f ms taken, %s" % (taken[0] / 1e6, {k: e[k] for k in ("samples", "idle", "lost", "not_delivered")}))
    missing = taken[0] / period
    check(missing > 500, "hardly anything was taken: %.0f samples" % missing)
    # Some of it was taken before the recording began, and after it.
    likely(0.5 * missing < e["not_delivered"] < 1.5 * missing + 0.1 * e["samples"],
           "%d not delivered, %.0f taken" % (e["not_delivered"], missing))


run(paths_are_right, what_is_missing_is_told)
