# SPDX-License-Identifier: BSD-2-Clause
"""Go programs of other versions of Go, as Debian's suites have them (tools/room), with symbols and without."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
import go_graph
from e2e import *

ROOM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/room")
WORK = "/tmp/dwell-go"


def go_of(room):
    return ["chroot", room, "env", "HOME=/tmp", "GOTOOLCHAIN=local", "GOTELEMETRY=off", "/usr/bin/go"]


def of_suite(suite):
    p = subprocess.run([ROOM, suite], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if p.returncode:
        raise Skipped(p.stderr.strip())
    room = p.stdout.strip()
    if not os.path.exists(room + "/usr/bin/go"):
        raise Skipped("%s has no go" % suite)
    os.makedirs(room + WORK, exist_ok=True)
    home = os.getcwd()
    os.chdir(room + WORK)
    try:
        for name, options in ("whole", []), ("stripped", go_graph.STRIPPED):
            with mounted("-t", "proc", "proc", at=room + "/proc"):
                go_graph.build(go_of(room), *options, at=WORK)
            shutil.copy("go_work", os.path.join(home, name))
        with mounted("-t", "proc", "proc", at=room + "/proc"):
            go_graph.build(go_of(room), at=WORK, name="go_labels")
        shutil.copy("go_labels", home)
    finally:
        os.chdir(home)
    for name in "whole", "stripped":
        go_graph.every_way_of_calling(os.path.join(home, name))
    if shutil.which("go"): # whose pprof reads the profile
        go_graph.labels_of_goroutines(os.path.join(home, "go_labels"))


def of_go_1_15():
    of_suite("bullseye")


def of_go_1_24():
    of_suite("trixie")


run(of_go_1_15, of_go_1_24)
