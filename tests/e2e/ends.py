# SPDX-License-Identifier: BSD-2-Clause
"""However a recording ends, what was stored can be read."""

import glob

from e2e import *

RATE = ["-e", "cpu-clock", "-c", 500009]


def readable(db, at_least=0):
    p = dwell("prof", "--json", "--db", db)
    check(p.returncode == 0, "prof exits %d: %s" % (p.returncode, p.stderr.strip()))
    n = sum(sum(r["counts"].values()) for r in json.loads(p.stdout)["rows"])
    enough(n, at_least, "samples")
    return n


def interrupted():
    for sig in signal.SIGINT, signal.SIGTERM:
        db = sig.name
        with burning(), Recording("-a", *RATE, db=db) as r:
            time.sleep(longer(0.6))
            start = time.monotonic()
            check(r.stop(sig) == 0, "exit %d: %s" % (r.p.returncode, r.err))
            likely(time.monotonic() - start < 30, "took %.1f s to end" % (time.monotonic() - start))
        p = Prof(prog("burn"), db=db)
        enough(p.n(image="burn", procedure="burn_here"), 50, "samples: %s" % p.procedures("burn"))


def interrupted_with_its_command():
    """Ctrl-C reaches the command too; one that does not end is not waited for for ever."""
    p = subprocess.Popen([DWELL, "record", "--json", "--db", "db", *map(str, RATE), "--", prog("burn"), "100"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    wait_for(lambda: has_manifest("db"), "the recording to start")
    time.sleep(longer(1))
    os.killpg(p.pid, signal.SIGINT)
    out, err = p.communicate(timeout=120)
    check(p.returncode == 128 + signal.SIGINT, "exit %d: %s" % (p.returncode, err))
    enough(account_of(out)["events"][0]["samples"], 100, "samples")


def killed_with_an_account():
    """What a killed recorder stored last is an even account."""
    with burning():
        r = Recording("-a", *RATE, db="account")
        wait_for(lambda: any("\"samples\"" in open(m, encoding="utf-8").read()
                             for m in glob.glob("account/epochs/*/*/MANIFEST")), "the first store", 60)
        r.p.kill()
        r.p.wait()
    for m in glob.glob("account/epochs/*/*/MANIFEST"):
        with open(m, encoding="utf-8") as f:
            m = json.load(f)
        for i, e in enumerate(m["events"]):
            lost = sum(l["n"] for l in m["losses"] if l["event"] == i)
            check(e["reached"] == e["samples"] + lost, "%s, lost %d" % (e, lost))
            check(e["enabled_ns"] > 0 and e["running_ns"] > 0, str(e))


def killed():
    """SIGKILL: the epochs before are whole, the one that was cut off harms nothing."""
    record(*RATE, "--", prog("burn"), longer(0.3))
    before = readable("db", 100)
    with burning():
        r = Recording("-a", *RATE)
        time.sleep(0.8)
        r.p.kill()
        r.p.wait()
    for epochs in "latest", "all":
        p = dwell("prof", "--json", "--db", "db", "--epoch", epochs)
        check(p.returncode in (0, 1), "exit %d: %s" % (p.returncode, p.stderr))
    p = dwell("prof", "--json", "--db", "db", "--epoch", "all")
    n = sum(sum(r["counts"].values()) for r in json.loads(p.stdout)["rows"])
    check(n >= before, "%d samples, there were %d" % (n, before))
    # And recording goes on in the same database.
    record(*RATE, "--", prog("burn"), longer(0.3))
    readable("db", 100)


def killed_again_and_again():
    with burning():
        for i in range(8):
            p = subprocess.Popen([DWELL, "record", "-a", *map(str, RATE), "--db", "db"], stderr=subprocess.DEVNULL)
            time.sleep(0.05 * (i + 1))
            p.kill()
            p.wait()
            if os.path.exists("db"):
                q = dwell("prof", "--db", "db", "--epoch", "all")
                # Killed before its first epoch it leaves an empty database.
                is_empty = "nothing was recorded" in q.stderr or "the database is empty" in q.stderr
                check(q.returncode in (0, 1) or is_empty, "exit %d: %s" % (q.returncode, q.stderr))
    record(*RATE, "--", prog("burn"), longer(0.3))
    readable("db", 100)


def programs_left_behind():
    """Neither events nor BPF programs outlive a recorder that was killed."""
    tool = shutil.which("bpftool", path=os.environ["PATH"] + ":/usr/sbin")
    if not tool:
        raise Skipped("bpftool is not there")

    def there():
        return {p["id"]: p.get("name") for p in bpf_list("prog", tool)}

    r = Recording("-a", *RATE)
    ours = set()
    for fd in glob.glob("/proc/%d/fdinfo/*" % r.p.pid):  # proc(5): a BPF program's has its number
        with contextlib.suppress(OSError), open(fd, encoding="ascii") as f:
            ours |= {int(line.split()[1]) for line in f if line.startswith("prog_id:")}
    check("sample_0" in [there().get(n) for n in ours], "it loaded none: %s" % ours)
    r.p.kill()
    r.p.wait()
    wait_for(lambda: not ours & there().keys(), "the programs to go")


def fill(path):
    """Takes all the room there is."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    with contextlib.suppress(OSError):
        while os.write(fd, b"x" * 4096) > 0:
            pass
    os.close(fd)


def disk_full():
    """The file system fills up in the middle: one line, exit 125, and the epoch before stays whole."""
    with mounted("-t", "tmpfs", "-o", "size=1m", "none", at="small"):
        record(*RATE, "--", prog("burn"), longer(0.3), db="small/db")
        before = readable("small/db", 100)
        with burning():
            r = Recording("-a", *RATE, db="small/db")
            fill("small/ballast")
            time.sleep(0.3)
            r.stop()
        p = subprocess.CompletedProcess([], r.p.returncode, r.out, r.err)
        one_line(p, "No space left", failed=125)
        p = dwell("prof", "--json", "--db", "small/db", "--epoch", "all")
        check(p.returncode == 0, "prof exits %d: %s" % (p.returncode, p.stderr))
        n = sum(sum(x["counts"].values()) for x in json.loads(p.stdout)["rows"])
        check(n >= before, "%d samples, there were %d" % (n, before))
        # With room again, recording goes on.
        os.unlink("small/ballast")
        record(*RATE, "--", prog("burn"), longer(0.3), db="small/db")
        readable("small/db", 100)


def no_room_at_all():
    with mounted("-t", "tmpfs", "-o", "size=64k", "none", at="small"):
        fill("small/ballast")
        one_line(dwell("record", *RATE, "--db", "small/db", "-a", "-d", 0.3), "No space left")


def read_only():
    os.mkdir("ro")
    with mounted("-t", "tmpfs", "-o", "size=1m", "none", at="ro"):
        sh("mount", "-o", "remount,ro", "ro")
        one_line(dwell("record", *RATE, "--db", "ro/db", "-a", "-d", 0.3), "Read-only")


def not_a_directory():
    with open("file", "w") as f:
        f.write("mine")
    one_line(dwell("record", *RATE, "--db", "file", "-a", "-d", 0.3), "file")
    one_line(dwell("record", *RATE, "--db", "file/db", "-a", "-d", 0.3), "file")
    with open("file") as f:
        check(f.read() == "mine", "the file was changed")


def symbolic_links():
    """A link where the database keeps its own files leads nowhere."""
    record(*RATE, "--", prog("burn"), 0.2)
    os.mkdir("elsewhere")
    os.rename("db/epochs", "epochs")
    os.symlink("../elsewhere", "db/epochs")
    p = dwell("record", *RATE, "--db", "db", "--", prog("burn"), 0.2)
    check(p.returncode == 125, "exit %d" % p.returncode)
    check(os.listdir("elsewhere") == [], "written through the link: %s" % os.listdir("elsewhere"))
    os.unlink("db/epochs")
    os.rename("epochs", "db/epochs")
    shutil.rmtree("db/images")
    os.symlink("../elsewhere", "db/images")
    p = dwell("record", *RATE, "--db", "db", "--", prog("burn"), 0.2)
    check(os.listdir("elsewhere") == [], "written through the link: %s" % os.listdir("elsewhere"))
    # The database itself may be reached through one: that is its owner's choice.
    record(*RATE, "--", prog("burn"), longer(0.2), db="good")
    os.symlink("good", "link")
    record(*RATE, "--", prog("burn"), longer(0.2), db="link")
    readable("link", 50)


run(interrupted, interrupted_with_its_command, killed_with_an_account, killed, killed_again_and_again, programs_left_behind, disk_full,
    no_room_at_all, read_only, not_a_directory, symbolic_links)
