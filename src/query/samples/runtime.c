/* SPDX-License-Identifier: BSD-2-Clause */
/* See runtime.h.
 *
 * An interpreter's image is known by what is recorded: the caller of the first of some functions of
 * a script is the loop that executes them.  For example, of a sort with a key function in Python:
 *
 *     _start, ..., loop, <module>, list_sort, loop, key, loop      as recorded
 *     <module>, key                                               folded: all time is key's
 *
 * V8's code is the frame of the function itself, in place of which the function is recorded;
 * nothing comes between.  Only where a sample is innermost in code that V8 made, that code stands
 * below its function:
 *
 *     w_main, w_spin, [anon] node   as recorded
 *     w_main, w_spin                folded
 *
 * HotSpot's own frames are taken out where they lead to Java methods; below the innermost one,
 * where they collect garbage, compile or throw, they stay.
 *
 * Where a runtime collects garbage or compiles, one frame says so in place of its own:
 *
 *     start_thread, thread_native_entry, ..., GangWorker::run, ..., memcpy   as recorded
 *     start_thread, thread_native_entry, ..., [garbage collection], memcpy   folded
 *
 * Paths without functions of a script and without such a phase stay as they are. */
#include "query/samples/runtime.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "model/script.h"
#include "model/trace.h"
#include "query/samples/phases.h"

struct folder {
	struct profile *p;
	bool *is_runtime; /* by image */
	bool *is_jvm;	  /* by image: HotSpot */
	bool *has_script; /* by context: it or one of its callers is a script's */
	bool *leads;	  /* by context: one of its callees is */
	bool *calls;	  /* by context: it has callees */
	ctx_id *to;	  /* by context */
	struct phases phases;
	phase_id *phase;       /* by context: that it is a part of */
	image_id *phase_image; /* by context: the runtime's, whose frames are the phase's */
	struct resolver *resolver;
};

static const struct image *runtime_image(const struct profile *p, ctx_id ctx)
{
	return &p->images.v[p->places.v[p->ctxs.v[ctx].place].image];
}

/* Whether context CTX is a function in LANGUAGE. */
static bool is_in(const struct profile *p, ctx_id ctx, const char *language)
{
	const struct script *s = profile_find_script(p, p->ctxs.v[ctx].place);

	return s && strcmp(profile_str(p, s->language), language) == 0;
}

/* Whether context CTX is a function whose own code a compiler made. */
static bool is_compiled(const struct profile *p, ctx_id ctx)
{
	return is_in(p, ctx, "javascript") || is_in(p, ctx, "java") || is_in(p, ctx, "php") ||
	       is_in(p, ctx, "ruby");
}

/* Whether context CTX is the code of the function that calls it. */
static bool is_own_code(const struct folder *f, ctx_id ctx)
{
	const enum image_kind kind = runtime_image(f->p, ctx)->kind;
	const ctx_id parent = f->p->ctxs.v[ctx].parent;

	return (kind == IMAGE_ANON || kind == IMAGE_JIT) && !f->calls[ctx] && parent &&
	       is_compiled(f->p, parent);
}

static void find_runtimes(struct folder *f)
{
	const struct profile *p = f->p;

	for (ctx_id i = 1; i < p->ctxs.n; i++) {
		ctx_id parent = p->ctxs.v[i].parent;

		f->has_script[i] = f->has_script[parent];
		f->calls[parent] = true;
		if (runtime_image(p, i)->kind != IMAGE_SCRIPT)
			continue;
		f->has_script[i] = true;
		if (!parent || runtime_image(p, parent)->kind != IMAGE_FILE ||
		    is_in(p, i, "javascript"))
			continue;
		if (is_in(p, i, "java"))
			f->is_jvm[p->places.v[p->ctxs.v[parent].place].image] = true;
		else
			f->is_runtime[p->places.v[p->ctxs.v[parent].place].image] = true;
	}
	for (ctx_id i = (ctx_id)p->ctxs.n; i-- > 1;)
		if (f->leads[i] || runtime_image(p, i)->kind == IMAGE_SCRIPT)
			f->leads[p->ctxs.v[i].parent] = true;
}

/* Whether context CTX is a piece of code that HotSpot made for itself: "[StubRoutines (1)]". */
static bool is_java_stub(const struct profile *p, ctx_id ctx)
{
	const struct script *s = profile_find_script(p, p->ctxs.v[ctx].place);
	const struct image *im = runtime_image(p, ctx);

	return im->kind == IMAGE_SCRIPT && *im->path == '[' && is_in(p, ctx, "java") &&
	       strcmp(profile_str(p, s->name), SCRIPT_JAVA_UNREADABLE) != 0;
}

/* Whether context CTX is HotSpot's own way from one Java method to another. */
static bool is_between(const struct folder *f, ctx_id ctx)
{
	return f->leads[ctx] && (f->is_jvm[f->p->places.v[f->p->ctxs.v[ctx].place].image] ||
				 is_java_stub(f->p, ctx));
}

/* In which phase each context is: one begins where none is yet, and goes on below it. */
static void find_phases(struct folder *f)
{
	const struct profile *p = f->p;

	for (ctx_id i = 1; i < p->ctxs.n; i++) {
		const ctx_id parent = p->ctxs.v[i].parent;

		f->phase[i] = f->phase[parent] ? f->phase[parent]
					       : f->phases.of_place[p->ctxs.v[i].place];
	}
}

static bool folder_changes(const struct folder *f, ctx_id ctx)
{
	return f->has_script[ctx] || f->phase[ctx];
}

/* Folds context CTX, which is in a phase: its first frame says so, those of the same image are part
 * of that one, and others stay below it. */
static void fold_phase(struct folder *f, ctx_id ctx)
{
	struct profile *p = f->p;
	const struct ctx c = p->ctxs.v[ctx];
	const ctx_id to = folder_changes(f, c.parent) ? f->to[c.parent] : c.parent;
	const image_id image = p->places.v[c.place].image;
	const bool first = !f->phase[c.parent];

	f->phase_image[ctx] = first ? image : f->phase_image[c.parent];
	if (first) {
		const place_id place = phases_place(p, f->resolver, f->phase[ctx]);

		/* The kernel's side says it of Ruby. */
		f->to[ctx] =
			to && p->ctxs.v[to].place == place ? to : profile_intern_ctx(p, to, place);
	} else if (image == f->phase_image[ctx])
		f->to[ctx] = to;
	else
		f->to[ctx] = profile_intern_ctx(p, to, c.place);
}

static void fold_contexts(struct folder *f, ctx_id n)
{
	struct profile *p = f->p;

	for (ctx_id i = 1; i < n; i++) {
		const struct ctx c = p->ctxs.v[i];

		if (f->phase[i]) {
			fold_phase(f, i);
			continue;
		}
		if (!f->has_script[i] && !f->leads[i])
			continue;
		f->to[i] = f->is_runtime[p->places.v[c.place].image] || is_own_code(f, i) ||
					   is_between(f, i)
				   ? f->to[c.parent]
				   : profile_intern_ctx(p, f->to[c.parent], c.place);
	}
}

static void fold_values(struct folder *f)
{
	struct profile *p = f->p;
	const size_t n = p->values.n;

	for (size_t i = 0; i < n; i++) {
		struct value v = p->values.v[i];

		if (!value_counts(&v) || !folder_changes(f, v.ctx) || f->to[v.ctx] == v.ctx)
			continue;
		p->values.v[i].count = p->values.v[i].sum = 0;
		v.ctx = f->to[v.ctx];
		profile_add_value(p, &v);
	}
	vec_each (t, &p->traces)
		vec_each (point, &t->points)
			if (folder_changes(f, point->ctx))
				point->ctx = f->to[point->ctx];
}

void runtime_name_scripts(const struct profile *p, struct resolver *r)
{
	vec_each (s, &p->scripts) {
		const struct place *pl = &p->places.v[s->place];

		resolver_add_script(r, &p->images.v[pl->image], pl->svma, profile_str(p, s->name),
				    s->line);
	}
}

void runtime_fold(struct profile *p, struct resolver *r)
{
	const size_t n = p->ctxs.n;
	struct folder f = {.p = p, .resolver = r};

	phases_init(&f.phases, p, r);
	if (!p->scripts.n && !f.phases.any) {
		phases_release(&f.phases);
		return;
	}
	f.is_runtime = xcalloc(p->images.n + 1, sizeof(*f.is_runtime));
	f.is_jvm = xcalloc(p->images.n + 1, sizeof(*f.is_jvm));
	f.has_script = xcalloc(n, sizeof(*f.has_script));
	f.leads = xcalloc(n, sizeof(*f.leads));
	f.calls = xcalloc(n, sizeof(*f.calls));
	f.to = xcalloc(n, sizeof(*f.to));
	f.phase = xcalloc(n, sizeof(*f.phase));
	f.phase_image = xcalloc(n, sizeof(*f.phase_image));
	find_runtimes(&f);
	find_phases(&f);
	fold_contexts(&f, (ctx_id)n);
	fold_values(&f);
	free(f.is_runtime);
	free(f.is_jvm);
	free(f.has_script);
	free(f.leads);
	free(f.calls);
	free(f.to);
	free(f.phase);
	free(f.phase_image);
	phases_release(&f.phases);
}
