/* SPDX-License-Identifier: BSD-2-Clause */
/* Options, and the one component there is. */
#include "inproc/papi/option.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "build_config.h"
#include "inproc/export.h"
#include "inproc/papi/overflow.h"
#include "inproc/papi/result.h"
#include "inproc/papi/set.h"

enum { SECOND_NS = 1000000000, SHORTEST_LOOK_NS = 100000 };

static int look_ns = 10000000; /* PAPI's default is 10 ms */
static int timer_number = ITIMER_PROF;
static int timer_signal = SIGPROF;

uint64_t papi_look_ns(void)
{
	return (uint64_t)look_ns;
}

clockid_t papi_look_clock(void)
{
	return timer_number == ITIMER_REAL ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
}

/* The component. */

static bool is_disabled; /* before PAPI_library_init(): no event is there */

bool papi_is_disabled(void)
{
	return is_disabled;
}

/* How many hardware events the machine counts at once: the kernel is asked.  Without hardware
 * counters there are only software events, of which a set may have as many as fit into it. */
static int n_counters(void)
{
	enum { MOST = 32 };
	static _Atomic(int) known;
	int fds[MOST], n = 0;

	if (atomic_load(&known))
		return atomic_load(&known);
	while (n < MOST) {
		struct perf_event_attr attr = {.size = sizeof(attr),
					       .type = PERF_TYPE_HARDWARE,
					       .config = PERF_COUNT_HW_INSTRUCTIONS,
					       .disabled = !n,
					       .exclude_kernel = 1,
					       .exclude_hv = 1};

		fds[n] = (int)syscall(SYS_perf_event_open, &attr, 0, -1, n ? fds[0] : -1,
				      PERF_FLAG_FD_CLOEXEC);
		if (fds[n] < 0)
			break;
		n++;
	}
	for (int i = 0; i < n; i++)
		close(fds[i]);
	atomic_store(&known, n ? n : PAPI_SET_EVENTS);
	return n ? n : PAPI_SET_EVENTS;
}

static const char component_name[] = "perf_event";

EXPORT int PAPI_num_components(void)
{
	return 1;
}

EXPORT int PAPI_get_component_index(const char *name)
{
	if (!name)
		return papi_result(PAPI_EINVAL);
	return strcmp(name, component_name) == 0 ? 0 : papi_result(PAPI_ENOCMP);
}

EXPORT const PAPI_component_info_t *PAPI_get_component_info(int cidx)
{
	static PAPI_component_info_t info;
	static char pmu[] = "perf";
	struct utsname kernel;

	if (cidx != 0)
		return NULL;
	snprintf(info.name, sizeof(info.name), "%s", component_name);
	snprintf(info.short_name, sizeof(info.short_name), "perf");
	snprintf(info.description, sizeof(info.description), "Linux perf events");
	snprintf(info.version, sizeof(info.version), "dwell %s", DWELL_VERSION);
	if (uname(&kernel) >= 0)
		snprintf(info.kernel_version, sizeof(info.kernel_version), "%.63s", kernel.release);
	info.initialized = papi_is_ready() && !is_disabled;
	info.disabled = is_disabled ? PAPI_ECMP_DISABLED : PAPI_OK;
	info.num_cntrs = papi_is_ready() ? n_counters() : 0;
	info.num_mpx_cntrs = PAPI_SET_EVENTS;
	if (papi_is_ready())
		papi_event_count(&info.num_preset_events, &info.num_native_events);
	info.default_domain = papi_default_domain();
	info.available_domains = PAPI_DOM_USER | PAPI_DOM_KERNEL | PAPI_DOM_SUPERVISOR;
	info.default_granularity = papi_default_granularity();
	info.available_granularities = PAPI_GRN_THR | PAPI_GRN_SYS;
	info.hardware_intr_sig = papi_overflow_signal();
	info.pmu_names[0] = pmu;
	info.hardware_intr = 1;
	info.posix1b_timers = 1;
	info.kernel_profile = 1;
	info.kernel_multiplex = 1;
	info.fast_real_timer = 1;
	info.attach = 1;
	info.attach_must_ptrace = 1; /* perf_event_open(2): PTRACE_MODE_READ */
	info.cntr_umasks = 1;
	info.cpu = 1;
	info.inherit = 1;
	return &info;
}

EXPORT int PAPI_disable_component(int cidx)
{
	if (papi_is_ready())
		return papi_result(PAPI_ENOINIT); /* PAPI's code for too late */
	if (cidx != 0)
		return papi_result(PAPI_ENOCMP);
	is_disabled = true;
	return PAPI_OK;
}

EXPORT int PAPI_disable_component_by_name(const char *name)
{
	if (!name)
		return papi_result(PAPI_EINVAL);
	return PAPI_disable_component(strcmp(name, component_name) == 0 ? 0 : -1);
}

EXPORT int PAPI_num_cmp_hwctrs(int cidx)
{
	/* not an error before PAPI_library_init(), when nothing is known */
	if (cidx == 0 && !papi_is_ready())
		return 0;
	return PAPI_get_cmp_opt(PAPI_MAX_HWCTRS, NULL, cidx);
}

EXPORT int PAPI_num_hwctrs(void)
{
	return PAPI_num_cmp_hwctrs(0);
}

/* Event sets. */

static int attach(int set, pid_t tid)
{
	struct papi_set *s;
	int r = papi_set_stopped(set, &s);

	if (r < 0)
		return r;
	if (tid <= 0 || s->state & (PAPI_PROFILING | PAPI_OVERFLOWING | PAPI_CPU_ATTACHED))
		return PAPI_EINVAL;
	s->attached = tid;
	s->state |= PAPI_ATTACHED;
	return PAPI_OK;
}

EXPORT int PAPI_attach(int set, unsigned long tid)
{
	return papi_result(attach(set, tid > 0x7fffffff ? -1 : (pid_t)tid));
}

EXPORT int PAPI_detach(int set)
{
	struct papi_set *s;
	int r = papi_set_stopped(set, &s);

	if (r == PAPI_OK && !(s->state & PAPI_ATTACHED))
		r = PAPI_EINVAL;
	if (r < 0)
		return papi_result(r);
	s->attached = 0;
	s->state &= ~PAPI_ATTACHED;
	return PAPI_OK;
}

static int attach_cpu(const PAPI_cpu_option_t *o)
{
	struct papi_set *s;
	int r = papi_set_stopped(o->eventset, &s);

	if (r < 0)
		return r;
	if (o->cpu_num >= (unsigned)sysconf(_SC_NPROCESSORS_CONF) ||
	    s->state & (PAPI_PROFILING | PAPI_OVERFLOWING | PAPI_ATTACHED))
		return PAPI_EINVAL;
	s->cpu = (int)o->cpu_num;
	s->state |= PAPI_CPU_ATTACHED;
	return PAPI_OK;
}

EXPORT int PAPI_multiplex_init(void)
{
	return papi_result(papi_is_ready() ? PAPI_OK : PAPI_ENOINIT);
}

EXPORT int PAPI_set_multiplex(int set)
{
	struct papi_set *s;
	int r = papi_set_stopped(set, &s);

	if (r == PAPI_OK)
		s->state |= PAPI_MULTIPLEXING;
	return papi_result(r);
}

EXPORT int PAPI_get_multiplex(int set)
{
	struct papi_set *s = papi_set_find(set);

	return s ? (s->state & PAPI_MULTIPLEXING) != 0 : papi_result(PAPI_ENOEVST);
}

static int set_domain_of(const PAPI_domain_option_t *o)
{
	struct papi_set *s;
	int r = papi_set_stopped(o->eventset, &s);

	if (r < 0)
		return r;
	if (o->domain < PAPI_DOM_MIN || o->domain > PAPI_DOM_MAX)
		return PAPI_EINVAL;
	if (!(o->domain & PAPI_DOM_USER) && s->state & PAPI_PROFILING)
		return PAPI_EINVAL_DOM;
	s->domain = o->domain;
	return PAPI_OK;
}

static int set_inherit(const PAPI_inherit_option_t *o)
{
	struct papi_set *s;
	int r = papi_set_stopped(o->eventset, &s);

	if (r == PAPI_OK)
		s->inherit = o->inherit != PAPI_INHERIT_NONE;
	return r;
}

EXPORT int PAPI_set_cmp_domain(int domain, int cidx)
{
	return papi_result(cidx == 0 ? papi_set_default_domain(domain) : PAPI_ENOCMP);
}

EXPORT int PAPI_set_domain(int domain)
{
	return PAPI_set_cmp_domain(domain, 0);
}

static int check_granularity(int granularity)
{
	if (granularity < PAPI_GRN_MIN || granularity > PAPI_GRN_MAX ||
	    granularity & (granularity - 1))
		return PAPI_EINVAL;
	return granularity == PAPI_GRN_THR || granularity == PAPI_GRN_SYS ? PAPI_OK : PAPI_ECMP;
}

static int set_granularity_of(const PAPI_granularity_option_t *o)
{
	struct papi_set *s;
	int r = papi_set_stopped(o->eventset, &s);

	if (r == PAPI_OK)
		r = check_granularity(o->granularity);
	if (r < 0)
		return r;
	if (o->granularity == PAPI_GRN_SYS && s->state & (PAPI_PROFILING | PAPI_OVERFLOWING))
		return PAPI_EINVAL;
	s->granularity = o->granularity;
	return PAPI_OK;
}

static int set_default_granularity(int granularity)
{
	int r = check_granularity(granularity);

	if (r == PAPI_OK)
		papi_set_default_granularity(granularity);
	return r;
}

EXPORT int PAPI_set_cmp_granularity(int granularity, int cidx)
{
	return papi_result(cidx == 0 ? set_default_granularity(granularity) : PAPI_ENOCMP);
}

EXPORT int PAPI_set_granularity(int granularity)
{
	return PAPI_set_cmp_granularity(granularity, 0);
}

/* All of them. */

static int set_look(int ns)
{
	if (ns < 0 || (ns && ns < SHORTEST_LOOK_NS) || ns >= SECOND_NS)
		return PAPI_EINVAL;
	if (ns)
		look_ns = ns;
	return PAPI_OK;
}

static int set_timer(const PAPI_itimer_option_t *o)
{
	if (o->itimer_num != ITIMER_REAL && o->itimer_num != ITIMER_VIRTUAL &&
	    o->itimer_num != ITIMER_PROF)
		return PAPI_EINVAL;
	if (o->itimer_sig < 0 || o->itimer_sig > SIGRTMAX || set_look(o->ns) < 0)
		return PAPI_EINVAL;
	timer_number = o->itimer_num;
	timer_signal = o->itimer_sig;
	return PAPI_OK;
}

static int set_option(int option, const PAPI_option_t *o)
{
	switch (option) {
	case PAPI_DEBUG:
		return papi_set_debug(&o->debug);
	case PAPI_MULTIPLEX:
		return PAPI_set_multiplex(o->multiplex.eventset);
	case PAPI_DEFDOM:
		return papi_set_default_domain(o->defdomain.domain);
	case PAPI_DOMAIN:
		return set_domain_of(&o->domain);
	case PAPI_DEFGRN:
		return set_default_granularity(o->defgranularity.granularity);
	case PAPI_GRANUL:
		return set_granularity_of(&o->granularity);
	case PAPI_DEF_MPX_NS:
		return set_look(o->multiplex.ns);
	case PAPI_DEF_ITIMER_NS:
		return set_look(o->itimer.ns);
	case PAPI_DEF_ITIMER:
		return set_timer(&o->itimer);
	case PAPI_ATTACH:
		return PAPI_attach(o->attach.eventset, o->attach.tid);
	case PAPI_DETACH:
		return PAPI_detach(o->attach.eventset);
	case PAPI_CPU_ATTACH:
		return attach_cpu(&o->cpu);
	case PAPI_INHERIT:
		return set_inherit(&o->inherit);
	case PAPI_DATA_ADDRESS:
	case PAPI_INSTR_ADDRESS:
	case PAPI_USER_EVENTS_FILE:
		return PAPI_ENOSUPP;
	default:
		return PAPI_EINVAL;
	}
}

EXPORT int PAPI_set_opt(int option, PAPI_option_t *ptr)
{
	if (option != PAPI_DEBUG && !papi_is_ready())
		return papi_result(PAPI_ENOINIT);
	return papi_result(ptr ? set_option(option, ptr) : PAPI_EINVAL);
}

/* Options that are numbers; PAPI_EINVAL for others. */
static int number_option(int option)
{
	switch (option) {
	case PAPI_MAX_HWCTRS:
		return n_counters();
	case PAPI_MAX_MPX_CTRS:
		return PAPI_SET_EVENTS;
	case PAPI_CLOCKRATE:
		return (int)(papi_clock_hz() / 1000000);
	case PAPI_MAX_CPUS:
		return (int)sysconf(_SC_NPROCESSORS_CONF);
	case PAPI_LIB_VERSION:
		return PAPI_VERSION;
	default:
		return PAPI_EINVAL;
	}
}

/* Options of one event set. */
static int get_set_option(int option, PAPI_option_t *o)
{
	/* all of these begin with the set's number, but for what is the domain's */
	const struct papi_set *s =
		papi_set_find(option == PAPI_DOMAIN || option == PAPI_GRANUL ? o->domain.eventset
									     : o->attach.eventset);

	if (!s)
		return PAPI_ENOEVST;
	switch (option) {
	case PAPI_MULTIPLEX:
		o->multiplex.ns = look_ns;
		o->multiplex.flags = PAPI_MULTIPLEX_DEFAULT;
		return (s->state & PAPI_MULTIPLEXING) != 0;
	case PAPI_DOMAIN:
		o->domain.domain = s->domain;
		return PAPI_OK;
	case PAPI_GRANUL:
		o->granularity.granularity = s->granularity;
		return PAPI_OK;
	case PAPI_ATTACH:
		o->attach.tid = (unsigned long)s->attached;
		return (s->state & PAPI_ATTACHED) != 0;
	case PAPI_CPU_ATTACH:
		o->cpu.cpu_num = (unsigned)s->cpu;
		return (s->state & PAPI_CPU_ATTACHED) != 0;
	default: /* PAPI_INHERIT */
		o->inherit.inherit = s->inherit ? PAPI_INHERIT_ALL : PAPI_INHERIT_NONE;
		return PAPI_OK;
	}
}

static int get_option(int option, PAPI_option_t *o)
{
	switch (option) {
	case PAPI_DEBUG:
		papi_get_debug(&o->debug);
		return PAPI_OK;
	case PAPI_DEFDOM: /* PAPI gives these as the result only; here the option has them */
		o->defdomain.domain = papi_default_domain();
		return papi_default_domain();
	case PAPI_DEFGRN:
		o->defgranularity.granularity = papi_default_granularity();
		return papi_default_granularity();
	case PAPI_DEF_MPX_NS:
		o->multiplex.ns = look_ns;
		return PAPI_OK;
	case PAPI_DEF_ITIMER_NS:
		o->itimer.ns = look_ns;
		return PAPI_OK;
	case PAPI_DEF_ITIMER:
		o->itimer = (PAPI_itimer_option_t){timer_number, timer_signal, look_ns, 0};
		return PAPI_OK;
	case PAPI_PRELOAD:
		o->preload = (PAPI_preload_info_t){.lib_preload_env = "LD_PRELOAD",
						   .lib_preload_sep = ' ',
						   .lib_dir_env = "LD_LIBRARY_PATH",
						   .lib_dir_sep = ':'};
		return PAPI_OK;
	case PAPI_HWINFO:
		o->hw_info = (PAPI_hw_info_t *)PAPI_get_hardware_info();
		return o->hw_info ? PAPI_OK : PAPI_ESYS;
	case PAPI_EXEINFO:
		o->exe_info = (PAPI_exe_info_t *)PAPI_get_executable_info();
		return o->exe_info ? PAPI_OK : PAPI_ESYS;
	case PAPI_SHLIBINFO:
		o->shlib_info = (PAPI_shlib_info_t *)PAPI_get_shared_lib_info();
		return o->shlib_info ? PAPI_OK : PAPI_ESYS;
	case PAPI_COMPONENTINFO:
		o->cmp_info = (PAPI_component_info_t *)PAPI_get_component_info(0);
		return PAPI_OK;
	case PAPI_MULTIPLEX:
	case PAPI_DOMAIN:
	case PAPI_GRANUL:
	case PAPI_ATTACH:
	case PAPI_CPU_ATTACH:
	case PAPI_INHERIT:
		return get_set_option(option, o);
	default:
		return PAPI_EINVAL;
	}
}

EXPORT int PAPI_get_cmp_opt(int option, PAPI_option_t *ptr, int cidx)
{
	PAPI_option_t unused = {0};
	int n;

	if (!papi_is_ready())
		return papi_result(PAPI_ENOINIT);
	if (cidx != 0)
		return papi_result(PAPI_ENOCMP);
	n = number_option(option);
	if (n >= 0)
		return n;
	if (!ptr && option != PAPI_DEFDOM && option != PAPI_DEFGRN)
		return papi_result(PAPI_EINVAL);
	return papi_result(get_option(option, ptr ? ptr : &unused));
}

EXPORT int PAPI_get_opt(int option, PAPI_option_t *ptr)
{
	return PAPI_get_cmp_opt(option, ptr, 0);
}
