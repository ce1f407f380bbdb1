# SPDX-License-Identifier: BSD-2-Clause
"""What is recorded is what was asked for: processes, cgroups, events."""
from e2e import *

RATE = ["-e", "cpu-clock", "-c", 500009]


def a_growing_process():
    """-p: the threads it has, those it makes later, and its children; nobody else."""
    for engine in "bpf", "ring":
        with burning(), running(prog("family"), 100, stdin=subprocess.PIPE) as p:
            time.sleep(0.2)
            with Recording("--engine", engine, *RATE, "-p", p.pid, db=engine) as r:
                time.sleep(longer(0.4))
                p.stdin.write(b"\n")
                p.stdin.flush()
                time.sleep(longer(1.2))
        q = Prof(db=engine)
        found = q.procedures("family")
        note("%s: %s" % (engine, found))
        for name in "burn_first", "burn_late_thread", "burn_child":
            enough(found.get(name, 0), 30, "samples of %s, %s" % (name, engine))
        check(q.n(image="burn") == 0, "others' samples")
        e = r.account["events"][0]
        most(e["unknown"], e["samples"], 0.005, "unknown")


def two_processes():
    with burning() as a, burning("burn_rebuilt") as b, burning("prog_a"):
        record(*RATE, "-p", "%d,%d" % (a.pid, b.pid), "-d", longer(0.6))
    p = Prof()
    enough(min(p.n(image="burn"), p.n(image="burn_rebuilt")), 30, "samples: %s" % p.rows[:5])
    check(p.n(image="prog_a") == 0, "others' samples")


def process_that_ends():
    """What a process did is kept when it ends before the recording does."""
    with running("sh", "-c", "read go; exec %s %g" % (prog("burn"), longer(0.8)), stdin=subprocess.PIPE) as p:
        with Recording(*RATE, "-p", "%d,%d" % (p.pid, os.getpid())) as r:
            p.stdin.write(b"\n")
            p.stdin.flush()
            p.wait()
            time.sleep(0.5)
    enough(Prof().n(image="burn"), 50, "samples: %s" % r.account)


def one_cgroup():
    name = "dwell-e2e-%d" % os.getpid()
    for engine in "bpf", "ring":
        with cgroup(name) as path, burning() as inside, burning("burn_rebuilt"):
            join(path, inside.pid)
            # By its path, and by its name below the mount.
            p = dwell("record", "--json", "--engine", engine, *RATE, "-G", path if engine == "bpf" else name,
                      "-d", longer(0.8), "--db", engine)
            inside.kill()
            inside.wait()
        check(p.returncode == 0, p.stderr)
        account_of(p.stdout)
        q = Prof(db=engine)
        enough(q.n(image="burn", procedure="burn_here"), 50, "samples, %s: %s" % (engine, q.rows[:5]))
        check(q.n(image="burn_rebuilt") == 0, "samples from outside")
        check(q.n(kind="idle") == 0, "idle time of a cgroup")


def member_of_a_cgroup():
    """A process that starts others in the cgroup; they are recorded too."""
    with cgroup("dwell-e2e-%d" % os.getpid()) as path, \
            running("sh", "-c", "while :; do %s -n 20000000; done" % prog("burn")) as shell:
        join(path, shell.pid)
        a = record(*RATE, "-G", path, "-d", longer(0.8))
        shell.kill()
    p = Prof()
    e = a["events"][0]
    enough(e["samples"], 100, "samples")
    least(p.n(image="burn", procedure="burn_here"), e["samples"], 0.8, "%s" % p.rows[:5])
    most(e["unknown"], e["samples"], 0.005, "unknown")


def cgroup_of_another_hierarchy():
    """One of an older file system's controllers, which perf knows nothing of: named, with what to do."""
    with open("/proc/mounts", encoding="ascii") as f:
        other = [line.split()[1] for line in f if line.split()[2] == "cgroup" and "memory" in line.split()[3].split(",")]
    if not other:
        raise Skipped("no cgroup file system but cgroup2 is mounted")
    path = os.path.join(other[0], "dwell-e2e-%d" % os.getpid())
    os.mkdir(path)
    try:
        for engine in "bpf", "ring":
            p = dwell("record", "--engine", engine, *RATE, "-G", path, "-d", 0.1)
            check(p.returncode == 125 and "%s: it must be of the cgroup2" % path in p.stderr, "exit %d: %s" % (p.returncode, p.stderr))
    finally:
        os.rmdir(path)


def several_events():
    """Clocks sample time, and faults are where memory is touched first."""
    a = record("-e", "cpu-clock:500009+page-faults:1+context-switches:1", "--", "sh", "-c",
               "%s %g; sleep 0.01; sleep 0.01" % (prog("burn"), longer(0.5)))
    by_name = {e["name"]: e for e in a["events"]}
    clock, faults, switches = (by_name[n] for n in ("cpu-clock", "page-faults", "context-switches"))
    likely(clock["samples"] > 100 and faults["samples"] > 100 and switches["samples"] >= 2, "%s" % a["events"])
    p = Prof(event="cpu-clock")
    for e in a["events"]:
        q = Prof(event=e["name"])
        check(q.n() == e["samples"], "%s: %d in rows, %d stored" % (e["name"], q.n(), e["samples"]))
    enough(p.n(image="burn", procedure="burn_here"), 100, "samples: %s" % p.procedures("burn"))
    # Unless the page with its code was taken away meanwhile.
    likely(Prof(event="page-faults").n(image="burn", procedure="burn_here") == 0, "a loop without memory faulted")


def tracepoint():
    """Every one is kept when each is asked for: as many as there were."""
    if not os.path.exists("/sys/kernel/tracing/events/sched/sched_process_fork") and \
            not os.path.exists("/sys/kernel/debug/tracing/events/sched/sched_process_fork"):
        raise Skipped("tracefs is not mounted")
    a = record("-e", "cpu-clock+sched:sched_process_fork:1", "--", prog("forkstorm"), 50, 2, "/bin/true")
    e = next(e for e in a["events"] if e["name"] == "sched:sched_process_fork")
    check(e["reached"] == 102, "%d forks, 102 happened" % e["reached"])
    likely(e["lost"] == 0, "lost %s" % e["losses"])
    # Every row is there, whatever event the rows are sorted by.
    check(Prof(event=e["name"]).n(kind="kernel") == 102, "forks are made in the kernel")


def user_or_kernel_only():
    record("-e", "cpu-clock:u:500009+cpu-clock:k:150001", "--", "sh", "-c",
           "%s %g; %s %d 1 /bin/true" % (prog("burn"), longer(0.3), prog("forkstorm"), longer(300)))
    u, k = Prof(event="cpu-clock:u"), Prof(event="cpu-clock:k")
    enough(min(u.n(), k.n()), 50, "samples of one")
    check(u.n(kind="kernel") == 0, "kernel code in :u")
    # A page of user code may still be the last thing seen when an interrupt is late, but not more.
    most(k.n(image="burn"), k.n(), 0.01, "user code in :k: %s" % k.procedures("burn"))


def labels_and_pids():
    record(*RATE, "--label", "red", "--by", "pid", "--", prog("burn"), longer(0.3), db="db")
    p = Prof("--label", "red")
    enough(p.n(image="burn"), 100, "samples: %s" % p.rows[:3])
    q = dwell("prof", "--json", "--db", "db", "--label", "blue")
    check(q.returncode != 0 or not json.loads(q.stdout)["rows"], "samples of a label nobody gave")


def commands_that_fail():
    one_line(dwell("record", "--db", "db", "--", "/nonexistent/program"), "/nonexistent/program", failed=127)
    check(not has_manifest("db") or dwell("prof", "--db", "db").returncode in (0, 1), "a broken database")
    # A command's own failure is not ours, and its status is passed on.
    p = dwell("record", "--json", "--db", "db", *RATE, "--", "sh", "-c", "%s %g; exit 3" % (prog("burn"), longer(0.1)))
    check(p.returncode == 3, "exit %d: %s" % (p.returncode, p.stderr.strip()))
    a = account_of(p.stdout, p.stderr)
    enough(a["events"][0]["samples"], 50, "samples: %s" % a)


run(a_growing_process, two_processes, process_that_ends, one_cgroup, member_of_a_cgroup, cgroup_of_another_hierarchy,
    several_events, tracepoint, user_or_kernel_only, labels_and_pids, commands_that_fail)
