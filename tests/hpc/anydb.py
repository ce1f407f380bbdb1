"""A second reader of any HPCToolkit database, those that HPCToolkit made too; written from the format's
description (docs/formats/hpctoolkit.md) and from nothing else of this project, to hold the first one against.
Reads everything at once and is lenient."""
import os
import pathlib
import struct
import subprocess
import sys

FUNCTION, LOOP, LINE, INSTRUCTION = range(4)
LEXICAL, CALL, INLINED = range(3)


class Ctx:
    def __init__(self, parent):
        self.parent, self.children = parent, []
        self.id, self.kind, self.relation, self.pretty = 0, FUNCTION, CALL, None
        self.function = self.file = self.line = self.module = self.offset = None

    def walk(self):
        todo = [self]
        while todo:
            c = todo.pop()
            yield c
            todo += reversed(c.children)


class Database:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.b = (self.path / "meta.db").read_bytes()
        assert self.b[:14] == b"HPCTOOLKITmeta" and self.b[-8:] == b"_meta.db"
        self.sections = [self.u64(0x18 + 16 * i) for i in range(8)]
        self.title = self.text(self.u64(self.sections[0]))
        self.read_names()
        self.read_metrics()
        self.read_tables()
        self.read_contexts()
        self.read_profiles()

    def u8(self, at):
        return self.b[at]

    def u16(self, at):
        return struct.unpack_from("<H", self.b, at)[0]

    def u32(self, at):
        return struct.unpack_from("<I", self.b, at)[0]

    def u64(self, at):
        return struct.unpack_from("<Q", self.b, at)[0]

    def text(self, at):
        return self.b[at:self.b.index(b"\0", at)].decode(errors="surrogateescape") if at else ""

    def read_names(self):
        at = self.sections[1]
        self.id_names = [self.text(self.u64(self.u64(at) + 8 * i)) for i in range(self.u8(at + 8))]

    def read_metrics(self):
        """metrics: name -> {"prop": {scope: id}, "stat": {(scope, formula, combine): id}}"""
        at, self.metrics = self.sections[2], {}
        sizes = tuple(self.b[at + 12:at + 15])
        self.released = sizes[0] >= 32
        for i in range(self.u32(at + 8)):
            m = self.u64(at) + i * sizes[0]
            prop, stat = {}, {}
            if self.released:
                for k in range(self.u16(m + 0x18)):
                    s = self.u64(m + 8) + k * sizes[1]
                    prop[self.text(self.u64(self.u64(s)))] = self.u16(s + 8)
                for k in range(self.u16(m + 0x1a)):
                    s = self.u64(m + 0x10) + k * sizes[2]
                    key = self.text(self.u64(self.u64(s))), self.text(self.u64(s + 8)), self.u8(s + 0x10)
                    stat[key] = self.u16(s + 0x12)
            else:
                for k in range(self.u16(m + 8)):
                    s = self.u64(m + 0x10) + k * sizes[1]
                    scope = self.text(self.u64(s))
                    prop[scope] = self.u16(s + 0xa)
                    for n in range(self.u16(s + 8)):
                        t = self.u64(s + 0x10) + n * sizes[2]
                        stat[scope, self.text(self.u64(t)), self.u8(t + 8)] = self.u16(t + 0xa)
            self.metrics[self.text(self.u64(m))] = {"prop": prop, "stat": stat}

    def table(self, section, read):
        at = self.sections[section]
        p, n, size = self.u64(at), self.u32(at + 8), self.u16(at + 12)
        return {p + i * size: read(p + i * size) for i in range(n)}

    def read_tables(self):
        self.modules = self.table(5, lambda at: self.text(self.u64(at + 8)))
        self.files = self.table(6, lambda at: self.text(self.u64(at + 8)))
        self.functions = self.table(7, lambda at: {
            "name": self.text(self.u64(at)), "module": self.modules.get(self.u64(at + 8)), "offset": self.u64(at + 0x10),
            "file": self.files.get(self.u64(at + 0x18)), "line": self.u32(at + 0x20)})

    def read_array(self, parent, size, at):
        end = at + size
        while at < end:
            c, base = Ctx(parent), 0x20 if self.released else 0x18
            c.id, flags, c.relation, c.kind, words = struct.unpack_from("<IBBBB", self.b, at + 0x10)
            flex, u32s = at + base, 0
            if flags & 1:
                c.function = self.functions[self.u64(flex)]
                flex += 8
            if flags & 2:
                c.file, c.line = self.files[self.u64(flex)], self.u32(flex + 8)
                flex += 16
            if flags & 4:
                c.module, c.offset = self.modules[self.u64(flex)], self.u64(flex + 8)
            parent.children.append(c)
            if self.u64(at):
                self.read_array(c, self.u64(at), self.u64(at + 8))
            at += base + 8 * words

    def read_contexts(self):
        self.root, at = Ctx(None), self.sections[3]
        if not self.released:
            self.read_array(self.root, self.u64(at), self.u64(at + 8))
            for c in self.root.children:
                c.pretty = None if c.function else "unknown entry"
        else:
            for i in range(self.u16(at + 8)):
                e, c = self.u64(at) + i * self.u8(at + 10), Ctx(self.root)
                c.id, c.pretty = self.u32(e + 0x10), self.text(self.u64(e + 0x18))
                self.root.children.append(c)
                if self.u64(e):
                    self.read_array(c, self.u64(e), self.u64(e + 8))
        self.contexts = {c.id: c for c in self.root.walk()}

    def read_profiles(self):
        """profiles: [{"ids": [(kind, logical, physical)], "values": {(ctx, metric): value}}]"""
        b = (self.path / "profile.db").read_bytes()
        assert b[-8:] == b"_prof.db"
        at, self.profiles = struct.unpack_from("<Q", b, 0x18)[0], []
        p, n, size = struct.unpack_from("<QIB", b, at)
        for i in range(n):
            n_values, values, n_ctxs, index, tuple_at = struct.unpack_from("<QQI4xQQ", b, p + i * size)
            ids, found = [], {}
            if tuple_at:
                for k in range(struct.unpack_from("<H", b, tuple_at)[0]):
                    kind, _, logical, physical = struct.unpack_from("<BxHIQ", b, tuple_at + 8 + 16 * k)
                    ids.append((self.id_names[kind], logical, physical))
            starts = [struct.unpack_from("<IQ", b, index + 12 * k) for k in range(n_ctxs)] + [(0, n_values)]
            for (ctx, start), (_, end) in zip(starts, starts[1:]):
                for k in range(start, end):
                    metric, value = struct.unpack_from("<Hd", b, values + 10 * k)
                    found[ctx, metric] = value
            self.profiles.append({"ids": ids, "values": found})

    def traces(self):
        """[(profile index, [(time, ctx)])]"""
        b = (self.path / "trace.db").read_bytes()
        at = struct.unpack_from("<Q", b, 0x18)[0]
        p, n, size = struct.unpack_from("<QIB", b, at)
        self.first_timestamp, lines = struct.unpack_from("<Q", b, at + 0x10)[0], []
        for i in range(n):
            index, start, end = struct.unpack_from("<I4xQQ", b, p + i * size)
            lines.append((index, [struct.unpack_from("<QI", b, k) for k in range(start, end, 12)]))
        return lines

    def cct(self):
        """{(ctx, metric, profile): value}"""
        b = (self.path / "cct.db").read_bytes()
        at, found = struct.unpack_from("<Q", b, 0x18)[0], {}
        p, n, size = struct.unpack_from("<QIB", b, at)
        for ctx in range(n):
            n_values, values, n_metrics, index = struct.unpack_from("<QQH6xQ", b, p + ctx * size)
            starts = [struct.unpack_from("<HQ", b, index + 10 * k) for k in range(n_metrics)] + [(0, n_values)]
            for (metric, start), (_, end) in zip(starts, starts[1:]):
                for k in range(start, end):
                    profile, value = struct.unpack_from("<Id", b, values + 12 * k)
                    found[ctx, metric, profile] = value
        return found


def named(args, made):
    """The databases that a test's arguments name: paths; after --make what that program writes, in both layouts, below
    the directory MADE; else those of $DWELL_FIXTURES.  Without any the test is skipped."""
    if args[:1] == ["--make"]:
        made.mkdir(exist_ok=True)
        databases = [made / layout for layout in ("released", "page")]
        for database in databases:
            subprocess.run([args[1], database, database.name], check=True)
    else:
        databases = [pathlib.Path(p) for p in args]
    if not databases:
        fixtures = pathlib.Path(os.environ.get("DWELL_FIXTURES", "/nonexistent")) / "hpctoolkit"
        databases = sorted(p.parent for p in fixtures.rglob("meta.db") if (p.parent / "profile.db").exists())
    if not databases:
        print("1..0 # SKIP no databases ($DWELL_FIXTURES/hpctoolkit)")
        sys.exit(0)
    return databases
