/* SPDX-License-Identifier: BSD-2-Clause */
/* The texts that stand in every HPCToolkit database, embedded when the program is built. */
#ifndef FORMATS_HPC_TEXTS_H
#define FORMATS_HPC_TEXTS_H

/* FORMATS.md: docs/formats/hpctoolkit.md. */
extern const char hpc_formats_md[];

/* metrics/METRICS.yaml.ex: docs/formats/METRICS.yaml.ex. */
extern const char hpc_metrics_yaml_ex[];

#endif
