/* SPDX-License-Identifier: BSD-2-Clause */
/* See dcpi_tree.h.  The tree's epoch is named after the first sample, which stays the same while
 * the recording grows, so that each update replaces the files of the one before. */
#include "daemon/dcpi_tree.h"

#include "port/dcpi_note.h"
#include "port/dcpi_out.h"
#include "store/store.h"

int dcpi_tree_open(const char *db, const char *dir, struct err *err)
{
	int rc = dcpi_note_write(dir, db, err);

	return rc < 0 ? err_prefix(err, rc, "the DCPI tree in %s", dir) : 0;
}

int dcpi_tree_update(const char *db, const char *epoch, const char *host, const char *dir,
		     struct err *err)
{
	const struct store_selection sel = {.epochs = epoch, .host = host};
	const struct dcpi_out_opts o = {.minor = 7, .stride = 1, .lazily = true};
	struct dcpi_out_stats stats;
	struct profile p;
	int rc;

	rc = dcpi_tree_open(db, dir, err);
	if (rc < 0)
		return rc;
	profile_init(&p);
	rc = store_load(db, &sel, &p, NULL, err);
	if (rc >= 0 && p.values.n)
		rc = dcpi_out_save(&p, &o, dir, &stats, err);
	profile_release(&p);
	return rc < 0 ? err_prefix(err, rc, "the DCPI tree in %s", dir) : 0;
}
