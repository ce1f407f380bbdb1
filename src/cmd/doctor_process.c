/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell doctor -p PID`: which interpreters and virtual machines a process has loaded, and what
 * call paths show of them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "cmd/cmd.h"
#include "cmd/doctor_process.h"
#include "daemon/readers.h"
#include "machine/procfs.h"
#include "unwind/interpreter.h"

static const struct emit_col columns[] = {
	{.key = "runtime", .type = EMIT_STR}, {.key = "version", .type = EMIT_STR},
	{.key = "state", .type = EMIT_STR},   {.key = "found", .type = EMIT_STR, .cut = TEXT_FOLD},
	{.key = "image", .type = EMIT_STR},
};

/* Runtimes known by the names of their files alone: the begin of the last part of a path. */
static const struct {
	const char *begin, *runtime;
} others[] = {
	{"pypy", "PyPy"},
	{"libpypy", "PyPy"},
	{"node", "Node.js"},
	{"libnode.so", "Node.js"},
	{"libjvm.so", "JVM"},
	{"libruby", "Ruby"},
	{"php", "PHP"},
	{"libphp", "PHP"},
	{"libperl", "Perl"},
	{"perl", "Perl"},
	{"libcoreclr.so", ".NET"},
	{"beam.smp", "BEAM"},
	{"luajit", "LuaJIT"},
	{"libluajit", "LuaJIT"},
};

struct doctor_process {
	struct cmd *c;
	uint32_t pid, n;
	char *seen;	    /* the path of the mapping before: one row a file */
	struct arena texts; /* of the rows */
};

static void show_runtime(struct doctor_process *d, const char *runtime, const char *version,
			 const char *state, const char *found, const char *path)
{
	const struct emit_cell cells[] = {
		{.s = runtime},
		{.s = arena_strdup(&d->texts, version), .none = !*version},
		{.s = state},
		{.s = found},
		{.s = arena_strdup(&d->texts, path)},
	};

	emit_row(&d->c->emit, cells);
	d->n++;
}

static void show_other(struct doctor_process *d, const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	for (size_t i = 0; i < n_elems(others); i++) {
		if (strncmp(name, others[i].begin, strlen(others[i].begin)) != 0)
			continue;
		show_runtime(d, others[i].runtime, "", "missing",
			     "its functions are not known: only what it compiles and tells of "
			     "(perf maps, jitdumps) has names",
			     path);
		return;
	}
}

/* How gopclntab.h calls the layouts of Go's table. */
static const char *const go_layouts[] = {"1.2", "1.16", "1.18", "1.20"};

/* What call paths show of the program of Go I. */
static const char *go_finds(struct doctor_process *d, const struct unwind_interpreter *i)
{
	static const char *const labels[] = {
		"it sets no labels of goroutines",
		"labels of goroutines (a map; record --by label, engine bpf)",
		"labels of goroutines (a list; record --by label, engine bpf)",
		"where this Go keeps labels of goroutines is not known",
	};
	const bool switches = i->version & INTERPRETER_GO_HAS_SWITCHES;

	_mem_ char *text = xasprintf(
		"functions, files, lines and inlined calls from %s of layout %s; call paths %s; %s",
		i->version & INTERPRETER_GO_HAS_SYMBOLS ? "symbols and its pclntab"
							: "its pclntab (stripped)",
		go_layouts[INTERPRETER_GO_LAYOUT(i->version)],
		switches ? "to the goroutine's entry, also from the thread's own stack"
			 : "end where the runtime changes stacks, whose code is not as it is known",
		labels[i->number - INTERPRETER_GO]);

	return arena_strdup(&d->texts, text);
}

/* What call paths show of interpreter I. */
static const char *doctor_finds(struct doctor_process *d, const struct unwind_interpreter *i)
{
	const unsigned number = i->number;

	if (INTERPRETER_IS_GO(number))
		return go_finds(d, i);
	if (INTERPRETER_IS_V8(number))
		return "functions, files and lines in call paths, inlined functions, "
		       "functions that await (-g, engine bpf); not across async generators";
	if (number == INTERPRETER_HOTSPOT_21)
		return "methods, files and lines in call paths, inlined methods, virtual threads "
		       "(-g, engine bpf)";
	if (INTERPRETER_IS_HOTSPOT(number))
		return "methods, files and lines in call paths, inlined methods (-g, engine bpf)";
	if (number >= INTERPRETER_PYTHON_3_8 && number <= INTERPRETER_PYTHON_3_11)
		return "functions, files and lines in call paths, coroutines that await "
		       "(-g, engine bpf); not which task awaits another, nor functions of "
		       "subinterpreters";
	if (number >= INTERPRETER_PYTHON_3_12 && number <= INTERPRETER_PYTHON_3_14)
		return "functions, files and lines in call paths, coroutines that await "
		       "(-g, engine bpf); not which task awaits another";
	return "functions, files and lines in call paths (-g, engine bpf)";
}

static void doctor_look(void *ctx, const struct procfs_map *m)
{
	struct doctor_process *d = ctx;
	struct unwind_table t = {0};
	char file[80], version[24];
	const char *why;
	_fd_ int fd = -1;
	int rc;

	if (*m->path != '/' || strcmp(m->path, d->seen ? d->seen : "") == 0)
		return;
	free(d->seen);
	d->seen = xstrdup(m->path);
	snprintf(file, sizeof(file), "/proc/%u/map_files/%llx-%llx", d->pid,
		 (unsigned long long)m->start, (unsigned long long)m->end);
	fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0) /* that takes CAP_CHECKPOINT_RESTORE */
		fd = open(m->path, O_RDONLY | O_CLOEXEC);
	rc = fd < 0 ? -errno : readers_load_table_now(fd, &t, NULL);
	interpreter_version_text(&t.interpreter, version);
	why = interpreter_refusal_text(&t.interpreter);
	if (rc >= 0 && t.interpreter.number)
		show_runtime(d, interpreter_name(&t.interpreter), version,
			     interpreter_is_verified(&t.interpreter) ? "ok" : "unverified",
			     doctor_finds(d, &t.interpreter), m->path);
	else if (rc >= 0 && why)
		show_runtime(d, interpreter_name(&t.interpreter), version, "missing", why, m->path);
	else
		show_other(d, m->path);
	if (rc >= 0)
		unwind_table_release(&t);
}

int doctor_process(struct cmd *c, uint64_t pid)
{
	struct doctor_process d = {.c = c, .pid = (uint32_t)pid};
	int rc;

	if (!pid || pid > UINT32_MAX)
		return err_set(&c->err, -EINVAL, "-p takes the number of a process");
	rc = readers_start(true, &c->err);
	if (rc < 0)
		return rc;
	emit_begin(&c->emit);
	emit_rows_by(&c->emit, "runtime");
	emit_table(&c->emit, "rows", columns, n_elems(columns));
	rc = procfs_each_map(d.pid, doctor_look, &d);
	emit_table_end(&c->emit);
	if (rc >= 0 && !d.n)
		emit_text(&c->emit,
			  "process %u has loaded no interpreter or virtual machine that "
			  "is known by name\n",
			  d.pid);
	emit_end(&c->emit);
	free(d.seen);
	arena_release(&d.texts);
	readers_end();
	if (rc < 0)
		return err_errno(&c->err, rc, "process %u", d.pid);
	return d.n ? 0 : CMD_NOTHING;
}
