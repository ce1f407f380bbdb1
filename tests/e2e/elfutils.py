# SPDX-License-Identifier: BSD-2-Clause
"""Real stacks of real programs, walked by our tables and by elfutils' unwinder: the same frames.

Each program of the list runs its work (bench/corpus), is stopped again and again, and the stack of
one of its threads is compared frame by frame.  What differs is shown."""
import json
import os
import shutil
import subprocess
import tempfile

from e2e import Failed, check, note, prog, run

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CORPUS = os.path.join(ROOT, "bench/corpus/corpus")

# Program of the corpus, and the names of its processes.
PROGRAMS = {"gcc": ["cc1", "as"], "python": ["python3"], "perl": ["perl"], "git": ["git"], "xz": ["xz"],
            "node": ["node"], "sqlite": ["sqlite3"], "postgres": ["postgres"], "nginx": ["nginx"]}
BINARY = {"gcc": "gcc", "python": "/usr/bin/python3", "sqlite": "sqlite3", "postgres": "/usr/lib/postgresql/15/bin/postgres",
          "nginx": "/usr/sbin/nginx"}
AT_LEAST = 7          # of them are installed wherever the tests run: packages.debian
SECONDS = 2           # for each
SAME = 0.995


def compare(program, comms):
    """Sums of stackcmp over the processes of a program at work."""
    total = {}
    with tempfile.TemporaryDirectory(prefix="dwell-corpus-") as where:
        os.chmod(where, 0o755)
        work = subprocess.Popen([CORPUS, program, where, str(SECONDS + 2)], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        try:
            for comm in comms:
                p = subprocess.run([prog("stackcmp"), comm, str(SECONDS)], capture_output=True, text=True)
                check(p.returncode == 0, "stackcmp: %s" % p.stderr)
                note(p.stderr)
                for key, n in json.loads(p.stdout).items():
                    if key != "causes":
                        total[key] = total.get(key, 0) + n
        finally:
            work.wait()
    return total


def same_frames_as_elfutils(_=None):
    seen, total = 0, {"stacks": 0, "same": 0}
    for program, comms in PROGRAMS.items():
        if not shutil.which(BINARY.get(program, program)):
            note("%s: not installed" % program)
            continue
        got = compare(program, comms)
        note("%s: %s" % (program, got))
        check(got["stacks"] >= 50, "%s: only %d stacks" % (program, got["stacks"]))
        seen += 1
        for key in total:
            total[key] += got[key]
        if got["same"] < SAME * got["stacks"] - 1:  # one of a few hundred says nothing
            raise Failed("%s: %d of %d stacks are the same" % (program, got["same"], got["stacks"]))
    check(seen >= AT_LEAST, "only %d programs of the corpus are installed" % seen)
    note("in all: %(same)d of %(stacks)d" % total)
    check(total["same"] >= SAME * total["stacks"], "in all: %(same)d of %(stacks)d" % total)


run(same_frames_as_elfutils)
