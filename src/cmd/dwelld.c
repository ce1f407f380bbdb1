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

static volatile sig_atomic_t ending;
static const char *called = "dwelld"; /* or "dwell daemon" */

static void on_signal(int sig)
{
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

	printf("usage: %s [OPTIONS] [DB]\n"
	       "record all the time, into a database that grows slowly\n\noptions:\n%s",
	       called, options);
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
	sigaction(SIGPIPE, &ignore, NULL);
}

static int run(const struct plan *plan, struct err *err)
{
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
		}
		notify_manager("STOPPING=1");
		rc = service_stop(v, err);
		server_quit(s, rc, err);
	}
	server_close(s);
	service_free(v);
	return rc < 0 ? rc : 0;
}

/* The file that options are read from: what --config says, wherever it stands. */
static const char *find_config(int argc, char **argv)
{
	struct config c;
	struct opt table[CONFIG_N_OPTS];
	const char *file = NULL;

	memset(&c, 0, sizeof(c));
	config_table(&c, table);
	if (opts_parse(table, argc, argv, false, &c.operands, NULL) == 0)
		file = c.file;
	config_release(&c);
	return file;
}

int main(int argc, char **argv)
{
	const char *file = find_config(argc, argv), *why = NULL;
	struct opt table[CONFIG_N_OPTS];
	config_args words = {0};
	struct config c = {0};
	struct plan plan = {0};
	struct err err = {0};
	int rc;

	if (argc > 0 && strcmp(argv[0], "dwell daemon") == 0)
		called = argv[0];
	mallopt(M_MMAP_THRESHOLD, 256 * 1024); /* large buffers go back when they are freed */
	raise_open_files();
	catch_signals();
	rc = config_read(&c, file, file != NULL, argc, argv, &words, &err);
	if (rc >= 0 && c.help) {
		config_table(&c, table);
		show_help(table);
	} else if (rc >= 0) {
		rc = config_plan(&c, &plan, &why, &err);
		if (why)
			say(NULL, why);
		plan.service.say = say;
		if (rc >= 0)
			rc = run(&plan, &err);
	}
	if (rc < 0)
		say(NULL, *err.msg ? err.msg : strerror(-rc));
	plan_release(&plan);
	config_release(&c);
	config_args_release(&words);
	return rc < 0 ? 2 : 0;
}
