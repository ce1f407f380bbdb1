# SPDX-License-Identifier: BSD-2-Clause
"""dwell diff of real recordings: one program twice shows nothing, a changed one what was changed."""
from e2e import *

SOURCE = """
#include <stdlib.h>
volatile unsigned sink;
#define SPIN(name) __attribute__((noinline)) void name(unsigned n) { for (unsigned i = 0; i < n; i++) sink += i * 3; }
SPIN(spin_one)
SPIN(spin_two)
SPIN(spin_three)
int main(int argc, char **argv)
{
	for (int i = atoi(argv[1]); i > 0; i--) {
		spin_one(ONE);
		spin_two(20000);
		spin_three(10000);
	}
}
"""
RATE = ["-e", "cpu-clock", "-c", 500009]


def build(name, one):
    os.makedirs(name, exist_ok=True)
    with open("work.c", "w") as f:
        f.write(SOURCE)
    sh("cc", "-O1", "-fno-ipa-icf", "-DONE=%d" % one, "-o", name + "/work", "work.c")
    return os.path.abspath(name + "/work")


def compare(*argv):
    p = dwell("diff", "--json", *argv)
    check(p.returncode in (0, 1), p.stderr)
    return json.loads(p.stdout), p.returncode


def the_same_twice():
    """One in twenty pairs may show a row; three in a row never do.  Rows of the program itself: what the
    kernel does meanwhile is another run's."""
    work = build("old", 20000)
    for attempt in range(3):
        for db in "one", "two":
            record(*RATE, "--", work, 4000, db="%s%d" % (db, attempt))
        d, status = compare("--fail-above", 0, "one%d" % attempt, "two%d" % attempt, "work")
        check(min(s["samples"] for s in d["sets"]) > 500, "too few samples: %s" % d["sets"])
        check(d["hidden"]["rows"] + len(d["rows"]) >= 3, "rows are missing: %s" % d)
        note("%d rows shown, %d hidden" % (len(d["rows"]), d["hidden"]["rows"]))
        if not d["rows"]:
            check(status == 0, "status %d" % status)
            return
        note(d["rows"])
    raise Failed("noise is shown as a change, three times over")


def a_changed_procedure():
    """spin_one takes 20 of 50, then 40 of 70; two builds, in two directories."""
    record(*RATE, "--", build("old", 20000), 4000, db="before")
    record(*RATE, "--", build("new", 40000), 4000, db="after")
    d, status = compare("--fail-above", 5, "before", "after", "work")
    rows = {r["procedure"]: r for r in d["rows"]}
    note({name: (r["change_pct"], r["p"]) for name, r in rows.items()})
    check(status == 1, "status %d: nothing grew?" % status)
    check(d["rows"][0]["procedure"] == "spin_one", "first is %(procedure)s" % d["rows"][0])
    check(rows["spin_one"]["change_pct"] > 5, "spin_one did not grow: %s" % rows["spin_one"])
    check(rows["spin_two"]["change_pct"] < 0, "spin_two did not shrink")
    # spin_one alone takes more when amounts are compared.
    d, status = compare("--absolute", "--fail-above", 20, "before", "after", "work")
    check(status == 1 and d["rows"][0]["procedure"] == "spin_one", "absolute: %s" % d["rows"])
    check(d["rows"][0]["change_pct"] > 20, "absolute: %s" % d["rows"][0])


run(the_same_twice, a_changed_procedure)
