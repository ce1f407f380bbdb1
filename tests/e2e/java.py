# SPDX-License-Identifier: BSD-2-Clause
"""Java methods of the HotSpot that is installed, mixed with native frames: checked against the call graph of the program
JavaWork.java, which is what runs."""
import java_graph
from e2e import *


def installed():
    if not shutil.which("java") or not shutil.which("javac"):
        raise Skipped("no java, or no javac")
    return [shutil.which("java")]


def every_way_of_calling():
    java_graph.every_way_of_calling(installed())


def interpreted_only():
    java_graph.every_way_of_calling(installed() + ["-Xint"])


def first_compiler_only():
    java_graph.every_way_of_calling(installed() + ["-XX:TieredStopAtLevel=1"])


def second_compiler_only():
    java_graph.every_way_of_calling(installed() + ["-XX:-TieredCompilation"])


def inlined():
    java_graph.inlined(installed())


def lines_of_compiled_code():
    java_graph.lines_of_compiled_code(installed())


def ran_before():
    java_graph.ran_before(installed())


def waiting():
    java_graph.waiting(installed())


def shares_of_work():
    java_graph.shares_of_work(installed())


run(services=[every_way_of_calling, interpreted_only, first_compiler_only, second_compiler_only,
               inlined, lines_of_compiled_code, ran_before, waiting, shares_of_work])
