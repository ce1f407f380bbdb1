/* SPDX-License-Identifier: BSD-2-Clause */
#include "formats/hpc/metrics_yaml.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/vec.h"
#include "formats/hpc/texts.h"
#include "t.h"

/* Metrics as dwell and HPCToolkit write them: four scopes, five statistics. */
static void make_metrics(struct hpc_metrics *ms, struct arena *a, const char *const *names,
			 uint32_t n)
{
	static struct hpc_scope scopes[] = {{"point", HPC_SCOPE_POINT, UINT8_MAX},
					    {"function", HPC_SCOPE_TRANSITIVE, 0},
					    {"lex_aware", HPC_SCOPE_CUSTOM, UINT8_MAX},
					    {"execution", HPC_SCOPE_EXECUTION, UINT8_MAX}};
	static const struct hpc_summary kinds[] = {{.formula = "$$", .combine = HPC_SUM},
						   {.formula = "1", .combine = HPC_SUM},
						   {.formula = "($$^2)", .combine = HPC_SUM},
						   {.formula = "$$", .combine = HPC_MIN},
						   {.formula = "$$", .combine = HPC_MAX}};

	*ms = (struct hpc_metrics){.scopes = scopes, .n_scopes = 4, .n_metrics = n};
	ms->metrics = arena_alloc(a, n * sizeof(*ms->metrics));
	for (uint32_t i = 0; i < n; i++) {
		struct hpc_metric *m = &ms->metrics[i];

		*m = (struct hpc_metric){.name = names[i], .n_summaries = 20};
		m->summaries = arena_alloc(a, 20 * sizeof(*m->summaries));
		for (uint16_t k = 0; k < 20; k++) {
			m->summaries[k] = kinds[k / 4];
			m->summaries[k].scope = k % 4;
			m->summaries[k].statMetricId = (uint16_t)(i * 20 + k);
		}
	}
}

static int parse(struct hpc_metric_tree *t, const char *text, struct err *err)
{
	return hpc_metric_tree_parse(t, text, strlen(text), "default.yaml", err);
}

static const struct hpc_metric_variant *variant(const struct hpc_metric_node *m, const char *name)
{
	static const struct hpc_metric_variant none = {.name = "no such variant"};

	for (uint32_t i = 0; i < m->n_variants; i++)
		if (strcmp(m->variants[i].name, name) == 0)
			return &m->variants[i];
	t_fail_("no variant %s", name);
	return &none;
}

/* Values of the inputs of T in SCOPE for three threads with 1, 2 and 6, 100 in other scopes. */
static double *values_of(const struct hpc_metric_tree *t, const char *scope)
{
	static const double by_kind[] = {9, 3, 41, 1, 6};
	double *v = xcalloc(t->n_inputs + 1, sizeof(*v));

	for (uint32_t i = 0; i < t->n_inputs; i++) {
		const struct hpc_metric_input *in = &t->inputs[i];
		int k = in->combine == HPC_MIN		     ? 3
			: in->combine == HPC_MAX	     ? 4
			: strcmp(in->formula, "1") == 0	     ? 1
			: strcmp(in->formula, "($$^2)") == 0 ? 2
							     : 0;

		v[i] = strcmp(in->scope, scope) == 0 ? by_kind[k] : 100;
	}
	return v;
}

TEST(what_is_written_reads_back)
{
	static const char *const names[] = {
		"CPUTIME (sec)",	"cycles", "a: \"b\" \\ #1", "x3a_", ":", "null",
		"L1-dcache-load-misses"};
	static const struct hpc_metric_text texts[n_elems(names)] = {
		{.description = "Time: of CPUs", .format = "%6.2f"}, {.hidden = true}};
	struct hpc_metric_tree t;
	struct arena a = {0};
	struct hpc_metrics ms;
	struct str s = {0};
	struct err err = {0};

	make_metrics(&ms, &a, names, n_elems(names));
	hpc_metrics_yaml_write(&s, &ms, texts, ~0u);
	EXPECT_EQ(parse(&t, str_get(&s), &err), 0);
	EXPECT_STR(err.msg, "");
	REQUIRE(t.n_nodes == n_elems(names));
	EXPECT_EQ(t.n_inputs, n_elems(names) * 15);
	for (uint32_t i = 0; i < t.n_inputs; i++) {
		const struct hpc_summary *summary;
		const struct hpc_metric *m;

		REQUIRE(hpc_metric_input_find(&t.inputs[i], &ms, &m, &summary));
		EXPECT_STR(m->name, names[i / 15]);
	}
	for (uint32_t i = 0; i < t.n_nodes; i++) {
		static const char *const scopes[] = {"execution", "lex_aware", "function"};
		const struct hpc_metric_node *m = &t.nodes[i];

		EXPECT_STR(m->name, names[i]);
		EXPECT_STR(m->description, i ? names[i] : "Time: of CPUs");
		EXPECT_EQ(m->visible, i != 1);
		EXPECT_EQ(m->n_variants, 6);
		EXPECT(variant(m, "Sum")->percent && variant(m, "Sum")->number);
		EXPECT_EQ(variant(m, "Sum")->inclusive->op, HPC_FORMULA_INPUT);
		EXPECT_EQ(variant(m, "Sum")->exclusive_standard->op, HPC_FORMULA_INPUT);
		for (size_t k = 0; k < n_elems(scopes); k++) {
			static const struct {
				const char *name;
				double want;
			} want[] = {{"Sum", 9},
				    {"Mean", 3},
				    {"StdDev", 2.1602468994692869},
				    {"CfVar", 0.72008229982309558},
				    {"Min", 1},
				    {"Max", 6}};
			_mem_ double *v = values_of(&t, scopes[k]);

			for (size_t j = 0; j < n_elems(want); j++) {
				const struct hpc_metric_variant *x = variant(m, want[j].name);
				const struct hpc_formula *f = k == 0   ? x->inclusive_standard
							      : k == 1 ? x->exclusive
								       : x->exclusive_standard;

				EXPECT(fabs(hpc_formula_value(f, v) - want[j].want) < 1e-12);
			}
		}
		/* all of its inputs are of this metric */
		EXPECT_EQ(variant(m, "Max")->exclusive->input / 15, i);
	}
	EXPECT_STR(t.nodes[0].format, "%6.2f");
	hpc_metric_tree_release(&t);
	str_release(&s);
	arena_release(&a);
}

/* Each choice of variants is what is read, with the right values: parts that others would have
 * written are there. */
TEST(variants_are_written_when_asked_for)
{
	static const struct {
		const char *word, *name;
		double want;
	} of[] = {{"sum", "Sum", 9},
		  {"mean", "Mean", 3},
		  {"stddev", "StdDev", 2.1602468994692869},
		  {"cfvar", "CfVar", 0.72008229982309558},
		  {"min", "Min", 1},
		  {"max", "Max", 6}};
	static const char *const names[] = {"cycles"};
	struct arena a = {0};
	struct hpc_metrics ms;

	make_metrics(&ms, &a, names, 1);
	EXPECT_EQ(hpc_metrics_yaml_variant("median", 6), 0);
	EXPECT_EQ(hpc_metrics_yaml_variant("mea", 3), 0);
	for (unsigned asked = 0; asked < 1u << n_elems(of); asked++) {
		struct hpc_metric_tree t;
		struct err err = {0};
		struct str s = {0};
		unsigned bits = 0, at = 0;

		for (unsigned i = 0; i < n_elems(of); i++)
			if (asked >> i & 1)
				bits |= hpc_metrics_yaml_variant(of[i].word, strlen(of[i].word));
		hpc_metrics_yaml_write(&s, &ms, NULL, bits);
		REQUIRE(parse(&t, str_get(&s), &err) == 0 && t.n_nodes == 1);
		for (unsigned i = 0; i < n_elems(of); i++) {
			_mem_ double *values = values_of(&t, "execution");
			const struct hpc_metric_variant *v;

			if (i && !(asked >> i & 1))
				continue;
			REQUIRE(at < t.nodes[0].n_variants);
			v = &t.nodes[0].variants[at++];
			EXPECT_STR(v->name, of[i].name);
			EXPECT(!v->hidden);
			EXPECT(fabs(hpc_formula_value(v->inclusive_standard, values) - of[i].want) <
			       1e-12);
		}
		EXPECT_EQ(at, t.nodes[0].n_variants);
		EXPECT_EQ(t.n_inputs, asked == 0 ? 3 : t.n_inputs);
		hpc_metric_tree_release(&t);
		str_release(&s);
	}
	arena_release(&a);
}

TEST(only_what_is_there_is_written)
{
	static const char *const names[] = {"m"};
	struct hpc_metric_tree t;
	struct arena a = {0};
	struct hpc_metrics ms;
	struct str s = {0};
	struct err err = {0};

	make_metrics(&ms, &a, names, 1);
	ms.metrics[0].n_summaries = 4; /* sums only */
	hpc_metrics_yaml_write(&s, &ms, NULL, ~0u);
	EXPECT_STR(str_get(&s), "version: 0\n"
				"inputs:\n"
				"  - &m-sum-x5b_0x0x5d_-execution\n"
				"    metric: m\n"
				"    scope: execution\n"
				"    formula: $$\n"
				"    combine: sum\n"
				"  - &m-sum-x5b_0x0x5d_-lex_aware\n"
				"    metric: m\n"
				"    scope: lex_aware\n"
				"    formula: $$\n"
				"    combine: sum\n"
				"  - &m-sum-x5b_0x0x5d_-function\n"
				"    metric: m\n"
				"    scope: function\n"
				"    formula: $$\n"
				"    combine: sum\n"
				"roots:\n"
				"  - name: m\n"
				"    description: m\n"
				"    variants:\n"
				"      Sum:\n"
				"        render: [number, percent]\n"
				"        formula:\n"
				"          inclusive:\n"
				"            standard: *m-sum-x5b_0x0x5d_-execution\n"
				"          exclusive:\n"
				"            custom: *m-sum-x5b_0x0x5d_-lex_aware\n"
				"            standard: *m-sum-x5b_0x0x5d_-function\n");
	str_reset(&s);
	ms.metrics[0].n_summaries = 1; /* of "point", which no column shows */
	hpc_metrics_yaml_write(&s, &ms, NULL, ~0u);
	EXPECT_STR(str_get(&s), "version: 0\ninputs: []\nroots: []\n");
	EXPECT_EQ(parse(&t, str_get(&s), &err), 0);
	EXPECT_EQ(t.n_nodes, 0);
	hpc_metric_tree_release(&t);
	str_release(&s);
	arena_release(&a);
}

/* What the formula written as TEXT gives with inputs a = 2 and b = 8; or the error. */
static double eval(const char *text, char ret_error[512])
{
	_mem_ char *doc = xasprintf("inputs:\n"
				    "  - &a {metric: m, scope: execution}\n"
				    "  - &b\n"
				    "    <<: *a\n"
				    "    scope: function\n"
				    "roots:\n"
				    "  - name: x\n"
				    "    variants: {Sum: {formula: {inclusive: %s}}}\n",
				    text);
	static const double v[] = {2, 8};
	struct hpc_metric_tree t;
	struct err err = {0};
	double x = NAN;

	if (parse(&t, doc, &err) == 0) {
		EXPECT_EQ(t.n_inputs, 2);
		EXPECT_STR(t.inputs[1].metric, "m");
		EXPECT_STR(t.inputs[1].scope, "function");
		x = hpc_formula_value(t.nodes[0].variants[0].inclusive, v);
		hpc_metric_tree_release(&t);
	}
	snprintf(ret_error, 512, "%s", err.msg);
	return x;
}

TEST(formulas_in_all_forms)
{
	static const struct {
		const char *text;
		double want;
	} cases[] = {
		{"*a", 2},
		{"3.5", 3.5},
		{"{'/': [*a, *b]}", .25},
		{"{\"*\": [100, {/: [*a, *b]}]}", 25},
		{"{'+': [*a, *b, 1]}", 11},
		{"{sum: [*a, *b, 1]}", 11},
		{"{prod: [*a, *b]}", 16},
		{"{'-': [*a, *b]}", -6},
		{"{'-': [*a]}", -2},
		{"{pow: [*a, 3]}", 8},
		{"{'^': [*b, *a]}", 64},
		{"{sqrt: [16]}", 4},
		{"{sqrt: 16}", 4},
		{"{log: [*b, *a]}", 3},
		{"{log: [1]}", 0},
		{"{min: [*a, *b]}", 2},
		{"{max: [*a, *b, 9]}", 9},
		{"{floor: [2.5]}", 2},
		{"{strict floor: [*a]}", 1},
		{"{ceil: [2.5]}", 3},
		{"{strict ceil: [*a]}", 3},
		{"[*a]", 2},
		{"[4*,[*b,-,*a]]", 24},
		{"[4 *, *b, -, *a]", 30},
		{"[*a, +, *b, *, *a]", 18},
		{"[*a, -, 1, -, 1]", 0},
		{"[*a, ^, *a, ^, 3]", 256},
		{"[-, *a, +, 5]", 3},
		{"[2 * 3 + 1]", 7},
		{"[{sqrt: [16]}, /, *a]", 2},
		{"[foo:[1]]", NAN},
		{"{nonsense: [*a]}", NAN},
		{"word", NAN},
		{"[*a, *b]", NAN},
		{"[*a, +]", NAN},
		{"[]", NAN},
		{"[*a, %, *b]", NAN},
		{"[2 x 3]", NAN},
		{"[2!*, 3]", NAN},
		{"{'/': [*a]}", NAN},
		{"{sqrt: [1, 2]}", NAN},
		{"&loop {'+': [*loop]}", NAN},
		{"&list [*list]", NAN},
	};

	for (size_t i = 0; i < n_elems(cases); i++) {
		char error[512];
		double got = eval(cases[i].text, error);

		if (isnan(cases[i].want) ? !isnan(got) || strncmp(error, "default.yaml:", 13) != 0
					 : fabs(got - cases[i].want) > 1e-12)
			t_fail_("%s gives %g (%s), expected %g", cases[i].text, got, error,
				cases[i].want);
	}
}

TEST(trees_of_metrics)
{
	static const char text[] = "version: 0\n"
				   "roots:\n"
				   "  - name: CPU\n"
				   "    short description: all of it\n"
				   "    visible by default: false\n"
				   "    variants:\n"
				   "      Sum: {render: hidden, formula: first}\n"
				   "      '': {render: [number, colorbar], formula: sum}\n"
				   "      N: {render: number}\n"
				   "    children:\n"
				   "      - name: inner\n"
				   "        children: [{name: innermost}]\n"
				   "  - {name: other, description: d}\n";
	struct hpc_metric_tree t;
	struct err err = {0};

	REQUIRE(parse(&t, text, &err) == 0);
	REQUIRE(t.n_nodes == 4);
	EXPECT_STR(t.nodes[0].description, "all of it");
	EXPECT(!t.nodes[0].visible && t.nodes[1].visible);
	REQUIRE(t.nodes[0].n_variants == 3);
	EXPECT_EQ(t.nodes[0].variants[0].source, HPC_VARIANT_FIRST_CHILD);
	EXPECT(t.nodes[0].variants[0].hidden && !t.nodes[0].variants[0].number);
	EXPECT_EQ(t.nodes[0].variants[1].source, HPC_VARIANT_SUM_OF_CHILDREN);
	EXPECT(t.nodes[0].variants[1].colorbar && t.nodes[0].variants[1].number);
	EXPECT_EQ(t.nodes[0].variants[2].source, HPC_VARIANT_NOTHING);
	EXPECT_EQ(t.nodes[1].parent, 0);
	EXPECT_EQ(t.nodes[2].parent, 1);
	EXPECT_EQ(t.nodes[2].depth, 2);
	EXPECT_STR(t.nodes[2].name, "innermost");
	EXPECT_EQ(t.nodes[3].parent, HPC_NONE);
	hpc_metric_tree_release(&t);
}

TEST(what_is_no_taxonomy_is_refused)
{
	static const struct {
		const char *text;
		int rc;
		const char *want;
	} cases[] = {
		{"", -EBADMSG, "default.yaml:1: no taxonomy of metrics"},
		{"- 1\n", -EBADMSG, "default.yaml:1: no taxonomy of metrics"},
		{"version: 1\n", -EPROTONOSUPPORT, "default.yaml: version 1, this program reads 0"},
		{"inputs: [{scope: x}]\n", -EBADMSG,
		 "default.yaml:1: an input without metric or scope"},
		{"inputs:\n  - {metric: m, scope: x, combine: mean}\n", -EBADMSG,
		 "default.yaml:2: combine of an input is not sum, min or max"},
		{"roots: [{description: x}]\n", -EBADMSG,
		 "default.yaml:1: a metric without a name"},
		{"roots: &r [{name: x, children: *r}]\n", -EBADMSG,
		 "default.yaml:1: roots or children is no list, or is too deep"},
		{"roots: [*x]\n", -EBADMSG, "default.yaml:1: found undefined alias"},
		{"roots: [\n", -EBADMSG, "default.yaml:2: did not find expected node content"},
	};

	for (size_t i = 0; i < n_elems(cases); i++) {
		struct hpc_metric_tree t;
		struct err err = {0};

		EXPECT_EQ(parse(&t, cases[i].text, &err), cases[i].rc);
		EXPECT_STR(err.msg, cases[i].want);
	}
}

/* Each line doubles the one before: 2^40 parts, were they written out. */
TEST(small_texts_do_not_become_large)
{
	struct str s = {0}, metrics = {0};
	struct hpc_metric_tree t;
	struct err err = {0};

	str_add(&s, "x:\n  - &f0 1\n");
	for (int i = 1; i <= 40; i++)
		str_addf(&s, "  - &f%d {sum: [*f%d, *f%d]}\n", i, i - 1, i - 1);
	str_add(&s, "roots: [{name: x, variants: {Sum: {formula: {inclusive: *f40}}}}]\n");
	EXPECT_EQ(parse(&t, str_get(&s), &err), -EBADMSG);
	EXPECT(strstr(err.msg, "a formula of more than 65536 parts"));
	str_add(&metrics, "x:\n  - &m0 []\n");
	for (int i = 1; i <= 40; i++)
		str_addf(&metrics,
			 "  - &m%d [{name: a, children: *m%d}, {name: b, children: *m%d}]\n", i,
			 i - 1, i - 1);
	str_add(&metrics, "roots: *m40\n");
	EXPECT_EQ(parse(&t, str_get(&metrics), &err), -E2BIG);
	str_release(&s);
	str_release(&metrics);
}

/* Taxonomies that HPCToolkit wrote: all inputs are in the database's meta.db. */
TEST(real_taxonomies_are_read)
{
	const char *top = getenv("DWELL_FIXTURES");
	static const char *const kinds[] = {"released", "draft"};
	unsigned n = 0;

	for (size_t k = 0; k < n_elems(kinds); k++) {
		_mem_ char *dir =
			xasprintf("%s/hpctoolkit/%s", top ? top : "/nonexistent", kinds[k]);
		DIR *d = opendir(dir);

		for (struct dirent *e; d && (e = readdir(d));) {
			_mem_ char *yaml = xasprintf("%s/%s/metrics/default.yaml", dir, e->d_name);
			_mem_ char *db = xasprintf("%s/%s/meta.db", dir, e->d_name);
			_mem_ char *text = NULL;
			struct hpc_metric_tree t;
			struct err err = {0};
			struct file_map map;
			struct hpc_meta m;
			size_t len;

			if (*e->d_name == '.' || file_load(yaml, 1 << 24, &text, &len, &err) < 0)
				continue;
			n++;
			if (hpc_metric_tree_parse(&t, text, len, yaml, &err) < 0 ||
			    file_map_open(&map, AT_FDCWD, db, false, &err) < 0) {
				t_fail_("%s", err.msg);
				continue;
			}
			EXPECT_EQ(hpc_meta_open(&m, map.bytes, map.n_bytes, db, &err), 0);
			EXPECT(t.n_nodes > 0);
			for (uint32_t i = 0; i < t.n_inputs; i++) {
				const struct hpc_summary *summary;
				const struct hpc_metric *metric;

				EXPECT(hpc_metric_input_find(&t.inputs[i], &m.metrics, &metric,
							     &summary));
			}
			hpc_meta_release(&m);
			file_map_close(&map);
			hpc_metric_tree_release(&t);
		}
		if (d)
			closedir(d);
	}
	if (!n)
		SKIP("no databases in $DWELL_FIXTURES/hpctoolkit");
}

/* What the description of the form says is itself such a file. */
TEST(the_description_is_a_taxonomy)
{
	struct hpc_metric_tree t;
	struct err err = {0};

	EXPECT_EQ(parse(&t, hpc_metrics_yaml_ex, &err), 0);
	EXPECT_STR(err.msg, "");
	REQUIRE(t.n_nodes == 4);
	EXPECT_EQ(t.n_inputs, 7);
	EXPECT_STR(t.inputs[4].metric, "CPUTIME (sec)");
	EXPECT_STR(t.inputs[4].scope, "function");
	EXPECT_STR(t.inputs[4].formula, "1");
	EXPECT_STR(t.nodes[1].name, "Cycles");
	EXPECT_EQ(t.nodes[3].parent, 2);
	for (uint32_t i = 0; i < t.n_nodes; i++) {
		static const double v[] = {6, 4, 3, 2, 2, 12e9, 8e9};
		static const double want[][2] = {{6, 3}, {12e9, 8e9}, {0, 0}, {2, 2}};
		const struct hpc_metric_variant *sum = variant(&t.nodes[i], "Sum");

		if (sum->source != HPC_VARIANT_FORMULAS)
			continue;
		EXPECT(fabs(hpc_formula_value(sum->inclusive, v) - want[i][0]) < 1e-12);
		EXPECT(fabs(hpc_formula_value(sum->exclusive, v) - want[i][1]) < 1e-12);
	}
	hpc_metric_tree_release(&t);
}

TEST(the_format_is_described)
{
	EXPECT(str_starts(hpc_formats_md, "# HPCToolkit databases, version 4.0\n"));
	EXPECT(strstr(hpc_formats_md, "| `90` | | **END** | | |\n"));
	EXPECT(str_ends(hpc_formats_md, "\nhpcviewer.\n"));
}
