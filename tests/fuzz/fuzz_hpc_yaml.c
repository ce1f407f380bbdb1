/* SPDX-License-Identifier: BSD-2-Clause */
/* metrics/default.yaml of HPCToolkit databases: any text is refused or becomes a sound tree. */
#include "formats/hpc/metrics_yaml.h"

#include <string.h>

#include "base/alloc.h"
#include "formats/hpc/texts.h"
#include "fuzz.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	static const char *const texts[] = {
		hpc_metrics_yaml_ex,
		"inputs: [&a {metric: m, scope: execution}, &b {<<: *a, scope: function}]\n"
		"roots: [{name: x, variants: {Sum: {formula: {inclusive: [2 *,[*a,-,*b],^,-2],\n"
		"  exclusive: {custom: {sqrt: [*a]}, standard: {'/': [*b, 3]}}}}}}]\n",
	};

	if (i >= sizeof(texts) / sizeof(texts[0]))
		return NULL;
	*ret_n = strlen(texts[i]);
	return xmemdup(texts[i], *ret_n);
}

static void use(const struct hpc_metric_tree *t, const struct hpc_formula *f, const double *values)
{
	volatile double v;

	if (!f)
		return;
	FUZZ_REQUIRE(f->op != HPC_FORMULA_INPUT || f->input < t->n_inputs);
	v = hpc_formula_value(f, values);
	(void)v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct hpc_metric_tree t;
	struct err err = {0};
	double *values;

	if (hpc_metric_tree_parse(&t, (const char *)data, n, "default.yaml", &err) < 0) {
		FUZZ_REQUIRE(*err.msg);
		return 0;
	}
	values = xcalloc(t.n_inputs + (size_t)1, sizeof(*values));
	for (uint32_t i = 0; i < t.n_nodes; i++) {
		const struct hpc_metric_node *m = &t.nodes[i];

		FUZZ_REQUIRE(m->name && (m->parent == HPC_NONE || m->parent < i));
		for (uint32_t k = 0; k < m->n_variants; k++) {
			use(&t, m->variants[k].inclusive, values);
			use(&t, m->variants[k].inclusive_standard, values);
			use(&t, m->variants[k].exclusive, values);
			use(&t, m->variants[k].exclusive_standard, values);
		}
	}
	free(values);
	hpc_metric_tree_release(&t);
	return 0;
}
