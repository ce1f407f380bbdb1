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
#include <sys/resource.h>
#include <unistd.h>

#include "base/str.h"
#include "daemon/config.h"
#include "daemon/notify.h"
#include "daemon/server.h"
#include "daemon/service.h"
#include "view/text.h"

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
	return rc;
}

typedef VEC(struct told *) told_list;

/* SIGHUP: the configuration file is read again.  What was told before is kept, for samples are
 * stored as what they were. */
static void reload(struct service *v, int argc, char **argv, told_list *all)
{
	struct told *t = xcalloc(1, sizeof(*t));
	struct err err = {0};
	int rc;

	notify_manager("RELOADING=1");
	rc = listen_to(argc, argv, t, &err);
	if (rc == 0)
		rc = service_reload(v, &t->plan.service, &err);
	if (rc < 0) {
		say(NULL, err.msg);
		say(NULL, "nothing was changed");
		told_free(t);
	} else {
		vec_push(all, t);
		say(NULL, "read the configuration again");
	}
	notify_manager("READY=1");
}

static int run(int argc, char **argv, told_list *all, struct err *err)
{
	const struct plan *plan = &all->v[0]->plan;
	struct service *v = NULL;
	struct server *s = NULL;
	int rc = service_start(&plan->service, &v, err);

	if (rc >= 0)
		rc = server_open(plan->db, &s, err);
	if (rc >= 0) {
		notify_manager("READY=1");
		while (!ending) {
			service_step(v, 1000, server_fd(s));
			if (server_serve(s, v))
				break;
			if (reloading) {
				reloading = 0;
				reload(v, argc, argv, all);
			}
		}
		notify_manager("STOPPING=1");
		rc = service_stop(v, err);
		server_quit(s, rc, err);
	}
	server_close(s);
	service_free(v);
	return rc < 0 ? rc : 0;
}

int main(int argc, char **argv)
{
	struct told *first = xcalloc(1, sizeof(*first));
	told_list all = {0};
	struct err err = {0};
	int rc;

	if (argc > 0 && strcmp(argv[0], "dwell daemon") == 0)
		called = argv[0];
	if (argc > 0 && strcmp(str_basename(argv[0]), "dcpid") == 0)
		called = "dcpid";
	mallopt(M_MMAP_THRESHOLD, 256 * 1024); /* large buffers go back when they are freed */
	raise_open_files();
	catch_signals();
	vec_push(&all, first);
	rc = listen_to(argc, argv, first, &err);
	if (rc == 0)
		rc = run(argc, argv, &all, &err);
	if (rc < 0)
		say(NULL, *err.msg ? err.msg : strerror(-rc));
	vec_each (t, &all)
		told_free(*t);
	vec_release(&all);
	return rc < 0 ? 2 : 0;
}
