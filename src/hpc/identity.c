/* SPDX-License-Identifier: BSD-2-Clause */
/* See identity.h. */
#include "hpc/identity.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"

static const char *const kind_names[HPC_N_ID_KINDS] = {
	[HPC_ID_SUMMARY] = "SUMMARY",	  [HPC_ID_NODE] = "NODE",
	[HPC_ID_RANK] = "RANK",		  [HPC_ID_THREAD] = "THREAD",
	[HPC_ID_GPUDEVICE] = "GPUDEVICE", [HPC_ID_GPUCONTEXT] = "GPUCONTEXT",
	[HPC_ID_GPUSTREAM] = "GPUSTREAM", [HPC_ID_CORE] = "CORE",
};

void identities_release(struct identities *ids)
{
	vec_release(&ids->v);
	index_release(&ids->by_key);
	vec_each (host, &ids->hosts)
		free(*host);
	vec_release(&ids->hosts);
	vec_release(&ids->nodes);
	free(ids->host_ids);
	free(ids->threads);
	free(ids->ranks);
	*ids = (struct identities){0};
}

uint32_t identities_host(struct identities *ids, const char *name)
{
	for (uint32_t i = 0; i < ids->hosts.n; i++)
		if (strcmp(ids->hosts.v[i], name) == 0)
			return i;
	vec_push(&ids->hosts, xstrdup(name));
	return (uint32_t)ids->hosts.n - 1;
}

void identities_add_node(struct identities *ids, uint64_t physicalId, uint32_t logicalId,
			 uint64_t order)
{
	vec_each (node, &ids->nodes) {
		if (node->physicalId != physicalId)
			continue;
		if (order < node->order) {
			node->order = order;
			node->logicalId = logicalId;
		}
		return;
	}
	vec_push(&ids->nodes, (struct identity_node){physicalId, logicalId, order});
}

static bool same_identity(const struct identity *a, const struct identity *b)
{
	return a->db == b->db && a->profile == b->profile && a->host == b->host &&
	       a->rank == b->rank && a->core == b->core && a->pid == b->pid && a->tid == b->tid &&
	       a->input == b->input && a->owner == b->owner &&
	       memcmp(a->gpu, b->gpu, sizeof(a->gpu)) == 0;
}

static bool is_identity(const void *owner, uint32_t i, const void *key)
{
	return same_identity(&((const struct identities *)owner)->v.v[i], key);
}

uint32_t identities_intern(struct identities *ids, const struct identity *key)
{
	uint64_t hash = hash_pair((uint64_t)key->host << 32 | key->rank,
				  (uint64_t)key->pid << 32 | key->tid);
	uint32_t i;

	hash = hash_pair(hash, (uint64_t)key->input << 32 | key->owner);
	hash = hash_pair(hash, (uint64_t)key->db << 32 | key->profile);
	i = index_find(&ids->by_key, hash, is_identity, ids, key);
	if (i != INDEX_NONE) {
		if (key->start_ns < ids->v.v[i].start_ns)
			ids->v.v[i].start_ns = key->start_ns;
		return i;
	}
	i = (uint32_t)ids->v.n;
	vec_push(&ids->v, *key);
	index_add(&ids->by_key, hash, i);
	return i;
}

/* --- ranks --- */

/* The number right behind AT, which ends there or before a character that is no letter. */
static uint32_t number_at(const char *at)
{
	uint64_t n;
	size_t len = strspn(at, "0123456789");
	_mem_ char *digits = xstrndup(at, len);

	if (!len || isalpha((unsigned char)at[len]) || str_parse_u64(digits, 10, &n) < 0 ||
	    n >= NO_RANK)
		return NO_RANK;
	return (uint32_t)n;
}

/* The number behind WORD in TEXT; WORD stands at the beginning or behind what is no letter. */
static uint32_t number_behind(const char *text, const char *word, const char *between)
{
	for (const char *at = text; (at = strstr(at, word)); at++) {
		const char *behind = at + strlen(word);
		uint32_t n;

		if (at > text && isalpha((unsigned char)at[-1]))
			continue;
		n = number_at(behind + strspn(behind, between));
		if (n != NO_RANK)
			return n;
	}
	return NO_RANK;
}

uint32_t identity_rank(const char *label, const char *cgroup)
{
	uint32_t n = number_behind(label, "rank", "=:- _");

	/* slurmstepd makes job_J/step_S/[user/]task_T (Slurm, cgroup.conf(5)). */
	if (n == NO_RANK && strstr(cgroup, "/step_"))
		n = number_behind(cgroup, "task", "_");
	return n;
}

uint32_t identity_core(const char *label)
{
	return number_behind(label, "core", "=:- _");
}

void identity_gpu(const char *label, uint32_t ret[N_GPU_IDS])
{
	ret[0] = number_behind(label, "gpudevice", "=");
	ret[1] = number_behind(label, "gpucontext", "=");
	ret[2] = number_behind(label, "gpustream", "=");
}

static size_t n_gpu_ids(const struct identity *id)
{
	size_t n = 0;

	for (size_t i = 0; i < N_GPU_IDS; i++)
		n += id->gpu[i] != NO_RANK;
	return n;
}

/* --- order --- */

struct sorted {
	struct identity id;
	uint32_t from;
};

static int identity_compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_identity(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;
	int d = identity_compare((uint64_t)x->id.db << 32 | x->id.profile,
				 (uint64_t)y->id.db << 32 | y->id.profile);

	if (!d)
		d = identity_compare((uint64_t)x->id.rank << 32 | x->id.host,
				     (uint64_t)y->id.rank << 32 | y->id.host);
	if (!d)
		d = identity_compare(x->id.pid, y->id.pid);
	if (!d) /* the main thread first */
		d = identity_compare(x->id.tid != x->id.pid, y->id.tid != y->id.pid);
	if (!d)
		d = identity_compare(x->id.tid, y->id.tid);
	if (!d)
		d = identity_compare(x->id.core, y->id.core);
	return d ? d
		 : identity_compare((uint64_t)x->id.input << 32 | x->id.owner,
				    (uint64_t)y->id.input << 32 | y->id.owner);
}

static bool same_process(const struct identity *a, const struct identity *b)
{
	return a->db == b->db && a->host == b->host && a->rank == b->rank && a->pid == b->pid;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts the hosts' names. */
static void order_hosts(struct identities *ids)
{
	char **before = xmemdup(ids->hosts.v, ids->hosts.n * sizeof(*before));
	uint32_t *number = xcalloc(ids->hosts.n + 1, sizeof(*number));

	vec_sort(&ids->hosts, by_name);
	for (uint32_t i = 0; i < ids->hosts.n; i++)
		number[i] = identities_host(ids, before[i]);
	vec_each (id, &ids->v)
		if (!id->db)
			id->host = number[id->host];
	free(before);
	free(number);
}

/* What gethostid(3) gives there, as far as that can be known here. */
static uint32_t host_id(const char *name)
{
	char own[256] = "";

	/* What hpcrun calls a machine. */
	if (strncmp(name, "hostid ", 7) == 0)
		return (uint32_t)strtoul(name + 7, NULL, 16);
	if (gethostname(own, sizeof(own) - 1) >= 0 && strcmp(own, name) == 0)
		return (uint32_t)gethostid();
	return (uint32_t)hash_str(name);
}

static int by_order(const void *a, const void *b)
{
	const struct identity_node *x = a, *y = b;

	return identity_compare(x->order, y->order);
}

static bool is_taken(const struct identities *ids, size_t n, uint32_t logicalId)
{
	for (size_t i = 0; i < n; i++)
		if (ids->nodes.v[i].logicalId == logicalId)
			return true;
	return false;
}

/* Gives each node a logical number of its own: the one it had, or the next that is free. */
static void order_nodes(struct identities *ids)
{
	uint32_t next = 0;

	ids->host_ids = xcalloc(ids->hosts.n + 1, sizeof(*ids->host_ids));
	for (uint32_t i = 0; i < ids->hosts.n; i++) {
		ids->host_ids[i] = host_id(ids->hosts.v[i]);
		identities_add_node(ids, ids->host_ids[i], i, i);
	}
	vec_sort(&ids->nodes, by_order);
	for (size_t i = 0; i < ids->nodes.n; i++) {
		if (!is_taken(ids, i, ids->nodes.v[i].logicalId))
			continue;
		while (is_taken(ids, ids->nodes.n, next))
			next++;
		ids->nodes.v[i].logicalId = next;
	}
}

uint32_t *identities_finish(struct identities *ids)
{
	size_t n = ids->v.n;
	uint32_t *number = xcalloc(n + 1, sizeof(*number));
	struct sorted *sorted = xcalloc(n + 1, sizeof(*sorted));

	order_hosts(ids);
	order_nodes(ids);
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = (struct sorted){ids->v.v[i], i};
	qsort(sorted, n, sizeof(*sorted), by_identity);
	ids->threads = xcalloc(n + 1, sizeof(*ids->threads));
	for (uint32_t i = 0; i < n; i++) {
		bool same = i && same_process(&sorted[i - 1].id, &sorted[i].id);

		ids->v.v[i] = sorted[i].id;
		number[sorted[i].from] = i;
		ids->threads[i] = same ? ids->threads[i - 1] + 1 : 0;
	}
	identities_rank(ids);
	free(sorted);
	index_release(&ids->by_key);
	return number;
}

/* --- what they are called --- */

const char *identity_kind_name(unsigned kind)
{
	return kind_names[kind];
}

uint8_t identity_kind(const char *name)
{
	uint8_t kind = 0;

	while (kind < HPC_N_ID_KINDS && strcmp(kind_names[kind], name) != 0)
		kind++;
	return kind;
}

uint32_t identities_node(const struct identities *ids, uint64_t physicalId)
{
	vec_each (node, &ids->nodes)
		if (node->physicalId == physicalId)
			return node->logicalId;
	return 0;
}

struct hpc_id identities_rank_id(const struct identities *ids, uint32_t i)
{
	const struct identity_rank *rank = &ids->ranks[i];

	return (struct hpc_id){HPC_ID_RANK, (uint16_t)rank->flags, rank->logicalId,
			       rank->physicalId};
}

/* NODE, RANK, CORE, and what GPU or which THREAD. */
size_t identity_most_ids(const struct identity *id)
{
	const size_t n = n_gpu_ids(id);

	return 2 + (id->core != NO_RANK) + (n ? n : 1);
}

size_t identities_tuple(const struct identities *ids, uint32_t i, struct hpc_id ret[BUILD_MAX_IDS])
{
	const struct identity *id = &ids->v.v[i];
	uint32_t host = ids->host_ids[id->host];
	size_t n = 0;

	ret[n++] =
		(struct hpc_id){HPC_ID_NODE, HPC_ID_IS_PHYSICAL, identities_node(ids, host), host};
	if (ids->ranks[i].logicalId != NO_RANK)
		ret[n++] = identities_rank_id(ids, i);
	if (id->core != NO_RANK)
		ret[n++] = (struct hpc_id){HPC_ID_CORE, 0, id->core, id->core};
	for (uint8_t k = 0; k < N_GPU_IDS; k++)
		if (id->gpu[k] != NO_RANK)
			ret[n++] = (struct hpc_id){(uint8_t)(HPC_ID_GPUDEVICE + k), 0, id->gpu[k],
						   id->gpu[k]};
	if (!n_gpu_ids(id))
		ret[n++] = (struct hpc_id){HPC_ID_THREAD, 0, ids->threads[i], ids->threads[i]};
	return n;
}
