#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What other programs demand of a database, and whether ours meet it:
readers.py DWELL MKHPC MKDB [DATABASE...]

hpcviewer, two readers of Hatchet and Pipit's cannot be installed here; so this says, by its own hand, what their sources
demand: the same look-ups in the same order, which fail where theirs would throw, and the numbers they would show.  Each
demand names the function that has it.  Sources: HPCToolkit/hpcviewer.e4, edu.rice.cs.hpcdata/src/edu/rice/cs/hpcdata/
db/version4 (versions of 2022 and 2023) and hpcdata-8.4.4.jar of 2025.01, which was run on what is written here; hatchet/hatchet, hatchet/readers/hpctoolkit_v4_reader.py; LLNL/hatchet,
hatchet/readers/hpctoolkit_reader_latest.py; hpcgroup/pipit, pipit/readers/hpctoolkit_reader.py.

Those below $DWELL_FIXTURES/hpctoolkit, made by HPCToolkit, are read too: what refuses them would be wrong.  Prints TAP."""
import json
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from tap import check, finish

try:
    import yaml
except ImportError:
    print("1..0 # SKIP no PyYAML")
    sys.exit(0)

SCRIPTS = pathlib.Path(__file__).resolve().parent
dwell, mkhpc, mkdb = map(os.path.abspath, sys.argv[1:4])
FUNCTION, LOOP, LINE, INSTRUCTION = range(4)


class Refused(Exception):
    """The reader would fail."""


def demand(ok, who, *what):
    if not ok:
        raise Refused(" ".join(map(str, (who + ":", *what))))


class File:
    def __init__(self, path, kind, footer, n_sections):
        self.b = pathlib.Path(path).read_bytes()
        # DataCommon.open, isFileFooterCorrect, isFileHeaderCorrect
        demand(self.b[-8:] == footer, "DataCommon.open", path, "footer")
        demand(self.b[:14] == b"HPCTOOLKIT" + kind, "DataCommon.readHeader", path)
        head = self.u("%dQ" % (2 * n_sections), 16)
        self.sections = [(head[2 * i + 1], head[2 * i]) for i in range(n_sections)]
        for at, size in self.sections:
            demand(size < 2**31 and at + size <= len(self.b), "FileChannel.map", path, at, size)

    def u(self, fmt, at):
        return struct.unpack_from("<" + fmt, self.b, at)

    def u1(self, fmt, at):
        return self.u(fmt, at)[0]

    def inside(self, section, at, who, size=1):
        """Buffers are of one section: a place outside of it is an IndexOutOfBoundsException."""
        start, n = self.sections[section]
        demand(start <= at and at + size <= start + n, who, "%#x is outside of section %d" % (at, section))
        return at

    def text(self, section, at, who):
        end = self.b.index(0, self.inside(section, at, who))
        return self.b[at:self.inside(section, end, who)]


GENERAL, NAMES, METRICS, CONTEXT, STRINGS, MODULES, FILES, FUNCTIONS = range(8)


class Node:
    def __init__(self, ctx, parent, kind, relation, words):
        self.ctx, self.parent, self.kind, self.relation, self.words = ctx, parent, kind, relation, words
        self.function = self.file = self.module = None
        self.line = self.offset = 0


class Hpcviewer:
    """DataMeta.open and what it calls; in both layouts, of which the source of early 2022 reads the page's."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.f = File(path / "meta.db", b"meta", b"_meta.db", 8)
        self.general()
        self.names()
        self.metrics()
        self.modules = self.table(MODULES, "parseLoadModules", lambda at: self.f.u1("Q", at + 8))
        self.files = self.table(FILES, "parseFiles", lambda at: self.f.u1("Q", at + 8))
        self.functions = self.table(FUNCTIONS, "parseFunctions", lambda at: self.f.u1("Q", at))
        self.contexts()
        self.profiles()
        self.cct()
        self.traces()
        self.taxonomy()

    def general(self):
        for p in self.f.u("2Q", self.f.sections[GENERAL][0]):
            self.f.text(GENERAL, p, "parseGeneralDescription")

    def names(self):
        p, n = self.f.u("QB", self.f.sections[NAMES][0])
        demand(n < 128, "parseHierarchicalIdTuple", "a byte of", n)
        self.f.inside(NAMES, p, "parseHierarchicalIdTuple", 8 * n)
        self.kinds = [self.f.text(NAMES, q, "parseHierarchicalIdTuple").decode() for q in self.f.u("%dQ" % n, p)]

    def metrics(self):
        """summaries: (metric, type, scope, formula, combine, statMetricId)"""
        f, who = self.f, "parseMetricDescription"
        p, n, size, size_scope, size_summary = f.u("QIBBB", f.sections[METRICS][0])
        demand(max(size, size_scope, size_summary) < 128, who, "sizes are signed bytes")
        self.page = size == 24
        self.summaries, self.props = [], {}
        scopes = {}
        if not self.page:
            p_scopes, n_scopes, size_ps = f.u("QHB", f.sections[METRICS][0] + 16)
            demand(size_ps == size_scope, who, "{PSI} are walked by the size of {PS}")
            for i in range(n_scopes):
                name, kind, _ = f.u("QBB", f.inside(METRICS, p_scopes + i * size_ps, who, 16))
                scopes[p_scopes + i * size_ps] = (f.text(METRICS, name, who).decode(), kind)
        for i in range(n):
            at = f.inside(METRICS, p + i * size, who, size)
            name = f.text(METRICS, f.u1("Q", at), who).decode()
            first = len(self.summaries)
            if self.page:
                n_scopes, p_scopes = f.u("H6xQ", at + 8)
                for k in range(n_scopes):
                    scope, n_sums, prop, p_sums = f.u("QHH4xQ", f.inside(METRICS, p_scopes + k * size_scope, who, 24))
                    scope = f.text(METRICS, scope, who).decode()
                    self.props[prop] = (name, scope)
                    for j in range(n_sums):
                        formula, combine, stat = f.u("QBxH", f.inside(METRICS, p_sums + j * size_summary, who, 16))
                        self.summaries.append((name, scope, scope, f.text(METRICS, formula, who).decode(), combine, stat))
            else:
                p_scopes, p_sums, n_scopes, n_sums = f.u("QQHH", at + 8)
                for k in range(n_scopes):
                    scope, prop = f.u("QH", f.inside(METRICS, p_scopes + k * size_ps, who, 16))
                    demand(scope in scopes, who, "mapPropagationIndex.get of", hex(scope))
                    self.props[prop] = (name, scopes[scope][0])
                for k in range(n_sums):
                    scope, formula, combine, stat = f.u("QQBxH", f.inside(METRICS, p_sums + k * size_summary, who, 24))
                    demand(scope in scopes, who, "mapPropagationIndex.get of", hex(scope))
                    # MetricType.convertFromPropagationScope: by type, else by name
                    kind = {1: "point", 2: "execution", 3: "function"}.get(scopes[scope][1], scopes[scope][0].lower())
                    self.summaries.append((name, kind, scopes[scope][0], f.text(METRICS, formula, who).decode(), combine, stat))
            demand(len(self.summaries) > first, who, "a metric without statistics")
        demand(all(s[5] < 2**15 for s in self.summaries) and all(i < 2**15 for i in self.props), who, "ids are signed")
        demand(all(s[4] < 3 for s in self.summaries), "HierarchicalMetric.getCombineTypeLabel")
        # 8.4.4: what it makes of these gets the next numbers.
        ids = sorted(s[5] for s in self.summaries)
        demand(self.page or ids == list(range(len(ids))), "BaseExperimentWithMetrics", "Non-unique index metric", ids)

    def table(self, section, who, decode):
        p, n, size = self.f.u("QIH", self.f.sections[section][0])
        found = {}
        for i in range(n):
            at = self.f.inside(section, p + i * size, who, size)
            found[at] = self.f.text(STRINGS, decode(at), who)
        return found

    def contexts(self):
        self.nodes, at = {}, self.f.sections[CONTEXT][0]
        if self.page:
            size, p = self.f.u("QQ", at)
            self.children(None, p, size)
            return
        p, n, stride = self.f.u("QHB", at)
        demand(n < 2**15 and stride < 128, "parseRoot")
        for i in range(n):
            size, children, ctx, entry, name = self.f.u("QQIHxxQ", self.f.inside(CONTEXT, p + i * stride, "parseRoot", 32))
            node = Node(ctx, None, -1, -1, ())
            node.entry, node.function = entry, self.f.text(STRINGS, name, "parseRoot")
            self.nodes[ctx] = node
            self.children(node, children, size)

    def children(self, parent, at, size):
        """parseChildrenContext, without its stack."""
        fixed, todo = 0x18 if self.page else 0x20, [(parent, at, size)]
        while todo:
            parent, at, size = todo.pop()
            while size >= fixed:
                n_bytes, p, ctx, flags, relation, kind, n = self.f.u("QQIBBBB", self.f.inside(CONTEXT, at, "parse", fixed))
                demand(n < 128, "ScopeContextFactory.parse", "nFlexWords is a signed byte")
                words = self.f.u("%dQ" % n, self.f.inside(CONTEXT, at + fixed, "parse", 8 * n)) if n else ()
                demand(ctx not in self.nodes, "TraceScopeVisitor", "context", ctx, "twice")
                node = self.nodes[ctx] = Node(ctx, parent, kind, relation, words)
                demand(relation < 3 and kind < 4, "ScopeContextFactory.parse", "Invalid node relation field")
                need = (flags & 1) + (flags & 2) + (flags & 4) // 2
                demand(n >= need, "ScopeContextFactory.parse", "returns no scope")
                take = iter(words)
                if flags & 1:
                    node.function = self.known(self.functions, next(take))
                if flags & 2:
                    node.file, node.line = self.known(self.files, next(take)), next(take) & 0xffffffff
                if flags & 4:
                    node.module, node.offset = self.known(self.modules, next(take)), next(take)
                # createLexicalFunction makes a procedure of one that is not called, which the visitor does not allow.
                demand(kind != FUNCTION or relation or parent is None, "CallingContextReassignment.visit",
                       "Illegal procedure scope")
                if n_bytes:
                    todo.append((node, p, n_bytes))
                at, size = at + fixed + 8 * n, size - fixed - 8 * n

    def calls(self):
        """(function, file:line it was called at): createLexicalFunction, for which a parent that is no line has none."""
        return {(n.function.decode(), "%s:%d" % (n.parent.file.decode(), n.parent.line) if n.parent.kind == LINE else "?")
                for n in self.nodes.values() if n.kind == FUNCTION and n.relation == 1 and n.parent}

    def known(self, table, at):
        """getIfAbsent gives a nameless one: nothing fails, but all is wrong."""
        demand(at in table, "ScopeContextFactory.parse", hex(at), "is not in its table")
        return table[at]

    def profiles(self):
        p = self.p = File(self.path / "profile.db", b"prof", b"_prof.db", 2)
        at, n, size = p.u("QIB", p.sections[0][0])
        demand(size < 128, "ProfInfo", "szProfile is a signed byte")
        self.profile, self.ids = [], []
        for i in range(n):
            n_values, values, n_ctxs, indices, ids = p.u("QQI4xQQ", at + i * size)
            starts = [p.u("IQ", indices + 12 * k) for k in range(n_ctxs)]
            demand(all(a[0] < b[0] for a, b in zip(starts, starts[1:])), "DataSummary.getMetrics", "binarySearch")
            mine = {}
            for (ctx, first), (_, last) in zip(starts, starts[1:] + [(None, n_values)]):
                pairs = [p.u("Hd", values + 10 * k) for k in range(first, last)]
                demand(all(a[0] < b[0] for a, b in zip(pairs, pairs[1:])), "DataSummary.getMetric", "binarySearch")
                mine[ctx] = dict(pairs)
            self.profile.append(mine)
            n_ids = p.u1("H", ids) if ids else 0
            self.ids.append([p.u("BxHIQ", ids + 8 + 16 * k) for k in range(n_ids)])
            # readIdTuple: mapLevelToHash has as many elements as there are kinds.
            demand(n_ids <= len(self.kinds), "DataSummary.readIdTuple", "mapLevelToHash[%d]" % n_ids)
            demand(all(k < len(self.kinds) for k, *_ in self.ids[-1]), "IdTuple.isGPU", "kind without a name")
            demand((ids == 0) == (i == 0), "DataSummary.readIdTuple", "profile", i)
            # 8.4.4: a place in the order for each of eight kinds
            demand(all(k < 8 for k, *_ in self.ids[-1]), "IdTupleComparator.compare", "getSortingOrder", self.ids[-1])

    @staticmethod
    def order(a, b):
        """IdTupleComparator.compare of 8.4.4: NODE and CORE count only where all else is the same."""
        skipped = [[e for e in t if e[0] in (1, 7)] for t in (a, b)]
        rest = [[e for e in t if e[0] not in (1, 7)] for t in (a, b)]
        for x, y in zip(*rest):
            if (x[0], x[2]) != (y[0], y[2]):
                return -1 if (x[0], x[2]) < (y[0], y[2]) else 1
        for i, (x, y) in enumerate(zip(*skipped)):  # the kind skipped, but the number that stands at I
            if (x[0], a[i][2]) != (y[0], b[i][2]):
                return -1 if (x[0], a[i][2]) < (y[0], b[i][2]) else 1
        return (len(skipped[0]) > len(skipped[1])) - (len(skipped[0]) < len(skipped[1]))

    def told_apart(self):
        """Ours only: threads that are equal in that order would stand in any."""
        ids = self.ids[1:40]
        return [(a, b) for i, a in enumerate(ids) for b in ids[:i] if self.order(a, b) == 0 or self.order(a, b) != -self.order(b, a)]

    def cct(self):
        c = File(self.path / "cct.db", b"ctxt", b"__ctx.db", 1)
        p, n, size = c.u("QIB", c.sections[0][0])
        demand(n > max(self.nodes, default=0), "DataPlot.getPlotEntry", "listContexts[cct]")
        c.inside(0, p + n * size - 1 if n else p, "DataPlot.readNextHeader")

    def traces(self):
        self.lines = {}
        if not (self.path / "trace.db").exists():
            return
        t = File(self.path / "trace.db", b"trce", b"trace.db", 1)
        p, n, size, first, last = t.u("QIB3xQQ", t.inside(0, t.sections[0][0], "TraceHeader", 0x20))
        # FileDB4.getMinLoc: header number profile - 1
        demand(n >= len(self.profile) - 1, "FileDB4.getMinLoc", "traceCtxs[%d]" % n)
        demand(first <= last, "FileDB4.open", "dbTimeMin")
        for i in range(n):
            profile, start, end = t.u("I4xQQ", p + i * size)
            demand(profile == i + 1, "FileDB4.getMinLoc", "header", i, "is of profile", profile)
            self.lines[profile] = [t.u("QI", at) for at in range(start, end, 12)]

    def taxonomy(self):
        """MetricYamlParser; shown: name of a root -> {(variant, inclusive or exclusive): formula over statMetricIds}"""
        text = (self.path / "metrics/default.yaml").read_bytes()
        maps = sum(isinstance(e, yaml.AliasEvent) for e in yaml.parse(text, Loader=yaml.SafeLoader))
        demand(maps <= 1000, "MetricYamlParser", maps, "aliases, MAX_ALIASES")
        demand(len(text) <= 3 << 20, "snakeyaml", "codePointLimit")
        data = self.yaml = yaml.safe_load(text)
        demand(isinstance(data.get("version"), int), "parseYaml")
        self.inputs = {}
        for item in data.get("inputs") or []:
            key = [item[k] for k in ("metric", "scope", "formula", "combine")]
            demand(all(isinstance(key[k], str) for k in (0, 1, 3)), "parseInputs", "(String)", key)
            same = [s for s in self.summaries if s[0].lower() == key[0].lower() and s[1] == self.type_of(key[1]) and
                    ("sum", "min", "max")[s[4]] == key[3].lower() and s[3].lower() == str(key[2]).lower()]
            demand(same, "parseInputs", key, "metric does not exist")
            demand(len(same) == 1, "parseInputs", key, "metric has more than 1 matched")
            self.inputs[json.dumps(item, sort_keys=True)] = same[0][5]
        self.shown = {}
        for root in data.get("roots") or []:
            self.root(root)

    @staticmethod
    def type_of(scope):
        return scope.lower() if scope.lower() in ("execution", "function", "lex_aware", "point") else "unknown"

    def root(self, root):
        demand(isinstance(root["name"], str) and isinstance(root["description"], str), "parseRoots", "(String)")
        demand(isinstance(root["variants"], dict) or "children" not in root, "parseMetric", "No list of children")
        for variant, attributes in (root.get("variants") or {}).items():
            demand(isinstance(variant, str), "parseVariants", "entry.getKey()")
            if not isinstance(attributes.get("formula"), dict):
                continue
            demand(isinstance(attributes.get("render", []), list), "setMetricRender", "(List<String>)")
            for side, formulas in attributes["formula"].items():
                demand(side.lower() in ("inclusive", "exclusive"), "MetricType.convertFromName", side)
                demand(isinstance(formulas, dict), "parseVariants", "(LinkedHashMap)")
                if json.dumps(formulas, sort_keys=True) in self.inputs: # as of the page's time
                    self.shown.setdefault(root["name"], {})[variant, side] = self.formula(formulas)
                    continue
                for which, formula in formulas.items():
                    demand(isinstance(formula, dict), "deconstructFormula", "(LinkedHashMap)", formula)
                    made = self.formula(formula)
                    if which == "standard" or (variant, side) not in self.shown.get(root["name"], {}):
                        self.shown.setdefault(root["name"], {})[variant, side] = made
        for child in root.get("children") or []:
            demand(isinstance(child.get("variants"), dict), "parseMetric", "No list of children")
            self.root(child)

    def formula(self, e):
        """deconstructFormula, as a Python expression."""
        known = self.inputs.get(json.dumps(e, sort_keys=True))
        if known is not None:
            return "v(%d)" % known
        if not isinstance(e, dict):
            return str(e)
        demand(len(e) == 1, "deconstructFormula", "Unknown expression", e)
        ((op, args),) = e.items()
        demand(isinstance(args, list), "deconstructFormula", "Unknown expression", args)
        demand(len(args) <= 2, "deconstructFormula", "Formula has", len(args), "subs")
        if len(args) == 1:
            return "%s(%s)" % (op, self.formula(args[0]))
        demand(op in "+-*/^", "ExpressionTree.parse", "a", op, "b")
        return "(%s%s%s)" % (self.formula(args[0]), "**" if op == "^" else op, self.formula(args[1]))

    def value(self, formula, ctx):
        values = self.profile[0].get(ctx, {})
        try:
            return eval(formula, {"v": lambda i: values.get(i, 0.0), "sqrt": lambda x: math.sqrt(max(x, 0))})
        except ZeroDivisionError:
            return 0.0


def python_string(f, at, who):
    """Both readers of Hatchet and Pipit's decode byte by byte."""
    s = f.b[at:f.b.index(0, at)]
    demand(s.isascii(), who, s, "is not ASCII")
    return s.decode()


class Hatchet:
    """hatchet/hatchet, HPCToolkitV4Reader.read: only the released layout."""

    who = "hpctoolkit_v4_reader"

    def __init__(self, v):
        self.v = v
        f = v.f
        demand(not v.page, self.who, "the page's layout")
        for p in f.u("2Q", f.sections[GENERAL][0]):
            python_string(f, p, "read_general_properties")
        self.strings()
        p, n = f.u("QB", f.sections[NAMES][0])
        self.kinds = [python_string(f, q, "read_identifier_names") for q in f.u("%dQ" % n, p)]
        self.tuples()
        self.defaults()
        self.values()

    def strings(self):
        """common_string_index_map: pointers by counting characters."""
        at, size = self.v.f.sections[STRINGS]
        starts, text = set(), self.v.f.b[at:at + size].decode("utf-8")
        for s in text.split("\0"):
            starts.add(at)
            at += len(s) + 1
        f = self.v.f
        for section, offset in ((MODULES, 8), (FILES, 8), (FUNCTIONS, 0)):
            p, n, size = f.u("QIH", f.sections[section][0])
            for i in range(n):
                q = f.u1("Q", p + i * size + offset)
                demand(q in starts, "common_string_index_map", "KeyError", hex(q))
        p, n, size = f.u("QHB", f.sections[CONTEXT][0])
        for i in range(n):
            demand(f.u1("Q", p + i * size + 24) in starts, "common_string_index_map", "KeyError of an entry")

    def tuples(self):
        """__read_hit_section: one behind the other to the end of the section, rows of a frame by their values."""
        p = self.v.p
        at, size = p.sections[1]
        end, found = at + size, set()
        while at < end:
            found.add(at)
            at += 8 + 16 * p.u1("H", at)
        demand(at == end, "read_hit_section", "the section does not end with a tuple")
        first, n, stride = p.u("QIB", p.sections[0][0])
        for i in range(1, n):
            demand(p.u1("Q", first + i * stride + 32) in found, "hit_map", "KeyError of profile", i)
        self.rows = []
        for ids in self.v.ids[1:]:
            row = {self.kinds[k]: physical if flags & 1 else logical for k, flags, logical, physical in ids}
            demand(len(row) == len(ids), "read_hit_section", "one kind twice")
            self.rows.append(tuple(row.items()))
        demand(len({tuple(v for _, v in row) for row in self.rows}) == len(self.rows), "create_node_dict",
               "two threads of one name")

    def defaults(self):
        self.scopes = {}
        for root in self.v.yaml["roots"]:
            demand("variants" in root, "DefaultReader", "KeyError", root["name"])
            mine = self.scopes[root["name"]] = {}
            variant = root["variants"].get("Sum", root["variants"].get(""))
            if variant and "percent" in variant["render"]:
                for side in ("inclusive", "exclusive"):
                    if side in variant["formula"]:
                        plain = variant["formula"][side]["standard"]
                        demand(isinstance(plain, dict) and "scope" in plain, "DefaultReader", "no plain alias of", root["name"])
                        mine[side] = plain["scope"]

    def values(self):
        """inclusive and exclusive: {metric: {context: sum over threads}}"""
        self.inclusive, self.exclusive = {}, {}
        for mine in self.v.profile[1:]:
            for ctx, values in mine.items():
                for prop, value in values.items():
                    demand(prop in self.v.props, "metric_id_name_map", "KeyError", prop)
                    metric, scope = self.v.props[prop]
                    if metric in self.scopes:
                        for side in ("exclusive", "inclusive"):
                            demand(side in self.scopes[metric], "read_single_context_value_block", "KeyError", side)
                        for side, into in (("inclusive", self.inclusive), ("exclusive", self.exclusive)):
                            if self.scopes[metric][side] == scope:
                                of = into.setdefault(metric, {})
                                of[ctx] = of.get(ctx, 0.0) + value
        demand(self.exclusive, "create_graphframe", "exclusive_metrics[0]")


class Llnl:
    """LLNL/hatchet, HPCToolkitReaderLatest: sums by propMetricId in the summary profile."""

    def __init__(self, v):
        f = v.f
        demand(not v.page, "hpctoolkit_reader_latest", "the page's layout")
        self.names = {}
        for prop, (metric, scope) in v.props.items():
            demand(scope.lower() in ("execution", "function", "point", "lex_aware"), "METRIC_SCOPE_MAPPING", "KeyError", scope)
            if scope in ("execution", "function"):
                self.names[prop] = (metric, scope)
        # It shows nothing of a database without one of these, and takes the first main thread.
        self.has_time = any(m.lower().split("(")[0].strip() in ("cputime", "realtime", "cycles") for m, _ in v.props.values())
        self.has_main = any(n.parent is None and getattr(n, "entry", 0) == 1 for n in v.nodes.values())
        for n in v.nodes.values():
            if n.kind == FUNCTION:
                demand(not n.words or n.function is not None, "_parse_function", "a context of type function without one")
            elif n.kind == INSTRUCTION:
                demand(not n.words or (n.function is None and n.file is None), "_parse_context",
                       "the module does not stand first")
            elif n.kind >= 0:
                demand(not n.words or (n.function is None and n.file is not None), "_parse_context",
                       "the file does not stand first")
            if n.function:
                demand(n.function.isascii(), "read_string", n.function)
        self.sums = {}
        for ctx, values in v.profile[0].items():
            for i, value in values.items():
                if i in self.names:
                    self.sums.setdefault(self.names[i], {})[ctx] = value


class Pipit:
    """hpcgroup/pipit, HPCToolkitReader: time lines; a tuple's identifications are looked up by name."""

    def __init__(self, v):
        self.events = 0
        for profile, line in v.lines.items():
            last = -1
            names = [v.kinds[k] for k, *_ in v.ids[profile]]
            demand(len(set(names)) == len(names), "read_single_trace_header", "one kind twice:", names)
            for _, ctx in line:
                if ctx == last:
                    continue
                demand(ctx == 0 or ctx in v.nodes, "node_map", "KeyError", ctx)
                last = ctx
                self.events += 1


def near(a, b, rel=1e-9, scale=0.0):
    return math.isclose(a, b, rel_tol=rel, abs_tol=rel * abs(scale))


def compare(what, path, viewer, hatchet, llnl):
    """Their numbers are those of `dwell tree`: of each context, and of each row's."""
    bad = []
    for metric, formulas in viewer.shown.items():
        if ("Sum", "inclusive") not in formulas:
            continue
        done = subprocess.run([dwell, "tree", path, "--event", metric, "--percent-limit", "0", "--json"], capture_output=True,
                              text=True, errors="surrogateescape")
        if done.returncode:
            continue
        data = json.loads(done.stdout)
        total = data["events"][0]["total"]
        for row in data["rows"]:
            ids = [int(i) for i in row["contexts"].split("+")]
            for side in ("inclusive", "exclusive"):
                want = row[side][metric]
                shown = sum(viewer.value(formulas["Sum", side], i) for i in ids)
                if not near(shown, want, 1e-6, total):
                    bad.append(("hpcviewer", metric, row["name"], side, shown, want))
                if hatchet:
                    sums = (hatchet.inclusive if side == "inclusive" else hatchet.exclusive).get(metric, {})
                    if not near(sum(sums.get(i, 0) for i in ids), want, 1e-9, total):
                        bad.append(("hatchet", metric, row["name"], side, sum(sums.get(i, 0) for i in ids), want))
                if llnl:
                    sums = llnl.sums.get((metric, "execution" if side == "inclusive" else "function"), {})
                    if not near(sum(sums.get(i, 0) for i in ids), want, 1e-9, total):
                        bad.append(("LLNL", metric, row["name"], side, sum(sums.get(i, 0) for i in ids), want))
    check(what + ": the numbers of dwell tree", not bad, bad[:4])


READERS = {"hpcviewer": Hpcviewer, "Hatchet": Hatchet, "Hatchet of LLNL": Llnl, "Pipit": Pipit}


def try_readers(path):
    """{name: reader, or why it refuses the database}; of the page's layout there was only the viewer."""
    read = {}
    for name, reader in READERS.items():
        if name != "hpcviewer" and (not isinstance(read["hpcviewer"], Hpcviewer) or read["hpcviewer"].page):
            continue
        try:
            read[name] = reader(path if name == "hpcviewer" else read["hpcviewer"])
        except (Refused, KeyError, IndexError, struct.error, ValueError, UnicodeError, TypeError) as e:
            read[name] = "%s %s" % (type(e).__name__, e)
    return read


def opens(what, path, excused=()):
    """All readers open it and have the numbers of `dwell tree`, but for those that are EXCUSED."""
    read = try_readers(path)
    for name, r in list(read.items()):
        if isinstance(r, str):
            check("%s: %s" % (what, name), name in excused, r)
            del read[name]
        else:
            check("%s: %s" % (what, name), True)
    compare(what, path, read["hpcviewer"], read.get("Hatchet"), read.get("Hatchet of LLNL"))
    return read


def refusers(path):
    """Those that do not open it, and Pipit where nobody knows."""
    read = try_readers(path)
    return [name for name, r in read.items() if isinstance(r, str)] + ["Pipit"] * ("Pipit" not in read)


def build(to, *inputs):
    subprocess.run([dwell, "hpc", "-o", to, "--no-sources", *map(str, inputs)], check=True, stdout=subprocess.DEVNULL)
    return pathlib.Path(to)


def recording(name, events, image, pids=(20,), host="vax", label="-"):
    """A recording of processes of two threads and some more, with callers and time lines, of many events."""
    lines = ["meta %s 880000000 60 make all" % host]
    for i, event in enumerate(events):
        lines += ["event %s %d" % (event, 1000 + i), "image file " + image]
        for pid, tid in ((pid, pid + i) for pid in pids for i in range(3)):
            lines += ["owner - %s comm=a pid=%d tid=%d" % (label.replace("N", str(pid % 10)), pid, tid), "path", "sample 1010 %d" % (tid + i), "frame 1000",
                      "sample 1020 %d" % (3 * tid), "frame 1010", "sample 1020 %d" % (7 + i)]
    for pid, tid in ((pid, pid + i) for pid in pids for i in range(2)):
        lines += ["owner - %s comm=a pid=%d tid=%d" % (label.replace("N", str(pid % 10)), pid, tid), "thread %d %d 0 500000" % (pid, tid), "path", "point 100 1010", "frame 1000",
                  "point 2000 1020"]
    subprocess.run([mkdb, name], input="\n".join(lines) + "\n", text=True, check=True)
    return name


def old_kinds(path):
    """Makes the RANK of a database of ours what it was in dwell 0.1.0: a kind PROCESS, here in GPUSTREAM's place."""
    meta, profile = path / "meta.db", path / "profile.db"
    meta.write_bytes(meta.read_bytes().replace(b"GPUSTREAM\0", b"PROCESS\0\0\0"))
    b = bytearray(profile.read_bytes())
    p = File(profile, b"prof", b"_prof.db", 2)
    at, n, size = p.u("QIB", p.sections[0][0])
    for i in range(1, n):
        ids = p.u1("Q", at + i * size + 32)
        for k in range(p.u1("H", ids)):
            if b[ids + 8 + 16 * k] == 2:
                b[ids + 8 + 16 * k] = 6
    profile.write_bytes(b)
    return path


def ranks(path):
    """Per thread (NODE, RANK's logical and physical id, THREAD); RANK is None where there is none."""
    v = Hpcviewer(path)
    rows = []
    for ids in v.ids[1:]:
        of = {k: (logical, physical) for k, _, logical, physical in ids}
        rows.append((of[1][1], of.get(2), of[3][0]))
    return rows


def check_processes(image):
    """RANK is dense over the whole output, whatever the inputs called their processes."""
    one = build("lone", "--db", recording("lone-db", ["cycles"], image))
    check("one process: no RANK", {r for _, r, _ in ranks(one)} == {None}, ranks(one))
    several = recording("several-db", ["cycles"], image, (40, 30, 50))
    out = build("several", "--db", several)
    opens("several processes", out)
    check("several processes: dense, physically the pid", [r for _, r, _ in ranks(out)] ==
          [r for r in ((0, 30), (1, 40), (2, 50)) for _ in range(3)], ranks(out))
    mpi = build("mpi", "--db", recording("mpi-db", ["cycles"], image, (52, 31, 40), label="rank=N"))
    opens("MPI ranks", mpi)
    check("MPI ranks: dense, physically the rank", [r for _, r, _ in ranks(mpi)] ==
          [r for r in ((0, 0), (1, 1), (2, 2)) for _ in range(3)], ranks(mpi))
    other = recording("other-db", ["cycles"], image, (30, 60), host="pdp")
    old = old_kinds(build("old", "--db", several))
    for name, inputs, n in (("hosts", (several, other), 5), ("old kinds", (old,), 3), ("old kinds and others", (old, other, mpi), 8),
                            ("a process and a database", ("lone-db", mpi), 4), ("twice", (mpi, mpi), 6)):
        out = build("processes of " + name, *inputs)
        viewer = opens(name, out, ["Hatchet"] if name == "twice" else ())["hpcviewer"]
        check(name + ": RANK is dense", {r[0] for _, r, _ in ranks(out)} == set(range(n)), ranks(out))
        check(name + ": eight kinds", viewer.kinds[2] == "RANK" and len(viewer.kinds) == 8, viewer.kinds)
        check(name + ": threads are told apart", not viewer.told_apart(), viewer.told_apart()[:2])
    check("old kinds: the pid stays", {r for _, r, _ in ranks(pathlib.Path("processes of old kinds"))} == {(0, 30), (1, 40), (2, 50)},
          ranks(pathlib.Path("processes of old kinds")))


def check_calls():
    """The line of each call is known, in the released layout; instructions are there when asked for."""
    pathlib.Path("calls.c").write_text("""volatile int x;
__attribute__((noinline)) void leaf(void) { x++; }
__attribute__((noinline)) void twice(void)
{
	leaf();
	leaf(); leaf(); x++;
}
void _start(void)
{
	for (;;)
		twice();
}
""")
    subprocess.run(["gcc", "-g", "-O1", "-nostdlib", "-static", "-no-pie", "-Wl,--build-id", "-fno-asynchronous-unwind-tables", "-o",
                    "calls", "calls.c"], check=True)
    dump = subprocess.run(["objdump", "-d", "calls"], check=True, capture_output=True, text=True).stdout
    lines = [line for line in dump.splitlines() if "call" in line]
    leaf = re.search(r"^0*([0-9a-f]+) <leaf>:", dump, re.M).group(1)
    # The last byte of a call instruction, as recordings have it.
    at = {name: ["%x" % (int(l.split(":")[0], 16) + 4) for l in lines if "<%s>" % name in l] for name in ("leaf", "twice")}
    text = ["meta vax 880000000 60 calls", "event cycles 1000", "image file %s/calls" % os.getcwd(), "owner - - comm=a pid=7 tid=7"]
    for i, call in enumerate(at["leaf"]):
        text += ["path", "frame " + at["twice"][0], "frame " + call, "sample %s %d" % (leaf, 10 + i)]
    subprocess.run([mkdb, "calls-db"], input="\n".join(text) + "\n", text=True, check=True)
    where = os.getcwd() + "/calls.c"
    want = {("leaf", where + ":5"), ("leaf", where + ":6"), ("twice", where + ":11"), ("_start", "?")}
    for name, extra, kinds in (("calls-short", [], 0), ("calls-listed", ["--instructions"], 2)):
        viewer = opens(name, build(name, "--db", "calls-db", *extra))["hpcviewer"]
        check(name + ": the lines of calls", viewer.calls() == want, viewer.calls())
        insns = [n for n in viewer.nodes.values() if n.kind == INSTRUCTION]
        check(name + ": instructions", len(insns) == kinds, len(insns))
    read = Hpcviewer(build("calls-page", "--layout", "page", "--db", "calls-db"))
    check("calls-page: calls stand below instructions", {n.parent.kind for n in read.nodes.values()
                                                         if n.kind == FUNCTION and n.function in (b"leaf", b"twice")} == {INSTRUCTION})
    # Made of the other layout it has the lines, too: instructions are left out on the way.
    viewer = opens("calls-again", build("calls-again", "calls-page"))["hpcviewer"]
    check("calls-again: the lines of calls", viewer.calls() == want, viewer.calls())
    return want


def check_viewer(paths, calls):
    """hpcviewer's own reader, where DWELL_HPCVIEWER is a class path of its jar and what that needs."""
    jars = os.environ.get("DWELL_HPCVIEWER")
    if not jars or not shutil.which("java"):
        check("hpcviewer's own reader # SKIP DWELL_HPCVIEWER is not its class path", True)
        return
    for path in paths:
        done = subprocess.run(["java", "-ea", "-cp", jars, SCRIPTS / "HpcviewerOpens.java", path], capture_output=True, text=True)
        check("hpcviewer's own reader: %s" % path, done.returncode == 0, (done.stdout + done.stderr)[-1500:])
        if path.name.startswith("calls-"):
            found = {tuple(line.split()[1:]) for line in done.stdout.splitlines() if line.startswith("call ")}
            known = {(name, os.path.basename(at)) for name, at in calls if at != "?"}
            check("hpcviewer's own reader: %s: the lines of calls" % path, known <= found, found)
        if path.name == "calls-short":
            found = [line for line in done.stdout.splitlines() if line.startswith("flat ")]
            check("hpcviewer's own reader: %s: the flat view has procedures only" % path,
                  "flat leaf 33000" in found and all(line.split()[1] in ("leaf", "twice", "_start") for line in found), found)


def main():
    given = [pathlib.Path(p).resolve() for p in sys.argv[4:]]
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        image = "/usr/lib/gone.so"
        one = recording("one", ["cycles"], image)
        two = recording("two", ["cycles", "cpu-clock", "cache-misses"], image)
        many = recording("many", ["event%02d" % i for i in range(64)], image)
        for layout in ("released", "page"):
            extra = ["--layout", layout]
            for name in (one, two, many):
                opens("%s %s" % (name, layout), build("%s-%s" % (name, layout), *extra, "--db", name))
            subprocess.run([mkhpc, "made-" + layout, layout], check=True)
            opens("copy %s" % layout, build("copy-" + layout, *extra, "made-" + layout))
            opens("merged %s" % layout, build("merged-" + layout, *extra, "made-" + layout, one))
        check_processes(image)
        calls = check_calls()
        # Names that differ in case only are two metrics, which the viewer would not tell apart.
        cases = recording("cases", ["cycles", "CYCLES", "Cycles"], image)
        viewer = opens("cases", build("cases-out", "--db", cases))["hpcviewer"]
        check("cases: the metrics", len(viewer.shown) == 3 and len({m.lower() for m in viewer.shown}) == 3, sorted(viewer.shown))
        # A metric's variants are all there while there are few, and the sum is always.
        every = ["--stat", "mean,stddev,cfvar", "--stat", "min,max", "--db"]
        few = opens("two with statistics", build("two-stats", *every, two))["hpcviewer"].shown
        lots = opens("many with statistics", build("many-stats", *every, many))["hpcviewer"].shown
        plain = Hpcviewer(pathlib.Path("two-released")).shown
        check("sums unless asked for more", {v for v, _ in plain["cycles"]} == {"Sum"}, plain)
        check("all statistics of few metrics", {v for v, _ in few["cycles"]} == {"Sum", "Mean", "StdDev", "CfVar", "Min", "Max"}, few)
        viewer = opens("deviations alone", build("cfvar-out", "--stat", "cfvar", "--db", two))["hpcviewer"]
        check("deviations alone: the metrics", {v for v, _ in viewer.shown["cycles"]} == {"Sum", "CfVar"}, viewer.shown)
        viewer = opens("statistics of a copy", build("copy-stats", "--stat", "min", "two-released"))["hpcviewer"]
        check("statistics of a copy: the metrics", {v for v, _ in viewer.shown["cycles"]} == {"Sum", "Min"}, viewer.shown)
        check("of many at least the sum", len(lots) == 64 and all(("Sum", "inclusive") in f for f in lots.values()), len(lots))
        fixtures = pathlib.Path(os.environ.get("DWELL_FIXTURES", "/nonexistent")) / "hpctoolkit"
        found = given or sorted(p.parent for p in fixtures.rglob("meta.db") if (p.parent / "profile.db").exists())
        for path in found:
            if given:
                opens(path.name, path)
                continue
            # A copy is opened by what opens HPCToolkit's own; Pipit's takes none of programs without MPI, for one.
            refused = refusers(path)
            check("HPCToolkit's own " + path.name, "hpcviewer" not in refused, refused)
            opens("copy of " + path.name, build("of-" + path.name, path), [r for r in refused if r != "Hatchet"])
        if found and not given:
            opens("all in one", build("all", *found), ["Hatchet", "Pipit"])
        check_viewer(sorted(p.parent for p in pathlib.Path(".").glob("*/meta.db")
                            if not str(p).startswith("made") and not Hpcviewer(p.parent).page), calls)
    finish()


main()
