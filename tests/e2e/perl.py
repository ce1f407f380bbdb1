# SPDX-License-Identifier: BSD-2-Clause
"""Subs of the Perl that Debian installs, stripped as it is: checked against the call graph of perl_work.pl, which is
what runs."""
import script_graph
from e2e import *

PROGRAM = script_graph.work_file("pl")


def installed():
    if not shutil.which("perl"):
        raise Skipped("no perl")
    return [shutil.which("perl")]


def every_way_of_calling():
    script_graph.perl_calls(installed(), PROGRAM)


def shares_of_work():
    script_graph.shares_of_work(installed(), "pl", PROGRAM, "main::")
    listed = sh(DWELL, "list", "--db", "db", "main::w_spin")
    check("$x += $i & 3" in listed and "[no line]" not in listed, "no listing of lines: " + listed)


def native_frames_between():
    script_graph.record_work(installed(), PROGRAM, "w_main", longer(2))
    found = [(p, n) for p, n in folded_paths("--no-inline", "--runtime-frames")
             if "main::w_sort" in p and "main::w_compare" in p and not script_graph.is_marked(p)]
    # Between two calls the sort's sub is on Perl's list, and no loop executes it.
    shifted = sum(n for p, n in found if "Perl_sortsv_flags" not in p[p.index("main::w_sort"):p.index("main::w_compare")])
    total = sum(n for _, n in found)
    enough(total, 100, "samples in w_compare")
    most(shifted, total, 0.03, "paths without the sort between w_sort and w_compare")


def code_that_is_made_and_gone():
    script_graph.record_work(installed(), PROGRAM, "w_made", longer(2))
    n = 0
    for r in Prof(by="line").rows:
        if not r["procedure"].startswith("main::made_"):
            continue
        i = int(r["procedure"][11:])
        check(r["image"] == "/made/file_%d.pl" % i, "a wrong name: %s" % r)
        check(not r["line"] or r["line"] - 1 - i % 97 in (0, 1, 2, 3), "a wrong line: %s" % r)
        n += sum(r["inclusive"].values())
    enough(n, 300, "samples in code that was made")


def one_place_in_all_processes():
    script_graph.one_place_in_all_processes(installed(), PROGRAM, "main::")


run(services=[every_way_of_calling, shares_of_work, native_frames_between,
               code_that_is_made_and_gone, one_place_in_all_processes])
