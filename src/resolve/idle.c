/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's idle procedures, for the [idle] row (resolve_is_idle).  The list follows an idle CPU
 * through Linux: kernel/sched/idle.c, kernel/time/tick-sched.c, drivers/cpuidle (generic),
 * arch/x86/kernel/process.c, drivers/idle/intel_idle.c, drivers/acpi/processor_idle.c,
 * arch/arm64/kernel/idle.c, paravirtual guests. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "resolve/resolver.h"

static const char *const idle_names[] = {
	/* sorted by strcmp */
	"__cpuidle_text_start",
	"__intel_idle",
	"__intel_idle_hlt",
	"__monitor",
	"__mwait",
	"__mwait_idle_with_hints",
	"__pv_safe_halt",
	"__sti_mwait",
	"acpi_idle_do_entry",
	"acpi_idle_enter",
	"acpi_idle_enter_bm",
	"acpi_idle_enter_s2idle",
	"acpi_idle_enter_simple",
	"acpi_idle_play_dead",
	"acpi_processor_ffh_cstate_enter",
	"acpi_safe_halt",
	"amd_e400_idle",
	"arch_cpu_idle",
	"arch_cpu_idle_enter",
	"arch_cpu_idle_exit",
	"call_cpuidle",
	"cpu_do_idle",
	"cpu_idle",
	"cpu_idle_loop",
	"cpu_idle_poll",
	"cpu_startup_entry",
	"cpuidle_enter",
	"cpuidle_enter_s2idle",
	"cpuidle_enter_state",
	"cpuidle_get_cpu_driver",
	"cpuidle_governor_latency_req",
	"cpuidle_idle_call",
	"cpuidle_not_available",
	"cpuidle_reflect",
	"cpuidle_select",
	"default_enter_idle",
	"default_idle",
	"default_idle_call",
	"do_idle",
	"haltpoll_enter_idle",
	"haltpoll_select",
	"intel_idle",
	"intel_idle_hlt",
	"intel_idle_hlt_irq_on",
	"intel_idle_ibrs",
	"intel_idle_irq",
	"intel_idle_s2idle",
	"intel_idle_xstate",
	"kvm_halt_poll",
	"menu_select",
	"mwait_idle",
	"mwait_idle_with_hints",
	"native_halt",
	"native_safe_halt",
	"poll_idle",
	"psci_cpu_suspend_enter",
	"psci_enter_idle_state",
	"pv_native_halt",
	"pv_native_safe_halt",
	"raw_safe_halt",
	"safe_halt",
	"sched_idle_set_state",
	"tdx_halt",
	"tdx_safe_halt",
	"teo_select",
	"tick_nohz_get_next_hrtimer",
	"tick_nohz_get_sleep_length",
	"tick_nohz_idle_enter",
	"tick_nohz_idle_exit",
	"tick_nohz_idle_got_tick",
	"tick_nohz_idle_restart_tick",
	"tick_nohz_idle_retain_tick",
	"tick_nohz_idle_stop_tick",
	"xen_safe_halt",
};

static int by_name(const void *name, const void *entry)
{
	return strcmp(name, *(const char *const *)entry);
}

bool resolve_is_idle(const char *name)
{
	char base[64];
	size_t n = strcspn(name, "."); /* gcc's clones: do_idle.cold, acpi_idle_enter.part.0 */

	if (n == 0 || n >= sizeof(base))
		return false;
	memcpy(base, name, n);
	base[n] = '\0';
	return bsearch(base, idle_names, n_elems(idle_names), sizeof(idle_names[0]), by_name) !=
	       NULL;
}
