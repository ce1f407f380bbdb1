# SPDX-License-Identifier: BSD-2-Clause
"""Whose samples they are: a fork storm does not grow the database, unless its processes are to be kept apart."""
import glob

from e2e import *

LOOPS = 3000000  # about 3 ms of one procedure, in a program without libraries
FEW, MANY = 40, 400


def storm(n, by, *argv):
    """Records 2 N processes of one program, their user code only: code is the same however many there are."""
    db = "db-%s-%d" % ("".join(argv) or by, n)
    record("--by", by, *argv, "-e", "cpu-clock:u", "-c", 100003, "--", prog("forkstorm"), n, 2, prog("burn_static_pie"),
           "-n", longer(LOOPS), db=db)
    size = sum(os.path.getsize(path) for path in glob.glob(db + "/epochs/*/*/*.seg"))
    return db, size


def rows_by(keys, db, *argv):
    p = dwell("prof", "--json", "--db", db, "--by", keys, *argv)
    check(p.returncode == 0, "prof --by %s exits %d: %s" % (keys, p.returncode, p.stderr.strip()))
    return json.loads(p.stdout)["rows"]


def total(rows):
    return sum(r["counts"]["cpu-clock:u"] for r in rows)


def a_storm_is_one_owner():
    few, few_bytes = storm(FEW, "group")
    many, many_bytes = storm(MANY, "group")
    owners = []
    for db in few, many:
        rows = rows_by("comm,exe,cgroup,label,uid", db)
        note("%s: %s" % (db, [(r["comm"], total([r])) for r in rows]))
        check(len([r for r in rows if r["comm"] == "burn_static_pie"]) <= 1, "one owner for all: %s" % rows)
        likely(any(r["comm"] == "burn_static_pie" for r in rows), "no samples of it")
        owners.append(len(rows))
    note("%d bytes for %d processes, %d for %d" % (few_bytes, 2 * FEW, many_bytes, 2 * MANY))
    likely(owners[1] <= owners[0] + 2, "%s owners" % owners)
    likely(total(rows_by("comm", many)) > 5 * total(rows_by("comm", few)), "more processes have more samples")
    likely(many_bytes < 2.5 * few_bytes, "%d bytes for ten times the processes of %d" % (many_bytes, few_bytes))
    p = dwell("prof", "--db", few, "--by", "pid")
    one_line(p, "--by pid")
    p = dwell("prof", "--db", few, "--tid", "1")
    one_line(p, "--by tid")


def so_with_call_paths():
    """Chains are the same for all processes of a program, though each lies elsewhere in memory."""
    few, few_bytes = storm(FEW, "group", "-g")
    many, many_bytes = storm(MANY, "group", "-g")
    note("%d bytes for %d processes, %d for %d" % (few_bytes, 2 * FEW, many_bytes, 2 * MANY))
    likely(many_bytes < 2.5 * few_bytes, "%d bytes for ten times the processes of %d" % (many_bytes, few_bytes))
    sums = {}
    for r in rows_by("procedure", many):
        at = r["procedure"], r["image"]
        n = sums.setdefault(at, [0, 0])
        n[0] += r["counts"]["cpu-clock:u"]
        n[1] += r.get("inclusive", {}).get("cpu-clock:u", 0)
    p = dwell("tree", "--json", "--db", many, "--flat", "--no-inline", "--percent-limit", 0)
    tree = {}
    for r in json.loads(p.stdout)["rows"]:
        n = tree.setdefault((r["name"], r["image"]), [0, 0])
        n[0] += r["exclusive"]["cpu-clock:u"]
        n[1] += r["inclusive"]["cpu-clock:u"]
    note("%d procedures" % len(sums))
    check(sums == tree, "prof and tree differ: %s" % [(at, sums.get(at), tree.get(at)) for at in set(sums) | set(tree)
                                                       if sums.get(at) != tree.get(at)])
    least(max(n[1] for n in sums.values()), total(rows_by("image", many)), 0.9, "below one procedure")
    hot = max(sums, key=lambda at: sums[at][0])
    for kind in "--callers", "--callees":
        p = dwell("prof", "--json", "--db", many, kind, hot[0])
        check(p.returncode == 0, p.stderr)
        check(total(json.loads(p.stdout)["rows"]) == sums[hot][1], kind + " do not add up")


def processes_apart():
    db, _ = storm(FEW, "pid")
    rows = rows_by("pid", db, "--comm", "burn_*")
    note("%d processes" % len(rows))
    check(len(rows) <= 2 * FEW, "%d processes of %d" % (len(rows), 2 * FEW))
    enough(len(rows), int(0.9 * 2 * FEW), "processes of %d" % (2 * FEW))
    everything = total(rows_by("comm", db, "--comm", "burn_static_pie"))
    check(total(rows) == everything, "%d of %d samples" % (total(rows), everything))
    some = rows[:3]
    pids = ",".join(str(r["pid"]) for r in some)
    check(total(rows_by("image", db, "--pid", pids)) >= total(some), "the samples of %s" % pids)
    both = rows_by("pid,procedure", db, "--pid", some[0]["pid"], "--comm", "burn_static_pie")
    check({r["pid"] for r in both} == {some[0]["pid"]}, "one process: %s" % both)
    check(total(both) == total(some[:1]), "its procedures add up: %s, %s" % (both, some[0]))
    one_line(dwell("prof", "--db", db, "--by", "tid"), "--by tid")


def threads_apart():
    record("--by", "tid", "-e", "cpu-clock:u", "-c", 1000003, "--", prog("family"), longer(0.5), input="\n")
    rows = rows_by("comm,pid,tid", "db", "--comm", "family")
    by_pid = {}
    for r in rows:
        by_pid[r["pid"]] = by_pid.get(r["pid"], 0) + total([r])
    note("%s" % [(r["pid"], r["tid"], total([r])) for r in rows])
    likely(len({r["tid"] for r in rows}) > len(by_pid), "a process has several threads")
    for r in rows_by("pid", "db", "--comm", "family"):
        check(by_pid[r["pid"]] == total([r]), "the threads of %d add up" % r["pid"])
    tid = rows[0]["tid"]
    check(total(rows_by("procedure", "db", "--tid", tid)) == total([r for r in rows if r["tid"] == tid]),
          "the samples of thread %d" % tid)


def cgroups_and_users():
    """A program that changes its user is asked who it is once it has lived for a while."""
    record("-e", "cpu-clock:u", "-c", 1000003, "--", "setpriv", "--reuid", 65534, "--clear-groups", prog("burn"), longer(3))
    rows = rows_by("uid,comm", "db")
    note("%s" % [(r["uid"], r["comm"], total([r])) for r in rows])
    likely(any(r["uid"] == 65534 and r["comm"] == "burn" for r in rows), "burn is nobody's: %s" % rows)
    cgroup = rows_by("cgroup", "db")[0]["cgroup"]
    check(total(rows_by("cgroup", "db", "--cgroup", cgroup)) == total(rows), "all in " + str(cgroup))
    least(total(rows_by("image", "db", "--exe", "burn")), total(rows), 0.9, "by executable")
    n = sum(total([r]) for r in rows if r["uid"] == 65534)
    check(total(rows_by("image", "db", "--uid", "nobody")) == n, "by the user's name")
    # It may have been asked before it changed its user, and is asked again only later.
    least(n, total(rows), 0.9, "nobody's")


run(a_storm_is_one_owner, so_with_call_paths, processes_apart, threads_apart, cgroups_and_users)
