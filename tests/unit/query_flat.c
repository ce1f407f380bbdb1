/* SPDX-License-Identifier: BSD-2-Clause */
/* Flat views of a profile with call paths are those of the same profile flattened: whatever shows
 * places shows the same sums, to the byte. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "gen.h"
#include "port/dcpi_cat.h"
#include "port/dcpi_out.h"
#include "tree_t.h"
#include "view/cat.h"
#include "view/list.h"
#include "query/samples/source.h"
#include "view/prof.h"
#include "view/top.h"

/* P's samples at their places alone, in a profile of its own with other ids. */
static void flatten(const struct profile *p, struct profile *ret)
{
	struct profile copy;
	struct profile_map m;

	profile_init(ret);
	profile_init(&copy);
	m = profile_merge_dicts(&copy, p); /* for the meta, the events' sums and the losses */
	profile_map_release(&m);
	copy.ctxs.n = 1; /* without callers: nothing but the root */
	copy.flats.n = 0;
	copy.ctx_kin.n = 0;
	index_clear(&copy.ctx_ix);
	vec_each (v, &p->values) {
		struct value flat = *v;

		flat.ctx = profile_flat_ctx(&copy, p->ctxs.v[v->ctx].place);
		profile_add_value(&copy, &flat);
	}
	profile_check(&copy);
	profile_merge(ret, &copy);
	profile_release(&copy);
}

/* Everything the views say, in formats that leave nothing out. */
static void show_query(struct query *q, struct str *out)
{
	static const struct row_by bys[] = {{{ROW_KEY_IMAGE}, 1},
					    {{ROW_KEY_PROCEDURE}, 1},
					    {{OWNER_KEY_COMM, ROW_KEY_IMAGE}, 2}};
	struct emit e = {.out = out, .format = EMIT_JSON};
	image_ids one = {0};
	struct flat_opts o = {.keep_pct = 100};
	struct source *s;
	struct flat f;

	REQUIRE(samples_source_of(&s, q, NULL, NULL) == 0);
	for (size_t i = 0; i < n_elems(bys); i++) {
		o.by = bys[i];
		o.level = i == 1 ? SCOPE_PROCEDURE : SCOPE_IMAGE;
		EXPECT_EQ(source_flat(s, &o, &f, NULL), 0);
		prof_emit(&e, &f, &(struct prof_opts){.show_kind = true});
		flat_release(&f);
	}
	o.level = SCOPE_ADDRESS;
	EXPECT_EQ(source_flat(s, &o, &f, NULL), 0);
	top_emit(&e, &f, false);
	flat_release(&f);
	if (!q->n_spots) {
		source_close(s);
		return;
	}
	/* One image's code around its first address. */
	vec_push(&one, q->spots[0].image);
	for (int mode = LIST_BEST; mode <= LIST_ASM; mode += LIST_ASM) {
		_mem_ char *at = xasprintf("%#llx", (unsigned long long)q->spots[0].svma);
		struct sources *sources = sources_new();
		found_list found = {0};
		struct listing l;

		const struct listing_name name = {.name = at, .images = &one};

		if (listing_find(q, &s->columns, &name, &found, NULL) == 0) {
			listing_open(&l, q, &s->columns, &found.v[0], sources);
			list_emit(&e, s, &l, &(struct list_opts){.mode = (enum list_mode)mode});
			listing_close(&l);
		}
		vec_release(&found);
		sources_free(sources);
	}
	vec_release(&one);
	source_close(s);
}

static VEC(char *) tree_files; /* of the tree being walked: name and bytes */

static int add_file(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	struct str text = {0};
	char *bytes;
	size_t n;

	if (flag != FTW_F)
		return 0;
	if (file_load(path, 1 << 30, &bytes, &n, NULL) < 0)
		return -1;
	str_addf(&text, "%s ", path + ftw->base);
	for (size_t i = 0; i < n; i++)
		str_addf(&text, "%02x", (uint8_t)bytes[i]);
	free(bytes);
	vec_push(&tree_files, xstrdup(str_get(&text)));
	str_release(&text);
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The DCPI tree of P: names and bytes of its files, in the order of names. */
static void show_dcpi(const struct profile *p, struct str *out)
{
	struct dcpi_out_opts o = {.minor = 7, .stride = 1};
	char dir[] = "/tmp/dwell-flat-XXXXXX";
	struct dcpi_out_stats stats = {0};
	int rc;

	EXPECT(mkdtemp(dir) != NULL);
	rc = dcpi_out_save(p, &o, dir, &stats, NULL);
	str_addf(out, "%d %zu files %llu samples\n", rc, stats.n_files,
		 (unsigned long long)stats.n_samples);
	EXPECT_EQ(nftw(dir, add_file, 8, FTW_PHYS), 0);
	vec_sort(&tree_files, by_text);
	vec_each (file, &tree_files) {
		str_addf(out, "%s\n", *file);
		free(*file);
	}
	vec_release(&tree_files);
	tree_remove(dir);
}

static char *show(const struct profile *p, bool dcpi)
{
	struct resolver *r = resolver_new(
		&(struct resolver_opts){.no_save = true, .proc_dir = "/none", .sys_dir = "/none"});
	struct emit e = {.format = EMIT_JSON};
	struct str out = {0};
	struct query q;
	struct select s = {0};
	char *ret;

	if (query_init(&q, p, r, &s, NULL) == 0) {
		show_query(&q, &out);
		query_release(&q);
	}
	e.out = &out;
	cat_emit(&e, p, NULL);
	dcpi_cat_format(p, NULL, NULL, &out);
	if (dcpi)
		show_dcpi(p, &out);
	resolver_free(r);
	ret = xstrdup(str_get(&out));
	str_release(&out);
	return ret;
}

TEST(views_of_call_paths_are_flat_ones)
{
	unsigned n_deep = 0;

	for (unsigned i = 1; i <= t_cases(60); i++) {
		struct t_rng rng = {.s = i};
		struct profile p, flat;
		_mem_ char *a = NULL, *b = NULL;

		gen_profile(&rng, &p, (unsigned)t_below(&rng, 200));
		vec_each (v, &p.values) {
			v->count = v->count % 1000 + 1; /* what fits a DCPI file */
			n_deep += p.ctxs.v[v->ctx].parent != 0;
		}
		flatten(&p, &flat);
		vec_each (c, &flat.ctxs)
			EXPECT_EQ(c->parent, 0);
		for (event_id e = 0; e < p.events.n; e++)
			EXPECT_EQ(profile_n_samples(&p, e), profile_n_samples(&flat, e));
		/* A tree is hundreds of files: every fifth profile has its own. */
		a = show(&p, i % 5 == 0);
		b = show(&flat, i % 5 == 0);
		EXPECT(strlen(a) > 100);
		if (strcmp(a, b) != 0) {
			size_t at = 0;

			while (a[at] == b[at])
				at++;
			t_fail_("case %u differs: \"%.200s\" and \"%.200s\"", i,
				a + (at > 100 ? at - 100 : 0), b + (at > 100 ? at - 100 : 0));
		}
		profile_release(&p);
		profile_release(&flat);
	}
	EXPECT(n_deep > 500);
}
