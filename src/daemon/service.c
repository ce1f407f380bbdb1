/* SPDX-License-Identifier: BSD-2-Clause */
/* See service.h.
 *
 * The order of things is all there is to it.  A journal record or a segment tells, with the
 * samples, up to where each CPU's log is in it (store_journal's ranges); the log's room is given
 * back after it is on disk, never before.  The profile holds what was folded since the last
 * segment: a record tells what is fresh in it, the next segment all of it, which makes the records
 * void. When storing fails nothing is given back and nothing forgotten: the profile goes on
 * growing, the log fills up, the kernel side counts into its spill table, and the next try stores
 * everything. */
#include "daemon/service.h"
#include "daemon/table_cache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/str.h"
#include "daemon/dcpi_tree.h"
#include "daemon/hold.h"
#include "daemon/service_impl.h"
#include "model/fresh.h"

#define LATELY_NS 1000000000ull

/* A flush waits so long for children to have read symbols; the last one longer. */
#define FLUSH_WAIT_NS (500ull * 1000000)
#define END_WAIT_NS   (10ull * 1000000000)

/* Flushes that come often ask a file for code no sooner than this: reading it costs as much for one
 * procedure as for many. */
#define KEEP_AGAIN_NS (60ull * 1000000000)

/* A log this full is journaled at once. */
#define FULL_PCT 40

void service_say(struct service *v, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (v->opts.say)
		v->opts.say(v->opts.say_ctx, text);
}

/* --- what status tells --- */

static struct service_sum *sum_of(struct service *v, const struct profile *p, const struct event *e)
{
	const char *name = profile_str(p, e->name);
	struct service_sum *s;

	vec_each (old, &v->sums)
		if (strcmp(old->name, name) == 0 && old->freq_hz == e->freq_hz &&
		    (e->freq_hz || old->period == e->period))
			return old;
	s = vec_add(&v->sums);
	s->name = xstrdup(name);
	s->period = e->period;
	s->freq_hz = e->freq_hz;
	return s;
}

static void add_loss(struct service *v, const char *event, const char *name, uint64_t n)
{
	vec_each (l, &v->losses) {
		if (strcmp(l->event, event) == 0 && strcmp(l->name, name) == 0) {
			l->n += n;
			return;
		}
	}
	vec_push(&v->losses, (struct service_loss_sum){xstrdup(event), xstrdup(name), n});
}

void service_count_stored(struct service *v, const struct profile *p)
{
	uint64_t *n_stored = xcalloc(p->events.n + 1, sizeof(*n_stored));

	profile_each_fresh (p, i) {
		const struct value x = profile_fresh(p, i);

		v->n_samples += x.count;
		if (value_is_samples(p, &x))
			n_stored[x.event] += x.count;
		if (p->images.v[profile_leaf(p, x.ctx)->image].kind == IMAGE_UNKNOWN)
			v->n_unknown += x.count;
	}
	for (event_id i = 0; i < p->events.n; i++) {
		const struct event e = profile_fresh_event(p, i);
		struct service_sum *s = sum_of(v, p, &e);

		s->enabled_ns += e.enabled_ns;
		s->running_ns += e.running_ns;
		s->n_reached += e.n_reached;
		s->n_stored += n_stored[i];
	}
	for (size_t i = 0; i < p->losses.n; i++) {
		const struct loss l = profile_fresh_loss(p, i);

		if (l.n)
			add_loss(v, profile_str(p, p->events.v[l.event].name),
				 profile_str(p, l.name), l.n);
	}
	free(n_stored);
	shares_add(&v->shares, p);
}

/* --- storing --- */

static void add_range(seq_ranges *ranges, uint32_t source, uint64_t first, uint64_t last)
{
	vec_push(ranges, (struct seq_range){source, first, last});
}

/* What the profile holds of the log and the database does not. */
static void list_ranges(const struct service *v, seq_ranges *ret)
{
	const struct collector *c = v->set->sampling.collector;

	for (uint32_t cpu = 0; cpu < collector_n_log_cpus(c); cpu++)
		if (collector_folded(c, cpu) > v->set->stored[cpu])
			add_range(ret, cpu, v->set->stored[cpu], collector_folded(c, cpu) - 1);
	for (uint32_t i = 0; i < v->set->opts.n_events; i++) {
		const struct account *a = collector_account(c, i);

		if (a->reached)
			add_range(ret, SOURCE_REACHED + i, 0, a->reached);
		if (a->dropped)
			add_range(ret, SOURCE_DROPPED + i, 0, a->dropped);
	}
}

/* What is fresh in the profile is stored: the log may have its room. */
static void let_go(struct service *v)
{
	struct collector *c = v->set->sampling.collector;

	service_count_stored(v, &v->set->sampling.profile);
	for (uint32_t cpu = 0; cpu < collector_n_log_cpus(c); cpu++)
		v->set->stored[cpu] = collector_folded(c, cpu);
	collector_give_back(c);
}

/* Said when the number changes. */
static void say_late_layouts(struct service *v, size_t n)
{
	if (n && n != v->n_late_layouts)
		service_say(v,
			    "the headers of %zu %s are not read yet: samples there are stored by "
			    "file offset, without names",
			    n, n == 1 ? "file" : "files");
	v->n_late_layouts = n;
}

#define MINUTE_NS 60000000000ull

/* Tells by minute what came since the last time: a journal record at each minute's end sees to it
 * that this is within one. */
static void note_minute(struct service *v)
{
	const uint64_t now = clock_wall_ns();

	if (!v->noted_wall_ns || v->noted_wall_ns > now)
		v->noted_wall_ns = now;
	profile_note_minute(&v->set->sampling.profile, (uint32_t)(v->noted_wall_ns / MINUTE_NS));
	v->noted_wall_ns = now;
}

/* Settles all that was folded into the profile.  RET says which entries of the log these are. */
static void service_settle(struct service *v, bool done, seq_ranges *ret)
{
	if (!done) {
		say_late_layouts(v, collector_flush(v->set->sampling.collector));
		collector_take_account(v->set->sampling.collector);
	}
	note_minute(v);
	list_ranges(v, ret);
	if (done)
		add_range(ret, SOURCE_DONE, 0, 1);
	v->journal_due_ns = clock_mono_ns() + v->opts.journal_ns;
	service_keep_labels(v, v->set);
}

static int put_record(struct service *v, struct err *err)
{
	struct profile *p = &v->set->sampling.profile;
	seq_ranges ranges = {0};
	int rc;

	service_settle(v, false, &ranges);
	rc = store_journal(v->store, p, ranges.v, ranges.n, err);
	vec_release(&ranges);
	if (rc < 0)
		return rc;
	let_go(v);
	profile_mark(p);
	return 0;
}

int service_update_tree(struct service *v, struct err *err)
{
	struct err why = {0};
	int rc;

	v->dcpi_due = false;
	if (!v->opts.dcpi)
		return 0;
	rc = dcpi_tree_update(v->opts.db, v->epoch, v->opts.host, v->opts.dcpi, &why);
	if (rc < 0 && strcmp(v->dcpi_problem, why.msg) != 0)
		service_say(v, "%s; the database has all samples", why.msg);
	if (rc >= 0 && *v->dcpi_problem)
		service_say(v, "writing the DCPI tree again");
	snprintf(v->dcpi_problem, sizeof(v->dcpi_problem), "%s", rc < 0 ? why.msg : "");
	return rc < 0 ? err_set(err, rc, "%s", why.msg) : 0;
}

/* So many are said, and remembered: whoever copies build-ids does not fill the log. */
#define MOST_SHARED 100

/* Says once that different files have one build-id. */
static void say_shared(void *ctx, const struct image *const *images, size_t n)
{
	const struct image *last = images[n - 1];
	struct service *v = ctx;
	char id[2 * BUILD_ID_MAX + 1];

	vec_each (known, &v->shared)
		if (build_id_same(known, &last->build_id))
			return;
	if (v->shared.n == MOST_SHARED)
		return;
	vec_push(&v->shared, last->build_id);
	build_id_format(&last->build_id, id);
	service_say(v, "%s and %s have build-id %s and different content: they are kept apart%s",
		    images[n - 2]->path, last->path, id,
		    v->shared.n == MOST_SHARED ? "; more such files will not be said" : "");
}

/* Why there is a flush. */
enum flush_why { FLUSH_DUE, FLUSH_ASKED, FLUSH_END };

/* Files whose symbols are not read in time are said; the next flush has them. */
static void save_symbols(struct service *v, enum flush_why why)
{
	const bool done = why == FLUSH_END;
	size_t n;

	v->set->sampling.kept.again_ns = why == FLUSH_DUE ? KEEP_AGAIN_NS : 0;
	n = sampling_save_symbols(&v->set->sampling, v->images_dir,
				  done ? END_WAIT_NS : FLUSH_WAIT_NS);

	if (n && n != v->n_late_symbols)
		service_say(v, "the symbols of %zu %s are not read yet%s", n,
			    n == 1 ? "file" : "files", done ? "" : "; the next flush has them");
	v->n_late_symbols = n;
}

/* Makes a segment of all that was folded since the last one, journaled or not. */
static int daemon_service_flush(struct service *v, enum flush_why why, struct err *err)
{
	struct profile *p = &v->set->sampling.profile;
	seq_ranges ranges = {0};
	uint64_t now;
	int rc;

	sampling_settle(&v->set->sampling, v->images_dir);
	service_settle(v, why == FLUSH_END, &ranges);
	rc = store_flush(v->store, p, ranges.v, ranges.n, err);
	vec_release(&ranges);
	now = clock_mono_ns();
	v->flush_due_ns = now + v->opts.flush_ns;
	v->journal_due_ns = now + v->opts.journal_ns; /* not right before the next flush */
	if (rc < 0)
		return rc;
	let_go(v);
	p->meta.start_wall_ns = p->meta.end_wall_ns;
	keep_code_note(&v->set->sampling.kept, p);
	profile_reset_values(p);
	save_symbols(v, why);
	profile_each_shared(p, say_shared, v);
	v->last_flush_ns = clock_mono_ns();
	v->n_flushes++;
	v->dcpi_due = v->opts.dcpi != NULL;
	return 0;
}

/* Journals what was folded since the last time.  After a record that could not be cut off again no
 * other can follow: only a segment makes that journal void. */
static int journal(struct service *v, struct err *err)
{
	int rc = put_record(v, err);

	return rc == -EIO ? daemon_service_flush(v, FLUSH_DUE, err) : rc;
}

/* Says once that storing fails, and once that it is over: a full disk fails in another place each
 * time.  The status has the last failure. */
static void note_result(struct service *v, int rc, const struct err *err)
{
	table_cache_give_way(rc); /* the next try finds more room */
	if (rc < 0 && !*v->problem)
		service_say(v, "cannot store: %s; trying again", err->msg);
	if (rc >= 0 && *v->problem)
		service_say(v, "storing again");
	snprintf(v->problem, sizeof(v->problem), "%s", rc < 0 ? err->msg : "");
}

int service_finish_set(struct service *v, struct err *err)
{
	int rc = daemon_service_flush(v, FLUSH_END, err);

	return rc >= 0 && v->set->pinned ? pinned_remove(&v->pins.base, v->set->number, err) : rc;
}

int service_make_safe(struct service *v, struct err *err)
{
	int rc = v->next ? service_finish_turn(v, err) : 0;

	if (rc >= 0) {
		sampling_cycle(&v->set->sampling);
		rc = journal(v, err);
	}
	note_result(v, rc, err);
	return rc;
}

bool service_flushed_lately(const struct service *v)
{
	return v->n_flushes && clock_mono_ns() - v->last_flush_ns < LATELY_NS;
}

int service_flush(struct service *v, struct err *err)
{
	int rc = v->next ? service_finish_turn(v, err) : 0;

	if (rc >= 0) {
		collector_take_sums(v->set->sampling.collector);
		sampling_cycle(&v->set->sampling);
		rc = daemon_service_flush(v, FLUSH_ASKED, err);
	}
	note_result(v, rc, err);
	return rc;
}

/* --- epochs --- */

void service_use_store(struct service *v, struct store *s)
{
	v->store = s;
	store_set_prune(s, v->opts.prune);
	free(v->epoch);
	v->epoch = xstrdup(store_epoch(s));
	v->n_epochs++;
	v->epoch_due_ns = v->opts.epoch_ns ? clock_mono_ns() + v->opts.epoch_ns : UINT64_MAX;
}

int service_make_epoch(struct service *v, const seq_ranges *known, struct err *err)
{
	struct store_opts o = {
		.host = v->opts.host,
		.label = v->opts.label,
		.cpu = profile_str(&v->set->sampling.profile, v->set->sampling.profile.meta.cpu),
		.clock_offset_ns = v->set->sampling.clock_offset_ns,
		.log = v->set->number,
		.ranges = known->v,
		.n_ranges = known->n,
	};
	struct store *s;
	int rc = store_create(v->opts.db, &o, &s, err);

	if (rc >= 0)
		service_use_store(v, s);
	return rc;
}

/* All that is stored of the log so far. */
static void list_stored(const struct service *v, seq_ranges *ret)
{
	uint64_t last;

	for (uint32_t cpu = 0; cpu < collector_n_log_cpus(v->set->sampling.collector); cpu++)
		if (store_last_seq(v->store, cpu, &last))
			add_range(ret, cpu, 0, last);
	for (uint32_t i = 0; i < v->set->opts.n_events; i++) {
		if (store_last_seq(v->store, SOURCE_REACHED + i, &last))
			add_range(ret, SOURCE_REACHED + i, 0, last);
		if (store_last_seq(v->store, SOURCE_DROPPED + i, &last))
			add_range(ret, SOURCE_DROPPED + i, 0, last);
	}
}

int service_new_epoch(struct service *v, struct err *err)
{
	struct store *old = v->store;
	seq_ranges known = {0};
	int rc = service_flush(v, err);

	if (rc < 0)
		return rc;
	/* The new one knows what is stored before the old one is closed: whoever starts after our
	 * death reads the newest. */
	service_update_tree(v, NULL); /* a failure is said, and stands in the status */
	list_stored(v, &known);
	retention_pause(&v->retention, clock_mono_ns());
	rc = service_make_epoch(v, &known, err);
	vec_release(&known);
	if (rc < 0)
		return rc;
	rc = store_close(old, err);
	if (rc < 0) { /* all of it is stored; recovery will finish it */
		service_say(v, "the last epoch could not be finished: %s", err ? err->msg : "");
		rc = 0;
	}
	return rc;
}

/* --- running --- */

static int service_begin(struct service *v, struct err *err)
{
	struct stat st;
	int rc = v->lock_fd = hold_database(v->opts.db, v->opts.group, err);

	if (rc < 0)
		return rc;
	if (stat(v->opts.db, &st) < 0)
		return err_errno(err, -errno, "%s", v->opts.db);
	v->db_dev = st.st_dev;
	v->db_ino = st.st_ino;
	v->images_dir = store_images_dir(v->opts.db, true, err);
	if (!v->images_dir)
		return -EIO;
	if (v->opts.dcpi) {
		rc = dcpi_tree_open(v->opts.db, v->opts.dcpi, err);
		if (rc < 0)
			return rc;
	}
	service_open_pins(v);
	table_cache_start(v->opts.db);
	table_cache_keep();
	rc = log_set_open(v, &v->opts, 1, &v->set, err);
	return rc < 0 ? rc : service_take_over(v, err);
}

int service_start(const struct service_opts *opts, struct service **ret, struct err *err)
{
	struct service *v = xcalloc(1, sizeof(*v));
	int rc;

	v->opts = *opts;
	v->pins.base = v->pins.places.fresh = PIN_DIR_NONE;
	v->start_ns = v->last_flush_ns = clock_mono_ns();
	rc = service_begin(v, err);
	if (rc < 0) {
		if (v->set && v->set->pinned && !v->set->live) /* it is empty */
			pinned_remove(&v->pins.base, v->set->number, NULL);
		service_free(v);
		return rc;
	}
	v->journal_due_ns = clock_mono_ns() + v->opts.journal_ns;
	v->flush_due_ns = clock_mono_ns() + v->opts.flush_ns;
	sampling_save_kernel(&v->set->sampling, v->images_dir);
	*ret = v;
	return 0;
}

/* How long to wait, at most MS. */
static int until_due(const struct service *v, int ms)
{
	const uint64_t dues[] = {v->journal_due_ns, v->flush_due_ns,
				 v->opts.mux_ns ? v->slot_due_ns : UINT64_MAX};
	uint64_t now = clock_mono_ns();

	for (size_t i = 0; i < n_elems(dues); i++)
		if (dues[i] < now + (uint64_t)ms * 1000000)
			ms = dues[i] > now ? (int)((dues[i] - now) / 1000000) + 1 : 1;
	return ms;
}

/* Whether a minute ended since samples were last told by minute. */
static bool is_new_minute(const struct service *v)
{
	return v->noted_wall_ns && v->noted_wall_ns / MINUTE_NS != clock_wall_ns() / MINUTE_NS;
}

/* Does what is due NOW; -EAGAIN when nothing was. */
static int do_due(struct service *v, uint64_t now, struct err *err)
{
	if (v->next)
		return now >= v->journal_due_ns ? service_finish_turn(v, err) : -EAGAIN;
	if (now >= v->epoch_due_ns && !*v->problem) {
		v->epoch_due_ns = now + v->opts.epoch_ns;
		return service_new_epoch(v, err);
	}
	if (now >= v->flush_due_ns)
		return daemon_service_flush(v, FLUSH_DUE, err);
	if (now >= v->journal_due_ns || is_new_minute(v) ||
	    (collector_fill_pct(v->set->sampling.collector) >= FULL_PCT && !*v->problem))
		return journal(v, err);
	return -EAGAIN;
}

/* Removes what is too old or too much and merges what is old, a little at each call. */
static void keep_small(struct service *v, uint64_t now)
{
	struct gc_opts keep = v->opts.keep;
	char text[600];

	if (v->opts.keep_all)
		keep.max_age_ns = keep.max_bytes = 0;
	if (retention_step(&v->retention, v->opts.db, &keep, now, text, sizeof(text)))
		service_say(v, "%s", text);
}

void service_step(struct service *v, int timeout_ms, int wake_fd)
{
	struct log_set *live = v->next ? v->next : v->set;
	struct collector *c = live->sampling.collector;
	struct err err = {0};
	uint64_t now;
	int rc;

	collector_wake_by(c, wake_fd);
	collector_wait(c, until_due(v, timeout_ms));
	now = clock_mono_ns();
	if (now >= v->flush_due_ns)
		collector_take_sums(c);
	sampling_cycle(&v->set->sampling);
	if (v->dcpi_due)
		service_update_tree(v, NULL);
	rc = do_due(v, now, &err);
	if (rc != -EAGAIN)
		note_result(v, rc, &err);
	service_turn_slots(v, now);
	service_watch_cost(v, now);
	keep_small(v, now);
}

static void let_go_of_log(struct service *v, struct log_set *s)
{
	if (!s)
		return;
	collector_stop(s->sampling.collector);
	if (s->pinned)
		pinned_remove(&v->pins.base, s->number, NULL);
}

int service_check(struct service *v, struct err *err)
{
	struct stat db, lock;

	if (fstat(v->lock_fd, &lock) < 0)
		return 0;
	if (!lock.st_nlink) {
		let_go_of_log(v, v->set);
		let_go_of_log(v, v->next);
		return err_set(err, -ENOENT, "%s was removed: nothing is recorded any more",
			       v->opts.db);
	}
	if ((stat(v->opts.db, &db) < 0 && errno == ENOENT) || db.st_dev != v->db_dev ||
	    db.st_ino != v->db_ino)
		return err_set(err, -ESTALE,
			       "%s was moved: start a daemon on it where it is now, which takes "
			       "over what is sampled meanwhile",
			       v->opts.db);
	return 0;
}

int service_stop(struct service *v, struct err *err)
{
	int rc = v->next ? service_finish_turn(v, err) : 0;

	if (rc < 0)
		return rc;
	collector_stop(v->set->sampling.collector);
	rc = service_finish_set(v, err);
	if (rc < 0)
		return rc;
	rc = store_close(v->store, err);
	v->store = NULL;
	return rc < 0 ? rc : service_update_tree(v, err);
}

void service_free(struct service *v)
{
	if (!v)
		return;
	retention_release(&v->retention);
	store_detach(v->store);
	log_set_free(v->set);
	log_set_free(v->next);
	vec_each (s, &v->sums)
		free(s->name);
	vec_release(&v->sums);
	vec_release(&v->shared);
	vec_each (l, &v->losses) {
		free(l->event);
		free(l->name);
	}
	vec_release(&v->losses);
	shares_release(&v->shares);
	table_cache_end();
	free(v->images_dir);
	service_close_pins(v);
	free(v->epoch);
	if (v->lock_fd >= 0)
		close(v->lock_fd);
	free(v);
}
