/* SPDX-License-Identifier: BSD-2-Clause */
/* What a reader asked of an HPCToolkit database: which metrics, which statistic over which threads;
 * and the numbers that contexts have then.
 *
 * The summary profile has the sums of all threads at once.  For some threads, their own values are
 * added.  Where rows stand for several contexts at once, a statistic other than the sum is made
 * anew from the values of all threads (cct.db), for means and extremes of sums are not sums of
 * them. */
#ifndef QUERY_HPC_QUERY_H
#define QUERY_HPC_QUERY_H

#include "query/rows/columns.h"
#include "query/hpc/db.h"
#include "query/select.h"

/* Over threads; those that have a value of the metric in a context count there, as in HPCToolkit's
 * own statistics. */
enum hpc_stat {
	HPC_STAT_SUM,
	HPC_STAT_MEAN,
	HPC_STAT_STDDEV,
	HPC_STAT_CFVAR, /* standard deviation over mean */
	HPC_STAT_MIN,
	HPC_STAT_MAX,
	N_HPC_STATS,
	/* Formulas of taxonomies use two more: */
	HPC_STAT_COUNT = N_HPC_STATS, /* how many threads */
	HPC_STAT_SQUARES,	      /* the sum of the squares */
	N_ALL_HPC_STATS
};

/* "sum", "mean", ... */
const char *hpc_stat_name(enum hpc_stat s);

/* What of a context a number is. */
enum hpc_amount {
	AMOUNT_INCLUSIVE, /* scope execution */
	AMOUNT_EXCLUSIVE, /* lex_aware, else function: loops without those in them */
	AMOUNT_FUNCTION,  /* function: with all that is lexically in it */
	AMOUNT_POINT,	  /* point: its own */
	N_AMOUNTS
};

/* Formulas that a database can have summaries of. */
enum hpc_summary_kind { HPC_SUM_N, HPC_SUM_X, HPC_SUM_X2, HPC_SUM_MIN, HPC_SUM_MAX, N_HPC_SUMS };

/* Ids of a metric in a scope. */
struct hpc_ids {
	bool has_prop, has_stat[N_HPC_SUMS];
	uint16_t prop, stat[N_HPC_SUMS];
};

struct hpc_col {
	const struct hpc_metric *metric; /* NULL: derived */
	enum hpc_stat stat;
	struct hpc_ids ids[N_AMOUNTS];
};

struct hpc_opts {
	const struct select *select; /* events, sort */
	opt_list stats;		     /* names, several joined by ','; none: sum */
	opt_list threads;	     /* see hpc_db_find_threads; none: all */
	opt_list derived;	     /* see cols_derive */
	const char *taxonomy;	     /* columns are what this file says (taxonomy.h); "own": the
					database's own.  NULL: they are metrics */
	bool all_metrics; /* all that are not 0, however many; else the most telling ones */
};

struct hpc_taxonomy;

struct hpc_query {
	const struct hpc_db *db;
	struct hpc_taxonomy *taxonomy; /* once it was needed */
	struct columns columns;
	VEC(struct hpc_col) cols; /* one for each of columns' */
	bool all_threads;
	profile_ids threads; /* chosen ones, unless all */
	bool *wanted;	     /* by profile; NULL: all */
	uint32_t n_threads;  /* chosen */
	unsigned n_more;     /* metrics that are not 0 and not shown, for want of room */
	struct hpc_profile summary;
	VEC(struct hpc_profile) selected; /* open, when looking into each is cheapest */
	double *by_thread[2];		  /* by profile */
	struct hpc_ctx_values last;	  /* looked up in the summary profile */
	bool has_last;
	struct arena arena;
};

/* Metrics as many as a table has room for. */
#define HPC_MOST_METRICS 4

/* Chooses the metrics, statistics and threads that OPTS name.  Errors: -ENOENT for what is not
 * there, -EINVAL for what is malformed, -EBADMSG for a damaged file. */
int hpc_query_init(struct hpc_query *q, const struct hpc_db *db, const struct hpc_opts *opts,
		   struct err *err);
void hpc_query_release(struct hpc_query *q);

/* Adds the column of M over threads by STAT, or finds the one there is; its number. */
unsigned hpc_query_add_col(struct hpc_query *q, const struct hpc_metric *m, enum hpc_stat stat,
			   bool hidden);

/* Adds to VALUES, one number per column, what AMOUNT of the contexts IDS, N together, is; derived
 * columns are left alone.  The contexts are disjoint: no thread's value is in two of them. */
int hpc_query_values(struct hpc_query *q, const uint32_t *ids, size_t n, enum hpc_amount amount,
		     double *values, struct err *err);

/* Adds up AMOUNT_INCLUSIVE and AMOUNT_EXCLUSIVE at once; each context is looked up once. */
int hpc_query_both(struct hpc_query *q, const uint32_t *ids, size_t n, double *inclusive,
		   double *exclusive, struct err *err);

/* What values of threads come to. */
struct hpc_moments {
	double n, x, x2, min, max; /* how many, their sum, that of their squares */
};
void hpc_moments_add(struct hpc_moments *m, double value);
double hpc_moments_stat(const struct hpc_moments *m, enum hpc_stat stat);

/* The values of AMOUNT of the contexts IDS together in column COL for each profile, in *RET by
 * profile index (nProfiles numbers, 0 where there is none or it is not chosen); borrowed until the
 * next call for either. */
int hpc_query_by_thread(struct hpc_query *q, const uint32_t *ids, size_t n, enum hpc_amount amount,
			unsigned col, const double **ret, struct err *err);

#endif
