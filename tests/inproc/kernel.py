# SPDX-License-Identifier: BSD-2-Clause
"""Where the time goes of a program that is in the kernel a third of it (kernel.c): with each library, for a user
who may look into the kernel and for one who may not.  Time nobody could see the place of is counted apart, and
never as the next place the program was at."""
import errno
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from spent import note, ns_of, spent  # noqa: E402
from e2e import Prof, Skipped, check, likely, longer, near, prog, run  # noqa: E402

TICK = 10**6
NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")


def kernel(how, prefix=(), **env):
    os.chmod(".", 0o777)
    p = subprocess.run([*prefix, prog("kernel"), how, str(longer(1.0))], capture_output=True, text=True, timeout=300,
                       env={**os.environ, **env})
    check(p.returncode == 0 and not p.stderr, "exit %d: %s" % (p.returncode, p.stderr))
    return spent(p.stdout)


def is_hidden():
    """Whether nobody may not look into the kernel."""
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
        if int(f.read()) < 2:
            raise Skipped("everybody may look into the kernel here")


def user_places(said, a, b, unplaced):
    """A and B have what was spent in work_a and work_b; the kernel's time is in UNPLACED, to a tenth."""
    spent_a, spent_b, k = (ns_of(said, n) / TICK for n in ("work_a", "work_b", "in_kernel"))
    note("work_a %d of %.1f ticks, work_b %d of %.1f, unplaced %d beside %.1f in the kernel" %
         (a, spent_a, b, spent_b, unplaced, k))
    near(a, a + b, spent_a / (spent_a + spent_b), "work_a", slack=0.02)
    likely(0.9 * (spent_a + spent_b) - 3 <= a + b <= 1.05 * (spent_a + spent_b) + 3,
           "%d ticks of %.1f" % (a + b, spent_a + spent_b))
    likely(0.8 * k <= unplaced <= 1.1 * k + 0.1 * (spent_a + spent_b), "%d without a place, %.1f in the kernel" % (unplaced, k))


def own(how, prefix, **env):
    said = kernel(how, prefix, **env)
    user_places(said, ns_of(said, "got_a"), ns_of(said, "got_b"), ns_of(said, "unplaced"))
    if how == "papi":
        n, count = ns_of(said, "ticks") + ns_of(said, "unplaced"), ns_of(said, "count")
        check(abs(n - count / TICK) <= 1, "%d ticks with and without a place, %d counted" % (n, count))


def sprofil_of_nobody():
    is_hidden()
    own("sprofil", NOBODY)


def sprofil_of_user_time():
    own("sprofil", (), DWELL_PROFIL_USER_ONLY="1")


def sprofil_of_user_time_by_timer():
    """The timer is one of the thread's time in user space, so nothing is without a place."""
    said = kernel("sprofil", (prog("deny"), str(errno.EPERM)), DWELL_PROFIL_USER_ONLY="1")
    a, b, spent_a, spent_b = (ns_of(said, n) for n in ("got_a", "got_b", "work_a", "work_b"))
    note("work_a %d of %.1f ticks, work_b %d of %.1f" % (a, spent_a / TICK, b, spent_b / TICK))
    # The clock goes by the kernel's tick, which looks 100 to 1000 times a second: so many are independent.
    looks = (spent_a + spent_b) * 100 // 10**9
    near(a * looks // (a + b), looks, spent_a / (spent_a + spent_b), "work_a", slack=0.05)
    check(ns_of(said, "unplaced") <= 1, "unplaced: %d" % ns_of(said, "unplaced"))


def papi_of_nobody():
    is_hidden()
    own("papi", NOBODY)


def preloaded(prefix, **env):
    said = kernel("none", (*prefix, "env", "LD_PRELOAD=" + os.environ["PRELOAD"], "DWELL_PRELOAD_DIR=d"), **env)
    p = Prof(db="d")
    user_places(said, p.n("kernel", "work_a"), p.n("kernel", "work_b"), p.json["losses"].get("kernel_or_late", 0))


def preload_of_nobody():
    is_hidden()
    preloaded(NOBODY)


def preload_of_user_time():
    preloaded((), DWELL_PROFIL_USER_ONLY="1")


def stolen():
    """Ticks of the time so far that a virtual machine's CPUs were ready to run and did not: proc_stat(5)."""
    with open("/proc/stat", encoding="ascii") as f:
        return int(f.readline().split()[8]) / os.sysconf("SC_CLK_TCK") * 10**9 / TICK


def who_may_see_the_kernel():
    """The call's place has the kernel's time, and few ticks are without a place: not the third that is spent in the
    kernel.  The clock goes on in time that the host takes from a virtual machine, whether it tells of it or not, and
    no interrupt comes there."""
    before = stolen()
    said = kernel("sprofil")
    taken = stolen() - before
    n, unplaced = ns_of(said, "ticks"), ns_of(said, "unplaced")
    note("%d ticks, %d without a place; %d were stolen" % (n, unplaced, taken))
    likely(unplaced <= 0.12 * n + taken, "%d of %d ticks without a place, %d stolen" % (unplaced, n, taken))
    likely(n - ns_of(said, "got_a") - ns_of(said, "got_b") >= 0.8 * ns_of(said, "in_kernel") / TICK, "too few in read(2)")


if __name__ == "__main__":
    run(sprofil_of_nobody, sprofil_of_user_time, sprofil_of_user_time_by_timer, papi_of_nobody, preload_of_nobody,
        preload_of_user_time, who_may_see_the_kernel)
