# SPDX-License-Identifier: BSD-2-Clause
"""Real stacks of real programs, walked by our tables and by elfutils' unwinder: the same frames.

Each program of the list runs its work (bench/corpus), is stopped again and again, and the stack of
one of its threads is compared frame by frame.  What differs is shown."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile

from e2e import Skipped, check, enough, least, longer, note, prog, run

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CORPUS = os.path.join(ROOT, "bench/corpus/corpus")

# Program of the corpus, and the names of its processes.
PROGRAMS = {"gcc": ["cc1", "as"], "python": ["python3"], "perl": ["perl"], "git": ["git"], "xz": ["xz"],
            "node": ["node"], "sqlite": ["sqlite3"], "postgres": ["postgres"], "nginx": ["nginx"]}
BINARY = {"gcc": "gcc", "python": "/usr/bin/python3", "sqlite": "sqlite3", "postgres": "/usr/lib/postgresql/15/bin/postgres",
          "nginx": "/usr/sbin/nginx"}
SERVERS = "postgres", "nginx"  # which are told to end by who started them
AT_LEAST = 7          # of them are installed wherever the tests run: packages.debian
SECONDS = 1           # for each
SAME = 0.995


def compare(program, comms):
    """Sums of stackcmp over the processes of a program at work."""
    total = {}
    with tempfile.TemporaryDirectory(prefix="dwell-corpus-") as where:
        os.chmod(where, 0o755)
        work = subprocess.Popen([CORPUS, program, where, str(len(comms) * longer(SECONDS) + 2)], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            for comm in comms:
                p = subprocess.run([prog("stackcmp"), comm, str(longer(SECONDS))], capture_output=True, text=True)
                check(p.returncode == 0, "stackcmp: %s" % p.stderr)
                note(p.stderr)
                for key, n in json.loads(p.stdout).items():
                    if key != "causes":
                        total[key] = total.get(key, 0) + n
        finally:
            if program not in SERVERS:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(work.pid, signal.SIGKILL)
            work.wait()
    return total


done = {}


def same_frames_in(program):
    """A test of one program."""
    def f():
        if not shutil.which(BINARY.get(program, program)):
            raise Skipped("%s is not installed" % program)
        got = compare(program, PROGRAMS[program])
        note("%s: %s" % (program, got))
        enough(got["stacks"], 50, "stacks")
        least(got["same"], got["stacks"], SAME, "the same")
        done[program] = got
    f.__name__ = "same_frames_in_" + program
    return f


def same_frames_in_all():
    """Together they are so many that hardly any may differ."""
    check(len(done) >= AT_LEAST, "only %s" % sorted(done))
    stacks, same = (sum(got[key] for got in done.values()) for key in ("stacks", "same"))
    note("in all: %d of %d" % (same, stacks))
    least(same, stacks, SAME, "the same")


run(*map(same_frames_in, PROGRAMS), same_frames_in_all)
