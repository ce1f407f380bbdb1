/* SPDX-License-Identifier: BSD-2-Clause */
/* The step over CPython's frames, by a live interpreter: python_stack.py says what its stack is. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/rd.h"
#include "base/wr.h"
#include "collect/calls/scripts.h"
#include "machine/procfs.h"
#include "model/script.h"
#include "resolve/elf_unwind.h"
#include "unwind/chain.h"
#include "unwind/python_host.h"
#include "unwind/python_lines.h"

#include "t.h"

#define PYTHON "/usr/bin/python3.11"

/* A live interpreter, or a picture of one: what a walk over it has read, and what it says of its
 * stack.  tests/unit/python_picture makes one. */
struct live {
	pid_t pid;
	FILE *said;
	int to; /* its stdin */
	const char *image;
	uint64_t runtime, thread;
	struct unwind_table table;
	struct scripts scripts;
	uint32_t n_told, n_reads;
	uint32_t fail_from; /* reads from this one on fail; 0: none */
	struct wr *picture; /* being made; NULL: none */
	struct rd shown;    /* the reads that a picture has; of no bytes: it is live */
};

/* Finds the read of N bytes at AVMA in the picture. */
static bool picture_read(const struct live *l, uint64_t avma, void *ret, uint32_t n)
{
	struct rd r = l->shown;

	while (rd_left(&r)) {
		const uint64_t at = rd_le64(&r);
		const uint32_t n_bytes = rd_le32(&r);
		const uint8_t *bytes = rd_bytes(&r, n_bytes);

		if (bytes && at == avma && n_bytes == n) {
			memcpy(ret, bytes, n);
			return true;
		}
	}
	return false;
}

static bool live_read(void *ctx, uint64_t avma, void *ret, uint32_t n)
{
	struct live *l = ctx;
	struct iovec to = {ret, n}, from = {(void *)(uintptr_t)avma, n};

	if (l->fail_from && ++l->n_reads >= l->fail_from)
		return false;
	if (!l->pid)
		return picture_read(l, avma, ret, n);
	if (process_vm_readv(l->pid, &to, 1, &from, 1, 0) != (ssize_t)n)
		return false;
	if (l->picture) {
		wr_le64(l->picture, avma);
		wr_le32(l->picture, n);
		wr_bytes(l->picture, ret, n);
	}
	return true;
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

	if (strcmp(m->path, l->image) == 0)
		l->runtime = l->table.interpreter.anchor - (m->off - m->start);
}

/* Starts the interpreter COMMAND, whose loop is in IMAGE. */
static bool live_start(struct live *l, const char *command, const char *image)
{
	_mem_ char *line = xasprintf("exec %s", command);
	int in[2], out[2], fd = open(image, O_RDONLY | O_CLOEXEC);
	int rc = fd < 0 ? -errno : elf_unwind_load(fd, &l->table, NULL);

	l->image = image;
	if (fd >= 0)
		close(fd);
	if (rc < 0 || pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		return false;
	l->pid = fork();
	if (l->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl("/bin/sh", "sh", "-c", line, (char *)NULL);
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
	while (fgets(line, sizeof(line), l->said)) {
		if (l->picture)
			wr_bytes(l->picture, line, strlen(line));
		if (sscanf(line, "%u %u %299[^\n]", &at, &first, name) != 3)
			break;
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

/* Starts COMMAND, and finds out where its state is. */
static void live_meet(struct live *l, const char *command, const char *image)
{
	unsigned long long thread;
	unsigned version;

	REQUIRE(live_start(l, command, image));
	REQUIRE(fscanf(l->said, "%llx %x\n", &thread, &version) == 2);
	l->thread = thread;
	procfs_each_map((uint32_t)l->pid, find_runtime, l);
}

/* tests/unit/python_picture says how. */
TEST(a_picture_is_made)
{
	const char *to = getenv("DWELL_PICTURE_TO");
	struct live l = {0};
	uint64_t frames[512];
	struct python_frames found = {.frames = frames, .max = 512};
	struct wr reads = {0}, text = {0}, all = {0};
	struct python_input in;
	FILE *f;

	if (!to)
		SKIP("none is asked for");
	live_meet(&l, getenv("DWELL_PICTURE_OF"), getenv("DWELL_PICTURE_IMAGE"));
	in = input_of(&l);
	l.picture = &reads;
	python_walk_frames(&in, &found);
	l.picture = &text;
	compare(&l, &found);
	EXPECT_EQ(found.failed, 0);
	wr_le32(&all, in.interpreter);
	wr_le64(&all, in.runtime);
	wr_le64(&all, in.thread);
	wr_le32(&all, found.n_loops);
	wr_le32(&all, (uint32_t)reads.n);
	wr_bytes(&all, reads.v, reads.n);
	wr_bytes(&all, text.v, text.n);
	f = fopen(to, "we");
	REQUIRE(f);
	EXPECT_EQ(fwrite(all.v, 1, all.n, f), all.n);
	fclose(f);
	wr_release(&reads);
	wr_release(&text);
	wr_release(&all);
	live_stop(&l);
}

static void look_at_picture(const char *version)
{
	_mem_ char *path = xasprintf("%s/python/%s", T_GOLDEN, version);
	_mem_ char *bytes = NULL;
	struct live l = {0};
	uint64_t frames[512];
	struct python_frames found = {.frames = frames, .max = 512};
	struct python_input in;
	struct rd r;
	uint32_t n_loops, n_reads;
	size_t n;

	REQUIRE(file_load(path, 1 << 20, &bytes, &n, NULL) >= 0);
	r = rd_init(bytes, n);
	l.table.interpreter.number = rd_le32(&r);
	l.runtime = rd_le64(&r);
	l.thread = rd_le64(&r);
	n_loops = rd_le32(&r);
	n_reads = rd_le32(&r);
	l.shown = rd_init(rd_bytes(&r, n_reads), n_reads);
	REQUIRE(!r.bad);
	in = input_of(&l);
	python_walk_frames(&in, &found);
	EXPECT_EQ(found.failed, 0);
	EXPECT_EQ(found.n_loops, n_loops);
	EXPECT(found.n > 30);
	l.said = fmemopen(bytes + rd_off(&r), rd_left(&r), "r");
	compare(&l, &found);
	fclose(l.said);
	scripts_release(&l.scripts);
}

TEST(pictures)
{
	static const char *const versions[] = {"3.8",  "3.9",  "3.10", "3.11",
					       "3.12", "3.13", "3.14"};

	for (size_t i = 0; i < n_elems(versions); i++)
		look_at_picture(versions[i]);
}

TEST(a_live_stack)
{
	struct live l = {0};
	uint64_t frames[512];
	struct python_frames found = {.frames = frames, .max = 512};
	struct python_input in;
	uint64_t thread;

	if (access(PYTHON, X_OK) != 0)
		SKIP("no " PYTHON);
	live_meet(&l, PYTHON " " T_GOLDEN "/../unit/python_stack.py", PYTHON);
	EXPECT_EQ(l.table.interpreter.number, INTERPRETER_PYTHON_3_11);
	thread = l.thread;
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
		EXPECT_EQ(python_line(INTERPRETER_PYTHON_3_11, table, sizeof(table), 10, i),
			  want[i]);
	EXPECT_EQ(python_line(INTERPRETER_PYTHON_3_11, table, sizeof(table), 10, 13), 76);
	EXPECT_EQ(python_line(INTERPRETER_PYTHON_3_11, table, sizeof(table), 10, 14), 0);
	EXPECT_EQ(python_line(INTERPRETER_PYTHON_3_11, table, 1, 10, 1), 0);
	EXPECT_EQ(python_line(INTERPRETER_PYTHON_3_11,
			      (const uint8_t[]){0x80 | 10 << 3, 0, 0, 0xf8}, 4, 10, 1),
		  0);
	for (size_t n = 0; n < sizeof(table); n++) /* cut anywhere */
		python_line(INTERPRETER_PYTHON_3_11, table, n, 10, 100);
}

/* CPython 3.9, Objects/lnotab_notes.txt: pairs of bytes of code and lines. */
TEST(lines_of_older_versions)
{
	static const uint8_t table[] = {0, 1, 8, 1, 4, 0xff, 6, 2};
	static const uint8_t table_3_10[] = {4, 0, 4, 1, 2, 0x80, 254, 2};
	static const uint32_t want[] = {11, 11, 11, 11, 12, 12, 11, 11, 11, 13};

	for (uint32_t i = 0; i < n_elems(want); i++)
		EXPECT_EQ(python_line(INTERPRETER_PYTHON_3_8, table, sizeof(table), 10, i),
			  want[i]);
	EXPECT_EQ(python_line(INTERPRETER_PYTHON_3_9, NULL, 0, 10, 5), 10);
	EXPECT_EQ(python_line(INTERPRETER_PYTHON_3_10, table_3_10, sizeof(table_3_10), 10, 1), 10);
	EXPECT_EQ(python_line(INTERPRETER_PYTHON_3_10, table_3_10, sizeof(table_3_10), 10, 2), 11);
	EXPECT_EQ(python_line(INTERPRETER_PYTHON_3_10, table_3_10, sizeof(table_3_10), 10, 4), 0);
	EXPECT_EQ(python_line(INTERPRETER_PYTHON_3_10, table_3_10, sizeof(table_3_10), 10, 5), 13);
	EXPECT_EQ(python_line(INTERPRETER_PYTHON_3_10, table_3_10, sizeof(table_3_10), 10, 132), 0);
}
