/* SPDX-License-Identifier: BSD-2-Clause */
/* The one model in the middle: every input becomes this, every output is written from it.
 *
 * A profile is resident *dictionaries* (strings, events, images, places, owners, vectors, contexts)
 * and *values*: (owner, context, vector, event) -> count and sum.  Dictionaries only grow.  An id
 * is the element's number and stays valid until the profile is released.  Interning an element that
 * is already there returns the id it has.  Id 0 is special in five dictionaries: string 0 is "",
 * owner 0 is nobody known, vector 0 is a plain sample, context 0 is the root, trace 0 stands for
 * the threads there was no room for.
 *
 * The context of a flat sample is the node (parent 0, place).  A call path is a longer chain of
 * nodes, outermost first: callers at their calls, the sampled address last.  A path whose outer
 * part is missing begins with a place (svma 0) of an IMAGE_MARK image that says why.
 *
 * Stored values are whole samples.  A sample stands for `period` of its event, or for its weight
 * where periods vary (value_weight).  Where the event was time-multiplexed it stands for 1/duty
 * times as much; readers do this scaling.
 *
 * Sum of all values of an event + its losses = samples that reached our program, exactly.
 *
 * A profile may have traces beside its values: the same samples (or those there was room for) with
 * their times, one line per thread; see trace.h. */
#ifndef MODEL_PROFILE_H
#define MODEL_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "model/image.h"

typedef uint32_t string_id, event_id, image_id, place_id, owner_id, vector_id, ctx_id, trace_id;

struct event {
	string_id name;	  /* as shown: "cpu-clock", "cycles:u" */
	string_id unit;	  /* of one count: "ns" for clocks, else "" */
	uint64_t period;  /* counts a sample stands for (the mean one when freq_hz is set); > 0 */
	uint64_t freq_hz; /* asked-for samples a second when the kernel adapts the period, else 0 */
	/* Sums over all CPUs and recordings merged here; not part of the identity: */
	uint64_t enabled_ns; /* time the event was wanted */
	uint64_t
		running_ns; /* time it was counting: duty = running / enabled (1 when both are 0) */
	uint64_t total; /* the event's own count, idle excluded where it can be told; 0 unknown */
	uint64_t n_reached;    /* samples that reached our program */
	uint32_t flags;	       /* enum event_flags */
	double weight_squares; /* with EVENT_WEIGHTED: of all samples' weights */
};

enum event_flags {
	EVENT_WEIGHTED = 1u << 0, /* periods vary: values have weights of their own */
};

struct place {
	uint64_t svma;
	image_id image;
	uint32_t flags; /* enum place_flags; bits not understood are kept */
};

enum place_flags {
	PLACE_GUESSED = 1u << 0, /* a caller's place: the frame pointer led to it, without frame
				    information */
};

/* What is known of a container (model/container.h). */
enum container_text {
	CONTAINER_ID,	 /* as in cgroups' paths */
	CONTAINER_NAME,	 /* "web" */
	CONTAINER_IMAGE, /* "docker.io/library/nginx:1.27" */
	CONTAINER_POD,
	CONTAINER_NAMESPACE,
	CONTAINER_VERSION, /* from where the recorder's configuration says */
	CONTAINER_TENANT,
	CONTAINER_N_TEXTS
};

struct container {
	string_id text[CONTAINER_N_TEXTS]; /* 0: not known */
};

/* Whose samples.  By default the group of processes of one executable, comm, cgroup, label and uid;
 * pid and tid are 0 unless the recording was asked to keep them apart. */
struct owner {
	string_id exe; /* path of the executable, "" for kernel threads */
	string_id comm;
	string_id cgroup; /* path below the cgroup mount, "" when not known */
	string_id label;
	string_id thread_name; /* 0: comm, or that of a group of threads */
	string_id host; /* 0: the profile's; in memory only, where a source keeps hosts apart */
	/* What cgroup means, for readers (profile_name_parts), else 0; not of the key: */
	string_id unit;
	struct container container;
	uint32_t uid; /* OWNER_UID_UNKNOWN when not known */
	uint32_t pid, tid;
	uint32_t flags;
};

#define OWNER_UID_UNKNOWN UINT32_MAX

enum owner_flags {
	OWNER_IDLE = 1u << 0,	  /* a CPU's idle task */
	OWNER_KERNEL = 1u << 1,	  /* a kernel thread */
	OWNER_EXCLUDED = 1u << 2, /* while recording: samples of it are the loss "excluded" */
};

/* Facts of a sample beyond its place: bit I of VALUE counts only where bit I of KNOWN is set.
 * COUNTER says which counter the value's sum totals; 0: none. */
struct vector {
	uint64_t known, value;
	uint32_t counter;
};

struct ctx {
	ctx_id parent;
	place_id place;
};

struct value {
	owner_id owner;
	ctx_id ctx;
	vector_id vector;
	event_id event;
	uint64_t count; /* samples; of events that measure something (event_measures), intervals */
	uint64_t sum;	/* the weight (value_weight), or total of the vector's counter; else 0 */
};

/* Samples of one owner and event that came in one minute. */
struct moment {
	uint32_t minute; /* since 1970 */
	owner_id owner;	 /* 0: owner 0, or several */
	event_id event;
	uint64_t count; /* not 0 */
};

/* What a place of an IMAGE_SCRIPT image means; see model/script.h. */
struct script {
	place_id place;
	string_id language; /* "python", "javascript" */
	string_id name;	    /* of the function, qualified: "Shape.area.<locals>.inner" */
	uint32_t line;	    /* from 1, or the function's first (script.h); 0: not known */
};

/* Jumps from one place to another by processes of one owner, out of sampled branch stacks.
 * Everything between two successive branches was executed. */
struct branch {
	owner_id owner;
	event_id event; /* whose samples brought the stacks */
	place_id from, to;
	uint64_t count;
	uint64_t n_predicted, n_mispredicted; /* of COUNT; unknown for the rest */
	uint64_t cycles, n_cycles; /* cycles since the branch before; n_cycles of COUNT know it */
	/* How many of COUNT were the newest of their stack: nobody knows how far code ran on from
	 * TO.  How many were the oldest: nobody knows where the run that ended at FROM began.  Both
	 * 0: the source does not tell. */
	uint64_t n_newest, n_oldest;
	/* For each of COUNT that was not the newest: how many other jumps of its stack, the newest
	 * aside, also went to TO. */
	uint64_t n_again;
};

/* Accesses to memory by instructions at one place, from samples that tell the address of their
 * data.  DATA is that memory.  For memory of a mapped file it is a place in the file's image; else
 * a place in an image that is named after the mapping: "[stack]", "[heap]", "[anon]",
 * "[kernel memory]". */
struct access {
	owner_id owner;
	event_id event;
	place_id place, data;
	vector_id vector;    /* what the hardware told: level, TLB, ...; no counter */
	uint32_t pid;	     /* whose memory it is; 0: memory that several map, or the kernel's */
	uint32_t tid;	     /* who accessed it; 0: not known */
	uint32_t node;	     /* NUMA node of the memory + 1; 0: not known */
	uint32_t cpu_node;   /* of the CPU + 1; 0: not known */
	uint32_t latency_of; /* latency_class of each of these; 0: not known */
	uint32_t source;     /* enum access_source */
	uint64_t count;
	uint64_t latency; /* cycles, added up */
};

/* Sources of data for which the vector has no bit. */
enum access_source {
	ACCESS_AS_TOLD,	 /* by the vector's bits, or not known */
	ACCESS_BUFFER,	 /* a line buffer: another access had asked for the line already */
	ACCESS_UNCACHED, /* a device, or memory that is not cached */
	ACCESS_N_SOURCES
};

/* The class of a latency: one more than the number of its highest bit: 1 is 1 (and 0), 2 is 2 to 3,
 * 3 is 4 to 7. */
static inline uint32_t latency_class(uint64_t cycles)
{
	return cycles ? 64 - (uint32_t)__builtin_clzll(cycles) : 1;
}

/* A bit or counter that a recording named for itself (model/fact.h). */
struct user_fact {
	string_id name, meaning;
	uint8_t number; /* from FACT_USER_BIT or FACT_USER_COUNTER on */
	bool is_counter;
};

/* Samples of an event that reached our program (or should have) and are in no value. */
struct loss {
	string_id name; /* "ring_full", "unmapped", ... */
	event_id event;
	uint64_t n;
};

/* At TIME_NS (since 1970, see struct trace) the thread was at CTX, as a sample of EVENT says. */
struct trace_point {
	uint64_t time_ns;
	ctx_id ctx;
	event_id event;
};

/* The time line of one thread, or of the part of its life in which its owner was this one.
 * Identity: owner, pid, tid, start_ns.  Times are CLOCK_MONOTONIC plus the recording's clock
 * offset, a constant: steps of the wall clock do not show in them. */
struct trace {
	owner_id owner;
	uint32_t pid, tid;
	uint64_t start_ns;		/* of the thread; 0: before the recording began */
	uint64_t end_ns;		/* 0: not known to have ended */
	uint64_t n_dropped;		/* points there was no room for */
	VEC(struct trace_point) points; /* in no particular order before trace_sort */
};

/* False for a value that was reset: it says nothing until it counts again, and is not stored. */
static inline bool value_counts(const struct value *v)
{
	return v->count || v->sum;
}

/* One recording's or machine's facts; the first one merged wins for the strings. */
struct profile_meta {
	string_id host, platform, kernel, engine, command;
	string_id cpu; /* machine/cpu_id.h; stored in the MANIFEST alone */
	uint64_t start_wall_ns,
		end_wall_ns; /* since 1970; 0 unknown; merged: earliest and latest */
	uint32_t n_cpus;
};

/* The callees and values of a context, each as the first of a short list; 0: none, or KIN_MANY. */
#define KIN_MANY UINT32_MAX

struct ctx_kin {
	place_id place; /* its own: a search touches nothing else */
	ctx_id next;	/* the next child of its parent */
	ctx_id child;
	uint32_t value; /* number + 1 */
};

struct profile {
	struct arena arena;
	struct profile_meta meta;
	VEC(const char *) strings;
	VEC(struct event) events;
	VEC(struct image) images;
	VEC(struct place) places;
	VEC(struct script) scripts;	  /* by profile_add_script */
	VEC(struct container) containers; /* by profile_add_container */
	VEC(struct owner) owners;
	VEC(struct vector) vectors;
	VEC(struct user_fact) user_facts;
	VEC(struct ctx) ctxs;
	VEC(struct value) values;
	VEC(struct loss) losses;
	VEC(struct moment) moments;  /* by profile_add_moment: of all samples, or of some */
	uint64_t n_timed;	     /* samples of all moments */
	VEC(struct branch) branches; /* by profile_add_branch; no part of the account */
	VEC(struct access) accesses; /* by profile_add_access; no part of the account */
	VEC(ctx_id) flats; /* by place: its context under the root, 0 none (and where it ends) */
	struct index string_ix, image_ix, place_ix, script_ix, container_ix, owner_ix, vector_ix,
		branch_ix, access_ix, moment_ix;
	/* Contexts and values are found from what they are of, see profile.c. */
	VEC(struct ctx_kin) ctx_kin;   /* by context, as far as it was needed */
	VEC(uint32_t) value_kin;       /* by value: the next of its context + 1; 0: none */
	struct index ctx_ix, value_ix; /* those of contexts with many */
	uint32_t values_epoch;	       /* another one: values' numbers are no longer good */
	VEC(struct trace) traces;
	struct index trace_ix;
	size_t trace_bytes;	 /* what traces occupy */
	size_t trace_bytes_max;	 /* points beyond it are dropped and counted; 0: no bound */
	struct freshness *fresh; /* model/fresh.h; NULL: not watched */
};

/* An empty profile with the four zero elements.  Release with profile_release. */
void profile_init(struct profile *p);
void profile_release(struct profile *p);

string_id profile_intern_str(struct profile *p, const char *s);
string_id profile_intern_strn(struct profile *p, const char *s, size_t n);

/* The memory of P, without time lines (trace_bytes). */
size_t profile_bytes(const struct profile *p);

/* Gives back the memory by which things of P are found when more is added: P is only read from now
 * on.  A third of a profile of call paths. */
void profile_seal(struct profile *p);

/* The text of ID; lives as long as the profile. */
const char *profile_str(const struct profile *p, string_id id);

/* Identity: name, unit, freq_hz, and the period when freq_hz is 0.  The sums of E are added to
 * those already there; with freq_hz the period becomes total / n_reached. */
event_id profile_intern_event(struct profile *p, const struct event *e);

/* Identity: kind and build-id; without a build-id, kind and path.  IMAGE_OFFSETS is part of the
 * identity; other flags are joined.  The first path seen stays.  text_start and text_bytes are
 * taken when not known yet. */
image_id profile_intern_image(struct profile *p, const struct image *i);

place_id profile_intern_place(struct profile *p, image_id image, uint64_t svma, uint32_t flags);

/* For who adds many places or accesses at once, so that what they look at is loaded meanwhile: the
 * hash of a key, under which it is in place_ix or access_ix (index_prefetch), and then, when that
 * was loaded, what is there.  They change nothing. */
uint64_t profile_place_hash(const struct place *key);
void profile_prefetch_place(const struct profile *p, uint64_t hash);
uint64_t profile_access_hash(const struct access *a);
void profile_prefetch_access(const struct profile *p, uint64_t hash);
owner_id profile_intern_owner(struct profile *p, const struct owner *o);

/* Sets unit and container of P's owners from their cgroups and P's containers.  A container without
 * a name is called by its id (cgroup_add_container). */
void profile_name_parts(struct profile *p);

/* Forgets them in O, which is about to become another profile's. */
static inline void owner_forget_parts(struct owner *o)
{
	o->unit = 0;
	o->container = (struct container){{0}};
}
vector_id profile_intern_vector(struct profile *p, const struct vector *v);
ctx_id profile_intern_ctx(struct profile *p, ctx_id parent, place_id place);

/* Returns the number of the bit or counter called NAME, in the registry (model/fact.h) or in P.  A
 * new name is added to P.  -1: all numbers are taken. */
int profile_add_user_fact(struct profile *p, bool is_counter, const char *name,
			  const char *meaning);

/* Prefetches CTX: the caller is about to look for its children. */
static inline void profile_prefetch_ctx(const struct profile *p, ctx_id ctx)
{
	if (ctx < p->ctx_kin.n)
		__builtin_prefetch(&p->ctx_kin.v[ctx]);
}

/* Two contents of one build-id.  An image whose digest is not known does not count as a content,
 * nor does code whose addresses are known as file offsets only (IMAGE_OFFSETS).
 *
 * profile_each_shared calls FN for each build-id that images of P with different digests have (of
 * one kind), with all its images: N pointers, which live as long as P is not changed.
 * profile_shares_build_id tells whether IM's build-id is one of these. */
void profile_each_shared(const struct profile *p,
			 void (*fn)(void *ctx, const struct image *const *images, size_t n),
			 void *ctx);
bool profile_shares_build_id(const struct profile *p, const struct image *im);

/* Joins images that are known by build-id alone (older databases, other tools' data) to the one
 * image that has that build-id.  Where two contents have it, the image stays apart.  For readers,
 * once all of P is loaded: nothing may be interned in P afterwards. */
void profile_join_images(struct profile *p);

/* The image of samples that nobody could attribute, and the place of run-time address AVMA in
 * it. */
image_id profile_unknown_image(struct profile *p);
place_id profile_unknown_place(struct profile *p, uint64_t avma, uint32_t flags);

/* The place of a kernel address in no known image.  It is address 0: users must not learn where the
 * kernel lies (KASLR), and they may read a database. */
place_id profile_unknown_kernel_place(struct profile *p);

/* Replaces kernel addresses in no known image by the unknown one.  Call it before P is stored for
 * others to read: users must not learn where the kernel lies.  Counts stay; ids of P change. */
void profile_forget_kernel_addresses(struct profile *p);

/* The context, under the root, of a mark that says TEXT. */
ctx_id profile_mark_ctx(struct profile *p, const char *text);

/* The context of a flat sample at PLACE. */
ctx_id profile_flat_ctx(struct profile *p, place_id place);

/* The innermost place of a context other than 0. */
const struct place *profile_leaf(const struct profile *p, ctx_id ctx);

/* Adds V's count and sum to the value with its key.  V's ids must be P's.  Returns the value's
 * number in P's values, which stays good until P's values_epoch changes (profile_reset_values). */
uint32_t profile_add_value(struct profile *p, const struct value *v);

void profile_add_loss(struct profile *p, const char *name, event_id event, uint64_t n);

/* Adds M's samples to those of its minute, owner and event. */
void profile_add_moment(struct profile *p, const struct moment *m);

/* Forgets when P's samples came. */
void profile_forget_moments(struct profile *p);

/* Number of samples of EVENT whose minute is known. */
uint64_t profile_n_timed(const struct profile *p, event_id event);

/* Adds B's sums to the branch of its owner, event, from and to. */
uint32_t profile_add_branch(struct profile *p, const struct branch *b);

/* Adds A's sums to the accesses that are equal in all else. */
void profile_add_access(struct profile *p, const struct access *a);
void profile_add_access_hashed(struct profile *p, const struct access *a, uint64_t hash);

/* Sets all values to zero and forgets losses, traces and the events' sums: a recorder does so after
 * a flush.  Dictionaries stay, because they will be needed again, and so do the keys of values,
 * unless most were not used since the last time: then all of these go, and values_epoch changes. */
void profile_reset_values(struct profile *p);

/* Somewhere values go, one at a time; their ids are those of the profile the sink belongs to. */
struct value_sink {
	void (*put)(struct value_sink *s, const struct value *v);
	/* Called before the values of each part of a database, whose samples came from START_NS to
	 * END_NS (since 1970; 0: not known).  NULL: nobody asks. */
	void (*part)(struct value_sink *s, uint64_t start_ns, uint64_t end_ns);
	bool traces;   /* traces are wanted in that profile; else they are not even read */
	bool branches; /* branches are wanted in that profile; else they are not even read */
	bool accesses; /* accesses to memory are wanted in that profile; else they are not read */
	bool moments;  /* minutes of samples are wanted in that profile; else they are not read */
};

/* Ids of one profile (or segment) in another; arrays as long as the source's dictionaries. */
struct profile_map {
	string_id *strings;
	event_id *events;
	image_id *images;
	place_id *places;
	owner_id *owners;
	vector_id *vectors;
	ctx_id *ctxs;
};

/* Adds SRC's moments to DST, whose ids M tells. */
void profile_merge_moments(struct profile *dst, const struct profile *src,
			   const struct profile_map *m);

/* Adds SRC's branches to DST, whose ids M tells. */
void profile_merge_branches(struct profile *dst, const struct profile *src,
			    const struct profile_map *m);

/* Adds SRC's accesses to DST, whose ids M tells. */
void profile_merge_accesses(struct profile *dst, const struct profile *src,
			    const struct profile_map *m);

/* Interns all of SRC's dictionaries in DST, with the events' sums, the losses and the meta.
 * Returns where each element went; release the map with profile_map_release. */
struct profile_map profile_merge_dicts(struct profile *dst, const struct profile *src);
void profile_map_release(struct profile_map *m);

/* Adds all of SRC to DST: values with equal keys are summed, traces of one thread joined. */
void profile_merge(struct profile *dst, const struct profile *src);

/* Whether V counts samples.  If not, it totals a counter over samples that another value counts. */
static inline bool value_is_samples(const struct profile *p, const struct value *v)
{
	return !p->vectors.v[v->vector].counter;
}

/* Samples in the values of EVENT, and in its losses. */
uint64_t profile_n_samples(const struct profile *p, event_id event);
uint64_t profile_n_lost(const struct profile *p, event_id event);

/* The unit in which E's values measure something in their sums: "ns" of the events of off-CPU
 * recordings, whose counts are intervals.  Such an event has that unit and period 1.  "" where E
 * counts samples. */
const char *event_measures(const struct profile *p, const struct event *e);

/* What tables show of V, before duty: what it measures, or its samples. */
uint64_t value_amount(const struct profile *p, const struct value *v);

/* Whether values of E have weights: their sums are nanoseconds, or the sums of their samples'
 * periods.  Each sample of another event stands for the period. */
bool event_has_weights(const struct profile *p, const struct event *e);

/* The weight of V: how much of its event V's samples stand for, before duty.  V must not be a
 * counter's (value_is_samples).  A value from before its event had weights stands for periods. */
uint64_t value_weight(const struct profile *p, const struct value *v);

/* running / enabled, 1 when neither is known. */
double event_duty(const struct event *e);

/* Number of samples that E's own count promises and that never reached our program.  N_IDLE is how
 * many of those that did were an idle task's: the count leaves idle time out.  0 when the count is
 * not known. */
uint64_t event_not_delivered(const struct event *e, uint64_t n_idle);

/* All of P as text, in an order and with names that do not depend on ids: equal texts mean equal
 * profiles.  For tests and `check`; free it. */
char *profile_dump(const struct profile *p);

/* Asserts every internal rule (ids in range, parents before children, indexes complete). */
void profile_check(const struct profile *p);

#endif
