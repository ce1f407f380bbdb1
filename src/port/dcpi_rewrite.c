/* SPDX-License-Identifier: BSD-2-Clause */
/* See dcpi_rewrite.h. */
#include "port/dcpi_rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "formats/dcpi.h"
#include "formats/dcpi_text.h"

static int text_file(const struct file_map *map, unsigned minor, unsigned stride,
		     struct dcpi_file *f, struct err *err)
{
	struct dcpi_text_reader r = dcpi_text_begin((const char *)map->bytes, map->n_bytes);
	struct dcpi_text t, more;
	int rc = dcpi_text_next(&r, &t, err);

	if (rc <= 0)
		return rc;
	rc = dcpi_text_next(&r, &more, err);
	if (rc > 0)
		dcpi_text_release(&more);
	if (rc > 0 || (rc == 0 && t.events.n > 1))
		rc = err_set(err, -EINVAL,
			     "a profile file holds one image and one event; write more with "
			     "`dwell export --dcpi --db FILE -o DIR`");
	if (rc == 0)
		rc = dcpi_text_to_file(&t, 0, minor, stride ? stride : 1, f, err);
	dcpi_text_release(&t);
	return rc;
}

static int dcpi_rewrite_save(const char *path, const struct wr *bytes, struct err *err)
{
	_mem_ char *dir = xstrdup(path);
	char *slash = strrchr(dir, '/');
	_fd_ int fd = -1;
	struct stat st;

	/* The file is replaced, not written into: never in place of a device or a link. */
	if (lstat(path, &st) >= 0 && !S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s is there and is no plain file", path);
	if (slash)
		slash[slash == dir] = '\0';
	fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, -errno, "%s", slash ? dir : ".");
	return file_replace(fd, str_basename(path), bytes->v, bytes->n, err);
}

int dcpi_rewrite(const char *path, unsigned stride, unsigned minor, const char *output,
		 struct err *err)
{
	struct file_map map;
	struct dcpi_file f;
	struct wr bytes = {0};
	int rc = file_map_open(&map, AT_FDCWD, path, false, err);

	if (rc < 0)
		return rc;
	if (dcpi_text_probe((const char *)map.bytes, map.n_bytes))
		rc = text_file(&map, minor, stride, &f, err);
	else
		rc = dcpi_read(&f, map.bytes, map.n_bytes, stride, err);
	file_map_close(&map);
	if (rc < 0)
		return err_prefix(err, rc, "%s", path);
	dcpi_set_version(&f, minor);
	dcpi_write(&f, &bytes);
	rc = dcpi_rewrite_save(output, &bytes, err);
	wr_release(&bytes);
	dcpi_release(&f);
	return rc;
}
