/* SPDX-License-Identifier: BSD-2-Clause */
/* See config.h.  The file is turned into a command line, so that there is one parser and one set of
 * words. */
#include "daemon/config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "collect/bpf/record.h"
#include "events/parse.h"
#include "events/rate.h"
#include "daemon/facts_file.h"
#include "store/store.h"

#define FILE_MAX (1u << 20)

/* A sample costs 16 us of interrupt in a virtual machine: 0.2 % of a CPU that never idles.  A
 * prime, so that it does not march in step with timers. */
#define DEFAULT_HZ 97

#define MUX_NS	   1000000000ull
#define JOURNAL_NS (5ull * 1000000000)
#define FLUSH_NS   (300ull * 1000000000)
#define EPOCH_NS   (24ull * 3600 * 1000000000)

/* Callers below a hundred-thousandth of all samples: less than a second of a CPU's day. */
#define PRUNE_PERCENT 0.001

/* A CPU's log: a minute's samples, but no more than are 1.5 MiB with the hashes of their callers.
 */
#define LOG_NS	   (60ull * 1000000000)
#define MOST_SLOTS (1u << 16)

/* Resident memory from which on the daemon begins afresh: of 60 MB, less what the next set takes
 * beside the last one and opening it, or the building of a table. */
#define MOST_BYTES (32u << 20)

/* Unwind tables, in the kernel's memory. */
#define TABLE_BYTES (24u << 20)

/* Slots of a CPU's spill table, of 40 bytes: places an hour's samples are at. */
#define N_SPILL	     65536
#define N_SPILL_MANY 32768 /* with more CPUs than MANY_CPUS */
#define MANY_CPUS    32

void config_table(struct config *c, struct opt ret[CONFIG_N_OPTS])
{
	const struct opt table[] = {
		{"e event", OPT_LIST, &c->events, "EVENT[:PERIOD][+EVENT...]",
		 "what to sample (dwell events lists them)"},
		{"facts", OPT_STR, &c->facts, "FILE",
		 "with pm: the bits and counters of FILE besides those that have names"},
		{"slot", OPT_LIST, &c->slots, "EVENT[:PERIOD][+EVENT...]",
		 "events that count together; several slots take turns"},
		{"mux", OPT_DURATION, &c->mux_ns, "TIME", "a slot's turn (default 1s)"},
		{"F freq", OPT_U64, &c->freq_hz, "HZ", "samples per second and CPU (default 97)"},
		{"c count", OPT_U64, &c->period, "PERIOD", "one sample every PERIOD events"},
		{"by", OPT_STR, &c->by, "group|pid|tid", "keep processes or threads apart"},
		{"bypid", OPT_LIST, &c->by_pid, "PROGRAM", "keep processes of this program apart"},
		{"exclude", OPT_STR, &c->exclude, "FILE",
		 "do not record what FILE lists: images, PID N, PID N-M"},
		{"g calls", OPT_FLAG, &c->calls, NULL,
		 "record call paths, with any engine (default: with bpf)"},
		{"call-graph", OPT_STR, &c->call_graph, "auto|fp|dwarf|none",
		 "record call paths, found so, or none"},
		{"dcpi", OPT_STR, &c->dcpi, "DIR", "keep a DCPI profile tree in DIR up to date"},
		{"label", OPT_STR, &c->label, "LABEL", "mark all samples with LABEL"},
		{"engine", OPT_STR, &c->engine, "auto|bpf|ring", "how samples are brought in"},
		{"epoch", OPT_DURATION, &c->epoch_ns, "TIME",
		 "begin a new epoch so often (default 24h)"},
		{"flush", OPT_DURATION, &c->flush_ns, "TIME",
		 "write a segment so often (default 5m)"},
		{"journal", OPT_DURATION, &c->journal_ns, "TIME",
		 "make samples safe so often (default 5s)"},
		{"max-age", OPT_DURATION, &c->max_age_ns, "TIME",
		 "once a day, remove recordings that ended longer ago (default 90d; 0: any age)"},
		{"max-size", OPT_STR, &c->max_size, "SIZE",
		 "and the oldest until all take no more (default 10G; 0: any size)"},
		{"keep", OPT_U64, &c->n_keep, "N",
		 "but never a host's newest N (default 24, at least 1)"},
		{"max-cpu", OPT_DOUBLE, &c->max_cpu, "PERCENT",
		 "sample more rarely when that costs more of all CPUs' time"},
		{"prune", OPT_DOUBLE, &c->prune, "PERCENT",
		 "merge callers with less of all samples into theirs (default 0.001; 0: none)"},
		{"http", OPT_STR, &c->http, "[ADDRESS:]PORT",
		 "show the metrics by HTTP there (without ADDRESS: to this machine only)"},
		{"bpffs", OPT_STR, &c->bpffs, "DIR",
		 "pin the log below DIR, a BPF file system that is root's alone (default " PIN_PLACE
		 ", mounted when it is needed)"},
		{"no-pin", OPT_FLAG, &c->no_pin, NULL, "let sampling end with this process"},
		{"log-slots", OPT_U64, &c->log_slots, "N",
		 "samples a CPU's log holds, 64 to 1048576"},
		{"db", OPT_STR, &c->db, "DB",
		 "database (default $DWELLDB, $DCPIDB, ~/.local/share/dwell)"},
		{"group", OPT_STR, &c->group, "GROUP",
		 "let members of GROUP read a new database (default: nobody else)"},
		{"config", OPT_STR, &c->file, "FILE",
		 "read options from FILE, one a line, without dashes"},
		{"help h", OPT_FLAG, &c->help, NULL, "show this text"},
		{0},
	};

	_Static_assert(n_elems(table) <= CONFIG_N_OPTS, "room for all");
	memcpy(ret, table, sizeof(table));
}

/* --- the file --- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

int config_split(const char *text, size_t n, config_args *argv, struct err *err)
{
	unsigned number = 0;

	for (size_t at = 0, end; at < n; at = end + 1) {
		const char *nl = memchr(text + at, '\n', n - at);
		size_t from = at, name, to;

		end = nl ? (size_t)(nl - text) : n;
		to = end;
		number++;
		while (from < to && is_blank(text[from]))
			from++;
		while (to > from && is_blank(text[to - 1]))
			to--;
		if (from == to || text[from] == '#')
			continue;
		for (name = from; name < to && !is_blank(text[name]); name++)
			if (text[name] == '=' || (text[name] == '-' && name == from))
				return err_set(err, -EINVAL,
					       "line %u: an option's name, without dashes, and "
					       "behind a blank its value",
					       number);
		if (memchr(text + from, '\0', to - from))
			return err_set(err, -EINVAL, "line %u: not text", number);
		{
			size_t value = name;

			while (value < to && is_blank(text[value]))
				value++;
			vec_push(argv, xasprintf(value < to ? "--%.*s=%.*s" : "--%.*s",
						 (int)(name - from), text + from, (int)(to - value),
						 text + value));
		}
	}
	return 0;
}

void config_args_release(config_args *argv)
{
	vec_each (a, argv)
		free(*a);
	vec_release(argv);
}

static void drop_first(opt_list *l, size_t n)
{
	if (l->n == n) /* the command line did not give any */
		return;
	memmove(l->v, l->v + n, (l->n - n) * sizeof(*l->v));
	l->n -= n;
}

/* What -g means, when call-graph was BEFORE until then. */
static void mean_g(struct config *c, const char *before)
{
	if (c->calls && c->call_graph == before && (!before || strcmp(before, "none") == 0))
		c->call_graph = "auto";
	c->calls = false;
}

int config_read(struct config *c, const char *file, int argc, char **argv, config_args *words,
		struct err *err)
{
	struct opt table[CONFIG_N_OPTS];
	_mem_ char *text = NULL;
	const char *call_graph;
	size_t n, n_events, n_slots, n_by_pid;
	int rc;

	*c = (struct config){.journal_ns = JOURNAL_NS,
			     .mux_ns = MUX_NS,
			     .flush_ns = FLUSH_NS,
			     .epoch_ns = EPOCH_NS,
			     .max_age_ns = GC_MAX_AGE_NS,
			     .n_keep = GC_KEEP,
			     .prune = PRUNE_PERCENT};
	config_table(c, table);
	vec_push(words, xstrdup("config"));
	rc = file ? file_load(file, FILE_MAX, &text, &n, err) : 0;
	if (rc < 0)
		return rc;
	rc = text ? config_split(text, n, words, err) : 0;
	if (rc >= 0)
		rc = opts_parse(table, (int)words->n, words->v, false, &c->operands, err);
	if (rc < 0)
		return err_prefix(err, rc, "%s", file);
	if (c->operands.n || c->file || c->help)
		return err_set(err, -EINVAL, "%s: only options of a daemon may be there", file);
	n_events = c->events.n;
	n_slots = c->slots.n;
	n_by_pid = c->by_pid.n;
	mean_g(c, NULL);
	call_graph = c->call_graph;
	rc = opts_parse(table, argc, argv, false, &c->operands, err);
	if (rc < 0)
		return rc;
	mean_g(c, call_graph);
	drop_first(&c->events, n_events);
	drop_first(&c->slots, n_slots);
	drop_first(&c->by_pid, n_by_pid);
	return 0;
}

void config_release(struct config *c)
{
	vec_release(&c->events);
	vec_release(&c->slots);
	vec_release(&c->by_pid);
	vec_release(&c->operands);
}

/* --- what it means --- */

/* Slots for LOG_NS at the rates asked for, a power of two.  Beyond that the kernel side counts in
 * the spill table: samples there know their image by themselves, those in the log only as long as
 * their process lives. */
static uint32_t choose_slots(const struct plan *p)
{
	uint64_t n = 0, slots = 4096;

	for (size_t i = 0; i < p->specs.n; i++) {
		const struct event_spec *s = &p->specs.v[i];

		n += s->attr.freq  ? s->attr.sample_freq
		     : s->is_clock ? 1000000000 / (s->attr.sample_period + 1) + 1
				   : 1000;
	}
	while (slots < n * (LOG_NS / 1000000000) && slots < MOST_SLOTS)
		slots *= 2;
	return (uint32_t)slots;
}

/* Adds the events of LIST as of SLOT. */
static int add_events(struct plan *p, const char *list, uint32_t slot, struct err *err)
{
	int rc = event_list_parse(&event_env_host, list, &p->specs, err);

	while (rc >= 0 && p->slot.n < p->specs.n)
		vec_push(&p->slot, slot);
	return rc;
}

static int choose_events(const struct config *c, struct plan *p, const char **ret_why,
			 struct err *err)
{
	struct event_rate rate = {.freq_hz = c->freq_hz, .period = c->period};
	int rc = 0;

	if (c->freq_hz && c->period)
		return err_set(err, -EINVAL, "-F and -c exclude each other");
	if (c->events.n && c->slots.n)
		return err_set(err, -EINVAL, "-e and -slot exclude each other");
	if (!c->freq_hz && !c->period)
		rate.freq_hz = DEFAULT_HZ;
	*ret_why = NULL;
	for (size_t i = 0; i < c->events.n && rc >= 0; i++)
		rc = add_events(p, c->events.v[i], 0, err);
	for (size_t i = 0; i < c->slots.n && rc >= 0; i++)
		rc = add_events(p, c->slots.v[i], (uint32_t)i, err);
	if (rc >= 0 && !p->specs.n) {
		rc = event_default(&event_env_host, &p->specs, ret_why, err);
		vec_push(&p->slot, 0);
	}
	if (rc >= 0 && p->specs.n > LOG_MAX_EVENTS)
		rc = err_set(err, -E2BIG, "%zu events: at most %d at once", p->specs.n,
			     LOG_MAX_EVENTS);
	for (size_t i = 0; i < p->specs.n && rc >= 0; i++)
		rc = event_rate_set(&event_env_host, &p->specs.v[i], &rate, err);
	return rc;
}

static int read_exclusions(const char *path, struct exclusions *e, struct err *err)
{
	_mem_ char *text = NULL;
	size_t n;
	int rc = file_load(path, FILE_MAX, &text, &n, err);

	if (rc < 0)
		return rc;
	rc = exclusions_parse(e, text, n, err);
	return rc < 0 ? err_prefix(err, rc, "%s", path) : 0;
}

int config_plan(const struct config *c, struct plan *ret, const char **ret_why, struct err *err)
{
	static const char *const engines[] = {"auto", "bpf", "ring", NULL};
	static const char *const splits[] = {"group", "pid", "tid", NULL};
	static const char *const modes[] = {"auto", "fp", "dwarf", "none", NULL};
	int calls = opts_choose(c->call_graph, modes, "--call-graph", err);
	int engine = opts_choose(c->engine, engines, "--engine", err);
	int split = opts_choose(c->by, splits, "--by", err), rc;
	struct service_opts *s = &ret->service;

	*ret = (struct plan){0};
	if (engine < 0 || split < 0 || calls < 0)
		return -EINVAL;
	if (c->operands.n > 1 || (c->operands.n && c->db))
		return err_set(err, -EINVAL, "more than one database");
	if (c->journal_ns < 100000000 || c->flush_ns < 100000000 ||
	    (c->epoch_ns && c->epoch_ns < 1000000000))
		return err_set(err, -EINVAL,
			       "--journal and --flush: at least 100ms; --epoch: at least 1s");
	if (c->log_slots &&
	    (c->log_slots < 64 || c->log_slots > 1 << 20 || c->log_slots & (c->log_slots - 1)))
		return err_set(err, -EINVAL, "--log-slots: not a power of two from 64 to 1048576");
	if (c->mux_ns < 10000000 || c->max_cpu < 0 || c->max_cpu > 100)
		return err_set(err, -EINVAL, "--mux: at least 10ms; --max-cpu: 0 to 100");
	if (!(c->prune >= 0 && c->prune <= 100))
		return err_set(err, -EINVAL, "--prune: 0 to 100 percent");
	s->keep =
		(struct gc_opts){.max_age_ns = c->max_age_ns,
				 .max_bytes = GC_MAX_BYTES,
				 .keep = c->n_keep > UINT32_MAX ? UINT32_MAX : (unsigned)c->n_keep};
	if (c->max_size && str_parse_bytes(c->max_size, &s->keep.max_bytes) < 0)
		return err_set(err, -EINVAL, "--max-size: '%s' is not a size such as 10G",
			       c->max_size);
	rc = choose_events(c, ret, ret_why, err);
	if (rc >= 0 && c->exclude)
		rc = read_exclusions(c->exclude, &ret->exclude, err);
	if (rc >= 0)
		rc = facts_file_load(c->facts, &ret->facts, err);
	if (rc < 0) {
		plan_release(ret);
		return rc;
	}
	s->facts = c->facts ? &ret->facts : NULL;
	ret->db = c->operands.n ? xstrdup(c->operands.v[0])
		  : c->db	? xstrdup(c->db)
				: store_default_path();
	s->db = ret->db;
	s->group = c->group;
	s->label = c->label ? c->label : "";
	s->journal_ns = c->journal_ns;
	s->flush_ns = c->flush_ns;
	s->epoch_ns = c->epoch_ns;
	s->bpffs = c->bpffs;
	s->pin = !c->no_pin;
	s->collect.n_slots = c->log_slots ? (uint32_t)c->log_slots : choose_slots(ret);
	s->collect.n_spill = sysconf(_SC_NPROCESSORS_CONF) > MANY_CPUS ? N_SPILL_MANY : N_SPILL;
	s->collect.exclude = c->exclude ? &ret->exclude : NULL;
	s->collect.by_pid = &c->by_pid;
	if (strcmp(modes[calls], "none") != 0)
		s->collect.calls = CALLS_AUTO + (enum call_graph)calls;
	s->collect.calls_optional = !c->call_graph;
	s->collect.tables.n_bytes = TABLE_BYTES;
	s->dcpi = c->dcpi;
	if (c->slots.n > 1) {
		s->collect.slot = ret->slot.v;
		s->mux_ns = c->mux_ns;
	}
	s->max_cpu = c->max_cpu / 100;
	s->prune = c->prune / 100;
	s->max_bytes = MOST_BYTES;
	s->collect.target.kind = TARGET_ALL;
	s->collect.target.cgroup_fd = -1;
	s->collect.events = ret->specs.v;
	s->collect.n_events = (uint32_t)ret->specs.n;
	s->collect.engine = (enum engine)engine;
	s->collect.split = (enum owner_split)split;
	s->collect.label = s->label;
	return 0;
}

void plan_release(struct plan *p)
{
	event_specs_release(&p->specs);
	vec_release(&p->slot);
	exclusions_release(&p->exclude);
	fact_defs_release(&p->facts);
	free(p->db);
	*p = (struct plan){0};
}
