/* SPDX-License-Identifier: BSD-2-Clause */
/* -e, and the sysfs files it is read by: TEXT NUL FORMAT-FILE NUL ALIAS-FILE.  What parses has a
 * name that parses to the same event again. */
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "events/parse.h"
#include "events/rate.h"
#include "fuzz.h"

static char root[] = "/tmp/dwell-fuzz-event-XXXXXX";
static struct event_env env;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static void remove_tree(void)
{
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *folder, const char *name, const char *text)
{
	_mem_ char *dir = xasprintf("%s/%s", root, folder), *path = xasprintf("%s/%s", dir, name);
	_file_ FILE *f = NULL;

	FUZZ_REQUIRE(file_mkdirs(dir, NULL) == 0);
	f = fopen(path, "w");
	FUZZ_REQUIRE(f && fputs(text, f) >= 0);
}

#define CPU "bus/event_source/devices/cpu"

static void set_up(void)
{
	/* libpfm4 answers to made-up text too; a PMU without events of its own keeps this fast */
	setenv("LIBPFM_FORCE_PMU", "perf", 1);
	FUZZ_REQUIRE(mkdtemp(root));
	atexit(remove_tree);
	put(CPU, "type", "4\n");
	put(CPU "/format", "umask", "config:8-15\n");
	put("kernel/tracing/events/sched/sched_switch", "id", "314\n");
	env = (struct event_env){.sysfs = root, .proc = root};
}

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	/* '|' stands for the NUL between the parts */
	static const char *const seeds[] = {
		"cycles:u:100003+cpu-clock:250000,sched:sched_switch:1000",
		"cpu/event=0x3c,umask=0x0/u+r1a8:kp|config:0-7,32-35|event=0x3c,umask=?",
		"cpu/alias,umask=3,period=7,name=x/pp:9|config1:0-63|event=0x3c,umask=?",
		"L1-dcache-load-misses:GH+cpu/rff/+alias|config3:5|event=1",
		"PERF_COUNT_HW_CPU_CYCLES:u,cpu/cycles,config2=9/",
	};
	char *seed;

	if (i >= n_elems(seeds))
		return NULL;
	seed = xstrdup(seeds[i]);
	*ret_n = strlen(seed);
	for (size_t at = 0; at < *ret_n; at++)
		if (seed[at] == '|')
			seed[at] = '\0';
	return (uint8_t *)seed;
}

static const char *take_part(const uint8_t **p, const uint8_t *end, char **ret)
{
	size_t n = strnlen((const char *)*p, (size_t)(end - *p));

	*ret = xstrndup((const char *)*p, n);
	*p += n + (*p + n < end);
	return *ret;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	_mem_ char *text = NULL, *format = NULL, *alias = NULL;
	const uint8_t *p = data, *end = data + n;
	struct event_specs specs = {0};
	struct err err = {""};

	if (!env.sysfs)
		set_up();
	take_part(&p, end, &text);
	if (p < end)
		put(CPU "/format", "event", take_part(&p, end, &format));
	if (p < end)
		put(CPU "/events", "alias", take_part(&p, end, &alias));
	if (event_list_parse(&env, text, &specs, &err) < 0) {
		FUZZ_REQUIRE(specs.n == 0 && err.msg[0]);
		event_specs_release(&specs);
		return 0;
	}
	FUZZ_REQUIRE(specs.n > 0);
	vec_each (s, &specs) {
		FUZZ_REQUIRE(s->name && s->name[0] && s->attr.size == sizeof(s->attr));
		event_rate_set(&env, s, &(struct event_rate){.freq_hz = 0}, NULL);
		if (!strstr(text, "name=")) {
			struct event_spec again;

			FUZZ_REQUIRE(event_parse(&env, s->name, &again, &err) == 0);
			FUZZ_REQUIRE(again.attr.config == s->attr.config &&
				     again.attr.config1 == s->attr.config1 &&
				     again.attr.config2 == s->attr.config2 &&
				     again.attr.precise_ip == s->attr.precise_ip &&
				     again.attr.exclude_user == s->attr.exclude_user &&
				     again.config3 == s->config3);
			event_spec_release(&again);
		}
	}
	event_specs_release(&specs);
	return 0;
}
