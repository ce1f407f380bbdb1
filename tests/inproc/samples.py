# SPDX-License-Identifier: BSD-2-Clause
"""How libdwell samples, held against what programs say they spent, against perf, and against itself where
perf_event_open(2) is forbidden; its files read by gprof and by dwell."""
import errno
import glob
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from spent import agrees, note, ns_of, spent  # noqa: E402
from e2e import Prof, Skipped, check, dwell, likely, longer, prog, run, same_share, sh  # noqa: E402


def counted(seconds, threads, hz, bits, bucket, *plugin, program="counted", prefix=()):
    return spent(sh(*prefix, prog(program), longer(seconds), threads, hz, bits, bucket, *plugin, timeout=300))


def by_gprof(program, gmon="gmon.out", hz=100):
    """{procedure: ticks} as gprof's flat profile has them."""
    flat = sh("gprof", "-p", "-b", "-z", program, gmon)
    rows = re.findall(r"^\s*[\d.]+\s+[\d.]+\s+([\d.]+)\s+(?:[\d.]+\s+)*(\w+)\s*$", flat, flags=re.M)
    return {name: round(float(s) * hz) for s, name in rows}


def ratio(bits, threads):
    def test():
        said = counted(0.6 if threads == 1 else 0.03, threads, 1000, bits, 1)
        p = Prof(db="dcpi")
        agrees(said, p.n("counted", "work_a"), p.n("counted", "work_b"), 10**6, threads)
        ticks = ns_of(said, "ticks")
        check(ticks == sum(r["counts"][p.event] for r in p.rows) + ns_of(said, "outside"),
              "%d ticks, in the files %d, outside %d" %
              (ticks, sum(r["counts"][p.event] for r in p.rows), ns_of(said, "outside")))
    test.__name__ = "known_ratio_%d_bits_%d_threads" % (bits, threads)
    return test


def gprof_of(program):
    def test():
        """gprof and dwell read the same of the same run: at 100 Hz gprof shows every tick."""
        said = counted(0.3, 2, 100, 32, 2, program=program)
        p, g = Prof(db="dcpi"), by_gprof(prog(program))
        for name in ("work_a", "work_b"):
            note("%s: gprof %d, dwell %d; spent %.1f" % (name, g.get(name, 0), p.n(program, name),
                                                         ns_of(said, name) / 1e7))
            check(g.get(name) == p.n(program, name), "%s: gprof %s, dwell %d" % (name, g.get(name), p.n(program, name)))
        likely(g.get("work_a", 0) > g.get("work_b", 0) > 0, "%s" % g)
    test.__name__ = "gprof_reads_" + program
    return test


def gprof_of_large_counts():
    """Counts beyond gmon.out's 16 bits are spread over records; gprof adds them up."""
    counted(0.1, 1, 1000, 32, 1, "large")
    p, g = Prof(db="dcpi"), by_gprof(prog("counted"), hz=1000)
    n = p.n("counted", "work_a")
    note("work_a: gprof %d, dwell %d" % (g["work_a"], n))
    check(n > 200000, "only %d ticks" % n)
    check(abs(g["work_a"] - n) <= 10, "gprof %d, dwell %d" % (g["work_a"], n))  # it shows hundredths of a second


def a_plugin_too():
    path = prog("libplugin_a.so")
    said = counted(0.3, 1, 100, 32, 1, path)
    p = Prof(db="dcpi")
    n, want = p.n("libplugin_a.so", "plugin"), ns_of(said, "plugin") / 1e7
    g = by_gprof(path, "plugin.out")
    note("plugin: gprof %s, dwell %d ticks, spent %.1f" % (g, n, want))
    check(g["plugin"] == n, "gprof %s, dwell %d" % (g, n))
    likely(0.9 * want - 2 <= n <= want + 2, "%d ticks of %.1f" % (n, want))


def dwell_list_reads_it():
    counted(0.3, 1, 1000, 32, 1)
    p = dwell("list", "--asm", "--json", "--db", "dcpi", "work_a", prog("counted"))
    check(p.returncode == 0, p.stderr)
    n = sum(r["counts"].get("task-clock", 0) for r in json.loads(p.stdout)["rows"])
    want = Prof(db="dcpi").n("counted", "work_a")
    check(n == want, "%d ticks at instructions, %d in work_a" % (n, want))


def the_machines_clock_is_stated():
    """cpuspeed is what `dwell export --dcpi` finds out of this machine, also in a locale with other decimal points."""
    counted(0.1, 1, 100, 32, 1)
    dwell("record", "--db", "db", "-F", "97", "--", "true")
    dwell("export", "--db", "db", "--dcpi", "-o", "tree")
    speeds = [{re.search(rb"^cpuspeed +(\d+)$", open(f, "rb").read(4096), re.M).group(1)
               for f in glob.glob(tree + "/*/*/*") if not f.endswith("/.dwell")} for tree in ("dcpi", "tree")]
    note("%s" % speeds)
    check(len(speeds[0]) == 1 and (not speeds[1] or speeds[0] == speeds[1]), "cpuspeed %s" % speeds)


def denied(code, program, name):
    """Timers of the threads' clocks take over, and tell the same."""
    def test():
        for threads in (1, 8):
            subprocess.run(["rm", "-rf", "dcpi"], check=True)
            said = counted(1.0 if threads == 1 else 0.15, threads, 100, 32, 1, program=program,
                           prefix=(prog("deny"), code))
            p = Prof(db="dcpi")
            agrees(said, p.n(program, "work_a"), p.n(program, "work_b"), 10**7, threads)
    test.__name__ = name
    return test


def preload_where_perf_is_forbidden():
    p = subprocess.run([prog("deny"), str(errno.EPERM), prog("work"), "threads", str(longer(0.5)), "4"], capture_output=True,
                       text=True, timeout=60,
                       env={**os.environ, "LD_PRELOAD": os.environ["PRELOAD"], "DWELL_PRELOAD_DIR": "d",
                            "DWELL_PROFIL_HZ": "100"})
    check(p.returncode == 0 and not p.stderr, p.stderr)
    said, p = spent(p.stdout), Prof(db="d")
    agrees(said, p.n("work", "work_a"), p.n("work", "work_b"), 10**7, 4)


def perf_record_agrees():
    """Both sample one run: the shares are those of two samples of one thing."""
    if not shutil.which("perf"):
        raise Skipped("no perf")
    sh("perf", "record", "-q", "-e", "task-clock:u", "-c", "1000000", "-o", "perf.data", prog("counted"), str(longer(0.5)), "2",
       "1000", "32", "1", timeout=120)
    p, q = Prof(db="dcpi"), Prof(db="perf.data")
    ours, theirs = ({f: x.n("counted", f) for f in ("work_a", "work_b")} for x in (p, q))
    note("ours %s, perf's %s" % (ours, theirs))
    same_share(ours["work_a"], sum(ours.values()), theirs["work_a"], sum(theirs.values()), "work_a")
    a, b = sum(ours.values()), sum(theirs.values())
    likely(abs(a - b) <= 0.04 * (a + b) / 2 + 4, "we have %d, perf %d" % (a, b))


def without_privileges():
    """As a user who may not see the kernel, and whose rings have little memory: 64 threads."""
    os.chmod(".", 0o777)
    said = counted(0.05, 64, 1000, 32, 1, prefix=("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"))
    p = Prof(db="dcpi")
    agrees(said, p.n("counted", "work_a"), p.n("counted", "work_b"), 10**6, 64)


if __name__ == "__main__":
    run(*[ratio(bits, threads) for bits in (16, 32, 64) for threads in (1, 64)],
        *[gprof_of(p) for p in ("counted", "counted_fixed", "counted_static", "counted_static_pie")],
        gprof_of_large_counts, a_plugin_too, dwell_list_reads_it, the_machines_clock_is_stated,
        *[denied(getattr(errno, e), "counted", "timers_after_" + e) for e in ("EPERM", "EACCES", "ENOSYS")],
        denied(errno.EPERM, "counted_static", "timers_in_a_static_program"),
        preload_where_perf_is_forbidden, perf_record_agrees, without_privileges)
