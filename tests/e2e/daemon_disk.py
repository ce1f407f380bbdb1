# SPDX-License-Identifier: BSD-2-Clause
"""The daemon and its database: full, read-only, old, moved, removed, or somebody else's."""
from pinned_daemon import *


def what_is_old_goes():
    """Retention of the daemon's own: at its start, and when it is told something else; never what it writes."""
    with Daemon(*RATE) as d:
        for _ in range(4):
            time.sleep(0.2)
            d.do("epoch")
        newest = d.status()["epoch"]
    there = sorted(os.listdir("db/epochs"))
    check(len(there) == 5 and there[-1] == newest, str(there))
    old = "20010101000000"  # its name alone does not make it old: its samples do
    os.rename(os.path.join("db/epochs", there[0]), os.path.join("db/epochs", old))
    (path,) = [os.path.join(w, "MANIFEST") for w, _, f in os.walk("db/epochs/" + old) if "MANIFEST" in f]
    with open(path, encoding="utf-8") as f:
        m = json.load(f)
    with open("conf", "w", encoding="utf-8") as f:
        f.write("event cpu-clock\ncount 1000003\nmax-age 1d\nkeep 1\n")
    with Daemon("--config", "conf") as d:
        wait_for(lambda: d.status()["recordings_bytes"] > 0, "a first run", 60)
        check(sorted(os.listdir("db/epochs"))[:5] == [old] + there[1:], "%s: went" % os.listdir("db/epochs"))
        for s in m["segments"]:
            s["start_wall_ns"], s["end_wall_ns"] = 978307200 * 10**9, 978307201 * 10**9
        with open(path, "w", encoding="utf-8") as f:
            json.dump(m, f)
        d.p.send_signal(signal.SIGHUP)
        wait_for(lambda: "removed 1 old recording of" in d.said(), "the old one to go", 60)
        check(sorted(os.listdir("db/epochs"))[:4] == there[1:], str(os.listdir("db/epochs")))
        s = d.status()
        check(s["removed_recordings"] == 1 and s["removed_bytes"] > 0, str(s))
        with open("conf", "a", encoding="utf-8") as f:
            f.write("max-size 1K\n")
        d.p.send_signal(signal.SIGHUP)
        wait_for(lambda: "removed 4 old recordings of" in d.said(), "all to go but the newest", 60)
        check(os.listdir("db/epochs") == [d.status()["epoch"]], str(os.listdir("db/epochs")))
        d.do("flush")
        metrics = d.do("metrics")
        check("dwell_removed_recordings_total 5\n" in metrics and "dwell_recordings_bytes " in metrics, metrics)
    sums()


def no_room_left():
    """A full disk: what is stored stays, sampling goes on, and all of it is stored when there is room."""
    with mounted("-t", "tmpfs", "-o", "size=64m", "none", at="small"):
        with Daemon(*RATE, "--journal", "0.1", "--flush", "0.3", db="small/db") as d, burning():
            time.sleep(0.7)
            d.do("flush")
            was = in_segments("small/db")
            with open("small/filler", "wb", buffering=0) as f:
                try:
                    while True:
                        f.write(b"x" * 65536)
                except OSError:
                    pass
            wait_for(lambda: "cannot store" in d.said(), "a complaint", 60)
            # Besides what MANIFESTs tell there may be a journal, of which no segment can be made now.
            stored = in_segments("small/db")
            n = sum(sum(r["counts"].values()) for r in rows_of_all("small/db"))
            check(n >= stored >= was, "%d in rows, %d in MANIFESTs, %d were stored" % (n, stored, was))
            p = d.ctl("flush")
            check(p.returncode == 2 and "No space left" in p.stderr, p.stderr)
            check("No space left" in d.status()["problem"], str(d.status()))
            time.sleep(2.5)
            os.unlink("small/filler")
            wait_for(lambda: "storing again" in d.said(), "it to store again", 60)
            d.do("flush")
            check(d.status()["problem"] == "" and in_segments("small/db") > was, "nothing more is stored")
            check(d.said().count("cannot store") == 1 and d.said().count("storing again") == 1, d.said())
        sums("small/db")


def read_only_for_a_while():
    with mounted("-t", "tmpfs", "none", at="ro"):
        with Daemon(*RATE, "--journal", "0.1", "--flush", "0.3", db="ro/db") as d:
            wait_for(lambda: dwell("prof", "--no-flush", "--db", "ro/db").returncode == 0, "samples in the journal: " + d.said())
            d.kill()
        sh("mount", "-o", "remount,ro", "ro")
        p = subprocess.run([DWELL, "daemon", *map(str, RATE), "ro/db"], capture_output=True, text=True, timeout=60, check=False)
        check(p.returncode == 2 and "Read-only file system" in p.stderr, p.stderr)
        # Besides what MANIFESTs tell there is the journal, of which nobody can make a segment now.
        stored = in_segments("ro/db")
        n = Prof("-epoch", "all", db="ro/db").n()
        check(n > 0 and n >= stored, "%d in rows, %d in MANIFESTs" % (n, stored))
        sh("mount", "-o", "remount,rw", "ro")
        with Daemon(*RATE, db="ro/db") as d:
            check(d.status()["taken_over_samples"] > 0, d.said())
        sums("ro/db")


def a_small_disk_is_for_samples():
    """What can be made again, unwind tables and names, leaves the last bytes to samples."""
    with mounted("-t", "tmpfs", "-o", "size=1m", "none", at="small"):
        with Daemon(*RATE, "-g", "--journal", "0.1", "--flush", "0.5", db="small/db") as d, burning():
            time.sleep(2)
            for _ in range(3):
                d.do("flush")
            kept = [f for _, _, files in os.walk("small/db/tables") for f in files]
            kept += [f for _, _, files in os.walk("small/db/images") for f in files]
            check(not kept, "kept: %s" % kept)
            check("cannot store" not in d.said() and d.said().count("are free") == 1, d.said())
        sums("small/db")


def the_clock_set_back():
    """Epochs of the future: the next one comes after them all the same."""
    with Daemon(*RATE) as d:
        d.do("epoch")
    epochs = os.path.join("db", "epochs")
    last = sorted(os.listdir(epochs))[-1]
    os.rename(os.path.join(epochs, last), os.path.join(epochs, "2" + "9" * 3 + last[4:]))
    with Daemon(*RATE) as d:
        check(d.status()["epoch"] > "2999", d.status()["epoch"])
        d.do("epoch")
    sums()


def somebody_elses_database():
    os.mkdir("theirs")
    os.chown("theirs", 65534, 65534)
    p = subprocess.run([DWELL, "daemon", *map(str, RATE), "theirs"], capture_output=True, text=True, timeout=60, check=False)
    check(p.returncode == 2 and "belongs to user 65534" in p.stderr and os.listdir("theirs") == [], p.stderr)


def its_database_removed():
    """It says so, lets go of its log and ends with 1; one that was moved is gone on with where it is."""
    d = Daemon(*RATE)
    while os.path.exists("db"):
        shutil.rmtree("db", ignore_errors=True)  # the daemon may write meanwhile
    check(d.p.wait(60) == 1, "exit %s: %s" % (d.p.returncode, d.said()))
    check(d.said().count("db was removed: nothing is recorded any more") == 1, d.said())
    check(pinned() == [], "left: %s" % pinned())
    d = Daemon(*RATE)
    d.do("flush")
    os.rename("db", "moved")
    check(d.p.wait(60) == 1 and "db was moved" in d.said() and not os.path.exists("db"), "exit %s: %s" % (d.p.returncode, d.said()))
    check(pinned(), "its log does not go on")
    with Daemon(*RATE, db="moved") as d:
        check(d.status()["taken_over_samples"] > 0, d.said())
    sums("moved")


def pins_below_a_removed_directory():
    """The directory above the database is gone, too: the command that is told removes the log all the same."""
    os.mkdir("other")  # before the database goes: its inode could be taken for the other's
    os.mkdir("above")
    d = Daemon(*RATE, db="above/db")
    where = os.path.abspath("above/db")
    d.kill()
    shutil.rmtree("above")
    out = sh(DWELL, "ctl", "--db", "other", "clean")
    check("--db %s clean" % where in out and pinned(), out)
    out = sh(DWELL, "ctl", "--db", where, "clean")
    check("removed the log of a dead daemon" in out, out)
    check(where not in sh(DWELL, "ctl", "--db", "other", "clean"), "still there")


def pins_of_removed_databases():
    """A daemon was killed and its database removed: clean tells of its log and removes it."""
    os.mkdir("other")  # before db goes: its inode could be taken for the other's
    d = Daemon(*RATE)
    d.kill()
    where = os.path.realpath("db")
    shutil.rmtree("db")
    out = sh(DWELL, "ctl", "--db", "other", "clean")
    check("%s is not there any more" % where in out and "--db %s clean" % where in out and pinned(), out)
    p = dwell("ctl", "--db", "never", "clean")
    check(p.returncode == 2 and "no such database" in p.stderr and pinned(), p.stderr)
    out = sh(DWELL, "ctl", "--db", "db", "clean")
    check("removed the log of a dead daemon" in out and pinned() == [], out)
    check(os.listdir(BPFFS + "/dwell") == [], "left: %s" % os.listdir(BPFFS + "/dwell"))


def same_number(ino):
    """A new directory that has the inode number INO."""
    for i in range(200):
        os.mkdir("other%d" % i)
        if os.stat("other%d" % i).st_ino == ino:
            return "other%d" % i
    raise Skipped("the file system does not use inode numbers again")


def another_database_has_its_number():
    """The log of a removed database is not taken for that of a new one with the same inode."""
    d = Daemon(*RATE)
    d.kill()
    ino = os.stat("db").st_ino
    os.mkdir("elsewhere")
    shutil.rmtree("db")
    other = same_number(ino)
    out = sh(DWELL, "ctl", "--db", other, "clean")
    check("is not there any more" in out and pinned(), "taken for its own: " + out)
    before = pinned()
    with Daemon(*RATE, db=other) as d:
        check("taken over" not in d.said(), d.said())
        check(not set(before) & set(pinned()), "the old log goes on: %s, %s" % (before, pinned()))


in_own_namespace()
run(*map(alone, [what_is_old_goes, no_room_left, a_small_disk_is_for_samples,
                 read_only_for_a_while, the_clock_set_back, somebody_elses_database,
                 its_database_removed, pins_of_removed_databases, pins_below_a_removed_directory,
                 another_database_has_its_number]))
