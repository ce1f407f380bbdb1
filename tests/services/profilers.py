# SPDX-License-Identifier: BSD-2-Clause
"""Shares by function of PHP, Ruby and Perl, beside what their own profilers say of the same run: Excimer, StackProf and
NYTProf, as Debian has them (tools/room unpacks them; nothing is installed)."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
from own_profilers import *

ROOM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/room")


def unpacked(name, *patterns):
    """Where the room NAME has what PATTERNS say, one place each."""
    p = subprocess.run([ROOM, name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if p.returncode:
        raise Skipped(p.stderr.strip())
    ret = []
    for pattern in patterns:
        found = glob.glob(p.stdout.strip() + pattern, recursive=True)
        if not found:
            raise Skipped("%s has no %s" % (name, pattern))
        ret.append(found[0])
    return ret


def program(command):
    found = shutil.which(command)
    if not found:
        raise Skipped("no " + command)
    return found


def beside(command, prefix, what, slack):
    """Records COMMAND, which writes lines of samples, or seconds, and functions to the file own."""
    record(*SAMPLING, "--", *command, longer(4))
    with open("own", encoding="utf-8") as f:
        lines = [line.split(None, 1) for line in f.read().splitlines()]
    theirs = {name: float(n) for n, name in lines if name.startswith(prefix)}
    whole = theirs.get(prefix + "w_main", 0)
    likely(whole > 0, "%s knows no w_main" % what)
    ours, n_ours = inclusive(folded_paths("--no-inline"), prefix + "w_")
    enough(n_ours, 2000, "samples")
    theirs = {name: n for name, n in theirs.items() if name.startswith(prefix + "w_")}
    if what == "NYTProf":
        agree(ours, n_ours, {name: n / whole for name, n in theirs.items()}, None, what, slack)
    else:
        enough(int(whole), 1000, "samples of its own")
        agree(ours, n_ours, theirs, int(whole), what, slack)


PHP = '''<?php
function w_spin($n) { $x = 0; for ($i = 0; $i < $n; $i++) $x += $i & 3; return $x; }
function w_compare($a, $b) { w_spin(200); return $a - $b; }
function w_sort() { $v = []; for ($i = 0; $i < 40; $i++) $v[] = $i * 7 % 40; usort($v, "w_compare"); }
function w_below($n) { return $n ? w_below($n - 1) : w_spin(20000); }
function w_numbers() { for ($i = 0; $i < 20; $i++) { w_spin(500); yield $i; } }
function w_generate() { foreach (w_numbers() as $x) w_spin(300); }
function w_own() { $x = 0; for ($i = 0; $i < 30000; $i++) $x = ($x * 31 + $i) & 0xffff; return $x; }
function w_main($end) { while (microtime(true) < $end) { w_sort(); w_below(20); w_generate(); w_own(); w_spin(10000); } }
$p = new ExcimerProfiler;
$p->setPeriod(0.001);
$p->setEventType(EXCIMER_CPU);
$p->start();
w_main(microtime(true) + (float)$argv[1]);
$p->stop();
$out = fopen("own", "w");
foreach ($p->getLog()->aggregateByFunction() as $name => $n) fwrite($out, $n["inclusive"] . " " . $name . "\\n");
'''


def php():
    php_command = program("php")
    api = re.search(r"PHP Extension => (\d+)", sh(php_command, "-i"))
    excimer, = unpacked("excimer", "/usr/lib/php/%s/excimer.so" % (api.group(1) if api else "*"))
    # Its timer's thread may run once more when PHP has unloaded it, at the program's end.
    os.environ["ZEND_DONT_UNLOAD_MODULES"] = "1"
    beside([php_command, "-d", "extension=" + excimer, written("own.php", PHP)], "", "Excimer", 0.01)


RUBY = '''
require "stackprof"
def w_spin(n)
  x = 0
  i = 0
  while i < n
    x += i & 3
    i += 1
  end
  x
end
def w_key(x) = w_spin(2000) + x
def w_sort = (0..20).sort_by { |x| w_key(x) }
def w_below(n) = n > 0 ? w_below(n - 1) : w_spin(30000)
def w_two(n) = w_spin(n) + w_spin(n)
def w_text = (1..3000).map(&:to_s).join.count("7")
def w_own
  x = 1
  i = 0
  while i < 40000
    x = (x * 31 + i) & 0xffff
    i += 1
  end
  x
end
def w_main(stop)
  while Process.clock_gettime(Process::CLOCK_MONOTONIC) < stop
    w_sort
    w_below(20)
    w_two(8000)
    w_own
    10.times { w_text }
  end
end
stop = Process.clock_gettime(Process::CLOCK_MONOTONIC) + ARGV[0].to_f
found = StackProf.run(mode: :cpu, interval: 1000) { w_main(stop) }
File.open("own", "w") { |f| found[:frames].each_value { |x| f.puts "#{x[:total_samples]} #{x[:name]}" } }
'''


def ruby():
    so, lib = unpacked("stackprof", "/usr/lib/*/rubygems-integration/*/extensions/*/*/stackprof-*",
                       "/usr/lib/*/rubygems-integration/*/gems/stackprof-*/lib")
    beside([program("ruby"), "-I", so, "-I", lib, written("own.rb", RUBY)], "Object#", "StackProf", 0.01)


PERL = '''
use Time::HiRes "time";
sub w_spin { my ($n, $x) = (@_, 0); for my $i (1 .. $n) { $x += $i & 3 } $x }
sub w_sorted { my $x = 0; for (1 .. 20) { $x += w_spin(1500) } $x }
sub w_below { my ($n) = @_; $n ? w_spin(3000) + w_down() : 0 }
sub w_down { w_spin(8000) + w_own() }
sub w_own { my $x = 1; for my $i (1 .. 20000) { $x = ($x * 31 + $i) & 0xffff } $x }
sub w_text { my $x = ""; $x .= "$_," for 1 .. 20000; ($x =~ tr/7//) }
sub w_main { my ($end) = @_; while (time < $end) { w_sorted(); w_below(1); w_text(); w_spin(5000) } }
DB::enable_profile();
w_main(time + $ARGV[0]);
DB::finish_profile();
open my $out, ">", "own" or die;
require Devel::NYTProf::Data;
my $all = Devel::NYTProf::Data->new({ filename => "own.nyt", quiet => 1 })->subname_subinfo_map;
for my $name (sort keys %$all) { printf $out "%.9f %s\\n", $all->{$name}->incl_time, $name }
'''


def perl():
    lib, = unpacked("nytprof", "/usr/lib/*/perl5/*")
    os.environ["NYTPROF"] = "file=own.nyt:stmts=0:start=no:clock=2"
    beside([program("perl"), "-I", lib, "-d:NYTProf", written("own.pl", PERL)], "main::", "NYTProf", 0.01)


run(php, ruby, perl)
