# SPDX-License-Identifier: BSD-2-Clause
"""Call paths of programs that lack what a walk lives on, of deep and of short-lived ones."""
import struct

from paths import *

LOOPS = 200000000  # about half a second
MAIN = ";".join(LIBC_MAIN) + ";"
PLAIN = "outer;middle;inner"
NO_RULE = "no frame information"
# crti's and crtstuff's procedures have none.
WITHOUT_RULES = {"_init", "_fini", "__do_global_dtors_aux", "frame_dummy", "register_tm_clones", "deregister_tm_clones"}


def hot(paths, leaf):
    """The paths that end in LEAF: what runs before main() is the C library's business."""
    return paths.only(lambda p: p.frames and re.fullmatch(leaf, p.frames[-1]))


def plain(name, *options):
    return compile_c(name, "plain_path.c", *options)


def stripped():
    """Frame information stays, names go: procedures are called after their addresses."""
    path = plain("stripped")
    sh("strip", path)
    with open(path, "rb") as f:
        entry = "sub_%x" % struct.unpack_from("<Q", f.read(32), 24)  # e_entry; its first instructions have no caller
    p, _ = calls("--", path, longer(LOOPS))
    hot(p, "sub_.*").only(lambda q: q.frames != [entry]).whole(
        entry + r";__libc_start_main;__libc_start_call_main(;sub_[0-9a-f]+){4}", "stripped")


def stripped_and_static():
    """No procedure has a name, and no dynamic linker tells where anything is."""
    path = plain("stripped", "-static")
    sh("strip", path)
    p, _ = calls("--", path, longer(LOOPS))
    # The C library's procedures have no name here either: where most samples are is the loop.
    leaves = collections.Counter()
    for q in hot(p, "sub_.*"):
        leaves[q.frames[-1]] += q.n
    hot(p, leaves.most_common(1)[0][0]).whole(r"sub_[0-9a-f]+(;sub_[0-9a-f]+){6}", "static")


def without_section_headers():
    """What the loader needs is enough: the frame information has a segment of its own."""
    path = plain("sectionless")
    with open(path, "r+b") as f:
        f.seek(40)
        f.write(bytes(8))  # e_shoff
        f.seek(58)
        f.write(bytes(6))  # e_shentsize, e_shnum, e_shstrndx
    p, _ = calls("--", path, longer(LOOPS))
    own = r"(\[sectionless\]|sub_[0-9a-f]+)"
    p = hot(p, own)
    likely(p.only(lambda q: len(q.frames) == 1 and not q.cause).total() < 5, "_start is not where time goes")
    p.only(lambda q: len(q.frames) > 1 or q.cause).whole(
        own + ";__libc_start_main;__libc_start_call_main(;" + own + "){4}", "no section headers")


def without_frame_information():
    """The code itself tells, with a frame pointer or without."""
    none = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]
    for name, kind in (("pointers", "-fno-omit-frame-pointer"), ("nothing", "-fomit-frame-pointer")):
        p, a = calls("--", plain(name, *none, kind), longer(LOOPS), db=name + "-db")
        n = hot(p, "inner").whole(MAIN + "outer;(middle;)?inner", name)
        check(a["events"][0]["call_paths"]["guessed"] < n / 10, "guessed: %s" % a["events"])


def by_hand():
    """Assembler code without frame information, from which nothing can be read: a frame pointer leads out of it, and is
    marked as guessed; something else in that register leads nowhere.  Code that can be read needs none."""
    sh("as", "-o", "bare.o", os.path.join(HERE, "bare.s"))
    path = compile_c("by_hand", "by_hand.c", os.path.abspath("bare.o"), "-fno-omit-frame-pointer")
    p, a = calls("--", path, "by_hand", longer(LOOPS // 2))
    n = hot(p, "loop_by_hand").whole(MAIN + "calls_by_hand;by_hand;loop_by_hand", "by hand")
    check(a["events"][0]["call_paths"]["guessed"] >= n, "guesses are not marked: %s" % a["events"])
    p, a = calls("--", path, "no_pointer", longer(LOOPS // 2))
    p = hot(p, "no_pointer")
    p.whole("-", "no pointer", at_least=0, share=0, causes=AT_FIRST | {NO_RULE})
    enough(p.causes()[NO_RULE], 300, "truncated: %s" % p.causes())
    p, a = calls("--", path, "readable", longer(LOOPS // 2))
    n = hot(p, "readable").whole(MAIN + "calls_readable;readable", "readable")
    check(a["events"][0]["call_paths"]["guessed"] < n / 10, "guessed: %s" % a["events"])


def deep():
    """Several hundred frames: all of them.  Ten thousand: the inner ones, and the reason."""
    path = compile_c("deep", "deep.c")
    p, _ = calls("--", path, "once", 430, longer(LOOPS))
    hot(p, "bottom").whole(MAIN + "(recurse;){431}bottom", "430 deep")
    p, a = calls("--", path, "once", 10000, longer(LOOPS))
    cut = p.through("bottom").only(lambda q: q.cause == "too deep")
    enough(cut.total(), 500, "too deep: %s" % p.causes())
    for q in cut:
        # The kernel's frames, left out here, count; without any there are 512 callers.
        check(q.frames[-1] == "bottom" and set(q.frames[:-1]) == {"recurse"} and 440 < len(q.frames) <= 513,
              "%d frames" % len(q.frames))
    likely(max(cut, key=lambda q: q.n).frames.count("recurse") == 512, "the inner frames are not all there")
    check(not hot(p, "bottom").only(lambda q: not q.cause), "a path out of nowhere")
    tree = sh(DWELL, "tree", "--db", "db", "--fold-recursion", "--no-header", "--percent-limit", 5).splitlines()
    note("\n".join(tree))
    check([line.split("  ")[-1].strip(" └│├") for line in tree[1:4]] ==
          ["[truncated: too deep]", "recurse [deep]", "bottom"], "\n".join(tree))


def in_32_bits():
    """Not walked, and said so; the linker of this system makes such a program without a library."""
    with open("narrow.s", "w") as f:
        f.write("""
            .globl _start
        _start: mov $400000000, %ecx
        1:      dec %ecx
            jnz 1b
            mov $1, %eax
            xor %ebx, %ebx
            int $0x80
            .section .note.GNU-stack,"",@progbits
        """)
    sh("as", "--32", "-o", "narrow.o", "narrow.s")
    sh("ld", "-m", "elf_i386", "-o", "narrow", "narrow.o")
    p, _ = calls("--", "./narrow")
    enough(p.causes()["32-bit process"], 300, "truncated: %s" % p.causes())
    least(p.causes()["32-bit process"], p.total(), 0.95, "%s" % p.causes())


def in_the_vdso():
    p, _ = calls("--", prog("vdso"), longer(0.4))
    inside = p.through("__vdso_clock_gettime", "[vdso]")
    inside.whole(MAIN + r"clock_gettime;(__vdso_clock_gettime|\[vdso\])", "in the vdso")


def lazy_binding():
    """Thousands of procedures called for the first time: the resolver's frame is found by rbx."""
    n = 3000
    with open("late_lib.c", "w") as f:
        f.write("".join("int late%d(void) { return %d; }\n" % (i, i) for i in range(n)))
    with open("binds.c", "w") as f:
        f.write("".join("int late%d(void);\n" % i for i in range(n)) + "int bind_all(void)\n{\n\tint n = 0;\n" +
                "".join("\tn += late%d();\n" % i for i in range(n)) + "\treturn n;\n}\n")
    sh("cc", "-O1", "-shared", "-fPIC", "-o", "liblate.so", "late_lib.c")
    sh("cc", "-O1", "-shared", "-fPIC", "-Wl,-z,lazy", "-o", "libbinds.so", "binds.c", "-L.", "-llate", "-Wl,-rpath,$ORIGIN")
    compile_c("lazy", "lazy.c", "-ldl", text="""
        #include <dlfcn.h>
        #include <stdlib.h>
        int main(int argc, char **argv)
        {
            for (int i = atoi(argv[1]); i > 0; i--) {
                void *h = dlopen("./libbinds.so", RTLD_LAZY);
                int (*f)(void) = (int (*)(void))dlsym(h, "bind_all");
                if (!f || f() == 0)
                    return 1;
                dlclose(h);
            }
            return 0;
        }
        """)
    p, _ = calls("--", os.path.abspath("lazy"), longer(150))
    p.through("bind_all").whole(MAIN + r"bind_all(;(late\d+(@plt)?|bind_all|\[libbinds\.so\]|"
                                r"((\[libbinds\.so\];)?_dl_runtime_resolve_\w+(;_dl_fixup.*)?)))?", "lazy binding", at_least=300)
    outside = p.only(lambda q: "bind_all" not in q.frames)
    for q in outside:
        check(q.cause != NO_RULE or q.frames[-1:] == [] or q.frames[-1] in WITHOUT_RULES, "[truncated: %s];%s" % (q.cause, ";".join(q.frames)))
    outside.whole("(_start|_dl_start_user)(;.*)?", "dlopen and dlclose", share=0.6,
                  causes=AT_FIRST | IN_EXEC | {NO_RULE})


run(stripped, stripped_and_static, without_section_headers, without_frame_information, by_hand, deep, in_32_bits,
    in_the_vdso, lazy_binding)
