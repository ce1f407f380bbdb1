# SPDX-License-Identifier: BSD-2-Clause
"""PHP, Perl and Ruby of other Debians, stripped as they are (tools/room)."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
import script_graph
from e2e import *

ROOM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/room")


def room_with(suite, program):
    """The room of SUITE, which has PROGRAM; the work programs are in its folder /root."""
    p = subprocess.run([ROOM, suite], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if p.returncode:
        raise Skipped(p.stderr.strip())
    room = p.stdout.strip()
    check(os.path.exists(room + program), "%s has no %s" % (suite, program))
    for suffix in "php", "pl", "rb":
        shutil.copy(script_graph.work_file(suffix), room + "/root/")
    return room


def php_of(suite, version):
    room = room_with(suite, "/usr/bin/php" + version)
    command = ["chroot", room, "/usr/bin/php" + version]
    script_graph.php_calls(command, "/root/php_work.php")
    script_graph.shares_of_work(command, "php", "/root/php_work.php", "")


def perl_of(suite, version):
    room = room_with(suite, "/usr/bin/perl")
    command = ["chroot", room, "/usr/bin/perl"]
    check(sh(*command, "-e", "print $^V").startswith("v%s." % version), "%s has no Perl %s" % (suite, version))
    script_graph.perl_calls(command, "/root/perl_work.pl")
    script_graph.shares_of_work(command, "pl", "/root/perl_work.pl", "main::")


def ruby_of(suite, version):
    room = room_with(suite, "/usr/bin/ruby")
    command = ["chroot", room, "/usr/bin/ruby"]
    check(sh(*command, "-e", "print RUBY_VERSION").startswith(version + "."), "%s has no Ruby %s" % (suite, version))
    script_graph.ruby_calls(command, "/root/ruby_work.rb")
    script_graph.shares_of_work(command, "rb", "/root/ruby_work.rb", "Object#")
    script_graph.ruby_garbage(command, "/root/ruby_work.rb")


def php_7_4():
    php_of("bullseye", "7.4")


def php_8_4():
    php_of("trixie", "8.4")


def perl_5_32():
    perl_of("bullseye", "5.32")


def perl_5_40():
    perl_of("trixie", "5.40")


def ruby_2_7():
    ruby_of("bullseye", "2.7")


def ruby_3_3():
    ruby_of("trixie", "3.3")


run(php_7_4, php_8_4, perl_5_32, perl_5_40, ruby_2_7, ruby_3_3)
