/* SPDX-License-Identifier: BSD-2-Clause */
/* See pinned.h.
 *
 * The arrays and the note are pinned before the links, and the links before the events are enabled:
 * a directory without a whole set of arrays has never sampled.  A perf link holds its perf event
 * (kernel/bpf/syscall.c, bpf_perf_link_attach), so the event counts as long as the link is pinned.
 * To stop it a descriptor of the link is had, the file is unlinked, and the descriptor closed: that
 * drops the last reference in this very call, while unlinking alone leaves it to a worker. */
#include "collect/pinned.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"

#define BASE_NAME 40
#define NOTE_HEAD "dwell-log 1"

static const char *const arrays[] = {"slots", "cpus", "spill"};

/* --- the note --- */

void pinned_note_format(const struct pinned_note *n, char ret[PINNED_NOTE_BYTES])
{
	_str_ struct str s = {0};

	str_addf(&s, NOTE_HEAD " %u\n", n->calls);
	for (uint32_t i = 0; i < n->n_events; i++)
		str_addf(&s, "%" PRIu64 " %" PRIu64 " %s %s\n", n->events[i].period,
			 n->events[i].freq_hz, *n->events[i].unit ? n->events[i].unit : "-",
			 n->events[i].name);
	memset(ret, 0, PINNED_NOTE_BYTES);
	memcpy(ret, s.v, s.n < PINNED_NOTE_BYTES ? s.n : PINNED_NOTE_BYTES - 1);
}

/* Takes one line of at most MAX - 1 characters. */
static bool take_line(const char **at, const char *end, char *ret, size_t max)
{
	const char *nl = memchr(*at, '\n', (size_t)(end - *at));
	size_t n = nl ? (size_t)(nl - *at) : 0;

	if (!nl || n >= max || memchr(*at, '\0', n))
		return false;
	memcpy(ret, *at, n);
	ret[n] = '\0';
	*at = nl + 1;
	return true;
}

static bool parse_event(const char *line, struct pinned_event *e)
{
	int name = 0;

	*e = (struct pinned_event){0};
	if (sscanf(line, "%" SCNu64 " %" SCNu64 " %15s %n", &e->period, &e->freq_hz, e->unit,
		   &name) != 3 ||
	    !name || !line[name] || strlen(line + name) >= sizeof(e->name) || !e->period)
		return false;
	if (strcmp(e->unit, "-") == 0)
		*e->unit = '\0';
	memcpy(e->name, line + name, strlen(line + name) + 1);
	return true;
}

int pinned_note_parse(const char *text, size_t n_bytes, struct pinned_note *ret, struct err *err)
{
	const char *at = text, *end = text + n_bytes;
	char line[256];

	*ret = (struct pinned_note){0};
	if (!take_line(&at, end, line, sizeof(line)) || !str_starts(line, "dwell-log "))
		return err_set(err, -EBADMSG, "not a log of dwell");
	ret->calls = strcmp(line, NOTE_HEAD " 1") == 0;
	if (!ret->calls && strcmp(line, NOTE_HEAD " 0") != 0)
		return err_set(err, -EPROTONOSUPPORT, "a log of another version of dwell");
	while (at < end && *at) {
		if (ret->n_events == LOG_MAX_EVENTS || !take_line(&at, end, line, sizeof(line)) ||
		    !parse_event(line, &ret->events[ret->n_events]))
			return err_set(err, -EBADMSG, "malformed event %u", ret->n_events);
		ret->n_events++;
	}
	return ret->n_events ? 0 : err_set(err, -EBADMSG, "no events");
}

/* --- directories --- */

struct log_name {
	char v[17];
};

static struct log_name name_of(uint64_t number)
{
	struct log_name n;

	snprintf(n.v, sizeof(n.v), "%016" PRIx64, number);
	return n;
}

static int get_text(const struct pin_dir *dir, const char *name, char **ret, size_t *ret_n);

/* Databases are known by device and inode, so that a moved one finds its logs. */
static void base_name(const struct stat *st, char ret[BASE_NAME])
{
	snprintf(ret, BASE_NAME, "%llx-%llx", (unsigned long long)st->st_dev,
		 (unsigned long long)st->st_ino);
}

/* When the directory PATH was made, as text; "" when its file system does not tell. */
static void birth_of(const char *path, char ret[40])
{
	struct statx st;

	*ret = '\0';
	if (statx(AT_FDCWD, path, 0, STATX_BTIME, &st) == 0 && st.stx_mask & STATX_BTIME)
		snprintf(ret, 40, "%lld.%09u", (long long)st.stx_btime.tv_sec,
			 st.stx_btime.tv_nsec);
}

/* Was BASE made for another directory than DB, which had its inode before? */
static bool is_stale(const struct pin_dir *base, const char *db)
{
	_mem_ char *then = NULL;
	char now[40];
	size_t n;

	birth_of(db, now);
	return *now && get_text(base, "born", &then, &n) >= 0 && strcmp(then, now) != 0;
}

/* Removes what BASE has of a database that is gone. */
static void forget_logs(const struct pin_dir *base)
{
	pinned_list logs = {0};

	if (flock(base->fd, LOCK_EX | LOCK_NB) < 0)
		return;
	pinned_find(base, 0, &logs);
	vec_each (number, &logs)
		pinned_remove(base, *number, NULL);
	vec_release(&logs);
	flock(base->fd, LOCK_UN);
}

int pinned_base_open(const struct pin_dir *fs, const char *db, bool make, struct pin_dir *ret,
		     struct err *err)
{
	struct pin_dir dwell = PIN_DIR_NONE;
	struct stat st;
	char name[BASE_NAME];
	int rc;

	if (stat(db, &st) < 0)
		return err_errno(err, -errno, "%s", db);
	base_name(&st, name);
	rc = pin_dir_open(fs, "dwell", make, &dwell, err);
	if (rc >= 0)
		rc = pin_dir_open(&dwell, name, make, ret, err);
	if (rc >= 0 && is_stale(ret, db))
		forget_logs(ret);
	pin_dir_close(&dwell);
	return rc;
}

static int log_dir(const struct pin_dir *base, uint64_t number, bool make, struct pin_dir *ret,
		   struct err *err)
{
	return pin_dir_open(base, name_of(number).v, make, ret, err);
}

struct search {
	uint64_t except;
	pinned_list *found;
};

static int note_log(void *ctx, const struct pin_dir *d, const char *name)
{
	const struct search *s = ctx;
	uint64_t number;

	if (strlen(name) == 16 && str_parse_u64(name, 16, &number) >= 0 && number != s->except)
		vec_push(s->found, number);
	return 0;
}

void pinned_find(const struct pin_dir *base, uint64_t except, pinned_list *ret)
{
	pin_dir_each(base, note_log, &(struct search){except, ret});
}

void pinned_base_remove(const struct pin_dir *fs, const struct pin_dir *base)
{
	struct pin_dir dwell = PIN_DIR_NONE;
	pinned_list logs = {0};
	bool any;

	pinned_find(base, 0, &logs);
	any = logs.n;
	vec_release(&logs);
	if (any)
		return;
	pin_dir_unlink(base, "live");
	pin_dir_unlink(base, "db");
	pin_dir_unlink(base, "born");
	if (pin_dir_open(fs, "dwell", false, &dwell, NULL) < 0)
		return;
	pin_dir_rmdir(&dwell, strrchr(base->path, '/') + 1);
	pin_dir_close(&dwell);
}

/* --- making --- */

static int pin(int fd, const struct pin_dir *dir, const char *name, struct err *err)
{
	int rc = pin_dir_put(dir, name, fd);

	return rc < 0 ? err_errno(err, rc, "cannot pin %s/%s", dir->path, name) : 0;
}

static int pin_note(const struct pinned_note *note, const struct pin_dir *dir, struct err *err)
{
	_fd_ int fd =
		bpf_map_create(BPF_MAP_TYPE_ARRAY, "dwell_note", 4, PINNED_NOTE_BYTES, 1, NULL);
	char text[PINNED_NOTE_BYTES];
	uint32_t zero = 0;

	pinned_note_format(note, text);
	if (fd < 0 || bpf_map_update_elem(fd, &zero, text, 0) < 0)
		return err_errno(err, -errno, "cannot make the note of a log");
	return pin(fd, dir, "note", err);
}

int pinned_make(struct log *l, const struct pinned_note *note, const struct image_ids *ids,
		const struct pin_dir *base, uint64_t number, struct err *err)
{
	struct pin_dir dir = PIN_DIR_NONE;
	struct log_fds fds = log_fds(l);
	const int maps[] = {fds.slots, fds.cpus, fds.spill};
	const int chains[] = {fds.chain_words, fds.chain_cpus, fds.slot_chains, ids->fd};
	int rc = log_dir(base, number, true, &dir, err);

	for (size_t i = 0; i < n_elems(arrays) && rc >= 0; i++)
		rc = pin(maps[i], &dir, arrays[i], err);
	for (size_t i = 0; i < N_OLD_ARRAYS && ids->v && rc >= 0; i++)
		rc = pin(chains[i], &dir, old_chain_arrays[i], err);
	if (rc >= 0 && fds.live >= 0)
		rc = pin(fds.live, &dir, "live", err);
	if (rc >= 0)
		rc = pin_note(note, &dir, err);
	for (size_t i = 0; i < fds.n_links && rc >= 0; i++) {
		char name[32];

		snprintf(name, sizeof(name), "link-%zu", i);
		rc = pin(fds.links[i], &dir, name, err);
	}
	if (rc >= 0 && !fds.n_links)
		rc = err_set(err, -EOPNOTSUPP, "this kernel has no links of perf events");
	pin_dir_close(&dir);
	if (rc < 0)
		pinned_remove(base, number, NULL);
	return rc;
}

/* --- which log samples --- */

static uint32_t map_id(int fd)
{
	struct bpf_map_info info = {0};
	uint32_t n = sizeof(info);

	return fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &n) == 0 ? info.id : 0;
}

int pinned_live(const struct pin_dir *base, struct err *err)
{
	_fd_ int fd = pin_dir_get(base, "live");
	int rc;

	if (fd >= 0 || fd != -ENOENT)
		return fd < 0 ? err_errno(err, fd, "%s/live", base->path) : take_fd(&fd);
	rc = fd = log_make_live(err);
	if (rc >= 0)
		rc = pin(fd, base, "live", err);
	return rc < 0 ? rc : take_fd(&fd);
}

bool pinned_takes_turns(const struct pin_dir *base, uint64_t number, int live_fd)
{
	struct pin_dir dir = PIN_DIR_NONE;
	_fd_ int fd = -1;
	uint32_t id;

	if (log_dir(base, number, false, &dir, NULL) < 0)
		return false;
	fd = pin_dir_get(&dir, "live");
	pin_dir_close(&dir);
	id = map_id(fd);
	return id && id == map_id(live_fd);
}

/* --- taking over --- */

static int get_array(const struct pin_dir *dir, const char *name, struct err *err)
{
	int fd = pin_dir_get(dir, name);

	return fd < 0 ? err_errno(err, fd, "%s/%s", dir->path, name) : fd;
}

static int read_note(const struct pin_dir *dir, struct pinned_note *ret, struct err *err)
{
	_fd_ int fd = get_array(dir, "note", err);
	char text[PINNED_NOTE_BYTES];
	struct bpf_map_info info = {0};
	uint32_t n = sizeof(info), zero = 0;

	if (fd < 0)
		return fd;
	if (bpf_obj_get_info_by_fd(fd, &info, &n) < 0 || info.value_size != sizeof(text) ||
	    bpf_map_lookup_elem(fd, &zero, text) < 0)
		return err_set(err, -EBADMSG, "%s/note: not a note of dwell", dir->path);
	return pinned_note_parse(text, sizeof(text), ret, err);
}

/* The call paths beside LOG; NULL when there are none. */
static struct old_chains *open_chains(const struct pin_dir *dir, const struct log *log)
{
	struct old_chains *o = NULL;
	int fds[N_OLD_ARRAYS];

	for (size_t i = 0; i < N_OLD_ARRAYS; i++)
		fds[i] = pin_dir_get(dir, old_chain_arrays[i]);
	old_chains_open(fds, log, &o, NULL);
	for (size_t i = 0; i < N_OLD_ARRAYS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return o;
}

int pinned_open(const struct pin_dir *base, uint64_t number, struct log **ret,
		struct old_chains **ret_chains, struct pinned_note *ret_note, struct err *err)
{
	struct pin_dir dir = PIN_DIR_NONE;
	int fds[3] = {-1, -1, -1}, rc = log_dir(base, number, false, &dir, err);

	for (size_t i = 0; i < n_elems(arrays) && rc >= 0; i++)
		rc = fds[i] = get_array(&dir, arrays[i], err);
	if (rc >= 0)
		rc = read_note(&dir, ret_note, err);
	if (rc >= 0)
		rc = log_open_arrays(fds[0], fds[1], fds[2], ret, err);
	if (rc >= 0 && ret_chains)
		*ret_chains = open_chains(&dir, *ret);
	for (size_t i = 0; i < n_elems(arrays); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	pin_dir_close(&dir);
	return rc < 0 ? rc : 0;
}

/* --- texts --- */

/* A map's value cannot change its size, and a text that is half written would be read after a
 * death: so each text is a new map, which takes the place of the old one. */
static int put_text(const struct pin_dir *dir, const char *name, const char *text, size_t n)
{
	_mem_ char *new = xasprintf("%s-new", name), *copy = NULL;
	const uint32_t n_value = (uint32_t)(n < PINNED_MOST_LABELS ? n : PINNED_MOST_LABELS) + 1;
	_fd_ int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "dwell_text", 4, n_value, 1, NULL);
	uint32_t zero = 0;
	int rc;

	copy = xcalloc(1, n_value); /* up to a NUL */
	memcpy(copy, text, n_value - 1);
	if (fd < 0 || bpf_map_update_elem(fd, &zero, copy, 0) < 0)
		return -errno;
	pin_dir_unlink(dir, new);
	rc = pin_dir_put(dir, new, fd);
	return rc < 0 ? rc : pin_dir_rename(dir, new, name);
}

static int get_text(const struct pin_dir *dir, const char *name, char **ret, size_t *ret_n)
{
	_fd_ int fd = pin_dir_get(dir, name);
	_mem_ char *text = NULL;
	struct bpf_map_info info = {0};
	uint32_t n = sizeof(info), zero = 0;

	if (fd < 0)
		return fd;
	if (bpf_obj_get_info_by_fd(fd, &info, &n) < 0 || info.type != BPF_MAP_TYPE_ARRAY ||
	    info.key_size != 4 || info.max_entries != 1 || !info.value_size ||
	    info.value_size > PINNED_MOST_LABELS + 1)
		return -EBADMSG;
	text = xcalloc(1, info.value_size + 8); /* the kernel rounds up to eight */
	if (bpf_map_lookup_elem(fd, &zero, text) < 0)
		return -errno;
	*ret_n = strnlen(text, info.value_size);
	*ret = take_ptr(&text);
	return 0;
}

int pinned_put_labels(const struct pin_dir *base, uint64_t number, const char *text, size_t n,
		      struct err *err)
{
	struct pin_dir dir = PIN_DIR_NONE;
	int rc = log_dir(base, number, false, &dir, err);

	if (rc < 0)
		return rc;
	rc = put_text(&dir, "labels", text, n);
	if (rc < 0)
		err_errno(err, rc, "cannot keep labels in %s", dir.path);
	pin_dir_close(&dir);
	return rc;
}

int pinned_get_labels(const struct pin_dir *base, uint64_t number, char **ret, size_t *ret_n)
{
	struct pin_dir dir = PIN_DIR_NONE;
	int rc = log_dir(base, number, false, &dir, NULL);

	if (rc >= 0)
		rc = get_text(&dir, "labels", ret, ret_n);
	pin_dir_close(&dir);
	return rc;
}

/* --- ending --- */

static int drop_link(void *ctx, const struct pin_dir *d, const char *name)
{
	_fd_ int fd = -1;

	if (!str_starts(name, "link-"))
		return 0;
	fd = pin_dir_get(d, name);
	return pin_dir_unlink(d, name);
}

int pinned_stop(const struct pin_dir *base, uint64_t number, struct err *err)
{
	struct pin_dir dir = PIN_DIR_NONE;
	int rc = log_dir(base, number, false, &dir, err);

	if (rc < 0)
		return rc;
	rc = pin_dir_each(&dir, drop_link, NULL);
	if (rc < 0)
		err_errno(err, rc, "cannot stop the sampling of %s", dir.path);
	pin_dir_close(&dir);
	return rc < 0 ? rc : 0;
}

static int drop_file(void *ctx, const struct pin_dir *d, const char *name)
{
	return pin_dir_unlink(d, name);
}

int pinned_remove(const struct pin_dir *base, uint64_t number, struct err *err)
{
	struct pin_dir dir = PIN_DIR_NONE;
	int rc = log_dir(base, number, false, &dir, err);

	if (rc == -ENOENT)
		return 0;
	if (rc < 0)
		return rc;
	rc = pin_dir_each(&dir, drop_link, NULL);
	if (rc >= 0)
		rc = pin_dir_each(&dir, drop_file, NULL);
	if (rc >= 0)
		rc = pin_dir_rmdir(base, name_of(number).v);
	if (rc < 0)
		err_errno(err, rc, "cannot remove %s", dir.path);
	pin_dir_close(&dir);
	return rc < 0 ? rc : 0;
}

/* --- whose logs there are --- */

int pinned_base_hold(const struct pin_dir *base, const char *db, struct err *err)
{
	_mem_ char *path = realpath(db, NULL);
	char born[40];
	int rc;

	if (flock(base->fd, LOCK_EX | LOCK_NB) < 0)
		return err_set(err, -EBUSY, "%s is held by another process", base->path);
	if (!path)
		return err_errno(err, -errno, "%s", db);
	birth_of(db, born);
	rc = put_text(base, "born", born, strlen(born));
	if (rc >= 0)
		rc = put_text(base, "db", path, strlen(path));
	return rc < 0 ? err_errno(err, rc, "%s/db", base->path) : 0;
}

static int add_home(void *ctx, const struct pin_dir *d, const char *name)
{
	struct pinned_home h = {.base = PIN_DIR_NONE};
	char now[BASE_NAME] = "";
	struct stat st;
	size_t n;

	if (pin_dir_open(d, name, false, &h.base, NULL) < 0)
		return 0; /* not ours: left alone */
	if (get_text(&h.base, "db", &h.db, &n) < 0)
		h.db = xstrdup("");
	if (*h.db && stat(h.db, &st) >= 0)
		base_name(&st, now);
	h.there = strcmp(now, name) == 0 && !is_stale(&h.base, h.db);
	h.held = flock(h.base.fd, LOCK_EX | LOCK_NB) < 0;
	vec_push((pinned_homes *)ctx, h);
	return 0;
}

void pinned_find_homes(const struct pin_dir *fs, pinned_homes *ret)
{
	struct pin_dir dwell = PIN_DIR_NONE;

	if (pin_dir_open(fs, "dwell", false, &dwell, NULL) < 0)
		return;
	pin_dir_each(&dwell, add_home, ret);
	pin_dir_close(&dwell);
}

bool pinned_is_stale(const struct pinned_home *h, const char *path)
{
	return is_stale(&h->base, path);
}

void pinned_homes_release(pinned_homes *homes)
{
	vec_each (h, homes) {
		pin_dir_close(&h->base);
		free(h->db);
	}
	vec_release(homes);
}
