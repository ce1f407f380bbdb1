/* SPDX-License-Identifier: BSD-2-Clause */
/* Tracepoints: TRACEFS/events/GROUP/NAME/id holds the number that goes into attr.config (kernel:
 * Documentation/trace/events.rst).  tracefs is looked for where the kernel makes its mount points;
 * it is often there but not mounted, or readable by root only, and the messages say which. */
#include "events/trace.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"

/* 0 when ROOT/events can be listed, else a negative errno. */
static int root_state(const char *root)
{
	_mem_ char *path = xasprintf("%s/events", root);
	DIR *dir = opendir(path);

	if (!dir)
		return -errno;
	closedir(dir);
	return 0;
}

char *event_trace_find(const struct event_env *env, char **ret_why, char **ret_remedy)
{
	static const char *const places[] = {"tracing", "debug/tracing"};
	const char *shown = env->tracefs ? env->tracefs : "/sys/kernel/tracing";
	bool denied = false;

	for (size_t i = 0; i < n_elems(places); i++) {
		char *root = env->tracefs ? xstrdup(env->tracefs)
					  : xasprintf("%s/kernel/%s", env->sysfs, places[i]);
		int rc = root_state(root);

		if (rc >= 0)
			return root;
		denied = denied || rc == -EACCES;
		free(root);
	}
	*ret_why = denied ? xasprintf("%s is not readable by this user", shown)
			  : xstrdup("tracefs is not mounted");
	/* observed: gid= covers the files, which are 0440, and mode= the top folder */
	*ret_remedy = denied ? xasprintf("mount -o remount,mode=750,gid=GROUP %s", shown)
			     : xasprintf("mount -t tracefs tracefs %s", shown);
	return NULL;
}

char *event_trace_root(const struct event_env *env, struct err *err)
{
	_mem_ char *why = NULL, *remedy = NULL;
	char *root = event_trace_find(env, &why, &remedy);

	if (!root)
		err_set(err, -ENOENT, "tracepoints cannot be looked up: %s; as root: %s", why,
			remedy);
	return root;
}

static bool plain(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/');
}

bool event_trace_has_group(const struct event_env *env, const char *group)
{
	_mem_ char *root = plain(group) ? event_trace_root(env, NULL) : NULL;
	_mem_ char *path = root ? xasprintf("%s/events/%s/", root, group) : NULL;

	return path && access(path, F_OK) == 0;
}

int event_trace_encode(const struct event_env *env, const char *group, const char *name,
		       struct event_spec *spec, struct err *err)
{
	_mem_ char *root = event_trace_root(env, err);
	_mem_ char *path = NULL, *text = NULL;
	uint64_t id;
	int rc;

	if (!root)
		return -ENOENT;
	if (!plain(group) || !plain(name))
		return err_set(err, -ENOENT, "not the name of a tracepoint");
	path = xasprintf("%s/events/%s/%s/id", root, group, name);
	rc = file_load(path, 64, &text, NULL, NULL);
	if (rc == -EACCES)
		return err_set(err, -EACCES, "%s is not readable by this user; run as root", path);
	if (rc < 0)
		return err_set(err, -ENOENT, "group %s has no tracepoint \"%s\"", group, name);
	text[strcspn(text, "\n")] = '\0';
	if (str_parse_u64(text, 10, &id) < 0)
		return err_set(err, -EINVAL, "%s does not hold a number", path);
	spec->kind = EVENT_TRACEPOINT;
	spec->attr.type = PERF_TYPE_TRACEPOINT;
	spec->attr.config = id;
	return 0;
}

struct walk {
	const char *root, *group;
	event_pmu_each_fn *each;
	void *arg;
};

static void walk_event(const char *name, void *arg)
{
	const struct walk *w = arg;
	_mem_ char *path = xasprintf("%s/events/%s/%s/id", w->root, w->group, name);
	_mem_ char *full = xasprintf("%s:%s", w->group, name);

	if (access(path, F_OK) == 0)
		w->each(full, w->arg);
}

static void walk_group(const char *group, void *arg)
{
	struct walk *w = arg;
	_mem_ char *path = xasprintf("%s/events/%s", w->root, group);

	w->group = group;
	event_dir_each(path, walk_event, w);
}

void event_trace_each(const struct event_env *env, const char *group, event_pmu_each_fn *each,
		      void *arg)
{
	_mem_ char *root = event_trace_root(env, NULL);
	_mem_ char *path = root ? xasprintf("%s/events", root) : NULL;
	struct walk w = {.root = root, .each = each, .arg = arg};

	if (!root)
		return;
	if (group)
		walk_group(group, &w);
	else
		event_dir_each(path, walk_group, &w);
}
