# SPDX-License-Identifier: BSD-2-Clause
"""What libdwell-preload.so makes of programs that know nothing of it, held against what these say they spent
(work.c).  Ticks are periods of a thread's CPU time, so that their sum is what the program says, up to half a
tick for each thread and what it did besides; only the split between two procedures is a matter of chance."""
import ctypes
import glob
import json
import mmap
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from spent import agrees as spent_agrees  # noqa: E402
from spent import note, ns_of, spent  # noqa: E402
from e2e import DWELL, Prof, Skipped, check, dwell, enough, likely, longer, prog, run, wait_for  # noqa: E402

LIB = os.environ["PRELOAD"]
HZ = 1000
TICK = 10**9 // HZ


def profiled(*argv, directory="d", env=(), status=0, **kw):
    """Runs a workload under the library; {name: {pid: ns}} of what it says."""
    p = subprocess.run([prog("work"), *map(str, argv)], capture_output=True, text=True, timeout=300,
                       env={**os.environ, "LD_PRELOAD": LIB, "DWELL_PRELOAD_DIR": directory, **dict(env)}, **kw)
    check(p.returncode == status, "%s: exit %d, wanted %d: %s" % (argv, p.returncode, status, p.stderr))
    check(p.stderr == "", "it says " + p.stderr)
    return spent(p.stdout)


def leftovers(directory="d"):
    return glob.glob(directory + "/*.hist")


def agrees(said, threads=1):
    """The ticks of work_a and work_b are what the program spent there; all of the program's."""
    p = Prof(db="d")
    spent_agrees(said, p.n("work", "work_a"), p.n("work", "work_b"), TICK, threads)
    return p


def a_program_that_exits():
    said = profiled("threads", longer(0.5))
    check(not leftovers(), "it left %s" % leftovers())
    p = agrees(said)
    check(p.json["events"][0]["period"] == TICK, "period %s" % p.json["events"][0])


def many_threads():
    said = profiled("threads", longer(0.03), 64)
    agrees(said, threads=64)


def instructions_are_exact():
    """Each tick is at an instruction that is executed: those of the two loops."""
    profiled("threads", longer(0.3))
    p = dwell("list", "--json", "--db", "d", "work_a", prog("work"))
    check(p.returncode == 0, p.stderr)
    likely(any(c["counts"] for c in json.loads(p.stdout)["rows"]), "nothing is listed: " + p.stdout[:300])


def ends(how, status, left):
    said = profiled(how, longer(0.5), status=status)
    check(len(leftovers()) == left, "%d leftovers: %s" % (len(leftovers()), leftovers()))
    agrees(said)
    check(len(leftovers()) == left, "reading changes what is there: %s" % leftovers())
    before = Prof(db="d").rows
    if left:
        dwell("check", "--repair", "d")
    check(not leftovers(), "check --repair leaves %s" % leftovers())
    check(Prof(db="d").rows == before, "finishing counts twice")
    return said


def killed():
    ends("kill", -signal.SIGKILL, 1)


def crashed():
    ends("trap", -signal.SIGILL, 1)


def aborted():
    ends("abort", -signal.SIGABRT, 1)


def a_raw_exit_group():
    ends("exit_group", 5, 1)


def underscore_exit():
    ends("_exit", 5, 0)


def another_root_directory():
    """The file is where it belongs although its place cannot be reached when the first tick comes."""
    ends("jail", 0, 1)


def another_user():
    ends("drop", 0, 1)


def quick_exit():
    ends("quick_exit", 5, 0)


def node_is_one_image():
    """Node maps a part of its text a second time, and all of it as nameless memory when told to use large pages."""
    if not shutil.which("node"):
        raise Skipped("no node")
    for how in ((), ("--use-largepages=on",)):
        subprocess.run(["rm", "-rf", "d"], check=True)
        js = "let s = 0; const t = Date.now(); while (Date.now() - t < %d) s += Math.sqrt(s + 1)" % (300 * longer(1))
        subprocess.run(["node", *how, "-e", js], check=True, timeout=300,
                       env={**os.environ, "LD_PRELOAD": LIB, "DWELL_PRELOAD_DIR": "d"})
        p = Prof(by="image", db="d")
        # Debian's node has its code in a library.
        rows = [r for r in p.rows if re.search(r"/(node|libnode\.so[.0-9]*)$", str(r["image"]))]
        note("%s: %s" % (how, [(r["image"], r["build_id"], r["counts"]) for r in p.rows]))
        check(rows and all(r["build_id"] for r in rows) and len({r["image"] for r in rows}) == len(rows), "node's images: %s" % rows)


def a_process_touches_few_pages():
    """What a process costs is the pages of its histogram file that it touches, without read-ahead."""
    with subprocess.Popen([prog("work"), "threads", "60"], stdout=subprocess.DEVNULL, env={**os.environ, "LD_PRELOAD": LIB, "DWELL_PRELOAD_DIR": "d"}) as p:
        wait_for(leftovers, "the file")
        with open(leftovers()[0], "r+b") as f, mmap.mmap(f.fileno(), 0) as m:
            n = (len(m) + mmap.PAGESIZE - 1) // mmap.PAGESIZE
            there = (ctypes.c_ubyte * n)()
            at = (ctypes.c_ubyte * len(m)).from_buffer(m)
            check(ctypes.CDLL(None).mincore(ctypes.byref(at), ctypes.c_size_t(len(m)), there) == 0, "mincore")
            del at
        p.kill()
    note("%d of %d pages are in memory" % (sum(there), n))
    check(1 <= sum(there) <= 64, "%d of %d pages are in memory" % (sum(there), n))


def without_a_tick_there_is_no_file():
    """Most processes end before their first tick: files would cost them more than all else."""
    def has_helper(pid):
        return any(open(f).read() == "dwell-profil\n" for f in glob.glob("/proc/%d/task/*/comm" % pid))

    with subprocess.Popen(["sleep", "60"], env={**os.environ, "LD_PRELOAD": LIB, "DWELL_PRELOAD_DIR": "d",
                                                "DWELL_PROFIL_HZ": "1"}) as p:
        wait_for(lambda: has_helper(p.pid), "the helper")
        time.sleep(0.3)
        check(os.listdir("d") == [], "there is %s" % os.listdir("d"))
        p.kill()


def nobody_waits_awake():
    """On a busy machine the helper's first turn is late: who waits for it sleeps."""
    p = subprocess.run([prog("deny"), "yield", prog("work"), "threads", "0.05", "2"], capture_output=True, text=True,
                       timeout=300, env={**os.environ, "LD_PRELOAD": LIB, "DWELL_PRELOAD_DIR": "d"})
    check(p.returncode == 0, "exit %d: %s" % (p.returncode, p.stderr))


def identity_of_one_thread_changes():
    """setpriv(1) keeps capabilities of its own thread over setresuid(2), and calls setresgid(2) then: the C library
    would abort if another thread were refused it.  The program behind it is profiled as the other user."""
    os.mkdir("d")
    os.chmod("d", 0o777)
    os.chmod(".", 0o755)
    p = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", prog("work"), "threads",
                        str(longer(0.3))], capture_output=True, text=True, timeout=300,
                       env={**os.environ, "LD_PRELOAD": LIB, "DWELL_PRELOAD_DIR": "d"})
    check(p.returncode == 0 and p.stderr == "", "exit %d: %s" % (p.returncode, p.stderr))
    check(not leftovers(), "it left %s" % leftovers())
    agrees(spent(p.stdout))


def fork_goes_on_in_both():
    said = profiled("fork", longer(0.5))
    check(len(said["work_a"]) == 2, "two processes say something: %s" % said)
    check(not leftovers(), "it left %s" % leftovers())
    agrees(said, threads=2)


def vfork_is_let_be():
    said = profiled("vfork", longer(0.3))
    check(not leftovers(), "it left %s" % leftovers())
    agrees(said, threads=2)


def exec_writes_before():
    said = profiled("exec", longer(0.3))
    check(not leftovers(), "it left %s" % leftovers())
    agrees(said, threads=2)


def every_exec():
    said = profiled("execs", longer(0.1))
    check(not leftovers(), "it left %s" % leftovers())
    agrees(said, threads=6)


def exec_that_fails():
    said = profiled("exec_fails", longer(0.3))
    check(not leftovers(), "it left %s" % leftovers())
    agrees(said, threads=2)


def a_daemon():
    r, w = os.pipe()
    with subprocess.Popen([prog("work"), "daemon", "0.3"], stdout=w,
                          env={**os.environ, "LD_PRELOAD": LIB, "DWELL_PRELOAD_DIR": "d"}) as p:
        os.close(w)
        check(p.wait(timeout=300) == 0, "it exits %s" % p.returncode)
        with os.fdopen(r) as f:
            text = f.read()  # until the daemon ends too
    said = spent(text)
    check(len(said["work_a"]) == 2, "the daemon works: %s" % text)
    pid = next(iter(said["done"]))
    wait_for(lambda: not os.path.exists("/proc/%d" % pid), "the daemon to end")
    agrees(said, threads=2)


def plugins_that_come_and_go():
    said = profiled("plugins", longer(0.4))
    p = Prof(db="d")
    for name in ("plugin_a", "plugin_b"):
        ticks, want = p.n("lib%s.so" % name, "plugin"), ns_of(said, name) / TICK
        note("%s: %d ticks of %.1f" % (name, ticks, want))
        likely(0.9 * want - 2 <= ticks <= want + 2, "%s: %d ticks of %.1f spent" % (name, ticks, want))


def signals_are_the_programs():
    said = profiled("signals", longer(0.4))
    agrees(said)
    # its own timer ran: one signal in ten milliseconds or more
    likely(0 < ns_of(said, "SIGPROF") <= longer(0.8) * 1e9, "SIGPROF came for %d ns" % ns_of(said, "SIGPROF"))


def nameless_memory():
    said = profiled("memory", longer(0.4))
    p, want = Prof(db="d"), ns_of(said, "[anon]") / TICK
    n = p.n("[anon]")
    likely(0.9 * want - 2 <= n <= want + 2, "%d ticks of %.1f; images %s" % (n, want, p.images()))


def descriptors_may_be_closed():
    """A program that closes what it did not open loses nothing."""
    agrees(profiled("closes", longer(0.4)))


def glibcs_sprofil_is_ours():
    """A program built against glibc's <sys/profil.h>, and its versions of the symbols, finds ours."""
    said = profiled("sprofil", longer(0.5), env={"DWELL_PROFIL_HZ": str(HZ)}.items())
    own = ns_of(said, "own")
    want = ns_of(said, "work_a", "work_b")
    note("own histogram: %.1f ms of %.1f" % (own / 1e6, want / 1e6))
    likely(0.9 * want - 2 * TICK <= own <= 1.03 * want + 2 * TICK, "sprofil counted %d ns of %d" % (own, want))
    agrees(said)


def rates_and_buckets():
    env = {"DWELL_PROFIL_HZ": "10000", "DWELL_PRELOAD_BUCKET": "64"}
    said = profiled("threads", longer(0.5), env=env.items())
    p = Prof("--by", "procedure", db="d")
    check(p.json["events"][0]["period"] == 100000, "period %s" % p.json["events"][0])
    n, want = p.n(prog("work")), ns_of(said, "work_a", "work_b") / 100000
    # A timer that the machine serves late by a period of 0.1 ms or more ticks once for all of them.
    likely(0.8 * want <= n <= 1.05 * want + 20, "%d ticks of %.1f" % (n, want))
    rows = json.loads(dwell("cat", "--json", "--db", "d").stdout)["rows"]
    likely(len(rows) > 1, "one address only")
    for r in rows:
        check(int(r["svma"], 16) % 64 == 0, "%s is not where a bucket begins" % r["svma"])


def an_event_that_is_no_clock():
    env = {"DWELL_PROFIL_EVENT": "page-faults", "DWELL_PROFIL_PERIOD": "1"}
    profiled("threads", 0.05, env=env.items())
    p = Prof(db="d")
    check(p.event == "page-faults" and sum(r["counts"]["page-faults"] for r in p.rows) >= 1, "rows %s" % p.rows)


def bad_settings_are_said():
    for name, value in (("DWELL_PROFIL_HZ", "many"), ("DWELL_PROFIL_HZ", "1000000"), ("DWELL_PRELOAD_BUCKET", "3"),
                        ("DWELL_PROFIL_EVENT", "no-such-event"), ("DWELL_PROFIL_EVENT", "page-faults"),
                        ("DWELL_PRELOAD_DIR", "/proc/none")):
        p = subprocess.run([prog("work"), "threads", "0.01"], capture_output=True, text=True, timeout=60,
                           env={**os.environ, "LD_PRELOAD": LIB, "DWELL_PRELOAD_DIR": "d", name: value})
        check(p.returncode == 0 and "work_a" in p.stdout, "the program runs: %s" % p.stderr)
        check(p.stderr.startswith("dwell-preload: work is not profiled: "), "%s=%s: %r" % (name, value, p.stderr))


def a_session_is_one_epoch():
    """Programs that a profiled program starts belong to its epoch, wherever they run."""
    subprocess.run(["sh", "-c", "%s threads %g; cd /; %s threads %g; sleep 1.1; exec %s threads %g" %
                    ((prog("work"), longer(0.2)) * 3)], check=True, timeout=300, stdout=subprocess.DEVNULL,
                   env={**os.environ, "LD_PRELOAD": LIB, "DWELL_PRELOAD_DIR": "d"})
    check(len(glob.glob("d/2*")) == 1, "epochs %s" % glob.glob("d/*"))
    enough(Prof(db="d").n("work"), 550, "ticks: %s" % Prof(db="d").rows)
    check(not leftovers(), "it left %s" % leftovers())


def two_that_finish_at_once():
    """Leftovers count once, however many commands come at a time; the living are left alone."""
    total = 0
    for _ in range(5):
        total += ns_of(profiled("kill", longer(0.2), status=-signal.SIGKILL), "work_a", "work_b")
    with subprocess.Popen([prog("work"), "threads", "3"], stdout=subprocess.DEVNULL,
                          env={**os.environ, "LD_PRELOAD": LIB, "DWELL_PRELOAD_DIR": "d"}) as living:
        wait_for(lambda: len(leftovers()) == 6, "the sixth")
        asked = [subprocess.Popen([DWELL, "prof", "--db", "d", "--epoch", "all"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) for _ in range(4)]
        asked += [subprocess.Popen([DWELL, "check", "--repair", "d"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True) for _ in range(4)]
        for p in asked:
            p.communicate(timeout=300)
        dwell("check", "--repair", "d")  # what somebody read meanwhile was left
        check(len(leftovers()) == 1, "left: %s" % leftovers())
        living.terminate()
    n = sum(Prof("--epoch", e, db="d").n("work") for e in ("all",))
    ticks = total / TICK
    note("%d ticks, %.1f said; the sixth had up to three seconds" % (n, ticks))
    likely(ticks * 0.9 - 10 <= n <= ticks * 1.03 + 10 + 3 * HZ, "%d ticks of %.1f" % (n, ticks))


def damaged_leftovers_are_named():
    profiled("kill", 0.2, status=-signal.SIGKILL)
    path = leftovers()[0]
    os.truncate(path, 5000)
    with open("d/garbage.hist", "wb") as f:
        f.write(b"dwellhst")
    p = dwell("prof", "--db", "d")
    check(p.returncode == 2 and ".hist" in p.stderr and "move it away" in p.stderr, "it says %s" % p.stderr)


def an_empty_process_leaves_nothing():
    subprocess.run(["true"], check=True, env={**os.environ, "LD_PRELOAD": LIB, "DWELL_PRELOAD_DIR": "d",
                                              "DWELL_PROFIL_HZ": "1"})
    check(os.listdir("d") == [], "there is %s" % os.listdir("d"))


if __name__ == "__main__":
    run(a_program_that_exits, many_threads, instructions_are_exact, killed, crashed, aborted, a_raw_exit_group,
        underscore_exit, another_root_directory, another_user, quick_exit, node_is_one_image, a_process_touches_few_pages, without_a_tick_there_is_no_file, nobody_waits_awake,
        identity_of_one_thread_changes, fork_goes_on_in_both,
        vfork_is_let_be, exec_writes_before, every_exec, exec_that_fails,
        a_daemon, plugins_that_come_and_go, signals_are_the_programs, nameless_memory, descriptors_may_be_closed,
        glibcs_sprofil_is_ours, rates_and_buckets, an_event_that_is_no_clock, bad_settings_are_said,
        a_session_is_one_epoch, two_that_finish_at_once, damaged_leftovers_are_named, an_empty_process_leaves_nothing)
