#!/usr/bin/env python3
"""Holds what `dwell tree`, `prof`, `list` and `trace` say of HPCToolkit databases against anydb.py, a second
reader:  views.py DWELL DATABASE... | views.py DWELL --make MKHPC

With --make they are what MKHPC writes, in both layouts.  Without databases those below
$DWELL_FIXTURES/hpctoolkit are taken (skipped when there are none).  Prints TAP."""
import collections
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import anydb
from tap import check, finish

dwell = sys.argv[1]


def run(*args):
    done = subprocess.run([dwell, *map(str, args)], capture_output=True, text=True, errors="surrogateescape")
    assert done.returncode in (0, 1), f"{args}: {done.returncode} {done.stderr}"
    return json.loads(done.stdout)


def near(a, b, scale=0.0):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9 * abs(scale))


class Oracle:
    """Numbers of contexts, straight from the definitions."""

    def __init__(self, db, metric, threads=None):
        m = db.metrics[metric]
        self.db, self.threads = db, threads
        self.scope = {s: m["prop"][s] for s in m["prop"]}
        self.stat = m["stat"]

    def value(self, ctx, *scopes):
        """In all threads: the summary profile's sum; in some, the sum of theirs."""
        for s in scopes:
            if s not in self.scope:
                continue
            if self.threads is None and (s, "$$", 0) in self.stat:
                return self.db.profiles[0]["values"].get((ctx, self.stat[s, "$$", 0]), 0.0)
            profiles = self.threads or range(1, len(self.db.profiles))
            return sum(self.db.profiles[i]["values"].get((ctx, self.scope[s]), 0.0) for i in profiles)
        return 0.0

    def inclusive(self, ctx):
        return self.value(ctx, "execution")

    def exclusive(self, ctx):
        return self.value(ctx, "lex_aware", "function")

    def function(self, ctx):
        return self.value(ctx, "function", "lex_aware")

    def by_thread(self, ctx, scope="execution"):
        return {i: p["values"][ctx, self.scope[scope]] for i, p in enumerate(self.db.profiles)
                if i and (ctx, self.scope[scope]) in p["values"]}


def is_entry(c):
    return c.function is None and c.pretty


def name_of(c):
    if is_entry(c):
        return c.pretty
    f = c.function
    if f and f["name"]:
        return f["name"]
    if c.kind != anydb.FUNCTION and c.module:
        return "[no symbol]"
    return f"sub_{f['offset']:x}" if f and f["module"] else "[unknown]"


def is_procedure(c):
    """What was called is one, an instruction too where nothing is known of its function."""
    return c.kind == anydb.FUNCTION or c.relation != anydb.LEXICAL


def key_of(c):
    """What makes contexts below one row another row."""
    f = c.function or {"module": c.module}
    return is_entry(c), name_of(c), c.relation == anydb.INLINED and not is_entry(c), f.get("module"), f.get("offset"), f.get("file"), f.get("line")


def procedures_below(contexts):
    """The procedures next below contexts, through lines, loops and instructions."""
    todo, found = [k for c in contexts for k in c.children], []
    while todo:
        c = todo.pop()
        if is_procedure(c):
            found.append(c)
        else:
            todo += c.children
    return found


def expected_tree(db, oracle):
    """{path of names: (ids, inclusive, exclusive)} of the tree of procedures, rows without values left out."""
    rows, todo = collections.Counter(), [((), [db.root])]
    found = {}
    while todo:
        path, contexts = todo.pop()
        groups = collections.defaultdict(list)
        for c in procedures_below(contexts):
            groups[key_of(c)].append(c)
        for key, group in groups.items():
            inclusive = sum(oracle.inclusive(c.id) for c in group)
            exclusive = sum(oracle.exclusive(c.id) for c in group)
            if inclusive or exclusive:
                ids = frozenset(c.id for c in group)
                found[ids] = (path + (key[1],), inclusive, exclusive)
                rows[path + (key[1],)] += 1
                todo.append((path + (key[1],), group))
    return found


def got_tree(data, metric):
    found, paths = {}, {}
    for row in data["rows"]:
        paths[row["id"]] = paths.get(row["parent"], ()) + (row["name"],)
        ids = frozenset(int(i) for i in row["contexts"].split("+"))
        found[ids] = (paths[row["id"]], row["inclusive"][metric], row["exclusive"][metric])
    return found


def compare_trees(what, got, want, total):
    check(f"{what}: the rows", got.keys() == want.keys(),
          f"missing {[want[k] for k in want.keys() - got.keys()][:3]}, too many {[got[k] for k in got.keys() - want.keys()][:3]}")
    bad = [(got[k], want[k]) for k in got.keys() & want.keys()
           if got[k][0] != want[k][0] or not near(got[k][1], want[k][1], total) or not near(got[k][2], want[k][2], total)]
    check(f"{what}: their paths and numbers", not bad, bad[:3])


def path_to(c):
    while c is not None and c.parent is not None:
        yield c
        c = c.parent


def enclosing(c):
    while c.parent is not None and not is_procedure(c):
        c = c.parent
    return c


def check_flat(db, path, oracle, metric, total):
    """Each procedure once: exclusive sums, and inclusive ones of the outermost contexts of it."""
    inclusive, exclusive = collections.Counter(), collections.Counter()
    for c in db.contexts.values():
        if c.parent is None or not is_procedure(c):
            continue
        exclusive[key_of(c)] += oracle.function(c.id)
        if not any(is_procedure(u) and key_of(u) == key_of(c) for u in path_to(c.parent)):
            inclusive[key_of(c)] += oracle.inclusive(c.id)
    for command in (("prof", path, "--by", "procedure"), ("tree", path, "--flat", "--percent-limit", 0)):
        data = run(*command, "--event", metric, "--json")
        got = collections.defaultdict(list)
        for row in data["rows"]:
            name = row["procedure"] if command[0] == "prof" else row["name"]
            own = row["counts"] if command[0] == "prof" else row["exclusive"]
            got[name, row["image"]].append((round(row["inclusive"][metric], 6), round(own[metric], 6)))
        want = collections.defaultdict(list)
        for k in inclusive:
            if not k[0] and (inclusive[k] or exclusive[k]):
                want[k[1], k[3]].append((round(inclusive[k], 6), round(exclusive[k], 6)))
        same = got.keys() == want.keys() and all(
            near(a, b, max(total, 1)) for k in got for x, y in zip(sorted(got[k]), sorted(want[k])) for a, b in zip(x, y))
        check(f"{path.name} {metric}: {command[0]} by procedure", same,
              [(k, got.get(k), want.get(k)) for k in got.keys() | want.keys() if sorted(got.get(k, [])) != sorted(want.get(k, []))][:3])
        if command[0] == "prof":
            check(f"{path.name} {metric}: exclusive numbers add up",
                  near(sum(r["counts"][metric] for r in data["rows"]), total, total), total)


def check_levels(db, path, oracle, metric, total):
    """Whatever rows are, their own numbers add up to the whole."""
    for by in ("image", "file", "procedure", "line", "address"):
        rows = run("prof", path, "--by", by, "--event", metric, "--json")["rows"]
        got = sum(r["counts"][metric] for r in rows)
        check(f"{path.name} {metric}: prof by {by} adds up", near(got, total, total), (got, total))
    lines = collections.Counter()
    for c in db.contexts.values():
        if c.kind == anydb.LINE and c.relation == anydb.LEXICAL and c.parent is not None:
            f = enclosing(c)
            own = oracle.function(c.id) - sum(oracle.function(k.id) for k in c.children
                                              if k.relation == anydb.LEXICAL and k.kind in (anydb.LINE, anydb.LOOP))
            lines[name_of(f), c.file, c.line or None] += own
    rows = run("prof", path, "--by", "line", "--event", metric, "--json")["rows"]
    got = collections.Counter()
    for r in rows:
        if r["kind"] == "line":
            got[r["procedure"], r["file"], r["line"]] += r["counts"][metric]
    bad = [(k, got[k], lines[k]) for k in got.keys() | lines.keys() if not near(got[k], lines[k], total)]
    check(f"{path.name} {metric}: lines", not bad, bad[:3])
    hot = max(lines, key=lambda k: lines[k], default=None)
    if hot and hot[2] and lines[hot] > 0:
        check_listing(path, metric, hot, {k: v for k, v in lines.items() if k[0] == hot[0]}, total)


def check_listing(path, metric, hot, lines, total):
    done = subprocess.run([dwell, "list", path, hot[0], "--source", "--event", metric, "--json"], capture_output=True,
                          text=True)
    if done.returncode == 2 and "several images" in done.stderr:
        return
    rows = json.loads(done.stdout)["rows"]
    got = {r["line"]: r["counts"][metric] for r in rows
           if r["file"] and r["file"].endswith(hot[1].lstrip("./")) and r["counts"][metric] is not None}
    check(f"{path.name} {metric}: list {hot[0]}", near(got.get(hot[2], 0), lines[hot], total), (got, lines))


def check_threads(db, path, oracle, metric, total):
    hot = max((c for c in db.contexts if c), key=lambda c: (oracle.inclusive(c), c))
    data = run("prof", path, "--context", hot, "--event", metric, "--json")
    want = oracle.by_thread(hot)
    got = {r["profile"]: r["inclusive"][metric] for r in data["rows"] if r["inclusive"][metric]}
    check(f"{path.name} {metric}: context {hot} in each thread", got == want, (got, want))
    n, x, x2 = len(want), sum(want.values()), sum(v * v for v in want.values())
    s = [r for r in data["statistics"] if r["scope"] == "inclusive"][0]
    dev = math.sqrt(max(x2 / n - (x / n) ** 2, 0))
    same = (s["threads"] >= n and near(s["sum"], x) and near(s["max"], max(want.values())) and
            (s["threads"] != n or (near(s["mean"], x / n) and near(s["min"], min(want.values())) and
                                   abs(s["stddev"] - dev) <= 1e-6 * abs(x / n))))
    check(f"{path.name} {metric}: statistics over threads", same, (s, n, x / n, dev))
    whole = run("prof", path, "--by", "thread", "--event", metric, "--json")["rows"]
    check(f"{path.name} {metric}: threads add up", near(sum(r["counts"][metric] for r in whole), total, total))
    for i, profile in list(enumerate(db.profiles))[1:4]:
        named = ",".join(f"{k}={logical}" for k, logical, _ in profile["ids"])
        some = Oracle(db, metric, [i])
        compare_trees(f"{path.name} {metric}: profile {i}",
                      got_tree(run("tree", path, "--thread", i, "--event", metric, "--json", "--percent-limit", 0), metric),
                      expected_tree(db, some), total)
        alike = [k for k, p in enumerate(db.profiles) if k and p["ids"] == profile["ids"]]
        rows = run("prof", path, "--by", "thread", "--thread", named, "--event", metric, "--json")
        check(f"{path.name}: --thread {named}", rows["recording"]["profiles_chosen"] == len(alike), rows["recording"])


def check_statistics(db, path, oracle, metric, total):
    """Means, extremes and deviations of rows, made from each thread's values."""
    data = run("tree", path, "--event", metric, "--stat", "sum,mean,min,max,stddev", "--percent-limit", 0, "--json")
    bad = []
    for row in data["rows"]:
        ids = [int(i) for i in row["contexts"].split("+")]
        values = collections.Counter()
        for i in ids:
            for k, v in oracle.by_thread(i).items():
                values[k] += v
        if not values:
            continue
        v, n = list(values.values()), len(values)
        mean = sum(v) / n
        want = {"": sum(v), ":mean": mean, ":min": min(v), ":max": max(v),
                ":stddev": math.sqrt(max(sum(x * x for x in v) / n - mean * mean, 0))}
        for suffix, w in want.items():
            got = row["inclusive"][metric + suffix]
            if abs(got - w) > 1e-6 * max(abs(mean), abs(w)):
                bad.append((row["name"], suffix, got, w))
    check(f"{path.name} {metric}: statistics of rows", not bad, bad[:4])


def check_derived(path, metric):
    rows = run("tree", path, "--event", metric, "--derive", f"share = 100 * '{metric}' / max('{metric}', 1)",
               "--derive", "again = share ** 2", "--json", "--percent-limit", 0)["rows"]
    bad = []
    for r in rows:
        v = r["inclusive"][metric]
        want = 100 * v / max(v, 1)
        if not near(r["inclusive"]["share"], want) or not near(r["inclusive"]["again"], want * want):
            bad.append(r)
    check(f"{path.name} {metric}: derived columns", rows and not bad, bad[:2])


def check_taxonomy(db, path, oracle, metric, total):
    """Formulas of a taxonomy as columns: the database's own is what the metrics are, and one that is written here what
    its formulas say of each context's values."""
    own = {}
    if (path / "metrics/default.yaml").exists():
        own = {m["name"] for m in run("tree", path, "--taxonomy", "own", "--all-metrics", "--json", "--depth", 1)["events"]}
    plain = run("tree", path, "--event", metric, "--json", "--percent-limit", 0)["rows"]
    if metric in own:
        rows = run("tree", path, "--taxonomy", "own", "--event", metric, "--json", "--percent-limit", 0)["rows"]
        check(f"{path.name} {metric}: its own taxonomy", rows == plain, (rows[:1], plain[:1]))
    def side(scope):
        inputs = [f"{{metric: {json.dumps(metric)}, scope: {scope}, formula: {f}, combine: {c}}}"
                  for f, c in (("$$", "sum"), ("1", "sum"), ("$$", "max"))]
        x, n, most = ("&%s%d %s" % (scope[0], i, text) for i, text in enumerate(inputs))
        return "".join("  - %s\n" % text for text in (x, n, most))
    def formulas(text):
        return "".join("          %s: {standard: %s}\n" % (s, text.replace("X", "*%s0" % c).replace("N", "*%s1" % c)
                                                          .replace("M", "*%s2" % c))
                       for s, c in (("inclusive", "e"), ("exclusive", "f")))
    made = pathlib.Path(scratch.name) / "made.yaml"
    made.write_text("version: 0\ninputs:\n" + side("execution") + side("function") + "roots:\n" + "".join(
        f"  - name: {name}\n    variants:\n      Sum:\n        render: [number]\n        formula:\n" + formulas(text)
        for name, text in (("one", "X"), ("three", "[X, '*', 3]"), ("each", "{'/': [X, N]}"),
                           ("odd", "{sqrt: [{'-': [{'^': [M, 2]}, {'/': [X, N]}]}]}"))) +
        "  - name: heading\n    variants: {Sum: {formula: sum}}\n    children:\n" + "".join(
            f"    - name: child{i}\n      variants:\n        Sum:\n          render: [number]\n          formula:\n" +
            formulas("X").replace("          ", "            ") for i in range(2)))
    names = ["one", "three", "each", "odd", "heading", "child1"]
    rows = run("tree", path, "--taxonomy", made, "--event", "+".join(names), "--derive", "six = 2 * three", "--json",
               "--percent-limit", 0)["rows"]
    bad = []
    for row in rows:
        ids = [int(i) for i in row["contexts"].split("+")]
        if len(ids) > 1:
            continue
        v = list(oracle.by_thread(ids[0]).values())
        x, n, most = sum(v), len(v), max(v, default=0)
        square = most ** 2 - x / n if n else 0
        want = {"one": x, "three": 3 * x, "each": x / n if n else None, "odd": math.sqrt(square) if square >= 0 and n else None,
                "heading": 2 * x, "child1": x, "six": 6 * x}
        for name, w in want.items():
            got = row["inclusive"][name]
            if (got is None) != (w is None) or w is not None and abs(got - w) > 1e-6 * max(abs(w), abs(x)):
                bad.append((row["name"], name, got, w))
    check(f"{path.name} {metric}: columns of a taxonomy", rows and not bad, bad[:4])


def check_traces(db, path):
    lines = db.traces()
    every = [(t, i, c) for i, line in lines for t, c in line]
    if not every:
        return
    zero, last = min(min(every)[0], db.first_timestamp or 1 << 64), max(every)[0]
    data = run("trace", path, "--from", "0", "--json")
    got = [(p["time_ns"], p["profile"], p["context"]) for p in data["points"]]
    check(f"{path.name}: all points of traces", sorted(got) == sorted(every), (len(got), len(every)))
    first = {id: (r["start_ns"], r["end_ns"], r["points"]) for r in data["threads"] for id in [r["profile"]]}
    want = {i: (line[0][0], line[-1][0], len(line)) for i, line in lines if line}
    check(f"{path.name}: lines of traces", first == want, (first, want))
    bad = []
    for p in data["points"]:
        c = db.contexts.get(p["context"])
        if p["context"] and c:
            names = [name_of(u) for u in path_to(c) if is_procedure(u)]
            if p["path"] != " < ".join(names) or p["depth"] != len(names) or p["procedure"] != names[0]:
                bad.append((p, names))
    check(f"{path.name}: paths of points", not bad, bad[:2])
    lo, hi = (last - zero) // 3000000, (last - zero) // 2000000 + 1
    part = run("trace", path, "--range", f"{lo}ms..{hi}ms", "--depth", 1, "--json")["points"]
    lo, hi = zero + lo * 1000000, zero + hi * 1000000
    inside = {(t, i, c) for t, i, c in every if lo <= t < hi}
    got = {(p["time_ns"], p["profile"], p["context"]) for p in part}
    before = got - inside
    states = {i: max((x for x in line if x[0] < lo), default=None) for i, line in lines}
    check(f"{path.name}: a part of traces", inside <= got and all((t, c) == states[i] for t, i, c in before),
          (sorted(inside - got)[:3], sorted(before)[:3]))
    check(f"{path.name}: the outermost procedures", all(p["depth"] <= 1 for p in part), part[:2])


def check_database(path):
    db = anydb.Database(path)
    totals = {m: Oracle(db, m).inclusive(0) or sum(Oracle(db, m).inclusive(c.id) for c in db.root.children)
              for m in db.metrics}
    shown = [m for m in totals if totals[m]]
    data = run("tree", path, "--all-metrics", "--json", "--depth", 1)
    got = {e["name"]: e["total"] for e in data["events"]}
    check(f"{path.name}: metrics and totals", got == {m: totals[m] for m in shown} or not shown, (got, totals))
    check(f"{path.name}: what it is", data["recording"]["layout"] == ("released" if db.released else "page") and
          data["recording"]["title"] == db.title and data["recording"]["profiles"] == len(db.profiles) - 1, data["recording"])
    yaml = path / "metrics/default.yaml"
    hidden = set(re.findall(r"- name: (.*)\n(?:    description: .*\n)?    visible by default: false", yaml.read_text())
                 if yaml.exists() else [])
    usual = [e["name"] for e in run("tree", path, "--json", "--depth", 1)["events"]]
    check(f"{path.name}: the metrics shown unless others are asked for",
          0 < len(usual) <= 4 and (not hidden & set(usual) or set(shown) <= hidden), (usual, hidden))
    for metric in shown[:4]:
        oracle = Oracle(db, metric)
        total = totals[metric]
        compare_trees(f"{path.name} {metric}", got_tree(run("tree", path, "--event", metric, "--json", "--percent-limit", 0), metric),
                      expected_tree(db, oracle), total)
        check_flat(db, path, oracle, metric, total)
        check_levels(db, path, oracle, metric, total)
        check_threads(db, path, oracle, metric, total)
        check_statistics(db, path, oracle, metric, total)
        check_derived(path, metric)
        check_taxonomy(db, path, oracle, metric, total)
    if (path / "trace.db").exists():
        check_traces(db, path)


scratch = tempfile.TemporaryDirectory()
databases = anydb.named(sys.argv[2:], pathlib.Path(scratch.name))
for database in databases:
    check_database(database)
finish()
