# SPDX-License-Identifier: BSD-2-Clause
"""Users without privileges get the call paths of their own programs, and nothing of anybody else's."""
from paths import *

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]
PARANOID = "/proc/sys/kernel/perf_event_paranoid"

# Burns in a procedure whose name is nobody's business, after it has become somebody else.
SECRET_C = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "spin.h"
static volatile uint64_t sink;
NOINLINE void secret_procedure(void) { sink = spin(sink, 100000000); }
NOINLINE void secret_caller(void) { secret_procedure(); sink++; }
int main(void)
{
    printf("euid %d\\n", (int)geteuid());
    secret_caller();
    return 0;
}
"""


def places():
    """A directory that nobody can reach, one that is nobody's, and dwell in the first: a build may lie
    in a private place, and set-user-id programs do not work everywhere."""
    os.mkdir("open")
    os.mkdir("home")
    os.chown("home", 65534, 65534)
    shutil.copy(DWELL, "open/dwell")
    os.chmod("open", 0o755)
    return os.path.abspath("open")


def as_nobody(where, *argv):
    return subprocess.run([*NOBODY, where + "/dwell", *map(str, argv)], capture_output=True, text=True, timeout=300)


def all_bytes(db):
    for folder, _, files in os.walk(db):
        for name in files:
            with open(os.path.join(folder, name), "rb") as f:
                yield os.path.join(folder, name), f.read()


def own_programs():
    where = places()
    for how, options in ("fp", ["-fno-omit-frame-pointer"]), ("dwarf", ["-fomit-frame-pointer"]):
        path = compile_c("open/plain-" + how, "plain_path.c", *options)
        with sysctl(PARANOID, 2):
            p = as_nobody(where, "record", "--json", "--call-graph", how, *FAST, "--db", "home/" + how, "--", path, longer(100000000))
        check(p.returncode == 0, p.stderr)
        account = account_of(p.stdout)
        check(account["engine"] == "ring", account["engine"])
        q = Paths(db="home/" + how, account=account)
        inner = q.only(lambda r: r.frames and r.frames[-1] == "inner")
        note("%s: %d samples, %s" % (how, inner.total(), dict(inner.causes())))
        good = inner.only(lambda r: re.search("main;outer;(middle;)?inner$", ";".join(r.frames)))
        enough(inner.total(), 100, "samples, " + how)
        least(good.total(), inner.total(), 0.95, "%s: %s" % (how, inner[:3]))
        if how == "fp":  # where the pointers end may be the root or not: each caller is marked
            check(q.guessed >= good.total(), "guesses are not marked: %s" % account["events"])
        else:
            check(all(r.cause or r.frames[0] == "_start" for r in q), "a wrong root: %s" % q)
            inner.whole(";".join(LIBC_MAIN) + ";outer;middle;inner", how)


def a_program_of_another_user():
    """The kernel stops sampling where a program gets rights its watcher does not have."""
    where = places()
    secret = compile_c("open/secret", "secret.c", text=SECRET_C)
    os.unlink("secret.c")
    os.chmod(secret, 0o4711)
    with open("/proc/self/mounts") as f:
        nosuid = any(line.split()[1] == "/tmp" and "nosuid" in line for line in f)
    if nosuid:
        raise Skipped("/tmp has no set-user-id programs")
    for how in "fp", "dwarf":
        with sysctl(PARANOID, 2):
            p = as_nobody(where, "record", "--json", "--call-graph", how, *FAST, "--db", "home/" + how, "--",
                          "sh", "-c", "%s; i=0; while [ $i -lt %d ]; do i=$((i + 1)); done" % (secret, longer(100000)))
        check("euid 0" in p.stdout, "the program did not become root: %s%s" % (p.stdout, p.stderr))
        check(p.returncode == 0, p.stderr)
        account = account_of(p.stdout)
        q = Paths(db="home/" + how, account=account)
        enough(q.total(), 100, "samples")
        check(not Paths("secret", db="home/" + how), "samples of it: %s" % Paths("secret", db="home/" + how))
        for path, data in all_bytes("home/" + how):
            for word in b"secret_procedure", b"secret_caller":
                check(word not in data, "%s in %s" % (word, path))
        rows = Prof(db="home/" + how).rows
        check(not any("secret" in str(r["image"]) + str(r["procedure"]) for r in rows), "rows of it")


def who_may_read():
    """What is stored is readable for no more people with call paths than without."""
    path = compile_c("plain", "plain_path.c")
    modes = {}
    for db, options in ("flat", []), ("calls", ["-g"]):
        record(*options, *FAST, "--", path, 20000000, db=db)
        modes[db] = sorted({(re.sub("-[-0-9a-f]{20,}$", "", name), oct(os.stat(os.path.join(folder, name)).st_mode))
                            for folder, dirs, files in os.walk(db) for name in files + dirs
                            if not re.match("[0-9a-f]{20}", name) and not name.isdigit()})
    check(modes["flat"] == modes["calls"], "%s" % modes)
    check(not any(int(mode, 8) & 0o022 for _, mode in modes["calls"]), "others may write: %s" % modes)


run(own_programs, a_program_of_another_user, who_may_read)
