/* SPDX-License-Identifier: BSD-2-Clause */
/* An HPCToolkit database open for reading: its files are mapped and nothing is read that is not
 * asked for. */
#ifndef QUERY_HPC_DB_H
#define QUERY_HPC_DB_H

#include "base/file.h"
#include "base/opts.h"
#include "base/str.h"
#include "base/vec.h"
#include "formats/hpc/cct.h"
#include "formats/hpc/meta.h"
#include "formats/hpc/profile.h"
#include "formats/hpc/trace.h"

struct hpc_db_file {
	struct file_map map;
	char *path;
};

struct hpc_db {
	char *path;
	struct hpc_db_file meta_file, profile_file, cct_file, trace_file;
	struct hpc_meta meta;
	struct hpc_profile_db profiles;
	struct hpc_cct_db ccts;	    /* when has_cct */
	struct hpc_trace_db traces; /* when has_traces */
	bool has_cct, has_traces;
};

/* Whether PATH is a directory with a meta.db that begins as HPCToolkit's do. */
bool hpc_db_probe(const char *path);

/* Opens the database in directory PATH: meta.db and profile.db, cct.db and trace.db when they are
 * there.  Errors name the file and the offset: -EBADMSG damaged, -ENODATA cut off, -EPROTONOSUPPORT
 * newer, and those of opening files. */
int hpc_db_open(struct hpc_db *db, const char *path, struct err *err);
void hpc_db_close(struct hpc_db *db);

/* Appends what profile INDEX is called: "RANK 0 THREAD 1".  What a database says of machines
 * (NODE) and cores is left out where there is something else to tell profiles by. */
int hpc_db_thread_name(const struct hpc_db *db, uint32_t index, struct str *ret, struct err *err);

/* Reads metrics/default.yaml: its tree, to be released, and its text, to be freed.  False when
 * there is none or it cannot be read. */
struct hpc_metric_tree;
bool hpc_db_taxonomy(const struct hpc_db *db, struct hpc_metric_tree *ret, char **ret_text,
		     size_t *ret_n);

/* Which metrics metrics/default.yaml does not show until they are asked for, by index, to be freed.
 * NULL when there is no such file or it cannot be read. */
bool *hpc_db_hidden_metrics(const struct hpc_db *db);

/* The profiles that LIST means, sorted, each once.  An element is a profile's index or a range of
 * them (3, 4-7), or identifications that must all fit, with commas between: rank=0,thread=1-3.
 * -EINVAL when it is malformed, -ENOENT when there is no such profile or identification. */
typedef VEC(uint32_t) profile_ids;
int hpc_db_find_threads(const struct hpc_db *db, const opt_list *list, profile_ids *ret,
			struct err *err);

/* The name people know F by (NULL: a context without a function); in A when it has to be made up:
 * "sub_OFFSET".  *RET_NAMELESS is set then, and for "[unknown]". */
const char *hpc_db_function_name(const struct hpc_function *f, struct arena *a, bool *ret_nameless);

#endif
