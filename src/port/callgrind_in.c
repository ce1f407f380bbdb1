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
	uint32_t column[CALLGRIND_MOST_EVENTS]; /* by event of this part */
	bool has_part;
};

static bool is_column(const struct stacks *s, size_t c, const char *name)
{
	return c < s->columns.n && strcmp(s->columns.v[c].event, name) == 0;
}

static uint32_t find_column(const struct stacks *s, const char *name)
{
	for (uint32_t c = 0; c < s->columns.n; c++)
		if (is_column(s, c, name))
			return c;
	return UINT32_MAX;
}

/* The parts of a file may have their events in another order, but no others than the first. */
static int read_events(struct callgrind_in *in, const char *names, struct err *err)
{
	in->n_events = 0;
	while (*names) {
		const size_t n = strcspn(names, " \t");
		const char *name = stacks_make_text(in->make, names, n);
		uint32_t c = (uint32_t)in->n_events;

		names += n + (names[n] != 0);
		if (!n)
			continue;
		if (in->n_events == CALLGRIND_MOST_EVENTS)
			return err_set(err, -E2BIG, "more than %d events", CALLGRIND_MOST_EVENTS);
		if (!in->has_part)
			stacks_make_column(in->make, name, "count", STACK_SAMPLES, 1);
		else if (!is_column(in->make->s, c, name))
			c = find_column(in->make->s, name);
		if (c == UINT32_MAX)
			return err_set(err, -EPROTONOSUPPORT,
				       "the event '%s' is in none of the parts before", name);
		in->column[in->n_events++] = c;
	}
	in->has_part = true;
	return 0;
}

static int read_costs(struct callgrind_in *in, const struct callgrind_line *l, struct err *err)
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
		return 0;
	}
	if (l->n_costs > in->n_events)
		return err_set(err, -EBADMSG, "%u costs of %zu events", l->n_costs, in->n_events);
	line.function = stacks_make_function(in->make, &fn);
	line.line = l->line < UINT32_MAX ? (uint32_t)l->line : 0;
	node = stacks_make_node(in->make, 0, stacks_make_place(in->make, image, 0, &line, 1));
	amounts = stacks_make_value(in->make, node, in->owner);
	for (unsigned c = 0; c < l->n_costs; c++)
		stacks_make_add(in->make, &amounts[in->column[c]], l->costs[c]);
	return 0;
}

static int read_callgrind_line(struct callgrind_in *in, const struct callgrind_line *l,
			       struct err *err)
{
	switch (l->kind) {
	case CALLGRIND_EVENTS:
		return read_events(in, l->name, err);
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
		return read_costs(in, l, err);
	case CALLGRIND_OTHER:
	case CALLGRIND_COB:
	case CALLGRIND_CFI:
	case CALLGRIND_CFN:
	case CALLGRIND_JFI:
	case CALLGRIND_JFN:
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
	if (reader.n_negative)
		str_addf(job->notes, "%" PRIu64 " costs below 0 count as 0\n", reader.n_negative);
	if (reader.n_untold)
		str_addf(job->notes, "%" PRIu64 " names are numbers that no line tells\n",
			 reader.n_untold);
	callgrind_end(&reader);
	if (in.n_calls)
		str_addf(job->notes,
			 "%" PRIu64 " calls are left out: callgrind's files do not tell paths\n",
			 in.n_calls);
	return rc;
}
