# SPDX-License-Identifier: BSD-2-Clause
"""Every sample is accounted for, however bad it gets."""
from e2e import *

FAST = ["-e", "cpu-clock", "-c", 100003]  # 10 kHz per CPU


def storm():
    return [prog("forkstorm"), longer(600), 2, "/bin/true"]


SOURCE = "".join("int f%d(int a) { return a * %d + (a >> 3); }\n" % (i, i) for i in range(2000))


def totals(a, db="db"):
    """Stored samples are the sum of the rows, the idle row with them; returns the first event."""
    e = a["events"][0]
    p = Prof(db=db)
    check(p.n() == e["samples"], "%d samples in rows, %d stored" % (p.n(), e["samples"]))
    # Interrupts that arrive while a CPU idles are work: the idle row holds the rest of its task.
    check(p.n(kind="idle") == p.json["events"][0]["idle"] <= e["idle"], "%d idle in rows, %d of the idle task" %
          (p.n(kind="idle"), e["idle"]))
    check(p.n(kind="unknown") == e["unknown"], "%d unknown in rows, %d counted" %
          (p.n(kind="unknown"), e["unknown"]))
    check(p.json["events"][0]["lost"] == e["lost"], "prof shows other losses than record")
    check(sum(p.json["losses"].values()) == e["lost"], "a loss without a name: %s" % p.json["losses"])
    busy = e["reached"] - e["idle"]
    note("%(reached)d reached, %(samples)d stored, %(lost)d lost, %(idle)d idle, %(unknown)d unknown, "
         "%(not_delivered)d not delivered" % e)
    note("of busy samples: %.3f %% unknown, %.3f %% not delivered" %
         (100 * e["unknown"] / max(busy, 1), 100 * e["not_delivered"] / max(busy + e["not_delivered"], 1)))
    enough(busy, 1000, "busy samples")
    return e, busy


def storm_and_compiler(engine):
    with open("unit.c", "w") as f:
        f.write(SOURCE)
    script = "%s & cc -O1 -c -o out.o unit.c; wait" % " ".join(map(str, storm()))
    a = record("-a", "--engine", engine, *FAST, "--", "sh", "-c", script)
    e, busy = totals(a)
    most(e["unknown"], busy, 0.005, "unknown")
    return e, busy


def bpf_under_load():
    e, busy = storm_and_compiler("bpf")
    likely(e["lost"] == 0, "lost %s" % e["losses"])


def ring_under_load():
    storm_and_compiler("ring")


def log_far_too_small():
    """A log that holds less than one cycle brings: the spill table counts, and what it cannot hold
    is lost by name."""
    a = record("-a", "--engine", "bpf", "--log-slots", 64, *FAST, "--", *storm())
    e, _ = totals(a)
    likely(e["lost"] > 0, "nothing was lost")
    check(set(e["losses"]) == {"spill_full"}, "losses %s" % e["losses"])


def log_a_little_small():
    """Spilled samples, which bring no process with them, still find their image."""
    with running(prog("burn"), 100):
        a = record("-a", "--engine", "bpf", "--log-slots", 64, *FAST, "-d", longer(1.5))
    e, busy = totals(a)
    p = Prof(prog("burn"))
    n = p.n(image="burn")
    note("%d of %d busy samples in the program" % (n, busy))
    likely(n > 0.05 * busy, "only %d of %d" % (n, busy))
    least(p.n(image="burn", procedure="burn_here"), n, 0.95, "%s" % p.procedures("burn"))


def across_a_flush():
    """Counts go to the database every ten seconds; none is lost or doubled there."""
    with burning(part=0.5), running("sh", "-c", "while :; do /bin/true; sleep 0.005; done"):
        a = record("-a", *FAST, "-d", 11)
    e, busy = totals(a)
    likely(e["lost"] == 0, "lost %s" % e["losses"])
    likely(Prof().n(image="burn", procedure="burn_here") > 0.05 * busy, "the program")


def many_events_at_once():
    """Four clocks on one machine: each account is exact by itself."""
    a = record("-a", "-e", "cpu-clock:1000003+cpu-clock:u:700001+task-clock:900007+context-switches:1", "--",
               prog("forkstorm"), longer(200), 2, "/bin/true")
    check(len(a["events"]) == 4, "%d events" % len(a["events"]))
    for i, e in enumerate(a["events"]):
        enough(e["reached"], 50, "samples of event %d" % i)


run(bpf_under_load, ring_under_load, log_far_too_small, log_a_little_small, across_a_flush,
    many_events_at_once)
