# SPDX-License-Identifier: BSD-2-Clause
"""Recordings of one job are one set: loops of shells, launchers, names."""
import json
import os
import subprocess

from e2e import DWELL, check, dwell, likely, longer, prog, record, run, sh

RATE = ["-e", "cpu-clock", "-c", 1000003]


def jobs():
    rows = json.loads(sh(DWELL, "epochs", "--json", "--db", "db"))["rows"]
    return [r["job"] for r in rows]


def in_shell(script, **env):
    e = {k: v for k, v in os.environ.items() if k != "DWELL_JOB"}
    e.update(env, DWELL=DWELL, BURN=prog("burn"))
    subprocess.run(["sh", "-c", script], env=e, check=True, capture_output=True, timeout=300)


RECORD = '"$DWELL" record --db db %s "$BURN" ${SECONDS_OF_BURN:-0.1}; ' % " ".join(map(str, RATE))


def loops_of_shells():
    in_shell("for i in 1 2 3; do %s done" % RECORD, SECONDS_OF_BURN=str(longer(0.1)))
    names = jobs()
    check(len(names) == 3 and len(set(names)) == 1 and names[0].startswith("shell:"), names)
    p = dwell("prof", "--db", "db", "--json")
    check(p.returncode == 0 and "--epoch all" not in p.stderr, p.stderr)
    all_of_it = json.loads(p.stdout)
    one = json.loads(sh(DWELL, "prof", "--db", "db", "--json", "--epoch", "latest"))
    likely(sum(r["counts"]["cpu-clock"] for r in all_of_it["rows"]) >
           2 * sum(r["counts"]["cpu-clock"] for r in one["rows"]), "not all three")
    in_shell(RECORD + ":")
    check(len(set(jobs())) == 2, jobs())
    p = dwell("prof", "--db", "db")
    check(p.returncode == 0 and "1 of 4 shown; --epoch all" in p.stderr, p.stderr)


def names_from_the_environment():
    for env, name in (({"SLURM_JOB_ID": "4711", "PMIX_NAMESPACE": "x"}, "slurm:4711"),
                      ({"PMIX_NAMESPACE": "prterun-7@1"}, "pmix:prterun-7@1"),
                      ({"DWELL_JOB": "nightly", "SLURM_JOB_ID": "1"}, "job:nightly"),
                      ({"DWELL_JOB": "", "SLURM_JOB_ID": "1"}, None)):
        in_shell(RECORD, **env)
        check(jobs()[-1] == name, "%s: %s" % (env, jobs()))
    record(*RATE, "--job", "mine", "--", prog("burn"), 0.1)
    check(jobs()[-1] == "job:mine", jobs())


def ranks_of_a_launcher():
    """Hydra and others say a rank and no job."""
    in_shell("for i in 0 1; do PMI_RANK=$i; export PMI_RANK; %s done; wait" % RECORD.replace(";", " &"))
    names = jobs()
    check(len(names) == 2 and len(set(names)) == 1 and names[0].startswith("launcher:"), names)


run(loops_of_shells, names_from_the_environment, ranks_of_a_launcher)
