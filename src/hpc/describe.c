/* SPDX-License-Identifier: BSD-2-Clause */
/* See describe.h.  Names from outside are put in code spans, where Markdown leaves them alone.
 * Only ASCII goes out: Hatchet decodes these texts byte by byte. */
#include "hpc/describe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"

/* TEXT with a question mark for each character that is not ASCII. */
static void add_ascii(struct str *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < 0x80)
			str_addc(out, (char)(c < ' ' ? ' ' : c));
		else if (c >= 0xc0)
			str_addc(out, '?');
	}
}

/* `TEXT`, without what would end it. */
static void add_code(struct str *out, const char *text)
{
	_str_ struct str ascii = {0};

	add_ascii(&ascii, text);
	str_addc(out, '`');
	for (const char *c = str_get(&ascii); *c; c++)
		str_addc(out, *c == '`' ? '\'' : *c);
	str_addc(out, '`');
}

char *describe_title(const struct profile *p, const char *path)
{
	const char *command = profile_str(p, p->meta.command);
	size_t n = strcspn(command, " ");
	_mem_ char *program = xstrndup(command, n);
	struct str title = {0};

	add_ascii(&title, str_basename(*command ? program : path));
	add_ascii(&title, command + n);
	return title.v ? title.v : xstrdup("");
}

static void add_fact(struct str *out, const char *what, const char *text)
{
	if (!*text)
		return;
	str_addf(out, "- %s: ", what);
	add_code(out, text);
	str_addc(out, '\n');
}

static void format_time(char *to, size_t size, uint64_t wall_ns)
{
	time_t t = (time_t)(wall_ns / 1000000000);
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(to, size, "%Y-%m-%d %H:%M:%S UTC", &tm);
}

static void add_time(struct str *out, const struct profile_meta *m)
{
	char from[64], to[64];

	if (!m->start_wall_ns)
		return;
	format_time(from, sizeof(from), m->start_wall_ns);
	str_addf(out, "- recorded: %s", from);
	if (m->end_wall_ns > m->start_wall_ns) {
		format_time(to, sizeof(to), m->end_wall_ns);
		str_addf(out, " to %s (%.3f s)", to,
			 (double)(m->end_wall_ns - m->start_wall_ns) / 1e9);
	}
	str_addc(out, '\n');
}

static void add_event(struct str *out, const struct query *q, const struct query_col *c)
{
	const char *unit = profile_str(q->profile, q->profile->events.v[c->event].unit);

	str_add(out, "| ");
	add_code(out, c->name);
	if (*c->measures)
		str_add(out, " | each nanosecond");
	else
		str_addf(out, " | %" PRIu64 "%s%s", c->period, *unit ? " " : "", unit);
	str_addf(out, " | %.2f %% | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " |\n",
		 100 * (c->duty > 0 ? c->duty : 1), *c->measures ? c->n_intervals : c->n_samples,
		 c->n_idle, c->n_lost, c->not_delivered);
}

static void add_losses(struct str *out, const struct query *q)
{
	const struct profile *p = q->profile;

	vec_each (l, &p->losses) {
		if (!l->n || q->col_of[l->event] == q->n_cols)
			continue;
		str_addf(out, "- lost: %" PRIu64 " samples of ", l->n);
		add_code(out, q->cols[q->col_of[l->event]].name);
		str_add(out, ", ");
		add_code(out, profile_str(p, l->name));
		str_addc(out, '\n');
	}
}

static void add_heading(struct str *out, const char *path)
{
	str_add(out, "## ");
	add_code(out, str_basename(path));
	str_add(out, "\n\n");
}

void describe_input(struct str *out, const struct query *q, const char *path)
{
	const struct profile *p = q->profile;
	const struct profile_meta *m = &p->meta;

	add_heading(out, path);
	add_fact(out, "command", profile_str(p, m->command));
	add_fact(out, "host", profile_str(p, m->host));
	add_fact(out, "machine", profile_str(p, m->platform));
	add_fact(out, "kernel", profile_str(p, m->kernel));
	add_fact(out, "recorded by", profile_str(p, m->engine));
	if (m->n_cpus)
		str_addf(out, "- CPUs: %" PRIu32 "\n", m->n_cpus);
	add_time(out, m);
	add_losses(out, q);
	str_add(out, "\n| event | period | counting | samples | idle | lost | not delivered |\n"
		     "|---|---:|---:|---:|---:|---:|---:|\n");
	for (unsigned c = 0; c < q->n_events; c++)
		add_event(out, q, &q->cols[c]);
}

void describe_database(struct str *out, const struct hpc_meta *m, const char *path)
{
	size_t n = strlen(path);
	_mem_ char *name = NULL;

	while (n > 1 && path[n - 1] == '/')
		n--;
	name = xstrndup(path, n);
	add_heading(out, name);
	add_fact(out, "title", m->title);
	str_addf(out, "- profiles of an HPCToolkit database, version %u.%u\n", m->majorVersion,
		 m->minorVersion);
	/* Observed: hpcprof writes nothing but this. */
	if (*m->description && strcmp(m->description, "TODO database description") != 0)
		str_addf(out, "\n%s%s", m->description, str_ends(m->description, "\n") ? "" : "\n");
}
