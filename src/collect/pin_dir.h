/* SPDX-License-Identifier: BSD-2-Clause */
/* Directories of a BPF file system that nobody but root can change.
 *
 * A name below a directory that others may write to can mean anything the next moment: a symbolic
 * link to somebody's files, or a directory of another user.  So a directory is opened level by
 * level from "/", each one looked at through its own descriptor, and everything below is done
 * through the descriptor of the last one.  No level is a symbolic link, belongs to another user, or
 * can be written to by others; a file is used only when it is a regular one of ours.
 *
 * Needs /proc: bpf(2) takes paths only, so a checked descriptor is handed over as
 * /proc/self/fd/N.  After a daemon's start it takes: openat2, mkdirat, unlinkat, renameat2 and bpf;
 * CAP_BPF; and to be the owner of the directories.  No CAP_SYS_ADMIN and no CAP_DAC_OVERRIDE. */
#ifndef COLLECT_PIN_DIR_H
#define COLLECT_PIN_DIR_H

#include <stdbool.h>

#include "base/err.h"

struct pin_dir {
	int fd;	    /* -1: none */
	char *path; /* for messages; on the heap */
};

#define PIN_DIR_NONE ((struct pin_dir){.fd = -1})

/* Who else may write to the root of the BPF file system. */
enum pin_trust {
	PIN_OURS,   /* nobody: what new pins need */
	PIN_STICKY, /* others may add names but change none of ours, as in /tmp: for finding old
		       pins */
};

/* Opens PATH, the root of a BPF file system; a relative one begins at the working directory.
 * -ENOENT, -EOPNOTSUPP when it is no BPF file system, -EPERM when others could change it; the
 * message names the level and the remedy. */
int pin_dir_open_fs(const char *path, enum pin_trust trust, struct pin_dir *ret, struct err *err);

/* Opens the file system from a descriptor of its root, which is duplicated.  Errors as
 * pin_dir_open_fs. */
int pin_dir_from_fd(int fd, const char *path, enum pin_trust trust, struct pin_dir *ret,
		    struct err *err);

/* Checks all levels of the absolute PATH, and makes those that are missing when MAKE.  Returns the
 * descriptor of the last one. */
int pin_dir_walk(const char *path, bool make, struct err *err);

/* Opens directory NAME of AT, made when MAKE.  -ENOENT; -EPERM when it is not ours. */
int pin_dir_open(const struct pin_dir *at, const char *name, bool make, struct pin_dir *ret,
		 struct err *err);

void pin_dir_close(struct pin_dir *d);

/* Pins the BPF object BPF_FD as NAME; -EEXIST. */
int pin_dir_put(const struct pin_dir *d, const char *name, int bpf_fd);

/* A descriptor of the BPF object NAME; -ENOENT, -EPERM when the file is not ours. */
int pin_dir_get(const struct pin_dir *d, const char *name);

int pin_dir_unlink(const struct pin_dir *d, const char *name);
int pin_dir_rmdir(const struct pin_dir *d, const char *name);

/* Gives file FROM the name TO, in place of what has it. */
int pin_dir_rename(const struct pin_dir *d, const char *from, const char *to);

/* Calls FN for each name in D until it fails, and returns that. */
int pin_dir_each(const struct pin_dir *d,
		 int (*fn)(void *ctx, const struct pin_dir *d, const char *name), void *ctx);

#endif
