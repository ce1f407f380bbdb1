# SPDX-License-Identifier: BSD-2-Clause
"""Prints TAP: a test is something that has no problems, or two values that are the same; finish() at the end."""
import sys

n_tests = n_failed = 0


def check(what, problems):
    global n_tests, n_failed
    n_tests += 1
    n_failed += bool(problems)
    print("not ok" if problems else "ok", n_tests, "-", what)
    for problem in problems:
        print("#", problem)


def check_same(what, got, want):
    check(what, [] if got == want else [f"got:  {got}", f"want: {want}"])


def finish():
    print(f"1..{n_tests}")
    sys.exit(n_failed != 0)
