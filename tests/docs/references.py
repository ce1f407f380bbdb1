#!/usr/bin/env python3
"""What documents name exists, and they stay short:  references.py SOURCE_ROOT

In README, ARCHITECTURE, CONTRIBUTING, the glossary, docs/design and docs/formats: each path is a file of the tree (a * stands
for anything), each `name_of_code` and `name()` a word of the sources.  In docs/formats, the field names of every table
(columns "Name" and "Source"), or else their source, are words of the model or of the code that the page names.
Prints TAP."""
import pathlib
import re
import sys

from tap import check, finish

root = pathlib.Path(sys.argv[1])
MOST_LINES = {"README.md": 120, "ARCHITECTURE.md": 250, "CONTRIBUTING.md": 200}
FOLDERS = sorted(p.name for p in (root / "src").iterdir() if p.is_dir())
PATH = re.compile(r"(?<![\w/.*$<-])((?:src|tests|docs|tools|bench|demo|" + "|".join(FOLDERS) + r")/[\w./*-]*\w)")


def words(files):
    found = set()
    for f in files:
        found |= set(re.findall(r"\w+", f.read_text(encoding="utf-8", errors="replace")))
    return found


def sources():
    for pattern in ("src/**/*.[ch]", "tests/**/*.[ch]", "bench/*.[ch]", "tools/*", "bench/*.py", "tests/**/*.py"):
        yield from (f for f in root.glob(pattern) if f.is_file())


def files_of(path):
    """The files PATH means: below the root, or below src/ as #include lines have it; a program is its source."""
    return [f for base in (root, root / "src") for p in (path, path + ".c") for f in base.glob(p)]


def names_of_table(text):
    """(line, name, source) of each name in a column "Name", with what the row's column "Source" has in backticks."""
    columns = None
    for number, line in enumerate(text.splitlines(), 1):
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells:
            columns = None
        elif columns is None:
            columns = [next((i for i, c in enumerate(cells) if c.startswith(head)), None) for head in ("Name", "Source")]
        elif None not in columns and not set(cells[columns[0]]) <= set("-: "):
            source = re.findall(r"`(?:struct |enum )?(\w+)`", cells[columns[1]])
            yield from ((number, name, source) for name in re.findall(r"[a-z_]\w*", cells[columns[0]].split(" (")[0]))


def code_of(text):
    """The sources a page names, as paths, folders or bare names, each .c with its .h, and the model's."""
    named = PATH.findall(text) + re.findall(r"`(\w+\.[ch])`", text)
    for path in named:
        for pattern in (path, f"src/{path}", f"src/*/{path}"):
            pattern = re.sub(r"\.[ch]$", ".[ch]", pattern)
            yield from (f for p in (pattern, pattern + "/*.[ch]") for f in root.glob(p) if f.suffix in (".c", ".h"))


everything = words(sources())
documents = [root / name for name in MOST_LINES] + sorted(root.glob("docs/*.md")) + sorted(root.glob("docs/*/*.md")) + [root / "bench/README.md"]
for document in documents:
    name = document.relative_to(root)
    if not document.exists():
        continue
    text = document.read_text(encoding="utf-8")
    if str(name) in MOST_LINES:
        n = text.count("\n")
        check(f"{name}: at most {MOST_LINES[str(name)]} lines", [f"{n} lines"] if n > MOST_LINES[str(name)] else [])
    prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)  # what is printed is not prose
    prose = re.sub(r"^    .*$", "", prose, flags=re.M)
    check(f"{name}: paths exist", [p for p in sorted(set(PATH.findall(prose))) if not p.endswith(".cpp") and
                                   not files_of(re.sub(r"FORMAT|NAME", "*", p))])
    code = set(re.findall(r"`(?:struct |enum )?(\w+)\(\)`", prose)) | set(re.findall(r"`(?:struct |enum )?(\w+_\w+)`", prose))
    check(f"{name}: symbols exist", sorted(s for s in code if s not in everything and not re.match(r"FORMAT|NAME|noun_|n_things", s)))
    if document.parent == root / "docs/formats":
        code_files = list(code_of(text))
        known = words(code_files + list(root.glob("src/model/*.h")))
        check(f"{name}: fields are in the code it names", [] if code_files else ["names no code"])
        check(f"{name}: field names", [f"line {at}: {field}" for at, field, source in names_of_table(text)
                                       if field not in known and not known & set(source)])
finish()
