/* SPDX-License-Identifier: BSD-2-Clause */
/* See cat_structures.h. */
#include "cmd/cat_structures.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "formats/hpc/dump.h"

enum { KEEP = 4 << 20 }; /* bytes of text that wait for the pager; more goes straight out */

static const struct {
	const char *magic;
	int (*dump)(struct hpc_dump *d, const void *bytes, size_t n_bytes, const char *name,
		    struct err *err);
} kinds[] = {
	{"HPCTOOLKITmeta", hpc_meta_dump},
	{"HPCTOOLKITprof", hpc_profile_dump},
	{"HPCTOOLKITctxt", hpc_cct_dump},
	{"HPCTOOLKITtrce", hpc_trace_dump},
};

/* The kind of the file of which these are the bytes, or -1. */
static int kind_of(const struct file_map *m)
{
	for (size_t i = 0; i < n_elems(kinds); i++)
		if (m->n_bytes >= 14 && memcmp(m->bytes, kinds[i].magic, 14) == 0)
			return (int)i;
	return -1;
}

bool cat_has_structures(const char *path)
{
	struct file_map m;
	bool is;

	if (file_map_open(&m, AT_FDCWD, path, false, NULL) < 0)
		return false;
	is = kind_of(&m) >= 0;
	file_map_close(&m);
	return is;
}

static int put_line(void *user, const char *text)
{
	struct cmd *c = user;

	if (c->terminal)
		text_show(&c->out, text);
	else
		str_add(&c->out, text);
	str_addc(&c->out, '\n');
	if (c->out.n < KEEP)
		return 0;
	/* What is left goes out by write(2), too (pager_write): stdio would keep this behind it. */
	if (file_write_all(STDOUT_FILENO, c->out.v, c->out.n) < 0)
		return -EPIPE;
	str_reset(&c->out);
	return 0;
}

int cat_structures(struct cmd *c, const char *path)
{
	struct hpc_dump d = {.line = put_line, .user = c};
	struct file_map m;
	int rc = file_map_open(&m, AT_FDCWD, path, false, &c->err);
	int kind;

	if (rc < 0)
		return rc;
	kind = kind_of(&m);
	if (kind < 0)
		rc = err_set(&c->err, -EBADMSG, "%s: no file of an HPCToolkit database", path);
	else
		rc = kinds[kind].dump(&d, m.bytes, m.n_bytes, path, &c->err);
	if (rc == -EPIPE)
		err_set(&c->err, rc, "writing the text failed");
	hpc_dump_release(&d);
	file_map_close(&m);
	return rc;
}
