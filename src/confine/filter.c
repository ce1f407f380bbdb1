/* SPDX-License-Identifier: BSD-2-Clause */
/* See filter.h. */
#include "confine/filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdint.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/vec.h"

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#endif

/* asm-generic numbers that the headers of Debian 12 may lack are left out; so are those of one
 * architecture alone, which the other names -1. */
#ifdef __x86_64__
#define X86(name) SYS_##name
#else
#define X86(name) (-1)
#endif

typedef VEC(struct sock_filter) program;

static void filter_add(program *p, unsigned code, uint32_t k, unsigned char jt, unsigned char jf)
{
	vec_push(p, (struct sock_filter){(unsigned short)code, jt, jf, k});
}

#define LOAD(member) BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member), 0, 0
#define RETURN(what) BPF_RET | BPF_K, what, 0, 0

/* libdw asks for the path of what it opens, and does without: that ends no child. */
static void refuse_paths(program *p)
{
	static const int calls[] = {X86(readlink), SYS_readlinkat};

	for (size_t i = 0; i < n_elems(calls); i++) {
		if (calls[i] < 0)
			continue;
		filter_add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i], 0, 1);
		filter_add(p, RETURN(SECCOMP_RET_ERRNO | EPERM));
	}
}

/* Threads may be made, processes not.  clone3's flags are in memory, where a filter cannot look:
 * glibc goes on with clone when that is not there. */
static void allow_threads(program *p)
{
	filter_add(p, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1);
	filter_add(p, RETURN(SECCOMP_RET_ERRNO | ENOSYS));
	filter_add(p, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3);
	filter_add(p, LOAD(args[0])); /* its lower half: both architectures are little-endian */
	filter_add(p, BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1);
	filter_add(p, RETURN(SECCOMP_RET_ALLOW));
}

int filter_install(const int *calls, size_t n, bool threads, bool kill, struct err *err)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return 0; /* their runtimes make calls of their own */
#endif
#ifdef OWN_ARCH
	program p = {0};
	struct sock_fprog prog;
	int rc = 0;

	filter_add(&p, LOAD(arch));
	filter_add(&p, BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 1, 0);
	filter_add(&p, RETURN(SECCOMP_RET_KILL_PROCESS));
	filter_add(&p, LOAD(nr));
	for (size_t i = 0; i < n; i++) {
		if (calls[i] < 0)
			continue;
		filter_add(&p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i], 0, 1);
		filter_add(&p, RETURN(SECCOMP_RET_ALLOW));
	}
	if (threads)
		allow_threads(&p);
	if (kill)
		refuse_paths(&p);
	filter_add(&p, RETURN(kill ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM));
	prog = (struct sock_fprog){.len = (unsigned short)p.n, .filter = p.v};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
		rc = err_errno(err, -errno, "seccomp filter");
	vec_release(&p);
	return rc;
#else
	return err_set(err, -ENOTSUP, "seccomp filter: not on this architecture");
#endif
}

int filter_reader(struct err *err)
{
	/* Memory; the files it holds; its end.  newfstatat is how glibc makes fstat, and finds
	 * nothing by name: no descriptor can be opened. */
	static const int calls[] = {
		SYS_read,	 SYS_pread64,	      SYS_write,
		SYS_lseek,	 SYS_fstat,	      SYS_newfstatat,
		SYS_mmap,	 SYS_munmap,	      SYS_mremap,
		SYS_mprotect,	 SYS_madvise,	      SYS_brk,
		SYS_close,	 SYS_futex,	      SYS_exit,
		SYS_exit_group,	 SYS_rt_sigreturn,    SYS_rt_sigprocmask,
		SYS_getpid,	 SYS_gettid,	      SYS_clock_gettime,
		SYS_getrandom,	 SYS_restart_syscall, SYS_sched_yield,
		SYS_setpriority,	      /* upwards alone, for it has no right to the other */
		SYS_tgkill,	 SYS_sysinfo, /* qsort(3) asks how much memory there is */
	};

	return filter_install(calls, n_elems(calls), false, true, err);
}

int filter_daemon(struct err *err)
{
	static const int calls[] = {
		/* files */
		SYS_read,
		SYS_write,
		SYS_pread64,
		SYS_pwrite64,
		SYS_readv,
		SYS_writev,
		SYS_preadv,
		SYS_pwritev,
		SYS_preadv2,
		SYS_pwritev2,
		SYS_lseek,
		SYS_openat,
		SYS_openat2,
		X86(open),
		X86(creat),
		SYS_close,
		SYS_close_range,
		SYS_fstat,
		X86(stat),
		X86(lstat),
		SYS_newfstatat,
		SYS_statx,
		SYS_statfs,
		SYS_fstatfs,
		SYS_faccessat,
		SYS_faccessat2,
		X86(access),
		SYS_getdents64,
		X86(getdents),
		SYS_getcwd,
		SYS_chdir,
		SYS_fchdir,
		SYS_readlinkat,
		X86(readlink),
		SYS_mkdirat,
		X86(mkdir),
		SYS_unlinkat,
		X86(unlink),
		X86(rmdir),
		SYS_renameat,
		SYS_renameat2,
		X86(rename),
		SYS_linkat,
		X86(link),
		SYS_symlinkat,
		X86(symlink),
		SYS_ftruncate,
		SYS_truncate,
		SYS_fallocate,
		SYS_fsync,
		SYS_fdatasync,
		SYS_sync_file_range,
		SYS_syncfs,
		SYS_flock,
		SYS_fcntl,
		SYS_fchmod,
		SYS_fchmodat,
		X86(chmod),
		SYS_fchown,
		SYS_fchownat,
		X86(chown),
		X86(lchown),
		SYS_umask,
		SYS_utimensat,
		SYS_copy_file_range,
		SYS_sendfile,
		SYS_splice,
		SYS_fadvise64,
		SYS_readahead,
		SYS_memfd_create,
		SYS_ioctl,
		SYS_dup,
		SYS_dup3,
		X86(dup2),
		SYS_pipe2,
		X86(pipe),
		SYS_getxattr,
		SYS_fgetxattr,
		SYS_name_to_handle_at,
		SYS_flistxattr,
		SYS_mknodat,
		X86(mknod),
		/* waiting and telling */
		SYS_ppoll,
		X86(poll),
		SYS_pselect6,
		X86(select),
		SYS_epoll_create1,
		X86(epoll_create),
		SYS_epoll_ctl,
		SYS_epoll_pwait,
		SYS_epoll_pwait2,
		X86(epoll_wait),
		SYS_eventfd2,
		SYS_timerfd_create,
		SYS_timerfd_settime,
		SYS_timerfd_gettime,
		SYS_inotify_init1,
		SYS_inotify_add_watch,
		SYS_inotify_rm_watch,
		SYS_signalfd4,
		X86(eventfd),
		X86(inotify_init),
		X86(signalfd),
		/* sockets: ctl's, the service manager's, HTTP's */
		SYS_socket,
		SYS_socketpair,
		SYS_bind,
		SYS_listen,
		SYS_accept,
		SYS_accept4,
		SYS_connect,
		SYS_getsockname,
		SYS_getpeername,
		SYS_setsockopt,
		SYS_getsockopt,
		SYS_sendto,
		SYS_sendmsg,
		SYS_sendmmsg,
		SYS_recvfrom,
		SYS_recvmsg,
		SYS_recvmmsg,
		SYS_shutdown,
		/* sampling */
		SYS_perf_event_open,
		SYS_bpf,
		SYS_pidfd_open,
		SYS_pidfd_send_signal,
		/* memory */
		SYS_mmap,
		SYS_munmap,
		SYS_mremap,
		SYS_mprotect,
		SYS_madvise,
		SYS_msync,
		SYS_brk,
		SYS_mlock,
		SYS_mlock2,
		SYS_munlock,
		SYS_mlockall,
		SYS_munlockall,
		SYS_get_mempolicy,
		SYS_mincore,
		SYS_membarrier,
		/* itself: threads, signals, clocks, limits */
		SYS_futex,
		SYS_set_robust_list,
		SYS_get_robust_list,
		SYS_rseq,
		SYS_rt_sigaction,
		SYS_rt_sigprocmask,
		SYS_rt_sigreturn,
		SYS_rt_sigtimedwait,
		SYS_rt_sigpending,
		SYS_sigaltstack,
		SYS_tgkill,
		SYS_tkill,
		SYS_kill,
		SYS_rt_sigsuspend,
		SYS_rt_sigqueueinfo,
		SYS_rt_tgsigqueueinfo,
		SYS_set_tid_address,
		SYS_gettid,
		SYS_getpid,
		SYS_getppid,
		SYS_getuid,
		SYS_geteuid,
		SYS_getgid,
		SYS_getegid,
		SYS_getgroups,
		SYS_getresuid,
		SYS_getresgid,
		SYS_getpgid,
		SYS_getsid,
		SYS_capget,
		SYS_capset,
		SYS_prctl,
		X86(arch_prctl),
		SYS_getrandom,
		SYS_uname,
		SYS_sysinfo,
		SYS_times,
		SYS_getrusage,
		SYS_getrlimit,
		SYS_setrlimit,
		SYS_prlimit64,
		SYS_getpriority,
		SYS_ioprio_set,
		SYS_sched_setscheduler,
		SYS_setpriority,
		SYS_sched_yield,
		SYS_sched_getaffinity,
		SYS_sched_setaffinity,
		SYS_sched_getparam,
		SYS_sched_getscheduler,
		SYS_sched_setparam,
		SYS_sched_setscheduler,
		SYS_sched_get_priority_max,
		SYS_sched_get_priority_min,
		SYS_sched_rr_get_interval,
		SYS_getcpu,
		SYS_clock_gettime,
		SYS_clock_getres,
		SYS_clock_nanosleep,
		SYS_nanosleep,
		SYS_gettimeofday,
		X86(time),
		SYS_timer_create,
		SYS_timer_settime,
		SYS_timer_delete,
		SYS_setitimer,
		SYS_getitimer,
		X86(alarm),
		X86(pause),
		SYS_restart_syscall,
		SYS_wait4,
		SYS_waitid,
		SYS_exit,
		SYS_exit_group,
	};

	return filter_install(calls, n_elems(calls), true, false, err);
}
