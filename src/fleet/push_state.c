/* SPDX-License-Identifier: BSD-2-Clause */
/* See push_state.h. */
#include "fleet/push_state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/str.h"

#define PUSH_HEAD "dwell-push 1\n"
#define PUSH_MAX  ((size_t)64 << 20)

char *fleet_state_path(const char *db, const char *server, struct err *err)
{
	const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	_mem_ char *dir = NULL, *real = realpath(db, NULL);
	char hex[17];
	uint8_t bytes[8];
	struct sha256 s;

	if (base && *base == '/')
		dir = file_is_own_folder(base) ? xasprintf("%s/dwell", base) : NULL;
	else if (file_is_own_folder(home))
		dir = xasprintf("%s/.local/state/dwell", home);
	if (!dir) {
		err_set(err, -EINVAL,
			"there is no home directory of this user's own; --state FILE names the "
			"file that remembers what was shipped");
		return NULL;
	}
	if (file_mkdirs(dir, err) < 0)
		return NULL;
	sha256_begin(&s);
	sha256_add_text(&s, real ? real : db);
	sha256_add_text(&s, server);
	sha256_end(&s, bytes, sizeof(bytes));
	str_hex(bytes, sizeof(bytes), hex);
	return xasprintf("%s/ship-%s", dir, hex);
}

int fleet_state_save(const char *path, const char *text, size_t n, struct err *err)
{
	const char *slash = strrchr(path, '/');
	_mem_ char *dir = slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup(".");
	_fd_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_errno(err, -errno, "%s", dir);
	return file_replace(fd, slash ? slash + 1 : path, text, n, err);
}

static bool begins_with(int fd, const char *head)
{
	_mem_ char *is = xcalloc(1, strlen(head) + 1);

	return fd >= 0 && pread(fd, is, strlen(head), 0) >= 0 && strcmp(is, head) == 0;
}

int fleet_state_append(const char *path, const char *head, const char *text, struct err *err)
{
	_fd_ int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
	_mem_ char *whole = NULL;
	int rc;

	if (!begins_with(fd, head)) {
		whole = xasprintf("%s%s", head, text);
		return fleet_state_save(path, whole, strlen(whole), err);
	}
	rc = file_write_all(fd, text, strlen(text));
	if (rc >= 0 && fdatasync(fd) < 0)
		rc = -errno;
	return rc < 0 ? err_errno(err, rc, "%s", path) : 0;
}

uint64_t push_recording_id(const char *epoch, const struct manifest *m)
{
	struct sha256 s;

	sha256_begin(&s);
	sha256_add_text(&s, epoch);
	sha256_add_text(&s, m->host);
	sha256_add_u64(&s, m->recording);
	return sha256_end_u64(&s);
}

/* Parses "pushed", "doubt" or "refusedN". */
static bool parse_fate(const char *text, struct push_segment *ret)
{
	static const char refused[] = "refused";
	uint64_t n = 0;

	if (strcmp(text, "pushed") == 0)
		ret->fate = PUSH_DONE;
	else if (strcmp(text, "doubt") == 0)
		ret->fate = PUSH_DOUBT;
	else if (str_starts(text, refused) && str_parse_u64(text + strlen(refused), 10, &n) >= 0 &&
		 n < 1000)
		ret->fate = PUSH_REFUSED;
	else
		return false;
	ret->n_refused = (unsigned)n;
	return true;
}

static bool parse_push_line(char *line, struct push_segment *ret)
{
	char *save = NULL, *id = strtok_r(line, " ", &save), *fate;
	uint64_t *const numbers[] = {&ret->number, &ret->start_ns, &ret->end_ns, &ret->n_samples};

	if (!id || str_parse_u64(id, 16, &ret->recording) < 0)
		return false;
	for (size_t i = 0; i < n_elems(numbers); i++) {
		const char *word = strtok_r(NULL, " ", &save);

		if (!word || str_parse_u64(word, 10, numbers[i]) < 0)
			return false;
	}
	fate = strtok_r(NULL, " ", &save);
	return fate && parse_fate(fate, ret);
}

int push_state_load(struct push_state *s, char *path, struct err *err)
{
	_mem_ char *text = NULL;
	size_t n;
	int rc;

	s->path = path;
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	rc = file_load(path, PUSH_MAX, &text, &n, err);
	if (rc < 0)
		return rc;
	if (!str_starts(text, PUSH_HEAD))
		return err_set(err, -EBADMSG, "%s: does not remember what was pushed", path);
	for (char *save = NULL, *l = strtok_r(text + strlen(PUSH_HEAD), "\n", &save); l;
	     l = strtok_r(NULL, "\n", &save)) {
		struct push_segment new = {0};

		if (!parse_push_line(l, &new))
			return err_set(err, -EBADMSG,
				       "%s: is damaged; without it all is pushed again", path);
		vec_push(&s->segments, new);
	}
	return 0;
}

/* Whether G, which is there no longer, was merged into a segment whose fate is not settled. */
static bool is_needed(const struct push_state *s, const struct push_segment *g)
{
	vec_each (k, &s->segments)
		if (k->is_there && k->recording == g->recording && k->fate != PUSH_DONE &&
		    k->start_ns <= g->start_ns && k->end_ns >= g->end_ns)
			return true;
	return false;
}

int push_state_save(struct push_state *s, bool last, struct err *err)
{
	_str_ struct str text = {0};

	str_add(&text, PUSH_HEAD);
	vec_each (g, &s->segments) {
		if (g->fate == PUSH_NEW || (last && !g->is_there && !is_needed(s, g)))
			continue;
		str_addf(&text, "%016" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " ",
			 g->recording, g->number, g->start_ns, g->end_ns, g->n_samples);
		if (g->fate == PUSH_REFUSED)
			str_addf(&text, "refused%u\n", g->n_refused);
		else
			str_add(&text, g->fate == PUSH_DONE ? "pushed\n" : "doubt\n");
	}
	return fleet_state_save(s->path, text.v, text.n, err);
}

void push_state_release(struct push_state *s)
{
	vec_release(&s->segments);
	free(s->path);
}

struct push_segment *push_state_find(struct push_state *s, uint64_t recording, uint64_t number)
{
	vec_each (g, &s->segments)
		if (g->recording == recording && g->number == number)
			return g;
	return NULL;
}
