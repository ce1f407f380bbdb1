/* SPDX-License-Identifier: BSD-2-Clause */
/* The step over CPython's frames, by a live interpreter: python_stack.py says what its stack is. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collect/calls/scripts.h"
#include "machine/procfs.h"
#include "model/script.h"
#include "resolve/elf_unwind.h"
#include "unwind/chain.h"
#include "unwind/python_host.h"
#include "unwind/python_lines.h"

#include "t.h"

#define PYTHON "/usr/bin/python3.11"

struct live {
	pid_t pid;
	FILE *said;
	int to; /* its stdin */
	uint64_t runtime, thread;
	struct unwind_table table;
	struct scripts scripts;
	uint32_t n_told, n_reads;
	uint32_t fail_from; /* reads from this one on fail; 0: none */
};

static bool live_read(void *ctx, uint64_t avma, void *ret, uint32_t n)
{
	struct live *l = ctx;
	struct iovec to = {ret, n}, from = {(void *)(uintptr_t)avma, n};

	if (l->fail_from && ++l->n_reads >= l->fail_from)
		return false;
	return process_vm_readv(l->pid, &to, 1, &from, 1, 0) == (ssize_t)n;
}

static void live_tell(void *ctx, const struct script_record *r, size_t n)
{
	struct live *l = ctx;

	l->n_told++;
	EXPECT(scripts_add(&l->scripts, (const uint8_t *)r, n));
}

static void find_runtime(void *ctx, const struct procfs_map *m)
{
	struct live *l = ctx;

	if (strcmp(m->path, PYTHON) == 0)
		l->runtime = l->table.interpreter.anchor - (m->off - m->start);
}

static bool live_start(struct live *l)
{
	int in[2], out[2], fd = open(PYTHON, O_RDONLY | O_CLOEXEC);
	int rc = fd < 0 ? -errno : elf_unwind_load(fd, &l->table, NULL);

	if (fd >= 0)
		close(fd);
	if (rc < 0 || pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		return false;
	l->pid = fork();
	if (l->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(PYTHON, PYTHON, T_GOLDEN "/../unit/python_stack.py", (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	l->to = in[1];
	l->said = fdopen(out[0], "r");
	return true;
}

static void live_stop(struct live *l)
{
	close(l->to);
	fclose(l->said);
	waitpid(l->pid, NULL, 0);
	unwind_table_release(&l->table);
	scripts_release(&l->scripts);
}

static struct python_input input_of(struct live *l)
{
	return (struct python_input){.interpreter = l->table.interpreter.number,
				     .runtime = l->runtime,
				     .thread = l->thread,
				     .read = live_read,
				     .tell = live_tell,
				     .ctx = l};
}

/* Compares each frame with the line that python_stack.py says of it. */
static void compare(struct live *l, const struct python_frames *found)
{
	char line[400], name[300];
	unsigned at, first, i = 0;
	struct profile p;

	profile_init(&p);
	while (fgets(line, sizeof(line), l->said) &&
	       sscanf(line, "%u %u %299[^\n]", &at, &first, name) == 3) {
		place_id place;
		const struct script *s;

		REQUIRE(i < found->n);
		place = scripts_place(&l->scripts, &p, found->frames[i++]);
		s = profile_find_script(&p, place);
		REQUIRE(s);
		EXPECT_STR(profile_str(&p, s->name), name);
		EXPECT_EQ(p.places.v[place].svma >> SCRIPT_PROCEDURE_BITS,
			  script_svma(name, first) >> SCRIPT_PROCEDURE_BITS);
		if (at) /* else it was under way while it was told */
			EXPECT_EQ(s->line, at);
	}
	EXPECT_EQ(i, found->n);
	profile_check(&p);
	profile_release(&p);
}

TEST(a_live_stack)
{
	struct live l = {0};
	uint64_t frames[512];
	struct python_frames found = {.frames = frames, .max = 512};
	struct python_input in;
	unsigned long long thread;
	unsigned version;

	if (access(PYTHON, X_OK) != 0)
		SKIP("no " PYTHON);
	REQUIRE(live_start(&l));
	EXPECT_EQ(l.table.interpreter.number, INTERPRETER_PYTHON_3_11);
	REQUIRE(fscanf(l.said, "%llx %x\n", &thread, &version) == 2);
	l.thread = thread;
	procfs_each_map((uint32_t)l.pid, find_runtime, &l);
	in = input_of(&l); /* all is told at once, and nothing else of Python runs after that */
	python_walk_frames(&in, &found);
	EXPECT_EQ(found.failed, 0);
	/* The module, called_back of libffi, key of sorted, and the generator of next. */
	EXPECT_EQ(found.n_loops, 4);
	compare(&l, &found);

	/* Another thread's state is not taken for this one's. */
	in.thread = thread + 4096;
	python_walk_frames(&in, &found);
	EXPECT_EQ(found.n, 0);
	EXPECT_EQ(found.failed, SCRIPT_NO_STATE);
	in.thread = thread;

	/* Whichever read fails, what is told before it is right, and the walk ends. */
	for (uint32_t i = 1; i < 300; i += 7) {
		l.n_reads = 0;
		l.fail_from = i;
		python_walk_frames(&in, &found);
		EXPECT(found.n <= 512);
	}
	live_stop(&l);
}

TEST(a_version_that_is_not_known)
{
	struct live l = {0};
	uint64_t frames[4];
	struct python_frames found = {.frames = frames, .max = 4};
	struct python_input in = {.interpreter = N_INTERPRETERS, .read = live_read, .ctx = &l};

	python_walk_frames(&in, &found);
	EXPECT_EQ(found.n, 0);
}

/* CPython, Objects/locations.md, "Location entries": one of each form. */
TEST(lines)
{
	static const uint8_t table[] = {
		0x80 | 15 << 3 | 0,		       /* unit 0: none */
		0x80 | 10 << 3 | 1, 0,	      0,       /* 1, 2: the first line */
		0x80 | 3 << 3 | 0,  0,		       /* 3: the same */
		0x80 | 12 << 3 | 0, 0,	      0,       /* 4: two on */
		0x80 | 13 << 3 | 0, 0x40 | 2, 2,       /* 5: 65 on */
		0x80 | 14 << 3 | 7, 3,	      0, 1, 1, /* 6 to 13: one back */
	};
	static const uint32_t want[] = {10, 10, 10, 10, 12, 77, 76, 76};

	for (uint32_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		EXPECT_EQ(python_line(table, sizeof(table), 10, i), want[i]);
	EXPECT_EQ(python_line(table, sizeof(table), 10, 13), 76);
	EXPECT_EQ(python_line(table, sizeof(table), 10, 14), 0);
	EXPECT_EQ(python_line(table, 1, 10, 1), 0);
	EXPECT_EQ(python_line((const uint8_t[]){0x80 | 10 << 3, 0, 0, 0xf8}, 4, 10, 1), 0);
	for (size_t n = 0; n < sizeof(table); n++) /* cut anywhere */
		python_line(table, n, 10, 100);
}
