#!/usr/bin/env python3
"""Holds the manual against the program:  man.py DWELL MAN_DIRECTORY

Every command of `dwell help` has a page, and every page a command.  A page's sections are those below, in
this order; its SYNOPSIS is the usage of --help, form by form; its OPTIONS are those of --help, no more and
no fewer.  dwell.1 describes what all readers share, and names every page.  Prints TAP."""
import pathlib
import re
import subprocess
import sys

from tap import check_same, finish

SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "OUTPUT", "EXAMPLES", "EXIT STATUS", "SEE ALSO"]
MAY_COME = {"ENVIRONMENT", "FILES"}
dwell, man = sys.argv[1], pathlib.Path(sys.argv[2])


def output(*args):
    return subprocess.run([dwell, *args], capture_output=True, text=True, check=True).stdout


def plain(text):
    """The text without scdoc's markup: stars, underlines that begin or end a word, line breaks, escapes."""
    text = re.sub(r"\+\+$", "", text, flags=re.M)
    text = re.sub(r"(?<![\\])\*|(?<![\\\w])_(?=\w)|(?<=[\w.])_(?!\w)", "", text)
    return re.sub(r"\\(.)", r"\1", text)


def sections(page):
    parts = re.split(r"^# (.*)\n", page, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def options(text):
    """Option names at the beginning of unindented lines of a page, or of indented ones of --help."""
    names = set()
    for line in text.splitlines():
        if not line.startswith("\t"):
            names |= set(re.findall(r"(?:^|[\s,])(--?[A-Za-z][\w-]*)", line.split("  ")[0]))
    return names


usages, helped = {}, {}
for command in re.findall(r"^  (\w+)  ", output("help").split("commands:")[1], flags=re.M):
    text = output(command, "--help")
    usages[command] = [line[7:] for line in text.splitlines() if re.match(r"usage: |       dwell ", line)]
    helped[command] = options("\n".join(line.strip() for line in text.split("options:\n")[1].splitlines()))
    check_same(f"{command}: has a page", (man / f"dwell-{command}.1.scd").exists(), True)

for path in sorted(man.glob("*.1.scd")):
    name = path.name.removesuffix(".1.scd")
    command = name.removeprefix("dwell-")
    text = path.read_text()
    part = sections(text)
    accepted = subprocess.run(["scdoc"], input=text, capture_output=True, text=True, check=False)
    check_same(f"{name}: scdoc takes it", (accepted.returncode, accepted.stderr), (0, ""))
    check_same(f"{name}: title", text.splitlines()[0], f"{name}(1)")
    check_same(f"{name}: sections", [s for s in part if s not in MAY_COME], SECTIONS)
    for word in ("0", "125") if name in ("dwell-record", "dwell-stat") else ("0", "2"):
        check_same(f"{name}: exit status {word}", f"*{word}*" in part["EXIT STATUS"], True)
    if name == "dwell":
        check_same("dwell: options are those all readers share", options(plain(part["OPTIONS"])) - helped["prof"], set())
        named = set(re.findall(r"\*(dwell-\w+)\*\(1\)", text))
        check_same("dwell: names every page", named, {f"dwell-{c}" for c in helped})
        continue
    check_same(f"{name}: is a page of a command", command in helped, True)
    if command not in helped:
        continue
    check_same(f"{name}: synopsis", plain(part["SYNOPSIS"]).strip().splitlines(), usages[command])
    check_same(f"{name}: options", sorted(options(plain(part["OPTIONS"]))), sorted(helped[command]))
finish()
