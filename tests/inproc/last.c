/* SPDX-License-Identifier: BSD-2-Clause */
/* A program whose first thread ends in pthread_exit(3):
 *   last none|sprofil|papi on|off SECONDS
 * It profiles itself with libdwell or libdwell-papi, or not; "off": it ends that before.  A second
 * thread works for SECONDS longer; with 0 there is none.  A handler of atexit(3) says "bye". */
#include <papi.h>
#include <string.h>
#include <sys/profil.h>

#include "turns.h"

static unsigned count;
static int is_on;

static void use_sprofil(int on);

static void bye(void)
{
	if (is_on)
		use_sprofil(0);
	say("bye", 0);
	say("counted", count);
}

static void *work_on(void *unused)
{
	work();
	return unused;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void use_sprofil(int on)
{
	struct prof p = {.pr_base = &count, .pr_size = sizeof(count), .pr_scale = 2};

	if (sprofil(&p, on, NULL, PROF_UINT))
		die("sprofil");
	is_on = on;
}

static void use_papi(int on)
{
	static unsigned short buf[2];
	static int set = PAPI_NULL;
	int code;

	if (!on) {
		if (PAPI_stop(set, NULL))
			die("PAPI_stop");
		return;
	}
	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT ||
	    PAPI_event_name_to_code("perf::TASK-CLOCK", &code) || PAPI_create_eventset(&set) ||
	    PAPI_add_event(set, code) ||
	    PAPI_profil(buf, sizeof(buf), 0, 2, set, code, 1000000, PAPI_PROFIL_POSIX) ||
	    PAPI_start(set))
		die("PAPI");
}

int main(int argc, char **argv)
{
	pthread_t t;
	void (*use)(int on);

	if (argc != 4)
		return 2;
	use = strcmp(argv[1], "sprofil") == 0 ? use_sprofil
	      : strcmp(argv[1], "papi") == 0  ? use_papi
					      : NULL;
	atexit(bye);
	if (use)
		use(1);
	seconds = 0.02;
	work();
	if (use && strcmp(argv[2], "off") == 0)
		use(0);
	seconds = atof(argv[3]);
	if (seconds > 0 && pthread_create(&t, NULL, work_on, NULL))
		die("pthread_create");
	pthread_exit(NULL);
}
