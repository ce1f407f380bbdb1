# SPDX-License-Identifier: BSD-2-Clause
"""The daemon: what it is told, and that it loses nothing, however it dies.

Runs in a mount namespace of its own with a BPF file system of its own: nothing pinned here is seen
elsewhere, and what a failing test leaves goes with the namespace."""
import random
import re

from e2e import *

RATE = ["-e", "cpu-clock", "-c", 1000003]


def in_own_namespace():
    # With it calloc touches all it gives, also the megabytes that a daemon never touches.
    os.environ.pop("MALLOC_PERTURB_", None)
    if os.environ.get("DWELL_DAEMON_TEST"):
        return
    if os.geteuid() != 0:
        print("1..0 # SKIP needs root")
        sys.exit(0)
    os.environ["DWELL_DAEMON_TEST"] = "1"
    # In a chroot / is no mount point whose propagation could be changed.
    for propagation in "private", "unchanged":
        alone = ["unshare", "--mount", "--propagation", propagation]
        if subprocess.run([*alone, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            os.execvp("unshare", [*alone, sys.executable, *sys.argv])
    print("1..0 # SKIP no mount namespace of its own")
    sys.exit(0)


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
        wait_for(lambda: self.p.poll() is not None or self.ctl("status").returncode == 0, "the daemon", 60)
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


def stored_unknown():
    """How many samples are stored by now whose address is not known."""
    p = dwell("prof", "--json", "--db", "db", "-epoch", "all", "--by", "image", "--no-flush")
    if p.returncode == 1:
        return 0  # nothing is stored
    check(p.returncode == 0, p.stderr)
    return sum(sum(r["counts"].values()) for r in json.loads(p.stdout, object_pairs_hook=added_up)["rows"]
               if r["kind"] == "unknown")


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


def told_what_to_do():
    with Daemon(*RATE, "--flush", "1h", "--epoch", 0) as d:
        with running(prog("burn"), 20):
            time.sleep(longer(0.7))
            d.do("flush")
        p = Prof()
        enough(p.n(image="burn", procedure="burn_here"), 1, "samples of burn after a flush: %s" % p.images())
        first = d.status()["epoch"]
        start = time.monotonic()
        d.do("epoch")
        note("a new epoch took %.3f s" % (time.monotonic() - start))
        second = d.status()["epoch"]
        check(second > first, "epochs %s, %s" % (first, second))
        out = d.do("label", "nightly", "--", prog("burn"), "0.5")
        check(out == "", out)
        d.do("flush")
        p = Prof("-label", "nightly")
        # The command that asked for the label is dwell itself; the daemon and this test have none.
        others = [i for i in p.images() if i.endswith("/dwelld") or "python" in i]
        check(not others, "samples of others with the label: %s" % others)
        enough(p.n(image="burn"), 1, "samples with the label: %s" % p.images())
        metrics = d.do("metrics")
        check(metrics.endswith("# EOF\n") and "dwell_samples_total " in metrics, metrics)
        s = d.status()
        check(s["pinned"] == 1 and s["resident_bytes"] > 0 and s["cpu_seconds"] > 0, str(s))
        check(pinned(), "nothing is pinned")
    check(pinned() == [], "left: %s" % pinned())
    check([m["state"] for m in recordings()] == ["finished", "finished"], "%s" % recordings())
    sums()


def readers_see_it_up_to_now():
    """Who reads has the daemon store what it has first, and does not wait for one that does not answer."""
    with Daemon(*RATE, "--flush", "1h", "--journal", "1h", "--epoch", 0) as d, running(prog("burn"), 60):
        time.sleep(longer(0.5))
        n = d.status()["flushes"]
        (row,) = json.loads(sh(DWELL, "epochs", "--json", "--no-flush", "db"))["rows"]
        check(row["samples"] == 0, "not the case that was to be tested: %s" % row)
        check(dwell("prof", "--no-flush", "--db", "db").returncode == 1, "there is something without a flush")
        check(d.status()["flushes"] == n, "asked all the same")
        p = Prof()
        enough(p.n(image="burn", procedure="burn_here"), 1, "samples of burn: %s" % p.images())
        check(d.status()["flushes"] == n + 1, "%d flushes, then %d" % (n, d.status()["flushes"]))
        more = Prof()
        check(more.n() > p.n(), "%d samples, then %d" % (p.n(), more.n()))
        d.p.send_signal(signal.SIGSTOP)
        try:
            begin = time.monotonic()
            p = dwell("prof", "--db", "db")
            note("a daemon that does not answer: %.1f s" % (time.monotonic() - begin))
        finally:
            d.p.send_signal(signal.SIGCONT)
        check(p.returncode == 0 and "burn" in p.stdout, p.stderr)
        check("did not store what it sampled last: the daemon does not answer" in p.stderr, p.stderr)
        p = dwell("prof", "--db", "db")
        check(p.returncode == 0, p.stderr)
        likely(p.stderr == "", p.stderr)


def what_is_old_goes():
    """Retention of the daemon's own: at its start, and when it is told something else; never what it writes."""
    with Daemon(*RATE) as d:
        for _ in range(4):
            time.sleep(0.2)
            d.do("epoch")
        newest = d.status()["epoch"]
    there = sorted(os.listdir("db/epochs"))
    check(len(there) == 5 and there[-1] == newest, str(there))
    old = "20010101000000"  # its name alone does not make it old: its samples do
    os.rename(os.path.join("db/epochs", there[0]), os.path.join("db/epochs", old))
    (path,) = [os.path.join(w, "MANIFEST") for w, _, f in os.walk("db/epochs/" + old) if "MANIFEST" in f]
    with open(path, encoding="utf-8") as f:
        m = json.load(f)
    with open("conf", "w", encoding="utf-8") as f:
        f.write("event cpu-clock\ncount 1000003\nmax-age 1d\nkeep 1\n")
    with Daemon("--config", "conf") as d:
        wait_for(lambda: d.status()["recordings_bytes"] > 0, "a first run", 60)
        check(sorted(os.listdir("db/epochs"))[:5] == [old] + there[1:], "%s: went" % os.listdir("db/epochs"))
        for s in m["segments"]:
            s["start_wall_ns"], s["end_wall_ns"] = 978307200 * 10**9, 978307201 * 10**9
        with open(path, "w", encoding="utf-8") as f:
            json.dump(m, f)
        d.p.send_signal(signal.SIGHUP)
        wait_for(lambda: "removed 1 old recording of" in d.said(), "the old one to go", 60)
        check(sorted(os.listdir("db/epochs"))[:4] == there[1:], str(os.listdir("db/epochs")))
        s = d.status()
        check(s["removed_recordings"] == 1 and s["removed_bytes"] > 0, str(s))
        with open("conf", "a", encoding="utf-8") as f:
            f.write("max-size 1K\n")
        d.p.send_signal(signal.SIGHUP)
        wait_for(lambda: "removed 4 old recordings of" in d.said(), "all to go but the newest", 60)
        check(os.listdir("db/epochs") == [d.status()["epoch"]], str(os.listdir("db/epochs")))
        d.do("flush")
        metrics = d.do("metrics")
        check("dwell_removed_recordings_total 5\n" in metrics and "dwell_recordings_bytes " in metrics, metrics)
    sums()


def two_daemons():
    with Daemon(*RATE) as d:
        p = subprocess.run([DWELL, "daemon", "--no-pin", "db"], capture_output=True, text=True, check=False, timeout=60)
        check(p.returncode == 2 and "held by dwelld, process %d" % d.p.pid in p.stderr, p.stderr)
        check(d.p.poll() is None, "the first one ended")


def signals_end_it_well():
    for sig in signal.SIGTERM, signal.SIGINT:
        with Daemon(*RATE, db=sig.name) as d:
            time.sleep(0.3)
            d.p.send_signal(sig)
            check(d.p.wait(60) == 0, d.said())
        check(pinned() == [], "left: %s" % pinned())
        check([m["state"] for m in recordings(sig.name)] == ["finished"], sig.name)
        sums(sig.name)


def killed_at_random():
    """kill -9 at random moments, flushes and epochs among them: each sample that reached the log is in one row or one loss."""
    seed = int(os.environ.get("DWELL_SEED", random.randrange(1 << 30)))
    note("DWELL_SEED=%d" % seed)
    rng = random.Random(seed)
    total = 0
    with running(prog("burn"), 60), running(prog("forkstorm"), 60):
        for _ in range(6):
            d = Daemon(*RATE, "--journal", "0.2", "--flush", "0.7", "--epoch", "2s")
            other = None
            if rng.random() < 0.5:
                time.sleep(rng.uniform(0, 0.8))
                other = subprocess.Popen([DWELL, "ctl", "--db", "db", rng.choice(["flush", "epoch"])],
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(rng.uniform(0, 0.05))
            else:
                time.sleep(rng.uniform(0, 1.5))
            d.kill()
            if other:
                other.wait()
            time.sleep(rng.uniform(0, 0.5))
            check(pinned(), "nothing outlived it")
            before = heads()
            wait_for(lambda: heads() > before, "the log to go on")
            total += frozen()
        with Daemon(*RATE) as d:
            s = d.status()
            check(s["taken_over_samples"] > 0, str(s))
            d.do("flush")
    check(pinned() == [], "left: %s" % pinned())
    reached, stored, lost = sums()
    note("%d of dead daemons' logs, %d reached, %d stored, %d lost by name" % (total, reached, stored, lost))
    check(reached >= total, "%d reached the logs of the dead, %d are told of" % (total, reached))
    # The last daemon's own, by its own account, is the rest.
    own = own_reached()
    check(own + total == reached, "%d + %d of the last one, %d in all" % (total, own, reached))


def minutes_outlive_it():
    """What came while a daemon was dead for a moment has its minute."""
    with running(prog("burn"), 60):
        d = Daemon(*RATE, "--journal", "60s", "--flush", "1h", "--epoch", 0)
        time.sleep(longer(1))
        d.kill()
        with Daemon(*RATE) as d:
            taken = d.status()["taken_over_samples"]
            d.do("flush")
    rows = json.loads(sh(DWELL, "epochs", "--minutes", "--json", "--no-flush", "db"))["rows"]
    unknown = sum(r["samples"] for r in rows if r["minute"] is None)
    note("%d samples taken over, %d of all have no minute" % (taken, unknown))
    enough(taken, 20, "samples of the dead daemon's log")
    # A minute may have ended meanwhile.
    likely(unknown == 0, "%d samples have no minute" % unknown)


def without_a_drain_it_counts_on():
    """A log that is full while its daemon is dead goes on in the spill table, by image and place."""
    d = Daemon(*RATE, "--log-slots", "64")
    d.kill()
    with running(prog("burn"), 3) as p:
        p.wait()
    reached = heads()
    with Daemon(*RATE) as d:
        note(d.said())
    n = Prof("-epoch", "all", "--path", prog("burn")).n(procedure="burn_here")
    enough(n, 500, "samples of burn")
    got, stored, lost = sums()
    check(got >= reached, "%d reached it, %d are told of" % (reached, got))
    note("%d stored, %d lost by name" % (stored, lost))


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
    wait_for(lambda: not ids & {link["id"] for link in json.loads(sh("bpftool", "-j", "link", "show") or "[]")}, "the links to go")
    reached = [-1]
    while reached[-1] != heads():
        reached.append(heads())
        time.sleep(0.1)
    return reached[-1]


def own_reached():
    """What the last recording counted of the log that its daemon made itself."""
    return sum(recordings()[-1]["logs"][-1]["stored"])


@contextlib.contextmanager
def on_each_cpu(*argv):
    with contextlib.ExitStack() as all_of_them:
        for cpu in sorted(os.sched_getaffinity(0)):
            all_of_them.enter_context(running("taskset", "-c", cpu, *argv))
        yield


def places_in_use():
    """How many slots of its spill table the CPU uses that uses most, and how many it has; read from the pinned memory."""
    import ctypes
    import mmap
    (path,) = [f for f in pinned() if f.endswith("/spill")]
    n_slots = json.loads(sh("bpftool", "-j", "map", "show", "pinned", path))["max_entries"]
    fd = ctypes.CDLL("libbpf.so.1").bpf_obj_get(path.encode())
    check(fd >= 0, path)
    each = n_slots // len(json.loads(sh("bpftool", "-j", "map", "dump", "pinned", path.replace("/spill", "/cpus"))))
    with mmap.mmap(fd, n_slots * 40, prot=mmap.PROT_READ) as m:
        words = memoryview(m[:]).cast("Q")  # struct spill_slot: the last of its five words is the count
        used = [sum(1 for i in range(at, at + each) if words[5 * i + 4]) for at in range(0, n_slots, each)]
    os.close(fd)
    return max(used), each


def most_taking_over(used):
    """The bound of memory for a daemon that takes over logs whose CPUs use at most so many places: docs/design/daemon.md, "Bounds"."""
    return MOST_MEMORY + 256 * used * len(os.sched_getaffinity(0))


HOUR = 350000  # samples of a CPU at the default rate, 97 Hz


def dead_for_an_hour():
    """As many samples as come in an hour at the default rate, into a log of the default size: none is lost."""
    want = HOUR * len(os.sched_getaffinity(0))
    d = Daemon("-e", "cpu-clock", "-c", 40000, "--log-slots", 4096, "--flush", "1h", "--epoch", 0)
    d.kill()
    # What the dead one stored: the next one's status knows nothing of it.
    earlier = stored_unknown()
    with on_each_cpu(prog("places"), "few", 120):
        end = time.monotonic() + 60
        while heads() < want and time.monotonic() < end:
            time.sleep(0.5)
        total = frozen()
        used, room = places_in_use()
        note("%d of %d places in use" % (used, room))
        likely(total >= want, "only %d of the %d samples of an hour came" % (total, want))
        with Daemon(*RATE) as d:
            note(d.said())
            taken, memory = d.status()["taken_over_samples"], high_water(d.p.pid)
            check(re.search("took over %d samples of a daemon that died" % taken, d.said()), d.said())
            before = d.status()["unknown_samples"]
            unknown = stored_unknown() - earlier
            after = d.status()["unknown_samples"]
    reached, stored, lost = sums()
    rows = json.loads(sh(DWELL, "epochs", "--minutes", "--json", "--no-flush", "db"))["rows"]
    check(all(r["minute"] or r["from"] < r["until"] for r in rows), "neither a minute nor two that they came between: %s" % rows)
    losses = [l["name"] for m in recordings() for l in m["losses"]]
    note("%d reached, %d stored, %d lost: %s; at most %d KiB resident" % (reached, stored, lost, losses, memory / 1024))
    check(reached == total + own_reached(), "%d + %d of the last one, %d in all" % (total, own_reached(), reached))
    # 12,000 places and the machine's other work; half a table's are never turned away (src/collect/bpf/record.h).
    check(lost == 0 or used > room // 2, "%d lost with %d of %d places in use: %s" % (lost, used, room, losses))
    # What it had stored itself before it died is not taken over.
    check(0 < taken <= total - lost, "%d taken over of %d, %d lost" % (taken, total, lost))
    n = Prof("-epoch", "all").n(image="places", procedure="few_places")
    enough(n, HOUR // 10, "samples of few_places")
    note("%d at unknown addresses" % unknown)
    check(before <= unknown <= after, "%d samples at unknown addresses, status says %d, then %d" % (unknown, before, after))
    check(memory < most_taking_over(used), "%d bytes resident" % memory)


def more_places_than_there_is_room_for():
    """A full log, then a full spill table: what finds no room is counted under that name, with a daemon that hangs and after its death."""
    with Daemon("-e", "cpu-clock", "-c", 40000, "--log-slots", 64, "--flush", "1h", "--epoch", 0) as d:
        with on_each_cpu(prog("places"), "many", 60):
            d.p.send_signal(signal.SIGSTOP)
            time.sleep(longer(4))
            d.p.send_signal(signal.SIGCONT)
            d.do("flush")
            hung = d.status()["events"][0]["losses"]
            d.kill()
            time.sleep(0.5)
        total = frozen()
        used, _ = places_in_use()
        likely(hung.get("spill_full", 0) > 0, "the table of %d samples was not full: %s" % (total, hung))
    with Daemon(*RATE) as d:
        note(d.said())
        memory = high_water(d.p.pid)
    reached, stored, lost = sums()
    note("%d reached, %d stored, %d lost, %d of them before its death; at most %d KiB resident" %
         (reached, stored, lost, hung["spill_full"], memory / 1024))
    check(reached == total + own_reached(), "%d + %d of the last one, %d in all" % (total, own_reached(), reached))
    check(lost >= hung["spill_full"], "%d lost, of %s" % (lost, hung))
    check(memory < most_taking_over(used), "%d bytes resident" % memory)


def fits(want, each_bytes):
    """How many processes of this size, at most WANT, the machine takes."""
    import resource
    most = [want, int(open("/proc/sys/kernel/pid_max").read()) // 2, int(open("/proc/sys/kernel/threads-max").read()) // 2]
    user = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    if user > 0:
        most.append(user // 2)
    with open("/proc/meminfo", encoding="ascii") as f:
        (line,) = [s for s in f if s.startswith("MemAvailable:")]
    return min(most + [int(line.split()[1]) * 1024 // 2 // each_bytes])


@contextlib.contextmanager
def crowd(n, mappings, burning):
    with running(prog("crowd"), n, mappings, burning, stdout=subprocess.PIPE) as p:
        there, mapped = map(int, p.stdout.readline().split())
        note("%d processes, %d mappings" % (there, mapped))
        yield there, mapped


def a_crowd():
    """10,000 processes and 100,000 mappings before it starts, as many while it runs; a ring that overflows."""
    mappings = min(50000, int(open("/proc/sys/vm/max_map_count").read()) - 100)
    with held("pid_max"), crowd(fits(10000, 1 << 20), 0, 1), crowd(2, mappings, 2):
        start = time.monotonic()
        with Daemon(*RATE, "--journal", "0.5", "--flush", "1h", "--epoch", 0) as d:
            first = high_water(d.p.pid)
            note("%.1f s to start, at most %d KiB resident" % (time.monotonic() - start, first / 1024))
            with crowd(2, mappings, 2):
                d.p.send_signal(signal.SIGSTOP)
                subprocess.run([prog("forkstorm"), "1750", "4", "/bin/true"], check=False)
                d.p.send_signal(signal.SIGCONT)
                subprocess.run([prog("forkstorm"), "750", "4", "/bin/true"], check=False)
                d.do("flush")
            s, memory = d.status(), high_water(d.p.pid)
            note({k: s[k] for k in ("samples", "unknown_samples", "lost_records", "left_out_mappings", "cpu_seconds")})
            note("at most %d KiB resident" % (memory / 1024))
            # Each of 7,000 is at least a fork, an exec's name, four mappings of 100 bytes each and an end.
            if os.cpu_count() <= 4:
                likely(s["lost_records"] > 0, "no ring was full: %s" % s)
            check(first < MOST_MEMORY and memory < MOST_MEMORY, "%d at the start, %d in all" % (first, memory))
    sums()
    p = Prof()
    enough(p.n(image="crowd"), 100, "samples of the crowd")


def reloaded():
    """SIGHUP: other events, in a log of their own, and labels that stay; a bad file changes nothing."""
    with open("conf", "w", encoding="utf-8") as f:
        f.write("event cpu-clock\ncount 1000003\n")
    with Daemon("--config", "conf") as d:
        job = subprocess.Popen([DWELL, "ctl", "--db", "db", "label", "job", "--", prog("burn"), "600"])
        time.sleep(0.8)
        with open("conf", "w", encoding="utf-8") as f:
            f.write("# now by task\nevent task-clock\ncount 1500007\n")
        log = [f for f in pinned() if f.endswith("/cpus")]
        d.p.send_signal(signal.SIGHUP)
        wait_for(lambda: "read the configuration again" in d.said(), "the configuration to be read again", 60)
        check([f for f in pinned() if f.endswith("/cpus")] != log and len(log) == 1, "the log is still %s" % log)
        time.sleep(0.8)
        with open("conf", "w", encoding="utf-8") as f:
            f.write("frequent 5\n")
        d.p.send_signal(signal.SIGHUP)
        wait_for(lambda: "nothing was changed" in d.said(), "a complaint", 60)
        job.kill()
        job.wait()
    sums()
    for event, period in ("cpu-clock", 1000003), ("task-clock", 1500007):
        p = Prof("-label", "job", event=event)
        enough(p.n(image="burn", procedure="burn_here"), 10, "samples of %s: %s" % (event, p.images()))
        (e,) = [e for m in recordings() for e in m["events"] if e["name"] == event]
        check(e["period"] == period, str(e))


def labels_outlive_it():
    """A labelled process has its label in the dead time and with the next daemon; so has what it starts meanwhile."""
    script = "%s 600 & while [ ! -e dead ]; do sleep 0.1; done; %s 600" % (prog("burn"), prog("shares"))
    d = Daemon(*RATE, "--log-slots", 65536, "--epoch", 0)
    job = subprocess.Popen([DWELL, "ctl", "--db", "db", "label", "job", "--", "sh", "-c", script], start_new_session=True)
    try:
        with running(prog("burn_rebuilt"), 60):
            time.sleep(1)
            d.kill()
            with open("dead", "w", encoding="ascii"):
                pass
            time.sleep(1)
            with Daemon(*RATE, "--epoch", 0) as d:
                check(any(f.endswith("/labels") for f in pinned()), str(pinned()))
                d.do("epoch")
                time.sleep(longer(1))
                d.do("flush")
    finally:
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
    first, *_, last = sorted(os.listdir("db/epochs"))
    for epoch in first, last:
        p = Prof("-label", "job", "-epoch", epoch)
        for name in "burn", "shares":
            enough(p.n(image=name), 1, "samples of %s with the label in epoch %s: %s" % (name, epoch, p.images()))
            check(Prof("-epoch", epoch).n(image=name) == p.n(image=name), "samples of %s without its label in %s" % (name, epoch))
        check(p.n(image="burn_rebuilt") == 0, "a label of another's")
    sums()


def callers_outlive_it():
    """Samples of the dead time have the callers they had: paths that were known before, and new ones; what has none says why."""
    def callers_of(what, db):
        p = dwell("prof", "--json", "--callers", what, "--db", db)
        rows = json.loads(p.stdout)["rows"] if p.returncode == 0 else []
        return {r["procedure"] or r["image"]: sum(r["counts"].values()) for r in rows}
    for name, slots in ("held", 65536), ("spilled", 64):
        with running(prog("burn"), 60):
            d = Daemon(*RATE, "-g", "--log-slots", slots, "--journal", "0.2", "--epoch", 0, db=name)
            wait_for(lambda: callers_of("burn_here", name).get("main"), "a table for burn", 60)
            time.sleep(0.5)  # the path is sent
            d.do("epoch")  # all samples before that are in another one
            d.kill()
            with running(prog("burn_rebuilt"), 60):  # its file was never seen by the dead daemon
                time.sleep(longer(1.5))
                frozen()
                with Daemon(*RATE, "-g", db=name) as d:
                    note(d.said())
        callers = {}
        for what in "burn_here", "burn_rebuilt_here":
            callers[what] = callers_of(what, name)
            note("%s: %s" % (name, callers[what]))
            check(not callers[what].get("[root]"), "%s without a caller and without a reason: %s" % (what, callers[what]))
        total = sum(callers["burn_here"].values())
        enough(total, 100, "samples of burn_here")
        if name == "held":
            # Its path was sent a second before, and the ring holds thousands.
            likely(not callers["burn_here"].get("[truncated: chain lost]"), "lost: %s" % callers["burn_here"])
            least(callers["burn_here"].get("main", 0), total, 0.5, "samples of burn_here called by main")
        else:
            least(callers["burn_here"].get("[truncated: log full]", 0), total, 0.5, "samples that say that the log was full")
        sums(name)


def time_goes_on_without_it():
    """Events that count on in the dead time have that time; those that need their recorder say that they were not recorded."""
    tracepoint = os.path.exists("/sys/kernel/tracing/events/sched/sched_switch/id")
    d = Daemon("-e", "cpu-clock:1000003", *(["-e", "sched:sched_switch:1000"] if tracepoint else []), "--journal", "0.2", "--epoch", 0)
    time.sleep(1)
    d.do("flush")
    before = time.monotonic()
    d.kill()
    time.sleep(2)
    dead = time.monotonic() - before
    with Daemon(*RATE, "--epoch", 0) as d:
        gap, unrecorded = (d.status()[key] for key in ("unattended_seconds", "unrecorded_seconds"))
        note("%.2f s dead, %.2f s without a daemon" % (dead, gap))
        check(gap >= dead, "%.2f s dead, %.2f s told" % (dead, gap))
        said = d.said()
    check(("sched:sched_switch was not recorded for the last" in said) == tracepoint and "cpu-clock was not" not in said, said)
    check(unrecorded == (gap if tracepoint else 0), "%.2f s" % unrecorded)
    whole = {e["name"]: e for m in recordings() for e in m["events"] if e["period"] in (1000003, 1000)}
    for name, e in whole.items():
        note("%s: %.2f s enabled, %.2f s running" % (name, e["enabled_ns"] / 1e9, e["running_ns"] / 1e9))
        missing = e["enabled_ns"] - e["running_ns"]
        if name == "cpu-clock":
            check(missing < dead * 1e9, "cpu-clock did not count for %.2f s" % (missing / 1e9))
        else:
            check(missing >= dead * 1e9, "%s: %.2f s of %.2f s are not missing" % (name, missing / 1e9, dead))
    sums()


def start_and_length_have_the_dead_time():
    """A daemon is killed before it stored anything: its recording still says when it began and how long was sampled, though nobody lived for most of it."""
    d = Daemon(*RATE, "--journal", "1h", "--flush", "1h", "--epoch", 0)
    killed = time.time()
    d.kill()
    time.sleep(3)
    with Daemon(*RATE, "--epoch", 0):
        pass
    (row,) = json.loads(sh(DWELL, "epochs", "--json", "db"))["rows"]
    starts = [s["start_wall_ns"] for m in recordings() for s in m["segments"]]
    note("%s; started %.2f s before the death" % (row, killed - min(starts) / 1e9))
    check(min(starts) / 1e9 <= killed, "it starts %.2f s after the death" % (min(starts) / 1e9 - killed))
    check(row["seconds"] >= 3, str(row))


def rare_callers_are_pruned():
    """Callers that not all samples have are rare here: they are gone when their epoch ends, and no sample is."""
    with Daemon(*RATE, "-g", "--prune", 100, "--flush", "1h", "--epoch", 0) as d:
        with running(prog("burn"), 20):
            time.sleep(2)
            d.do("flush")
            check(d.status()["pruned_samples"] == 0, "pruned before anything is merged")
            d.do("epoch")
    sums()
    first = recordings()[0]
    pruned = sum(e.get("pruned", 0) for e in first["events"])
    epoch = sorted(os.listdir("db/epochs"))[0]
    tree = json.loads(sh(DWELL, "tree", "--json", "--depth", "2", "--percent-limit", "0", "--no-inline", "--by", "address", "--db", "db",
                         "--epoch", epoch))
    samples = lambda r, which: sum(r[which].values())
    note("%d samples pruned; %s" % (pruned, tree.get("pruned")))
    enough(pruned, 100, "samples pruned")
    check(sum(tree["pruned"].values()) <= pruned, "readers count more than the MANIFEST, which has idle time too: %s" % tree["pruned"])
    for r in tree["rows"]:
        if r["depth"] == 0 and r["kind"] != "mark":
            check(samples(r, "inclusive") == samples(r, "exclusive"), "callers that are left: %s" % r)
    callers = json.loads(sh(DWELL, "prof", "--json", "--callers", "burn_here", "--db", "db", "--epoch", epoch))["rows"]
    check(all((r["procedure"] or r["image"]).startswith(("[pruned]", "[root]", "[truncated")) for r in callers), str(callers))


def slots_take_turns():
    with Daemon("--slot", "cpu-clock:1000003+page-faults:1", "--slot", "task-clock:1000003", "--mux", "0.1") as d:
        with running(prog("burn"), 20):
            time.sleep(longer(3))
    sums()
    (m,) = recordings()
    duty = {e["name"]: e["running_ns"] / e["enabled_ns"] for e in m["events"]}
    note(duty)
    likely(abs(duty["cpu-clock"] - duty["page-faults"]) < 0.05, "events of one slot do not count together: %s" % duty)
    for name in "cpu-clock", "task-clock":
        likely(0.1 < duty[name] < 0.9, "%s counts %.2f of the time" % (name, duty[name]))
        enough(Prof(event=name).n(image="burn"), 20, "samples of " + name)
    likely(sum(duty[n] for n in ("cpu-clock", "task-clock")) < 1.05, "more than all of the time: %s" % duty)


def in_step_with_a_loop():
    """A loop as long as the sampling period: with a fixed one each sample is at the same point of it."""
    def share(db):
        p = Prof("-epoch", "all", db=db)
        a, b = (sum(r["counts"].get(p.event, 0) for r in p.rows if r["procedure"] == name) for name in ("first_half", "second_half"))
        note("%s: %d in the first half, %d in the second" % (db, a, b))
        if a + b < 40:
            raise Skipped("the machine is too busy: %d samples" % (a + b))
        return a / (a + b)

    every = 10000000
    with running(prog("instep"), 12, every):
        p = dwell("record", "-a", "-e", "cpu-clock", "-c", every, "-d", "4", "--db", "fixed")
        check(p.returncode == 0, p.stderr)
        with Daemon("-e", "cpu-clock", "-c", every, "--journal", "0.2", db="varied"):
            time.sleep(6)
    share("fixed")  # all in one half, where the machine's timers are exact; nothing to rely on
    got = share("varied")
    likely(0.2 < got < 0.8, "%.2f of the samples are in the first half" % got)


def call_paths():
    """Recorded unless told otherwise or not possible, which is said once; little memory is enough for them."""
    def callers(db):
        p = dwell("prof", "--json", "--db", db, "--callers", "burn_here", "--no-flush")
        return [r["procedure"] for r in json.loads(p.stdout)["rows"]] if p.returncode == 0 else []
    with Daemon(*RATE) as d, running(prog("burn"), 60):
        def there():
            d.do("flush")
            return "main" in callers("db")
        wait_for(there, "main to be who calls burn_here: %s" % callers("db"), 60)
        check(d.status()["call_paths"] == 1, str(d.status()))
        with open("/proc/%d/status" % d.p.pid, encoding="ascii") as f:
            peak = int(re.search(r"VmHWM:\s*(\d+) kB", f.read()).group(1)) * 1024
        note("%.1f MB of memory at most" % (peak / 1e6))
        check(peak < 60e6, "%d bytes of memory" % peak)
    sums()
    with Daemon(*RATE, "--call-graph", "none", db="flat") as d, running(prog("burn"), 60):
        time.sleep(0.7)
        check(d.status()["call_paths"] == 0, str(d.status()))
    check(Prof(db="flat").n(image="burn", procedure="burn_here") > 0 and "main" not in callers("flat"), str(callers("flat")))
    with open("conf", "w", encoding="utf-8") as f:
        f.write("event cpu-clock\nengine ring\n")
    with Daemon("--config", "conf", db="ring") as d:
        d.p.send_signal(signal.SIGHUP)
        wait_for(lambda: "read the configuration again" in d.said(), "the reload", 60)
        check(d.status()["call_paths"] == 0, str(d.status()))
    check(d.said().count("call paths are not recorded: the engine is not bpf") == 1, d.said())


def too_dear():
    """More than --max-cpu: it samples more rarely, and says so."""
    with Daemon("-e", "cpu-clock", "-F", 5000, "--max-cpu", "0.1") as d:
        with running(prog("burn"), 60):
            wait_for(lambda: "as rarely as asked for" in d.said(), "a word", 100)
        d.do("flush")
        s = d.status()
        check(len(s["events"]) == 2 and s["events"][1]["period"] > 2 * s["events"][0]["period"], str(s["events"]))
    sums()


def what_is_not_wanted():
    """Exclusions are counted, -bypid keeps processes apart, and a DCPI tree says the same as the database."""
    with running(prog("burn"), 20) as burn, running(prog("shares"), 20) as shares, running(prog("prog_a"), 20):
        with open("exclusions", "w", encoding="utf-8") as f:
            f.write("# not these\nprog_a\nPID %d # nor this one\n" % shares.pid)
        with Daemon(*RATE, "--exclude", "exclusions", "-bypid", "burn", "--dcpi", "tree") as d:
            time.sleep(1.5)
            d.do("flush")
            losses = {k: n for e in d.status()["events"] for k, n in e["losses"].items()}
    check(losses.get("excluded", 0) > 0, str(losses))
    p = Prof()
    check(p.n(image="burn") > 0 and p.n(image="prog_a") == 0, str(p.images()))
    check(p.n(image="shares") == 0, "samples of the process that was excluded: %s" % p.images())
    check(Prof("-pid", burn.pid).n(image="burn") == p.n(image="burn"), "burn's process is not kept apart")
    reached, stored, lost = sums()
    check(lost >= losses["excluded"], "%d lost" % lost)
    tree = json.loads(sh(DWELL, "prof", "--json", "--db", "tree", "-epoch", "all", "--by", "image"))["rows"]
    n = sum(sum(r["counts"].values()) for r in tree)
    check(n == stored, "%d samples in the DCPI tree, %d in the database" % (n, stored))


def one_that_is_gone():
    d = Daemon(*RATE)
    time.sleep(0.5)
    d.do("flush")
    d.kill()
    p = dwell("ctl", "--db", "db", "status")
    check(p.returncode == 2 and "no daemon of this host records there" in p.stderr, p.stderr)
    for words in ("flush",), ("quit",), ("label", "x", "--", "true"):
        check(dwell("ctl", "--db", "db", *words).returncode == 2, str(words))
    out = sh(DWELL, "ctl", "--db", "db", "clean")
    # It also names what other tests' databases left that are gone by now.
    check(re.search(r"^removed the log of a dead daemon, with up to \d+ samples", out, re.M), out)
    check(pinned() == [], "left: %s" % pinned())
    out = sh(DWELL, "ctl", "--db", "db", "clean")
    check(out.endswith("no dead daemon left anything\n") and "removed the log" not in out, out)
    with Daemon(*RATE, "--no-pin") as d:
        s = d.status()
        check(s["taken_over_samples"] == 0 and pinned() == [], "taken over")
        check("was interrupted: nothing was recorded for" in d.said() and s["unrecorded_seconds"] > 0, d.said())
    d = Daemon(*RATE)
    time.sleep(0.3)
    d.kill()
    with Daemon(*RATE, "--no-pin") as d:
        check(d.status()["taken_over_samples"] > 0 and pinned() == [], "a daemon that pins nothing does not take over")
    with Daemon(*RATE) as d:
        p = d.ctl("clean")
        check(p.returncode == 2 and "its daemon lives" in p.stderr and pinned(), p.stderr)
    sums()


def no_room_left():
    """A full disk: what is stored stays, sampling goes on, and all of it is stored when there is room."""
    with mounted("-t", "tmpfs", "-o", "size=64m", "none", at="small"):
        with Daemon(*RATE, "--journal", "0.1", "--flush", "0.3", db="small/db") as d, running(prog("burn"), 60):
            time.sleep(0.7)
            d.do("flush")
            was = in_segments("small/db")
            with open("small/filler", "wb") as f:
                try:
                    while True:
                        f.write(b"x" * 65536)
                        f.flush()
                except OSError:
                    pass
            wait_for(lambda: "cannot store" in d.said(), "a complaint", 60)
            # Besides what MANIFESTs tell there may be a journal, of which no segment can be made now.
            stored = in_segments("small/db")
            n = sum(sum(r["counts"].values()) for r in rows_of_all("small/db"))
            check(n >= stored >= was, "%d in rows, %d in MANIFESTs, %d were stored" % (n, stored, was))
            p = d.ctl("flush")
            check(p.returncode == 2 and "No space left" in p.stderr, p.stderr)
            check("No space left" in d.status()["problem"], str(d.status()))
            time.sleep(2.5)
            os.unlink("small/filler")
            wait_for(lambda: "storing again" in d.said(), "it to store again", 60)
            d.do("flush")
            check(d.status()["problem"] == "" and in_segments("small/db") > was, "nothing more is stored")
            check(d.said().count("cannot store") == 1 and d.said().count("storing again") == 1, d.said())
        sums("small/db")


def read_only_for_a_while():
    with mounted("-t", "tmpfs", "none", at="ro"):
        with Daemon(*RATE, "--journal", "0.1", "--flush", "0.3", db="ro/db") as d:
            time.sleep(0.5)
            d.kill()
        sh("mount", "-o", "remount,ro", "ro")
        p = subprocess.run([DWELL, "daemon", *map(str, RATE), "ro/db"], capture_output=True, text=True, timeout=60, check=False)
        check(p.returncode == 2 and "Read-only file system" in p.stderr, p.stderr)
        # Besides what MANIFESTs tell there is the journal, of which nobody can make a segment now.
        stored = in_segments("ro/db")
        n = Prof("-epoch", "all", db="ro/db").n()
        check(n > 0 and n >= stored, "%d in rows, %d in MANIFESTs" % (n, stored))
        sh("mount", "-o", "remount,rw", "ro")
        with Daemon(*RATE, db="ro/db") as d:
            check(d.status()["taken_over_samples"] > 0, d.said())
        sums("ro/db")


def a_small_disk_is_for_samples():
    """What can be made again, unwind tables and names, leaves the last bytes to samples."""
    with mounted("-t", "tmpfs", "-o", "size=1m", "none", at="small"):
        with Daemon(*RATE, "-g", "--journal", "0.1", "--flush", "0.5", db="small/db") as d, running(prog("burn"), 60):
            time.sleep(2)
            for _ in range(3):
                d.do("flush")
            kept = [f for _, _, files in os.walk("small/db/tables") for f in files]
            kept += [f for _, _, files in os.walk("small/db/images") for f in files]
            check(not kept, "kept: %s" % kept)
            check("cannot store" not in d.said() and d.said().count("are free") == 1, d.said())
        sums("small/db")


def the_clock_set_back():
    """Epochs of the future: the next one comes after them all the same."""
    with Daemon(*RATE) as d:
        d.do("epoch")
    epochs = os.path.join("db", "epochs")
    last = sorted(os.listdir(epochs))[-1]
    os.rename(os.path.join(epochs, last), os.path.join(epochs, "2" + "9" * 3 + last[4:]))
    with Daemon(*RATE) as d:
        check(d.status()["epoch"] > "2999", d.status()["epoch"])
        d.do("epoch")
    sums()


def somebody_elses_database():
    os.mkdir("theirs")
    os.chown("theirs", 65534, 65534)
    p = subprocess.run([DWELL, "daemon", *map(str, RATE), "theirs"], capture_output=True, text=True, timeout=60, check=False)
    check(p.returncode == 2 and "belongs to user 65534" in p.stderr and os.listdir("theirs") == [], p.stderr)


def only_so_many_rights():
    with Daemon(*RATE, "--group", "65534") as d:
        os.chmod(".", 0o755)
        user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        for words, allowed in (("status", True), ("flush", True), ("metrics", True), ("epoch", False), ("quit", False)):
            p = dwell("ctl", "--db", "db", words, prefix=user)
            check((p.returncode == 0) == allowed, "%s: %s" % (words, p.stderr))
            check(allowed or "is for root and the daemon's user" in p.stderr, p.stderr)
        n = d.status()["samples"]
        time.sleep(0.1)
        p = dwell("prof", "--db", "db", prefix=user)
        check(p.returncode == 0, "a reader of another user: " + p.stderr)
        likely(p.stderr == "", "a reader of another user: " + p.stderr)
        check(d.status()["samples"] > n, "nothing was stored for a reader of another user")
        check(d.p.poll() is None, "it ended")


def hostile_messages():
    import socket
    with Daemon(*RATE) as d:
        path = [os.path.join("db", f) for f in os.listdir("db") if f.startswith("control.")][0]
        idle = []
        for message in b"", b"\0" * 100, b"x" * 100000, b"flush", b"status json json\n", b"label " + b"y" * 400 + b"\n", \
                b"\xff\xfe\n", b"\n" * 1000, b"quit\0\n":
            s = socket.socket(socket.AF_UNIX)
            s.connect(path)
            try:
                s.sendall(message)
                if b"\n" in message or len(message) > 600:
                    s.settimeout(10)
                    answer = s.recv(4096)
                    check(answer.startswith(b"error "), "%r: %r" % (message[:20], answer))
            except (BrokenPipeError, ConnectionResetError):
                pass
            idle.append(s)
        for _ in range(40):  # more than it serves at a time, none of which says anything
            s = socket.socket(socket.AF_UNIX)
            try:
                s.connect(path)
            except OSError:
                break
            idle.append(s)
        for s in idle:
            s.close()
        wait_for(lambda: d.ctl("status").returncode == 0, "an answer after all that", 60)


# Connects as often as it is let, says nothing, and tells when it has.
CROWDING = """
import os, socket, sys, time
os.setgroups([]); os.setgid(65534); os.setuid(65534)
there = []
for _ in range(60):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    there.append(s)
print("there", flush=True)
time.sleep(600)
"""


def slots_are_kept():
    """Others connect as often as they like: root and members of the database's group are answered at once."""
    with Daemon(*RATE) as d:
        os.chmod(".", 0o755)
        os.chown("db", 0, 12345)
        os.chmod("db", 0o755)
        path = [os.path.join("db", f) for f in os.listdir("db") if f.startswith("control.")][0]
        with subprocess.Popen([sys.executable, "-c", CROWDING, path], stdout=subprocess.PIPE, text=True) as p:
            check(p.stdout.readline() == "there\n", "nobody connects")
            member = ["setpriv", "--reuid", "65534", "--regid", "65534", "--groups", "12345"]
            for who, prefix in ("root", ()), ("a member of its group", member):
                for _ in range(3):
                    q = dwell("ctl", "--db", "db", "status", prefix=prefix)
                    check(q.returncode == 0, "%s is not answered: %s" % (who, q.stderr))
            q = dwell("ctl", "--db", "db", "status", prefix=["setpriv", "--reuid", "65533", "--regid", "65533", "--clear-groups"])
            check(q.returncode == 2 and "too many ask at once" in q.stderr, "%d: %s" % (q.returncode, q.stderr))
            p.kill()


def its_database_removed():
    """It says so, lets go of its log and ends with 1; one that was moved is gone on with where it is."""
    d = Daemon(*RATE)
    while os.path.exists("db"):
        shutil.rmtree("db", ignore_errors=True)  # the daemon may write meanwhile
    check(d.p.wait(60) == 1, "exit %s: %s" % (d.p.returncode, d.said()))
    check(d.said().count("db was removed: nothing is recorded any more") == 1, d.said())
    check(pinned() == [], "left: %s" % pinned())
    d = Daemon(*RATE)
    d.do("flush")
    os.rename("db", "moved")
    check(d.p.wait(60) == 1 and "db was moved" in d.said() and not os.path.exists("db"), "exit %s: %s" % (d.p.returncode, d.said()))
    check(pinned(), "its log does not go on")
    with Daemon(*RATE, db="moved") as d:
        check(d.status()["taken_over_samples"] > 0, d.said())
    sums("moved")


def pins_below_a_removed_directory():
    """The directory above the database is gone, too: the command that is told removes the log all the same."""
    os.mkdir("other")  # before the database goes: its inode could be taken for the other's
    os.mkdir("above")
    d = Daemon(*RATE, db="above/db")
    where = os.path.abspath("above/db")
    d.kill()
    shutil.rmtree("above")
    out = sh(DWELL, "ctl", "--db", "other", "clean")
    check("--db %s clean" % where in out and pinned(), out)
    out = sh(DWELL, "ctl", "--db", where, "clean")
    check("removed the log of a dead daemon" in out, out)
    check(where not in sh(DWELL, "ctl", "--db", "other", "clean"), "still there")


def pins_of_removed_databases():
    """A daemon was killed and its database removed: clean tells of its log and removes it."""
    os.mkdir("other")  # before db goes: its inode could be taken for the other's
    d = Daemon(*RATE)
    d.kill()
    where = os.path.realpath("db")
    shutil.rmtree("db")
    out = sh(DWELL, "ctl", "--db", "other", "clean")
    check("%s is not there any more" % where in out and "--db %s clean" % where in out and pinned(), out)
    p = dwell("ctl", "--db", "never", "clean")
    check(p.returncode == 2 and "no such database" in p.stderr and pinned(), p.stderr)
    out = sh(DWELL, "ctl", "--db", "db", "clean")
    check("removed the log of a dead daemon" in out and pinned() == [], out)
    check(os.listdir(BPFFS + "/dwell") == [], "left: %s" % os.listdir(BPFFS + "/dwell"))


def same_number(ino):
    """A new directory that has the inode number INO."""
    for i in range(200):
        os.mkdir("other%d" % i)
        if os.stat("other%d" % i).st_ino == ino:
            return "other%d" % i
    raise Skipped("the file system does not use inode numbers again")


def another_database_has_its_number():
    """The log of a removed database is not taken for that of a new one with the same inode."""
    d = Daemon(*RATE)
    d.kill()
    ino = os.stat("db").st_ino
    os.mkdir("elsewhere")
    shutil.rmtree("db")
    other = same_number(ino)
    out = sh(DWELL, "ctl", "--db", other, "clean")
    check("is not there any more" in out and pinned(), "taken for its own: " + out)
    before = pinned()
    with Daemon(*RATE, db=other) as d:
        check("taken over" not in d.said(), d.said())
        check(not set(before) & set(pinned()), "the old log goes on: %s, %s" % (before, pinned()))


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


in_own_namespace()
run(*map(alone, [told_what_to_do, readers_see_it_up_to_now, what_is_old_goes, two_daemons, signals_end_it_well, killed_at_random, minutes_outlive_it, without_a_drain_it_counts_on, dead_for_an_hour,
                more_places_than_there_is_room_for, a_crowd, reloaded, labels_outlive_it, callers_outlive_it, rare_callers_are_pruned, start_and_length_have_the_dead_time, time_goes_on_without_it, slots_take_turns,
                in_step_with_a_loop, too_dear, what_is_not_wanted, call_paths, one_that_is_gone,
    no_room_left, a_small_disk_is_for_samples, read_only_for_a_while, the_clock_set_back,
                somebody_elses_database, only_so_many_rights, hostile_messages, slots_are_kept, its_database_removed, pins_of_removed_databases, pins_below_a_removed_directory,
                another_database_has_its_number]))
