/* SPDX-License-Identifier: BSD-2-Clause */
/* Histogram files that processes left behind (docs/formats/histogram.md): finds them beside the
 * DCPI tree they belong to, reads them, and finishes them when asked to. */
#ifndef PORT_HISTOGRAMS_H
#define PORT_HISTOGRAMS_H

#include <stddef.h>

#include "base/err.h"
#include "base/vec.h"

/* Turns each histogram file in directory DIR whose process is gone into profile files of the tree
 * there and removes it; each counts once, however many do this at a time, and whatever ends them.
 * Gives how many there were, or a negative errno: -EBADMSG and others naming the file.  Where the
 * directory may not be written to, they are left alone. */
int histograms_finish(const char *dir, struct err *err);

/* How many files in DIR belong to processes that are gone.  Writes nothing. */
size_t histograms_count(const char *dir);

/* What such files hold, as a private DCPI tree. */
struct histograms {
	char *tree;   /* NULL: there are no files */
	VEC(int) fds; /* of the files, which nobody finishes meanwhile */
};

/* Makes profile files of DIR's histogram files in a temporary directory and leaves DIR as it is.
 * Errors name the file that is damaged.  histograms_close removes the directory. */
int histograms_open(struct histograms *h, const char *dir, struct err *err);
void histograms_close(struct histograms *h);

#endif
