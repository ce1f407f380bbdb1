/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks of a profile in memory: see samples_with_stacks. */
#include "query/samples/runtime.h"
#include "query/samples/source.h"
#include "query/samples/stacks.h"

/* Makes of P what input_open makes of a database.  Addresses of the kernel are always hidden,
 * because the stacks leave this machine. */
static void settle_profile(struct profile *p, struct resolver *r)
{
	vec_each (pl, &p->places)
		if (pl->svma >> 63 && p->images.v[pl->image].kind == IMAGE_UNKNOWN)
			pl->svma = 0;
	profile_join_images(p);
	profile_name_parts(p);
	runtime_name_scripts(p, r);
	runtime_fold(p, r);
}

int samples_with_stacks(struct profile *p, struct resolver *r,
			int (*fn)(void *ctx, const struct stacks *s, struct err *err), void *ctx,
			struct err *err)
{
	const struct stacks_opts o = {.lines = true};
	const struct select all = {0};
	struct stacks stacks = {0};
	struct source *s = NULL;
	struct query q;
	int rc;

	settle_profile(p, r);
	rc = query_init(&q, p, r, &all, err);
	if (rc < 0)
		return rc;
	rc = samples_source_of(&s, &q, NULL, err);
	if (rc >= 0)
		rc = source_stacks(s, &o, &stacks, err);
	if (rc >= 0 && stacks.values.n)
		rc = fn(ctx, &stacks, err);
	stacks_release(&stacks);
	source_close(s);
	query_release(&q);
	return rc;
}
