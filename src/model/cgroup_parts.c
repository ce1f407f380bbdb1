/* SPDX-License-Identifier: BSD-2-Clause */
/* See cgroup_parts.h.  Parts of a path are spans of its text, looked at from the innermost on. */
#include "model/cgroup_parts.h"

#include <string.h>

#include "base/vec.h"

#define LEAST_ID   32 /* digits: of ECS; others have 64 */
#define MOST_ID	   64
#define SHOWN_ID   12
#define HEX_DIGITS "0123456789abcdef"

struct cgroup_part {
	const char *text;
	size_t n;
};

/* Sets PART, which begins at PATH's end, to the part before it.  False: there is none. */
static bool part_before(const char *path, struct cgroup_part *part)
{
	const char *end = part->text;

	while (end > path && end[-1] == '/')
		end--;
	part->text = end;
	while (part->text > path && part->text[-1] != '/')
		part->text--;
	part->n = (size_t)(end - part->text);
	return part->n != 0;
}

static bool part_ends(const struct cgroup_part *p, const char *suffix)
{
	const size_t n = strlen(suffix);

	return p->n > n && memcmp(p->text + p->n - n, suffix, n) == 0;
}

static bool part_starts(const struct cgroup_part *p, const char *prefix)
{
	const size_t n = strlen(prefix);

	return p->n >= n && memcmp(p->text, prefix, n) == 0;
}

static bool is_unit(const struct cgroup_part *p)
{
	static const char *const kinds[] = {".service", ".scope", ".socket", ".mount", ".swap"};

	for (size_t i = 0; i < n_elems(kinds); i++)
		if (part_ends(p, kinds[i]))
			return true;
	return false;
}

void cgroup_add_unit(struct str *s, const char *path)
{
	struct cgroup_part p = {path + strlen(path), 0}, slice = {0};

	while (part_before(path, &p)) {
		if (is_unit(&p)) {
			str_addn(s, p.text, p.n);
			return;
		}
		if (!slice.n && part_ends(&p, ".slice"))
			slice = p;
	}
	str_addn(s, slice.text, slice.n);
}

/* The first id in P, of LEAST_ID to MOST_ID digits; NULL without one. */
static const char *find_id(const struct cgroup_part *p, size_t *ret_n)
{
	for (size_t i = 0, n; i < p->n; i += n + 1) {
		for (n = 0; i + n < p->n && strchr(HEX_DIGITS, p->text[i + n]); n++)
			;
		if (n >= LEAST_ID) {
			*ret_n = n < MOST_ID ? n : MOST_ID;
			return p->text + i;
		}
	}
	return NULL;
}

/* Whether P is ENGINE, one of "-.:" and a name. */
static bool is_named_by_engine(const struct cgroup_part *p)
{
	static const char *const engines[] = {"docker", "cri-containerd", "crio",
					      "libpod", "containerd",	  "lxc.payload"};

	for (size_t i = 0; i < n_elems(engines); i++) {
		const size_t n = strlen(engines[i]);

		if (part_starts(p, engines[i]) && p->n > n + 1 && strchr("-.:", p->text[n]))
			return true;
	}
	return false;
}

static bool is_engine(const struct cgroup_part *p)
{
	return (p->n == 6 && memcmp(p->text, "docker", 6) == 0) ||
	       (p->n == 3 && memcmp(p->text, "lxc", 3) == 0);
}

void cgroup_add_container(struct str *s, const char *path)
{
	struct cgroup_part p = {path + strlen(path), 0};

	while (part_before(path, &p)) {
		struct cgroup_part name = p, above = p;
		const char *id;
		size_t n_id = 0;

		if (part_ends(&p, ".scope"))
			name.n -= strlen(".scope");
		else if (part_ends(&p, ".service"))
			name.n -= strlen(".service");
		id = find_id(&name, &n_id);
		if (!id && !is_named_by_engine(&name) &&
		    !(part_before(path, &above) && is_engine(&above)))
			continue;
		if (!id) {
			str_addn(s, name.text, name.n);
			return;
		}
		str_addn(s, name.text, (size_t)(id - name.text) + SHOWN_ID);
		str_addn(s, id + n_id, (size_t)(name.text + name.n - (id + n_id)));
		return;
	}
}

const char *cgroup_container_id(const char *path, size_t *ret_n)
{
	struct cgroup_part p = {path + strlen(path), 0};

	while (part_before(path, &p)) {
		const char *id = find_id(&p, ret_n);

		if (id && *ret_n == MOST_ID && !part_starts(&p, "libpod-conmon-") &&
		    !part_starts(&p, "crio-conmon-"))
			return id;
	}
	return NULL;
}
