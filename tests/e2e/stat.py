# SPDX-License-Identifier: BSD-2-Clause
"""Counting without samples: dwell stat.  Its judges are programs that do a thing so often, the kernel's own
account of a process, and perf stat."""
from e2e import *

CALL = "syscalls:sys_enter_getppid"
CALLS = "import os\nfor i in range(1000): os.getppid()\n"
FORKS = "import os, sys\nfor i in range(3):\n if not os.fork():\n  [os.getppid() for k in range(1000)]\n  os._exit(0)\n" \
        "for i in range(3): os.wait()\n"


def counts(*argv, **kw):
    """The document of dwell stat --json, with "counts" by event and what the command "said"."""
    p = dwell("stat", "--json", *argv, **kw)
    at = p.stdout.rfind('{\n  "schema": 1')
    check(at >= 0, "no document: exit %d, %s" % (p.returncode, p.stderr))
    ret = json.loads(p.stdout[at:])
    ret["said"], ret["status"] = p.stdout[:at], p.returncode
    ret["counts"] = {r["event"]: r["count"] for r in ret["rows"]}
    ret["why"] = {r["event"]: r["why_not"] for r in ret["rows"]}
    return ret


def calls_are_exact():
    for code, n in (CALLS, 1000), (FORKS, 3000):
        s = counts("-e", CALL, "-r", 3, "--", "python3", "-c", code)
        check(s["counts"] == {CALL: n} and s["runs"] == 3 and s["rows"][0]["error_pct"] == 0, s)
    s = counts("-e", CALL, "--", "sh", "-c", "echo hello; kill -9 $$")
    check(s["said"] == "hello\n" and s["status"] == 137, s)


def commands_keep_their_output():
    p = dwell("stat", "-e", "page-faults", "--", "sh", "-c", "echo out; exit 7")
    check(p.stdout == "out\n" and p.returncode == 7 and "page-faults" in p.stderr, p)
    p = dwell("stat", "-o", "f", "-e", "page-faults", "--", "echo", "out")
    check(p.stdout == "out\n" and not p.stderr and "page-faults" in open("f").read(), p)


def time_is_the_kernels():
    """A program that only computes: its CPU time by the kernel's account, and by perf stat's clock."""
    code = "import os\nwhile sum(os.times()[:2]) < %g: sum(range(10000))" % longer(0.5)
    s = counts("-e", "task-clock,page-faults", "--", "python3", "-c", code)
    clock, account = s["counts"]["task-clock"] / 1e9, s["user_s"] + s["system_s"]
    # The account and the loop's end are in ticks of the kernel, of 10 ms at most.
    likely(abs(clock - account) < 0.03 + 0.02 * account, "%.3f s counted, %.3f s by account" % (clock, account))
    check(abs(s["rows"][0]["ratio"] - clock / s["elapsed_s"]) < 1e-6, s["rows"][0])
    if not shutil.which("perf"):
        raise Skipped("no perf")
    p = subprocess.run(["perf", "stat", "-x,", "-e", "page-faults", "true"], capture_output=True, text=True, check=True)
    theirs, ours = int(p.stderr.split(",")[0]), counts("-e", "page-faults", "--", "true")["counts"]["page-faults"]
    likely(abs(theirs - ours) <= 10, "page faults: perf %d, dwell %d" % (theirs, ours))


def processes_that_run():
    with running("python3", "-c", "import os\nwhile True: os.getppid()") as p:
        s = counts("-e", CALL + ",task-clock", "-p", p.pid, "-d", "%dms" % longer(300))
        likely(s["counts"][CALL] > 1000, s["counts"])
        check(0 < s["counts"]["task-clock"] <= 1.05e9 * s["elapsed_s"], s)
        other = counts("-e", CALL, "-p", os.getpid(), "-d", "100ms")
        check(other["counts"][CALL] == 0, other)
        whole = counts("-a", "-e", CALL, "-d", "%dms" % longer(300))
        likely(whole["counts"][CALL] > 1000, whole["counts"])


def an_interrupt_ends_it():
    with running(DWELL, "stat", "-a", "--json", "-e", "task-clock", stdout=subprocess.PIPE) as p:
        time.sleep(0.5)
        p.send_signal(signal.SIGINT)
        s = json.loads(p.stdout.read())
        check(p.wait() == 0 and s["rows"][0]["count"] > 0, s)


def users_count_their_own():
    os.chmod(".", 0o755)
    user = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    with sysctl("/proc/sys/kernel/perf_event_paranoid", 2):
        s = counts("-e", "task-clock,page-faults,context-switches", "--", "true", prefix=user)
        check(s["counts"]["task-clock:u"] > 0 and s["counts"]["page-faults:u"] > 0, s)
        check(s["counts"]["context-switches"] is None and s["why"]["context-switches"] == "not permitted", s)
        one_line(dwell("stat", "-a", "-d", "100ms", prefix=user), "none of these events can be counted", failed=125)


run(calls_are_exact, commands_keep_their_output, time_is_the_kernels, processes_that_run, an_interrupt_ends_it,
    users_count_their_own)
