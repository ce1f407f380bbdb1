/* SPDX-License-Identifier: BSD-2-Clause */
/* See record_account.h. */
#include "cmd/record_account.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/plural.h"
#include "view/emit.h"
#include "cmd/cmd.h"
#include "cmd/record_calls.h"
#include "model/trace.h"

static char *thousands(uint64_t n, char buf[32])
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n), k = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf[k++] = ',';
		buf[k++] = digits[i];
	}
	buf[k] = '\0';
	return buf;
}

void record_account_progress(struct recorder *r, uint64_t start_ns)
{
	struct collector_stats s = collector_stats(recorder_collector(r));
	char a[32], b[32], l[32];

	fprintf(stderr, "\r%6.1f s  %s samples  %s keys  %s lost ",
		(double)(clock_mono_ns() - start_ns) / 1e9, thousands(s.n_samples, a),
		thousands(s.n_keys, b), thousands(s.n_lost, l));
}

static double record_account_pct(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* What was asked for beside what was done: "1,003,009 ns (997 Hz) is the mean: ..." */
static void show_drawn(struct str *out, const struct profile *t, const struct recorder_event *e)
{
	const uint64_t period = e->event.period;
	const char *unit = profile_str(t, e->event.unit);
	char a[32];

	if (!e->drawn_part)
		return;
	str_addf(out, "    %s%s%s", thousands(period, a), *unit ? " " : "", unit);
	if (strcmp(unit, "ns") == 0)
		str_addf(out, " (%.*f Hz)", period > 100000000 ? 2 : 0, 1e9 / (double)period);
	str_addf(out, " is the mean: each period is drawn within 1/%u of it\n", e->drawn_part);
}

static void show_event(struct str *out, const struct profile *t, const struct recorder_event *e,
		       event_id id)
{
	char a[32], b[32], l[32], d[32];
	uint64_t busy = e->event.n_reached - e->n_idle;

	str_addf(out, "  %s: ", e->name);
	if (*e->measures) {
		str_addf(out, "%.6f s in %s intervals", (double)e->amount / 1e9,
			 thousands(e->n_stored, a));
		str_addf(out, e->n_lost ? ", %s lost\n" : "\n", thousands(e->n_lost, l));
		return;
	}
	if (e->event.freq_hz)
		str_addf(out, "%" PRIu64 " Hz", e->event.freq_hz);
	else
		str_addf(out, "every %s%s%s", thousands(e->event.period, a),
			 *profile_str(t, e->event.unit) ? " " : "", profile_str(t, e->event.unit));
	if (event_duty(&e->event) < 0.9995)
		str_addf(out, ", counting %.1f %% of the time", 100 * event_duty(&e->event));
	str_addf(out, "; %s sample%s reached = %s stored + %s lost\n",
		 thousands(e->event.n_reached, a), plural_s(e->event.n_reached),
		 thousands(e->n_stored, b), thousands(e->n_lost, l));
	show_drawn(out, t, e);
	vec_each (loss, &t->losses)
		if (loss->event == id)
			str_addf(out, "    lost: %s %s\n", profile_str(t, loss->name),
				 thousands(loss->n, a));
	str_addf(
		out,
		"    idle %s, not_delivered %s (%.2f %% of busy), unknown addresses %s (%.2f %%)\n",
		thousands(e->n_idle, a), thousands(e->n_not_delivered, b),
		record_account_pct(e->n_not_delivered, busy + e->n_not_delivered),
		thousands(e->n_unknown, d), record_account_pct(e->n_unknown, busy));
}

static void account_add(struct str *out, struct recorder *r, const char *db)
{
	const struct recorder_summary *s = recorder_summary(r);
	const struct profile_meta *m = &s->profile->meta;
	uint64_t n = 0;
	char a[32], b[32];

	vec_each (e, &s->events)
		n += *e->measures ? 0 : e->n_stored;
	str_addf(out,
		 "recorded %.1f s, engine %s: %s sample%s, %s bytes (%.2f a sample), epoch %s of "
		 "%s\n",
		 (double)(m->end_wall_ns - m->start_wall_ns) / 1e9,
		 profile_str(s->profile, m->engine), thousands(n, a), n == 1 ? "" : "s",
		 thousands(s->n_bytes, b), n ? (double)s->n_bytes / (double)n : 0, s->epoch, db);
	for (event_id i = 0; i < s->events.n; i++)
		show_event(out, s->profile, &s->events.v[i], i);
	record_calls_add(out, r);
	if (s->profile->trace_bytes_max) {
		str_addf(out, "  time lines: %s point%s of %s thread%s",
			 thousands(trace_n_points(s->profile), a),
			 plural_s(trace_n_points(s->profile)),
			 thousands(s->profile->traces.n - 1, b),
			 plural_s(s->profile->traces.n - 1));
		n = trace_n_dropped(s->profile);
		str_addf(out, n ? ", %s dropped (trace_full)\n" : "\n", thousands(n, a));
	}
	if (s->n_late_layouts)
		str_addf(out, "  headers of %zu file%s were not read in time: no names there\n",
			 s->n_late_layouts, plural_s(s->n_late_layouts));
	if (s->n_late_symbols)
		str_addf(out, "  the symbols of %zu file%s were not read in time\n",
			 s->n_late_symbols, plural_s(s->n_late_symbols));
	n = collector_stats(recorder_collector(r)).n_lost_records;
	if (n)
		str_addf(out,
			 "  the kernel's rings were full %s times: some mappings and processes may "
			 "be unknown\n",
			 thousands(n, a));
}

void record_account_show(struct recorder *r, const char *db)
{
	_str_ struct str text = {0};

	account_add(&text, r, db);
	cmd_say(str_get(&text));
}

void record_account_emit(struct str *out, const struct recorder *r, const char *db)
{
	const struct recorder_summary *s = recorder_summary(r);
	struct json j = json_init(out, 3);

	json_begin(&j, '{');
	json_key(&j, "schema");
	json_u64(&j, EMIT_SCHEMA);
	json_key(&j, "db");
	json_str(&j, db);
	json_key(&j, "epoch");
	json_str(&j, s->epoch);
	json_key(&j, "engine");
	json_str(&j, profile_str(s->profile, s->profile->meta.engine));
	json_key(&j, "bytes");
	json_u64(&j, s->n_bytes);
	json_key(&j, "rings_full");
	json_u64(&j, collector_stats(recorder_collector(r)).n_lost_records);
	json_key(&j, "events");
	json_begin(&j, '[');
	for (event_id i = 0; i < s->events.n; i++) {
		const struct recorder_event *e = &s->events.v[i];
		const struct {
			const char *key;
			uint64_t n;
		} counts[] = {{"period", e->event.period},
			      {"freq_hz", e->event.freq_hz},
			      {"reached", e->event.n_reached},
			      {"samples", e->n_stored},
			      {"time_ns", *e->measures ? e->amount : 0},
			      {"lost", e->n_lost},
			      {"idle", e->n_idle},
			      {"unknown", e->n_unknown},
			      {"not_delivered", e->n_not_delivered}};

		json_begin(&j, '{');
		json_key(&j, "name");
		json_str(&j, e->name);
		for (size_t k = 0; k < n_elems(counts); k++) {
			json_key(&j, counts[k].key);
			json_u64(&j, counts[k].n);
		}
		json_key(&j, "drawn_within");
		json_double(&j, e->drawn_part ? 1.0 / e->drawn_part : 0);
		json_key(&j, "duty");
		json_double(&j, event_duty(&e->event));
		json_key(&j, "losses");
		json_begin(&j, '{');
		vec_each (l, &s->profile->losses) {
			if (l->event != i)
				continue;
			json_key(&j, profile_str(s->profile, l->name));
			json_u64(&j, l->n);
		}
		json_end(&j, '}');
		if (s->has_calls)
			record_calls_emit_event(&j, e);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	if (s->profile->trace_bytes_max) {
		json_key(&j, "traces");
		json_begin(&j, '{');
		json_key(&j, "threads");
		json_u64(&j, s->profile->traces.n - 1);
		json_key(&j, "points");
		json_u64(&j, trace_n_points(s->profile));
		json_key(&j, "trace_full");
		json_u64(&j, trace_n_dropped(s->profile));
		json_end(&j, '}');
	}
	if (s->has_calls)
		record_calls_emit(&j, r);
	json_end(&j, '}');
	str_addc(out, '\n');
}

bool record_account_lost(const struct recorder *r)
{
	bool lost = false;

	vec_each (e, &recorder_summary(r)->events)
		lost = lost || e->n_lost;
	return lost;
}
