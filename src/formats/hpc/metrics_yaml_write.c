/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing metrics/default.yaml.
 *
 * The form is the one that all known readers take (observed): every input has all four keys and
 * names one summary of meta.db (hpcviewer fails otherwise), formulas are aliases or maps of an
 * operator to at most two arguments, never infix lists (hpcviewer fails), and there is a variant
 * "Sum" whose standard formulas are aliases (hatchet looks for it).  Anchors are built as
 * HPCToolkit builds them: METRIC-COMBINE-FORMULA-SCOPE, characters that an anchor cannot have as
 * x<hex>_, and the variable $$ as [0x0].
 *
 * Only the sum is there unless somebody asks for more: columns are many, and hpcviewer 2025.01
 * shows deviations wrongly, because it applies the formula of a statistic to the statistic once
 * more: what it takes for the sum of the squares is the square of that (observed).
 *
 * hpcviewer does not read a file of more than 1000 aliases of maps (MetricYamlParser.java,
 * MAX_ALIASES, of snakeyaml's setMaxAliasesForCollections), which is what a formula's parts are. So
 * means and deviations are written once, where they are met first, and referred to; and a database
 * of many metrics gets fewer variants. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/vec.h"
#include "formats/hpc/metrics_yaml.h"

enum statistic { SUM, COUNT, SQUARES, MIN, MAX };

/* docs/formats/hpctoolkit.md, "Statistics". */
static const struct {
	const char *formula;
	enum hpc_combine combine;
} statistics[] = {
	[SUM] = {"$$", HPC_SUM}, [COUNT] = {"1", HPC_SUM}, [SQUARES] = {"($$^2)", HPC_SUM},
	[MIN] = {"$$", HPC_MIN}, [MAX] = {"$$", HPC_MAX},
};

/* Formulas of the variants; S, N, Q, L, H stand for the inputs of a scope, M and D for the mean and
 * the deviation. */
static const struct variant {
	const char *name;
	const char *render;
	unsigned needs; /* bit i: statistic i */
	const char *formula;
	char defines;  /* a letter for the formula, 0: none */
	unsigned rank; /* variants of the highest rank are left out first */
} variants[] = {
	{"Sum", "[number, percent]", 1u << SUM, "S", 0, 0},
	{"Mean", "[number, percent]", 1u << SUM | 1u << COUNT, "{'/': [S, N]}", 'M', 2},
	{"StdDev", "[number]", 1u << SUM | 1u << COUNT | 1u << SQUARES,
	 "{sqrt: [{'-': [{'/': [Q, N]}, {'*': [M, M]}]}]}", 'D', 3},
	{"CfVar", "[number]", 1u << SUM | 1u << COUNT | 1u << SQUARES, "{'/': [D, M]}", 0, 4},
	{"Min", "[number]", 1u << MIN, "L", 0, 1},
	{"Max", "[number]", 1u << MAX, "H", 0, 1},
};

enum {
	MAX_ALIASES = 1000,
	ALL_RANKS = 4,
};

static const char letters[] = {
	[SUM] = 'S', [COUNT] = 'N', [SQUARES] = 'Q', [MIN] = 'L', [MAX] = 'H'};

static const char *const combines[] = {[HPC_SUM] = "sum", [HPC_MIN] = "min", [HPC_MAX] = "max"};

/* Scopes that columns are made of. */
static const char *const scopes[] = {"execution", "lex_aware", "function"};
enum { EXECUTION, LEX_AWARE, FUNCTION };

struct yaml_writer {
	struct str *out;
	const struct hpc_metrics *ms;
	const struct hpc_metric *metric;
	uint32_t i_metric;
	const char **names; /* of metrics in anchors */
	struct arena arena;
	unsigned has[n_elems(scopes)]; /* statistics of the metric in each scope */
	unsigned rank;		       /* of the variants that are written, at most */
	unsigned wanted;	       /* bit i: variants[i] */
	size_t n_aliases;	       /* written */
	bool has_mean[n_elems(scopes)], has_deviation[n_elems(scopes)]; /* of the metric: written */
};

unsigned hpc_metrics_yaml_variant(const char *name, size_t n_name)
{
	for (size_t i = 0; i < n_elems(variants); i++)
		if (strlen(variants[i].name) == n_name &&
		    strncasecmp(variants[i].name, name, n_name) == 0)
			return 1u << i;
	return 0;
}

/* Whether S can stand as it is in a block or flow mapping: YAML 1.2, 7.3.3, and no more than that
 * of what other scalars look like. */
static bool is_plain(const char *s)
{
	static const char *const words[] = {"true", "false", "yes",  "no", "on",
					    "off",  "null",  "none", "y",  "n"};

	if (!isalpha((unsigned char)*s))
		return false;
	for (size_t i = 0; i < n_elems(words); i++)
		if (strcasecmp(s, words[i]) == 0)
			return false;
	for (const char *p = s; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("_-./()+ ", *p))
			return false;
	return s[strlen(s) - 1] != ' ';
}

static void scalar(struct str *out, const char *s)
{
	if (is_plain(s)) {
		str_add(out, s);
		return;
	}
	str_addc(out, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			str_addf(out, "\\%c", *s);
		else if ((unsigned char)*s < 0x20 || *s == 0x7f)
			str_addf(out, "\\x%02x", (unsigned char)*s);
		else
			str_addc(out, *s);
	}
	str_addc(out, '"');
}

static void add_escaped(struct str *out, const char *s)
{
	for (; *s; s++) {
		if (s[0] == '$' && s[1] == '$') {
			str_add(out, "x5b_0x0x5d_");
			s++;
		} else if (isalnum((unsigned char)*s) || *s == '-' || *s == '_') {
			str_addc(out, *s);
		} else {
			str_addf(out, "x%x_", (unsigned char)*s);
		}
	}
}

static bool same_name(const void *owner, uint32_t i, const void *key)
{
	const struct yaml_writer *w = owner;

	return strcmp(w->names[i], key) == 0;
}

/* Names as they stand in anchors.  Where that of an earlier metric looks the same, the metric's
 * number tells them apart. */
static void make_names(struct yaml_writer *w)
{
	struct index seen = {0};
	_str_ struct str name = {0};

	w->names = arena_alloc(&w->arena, (w->ms->n_metrics + (size_t)1) * sizeof(*w->names));
	for (uint32_t i = 0; i < w->ms->n_metrics; i++) {
		uint64_t hash;

		str_reset(&name);
		add_escaped(&name, w->ms->metrics[i].name);
		hash = hash_str(str_get(&name));
		if (index_find(&seen, hash, same_name, w, str_get(&name)) != INDEX_NONE) {
			str_addf(&name, "-%" PRIu32, i);
			hash = hash_str(str_get(&name));
		}
		w->names[i] = arena_strdup(&w->arena, str_get(&name));
		index_add(&seen, hash, i);
	}
	index_release(&seen);
}

static void anchor(struct yaml_writer *w, char sign, enum statistic k, unsigned scope)
{
	w->n_aliases += sign == '*';
	str_addf(w->out, "%c%s-%s-", sign, w->names[w->i_metric], combines[statistics[k].combine]);
	add_escaped(w->out, statistics[k].formula);
	str_addf(w->out, "-%s", scopes[scope]);
}

/* Looks at metric I. */
static void metrics_yaml_write_enter(struct yaml_writer *w, uint32_t i)
{
	w->i_metric = i;
	w->metric = &w->ms->metrics[i];
	memset(w->has_mean, 0, sizeof(w->has_mean));
	memset(w->has_deviation, 0, sizeof(w->has_deviation));
	for (unsigned s = 0; s < n_elems(scopes); s++) {
		w->has[s] = 0;
		for (unsigned k = 0; k < n_elems(statistics); k++)
			if (hpc_metric_summary(w->ms, w->metric, scopes[s], statistics[k].formula,
					       statistics[k].combine))
				w->has[s] |= 1u << k;
	}
}

/* Whether the metric can have variant V. */
static bool has_variant(const struct yaml_writer *w, const struct variant *v)
{
	return (w->wanted >> (v - variants) & 1) && v->rank <= w->rank &&
	       (w->has[EXECUTION] & v->needs) == v->needs &&
	       (w->has[FUNCTION] & v->needs) == v->needs;
}

static void write_inputs(struct yaml_writer *w)
{
	unsigned needs = 0;

	if (!has_variant(w, &variants[0]))
		return;
	for (size_t i = 0; i < n_elems(variants); i++)
		if (has_variant(w, &variants[i]))
			needs |= variants[i].needs;
	for (unsigned k = 0; k < n_elems(statistics); k++)
		for (unsigned s = 0; s < n_elems(scopes); s++) {
			if (!(w->has[s] & needs & 1u << k))
				continue;
			str_add(w->out, "  - ");
			anchor(w, '&', k, s);
			str_add(w->out, "\n    metric: ");
			scalar(w->out, w->metric->name);
			str_addf(w->out, "\n    scope: %s\n    formula: %s\n    combine: %s\n",
				 scopes[s], statistics[k].formula, combines[statistics[k].combine]);
		}
}

static void write_part(struct yaml_writer *w, char letter, unsigned scope);

/* Writes FORMULA: its letters stand for inputs of one scope; no operator has such letters. */
static void write_formula(struct yaml_writer *w, const char *formula, unsigned scope)
{
	for (const char *f = formula; *f; f++) {
		const char *letter = memchr(letters, *f, sizeof(letters));

		if (letter)
			anchor(w, '*', (enum statistic)(letter - letters), scope);
		else if (*f == 'M' || *f == 'D')
			write_part(w, *f, scope);
		else
			str_addc(w->out, *f);
	}
}

/* Writes the mean (M) or deviation (D) of the metric: the formula with an anchor the first time,
 * then the alias.  No input's anchor ends like these. */
static void write_part(struct yaml_writer *w, char letter, unsigned scope)
{
	bool *written = letter == 'M' ? &w->has_mean[scope] : &w->has_deviation[scope];
	const struct variant *v = variants;

	while (v->defines != letter)
		v++;
	str_addf(w->out, "%c%s-%s-of-%s", *written ? '*' : '&', w->names[w->i_metric],
		 letter == 'M' ? "mean" : "deviation", scopes[scope]);
	w->n_aliases += *written;
	if (*written)
		return;
	*written = true;
	str_addc(w->out, ' ');
	write_formula(w, v->formula, scope);
}

static void write_form(struct yaml_writer *w, const char *key, const struct variant *v,
		       unsigned scope)
{
	str_addf(w->out, "            %s: ", key);
	if (v->defines)
		write_part(w, v->defines, scope);
	else
		write_formula(w, v->formula, scope);
	str_addc(w->out, '\n');
}

static void write_root(struct yaml_writer *w, const struct hpc_metric_text *t)
{
	if (!has_variant(w, &variants[0]))
		return;
	str_add(w->out, "  - name: ");
	scalar(w->out, w->metric->name);
	str_add(w->out, "\n    description: ");
	scalar(w->out, t && t->description ? t->description : w->metric->name);
	str_addc(w->out, '\n');
	if (t && t->hidden)
		str_add(w->out, "    visible by default: false\n");
	if (t && t->format) {
		str_add(w->out, "    format: ");
		scalar(w->out, t->format);
		str_addc(w->out, '\n');
	}
	str_add(w->out, "    variants:\n");
	for (size_t i = 0; i < n_elems(variants); i++) {
		const struct variant *v = &variants[i];

		if (!has_variant(w, v))
			continue;
		str_addf(w->out, "      %s:\n        render: %s\n        formula:\n", v->name,
			 v->render);
		str_add(w->out, "          inclusive:\n");
		write_form(w, "standard", v, EXECUTION);
		str_add(w->out, "          exclusive:\n");
		if ((w->has[LEX_AWARE] & v->needs) == v->needs)
			write_form(w, "custom", v, LEX_AWARE);
		write_form(w, "standard", v, FUNCTION);
	}
}

/* Writes all metrics.  Returns false when there is none to show. */
static bool write_all(struct yaml_writer *w, const struct hpc_metric_text *texts)
{
	size_t first;

	w->n_aliases = 0;
	str_add(w->out, "version: 0\ninputs:\n");
	first = w->out->n;
	for (uint32_t i = 0; i < w->ms->n_metrics; i++) {
		metrics_yaml_write_enter(w, i);
		write_inputs(w);
	}
	if (w->out->n == first)
		return false;
	str_add(w->out, "roots:\n");
	for (uint32_t i = 0; i < w->ms->n_metrics; i++) {
		metrics_yaml_write_enter(w, i);
		write_root(w, texts ? &texts[i] : NULL);
	}
	return true;
}

void hpc_metrics_yaml_write(struct str *out, const struct hpc_metrics *ms,
			    const struct hpc_metric_text *texts, unsigned asked)
{
	struct yaml_writer w = {.out = out, .ms = ms, .rank = ALL_RANKS, .wanted = asked | 1};
	size_t n = out->n;

	make_names(&w);
	for (;;) {
		if (!write_all(&w, texts)) {
			out->n = n;
			str_add(out, "version: 0\ninputs: []\nroots: []\n");
			break;
		}
		if (w.n_aliases <= MAX_ALIASES || !w.rank)
			break;
		w.rank--;
		out->n = n;
	}
	arena_release(&w.arena);
}
