#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Exports of what perf recorded, beside what perf prints of the same file, and as other tools read them."""
import collections
import json
import os
import re
import subprocess

from e2e import check, dwell, enough, longer, note, prog, run, sh


def blocks(text):
    """{(comm, tid, event, period, ((symbol, image), ...)): n} of `perf script`'s text"""
    found = collections.Counter()
    for block in re.split(r"\n\s*\n", text):
        lines = block.strip("\n").splitlines()
        if not lines:
            continue
        head = re.match(r"\s*(\S.*?)\s+(?:\d+/)?(\d+)\s+(?:[\d.]+:)?\s*(\d+)\s+(\S+):\s*$", lines[0])
        check(head, lines[0])
        frames = []
        for line in lines[1:]:
            f = re.match(r"\s+[0-9a-f]+ (.*?)(?:\+0x[0-9a-f]+)? \((.*)\)$", line)
            check(f, line)
            if f[1] == "[unknown]" and f[2] == "[unknown]" or f[1].startswith("[truncated"):
                continue  # where a chain of frame pointers ends, which perf shows as it finds it
            # A handler is not called: the byte before its return address is of no procedure, in which perf looks.
            symbol = "[unknown]" if f[1] == "__restore_rt" else f[1]
            frames.append((symbol, "inlined" if f[2] == "inlined" else os.path.basename(f[2])))
        found[head[1], int(head[2]), head[4], int(head[3]), tuple(frames)] += 1
    return found


def recording():
    sh("perf", "record", "-q", "-e", "cpu-clock:u", "-c", "250000", "-g", "-o", "perf.data", "--", prog("calls_fp"),
       str(longer(40)))


def text_is_perfs():
    recording()
    theirs = blocks(subprocess.run(["perf", "script", "--no-inline", "-i", "perf.data", "-F",
                                    "comm,tid,time,period,event,ip,sym,symoff,dso"],
                                   capture_output=True, text=True, check=True).stdout)
    dwell("export", "--perf-script", "--no-inline", "-o", "ours.txt", "--db", "perf.data")
    ours = blocks(open("ours.txt", encoding="utf-8").read())
    n = sum(theirs.values())
    enough(n, 500, "samples")
    same = sum((ours & theirs).values())
    note("%d of %d blocks are equal" % (same, n))
    check(sum(ours.values()) == n, "%d samples, perf has %d" % (sum(ours.values()), n))
    check(same >= 0.99 * n, "%s %s" % (list((ours - theirs).items())[:3], list((theirs - ours).items())[:3]))


def sums_are_ours():
    recording()
    shown = json.loads(dwell("prof", "--db", "perf.data", "--json").stdout)
    n = shown["events"][0]["samples"]
    dwell("export", "--pprof", "-o", "a.pb.gz", "--db", "perf.data")
    raw = sh("go", "tool", "pprof", "-symbolize=none", "-raw", "a.pb.gz")
    values = re.findall(r"^\s+(\d+)\s+(\d+): [\d ]+$", raw, flags=re.M)
    check(sum(int(v[0]) for v in values) == n, "pprof: %d of %d" % (sum(int(v[0]) for v in values), n))
    check(sum(int(v[1]) for v in values) == n * 250000, "pprof: %s" % values[:3])
    dwell("export", "--callgrind", "-o", "callgrind.out", "--db", "perf.data")
    text = sh("callgrind_annotate", "--auto=no", "callgrind.out")
    total = re.search(r"^\s*([\d,]+).*PROGRAM TOTALS", text, flags=re.M)
    check(total and int(total[1].replace(",", "")) == n, text[:800])
    dwell("export", "--speedscope", "-o", "a.json", "--db", "perf.data")
    profiles = json.load(open("a.json", encoding="utf-8"))["profiles"]
    check(sum(sum(p["weights"]) for p in profiles) == n * 250000, "speedscope")
    dwell("export", "--firefox", "-o", "b.json", "--db", "perf.data")
    threads = json.load(open("b.json", encoding="utf-8"))["threads"]
    check(sum(t["samples"]["length"] for t in threads) == n, "firefox")


run(text_is_perfs, sums_are_ours)
