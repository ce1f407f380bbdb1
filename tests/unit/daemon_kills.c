/* SPDX-License-Identifier: BSD-2-Clause */
/* A service that is killed at each place where it changes something that outlives it: when it
 * starts, takes over, turns to another log (SIGHUP, a lower rate), begins an epoch, flushes, stops.
 *
 * What is sampled is known exactly: each page that touch() writes to for the first time is one page
 * fault, and each page fault is one sample.  Only this process calls it, and only while some log
 * samples; afterwards each of these samples is stored once.  Page faults of others come and go with
 * the machine's work; of all samples together reached = stored + lost by name.
 *
 * The service runs in children, one after the other.  System calls that make, rename, unlink, pin
 * or map something are replaced by ones that count first, and kill their process when its time has
 * come; so is the step that makes a log the sampling one, which is no system call.
 *
 * With T_KILLS=N in the environment it also kills N times at random places, and tells how often at
 * which (bench/kills). */

#include <bpf/bpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/step.h"
#include "events/parse.h"
#include "events/rate.h"
#include "daemon/service_impl.h"
#include "store_t.h"

enum phase { START, TAKE_OVER, TURN, RELOAD, EPOCH, FLUSH, STOP, N_PHASES };
static const char *const phase_names[] = {"start", "take-over", "turn", "SIGHUP",
					  "epoch", "flush",	"stop"};

#define NEVER UINT32_MAX

/* What parent and children share. */
static struct shared {
	unsigned n_steps, kill_at;
	bool counts; /* steps are counted now */
	bool live;   /* a log of the child's samples, or did */
	char last[16], killed_at[16];
	int rc; /* of the start, or of the act */
	char msg[200];
} * shared;

static bool is_child;

/* --- steps --- */

static void count(const char *what)
{
	if (!is_child || !shared->counts)
		return;
	if (strcmp(shared->last, "live") == 0)
		shared->live = true;
	snprintf(shared->last, sizeof(shared->last), "%s", what);
	if (shared->n_steps++ != shared->kill_at)
		return;
	snprintf(shared->killed_at, sizeof(shared->killed_at), "%s", what);
	kill(getpid(), SIGKILL);
	for (;;)
		pause();
}

int unlinkat(int fd, const char *name, int flags)
{
	count(flags & AT_REMOVEDIR ? "rmdir" : "unlink");
	return (int)syscall(SYS_unlinkat, fd, name, flags);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	count("rename");
	return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, 0);
}

int mkdirat(int fd, const char *name, mode_t mode)
{
	count("mkdir");
	return (int)syscall(SYS_mkdirat, fd, name, mode);
}

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
	if (fd >= 0 && flags & MAP_SHARED)
		count("map");
	return (void *)syscall(SYS_mmap, at, n, prot, flags, fd, off);
}

int bpf_obj_pin(int fd, const char *path)
{
	static int (*real)(int fd, const char *path);

	if (!real)
		real = (int (*)(int, const char *))dlsym(RTLD_NEXT, "bpf_obj_pin");
	count("pin");
	return real(fd, path);
}

int bpf_map_create(enum bpf_map_type type, const char *name, __u32 key, __u32 value, __u32 n,
		   const struct bpf_map_create_opts *opts)
{
	static int (*real)(enum bpf_map_type, const char *, __u32, __u32, __u32,
			   const struct bpf_map_create_opts *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "bpf_map_create");
	count("map");
	return real(type, name, key, value, n, opts);
}

int bpf_link_create(int prog_fd, int target_fd, enum bpf_attach_type type,
		    const struct bpf_link_create_opts *opts)
{
	static int (*real)(int, int, enum bpf_attach_type, const struct bpf_link_create_opts *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "bpf_link_create");
	count("link");
	return real(prog_fd, target_fd, type, opts);
}

static bool thorough; /* fsync counts as a place */

static int count_file(enum file_op op, size_t n)
{
	if (op == FILE_FSYNC && thorough)
		count("fsync");
	return 0;
}

/* --- the workload --- */

/* In a section of its own, whose bounds the linker tells. */
__attribute__((noinline, section("touch_code"))) static void touch(volatile char *p, size_t n,
								   size_t page)
{
	for (size_t i = 0; i < n; i++)
		p[i * page] = 1;
}

extern const char __start_touch_code[], __stop_touch_code[];

static uint64_t n_touched;

static void touch_some(void)
{
	const size_t n = 50 + (size_t)random() % 100, page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(p, n * page, MADV_NOHUGEPAGE);
	touch(p, n, page);
	munmap(p, n * page);
	n_touched += n;
}

static int note_bias(struct dl_phdr_info *info, size_t n, void *ctx)
{
	*(uintptr_t *)ctx = info->dlpi_addr; /* the first one is the program itself */
	return 1;
}

/* --- the database --- */

static struct scratch where;

static int add_sums(void *ctx, const struct store_recording *r)
{
	uint64_t *left = ctx;

	for (size_t i = 0; i < r->n_events; i++)
		*left += r->events[i].n_reached - r->events[i].n_samples;
	for (size_t i = 0; i < r->n_losses; i++) {
		*left -= r->losses[i].n;
		if (strcmp(r->losses[i].name, "unaccounted") == 0 && r->losses[i].n)
			t_fail_("%llu samples of epoch %s are unaccounted",
				(unsigned long long)r->losses[i].n, r->epoch);
	}
	return 0;
}

/* Samples of touch that are stored. */
static uint64_t stored(void)
{
	const struct store_selection all = {.epochs = "all"};
	uintptr_t bias = 0;
	struct profile p;
	uint64_t n = 0, left = 0;
	struct err err = {0};

	dl_iterate_phdr(note_bias, &bias);
	profile_init(&p);
	if (store_load(where.db, &all, &p, NULL, &err) < 0 ||
	    store_list(where.db, &all, add_sums, &left, &err) < 0)
		t_fail_("%s", err.msg);
	EXPECT_EQ(left, 0);
	vec_each (x, &p.values) {
		const struct place *at = profile_leaf(&p, x->ctx);
		const char *path = p.images.v[at->image].path;

		if (strstr(path, "daemon_kills") &&
		    at->svma >= (uintptr_t)__start_touch_code - bias &&
		    at->svma < (uintptr_t)__stop_touch_code - bias)
			n += x->count;
	}
	profile_release(&p);
	return n;
}

/* --- children --- */

static struct event_specs specs;
static struct service_opts opts;

static void set_up(bool calls)
{
	struct event_rate rate = {.period = 1};
	struct err err;

	REQUIRE(event_list_parse(&event_env_host, "page-faults", &specs, &err) >= 0);
	REQUIRE(event_rate_set(&event_env_host, &specs.v[0], &rate, &err) >= 0);
	opts = (struct service_opts){.db = where.db,
				     .label = "",
				     .keep_all = true,
				     .pin = true,
				     .prune = 0.01,
				     .journal_ns = UINT64_MAX / 4,
				     .flush_ns = UINT64_MAX / 4};
	opts.collect.target.kind = TARGET_ALL;
	opts.collect.target.cgroup_fd = -1;
	opts.collect.events = specs.v;
	opts.collect.n_events = 1;
	opts.collect.label = "";
	opts.collect.n_slots = 4096;
	opts.collect.n_spill = 65536;
	opts.collect.calls = calls ? CALLS_AUTO : CALLS_NONE;
}

static int act(struct service *v, enum phase phase, struct err *err)
{
	switch (phase) {
	case TURN:
		return service_turn(v, &v->opts, 1, err);
	case RELOAD:
		return service_reload(v, &opts, err);
	case EPOCH:
		return service_new_epoch(v, err);
	case FLUSH:
		return service_flush(v, err);
	case STOP:
		return service_stop(v, err);
	default:
		return 0;
	}
}

/* A service until it is killed; it says through TO that it is ready, and that it has acted. */
static void be_service(enum phase phase, int from, int to)
{
	struct service *v;
	struct err err = {0};
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* it waits for ever, but not alone */
	is_child = true;
	file_fault = count_file;
	step_hook = count;
	shared->counts = phase <= TAKE_OVER;
	shared->rc = service_start(&opts, &v, &err);
	snprintf(shared->msg, sizeof(shared->msg), "%.199s", err.msg);
	shared->counts = false;
	shared->live |= shared->rc >= 0;
	if (write(to, "r", 1) != 1 || shared->rc < 0 || read(from, &c, 1) != 1)
		_exit(1);
	service_step(v, 1, -1);
	shared->counts = phase > TAKE_OVER;
	shared->rc = act(v, phase, &err);
	snprintf(shared->msg, sizeof(shared->msg), "%.199s", err.msg);
	shared->counts = false;
	if (phase == STOP)
		service_free(v);
	if (write(to, "d", 1) == 1 && phase != STOP)
		pause();
	_exit(0);
}

struct child {
	pid_t pid;
	int to, from;
};

static struct child begin(enum phase phase, unsigned kill_at)
{
	int to[2], from[2];
	struct child c;

	*shared = (struct shared){.kill_at = kill_at};
	if (pipe(to) < 0 || pipe(from) < 0)
		abort();
	fflush(stdout);
	c = (struct child){fork(), to[1], from[0]};
	if (c.pid == 0) {
		close(to[1]);
		close(from[0]);
		be_service(phase, to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	return c;
}

/* Whether it says so, before it dies. */
static bool hears(const struct child *c)
{
	char b;

	return read(c->from, &b, 1) == 1;
}

static void end(const struct child *c)
{
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	close(c->to);
	close(c->from);
}

/* --- kills --- */

static unsigned n_kills, table[N_PHASES][10];
static const char *const whats[] = {"unlink", "rmdir", "rename", "mkdir", "map",
				    "pin",    "link",  "fsync",	 "live"};

static void note_kill(enum phase phase)
{
	n_kills++;
	for (unsigned i = 0; i < n_elems(whats); i++)
		table[phase][i] += strcmp(whats[i], shared->killed_at) == 0;
}

static bool anybody_samples; /* a log goes on, whoever lives */

static void check_stored(enum phase phase, unsigned at)
{
	const uint64_t n = stored();

	if (n != n_touched)
		t_fail_("%s, killed at step %u (%s): %llu samples are stored, %llu were taken",
			phase_names[phase], at, shared->killed_at, (unsigned long long)n,
			(unsigned long long)n_touched);
	n_touched = n;
}

/* A service that is not killed takes over what there is, and all is stored once. */
static struct child recover(enum phase next, unsigned kill_at, enum phase was, unsigned was_at)
{
	char what[16];
	struct child c;

	memcpy(what, shared->killed_at, sizeof(what));
	c = begin(next, kill_at);
	memcpy(shared->killed_at, what, sizeof(what));
	if (!hears(&c))
		t_fail_("the service died when it started after %s: %s", phase_names[was],
			shared->killed_at);
	else if (shared->rc < 0)
		t_fail_("%s", shared->msg);
	anybody_samples = true;
	check_stored(was, was_at);
	return c;
}

/* PHASE is died in at its step AT; returns false when it has fewer. */
static bool die_in_start(enum phase phase, unsigned at)
{
	struct child c;
	bool survived;

	if (phase == START && anybody_samples) { /* nothing of a dead daemon's is to be there */
		c = recover(STOP, NEVER, START, at);
		touch_some();
		if (write(c.to, "g", 1) != 1 || !hears(&c) || shared->rc < 0)
			t_fail_("cannot stop: %s", shared->msg);
		end(&c);
		anybody_samples = false;
	} else if (phase == TAKE_OVER && !anybody_samples) {
		c = recover(FLUSH, NEVER, TAKE_OVER, at);
		touch_some();
		end(&c);
	}
	if (anybody_samples)
		touch_some();
	c = begin(phase, at);
	survived = hears(&c);
	if (survived && shared->rc < 0)
		t_fail_("%s", shared->msg);
	anybody_samples |= shared->live;
	if (!survived)
		note_kill(phase);
	end(&c);
	if (anybody_samples)
		touch_some();
	if (!survived && random() % 2) { /* and again, so that there are more dead logs */
		c = begin(TAKE_OVER, (unsigned)random() % (at + 1));
		if (!hears(&c))
			note_kill(TAKE_OVER);
		anybody_samples |= shared->live;
		end(&c);
		if (anybody_samples)
			touch_some();
	}
	c = recover(FLUSH, NEVER, phase, at);
	touch_some();
	end(&c);
	return !survived;
}

static bool die_in_act(enum phase phase, unsigned at)
{
	struct child c;
	bool survived;

	if (anybody_samples)
		touch_some();
	c = recover(phase, at, phase, at);
	touch_some();
	survived = write(c.to, "g", 1) == 1 && hears(&c);
	if (survived && shared->rc < 0)
		t_fail_("%s", shared->msg);
	if (!survived)
		note_kill(phase);
	else if (phase != STOP)
		touch_some();
	end(&c);
	/* A service that stops has ended its sampling, whoever comes next. */
	anybody_samples = phase != STOP;
	if (anybody_samples)
		touch_some();
	return !survived;
}

static bool die_once(enum phase phase, unsigned at)
{
	return phase <= TAKE_OVER ? die_in_start(phase, at) : die_in_act(phase, at);
}

/* --- tests --- */

static bool own_place(void)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0)
		return false;
	mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL); /* in a chroot / is no mount point */
	return mount("none", "/run", "tmpfs", 0, "mode=755") == 0 &&
	       mkdir("/run/dwell", 0755) == 0 && mkdir("/run/dwell/bpf", 0700) == 0 &&
	       mount("bpf", "/run/dwell/bpf", "bpf", 0, "mode=700") == 0;
}

static bool begin_all(bool calls)
{
	if (!shared) {
		if (!own_place())
			return false;
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	}
	where = scratch_new();
	set_up(calls);
	touch_some(); /* has its own code in memory before it counts */
	n_touched = 0;
	anybody_samples = false;
	return true;
}

static void end_all(enum phase was, unsigned at)
{
	struct child c = recover(STOP, NEVER, was, at);

	touch_some();
	if (write(c.to, "g", 1) != 1 || !hears(&c) || shared->rc < 0)
		t_fail_("cannot stop: %s", shared->msg);
	end(&c);
	check_stored(STOP, 0);
	event_specs_release(&specs);
	scratch_release(&where);
}

static void each_place(enum phase phase)
{
	unsigned n = 0;

	if (!begin_all(false))
		SKIP("needs root and a mount namespace");
	while (die_once(phase, n))
		n++;
	printf("# %s: killed at each of %u places\n", phase_names[phase], n);
	EXPECT(n > 2 && n < 300);
	end_all(phase, n);
}

TEST(killed_while_it_starts)
{
	each_place(START);
}

TEST(killed_while_it_takes_over)
{
	each_place(TAKE_OVER);
}

TEST(killed_while_it_turns)
{
	each_place(TURN);
	each_place(RELOAD);
}

/* The number of places of each phase, as seen on the way. */
TEST(killed_at_random_places)
{
	const char *wanted = getenv("T_KILLS"), *seed = getenv("T_SEED");
	const unsigned n = wanted ? (unsigned)atoi(wanted) : 0;
	unsigned places[N_PHASES], at = 0;
	enum phase phase = START;

	if (!n)
		SKIP("T_KILLS is not set");
	if (!begin_all(true))
		SKIP("needs root and a mount namespace");
	thorough = true;
	srandom(seed ? (unsigned)atoi(seed) : (unsigned)time(NULL));
	for (unsigned i = 0; i < N_PHASES; i++)
		places[i] = 70;
	n_kills = 0;
	memset(table, 0, sizeof(table));
	while (n_kills < n && !t_failed) {
		phase = (enum phase)((unsigned)random() % N_PHASES);
		at = (unsigned)random() % places[phase];
		if (!die_once(phase, at) && at < places[phase])
			places[phase] = at + 1;
	}
	end_all(phase, at);
	printf("# %u kills, %llu samples taken and stored\n#           ", n_kills,
	       (unsigned long long)n_touched);
	for (unsigned k = 0; k < n_elems(whats); k++)
		printf(" %7s", whats[k]);
	for (unsigned i = 0; i < N_PHASES; i++) {
		printf("\n# %10s", phase_names[i]);
		for (unsigned k = 0; k < n_elems(whats); k++)
			printf(" %7u", table[i][k]);
	}
	putchar('\n');
}
