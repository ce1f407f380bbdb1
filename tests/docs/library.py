#!/usr/bin/env python3
"""Holds the manual of the libraries against headers and sources:  library.py SOURCE_ROOT

A page's sections are those below, in this order.  Its prototypes are the header's; the errors it names are those the
header names; the variables are those the code reads.  Prints TAP."""
import pathlib
import re
import subprocess
import sys

from tap import check, finish

root = pathlib.Path(sys.argv[1])
man = root / "docs/man/libdwell"
ORDER = ["NAME", "SYNOPSIS", "DESCRIPTION", "RETURN VALUE", "ERRORS", "ENVIRONMENT", "NOTES", "EXAMPLES", "SEE ALSO"]
MUST = {"1": {"NAME", "SYNOPSIS", "DESCRIPTION", "ENVIRONMENT", "EXAMPLES", "SEE ALSO"}}
headers = {h: (root / "include/dwell" / h).read_text() for h in ("dwell.h", "sys/profil.h")}
code = "".join(f.read_text() for f in (root / "src/inproc").glob("*.c"))
read = set(re.findall(r'(?:getenv|settings_number)\(\s*"(DWELL_(?:PRELOAD|PROFIL)_\w+)"', code))


def squeezed(text):
    return re.sub(r"\s+", " ", text)


documented = set()
for page in sorted(man.glob("*.scd")):
    text = page.read_text()
    name, section = page.name.removesuffix(".scd").rsplit(".", 1)
    parts = re.split(r"^# (.*)\n", text, flags=re.M)
    part = dict(zip(parts[1::2], parts[2::2]))
    accepted = subprocess.run(["scdoc"], input=text, capture_output=True, text=True, check=False)
    check(f"{name}: scdoc takes it", [accepted.stderr] if accepted.returncode else [])
    check(f"{name}: title", [] if text.startswith(f"{name}({section})\n") else [text.splitlines()[0]])
    must = MUST.get(section, {"NAME", "SYNOPSIS", "DESCRIPTION", "RETURN VALUE", "ERRORS", "SEE ALSO"})
    check(f"{name}: sections", [s for s in part if s not in ORDER] + sorted(must - set(part)) +
          ([] if list(part) == sorted(part, key=ORDER.index) else ["out of order"]))
    included = re.findall(r"#include <(\S+)>", part["SYNOPSIS"])
    known = squeezed("".join(headers[h] for h in included))
    prototypes = re.findall(r"^\w[^`#;]*\);", part["SYNOPSIS"], flags=re.M)
    check(f"{name}: prototypes", [p for p in prototypes if squeezed(p) not in known] +
          ([] if prototypes or section == "1" else ["none"]))
    errors = set(re.findall(r"\*(E[A-Z0-9]{3,})\*", part.get("ERRORS", "")))
    check(f"{name}: errors", sorted(e for e in errors if e not in known))
    variables = set(re.findall(r"\bDWELL_(?:PRELOAD|PROFIL)_\w+", part.get("ENVIRONMENT", "")))
    check(f"{name}: variables", sorted(variables - read))
    documented |= variables
check("all variables are documented", sorted(read - documented))
functions = set(re.findall(r"\b(dwell_\w+|s?profil)\(", " ".join(re.findall(r"^\w[^;{}]*\);", "".join(headers.values()), flags=re.M))))
pages = "".join(p.read_text() for p in man.glob("*.scd"))
check("all functions have a page", sorted(f for f in functions if f not in pages))
finish()
