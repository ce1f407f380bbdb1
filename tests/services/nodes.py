# SPDX-License-Identifier: BSD-2-Clause
"""Functions of other versions of Node.js, as npm has them (tools/room)."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
import node_graph
from e2e import *

ROOM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/room")


def of_version(name):
    p = subprocess.run([ROOM, name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if p.returncode:
        raise Skipped(p.stderr.strip())
    node = p.stdout.strip() + "/package/bin/node"
    node_graph.every_way_of_calling(node)
    node_graph.shares_of_work(node)
    node_graph.inlined_functions(node)
    node_graph.unoptimised_lines(node)
    node_graph.functions_that_await(node)
    node_graph.moved_functions(node)


def of_node_16():
    of_version("node16")


def of_node_18():
    of_version("node18")


def of_node_22():
    of_version("node22")


def of_node_24():
    of_version("node24")


run(of_node_16, of_node_18, of_node_22, of_node_24)
