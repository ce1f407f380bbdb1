/* SPDX-License-Identifier: BSD-2-Clause */
/* PAPI's high-level calls: named regions of a program, and what its threads counted in them.
 *
 * Each thread has an event set of $PAPI_EVENTS ("PAPI_TOT_CYC,perf::TASK-CLOCK"; task-clock and the
 * presets for cycles and instructions that the machine has, by default).  It runs from the first
 * region on; a region's events are differences of two readings.  At exit(3) the sums become
 * papi_hl_output/rank_NUMBER.json in $PAPI_OUTPUT_DIRECTORY, in the form PAPI's scripts read:
 * strings for all numbers.  NUMBER is the MPI rank, else the process. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inproc/export.h"
#include "inproc/papi/result.h"
#include "inproc/papi/thread.h"

enum { MOST_EVENTS = 16, MOST_DEPTH = 64, NAME_BYTES = 64 };

struct region {
	struct region *next;
	char *name;
	int id, parent; /* -1: none */
	long long n, cycles, ns, values[MOST_EVENTS];
};

/* A region that has begun and not ended. */
struct open_region {
	struct region *region;
	long long cycles, ns, values[MOST_EVENTS];
};

struct hl_thread {
	struct hl_thread *next;
	unsigned long tid;
	int set, n_regions, depth;
	bool running;
	struct region *regions, **end;
	struct open_region open[MOST_DEPTH];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hl_thread *threads;
static char names[MOST_EVENTS][NAME_BYTES];
static int n_names = -1; /* not looked at yet */
static __thread struct hl_thread *self;

/* The events. */

static void take_name(const char *name, size_t n)
{
	int code;

	while (n && (*name == ' ' || *name == '\t')) {
		name++;
		n--;
	}
	while (n && (name[n - 1] == ' ' || name[n - 1] == '\t'))
		n--;
	if (!n || n >= NAME_BYTES || n_names == MOST_EVENTS)
		return;
	memcpy(names[n_names], name, n);
	names[n_names][n] = 0;
	if (PAPI_event_name_to_code(names[n_names], &code) == PAPI_OK &&
	    PAPI_query_event(code) == PAPI_OK)
		n_names++;
}

static void take_names(const char *list)
{
	n_names = 0;
	while (*list) {
		size_t n = strcspn(list, ",");

		take_name(list, n);
		list += n + (list[n] == ',');
	}
}

/* Under the lock. */
static int settle_names(void)
{
	const char *wanted = getenv("PAPI_EVENTS");

	if (n_names < 0)
		take_names(wanted && *wanted ? wanted
					     : "perf::TASK-CLOCK,PAPI_TOT_CYC,PAPI_TOT_INS");
	return n_names > 0 ? PAPI_OK : PAPI_ENOEVNT;
}

/* Threads. */

static int begin_thread(void)
{
	struct hl_thread *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return PAPI_ENOMEM;
	t->set = PAPI_NULL;
	t->end = &t->regions;
	t->tid = (unsigned long)papi_gettid();
	r = PAPI_create_eventset(&t->set);
	for (int i = 0; i < n_names && r == PAPI_OK; i++)
		r = PAPI_add_named_event(t->set, names[i]);
	if (r < 0) {
		free(t);
		return r;
	}
	t->next = threads;
	threads = t;
	self = t;
	return PAPI_OK;
}

static int ready(void)
{
	int r = papi_is_ready() ? PAPI_OK : PAPI_library_init(PAPI_VER_CURRENT);

	if (r < 0)
		return r;
	pthread_mutex_lock(&lock);
	r = settle_names();
	if (r == PAPI_OK && !self)
		r = begin_thread();
	pthread_mutex_unlock(&lock);
	if (r == PAPI_OK && !self->running) {
		r = PAPI_start(self->set);
		self->running = r == PAPI_OK;
	}
	papi_add_level(PAPI_HIGH_LEVEL_INITED);
	return r;
}

static struct region *find_region(const char *name, int parent)
{
	for (struct region *g = self->regions; g; g = g->next)
		if (g->parent == parent && strcmp(g->name, name) == 0)
			return g;
	return NULL;
}

static struct region *intern_region(const char *name)
{
	int parent = self->depth ? self->open[self->depth - 1].region->id : -1;
	struct region *g = find_region(name, parent);

	if (g)
		return g;
	g = calloc(1, sizeof(*g));
	if (g)
		g->name = strdup(name);
	if (!g || !g->name) {
		free(g);
		return NULL;
	}
	g->parent = parent;
	pthread_mutex_lock(&lock); /* somebody may be writing */
	g->id = self->n_regions++;
	*self->end = g;
	self->end = &g->next;
	pthread_mutex_unlock(&lock);
	return g;
}

/* Adds what happened since O was noted to its region. */
static int add_to_region(const struct open_region *o)
{
	long long now[MOST_EVENTS];
	int r = PAPI_read(self->set, now);

	if (r < 0)
		return r;
	o->region->cycles += PAPI_get_real_cyc() - o->cycles;
	o->region->ns += PAPI_get_real_nsec() - o->ns;
	for (int i = 0; i < n_names; i++)
		o->region->values[i] += now[i] - o->values[i];
	return PAPI_OK;
}

static int note_beginning(struct open_region *o)
{
	o->cycles = PAPI_get_real_cyc();
	o->ns = PAPI_get_real_nsec();
	return PAPI_read(self->set, o->values);
}

/* The innermost region that is open; it must be NAME. */
static struct open_region *hl_innermost(const char *name)
{
	struct open_region *o;

	if (!name || !self || !self->running || !self->depth)
		return NULL;
	o = &self->open[self->depth - 1];
	return strcmp(o->region->name, name) == 0 ? o : NULL;
}

EXPORT int PAPI_hl_region_begin(const char *region)
{
	struct open_region *o;
	int r = region && *region ? ready() : PAPI_EINVAL;

	if (r < 0)
		return papi_result(r);
	if (self->depth == MOST_DEPTH)
		return papi_result(PAPI_ECOUNT);
	o = &self->open[self->depth];
	o->region = intern_region(region);
	if (!o->region)
		return papi_result(PAPI_ENOMEM);
	r = note_beginning(o);
	if (r == PAPI_OK)
		self->depth++;
	return papi_result(r);
}

/* What was counted up to here is in the region's sum, also if the region should never end. */
EXPORT int PAPI_hl_read(const char *region)
{
	struct open_region *o = hl_innermost(region);
	int r = o ? add_to_region(o) : PAPI_EINVAL;

	return papi_result(r < 0 ? r : note_beginning(o));
}

EXPORT int PAPI_hl_region_end(const char *region)
{
	struct open_region *o = hl_innermost(region);
	int r = o ? add_to_region(o) : PAPI_EINVAL;

	if (r < 0)
		return papi_result(r);
	o->region->n++;
	self->depth--;
	return PAPI_OK;
}

EXPORT int PAPI_hl_stop(void)
{
	int r = self && self->running ? PAPI_stop(self->set, NULL) : PAPI_EINVAL;

	if (r == PAPI_OK) {
		self->running = false;
		self->depth = 0;
	}
	return papi_result(r);
}

/* The file. */

static void put_string(FILE *f, const char *text)
{
	putc('"', f);
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			fprintf(f, "\\%c", *text);
		else if ((unsigned char)*text < 0x20)
			fprintf(f, "\\u%04x", *text);
		else
			putc(*text, f);
	putc('"', f);
}

static void put_region(FILE *f, const struct region *g)
{
	fprintf(f, "    \"%d\": {\n     \"name\": ", g->id);
	put_string(f, g->name);
	fprintf(f, ",\n     \"parent_region_id\": \"%d\",\n     \"region_count\": \"%lld\",\n",
		g->parent, g->n);
	fprintf(f, "     \"cycles\": \"%lld\",\n     \"real_time_nsec\": \"%lld\"", g->cycles,
		g->ns);
	for (int i = 0; i < n_names; i++)
		fprintf(f, ",\n     \"%s\": \"%lld\"", names[i], g->values[i]);
	fprintf(f, "\n    }%s\n", g->next ? "," : "");
}

static void put_all(FILE *f)
{
	const PAPI_hw_info_t *hw = PAPI_get_hardware_info();

	fprintf(f, "{\n \"papi_version\": \"%d.%d.%d.%d\",\n \"cpu_info\": ",
		PAPI_VERSION_MAJOR(PAPI_VERSION), PAPI_VERSION_MINOR(PAPI_VERSION),
		PAPI_VERSION_REVISION(PAPI_VERSION), PAPI_VERSION_INCREMENT(PAPI_VERSION));
	put_string(f, hw ? hw->model_string : "");
	fprintf(f, ",\n \"max_cpu_rate_mhz\": \"%d\",\n \"min_cpu_rate_mhz\": \"%d\",\n",
		hw ? hw->cpu_max_mhz : 0, hw ? hw->cpu_min_mhz : 0);
	fprintf(f, " \"event_definitions\": {\n");
	for (int i = 0; i < n_names; i++)
		fprintf(f,
			"  \"%s\": {\n   \"component\": \"perf_event\",\n   \"type\": \"delta\"\n  "
			"}%s\n",
			names[i], i + 1 < n_names ? "," : "");
	fprintf(f, " },\n \"threads\": {\n");
	for (const struct hl_thread *t = threads; t; t = t->next) {
		fprintf(f, "  \"%lu\": {\n   \"regions\": {\n", t->tid);
		for (const struct region *g = t->regions; g; g = g->next)
			put_region(f, g);
		fprintf(f, "   }\n  }%s\n", t->next ? "," : "");
	}
	fprintf(f, " }\n}\n");
}

static long rank(void)
{
	static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
						"SLURM_PROCID", "MV2_COMM_WORLD_RANK"};

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if (getenv(variables[i]) && *getenv(variables[i]))
			return strtol(getenv(variables[i]), NULL, 10);
	return (long)getpid();
}

__attribute__((destructor)) static void write_file(void)
{
	const char *dir = getenv("PAPI_OUTPUT_DIRECTORY");
	char path[4096];
	FILE *f;
	int n;

	if (pthread_mutex_trylock(&lock))
		return;
	n = threads ? snprintf(path, sizeof(path) - 32, "%s/papi_hl_output",
			       dir && *dir ? dir : ".")
		    : 0;
	if (n > 0 && (size_t)n < sizeof(path) - 32 && (mkdir(path, 0777) >= 0 || errno == EEXIST)) {
		snprintf(path + n, sizeof(path) - (size_t)n, "/rank_%06ld.json", rank());
		f = fopen(path, "we");
		if (f) {
			put_all(f);
			fclose(f);
		}
	}
	pthread_mutex_unlock(&lock);
}
