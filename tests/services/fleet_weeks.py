# SPDX-License-Identifier: BSD-2-Clause
"""Sums of days in a fleet's database: questions about weeks read them, and answer as the values alone would."""
import random
import re

from clickhouse import *


def asked(server, *argv):
    """Runs dwell on SERVER's database; its output and the statements that the server was sent."""
    said = []
    p = Proxy(server, lambda path, body: said.append(body.decode(errors="replace")))
    ran = dwell(*argv, "--db", p.db)
    check(ran.returncode in (0, 1), ran.stderr)
    return ran.stdout, [s for s in said if "FROM" in s]


def reads(statements, table):
    return sum(" FROM %s WHERE" % table in s and "batches" not in s.split(" FROM %s WHERE" % table)[0] for s in statements)


TIMES = (["--epoch", "all"], ["--since", "2021-01-02", "--until", "2021-01-03 23:59:59"], ["--since", "2021-01-01 11:30"], ["--until", "2021-01-03 05:30"],
         ["--since", "2021-01-02 22:30", "--until", "2021-01-03 01:30"], ["--epoch", "all", "--host", "web2"], ["--epoch", "all", "comm=server"])


def same(s, what):
    """All questions have the answers of the database."""
    for options in TIMES:
        words = [o for o in options if "=" not in o]
        owners = ["--comm" if o.startswith("comm=") else o for o in options if "=" in o] + [o.split("=")[1] for o in options if "=" in o]
        there, here = stacks(s.db, *words, *owners), stacks("db", *words, *owners)
        check(there == here, "%s: %s: there %s, here %s" % (what, options, [x for x in there if x not in here][:3], [x for x in here if x not in there][:3]))
    for by in "image", "procedure", "unit", "container", "comm,image":
        mine, theirs = (json.loads(sh(DWELL, "prof", "--json", "--by", by, "--epoch", "all", "--db", db)) for db in ("db", s.db))
        check(mine["rows"] == theirs["rows"] and mine["events"] == theirs["events"], (what, by, mine, theirs))


def compared(db, by, *sets):
    """Rows of a diff by name, and how many hosts were compared."""
    said = json.loads(sh(DWELL, "diff", "--json", "--all", "--by", by, "--db", db, *sets))
    return {(r["image"], r.get("procedure")): (r["a"], r["b"]) for r in said["rows"]}, said.get("hosts")


def week(first=0, last=72):
    """Epochs of two hosts, each three hours."""
    for n in range(first, last, 3):
        epoch(n, "web1", "- - comm=server cgroup=/system.slice/nginx.service/worker")
        epoch(n + 1, "web2", "- - comm=other cgroup=/docker/%064x" % (n % 2))


def sums_answer_as_values_do():
    """Whole days come from sums, the rest of the time asked for from values; what came later is added, what was merged is taken away."""
    s = Server()
    week()
    check(ship(s, "--create", "--rollup")["days"] == 3, "three days are summed")
    same(s, "all is summed")
    _, said = asked(s, "prof", "--by", "image", "--epoch", "all")
    check(reads(said, "daily") and not reads(said, "counts"), said)
    _, said = asked(s, "prof", "--by", "image", "--since", "2021-01-02 22:30")
    check(reads(said, "daily") and any("t >= toDateTime(" in x for x in said), said)
    _, said = asked(s, "prof", "--by", "host", "--epoch", "all")
    check(reads(said, "daily_hosts") and not reads(said, "counts"), said)
    check(ship(s, "--again", "--rollup")["days"] == 0, "nothing is to be done")
    epoch(71, "late")
    week(73, 100)
    ship(s)
    same(s, "later values")
    # Merged: its samples are in another segment, which begins at another time.
    s.ask("INSERT INTO batches SELECT day, host, epoch, recording, segment, generation, 0, 0, 0, start_ns, end_ns FROM batches WHERE host = 'web1' AND day = '2021-01-01' LIMIT 3")
    left = sum(int(line.rsplit(" ", 1)[1]) for line in stacks(s.db, "--epoch", "all"))
    check(left == s.visible() < n_samples("db", "--epoch", "all"), "what was merged is taken away: %d, %d" % (left, s.visible()))
    check(n_samples(s.db, "--until", "2021-01-01 12:00") == int(s.ask(
        "SELECT sum(n) FROM counts WHERE t <= '2021-01-01 12:00:00' AND batch IN (SELECT min(batch) FROM batches GROUP BY host, epoch, recording, segment)")), "half a day")
    check(ship(s, "--rollup")["days"] >= 3, "sums are made anew, of the sums there are")
    check(n_samples(s.db, "--epoch", "all") == s.visible() == sum(rows(s.db, "host").values()), "of what counts")
    _, said = asked(s, "flame", "-o", "x.svg", "--epoch", "all")
    check(reads(said, "daily") and not reads(said, "counts"), said)
    s.kill()


def sums_that_nobody_finished():
    """Rows without their row in `rollups`, two passes at once, and a pass killed at any moment change no answer."""
    s = Server()
    week()
    ship(s, "--create")
    s.ask("INSERT INTO rolled SELECT day, 7, batch, intDiv(start_ns, 3600000000000) FROM batches")
    s.ask("INSERT INTO daily SELECT day, 7, event_id, owner, ctx, image, svma, vector, n, total FROM counts LIMIT 20")
    same(s, "an unfinished sum")
    both = [subprocess.Popen([DWELL, "ship", "--rollup", "--again", "--db", "db", "--state", "state%d" % i, "--to", s.url], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for i in range(2)]
    check(0 in [p.wait(120) for p in both], "one of two passes at once")
    same(s, "two passes at once")
    check(s.ask("SELECT count() FROM daily WHERE rollup_id = 7") == "0" == s.ask("SELECT count() FROM rolled WHERE rollup_id = 7"), "what nobody finished is dropped")
    # A second roller that the first did not see: its sums overlap, and count once.
    s.ask("INSERT INTO rolled SELECT day, rollup_id + 1, batch, hour FROM rolled WHERE batch % 3 > 0")
    for table, keys in ("daily", "event_id, owner, ctx, image, svma, vector"), ("daily_hosts", "event_id, owner, ctx, image, svma, vector"), ("daily_procedures", "event_id, owner, image, svma, vector"), ("hourly_procedures", "hour, event_id, owner, image, svma, vector"):
        sums = "toUInt64(sum(n)), toUInt64(sum(total))" if table == "daily" else "tupleElement(sumMap([sipHash64(host)], [n], [total]) AS m, 1), tupleElement(m, 2), tupleElement(m, 3)"
        s.ask("INSERT INTO %s SELECT day, rollup_id + 1, %s, %s FROM (SELECT base AS rollup_id, hour, c.* FROM counts AS c "
              "ALL INNER JOIN (SELECT toUInt64(rollup_id - 1) AS base, batch, hour FROM rolled WHERE rollup_id NOT IN (SELECT rollup_id FROM rollups)) AS r USING batch) "
              "GROUP BY day, rollup_id, %s" % (table, keys, sums, keys))
    s.ask("INSERT INTO rollups SELECT any(day), rollup_id, toUInt64(count()), 5 FROM rolled WHERE rollup_id NOT IN (SELECT rollup_id FROM rollups) GROUP BY rollup_id")
    same(s, "sums that overlap")
    n_kills = 0
    for i in range(12):
        week(72 + 3 * i, 75 + 3 * i)
        p = subprocess.Popen([DWELL, "ship", "--rollup", "--again", "--db", "db", "--state", "state", "--to", s.url], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(0.02, 0.9))
        n_kills += p.poll() is None
        (s if i % 4 == 3 else p).kill()
        p.wait(120)
        if s.process.poll() is not None:
            s.start()
        # The server may finish what was asked before its client died, between one question here and the next.
        end = time.monotonic() + 20
        while not n_samples(s.db, "--epoch", "all") == s.visible() == sum(rows(s.db, "host").values()):
            check(time.monotonic() < end, "after kill %d" % i)
            time.sleep(0.2)
    note("%d kills, %s rollups" % (n_kills, s.ask("SELECT count() FROM rollups")))
    ship(s, "--rollup", "--again")
    same(s, "in the end")
    s.kill()


def hosts_are_observations():
    """What differs between two weeks is tested over hosts: one host's burst is no change of the fleet, though its samples are many."""
    s = Server()
    # A and B: each host has 10000 samples in a day; tens of them: of base, of new (more in B, on each host) and of burst (much more in B, on one host).
    shares = [((40, 10), (58, 11)), ((42, 9), (60, 9)), ((38, 11), (61, 10)), ((41, 10), (57, 800)), ((39, 12), (59, 11)), ((40, 8), (62, 8))]
    def day(n, hosts, which, db="db"):
        for i in hosts:
            new, burst = shares[i][which]
            text = f"recording host{i} {1609459200 + n * 86400}\nmeta host{i} {1609459200 + n * 86400} 3600 server\nevent cycles 1000\nowner - - comm=server\n"
            for name, samples in (("base", 1000 - new - burst), ("new", new), ("burst", burst)):
                text += f"image file /usr/bin/{name}\nsample 2000 {10 * samples}\n"
            subprocess.run([MKDB, db], input=text, text=True, check=True)
    day(0, range(6), 0)
    day(7, range(6), 1)
    ship(s, "--create", "--rollup")
    def compared(a, b):
        p = dwell("diff", "--json", "--all", "--by", "image", "--db", s.db, a, b)
        check(p.returncode in (0, 1), p.stderr)
        said = json.loads(p.stdout)
        return said.get("hosts"), {os.path.basename(r["image"]): r["p"] for r in said["rows"]}
    hosts, p = compared("until=20210102", "since=20210105")
    check(hosts == {"test": "paired", "a": 6, "b": 6, "both": 6}, hosts)
    # Student's p of the six differences of "new", by its density integrated: 9.9203e-06; of "burst" 0.36389.  Welch's of three and three: 6.1802e-04, 0.42338.  Holm triples the smallest of three.
    check(abs(p["new"] - 3 * 9.9203e-06) < 1e-3 * 9.9203e-06 and p["burst"] > 0.36, p)
    text, said = asked(s, "diff", "--by", "image", "until=20210102", "since=20210105")
    check([sum(x.startswith("SELECT id AS c0, " + column) for x in said) for column in ("kind", "known", "images")] == [1, 1, 0], "both weeks have one answer: %s" % said)
    check("p is over 6 hosts, each with itself" in text and "new" in text and "burst" not in text, text)
    day(14, range(3), 0)
    day(14, range(3, 6), 1)
    ship(s)
    hosts, p = compared("since=20210112 host=host[0-2]", "since=20210112 host=host[3-5]")
    check(hosts == {"test": "welch", "a": 3, "b": 3, "both": 0}, hosts)
    check(abs(p["new"] - 3 * 6.1802e-04) < 1e-6 and p["burst"] > 0.3, p)
    hosts, p = compared("since=20210112 host=host2", "since=20210112 host=host4")
    check(hosts is None, "one host has no test over hosts")
    s.kill()


def old_sums_go():
    """A day's older sums are dropped when a newer one has been there for an hour, for questions under way read them."""
    s = Server()
    week()
    ship(s, "--create", "--rollup")
    for hours in 3, 2:
        for table, rest in (("rolled", "batch, hour"), ("daily_hosts", "event_id, owner, ctx, image, svma, vector, hosts, ns, totals"), ("daily_procedures", "event_id, owner, image, svma, vector, hosts, ns, totals"),
                            ("hourly_procedures", "hour, event_id, owner, image, svma, vector, hosts, ns, totals"), ("daily", "event_id, owner, ctx, image, svma, vector, n, total"), ("rollups", "n_batches, version")):
            s.ask("INSERT INTO %s SELECT day, toUInt64(rollup_id - %d), %s FROM %s WHERE rollup_id > toUInt64(toUnixTimestamp(now()) - 3000) * %d" % (table, hours * 3600 * 2**32, rest, table, 2**32))
    same(s, "three sums")
    ship(s, "--rollup", "--again")
    check(s.ask("SELECT uniq(rollup_id) FROM daily") == "6" == s.ask("SELECT uniq(rollup_id) FROM rolled"), "the oldest is gone")
    same(s, "two sums")
    s.kill()


def procedures_need_no_contexts():
    """A diff by procedure adds procedures up in the engine: the same from values, from sums, from both, of sums made before names were known, and brought from older versions."""
    s = Server()
    with open("work.py", "w") as f:
        f.write(WORK)
    for i in "0", "1", "0":
        sh(DWELL, "record", "-g", "-F", "1997", "--db", "db", "--", "/usr/bin/python3", "work.py", i)
        time.sleep(1.1)  # times are said in seconds
    epochs = sorted(os.listdir("db/epochs"))
    # The first is most of its day, and is read of the sum, less what it has too much.
    sets = "epoch=all since=" + epochs[1], "epoch=" + epochs[0]
    here, _ = compared("db", "procedure", *sets)
    ship(s, "--create", "--no-names")
    ship(s, "--rollup", "--again")
    check(s.ask("SELECT countIf(startsWith(name, '_Py')) FROM places") == "0" != s.ask("SELECT count() FROM daily_procedures"), "sums without names")
    # Names come later, with the same samples from another machine.
    s.ask("CREATE DATABASE named", database="default")
    p = dwell("ship", "--db", "db", "--state", "named.state", "--create", "--to", s.url.replace("/fleet", "/named"))
    check(p.returncode == 0, p.stderr)
    s.ask("INSERT INTO places SELECT * FROM named.places")
    for table, columns in (("counts", "day, t, event, service, 'late', event_id, owner, ctx, image, svma, vector, n, total, batch + 1"),
                           ("events", "day, batch + 1, id, name, unit, period, freq_hz, flags, enabled_ns, running_ns, total, n_reached, squares"),
                           ("batches", "day, 'late', epoch, recording, segment, generation, batch + 1, n_values, samples, start_ns, end_ns")):
        s.ask("INSERT INTO %s SELECT %s FROM %s" % (table, columns, table))
    wanted = {k: (2 * a, 2 * b) for k, (a, b) in here.items()}
    def same_rows(what):
        there, _ = compared(s.db, "procedure", *sets)
        check(there == wanted, "%s: there %s, here %s" % (what, {k: v for k, v in there.items() if wanted.get(k) != v}, {k: v for k, v in wanted.items() if there.get(k) != v}))
    same_rows("names came after sums")
    ship(s, "--rollup", "--again")
    same_rows("sums of both")
    _, said = asked(s, "diff", "--by", "procedure", *sets)
    check(sum("FROM daily_procedures" in x for x in said) == 1 and not any(" FROM daily_hosts WHERE" in x and " AND ctx IN (" not in x for x in said), said)
    # One recording is left out of its day's sum: what a sum has too much is taken away, of procedures whose names were not known when it was made.
    s.ask("INSERT INTO batches SELECT day, host, epoch, recording, segment, generation, 0, 0, 0, start_ns, end_ns FROM batches WHERE host = 'late'")
    wanted = here
    same_rows("a host's samples do not count")
    for version in 3, 4:
        as_version(s, version)
        said = ship(s, "--again", fails=True)
        check("version %d" % version in said and "--create" in said, said)
        check(ship(s, "--create", "--rollup", "--again")["days"] > 0, "sums are made anew")
        same_rows("after version %d" % version)
        check(s.ask("SELECT uniq(version) FROM rollups WHERE version = 5") == "1", "by this version")
    s.kill()


def weeks_begin_within_a_day():
    """Parts of days come from sums of hours, added to days or taken from them; contexts that decide an image from values."""
    s = Server()
    with open("work.py", "w") as f:
        f.write(WORK)
    sh(DWELL, "record", "-g", "-F", "1997", "--db", "db", "--", "/usr/bin/python3", "work.py", "1")
    ship(s, "--create")
    start = int(s.ask("SELECT intDiv(start_ns, 1000000000) FROM batches"))
    first = start - start % 86400 - 4 * 86400
    hours = "(SELECT toUInt64(number) AS hour, toUInt32(%d + number * 3600) AS at FROM numbers(96)) CROSS JOIN (SELECT toUInt64(number) AS host_n FROM numbers(3))" % first
    made = "cityHash64(hour, host_n) AS id"
    s.ask("CREATE TABLE batch ENGINE = MergeTree ORDER BY id AS SELECT hour, at + if(host_n = 2, 1800, 0) AS at, host_n, %s FROM %s" % (made, hours))
    s.ask("INSERT INTO counts SELECT toDate(toDateTime(at)), toDateTime(at), event, service, concat('host', toString(host_n)), event_id, owner, ctx, image, svma, vector, "
          "n * (hour + 1), total * (hour + 1), id FROM (SELECT * FROM counts) CROSS JOIN batch WHERE cityHash64(ctx, id) % 3 > 0")
    s.ask("INSERT INTO events SELECT toDate(toDateTime(at)), id, e, name, unit, period, freq_hz, flags, enabled_ns, running_ns, total, n_reached, squares "
          "FROM (SELECT id AS e, name, unit, period, freq_hz, flags, enabled_ns, running_ns, total, n_reached, squares FROM events) CROSS JOIN batch")
    s.ask("INSERT INTO batches SELECT toDate(toDateTime(at)), concat('host', toString(host_n)), '20200101000000', 1, hour, 1, id, 0, 0, toUInt64(at) * 1000000000, "
          "toUInt64(at + 3599) * 1000000000 FROM batch")
    at = lambda hour: time.strftime("%Y%m%d%H%M%S", time.gmtime(first + 3600 * hour - 1))
    sets = ("since=%s until=%s" % (at(19.5), at(52)), "since=%s until=%s" % (at(52), at(89))), ("since=" + at(70), "until=" + at(30))
    asked_for = [(by, two) for by in ("procedure", "image") for two in sets]
    of_values = [compared(s.db, by, *two) for by, two in asked_for]
    check(of_values[0][1]["both"] == 3 and of_values[0] != of_values[1], of_values[0][1])
    ship(s, "--rollup")
    for (by, two), values in zip(asked_for, of_values):
        check(compared(s.db, by, *two) == values, (by, two))
    _, said = asked(s, "diff", "--by", "procedure", *sets[0])
    # Hours of whole days that are added, or taken away; host2's batches begin at half hours, so some of its hours are wanted in part.
    hours = [int(h) - first // 3600 for x in said for h in re.findall(r"FROM hourly_procedures WHERE rollup_id = \d+ AND hour = (\d+)", x)]
    check(sorted(hours) == sorted([*range(19, 24), *range(48, 52), *range(48, 51), *range(89, 96)]), hours)
    check(1 <= sum("FROM counts WHERE ((day" in x and "image AS c8" not in x for x in said) <= 2, said)
    s.kill()


def as_version(s, version):
    """Makes the tables of sums what a dwell of VERSION left."""
    procedures = "(day Date, rollup_id UInt64, host String, event_id UInt64, owner UInt64, image UInt64, svma UInt64, vector UInt64, n UInt64, total UInt64)"
    svma = "svma UInt64, " if version > 3 else ""
    for sql in ("DROP TABLE hourly_procedures", "DROP TABLE daily_procedures", "DROP TABLE daily_hosts", "DROP TABLE rollups", "DROP TABLE schema_version",
                "CREATE TABLE old (day Date, rollup_id UInt64, batch UInt64) ENGINE = MergeTree PARTITION BY rollup_id ORDER BY (day, rollup_id, batch)",
                "INSERT INTO old SELECT day, rollup_id, batch FROM rolled", "DROP TABLE rolled", "RENAME TABLE old TO rolled",
                "CREATE TABLE daily_hosts (day Date, rollup_id UInt64, host String, event_id UInt64, owner UInt64, ctx UInt64, image UInt64, " + svma +
                "vector UInt64, n UInt64, total UInt64) ENGINE = MergeTree PARTITION BY rollup_id ORDER BY (host, event_id, owner, ctx)",
                "CREATE TABLE daily_procedures " + procedures + " ENGINE = MergeTree PARTITION BY rollup_id ORDER BY (host, event_id, image, svma)" if version > 3 else "",
                "CREATE TABLE rollups (day Date, rollup_id UInt64, n_batches UInt64%s) ENGINE = MergeTree ORDER BY (day, rollup_id)" % (", version UInt64" if version > 3 else ""),
                "INSERT INTO rollups SELECT any(day), rollup_id, toUInt64(count())%s FROM rolled GROUP BY rollup_id" % (", toUInt64(4)" if version > 3 else ""),
                "CREATE TABLE schema_version (version UInt64) ENGINE = ReplacingMergeTree ORDER BY version", "INSERT INTO schema_version VALUES (%d)" % version):
        if sql:
            s.ask(sql)


WORK = """
import gc, sys, zlib
def keyed(x): return -x
def garbage():
    for i in range(60):
        a = [[j] for j in range(3000)]
        for x in a: x.append(x)
        gc.collect()
for i in range(20 + 20 * int(sys.argv[1])): sorted(range(20000), key=keyed)
for i in range(40): zlib.compress(bytes(range(256)) * 2000)
garbage()
"""


def images_need_few_contexts():
    """A diff by image adds images up in the engine, but for contexts whose samples are a script's function's, or a phase's."""
    s = Server()
    with open("work.py", "w") as f:
        f.write(WORK)
    for i in "0", "1":
        sh(DWELL, "record", "-g", "-F", "1997", "--db", "db", "--", "/usr/bin/python3", "work.py", i)
    epochs = sorted(os.listdir("db/epochs"))
    check(len(epochs) == 2, epochs)
    ship(s, "--create")
    def images(by, db):
        found = {}
        for r in json.loads(sh(DWELL, "diff", "--json", "--all", "--by", by, "--db", db, *epochs))["rows"]:
            found[r["image"]] = tuple(a + b for a, b in zip(found.get(r["image"], (0, 0)), (r["a"], r["b"])))
        return found
    here, there, added = images("image", "db"), images("image", s.db), images("procedure", s.db)
    check(here == there == added, "here %s, there %s, of procedures %s" % (here, there, added))
    check(all(any(w in i for i in here) for w in ("work.py", "[python]", "libz")), here)
    _, said = asked(s, "diff", "--by", "image", *epochs)
    check(sum("if(ctx IN (" in x for x in said) == 2, said)
    def inclusive(db, *options):
        said = json.loads(sh(DWELL, "prof", "--json", "--by", "image", "--epoch", "all", "--db", db, *options))
        return said["events"], sorted((r["image"], r["counts"], r["inclusive"]) for r in said["rows"])
    for what, options in ("values", []), ("sums", ["--rollup", "--again"]):
        ship(s, *options) if options else None
        for words in [], ["--comm", "python3"], ["--runtime-frames"], ["--host", socket.gethostname()]:
            here, there = inclusive("db", *words), inclusive(s.db, *words)
            check(here == there and any(c != i for _, c, i in here[1]), "%s %s: here %s, there %s" % (what, words, here, there))
    s.kill()


def idle_time_is_in_no_image():
    """What an idle task idles is known by its procedure, also where rows are of images."""
    s = Server()
    for n in range(2):
        text = f"recording host{n} {1609459200 + n * 86400}\nmeta host{n} {1609459200 + n * 86400} 3600 server\nevent cycles 1000\n"
        text += "image kernel [kernel.kallsyms]\nowner idle -\nframe 2000\nsample 1000 50\nframe 2000\nsample 3000 7\nowner - - comm=server\npath\nframe 2000\nsample 1000 2\n"
        subprocess.run([MKDB, "db"], input=text, text=True, check=True)
    ship(s, "--create")
    kernel = s.ask("SELECT id FROM images WHERE kind = 2")
    s.ask("TRUNCATE TABLE places")
    s.ask("INSERT INTO places SELECT toUInt64(%s), svma, svma, svma + 16, if(svma = 4096, 'default_idle', 'do_irq'), 0, 0, '', 1 FROM (SELECT arrayJoin([toUInt64(4096), 8192, 12288]) AS svma)" % kernel)
    for what, options in ("values", []), ("sums", ["--rollup", "--again"]):
        ship(s, *options) if options else None
        said = json.loads(sh(DWELL, "prof", "--json", "--by", "image", "--epoch", "all", "--db", s.db))
        check([(r["kind"], r["counts"]["cycles"]) for r in said["rows"]] == [("kernel", 18), ("idle", 100)], (what, said))
        found = compared(s.db, "image", "until=20210101", "since=20210102")[0]
        check(found == {("[kernel.kallsyms]", None): (9, 9)}, (what, found))
    s.kill()


run(sums_answer_as_values_do, images_need_few_contexts, idle_time_is_in_no_image, procedures_need_no_contexts, weeks_begin_within_a_day, hosts_are_observations, sums_that_nobody_finished, old_sums_go)
