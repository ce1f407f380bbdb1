# SPDX-License-Identifier: BSD-2-Clause
"""Programs that move their stack, and frames of unusual kinds: whole paths, or a named reason."""
from paths import *

MAIN = ";".join(LIBC_MAIN) + ";"
THREAD = "(__)?clone3?;start_thread;"


def case(name, pattern, *options, through=("work",), seconds=0.4, source="stacks", argv=None, **kw):
    path = compile_c(source, source + ".c", *options)
    p, _ = calls("--", path, *(argv or [name, longer(seconds)]))
    p.through(*through).whole(pattern, name, at_least=kw.pop("at_least", 500), **kw)
    return p


def cut(name, cause, inner):
    """No path of this case reaches an entry; what is known of them ends in INNER."""
    p = case(name, "", at_least=0, share=0, causes={cause, "no unwind table"})
    known = p.through("work").only(lambda q: q.cause == cause)
    enough(known.total(), 500, "samples")
    for q in known:
        check(";".join(q.frames) == inner, ";".join(q.frames))


def contexts():
    """The stack of a context begins in a procedure of the C library."""
    case("contexts", MAIN + "contexts;work|__start_context;in_context;work")


def a_stack_of_its_own():
    """Moved to by hand; the caller's frame is found by a register that is saved on the new stack."""
    case("low", MAIN + "low;call_on;moved;work")


def a_stack_of_its_own_untold():
    """Moved to by hand, and the frame information does not say so: the path is cut there, with its cause."""
    cut("silent", "no frame information", "call_on_silently;moved;work")


def a_stack_above_the_callers():
    """Walks only ever go up, so that damage cannot send them round."""
    cut("high", "stack does not rise", "call_on;moved;work")


def cloned():
    case("cloned", "(__)?clone;in_clone;moved;work")


def vforked():
    """The child has the parent's stack."""
    case("vforked", MAIN + "vforked;work", share=0.8)


def forked():
    case("forked", MAIN + "forked;work")


def long_jumps():
    case("jumps", MAIN + "jumps(;jump_deep){0,6};work")


def split():
    """A piece of stack for every call; the linker has to be told."""
    case("split", MAIN.replace(";main", ";__morestack;main") + "__morestack;in_pieces(;__morestack;in_pieces){0,10};work",
         "-fsplit-stack", "-fuse-ld=gold", source="split", argv=[longer(0.5)])


def frames_of_any_size():
    case("variable", MAIN + "variable;work")
    case("big", MAIN + "big;work")
    case("big_leaf", MAIN + "big_leaf(;.*)?", through=("big_leaf",))


def realigned():
    case("realigned", MAIN + "realigned;work")
    case("realigned_calls", MAIN + "realigned_calls;realigned_leaf", through=("realigned_leaf",))
    case("usual", MAIN + "usual;work", "-mstackrealign", "-mavx2")


def last_instruction_is_a_call():
    case("noreturn", MAIN + "noreturn;last_call;never_returns;work")


def tail_calls():
    """Who jumped is not on the stack."""
    case("tails", MAIN + "(tails;)?tail_end;work")


def frame_pointers_too():
    """Programs that keep frame pointers have the same paths."""
    for name, pattern in ("low", "low;call_on;moved;work"), ("variable", "variable;work"), ("realigned", "realigned;work"):
        case(name, MAIN + pattern, "-fno-omit-frame-pointer")


run(contexts, a_stack_of_its_own, a_stack_of_its_own_untold, a_stack_above_the_callers, cloned, vforked, forked,
    long_jumps, split, frames_of_any_size, realigned, last_instruction_is_a_call, tail_calls, frame_pointers_too)
