/* SPDX-License-Identifier: BSD-2-Clause */
/* metrics/default.yaml of an HPCToolkit database: how a viewer shows the metrics.  It names inputs,
 * which are statistics of meta.db, and a tree of metrics, whose values are formulas over inputs
 * (docs/formats/hpctoolkit.md, "metrics/default.yaml"). */
#ifndef FORMATS_HPC_METRICS_YAML_H
#define FORMATS_HPC_METRICS_YAML_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "formats/hpc/meta.h"

/* What a taxonomy says of a metric beside its name. */
struct hpc_metric_text {
	const char *description; /* NULL: the name */
	const char *format;	 /* of printf for a double; NULL: the viewer's own */
	bool hidden;		 /* not shown until asked for */
};

/* The bit of the variant called NAME, of N_NAME letters, in lower case: sum, mean, stddev, cfvar,
 * min, max.  0 when there is none. */
unsigned hpc_metrics_yaml_variant(const char *name, size_t n_name);

/* Appends a taxonomy with a root for each metric of MS that has a sum.  It has a variant Sum, and
 * those of VARIANTS whose inputs are there.  TEXTS has an element for each metric, or is NULL. */
void hpc_metrics_yaml_write(struct str *out, const struct hpc_metrics *ms,
			    const struct hpc_metric_text *texts, unsigned variants);

/* A statistic of meta.db that formulas use. */
struct hpc_metric_input {
	const char *metric, *scope, *formula; /* names there; formula "$$" unless given */
	enum hpc_combine combine;
};

enum hpc_formula_op {
	HPC_FORMULA_NUMBER,
	HPC_FORMULA_INPUT,
	HPC_FORMULA_SUM, /* + and sum */
	HPC_FORMULA_SUB, /* of one argument: its negative */
	HPC_FORMULA_PROD,
	HPC_FORMULA_DIV,
	HPC_FORMULA_POW,
	HPC_FORMULA_SQRT,
	HPC_FORMULA_LOG, /* natural, or to the base of its second argument */
	HPC_FORMULA_MIN,
	HPC_FORMULA_MAX,
	HPC_FORMULA_FLOOR,
	HPC_FORMULA_STRICT_FLOOR, /* the largest integer below */
	HPC_FORMULA_CEIL,
	HPC_FORMULA_STRICT_CEIL,
};

struct hpc_formula {
	enum hpc_formula_op op;
	uint32_t input; /* index of inputs; HPC_FORMULA_INPUT */
	double number;	/* HPC_FORMULA_NUMBER */
	uint32_t n_args;
	const struct hpc_formula **args;
	uint32_t size; /* nodes when written out; formulas share parts */
};

/* The value of F when input I has inputs[I]. */
double hpc_formula_value(const struct hpc_formula *f, const double *inputs);

/* Where a variant's values come from. */
enum hpc_variant_source {
	HPC_VARIANT_FORMULAS,
	HPC_VARIANT_FIRST_CHILD,
	HPC_VARIANT_SUM_OF_CHILDREN,
	HPC_VARIANT_NOTHING, /* it shows none: its metric is a heading */
};

/* One way to sum up a metric over threads. */
struct hpc_metric_variant {
	const char *name;   /* "Sum", "" */
	const char *format; /* NULL when not given */
	enum hpc_variant_source source;
	bool number, percent, colorbar, hidden; /* how it is rendered */
	/* NULL where there is none.  Standard ones use nothing but scopes of known meaning. */
	const struct hpc_formula *inclusive, *inclusive_standard;
	const struct hpc_formula *exclusive, *exclusive_standard;
};

struct hpc_metric_node {
	const char *name, *description;
	const char *format; /* NULL when not given */
	uint32_t parent;    /* index of an earlier node, HPC_NONE for a root */
	uint32_t depth;
	bool visible; /* by default */
	uint32_t n_variants;
	struct hpc_metric_variant *variants;
};

struct hpc_metric_tree {
	int64_t version;
	struct hpc_metric_input *inputs;
	struct hpc_metric_node *nodes; /* each before its children */
	uint32_t n_inputs, n_nodes;
	struct arena arena;
};

/* Reads the N bytes of a taxonomy.  NAME is for errors.  -EBADMSG for what is no YAML or no
 * taxonomy or has a formula of more than 65536 parts, with the line; -E2BIG for one of more than
 * 65536 metrics or inputs; -EPROTONOSUPPORT for a version above 0. */
int hpc_metric_tree_parse(struct hpc_metric_tree *t, const char *text, size_t n, const char *name,
			  struct err *err);
void hpc_metric_tree_release(struct hpc_metric_tree *t);

/* The summary of META that IN names, with its metric; false when there is none. */
bool hpc_metric_input_find(const struct hpc_metric_input *in, const struct hpc_metrics *meta,
			   const struct hpc_metric **ret_metric,
			   const struct hpc_summary **ret_summary);

#endif
