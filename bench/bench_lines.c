/* SPDX-License-Identifier: BSD-2-Clause */
/* What a listing costs: ns per source line looked up, beside libdw's own look-up, and ns per
 * instruction disassembled, beside Zydis's own formatter.
 *
 *     bench_lines [FILE]      FILE: an x86-64 program with DWARF; default: this one
 *
 * Each figure is the least of ROUNDS. */
#include <Zydis/Zydis.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/vec.h"
#include "resolve/disasm.h"
#include "resolve/elf_file.h"
#include "resolve/lines.h"

#define ROUNDS	  5
#define N_LOOKUPS 200000

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* The addresses asked for: anywhere in the rows, in no order. */
static uint64_t *make_addresses(const struct line_row *rows, size_t n)
{
	uint64_t *a = xcalloc(N_LOOKUPS, sizeof(*a));

	for (uint64_t k = 0; n && k < N_LOOKUPS; k++) {
		const struct line_row *r = &rows[hash_u64(k) % n];

		a[k] = r->svma + hash_u64(~k) % (r->end - r->svma);
	}
	return a;
}

static double ours(struct lines *l, const uint64_t *addresses, uint64_t *sum)
{
	double start = now_ns();

	for (size_t k = 0; k < N_LOOKUPS; k++) {
		struct line at;

		if (lines_find(l, addresses[k], &at) == 0)
			*sum += at.line;
	}
	return (now_ns() - start) / N_LOOKUPS;
}

/* libdw as its documentation has it: the unit of an address, then the line in the unit. */
static double libdw(Dwarf *dwarf, const uint64_t *addresses, uint64_t *sum)
{
	double start = now_ns();

	for (size_t k = 0; k < N_LOOKUPS; k++) {
		uint64_t svma = addresses[k];
		Dwarf_Line *line;
		Dwarf_Die unit;
		int number = 0;

		if (dwarf_addrdie(dwarf, svma, &unit) && (line = dwarf_getsrc_die(&unit, svma)))
			dwarf_lineno(line, &number);
		*sum += (uint64_t)number;
	}
	return (now_ns() - start) / N_LOOKUPS;
}

static int bench_lines(int fd, const char *path)
{
	double t_open = 1e18, t_rows = 1e18, t_ours = 1e18, t_libdw = 1e18;
	uint64_t sum = 0, sum_libdw = 0;
	uint64_t *addresses = NULL;
	size_t n = 0, n_units = 0, n_rows = 0;
	Dwarf *dwarf;

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct err err;
		struct line_row *rows;
		struct lines *l;
		struct line at;
		double t = now_ns();
		int code;

		l = lines_open(fd, path, &code, &err);
		if (!l) {
			fprintf(stderr, "%s\n", err.msg);
			return 2;
		}
		lines_find(l, 0, &at);
		t_open = least(t_open, now_ns() - t);
		t = now_ns();
		n = lines_range(l, 0, UINT64_MAX, &rows);
		t_rows = least(t_rows, now_ns() - t);
		lines_stats(l, &n_units, &n_rows);
		free(addresses);
		addresses = make_addresses(rows, n);
		free(rows);
		sum = 0;
		t_ours = least(t_ours, ours(l, addresses, &sum));
		lines_close(l);
	}
	dwarf = dwarf_begin(fd, DWARF_C_READ);
	for (unsigned i = 0; i <= ROUNDS; i++) { /* the first one warms up */
		double t;

		sum_libdw = 0;
		t = libdw(dwarf, addresses, &sum_libdw);
		t_libdw = i ? least(t_libdw, t) : t_libdw;
	}
	printf("open and index      %10.0f us, %zu units\n", t_open / 1e3, n_units);
	printf("decode all          %10.0f us, %.0f ns for each of %zu rows\n", t_rows / 1e3,
	       t_rows / (double)n_rows, n_rows);
	printf("look up a line      %10.0f ns\n", t_ours);
	printf("the same by libdw   %10.0f ns (%.0f x), answers %s\n", t_libdw, t_libdw / t_ours,
	       sum == sum_libdw ? "equal" : "differ (it relies on .debug_aranges)");
	dwarf_end(dwarf);
	free(addresses);
	return 0;
}

static double zydis(const uint8_t *bytes, size_t n_bytes, uint64_t svma, size_t *ret_n)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	ZydisFormatter formatter;
	ZydisDecoder decoder;
	char text[256];
	double start = now_ns();
	size_t at = 0;

	*ret_n = 0;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_ATT);
	for (; at < n_bytes; (*ret_n)++) {
		if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, bytes + at, n_bytes - at, &in,
						       operands))) {
			at++;
			continue;
		}
		ZydisFormatterFormatInstruction(&formatter, &in, operands, in.operand_count_visible,
						text, sizeof(text), svma + at, NULL);
		at += in.length;
	}
	return (now_ns() - start) / (double)*ret_n;
}

static int bench_disasm(int fd)
{
	struct disasm_opts opts = {.machine = EM_X86_64};
	double t_text = 1e18, t_targets = 1e18, t_zydis = 1e18;
	const struct elf_section *s;
	struct disasm_insn insn;
	struct elf_file f;
	struct disasm *d;
	uint8_t *bytes;
	size_t n = 0;

	if (elf_file_open(&f, fd, NULL) < 0 || elf_file_read_sections(&f, NULL) < 0 ||
	    !(s = elf_file_find_section(&f, ".text")) || f.machine != EM_X86_64)
		return 2;
	bytes = elf_file_load_section(&f, s);
	d = disasm_new(&opts, NULL);
	for (unsigned i = 0; bytes && d && i < ROUNDS; i++) {
		double t = now_ns();
		uint64_t *targets;

		disasm_begin(d, bytes, s->size, s->svma);
		for (n = 0; disasm_next(d, &insn); n++)
			;
		t_text = least(t_text, (now_ns() - t) / (double)n);
		t = now_ns();
		disasm_targets(d, bytes, s->size, s->svma, &targets);
		t_targets = least(t_targets, (now_ns() - t) / (double)n);
		free(targets);
		t_zydis = least(t_zydis, zydis(bytes, s->size, s->svma, &n));
	}
	printf("an instruction      %10.0f ns (%.2f x of Zydis's AT&T formatter, %.0f ns), %zu of "
	       "them\n",
	       t_text, t_text / t_zydis, t_zydis, n);
	printf("branch targets      %10.0f ns an instruction\n", t_targets);
	disasm_free(d);
	free(bytes);
	elf_file_close(&f);
	return 0;
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "/proc/self/exe";
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0) {
		perror(path);
		return 2;
	}
	rc = bench_lines(fd, path);
	if (rc == 0)
		rc = bench_disasm(fd);
	close(fd);
	return rc;
}
