/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/file.h"
#include "base/wr.h"
#include "resolve/symcache.h"
#include "t.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

/* A random image: up to 300 procedures with names of all lengths, some beyond a block of names. */
static void make(struct t_rng *r, struct symtab *st, struct symcache_info *info)
{
	struct symtab_builder b = {0};
	unsigned n = (unsigned)t_below(r, t_below(r, 10) ? 20 : 300);
	static char name[40000];

	*info = (struct symcache_info){.kind = (enum image_kind)t_below(r, N_IMAGE_KINDS),
				       .source = (enum symtab_source)t_below(r, 4),
				       .path = t_below(r, 2) ? "/usr/bin/some program" : ""};
	info->layout.build_id.n_bytes = (uint8_t)(1 + t_below(r, 20));
	for (unsigned i = 0; i < info->layout.build_id.n_bytes; i++)
		info->layout.build_id.bytes[i] = (uint8_t)t_rand(r);
	info->layout.hashed = t_below(r, 2);
	if (t_below(r, 2)) {
		for (unsigned i = 0; i < IMAGE_DIGEST_BYTES; i++) {
			info->layout.digest[i] = (uint8_t)t_rand(r);
			info->content[i] = (uint8_t)t_rand(r);
		}
		info->is_claimed = t_below(r, 2);
	}
	info->layout.machine = (uint16_t)t_rand(r);
	info->layout.text_start = t_rand(r) >> t_below(r, 64);
	info->layout.text_bytes = t_rand(r) >> t_below(r, 64);
	info->layout.n_loads = (uint32_t)t_below(r, IMAGE_MAX_LOADS + 1);
	for (unsigned i = 0; i < info->layout.n_loads; i++)
		info->layout.loads[i] = (struct image_load){t_rand(r) >> t_below(r, 64),
							    t_rand(r) >> t_below(r, 64),
							    t_rand(r) >> t_below(r, 64)};
	for (unsigned i = 0; i < n; i++) {
		size_t n_name = 1 + t_below(r, t_below(r, 50) ? 60 : sizeof(name) - 1);

		for (size_t k = 0; k < n_name; k++)
			name[k] = (char)('A' + t_below(r, 50));
		symtab_builder_add(&b, t_rand(r) >> t_below(r, 64), 1 + t_below(r, 500), name,
				   n_name, (uint32_t)t_below(r, 16) & ~(uint32_t)PROC_ALIAS);
	}
	symtab_builder_finish(&b, st);
}

static bool same(const struct symtab *a, const struct symtab *b)
{
	if (a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++) {
		struct procedure p = symtab_get(a, i), q = symtab_get(b, i);

		if (p.start != q.start || p.end != q.end || p.flags != q.flags ||
		    strcmp(p.name, q.name) != 0 ||
		    symtab_find(a, p.end - 1) != symtab_find(b, p.end - 1))
			return false;
	}
	return true;
}

TEST(what_is_written_is_read)
{
	struct t_rng r = {3};

	for (unsigned i = 0; i < t_cases(300); i++) {
		struct symcache_info info;
		struct symtab st;
		struct symcache c;
		struct wr w = {0}, again = {0};
		struct err err = {0};

		make(&r, &st, &info);
		symcache_format(&info, &st, &w);
		REQUIRE(symcache_parse(&c, w.v, w.n, &err) == 0);
		EXPECT(same(&st, &c.symtab));
		EXPECT_EQ(symcache_check(&c, &err), 0);
		EXPECT_EQ(c.info.kind, info.kind);
		EXPECT_EQ(c.info.source, info.source);
		EXPECT_STR(c.info.path, info.path);
		EXPECT(image_digest_same(c.info.layout.digest, info.layout.digest));
		EXPECT(memcmp(c.info.content, info.content, sizeof(info.content)) == 0);
		EXPECT_EQ(c.info.is_claimed, info.is_claimed);
		EXPECT(memcmp(c.info.layout.loads, info.layout.loads,
			      info.layout.n_loads * sizeof(info.layout.loads[0])) == 0);
		symcache_format(&c.info, &c.symtab, &again);
		EXPECT(again.n == w.n && memcmp(again.v, w.v, w.n) == 0);
		symcache_close(&c);
		symtab_release(&st);
		wr_release(&w);
		wr_release(&again);
	}
}

/* A changed or missing byte is noticed: when opening, or as a name that reads "?". */
TEST(damage_is_noticed)
{
	struct t_rng r = {5};

	for (unsigned i = 0; i < t_cases(300); i++) {
		struct symcache_info info;
		struct symtab st;
		struct symcache c;
		struct wr w = {0};
		struct err err;
		size_t at;
		int rc;

		make(&r, &st, &info);
		symcache_format(&info, &st, &w);
		EXPECT(symcache_parse(&c, w.v, t_below(&r, w.n), &err) < 0);
		at = t_below(&r, w.n);
		w.v[at] ^= (uint8_t)(1 + t_below(&r, 255));
		rc = symcache_parse(&c, w.v, w.n, &err);
		if (rc == 0) {
			EXPECT_EQ(symcache_check(&c, &err), -EBADMSG);
			EXPECT(st.n == 0 || !same(&st, &c.symtab));
			symcache_close(&c);
		}
		symtab_release(&st);
		wr_release(&w);
	}
}

static char images[64];

/* Saves an entry of 4-byte build-id 1 that has one procedure called NAME. */
static int save(uint8_t digest, uint8_t content, bool is_claimed, enum symtab_source source,
		const char *name)
{
	struct symcache_info info = {.kind = IMAGE_FILE,
				     .source = source,
				     .path = "/bin/x",
				     .is_claimed = is_claimed,
				     .content = {content},
				     .layout = {.build_id = {4, {1}}, .digest = {digest}}};
	struct symtab_builder b = {0};
	struct symtab st;
	struct err err;
	int rc;

	symtab_builder_add(&b, 0x1000, 0x20, name, strlen(name), 0);
	symtab_builder_finish(&b, &st);
	rc = symcache_save(images, &info, &st, &err);
	symtab_release(&st);
	return rc;
}

/* What procedure 0 of the image with that digest is called; "" when the cache does not say. */
static const char *name_of(uint8_t digest, bool *ret_disputed)
{
	const struct image im = {.build_id = {4, {1}}, .digest = {digest}};
	static char name[32];
	struct symcache c;
	struct err err;

	*name = '\0';
	if (symcache_open(&c, images, &im, &err) < 0)
		return name;
	snprintf(name, sizeof(name), "%s", symtab_get(&c.symtab, 0).name);
	if (ret_disputed)
		*ret_disputed = c.is_disputed;
	symcache_close(&c);
	return name;
}

static void begin_images(char dir[])
{
	EXPECT(mkdtemp(dir) != NULL);
	snprintf(images, sizeof(images), "%s/a/images", dir);
}

static void end_images(const char *dir)
{
	char cmd[64];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	EXPECT_EQ(system(cmd), 0);
}

TEST(files)
{
	char dir[] = "/tmp/dwell-test-XXXXXX";
	const struct image im = {.build_id = {4, {1}}}, other = {.build_id = {4, {2}}};
	cache_entries entries = {0};
	struct symcache c;
	struct err err;

	begin_images(dir);
	EXPECT_EQ(symcache_open(&c, images, &im, &err), -ENOENT);
	EXPECT(!symcache_has(images, &im));
	REQUIRE(save(0, 0, false, SYMTAB_FULL, "old") == 0);
	EXPECT(symcache_has(images, &im));
	EXPECT_STR(name_of(0, NULL), "old");
	REQUIRE(save(0, 0, false, SYMTAB_FULL, "new") == 0); /* of generated code */
	EXPECT_STR(name_of(0, NULL), "new");
	EXPECT_EQ(symcache_open(&c, images, &other, &err), -ENOENT);
	EXPECT_EQ(symcache_save(images, &(struct symcache_info){0}, &c.symtab, &err), -ENOENT);
	EXPECT_EQ(symcache_list(images, &im.build_id, &entries, &err), 0);
	EXPECT_EQ(entries.n, 1);
	EXPECT_STR(entries.v[0].name, "symbols");
	EXPECT_EQ(symcache_remove(images, &im.build_id, &entries.v[0]), 0);
	EXPECT(!symcache_has(images, &im));
	vec_release(&entries);
	end_images(dir);
}

/* Two contents of one build-id, whichever comes first. */
TEST(a_copied_build_id_names_nothing_else)
{
	for (unsigned i = 0; i < 2; i++) {
		char dir[] = "/tmp/dwell-test-XXXXXX";
		const struct image unknown = {.build_id = {4, {1}}};
		struct symcache c;
		struct err err;

		begin_images(dir);
		if (i)
			EXPECT_EQ(save(9, 1, true, SYMTAB_FULL, "forged"), 0);
		EXPECT_EQ(save(7, 2, false, SYMTAB_DYNSYM, "right"), 0);
		/* Who knows only the build-id means the one there is. */
		EXPECT_STR(name_of(0, NULL), i ? "" : "right");
		if (!i)
			EXPECT_EQ(save(9, 1, true, SYMTAB_FULL, "forged"), 0);
		EXPECT_STR(name_of(7, NULL), "right");
		EXPECT_STR(name_of(9, NULL), "forged");
		EXPECT_STR(name_of(5, NULL), "");
		EXPECT_EQ(symcache_open(&c, images, &unknown, &err), -ENOTUNIQ);
		/* Written by 0.1.0. */
		EXPECT_EQ(save(0, 0, false, SYMTAB_FULL, "older"), 0);
		EXPECT_STR(name_of(0, NULL), "older");
		EXPECT_STR(name_of(7, NULL), "right");
		end_images(dir);
	}
}

/* Files of one digest that have other symbols. */
TEST(whose_file_is_believed)
{
	char dir[] = "/tmp/dwell-test-XXXXXX";
	const struct image im = {.build_id = {4, {1}}, .digest = {7}};
	cache_entries entries = {0};
	bool disputed = true;
	struct err err;

	begin_images(dir);
	EXPECT_EQ(save(7, 1, true, SYMTAB_FULL, "forged"), 0);
	EXPECT_STR(name_of(7, &disputed), "forged");
	EXPECT(!disputed && symcache_has(images, &im) && !symcache_has_believed(images, &im));
	EXPECT_EQ(save(7, 5, true, SYMTAB_FULL, "forged"), 0); /* other bytes, the same names */
	EXPECT_STR(name_of(7, &disputed), "forged");
	EXPECT(!disputed);
	EXPECT_EQ(save(7, 2, true, SYMTAB_FULL, "theirs"), 0);
	EXPECT_STR(name_of(7, &disputed), "forged");
	EXPECT(disputed);
	EXPECT_EQ(save(7, 3, false, SYMTAB_DYNSYM, "stripped"), 0);
	EXPECT_STR(name_of(7, &disputed), "stripped");
	EXPECT(!disputed && symcache_has_believed(images, &im));
	EXPECT_EQ(save(7, 4, false, SYMTAB_FULL, "right"), 0);
	EXPECT_STR(name_of(7, &disputed), "right");
	EXPECT(!disputed);
	/* Nobody fills the disk with claims, nor keeps others from being believed by them. */
	for (uint8_t i = 10; i < 30; i++)
		EXPECT_EQ(save(7, i, true, SYMTAB_FULL, "forged"), i < 15 ? 0 : -ENOSPC);
	EXPECT_EQ(save(7, 5, false, SYMTAB_FULL, "right"), 0);
	EXPECT_STR(name_of(7, NULL), "right");
	EXPECT_EQ(save(7, 5, false, SYMTAB_FULL, "same bytes, same symbols"), 0);
	EXPECT_STR(name_of(7, NULL), "right");
	EXPECT_EQ(symcache_list(images, &im.build_id, &entries, &err), 0);
	EXPECT_EQ(entries.n, 3 + SYMCACHE_MOST_CLAIMED);
	vec_release(&entries);
	end_images(dir);
}

/* An entry says what it is of, whatever it is called. */
TEST(a_renamed_entry_is_refused)
{
	char dir[] = "/tmp/dwell-test-XXXXXX", cmd[256];
	const struct image im = {.build_id = {4, {1}}, .digest = {7}};
	struct symcache c;
	struct err err;

	begin_images(dir);
	EXPECT_EQ(save(7, 1, true, SYMTAB_FULL, "forged"), 0);
	snprintf(cmd, sizeof(cmd),
		 "cd %s/01000000 && mv claimed-07* $(echo claimed-07* | sed s/claimed/symbols/)",
		 images);
	EXPECT_EQ(system(cmd), 0);
	EXPECT_EQ(symcache_open(&c, images, &im, &err), -ESTALE);
	end_images(dir);
}

TEST(a_newer_version_is_refused_by_name)
{
	struct t_rng r = {11};
	struct symcache_info info;
	struct symtab st;
	struct symcache c;
	struct wr w = {0};
	struct err err;

	make(&r, &st, &info);
	symcache_format(&info, &st, &w);
	for (unsigned bit = 0; bit < 16; bit++) { /* damage is no version */
		w.v[8 + bit / 8] ^= (uint8_t)(1u << bit % 8);
		EXPECT_EQ(symcache_parse(&c, w.v, w.n, &err), -EBADMSG);
		w.v[8 + bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	w.v[8] = 3;
	symcache_seal(w.v, w.n);
	EXPECT_EQ(symcache_parse(&c, w.v, w.n, &err), -EPROTONOSUPPORT);
	EXPECT_EQ(symcache_parse(&c, (const uint8_t *)"something else", 14, &err), -EBADMSG);
	EXPECT_EQ(symcache_parse(&c, w.v, 0, &err), -ENODATA);
	symtab_release(&st);
	wr_release(&w);
}

/* The file docs/formats/symbols.md shows, byte for byte. */
TEST(golden)
{
	struct symcache_info info = {
		.kind = IMAGE_FILE,
		.source = SYMTAB_FULL,
		.path = "/bin/x",
		.layout = {.build_id = {4, {0xde, 0xad, 0xbe, 0xef}},
			   .machine = 62, /* EM_X86_64 */
			   .text_start = 0x1000,
			   .text_bytes = 0x200,
			   .n_loads = 1,
			   .loads = {{.off = 0x1000, .svma = 0x1000, .n_bytes = 0x200}}},
	};
	struct symtab_builder b = {0};
	struct symtab st;
	struct wr w = {0};
	char *want;
	size_t n;
	struct err err;

	symtab_builder_add(&b, 0x1000, 0x20, "main", 4, 0);
	symtab_builder_add(&b, 0x1020, 0x10, "__work", 6, PROC_WEAK);
	symtab_builder_add(&b, 0x1020, 0x10, "work", 4, 0);
	symtab_builder_finish(&b, &st);
	symcache_format(&info, &st, &w);
	if (getenv("T_BLESS")) {
		FILE *f = fopen(T_GOLDEN "/symbols/small.symbols", "wb");

		fwrite(w.v, 1, w.n, f);
		fclose(f);
	}
	REQUIRE(file_load(T_GOLDEN "/symbols/small.symbols", 4096, &want, &n, &err) == 0);
	EXPECT(n == w.n && memcmp(want, w.v, n) == 0);
	free(want);
	wr_release(&w);
	symtab_release(&st);
}
