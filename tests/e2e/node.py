# SPDX-License-Identifier: BSD-2-Clause
"""Functions of the Node.js that is installed, mixed with native frames: checked against the call graph of the program
node_work.js, which is what runs."""
import node_graph
from e2e import *


def installed():
    if not shutil.which("node"):
        raise Skipped("no node")
    return shutil.which("node")


def every_way_of_calling():
    node_graph.every_way_of_calling(installed())


def shares_of_work():
    node_graph.shares_of_work(installed())


def inlined_functions():
    node_graph.inlined_functions(installed())


def unoptimised_lines():
    node_graph.unoptimised_lines(installed())


def functions_that_await():
    node_graph.functions_that_await(installed(), [], ["--no-opt"])


def moved_functions():
    node_graph.moved_functions(installed())


def workers():
    node_graph.workers(installed())


run(services=[every_way_of_calling, inlined_functions, unoptimised_lines, functions_that_await, moved_functions, workers, shares_of_work])
