/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell ship`: sends what a database has to ClickHouse, to Pyroscope or to a collector. */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/plural.h"
#include "cmd/cmd.h"
#include "daemon/config.h"
#include "fleet/push.h"
#include "fleet/rollup.h"
#include "fleet/ship.h"
#include "query/samples/stacks.h"
#include "query/source.h"
#include "store/store.h"

#define MOST_APART_NS (3600ull * 1000000000)

struct ship_args {
	const char *to, *to_db, *db, *state, *tenant;
	struct fleet_login login;
	const char *config, *cluster;
	uint64_t every_ns, retain_ns;
	bool schema, create, again, no_names, roll_up;
};

static volatile sig_atomic_t ship_ended;

static void end_ship(int sig)
{
	ship_ended = sig;
}

static void say_notice(void *ctx, const char *line)
{
	cmd_notice(ctx, "%s", line);
}

struct ship_member {
	const char *key;
	uint64_t n;
};

static void show_json(struct cmd *c, const struct ship_member *members, size_t n)
{
	struct json j = json_init(&c->out, 1);

	json_begin(&j, '{');
	for (size_t i = 0; i < n; i++)
		json_add_u64(&j, members[i].key, members[i].n);
	json_end(&j, '}');
	str_addc(&c->out, '\n');
}

static void show_totals(struct cmd *c, const struct ship_totals *t, const struct rollup_totals *r)
{
	const struct ship_member members[] = {{"recordings", t->n_recordings},
					      {"known", t->n_known},
					      {"segments", t->n_segments},
					      {"values", t->n_rows},
					      {"samples", t->n_samples},
					      {"superseded", t->n_superseded},
					      {"named", t->n_named},
					      {"failed", t->n_failed},
					      {"set_aside", t->n_set_aside},
					      {"overflowed", t->n_overflowed},
					      {"days", r->n_days},
					      {"bytes", t->n_bytes}};

	if (c->json) {
		show_json(c, members, n_elems(members));
		return;
	}
	str_addf(&c->out,
		 "shipped %" PRIu64 " segment%s: %" PRIu64 " sample%s in %" PRIu64
		 " value%s, %" PRIu64 " bytes sent\n",
		 t->n_segments, plural_s(t->n_segments), t->n_samples, plural_s(t->n_samples),
		 t->n_rows, plural_s(t->n_rows), t->n_bytes);
	if (t->n_superseded)
		str_addf(&c->out, "%" PRIu64 " segments were merged since, and count no more\n",
			 t->n_superseded);
	if (t->n_named)
		str_addf(&c->out, "%" PRIu64 " place%s of before got a name that was not known\n",
			 t->n_named, plural_s(t->n_named));
	if (t->n_set_aside)
		str_addf(&c->out,
			 "%" PRIu64 " segment%s set aside: refused by the server three times\n",
			 t->n_set_aside, t->n_set_aside == 1 ? " is" : "s are");
	if (r->n_days)
		str_addf(&c->out, "the server has new sums of %" PRIu64 " day%s\n", r->n_days,
			 r->n_days == 1 ? "" : "s");
	if (t->n_left_out)
		str_addf(&c->out,
			 "%" PRIu64 " values lost bits or counters that their recording named for "
			 "itself\n",
			 t->n_left_out);
}

static void show_pushed(struct cmd *c, const struct push_totals *t)
{
	const struct ship_member members[] = {{"recordings", t->n_recordings},
					      {"segments", t->n_segments},
					      {"samples", t->n_samples},
					      {"repeated", t->n_repeated},
					      {"waiting", t->n_waiting},
					      {"refused", t->n_refused},
					      {"set_aside", t->n_set_aside},
					      {"left_out", t->n_left_out},
					      {"bytes", t->n_bytes}};

	if (c->json) {
		show_json(c, members, n_elems(members));
		return;
	}
	str_addf(&c->out,
		 "pushed %" PRIu64 " segment%s: %" PRIu64 " sample%s, %" PRIu64 " bytes sent\n",
		 t->n_segments, plural_s(t->n_segments), t->n_samples, plural_s(t->n_samples),
		 t->n_bytes);
	if (t->n_repeated)
		str_addf(&c->out,
			 "%" PRIu64 " of these samples %s pushed before without an answer: the "
			 "server may count %s twice\n",
			 t->n_repeated, t->n_repeated == 1 ? "was" : "were",
			 t->n_repeated == 1 ? "it" : "them");
	if (t->n_left_out)
		str_addf(&c->out, "%" PRIu64 " sample%s left out: merged with pushed ones\n",
			 t->n_left_out, t->n_left_out == 1 ? " is" : "s are");
	if (t->n_set_aside)
		str_addf(&c->out,
			 "%" PRIu64
			 " segments are set aside: the server refused them three times\n",
			 t->n_set_aside);
}

/* Pushes once to a server that cannot be asked. */
static int push_once(struct cmd *c, const struct ship_args *a, const char *db)
{
	struct push_totals totals = {0};
	const struct push_opts o = {.db = db,
				    .state = a->state,
				    .tenant = a->tenant,
				    .with_stacks = samples_with_stacks,
				    .notice = say_notice,
				    .notice_ctx = c};
	int rc = fleet_push(a->to, &a->login, &o, &totals, &c->err);

	if (rc < 0)
		return rc;
	show_pushed(c, &totals);
	return totals.n_refused ? err_set(&c->err, -EIO,
					  "%" PRIu64 " segments were not pushed; the others were",
					  totals.n_refused)
				: 0;
}

/* TOLD: what the passes before told the server. */
static int ship_once(struct cmd *c, const struct ship_args *a, struct fleet_told *told)
{
	struct ship_totals totals = {0};
	struct rollup_totals rolled = {0};
	struct fleet_server *s;
	_mem_ char *db = a->db ? xstrdup(a->db) : store_default_path();
	const struct ship_opts o = {.db = db,
				    .state = a->state,
				    .again = a->again,
				    .no_names = a->no_names,
				    .told = told,
				    .notice = say_notice,
				    .notice_ctx = c};
	int rc = source_check_kind(db, SOURCE_STORE | SOURCE_EMPTY, "dwell ship",
				   "one dwell database", &c->err);

	if (rc >= 0 && push_is_url(a->to))
		return push_once(c, a, db);
	if (rc >= 0)
		rc = fleet_server_open(&s, a->to, a->to_db, &a->login, &c->err);
	if (rc < 0)
		return rc;
	if (a->create)
		rc = fleet_create_schema(s, &c->err);
	if (rc >= 0)
		rc = fleet_ship(s, &o, &totals, &c->err);
	if (rc >= 0 && a->retain_ns)
		rc = fleet_retain(s, a->retain_ns, &c->err);
	if (rc >= 0 && a->roll_up)
		rc = fleet_roll_up(s, &rolled, &c->err);
	fleet_server_close(s);
	if (rc >= 0)
		show_totals(c, &totals, &rolled);
	if (rc >= 0 && totals.n_failed)
		rc = err_set(&c->err, -EIO,
			     "%" PRIu64 " of %" PRIu64 " recordings were not shipped; the others "
			     "were",
			     totals.n_failed, totals.n_recordings);
	return rc;
}

/* Prints what a pass said, and its error. */
static void show_pass(struct cmd *c, int rc)
{
	fwrite(str_get(&c->out), 1, c->out.n, stdout);
	fflush(stdout);
	str_reset(&c->out);
	if (rc < 0)
		cmd_notice(c, "%s", c->err.msg);
	c->err = (struct err){0};
}

/* A number that hosts have different ones of. */
static uint64_t own_number(uint64_t below)
{
	struct utsname u = {0};

	uname(&u);
	return hash_str(u.nodename) % below;
}

/* Sleeps until a signal or for NS.  A signal just before is not slept through: it is let in by the
 * sleep alone. */
static void wait_ns(uint64_t ns)
{
	const struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	sigset_t ends, before;

	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigprocmask(SIG_BLOCK, &ends, &before);
	if (!ship_ended)
		ppoll(NULL, 0, &t, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Passes without end.  Hosts take turns within the time; after failures passes are twice as far
 * apart each time, up to an hour. */
static int ship_always(struct cmd *c, const struct ship_args *a)
{
	uint64_t apart_ns = a->every_ns;
	struct fleet_told told = {0};

	signal(SIGTERM, end_ship);
	signal(SIGINT, end_ship);
	while (!ship_ended) {
		const int rc = ship_once(c, a, &told);

		show_pass(c, rc);
		if (rc >= 0)
			apart_ns = a->every_ns;
		else if (apart_ns < MOST_APART_NS)
			apart_ns = apart_ns * 2 < MOST_APART_NS ? apart_ns * 2 : MOST_APART_NS;
		if (apart_ns < a->every_ns)
			apart_ns = a->every_ns;
		wait_ns(apart_ns - own_number(apart_ns / 8 + 1));
	}
	fleet_told_release(&told);
	return 0;
}

/* Takes options from FILE, a line each, which ARGV's own count more than. */
static int read_config(struct cmd *c, const struct opt *table, const char *file, config_args *words)
{
	_mem_ char *text = NULL;
	opt_list rest = {0};
	size_t n;
	int rc = file_load(file, 65536, &text, &n, &c->err);

	vec_push(words, xstrdup("ship"));
	if (rc >= 0)
		rc = config_split(text, n, words, &c->err);
	if (rc >= 0)
		rc = opts_parse(table, (int)words->n, words->v, false, &rest, &c->err);
	if (rc >= 0 && rest.n)
		rc = err_set(&c->err, -EINVAL, "'%s' is no option", rest.v[0]);
	vec_release(&rest);
	return rc < 0 ? err_prefix(&c->err, rc, "%s", file) : 0;
}

/* What a segment took goes back to the system before the next one. */
static void keep_small(void)
{
	mallopt(M_MMAP_THRESHOLD, 64 * 1024);
	mallopt(M_TRIM_THRESHOLD, 64 * 1024);
}

int cmd_ship(struct cmd *c)
{
	struct ship_args a = {0};
	const struct opt table[] = {
		{"to", OPT_STR, &a.to, "URL",
		 "ClickHouse: http://HOST:8123/DATABASE, or https://; pyroscope+http://HOST; "
		 "otlp+http://HOST"},
		{"to-db", OPT_STR, &a.to_db, "NAME", "its database, where URL does not name one"},
		{"login", OPT_STR, &a.login.file, "FILE",
		 "a user and a password, a line each (default $DWELL_LOGIN)"},
		{"ca", OPT_STR, &a.login.ca, "FILE",
		 "certificates that vouch for the server's (default $DWELL_CA, the system's)"},
		{"tenant", OPT_STR, &a.tenant, "NAME", "whose profiles these are, for Pyroscope"},
		{"schema", OPT_FLAG, &a.schema, NULL, "print the statements that make the tables"},
		{"cluster", OPT_STR, &a.cluster, "NAME",
		 "with --schema: tables to read from, over all shards of this cluster"},
		{"create", OPT_FLAG, &a.create, NULL,
		 "make the tables first, or bring older ones to this version"},
		{"db", OPT_STR, &a.db, "DB",
		 "what to ship (default $DWELLDB, $DCPIDB, ~/.local/share/dwell)"},
		{"state", OPT_STR, &a.state, "FILE",
		 "where to remember what was shipped (default ~/.local/state/dwell/ship-*)"},
		{"again", OPT_FLAG, &a.again, NULL,
		 "ask the server about everything: it was restored or emptied"},
		{"no-names", OPT_FLAG, &a.no_names, NULL, "send no names of procedures"},
		{"timeout", OPT_DURATION, &a.login.timeout_ns, "TIME",
		 "wait so long for an answer (default 5m)"},
		{"every", OPT_DURATION, &a.every_ns, "TIME", "go on, with a pass so often"},
		{"rollup", OPT_FLAG, &a.roll_up, NULL,
		 "let the server make sums of days, of all hosts, for questions about weeks"},
		{"retain", OPT_DURATION, &a.retain_ns, "TIME",
		 "let the server drop days that ended longer ago, of all hosts"},
		{"config", OPT_STR, &a.config, "FILE",
		 "read options from FILE, one a line, without dashes"},
		{0},
	};
	opt_list operands = {0};
	config_args words = {0};
	int rc = cmd_parse(c, "--to URL [OPTIONS]\n--schema", table, false, &operands);

	if (rc == 0 && a.config) {
		rc = read_config(c, table, a.config, &words);
		operands.n = 0;
		if (rc >= 0) /* the command line counts more */
			rc = cmd_parse(c, "", table, false, &operands);
	}

	if (rc == 0 && operands.n)
		rc = err_set(&c->err, -EINVAL, "takes no operands; --db names the database");
	if (rc == 0 && a.to && push_is_url(a.to) &&
	    (a.create || a.again || a.to_db || a.no_names || a.roll_up))
		rc = err_set(
			&c->err, -EINVAL,
			"--create, --again, --to-db, --rollup and --no-names go with ClickHouse");
	if (rc == 0 && a.cluster &&
	    (!a.schema || !fleet_schema_is_name(a.cluster) ||
	     (a.to_db && !fleet_schema_is_name(a.to_db))))
		rc = err_set(&c->err, -EINVAL,
			     "--cluster goes with --schema; names are letters, digits and _");
	if (rc == 0 && !a.to && !a.schema)
		rc = err_set(&c->err, -EINVAL,
			     "--to URL says where to, --schema prints the tables");
	vec_release(&operands);
	if (rc != 0) {
		config_args_release(&words);
		return rc;
	}
	if (a.schema && a.cluster)
		fleet_schema_shards(&c->out, a.cluster, a.to_db ? a.to_db : "default");
	else if (a.schema)
		fleet_schema_format(&c->out);
	keep_small();
	rc = !a.to ? 0 : a.every_ns ? ship_always(c, &a) : ship_once(c, &a, NULL);
	config_args_release(&words);
	return rc;
}
