/* SPDX-License-Identifier: BSD-2-Clause */
/* What is read of a file that perf recorded, a line of JSON for each value:
 *   perfvalues [--no-files] [--symfs DIR] [--force] FILE
 * perfdata.py compares it with what perf says. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "model/fact.h"
#include "port/perf_in.h"

static void put_frames(struct json *j, const struct profile *p, ctx_id ctx)
{
	json_begin(j, '[');
	for (; ctx; ctx = p->ctxs.v[ctx].parent) {
		const struct place *k = &p->places.v[p->ctxs.v[ctx].place];
		const struct image *i = &p->images.v[k->image];
		char hex[2 * BUILD_ID_MAX + 1];

		json_begin(j, '[');
		json_str(j, image_kind_name(i->kind));
		json_str(j, i->path);
		json_u64(j, k->svma);
		build_id_format(&i->build_id, hex);
		json_str(j, hex);
		json_end(j, ']');
	}
	json_end(j, ']');
}

/* {"retired": true, ...}: what is known. */
static void put_facts(struct json *j, const struct profile *p, const struct vector *k)
{
	json_begin(j, '{');
	for (unsigned i = 0; i < N_FACT_BITS; i++) {
		if (!(k->known & FACT_MASK(i)))
			continue;
		json_key(j, fact_bit_name(p, i));
		json_bool(j, k->value & FACT_MASK(i));
	}
	json_end(j, '}');
}

static void put_value(struct str *out, const struct profile *p, const struct value *v)
{
	const struct owner *o = &p->owners.v[v->owner];
	struct json j = json_init(out, 0);

	json_begin(&j, '{');
	json_key(&j, "event");
	json_str(&j, profile_str(p, p->events.v[v->event].name));
	json_key(&j, "comm");
	json_str(&j, profile_str(p, o->comm));
	json_key(&j, "exe");
	json_str(&j, profile_str(p, o->exe));
	json_key(&j, "cgroup");
	json_str(&j, profile_str(p, o->cgroup));
	json_key(&j, "pid");
	json_u64(&j, o->pid);
	json_key(&j, "tid");
	json_u64(&j, o->tid);
	json_key(&j, "count");
	json_u64(&j, v->count);
	if (p->vectors.v[v->vector].counter) {
		json_key(&j, "counter");
		json_str(&j, fact_counter_name(p, p->vectors.v[v->vector].counter));
	}
	json_key(&j, "sum");
	json_u64(&j, v->sum);
	json_key(&j, "facts");
	put_facts(&j, p, &p->vectors.v[v->vector]);
	json_key(&j, "frames");
	put_frames(&j, p, v->ctx);
	json_end(&j, '}');
	str_addc(out, '\n');
}

int main(int argc, char **argv)
{
	struct perf_in_opts o = {.split = OWNER_TID};
	struct perf_in_result r;
	struct str out = {0};
	struct err err = {0};
	struct fact_defs defs = {0};
	const char *facts = NULL;
	struct profile p;
	const char *path = NULL;
	int rc;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--no-files") == 0)
			o.no_files = true;
		else if (strcmp(argv[i], "--force") == 0)
			o.force = true;
		else if (strcmp(argv[i], "--facts") == 0 && i + 1 < argc)
			facts = argv[++i];
		else if (strcmp(argv[i], "--symfs") == 0 && i + 1 < argc)
			o.symfs = argv[++i];
		else
			path = argv[i];
	}
	if (!path)
		return 2;
	profile_init(&p);
	if (facts && fact_defs_parse(&defs, "facts", facts, strlen(facts), &err) < 0)
		return 2;
	o.facts = &defs;
	rc = perf_in_load(path, &o, &p, &r, &err);
	if (rc < 0) {
		fprintf(stderr, "%s\n", err.msg);
	} else {
		profile_check(&p);
		vec_each (v, &p.values)
			put_value(&out, &p, v);
		fputs(str_get(&out), stdout);
		fputs(str_get(&r.notes), stderr);
	}
	str_release(&out);
	fact_defs_release(&defs);
	perf_in_result_release(&r);
	profile_release(&p);
	return rc < 0 ? 1 : 0;
}
