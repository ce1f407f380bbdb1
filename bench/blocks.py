#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""How right `dwell export --bb` is: counts of blocks by branch stacks and by samples of retired instructions, made of
the path of a program that was single-stepped, beside what callgrind counted in a run of the same work.

    bench/blocks.py BUILD [SAMPLES [DEPTH [PROGRAM...]]]

Judged are the blocks of the program and its own library, weighed by how often they ran: the share within 5 %, what it
could be (bound), and of the others how sure dwell was of them; and how much is called high or medium, and is right.

The bound is arithmetic: what is seen N times is off by 1/sqrt(N), so of a block with N samples erf(0.05 sqrt(N / 2))
of all draws are within 5 %.  By branches N is in how many stacks' runs the block is to be expected.  By retired
instructions N is of all blocks of the procedure that ran as often, as if somebody had told which these are: by its own
samples alone (own) it is less.  Flow may tell a little more, where blocks add up to another one.  Left out are blocks that ran otherwise in callgrind's run than in the stepped
one (the environment that valgrind adds to, addresses), and the loader and the C library, which choose code by the CPU.
A program takes some 30 s of CPU time and 600 MB below $TMPDIR; a step is 10 us (sqlite+: 16.3 million)."""
import bisect
import math
import os
import re
import subprocess
import sys
import tempfile

TEXT = "/usr/share/common-licenses/BSD"
WITHIN = 0.05
SURE = ["exact", "high", "medium", "low", "unknown"]


def programs():
    """Commands, and the last part of the path of the images that are judged."""
    return {
        "mawk": (["/usr/bin/mawk", "BEGIN{for(i=0;i<2000;i++)s+=i*i%7;print s}"], "mawk"),
        "gzip": (["/bin/gzip", "-c", TEXT], "gzip"),
        "bzip2": (["/usr/bin/bzip2", "-c", TEXT], "libbz2.so"),
        "sqlite3": (["/usr/bin/sqlite3", ":memory:", "with recursive c(x) as (select 1 union all select x+1 from c "
                     "where x<50) select sum(x*x%7) from c"], "libsqlite3.so"),
        # The same, and what it does takes longer than its start.
        "sqlite+": (["/usr/bin/sqlite3", ":memory:", "with recursive c(x) as (select 1 union all select x+1 from c "
                     "where x<5000) select sum(x*x%7) from c"], "libsqlite3.so"),
    }


def run(*command, **options):
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace", **options)
    if done.returncode:
        sys.exit("%s: exit %d\n%s" % (" ".join(command), done.returncode, done.stderr[-2000:]))
    return done.stderr


def blocks(build, data, image, *options):
    """{(start, end): (count, confidence, procedure)} of the blocks in IMAGE; docs/formats/blocks.md."""
    found, mine, procedure = {}, False, None
    run(os.path.join(build, "dwell"), "export", "--bb", data, "-o", data + ".blocks", *options,
        stdout=subprocess.DEVNULL)
    with open(data + ".blocks") as f:
        for line in f:
            words = line.split()
            if words[0] == "image":
                mine = os.path.basename(words[2]).startswith(image)
            elif words[0] == "procedure":
                procedure = words[1]
            elif mine:
                found[words[0], words[1]] = (0 if words[2] == "-" else float(words[2]), words[3], procedure)
    return found


def instructions(data, image):
    """Addresses of all instructions of the image of DATA that is called IMAGE."""
    with open(data + ".blocks") as f:
        path = next(p for p in re.findall(r"^image \S+ (.*)$", f.read(), re.M) if os.path.basename(p).startswith(image))
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], stdout=subprocess.PIPE, text=True, check=True)
    return sorted(int(a, 16) for a in re.findall(r"^ *([0-9a-f]+):\t", text.stdout, re.M))


def expected(truth, samples):
    """Of all executions of TRUTH, the percent within 5 % when blocks are known by so many SAMPLES."""
    right = sum(t[0] * math.erf(WITHIN * math.sqrt(samples[b] / 2)) for b, t in truth.items())
    return 100 * right / sum(t[0] for t in truth.values())


def bounds(truth, code, per_run, per_instruction):
    """{what counts are of: (by the block's own samples, bound)}; samples PER_RUN and PER_INSTRUCTION executed."""
    runs = {b: t[0] * per_run for b, t in truth.items()}
    own = {b: t[0] * per_instruction * (bisect.bisect_left(code, int(b[1], 16)) - bisect.bisect_left(code, int(b[0], 16)))
           for b, t in truth.items()}
    pools = {}
    for b, t in truth.items():
        pools[t[2], t[0]] = pools.get((t[2], t[0]), 0) + own[b]
    pooled = {b: pools[t[2], t[0]] for b, t in truth.items()}
    by_runs = expected(truth, runs)
    return {"branches": (by_runs, by_runs), "retired": (expected(truth, own), expected(truth, pooled))}


def judge(name, basis, truth, guess, scale, bound):
    """Prints a row: of all executions, those within 5 %, and the wrong ones by how sure dwell was."""
    total, right, wrong, of = 0, 0, dict.fromkeys(SURE, 0), dict.fromkeys(SURE, 0)
    for block, (n, *_) in truth.items():
        count, sure, *_ = guess.get(block, (0, "unknown"))
        total += n
        of[sure] += n
        if abs(count * scale - n) <= WITHIN * n:
            right += n
        else:
            wrong[sure] += n
    pct = [100 * right / total, *bound, *(100 * wrong[s] / total for s in SURE[1:])]
    sure = of["high"] + of["medium"]
    kept = 100 * (1 - (wrong["high"] + wrong["medium"]) / sure) if sure else float("nan")
    print("%-7s %-8s %11.0f %6d %7.2f %7.2f %7.2f %7.2f %7.2f %7.2f %7.2f %8.2f %8.2f" %
          (name, basis, total, len(truth), *pct, 100 * sure / total, kept), flush=True)


def measure(build, name, n, depth):
    command, image = programs()[name]
    run("valgrind", "--tool=callgrind", "--dump-instr=yes", "--callgrind-out-file=counts", *command,
        stdout=subprocess.DEVNULL)
    with open("branches", "wb") as f:
        said = run(os.path.join(build, "bench/step_branches"), "path", str(n), str(depth), "retired", *command, stdout=f)
    compare(build, name, image, n, depth, said)


def compare(build, name, image, n, depth, said):
    """Judges the files of step_branches, which SAID what the path is."""
    steps, taken = map(int, re.search(r"step_branches: (\d+) instructions, (\d+) branches", said).groups())
    # Procedures that neither sampled are not in the truth either: n executions of them are too few to be seen.
    truth = blocks(build, "branches", image, "--counts", "counts")
    truth.update(blocks(build, "retired", image, "--counts", "counts"))
    path = blocks(build, "retired.all", image)
    # Samples have a period of 1000, and the fit of all of them is right to a thousandth.
    both = {b: t for b, t in truth.items() if abs(path.get(b, (0, ""))[0] / 1000 - t[0]) < max(0.5, 0.001 * t[0])}
    print("%-7s %d instructions, %.2f %% of executions are the same in both runs" %
          (name, steps, 100 * sum(t[0] for t in both.values()) / sum(t[0] for t in truth.values())))
    by = {"branches": blocks(build, "branches", image), "retired": blocks(build, "retired", image)}
    # Between DEPTH jumps are DEPTH - 1 runs.
    bound = bounds(both, instructions("branches", image), n * (depth - 1) / taken, n / steps)
    judge(name, "branches", both, by["branches"], taken / (n * (depth - 1)), bound["branches"])
    judge(name, "retired", both, by["retired"], steps / (n * 1000), bound["retired"])


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build = os.path.abspath(sys.argv[1])
    n, depth = (int(w) for w in (sys.argv[2:4] + ["1000000", "16"][len(sys.argv[2:4]):]))
    print("%d samples, stacks of %d; load %.0f" % (n, depth, os.getloadavg()[0]))
    print("%-7s %-8s %11s %6s %7s %15s %31s %17s" % ("", "", "", "", "within", "by samples", "wrong, % of executions, called",
                                                "high and medium"))
    print("%-7s %-8s %11s %6s %7s %7s %7s %7s %7s %7s %7s %8s %8s" % ("", "of", "executions", "blocks", "5 %", "own", "bound", "high", "medium",
                                                             "low", "unknown", "are, %", "right, %"))
    for name in sys.argv[4:] or programs():
        with tempfile.TemporaryDirectory() as scratch:
            os.chdir(scratch)
            measure(build, name, n, depth)
            os.chdir("/")


if __name__ == "__main__":
    main()
