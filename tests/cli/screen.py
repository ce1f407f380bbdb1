#!/usr/bin/env python3
"""Runs a program on a terminal of its own and shows its screen:  screen.py COLUMNSxROWS COMMAND [ARG...] <SCRIPT

The terminal is a pseudo terminal, and a model of what it shows: of the sequences that terminfo's xterm has for ncurses.  Any
other control character or sequence is an error, so that a name that drives the terminal is found.  Lines of the script:

    type TEXT       sends it; \\r and \\x1b as in Python
    wait TEXT       until TEXT is on the screen (without TEXT: until the program has ended)
    gone TEXT       until it is not
    show            prints the screen: "|" before each line, ">" before those in reverse video
    resize CxR      gives the terminal another size
    signal NAME     sends SIGNAME to the program
    end             waits for its end, prints its status and whether the terminal is as it was

Whatever is waited for must come within a minute.  Used by tests/cli/tui and tests/e2e/live.py."""
import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unicodedata

PATIENCE_S = 60
SEQUENCE = re.compile(r"\x1b(?:\[([?>]?)([0-9;]*)([@-~])|([()])([0AB])|([78=>M]))")


def width_of(c):
    if unicodedata.combining(c) or unicodedata.category(c) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


class Terminal:
    """What a terminal shows that is sent text."""

    def __init__(self, columns, rows):
        self.resize(columns, rows)
        self.reverse, self.alternate, self.cursor, self.keypad = False, False, True, False
        self.pending, self.odd, self.last = "", [], " "

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.cells = [[(" ", False)] * columns for _ in range(rows)]
        self.x = self.y = 0
        self.top, self.bottom = 0, rows - 1

    def lines(self):
        return ["".join(c for c, _ in row).rstrip() for row in self.cells]

    def text(self):
        return "\n".join(self.lines())

    def put(self, c):
        width = width_of(c)
        if width == 0:
            old, r = self.cells[self.y][max(self.x - 1, 0)]
            self.cells[self.y][max(self.x - 1, 0)] = (old + c, r)
            return
        if self.x + width > self.columns:
            self.x = 0
            self.down()
        self.cells[self.y][self.x] = (c, self.reverse)
        if width == 2:
            self.cells[self.y][self.x + 1] = ("", self.reverse)
        self.x += width
        self.last = c

    def down(self):
        if self.y == self.bottom:
            self.scroll(self.top, 1)
        else:
            self.y = min(self.y + 1, self.rows - 1)

    def blank(self):
        return [(" ", False)] * self.columns

    def scroll(self, at, n):
        """Lines from AT on to the region's end move up by N, down where N is less than 0."""
        for _ in range(abs(n)):
            if n > 0:
                del self.cells[at]
                self.cells.insert(self.bottom, self.blank())
            else:
                del self.cells[self.bottom]
                self.cells.insert(at, self.blank())

    def erase(self, y, first, end):
        for x in range(first, min(end, self.columns)):
            self.cells[y][x] = (" ", False)

    def feed(self, text):
        text = self.pending + text
        self.pending = ""
        at = 0
        while at < len(text):
            c = text[at]
            if c == "\x1b":
                m = SEQUENCE.match(text, at)
                if not m:
                    if len(text) - at < 32:  # the rest is to come
                        self.pending = text[at:]
                        return
                    self.odd.append(text[at:at + 8])
                    at += 1
                    continue
                self.sequence(m)
                at = m.end()
                continue
            if c == "\r":
                self.x = 0
            elif c == "\n":
                self.down()
            elif c in "\x0e\x0f":
                pass  # character sets, which a vt100 has
            elif c == "\b":
                self.x = max(self.x - 1, 0)
            elif unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp"):
                self.odd.append(c)
            else:
                self.put(c)
            at += 1

    def sequence(self, m):
        private, digits, final, _, _, plain = m.groups()
        if final is None:
            if plain == "M":
                if self.y == self.top:
                    self.scroll(self.top, -1)
                else:
                    self.y = max(self.y - 1, 0)
            elif plain in ("=", ">"):
                self.keypad = plain == "="
            return
        numbers = [int(d) if d else 0 for d in digits.split(";")] if digits else []
        n = max(numbers[0] if numbers else 0, 1)
        if private == "?":
            for mode in numbers:
                if mode == 1049:
                    self.alternate = final == "h"
                elif mode == 25:
                    self.cursor = final == "h"
                elif mode not in (1, 7, 12):
                    self.odd.append(m.group(0))
        elif private:
            self.odd.append(m.group(0))
        elif final in "Hf":
            self.y = min(max(numbers[0] if numbers else 1, 1), self.rows) - 1
            self.x = min(max(numbers[1] if len(numbers) > 1 else 1, 1), self.columns) - 1
        elif final == "A":
            self.y = max(self.y - n, 0)
        elif final == "B":
            self.y = min(self.y + n, self.rows - 1)
        elif final == "C":
            self.x = min(self.x + n, self.columns - 1)
        elif final == "D":
            self.x = max(self.x - n, 0)
        elif final == "G":
            self.x = n - 1
        elif final == "d":
            self.y = n - 1
        elif final == "J":
            kind = numbers[0] if numbers else 0
            if kind == 0:
                self.erase(self.y, self.x, self.columns)
            for y in range(self.rows):
                if kind in (2, 3) or (kind == 0 and y > self.y):
                    self.erase(y, 0, self.columns)
        elif final == "K":
            kind = numbers[0] if numbers else 0
            self.erase(self.y, 0 if kind else self.x, self.x + 1 if kind == 1 else self.columns)
        elif final == "X":
            self.erase(self.y, self.x, self.x + n)
        elif final == "b":
            for _ in range(n):
                self.put(self.last)
        elif final in "@P":
            row = self.cells[self.y]
            for _ in range(n):
                if final == "P":
                    del row[self.x]
                    row.append((" ", False))
                else:
                    row.insert(self.x, (" ", False))
                    row.pop()
        elif final in "LM":
            self.scroll(self.y, n if final == "M" else -n)
        elif final in "ST":
            self.scroll(self.top, n if final == "S" else -n)
        elif final == "r":
            self.top = max(numbers[0] if numbers else 1, 1) - 1
            self.bottom = (numbers[1] if len(numbers) > 1 else self.rows) - 1
            self.x = self.y = 0
        elif final == "m":
            for k in numbers or [0]:
                self.reverse = True if k == 7 else False if k in (0, 27) else self.reverse
        elif final not in "hlt":
            self.odd.append(m.group(0))


class Failed(Exception):
    pass


class Program:
    """COMMAND on a terminal."""

    def __init__(self, columns, rows, command, term="xterm-256color"):
        self.terminal = Terminal(columns, rows)
        self.master, slave = pty.openpty()
        self.size(columns, rows)
        self.before = termios.tcgetattr(slave)
        environment = dict(os.environ, TERM=term, ESCDELAY="25")
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment,
                                        start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.slave = slave
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def size(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        self.terminal.resize(columns, rows)
        self.size(columns, rows)
        os.killpg(self.process.pid, signal.SIGWINCH)

    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            self.terminal.feed(self.decoder.decode(os.read(self.master, 65536)))
            return True
        return False

    def send(self, text):
        os.write(self.master, text.encode())

    def until(self, holds, what, seconds=PATIENCE_S):
        """Waits until HOLDS() and nothing more is being written."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if holds() and not self.read(0.05):
                return
            self.read(0.2)
        raise Failed("%s; the screen:\n%s" % (what, self.terminal.text()))

    def wait(self, text):
        self.until(lambda: text in self.terminal.text(), "'%s' did not come" % text)

    def gone(self, text):
        self.until(lambda: text not in self.terminal.text(), "'%s' did not go" % text)

    def ended(self):
        return self.process.poll() is not None

    def restored(self):
        """What is not as it was."""
        t = self.terminal
        return [what for what, bad in (("the other screen", t.alternate), ("no cursor", not t.cursor),
                                       ("the line discipline", termios.tcgetattr(self.slave) != self.before),
                                       ("reverse video", t.reverse)) if bad]


def shown(terminal):
    for row in terminal.cells:
        text = "".join(c for c, _ in row).rstrip()
        mark = ">" if any(r for c, r in row) and all(r for c, r in row[:4]) else "|"
        yield mark + text


def run_line(p, line, out):
    word, _, rest = line.partition(" ")
    if word == "type":
        p.send(codecs.decode(rest, "unicode_escape"))
    elif word == "wait":
        p.wait(rest)
    elif word == "gone":
        p.gone(rest)
    elif word == "show":
        out("\n".join(shown(p.terminal)))
    elif word == "resize":
        p.resize(*map(int, rest.split("x")))
    elif word == "signal":
        os.kill(p.process.pid, getattr(signal, "SIG" + rest))
    elif word == "end":
        p.until(p.ended, "it did not end")
        out("ended: %d%s" % (p.process.returncode, "".join(", not restored: " + w for w in p.restored())))
    else:
        raise Failed("no such word: " + line)


def main():
    columns, rows = map(int, sys.argv[1].split("x"))
    p = Program(columns, rows, sys.argv[2:], os.environ.get("SCREEN_TERM", "xterm-256color"))
    status = 0
    try:
        for line in sys.stdin.read().splitlines():
            if line and not line.startswith("#"):
                run_line(p, line, print)
            elif line:
                print(line)
    except Failed as e:
        print("FAILED:", e)
        status = 1
    if p.terminal.odd:
        print("FAILED: it wrote", p.terminal.odd[:8])
        status = 1
    if not p.ended():
        p.process.kill()
    return status


if __name__ == "__main__":
    sys.exit(main())
