# SPDX-License-Identifier: BSD-2-Clause
"""Call paths of a recording, as folded stacks, and programs that a test compiles with options of its own."""
import collections
import re

from e2e import *

HERE = os.path.dirname(os.path.abspath(__file__))
FAST = ["-e", "cpu-clock", "-c", 100003]  # 10 kHz per CPU
LIBC_MAIN = ["_start", "__libc_start_main", "__libc_start_call_main", "main"]

# A table is not there when its image is first met; nobody can help these samples.
AT_FIRST = {"no unwind table"}
# Samples the kernel takes while it makes or ends a process.
IN_EXEC = {"process exiting"}

Path = collections.namedtuple("Path", "comm cause frames n")


compiled = {}  # what was compiled of files beside the tests, with which options: its bytes


def compile_c(name, source, *options, text=None):
    """Makes the program NAME of a file beside the tests, or of TEXT; its path."""
    key = source, options
    if text is not None:
        with open(source, "w") as f:
            f.write(text)
    elif key in compiled:
        with open(name, "wb") as f:
            f.write(compiled[key])
        os.chmod(name, 0o755)
        return os.path.abspath(name)
    else:
        source = os.path.join(HERE, source)
    sh("cc", "-O2", "-g0", "-fno-ipa-icf", "-I", HERE, "-o", name, source, *options)
    if text is None and not any(str(o).startswith("/") for o in options):
        with open(name, "rb") as f:
            compiled[key] = f.read()
    return os.path.abspath(name)


def assemble(name, *sources):
    sh("as", "-o", name, *sources)
    return name


class Paths(list):
    """Every call path of database DB, outermost first and user code only, of command COMM."""

    def __init__(self, comm=None, db="db", account=None):
        lines = sh(DWELL, "export", "--folded", "--no-inline", "--db", db).splitlines()
        for line in lines:
            path, _, n = line.rpartition(" ")
            frames = path.split(";")
            who = frames.pop(0)
            cause = re.fullmatch(r"\[truncated: (.*)\]", frames[0])
            if cause:
                frames.pop(0)
            frames = [s for s in frames if not s.endswith("_[k]")]
            if comm is None or who == comm:
                self.append(Path(who, cause and cause[1], frames, int(n)))
        self.guessed = 0  # samples with frames found by frame pointer: these may skip a caller
        if account:
            e = account["events"][0]
            self.guessed = e["call_paths"]["guessed"]
            n = sum(int(line.rpartition(" ")[2]) for line in lines)
            check(n == e["samples"] - e["idle"] or n == e["samples"],
                  "%d samples in paths, %d stored, %d idle" % (n, e["samples"], e["idle"]))

    def total(self):
        return sum(p.n for p in self)

    def through(self, *names):
        """The paths that have one of these procedures, or an inlined part of it."""
        return self.only(lambda p: any(f in names for f in p.frames))

    def only(self, what):
        ret = Paths.__new__(Paths)
        list.__init__(ret, (p for p in self if what(p)))
        ret.guessed = self.guessed
        return ret

    def causes(self):
        ret = collections.Counter()
        for p in self:
            if p.cause:
                ret[p.cause] += p.n
        return ret

    def whole(self, pattern, what, at_least=100, share=0.9, causes=AT_FIRST):
        """Fails unless every path that is not truncated matches PATTERN, joined by semicolons, or may
        have been guessed; they must be AT_LEAST so many samples, and SHARE of all but the first ones,
        whose tables were not there yet; the others are truncated because of CAUSES only.  Only a wrong path fails at
        once."""
        good = wrong = other = 0
        for p in self:
            if p.cause:
                other += p.n * (p.cause not in causes)
                continue
            if re.fullmatch(pattern, ";".join(p.frames)):
                good += p.n
                continue
            if p.frames == ["_start"]:
                continue  # the first instructions of the program or of its dynamic linker
            wrong += p.n
            check(wrong <= self.guessed, "%s: a wrong path, %d times, %d guessed: %s" %
                  (what, p.n, self.guessed, ";".join(p.frames)))
        note("%s: %d samples, %d whole, %d guessed wrong, truncated: %s" %
             (what, self.total(), good, wrong, dict(self.causes())))
        # A full ring or a page that is away may cut one off, but not each time.
        likely(other == 0, "%s: truncated not only by %s: %s" % (what, causes, dict(self.causes())))
        enough(good, at_least, "whole paths: " + what)
        total = self.total() - sum(n for cause, n in self.causes().items() if cause in AT_FIRST)
        least(good, total, share, what + ": whole")
        return good


def calls(*argv, comm=None, **kw):
    """Records a program's call paths; its paths and the account."""
    account = record("-g", *FAST, *argv, **kw)
    command = argv[argv.index("--") + 1]
    return Paths(comm or os.path.basename(str(command)), account=account, db=kw.get("db", "db")), account
