/* SPDX-License-Identifier: BSD-2-Clause */
/* See hpc_cmd.h. */
#include "cmd/hpc_cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"

void hpc_args_release(struct hpc_args *a)
{
	vec_release(&a->stats);
	vec_release(&a->threads);
	vec_release(&a->derived);
}

bool cmd_is_hpc(struct cmd *c, opt_list *operands)
{
	char *path;
	bool is;

	if (!c->select.db && operands->n && hpc_db_probe(operands->v[0])) {
		c->select.db = operands->v[0];
		operands->n--;
		memmove(operands->v, operands->v + 1, operands->n * sizeof(*operands->v));
		return true;
	}
	path = c->select.db ? xstrdup(c->select.db) : store_default_path();
	is = hpc_db_probe(path);
	free(path);
	return is;
}

int cmd_not_hpc(struct cmd *c, const struct hpc_args *a)
{
	const char *given = a->stats.n	     ? "--stat"
			    : a->threads.n   ? "--thread"
			    : a->all_metrics ? "--all-metrics"
			    : a->taxonomy    ? "--taxonomy"
					     : NULL;

	if (given)
		return err_set(&c->err, -EINVAL, "%s is for HPCToolkit databases", given);
	return 0;
}

/* What selects among dwell's own recordings. */
static int check_selection(struct cmd *c)
{
	const struct select *s = &c->select;
	const char *given = s->epochs	? "epoch"
			    : s->since	? "since"
			    : s->until	? "until"
			    : s->host	? "host"
			    : s->stride ? "stride"
					: NULL;

	for (enum owner_key k = 0; k < N_OWNER_KEYS && !given; k++)
		if (s->owners[k].n)
			given = owner_key_name(k);
	if (given)
		return err_set(&c->err, -EINVAL,
			       "--%s: an HPCToolkit database has threads (--thread) instead",
			       given);
	return 0;
}

int cmd_with_hpc(struct cmd *c, const struct hpc_args *a,
		 int (*show)(struct cmd *c, struct hpc_query *q, void *ctx), void *ctx)
{
	char *path = c->select.db ? xstrdup(c->select.db) : store_default_path();
	const struct hpc_opts o = {
		.select = &c->select,
		.stats = a->stats,
		.threads = a->threads,
		.derived = a->derived,
		.all_metrics = a->all_metrics,
		.taxonomy = a->taxonomy,
	};
	struct hpc_query q;
	struct hpc_db db;
	int rc = check_selection(c);

	if (!rc)
		rc = hpc_db_open(&db, path, &c->err);
	if (!rc) {
		rc = hpc_query_init(&q, &db, &o, &c->err);
		if (!rc) {
			rc = show(c, &q, ctx);
			hpc_query_release(&q);
		}
		hpc_db_close(&db);
	}
	if (rc == CMD_NOTHING)
		cmd_notice(c, "no values in %s", path);
	free(path);
	return rc;
}
