# SPDX-License-Identifier: BSD-2-Clause
"""Java methods of other versions of HotSpot, as Debian's suites have them (tools/room)."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
import java_graph
from e2e import *

ROOM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/room")


def of_suite(suite):
    if not shutil.which("javac"):
        raise Skipped("no javac")
    p = subprocess.run([ROOM, suite], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if p.returncode:
        raise Skipped(p.stderr.strip())
    room = p.stdout.strip()
    work = os.path.join(room, "tmp/dwell-java")
    os.makedirs(work, exist_ok=True)
    for name in os.listdir(java_graph.compiled()):
        if name.endswith(".class"):
            shutil.copy(name, work)
    java_graph.path_of_classes = "/tmp/dwell-java"
    with mounted("-t", "proc", "proc", at=room + "/proc"):
        for options in [], ["-Xint"], ["-XX:TieredStopAtLevel=1"], ["-XX:-TieredCompilation"]:
            java_graph.every_way_of_calling(["chroot", room, "java", *options])
        java_graph.inlined(["chroot", room, "java"])
        java_graph.lines_of_compiled_code(["chroot", room, "java"])
        java_graph.shares_of_work(["chroot", room, "java"])


def of_java_11():
    of_suite("bullseye")


def of_java_21():
    of_suite("trixie")


run(of_java_11, of_java_21)
