/* SPDX-License-Identifier: BSD-2-Clause */
/* The command registry and what all commands share: `dwell COMMAND ...`, or the program called
 * under one of DCPI's names (a symbolic link `dcpiprof` runs `prof`). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_config.h"
#include "base/path_rules.h"
#include "cmd/cmd.h"
#include "cmd/completion.h"
#include "cmd/dcpi_words.h"
#include "cmd/flush_first.h"
#include "base/near.h"
#include "base/screen.h"

static int cmd_help(struct cmd *c);
static int cmd_version(struct cmd *c);

/* The only registry, in the order help shows it. */
static const struct command commands[] = {
	{"record", cmd_record, CMD_JSON, "record where time goes, into a new epoch"},
	{"stat", cmd_stat, CMD_EMITS, "count events while a command runs, without samples"},
	{"daemon", cmd_daemon, 0, "record all the time, into a database that grows slowly"},
	{"ctl", cmd_ctl, CMD_JSON, "tell a daemon what to do, or ask how it is"},
	{"prof", cmd_prof, CMD_SELECTS | CMD_SETS | CMD_ERRORS | CMD_EMITS,
	 "show where samples fell, by procedure, image or owner"},
	{"list", cmd_list, CMD_SELECTS | CMD_SETS | CMD_ERRORS | CMD_EMITS,
	 "show samples at each source line and instruction of a procedure"},
	{"calc", cmd_calc, CMD_SELECTS | CMD_SETS | CMD_EMITS,
	 "show cycles per instruction of a procedure, and what stalled it"},
	{"stalls", cmd_stalls, CMD_SELECTS | CMD_SETS | CMD_EMITS,
	 "show the instructions that stall most"},
	{"why", cmd_why, CMD_SELECTS | CMD_SETS | CMD_EMITS,
	 "show what images wait for: caches, branches, units"},
	{"mem", cmd_mem, CMD_SELECTS | CMD_EMITS,
	 "show what memory was accessed, and contended cache lines"},
	{"tree", cmd_tree, CMD_SELECTS | CMD_SETS | CMD_ERRORS | CMD_EMITS,
	 "show calling contexts: who called what, who was called by whom"},
	{"flame", cmd_flame, CMD_SELECTS | CMD_SETS,
	 "draw calling contexts into one file, a page or an SVG picture"},
	{"hot", cmd_hot, CMD_SELECTS | CMD_SETS | CMD_ERRORS | CMD_EMITS,
	 "show the hottest instructions"},
	{"top", cmd_top, CMD_SELECTS | CMD_SETS | CMD_ERRORS | CMD_EMITS,
	 "show what this machine does now, second by second"},
	{"tui", cmd_tui, CMD_SELECTS | CMD_SETS,
	 "browse a recording in the terminal: tables, trees, code"},
	{"cat", cmd_cat, CMD_SELECTS | CMD_SETS | CMD_ERRORS | CMD_EMITS,
	 "print samples address by address, as dcpicat does"},
	{"diff", cmd_diff, CMD_SELECTS | CMD_SETS | CMD_EMITS,
	 "show what changed between two sets of samples"},
	{"stats", cmd_stats, CMD_SELECTS | CMD_SETS | CMD_EMITS,
	 "show how far many sets of samples are apart"},
	{"web", cmd_web, 0, "show all of it in a browser, from this machine"},
	{"trace", cmd_trace, CMD_SELECTS | CMD_EMITS, "show when each thread was where"},
	{"import", cmd_import, CMD_JSON, "take what perf recorded into a database"},
	{"export", cmd_export, CMD_SELECTS | CMD_SETS, "write samples in other tools' formats"},
	{"hpc", cmd_hpc, CMD_SELECTS, "write an HPCToolkit database, for its viewers"},
	{"epochs", cmd_epochs, CMD_EMITS, "list the epochs of a database"},
	{"gc", cmd_gc, CMD_EMITS, "remove old recordings"},
	{"scan", cmd_scan, CMD_EMITS, "find images by build-id and keep their symbols"},
	{"tar", cmd_tar, CMD_EPOCHS, "bundle epochs with their images for another machine"},
	{"ship", cmd_ship, CMD_JSON, "send recordings to a fleet's database"},
	{"check", cmd_check, CMD_EMITS, "say what is wrong in a database"},
	{"events", cmd_events, CMD_EMITS, "list the events that can be recorded"},
	{"doctor", cmd_doctor, CMD_EMITS, "say what this user on this machine can record"},
	{"help", cmd_help, 0, "show this text, or a command's options"},
	{"version", cmd_version, 0, "print the version"},
};

/* DCPI's names: the program called so runs a command, some with its first word. */
static const struct dcpi_name {
	const char *name, *command, *word;
} dcpi_names[] = {
	{"dcpi2bb", "export", "bb"}, /* the format that it asks for */
	{"dcpi2pix", "export", "pixie"},
	{"dcpicalc", "calc", NULL},
	{"dcpicat", "cat", NULL},
	{"dcpicoverage", "export", "lcov"},
	{"dcpictl", "ctl", NULL},
	{"dcpid", "daemon", NULL}, /* installed as a link to dwelld */
	{"dcpidiff", "diff", NULL},
	{"dcpiepoch", "ctl", "epoch"},
	{"dcpiflow", "list", "blocks"},
	{"dcpiflush", "ctl", "flush"},
	{"dcpilabel", "ctl", "label"},
	{"dcpilist", "list", NULL},
	{"dcpiprof", "prof", NULL},
	{"dcpiquit", "ctl", "quit"},
	{"dcpiscan", "scan", NULL},
	{"dcpisource", "list", "both"},
	{"dcpistats", "stats", NULL},
	{"dcpitar", "tar", NULL},
	{"dcpitopcounts", "hot", NULL},
	{"dcpitopstalls", "stalls", NULL},
	{"dcpiversion", "version", NULL},
	{"dcpiwhatcg", "why", NULL},
};

/* Words of other profilers, DCPI's programs among them: the command that does it here, or what to
 * type instead. */
static const struct alias {
	const char *name, *command, *say;
} aliases[] = {
	{"report", "prof", NULL},
	{"annotate", "list", NULL},
	{"archive", "tar", NULL},
	{"script", NULL,
	 "dwell counts samples instead of storing them; `dwell export --perf-script` writes such "
	 "text, `dwell cat` the counts by address, `dwell trace` each sample's time (recorded with "
	 "--trace)"},
	{"evlist", NULL,
	 "`dwell epochs` lists recordings, and `dwell prof` says above its rows which events"},
	{"sched", NULL,
	 "`dwell record --off-cpu` records waiting; then `dwell tree --event blocked`"},
	{"timechart", NULL, "`dwell record --trace` keeps times; then `dwell trace`"},
	{"lock", NULL,
	 "`dwell record --off-cpu -g` records who waits where; then `dwell tree --event blocked`"},
	{"c2c", NULL, "`dwell mem --by line` shows cache lines that threads contend for"},
	{"dcpi", NULL, "`dwell help` lists the commands"},
	{"dcpi2bb", NULL,
	 "`dwell export --bb` writes counts of basic blocks; `--autofdo` and `--bolt` those for "
	 "compilers"},
	{"dcpi2pix", NULL, "`dwell export --pixie` writes counts of basic blocks"},
	{"dcpi2ps", NULL, "`dwell list PROCEDURE -o FILE.html` draws code, `dwell flame` calls"},
	{"dcpicc", NULL, "columns of source lines are not told apart; `dwell list` counts by line"},
	{"dcpicoverage", NULL, "`dwell export --lcov` writes how often source lines ran"},
	{"dcpidis", NULL, "`dwell list --asm` shows instructions"},
	{"dcpiflow", NULL,
	 "`dwell list --blocks` and `dwell calc` show the blocks and loops of a procedure"},
	{"dcpikdiff", NULL, "the running kernel's code is not compared with its file's"},
	{"dcpildlatency", NULL, "`dwell prof --pm any:latency` adds up what loads waited"},
	{"dcpisource", NULL, "`dwell list --both` shows source with instructions"},
	{"dcpisumxct", NULL, "`dwell list --blocks --counts FILE` reads callgrind's counts"},
	{"dcpix", NULL, "`dwell list --blocks --counts FILE` reads callgrind's counts"},
	{"dcpiuninstall", NULL, "`apt-get remove dwell dwelld`, or what installed it"},
	{"dcpiupcalls", NULL,
	 "no user code runs on samples; `dwell record --trace` keeps each one"},
	{"dcpivarg", NULL, "values are not sampled; `dwell record -g` records callers"},
	{"dcpivcat", NULL, "values are not sampled"},
	{"dcpivlst", NULL, "values are not sampled"},
	{"dcpivprofiler", NULL, "values are not sampled"},
};

static const struct alias *find_alias(const char *name)
{
	for (size_t i = 0; i < n_elems(aliases); i++)
		if (strcmp(aliases[i].name, name) == 0)
			return &aliases[i];
	return NULL;
}

static const struct command *find_command(const char *name)
{
	const struct alias *alias = find_alias(name);

	if (alias && alias->command)
		name = alias->command;
	for (size_t i = 0; i < n_elems(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static const struct dcpi_name *find_dcpi_name(const char *name)
{
	for (size_t i = 0; i < n_elems(dcpi_names); i++)
		if (strcmp(dcpi_names[i].name, name) == 0)
			return &dcpi_names[i];
	return NULL;
}

/* --- for commands --- */

static void show_help(struct cmd *c, const char *synopsis, const struct opt *table)
{
	for (const char *form = synopsis; form; form = strchr(form, '\n')) {
		form += *form == '\n';
		str_addf(&c->out, "%s %s%s%.*s\n", form == synopsis ? "usage:" : "      ",
			 c->called, *form ? " " : "", (int)strcspn(form, "\n"), form);
	}
	str_addf(&c->out, "%s\n\noptions:\n", c->command->summary);
	screen_add_help(&c->out, table, screen_width(STDOUT_FILENO));
}

bool cmd_has_terminal(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

void cmd_say(const char *text)
{
	const unsigned width = screen_width(STDERR_FILENO);
	_str_ struct str folded = {0};

	if (width)
		text_fold(&folded, text, width, 2);
	fputs(width ? str_get(&folded) : text, stderr);
}

static void set_up_emitter(struct cmd *c, bool table_alone)
{
	const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");
	unsigned width = screen_width(STDOUT_FILENO);

	c->emit = (struct emit){
		.out = &c->out,
		.format = c->json  ? EMIT_JSON
			  : c->csv ? EMIT_CSV
				   : EMIT_TABLE,
		.terminal = width != 0,
		/* no-color.org: any value but the empty one turns colour off. */
		.colour = c->terminal && !(no_colour && *no_colour) && term &&
			  strcmp(term, "dumb") != 0,
		.width = width,
		.full_names = c->full_names,
		.table_alone = table_alone,
	};
}

/* Some commands have a flag of that name for something else. */
static bool has_option(const struct opt *table, const char *name)
{
	for (; table->names; table++)
		if (strcmp(table->names, name) == 0)
			return true;
	return false;
}

static bool flag_is_set(const struct opt *table, const char *name)
{
	for (; table->names; table++)
		if (strcmp(table->names, name) == 0)
			return *(const bool *)table->to;
	return false;
}

/* Sets of samples that are compared may each have the same to say. */
static void pass_notice(void *ctx, const char *line)
{
	struct cmd *c = ctx;

	vec_each (said, &c->noticed)
		if (strcmp(*said, line) == 0)
			return;
	vec_push(&c->noticed, xstrdup(line));
	cmd_notice(c, "%s", line);
}

int cmd_check_paths(const opt_list *paths, struct err *err)
{
	vec_each (path, paths) {
		int rc;

		if (access(*path, F_OK) == 0)
			continue;
		if (!strchr(*path, '='))
			return err_errno(err, -errno, "--path %s", *path);
		rc = path_rule_check(*path, err);
		if (rc < 0)
			return err_prefix(err, rc, "--path");
	}
	return 0;
}

int cmd_parse(struct cmd *c, const char *synopsis, const struct opt *table, bool stop_at_operand,
	      opt_list *ret_operands)
{
	struct select *s = &c->select;
	const struct opt epochs[] = {
		{c->dcpi ? "db" : "db i input", OPT_STR, &s->db, "DB",
		 "what to read (default $DWELLDB, $DCPIDB, ~/.local/share/dwell, then "
		 "./perf.data)"},
		{"epoch", OPT_STR, &s->epochs, "E[,E...]",
		 "epochs: all, latest, NAME, FROM..TO (default: the newest and its job's)"},
		{"since", OPT_STR, &s->since, "TIME",
		 "epochs with samples since then: 2d (ago), or a date of UTC"},
		{"until", OPT_STR, &s->until, "TIME", "epochs that began by then"},
		{"host", OPT_STR, &s->host, "NAME",
		 "only recordings of this host; patterns are allowed"},
		{c->dcpi ? "p path" : "path", OPT_LIST, &s->paths, "PATH",
		 "look for images here first"},
		CMD_NO_FLUSH(c),
	};
	const struct opt selects[] = {
		{"comm", OPT_LIST, &s->owners[OWNER_KEY_COMM], "NAME[,NAME...]",
		 "only samples of these commands; patterns are allowed"},
		{"exe", OPT_LIST, &s->owners[OWNER_KEY_EXE], "PATH[,PATH...]",
		 "only samples of processes that run these"},
		{c->dcpi ? "pid" : "p pid", OPT_LIST, &s->owners[OWNER_KEY_PID], "N[,N...]",
		 "only samples of these processes"},
		{"tid", OPT_LIST, &s->owners[OWNER_KEY_TID], "N[,N...]",
		 "only samples of these threads"},
		{"uid", OPT_LIST, &s->owners[OWNER_KEY_UID], "N|USER[,...]",
		 "only samples of these users"},
		{"cgroup", OPT_LIST, &s->owners[OWNER_KEY_CGROUP], "PATH[,PATH...]",
		 "only samples of these cgroups and those below"},
		{"label", OPT_LIST, &s->owners[OWNER_KEY_LABEL], "L[,L...]",
		 "only samples with these labels"},
		{"event", OPT_LIST, &s->events, "E[+E...]", "only these events, in this order"},
		{"runtime-frames", OPT_FLAG, &s->runtime_frames, NULL,
		 "an interpreter's own frames, too, between the functions it executes"},
		{"stride", OPT_U64, &s->stride, "N",
		 "DCPI files: bytes per count, 1, or 4 for Alpha's"},
	};
	const struct opt damaged[] = {
		{"force", OPT_FLAG, &s->force, NULL, "of a damaged perf.data: what can be read"},
	};
	const struct opt sets[] = {
		{"pm", OPT_LIST, &s->columns, "SET[+SET...]",
		 "columns of sample sets, counters and ratios; dwell-profileme(7)"},
		{"sp", OPT_STR, &s->sort_set, "SET", "sort by this one, and show it first"},
		{"no-early-kill", OPT_FLAG, &s->no_killed, NULL,
		 "leave samples killed early out of sets that ask what is not reliable of them"},
	};
	const struct opt errors[] = {
		{"error", OPT_FLAG, &s->errors, NULL, "show each number's standard error"},
	};
	const struct opt json[] = {{"json", OPT_FLAG, &c->json, NULL, "print JSON"}};
	const struct opt emits[] = {
		{"csv", OPT_FLAG, &c->csv, NULL, "print comma-separated values"},
		{"no-pager", OPT_FLAG, &c->no_pager, NULL, "never run a pager"},
		{"full-names", OPT_FLAG, &c->full_names, NULL,
		 "names and lines as long as they are; the pager scrolls sideways"},
	};
	const struct {
		unsigned flags; /* of commands that take them: one of these is enough */
		const struct opt *table;
		size_t n;
	} groups[] = {
		{CMD_EPOCHS | CMD_SELECTS, epochs, n_elems(epochs)},
		{CMD_SELECTS, selects, n_elems(selects)},
		{CMD_SELECTS, damaged, has_option(table, "force") ? 0 : n_elems(damaged)},
		{CMD_SETS, sets, n_elems(sets)},
		{CMD_ERRORS, errors, n_elems(errors)},
		{CMD_JSON | CMD_EMITS, json, n_elems(json)},
		{CMD_EMITS, emits, n_elems(emits)},
	};
	bool help = false, version = false;
	VEC(struct opt) all = {0};
	int rc;

	for (const struct opt *o = table; o->names; o++)
		vec_push(&all, *o);
	for (size_t g = 0; g < n_elems(groups); g++)
		for (size_t i = 0; i < groups[g].n && c->command->flags & groups[g].flags; i++)
			vec_push(&all, groups[g].table[i]);
	vec_push(&all, (struct opt){"help h", OPT_FLAG, &help, NULL, "show this text"});
	vec_push(&all, (struct opt){"V", OPT_FLAG, &version, NULL, NULL});
	vec_push(&all, (struct opt){0});
	if (c->visit) {
		c->visit(c->visit_ctx, c->command, all.v);
		vec_release(&all);
		return CMD_HELPED;
	}
	rc = opts_parse(all.v, c->argc, c->argv, stop_at_operand, ret_operands, &c->err);
	if (rc == 0 && help) {
		show_help(c, synopsis, all.v);
		rc = CMD_HELPED;
	}
	if (rc == 0 && version) {
		str_add(&c->out, "dwell " DWELL_VERSION "\n");
		rc = CMD_HELPED;
	}
	if (rc == 0)
		rc = cmd_check_paths(&s->paths, &c->err);
	if (rc == 0 && c->json && c->csv)
		rc = err_set(&c->err, -EINVAL, "--json and --csv exclude each other");
	if (rc == 0 && s->stride && s->stride != 1 && s->stride != 4)
		rc = err_set(&c->err, -EINVAL, "--stride: must be 1 or 4");
	s->before_read = cmd_flush_first;
	s->before_read_ctx = c;
	s->notice = pass_notice;
	s->notice_ctx = c;
	if (rc == 0)
		set_up_emitter(c, flag_is_set(table, "no-header"));
	vec_release(&all);
	return rc;
}

/* A message may quote a name from outside: nothing in it may drive the terminal.  Below it stands
 * the place that err_mark marked. */
static void print_error(const char *called, const char *msg, const char *where)
{
	_str_ struct str shown = {0}, all = {0};
	char *line = xstrdup(where ? where : ""), *rest = line;

	text_show(&shown, msg);
	for (char *part; *line && (part = strsep(&rest, "\n"));) {
		str_add(&shown, "\n  ");
		text_show(&shown, part);
	}
	fflush(stdout);
	str_addf(&all, "%s: %s\n", called, str_get(&shown));
	/* One line for whoever reads it by a program. */
	if (isatty(STDERR_FILENO))
		cmd_say(str_get(&all));
	else
		fputs(str_get(&all), stderr);
	free(line);
}

void cmd_notice(const struct cmd *c, const char *fmt, ...)
{
	char msg[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	print_error(c->called, msg, NULL);
}

/* --- running --- */

/* Runs one command and returns the exit status. */
static int run_cmd(const struct command *command, const char *called, const char *word, int argc,
		   char **argv)
{
	struct cmd c = {
		.command = command,
		.called = called,
		.word = word,
		.dcpi = find_dcpi_name(called) != NULL,
		.argc = argc,
		.argv = argv,
		.terminal = isatty(STDOUT_FILENO),
		.failure = 2,
	};
	int rc = command->run(&c), out_rc = 0;

	if (rc == CMD_HELPED)
		rc = 0;
	if (c.out.n)
		out_rc = pager_write(c.out.v, c.out.n, c.terminal && !c.no_pager, c.first_line,
				     rc < 0 ? NULL : &c.err);
	if (fflush(stdout) < 0 && errno != EPIPE && rc >= 0 && out_rc >= 0)
		out_rc = err_errno(&c.err, -errno, "cannot write the output");
	if (rc >= 0 && out_rc < 0)
		rc = out_rc;
	if (rc < 0)
		print_error(called, c.err.msg[0] ? c.err.msg : strerror(-rc), c.err.where);
	str_release(&c.out);
	select_release(&c.select);
	free(c.flushed);
	vec_each (line, &c.noticed)
		free(*line);
	vec_release(&c.noticed);
	return rc < 0 ? c.failure : rc;
}

/* Runs the command that NAME, one of DCPI's, stands for, with its page's options. */
static int run_dcpi(const struct dcpi_name *name, int argc, char **argv)
{
	const struct cmd notices = {.called = name->name};
	struct dcpi_words words;
	struct err err;
	int rc = dcpi_words_read(&words, name->name, argc, argv, &err);

	if (rc < 0) {
		print_error(name->name, err.msg, NULL);
		rc = 2;
	} else {
		vec_each (note, &words.notes)
			cmd_notice(&notices, "%s", *note);
		rc = run_cmd(find_command(name->command), name->name, name->word, (int)words.argv.n,
			     words.argv.v);
	}
	dcpi_words_release(&words);
	return rc;
}

static void add_overview(struct str *out)
{
	str_add(out,
		"usage: dwell COMMAND [OPTIONS] ...\n"
		"       dwell help [COMMAND] | --version\n"
		"\n"
		"A continuous profiler: where this machine's time goes, down to the instruction.\n"
		"\n"
		"commands:\n");
	for (size_t i = 0; i < n_elems(commands); i++)
		str_addf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
	str_add(out, "\n`report` and `annotate` are prof and list, as perf calls them.\n"
		     "`dwell COMMAND --help` lists the options of a command.\n");
}

static int unknown_command(const char *name, struct err *err)
{
	struct near near = near_to(name, strlen(name) > 3 ? 3 : 2);
	const struct alias *alias = find_alias(name);

	if (alias)
		return err_set(err, -EINVAL, "there is no command '%s': %s", name, alias->say);
	for (size_t i = 0; i < n_elems(commands); i++)
		near_try(&near, commands[i].name);
	if (*near.found)
		return err_set(err, -EINVAL, "there is no command '%s'; did you mean `dwell %s`?",
			       name, near.found);
	return err_set(err, -EINVAL, "there is no command '%s'; `dwell help` lists the commands",
		       name);
}

/* Says what to use in place of PROGRAM, a program of DCPI's that is none of ours. */
static int refuse_program(const char *program)
{
	const struct alias *alias = find_alias(program);

	fprintf(stderr, "%s: dwell has no such program: %s\n", program,
		alias ? alias->say : "`dwell help` lists what it does");
	return 2;
}

static int run_named(int argc, char **argv)
{
	const struct command *command = find_command(argv[0]);
	char called[64];
	struct err err;

	if (!command) {
		unknown_command(argv[0], &err);
		print_error("dwell", err.msg, err.where);
		return 2;
	}
	snprintf(called, sizeof(called), "dwell %s", argv[0]);
	return run_cmd(command, called, NULL, argc, argv);
}

int cmd_run(int argc, char **argv)
{
	return run_named(argc, argv);
}

static void complete_command(void *ctx, const struct command *command, const struct opt *options)
{
	const char *alias = NULL;

	for (size_t i = 0; i < n_elems(aliases); i++)
		if (aliases[i].command && strcmp(aliases[i].command, command->name) == 0)
			alias = aliases[i].name;
	completion_add(ctx, &(struct completion_command){
				    .name = command->name,
				    .alias = alias,
				    .summary = command->summary,
				    .options = options,
				    .runs = command->run == cmd_record,
			    });
}

/* Each command hands over its options when it parses its line. */
static void write_completion(struct cmd *c, enum completion_shell shell)
{
	struct completion completion;

	completion_begin(&completion, shell, &c->out);
	for (const struct command *of = commands; of < commands + n_elems(commands); of++) {
		char *argv[2] = {(char *)of->name, NULL};
		struct cmd asked = {.command = of,
				    .called = of->name,
				    .argc = 1,
				    .argv = argv,
				    .visit = complete_command,
				    .visit_ctx = &completion};

		if (of->run == cmd_daemon) /* another program parses its line */
			complete_command(&completion, of, &(struct opt){0});
		else
			of->run(&asked);
		str_release(&asked.out);
		select_release(&asked.select);
	}
	completion_end(&completion);
}

/* `dwell help COMMAND` is `dwell COMMAND --help`. */
static int cmd_help(struct cmd *c)
{
	const char *shell_name = NULL;
	const struct opt table[] = {
		{"completion", OPT_STR, &shell_name, "bash|zsh|fish",
		 "print what completes dwell's command lines in this shell"},
		{0},
	};
	char help[] = "--help", *argv[3] = {NULL, help, NULL};
	opt_list operands = {0};
	char called[64];
	int rc = cmd_parse(c, "[COMMAND]\n--completion SHELL", table, false, &operands), shell = 0;

	if (rc == 0 && shell_name)
		shell = opts_choose(shell_name, completion_shells, "--completion", &c->err);
	if (shell < 0)
		rc = shell;
	if (rc == 0 && shell_name) {
		write_completion(c, (enum completion_shell)shell);
	} else if (rc == 0 && operands.n == 0) {
		add_overview(&c->out);
	} else if (rc == 0) {
		argv[0] = (char *)operands.v[0];
		c->command = find_command(argv[0]);
		snprintf(called, sizeof(called), "dwell %s", argv[0]);
		c->called = called;
		c->argc = 2;
		c->argv = argv;
		rc = c->command ? c->command->run(c) : unknown_command(argv[0], &c->err);
	}
	vec_release(&operands);
	return rc;
}

static int cmd_version(struct cmd *c)
{
	const struct opt none[] = {{0}};
	opt_list operands = {0};
	int rc = cmd_parse(c, "", none, false, &operands);

	if (rc == 0)
		str_add(&c->out, "dwell " DWELL_VERSION "\n");
	vec_release(&operands);
	return rc;
}

/* A file opened later must not become standard output by taking a closed one's number; opened the
 * wrong way round, so that using them still fails. */
static void guard_standard_fds(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
	const char *program = argc > 0 ? str_basename(argv[0]) : "dwell";
	const struct dcpi_name *name = find_dcpi_name(program);
	static char help[] = "help", version[] = "version";
	struct str overview = {0};

	guard_standard_fds();
	if (name)
		return run_dcpi(name, argc, argv);
	if (strncmp(program, "dcpi", 4) == 0)
		return refuse_program(program);
	if (argc < 2) {
		add_overview(&overview);
		fputs(str_get(&overview), stderr);
		str_release(&overview);
		return 2;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-help") == 0 ||
	    strcmp(argv[1], "-h") == 0)
		argv[1] = help;
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-version") == 0 ||
	    strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "-v") == 0)
		argv[1] = version;
	return run_named(argc - 1, argv + 1);
}
