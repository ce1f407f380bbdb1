# SPDX-License-Identifier: BSD-2-Clause
"""dwell diff of real recordings: one program twice shows nothing, a changed one what was changed."""
from e2e import *

SOURCE = """
#include "spin.h"
volatile unsigned sink;
#define SPIN(name) NOINLINE static void name(unsigned n) { for (unsigned i = 0; i < n; i++) sink += i * 3; }
SPIN(spin_one)
SPIN(spin_two)
SPIN(spin_three)
int main(int argc, char **argv)
{
	static struct uneven one = {1}, two = {2}, three = {3};

	for (int i = atoi(argv[1]); i > 0; i--) {
		spin_one(uneven(&one, ONE * 10000));
		spin_two(uneven(&two, 200000));
		spin_three(uneven(&three, 100000));
	}
}
"""
RATE = ["-e", "cpu-clock", "-c", 500009]


def build(name, one):
    os.makedirs(name, exist_ok=True)
    with open("work.c", "w") as f:
        f.write(SOURCE)
    sh("cc", "-O1", "-fno-ipa-icf", "-I", os.path.dirname(os.path.abspath(__file__)), "-DONE=%d" % one, "-o", name + "/work", "work.c")
    return os.path.abspath(name + "/work")


def compare(*argv):
    p = dwell("diff", "--json", *argv)
    check(p.returncode in (0, 1), p.stderr)
    return json.loads(p.stdout), p.returncode


def the_same_twice():
    """One in twenty pairs may show a row; three in a row never do.  Rows of the program itself: what the
    kernel does meanwhile is another run's."""
    work = build("old", 20)
    for db in "one", "two":
        record(*RATE, "--", work, longer(2500), db=db)
    d, status = compare("--fail-above", 0, "one", "two", "work")
    enough(min(s["samples"] for s in d["sets"]), 500, "samples")
    likely(d["hidden"]["rows"] + len(d["rows"]) >= 3, "rows are missing: %s" % d)
    note("%d rows shown, %d hidden" % (len(d["rows"]), d["hidden"]["rows"]))
    likely(not d["rows"], "noise is shown as a change: %s" % d["rows"])
    check(status == 0, "status %d" % status)


def a_changed_procedure():
    """spin_one takes 20 of 50, then 40 of 70; two builds, in two directories."""
    record(*RATE, "--", build("old", 20), longer(2500), db="before")
    record(*RATE, "--", build("new", 40), longer(2500), db="after")
    d, status = compare("--fail-above", 5, "before", "after", "work")
    rows = {r["procedure"]: r for r in d["rows"]}
    note({name: (r["change_pct"], r["p"]) for name, r in rows.items()})
    likely(status == 1, "status %d: nothing grew?" % status)
    likely(d["rows"][0]["procedure"] == "spin_one", "first is %(procedure)s" % d["rows"][0])
    likely(rows["spin_one"]["change_pct"] > 5, "spin_one did not grow: %s" % rows["spin_one"])
    likely(rows["spin_two"]["change_pct"] < 0, "spin_two did not shrink")
    # spin_one alone takes more when amounts are compared.
    d, status = compare("--absolute", "--fail-above", 20, "before", "after", "work")
    likely(status == 1 and d["rows"][0]["procedure"] == "spin_one", "absolute: %s" % d["rows"])
    likely(d["rows"][0]["change_pct"] > 20, "absolute: %s" % d["rows"][0])


run(the_same_twice, a_changed_procedure)
