/* SPDX-License-Identifier: BSD-2-Clause */
/* Stops threads of the processes called COMM again and again, copies the stack, and compares the
 * walk of that copy by our tables with what elfutils' unwinder finds in the stopped thread.  Only
 * those that its own parent started, at whatever remove: others are not a test's to stop.
 *
 *     stackcmp COMM SECONDS
 *
 * Prints one JSON object: how many stacks were compared and were the same; how many of the others
 * ended earlier or later on our side, or went elsewhere; our causes.  The first few that differ are
 * shown on stderr, frame by frame.  */
#include <dirent.h>
#include <elf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/vec.h"
#include "resolve/elf_unwind.h"
#include "unwind/walk_host.h"

#define MAX_FRAMES	4096
#define MAX_STACK_BYTES (8u << 20)
#define N_SHOWN		10

struct file {
	char *path;
	uint32_t number; /* of the image; WALK_UNKNOWN_FILE: no table */
};

struct frames {
	uint64_t v[MAX_FRAMES];
	uint32_t n;
};

static struct {
	pid_t pid;
	VEC(struct walk_region) regions;
	VEC(struct file) files;
	char *maps; /* the executable ones as they were read last */
	struct unwind_memory mem;
	uint32_t n_words, n_rules, n_images;
	Dwfl *dwfl;
} g;

static struct {
	unsigned long stacks, same, frames;
	unsigned long shorter, longer, different; /* ours, where not the same */
	unsigned long causes[CHAIN_N_CAUSES];
	unsigned shown;
} total;

/* --- our side: what is mapped, and the tables --- */

static bool publish(const struct unwind_table *t, uint32_t number)
{
	uint32_t n = t->n_blocks + 1 + t->n_rows;
	uint32_t *words;

	if (g.n_rules + t->n_rules > UNWIND_N_RULES)
		return false;
	g.mem.words = xrealloc(g.mem.words, g.n_words + n, sizeof(*words));
	words = g.mem.words + g.n_words;
	memcpy(words, t->blocks, (t->n_blocks + 1) * sizeof(*words));
	for (uint32_t i = 0; i < t->n_rows; i++)
		words[t->n_blocks + 1 + i] = t->rows[i].start | (g.n_rules + t->rows[i].rule) << 16;
	memcpy(g.mem.rules + g.n_rules, t->rules, t->n_rules * sizeof(*t->rules));
	g.mem.images[number] = (struct unwind_image){.first_off = t->first_off,
						     .n_blocks = t->n_blocks,
						     .blocks_at = g.n_words,
						     .rows_at = g.n_words + t->n_blocks + 1};
	g.n_rules += t->n_rules;
	g.n_words += n;
	g.mem.n_words = g.n_words;
	return true;
}

static uint32_t number_of(const char *path, uint64_t start, uint64_t end)
{
	_mem_ char *link = xasprintf("/proc/%d/map_files/%lx-%lx", g.pid, (long)start, (long)end);
	struct unwind_table t;
	struct file f = {.path = xstrdup(path), .number = WALK_UNKNOWN_FILE};
	int rc;

	vec_each (known, &g.files)
		if (strcmp(known->path, path) == 0) {
			free(f.path);
			return known->number;
		}
	if (strcmp(path, "[vdso]") == 0) {
		_mem_ uint8_t *bytes = xcalloc(1, end - start);
		struct iovec to = {bytes, end - start}, from = {(void *)start, end - start};

		rc = process_vm_readv(g.pid, &to, 1, &from, 1, 0) < 0
			     ? -errno
			     : elf_unwind_load_bytes(bytes, end - start, &t, NULL);
	} else {
		_fd_ int fd = open(link, O_RDONLY | O_CLOEXEC);

		if (fd < 0) { /* the process has ended: another one will tell */
			free(f.path);
			return WALK_UNKNOWN_FILE;
		}
		rc = elf_unwind_load(fd, &t, NULL);
	}
	if (rc == 0) {
		if (publish(&t, g.n_images))
			f.number = g.n_images++;
		unwind_table_release(&t);
	}
	vec_push(&g.files, f);
	return f.number;
}

static void add_mapping(const char *line)
{
	unsigned long start, end, off, ino;
	struct walk_region r;
	char name[4096] = "";

	if (sscanf(line, "%lx-%lx %*s %lx %*s %lu %4095[^\n]", &start, &end, &off, &ino, name) < 4)
		return;
	r = (struct walk_region){.start = start, .end = end, .bias = off - start};
	if (ino || strcmp(name, "[vdso]") == 0)
		r.image = number_of(name, start, end);
	vec_push(&g.regions, r);
}

/* Reads the executable mappings when they changed and tells elfutils; false when it cannot, for
 * instance because the process has ended. */
static bool read_maps(void)
{
	_mem_ char *path = xasprintf("/proc/%d/maps", g.pid);
	_mem_ char *text = NULL;
	char *to;

	if (file_load(path, 64 << 20, &text, NULL, NULL) < 0)
		return false;
	to = text;
	for (char *line = text, *next; *line; line = next) {
		next = strchr(line, '\n') + 1;
		if (memcmp(strchr(line, ' ') + 3, "x", 1) == 0) {
			memmove(to, line, (size_t)(next - line));
			to += next - line;
		}
	}
	*to = '\0';
	if (g.maps && strcmp(g.maps, text) == 0)
		return true;
	free(g.maps);
	g.maps = xstrdup(text);
	g.regions.n = 0;
	for (char *line = g.maps; *line; line = strchr(line, '\n') + 1)
		add_mapping(line);
	dwfl_report_begin(g.dwfl);
	return dwfl_linux_proc_report(g.dwfl, g.pid) == 0 &&
	       dwfl_report_end(g.dwfl, NULL, NULL) == 0;
}

static bool find_region(void *ctx, uint64_t avma, struct walk_region *ret)
{
	(void)ctx;
	vec_each (r, &g.regions)
		if (avma >= r->start && avma < r->end) {
			*ret = *r;
			return true;
		}
	return false;
}

static bool read_code(void *ctx, uint64_t avma, uint64_t *ret)
{
	struct iovec to = {ret, 8}, from = {(void *)avma, 8};

	(void)ctx;
	return process_vm_readv(g.pid, &to, 1, &from, 1, 0) == 8;
}

/* What a walk calls the frame at AVMA; 0 outside of all mappings. */
static uint64_t frame_of(uint64_t avma)
{
	struct walk_region r;

	if (!find_region(NULL, avma, &r))
		return 0;
	if (r.image == WALK_ANONYMOUS || r.image == WALK_UNKNOWN_FILE)
		return avma & FRAME_OFF_MASK;
	return (uint64_t)r.image << FRAME_IMAGE_SHIFT | ((avma + r.bias) & FRAME_OFF_MASK);
}

static enum chain_cause walk_ours(const struct user_regs_struct *u, struct frames *ret)
{
	struct walk_input in = {.machine = EM_X86_64,
				.regs = {u->rax, u->rdx, u->rcx, u->rbx, u->rsi, u->rdi, u->rbp,
					 u->rsp, u->r8, u->r9, u->r10, u->r11, u->r12, u->r13,
					 u->r14, u->r15, u->rip},
				.memory = &g.mem,
				.find_region = find_region,
				.read_code = read_code};
	_mem_ uint8_t *stack = xmalloc(MAX_STACK_BYTES);
	uint64_t at = u->rsp & ~4095ull;
	enum chain_cause cause;
	struct iovec to, from;

	in.stack = stack;
	in.stack_avma = at;
	while (in.n_bytes < MAX_STACK_BYTES) { /* page by page, to where it ends */
		to = (struct iovec){stack + in.n_bytes, 4096};
		from = (struct iovec){(void *)(at + in.n_bytes), 4096};
		if (process_vm_readv(g.pid, &to, 1, &from, 1, 0) != 4096)
			break;
		in.n_bytes += 4096;
	}
	cause = walk_stack(&in, ret->v, MAX_FRAMES, &ret->n);
	for (uint32_t i = 0; i < ret->n; i++)
		ret->v[i] &= ~FRAME_GUESSED;
	return cause;
}

/* --- their side --- */

static int add_theirs(Dwfl_Frame *frame, void *arg)
{
	struct frames *f = arg;
	Dwarf_Addr pc;
	bool exact;

	if (!dwfl_frame_pc(frame, &pc, &exact) || f->n == MAX_FRAMES)
		return DWARF_CB_ABORT;
	f->v[f->n++] = pc - !exact;
	return DWARF_CB_OK;
}

/* --- threads --- */

static pid_t choose_thread(void)
{
	_mem_ char *path = xasprintf("/proc/%d/task", g.pid);
	DIR *d = opendir(path);
	struct dirent *e;
	pid_t tid = 0;
	unsigned n = 0;

	if (!d)
		return 0;
	while ((e = readdir(d)))
		if (e->d_name[0] != '.' && rand() % ++n == 0)
			tid = atoi(e->d_name);
	closedir(d);
	return tid;
}

static bool stop_thread(pid_t tid)
{
	int status;

	if (ptrace(PTRACE_SEIZE, tid, 0, 0) < 0)
		return false;
	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0) < 0 || waitpid(tid, &status, __WALL) != tid)
		return false;
	return WIFSTOPPED(status);
}

static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
					 .find_debuginfo = dwfl_standard_find_debuginfo};

static void show(pid_t tid, const struct frames *ours, enum chain_cause cause,
		 const struct frames *theirs, const char *why)
{
	fprintf(stderr, "thread %d: ours %u frames, cause %d; theirs %u (%s)\n", tid, ours->n,
		cause, theirs->n, why);
	for (uint32_t i = 0; i < ours->n || i < theirs->n; i++) {
		uint64_t t = i < theirs->n ? theirs->v[i] : 0, o = i < ours->n ? ours->v[i] : 0;
		Dwfl_Module *m = dwfl_addrmodule(g.dwfl, t);
		const char *name = m ? dwfl_module_addrname(m, t) : NULL;

		fprintf(stderr, "  %3u %#18lx %#18lx%s %#lx %s\n", i, (long)o, (long)frame_of(t),
			o == frame_of(t) ? "" : " <--", (long)t, name ? name : "");
	}
}

/* --- processes --- */

static pid_t parent_of(pid_t pid)
{
	_mem_ char *path = xasprintf("/proc/%d/stat", pid);
	_mem_ char *text = NULL;
	const char *behind_name;
	int parent;

	if (file_load(path, 4096, &text, NULL, NULL) < 0 || !(behind_name = strrchr(text, ')')))
		return 0;
	/* man 5 proc: pid (comm) state ppid */
	return sscanf(behind_name, ") %*c %d", &parent) == 1 ? parent : 0;
}

static bool is_descendant(pid_t pid, pid_t of)
{
	while (pid > 1 && (pid = parent_of(pid)) != of)
		;
	return pid == of;
}

/* Any process whose name is COMM, among those that our parent started; 0. */
static pid_t choose_process(const char *comm)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	pid_t pid = 0;
	unsigned n = 0;

	while (d && (e = readdir(d))) {
		_mem_ char *path = xasprintf("/proc/%s/comm", e->d_name);
		_mem_ char *text = NULL;

		if (atoi(e->d_name) <= 0 || file_load(path, 64, &text, NULL, NULL) < 0)
			continue;
		text[strcspn(text, "\n")] = '\0';
		if (strcmp(text, comm) == 0 && is_descendant(atoi(e->d_name), getppid()) &&
		    rand() % ++n == 0)
			pid = atoi(e->d_name);
	}
	closedir(d);
	return pid;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Compares a stack of a thread that is stopped. */
static void compare(pid_t tid)
{
	static struct frames ours, theirs;
	struct user_regs_struct regs;
	struct iovec iov = {&regs, sizeof(regs)};
	enum chain_cause cause;
	uint32_t common = 0;
	const char *why;

	if (!read_maps() || ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &iov) < 0)
		return;
	ours.n = theirs.n = 0;
	cause = walk_ours(&regs, &ours);
	dwfl_getthread_frames(g.dwfl, tid, add_theirs, &theirs);
	if (theirs.n == 0)
		return; /* the process is ending: nothing to compare with */
	while (common < ours.n && common < theirs.n && ours.v[common] == frame_of(theirs.v[common]))
		common++;
	total.stacks++;
	total.frames += ours.n;
	total.causes[cause]++;
	if (common == ours.n && common == theirs.n) {
		total.same++;
		return;
	}
	if (common == ours.n) {
		total.shorter++;
		why = "we end earlier";
	} else if (common == theirs.n) {
		total.longer++;
		why = "they end earlier";
	} else {
		total.different++;
		why = "different";
	}
	if (total.shown++ < N_SHOWN)
		show(tid, &ours, cause, &theirs, why);
}

/* Compares stacks of process PID until it ends or UNTIL_NS. */
static void visit(pid_t pid, uint64_t until_ns)
{
	g.pid = pid;
	g.dwfl = dwfl_begin(&callbacks);
	if (read_maps() && dwfl_linux_proc_attach(g.dwfl, pid, true) == 0) {
		for (pid_t tid; now_ns() < until_ns && (tid = choose_thread());) {
			struct timespec nap = {.tv_nsec = 100000 + rand() % 900000};

			nanosleep(&nap, NULL);
			if (!stop_thread(tid))
				break;
			compare(tid);
			ptrace(PTRACE_DETACH, tid, 0, 0);
		}
	}
	dwfl_end(g.dwfl);
	free(g.maps);
	g.maps = NULL;
}

int main(int argc, char **argv)
{
	uint64_t until_ns;

	if (argc != 3) {
		fprintf(stderr, "usage: stackcmp COMM SECONDS\n");
		return 2;
	}
	srand(1);
	g.mem.rules = xcalloc(UNWIND_N_RULES, sizeof(*g.mem.rules));
	g.mem.images = xcalloc(FRAME_MAX_IMAGES + 1, sizeof(*g.mem.images));
	g.mem.n_images = FRAME_MAX_IMAGES + 1;
	g.n_rules = g.n_images = 1;
	until_ns = now_ns() + (uint64_t)atoi(argv[2]) * 1000000000;
	while (now_ns() < until_ns) {
		pid_t pid = choose_process(argv[1]);

		if (pid)
			visit(pid,
			      now_ns() + 500000000 < until_ns ? now_ns() + 500000000 : until_ns);
		else
			usleep(1000);
	}
	printf("{\"stacks\": %lu, \"same\": %lu, \"frames\": %lu, \"shorter\": %lu, \"longer\": "
	       "%lu, "
	       "\"different\": %lu, \"causes\": [",
	       total.stacks, total.same, total.frames, total.shorter, total.longer,
	       total.different);
	for (int i = 0; i < CHAIN_N_CAUSES; i++)
		printf("%s%lu", i ? ", " : "", total.causes[i]);
	printf("]}\n");
	return 0;
}
