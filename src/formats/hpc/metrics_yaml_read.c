/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading metrics/default.yaml, of any HPCToolkit and as its documentation has it.
 *
 * libyaml makes the document, where an alias is the number of the node it stands for; so an input
 * used in a formula is known by its number, and parts that formulas share are made once.  Both
 * forms of formulas are read: maps of a function to its arguments, as HPCToolkit writes them, and
 * the documented lists of operands and infix operators.
 *
 * An alias may stand for what holds it, and a few lines of aliases for more parts than fit memory:
 * whatever is being made is marked, and sizes are counted as if written out. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/vec.h"
#include "formats/hpc/metrics_yaml.h"

enum {
	MAX_NODES = 65536, /* metrics, inputs, parts of a formula */
	MAX_DEPTH = 64,
	MAX_BYTES = 64 << 20,
};

/* Comparisons of names that libyaml may make: it goes through all anchors for each anchor and each
 * alias. */
static const uint64_t max_comparisons = 4000000000;

static const struct hpc_formula being_made; /* marks a node whose formula is not complete yet */

struct yaml_reader {
	struct hpc_metric_tree *t;
	yaml_document_t doc;
	const char *name;
	struct err *err;
	uint32_t *inputs;		     /* by node: its input, or HPC_NONE */
	const struct hpc_formula **formulas; /* by node: what was made of it */
	VEC(struct hpc_metric_input) found;
	VEC(struct hpc_metric_node) nodes;
};

static int metrics_yaml_read_bad(struct yaml_reader *y, const yaml_node_t *n, const char *what)
{
	return err_set(y->err, -EBADMSG, "%s:%zu: %s", y->name, n->start_mark.line + 1, what);
}

static yaml_node_t *node(struct yaml_reader *y, int id)
{
	return yaml_document_get_node(&y->doc, id);
}

static const char *text_of(const yaml_node_t *n)
{
	return n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : NULL;
}

/* The number of the value of KEY in mapping MAP, also of what is merged in by "<<"; 0: none. */
static int metrics_yaml_read_find(struct yaml_reader *y, const yaml_node_t *map, const char *key,
				  int depth)
{
	int merged = 0;

	if (!map || map->type != YAML_MAPPING_NODE)
		return 0;
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
	     p++) {
		const char *k = text_of(node(y, p->key));

		if (k && strcmp(k, key) == 0)
			return p->value;
		if (k && strcmp(k, "<<") == 0)
			merged = p->value;
	}
	return merged && depth < MAX_DEPTH
		       ? metrics_yaml_read_find(y, node(y, merged), key, depth + 1)
		       : 0;
}

/* The text of KEY in MAP, OTHERWISE when it has none. */
static const char *find_text(struct yaml_reader *y, const yaml_node_t *map, const char *key,
			     const char *otherwise)
{
	const char *s = text_of(node(y, metrics_yaml_read_find(y, map, key, 0)));

	return s ? arena_strdup(&y->t->arena, s) : otherwise;
}

/* --- inputs --- */

static int add_input(struct yaml_reader *y, int id)
{
	static const char *const combines[] = {"sum", "min", "max"};
	const yaml_node_t *n = node(y, id);
	struct hpc_metric_input in = {
		.metric = find_text(y, n, "metric", NULL),
		.scope = find_text(y, n, "scope", NULL),
		.formula = find_text(y, n, "formula", "$$"),
	};
	const char *combine = find_text(y, n, "combine", "sum");
	unsigned k = 0;

	while (k < n_elems(combines) && strcmp(combine, combines[k]) != 0)
		k++;
	if (!in.metric || !in.scope)
		return metrics_yaml_read_bad(y, n, "an input without metric or scope");
	if (k == n_elems(combines))
		return metrics_yaml_read_bad(y, n, "combine of an input is not sum, min or max");
	if (y->found.n == MAX_NODES)
		return err_set(y->err, -E2BIG, "%s: more than %d inputs", y->name, MAX_NODES);
	in.combine = (enum hpc_combine)k;
	y->inputs[id - 1] = (uint32_t)y->found.n;
	vec_push(&y->found, in);
	return 0;
}

static int read_inputs(struct yaml_reader *y, const yaml_node_t *list)
{
	int rc = 0;

	if (!list)
		return 0;
	if (list->type != YAML_SEQUENCE_NODE)
		return metrics_yaml_read_bad(y, list, "inputs is no list");
	for (yaml_node_item_t *i = list->data.sequence.items.start;
	     i < list->data.sequence.items.top && rc >= 0; i++)
		if (y->inputs[*i - 1] == HPC_NONE)
			rc = add_input(y, *i);
	return rc;
}

/* --- formulas --- */

static const struct hpc_formula *make_formula(struct yaml_reader *y, int id, int depth);

static struct hpc_formula *new_formula(struct yaml_reader *y, enum hpc_formula_op op)
{
	struct hpc_formula *f = arena_alloc(&y->t->arena, sizeof(*f));

	*f = (struct hpc_formula){.op = op, .size = 1};
	return f;
}

static const struct hpc_formula *make_number(struct yaml_reader *y, double v)
{
	struct hpc_formula *f = new_formula(y, HPC_FORMULA_NUMBER);

	f->number = v;
	return f;
}

/* NULL when it would be too large. */
static const struct hpc_formula *make_call(struct yaml_reader *y, const yaml_node_t *at,
					   enum hpc_formula_op op, const struct hpc_formula **args,
					   size_t n)
{
	struct hpc_formula *f = new_formula(y, op);

	f->args = arena_alloc(&y->t->arena, n * sizeof(*args));
	f->n_args = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		f->args[i] = args[i];
		f->size += args[i]->size;
		if (f->size > MAX_NODES) {
			err_set(y->err, -EBADMSG, "%s:%zu: a formula of more than %d parts",
				y->name, at->start_mark.line + 1, MAX_NODES);
			return NULL;
		}
	}
	return f;
}

static const struct hpc_formula *metrics_yaml_read_fail(struct yaml_reader *y, const yaml_node_t *n,
							const char *what)
{
	metrics_yaml_read_bad(y, n, what);
	return NULL;
}

/* Functions, with the least and the largest number of arguments. */
static const struct function {
	const char *name;
	enum hpc_formula_op op;
	size_t least, most;
} functions[] = {
	{"+", HPC_FORMULA_SUM, 1, MAX_NODES},
	{"sum", HPC_FORMULA_SUM, 1, MAX_NODES},
	{"-", HPC_FORMULA_SUB, 1, MAX_NODES},
	{"*", HPC_FORMULA_PROD, 1, MAX_NODES},
	{"prod", HPC_FORMULA_PROD, 1, MAX_NODES},
	{"/", HPC_FORMULA_DIV, 2, MAX_NODES},
	{"^", HPC_FORMULA_POW, 2, 2},
	{"pow", HPC_FORMULA_POW, 2, 2},
	{"sqrt", HPC_FORMULA_SQRT, 1, 1},
	{"log", HPC_FORMULA_LOG, 1, 2},
	{"min", HPC_FORMULA_MIN, 1, MAX_NODES},
	{"max", HPC_FORMULA_MAX, 1, MAX_NODES},
	{"floor", HPC_FORMULA_FLOOR, 1, 1},
	{"strict floor", HPC_FORMULA_STRICT_FLOOR, 1, 1},
	{"ceil", HPC_FORMULA_CEIL, 1, 1},
	{"strict ceil", HPC_FORMULA_STRICT_CEIL, 1, 1},
};

/* A map of a function to the list of its arguments, or to its only one. */
static const struct hpc_formula *make_map(struct yaml_reader *y, const yaml_node_t *n, int depth)
{
	const yaml_node_pair_t *pair = n->data.mapping.pairs.start;
	const char *name = pair < n->data.mapping.pairs.top ? text_of(node(y, pair->key)) : NULL;
	_vec_ VEC(const struct hpc_formula *) args = {0};
	const struct function *fn = functions;
	const struct hpc_formula *f = NULL;
	const yaml_node_t *list;

	while (name && fn < functions + n_elems(functions) && strcmp(fn->name, name) != 0)
		fn++;
	if (!name || fn == functions + n_elems(functions) || pair + 1 != n->data.mapping.pairs.top)
		return metrics_yaml_read_fail(y, n,
					      "a formula is neither an input nor a known function");
	list = node(y, pair->value);
	if (list->type == YAML_SEQUENCE_NODE) {
		for (yaml_node_item_t *i = list->data.sequence.items.start;
		     i < list->data.sequence.items.top; i++) {
			vec_push(&args, make_formula(y, *i, depth + 1));
			if (!args.v[args.n - 1])
				goto out;
		}
	} else {
		vec_push(&args, make_formula(y, pair->value, depth + 1));
		if (!args.v[0])
			goto out;
	}
	if (args.n < fn->least || args.n > fn->most)
		f = metrics_yaml_read_fail(
			y, n, "a function in a formula has too few or too many arguments");
	else
		f = make_call(y, n, fn->op, args.v, args.n);
out:
	return f;
}

/* A list in infix form, token by token: an operand is a node or a number, anything else an operator
 * of one character.  Scalars may hold several: "4 *". */
struct infix {
	struct yaml_reader *y;
	const yaml_node_t *list;
	const yaml_node_item_t *item; /* the next one */
	const char *rest;	      /* of the scalar that was begun */
	int depth;
	char op; /* the current token: an operator, 'x' for an operand, '?' for what is
		     neither, 0 at the end, '!' failed */
	const struct hpc_formula *operand;
};

static void next_token(struct infix *in)
{
	const yaml_node_t *n;

	for (;;) {
		char *end;

		if (in->rest)
			in->rest += strspn(in->rest, " \t");
		if (in->rest && *in->rest) {
			double v = isdigit((unsigned char)*in->rest) || *in->rest == '.'
					   ? strtod(in->rest, &end)
					   : NAN;

			if (!isnan(v)) {
				in->operand = make_number(in->y, v);
				in->rest = end;
				in->op = 'x';
			} else {
				in->op = strchr("+-*/^", *in->rest) ? *in->rest : '?';
				in->rest++;
			}
			return;
		}
		if (in->item == in->list->data.sequence.items.top) {
			in->op = 0;
			return;
		}
		n = node(in->y, *in->item);
		in->rest = text_of(n);
		if (!in->rest) {
			in->operand = make_formula(in->y, *in->item, in->depth + 1);
			in->op = in->operand ? 'x' : '!';
			in->item++;
			return;
		}
		in->item++;
	}
}

static const struct hpc_formula *make_infix(struct infix *in, int least);

static const struct hpc_formula *make_operand(struct infix *in)
{
	const struct hpc_formula *f = in->operand;

	if (in->op == '!')
		return NULL;
	if (in->op == '-' && ++in->depth < MAX_DEPTH) {
		next_token(in);
		f = make_infix(in, 2);
		return f ? make_call(in->y, in->list, HPC_FORMULA_SUB, &f, 1) : NULL;
	}
	if (in->op != 'x')
		return metrics_yaml_read_fail(in->y, in->list, "a formula lacks an operand");
	next_token(in);
	return f;
}

/* Operators that bind at least as tightly as LEAST: 0 + -, 1 * /, 2 ^. */
static const struct hpc_formula *make_infix(struct infix *in, int least)
{
	static const struct {
		char c;
		int level;
		enum hpc_formula_op op;
	} ops[] = {{'+', 0, HPC_FORMULA_SUM},
		   {'-', 0, HPC_FORMULA_SUB},
		   {'*', 1, HPC_FORMULA_PROD},
		   {'/', 1, HPC_FORMULA_DIV},
		   {'^', 2, HPC_FORMULA_POW}};
	const struct hpc_formula *f = make_operand(in);

	while (f && in->op && in->op != 'x' && in->op != '!') {
		const struct hpc_formula *both[2] = {f};
		size_t i = 0;

		while (i < n_elems(ops) && ops[i].c != in->op)
			i++;
		if (i == n_elems(ops))
			return metrics_yaml_read_fail(in->y, in->list,
						      "an unknown operator in a formula");
		if (ops[i].level < least)
			return f;
		next_token(in);
		if (ops[i].c == '^' && ++in->depth > MAX_DEPTH) /* a^b^c is a^(b^c) */
			return metrics_yaml_read_fail(in->y, in->list, "a formula is too deep");
		both[1] = make_infix(in, ops[i].level + (ops[i].c != '^'));
		f = both[1] ? make_call(in->y, in->list, ops[i].op, both, 2) : NULL;
	}
	if (f && in->op == 'x')
		return metrics_yaml_read_fail(in->y, in->list,
					      "two operands of a formula without an operator");
	return in->op == '!' ? NULL : f;
}

static const struct hpc_formula *make_node(struct yaml_reader *y, int id, int depth)
{
	const yaml_node_t *n = node(y, id);
	const char *text = text_of(n);
	struct hpc_formula *f;
	char *end;
	double v;

	if (text) {
		v = strtod(text, &end);
		return end == text || *end ? metrics_yaml_read_fail(
						     y, n, "a formula is neither number nor input")
					   : make_number(y, v);
	}
	if (n->type == YAML_SEQUENCE_NODE) {
		struct infix in = {
			.y = y, .list = n, .item = n->data.sequence.items.start, .depth = depth};

		next_token(&in);
		return make_infix(&in, 0);
	}
	if (y->inputs[id - 1] == HPC_NONE && metrics_yaml_read_find(y, n, "metric", 0) &&
	    add_input(y, id) < 0)
		return NULL;
	if (y->inputs[id - 1] == HPC_NONE)
		return make_map(y, n, depth);
	f = new_formula(y, HPC_FORMULA_INPUT);
	f->input = y->inputs[id - 1];
	return f;
}

/* The formula of node ID; NULL, and the error, when it is none. */
static const struct hpc_formula *make_formula(struct yaml_reader *y, int id, int depth)
{
	const struct hpc_formula **made = &y->formulas[id - 1];

	if (*made == &being_made || depth > MAX_DEPTH)
		return metrics_yaml_read_fail(y, node(y, id),
					      "a formula holds itself or is too deep");
	if (!*made) {
		*made = &being_made;
		*made = make_node(y, id, depth);
	}
	return *made;
}

/* inclusive or exclusive: a formula, or a map of custom and standard ones. */
static int read_pair(struct yaml_reader *y, int id, const struct hpc_formula **ret,
		     const struct hpc_formula **ret_standard)
{
	const yaml_node_t *n = node(y, id);
	int custom = metrics_yaml_read_find(y, n, "custom", 0),
	    standard = metrics_yaml_read_find(y, n, "standard", 0);

	if (!id)
		return 0;
	if (!custom && !standard)
		custom = standard = id;
	if (standard && !(*ret_standard = make_formula(y, standard, 0)))
		return -EBADMSG;
	if (custom && !(*ret = make_formula(y, custom, 0)))
		return -EBADMSG;
	if (!custom)
		*ret = *ret_standard;
	return 0;
}

/* --- metrics --- */

static void read_render(struct yaml_reader *y, const yaml_node_t *n, struct hpc_metric_variant *v)
{
	const char *s = text_of(n);

	if (s) {
		v->number |= strcmp(s, "number") == 0;
		v->percent |= strcmp(s, "percent") == 0 || strcmp(s, "percentage") == 0;
		v->colorbar |= strcmp(s, "colorbar") == 0;
		v->hidden |= strcmp(s, "hidden") == 0;
	} else if (n && n->type == YAML_SEQUENCE_NODE) {
		for (yaml_node_item_t *i = n->data.sequence.items.start;
		     i < n->data.sequence.items.top; i++)
			if (text_of(node(y, *i)))
				read_render(y, node(y, *i), v);
	}
}

static int read_variant(struct yaml_reader *y, const yaml_node_pair_t *p,
			struct hpc_metric_variant *v)
{
	const yaml_node_t *n = node(y, p->value),
			  *formula = node(y, metrics_yaml_read_find(y, n, "formula", 0));
	const char *name = text_of(node(y, p->key)), *from = text_of(formula);
	int rc;

	if (!name)
		return metrics_yaml_read_bad(y, node(y, p->key), "a variant without a name");
	*v = (struct hpc_metric_variant){
		.name = arena_strdup(&y->t->arena, name),
		.format = find_text(y, n, "format", NULL),
		.source = HPC_VARIANT_NOTHING,
	};
	read_render(y, node(y, metrics_yaml_read_find(y, n, "render", 0)), v);
	if (from && strcmp(from, "first") == 0)
		v->source = HPC_VARIANT_FIRST_CHILD;
	else if (from && strcmp(from, "sum") == 0)
		v->source = HPC_VARIANT_SUM_OF_CHILDREN;
	if (!formula || formula->type != YAML_MAPPING_NODE)
		return 0;
	v->source = HPC_VARIANT_FORMULAS;
	rc = read_pair(y, metrics_yaml_read_find(y, formula, "inclusive", 0), &v->inclusive,
		       &v->inclusive_standard);
	return rc < 0 ? rc
		      : read_pair(y, metrics_yaml_read_find(y, formula, "exclusive", 0),
				  &v->exclusive, &v->exclusive_standard);
}

static int read_variants(struct yaml_reader *y, const yaml_node_t *map, struct hpc_metric_node *m)
{
	size_t n;
	int rc = 0;

	if (!map || map->type != YAML_MAPPING_NODE)
		return 0;
	n = (size_t)(map->data.mapping.pairs.top - map->data.mapping.pairs.start);
	m->variants = arena_alloc(&y->t->arena, n * sizeof(*m->variants));
	for (size_t i = 0; i < n && rc >= 0; i++, m->n_variants += rc >= 0)
		rc = read_variant(y, &map->data.mapping.pairs.start[i], &m->variants[i]);
	return rc;
}

static int read_metrics(struct yaml_reader *y, const yaml_node_t *list, uint32_t parent,
			uint32_t depth)
{
	int rc = 0;

	if (!list)
		return 0;
	if (list->type != YAML_SEQUENCE_NODE || depth > MAX_DEPTH)
		return metrics_yaml_read_bad(y, list,
					     "roots or children is no list, or is too deep");
	for (yaml_node_item_t *i = list->data.sequence.items.start;
	     i < list->data.sequence.items.top && rc >= 0; i++) {
		const yaml_node_t *n = node(y, *i);
		const char *visible =
			text_of(node(y, metrics_yaml_read_find(y, n, "visible by default", 0)));
		const char *name = find_text(y, n, "name", NULL);
		struct hpc_metric_node m = {
			.name = name,
			.description = find_text(y, n, "description",
						 find_text(y, n, "short description", "")),
			.format = find_text(y, n, "format", NULL),
			.parent = parent,
			.depth = depth,
			.visible = !visible || strcasecmp(visible, "false") != 0,
		};

		if (!name)
			return metrics_yaml_read_bad(y, n, "a metric without a name");
		if (y->nodes.n == MAX_NODES)
			return err_set(y->err, -E2BIG, "%s: more than %d metrics", y->name,
				       MAX_NODES);
		rc = read_variants(y, node(y, metrics_yaml_read_find(y, n, "variants", 0)), &m);
		vec_push(&y->nodes, m);
		if (rc >= 0)
			rc = read_metrics(y, node(y, metrics_yaml_read_find(y, n, "children", 0)),
					  (uint32_t)y->nodes.n - 1, depth + 1);
	}
	return rc;
}

static int read_document(struct yaml_reader *y)
{
	size_t n = (size_t)(y->doc.nodes.top - y->doc.nodes.start);
	const yaml_node_t *root = yaml_document_get_root_node(&y->doc);
	const char *version;
	int rc;

	if (!root || root->type != YAML_MAPPING_NODE)
		return err_set(y->err, -EBADMSG, "%s:1: no taxonomy of metrics", y->name);
	version = text_of(node(y, metrics_yaml_read_find(y, root, "version", 0)));
	y->t->version = version ? strtoll(version, NULL, 10) : 0;
	if (y->t->version > 0)
		return err_set(y->err, -EPROTONOSUPPORT, "%s: version %s, this program reads 0",
			       y->name, version);
	y->inputs = xcalloc(n, sizeof(*y->inputs));
	memset(y->inputs, 0xff, n * sizeof(*y->inputs));
	y->formulas = xcalloc(n, sizeof(*y->formulas));
	rc = read_inputs(y, node(y, metrics_yaml_read_find(y, root, "inputs", 0)));
	if (rc >= 0)
		rc = read_metrics(y, node(y, metrics_yaml_read_find(y, root, "roots", 0)), HPC_NONE,
				  0);
	free(y->inputs);
	free(y->formulas);
	return rc;
}

static int metrics_yaml_read_parse(struct yaml_reader *y, const char *text, size_t n)
{
	uint64_t n_anchors = 0, n_aliases = 0;
	yaml_parser_t parser;
	int rc;

	if (n > MAX_BYTES)
		return err_set(y->err, -E2BIG, "%s: more than %d bytes", y->name, MAX_BYTES);
	for (size_t i = 0; i < n; i++) {
		n_anchors += text[i] == '&';
		n_aliases += text[i] == '*';
	}
	if (n_anchors * (n_anchors + n_aliases) > max_comparisons)
		return err_set(y->err, -E2BIG, "%s: too many anchors and aliases", y->name);
	if (!yaml_parser_initialize(&parser))
		return err_set(y->err, -ENOMEM, "%s: no memory for its parser", y->name);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, n);
	if (!yaml_parser_load(&parser, &y->doc)) {
		rc = err_set(y->err, -EBADMSG, "%s:%zu: %s", y->name, parser.problem_mark.line + 1,
			     parser.problem ? parser.problem : "not YAML");
		yaml_parser_delete(&parser);
		return rc;
	}
	rc = read_document(y);
	yaml_document_delete(&y->doc);
	yaml_parser_delete(&parser);
	return rc;
}

int hpc_metric_tree_parse(struct hpc_metric_tree *t, const char *text, size_t n, const char *name,
			  struct err *err)
{
	struct yaml_reader y = {.t = t, .name = name, .err = err};
	int rc;

	*t = (struct hpc_metric_tree){0};
	rc = metrics_yaml_read_parse(&y, text, n);
	t->inputs = y.found.v;
	t->n_inputs = (uint32_t)y.found.n;
	t->nodes = y.nodes.v;
	t->n_nodes = (uint32_t)y.nodes.n;
	if (rc < 0)
		hpc_metric_tree_release(t);
	return rc;
}

void hpc_metric_tree_release(struct hpc_metric_tree *t)
{
	free(t->inputs);
	free(t->nodes);
	arena_release(&t->arena);
	*t = (struct hpc_metric_tree){0};
}

bool hpc_metric_input_find(const struct hpc_metric_input *in, const struct hpc_metrics *meta,
			   const struct hpc_metric **ret_metric,
			   const struct hpc_summary **ret_summary)
{
	for (uint32_t i = 0; i < meta->n_metrics; i++) {
		const struct hpc_metric *m = &meta->metrics[i];

		if (strcmp(m->name, in->metric) != 0)
			continue;
		*ret_summary = hpc_metric_summary(meta, m, in->scope, in->formula, in->combine);
		if (*ret_summary) {
			*ret_metric = m;
			return true;
		}
	}
	return false;
}
