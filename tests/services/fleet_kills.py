# SPDX-License-Identifier: BSD-2-Clause
"""The daemon, what ships its database and the server are killed at random moments while the machine is recorded: in the
end the server has what the database has, each sample once.  KILLS_SECONDS says for how long (20)."""
import random
import re

from clickhouse import *

SECONDS = float(os.environ.get("KILLS_SECONDS", 20))


class Part:
    """A program that is killed with -9 and started again."""

    def __init__(self, start):
        self.start, self.n_kills, self.n_ends, self.process = start, 0, 0, start()

    def step(self, kills):
        if self.process.poll() is None and kills:
            self.process.kill()
            self.n_kills += 1
        if self.process.poll() is not None or kills:
            self.process.wait()
            self.n_ends += 1
            self.process = self.start()


def daemon():
    return subprocess.Popen([DWELL, "daemon", "-g", "-F", "97", "--flush", "2s", "--journal", "1s", "db"],
                            stdout=subprocess.DEVNULL, stderr=open("daemon.log", "a"))


def flush():
    return dwell("ctl", "--db", "db", "flush").returncode == 0


def samples(db):
    p = dwell("prof", "--json", "--epoch", "all", "--db", db)
    check(p.returncode == 0, p.stderr)
    return {e["name"]: e["samples"] for e in json.loads(p.stdout)["events"]}


def rows(db):
    """By what names do not change when they become known; a file of which two paths are known is one image, with either's."""
    p = dwell("prof", "--json", "--by", "comm,image", "--epoch", "all", "--db", db)
    check(p.returncode == 0, p.stderr)
    return [(str(r["comm"]), str(r.get("build_id") or r["image"]), r["counts"]) for r in json.loads(p.stdout)["rows"]]


def nameless():
    """Programs that were gone before a daemon lived long enough to keep their symbols.  A shipper may have read these while it could, and then only
    the server knows which samples are the garbage collection's, which is an image of its own."""
    return {comm for comm, image, _ in rows("db") if re.fullmatch("[0-9a-f]{32,}", image) and not os.path.isdir("db/images/" + image)}


def without_phases(found, comms):
    """Rows FOUND, those of programs COMMS added up."""
    sums = {}
    for comm, image, counts in found:
        of = sums.setdefault((comm, "" if comm in comms else image), {})
        for event, n in counts.items():
            of[event] = of.get(event, 0) + n
    return sorted((*k, json.dumps(v, sort_keys=True)) for k, v in sums.items())


def killed_at_random():
    """Sums are exact whatever died when."""
    s = Server()
    login = os.environ["DWELL_LOGIN"]
    ship = [DWELL, "ship", "--create", "--db", "db", "--state", "state", "--login", login, "--to", s.url]
    d = Part(daemon)
    wait_for(flush, "the daemon")
    check(dwell(*ship[1:]).returncode == 0, "a first pass")
    shipping = Part(lambda: subprocess.Popen(ship, stdout=subprocess.DEVNULL, stderr=open("ship.log", "a")))
    n_server, end = 0, time.monotonic() + SECONDS
    with running("sh", "-c", "while :; do sleep 0.01; : $((i += 1)); done"):
        while time.monotonic() < end:
            time.sleep(random.uniform(0.05, 1.2))
            who = random.random()
            shipping.step(who < 0.5)
            d.step(0.5 <= who < 0.65)
            if who >= 0.9:
                s.kill()
                time.sleep(random.uniform(0, 0.5))
                s.start()
                n_server += 1
    shipping.process.kill()
    shipping.process.wait()
    wait_for(flush, "the last daemon")
    d.process.send_signal(signal.SIGTERM)
    check(d.process.wait(120) == 0, open("daemon.log").read()[-400:])
    said = json.loads(sh(*ship, "--again", "--json"))
    visible = s.visible()
    mine, theirs = samples("db"), samples(s.db)
    note("killed: daemon %d, ship %d of %d, server %d; %d samples in %d batches, %d batches sent in vain" % (
        d.n_kills, shipping.n_kills, shipping.n_ends, n_server, visible, int(s.ask("SELECT uniqExact(batch) FROM batches WHERE batch > 0")),
        int(s.ask("SELECT uniqExact(batch) FROM counts WHERE batch NOT IN (SELECT batch FROM batches)"))))
    check(mine == theirs and sum(mine.values()) == visible, "samples here %s, there %s, visible %d (%s)" % (mine, theirs, visible, said))
    gone = nameless()
    note("%d programs are without names here" % len(gone))
    left, right = (without_phases(rows(db), gone) for db in ("db", s.db))
    check(left == right, "rows: %s" % [x for x in left if x not in right][:3] + str([x for x in right if x not in left][:3]))
    s.kill()
    dwell("ctl", "--db", "db", "clean")


run(killed_at_random)
