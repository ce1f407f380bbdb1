/* SPDX-License-Identifier: BSD-2-Clause */
/* What the daemon gives up when it has started. */
#ifndef DAEMON_SHED_H
#define DAEMON_SHED_H

#include "base/err.h"

/* From now on this process has the capabilities that sampling needs and makes only the system calls
 * that it needs, whoever started it.  DB and DCPI (NULL: none) are what it goes on writing to.  An
 * error says what could not be given up. */
int shed_rights(const char *db, const char *dcpi, struct err *err);

#endif
