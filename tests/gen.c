/* SPDX-License-Identifier: BSD-2-Clause */
#include "gen.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "model/container.h"
#include "model/trace.h"

uint64_t t_rand(struct t_rng *r)
{
	if (!r->s)
		r->s = 0x9e3779b97f4a7c15ULL;
	r->s ^= r->s >> 12;
	r->s ^= r->s << 25;
	r->s ^= r->s >> 27;
	return r->s * 0x2545f4914f6cdd1dULL;
}

uint64_t t_below(struct t_rng *r, uint64_t n)
{
	return (t_rand(r) >> 11) % n;
}

static const char *const words[] = {"cc1",
				    "python3",
				    "kworker/0:1",
				    "a b",
				    "",
				    "\xc3\xa9t\xc3\xa9",
				    "/usr/lib/x86_64-linux-gnu/libc.so.6",
				    "web",
				    "x"};

static string_id word(struct t_rng *r, struct profile *p)
{
	return profile_intern_str(p, words[t_below(r, n_elems(words))]);
}

/* Mostly small, sometimes huge. */
static uint64_t number(struct t_rng *r)
{
	return t_rand(r) >> t_below(r, 64);
}

/* That of a container every fourth time; what is known of the container is added, or nothing is. */
static string_id random_cgroup(struct t_rng *r, struct profile *p)
{
	static const char id[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde";
	const uint64_t n = t_below(r, 16);
	struct container c = {{0}};
	_mem_ char *cgroup = xasprintf("/docker/%s%x", id, (unsigned)n & 15);

	if (t_below(r, 4))
		return word(r, p);
	c.text[CONTAINER_ID] = profile_intern_str(p, cgroup + strlen("/docker/"));
	for (size_t i = CONTAINER_ID + 1; i < CONTAINER_N_TEXTS && n & 1; i++)
		c.text[i] = word(r, p);
	profile_add_container(p, &c);
	return profile_intern_str(p, cgroup);
}

static image_id random_image(struct t_rng *r, struct profile *p)
{
	struct image i = {.kind = (enum image_kind)t_below(r, N_IMAGE_KINDS),
			  .path = words[t_below(r, n_elems(words))],
			  .text_start = 4096,
			  .text_bytes = 4096};

	if (t_below(r, 2)) {
		i.build_id.n_bytes = (uint8_t)(1 + t_below(r, BUILD_ID_MAX));
		i.build_id.bytes[0] = (uint8_t)t_below(r, 4);
		i.path = "/bin/x"; /* with a build-id the path is no part of the identity */
		i.digest[3] = (uint8_t)t_below(r, 2);
	}
	return profile_intern_image(p, &i);
}

static void add_random_trace(struct t_rng *r, struct profile *p)
{
	struct trace key = {.owner = (owner_id)t_below(r, p->owners.n),
			    .pid = (uint32_t)number(r) / 2,
			    .start_ns = t_below(r, 2) ? number(r) / 2 : 0,
			    .n_dropped = t_below(r, 3)};
	trace_id t;

	key.tid = t_below(r, 2) ? key.pid : (uint32_t)number(r);
	key.end_ns = t_below(r, 2) ? key.start_ns + number(r) / 4 : 0;
	t = profile_intern_trace(p, &key);
	for (uint64_t n = t_below(r, 12); n > 0; n--)
		trace_add_point(p, t,
				&(struct trace_point){.time_ns = key.start_ns + t_below(r, 1000000),
						      .ctx = (ctx_id)t_below(r, p->ctxs.n),
						      .event = (event_id)t_below(r, p->events.n)});
}

void gen_profile(struct t_rng *r, struct profile *p, unsigned n_values)
{
	profile_init(p);
	p->meta = (struct profile_meta){.host = word(r, p),
					.platform = word(r, p),
					.start_wall_ns = 1 + number(r) / 2,
					.n_cpus = (uint32_t)t_below(r, 300)};
	for (uint64_t i = 0, n = 1 + t_below(r, 3); i < n; i++)
		profile_intern_event(p, &(struct event){.name = word(r, p),
							.unit = word(r, p),
							.period = 1 + t_below(r, 3),
							.freq_hz = t_below(r, 2),
							.enabled_ns = t_below(r, 1000),
							.running_ns = t_below(r, 1000),
							.total = t_below(r, 1000),
							.n_reached = t_below(r, 1000)});
	for (unsigned i = 0; i < n_values; i++) {
		ctx_id c = t_below(r, 8) ? 0 : (ctx_id)t_below(r, p->ctxs.n);

		for (uint64_t d = 0, depth = 1 + t_below(r, t_below(r, 4) ? 1 : 20); d < depth; d++)
			c = profile_intern_ctx(
				p, c,
				profile_intern_place(p, random_image(r, p),
						     t_below(r, 2) ? t_below(r, 50) * 4 : number(r),
						     (uint32_t)t_below(r, 2)));
		profile_add_value(
			p, &(struct value){
				   .owner = profile_intern_owner(
					   p,
					   &(struct owner){
						   .exe = word(r, p),
						   .comm = word(r, p),
						   .cgroup = random_cgroup(r, p),
						   .label = word(r, p),
						   .thread_name = t_below(r, 4) ? 0 : word(r, p),
						   .uid = t_below(r, 3) ? 1000 : OWNER_UID_UNKNOWN,
						   .pid = (uint32_t)t_below(r, 3),
						   .flags = (uint32_t)t_below(r, 2)}),
				   .ctx = c,
				   .vector = t_below(r, 3)
						     ? 0
						     : profile_intern_vector(
							       p,
							       &(struct vector){
								       .known = number(r),
								       .value = number(r),
								       .counter = (uint32_t)t_below(
									       r, 3)}),
				   .event = (event_id)t_below(r, p->events.n),
				   .count = 1 + number(r) / 4096,
				   .sum = t_below(r, 2) ? number(r) / 4096 : 0});
	}
	for (uint64_t n = p->places.n && t_below(r, 2) ? t_below(r, 20) : 0; n > 0; n--) {
		struct branch b = {.owner = (owner_id)t_below(r, p->owners.n),
				   .event = (event_id)t_below(r, p->events.n),
				   .from = (place_id)t_below(r, p->places.n),
				   .to = (place_id)t_below(r, p->places.n),
				   .count = 1 + number(r) / 4096};

		b.n_predicted = b.count / 2;
		b.n_mispredicted = b.count / 3;
		b.cycles = t_below(r, 2) ? number(r) / 4096 : 0;
		b.n_cycles = b.cycles ? b.count : 0;
		b.n_newest = t_below(r, 2) ? b.count / 4 : 0;
		b.n_oldest = t_below(r, 2) ? b.count / 5 : 0;
		b.n_again = t_below(r, 2) ? b.count * 3 : 0;
		profile_add_branch(p, &b);
	}
	for (uint64_t n = t_below(r, 2) ? t_below(r, 20) : 0; n > 0; n--)
		profile_add_moment(p, &(struct moment){.minute = 28000000 + (uint32_t)t_below(r, 5),
						       .owner = (owner_id)t_below(r, p->owners.n),
						       .event = (event_id)t_below(r, p->events.n),
						       .count = 1 + number(r) / 4096});
	if (t_below(r, 2))
		profile_add_loss(p, "ring_full", (event_id)t_below(r, p->events.n),
				 1 + number(r) / 4096);
	for (uint64_t n = t_below(r, 2) ? t_below(r, 6) : 0; n > 0; n--)
		add_random_trace(r, p);
	if (t_below(r, 4) == 0)
		profile_intern_trace(p, &(struct trace){.n_dropped = 1 + t_below(r, 100)});
	profile_check(p);
}

void gen_accesses(struct t_rng *r, struct profile *p, unsigned n)
{
	while (p->places.n && n--) {
		struct access a = {.owner = (owner_id)t_below(r, p->owners.n),
				   .event = (event_id)t_below(r, p->events.n),
				   .place = (place_id)t_below(r, p->places.n),
				   .data = (place_id)t_below(r, p->places.n),
				   .pid = t_below(r, 2) ? (uint32_t)t_below(r, 3) : 0,
				   .tid = (uint32_t)t_below(r, 3),
				   .node = (uint32_t)t_below(r, 2),
				   .cpu_node = (uint32_t)t_below(r, 2),
				   .source = (uint32_t)t_below(r, ACCESS_N_SOURCES),
				   .count = 1 + number(r) / 4096};
		const vector_id v = (vector_id)t_below(r, p->vectors.n);

		a.vector = p->vectors.v[v].counter ? 0 : v;
		a.latency = t_below(r, 2) ? number(r) / 4096 : 0;
		a.latency_of = a.latency ? latency_class(a.latency) : 0;
		profile_add_access(p, &a);
	}
	profile_check(p);
}
