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
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"

#define NOTE_HEAD "dwell-log 1"

static const char *const arrays[] = {"slots", "cpus", "spill"};

/* --- the note --- */

void pinned_note_format(const struct pinned_note *n, char ret[PINNED_NOTE_BYTES])
{
	struct str s = {0};

	str_addf(&s, NOTE_HEAD " %u\n", n->calls);
	for (uint32_t i = 0; i < n->n_events; i++)
		str_addf(&s, "%" PRIu64 " %" PRIu64 " %s %s\n", n->events[i].period,
			 n->events[i].freq_hz, *n->events[i].unit ? n->events[i].unit : "-",
			 n->events[i].name);
	memset(ret, 0, PINNED_NOTE_BYTES);
	memcpy(ret, s.v, s.n < PINNED_NOTE_BYTES ? s.n : PINNED_NOTE_BYTES - 1);
	str_release(&s);
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
	strcpy(e->name, line + name);
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

char *pinned_base(const char *fs, const char *db)
{
	struct stat st = {0};

	stat(db, &st);
	return xasprintf("%s/dwell/%llx-%llx", fs, (unsigned long long)st.st_dev,
			 (unsigned long long)st.st_ino);
}

static char *dir_of(const char *base, uint64_t number)
{
	return xasprintf("%s/%016" PRIx64, base, number);
}

int pinned_check(const char *fs, struct err *err)
{
	struct statfs st;

	if (statfs(fs, &st) < 0)
		return err_errno(err, -errno, "%s", fs);
	if (st.f_type != BPF_FS_MAGIC)
		return err_set(err, -EOPNOTSUPP,
			       "%s is no BPF file system (mount -t bpf bpf %s makes it one)", fs,
			       fs);
	if (access(fs, W_OK) < 0)
		return err_errno(err, -errno, "%s", fs);
	return 0;
}

static int make_dirs(const char *base, const char *dir, struct err *err)
{
	_mem_ char *parent = xasprintf("%.*s", (int)(strrchr(base, '/') - base), base);
	const char *const all[] = {parent, base, dir};

	for (size_t i = 0; i < n_elems(all); i++)
		if (mkdir(all[i], 0700) < 0 && errno != EEXIST)
			return err_errno(err, -errno, "%s: mkdir", all[i]);
	return 0;
}

/* Calls FN for each file of DIR until it fails. */
static int each_file(const char *dir, int (*fn)(const char *path, const char *name))
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int rc = d ? 0 : -errno;

	while (d && rc >= 0 && (e = readdir(d))) {
		_mem_ char *path = NULL;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		path = xasprintf("%s/%s", dir, e->d_name);
		rc = fn(path, e->d_name);
	}
	if (d)
		closedir(d);
	return rc;
}

void pinned_find(const char *base, uint64_t except, pinned_list *ret)
{
	DIR *d = opendir(base);
	struct dirent *e;
	uint64_t number;

	while (d && (e = readdir(d)))
		if (strlen(e->d_name) == 16 && str_parse_u64(e->d_name, 16, &number) == 0 &&
		    number != except)
			vec_push(ret, number);
	if (d)
		closedir(d);
}

/* --- making --- */

static int pin(int fd, const char *dir, const char *name, struct err *err)
{
	_mem_ char *path = xasprintf("%s/%s", dir, name);

	return bpf_obj_pin(fd, path) < 0 ? err_errno(err, -errno, "cannot pin %s", path) : 0;
}

static int pin_note(const struct pinned_note *note, const char *dir, struct err *err)
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
		const char *base, uint64_t number, struct err *err)
{
	_mem_ char *dir = dir_of(base, number);
	struct log_fds fds = log_fds(l);
	const int maps[] = {fds.slots, fds.cpus, fds.spill};
	const int chains[] = {fds.chain_words, fds.chain_cpus, fds.slot_chains, ids->fd};
	int rc = make_dirs(base, dir, err);

	for (size_t i = 0; i < n_elems(arrays) && rc >= 0; i++)
		rc = pin(maps[i], dir, arrays[i], err);
	for (size_t i = 0; i < N_OLD_ARRAYS && ids->v && rc >= 0; i++)
		rc = pin(chains[i], dir, old_chain_arrays[i], err);
	if (rc >= 0)
		rc = pin_note(note, dir, err);
	for (size_t i = 0; i < fds.n_links && rc >= 0; i++) {
		char name[32];

		snprintf(name, sizeof(name), "link-%zu", i);
		rc = pin(fds.links[i], dir, name, err);
	}
	if (rc >= 0 && !fds.n_links)
		rc = err_set(err, -EOPNOTSUPP, "this kernel has no links of perf events");
	if (rc < 0)
		pinned_remove(base, number, NULL);
	return rc;
}

/* --- taking over --- */

static int read_note(const char *dir, struct pinned_note *ret, struct err *err)
{
	_mem_ char *path = xasprintf("%s/note", dir);
	_fd_ int fd = bpf_obj_get(path);
	char text[PINNED_NOTE_BYTES];
	struct bpf_map_info info = {0};
	uint32_t n = sizeof(info), zero = 0;

	if (fd < 0)
		return err_errno(err, -errno, "%s", path);
	if (bpf_obj_get_info_by_fd(fd, &info, &n) < 0 || info.value_size != sizeof(text) ||
	    bpf_map_lookup_elem(fd, &zero, text) < 0)
		return err_set(err, -EBADMSG, "%s: not a note of dwell", path);
	return pinned_note_parse(text, sizeof(text), ret, err);
}

/* The call paths beside LOG; NULL when there are none. */
static struct old_chains *open_chains(const char *dir, const struct log *log)
{
	struct old_chains *o = NULL;
	int fds[N_OLD_ARRAYS];

	for (size_t i = 0; i < N_OLD_ARRAYS; i++) {
		_mem_ char *path = xasprintf("%s/%s", dir, old_chain_arrays[i]);

		fds[i] = bpf_obj_get(path);
	}
	old_chains_open(fds, log, &o, NULL);
	for (size_t i = 0; i < N_OLD_ARRAYS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return o;
}

int pinned_open(const char *base, uint64_t number, struct log **ret, struct old_chains **ret_chains,
		struct pinned_note *ret_note, struct err *err)
{
	_mem_ char *dir = dir_of(base, number);
	int fds[3] = {-1, -1, -1}, rc = 0;

	for (size_t i = 0; i < n_elems(arrays) && rc >= 0; i++) {
		_mem_ char *path = xasprintf("%s/%s", dir, arrays[i]);

		fds[i] = bpf_obj_get(path);
		if (fds[i] < 0)
			rc = err_errno(err, -errno, "%s", path);
	}
	if (rc >= 0)
		rc = read_note(dir, ret_note, err);
	if (rc >= 0)
		rc = log_open_arrays(fds[0], fds[1], fds[2], ret, err);
	if (rc >= 0 && ret_chains)
		*ret_chains = open_chains(dir, *ret);
	for (size_t i = 0; i < n_elems(arrays); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return rc;
}

/* A map's value cannot change its size, and a text that is half written would be read after a
 * death: so it is a new map each time, which takes the place of the old one. */
int pinned_put_labels(const char *base, uint64_t number, const char *text, size_t n,
		      struct err *err)
{
	_mem_ char *dir = dir_of(base, number), *old = xasprintf("%s/labels", dir),
		   *new = xasprintf("%s/labels-new", dir), *copy = NULL;
	const uint32_t n_value = (uint32_t)(n < PINNED_MOST_LABELS ? n : PINNED_MOST_LABELS) + 1;
	_fd_ int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "dwell_labels", 4, n_value, 1, NULL);
	uint32_t zero = 0;

	copy = xcalloc(1, n_value); /* up to a NUL */
	memcpy(copy, text, n_value - 1);
	unlink(new);
	if (fd < 0 || bpf_map_update_elem(fd, &zero, copy, 0) < 0 || bpf_obj_pin(fd, new) < 0 ||
	    rename(new, old) < 0)
		return err_errno(err, -errno, "cannot keep labels in %s", dir);
	return 0;
}

int pinned_get_labels(const char *base, uint64_t number, char **ret, size_t *ret_n)
{
	_mem_ char *dir = dir_of(base, number), *path = xasprintf("%s/labels", dir), *text = NULL;
	_fd_ int fd = bpf_obj_get(path);
	struct bpf_map_info info = {0};
	uint32_t n = sizeof(info), zero = 0;

	if (fd < 0)
		return -errno;
	if (bpf_obj_get_info_by_fd(fd, &info, &n) < 0 || info.type != BPF_MAP_TYPE_ARRAY ||
	    info.key_size != 4 || info.max_entries != 1 || !info.value_size ||
	    info.value_size > PINNED_MOST_LABELS + 1)
		return -EBADMSG;
	text = xcalloc(1, info.value_size + 8); /* the kernel rounds up to eight */
	if (bpf_map_lookup_elem(fd, &zero, text) < 0)
		return -errno;
	*ret_n = strnlen(text, info.value_size);
	*ret = text;
	text = NULL;
	return 0;
}

static int drop_link(const char *path, const char *name)
{
	_fd_ int fd = -1;

	if (!str_starts(name, "link-"))
		return 0;
	fd = bpf_obj_get(path);
	return unlink(path) < 0 ? -errno : 0;
}

int pinned_stop(const char *base, uint64_t number, struct err *err)
{
	/* A run that had begun is over by then. */
	const struct timespec grace = {.tv_nsec = 20 * 1000 * 1000};
	_mem_ char *dir = dir_of(base, number);
	int rc = each_file(dir, drop_link);

	if (rc < 0)
		return err_errno(err, rc, "cannot stop the sampling of %s", dir);
	nanosleep(&grace, NULL);
	return 0;
}

static int drop_file(const char *path, const char *name)
{
	return unlink(path) < 0 ? -errno : 0;
}

int pinned_remove(const char *base, uint64_t number, struct err *err)
{
	_mem_ char *dir = dir_of(base, number);
	int rc = each_file(dir, drop_link);

	if (rc >= 0)
		rc = each_file(dir, drop_file);
	if (rc >= 0 && rmdir(dir) < 0)
		rc = -errno;
	if (rc == -ENOENT)
		return 0;
	if (rc < 0)
		return err_errno(err, rc, "cannot remove %s", dir);
	rmdir(base); /* when that was the last */
	return 0;
}
