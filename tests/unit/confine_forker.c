/* SPDX-License-Identifier: BSD-2-Clause */
/* Children of the forker: what they can do, what ends them, and what is told of that. */
#include "confine/forker.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "confine/filter.h"
#include "t.h"

#define SECOND_NS 1000000000ull

enum { COPY, OPEN, FORK, CRASH, EAT, ENDLESS, WRITE, STALL, FAIL, OPENER, BRIEF, AGAIN, N_JOBS };

static int copy(const struct confine_files *f, const uint8_t *arg, size_t n_arg, struct wr *ret,
		struct err *err)
{
	uint8_t b[3000];
	ssize_t n = pread(f->fd[0], b, sizeof(b), 0);

	if (n < 0)
		return -errno;
	wr_bytes(ret, b, (size_t)n);
	wr_bytes(ret, arg, n_arg);
	return 0;
}

static int open_more(const struct confine_files *f, const uint8_t *arg, size_t n_arg,
		     struct wr *ret, struct err *err)
{
	return open("/etc/passwd", O_RDONLY) < 0 ? -errno : 0;
}

static int fork_more(const struct confine_files *f, const uint8_t *arg, size_t n_arg,
		     struct wr *ret, struct err *err)
{
	return fork() < 0 ? -errno : 0;
}

static int crash(const struct confine_files *f, const uint8_t *arg, size_t n_arg, struct wr *ret,
		 struct err *err)
{
	raise(SIGKILL);
	return 0;
}

static int eat(const struct confine_files *f, const uint8_t *arg, size_t n_arg, struct wr *ret,
	       struct err *err)
{
	for (;;)
		memset(xmalloc(1 << 20), 1, 1 << 20);
	return 0;
}

static int never_end(const struct confine_files *f, const uint8_t *arg, size_t n_arg,
		     struct wr *ret, struct err *err)
{
	for (volatile unsigned i = 0;; i++)
		;
	return 0;
}

static int write_much(const struct confine_files *f, const uint8_t *arg, size_t n_arg,
		      struct wr *ret, struct err *err)
{
	static const uint8_t zeros[4096];

	for (int i = 0; i < 1000; i++)
		wr_bytes(ret, zeros, sizeof(zeros));
	return 0;
}

static int fail(const struct confine_files *f, const uint8_t *arg, size_t n_arg, struct wr *ret,
		struct err *err)
{
	return err_set(err, -EBADMSG, "nothing in it");
}

/* As reading a file of FUSE may end. */
static int say_again(const struct confine_files *f, const uint8_t *arg, size_t n_arg,
		     struct wr *ret, struct err *err)
{
	return -EAGAIN;
}

/* Opening it takes for ever, as on a file system that does not answer. */
static void stall(const uint8_t *arg, size_t n_arg, struct confine_files *ret)
{
	for (;;)
		pause();
}

static void open_named(const uint8_t *arg, size_t n_arg, struct confine_files *ret)
{
	ret->n = 1;
	ret->path[0] = open((const char *)arg, O_PATH | O_CLOEXEC);
	ret->fd[0] = open((const char *)arg, O_RDONLY | O_CLOEXEC);
}

#define JOB(what) .run = what, .memory = 8 << 20, .most_answer = 4096, .cpu_s = 1, .wall_s = 60

static struct confine_job jobs[N_JOBS] = {
	[COPY] = {JOB(copy)},
	[OPEN] = {JOB(open_more)},
	[FORK] = {JOB(fork_more)},
	[CRASH] = {JOB(crash)},
	[EAT] = {JOB(eat)},
	[ENDLESS] = {JOB(never_end)},
	[WRITE] = {JOB(write_much)},
	[STALL] = {.open = stall, .run = copy, .wall_s = 1, .cpu_s = 1, .memory = 8 << 20},
	[FAIL] = {JOB(fail)},
	[OPENER] = {.open = open_named, JOB(copy)},
	[AGAIN] = {JOB(say_again)},
	[BRIEF] = {.run = copy, .wall_s = 1, .cpu_s = 1, .memory = 8 << 20, .most_answer = 4096},
};

static struct forker *forker;
static int file;

/* So many forks of any process of this test fail, as at a limit of processes. */
static int *n_refused_forks;

pid_t fork(void)
{
	pid_t (*real)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");

	if (n_refused_forks && __atomic_fetch_sub(n_refused_forks, 1, __ATOMIC_SEQ_CST) > 0) {
		errno = EAGAIN;
		return -1;
	}
	return real();
}

static void refuse_forks(int n)
{
	if (!n_refused_forks)
		n_refused_forks = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	REQUIRE(n_refused_forks != MAP_FAILED);
	*n_refused_forks = n;
}

/* Sanitizers need memory and system calls that a child does not have. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool is_sanitized = true;
#else
static const bool is_sanitized;
#endif

static bool begin(void)
{
	char path[] = "/tmp/dwell-forker-XXXXXX";

	if (geteuid() != 0 || is_sanitized)
		return false;
	file = mkstemp(path);
	unlink(path);
	EXPECT_EQ(write(file, "text", 4), 4);
	EXPECT_EQ(forker_start(jobs, N_JOBS, &forker, NULL), 0);
	return true;
}

static void end(void)
{
	forker_free(forker);
	forker = NULL;
	close(file);
}

static struct confine_ask *ask(unsigned kind, const char *arg)
{
	return forker_ask(forker, kind, &file, jobs[kind].open ? 0 : 1, arg, strlen(arg) + 1);
}

/* Asks and waits as long as a slow machine may need. */
static struct confine_ask *ask_and_wait(unsigned kind, const char *arg)
{
	struct confine_ask *a = ask(kind, arg);
	uint64_t end_ns = clock_mono_ns() + 60 * SECOND_NS;

	while (a->state != ASK_DONE && clock_mono_ns() < end_ns)
		forker_step(forker, end_ns);
	EXPECT_EQ(a->state, ASK_DONE);
	return a;
}

static int result(unsigned kind)
{
	struct confine_ask *a = ask_and_wait(kind, "");
	int rc = a->rc;

	forker_forget(forker, a);
	return rc;
}

static int signal_of(unsigned kind)
{
	struct confine_ask *a = ask_and_wait(kind, "");
	int sig = a->by_signal;

	EXPECT_EQ(a->rc, -EPROTO);
	forker_forget(forker, a);
	return sig;
}

TEST(answers_are_what_the_child_wrote)
{
	struct confine_ask *a;
	char text[20] = "";

	if (!begin())
		SKIP("needs root, and no sanitizer");
	a = ask_and_wait(COPY, "and more");
	EXPECT_EQ(a->rc, 0);
	EXPECT_EQ(a->n_answer, 13);
	EXPECT_EQ(pread(a->answer_fd, text, 13, 4), 13);
	EXPECT_STR(text, "textand more");
	forker_forget(forker, a);
	EXPECT_EQ(result(FAIL), -EBADMSG);
	EXPECT_EQ(result(AGAIN), -EPROTO); /* not "ask again" */
	end();
}

/* Who asks is kept from looking for longer than a child may take. */
TEST(an_answer_waits_to_be_taken)
{
	struct confine_ask *a;

	if (!begin())
		SKIP("needs root, and no sanitizer");
	a = ask(BRIEF, "");
	usleep(3500000);
	forker_step(forker, 0);
	EXPECT_EQ(a->state, ASK_DONE);
	EXPECT_EQ(a->rc, 0);
	forker_forget(forker, a);
	end();
}

TEST(a_child_has_no_rights)
{
	struct confine_ask *a;
	char text[4000] = "";

	if (!begin())
		SKIP("needs root, and no sanitizer");
	a = ask_and_wait(OPENER, "/proc/self/status"); /* is written when it is read */
	EXPECT_EQ(a->rc, 0);
	EXPECT(pread(a->answer_fd, text, sizeof(text) - 1, 4) > 0);
	EXPECT(strncmp(text, "Name:\tdwell-reader\n", 18) == 0);
	EXPECT(!strstr(text, "\nUid:\t0\t") && !strstr(text, "\nGid:\t0\t"));
	EXPECT(strstr(text, "\nGroups:\t \n"));
	EXPECT(strstr(text, "\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n"));
	EXPECT(strstr(text, "\nNoNewPrivs:\t1\nSeccomp:\t2\n"));
	forker_forget(forker, a);
	EXPECT_EQ(signal_of(OPEN), SIGSYS);
	EXPECT_EQ(signal_of(FORK), SIGSYS);
	end();
}

/* What the child that job KIND makes reads of a file of /proc that is about itself. */
static const char *own_proc_file(unsigned kind, const char *path)
{
	static char text[4000];
	struct confine_ask *a = ask_and_wait(kind, path);

	memset(text, 0, sizeof(text));
	EXPECT_EQ(a->rc, 0);
	EXPECT(pread(a->answer_fd, text, sizeof(text) - 1, 4) > 0);
	forker_forget(forker, a);
	return text;
}

/* Field 19 of proc(5) /proc/PID/stat. */
static int niceness_in(const char *stat)
{
	const char *p = strrchr(stat, ')');
	int nice = 99;

	for (int i = 0; p && i < 17; i++)
		p = strchr(p + 1, ' ');
	EXPECT(p && sscanf(p, "%d", &nice) == 1);
	return nice;
}

/* The soft limit in proc(5) /proc/PID/limits; -1 unlimited or not there. */
static long limit_in(const char *limits, const char *name)
{
	const char *p = strstr(limits, name);
	long n;

	return p && sscanf(p + strlen(name), "%ld", &n) == 1 ? n : -1;
}

TEST(a_child_takes_little)
{
	const char *limits;

	if (!begin())
		SKIP("needs root, and no sanitizer");
	EXPECT(atoi(own_proc_file(OPENER, "/proc/self/oom_score_adj")) == 1000);
	EXPECT_EQ(niceness_in(own_proc_file(OPENER, "/proc/self/stat")), 19);
	limits = own_proc_file(OPENER, "/proc/self/limits");
	EXPECT_EQ(limit_in(limits, "Max cpu time"), 1);
	EXPECT_EQ(limit_in(limits, "Max open files"), 0);
	EXPECT_EQ(limit_in(limits, "Max core file size"), 0);
	EXPECT(limit_in(limits, "Max address space") > (8 << 20));
	EXPECT(limit_in(limits, "Max file size") <= 8192);
	end();
}

/* The niceness of a child of those that are lent OPENER_MS in all, after one that had 900 ms; 99:
 * no children can be made here. */
static int niceness_after_900(unsigned opener_ms)
{
	int nice = 99;

	jobs[ENDLESS].lent_ms = 900;
	jobs[ENDLESS].lent_in_all_ms = 1000;
	jobs[OPENER].lent_ms = jobs[OPENER].lent_in_all_ms = opener_ms;
	if (begin()) {
		EXPECT(niceness_in(own_proc_file(OPENER, "/proc/self/stat")) >= 0);
		EXPECT_EQ(signal_of(ENDLESS), SIGXCPU); /* after a second */
		nice = niceness_in(own_proc_file(OPENER, "/proc/self/stat"));
		end();
	}
	jobs[ENDLESS].lent_ms = jobs[OPENER].lent_ms = 0;
	return nice;
}

/* Where somebody waits at a screen a file's reader is no more urgent than any other process, and
 * less so when readers together have had what is lent to them: it comes back at 1 %. */
TEST(what_is_lent_to_children_ends)
{
	const int nice = niceness_after_900(500); /* 40 s later some is back */

	if (nice == 99)
		SKIP("needs root, and no sanitizer");
	EXPECT_EQ(nice, 19);
}

/* What is left is lent, also where it is less than a child may have. */
TEST(the_rest_is_lent_to_children)
{
	const int nice = niceness_after_900(1000);

	if (nice == 99)
		SKIP("needs root, and no sanitizer");
	EXPECT(nice < 19);
}

/* The packaged unit's MemoryMax, in bytes. */
static size_t unit_memory(void)
{
	FILE *f = fopen(T_GOLDEN "/../../src/daemon/dwelld.service.in", "re");
	size_t mib = 0;
	char line[300];

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "MemoryMax=%zuM", &mib);
	if (f)
		fclose(f);
	return mib << 20;
}

/* All children at their limits, and the daemon at its own, are below what the unit allows. */
TEST(limits_add_up)
{
	static const size_t lanes[CONFINE_N_LANES] = CONFINE_LANE_BYTES;
	const size_t daemon = (size_t)64 << 20; /* docs/design/daemon.md: 60 MB */
	size_t sum = 0;

	for (unsigned i = 0; i < CONFINE_N_LANES; i++)
		sum += lanes[i];
	EXPECT(unit_memory() > 0);
	EXPECT(sum + daemon < unit_memory());
}

TEST(a_child_ends_and_is_told_of)
{
	if (!begin())
		SKIP("needs root, and no sanitizer");
	EXPECT_EQ(signal_of(CRASH), SIGKILL);
	EXPECT_EQ(signal_of(ENDLESS), SIGXCPU);
	EXPECT_EQ(signal_of(WRITE), SIGXFSZ);
	EXPECT_EQ(signal_of(STALL), SIGALRM);
	EXPECT_EQ(signal_of(EAT), SIGABRT);
	EXPECT_EQ(result(COPY), 0);
	end();
}

TEST(files_a_child_opened_come_back)
{
	struct confine_ask *a;
	struct stat here, there;

	if (!begin())
		SKIP("needs root, and no sanitizer");
	a = ask_and_wait(OPENER, "/etc/passwd");
	EXPECT_EQ(a->rc, 0);
	REQUIRE(a->n_files == 1);
	EXPECT_EQ(fstat(a->files[0], &there), 0);
	EXPECT_EQ(stat("/etc/passwd", &here), 0);
	EXPECT_EQ(here.st_ino, there.st_ino);
	EXPECT(fcntl(a->files[0], F_GETFL) & O_PATH);
	forker_forget(forker, a);
	end();
}

/* One that waits for ever is no reason for others to wait. */
TEST(others_go_on_beside_one_that_stalls)
{
	struct confine_ask *a;

	if (!begin())
		SKIP("needs root, and no sanitizer");
	a = ask(STALL, "");
	EXPECT_EQ(result(COPY), 0);
	forker_forget(forker, a);
	for (int i = 0; i < 40; i++)
		forker_forget(forker, ask(COPY, ""));
	EXPECT_EQ(result(COPY), 0);
	end();
}

/* That a machine has no room for one more process is not a file's fault. */
TEST(a_child_that_cannot_be_made_is_made_later)
{
	struct confine_ask *a;

	refuse_forks(0);
	if (!begin())
		SKIP("needs root, and no sanitizer");
	refuse_forks(3);
	a = ask(COPY, "");
	while (!forker_refused(forker))
		REQUIRE(forker_step(forker, clock_mono_ns() + 60 * SECOND_NS));
	EXPECT_EQ(forker_refused(forker), EAGAIN);
	EXPECT_EQ(a->state, ASK_QUEUED);
	forker_forget(forker, a);
	EXPECT_EQ(result(COPY), 0); /* the second and third are refused meanwhile */
	EXPECT_EQ(forker_refused(forker), 0);
	refuse_forks(1);
	forker_forget(forker, ask(COPY, "")); /* nobody wants it any more */
	EXPECT_EQ(result(COPY), 0);
	EXPECT(*n_refused_forks < 0);
	end();
}

TEST(its_death_is_noticed)
{
	struct confine_ask *a;
	uint64_t end_ns;
	pid_t pid;

	if (!begin())
		SKIP("needs root, and no sanitizer");
	a = ask(STALL, "");
	pid = forker_pid(forker);
	kill(pid, SIGKILL);
	end_ns = clock_mono_ns() + 60 * SECOND_NS;
	while (forker_lives(forker) && clock_mono_ns() < end_ns)
		forker_step(forker, end_ns);
	EXPECT(!forker_lives(forker));
	EXPECT_EQ(a->rc, -EPIPE);
	forker_forget(forker, a);
	end();
}

static void *end_at_once(void *arg)
{
	return arg;
}

/* In a child of this test: what the daemon keeps, and nothing else. */
TEST(the_daemons_filter)
{
	pthread_t thread;
	pid_t pid;
	int status;

	if (is_sanitized)
		SKIP("there is no filter under sanitizers");
	pid = fork();
	if (pid == 0) {
		bool good = filter_daemon(NULL) == 0;

		good &= open("/etc/passwd", O_RDONLY) >= 0;
		good &= fork() < 0 && errno == EPERM;
		good &= pthread_create(&thread, NULL, end_at_once, NULL) == 0 &&
			pthread_join(thread, NULL) == 0;
		good &= execl("/bin/true", "true", NULL) < 0 && errno == EPERM;
		good &= syscall(SYS_setresuid, 1, 1, 1) < 0 && errno == EPERM;
		good &= syscall(SYS_mount, 0, 0, 0, 0, 0) < 0 && errno == EPERM;
		_exit(!good);
	}
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
}
