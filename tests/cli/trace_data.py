#!/usr/bin/env python3
"""trace_data.py PAGE: prints the spans in the data block of a page of `dwell trace`, decoded without any of the
project's code.  Fails when the page is not what view/trace_html.c describes."""
import sys

sys.dont_write_bytecode = True
from page_data import Block

page = open(sys.argv[1], encoding="utf-8").read()
block = Block(page, 2)
head, (n_spans, n_nodes), number = block.head, block.counts, block.number
parent = [0] + [i - number() for i in range(1, n_nodes)]
name = [0] + [number() for _ in range(1, n_nodes)]
gap, length, state, node, waker = [block.column(n_spans) for _ in range(5)]
place = [number() if w else 0 for w in waker]
block.check_end()


def path(n):
    return " < ".join([head["names"][name[n]]] + ([path(parent[n])] if parent[n] else [])) if n else "-"


k = 0
for t in head["threads"]:
    print(t["name"], t["pid"], t["tid"], "from", t["born"], "to", t["ended"], "dropped", t["dropped"])
    now = 0
    for k in range(k, k + t["spans"]):
        now += gap[k]
        by = f", woken by {head['threads'][waker[k] - 1]['tid']} in {path(place[k])}" if waker[k] else ""
        print(f"  {now}..{now + length[k]} {head['states'][state[k]]} {path(node[k])}{by}")
        now += length[k]
    k += bool(t["spans"])
print(n_spans, "spans,", head["points"], "points,", head["length"], "us, least", head["least"])
