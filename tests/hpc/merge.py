#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Holds what `dwell hpc` makes of HPCToolkit databases against these, by anydb.py, a second reader:
merge.py DWELL DATABASE... | merge.py DWELL --make MKHPC

Each database is copied in its own layout, put into the other one and back, and all are merged; every profile's
values must be the same numbers in the same contexts, its trace and its identifiers too.  With --make they are what
MKHPC writes.  Without databases those below $DWELL_FIXTURES/hpctoolkit are taken (skipped when there are none).
Prints TAP."""
import collections
import math
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import anydb
from tap import check, finish

dwell = sys.argv[1]


def source(path):
    """Paths of copied files begin with src."""
    return path[3:] if path and path.startswith("src/") else path


def label(c):
    if c.parent.parent is None:
        return c.pretty or c.function["name"]
    f = c.function
    return (c.relation, c.kind, f and (f["name"], f["module"], f["offset"], source(f["file"]), f["line"]), source(c.file), c.line,
            c.module, c.offset)


class Content:
    """What a database says, without its numbers of things."""

    def __init__(self, path):
        self.db = db = anydb.Database(path)
        self.paths = {0: ()}
        for c in db.root.walk():
            if c.parent:
                self.paths[c.id] = (*self.paths[c.parent.id], label(c))
        props = {i: (name, scope) for name, m in db.metrics.items() for scope, i in m["prop"].items()}
        self.profiles = [self.profile(p, props) for p in db.profiles[1:]]
        self.ids = [p["ids"] for p in db.profiles[1:]]
        self.lines = {}
        if (pathlib.Path(path) / "trace.db").exists():
            self.lines = {i: [(t, self.paths.get(c)) for t, c in line] for i, line in db.traces() if line}
        stats = {i: (name, *key) for name, m in db.metrics.items() for key, i in m["stat"].items()}
        self.summary = self.profile(db.profiles[0], stats)

    def profile(self, p, names):
        """By context and metric: the value.  Contexts that meta.db has not are told apart by nothing."""
        values = collections.defaultdict(float)
        unlisted = collections.Counter()
        for (ctx, metric), v in p["values"].items():
            if ctx in self.paths:
                values[self.paths[ctx], names[metric]] += v
            else:
                unlisted[names[metric], v] += 1
        return dict(values), unlisted


def statistic(values, formula, combine):
    mapped = [{"1": 1.0, "$$": v, "($$^2)": v * v}[formula] for v in values]
    return {0: math.fsum, 1: min, 2: max}[combine](mapped)


def wrong_summary(b):
    """The first of B's statistics that is not what B's profiles give: over those that have the metric in any scope."""
    columns = collections.defaultdict(dict)
    for i, (values, _) in enumerate(b.profiles):
        for (path, (metric, scope)), v in values.items():
            columns[path, metric].setdefault(scope, {})[i] = v
    for (path, metric), scopes in columns.items():
        threads = set().union(*scopes.values())
        for scope, formula, combine in b.db.metrics[metric]["stat"]:
            want = statistic([scopes.get(scope, {}).get(i, 0.0) for i in sorted(threads)], formula, combine)
            have = b.summary[0].get((path, (metric, scope, formula, combine)), 0)
            if not math.isclose(want, have, rel_tol=1e-12):
                return "%s %s %s %s: %.17g, not %.17g" % (path, metric, scope, formula, have, want)
    return None


def compare(what, a, b, first=0, alone=True):
    """Whether B's profiles from FIRST on are A's, but for what is lex_aware of metrics that B has not in that scope."""
    gone = {(m, "lex_aware") for m in a.db.metrics if "lex_aware" not in b.db.metrics[m]["prop"]}
    for i, (old, new) in enumerate(zip(a.profiles, b.profiles[first:])):
        old = {k: v for k, v in old[0].items() if k[1] not in gone}, \
            collections.Counter({k: n for k, n in old[1].items() if k[0] not in gone})
        if old != new:
            wrong = [(k, old[0].get(k), new[0].get(k)) for k in {*old[0], *new[0]} if old[0].get(k) != new[0].get(k)]
            check(what + ": values", False, "profile %d: %s" % (i + 1, wrong[:3] or (old[1] - new[1])))
            return
    check(what + ": values of all profiles", len(b.profiles) >= first + len(a.profiles), len(b.profiles))
    ids = b.ids[first:first + len(a.ids)]
    if not alone:  # nodes have been numbered anew, and all processes: check_ranks
        ids, old = ([[(k, None if k == "NODE" else l, p) for k, l, p in t if k != "RANK"] for t in x] for x in (ids, a.ids))
    else:
        old = a.ids
    check(what + ": identifiers", ids == old, (ids[:2], old[:2]))
    lines = {i - first: line for i, line in b.lines.items() if 0 < i - first <= len(a.profiles)}
    check(what + ": traces", lines == a.lines, (str(lines)[:300], str(a.lines)[:300]))
    if alone:
        wrong = wrong_summary(b)
        check(what + ": statistics", not wrong, wrong)


def build(out, *argv):
    done = subprocess.run([dwell, "hpc", "-o", out, "--instructions", *map(str, argv)], capture_output=True, text=True)
    check("%s: is built" % pathlib.Path(out).name, done.returncode == 0, done.stderr)
    done = subprocess.run([dwell, "check", out], capture_output=True, text=True)
    check("%s: has no problems" % pathlib.Path(out).name, done.returncode == 0, done.stdout + done.stderr)
    return Content(out)


def check_short(name, path, a, scratch):
    """Without instructions: all else has the values it had, what instructions called stands where they stood, no value of a
    profile is lost, and time lines name what meta.db lists."""
    out = str(scratch / path.parent.name / (path.name + ".short"))
    subprocess.run([dwell, "hpc", "-o", out, "--layout", "released", path], check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run([dwell, "check", out], capture_output=True, text=True)
    check(name + " without instructions: has no problems", done.returncode == 0, done.stdout + done.stderr)
    b = Content(out)
    def short(path):
        return path and tuple(l for l in path if not isinstance(l, tuple) or (l[0], l[1]) != (anydb.LEXICAL, anydb.INSTRUCTION))

    check(name + " without instructions: there are none", all(short(p) == p for p in b.paths.values()))
    wrong = []
    for i, (old, new) in enumerate(zip(a.profiles, b.profiles)):
        want, inside = collections.defaultdict(float), collections.Counter(old[1])
        for (at, key), v in old[0].items():
            if short(at) == at:
                want[at, key] += v
            elif at[-1][1] == anydb.INSTRUCTION and at[-1][0] == anydb.LEXICAL:
                inside[key, v] += 1
            else:
                want[short(at), key] += v
        wrong += [(i, k, want.get(k), new[0].get(k)) for k in {*want, *new[0]}
                  if not math.isclose(want.get(k, 0), new[0].get(k, 0), rel_tol=1e-12)]
        if inside != new[1]:
            wrong.append((i, "not listed", list((inside - new[1]).items())[:3], list((new[1] - inside).items())[:3]))
    check(name + " without instructions: values", not wrong and len(a.profiles) == len(b.profiles), wrong[:3])
    lines = {i: [(t, short(p)) for t, p in line] for i, line in a.lines.items()}
    check(name + " without instructions: traces", lines == b.lines, (str(lines)[:300], str(b.lines)[:300]))


def check_alone(path, scratch):
    """Copied, in both layouts and back."""
    a = Content(path)
    name = "%s/%s" % (path.parent.name, path.name)
    out = str(scratch / path.parent.name / path.name)
    for layout in ("released", "page"):
        there = out + "." + layout
        b = build(there, "--layout", layout, "--jobs", 1, path)
        compare("%s in the layout %s" % (name, layout), a, b)
        check("%s: its layout" % name, b.db.released == (layout == "released"))
        check("%s: its title" % name, a.db.title == b.db.title, b.db.title)
    check_short(name, path, a, scratch)
    back = build(out + ".back", "--layout", "released", there)
    compare("%s there and back" % name, a, back)
    for file in ("profile.db", "cct.db"):  # meta.db tells of the way it took
        back, direct = ((pathlib.Path(out + how) / file).read_bytes() for how in (".back", ".released"))
        check("%s: %s is the same by another way" % (name, file), back == direct)
    return a


def check_ranks(b, contents):
    """RANK is dense over all processes, in the order of their own, and tells them apart."""
    own, at = {}, 0
    for i, a in enumerate(contents):
        for t in a.ids:
            rank = [(l, p) for k, l, p in t if k in ("RANK", "PROCESS")]
            node = [p for k, _, p in t if k == "NODE"]
            own.setdefault((rank[0][0] if rank else math.inf, i, *node, *rank), set()).add(at)
            at += 1
    ranks = [[l for k, l, _ in t if k == "RANK"] for t in b.ids]
    check("every thread has a RANK", all(len(r) == 1 for r in ranks), ranks[:4])
    check("RANK is dense", {r[0] for r in ranks} == set(range(len(own))), (len(own), sorted({r[0] for r in ranks})[-1:]))
    check("a RANK is a process", all(len({ranks[i][0] for i in threads}) == 1 for threads in own.values()), own)
    by_rank = sorted((ranks[min(threads)][0], key[0]) for key, threads in own.items())
    check("RANK in the order of the inputs' own", [k for _, k in by_rank] == sorted(k for _, k in by_rank), by_rank[:8])


def check_merged(contents, paths, scratch):
    b = build(str(scratch / "all"), *paths)
    first = 0
    for path, a in zip(paths, contents):
        compare("%s among all" % path.name, a, b, first, False)
        first += len(a.profiles)
    check_ranks(b, contents)
    for metric, m in b.db.metrics.items():
        some = [c.db.metrics[metric]["prop"] for c in contents if metric in c.db.metrics]
        check("%s: the scope lex_aware, when all have it" % metric,
              ("lex_aware" in m["prop"]) == all("lex_aware" in s for s in some), some)
    check("nothing else is there", len(b.profiles) == first, len(b.profiles))
    twice = build(str(scratch / "twice"), paths[0], paths[0])
    check("the same contexts once", len(twice.paths) == len(set(twice.paths.values())), len(twice.paths))
    n = {p: len(set(c.paths.values())) for p, c in (("one", contents[0]), ("two", twice))}
    check("no contexts more in two than in one", n["one"] == n["two"], n)
    for jobs in (2, 4):
        build(str(scratch / ("all%d" % jobs)), "--jobs", jobs, *paths)
        for file in ("meta.db", "profile.db", "cct.db", "trace.db", "metrics/default.yaml"):
            one, other = scratch / "all" / file, scratch / ("all%d" % jobs) / file
            check("%s with %d threads" % (file, jobs), one.exists() == other.exists() and
                  (not one.exists() or one.read_bytes() == other.read_bytes()))


def damage(path, r):
    """Writes numbers that are often wrong somewhere into one of its files, or cuts it off."""
    file = path / r.choice(["meta.db", "profile.db", "cct.db"])
    b = bytearray(file.read_bytes())
    for _ in range(r.choice([1, 1, 2, 5])):
        at, width = r.randrange(min(len(b), r.choice([100, 400, len(b)]))), r.choice([1, 2, 4, 8])
        number = r.choice([0, 1, 255, 0xffff, 0x7fffffff, 0xffffffff, 1 << 60, r.getrandbits(64)])
        b[at:at + width] = (number % (1 << 8 * width)).to_bytes(width, "little")
    file.write_bytes(b[:r.randrange(len(b))] if r.randrange(10) == 0 else b)
    return file.name


def check_damaged(path, scratch):
    """Damaged databases are refused in a line, or taken as far as they can be."""
    r, copy, out = random.Random(5), scratch / "damaged", scratch / "of-damaged"
    codes = collections.Counter()
    for i in range(150):
        shutil.copytree(path, copy)
        file = damage(copy, r)
        if i == 0:  # no profiles at all
            b = bytearray((path / "profile.db").read_bytes())
            b[0x38:0x3c] = bytes(4)
            (copy / "profile.db").write_bytes(b)
        done = subprocess.run([dwell, "hpc", "-o", out, copy], capture_output=True, text=True, timeout=60)
        if done.returncode not in (0, 2) or done.stderr.count("\n") > 1:
            check("damage number %d, of %s" % (i, file), False, (done.returncode, done.stderr))
        codes[done.returncode] += 1
        shutil.rmtree(copy)
        shutil.rmtree(out, ignore_errors=True)
    check("damaged databases", codes[2] > 10 and codes[0] > 10, codes)


with tempfile.TemporaryDirectory() as scratch_name:
    scratch = pathlib.Path(scratch_name)
    databases = anydb.named(sys.argv[2:], scratch / "made")
    check_damaged(databases[0], scratch)
    check_merged([check_alone(database, scratch) for database in databases], databases, scratch)
finish()
