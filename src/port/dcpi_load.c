/* SPDX-License-Identifier: BSD-2-Clause */
/* DCPI files into the model.
 *
 * A file is one (image, event, label): its samples get an owner that has nothing but the label.
 * Lines dwell-... are our own (dcpi_out.c); without them an image is a file identified by its image
 * id, and an event has its name and period.  What the lines say of an event as a whole (times,
 * losses) stands in each of its files, so it counts once per epoch and host: `facts` holds what
 * was taken. */
#include "port/dcpi_load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "formats/dcpi.h"
#include "formats/dcpi_text.h"
#include "port/dcpi_pm.h"

static bool dcpi_load_listed(const opt_list *list, const char *s)
{
	if (!list || !list->n)
		return true;
	vec_each (item, list)
		if (strcmp(*item, s) == 0)
			return true;
	return false;
}

static bool selected(struct dcpi_load *l, const char *event, const char *label)
{
	if (dcpi_load_listed(l->sel.events, event) && dcpi_load_listed(l->sel.labels, label)) {
		l->n_taken++;
		return true;
	}
	vec_each (s, &l->skipped)
		if (strcmp(*s, event) == 0)
			return false;
	vec_push(&l->skipped, profile_str(l->p, profile_intern_str(l->p, event)));
	return false;
}

/* An image id as a build-id: DCPI's has 20 digits, ours as many as the build-id.  Other people's
 * may be anything; what is no build-id of ours is hashed to one. */
static void parse_image_id(const char *hex, struct image *im)
{
	uint64_t half[2];
	_mem_ char *even = NULL;

	if (build_id_parse(hex, &im->build_id) >= 0)
		return;
	even = xasprintf("0%s", hex);
	if (build_id_parse(even, &im->build_id) >= 0)
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

/* How much N exceeds what other files of this epoch and host said of the same.  They say all the
 * same, but for files that an export has not got to or no longer makes, which say less. */
static uint64_t news(struct dcpi_load *l, event_id event, uint32_t what, uint64_t n)
{
	uint64_t more;

	vec_each (f, &l->facts) {
		if (f->event != event || f->what != what)
			continue;
		more = n > f->n ? n - f->n : 0;
		f->n += more;
		return more;
	}
	vec_push(&l->facts, (struct dcpi_fact){event, what, n});
	return n;
}

/* Takes the losses F states: once per epoch and host, or, from a file that
 * speaks for itself, all. */
static int add_losses(struct dcpi_load *l, const struct dcpi_file *f, event_id event, bool for_all,
		      struct err *err)
{
	vec_each (line, &f->lines) {
		uint64_t n = 0;
		int at = 0;
		string_id name;

		if (line->n_word != 10 || memcmp(line->text, "dwell-lost", 10) != 0)
			continue;
		if (sscanf(line->value, "%" SCNu64 " %n", &n, &at) != 1 || !at)
			return bad_line("dwell-lost", line->value, err);
		name = profile_intern_str(l->p, line->value + at);
		if (for_all)
			n = news(l, event, 4 + name, n);
		else
			l->p->events.v[event].n_reached += n;
		profile_add_loss(l->p, line->value + at, event, n);
	}
	return 0;
}

/* Takes the event's sums and losses, once per epoch and host. */
static int add_event_sums(struct dcpi_load *l, const struct dcpi_file *f, event_id event,
			  bool is_samples, struct err *err)
{
	const char *sums = dcpi_find(f, "dwell-event");
	struct event *e = &l->p->events.v[event];
	uint64_t v[4];

	if (!sums) {
		e->n_reached += is_samples ? dcpi_n_samples(f) : 0;
		return add_losses(l, f, event, false, err);
	}
	if (sscanf(sums, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &v[0], &v[1], &v[2],
		   &v[3]) != 4)
		return bad_line("dwell-event", sums, err);
	e->enabled_ns += news(l, event, 0, v[0]);
	e->running_ns += news(l, event, 1, v[1]);
	e->total += news(l, event, 2, v[2]);
	e->n_reached += news(l, event, 3, v[3]);
	return add_losses(l, f, event, true, err);
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

/* Adds what only our own files say of the recording. */
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

/* The column that F is of: of a sample set when its event is SET:COUNTER, in *RET_NAME its event's
 * name, to be freed. */
static struct dcpi_pm column_of(struct profile *p, const struct dcpi_file *f, char **ret_name)
{
	_mem_ char *set = xstrdup(f->event);
	char *colon = dcpi_text_split_counter(set);
	struct dcpi_pm pm = {0};

	if (colon && dcpi_pm_parse(p, set, colon, &pm))
		*ret_name = xstrndup(pm.event, pm.n_event);
	else
		*ret_name = xstrdup(f->event);
	pm.event = NULL; /* it lies in SET */
	return pm;
}

/* Adds F's counts.  Samples are values at once; counters wait for the other files. */
static void add_counts(struct dcpi_load *l, const struct dcpi_file *f, const struct dcpi_pm *pm,
		       owner_id owner, image_id image, event_id event)
{
	struct profile *p = l->p;
	const bool is_set = pm->vector.known || pm->vector.counter;
	struct value v = {.owner = owner, .event = event};

	if (is_set)
		dcpi_pieces_add_file(&l->pieces, owner, image, event, pm);
	v.vector = pm->vector.counter ? 0 : profile_intern_vector(p, &pm->vector);
	vec_each (c, &f->chunks) {
		for (uint32_t i = 0; i < c->n; i++) {
			uint64_t svma = f->tstart + c->off + (uint64_t)i * f->stride;

			v.count = f->counts.v[c->first + i];
			if (!v.count)
				continue;
			v.ctx = profile_flat_ctx(p, profile_intern_place(p, image, svma, 0));
			if (is_set)
				dcpi_pieces_add(&l->pieces, owner, image, event, pm, v.ctx,
						v.count);
			if (!pm->vector.counter)
				profile_add_value(p, &v);
		}
	}
}

static int add_file(struct dcpi_load *l, const struct dcpi_file *f, const char *name,
		    uint64_t epoch_s, struct err *err)
{
	struct profile *p = l->p;
	const char *label = dcpi_find(f, "label"), *freq = dcpi_find(f, "dwell-freq"),
		   *unit = dcpi_find(f, "dwell-unit"), *cpus = dcpi_find(f, "cpucount"),
		   *whose = dcpi_find(f, "dwell-owner");
	struct event e = {.period = f->period ? f->period : 1};
	_mem_ char *event_name = NULL;
	struct dcpi_pm pm = column_of(p, f, &event_name);
	uint64_t n_cpus = 0;
	struct image im;
	event_id event;
	image_id image;
	owner_id owner;
	int r;

	label = label ? label : "";
	if (!selected(l, event_name, label))
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
	e.name = profile_intern_str(p, event_name);
	e.unit = profile_intern_str(p, unit ? unit : "");
	event = profile_intern_event(p, &e);
	r = add_event_sums(l, f, event, !pm.vector.counter, err);
	if (r < 0 || (!dcpi_n_samples(f) && !pm.vector.counter))
		return r;
	owner = label_owner(p, label, whose && strcmp(whose, "idle") == 0);
	image = profile_intern_image(p, &im);
	if (l->sel.kept)
		dcpi_kept_add(l->sel.kept, p, image, label, f);
	add_counts(l, f, &pm, owner, image, event);
	return 0;
}

/* A column of dcpicat's text as the model has it. */
struct text_column {
	bool wanted;
	event_id event;
	struct dcpi_pm pm; /* of what is no ProfileMe column nothing: samples */
	size_t counts;	   /* of a counter: the column of the samples it is of */
};

/* The event of column TE.  What is no set that can be understood is an event of its own, named as
 * printed. */
static event_id text_event(struct profile *p, const struct dcpi_text_event *te,
			   const struct dcpi_pm *pm)
{
	struct event e = {.period = te->period ? te->period : 1};
	event_id event;

	if (pm->event)
		e.name = profile_intern_strn(p, pm->event, pm->n_event);
	else if (te->counter) {
		_mem_ char *name = xasprintf("%s:%s", te->name, te->counter);

		e.name = profile_intern_str(p, name);
	} else {
		e.name = profile_intern_str(p, te->name);
	}
	e.n_reached = pm->vector.counter ? 0 : te->total;
	event = profile_intern_event(p, &e);
	/* Only the share is known; one value for all images of an event. */
	p->events.v[event].enabled_ns = DCPI_DUTY_ALWAYS;
	p->events.v[event].running_ns = te->duty;
	return event;
}

/* Whether column A tells of how many samples the counter of B is. */
static bool is_count_of(const struct text_column *a, const struct text_column *b, bool measured)
{
	const struct vector *x = &a->pm.vector, *y = &b->pm.vector;

	return a->wanted && a->event == b->event && x->known == y->known && x->value == y->value &&
	       a->pm.measured == measured && x->counter == (measured ? y->counter : 0);
}

static struct text_column *text_columns(struct dcpi_load *l, const struct dcpi_text *t)
{
	const char *label = t->label ? t->label : "";
	struct text_column *columns = xcalloc(t->events.n + 1, sizeof(*columns));

	for (size_t k = 0; k < t->events.n; k++) {
		const struct dcpi_text_event *te = &t->events.v[k];
		struct text_column *c = &columns[k];
		_mem_ char *whole =
			te->counter ? xasprintf("%s:%s", te->name, te->counter) : xstrdup(te->name);
		_mem_ char *event = NULL;

		if (te->counter && dcpi_pm_parse(l->p, te->name, te->counter, &c->pm))
			event = xstrndup(c->pm.event, c->pm.n_event);
		c->wanted = selected(l, event ? event : whole, label);
		if (c->wanted)
			c->event = text_event(l->p, te, &c->pm);
	}
	for (size_t k = 0; k < t->events.n; k++) {
		columns[k].counts = SIZE_MAX;
		for (unsigned measured = 0; measured < 2; measured++)
			for (size_t i = 0; i < t->events.n; i++)
				if (is_count_of(&columns[i], &columns[k], measured))
					columns[k].counts = i;
	}
	return columns;
}

/* What column K says in row I; false: nothing. */
static bool text_value(struct profile *p, const struct dcpi_text *t,
		       const struct text_column *columns, size_t i, size_t k, struct value *ret)
{
	const struct text_column *c = &columns[k];
	const uint64_t *row = t->counts.v + i * t->events.n;

	if (!c->wanted || c->pm.measured)
		return false;
	ret->event = c->event;
	ret->vector = profile_intern_vector(p, &c->pm.vector);
	ret->count = row[k];
	ret->sum = 0;
	if (c->pm.vector.counter) {
		ret->count = c->counts == SIZE_MAX ? 0 : row[c->counts];
		ret->sum = row[k];
	}
	return value_counts(ret);
}

/* Keeps what the text says of column TE besides: further paths, and lines
 * that mean nothing here. */
static void keep_lines(struct dcpi_load *l, const struct dcpi_text *t, image_id image,
		       const struct dcpi_text_event *te)
{
	const char *label = t->label ? t->label : "";
	_mem_ char *event =
		te->counter ? xasprintf("%s:%s", te->name, te->counter) : xstrdup(te->name);

	for (size_t i = 0; l->sel.kept && i < t->paths.n; i++) {
		_mem_ char *line = xasprintf("%-9s %s", "path", t->paths.v[i]);

		dcpi_kept_add_line(l->sel.kept, l->p, image, event, label, line, strlen(line));
	}
	for (size_t i = 0; l->sel.kept && i < t->others.n; i++)
		dcpi_kept_add_line(l->sel.kept, l->p, image, event, label, t->others.v[i],
				   strlen(t->others.v[i]));
}

/* dcpicat's text. */
static void add_text(struct dcpi_load *l, const struct dcpi_text *t)
{
	struct profile *p = l->p;
	struct image im = {.kind = IMAGE_FILE,
			   .path = t->paths.n ? t->paths.v[0] : t->name,
			   .text_start = t->text_start,
			   .text_bytes = t->text_bytes};
	struct text_column *columns = text_columns(l, t);
	struct value v = {0};
	uint64_t epoch_s = 0;
	image_id image;

	parse_image_id(t->image, &im);
	dcpi_parse_time(t->epoch, &epoch_s);
	image = profile_intern_image(p, &im);
	for (size_t k = 0; k < t->events.n; k++)
		if (columns[k].wanted) {
			add_meta(p, t->platform, epoch_s, 0);
			keep_lines(l, t, image, &t->events.v[k]);
		}
	v.owner = label_owner(p, t->label ? t->label : "", false);
	for (size_t i = 0; i < t->pcs.n; i++)
		for (size_t k = 0; k < t->events.n; k++) {
			if (!text_value(p, t, columns, i, k, &v))
				continue;
			v.ctx = profile_flat_ctx(p, profile_intern_place(p, image, t->pcs.v[i], 0));
			profile_add_value(p, &v);
		}
	free(columns);
}

static int load_text(struct dcpi_load *l, const char *text, size_t n, struct err *err)
{
	struct dcpi_text_reader r = dcpi_text_begin(text, n);
	struct dcpi_text t;
	int e;

	while ((e = dcpi_text_next(&r, &t, err)) > 0) {
		add_text(l, &t);
		dcpi_text_release(&t);
	}
	return e;
}

int dcpi_load_file(struct dcpi_load *l, int dirfd, const char *path, bool nofollow,
		   uint64_t epoch_s, struct err *err)
{
	struct file_map map;
	struct dcpi_file f;
	int r = file_map_open(&map, dirfd, path, nofollow, err);

	if (r < 0)
		return r;
	if (dcpi_text_probe((const char *)map.bytes, map.n_bytes)) {
		r = load_text(l, (const char *)map.bytes, map.n_bytes, err);
	} else {
		r = dcpi_read(&f, map.bytes, map.n_bytes, l->sel.stride, err);
		if (r >= 0) {
			r = add_file(l, &f, str_basename(path), epoch_s ? epoch_s : f.epoch_s, err);
			dcpi_release(&f);
		}
	}
	file_map_close(&map);
	return r;
}

char *dcpi_some_of(const char *const *v, size_t n)
{
	struct str s = {0};

	for (size_t i = 0; i < n && i < 8; i++)
		str_addf(&s, "%s%s", i ? ", " : "", v[i]);
	if (n > 8)
		str_addf(&s, " and %zu more", n - 8);
	return s.v ? s.v : xstrdup("none");
}
