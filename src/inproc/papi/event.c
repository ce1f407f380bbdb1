/* SPDX-License-Identifier: BSD-2-Clause */
/* Presets and native events as programs ask for them.
 *
 * A preset is, in this order: what $PAPI_CSV_EVENT_FILE says; perf's generic event; and, without a
 * counter, for PAPI_REF_CYC the CPU's time in cycles of the reference clock, which it is.  That is
 * no more than an estimate of PAPI_TOT_CYC, whose CPU may run faster or slower, so it stands in for
 * that only when $DWELL_PAPI_ESTIMATE=1 asks for it, and the event's note says so.  All others are
 * PAPI_ENOEVNT: no clock counts instructions. */
#include "inproc/papi/event.h"

#include <ctype.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inproc/export.h"
#include "inproc/papi/native.h"
#include "inproc/papi/option.h"
#include "inproc/papi/result.h"

enum { SECOND_NS = 1000000000 };

static const char note_of_clock[] =
	"CPU time in cycles of the reference clock: this machine has no counter of them.";
static const char note_of_estimate[] = "Estimated: CPU time in cycles of the reference clock: this "
				       "machine has no counter of cycles.";

static char *csv_natives[PAPI_N_PRESETS]; /* what the file says a preset is */

/* The clock. */

uint64_t papi_cycles_of_ns(uint64_t ns, uint64_t hz)
{
	return (uint64_t)((unsigned __int128)ns * hz / SECOND_NS);
}

uint64_t papi_ns_of_cycles(uint64_t cycles, uint64_t hz)
{
	uint64_t ns = (uint64_t)(((unsigned __int128)cycles * SECOND_NS + hz / 2) / hz);

	return ns ? ns : 1;
}

/* By which the kernel makes time of the CPU's time stamps: perf_event.h, "time_shift". */
static uint64_t hz_of_time_stamps(void)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_DUMMY,
				       .exclude_kernel = 1};
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	struct perf_event_mmap_page *p;
	uint64_t hz = 0;

	if (fd < 0)
		return 0;
	p = mmap(NULL, page, PROT_READ, MAP_SHARED, (int)fd, 0);
	if (p != MAP_FAILED) {
		if (p->cap_user_time && p->time_mult)
			hz = (uint64_t)(((unsigned __int128)SECOND_NS << p->time_shift) /
					p->time_mult);
		munmap(p, page);
	}
	close((int)fd);
	return hz;
}

/* "cpu MHz" of the first CPU. */
static uint64_t hz_of_cpuinfo(void)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256];
	double mhz = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "cpu MHz : %lf", &mhz) == 1)
			break;
	if (f)
		fclose(f);
	return mhz > 1 && mhz < 100000 ? (uint64_t)(mhz * 1e6) : 0;
}

uint64_t papi_clock_hz(void)
{
	static uint64_t known;
	uint64_t hz = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (!hz) {
		hz = hz_of_time_stamps();
		if (!hz)
			hz = hz_of_cpuinfo();
		__atomic_store_n(&known, hz, __ATOMIC_RELAXED);
	}
	return hz;
}

static bool may_estimate(void)
{
	const char *v = getenv("DWELL_PAPI_ESTIMATE");

	return v && *v && strcmp(v, "0") != 0;
}

/* The file of presets. */

/* The next field of a line, without blanks around it; NULL at the end. */
static char *next_field(char **at)
{
	char *field = strsep(at, ",");
	char *end;

	if (!field)
		return NULL;
	while (isspace((unsigned char)*field))
		field++;
	end = field + strlen(field);
	while (end > field && isspace((unsigned char)end[-1]))
		*--end = 0;
	return field;
}

static int preset_named(const char *name)
{
	for (int i = 0; i < PAPI_N_PRESETS; i++)
		if (strcmp(papi_presets[i].name, name) == 0)
			return i;
	return -1;
}

/* "PRESET,NAME,NOT_DERIVED,NATIVE": PAPI's papi_events.csv.  Lines for CPUs that are not this one
 * name events that are not here. */
static void read_line(char *line)
{
	char *word = next_field(&line), *name, *derived, *native;
	int preset, n;

	if (!word || strcmp(word, "PRESET") != 0)
		return;
	name = next_field(&line);
	derived = name ? next_field(&line) : NULL;
	native = derived ? next_field(&line) : NULL;
	if (!native || strcmp(derived, "NOT_DERIVED") != 0)
		return;
	preset = preset_named(name);
	n = papi_native_named(native);
	if (preset >= 0 && !csv_natives[preset] && papi_native_works(n))
		csv_natives[preset] = strdup(native);
}

static void read_csv(void)
{
	const char *path = getenv("PAPI_CSV_EVENT_FILE");
	FILE *f = path && *path ? fopen(path, "re") : NULL;
	char line[1024];

	if (!f)
		return;
	while (fgets(line, sizeof(line), f))
		if (line[0] != '#')
			read_line(line);
	fclose(f);
}

void papi_events_init(void)
{
	for (int i = 0; i < PAPI_N_PRESETS; i++) {
		free(csv_natives[i]);
		csv_natives[i] = NULL;
	}
	read_csv();
}

void papi_events_after_fork(void)
{
	papi_natives_after_fork();
}

/* Events. */

/* The native event that counts preset N, or -1; *RET_HZ as papi_what.clock_hz. */
static int native_of_preset(int n, uint64_t *ret_hz)
{
	const char *name = csv_natives[n] ? csv_natives[n] : papi_presets[n].native;
	int native = name ? papi_native_named(name) : -1;

	*ret_hz = 0;
	if (native >= 0 && papi_native_works(native))
		return native;
	if (n != PAPI_REF_CYC_idx && (n != PAPI_TOT_CYC_idx || !may_estimate()))
		return -1;
	if (!papi_clock_hz())
		return -1;
	*ret_hz = papi_clock_hz();
	return papi_native_named("perf::TASK-CLOCK");
}

/* The number behind the code of a preset, or -1. */
static int preset_of(int code)
{
	int n = code & PAPI_PRESET_AND_MASK;

	return IS_PRESET(code) && n < PAPI_N_PRESETS ? n : -1;
}

int papi_event_find(int code, struct papi_what *ret)
{
	struct papi_native native;
	uint64_t hz = 0;
	int n;

	if (!IS_PRESET(code) && !IS_NATIVE(code))
		return PAPI_ENOTPRESET;
	if (IS_PRESET(code))
		n = preset_of(code) < 0 ? -1 : native_of_preset(preset_of(code), &hz);
	else
		n = code & ~PAPI_NATIVE_MASK;
	if (papi_is_disabled())
		return PAPI_ECMP_DISABLED;
	if (!papi_native_get(n, &native) || !papi_native_works(n))
		return PAPI_ENOEVNT;
	*ret = (struct papi_what){.spec = native.spec, .clock_hz = hz};
	return PAPI_OK;
}

int papi_event_named(const char *name, int *ret_code)
{
	int n = preset_named(name);

	if (n >= 0) {
		*ret_code = n | PAPI_PRESET_MASK;
		return PAPI_OK;
	}
	n = papi_native_named(name);
	if (n < 0)
		return PAPI_ENOEVNT;
	*ret_code = n | PAPI_NATIVE_MASK;
	return PAPI_OK;
}

void papi_event_count(int *ret_n_presets, int *ret_n_natives)
{
	struct papi_native unused;
	uint64_t hz;

	*ret_n_presets = *ret_n_natives = 0;
	for (int i = 0; i < PAPI_N_PRESETS; i++)
		*ret_n_presets += native_of_preset(i, &hz) >= 0;
	for (int i = 0; papi_native_get(i, &unused); i++)
		*ret_n_natives += papi_native_works(i);
}

EXPORT int PAPI_query_event(int code)
{
	struct papi_what what;

	return papi_result(papi_is_ready() ? papi_event_find(code, &what) : PAPI_ENOINIT);
}

EXPORT int PAPI_query_named_event(const char *name)
{
	int code, r = PAPI_event_name_to_code(name, &code);

	return r == PAPI_OK ? PAPI_query_event(code) : r;
}

EXPORT int PAPI_event_name_to_code(const char *name, int *out)
{
	if (!name || !out)
		return papi_result(PAPI_EINVAL);
	return papi_result(papi_is_ready() ? papi_event_named(name, out) : PAPI_ENOINIT);
}

/* What CODE is called; NULL: it is no event's. */
static const char *name_of(int code)
{
	struct papi_native native;

	if (IS_PRESET(code))
		return preset_of(code) < 0 ? NULL : papi_presets[preset_of(code)].name;
	if (!IS_NATIVE(code) || !papi_native_get(code & ~PAPI_NATIVE_MASK, &native))
		return NULL;
	return native.name;
}

EXPORT int PAPI_event_code_to_name(int code, char *out)
{
	const char *name;

	if (!out)
		return papi_result(PAPI_EINVAL);
	if (!papi_is_ready())
		return papi_result(PAPI_ENOINIT);
	name = name_of(code);
	if (!name)
		return papi_result(IS_PRESET(code) ? PAPI_ENOTPRESET : PAPI_ENOEVNT);
	snprintf(out, PAPI_MAX_STR_LEN, "%s", name);
	return PAPI_OK;
}

static void describe_preset(int n, PAPI_event_info_t *info)
{
	const struct papi_preset *p = &papi_presets[n];
	struct papi_native native;
	uint64_t hz;
	int of = native_of_preset(n, &hz);

	snprintf(info->symbol, sizeof(info->symbol), "%s", p->name);
	snprintf(info->short_descr, sizeof(info->short_descr), "%.63s", p->description);
	snprintf(info->long_descr, sizeof(info->long_descr), "%s", p->description);
	snprintf(info->derived, sizeof(info->derived), "NOT_DERIVED");
	info->event_type = p->kinds;
	if (!papi_native_get(of, &native))
		return;
	info->count = 1;
	info->code[0] = (unsigned)(of | PAPI_NATIVE_MASK);
	snprintf(info->name[0], sizeof(info->name[0]), "%.255s", native.name);
	if (hz)
		snprintf(info->note, sizeof(info->note), "%s",
			 n == PAPI_REF_CYC_idx ? note_of_clock : note_of_estimate);
	else if (csv_natives[n])
		snprintf(info->note, sizeof(info->note), "As $PAPI_CSV_EVENT_FILE says.");
}

EXPORT int PAPI_get_event_info(int code, PAPI_event_info_t *info)
{
	struct papi_native native;

	if (!info)
		return papi_result(PAPI_EINVAL);
	if (!papi_is_ready())
		return papi_result(PAPI_ENOINIT);
	if (!name_of(code))
		return papi_result(PAPI_ENOEVNT);
	memset(info, 0, sizeof(*info));
	info->event_code = (unsigned)code;
	info->location = PAPI_LOCATION_CPU;
	if (IS_PRESET(code)) {
		describe_preset(preset_of(code), info);
		return PAPI_OK;
	}
	papi_native_get(code & ~PAPI_NATIVE_MASK, &native);
	snprintf(info->symbol, sizeof(info->symbol), "%s", native.name);
	snprintf(info->short_descr, sizeof(info->short_descr), "%.63s", native.description);
	snprintf(info->long_descr, sizeof(info->long_descr), "%s", native.description);
	if (native.spec.is_clock)
		snprintf(info->units, sizeof(info->units), "ns");
	return PAPI_OK;
}

/* The first preset from N on that MODIFIER names, or -1. */
static int next_preset(int n, int modifier)
{
	uint64_t hz;

	for (; n < PAPI_N_PRESETS; n++) {
		if (modifier >= PAPI_PRESET_ENUM_MSC && modifier <= PAPI_PRESET_ENUM_FP &&
		    !(papi_presets[n].kinds & (1u << modifier)))
			continue;
		if (modifier != PAPI_PRESET_ENUM_AVAIL || native_of_preset(n, &hz) >= 0)
			return n;
	}
	return -1;
}

static int next_native(int n)
{
	struct papi_native unused;

	for (; papi_native_get(n, &unused); n++)
		if (papi_native_works(n))
			return n;
	return -1;
}

EXPORT int PAPI_enum_cmp_event(int *code, int modifier, int cidx)
{
	int first, n;

	if (!code)
		return papi_result(PAPI_EINVAL);
	if (!papi_is_ready())
		return papi_result(PAPI_ENOINIT);
	if (cidx != 0)
		return papi_result(PAPI_ENOCMP);
	if (!IS_PRESET(*code) && !IS_NATIVE(*code))
		return papi_result(PAPI_EINVAL);
	if (modifier < PAPI_ENUM_EVENTS || modifier > PAPI_NTV_ENUM_GROUPS)
		return papi_result(PAPI_EINVAL);
	if (modifier >= PAPI_NTV_ENUM_UMASKS)
		return PAPI_ENOEVNT; /* names with their masks are events of their own here */
	first = *code & 0x3fffffff;
	if (modifier == PAPI_ENUM_FIRST)
		first = 0;
	else
		first++;
	n = IS_PRESET(*code) ? next_preset(first, modifier) : next_native(first);
	if (n < 0)
		return PAPI_ENOEVNT; /* the end: no error to speak of */
	*code = n | (IS_PRESET(*code) ? PAPI_PRESET_MASK : PAPI_NATIVE_MASK);
	return PAPI_OK;
}

EXPORT int PAPI_enum_event(int *code, int modifier)
{
	return PAPI_enum_cmp_event(code, modifier, 0);
}

EXPORT int PAPI_get_event_component(int code)
{
	return papi_result(name_of(code) ? 0 : PAPI_ENOEVNT);
}
