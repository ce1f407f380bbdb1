/* SPDX-License-Identifier: BSD-2-Clause */
/* See readers.h.
 *
 * A question is known by its kind and by what file it is about (base/file_stamp.h). */
#include "daemon/readers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_stamp.h"
#include "base/hash.h"
#include "base/vec.h"
#include "confine/forker.h"
#include "formats/container.h"
#include "formats/json_in.h"
#include "daemon/table_cache.h"
#include "resolve/answer.h"
#include "resolve/elf_probe.h"
#include "resolve/elf_unwind.h"
#include "resolve/image_symbols.h"
#include "resolve/jitread.h"
#include "unwind/interpreter.h"
#include "resolve/keep.h"
#include "resolve/lines.h"

/* Files that ended children are remembered, so many at a time. */
#define MOST_BAD 4096

/* File systems are remembered, so many. */
#define MOST_DEVICES 512

/* One that did not answer is not asked again for so long. */
#define SILENT_NS (600ull * 1000000000)

/* So many late answers in a row are a file system's that does not answer. */
#define MOST_LATE 3

/* While a question about a file on it is as old as this, no other is asked. */
#define SLOW_NS (1000ull * 1000000)

/* That no child can be made is said again after so long. */
#define REFUSED_SAID_NS (600ull * 1000000000)

/* With so many children held, only file systems are asked that have answered before. */
#define MOST_STUCK 16

/* An answer that nobody asks for again in this time is forgotten. */
#define STALE_NS (600ull * 1000000000)

/* A walk in this process cannot go on without the table: it waits this long. */
#define TABLE_WAIT_NS (5ull * 1000000000)

struct file_key {
	struct file_stamp stamp;
	enum reader_kind kind;
};

struct question {
	struct file_key key;
	uint64_t asked_ns; /* last */
	struct confine_ask *ask;
};

/* What is known of a file system: when it last failed to answer, CLOCK_MONOTONIC, or 0. */
struct known_device {
	uint64_t dev, silent_ns;
	unsigned n_late; /* questions in a row that took too long */
};

static struct {
	struct forker *forker; /* NULL: there are none */
	VEC(struct question) questions;
	VEC(struct file_key) bad;
	VEC(struct known_device) devices;
	size_t n_bad;	 /* ever: the next one takes place n_bad % MOST_BAD */
	uint64_t n_came; /* times that something came */
	struct readers_stats stats;
	void (*say)(void *ctx, const char *text);
	void *say_ctx;
	bool said_end;
	uint64_t refused_ns;  /* when it was said last that no child can be made; 0: never */
	bool is_large;	      /* as readers_start was told */
	bool without_scripts; /* as readers_without_scripts was told */
	struct file_stamp
		read; /* the file of the answer that was taken last, when it was asked about */
	bool nosuid;  /* the file of the answer that was taken last is on such a mount */
} readers;

/* --- in the child --- */

static int run_layout(const struct confine_files *files, const uint8_t *arg, size_t n_arg,
		      struct wr *ret, struct err *err)
{
	struct image_layout l;
	int rc = elf_probe(files->fd[0], &l, err);

	if (rc >= 0)
		answer_put_layout(&l, ret);
	return rc;
}

static int run_digest(const struct confine_files *files, const uint8_t *arg, size_t n_arg,
		      struct wr *ret, struct err *err)
{
	uint8_t digest[IMAGE_DIGEST_BYTES];
	int rc = elf_probe_code(files->fd[0], digest, err);

	if (rc >= 0)
		wr_bytes(ret, digest, sizeof(digest));
	return rc;
}

static int run_table(const struct confine_files *files, const uint8_t *arg, size_t n_arg,
		     struct wr *ret, struct err *err)
{
	struct unwind_table t;
	int rc = elf_unwind_load_small(files->fd[0], &t, err);

	if (rc >= 0)
		answer_put_table(&t, ret);
	return rc;
}

static int run_symbols(const struct confine_files *files, const uint8_t *arg, size_t n_arg,
		       struct wr *ret, struct err *err)
{
	uint8_t wanted[IMAGE_DIGEST_BYTES] = {0};

	memcpy(wanted, arg, n_arg < sizeof(wanted) ? n_arg : sizeof(wanted));
	keep_take_known(files->fd[0], arg, n_arg);
	return image_symbols_read(files->fd[0], files->n > 1 ? files->fd[1] : -1, wanted, ret, err);
}

static int run_kept(const struct confine_files *files, const uint8_t *arg, size_t n_arg,
		    struct wr *ret, struct err *err)
{
	const struct kept_files kept = {files->fd[0], files->n > 1 ? files->fd[1] : -1,
					files->n > 2 ? files->fd[2] : -1};

	keep_take_known(files->fd[0], arg, n_arg);
	return keep_answer(kept, arg, n_arg, ret, err);
}

static void open_debug(const uint8_t *arg, size_t n_arg, struct confine_files *ret)
{
	struct kept_files files;

	keep_open_debug(arg, n_arg, &files);
	if (files.debug >= 0)
		ret->fd[ret->n++] = files.debug;
	if (files.alt >= 0)
		ret->fd[ret->n++] = files.alt;
}

static int run_map(const struct confine_files *files, const uint8_t *arg, size_t n_arg,
		   struct wr *ret, struct err *err)
{
	return image_symbols_read_map(files->fd[0], ret, err);
}

static int run_code(const struct confine_files *files, const uint8_t *arg, size_t n_arg,
		    struct wr *ret, struct err *err)
{
	return jitread(files->fd[0], arg, n_arg, ret, err);
}

static int run_container(const struct confine_files *files, const uint8_t *arg, size_t n_arg,
			 struct wr *ret, struct err *err)
{
	_mem_ char *text = xmalloc(CONTAINER_MOST_FILE + 1);
	struct container_wish w;
	struct container_texts t;
	size_t n = 0;
	ssize_t k;
	int rc = container_get_wish(arg, n_arg, &w);

	while (rc >= 0 && n <= CONTAINER_MOST_FILE &&
	       (k = read(files->fd[0], text + n, CONTAINER_MOST_FILE + 1 - n)) > 0)
		n += (size_t)k;
	if (rc >= 0)
		rc = container_read(text, n, &w, &t, err);
	if (rc >= 0)
		container_put_texts(&t, ret);
	return rc;
}

#define MIB ((size_t)1 << 20)

/* CPU time with niceness 0 that readers are lent: an honest file takes less than the first, its
 * unwind table (60 to 110 ms of a hundred megabytes of code) less than the second, and a hundred
 * programs that nobody knows yet less than the third, which is for `record`.  The daemon lends
 * less, and only for what call paths wait for. */
#define LENT_MS		      100
#define LENT_TABLE_MS	      250
#define LENT_IN_ALL_MS	      5000
#define LENT_IN_ALL_DAEMON_MS 1000

static struct confine_job jobs[N_READER_KINDS] = {
	[READ_LAYOUT] = {.run = run_layout,
			 .lane = CONFINE_QUICK,
			 .memory = 8 * MIB,
			 .most_answer = 4096,
			 .cpu_s = 5,
			 .wall_s = 10},
	[READ_DIGEST] = {.run = run_digest,
			 .lane = CONFINE_TWINS,
			 .memory = 8 * MIB,
			 .most_answer = 4096,
			 .cpu_s = 5,
			 .wall_s = 10},
	[READ_TABLE] = {.run = run_table,
			.lane = CONFINE_TABLES,
			.memory = 40 * MIB,
			.most_answer = 20 * MIB,
			.cpu_s = 10,
			.wall_s = 60},
	[READ_SYMBOLS] = {.open_beside = open_debug,
			  .run = run_symbols,
			  .lane = CONFINE_SLOW,
			  .memory = 80 * MIB,
			  .most_answer = 32 * MIB,
			  .cpu_s = 20,
			  .wall_s = 120},
	[READ_SYMBOLS_BARE] = {.run = run_symbols,
			       .lane = CONFINE_SLOW,
			       .memory = 80 * MIB,
			       .most_answer = 32 * MIB,
			       .cpu_s = 20,
			       .wall_s = 120},
	[READ_KEPT] = {.open_beside = open_debug,
		       .run = run_kept,
		       .lane = CONFINE_SLOW,
		       .memory = 80 * MIB,
		       .mapped = LINES_MOST_MAPPED,
		       .most_answer = 16 * MIB,
		       .cpu_s = 20,
		       .wall_s = 120},
	[READ_KEPT_BARE] = {.run = run_kept,
			    .lane = CONFINE_SLOW,
			    .memory = 40 * MIB,
			    .most_answer = 16 * MIB,
			    .cpu_s = 10,
			    .wall_s = 60},
	[READ_CODE] = {.run = run_code,
		       .lane = CONFINE_CODE,
		       .memory = 8 * MIB,
		       .most_answer = 4 * MIB,
		       .cpu_s = 5,
		       .wall_s = 10},
	[READ_CONTAINER] = {.run = run_container,
			    .lane = CONFINE_CODE,
			    .memory = 16 * MIB,
			    .most_answer = 4096,
			    .cpu_s = 5,
			    .wall_s = 10},
	[READ_MAP] = {.run = run_map,
		      .lane = CONFINE_SLOW,
		      .memory = 80 * MIB,
		      .most_answer = 16 * MIB,
		      .cpu_s = 10,
		      .wall_s = 60},
};

/* --- in this process --- */

int readers_start(bool prompt, struct err *err)
{
	readers.is_large = prompt;
	if (readers.forker || geteuid() != 0)
		return 0;
	for (unsigned i = 0; i < N_READER_KINDS; i++) {
		jobs[i].lent_ms = prompt || jobs[i].lane != CONFINE_SLOW ? LENT_MS : 0;
		if (jobs[i].lane == CONFINE_TABLES)
			jobs[i].lent_ms = LENT_TABLE_MS;
		jobs[i].lent_in_all_ms = prompt ? LENT_IN_ALL_MS : LENT_IN_ALL_DAEMON_MS;
	}
	json_in_seed();
	return forker_start(jobs, N_READER_KINDS, &readers.forker, err);
}

void readers_end(void)
{
	vec_each (q, &readers.questions)
		forker_forget(readers.forker, q->ask);
	vec_release(&readers.questions);
	vec_release(&readers.bad);
	vec_release(&readers.devices);
	forker_free(readers.forker);
	memset(&readers, 0, sizeof(readers));
}

bool readers_live(void)
{
	return readers.forker;
}

void readers_on_say(void (*say)(void *ctx, const char *text), void *ctx)
{
	readers.say = say;
	readers.say_ctx = ctx;
}

struct readers_stats readers_stats(void)
{
	return readers.stats;
}

void readers_say(const char *fmt, ...)
{
	char text[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (readers.say)
		readers.say(readers.say_ctx, text);
}

int readers_fd(void)
{
	return readers.forker ? forker_fd(readers.forker) : -1;
}

static void readers_drop(struct question *q)
{
	forker_forget(readers.forker, q->ask);
	*q = readers.questions.v[--readers.questions.n];
}

/* Answers that nobody came for, since what they were about is gone. */
static void drop_old(void)
{
	const uint64_t now = clock_mono_ns();

	for (size_t i = readers.questions.n; i--;) {
		struct question *q = &readers.questions.v[i];

		if (q->ask->state == ASK_DONE && now - q->asked_ns > STALE_NS)
			readers_drop(q);
	}
}

/* Says that the machine lets no child be made. */
static void say_refused(void)
{
	const int error = forker_refused(readers.forker);
	const uint64_t now = clock_mono_ns();

	if (!error || (readers.refused_ns && now - readers.refused_ns < REFUSED_SAID_NS))
		return;
	readers.refused_ns = now;
	readers_say("no child can be made to read users' files: %s; until one can, new images have "
		    "no names and no unwind tables",
		    strerror(error));
}

bool readers_wait(uint64_t end_ns)
{
	const bool lived = readers.forker && forker_lives(readers.forker);
	bool any = lived && forker_step(readers.forker, end_ns);

	readers.n_came += any;
	if (readers.forker)
		drop_old();

	if (readers.forker)
		say_refused();
	if (readers.forker && !forker_lives(readers.forker) && !readers.said_end) {
		readers.said_end = true;
		readers_say(
			"the helper that reads users' files has ended: until a restart new images "
			"have no names and no unwind tables");
	}
	return any;
}

uint64_t readers_step(void)
{
	readers_wait(0);
	return readers.n_came;
}

size_t readers_n_waiting(void)
{
	size_t n = 0;

	vec_each (q, &readers.questions)
		n += q->ask->state != ASK_DONE;
	return n;
}

static int get_key(enum reader_kind kind, int fd, struct file_key *ret)
{
	int rc;

	*ret = (struct file_key){.kind = kind};
	rc = file_stamp_get(fd, &ret->stamp, NULL);
	if (rc >= 0 && kind == READ_CODE) /* it grows while it is asked about */
		ret->stamp = (struct file_stamp){.dev = ret->stamp.dev, .ino = ret->stamp.ino};
	return rc;
}

static bool same_key(const struct file_key *a, const struct file_key *b)
{
	return a->kind == b->kind && file_stamp_same(&a->stamp, &b->stamp);
}

static bool is_bad(const struct file_key *key)
{
	vec_each (b, &readers.bad)
		if (same_key(b, key))
			return true;
	return false;
}

/* What the link in /proc says that FD is; asks no file system. */
static void name_of(int fd, char *ret, size_t size)
{
	char self[40];
	ssize_t n;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	n = readlink(self, ret, size - 1);
	snprintf(ret + (n > 0 ? n : 0), size - (size_t)(n > 0 ? n : 0), "%s",
		 n > 0 ? "" : "a file");
}

static const char *why_ended(const struct confine_ask *a)
{
	switch (a->by_signal) {
	case SIGALRM:
		return "its file system did not answer in time";
	case SIGXCPU:
		return "it took too much time";
	case SIGKILL:
		return "it was killed, for want of memory";
	case SIGABRT:
		return "it took too much memory";
	case SIGXFSZ:
		return "there is too much in it";
	case 0:
		return "no answer came";
	default:
		return a->by_signal == SIGSYS ? "reading it needed a call that it may not make"
					      : "reading it failed";
	}
}

/* FD's file ended its child: that is said once. */
static void note_bad(const struct question *q, int fd)
{
	static const char *const what[] = {
		[READ_LAYOUT] = "headers",	 [READ_DIGEST] = "code",
		[READ_TABLE] = "unwind table",	 [READ_SYMBOLS] = "symbols",
		[READ_SYMBOLS_BARE] = "symbols", [READ_KEPT] = "lines",
		[READ_KEPT_BARE] = "code",	 [READ_CODE] = "generated code",
		[READ_MAP] = "generated code",	 [READ_CONTAINER] = "names of containers"};
	char path[300], text[500];

	if (readers.bad.n < MOST_BAD)
		vec_push(&readers.bad, q->key);
	else
		readers.bad.v[readers.n_bad % MOST_BAD] = q->key;
	readers.n_bad++;
	readers.stats.n_ended++;
	name_of(fd, path, sizeof(path));
	snprintf(text, sizeof(text), "%s: %s not read: %s; it is not tried again until it changes",
		 path, what[q->key.kind], why_ended(q->ask));
	readers_say("%s", text);
}

/* --- file systems that do not answer --- */

static struct known_device *find_device(uint64_t dev)
{
	vec_each (d, &readers.devices)
		if (d->dev == dev)
			return d;
	return NULL;
}

/* Notes how question A about a file of DEV ended.  A child that was too late after its file was
 * open may have lacked CPU time. */
static void note_device(uint64_t dev, const struct confine_ask *a)
{
	struct known_device *d = find_device(dev);

	if (!d && readers.devices.n < MOST_DEVICES) {
		vec_push(&readers.devices, (struct known_device){.dev = dev});
		d = &readers.devices.v[readers.devices.n - 1];
	} else if (!d) {
		d = &readers.devices.v[dev % MOST_DEVICES];
		*d = (struct known_device){.dev = dev};
	}
	d->n_late = a->by_signal == SIGALRM ? d->n_late + 1 : 0;
	d->silent_ns = d->n_late && (!a->has_facts || d->n_late >= MOST_LATE) ? clock_mono_ns() : 0;
}

/* 0: KEY may be asked; -EAGAIN: not now; -ETIMEDOUT: it does not answer. */
static int check_device(const struct file_key *key, struct err *err)
{
	const struct known_device *d = find_device(key->stamp.dev);
	const uint64_t now = clock_mono_ns();

	if (d && d->silent_ns && now - d->silent_ns < SILENT_NS)
		return err_set(err, -ETIMEDOUT, "its file system did not answer before");
	if ((!d || d->silent_ns) && forker_n_stuck(readers.forker) >= MOST_STUCK)
		return err_set(err, -ETIMEDOUT, "too many file systems do not answer");
	vec_each (q, &readers.questions)
		if (q->key.stamp.dev == key->stamp.dev && q->key.kind == key->kind &&
		    q->ask->state == ASK_SENT && now - q->ask->since_ns > SLOW_NS &&
		    !q->ask->has_facts)
			return err_set(err, -EAGAIN, "its file system has not answered yet");
	return 0;
}

static struct question *readers_find(const struct file_key *key)
{
	vec_each (q, &readers.questions)
		if (same_key(&q->key, key))
			return q;
	return NULL;
}

/* Whether the child of A, about a file of DEV, may have lacked CPU time: its file was open, others
 * of DEV are answered, and the machine had more to do for long.  It is asked again. */
static bool is_starved(uint64_t dev, const struct confine_ask *a)
{
	const struct known_device *d = find_device(dev);

	return a->by_signal == SIGALRM && a->has_facts && d && !d->silent_ns;
}

/* Takes the answer to Q, which is there. */
static int readers_take(struct question *q, int fd, struct file_map *ret, struct err *err)
{
	struct confine_ask *a = q->ask;
	int rc = a->rc;

	note_device(q->key.stamp.dev, a);
	if (rc == -EPROTO && is_starved(q->key.stamp.dev, a))
		rc = -EAGAIN;
	else if (rc == -EPROTO)
		note_bad(q, fd);
	if (rc < 0)
		err_set(err, rc, "%s", rc == -EPROTO ? why_ended(a) : strerror(-rc));
	else
		rc = file_map_fd(ret, a->answer_fd, "answer", err);
	readers.nosuid = a->nosuid & 1 || !a->has_facts;
	readers.read = q->key.stamp;
	readers_drop(q);
	return rc;
}

bool readers_was_asked(enum reader_kind kind, int fd)
{
	struct file_key key;

	return get_key(kind, fd, &key) >= 0 && readers_find(&key);
}

int readers_ask(enum reader_kind kind, int fd, const void *arg, size_t n_arg, uint64_t end_ns,
		struct file_map *ret, struct err *err)
{
	struct file_key key;
	struct question *q;
	int rc = get_key(kind, fd, &key);

	if (rc < 0)
		return err_errno(err, rc, "statx");
	if (is_bad(&key))
		return err_set(err, -EPROTO, "it ended what read it before");
	q = readers_find(&key);
	if (!q) {
		if (!forker_lives(readers.forker))
			return err_set(err, -EPIPE, "the helper that reads files has ended");
		rc = check_device(&key, err);
		if (rc < 0)
			return rc;
		vec_push(&readers.questions, (struct question){.key = key});
		q = &readers.questions.v[readers.questions.n - 1];
		q->ask = forker_ask(readers.forker, kind, &fd, 1, arg, n_arg);
		readers.stats.n_asked++;
	}
	q->asked_ns = clock_mono_ns();
	while (q->ask->state != ASK_DONE && readers_wait(end_ns))
		q = readers_find(&key); /* old ones may have gone, and this one moved */
	if (q->ask->state != ASK_DONE)
		return err_set(err, -EAGAIN, "not read yet");
	return readers_take(q, fd, ret, err);
}

const struct file_stamp *readers_stamp(void)
{
	return &readers.read;
}

bool readers_nosuid(void)
{
	return readers.nosuid;
}

const uint8_t *readers_answer(const struct file_map *m, size_t *ret_n)
{
	*ret_n = m->n_bytes < 4 ? 0 : m->n_bytes - 4;
	return m->n_bytes < 4 ? (const uint8_t *)"" : m->bytes + 4;
}

/* Says once, as its table is loaded once, that FD is an interpreter whose frames are not known, or
 * not by this engine. */
static void say_refusal(int fd, const struct unwind_interpreter *i)
{
	char path[300], version[24];

	if (!i->refusal && !(i->number && !INTERPRETER_IS_GO(i->number) && readers.without_scripts))
		return;
	name_of(fd, path, sizeof(path));
	interpreter_version_text(i, version);
	readers_say("%s: %s%s%s: %s; its functions are not shown", path, interpreter_name(i),
		    *version ? " " : "", version,
		    i->refusal ? interpreter_refusal_text(i)
			       : "its frames are read by engine bpf alone, which needs root, or "
				 "CAP_BPF and CAP_PERFMON");
}

void readers_without_scripts(bool without)
{
	readers.without_scripts = without;
}

/* In this process, whose user's files these are. */
static int load_here(int fd, struct unwind_table *ret, struct err *err)
{
	struct file_stamp stamp;
	struct wr answer = {0};
	int rc = file_stamp_get(fd, &stamp, NULL);

	if (rc >= 0)
		rc = readers.is_large ? elf_unwind_load(fd, ret, err)
				      : elf_unwind_load_small(fd, ret, err);
	if (rc < 0)
		return rc;
	answer_put_table(ret, &answer);
	table_cache_save(fd, &stamp, false, answer.v, answer.n);
	wr_release(&answer);
	say_refusal(fd, &ret->interpreter);
	return rc;
}

static int load_table(int fd, uint64_t end_ns, struct unwind_table *ret, struct err *err)
{
	struct file_map m = {0};
	const uint8_t *bytes;
	size_t n;
	int rc;

	if (table_cache_load(fd, ret) >= 0) {
		say_refusal(fd, &ret->interpreter);
		return 0;
	}
	if (!readers_live())
		return load_here(fd, ret, err);
	rc = readers_ask(READ_TABLE, fd, NULL, 0, end_ns, &m, err);
	if (rc < 0)
		return rc;
	bytes = readers_answer(&m, &n);
	rc = answer_get_table(bytes, n, NULL, ret, err);
	if (rc >= 0)
		table_cache_save(fd, &readers.read, readers.nosuid, bytes, n);
	file_map_close(&m);
	if (rc >= 0)
		say_refusal(fd, &ret->interpreter);
	return rc;
}

int readers_load_table(int fd, struct unwind_table *ret, struct err *err)
{
	return load_table(fd, 0, ret, err);
}

int readers_load_table_now(int fd, struct unwind_table *ret, struct err *err)
{
	return load_table(fd, clock_mono_ns() + TABLE_WAIT_NS, ret, err);
}
