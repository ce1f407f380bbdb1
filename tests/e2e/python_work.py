# SPDX-License-Identifier: BSD-2-Clause
"""What tests/e2e/python.py records: functions that call each other in every way that Python has.  WAYS of doing it
take turns; their names, and those of their callees, begin with w_ and are in EDGES, the call graph."""
import asyncio
import ctypes
import functools
import re
import sys
import threading
import time
import zlib

EDGES = """
w_main w_sort w_main w_compare w_main w_replace w_main w_reduce w_main w_generate w_main w_callback w_main w_recurse
w_main w_raise w_main w_run w_main w_spin
w_sort w_key w_key w_spin w_compare W_Number.__lt__ W_Number.__lt__ w_spin w_replace w_replaced w_replaced w_spin
w_reduce w_reduced w_reduced w_spin w_generate w_outer w_outer w_inner w_inner w_spin w_callback w_compared
w_compared w_spin w_recurse w_recurse w_recurse w_spin w_raise w_raising w_raising w_raising w_raise w_spin
w_run w_task w_task w_between w_between w_resumed w_resumed w_spin w_task w_awaited w_awaited w_spin w_run w_awaited
"""


def w_spin(n):
    x = 0
    for i in range(n):
        x += i & 3
    return x


def w_key(x):
    return w_spin(20) + x


def w_sort():
    sorted(range(100), key=w_key)


class W_Number:
    def __init__(self, n):
        self.n = n

    def __lt__(self, other):
        return w_spin(5) + self.n < other.n


NUMBERS = tuple(W_Number(i * 7 % 50) for i in range(50))


def w_compare():
    sorted(NUMBERS)


def w_replaced(match):
    w_spin(20)
    return match.group(0)


PATTERN = re.compile("a")


def w_replace():
    PATTERN.sub(w_replaced, "abc" * 50)


def w_reduced(a, b):
    return w_spin(10) + a


def w_reduce():
    functools.reduce(w_reduced, range(100))


def w_inner(n):
    for i in range(n):
        w_spin(5)
        yield i


def w_outer(n):
    yield from w_inner(n)


def w_generate():
    sum(w_outer(100))


COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))


def w_compared(a, b):
    w_spin(20)
    return a[0] - b[0]


LIBC, COMPARED = ctypes.CDLL(None), COMPARE(w_compared)


def w_callback():
    array = (ctypes.c_int * 30)(*range(30, 0, -1))
    LIBC.qsort(array, 30, ctypes.sizeof(ctypes.c_int), COMPARED)


def w_recurse(n):
    return w_recurse(n - 1) if n else w_spin(2000)


def w_raising(n):
    if not n:
        raise ValueError
    w_raising(n - 1)


def w_raise():
    try:
        w_raising(20)
    except ValueError:
        w_spin(100)


async def w_awaited():
    w_spin(1000)


async def w_resumed():
    await asyncio.sleep(0)
    w_spin(1000)


async def w_between():
    await w_resumed()


async def w_task():
    await w_awaited()
    await w_between()
    await asyncio.gather(w_awaited(), w_awaited())


def w_run():
    asyncio.run(w_task())


def w_main(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for way in w_sort, w_compare, w_replace, w_reduce, w_generate, w_callback, w_raise, w_run:
            way()
        w_recurse(200)


def w_made(seconds):
    """Makes functions, each of a file, a name and a line of its own, that are gone when the next are made."""
    end, i = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        i += 1
        text = "\n" * (i % 97) + "def made_%d(f):\n    f(200)\n    return f(200)\n" % i
        names = {}
        exec(compile(text, "/made/file_%d.py" % i, "exec"), names)
        names["made_%d" % i](w_spin)


def w_third():
    w_spin(400)


def w_two_thirds():
    w_spin(800)


def w_shares(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for _ in range(100):
            w_third()
            w_two_thirds()


def w_squeeze(seconds):
    data, end = bytes(range(256)) * 4000, time.monotonic() + seconds
    while time.monotonic() < end:
        zlib.compress(data, 9)


def w_wait(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.01)


def w_threads(work, seconds):
    others = [threading.Thread(target=work, args=(seconds,)) for _ in range(2)]
    for t in others:
        t.start()
    for t in others:
        t.join()


if __name__ == "__main__":
    what, seconds = sys.argv[1], float(sys.argv[2])
    if sys.argv[3:] == ["threads"]:
        w_threads(globals()[what], seconds)
    else:
        globals()[what](seconds)
