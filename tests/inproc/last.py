# SPDX-License-Identifier: BSD-2-Clause
"""Programs whose main() ends in pthread_exit(3), plain and with each library: they end when their last thread does,
with exit(3), and a signal that ends a process ends them."""
import errno
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from spent import agrees, ns_of, spent  # noqa: E402
from e2e import Prof, check, likely, longer, prog, run, wait_for  # noqa: E402

ENDLESS = 60  # seconds: none of them has that much to do


def preload():
    return {**os.environ, "LD_PRELOAD": os.environ["PRELOAD"], "DWELL_PRELOAD_DIR": "d"}


def ends(how, on, seconds=0.0, env=None, prefix=()):
    try:
        p = subprocess.run([*prefix, prog("last"), how, on, str(seconds)], capture_output=True, text=True, timeout=ENDLESS,
                           env=env, check=False)
    except subprocess.TimeoutExpired:
        check(False, "last %s %s does not end" % (how, on))
    check(p.returncode == 0 and not p.stderr, "last %s %s: exit %d: %s" % (how, on, p.returncode, p.stderr))
    said = spent(p.stdout)
    check("bye" in said, "handlers of atexit(3) did not run: %s" % p.stdout)
    return said


def without_a_library():
    ends("none", "off")


def with_sprofil():
    for on in ("on", "off"):
        ends("sprofil", on)
        said = ends("sprofil", on, longer(0.5))
        if on == "on":  # the last thread is counted, at 100 Hz
            n, want = ns_of(said, "counted"), ns_of(said, "work_a", "work_b") / 10**7
            likely(0.9 * want - 3 <= n <= 1.05 * want + 3, "%d ticks of %.1f" % (n, want))


def with_papi():
    for on in ("on", "off"):
        ends("papi", on)
        ends("papi", on, 0.3)


def preloaded():
    said = ends("none", "off", longer(0.5), env=preload())
    p = Prof(db="d")
    agrees(said, p.n("last", "work_a"), p.n("last", "work_b"), 10**6, 2)


def two_libraries():
    """Each has a helper, and neither waits for the other."""
    ends("papi", "on", env=preload())


def where_perf_is_forbidden():
    for how in ("sprofil", "papi"):
        ends(how, "on", prefix=(prog("deny"), str(errno.EPERM)))


def a_signal_ends_it():
    """While another thread works, and the first is gone."""
    with subprocess.Popen([prog("last"), "sprofil", "on", str(2 * ENDLESS)], stdout=subprocess.PIPE, env=preload()) as p:
        wait_for(lambda: "Z" in state(p.pid), "main to end")
        p.terminate()
        check(p.wait(timeout=ENDLESS) == -signal.SIGTERM, "exit %s" % p.returncode)


def state(pid):
    try:
        with open("/proc/%d/task/%d/stat" % (pid, pid), encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        time.sleep(0.01)
        return ""


if __name__ == "__main__":
    run(without_a_library, with_sprofil, with_papi, preloaded, two_libraries, where_perf_is_forbidden, a_signal_ends_it)
