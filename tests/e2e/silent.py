# SPDX-License-Identifier: BSD-2-Clause
"""A file system that never answers dwell: a FUSE server of our own, which reads requests, so that no signal ends who
waits.  The daemon goes on, stores everything, and names everybody else's procedures; so does root's `dwell record`."""
import ctypes
import errno
import struct

from bounded import *

LIBC = ctypes.CDLL(None, use_errno=True)
MS_NOSUID, MS_NODEV, MNT_DETACH = 2, 4, 2
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 1 << 18
ROOT, FILE, MAP = 1, 2, 3
LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH, INIT, OPENDIR, INTERRUPT, BATCH_FORGET = 1, 2, 3, 14, 15, 17, 18, 25, 26, 27, 36, 42


class Silent:
    """A file system that has one program, NAME (linux/fuse.h), and answers whoever is not called dwell-something."""

    def __init__(self, where, name, data):
        os.mkdir(where)
        self.where, self.name, self.data = os.path.abspath(where), name.encode(), data
        self.path = os.path.join(self.where, name)
        self.pid = os.fork()
        if not self.pid:
            self.mount()
            self.serve()
            os._exit(0)
        for _ in range(500):
            if os.path.exists(self.path):
                return
            time.sleep(0.01)
        self.end()
        raise Skipped("FUSE cannot be mounted")

    def mount(self):
        self.fd = os.open("/dev/fuse", os.O_RDWR)
        opts = "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other" % self.fd
        if LIBC.mount(b"silent", self.where.encode(), b"fuse", MS_NOSUID | MS_NODEV, opts.encode()) < 0:
            os._exit(1)

    def end(self):
        os.kill(self.pid, signal.SIGKILL)  # whoever waits for an answer gets an error
        os.waitpid(self.pid, 0)
        LIBC.umount2(self.where.encode(), MNT_DETACH)

    def attr(self, node):
        size, mode = (0, 0o40755) if node == ROOT else (len(self.data), 0o100755)
        return struct.pack("<6Q10I", node, size, size // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

    def answer(self, op, node, body):
        """An answer's bytes, an error, or None for none."""
        if op == INIT:
            major, minor, ahead, _ = struct.unpack_from("<4I", body)
            return struct.pack("<4IHH2IHHI7I", major, min(minor, 31), ahead, 0, 0, 0, 65536, 1, 0, 0, 0, *[0] * 7)
        if op in (FORGET, BATCH_FORGET, INTERRUPT):
            return None
        if op == LOOKUP:
            if body.rstrip(b"\0") != self.name and not body.startswith(b"perf-"):
                return -errno.ENOENT
            # A name that stays known is opened without asking; only looking into it hangs.
            return struct.pack("<4Q2I", FILE, 0, 600, 600, 0, 0) + self.attr(FILE)
        if op == GETATTR:
            return struct.pack("<Q2I", 0, 0, 0) + self.attr(node)
        if op in (OPEN, OPENDIR):
            return struct.pack("<Q2I", 0, 0, 0)
        if op == READ:
            _, at, size = struct.unpack_from("<QQI", body)
            return self.data[at:at + size]
        if op == STATFS:
            return struct.pack("<5Q4I6I", 0, 0, 0, 0, 0, 4096, 255, 4096, 0, *[0] * 6)
        return b"" if op in (RELEASE, FLUSH) else -errno.ENOSYS

    def serve(self):
        while True:
            try:
                request = os.read(self.fd, 1 << 20)
            except OSError as e:
                if e.errno in (errno.EINTR, errno.ENOENT):
                    continue
                return
            _, op, unique, node, _, _, pid = struct.unpack_from("<2I2Q3I", request)
            if name_of(pid).startswith("dwell"):
                continue
            out = self.answer(op, node, request[40:])
            if out is None:
                continue
            code, data = (out, b"") if isinstance(out, int) else (0, out)
            try:
                os.write(self.fd, struct.pack("<IiQ", 16 + len(data), code, unique) + data)
            except OSError:
                pass  # who asked has given up


def name_of(pid):
    try:
        with open("/proc/%d/comm" % pid, encoding="utf-8") as f:
            return f.read()
    except OSError:
        return ""


@contextlib.contextmanager
def silent_mount():
    with open(prog("burn"), "rb") as f:
        data = f.read()
    fs = Silent("mount", "quiet", data)
    try:
        yield fs
    finally:
        fs.end()


@contextlib.contextmanager
def silent_program():
    """A program that runs from a file system which does not answer dwell."""
    with silent_mount() as fs:
        p = subprocess.Popen([fs.path, "300", "0.25"], stdout=subprocess.DEVNULL)
        time.sleep(0.5)
        try:
            yield fs
        finally:
            p.kill()
            p.wait()


def names_of_others():
    p = Prof()
    check(p.n(procedure="burn_rebuilt_here") > 0, "nothing of the program beside: %s" % p.images())
    return p


def daemon_goes_on():
    with Daemon() as d, silent_program() as fs:
        sh(prog("burn_rebuilt"), longer(0.3))
        began = time.monotonic()
        d.do("flush")
        took = time.monotonic() - began
        note("the flush took %.1f s" % took)
        likely(took < 20, "the flush took %.1f s" % took)
        p = names_of_others()
        # Its samples are stored: by offset, since nobody could read its headers.
        check(p.n(image=fs.path) > 0, "nothing of the silent file's program: %s" % p.images())
        wait_for(lambda: d.do("flush") is not None and d.said().count("mount/quiet: headers not read: its file system did not answer"),
                 "it to be said: " + d.said(), 60)
        sh(prog("burn_rebuilt"), longer(0.3))
        d.do("flush")
    check(d.said().count("/quiet: headers not read") == 1, "said once: " + d.said())


def own_mounts():
    """Mounts of this process's own, in which others see nothing; also in a chroot, whose / is no mount point that could be
    made private: that is above it, where chroot(2) leads whoever is outside of his root."""
    if LIBC.unshare(CLONE_NEWNS) < 0:
        raise OSError(ctypes.get_errno(), "unshare")
    root, cwd = os.open("/", os.O_RDONLY), os.open(".", os.O_RDONLY)
    os.chdir("/")
    os.chroot("/tmp")
    for _ in range(64):
        os.chdir("..")
    os.chroot(".")
    if LIBC.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) < 0:
        raise OSError(ctypes.get_errno(), "mount")
    os.fchdir(root)
    os.chroot(".")
    os.fchdir(cwd)
    os.close(root)
    os.close(cwd)


def daemon_goes_on_beside_a_perf_map():
    """A process whose /tmp is such a file system, and has a perf map for it."""
    with Daemon() as d, silent_mount() as fs:
        p = subprocess.Popen(["sh", "-c", "mount --bind %s /tmp && cat /tmp/perf-$$.map >/dev/null && exec %s 300" % (fs.where, os.path.join(BIN, "jit"))],
                             stdout=subprocess.DEVNULL, preexec_fn=own_mounts)
        try:
            sh(prog("burn_rebuilt"), longer(1))
            d.do("flush")
            likely(p.poll() is None, "the process has ended")
            wait_for(lambda: d.do("flush") is not None and "generated code not read: its file system did not answer" in d.said(),
                     "it to be said: " + d.said(), 60)
            names_of_others()
        finally:
            p.kill()
            p.wait()


def record_goes_on():
    with silent_program():
        p = dwell("record", "-a", "--db", "db", "--", prog("burn_rebuilt"), longer(0.5))
        check(p.returncode == 0, "record exits %d: %s" % (p.returncode, p.stderr))
        names_of_others()


if __name__ == "__main__":
    if os.geteuid() != 0 or not os.path.exists("/dev/fuse"):
        print("1..0 # SKIP needs root and FUSE")
        sys.exit(0)
    run(daemon_goes_on, daemon_goes_on_beside_a_perf_map, record_goes_on)
