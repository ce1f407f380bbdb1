# SPDX-License-Identifier: BSD-2-Clause
"""Call paths across signals, wherever these come in: whole."""
from paths import *

# The handlers' time goes through these; the C library calls its trampoline __restore_rt.
TRAMPOLINE = r"(__restore_rt|\[libc\.so\.6\]);"
VICTIMS = r"victims(;(pushes|with_pointer|with_pointer;leaf|realigns|realigns;leaf|stubs|" \
          r"stubs;(\[signals\]|\w+@plt|abs|ffsl|__ffsll?)|\[signals\]|\w+@plt|abs|ffsl|clock_gettime|__vdso_clock_gettime|clock_gettime;__vdso_clock_gettime|" \
          r"(__GI_)?_*(pthread_)?sigmask\w*(;\w*sigmask\w*)?|(stubs;)?((\[signals\]|\w+@plt);)?_dl_runtime_resolve\w*(;[^;]+)*))?;"


# While rt_sigreturn puts the registers back, one after the other, they are of no one frame.
IN_SIGRETURN = {"no frame information", "no mapping", "stack unreadable", "stack does not rise"}


def case(where, outer, handler, seconds=0.8):
    options = ["-Wl,-z,lazy"] if where == "alternate" else []
    compile_c("signals", "signals.c", *options)
    p, _ = calls("--", os.path.abspath("signals"), where, longer(seconds))
    inside = p.through("in_handler")
    whole = outer + VICTIMS + TRAMPOLINE + handler
    inside.whole(whole, where, at_least=10, share=0.95)
    interrupted = collections.Counter()
    for q in inside:
        if not q.cause and re.fullmatch(whole, ";".join(q.frames)):
            interrupted[q.frames[-4]] += q.n
    note(dict(interrupted))
    p.only(lambda q: q not in inside).whole(".*", "outside of handlers",
                                            causes=AT_FIRST | IN_EXEC | IN_SIGRETURN, share=0.98)


MAIN = ";".join(LIBC_MAIN) + ";"


def same_stack():
    case("same", MAIN, "handler;in_handler")


def alternate_stack():
    case("alternate", MAIN, "handler;in_handler")


def above_a_threads_stack():
    case("thread", "(__)?clone3?;start_thread;on_thread;", "handler;in_handler")


def nested():
    case("nested", MAIN, "handler;.*" + TRAMPOLINE + "inner_handler;in_handler")


run(same_stack, alternate_stack, above_a_threads_stack, nested)
