#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A fleet's database of many hosts for a week, made of one recording, and what questions cost.

    bench/fleet.py [BUILD] [HOSTS] [HOURS] [SECONDS] [ROWS]     default: build 100 168 10 80000000

Records the whole machine for SECONDS at 997 Hz, ships that to a ClickHouse on loopback (packages.services), and has the server repeat
its values for HOSTS times HOURS hours until there are ROWS.  A value is in an hour of a host the more often the more samples
it has, by a hash, so that each hour has the frequent contexts and some of the rare ones.  Hosts run seven builds of the
programs: each has images, contexts and places of its own.  Sums of days are made by `dwell ship --rollup`.

Prints rows, bytes, and of each question seconds by the clock of three warm runs, the rows that the server read for one
(of the marks it selected, 8192 rows each: more than it read, and subqueries are among them), and what `dwell` itself took.
Needs root.  As all benches: say how busy the machine was."""
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

build = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build")
hosts, hours, seconds, rows = (int(a) for a in (sys.argv[2:6] + ["100", "168", "10", "80000000"][len(sys.argv[2:6]):]))
os.environ["DWELL"] = os.path.join(build, "dwell")
sys.argv = sys.argv[:1]
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests", d) for d in ("services", "e2e")]
import clickhouse
from e2e import DWELL, check, sh, wait_for

N_BUILDS = 7


def spent():
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime


def ship(s, *options):
    """A pass; what it said, seconds of CPU, KB resident at most."""
    r, w = os.pipe()
    pid = os.fork()
    if not pid:
        os.dup2(w, 1)
        os.execv(DWELL, [DWELL, "ship", "--json", "--db", "db", "--state", "state", "--to", s.url, *options])
    os.close(w)
    with os.fdopen(r) as f:
        said = f.read()
    _, status, u = os.wait4(pid, 0)
    check(status == 0, "ship ends well")
    return json.loads(said), u.ru_utime + u.ru_stime, u.ru_maxrss


def ship_one(s):
    sh(DWELL, "record", "-a", "-g", "-F", "997", "--db", "db", "--", "sleep", seconds)
    said, cpu, kb = ship(s, "--create")
    print("recorded %d s: %d samples in %d values; shipped in %d bytes, %.2f s of CPU, at most %d KB resident" % (
        seconds, said["samples"], said["values"], said["bytes"], cpu, kb))


def multiply(s):
    """Values of each hour of a host are a batch, hash(host, hour)."""
    begin = int(s.ask("SELECT toUInt32(toStartOfHour(max(t))) FROM counts")) - 3600 * hours
    build_of = lambda column, b: "cityHash64(%s, %s)" % (column, b)
    s.ask("CREATE TABLE seed ENGINE = MergeTree ORDER BY (b, ctx) AS SELECT b, event, service, event_id, owner, %s AS ctx, %s AS image, svma, vector, n, total, cityHash64(ctx, b) AS h FROM "
          "(SELECT event, service, event_id, owner, ctx AS c, image AS i, svma, vector, n, total FROM counts) CROSS JOIN (SELECT number AS b FROM numbers(%d))"
          % (build_of("c", "b"), build_of("i", "b"), N_BUILDS))
    for table, columns in (("contexts", "%s, arrayMap(x -> %s, images), svmas" % (build_of("id", "b"), build_of("x", "b"))),
                           ("images", "%s, kind, flags, build_id, lower(hex(%s)), path, text_start, text_bytes" % (build_of("id", "b"), build_of("id", "b"))),
                           ("places", "%s, svma, start, end, name, flags, line, language, version" % build_of("image", "b"))):
        s.ask("INSERT INTO %s SELECT %s FROM (SELECT * FROM %s) CROSS JOIN (SELECT number AS b FROM numbers(%d))" % (table, columns, table, N_BUILDS))
    s.ask("CREATE TABLE seed_events ENGINE = MergeTree ORDER BY id AS SELECT id, name, unit, period, freq_hz, flags, enabled_ns, running_ns, total, n_reached, squares FROM events")
    for table in "counts", "events", "losses":
        s.ask("TRUNCATE TABLE " + table)
    s.ask("ALTER TABLE batches DELETE WHERE 1")
    wait_for(lambda: s.ask("SELECT count() FROM batches") == "0", "the batches of the seed to go")
    # How often a value of one sample is there, of 10000, so that an hour has its part of ROWS.
    want, weights = rows / hosts / hours, [int(n) for n in s.ask("SELECT n FROM seed WHERE b = 0").split()]
    low, high = 0, 10000
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if sum(min(1, n * middle / 10000) for n in weights) < want else (low, middle)
    for first in range(0, hours, 6):
        n = min(6, hours - first)
        cells = ("(SELECT toUInt32(%d + 3600 * (number %% %d + %d)) AS hour, concat('host', toString(intDiv(number, %d))) AS host, cityHash64(host, hour) AS batch, "
                 "toUInt64(intDiv(number, %d) %% %d) AS b FROM numbers(%d))" % (begin, n, first, n, n, N_BUILDS, hosts * n))
        s.ask("INSERT INTO counts SELECT toDate(toDateTime(hour)), toDateTime(hour), event, service, host, event_id, owner, ctx, image, svma, vector, "
              "n + x % 3, total, batch FROM (SELECT *, cityHash64(h, batch) AS x FROM " + cells + " ALL INNER JOIN seed USING b) "
              "WHERE x % 10000 < n * {}".format(high))
        s.ask("INSERT INTO batches SELECT toDate(toDateTime(hour)), host, '20260101000000', 1, hour, 1, batch, 0, 0, "
              "toUInt64(hour) * 1000000000, toUInt64(hour + 3600) * 1000000000 FROM " + cells)
        s.ask("INSERT INTO events SELECT toDate(toDateTime(hour)), batch, id, name, unit, period, freq_hz, flags, enabled_ns, running_ns, total, n_reached, squares "
              "FROM seed_events CROSS JOIN " + cells)


def say_size(s):
    for table in "counts", "daily", "contexts", "places", "batches", "rolled":
        n, size = s.ask("SELECT sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'fleet' AND table = '%s'" % table).split()
        print("%-10s %10s rows, %11s bytes (%.1f a row)" % (table, n, size, int(size) / max(1, int(n))))


def marks(s):
    return int(s.ask("SELECT sum(value) FROM system.events WHERE event = 'SelectedMarks'") or 0)


def ask(s, name, *argv):
    """Once cold, then three times."""
    took, cpu = [], 0
    for i in range(4):
        before, read, start = spent(), marks(s), time.monotonic()
        p = subprocess.run([DWELL, *argv, "--db", s.db], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        took.append(time.monotonic() - start)
        cpu, read = spent() - before, marks(s) - read
        check(p.returncode in (0, 1), p.stderr)
    print("%-44s %s s, at most %.1f M rows read, dwell itself %.2f s of CPU" % (name, " ".join("%.2f" % t for t in took[1:]), read * 8192 / 1e6, cpu))
    sys.stdout.flush()


def load():
    return open("/proc/loadavg").read().split()[0]


def main():
    with tempfile.TemporaryDirectory(prefix="dwell-fleet-") as room:
        os.chdir(room)
        s = clickhouse.Server()
        ship_one(s)
        start = time.monotonic()
        multiply(s)
        print("%d hosts, %d hours, made in %.0f s; load %s" % (hosts, hours, time.monotonic() - start, load()))
        start = time.monotonic()
        said, _, _ = ship(s, "--rollup")
        print("sums of %d days made in %.0f s" % (said["days"], time.monotonic() - start))
        say_size(s)
        unit = s.ask("SELECT service FROM counts WHERE host = 'host1' GROUP BY service ORDER BY sum(n) DESC LIMIT 1 OFFSET 2")
        comm = s.ask("SELECT comm FROM owners WHERE service = '%s' LIMIT 1" % unit)
        ask(s, "what hosts there are", "epochs", "--epoch", "all")
        ask(s, "one host, one hour, by image", "prof", "--by", "image", "--host", "host1", "--since", "1h")
        ask(s, "all hosts, last hour, by image", "prof", "--by", "image", "--since", "1h")
        ask(s, "all hosts, a day, by image", "prof", "--by", "image", "--since", "24h")
        ask(s, "all hosts, a week, by image", "prof", "--by", "image", "--since", "7d")
        ask(s, "all hosts, a week, by container", "prof", "--by", "container", "--since", "7d")
        ask(s, "all hosts, a week, flame graph of %s" % comm, "flame", "-o", "x.svg", "--since", "7d", "--comm", comm)
        ask(s, "all hosts, a week, flame graph of all", "flame", "-o", "x.svg", "--since", "7d")
        ask(s, "half a week beside the other half, by image", "diff", "--by", "image", "since=7d until=84h", "since=84h")
        ask(s, "half a week beside the other half, by procedure", "diff", "--by", "procedure", "since=7d until=84h", "since=84h")
        print("load %s" % load())
        s.kill()


main()
