/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes a database out of a description on stdin, for the command line tests:
 *
 *     meta HOST START_SECONDS SECONDS COMMAND...
 *     recording HOST SECONDS
 *                           of this host, in an epoch that began so many seconds after 1970
 *     event NAME PERIOD [ENABLED_NS RUNNING_NS TOTAL]
 *     time NAME             an event of time, such as blocked: COUNT is nanoseconds
 *     image KIND PATH       the build-id is that of the file at PATH, none when it cannot be read
 *     owner FLAGS LABEL [KEY=VALUE]...
 *                           FLAGS: idle, kernel or -; LABEL or -;
 *                           KEY: comm exe cgroup uid pid tid thread
 *     container ID [KEY=VALUE]...
 *                           of a cgroup; KEY: name image pod namespace version tenant
 *     path                  the samples that follow have no callers
 *     frame SVMA [guessed]  one more caller in the last image, outermost first; of a mark: 0
 *     facts [FACT]...       what is known of the samples that follow: BIT, !BIT, COUNTER=VALUE;
 * trap bits that are not named are unknown unless one is; none: nothing is sample SVMA COUNT     of
 * the last event, image, owner, callers and facts loss NAME COUNT       of the last event thread
 * PID TID START END [DROPPED] a time line of the last owner, in microseconds since the recording's
 *                           start; START 0: before it, END 0: never
 *     point TIME SVMA       of the last thread; event, image and callers as for a sample
 *
 * Usage: mkdb DB < DESCRIPTION */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "model/container.h"
#include "model/fact.h"
#include "model/trace.h"
#include "resolve/elf_probe.h"
#include "store/store.h"

static struct profile p;
static event_id event;
static image_id image;
static owner_id owner;
static ctx_id callers;
static struct sample_facts facts;
static trace_id thread;
static char recorder_host[100] = "testhost";
static uint64_t epoch_ns;

static void die(const char *what, const char *why)
{
	fprintf(stderr, "mkdb: %s: %s\n", what, why);
	exit(2);
}

static void add_event(const char *args)
{
	struct event e = {.period = 1};
	unsigned long long n[4] = {0};
	char name[100];
	int got = sscanf(args, "%99s %llu %llu %llu %llu", name, &n[0], &n[1], &n[2], &n[3]);

	if (got < 2)
		die("event", args);
	e.name = profile_intern_str(&p, name);
	e.period = n[0];
	e.enabled_ns = n[1];
	e.running_ns = n[2];
	e.total = n[3];
	event = profile_intern_event(&p, &e);
}

static void add_time(const char *args)
{
	struct event e = {.period = 1};

	char name[100];

	if (sscanf(args, "%99s", name) != 1)
		die("time", args);
	e.name = profile_intern_str(&p, name);
	e.unit = profile_intern_str(&p, "ns");
	event = profile_intern_event(&p, &e);
}

static void add_image(const char *args)
{
	struct image im = {0};
	struct image_layout layout;
	char kind[80], path[1000], *id;
	int fd;

	if (sscanf(args, "%79s %999[^\n]", kind, path) != 2)
		die("image", args);
	id = strchr(kind, ':');
	if (id)
		*id++ = '\0';
	while (im.kind < N_IMAGE_KINDS && strcmp(image_kind_name(im.kind), kind) != 0)
		im.kind++;
	if (im.kind == N_IMAGE_KINDS)
		die("kind", kind);
	im.path = path;
	fd = im.kind == IMAGE_FILE && !id ? open(path, O_RDONLY) : -1;
	if (fd >= 0 && elf_probe(fd, &layout, NULL) == 0)
		im.build_id = layout.build_id;
	if (fd >= 0)
		close(fd);
	if (id && build_id_parse(id, &im.build_id) < 0)
		die("build-id", id);
	/* Another kernel than the one that runs, whose names are not to be had. */
	if (im.kind == IMAGE_KERNEL)
		im.build_id = (struct build_id){.n_bytes = 2, .bytes = {0xee, 0xee}};
	image = profile_intern_image(&p, &im);
}

static void set_owner_key(struct owner *o, const char *key, const char *value)
{
	const struct {
		const char *name;
		uint32_t *to;
		bool is_text;
	} keys[] = {{"comm", &o->comm, true},	      {"exe", &o->exe, true},
		    {"cgroup", &o->cgroup, true},     {"uid", &o->uid, false},
		    {"pid", &o->pid, false},	      {"tid", &o->tid, false},
		    {"thread", &o->thread_name, true}};

	for (size_t i = 0; i < n_elems(keys); i++) {
		if (strcmp(keys[i].name, key) != 0)
			continue;
		*keys[i].to = keys[i].is_text ? profile_intern_str(&p, value)
					      : (uint32_t)strtoul(value, NULL, 10);
		return;
	}
	die("owner", key);
}

static void add_container(const char *args)
{
	static const char *const keys[CONTAINER_N_TEXTS] = {"id",	 "name",    "image", "pod",
							    "namespace", "version", "tenant"};
	_mem_ char *text = xasprintf("id=%s", args + strspn(args, " "));
	char *rest = NULL;
	struct container c = {{0}};

	for (char *word = strtok_r(text, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
		char *value = strchr(word, '=');
		size_t i = 0;

		while (value && i < CONTAINER_N_TEXTS &&
		       strncmp(keys[i], word, (size_t)(value - word)))
			i++;
		if (!value || i == CONTAINER_N_TEXTS)
			die("container", word);
		c.text[i] = profile_intern_str(&p, value + 1);
	}
	profile_add_container(&p, &c);
}

static void add_owner(const char *args)
{
	char flags[16], label[100], *text, *word, *rest;
	struct owner o = {.uid = OWNER_UID_UNKNOWN};
	int n;

	if (sscanf(args, "%15s %99s%n", flags, label, &n) != 2)
		die("owner", args);
	o.flags = strcmp(flags, "idle") == 0	 ? OWNER_IDLE
		  : strcmp(flags, "kernel") == 0 ? OWNER_KERNEL
						 : 0;
	o.label = strcmp(label, "-") == 0 ? 0 : profile_intern_str(&p, label);
	text = xstrdup(args + n);
	for (word = strtok_r(text, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
		char *value = strchr(word, '=');

		if (!value)
			die("owner", word);
		*value++ = '\0';
		set_owner_key(&o, word, value);
	}
	free(text);
	owner = profile_intern_owner(&p, &o);
}

static void clear_path(const char *args)
{
	(void)args;
	callers = 0;
}

static void add_frame(const char *args)
{
	unsigned long long svma;
	char flag[16] = "";

	if (sscanf(args, "%llx %15s", &svma, flag) < 1)
		die("frame", args);
	callers = profile_intern_ctx(
		&p, callers,
		profile_intern_place(&p, image, svma,
				     strcmp(flag, "guessed") == 0 ? PLACE_GUESSED : 0));
}

static void add_fact(const char *word)
{
	const bool negative = *word == '!';
	const char *name = word + negative, *value = strchr(name, '=');
	size_t n = value ? (size_t)(value - name) : strlen(name);
	int number = value ? fact_find_counter(NULL, name, n) : fact_find_bit(NULL, name, n);

	if (number < 0)
		die("facts", word);
	if (value)
		facts_set_counter(&facts, (unsigned)number, strtoull(value + 1, NULL, 10));
	else
		facts_set(&facts, (unsigned)number, !negative);
	if (!value && !negative && FACT_MASK(number) & FACT_TRAPS)
		facts.known |= FACT_TRAPS;
}

static void set_facts(const char *args)
{
	char *text = xstrdup(args), *rest, *word;

	facts = (struct sample_facts){0};
	for (word = strtok_r(text, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest))
		add_fact(word);
	facts_settle(&facts);
	free(text);
}

/* Samples of the owner and event that came in a minute since 1970. */
static void add_minute(const char *args)
{
	unsigned long long count;
	struct moment m = {.owner = owner, .event = event};

	if (sscanf(args, "%u %llu", &m.minute, &count) != 2)
		die("minute", args);
	m.count = count;
	profile_add_moment(&p, &m);
}

static void add_sample(const char *args)
{
	unsigned long long svma, count;
	ctx_id ctx;

	if (sscanf(args, "%llx %llu", &svma, &count) != 2)
		die("sample", args);
	ctx = profile_intern_ctx(&p, callers, profile_intern_place(&p, image, svma, 0));
	if (*event_measures(&p, &p.events.v[event])) {
		profile_add_value(&p, &(struct value){.owner = owner,
						      .ctx = ctx,
						      .event = event,
						      .count = 1,
						      .sum = count});
		p.events.v[event].n_reached++;
		return;
	}
	facts_add(&p, owner, ctx, event, &facts, count);
	p.events.v[event].n_reached += count;
}

static void add_loss(const char *args)
{
	char name[100];
	unsigned long long n;

	if (sscanf(args, "%99s %llu", name, &n) != 2)
		die("loss", args);
	profile_add_loss(&p, name, event, n);
	p.events.v[event].n_reached += n;
}

static uint64_t wall_ns(unsigned long long us)
{
	return p.meta.start_wall_ns + us * 1000;
}

static void add_thread(const char *args)
{
	struct trace t = {.owner = owner};
	unsigned long long start, end, dropped = 0;

	if (sscanf(args, "%u %u %llu %llu %llu", &t.pid, &t.tid, &start, &end, &dropped) < 4)
		die("thread", args);
	t.start_ns = start ? wall_ns(start) : 0;
	t.end_ns = end ? wall_ns(end) : 0;
	t.n_dropped = dropped;
	thread = profile_intern_trace(&p, &t);
}

static void add_point(const char *args)
{
	struct trace_point point = {.event = event};
	unsigned long long us, svma;

	if (sscanf(args, "%llu %llx", &us, &svma) != 2)
		die("point", args);
	point.time_ns = wall_ns(us);
	point.ctx = profile_intern_ctx(&p, callers, profile_intern_place(&p, image, svma, 0));
	trace_add_point(&p, thread, &point);
}

static void add_meta(const char *args)
{
	char host[100], command[200] = "";
	unsigned long long start, seconds;

	if (sscanf(args, "%99s %llu %llu %199[^\n]", host, &start, &seconds, command) < 3)
		die("meta", args);
	p.meta.host = profile_intern_str(&p, host);
	p.meta.command = profile_intern_str(&p, command);
	p.meta.start_wall_ns = start * 1000000000;
	p.meta.end_wall_ns = (start + seconds) * 1000000000;
}

static void set_recording(const char *args)
{
	unsigned long long seconds;

	if (sscanf(args, "%99s %llu", recorder_host, &seconds) != 2)
		die("recording", args);
	epoch_ns = seconds * 1000000000;
}

static const struct {
	const char *word;
	void (*add)(const char *args);
} words[] = {{"event", add_event}, {"time", add_time},		 {"image", add_image},
	     {"owner", add_owner}, {"container", add_container}, {"path", clear_path},
	     {"frame", add_frame}, {"facts", set_facts},	 {"sample", add_sample},
	     {"loss", add_loss},   {"meta", add_meta},		 {"thread", add_thread},
	     {"point", add_point}, {"recording", set_recording}, {"minute", add_minute}};

int main(int argc, char **argv)
{
	struct store_opts o = {.host = recorder_host};
	struct store *s;
	struct err err;
	char line[12000];

	if (argc != 2)
		die("usage", "mkdb DB < DESCRIPTION");
	profile_init(&p);
	while (fgets(line, sizeof(line), stdin)) {
		size_t n = strcspn(line, " \n");
		bool known = n == 0;

		for (size_t i = 0; i < n_elems(words); i++) {
			if (strlen(words[i].word) != n || memcmp(words[i].word, line, n) != 0)
				continue;
			words[i].add(line + n);
			known = true;
		}
		if (!known)
			die("unknown word", line);
	}
	o.now_wall_ns = epoch_ns;
	if (store_create(argv[1], &o, &s, &err) < 0 || store_flush(s, &p, NULL, 0, &err) < 0 ||
	    store_close(s, &err) < 0)
		die(argv[1], err.msg);
	profile_release(&p);
	return 0;
}
