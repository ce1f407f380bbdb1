/* SPDX-License-Identifier: BSD-2-Clause */
/* dwelld: the daemon's own program, so that what runs for months with privileges has no more code
 * in it than it needs.  Options in, messages to stderr; daemon/service.c does the work. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/screen.h"
#include "base/str.h"
#include "build_config.h"
#include "cmd/dcpid_words.h"
#include "daemon/config.h"
#include "daemon/hold.h"
#include "daemon/notify.h"
#include "daemon/layouts.h"
#include "daemon/page_server.h"
#include "daemon/readers.h"
#include "daemon/server.h"
#include "daemon/service.h"
#include "daemon/shed.h"
#include "daemon/status_text.h"
#include "port/dcpi_note.h"
#include "base/text.h"
#include "web/listen.h"
#include "web/web.h"

static volatile sig_atomic_t ending, reloading;
static const char *called = "dwelld"; /* or "dwell daemon", "dcpid" */

static void on_signal(int sig)
{
	if (sig == SIGHUP)
		reloading = 1;
	else
		ending = sig;
}

static bool quiet; /* failures are said only */

/* A message may quote names from outside: nothing in it may drive a terminal. */
static void tell(const char *text)
{
	_str_ struct str shown = {0};

	text_show(&shown, text);
	fprintf(stderr, "%s: %s\n", called, str_get(&shown));
}

static void dwelld_say(void *ctx, const char *text)
{
	if (!quiet)
		tell(text);
}

/* What went wrong, and where in the text of ours that it is about. */
static void complain(struct err *err)
{
	char *rest = err->where, *line;

	tell(err->msg);
	while (*err->where && (line = strsep(&rest, "\n"))) {
		_str_ struct str shown = {0};

		str_add(&shown, "  ");
		str_add(&shown, line);
		tell(str_get(&shown));
	}
}

static void show_help(const struct opt *table)
{
	_str_ struct str options = {0};

	screen_add_help(&options, table, screen_width(STDOUT_FILENO));
	printf("usage: %s [OPTIONS] %s\n"
	       "record all the time, into a database that grows slowly\n\noptions:\n%s",
	       called, strcmp(called, "dcpid") == 0 ? "DIR" : "[DB]", str_get(&options));
}

static void catch_signals(void)
{
	struct sigaction sa = {.sa_handler = on_signal}, ignore = {.sa_handler = SIG_IGN};

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}

/* What was told at one time, by command line and file. */
struct told {
	struct config config;
	config_args words;
	struct plan plan;
};

static void told_free(struct told *t)
{
	plan_release(&t->plan);
	config_release(&t->config);
	config_args_release(&t->words);
	free(t);
}

/* The file that options are read from: what --config says, wherever it stands. */
static const char *find_config(int argc, char **argv)
{
	struct config c = {0};
	struct opt table[CONFIG_N_OPTS];
	const char *file = NULL;

	config_table(&c, table);
	if (opts_parse(table, argc, argv, false, &c.operands, NULL) >= 0)
		file = c.file;
	config_release(&c);
	return file;
}

static bool is_same_dir(const char *a, const char *b)
{
	struct stat x, y;

	if (stat(a, &x) < 0 || stat(b, &y) < 0)
		return strcmp(a, b) == 0;
	return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* As dcpid the operand is the DCPI tree; the database is where it always is.  $DCPIDB is no
 * database where it names a tree for who reads it: this one, or one of another daemon. */
static int name_tree(struct config *c, struct err *err)
{
	const char *tree = getenv("DCPIDB");
	_mem_ char *fed_by = tree ? dcpi_note_read(tree) : NULL;

	if (c->operands.n != 1)
		return err_set(err, -EINVAL, "one directory, for the DCPI profile tree");
	c->dcpi = c->operands.v[0];
	c->operands.n = 0;
	if (tree && (fed_by || is_same_dir(tree, c->dcpi)))
		unsetenv("DCPIDB");
	return 0;
}

/* 0; 1 when help or the version was asked for, and shown. */
static int listen_to(int argc, char **argv, struct told *t, struct err *err)
{
	const char *file = find_config(argc, argv), *why = NULL;
	struct opt table[CONFIG_N_OPTS];
	int rc = config_read(&t->config, file, argc, argv, &t->words, err);

	if (rc < 0)
		return rc;
	if (t->config.help) {
		config_table(&t->config, table);
		show_help(table);
		return 1;
	}
	if (t->config.version) {
		puts("dwell " DWELL_VERSION);
		return 1;
	}
	if (strcmp(called, "dcpid") == 0) {
		rc = name_tree(&t->config, err);
		if (rc < 0)
			return rc;
	}
	rc = config_plan(&t->config, &t->plan, &why, err);
	if (why)
		dwelld_say(NULL, why);
	t->plan.service.say = dwelld_say;
	if (rc >= 0 && t->config.http && listen_check(t->config.http, err) < 0)
		rc = err_prefix(err, -EINVAL, "--http");
	if (rc >= 0 && t->config.web && listen_check(t->config.web, err) < 0)
		rc = err_prefix(err, -EINVAL, "--web");
	return rc;
}

/* What runs. */
struct run {
	uint64_t status_ns, status_due_ns; /* how often the status is said; 0: never */
	int argc;
	char **argv;
	VEC(struct told *) told; /* the last one is in effect */
	struct service *service;
	struct server *server;
	struct web *web; /* NULL: not asked for */
	struct page_server page;
	int epoll_fd; /* readable when server, web or page is */
	bool gone;    /* the database, under it */
};

static void put_metrics(void *ctx, struct str *out)
{
	const struct run *r = ctx;
	struct service_status s;

	service_status(r->service, &s);
	status_put_metrics(&s, out);
	service_status_release(&s);
}

static int dwelld_watch(const struct run *r, int fd, struct err *err)
{
	struct epoll_event e = {.events = EPOLLIN};

	return epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, fd, &e) < 0 ? err_errno(err, -errno, "epoll")
								 : 0;
}

/* Shows the metrics at WHERE (NULL: nowhere), in place of OLD (NULL: nowhere), where they stay
 * after a failure. */
static int show_metrics(struct run *r, const char *old, const char *where, struct err *err)
{
	struct web *web = NULL;
	int rc = 0;

	if (old && where && strcmp(old, where) == 0)
		return 0;
	if (where)
		rc = web_open(where, put_metrics, r, &web, err);
	if (rc >= 0 && web)
		rc = dwelld_watch(r, web_fd(web), err);
	if (rc < 0) {
		web_close(web);
		return rc;
	}
	web_close(r->web); /* its descriptor is watched no more with that */
	r->web = web;
	return 0;
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* SIGHUP: the configuration file is read again.  What was told before is kept, for samples are
 * stored as what they were. */
static void reload(struct run *r)
{
	const char *old = r->told.v[r->told.n - 1]->config.http;
	const char *web = r->told.v[0]->config.web;
	struct told *t = xcalloc(1, sizeof(*t));
	struct err err = {0};
	int rc;

	notify_reloading();
	rc = listen_to(r->argc, r->argv, t, &err);
	if (rc == 0)
		rc = show_metrics(r, old, t->config.http, &err);
	if (rc == 0) {
		rc = service_reload(r->service, &t->plan.service, &err);
		if (rc < 0)
			show_metrics(r, t->config.http, old, NULL);
	}
	if (rc < 0) {
		complain(&err);
		dwelld_say(NULL, "nothing was changed");
		told_free(t);
	} else {
		vec_push(&r->told, t);
		dwelld_say(NULL, "read the configuration again");
		if (!is_same_text(web, t->config.web))
			dwelld_say(NULL, "--web counts from the next start on");
	}
	notify_manager("READY=1");
}

static int dwelld_begin(struct run *r, struct err *err)
{
	const struct told *t = r->told.v[0];
	int rc, listens;

	r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll_fd < 0)
		return err_errno(err, -errno, "epoll");
	/* A port that is taken is told before a recording begins; but who holds the database
	 * probably has the port, too, and is what is to be said then. */
	rc = listens = show_metrics(r, NULL, t->config.http, err);
	if (rc >= 0 || hold_check(t->plan.db, NULL) >= 0)
		rc = service_start(&t->plan.service, &r->service, err);
	if (rc >= 0 && listens < 0)
		rc = show_metrics(r, NULL, t->config.http, err);
	if (rc >= 0)
		rc = server_open(t->plan.db, &r->server, err);
	if (rc >= 0)
		rc = dwelld_watch(r, server_fd(r->server), err);
	if (rc >= 0 && t->config.web)
		rc = page_server_start(t->plan.db, t->config.web, &r->page, err);
	if (rc >= 0 && t->config.web)
		rc = dwelld_watch(r, r->page.said, err);
	return rc;
}

/* dcpid -status. */
static void say_status(struct run *r)
{
	struct service_status s;
	struct str text = {0};
	char *line, *rest;

	if (!r->status_ns || clock_mono_ns() < r->status_due_ns)
		return;
	r->status_due_ns = clock_mono_ns() + r->status_ns;
	service_status(r->service, &s);
	status_put_text(&s, &text);
	service_status_release(&s);
	for (rest = text.v; rest && (line = strsep(&rest, "\n"));)
		if (*line)
			tell(line);
	str_release(&text);
}

/* It goes on with what cannot be given up: an old kernel is no reason not to record. */
static void shed(const struct told *t)
{
	struct err err = {0};

	if (geteuid() == 0 && shed_rights(t->plan.service.db, t->plan.service.dcpi, &err) < 0)
		dwelld_say(NULL, err.msg);
}

static int dwelld_run(struct run *r, struct err *err)
{
	int rc = dwelld_begin(r, err);

	if (rc >= 0) {
		shed(r->told.v[0]);
		notify_manager("READY=1");
		while (!ending) {
			service_step(r->service, 1000, r->epoll_fd);
			notify_alive();
			say_status(r);
			rc = service_check(r->service, err);
			if (rc < 0)
				break;
			if (server_serve(r->server, r->service))
				break;
			page_server_step(&r->page, dwelld_say, NULL);
			if (r->web)
				web_serve(r->web, clock_mono_ns());
			if (reloading) {
				reloading = 0;
				reload(r);
			}
		}
		notify_manager("STOPPING=1");
		if (rc >= 0)
			rc = service_stop(r->service, err);
		else
			r->gone = true;
		server_quit(r->server, rc, err);
	}
	server_close(r->server);
	web_close(r->web);
	service_free(r->service);
	if (r->epoll_fd >= 0)
		close(r->epoll_fd);
	return rc < 0 ? rc : 0;
}

/* Obeys dcpid's own words; 1: there is no more to do. */
static int obey_words(const struct dcpid_words *w, struct run *r)
{
	int fd;

	if (w->version) {
		puts("dwell " DWELL_VERSION);
		return 1;
	}
	fd = w->log ? open(w->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0644) : -1;
	if (w->log && (fd < 0 || dup2(fd, STDERR_FILENO) < 0)) {
		fprintf(stderr, "dcpid: %s: %s\n", w->log, strerror(errno));
		return -1;
	}
	if (fd >= 0)
		close(fd);
	quiet = w->quiet;
	vec_each (note, &w->notes)
		dwelld_say(NULL, *note);
	r->status_ns = (uint64_t)(w->status_s * 1e9);
	r->argc = (int)w->argv.n;
	r->argv = w->argv.v;
	return 0;
}

int main(int argc, char **argv)
{
	struct run r = {.argc = argc, .argv = argv, .page.said = -1, .epoll_fd = -1};
	struct dcpid_words dcpid = {0};
	struct told *first = xcalloc(1, sizeof(*first));
	struct err err = {0};
	int rc;

	if (argc > 0 && strcmp(argv[0], "dwell daemon") == 0)
		called = argv[0];
	if (argc > 0 && strcmp(str_basename(argv[0]), "dcpid") == 0)
		called = "dcpid";
	mallopt(M_MMAP_THRESHOLD, 1 << 20); /* what each flush takes and frees stays ours */
	mallopt(M_TRIM_THRESHOLD, 2 << 20);
	file_raise_limit();
	catch_signals();
	vec_push(&r.told, first);
	rc = strcmp(called, "dcpid") == 0 ? dcpid_words_read(&dcpid, argc, argv, &err) : 0;
	if (rc == 0 && dcpid.argv.n) {
		rc = obey_words(&dcpid, &r);
		if (rc != 0) {
			dcpid_words_release(&dcpid);
			told_free(first);
			vec_release(&r.told);
			return rc < 0 ? 2 : 0;
		}
	}
	if (rc == 0)
		rc = listen_to(r.argc, r.argv, first, &err);
	if (rc == 0)
		rc = readers_start(false, &err);
	if (rc == 0) {
		readers_on_say(dwelld_say, NULL);
		rc = dwelld_run(&r, &err);
	}
	if (rc < 0 && !*err.msg)
		err_set(&err, rc, "%s", strerror(-rc));
	if (rc < 0)
		complain(&err);
	vec_each (t, &r.told)
		told_free(*t);
	vec_release(&r.told);
	readers_end();
	layouts_end();
	dcpid_words_release(&dcpid);
	return r.gone ? 1 : rc < 0 ? 2 : 0;
}
