/* SPDX-License-Identifier: BSD-2-Clause */
/* What is read, whatever its format: samples (a dwell database, DCPI profiles, perf.data) or an
 * HPCToolkit database.
 *
 * A source answers each question once, in numbers of its columns (rows/columns.h), so that a
 * command, a picture and an export need to know nothing of formats.  To add a format, write what
 * fills a source and append a row to the table in open.c.
 *
 *     opens   table in open.c ---> struct source
 *     rows    source_flat, source_neighbours ---> struct flat   (rows/flat.h)
 *     trees   source_tree ---> struct tree_source               (rows/tree_rows.h)
 *     code    source_listing ---> struct listing                (rows/listing.h)
 *     blocks  source_blocks ---> struct blocks                  (rows/blocks.h)
 *     time    source_thread_lines ---> struct thread_lines            (rows/thread_lines.h)
 *
 * One thread at a time may use a source.  Whatever it fills must be released before the source is
 * closed. */
#ifndef QUERY_SOURCE_H
#define QUERY_SOURCE_H

#include "query/rows/blocks.h"
#include "query/rows/columns.h"
#include "query/rows/flat.h"
#include "query/rows/listing.h"
#include "query/rows/thread_lines.h"
#include "query/rows/tree_rows.h"
#include "query/samples/tree.h"
#include "query/select.h"

/* Features that some sources lack. */
enum source_feature {
	SOURCE_SAMPLES,	   /* samples as stored: exports and bundles of them */
	SOURCE_RECORDINGS, /* epochs, hosts, times: what chooses among recordings */
	SOURCE_OWNERS,	   /* commands, processes, users: `comm`, `pid`, ... */
	SOURCE_SETS,	   /* sample sets and standard errors (--pm, --error) */
	SOURCE_METRICS,	   /* metrics over threads (--stat, --thread, --taxonomy, --all-metrics) */
	SOURCE_CONTEXTS,   /* contexts with numbers, and rows of threads (--context) */
	SOURCE_FILES,	   /* rows of files and loops */
	SOURCE_CODE,	   /* instructions */
	SOURCE_TIMES,	   /* time lines of threads */
};

/* What a path names. */
enum source_kind {
	SOURCE_STORE = 1 << 0,
	SOURCE_STORES = 1 << 1, /* a directory of several dwell databases */
	SOURCE_DCPI_TREE = 1 << 2,
	SOURCE_DCPI_FILE = 1 << 3,
	SOURCE_PERF = 1 << 4,
	SOURCE_HPC = 1 << 5,
	SOURCE_HISTOGRAMS = 1 << 6, /* files that processes left behind, and no tree yet */
	SOURCE_EMPTY = 1 << 7,	    /* a directory */
	SOURCE_HPC_FILE = 1 << 8,   /* part of an HPCToolkit database */
	SOURCE_HPCRUN = 1 << 9,	    /* what HPCToolkit's hpcrun left */
	SOURCE_HISTOGRAM = 1 << 10, /* one of such files */
	SOURCE_OTHER = 1 << 11,	    /* a profile of another tool (port/importers.h) */
	SOURCE_NOTHING = 1 << 12,   /* none of them, or not there */
	SOURCE_FLEET = 1 << 13,	    /* a fleet's database, by its address */
};

struct source;

/* Text above the tables of a source that has no account of samples. */
struct source_about {
	const char *line; /* for people */
	const char *more; /* what else could be shown; NULL: nothing */
	struct {
		const char *key, *text; /* TEXT NULL: N */
		uint64_t n;
	} facts[8];
	unsigned n_facts;
};

/* A function may be NULL where why_not gives the reason. */
struct source_ops {
	void (*close)(struct source *s);

	/* Returns NULL when S has F, else one sentence that says why it lacks it.  The sentence may
	 * begin with "is": the option that asks comes before it. */
	const char *(*why_not)(const struct source *s, enum source_feature f);

	/* Fills RET's rows and what is said of them; source_flat settles, sorts and keeps. */
	int (*flat)(struct source *s, const struct flat_opts *o, struct flat *ret, struct err *err);
	int (*neighbours)(struct source *s, const struct neighbour_opts *o, struct flat *ret,
			  struct err *err);

	/* Names the rows that were kept; NULL: they have their names. */
	void (*name)(struct source *s, struct flat *f);

	/* Orders rows that have equal numbers by what they are; NULL: keeps their order. */
	int (*compare)(const struct flat *f, const struct flat_row *a, const struct flat_row *b);

	/* Returns IMAGE's name, kind and build-id, for JSON and CSV. */
	struct flat_image (*image)(struct source *s, image_id image);

	/* A tree, to be released by tree_source_close. */
	int (*tree)(struct source *s, const struct tree_opts *o, enum tree_form form,
		    struct tree_source **ret, struct err *err);

	/* The procedure that O names, annotated. */
	int (*listing)(struct source *s, const struct listing_opts *o, struct sources *sources,
		       struct listing *ret, struct err *err);

	/* Lines of threads over time. */
	int (*thread_lines)(struct source *s, const struct thread_line_opts *o,
			    struct thread_lines *ret, struct err *err);

	/* Fills RET with the text above S's tables; NULL: header_emit gives an account of
	 * samples. */
	void (*about)(struct source *s, struct source_about *ret);
};

struct source {
	const struct source_ops *ops;
	const char *format; /* as messages call it: "HPCToolkit database" */
	char *path;	    /* what was opened */
	enum source_kind kind;
	struct columns columns;
	struct query *query; /* of samples; NULL: values of contexts */
};

struct source_opts {
	const struct select *select;
	opt_list stats;	      /* over threads, several joined by ','; none: sum */
	opt_list threads;     /* hpc/db.h: hpc_db_find_threads; none: all */
	opt_list derived;     /* more columns, see cols_derive */
	const char *taxonomy; /* a file that says what the columns are; "own": the database's */
	bool all_metrics;     /* all that are not 0, however many */
};

/* Refuses to read samples of PATH, and says what it is and what would help: -EINVAL. */
int source_refuse_reading(const char *path, struct err *err);

/* Opens what O's selection names and keeps columns as O says.  Writes nothing but symbols that it
 * keeps.  Errors: -ENOENT: nothing there or nothing selected; -EPROTONOSUPPORT: newer; -EBADMSG:
 * damaged; -EINVAL: an option means nothing there. */
int source_open(struct source **ret, const struct source_opts *o, struct err *err);
void source_close(struct source *s);

/* Whether source_open would open PATH, or refuse it by name. */
bool source_probe(const char *path);

/* Returns the one kind that PATH is. */
enum source_kind source_kind_of(const char *path);

/* Returns 0 when PATH is one of KINDS or cannot be looked at.  Else -EINVAL with one sentence: what
 * PATH is, and that COMMAND takes TAKES ("a dwell database or a DCPI tree"). */
int source_check_kind(const char *path, unsigned kinds, const char *command, const char *takes,
		      struct err *err);

/* 0 when S has F; else -EINVAL with WHAT, the option that asks for it, and the reason. */
int source_needs(const struct source *s, enum source_feature f, const char *what, struct err *err);

/* Fills RET with the rows that O keeps, sorted and named.  Release RET in any case. */
int source_flat(struct source *s, const struct flat_opts *o, struct flat *ret, struct err *err);

/* Fills RET with the callers or callees of a procedure, as rows.  -ENOENT: it is not there. */
int source_neighbours(struct source *s, const struct neighbour_opts *o, struct flat *ret,
		      struct err *err);

int source_tree(struct source *s, const struct tree_opts *o, enum tree_form form,
		struct tree_source **ret, struct err *err);
void tree_source_close(struct tree_source *t);

/* Annotates the procedure that O names, the hottest of several.  Close RET with listing_close after
 * success. */
int source_listing(struct source *s, const struct listing_opts *o, struct sources *sources,
		   struct listing *ret, struct err *err);

/* Fills RET with the blocks of L, a listing of S; see blocks_gather. */
int source_blocks(struct source *s, const struct listing *l, const struct exact_counts *exact,
		  struct blocks *ret, struct err *err);

/* Fills RET with threads' lines over time.  Release RET in any case. */
int source_thread_lines(struct source *s, const struct thread_line_opts *o,
			struct thread_lines *ret, struct err *err);

#endif
