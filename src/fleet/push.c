/* SPDX-License-Identifier: BSD-2-Clause */
/* See push.h.
 *
 * A server that is pushed to adds up whatever comes, and cannot be asked.  So this side remembers
 * each segment's fate, on disk before and after its request:
 *
 *     segment 7   doubt     written before the request is sent
 *                 pushed    the server took it: never sent again
 *                 refused1  the server said no: tried again, and set aside the third time
 *                 doubt     nobody knows: it is sent again, and that is said, for the server may
 *                           count its samples twice
 *
 * Segments of one minute may still become one (store/edges.c), so a segment is pushed when its
 * minute is over.  Older ones are merged by the hour a day later.  What a new segment was merged of
 * is known by its time: if all of it was pushed, it is, too.  If only a part was, which takes a
 * pusher that was away for a day, the rest is left out and counted. */
#include "fleet/push.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "fleet/push_body.h"
#include "fleet/push_state.h"
#include "fleet/walk.h"
#include "formats/gzip.h"
#include "store/commit.h"
#include "store/snapshot.h"
#include "store/store.h"

#define MINUTE_NS     (60ull * 1000000000)
#define MOST_REFUSALS 3

static const struct push_kind {
	const char *prefix, *scheme, *port, *where;
	bool packs; /* bodies are packed; profiles in them are already */
	int (*body)(const struct stacks *s, struct wr *ret, struct err *err);
} push_kinds[] = {
	{"pyroscope+http://", "http://", ":4040", "/push.v1.PusherService/Push", false,
	 push_body_pyroscope},
	{"pyroscope+https://", "https://", "", "/push.v1.PusherService/Push", false,
	 push_body_pyroscope},
	{"otlp+http://", "http://", ":4318", "/v1development/profiles", true, push_body_otlp},
	{"otlp+https://", "https://", ":4318", "/v1development/profiles", true, push_body_otlp},
};

struct pusher {
	const struct push_kind *kind;
	struct http *http;
	char *base, *where;
	const struct push_opts *o;
	struct push_totals *totals;
	struct push_state state;
	struct resolver *resolver;
	struct wr body;
	bool has_unread; /* a recording could not be opened */
};

/* A segment on its way. */
struct push_item {
	struct pusher *p;
	const struct manifest *manifest;
	const struct manifest_segment *segment;
};

static const struct push_kind *push_kind_of(const char *url)
{
	for (size_t i = 0; i < n_elems(push_kinds); i++)
		if (str_starts(url, push_kinds[i].prefix))
			return &push_kinds[i];
	return NULL;
}

bool push_is_url(const char *url)
{
	return push_kind_of(url);
}

static int parse_push_url(struct pusher *p, const char *url, struct err *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789.-_/";
	const char *at;
	_mem_ char *host = NULL;
	size_t n;

	p->kind = push_kind_of(url);
	if (!p->kind)
		return err_set(err, -EINVAL, "%s: is no address that profiles are pushed to", url);
	at = url + strlen(p->kind->prefix);
	host = http_take_host(url, &at, err);
	if (!host)
		return -EINVAL;
	n = strlen(at);
	if (strspn(at, allowed) < n)
		return err_set(err, -EINVAL, "%s: names no host", url);
	p->base = xasprintf("%s%s%s", p->kind->scheme, host,
			    http_has_port(host) ? "" : p->kind->port);
	while (n && at[n - 1] == '/')
		n--;
	p->where = xasprintf("%.*s%s", (int)n, at, p->kind->where);
	return 0;
}

static void push_notice(const struct push_item *it, const char *what)
{
	_mem_ char *line = xasprintf("%s, %s: %s", it->manifest->host, it->segment->name, what);

	if (it->p->o->notice)
		it->p->o->notice(it->p->o->notice_ctx, line);
}

/* --- one request --- */

static int make_body(void *ctx, const struct stacks *s, struct err *err)
{
	struct push_item *it = ctx;
	struct stacks own = *s;

	own.host = it->manifest->host;
	own.start_ns = it->segment->start_wall_ns;
	own.end_ns = it->segment->end_wall_ns;
	return it->p->kind->body(&own, &it->p->body, err);
}

/* Whether the answer says that nothing was taken.  503 and 429 are the server's own, sent in place
 * of work; of other errors above 499 nobody knows how far it came. */
static bool says_no(long status)
{
	return (status >= 300 && status < 500) || status == 503;
}

/* Errors: -EREMOTEIO refused, -EACCES, -ECONNREFUSED and -EAGAIN: not taken; else nobody knows. */
static int post_body(struct pusher *p, struct err *err)
{
	_str_ struct str packed = {0};
	struct http_answer a;
	char line[HTTP_LINE];
	int rc;

	if (p->kind->packs)
		gzip_pack(&packed, p->body.v, p->body.n);
	rc = http_post(p->http, p->where, p->kind->packs ? (const void *)packed.v : p->body.v,
		       p->kind->packs ? packed.n : p->body.n, p->kind->packs, &a, err);
	if (rc < 0 || (a.status >= 200 && a.status < 300))
		return rc;
	http_line(&a, line);
	if (a.status == 401 || a.status == 403)
		return err_set(err, -EACCES,
			       "%s: user or password refused; --login FILE has both, a line each",
			       p->base);
	rc = !says_no(a.status)			  ? -EBADMSG
	     : a.status == 429 || a.status == 503 ? -EAGAIN
						  : -EREMOTEIO;
	return err_set(err, rc, "%s: HTTP status %ld: %s", p->base, a.status, line);
}

/* --- one segment --- */

static uint64_t samples_of(const struct profile *p)
{
	uint64_t n = 0;

	vec_each (v, &p->values)
		if (value_is_samples(p, v))
			n += v->count;
	return n;
}

/* What is known of segments that are no longer there and lie within G in time. */
struct push_merged {
	uint64_t n_pushed, n_doubt;
};

static struct push_merged find_merged(const struct pusher *p, const struct manifest *m,
				      const struct push_segment *g)
{
	struct push_merged ret = {0};

	vec_each (k, &p->state.segments) {
		bool is_there = k->recording != g->recording || k->number == g->number ||
				k->start_ns < g->start_ns || k->end_ns > g->end_ns;

		vec_each (seg, &m->segments)
			is_there |= commit_segment_number(seg->name) == k->number;
		if (is_there)
			continue;
		ret.n_pushed += k->fate == PUSH_DONE ? k->n_samples : 0;
		ret.n_doubt += k->fate == PUSH_DOUBT ? k->n_samples : 0;
	}
	return ret;
}

/* Takes note of how the request of G ended, before which its fate was WAS. */
static int note_fate(struct push_item *it, struct push_segment *g, struct push_segment was, int rc,
		     uint64_t n_doubt, struct err *err)
{
	struct push_totals *t = it->p->totals;
	_mem_ char *text = NULL;

	if (rc >= 0) {
		g->fate = PUSH_DONE;
		t->n_segments++;
		t->n_samples += g->n_samples;
		t->n_repeated += n_doubt;
		if (!n_doubt)
			return 0;
		text = xasprintf(
			"pushed again after a push without an answer: the server may count "
			"%" PRIu64 " samples twice",
			n_doubt);
		push_notice(it, text);
		return 0;
	}
	if (rc == -EACCES || rc == -ECONNREFUSED || rc == -EAGAIN) {
		*g = was;
		return rc;
	}
	if (rc != -EREMOTEIO)
		return rc; /* in doubt */
	g->fate = PUSH_REFUSED;
	g->n_refused = was.n_refused + 1;
	t->n_refused++;
	text = xasprintf("%s%s", err->msg,
			 g->n_refused >= MOST_REFUSALS ? "; set aside: it is not tried again" : "");
	push_notice(it, text);
	return 0;
}

static int push_profile(struct push_item *it, struct profile *profile, struct push_segment *g,
			struct err *err)
{
	struct pusher *p = it->p;
	const struct push_segment was = *g;
	const struct push_merged merged = find_merged(p, it->manifest, g);
	const uint64_t n_doubt = merged.n_doubt + (was.fate == PUSH_DOUBT ? g->n_samples : 0);
	int rc, saved;

	if (merged.n_pushed) {
		_mem_ char *text = NULL;

		g->fate = PUSH_DONE;
		if (merged.n_pushed >= g->n_samples)
			return 0;
		p->totals->n_left_out += g->n_samples - merged.n_pushed;
		text = xasprintf("%" PRIu64 " of its %" PRIu64 " samples were pushed before it was "
				 "merged; the others are left out",
				 merged.n_pushed, g->n_samples);
		push_notice(it, text);
		return 0;
	}
	p->body.n = 0;
	rc = p->o->with_stacks(profile, p->resolver, make_body, it, err);
	if (rc < 0)
		return rc;
	if (p->body.n) {
		g->fate = PUSH_DOUBT;
		g->n_refused = 0;
		rc = push_state_save(&p->state, false, err);
		if (rc < 0)
			return rc;
		rc = note_fate(it, g, was, post_body(p, err), n_doubt, err);
	} else {
		g->fate = PUSH_DONE; /* nothing but losses, or samples of idle CPUs */
	}
	saved = push_state_save(&p->state, false, rc < 0 ? NULL : err);
	return rc < 0 ? rc : saved;
}

static int push_segment(struct push_item *it, const struct snapshot *snap, size_t i, size_t at,
			struct err *err)
{
	struct push_segment *g = &it->p->state.segments.v[at];
	struct profile p;
	int rc;

	profile_init(&p);
	rc = snapshot_load_segment(snap, i, &p, NULL, err);
	if (rc >= 0) {
		g->n_samples = samples_of(&p);
		rc = push_profile(it, &p, g, err);
	} else {
		push_notice(it, err->msg); /* damaged: the others go on */
		it->p->totals->n_refused++;
		rc = 0;
	}
	profile_release(&p);
	return rc;
}

/* The number in the state's list of segment SEG of RECORDING. */
static size_t find_entry(struct push_state *s, uint64_t recording,
			 const struct manifest_segment *seg)
{
	const uint64_t number = commit_segment_number(seg->name);
	struct push_segment *g = push_state_find(s, recording, number);

	if (!g) {
		vec_push(&s->segments, (struct push_segment){.recording = recording,
							     .number = number,
							     .start_ns = seg->start_wall_ns,
							     .end_ns = seg->end_wall_ns});
		g = &s->segments.v[s->segments.n - 1];
	}
	g->is_there = true;
	return (size_t)(g - s->segments.v);
}

static int push_snapshot(struct pusher *p, const char *epoch, const struct snapshot *snap,
			 struct err *err)
{
	const struct manifest *m = &snap->manifest;
	const uint64_t id = push_recording_id(epoch, m), now = clock_wall_ns();
	const bool grows = strcmp(m->state, STATE_RECORDING) == 0;
	int rc = 0;

	for (size_t i = 0; i < m->segments.n && rc >= 0; i++) {
		const struct manifest_segment *seg = &m->segments.v[i];
		const size_t at = find_entry(&p->state, id, seg);
		const struct push_segment *g = &p->state.segments.v[at];
		struct push_item it = {p, m, seg};

		if (g->fate == PUSH_DONE)
			continue;
		if (g->fate == PUSH_REFUSED && g->n_refused >= MOST_REFUSALS)
			p->totals->n_set_aside++;
		else if (grows && seg->start_wall_ns / MINUTE_NS == now / MINUTE_NS)
			p->totals->n_waiting++;
		else
			rc = push_segment(&it, snap, i, at, err);
	}
	return rc;
}

static int push_recording(void *ctx, int dirfd, const char *epoch, const char *host,
			  struct err *err)
{
	struct pusher *p = ctx;
	struct snapshot snap;
	struct err why = {0};
	int rc = snapshot_open(&snap, dirfd, &why);

	p->totals->n_recordings++;
	if (rc >= 0) {
		rc = push_snapshot(p, epoch, &snap, err);
		snapshot_close(&snap);
		return rc;
	}
	p->has_unread = true;
	p->totals->n_refused++;
	if (p->o->notice) {
		_mem_ char *line = xasprintf("%s/%s: %s", epoch, host, why.msg);

		p->o->notice(p->o->notice_ctx, line);
	}
	return 0;
}

/* --- */

static int open_pusher(struct pusher *p, const char *url, const struct fleet_login *login,
		       struct err *err)
{
	const struct push_opts *o = p->o;
	char *path;
	int rc = parse_push_url(p, url, err);

	if (rc >= 0)
		rc = http_open(&p->http, p->base, login, err);
	if (rc < 0)
		return rc;
	http_use_basic(p->http);
	http_add_header(p->http, "Content-Type",
			p->kind->packs ? "application/x-protobuf" : "application/proto");
	if (!p->kind->packs) /* Connect's protocol, "Unary-Request" */
		http_add_header(p->http, "Connect-Protocol-Version", "1");
	if (o->tenant)
		http_add_header(p->http, "X-Scope-OrgID", o->tenant);
	path = o->state ? xstrdup(o->state) : fleet_state_path(o->db, url, err);
	return path ? push_state_load(&p->state, path, err) : -EINVAL;
}

int fleet_push(const char *url, const struct fleet_login *login, const struct push_opts *o,
	       struct push_totals *ret, struct err *err)
{
	struct pusher p = {.o = o, .totals = ret};
	_mem_ char *images = store_images_dir(o->db, false, NULL);
	const struct resolver_opts ro = {.no_save = true, .cache_dir = images};
	int rc;

	*ret = (struct push_totals){0};
	rc = open_pusher(&p, url, login, err);
	if (rc >= 0) {
		p.resolver = resolver_new(&ro);
		rc = walk_recordings(o->db, push_recording, &p, err);
		/* A pass that ended early has not seen all recordings. */
		if (rc >= 0)
			rc = push_state_save(&p.state, !p.has_unread, err);
		ret->n_bytes = http_sent(p.http);
	}
	resolver_free(p.resolver);
	push_state_release(&p.state);
	http_close(p.http);
	wr_release(&p.body);
	free(p.base);
	free(p.where);
	return rc;
}
