# SPDX-License-Identifier: BSD-2-Clause
"""The rows about pictures: `dwell flame` of a million samples beside perf script and a converter, and what its page
costs in a browser beside npm's speedscope, of the same recording and of a tree made at random."""
import json
import os
import random
import shutil
import subprocess

from common import (BUILD, CPUS, DWELL, HERE, QUICK, SPAWN, WORK, add_median_row, environment, notes,
                    perf_samples, record_for, row, say)
from measure import CannotMeasure, run_once

SAMPLES = 200000 if QUICK else 1000000
RECORD_S = 30
HZ = SAMPLES * 21 // 20 // RECORD_S // len(CPUS)
ROUNDS = 2 if QUICK else 5
BOXES = 300000
# Fetched by npm into the work directory, at these versions.
SPEEDSCOPE = "speedscope@1.25.0"
CONVERTER = "stackvis@0.5.0"  # reads lines as they come; npm's flamegraph fails on more than 512 MB
DB = os.path.join(WORK, "picture-db")


def path(name):
    return os.path.join(WORK, name)


def npm(package):
    """Unpacks PACKAGE; its dependencies only where it needs some.  Returns where it is, or None."""
    home = path("npm")
    os.makedirs(home, exist_ok=True)
    done = subprocess.run(["npm", "install", "--prefix", home, "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0",
                           package], capture_output=True, text=True)
    if done.returncode != 0:
        notes.append("pictures: npm install %s: %s" % (package, (done.stderr.strip().splitlines() or ["failed"])[-1][:100]))
        return None
    return os.path.join(home, "node_modules", package.split("@")[0])


def random_tree(n):
    """A tree of N contexts in 60 levels, as a description for mkdb and as stacks for others."""
    rng, stack, made = random.Random(7), [], 0
    describe = ["event cycles 1\nimage file /tmp/x\nowner - - comm=x"]
    stacks = []
    while made < n:
        stack = stack[:rng.randrange(len(stack) + 1)] if rng.random() < .3 else stack[:max(0, len(stack) - rng.randrange(1, 8))]
        more = min(60 - len(stack), rng.randrange(1, 9))
        if more <= 0:
            continue
        stack += [0x1000 + 64 * rng.randrange(5000) for _ in range(more)]
        made += more
        count = rng.randrange(1, 20)
        describe.append("path\n" + "\n".join("frame %x" % a for a in stack[:-1]) + "\nsample %x %d" % (stack[-1], count))
        stacks.append(";".join("f%x" % a for a in stack) + " %d" % count)
    return "\n".join(describe) + "\n", "\n".join(stacks) + "\n"


def reading():
    """Rows of making the file."""
    say(f"recording {RECORD_S} s to be drawn, with perf")
    record_for(["perf", "record", "-q", "-a", "-e", "cpu-clock", "-F", str(HZ), "-g", "-o", path("picture.data")], "perf.log", RECORD_S)
    converter = npm(CONVERTER)
    subprocess.run([DWELL, "import", "--db", DB, path("picture.data")], env=environment(), check=True, stdout=subprocess.DEVNULL)
    ours = [DWELL, "flame", "--db", DB, "-o", path("flame.html")]
    theirs = "perf script -i '%s' --no-inline > '%s' 2>/dev/null" % (path("picture.data"), path("script.txt"))
    if converter:
        theirs += " && node '%s' perf flamegraph-svg < '%s' > '%s'" % (os.path.join(converter, "cmd/stackvis"), path("script.txt"), path("flame.svg")) + " 2>/dev/null"
    pairs = []
    for i in range(ROUNDS):
        say(f"pictures: {i + 1} of {ROUNDS}")
        pairs.append([run_once(SPAWN, c, environment()) for c in (ours, ["sh", "-c", theirs])])
    beside = "perf script and npm's stackvis" if converter else "perf script alone"
    add_median_row("flame, beside %s: CPU" % beside, [(a[0], b[0]) for a, b in pairs], "ms", 1e3, 0.05)
    size = os.path.getsize(path("flame.html"))
    row("flame: bytes of the page", "%.2f MB" % (size / 1e6), "-", None, "<= 1.5 MB", size <= 1500000)
    notes.append("pictures: perf recorded %d samples" % perf_samples("picture.data")[0])


def in_browser():
    """Rows of what the browser says."""
    describe, stacks = random_tree(BOXES)
    subprocess.run([os.path.join(BUILD, "tests/cli/mkdb"), path("random-db")], input=describe, text=True, check=True)
    for name, db, by in ("real", DB, "procedure"), ("random", path("random-db"), "address"):
        subprocess.run([DWELL, "flame", "--db", db, "--by", by, "-o", path(name + ".html")], env=environment(), check=True, stdout=subprocess.DEVNULL)
    with open(path("real.txt"), "w") as f:
        subprocess.run([DWELL, "export", "--folded", "--db", DB], env=environment(), check=True, stdout=f)
    with open(path("random.txt"), "w") as f:
        f.write(stacks)
    speedscope = npm(SPEEDSCOPE)
    pages = []
    for name in "real", "random":
        pages.append("%s=dwell:%s" % (name, path(name + ".html")))
        if speedscope:
            pages.append("%s beside=speedscope:%s:%s" % (name, os.path.join(speedscope, "dist/release/index.html"), path(name + ".txt")))
    say("pictures: in the browser")
    done = subprocess.run(["node", os.path.join(HERE, "frames.mjs"), str(ROUNDS)] + pages, capture_output=True, text=True)
    if done.returncode != 0:
        raise CannotMeasure("frames.mjs: " + done.stderr.strip()[-300:])
    figures = {f["name"]: f for f in map(json.loads, done.stdout.splitlines())}
    for name, what in ("real", "recording"), ("random", "300,000 boxes at random"):
        a, b = figures[name], figures.get(name + " beside")

        def add(of, title, most, key, side):
            x, y = [f and side(f)[key] for f in (a, b)]
            x, y = [v["p99"] if isinstance(v, dict) else v for v in (x, y)]
            row("%s, %s: %s" % (of, what, title), "%.1f ms" % x, "%.1f ms" % y if y is not None else "-", x / y if y else None,
                "<= %d ms" % most if most else "-", None if most is None else x <= most)

        add("zoom", "first picture", 300, "first_paint_ms", lambda f: f)
        for of, side in ("zoom", lambda f: f), ("search", lambda f: f["search"]), ("hover", lambda f: f["hover"]):
            add(of, "script and layout of a frame, p99", 16 if of == "zoom" else None, "script_and_layout_ms", side)
            add(of, "CPU of that, p99", None, "script_and_layout_cpu_ms", side)
            add(of, "main thread a frame, p99", None, "main_thread_ms", side)
            add(of, "between frames, p99", None, "between_frames_ms", side)
            notes.append("%s, %s: %d frames; beside: speedscope%s" % (of, what, side(a)["frames"], ", %d frames" % side(b)["frames"] if b else " is not there"))


def measure():
    if not shutil.which("node") or not os.path.exists("/usr/lib/chromium/chromium-headless-shell"):
        notes.append("pictures: no browser (tools/install-packages packages.services)")
        return
    subprocess.run(["ninja", "-C", BUILD, "tests/cli/mkdb"], stdout=subprocess.DEVNULL, check=True)
    reading()
    in_browser()
    os.remove(path("picture.data"))
