/* SPDX-License-Identifier: BSD-2-Clause */
/* See input.h.  A database's values come from several segments and may repeat a key; they are
 * appended as they come, since every reader sums them anyway. */
#include "query/samples/input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "fleet/load.h"
#include "model/trace.h"
#include "port/dcpi_in.h"
#include "port/dcpi_note.h"
#include "port/histograms.h"
#include "port/measured_in.h"
#include "port/importers.h"
#include "port/perf_in.h"
#include "query/samples/phases.h"
#include "query/samples/runtime.h"
#include "query/samples/wall.h"
#include "query/source.h"
#include "store/store.h"

/* Time lines of a file that is read directly. */
#define TRACE_BYTES (512ull << 20)

struct append_sink {
	struct value_sink sink;
	struct profile *to;
};

static void append_value(struct value_sink *s, const struct value *v)
{
	struct profile *to = ((struct append_sink *)s)->to;

	vec_push(&to->values, *v);
}

#define MOST_LISTED 8

/* What there is, for a message: "20261121132400 (web1), ...". */
static int add_recording(void *ctx, const struct store_recording *r)
{
	struct str *text = ctx;

	str_addf(text, "%s%s (%s)", text->n ? ", " : "", r->epoch, r->host);
	return 0;
}

/* Says behind ERR's message what there is in DB, without a look into all of it. */
static void say_what_there_is(const char *db, struct err *err)
{
	const struct store_selection all = {.epochs = "all"};
	size_t n = strlen(err->msg);
	struct store_epochs there;
	_str_ struct str text = {0};

	if (store_epochs(db, &there, NULL) < 0 || !there.n)
		return;
	if (there.n > MOST_LISTED)
		str_addf(&text, "%zu epochs, %s to %s", there.n, there.first, there.last);
	else
		store_list(db, &all, add_recording, &text, NULL);
	if (text.n)
		snprintf(err->msg + n, sizeof(err->msg) - n, "; there are: %s", str_get(&text));
}

/* The times of S in nanoseconds since 1970, 0 for none. */
static int parse_times(const struct select *s, uint64_t *ret_since, uint64_t *ret_until,
		       struct err *err)
{
	int rc = 0;

	*ret_until = 0;
	*ret_since = s->since_wall_ns;
	if (s->since)
		rc = select_parse_time(s->since, 0, ret_since, err);
	if (rc < 0)
		return err_prefix(err, rc, "--since");
	if (s->until)
		rc = select_parse_time(s->until, 0, ret_until, err);
	return rc < 0 ? err_prefix(err, rc, "--until") : 0;
}

/* Counts the recordings that are read, and names their hosts. */
struct recordings {
	uint64_t n;
	store_paths hosts;
	const struct select *select;
};

static void note_recording(void *ctx, const char *epoch, const char *host)
{
	struct recordings *r = ctx;

	r->n++;
	vec_each (h, &r->hosts)
		if (strcmp(*h, host) == 0)
			return;
	vec_push(&r->hosts, xstrdup(host));
}

#define MOST_HOSTS 4

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A profile of several recordings is of all their hosts, and of no one command. */
static void name_recordings(struct profile *p, struct recordings *r)
{
	_str_ struct str hosts = {0};

	if (r->n > 1)
		p->meta.command = 0;
	vec_sort(&r->hosts, by_text);
	for (size_t i = 0; i < r->hosts.n && i < MOST_HOSTS; i++)
		str_addf(&hosts, "%s%s", i ? ", " : "", r->hosts.v[i]);
	if (r->hosts.n > MOST_HOSTS)
		str_addf(&hosts, ", ... (%zu hosts)", r->hosts.n);
	if (r->hosts.n > 1)
		p->meta.host = profile_intern_str(p, hosts.v);
}

/* Says that the default leaves recordings out. */
static void tell_left_out(void *ctx, size_t n_chosen, size_t n_all)
{
	const struct recordings *r = ctx;
	char text[120];

	if (!r->select->notice)
		return;
	snprintf(text, sizeof(text), "recordings: %zu of %zu shown; --epoch all", n_chosen, n_all);
	r->select->notice(r->select->notice_ctx, text);
}

static void add_time(struct str *s, uint64_t wall_ns)
{
	time_t t = (time_t)(wall_ns / 1000000000);
	char text[40];
	struct tm tm;

	if (gmtime_r(&t, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		str_add(s, text);
}

/* Says which time was read: segments are whole, so it begins before what was asked for. */
static void tell_times(const struct select *s, const struct profile_meta *m)
{
	struct str text = {0};

	if (!s->notice || (!s->since && !s->until) || !m->start_wall_ns)
		return;
	str_add(&text, "samples of ");
	add_time(&text, m->start_wall_ns);
	str_add(&text, " to ");
	add_time(&text, m->end_wall_ns);
	str_add(&text, " UTC: as far as times are kept apart");
	s->notice(s->notice_ctx, str_get(&text));
	str_release(&text);
}

static int load_store(struct input *in, const store_paths *dbs, const struct select *s,
		      struct value_sink *sink, struct err *err)
{
	struct store_selection sel = {.epochs = s->epochs, .host = s->host};
	struct append_sink to = {{append_value, .traces = s->traces, .branches = s->branches,
				  .accesses = s->accesses},
				 &in->profile};
	struct recordings recordings = {.select = s};
	int rc = parse_times(s, &sel.since_wall_ns, &sel.until_wall_ns, err);
	bool any = false;

	sel.note = note_recording;
	sel.left_out = tell_left_out;
	sel.note_ctx = &recordings;
	for (size_t i = 0; i < dbs->n && rc == 0; i++) {
		if (s->before_read)
			s->before_read(s->before_read_ctx, dbs->v[i]);
		rc = store_load(dbs->v[i], &sel, &in->profile, sink ? sink : &to.sink, err);
		any |= rc > 0;
		/* Databases side by side need not all have what is wanted. */
		if (rc > 0 || (rc == -ENOENT && (any || i + 1 < dbs->n)))
			rc = 0;
	}
	if (rc == -ENOENT && dbs->n > 1)
		err_set(err, rc, "%s: none of the %zu databases there has what was asked for",
			in->path, dbs->n);
	else if (rc == -ENOENT && err)
		say_what_there_is(dbs->v[0], err);
	if (rc == 0) {
		name_recordings(&in->profile, &recordings);
		tell_times(s, &in->profile.meta);
		if (s->traces)
			trace_sort(&in->profile);
	}
	store_paths_release(&recordings.hosts);
	return rc < 0 ? rc : 0;
}

/* The kernel shows its addresses to whom it shows those of its symbols
 * (kptr_restrict, CAP_SYSLOG). */
static bool may_see_kernel_addresses(void)
{
	char line[64] = "";
	FILE *f = fopen("/proc/kallsyms", "r");
	bool may = f && fgets(line, sizeof(line), f) && strspn(line, "0") < 16 &&
		   strspn(line, "0123456789abcdef") == 16;

	if (f)
		fclose(f);
	return may;
}

/* Places in the kernel are stored by link address or offset, which tells nobody where the kernel
 * is; but what was sampled in no known image has the address it had at run time.  Those in the
 * kernel's half are taken for 0 where the reader may not see such. */
static void hide_kernel_addresses(struct profile *p)
{
	bool may = false, asked = false;

	vec_each (pl, &p->places) {
		if (pl->svma >> 63 == 0 || p->images.v[pl->image].kind != IMAGE_UNKNOWN)
			continue;
		may = asked ? may : may_see_kernel_addresses();
		asked = true;
		if (!may)
			pl->svma = 0;
	}
}

/* Whether S shows wall time; *RET_SPLIT: with the part that threads ran. */
static bool wants_wall(const struct select *s, bool *ret_split)
{
	_vec_ opt_list names = {0};
	char *text;
	bool wants = s->sort && strcmp(s->sort, WALL_EVENT) == 0, none_named;

	select_split_events(&s->events, &names, &text);
	none_named = !names.n && !s->columns.n && !s->sort_set && !s->sort;
	wants |= none_named && (s->one_event || s->wall_too);
	*ret_split = none_named && s->wall_too;
	vec_each (name, &names) {
		wants |= strcmp(*name, WALL_EVENT) == 0;
		*ret_split |= strcmp(*name, "running") == 0;
	}
	free(text);
	return wants;
}

/* "FROM..TO", 0 for open. */
static void range_of(uint64_t from_ns, uint64_t to_ns, char ret[48])
{
	const uint64_t ns[] = {from_ns, to_ns};
	char names[2][24] = {"", ""};

	for (unsigned i = 0; i < 2; i++) {
		time_t t = (time_t)(ns[i] / 1000000000);
		struct tm tm;

		if (ns[i] && gmtime_r(&t, &tm))
			strftime(names[i], sizeof(names[i]), "%Y%m%d%H%M%S", &tm);
	}
	snprintf(ret, 48, "%s..%s", names[0], names[1]);
}

static void leave_out(void *ctx, const char *where, const char *why)
{
	const struct select *s = ctx;
	char line[1024];

	snprintf(line, sizeof(line), "%s: %s; it is left out", where, why);
	s->notice(s->notice_ctx, line);
}

static int load_dcpi(struct input *in, const struct select *s, struct err *err)
{
	struct dcpi_select sel = {.epochs = s->epochs,
				  .host = s->host,
				  .stride = (unsigned)s->stride,
				  .kept = &in->kept,
				  .problem = s->notice ? leave_out : NULL,
				  .problem_ctx = (void *)s};
	_mem_ char *fed_by = dcpi_note_read(in->path);
	struct histograms left;
	uint64_t since, until;
	char range[48];
	int rc = parse_times(s, &since, &until, err);

	if (rc < 0)
		return rc;
	if ((since || until) && s->epochs)
		return err_set(err, -EINVAL, "--since and --until exclude --epoch in a DCPI tree");
	if (since || until) {
		range_of(since, until, range);
		sel.epochs = range;
	}
	if (fed_by && s->before_read)
		s->before_read(s->before_read_ctx, in->path);
	rc = histograms_open(&left, in->path, err);
	if (rc < 0)
		return rc;
	sel.beside = left.tree;
	rc = dcpi_in_load(in->path, &sel, &in->profile, err);
	histograms_close(&left);
	return rc;
}

static void pass_notes(const struct input *in, const struct select *s, const char *notes)
{
	_mem_ char *text = xstrdup(notes);
	char *save = NULL;

	for (char *l = strtok_r(text, "\n", &save); l && s->notice;
	     l = strtok_r(NULL, "\n", &save)) {
		_mem_ char *line = xasprintf("%s: %s", in->path, l);

		s->notice(s->notice_ctx, line);
	}
}

/* What perf recorded, read anew each time.  Threads are kept apart, for whoever asks. */
static int load_perf(struct input *in, const struct select *s, struct err *err)
{
	struct perf_in_opts o = {
		.split = s->accesses || s->branches ? OWNER_GROUP : OWNER_TID,
		.paths = s->paths.v,
		.n_paths = s->paths.n,
		.use_debuginfod = true,
		.force = s->force,
		.accesses = s->accesses,
		.accesses_alone = s->accesses,
		.trace_bytes = s->traces ? TRACE_BYTES : 0,
	};
	struct perf_in_result r;
	int rc;

	if (s->since || s->until)
		return err_set(err, -EINVAL, "--%s: %s has no epochs", s->since ? "since" : "until",
			       in->path);
	for (unsigned i = 0; i < N_OWNER_KEYS; i++)
		if (s->owners[i].n)
			o.split = OWNER_TID;
	rc = perf_in_load(in->path, &o, &in->profile, &r, err);
	if (rc >= 0)
		pass_notes(in, s, str_get(&r.notes));
	perf_in_result_release(&r);
	if (rc >= 0 && s->traces)
		trace_sort(&in->profile);
	return rc;
}

/* Says which owners of P the options CTX want. */
static int want_owners(void *ctx, const struct profile *p, bool **ret, struct err *err)
{
	return select_owners(p, ctx, ret, err);
}

static bool names_owners(const struct select *s)
{
	for (unsigned k = 0; k < N_OWNER_KEYS; k++)
		if (s->owners[k].n)
			return true;
	return false;
}

/* A fleet's database: without times what ended within a day of the newest, since all of it may be
 * years of many machines. */
static int load_fleet(struct input *in, const struct select *s, struct err *err)
{
	const bool all = s->epochs && strcmp(s->epochs, "all") == 0;
	struct recordings recordings = {.select = s};
	struct fleet_selection sel = {
		.host = s->host,
		.epoch = all ? NULL : s->epochs,
		.by_host = s->hosts,
		.no_code = s->no_code,
		.answers = s->answers,
		.want_owners = names_owners(s) ? want_owners : NULL,
		.want_owners_ctx = (void *)s,
		.newest_day = !s->since && !s->until && !s->epochs,
		.note = note_recording,
		.note_ctx = &recordings,
	};
	_str_ struct str folded = {0};
	int rc = parse_times(s, &sel.since_ns, &sel.until_ns, err);

	if (s->own_images || s->own_procedures) {
		phases_add_names(&folded);
		sel.folded = str_get(&folded);
		sel.procedures = s->own_procedures;
	}
	if (rc >= 0)
		rc = fleet_load(in->path, &sel, &in->profile, &in->symbols, err);
	if (rc >= 0) {
		name_recordings(&in->profile, &recordings);
		tell_times(s, &in->profile.meta);
		if (sel.newest_day && s->notice)
			s->notice(s->notice_ctx, "the last day of samples; --since TIME or --epoch "
						 "all reads more");
	}
	store_paths_release(&recordings.hosts);
	return rc;
}

/* A profile of another tool, read anew each time. */
static int load_other(struct input *in, const struct select *s, struct err *err)
{
	const struct importer_opts o = {
		.paths = s->paths.v, .n_paths = s->paths.n, .keep_pids = true, .keep_tids = true};
	struct str notes = {0};
	int rc;

	if (s->since || s->until)
		return err_set(err, -EINVAL, "--%s: %s has no epochs", s->since ? "since" : "until",
			       in->path);
	rc = importer_load(in->path, &o, &in->profile, &in->symbols, &notes, err);
	if (rc >= 0)
		pass_notes(in, s, str_get(&notes));
	str_release(&notes);
	return rc;
}

/* What hpcrun measured, read anew each time. */
static int load_measured(struct input *in, const struct select *s, struct err *err)
{
	const struct measured_in_opts o = {
		.traces = s->traces, .paths = s->paths.v, .n_paths = s->paths.n};
	_str_ struct str notes = {0};
	int rc;

	if (s->since || s->until)
		return err_set(err, -EINVAL, "--%s: %s has no epochs", s->since ? "since" : "until",
			       in->path);
	rc = measured_in_load(in->path, &o, &in->profile, &in->symbols, &notes, err);
	if (rc >= 0)
		pass_notes(in, s, str_get(&notes));
	if (rc >= 0 && s->traces)
		trace_sort(&in->profile);
	return rc;
}

/* What the profile itself says of names. */
static void take_symbols(struct input *in)
{
	vec_each (s, &in->symbols)
		resolver_take_symtab(in->resolver, &in->profile.images.v[s->image], &s->symtab);
	vec_release(&in->symbols);
}

int input_open(struct input *in, const struct select *s, struct err *err)
{
	return input_open_into(in, s, NULL, err);
}

char *input_images_dir(const char *path, bool create, struct err *err)
{
	_mem_ char *own = xasprintf("%s/images", path);
	struct stat st;

	if (dcpi_in_probe(path) != 1)
		return store_images_dir(path, create, err);
	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode)) { /* one of its files */
		err_set(err, -ENOTDIR, "%s: a DCPI file has no place for symbols", path);
		return NULL;
	}
	if (create && file_mkdirs(own, err) < 0)
		return NULL;
	return stat(own, &st) >= 0 && S_ISDIR(st.st_mode) ? take_ptr(&own) : NULL;
}

/* Adds where symbols of the DCPI tree's images are: beside its epochs, and with the daemon that
 * writes it.  Returns whether the first can be written to. */
static bool add_tree_caches(const char *tree, store_paths *caches)
{
	char *own = input_images_dir(tree, false, NULL), *theirs = NULL;
	_mem_ char *fed_by = dcpi_note_read(tree);
	const bool saves = own && access(own, W_OK) == 0;

	if (own)
		vec_push(caches, own);
	if (fed_by)
		theirs = store_images_dir(fed_by, false, NULL);
	if (theirs)
		vec_push(caches, theirs);
	return saves;
}

/* What resolves names in databases DBS: their caches, of which one alone is written to, and the
 * images that came with them. */
static struct resolver *new_resolver(const store_paths *dbs, const char *tree,
				     const struct select *s)
{
	struct resolver_opts ro = {.use_debuginfod = true, .no_save = true};
	VEC(const char *) paths = {0};
	store_paths caches = {0};
	struct resolver *r;

	for (size_t i = 0; i < dbs->n; i++) {
		char *dir = dbs->n == 1 ? store_images_dir(dbs->v[i], true, NULL) : NULL;

		ro.no_save &= !dir;
		dir = dir ? dir : store_images_dir(dbs->v[i], false, NULL);
		if (dir)
			vec_push(&caches, dir);
	}
	if (tree)
		ro.no_save = !add_tree_caches(tree, &caches);
	vec_each (p, &s->paths)
		vec_push(&paths, *p);
	vec_each (c, &caches)
		vec_push(&paths, *c);
	ro.paths = paths.v;
	ro.n_paths = paths.n;
	if (caches.n) {
		ro.cache_dir = caches.v[0];
		ro.more_caches = (const char *const *)caches.v + 1;
		ro.n_more_caches = caches.n - 1;
	}
	r = resolver_new(&ro);
	vec_release(&paths);
	store_paths_release(&caches);
	return r;
}

/* Whether PATH is there and more than an empty directory. */
static bool input_has_something(const char *path)
{
	const enum source_kind kind = source_kind_of(path);

	return kind != SOURCE_EMPTY && (kind != SOURCE_NOTHING || access(path, F_OK) == 0);
}

char *input_path(const struct select *s)
{
	static const char perf[] = "perf.data";
	_mem_ char *path = s->db ? xstrdup(s->db) : store_default_path(), *line = NULL;

	if (s->db || source_kind_of(perf) != SOURCE_PERF || input_has_something(path))
		return take_ptr(&path);
	line = xasprintf("reading ./%s, for there is no database %s", perf, path);
	if (s->notice)
		s->notice(s->notice_ctx, line);
	return xstrdup(perf);
}

/* Sets the error of PATH, which cannot be looked at. */
static int input_is_not_there(const char *path, struct err *err)
{
	const int rc = -errno;
	_mem_ char *usual = store_default_path();

	if (rc != -ENOENT || strcmp(path, usual) != 0)
		return err_errno(err, rc, "%s", path);
	return err_set(err, rc,
		       "%s: nothing was recorded there yet; `dwell record -- COMMAND` or `dwell "
		       "record -a` records, -i FILE reads something else",
		       path);
}

/* Loads the dwell databases that IN's path means.  DBS: their paths. */
static int load_stores(struct input *in, const struct select *s, struct value_sink *sink,
		       store_paths *dbs, struct err *err)
{
	int rc = access(in->path, F_OK) != 0 ? input_is_not_there(in->path, err) : 0;

	if (rc < 0)
		return rc;
	rc = store_members(in->path, dbs, err);
	if (rc == -ENOTDIR || (rc >= 0 && !dbs->n && !store_is_db(in->path)))
		rc = source_refuse_reading(in->path, err);
	if (rc >= 0 && !dbs->n)
		vec_push(dbs, xstrdup(in->path));
	return rc < 0 ? rc : load_store(in, dbs, s, sink, err);
}

int input_open_into(struct input *in, const struct select *s, struct value_sink *sink,
		    struct err *err)
{
	bool has_times = false, is_tree = false, split;
	store_paths dbs = {0};
	int rc;

	*in = (struct input){.path = input_path(s)};
	profile_init(&in->profile);
	switch (source_kind_of(in->path)) {
	case SOURCE_PERF:
		rc = load_perf(in, s, err);
		break;
	case SOURCE_DCPI_TREE:
	case SOURCE_DCPI_FILE:
	case SOURCE_HISTOGRAMS:
		is_tree = true;
		rc = load_dcpi(in, s, err);
		break;
	case SOURCE_HPCRUN:
		rc = load_measured(in, s, err);
		break;
	case SOURCE_OTHER:
		rc = load_other(in, s, err);
		break;
	case SOURCE_FLEET:
		has_times = true;
		rc = load_fleet(in, s, err);
		break;
	default:
		has_times = true;
		rc = load_stores(in, s, sink, &dbs, err);
	}
	if (has_times && wants_wall(s, &split))
		wall_add(&in->profile, split);
	hide_kernel_addresses(&in->profile);
	profile_join_images(&in->profile);
	profile_name_parts(&in->profile);
	if (rc >= 0)
		in->resolver = new_resolver(&dbs, is_tree ? in->path : NULL, s);
	if (rc >= 0) {
		take_symbols(in);
		runtime_name_scripts(&in->profile, in->resolver);
	} else {
		input_close(in);
	}
	store_paths_release(&dbs);
	return rc;
}

void input_close(struct input *in)
{
	profile_release(&in->profile);
	resolver_free(in->resolver);
	dcpi_kept_release(&in->kept);
	stacks_symbols_release(&in->symbols);
	free(in->path);
	*in = (struct input){0};
}
