# SPDX-License-Identifier: BSD-2-Clause
"""The rows about what a server feels: throughput and latency of PostgreSQL (pgbench, selects) and nginx
(h2load) under dwelld, 97 Hz with call paths, under `perf record -g` at that rate, which follows frame pointers
only, and under nothing, taking turns many times in one run.

The generators write each request's end and latency to a file.  The tools' events are enabled and disabled
from outside (measure.py), so that they live through the whole run; a slice of time counts the requests
that ended in it.  The bare event takes turns, too.  At EVENT_HZ it says what an interrupt costs that comes
often, and so what 97 of them must take at least.  At the tools' own rate it says what 97 of them do take: a
seldom one costs several times as much in a virtual machine.

Slices are short, since throughput drifts: on this kind of machine two slices of 0.25 s beside each other
differ more than two of 0.01 s, of which 25 times as many fit in.  A disabled clock keeps what is left of
its period, so short slices lose no samples.  What a tool does with its samples comes later, in anybody's
slice; its CPU time is added to its loss."""
import array
import bisect
import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import time

from common import BUILD, CPUS, HZ as EVENT_HZ, QUICK, WORK, environment, notes, row, say, start_tool
from measure import CannotMeasure, bootstrap

HZ = 97
SLICE_S = 0.01
ROUNDS = 200 if QUICK else 4000  # each: TURNS, in random order
TURNS = ["nothing", "dwelld", "same event"] * 2 + ["often event", "perf"]
TAIL_ROUNDS = 50                 # whose latencies are one set, for a 99th part
WRITE_S = 3                      # after the rounds: what the generators still have to write
EDGE_S = 0.0005                  # of a slice's begin is left out: what was under way when it began
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
PG = "/usr/lib/postgresql/15/bin/"
CLIENTS = 4


def until(ready, what):
    for _ in range(200):
        if ready():
            return
        time.sleep(0.1)
    raise CannotMeasure(what + " does not start")


@contextlib.contextmanager
def running(command, **options):
    with open(os.path.join(WORK, "servers.log"), "ab") as log:
        p = subprocess.Popen(command, stdout=log, stderr=log, **options)
    try:
        yield p
    finally:
        p.send_signal(signal.SIGINT)
        p.wait(60)


@contextlib.contextmanager
def postgres():
    """A PostgreSQL on a socket; the command that asks it, whose file of requests lies in PLACE."""
    place = "/tmp/dwell-bench-pg.%d" % os.getpid()
    os.makedirs(place)
    os.chown(place, 65534, 65534)
    try:
        subprocess.run([*NOBODY, PG + "initdb", "-D", place + "/data", "-U", "bench"], check=True, stderr=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, cwd=place)
        with running([*NOBODY, PG + "postgres", "-D", place + "/data", "-k", place, "-c", "listen_addresses="], cwd=place):
            until(lambda: subprocess.run([PG + "pg_isready", "-q", "-h", place, "-U", "bench"], check=False).returncode == 0,
                  "postgres")
            there = ["-h", place, "-U", "bench", "postgres"]
            subprocess.run([PG + "pgbench", "-q", "-i", "-s", "5", *there], check=True, capture_output=True)
            yield [PG + "pgbench", "-n", "-S", "-M", "prepared", "-c", str(CLIENTS), "-T", "100000", "-l", "--log-prefix",
                   place + "/requests", *there], place
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextlib.contextmanager
def nginx():
    """An nginx of one process on a port of loopback, and what asks it for a page that it packs."""
    place = "/tmp/dwell-bench-nginx.%d" % os.getpid()
    os.makedirs(place)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    temp = " ".join(f"{kind}_temp_path {place};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    with open(place + "/conf", "w", encoding="ascii") as f:
        f.write(f"daemon off; worker_processes 1; user nobody nogroup; pid {place}/pid; error_log {place}/log;\n"
                f"events {{ worker_connections 256; }}\nhttp {{ access_log off; gzip on; gzip_types *; {temp}\n"
                f"keepalive_requests 1000000000; server {{ listen 127.0.0.1:{port}; root {place}; }} }}\n")
    shutil.copy(os.path.join(WORK, "compute.py"), place + "/page.txt")
    os.chmod(place + "/page.txt", 0o644)
    try:
        with running(["/usr/sbin/nginx", "-c", place + "/conf", "-p", place]):
            def answers():
                with socket.socket() as s:
                    return s.connect_ex(("127.0.0.1", port)) == 0
            until(answers, "nginx")
            yield ["h2load", "--h1", "-c", str(CLIENTS), "-D", "100000", "-H", "Accept-Encoding: gzip", "--log-file",
                   place + "/requests", f"http://127.0.0.1:{port}/page.txt"], place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def pgbench_requests(place):
    """[(end in seconds of the wall clock, latency in us)]: pgbench(1), Per-Transaction Logging."""
    for name in os.listdir(place):
        if name.startswith("requests"):
            with open(os.path.join(place, name), encoding="ascii") as f:
                for line in f:
                    words = line.split()
                    if len(words) >= 6:
                        yield int(words[4]) + int(words[5]) / 1e6, int(words[2])


def h2load_requests(place):
    """The same: start in us, status, latency in us (h2load(1), --log-file)."""
    with open(place + "/requests", encoding="ascii") as f:
        for line in f:
            words = line.split()
            if len(words) == 3:
                yield (int(words[0]) + int(words[2])) / 1e6, int(words[2])


def take_turns(tools):
    """Rounds of [(tool's name, begin, end)]."""
    rounds, rng = [], random.Random(11)
    for i in range(ROUNDS):
        names, seen = list(TURNS), []
        rng.shuffle(names)
        if i % TAIL_ROUNDS == 0:
            say(f"servers: round {i} of {ROUNDS}")
        for name in names:
            if tools[name]:
                tools[name].enable(True)
            begin = time.time()
            time.sleep(SLICE_S)
            seen.append((name, begin + EDGE_S, time.time()))
            if tools[name]:
                tools[name].enable(False)
        rounds.append(seen)
    return rounds


def by_round(rounds, requests):
    """For each round {name: (requests a second, latencies)}.  There are tens of millions of requests."""
    slices = [s for seen in rounds for s in seen]
    begins, latencies = [begin for _, begin, _ in slices], [array.array("I") for _ in slices]
    for end, us in requests:
        i = bisect.bisect_right(begins, end) - 1
        if i >= 0 and end < slices[i][2]:
            latencies[i].append(us)
    out, of = [], iter(latencies)
    for seen in rounds:
        s, latency = {}, {}
        for name, begin, end in seen:
            s[name] = s.get(name, 0) + end - begin
            latency.setdefault(name, array.array("I")).extend(next(of))
        if all(latency.values()):  # else other work had the machine
            out.append({name: (len(latency[name]) / s[name], latency[name]) for name in s})
    if len(out) < 0.9 * len(rounds):
        raise CannotMeasure("the machine has too much else to do")
    return out


def loss(name):
    def of(rounds):
        return 1 - sum(r[name][0] for r in rounds) / sum(r["nothing"][0] for r in rounds)
    return of


def p99(rounds, name):
    values = sorted(us for r in rounds for us in r[name][1])
    return values[len(values) * 99 // 100]


def percent(value):
    return "%.3f %% [%.3f, %.3f]" % tuple(100 * v for v in value)


def add_rows(what, rounds, own_cpu):
    def lost(name):
        return tuple(v + own_cpu[name] for v in bootstrap(rounds, loss(name)))

    ours, same, often = lost("dwelld"), bootstrap(rounds, loss("same event")), bootstrap(rounds, loss("often event"))
    above = tuple(v + own_cpu["dwelld"] for v in bootstrap(rounds, lambda some: loss("dwelld")(some) - loss("same event")(some)))
    own = tuple(v * HZ / EVENT_HZ for v in often)
    row(f"{what}: throughput lost at {HZ} Hz with call paths", percent(ours), "event " + percent(own), None,
        "has event's; upper <= its + 0.1", ours[1] <= own[0] <= ours[2] <= own[0] + 0.001 and ours[2] - ours[1] <= 0.005)
    row(f"{what}: more than the bare event at that rate", percent(above), "event " + percent(same), None, "upper <= 0.1 %",
        above[2] <= 0.001)
    row(f"{what}: the same loss, beside perf record -g", percent(ours), percent(lost("perf")), None, "-", None)
    notes.append("%s: %.0f requests a second; a bare interrupt takes %.0f us at %d Hz and %.0f us at %d Hz, where %s are lost" %
                 (what, sum(r["nothing"][0] for r in rounds) / len(rounds), same[0] / HZ * 1e6, HZ,
                  often[0] / EVENT_HZ * 1e6, EVENT_HZ, percent(often)))
    tails = [{name: p99(rounds[i:i + TAIL_ROUNDS], name) for name in ("dwelld", "perf", "same event", "nothing")}
             for i in range(0, len(rounds) - TAIL_ROUNDS + 1, TAIL_ROUNDS)]

    def mean(name):
        return sum(t[name] for t in tails) / len(tails)

    def apart(name):
        return bootstrap(tails, lambda some: sum(t[name] for t in some) / sum(t["nothing"] for t in some))

    ours = apart("dwelld")
    row(f"{what}: p99 latency, mean of sets", "%.0f us" % mean("dwelld"), "%.0f us" % mean("nothing"), ours,
        "interval has 1", ours[1] <= 1 <= ours[2])
    for name, as_said in ("perf", "perf record -g"), ("same event", "the bare event"):
        notes.append("%s: p99 under %s %.0f us, %.3f [%.3f, %.3f] of nothing's" % (what, as_said, mean(name), *apart(name)))


def one_server(what, server, requests):
    db, data = os.path.join(WORK, "servers-db"), os.path.join(WORK, "servers.data")
    event = os.path.join(BUILD, "bench/bench_event")
    shutil.rmtree(db, ignore_errors=True)
    with server() as (load, place):
        with running(load, cwd=place, env=environment()):
            tools = {"nothing": None,
                     "same event": start_tool([event, str(HZ)], "same.log"),
                     "often event": start_tool([event, str(EVENT_HZ)], "often.log"),
                     "perf": start_tool(["perf", "record", "-q", "-a", "-g", "-e", "cpu-clock", "-F", str(HZ), "-o", data],
                                        "servers-perf.log"),
                     "dwelld": start_tool([os.path.join(BUILD, "dwelld"), "-e", "cpu-clock", "-F", str(HZ), "--no-pin",
                                           "--call-graph", "auto", db], "servers-dwelld.log")}
            measured = ("perf", "dwelld")
            try:
                tools["dwelld"].enable(True)
                time.sleep(5)  # tables and symbols of what runs
                tools["dwelld"].enable(False)
                before = {name: tools[name].cpu_ns() for name in measured}
                rounds = take_turns(tools)
                time.sleep(WRITE_S)
                sampled = {name: sum(end - begin + EDGE_S for seen in rounds for which, begin, end in seen if which == name)
                           for name in measured}
                own = {name: (tools[name].cpu_ns() - before[name]) / 1e9 / sampled[name] / len(CPUS) for name in measured}
            finally:
                for tool in tools.values():
                    if tool:
                        tool.stop()
        add_rows(what, by_round(rounds, requests(place)), own)
        notes.append("%s: of the loss dwelld's own CPU time is %.3f %%, of %.0f s in which it sampled; perf's %.3f %%" %
                     (what, own["dwelld"] * 100, sampled["dwelld"], own["perf"] * 100))


def measure():
    one_server("PostgreSQL", postgres, pgbench_requests)
    one_server("nginx", nginx, h2load_requests)
