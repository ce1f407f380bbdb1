# SPDX-License-Identifier: BSD-2-Clause
"""What the end-to-end tests share: running dwell, asking it, and TAP.

A test file defines functions, calls run(f, g, ...); each makes one TAP line.  Every function gets a
scratch directory, which is also the working directory.

What must always hold is said with check(), and fails at once.  What chance decides, or how much of the
CPUs the machine's other work leaves (a virtual machine may lose them for a while), is said with likely(),
or with near(), same_share(), enough(), most() and least(): these miss, and a test that missed is run again
from the start, on fresh recordings, up to ATTEMPTS times in all; a real fault misses each time.  Tests say
how much they record through longer(), which doubles with each attempt.  Each attempt is printed.
Shares are compared within SIGMAS standard deviations of a binomial distribution, one false alarm in two
million comparisons; whatever is allowed besides is named where it is given.

Test programs run beside each other.  So each has copies of the workload programs with build-ids of its own
(prog()): files of one build-id are one image, whose name would be the other test's.  Settings of the machine
have a lock (sysctl(), held()).

Environment: DWELL is the program under test, E2E_BIN the directory of the workload programs, E2E_COPIES says
that tests take copies of them."""
import atexit
import contextlib
import fcntl
import glob
import hashlib
import json
import math
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

DWELL = os.environ.get("DWELL", "build/dwell")
BIN = os.environ.get("E2E_BIN", "build/tests/e2e")
SIGMAS = 5
ATTEMPTS = 3
attempt = 1  # of the test that runs

os.environ.pop("DWELLDB", None)
os.environ.pop("DCPIDB", None)
os.environ.pop("DEBUGINFOD_URLS", None)
os.environ["DWELL_JOB"] = ""  # recordings of one test are no series; a test of jobs says so


class Failed(Exception):
    pass


class Missed(Failed):
    """What may be chance."""


class Skipped(Exception):
    pass


def check(cond, what):
    if not cond:
        raise Failed(what)


def likely(cond, what):
    """Fails when COND is false each time that the test is run."""
    if not cond:
        raise Missed(what)


def enough(n, want, what):
    """Fails when there are fewer than WANT samples or the like each time that the test is run."""
    likely(n >= want, "only %d %s, not %d" % (n, what, want))


def longer(amount):
    """AMOUNT of work or time, and more when the test is run again."""
    return amount * (1 << (attempt - 1))


def in_namespaces(marker, *kinds, inside=()):
    """Runs this test again in a mount namespace of its own, and those of KINDS (options of unshare), once; MARKER says
    in the environment that it is there.  INSIDE: a command that goes on with the one behind it."""
    if os.environ.get(marker):
        return
    if os.geteuid() != 0:
        print("1..0 # SKIP needs root")
        sys.exit(0)
    os.environ[marker] = "1"
    # In a chroot / is no mount point whose propagation could be changed.
    for propagation in "private", "unchanged":
        there = ["unshare", "--mount", *kinds, "--propagation", propagation, *inside]
        if subprocess.run([*there, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            os.execvp("unshare", [*there, sys.executable, *sys.argv])
    print("1..0 # SKIP no namespaces of its own")
    sys.exit(0)


def note(text):
    for line in str(text).splitlines():
        print("# " + line)
    sys.stdout.flush()


OUR_READERS = ("perfvalues", "stackcmp")  # no workloads, and large
BUILD_ID = bytes.fromhex("040000001400000003000000474e5500")  # its note's head, elf(5)
copies = None
# All test programs share the rooms, though each has a home of its own (run()).
os.environ.setdefault("DWELL_ROOMS", os.path.expanduser("~/.cache/dwell/rooms"))


def with_own_build_id(data, salt):
    """An ELF file's bytes with a build-id that depends on SALT."""
    at = data.find(BUILD_ID) + len(BUILD_ID)
    if at < len(BUILD_ID):
        return data
    return data[:at] + hashlib.sha1(data[at:at + 20] + salt.encode()).digest() + data[at + 20:]


def copy_program(source, path, salt):
    """Copies a program as one of its own: see with_own_build_id()."""
    with open(source, "rb") as f:
        data = f.read()
    with open(path, "wb") as f:
        f.write(with_own_build_id(data, salt))
    os.chmod(path, 0o755)


def prog(name):
    """The path of a workload program."""
    global copies
    if not os.environ.get("E2E_COPIES") or name in OUR_READERS:
        return os.path.join(BIN, name)
    if not copies:
        copies = tempfile.mkdtemp(prefix="dwell-e2e-programs-")
        atexit.register(shutil.rmtree, copies, ignore_errors=True)
        os.chmod(copies, 0o755)
        for f in os.listdir(BIN):
            if f not in OUR_READERS and os.path.isfile(os.path.join(BIN, f)):
                copy_program(os.path.join(BIN, f), os.path.join(copies, f), copies)
    return os.path.join(copies, name)


@contextlib.contextmanager
def held(what):
    """For the block, no other test program on this machine holds WHAT."""
    fd = os.open("/tmp/dwell-e2e-%s.lock" % what, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def sh(*argv, **kw):
    """Runs a command that must succeed; its stdout."""
    p = subprocess.run([str(a) for a in argv], capture_output=True, text=True, **kw)
    check(p.returncode == 0, "%s: exit %d: %s" % (argv[0], p.returncode, p.stderr.strip()))
    return p.stdout


def bpf_list(what, tool="bpftool"):
    """What bpftool lists of the whole machine; again where something of another test's went while it did."""
    for _ in range(100):
        p = subprocess.run([tool, "-j", what, "show"], capture_output=True, text=True)
        if p.returncode == 0:
            return json.loads(p.stdout or "[]")
        time.sleep(0.02)
    check(False, "%s %s show: exit %d: %s" % (tool, what, p.returncode, p.stdout + p.stderr))


def dwell(*argv, prefix=(), **kw):
    """Runs dwell and returns the finished process, whatever it said."""
    return subprocess.run([*map(str, prefix), DWELL, *map(str, argv)], capture_output=True, text=True,
                          timeout=300, **kw)


def account_of(text, err=""):
    """The account of `dwell record --json`: it comes last, after whatever the command printed, which is "said"."""
    at = text.rfind('{\n  "schema": 1,\n  "db"')
    check(at >= 0, "no account: %s%s" % (text[-200:], err[-500:]))
    account = json.loads(text[at:])
    account["said"] = text[:at]
    for e in account["events"]:
        check(e["reached"] == e["samples"] + e["lost"],
              "%(name)s: %(reached)d reached, %(samples)d stored, %(lost)d lost" % e)
        check(e["lost"] == sum(e["losses"].values()), "a loss without a name: %s" % e)
    return account


def record(*argv, db="db", **kw):
    """Records, checks that the account is exact, and returns it."""
    p = dwell("record", "--json", "--db", db, *argv, **kw)
    check(p.returncode == 0, "record exits %d: %s" % (p.returncode, p.stderr.strip()))
    return account_of(p.stdout, p.stderr)


class Recording:
    """A recording that runs beside the test: `with Recording(...) as r: ...`, then r.account."""

    def __init__(self, *argv, db="db", prefix=()):
        self.db = db
        self.p = subprocess.Popen([*prefix, DWELL, "record", "--json", "--db", db, *map(str, argv)],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for(lambda: self.p.poll() is not None or has_manifest(db), "the recording to start")
        time.sleep(longer(0.2))  # the kernel's symbols are being read

    def stop(self, sig=2):
        self.p.send_signal(sig)
        self.out, self.err = self.p.communicate(timeout=120)
        return self.p.returncode

    def __enter__(self):
        return self

    def __exit__(self, kind, *rest):
        if self.p.poll() is None and self.stop() != 0 and not kind:
            raise Failed("record exits %d: %s" % (self.p.returncode, self.err.strip()))
        if self.p.returncode is not None and not hasattr(self, "out"):
            self.out, self.err = self.p.communicate()
        if not kind:
            self.account = account_of(self.out, self.err)


def has_manifest(db):
    return any("MANIFEST" in files for _, _, files in os.walk(os.path.join(db, "epochs")))


def wait_for(what, name, seconds=60):
    start = time.monotonic()
    while not what():
        waited = time.monotonic() - start
        check(waited < seconds, "waited %d s for %s" % (seconds, name))
        time.sleep(min(max(0.01, waited / 20), 0.1))  # asking costs CPU time, a program's often


def daemon_answers(db):
    """Whether a daemon records into DB and answers.  Without its socket no program need be run to know."""
    return bool(glob.glob(os.path.join(db, "control.*"))) and dwell("ctl", "--db", db, "status").returncode == 0


def path_of(image):
    return image if image[0] in "/[" else prog(image)


class Prof:
    """The rows of `dwell prof --json`, and sums over them."""

    def __init__(self, *argv, db="db", by="procedure", event=None):
        p = dwell("prof", "--json", "--db", db, "--by", by, *argv)
        likely(p.returncode != 2 or "no samples in" not in p.stderr, p.stderr.strip())
        check(p.returncode == 0, "prof exits %d: %s" % (p.returncode, p.stderr.strip()))
        self.stderr = p.stderr
        self.json = json.loads(p.stdout)
        self.rows = self.json["rows"]
        self.event = event or self.json["events"][0]["name"]

    def n(self, image=None, procedure=None, kind=None, busy=False):
        """Samples of the rows that fit; image is a path, or the name of one of our programs."""
        return sum(r["counts"].get(self.event, 0) for r in self.rows
                   if (image is None or r["image"] == path_of(image))
                   and (procedure is None or r["procedure"] == procedure)
                   and (kind is None or r["kind"] == kind)
                   and not (busy and r["kind"] == "idle"))

    def row(self, image, procedure=None):
        rows = [r for r in self.rows if r["image"] == path_of(image)
                and (procedure is None or r["procedure"] == procedure)]
        check(rows, "no row of %s %s; images: %s" %
              (image, procedure or "", self.images()))
        return max(rows, key=lambda r: r["counts"].get(self.event, 0))

    def images(self):
        return sorted({str(r["image"]) for r in self.rows})

    def procedures(self, image):
        ret = {}
        for r in self.rows:
            if r["image"] == path_of(image):
                ret[r["procedure"]] = ret.get(r["procedure"], 0) + r["counts"].get(self.event, 0)
        return ret


def folded_paths(*options, db="db"):
    """The call paths of a recording as lists of names, outermost first, below their commands; and their samples."""
    p = dwell("export", "--folded", "--db", db, *options)
    check(p.returncode in (0, 1), p.stderr)  # 1: there are none
    lines = [line.rsplit(" ", 1) for line in p.stdout.splitlines()]
    return [(path.split(";")[1:], int(n)) for path, n in lines]


def call_graph(source):
    """Who calls whom in the program SOURCE, as pairs: what it says itself between EDGES and END, or in the text EDGES."""
    with open(source, encoding="utf-8") as f:
        words = re.search("EDGES[ =\"']*\n(.*?)\n(END|[\"'])", f.read(), re.S).group(1).split()
    return set(zip(words[::2], words[1::2]))


# What stands in place of a function, or of its name.
NAMELESS = re.compile(r"^\[(no \S+ state|python|javascript|java|php|perl|ruby|more code than is kept)\]$"
                      r"|^\[\S+ (code|frames?|functions) (not known|unreadable|unmatched)\]$")


def functions_known(lines, names=0.999):
    """Misses unless of the functions of scripts on all paths the shares NAMES and LINES have a name, and a line."""
    rows = [(r, sum(r["inclusive"].values())) for r in Prof("--by", "line").rows
            if r["kind"] == "script" and "not copied" not in r["procedure"]]  # of the first moments, when a machine is busy
    total = sum(n for _, n in rows)
    known = [(r, n) for r, n in rows if not NAMELESS.search(r["procedure"])]
    named = sum(n for _, n in known)
    placed = sum(n for r, n in known if not r["image"].startswith("["))  # the runtime's own are in C
    lined = sum(n for r, n in known if r["line"])
    note("of %d functions on paths %.2f %% have a name; of %d in a file %.2f %% a line" %
         (total, 100 * named / total, placed, 100 * lined / placed))
    least(named, total, names, "functions with a name")
    least(lined, placed, lines, "functions with a line")


def a_third(rows, prefix=""):
    """Misses unless w_third has half the samples of w_two_thirds, each with what it calls; ROWS are Prof's."""
    one, two = (sum(sum(r["inclusive"].values()) for r in rows if r["procedure"] == prefix + name)
                for name in ("w_third", "w_two_thirds"))
    enough(one + two, 1000, "samples")
    near(one, one + two, 1 / 3, "w_third", 0.02)  # a call costs both the same, some per cent of the shorter loop


def near(got, total, want, what, slack=0.0):
    """Misses unless share got/total is WANT within SIGMAS, plus SLACK of systematic difference."""
    likely(total > 0, what + ": no samples")
    most_off = SIGMAS * math.sqrt(want * (1 - want) / total) + slack
    note("%s: %.2f %%, expected %.2f +- %.2f %%" % (what, 100 * got / total, 100 * want, 100 * most_off))
    likely(abs(got / total - want) <= most_off,
           "%s: share %.4f of %d, expected %.4f +- %.4f" % (what, got / total, total, want, most_off))


def same_share(a, n_a, b, n_b, what, slack=0.0):
    """Misses unless a/n_a and b/n_b are equal within SIGMAS of their difference."""
    likely(n_a > 0 and n_b > 0, what + ": no samples")
    p = (a + b) / (n_a + n_b)
    most_off = SIGMAS * math.sqrt(p * (1 - p) * (1 / n_a + 1 / n_b)) + slack
    note("%s: %.2f %% and %.2f %% (+- %.2f)" % (what, 100 * a / n_a, 100 * b / n_b, 100 * most_off))
    likely(abs(a / n_a - b / n_b) <= most_off,
           "%s: shares %.4f and %.4f differ by more than %.4f" % (what, a / n_a, b / n_b, most_off))


def spread(total, share):
    """How far a count of TOTAL that have SHARE in the long run may be off: SIGMAS, and one."""
    return SIGMAS * math.sqrt(share * (1 - share) * max(total, 1)) + 1


def most(n, total, share, what):
    """Misses unless N is a part of TOTAL that is not, in the long run, more than SHARE."""
    likely(n <= share * total + spread(total, share), "%s: %d of %d, more than %.4f of it" % (what, n, total, share))


def least(n, total, share, what):
    """Misses unless N is a part of TOTAL that is not, in the long run, less than SHARE."""
    likely(0 < total and n >= share * total - spread(total, share),
           "%s: %d of %d, less than %.4f of it" % (what, n, total, share))


@contextlib.contextmanager
def running(*argv, **kw):
    """A process that is ended when the block is left, with all it started."""
    p = subprocess.Popen([str(a) for a in argv], start_new_session=True, **kw)
    try:
        yield p
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(p.pid, signal.SIGKILL)
        p.wait()


def burning(name="burn", part=0.25):
    """The program NAME beside what is tested, PART of the time: the CPUs are for who is tested."""
    return running(prog(name), 600, part)


def cgroup2_mount():
    with open("/proc/mounts") as f:
        for line in f:
            if line.split()[2] == "cgroup2":
                return line.split()[1]
    raise Skipped("no cgroup2 file system is mounted")


@contextlib.contextmanager
def cgroup(name):
    path = os.path.join(cgroup2_mount(), name)
    os.mkdir(path)
    try:
        yield path
    finally:
        for _ in range(100):
            try:
                os.rmdir(path)
                break
            except OSError:
                time.sleep(0.02)


def join(path, pid):
    with open(os.path.join(path, "cgroup.procs"), "w") as f:
        f.write(str(pid))


@contextlib.contextmanager
def mounted(*argv, at):
    os.makedirs(at, exist_ok=True)
    sh("mount", *argv, at)
    try:
        yield at
    finally:
        subprocess.run(["umount", "-l", at], check=False)


@contextlib.contextmanager
def sysctl(path, value):
    """Sets a file of /proc/sys for the block; skips when the kernel does not take it."""
    with held(os.path.basename(path)), set_to(path, value):
        yield


@contextlib.contextmanager
def set_to(path, value):
    with open(path) as f:
        old = f.read().strip()
    # The old value comes back when the block ends, also when this test is killed in it.
    keeper = subprocess.Popen(["sh", "-c", 'read -r _; echo "$1" > "$2"', "keeper", old, path],
                              stdin=subprocess.PIPE, start_new_session=True)
    try:
        try:
            with open(path, "w") as f:
                f.write(str(value))
        except OSError as e:
            raise Skipped("%s: %s" % (path, e.strerror))
        yield
    finally:
        keeper.communicate()


def one_line(p, *words, failed=None):
    """Fails unless process P failed, with one line on stderr that has all WORDS."""
    lines = [s for s in p.stderr.splitlines() if not s.startswith("dwell record: event: ")]
    failed = failed or (125 if "record" in p.args else 2)
    check(p.returncode == failed, "exit %d, not %d; said: %s" % (p.returncode, failed, p.stderr.strip()))
    check(len(lines) == 1, "%d lines: %s" % (len(lines), p.stderr.strip()))
    for w in words:
        check(w in lines[0], "no '%s' in: %s" % (w, lines[0]))


def once(test):
    """Runs TEST in a scratch directory."""
    home = os.getcwd()
    scratch = tempfile.mkdtemp(prefix="dwell-e2e-")
    os.chmod(scratch, 0o755)
    os.chdir(scratch)
    os.environ["HOME"] = scratch  # perf keeps copies of images at home, which dwell would find again
    try:
        test()
    finally:
        os.chdir(home)
        shutil.rmtree(scratch, ignore_errors=True)


def again(test):
    """Runs TEST until it does not miss."""
    global attempt
    for attempt in range(1, ATTEMPTS + 1):
        try:
            once(test)
            return
        except Missed as e:
            note("attempt %d of %d missed: %s" % (attempt, ATTEMPTS, e))
            if attempt == ATTEMPTS:
                raise


def cpu_seconds():
    """CPU time of this program, and of the programs it started that have ended."""
    return sum(resource.getrusage(who)[i] for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN) for i in (0, 1))


def run(*tests, services=()):
    """Runs TESTS; with --services, those that need other runtimes than C and Python; with names, the tests of these names."""
    names = sys.argv[1:]
    if names == ["--services"]:
        tests = services
    elif names:
        tests = [t for t in (*tests, *services) if t.__name__ in names]
    if os.geteuid() != 0:
        print("1..0 # SKIP needs root")
        return
    print("1..%d" % len(tests))
    bad = 0
    for i, t in enumerate(tests, 1):
        name = t.__name__
        start = time.monotonic(), cpu_seconds()
        result = "ok"
        tail = ""
        try:
            again(t)
        except Skipped as e:
            tail = " # SKIP %s" % e
        except Failed as e:
            result = "not ok"
            note(e)
        except Exception:
            result = "not ok"
            note(traceback.format_exc())
        bad += result != "ok"
        print("%s %d %s%s" % (result, i, name, tail))
        note("%.1f s, %.1f s of CPU" % (time.monotonic() - start[0], cpu_seconds() - start[1]))
    sys.exit(bad > 0)
