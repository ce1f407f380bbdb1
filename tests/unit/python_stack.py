# SPDX-License-Identifier: BSD-2-Clause
"""A Python stack to be read from outside, by unwind_python.c: tells what it is, then waits for the end of stdin.

The first line is the thread pointer and the version, each further one a frame, the innermost first: its line, first
line and qualified name; the last one is empty."""
import ctypes
import sys
import threading


def tell():
    print("%x %x" % (threading.get_ident(), sys.hexversion))
    frame = sys._getframe()
    while frame:
        print(frame.f_lineno if frame is not sys._getframe() else 0, frame.f_code.co_firstlineno,
              getattr(frame.f_code, "co_qualname", frame.f_code.co_name))  # since 3.11
        frame = frame.f_back
    print(flush=True)
    sys.stdin.read()


class Outer:
    class Inner:
        def method(self):
            def größe():
                return tell()
            return größe()


def generate():
    yield Outer.Inner().method()


def key(x):
    return next(iter(generate()))


def recurse(n):
    if n:
        return recurse(n - 1)
    return [sorted([1], key=key) for _ in range(1)]


@ctypes.CFUNCTYPE(ctypes.c_int)
def called_back():
    recurse(30)
    return 0


called_back()
