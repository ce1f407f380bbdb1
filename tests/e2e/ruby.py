# SPDX-License-Identifier: BSD-2-Clause
"""Methods and blocks of the Ruby that Debian installs, stripped as it is: checked against the call graph of
ruby_work.rb, which is what runs."""
import script_graph
from e2e import *

PROGRAM = script_graph.work_file("rb")


def installed():
    if not shutil.which("ruby"):
        raise Skipped("no ruby")
    return [shutil.which("ruby")]


def every_way_of_calling():
    script_graph.ruby_calls(installed(), PROGRAM)


def shares_of_work():
    script_graph.shares_of_work(installed(), "rb", PROGRAM, "Object#")
    listed = sh(DWELL, "list", "--db", "db", "Object#w_spin")
    check("x += i & 3" in listed and "[no line]" not in listed, "no listing of lines: " + listed)


def code_that_is_made_and_gone():
    script_graph.record_work(installed(), PROGRAM, "w_made", longer(2))
    n = 0
    for r in Prof(by="line").rows:
        if not r["procedure"].startswith("Object#made_"):
            continue
        i = int(r["procedure"][len("Object#made_"):])
        check(r["image"] == "/made/file_%d.rb" % i, "a wrong name: %s" % r)
        check(r["line"] and 0 <= r["line"] - 1 - i % 97 <= 8, "a wrong line: %s" % r)
        n += sum(r["inclusive"].values())
    enough(n, 300, "samples in code that was made")


def native_frames_between():
    script_graph.record_work(installed(), PROGRAM, "w_main", longer(2))
    found = [(p, n) for p, n in folded_paths("--no-inline", "--runtime-frames")
             if "block in Object#w_sort" in p and not script_graph.is_marked(p)]
    total = sum(n for _, n in found)
    enough(total, 50, "samples in the block of a sort")
    for path, _ in found:
        at = path.index("Object#w_sort")
        check("Array#sort" in path[at:path.index("block in Object#w_sort")], "no sort between: %s" % path)
    shifted = sum(n for p, n in found if not any(f.startswith(("ruby_qsort", "rb_ary_sort", "qsort_r", "msort")) for f in p))
    most(shifted, total, 0.05, "paths without a native sort")


def garbage_collection():
    script_graph.ruby_garbage(installed(), PROGRAM)


def where_threads_wait():
    record("-g", "--off-cpu", "--", *installed(), PROGRAM, "w_wait", "0.5")
    found = [(p, n) for p, n in folded_paths("--no-inline", "--event", "blocked") if "Object#w_waiting" in p]
    check(found, "no thread waits in w_waiting")
    for path, _ in found:
        check(path[:path.index("Object#w_waiting")].count("block (2 levels) in Object#w_wait") == 1, "who waits: %s" % path)


def one_place_in_all_processes():
    script_graph.one_place_in_all_processes(installed(), PROGRAM, "Object#")


def compiled_functions():
    """Code that YJIT made is walked through.  It takes room for the frame of a C function before it fills it: two
    instructions see the method that had this room before."""
    ruby = installed() + ["--yjit"]
    if subprocess.run([*ruby, "-e", "0"], stderr=subprocess.DEVNULL, check=False).returncode:
        raise Skipped("no YJIT")
    script_graph.ruby_calls(ruby, PROGRAM, 0.7, half_made=0.002)  # 0.7: its memory is filled first


run(services=[every_way_of_calling, compiled_functions, shares_of_work, code_that_is_made_and_gone,
               native_frames_between, where_threads_wait, garbage_collection, one_place_in_all_processes])
