/* SPDX-License-Identifier: BSD-2-Clause */
/* See taxonomy.h.  A formula is written as the text of an expression whose names are numbers of
 * columns, "$3". */
#include "query/hpc/taxonomy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"

#define MOST_BYTES (64 << 20)

int hpc_taxonomy_open(struct hpc_taxonomy *t, const struct hpc_db *db, const char *file,
		      struct err *err)
{
	_mem_ char *text = NULL;
	size_t n;
	int rc;

	*t = (struct hpc_taxonomy){0};
	if (!file) {
		t->is_there = hpc_db_taxonomy(db, &t->tree, &text, &n);
		return 0;
	}
	rc = file_load(file, MOST_BYTES, &text, &n, err);
	if (rc >= 0)
		rc = hpc_metric_tree_parse(&t->tree, text, n, file, err);
	t->is_there = rc >= 0;
	return rc;
}

void hpc_taxonomy_close(struct hpc_taxonomy *t)
{
	if (t->is_there)
		hpc_metric_tree_release(&t->tree);
	*t = (struct hpc_taxonomy){0};
}

uint32_t hpc_taxonomy_find(const struct hpc_taxonomy *t, const char *name, size_t n)
{
	for (uint32_t i = 0; t->is_there && i < t->tree.n_nodes; i++)
		if (strlen(t->tree.nodes[i].name) == n &&
		    memcmp(t->tree.nodes[i].name, name, n) == 0)
			return i;
	return HPC_NONE;
}

struct writer {
	struct hpc_query *q;
	const struct hpc_metric_tree *t;
	enum hpc_stat stat;
	struct str text;
	struct err *err;
	const char *name; /* of the metric, for errors */
	bool adds_up;
};

static int cannot(struct writer *w, const char *why, const char *what)
{
	return err_set(w->err, -ENOTSUP, "the formula of '%s' %s%s", w->name, why, what);
}

/* --- both forms --- */

static bool is_scope(const char *scope, bool exclusive)
{
	return exclusive ? !strcmp(scope, "function") || !strcmp(scope, "lex_aware")
			 : !strcmp(scope, "execution");
}

/* Whether F uses no other scopes than those of its form. */
static int check_scopes(struct writer *w, const struct hpc_formula *f, bool exclusive)
{
	int rc = 0;

	if (f->op == HPC_FORMULA_INPUT && !is_scope(w->t->inputs[f->input].scope, exclusive))
		return cannot(w, "uses the scope ", w->t->inputs[f->input].scope);
	for (uint32_t i = 0; i < f->n_args && rc >= 0; i++)
		rc = check_scopes(w, f->args[i], exclusive);
	return rc;
}

/* Whether A and B are the same but for scopes. */
static bool are_alike(const struct hpc_metric_tree *t, const struct hpc_formula *a,
		      const struct hpc_formula *b)
{
	if (a->op != b->op || a->n_args != b->n_args)
		return false;
	if (a->op == HPC_FORMULA_NUMBER)
		return a->number == b->number;
	if (a->op == HPC_FORMULA_INPUT) {
		const struct hpc_metric_input *x = &t->inputs[a->input], *y = &t->inputs[b->input];

		return strcmp(x->metric, y->metric) == 0 && strcmp(x->formula, y->formula) == 0 &&
		       x->combine == y->combine;
	}
	for (uint32_t i = 0; i < a->n_args; i++)
		if (!are_alike(t, a->args[i], b->args[i]))
			return false;
	return true;
}

/* --- as text --- */

static const struct hpc_metric *find_metric(const struct writer *w, const char *name)
{
	const struct hpc_metrics *ms = &w->q->db->meta.metrics;

	for (uint32_t i = 0; i < ms->n_metrics; i++)
		if (strcmp(ms->metrics[i].name, name) == 0)
			return &ms->metrics[i];
	return NULL;
}

/* The column of IN, whatever its scope. */
static int add_input(struct writer *w, const struct hpc_metric_input *in)
{
	static const struct {
		const char *formula;
		enum hpc_combine combine;
		enum hpc_stat stat;
	} stats[] = {
		{"$$", HPC_SUM, HPC_STAT_SUM},	       {"1", HPC_SUM, HPC_STAT_COUNT},
		{"($$^2)", HPC_SUM, HPC_STAT_SQUARES}, {"$$", HPC_MIN, HPC_STAT_MIN},
		{"$$", HPC_MAX, HPC_STAT_MAX},
	};
	const struct hpc_metric *m = find_metric(w, in->metric);
	size_t k = 0;

	while (k < n_elems(stats) &&
	       (strcmp(stats[k].formula, in->formula) != 0 || stats[k].combine != in->combine))
		k++;
	if (!m)
		return err_set(w->err, -ENOENT,
			       "the formula of '%s' uses the metric '%s', which is not there",
			       w->name, in->metric);
	if (k == n_elems(stats))
		return cannot(w, "uses the statistic ", in->formula);
	w->adds_up &= stats[k].stat == HPC_STAT_SUM;
	str_addf(&w->text, "$%u", hpc_query_add_col(w->q, m, stats[k].stat, true));
	return 0;
}

static int write_formula(struct writer *w, const struct hpc_formula *f);

/* The arguments, OPERATOR between them. */
static int write_args(struct writer *w, const struct hpc_formula *f, const char *operator)
{
	int rc = 0;

	for (uint32_t i = 0; i < f->n_args && rc >= 0; i++) {
		str_add(&w->text, i ? operator : "");
		rc = write_formula(w, f->args[i]);
	}
	return rc;
}

static int write_call(struct writer *w, const struct hpc_formula *f)
{
	static const struct {
		const char *before, *operator, * after;
		bool is_linear;
	} forms[] = {
		[HPC_FORMULA_SUM] = {"(", " + ", ")", true},
		[HPC_FORMULA_SUB] = {"(", " - ", ")", true},
		[HPC_FORMULA_PROD] = {"(", " * ", ")", false},
		[HPC_FORMULA_DIV] = {"(", " / ", ")", false},
		[HPC_FORMULA_POW] = {"(", " ^ ", ")", false},
		[HPC_FORMULA_SQRT] = {"sqrt(", "", ")", false},
		[HPC_FORMULA_LOG] = {"(log(", ") / log(", "))", false},
		[HPC_FORMULA_MIN] = {"min(", ", ", ")", false},
		[HPC_FORMULA_MAX] = {"max(", ", ", ")", false},
		[HPC_FORMULA_FLOOR] = {"floor(", "", ")", false},
		[HPC_FORMULA_STRICT_FLOOR] = {"(ceil(", "", ") - 1)", false},
		[HPC_FORMULA_CEIL] = {"ceil(", "", ")", false},
		[HPC_FORMULA_STRICT_CEIL] = {"(floor(", "", ") + 1)", false},
	};
	int rc;

	w->adds_up &= forms[f->op].is_linear;
	str_add(&w->text, forms[f->op].before);
	if (f->op == HPC_FORMULA_SUB && f->n_args == 1)
		str_add(&w->text, "-");
	rc = write_args(w, f, forms[f->op].operator);
	str_add(&w->text, forms[f->op].after);
	return rc;
}

static int write_formula(struct writer *w, const struct hpc_formula *f)
{
	if (f->op == HPC_FORMULA_INPUT)
		return add_input(w, &w->t->inputs[f->input]);
	if (f->op != HPC_FORMULA_NUMBER)
		return write_call(w, f);
	w->adds_up = false;
	str_addf(&w->text, f->number < 0 ? "(%.17g)" : "%.17g", f->number);
	return 0;
}

static const struct hpc_metric_variant *find_variant(const struct hpc_metric_node *node,
						     enum hpc_stat stat)
{
	for (uint32_t i = 0; i < node->n_variants; i++) {
		const char *name = node->variants[i].name;

		/* Those of before the first release have a variant without a name. */
		if (strcasecmp(name, hpc_stat_name(stat)) == 0 || (!*name && stat == HPC_STAT_SUM))
			return &node->variants[i];
	}
	return NULL;
}

static int write_forms(struct writer *w, const struct hpc_metric_variant *v)
{
	const struct hpc_formula *in = v->inclusive, *ex = v->exclusive;
	int rc = 0;

	if (!in && !ex)
		return cannot(w, "is empty", "");
	if (in)
		rc = check_scopes(w, in, false);
	if (rc >= 0 && ex)
		rc = check_scopes(w, ex, true);
	if (rc >= 0 && in && ex && !are_alike(w->t, in, ex))
		rc = cannot(w, "is another one for what is exclusive", "");
	return rc < 0 ? rc : write_formula(w, in ? in : ex);
}

/* The metric of meta.db whose sum NODE is; NULL when it is something else. */
static const struct hpc_metric *plain_metric(const struct writer *w,
					     const struct hpc_metric_node *node)
{
	const struct hpc_metric_variant *sum = find_variant(node, HPC_STAT_SUM);
	const struct hpc_metric_input *in;

	if (!sum || sum->source != HPC_VARIANT_FORMULAS || !sum->inclusive ||
	    sum->inclusive->op != HPC_FORMULA_INPUT)
		return NULL;
	in = &w->t->inputs[sum->inclusive->input];
	return in->combine == HPC_SUM && strcmp(in->formula, "$$") == 0 ? find_metric(w, in->metric)
									: NULL;
}

static int write_node(struct writer *w, uint32_t node)
{
	const struct hpc_metric_tree *t = w->t;
	const struct hpc_metric_variant *v = find_variant(&t->nodes[node], w->stat);
	const struct hpc_metric *plain = v ? NULL : plain_metric(w, &t->nodes[node]);
	bool first = true;
	int rc = 0;

	/* Many taxonomies have sums only; of a metric alone all statistics are known. */
	if (plain) {
		w->adds_up = false;
		str_addf(&w->text, "$%u", hpc_query_add_col(w->q, plain, w->stat, true));
		return 0;
	}
	if (!v || v->source == HPC_VARIANT_NOTHING)
		return err_set(w->err, -ENOENT, "'%s' has no %s", t->nodes[node].name,
			       hpc_stat_name(w->stat));
	if (v->source == HPC_VARIANT_FORMULAS)
		return write_forms(w, v);
	str_addc(&w->text, '(');
	for (uint32_t i = node + 1; i < t->n_nodes && rc >= 0; i++) {
		const struct hpc_metric_variant *of_child = find_variant(&t->nodes[i], w->stat);

		if (t->nodes[i].parent != node || !of_child ||
		    of_child->source == HPC_VARIANT_NOTHING ||
		    (v->source == HPC_VARIANT_FIRST_CHILD && !first))
			continue;
		str_add(&w->text, first ? "" : " + ");
		rc = write_node(w, i);
		first = false;
	}
	str_addc(&w->text, ')');
	return rc >= 0 && first ? cannot(w, "has nothing to add up", "") : rc;
}

/* "$3" is column 3. */
static int find_numbered(void *ctx, const char *name, size_t n, struct err *err)
{
	(void)ctx, (void)n, (void)err;
	return (int)strtol(name + 1, NULL, 10);
}

/* The column that TEXT is and nothing else, when it is called NAME. */
static int find_alone(const struct hpc_query *q, const char *text, const char *name)
{
	int col = text[0] == '$' && !text[1 + strspn(text + 1, "0123456789")]
			  ? (int)strtol(text + 1, NULL, 10)
			  : -1;

	return col >= 0 && strcmp(q->columns.cols.v[col].name, name) == 0 ? col : -1;
}

int hpc_taxonomy_add(struct hpc_query *q, const struct hpc_taxonomy *t, uint32_t node,
		     enum hpc_stat stat, struct err *err)
{
	struct writer w = {
		.q = q,
		.t = &t->tree,
		.stat = stat,
		.err = err,
		.name = t->tree.nodes[node].name,
		.adds_up = true,
	};
	struct column col = {.kind = COLUMN_REAL, .duty = 1, .unit = 1};
	struct str name = {0};
	int rc = write_node(&w, node), alone;

	if (rc >= 0)
		rc = expr_parse(&col.expr, str_get(&w.text), find_numbered, NULL, err);
	if (rc < 0) {
		str_release(&w.text);
		return rc;
	}
	str_add(&name, w.name);
	if (stat != HPC_STAT_SUM)
		str_addf(&name, ":%s", hpc_stat_name(stat));
	alone = find_alone(q, str_get(&w.text), str_get(&name));
	str_release(&w.text);
	if (alone >= 0) {
		expr_free(col.expr);
		str_release(&name);
		q->columns.cols.v[alone].hidden = false;
		return alone;
	}
	col.name = col.title = arena_strdup(&q->arena, str_get(&name));
	str_release(&name);
	col.adds_up = w.adds_up;
	vec_push(&q->columns.cols, col);
	vec_push(&q->cols, (struct hpc_col){0});
	return (int)q->cols.n - 1;
}
