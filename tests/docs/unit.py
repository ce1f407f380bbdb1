#!/usr/bin/env python3
"""Holds the service manager's unit against the program:  unit.py DWELLD UNIT

It has the capabilities it needs and no more, protects what it does not write to, has limits, and runs dwelld
with options dwelld has.  dwelld is linked with no more than it needs.  Where systemd-analyze is there it takes the unit, and thinks well of it.  Prints TAP."""
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

from tap import check_same, finish

dwelld, path = os.path.abspath(sys.argv[1]), sys.argv[2]


text = open(path, encoding="utf-8").read()
says = collections.defaultdict(list)
for line in text.splitlines():
    m = re.fullmatch(r"(\w+)=(.*)", line)
    if m:
        says[m.group(1)].append(m.group(2))
    else:
        check_same(f"a section, a comment or nothing: {line}", bool(re.fullmatch(r"\[\w+\]|#.*|", line)), True)

check_same("capabilities", sorted(says["CapabilityBoundingSet"][0].split()),
      ["CAP_BPF", "CAP_CHECKPOINT_RESTORE", "CAP_DAC_READ_SEARCH", "CAP_PERFMON", "CAP_SETGID", "CAP_SETUID", "CAP_SYSLOG", "CAP_SYS_PTRACE"])
for key, value in (("Type", "notify"), ("NoNewPrivileges", "yes"), ("ProtectSystem", "strict"),
                   ("RestrictAddressFamilies", "AF_UNIX AF_INET AF_INET6"), ("IPAddressDeny", "any"), ("IPAddressAllow", "localhost"), ("UMask", "0027"), ("StateDirectoryMode", "0750"), ("Restart", "on-failure"), ("StartLimitIntervalSec", "0")):
    check_same(key, says[key], [value])
for key in ("MemoryMax", "CPUQuota"):
    check_same(f"{key} is a limit", bool(re.fullmatch(r"\d+[MG%]", says[key][0])), True)
# /proc is seen as it is: processes of others are what is recorded.
check_same("sees all processes", [k for k in ("ProtectProc", "ProcSubset", "PrivateUsers") if k in says], [])
helped = set(re.findall(r"--[a-z-]+", subprocess.run([dwelld, "--help"], capture_output=True, text=True, check=True).stdout))
used = set(re.findall(r" (--[a-z-]+)", says["ExecStart"][0]))
check_same("options of ExecStart", used - helped, set())

# What runs for months with privileges has nothing in it that only readers need: of all libraries it may have these.
linked = subprocess.run(["readelf", "-d", dwelld], capture_output=True, text=True, check=True).stdout
linked = set(re.findall(r"NEEDED.*\[(lib[a-zA-Z]+)", linked)) - {"libasan", "libubsan"}
check_same("libraries of dwelld", linked - {"libbpf", "libc", "libm", "libelf", "libz", "libzstd", "libxxhash", "liblzma", "libjansson", "libnettle"}
      - {"libdw", "libZydis"}, set())  # its children without privileges read lines and find an interpreter's loop with these

if shutil.which("systemd-analyze"):
    with tempfile.TemporaryDirectory(prefix="dwell-unit.") as d:
        # As it will be installed, but with programs that are here.
        unit = f"{d}/dwelld.service"
        with open(unit, "w", encoding="utf-8") as f:
            f.write(re.sub(r"ExecStart=\S+", "ExecStart=" + dwelld, text))
        ran = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False)
        check_same("systemd-analyze verify: nothing about it", [s for s in ran.stderr.splitlines() if "dwelld" in s], [])
        ran = subprocess.run(["systemd-analyze", "security", "--offline=true", unit], capture_output=True, text=True, check=False)
        m = re.search(r"Overall exposure level for dwelld.service: ([\d.]+)", ran.stdout)
        if m:
            print(f"# exposure {m.group(1)}")
            check_same("systemd-analyze security: below 4", float(m.group(1)) < 4, True)
finish()
