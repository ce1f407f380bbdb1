/* SPDX-License-Identifier: BSD-2-Clause */
/* Histogram files that processes left behind (docs/formats/histogram.md): finds them beside the
 * DCPI tree they belong to and finishes them. */
#ifndef PORT_HISTOGRAMS_H
#define PORT_HISTOGRAMS_H

#include <stddef.h>

#include "base/err.h"

/* Turns each histogram file in directory DIR whose process is gone into profile files of the tree
 * there and removes it; each counts once, however many do this at a time, and whatever ends them.
 * Gives how many there were, or a negative errno: -EBADMSG and others naming the file.  Where the
 * directory may not be written to, they are left alone. */
int histograms_finish(const char *dir, struct err *err);

#endif
