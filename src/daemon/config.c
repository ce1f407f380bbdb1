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

/* A CPU's log: a minute's samples, but no more than are 1.5 MiB with the
 * hashes of their callers. */
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
	struct opt row[N_RECORD_OPTIONS];

	record_options_rows(&c->record, row);
	row[OPT_RECORD_FREQ].help = "samples per second and CPU (default 97)";
	row[OPT_RECORD_CALLS].help = "record call paths, with any engine (default: with bpf)";
	const struct opt table[] = {
		row[OPT_RECORD_EVENT],
		row[OPT_RECORD_FACTS],
		{"slot", OPT_LIST, &c->record.slots, "EVENT[:PERIOD][+EVENT...]",
		 "events that count together; several slots take turns"},
		{"mux", OPT_DURATION, &c->mux_ns, "TIME", "a slot's turn (default 1s)"},
		row[OPT_RECORD_FREQ],
		row[OPT_RECORD_COUNT],
		row[OPT_RECORD_BY],
		{"bypid", OPT_LIST, &c->by_pid, "PROGRAM", "keep processes of this program apart"},
		{"exclude", OPT_STR, &c->exclude, "FILE",
		 "do not record what FILE lists: images, PID N, PID N-M"},
		row[OPT_RECORD_CALLS],
		row[OPT_RECORD_CALL_GRAPH],
		{"dcpi", OPT_STR, &c->dcpi, "DIR", "keep a DCPI profile tree in DIR up to date"},
		row[OPT_RECORD_LABEL],
		row[OPT_RECORD_ENGINE],
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
		{"web", OPT_STR, &c->web, "[ADDRESS:]PORT",
		 "serve the page of dwell web there, by a process without rights"},
		{"bpffs", OPT_STR, &c->bpffs, "DIR",
		 "pin the log below DIR, a BPF file system that is root's alone (default " PIN_PLACE
		 ", mounted when it is needed)"},
		{"no-pin", OPT_FLAG, &c->no_pin, NULL, "let sampling end with this process"},
		row[OPT_RECORD_LOG_SLOTS],
		row[OPT_RECORD_DB],
		row[OPT_RECORD_GROUP],
		row[OPT_RECORD_VERSION_FROM],
		row[OPT_RECORD_TENANT_FROM],
		{"config", OPT_STR, &c->file, "FILE",
		 "read options from FILE, one a line, without dashes"},
		{"help h", OPT_FLAG, &c->help, NULL, "show this text"},
		{"version V", OPT_FLAG, &c->version, NULL, "print the version"},
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
	struct record_options *o = &c->record;

	if (o->calls && o->call_graph == before && (!before || strcmp(before, "none") == 0))
		o->call_graph = "auto";
	o->calls = false;
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
	if (c->operands.n || c->file || c->help || c->version)
		return err_set(err, -EINVAL, "%s: only options of a daemon may be there", file);
	n_events = c->record.events.n;
	n_slots = c->record.slots.n;
	n_by_pid = c->by_pid.n;
	mean_g(c, NULL);
	call_graph = c->record.call_graph;
	rc = opts_parse(table, argc, argv, false, &c->operands, err);
	if (rc < 0)
		return rc;
	mean_g(c, call_graph);
	drop_first(&c->record.events, n_events);
	drop_first(&c->record.slots, n_slots);
	drop_first(&c->by_pid, n_by_pid);
	return 0;
}

void config_release(struct config *c)
{
	record_options_release(&c->record);
	vec_release(&c->by_pid);
	vec_release(&c->operands);
}

/* --- what it means --- */

/* Slots for LOG_NS at the rates asked for, a power of two.  Beyond that the kernel side counts in
 * the spill table: samples there know their image by themselves, those in the log only as long as
 * their process lives. */
static uint32_t choose_slots(const struct event_specs *specs)
{
	uint64_t n = 0, slots = 4096;

	for (size_t i = 0; i < specs->n; i++) {
		const struct event_spec *s = &specs->v[i];

		n += s->attr.freq  ? s->attr.sample_freq
		     : s->is_clock ? 1000000000 / (s->attr.sample_period + 1) + 1
				   : 1000;
	}
	while (slots < n * (LOG_NS / 1000000000) && slots < MOST_SLOTS)
		slots *= 2;
	return (uint32_t)slots;
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
	struct service_opts *s = &ret->service;
	int rc;

	*ret = (struct plan){0};
	*ret_why = NULL;
	if (c->operands.n > 1 || (c->operands.n && c->record.db))
		return err_set(err, -EINVAL, "more than one database");
	if (c->journal_ns < 100000000 || c->flush_ns < 100000000 ||
	    (c->epoch_ns && c->epoch_ns < 1000000000))
		return err_set(err, -EINVAL,
			       "--journal and --flush: at least 100ms; --epoch: at least 1s");
	if (c->mux_ns < 10000000 || c->max_cpu < 0 || c->max_cpu > 100)
		return err_set(err, -EINVAL, "--mux: at least 10ms; --max-cpu: 0 to 100");
	if (!(c->prune >= 0 && c->prune <= 100))
		return err_set(err, -EINVAL, "--prune: 0 to 100 percent");
	s->keep =
		(struct gc_opts){.max_age_ns = c->max_age_ns,
				 .max_bytes = GC_MAX_BYTES,
				 .prune = c->prune / 100,
				 .keep = c->n_keep > UINT32_MAX ? UINT32_MAX : (unsigned)c->n_keep};
	if (c->max_size && str_parse_bytes(c->max_size, &s->keep.max_bytes) < 0)
		return err_set(err, -EINVAL, "--max-size: '%s' is not a size such as 10G",
			       c->max_size);
	rc = record_plan_init(&ret->record, &c->record, DEFAULT_HZ, ret_why, err);
	if (rc >= 0 && c->exclude)
		rc = read_exclusions(c->exclude, &ret->exclude, err);
	if (rc < 0) {
		plan_release(ret);
		return rc;
	}
	s->facts = c->record.facts ? &ret->record.facts : NULL;
	ret->db = c->operands.n	 ? xstrdup(c->operands.v[0])
		  : c->record.db ? xstrdup(c->record.db)
				 : store_default_path();
	s->db = ret->db;
	s->group = c->record.group;
	record_plan_apply(&ret->record, &c->record, &s->collect);
	s->label = s->collect.label;
	s->journal_ns = c->journal_ns;
	s->flush_ns = c->flush_ns;
	s->epoch_ns = c->epoch_ns;
	s->bpffs = c->bpffs;
	s->pin = !c->no_pin;
	if (!s->collect.n_slots)
		s->collect.n_slots = choose_slots(&ret->record.specs);
	s->collect.n_spill = sysconf(_SC_NPROCESSORS_CONF) > MANY_CPUS ? N_SPILL_MANY : N_SPILL;
	s->collect.exclude = c->exclude ? &ret->exclude : NULL;
	s->collect.by_pid = &c->by_pid;
	s->collect.calls = ret->record.calls;
	s->collect.calls_optional = !c->record.call_graph;
	s->collect.tables.n_bytes = TABLE_BYTES;
	s->dcpi = c->dcpi;
	if (c->record.slots.n > 1) {
		s->collect.slot = ret->record.slot.v;
		s->mux_ns = c->mux_ns;
	}
	s->max_cpu = c->max_cpu / 100;
	s->prune = c->prune / 100;
	s->max_bytes = MOST_BYTES;
	s->collect.target.kind = TARGET_ALL;
	s->collect.target.cgroup_fd = -1;
	return 0;
}

void plan_release(struct plan *p)
{
	record_plan_release(&p->record);
	exclusions_release(&p->exclude);
	free(p->db);
	*p = (struct plan){0};
}
