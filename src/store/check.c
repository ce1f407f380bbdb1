/* SPDX-License-Identifier: BSD-2-Clause */
/* See check.h.
 *
 * A recording is looked at file by file: a damaged one does not hide the others.  What is found is
 * a new MANIFEST with the whole segments, what is whole of damaged ones and of the journal as one
 * more, and sums over them; repairing is to commit that (commit.h), so that it happens at once or
 * not at all.
 *
 * A segment that no MANIFEST names, or the journal when the MANIFEST is lost, counts when it proves
 * that nothing that counts holds one of its samples.  Example: the MANIFEST is lost, and 1.seg
 * holds generation 1, 2.seg generation 2, 3.seg is in place of both and holds 1 to 2, 4.seg holds
 * generation 3.  From the newest on: 4 counts, 3 counts, 2 and 1 overlap with 3 and are set aside.
 * A journal of generation 3 is set aside, too; one of generation 4 counts. */
#include "store/check.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/check_notes.h"
#include "store/commit.h"
#include "store/snapshot.h"

struct checker {
	bool repair;
	void (*report)(void *ctx, const struct store_problem *p);
	void *ctx;
	int n;
	int epochs_fd;
};

/* What a whole segment or journal tells of the samples it holds. */
struct piece {
	struct segment_origin origin;
	uint64_t start_wall_ns, end_wall_ns; /* 0: not known */
};

/* One recording. */
struct found {
	struct checker *c;
	const char *epoch, *host;
	int dir;
	bool live;
	struct manifest m;     /* as it is, or an empty one */
	struct manifest whole; /* with what is whole */
	struct profile journal;
	bool has_journal; /* some record of it counts, or some block of a damaged segment */
	bool salvaged;	  /* the latter */
	bool no_manifest;
	VEC(struct piece) pieces; /* what counts */
	uint64_t journal_generation;
	bool damaged;
	name_list aside; /* files to be set aside */
};

static void check_report(struct checker *c, const char *file, const char *done, const char *fmt,
			 ...) __attribute__((format(printf, 4, 5)));

static void check_report(struct checker *c, const char *file, const char *done, const char *fmt,
			 ...)
{
	struct store_problem p = {.file = file, .done = c->repair ? done : NULL};
	char text[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	p.text = text;
	c->n++;
	c->report(c->ctx, &p);
}

/* Reports file NAME of the recording. */
static void report_file(struct found *f, const char *name, const char *done, const char *text)
{
	_mem_ char *path = xasprintf("epochs/%s/%s/%s", f->epoch, f->host, name);
	/* "NAME: what" says the name again. */
	size_t n = strlen(name);

	if (strncmp(text, name, n) == 0 && strncmp(text + n, ": ", 2) == 0)
		text += n + 2;
	f->damaged = true;
	check_report(f->c, path, f->live ? NULL : done, "%s", text);
}

/* --- segments --- */

/* Whether A and B prove that they have no sample in common. */
static bool are_apart(const struct piece *a, const struct piece *b)
{
	const struct segment_origin *x = &a->origin, *y = &b->origin;

	if (x->recording && x->recording == y->recording) {
		bool apart = !x->last_generation || !y->last_generation ||
			     x->last_generation < y->first_generation ||
			     y->last_generation < x->first_generation;

		/* What was stored of a dead log may have come into a segment in place of others. */
		return apart && !(x->log && (x->log == y->log || y->n_replaced)) &&
		       !(y->log && x->n_replaced);
	}
	return a->start_wall_ns && b->start_wall_ns &&
	       (a->end_wall_ns <= b->start_wall_ns || b->end_wall_ns <= a->start_wall_ns) &&
	       a->end_wall_ns > a->start_wall_ns && b->end_wall_ns > b->start_wall_ns;
}

static bool is_apart_from_all(const struct found *f, const struct piece *p)
{
	vec_each (other, &f->pieces)
		if (!are_apart(p, other))
			return false;
	return true;
}

/* Adds what is whole of the damaged segment in MAP to what will be one more segment; false when
 * that is nothing. */
static bool salvage(struct found *f, const struct file_map *map)
{
	struct profile p;
	bool any;

	profile_init(&p);
	any = segment_salvage(map->bytes, map->n_bytes, &p) > 0 && commit_has_content(&p);
	for (event_id e = 0; e < p.events.n && any;
	     e++) /* values were lost, and these count them */
		if (profile_n_timed(&p, e) > profile_n_samples(&p, e))
			profile_forget_moments(&p);
	for (event_id e = 0; e < p.events.n && any; e++) {
		uint64_t n = profile_n_samples(&p, e) + profile_n_lost(&p, e);

		if (p.events.v[e].n_reached > n)
			profile_add_loss(&p, "damaged", e, p.events.v[e].n_reached - n);
		else
			p.events.v[e].n_reached = n;
	}
	if (any)
		profile_merge(&f->journal, &p);
	profile_release(&p);
	return any;
}

/* Adds segment S to the whole ones when it is; one that is not NAMED only when it is apart from
 * what counts already. */
static void check_segment(struct found *f, const struct manifest_segment *s, bool named)
{
	struct file_map map = {0};
	struct piece piece = {0};
	struct profile p;
	struct err why = {""};
	int rc = file_map_open(&map, f->dir, s->name, true, &why);
	bool salvaged = false;

	profile_init(&p);
	if (rc >= 0 && named &&
	    (map.n_bytes != s->n_bytes || segment_digest(map.bytes, map.n_bytes) != s->digest))
		rc = err_set(&why, -EBADMSG, "is not the segment %s names", MANIFEST_NAME);
	if (rc >= 0 || rc == -EBADMSG) {
		struct err decode = {""};
		int bad = segment_decode(map.bytes, map.n_bytes, &p, NULL, &decode);

		if (bad < 0) {
			rc = bad;
			why = decode;
		}
	}
	if (rc >= 0) {
		segment_get_origin(map.bytes, map.n_bytes, &piece.origin);
		piece.start_wall_ns = p.meta.start_wall_ns;
		piece.end_wall_ns = p.meta.end_wall_ns;
		if (!named && !is_apart_from_all(f, &piece))
			rc = err_set(&why, -EEXIST,
				     "is not named by a " MANIFEST_NAME
				     ", and nothing proves that what counts does not hold its "
				     "samples");
		else if (!named && !f->no_manifest)
			report_file(f, s->name, "counted",
				    "is not named by the " MANIFEST_NAME ", though what it holds "
				    "is nowhere else");
	}
	if (rc >= 0) {
		vec_push(&f->pieces, piece);
		manifest_add_profile(&f->whole, &p);
		vec_push(&f->whole.segments,
			 (struct manifest_segment){.name = arena_strdup(&f->whole.arena, s->name),
						   .n_bytes = map.n_bytes,
						   .digest = segment_digest(map.bytes, map.n_bytes),
						   .start_wall_ns = p.meta.start_wall_ns,
						   .end_wall_ns = p.meta.end_wall_ns});
		if (f->no_manifest && piece.origin.last_generation > f->whole.journal)
			f->whole.journal = piece.origin.last_generation;
	} else {
		if (rc != -ENOENT && rc != -EEXIST && named && map.bytes)
			salvaged = salvage(f, &map);
		f->has_journal |= salvaged;
		f->salvaged |= salvaged;
		report_file(f, s->name,
			    rc == -ENOENT ? "left out"
			    : salvaged	  ? "what is whole of it was kept; moved to lost/"
					  : "moved to lost/; what else there is was kept",
			    why.msg);
		if (rc != -ENOENT)
			vec_push(&f->aside, xstrdup(s->name));
	}
	profile_release(&p);
	file_map_close(&map);
}

static bool is_segment_name(const char *name)
{
	size_t n = strspn(name, "0123456789");

	return n && strcmp(name + n, ".seg") == 0;
}

static bool is_named(const struct manifest *m, const char *name)
{
	vec_each (s, &m->segments)
		if (strcmp(s->name, name) == 0)
			return true;
	return false;
}

static int by_number_down(const void *a, const void *b)
{
	uint64_t x = commit_segment_number(*(char *const *)a);
	uint64_t y = commit_segment_number(*(char *const *)b);

	return x < y ? 1 : x > y ? -1 : strcmp(*(char *const *)b, *(char *const *)a);
}

/* Whether some log's samples may not be stored: they come again when it is taken over. */
static bool has_open_log(const struct manifest *m)
{
	vec_each (l, &m->logs)
		if (l->number && l->state != STORE_LOG_STORED)
			return true;
	return false;
}

/* Looks at the segments that the MANIFEST does not name, which are all when it is lost; from the
 * newest on, which may be in place of older ones. */
static void check_unnamed_segments(struct found *f)
{
	name_list names = {0};

	db_names(f->dir, is_segment_name, &names, NULL);
	vec_sort(&names, by_number_down);
	vec_each (name, &names) {
		const struct manifest_segment s = {.name = *name};
		const uint64_t number = commit_segment_number(*name);

		if (is_named(&f->m, *name) || (f->live && !f->no_manifest))
			continue;
		if (!f->no_manifest && f->m.sealed && number < f->m.next_segment) {
			report_file(f, *name, "removed", "was left by a writer that was killed");
			continue;
		}
		if (!f->no_manifest && has_open_log(&f->m)) {
			report_file(f, *name, "moved to lost/",
				    "is not named by the " MANIFEST_NAME
				    ": its writer was killed, and what it holds is still in a log");
			vec_push(&f->aside, xstrdup(*name));
		} else {
			check_segment(f, &s, false);
		}
		if (number >= f->whole.next_segment)
			f->whole.next_segment = number + 1;
	}
	if (f->pieces.n && f->no_manifest)
		f->whole.recording = f->pieces.v[0].origin.recording;
	name_list_release(&names);
}

/* --- journal --- */

/* Whether the journal that R reads counts: by the MANIFEST, or, for want of one, by its generation,
 * or by the time of its samples. */
static bool journal_counts(struct found *f, const struct journal_reader *r,
			   const struct profile *all)
{
	struct piece p = {.origin = {.recording = f->whole.recording,
				     .first_generation = r->generation,
				     .last_generation = r->generation},
			  .start_wall_ns = all->meta.start_wall_ns,
			  .end_wall_ns = all->meta.end_wall_ns};

	return f->no_manifest ? is_apart_from_all(f, &p) : r->generation > f->m.journal;
}

/* Adds each record of the journal that is whole to ALL, and notes what it covers in SEQS.  BAD:
 * that the journal is damaged has been said. */
static void read_records(struct found *f, struct journal_reader *r, struct profile *all,
			 struct manifest *seqs, bool bad)
{
	struct journal_record rec;

	for (;;) {
		struct err why = {""};
		size_t at = rd_off(&r->rd), left = rd_left(&r->rd);
		int rc = journal_next(r, &rec, &why);

		if (rc == 0 && !left)
			break;
		if (rc == 1 && (rc = journal_load(&rec, all, NULL, &why)) >= 0) {
			for (size_t i = 0; i < rec.n_ranges; i++)
				manifest_add_seq(seqs, rec.ranges[i].cpu, rec.ranges[i].last_seq);
			continue;
		}
		/* While its recorder lives the last record may be on its way. */
		if (!bad && !(f->live && rc == 0)) {
			char text[600];

			snprintf(text, sizeof(text), "+%#zx: %s", at,
				 rc == 0 ? "no whole record: it was torn when its recorder died, "
					   "or damaged"
					 : why.msg);
			report_file(f, JOURNAL_NAME, "moved to lost/; its whole records were kept",
				    text);
			vec_push(&f->aside, xstrdup(JOURNAL_NAME));
			bad = true;
		}
		if (!journal_skip(r))
			break;
	}
}

static void check_journal(struct found *f)
{
	struct manifest seqs = {0};
	struct journal_reader r;
	struct profile all;
	struct wr header = {0};
	_mem_ char *bytes = NULL;
	struct err why = {""};
	bool header_bad = false;
	size_t n;
	int rc = db_load(f->dir, JOURNAL_NAME, 1u << 30, &bytes, &n, &why);

	if (rc == -ENOENT)
		return;
	if (rc >= 0)
		rc = journal_read_begin(&r, (uint8_t *)bytes, n, &why);
	if (rc == -ENODATA && (f->live || !n)) /* torn before its first record */
		return;
	if (rc < 0) {
		report_file(f, JOURNAL_NAME, "moved to lost/; its whole records were kept",
			    why.msg);
		vec_push(&f->aside, xstrdup(JOURNAL_NAME));
		if (rc != -EBADMSG || n <= JOURNAL_HEADER_SZ || f->no_manifest)
			return;
		header_bad = true;
		/* Records of the generation that would count prove themselves. */
		journal_put_header(&header, f->m.journal + 1);
		memcpy(bytes, header.v, JOURNAL_HEADER_SZ);
		wr_release(&header);
		journal_read_begin(&r, (uint8_t *)bytes, n, NULL);
	}
	profile_init(&all);
	f->journal_generation = r.generation;
	if (f->m.logs.n)
		manifest_copy(&seqs, &f->whole);
	read_records(f, &r, &all, &seqs, header_bad);
	if (journal_counts(f, &r, &all)) {
		f->has_journal |= commit_has_content(&all);
		profile_merge(&f->journal, &all);
		vec_each (l, &seqs.logs)
			if (l + 1 == seqs.logs.v + seqs.logs.n)
				vec_each (c, &l->cpus)
					manifest_add_seq(&f->whole, c->cpu, c->last_seq);
	} else if (f->no_manifest) {
		report_file(f, JOURNAL_NAME, "moved to lost/",
			    "nothing proves that no segment holds its samples");
		vec_push(&f->aside, xstrdup(JOURNAL_NAME));
	}
	manifest_release(&seqs);
	profile_release(&all);
	journal_reader_release(&r);
}

/* --- recordings --- */

static void check_left(struct found *f)
{
	name_list left = {0};

	db_names(f->dir, commit_is_temp, &left, NULL);
	vec_each (name, &left)
		if (!f->live)
			report_file(f, *name, "removed", "was left by a writer that was killed");
	name_list_release(&left);
}

/* Commits what is whole.  The caller holds both locks. */
static int mend(struct found *f, struct err *err)
{
	struct store *s = xcalloc(1, sizeof(*s));
	struct manifest new;
	int rc = 0;

	s->dir_fd = dup(f->dir);
	s->journal_fd = -1;
	s->compact_at = COMPACT_AT;
	snprintf(s->epoch, sizeof(s->epoch), "%s", f->epoch);
	manifest_copy(&s->m, &f->m);
	manifest_copy(&new, &f->whole);
	/* What cannot be kept would be removed by the commit. */
	vec_each (name, &f->aside)
		if (rc >= 0 && strcmp(*name, JOURNAL_NAME) != 0)
			rc = commit_set_aside(f->dir, *name);
	if (rc < 0)
		err_errno(err, rc, "nothing was repaired: nothing can be moved to " LOST_NAME "/");
	else if (f->has_journal) {
		manifest_add_profile(&new, &f->journal);
		const struct segment_origin o = {.recording = new.recording,
						 .first_generation =
							 f->salvaged ? 1 : f->journal_generation,
						 .last_generation = new.journal};

		rc = commit_profile_from(s, &f->journal, COMMIT_ADD, false, &o, &new, err);
	} else {
		rc = commit_manifest(s, &new, err);
	}
	/* Before that a journal counts, though what is whole of it were gone. */
	if (rc >= 0) {
		vec_each (name, &f->aside)
			if (strcmp(*name, JOURNAL_NAME) == 0)
				commit_set_aside(f->dir, *name);
		commit_drop_journal(s, true);
		rc = commit_settle(s, err);
	}
	manifest_release(&new);
	store_detach(s);
	return rc < 0 ? rc : 0;
}

static bool is_data(const char *name)
{
	return is_segment_name(name) || strcmp(name, JOURNAL_NAME) == 0;
}

static bool has_data(int dir)
{
	name_list l = {0};
	bool has = db_names(dir, is_data, &l, NULL) >= 0 && l.n;

	name_list_release(&l);
	return has;
}

/* A MANIFEST of version 1 has no digest; but its sums are those of its segments. */
static void check_sums(struct found *f)
{
	uint64_t is[3] = {0}, was[3] = {0};

	if (f->m.sealed || f->damaged)
		return;
	vec_each (e, &f->m.events) {
		was[0] += e->n_samples;
		was[1] += e->n_reached;
	}
	vec_each (e, &f->whole.events) {
		is[0] += e->n_samples;
		is[1] += e->n_reached;
	}
	vec_each (l, &f->m.losses)
		was[2] += l->n;
	vec_each (l, &f->whole.losses)
		is[2] += l->n;
	if (memcmp(is, was, sizeof(is)) != 0)
		report_file(f, MANIFEST_NAME, "made anew",
			    "its sums are not those of its segments");
}

/* Takes the MANIFEST as it was, when its digest proves that its version alone is damaged, and puts
 * it back.  Nothing else of the recording changes. */
static bool put_version_back(struct found *f)
{
	const bool damaged = f->damaged;
	_mem_ char *text = NULL;
	struct err why = {""};
	size_t n = 0;

	if (db_load(f->dir, MANIFEST_NAME, MANIFEST_MAX, &text, &n, NULL) < 0 ||
	    !manifest_mend_version(text, n) || manifest_parse(&f->m, text, n, NULL) < 0)
		return false;
	if (f->c->repair && !f->live && file_replace(f->dir, MANIFEST_NAME, text, n, &why) < 0)
		report_file(f, MANIFEST_NAME, NULL, why.msg);
	else
		report_file(f, MANIFEST_NAME, "put back",
			    "its version is not the one that its digest covers");
	f->damaged = damaged;
	return true;
}

static void check_manifest(struct found *f)
{
	struct err why = {""};
	int rc = snapshot_manifest(f->dir, &f->m, &why);

	if (rc == -EBADMSG && put_version_back(f))
		rc = 0;
	if (rc >= 0) {
		manifest_copy(&f->whole, &f->m);
		f->whole.segments.n = f->whole.events.n = f->whole.losses.n = 0;
		vec_each (s, &f->m.segments)
			check_segment(f, s, true);
		check_sums(f);
		check_unnamed_segments(f);
		return;
	}
	/* One that is just beginning, or whose creator was killed before there was anything. */
	if (rc == -ENOENT && (f->live || !has_data(f->dir))) {
		f->live = true;
		return;
	}
	report_file(f, MANIFEST_NAME,
		    rc == -EPROTONOSUPPORT ? NULL : "made anew from what is whole",
		    rc == -ENOENT ? "is missing" : why.msg);
	if (rc == -EPROTONOSUPPORT) {
		f->live = true; /* not ours to touch */
		return;
	}
	f->no_manifest = true;
	f->m = (struct manifest){.next_segment = 1};
	f->m.host = arena_strdup(&f->m.arena, f->host);
	f->m.label = "";
	f->m.state = STATE_INTERRUPTED;
	manifest_copy(&f->whole, &f->m);
	check_unnamed_segments(f);
}

static void check_recording(struct checker *c, int epoch_fd, const char *epoch, const char *host)
{
	struct found f = {.c = c, .epoch = epoch, .host = host};
	struct err why = {""};

	f.dir = db_open_dir(epoch_fd, host, false, &why);
	if (f.dir < 0) {
		_mem_ char *path = xasprintf("epochs/%s/%s", epoch, host);

		check_report(c, path, NULL, "%s", why.msg);
		return;
	}
	f.live = flock(f.dir, (c->repair ? LOCK_EX : LOCK_SH) | LOCK_NB) < 0;
	profile_init(&f.journal);
	check_manifest(&f);
	check_journal(&f);
	check_left(&f);
	if (f.damaged && c->repair && !f.live) {
		/* Voided with the new MANIFEST, or its records would be there twice. */
		if (f.journal_generation > f.whole.journal)
			f.whole.journal = f.journal_generation;
		if (strcmp(f.whole.state, STATE_RECORDING) == 0)
			f.whole.state = STATE_INTERRUPTED;
		if (mend(&f, &why) < 0)
			report_file(&f, MANIFEST_NAME, NULL, why.msg);
	}
	name_list_release(&f.aside);
	vec_release(&f.pieces);
	manifest_release(&f.whole);
	manifest_release(&f.m);
	profile_release(&f.journal);
	close(f.dir);
}

static void check_epochs(struct checker *c)
{
	name_list epochs = {0};

	db_names(c->epochs_fd, epoch_name_valid, &epochs, NULL);
	vec_each (e, &epochs) {
		_fd_ int fd = db_open_dir(c->epochs_fd, *e, false, NULL);
		name_list hosts = {0};

		if (fd >= 0)
			db_names(fd, host_name_valid, &hosts, NULL);
		vec_each (h, &hosts)
			check_recording(c, fd, *e, *h);
		name_list_release(&hosts);
	}
	name_list_release(&epochs);
}

static void report_note(void *ctx, const char *file, const char *done, const char *text)
{
	check_report(ctx, file, done, "%s", text);
}

int store_check(const char *db, bool repair, void (*tell)(void *ctx, const struct store_problem *p),
		void *ctx, struct err *err)
{
	struct checker c = {.repair = repair, .report = tell, .ctx = ctx};
	_fd_ int there = db_open_lost(db, repair, err), db_fd = -1, lock_fd = -1, epochs_fd = -1;

	if (there >= 0)
		check_report(&c, "VERSION", "made anew", "is damaged or missing");
	else if (there == -ENOENT)
		there = db_open(db, false, err);
	db_fd = there < 0 ? there : repair ? db_open(db, true, err) : take_fd(&there);
	if (db_fd < 0)
		return db_fd;
	if (repair) {
		lock_fd = db_lock(db_fd, err);
		if (lock_fd < 0)
			return err_prefix(err, lock_fd, "%s", db);
	}
	epochs_fd = db_open_dir(db_fd, "epochs", false, err);
	if (epochs_fd == -ENOENT)
		return 0;
	if (epochs_fd < 0)
		return err_prefix(err, epochs_fd, "%s", db);
	c.epochs_fd = epochs_fd;
	check_epochs(&c);
	check_notes(db_fd, epochs_fd, repair, report_note, &c);
	return c.n;
}
