# SPDX-License-Identifier: BSD-2-Clause
"""The rows about `dwell web`: CPU time of the first flame graph of a million samples beside `go tool pprof -http` on our
pprof of the same data, and the server's memory with eight clients."""
import os
import shutil
import socket
import subprocess
import threading
import time
import urllib.request

from common import DWELL, BUILD, QUICK, WORK, environment, notes, row, say
from measure import CannotMeasure
from pictures import random_tree

CONTEXTS, SAMPLES = 300000, 1000000
ROUNDS = 1 if QUICK else 3
CLIENTS = 8


def path(name):
    return os.path.join(WORK, name)


def tree(pid):
    """PID and all below it."""
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="utf-8") as f:
        return [pid] + [p for child in f.read().split() for p in tree(int(child))]


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


def crowd(db):
    """Peaks of both processes of the server while CLIENTS ask for everything in turn."""
    port = free_port()
    p = served([DWELL, "web", "--db", db, "--listen", "127.0.0.1:%d" % port], port)
    try:
        def ask():
            for name in ("flame", "prof", "tree", "epochs", "minutes", "flame"):
                get("http://127.0.0.1:%d/api/%s" % (port, name))

        threads = [threading.Thread(target=ask) for _ in range(CLIENTS)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return sum(peak_mb(q) for q in tree(p.pid))
    finally:
        p.terminate()
        p.wait()


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
    memory = crowd(db)
    row("the page: memory of the server, %d clients" % CLIENTS, "%.1f MB" % memory, "-", None, "<= 100 MB", memory <= 100)
    notes.append("the page: beside is go tool pprof -http on the pprof of the same data")
