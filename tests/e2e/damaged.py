# SPDX-License-Identifier: BSD-2-Clause
"""Frame information that is damaged or lies, and too little memory for it: nothing is lost, nothing
breaks, and what is not known is said not to be."""
import random
import struct

from paths import *

N_DAMAGED = 50
LOOPS = 8000000  # about 20 ms
TRUTH = ";".join(LIBC_MAIN) + ";outer;middle;inner"


def sections(data):
    """Name, offset and size of an ELF file's sections."""
    shoff, = struct.unpack_from("<Q", data, 40)
    entsize, n, strndx = struct.unpack_from("<3H", data, 58)
    heads = [struct.unpack_from("<IIQQQQ", data, shoff + i * entsize) for i in range(n)]
    names = heads[strndx][4]
    for name, kind, _, _, off, size in heads:
        at = names + name
        yield data[at:data.index(b"\0", at)].decode(), off, size


def damage(data, r):
    """DATA with damage to its frame information: some bytes, a stretch of noise, or a piece moved."""
    data = bytearray(data)
    for name, off, size in sections(bytes(data)):
        if name == ".note.gnu.build-id":
            data[off + size - 16:off + size] = r.randbytes(16)
        if name not in (".eh_frame", ".eh_frame_hdr"):
            continue
        how = r.randrange(4)
        if name == ".eh_frame_hdr" and r.random() < 0.7:
            continue
        if how == 0:  # a few bytes anywhere
            for _ in range(r.randrange(1, 12)):
                data[off + r.randrange(size)] = r.randrange(256)
        elif how == 1:  # noise
            at = r.randrange(size)
            n = r.randrange(1, min(size - at, 400) + 1)
            data[off + at:off + at + n] = r.randbytes(n)
        elif how == 2:  # a piece in another place
            n = r.randrange(1, 200)
            a, b = (off + r.randrange(max(size - n, 1)) for _ in "ab")
            data[a:a + n] = data[b:b + n]
        else:  # bits
            for _ in range(r.randrange(1, 12)):
                data[off + r.randrange(size)] ^= 1 << r.randrange(8)
    return bytes(data)


def damaged_files(kind, *options):
    """Damaged programs, each of its own name, run one after the other in one recording."""
    with open(compile_c("whole", "plain_path.c", *options), "rb") as f:
        good = f.read()
    for i in range(N_DAMAGED):
        with open("v%d" % i, "wb") as f:
            f.write(damage(good, random.Random(i)))
        os.chmod("v%d" % i, 0o755)
    script = "for i in %s; do ./v$i %d; done" % (" ".join(map(str, range(N_DAMAGED))), longer(LOOPS))
    a = record("-g", *FAST, "--", "sh", "-c", script)
    p = Paths(account=a)
    complete = wrong = n = 0
    wrong_roots = collections.Counter()
    for i in range(N_DAMAGED):
        own = p.only(lambda q: q.comm == "v%d" % i)
        enough(own.total(), 20, "samples of v%d" % i)
        for q in own:
            if not q.frames or q.frames[-1] != "inner":
                continue
            n += q.n
            if q.cause:
                continue
            complete += q.n
            if not re.fullmatch(TRUTH, ";".join(q.frames)):
                wrong += q.n
                if q.frames[0] != "_start":
                    wrong_roots[";".join(q.frames)] += q.n
    note("%s: %d samples in damaged programs: %d complete, %d of them by another path than the true one; %s" %
         (kind, n, complete, wrong, dict(p.causes())))
    enough(n, 1000, "samples")
    check(complete < n, "nothing was damaged that matters")
    check(not wrong_roots, "wrong roots: %s" % dict(wrong_roots))
    most(wrong, n, 0.01, "by a wrong path")


def damaged_dynamic():
    damaged_files("dynamic")


def damaged_static():
    damaged_files("static", "-static")


def one_program_does_not_harm_another():
    """Files of one build-id are taken for the same, but not those of different owners, nor a broken one."""
    path = compile_c("plain", "plain_path.c")
    with open(path, "rb") as f:
        data = bytearray(f.read())
    for name, off, size in sections(bytes(data)):
        if name == ".eh_frame":
            data[off + 24:off + size] = bytes(size - 24)  # an end right behind the first entry
        if name == ".eh_frame_hdr":
            data[off:off + size] = bytes(size)
    for name, owner in ("evil", 65534), ("broken", 0):
        with open(name, "wb") as f:
            f.write(data)
        os.chmod(name, 0o755)
        os.chown(name, owner, owner)
    for name in "evil", "broken":
        a = record("-g", *FAST, "--", "sh", "-c", "./%s %d; ./plain %d" % (name, longer(5 * LOOPS), longer(10 * LOOPS)))
        p = Paths("plain", account=a)
        note("%s: %s" % (name, dict(Paths(name).causes())))
        p.only(lambda q: q.frames and q.frames[-1] == "inner").whole(TRUTH, "beside " + name)


# Twenty thousand procedures that nobody calls: an unwind table of a third of a megabyte.
MANY_S = """
        .text
        .skip OFFSET, 0x90
        .rept 20000
        .cfi_startproc
        push %rbx
        .cfi_def_cfa_offset 16
        pop %rbx
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .p2align 4
        .endr
        .section .note.GNU-stack,"",@progbits
"""


def too_little_memory():
    """Tables come and go: what is there is right, and what is not is said to be missing."""
    for i in range(5):  # each has frame information of its own: programs whose is the same share a table
        with open("many.s", "w") as f:
            f.write(MANY_S.replace("OFFSET", str(16 * i)))
        sh("as", "-o", "many.o", "many.s")
        compile_c("large%d" % i, "plain_path.c", os.path.abspath("many.o"), "-Wl,--build-id=0x%040x" % i)
    script = "for j in 1 2 3; do for i in 0 1 2 3 4; do ./large$i %d; done; done" % longer(6 * LOOPS)
    a = record("-g", "--unwind-memory", "1M", *FAST, "--", "sh", "-c", script)
    c = a["call_paths"]
    note(c)
    p = Paths(account=a)
    inner = p.only(lambda q: q.comm.startswith("large") and q.frames and q.frames[-1] == "inner")
    inner.whole(TRUTH, "little memory", share=0.3)
    check(c["table_bytes_most"] <= c["table_bytes_limit"], "more than it may")
    likely(c["tables_evicted"] + c["tables_no_room"] > 2, "there was room for all")


def more_paths_than_fit():
    """Ever new deep paths, faster than they can be brought in: the rest is counted, by name."""
    path = compile_c("deep", "deep.c")
    p, a = calls("--", path, "many", 400, longer(40000))
    c = a["events"][0]["call_paths"]
    lost = c["truncated"].get("chain lost", 0)
    note("%d chains brought in, %d lost" % (a["call_paths"]["chains"], lost))
    check(lost == a["call_paths"]["chains_lost"], "%s, %s" % (lost, a["call_paths"]))
    enough(lost, 100, "lost")
    check(c["complete"] + sum(c["truncated"].values()) == a["events"][0]["samples"], "%s" % c)
    known = p.through("bottom").only(lambda q: not q.cause)
    known.whole(";".join(LIBC_MAIN) + "(;left|;right){401};bottom", "different paths")


def under_load():
    """Every sample is accounted for when processes come and go faster than their tables."""
    storm = [prog("forkstorm"), longer(250), 2, "/bin/true"]
    for engine in ["bpf"], ["ring"]:
        a = record("-a", "-g", "--engine", *engine, *FAST, "--", *storm, db=engine[0])
        e = a["events"][0]
        c = e["call_paths"]
        p = Paths(db=engine[0])
        note("%(reached)d reached, %(samples)d stored, %(losses)s, %(idle)d idle" % e)
        note(c)
        check(c["complete"] + sum(c["truncated"].values()) == e["samples"], "%s: %d" % (c, e["samples"]))
        check(Prof(db=engine[0]).n() == e["samples"], "rows are not all samples")
        shown = Prof(db=engine[0]).n(busy=True)
        check(p.total() == shown, "%d samples in paths, %d in rows" % (p.total(), shown))
        if engine == ["bpf"]:
            likely(e["lost"] == 0, "lost %s" % e["losses"])


def ends_in_the_middle():
    """A thread ends the process while the others run."""
    path = compile_c("ends", "ends.c", "-pthread", text="""
        #include <pthread.h>
        #include <unistd.h>
        static volatile unsigned long sink;
        __attribute__((noinline)) void burn(void) { for (;;) sink++; }
        __attribute__((noinline)) void *run(void *a) { burn(); return a; }
        int main(void)
        {
            pthread_t t;
            for (int i = 0; i < 3; i++)
                pthread_create(&t, 0, run, 0);
            usleep(3000);
            _exit(0);
        }
        """)
    a = record("-g", *FAST, "--", prog("forkstorm"), longer(60), 2, path)
    p = Paths("ends", account=a)
    p.through("burn").whole("clone3;start_thread;run;burn", "threads", share=0.8)
    note(dict(p.causes()))


run(damaged_dynamic, damaged_static, one_program_does_not_harm_another, too_little_memory, more_paths_than_fit,
    under_load, ends_in_the_middle)
