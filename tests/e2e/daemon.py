# SPDX-License-Identifier: BSD-2-Clause
"""The daemon: what it is told, what it records, and what it takes of the machine."""
from pinned_daemon import *


def told_what_to_do():
    with Daemon(*RATE, "--flush", "1h", "--epoch", 0) as d:
        with burning():
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
    with Daemon(*RATE, "--flush", "1h", "--journal", "1h", "--epoch", 0) as d, burning():
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
        job = subprocess.Popen([DWELL, "ctl", "--db", "db", "label", "job", "--", prog("burn"), "600", "0.25"])
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


def slots_take_turns():
    with Daemon("--slot", "cpu-clock:1000003+page-faults:1", "--slot", "task-clock:1000003", "--mux", "0.1") as d:
        with burning():
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
    """A loop as long as the sampling period: with a fixed one, where timers are exact, all samples are at one point of it."""
    every = 10000000
    with running(prog("instep"), 60, every), Daemon("-e", "cpu-clock", "-c", every, "--journal", "0.2"):
        time.sleep(longer(3))
    p = Prof("-epoch", "all")
    a, b = (sum(r["counts"].get(p.event, 0) for r in p.rows if r["procedure"] == name) for name in ("first_half", "second_half"))
    note("%d in the first half, %d in the second" % (a, b))
    enough(a + b, 40, "samples of the loop")
    likely(0.2 < a / (a + b) < 0.8, "%.2f of the samples are in the first half" % (a / (a + b)))


def call_paths():
    """Recorded unless told otherwise or not possible, which is said once; little memory is enough for them."""
    def callers(db):
        p = dwell("prof", "--json", "--db", db, "--callers", "burn_here", "--no-flush")
        return [r["procedure"] for r in json.loads(p.stdout)["rows"]] if p.returncode == 0 else []
    with Daemon(*RATE) as d, burning():
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
    with Daemon(*RATE, "--call-graph", "none", db="flat") as d, burning():
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
    with burning() as burn, burning("burn_rebuilt") as other, burning("prog_a"):
        with open("exclusions", "w", encoding="utf-8") as f:
            f.write("# not these\nprog_a\nPID %d # nor this one\n" % other.pid)
        with Daemon(*RATE, "--exclude", "exclusions", "-bypid", "burn", "--dcpi", "tree") as d:
            time.sleep(1.5)
            d.do("flush")
            losses = {k: n for e in d.status()["events"] for k, n in e["losses"].items()}
    check(losses.get("excluded", 0) > 0, str(losses))
    p = Prof()
    check(p.n(image="burn") > 0 and p.n(image="prog_a") == 0, str(p.images()))
    check(p.n(image="burn_rebuilt") == 0, "samples of the process that was excluded: %s" % p.images())
    check(Prof("-pid", burn.pid).n(image="burn") == p.n(image="burn"), "burn's process is not kept apart")
    reached, stored, lost = sums()
    check(lost >= losses["excluded"], "%d lost" % lost)
    tree = json.loads(sh(DWELL, "prof", "--json", "--db", "tree", "-epoch", "all", "--by", "image"))["rows"]
    n = sum(sum(r["counts"].values()) for r in tree)
    check(n == stored, "%d samples in the DCPI tree, %d in the database" % (n, stored))


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


in_own_namespace()
run(*map(alone, [told_what_to_do, readers_see_it_up_to_now, two_daemons, signals_end_it_well,
                 a_crowd, reloaded, slots_take_turns, in_step_with_a_loop, too_dear,
                 what_is_not_wanted, call_paths, only_so_many_rights, hostile_messages,
                 slots_are_kept]))
