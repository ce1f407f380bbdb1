/* SPDX-License-Identifier: BSD-2-Clause */
/* See pin_place.h.
 *
 * A child joins the other namespace, mounts and opens there, and hands the descriptor back through
 * a socket: joining would take this process's root and working directory away. */
#include "collect/pin_place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"

#define PIN_PARENT "/run/dwell"

/* What the child says beside the descriptor. */
struct told {
	int rc;
	char msg[200];
};

/* --- in the namespace that PIN_PLACE belongs to --- */

static bool is_bpffs(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) >= 0 && fs.f_type == BPF_FS_MAGIC;
}

/* Two daemons that start at once must not mount over each other: the second would hide the first
 * one's pins. */
static int mount_once(struct err *err)
{
	_fd_ int above = pin_dir_walk(PIN_PARENT, true, err), fd = -1;

	if (above < 0)
		return above;
	if (flock(above, LOCK_EX) < 0)
		return err_errno(err, -errno, "%s", PIN_PARENT);
	fd = pin_dir_walk(PIN_PLACE, true, err);
	if (fd < 0 || is_bpffs(fd))
		return take_fd(&fd);
	/* Every level is ours alone, so that the path means the directory that was looked at. */
	if (mount("bpf", PIN_PLACE, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700") < 0)
		return err_errno(err, -errno, "cannot mount a BPF file system at %s", PIN_PLACE);
	return pin_dir_walk(PIN_PLACE, false, err);
}

/* PIN_PLACE's descriptor.  It is mounted when MAKE and nothing is there. */
static int open_or_mount(bool make, struct err *err)
{
	_fd_ int fd = pin_dir_walk(PIN_PLACE, false, err);

	if (fd >= 0 && is_bpffs(fd))
		return take_fd(&fd);
	return make ? mount_once(err)
		    : err_set(err, -ENOENT, "%s is no BPF file system", PIN_PLACE);
}

/* --- which namespace that is --- */

/* The parent of PID, 0 for none: proc(5), /proc/PID/stat, the fourth field. */
static int parent_of(int pid)
{
	char path[64], *text, *end;
	int ret = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (file_load(path, 8192, &text, NULL, NULL) < 0)
		return 0;
	end = strrchr(text, ')');
	if (!end || sscanf(end, ") %*c %d", &ret) != 1)
		ret = 0;
	free(text);
	return ret;
}

static int open_namespace(int pid)
{
	char path[64];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (stat(path, &st) < 0 || st.st_uid != 0) /* only root's processes speak for the machine */
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd;
}

/* The mount namespace of the first process; where that may not be looked at, of our farthest
 * ancestor that may. */
static int first_namespace(void)
{
	int best = open_namespace(1);

	if (best >= 0 || errno == ENOENT)
		return best;
	for (int pid = getppid(); pid > 1; pid = parent_of(pid)) {
		int fd = open_namespace(pid);

		if (fd < 0)
			continue;
		if (best >= 0)
			close(best);
		best = fd;
	}
	return best;
}

/* Whether the file open at FD, which may be O_PATH, is the one at PATH. */
static bool is_at(int fd, const char *path)
{
	struct stat a, b;

	return fstat(fd, &a) >= 0 && stat(path, &b) >= 0 && a.st_ino == b.st_ino &&
	       a.st_dev == b.st_dev;
}

static bool is_own_namespace(int fd)
{
	return is_at(fd, "/proc/self/ns/mnt");
}

/* This process's root as an ancestor in namespace NS has it, O_PATH; -1.  In a chroot the machine
 * is the tree below: nothing is mounted outside of it. */
static int open_root_in(int ns)
{
	char path[64];

	for (int pid = getppid(); pid > 0; pid = parent_of(pid)) {
		_fd_ int theirs = open_namespace(pid), root = -1;

		snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
		if (theirs < 0 || !is_at(ns, path))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/root", pid);
		root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (root >= 0 && is_at(root, "/"))
			return take_fd(&root);
	}
	return -1;
}

/* --- the child --- */

static void send_answer(int to, int fd, const struct told *t)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec io = {(void *)t, sizeof(*t)};
	struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};

	if (fd >= 0) {
		struct cmsghdr *c = &control.head;

		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	sendmsg(to, &m, MSG_NOSIGNAL);
}

static int receive_answer(int from, struct err *err)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct told t = {0};
	struct iovec io = {&t, sizeof(t)};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	struct cmsghdr *c;
	int fd = -1;

	if (recvmsg(from, &m, MSG_CMSG_CLOEXEC) != sizeof(t))
		return err_set(err, -EIO, "%s: the process that mounts it died", PIN_PLACE);
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd >= 0 ? fd : err_set(err, t.rc < 0 ? t.rc : -EIO, "%.199s", t.msg);
}

/* Enters namespace NS, below ROOT if that is a descriptor. */
static int enter(int ns, int root, struct err *err)
{
	if (setns(ns, CLONE_NEWNS) < 0)
		return err_errno(err, -errno, "cannot enter the machine's mount namespace");
	if (root >= 0 && (fchdir(root) < 0 || chroot(".") < 0))
		return err_errno(err, -errno,
				 "cannot change the root in the machine's mount namespace");
	return 0;
}

static void be_child(int ns, bool make, int answer)
{
	int root = open_root_in(ns);
	struct err err = {0};
	struct told t = {0};
	int fd = enter(ns, root, &err);

	if (fd >= 0)
		fd = open_or_mount(make, &err);
	t.rc = fd;
	snprintf(t.msg, sizeof(t.msg), "%.199s", err.msg);
	send_answer(answer, fd, &t);
	_exit(0);
}

static int open_elsewhere(int ns, bool make, struct err *err)
{
	int pair[2], rc;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_errno(err, -errno, "socketpair");
	pid = fork();
	if (pid == 0)
		be_child(ns, make, pair[1]);
	close(pair[1]);
	rc = pid < 0 ? err_errno(err, -errno, "fork") : receive_answer(pair[0], err);
	close(pair[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return rc;
}

/* PIN_PLACE of the first process's namespace. */
static int open_first(bool make, struct pin_dir *ret, struct err *err)
{
	_fd_ int ns = -1, fd = -1;
	int rc;

	if (getpid() == 1)
		return err_set(err, -EOPNOTSUPP,
			       "%s is not mounted, and this is the first process of its machine or "
			       "container, whose mounts end with it",
			       PIN_PLACE);
	ns = first_namespace();
	if (ns < 0)
		return err_errno(err, -errno, "%s: no process tells the machine's mount namespace",
				 PIN_PLACE);
	rc = fd = is_own_namespace(ns) ? open_or_mount(make, err) : open_elsewhere(ns, make, err);
	return rc < 0 ? rc : pin_dir_from_fd(fd, PIN_PLACE, PIN_OURS, ret, err);
}

/* --- the places --- */

static bool is_known(const struct pin_places *p, const struct pin_dir *d)
{
	struct stat a, b;

	if (fstat(d->fd, &a) < 0)
		return false;
	vec_each (known, &p->all)
		if (fstat(known->fd, &b) >= 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
			return true;
	return false;
}

static void pin_place_add(struct pin_places *p, struct pin_dir *d)
{
	if (is_known(p, d))
		pin_dir_close(d);
	else
		vec_push(&p->all, *d);
}

/* Adds PATH where it is; the first that only we can change is for new pins. */
static int try_path(struct pin_places *p, const char *path, struct err *err)
{
	struct pin_dir d = PIN_DIR_NONE;
	int rc = pin_dir_open_fs(path, PIN_OURS, &d, err);

	if (rc >= 0 && p->fresh.fd < 0)
		rc = pin_dir_from_fd(d.fd, path, PIN_OURS, &p->fresh, err);
	if (rc == -EPERM)
		pin_dir_open_fs(path, PIN_STICKY, &d, NULL);
	if (d.fd >= 0)
		pin_place_add(p, &d);
	return rc;
}

void pin_places_open(struct pin_places *p, const char *asked, bool mount, struct err *why_not)
{
	const char *const usual[] = {PIN_PLACE, PIN_PLACE_OLD};
	struct err why = {0}, first = {0};
	struct pin_dir d = PIN_DIR_NONE;

	*p = (struct pin_places){.fresh = PIN_DIR_NONE};
	if (asked && try_path(p, asked, &first) < 0)
		*why_not = first;
	for (size_t i = 0; i < n_elems(usual); i++) {
		int rc = try_path(p, usual[i], &why);

		if (rc < 0 && rc != -ENOENT && rc != -EOPNOTSUPP && p->fresh.fd < 0 &&
		    !*why_not->msg)
			*why_not = why;
	}
	if (open_first(mount && p->fresh.fd < 0, &d, &why) < 0) {
		if (p->fresh.fd < 0 && !*why_not->msg)
			*why_not = why;
		return;
	}
	if (p->fresh.fd < 0 && pin_dir_from_fd(d.fd, PIN_PLACE, PIN_OURS, &p->fresh, NULL) >= 0 &&
	    !asked)
		*why_not = (struct err){0};
	pin_place_add(p, &d);
}

void pin_places_close(struct pin_places *p)
{
	vec_each (d, &p->all)
		pin_dir_close(d);
	vec_release(&p->all);
	pin_dir_close(&p->fresh);
}
