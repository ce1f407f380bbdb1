/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion scripts.  What an option's value is its table says, or what help calls it: FILE or DB
 * is a path, `auto|bpf|ring` is one of three words, EVENT is what `dwell events` lists.  In zsh,
 * for one:
 *
 *	{"engine", OPT_STR, &engine, "auto|bpf|ring", "how samples are brought in"}
 *	'--engine=[how samples are brought in]:auto|bpf|ring:(auto bpf ring)'
 *
 * The forms are those of bash(1) "Programmable Completion", zshcompsys(1) `_arguments` and fish's
 * complete(1). */
#include <ctype.h>
#include <string.h>

#include "base/vec.h"
#include "cmd/completion.h"

const char *const completion_shells[] = {"bash", "zsh", "fish", NULL};

/* What lists the values of an option, as shell commands that all three understand. */
#define LIST_EVENTS "dwell events --csv 2>/dev/null | cut -d, -f1 | tail -n +2"
#define LIST_EPOCHS                                                                                \
	"dwell epochs --no-flush --csv 2>/dev/null | cut -d, -f1 | tail -n +2; echo all; echo "    \
	"latest"
#define LIST_PIDS "ps -e -o pid= | tr -d ' '"

/* The values that an option may have. */
struct option_values {
	bool any;	  /* a value follows */
	bool paths;	  /* it is a path */
	const char *list; /* a shell command that prints them, a line each; NULL: none */
	struct str words; /* with blanks between them; empty: none */
	bool several;	  /* of them, with commas between */
};

static void add_words(struct str *out, const char *arg)
{
	for (const char *end; *arg; arg = *end ? end + 1 : end) {
		end = arg + strcspn(arg, "|");
		if (islower((unsigned char)*arg) &&
		    strspn(arg, "abcdefghijklmnopqrstuvwxyz0123456789-") == (size_t)(end - arg)) {
			str_add(out, out->n ? " " : "");
			str_addn(out, arg, (size_t)(end - arg));
		}
	}
}

static struct option_values values_of(const struct opt *o)
{
	static const char *const paths[] = {"FILE", "DB", "DIR", "PATH", "OUT", "WHERE"};
	struct option_values v = {.any = o->kind != OPT_FLAG};

	if (!v.any || !o->arg)
		return v;
	for (size_t i = 0; i < n_elems(paths); i++)
		v.paths |= strncmp(o->arg, paths[i], strlen(paths[i])) == 0;
	v.several = strstr(o->arg, "[,");
	if (o->words)
		str_add(&v.words, o->words);
	else if (str_starts(o->arg, "EVENT") || str_starts(o->arg, "E[+"))
		v.list = LIST_EVENTS;
	else if (str_starts(o->arg, "E[,"))
		v.list = LIST_EPOCHS;
	else if (str_starts(o->arg, "PID"))
		v.list = LIST_PIDS;
	else if (strchr(o->arg, '|'))
		add_words(&v.words, o->arg);
	return v;
}

/* Adds each name of O with its dashes, BETWEEN them what stands there. */
static void add_names(struct str *out, const struct opt *o, const char *between)
{
	bool first = true;

	for (const char *name = o->names, *end; *name; name = *end ? end + 1 : end) {
		end = name + strcspn(name, " ");
		str_addf(out, "%s%s%.*s", first ? "" : between, end - name == 1 ? "-" : "--",
			 (int)(end - name), name);
		first = false;
	}
}

static bool is_shown(const struct opt *o)
{
	return o->help && o->kind != OPT_SAY;
}

/* --- bash --- */

static void bash_begin(struct str *out)
{
	str_add(out, "# Completion of dwell in bash.\n"
		     "_dwell()\n"
		     "{\n"
		     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
		     "\tlocal command=${COMP_WORDS[1]} options= values= before= i\n"
		     "\n"
		     "\tCOMPREPLY=()\n"
		     "\t[ \"$cur\" != = ] || cur=\n"
		     "\t[ \"$prev\" != = ] || prev=${COMP_WORDS[COMP_CWORD-2]}\n"
		     "\tcase $command in\n");
}

static void bash_option(struct str *out, const struct opt *o)
{
	struct option_values v = values_of(o);

	if (!v.any)
		return;
	str_add(out, "\t\t");
	add_names(out, o, "|");
	if (v.list)
		str_addf(out, ") values=$(%s);;\n", v.list);
	else if (v.words.n)
		str_addf(out, ") values='%s'%s;;\n", str_get(&v.words),
			 v.several ? "; [[ $cur != *,* ]] || before=${cur%,*}," : "");
	else if (v.paths)
		str_add(out, ") compopt -o default; return;;\n");
	else
		str_add(out, ") return;;\n");
	str_release(&v.words);
}

static void bash_command(struct completion *c, const struct completion_command *command)
{
	str_addf(&c->names, "%s%s", c->names.n ? " " : "", command->name);
	str_addf(c->out, "\t%s%s%s)\n\t\toptions='", command->name, command->alias ? "|" : "",
		 command->alias ? command->alias : "");
	for (const struct opt *o = command->options; o->names; o++)
		if (is_shown(o)) {
			add_names(c->out, o, " ");
			str_addc(c->out, ' ');
		}
	str_add(c->out, "'\n\t\tcase $prev in\n");
	for (const struct opt *o = command->options; o->names; o++)
		if (is_shown(o))
			bash_option(c->out, o);
	str_add(c->out, "\t\tesac");
	if (command->runs)
		str_add(c->out, "\n"
				"\t\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
				"\t\t\t[ \"${COMP_WORDS[i]}\" != -- ] || {\n"
				"\t\t\t\t! declare -F _command_offset >/dev/null || "
				"_command_offset $((i + 1))\n"
				"\t\t\t\treturn\n"
				"\t\t\t}\n"
				"\t\tdone");
	str_add(c->out, ";;\n");
}

static void bash_end(struct completion *c)
{
	str_addf(c->out,
		 "\tesac\n"
		 "\tif [ \"$COMP_CWORD\" = 1 ]; then\n"
		 "\t\tvalues='%s'\n"
		 "\telif [ -z \"$values\" ] && [[ $cur == -* ]]; then\n"
		 "\t\tvalues=$options\n"
		 "\tfi\n"
		 "\tif [ -n \"$values\" ]; then\n"
		 "\t\tCOMPREPLY=($(compgen -P \"$before\" -W \"$values\" -- "
		 "\"${cur#\"$before\"}\"))\n"
		 "\telse\n"
		 "\t\tcompopt -o default\n"
		 "\tfi\n"
		 "}\n"
		 "complete -F _dwell dwell\n",
		 str_get(&c->names));
}

/* --- zsh --- */

/* Adds TEXT as a part of a quoted specification, where brackets and colons divide. */
static void zsh_text(struct str *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'') {
			str_add(out, "'\\''");
			continue;
		}
		if (strchr("[]:\\", *text))
			str_addc(out, '\\');
		str_addc(out, *text);
	}
}

static void zsh_begin(struct str *out)
{
	str_add(out, "#compdef dwell\n"
		     "# Completion of dwell in zsh.\n"
		     "_dwell()\n"
		     "{\n"
		     "\tlocal -a commands\n"
		     "\tlocal command=$words[2]\n"
		     "\n"
		     "\tif (( CURRENT > 2 )); then\n"
		     "\t\tshift words\n"
		     "\t\t(( CURRENT-- ))\n"
		     "\t\tcase $command in\n");
}

static void zsh_option(struct str *out, const struct opt *o)
{
	struct option_values v = values_of(o);

	for (const char *name = o->names, *end; *name; name = *end ? end + 1 : end) {
		end = name + strcspn(name, " ");
		str_addf(out, " \\\n\t\t\t'%s%.*s%s[", end - name == 1 ? "-" : "--",
			 (int)(end - name), name,
			 !v.any		   ? ""
			 : end - name == 1 ? "+"
					   : "=");
		zsh_text(out, o->help);
		str_addc(out, ']');
		if (v.any) {
			str_addc(out, ':');
			zsh_text(out, o->arg);
			str_addc(out, ':');
		}
		if (v.list) {
			str_add(out, "{compadd -- $(");
			for (const char *s = v.list; *s; s++)
				str_add(out, *s == '\'' ? "'\\''" : (char[]){*s, '\0'});
			str_add(out, ")}");
		} else if (v.words.n && v.several) {
			str_addf(out, " _values -s , value %s", str_get(&v.words));
		} else if (v.words.n) {
			str_addf(out, "(%s)", str_get(&v.words));
		} else if (v.paths) {
			str_add(out, "_files");
		}
		str_addc(out, '\'');
	}
	str_release(&v.words);
}

static void zsh_command(struct completion *c, const struct completion_command *command)
{
	str_addf(&c->names, "\t\t'%s:", command->name);
	zsh_text(&c->names, command->summary);
	str_add(&c->names, "'\n");
	str_addf(c->out, "\t\t%s%s%s) _arguments", command->name, command->alias ? "|" : "",
		 command->alias ? command->alias : "");
	for (const struct opt *o = command->options; o->names; o++)
		if (is_shown(o))
			zsh_option(c->out, o);
	str_addf(c->out, " \\\n\t\t\t'%s';;\n",
		 command->runs ? "*::command:_normal" : "*:file:_files");
}

static void zsh_end(struct completion *c)
{
	str_addf(c->out,
		 "\t\tesac\n"
		 "\t\treturn\n"
		 "\tfi\n"
		 "\tcommands=(\n"
		 "%s"
		 "\t)\n"
		 "\t_describe command commands\n"
		 "}\n"
		 "_dwell \"$@\"\n",
		 str_get(&c->names));
}

/* --- fish --- */

/* Adds TEXT in single quotes. */
static void fish_text(struct str *out, const char *text)
{
	str_addc(out, '\'');
	for (; *text; text++) {
		if (strchr("'\\", *text))
			str_addc(out, '\\');
		str_addc(out, *text);
	}
	str_addc(out, '\'');
}

static void fish_option(struct str *out, const char *names, const struct opt *o)
{
	struct option_values v = values_of(o);
	_str_ struct str list = {0};

	str_addf(out, "complete -c dwell -n '__fish_seen_subcommand_from %s'", names);
	for (const char *name = o->names, *end; *name; name = *end ? end + 1 : end) {
		end = name + strcspn(name, " ");
		str_addf(out, " -%c %.*s", end - name == 1 ? 's' : 'l', (int)(end - name), name);
	}
	if (v.any)
		str_add(out, v.paths ? " -r -F" : " -x");
	if (v.list)
		str_addf(&list, "(%s)", v.list);
	else if (v.words.n && v.several)
		str_addf(&list, "(__fish_append , %s)", str_get(&v.words));
	else
		str_add(&list, str_get(&v.words));
	if (list.n) {
		str_add(out, " -a ");
		fish_text(out, str_get(&list));
	}
	str_add(out, " -d ");
	fish_text(out, o->help);
	str_addc(out, '\n');
	str_release(&v.words);
}

static void fish_command(struct completion *c, const struct completion_command *command)
{
	_str_ struct str names = {0};

	str_addf(&names, "%s%s%s", command->name, command->alias ? " " : "",
		 command->alias ? command->alias : "");
	str_addf(c->out, "complete -c dwell -f -n __fish_use_subcommand -a %s -d ", command->name);
	fish_text(c->out, command->summary);
	str_addc(c->out, '\n');
	for (const struct opt *o = command->options; o->names; o++)
		if (is_shown(o))
			fish_option(c->out, str_get(&names), o);
	if (command->runs)
		str_addf(c->out,
			 "complete -c dwell -x -n '__fish_seen_subcommand_from %s' "
			 "-a '(__fish_complete_subcommand)'\n",
			 str_get(&names));
}

/* --- all --- */

void completion_begin(struct completion *c, enum completion_shell shell, struct str *out)
{
	*c = (struct completion){.out = out, .shell = shell};
	if (shell == COMPLETION_BASH)
		bash_begin(out);
	else if (shell == COMPLETION_ZSH)
		zsh_begin(out);
	else
		str_add(out, "# Completion of dwell in fish.\n");
}

void completion_add(struct completion *c, const struct completion_command *command)
{
	if (c->shell == COMPLETION_BASH)
		bash_command(c, command);
	else if (c->shell == COMPLETION_ZSH)
		zsh_command(c, command);
	else
		fish_command(c, command);
}

void completion_end(struct completion *c)
{
	if (c->shell == COMPLETION_BASH)
		bash_end(c);
	else if (c->shell == COMPLETION_ZSH)
		zsh_end(c);
	str_release(&c->names);
}
