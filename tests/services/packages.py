# SPDX-License-Identifier: BSD-2-Clause
"""The Debian packages of this tree: dpkg-buildpackage makes them, lintian finds no error in them, and what
they unpack to is what an installation has, each file in one package.  Where DEBS names a directory, they are left there, for
fleet_hosts.py to install."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
# A file that each package is for.
WANTED = {
    "dwell": ["/usr/bin/dwell", "/usr/bin/dcpiprof", "/usr/share/man/man1/dwell-diff.1.gz",
              "/usr/share/bash-completion/completions/dwell", "/usr/share/zsh/site-functions/_dwell",
              "/usr/share/fish/vendor_completions.d/dwell.fish"],
    "dwelld": ["/usr/bin/dwelld", "/lib/systemd/system/dwelld.service", "/lib/systemd/system/dwell-ship.service", "/etc/dwell/dwelld.conf",
               "/usr/lib/sysusers.d/dwell.conf", "/usr/lib/tmpfiles.d/dwelld.conf", "/usr/share/man/man1/dwell-daemon.1.gz"],
    "libdwell0": ["/libdwell.so.0"],
    "libdwell-papi0": ["/libdwell-papi.so.0"],
    "libdwell-dev": ["/usr/include/dwell/dwell.h", "/libdwell.a", "/pkgconfig/dwell.pc"],
}


def sh(*argv, **kw):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False, **kw)


def tell(n, good, name, why=""):
    for line in why.splitlines()[-30:] if not good else []:
        print("#", line)
    print("%s %d %s" % ("ok" if good else "not ok", n, name), flush=True)
    return good


def build(room):
    tree = os.path.join(room, "dwell")
    os.mkdir(tree)
    files = sh("git", "-C", TOP, "ls-files", "-z").stdout.split("\0")
    for name in filter(None, files):
        to = os.path.join(tree, name)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        if os.path.lexists(os.path.join(TOP, name)):
            shutil.copy2(os.path.join(TOP, name), to, follow_symlinks=False)
    env = {k: v for k, v in os.environ.items() if k not in ("DESTDIR", "MAKEFLAGS", "MAKELEVEL")}
    return sh("dpkg-buildpackage", "-us", "-uc", "-b", "-d", cwd=tree, env=env)


def hand_over(debs, to):
    """What is there afterwards is of this tree."""
    shutil.rmtree(to, True)
    os.makedirs(to)
    for deb in debs:
        shutil.copy(deb, to)


def main():
    for tool in "dpkg-buildpackage", "dh", "lintian", "fakeroot", "git":
        if not shutil.which(tool):
            print("1..0 # SKIP no", tool)
            return 0
    print("1..4")
    bad, to = 0, os.environ.get("DEBS")
    if to:
        hand_over([], to)
    with tempfile.TemporaryDirectory(prefix="dwell-packages-") as room:
        made = build(room)
        debs = {os.path.basename(d).split("_")[0]: d for d in glob.glob(room + "/*.deb") if "dbgsym" not in d}
        bad += not tell(1, made.returncode == 0 and set(debs) == set(WANTED), "built", made.stdout)
        if bad:
            return 1
        if to:
            hand_over(debs.values(), to)
        lint = sh("lintian", "--allow-root", "--fail-on", "error", *debs.values())
        bad += not tell(2, lint.returncode == 0, "lintian", lint.stdout)
        owners, missing = {}, []
        for package, deb in debs.items():
            names = [line.split(None, 5)[5][1:].split(" -> ")[0] for line in sh("dpkg", "-c", deb).stdout.splitlines()]
            missing += [(package, w) for w in WANTED[package] if not any(n.endswith(w) for n in names)]
            for name in names:
                if not name.endswith("/"):
                    owners.setdefault(name, []).append(package)
        twice = {name: who for name, who in owners.items() if len(who) > 1}
        bad += not tell(3, not missing and not twice, "files", "missing %s, twice %s" % (missing, twice))
        root = os.path.join(room, "root")
        for package in "dwell", "dwelld":
            sh("dpkg-deb", "-x", debs[package], root)
        said = sh(os.path.join(root, "usr/bin/dwell"), "version"), sh(os.path.join(root, "usr/bin/dwelld"), "--version")
        bad += not tell(4, all(s.returncode == 0 and s.stdout.startswith("dwell") for s in said), "runs",
                        "".join(s.stdout for s in said))
    return bad != 0


sys.exit(main())
