#!/usr/bin/env python3
"""Runs every line of every EXAMPLES section of the manual:  examples.py BUILD MAN_DIRECTORY

They run in a directory with what they speak of: a database with samples in libc, gzip and ./program and a thread 4321, an old
profile file, a Makefile, and a process to record.  Numbers that only stand for something (a process id, an
address, a date) are replaced by those meant, and recordings of ten seconds last a part of one.  What records
uses another database.  Each line must succeed and say something.  Prints TAP."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

build, man = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
PROGRAM = """
struct Table { unsigned n; int insert(int key); };
__attribute__((noinline)) int Table::insert(int key) { return n = n * 31 + key; }
int main(int argc, char **) { Table t = {0}; for (int i = 0; i < 1000 * argc; i++) t.insert(i); return t.n == 1; }
"""


def symbol(path, name, *flags):
    """The address of symbol NAME, in hex without 0x."""
    lines = subprocess.run(["nm", "-C", *flags, path], capture_output=True, text=True, check=True).stdout
    return re.search(rf"^0*([0-9a-f]+) \w {re.escape(name)}(?:@@.*)?$", lines, re.M).group(1)


def path_of(library):
    maps = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8")
    return re.search(rf"(/\S*/{re.escape(library)})$", maps, re.M).group(1)


def set_up():
    pathlib.Path("program.cc").write_text(PROGRAM, encoding="utf-8")
    pathlib.Path("Makefile").write_text("all:\n\tg++ -O1 -c -o made.o program.cc\n", encoding="utf-8")
    subprocess.run(["g++", "-g", "-O1", "-no-pie", "-o", "program", "program.cc"], check=True)
    shutil.copy(man.parent.parent / "tests/golden/dcpi/v006.prof", "old.prof")
    libc, insert = path_of("libc.so.6"), symbol("program", "Table::insert(int)")
    samples = "".join(
        f"image file {path}\nsample {svma} 7\n"
        for path, svma in ((libc, symbol(libc, "malloc", "-D")), ("/usr/bin/gzip", "4000"),
                           (os.path.abspath("program"), insert)))
    events = f"event cpu-clock 1000000\n{samples}"
    events += (f"owner - - comm=program uid=0\nimage file {os.path.abspath('program')}\nframe {insert}\n"
               f"image file {libc}\nsample {symbol(libc, 'malloc', '-D')} 3\npath\n")
    events += f"thread 4321 4321 1000 0\npoint 1600000 {insert}\n"
    events += f"event cache-misses 1000\n{samples}"
    subprocess.run([build / "tests/cli/mkdb", "db"], input=f"meta here {int(time.time()) - 3600} 60 make\n{events}", text=True, check=True)
    pathlib.Path("callgrind.out.4711").write_text(
        "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npositions: instr\nevents: Ir\n"
        f"ob={os.path.abspath('program')}\nfn=Table::insert(int)\n0x{insert} 1000\n", encoding="utf-8")
    set_up_facts()
    set_up_memory()
    return insert, os.listdir("db/epochs")[0][:8]


def set_up_facts():
    """Database `facts`: samples of main in a.out that say what became of each."""
    pathlib.Path("main.c").write_text("int main(int argc, char **argv) { return argc * 3 == 9; }\n", encoding="utf-8")
    subprocess.run(["gcc", "-g", "-O1", "-no-pie", "-o", "a.out", "main.c"], check=True)
    main_at = symbol("a.out", "main")
    facts = ("retired load !store notrap !dtbmiss !mispredict !dram inflight=20 latency=4",
             "retired load !store dtbmiss !mispredict dram inflight=300 latency=280",
             "retired !load !store mispredict !dtbmiss !dram inflight=30 latency=1")
    samples = "".join(f"facts {f}\nsample {main_at} 7\n" for f in facts)
    subprocess.run([build / "tests/cli/mkdb", "facts"], text=True, check=True,
                   input=f"meta here 880000000 60 a.out\nevent ibs_op 1000\nimage file {os.path.abspath('a.out')}\n"
                         f"{samples}event cycles 1000\nfacts\nsample {main_at} 9\n")


def set_up_memory():
    """File `mem.data`: what perf mem would record of two threads that share a cache line of a.out."""
    main_at = symbol("a.out", "main")
    records = "event 100 memory\nexec 10 a.out\nmmap 10 600000 2000 0 //anon\n"
    records += "".join(f"access 10 {tid} {10 + tid} {main_at} {0x600000 + 8 * (tid - 10):x} {what} 30\n"
                       for tid in (10, 11) for what in ("load,l3,hitm", "store,l1"))
    with open("mem.data", "wb") as f:
        subprocess.run([build / "tests/cli/mkperf"], input=(records + "round\n").encode(), stdout=f, check=True)


def examples(page):
    section = page.read_text(encoding="utf-8").split("# EXAMPLES\n")[1].split("\n# ")[0]
    return [line for block in section.split("```\n")[1::2] for line in block.splitlines()]


def fit(line, insert, day, pid):
    for said, meant in ((r"\b0x401136\b", "0x" + insert), (r"\b20261121\b", day), (r"\b1234\b", str(pid)),
                        (r"(?<=-d )\d+\b", "0.3"),
                        # a busy machine's daemon takes longer to start
                        (r"& sleep 2;", "& for i in $(seq 600); do dwell ctl --db recorded status >/dev/null 2>&1 && break; sleep 0.1; done;"),
                        # it serves until it is ended
                        (r"^dwell web\b", "timeout --preserve-status -s INT 1 dwell web --listen 0")):
        line = re.sub(said, meant, line)
    return line


def main():
    n = n_failed = 0
    environment = dict(os.environ, PATH=f"{build}:{os.environ['PATH']}", HOME=os.getcwd(), LC_ALL="C")
    for name in ("DCPIDB", "DEBUGINFOD_URLS"):
        environment.pop(name, None)
    insert, day = set_up()
    can_record = subprocess.run([build / "dwell", "doctor", "--json"], capture_output=True, check=False).returncode == 0
    sleeper = subprocess.Popen(["sleep", "600"])
    for page in sorted(man.glob("*.scd")):
        for line in examples(page):
            n += 1
            if os.environ.get("T_QUICK") and re.search("(dwell|perf) (record|daemon|top)|perf.data$", line):
                print(f"ok {n} - {line} # SKIP `make test` records")
                continue
            if re.match("dwell (record|doctor)", line) and not can_record:
                print(f"ok {n} - {line} # SKIP this user cannot record the whole machine")
                continue
            needs = [what for form, what in (("clickhouse:|pyroscope\\+http", "a server"), ("top --live", "a daemon and a terminal"),
                                             ("^systemctl", "the packaged unit")) if re.search(form, line)]
            if needs:
                print(f"ok {n} - {line} # SKIP needs {needs[0]}")
                continue
            environment["DWELLDB"] = ("recorded" if re.search("dwell (record|import)", line) else
                                      "facts" if "profileme" in page.name else "db")
            ran = subprocess.run(["bash", "-o", "pipefail", "-c", fit(line, insert, day, sleeper.pid)], env=environment,
                                 capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
            good = ran.returncode == 0 and (ran.stdout or ran.stderr or ">" in line or "-o" in line.split())
            n_failed += not good
            print("ok" if good else "not ok", n, "-", page.name.split(".")[0] + ":", line.replace("#", "\\#"))
            if not good:
                print(f"# status {ran.returncode}\n# " + "\n# ".join((ran.stdout + ran.stderr)[-2000:].splitlines()))
    sleeper.kill()
    sleeper.wait()
    print(f"1..{n}")
    return n_failed != 0


with tempfile.TemporaryDirectory(prefix="dwell-examples.") as directory:
    os.chdir(directory)
    status = main()
    os.chdir("/")
sys.exit(status)
