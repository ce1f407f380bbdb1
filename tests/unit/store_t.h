/* SPDX-License-Identifier: BSD-2-Clause */
/* What the store's tests share: scratch databases, small profiles, totals. */
#ifndef TESTS_UNIT_STORE_T_H
#define TESTS_UNIT_STORE_T_H

#include <ftw.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/str.h"
#include "store/store.h"
#include "t.h"
#include "tree_t.h"

struct scratch {
	char dir[32], db[40];
};

/* Returns where scratch databases lie: in memory where it has room.  The tests make thousands of
 * small files, and on a disk most of their time is the kernel's, for fsync. */
static inline const char *scratch_root(void)
{
	struct statvfs v;

	return statvfs("/dev/shm", &v) == 0 && v.f_bavail * v.f_frsize >= 256u << 20 &&
			       access("/dev/shm", W_OK | X_OK) == 0
		       ? "/dev/shm"
		       : "/tmp";
}

static inline struct scratch scratch_new(void)
{
	struct scratch t;

	snprintf(t.dir, sizeof(t.dir), "%s/dwell-test-XXXXXX", scratch_root());
	if (!mkdtemp(t.dir))
		abort();
	snprintf(t.db, sizeof(t.db), "%s/db", t.dir);
	return t;
}

static inline void scratch_release(struct scratch *t)
{
	tree_remove(t->dir);
}

static const char *t_suffix_;
static int t_found_;

static inline int t_count_(const char *path, const struct stat *st, int flag, struct FTW *f)
{
	t_found_ += flag == FTW_F && str_ends(path, t_suffix_);
	return 0;
}

/* Files anywhere in the database whose path ends in SUFFIX. */
static inline int t_files(const struct scratch *t, const char *suffix)
{
	t_suffix_ = suffix;
	t_found_ = 0;
	nftw(t->db, t_count_, 16, FTW_PHYS);
	return t_found_;
}

static inline int t_add_segments_(void *n, const struct store_recording *r)
{
	*(int *)n += (int)r->n_segments;
	return 0;
}

/* Segments that all MANIFESTs name. */
static inline int t_named_segments(const struct scratch *t)
{
	struct err err = {0};
	int n = 0, rc;

	rc = store_list(t->db, &(struct store_selection){.epochs = "all"}, t_add_segments_, &n,
			&err);
	if (rc < 0)
		t_fail_("store_list: %s", err.msg);
	return n;
}

/* A small profile with N samples in all. */
static inline void t_profile(struct profile *p, uint64_t n)
{
	image_id image;
	event_id e;

	profile_init(p);
	p->meta.start_wall_ns = 1000;
	p->meta.end_wall_ns = 2000;
	e = profile_intern_event(p, &(struct event){.name = profile_intern_str(p, "cycles"),
						    .period = 1000,
						    .n_reached = n});
	image = profile_intern_image(p, &(struct image){.kind = IMAGE_FILE, .path = "/bin/x"});
	for (uint64_t i = 0; n; i++) {
		uint64_t k = n < 3 ? n : 3;

		profile_add_value(
			p, &(struct value){.ctx = profile_flat_ctx(
						   p, profile_intern_place(p, image, 64 * i, 0)),
					   .event = e,
					   .count = k});
		n -= k;
	}
}

static inline struct store *t_create(const struct scratch *t, const char *host)
{
	struct store *s = NULL;
	struct err err = {0};

	if (store_create(t->db, &(struct store_opts){.host = host, .compact_at = 4}, &s, &err) < 0)
		t_fail_("store_create: %s", err.msg);
	return s;
}

/* Stores a finished recording of HOST with N samples, which lasted from BEGIN_NS (wall clock) for
 * FOR_NS. */
static inline void t_put_recording(const struct scratch *t, const char *host, uint64_t begin_ns,
				   uint64_t for_ns, uint64_t n)
{
	struct store_opts o = {.host = host, .now_wall_ns = begin_ns};
	struct store *s = NULL;
	struct err err = {0};
	struct profile p;

	t_profile(&p, n);
	p.meta.start_wall_ns = begin_ns;
	p.meta.end_wall_ns = begin_ns + for_ns;
	if (store_create(t->db, &o, &s, &err) < 0 || store_flush(s, &p, NULL, 0, &err) < 0 ||
	    store_close(s, &err) < 0)
		t_fail_("%s", err.msg);
	profile_release(&p);
}

/* All samples in the recordings of EPOCHS; -1 and a failed test when they cannot be loaded. */
static inline int64_t t_total(const struct scratch *t, const char *epochs)
{
	struct err err = {0};
	struct profile p;
	int64_t n = 0;
	int rc;

	profile_init(&p);
	rc = store_load(t->db, &(struct store_selection){.epochs = epochs}, &p, NULL, &err);
	if (rc < 0) {
		t_fail_("store_load: %s", err.msg);
		n = -1;
	}
	for (event_id e = 0; e < p.events.n && rc >= 0; e++) {
		n += (int64_t)profile_n_samples(&p, e);
		EXPECT_EQ(profile_n_samples(&p, e), p.events.v[e].n_reached);
	}
	profile_check(&p);
	profile_release(&p);
	return n;
}

#endif
