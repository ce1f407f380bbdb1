/* SPDX-License-Identifier: BSD-2-Clause */
/* See filter.h. */
#include "cmd/filter.h"

#include <stdlib.h>

#include "base/cleanup.h"

static int want_images(struct dcpi_filter *f, const struct profile *p, const opt_list *names,
		       struct err *err)
{
	image_ids ids = {0};
	int rc = 0;

	vec_each (name, names) {
		rc = select_find_images(p, *name, &ids, err);
		if (rc < 0)
			break;
	}
	if (names->n)
		f->images = xcalloc(p->images.n + 1, sizeof(*f->images));
	vec_each (id, &ids)
		f->images[*id] = true;
	vec_release(&ids);
	return rc;
}

static int want_events(struct dcpi_filter *f, const struct profile *p, const opt_list *events,
		       struct err *err)
{
	_vec_ opt_list names = {0};
	_mem_ char *text = NULL;
	event_ids ids = {0};
	int rc = 0;

	select_split_events(events, &names, &text);
	vec_each (name, &names) {
		rc = select_find_events(p, *name, &ids, err);
		if (rc < 0)
			break;
	}
	if (names.n)
		f->events = xcalloc(p->events.n + 1, sizeof(*f->events));
	vec_each (id, &ids)
		f->events[*id] = true;
	vec_release(&ids);
	return rc;
}

int filter_init(struct dcpi_filter *ret, const struct profile *p, const struct select *s,
		const opt_list *images, struct err *err)
{
	struct dcpi_filter f = {0};
	int rc = select_owners(p, s, &f.owners, err);

	if (rc >= 0)
		rc = want_events(&f, p, &s->events, err);
	if (rc >= 0)
		rc = want_images(&f, p, images, err);
	if (rc < 0)
		filter_release(&f);
	else
		*ret = f;
	return rc;
}

void filter_release(struct dcpi_filter *f)
{
	free(f->images);
	free(f->owners);
	free(f->events);
	*f = (struct dcpi_filter){0};
}
