/* SPDX-License-Identifier: BSD-2-Clause */
/* Unwind tables as they lie in memory: what call frame information (.eh_frame, .debug_frame,
 * .sframe) is boiled down to, so that one step of a stack walk is a few loads.  Included by both
 * compilers (the BPF program walks with them in the kernel); only fixed-size types.
 *
 * A table belongs to one image and is addressed by *file offset*: ip - start of the mapping +
 * offset of the mapping, so that no process needs a table of its own.  From `first_off` on, every
 * UNWIND_BLOCK bytes of the file are a block; blocks[b] is the number of the first row that starts
 * in block b, blocks[n_blocks] is n_rows.  A row holds from its start to the start of the next one:
 * the row for an offset is the last of its block's rows that starts at or before it, else the row
 * before the block's first.  Row 0 starts at first_off.  Rows of rule UNWIND_NO_RULE mark what no
 * frame information covers. */
#ifndef UNWIND_TABLE_H
#define UNWIND_TABLE_H

#define UNWIND_BLOCK_SHIFT 10
#define UNWIND_BLOCK	   (1u << UNWIND_BLOCK_SHIFT)

struct unwind_row {
	unsigned short start; /* low 16 bits of the file offset */
	unsigned short rule;  /* number of an unwind_rule */
};

/* How the canonical frame address (the caller's stack pointer) is found.  Registers have their
 * DWARF numbers (x86-64 psABI figure 3.36; AArch64 DWARF: x0-x30, sp 31). */
enum unwind_cfa {
	UNWIND_CFA_NONE,      /* no frame information, or none that is understood: see why */
	UNWIND_CFA_SP,	      /* sp + cfa_off */
	UNWIND_CFA_FP,	      /* frame pointer (rbp, x29) + cfa_off */
	UNWIND_CFA_REG,	      /* register cfa_reg + cfa_off: known in the innermost frame, in one
				that a signal interrupted, and for rbx everywhere */
	UNWIND_CFA_FP_DEREF,  /* the word at frame pointer + cfa_off, plus
			      * cfa_add: realigned stacks */
	UNWIND_CFA_SP_DEREF,  /* the word at sp + cfa_off, plus cfa_add: hand-written code */
	UNWIND_CFA_PLT,	      /* x86-64: sp + 8 + ((ip & 15) >= cfa_off) * 8: lazy binding stubs */
	UNWIND_CFA_SIGNAL,    /* a signal's return trampoline: registers are in the frame at sp */
	UNWIND_CFA_GOROUTINE, /* x86-64: code of Go's runtime that left a goroutine's stack: what
			       * the thread's goroutine keeps of its sp, + cfa_off.  cfa_reg:
			       * UNWIND_SWITCH_*; bx_at: words from `m` to the goroutine */
};

/* LEAVES: the goroutine goes on where it keeps that it does, not where it called.  KEEPS: `m` keeps
 * the CFA itself, bx_at words from its start, while the vdso is called. */
#define UNWIND_SWITCH_LEAVES 1
#define UNWIND_SWITCH_KEEPS  2

/* Why a rule is UNWIND_CFA_NONE.  Any other rule has 0 there, or one of
 *     UNWIND_LOOP    the code is the loop of an interpreter,
 *     UNWIND_BEGIN   a return address is the beginning of a function that called nobody; it is
 *                    looked for one byte before,
 *     UNWIND_STOPS   nobody called: the caller was stopped at the very return address.  With
 *                    UNWIND_CFA_SIGNAL: the signal's handler is Go's, which makes such calls. */
enum unwind_none {
	UNWIND_NO_FDE,
	UNWIND_TOO_COMPLEX,
	UNWIND_DAMAGED,
	UNWIND_LOOP,
	UNWIND_BEGIN = 1 << 2,
	UNWIND_STOPS = 1 << 3,
};

/* No branches: verifiers follow each. */
#define UNWIND_IS_BEGIN(why) ((why) >> 2 & 1)
#define UNWIND_IS_STOPS(why) ((why) >> 3 & 1)

enum unwind_ra {
	UNWIND_RA_SAVED,    /* the word at CFA + 8 * ra_at (x86-64: ra_at is -1) */
	UNWIND_RA_REGISTER, /* in register ra_at, of the innermost frame:
			     * AArch64 leaf code, vfork */
	UNWIND_RA_NONE,	    /* undefined: the outermost frame, where a walk is complete */
};

/* 16 bytes.  A saved register is the word at CFA + 8 * *_at; UNWIND_SAME: it has its caller's
 * value, UNWIND_LOST: it cannot be told. */
#define UNWIND_SAME 0
#define UNWIND_LOST 32767

/* Bits of by_fp: fp_at, bx_at count from the frame pointer's value in this frame instead of the
 * CFA: the word at fp + 8 * *_at.  0 is then a place like any other, not UNWIND_SAME.  gcc saves
 * registers so where it realigns the stack: mostly with UNWIND_CFA_FP_DEREF, in prologue and
 * epilogue with UNWIND_CFA_REG. */
#define UNWIND_FP_BY_FP 1
#define UNWIND_BX_BY_FP 2

struct unwind_rule {
	unsigned char cfa; /* enum unwind_cfa */
	union {
		unsigned char cfa_reg; /* UNWIND_CFA_REG: DWARF number */
		unsigned char cfa_add; /* *_DEREF: bytes */
	};
	unsigned char ra;  /* enum unwind_ra */
	unsigned char why; /* enum unwind_none */
	int cfa_off;	   /* bytes */
	short fp_at;	   /* rbp, x29 */
	short bx_at;	   /* rbx; AArch64: unused */
	short ra_at;
	unsigned char
		signed_ra; /* AArch64: the return address carries a pointer authentication code */
	unsigned char by_fp;
};

/* Where an image's table is: positions count from the start of the words that hold all tables. */
struct unwind_image {
	unsigned long long first_off; /* a multiple of UNWIND_BLOCK */
	unsigned int n_blocks;	      /* 0: no table (yet, or any more) */
	unsigned int blocks_at;	      /* in units of 4 bytes: n_blocks + 1 of u32 */
	unsigned int rows_at;	      /* in units of 4 bytes */
	unsigned int last_used;	      /* the walker's clock when it last used it */
	unsigned int state;	      /* the publisher's own */
	unsigned int interpreter;     /* enum interpreter: whose loop the table's UNWIND_LOOP is */
	unsigned long long anchor;    /* of the interpreter: see unwind_anchor */
};

/* The interpreters whose frames are known.  A version that is not here is refused. */
enum interpreter {
	INTERPRETER_NONE,
	INTERPRETER_PYTHON_3_8,
	INTERPRETER_PYTHON_3_9,
	INTERPRETER_PYTHON_3_10,
	INTERPRETER_PYTHON_3_11,
	INTERPRETER_PYTHON_3_12,
	INTERPRETER_PYTHON_3_13,
	INTERPRETER_PYTHON_3_14,
	INTERPRETER_V8_9_4, /* Node.js 16 */
	INTERPRETER_V8_10_2,
	INTERPRETER_V8_11_3,
	INTERPRETER_V8_12_4,
	INTERPRETER_V8_13_6, /* 24 */
	INTERPRETER_HOTSPOT_11,
	INTERPRETER_HOTSPOT_17,
	INTERPRETER_HOTSPOT_21,
	INTERPRETER_HOTSPOT_8,
	INTERPRETER_PHP_7_4 = 32,
	INTERPRETER_PHP_8_2,
	INTERPRETER_PHP_8_4,
	INTERPRETER_PERL_5_32 = 36,
	INTERPRETER_PERL_5_36,
	INTERPRETER_PERL_5_40,
	INTERPRETER_RUBY_2_7 = 40,
	INTERPRETER_RUBY_3_0,
	INTERPRETER_RUBY_3_1,
	INTERPRETER_RUBY_3_2,
	INTERPRETER_RUBY_3_3,
	INTERPRETER_RUBY_3_4,
	/* No interpreter, but a language that tells more than stacks: Go, by where goroutines have
	 * their labels (go_labels.h). */
	INTERPRETER_GO = 48,	   /* the program sets none */
	INTERPRETER_GO_LABEL_MAP,  /* up to 1.22 */
	INTERPRETER_GO_LABEL_LIST, /* since 1.24 */
	INTERPRETER_GO_LABELS_UNKNOWN,
	N_INTERPRETERS
};

/* Number I of N layouts of an interpreter's versions, N a power of two.  In BPF the bound is taken
 * where the compiler cannot drop it for one that it knows: verifiers before Linux 6.7 lose that
 * once the number was copied. */
#ifdef __bpf__
#define INTERPRETER_LAYOUT(i, n) BELOW(i, n)
#else
#define INTERPRETER_LAYOUT(i, n) ((i) & ((n)-1))
#endif

#define INTERPRETER_V8_FIRST	  INTERPRETER_V8_9_4
#define INTERPRETER_HOTSPOT_FIRST INTERPRETER_HOTSPOT_11
#define INTERPRETER_PHP_FIRST	  INTERPRETER_PHP_7_4
#define INTERPRETER_PERL_FIRST	  INTERPRETER_PERL_5_32
#define INTERPRETER_RUBY_FIRST	  INTERPRETER_RUBY_2_7

#define INTERPRETER_IS_V8(number)                                                                  \
	((number) >= INTERPRETER_V8_FIRST && (number) < INTERPRETER_HOTSPOT_FIRST)
#define INTERPRETER_IS_HOTSPOT(number)                                                             \
	((number) >= INTERPRETER_HOTSPOT_FIRST && (number) < INTERPRETER_PHP_FIRST)
#define INTERPRETER_IS_PHP(number)                                                                 \
	((number) >= INTERPRETER_PHP_FIRST && (number) < INTERPRETER_PERL_FIRST)
#define INTERPRETER_IS_PERL(number)                                                                \
	((number) >= INTERPRETER_PERL_FIRST && (number) < INTERPRETER_RUBY_FIRST)
#define INTERPRETER_IS_RUBY(number)                                                                \
	((number) >= INTERPRETER_RUBY_FIRST && (number) < INTERPRETER_GO)
#define INTERPRETER_IS_GO(number) ((number) >= INTERPRETER_GO && (number) < N_INTERPRETERS)

/* Whether its functions are a list of its own (script.bpf.h).  Those of other interpreters are on
 * the stack. */
#define INTERPRETER_HAS_LIST(number)                                                               \
	(((number) > INTERPRETER_NONE && (number) < INTERPRETER_V8_FIRST) ||                       \
	 ((number) >= INTERPRETER_PHP_FIRST && (number) < INTERPRETER_GO))

/* This bit of a version says that it is V8's, major and minor in 16 bits each. */
#define INTERPRETER_VERSION_V8 (1u << 31)

/* Set in a version that is HotSpot's; the rest is the number of the JDK. */
#define INTERPRETER_VERSION_HOTSPOT (1u << 30)

/* PHP's, Perl's and Ruby's: major and minor in 8 bits each. */
#define INTERPRETER_VERSION_PHP	 (1u << 28)
#define INTERPRETER_VERSION_PERL (1u << 27)
#define INTERPRETER_VERSION_RUBY (1u << 26)

/* Go's: minor and patch in 8 bits each; how its table is laid out (enum go_layout, gopclntab.h),
 * and whether it has symbols beside that, and whether its switches of stacks are known. */
#define INTERPRETER_VERSION_GO	    (1u << 29)
#define INTERPRETER_GO_LAYOUT(v)    ((v) >> 16 & 3)
#define INTERPRETER_GO_HAS_SYMBOLS  (1u << 18)
#define INTERPRETER_GO_HAS_SWITCHES (1u << 19)

/* Why the frames of an interpreter are not known. */
enum interpreter_refusal {
	INTERPRETER_ACCEPTED,
	INTERPRETER_OTHER_MACHINE,
	INTERPRETER_WITHOUT_SYMBOLS,
	INTERPRETER_TOO_OLD,
	INTERPRETER_OTHER_VERSION,
	INTERPRETER_OTHER_BUILD,
	INTERPRETER_OTHER_OBJECTS,
	INTERPRETER_DAMAGED,
	INTERPRETER_WITHOUT_TABLES,
	INTERPRETER_OTHER_THREADS,
	INTERPRETER_WITHOUT_LOOP,
	N_INTERPRETER_REFUSALS
};

/* An interpreter that an image holds.  `anchor` says where its state is, `_PyRuntime`, by what it
 * adds to the file offset of the code: run-time address of the state = anchor - bias, where bias is
 * file offset - run-time address of the mapping of its loop.  HotSpot: CodeCache::_heaps; PHP:
 * executor_globals; Perl: PL_thr_key; Ruby: ruby_state.h says which two; Go: go_labels.h. */
struct unwind_interpreter {
	unsigned int number;  /* enum interpreter */
	unsigned int version; /* CPython's PY_VERSION_HEX, of those that do not say only major and
			       * minor; INTERPRETER_VERSION_V8, _HOTSPOT; 0: none */
	unsigned int refusal; /* enum interpreter_refusal, when there is one without a number */
	unsigned long long anchor;
};

#define UNWIND_NO_RULE 0 /* rule 0 of every set of rules: UNWIND_CFA_NONE, UNWIND_NO_FDE */

#endif
