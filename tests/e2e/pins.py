# SPDX-License-Identifier: BSD-2-Clause
"""Where pins go: to a BPF file system that nobody else can write to, which outlives the service's namespace.

This test is the first process of a PID and mount namespace of its own, so that it is "the machine" for the daemons it
starts: they mount there, and all of it ends with the test."""
import signal

from e2e import *

RATE = ["-e", "cpu-clock", "-c", 1000003, "--epoch", 0]
OWN, OLD = "/run/dwell/bpf", "/sys/fs/bpf"
NOBODY = 65534


def afresh():
    """Nothing is mounted where pins could go, but an empty /run of this namespace."""
    for where in OWN, OLD:
        while subprocess.run(["umount", "-l", where], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            pass
    sh("mount", "-t", "tmpfs", "-o", "mode=755", "none", "/run")


def mount_bpf(where, mode):
    os.makedirs(where, exist_ok=True)
    if subprocess.run(["mount", "-t", "bpf", "-o", "mode=" + mode, "bpf", where], check=False).returncode != 0:
        raise Skipped("no BPF file system can be mounted here")


def logs(where):
    return sorted(d for d, _, files in os.walk(where + "/dwell") if "cpus" in files)


def counted(log):
    """Samples that reached a log: struct log_cpu, 16 words and then `reached` by event."""
    dump = json.loads(sh("bpftool", "-j", "map", "dump", "pinned", log + "/cpus"))
    raw = [bytes(int(x, 16) for x in cpu["value"]) for cpu in dump]
    return sum(int.from_bytes(r[i:i + 8], "little") for r in raw for i in range(128, 256, 8))


class Daemon:
    def __init__(self, *argv, prefix=()):
        self.log = open("said", "w+", encoding="utf-8")
        self.p = subprocess.Popen([*prefix, os.path.join(os.path.dirname(DWELL), "dwelld"), *map(str, RATE), *map(str, argv), "db"], stderr=self.log)
        wait_for(lambda: self.p.poll() is not None or daemon_answers("db"), "the daemon", 60)
        check(self.p.poll() is None, "it ended: " + self.said())

    def said(self):
        return open("said", encoding="utf-8").read()

    def kill(self):
        self.p.kill()
        self.p.wait()

    def status(self):
        return json.loads(sh(DWELL, "ctl", "--db", "db", "status", "--json"))

    def __enter__(self):
        return self

    def __exit__(self, kind, *rest):
        if self.p.poll() is None:
            if kind:
                self.kill()
            else:
                sh(DWELL, "ctl", "--db", "db", "quit")
                check(self.p.wait(60) == 0, "exit %s: %s" % (self.p.returncode, self.said()))


def sampling_outlives_a_service():
    """Nobody mounted anything, and the daemon has a mount namespace of its own, as a service has: its log goes on when it is killed."""
    afresh()
    own = ["unshare", "--mount", "--propagation", "private"]
    if subprocess.run([*own, "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        own[-1] = "unchanged"
    d = Daemon(prefix=own)
    check(d.status()["pinned"] == 1, d.said())
    d.kill()
    (log,) = logs(OWN)
    check(os.stat(OWN).st_mode & 0o777 == 0o700, oct(os.stat(OWN).st_mode))
    before = counted(log)
    with running(prog("burn"), 1) as p:
        p.wait()
    check(counted(log) > before, "the log does not go on")
    with Daemon(prefix=own) as d:
        check(d.status()["taken_over_samples"] > 0, d.said())
    check(logs(OWN) == [], "left: %s" % logs(OWN))


def base_of(db):
    st = os.stat(db)
    return "%x-%x" % (st.st_dev, st.st_ino)


def victim():
    os.makedirs("victim", exist_ok=True)
    for name in "a", "link-0", "note":
        with open("victim/" + name, "w", encoding="ascii") as f:
            f.write("precious")
    return os.path.abspath("victim")


def check_victim():
    check(sorted(os.listdir("victim")) == ["a", "link-0", "note"], "files of another directory went: %s" % os.listdir("victim"))


def as_nobody(script, *argv):
    return subprocess.Popen(["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", "sh", "-c", script, "sh", *argv])


def planted_links_lead_nowhere():
    """Others may write to the BPF file system: links and directories that they made there are neither followed nor used."""
    afresh()
    mount_bpf(OLD, "1777")
    where = victim()
    os.mkdir("db")
    for script in ('mkdir -p "$1/dwell/$2" && ln -s "$3" "$1/dwell/$2/0123456789abcdef"', 'ln -s "$3" "$1/dwell"',
                   'mkdir "$1/dwell" && ln -s "$3" "$1/dwell/$2"'):
        shutil.rmtree(OLD + "/dwell", ignore_errors=True)
        if os.path.islink(OLD + "/dwell"):
            os.unlink(OLD + "/dwell")
        check(as_nobody(script, OLD, base_of("db"), where).wait() == 0, script)
        for more in (), ("--bpffs", OLD):
            with Daemon(*more) as d:
                check(d.status()["pinned"] == 1 and len(logs(OWN)) == 1, "%s: pins in %s" % (d.said(), logs(OWN)))
                check("%s can be written to by others" % OLD in d.said() or not more, d.said())
                d.kill()
            check_victim()
            dwell("ctl", "--db", "db", "--bpffs", OLD, "clean")
            check_victim()


def swapped_while_it_runs():
    """Somebody exchanges directory and link all the time, below a root that others may write to."""
    afresh()
    mount_bpf(OLD, "1777")
    where = victim()
    os.mkdir("db")
    swap = as_nobody('cd "$1" && mkdir -p dwell/$2/0123456789abcdef && ln -s "$3" dwell/link && while :; do '
                     'mv -T dwell/$2/0123456789abcdef dwell/away && mv -T dwell/link dwell/$2/0123456789abcdef; '
                     'mv -T dwell/$2/0123456789abcdef dwell/link && mv -T dwell/away dwell/$2/0123456789abcdef; done', OLD, base_of("db"), where)
    try:
        for i in range(5):
            d = Daemon("--bpffs", OLD)
            d.kill()
            p = dwell("ctl", "--db", "db", "--bpffs", OLD, "clean")
            check(p.returncode in (0, 2), p.stderr)
            check_victim()
    finally:
        swap.kill()
        swap.wait()


def what_is_not_safe_is_not_used():
    """A file system of others, one below a link or below everybody's directory, one that is none: said, and another one is used."""
    afresh()
    for where in "/run/theirs", "shared":
        mount_bpf(where, "700")
    os.chown("/run/theirs", NOBODY, NOBODY)
    os.chmod(".", 0o1777)
    os.symlink("/run/theirs", "/run/link")
    os.mkdir("/run/none")
    for where, why in ("/run/theirs", "belongs to user"), ("/run/link", "symbolic link"), ("/run/none", "is no BPF file system"), \
            ("/run/missing", "No such file"), ("shared", "can be written to by others"):
        with Daemon("--bpffs", where) as d:
            check(d.status()["pinned"] == 1 and len(logs(OWN)) == 1, "%s: %s" % (where, d.said()))
            check(("pins go to %s" % OWN) in d.said() and why in d.said(), "%s: %s" % (where, d.said()))
    for where in "/run/theirs", "shared":
        sh("umount", where)


def older_pins_are_taken_over():
    """Version 0.1.0 pinned below /sys/fs/bpf, which is everybody's directory where nobody said otherwise."""
    for mode in "700", "1777":
        afresh()
        mount_bpf(OLD, "700")
        d = Daemon("--bpffs", OLD)
        check(len(logs(OLD)) == 1, d.said())
        d.kill()
        os.chmod(OLD, int(mode, 8))
        with running(prog("burn"), 1) as p:
            p.wait()
        mount_bpf(OWN, "700")
        with Daemon() as d:
            check(d.status()["taken_over_samples"] > 0, "%s: %s" % (mode, d.said()))
            check(logs(OLD) == [], "left: %s" % logs(OLD))
        shutil.rmtree("db")


def two_at_once_share_a_mount():
    """Two daemons that both find nothing mounted mount one file system between them."""
    afresh()
    there = [subprocess.Popen([os.path.join(os.path.dirname(DWELL), "dwelld"), *map(str, RATE), db], stderr=subprocess.DEVNULL) for db in ("db1", "db2")]
    try:
        for db in "db1", "db2":
            wait_for(lambda: daemon_answers(db), "the daemon of " + db, 60)
        check(len(logs(OWN)) == 2, str(logs(OWN)))
        mounts = [line for line in open("/proc/self/mounts", encoding="utf-8") if " %s bpf " % OWN in line]
        check(len(mounts) == 1, str(mounts))
    finally:
        for p in there:
            p.send_signal(signal.SIGTERM)
        for p in there:
            p.wait(60)


in_namespaces("DWELL_PINS_TEST", "--pid", "--fork", "--kill-child", inside=["sh", "-c", 'mount -t proc proc /proc && exec "$@"', "sh"])
run(sampling_outlives_a_service, planted_links_lead_nowhere, swapped_while_it_runs, what_is_not_safe_is_not_used, older_pins_are_taken_over,
    two_at_once_share_a_mount)
