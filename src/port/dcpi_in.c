/* SPDX-License-Identifier: BSD-2-Clause */
/* DCPI files and trees into the model.
 *
 * A file is one (image, event, label): its samples get an owner that has nothing but the label.
 * Lines dwell-... are our own (dcpi_out.c); without them an image is a file identified by its image
 * id, and an event has its name and period.  What the lines say of an event as a whole (times,
 * losses) stands in each of its files, so it counts once per epoch and host: `seen` holds the
 * events it was taken for. */
#include "port/dcpi_in.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "formats/dcpi.h"
#include "formats/dcpi_text.h"

struct in {
	struct profile *p;
	struct dcpi_select sel;
	VEC(event_id) seen;	   /* events of this epoch and host whose sums are taken */
	VEC(const char *) skipped; /* events left out by the selection, in p's strings */
	size_t n_taken;		   /* profiles that were selected */
};

static bool listed(const opt_list *list, const char *s)
{
	if (!list || !list->n)
		return true;
	vec_each (item, list)
		if (strcmp(*item, s) == 0)
			return true;
	return false;
}

static bool selected(struct in *in, const char *event, const char *label)
{
	if (listed(in->sel.events, event) && listed(in->sel.labels, label)) {
		in->n_taken++;
		return true;
	}
	vec_each (s, &in->skipped)
		if (strcmp(*s, event) == 0)
			return false;
	vec_push(&in->skipped, profile_str(in->p, profile_intern_str(in->p, event)));
	return false;
}

/* An image id as a build-id: DCPI's has 20 digits, ours as many as the build-id.  Other people's
 * may be anything; what is no build-id of ours is hashed to one. */
static void parse_image_id(const char *hex, struct image *im)
{
	uint64_t half[2];
	_mem_ char *even = NULL;

	if (build_id_parse(hex, &im->build_id) == 0)
		return;
	even = xasprintf("0%s", hex);
	if (build_id_parse(even, &im->build_id) == 0)
		return;
	half[0] = hash_str(hex);
	half[1] = hash_str(even);
	im->build_id.n_bytes = sizeof(half);
	for (size_t i = 0; i < sizeof(half); i++)
		im->build_id.bytes[i] = (uint8_t)(half[i / 8] >> 8 * (i % 8));
	im->flags |= IMAGE_HASHED;
}

static int bad_line(const char *word, const char *value, struct err *err)
{
	return err_set(err, -EBADMSG, "the header line `%s %.40s` cannot be understood", word,
		       value);
}

static int image_of(const struct dcpi_file *f, const char *name, struct image *ret, struct err *err)
{
	const char *kind = dcpi_find(f, "dwell-kind"), *id = dcpi_find(f, "dwell-id"),
		   *text = dcpi_find(f, "dwell-text"), *path = dcpi_find(f, "path");
	struct image im = {.kind = IMAGE_FILE, .text_start = f->tstart, .text_bytes = f->tsize};

	im.path = path ? path : kind ? "" : name;
	if (kind) {
		for (im.kind = 0; im.kind < N_IMAGE_KINDS; im.kind++)
			if (strcmp(image_kind_name(im.kind), kind) == 0)
				break;
		if (im.kind == N_IMAGE_KINDS)
			return bad_line("dwell-kind", kind, err);
	}
	vec_each (line, &f->lines) {
		if (line->n_word != 10 || memcmp(line->text, "dwell-flag", 10) != 0)
			continue;
		if (strcmp(line->value, "hashed") == 0)
			im.flags |= IMAGE_HASHED;
		else if (strcmp(line->value, "deleted") == 0)
			im.flags |= IMAGE_DELETED;
		else if (strcmp(line->value, "offsets") == 0)
			im.flags |= IMAGE_OFFSETS;
	}
	if (text && sscanf(text, "%" SCNu64 " %" SCNu64, &im.text_start, &im.text_bytes) != 2)
		return bad_line("dwell-text", text, err);
	if (!id || strcmp(id, "derived") != 0)
		parse_image_id(f->image, &im);
	*ret = im;
	return 0;
}

/* Takes the event's sums and losses once per epoch and host. */
static int add_event_sums(struct in *in, const struct dcpi_file *f, event_id event, struct err *err)
{
	const char *sums = dcpi_find(f, "dwell-event");
	uint64_t v[4];
	struct event *e = &in->p->events.v[event];

	if (!sums) {
		e->n_reached += dcpi_n_samples(f);
		return 0;
	}
	vec_each (seen, &in->seen)
		if (*seen == event)
			return 0;
	vec_push(&in->seen, event);
	if (sscanf(sums, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &v[0], &v[1], &v[2],
		   &v[3]) != 4)
		return bad_line("dwell-event", sums, err);
	e->enabled_ns += v[0];
	e->running_ns += v[1];
	e->total += v[2];
	e->n_reached += v[3];
	vec_each (line, &f->lines) {
		uint64_t n = 0;
		int at = 0;

		if (line->n_word != 10 || memcmp(line->text, "dwell-lost", 10) != 0)
			continue;
		if (sscanf(line->value, "%" SCNu64 " %n", &n, &at) != 1 || !at)
			return bad_line("dwell-lost", line->value, err);
		profile_add_loss(in->p, line->value + at, event, n);
	}
	return 0;
}

static void add_meta(struct profile *p, const char *platform, uint64_t epoch_s, uint64_t n_cpus)
{
	struct profile_meta *m = &p->meta;
	/* Years beyond 2554 do not fit. */
	uint64_t ns = (epoch_s < UINT64_MAX / 1000000000 ? epoch_s : UINT64_MAX / 1000000000) *
		      1000000000;

	if (!m->host)
		m->host = profile_intern_str(p, platform);
	if (!m->start_wall_ns || ns < m->start_wall_ns)
		m->start_wall_ns = ns;
	if (n_cpus > m->n_cpus && n_cpus <= UINT32_MAX)
		m->n_cpus = (uint32_t)n_cpus;
}

/* What our own files say of the recording besides. */
static int add_recording(struct profile *p, const struct dcpi_file *f, struct err *err)
{
	struct profile_meta *m = &p->meta;
	const char *time = dcpi_find(f, "dwell-time");
	const struct {
		const char *word;
		string_id *to;
	} texts[] = {{"dwell-kernel", &m->kernel},
		     {"dwell-engine", &m->engine},
		     {"dwell-command", &m->command}};
	uint64_t start, end;

	for (size_t i = 0; i < n_elems(texts); i++) {
		const char *s = dcpi_find(f, texts[i].word);

		if (s && !*texts[i].to)
			*texts[i].to = profile_intern_str(p, s);
	}
	if (!time)
		return 0;
	if (sscanf(time, "%" SCNu64 " %" SCNu64, &start, &end) != 2)
		return bad_line("dwell-time", time, err);
	/* The epoch's time is the same without the part of a second. */
	if (start / 1000000000 == m->start_wall_ns / 1000000000)
		m->start_wall_ns = start;
	m->end_wall_ns = end > m->end_wall_ns ? end : m->end_wall_ns;
	return 0;
}

static owner_id label_owner(struct profile *p, const char *label, bool idle)
{
	return profile_intern_owner(p, &(struct owner){.label = profile_intern_str(p, label),
						       .uid = OWNER_UID_UNKNOWN,
						       .flags = idle ? OWNER_IDLE : 0});
}

static int add_file(struct in *in, const struct dcpi_file *f, const char *name, uint64_t epoch_s,
		    struct err *err)
{
	struct profile *p = in->p;
	const char *label = dcpi_find(f, "label"), *freq = dcpi_find(f, "dwell-freq"),
		   *unit = dcpi_find(f, "dwell-unit"), *cpus = dcpi_find(f, "cpucount"),
		   *whose = dcpi_find(f, "dwell-owner");
	struct event e = {.period = f->period ? f->period : 1};
	uint64_t n_cpus = 0;
	struct image im;
	event_id event;
	owner_id owner;
	image_id image;
	int r;

	label = label ? label : "";
	if (!selected(in, f->event, label))
		return 0;
	r = image_of(f, name, &im, err);
	if (r < 0)
		return r;
	if (freq && str_parse_u64(freq, 10, &e.freq_hz) < 0)
		return bad_line("dwell-freq", freq, err);
	if (cpus)
		str_parse_u64(cpus, 10, &n_cpus);
	add_meta(p, f->platform, epoch_s, n_cpus);
	r = add_recording(p, f, err);
	if (r < 0)
		return r;
	e.name = profile_intern_str(p, f->event);
	e.unit = profile_intern_str(p, unit ? unit : "");
	event = profile_intern_event(p, &e);
	r = add_event_sums(in, f, event, err);
	if (r < 0 || !dcpi_n_samples(f))
		return r;
	owner = label_owner(p, label, whose && strcmp(whose, "idle") == 0);
	image = profile_intern_image(p, &im);
	vec_each (c, &f->chunks) {
		for (uint32_t i = 0; i < c->n; i++) {
			uint64_t svma = f->tstart + c->off + (uint64_t)i * f->stride;
			uint32_t n = f->counts.v[c->first + i];

			if (n)
				profile_add_value(
					p, &(struct value){.owner = owner,
							   .ctx = profile_flat_ctx(
								   p, profile_intern_place(
									      p, image, svma, 0)),
							   .event = event,
							   .count = n});
		}
	}
	return 0;
}

/* dcpicat's text.  A ProfileMe column is an event of its own, named SET:COUNTER as printed. */
static void add_text(struct in *in, const struct dcpi_text *t)
{
	struct profile *p = in->p;
	struct image im = {.kind = IMAGE_FILE,
			   .path = t->paths.n ? t->paths.v[0] : t->name,
			   .text_start = t->text_start,
			   .text_bytes = t->text_bytes};
	uint64_t epoch_s = 0;
	image_id image;

	parse_image_id(t->image, &im);
	dcpi_parse_time(t->epoch, &epoch_s);
	image = profile_intern_image(p, &im);
	for (size_t k = 0; k < t->events.n; k++) {
		const struct dcpi_text_event *te = &t->events.v[k];
		_mem_ char *name =
			te->counter ? xasprintf("%s:%s", te->name, te->counter) : xstrdup(te->name);
		owner_id owner;
		event_id event;
		struct event e = {.period = te->period ? te->period : 1, .n_reached = te->total};

		if (!selected(in, name, t->label ? t->label : ""))
			continue;
		add_meta(p, t->platform, epoch_s, 0);
		e.name = profile_intern_str(p, name);
		event = profile_intern_event(p, &e);
		/* Only the share is known; one value for all images of an event. */
		p->events.v[event].enabled_ns = DCPI_DUTY_ALWAYS;
		p->events.v[event].running_ns = te->duty;
		owner = label_owner(p, t->label ? t->label : "", false);
		for (size_t i = 0; i < t->pcs.n; i++) {
			uint64_t n = t->counts.v[i * t->events.n + k];

			if (n)
				profile_add_value(
					p, &(struct value){
						   .owner = owner,
						   .event = event,
						   .count = n,
						   .ctx = profile_flat_ctx(
							   p, profile_intern_place(
								      p, image, t->pcs.v[i], 0))});
		}
	}
}

static int load_text(struct in *in, const char *text, size_t n, struct err *err)
{
	struct dcpi_text_reader r = dcpi_text_begin(text, n);
	struct dcpi_text t;
	int e;

	while ((e = dcpi_text_next(&r, &t, err)) > 0) {
		add_text(in, &t);
		dcpi_text_release(&t);
	}
	return e;
}

/* One file, NAME in DIRFD, of the epoch that began at EPOCH_S (0: as its header says). */
static int load_file(struct in *in, int dirfd, const char *path, bool nofollow, uint64_t epoch_s,
		     struct err *err)
{
	struct file_map map;
	struct dcpi_file f;
	int r = file_map_open(&map, dirfd, path, nofollow, err);

	if (r < 0)
		return r;
	if (dcpi_text_probe((const char *)map.bytes, map.n_bytes)) {
		r = load_text(in, (const char *)map.bytes, map.n_bytes, err);
	} else {
		r = dcpi_read(&f, map.bytes, map.n_bytes, in->sel.stride, err);
		if (r == 0) {
			r = add_file(in, &f, str_basename(path), epoch_s ? epoch_s : f.epoch_s,
				     err);
			dcpi_release(&f);
		}
	}
	file_map_close(&map);
	return r;
}

/* Trees. */

typedef VEC(char *) names;

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void names_release(names *n)
{
	vec_each (s, n)
		free(*s);
	vec_release(n);
}

/* The names in DIRFD (kept open) in order, without those beginning with '.'. */
static int list_names(int dirfd, names *ret, struct err *err)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		int code = -errno;

		if (fd >= 0)
			close(fd);
		return err_errno(err, code, "reading the directory");
	}
	while ((e = readdir(d)))
		if (e->d_name[0] != '.')
			vec_push(ret, xstrdup(e->d_name));
	closedir(d);
	vec_sort(ret, by_name);
	return 0;
}

static int open_dir(int dirfd, const char *name, bool nofollow, struct err *err)
{
	int fd = openat(dirfd, name,
			O_RDONLY | O_DIRECTORY | O_CLOEXEC | (nofollow ? O_NOFOLLOW : 0));

	return fd < 0 ? err_errno(err, -errno, "%s", name) : fd;
}

static bool is_dir(int dirfd, const char *name)
{
	struct stat st;

	return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* What lies beside profiles and is clearly none. */
static bool is_beside(const char *name)
{
	return str_ends(name, ".log") || str_ends(name, "~");
}

struct tree {
	const char *path;
	struct in *in;
	names hosts_done; /* hosts that a later epoch had */
	size_t n_read;	  /* EPOCH/HOST directories */
};

static int load_host(struct tree *t, int epochfd, const char *epoch, const char *host,
		     struct err *err)
{
	_fd_ int fd = open_dir(epochfd, host, true, err);
	names files = {0};
	uint64_t epoch_s = 0;
	int r = fd < 0 ? fd : list_names(fd, &files, err);

	if (r < 0)
		return err_prefix(err, r, "%s/%s/%s", t->path, epoch, host);
	dcpi_parse_time(epoch, &epoch_s);
	t->in->seen.n = 0;
	vec_each (name, &files) {
		struct err why = {""};

		if (is_beside(*name))
			continue;
		r = load_file(t->in, fd, *name, true, epoch_s, &why);
		if (r < 0) {
			err_set(err, r, "%s/%s/%s/%s: %s; move it away to read the others", t->path,
				epoch, host, *name, why.msg);
			break;
		}
	}
	names_release(&files);
	return r;
}

static bool host_done(const struct tree *t, const char *host)
{
	vec_each (h, &t->hosts_done)
		if (strcmp(*h, host) == 0)
			return true;
	return false;
}

/* Whether NAME, or the same time written with 14 digits (FULL), begins with the N bytes at T. */
static bool begins(const char *name, const char *full, const char *t, size_t n)
{
	return strncmp(name, t, n) == 0 || strncmp(full, t, n) == 0;
}

/* Whether SPEC (dcpi_select.epochs) takes the epoch directory NAME, the newest of its host if
 * LATEST. */
static bool epoch_selected(const char *spec, const char *name, bool latest)
{
	uint64_t s = 0;
	char full[15];

	dcpi_parse_time(name, &s);
	dcpi_format_time(s, 14, full);
	for (const char *t = spec ? spec : "latest"; *t;) {
		size_t n = strcspn(t, ",");
		const char *dots = memmem(t, n, "..", 2);

		if (dots) {
			size_t n_to = (size_t)(t + n - dots - 2);

			if (strncmp(full, t, (size_t)(dots - t)) >= 0 &&
			    (!n_to || strncmp(full, dots + 2, n_to) <= 0))
				return true;
		} else if (n == 6 && memcmp(t, "latest", n) == 0) {
			if (latest)
				return true;
		} else if ((n == 3 && memcmp(t, "all", n) == 0) ||
			   (n && begins(name, full, t, n))) {
			return true;
		}
		t += n + (t[n] == ',');
	}
	return false;
}

/* Reads the hosts of EPOCH that are selected; epochs come latest first. */
static int load_epoch(struct tree *t, int rootfd, const char *epoch, struct err *err)
{
	_fd_ int fd = open_dir(rootfd, epoch, true, err);
	names hosts = {0};
	int r = fd < 0 ? fd : list_names(fd, &hosts, err);

	if (r < 0)
		return err_prefix(err, r, "%s", t->path);
	vec_each (host, &hosts) {
		bool latest = !host_done(t, *host);

		if ((t->in->sel.host && strcmp(t->in->sel.host, *host) != 0) || is_beside(*host) ||
		    !epoch_selected(t->in->sel.epochs, epoch, latest))
			continue;
		if (!is_dir(fd, *host)) {
			r = err_set(err, -EBADMSG,
				    "%s/%s/%s is not a host's directory; move it away to read the "
				    "others",
				    t->path, epoch, *host);
			break;
		}
		r = load_host(t, fd, epoch, *host, err);
		if (r < 0)
			break;
		t->n_read++;
	}
	vec_each (host, &hosts)
		if (!host_done(t, *host))
			vec_push(&t->hosts_done, xstrdup(*host));
	names_release(&hosts);
	return r;
}

/* The names of epoch directories, latest first.  What else is in a tree's root is not looked at. */
static int latest_first(const void *a, const void *b)
{
	uint64_t x = 0, y = 0;

	dcpi_parse_time(*(char *const *)a, &x);
	dcpi_parse_time(*(char *const *)b, &y);
	return x < y ? 1 : x > y ? -1 : -by_name(a, b);
}

static int list_epochs(int rootfd, names *ret, struct err *err)
{
	names all = {0};
	int r = list_names(rootfd, &all, err);

	vec_each (name, &all) {
		uint64_t s;

		if (dcpi_parse_time(*name, &s) == 0 && is_dir(rootfd, *name))
			vec_push(ret, xstrdup(*name));
	}
	names_release(&all);
	vec_sort(ret, latest_first);
	return r;
}

/* A few of NAMES for a message. */
static char *some_of(char *const *v, size_t n)
{
	struct str s = {0};

	for (size_t i = 0; i < n && i < 8; i++)
		str_addf(&s, "%s%s", i ? ", " : "", v[i]);
	if (n > 8)
		str_addf(&s, " and %zu more", n - 8);
	return s.v ? s.v : xstrdup("none");
}

static int nothing_read(const struct tree *t, const names *epochs, struct err *err)
{
	const struct dcpi_select *sel = &t->in->sel;
	_mem_ char *there = some_of(epochs->v, epochs->n);

	if (!epochs->n)
		return err_set(err, -ENOENT, "%s is no DCPI tree (EPOCH/HOST/FILE)", t->path);
	return err_set(err, -ENOENT, "%s: no profiles of epoch %s%s%s; its epochs are %s", t->path,
		       sel->epochs ? sel->epochs : "latest", sel->host ? " and host " : "",
		       sel->host ? sel->host : "", there);
}

static int load_tree(struct in *in, const char *path, struct err *err)
{
	struct tree t = {.path = path, .in = in};
	_fd_ int fd = open_dir(AT_FDCWD, path, false, err);
	names epochs = {0};
	int r = fd < 0 ? fd : list_epochs(fd, &epochs, err);

	for (size_t i = 0; i < epochs.n && r == 0; i++)
		r = load_epoch(&t, fd, epochs.v[i], err);
	if (r == 0 && !t.n_read)
		r = nothing_read(&t, &epochs, err);
	names_release(&epochs);
	names_release(&t.hosts_done);
	return r;
}

int dcpi_in_load(const char *path, const struct dcpi_select *sel, struct profile *p,
		 struct err *err)
{
	struct in in = {.p = p, .sel = sel ? *sel : (struct dcpi_select){0}};
	struct err why = {""};
	struct stat st;
	int r;

	if (stat(path, &st) < 0)
		return err_errno(err, -errno, "%s", path);
	if (S_ISDIR(st.st_mode)) {
		r = load_tree(&in, path, err);
	} else {
		r = load_file(&in, AT_FDCWD, path, false, 0, &why);
		if (r == -EBADMSG || r == -ENODATA)
			err_set(err, r, "%s: %s; get a new copy of the file", path, why.msg);
		else if (r < 0)
			err_set(err, r, "%s: %s", path, why.msg);
	}
	if (r == 0 && !in.n_taken && in.skipped.n) {
		_mem_ char *there = some_of((char *const *)in.skipped.v, in.skipped.n);

		r = err_set(err, -ENOENT,
			    "%s has no profile of that event and label; its events are %s", path,
			    there);
	}
	vec_release(&in.seen);
	vec_release(&in.skipped);
	return r;
}

/* Whether DIRFD/NAME is a profile file. */
static bool probe_file(int dirfd, const char *name)
{
	struct file_map map;
	bool is;

	if (file_map_open(&map, dirfd, name, false, NULL) < 0)
		return false;
	is = dcpi_probe(map.bytes, map.n_bytes) ||
	     dcpi_text_probe((const char *)map.bytes, map.n_bytes);
	file_map_close(&map);
	return is;
}

/* Whether any file DEPTH levels below DIRFD is one. */
static bool probe_below(int dirfd, int depth)
{
	names v = {0};
	bool is = false;

	list_names(dirfd, &v, NULL);
	vec_each (name, &v) {
		if (is)
			break;
		if (depth == 0) {
			is = !is_dir(dirfd, *name) && probe_file(dirfd, *name);
		} else {
			_fd_ int fd = open_dir(dirfd, *name, true, NULL);

			is = fd >= 0 && probe_below(fd, depth - 1);
		}
	}
	names_release(&v);
	return is;
}

int dcpi_in_probe(const char *path)
{
	_fd_ int fd = -1;
	names epochs = {0};
	struct stat st;
	bool is = false;

	if (stat(path, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return S_ISREG(st.st_mode) && probe_file(AT_FDCWD, path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	list_epochs(fd, &epochs, NULL);
	vec_each (e, &epochs) {
		_fd_ int sub = open_dir(fd, *e, true, NULL);

		is = is || (sub >= 0 && probe_below(sub, 1));
	}
	names_release(&epochs);
	return is;
}
