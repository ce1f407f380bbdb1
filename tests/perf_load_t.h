/* SPDX-License-Identifier: BSD-2-Clause */
/* A perf.data file made by hand (perfdata_t.h), read into a profile; for unit tests. */
#ifndef TESTS_PERF_LOAD_T_H
#define TESTS_PERF_LOAD_T_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "perfdata_t.h"
#include "port/perf_in.h"
#include "t.h"

static const struct perfdata_attr attr = {
	.type = 1,
	.period = 1000000,
	.sample_type = PERFDATA_S_IP | PERFDATA_S_TID | PERFDATA_S_TIME | PERFDATA_S_ID,
	.flags = 1ull << PERFDATA_A_SAMPLE_ID_ALL,
};

struct loaded {
	struct profile p;
	struct perf_in_result r;
	char *text; /* profile_dump */
	struct err err;
	int rc;
};

/* Reads what is in F, which is released. */
static inline struct loaded load(struct pd_file *f, const struct perf_in_opts *opts)
{
	struct perf_in_opts o = opts ? *opts : (struct perf_in_opts){.split = OWNER_TID};
	int fd = memfd_create("perf.data", MFD_CLOEXEC);
	struct loaded l = {0};
	char path[40];

	o.no_files = true;
	pd_finish(f);
	file_write_all(fd, f->out.v, f->out.n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	profile_init(&l.p);
	l.rc = perf_in_load(path, &o, &l.p, &l.r, &l.err);
	profile_check(&l.p);
	l.text = profile_dump(&l.p);
	close(fd);
	pd_release(f);
	return l;
}

static inline void unload(struct loaded *l)
{
	free(l->text);
	perf_in_result_release(&l->r);
	profile_release(&l->p);
}

static inline void expect_value(const struct loaded *l, const char *owner_and_path, unsigned n)
{
	char line[512];

	snprintf(line, sizeof(line), "%s 0/0/0 %u 0\n", owner_and_path, n);
	if (!strstr(l->text, line))
		t_fail_("no \"%s\" in:\n%s", line, l->text);
}

#endif
