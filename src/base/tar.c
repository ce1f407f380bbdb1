/* SPDX-License-Identifier: BSD-2-Clause */
/* See tar.h.  The format is IEEE Std 1003.1 (pax), "ustar Interchange Format": blocks of 512 bytes,
 * a header before each file, numbers in octal, and two empty blocks at the end.  A size that octal
 * has no room for is written in base 256, as GNU tar and all others read it. */
#include "base/tar.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

#define BLOCK 512

/* Offsets in a header, from the standard's table. */
enum {
	NAME = 0,
	MODE = 100,
	UID = 108,
	GID = 116,
	SIZE = 124,
	MTIME = 136,
	CHECKSUM = 148,
	TYPE = 156,
	MAGIC = 257,
	PREFIX = 345,
	NAME_MAX_ = 100,
	PREFIX_MAX = 155,
};

/* Splits PATH at a slash, so that both parts fit; false when there is none. */
static bool put_path(char *h, const char *path)
{
	size_t n = strlen(path);

	if (n <= NAME_MAX_) {
		memcpy(h + NAME, path, n);
		return true;
	}
	for (size_t i = n - 1; i > 0; i--) {
		if (path[i] != '/' || n - i - 1 > NAME_MAX_ || i > PREFIX_MAX)
			continue;
		memcpy(h + PREFIX, path, i);
		memcpy(h + NAME, path + i + 1, n - i - 1);
		return true;
	}
	return false;
}

static void put_size(char *h, uint64_t n)
{
	if (n < 1ull << 33) {
		snprintf(h + SIZE, 12, "%011llo", (unsigned long long)n);
		return;
	}
	h[SIZE] = (char)0x80;
	for (unsigned i = 0; i < 8; i++)
		h[SIZE + 11 - i] = (char)(n >> 8 * i);
}

static int write_header(int fd, const char *path, uint64_t n, struct err *err)
{
	char h[BLOCK] = {0};
	unsigned sum = 0;
	int rc;

	if (!put_path(h, path))
		return err_set(err, -ENAMETOOLONG, "%s: too long a name for an archive", path);
	memcpy(h + MODE, "0000644", 8);
	memcpy(h + UID, "0000000", 8);
	memcpy(h + GID, "0000000", 8);
	memcpy(h + MTIME, "00000000000", 12);
	put_size(h, n);
	h[TYPE] = '0';
	memcpy(h + MAGIC, "ustar\00000", 8);
	memset(h + CHECKSUM, ' ', 8);
	for (unsigned i = 0; i < BLOCK; i++)
		sum += (unsigned char)h[i];
	snprintf(h + CHECKSUM, 8, "%06o", sum);
	rc = file_write_all(fd, h, sizeof(h));
	return rc < 0 ? err_errno(err, rc, "writing the archive") : 0;
}

static int write_padding(int fd, uint64_t n, struct err *err)
{
	static const char zeros[BLOCK];
	size_t more = (size_t)(-n % BLOCK);
	int rc = more ? file_write_all(fd, zeros, more) : 0;

	return rc < 0 ? err_errno(err, rc, "writing the archive") : 0;
}

int tar_add(int fd, const char *path, const void *bytes, size_t n, struct err *err)
{
	int rc = write_header(fd, path, n, err);

	if (rc >= 0 && n) {
		rc = file_write_all(fd, bytes, n);
		if (rc < 0)
			err_errno(err, rc, "writing the archive");
	}
	return rc < 0 ? rc : write_padding(fd, n, err);
}

int tar_add_file(int fd, const char *path, int from, struct err *err)
{
	struct file_map map;
	int rc = file_map_fd(&map, from, path, err);

	if (rc < 0)
		return rc;
	rc = tar_add(fd, path, map.bytes, map.n_bytes, err);
	file_map_close(&map);
	return rc;
}

int tar_end(int fd, struct err *err)
{
	static const char zeros[2 * BLOCK];
	int rc = file_write_all(fd, zeros, sizeof(zeros));

	return rc < 0 ? err_errno(err, rc, "writing the archive") : 0;
}
