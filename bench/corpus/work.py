# SPDX-License-Identifier: BSD-2-Clause
"""Work of a usual kind for an interpreter: text, tables, regular expressions, recursion, JSON."""
import collections
import json
import re
import sys
import zlib


class Node:
    def __init__(self, key):
        self.key, self.left, self.right = key, None, None

    def insert(self, key):
        side = "left" if key < self.key else "right"
        child = getattr(self, side)
        if child is None:
            setattr(self, side, Node(key))
        else:
            child.insert(key)

    def depth(self):
        return 1 + max((c.depth() for c in (self.left, self.right) if c), default=0)


text = open(sys.argv[1], errors="replace").read()
words = re.findall(r"[a-z_]{3,}", text)
count = collections.Counter(words)
top = sorted(count.items(), key=lambda kv: (-kv[1], kv[0]))[:2000]
again = json.loads(json.dumps(dict(top), indent=1))
assert again == dict(top)
tree = Node("m")
for word in list(count)[:6000]:
    tree.insert(word)
print(len(words), tree.depth(), len(zlib.compress(text.encode())))
