/* SPDX-License-Identifier: BSD-2-Clause */
/* callgrind's files as profiles.  They have each function's own costs, and what its calls have
 * below them, but not which calls came before a call: so paths have one place. */
#include <errno.h>
#include <inttypes.h>

#include "formats/callgrind.h"
#include "port/importers.h"

struct callgrind_in {
	struct stacks_maker *make;
	const char *ob, *fl, *fn, *fi; /* where costs are */
	bool is_call;		       /* the next costs are a call's */
	uint64_t n_calls;
	uint32_t owner;
	size_t n_events;
};

static void read_events(struct callgrind_in *in, const char *names)
{
	while (*names) {
		const size_t n = strcspn(names, " \t");
		const char *name = stacks_make_text(in->make, names, n);

		if (n && in->n_events < CALLGRIND_MOST_EVENTS) {
			stacks_make_column(in->make, name, "count", STACK_SAMPLES, 1);
			in->n_events++;
		}
		names += n + (names[n] != 0);
	}
}

static void read_costs(struct callgrind_in *in, const struct callgrind_line *l)
{
	const bool has_image = in->ob && *in->ob && strcmp(in->ob, "???") != 0;
	const uint32_t image =
		has_image ? stacks_make_image(in->make, &(struct stack_image){.path = in->ob,
									      .kind = IMAGE_FILE})
			  : STACK_NO_IMAGE;
	const struct stack_function fn = {.name = in->fn,
					  .file = in->fl && strcmp(in->fl, "???") != 0 ? in->fl
										       : "",
					  .image = image};
	struct stack_line line = {0};
	uint64_t *amounts;
	uint32_t node;

	if (in->is_call) {
		in->is_call = false;
		in->n_calls++;
		return;
	}
	line.function = stacks_make_function(in->make, &fn);
	line.line = l->line < UINT32_MAX ? (uint32_t)l->line : 0;
	node = stacks_make_node(in->make, 0, stacks_make_place(in->make, image, 0, &line, 1));
	amounts = stacks_make_value(in->make, node, in->owner);
	for (unsigned c = 0; c < l->n_costs && c < in->n_events; c++)
		amounts[c] += l->costs[c];
}

static int read_callgrind_line(struct callgrind_in *in, const struct callgrind_line *l,
			       struct err *err)
{
	switch (l->kind) {
	case CALLGRIND_EVENTS:
		if (!in->n_events)
			read_events(in, l->name);
		break;
	case CALLGRIND_COMMAND:
		in->make->s->command = l->name;
		break;
	case CALLGRIND_OB:
		in->ob = l->name;
		break;
	case CALLGRIND_FL:
		in->fl = l->name;
		break;
	case CALLGRIND_FI:
		in->fi = l->name;
		break;
	case CALLGRIND_FN:
		in->fn = l->name;
		break;
	case CALLGRIND_CALLS:
		in->is_call = true;
		break;
	case CALLGRIND_COSTS:
		if (!in->n_events)
			return err_set(err, -EBADMSG, "costs stand before \"events:\"");
		if (!in->fn)
			return err_set(err, -EBADMSG, "costs stand before \"fn=\"");
		read_costs(in, l);
		break;
	case CALLGRIND_OTHER:
	case CALLGRIND_COB:
	case CALLGRIND_CFI:
	case CALLGRIND_CFN:
	case CALLGRIND_TOTAL:
		break;
	}
	return 0;
}

int callgrind_in_read(const uint8_t *bytes, size_t n, struct importer_job *job, struct err *err)
{
	struct callgrind_in in = {.make = &job->make};
	struct callgrind_reader reader;
	struct callgrind_line parsed;
	struct rd r = rd_init(bytes, n);
	struct text_line l;
	size_t number = 0;
	int rc = 0;

	callgrind_begin(&reader, &job->make.s->arena);
	in.owner = stacks_make_owner(&job->make, &(struct stack_owner){.uid = -1});
	while (rc >= 0 && text_line_next(&r, &l)) {
		number++;
		rc = callgrind_parse(&reader, &l, &parsed, err);
		if (rc >= 0)
			rc = read_callgrind_line(&in, &parsed, err);
		if (rc < 0)
			err_prefix(err, rc, "line %zu", number);
	}
	callgrind_end(&reader);
	if (in.n_calls)
		str_addf(job->notes,
			 "%" PRIu64 " calls are left out: callgrind's files do not tell paths\n",
			 in.n_calls);
	return rc;
}
