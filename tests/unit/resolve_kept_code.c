/* SPDX-License-Identifier: BSD-2-Clause */
/* What is kept of this very program answers as the program does. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "resolve/code_file.h"
#include "resolve/debug_file.h"
#include "resolve/elf_probe.h"
#include "resolve/file_symbols.h"
#include "resolve/inlines.h"
#include "resolve/keep.h"
#include "resolve/loops.h"
#include "resolve/resolver_impl.h"
#include "t.h"

static const uint8_t none[IMAGE_DIGEST_BYTES]; /* wanted */

#define SELF	   "/proc/self/exe"
#define MOST_PROCS 40
#define MOST_BYTES 4000 /* of a procedure */

/* Some procedures of this program, those around and functions that were inlined into it. */
static void some_ranges(int fd, kept_ranges *ret)
{
	struct file_symbols fs;
	struct symtab st;

	REQUIRE(file_symbols_read(fd, none, true, &fs, NULL) >= 0);
	symtab_builder_finish(&fs.found, &st);
	for (uint32_t i = 0; i < st.n && ret->n < MOST_PROCS; i += st.n / MOST_PROCS + 1) {
		struct procedure p;

		while (i + 1 < st.n && st.flags[i] & (PROC_ALIAS | PROC_PLT | PROC_UNNAMED))
			i++;
		p = symtab_get(&st, i);
		if (p.end - p.start < MOST_BYTES && p.end > p.start)
			vec_push(ret, (struct kept_range){p.start, p.end});
	}
	symtab_release(&st);
}

static void expect_same_line(struct lines *a, struct lines *b, uint64_t svma)
{
	struct line x, y;
	int rc = lines_find(a, svma, &x);

	EXPECT_EQ(lines_find(b, svma, &y), rc);
	if (rc < 0)
		return;
	EXPECT_STR(y.file, x.file);
	EXPECT_EQ(y.line, x.line);
	EXPECT_EQ(y.column, x.column);
	EXPECT_EQ(y.discriminator, x.discriminator);
}

static void expect_same_scopes(struct lines *a, struct lines *b, uint64_t svma)
{
	struct inline_scope x[INLINES_MAX], y[INLINES_MAX];
	size_t n = inlines_find(a, svma, x, INLINES_MAX);

	EXPECT_EQ(inlines_find(b, svma, y, INLINES_MAX), n);
	for (size_t i = 0; i < n; i++) {
		EXPECT_STR(y[i].name, x[i].name);
		EXPECT_EQ(y[i].line, x[i].line);
		EXPECT_EQ(y[i].column, x[i].column);
		EXPECT(!x[i].file == !y[i].file);
		if (x[i].file && y[i].file)
			EXPECT_STR(y[i].file, x[i].file);
	}
}

static void expect_same_extent(struct lines *a, struct lines *b, const struct kept_range *r)
{
	struct lines_extent x, y;
	int rc = lines_procedure(a, r->start, r->end, &x);

	EXPECT_EQ(lines_procedure(b, r->start, r->end, &y), rc);
	if (rc < 0)
		return;
	EXPECT_STR(y.file, x.file);
	EXPECT_EQ(y.first, x.first);
	EXPECT_EQ(y.last, x.last);
}

/* What is kept of FILES, which are this program's, answers as the program at FD does. */
static void expect_kept(int fd, struct kept_files files)
{
	struct kept_code made, k;
	struct code_file file, kept_file;
	kept_ranges ranges = {0};
	struct wr w = {0};
	struct lines *a, *b;
	size_t n_inlined = 0;
	int rc;

	some_ranges(fd, &ranges);
	REQUIRE(ranges.n >= MOST_PROCS / 2);
	REQUIRE(kept_code_read(files, none, NULL, ranges.v, ranges.n, true, &made, NULL) >= 0);
	kept_code_format(&made, &w);
	REQUIRE(kept_code_parse(&k, w.v, w.n, NULL) >= 0);
	EXPECT_EQ(k.procs.n, ranges.n);
	a = lines_open(fd, SELF, &rc, NULL);
	b = kept_lines(&k, false);
	REQUIRE(a && b);
	REQUIRE(code_file_borrow(&file, fd, NULL) >= 0);
	code_file_keep(&kept_file, &k);
	vec_each (r, &ranges) {
		_mem_ uint8_t *x = code_file_load(&file, r->start, r->end);
		_mem_ uint8_t *y = code_file_load(&kept_file, r->start, r->end);
		const struct kept_proc *p = kept_code_find(&k, r->start);

		REQUIRE(x && y && p);
		EXPECT(memcmp(x, y, r->end - r->start) == 0);
		EXPECT_EQ(code_file_end(&kept_file, r->start), r->end);
		for (uint64_t svma = r->start; svma < r->end; svma++) {
			expect_same_line(a, b, svma);
			expect_same_scopes(a, b, svma);
		}
		expect_same_extent(a, b, r);
		n_inlined += p->scopes.n > 1;
	}
	EXPECT(n_inlined > 0);
	lines_close(a);
	lines_close(b);
	code_file_close(&file);
	kept_code_release(&made);
	kept_code_release(&k);
	vec_release(&ranges);
	wr_release(&w);
}

TEST(kept_code_answers_as_its_file)
{
	_fd_ int fd = open(SELF, O_RDONLY | O_CLOEXEC);

	expect_kept(fd, (struct kept_files){fd, -1, -1});
}

/* A directory that is removed at the end of the test, with what kept code makes in it. */
struct scratch {
	char dir[40];
};

static void scratch_make(struct scratch *s)
{
	snprintf(s->dir, sizeof(s->dir), "/tmp/dwell-kept.XXXXXX");
	REQUIRE(mkdtemp(s->dir) != NULL);
}

static void scratch_remove(struct scratch *s)
{
	_mem_ char *command = xasprintf("rm -r %s", s->dir);

	EXPECT_EQ(system(command), 0);
}

/* Runs FORMAT, in which %1$s is S's directory and %2$s this program. */
static void scratch_run(const struct scratch *s, const char *format)
{
	char self[4096];
	ssize_t n = readlink(SELF, self, sizeof(self) - 1);
	_mem_ char *command = NULL;

	REQUIRE(n > 0);
	self[n] = '\0';
	REQUIRE(asprintf(&command, format, s->dir, self) > 0);
	REQUIRE(system(command) == 0);
}

static int scratch_open(const struct scratch *s, const char *name)
{
	_mem_ char *path = xasprintf("%s/%s", s->dir, name);

	return open(path, O_RDONLY | O_CLOEXEC);
}

TEST(lines_of_a_separate_debug_file_are_kept)
{
	_fd_ int fd = open(SELF, O_RDONLY | O_CLOEXEC), code = -1, debug = -1, other = -1;
	kept_ranges ranges = {0};
	struct kept_code k;
	struct scratch s;

	scratch_make(&s);
	scratch_run(&s, "cd %1$s && objcopy --only-keep-debug %2$s debug &&"
			" objcopy --strip-debug %2$s code &&"
			" objcopy --remove-section .note.gnu.build-id debug other");
	code = scratch_open(&s, "code");
	debug = scratch_open(&s, "debug");
	other = scratch_open(&s, "other");
	expect_kept(fd, (struct kept_files){code, debug, -1});
	/* Another program's are not: here one without a build-id. */
	REQUIRE(other >= 0);
	some_ranges(fd, &ranges);
	REQUIRE(kept_code_read((struct kept_files){code, other, -1}, none, NULL, ranges.v, ranges.n,
			       true, &k, NULL) >= 0);
	EXPECT_EQ(k.procs.n, ranges.n);
	EXPECT(kept_lines(&k, false) == NULL);
	vec_release(&ranges);
	kept_code_release(&k);
	scratch_remove(&s);
}

TEST(lines_of_a_debug_file_that_dwz_split_are_kept)
{
	_fd_ int fd = open(SELF, O_RDONLY | O_CLOEXEC), code = -1, debug = -1, alt = -1, wrong = -1;
	_mem_ char *path = NULL;
	kept_ranges ranges = {0};
	struct kept_code k;
	struct scratch s;

	scratch_make(&s);
	/* dwz leaves compressed sections and DWARF 5's alone on some systems: what it did is looked
	 * at. */
	scratch_run(&s,
		    "cd %1$s && objcopy --decompress-debug-sections %2$s whole && cp whole twin &&"
		    " dwz -m %1$s/alt -M %1$s/alt whole twin &&"
		    " objcopy --only-keep-debug whole debug && objcopy --strip-debug whole code &&"
		    " objcopy --remove-section .gnu_debugaltlink code");
	code = scratch_open(&s, "code");
	debug = scratch_open(&s, "debug");
	wrong = scratch_open(&s, "code");
	path = xasprintf("%s/debug", s.dir);
	alt = debug_file_open_alt(debug, path);
	REQUIRE(code >= 0 && debug >= 0 && alt >= 0);
	expect_kept(fd, (struct kept_files){code, debug, alt});
	some_ranges(fd, &ranges);
	for (unsigned i = 0; i < 2; i++) { /* none, and another than the one that is named */
		REQUIRE(kept_code_read((struct kept_files){code, debug, i ? wrong : -1}, none, NULL,
				       ranges.v, ranges.n, true, &k, NULL) >= 0);
		EXPECT_EQ(k.procs.n, ranges.n);
		EXPECT(kept_lines(&k, false) == NULL);
		kept_code_release(&k);
	}
	EXPECT_EQ(debug_file_open_alt(code, path), -1);
	vec_release(&ranges);
	scratch_remove(&s);
}

TEST(lines_of_a_large_file_are_kept)
{
	_fd_ int fd = open(SELF, O_RDONLY | O_CLOEXEC), large = -1, packed = -1;
	struct scratch s;

	scratch_make(&s);
	scratch_run(&s,
		    "cd %1$s && cp %2$s large && truncate -s 100M large &&"
		    " objcopy --compress-debug-sections %2$s packed && truncate -s 100M packed");
	large = scratch_open(&s, "large");
	packed = scratch_open(&s, "packed");
	expect_kept(fd, (struct kept_files){large, -1, -1});
	expect_kept(fd, (struct kept_files){packed, -1, -1});
	scratch_remove(&s);
}

static struct kept_code small(uint64_t start, unsigned n_lines, uint8_t content)
{
	static const uint8_t bytes[64] = {0xc3};
	struct kept_code k = {.info = {.path = "/bin/x", .digest = {1}, .content = {content}}};
	struct kept_proc *p = kept_code_add(&k, start, start + 64, bytes);

	k.info.build_id.n_bytes = 4;
	k.info.build_id.bytes[0] = 0xaa;
	for (unsigned i = 0; i < n_lines; i++)
		vec_push(&p->rows, (struct kept_row){start + i, kept_text(&k, "a.c"), 10 + i});
	return k;
}

static struct image image_of_small(void)
{
	struct image im = {.kind = IMAGE_FILE, .path = "/bin/x", .digest = {1}};

	im.build_id.n_bytes = 4;
	im.build_id.bytes[0] = 0xaa;
	return im;
}

/* What DIR has; its files are counted. */
static size_t n_kept(const char *dir, uint64_t *ret_bytes)
{
	const struct image im = image_of_small();
	cache_entries entries = {0};
	size_t n;

	*ret_bytes = 0;
	kept_list(dir, &im.build_id, &entries, NULL);
	vec_each (e, &entries) {
		_mem_ char *path = xasprintf("%s/aa000000/%s", dir, e->name);
		struct stat st;

		if (stat(path, &st) == 0)
			*ret_bytes += (uint64_t)st.st_size;
	}
	n = entries.n;
	vec_release(&entries);
	return n;
}

TEST(procedures_add_up_in_one_file)
{
	struct scratch s;
	const char *dir = s.dir;
	const struct image im = image_of_small();
	struct kept_code a = small(0x1000, 0, 7), b = small(0x2000, 2, 7), c = small(0x1000, 3, 7),
			 k;
	uint64_t n_bytes;

	scratch_make(&s);
	EXPECT_EQ(kept_save(dir, &a, KEPT_MOST_BYTES, NULL), 1);
	EXPECT_EQ(kept_save(dir, &a, KEPT_MOST_BYTES, NULL), 0);
	EXPECT_EQ(kept_save(dir, &b, KEPT_MOST_BYTES, NULL), 1);
	EXPECT_EQ(kept_save(dir, &c, KEPT_MOST_BYTES, NULL), 1); /* now with lines */
	EXPECT_EQ(n_kept(dir, &n_bytes), 1);
	REQUIRE(kept_open(&k, dir, &im, NULL) >= 0);
	EXPECT_EQ(k.procs.n, 2);
	EXPECT_EQ(k.procs.v[0].rows.n, 3);
	EXPECT_EQ(k.procs.v[1].rows.n, 2);
	kept_code_release(&a);
	kept_code_release(&b);
	kept_code_release(&c);
	kept_code_release(&k);
	scratch_remove(&s);
}

/* An image has 1,000 samples; N_NEW procedures that are not kept have N of them each. */
static bool waits(unsigned n_new, uint64_t n, bool has_kept, uint64_t n_samples)
{
	struct sampled_place places[41] = {{.svma = 0x100, .n = 1000 - n_new * n}};
	struct kept_range open[20];
	const kept_ranges ranges = {.v = open, .n = n_new};

	for (unsigned i = 0; i < n_new; i++) { /* a place of its own, and one of a caller */
		open[i].start = 0x1000 * (i + 1);
		open[i].end = open[i].start + 0x1000;
		places[2 * i + 1] = (struct sampled_place){.svma = open[i].start, .n = n - n / 2};
		places[2 * i + 2] = (struct sampled_place){
			.svma = open[i].end - 1, .n = n / 2, .is_caller = true};
	}
	return keep_is_little(places, 2 * n_new + 1, &ranges, has_kept, n_samples);
}

TEST(procedures_with_hardly_any_samples_wait)
{
	EXPECT(waits(16, 3, true, 1000) && !waits(17, 3, true, 1000)); /* a twentieth */
	EXPECT(waits(17, 3, true, 5100));			       /* a hundredth of all */
	EXPECT(!waits(1, 4, true, 3999) && waits(1, 4, true, 4000));   /* one alone */
	EXPECT(!waits(1, 3, false, 1000));
	EXPECT(!waits(1, 1000, true, 100000));
}

/* Places whose samples are not counted are those of a daemon. */
TEST(what_is_not_counted_does_not_wait)
{
	struct kept_range open[] = {{.start = 0x100, .end = 0x200}};
	const struct sampled_place place = {.svma = 0x100};
	const kept_ranges ranges = {.v = open, .n = 1};

	EXPECT(!keep_is_little(&place, 1, &ranges, true, 0));
}

/* Names of inlined functions where code is kept, and elsewhere, are what a resolver without kept
 * code says.  The first opens no DWARF. */
static void expect_names(const char *dir, const struct image *im, const kept_ranges *ranges,
			 bool is_claimed)
{
	struct resolver *with = resolver_new(&(struct resolver_opts){.cache_dir = dir});
	struct resolver *without = resolver_new(&(struct resolver_opts){0});
	const char *a[RESOLVER_MAX_FRAMES], *b[RESOLVER_MAX_FRAMES];
	unsigned n_inlined = 0;

	vec_each (r, ranges) {
		for (uint64_t svma = r->start; svma < r->end; svma++) {
			size_t n = resolver_inlined(without, im, svma, true, b, n_elems(b));

			EXPECT_EQ(resolver_inlined(with, im, svma, true, a, n_elems(a)), n);
			for (size_t i = 0; i < n; i++)
				EXPECT_STR(a[i], b[i]);
			n_inlined += n > 0;
		}
	}
	EXPECT(n_inlined > 0);
	EXPECT_EQ(resolver_entry_find(with, im)->lines_tried, is_claimed);
	resolver_inlined(with, im, ranges->v[0].start - 1, true, a, n_elems(a));
	EXPECT(resolver_entry_find(with, im)->lines_tried);
	resolver_free(with);
	resolver_free(without);
}

TEST(inlined_names_of_kept_code_need_no_dwarf)
{
	_fd_ int fd = open(SELF, O_RDONLY | O_CLOEXEC);
	struct image im = {.kind = IMAGE_FILE, .path = SELF};
	struct image_layout layout;
	kept_ranges ranges = {0};
	struct kept_code made;
	struct scratch s;

	REQUIRE(elf_probe(fd, &layout, NULL) >= 0);
	im.build_id = layout.build_id;
	memcpy(im.digest, layout.digest, sizeof(im.digest));
	some_ranges(fd, &ranges);
	for (unsigned is_claimed = 0; is_claimed < 2; is_claimed++) {
		size_t n = 0;

		scratch_make(&s);
		REQUIRE(kept_code_read((struct kept_files){fd, -1, -1}, none, NULL, ranges.v,
				       ranges.n, true, &made, NULL) >= 0);
		/* Where no lines are kept, DWARF is asked. */
		vec_each (r, &ranges)
			if (kept_code_find(&made, r->start)->rows.n)
				ranges.v[n++] = *r;
		ranges.n = n;
		made.info.build_id = im.build_id;
		memcpy(made.info.digest, im.digest, sizeof(im.digest));
		made.info.is_claimed = is_claimed;
		made.info.path = SELF;
		EXPECT_EQ(kept_save(s.dir, &made, KEPT_MOST_BYTES, NULL), 1);
		expect_names(s.dir, &im, &ranges, is_claimed);
		kept_code_release(&made);
		scratch_remove(&s);
	}
	vec_release(&ranges);
}

/* Assembly of which no line is known. */
__asm__(".pushsection .text.unlined, \"ax\"\n"
	"unlined: .skip 16, 0\n"
	".popsection");
extern const char unlined[] __attribute__((visibility("hidden")));

/* This program comes first. */
static int note_bias(struct dl_phdr_info *info, size_t n, void *ret)
{
	(void)n;
	*(uint64_t *)ret = info->dlpi_addr;
	return 1;
}

TEST(that_code_has_no_lines_is_kept)
{
	const int fd = open(SELF, O_RDONLY | O_CLOEXEC);
	struct kept_code with, without;
	struct kept_range range;
	uint64_t bias = 0, svma;
	struct line at;
	struct lines *l;

	dl_iterate_phdr(note_bias, &bias);
	svma = (uint64_t)(uintptr_t)unlined - bias;
	range = (struct kept_range){svma, svma + 16, false};
	REQUIRE(kept_code_read((struct kept_files){fd, -1, -1}, none, NULL, &range, 1, true, &with,
			       NULL) >= 0);
	REQUIRE(with.procs.n == 1 && with.procs.v[0].rows.n == 1);
	EXPECT_EQ(with.procs.v[0].rows.v[0].file, KEPT_NONE);
	l = kept_lines(&with, false);
	REQUIRE(l != NULL);
	EXPECT_EQ(lines_find(l, svma, &at), -ENOENT);
	lines_close(l);
	/* Where nobody looked for lines, they may be known elsewhere. */
	REQUIRE(kept_code_read((struct kept_files){fd, -1, -1}, none, NULL, &range, 1, false,
			       &without, NULL) >= 0);
	REQUIRE(without.procs.n == 1);
	EXPECT_EQ(without.procs.v[0].rows.n, 0);
	kept_code_release(&with);
	kept_code_release(&without);
	close(fd);
}

TEST(other_contents_and_claims_are_apart)
{
	struct scratch s;
	const char *dir = s.dir;
	const struct image im = image_of_small();
	struct kept_code a = small(0x1000, 0, 7), k;
	uint64_t n_bytes;

	scratch_make(&s);
	REQUIRE(kept_save(dir, &a, KEPT_MOST_BYTES, NULL) == 1);
	for (uint8_t i = 0; i < KEPT_MOST_CLAIMED + 1; i++) {
		struct kept_code b = small(0x1000, 5, (uint8_t)(8 + i));

		b.info.is_claimed = true;
		EXPECT_EQ(kept_save(dir, &b, KEPT_MOST_BYTES, NULL),
			  i < KEPT_MOST_CLAIMED ? 1 : -ENOSPC);
		kept_code_release(&b);
	}
	EXPECT_EQ(n_kept(dir, &n_bytes), 1 + KEPT_MOST_CLAIMED);
	REQUIRE(kept_open(&k, dir, &im, NULL) >= 0);
	EXPECT(!k.info.is_claimed);
	kept_code_release(&k);
	kept_code_release(&a);
	scratch_remove(&s);
}

TEST(hidden_files_stay_hidden)
{
	struct scratch s;
	const char *dir = s.dir;
	struct kept_code a = small(0x1000, 0, 7), b = small(0x2000, 0, 7);
	_mem_ char *path = NULL;
	cache_entries entries = {0};
	struct stat st;

	scratch_make(&s);
	chmod(dir, 0755);
	a.info.is_hidden = true;
	REQUIRE(kept_save(dir, &a, KEPT_MOST_BYTES, NULL) == 1);
	REQUIRE(kept_save(dir, &b, KEPT_MOST_BYTES, NULL) == 1);
	kept_list(dir, &a.info.build_id, &entries, NULL);
	REQUIRE(entries.n == 1);
	path = xasprintf("%s/aa000000/%s", dir, entries.v[0].name);
	REQUIRE(stat(path, &st) == 0);
	EXPECT_EQ(st.st_mode & 0777, 0600);
	vec_release(&entries);
	kept_code_release(&a);
	kept_code_release(&b);
	scratch_remove(&s);
}

TEST(the_oldest_go_first)
{
	struct scratch s;
	const char *dir = s.dir;
	const struct image im = image_of_small();
	uint64_t n_bytes = 0, one;
	struct kept_code k;

	scratch_make(&s);
	for (uint8_t i = 0; i < 6; i++) {
		struct kept_code a = small(0x1000 * (i + 1u), 0, i + 1);

		REQUIRE(kept_save(dir, &a, i == 0 ? KEPT_MOST_BYTES : 3 * one + one / 2, NULL) ==
			1);
		if (i == 0)
			n_kept(dir, &one);
		kept_code_release(&a);
		usleep(20000); /* so that times of writing differ */
	}
	EXPECT_EQ(n_kept(dir, &n_bytes), 3);
	REQUIRE(kept_open(&k, dir, &im, NULL) >= 0);
	EXPECT(k.info.content[0] > 3);
	kept_code_release(&k);
	scratch_remove(&s);
}

TEST(who_may_read_a_file)
{
	struct scratch s;
	const char *dir = s.dir;
	_mem_ char *path = NULL;
	_mem_ char *file = NULL;
	_fd_ int fd = -1;

	scratch_make(&s);
	path = xasprintf("%s/sub", dir);
	file = xasprintf("%s/sub/f", dir);
	chmod(dir, 0755);
	REQUIRE(mkdir(path, 0755) == 0 && chmod(path, 0755) == 0);
	fd = open(file, O_CREAT | O_RDWR | O_CLOEXEC, 0644);
	REQUIRE(fd >= 0 && fchmod(fd, 0644) == 0);
	EXPECT(!keep_is_hidden(fd));
	fchmod(fd, 0640);
	EXPECT(keep_is_hidden(fd));
	fchmod(fd, 0644);
	chmod(path, 0700);
	EXPECT(keep_is_hidden(fd));
	chmod(path, 0755);
	unlink(file);
	EXPECT(keep_is_hidden(fd)); /* nobody knows */
	scratch_remove(&s);
}

TEST(damage_is_noticed)
{
	struct kept_code a = small(0x1000, 4, 7), k;
	struct wr w = {0};

	kept_code_format(&a, &w);
	for (size_t i = 0; i < w.n; i++) {
		w.v[i] ^= 0x10;
		EXPECT_EQ(kept_code_parse(&k, w.v, w.n, NULL), -EBADMSG);
		w.v[i] ^= 0x10;
	}
	w.v[8] ^= 0x10; /* another version, which has other bytes */
	w.v[w.n - 1] ^= 0x10;
	EXPECT_EQ(kept_code_parse(&k, w.v, w.n, NULL), -EPROTONOSUPPORT);
	w.v[8] ^= 0x10;
	w.v[w.n - 1] ^= 0x10;
	for (size_t n = 0; n < w.n; n++)
		EXPECT(kept_code_parse(&k, w.v, n, NULL) < 0);
	wr_release(&w);
	kept_code_release(&a);
}

/* The file docs/formats/code.md shows, byte for byte. */
TEST(golden)
{
	static const uint8_t bytes[4] = {0x31, 0xc0, 0xeb, 0xfc};
	struct kept_code k = {.info = {.machine = 62, .type = 3, .made_s = 300, .path = "/bin/x"}};
	struct kept_proc *p = kept_code_add(&k, 0x1000, 0x1004, bytes);
	const uint32_t file = kept_text(&k, "a.c"), main = kept_text(&k, "main"),
		       spin = kept_text(&k, "spin");
	struct wr w = {0};
	size_t n;
	char *want;

	k.info.build_id = (struct build_id){.n_bytes = 2, .bytes = {0xbe, 0xef}};
	memset(k.info.digest, 0xd1, sizeof(k.info.digest));
	memset(k.info.content, 0xc0, sizeof(k.info.content));
	vec_push(&p->rows, (struct kept_row){0x1000, file, 7, 0, 1});
	vec_push(&p->rows, (struct kept_row){0x1002, file, 3, 2, 9});
	vec_push(&p->scopes, (struct kept_scope){KEPT_NONE, main, KEPT_NONE});
	vec_push(&p->scopes, (struct kept_scope){0, spin, file, 8, 2});
	vec_push(&p->scope_starts, (struct kept_scope_start){0x1000, 0});
	vec_push(&p->scope_starts, (struct kept_scope_start){0x1002, 1});
	vec_push(&p->decls, (struct kept_decl){0, file, 2});
	vec_push(&p->decls, (struct kept_decl){0x1000, file, 6});
	vec_push(&p->consts, (struct kept_const){0x2000, bytes, 2});
	kept_code_format(&k, &w);
	if (getenv("T_BLESS")) {
		FILE *f = fopen(T_GOLDEN "/code/small.code", "wb");

		REQUIRE(f && fwrite(w.v, 1, w.n, f) == w.n && fclose(f) == 0);
	}
	REQUIRE(file_load(T_GOLDEN "/code/small.code", 4096, &want, &n, NULL) >= 0);
	EXPECT(n == w.n && memcmp(want, w.v, n) == 0);
	free(want);
	wr_release(&w);
	kept_code_release(&k);
}

/* A file of version 1, of the same code. */
TEST(older_files_are_read)
{
	struct kept_code k;
	struct wr w = {0};
	size_t n_old, n;
	char *old, *want;

	REQUIRE(file_load(T_GOLDEN "/code/small.1.code", 4096, &old, &n_old, NULL) >= 0);
	REQUIRE(file_load(T_GOLDEN "/code/small.code", 4096, &want, &n, NULL) >= 0);
	REQUIRE(kept_code_parse(&k, (uint8_t *)old, n_old, NULL) >= 0);
	kept_code_format(&k, &w);
	EXPECT(n == w.n && memcmp(want, w.v, n) == 0);
	wr_release(&w);
	kept_code_release(&k);
	for (size_t i = 0; i < n_old; i++) {
		old[i] ^= 0x10;
		EXPECT_EQ(kept_code_parse(&k, (uint8_t *)old, n_old, NULL), -EBADMSG);
		old[i] ^= 0x10;
	}
	old[8] = 2; /* not the other version's sum */
	EXPECT_EQ(kept_code_parse(&k, (uint8_t *)old, n_old, NULL), -EBADMSG);
	free(old);
	free(want);
}
