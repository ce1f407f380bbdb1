/* SPDX-License-Identifier: BSD-2-Clause */
/* See scopes.h. */
#include "query/hpc/scopes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int hpc_scopes_init(struct hpc_scopes *s, const struct hpc_db *db, const char *focus,
		    const char *ignore, struct err *err)
{
	int rc;

	*s = (struct hpc_scopes){.db = db};
	rc = scopes_pattern(&s->focus, "focus", focus, err);
	s->has_focus = focus && rc >= 0;
	if (rc >= 0) {
		rc = scopes_pattern(&s->ignore, "ignore", ignore, err);
		s->has_ignore = ignore && rc >= 0;
	}
	if (rc < 0) {
		hpc_scopes_release(s);
		return rc;
	}
	s->of_function = xcalloc(2 * (size_t)db->meta.n_functions + 1, sizeof(*s->of_function));
	s->images = xcalloc((size_t)db->meta.n_modules + 1, sizeof(*s->images));
	scopes_intern(&s->scopes, &(struct scope){.kind = SCOPE_ROOT,
						  .image = SCOPE_NO_IMAGE,
						  .proc = PROC_NONE,
						  .name = "[all]"});
	return 0;
}

void hpc_scopes_release(struct hpc_scopes *s)
{
	scopes_release(&s->scopes);
	free(s->of_function);
	free(s->images);
	if (s->has_focus)
		regfree(&s->focus);
	if (s->has_ignore)
		regfree(&s->ignore);
	*s = (struct hpc_scopes){0};
}

enum scope_kind hpc_ctx_kind(const struct hpc_ctx *ctx, enum scope_kind level)
{
	/* In the page layout the roots are functions as any. */
	if (ctx->isEntry && ctx->function == HPC_NONE && ctx->prettyName && *ctx->prettyName)
		return SCOPE_ENTRY;
	if (ctx->relation != HPC_LEXICAL && level != SCOPE_ADDRESS)
		return SCOPE_PROCEDURE;
	switch (ctx->lexicalType) {
	case HPC_LOOP:
		return SCOPE_LOOP;
	case HPC_LINE:
		return SCOPE_LINE;
	case HPC_INSTRUCTION:
		return SCOPE_ADDRESS;
	default:
		return SCOPE_PROCEDURE;
	}
}

bool hpc_kind_is_shown(enum scope_kind kind, enum scope_kind level)
{
	return kind == SCOPE_ENTRY || kind == SCOPE_PROCEDURE || kind <= level;
}

/* Whether NAME is a function's that stands for callers nobody knows: below a root of that name are
 * paths that hpcrun could not follow to the program's entry, and "<truncated: CAUSE>" is what dwell
 * hpc writes.  */
static bool is_partial(const char *name)
{
	return strcmp(name, HPC_UNKNOWN_ENTRY) == 0 || strcmp(name, "<partial call paths>") == 0 ||
	       str_starts(name, "<truncated: ");
}

/* The function's scope as it is called, or inlined. */
static int find_function(struct hpc_scopes *s, uint32_t function, bool inlined, scope_id *ret,
			 struct err *err)
{
	struct hpc_function f = {.module = HPC_NONE, .file = HPC_NONE};
	struct hpc_file file = {NULL, 0};
	struct scope sc = {.kind = SCOPE_PROCEDURE,
			   .image = SCOPE_NO_IMAGE,
			   .proc = PROC_NONE,
			   .inlined = inlined};
	scope_id *known = NULL;
	int rc;

	if (function != HPC_NONE) {
		if (function >= s->db->meta.n_functions)
			return err_set(err, -EBADMSG, "%s: there is no function %u",
				       s->db->meta.name, function);
		known = &s->of_function[2 * (size_t)function + inlined];
		if (*known) {
			*ret = *known;
			return 0;
		}
		rc = hpc_meta_function(&s->db->meta, function, &f, err);
		if (rc >= 0 && f.file != HPC_NONE)
			rc = hpc_meta_file(&s->db->meta, f.file, &file, err);
		if (rc < 0)
			return rc;
		/* Not its number: inlined ones can be several that differ in nothing. */
		sc.proc = 0;
		sc.image = f.module == HPC_NONE ? SCOPE_NO_IMAGE : f.module;
		sc.svma = f.offset;
		sc.file = file.path;
		sc.line = f.line;
	}
	sc.name = hpc_db_function_name(known ? &f : NULL, &s->scopes.arena, &sc.nameless);
	sc.truncated = is_partial(sc.name);
	*ret = scopes_intern(&s->scopes, &sc);
	if (known)
		*known = *ret;
	return 0;
}

/* A procedure that has no function: nothing is known but where it was. */
static scope_id find_nameless(struct hpc_scopes *s, const struct hpc_ctx *ctx)
{
	return scopes_intern(
		&s->scopes,
		&(struct scope){.kind = SCOPE_PROCEDURE,
				.image = ctx->module == HPC_NONE ? SCOPE_NO_IMAGE : ctx->module,
				.proc = PROC_NONE,
				.name = ctx->module == HPC_NONE ? "[unknown]" : "[no symbol]",
				.nameless = true,
				.inlined = ctx->relation == HPC_INLINED_CALL});
}

int hpc_scopes_find(struct hpc_scopes *s, const struct hpc_ctx *ctx, enum scope_kind level,
		    uint32_t *function, scope_id *ret, struct err *err)
{
	enum scope_kind kind = hpc_ctx_kind(ctx, level);
	bool is_called = ctx->relation != HPC_LEXICAL || kind == SCOPE_PROCEDURE;
	struct hpc_file file = {NULL, 0};
	struct scope sc;
	scope_id of = 0;
	int rc = 0;

	if (kind == SCOPE_ENTRY) {
		*ret = scopes_intern(&s->scopes,
				     &(struct scope){.kind = SCOPE_ENTRY,
						     .image = SCOPE_NO_IMAGE,
						     .proc = PROC_NONE,
						     .name = ctx->prettyName,
						     .truncated = is_partial(ctx->prettyName)});
		return 0;
	}
	if (is_called)
		*function = ctx->function;
	if (is_called && ctx->function == HPC_NONE)
		of = find_nameless(s, ctx);
	else
		rc = find_function(s, *function,
				   kind == SCOPE_PROCEDURE && ctx->relation == HPC_INLINED_CALL,
				   &of, err);
	if (kind == SCOPE_PROCEDURE) {
		*ret = of;
		return rc;
	}
	if (rc >= 0 && ctx->file != HPC_NONE)
		rc = hpc_meta_file(&s->db->meta, ctx->file, &file, err);
	if (rc < 0)
		return rc;
	sc = s->scopes.scopes.v[of];
	sc.kind = kind;
	sc.nested = !is_called;
	sc.file = file.path;
	sc.line = ctx->line;
	if (kind == SCOPE_ADDRESS) {
		sc.svma = ctx->offset;
		sc.image = ctx->module == HPC_NONE ? sc.image : ctx->module;
	}
	*ret = scopes_intern(&s->scopes, &sc);
	return 0;
}

int hpc_scopes_find_whole(struct hpc_scopes *s, enum scope_kind kind, uint32_t number,
			  scope_id *ret, struct err *err)
{
	struct scope sc = {.kind = kind,
			   .image = SCOPE_NO_IMAGE,
			   .proc = PROC_NONE,
			   .name = "[unknown]",
			   .nameless = number == HPC_NONE};
	struct hpc_file file;
	int rc = 0;

	if (kind == SCOPE_IMAGE && number != HPC_NONE) {
		sc.image = number;
		sc.name = hpc_scopes_image(s, number);
	} else if (number != HPC_NONE) {
		rc = hpc_meta_file(&s->db->meta, number, &file, err);
		if (rc >= 0)
			sc.name = sc.file = file.path;
	}
	if (rc >= 0)
		*ret = scopes_intern(&s->scopes, &sc);
	return rc;
}

uint8_t hpc_scopes_match(struct hpc_scopes *s, scope_id id)
{
	const struct scope *sc = &s->scopes.scopes.v[id];
	const char *image = hpc_scopes_image(s, sc->image);
	uint8_t flags = 0;

	if (s->has_focus && (regexec(&s->focus, sc->name, 0, NULL, 0) == 0 ||
			     regexec(&s->focus, image, 0, NULL, 0) == 0))
		flags |= SCOPES_FOCUS;
	if (s->has_ignore && (regexec(&s->ignore, sc->name, 0, NULL, 0) == 0 ||
			      regexec(&s->ignore, image, 0, NULL, 0) == 0))
		flags |= SCOPES_IGNORE;
	return flags;
}

const char *hpc_scopes_image(struct hpc_scopes *s, image_id image)
{
	struct hpc_module m;

	if (image >= s->db->meta.n_modules)
		return "[unknown]";
	if (!s->images[image])
		s->images[image] = hpc_meta_module(&s->db->meta, image, &m, NULL) >= 0 && *m.path
					   ? m.path
					   : "[unknown]";
	return s->images[image];
}
