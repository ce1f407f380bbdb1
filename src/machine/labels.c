/* SPDX-License-Identifier: BSD-2-Clause */
/* See labels.h.
 *
 * A recorder knows of every fork, so a child has its parent's label at once; one that starts anew
 * knows only who is whose child now.  What is told apart is enough for all but a child that was
 * born after the text was written and whose parents in between have ended. */
#include "machine/labels.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/procfs.h"

size_t labels_parse(const char *text, size_t n, struct labelled *ret)
{
	const char *nl = memchr(text, '\n', n);
	char line[LABEL_BYTES + 40];
	size_t length = nl ? (size_t)(nl - text) : 0;
	char *start, *label;
	uint64_t pid;

	if (!length || length >= sizeof(line) || memchr(text, '\0', length))
		return 0;
	memcpy(line, text, length);
	line[length] = '\0';
	start = strchr(line, ' ');
	label = start ? strchr(start + 1, ' ') : NULL;
	if (!label)
		return 0;
	*start++ = '\0';
	*label++ = '\0';
	if (str_parse_u64(line, 10, &pid) < 0 || !pid || pid >> LOG_PID_BITS ||
	    str_parse_u64(start, 10, &ret->start_ticks) < 0 || !*label ||
	    strlen(label) >= sizeof(ret->label))
		return 0;
	ret->pid = (uint32_t)pid;
	memcpy(ret->label, label, strlen(label) + 1);
	return length + 1;
}

void labels_format(const struct labelled *l, struct str *out)
{
	str_addf(out, "%" PRIu32 " %" PRIu64 " %s\n", l->pid, l->start_ticks, l->label);
}

/* The most processes that are listed.  Where there are more, most descend from a listed one. */
#define MOST_LISTED 1000

static bool has_own_label(const struct proc *p)
{
	return p->label && !p->ended && p->tgid && p->tgid != UINT32_MAX;
}

void labels_list(const struct procs *ps, struct str *out)
{
	struct labelled l;
	uint32_t parent;
	size_t n = 0;

	vec_each (p, &ps->v) {
		const char *label = profile_str(ps->profile, p->label);

		l.pid = p->tgid;
		if (!has_own_label(p) || n == MOST_LISTED || strlen(label) >= sizeof(l.label) ||
		    strchr(label, '\n') || procfs_birth(p->tgid, &parent, &l.start_ticks) < 0)
			continue;
		memcpy(l.label, label, strlen(label) + 1);
		labels_format(&l, out);
		n++;
	}
}

bool labels_changed(const struct procs *ps, uint64_t *mark)
{
	uint64_t sum = 0;

	/* A sum does not depend on order, and numbers of processes are used again. */
	vec_each (p, &ps->v)
		if (has_own_label(p))
			sum += hash_pair(p->tgid, (uint64_t)p->label << 32 | p->generation);
	if (sum == *mark)
		return false;
	*mark = sum;
	return true;
}

/* The number of the nearest process, from PROC upwards, that has a label; PROC_NONE. */
static uint32_t labelled_above(const struct procs *ps, uint32_t proc)
{
	uint32_t parent;
	uint64_t start;

	for (int depth = 0; proc != PROC_NONE && depth < 64; depth++) {
		const struct proc *p = &ps->v.v[proc];

		if (has_own_label(p))
			return proc;
		if (!p->tgid || procfs_birth(p->tgid, &parent, &start) < 0)
			return PROC_NONE;
		proc = procs_current(ps, parent);
	}
	return PROC_NONE;
}

size_t labels_apply(struct procs *ps, const char *text, size_t n)
{
	struct labelled l;
	size_t n_set = 0;

	for (size_t at = 0, k; at < n && (k = labels_parse(text + at, n - at, &l)); at += k) {
		uint32_t parent;
		uint64_t start;

		if (procfs_birth(l.pid, &parent, &start) >= 0 && start == l.start_ticks)
			n_set += procs_set_label(ps, l.pid, l.label);
	}
	if (!n_set)
		return 0;
	for (uint32_t i = 0; i < ps->v.n; i++) {
		uint32_t above;

		if (ps->v.v[i].label || ps->v.v[i].ended || ps->v.v[i].owner_flags & OWNER_KERNEL)
			continue;
		above = labelled_above(ps, i);
		if (above != PROC_NONE)
			n_set += procs_set_label(ps, ps->v.v[i].tgid,
						 profile_str(ps->profile, ps->v.v[above].label));
	}
	return n_set;
}
