/* SPDX-License-Identifier: BSD-2-Clause */
/* See perfdata.h: facts about the recording and its machine.  They come as sections behind the
 * data, or as records in what was written to a pipe; the bytes are the same.
 *
 * Each feature has one function that reads it to its end, keeps what is of use, and says all of it
 * as text when somebody wants to see it.  Layouts: the write_* functions of Linux,
 * tools/perf/util/header.c. */
#include "formats/perfdata_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	struct perfdata *pd;
	struct rd r;
	struct str *text; /* NULL: not wanted */
};

static uint32_t perfdata_feature_u32(struct reader *f)
{
	return rd_32(&f->r, f->pd->big_endian);
}

static uint64_t perfdata_feature_u64(struct reader *f)
{
	return rd_64(&f->r, f->pd->big_endian);
}

/* A text: its length with padding, then so many bytes (do_write_string). */
static const char *perfdata_feature_string(struct reader *f)
{
	uint32_t n = perfdata_feature_u32(f);
	struct perfdata_bytes b = rd_piece(&f->r, n);

	if (!b.p || !n || !memchr(b.p, 0, n)) {
		f->r.bad = f->r.bad || n;
		return "";
	}
	return (const char *)b.p;
}

__attribute__((format(printf, 2, 3))) static void say(struct reader *f, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	if (!f->text || f->r.bad)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	str_add(f->text, line);
}

static void perfdata_feature_keep(char **to, const char *s)
{
	if (!*to)
		*to = xstrdup(s);
}

/* A number of elements that need at least MIN bytes each. */
static uint64_t count_of(struct reader *f, uint64_t n, size_t min)
{
	if (n > rd_left(&f->r) / min) {
		f->r.bad = true;
		return 0;
	}
	return n;
}

static uint32_t perfdata_feature_count(struct reader *f, size_t min)
{
	return (uint32_t)count_of(f, perfdata_feature_u32(f), min);
}

static void strings(struct reader *f, const char *what)
{
	for (uint32_t i = 0, n = perfdata_feature_count(f, 4); i < n; i++)
		say(f, "%s %s\n", what, perfdata_feature_string(f));
}

static void read_host(struct reader *f)
{
	perfdata_feature_keep(&f->pd->host, perfdata_feature_string(f));
	say(f, "%s\n", f->pd->host);
}

static void read_release(struct reader *f)
{
	perfdata_feature_keep(&f->pd->release, perfdata_feature_string(f));
	say(f, "%s\n", f->pd->release);
}

static void read_version(struct reader *f)
{
	perfdata_feature_keep(&f->pd->version, perfdata_feature_string(f));
	say(f, "%s\n", f->pd->version);
}

static void read_arch(struct reader *f)
{
	perfdata_feature_keep(&f->pd->arch, perfdata_feature_string(f));
	say(f, "%s\n", f->pd->arch);
}

static void read_cpu_desc(struct reader *f)
{
	perfdata_feature_keep(&f->pd->cpu_desc, perfdata_feature_string(f));
	say(f, "%s\n", f->pd->cpu_desc);
}

static void read_cpu_id(struct reader *f)
{
	perfdata_feature_keep(&f->pd->cpu_id, perfdata_feature_string(f));
	say(f, "%s\n", f->pd->cpu_id);
}

static void read_n_cpus(struct reader *f)
{
	uint32_t available = perfdata_feature_u32(f);

	f->pd->n_cpus = perfdata_feature_u32(f);
	say(f, "%" PRIu32 " online of %" PRIu32 "\n", f->pd->n_cpus, available);
}

static void read_total_mem(struct reader *f)
{
	f->pd->total_mem_kib = perfdata_feature_u64(f);
	say(f, "%" PRIu64 " kB\n", f->pd->total_mem_kib);
}

static void read_command(struct reader *f)
{
	_str_ struct str s = {0};

	for (uint32_t i = 0, n = perfdata_feature_count(f, 4); i < n; i++) {
		str_add(&s, i ? " " : "");
		str_add(&s, perfdata_feature_string(f));
	}
	perfdata_feature_keep(&f->pd->command, str_get(&s));
	say(f, "%s\n", f->pd->command);
}

/* The events again, with their names; that of number I is the file's Ith. */
static void read_events(struct reader *f)
{
	uint32_t n = perfdata_feature_count(f, 12), attr_bytes = perfdata_feature_u32(f);

	for (uint32_t i = 0; i < n && !f->r.bad; i++) {
		struct perfdata_bytes b = rd_piece(&f->r, attr_bytes);
		uint32_t n_ids = perfdata_feature_count(f, 8), event = i;
		struct perfdata_attr a;
		const char *name;

		if (!b.p)
			return;
		perfdata_read_attr(b.p, b.n, f->pd->big_endian, &a);
		name = perfdata_feature_string(f);
		if (f->r.bad)
			return;
		say(f, "%s: type %" PRIu32 ", config %#" PRIx64 ", ids", name, a.type, a.config);
		for (uint32_t k = 0; k < n_ids; k++) {
			uint64_t id = perfdata_feature_u64(f);
			uint32_t found = perfdata_find_event(f->pd, id);

			say(f, " %" PRIu64, id);
			if (found != PERFDATA_NONE)
				event = found;
			else if (!f->r.bad)
				perfdata_add_id(f->pd, id, event);
		}
		say(f, "\n");
		if (event < f->pd->events.n)
			perfdata_feature_keep(&f->pd->events.v[event].name, name);
		else if (f->pd->names.n == i)
			vec_push(&f->pd->names, xstrdup(name));
	}
}

static void read_cpu_topology(struct reader *f)
{
	strings(f, "cores");
	strings(f, "threads");
	/* Later versions of perf added these, for each of the CPUs there can be. */
	if (!rd_left(&f->r))
		return;
	say(f, "core, package of each CPU and what follows: %zu bytes\n", rd_left(&f->r));
	rd_bytes(&f->r, rd_left(&f->r));
}

#define MOST_CPUS 65536u

/* Notes that the CPUs of LIST, "0-3,8", are NODE's.  A CPU is of one node: *BUDGET is how many more
 * there can be in all lists. */
static void keep_cpus(struct perfdata *pd, uint32_t node, const char *list, uint32_t *budget)
{
	for (const char *s = list; *s;) {
		char *end;
		unsigned long first = strtoul(s, &end, 10), last = first;

		if (end == s || first >= MOST_CPUS)
			return;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (unsigned long cpu = first; cpu <= last && cpu < MOST_CPUS && *budget;
		     cpu++, (*budget)--)
			*vec_at(&pd->cpu_nodes, cpu) = node + 1;
		if (*end != ',')
			return;
		s = end + 1;
	}
}

static void read_numa(struct reader *f)
{
	uint32_t budget = MOST_CPUS;

	for (uint32_t i = 0, n = perfdata_feature_count(f, 24); i < n; i++) {
		uint32_t node = perfdata_feature_u32(f);
		uint64_t total = perfdata_feature_u64(f), left = perfdata_feature_u64(f);
		const char *cpus = perfdata_feature_string(f);

		say(f, "node %" PRIu32 ": %" PRIu64 " kB, %" PRIu64 " kB free, CPUs %s\n", node,
		    total, left, cpus);
		if (!f->r.bad)
			keep_cpus(f->pd, node, cpus, &budget);
	}
}

uint32_t perfdata_cpu_node(const struct perfdata *pd, uint32_t cpu)
{
	return cpu < pd->cpu_nodes.n ? pd->cpu_nodes.v[cpu] : 0;
}

static void read_pmus(struct reader *f)
{
	for (uint32_t i = 0, n = perfdata_feature_count(f, 8); i < n; i++) {
		uint32_t type = perfdata_feature_u32(f);
		const char *name = perfdata_feature_string(f);

		if (f->r.bad)
			return;
		say(f, "%" PRIu32 " = %s\n", type, name);
		vec_push(&f->pd->pmus, (struct perfdata_pmu){.type = type, .name = xstrdup(name)});
	}
}

static void read_groups(struct reader *f)
{
	for (uint32_t i = 0, n = perfdata_feature_count(f, 12); i < n; i++) {
		const char *name = perfdata_feature_string(f);
		uint32_t leader = perfdata_feature_u32(f), members = perfdata_feature_u32(f);

		say(f, "%s: %" PRIu32 " events from number %" PRIu32 " on\n", name, members,
		    leader);
	}
}

/* simpleperf leaves the number out: it is all there is (record_file_writer.cpp,
 * WriteAuxTraceFeature). */
static void read_auxtrace(struct reader *f)
{
	size_t bytes_left = rd_left(&f->r);
	uint64_t n =
		bytes_left % 16 == 0 ? bytes_left / 16 : count_of(f, perfdata_feature_u64(f), 16);

	for (uint64_t i = 0; i < n; i++) {
		uint64_t off = perfdata_feature_u64(f), bytes = perfdata_feature_u64(f);

		say(f, "record at %#" PRIx64 " of %" PRIu64 " bytes\n", off, bytes);
	}
}

static void read_caches(struct reader *f)
{
	uint32_t version = perfdata_feature_u32(f), n = perfdata_feature_count(f, 28);

	if (version != 1)
		f->r.bad = true;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t level = perfdata_feature_u32(f), line = perfdata_feature_u32(f),
			 sets = perfdata_feature_u32(f), ways = perfdata_feature_u32(f);
		const char *type = perfdata_feature_string(f), *size = perfdata_feature_string(f),
			   *map = perfdata_feature_string(f);

		say(f,
		    "L%" PRIu32 " %s %s, lines of %" PRIu32 ", %" PRIu32 " sets, %" PRIu32
		    " ways, CPUs %s\n",
		    level, type, size, line, sets, ways, map);
	}
}

static void read_sample_time(struct reader *f)
{
	f->pd->first_ns = perfdata_feature_u64(f);
	f->pd->last_ns = perfdata_feature_u64(f);
	say(f, "%" PRIu64 " to %" PRIu64 " ns\n", f->pd->first_ns, f->pd->last_ns);
}

static void keep_blocks(struct perfdata *pd, uint32_t node, const struct perfdata_words *w)
{
	struct perfdata_node *n;

	if (!w->n)
		return;
	n = vec_add(&pd->nodes);
	*n = (struct perfdata_node){.node = node, .n_words = w->n};
	n->words = xcalloc(w->n, sizeof(*n->words));
	for (uint32_t i = 0; i < w->n; i++)
		n->words[i] = perfdata_word(w, i);
}

uint32_t perfdata_node_of(const struct perfdata *pd, uint64_t phys)
{
	const uint64_t block = pd->memory_block ? phys / pd->memory_block : 0;

	if (!phys || !pd->memory_block)
		return 0;
	vec_each (n, &pd->nodes)
		if (block / 64 < n->n_words && n->words[block / 64] >> block % 64 & 1)
			return n->node + 1;
	return 0;
}

static void read_memory(struct reader *f)
{
	uint64_t version = perfdata_feature_u64(f), block = perfdata_feature_u64(f),
		 n = count_of(f, perfdata_feature_u64(f), 24);

	if (version != 1)
		f->r.bad = true;
	say(f, "blocks of %" PRIu64 " bytes\n", block);
	f->pd->memory_block = block;
	for (uint64_t i = 0; i < n && !f->r.bad; i++) {
		uint64_t node = perfdata_feature_u64(f), blocks = perfdata_feature_u64(f),
			 bits = perfdata_feature_u64(f);

		const struct perfdata_words words =
			rd_words(&f->r, bits / 64 + !!(bits % 64), f->pd->big_endian);

		say(f, "node %" PRIu64 ": %" PRIu64 " blocks\n", node, blocks);
		if (!f->r.bad && node < UINT32_MAX)
			keep_blocks(f->pd, (uint32_t)node, &words);
	}
}

static void read_clockid(struct reader *f)
{
	uint64_t ns = perfdata_feature_u64(f);

	say(f, "resolution %" PRIu64 " ns\n", ns);
}

static void read_dir_format(struct reader *f)
{
	f->pd->dir_version = perfdata_feature_u64(f);
	say(f, "version %" PRIu64 "\n", f->pd->dir_version);
}

static void read_bpf_programs(struct reader *f)
{
	for (uint32_t i = 0, n = perfdata_feature_count(f, 16); i < n && !f->r.bad; i++) {
		uint32_t info = perfdata_feature_u32(f), data = perfdata_feature_u32(f);
		uint64_t arrays = perfdata_feature_u64(f);

		rd_piece(&f->r, info);
		rd_piece(&f->r, data);
		say(f,
		    "%" PRIu32 " bytes of info, %" PRIu32 " bytes of data, arrays %#" PRIx64 "\n",
		    info, data, arrays);
	}
}

static void read_btf(struct reader *f)
{
	for (uint32_t i = 0, n = perfdata_feature_count(f, 8); i < n && !f->r.bad; i++) {
		uint32_t id = perfdata_feature_u32(f), bytes = perfdata_feature_u32(f);

		rd_piece(&f->r, bytes);
		say(f, "%" PRIu32 ": %" PRIu32 " bytes\n", id, bytes);
	}
}

static void read_compressed(struct reader *f)
{
	uint32_t version = perfdata_feature_u32(f), type = perfdata_feature_u32(f),
		 level = perfdata_feature_u32(f), ratio = perfdata_feature_u32(f),
		 mmap = perfdata_feature_u32(f);

	say(f,
	    "version %" PRIu32 ", type %" PRIu32 ", level %" PRIu32 ", ratio %" PRIu32
	    ", buffers of %" PRIu32 " bytes\n",
	    version, type, level, ratio, mmap);
}

static void caps(struct reader *f)
{
	for (uint32_t i = 0, n = perfdata_feature_count(f, 8); i < n; i++) {
		const char *name = perfdata_feature_string(f);

		say(f, "%s=%s\n", name, perfdata_feature_string(f));
	}
}

static void read_pmu_caps(struct reader *f)
{
	for (uint32_t i = 0, n = perfdata_feature_count(f, 8); i < n && !f->r.bad; i++) {
		caps(f);
		say(f, "of %s\n", perfdata_feature_string(f));
	}
}

static void read_clock_data(struct reader *f)
{
	uint32_t version = perfdata_feature_u32(f), clockid = perfdata_feature_u32(f);
	uint64_t wall = perfdata_feature_u64(f), clock = perfdata_feature_u64(f);

	if (version != 1)
		f->r.bad = true;
	if (f->r.bad)
		return;
	f->pd->has_clock = true;
	f->pd->clockid = clockid;
	f->pd->wall_ns = wall;
	f->pd->clock_ns = clock;
	say(f, "clock %" PRIu32 ": %" PRIu64 " ns is %" PRIu64 " ns since 1970\n", clockid, clock,
	    wall);
}

static void read_hybrid(struct reader *f)
{
	for (uint32_t i = 0, n = perfdata_feature_count(f, 8); i < n; i++) {
		const char *pmu = perfdata_feature_string(f);

		say(f, "%s: CPUs %s\n", pmu, perfdata_feature_string(f));
	}
}

static void read_build_ids(struct reader *f)
{
	while (rd_left(&f->r) && !f->r.bad)
		if (perfdata_read_build_id(f->pd, &f->r, f->r.bad ? NULL : f->text, NULL) < 0)
			f->r.bad = true;
}

/* Files have the names of their events elsewhere: nothing is lost with one that cannot be read. */
static void read_tracing(struct reader *f)
{
	size_t n = rd_left(&f->r);

	say(f, "%zu bytes\n", n);
	perfdata_read_tracing(f->pd, rd_bytes(&f->r, n), n, NULL);
}

static void read_nothing(struct reader *f)
{
	say(f, "yes\n");
}

static const struct {
	const char *name;
	void (*read)(struct reader *f);
} features[PERFDATA_N_FEATURES] = {
	[PERFDATA_F_TRACING_DATA] = {"TRACING_DATA", read_tracing},
	[PERFDATA_F_BUILD_ID] = {"BUILD_ID", read_build_ids},
	[PERFDATA_F_HOSTNAME] = {"HOSTNAME", read_host},
	[PERFDATA_F_OSRELEASE] = {"OSRELEASE", read_release},
	[PERFDATA_F_VERSION] = {"VERSION", read_version},
	[PERFDATA_F_ARCH] = {"ARCH", read_arch},
	[PERFDATA_F_NRCPUS] = {"NRCPUS", read_n_cpus},
	[PERFDATA_F_CPUDESC] = {"CPUDESC", read_cpu_desc},
	[PERFDATA_F_CPUID] = {"CPUID", read_cpu_id},
	[PERFDATA_F_TOTAL_MEM] = {"TOTAL_MEM", read_total_mem},
	[PERFDATA_F_CMDLINE] = {"CMDLINE", read_command},
	[PERFDATA_F_EVENT_DESC] = {"EVENT_DESC", read_events},
	[PERFDATA_F_CPU_TOPOLOGY] = {"CPU_TOPOLOGY", read_cpu_topology},
	[PERFDATA_F_NUMA_TOPOLOGY] = {"NUMA_TOPOLOGY", read_numa},
	[PERFDATA_F_BRANCH_STACK] = {"BRANCH_STACK", read_nothing},
	[PERFDATA_F_PMU_MAPPINGS] = {"PMU_MAPPINGS", read_pmus},
	[PERFDATA_F_GROUP_DESC] = {"GROUP_DESC", read_groups},
	[PERFDATA_F_AUXTRACE] = {"AUXTRACE", read_auxtrace},
	[PERFDATA_F_STAT] = {"STAT", read_nothing},
	[PERFDATA_F_CACHE] = {"CACHE", read_caches},
	[PERFDATA_F_SAMPLE_TIME] = {"SAMPLE_TIME", read_sample_time},
	[PERFDATA_F_MEM_TOPOLOGY] = {"MEM_TOPOLOGY", read_memory},
	[PERFDATA_F_CLOCKID] = {"CLOCKID", read_clockid},
	[PERFDATA_F_DIR_FORMAT] = {"DIR_FORMAT", read_dir_format},
	[PERFDATA_F_BPF_PROG_INFO] = {"BPF_PROG_INFO", read_bpf_programs},
	[PERFDATA_F_BPF_BTF] = {"BPF_BTF", read_btf},
	[PERFDATA_F_COMPRESSED] = {"COMPRESSED", read_compressed},
	[PERFDATA_F_CPU_PMU_CAPS] = {"CPU_PMU_CAPS", caps},
	[PERFDATA_F_CLOCK_DATA] = {"CLOCK_DATA", read_clock_data},
	[PERFDATA_F_HYBRID_TOPOLOGY] = {"HYBRID_TOPOLOGY", read_hybrid},
	[PERFDATA_F_PMU_CAPS] = {"PMU_CAPS", read_pmu_caps},
};

const char *perfdata_feature_name(uint32_t feature)
{
	return feature < PERFDATA_N_FEATURES ? features[feature].name : NULL;
}

/* simpleperf's: keys and values, each a text (cmd_record.cpp, DumpMetaInfoFeature). */
static void read_meta_info(struct reader *f)
{
	while (rd_left(&f->r) && !f->r.bad) {
		const char *pair[2];

		for (unsigned i = 0; i < 2; i++) {
			size_t n = strnlen((const char *)f->r.p, rd_left(&f->r));

			pair[i] = (const char *)rd_bytes(&f->r, n + 1);
			if (!pair[i])
				return;
		}
		say(f, "%s: %s\n", pair[0], pair[1]);
		if (strcmp(pair[0], "timestamp") == 0)
			f->pd->written_s = strtoull(pair[1], NULL, 10);
	}
}

int perfdata_read_feature(struct perfdata *pd, uint32_t feature, const uint8_t *bytes, size_t n,
			  struct str *text, struct err *err)
{
	struct reader f = {.pd = pd, .r = rd_init(bytes, n), .text = text};

	if (feature < PERFDATA_MAX_FEATURES)
		pd->has_feature[feature / 64] |= 1ull << feature % 64;
	if (feature == PERFDATA_F_META_INFO) {
		read_meta_info(&f);
		return f.r.bad ? err_set(err, -EBADMSG, "its section META_INFO is damaged") : 0;
	}
	if (feature >= PERFDATA_N_FEATURES || !features[feature].read)
		return 0;
	features[feature].read(&f);
	return f.r.bad ? err_set(err, -EBADMSG, "its section %s is damaged", features[feature].name)
		       : 0;
}

/* The record's misc says whether its last bytes hold the id's size; without, an id has 20 bytes. */
/* perf before 5.11 told no size, and filled short ids up with zeros.  Linkers make ids of 8 bytes
 * (xxHash, --build-id=fast), 16 (MD5, UUID) and 20 (SHA-1). */
static uint8_t unpadded(const uint8_t id[BUILD_ID_MAX])
{
	static const uint8_t zeros[BUILD_ID_MAX];
	static const uint8_t sizes[] = {8, 16};

	for (size_t i = 0; i < n_elems(sizes) && memcmp(id, zeros, sizes[0]) != 0; i++)
		if (memcmp(id + sizes[i], zeros, BUILD_ID_MAX - sizes[i]) == 0)
			return sizes[i];
	return BUILD_ID_MAX;
}

int perfdata_read_build_id(struct perfdata *pd, struct rd *r, struct str *text, struct err *err)
{
	struct perfdata_build_id b = {0};
	struct perfdata_bytes whole;
	struct rd body;
	const uint8_t *id;
	const char *path;
	uint16_t size;

	rd_32(r, pd->big_endian); /* the type: 0 in sections */
	b.misc = rd_16(r, pd->big_endian);
	size = rd_16(r, pd->big_endian);
	whole = rd_piece(r, size >= 8 ? size - 8u : UINT64_MAX);
	body = rd_init(whole.p, whole.n);
	b.pid = (int32_t)rd_32(&body, pd->big_endian);
	id = rd_bytes(&body, 24);
	path = rd_text(&body);
	if (r->bad || body.bad || !id)
		return err_set(err, -EBADMSG, "a build-id is damaged");
	b.id.n_bytes = b.misc & PERFDATA_MISC_BUILD_ID_SIZE ? id[20] : unpadded(id);
	if (b.id.n_bytes > BUILD_ID_MAX)
		return err_set(err, -EBADMSG, "a build-id is too long");
	memcpy(b.id.bytes, id, b.id.n_bytes);
	b.path = xstrdup(path);
	vec_push(&pd->build_ids, b);
	if (text) {
		char hex[2 * BUILD_ID_MAX + 1];

		build_id_format(&b.id, hex);
		str_addf(text, "%s %s\n", hex, path);
	}
	return 0;
}

size_t perfdata_n_sections(const struct perfdata *pd)
{
	size_t n = 0;

	for (size_t i = 0; i < n_elems(pd->features); i++)
		n += (size_t)__builtin_popcountll(pd->features[i]);
	return n;
}

int perfdata_read_sections(const struct perfdata *pd, const uint8_t *bytes, size_t n,
			   struct perfdata_section ret[PERFDATA_MAX_FEATURES], struct err *err)
{
	struct rd r = rd_init(bytes, n);

	for (size_t i = 0; i < PERFDATA_MAX_FEATURES; i++) {
		ret[i] = (struct perfdata_section){0};
		if (!(pd->features[i / 64] >> i % 64 & 1))
			continue;
		ret[i].off = rd_64(&r, pd->big_endian);
		ret[i].n_bytes = rd_64(&r, pd->big_endian);
	}
	return r.bad ? err_set(err, -ENODATA, "it ends in its table of sections") : 0;
}
