/* SPDX-License-Identifier: BSD-2-Clause */
/* See status_text.h.  The figures that are one number each stand in one table, so that all three
 * forms have the same ones. */
#include "daemon/status_text.h"

#include <inttypes.h>

#include "base/cleanup.h"
#include "daemon/shares.h"
#include "view/emit.h"
#include "base/json.h"

enum figure_kind {
	IS_NOW,
	IS_COUNT, /* only grows */
	IS_FLAG,  /* 0 or 1 */
};

struct figure {
	const char *key;  /* in JSON; with "dwell_" before it, in metrics */
	const char *text; /* for people */
	enum figure_kind kind;
	double value;
};

#define N_FIGURES 25

static void list_figures(const struct service_status *s, struct figure ret[N_FIGURES])
{
	const struct figure all[N_FIGURES] = {
		{"uptime_seconds", "running for", IS_NOW, s->uptime_s},
		{"last_flush_seconds", "since the last flush", IS_NOW, s->since_flush_s},
		{"samples", "samples stored", IS_COUNT, (double)s->n_samples},
		{"unknown_samples", "of them at unknown addresses", IS_COUNT, (double)s->n_unknown},
		{"lost_records", "lost records of mappings, births, deaths", IS_COUNT,
		 (double)s->n_lost_records},
		{"left_out_mappings", "mappings left out", IS_COUNT, (double)s->n_left_out},
		{"keys", "keys in memory", IS_NOW, (double)s->n_keys},
		{"contexts", "call paths in memory", IS_NOW, (double)s->n_contexts},
		{"pruned_samples", "samples of this epoch with pruned callers", IS_NOW,
		 (double)s->n_pruned},
		{"flushes", "flushes", IS_COUNT, (double)s->n_flushes},
		{"epochs", "epochs", IS_COUNT, (double)s->n_epochs},
		{"taken_over_samples", "samples taken over from a dead daemon", IS_COUNT,
		 (double)s->n_taken_over},
		{"unrecorded_seconds", "not recorded after a death", IS_COUNT, s->unrecorded_s},
		{"unattended_seconds", "sampled while no daemon ran", IS_COUNT, s->unattended_s},
		{"shared_build_ids", "build-ids that different files have", IS_COUNT,
		 (double)s->n_shared},
		{"cpu_seconds", "own CPU time", IS_COUNT, s->cpu_s},
		{"resident_bytes", "own memory", IS_NOW, (double)s->rss_bytes},
		{"epoch_bytes", "this epoch on disk", IS_NOW, (double)s->disk_bytes},
		{"recordings_bytes", "all recordings on disk", IS_NOW, (double)s->all_bytes},
		{"removed_recordings", "old recordings removed", IS_COUNT, (double)s->n_removed},
		{"removed_bytes", "what they took on disk", IS_COUNT, (double)s->n_bytes_removed},
		{"log_fill_percent", "log in the kernel filled", IS_NOW, (double)s->log_fill_pct},
		{"pinned", "sampling survives the daemon", IS_FLAG, s->pinned},
		{"call_paths", "with call paths", IS_FLAG, s->calls},
		{"dcpi_tree_failed", "DCPI tree could not be written", IS_FLAG,
		 *s->dcpi_problem != '\0'},
	};

	for (int i = 0; i < N_FIGURES; i++)
		ret[i] = all[i];
}

static void put_value(const struct figure *f, struct str *out)
{
	if (f->kind == IS_FLAG)
		str_add(out, f->value ? "yes" : "no");
	else if (str_ends(f->key, "_seconds"))
		str_addf(out, "%.2f s", f->value);
	else if (str_ends(f->key, "_bytes"))
		str_addf(out, "%.1f MB", f->value / 1e6);
	else if (str_ends(f->key, "_percent"))
		str_addf(out, "%.0f %%", f->value);
	else
		str_addf(out, "%.0f", f->value);
}

void status_put_text(const struct service_status *s, struct str *out)
{
	struct figure figures[N_FIGURES];

	list_figures(s, figures);
	str_addf(out, "dwelld %s, process %u: %s, epoch %s, engine %s\n", s->version, s->pid, s->db,
		 s->epoch, s->engine);
	if (*s->problem)
		str_addf(out, "cannot store: %s\n", s->problem);
	if (*s->dcpi_problem)
		str_addf(out, "cannot write a DCPI tree: %s\n", s->dcpi_problem);
	for (int i = 0; i < N_FIGURES; i++) {
		str_addf(out, "  %-42s ", figures[i].text);
		put_value(&figures[i], out);
		str_addc(out, '\n');
	}
	vec_each (e, &s->events) {
		str_addf(out, "  %s: ", e->name);
		if (e->freq_hz)
			str_addf(out, "%" PRIu64 " Hz", e->freq_hz);
		else
			str_addf(out, "every %" PRIu64, e->period);
		str_addf(out, ", duty %.1f %%; %" PRIu64 " samples reached, %" PRIu64 " stored\n",
			 100 * e->duty, e->n_reached, e->n_stored);
		vec_each (l, &s->losses)
			if (strcmp(l->event, e->name) == 0)
				str_addf(out, "    lost: %s %" PRIu64 "\n", l->name, l->n);
	}
}

void status_put_json(const struct service_status *s, struct str *out)
{
	struct figure figures[N_FIGURES];
	const struct {
		const char *key, *value;
	} texts[] = {{"version", s->version}, {"db", s->db},
		     {"epoch", s->epoch},     {"engine", s->engine},
		     {"problem", s->problem}, {"dcpi_problem", s->dcpi_problem}};
	struct json j = json_init(out, 2);

	list_figures(s, figures);
	json_begin(&j, '{');
	json_key(&j, "schema");
	json_u64(&j, EMIT_SCHEMA);
	for (size_t i = 0; i < n_elems(texts); i++) {
		json_key(&j, texts[i].key);
		json_str(&j, texts[i].value);
	}
	json_key(&j, "pid");
	json_u64(&j, s->pid);
	for (int i = 0; i < N_FIGURES; i++) {
		json_key(&j, figures[i].key);
		json_double(&j, figures[i].value);
	}
	json_key(&j, "events");
	json_begin(&j, '[');
	vec_each (e, &s->events) {
		json_begin(&j, '{');
		json_key(&j, "name");
		json_str(&j, e->name);
		json_key(&j, "period");
		json_u64(&j, e->period);
		json_key(&j, "freq_hz");
		json_u64(&j, e->freq_hz);
		json_key(&j, "duty");
		json_double(&j, e->duty);
		json_key(&j, "reached");
		json_u64(&j, e->n_reached);
		json_key(&j, "stored");
		json_u64(&j, e->n_stored);
		json_key(&j, "losses");
		json_begin(&j, '{');
		vec_each (l, &s->losses) {
			if (strcmp(l->event, e->name) != 0)
				continue;
			json_key(&j, l->name);
			json_u64(&j, l->n);
		}
		json_end(&j, '}');
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_end(&j, '}');
	str_addc(out, '\n');
}

/* A label's value: backslash, quote and newline are escaped. */
static void put_label(struct str *out, const char *key, const char *value, const char *before)
{
	str_addf(out, "%s%s=\"", before, key);
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			str_addc(out, '\\');
		if (*value == '\n')
			str_add(out, "\\n");
		else
			str_addc(out, *value);
	}
	str_addc(out, '"');
}

static void put_family(struct str *out, const char *key, bool is_counter, const char *help)
{
	str_addf(out, "# TYPE dwell_%s %s\n# HELP dwell_%s %s\n", key,
		 is_counter ? "counter" : "gauge", key, help);
}

/* An event has a series for each rate it was sampled at: one with the same labels twice is no
 * OpenMetrics. */
static void put_event_labels(struct str *out, const struct service_event *e)
{
	put_label(out, "event", e->name, "{");
	str_addf(out, ",%s=\"%" PRIu64 "\"} ", e->freq_hz ? "freq_hz" : "period",
		 e->freq_hz ? e->freq_hz : e->period);
}

static void put_event_metrics(const struct service_status *s, struct str *out)
{
	put_family(out, "event_reached_samples", true, "samples of an event that came");
	vec_each (e, &s->events) {
		str_add(out, "dwell_event_reached_samples_total");
		put_event_labels(out, e);
		str_addf(out, "%" PRIu64 "\n", e->n_reached);
	}
	put_family(out, "event_duty_ratio", false, "share of the time the event counted");
	vec_each (e, &s->events) {
		str_add(out, "dwell_event_duty_ratio");
		put_event_labels(out, e);
		str_addf(out, "%.6f\n", e->duty);
	}
	put_family(out, "lost_samples", true, "samples that came and are in no value");
	vec_each (l, &s->losses) {
		str_add(out, "dwell_lost_samples_total");
		put_label(out, "event", l->event, "{");
		put_label(out, "reason", l->name, ",");
		str_addf(out, "} %" PRIu64 "\n", l->n);
	}
}

/* A series for each name of K: dwell_unit_samples_total{unit="nginx.service"} 900. */
static void put_share_metrics(const struct shares *shares, enum share_key k, struct str *out)
{
	const char *key = share_key_name(k);
	_mem_ char *samples = xasprintf("%s_samples", key), *cpu = xasprintf("%s_cpu_seconds", key);

	put_family(out, samples, true, "samples, without idle CPUs");
	vec_each (s, &shares->series[k]) {
		str_addf(out, "dwell_%s_total", samples);
		put_label(out, key, s->name, "{");
		str_addf(out, "} %" PRIu64 "\n", s->n_samples);
	}
	put_family(out, cpu, true, "CPU time that samples of a clock stand for");
	vec_each (s, &shares->series[k]) {
		str_addf(out, "dwell_%s_total", cpu);
		put_label(out, key, s->name, "{");
		str_addf(out, "} %.3f\n", s->cpu_s);
	}
}

void status_put_metrics(const struct service_status *s, struct str *out)
{
	struct figure figures[N_FIGURES];

	list_figures(s, figures);
	for (int i = 0; i < N_FIGURES; i++) {
		put_family(out, figures[i].key, figures[i].kind == IS_COUNT, figures[i].text);
		str_addf(out, "dwell_%s%s ", figures[i].key,
			 figures[i].kind == IS_COUNT ? "_total" : "");
		if (str_ends(figures[i].key, "_seconds"))
			str_addf(out, "%.3f\n", figures[i].value);
		else
			str_addf(out, "%.0f\n", figures[i].value);
	}
	put_event_metrics(s, out);
	for (enum share_key k = 0; s->shares && k < N_SHARE_KEYS; k++)
		put_share_metrics(s->shares, k, out);
	str_add(out, "# EOF\n");
}
