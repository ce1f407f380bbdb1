/* SPDX-License-Identifier: BSD-2-Clause */
/* Unwind tables of many real files beside what elfutils says of the same addresses.
 *
 * Both are asked by numbers: registers and memory get made-up contents that depend on the address
 * asked, our rule and elfutils' location descriptions are worked out on them, and CFA, return
 * address, frame pointer and rbx must come out the same.  So forms that mean the same are the same,
 * however they are written. */
#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "resolve/elf_unwind.h"
#include "scratch_t.h"
#include "t.h"

#define MAX_QUERIES 60000 /* of one file */

struct answer {
	bool is_there, is_end; /* has frame information; is the outermost frame */
	uint64_t cfa;
	struct value {
		bool known;
		uint64_t v;
	} ra, fp, bx;
};

struct asked {
	uint16_t machine;
	uint64_t svma;
};

struct tally {
	uint32_t n, n_gap, n_end, n_signal, n_unsupported, n_lost, n_different;
	uint32_t n_by_fp; /* rules, not addresses */
};

/* The made-up world. */

static uint64_t reg(const struct asked *q, unsigned number)
{
	if (q->machine == EM_X86_64 && number == 16)
		return q->svma;
	return hash_pair(q->svma, number);
}

static uint64_t mem(uint64_t address)
{
	return hash_pair(address, 1);
}

static unsigned sp_of(const struct asked *q)
{
	return q->machine == EM_X86_64 ? 7 : 31;
}

static unsigned fp_of(const struct asked *q)
{
	return q->machine == EM_X86_64 ? 6 : 29;
}

/* What our rule gives. */

static uint64_t our_cfa(const struct asked *q, const struct unwind_rule *r)
{
	uint64_t sp = reg(q, sp_of(q)), fp = reg(q, fp_of(q)), off = (uint64_t)r->cfa_off;

	switch (r->cfa) {
	case UNWIND_CFA_SP:
		return sp + off;
	case UNWIND_CFA_FP:
		return fp + off;
	case UNWIND_CFA_REG:
		return reg(q, r->cfa_reg) + off;
	case UNWIND_CFA_FP_DEREF:
		return mem(fp + off) + r->cfa_add;
	case UNWIND_CFA_SP_DEREF:
		return mem(sp + off) + r->cfa_add;
	case UNWIND_CFA_PLT:
		return sp + 8 + ((q->svma & 15) >= off) * 8;
	default: /* x86-64: ucontext at sp, mcontext's registers from 40 on */
		return mem(sp + 160);
	}
}

static struct value our_register(const struct asked *q, const struct unwind_rule *r, uint64_t cfa,
				 unsigned number, int at, bool by_fp)
{
	if (by_fp)
		return (struct value){true, mem(reg(q, fp_of(q)) + (uint64_t)at * 8)};
	if (at == UNWIND_SAME)
		return (struct value){true, reg(q, number)};
	if (at == UNWIND_LOST)
		return (struct value){0};
	return (struct value){true, mem(cfa + (uint64_t)at * 8)};
}

static struct answer ask_rule(const struct asked *q, const struct unwind_rule *r)
{
	uint64_t sp = reg(q, sp_of(q));
	struct answer a = {.is_there = true, .is_end = r->ra == UNWIND_RA_NONE};

	a.cfa = our_cfa(q, r);
	if (r->cfa == UNWIND_CFA_SIGNAL) {
		a.ra = (struct value){true, mem(sp + 168)};
		a.fp = (struct value){true, mem(sp + 120)};
		a.bx = (struct value){true, mem(sp + 128)};
		return a;
	}
	a.ra.known = true;
	a.ra.v = r->ra == UNWIND_RA_REGISTER ? reg(q, (unsigned)r->ra_at)
					     : mem(a.cfa + (uint64_t)(int64_t)r->ra_at * 8);
	a.fp = our_register(q, r, a.cfa, fp_of(q), r->fp_at, r->by_fp & UNWIND_FP_BY_FP);
	a.bx = our_register(q, r, a.cfa, 3, r->bx_at, r->by_fp & UNWIND_BX_BY_FP);
	return a;
}

/* What elfutils' location descriptions give. */

/* Runs OPS; false when one is not known here.  *RET_IS_VALUE: not an address. */
static bool run_ops(const struct asked *q, const Dwarf_Op *ops, size_t n, uint64_t cfa,
		    uint64_t *ret, bool *ret_is_value)
{
	uint64_t stack[16], *top = stack;

	*ret_is_value = false;
	for (size_t i = 0; i < n; i++) {
		const Dwarf_Op *op = &ops[i];

		if (top - stack > 14)
			return false;
		if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
			*top++ = op->atom - DW_OP_lit0;
			continue;
		}
		if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
			*top++ = reg(q, op->atom - DW_OP_breg0) + op->number;
			continue;
		}
		switch (op->atom) {
		case DW_OP_bregx:
			*top++ = reg(q, (unsigned)op->number) + op->number2;
			continue;
		case DW_OP_regx:
			*top++ = reg(q, (unsigned)op->number);
			*ret_is_value = true;
			continue;
		case DW_OP_call_frame_cfa:
			*top++ = cfa;
			continue;
		case DW_OP_stack_value:
			*ret_is_value = true;
			continue;
		}
		if (top == stack)
			return false;
		switch (op->atom) {
		case DW_OP_deref:
			top[-1] = mem(top[-1]);
			continue;
		case DW_OP_plus_uconst:
			top[-1] += op->number;
			continue;
		}
		if (--top == stack)
			return false;
		switch (op->atom) {
		case DW_OP_plus:
			top[-1] += *top;
			break;
		case DW_OP_mul:
			top[-1] *= *top;
			break;
		case DW_OP_and:
			top[-1] &= *top;
			break;
		case DW_OP_shl:
			top[-1] <<= *top & 63;
			break;
		case DW_OP_ge:
			top[-1] = (int64_t)top[-1] >= (int64_t)*top;
			break;
		default:
			return false;
		}
	}
	if (top == stack)
		return false;
	*ret = top[-1];
	return true;
}

static struct value their_register(const struct asked *q, Dwarf_Frame *frame, int number,
				   uint64_t cfa)
{
	Dwarf_Op ops_mem[3], *ops;
	struct value v = {0};
	bool is_value;
	size_t n;

	if (dwarf_frame_register(frame, number, ops_mem, &ops, &n) != 0)
		return v;
	if (n == 0) {
		v.known = ops == NULL; /* libdw.h: NULL means "same value", else undefined */
		v.v = reg(q, (unsigned)number);
		return v;
	}
	v.known = run_ops(q, ops, n, cfa, &v.v, &is_value);
	if (v.known && !is_value)
		v.v = mem(v.v);
	return v;
}

static struct answer ask_elfutils(const struct asked *q, Dwarf_CFI *cfi)
{
	struct answer a = {0};
	Dwarf_Frame *frame;
	Dwarf_Op *ops;
	bool is_value;
	size_t n;
	int ra;

	if (!cfi || dwarf_cfi_addrframe(cfi, q->svma, &frame) != 0)
		return a;
	a.is_there = true;
	ra = dwarf_frame_info(frame, NULL, NULL, NULL);
	if (dwarf_frame_cfa(frame, &ops, &n) == 0)
		run_ops(q, ops, n, 0, &a.cfa, &is_value);
	a.ra = their_register(q, frame, ra, a.cfa);
	a.is_end = !a.ra.known;
	a.fp = their_register(q, frame, (int)fp_of(q), a.cfa);
	if (q->machine == EM_X86_64)
		a.bx = their_register(q, frame, 3, a.cfa);
	/* observed: where nothing is said of rbx, elfutils 0.188 has it undefined, while a function
	 * that is called keeps it (psABI figure 3.4). */
	if (q->machine == EM_X86_64 && !a.bx.known)
		a.bx = (struct value){true, reg(q, 3)};
	free(frame);
	return a;
}

/* Both. */

static bool differ(const struct value *ours, const struct value *theirs, struct tally *t)
{
	if (ours->known && theirs->known)
		return ours->v != theirs->v;
	t->n_lost += theirs->known;
	return ours->known;
}

static void compare(const struct asked *q, const struct unwind_rule *r, Dwarf_CFI *cfi,
		    const char *path, struct tally *t)
{
	struct answer theirs = ask_elfutils(q, cfi), ours;
	bool bad;

	t->n++;
	if (r->cfa == UNWIND_CFA_NONE && r->why != UNWIND_NO_FDE) {
		t->n_unsupported++;
		return;
	}
	if (r->cfa == UNWIND_CFA_NONE || !theirs.is_there) {
		/* What is in none of them may have been read off the code. */
		t->n_gap++;
		bad = theirs.is_there;
	} else {
		ours = ask_rule(q, r);
		t->n_end += ours.is_end;
		t->n_signal += r->cfa == UNWIND_CFA_SIGNAL;
		bad = ours.is_end != theirs.is_end;
		if (!ours.is_end && !bad)
			bad = ours.cfa != theirs.cfa || differ(&ours.ra, &theirs.ra, t) ||
			      differ(&ours.fp, &theirs.fp, t) ||
			      (q->machine == EM_X86_64 && differ(&ours.bx, &theirs.bx, t));
	}
	if (bad && t->n_different++ < 5)
		printf("# %s: different at %#llx: rule cfa %u reg %u off %d ra %u at %d fp %d "
		       "bx %d by %u, elfutils %s\n",
		       path, (unsigned long long)q->svma, r->cfa, r->cfa_reg, r->cfa_off, r->ra,
		       r->ra_at, r->fp_at, r->bx_at, r->by_fp,
		       theirs.is_there ? "has one" : "has none");
}

struct pair {
	Elf *elf;
	Dwarf *dwarf;
	Dwarf_CFI *cfi;
	struct unwind_table t;
	uint16_t machine;
};

static uint64_t svma_of(Elf *elf, uint64_t off)
{
	size_t n = 0;

	elf_getphdrnum(elf, &n);
	for (size_t i = 0; i < n; i++) {
		const Elf64_Phdr *p = &elf64_getphdr(elf)[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X && off - p->p_offset < p->p_filesz)
			return off - p->p_offset + p->p_vaddr;
	}
	return 0;
}

static void ask_off(struct pair *p, uint64_t off, const char *path, struct tally *tally)
{
	struct asked q = {p->machine, svma_of(p->elf, off)};

	if (q.svma)
		compare(&q, unwind_table_find(&p->t, off), p->cfi, path, tally);
}

/* All boundaries of rows, or evenly chosen ones, and as many places between. */
static void ask_many(struct pair *p, const char *path, struct tally *tally)
{
	const struct unwind_table *t = &p->t;
	uint64_t n_bytes = (uint64_t)t->n_blocks * UNWIND_BLOCK;
	uint32_t step = t->n_rows * 2 / MAX_QUERIES + 1, n = 0;

	for (uint32_t b = 0; b < t->n_blocks; b++) {
		uint64_t start = t->first_off + (uint64_t)b * UNWIND_BLOCK;

		for (uint32_t i = t->blocks[b]; i < t->blocks[b + 1]; i++) {
			uint64_t off = start + (t->rows[i].start & (UNWIND_BLOCK - 1));

			if (i % step)
				continue;
			ask_off(p, off, path, tally);
			if (off > t->first_off)
				ask_off(p, off - 1, path, tally);
			n++;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		ask_off(p, t->first_off + hash_u64(i) % n_bytes, path, tally);
}

/* Compares one file; false when it is not there. */
static bool check_file(const char *path, bool debug_frame, struct tally *ret)
{
	_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct err err = {0};
	struct pair p = {0};
	struct tally t = {0};
	uint32_t n_by_fp = 0;

	if (fd < 0)
		return false;
	elf_version(EV_CURRENT);
	p.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!p.elf || elf_unwind_load(fd, &p.t, &err) < 0) {
		t_fail_("%s: %s", path, err.msg);
		elf_end(p.elf);
		return true;
	}
	p.machine = elf64_getehdr(p.elf)->e_machine;
	p.dwarf = debug_frame ? dwarf_begin_elf(p.elf, DWARF_C_READ, NULL) : NULL;
	p.cfi = debug_frame ? dwarf_getcfi(p.dwarf) : dwarf_getcfi_elf(p.elf);
	ask_many(&p, path, &t);
	printf("# %s: %u rows, %u asked, %u gaps, %u ends, %u signals, %u unsupported, %u lost, %u "
	       "different\n",
	       path, p.t.n_rows, t.n, t.n_gap, t.n_end, t.n_signal, t.n_unsupported, t.n_lost,
	       t.n_different);
	EXPECT_EQ(t.n_different, 0);
	EXPECT((t.n_unsupported + t.n_lost) * 200 <= t.n);
	EXPECT(t.n > 2 * t.n_gap);
	for (uint32_t i = 0; i < p.t.n_rules; i++)
		n_by_fp += p.t.rules[i].by_fp != 0 && p.t.rules[i].cfa == UNWIND_CFA_FP_DEREF;
	if (!debug_frame)
		dwarf_cfi_end(p.cfi);
	dwarf_end(p.dwarf);
	elf_end(p.elf);
	unwind_table_release(&p.t);
	ret->n += t.n;
	ret->n_signal += t.n_signal;
	ret->n_end += t.n_end;
	ret->n_by_fp += n_by_fp;
	return true;
}

static const char *cc1_path(void)
{
	static char path[512];
	FILE *f = popen("gcc -print-prog-name=cc1", "r");

	if (!f)
		return "";
	if (!fgets(path, sizeof(path), f))
		path[0] = '\0';
	pclose(f);
	path[strcspn(path, "\n")] = '\0';
	return path;
}

#define X86_LIB "/usr/lib/x86_64-linux-gnu/"
#define ARM_LIB "/usr/aarch64-linux-gnu/lib/"

TEST(x86_64_files)
{
	static const char *const paths[] = {
		X86_LIB "libc.so.6",
		X86_LIB "ld-linux-x86-64.so.2",
		X86_LIB "libm.so.6",
		X86_LIB "libgcc_s.so.1",
		X86_LIB "libstdc++.so.6",
		X86_LIB "libcrypto.so.3",
		X86_LIB "libssl.so.3",
		X86_LIB "libsqlite3.so.0",
		X86_LIB "libzstd.so.1",
		X86_LIB "liblzma.so.5",
		X86_LIB "libgmp.so.10",
		X86_LIB "libdw.so.1",
		X86_LIB "libbpf.so.1",
		X86_LIB "libpython3.11.so.1.0",
		X86_LIB "libperl.so.5.36",
		X86_LIB "libLLVM-14.so.1",
		X86_LIB "libcapstone.so.4",
		"/usr/bin/python3",
		"/usr/bin/perl",
		"/usr/bin/git",
		"/usr/bin/gcc",
		"/usr/bin/ld",
		"/usr/bin/tar",
		"/usr/bin/perf",
		"/bin/bash",
		"/bin/dash",
		"/bin/ls",
	};
	struct tally t = {0};
	unsigned n = 0;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i += t_quick() ? 2 : 1)
		n += check_file(paths[i], false, &t);
	n += check_file(cc1_path(), false, &t);
	printf("# %u files, %u addresses\n", n, t.n);
	EXPECT(n >= 10);
	EXPECT(t.n_signal > 0);
	EXPECT(t.n_end > 0);
}

TEST(aarch64_files)
{
	static const char *const paths[] = {
		ARM_LIB "libc.so.6",	     ARM_LIB "ld-linux-aarch64.so.1",
		ARM_LIB "libm.so.6",	     ARM_LIB "libresolv.so.2",
		ARM_LIB "libnsl.so.1",	     ARM_LIB "libc_malloc_debug.so.0",
		ARM_LIB "libthread_db.so.1", ARM_LIB "libgcc_s.so.1",
		ARM_LIB "libstdc++.so.6",
	};
	struct tally t = {0};
	unsigned n = 0;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		n += check_file(paths[i], false, &t);
	if (n == 0)
		SKIP("libc6-arm64-cross is not installed");
	EXPECT(n >= 5);
	EXPECT(t.n_end > 0);
}

/* Programs with what the files above may lack. */

static const char source[] =
	"typedef float v8 __attribute__((vector_size(32)));\n"
	"struct wide { v8 v; } __attribute__((aligned(64)));\n"
	"extern void take(void *), take8(v8 *); extern int more(int, ...);\n"
	"int leaf(int a) { return a * 3 + 1; }\n"
	"int plain(int a, int b) { int x[9]; take(x); return more(a, x[b], b) + x[a]; }\n"
	"int grown(int n) { char *p = __builtin_alloca(n); take(p); return p[n - 1]; }\n"
	/* An aligned frame of a size not known before: the CFA is a word in it. */
	"int realigned(int n, int m, v8 *q) { struct wide w[2]; char *p = "
	"__builtin_alloca(n);\n"
	"	int r = 0; take8(&w[0].v); take(p); take8(q);\n"
	"	for (int i = 0; i < n; i++) r += more(p[i], i, m, r, n * m);\n"
	"	return r + (int)w[1].v[0]; }\n"
	"int args(int a, int b, int c, int d, int e, int f, int g, int h)\n"
	"{ return more(h, g, f, e, d, c, b, a, h, g, f) + more(a); }\n"
	"int big(int a) { char x[300000]; take(x); return x[a]; }\n"
	"int tail(int a) { if (a > 3) { take(&a); } return more(a); }\n"
	"void never(int a) { if (more(a)) __builtin_trap(); for (;;) take(&a); }\n"
	"int main(int argc, char **argv) { return plain(argc, 2) + realigned(argc, 3, 0); "
	"}\n";

static const char other_source[] =
	"void take(void *p) { (void)p; } void take8(void *p) { (void)p; }\n"
	"int more(int a, ...) { return a; }\n";

static const char *const options[] = {
	"-O0",
	"-O2",
	"-Os -fno-omit-frame-pointer",
	"-O2 -mavx2",
	"-O1 -mavx2 -fPIC",
	"-O2 -mno-red-zone -maccumulate-outgoing-args",
};

TEST(compiled_programs)
{
	static const char *const compilers[] = {"gcc", "clang"};
	struct tally t = {0};
	char path[64];

	REQUIRE(scratch_open(source) && scratch_write("b.c", other_source));
	snprintf(path, sizeof(path), "%s", scratch_path("prog"));
	for (size_t i = 0; i < 2; i++) {
		for (size_t k = 0; k < sizeof(options) / sizeof(options[0]) - (i == 1);
		     k += t_quick() ? 3 : 1) {
			printf("# %s %s\n", compilers[i], options[k]);
			REQUIRE(scratch_run("%s -w %s a.c b.c -o prog", compilers[i], options[k]));
			EXPECT(check_file(path, false, &t));
			/* All rules in .debug_frame alone, packed in two ways. */
			REQUIRE(scratch_run(
				"%s -w -g -gz=none -ffreestanding -nostdlib -static -e main "
				"-fno-asynchronous-unwind-tables %s a.c b.c -o prog",
				compilers[i], options[k]));
			EXPECT(check_file(path, true, &t));
			REQUIRE(scratch_run("objcopy --compress-debug-sections=zlib prog"));
			EXPECT(check_file(path, true, &t));
			REQUIRE(scratch_run("objcopy --compress-debug-sections=zlib-gnu prog"));
			EXPECT(check_file(path, true, &t));
		}
	}
	EXPECT(t.n_by_fp > 0);
	EXPECT(scratch_close());
}
