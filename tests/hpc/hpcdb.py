#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Reads an HPCToolkit database, written from the format's description alone, and insists on all that other readers
need of one:  hpcdb.py DIR [tree|values|statistics|trace|text]...

What hpcviewer, Hatchet and Pipit need is asserted where it is read: four footers, sorted ids, names that are
never null, ids that fit 15 bits, ASCII strings, a taxonomy whose inputs all are statistics of meta.db and
whose variant Sum shows percents by plain aliases, NODE in every identifier tuple.  Beside that: cct.db is profile.db
transposed, scopes are sums over children, statistics are those of the threads, time lines are sorted."""
import math
import os
import re
import struct
import sys

FUNCTION, LOOP, LINE, INSTRUCTION = range(4)
TYPES = "function", "loop", "line", "instruction"
RELATIONS = "lexical", "call", "inlined call"
SECTIONS = "General", "IdNames", "Metrics", "Context", "Strings", "Modules", "Files", "Functions"
COMBINE = "sum", "min", "max"


class Bytes:
    def __init__(self, path, magic, footer):
        with open(path, "rb") as f:
            self.b = f.read()
        assert self.b[:14] == b"HPCTOOLKIT" + magic and self.b[14] == 4, path
        assert self.b[-8:] == footer, path + ": footer"

    def u(self, fmt, at):
        return struct.unpack_from("<" + fmt, self.b, at)

    def u1(self, fmt, at):
        return struct.unpack_from("<" + fmt, self.b, at)[0]

    def text(self, at, section):
        """A string, whole inside its section."""
        end = self.b.index(0, at)
        assert section[0] <= at and end < section[0] + section[1], "a string outside its section"
        return self.b[at:end].decode("ascii")


class Context:
    def __init__(self, ctx_id, parent):
        self.id, self.parent, self.children = ctx_id, parent, []
        self.relation = self.type = self.name = self.file = self.line = self.module = self.offset = None
        self.entry = None

    def label(self):
        if self.entry is not None:
            return "entry %d %s" % (self.entry, self.name)
        where = "" if self.file is None else " %s:%d" % (self.file, self.line)
        point = "" if self.module is None else " %s@%#x" % (os.path.basename(self.module), self.offset)
        name = "" if self.name is None else " " + self.name
        relation = "" if self.relation == "lexical" else "[%s] " % self.relation
        return relation + TYPES[self.type] + name + where + point


class Database:
    def __init__(self, path):
        self.path = path
        self.read_meta()
        self.read_profiles()
        self.read_cct()
        self.read_trace()
        self.read_taxonomy()

    # --- meta.db ---

    def read_meta(self):
        m = self.m = Bytes(self.path + "/meta.db", b"meta", b"_meta.db")
        head = m.u("16Q", 16)
        self.sections = {name: (head[2 * i + 1], head[2 * i]) for i, name in enumerate(SECTIONS)}
        for name, (at, size) in self.sections.items():
            assert size < 2**31 and at + size <= len(m.b) - 8 and (name == "Strings" or at % 8 == 0), name
        s = self.sections
        title, description = m.u("QQ", s["General"][0])
        self.title, self.description = m.text(title, s["General"]), m.text(description, s["General"])
        names, n = m.u("QB", s["IdNames"][0])
        assert n < 128
        self.kinds = [m.text(p, s["IdNames"]) for p in m.u("%dQ" % n, names)]
        self.read_metrics()
        self.modules = self.table("Modules", lambda at: m.text(m.u1("Q", at + 8), s["Strings"]))
        self.files = self.table("Files", lambda at: (m.text(m.u1("Q", at + 8), s["Strings"]), m.u1("I", at) & 1))
        self.functions = self.table("Functions", self.function)
        self.read_contexts()

    def table(self, section, decode):
        at, n, stride = self.m.u("QIH", self.sections[section][0])
        return {at + i * stride: decode(at + i * stride) for i in range(n)}

    def function(self, at):
        name, module, offset, file, line = self.m.u("QQQQI", at)
        assert name, "a function without a name crashes hpcviewer"
        assert module == 0 or module in self.modules
        assert file == 0 or file in self.files
        return self.m.text(name, self.sections["Strings"])

    def read_metrics(self):
        m, section = self.m, self.sections["Metrics"]
        pointer, n, size, scope_size, summary_size = m.u("QIBBB", section[0])
        self.layout = "page" if size == 24 else "released"
        self.metrics, self.props, self.stats = [], {}, {}
        for i in range(n):
            at = pointer + i * size
            if self.layout == "released":
                name, scopes, summaries, n_scopes, n_summaries = m.u("QQQHH", at)
                for k in range(n_scopes):
                    scope, prop = m.u("QH", scopes + k * scope_size)
                    self.props[prop] = (i, m.text(m.u1("Q", scope), section))
                for k in range(n_summaries):
                    scope, formula, combine, stat = m.u("QQBxH", summaries + k * summary_size)
                    self.stats[stat] = (i, m.text(m.u1("Q", scope), section), m.text(formula, section), COMBINE[combine])
            else:
                name, n_scopes, scopes = m.u("QH6xQ", at)
                for k in range(n_scopes):
                    scope, n_summaries, prop, summaries = m.u("QHH4xQ", scopes + k * scope_size)
                    self.props[prop] = (i, m.text(scope, section))
                    for q in range(n_summaries):
                        formula, combine, stat = m.u("QBxH", summaries + q * summary_size)
                        self.stats[stat] = (i, m.text(scope, section), m.text(formula, section), COMBINE[combine])
            self.metrics.append(m.text(name, section))
        assert all(i < 2**15 for i in list(self.props) + list(self.stats)), "hpcviewer reads ids as signed"

    def read_contexts(self):
        m = self.m
        self.contexts, self.roots = {0: Context(0, None)}, []
        if self.layout == "released":
            pointer, n, size = m.u("QHB", self.sections["Context"][0])
            for i in range(n):
                children_size, children, ctx_id, entry, name = m.u("QQIHxxQ", pointer + i * size)
                c = self.add(ctx_id, self.contexts[0])
                c.entry, c.name = entry, m.text(name, self.sections["Strings"])
                self.add_children(c, children, children_size)
        else:
            size, pointer = m.u("QQ", self.sections["Context"][0])
            self.add_children(self.contexts[0], pointer, size)

    def add(self, ctx_id, parent):
        assert ctx_id not in self.contexts, "context %d twice" % ctx_id
        c = self.contexts[ctx_id] = Context(ctx_id, parent)
        parent.children.append(c)
        return c

    def add_children(self, parent, at, size):
        m, fixed, end = self.m, 0x20 if self.layout == "released" else 0x18, at + size
        while at < end:
            children_size, children, ctx_id, flags, relation, kind, n_words = m.u("QQIBBBB", at)
            c = self.add(ctx_id, parent)
            c.relation, c.type = RELATIONS[relation], kind
            words = at + fixed
            if flags & 1:
                c.name = self.functions[m.u1("Q", words)]
                words += 8
            if flags & 2:
                c.file, c.line = self.files[m.u1("Q", words)][0], m.u1("I", words + 8)
                words += 16
            if flags & 4:
                c.module, c.offset = self.modules[m.u1("Q", words)], m.u1("Q", words + 8)
                words += 16
            assert words == at + fixed + 8 * n_words
            if self.layout == "released":
                assert m.u1("H", at + 0x18) & 1 == (c.relation == "lexical")
            self.add_children(c, children, children_size)
            at = words
        assert at == end, "children end in the middle of a context"

    # --- profile.db, cct.db, trace.db ---

    def read_profiles(self):
        p = Bytes(self.path + "/profile.db", b"prof", b"_prof.db")
        pointer, n, size = p.u("QIB", p.u1("Q", 0x18))
        assert size == (48 if self.layout == "released" else 40)
        # Contexts that have values but are not in meta.db: instructions, whose lines have their part.
        self.ids, self.values, self.unlisted = [], [], set()
        for i in range(n):
            at = pointer + i * size
            n_values, values, n_ctxs, indices, ids = p.u("QQI4xQQ", at)
            if self.layout == "released":
                assert p.u1("I", at + 40) & 1 == (i == 0)
            assert (ids == 0) == (i == 0)
            self.ids.append([p.u("BxHIQ", ids + 8 + 16 * k) for k in range(p.u1("H", ids))] if ids else [])
            starts = [p.u("IQ", indices + 12 * k) for k in range(n_ctxs)] + [(None, n_values)]
            mine = {}
            for (ctx, first), (_, last) in zip(starts, starts[1:]):
                assert first < last
                if ctx not in self.contexts:
                    self.unlisted.add(ctx)
                mine[ctx] = dict(p.u("Hd", values + 10 * k) for k in range(first, last))
                keys = list(mine[ctx])
                assert keys == sorted(set(keys)) and len(keys) == last - first and all(mine[ctx].values())
            assert list(mine) == sorted(mine)
            self.values.append(mine)
        for ids in self.ids[1:]:
            assert "NODE" in [self.kinds[kind] for kind, *_ in ids], "Pipit wants NODE"
            for _, flags, logical, physical in ids:
                assert flags & 1 or logical == physical
        assert len({tuple(ids) for ids in self.ids}) == n, "two threads of one name"

    def read_cct(self):
        c = Bytes(self.path + "/cct.db", b"ctxt", b"__ctx.db")
        pointer, n, size = c.u("QIB", c.u1("Q", 0x18))
        found = [{} for _ in self.values]
        for ctx in range(n):
            n_values, values, n_metrics, indices = c.u("QQH6xQ", pointer + ctx * size)
            starts = [c.u("HQ", indices + 10 * k) for k in range(n_metrics)] + [(None, n_values)]
            assert [m for m, _ in starts[:-1]] == sorted({m for m, _ in starts[:-1]})
            for (metric, first), (_, last) in zip(starts, starts[1:]):
                mine = [c.u("Id", values + 12 * k) for k in range(first, last)]
                assert mine and [p for p, _ in mine] == sorted({p for p, _ in mine})
                for profile, value in mine:
                    found[profile].setdefault(ctx, {})[metric] = value
        assert found[1:] == self.values[1:] and not found[0], "cct.db is not profile.db transposed"

    def read_trace(self):
        self.lines = {}
        if not os.path.exists(self.path + "/trace.db"):
            return
        t = Bytes(self.path + "/trace.db", b"trce", b"trace.db")
        pointer, n, size = t.u("QIB", t.u1("Q", 0x18))
        first, last = t.u("QQ", t.u1("Q", 0x18) + 0x10)
        assert n == len(self.values) - 1
        for i in range(n):
            profile, start, end = t.u("I4xQQ", pointer + i * size)
            assert profile == i + 1, "hpcviewer finds headers by number"
            line = [t.u("QI", at) for at in range(start, end, 12)]
            assert [p[0] for p in line] == sorted({p[0] for p in line})
            assert all(ctx in self.contexts and first <= time <= last for time, ctx in line)
            assert not any(a[1] == b[1] == 0 for a, b in zip(line, line[1:])), "two zeros in a row"
            self.lines[profile] = line

    # --- metrics/default.yaml ---

    def read_taxonomy(self):
        with open(self.path + "/metrics/default.yaml", encoding="ascii") as f:
            text = f.read()
        assert re.search(r"^version: 0$", text, re.M)
        items = re.findall(r"- &(\S+)\n\s+metric: (.*)\n\s+scope: (\S+)\n\s+formula: (.*)\n\s+combine: (\S+)\n", text)
        assert items and len(items) == text.count("- &"), "an input lacks a key"
        known = {(self.metrics[i], scope, formula, combine) for i, scope, formula, combine in self.stats.values()}
        for _, metric, scope, formula, combine in items:
            plain = [x[1:-1].replace("''", "'") if x[:1] == "'" else x.strip('"') for x in (metric, formula)]
            assert (plain[0], scope, plain[1], combine) in known, "metric does not exist: %s" % metric
        anchors = {i[0] for i in items}
        seen = set(anchors)
        for sign, name in re.findall(r"(?<=[ \[])([*&])([A-Za-z0-9_-]+)", text.split("roots:")[1]):
            assert sign == "&" or name in seen, "an alias of what does not stand before: " + name
            seen.add(name)
        sums = re.findall(r"Sum:\n\s+render: \[(.*)\]\n\s+formula:\n\s+inclusive:\n\s+standard: (\S+)\n\s+exclusive:"
                          r"\n(?:\s+custom: \S+\n)?\s+standard: (\S+)\n?", text)
        assert sums and all("percent" in r and i[0] == e[0] == "*" for r, i, e in sums), "Hatchet wants plain aliases"

    # --- what must hold of it all ---

    def check(self):
        for values in self.values[1:]:
            self.check_scopes(values)
        self.check_statistics()
        for path, copied in self.files.values():
            assert not copied or os.path.isfile(os.path.join(self.path, path)), path
        return self

    def by_scope(self, values, ctx):
        """{(metric, scope): value} of a context."""
        return {self.props[prop]: x for prop, x in values.get(ctx, {}).items()}

    def check_scopes(self, values):
        left = [0.0] * len(self.metrics)  # what listed contexts have of those that are not listed
        for c in self.contexts.values():
            mine = self.by_scope(values, c.id)
            children = [(k, self.by_scope(values, k.id)) for k in c.children]
            for i in range(len(self.metrics)):
                point = mine.get((i, "point"), 0)
                execution = point + sum(v.get((i, "execution"), 0) for _, v in children)
                function = point + sum(v.get((i, "function"), 0) for k, v in children if k.relation == "lexical")
                rest = mine.get((i, "execution"), 0) - execution
                if not self.unlisted or not c.id or abs(rest) <= 1e-12 * execution:
                    rest = 0
                assert rest >= 0, (c.label(), rest)
                left[i] += rest
                assert close(mine.get((i, "execution"), 0), execution + rest), (c.label(), execution)
                assert close(mine.get((i, "function"), 0), function + rest), (c.label(), function)
                if c.type != LOOP:
                    assert mine.get((i, "lex_aware"), 0) == mine.get((i, "function"), 0)

        for i, rest in enumerate(left):
            points = math.fsum(self.by_scope(values, c).get((i, "point"), 0) for c in self.unlisted)
            assert math.isclose(points, rest, rel_tol=1e-9), (self.metrics[i], points, rest)

    def check_statistics(self):
        summary = self.values[0]
        for ctx in (*self.contexts, *self.unlisted):
            want = {}
            per_thread = [self.by_scope(v, ctx) for v in self.values[1:]]
            for stat, (i, scope, formula, combine) in self.stats.items():
                xs = [v.get((i, scope), 0) for v in per_thread if any(k[0] == i for k in v)]
                xs = [1 if formula == "1" else x if formula == "$$" else x * x for x in xs]
                x = {"sum": sum, "min": min, "max": max}[combine](xs) if xs else 0
                if x:
                    want[stat] = x
            have = summary.get(ctx, {})
            assert have.keys() == want.keys() and all(close(have[k], want[k]) for k in want), (ctx, have, want)

    # --- text ---

    def tree(self, c=None, depth=0):
        c = c or self.contexts[0]
        for k in c.children:
            print("  " * depth + k.label())
            self.tree(k, depth + 1)

    def name_of(self, profile):
        return " ".join("%s %d" % (self.kinds[kind], physical if self.kinds[kind] in ("RANK", "PROCESS") and flags & 1 else logical)
                        for kind, flags, logical, physical in self.ids[profile] if self.kinds[kind] != "NODE")

    def name_of_context(self, ctx):
        if ctx in self.unlisted:
            return "not listed"
        return self.contexts[ctx].label() if ctx else "all"

    def print_values(self):
        for profile in range(1, len(self.values)):
            print(self.name_of(profile))
            for ctx, values in self.values[profile].items():
                shown = ["%s %s %.12g" % (self.metrics[self.props[k][0]], self.props[k][1], x) for k, x in values.items()]
                print("  %s: %s" % (self.name_of_context(ctx), ", ".join(shown)))

    def print_statistics(self):
        for ctx, values in self.values[0].items():
            print(self.name_of_context(ctx))
            for stat, x in values.items():
                i, scope, formula, combine = self.stats[stat]
                print("  %s %s %s of %s: %.12g" % (self.metrics[i], scope, combine, formula, x))

    def print_trace(self):
        for profile, line in self.lines.items():
            print(self.name_of(profile))
            for time, ctx in line:
                print("  %d %s" % (time, self.contexts[ctx].label() if ctx else "-"))

    def print_text(self):
        print("title: %s\n%s" % (self.title, self.description), end="")


def close(a, b):
    return math.isclose(a, b, rel_tol=1e-12)


def main():
    sys.setrecursionlimit(100000)
    db = Database(sys.argv[1]).check()
    for what in sys.argv[2:]:
        {"tree": db.tree, "values": db.print_values, "statistics": db.print_statistics, "trace": db.print_trace,
         "text": db.print_text}[what]()
    unlisted = " and %d not listed" % len(db.unlisted) if db.unlisted else ""
    print("%s: %d contexts%s, %d threads, %s layout" % (os.path.basename(db.path.rstrip("/")), len(db.contexts) - 1, unlisted,
                                                        len(db.values) - 1, db.layout))


if __name__ == "__main__":
    main()
