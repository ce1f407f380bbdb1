/* SPDX-License-Identifier: BSD-2-Clause */
/* DIR/.dwelld: where the database lies whose daemon keeps the DCPI tree in DIR up to date, so that
 * who knows the tree alone finds the daemon. */
#ifndef PORT_DCPI_NOTE_H
#define PORT_DCPI_NOTE_H

#include "base/err.h"

/* Makes DIR if it is not there, and notes that DB feeds it: afterwards files can be
 * written there. */
int dcpi_note_write(const char *dir, const char *db, struct err *err);

/* The database that feeds the tree in DIR, to be freed; NULL when nothing says so.  A note counts
 * if it belongs to root, to the caller, or to the owner of the database it names: nobody else may
 * send commands astray. */
char *dcpi_note_read(const char *dir);

#endif
