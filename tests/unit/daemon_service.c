/* SPDX-License-Identifier: BSD-2-Clause */
/* A service that really samples, on a disk that fails: every write, fsync and rename of a flush, of
 * a new epoch and of a reload fails once.  Whatever fails, each sample is
 * stored once in the end. */
#include "daemon/service.h"

#include <dirent.h>
#include <errno.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "events/parse.h"
#include "events/rate.h"
#include "daemon/readers.h"
#include "daemon/service_impl.h"
#include "store_t.h"

static unsigned n_steps, fault_at = UINT32_MAX;
static bool fault_short, fault_all;

static int fault_hook(enum file_op op, size_t n)
{
	if (n_steps++ != fault_at && !fault_all)
		return 0;
	return fault_short && op == FILE_WRITE && n > 1 ? (int)(n / 2) : -EIO;
}

/* What file systems say of their room, when it is not 0. */
static uint64_t fake_total, fake_free, fake_less; /* with each question */

int fstatvfs(int fd, struct statvfs *ret)
{
	*ret = (struct statvfs){.f_frsize = 1};
	ret->f_blocks = fake_total ? fake_total : (uint64_t)1 << 40;
	ret->f_bavail = fake_total ? fake_free : (uint64_t)1 << 40;
	fake_free -= fake_less < fake_free ? fake_less : fake_free;
	return fd < 0 ? -1 : 0;
}

static struct event_specs specs;

/* What is sampled: a process of few and small procedures.  So a step costs what the service does
 * with samples, not what it does with the debug files of large libraries. */
static struct {
	uint32_t pid;
	int ask, answer; /* our ends of its pipes */
} worker;

/* Works for some milliseconds each time that it is asked. */
static void worker_run(int in, int out)
{
	char c;

	while (read(in, &c, 1) == 1) {
		for (volatile unsigned i = 0; i < 4000000; i++)
			;
		if (write(out, &c, 1) != 1)
			break;
	}
	_exit(0);
}

static void worker_start(void)
{
	int in[2], out[2];

	REQUIRE(pipe(in) == 0 && pipe(out) == 0);
	worker.pid = (uint32_t)fork();
	if (worker.pid == 0) {
		close(in[1]);
		close(out[0]);
		worker_run(in[0], out[1]);
	}
	close(in[0]);
	close(out[1]);
	worker.ask = in[1];
	worker.answer = out[0];
}

static void worker_stop(void)
{
	close(worker.ask);
	close(worker.answer);
	EXPECT_EQ(waitpid((pid_t)worker.pid, NULL, 0), (pid_t)worker.pid);
}

static void set_up(struct service_opts *o, const struct scratch *t)
{
	struct event_rate rate = {.freq_hz = 997};
	struct err err;

	REQUIRE(event_list_parse(&event_env_host, "cpu-clock", &specs, &err) >= 0);
	REQUIRE(event_rate_set(&event_env_host, &specs.v[0], &rate, &err) >= 0);
	*o = (struct service_opts){.db = t->db,
				   .label = "",
				   .keep_all = true,
				   .prune = 0.01,
				   .journal_ns = UINT64_MAX / 4,
				   .flush_ns = UINT64_MAX / 4};
	/* One process alone: what else runs here would be read and stored with each step. */
	worker_start();
	o->collect.target.kind = TARGET_PIDS;
	o->collect.target.pids.v = &worker.pid;
	o->collect.target.pids.n = 1;
	o->collect.target.cgroup_fd = -1;
	o->collect.events = specs.v;
	o->collect.n_events = 1;
	o->collect.label = "";
}

/* Takes some samples. */
static void burn(void)
{
	char c = 0;

	EXPECT_EQ(write(worker.ask, &c, 1), 1);
	EXPECT_EQ(read(worker.answer, &c, 1), 1);
}

/* What the service says is stored is what readers find. */
static void check_sums(struct service *v, const struct scratch *t)
{
	struct service_status s;
	uint64_t n = 0, lost = 0;

	service_status(v, &s);
	vec_each (l, &s.losses)
		lost += l->n;
	vec_each (e, &s.events)
		n += e->n_reached;
	EXPECT_EQ(n, s.n_samples + lost);
	if (s.n_samples) {
		struct err err = {0};
		struct profile p;
		uint64_t stored = 0;

		profile_init(&p);
		EXPECT(store_load(t->db, &(struct store_selection){.epochs = "all"}, &p, NULL,
				  &err) >= 0);
		EXPECT_STR(err.msg, "");
		vec_each (x, &p.values)
			stored += x->count;
		EXPECT_EQ(stored, s.n_samples);
		profile_release(&p);
	}
	service_status_release(&s);
}

/* Makes step AT of ACT fail, then repeats ACT without a failure; returns false when ACT has fewer
 * steps. */
static bool fail_once(struct service *v, const struct scratch *t,
		      int (*act)(struct service *v, struct err *err), unsigned at)
{
	struct err err;
	bool failed;
	int rc;

	burn();
	n_steps = 0;
	fault_at = at;
	rc = act(v, &err);
	failed = n_steps > at;
	fault_at = UINT32_MAX;
	EXPECT(rc >= 0 || *err.msg);
	check_sums(v, t);
	if (rc < 0)
		EXPECT_EQ(act(v, &err), 0);
	check_sums(v, t);
	return failed;
}

static struct service_opts opts;

static int reload(struct service *v, struct err *err)
{
	return service_reload(v, &opts, err);
}

TEST(each_step_of_it_fails_once)
{
	int (*const acts[])(struct service * v, struct err * err) = {service_flush,
								     service_new_epoch, reload};
	struct scratch t = scratch_new();
	struct service *v;
	struct err err;

	if (geteuid() != 0)
		SKIP("needs root");
	set_up(&opts, &t);
	REQUIRE(service_start(&opts, &v, &err) >= 0);
	file_fault = fault_hook;
	for (size_t i = 0; i < n_elems(acts); i++) {
		unsigned n = 0;

		fault_short = false;
		while (fail_once(v, &t, acts[i], n))
			n++;
		printf("# %u steps\n", n);
		EXPECT(n > 3 && n < 200);
		fault_short = true;
		for (unsigned at = 0; at < n && acts[i] != reload; at++)
			fail_once(v, &t, acts[i], at);
	}
	EXPECT_EQ(service_flush(v, &err), 0);
	check_sums(v, &t);
	EXPECT_EQ(service_stop(v, &err), 0);
	check_sums(v, &t);
	file_fault = NULL;
	service_free(v);
	worker_stop();
	event_specs_release(&specs);
	EXPECT_EQ(t_files(&t, ".tmp"), 0);
	EXPECT_EQ(t_files(&t, "journal"), 0);
	scratch_release(&t);
}

static void clear_away(struct service *v, struct scratch *t)
{
	service_free(v);
	worker_stop();
	event_specs_release(&specs);
	scratch_release(t);
}

TEST(a_service_that_cannot_stop_yet_can_later)
{
	struct scratch t = scratch_new();
	struct service *v;
	struct err err;

	if (geteuid() != 0)
		SKIP("needs root");
	set_up(&opts, &t);
	REQUIRE(service_start(&opts, &v, &err) >= 0);
	burn();
	file_fault = fault_hook;
	fault_all = true;
	EXPECT_EQ(service_stop(v, &err), -EIO);
	EXPECT(*err.msg);
	fault_all = false;
	EXPECT_EQ(service_stop(v, &err), 0);
	file_fault = NULL;
	check_sums(v, &t);
	clear_away(v, &t);
}

static unsigned n_cannot, n_storing;

static void count_storing(void *ctx, const char *text)
{
	n_cannot += strstr(text, "cannot store: ") != NULL;
	n_storing += strcmp(text, "storing again") == 0;
}

static bool has_problem(struct service *v)
{
	struct service_status s;
	bool ret;

	service_status(v, &s);
	ret = *s.problem;
	service_status_release(&s);
	return ret;
}

/* Who asks for a flush is told how it went; so are the log and the status: once that it fails, once
 * that it is over. */
TEST(a_flush_that_was_asked_for_tells_of_the_disk)
{
	struct scratch t = scratch_new();
	struct service *v;
	struct err err;

	if (geteuid() != 0)
		SKIP("needs root");
	set_up(&opts, &t);
	opts.say = count_storing;
	REQUIRE(service_start(&opts, &v, &err) >= 0);
	file_fault = fault_hook;
	for (unsigned i = 0; i < 2; i++) {
		fault_all = true;
		for (int k = 0; k < 2; k++) {
			burn();
			EXPECT(service_flush(v, &err) < 0);
			EXPECT(has_problem(v));
		}
		EXPECT_EQ(n_cannot, i + 1);
		EXPECT_EQ(n_storing, i);
		fault_all = false;
		EXPECT_EQ(service_flush(v, &err), 0);
		EXPECT(!has_problem(v));
		EXPECT_EQ(n_storing, i + 1);
	}
	file_fault = NULL;
	check_sums(v, &t);
	EXPECT_EQ(service_stop(v, &err), 0);
	clear_away(v, &t);
}

static unsigned n_no_room;

static void count_room(void *ctx, const char *text)
{
	n_no_room += strstr(text, "names of programs are not kept") != NULL;
}

/* How many files the database keeps names of. */
static unsigned n_named(const struct scratch *t)
{
	_mem_ char *path = xasprintf("%s/images", t->db);
	DIR *d = opendir(path);
	unsigned n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n > 2 ? n - 2 : 0;
}

/* Users make programs with as many names as they like; a twentieth of a disk is left to others. */
TEST(names_do_not_fill_a_disk)
{
	static const struct {
		uint64_t total_mib, free_mib;
		bool kept;
		uint64_t less_mib; /* it fills while names are written */
	} disks[] = {{64, 31, false},	    {64, 33, true},	    {10000, 490, false},
		     {10000, 510, true},    {1000000, 1020, false}, {1000000, 1030, true},
		     {10000, 510, false, 9}};
	struct err err;

	if (geteuid() != 0)
		SKIP("needs root");
	for (size_t i = 0; i < n_elems(disks); i++) {
		struct scratch t = scratch_new();
		struct service *v;

		fake_total = disks[i].total_mib << 20;
		fake_free = disks[i].free_mib << 20;
		fake_less = disks[i].less_mib << 20;
		n_no_room = 0;
		set_up(&opts, &t);
		readers_on_say(count_room, NULL);
		REQUIRE(service_start(&opts, &v, &err) >= 0);
		burn();
		EXPECT_EQ(service_flush(v, &err), 0);
		EXPECT_EQ(n_named(&t) > 0, disks[i].kept);
		EXPECT_EQ(n_no_room, !disks[i].kept);
		EXPECT_EQ(service_stop(v, &err), 0);
		check_sums(v, &t);
		clear_away(v, &t);
	}
	fake_total = 0;
	readers_on_say(NULL, NULL);
}

static unsigned n_rarely, n_again;

static void count_words(void *ctx, const char *text)
{
	n_rarely += strstr(text, "more than 0.00 %: sampling 1000.0 times as rarely") != NULL;
	n_again += strstr(text, "more often again") || strstr(text, "as often as asked for again");
}

/* The period the service samples its one event with now, by its status. */
static uint64_t period_now(struct service *v)
{
	struct service_status s;
	struct err err;
	uint64_t ret;

	EXPECT_EQ(service_flush(v, &err), 0);
	service_status(v, &s);
	ret = v->set->events[0].attr.sample_period;
	EXPECT(s.events.n > 0);
	service_status_release(&s);
	return ret;
}

TEST(it_samples_more_rarely_and_then_as_often_again)
{
	struct scratch t = scratch_new();
	uint64_t now = clock_mono_ns(), asked;
	struct service *v;
	struct err err;

	if (geteuid() != 0)
		SKIP("needs root");
	set_up(&opts, &t);
	opts.say = count_words;
	opts.max_cpu = 1e-15; /* anything is too much */
	REQUIRE(service_start(&opts, &v, &err) >= 0);
	asked = period_now(v);
	service_watch_cost(v, now);
	service_watch_cost(v, now += 10000000000);
	EXPECT_EQ(n_rarely, 1);
	EXPECT_EQ(period_now(v), asked * 1000);
	v->opts.max_cpu = 1; /* nothing is */
	for (unsigned i = 0; i < 200 && v->governor.slower > 1; i++) {
		uint64_t was = v->set->events[0].attr.sample_period;

		burn();
		service_watch_cost(v, now += 10000000000);
		EXPECT(v->set->events[0].attr.sample_period <= was);
		check_sums(v, &t);
	}
	EXPECT_EQ(period_now(v), asked);
	EXPECT_EQ(n_again, 10);
	EXPECT_EQ(service_stop(v, &err), 0);
	clear_away(v, &t);
}
