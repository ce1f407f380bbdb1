# SPDX-License-Identifier: BSD-2-Clause
"""Prints TAP: check() for each test, finish() at the end."""
import sys

n_tests = 0
failed = False


def check(what, ok, why=""):
    global n_tests, failed
    n_tests += 1
    failed |= not ok
    print("ok" if ok else "not ok", n_tests, "-", what, flush=True)
    if not ok:
        print("# " + str(why)[:2000].replace("\n", "\n# "))


def finish():
    print(f"1..{n_tests}")
    sys.exit(failed)
