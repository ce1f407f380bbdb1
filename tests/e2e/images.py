# SPDX-License-Identifier: BSD-2-Clause
"""Every kind of code is found and named: files that were deleted or replaced, other name spaces,
generated code, libraries that come late."""
import glob
import stat
import subprocess

from e2e import *

RATE = ["-e", "cpu-clock", "-c", 500009]


def hot(p, image, procedure="burn_here", at_least=0.9):
    """Nearly all samples of IMAGE are in PROCEDURE."""
    found = p.procedures(image)
    n = sum(found.values())
    note("%s: %s" % (image, found))
    enough(n, 50, "samples in %s; images: %s" % (image, p.images()))
    least(found.get(procedure, 0), n, at_least, "%s: %s" % (image, found))


def runs(p, suffix):
    """Waits until process P, or what it goes on as, runs a program of that path."""
    wait_for(lambda: os.readlink("/proc/%d/exe" % p.pid).endswith(suffix), suffix)


def record_running(path, *argv, before=None, during=None, seconds=0.6, **kw):
    """Records the machine while PATH runs; BEFORE and DURING are done before and in the recording."""
    with running(path, *argv, **kw) as p:
        time.sleep(0.1)
        if before:
            before(p)
        with Recording("-a", *RATE) as r:
            if during:
                during(p)
            time.sleep(longer(seconds))
    return r.account["events"][0]


def deleted_while_running():
    copy_program(prog("burn"), "gone", os.getcwd())
    path = os.path.abspath("gone")
    record_running(path, "20", "0.25", during=lambda p: os.unlink(path))
    hot(Prof(path), path)


def deleted_before():
    copy_program(prog("burn"), "gone", os.getcwd())
    path = os.path.abspath("gone")
    record_running(path, "20", "0.25", before=lambda p: os.unlink(path))
    hot(Prof(path), path)


def replaced_by_a_rebuilt_one():
    """Named from what was saved; nothing of the new file is shown with the old one's counts."""
    shutil.copy(prog("burn"), "it")
    path = os.path.abspath("it")

    def rebuild(p):
        shutil.copy(prog("burn_rebuilt"), "new")
        os.rename("new", path)

    record_running(path, "20", "0.25", during=rebuild)
    hot(Prof(path), path)
    row = Prof(path).row(path, "burn_here")
    built = sh("readelf", "-n", prog("burn"))
    check(row["build_id"] in built, "build-id %s is not the old program's" % row["build_id"])
    p = dwell("list", "--asm", "burn_here", path, "--db", "db")
    old = next(s for s in sh("nm", prog("burn")).splitlines() if s.endswith(" burn_here"))
    check(p.returncode == 0 and "its code was kept" in p.stdout and ", 0x%x-" % int(old.split()[0], 16) in p.stdout,
          "it does not list the old file: " + p.stdout[:300] + p.stderr)
    with running(path, "20", "0.25"):
        record("-a", *RATE, "-d", longer(0.6), db="db2")
    hot(Prof(path, db="db2"), path, "burn_rebuilt_here")


def lines_of(path, forget=None):
    """Records the program at PATH, removes all that has its lines, and looks for the line of its loop."""
    record(*RATE, "--", path, longer(0.7))
    shutil.move(path, path + ".away")
    if forget:
        forget()
    rows = json.loads(sh(DWELL, "prof", path, "--by", "line", "--json", "--db", "db"))["rows"]
    found = {os.path.basename(r.get("file") or "?"): r for r in rows}
    note("%s: %s" % (path, sorted(found)))
    likely("burn.c" in found, "no line of burn.c: %s" % rows[:3])


def lines_of_a_large_program():
    """A child maps what it may not read into its memory."""
    copy_program(prog("burn"), "large", os.getcwd())
    os.truncate("large", 300 << 20)
    lines_of(os.path.abspath("large"))


def lines_of_a_debug_package():
    """The child that reads a stripped program opens what root installed for everybody; names and lines stay."""
    copy_program(prog("burn"), "whole", os.getcwd())
    build_id = sh("readelf", "-n", "whole").split("Build ID: ")[1].split()[0]
    debug = "/usr/lib/debug/.build-id/%s/%s.debug" % (build_id[:2], build_id[2:])
    made = [d for d in (os.path.dirname(debug), "/usr/lib/debug/.build-id") if not os.path.exists(d)]
    os.makedirs(os.path.dirname(debug), exist_ok=True)
    try:
        sh("objcopy", "--only-keep-debug", "whole", debug)
        os.chmod(debug, 0o644)
        sh("objcopy", "--strip-all", "whole", "stripped")
        path = os.path.abspath("stripped")
        lines_of(path, lambda: os.unlink(debug))
        hot(Prof(path), path)
    finally:
        if os.path.exists(debug):
            os.unlink(debug)
        for d in made:
            if not os.listdir(d):
                os.rmdir(d)


OFTEN_AND_SELDOM = """
#include "spin.h"
static NOINLINE uint64_t often(uint64_t x) { static struct uneven n = {1}; return spin(x, uneven(&n, 100000)); }
static NOINLINE uint64_t seldom(uint64_t x, uint64_t units) { static struct uneven n = {2}; return spin(x, uneven(&n, units)); }
int main(int argc, char **argv)
{
	uint64_t x = argc;
	for (long rounds = atol(argv[1]), units = atol(argv[2]); rounds--;)
		x = often(x), x = units ? seldom(x, units) : x;
	return x == 0;
}
"""


def code_with_few_samples_waits():
    """What is kept of a known program is not read anew for a procedure with few samples; it is for one with many."""
    with open("it.c", "w", encoding="utf-8") as f:
        f.write(OFTEN_AND_SELDOM)
    sh("cc", "-O2", "-g", "-I" + os.path.dirname(os.path.abspath(__file__)), "-Wl,--build-id", "-o", "it", "it.c")
    path, rounds = os.path.abspath("it"), "%d" % (10000 * longer(1))
    build_id = re.search("Build ID: ([0-9a-f]+)", sh("readelf", "-n", path)).group(1)

    def kept_after(units):
        record("-e", "cpu-clock", "-c", 50021, "--", path, rounds, units)
        kept = {}
        for name in glob.glob("db/images/%s/code-*" % build_id):
            with open(name, "rb") as f:
                kept[name] = f.read()
        return kept

    first = kept_after("0")
    check(first, "no code is kept")
    check(kept_after("15") == first, "it was read for less than a thousandth of its samples")
    p = Prof(path)
    likely(p.n(procedure="seldom") > 0, "no sample of seldom: %s" % p.procedures(path))
    check(kept_after("1000") != first, "it was not read for 1 % of its samples")
    os.unlink(path)
    p = dwell("list", "--asm", "seldom", path, "--db", "db")
    check(p.returncode == 0 and "its code was kept" in p.stdout, p.stdout[:300] + p.stderr)


def vdso():
    record(*RATE, "--", prog("vdso"), longer(0.7))
    p = Prof()
    n = p.n(kind="vdso")
    note("vdso: %s" % p.procedures("[vdso]"))
    least(n, p.n(), 0.3, "in the vdso")
    check(any("clock_gettime" in (name or "") for name in p.procedures("[vdso]")),
          "names: %s" % list(p.procedures("[vdso]")))


def generated_code_with_a_map():
    out = []
    p = subprocess.run([DWELL, "record", "--json", "--db", "db", *map(str, RATE), "--", prog("jit"), str(longer(0.7)), "map"],
                       capture_output=True, text=True, check=True)
    out = [s for s in p.stdout.splitlines() if s.startswith("/tmp/perf-")]
    q = Prof()
    for path in out:
        os.unlink(path)
    least(q.n(kind="jit"), q.n(), 0.9, "in generated code")
    rows = [r for r in q.rows if r["kind"] == "jit"]
    check({r["image"] for r in rows} == {"[jit] jit"}, "images %s" % {r["image"] for r in rows})
    check(rows[0]["procedure"] == "made_up_on_the_fly", "named %s" % rows[0]["procedure"])
    # Still named when the map is gone, which it is by now.
    check(Prof().row("[jit] jit")["procedure"] == "made_up_on_the_fly", "the name went with the map")


def generated_code_without_a_map():
    record(*RATE, "--", prog("jit"), longer(0.7))
    p = Prof()
    least(p.n(kind="anon"), p.n(), 0.9, "in nameless memory")
    check(p.n(image="[anon] jit") == p.n(kind="anon"), "not named after its process: %s" % p.rows[:3])


def hot_elsewhere(suffix):
    """A path of another root: the kernel prints it below that root or, to a reader outside, whole."""
    p = Prof()
    names = [r["image"] for r in p.rows if r["procedure"] == "burn_here" and r["image"].endswith(suffix)]
    likely(names, "no samples: %s" % p.images())
    check(len(names) == 1, "images %s" % names)
    hot(p, names[0])


def unshare():
    """A command of its own mount namespace.  Where / is no mount point (in a chroot) propagation cannot
    be turned off; that nothing leaks out is checked by the test."""
    own = subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode == 0
    return ["unshare", "-m"] if own else ["unshare", "-m", "--propagation", "unchanged"]


def other_mount_namespace():
    """The path exists nowhere but in the name space of the process."""
    script = "mount -t tmpfs none /mnt && cp %s /mnt/inside && exec /mnt/inside 20 0.25" % prog("burn")
    with running(*unshare(), "sh", "-c", script) as p:
        runs(p, "/inside")
        check(not os.path.exists("/mnt/inside"), "the mount leaked")
        record("-a", *RATE, "-d", longer(0.6))
    hot_elsewhere("/mnt/inside")


def other_mount_namespace_from_the_start():
    script = "mount -t tmpfs none /mnt && cp %s /mnt/inside && exec /mnt/inside %g" % (prog("burn"), longer(0.7))
    record(*RATE, "--", *unshare(), "sh", "-c", script)
    hot_elsewhere("/mnt/inside")


def change_of_root():
    os.mkdir("jail")
    shutil.copy(prog("burn_static_pie"), "jail/inside")
    with running("chroot", "jail", "/inside", "20", "0.25") as p:
        runs(p, "/inside")
        record("-a", *RATE, "-d", longer(0.6))
    hot_elsewhere("/inside")


def from_memory():
    record(*RATE, "--", prog("memfd"), prog("burn"), longer(0.7))
    p = Prof()
    n = sum(r["counts"]["cpu-clock"] for r in p.rows if r["procedure"] == "burn_here")
    least(n, p.n(), 0.9, "named: %s" % p.rows[:3])
    record_running(prog("memfd"), prog("burn"), "20", "0.25")
    p = Prof()
    n = sum(r["counts"]["cpu-clock"] for r in p.rows if r["procedure"] == "burn_here")
    enough(n, 50, "samples met while it ran: %s" % p.rows[:5])


def without_build_id():
    record(*RATE, "--", prog("burn_without_id"), longer(0.7))
    hot(Prof(prog("burn_without_id")), "burn_without_id")
    record_running(prog("burn_without_id"), "20", "0.25")
    hot(Prof(prog("burn_without_id")), "burn_without_id")


def static_pie():
    record(*RATE, "--", prog("burn_static_pie"), longer(0.7))
    hot(Prof(prog("burn_static_pie")), "burn_static_pie")


def fixed_addresses():
    record(*RATE, "--", prog("prog_a"), longer(0.7))
    hot(Prof(prog("prog_a")), "prog_a", "hot_of_a")


def library_that_comes_late():
    lib = prog("libhotlib.so")
    record(*RATE, "--", prog("late"), longer(1), lib)
    p = Prof()
    a, b = p.n(procedure="burn_before"), p.n(procedure="burn_in_library")
    likely(b > 0, "nothing in the library")
    check(p.row("libhotlib.so", "burn_in_library"), "library")
    # The two halves follow each other: a pause of the machine falls into one of them.
    near(b, a + b, 0.5, "the library's share", slack=0.05)


def other_users_program():
    """A setuid program, and one that gave up root: neither can be looked into by its user."""
    copy_program(prog("burn"), "suid", os.getcwd())
    os.chmod("suid", 0o4755 | stat.S_ISUID)
    path = os.path.abspath("suid")
    record_running("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", path, "20", "0.25")
    hot(Prof(path), path)


def names_that_are_hard_to_print():
    path = os.path.abspath("new\nline and \x1b[31m (deleted)")
    copy_program(prog("burn"), path, os.getcwd())
    record_running(path, "20", "0.25")
    p = Prof()
    rows = [r for r in p.rows if r["procedure"] == "burn_here" and r["image"].startswith(os.getcwd() + "/")]
    likely(rows, "not found: %s" % p.images())
    check(len({r["image"] for r in rows}) == 1, "two images: %s" % rows)
    text = dwell("prof", "--db", "db", "--no-pager").stdout
    check("\x1b" not in text, "an escape reached the terminal")


def script_is_its_interpreter():
    with open("work.sh", "w") as f:
        f.write("#!%s\n" % prog("burn"))  # runs as "burn work.sh": atof() of that is 0, so once
    os.chmod("work.sh", 0o755)
    record(*RATE, "--", "sh", "-c", "i=0; while [ $i -lt 30 ]; do ./work.sh; i=$((i + 1)); done; %s %g" %
           (prog("burn"), longer(0.5)))
    p = Prof(prog("burn"))
    enough(p.n(image="burn", procedure="burn_here"), 100, "samples: %s" % p.procedures("burn"))


run(deleted_while_running, deleted_before, replaced_by_a_rebuilt_one, lines_of_a_large_program,
    lines_of_a_debug_package, code_with_few_samples_waits, vdso, generated_code_with_a_map,
    generated_code_without_a_map, other_mount_namespace, other_mount_namespace_from_the_start, change_of_root,
    from_memory, without_build_id, static_pie, fixed_addresses, library_that_comes_late, other_users_program,
    names_that_are_hard_to_print, script_is_its_interpreter)
