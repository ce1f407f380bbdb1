/* SPDX-License-Identifier: BSD-2-Clause */
/* The probe on made-up machines: each refusal must name what would lift it. */
#include "base/cleanup.h"
#include "base/file.h"
#include "collect/probe_machine.h"
#include "t.h"
#include "tree_t.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/stat.h>

/* The kernel that answers. */
static struct {
	bool perfmon; /* CAP_PERFMON is held */
	int64_t paranoid;
	int perf_rc; /* answer to every perf_event_open when not 0 */
	int prog_rc, map_rc, attach_rc, pins_rc;
	bool cycles, cgroup;
	bool unknown_cpu; /* to libpfm4 */
	int n_open;
} kernel;

static int fake_open(struct perf_event_attr *attr, pid_t pid, int cpu, unsigned long flags)
{
	if (kernel.perf_rc)
		return kernel.perf_rc;
	if (!kernel.perfmon &&
	    (kernel.paranoid > 2 || (kernel.paranoid > 1 && !attr->exclude_kernel) ||
	     (kernel.paranoid > 0 && cpu >= 0)))
		return -EACCES;
	if (attr->type == PERF_TYPE_HARDWARE && !kernel.cycles)
		return -ENOENT;
	if (flags & PERF_FLAG_PID_CGROUP && !kernel.cgroup)
		return -EINVAL;
	kernel.n_open++;
	return 1000;
}

static int fake_bpf(int cmd, void *attr, unsigned n_bytes)
{
	int rc = cmd == BPF_PROG_LOAD ? kernel.prog_rc : kernel.map_rc;

	if (rc == 0)
		kernel.n_open++;
	return rc ? rc : 1001;
}

static int fake_attach(int perf_fd, int prog_fd)
{
	return kernel.attach_rc;
}

static int fake_pins(const char *folder, struct err *err)
{
	return kernel.pins_rc ? err_set(err, kernel.pins_rc, "%s is everybody's", folder) : 0;
}

static int fake_close(int fd)
{
	kernel.n_open--;
	return 0;
}

static bool fake_has_cpu_events(void)
{
	return !kernel.unknown_cpu;
}

static char root[] = "/tmp/dwell-probe-XXXXXX", sysfs[64], proc[64];
static struct probe_env env;

static void remove_tree(void)
{
	tree_remove(root);
}

static void put(const char *name, const char *text)
{
	tree_put(root, name, text);
}

static void take_away(const char *name)
{
	_mem_ char *path = xasprintf("%s/%s", root, name);

	tree_remove(path);
}

/* A machine on which all works. */
static bool set_up(void)
{
	_mem_ char *mounts = NULL;

	if (!env.proc) {
		if (!mkdtemp(root))
			return false;
		atexit(remove_tree);
	}
	take_away("proc");
	take_away("sys");
	snprintf(sysfs, sizeof(sysfs), "%s/sys", root);
	snprintf(proc, sizeof(proc), "%s/proc", root);
	mounts = xasprintf("none %s/bpf bpf rw 0 0\ncgroup2 %s/sys cgroup2 rw,relatime 0 0\n",
			   sysfs, root);
	put("sys/kernel/btf/vmlinux", "btf maple_range_64");
	put("sys/kernel/tracing/events/sched/sched_switch/id", "314\n");
	put("sys/bus/event_source/devices/cpu/caps/max_precise", "3\n");
	put("sys/bpf/x", "");
	put("proc/self/mounts", mounts);
	put("proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n");
	put("proc/self/map_files/400000-401000", "");
	put("proc/1/maps", "");
	put("proc/cpuinfo", "flags\t\t: fpu vme\n");
	put("proc/self/uid_map", "         0          0 4294967295\n");
	put("proc/kallsyms", "0000000000000000 A fixed\nffffffff81000000 T _text\n");
	put("proc/sys/kernel/perf_event_paranoid", "2\n");
	put("proc/sys/kernel/kptr_restrict", "0\n");
	put("proc/sys/kernel/perf_event_mlock_kb", "516\n");
	put("proc/sys/kernel/perf_event_max_sample_rate", "100000\n");
	put("proc/sys/net/core/bpf_jit_enable", "1\n");
	env = (struct probe_env){.sysfs = sysfs,
				 .proc = proc,
				 .debuginfod_urls = "https://example.org",
				 .n_cpus = 4,
				 .max_files = 1024,
				 .perf_open = fake_open,
				 .bpf = fake_bpf,
				 .perf_attach = fake_attach,
				 .close = fake_close,
				 .pins_check = fake_pins,
				 .has_cpu_events = fake_has_cpu_events};
	memset(&kernel, 0, sizeof(kernel));
	kernel.perfmon = kernel.cycles = kernel.cgroup = true;
	kernel.paranoid = 2;
	return true;
}

/* Probes, and expects row ID in STATE with REMEDY in its remedy (NULL: none). */
static void expect(const char *id, enum probe_state state, const char *remedy)
{
	struct probe_report r;
	const struct probe_row *row;

	probe_machine(&env, &r);
	row = probe_find(&r, id);
	if (!row)
		t_fail_("no row %s", id);
	else if (row->state != state || !row->remedy != !remedy ||
		 (remedy && !strstr(row->remedy, remedy)))
		t_fail_("%s: %s, \"%s\", remedy \"%s\"", id, probe_state_name(row->state),
			row->found, row->remedy ? row->remedy : "(none)");
	EXPECT_EQ(kernel.n_open, 0);
	probe_report_release(&r);
}

TEST(all_works)
{
	struct probe_report r;

	REQUIRE(set_up());
	probe_machine(&env, &r);
	EXPECT(r.own_programs && r.system_wide && r.bpf);
	EXPECT(r.rows.n >= 20);
	vec_each (row, &r.rows)
		if (row->state != PROBE_OK || row->remedy)
			t_fail_("%s: %s, %s", row->id, probe_state_name(row->state), row->found);
	EXPECT_EQ(kernel.n_open, 0);
	probe_report_release(&r);
}

TEST(cpus_without_event_names)
{
	REQUIRE(set_up());
	expect("cpu_events", PROBE_OK, NULL);
	kernel.unknown_cpu = true;
	expect("cpu_events", PROBE_LIMITED, "libpfm4");
}

TEST(paranoid_levels)
{
	static const struct {
		const char *text;
		bool own, kernel, all;
	} levels[] = {{"-1", true, true, true},	  {"0", true, true, true},
		      {"1", true, true, false},	  {"2", true, false, false},
		      {"3", false, false, false}, {"4", false, false, false}};

	for (size_t i = 0; i < n_elems(levels); i++) {
		struct probe_report r;

		REQUIRE(set_up());
		kernel.perfmon = false;
		kernel.paranoid = atoi(levels[i].text);
		put("proc/sys/kernel/perf_event_paranoid", levels[i].text);
		probe_machine(&env, &r);
		EXPECT_EQ(r.own_programs, levels[i].own);
		EXPECT_EQ(probe_find(&r, "kernel_samples")->state == PROBE_OK, levels[i].kernel);
		EXPECT_EQ(r.system_wide, levels[i].all);
		EXPECT_EQ(r.bpf, levels[i].all);
		probe_report_release(&r);
		expect("waits",
		       levels[i].all   ? PROBE_OK
		       : levels[i].own ? PROBE_LIMITED
				       : PROBE_MISSING,
		       levels[i].all	  ? NULL
		       : levels[i].kernel ? "engine bpf"
		       : levels[i].own	  ? "in the kernel"
					  : "own programs");
		expect("own_programs", levels[i].own ? PROBE_OK : PROBE_MISSING,
		       levels[i].own ? NULL : "kernel.perf_event_paranoid=2, or CAP_PERFMON");
		expect("kernel_samples", levels[i].kernel ? PROBE_OK : PROBE_MISSING,
		       levels[i].kernel ? NULL : "kernel.perf_event_paranoid=1, or CAP_PERFMON");
		expect("system_wide", levels[i].all ? PROBE_OK : PROBE_MISSING,
		       levels[i].all ? NULL : "kernel.perf_event_paranoid=0, or CAP_PERFMON");
	}
}

TEST(containers_and_kernels_without_perf)
{
	REQUIRE(set_up());
	kernel.perf_rc = -EACCES;
	put("proc/self/uid_map", "         0          0          1\n");
	put("proc/sys/kernel/perf_event_paranoid", "4\n");
	expect("own_programs", PROBE_MISSING, "CAP_PERFMON in the initial user namespace");
	kernel.perf_rc = -ENOSYS;
	expect("own_programs", PROBE_MISSING, "CONFIG_PERF_EVENTS");
	kernel.perf_rc = -EPERM;
	put("proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\nSeccomp:\t2\n");
	expect("system_wide", PROBE_MISSING, "seccomp=unconfined");
	put("proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\nSeccomp:\t0\n");
	put("proc/sys/kernel/perf_event_paranoid", "-1\n");
	expect("system_wide", PROBE_MISSING, "security module");
}

TEST(bpf_refusals)
{
	REQUIRE(set_up());
	kernel.prog_rc = -EPERM;
	expect("bpf", PROBE_MISSING, "RLIMIT_MEMLOCK");
	put("proc/self/uid_map", "         0          0          1\n");
	expect("bpf", PROBE_MISSING, "in the initial user namespace");
	put("proc/self/uid_map", "         0          0 4294967295\n");
	put("sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	expect("bpf", PROBE_MISSING, "lockdown=integrity");
	put("proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\nSeccomp:\t2\n");
	expect("bpf", PROBE_MISSING, "seccomp=unconfined");
	/* bits: CAP_PERFMON 38, CAP_BPF 39 (linux/capability.h) */
	put("proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\nSeccomp:\t2\n");
	expect("bpf", PROBE_MISSING, "CAP_BPF and CAP_PERFMON");
	put("proc/self/status", "Name:\tx\nCapEff:\t0000004000000000\nSeccomp:\t0\n");
	expect("bpf", PROBE_MISSING, "CAP_BPF");
	put("proc/self/status", "Name:\tx\nCapEff:\t0000008000000000\nSeccomp:\t0\n");
	expect("bpf", PROBE_MISSING, "CAP_PERFMON");
	kernel.prog_rc = -ENOSYS;
	expect("bpf", PROBE_MISSING, "CONFIG_BPF_SYSCALL");
	kernel.prog_rc = 0;
	kernel.map_rc = -EINVAL;
	expect("bpf", PROBE_MISSING, "Linux 5.5");
	kernel.map_rc = 0;
	kernel.attach_rc = -EINVAL;
	expect("bpf_attach", PROBE_MISSING, "CONFIG_BPF_EVENTS");
}

TEST(what_files_say)
{
	struct probe_report r;

	REQUIRE(set_up());
	put("sys/kernel/btf/vmlinux", "btf");
	expect("call_paths", PROBE_LIMITED, "Linux 6.1");
	take_away("sys/kernel/btf");
	expect("call_paths", PROBE_LIMITED, "engine bpf");
	expect("btf", PROBE_MISSING, "CONFIG_DEBUG_INFO_BTF");
	probe_machine(&env, &r);
	EXPECT(r.system_wide && !r.bpf);
	probe_report_release(&r);
	put("proc/sys/net/core/bpf_jit_enable", "0\n");
	expect("bpf_jit", PROBE_LIMITED, "net.core.bpf_jit_enable=1");
	take_away("proc/sys/net");
	expect("bpf_jit", PROBE_LIMITED, "CONFIG_BPF_JIT");
	take_away("sys/kernel/tracing");
	expect("tracefs", PROBE_LIMITED, "mount -t tracefs");
	put("proc/kallsyms", "0000000000000000 T _text\n");
	expect("kallsyms", PROBE_LIMITED, "kernel.perf_event_paranoid=1");
	put("proc/sys/kernel/kptr_restrict", "1\n");
	expect("kallsyms", PROBE_LIMITED, "CAP_SYSLOG, or sysctl kernel.kptr_restrict=0");
	put("proc/sys/kernel/kptr_restrict", "2\n");
	expect("kallsyms", PROBE_LIMITED, "kernel.kptr_restrict=1");
	take_away("proc/kallsyms");
	expect("kallsyms", PROBE_LIMITED, "CONFIG_KALLSYMS");
	put("sys/bus/event_source/devices/cpu/caps/max_precise", "0\n");
	expect("precise", PROBE_LIMITED, "PEBS");
	put("sys/bus/event_source/devices/ibs_op/type", "9\n");
	expect("precise", PROBE_OK, NULL);
	take_away("proc/self/map_files");
	expect("map_files", PROBE_LIMITED, "CONFIG_CHECKPOINT_RESTORE");
	put("proc/sys/kernel/perf_event_mlock_kb", "64\n");
	expect("ring_memory", PROBE_LIMITED, "kernel.perf_event_mlock_kb=516");
	put("proc/sys/kernel/perf_event_max_sample_rate", "2000\n");
	expect("sample_rate", PROBE_LIMITED, "kernel.perf_event_max_sample_rate=100000");
	kernel.pins_rc = -EPERM;
	expect("bpffs", PROBE_LIMITED, "mount -t bpf -o mode=700 bpf /run/dwell/bpf");
	put("proc/self/mounts", "");
	expect("bpffs", PROBE_LIMITED, "mount -t bpf");
	expect("cgroups", PROBE_MISSING, "mount -t cgroup2");
}

TEST(what_the_kernel_lacks)
{
	REQUIRE(set_up());
	kernel.cycles = false;
	expect("hardware", PROBE_LIMITED, "driver of this CPU's counters");
	put("proc/cpuinfo", "flags\t\t: fpu hypervisor vme\n");
	expect("hardware", PROBE_LIMITED, "the host can pass");
	kernel.cgroup = false;
	expect("cgroups", PROBE_MISSING, "CONFIG_CGROUP_PERF");
	env.max_files = 64;
	expect("open_files", PROBE_LIMITED, "ulimit -Hn 96");
	env.debuginfod_urls = NULL;
	expect("debuginfod", PROBE_LIMITED, "DEBUGINFOD_URLS=");
}

TEST(this_machine_can_be_probed)
{
	struct probe_env host;
	struct probe_report r;
	int fd = open("/dev/null", O_RDONLY), again;

	close(fd);
	probe_env_host(&host);
	probe_machine(&host, &r);
	EXPECT(r.rows.n >= 15);
	EXPECT(!r.bpf || r.system_wide);
	/* nothing stays open */
	again = open("/dev/null", O_RDONLY);
	EXPECT_EQ(again, fd);
	close(again);
	probe_report_release(&r);
}
