/* SPDX-License-Identifier: BSD-2-Clause */
/* See ship.h.
 *
 * The database is the outbox: it keeps what is not shipped for as long as it keeps recordings.  Of
 * each recording the server is asked which segments it has, and the answer is made equal to the
 * MANIFEST:
 *
 *     server has 1 2 3,  MANIFEST has 4 5       (1 2 3 were merged into 4, and 5 is new)
 *     values of 4 go as batch 0xa1.., those of 5 as batch 0x7c..; nobody counts them yet
 *     one INSERT of rows into `batches`:   4 -> 0xa1..   5 -> 0x7c..   1 -> 0   2 -> 0   3 -> 0
 *
 * A segment's batch is the smallest that `batches` names for it; 0 is none.  That last INSERT is
 * one block in a table without partitions, which the server stores whole or not at all, so it is
 * what makes the recording's new state count.  Whatever dies before leaves rows of batches that
 * nobody names.  An id is never used twice: whoever does not know how an INSERT ended asks again,
 * and sends under new ids.  Should the first one arrive after all, a segment has two batches of the
 * same samples, and the smaller id counts.
 *
 * Names of places may become known later.  Of each recording the state file has the images whose
 * places may get some, with what was known then; where that changes, names are sent again (late.h).
 * Those lines are written before the recording counts, so that no kill leaves it without.
 *
 * A MANIFEST's generation is stored with its rows.  A copy of the database that is older than what
 * the server knows is refused, for it would take newer samples away. */
#include "fleet/ship.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/sha256.h"
#include "fleet/push_state.h"
#include "fleet/send.h"
#include "fleet/walk.h"
#include "store/commit.h"
#include "store/db.h"
#include "store/store.h"
#include "store/snapshot.h"

#define STATE_HEAD "dwell-ship 1\n"
#define STATE_MAX  ((size_t)64 << 20)
#define DAY_NS	   (86400ull * 1000000000)
#define LATE_MARK  (1ull << 63) /* no segment's number, nor a generation */

/* So often a segment is sent in vain before it is set aside, and so many are remembered. */
#define MOST_REFUSALS	3
#define MOST_REMEMBERED 10000

/* A segment of which the server knows. */
struct ship_known {
	uint64_t segment, batch, generation, day, start_ns, end_ns;
};

static const struct native_col known_cols[] = {
	{"c0", "UInt64"}, {"c1", "UInt64"}, {"c2", "UInt64"},
	{"c3", "UInt16"}, {"c4", "UInt64"}, {"c5", "UInt64"},
};

/* A segment that the server refused, by its mark. */
struct ship_refusal {
	uint64_t mark, n;
};

/* A recording that was not shipped by the last pass. */
struct ship_pending {
	char *epoch, *host;
	uint64_t n_samples;
};

struct shipper {
	struct fleet_server *s;
	const struct ship_opts *o;
	struct ship_totals *totals;
	struct fleet_names names;
	late_images late; /* of what was shipped before, and of this pass */
	struct fleet_told *told;
	struct fleet_told own_told; /* where nobody remembers more than this pass */
	struct fleet_ids shipped;   /* marks of recordings whose state the server has */
	struct fleet_ids seen;	    /* marks by which names of recordings are late, in this pass */
	struct str state;	    /* of those that are still there */
	VEC(struct ship_refusal) refused;
	VEC(struct ship_pending) pending; /* of the last pass */
	char *path;			  /* of the state file */
};

typedef VEC(struct ship_known) ship_known_list;

static void ship_notice(const struct shipper *h, const char *epoch, const char *host,
			const char *what)
{
	_mem_ char *line = xasprintf("%s/%s: %s", epoch, host, what);

	if (h->o->notice)
		h->o->notice(h->o->notice_ctx, line);
}

/* --- what was shipped --- */

/* A mark for NUMBER of the recording of MANIFEST M: a generation, or a segment. */
static uint64_t mark_of(const char *epoch, const struct manifest *m, uint64_t number)
{
	struct sha256 s;
	uint8_t bytes[8];
	uint64_t mark = 0;

	sha256_begin(&s);
	sha256_add(&s, epoch, strlen(epoch) + 1);
	sha256_add(&s, m->host, strlen(m->host) + 1);
	sha256_add_u64(&s, m->recording);
	sha256_add_u64(&s, number);
	sha256_end(&s, bytes, sizeof(bytes));
	for (unsigned i = 0; i < sizeof(bytes); i++)
		mark |= (uint64_t)bytes[i] << 8 * i;
	return mark;
}

/* "refused MARK N", "pending SAMPLES EPOCH HOST", "late MARK STAMP IMAGE"; else what is not shipped
 * is asked about. */
static void load_line(struct shipper *h, char *line)
{
	char *save = NULL, *word = strtok_r(line, " ", &save), *first = strtok_r(NULL, " ", &save);
	uint64_t x, n;

	if (!first) {
		if (strlen(line) == 16 && str_parse_u64(line, 16, &x) >= 0)
			fleet_ids_add(&h->shipped, x, 0);
	} else if (strcmp(word, "refused") == 0) {
		if (!h->o->again && str_parse_u64(first, 16, &x) >= 0 &&
		    str_parse_u64(save, 10, &n) >= 0)
			vec_push(&h->refused, (struct ship_refusal){x, n});
	} else if (strcmp(word, "late") == 0) {
		late_parse(&h->late, first, save);
	} else if (strcmp(word, "pending") == 0 && str_parse_u64(first, 10, &n) >= 0) {
		const char *epoch = strtok_r(NULL, " ", &save);

		if (epoch && epoch_name_valid(epoch) && host_name_valid(save))
			vec_push(&h->pending,
				 (struct ship_pending){xstrdup(epoch), xstrdup(save), n});
	}
}

/* A file that is damaged costs questions, nothing else. */
static void load_state(struct shipper *h)
{
	_mem_ char *text = NULL;
	size_t n;

	if (file_load(h->path, STATE_MAX, &text, &n, NULL) < 0 || !str_starts(text, STATE_HEAD))
		return;
	for (char *save = NULL, *l = strtok_r(text + strlen(STATE_HEAD), "\n", &save); l;
	     l = strtok_r(NULL, "\n", &save))
		load_line(h, l);
}

/* The database is the outbox, and keeps what its retention lets it.  Tells what was removed before
 * it could be shipped. */
static void tell_overflow(struct shipper *h)
{
	vec_each (p, &h->pending) {
		_mem_ char *path =
			xasprintf("%s/epochs/%s/%s/" MANIFEST_NAME, h->o->db, p->epoch, p->host);
		_mem_ char *text = NULL;

		if (access(path, F_OK) == 0 || errno != ENOENT)
			continue;
		text = xasprintf("was removed before all of its %" PRIu64 " samples were shipped",
				 p->n_samples);
		h->totals->n_overflowed += p->n_samples;
		ship_notice(h, p->epoch, p->host, text);
	}
}

/* Notes a recording that the server does not have. */
static int note_pending(void *ctx, int dirfd, const char *epoch, const char *host, struct err *err)
{
	struct shipper *h = ctx;
	struct manifest m;
	uint64_t n = 0;
	_mem_ char *mark = NULL;

	(void)err;
	if (strchr(host, '\n') || snapshot_manifest(dirfd, &m, NULL) < 0)
		return 0;
	mark = xasprintf("%016" PRIx64 "\n", mark_of(epoch, &m, m.generation));
	vec_each (e, &m.events)
		n += e->n_samples;
	if (strstr(str_get(&h->state), mark))
		;
	else if (!h->o->again && fleet_ids_find(&h->shipped, strtoull(mark, NULL, 16)) !=
					 FLEET_NO_NUMBER) /* it was not looked at */
		str_add(&h->state, mark);
	else
		str_addf(&h->state, "pending %" PRIu64 " %s %s\n", n, epoch, host);
	manifest_release(&m);
	return 0;
}

static void add_refusals(struct shipper *h)
{
	vec_each (r, &h->refused) {
		str_addf(&h->state, "refused %016" PRIx64 " %" PRIu64 "\n", r->mark, r->n);
		h->totals->n_set_aside += r->n >= MOST_REFUSALS;
	}
}

/* Names of a recording that is there no more do not come.  WHOLE: all were seen. */
static void add_late(struct shipper *h, bool whole)
{
	vec_each (im, &h->late)
		if (!whole || fleet_ids_find(&h->seen, im->recording) != FLEET_NO_NUMBER)
			late_format(&h->state, im);
}

static int save_state(struct shipper *h, struct err *err)
{
	_mem_ char *text = xasprintf(STATE_HEAD "%s", str_get(&h->state));

	return fleet_state_save(h->path, text, strlen(text), err);
}

/* Writes down which images of the recording under way may get names yet.  Where that fails, the
 * pass's end will say so. */
static void remember_late(struct shipper *h)
{
	_str_ struct str lines = {0};

	str_add(&lines, "\n"); /* a line before may have been cut */
	vec_each (im, &h->names.late) {
		if (h->late.n >= LATE_MOST || late_has(&h->late, im))
			continue;
		vec_push(&h->late, *im);
		late_format(&lines, im);
	}
	h->names.late.n = 0;
	if (lines.n > 1)
		fleet_state_append(h->path, STATE_HEAD, str_get(&lines), NULL);
}

/* --- one recording --- */

/* An error of this recording's own files: the others go on. */
static int of_recording(int rc)
{
	return rc < 0 ? -EIO : rc;
}

static int take_known(void *ctx, const struct native_value *v, struct err *err)
{
	ship_known_list *l = ctx;

	(void)err;
	vec_push(l, (struct ship_known){v[0].u, v[1].u, v[2].u, v[3].u, v[4].u, v[5].u});
	return 0;
}

static int ask_known(struct shipper *h, const char *epoch, const struct manifest *m,
		     ship_known_list *ret, struct err *err)
{
	_str_ struct str sql = {0};

	str_add(&sql, "SELECT segment AS c0, min(batch) AS c1, max(generation) AS c2, "
		      "toUInt16(any(day)) AS c3, any(start_ns) AS c4, any(end_ns) AS c5 "
		      "FROM batches WHERE host = ");
	fleet_sql_text(&sql, m->host, strlen(m->host));
	str_add(&sql, " AND epoch = ");
	fleet_sql_text(&sql, epoch, strlen(epoch));
	str_addf(&sql, " AND recording = %" PRIu64 " GROUP BY segment", m->recording);
	return fleet_ask(h->s, str_get(&sql), known_cols, n_elems(known_cols), take_known, ret,
			 err);
}

static int new_batch_id(uint64_t *ret, struct err *err)
{
	do
		if (getrandom(ret, sizeof(*ret), 0) != sizeof(*ret))
			return err_errno(err, -errno, "getrandom");
	while (!*ret);
	return 0;
}

static const struct ship_known *find_known(const ship_known_list *l, uint64_t segment)
{
	vec_each (k, l)
		if (k->segment == segment)
			return k;
	return NULL;
}

static void add_commit(struct native_block *b, const char *epoch, const struct manifest *m,
		       const struct ship_known *k, const struct fleet_batch *sent)
{
	native_add_u64(b, BATCH_DAY, k->day);
	native_add_text(b, BATCH_HOST, m->host);
	native_add_text(b, BATCH_EPOCH, epoch);
	native_add_u64(b, BATCH_RECORDING, m->recording);
	native_add_u64(b, BATCH_SEGMENT, k->segment);
	native_add_u64(b, BATCH_GENERATION, m->generation);
	native_add_u64(b, BATCH_ID, k->batch);
	native_add_u64(b, BATCH_ROWS, sent ? sent->n_rows : 0);
	native_add_u64(b, BATCH_SAMPLES, sent ? sent->n_samples : 0);
	native_add_u64(b, BATCH_START, k->start_ns);
	native_add_u64(b, BATCH_END, k->end_ns);
	native_end_row(b);
}

/* Sends segment I, and adds to COMMIT the row that will make it count. */
static int send_segment(struct shipper *h, const char *epoch, const struct snapshot *snap, size_t i,
			struct native_block *commit, struct ship_totals *sum, struct err *err)
{
	const struct manifest_segment *seg = &snap->manifest.segments.v[i];
	struct fleet_batch b = {.host = snap->manifest.host,
				.day = seg->start_wall_ns / DAY_NS,
				.start = seg->start_wall_ns / 1000000000};
	struct profile p;
	int rc = new_batch_id(&b.id, err);

	profile_init(&p);
	if (rc >= 0)
		rc = of_recording(snapshot_load_segment(snap, i, &p, NULL, err));
	profile_seal(&p);
	if (rc >= 0)
		rc = fleet_send(h->s, &p, &h->names, &b, h->told, err);
	profile_release(&p);
	if (rc < 0)
		return rc;
	add_commit(commit, epoch, &snap->manifest,
		   &(struct ship_known){.segment = commit_segment_number(seg->name),
					.batch = b.id,
					.day = b.day,
					.start_ns = seg->start_wall_ns,
					.end_ns = seg->end_wall_ns},
		   &b);
	sum->n_segments++;
	sum->n_rows += b.n_rows;
	sum->n_samples += b.n_samples;
	sum->n_left_out += b.n_left_out;
	return 0;
}

static struct ship_refusal *find_refusal(struct shipper *h, uint64_t mark)
{
	vec_each (r, &h->refused)
		if (r->mark == mark)
			return r;
	return NULL;
}

/* Sends segment I unless it is set aside.  What the server refuses of it leaves the recording's
 * other segments as they are: N_FAILED counts it, and the third time it is set aside. */
static int try_segment(struct shipper *h, const char *epoch, const struct snapshot *snap, size_t i,
		       struct native_block *commit, struct ship_totals *sum, struct err *err)
{
	const struct manifest *m = &snap->manifest;
	const char *name = m->segments.v[i].name;
	const uint64_t mark = mark_of(epoch, m, ~commit_segment_number(name));
	struct ship_refusal *r = find_refusal(h, mark);
	_mem_ char *text = NULL;
	int rc;

	if (r && r->n >= MOST_REFUSALS)
		return 0;
	rc = send_segment(h, epoch, snap, i, commit, sum, err);
	if (rc != -EREMOTEIO)
		return rc;
	/* What the server was told just now it may not have. */
	fleet_told_release(h->told);
	if (!r && h->refused.n < MOST_REMEMBERED) {
		vec_push(&h->refused, (struct ship_refusal){mark, 0});
		r = &h->refused.v[h->refused.n - 1];
	}
	if (r)
		r->n++;
	sum->n_failed += !r || r->n < MOST_REFUSALS;
	text = xasprintf("%s: %s%s", name, err->msg,
			 r && r->n >= MOST_REFUSALS ? "; set aside: --again tries it again" : "");
	ship_notice(h, epoch, m->host, text);
	return 0;
}

/* Makes what the server has of the recording what SNAP says. */
static int make_equal(struct shipper *h, const char *epoch, const struct snapshot *snap,
		      struct err *err)
{
	const struct manifest *m = &snap->manifest;
	_vec_ ship_known_list known = {0};
	struct native_block commit = {0};
	struct ship_totals sum = {0};
	int rc = ask_known(h, epoch, m, &known, err);

	vec_each (k, &known)
		if (k->generation > m->generation)
			return err_set(err, -ESTALE,
				       "the server has a later state of it; is this an "
				       "older copy of the database?");
	native_init(&commit, fleet_tables[FLEET_BATCHES].cols, BATCH_N);
	for (size_t i = 0; i < m->segments.n && rc >= 0; i++) {
		const uint64_t number = commit_segment_number(m->segments.v[i].name);
		const struct ship_known *k = find_known(&known, number);

		if (k && !k->batch)
			rc = err_set(err, -ESTALE, "the server knows that %s was merged",
				     m->segments.v[i].name);
		else if (!k)
			rc = try_segment(h, epoch, snap, i, &commit, &sum, err);
	}
	vec_each (k, &known) {
		bool is_there = !k->batch;

		vec_each (seg, &m->segments)
			is_there |= commit_segment_number(seg->name) == k->segment;
		if (is_there)
			continue;
		k->batch = 0;
		add_commit(&commit, epoch, m, k, NULL);
		sum.n_superseded++;
	}
	remember_late(h);
	if (rc >= 0)
		rc = fleet_insert(h->s, FLEET_BATCHES, &commit, err);
	native_release(&commit);
	if (rc < 0)
		return rc;
	h->totals->n_segments += sum.n_segments;
	h->totals->n_rows += sum.n_rows;
	h->totals->n_samples += sum.n_samples;
	h->totals->n_superseded += sum.n_superseded;
	h->totals->n_left_out += sum.n_left_out;
	return sum.n_failed ? err_set(err, -EIO, "%" PRIu64 " of its segments were refused",
				      sum.n_failed)
			    : 0;
}

/* Sends the names of places of images DUE, which are known now. */
static int send_late(struct shipper *h, const struct snapshot *snap, const late_images *due,
		     struct err *err)
{
	const uint64_t n = h->names.n_sent;
	int rc = 0;

	h->names.wanted = due;
	for (size_t i = 0; i < snap->manifest.segments.n && rc >= 0; i++) {
		struct profile p;

		profile_init(&p);
		rc = of_recording(snapshot_load_segment(snap, i, &p, NULL, err));
		profile_seal(&p);
		if (rc >= 0)
			rc = fleet_send_names(h->s, &p, &h->names, h->told, err);
		profile_release(&p);
	}
	h->names.wanted = NULL;
	h->totals->n_named += h->names.n_sent - n;
	remember_late(h);
	return rc;
}

/* What the server does not have of a recording: segments unless they are KNOWN, and names that are
 * DUE.  *MARK becomes that of the state that was shipped. */
static int ship_news(struct shipper *h, int dirfd, const char *epoch, bool known,
		     const late_images *due, uint64_t *mark, struct err *err)
{
	struct snapshot snap;
	int rc = of_recording(snapshot_open(&snap, dirfd, err));

	if (rc < 0)
		return rc;
	if (!known) {
		*mark = mark_of(epoch, &snap.manifest, snap.manifest.generation);
		rc = make_equal(h, epoch, &snap, err);
	}
	if (rc >= 0 && due->n)
		rc = send_late(h, &snap, due, err);
	snapshot_close(&snap);
	return rc;
}

/* Whether a recorder holds the recording in DIRFD (store.h). */
static bool is_live(int dirfd)
{
	if (flock(dirfd, LOCK_SH | LOCK_NB) < 0)
		return errno == EWOULDBLOCK;
	flock(dirfd, LOCK_UN);
	return false;
}

static bool names_are_late(void *ctx, const struct image *im)
{
	return fleet_names_wait(ctx, im);
}

static int ship_recording(struct shipper *h, int dirfd, const char *epoch, struct err *err)
{
	_vec_ late_images due = {0};
	struct manifest m;
	uint64_t mark;
	bool known;
	int rc = of_recording(snapshot_manifest(dirfd, &m, err));

	if (rc < 0)
		return rc;
	mark = mark_of(epoch, &m, m.generation);
	h->names.recording = mark_of(epoch, &m, LATE_MARK);
	h->names.is_live = is_live(dirfd);
	if (h->names.resolver)
		resolver_look_again(h->names.resolver);
	manifest_release(&m);
	fleet_ids_add(&h->seen, h->names.recording, 0);
	late_take_due(&h->late, &h->names, h->names.recording, &due);
	known = !h->o->again && fleet_ids_find(&h->shipped, mark) != FLEET_NO_NUMBER;
	h->totals->n_known += known;
	if (!known || due.n)
		rc = ship_news(h, dirfd, epoch, known, &due, &mark, err);
	h->names.late.n = 0;
	if (rc >= 0)
		str_addf(&h->state, "%016" PRIx64 "\n", mark);
	else
		vec_each (im, &due)
			vec_push(&h->late, *im);
	return rc;
}

/* Whether an error is the server's as a whole, not one recording's. */
static bool ends_all(int rc)
{
	return rc == -ECONNREFUSED || rc == -EACCES || rc == -ETIMEDOUT || rc == -EBADMSG ||
	       rc == -ENOSPC;
}

static int ship_one(void *ctx, int dirfd, const char *epoch, const char *host, struct err *err)
{
	struct shipper *h = ctx;
	struct err why = {0};
	int rc;

	h->totals->n_recordings++;
	rc = ship_recording(h, dirfd, epoch, &why);
	if (rc >= 0)
		return 0;
	/* What the server was told just now it may not have. */
	fleet_told_release(h->told);
	h->totals->n_failed++;
	if (ends_all(rc))
		return err_set(err, rc, "%s", why.msg);
	ship_notice(h, epoch, host, why.msg);
	return 0;
}

/* Whatever happened, what is shipped and what is not is remembered. */
static int end_pass(struct shipper *h, int rc, struct err *err)
{
	int saved;

	if (rc == -EBUSY)
		return rc;
	if (rc < 0 || h->totals->n_failed)
		walk_recordings(h->o->db, note_pending, h, NULL);
	add_refusals(h);
	add_late(h, rc >= 0 && !h->totals->n_failed);
	saved = save_state(h, rc < 0 ? NULL : err);
	return rc < 0 ? rc : saved;
}

static void shipper_release(struct shipper *h)
{
	vec_each (p, &h->pending) {
		free(p->epoch);
		free(p->host);
	}
	vec_release(&h->pending);
	vec_release(&h->refused);
	fleet_names_release(&h->names);
	vec_release(&h->late);
	fleet_ids_release(&h->seen);
	fleet_told_release(&h->own_told);
	fleet_ids_release(&h->shipped);
	str_release(&h->state);
	free(h->path);
}

int fleet_ship(struct fleet_server *s, const struct ship_opts *o, struct ship_totals *ret,
	       struct err *err)
{
	_mem_ char *images = store_images_dir(o->db, false, NULL);
	struct shipper h = {.s = s, .o = o, .totals = ret, .names.images = images};
	const struct resolver_opts ro = {.no_save = true,
					 .cache_dir = images,
					 .is_late = names_are_late,
					 .late_ctx = &h.names};
	_fd_ int fd = db_open(o->db, false, err);
	uint64_t sent = fleet_server_sent(s), started_s;
	int rc = fd < 0 ? fd : 0;

	*ret = (struct ship_totals){0};
	if (rc >= 0)
		h.path = o->state ? xstrdup(o->state)
				  : fleet_state_path(o->db, fleet_server_name(s), err);
	if (rc >= 0 && !h.path)
		rc = -EINVAL;
	if (rc >= 0) {
		load_state(&h);
		tell_overflow(&h);
		rc = fleet_check_schema(s, err);
		if (rc >= 0)
			rc = fleet_server_start(s, &started_s, err);
		if (rc >= 0) {
			h.told = o->told ? o->told : &h.own_told;
			fleet_told_begin(h.told, started_s);
			h.names.resolver = o->no_names ? NULL : resolver_new(&ro);
			rc = walk_recordings(o->db, ship_one, &h, err);
		}
		rc = end_pass(&h, rc, err);
	}
	shipper_release(&h);
	ret->n_bytes = fleet_server_sent(s) - sent;
	return rc;
}
