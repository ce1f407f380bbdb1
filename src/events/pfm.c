/* SPDX-License-Identifier: BSD-2-Clause */
/* libpfm4, opened when first needed.
 *
 * The library is tables: linking it costs every start of the program half a millisecond of
 * relocations and using it another 0.3 ms, and most recordings name no event of it.  So it is
 * opened by name at the first look-up, and stays open.  Its own "perf" and "perf_raw" pseudo PMUs
 * repeat the kernel's names; they are left out of listings.
 *
 * $LIBPFM_FORCE_PMU (libpfm's own) makes it act as on another CPU: tests use it. */
#include "events/pfm.h"

#include <dlfcn.h>
#include <errno.h>
#include <perfmon/pfmlib_perf_event.h>
#include <string.h>

#include "base/str.h"

static struct {
	bool tried;
	bool ready;
	__typeof__(&pfm_initialize) initialize;
	__typeof__(&pfm_strerror) strerror;
	__typeof__(&pfm_get_pmu_info) get_pmu_info;
	__typeof__(&pfm_get_event_next) get_event_next;
	__typeof__(&pfm_get_event_info) get_event_info;
	__typeof__(&pfm_get_event_attr_info) get_event_attr_info;
	__typeof__(&pfm_get_os_event_encoding) get_os_event_encoding;
} lib;

static bool lib_open(void)
{
	void *so;

	if (lib.tried)
		return lib.ready;
	lib.tried = true;
	so = dlopen("libpfm.so.4", RTLD_LAZY | RTLD_LOCAL);
	if (!so)
		return false;
	lib.initialize = (__typeof__(lib.initialize))dlsym(so, "pfm_initialize");
	lib.strerror = (__typeof__(lib.strerror))dlsym(so, "pfm_strerror");
	lib.get_pmu_info = (__typeof__(lib.get_pmu_info))dlsym(so, "pfm_get_pmu_info");
	lib.get_event_next = (__typeof__(lib.get_event_next))dlsym(so, "pfm_get_event_next");
	lib.get_event_info = (__typeof__(lib.get_event_info))dlsym(so, "pfm_get_event_info");
	lib.get_event_attr_info =
		(__typeof__(lib.get_event_attr_info))dlsym(so, "pfm_get_event_attr_info");
	lib.get_os_event_encoding =
		(__typeof__(lib.get_os_event_encoding))dlsym(so, "pfm_get_os_event_encoding");
	lib.ready = lib.initialize && lib.strerror && lib.get_pmu_info && lib.get_event_next &&
		    lib.get_event_info && lib.get_event_attr_info && lib.get_os_event_encoding &&
		    lib.initialize() == PFM_SUCCESS;
	return lib.ready;
}

int event_pfm_encode(const char *text, struct event_spec *spec, struct err *err)
{
	/* libpfm writes its own idea of the struct, which may be longer than ours */
	union {
		struct perf_event_attr attr;
		uint64_t words[64];
	} a = {.words = {0}};
	pfm_perf_encode_arg_t arg = {.attr = &a.attr, .size = sizeof(arg)};
	int rc;

	if (!lib_open())
		return err_set(
			err, -ENOENT,
			"the hardware's own event names need libpfm4, which is not installed "
			"(Debian package libpfm4)");
	a.attr.size = sizeof(a.attr);
	rc = lib.get_os_event_encoding(text, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
	if (rc == PFM_ERR_NOTFOUND || rc == PFM_ERR_NOTSUPP)
		return err_set(err, -ENOENT, "unknown event");
	if (rc != PFM_SUCCESS)
		return err_set(err, -EINVAL, "libpfm4: %s", lib.strerror(rc));
	spec->kind = EVENT_PFM;
	spec->attr.type = a.attr.type;
	spec->attr.config = a.attr.config;
	spec->attr.config1 = a.attr.config1;
	spec->attr.config2 = a.attr.config2;
	spec->attr.exclude_user = a.attr.exclude_user;
	spec->attr.exclude_kernel = a.attr.exclude_kernel;
	spec->attr.exclude_hv = a.attr.exclude_hv;
	spec->attr.precise_ip = a.attr.precise_ip;
	if (a.attr.freq)
		spec->freq_hz = a.attr.sample_freq;
	else
		spec->period = a.attr.sample_period;
	return 0;
}

static void each_umask(const char *pmu, const pfm_event_info_t *event, event_pfm_each_fn *each,
		       void *arg)
{
	for (int i = 0; i < event->nattrs; i++) {
		pfm_event_attr_info_t attr = {.size = sizeof(attr)};

		if (lib.get_event_attr_info(event->idx, i, PFM_OS_PERF_EVENT_EXT, &attr) ==
			    PFM_SUCCESS &&
		    attr.type == PFM_ATTR_UMASK)
			each(pmu, event->name, attr.name, attr.desc, arg);
	}
}

void event_pfm_each(event_pfm_each_fn *each, void *arg)
{
	if (!lib_open())
		return;
	for (int i = 0; i < PFM_PMU_MAX; i++) {
		pfm_pmu_info_t pmu = {.size = sizeof(pmu)};

		if (lib.get_pmu_info((pfm_pmu_t)i, &pmu) != PFM_SUCCESS || !pmu.is_present ||
		    pmu.type == PFM_PMU_TYPE_OS_GENERIC)
			continue;
		for (int e = pmu.first_event; e >= 0; e = lib.get_event_next(e)) {
			pfm_event_info_t event = {.size = sizeof(event)};

			if (lib.get_event_info(e, PFM_OS_PERF_EVENT_EXT, &event) != PFM_SUCCESS)
				continue;
			each(pmu.name, event.name, NULL, event.desc, arg);
			each_umask(pmu.name, &event, each, arg);
		}
	}
}
