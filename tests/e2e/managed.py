# SPDX-License-Identifier: BSD-2-Clause
"""dwelld as the service it is installed as: systemd itself runs the unit, with its capabilities, system calls,
protected paths and networks, in namespaces of its own.

A new mount, PID and control group namespace has systemd as its first process and shows the installed copy at
its prefix; nothing outside is changed, and all of it ends with that process."""
import socket
import urllib.error
import urllib.request

from e2e import *

SYSTEMD = "/usr/lib/systemd/systemd"
BUILD = os.path.dirname(os.path.abspath(DWELL))

# What systemd starts with: our prefix, a /var/lib and a /run that are empty, the group made.
INSIDE = r"""
set -e
mount --make-rprivate / 2>/dev/null || true
mount -t proc proc /proc
umount /run/dwell/bpf 2>/dev/null || true # the manager would take one that is hidden below /run for its own
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs tmpfs /var/lib
umount -R /sys/fs/cgroup 2>/dev/null || true
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t overlay overlay -o "lowerdir=$INSTALLED:$PREFIX" "$PREFIX"
mount --bind etc/group /etc/group
mount --bind etc/gshadow /etc/gshadow 2>/dev/null || true
exec env -i PATH="$PATH" container=dwell-test SYSTEMD_UNIT_PATH="$PWD/units" %s --system --unit=start.target --log-target=console --show-status=no
""" % SYSTEMD


def cgroup2():
    for line in open("/proc/self/mountinfo", encoding="utf-8"):
        where, _, rest = line.split(" ", 4)[4].partition(" ")
        if " - cgroup2 " in rest:
            return where
    raise Skipped("no cgroup2 here")


def install():
    """Our copy, and where it goes: its directory, its prefix, and the unit's path."""
    root = os.path.abspath("installed")
    sh("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", env={**os.environ, "DESTDIR": root})
    (unit,) = [os.path.join(d, f) for d, _, files in os.walk(root) for f in files if f == "dwelld.service"]
    prefix = unit[len(root):-len("/lib/systemd/system/dwelld.service")]
    return root + prefix, prefix, unit


def make_group(installed):
    """/etc/group with the group of the installed sysusers.d, made by systemd's own program."""
    os.mkdir("etc")
    for f in "passwd", "group":
        shutil.copy("/etc/" + f, "etc/" + f)
    sh("systemd-sysusers", "--root=" + os.getcwd(), installed + "/lib/sysusers.d/dwell.conf")
    check(any(line.startswith("dwell:") for line in open("etc/group", encoding="utf-8")), "no group dwell was made")


class Managed:
    """The unit, started; `told` are lines of its configuration file, `more` of a drop-in."""

    def __init__(self, told, more=""):
        if not os.path.exists(SYSTEMD) or not shutil.which("systemd-sysusers"):
            raise Skipped("no systemd here")
        self.cgroup = os.path.join(cgroup2(), "dwell-e2e-%d" % os.getpid())
        installed, prefix, unit = install()
        self.bin, self.log = prefix + "/bin/", os.path.abspath("said")
        make_group(installed)
        self.conf = os.path.join(installed, "etc/dwell/dwelld.conf")
        self.tell(told)
        os.makedirs("units/dwelld.service.d")
        for name in "dwelld.service", "run-dwell-bpf.mount":
            shutil.copy(os.path.join(os.path.dirname(unit), name), "units")
        os.makedirs("units/run-dwell-bpf.mount.d")
        with open("units/run-dwell-bpf.mount.d/test.conf", "w", encoding="utf-8") as f:
            f.write("[Unit]\nDefaultDependencies=no\n")
        with open("units/dwelld.service.d/test.conf", "w", encoding="utf-8") as f:
            f.write("[Unit]\nDefaultDependencies=no\n[Service]\nStandardError=append:%s\n%s" % (self.log, more))
        for name in "start", "sysinit", "basic", "shutdown":
            with open("units/%s.target" % name, "w", encoding="utf-8") as f:
                f.write("[Unit]\nDefaultDependencies=no\n" + ("Wants=dwelld.service\n" if name == "start" else ""))
        try:
            os.mkdir(self.cgroup)
        except OSError as e:
            raise Skipped("no control group can be made here: %s" % e)
        self.manager_log = open("manager", "w", encoding="utf-8")
        self.unshare = subprocess.Popen(
            ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec unshare --mount --pid --fork --cgroup --kill-child sh -c "$1"',
             self.cgroup, INSIDE], stdout=self.manager_log, stderr=subprocess.STDOUT,
            env={**os.environ, "INSTALLED": installed, "PREFIX": prefix})
        self.first = None

    def tell(self, lines):
        with open(self.conf, "w", encoding="utf-8") as f:
            f.write("group dwell\n" + lines)

    def said(self):
        return open(self.log, encoding="utf-8").read() if os.path.exists(self.log) else ""

    def wait(self):
        children = "/proc/%d/task/%d/children" % (self.unshare.pid, self.unshare.pid)

        def began():
            if self.unshare.poll() is not None:
                raise Skipped("systemd does not run here: " + open("manager", encoding="utf-8").read()[-300:])
            pids = open(children, encoding="utf-8").read().split() if os.path.exists(children) else []
            self.first = int(pids[0]) if pids else None
            return self.first and os.path.exists("/proc/%d/root/run/systemd/private" % self.first)
        wait_for(began, "systemd to begin")
        wait_for(lambda: self.state() in ("active", "failed"), "the unit to start")
        check(self.state() == "active", "the unit is %s: %s" % (self.state(), self.said()))

    def inside(self, *argv, prefix=()):
        return subprocess.run(["nsenter", "-t", str(self.first), "-m", "-p", "-C", *prefix, *map(str, argv)], capture_output=True, text=True,
                              timeout=100, env={**os.environ, "container": "dwell-test"}, check=False)

    def do(self, *argv, **kw):
        p = self.inside(*argv, **kw)
        check(p.returncode == 0, "%s: %d: %s" % (argv, p.returncode, p.stderr))
        return p.stdout

    def show(self, what):
        return self.inside("systemctl", "show", "dwelld", "--value", "-p", what).stdout.strip()

    def state(self):
        return self.show("ActiveState")

    def ctl(self, *argv):
        return self.do(self.bin + "dwell", "ctl", "--db", "/var/lib/dwell", *argv)

    def status(self):
        return json.loads(self.ctl("status", "--json"))

    def pid(self):
        """Out here."""
        with contextlib.suppress(OSError):  # between two of them
            for line in open(self.cgroup + "/system.slice/dwelld.service/cgroup.procs", encoding="utf-8"):
                return int(line)
        return 0

    def __enter__(self):
        try:
            self.wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *kind):
        if self.first:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.first, signal.SIGKILL)
        self.unshare.kill()
        self.unshare.wait()
        for d, _, _ in sorted(os.walk(self.cgroup), reverse=True):
            wait_for(lambda d=d: removed(d), d + " to be empty")


def removed(directory):
    try:
        os.rmdir(directory)
    except OSError:
        return False
    return True


def by_its_unit():
    """It starts, samples with call paths, names generated code of another mount namespace, answers, and ends."""
    with Managed("event cpu-clock\ncount 1000003\ncalls\ngroup dwell\n") as m:
        with open("/proc/%d/status" % m.pid(), encoding="utf-8") as f:
            status = dict(line.strip().split(":\t", 1) for line in f if ":\t" in line)
        # CAP_DAC_READ_SEARCH 2, SYS_PTRACE 19, SYSLOG 34, PERFMON 38, BPF 39, CHECKPOINT_RESTORE 40
        # CapBnd: also SETGID 6 and SETUID 7, which its helper has and it has given up itself.
        for key, more in ("CapPrm", ()), ("CapEff", ()), ("CapBnd", (6, 7)):
            check(int(status[key], 16) == sum(1 << n for n in (2, 19, 34, 38, 39, 40, *more)), "%s %s" % (key, status[key]))
        check(status["NoNewPrivs"] == "1" and status["Seccomp"] == "2", str(status))
        jit = "cp %s /run/jit && mount -t tmpfs tmpfs /tmp && exec /run/jit 60 map" % os.path.abspath(prog("jit"))
        with running("nsenter", "-t", m.first, "-m", "-p", "-C", "unshare", "--mount", "sh", "-c", jit, stdout=subprocess.DEVNULL), \
                running("nsenter", "-t", m.first, "-m", "-p", "-C", os.path.abspath(prog("calls")), 1000000, stdout=subprocess.DEVNULL):
            time.sleep(longer(3))
            m.ctl("flush")
        s = m.status()
        check(s["pinned"] == 1 and s["engine"] == "bpf" and s["problem"] == "", str(s))
        rows = json.loads(m.do(m.bin + "dwell", "prof", "--json", "--by", "procedure", "--db", "/var/lib/dwell"))["rows"]
        names = {r["procedure"]: r["counts"].get("cpu-clock", 0) for r in rows}
        note({n: names.get(n) for n in ("made_up_on_the_fly", "burn")})
        likely(names.get("made_up_on_the_fly", 0) > 20, "the code of a map in another namespace has no name: %s" % m.said())
        text = m.do(m.bin + "dwell", "prof", "--db", "/var/lib/dwell", "--callers", "burn")
        likely("inner" in text, "burn has no caller inner: " + text)
        modes = m.do("stat", "-c", "%A %G", "/var/lib/dwell").split()
        check(modes == ["drwxr-x---", "dwell"], str(modes))
        reader = ["setpriv", "--reuid", "65534", "--clear-groups", "--regid"]
        group = m.do("stat", "-c", "%g", "/var/lib/dwell").strip()
        p = m.inside(m.bin + "dwell", "prof", "--db", "/var/lib/dwell", prefix=[*reader, group])
        check(p.returncode == 0 and p.stderr == "" and "cpu-clock" in p.stdout, "a member of the group: " + p.stderr)
        p = m.inside(m.bin + "dwell", "prof", "--db", "/var/lib/dwell", prefix=[*reader, "65534"])
        check(p.returncode == 2 and "Permission denied" in p.stderr, "anybody: %d %s" % (p.returncode, p.stderr))
        m.do("systemctl", "stop", "dwelld")
        check(m.show("Result") == "success" and m.state() == "inactive", m.said())
        check(m.do("find", "/run/dwell/bpf", "-type", "f", "-path", "*/bpf/dwell/*") == "", "something is left pinned")


def killed_and_started_again():
    """SIGKILL: the manager starts it again, and the next one takes over what the log went on with."""
    with Managed("event cpu-clock\ncount 1000003\n") as m:
        time.sleep(1)
        before = m.pid()
        os.kill(before, signal.SIGKILL)
        wait_for(lambda: m.pid() not in (0, before) and m.state() == "active", "the next one")
        check(m.status()["taken_over_samples"] > 0, "nothing was taken over: %s %s" % (m.status(), m.said()))
        check(m.show("NRestarts") == "1", m.show("NRestarts"))


def reloaded_by_its_manager():
    """ExecReload is heard, waited for, and can turn HTTP on, which the unit lets this machine reach."""
    patience = longer(3)  # a busy machine may give the daemon nothing for so long
    with Managed("event cpu-clock\ncount 1000003\n", "WatchdogSec=%ds\n" % patience) as m:
        port = free_port()
        m.tell("event cpu-clock\ncount 1000003\nhttp %d\n" % port)
        p = m.inside("systemctl", "reload", "dwelld")
        likely(p.returncode == 0 or "watchdog" not in p.stderr, p.stderr)
        check(p.returncode == 0, "reload: %d: %s" % (p.returncode, p.stderr))
        wait_for(lambda: "read the configuration again" in m.said() or m.show("NRestarts") != "0", "the configuration to be read")
        likely(m.show("NRestarts") == "0", "it was taken for dead while it read: " + m.said())
        check(page(port)[1].endswith("# EOF\n"), "no figures")
        time.sleep(patience + 1)  # longer than the manager bears silence
        likely(m.show("NRestarts") == "0" and m.state() == "active", "it was taken for dead: " + m.said())


def again_until_it_can():
    """What keeps it from starting need not last: it is tried again."""
    with Managed("event cpu-clock\ncount 1000003\n") as m, socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        m.tell("event cpu-clock\ncount 1000003\nhttp %d\n" % s.getsockname()[1])
        m.do("systemctl", "restart", "--no-block", "dwelld")
        wait_for(lambda: m.said().count("Address already in use") > 1, "the second attempt")
        s.close()
        wait_for(lambda: m.state() == "active", "the service")
        check(m.status()["pinned"] == 1, m.said())


def any_manager():
    """What it says to any manager, over a socket by path and by an abstract name; without systemd."""
    for name in os.path.abspath("notify"), "\0dwell-e2e-%d" % os.getpid():
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            s.bind(name)
            s.settimeout(60)
            with running(DWELL, "daemon", "--no-pin", "-e", "cpu-clock", "db-%d" % len(name), stderr=subprocess.DEVNULL,
                         env={**os.environ, "NOTIFY_SOCKET": name.replace("\0", "@"), "WATCHDOG_USEC": "2000000"}) as p:
                check(s.recv(1000) == b"READY=1", "not ready first")
                last = time.monotonic()
                for _ in range(4):
                    check(s.recv(1000) == b"WATCHDOG=1", "not alive")
                    check(time.monotonic() - last < 20, "long silence")
                    last = time.monotonic()
                p.send_signal(signal.SIGHUP)
                said = [m for m in iter(lambda: s.recv(1000), b"READY=1") if m != b"WATCHDOG=1"]
                check(len(said) == 1 and said[0].startswith(b"RELOADING=1\nMONOTONIC_USEC="), str(said))
                p.send_signal(signal.SIGTERM)
                said = [m for m in iter(lambda: s.recv(1000), b"STOPPING=1") if m != b"WATCHDOG=1"]
                check(said == [] and p.wait(60) == 0, str(said))


def page(port, path="/metrics", **kw):
    request = urllib.request.Request("http://127.0.0.1:%d%s" % (port, path), **kw)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def refuses(port):
    try:
        page(port)
    except urllib.error.URLError as e:
        return isinstance(e.reason, ConnectionRefusedError)
    return False


def figures_by_http():
    """The page has the figures of `ctl metrics`, at the configured port, while it is configured.  Who connects and says nothing keeps nobody waiting."""
    def tell(line):
        with open("conf", "w", encoding="utf-8") as f:
            f.write("event cpu-clock\nno-pin\n" + line)

    def reload(line, answer):
        before = said().count(answer)
        tell(line)
        p.send_signal(signal.SIGHUP)
        wait_for(lambda: said().count(answer) > before, answer)

    def said():
        return open("said", encoding="utf-8").read()

    first, second = free_port(), free_port()
    tell("http %d\n" % first)
    with open("said", "w", encoding="utf-8") as log, running(DWELL, "daemon", "--config", "conf", "db", stderr=log) as p, socket.socket() as silent:
        wait_for(lambda: daemon_answers("db"), "the daemon")
        silent.connect(("127.0.0.1", first))
        kind, text = page(first)
        check(kind == "application/openmetrics-text; version=1.0.0; charset=utf-8", kind)
        names = [line.split("{")[0].split(" ")[0] for line in dwell("ctl", "--db", "db", "metrics").stdout.splitlines() if line[0] != "#"]
        check(text.endswith("# EOF\n") and [n for n in names if n not in text] == [] and len(names) > 15, text)
        for path, method, status in ("/", "GET", 404), ("/metrics", "POST", 405):
            try:
                page(first, path, method=method, data=b"x" if method == "POST" else None)
                raise Failed("%s %s is answered" % (method, path))
            except urllib.error.HTTPError as e:
                check(e.code == status, "%s %s: %d" % (method, path, e.code))
        reload("http localhost:%d\n" % second, "read the configuration again")
        check(refuses(first) and page(second)[1].endswith("# EOF\n"), said())
        with socket.socket() as taken:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # the daemon's connections linger
            taken.bind(("127.0.0.1", first))
            taken.listen()
            reload("http %d\n" % first, "nothing was changed")
        check("Address already in use" in said() and page(second)[1].endswith("# EOF\n"), said())
        reload("", "read the configuration again")
        check(refuses(second), "it is still there")
        check(dwell("ctl", "--db", "db", "quit").returncode == 0 and p.wait(60) == 0, said())


def the_page():
    """The page of a database that is being recorded: another process, without rights, whose end ends nothing, and which ends with the daemon."""
    port = free_port()

    def said():
        return open("said", encoding="utf-8").read()

    def line(pid, key):
        return next(text.split()[1:] for text in open("/proc/%d/status" % pid, encoding="utf-8") if text.startswith(key))

    def children(pid):
        return [int(p) for p in open("/proc/%d/task/%d/children" % (pid, pid), encoding="utf-8").read().split()]

    def comm(pid):
        return open("/proc/%d/comm" % pid, encoding="utf-8").read().strip()

    shutil.rmtree("db", ignore_errors=True)
    os.chmod(".", 0o755)
    argv = [DWELL, "daemon", "-e", "cpu-clock", "--no-pin", "--journal", "1s", "--group", "12345", "--web", str(port), "db"]
    with open("said", "w", encoding="utf-8") as log, running(*argv, stderr=log) as p:
        wait_for(lambda: "the page is at " in said() or p.poll() is not None, "the page")
        check("http://127.0.0.1:%d/#token=" % port in said(), said())
        token = said().split("#token=")[1][:32]

        def asked():
            with contextlib.suppress(urllib.error.HTTPError):  # nothing is journaled yet
                return page(port, "/api/prof?by=image", headers={"X-Dwell-Token": token})

        wait_for(asked, "samples on the page")
        kind, text = asked()
        check(kind == "application/json" and '"rows"' in text, text[:200])
        (web,) = [c for c in children(p.pid) if comm(c) == "dwell"]
        (http,) = [c for c in children(web) if comm(c) == "dwell-web"]
        for pid in web, http:
            check(line(pid, "CapEff")[0].strip("0") == "" and line(pid, "Uid")[0] != "0", "it has rights")
        check(line(web, "Gid")[0] == "12345", "it has the database's group")
        check(open("/proc/%d/oom_score_adj" % web, encoding="utf-8").read().strip() == "1000", "memory is taken from it first")
        os.kill(web, signal.SIGKILL)
        wait_for(lambda: "the page's server has ended (signal 9); recording goes on" in said(), "its end")
        check(daemon_answers("db"), "the daemon lives")
        check(dwell("ctl", "--db", "db", "quit").returncode == 0 and p.wait(60) == 0, said())
    with open("said", "w", encoding="utf-8") as log, running(*argv, stderr=log) as p:
        wait_for(lambda: "the page is at " in said(), "the page")
        p.kill()
        p.wait(60)
        wait_for(lambda: refuses(port), "its end with the daemon")
    shutil.rmtree("db")
    with open("said", "w", encoding="utf-8") as log, running(DWELL, "daemon", "-e", "cpu-clock", "--no-pin", "--web", str(port), "db", stderr=log) as p:
        check(p.wait(60) == 2 and "give a new database a group" in said(), said())


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


run(by_its_unit, killed_and_started_again, reloaded_by_its_manager, again_until_it_can, any_manager, figures_by_http, the_page)
