# SPDX-License-Identifier: BSD-2-Clause
"""`dwell top` of programs that run: what it shows, and how it ends."""
import calendar
import contextlib
import glob
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cli"))
import screen
from e2e import check, daemon_answers, dwell, likely, longer, prog, run, wait_for, DWELL


class Burning:
    def __enter__(self):
        self.process = subprocess.Popen([prog("burn"), "300", "0.25"])
        return self.process.pid

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def left_behind():
    return [f for f in os.listdir(".") if f.startswith("dwell-live")]


def top(columns, rows, *argv):
    os.environ["TMPDIR"] = os.getcwd()
    return screen.Program(columns, rows, [DWELL, "top", *map(str, argv)])


def first_row(p):
    """The procedure of the first row below the heading."""
    lines = p.terminal.lines()
    for i, line in enumerate(lines[1:-1], 1):
        if " procedure" in line:
            return lines[i + 1]
    return ""


def end(p, wanted):
    p.until(p.ended, "it did not end")
    check(p.process.returncode == wanted, "it ends with %s" % p.process.returncode)
    check(not p.restored(), "not restored: %s" % p.restored())
    check(not p.terminal.odd, "it wrote %s" % p.terminal.odd)
    check(not left_behind(), "it left %s" % left_behind())


def times_of(text):
    """When each table of TEXT begins, to the second, and how long it is: "vm, 2026-11-26 11:57:08 UTC, 2.1 s"."""
    found = re.findall(r"^\S+, (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC, ([\d.]+) s", text, re.M)
    return [(calendar.timegm(time.strptime(start, "%Y-%m-%d %H:%M:%S")), float(s)) for start, s in found]


def shows_what_burns_first():
    with Burning() as pid:
        p = top(100, 30, "-g", "-p", pid)
        p.until(lambda: "burn_here" in first_row(p), "burn_here is not the first row")
        check("lost" in p.terminal.lines()[0], "no word of losses: " + p.terminal.lines()[0])
        p.send("t")
        p.wait("tree by")
        p.wait("main")
        p.send("\x1b")
        p.send("p")
        p.wait("procedures by")
        p.until(lambda: "burn_here" in first_row(p), "burn_here is not the first row")
        p.send("\r")
        p.wait("a source")
        p.send("\x1b")
        p.wait("procedures by")
        p.send("d")
        p.wait("change%")
        p.send("q")
        end(p, 0)


def has_all_rows_once_a_key_comes():
    """Rows below the screen are asked for when somebody may go there: the last row's sum is all there is."""
    p = top(80, 8)
    p.until(lambda: "%" in first_row(p), "no row")
    p.send("zG")
    p.until(lambda: "100.00%" in "".join(p.terminal.lines()[1:-1]), "the last row is not all there is")
    p.send("q")
    end(p, 0)


def gives_the_terminal_back():
    for name, wanted in ("TERM", 143), ("INT", 130), ("HUP", 129), ("SEGV", -signal.SIGSEGV):
        p = top(80, 24)
        p.wait("procedures by")
        check(p.terminal.alternate, "it took no screen of its own")
        os.kill(p.process.pid, getattr(signal, "SIG" + name))
        if name == "SEGV":
            p.until(p.ended, "it did not end")
            check(left_behind(), "a crash removed its names")
            dwell("top", "--intervals", 1, "-d", "100ms", "-p", os.getpid())
        else:
            p.until(lambda: p.ended() or not p.terminal.alternate, "the terminal is not given back")
            p.process.send_signal(getattr(signal, "SIG" + name))  # while it cleans up
        end(p, wanted)


def prints_text():
    os.environ["TMPDIR"] = os.getcwd()
    with Burning() as pid:
        p = dwell("top", "--intervals", 2, "-d", "%dms" % longer(500), "-p", pid)
        check(p.returncode == 0, "it exits %d: %s" % (p.returncode, p.stderr))
        check(p.stdout.count("not_delivered") == 2, "not two tables: " + p.stdout)
        likely(p.stdout.count("burn_here") == 2, "burn_here is missing: " + p.stdout)
        check(not left_behind(), "it left %s" % left_behind())


def saved_names_of(procedure):
    """When each file of symbols with PROCEDURE was written."""
    found = []
    for path in glob.glob("dwell-live*/**/*", recursive=True):
        with contextlib.suppress(OSError):
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    if procedure in f.read():
                        found.append(os.stat(path).st_mtime_ns)
    return found


def saves_names_of_generated_code_once():
    """Code of a JIT is read each second; its names are saved again when there are more, or after a minute."""
    with subprocess.Popen([prog("jit"), "300", "map"], stdout=subprocess.DEVNULL) as jit:
        try:
            p = top(100, 30, "-d", "100ms", "-p", jit.pid)
            p.until(lambda: "made_up_on_the_fly" in first_row(p), "made_up_on_the_fly is not the first row")
            times, begun = set(), time.monotonic()

            def look():
                times.update(saved_names_of(b"made_up_on_the_fly"))
                return time.monotonic() - begun > 5  # dozens of screens; their texts may be the same

            p.until(look, "")
            check(1 <= len(times) <= 2 + (time.monotonic() - begun) // 60, "saved %d times" % len(times))
            p.send("q")
            end(p, 0)
        finally:
            jit.kill()
            with contextlib.suppress(FileNotFoundError):
                os.unlink("/tmp/perf-%d.map" % jit.pid)


def follows_a_daemon():
    """Live rows come from a daemon; a database without one has none."""
    p = dwell("top", "--live", "--db", "db", "--intervals", 1)
    check(p.returncode == 2 and p.stderr, "without a database: %d, %s" % (p.returncode, p.stderr))
    with subprocess.Popen([DWELL, "daemon", "db"], stderr=subprocess.DEVNULL) as daemon:
        try:
            wait_for(lambda: daemon_answers("db"), "the daemon")
            with Burning():
                p = top(100, 30, "--live", "--db", "db", "--comm", "burn") # other programs run beside it
                p.until(lambda: "burn_here" in first_row(p), "burn_here is not the first row")
                check(p.terminal.lines()[0].startswith("db: "), "the first line: " + p.terminal.lines()[0])
                p.send("d")
                p.wait("change%")
                p.send("q")
                end(p, 0)
                # The daemon merges what it stored for the tables, which is not shown again.
                p = dwell("top", "--live", "--db", "db", "--intervals", 20, "-d", "100ms")
                times = times_of(p.stdout)
                check(len(times) > 16, "%d tables: %s" % (len(times), p.stderr))
                for (start, s), (later, _) in zip(times, times[1:]):
                    check(start + s < later + 2, "a table begins %.1f s before the end of the last: %s" % (start + s - later, times))
        finally:
            daemon.send_signal(signal.SIGTERM)
    p = dwell("top", "--live", "--db", "db", "--intervals", 1)
    check(p.returncode == 2 and "no daemon" in p.stderr, "without a daemon: %d, %s" % (p.returncode, p.stderr))


run(shows_what_burns_first, has_all_rows_once_a_key_comes, gives_the_terminal_back, prints_text, saves_names_of_generated_code_once, follows_a_daemon)
