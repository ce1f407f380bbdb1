# SPDX-License-Identifier: BSD-2-Clause
"""A daemon with the packaged unit's limit of memory."""
import re

from e2e import *

RATE = ["-e", "cpu-clock", "-c", 1000003]
LIMIT = 256 << 20


class Limit:
    """A control group that may take LIMIT of memory, or nothing where there is none."""

    def __init__(self):
        self.dir = None
        for parent, name in ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max"):
            where = "%s/dwell-test-%d" % (parent, os.getpid())
            try:
                os.mkdir(where)
                with open(os.path.join(where, name), "w", encoding="utf-8") as f:
                    f.write(str(LIMIT))
                self.dir = where
                return
            except OSError:
                if os.path.isdir(where):
                    os.rmdir(where)

    def enter(self):
        if self.dir:
            with open(self.dir + "/cgroup.procs", "w", encoding="utf-8") as f:
                f.write(str(os.getpid()))

    def end(self):
        if self.dir:
            wait_for(lambda: not open(self.dir + "/cgroup.procs", encoding="utf-8").read(), "the group to be empty")
            os.rmdir(self.dir)


class Daemon:
    """dwelld under a limit, and what it said."""

    def __init__(self, *argv):
        self.limit = Limit()
        self.log = open("daemon.log", "a+", encoding="utf-8")
        self.p = subprocess.Popen([os.path.join(os.path.dirname(DWELL), "dwelld"), *map(str, RATE), "--no-pin", "--bpffs", "/nonexistent", *map(str, argv), "db"],
                                  stderr=self.log, preexec_fn=self.limit.enter)
        wait_for(lambda: self.p.poll() is not None or daemon_answers("db"), "the daemon")
        self.lives()

    def lives(self):
        check(self.p.poll() is None, "the daemon ended, %s: %s" % (self.p.returncode, self.said()))

    def ctl(self, *argv):
        return dwell("ctl", "--db", "db", *argv)

    def do(self, *argv):
        self.lives()
        p = self.ctl(*argv)
        check(p.returncode == 0, "ctl %s: %s; %s" % (argv, p.stderr.strip(), self.said()))
        return p.stdout

    def said(self):
        return open("daemon.log", encoding="utf-8").read()

    def peak(self):
        """The most memory the daemon itself had, in bytes."""
        with open("/proc/%d/status" % self.p.pid, encoding="utf-8") as f:
            return int(re.search(r"VmHWM:\s*(\d+) kB", f.read()).group(1)) << 10

    def cpu_s(self):
        with open("/proc/%d/stat" % self.p.pid, encoding="utf-8") as f:
            fields = f.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def __enter__(self):
        return self

    def __exit__(self, kind, *rest):
        try:
            if self.p.poll() is None and not kind:
                note("the daemon had %.1f MB at most and took %.2f s" % (self.peak() / 1e6, self.cpu_s()))
                check(self.peak() < LIMIT / 2, "it had %d MB" % (self.peak() >> 20))
                self.do("quit")
                check(self.p.wait(60) == 0, "exit %s: %s" % (self.p.returncode, self.said()))
        finally:
            if self.p.poll() is None:
                self.p.kill()
                self.p.wait()
            note(self.said())
            self.limit.end()
