#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A fleet's database of many hosts for a week, made of one recording, and what questions cost.

    bench/fleet.py [BUILD] [HOSTS] [HOURS] [SECONDS]     default: build 100 168 10

Records the whole machine for SECONDS, ships that to a ClickHouse on loopback (packages.services), and has the server repeat
its values for HOSTS times HOURS hours, each host and hour with amounts of its own (0 to 3 times as many, by a hash) and a
part of the contexts.  Prints rows, bytes, and of each question seconds by the clock, rows and bytes that the server read,
and what `dwell` itself took.  Needs root.  As all benches: say how busy the machine was."""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

build = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build")
hosts, hours, seconds = (int(a) for a in (sys.argv[2:5] + ["100", "168", "10"][len(sys.argv[2:5]):]))
os.environ["DWELL"] = os.path.join(build, "dwell")
sys.argv = sys.argv[:1]
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests", d) for d in ("services", "e2e")]
import clickhouse
from e2e import DWELL, check, sh, wait_for

COLUMNS = "event, service, event_id, owner, ctx, image, svma, vector"


def spent():
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime


def ship_one(s):
    sh(DWELL, "record", "-a", "-g", "-F", "97", "--db", "db", "--", "sleep", seconds)
    before = spent()
    said = json.loads(sh(DWELL, "ship", "--create", "--json", "--db", "db", "--state", "state", "--to", s.url))
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    print("recorded %d s: %d samples in %d values; shipped in %d bytes, %.2f s of CPU, at most %d KB resident (of all commands so far)" % (
        seconds, said["samples"], said["values"], said["bytes"], spent() - before, u.ru_maxrss))


def multiply(s):
    """An INSERT for each day, of one block for each host-hour and its batch: batch = hash(host, hour)."""
    begin = int(s.ask("SELECT toUInt32(toStartOfHour(max(t))) FROM counts")) - 3600 * hours
    s.ask("CREATE TABLE seed ENGINE = MergeTree ORDER BY ctx AS SELECT %s, n, total FROM counts" % COLUMNS)
    s.ask("CREATE TABLE seed_events ENGINE = MergeTree ORDER BY id AS SELECT id, name, unit, period, freq_hz, flags, enabled_ns, running_ns, total, n_reached, squares FROM events")
    for table in "counts", "events", "losses":
        s.ask("TRUNCATE TABLE " + table)
    s.ask("ALTER TABLE batches DELETE WHERE 1")
    wait_for(lambda: s.ask("SELECT count() FROM batches") == "0", "the batches of the seed to go")
    for first in range(0, hours, 24):
        h = "toUInt32(%d + 3600 * (number %% %d + %d))" % (begin, min(24, hours - first), first)
        host = "concat('host', toString(intDiv(number, %d)))" % min(24, hours - first)
        cells = "(SELECT %s AS hour, %s AS host, cityHash64(host, hour) AS batch FROM numbers(%d))" % (h, host, hosts * min(24, hours - first))
        s.ask("INSERT INTO counts SELECT toDate(toDateTime(hour)), toDateTime(hour), event, service, host, event_id, owner, ctx, image, svma, vector, "
              "n * m, total * m, batch FROM (SELECT *, cityHash64(ctx, batch) % 4 AS m FROM seed CROSS JOIN " + cells + ") WHERE m > 0")
        s.ask("INSERT INTO batches SELECT toDate(toDateTime(hour)), host, '20260101000000', 1, hour, 1, batch, 0, 0, "
              "toUInt64(hour) * 1000000000, toUInt64(hour + 3600) * 1000000000 FROM " + cells)
        s.ask("INSERT INTO events SELECT toDate(toDateTime(hour)), batch, id, name, unit, period, freq_hz, flags, enabled_ns, running_ns, total, n_reached, squares "
              "FROM seed_events CROSS JOIN " + cells)
    rows, size = s.ask("SELECT sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'fleet' AND table = 'counts'").split()
    print("%d hosts, %d hours: %s rows of counts, %s bytes (%.1f a row), %s contexts" % (
        hosts, hours, rows, size, int(size) / int(rows), s.ask("SELECT uniqExact(id) FROM contexts")))


def ask(s, name, *argv):
    """Twice: the second is warm."""
    for _ in range(2):
        mark, cpu, start = s.ask("SELECT toString(now())"), spent(), time.monotonic()
        p = subprocess.run([DWELL, *argv, "--db", s.db], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        took = time.monotonic() - start
    check(p.returncode in (0, 1), p.stderr)
    log = pathlib_read(s.dir + "/log")
    read = re.findall(r"Read (\d+) rows, [\d.]+ \w+ in", log[s.log_at:])
    s.log_at = len(log)
    print("%-44s %6.2f s, %10d rows read in %d statements (two runs), dwell itself %.2f s of CPU" % (name, took, sum(map(int, read)), len(read), spent() - cpu))


def pathlib_read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def main():
    clickhouse.CONFIG = clickhouse.CONFIG.replace("<level>warning</level>", "<level>information</level>")
    with tempfile.TemporaryDirectory(prefix="dwell-fleet-") as room:
        os.chdir(room)
        s = clickhouse.Server()
        ship_one(s)
        start = time.monotonic()
        multiply(s)
        print("made in %.0f s; load %s" % (time.monotonic() - start, open("/proc/loadavg").read().split()[0]))
        s.log_at = len(pathlib_read(s.dir + "/log"))
        ask(s, "what hosts there are", "epochs", "--epoch", "all")
        ask(s, "one host, one hour, by image", "prof", "--by", "image", "--host", "host1", "--since", "1h")
        ask(s, "all hosts, last hour, by image", "prof", "--by", "image", "--since", "1h")
        ask(s, "all hosts, a day, by image", "prof", "--by", "image", "--since", "24h")
        ask(s, "all hosts, a day, by container", "prof", "--by", "container", "--since", "24h")
        ask(s, "all hosts, a week, by image", "prof", "--by", "image", "--epoch", "all")
        ask(s, "all hosts, a week, flame graph", "flame", "-o", "x.svg", "--epoch", "all")
        s.kill()


main()
