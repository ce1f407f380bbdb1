# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of the daemon share: one that pins its log, its database, and what its log counts.

They run in a mount namespace of their own with a BPF file system of its own: nothing pinned here is seen
elsewhere, and what a failing test leaves goes with the namespace."""
from e2e import *

RATE = ["-e", "cpu-clock", "-c", 1000003]


def in_own_namespace():
    # With it calloc touches all it gives, also the megabytes that a daemon never touches.
    os.environ.pop("MALLOC_PERTURB_", None)
    in_namespaces("DWELL_DAEMON_TEST")


BPFFS = "/run/dwell/bpf"  # of this namespace alone


def bpffs():
    if not os.path.ismount(BPFFS) or not os.environ.get("DWELL_BPFFS"):
        os.makedirs(BPFFS, exist_ok=True)
        if subprocess.run(["mount", "-t", "bpf", "-o", "mode=700", "bpf", BPFFS], check=False).returncode != 0:
            raise Skipped("no BPF file system can be mounted here")
        os.environ["DWELL_BPFFS"] = "1"


def pinned():
    """Files of logs; beside the logs' directories is the array that says which of them samples."""
    return [os.path.join(d, f) for d, _, files in os.walk(BPFFS + "/dwell") for f in files if len(os.path.basename(d)) == 16]


class Daemon:
    def __init__(self, *argv, db="db"):
        self.db = db
        self.log = open("daemon.log", "a+", encoding="utf-8")
        bpffs()
        self.p = subprocess.Popen([DWELL, "daemon", *map(str, argv), db], stderr=self.log)
        wait_for(lambda: self.p.poll() is not None or daemon_answers(self.db), "the daemon", 60)
        check(self.p.poll() is None, "it ended: " + self.said())

    def ctl(self, *argv):
        return dwell("ctl", "--db", self.db, *argv)

    def do(self, *argv):
        p = self.ctl(*argv)
        check(p.returncode == 0, "ctl %s: %s" % (argv, p.stderr.strip()))
        return p.stdout

    def status(self):
        return json.loads(self.do("status", "--json"))

    def said(self):
        return open("daemon.log", encoding="utf-8").read()

    def kill(self):
        self.p.kill()
        self.p.wait()

    def __enter__(self):
        return self

    def __exit__(self, kind, *rest):
        if self.p.poll() is None:
            if kind:
                self.kill()
            else:
                self.do("quit")
                check(self.p.wait(60) == 0, "exit %s: %s" % (self.p.returncode, self.said()))


def recordings(db="db"):
    """The MANIFESTs, in order of their epochs."""
    ret = []
    for where, _, files in sorted(os.walk(os.path.join(db, "epochs"))):
        if "MANIFEST" in files:
            with open(os.path.join(where, "MANIFEST"), encoding="utf-8") as f:
                ret.append(json.load(f))
    return ret


def added_up(pairs):
    """An object whose numbers of one name are added up: an event may be there with several periods."""
    ret = {}
    for k, v in pairs:
        ret[k] = ret[k] + v if k in ret and isinstance(v, int) else v
    return ret


def in_segments(db="db"):
    """Samples that MANIFESTs tell of; a live daemon's journal may have more."""
    return sum(e["samples"] for m in recordings(db) for e in m["events"])


def rows_of_all(db="db"):
    """What is stored by now, by image."""
    return json.loads(sh(DWELL, "prof", "--json", "--db", db, "-epoch", "all", "--by", "image", "--no-flush"), object_pairs_hook=added_up)["rows"]


def stored_unknown(but_for_period):
    """How many samples are stored by now whose address is not known, without those of the event of that period."""
    # Else what an interpreter does is its caller's, which may be such an address.
    p = dwell("prof", "--json", "--db", "db", "-epoch", "all", "--by", "image", "--no-flush", "--runtime-frames")
    if p.returncode == 1:
        return 0  # nothing is stored
    check(p.returncode == 0, p.stderr)
    return sum(n for r in json.loads(p.stdout, object_pairs_hook=added_up)["rows"] if r["kind"] == "unknown"
               for event, n in r["counts"].items() if not event.endswith(":%d" % but_for_period))


def sums(db="db"):
    """What all epochs say came, is stored, and is lost by name: checked to be one account."""
    reached = stored = lost = 0
    for m in recordings(db):
        for i, e in enumerate(m["events"]):
            losses = sum(l["n"] for l in m["losses"] if l["event"] == i)
            check(e["reached"] == e["samples"] + losses, "%s: %d reached, %d stored, %d lost" %
                  (m["state"], e["reached"], e["samples"], losses))
            reached, stored, lost = reached + e["reached"], stored + e["samples"], lost + losses
        check(not any(l["name"] == "unaccounted" for l in m["losses"]), str(m["losses"]))
    n = sum(sum(r["counts"].values()) for r in rows_of_all(db))
    check(n == stored, "%d in rows, %d in MANIFESTs" % (n, stored))
    return reached, stored, lost


def heads():
    """What the kernel side counted in the one pinned log: samples that reached it, by bpftool's reading of its memory."""
    (path,) = [f for f in pinned() if f.endswith("/cpus")]
    dump = json.loads(sh("bpftool", "-j", "map", "dump", "pinned", path))
    n = 0
    for cpu in dump:
        words = [int.from_bytes(bytes(int(x, 16) for x in cpu["value"][i:i + 8]), "little")
                 for i in range(0, len(cpu["value"]), 8)]
        n += sum(words[16:32])  # struct log_cpu: reached, by event
    return n


def high_water(pid):
    """The most memory that was resident, bytes."""
    with open("/proc/%d/status" % pid, encoding="ascii") as f:
        (line,) = [s for s in f if s.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


MOST_MEMORY = 60 * 10**6  # docs/design/daemon.md, "Bounds"


def frozen():
    """Ends the sampling of the dead daemon's log; what had reached it."""
    links = [f for f in pinned() if "/link-" in f]
    ids = {json.loads(sh("bpftool", "-j", "link", "show", "pinned", f))["id"] for f in links}
    for f in links:
        os.unlink(f)
    # The kernel ends them in its own time: it lets go of the number, then of the clock.
    wait_for(lambda: not ids & {link["id"] for link in bpf_list("link")}, "the links to go")
    reached = [-1]
    while reached[-1] != heads():
        reached.append(heads())
        time.sleep(0.1)
    return reached[-1]


def own_reached():
    """What the last recording counted of the log that its daemon made itself."""
    return sum(recordings()[-1]["logs"][-1]["stored"])


def clean():
    """What a test that failed left is not the next one's."""
    for f in pinned():
        os.unlink(f)


def alone(test):
    def body():
        clean()
        test()
    body.__name__ = test.__name__
    return body


