/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads DCPI's data as a database: a profile file, a tree EPOCH/HOST/FILE of them, or the text
 * dcpicat printed.  docs/formats/dcpi.md says how header lines become events and images. */
#ifndef PORT_DCPI_IN_H
#define PORT_DCPI_IN_H

#include "base/err.h"
#include "base/opts.h"
#include "model/profile.h"
#include "port/dcpi_kept.h"

/* Which profiles of a tree (and of a file, but for epochs and host).  All NULL or 0: each host's
 * latest epoch, everything in it. */
struct dcpi_select {
	/* Epochs, separated by commas: "latest" (each host's newest; also NULL), "all", a
	 * directory's name or the beginning of one, the same with four-digit years and seconds
	 * ("19980519", whatever the form of the name), or a range of these, ends included
	 * ("1998..200003").  The ends of a range may have two-digit years as names of ten digits
	 * do ("9805..0003", "9805191724..9805201200"). */
	const char *epochs;
	const char *host; /* directory name */
	const opt_list *labels, *events;
	unsigned stride; /* see dcpi_read */
	/* Told of files of a tree that cannot be read and are passed over; NULL: an error. */
	void (*problem)(void *ctx, const char *where, const char *why);
	void *problem_ctx;
	/* A second tree, whose files are read as though they were in the first; NULL: none. */
	const char *beside;
	struct dcpi_kept
		*kept; /* takes the header lines a profile has no place for; NULL: dropped */
};

/* Whether PATH is a profile file, dcpicat's text, or a tree that has a profile file: 1 or 0, or
 * a negative errno when it cannot be looked at. */
int dcpi_in_probe(const char *path);

/* A recording of a tree, EPOCH/HOST. */
struct dcpi_recording {
	const char *epoch, *host; /* directory names */
	int fd;			  /* of the directory */
	int beside_fd;		  /* of that in the second tree; -1: none */
	uint64_t epoch_s;	  /* since 1970 */
};

/* Calls EACH for the recordings of the tree PATH that SEL (epochs and host) takes, latest epochs
 * first, until it returns an error.  Returns how many there were, or the error. */
int dcpi_in_each(const char *path, const struct dcpi_select *sel,
		 int (*each)(void *ctx, const struct dcpi_recording *r), void *ctx,
		 struct err *err);

/* Calls EACH for the files of R that readers look at, in order of their names, until it returns an
 * error; the directory of each file is the `fd` of what EACH is given. */
int dcpi_in_each_file(const struct dcpi_recording *r,
		      int (*each)(void *ctx, const struct dcpi_recording *r, const char *name),
		      void *ctx, struct err *err);

/* Adds what SEL takes (NULL: everything) of PATH to P.  -ENOENT with the choices in the message
 * when it takes nothing that is there.  A file that is no profile or is damaged is an error that
 * names it, or a problem that is told while the others are read, except that files whose names
 * begin with '.' or end in ".log" or "~" are passed over in a tree.  On failure P
 * may hold a part. */
int dcpi_in_load(const char *path, const struct dcpi_select *sel, struct profile *p,
		 struct err *err);

#endif
