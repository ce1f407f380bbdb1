/* SPDX-License-Identifier: BSD-2-Clause */
/* Where symbols come from as files come, change and go. */
#include "base/cleanup.h"
#include "base/vec.h"
#include "resolve/elf_probe.h"
#include "resolve/resolver.h"
#include "sh_t.h"
#include "t.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>

/* A fresh directory with prog (unstripped), and an image that describes it. */
static bool set_up(struct image *im, char path[128])
{
	struct image_layout l;
	_fd_ int fd = -1;

	strcpy(strstr(dir, "test-") + 5, "XXXXXX");
	if (!mkdtemp(dir) ||
	    sh("echo 'static int __attribute__((noinline)) hot(int x) { return x * 3; }"
	       " int main(int c, char **v) { return hot(c); }' > p.c && gcc -g -O1 p.c "
	       "-o prog") != 0)
		return false;
	snprintf(path, 128, "%s/prog", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (elf_probe(fd, &l, NULL) < 0)
		return false;
	*im = (struct image){.kind = IMAGE_FILE, .build_id = l.build_id, .path = path};
	return true;
}

static struct resolver *resolver(const char *cache, const char *extra)
{
	static char cache_dir[128], extra_dir[128], debug_root[128];
	static const char *const paths[] = {extra_dir};

	snprintf(cache_dir, sizeof(cache_dir), "%s/%s", dir, cache ? cache : "");
	snprintf(extra_dir, sizeof(extra_dir), "%s/%s", dir, extra ? extra : "");
	snprintf(debug_root, sizeof(debug_root), "%s/debug", dir);
	return resolver_new(&(struct resolver_opts){.cache_dir = cache ? cache_dir : NULL,
						    .paths = paths,
						    .n_paths = extra ? 1 : 0,
						    .debug_root = debug_root});
}

static bool has_hot(const struct symtab *st)
{
	proc_list l = {0};
	bool found;

	symtab_find_name(st, "hot", &l);
	found = l.n == 1;
	vec_release(&l);
	return found;
}

/* The status of IM for a fresh resolver, and whether it knows the procedure hot. */
static enum resolve_status look(const struct image *im, const char *cache, const char *extra,
				bool *ret_hot)
{
	struct resolver *r = resolver(cache, extra);
	const struct resolved *res = resolver_image(r, im);
	enum resolve_status status = res->status;
	proc_list l = {0};

	symtab_find_name(res->symtab, "hot", &l);
	*ret_hot = l.n == 1;
	if (*ret_hot) {
		struct procedure p, q;

		p = symtab_get(res->symtab, l.v[0]);
		EXPECT(resolver_find(r, im, p.end - 1, &q) && q.start == p.start);
		EXPECT_STR(q.name, "hot");
		EXPECT_STR(resolver_name(r, im, p.index, false), "hot");
	}
	EXPECT_EQ(resolver_note(r, im) == NULL, status == RESOLVE_OK || status == RESOLVE_PARTIAL);
	vec_release(&l);
	resolver_free(r);
	return status;
}

static void clean(void)
{
	sh("rm -rf %s", dir);
}

TEST(cached_symbols_outlive_the_file)
{
	struct image im;
	char path[128];
	bool hot;

	REQUIRE(set_up(&im, path));
	EXPECT_EQ(look(&im, "images", NULL, &hot), RESOLVE_OK);
	EXPECT(hot);
	unlink(path);
	EXPECT_EQ(look(&im, NULL, NULL, &hot), RESOLVE_MISSING);
	EXPECT(!hot);
	EXPECT_EQ(look(&im, "images", NULL, &hot), RESOLVE_OK);
	EXPECT(hot);
	clean();
}

static bool is_still_late(void *ctx, const struct image *im)
{
	unsigned *n_asked = ctx;

	return ++*n_asked < 2;
}

TEST(symbols_that_are_late)
{
	unsigned n_asked = 0;
	struct resolver *r = resolver_new(
		&(struct resolver_opts){.is_late = is_still_late, .late_ctx = &n_asked});
	struct image im;
	char path[128];
	proc_list l = {0};

	REQUIRE(set_up(&im, path));
	for (int i = 0; i < 3; i++) {
		const struct resolved *res = resolver_image(r, &im);

		EXPECT_EQ(res->status, RESOLVE_MISSING);
		EXPECT_EQ(res->symtab->n, 0);
		EXPECT(!resolver_note(r, &im));
	}
	EXPECT_EQ(n_asked, 1); /* once a look */
	resolver_look_again(r);
	EXPECT_EQ(resolver_image(r, &im)->status, RESOLVE_OK);
	EXPECT(!resolver_note(r, &im));
	symtab_find_name(resolver_image(r, &im)->symtab, "hot", &l);
	EXPECT_EQ(l.n, 1);
	resolver_look_again(r);
	EXPECT_EQ(resolver_image(r, &im)->status, RESOLVE_OK);
	EXPECT_EQ(n_asked, 2);
	vec_release(&l);
	resolver_free(r);
}

TEST(a_rebuilt_file_is_not_used)
{
	struct image im;
	char path[128];
	bool hot;
	struct resolver *r;
	struct err err;

	REQUIRE(set_up(&im, path));
	REQUIRE(sh("sed -i 's/x . 3/x * 5/' p.c && mv prog old && gcc -O1 p.c -o prog") == 0);
	EXPECT_EQ(look(&im, NULL, NULL, &hot), RESOLVE_STALE);
	EXPECT(!hot);
	r = resolver(NULL, NULL);
	EXPECT_EQ(resolver_open_code(r, &im, NULL, &err), -ESTALE);
	EXPECT(strstr(err.msg, "prog") != NULL);
	resolver_free(r);
	/* The old one is found where the user says, as a file or below a directory. */
	EXPECT_EQ(look(&im, NULL, "old", &hot), RESOLVE_OK);
	EXPECT(hot);
	REQUIRE(sh("mkdir -p more && mv old more/prog") == 0);
	EXPECT_EQ(look(&im, NULL, "more", &hot), RESOLVE_OK);
	EXPECT(hot);
	clean();
}

/* Samples kept by file offset get the procedures that lie there. */
TEST(images_known_by_offset)
{
	struct image im, by_off;
	char path[128];
	struct image_layout l;
	struct resolver *r;
	struct procedure p, q;
	proc_list found = {0};
	int fd;

	REQUIRE(set_up(&im, path));
	REQUIRE(sh("gcc -O1 -no-pie p.c -o prog") == 0); /* off and svma differ */
	fd = open(path, O_RDONLY);
	REQUIRE(elf_probe(fd, &l, NULL) == 0);
	close(fd);
	im.build_id = l.build_id;
	by_off = im;
	by_off.flags |= IMAGE_OFFSETS;
	for (int cached = 0; cached < 2; cached++) {
		r = resolver("images", NULL);
		found.n = 0;
		symtab_find_name(resolver_image(r, &im)->symtab, "hot", &found);
		REQUIRE(found.n == 1);
		p = symtab_get(resolver_image(r, &im)->symtab, found.v[0]);
		REQUIRE(resolver_find(r, &by_off, p.start - l.loads[0].svma + l.loads[0].off, &q));
		EXPECT_STR(q.name, "hot");
		EXPECT_EQ(q.end - q.start, p.end - p.start);
		EXPECT(q.start != p.start && !resolver_find(r, &by_off, p.start, &q));
		resolver_free(r);
	}
	vec_release(&found);
	clean();
}

TEST(the_recorder_saves_what_it_has_open)
{
	struct image im;
	char path[128];
	bool hot;
	struct err err;
	struct resolver *r;
	int fd;

	REQUIRE(set_up(&im, path));
	fd = open(path, O_RDONLY);
	unlink(path);
	r = resolver("images", NULL);
	EXPECT_EQ(resolver_save(r, &im, fd, &err), 0);
	im.build_id.bytes[0] ^= 1;
	EXPECT_EQ(resolver_save(r, &im, fd, &err), -ESTALE);
	im.build_id.bytes[0] ^= 1;
	resolver_free(r);
	close(fd);
	EXPECT_EQ(look(&im, "images", NULL, &hot), RESOLVE_OK);
	EXPECT(hot);
	clean();
}

TEST(separate_debug_files)
{
	struct image im;
	char path[128], hex[2 * BUILD_ID_MAX + 1];
	bool hot;
	struct resolver *r;
	struct err err;
	char *where = NULL;
	int fd;

	REQUIRE(set_up(&im, path));
	build_id_format(&im.build_id, hex);
	REQUIRE(sh("objcopy --only-keep-debug prog prog.dbg && strip -s prog && "
		   "objcopy --add-gnu-debuglink=prog.dbg prog && mkdir -p debug") == 0);
	EXPECT_EQ(look(&im, NULL, NULL, &hot), RESOLVE_OK); /* beside it */
	EXPECT(hot);
	REQUIRE(sh("mkdir .debug && mv prog.dbg .debug/") == 0);
	EXPECT_EQ(look(&im, NULL, NULL, &hot), RESOLVE_OK);
	EXPECT(hot);
	REQUIRE(sh("mkdir -p debug%s && mv .debug/prog.dbg debug%s/", dir, dir) == 0);
	EXPECT_EQ(look(&im, NULL, NULL, &hot), RESOLVE_OK);
	EXPECT(hot);
	REQUIRE(sh("cp debug%s/prog.dbg kept && echo >> debug%s/prog.dbg", dir, dir) == 0);
	EXPECT_EQ(look(&im, NULL, NULL, &hot), RESOLVE_PARTIAL); /* the checksum differs */
	EXPECT(!hot);
	/* A cache of the stripped file is completed by a debug file that appears later. */
	EXPECT_EQ(look(&im, "images", NULL, &hot), RESOLVE_PARTIAL);
	REQUIRE(sh("mkdir -p debug/.build-id/%.2s && mv kept debug/.build-id/%.2s/%s.debug", hex,
		   hex, hex + 2) == 0);
	r = resolver("images", NULL);
	EXPECT(!has_hot(resolver_kept_symbols(r, &im)) && resolver_kept_symbols(r, &im)->n > 0);
	EXPECT(has_hot(resolver_image(r, &im)->symtab));
	EXPECT(has_hot(resolver_kept_symbols(r, &im)));
	resolver_free(r);
	EXPECT_EQ(look(&im, "images", NULL, &hot), RESOLVE_OK);
	EXPECT(hot);
	r = resolver("images", NULL);
	EXPECT(has_hot(resolver_kept_symbols(r, &im))); /* what was found is kept now */
	resolver_free(r);
	r = resolver(NULL, NULL);
	EXPECT(has_hot(resolver_kept_symbols(r, &im))); /* nothing is kept: all there are */
	fd = resolver_open_debug(r, &im, &where, &err);
	EXPECT(fd >= 0 && where && strstr(where, ".build-id"));
	close(fd);
	free(where);
	resolver_free(r);
	unlink(path);
	EXPECT_EQ(look(&im, "images", NULL, &hot), RESOLVE_OK);
	EXPECT(hot);
	clean();
}

/* One with the same build-id and other code is another program's, whatever its name says. */
TEST(a_debug_file_of_another_program)
{
	struct image im;
	struct image_layout l;
	char path[128], hex[2 * BUILD_ID_MAX + 1];
	bool hot;
	int fd;

	REQUIRE(set_up(&im, path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	EXPECT_EQ(elf_probe(fd, &l, NULL), 0);
	close(fd);
	memcpy(im.digest, l.digest, sizeof(im.digest));
	build_id_format(&im.build_id, hex);
	REQUIRE(sh("mkdir -p debug/.build-id/%.2s && cp prog debug/.build-id/%.2s/%s.debug && "
		   "strip -s prog",
		   hex, hex, hex + 2) == 0);
	EXPECT_EQ(look(&im, NULL, NULL, &hot), RESOLVE_OK); /* its own */
	EXPECT(hot);
	REQUIRE(sh("(cat p.c; for i in $(seq 900); do echo \"int f$i(int x) { return x * $i; }\"; "
		   "done) >o.c && gcc -g -O0 -Wl,--build-id=0x%s o.c "
		   "-o debug/.build-id/%.2s/%s.debug",
		   hex, hex, hex + 2) == 0);
	EXPECT_EQ(look(&im, NULL, NULL, &hot), RESOLVE_PARTIAL);
	EXPECT(!hot);
	clean();
}

TEST(debuginfod_is_asked_when_told_to)
{
	struct image im;
	char path[128], hex[2 * BUILD_ID_MAX + 1], url[160], cache[160];
	struct resolver *r;

	if (system("ldconfig -p | grep -q libdebuginfod.so.1") != 0)
		SKIP("libdebuginfod1 is not installed");
	REQUIRE(set_up(&im, path));
	build_id_format(&im.build_id, hex);
	REQUIRE(sh("mkdir -p srv/buildid/%s && mv prog srv/buildid/%s/executable", hex, hex) == 0);
	snprintf(url, sizeof(url), "file://%s/srv/", dir);
	snprintf(cache, sizeof(cache), "%s/client", dir);
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
	r = resolver(NULL, NULL);
	EXPECT_EQ(resolver_image(r, &im)->status, RESOLVE_MISSING);
	resolver_free(r);
	r = resolver_new(&(struct resolver_opts){.use_debuginfod = true, .debug_root = "/nowhere"});
	EXPECT_EQ(resolver_image(r, &im)->status, RESOLVE_OK);
	resolver_free(r);
	unsetenv("DEBUGINFOD_URLS");
	clean();
}

TEST(no_link_or_fifo_leads_astray)
{
	struct image im;
	char path[128], hex[2 * BUILD_ID_MAX + 1];
	bool hot;

	REQUIRE(set_up(&im, path));
	build_id_format(&im.build_id, hex);
	REQUIRE(sh("mkdir images elsewhere && ln -s ../elsewhere images/%s", hex) == 0);
	EXPECT_EQ(look(&im, "images", NULL, &hot), RESOLVE_OK);
	EXPECT(sh("test -z \"$(ls elsewhere)\"") == 0); /* nothing was written through the link */
	REQUIRE(sh("rm images/%s prog && mkfifo prog", hex) == 0);
	EXPECT_EQ(look(&im, "images", NULL, &hot), RESOLVE_MISSING);
	clean();
}

TEST(a_damaged_cache_is_read_over)
{
	struct image im;
	char path[128], hex[2 * BUILD_ID_MAX + 1];
	bool hot;

	REQUIRE(set_up(&im, path));
	build_id_format(&im.build_id, hex);
	EXPECT_EQ(look(&im, "images", NULL, &hot), RESOLVE_OK);
	REQUIRE(sh("printf X | dd of=$(ls images/%s/*) bs=1 seek=70 conv=notrunc 2>/dev/null",
		   hex) == 0);
	EXPECT_EQ(look(&im, "images", NULL, &hot), RESOLVE_OK);
	EXPECT(hot);
	unlink(path); /* and was written anew */
	EXPECT_EQ(look(&im, "images", NULL, &hot), RESOLVE_OK);
	EXPECT(hot);
	clean();
}

TEST(the_vdso_of_this_process)
{
	struct resolver *r = resolver(NULL, NULL);
	struct image im = {.kind = IMAGE_VDSO, .path = "[vdso]"};
	const struct resolved *res = resolver_image(r, &im);
	struct err err;
	proc_list p = {0};

	EXPECT_EQ(res->status, RESOLVE_OK);
	symtab_find_name(res->symtab, "__vdso_clock_gettime", &p);
	symtab_find_name(res->symtab, "__kernel_clock_gettime", &p); /* arm64 */
	EXPECT_EQ(p.n, 1);
	vec_release(&p);
	EXPECT(resolver_open_code(r, &im, NULL, &err) < 0); /* without an identity, none is given */
	resolver_free(r);
}

TEST(bpf_programs_are_their_own_names)
{
	struct resolver *r = resolver(NULL, NULL);
	struct image im = {
		.kind = IMAGE_BPF, .path = "[bpf] bpf_prog_0123456789abcdef_f", .text_bytes = 64};
	struct procedure p;

	REQUIRE(resolver_find(r, &im, 63, &p));
	EXPECT_STR(p.name, "bpf_prog_0123456789abcdef_f");
	EXPECT(!resolver_find(r, &im, 64, &p));
	resolver_free(r);
}

TEST(scripts_have_no_instructions)
{
	struct resolver *r = resolver(NULL, NULL);
	struct image im = {.kind = IMAGE_SCRIPT, .path = "/srv/work.js"};
	struct err err = {0};

	EXPECT_EQ(resolver_open_code(r, &im, NULL, &err), -ENOENT);
	EXPECT_STR(err.msg, "/srv/work.js: is a script, which has lines and no instructions");
	resolver_free(r);
}

TEST(idle_procedures)
{
	EXPECT(resolve_is_idle("do_idle"));
	EXPECT(resolve_is_idle("__cpuidle_text_start"));
	EXPECT(resolve_is_idle("pv_native_safe_halt"));
	EXPECT(resolve_is_idle("xen_safe_halt"));
	EXPECT(resolve_is_idle("acpi_idle_enter"));
	EXPECT(resolve_is_idle("intel_idle_irq"));
	EXPECT(resolve_is_idle("cpu_do_idle"));
	EXPECT(resolve_is_idle("acpi_idle_do_entry.part.0"));
	EXPECT(!resolve_is_idle("schedule"));
	EXPECT(!resolve_is_idle("default_idle_callx"));
	EXPECT(!resolve_is_idle(""));
}
