# SPDX-License-Identifier: BSD-2-Clause
"""Starting, pausing and reading the tools that bench/run compares, and the statistics it prints.

A recorder is paused and resumed from outside: its perf event descriptors are duplicated with
pidfd_getfd(2) and disabled or enabled with ioctl(2).  So both recorders live through the whole
rotation, one of them samples at a time, and neither needs to know."""
import contextlib
import ctypes
import fcntl
import os
import random
import signal
import struct
import subprocess
import time

ENABLE, DISABLE = 0x2400, 0x2401  # PERF_EVENT_IOC_*: linux/perf_event.h
SYS_PIDFD_GETFD = 438             # the same on every architecture
PROG_PERF_EVENT = 7               # BPF_PROG_TYPE_PERF_EVENT: linux/bpf.h

libc = ctypes.CDLL(None, use_errno=True)


class CannotMeasure(Exception):
    pass


def perf_fds(pid):
    """Duplicates of the perf event descriptors a process holds."""
    pidfd = os.pidfd_open(pid)
    got = []
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            if "perf_event" not in os.readlink(f"/proc/{pid}/fd/{name}"):
                continue
        except FileNotFoundError:
            continue
        fd = libc.syscall(SYS_PIDFD_GETFD, pidfd, int(name), 0)
        if fd >= 0:
            got.append(fd)
    os.close(pidfd)
    return got


def counts(fds):
    """What each event has counted; of a running CPU clock, the nanoseconds since it was enabled."""
    found = []
    for fd in fds:
        try:
            found.append(struct.unpack_from("Q", os.read(fd, 256))[0])
        except (OSError, struct.error):
            pass
    return [n for n in found if n]


class Tool:
    """A running recorder."""

    def __init__(self, spawn, command, env, log):
        report, write_end = os.pipe()
        self.report = os.fdopen(report)
        self.log = log
        self.process = subprocess.Popen(
            [spawn, str(write_end)] + command, pass_fds=[write_end], env=env,
            stdin=subprocess.PIPE, stdout=open(log, "w"), stderr=open(log + ".err", "w"))
        os.close(write_end)
        self.pid = int(self.report.readline())
        self.fds = []
        self.command = command

    def wait_until_sampling(self):
        for _ in range(200):
            time.sleep(0.05)
            if self.process.poll() is not None:
                break
            fds = perf_fds(self.pid)
            if counts(fds):
                time.sleep(0.5)  # all of its descriptors are open by now
                self.release()
                self.fds = perf_fds(self.pid)
                return
            self.fds, old = fds, self.fds
            for fd in old:
                os.close(fd)
        raise CannotMeasure(f"{' '.join(self.command)}: does not sample: "
                            + self.said())

    def said(self):
        return open(self.log + ".err").read().strip()

    def release(self):
        for fd in self.fds:
            os.close(fd)
        self.fds = []

    def enable(self, on):
        for fd in self.fds:
            fcntl.ioctl(fd, ENABLE if on else DISABLE, 0)

    def cpu_ns(self):
        """CPU time so far, of all threads."""
        total = 0
        for tid in os.listdir(f"/proc/{self.pid}/task"):
            try:
                total += int(open(f"/proc/{self.pid}/task/{tid}/schedstat").read().split()[0])
            except (FileNotFoundError, ProcessLookupError):  # it has just ended
                pass
        return total

    def bpf_stats(self):
        """(run time in ns, runs) of its sampling programs: the kernel's statistics."""
        seen, ns, runs = set(), 0, 0
        for name in os.listdir(f"/proc/{self.pid}/fdinfo"):
            try:
                text = open(f"/proc/{self.pid}/fdinfo/{name}").read()
            except FileNotFoundError:
                continue
            info = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
            if info.get("prog_type", "").strip() != str(PROG_PERF_EVENT):
                continue
            # A link's fdinfo names the program, too, without its statistics.
            if "run_cnt" in info and info["prog_id"] not in seen:
                seen.add(info["prog_id"])
                ns += int(info["run_time_ns"])
                runs += int(info["run_cnt"])
        return ns, runs

    def stop(self):
        """Ends it as a user would.  Returns (CPU seconds, peak MB), start and end included."""
        self.release()
        self.process.stdin.close()
        with contextlib.suppress(ProcessLookupError):  # it has ended with its input
            os.kill(self.pid, signal.SIGINT)
        line = self.report.readline()
        self.process.wait()
        if not line:
            raise CannotMeasure(f"{' '.join(self.command)}: ended badly: {self.said()}")
        cpu_us, peak_kib, _ = line.split()
        return int(cpu_us) / 1e6, int(peak_kib) / 1024


def run_once(spawn, command, env):
    """(CPU seconds, peak MB) of a command that must succeed; its output is thrown away."""
    report, write_end = os.pipe()
    done = subprocess.run([spawn, str(write_end)] + command, pass_fds=[write_end], env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True)
    os.close(write_end)
    lines = os.fdopen(report).read().split("\n")
    cpu_us, peak_kib, status = lines[1].split()
    if status != "0":
        raise CannotMeasure(f"{' '.join(command)}: exit {status}: {done.stderr.strip()}")
    return int(cpu_us) / 1e6, int(peak_kib) / 1024


def time_to_sampling(command, env, log):
    """Milliseconds from just before exec until the event is enabled on the last CPU.

    A CPU clock counts the nanoseconds since it was enabled, so that one look at a quiet moment
    long after tells when that was, without disturbing the start."""
    out = open(log, "w")
    start_ns = time.monotonic_ns()
    p = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    time.sleep(1)
    try:
        fds = perf_fds(p.pid)
    except OSError:
        fds = []
    now_ns = time.monotonic_ns()
    running = counts(fds)
    for fd in fds:
        os.close(fd)
    if p.poll() is None:
        p.send_signal(signal.SIGINT)
    p.wait()
    if not running:
        raise CannotMeasure(f"{' '.join(command)}: not sampling after a second: "
                            + open(log).read().strip())
    return (now_ns - min(running) - start_ns) / 1e6


def median(values):
    v = sorted(values)
    n = len(v)
    return (v[n // 2] + v[(n - 1) // 2]) / 2


def bootstrap(rows, statistic, n=2000, seed=1):
    """(STATISTIC of ROWS, and the ends of its 95 % interval over resampled rows)."""
    rng = random.Random(seed)
    seen = sorted(statistic(rng.choices(rows, k=len(rows))) for _ in range(n))
    return statistic(rows), seen[int(n * 0.025)], seen[int(n * 0.975)]


def median_ratio(pairs):
    """Median of the pairs' own ratios."""
    return median([a / b for a, b in pairs])


def sum_ratio(pairs):
    """Ratio of the sums: for what comes in lumps."""
    return sum(a for a, _ in pairs) / sum(b for _, b in pairs)
