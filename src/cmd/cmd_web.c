/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell web`: everything in a browser.  A question of the page is a command of dwell with --json,
 * run in a child of its own, so that the page and the command line always say the same. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "cmd/cmd.h"
#include "confine/rights.h"
#include "model/fact.h"
#include "query/source.h"
#include "web/answers.h"
#include "web/app_page.h"
#include "web/listen.h"
#include "web/pages.h"

#define MOST_ANSWER ((size_t)48 << 20)
#define TOKEN_BYTES 16
#define BACKLOG	    1024 /* a crowd is told so by us; those whom the kernel drops wait */

/* What the page may ask: the command, its fixed words, the options whose values come with the
 * question, and which value is its operand.  No option that reads or writes another file is
 * here. */
static const char *const select_keys[] = {"epoch", "since", "until", "host", "comm",
					  "exe",   "pid",   "tid",   "uid",  "cgroup",
					  "label", "event", NULL};
static const struct question_kind {
	const char *name;
	const char *words[6];
	const char *keys[12];
	const char *operands[3];
	bool of_sets; /* operands are sets of samples */
} question_kinds[] = {
	{"epochs", {"epochs", "--json"}, {NULL}, {NULL}},
	{"minutes", {"epochs", "--minutes", "--json", "--no-flush"}, {"steps"}, {NULL}},
	{"prof",
	 {"prof", "--json", "--no-flush", "--one-event"},
	 {"by", "pm", "sp", "sort", "callers", "callees", "limit"},
	 {NULL}},
	{"tree",
	 {"tree", "--json", "--no-flush", "--one-event"},
	 {"by", "pm", "sp", "sort", "focus", "percent-limit"},
	 {NULL}},
	{"callers",
	 {"tree", "--callers", "--json", "--no-flush", "--one-event"},
	 {"by", "pm", "sp", "sort", "focus", "percent-limit"},
	 {NULL}},
	{"flame",
	 {"flame", "--data", "--no-flush"},
	 {"by", "pm", "sp", "sort", "focus", "percent-limit"},
	 {NULL}},
	{"flame-callers",
	 {"flame", "--callers", "--data", "--no-flush"},
	 {"by", "pm", "sp", "sort", "focus", "percent-limit"},
	 {NULL}},
	{"flame-diff",
	 {"flame", "--diff", "--data", "--no-flush"},
	 {"by", "sort", "focus"},
	 {"a", "b"},
	 true},
	{"list",
	 {"list", "--json", "--no-flush", "--one-event"},
	 {"pm", "sp"},
	 {"procedure", "image"}},
	{"listing",
	 {"list", "--data", "--no-flush", "--one-event"},
	 {"pm", "sp"},
	 {"procedure", "image"}},
	{"calc", {"calc", "--json", "--no-flush"}, {"cutoff"}, {"procedure", "image"}},
	{"top", {"top", "--json", "--no-flush"}, {"pm", "sp", "sort", "limit"}, {NULL}},
	{"diff", {"diff", "--json", "--no-flush"}, {"by", "sort"}, {"a", "b"}, true},
	{"diff-absolute",
	 {"diff", "--absolute", "--json", "--no-flush"},
	 {"by", "sort"},
	 {"a", "b"},
	 true},
	{"trace", {"trace", "--data", "-o", "-", "--no-flush"}, {"by"}, {NULL}},
};

struct web_args {
	const char *listen, *db;
	bool while_stdin;
	char *command_db; /* --db=DB, for commands; NULL: the default's */
};

/* --- answers --- */

static bool has_key(const char *const *keys, size_t n, const char *word, size_t n_key)
{
	for (size_t i = 0; i < n && keys[i]; i++)
		if (strlen(keys[i]) == n_key && strncmp(keys[i], word, n_key) == 0)
			return true;
	return false;
}

/* A set of samples is one of this database: a recording's name, or words such as label=L. */
static bool is_own_set(const char *text)
{
	return *text && !strchr(text, '/') &&
	       (strchr(text, '=') || strspn(text, "0123456789latesp,.") == strlen(text));
}

static const char *operand_value(const struct question_kind *k, size_t i, unsigned n, char **words)
{
	size_t n_key = strlen(k->operands[i]);

	for (unsigned w = 1; w < n; w++)
		if (strncmp(words[w], k->operands[i], n_key) == 0 && words[w][n_key] == '=')
			return words[w] + n_key + 1;
	return NULL;
}

static int question_refuse(const char *what, const char *word)
{
	fprintf(stderr, "%s '%.100s'\n", what, word);
	return 2;
}

/* In a child: runs the command of the question WORDS. */
static int answer_question(void *ctx, unsigned n, char **words)
{
	char *argv[2 * ANSWERS_MAX_WORDS], *options[ANSWERS_MAX_WORDS];
	const struct question_kind *k = NULL;
	const struct web_args *a = ctx;
	unsigned argc = 0, n_options = 0;
	int rc;

	for (size_t i = 0; i < n_elems(question_kinds) && n; i++)
		if (strcmp(question_kinds[i].name, words[0]) == 0)
			k = &question_kinds[i];
	if (!k)
		return question_refuse("there is no question", n ? words[0] : "");
	for (size_t i = 0; i < n_elems(k->words) && k->words[i]; i++)
		argv[argc++] = (char *)(uintptr_t)k->words[i];
	if (a->command_db)
		argv[argc++] = a->command_db;
	for (unsigned i = 1; i < n; i++) {
		size_t n_key = strcspn(words[i], "=");

		if (has_key(k->operands, n_elems(k->operands), words[i], n_key))
			continue;
		if (!has_key(k->keys, n_elems(k->keys), words[i], n_key) &&
		    !has_key(select_keys, n_elems(select_keys), words[i], n_key))
			return question_refuse("the page may not ask with", words[i]);
		options[n_options] = xasprintf("--%s", words[i]);
		argv[argc++] = options[n_options++];
	}
	argv[argc++] = (char[]){"--"};
	for (size_t i = 0; i < n_elems(k->operands) && k->operands[i]; i++) {
		const char *value = operand_value(k, i, n, words);

		if (value && k->of_sets && !is_own_set(value))
			return question_refuse("no set of samples of this database:", value);
		if (value)
			argv[argc++] = (char *)(uintptr_t)value;
	}
	argv[argc] = NULL;
	rc = cmd_run((int)argc, argv);
	for (unsigned i = 0; i < n_options; i++)
		free(options[i]);
	return rc;
}

/* --- what the query bar completes --- */

static void put_facts(struct str *out)
{
	static const char *const kinds[] = {
		[FACT_BIT] = "bit", [FACT_TRAP] = "trap", [FACT_COUNTER] = "counter"};
	struct json j = json_init(out, 0);

	json_begin(&j, '[');
	for (size_t i = 0; i < n_facts; i++) {
		json_begin(&j, '{');
		json_key(&j, "kind");
		json_str(&j, kinds[fact_table[i].kind]);
		json_key(&j, "name");
		json_str(&j, fact_table[i].name);
		json_key(&j, "says");
		json_str(&j, fact_table[i].meaning);
		json_end(&j, '}');
	}
	json_end(&j, ']');
}

/* --- serving --- */

static volatile int web_ended;

static void end_web(int sig)
{
	web_ended = sig;
}

/* Asks for SIGIO, which ends the server, once the pipe that is standard input is closed. */
static int watch_stdin(struct err *err)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	int flags;

	signal(SIGIO, end_web);
	flags = fcntl(STDIN_FILENO, F_GETFL);
	if (flags < 0 || fcntl(STDIN_FILENO, F_SETOWN, getpid()) < 0 ||
	    fcntl(STDIN_FILENO, F_SETFL, flags | O_ASYNC) < 0)
		return err_errno(err, -errno, "--while-stdin: standard input");
	if (poll(&p, 1, 0) > 0) /* before that */
		web_ended = SIGIO;
	return 0;
}

static int make_token(char token[2 * TOKEN_BYTES + 1], struct err *err)
{
	uint8_t bytes[TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return err_errno(err, -errno, "cannot draw a token");
	str_hex(bytes, sizeof(bytes), token);
	return 0;
}

/* The address that LISTENER has, as it stands in URLs. */
static int listener_address(int listener, char host[64], uint16_t *ret_port)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} a;
	socklen_t n = sizeof(a);
	char text[INET6_ADDRSTRLEN];

	if (getsockname(listener, &a.any, &n) < 0)
		return -errno;
	if (a.any.sa_family == AF_INET6)
		snprintf(host, 64, "[%s]",
			 inet_ntop(AF_INET6, &a.v6.sin6_addr, text, sizeof(text)));
	else
		snprintf(host, 64, "%s", inet_ntop(AF_INET, &a.v4.sin_addr, text, sizeof(text)));
	*ret_port = ntohs(a.any.sa_family == AF_INET6 ? a.v6.sin6_port : a.v4.sin_port);
	return 0;
}

/* The process that speaks HTTP. */
static int speak_http(int listener, int ask, const struct pages_opts *o)
{
	struct err err = {0};
	uid_t uid;
	gid_t gid;
	int rc = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "dwell-web");
	if (geteuid() == 0) {
		rights_reader(&uid, &gid);
		rc = rights_give_up(uid, gid, &err);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	} else {
		rc = rights_keep(0, &err);
	}
	if (rc >= 0)
		rc = pages_serve(listener, ask, o, &web_ended, &err);
	if (rc < 0)
		fprintf(stderr, "dwell web: %s\n", err.msg);
	return rc < 0 ? 2 : 0;
}

static int serve(struct cmd *c, struct web_args *a, int listener, const struct pages_opts *o)
{
	static const struct answers_opts limits = {
		.most = 4,
		.cpu_s = 60,
		.wall_s = 120,
		.memory = (size_t)4 << 30,
		.together = (size_t)80 << 20,
	};
	int pair[2], status = 0, rc;
	pid_t http;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_errno(&c->err, -errno, "cannot make a socket");
	http = fork();
	if (http < 0)
		return err_errno(&c->err, -errno, "cannot make a process");
	if (http == 0) {
		close(pair[0]);
		_exit(speak_http(listener, pair[1], o));
	}
	close(pair[1]);
	close(listener);
	rc = answers_serve(pair[0], &limits, answer_question, a, &web_ended, &c->err);
	close(pair[0]);
	waitpid(http, &status, 0);
	if (rc >= 0 && !web_ended && status)
		rc = err_set(&c->err, -EIO, "the process that speaks HTTP has ended");
	return rc;
}

/* SUDO_UID is whose browser it will be. */
static unsigned who_may_ask(uint32_t uids[3])
{
	const char *sudo = getenv("SUDO_UID");
	unsigned n = 0;
	uint64_t uid;

	uids[n++] = getuid();
	if (getuid() != 0)
		uids[n++] = 0;
	else if (sudo && str_parse_u64(sudo, 10, &uid) >= 0 && uid < UINT32_MAX)
		uids[n++] = (uint32_t)uid;
	return n;
}

int cmd_web(struct cmd *c)
{
	_str_ struct str facts = {0};
	struct page_file files[] = {
		{"/", "text/html; charset=utf-8", app_page_html},
		{"/app.css", "text/css; charset=utf-8", app_page_style},
		{"/list.css", "text/css; charset=utf-8", app_page_more},
		{"/graph.css", "text/css; charset=utf-8", app_page_graph},
		{"/icon.svg", "image/svg+xml", app_page_icon},
		{"/app.js", "text/javascript; charset=utf-8", app_page_script},
		{"/facts.json", "application/json", NULL},
		{0},
	};
	struct web_args a = {.listen = "127.0.0.1:8571"};
	char token[2 * TOKEN_BYTES + 1], host[64];
	struct pages_opts o = {.files = files, .token = token, .most_bytes = MOST_ANSWER};
	const struct opt table[] = {
		{"listen", OPT_STR, &a.listen, "WHERE",
		 "[ADDRESS:]PORT, or the path of a socket (default 127.0.0.1:8571)"},
		{"while-stdin", OPT_FLAG, &a.while_stdin, NULL,
		 "end when standard input, a pipe, is closed"},
		{"db i input", OPT_STR, &a.db, "DB",
		 "what to show (default $DWELLDB, $DCPIDB, ~/.local/share/dwell, then "
		 "./perf.data)"},
		{0},
	};
	opt_list operands = {0};
	uint32_t uids[3];
	bool is_path;
	int rc = cmd_parse(c, "[--listen WHERE] [--while-stdin] [DB]", table, false, &operands),
	    listener;

	if (rc != 0)
		return rc;
	if (operands.n > 1 || (operands.n && a.db))
		return err_set(&c->err, -EINVAL, "takes one database, not '%s' too",
			       operands.v[operands.n - 1]);
	if (operands.n)
		a.db = operands.v[0];
	vec_release(&operands);
	if (a.db && source_kind_of(a.db) != SOURCE_FLEET && access(a.db, R_OK) < 0)
		return err_errno(&c->err, -errno, "--db %s", a.db);
	put_facts(&facts);
	files[n_elems(files) - 2].text = str_get(&facts);
	a.command_db = a.db ? xasprintf("--db=%s", a.db) : NULL;
	is_path = strchr(a.listen, '/') != NULL;
	listener = is_path ? listen_unix(a.listen, BACKLOG, &c->err)
			   : listen_at(a.listen, BACKLOG, &c->err);
	rc = listener < 0 ? listener : make_token(token, &c->err);
	if (rc >= 0 && !is_path) {
		rc = listener_address(listener, host, &o.port);
		o.host = host;
	}
	o.uids = uids;
	o.n_uids = who_may_ask(uids);
	if (rc >= 0) {
		signal(SIGINT, end_web);
		signal(SIGTERM, end_web);
		signal(SIGPIPE, SIG_IGN);
		rc = a.while_stdin ? watch_stdin(&c->err) : 0;
	}
	if (rc >= 0) {
		if (is_path)
			printf("serving at the socket %s\n", a.listen);
		else
			printf("http://%s:%u/#token=%s\n", host, o.port, token);
		fflush(stdout);
		rc = serve(c, &a, listener, &o);
	}
	if (is_path && listener >= 0)
		unlink(a.listen);
	free(a.command_db);
	return rc;
}
