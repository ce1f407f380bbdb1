/* SPDX-License-Identifier: BSD-2-Clause */
/* See best_case.h.
 *
 * llvm-mc reads bytes in hexadecimal, a pair of brackets an instruction, and prints none, one or
 * several lines for each ("lock" is a line of its own).  So a breakpoint stands behind every
 * instruction, and what is printed before it belongs to that instruction:
 *
 *     [0xf0,0xff,0x00] [0xcc]      lock | incl (%rax) | int3       incl (%rax)
 *     [0x06]           [0xcc]      int3                            nop: nobody knows it
 *
 * llvm-mca refuses all of its input for one instruction without a model.  A set that it refuses is
 * halved until the blocks that it cannot model stand alone. */
#include "port/best_case.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/str.h"
#include "machine/cpu_id.h"
#include "port/run_tool.h"

/* What a model takes at most: seconds of a process, bytes of an answer. */
#define MOST_SECONDS 60u
#define MOST_KEPT    4096u /* models, of some KB each */
#define MOST_ANSWER  ((size_t)256 << 20)

static const struct best_machine {
	uint16_t machine;
	const char *triple, *stop, *stop_text;
} machines[] = {
	{EM_X86_64, "x86_64-linux-gnu", "[0xcc]", "int3"},
	{EM_386, "i386-linux-gnu", "[0xcc]", "int3"},
	{EM_AARCH64, "aarch64-linux-gnu", "[0x00,0x00,0x20,0xd4]", "brk\t#0"},
};

static const struct best_machine *find_machine(uint16_t machine)
{
	for (size_t i = 0; i < n_elems(machines); i++)
		if (machines[i].machine == machine)
			return &machines[i];
	return NULL;
}

struct best_maker {
	const struct best_case_code *code;
	const struct best_machine *machine;
	const char *cpu;
	VEC(const char *) texts; /* of each instruction, in `listed` */
	struct str listed;
};

static size_t block_first(const struct best_case_code *c, size_t block)
{
	return block ? c->ends.v[block - 1] : 0;
}

static int run_llvm(const char *const *argv, const struct str *input, struct str *ret,
		    struct err *err)
{
	const struct tool_limits limits = {.seconds = MOST_SECONDS, .answer_bytes = MOST_ANSWER};
	const int rc = run_tool(argv, input->v, input->n, &limits, ret, err);

	if (rc == -ENOENT)
		return err_set(err, rc, "%s is not installed (Debian: llvm)", argv[0]);
	return rc;
}

/* --- assembly --- */

static void add_bytes(struct str *out, const struct best_case_insn *in)
{
	for (unsigned i = 0; i < in->n_bytes; i++)
		str_addf(out, "%s0x%02x", i ? "," : "[", in->bytes[i]);
	str_add(out, "]\n");
}

/* The next line of *AT, without its tab; NULL at the end. */
static char *take_line(char **at)
{
	char *line = *at, *end = strchr(line, '\n');

	if (!end)
		return NULL;
	*end = '\0';
	*at = end + 1;
	return line + strspn(line, "\t ");
}

/* Finds each instruction's text in what llvm-mc printed. */
static bool take_texts(struct best_maker *m)
{
	char *at = m->listed.v ? m->listed.v : (char *)"", *line = take_line(&at);

	if (line && strcmp(line, ".text") == 0)
		line = take_line(&at);
	for (size_t i = 0; i < m->code->insns.n; i++) {
		const char *text = "nop";

		for (; line && strcmp(line, m->machine->stop_text) != 0; line = take_line(&at))
			text = line;
		if (!line)
			return false;
		line = take_line(&at);
		/* It was the breakpoint itself. */
		if (m->code->insns.v[i].n_bytes == 1 && m->code->insns.v[i].bytes[0] == 0xcc)
			line = take_line(&at);
		if (m->code->insns.v[i].calls)
			text = m->machine->machine == EM_AARCH64 ? "b\t#0" : "jmp\t0";
		vec_push(&m->texts, text);
	}
	return true;
}

static int disassemble(struct best_maker *m, struct err *err)
{
	const char *const argv[] = {"llvm-mc", "--disassemble", "--triple", m->machine->triple,
				    NULL};
	_str_ struct str input = {0};
	struct err why = {0};
	int rc;

	vec_each (in, &m->code->insns) {
		add_bytes(&input, in);
		str_addf(&input, "%s\n", m->machine->stop);
	}
	rc = run_llvm(argv, &input, &m->listed, &why);
	/* observed: llvm-mc 14 fails for one encoding that it does not know, after it has printed
	 * all others; test cli/calc/odd_code */
	if ((rc >= 0 || rc == -EBADMSG) && take_texts(m))
		return 0;
	if (rc >= 0)
		return err_set(err, -EBADMSG, "llvm-mc answers otherwise than version 14 does");
	return err_set(err, rc, "%s", why.msg);
}

/* --- models --- */

static void add_region(struct best_maker *m, size_t block, size_t number, struct str *ret)
{
	str_addf(ret, "# LLVM-MCA-BEGIN %zu\n", number);
	for (size_t i = block_first(m->code, block); i < m->code->ends.v[block]; i++)
		str_addf(ret, "\t%s\n", m->texts.v[i]);
	str_addf(ret, "# LLVM-MCA-END %zu\n", number);
}

static int model_once(struct best_maker *m, size_t first, size_t n, struct mca *ret,
		      struct err *err)
{
	_mem_ char *runs = xasprintf("--iterations=%u", MCA_RUNS);
	_mem_ char *told = xasprintf("--timeline-max-iterations=%u", MCA_TOLD_RUNS);
	_mem_ char *cpu = xasprintf("--mcpu=%s", m->cpu);
	const char *const argv[] = {"llvm-mca", "--mtriple",  m->machine->triple,	 cpu,
				    "--json",	"--timeline", "--timeline-max-cycles=0", told,
				    runs,	NULL};
	_str_ struct str input = {0};
	_str_ struct str answer = {0};
	int rc;

	for (size_t i = 0; i < n; i++)
		add_region(m, first + i, i, &input);
	rc = run_llvm(argv, &input, &answer, err);
	return rc < 0 ? rc : mca_read(answer.v, answer.n, (uint32_t)n, ret, err);
}

/* Adds models of blocks [FIRST, FIRST + N) to RET.  *REFUSED: the first of why a block has none.
 * */
static int model_blocks(struct best_maker *m, size_t first, size_t n, struct mca *ret,
			struct err *refused, struct err *err)
{
	struct mca some = {0};
	struct err why = {0};
	int rc = model_once(m, first, n, &some, &why);

	if (rc >= 0) {
		rc = mca_append(ret, &some);
		mca_release(&some);
		return rc < 0 ? err_set(err, rc, "llvm-mca models two CPUs") : 0;
	}
	if (rc == -ENOENT || rc == -ENOMEM || rc == -ETIMEDOUT) {
		*err = why;
		return rc;
	}
	if (n == 1) {
		if (!refused->msg[0])
			*refused = why;
		vec_push(&ret->blocks, (struct mca_block){.first = (uint32_t)ret->insns.n});
		return 0;
	}
	rc = model_blocks(m, first, n / 2, ret, refused, err);
	return rc < 0 ? rc : model_blocks(m, first + n / 2, n - n / 2, ret, refused, err);
}

static int model_all(struct best_maker *m, struct mca *ret, struct err *err)
{
	struct err refused = {0};
	int rc = disassemble(m, err);

	if (rc >= 0)
		rc = model_blocks(m, 0, m->code->ends.n, ret, &refused, err);
	if (rc >= 0 && !ret->insns.n)
		rc = err_set(err, -ENOTSUP, "no model: %s", refused.msg);
	return rc;
}

/* --- kept models --- */

/* Adds what tells this machine's CPU from others. */
static void add_native(struct sha256 *s)
{
	const char *id = cpu_id_own();

	sha256_add(s, id, strlen(id));
}

/* The name that a model of M's code is kept under. */
static void name_of(const struct best_maker *m, char ret[2 * SHA256_BYTES + 1])
{
	uint8_t hash[SHA256_BYTES];
	struct sha256 s;

	sha256_begin(&s);
	sha256_add(&s, m->machine->triple, strlen(m->machine->triple));
	sha256_add(&s, m->cpu, strlen(m->cpu) + 1);
	if (strcmp(m->cpu, "native") == 0)
		add_native(&s);
	sha256_add_u64(&s, MCA_RUNS << 8 | MCA_TOLD_RUNS);
	vec_each (end, &m->code->ends)
		sha256_add_u64(&s, *end);
	vec_each (in, &m->code->insns) {
		sha256_add_u64(&s, (uint64_t)in->n_bytes << 1 | in->calls);
		sha256_add(&s, in->bytes, in->n_bytes);
	}
	sha256_end(&s, hash, sizeof(hash));
	str_hex(hash, sizeof(hash), ret);
}

static bool is_of(const struct mca *kept, const struct best_case_code *code)
{
	if (kept->blocks.n != code->ends.n)
		return false;
	for (size_t b = 0; b < code->ends.n; b++)
		if (kept->blocks.v[b].n_insns &&
		    kept->blocks.v[b].n_insns != code->ends.v[b] - block_first(code, b))
			return false;
	return true;
}

static bool load_kept(const struct best_maker *m, int dir, const char *name, struct mca *ret)
{
	struct file_map map;
	bool good;

	if (dir < 0 || file_map_open(&map, dir, name, true, NULL) < 0)
		return false;
	good = mca_parse(map.bytes, map.n_bytes, ret, NULL) >= 0 && is_of(ret, m->code);
	file_map_close(&map);
	if (!good)
		mca_release(ret);
	return good;
}

static int open_cache(const char *path)
{
	if (!path || file_mkdirs(path, NULL) < 0)
		return -1;
	return open(path, O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

static bool is_model_name(const char *name)
{
	return strlen(name) == 2 * (size_t)SHA256_BYTES &&
	       strspn(name, "0123456789abcdef") == 2 * (size_t)SHA256_BYTES;
}

/* Models are made again at need: where too many are kept, all go, and nothing else. */
static void make_room(int dir)
{
	const int copy = dup(dir);
	DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
	size_t n = 0;

	if (!d) {
		if (copy >= 0)
			close(copy);
		return;
	}
	rewinddir(d);
	for (struct dirent *e; (e = readdir(d)) != NULL;)
		n += is_model_name(e->d_name);
	rewinddir(d);
	for (struct dirent *e; n > MOST_KEPT && (e = readdir(d)) != NULL;)
		if (is_model_name(e->d_name))
			unlinkat(dir, e->d_name, 0);
	closedir(d);
}

static void keep(const struct mca *m, int dir, const char *name)
{
	struct wr w = {0};

	make_room(dir);
	mca_format(m, &w);
	/* One that cannot be kept is made again. */
	(void)file_replace_lazily(dir, name, w.v, w.n, NULL);
	wr_release(&w);
}

int best_case_find(const struct best_case_code *code, const struct best_case_opts *o,
		   struct mca *ret, struct err *err)
{
	struct best_maker m = {.code = code,
			       .machine = find_machine(code->machine),
			       .cpu = o->cpu ? o->cpu : "native"};
	char name[2 * SHA256_BYTES + 1];
	_fd_ int dir = open_cache(o->cache_dir);
	int rc;

	*ret = (struct mca){0};
	if (!m.machine)
		return err_set(err, -ENOTSUP, "no model of this machine's code");
	if (!code->ends.n)
		return err_set(err, -ENOTSUP, "no blocks");
	if (code->insns.n > BEST_CASE_MOST)
		return err_set(err, -E2BIG, "%zu instructions are too many for a model",
			       code->insns.n);
	name_of(&m, name);
	if (load_kept(&m, dir, name, ret))
		return 0;
	rc = model_all(&m, ret, err);
	if (rc >= 0 && dir >= 0)
		keep(ret, dir, name);
	if (rc < 0)
		mca_release(ret);
	vec_release(&m.texts);
	str_release(&m.listed);
	return rc;
}

void best_case_code_release(struct best_case_code *code)
{
	vec_release(&code->insns);
	vec_release(&code->ends);
}
