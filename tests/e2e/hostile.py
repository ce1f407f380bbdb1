# SPDX-License-Identifier: BSD-2-Clause
"""Files that are made to harm who reads them: a daemon with a limit of memory goes on, says which files they were,
and records everybody else as before.  The limit is that of the packaged unit; where no control group can be made
the same is held against what the daemon and its readers had in memory at most."""
import lzma
import struct

from bounded import *


def section_heads(data):
    """Where the heads of an ELF file's sections are, by name."""
    shoff, = struct.unpack_from("<Q", data, 40)
    entsize, n, strndx = struct.unpack_from("<3H", data, 58)
    names, = struct.unpack_from("<Q", data, shoff + strndx * entsize + 24)
    ret = {}
    for at in range(shoff, shoff + n * entsize, entsize):
        name = names + struct.unpack_from("<I", data, at)[0]
        ret[data[name:data.index(b"\0", name)].decode()] = at
    return ret


def sparse_symbols(path):
    """A copy of burn whose .symtab has 960 MiB, nearly all of them a hole.  (1 GiB nobody tries to read.)"""
    n = 960 << 20
    with open(prog("burn"), "rb") as f:
        data = bytearray(f.read())
    at = section_heads(bytes(data))[".symtab"]
    end = (len(data) + 4095) & ~4095
    struct.pack_into("<QQ", data, at + 24, end, n)
    with open(path, "wb") as f:
        f.write(data)
        f.truncate(end + n)
    os.chmod(path, 0o755)


def xz_bomb(path):
    """A copy of burn without symbols, with an xz stream of 240 MiB of zeros as its MiniDebugInfo."""
    packed = lzma.LZMACompressor(preset=1)
    with open("bomb.xz", "wb") as f:
        for _ in range(240):
            f.write(packed.compress(bytes(1 << 20)))
        f.write(packed.flush())
    sh("objcopy", "--strip-all", "--add-section", ".gnu_debugdata=bomb.xz", prog("burn"), path)


def run_beside(*argv):
    """A program of ours that must be recorded whatever the others do."""
    sh(*argv)


def names_of_others():
    p = Prof()
    check(p.n(procedure="burn_rebuilt_here") > 0, "nothing of the program beside: %s" % p.images())


def elf_files():
    sparse_symbols("sparse")
    xz_bomb("bomb")
    with Daemon() as d:
        for _ in range(2):
            sh("./sparse", 0.3)
            sh("./bomb", 0.3)
            sh(prog("burn_rebuilt"), 0.3)
            d.do("flush")
        # Symbols are read when nobody else wants the CPU, one file after the other.
        wait_for(lambda: d.do("flush") is not None and all(d.said().count("/%s: symbols not read" % name) for name in ("sparse", "bomb")),
                 "both files to be named: " + d.said(), 300)
        names_of_others()
    for name in "sparse", "bomb":
        check(d.said().count("/%s: symbols not read" % name) == 1, "%s is said once: %s" % (name, d.said()))


def shown_live():
    """What no child could read `dwell top` does not read either."""
    sparse_symbols("sparse")
    with subprocess.Popen(["./sparse", "300"], stdout=subprocess.DEVNULL) as sparse, subprocess.Popen([prog("burn_rebuilt"), "300"], stdout=subprocess.DEVNULL) as beside:
        try:
            with subprocess.Popen([DWELL, "top", "--intervals", "20", "-d", "%dms" % longer(300), "-p", str(sparse.pid), "-p", str(beside.pid)],
                                  stdout=subprocess.PIPE, text=True) as top:
                said = top.stdout.read()
                _, status, used = os.wait4(top.pid, 0)
                top.returncode = status
        finally:
            sparse.kill()
            beside.kill()
    check(status == 0, "it ended with %d" % status)
    likely("burn_rebuilt_here" in said, "nothing of the program beside: " + said[-2000:])
    check("sparse" in said, "nothing of the file with many symbols: " + said[-2000:])
    check(used.ru_maxrss < 300 << 10, "it took %d KiB" % used.ru_maxrss)


def build_id_of(path):
    return re.search(r"Build ID: ([0-9a-f]+)", sh("readelf", "-n", path)).group(1)


def forge(path, victim):
    """A copy of burn_static_pie with the build-id of VICTIM."""
    other = prog("burn_static_pie")
    with open(other, "rb") as f:
        data = f.read()
    own, wanted = bytes.fromhex(build_id_of(other)), bytes.fromhex(build_id_of(victim))
    check(len(own) == len(wanted) and data.count(own) == 1, "no place for the build-id")
    with open(path, "wb") as f:
        f.write(data.replace(own, wanted))
    os.chmod(path, 0o755)


def forged_build_id():
    """A user's program with another's build-id is seen first, and changes nothing for the other."""
    victim = prog("prog_a")
    os.chmod(".", 0o755)
    forge("forged", victim)
    with Daemon("-g") as d:
        sh("./forged", longer(0.5), user=65534, group=65534, extra_groups=[])
        d.do("flush")
        sh(victim, longer(0.5))
        d.do("flush")
        wait_for(lambda: d.do("flush") is not None and "have build-id" in d.said(), "the collision to be named: " + d.said())
        # Symbols are read when nobody else wants the CPU.
        wait_for(lambda: d.do("flush") is not None and Prof().n(image="prog_a", procedure="hot_of_a"), "the victim's names", 120)
        # So are unwind tables: the victim runs until its own is there.
        folded = lambda: dwell("export", "--folded", "--no-inline", "--db", "db").stdout
        wait_for(lambda: sh(victim, 0.3) is not None and d.do("flush") is not None and re.search("main;hot_of_a ", folded()),
                 "a call path of the victim", 120)
        p = Prof()
        forged = os.path.abspath("forged")
        check(p.procedures("prog_a").get("burn_here", 0) == 0, "the victim has the other's names: %s" % p.procedures("prog_a"))
        check(p.n(image=forged) > 0, "the forged one is not shown: %s" % p.images())
        check(p.n(image=forged, procedure="hot_of_a") == 0, "the forged one has the victim's names: %s" % p.procedures(forged))
        least(p.n(image="prog_a", procedure="hot_of_a"), p.n(image="prog_a"), 0.5, "named: %s" % p.procedures("prog_a"))


def patch(path, victim):
    """A copy of VICTIM with one instruction changed, that does nothing, and other names of procedures."""
    with open(victim, "rb") as f:
        data = f.read()
    nop = bytes.fromhex("0f1f840000000000")
    at = data.find(nop)
    if at < 0:
        at, nop = data.find(bytes.fromhex("0f1f4400")), bytes.fromhex("0f1f4400")
    if at < 0:
        raise Skipped("no instruction to change")
    data = data[: at + len(nop) - 1] + b"\1" + data[at + len(nop) :]
    with open(path, "wb") as f:
        f.write(data.replace(b"\0hot_of_a\0", b"\0hot_of_x\0"))
    os.chmod(path, 0o755)


def patched_code():
    """A user's copy of a program, which differs in its code alone, runs first; each has its own names and code."""
    victim = prog("prog_a")
    os.chmod(".", 0o755)
    patch("patched", victim)
    patched = os.path.abspath("patched")
    with Daemon() as d:
        sh("./patched", longer(0.5), user=65534, group=65534, extra_groups=[])
        d.do("flush")
        names = lambda: (Prof().n(image="prog_a", procedure="hot_of_a"), Prof().n(image=patched, procedure="hot_of_x"))
        wait_for(lambda: sh(victim, 0.3) is not None and d.do("flush") is not None and all(names()), "both with their names", 120)
        p = Prof()
        check(p.n(image="prog_a", procedure="hot_of_x") == 0, "the victim has the other's names: %s" % p.procedures("prog_a"))
        check(p.n(image=patched, procedure="hot_of_a") == 0, "the patched one has the victim's names: %s" % p.procedures(patched))
        check("have build-id" in d.said(), "the collision is not named: " + d.said())
    for image, own, others in (victim, "hot_of_a", "hot_of_x"), (patched, "hot_of_x", "hot_of_a"):
        listed = dwell("list", "--asm", "--db", "db", own, image)
        check(listed.returncode == 0 and own in listed.stdout and others not in listed.stdout,
              "the listing of %s: %s%s" % (image, listed.stdout[:500], listed.stderr))


def only_what_it_needs():
    with Daemon() as d:
        with open("/proc/%d/status" % d.p.pid, encoding="utf-8") as f:
            status = dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)
        note(status["CapEff"])
        # CAP_DAC_READ_SEARCH, SYS_PTRACE, SYSLOG, PERFMON, BPF, CHECKPOINT_RESTORE; of IPC_LOCK, see shed.c.
        needed = sum(1 << n for n in (2, 19, 34, 38, 39, 40))
        check(int(status["CapEff"], 16) & ~(needed | 1 << 14) == 0, "capabilities %s" % status["CapEff"])
        check(status["Seccomp"] == "2" and status["NoNewPrivs"] == "1", "no filter: %s" % status)
        d.do("epoch")
        sh(prog("burn_rebuilt"), 0.3)
        d.do("flush")
        names_of_others()


def lines_of_map(n_bytes, at=0x10000000):
    out, size = [], 0
    while size < n_bytes:
        out.append("%x 20 a_procedure_%07d_of_this\n" % (at, len(out)))
        at += 0x40
        size += len(out[-1])
    return "".join(out)


class Generated:
    """N programs that run generated code, together half of a CPU's time, and whose maps are then TEXT besides."""

    def __init__(self, n, text):
        self.procs = [subprocess.Popen([prog("jit"), "100", "map", "%g" % (0.5 / n)], stdout=subprocess.DEVNULL) for _ in range(n)]
        self.maps = ["/tmp/perf-%d.map" % p.pid for p in self.procs]
        for path in self.maps:
            wait_for(lambda: os.path.exists(path) and os.path.getsize(path), "a map")
            with open(path, "a", encoding="utf-8") as f:
                f.write(text)

    @contextlib.contextmanager
    def paused(self):
        for p in self.procs:
            p.send_signal(signal.SIGSTOP)
        yield
        for p in self.procs:
            p.send_signal(signal.SIGCONT)

    def __enter__(self):
        return self

    def __exit__(self, *rest):
        for p in self.procs:
            p.kill()
            p.wait()
        for path in self.maps:
            os.unlink(path)


def many_maps():
    with Daemon() as d:
        with Generated(30, lines_of_map(3 << 20)) as g:
            for seconds in 3, 1:
                time.sleep(longer(seconds))
                with g.paused():  # the maps are read beside no work: it is their size that harms
                    d.do("flush")
        sh(prog("burn_rebuilt"), 0.3)
        d.do("flush")
        names_of_others()


def map_of_gaps(path):
    """200,000 procedures, and one with a long name that fills what is between them."""
    with open(path, encoding="utf-8") as f:
        start, size = (int(x, 16) for x in f.read().split()[:2])
    at = start + size + 64
    small = "".join("%x 1 s\n" % (at + 4 * i) for i in range(200000))
    return small + "%x %x %s\n" % (at, 4 * 200000, "g" * 32000)


def shared_name():
    with Daemon() as d:
        with Generated(1, "") as g:
            with open(g.maps[0], "a", encoding="utf-8") as f:
                f.write(map_of_gaps(g.maps[0]))
            time.sleep(longer(2))
            d.do("flush")
            sh(prog("burn_rebuilt"), 0.3)
            d.do("flush")
        names_of_others()
        check(Prof().n(procedure="made_up_on_the_fly") > 0, "the map's own name")


def large_map():
    with Daemon() as d:
        with Generated(1, lines_of_map(60 << 20)):
            time.sleep(longer(2))
            d.do("flush")
            sh(prog("burn_rebuilt"), 0.3)
            d.do("flush")
        names_of_others()
        likely(d.cpu_s() < 8, "the daemon took %.1f s of CPU time" % d.cpu_s())


if os.geteuid() != 0:
    print("1..0 # SKIP needs root")
    sys.exit(0)
run(elf_files, shown_live, many_maps, large_map, shared_name, forged_build_id, patched_code, only_what_it_needs)
