# SPDX-License-Identifier: BSD-2-Clause
"""Functions of the PHP that Debian installs, stripped as it is: checked against the call graph of php_work.php, which
is what runs."""
import script_graph
from e2e import *

PROGRAM = script_graph.work_file("php")


def installed():
    if not shutil.which("php"):
        raise Skipped("no php")
    return [shutil.which("php")]


def every_way_of_calling():
    script_graph.php_calls(installed(), PROGRAM, lines=0.999)


def shares_of_work():
    script_graph.shares_of_work(installed(), "php", PROGRAM, "")
    listed = sh(DWELL, "list", "--db", "db", "w_spin")
    check("$x += $i & 3" in listed and "[no line]" not in listed, "no listing of lines: " + listed)


def native_frames_between():
    script_graph.record_work(installed(), PROGRAM, "w_main", longer(2))
    found = [p for p, _ in folded_paths("--no-inline", "--runtime-frames") if "w_compare" in p and not script_graph.is_marked(p)]
    likely(found, "no path with w_compare")
    for path in found:
        at = path.index("w_compare")
        check("usort" in path[path.index("w_sort"):at], "no usort between w_sort and w_compare: %s" % path)
        check("zend_sort" in path or "zend_insert_sort" in path, "nothing of the sort around w_compare: %s" % path)


def one_place_in_all_processes():
    script_graph.one_place_in_all_processes(installed(), PROGRAM, "")


def compiled_functions():
    """Code that opcache's compiler made is walked through."""
    if "Zend OPcache" not in sh("php", "-m"):
        raise Skipped("no opcache")
    for way in "tracing", "function":
        script_graph.php_calls(installed() + ["-d", "opcache.enable_cli=1", "-d", "opcache.jit_buffer_size=32M", "-d",
                                              "opcache.jit=" + way], PROGRAM, lines=0.98)


run(services=[every_way_of_calling, compiled_functions, shares_of_work, native_frames_between,
               one_place_in_all_processes])
