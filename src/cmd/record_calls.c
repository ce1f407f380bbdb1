/* SPDX-License-Identifier: BSD-2-Clause */
/* See record_calls.h.  Shares are of the samples that have a place in the account: complete and
 * truncated ones together are all. */
#include "cmd/record_calls.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/plural.h"
#include "daemon/table_cache.h"

#define LEAST_BYTES (1ull << 20)
#define MOST_BYTES  (4ull << 30)

int record_calls_parse_bytes(const char *option, const char *text, uint64_t *ret, struct err *err)
{
	static const char units[] = "KMG";
	const char *unit;
	char *end;
	uint64_t n;

	errno = 0;
	n = strtoull(text, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (errno || end == text || text[0] == '-' || (*end && (!unit || end[1])) || n > MOST_BYTES)
		return err_set(err, -EINVAL, "%s: '%s' is not a size such as 64M", option, text);
	if (unit)
		n <<= 10 * (unit - units + 1);
	if (n < LEAST_BYTES || n > MOST_BYTES)
		return err_set(err, -EINVAL, "%s: %s is not from 1M to 4G", option, text);
	*ret = n;
	return 0;
}

static uint64_t n_samples(const struct chain_counts *n)
{
	uint64_t sum = 0;

	for (int i = 0; i < CHAIN_N_CAUSES; i++)
		sum += n->by_cause[i];
	return sum;
}

static double record_calls_pct(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* How much is too much without frame information, percent, not to mention what would help. */
#define TOO_MANY_PCT 5

static void show_event(struct str *out, const struct recorder_event *e, bool has_tables)
{
	uint64_t all = n_samples(&e->calls);

	if (!all && *e->measures) /* only what is blocked has call paths */
		return;
	str_addf(out, "  call paths of %s: complete %.2f %%, with guessed frames %.2f %%\n",
		 e->name, record_calls_pct(e->calls.by_cause[CHAIN_COMPLETE], all),
		 record_calls_pct(e->calls.n_guessed, all));
	for (int i = CHAIN_COMPLETE + 1; i < CHAIN_N_CAUSES; i++)
		if (e->calls.by_cause[i])
			str_addf(out, "    truncated: %s %" PRIu64 " (%.2f %%)\n",
				 chain_cause_name((enum chain_cause)i), e->calls.by_cause[i],
				 record_calls_pct(e->calls.by_cause[i], all));
	if (!has_tables && record_calls_pct(e->calls.by_cause[CHAIN_NO_RULE], all) > TOO_MANY_PCT)
		str_add(out,
			"    programs without frame pointers: --call-graph dwarf follows their "
			"calls\n");
}

void record_calls_add(struct str *out, const struct recorder *r)
{
	const struct recorder_summary *s = recorder_summary(r);
	struct collector_stats n = collector_stats(recorder_collector(r));
	const struct unwinds_stats *t = &n.tables;

	if (!s->has_calls)
		return;
	vec_each (e, &s->events)
		show_event(out, e, t->limit_bytes > 0);
	str_addf(out,
		 "    %" PRIu64 " context%s of %" PRIu64
		 " chain%s (%.1f callers each); unwind tables: %" PRIu64
		 " built in %.1f ms, %" PRIu64 " without, %.1f of %.0f MiB, %" PRIu64 " evicted\n",
		 n.n_contexts, plural_s(n.n_contexts), n.n_chains, plural_s(n.n_chains),
		 n.n_chains ? (double)n.n_chain_frames / (double)n.n_chains : 0, t->n_built,
		 (double)t->build_ns / 1e6, t->n_failed, (double)t->most_bytes / (1 << 20),
		 (double)t->limit_bytes / (1 << 20), t->n_evicted);
	if (n.copies.n_walked || n.copies.n_refused)
		str_addf(out,
			 "    %" PRIu64
			 " stacks copied and walked when their table was there, %" PRIu64
			 " not for want of room\n",
			 n.copies.n_walked - n.copies.n_given_up, n.copies.n_refused);
	if (t->n_no_room)
		str_addf(out,
			 "    %" PRIu64
			 " times a table found no room: --unwind-memory gives more\n",
			 t->n_no_room);
	if (t->n_rules_lost || t->n_not_numbered || t->n_unknown)
		str_addf(out,
			 "    requests for tables: %" PRIu64 " of files not found, %" PRIu64
			 " beyond the number of files there can be; %" PRIu64
			 " rows beyond that of rules\n",
			 t->n_unknown, t->n_not_numbered, t->n_rules_lost);
}

void record_calls_emit_event(struct json *j, const struct recorder_event *e)
{
	json_key(j, "call_paths");
	json_begin(j, '{');
	json_key(j, "complete");
	json_u64(j, e->calls.by_cause[CHAIN_COMPLETE]);
	json_key(j, "guessed");
	json_u64(j, e->calls.n_guessed);
	json_key(j, "truncated");
	json_begin(j, '{');
	for (int i = CHAIN_COMPLETE + 1; i < CHAIN_N_CAUSES; i++) {
		if (!e->calls.by_cause[i])
			continue;
		json_key(j, chain_cause_name((enum chain_cause)i));
		json_u64(j, e->calls.by_cause[i]);
	}
	json_end(j, '}');
	json_end(j, '}');
}

void record_calls_emit(struct json *j, const struct recorder *r)
{
	struct collector_stats n = collector_stats(recorder_collector(r));
	const struct unwinds_stats *t = &n.tables;
	const struct {
		const char *key;
		uint64_t n;
	} counts[] = {{"contexts", n.n_contexts},
		      {"chains", n.n_chains},
		      {"chain_frames", n.n_chain_frames},
		      {"chains_lost", n.n_chains_lost},
		      {"frames_walked", n.walks.n_walked},
		      {"frames_kept", n.walks.n_kept},
		      {"walks_checked", n.walks.n_checked},
		      {"walks_differing", n.walks.n_differing},
		      {"copies_walked", n.copies.n_walked},
		      {"copies_refused", n.copies.n_refused},
		      {"copies_given_up", n.copies.n_given_up},
		      {"tables_kept", table_cache_hits()},
		      {"tables_built", t->n_built},
		      {"tables_failed", t->n_failed},
		      {"tables_evicted", t->n_evicted},
		      {"tables_no_room", t->n_no_room},
		      {"table_build_ns", t->build_ns},
		      {"table_bytes", t->n_bytes},
		      {"table_bytes_most", t->most_bytes},
		      {"table_bytes_limit", t->limit_bytes},
		      {"table_rules", t->n_rules},
		      {"table_rows_lost", t->n_rules_lost},
		      {"images", t->n_images},
		      {"images_unknown", t->n_unknown},
		      {"images_refused", t->n_not_numbered}};

	json_key(j, "call_paths");
	json_begin(j, '{');
	for (size_t i = 0; i < n_elems(counts); i++) {
		json_key(j, counts[i].key);
		json_u64(j, counts[i].n);
	}
	json_end(j, '}');
}
