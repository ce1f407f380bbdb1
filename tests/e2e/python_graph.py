# SPDX-License-Identifier: BSD-2-Clause
"""What recorded call paths of the program python_work.py say, held against its own call graph."""
from e2e import *

WORK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python_work.py")
MARKS = ("[Python code not known]", "[no Python state]", "[Python frame unreadable]", "[Python frames unmatched]")

BEFORE_ROOT = ("W_Number", "W_Number.__init__")  # the module makes the class and numbers before it calls anything


def edges(qualified=True):
    """Who calls whom.  Before 3.11 functions have no QUALIFIED names."""
    return {pair if qualified else tuple(f.rsplit(".", 1)[-1] for f in pair) for pair in call_graph(WORK)}


def against_the_graph(found, known, root):
    """Each two of our functions that follow each other are an edge, and every path begins with ROOT."""
    n_named = 0
    for path, n in found:
        ours = [f for f in path if f.startswith(("w_", "W_", "__lt__"))]
        if any(f in MARKS or f.startswith("[truncated") for f in path):
            continue
        for edge in zip(ours, ours[1:]):
            check(edge in known, "%s does not call %s: %s" % (*edge, path))
        check(not ours or ours[0] in (root, *BEFORE_ROOT), "begins with %s: %s" % (ours[:1], path))
        n_named += n if ours else 0
    return n_named
