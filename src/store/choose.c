/* SPDX-License-Identifier: BSD-2-Clause */
/* See choose.h.
 *
 * A database may hold years of hourly epochs.  Choosing among them reads the names of all of them,
 * in one directory, and opens only epochs that are chosen: a range or a beginning of names, or all
 * since some time, is told by names; each host's newest is told by its note (hosts.h).  Of a time
 * that samples are wanted since, each host's last epoch before it is looked at as well, since it
 * may go on behind it. */
#include "store/choose.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/lower_bound.h"
#include "base/str.h"
#include "store/hosts.h"
#include "store/job.h"
#include "store/snapshot.h"

void recording_list_release(recording_list *l)
{
	vec_each (r, l) {
		free(r->epoch);
		free(r->host);
	}
	vec_release(l);
}

struct chooser {
	int db_fd, epochs_fd;
	const struct store_selection *sel;
	name_list epochs; /* all there are, ascending */
	name_list hosts;  /* all there are, as far as notes tell */
	bool has_notes;
	char since[EPOCH_NAME_LEN + 1], until[EPOCH_NAME_LEN + 1]; /* "" for open */
	recording_list *ret;
};

static void choose_add(struct chooser *c, const char *epoch, const char *host)
{
	vec_push(c->ret, (struct recording_name){xstrdup(epoch), xstrdup(host)});
}

/* --- hosts --- */

static bool host_wanted(const struct chooser *c, const char *host)
{
	return !c->sel->host || strcmp(c->sel->host, host) == 0 ||
	       fnmatch(c->sel->host, host, 0) == 0;
}

/* The hosts wanted of EPOCH that have recordings there. */
static void hosts_of(const struct chooser *c, const char *epoch, name_list *ret)
{
	_fd_ int fd = db_open_dir(c->epochs_fd, epoch, false, NULL);
	name_list hosts = {0};

	if (fd >= 0)
		db_names(fd, host_name_valid, &hosts, NULL);
	vec_each (h, &hosts) {
		char path[256 + sizeof(MANIFEST_NAME) + 1];

		snprintf(path, sizeof(path), "%s/" MANIFEST_NAME, *h);
		if (host_wanted(c, *h) && faccessat(fd, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			vec_push(ret, xstrdup(*h));
	}
	name_list_release(&hosts);
}

static bool is_there(const struct chooser *c, const char *epoch, const char *host)
{
	char path[EPOCH_NAME_LEN + 256 + sizeof(MANIFEST_NAME) + 2];

	snprintf(path, sizeof(path), "%s/%s/" MANIFEST_NAME, epoch, host);
	return faccessat(c->epochs_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A note that cannot be read leaves all epochs to be looked at. */
static void read_note(const struct chooser *c, const char *host, struct host_note *ret)
{
	if (host_note_read(c->db_fd, host, ret) < 0)
		memcpy(ret->newest, "99999999999999", sizeof(ret->newest));
}

/* --- times --- */

/* How many of the epochs are before NAME. */
static size_t n_before(const struct chooser *c, const char *name)
{
	return lower_bound(k, 0, c->epochs.n, strcmp(c->epochs.v[k], name) < 0);
}

/* Whether the recording, which began before the time samples are wanted
 * since, went on behind it. */
static bool goes_on(const struct chooser *c, const char *epoch, const char *host)
{
	_fd_ int fd = db_open_dir(c->epochs_fd, epoch, false, NULL), dir = -1;
	struct manifest m;
	bool on;

	dir = fd < 0 ? -1 : db_open_dir(fd, host, false, NULL);
	/* One that cannot be read is somebody else's to report. */
	if (dir < 0 || snapshot_manifest(dir, &m, NULL) < 0)
		return dir >= 0;
	on = strcmp(m.state, STATE_RECORDING) == 0;
	vec_each (seg, &m.segments)
		on |= seg->end_wall_ns >= c->sel->since_wall_ns;
	manifest_release(&m);
	return on;
}

static bool in_time(const struct chooser *c, const char *epoch, const char *host)
{
	if (*c->until && strcmp(epoch, c->until) > 0)
		return false;
	return !*c->since || strcmp(epoch, c->since) >= 0 || goes_on(c, epoch, host);
}

/* Adds, of each host that has none yet in HOSTS, its last recording before the first N epochs end
 * that goes on behind that time. */
static void add_before(struct chooser *c, size_t n)
{
	name_list left = {0}; /* hosts still to be found */
	size_t n_left = 0;

	vec_each (h, &c->hosts) {
		struct host_note note = {0};

		if (!host_wanted(c, *h))
			continue;
		read_note(c, *h, &note);
		if (strcmp(note.newest, c->since) >= 0 || !is_there(c, note.newest, *h)) {
			vec_push(&left, xstrdup(*h));
			n_left++;
		} else if (in_time(c, note.newest, *h)) {
			choose_add(c, note.newest, *h);
		}
		host_note_release(&note);
	}
	while (n-- > 0 && (n_left || !c->has_notes)) {
		name_list hosts = {0};

		hosts_of(c, c->epochs.v[n], &hosts);
		vec_each (h, &hosts) {
			char **at = NULL;

			vec_each (l, &left)
				at = *l && strcmp(*l, *h) == 0 ? l : at;
			if (c->has_notes && !at)
				continue;
			if (in_time(c, c->epochs.v[n], *h))
				choose_add(c, c->epochs.v[n], *h);
			if (at) {
				free(*at);
				*at = NULL;
				n_left--;
			}
		}
		name_list_release(&hosts);
	}
	name_list_release(&left);
}

/* --- terms --- */

/* DCPI calls an epoch YYMMDDHHMM, which is the beginning of no name YYYYMMDD... */
#define DCPI_NAME_LEN 10

/* Where epoch NAME is compared with END of N characters, an end of a range: behind its century when
 * END is one of DCPI's names.  Ten characters that begin with 19, 20 or 21 are a year's. */
static const char *comparable(const char *name, const char *end, size_t n)
{
	if (n != DCPI_NAME_LEN || (memcmp(end, "19", 2) >= 0 && memcmp(end, "21", 2) <= 0))
		return name;
	return name + 2;
}

/* Is NAME within [FROM, TO], both beginnings of names of N_FROM and N_TO
 * characters, "" for open? */
static bool in_range(const char *name, const char *from, size_t n_from, const char *to, size_t n_to)
{
	return strncmp(comparable(name, from, n_from), from, n_from) >= 0 &&
	       strncmp(comparable(name, to, n_to), to, n_to) <= 0;
}

/* Does TERM of N characters, which is neither "latest" nor "all", mean epoch NAME? */
static bool term_matches(const char *term, size_t n, const char *name)
{
	const char *dots = memmem(term, n, "..", 2);

	if (!dots)
		return (n && n <= EPOCH_NAME_LEN && strncmp(name, term, n) == 0) ||
		       (n == DCPI_NAME_LEN && strncmp(name + 2, term, n) == 0);
	return in_range(name, term, (size_t)(dots - term), dots + 2, n - (size_t)(dots + 2 - term));
}

static bool is_term(const char *term, size_t n, const char *word)
{
	return strlen(word) == n && memcmp(term, word, n) == 0;
}

/* Whether a term of EPOCHS other than "latest" means epoch NAME; NULL: whether "latest" is one. */
static bool terms_match(const char *epochs, const char *name)
{
	size_t n;

	for (const char *t = epochs;; t += n + 1) {
		n = strcspn(t, ",");
		if (is_term(t, n, "latest")) {
			if (!name)
				return true;
		} else if (name && (is_term(t, n, "all") || term_matches(t, n, name))) {
			return true;
		}
		if (!t[n])
			return false;
	}
}

/* Adds each host's newest recording: what its note says, or when that one was removed, the last
 * before it. */
static void add_latest(struct chooser *c)
{
	vec_each (h, &c->hosts) {
		struct host_note note = {0};
		size_t n;

		if (!host_wanted(c, *h))
			continue;
		read_note(c, *h, &note);
		n = n_before(c, note.newest);
		n += n < c->epochs.n && strcmp(c->epochs.v[n], note.newest) == 0;
		while (n > 0 && !is_there(c, c->epochs.v[n - 1], *h))
			n--;
		if (n > 0 && in_time(c, c->epochs.v[n - 1], *h))
			choose_add(c, c->epochs.v[n - 1], *h);
		host_note_release(&note);
	}
}

/* Adds each host's latest epoch in a database without notes: it looks at all epochs. */
static void add_latest_by_looking(struct chooser *c)
{
	name_list found = {0};

	for (size_t i = c->epochs.n; i-- > 0;) {
		name_list hosts = {0};

		hosts_of(c, c->epochs.v[i], &hosts);
		vec_each (h, &hosts) {
			bool again = false;

			vec_each (f, &found)
				again |= strcmp(*f, *h) == 0;
			if (again)
				continue;
			vec_push(&found, xstrdup(*h));
			if (in_time(c, c->epochs.v[i], *h))
				choose_add(c, c->epochs.v[i], *h);
		}
		name_list_release(&hosts);
	}
	name_list_release(&found);
}

static int by_epoch_and_host(const void *a, const void *b)
{
	const struct recording_name *x = a, *y = b;
	int d = strcmp(x->epoch, y->epoch);

	return d ? d : strcmp(x->host, y->host);
}

/* Sorts, and removes what several terms meant. */
static void put_in_order(recording_list *l)
{
	size_t n = 0;

	vec_sort(l, by_epoch_and_host);
	for (size_t i = 0; i < l->n; i++) {
		if (n && by_epoch_and_host(&l->v[n - 1], &l->v[i]) == 0) {
			free(l->v[i].epoch);
			free(l->v[i].host);
		} else {
			l->v[n++] = l->v[i];
		}
	}
	l->n = n;
}

/* Adds what the terms of EPOCHS mean. */
static void add_named(struct chooser *c, const char *epochs)
{
	const bool all = strcmp(epochs, "all") == 0;
	const size_t first = *c->since ? n_before(c, c->since) : 0;

	for (size_t i = all ? first : 0; i < c->epochs.n; i++) {
		name_list hosts = {0};

		if (*c->until && strcmp(c->epochs.v[i], c->until) > 0)
			break;
		if (!terms_match(epochs, c->epochs.v[i]))
			continue;
		hosts_of(c, c->epochs.v[i], &hosts);
		vec_each (h, &hosts)
			if (in_time(c, c->epochs.v[i], *h))
				choose_add(c, c->epochs.v[i], *h);
		name_list_release(&hosts);
	}
	if (all && *c->since)
		add_before(c, first);
	if (!terms_match(epochs, NULL))
		return;
	if (c->has_notes)
		add_latest(c);
	else
		add_latest_by_looking(c);
}

/* Keeps of the recordings chosen, each host's newest, only the newest of all when it is of a job,
 * and adds the others of that job.  Looks at no more than JOB_MOST_BETWEEN recordings behind one
 * another that are not of it. */
static void add_job(struct chooser *c)
{
	recording_list *l = c->ret;
	size_t i = c->epochs.n, left = JOB_MOST_BETWEEN;
	char *job;

	put_in_order(l);
	if (!l->n)
		return;
	job = job_of(c->epochs_fd, l->v[l->n - 1].epoch, l->v[l->n - 1].host);
	if (*job)
		recording_list_release(l);
	for (; *job && i-- > 0 && left-- > 0;) {
		name_list hosts = {0};

		hosts_of(c, c->epochs.v[i], &hosts);
		vec_each (h, &hosts) {
			_mem_ char *other = job_of(c->epochs_fd, c->epochs.v[i], *h);

			if (strcmp(other, job) != 0)
				continue;
			choose_add(c, c->epochs.v[i], *h);
			left = JOB_MOST_BETWEEN;
		}
		name_list_release(&hosts);
		/* A series says which epoch is its first. */
		if (str_starts(job, "series:") && str_ends(job, c->epochs.v[i]))
			break;
	}
	free(job);
}

/* All recordings there are; where there are very many, one is taken for each epoch. */
static size_t count_all(const struct chooser *c)
{
	size_t n = 0;

	if (c->epochs.n > 256)
		return c->epochs.n;
	vec_each (e, &c->epochs) {
		name_list hosts = {0};

		hosts_of(c, *e, &hosts);
		n += hosts.n;
		name_list_release(&hosts);
	}
	return n;
}

int choose_recordings(int db_fd, int epochs_fd, const struct store_selection *sel,
		      recording_list *ret, struct err *err)
{
	struct chooser c = {.db_fd = db_fd, .epochs_fd = epochs_fd, .sel = sel, .ret = ret};
	const bool timed = sel->since_wall_ns || sel->until_wall_ns;
	int rc = db_names(epochs_fd, epoch_name_valid, &c.epochs, err);

	if (rc >= 0) {
		c.has_notes = host_notes_list(db_fd, &c.hosts) >= 0;
		if (sel->since_wall_ns)
			epoch_name_of(sel->since_wall_ns, c.since);
		if (sel->until_wall_ns)
			epoch_name_of(sel->until_wall_ns, c.until);
		add_named(&c, sel->epochs ? sel->epochs : timed ? "all" : "latest");
		if (!sel->epochs && !timed) {
			add_job(&c);
			if (sel->left_out && ret->n && count_all(&c) > ret->n)
				sel->left_out(sel->note_ctx, ret->n, count_all(&c));
		}
		put_in_order(ret);
	}
	name_list_release(&c.hosts);
	name_list_release(&c.epochs);
	return rc;
}
