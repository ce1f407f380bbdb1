/* SPDX-License-Identifier: BSD-2-Clause */
/* The values of formulas (metrics_yaml.h). */
#include <math.h>

#include "formats/hpc/metrics_yaml.h"

/* Functions of any number of arguments, folded from the first on. */
static double fold(enum hpc_formula_op op, double a, double b)
{
	switch (op) {
	case HPC_FORMULA_SUM:
		return a + b;
	case HPC_FORMULA_SUB:
		return a - b;
	case HPC_FORMULA_PROD:
		return a * b;
	case HPC_FORMULA_DIV:
		return a / b;
	case HPC_FORMULA_POW:
		return pow(a, b);
	case HPC_FORMULA_LOG:
		return log(a) / log(b);
	case HPC_FORMULA_MIN:
		return fmin(a, b);
	case HPC_FORMULA_MAX:
		return fmax(a, b);
	default:
		return a;
	}
}

static double of_one(enum hpc_formula_op op, double a)
{
	switch (op) {
	case HPC_FORMULA_SUB:
		return -a;
	case HPC_FORMULA_SQRT:
		return sqrt(a);
	case HPC_FORMULA_LOG:
		return log(a);
	case HPC_FORMULA_FLOOR:
		return floor(a);
	case HPC_FORMULA_STRICT_FLOOR:
		return ceil(a) - 1;
	case HPC_FORMULA_CEIL:
		return ceil(a);
	case HPC_FORMULA_STRICT_CEIL:
		return floor(a) + 1;
	default:
		return a;
	}
}

double hpc_formula_value(const struct hpc_formula *f, const double *inputs)
{
	double v;

	if (f->op == HPC_FORMULA_NUMBER)
		return f->number;
	if (f->op == HPC_FORMULA_INPUT)
		return inputs[f->input];
	v = hpc_formula_value(f->args[0], inputs);
	if (f->n_args == 1)
		return of_one(f->op, v);
	for (uint32_t i = 1; i < f->n_args; i++)
		v = fold(f->op, v, hpc_formula_value(f->args[i], inputs));
	return v;
}
