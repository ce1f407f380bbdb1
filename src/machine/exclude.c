/* SPDX-License-Identifier: BSD-2-Clause */
/* See exclude.h. */
#include "machine/exclude.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"

static int parse_pids(struct exclusions *e, char *text)
{
	char *dash = strchr(text, '-');
	uint64_t first, last;

	if (dash)
		*dash = '\0';
	if (str_parse_u64(text, 10, &first) < 0 || first > INT32_MAX)
		return -EINVAL;
	last = first;
	if (dash && (str_parse_u64(dash + 1, 10, &last) < 0 || last > INT32_MAX || last < first))
		return -EINVAL;
	vec_push(&e->pids, (struct pid_range){(uint32_t)first, (uint32_t)last});
	return 0;
}

int exclusions_parse(struct exclusions *e, const char *text, size_t n, struct err *err)
{
	unsigned number = 0;

	for (size_t at = 0, len; at < n; at += len + 1) {
		const char *nl = memchr(text + at, '\n', n - at);
		_mem_ char *line = NULL;
		size_t k;

		len = nl ? (size_t)(nl - text) - at : n - at;
		number++;
		line = xmalloc(len + 1);
		memcpy(line, text + at, len);
		line[len] = '\0';
		if (strlen(line) != len)
			return err_set(err, -EINVAL, "line %u: not text", number);
		line[strcspn(line, "#")] = '\0';
		for (k = strlen(line); k && strchr(" \t\r", line[k - 1]); k--)
			line[k - 1] = '\0';
		k = strspn(line, " \t");
		if (!line[k])
			continue;
		if (strncmp(line + k, "PID ", 4) == 0) {
			k += 4 + strspn(line + k + 4, " \t");
			if (parse_pids(e, line + k) < 0)
				return err_set(err, -EINVAL,
					       "line %u: PID and a number, or two "
					       "with a dash between",
					       number);
		} else if (strpbrk(line + k, " \t/")) {
			return err_set(err, -EINVAL, "line %u: not the short name of an image",
				       number);
		} else {
			vec_push(&e->names, xstrdup(line + k));
		}
	}
	return 0;
}

void exclusions_release(struct exclusions *e)
{
	vec_each (name, &e->names)
		free(*name);
	vec_release(&e->names);
	vec_release(&e->pids);
}

bool excludes_image(const struct exclusions *e, const char *path)
{
	if (!e)
		return false;
	vec_each (name, &e->names)
		if (strcmp(*name, str_basename(path)) == 0)
			return true;
	return false;
}

bool excludes_pid(const struct exclusions *e, uint32_t pid)
{
	if (!e)
		return false;
	vec_each (r, &e->pids)
		if (pid >= r->first && pid <= r->last)
			return true;
	return false;
}
