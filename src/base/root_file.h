/* SPDX-License-Identifier: BSD-2-Clause */
/* Files as another process sees them, below its /proc/PID/root. */
#ifndef BASE_ROOT_FILE_H
#define BASE_ROOT_FILE_H

/* Opens PATH with FLAGS, O_CLOEXEC added, as a process does whose root directory is ROOT, such as
 * "/proc/17/root".  Symbolic links and ".." stay below ROOT: a link to /etc/shadow in a container
 * means the container's.  Links of /proc that lead elsewhere ("magic links") are refused.  A
 * descriptor, or -errno; -ENOSYS before Linux 5.6. */
int root_file_open(const char *root, const char *path, int flags);

/* Opens PATH with O_PATH and FLAGS without ever waiting for a file system: what the kernel has not
 * in memory is -EAGAIN, and so is what leads through /proc.  ROOT as above; NULL: PATH as this
 * process sees it.  -EINVAL before Linux 5.12. */
int root_file_open_cached(const char *root, const char *path, int flags);

#endif
