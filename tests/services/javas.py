# SPDX-License-Identifier: BSD-2-Clause
"""Java methods of other versions of HotSpot, as Debian's suites have them (tools/room)."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
import java_graph
from e2e import *

ROOM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/room")


CLASSES = "/tmp/dwell-java"


def room_of(name):
    p = subprocess.run([ROOM, name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if p.returncode:
        raise Skipped(p.stderr.strip())
    return p.stdout.strip()


def with_classes(suite):
    """The room of SUITE, with the program's classes where java_graph looks for them."""
    if not shutil.which("javac"):
        raise Skipped("no javac")
    room = room_of(suite)
    os.makedirs(room + CLASSES, exist_ok=True)
    for name in os.listdir(java_graph.compiled()):
        if name.endswith(".class"):
            shutil.copy(name, room + CLASSES)
    java_graph.path_of_classes = CLASSES
    return room


def of_suite(suite):
    room = with_classes(suite)
    with mounted("-t", "proc", "proc", at=room + "/proc"):
        for options in [], ["-Xint"], ["-XX:TieredStopAtLevel=1"], ["-XX:-TieredCompilation"]:
            java_graph.every_way_of_calling(["chroot", room, "java", *options])
        java_graph.inlined(["chroot", room, "java"])
        java_graph.lines_of_compiled_code(["chroot", room, "java"])
        java_graph.shares_of_work(["chroot", room, "java"])


def of_java_8():
    java, room = room_of("java8"), with_classes("forky")
    with mounted("-t", "proc", "proc", at=room + "/proc"), mounted("--bind", java, at=room + "/opt"):
        java = ["chroot", room, "/opt/usr/lib/jvm/java-8-openjdk-amd64/jre/bin/java"]
        for options in [], ["-Xint"]:
            java_graph.every_way_of_calling(java + options, entry=None)
        java_graph.lines_of_compiled_code(java)


def of_java_11():
    of_suite("bullseye")


def of_java_21():
    of_suite("trixie")


VIRTUAL = '''
public class Virtual {
    static volatile int sink;
    static long end;
    static int w_spin(int n) { int x = 1; for (int i = 0; i < n; i++) x = x * 31 + i; return x; }
    static void w_inner(int n) throws Exception {
        if (n > 0) { w_inner(n - 1); return; }
        for (int k = 0; k < 20; k++) {
            for (int i = 0; i < 20; i++) sink += w_spin(3000);
            Thread.sleep(1);
        }
    }
    static void w_run() { try { while (System.nanoTime() < end) w_inner(5); } catch (Exception e) { } }
    public static void main(String[] a) throws Exception {
        end = System.nanoTime() + (long)(1e9 * Double.parseDouble(a[0]));
        Thread[] all = new Thread[4];
        for (int i = 0; i < 4; i++) // the compiler here may be older
            all[i] = (Thread)Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable)Virtual::w_run);
        for (Thread t : all) t.join();
    }
}
'''


def virtual_threads():
    """Paths of virtual threads lead to their carrier's entry, also when they have waited: then their outer frames lie in
    the heap, where they are read unless the thread is in a call, perhaps of what moves them there; a mark says so."""
    if not shutil.which("javac"):
        raise Skipped("no javac")
    room = room_of("trixie")
    os.makedirs(room + CLASSES, exist_ok=True)
    with open("Virtual.java", "w", encoding="utf-8") as f:
        f.write(VIRTUAL)
    sh("javac", "--release", "8", "-Xlint:-options", "-d", room + CLASSES, "Virtual.java")
    with mounted("-t", "proc", "proc", at=room + "/proc"):
        record("-g", "-e", "cpu-clock", "-c", 500009, "--", "chroot", room, "java", "-cp", CLASSES, "Virtual", longer(4))
    n_whole = n_cut = 0
    for path, n in folded_paths("--no-inline"):
        ours = [f.split(".")[1] for f in path if f.startswith("Virtual.w_")]
        if not ours:
            continue
        for edge in zip(ours, ours[1:]):
            check(edge in {("w_run", "w_inner"), ("w_inner", "w_inner"), ("w_inner", "w_spin")}, "%s calls %s: %s" % (*edge, path))
        if path[0].startswith("[truncated") or "[Java frames unreadable]" in path:
            n_cut += n
            continue
        check(ours[0] == "w_run" and "java.util.concurrent.ForkJoinWorkerThread.run" in path, "begins elsewhere: %s" % path)
        n_whole += n
    note("%d whole, %d cut" % (n_whole, n_cut))
    least(n_whole, n_whole + n_cut, 0.9, "whole paths")
    enough(n_whole + n_cut, 1000, "samples in virtual threads")


run(of_java_8, of_java_11, of_java_21, virtual_threads)
