/* SPDX-License-Identifier: BSD-2-Clause */
/* The probe: makes the very system calls a recording makes and says why those that fail do.
 *
 * The user id tells little: root in a container is stopped by its seccomp filter, a plain user may
 * hold CAP_PERFMON, and Debian's kernels have paranoid levels of their own.  So each call is tried,
 * and what is read from /proc (capabilities, seccomp, the paranoid level) only explains a refusal.
 * What refuses perf_event_open: EACCES the paranoid level (kernel:
 * Documentation/admin-guide/sysctl/ kernel.rst perf_event_paranoid; above 2 is Debian's and
 * Ubuntu's, which refuses everything), EPERM a seccomp filter, ENOSYS a kernel without it. */
#include "collect/probe_machine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "events/pfm.h"
#include "collect/pin_dir.h"
#include "collect/probe_rows.h"

enum { MAX_TEXT = 1 << 16 };

const char *probe_state_name(enum probe_state state)
{
	static const char *const names[] = {"ok", "limited", "missing"};

	return names[state];
}

/* --- the host's calls --- */

static int host_perf_open(struct perf_event_attr *attr, pid_t pid, int cpu, unsigned long flags)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, flags | PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int host_bpf(int cmd, void *attr, unsigned n_bytes)
{
	long rc = syscall(SYS_bpf, cmd, attr, n_bytes);

	return rc < 0 ? -errno : (int)rc;
}

static int host_attach(int perf_fd, int prog_fd)
{
	return ioctl(perf_fd, PERF_EVENT_IOC_SET_BPF, prog_fd) < 0 ? -errno : 0;
}

static void note_event(const char *pmu, const char *event, const char *umask,
		       const char *description, void *arg)
{
	*(bool *)arg = true;
}

static bool host_has_cpu_events(void)
{
	bool any = false;

	event_pfm_each(note_event, &any);
	return any;
}

static int check_pins(const char *folder, struct err *err)
{
	struct pin_dir d = PIN_DIR_NONE;
	int rc = pin_dir_open_fs(folder, PIN_OURS, &d, err);

	pin_dir_close(&d);
	return rc;
}

void probe_env_host(struct probe_env *ret)
{
	struct rlimit files = {0};
	long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);

	getrlimit(RLIMIT_NOFILE, &files);
	*ret = (struct probe_env){
		.sysfs = "/sys",
		.proc = "/proc",
		.debuginfod_urls = getenv("DEBUGINFOD_URLS"),
		.n_cpus = n_cpus > 0 ? (unsigned)n_cpus : 1,
		.max_files = files.rlim_max,
		.perf_open = host_perf_open,
		.bpf = host_bpf,
		.perf_attach = host_attach,
		.close = close,
		.pins_check = check_pins,
		.has_cpu_events = host_has_cpu_events,
	};
}

/* --- shared by the checks --- */

void probe_add(struct probe *p, const char *id, const char *what, enum probe_state state,
	       char *found, char *remedy)
{
	vec_push(&p->report->rows, (struct probe_row){id, what, state, found, remedy});
}

static char *text_of(const char *root, const char *name)
{
	_mem_ char *path = xasprintf("%s/%s", root, name);
	char *text;

	return file_load(path, MAX_TEXT, &text, NULL, NULL) < 0 ? NULL : text;
}

/* The text of PROC/NAME, at most 64 KiB, on the heap; NULL when it cannot be read. */
static char *proc_text(const struct probe *p, const char *name)
{
	return text_of(p->env->proc, name);
}

/* The text of SYSFS/NAME, at most 64 KiB, on the heap; NULL when it cannot be read. */
static char *sys_text(const struct probe *p, const char *name)
{
	return text_of(p->env->sysfs, name);
}

bool probe_sysctl(const struct probe *p, const char *name, int64_t *ret)
{
	_mem_ char *file = xasprintf("sys/%s", name);
	_mem_ char *text = proc_text(p, file);
	char *end;

	if (!text)
		return false;
	errno = 0;
	*ret = strtoll(text, &end, 10);
	return end != text && !errno;
}

char *probe_mount(const struct probe *p, const char *type, const char *option)
{
	_mem_ char *text = proc_text(p, "self/mounts");

	/* proc(5) mounts: device, folder, type, options */
	for (char *line = text, *next; line && *line; line = next) {
		char *fields[4], *rest = line;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		for (size_t i = 0; i < n_elems(fields); i++)
			fields[i] = strsep(&rest, " ");
		if (!fields[3] || strcmp(fields[2], type) != 0)
			continue;
		for (char *o = option ? fields[3] : NULL, *one; (one = strsep(&o, ","));)
			if (strcmp(one, option) == 0)
				return xstrdup(fields[1]);
		if (!option)
			return xstrdup(fields[1]);
	}
	return NULL;
}

static bool has_cap(const struct probe *p, unsigned bit)
{
	return p->caps >> bit & 1;
}

static uint64_t status_field(const char *status, const char *key, int base)
{
	const char *at = status ? strstr(status, key) : NULL;

	return at ? strtoull(at + strlen(key), NULL, base) : 0;
}

static void read_background(struct probe *p)
{
	_mem_ char *status = proc_text(p, "self/status");
	_mem_ char *uids = proc_text(p, "self/uid_map");
	_mem_ char *cpuinfo = NULL, *path = NULL;

	/* proc(5) status: CapEff in hex; Seccomp 2 is a filter */
	p->caps = status_field(status, "\nCapEff:", 16);
	p->filtered = status_field(status, "\nSeccomp:", 10) ==
		      2; /* user_namespaces(7): the initial one maps all 2^32 - 1 ids */
	p->in_user_ns = uids && !strstr(uids, "4294967295");
	if (!probe_sysctl(p, "kernel/perf_event_paranoid", &p->paranoid))
		p->paranoid = INT64_MIN;
	/* /proc/cpuinfo is long on large machines; its first CPU says enough */
	path = xasprintf("%s/cpuinfo", p->env->proc);
	cpuinfo = xcalloc(1, MAX_TEXT);
	{
		_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);

		if (fd >= 0 && read(fd, cpuinfo, MAX_TEXT - 1) > 0)
			p->in_vm = strstr(cpuinfo, " hypervisor") != NULL;
	}
}

/* --- perf_event_open --- */

/* The clock event every kernel has: what fails with it fails for permission. */
static struct perf_event_attr clock_attr(bool user_only)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000,
		.sample_type = PERF_SAMPLE_IP,
		.disabled = 1,
		.exclude_kernel = user_only,
		.exclude_hv = user_only,
	};
}

static const char initial_ns[] = " in the initial user namespace (this process is in another)";

/* Why perf_event_open failed with RC when LEVEL is the highest paranoid level that allows it. */
static void perf_refused(const struct probe *p, int rc, int level, char **ret_found,
			 char **ret_remedy)
{
	*ret_remedy = NULL;
	if (rc == -ENOSYS) {
		*ret_found = xstrdup("this kernel has no perf_event_open");
		*ret_remedy = xstrdup(
			"a kernel with CONFIG_PERF_EVENTS=y, or a container that allows the call");
	} else if (rc == -EPERM && p->filtered) {
		*ret_found = xstrdup("a seccomp filter forbids perf_event_open (a container's)");
		*ret_remedy = xstrdup("start the container with --cap-add PERFMON or with "
				      "--security-opt seccomp=unconfined");
	} else if ((rc == -EACCES || rc == -EPERM) && p->paranoid > level) {
		*ret_found =
			xasprintf("kernel.perf_event_paranoid is %" PRId64 "%s", p->paranoid,
				  p->paranoid > 2 ? ", which forbids it without CAP_PERFMON" : "");
		*ret_remedy = xasprintf("sysctl kernel.perf_event_paranoid=%d, or CAP_PERFMON%s",
					level, p->in_user_ns ? initial_ns : "");
	} else {
		*ret_found = xasprintf("perf_event_open: %s", strerror(-rc));
		if (rc == -EACCES || rc == -EPERM)
			*ret_remedy = xstrdup("CAP_PERFMON, and a security module (SELinux, "
					      "lockdown) that lets it be used");
	}
}

/* Opens ATTR and closes it; adds the row of one permission. */
static bool check_permission(struct probe *p, const char *id, const char *what, bool user_only,
			     pid_t pid, int cpu, int level, const char *found)
{
	struct perf_event_attr attr = clock_attr(user_only);
	int fd = p->env->perf_open(&attr, pid, cpu, 0);
	char *why, *remedy;

	if (fd >= 0) {
		p->env->close(fd);
		probe_add(p, id, what, PROBE_OK, xstrdup(found), NULL);
		return true;
	}
	perf_refused(p, fd, level, &why, &remedy);
	probe_add(p, id, what, PROBE_MISSING, why, remedy);
	return false;
}

static void check_perf(struct probe *p)
{
	p->report->own_programs =
		check_permission(p, "own_programs", "samples of own programs", true, 0, -1, 2,
				 "user code of this user's programs can be sampled");
	check_permission(p, "kernel_samples", "samples in the kernel", false, 0, -1, 1,
			 "kernel code run for own programs can be sampled");
	p->report->system_wide = check_permission(p, "system_wide", "samples of all processes",
						  false, -1, 0, 0, "every CPU can be sampled");
}

static void check_hardware(struct probe *p)
{
	static const char id[] = "hardware", what[] = "hardware counters";
	struct perf_event_attr attr = clock_attr(true);
	int fd;

	if (!p->report->own_programs)
		return;
	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	fd = p->env->perf_open(&attr, 0, -1, 0);
	if (fd >= 0) {
		p->env->close(fd);
		probe_add(p, id, what, PROBE_OK, xstrdup("cycles can be sampled"), NULL);
	} else if (p->in_vm) {
		probe_add(
			p, id, what, PROBE_LIMITED,
			xstrdup("a virtual machine without counters: cpu-clock is sampled instead"),
			xstrdup("the host can pass its counters through (KVM: -cpu host,pmu=on; "
				"clouds: a metal instance)"));
	} else {
		probe_add(p, id, what, PROBE_LIMITED,
			  xasprintf("cycles: %s: cpu-clock is sampled instead", strerror(-fd)),
			  xstrdup("a kernel with the driver of this CPU's counters "
				  "(CONFIG_PERF_EVENTS_INTEL_*, _AMD_*, CONFIG_ARM_PMUV3)"));
	}
}

static void check_cgroups(struct probe *p)
{
	static const char id[] = "cgroups", what[] = "recording one cgroup (-G)";
	_mem_ char *v2 = probe_mount(p, "cgroup2", NULL);
	_mem_ char *v1 = probe_mount(p, "cgroup", "perf_event");
	const char *folder = v1 ? v1 : v2;
	struct perf_event_attr attr = clock_attr(false);
	_fd_ int dir = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int why = errno, fd;
	if (!folder) {
		probe_add(p, id, what, PROBE_MISSING, xstrdup("no cgroup file system is mounted"),
			  xstrdup("mount -t cgroup2 cgroup2 /sys/fs/cgroup"));
		return;
	}
	if (!p->report->system_wide) {
		probe_add(p, id, what, PROBE_MISSING,
			  xstrdup("needs permission to sample all processes"),
			  xstrdup("sysctl kernel.perf_event_paranoid=0, or CAP_PERFMON"));
		return;
	}
	if (dir < 0) {
		probe_add(p, id, what, PROBE_MISSING, xasprintf("%s: %s", folder, strerror(why)),
			  xstrdup("mount -t cgroup2 cgroup2 /sys/fs/cgroup"));
		return;
	}
	fd = p->env->perf_open(&attr, dir, 0, PERF_FLAG_PID_CGROUP);
	if (fd < 0) {
		probe_add(p, id, what, PROBE_MISSING,
			  xasprintf("perf_event_open on %s: %s", folder, strerror(-fd)),
			  xstrdup("a kernel with CONFIG_CGROUP_PERF=y"));
		return;
	}
	p->env->close(fd);
	probe_add(p, id, what, PROBE_OK, xasprintf("cgroups under %s can be sampled", folder),
		  NULL);
}

/* --- bpf --- */

/* The two instructions of `return 0`; linux/bpf.h struct bpf_insn */
static int load_program(const struct probe *p)
{
	static const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = n_elems(code);
	attr.license = (uintptr_t) "GPL";
	return p->env->bpf(BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int make_map(const struct probe *p)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = 4;
	attr.value_size = 8;
	attr.max_entries = 1;
	attr.map_flags = BPF_F_MMAPABLE;
	return p->env->bpf(BPF_MAP_CREATE, &attr, sizeof(attr));
}

/* The capabilities a perf_event program asks for (kernel/bpf/syscall.c bpf_prog_load). */
static char *missing_bpf_caps(const struct probe *p)
{
	if (has_cap(p, CAP_SYS_ADMIN))
		return NULL;
	if (!has_cap(p, CAP_BPF) && !has_cap(p, CAP_PERFMON))
		return xstrdup("CAP_BPF and CAP_PERFMON (or root)");
	if (!has_cap(p, CAP_BPF))
		return xstrdup("CAP_BPF");
	return has_cap(p, CAP_PERFMON) ? NULL : xstrdup("CAP_PERFMON");
}

static void bpf_refused(struct probe *p, const char *id, const char *what, const char *step, int rc)
{
	_mem_ char *lockdown = sys_text(p, "kernel/security/lockdown");
	char *caps = missing_bpf_caps(p);
	char *found = xasprintf("%s: %s", step, strerror(-rc)), *remedy = NULL;

	if (rc == -ENOSYS)
		remedy = xstrdup(
			"a kernel with CONFIG_BPF_SYSCALL=y, or a container that allows it");
	else if (rc == -EINVAL)
		remedy = xstrdup("Linux 5.5 or newer with CONFIG_BPF_EVENTS=y");
	else if (rc == -EPERM && caps)
		remedy = take_ptr(&caps);
	else if (rc == -EPERM && p->filtered)
		remedy = xstrdup("a seccomp filter forbids it: start the container with "
				 "--security-opt seccomp=unconfined");
	else if (rc == -EPERM && lockdown && strstr(lockdown, "[confidentiality]"))
		remedy = xstrdup("the kernel is locked down: boot with lockdown=integrity or none");
	else if (rc == -EPERM && p->in_user_ns)
		remedy = xasprintf("CAP_BPF and CAP_PERFMON%s", initial_ns);
	else if (rc == -EPERM)
		remedy = xstrdup("on Linux before 5.11 a higher RLIMIT_MEMLOCK (ulimit -l "
				 "unlimited), else a security module that allows it");
	free(caps);
	probe_add(p, id, what, PROBE_MISSING, found, remedy);
}

static void check_attach(struct probe *p, int prog)
{
	static const char id[] = "bpf_attach", what[] = "BPF program on an event";
	struct perf_event_attr attr = clock_attr(false);
	int fd = p->env->perf_open(&attr, 0, -1, 0);
	int rc = fd < 0 ? fd : p->env->perf_attach(fd, prog);

	if (fd >= 0)
		p->env->close(fd);
	if (rc < 0) {
		probe_add(p, id, what, PROBE_MISSING, xasprintf("attaching: %s", strerror(-rc)),
			  xstrdup("a kernel with CONFIG_BPF_EVENTS=y"));
		return;
	}
	p->report->bpf = true;
	probe_add(p, id, what, PROBE_OK, xstrdup("a program attached to a clock event"), NULL);
}

static void check_bpf(struct probe *p)
{
	static const char id[] = "bpf", what[] = "BPF programs and maps";
	int prog = load_program(p);
	int map = prog < 0 ? prog : make_map(p);

	if (prog < 0)
		bpf_refused(p, id, what, "loading a program", prog);
	else if (map < 0)
		bpf_refused(p, id, what, "making a map that user space can map", map);
	else
		probe_add(p, id, what, PROBE_OK, xstrdup("a program and a mapped map load"), NULL);
	if (map >= 0)
		check_attach(p, prog);
	if (prog >= 0)
		p->env->close(prog);
	if (prog >= 0 && map >= 0)
		p->env->close(map);
}

void probe_machine(const struct probe_env *env, struct probe_report *ret)
{
	struct probe p = {.env = env, .report = ret};

	*ret = (struct probe_report){.own_programs = false};
	read_background(&p);
	check_perf(&p);
	check_bpf(&p);
	probe_btf(&p);
	probe_jit(&p);
	probe_bpffs(&p);
	check_hardware(&p);
	probe_precise(&p);
	check_cgroups(&p);
	probe_tracefs(&p);
	probe_kallsyms(&p);
	probe_other_maps(&p);
	probe_map_files(&p);
	probe_limits(&p);
	probe_names(&p); /* the bpf engine opens its events on whole CPUs, and its programs read
			    kernel structures */
	ret->bpf = ret->bpf && ret->system_wide && probe_find(ret, "btf")->state == PROBE_OK;
	probe_calls(&p);
	probe_waits(&p);
}

void probe_report_release(struct probe_report *report)
{
	vec_each (r, &report->rows) {
		free(r->found);
		free(r->remedy);
	}
	vec_release(&report->rows);
}

const struct probe_row *probe_find(const struct probe_report *report, const char *id)
{
	for (size_t i = 0; i < report->rows.n; i++)
		if (strcmp(report->rows.v[i].id, id) == 0)
			return &report->rows.v[i];
	return NULL;
}
