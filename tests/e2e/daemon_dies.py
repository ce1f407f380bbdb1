# SPDX-License-Identifier: BSD-2-Clause
"""The daemon loses nothing, however it dies."""
import random
import re

from pinned_daemon import *


def killed_at_random():
    """kill -9 at random moments, flushes and epochs among them: each sample that reached the log is in one row or one loss."""
    seed = int(os.environ.get("DWELL_SEED", random.randrange(1 << 30)))
    note("DWELL_SEED=%d" % seed)
    rng = random.Random(seed)
    total = 0
    with burning(), running("sh", "-c", "while :; do /bin/true; sleep 0.02; done"):
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
    with burning():
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
OFTEN = ["-e", "cpu-clock", "-c", 25000]  # 40,000 samples a second of each CPU


def dead_for_an_hour():
    """As many samples as come in an hour at the default rate, into a log of the default size: none is lost."""
    want = HOUR * len(os.sched_getaffinity(0))
    d = Daemon(*OFTEN, "--log-slots", 4096, "--flush", "1h", "--epoch", 0)
    d.kill()
    # What the dead one stored: the next one's status knows nothing of it.
    earlier = stored_unknown(RATE[-1])
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
            told = d.status()["unknown_samples"]
            # Without its own samples, which are journaled before they are stored and counted.
            unknown = stored_unknown(RATE[-1]) - earlier
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
    check(told == unknown, "%d samples at unknown addresses, status says %d" % (unknown, told))
    check(memory < most_taking_over(used), "%d bytes resident" % memory)


def more_places_than_there_is_room_for():
    """A full log, then a full spill table: what finds no room is counted under that name, with a daemon that hangs and after its death."""
    with Daemon(*OFTEN, "--log-slots", 64, "--flush", "1h", "--epoch", 0) as d:
        with on_each_cpu(prog("places"), "many", 60):
            d.p.send_signal(signal.SIGSTOP)
            time.sleep(longer(2.5))
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


def labels_outlive_it():
    """A labelled process has its label in the dead time and with the next daemon; so has what it starts meanwhile."""
    script = "%s 600 0.25 & while [ ! -e dead ]; do sleep 0.1; done; %s 600" % (prog("burn"), prog("shares"))
    d = Daemon(*RATE, "--log-slots", 65536, "--epoch", 0)
    job = subprocess.Popen([DWELL, "ctl", "--db", "db", "label", "job", "--", "sh", "-c", script], start_new_session=True)
    try:
        with burning("burn_rebuilt"):
            # It goes on as the command when the daemon has the label.
            wait_for(lambda: open("/proc/%d/comm" % job.pid, encoding="utf-8").read() == "sh\n", "the label", 60)
            time.sleep(longer(0.5))
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
    def callers_of(program, db):
        # Of this test's own program: other tests have programs with the same procedures.
        p = dwell("prof", "--json", "--callers", program + "_here", "--db", db, prog(program))
        rows = json.loads(p.stdout)["rows"] if p.returncode == 0 else []
        return {r["procedure"] or r["image"]: sum(r["counts"].values()) for r in rows}
    def has_a_table(db):
        """Whether samples have callers as they come, and not from a copy of their stack or none."""
        before = callers_of("burn", db)
        time.sleep(0.5)
        now = callers_of("burn", db)
        has = now.get("main", 0) > before.get("main", 0) + 20 and all(n == before.get(why) for why, n in now.items() if why != "main")
        likely(has or time.monotonic() < until, "no table for burn: its callers %s, then %s" % (before, now))
        return has

    for name, slots in ("held", 65536), ("spilled", 64):
        with burning():
            d = Daemon(*RATE, "-g", "--log-slots", slots, "--journal", "0.2", "--epoch", 0, db=name)
            until = time.monotonic() + 60
            wait_for(lambda: has_a_table(name), "a table for burn", 120)
            d.do("epoch")  # all samples before that are in another one
            d.kill()
            with burning("burn_rebuilt"):  # its file was never seen by the dead daemon
                time.sleep(longer(1.5))
                frozen()
                with Daemon(*RATE, "-g", db=name) as d:
                    note(d.said())
        callers = {}
        for what in "burn", "burn_rebuilt":
            callers[what] = callers_of(what, name)
            note("%s: %s" % (name, callers[what]))
            check(not callers[what].get("[root]"), "%s without a caller and without a reason: %s" % (what, callers[what]))
        total = sum(callers["burn"].values())
        enough(total, 100, "samples of burn_here")
        if name == "held":
            # Its path was sent a second before, and the ring holds thousands.
            likely(not callers["burn"].get("[truncated: chain lost]"), "lost: %s" % callers["burn"])
            least(callers["burn"].get("main", 0), total, 0.5, "samples of burn_here called by main")
        else:
            least(callers["burn"].get("[truncated: log full]", 0), total, 0.5, "samples that say that the log was full")
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
        with burning():
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


in_own_namespace()
run(*map(alone, [killed_at_random, minutes_outlive_it, without_a_drain_it_counts_on,
                 dead_for_an_hour, more_places_than_there_is_room_for, labels_outlive_it,
                 callers_outlive_it, rare_callers_are_pruned, start_and_length_have_the_dead_time,
                 time_goes_on_without_it, one_that_is_gone]))
