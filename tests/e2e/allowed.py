# SPDX-License-Identifier: BSD-2-Clause
"""Who may record what, and how a refusal is said: one line, exit 2."""
import resource

from paths import *

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]
PARANOID = "/proc/sys/kernel/perf_event_paranoid"
RATE = ["-e", "cpu-clock", "-c", 500009]


def reachable():
    """The program and its workloads, where nobody can reach them: a build may lie in a private place."""
    os.mkdir("open")
    for path in DWELL, prog("burn"), prog("forkstorm"):
        shutil.copy(path, "open")
    os.mkdir("home")
    os.chown("home", 65534, 65534)
    os.chmod("open", 0o755)
    return os.path.abspath("open")


def as_nobody(where, *argv, prefix=()):
    return subprocess.run([*prefix, *NOBODY, where + "/dwell", *map(str, argv)], capture_output=True, text=True,
                          timeout=300)


def own_command():
    """paranoid 2: user code only, said in one line; names, owners and the account as for root."""
    where = reachable()
    with sysctl(PARANOID, 2):
        p = as_nobody(where, "record", "--json", *RATE, "--db", "home/db", "--", where + "/burn", longer(0.7))
    check(p.returncode == 0, p.stderr)
    said = [s for s in p.stderr.splitlines() if "user code only" in s]
    check(len(said) == 1, "it does not say 'user code only' in one line: " + p.stderr)
    a = account_of(p.stdout)
    check(a["engine"] == "ring", "engine " + a["engine"])
    e = a["events"][0]
    q = Prof(db="home/db")
    enough(e["samples"], 100, "samples")
    least(q.n(image=where + "/burn", procedure="burn_here"), e["samples"], 0.95, "%s" % q.rows[:3])
    check(q.n(kind="kernel") == 0, "kernel samples")
    most(e["unknown"], e["samples"], 0.005, "unknown")


def own_call_paths():
    """From copies of stacks, without frame pointers and privileges, the same tree as for root."""
    where = reachable()
    shutil.copy(prog("calls"), "open")
    for lib in os.listdir(os.path.dirname(prog("calls"))):
        if lib.startswith("libcalls_") and lib.endswith(".so"):
            shutil.copy(prog(lib), "open")
    with sysctl(PARANOID, 2):
        p = as_nobody(where, "record", "--json", "-g", *RATE, "--db", "home/db", "--",
                      "env", "LD_LIBRARY_PATH=" + where, where + "/calls", longer(300))
    check(p.returncode == 0, p.stderr)
    a = account_of(p.stdout)
    c = a["events"][0]["call_paths"]
    check(a["engine"] == "ring" and a["call_paths"]["tables_built"] > 2, "%s" % a)
    enough(a["events"][0]["samples"], 300, "samples")
    least(c["complete"], a["events"][0]["samples"], 0.95, "%s" % c)
    rows = sh(DWELL, "export", "--folded", "--no-inline", "--db", "home/db").splitlines()
    in_main = [(r.rsplit(" ", 1)[0], int(r.rsplit(" ", 1)[1])) for r in rows if ";main;" in r and ";burn " in r]
    outer = sum(n for path, n in in_main if path.endswith(";main;outer;inner;burn"))
    near(outer, sum(n for _, n in in_main), 6 / 15, "outer")


WIDE = """
#include <stdlib.h>
static volatile unsigned long sink;
__attribute__((noinline)) void wide(int n, unsigned long loops)
{
	volatile char room[500];

	room[0] = 1;
	if (n)
		wide(n - 1, loops);
	else
		while (loops--)
			sink += loops;
	sink += (unsigned long)room[0];
}
int main(int argc, char **argv)
{
	wide(48, strtoul(argv[1], NULL, 0));
	return argc - 2;
}
"""


def users_room():
    """KiB of rings that a user may have, besides what RLIMIT_MEMLOCK lets her lock."""
    with open("/proc/sys/kernel/perf_event_mlock_kb") as f:
        return int(f.read()) * os.cpu_count()


def deep_stacks():
    """Where rings have room, copies reach the callers of a stack of 24 KiB."""
    limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    if limit != resource.RLIM_INFINITY and users_room() + limit // 1024 < os.cpu_count() * (2 * 1024 + 4):
        raise Skipped("RLIMIT_MEMLOCK leaves too little room")
    where = reachable()
    shutil.copy(compile_c("wide", "wide.c", text=WIDE), "open")
    with sysctl(PARANOID, 2):
        p = as_nobody(where, "record", "--json", "-g", *RATE, "--db", "home/db", "--", where + "/wide", longer(400000000))
    check(p.returncode == 0, p.stderr)
    a = account_of(p.stdout)
    enough(a["events"][0]["samples"], 100, "samples")
    rows = [r for r in sh(DWELL, "export", "--folded", "--no-inline", "--db", "home/db").splitlines() if ";wide " in r]
    whole = [int(r.rsplit(" ", 1)[1]) for r in rows if r.count(";wide") == 49 and ";main;" in r]
    least(sum(whole), sum(int(r.rsplit(" ", 1)[1]) for r in rows), 0.95, "%s" % a["events"][0]["call_paths"])


def little_room():
    """Rings are of one size: where the first takes nearly all that may be locked, none is left for the last."""
    where = reachable()
    large = (4 << 10) + 4
    n = max(1, -(-(users_room() - 24) // large))  # rings that have room, and 24 KiB more
    if n >= os.cpu_count():
        raise Skipped("kernel.perf_event_mlock_kb leaves room for all CPUs")
    with sysctl(PARANOID, 2):
        for kib in n * large + 24 - users_room(), 0:
            p = as_nobody(where, "record", "--json", "-g", *RATE, "--db", "home/db", "--", where + "/burn", longer(0.7),
                          prefix=["prlimit", "--memlock=%d:%d" % (kib << 10, kib << 10)])
            check(p.returncode == 0, p.stderr)
            e = account_of(p.stdout)["events"][0]
            enough(e["samples"], 100, "samples")
            most(e["lost"], e["reached"], 0.2, "lost: %s" % e)


def own_processes():
    """A command that starts others; a process that already runs."""
    where = reachable()
    with sysctl(PARANOID, 2):
        p = as_nobody(where, "record", "--json", *RATE, "--db", "home/db", "--", where + "/forkstorm", 20, 2,
                      where + "/burn", longer(0.05))
        check(p.returncode == 0, p.stderr)
        e = account_of(p.stdout)["events"][0]
        q = Prof(db="home/db")
        enough(e["samples"], 100, "samples")
        least(q.n(image=where + "/burn", procedure="burn_here"), e["samples"], 0.8, "%s" % q.rows[:3])
        most(e["unknown"], e["samples"], 0.005, "unknown")
        with running(*NOBODY, where + "/burn", "20", "0.25") as b:
            wait_for(lambda: os.readlink("/proc/%d/exe" % b.pid) == where + "/burn", "its own user and program")
            p = as_nobody(where, "record", "--json", *RATE, "--db", "home/db2", "-p", b.pid, "-d", longer(0.6))
        check(p.returncode == 0, p.stderr)
        enough(Prof(db="home/db2").n(image=where + "/burn", procedure="burn_here"), 50, "samples: " + p.stdout)


def own_waits():
    """What own threads do besides running: times always, and where they block if the kernel may be sampled."""
    where = reachable()
    shutil.copy(prog("blocks"), "open")
    for level, said, mark in (2, "blocks have times but no call paths", "[blocked, path not allowed]"), (1, "no frames of the kernel", ";sleeper;"):
        db = "home/db%d" % level
        with sysctl(PARANOID, level):
            p = as_nobody(where, "record", "--json", "--off-cpu", "--db", db, "--", where + "/blocks", longer(1), "sleeper", "spinner1")
        check(p.returncode == 0, p.stderr)
        check(len([s for s in p.stderr.splitlines() if said in s]) == 1, "it does not say '%s' in one line: %s" % (said, p.stderr))
        times = {e["name"]: e["time_ns"] for e in account_of(p.stdout)["events"] if "time_ns" in e}
        note(times)
        likely(times["blocked"] > 0.7e9 and times["running"] + times["runnable"] > 0.7e9, "%s" % times)
        paths = [r.rsplit(" ", 1) for r in sh(DWELL, "export", "--folded", "--db", db, "--event", "blocked").splitlines()]
        blocked = sum(int(ns) for path, ns in paths if "sleep" in path or mark in path)
        least(sum(int(ns) for path, ns in paths if mark in path), blocked, 0.9, "%s" % paths)


def the_whole_machine_is_refused():
    where = reachable()
    with sysctl(PARANOID, 2):
        one_line(as_nobody(where, "record", *RATE, "--db", "home/db", "-a", "-d", 0.3), "perf_event_paranoid")
        one_line(as_nobody(where, "record", *RATE, "--engine", "bpf", "--db", "home/db", "--", where + "/burn", 0.1),
                 "BPF")
        with burning() as b:
            one_line(as_nobody(where, "record", *RATE, "--db", "home/db", "-p", b.pid, "-d", 0.3), "not allowed")
        one_line(as_nobody(where, "record", *RATE, "--db", "/dwell-of-nobody", "--", where + "/burn", 0.1), "dwell-of-nobody")
    check(not has_manifest("home/db") if os.path.exists("home/db") else True, "a refused recording left an epoch")


def everything_is_refused():
    """A kernel that knows level 3 (Debian's) refuses users altogether; on others it is like 2."""
    where = reachable()
    with sysctl(PARANOID, 3):
        p = as_nobody(where, "record", "--json", *RATE, "--db", "home/db", "--", where + "/burn", 0.3)
        if p.returncode == 0:
            check("user code only" in p.stderr, p.stderr)
        else:
            one_line(p, "perf_event_paranoid")


def refusals():
    one_line(dwell("record", "-p", 4194303, "--db", "db"), "no process 4194303")
    one_line(dwell("record", "-p", "x", "--db", "db"), "'x'")
    one_line(dwell("record", "-p", 0, "--db", "db"), "'0'")
    one_line(dwell("record", "--db", "db"), "-a")
    one_line(dwell("record", "-a", "-p", 1, "--db", "db"), "exclude")
    one_line(dwell("record", "-a", "-d", "0.1", "-F", 10, "-c", 10, "--db", "db"), "exclude")
    one_line(dwell("record", "-a", "-d", "0.1", "-G", "/nonexistent", "--db", "db"), "exclude")
    one_line(dwell("record", "-d", "0.1", "-G", "/nonexistent", "--db", "db"), "/nonexistent")
    one_line(dwell("record", "-d", "0.1", "-G", "/tmp", "--db", "db"), "/tmp")
    one_line(dwell("record", "-a", "-d", "0.1", "-e", "cpu-clok", "--db", "db"), "cpu-clok", "cpu-clock")
    one_line(dwell("record", "-a", "-d", "0.1", "-e", "sched:sched_swich", "--db", "db"), "sched_swich")
    one_line(dwell("record", "-a", "-d", "0.1", "--engine", "magic", "--db", "db"), "magic")
    one_line(dwell("record", "-a", "-d", "0.1", "--log-slots", 100, "--db", "db"), "100")
    check(not has_manifest("db") if os.path.exists("db") else True, "a refused recording left an epoch")


def too_few_files():
    """One line when descriptors run out, whatever they were wanted for."""
    p = dwell("record", *RATE, "--db", "db", "-a", "-d", 0.3, prefix=["prlimit", "--nofile=8:8"])
    one_line(p)


run(own_command, own_call_paths, own_waits, deep_stacks, little_room, own_processes, the_whole_machine_is_refused, everything_is_refused, refusals, too_few_files)
