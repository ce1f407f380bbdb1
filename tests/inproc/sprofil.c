/* SPDX-License-Identifier: BSD-2-Clause */
/* Every sentence of the manual page of sprofil(2), on real ticks.  Test names say which. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/profil.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dwell/dwell.h"
#include "identity_t.h"
#include "t.h"

extern char __executable_start, etext;

#define TEXT	   ((size_t)&__executable_start)
#define TEXT_BYTES ((size_t)(&etext - &__executable_start) + 1024) /* and what may follow burn */

static double cpu_s(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Ticks count CPU time, so there are as many as a burn() asks for, however busy the machine is.
 * There are more when what goes with it takes longer than on a quiet one: at most as many as the
 * clock of the thread, or of the process, has gone on since it began, and what the host took from
 * this machine meanwhile, which only some clocks count. */
struct since {
	clockid_t clock;
	double cpu_s;
	uint64_t stolen_ms;
};

static uint64_t stolen_ms(void)
{
	FILE *f = fopen("/proc/stat", "r");
	unsigned long long v[8] = {0};
	int n = 0;

	if (f) {
		n = fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2],
			   &v[3], &v[4], &v[5], &v[6], &v[7]);
		fclose(f);
	}
	return n == 8 ? v[7] * 1000 / (uint64_t)sysconf(_SC_CLK_TCK) : 0;
}

static struct since since_now(clockid_t clock)
{
	return (struct since){clock, cpu_s(clock), stolen_ms()};
}

/* As many ticks of a millisecond as there may be.  The kernel counts with a clock that also runs in
 * interrupts and while it switches threads, which this allows a twentieth for. */
static uint64_t most_ticks(const struct since *s)
{
	return (uint64_t)((cpu_s(s->clock) - s->cpu_s) * 1050) + stolen_ms() - s->stolen_ms + 10;
}

/* Uses SECONDS of this thread's CPU time, all in user space, between these two addresses. */
__attribute__((noinline, section(".text.burn"))) static void burn(double seconds)
{
	volatile uint64_t x = 0;

	for (double end = cpu_s(CLOCK_THREAD_CPUTIME_ID) + seconds;
	     cpu_s(CLOCK_THREAD_CPUTIME_ID) < end;)
		for (int i = 0; i < 200000; i++)
			x += (uint64_t)i;
}

static void set(unsigned hz, unsigned flags)
{
	struct dwell_profil_settings s = {.size = sizeof(s), .hz = hz, .flags = flags};

	if (dwell_profil_configure(&s))
		t_fail_("dwell_profil_configure: %s", strerror(errno));
}

static uint64_t ticks_of(const uint32_t *v, size_t n_bytes)
{
	uint64_t n = 0;

	for (size_t i = 0; i < n_bytes / 4; i++)
		n += v[i];
	return n;
}

/* A profile of all of this program's text, and a bin for what is outside. */
struct whole {
	uint32_t *v;
	size_t n_bytes;
	uint32_t outside[1];
	struct prof p[2];
};

static void whole_init(struct whole *w)
{
	w->n_bytes = (TEXT_BYTES + 7) & ~(size_t)3;
	w->v = calloc(1, w->n_bytes);
	w->outside[0] = 0;
	w->p[0] = (struct prof){
		.pr_base = w->v, .pr_size = w->n_bytes, .pr_off = TEXT, .pr_scale = 0x10000};
	w->p[1] = (struct prof){.pr_base = w->outside, .pr_size = 4, .pr_off = 0, .pr_scale = 2};
}

static uint64_t whole_ticks(const struct whole *w)
{
	return ticks_of(w->v, w->n_bytes) + w->outside[0];
}

/* The ticks of the last profile that have no place: of late interrupts, where the host took time
 * from this machine. */
static uint64_t late_ticks(void)
{
	struct dwell_profil_status s = {.size = sizeof(s)};

	EXPECT_EQ(dwell_profil_status(&s), 0);
	return s.n_unplaced;
}

/* N, the others, and those, which are not the most. */
static uint64_t and_late(uint64_t n)
{
	const uint64_t late = late_ticks();

	EXPECT(late <= 2 * n + 30);
	return n + late;
}

static bool off(void)
{
	return sprofil(NULL, 0, NULL, 0) == 0;
}

static int fails(struct prof *p, int n, struct timeval *tv, unsigned flags)
{
	errno = 0;
	return sprofil(p, n, tv, flags) == -1 ? errno : 0;
}

TEST(ticks_are_counted_where_the_pc_is)
{
	struct whole w;

	set(1000, 0);
	whole_init(&w);

	struct since start = since_now(CLOCK_THREAD_CPUTIME_ID);

	REQUIRE(sprofil(w.p, 2, NULL, PROF_UINT) == 0);
	burn(0.5);
	EXPECT(off());

	uint64_t all = whole_ticks(&w);
	size_t at = ((size_t)burn - TEXT) / 4;
	uint64_t in_burn = ticks_of(&w.v[at], 400);

	/* CPU time from on to off: half a second, and what the calls themselves take */
	EXPECT(and_late(all) >= 490 && all <= most_ticks(&start));
	EXPECT(in_burn > all * 9 / 10);
	free(w.v);
}

static volatile unsigned sink;

__attribute__((noinline, section(".text.halves"))) static void first_half(void)
{
	for (unsigned i = 0; i < 20000; i++)
		sink += i;
}

__attribute__((noinline, section(".text.halves"))) static void second_half(void)
{
	for (unsigned i = 0; i < 20000; i++)
		sink ^= i;
}

static double part_of_10_ms(void)
{
	double t = cpu_s(CLOCK_THREAD_CPUTIME_ID) * 100;

	return t - (double)(unsigned long)t;
}

/* A thread whose work repeats in step with the ticks: each of 10 ms would be in its first half. */
TEST(rounds_as_long_as_a_tick_are_seen_whole)
{
	struct whole w;
	uint64_t n[2];

	set(100, 0);
	whole_init(&w);
	while (part_of_10_ms() < 0.24 || part_of_10_ms() > 0.26)
		;
	REQUIRE(sprofil(w.p, 2, NULL, PROF_UINT) == 0);
	for (double end = cpu_s(CLOCK_THREAD_CPUTIME_ID) + 2.5;
	     cpu_s(CLOCK_THREAD_CPUTIME_ID) < end;)
		(part_of_10_ms() < 0.5 ? first_half : second_half)();
	EXPECT(off());
	n[0] = ticks_of(&w.v[((size_t)first_half - TEXT) / 4], 40);
	n[1] = ticks_of(&w.v[((size_t)second_half - TEXT) / 4], 40);
	printf("# %llu and %llu ticks\n", (unsigned long long)n[0], (unsigned long long)n[1]);
	/* of 150 ticks and more a half, within 6 standard deviations of a binomial distribution */
	EXPECT(and_late(n[0] + n[1]) > 120);
	EXPECT(n[0] * 4 > n[0] + n[1] && n[1] * 4 > n[0] + n[1]);
	free(w.v);
}

/* "tvp points to a struct timeval which on return contains the time value corresponding to one
 * clock tick" */
TEST(tvp_is_the_tick)
{
	struct whole w;
	struct timeval tv = {7, 7};

	whole_init(&w);
	for (unsigned hz = 100; hz <= 10000; hz *= 10) {
		set(hz, 0);
		REQUIRE(sprofil(w.p, 2, &tv, PROF_UINT) == 0);
		EXPECT_EQ(tv.tv_sec, 0);
		EXPECT_EQ(tv.tv_usec, 1000000 / hz);
	}
	set(1, 0);
	REQUIRE(sprofil(w.p, 2, &tv, PROF_UINT) == 0);
	EXPECT_EQ(tv.tv_sec, 1);
	EXPECT_EQ(tv.tv_usec, 0);
	EXPECT(off());
	free(w.v);
}

/* "If profcnt is 0, profiling is disabled." */
TEST(no_regions_is_off)
{
	struct whole w;

	set(1000, 0);
	whole_init(&w);
	REQUIRE(sprofil(w.p, 2, NULL, PROF_UINT) == 0);
	burn(0.05);
	EXPECT(off());

	uint64_t before = whole_ticks(&w);

	burn(0.1);
	EXPECT(off());
	EXPECT_EQ(whole_ticks(&w), before);
	EXPECT(and_late(before) >= 45);
	free(w.v);
}

TEST(strict_no_regions_is_too_many)
{
	set(1000, DWELL_PROFIL_STRICT);
	EXPECT_EQ(fails(NULL, 0, NULL, PROF_UINT), E2BIG);
	set(1000, 0);
}

/* "This memory is treated as an array of 2, 4 or 8-byte elements" */
TEST(elements_of_each_size)
{
	const size_t n = (TEXT_BYTES + 64) / 8 * 8;
	static const unsigned flags[] = {PROF_USHORT, PROF_UINT, PROF_UINT64};

	set(1000, 0);
	for (unsigned i = 0; i < 3; i++) {
		unsigned bytes = 2u << i;
		uint8_t *v = calloc(1, n);
		struct prof p = {.pr_base = v, .pr_size = n, .pr_off = TEXT, .pr_scale = 0x10000};
		uint64_t in_burn = 0;

		struct since start = since_now(CLOCK_THREAD_CPUTIME_ID);

		REQUIRE(sprofil(&p, 1, NULL, flags[i]) == 0);
		burn(0.2);
		EXPECT(off());
		for (size_t at = ((size_t)burn - TEXT) / bytes * bytes;
		     at < (size_t)burn - TEXT + 400; at += bytes) {
			uint64_t x = 0;

			memcpy(&x, v + at, bytes);
			in_burn += x;
		}
		EXPECT(and_late(in_burn) > 180 && in_burn <= most_ticks(&start));
		free(v);
	}
}

/* "The element at pr_base + offset is incremented by 1, unless that would result in overflow." */
TEST(full_elements_stay)
{
	uint16_t one = UINT16_MAX - 10;
	struct prof p = {.pr_base = &one, .pr_size = 2, .pr_off = 0, .pr_scale = 2};

	set(1000, 0);
	REQUIRE(sprofil(&p, 1, NULL, PROF_USHORT) == 0);
	burn(0.1);
	EXPECT(off());
	EXPECT_EQ(one, UINT16_MAX);
}

/* "If a pr_scale field is set to 0 or 1, the corresponding prof array entry is ignored." */
TEST(scale_0_and_1_are_ignored)
{
	struct whole w;
	uint32_t never = 0;
	struct prof p[4];

	set(1000, 0);
	whole_init(&w);
	p[0] = (struct prof){.pr_base = &never, .pr_size = 4, .pr_off = TEXT, .pr_scale = 0};
	p[1] = (struct prof){.pr_base = &never, .pr_size = 3, .pr_off = TEXT, .pr_scale = 1};
	p[2] = w.p[0];
	p[3] = w.p[1];
	REQUIRE(sprofil(p, 4, NULL, PROF_UINT) == 0);
	burn(0.1);
	EXPECT(off());
	EXPECT_EQ(never, 0);
	EXPECT(and_late(whole_ticks(&w)) >= 95);
	free(w.v);
}

/* "If the pc value did not fall within the range of one of the preceding descriptors, the single
 * element specified by the pr_base field is incremented" */
TEST(the_last_region_counts_what_is_outside)
{
	uint32_t inside[16] = {0}, outside = 0;
	struct prof p[2] = {
		{.pr_base = inside, .pr_size = sizeof(inside), .pr_off = 64, .pr_scale = 0x10000},
		{.pr_base = &outside, .pr_size = 4, .pr_off = 0, .pr_scale = 2}};

	set(1000, 0);

	struct since start = since_now(CLOCK_THREAD_CPUTIME_ID);

	REQUIRE(sprofil(p, 2, NULL, PROF_UINT) == 0);
	burn(0.2);
	EXPECT(off());
	EXPECT_EQ(ticks_of(inside, sizeof(inside)), 0);
	EXPECT(and_late(outside) >= 195 && outside <= most_ticks(&start));
	/* "outside everything" without such a region: not counted */
	REQUIRE(sprofil(p, 1, NULL, PROF_UINT) == 0);
	burn(0.05);
	EXPECT(off());
	EXPECT_EQ(ticks_of(inside, sizeof(inside)), 0);
}

/* "the pr_base associated with the largest offset less than the value of the program counter (pc)
 * gets incremented.  If more than one text region has the same offset, the first one is chosen." */
TEST(of_several_regions_the_largest_offset)
{
	uint32_t all = 0, first = 0, second = 0;
	const size_t at = (size_t)burn;
	/* one element for 65536 / scale * 4 bytes of text: here 2 KiB */
	struct prof p[4] = {{.pr_base = &all, .pr_size = 4, .pr_off = at - 1024, .pr_scale = 0x80},
			    {.pr_base = &first, .pr_size = 4, .pr_off = at, .pr_scale = 0x80},
			    {.pr_base = &second, .pr_size = 4, .pr_off = at, .pr_scale = 0x80},
			    {.pr_base = &all, .pr_size = 4, .pr_off = at - 512, .pr_scale = 0x80}};

	set(1000, 0);
	REQUIRE(sprofil(p, 4, NULL, PROF_UINT) == 0);
	burn(0.2);
	EXPECT(off());
	EXPECT(and_late(first) > 150);
	EXPECT_EQ(second, 0);
	set(1000, DWELL_PROFIL_STRICT);
	EXPECT_EQ(fails(p, 4, NULL, PROF_UINT), EINVAL); /* unsorted */
	EXPECT_EQ(fails(p, 2, NULL, PROF_UINT), EINVAL); /* overlapping */
	p[0].pr_off = at - 2048;
	EXPECT_EQ(fails(p, 2, NULL, PROF_UINT), 0);	 /* side by side */
	EXPECT_EQ(fails(p, 3, NULL, PROF_UINT), EINVAL); /* equal */
	set(1000, 0);
	EXPECT(off());
}

/* "Each call to sprofil() disables profiling if it was enabled and then enables profiling of the
 * regions specified" */
TEST(another_call_replaces)
{
	struct whole a, b;
	uint64_t late[2] = {0};

	set(1000, 0);
	whole_init(&a);
	whole_init(&b);

	struct since start = since_now(CLOCK_THREAD_CPUTIME_ID);

	for (int i = 0; i < 3; i++) {
		REQUIRE(sprofil(a.p, 2, NULL, PROF_UINT) == 0);
		burn(0.05);
		late[0] += late_ticks();
		REQUIRE(sprofil(b.p, 2, NULL, PROF_UINT) == 0);
		burn(0.1);
		late[1] += late_ticks();
	}
	EXPECT(off());
	EXPECT(whole_ticks(&a) + late[0] >= 135);
	EXPECT(whole_ticks(&b) + late[1] >= 285);
	EXPECT(whole_ticks(&a) + whole_ticks(&b) <= most_ticks(&start));
	free(a.v);
	free(b.v);
}

/* A call that fails changes nothing. */
TEST(a_failure_leaves_profiling_on)
{
	struct whole w;

	set(1000, 0);
	whole_init(&w);
	REQUIRE(sprofil(w.p, 2, NULL, PROF_UINT) == 0);
	EXPECT_EQ(fails(w.p, 2, NULL, 77), EINVAL);
	burn(0.1);
	EXPECT(off());
	EXPECT(and_late(whole_ticks(&w)) >= 95);
	free(w.v);
}

/* "If the calculation above results in an invalid address, profiling is silently disabled." */
TEST(a_buffer_that_is_gone)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint32_t *v = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct dwell_profil_status s = {.size = sizeof(s)};
	struct prof p = {.pr_base = v, .pr_size = 4, .pr_off = 0, .pr_scale = 3};

	set(1000, 0);
	p.pr_off = (size_t)burn;
	REQUIRE(sprofil(&p, 1, NULL, PROF_UINT) == 0);
	burn(0.05);
	EXPECT(dwell_profil_status(&s) == 0 && s.on);
	munmap(v, page);
	/* It is seen when the ticks are fetched, ten times a second where there is a CPU for it. */
	for (int i = 0; i < 100 && dwell_profil_status(&s) == 0 && s.on; i++)
		burn(0.1);
	EXPECT(!s.on);
	EXPECT(off());
}

/* "each thread's program counter (pc) is examined each clock tick" */
static void *burn_thread(void *seconds)
{
	burn(*(double *)seconds);
	return NULL;
}

/* N threads are told of, each of whose ticks are what its event counted. */
static void threads_add_up(int n)
{
	struct dwell_profil_status s = {.size = sizeof(s)};
	struct dwell_profil_thread t[16];
	uint64_t n_ticks = 0, n_unplaced = 0;

	EXPECT(dwell_profil_status(&s) == 0);
	EXPECT(dwell_profil_threads(t, 16) == n);
	for (int i = 0; i < n; i++) {
		uint64_t ticks = t[i].n_ticks + t[i].n_unplaced;

		n_ticks += t[i].n_ticks;
		n_unplaced += t[i].n_unplaced;
		EXPECT(t[i].tid > 0 && t[i].has_ended);
		for (int k = 0; k < i; k++)
			EXPECT(t[k].tid != t[i].tid);
		if (t[i].n_ticks) /* of less than half a tick there is none */
			EXPECT(ticks * s.tick <= t[i].count + s.tick &&
			       t[i].count <= (ticks + 1) * s.tick);
	}
	EXPECT(n_ticks == s.n_ticks && n_unplaced == s.n_unplaced);
	t[2].tid = -1;
	EXPECT(dwell_profil_threads(t, 2) == n && t[2].tid == -1);
}

TEST(every_thread_by_its_own_clock)
{
	struct whole w;
	pthread_t early, late[7];
	double seconds = 0.1;
	uint64_t n;

	set(1000, 0);
	whole_init(&w);

	struct since start = since_now(CLOCK_PROCESS_CPUTIME_ID);

	pthread_create(&early, NULL, burn_thread, &(double){0.3});
	REQUIRE(sprofil(w.p, 2, NULL, PROF_UINT) == 0);
	for (int i = 0; i < 7; i++)
		pthread_create(&late[i], NULL, burn_thread, &seconds);
	for (int i = 0; i < 7; i++)
		pthread_join(late[i], NULL);
	pthread_join(early, NULL);
	EXPECT(off());
	n = whole_ticks(&w);
	/* seven full threads, but for the last tick of each; the early one's from when profiling
	 * began, with two CPUs most of it */
	EXPECT(and_late(n) >= 693 && n <= most_ticks(&start));
	threads_add_up(9);
	free(w.v);
}

/* "remains on in both child and parent processes after a fork(2)" */
TEST(fork_keeps_profiling_on_in_both)
{
	struct whole w;
	int status;
	pid_t pid;

	set(1000, 0);
	whole_init(&w);
	REQUIRE(sprofil(w.p, 2, NULL, PROF_UINT) == 0);
	burn(0.05);

	struct dwell_profil_status s = {.size = sizeof(s)};

	dwell_profil_status(&s); /* so that the child's copy has these */
	uint64_t before = whole_ticks(&w);
	struct since start = since_now(CLOCK_THREAD_CPUTIME_ID);

	pid = fork();
	if (pid == 0) {
		start = since_now(CLOCK_THREAD_CPUTIME_ID); /* it starts at 0 */
		burn(0.2);
		if (!off())
			_exit(1);

		uint64_t n = whole_ticks(&w) - before;

		_exit(and_late(n) >= 195 && n <= most_ticks(&start) ? 0 : 2);
	}
	burn(0.1);
	REQUIRE(waitpid(pid, &status, 0) == pid);
	EXPECT(WIFEXITED(status));
	EXPECT_EQ(WEXITSTATUS(status), 0);
	EXPECT(off());

	uint64_t n = whole_ticks(&w) - before;

	EXPECT(and_late(n) >= 95 && n <= most_ticks(&start));
	free(w.v);
}

TEST(one_thread_changes_its_identity)
{
	struct whole w;
	int status;
	pid_t pid;

	if (geteuid() != 0)
		SKIP("needs root");
	set(1000, 0);
	whole_init(&w);
	pid = fork();
	if (pid == 0) {
		int r = sprofil(w.p, 2, NULL, PROF_UINT) == 0 ? change_identity() : 10;

		burn(0.1);
		_exit(r || !off() || and_late(whole_ticks(&w)) < 90 ? 100 + r : 0);
	}
	REQUIRE(waitpid(pid, &status, 0) == pid);
	EXPECT(WIFEXITED(status)); /* and not by abort(3) */
	EXPECT_EQ(WEXITSTATUS(status), 0);
	free(w.v);
}

/* "Profiling is turned off when an exec(2) is executed" */
TEST(exec_ends_profiling)
{
	struct whole w;
	int status;
	pid_t pid;

	set(1000, 0);
	whole_init(&w);
	REQUIRE(sprofil(w.p, 2, NULL, PROF_UINT) == 0);
	pid = fork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c",
		      "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; ls -l /proc/$$/fd | grep "
		      "-c perf_event && exit 9; exit 7",
		      NULL);
		_exit(1);
	}
	REQUIRE(waitpid(pid, &status, 0) == pid);
	EXPECT(WIFEXITED(status)); /* not killed by a timer's signal */
	EXPECT_EQ(WEXITSTATUS(status), 7);
	EXPECT(off());
	free(w.v);
}

/* "A call to profil(2) has the same effect as calling sprofil() with just one member" */
TEST(profil_is_sprofil_with_one_region)
{
	size_t n = TEXT_BYTES + 8;
	uint16_t *v = calloc(1, n);
	uint64_t in_burn = 0;

	set(1000, 0);
	EXPECT_EQ(profil(v, n, TEXT, 0x10000), 0);
	burn(0.2);
	EXPECT_EQ(profil(v, n, TEXT, 0), 0);
	for (size_t i = 0; i < 200; i++)
		in_burn += v[((size_t)burn - TEXT) / 2 + i];
	EXPECT(and_late(in_burn) > 150);
	free(v);
}

/* ERRORS */
TEST(errors)
{
	struct whole w;
	struct timeval tv = {5, 5};
	struct prof bad[3];

	set(1000, 0);
	whole_init(&w);
	EXPECT_EQ(fails(w.p, -1, NULL, PROF_UINT), E2BIG);
	EXPECT_EQ(fails(w.p, DWELL_PROFIL_MAX + 1, NULL, PROF_UINT), E2BIG);
	EXPECT_EQ(fails((struct prof *)8, 1, NULL, PROF_UINT), EFAULT);
	EXPECT_EQ(fails(w.p, 2, (struct timeval *)8, PROF_UINT), EFAULT);
	EXPECT_EQ(fails(w.p, 2, NULL, 3 | PROF_UINT64), EINVAL);
	EXPECT_EQ(fails(w.p, 2, NULL, 8), EINVAL);
	for (int i = 0; i < 6; i++) {
		memcpy(bad, (struct prof[]){w.p[0], w.p[1], w.p[1]}, sizeof(bad));
		switch (i) {
		case 0: /* size 0 */
			bad[0].pr_size = 0;
			break;
		case 1: /* no multiple of the element */
			bad[0].pr_size -= 2;
			break;
		case 2: /* more than (2^46 * scale) / 65536 */
			bad[0].pr_scale = 2;
			bad[0].pr_size = (1ULL << 31) + 4;
			break;
		case 3: /* the overflow descriptor is longer than one element */
			bad[1].pr_size = 8;
			break;
		case 4: /* it is shorter */
			bad[1].pr_size = 2;
			break;
		case 5: /* it is not last */
			bad[2] = w.p[0];
			break;
		}
		EXPECT_EQ(fails(bad, i == 5 ? 3 : 2, &tv, PROF_UINT), EINVAL);
	}
	EXPECT(tv.tv_sec == 5 && tv.tv_usec == 5); /* untouched by failures */
	bad[0] = w.p[0];
	bad[0].pr_scale = 2;
	bad[0].pr_size = 1ULL << 31; /* as large as it may be */
	EXPECT_EQ(fails(bad, 1, NULL, PROF_UINT), 0);
	EXPECT_EQ(fails(w.p, 2, NULL, PROF_UINT | PROF_FAST), 0); /* glibc's word without effect */
	set(1000, DWELL_PROFIL_STRICT);
	EXPECT_EQ(fails(w.p, 2, NULL, PROF_UINT | PROF_FAST), EINVAL);
	set(1000, 0);
	EXPECT(off());
	free(w.v);
}

/* A program that blocks all signals, and has SIGPROF and ITIMER_PROF to itself. */
TEST(no_signal_is_used)
{
	struct whole w;
	sigset_t all, before;
	struct sigaction now;

	set(1000, 0);
	whole_init(&w);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	REQUIRE(sprofil(w.p, 2, NULL, PROF_UINT) == 0);
	burn(0.1);
	EXPECT(off());
	sigprocmask(SIG_SETMASK, &before, NULL);
	EXPECT(and_late(whole_ticks(&w)) >= 95);
	for (int n = 1; n < 65; n++)
		if (sigaction(n, NULL, &now) == 0)
			EXPECT(now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN);
	free(w.v);
}
