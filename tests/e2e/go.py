# SPDX-License-Identifier: BSD-2-Clause
"""Go programs of the Go that is installed, with symbols and without: checked against the call graph of go_work.go."""
import go_graph
from e2e import *


def installed():
    if not shutil.which("go"):
        raise Skipped("no go")
    return [shutil.which("go")]


def every_way_of_calling():
    go_graph.every_way_of_calling(go_graph.build(installed(), at=os.getcwd()))


def stripped():
    go_graph.every_way_of_calling(go_graph.build(installed(), *go_graph.STRIPPED, at=os.getcwd()))


def shares_of_work():
    go_graph.shares_of_work(go_graph.build(installed(), *go_graph.STRIPPED, at=os.getcwd()))


def labels():
    go_graph.labels_of_goroutines(go_graph.build(installed(), at=os.getcwd(), name="go_labels"))


def labels_stripped():
    go_graph.labels_of_goroutines(go_graph.build(installed(), *go_graph.STRIPPED, at=os.getcwd(), name="go_labels"))


def cgo():
    go_graph.through_c(go_graph.build(installed(), at=os.getcwd(), name="go_cgo", cgo=True))


run(services=[every_way_of_calling, stripped, shares_of_work, labels, labels_stripped, cgo])
