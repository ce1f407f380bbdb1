/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be opened, and by whom.  A format is a row. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "fleet/server.h"
#include "port/dcpi_in.h"
#include "port/histograms.h"
#include "port/measured_in.h"
#include "port/importers.h"
#include "port/perf_in.h"
#include "query/hpc/db.h"
#include "query/hpc/source.h"
#include "query/samples/input.h"
#include "query/samples/source.h"
#include "store/store.h"

static bool is_perf(const char *path)
{
	return perf_in_probe(path) == 1;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) >= 0 && S_ISDIR(st.st_mode);
}

static bool is_dcpi_tree(const char *path)
{
	return is_directory(path) && dcpi_in_probe(path) == 1;
}

static bool is_dcpi_file(const char *path)
{
	return !is_directory(path) && dcpi_in_probe(path) == 1;
}

static bool is_store_directory(const char *path)
{
	store_paths dbs = {0};
	const bool is = store_members(path, &dbs, NULL) >= 0 && dbs.n;

	store_paths_release(&dbs);
	return is;
}

static bool has_histograms(const char *path)
{
	return histograms_count(path) > 0;
}

static bool is_empty(const char *path)
{
	DIR *d = opendir(path);
	const struct dirent *e;
	bool any = false;

	while (d && !any && (e = readdir(d)))
		any = strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	if (d)
		closedir(d);
	return d && !any;
}

static bool begins_with(const char *path, const char *magic)
{
	const size_t n = strlen(magic);
	struct file_map map;
	bool is;

	if (file_map_open(&map, AT_FDCWD, path, false, NULL) < 0)
		return false;
	is = map.n_bytes >= n && memcmp(map.bytes, magic, n) == 0;
	file_map_close(&map);
	return is;
}

static bool is_database_part(const char *path)
{
	return begins_with(path, "HPCTOOLKIT");
}

/* docs/formats/histogram.md, "magic". */
static bool is_histogram(const char *path)
{
	return begins_with(path, "dwellhst");
}

static bool is_measurement(const char *path)
{
	return measured_in_probe(path) == 1;
}

static bool is_other(const char *path)
{
	return importer_find(path) != NULL;
}

typedef int open_fn(struct source **ret, const struct source_opts *o, const char *path,
		    struct err *err);

static const struct format {
	enum source_kind kind;
	const char *name; /* as messages call it */
	bool (*probe)(const char *path);
	open_fn *open; /* NULL: it cannot be read */
} formats[] = {
	{SOURCE_EMPTY, "empty directory", is_empty, NULL},
	{SOURCE_STORE, "dwell database", store_is_db, samples_source_open},
	{SOURCE_HPC, "HPCToolkit database", hpc_db_probe, hpc_source_open},
	{SOURCE_PERF, "recording of perf", is_perf, samples_source_open},
	{SOURCE_DCPI_TREE, "DCPI tree", is_dcpi_tree, samples_source_open},
	{SOURCE_DCPI_FILE, "DCPI profile", is_dcpi_file, samples_source_open},
	{SOURCE_STORES, "directory of dwell databases", is_store_directory, samples_source_open},
	{SOURCE_HISTOGRAMS, "directory of histograms", has_histograms, samples_source_open},
	{SOURCE_HPC_FILE, "file of an HPCToolkit database", is_database_part, NULL},
	{SOURCE_HISTOGRAM, "histogram file", is_histogram, NULL},
	{SOURCE_HPCRUN, "measurement of hpcrun", is_measurement, samples_source_open},
	{SOURCE_OTHER, "profile of another tool", is_other, samples_source_open},
};

/* Pipes and devices are not asked what they are: opening one can wait, and reading takes from
 * it. */
static const struct format *find_format(const char *path)
{
	static const struct format fleet = {SOURCE_FLEET, "fleet's database", fleet_is_url,
					    samples_source_open};
	struct stat st;

	if (fleet.probe(path))
		return &fleet;
	if (stat(path, &st) < 0 || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return NULL;
	for (size_t i = 0; i < n_elems(formats); i++)
		if (formats[i].probe(path))
			return &formats[i];
	return NULL;
}

bool source_probe(const char *path)
{
	return find_format(path) != NULL;
}

enum source_kind source_kind_of(const char *path)
{
	const struct format *f = find_format(path);

	return f ? f->kind : SOURCE_NOTHING;
}

int source_check_kind(const char *path, unsigned kinds, const char *command, const char *takes,
		      struct err *err)
{
	const struct format *f = find_format(path);

	if (f ? (f->kind & kinds) != 0 : access(path, R_OK) != 0)
		return 0;
	if (f && access(path, R_OK) != 0 && f->kind != SOURCE_FLEET)
		return 0;
	if (f && f->kind == SOURCE_HPCRUN)
		return source_refuse_reading(path, err);
	if (!f)
		return err_set(err, -EINVAL, "%s: is nothing that dwell knows; %s takes %s", path,
			       command, takes);
	return err_set(err, -EINVAL, "%s: is %s %s; %s takes %s", path,
		       strchr("eH", *f->name) ? "an" : "a", f->name, command, takes);
}

int source_refuse_reading(const char *path, struct err *err)
{
	struct stat st;

	switch (source_kind_of(path)) {
	case SOURCE_HPC:
		return err_set(err, -EINVAL,
			       "%s: is an HPCToolkit database, which has values of metrics, not "
			       "samples",
			       path);
	case SOURCE_HPC_FILE:
		return err_set(err, -EINVAL,
			       "%s: is a file of an HPCToolkit database; name its directory "
			       "(`dwell cat` prints the file itself)",
			       path);
	case SOURCE_HISTOGRAM:
		return err_set(err, -EINVAL,
			       "%s: is what a process counts; name the directory it is in", path);
	case SOURCE_HPCRUN:
		return err_set(
			err, -EINVAL,
			"%s: measurements of hpcrun; `dwell hpc -o DB %s` makes a database of "
			"them",
			path, path);
	default:
		if (stat(path, &st) >= 0 && S_ISREG(st.st_mode) && !st.st_size)
			return err_set(err, -EINVAL, "%s: a file of 0 bytes", path);
		return err_set(err, -EINVAL,
			       "%s: neither a database, nor a DCPI profile, nor perf's data, nor "
			       "another tool's profile",
			       path);
	}
}

int source_open(struct source **ret, const struct source_opts *o, struct err *err)
{
	_mem_ char *path = input_path(o->select);
	const struct format *f = find_format(path);
	open_fn *open = f && f->open ? f->open : samples_source_open;
	int rc;

	if ((f && !f->open && f->kind != SOURCE_EMPTY) ||
	    (!f && access(path, R_OK) == 0 && !is_directory(path)))
		return source_refuse_reading(path, err);
	/* What is not there, or is damaged, says so itself. */
	rc = open(ret, o, path, err);
	if (rc == 0 && f) {
		(*ret)->format = f->name;
		(*ret)->kind = f->kind;
	}
	return rc;
}
