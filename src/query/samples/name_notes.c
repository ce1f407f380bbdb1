/* SPDX-License-Identifier: BSD-2-Clause */
/* See name_notes.h.  Examples:
 *
 *     a stripped library     "libx.so.1: only exported symbols; ... Names: apt install x-dbgsym"
 *     node's generated code  "[anon] of node: ... record `node --perf-basic-prof ...`" */
#include "query/samples/name_notes.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "resolve/debian_package.h"

#define DEBUGINFOD "DEBUGINFOD_URLS=https://debuginfod.debian.net"

/* Runtimes that make code, by the beginning of their programs' names, and what has them name it. */
static const struct runtime {
	const char *program, *flag;
} runtimes[] = {
	{"node", "`node --perf-basic-prof`"},
	{"deno", "`deno run --v8-flags=--perf-basic-prof`"},
	{"chrom", "`--js-flags=--perf-basic-prof --no-sandbox`"},
	{"python", "`python3 -X perf` (3.12 and later)"},
	{"java",
	 "`java -XX:+PreserveFramePointer`, and `jcmd PID Compiler.perfmap` before it ends"},
	{"dotnet", "`DOTNET_PerfMapEnabled=1`"},
	{"ruby", "`ruby --yjit-perf`"},
	{"beam.smp", "`erl +JPperf true`"},
	{"julia", "`ENABLE_JITPROFILING=1`"},
	{"php", "`php -d opcache.jit_debug=16`"},
	{"wasmtime", "`wasmtime --profile=perfmap`"},
	{"qemu", "`qemu -perfmap`"},
};

/* --- generated code --- */

/* The owner that has most samples in IMAGE; NULL: none. */
static const struct owner *owner_of(const struct query *q, image_id image)
{
	const struct profile *p = q->profile;
	uint64_t *sums = xcalloc(p->owners.n + 1, sizeof(*sums)), most = 0;
	const struct owner *found = NULL;

	vec_each (v, &p->values)
		if (v->ctx && p->places.v[p->ctxs.v[v->ctx].place].image == image)
			sums[v->owner] += v->count;
	for (size_t i = 0; i < p->owners.n; i++) {
		if (sums[i] <= most)
			continue;
		most = sums[i];
		found = &p->owners.v[i];
	}
	free(sums);
	return found;
}

static char *generated_note(const struct query *q, image_id image)
{
	const struct profile *p = q->profile;
	const struct owner *o = owner_of(q, image);
	const char *exe = o ? str_basename(profile_str(p, o->exe)) : "";
	const char *program = *exe ? exe : o ? profile_str(p, o->comm) : "";

	for (size_t i = 0; i < n_elems(runtimes); i++)
		if (str_starts(program, runtimes[i].program))
			return xasprintf("%s of %s: code without names; what names it: %s",
					 p->images.v[image].path, program, runtimes[i].flag);
	return xasprintf(
		"%s%s%s: code without a file; a runtime that writes /tmp/perf-PID.map or a "
		"jitdump names it: node --perf-basic-prof, python3 -X perf, "
		"DOTNET_PerfMapEnabled=1, a JIT's --perf-map",
		p->images.v[image].path, *program ? " of " : "", program);
}

/* --- files --- */

/* Appends what would name the procedures of FILES, paths of this machine. */
static void add_remedy(struct str *s, const char *const *files, size_t n)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	char **packages = xcalloc(n + 1, sizeof(*packages));
	unsigned n_found = 0;

	debian_packages_find(DEBIAN_PACKAGE_LISTS, files, n, packages);
	for (size_t i = 0; i < n; i++) {
		bool again = false;

		for (size_t k = 0; packages[i] && k < i; k++)
			again |= packages[k] && strcmp(packages[k], packages[i]) == 0;
		if (packages[i] && !again)
			str_addf(s, "%s%s-dbgsym", n_found++ ? " " : ". Names: apt install ",
				 packages[i]);
	}
	for (size_t i = 0; i < n; i++)
		free(packages[i]);
	free(packages);
	str_add(s, n_found ? ", or " : ". Names: ");
	if (urls && *urls)
		str_add(s, "an unstripped file below --path DIR; the servers of DEBUGINFOD_URLS "
			   "have none");
	else
		str_add(s, n_found ? DEBUGINFOD
				   : DEBUGINFOD ", or an unstripped file below --path DIR");
}

void name_notes_find(struct query *q, const image_ids *images, name_notes *ret)
{
	VEC(const char *) files = {0};
	_str_ struct str partial = {0};

	vec_each (i, images) {
		const struct image *im = &q->profile->images.v[*i];
		const char *note = resolver_note(q->resolver, im);
		const enum resolve_status status = resolver_image(q->resolver, im)->status;

		if (im->kind == IMAGE_ANON) {
			vec_push(ret, generated_note(q, *i));
		} else if (note && status == RESOLVE_BARE && im->kind == IMAGE_FILE) {
			_str_ struct str line = {0};

			str_add(&line, note);
			add_remedy(&line, (const char *const *)&im->path, 1);
			vec_push(ret, xstrdup(line.v));
		} else if (note) {
			vec_push(ret, xstrdup(note));
		} else if (status == RESOLVE_PARTIAL) {
			str_addf(&partial, "%s%s", partial.n ? ", " : "", str_basename(im->path));
			vec_push(&files, im->path);
		}
	}
	if (partial.n) {
		str_add(&partial,
			": only exported symbols; sub_ADDRESS is a procedure without a name");
		add_remedy(&partial, files.v, files.n);
		vec_push(ret, xstrdup(partial.v));
	}
	vec_release(&files);
}

void name_notes_release(name_notes *notes)
{
	vec_each (n, notes)
		free(*n);
	vec_release(notes);
}
