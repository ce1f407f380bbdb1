/* SPDX-License-Identifier: BSD-2-Clause */
/* The probe's checks that read files of /proc and /sys: each opens what a recording will open. */
#include "collect/probe_rows.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "events/pmu.h"
#include "events/trace.h"
#include "collect/pin_place.h"

/* What an always-on collector and a detailed recording want. */
enum { GOOD_SAMPLE_RATE_HZ = 10000, EVENTS_PER_CPU = 8, OTHER_FILES = 64, RING_KIB = 516 };

/* The kernel's type information is some 6 MiB. */
#define BTF_BYTES (64u << 20)

void probe_btf(struct probe *p)
{
	static const char id[] = "btf", what[] = "kernel type information";
	_mem_ char *path = xasprintf("%s/kernel/btf/vmlinux", p->env->sysfs);

	if (access(path, R_OK) == 0)
		probe_add(p, id, what, PROBE_OK, xasprintf("%s is readable", path), NULL);
	else
		probe_add(p, id, what, PROBE_MISSING,
			  xasprintf("%s: %s; the BPF programs cannot be fitted to this kernel",
				    path, strerror(errno)),
			  xstrdup("a kernel with CONFIG_DEBUG_INFO_BTF=y (Debian's have it)"));
}

void probe_jit(struct probe *p)
{
	static const char id[] = "bpf_jit", what[] = "BPF compiled to machine code";
	_mem_ char *path = xasprintf("%s/sys/net/core/bpf_jit_enable", p->env->proc);
	int64_t jit;

	if (probe_sysctl(p, "net/core/bpf_jit_enable", &jit))
		probe_add(p, id, what, jit ? PROBE_OK : PROBE_LIMITED,
			  xasprintf("net.core.bpf_jit_enable is %" PRId64 "%s", jit,
				    jit ? "" : ": programs are interpreted, several times slower"),
			  jit ? NULL : xstrdup("sysctl net.core.bpf_jit_enable=1"));
	else if (access(path, F_OK) == 0)
		probe_add(p, id, what, PROBE_LIMITED,
			  xstrdup("net.core.bpf_jit_enable is readable by root only"), NULL);
	else
		probe_add(p, id, what, PROBE_LIMITED, xstrdup("this kernel has no BPF compiler"),
			  xstrdup("a kernel with CONFIG_BPF_JIT=y"));
}

/* dwell's own one, where it is mounted; else the machine's. */
static char *find_bpffs(const struct probe *p)
{
	_mem_ char *text = NULL, *path = xasprintf("%s/self/mounts", p->env->proc);

	if (file_load(path, 1 << 24, &text, NULL, NULL) >= 0 && strstr(text, " " PIN_PLACE " bpf "))
		return xstrdup(PIN_PLACE);
	return probe_mount(p, "bpf", NULL);
}

void probe_bpffs(struct probe *p)
{
	static const char id[] = "bpffs", what[] = "place to keep BPF objects";
	_mem_ char *folder = find_bpffs(p);
	struct err why = {0};

	if (!folder)
		probe_add(p, id, what, PROBE_LIMITED,
			  xstrdup("no bpf file system: collection ends with its process, unless "
				  "dwelld, as root, can mount " PIN_PLACE),
			  xstrdup("mount -t bpf -o mode=700 bpf " PIN_PLACE));
	else if (access(folder, W_OK | X_OK) != 0)
		probe_add(p, id, what, PROBE_LIMITED,
			  xasprintf("%s: %s: collection ends with its process", folder,
				    strerror(errno)),
			  xstrdup("root, or a bpf file system mounted for this user (-o uid=)"));
	else if (p->env->pins_check(folder, &why) == -EPERM)
		probe_add(p, id, what, PROBE_LIMITED, xstrdup(why.msg),
			  xasprintf("mount -t bpf -o mode=700 bpf %s, which dwelld does by itself "
				    "as root",
				    PIN_PLACE));
	else
		probe_add(p, id, what, PROBE_OK,
			  xasprintf("%s is writable, by this user alone", folder), NULL);
}

void probe_tracefs(struct probe *p)
{
	static const char id[] = "tracefs", what[] = "tracepoints";
	struct event_env env = {.sysfs = p->env->sysfs, .proc = p->env->proc};
	struct event_spec spec = {0};
	struct err err = {""};
	char *why, *remedy;
	_mem_ char *root = event_trace_find(&env, &why, &remedy);

	if (!root)
		probe_add(p, id, what, PROBE_LIMITED, why, remedy);
	/* a tracepoint that every kernel with tracepoints has */
	else if (event_trace_encode(&env, "sched", "sched_switch", &spec, &err) < 0)
		probe_add(p, id, what, PROBE_LIMITED, xstrdup(err.msg),
			  xstrdup("root, or a kernel with CONFIG_TRACEPOINTS=y"));
	else
		probe_add(p, id, what, PROBE_OK, xasprintf("found in %s", root), NULL);
}

void probe_kallsyms(struct probe *p)
{
	static const char id[] = "kallsyms", what[] = "kernel addresses";
	_mem_ char *path = xasprintf("%s/kallsyms", p->env->proc);
	_file_ FILE *f = fopen(path, "re");
	char line[512];
	bool any = false;
	int64_t restricted = 0;

	if (!f) {
		probe_add(p, id, what, PROBE_LIMITED,
			  xasprintf("%s: %s: kernel samples have no names", path, strerror(errno)),
			  xstrdup("a kernel with CONFIG_KALLSYMS=y"));
		return;
	}
	/* the first symbols may be per-CPU offsets that start at 0 */
	for (int i = 0; i < 4096 && !any && fgets(line, sizeof(line), f); i++)
		any = strtoull(line, NULL, 16) > 0xffffff;
	if (any) {
		probe_add(p, id, what, PROBE_OK, xasprintf("%s shows them", path), NULL);
		return;
	}
	/* kernel/ksyms_common.c kallsyms_show_value: 0 asks for paranoid <= 1 or CAP_SYSLOG, 1 for
	 * CAP_SYSLOG, 2 shows none to anybody */
	probe_sysctl(p, "kernel/kptr_restrict", &restricted);
	probe_add(p, id, what, PROBE_LIMITED,
		  xasprintf("%s hides them (kernel.kptr_restrict is %" PRId64
			    "): kernel samples have no names",
			    path, restricted),
		  xstrdup(restricted > 1 ? "sysctl kernel.kptr_restrict=1, and CAP_SYSLOG"
			  : restricted == 1
				  ? "CAP_SYSLOG, or sysctl kernel.kptr_restrict=0"
				  : "CAP_SYSLOG, or sysctl kernel.perf_event_paranoid=1"));
}

struct precise {
	struct probe *p;
	struct str found;
};

/* Drivers that say which instruction it was: AMD IBS, Arm SPE, Intel PEBS (caps/max_precise). */
static void note_precise(const char *pmu, void *arg)
{
	struct precise *f = arg;
	struct event_env env = {.sysfs = f->p->env->sysfs};
	_mem_ char *max = event_pmu_text(&env, pmu, "caps/max_precise");

	if (str_starts(pmu, "ibs_") || str_starts(pmu, "arm_spe_"))
		str_addf(&f->found, "%s%s", f->found.n ? ", " : "", pmu);
	else if (max && strcmp(max, "0") != 0)
		str_addf(&f->found, "%s%s (up to %s p)", f->found.n ? ", " : "", pmu, max);
}

void probe_precise(struct probe *p)
{
	static const char id[] = "precise", what[] = "precise samples";
	struct event_env env = {.sysfs = p->env->sysfs};
	struct precise f = {.p = p};

	event_pmu_each(&env, note_precise, &f);
	if (f.found.n)
		probe_add(p, id, what, PROBE_OK, xstrdup(f.found.v), NULL);
	else
		probe_add(p, id, what, PROBE_LIMITED,
			  xstrdup("none: samples fall a little behind their cause"),
			  xstrdup(p->in_vm ? "a host that passes PEBS, IBS or SPE through"
					   : "a CPU with PEBS, IBS or SPE, and its driver"));
	str_release(&f.found);
}

struct map_try {
	const char *folder;
	int rc; /* 1: nothing tried */
};

static void try_map(const char *name, void *arg)
{
	struct map_try *t = arg;
	_mem_ char *path = xasprintf("%s/%s", t->folder, name);
	int fd;

	if (t->rc <= 0 && t->rc != -ENOENT)
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	t->rc = fd < 0 ? -errno : 0;
	if (fd >= 0)
		close(fd);
}

void probe_map_files(struct probe *p)
{
	static const char id[] = "map_files", what[] = "deleted and hidden files";
	_mem_ char *folder = xasprintf("%s/self/map_files", p->env->proc);
	struct map_try t = {folder, 1};
	int rc = event_dir_each(folder, try_map, &t);

	rc = rc < 0 ? rc : t.rc;
	if (rc >= 0)
		probe_add(p, id, what, PROBE_OK,
			  xstrdup("mapped files open even when deleted or in another container"),
			  NULL);
	else
		probe_add(p, id, what, PROBE_LIMITED,
			  xasprintf("%s: %s: they stay without names", folder, strerror(-rc)),
			  xstrdup(rc == -ENOENT ? "a kernel with CONFIG_CHECKPOINT_RESTORE=y"
						: "CAP_CHECKPOINT_RESTORE, or root"));
}

struct maps_try {
	const char *proc;
	unsigned n, n_denied;
	int rc; /* of the last one denied */
};

static void try_maps(const char *name, void *arg)
{
	struct maps_try *t = arg;
	_mem_ char *path = xasprintf("%s/%s/maps", t->proc, name);
	int fd;

	if (name[strspn(name, "0123456789")])
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return; /* it has just ended */
	t->n++;
	if (fd >= 0) {
		close(fd);
		return;
	}
	t->n_denied++;
	t->rc = -errno;
}

void probe_other_maps(struct probe *p)
{
	static const char id[] = "other_maps", what[] = "processes that run already";
	struct maps_try t = {.proc = p->env->proc};

	event_dir_each(p->env->proc, try_maps, &t);
	if (!t.n_denied)
		probe_add(p, id, what, PROBE_OK,
			  xasprintf("the mappings of all %u are readable", t.n), NULL);
	else
		probe_add(p, id, what, PROBE_LIMITED,
			  xasprintf("the mappings of %u of %u are closed (%s): their samples stay "
				    "without images",
				    t.n_denied, t.n, strerror(-t.rc)),
			  xstrdup((p->caps >> CAP_SYS_PTRACE & 1) && !p->in_user_ns
					  ? "a security module that lets CAP_SYS_PTRACE be used"
					  : "CAP_SYS_PTRACE, or root"));
}

void probe_limits(struct probe *p)
{
	int64_t kib, rate;
	uint64_t files = (uint64_t)p->env->n_cpus * EVENTS_PER_CPU + OTHER_FILES;
	bool enough = p->env->max_files >= files;

	if (probe_sysctl(p, "kernel/perf_event_mlock_kb", &kib))
		probe_add(p, "ring_memory", "memory of perf rings",
			  kib >= RING_KIB ? PROBE_OK : PROBE_LIMITED,
			  xasprintf("kernel.perf_event_mlock_kb is %" PRId64 " per CPU", kib),
			  kib >= RING_KIB ? NULL
					  : xasprintf("sysctl kernel.perf_event_mlock_kb=%d, or "
						      "CAP_IPC_LOCK",
						      RING_KIB));
	probe_add(p, "open_files", "open files", enough ? PROBE_OK : PROBE_LIMITED,
		  xasprintf("%" PRIu64 " allowed, %" PRIu64 " wanted for %u CPUs",
			    p->env->max_files, files, p->env->n_cpus),
		  enough ? NULL : xasprintf("ulimit -Hn %" PRIu64 ", as root", files));
	if (probe_sysctl(p, "kernel/perf_event_max_sample_rate", &rate))
		probe_add(p, "sample_rate", "highest sample rate",
			  rate >= GOOD_SAMPLE_RATE_HZ ? PROBE_OK : PROBE_LIMITED,
			  xasprintf("kernel.perf_event_max_sample_rate is %" PRId64, rate),
			  rate >= GOOD_SAMPLE_RATE_HZ
				  ? NULL
				  : xstrdup("sysctl kernel.perf_event_max_sample_rate=100000 (the "
					    "kernel lowers it by itself; see "
					    "kernel.perf_cpu_time_max_percent)"));
}

void probe_names(struct probe *p)
{
	const char *urls = p->env->debuginfod_urls;
	bool any_pfm = p->env->has_cpu_events();

	probe_add(p, "cpu_events", "the CPU maker's event names",
		  any_pfm ? PROBE_OK : PROBE_LIMITED,
		  xstrdup(any_pfm ? "libpfm4 knows this CPU"
				  : "libpfm4 is missing or knows no event "
				    "of this CPU"),
		  any_pfm ? NULL
			  : xstrdup("Debian package libpfm4; rNNN and pmu/terms/ work without"));
	if (urls && *urls)
		probe_add(p, "debuginfod", "names of stripped files", PROBE_OK,
			  xasprintf("DEBUGINFOD_URLS is %s", urls), NULL);
	else
		probe_add(
			p, "debuginfod", "names of stripped files", PROBE_LIMITED,
			xstrdup("DEBUGINFOD_URLS is not set: only what is installed here"),
			xstrdup("export DEBUGINFOD_URLS=https://debuginfod.debian.net, or install "
				"-dbgsym packages"));
}

/* Does the kernel keep mappings in a tree that the stack walk can search (since 6.1)?  Its type
 * information names the tree's nodes then. */
static bool has_mapping_tree(const struct probe *p)
{
	static const char name[] = "maple_range_64";
	_mem_ char *path = xasprintf("%s/kernel/btf/vmlinux", p->env->sysfs);
	char *types;
	size_t n;
	bool has;

	if (file_load(path, BTF_BYTES, &types, &n, NULL) < 0)
		return false;
	has = memmem(types, n, name, sizeof(name) - 1) != NULL;
	free(types);
	return has;
}

void probe_calls(struct probe *p)
{
	static const char id[] = "call_paths", what[] = "call paths";

	if (!p->report->bpf)
		probe_add(p, id, what, p->report->own_programs ? PROBE_LIMITED : PROBE_MISSING,
			  xstrdup(p->report->own_programs
					  ? "by unwind tables, from copies of stacks; the first "
					    "8 to 64 KiB of each"
					  : "nothing can be sampled"),
			  xstrdup("what the engine bpf needs (see above)"));
	else if (!has_mapping_tree(p))
		probe_add(p, id, what, PROBE_LIMITED,
			  xstrdup("by frame pointers: the kernel has no tree of mappings to find "
				  "programs' unwind tables by"),
			  xstrdup("Linux 6.1 or newer; or --engine ring --call-graph dwarf"));
	else
		probe_add(p, id, what, PROBE_OK,
			  xstrdup("programs without frame pointers too, by unwind tables"), NULL);
}

void probe_waits(struct probe *p)
{
	static const char id[] = "waits", what[] = "when threads wait (--off-cpu)";
	bool kernel = probe_find(p->report, "kernel_samples")->state == PROBE_OK;

	if (p->report->bpf)
		probe_add(p, id, what, PROBE_OK, xstrdup("times, and call paths of blocks"), NULL);
	else if (!p->report->own_programs)
		probe_add(p, id, what, PROBE_MISSING, xstrdup("nothing can be sampled"),
			  xstrdup("what samples of own programs need (see above)"));
	else
		probe_add(
			p, id, what, PROBE_LIMITED,
			xstrdup(kernel ? "of own programs; call paths of blocks without frames of "
					 "the kernel"
				       : "of own programs; times without call paths of blocks"),
			xstrdup(kernel ? "what the engine bpf needs (see above)"
				       : "what samples in the kernel need (see above)"));
}
