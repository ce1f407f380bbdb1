/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be opened, and by whom.  A format is a row. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "port/dcpi_in.h"
#include "port/perf_in.h"
#include "query/hpc/source.h"
#include "query/samples/input.h"
#include "query/samples/source.h"
#include "store/store.h"

static bool is_perf(const char *path)
{
	return perf_in_probe(path) == 1;
}

static bool is_dcpi(const char *path)
{
	return dcpi_in_probe(path) == 1;
}

static bool is_store(const char *path)
{
	store_paths dbs = {0};
	const bool is = store_is_db(path) || (store_members(path, &dbs, NULL) == 0 && dbs.n);

	store_paths_release(&dbs);
	return is;
}

static const struct format {
	const char *name;
	bool (*probe)(const char *path);
	int (*open)(struct source **ret, const struct source_opts *o, const char *path,
		    struct err *err);
} formats[] = {
	{"HPCToolkit database", hpc_db_probe, hpc_source_open},
	{"perf's data", is_perf, samples_source_open},
	{"DCPI profile", is_dcpi, samples_source_open},
	{"dwell database", is_store, samples_source_open},
	/* Refused by name. */
	{"measurements of hpcrun", input_is_hpcrun, samples_source_open},
};

static const struct format *find_format(const char *path)
{
	for (size_t i = 0; i < n_elems(formats); i++)
		if (formats[i].probe(path))
			return &formats[i];
	return NULL;
}

bool source_probe(const char *path)
{
	return find_format(path) != NULL;
}

int source_open(struct source **ret, const struct source_opts *o, struct err *err)
{
	_mem_ char *path = o->select->db ? xstrdup(o->select->db) : store_default_path();
	const struct format *f = find_format(path);
	int rc;

	/* What is none of them says so itself. */
	rc = (f ? f->open : samples_source_open)(ret, o, path, err);
	if (!rc && f)
		(*ret)->format = f->name;
	return rc;
}
