#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Data addresses: page faults of a program that knows which pages it touches, recorded by perf, one sample a
fault; and made-up loads and stores, beside what perf mem and perf c2c report of the same file."""
import collections
import json
import os
import random
import re
import shutil
import subprocess

from e2e import BIN, DWELL, Skipped, check, enough, prog, run, sh

MKPERF = os.path.join(os.path.dirname(BIN), "cli", "mkperf")


def rows(*argv):
    return json.loads(sh(DWELL, "mem", "--json", "-n", "0", *argv))["rows"]


def pages_of_objects():
    """Each page that is touched first is a fault, which is counted and not chosen: the numbers are exact, but for pages that
    the loader or the kernel had touched before (of the stack, of what was relocated)."""
    shutil.copy(prog("memory"), "program")
    p = subprocess.run(["perf", "record", "-q", "-e", "page-faults:u", "-c", "1", "-d", "-o", "perf.data", "./program"],
                       capture_output=True, text=True, check=False)
    if p.returncode:
        raise Skipped("perf cannot record page faults: " + p.stderr.strip()[-100:])
    words = p.stdout.split()
    pages = {name: int(n) for name, n in zip(words[::2], words[1::2]) if name != "[heap]"}

    def look(*argv):
        got = collections.Counter()
        for r in rows("--by", "object", *argv):
            if r["image"] is None or r["image"].endswith("/program"):
                # The kernel calls the heap so only where it has grown before (mm.h, vma_is_initial_heap).
                got["[heap]" if r["name"] == "[anon]" else r["name"]] += r["samples"]
        check(48 <= got.pop("[heap]") <= 64, f"{got} of the heap and what the loader maps")
        for name, n in pages.items():
            check(n - 4 <= got[name] <= n + 4, f"{got[name]} of {n} pages of {name}: {got}")
        return got

    seen = look("perf.data")
    sh(DWELL, "import", "--db", "db", "perf.data")
    check(look("db") == seen, "the database has other objects")
    os.remove("program")
    check(look("db") == seen, "the names went with the program")
    table = sum(r["samples"] for r in rows("--by", "page", "db") if re.match(r"table(\+|$)", r["name"] or ""))
    check(pages["table"] - 4 <= table <= pages["table"] + 4, f"{table} pages of table")


# What perf calls it, and what dwell does; what mkperf writes.
LEVELS = {"L1 hit": ("L1", "load,l1,nosnoop"), "LFB/MAB hit": ("line buffer", "load,lfb,nosnoop"), "L2 hit": ("L2", "load,l2,nosnoop"),
          "L3 hit": ("L3", "load,l3,nosnoop"), "Local RAM hit": ("memory", "load,ram,nosnoop"), "L1 miss": ("beyond L1", "store,miss")}
HITM = "load,l3,hitm"


def synthesize():
    """Two threads that share lines 0 to 7 of a mapping, with falling numbers of HITM, and 40 lines of their own."""
    dice = random.Random(20)
    text = ["numa 0-3", "blocks 134217728 1", "event 1000 memory", "exec 10 a.out", "mmap 10 401000 1000 1000 /a.out",
            "mmap 10 600000 100000 0 //anon", "comm 10 11 a.out"]
    for i in range(8):
        for k in range(40 - 4 * i):
            text.append(f"access 10 {10 + k % 2} {len(text)} 401010 {0x600000 + 64 * i + 8 * (k % 2):x} {HITM} {100 + k} 0 {k % 2}")
        text += [f"access 10 10 {len(text)} 401020 {0x600000 + 64 * i:x} store,l1 0 0 0"] * (5 + i)
    for _ in range(2000):
        _, what = dice.choice(list(LEVELS.values()))
        tid = dice.randrange(10, 12)
        text.append(f"access 10 {tid} {len(text)} 401030 {0x610000 + 0x1000 * tid + 8 * dice.randrange(160):x} {what} "
                    f"{dice.randrange(4, 900)} 0 {tid - 10}")
    with open("perf.data", "wb") as f:
        subprocess.run([MKPERF], input=("\n".join(text + ["round", ""])).encode(), stdout=f, check=True)


def levels_beside_perf_mem():
    synthesize()
    p = subprocess.run(["perf", "mem", "-i", "perf.data", "report", "--stdio", "--sort", "mem"], capture_output=True, text=True,
                       check=False)
    theirs = {m[2].strip(): int(m[1]) for m in re.finditer(r"^ +[\d.]+% +(\d+) +(.+?) *$", p.stdout, re.M)}
    if not theirs:
        raise Skipped("perf mem reports nothing: " + p.stderr.strip()[-100:])
    ours = {r["name"]: r["samples"] for r in rows("--by", "level", "perf.data")}
    for name, (level, _) in LEVELS.items():
        enough(theirs.get(name, 0), 100, f"samples of {name}")
        check(ours.get(level) == theirs[name], f"{level}: {ours.get(level)}, perf mem {theirs[name]}")
    check(sum(ours.values()) == sum(theirs.values()), f"{ours} {theirs}")


def lines_beside_perf_c2c():
    synthesize()
    p = subprocess.run(["perf", "c2c", "report", "--no-source", "-i", "perf.data", "--stdio"], capture_output=True, text=True,
                       check=False)
    # Index, address, node, PA cnt, share, total HITM, local, remote, records, loads, stores
    theirs = [(int(m[1], 16), *(int(x) for x in m[2].split()))
              for m in re.finditer(r"^ +\d+ +(0x[0-9a-f]+) +\S+ +\d+ +[\d.]+% +(\d+ +\d+ +\d+ +\d+ +\d+ +\d+) ", p.stdout, re.M)]
    if p.returncode or not theirs:
        raise Skipped("perf c2c reports nothing: " + p.stderr.strip()[-100:])
    got = json.loads(sh(DWELL, "mem", "--json", "--by", "line", "-n", "0", "perf.data"))
    ours = {int(r["start"], 16): r for r in got["rows"]}
    check([a for a, *_ in theirs] == [int(r["start"], 16) for r in got["rows"] if r["modified"]],
          f"lines in another order: {theirs}")
    for address, hitm, _, _, n, loads, stores in theirs:
        r = ours[address]
        check((r["modified"], r["samples"], r["loads"], r["stores"]) == (hitm, n, loads, stores), f"{address:#x}: {r}")
        check(r["threads"] == 2 and r["writers"] == 1, f"threads of {r}")
        uses = {int(u["offset"], 16) for u in got["uses"] if u["number"] == r["number"]}
        check(uses == {0, 8}, f"offsets {uses}")


if __name__ == "__main__":
    run(pages_of_objects, levels_beside_perf_mem, lines_beside_perf_c2c)
