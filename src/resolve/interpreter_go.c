/* SPDX-License-Identifier: BSD-2-Clause */
/* What is known of a program of Go besides its stacks: its version, and where goroutines keep their
 * labels.
 *
 * runtime/pprof sets labels by a function that does nothing else.  A program without it sets none.
 * For example, in Go 1.19:
 *
 *     runtime/pprof.runtime_setProfLabel:
 *         ...
 *         mov    %rax,0x168(%r14)          g.labels
 *
 * It is the one instruction there that stores a register more than 127 bytes behind another one.
 *
 * Sources: Go's src/runtime/proflabel.go, src/debug/buildinfo/buildinfo.go (the version), of 1.15
 * to 1.24. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "resolve/interpreter_impl.h"
#include "unwind/go_labels_state.h"
#include "unwind/gopclntab.h"

#define MOST_CODE	256 /* bytes of the function that sets labels; it has some 100 */
#define MOST_VERSION	64
#define BUILD_INFO_HEAD 32

/* "go1.19.8", or what contains that, as INTERPRETER_VERSION_GO has it; 0: it does not. */
static uint32_t parse_version(const char *text)
{
	const char *at = strstr(text, "go1.");
	char *end;
	unsigned long minor, patch = 0;

	if (!at)
		return 0;
	minor = strtoul(at + strlen("go1."), &end, 10);
	if (*end == '.')
		patch = strtoul(end + 1, NULL, 10);
	return minor && minor < 256 && patch < 256 ? (uint32_t)(minor << 8 | patch) : 0;
}

/* Reads N bytes at SVMA as the version. */
static uint32_t read_version(const struct elf_file *f, uint64_t svma, uint64_t n)
{
	char text[MOST_VERSION + 1] = "";

	if (n > MOST_VERSION || !interpreter_read(f, svma, text, (size_t)n))
		return 0;
	return parse_version(text);
}

/* The version of Go that built F; 0: it does not say so.  src/debug/buildinfo/buildinfo.go: 14
 * bytes of magic, size of pointers, flags (2: since 1.18 the version follows, behind its length);
 * else a pointer to the version's address and length. */
static uint32_t find_version(const struct elf_file *f)
{
	const struct elf_section *s = elf_file_find_section(f, ".go.buildinfo");
	uint8_t head[BUILD_INFO_HEAD + 1], pair[16];
	struct rd r = rd_init(head, sizeof(head));
	uint64_t at;
	uint8_t flags;

	if (!s || s->size < sizeof(head) || !interpreter_read(f, s->svma, head, sizeof(head)))
		return 0;
	if (memcmp(rd_bytes(&r, 14), "\xff Go buildinf:", 14) != 0 || rd_u8(&r) != 8)
		return 0;
	flags = rd_u8(&r);
	if (flags & 2)
		return read_version(f, s->svma + sizeof(head), head[BUILD_INFO_HEAD]);
	at = rd_le64(&r);
	if (flags & 1 || !interpreter_read(f, at, pair, sizeof(pair)))
		return 0;
	r = rd_init(pair, sizeof(pair));
	at = rd_le64(&r);
	return read_version(f, at, rd_le64(&r));
}

/* How many bytes from `g` on its labels are, by the code of FUNC; 0: it is not as it is known. */
static uint32_t labels_at(const struct elf_file *f, const struct go_func *func)
{
	uint8_t b[MOST_CODE];
	const size_t n =
		func->end - func->start < sizeof(b) ? (size_t)(func->end - func->start) : sizeof(b);
	uint32_t found = 0;

	if (!interpreter_read(f, func->start, b, n))
		return 0;
	for (size_t at = 0; at + 7 <= n; at++) {
		/* mov %reg, disp32(%reg): REX.W 89, mod 2; the register is not sp's code, which has
		 * another byte behind it. */
		const uint32_t off = (uint32_t)b[at + 3] | (uint32_t)b[at + 4] << 8 |
				     (uint32_t)b[at + 5] << 16 | (uint32_t)b[at + 6] << 24;

		if ((b[at] & 0xf8) != 0x48 || b[at + 1] != 0x89 || b[at + 2] >> 6 != 2 ||
		    (b[at + 2] & 7) == 4)
			continue;
		if (off % 8 || off >= 4096 || (found && found != off))
			return 0;
		found = off;
	}
	return found;
}

/* What the labels are that a program of VERSION sets; its table is laid out so. */
static enum interpreter label_kind(uint32_t version, enum go_layout layout)
{
	const uint32_t minor = version >> 8;

	if (layout < GO_1_20 || (minor && minor <= 22))
		return INTERPRETER_GO_LABEL_MAP;
	return minor >= 24 ? INTERPRETER_GO_LABEL_LIST : INTERPRETER_GO_LABELS_UNKNOWN;
}

/* How many bytes from `m` on the goroutine is, by the switches of IN; 0: not known. */
static uint32_t curg_at(const struct unwind_input *in)
{
	for (uint32_t i = 0; i < in->n_switches; i++)
		if (!(in->switches[i].how & UNWIND_SWITCH_KEEPS))
			return 8 * (uint32_t)in->switches[i].goroutine_at;
	return 0;
}

void interpreter_find_go(struct elf_file *f, struct unwind_input *in)
{
	struct unwind_interpreter *i = &in->interpreter;
	const uint32_t curg = curg_at(in);
	struct go_table t;
	struct go_func set;

	if (i->number || i->refusal ||
	    go_table_open(&t, in->go.bytes, in->go.n_bytes, in->text_svma, NULL) < 0)
		return;
	i->number = INTERPRETER_GO;
	i->version = find_version(f);
	if (go_table_find_name(&t, "runtime/pprof.runtime_setProfLabel", &set)) {
		const uint32_t at = f->machine == EM_X86_64 && curg ? labels_at(f, &set) : 0;

		i->number = at ? label_kind(i->version, t.layout) : INTERPRETER_GO_LABELS_UNKNOWN;
		i->anchor = at ? GO_ANCHOR(at, curg) : 0;
	}
	i->version |= INTERPRETER_VERSION_GO | (uint32_t)t.layout << 16;
	i->version |= elf_file_find_section(f, ".symtab") ? INTERPRETER_GO_HAS_SYMBOLS : 0;
	i->version |= in->n_switches ? INTERPRETER_GO_HAS_SWITCHES : 0;
}
