/* SPDX-License-Identifier: BSD-2-Clause */
/* The file of --facts: bits and counters that a user adds. */
#ifndef DAEMON_FACTS_FILE_H
#define DAEMON_FACTS_FILE_H

#include "formats/facts/fact_defs.h"

/* Reads PATH into D, which is to be released, also after a failure.  Without a path: none. */
int facts_file_load(const char *path, struct fact_defs *d, struct err *err);

#endif
