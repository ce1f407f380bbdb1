# SPDX-License-Identifier: BSD-2-Clause
"""The rows about `dwell web`: CPU time of the first flame graph of a million samples beside `go tool pprof -http` on our
pprof of the same data, its first picture in a browser and frames beside speedscope's, and the server's memory with eight
clients, who ask for all of a month."""
import json
import os
import random
import shutil
import socket
import subprocess
import threading
import time
import urllib.request

from common import DWELL, BUILD, HERE, QUICK, WORK, environment, notes, row, say
from measure import CannotMeasure
from pictures import SPEEDSCOPE, npm, random_tree

CONTEXTS, SAMPLES = 300000, 1000000
BOXES = 100000
ROUNDS = 1 if QUICK else 3
CLIENTS = 8
DAYS = 3 if QUICK else 30
OWNERS, PLACES, DAY_CONTEXTS = 24, 5000, 10000  # of each day


def path(name):
    return os.path.join(WORK, name)


def tree(pid):
    """PID and all below it that are still there."""
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid), encoding="utf-8") as f:
            return [pid] + [p for child in f.read().split() for p in tree(int(child))]
    except FileNotFoundError:
        return []


def cpu_s(pid):
    """CPU time of PID and its children, those that have ended included."""
    total = 0
    for p in tree(pid):
        with open("/proc/%d/stat" % p, encoding="utf-8") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        total += sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime
    return total / os.sysconf("SC_CLK_TCK")


def peak_mb(pid):
    with open("/proc/%d/status" % pid, encoding="utf-8") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmHWM:")) / 1024


def get(url, token=None):
    request = urllib.request.Request(url, headers={"X-Dwell-Token": token} if token else {})
    with urllib.request.urlopen(request, timeout=300) as answer:
        return len(answer.read())


def answers(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def served(argv, port):
    p = subprocess.Popen(argv, env={**os.environ, **environment()}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    end = time.monotonic() + 120
    while not answers(port):
        if time.monotonic() > end or p.poll() is not None:
            raise CannotMeasure(argv[0] + " does not serve")
        time.sleep(0.05)
    return p


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def first_picture(argv, url):
    port = free_port()
    p = served([a.replace("PORT", str(port)) for a in argv], port)
    try:
        get(url.replace("PORT", str(port)))
        time.sleep(0.3)  # a child's end
        return cpu_s(p.pid)
    finally:
        p.terminate()
        p.wait()


def make_month(db):
    """A recording a day: programs of a server that are equally busy, told by minute."""
    shutil.rmtree(db, ignore_errors=True)
    first = int(time.time()) // 86400 * 86400 - DAYS * 86400
    for day in range(DAYS):
        rng, start = random.Random(day), first + 86400 * day
        text = ["recording server %d" % start, "meta server %d 86400 dwelld" % start, "event cpu-clock 10000000"]
        text.append("image file /usr/bin/server")
        for owner in range(OWNERS):
            text.append("owner - - comm=worker%d exe=/bin/worker%d uid=0" % (owner, owner))
            n = 0
            for _ in range(DAY_CONTEXTS // OWNERS // 10):
                path = [0x1000 + 64 * rng.randrange(PLACES) for _ in range(10)]
                text.append("path\n" + "\n".join("frame %x" % at for at in path[:-1]) + "\nsample %x %d" % (path[-1], 1440))
                n += 1440
            text += ["minute %d %d" % (start // 60 + m, n // 1440) for m in range(1440)]
        subprocess.run([os.path.join(BUILD, "tests/cli/mkdb"), db], input="\n".join(text) + "\n", text=True, check=True)


def rss_mb(pid):
    try:
        with open("/proc/%d/smaps_rollup" % pid, encoding="utf-8") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("Pss:")) / 1024
    except (OSError, StopIteration):
        return 0


def crowd(db, words):
    """Peaks of both processes of the server, and of them with what answers, while CLIENTS ask for everything in turn."""
    port = free_port()
    p = served([DWELL, "web", "--db", db, "--listen", "127.0.0.1:%d" % port], port)
    most = 0
    try:
        server = tree(p.pid)

        def ask():
            for question in ("flame?by=address&", "prof?", "tree?by=address&percent-limit=0.1&", "epochs?", "minutes?steps=600&"):
                get("http://127.0.0.1:%d/api/%s%s" % (port, question, words))

        threads = [threading.Thread(target=ask) for _ in range(CLIENTS)]
        for t in threads:
            t.start()
        while any(t.is_alive() for t in threads):
            most = max(most, sum(map(rss_mb, tree(p.pid))))
            time.sleep(0.05)
        return sum(map(peak_mb, server)), most
    finally:
        p.terminate()
        p.wait()


def in_browser(db):
    """Rows of the page in a browser: the first picture of DB, and frames of 100,000 boxes beside speedscope's."""
    if not shutil.which("node") or not os.path.exists("/usr/lib/chromium/chromium-headless-shell"):
        notes.append("the page: no browser (tools/install-packages packages.services)")
        return
    describe, stacks = random_tree(BOXES)
    boxes = path("boxes-db")
    shutil.rmtree(boxes, ignore_errors=True)
    subprocess.run([os.path.join(BUILD, "tests/cli/mkdb"), boxes], input=describe, text=True, check=True)
    with open(path("boxes.txt"), "w", encoding="utf-8") as f:
        f.write(stacks)
    speedscope = npm(SPEEDSCOPE)
    pages = ["first=web:%s:%s" % (DWELL, db), "boxes=web:%s:%s" % (DWELL, boxes)]
    if speedscope:
        pages.append("beside=speedscope:%s:%s" % (os.path.join(speedscope, "dist/release/index.html"), path("boxes.txt")))
    say("the page: in the browser")
    done = subprocess.run(["node", os.path.join(HERE, "frames.mjs"), str(ROUNDS)] + pages, capture_output=True, text=True)
    if done.returncode != 0:
        raise CannotMeasure("frames.mjs: " + done.stderr.strip()[-300:])
    figures = {f["name"]: f for f in map(json.loads, done.stdout.splitlines())}
    a, b = figures["boxes"], figures.get("beside")
    x = figures["first"]["first_paint_ms"]
    row("the page: first picture of %d contexts" % CONTEXTS, "%.0f ms" % x, "-", None, "<= 300 ms", x <= 300)
    for action in "zoom", "search", "hover":
        mine, other = a if action == "zoom" else a[action], b and (b if action == "zoom" else b[action])
        for key, what, most in (("script_and_layout_ms", "script and layout of a frame, p99", 16), ("script_and_layout_cpu_ms", "CPU of that, p99", None)):
            x, y = mine[key]["p99"], other and other[key]["p99"]
            row("the page, %s, %d boxes: %s" % (action, BOXES, what), "%.1f ms" % x, "%.1f ms" % y if y else "-", x / y if y else None,
                "<= %d ms" % most if most else "-", None if most is None else x <= most)
        notes.append("the page, %s: %d frames%s" % (action, mine["frames"], ", beside: speedscope, %d" % other["frames"] if other else ""))


def measure():
    subprocess.run(["ninja", "-C", BUILD, "tests/cli/mkdb"], stdout=subprocess.DEVNULL, check=True)
    describe, _ = random_tree(CONTEXTS)
    db = path("page-db")
    shutil.rmtree(db, ignore_errors=True)
    subprocess.run([os.path.join(BUILD, "tests/cli/mkdb"), db], input=describe, text=True, check=True)
    subprocess.run([DWELL, "export", "--pprof", "--db", db, "-o", path("page.pb.gz")], env=environment(), check=True, stdout=subprocess.DEVNULL)
    say("the page: its first flame graph")
    ours = sorted(first_picture([DWELL, "web", "--db", db, "--listen", "127.0.0.1:PORT"], "http://127.0.0.1:PORT/api/flame?by=address") for _ in range(ROUNDS))[ROUNDS // 2]
    theirs = None
    if shutil.which("go"):
        argv = ["go", "tool", "pprof", "-no_browser", "-http=127.0.0.1:PORT", path("page.pb.gz")]
        theirs = sorted(first_picture(argv, "http://127.0.0.1:PORT/ui/flamegraph") for _ in range(ROUNDS))[ROUNDS // 2]
    ratio = ours / theirs if theirs else None
    row("the page: first flame graph of %d contexts: server CPU" % CONTEXTS, "%.0f ms" % (1e3 * ours), "%.0f ms" % (1e3 * theirs) if theirs else "-", ratio,
        "<= 0.2", ratio is not None and ratio <= 0.2)
    in_browser(db)
    say("the page: a month's database")
    make_month(path("month-db"))
    for what, where, words in (("%d contexts" % CONTEXTS, db, "epoch=latest"), ("%d days" % DAYS, path("month-db"), "epoch=all")):
        memory, most = crowd(where, words)
        row("the page, %s: memory of the server, %d clients" % (what, CLIENTS), "%.1f MB" % memory, "-", None, "<= 100 MB", memory <= 100)
        row("the page, %s: with the children that answer" % what, "%.1f MB" % most, "-", None, "-", None)
    notes.append("the page: beside is go tool pprof -http on the pprof of the same data")
