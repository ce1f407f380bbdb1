# SPDX-License-Identifier: BSD-2-Clause
"""dcpid: DCPI's names and options, its tree from start to end, and readers while it flushes."""
import glob
import re
import threading

from e2e import *

if os.geteuid() != 0:
    print("1..0 # SKIP needs root")
    sys.exit(0)

NAMES = ["dcpictl", "dcpiflush", "dcpiepoch", "dcpiquit", "dcpilabel", "dcpiversion", "dcpiprof"]


def called(name, *argv, **more):
    """Runs a program under one of DCPI's names."""
    if not os.path.exists(name):
        os.symlink(DWELL + "d" if name == "dcpid" else DWELL, name)
    return subprocess.run(["./" + name, *map(str, argv)], capture_output=True, text=True, timeout=120, check=False, **more)


class Dcpid:
    def __init__(self, *argv, tree="tree"):
        called("dcpid", "-version")
        self.tree = tree
        self.log = open("dcpid.log", "a+", encoding="utf-8")
        os.environ["DWELLDB"] = os.path.abspath("db")
        os.environ["DCPIDB"] = os.path.abspath(tree)
        self.p = subprocess.Popen(["./dcpid", "-no-pin", *map(str, argv), tree], stderr=self.log)
        wait_for(lambda: self.p.poll() is not None or called("dcpictl", "-db", tree, "status").returncode == 0, "dcpid", 60)
        check(self.p.poll() is None, "it ended: " + self.said())
        del os.environ["DWELLDB"]  # who reads knows the tree alone

    def said(self):
        return open("dcpid.log", encoding="utf-8").read()

    def __enter__(self):
        return self

    def __exit__(self, kind, *rest):
        if self.p.poll() is None:
            self.p.terminate()
            self.p.wait(60)


def good(p):
    check(p.returncode == 0, "%s: %s%s" % (p.args, p.stdout, p.stderr))
    return p.stdout


def names_and_options():
    """What dcpid's page and its helpers' pages say is taken, with one line where another word is to be used."""
    check(called("dcpid", "-version").stdout == called("dcpiversion").stdout != "", "versions")
    p = called("dcpid", "-vprof", "x", "tree")
    check(p.returncode == 2 and "use -slot pm" in p.stderr and not os.path.exists("tree"), p.stderr)
    with Dcpid("-t", "cpu-clock:1000003", "-merge", 2, "-verbose", "-logmaps", "-unknown", "-epoch", "-hash", 100, "-status", 1,
               "-log", "own.log") as d, burning():
        check(os.path.isdir("tree"), "the tree is not there from the start")
        check(not glob.glob("tree/*/*/*"), "something is in it")
        wait_for(lambda: "samples reached" in open("own.log", encoding="utf-8").read(), "-status", 60)
        said = open("own.log", encoding="utf-8").read()
        for word in "verbose", "logmaps", "unknown", "hash":
            check(said.count("dcpid: -%s: " % word) == 1, "%s: %s" % (word, said))
        time.sleep(longer(0.5))
        good(called("dcpiflush"))
        enough(Prof(db="tree").n(image="burn"), 1, "samples of burn in the tree")
        status = json.loads(good(called("dcpictl", "--json", "status")))
        check(status["events"][0]["period"] == 1000003 and status["dcpi_problem"] == "", str(status))
        good(called("dcpilabel", "-db", "tree", "nightly", prog("burn"), "0.5"))
        good(called("dcpiflush", "-db", "tree"))
        enough(Prof("-label", "nightly", db="tree").n(image="burn"), 1, "samples with the label")
        good(called("dcpiepoch"))
        time.sleep(longer(1.1))
        good(called("dcpictl", "flush"))
        check(len(glob.glob("tree/2*")) == 2, str(os.listdir("tree")))
        p = called("dcpiepoch", "x")
        check(p.returncode == 2 and "takes no arguments" in p.stderr, p.stderr)
        p = called("dcpictl", "register", "x")
        check(p.returncode == 2 and "generated code" in p.stderr, p.stderr)
        good(called("dcpiquit"))
        check(d.p.wait(60) == 0, d.said())
    check(d.said() == "", "not in the log: " + d.said())
    rows = json.loads(sh(DWELL, "prof", "--json", "--db", "db", "-epoch", "all", "--by", "image"))["rows"]
    tree = json.loads(sh(DWELL, "prof", "--json", "--db", "tree", "-epoch", "all", "--by", "image"))["rows"]
    n = [sum(sum(r["counts"].values()) for r in some) for some in (rows, tree)]
    check(n[0] == n[1] > 0, "%d samples in the database, %d in the tree" % tuple(n))


def a_tree_that_cannot_be_written():
    """It is said at the start, at a flush, in the status and in the metrics, and so is its end."""
    open("file", "w", encoding="utf-8").close()
    os.environ["DWELLDB"] = os.path.abspath("db")
    p = called("dcpid", "file/tree")
    check(p.returncode == 2 and "the DCPI tree in file/tree: " in p.stderr, p.stderr)
    with Dcpid("-quiet") as d, burning():
        time.sleep(longer(0.5))
        good(called("dcpiflush"))
        os.rename("tree", "away")
        open("tree", "w", encoding="utf-8").close()
        time.sleep(0.2)
        p = called("dcpiflush", "-db", "db")
        check(p.returncode == 2 and "the DCPI tree in tree: " in p.stderr, p.stderr)
        check(called("dcpiepoch", "-db", "db").returncode == 2, "a new epoch goes well")
        s = json.loads(good(called("dcpictl", "-db", "db", "--json", "status")))
        check("the DCPI tree in tree: " in s["dcpi_problem"] and s["dcpi_tree_failed"] == 1 and s["problem"] == "", str(s))
        check("\ndwell_dcpi_tree_failed 1\n" in good(called("dcpictl", "-db", "db", "metrics")), "metrics")
        # What was sampled meanwhile is in the database all the same.
        check(Prof("-epoch", "all").n() > 0, "no samples")
        os.unlink("tree")
        os.rename("away", "tree")
        good(called("dcpiflush"))
        s = json.loads(good(called("dcpictl", "--json", "status")))
        check(s["dcpi_problem"] == "" and s["dcpi_tree_failed"] == 0, str(s))
        check(d.said() == "", "not quiet: " + d.said())
        os.rename("tree", "away")
        open("tree", "w", encoding="utf-8").close()
        check(called("dcpiquit", "-db", "db").returncode == 2, "it ended well without its tree")
        check(d.p.wait(60) == 2, "exit %s" % d.p.returncode)


def readers_while_it_flushes():
    """Who reads under load is answered, however many read: one flush is for all who wait for it."""
    said = []

    def read(db):
        p = dwell("prof", "--db", db)
        said.append((p.returncode, p.stderr))
    with Dcpid("-journal", "1h", "-flush", "1h") as d, running(prog("crowd"), 50, 10, 5), burning():
        time.sleep(longer(1))
        good(called("dcpiflush"))
        before = json.loads(good(called("dcpictl", "--json", "status")))["flushes"]
        for _ in range(3):
            d.p.send_signal(signal.SIGSTOP)  # all have asked before it can answer one
            readers = [threading.Thread(target=read, args=("db" if i % 4 else "tree",)) for i in range(12)]
            for r in readers:
                r.start()
            time.sleep(longer(1))
            d.p.send_signal(signal.SIGCONT)
            for r in readers:
                r.join()
        after = json.loads(good(called("dcpictl", "--json", "status")))["flushes"]
    late = [err for _, err in said if err.endswith(": its daemon did not store what it sampled last: the daemon does not answer\n")]
    check(all(rc == 0 and (err == "" or err in late) for rc, err in said), str(said))
    likely(not late, "%d readers did not get the last samples in time" % len(late))
    note("%d flushes for 36 readers" % (after - before))
    likely(after - before <= 18, "%d flushes for 36 readers" % (after - before))


def excluded_by_name():
    """A name that is excluded takes no samples from a copy of the same content with another name, whichever was there first."""
    import shutil
    for first, second in ("dropped", "kept"), ("kept", "dropped"):
        tree = "tree_" + first
        for name in first, second:
            shutil.copy(prog("burn"), name)
        with open("exclusions", "w", encoding="utf-8") as f:
            f.write("dropped\n")
        with Dcpid("-exclude", "exclusions", "-t", "cpu-clock:1000003", tree=tree), running(os.path.abspath(first), 120):
            time.sleep(longer(0.5))
            good(called("dcpiflush", "-db", tree))
            with running(os.path.abspath(second), 120):
                time.sleep(longer(0.5))
                good(called("dcpiflush", "-db", tree))
                losses = json.loads(good(called("dcpictl", "-db", tree, "--json", "status")))["events"][0]["losses"]
        enough(losses.get("excluded", 0), 1, "samples of what was excluded: %s" % losses)
        rows = json.loads(sh(DWELL, "prof", "--json", "--db", "db", "--by", "exe", "--no-flush"))["rows"]
        n = {os.path.basename(r["exe"]): sum(r["counts"].values()) for r in rows if r["exe"]}
        enough(n.get("kept", 0), 1, "samples of the copy: %s" % n)
        check("dropped" not in n, "samples of what was excluded: %s" % n)


KEPT = [b"x-note mine", b"cpuamask 1f", b"cpuimplv 7", b"cpuspeed 1234", b"path /old/burn"]


def header_of(path):
    """The lines of a profile's header, and what follows it."""
    with open(path, "rb") as f:
        header, rest = re.match(rb"(.*?\n)samples *\n(.*)", f.read(), re.S).groups()
    return header.splitlines(), rest


def add_lines(path):
    """Somebody else's program puts KEPT into a profile's header, which is a multiple of four bytes."""
    lines, rest = header_of(path)
    header = b"\n".join([x for x in lines if not x.startswith(b"cpuspeed ")] + KEPT) + b"\nsamples"
    with open(path + ".new", "wb") as f:
        f.write(header + b" " * (-(len(header) + 1) % 4) + b"\n" + rest)
    os.rename(path + ".new", path)


def all_kept(where, pattern):
    """The file that has KEPT, each line once."""
    files = [f for f in glob.glob(pattern) if any(b"x-note" in x for x in header_of(f)[0])]
    check(len(files) == 1, "%s: %d files have the line" % (where, len(files)))
    lines = [re.sub(rb"^(\S+) +", rb"\1 ", x) for x in header_of(files[0])[0]]
    for line in KEPT:
        check(lines.count(line) == 1, "%s: %s is there %d times" % (where, line, lines.count(line)))
    check(sum(x.startswith(b"cpuspeed ") for x in lines) == 1, "%s: cpuspeed: %s" % (where, lines))
    return files[0]


def header_lines_outlive_everybody():
    """Lines that nobody here knows go through the daemon's flushes, a copy of the tree, and text."""
    with Dcpid("-t", "cpu-clock:1000003"), burning():
        time.sleep(longer(0.5))
        good(called("dcpiflush"))
        first = [f for f in glob.glob("tree/*/*/*") if any(re.match(rb"path\s+" + re.escape(prog("burn").encode()) + rb"\s*$", x) for x in header_of(f)[0])]
        check(len(first) == 1, "profiles of burn: %s of %s" % (first, glob.glob("tree/*/*/*")))
        first = first[0]
        add_lines(first)
        n = Prof(db="tree").n(image="burn")
        for again in range(2):
            time.sleep(longer(0.5))
            good(called("dcpiflush"))
            check(all_kept("flush %d" % again, "tree/*/*/*") == first, "another file has it")
        enough(Prof(db="tree").n(image="burn"), n + 1, "samples of burn after it")
        good(called("dcpiquit"))
    sh(DWELL, "export", "--db", "tree", "--dcpi", "-o", "copy")
    all_kept("a copy", "copy/*/*/*")
    with open("text", "w", encoding="utf-8") as f:
        f.write(sh(DWELL, "cat", "--db", "copy"))
    sh(DWELL, "export", "--db", "text", "--dcpi", "-o", "again")
    all_kept("text", "again/*/*/*")
    check(Prof(db="again").n(image="burn") == Prof(db="tree").n(image="burn") > 0, "samples of burn")


run(header_lines_outlive_everybody, excluded_by_name, names_and_options, a_tree_that_cannot_be_written, readers_while_it_flushes)
