#!/usr/bin/env python3
"""Holds PAPI_profil(3) against <papi.h> and the sources:  papi_page.py SOURCE_ROOT

Its prototypes are the header's; the errors it names are those the header's comment on PAPI_profil() names; every flag of
the header is in it; its variables are those the code reads.  Prints TAP."""
import pathlib
import re
import sys

from tap import check_same, finish

root = pathlib.Path(sys.argv[1])
page = (root / "docs/man/libdwell-papi/PAPI_profil.3.scd").read_text()
header = (root / "include/dwell/papi.h").read_text()
code = "".join(f.read_text() for f in (root / "src/inproc/papi").glob("*.c"))
parts = re.split(r"^# (.*)\n", page, flags=re.M)
part = dict(zip(parts[1::2], parts[2::2]))


def squeezed(text):
    return re.sub(r"\s+", " ", text)


sections = ["NAME", "SYNOPSIS", "DESCRIPTION", "RETURN VALUE", "ERRORS", "ENVIRONMENT", "NOTES", "EXAMPLES", "SEE ALSO"]
check_same("sections", list(part), sections)
prototypes = re.findall(r"^int [^`#;]*\);", part["SYNOPSIS"], flags=re.M)
check_same("two prototypes", len(prototypes), 2)
check_same("prototypes", [p for p in prototypes if squeezed(p) not in squeezed(header)], [])
comment = re.findall(r"/\*((?:(?!\*/).)*)\*/\s*int PAPI_profil\(", header, flags=re.S)[-1]
named = set(re.findall(r"^\s*\*\s+(PAPI_E[A-Z_]+)  ", comment, flags=re.M))
check_same("the comment names errors", len(named) > 5, True)
check_same("errors", set(re.findall(r"^\*(PAPI_E[A-Z_]+)\*$", part["ERRORS"], flags=re.M)), named)
flags = set(re.findall(r"#define (PAPI_PROFIL_[A-Z0-9_]+)", header)) - {"PAPI_PROFIL_BUCKETS"}
check_same("flags", sorted(f for f in flags if f not in page), [])
check_same("variables", set(re.findall(r"^\*([A-Z_]+)\*$", part["ENVIRONMENT"], flags=re.M)),
      set(re.findall(r'getenv\("([A-Z_]+)"', code)))
finish()
