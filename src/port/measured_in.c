/* SPDX-License-Identifier: BSD-2-Clause */
/* See measured_in.h.
 *
 * A node becomes a context: hpcrun's addresses are those that files state.  Where threads begin is
 * a mark, as are states without code; "primary root" is the root, a partial path hangs below a mark
 * that says so.  Values are no samples but what these stood for: seconds become nanoseconds, so
 * that all are whole numbers.
 *
 * Example: the nodes ^Primary, "| Main", prog 0x119c, prog 0x1154 with 0.201114 s of "CPUTIME
 * (sec)"
 *     context   <program root> > prog 0x119c > prog 0x1154
 *     value     one of CPUTIME that measures 201114000 ns */
#include "port/measured_in.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path_rules.h"
#include "base/plain_file.h"
#include "formats/hpc/hpcrun.h"
#include "model/trace.h"
#include "resolve/elf_probe.h"
#include "resolve/symtab_elf.h"

#define SUFFIX		   ".hpcrun"
#define TRACE_SUFFIX	   ".hpctrace"
#define KERNEL_DIR	   "kernel_symbols/"
#define MAX_KERNEL_SYMBOLS (256u << 20) /* bytes of text */
#define NOT_FOLLOWED	   UINT32_MAX	/* a context of a module that the file does not list */

struct measured_module {
	char *path;
	image_id image;
};

struct measured_loader {
	struct profile *p;
	stacks_symbol_list *symbols;
	const char *dir; /* that paths of modules are below */
	const struct measured_in_opts *o;
	struct index by_path; /* of modules' paths to `found` */
	VEC(struct measured_module) found;
	uint64_t n_other, n_traceless;
	uint32_t hostid;
	bool many_hosts;
	/* of the file at hand: */
	struct hpcrun h;
	owner_id owner;
	image_id *images; /* by module id */
	event_id *events; /* by metric */
	ctx_id *ctxs;	  /* by node */
};

static bool has_measured_files(const char *path)
{
	DIR *d = opendir(path);
	const struct dirent *e;
	bool found = false;

	while (d && !found && (e = readdir(d)))
		found = str_ends(e->d_name, SUFFIX);
	if (d)
		closedir(d);
	return found;
}

int measured_in_probe(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return 0;
	return S_ISDIR(st.st_mode) ? has_measured_files(path) : str_ends(path, SUFFIX);
}

static void note_owner(struct measured_loader *l)
{
	/* By kind (struct hpcrun_id). */
	static const char *const label_words[] = {[2] = "rank",
						  [4] = "gpudevice",
						  [5] = "gpucontext",
						  [6] = "gpustream",
						  [7] = "core"};
	const struct hpcrun *h = &l->h;
	struct owner o = {.comm = profile_intern_str(l->p, h->program),
			  .exe = profile_intern_str(l->p, h->path),
			  .uid = OWNER_UID_UNKNOWN,
			  .pid = h->pid,
			  .tid = h->pid + h->thread};
	_str_ struct str label = {0};

	vec_each (id, &h->ids)
		if (id->kind < n_elems(label_words) && label_words[id->kind])
			str_addf(&label, "%s%s=%" PRIu64, label.n ? "," : "", label_words[id->kind],
				 id->physical);
	if (label.n)
		o.label = profile_intern_str(l->p, label.v);
	l->owner = profile_intern_owner(l->p, &o);
	l->many_hosts |= l->hostid && l->hostid != h->hostid;
	l->hostid = h->hostid;
}

/* Names the code of IMAGE, the kernel, by what hpcrun kept at PATH: its symbols, packed by xz. */
static void take_kernel_symbols(struct measured_loader *l, image_id image, const char *path)
{
	struct stacks_symbols new = {.image = image};
	struct symtab_builder b = {0};
	_mem_ uint8_t *text = NULL;
	struct hpcrun_symbol s;
	struct file_map map;
	size_t n = 0;
	struct rd r;

	vec_each (k, l->symbols)
		if (k->image == image)
			return;
	if (file_map_open(&map, AT_FDCWD, path, false, NULL) < 0)
		return;
	if (xz_unpack(map.bytes, map.n_bytes, MAX_KERNEL_SYMBOLS, &text, &n, NULL) >= 0) {
		r = rd_init(text, n);
		while (hpcrun_next_symbol(&r, &s)) {
			_mem_ char *name = xasprintf("%.*s [vmlinux]", (int)s.n_name, s.name);

			if (s.type == 't' || s.type == 'T')
				symtab_builder_add(&b, s.svma, 0, name, strlen(name), 0);
		}
		symtab_builder_add_range(&b, 1ull << 63, UINT64_MAX);
		symtab_builder_finish(&b, &new.symtab);
		vec_push(l->symbols, new);
		symtab_builder_release(&b);
	}
	file_map_close(&map);
}

/* Says in IM what the file of its path is, which is taken for what was measured: hpcrun keeps no
 * build-ids. */
static void identify_module(const struct measured_loader *l, struct image *im)
{
	const size_t n = strlen(l->dir);
	const bool is_below = strncmp(im->path, l->dir, n) == 0 && im->path[n] == '/';
	_mem_ char *moved = is_below ? NULL : path_rules_find(l->o->paths, l->o->n_paths, im->path);
	_fd_ int fd = plain_file_open(moved ? moved : im->path, 0);
	struct image_layout layout;

	if (fd < 0 || elf_probe(fd, &layout, NULL) < 0)
		return;
	im->flags = layout.hashed ? IMAGE_HASHED : 0;
	im->build_id = layout.build_id;
	memcpy(im->digest, layout.digest, sizeof(im->digest));
	im->text_start = layout.text_start;
	im->text_bytes = layout.text_bytes;
}

static bool same_module(const void *owner, uint32_t i, const void *key)
{
	return strcmp(((const struct measured_loader *)owner)->found.v[i].path, key) == 0;
}

/* The image of the file at PATH, which is looked at once for all threads. */
static image_id module_image(struct measured_loader *l, const char *path)
{
	const uint64_t hash = hash_str(path);
	const uint32_t i = index_find(&l->by_path, hash, same_module, l, path);
	struct image im = {.kind = IMAGE_FILE, .path = path};
	struct measured_module new;

	if (i != INDEX_NONE)
		return l->found.v[i].image;
	identify_module(l, &im);
	new = (struct measured_module){xstrdup(path), profile_intern_image(l->p, &im)};
	index_add(&l->by_path, hash, (uint32_t)l->found.n);
	vec_push(&l->found, new);
	if (str_starts(path, l->dir) && strstr(path, "/" KERNEL_DIR))
		take_kernel_symbols(l, new.image, path);
	return new.image;
}

static void note_modules(struct measured_loader *l)
{
	vec_each (m, &l->h.modules) {
		_mem_ char *below = *m->path == '/' ? NULL : xasprintf("%s/%s", l->dir, m->path);

		l->images[m->id] = module_image(l, below ? below : m->path);
	}
}

/* "CPUTIME (sec)" counts nanoseconds here. */
static bool is_seconds(const struct hpcrun_metric *m)
{
	return str_ends(m->name, " (sec)");
}

static void note_metrics(struct measured_loader *l)
{
	for (size_t i = 0; i < l->h.metrics.n; i++) {
		const struct hpcrun_metric *m = &l->h.metrics.v[i];
		struct event e = {.period = 1};
		const size_t n = strlen(m->name);

		if (m->is_derived)
			continue;
		e.name = is_seconds(m) ? profile_intern_strn(l->p, m->name, n - strlen(" (sec)"))
				       : profile_intern_str(l->p, m->name);
		e.unit = profile_intern_str(l->p, is_seconds(m) ? "ns" : "");
		l->events[i] = profile_intern_event(l->p, &e);
	}
}

static ctx_id mark_below(struct measured_loader *l, ctx_id parent, const char *text)
{
	const image_id image =
		profile_intern_image(l->p, &(struct image){.kind = IMAGE_MARK, .path = text});

	return profile_intern_ctx(l->p, parent, profile_intern_place(l->p, image, 0, 0));
}

/* A state that a runtime tells of, by its name or its eight letters. */
static ctx_id state_below(struct measured_loader *l, ctx_id parent, uint64_t letters)
{
	const char *name = hpcrun_state(letters);
	char text[32] = "[";
	size_t n = 1;

	if (name) {
		snprintf(text, sizeof(text), "[%s]", name);
		return mark_below(l, parent, text);
	}
	for (int shift = 56; shift >= 0; shift -= 8) {
		const char c = (char)(letters >> shift & 0xff);

		text[n++] = c >= ' ' && c < 0x7f && c != '[' && c != ']' ? c : '.';
	}
	while (n > 2 && text[n - 1] == ' ')
		n--;
	text[n] = ']';
	return mark_below(l, parent, text);
}

static ctx_id placeholder_ctx(struct measured_loader *l, ctx_id parent, uint64_t letters)
{
	switch (letters) {
	case HPCRUN_ROOT:
	case HPCRUN_NO_ACTIVITY:
		return 0;
	case HPCRUN_MAIN:
		return mark_below(l, parent, IMAGE_MAIN_ROOT);
	case HPCRUN_THREAD:
		return mark_below(l, parent, IMAGE_THREAD_ROOT);
	case HPCRUN_PARTIAL:
		return mark_below(l, parent, IMAGE_TRUNCATED ": hpcrun]");
	case HPCRUN_UNKNOWN:
		return profile_intern_ctx(l->p, parent, profile_unknown_place(l->p, 0, 0));
	default:
		return state_below(l, parent, letters);
	}
}

static ctx_id node_ctx(struct measured_loader *l, const struct hpcrun_node *n)
{
	ctx_id parent = n->parent == HPCRUN_NONE ? 0 : l->ctxs[n->parent];

	if (parent == NOT_FOLLOWED)
		return NOT_FOLLOWED;
	if (n->module == HPCRUN_PLACEHOLDER)
		return placeholder_ctx(l, parent, n->ip);
	if (l->images[n->module] == NOT_FOLLOWED)
		return NOT_FOLLOWED;
	if (!parent)
		parent = mark_below(l, 0, IMAGE_TRUNCATED ": hpcrun]");
	if (!n->unwound)
		parent = profile_intern_ctx(l->p, parent, profile_unknown_place(l->p, 0, 0));
	return profile_intern_ctx(l->p, parent,
				  profile_intern_place(l->p, l->images[n->module], n->ip, 0));
}

static void add_measured_values(struct measured_loader *l)
{
	vec_each (v, &l->h.values) {
		const struct hpcrun_metric *m = &l->h.metrics.v[v->metric];
		double n = hpcrun_amount(&l->h, v) * (is_seconds(m) ? 1e9 : 1);
		const ctx_id ctx = l->ctxs[v->node];
		struct value new;

		if (m->is_derived || !(n >= 0.5) || ctx == NOT_FOLLOWED || !ctx) {
			l->n_other += n >= 0.5;
			continue;
		}
		n = n < 0x1p62 ? n : 0x1p62;
		new = (struct value){.owner = l->owner, .ctx = ctx, .event = l->events[v->metric]};
		if (is_seconds(m)) { /* event_measures */
			new.count = 1;
			new.sum = (uint64_t)llround(n);
		} else {
			new.count = (uint64_t)llround(n);
		}
		profile_add_value(l->p, &new);
	}
}

static int add_measured_trace(struct measured_loader *l, const char *path, struct err *err)
{
	_mem_ char *name =
		xasprintf("%.*s" TRACE_SUFFIX, (int)(strlen(path) - strlen(SUFFIX)), path);
	const struct trace key = {
		.owner = l->owner, .pid = l->h.pid, .tid = l->h.pid + l->h.thread};
	struct file_map map;
	struct hpctrace t;
	trace_id id;
	int rc = file_map_open(&map, AT_FDCWD, name, false, NULL);

	if (rc < 0 || !l->h.metrics.n)
		return 0; /* it was not asked for */
	rc = hpctrace_parse(map.bytes, map.n_bytes, &t, err);
	if (rc < 0) {
		err_prefix(err, rc, "%s", name);
	} else if (t.n) {
		id = profile_intern_trace(l->p, &key);
		for (size_t i = 0; i < t.n; i++) {
			const struct hpctrace_point pt = hpctrace_get(&t, i);
			const uint32_t node = hpcrun_find(&l->h, pt.node);
			const struct trace_point point = {
				pt.time_ns, node == HPCRUN_NONE ? 0 : l->ctxs[node], l->events[0]};

			if (node == HPCRUN_NONE || point.ctx == NOT_FOLLOWED)
				l->n_traceless++;
			else
				trace_add_point(l->p, id, &point);
		}
	}
	file_map_close(&map);
	return rc;
}

static int load_measured_thread(struct measured_loader *l, const char *path, struct err *err)
{
	struct file_map map;
	int rc = file_map_open(&map, AT_FDCWD, path, false, err);

	if (rc < 0)
		return rc;
	rc = hpcrun_parse(map.bytes, map.n_bytes, &l->h, err);
	if (rc < 0) {
		err_prefix(err, rc, "%s", path);
	} else {
		l->images = xmalloc((UINT16_MAX + 1) * sizeof(*l->images));
		memset(l->images, 0xff, (UINT16_MAX + 1) * sizeof(*l->images));
		l->events = xcalloc(l->h.metrics.n + 1, sizeof(*l->events));
		l->ctxs = xcalloc(l->h.nodes.n + 1, sizeof(*l->ctxs));
		note_owner(l);
		note_modules(l);
		note_metrics(l);
		for (size_t i = 0; i < l->h.nodes.n; i++)
			l->ctxs[i] = node_ctx(l, &l->h.nodes.v[i]);
		add_measured_values(l);
		if (l->o->traces)
			rc = add_measured_trace(l, path, err);
		free(l->images);
		free(l->events);
		free(l->ctxs);
	}
	hpcrun_release(&l->h);
	file_map_close(&map);
	return rc;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int load_directory(struct measured_loader *l, const char *path, struct err *err)
{
	VEC(char *) files = {0};
	DIR *d = opendir(path);
	const struct dirent *e;
	int rc = 0;

	if (!d)
		return err_errno(err, -errno, "%s", path);
	while ((e = readdir(d)))
		if (str_ends(e->d_name, SUFFIX))
			vec_push(&files, xasprintf("%s/%s", path, e->d_name));
	closedir(d);
	vec_sort(&files, by_path);
	vec_each (f, &files) {
		if (rc >= 0)
			rc = load_measured_thread(l, *f, err);
		free(*f);
	}
	vec_release(&files);
	return rc;
}

static void forget_modules(struct measured_loader *l)
{
	vec_each (m, &l->found)
		free(m->path);
	vec_release(&l->found);
	index_release(&l->by_path);
}

int measured_in_load(const char *path, const struct measured_in_opts *o, struct profile *p,
		     stacks_symbol_list *symbols, struct str *notes, struct err *err)
{
	struct measured_loader l = {.p = p, .symbols = symbols, .o = o};
	_mem_ char *dir = realpath(path, NULL), *host = NULL;
	struct stat st;
	int rc;

	if (!dir || stat(path, &st) < 0)
		return err_errno(err, -errno, "%s", path);
	if (!S_ISDIR(st.st_mode))
		*strrchr(dir, '/') = '\0';
	l.dir = dir;
	rc = S_ISDIR(st.st_mode) ? load_directory(&l, path, err)
				 : load_measured_thread(&l, path, err);
	forget_modules(&l);
	if (rc < 0)
		return rc;
	host = xasprintf("hostid %08" PRIx32, l.hostid);
	p->meta.host = profile_intern_str(p, host);
	if (l.many_hosts)
		str_add(notes, "measured on several machines, shown as one\n");
	if (l.n_other)
		str_addf(notes,
			 "%" PRIu64
			 " values are of code that their file does not name and are left out\n",
			 l.n_other);
	if (l.n_traceless)
		str_addf(notes, "%" PRIu64 " points of time lines have no context\n",
			 l.n_traceless);
	return 0;
}
