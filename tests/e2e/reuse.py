# SPDX-License-Identifier: BSD-2-Clause
"""Code that is made, runs for a moment and is gone, again and again in the same memory: each function says in its name
which file and line it is of, and no sample may say anything else.  And places that are the same in all processes."""
import http.client
import socket
from e2e import *


def written(name, text):
    with open(name, "w") as f:
        f.write(text)
    return name


def has(*programs):
    for p in programs:
        if not shutil.which(p):
            raise Skipped("no " + p)


def all_right(prefix, image_of, lines_of, least_samples):
    """Each function with a number behind PREFIX is in its file and at its line.  Of one the file may not be known: its
    name was not to be read where the garbage collector had just moved it."""
    seen = n = n_nowhere = 0
    for r in Prof("--by", "line").rows:
        m = re.search(re.escape(prefix) + r"(\d+)$", r["procedure"])
        if r["kind"] != "script" or not m:
            continue
        i = int(m.group(1))
        nowhere = r["image"].startswith("[")
        check(nowhere or r["image"] == image_of(i), "a wrong file: %s" % r)
        check(not r["line"] or r["line"] in lines_of(i), "a wrong line: %s" % r)
        seen += 1
        n += sum(r["inclusive"].values())
        n_nowhere += sum(r["inclusive"].values()) if nowhere else 0
    note("%d samples in %d lines of made functions" % (n, seen))
    enough(n, least_samples, "samples in code that was made")
    most(n_nowhere, n, 0.002, "samples in functions without a file")
    enough(seen, 50, "lines of made functions")


PYTHON = '''
import sys, time
n, end = 0, time.time() + %g
while n < 100000 and (n < 20000 or time.time() < end):
    space = {}
    exec(compile("\\n" * (n %% 97) + "made_%%d = lambda: sum(range(400))\\ndef made_%%d(): return (lambda: sum(range(400)))()" %% (n, n),
                 "/made/file_%%d.py" %% n, "exec"), space)
    space["made_%%d" %% n]()
    n += 1
'''


def lambdas_of_python():
    written("made.py", PYTHON % longer(4))
    record("-g", "-e", "cpu-clock", "-c", 250007, "--", sys.executable, "made.py")
    all_right("made_", lambda i: "/made/file_%d.py" % i, lambda i: range(1 + i % 97, 3 + i % 97), 30)
    for path, n in folded_paths("--no-inline"):
        made = {f.split(".")[0] for f in path if f.startswith("made_")}
        check(len(made) <= 1, "two made functions in one path: %s" % path)


NODE = '''
const vm = require("vm");
const end = Date.now() + %g * 1000;
for (let n = 0; n < 100000 && (n < 5000 || Date.now() < end); n++)
    vm.runInThisContext("\\n".repeat(n %% 97) + "(function made_" + n + "() { let x = 0; for (let i = 0; i < 40000; i++) x = (x * 31 + i) | 0; return x; })",
        { filename: Buffer.from("/made/file_" + n + ".js").toString() })();
'''


def functions_of_node():
    has("node")
    written("made.js", NODE % longer(3))
    record("-g", "-e", "cpu-clock", "-c", 250007, "--", "node", "--max-semi-space-size=1", "made.js")
    all_right("made_", lambda i: "/made/file_%d.js" % i, lambda i: [1 + i % 97], 100)


PERL = '''
my ($n, $end) = (0, time + %d);
for (; $n < 100000 && ($n < 5000 || time < $end); $n++) {
    my $line = 1 + $n %% 97;
    eval qq{\n#line $line "/made/file_$n.pl"\nsub made_$n { my \\$x = 0; for my \\$i (1 .. 400) { \\$x += \\$i } \\$x }\n1} or die;
    &{"made_$n"}();
    delete $main::{"made_$n"};
}
'''


def subs_of_perl():
    has("/usr/bin/perl")
    written("made.pl", PERL % math.ceil(longer(3)))
    record("-g", "-e", "cpu-clock", "-c", 250007, "--", "/usr/bin/perl", "made.pl")
    all_right("made_", lambda i: "/made/file_%d.pl" % i, lambda i: [1 + i % 97], 100)


RUBY = '''
n, stop = 0, Process.clock_gettime(Process::CLOCK_MONOTONIC) + %g
while n < 100000 && (n < 5000 || Process.clock_gettime(Process::CLOCK_MONOTONIC) < stop)
  o = Object.new
  o.instance_eval("def made_#{n}() x = 0; i = 0; while i < 1000 do x += i; i += 1 end; x end", "/made/file_#{n}.rb", 1 + n %% 97)
  o.send("made_#{n}")
  n += 1
end
'''


def methods_of_ruby():
    has("/usr/bin/ruby")
    written("made.rb", RUBY % longer(3))
    record("-g", "-e", "cpu-clock", "-c", 250007, "--", "/usr/bin/ruby", "made.rb")
    all_right("made_", lambda i: "/made/file_%d.rb" % i, lambda i: [1 + i % 97], 100)


JAVA = '''
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
public class Maker extends ClassLoader {
    static volatile Object sink;
    Class<?> make(byte[] template, int n) {
        String text = new String(template, StandardCharsets.ISO_8859_1).replace("00000", String.format("%05d", n));
        byte[] b = text.getBytes(StandardCharsets.ISO_8859_1);
        return defineClass(null, b, 0, b.length);
    }
    public static void main(String[] a) throws Exception {
        byte[] template = Files.readAllBytes(Paths.get("Made00000.class"));
        long end = System.nanoTime() + (long)(1e9 * Double.parseDouble(a[0]));
        for (int n = 10000; n < 99999 && (n < 12000 || System.nanoTime() < end); n++) {
            sink = new Maker().make(template, n).getMethod("w_made00000".replace("00000", String.format("%05d", n))).invoke(null);
            if (n % 200 == 0) System.gc();
        }
    }
}
'''

MADE_JAVA = '''public class Made00000 {
    public static int w_made00000() {
        int x = 1;
        for (int i = 0; i < 20000; i++) x = x * 31 + i;
        return x;
    }
}
'''


def unloaded_classes_of_java():
    has("java", "javac")
    sh("javac", "-d", ".", written("Maker.java", JAVA), written("Made00000.java", MADE_JAVA))
    for name in os.listdir("."):
        if name.startswith("Made1"):
            os.unlink(name)
    record("-g", "-e", "cpu-clock", "-c", 250007, "--", "java", "-Xmx64m", "-XX:MaxMetaspaceSize=24m",
           "-Xlog:class+unload:file=unloaded:", "-cp", ".", "Maker", longer(4))
    with open("unloaded") as f:
        unloaded = sum("Made" in line for line in f)
    note("%d classes unloaded" % unloaded)
    enough(unloaded, 200, "classes that were unloaded")
    all_right("w_made", lambda i: "Made%05d.java" % i, lambda i: range(1, 7), 100)
    for r in Prof().rows:
        m = re.match(r"Made(\d+)\.w_made(\d+)$", r["procedure"])
        check(not m or m.group(1) == m.group(2), "class and method differ: %s" % r)


def port_that_is_free():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def resets_of_opcache():
    """A server of PHP whose scripts are written anew and compiled again."""
    has("php")
    if "OPcache" not in sh("php", "-m"):
        raise Skipped("PHP without opcache")
    port = port_that_is_free()
    os.makedirs("www", exist_ok=True)
    server = subprocess.Popen(["php", "-d", "opcache.enable=1", "-d", "opcache.enable_cli=1", "-d", "opcache.revalidate_freq=0",
                               "-d", "opcache.file_update_protection=0", "-S", "127.0.0.1:%d" % port, "-t", "www"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with Recording("-g", "-e", "cpu-clock", "-c", 250007, "-p", server.pid) as r:
            end, i, n_made = time.time() + longer(4), 0, 0
            while time.time() < end:
                name = "file_%d.php" % (i % 7)
                with open("www/" + name + ".new", "w") as f:
                    f.write("<?php%s function made_%d() { $x = 0; for ($i = 0; $i < 60000; $i++) $x = ($x * 31 + $i) & 0xffff; return $x; }\n"
                            "echo made_%d();%s" % ("\n" * (i % 97), i, i, " opcache_reset();" if i % 3 == 0 else ""))
                os.rename("www/" + name + ".new", "www/" + name)
                c = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
                try:
                    c.request("GET", "/" + name)
                    n_made += c.getresponse().status == 200
                except ConnectionRefusedError:
                    time.sleep(0.05)
                finally:
                    c.close()
                i += 1
    finally:
        server.terminate()
        server.wait()
    note("%d answers of %d" % (n_made, i))
    www = os.path.realpath("www")
    # A file that was written within the second may be served as it was before: by its own name and line then.
    all_right("made_", lambda i: "%s/file_%d.php" % (www, i % 7), lambda i: [1 + i % 97], 100)


WORKERS = '''
import os, sys, time
def w_work(n):
    x = 0
    for i in range(n): x += i & 3
    return x
def w_worker(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: w_work(2000)
def w_main(n, seconds):
    for i in range(n):
        if os.fork() == 0:
            w_worker(seconds)
            os._exit(0)
    for i in range(n): os.wait()
for i in range(int(sys.argv[2])): w_main(int(sys.argv[1]), float(sys.argv[3]))
'''


def script_places(db):
    return {(r["image"], r["svma"], r["line"]) for r in Prof("--by", "line", "--epoch", "all", db=db).rows
            if r["kind"] == "script" and r["procedure"].startswith("w_")}


def contexts_of_workers():
    """16 processes, twice, have no more places and contexts than one."""
    written("workers.py", WORKERS)
    seconds = longer(4)
    record("-g", "-e", "cpu-clock:u", "-c", 500009, "--", sys.executable, "workers.py", 1, 1, seconds, db="one")
    record("-g", "-e", "cpu-clock:u", "-c", 500009, "--", sys.executable, "workers.py", 16, 2, seconds / 32, db="many")
    one, many = script_places("one"), script_places("many")
    enough(len(one), 3, "places of one")
    likely({p[:2] for p in many} <= {p[:2] for p in one}, "places of workers alone: %s" % (many - one))
    trees = []
    for db in "one", "many":
        p = dwell("tree", "--json", "--db", db, "--by", "line", "--no-inline", "--focus", "w_worker")
        trees.append({(r["depth"], r["svma"], r["line"]) for r in json.loads(p.stdout)["rows"] if r["image_kind"] == "script"})
    note("rows of the tree: %d of one, %d of many" % tuple(map(len, trees)))
    enough(len(trees[0]), 3, "rows of one")
    likely(len(trees[1]) <= len(trees[0]) + 3, "rows of workers alone: %s" % (trees[1] - trees[0]))  # seldom executed lines


run(lambdas_of_python, contexts_of_workers,
    services=[functions_of_node, subs_of_perl, methods_of_ruby, unloaded_classes_of_java, resets_of_opcache])
