#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Counts of branch stacks beside those of AutoFDO's create_llvm_prof and LLVM's llvm-profgen, of the same recording.

    bench/autofdo.py BUILD RECORDING PROGRAM

RECORDING is of `perf record -b`, with PROGRAM, which has lines; such a pair is public in testdata of google/autofdo
(test.lbr and test.binary).  All three write how often each line ran, in the recorded straight runs.  Compared are lines
that both count, weighed by the other's count; and what only one of them counts (LLVM's tools do not have the same inlined
calls and discriminators in all code).  Debian's packages autofdo and llvm."""
import os
import re
import subprocess
import sys
import tempfile

MAPPED = re.compile(r".*PERF_RECORD_MMAP2? (-?\d+)/(-?\d+): \[(\w+)\((\w+)\) @ (\w+)[^]]*\]: \S+ (\S+)")


def lines(path):
    """{(inlined calls and line): count} of LLVM's text of sample profiles."""
    found, stack = {}, []
    with open(path, errors="replace") as f:
        for text in f:
            depth, text = len(text) - len(text.lstrip(" ")), text.strip()
            count, call = re.match(r"([\d.]+): (\d+)(?: .*)?$", text), re.match(r"([\d.]+): (.+):\d+$", text)
            if depth == 0:
                stack = [text.rsplit(":", 2)[0]]
            elif count:
                found[tuple(stack[:depth]) + (count[1],)] = int(count[2])
            elif call:
                stack = stack[:depth] + [call[1] + " " + call[2]]
    return found


def beside(name, ours, theirs):
    both = [k for k in theirs if theirs[k] and ours.get(k)]
    weight = sum(theirs[k] for k in both)
    shares = [sum(theirs[k] for k in both if abs(ours[k] / theirs[k] - 1) <= at) / weight for at in (0.001, 0.01, 0.05)]
    alone = [100 * sum(v for k, v in a.items() if not b.get(k)) / sum(a.values()) for a, b in ((ours, theirs), (theirs, ours))]
    print("%s: %d lines; within 0.1 %%: %.2f %% of the weight, 1 %%: %.2f %%, 5 %%: %.2f %%; only ours %.2f %%, only theirs "
          "%.2f %%" % (name, len(both), *(100 * s for s in shares), *alone))


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    build, data, program = map(os.path.abspath, sys.argv[1:])
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        subprocess.run([os.path.join(build, "dwell"), "export", "--autofdo", "-o", "ours", "--path", program, data],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run(["create_llvm_prof", "--binary=" + program, "--profile=" + data, "--out=autofdo", "--format=text"],
                       check=True, stderr=subprocess.DEVNULL)
        text = subprocess.run(["perf", "script", "-i", data, "-F", "ip,brstack", "--show-mmap-events"], check=True,
                              capture_output=True, text=True, errors="replace").stdout
        with open("script", "w") as f:
            for line in text.splitlines():
                mapped = MAPPED.match(line)
                if mapped and os.path.basename(mapped[6]) == os.path.basename(program): # as today's perf writes it, which llvm-profgen reads
                    f.write("PERF_RECORD_MMAP2 %s/%s: [%s(%s) @ %s 00:00 0 0]: r-xp %s\n" % mapped.groups())
                elif "PERF_RECORD" not in line:
                    f.write(line + "\n")
        subprocess.run(["llvm-profgen-14", "--perfscript=script", "--binary=" + program, "--output=profgen", "--format=text"],
                       check=True, capture_output=True)
        ours = lines("ours")
        beside("create_llvm_prof", ours, lines("autofdo"))
        beside("llvm-profgen", ours, lines("profgen"))
        os.chdir("/")


if __name__ == "__main__":
    main()
