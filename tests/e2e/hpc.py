#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""HPCToolkit databases of real recordings: what they hold is what dwell's own readers say of the same samples, and all
of it passes `dwell check` and a reader that was written from the format's description alone."""
import collections
import json
import os
import signal
import subprocess
import sys
import time

from e2e import DWELL, check, dwell, likely, longer, note, prog, record, sh

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../hpc"))
import hpcdb

PERIOD = 1000003


def build(*argv):
    p = dwell("hpc", *argv)
    check(p.returncode == 0, p.stderr)
    return p.stdout


def opened(path):
    """The database, after all checks."""
    p = dwell("check", path)
    check(p.returncode == 0, "dwell check: %s%s" % (p.stdout[-2000:], p.stderr))
    return hpcdb.Database(path).check()


def samples(db, profile, ctx, scope):
    """A value as the number of samples it is made of."""
    (prop,) = [k for k, v in db.props.items() if v[1] == scope]
    n = db.values[profile].get(ctx, {}).get(prop, 0) * 1e9 / PERIOD
    check(abs(n - round(n)) < 1e-6, "%.9g samples" % n)
    return round(n)


def total(db, ctx=0, scope="execution"):
    return sum(samples(db, i, ctx, scope) for i in range(1, len(db.values)))


def by_function(db):
    """Samples in the code of each procedure, inlined calls within what they are in, as `prof` counts."""
    counts = collections.Counter()
    for c in db.contexts.values():
        at = c
        while at.parent and not (at.type == hpcdb.FUNCTION and at.relation == "call"):
            at = at.parent
        n = total(db, c.id, "point") if at.parent else 0
        if n:
            counts[at.name] += n
    return counts


def everything_is_in_it():
    account = record("-g", "--by", "tid", "--trace", "-e", "cpu-clock:%d" % PERIOD, "--", prog("calls"), longer(2))
    build("--db", "db", "-o", "out", "--instructions")
    build("--db", "db", "-o", "short")
    build("--db", "db", "-o", "page", "--layout", "page", "--jobs", "1")
    out, short, page = opened("out"), opened("short"), opened("page")
    check((out.layout, page.layout) == ("released", "page"), (out.layout, page.layout))
    (event,) = account["events"]
    check(total(out) == total(page) == event["samples"], "%d %d" % (total(out), event["samples"]))
    check(short.values == out.values and short.unlisted == {c.id for c in out.contexts.values() if c.type == hpcdb.INSTRUCTION},
          "%d contexts are not listed" % len(short.unlisted))
    points = sum(sum(ctx != 0 for _, ctx in line) for line in out.lines.values())
    # Points at one nanosecond are one.
    check(points <= account["traces"]["points"] <= points + 3, "%d points" % points)
    check(out.title.startswith("calls") and "cpu-clock" in out.description, out.title + out.description)
    check(os.path.isfile("out/FORMATS.md") and os.path.isfile("out/metrics/METRICS.yaml.ex"), os.listdir("out"))
    note("%d contexts, %d threads" % (len(out.contexts) - 1, len(out.values) - 1))
    # Procedures, as prof has them by the same symbols.
    prof = json.loads(sh(DWELL, "prof", "--db", "db", "--json", "--by", "procedure"))
    want = collections.Counter()
    for row in prof["rows"]:
        n = row["counts"].get(event["name"], 0)
        if n and row["procedure"]:
            want[row["procedure"]] += n
    have = by_function(out)
    for name in want:
        check(have[name] == want[name], "%s: %d, prof has %d" % (name, have[name], want[name]))


def threads_are_kept():
    record("--by", "tid", "-e", "cpu-clock:%d" % PERIOD, "--", prog("blocks"), longer(0.5), "spinner1", "spinner2")
    build("--db", "db", "-o", "out")
    out = opened("out")
    tids = json.loads(sh(DWELL, "prof", "--db", "db", "--json", "--by", "tid"))
    want = sorted(n for row in tids["rows"] for n in [row["counts"].get("cpu-clock", 0)] if n)
    have = sorted(samples(out, i, 0, "execution") for i in range(1, len(out.values)))
    check(have == want, "%s, prof has %s" % (have, want))
    build("--db", "db", "-o", "grouped", "--event", "cpu-clock")
    check(total(opened("grouped")) == sum(want), "chosen events")


def ranks_are_named():
    os.environ["OMPI_COMM_WORLD_RANK"] = "3"
    record("--by", "tid", "-e", "cpu-clock:%d" % PERIOD, "--", prog("burn"), longer(0.3))
    record("--by", "tid", "--label", "mine", "-e", "cpu-clock:%d" % PERIOD, "--", prog("burn"), longer(0.3))
    del os.environ["OMPI_COMM_WORLD_RANK"]
    build("--db", "db", "--epoch", "all", "-o", "out")
    names = [opened("out").name_of(i) for i in range(1, len(opened("out").values))]
    check([("RANK 3 " in n) for n in names].count(True) == 1 and len(names) == 2, names)


def loops_and_inlined_calls():
    with open("nest.c", "w", encoding="ascii") as f:
        f.write("""#include <stdio.h>
static inline __attribute__((always_inline)) double sum(double x, int n)
{
	for (int i = 0; i < n; i++)
		x += 1 / (x + i);
	return x;
}
__attribute__((noinline)) double work(double x)
{
	for (int i = 0; i < 1000; i++)
		x = sum(x, 1000);
	return x;
}
int main(void)
{
	double x = 1;

	for (int i = 0; i < 300; i++)
		x += work(x);
	return printf("%g\\n", x) < 0;
}
""")
    sh("gcc", "-g", "-O2", "-fno-unroll-loops", "-o", "nest", "nest.c")
    record("-g", "-e", "cpu-clock:%d" % PERIOD, "--", "./nest")
    build("--db", "db", "-o", "out", "--instructions")
    out = opened("out")
    hottest = max(out.contexts.values(), key=lambda c: total(out, c.id, "point"))
    path = []
    while hottest.parent:
        path.insert(0, hottest.label().replace("src" + os.getcwd() + "/", ""))
        hottest = hottest.parent
    path = [p.split("@")[0].rsplit(" nest", 1)[0] if "loop" in p else p for p in path]
    note("\n".join(path))
    # Its unwind table came late, or little of it was seen: then another path is the hottest.
    likely("[call] function work" in path, path)
    at = path.index("[call] function work")
    likely(path[at + 1:-1] == ["loop nest.c:10", "line nest.c:11", "[inlined call] function sum", "loop nest.c:4", "line nest.c:5"],
          path[at:])
    calls = path[:at]
    likely(calls[0] == "entry 1 main thread" and "[call] function main" in calls and "loop nest.c:18" in calls, calls)
    check(os.path.isfile("out/src" + os.path.abspath("nest.c")), "its source is copied")


def an_interrupt_leaves_nothing():
    record("-a", "-g", "-d", longer(1))
    # What is there is read again and again, so that it takes a while.
    p = subprocess.Popen([DWELL, "hpc", "-o", "out", *["db"] * longer(200)], stderr=subprocess.PIPE, text=True)
    while p.poll() is None and not any(name.startswith("out.tmp-") for name in os.listdir(".")):
        time.sleep(0.001)
    p.send_signal(signal.SIGINT)
    err = p.communicate(timeout=300)[1]
    likely(p.returncode != 0, "it was done before the signal came")
    check(p.returncode == 2 and err == "dwell hpc: interrupted\n", "%d: %s" % (p.returncode, err))
    check(not [name for name in os.listdir(".") if name.startswith("out")], os.listdir("."))


if __name__ == "__main__":
    from e2e import run
    run(everything_is_in_it, threads_are_kept, ranks_are_named, loops_and_inlined_calls, an_interrupt_leaves_nothing)
