/* SPDX-License-Identifier: BSD-2-Clause */
/* debuginfod, through the client library of elfutils, which is loaded at run time: it draws in a
 * whole HTTP client, and most machines never ask (debug_file.h has the functions). */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/vec.h"
#include "resolve/debug_file.h"

/* The part of elfutils/debuginfod.h (0.188) that is used. */
typedef void *begin_fn(void);
typedef void end_fn(void *client);
typedef int find_fn(void *client, const unsigned char *build_id, int build_id_len, char **path);

struct debuginfod {
	void *client;
	end_fn *end;
	find_fn *find_debug, *find_code;
	VEC(struct miss {
		struct build_id id;
		bool debug;
	})
	misses;
};

struct debuginfod *debuginfod_new(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct debuginfod *d;
	begin_fn *begin;
	void *library;

	if (!urls || !*urls)
		return NULL;
	d = xcalloc(1, sizeof(*d));
	library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (library) {
		begin = (begin_fn *)dlsym(library, "debuginfod_begin");
		d->end = (end_fn *)dlsym(library, "debuginfod_end");
		d->find_debug = (find_fn *)dlsym(library, "debuginfod_find_debuginfo");
		d->find_code = (find_fn *)dlsym(library, "debuginfod_find_executable");
		if (begin && d->end && d->find_debug && d->find_code)
			d->client = begin();
	}
	if (!d->client) {
		debuginfod_free(d);
		return NULL;
	}
	return d;
}

void debuginfod_free(struct debuginfod *d)
{
	if (!d)
		return;
	if (d->client)
		d->end(d->client);
	/* The library stays loaded: what it draws in (curl, TLS) leaves state behind that unloading
	 * loses. */
	vec_release(&d->misses);
	free(d);
}

int debuginfod_open(struct debuginfod *d, const struct build_id *id, bool debug, char **ret_path,
		    struct err *err)
{
	char *path = NULL;
	int fd;

	vec_each (m, &d->misses)
		if (m->debug == debug && build_id_same(&m->id, id))
			return err_set(err, -ENOENT, "debuginfod: not found");
	fd = (debug ? d->find_debug : d->find_code)(d->client, id->bytes, id->n_bytes, &path);
	if (fd < 0) {
		vec_push(&d->misses, (struct miss){*id, debug});
		free(path);
		return err_errno(err, fd, "debuginfod");
	}
	if (ret_path)
		*ret_path = path;
	else
		free(path);
	return fd;
}
