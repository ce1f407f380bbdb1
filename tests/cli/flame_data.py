#!/usr/bin/env python3
"""flame_data.py PAGE: prints the data block of a page of `dwell flame` as folded stacks, decoded without any of
the project's code.  Fails when the page is not what view/flame_html.c describes."""
import base64
import hashlib
import re
import sys

sys.dont_write_bytecode = True
from page_data import Block

page = open(sys.argv[1], encoding="utf-8").read()
policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
style, = re.findall(r"<style>(.*?)</style>", page, re.S)
scripts = re.findall(r"<script([^>]*)>(.*?)</script>", page, re.S)
assert [s[0] for s in scripts][:2] == [' type="text/plain" id="data"', ""], [s[0] for s in scripts]
assert [s[0] for s in scripts][2:] in ([], [' type="text/plain" id="whole"'])
for text, what in (style, "style"), (scripts[1][1], "script"):
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    assert f"{what}-src 'sha256-{digest}'" in policy, what
assert "default-src 'none'" in policy and not re.search(r"https?://|//[a-z]+\.", style + scripts[1][1])

block = Block(page, 1)
head, (n,), number = block.head, block.counts, block.number
up, frame, own = [block.column(n) for _ in range(3)]
was, change = [block.column(n) if "sides" in head else [0] * n for _ in range(2)]
waits, blocks = [block.column(n) if "states" in head else [0] * n for _ in range(2)]
small = [number() if head["kinds"][head["kind"][f]] == "small" else 0 for f in frame]
block.check_end()
depth, path = -1, []
for i in range(n):
    depth += 1 - up[i] if i else 1
    del path[depth:]
    assert len(path) == depth
    kind = head["kinds"][head["kind"][frame[i]]]
    path.append(f"({small[i]} small)" if kind == "small" else head["name"][frame[i]] + {
        "native": "", "script": "", "inlined": "_[i]", "kernel": "_[k]", "generated": "_[j]"}.get(kind, f"_[{kind}]"))
    if (own[i] or was[i] or change[i]) and len(sys.argv) < 3:
        print(";".join(path), *([was[i]] if "sides" in head else []), own[i],
              *([head["changes"][change[i]]] if "sides" in head else []),
              *([f"({waits[i]} waiting, {blocks[i]} blocked)"] if "states" in head else []))
if "sides" in head:
    print(f"{n} boxes, A {sum(was)} of {head['sides'][0]['total']}, B {sum(own)} of {head['sides'][1]['total']}")
else:
    print(f"{n} boxes, {sum(own)} of {head['total']} {head['unit']}, least {head['least']}")
