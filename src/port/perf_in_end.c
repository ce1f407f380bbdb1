/* SPDX-License-Identifier: BSD-2-Clause */
/* What is left to do with a file of perf's whose records were all taken. */
#include "port/perf_in_impl.h"

#include <inttypes.h>

#include "base/cleanup.h"
#include "base/plural.h"
#include "model/sampled.h"
#include "port/perf_branch.h"
#include "port/perf_kernel.h"
#include "resolve/file_symbols.h"
#include "resolve/keep.h"
#include "resolve/resolver.h"

static string_id intern(struct profile *p, const char *s)
{
	return profile_intern_str(p, s ? s : "");
}

void perf_in_add_meta(struct perf_in *in)
{
	struct profile_meta *m = &in->profile->meta;
	struct profile *p = in->profile;
	_mem_ char *engine = xasprintf("perf%s%s", in->pd.version ? " " : "",
				       in->pd.version ? in->pd.version : "");
	uint64_t start = in->first_ns + (uint64_t)in->clock_offset_ns,
		 end = in->last_ns + (uint64_t)in->clock_offset_ns;

	if (!m->host)
		m->host = intern(p, in->pd.host);
	if (!m->platform)
		m->platform = intern(p, in->pd.arch);
	if (!m->kernel)
		m->kernel = intern(p, in->pd.release);
	if (!m->engine)
		m->engine = intern(p, engine);
	if (!m->cpu)
		m->cpu = intern(p, in->pd.cpu_id);
	if (!m->command)
		m->command = intern(p, in->pd.command);
	if (in->pd.n_cpus > m->n_cpus)
		m->n_cpus = in->pd.n_cpus;
	if (!in->has_date)
		return;
	if (!m->start_wall_ns || start < m->start_wall_ns)
		m->start_wall_ns = start;
	if (end > m->end_wall_ns)
		m->end_wall_ns = end;
}

/* Keeps the code of the procedures with samples in C's file.  N_SAMPLES are those of all files. */
static void keep_code_of(const struct perf_in *in, const struct mapped_code *c,
			 const sampled_places *places, uint64_t n_samples, const char *dir)
{
	const struct image *im = &in->profile->images.v[c->image];
	sampled_places own = {0};
	kept_ranges ranges = {0};
	bool has_kept;

	vec_each (at, places)
		if (at->image == c->image)
			vec_push(&own, *at);
	has_kept = keep_wanted(dir, im, own.v, own.n, &ranges);
	if (ranges.n && !keep_is_little(own.v, own.n, &ranges, has_kept, n_samples))
		keep_now(dir, im, c->fd, &ranges, NULL);
	vec_release(&ranges);
	vec_release(&own);
}

static void keep_codes(const struct perf_in *in, const char *dir)
{
	sampled_places places = {0};
	uint64_t n_samples = 0;

	sampled_places_of(in->profile, &places);
	vec_each (at, &places)
		n_samples += at->n;
	vec_each (c, &in->world.images.codes)
		if (c->sampled && c->kind == CODE_FILE && c->fd >= 0)
			keep_code_of(in, c, &places, n_samples, dir);
	vec_release(&places);
}

/* Keeps the names of variables of images whose data was accessed. */
static void save_data(const struct perf_in *in, struct resolver *r)
{
	const struct profile *p = in->profile;
	_mem_ bool *wanted = p->accesses.n ? xcalloc(p->images.n, sizeof(*wanted)) : NULL;

	vec_each (a, &p->accesses)
		wanted[p->places.v[a->data].image] = true;
	vec_each (c, &in->world.images.codes)
		if (wanted && c->sampled && c->kind == CODE_FILE && c->fd >= 0 && wanted[c->image])
			resolver_save_data(r, &p->images.v[c->image], c->fd, NULL);
}

int perf_in_save_symbols(struct perf_in *in, struct err *err)
{
	struct resolver_opts o = {0};
	struct resolver *resolver;
	int rc;

	if (!in->opts->open_cache)
		return 0;
	rc = in->opts->open_cache(in->opts->ctx, in->ret, &o.cache_dir, err);
	if (rc < 0)
		return rc;
	resolver = resolver_new(&o);
	vec_each (c, &in->world.images.codes)
		if (c->sampled && c->kind == CODE_FILE && c->fd >= 0)
			resolver_save(resolver, &in->profile->images.v[c->image], c->fd, NULL);
	save_data(in, resolver);
	vec_each (i, &in->profile->images)
		if (i->kind == IMAGE_KERNEL)
			resolver_save(resolver, i, -1, NULL);
	perf_jits_save(&in->world.jits, resolver);
	resolver_free(resolver);
	keep_codes(in, o.cache_dir);
	return 0;
}

/* Names AUX data that nobody here decodes (Linux, tools/perf/util/auxtrace.h, auxtrace_type). */
static void note_aux(const struct perf_in *in, struct str *s)
{
	static const char *const names[] = {[1] = "Intel PT",	   [2] = "Intel BTS",
					    [3] = "CoreSight ETM", [5] = "s390's CPU measurement",
					    [6] = "HiSilicon PTT", [7] = "Power's VPA DTL"};
	uint32_t type = in->auxtrace_type;

	if (!in->n_auxtrace_bytes || in->spe.is_spe)
		return;
	str_addf(s, "%" PRIu64 " bytes of AUX data are not decoded: they are of ",
		 in->n_auxtrace_bytes);
	if (type < n_elems(names) && names[type])
		str_addf(s, "%s\n", names[type]);
	else
		str_addf(s, "type %" PRIu32 "\n", type);
}

/* Says once why code of the kernel's has no names. */
static void note_nameless(const struct perf_in *in, struct str *s)
{
	const struct build_id somewhere = perf_kernel_own_id(&in->pd, PERF_KERNEL_SOMEWHERE);
	bool kernel = false, vdso = false, lost = false;

	vec_each (i, &in->profile->images) {
		if (!(i->flags & IMAGE_HASHED))
			continue;
		if (build_id_same(&i->build_id, &somewhere))
			lost = true;
		else
			kernel |= i->kind == IMAGE_KERNEL || i->kind == IMAGE_MODULE;
		vdso |= i->kind == IMAGE_VDSO;
	}
	if (lost)
		str_add(s, "it does not tell where its kernel was: nothing there has a name\n");
	if (kernel || vdso)
		str_addf(s,
			 "nothing in its %s has a name: it is of another machine (%s%s%s), and "
			 "it does not tell the build-id\n",
			 !kernel ? "vdso"
			 : vdso	 ? "kernel and vdso"
				 : "kernel",
			 in->pd.host ? in->pd.host : "it does not say which",
			 in->pd.release ? ", " : "", in->pd.release ? in->pd.release : "");
}

void perf_in_add_notes(struct perf_in *in, const struct perf_stream_stats *st)
{
	struct str *s = &in->ret->notes;

	if (in->n_damaged)
		str_addf(s, "%" PRIu64 " record%s damaged and %s passed over\n", in->n_damaged,
			 plural_are(in->n_damaged), in->n_damaged == 1 ? "was" : "were");
	if (in->n_unknown_event)
		str_addf(s, "%" PRIu64 " sample%s of events that it does not describe\n",
			 in->n_unknown_event, plural_are(in->n_unknown_event));
	if (st->n_unknown)
		str_addf(s, "%" PRIu64 " record%s of types that are not known\n", st->n_unknown,
			 plural_are(st->n_unknown));
	if (st->n_late)
		str_addf(s, "%" PRIu64 " record%s came too late to be put in order of time\n",
			 st->n_late, plural_s(st->n_late));
	if (st->message)
		str_add(s, "what perf said on standard error is at its end\n");
	if (st->no_marks)
		str_add(s, "too much waited for its turn: records may be out of order\n");
	if (in->n_throttled)
		str_addf(s, "the kernel throttled events %" PRIu64 " time%s: samples are missing\n",
			 in->n_throttled, plural_s(in->n_throttled));
	if (in->n_aux_lost)
		str_addf(s, "%" PRIu64 " piece%s of AUX data %s incomplete\n", in->n_aux_lost,
			 plural_s(in->n_aux_lost), in->n_aux_lost == 1 ? "is" : "are");
	if (in->facts.n_damaged)
		str_addf(s, "%" PRIu64 " sample%s less registers than %s should\n",
			 in->facts.n_damaged, in->facts.n_damaged == 1 ? " has" : "s have",
			 in->facts.n_damaged == 1 ? "it" : "they");
	if (in->facts.n_no_ip)
		str_addf(s,
			 "of %" PRIu64
			 " sample%s the hardware could not tell the address: nothing is known of "
			 "the instructions there\n",
			 in->facts.n_no_ip, plural_s(in->facts.n_no_ip));
	/* Only a database needs this: who reads the file itself knows where it comes from. */
	if (in->first_ns && !in->has_date && in->opts->open_cache)
		str_add(s, "when it was recorded is not known: it does not say, and the file is a "
			   "copy\n");
	perf_branches_note(&in->world, s);
	note_nameless(in, s);
	note_aux(in, s);
	if (in->spe.n_garbage)
		str_addf(s,
			 "%" PRIu64 " byte%s of AUX data %s no packets, %" PRIu64
			 " record%s damaged\n",
			 in->spe.n_garbage, plural_s(in->spe.n_garbage),
			 in->spe.n_garbage == 1 ? "is" : "are", in->spe.n_damaged,
			 plural_s(in->spe.n_damaged));
	if (in->spe.n_no_address)
		str_addf(s, "%" PRIu64 " record%s of AUX data %s no address\n",
			 in->spe.n_no_address, plural_s(in->spe.n_no_address),
			 in->spe.n_no_address == 1 ? "has" : "have");
	if (in->spe.n_no_event)
		str_addf(s, "%" PRIu64 " record%s of AUX data %s of no event that it describes\n",
			 in->spe.n_no_event, plural_s(in->spe.n_no_event),
			 in->spe.n_no_event == 1 ? "is" : "are");
}
