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
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "daemon/config.h"
#include "daemon/hold.h"
#include "daemon/notify.h"
#include "daemon/server.h"
#include "daemon/service.h"
#include "daemon/status_text.h"
#include "view/text.h"
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

/* A message may quote names from outside: nothing in it may drive a terminal. */
static void say(void *ctx, const char *text)
{
	struct str shown = {0};

	text_show(&shown, text);
	fprintf(stderr, "%s: %s\n", called, str_get(&shown));
	str_release(&shown);
}

/* What went wrong, and where in the text of ours that it is about. */
static void complain(struct err *err)
{
	char *rest = err->where, *line;

	say(NULL, err->msg);
	while (*err->where && (line = strsep(&rest, "\n"))) {
		struct str shown = {0};

		str_add(&shown, "  ");
		str_add(&shown, line);
		say(NULL, str_get(&shown));
		str_release(&shown);
	}
}

static void show_help(const struct opt *table)
{
	char *options = opts_help(table);

	printf("usage: %s [OPTIONS] %s\n"
	       "record all the time, into a database that grows slowly\n\noptions:\n%s",
	       called, strcmp(called, "dcpid") == 0 ? "DIR" : "[DB]", options);
	free(options);
}

/* One descriptor per event and CPU, and those of images. */
static void raise_open_files(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < l.rlim_max) {
		l.rlim_cur = l.rlim_max;
		setrlimit(RLIMIT_NOFILE, &l);
	}
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
	if (opts_parse(table, argc, argv, false, &c.operands, NULL) == 0)
		file = c.file;
	config_release(&c);
	return file;
}

/* As dcpid the operand is the DCPI tree; the database is where it always is. */
static int name_tree(struct config *c, struct err *err)
{
	if (c->operands.n != 1)
		return err_set(err, -EINVAL, "one directory, for the DCPI profile tree");
	c->dcpi = c->operands.v[0];
	c->operands.n = 0;
	return 0;
}

/* 0; 1 when help was asked for, and shown. */
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
	if (strcmp(called, "dcpid") == 0) {
		rc = name_tree(&t->config, err);
		if (rc < 0)
			return rc;
	}
	rc = config_plan(&t->config, &t->plan, &why, err);
	if (why)
		say(NULL, why);
	t->plan.service.say = say;
	if (rc >= 0 && t->config.http && web_check(t->config.http, err) < 0)
		rc = err_prefix(err, -EINVAL, "--http");
	return rc;
}

/* What runs. */
struct run {
	int argc;
	char **argv;
	VEC(struct told *) told; /* the last one is in effect */
	struct service *service;
	struct server *server;
	struct web *web; /* NULL: not asked for */
	int epoll_fd;	 /* readable when server or web is */
};

static void put_metrics(void *ctx, struct str *out)
{
	const struct run *r = ctx;
	struct service_status s;

	service_status(r->service, &s);
	status_put_metrics(&s, out);
	service_status_release(&s);
}

static int watch(const struct run *r, int fd, struct err *err)
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
		rc = watch(r, web_fd(web), err);
	if (rc < 0) {
		web_close(web);
		return rc;
	}
	web_close(r->web); /* its descriptor is watched no more with that */
	r->web = web;
	return 0;
}

/* SIGHUP: the configuration file is read again.  What was told before is kept, for samples are
 * stored as what they were. */
static void reload(struct run *r)
{
	const char *old = r->told.v[r->told.n - 1]->config.http;
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
		say(NULL, "nothing was changed");
		told_free(t);
	} else {
		vec_push(&r->told, t);
		say(NULL, "read the configuration again");
	}
	notify_manager("READY=1");
}

static int begin(struct run *r, struct err *err)
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
		rc = watch(r, server_fd(r->server), err);
	return rc;
}

static int run(struct run *r, struct err *err)
{
	int rc = begin(r, err);

	if (rc >= 0) {
		notify_manager("READY=1");
		while (!ending) {
			service_step(r->service, 1000, r->epoll_fd);
			notify_alive();
			if (server_serve(r->server, r->service))
				break;
			if (r->web)
				web_serve(r->web, clock_mono_ns());
			if (reloading) {
				reloading = 0;
				reload(r);
			}
		}
		notify_manager("STOPPING=1");
		rc = service_stop(r->service, err);
		server_quit(r->server, rc, err);
	}
	server_close(r->server);
	web_close(r->web);
	service_free(r->service);
	if (r->epoll_fd >= 0)
		close(r->epoll_fd);
	return rc < 0 ? rc : 0;
}

int main(int argc, char **argv)
{
	struct run r = {.argc = argc, .argv = argv, .epoll_fd = -1};
	struct told *first = xcalloc(1, sizeof(*first));
	struct err err = {0};
	int rc;

	if (argc > 0 && strcmp(argv[0], "dwell daemon") == 0)
		called = argv[0];
	if (argc > 0 && strcmp(str_basename(argv[0]), "dcpid") == 0)
		called = "dcpid";
	mallopt(M_MMAP_THRESHOLD, 1 << 20); /* what each flush takes and frees stays ours */
	mallopt(M_TRIM_THRESHOLD, 2 << 20);
	raise_open_files();
	catch_signals();
	vec_push(&r.told, first);
	rc = listen_to(argc, argv, first, &err);
	if (rc == 0)
		rc = run(&r, &err);
	if (rc < 0 && !*err.msg)
		err_set(&err, rc, "%s", strerror(-rc));
	if (rc < 0)
		complain(&err);
	vec_each (t, &r.told)
		told_free(*t);
	vec_release(&r.told);
	return rc < 0 ? 2 : 0;
}
