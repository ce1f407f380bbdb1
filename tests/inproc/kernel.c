/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that is in the kernel most of the time, between two procedures of its own:
 *   kernel none|sprofil|papi SECONDS
 * work_a computes, read(2) of zeros takes several ticks, work_b computes.  It says what each spent
 * ("in_kernel": the read), and, as "got_a", "got_b" and "unplaced" in ticks of a millisecond, what
 * its own profile says.  With "none" it has no profile of its own: it runs
 * under another library. */
#include <fcntl.h>
#include <papi.h>
#include <string.h>
#include <sys/profil.h>

#include "dwell.h"

#define TURNS_SECTIONS 1
#include "turns.h"

extern char __start_text_a, __stop_text_a, __start_text_b, __stop_text_b;

enum { TICK_NS = 1000000 };

static uint64_t got[2];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* A region of one element for each procedure. */
static size_t bytes_of(const char *start, const char *stop)
{
	return (size_t)(stop - start);
}

static void begin_sprofil(void)
{
	struct dwell_profil_settings s = {.size = sizeof(s), .hz = 1000};
	struct prof p[2] = {
		{.pr_base = &got[0], .pr_size = 8, .pr_off = (size_t)&__start_text_a},
		{.pr_base = &got[1], .pr_size = 8, .pr_off = (size_t)&__start_text_b},
	};

	if (getenv("DWELL_PROFIL_USER_ONLY"))
		s.flags = DWELL_PROFIL_USER_ONLY;
	p[0].pr_scale = (8 << 16) / (bytes_of(&__start_text_a, &__stop_text_a) + 8);
	p[1].pr_scale = (8 << 16) / (bytes_of(&__start_text_b, &__stop_text_b) + 8);
	if (dwell_profil_configure(&s) || sprofil(p, 2, NULL, PROF_UINT64))
		die("sprofil");
}

static void end_sprofil(void)
{
	struct dwell_profil_status status = {.size = sizeof(status)};

	if (sprofil(NULL, 0, NULL, PROF_UINT64) || dwell_profil_status(&status))
		die("sprofil");
	say("ticks", status.n_ticks);
	say("unplaced", status.n_unplaced);
}

static int set = PAPI_NULL, code;

static void begin_papi(void)
{
	PAPI_sprofil_t p[2] = {
		{&got[0], 8, (vptr_t)&__start_text_a, 2},
		{&got[1], 8, (vptr_t)&__start_text_b, 2},
	};

	p[0].pr_scale = (unsigned)(65536 / (bytes_of(&__start_text_a, &__stop_text_a) / 2 + 1));
	p[1].pr_scale = (unsigned)(65536 / (bytes_of(&__start_text_b, &__stop_text_b) / 2 + 1));
	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT ||
	    PAPI_event_name_to_code("perf::TASK-CLOCK", &code) || PAPI_create_eventset(&set) ||
	    PAPI_add_event(set, code) ||
	    PAPI_sprofil(p, 2, set, code, TICK_NS, PAPI_PROFIL_BUCKET_64) || PAPI_start(set))
		die("PAPI");
}

static void end_papi(void)
{
	struct dwell_profil_status status = {.size = sizeof(status)};
	long long count;

	if (PAPI_stop(set, &count) || dwell_papi_profil_status(set, code, &status))
		die("PAPI_stop");
	say("ticks", status.n_ticks);
	say("unplaced", status.n_unplaced);
	say("count", (uint64_t)count);
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";
	static char bytes[4 << 20];
	uint64_t a = 0, k = 0, b = 0, t, next, end;
	int fd = open("/dev/zero", O_RDONLY);

	seconds = argc > 2 ? atof(argv[2]) : 0;
	if (strcmp(how, "sprofil") == 0)
		begin_sprofil();
	else if (strcmp(how, "papi") == 0)
		begin_papi();
	for (t = cpu_ns(), end = t + (uint64_t)(seconds * 1e9); t < end;) {
		work_a(about(600000));
		next = cpu_ns();
		a += next - t;
		t = next;
		for (int i = 0; i < 12; i++)
			if (read(fd, bytes, sizeof(bytes)) < 0)
				die("read");
		next = cpu_ns();
		k += next - t;
		t = next;
		work_b(about(1200000));
		next = cpu_ns();
		b += next - t;
		t = next;
	}
	if (strcmp(how, "sprofil") == 0)
		end_sprofil();
	else if (strcmp(how, "papi") == 0)
		end_papi();
	say("work_a", a);
	say("in_kernel", k);
	say("work_b", b);
	say("got_a", got[0]);
	say("got_b", got[1]);
	return 0;
}
