/* SPDX-License-Identifier: BSD-2-Clause */
/* kallsyms and perf maps, from text made up here. */
#include "base/cleanup.h"
#include "base/file.h"
#include "resolve/kallsyms.h"
#include "resolve/perfmap.h"
#include "resolve/resolver_impl.h"
#include "t.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64], proc_dir[96], sys_dir[96];

static void put(const char *path, const void *bytes, size_t n)
{
	char whole[256];
	struct err err;
	FILE *f;

	snprintf(whole, sizeof(whole), "%s/%s", dir, path);
	*strrchr(whole, '/') = '\0';
	file_mkdirs(whole, &err);
	snprintf(whole, sizeof(whole), "%s/%s", dir, path);
	f = fopen(whole, "w");
	fwrite(bytes, 1, n, f);
	fclose(f);
}

static void put_text(const char *path, const char *text)
{
	put(path, text, strlen(text));
}

static void put_id(const char *path, char fill)
{
	char note[36] = {4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0};

	memset(note + 16, fill, 20);
	put(path, note, sizeof(note));
}

static bool set_up(void)
{
	strcpy(dir, "/tmp/dwell-test-XXXXXX");
	if (!mkdtemp(dir))
		return false;
	snprintf(proc_dir, sizeof(proc_dir), "%s/proc", dir);
	snprintf(sys_dir, sizeof(sys_dir), "%s/sys", dir);
	return true;
}

static void clean(void)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	EXPECT_EQ(system(cmd), 0);
}

static const char *name_of(const struct symtab *st, uint64_t svma)
{
	uint32_t i = symtab_find(st, svma);

	return i == PROC_NONE ? "-" : symtab_get(st, i).name;
}

/* A kernel moved by 0x2e000000, one module with two sections' worth of
 * symbols, two BPF programs. */
static const char symbols[] = "0000000000000000 A fixed_percpu_data\n"
			      "ffffffffaf000000 T _stext\n"
			      "ffffffffaf000000 T _text\n"
			      "ffffffffaf000100 t do_idle\n"
			      "ffffffffaf000200 W weak_one\n"
			      "ffffffffaf000280 d some_data\n"
			      "ffffffffaf000300 T last_one\n"
			      "ffffffffaf001000 T _etext\n"
			      "garbage\n"
			      "ffffffffc0402040 t ext4_b\t[ext4]\n"
			      "ffffffffc0402010 T ext4_a\t[ext4]\n"
			      "ffffffffc0403000 d ext4_data\t[ext4]\n"
			      "ffffffffc0501000 t bpf_prog_1111111111111111_one\t[bpf]\n"
			      "ffffffffc0501080 t bpf_prog_2222222222222222_two\t[bpf]\n"
			      "ffffffffc0503000 t bpf_prog_1111111111111111_one\t[bpf]\n"
			      "ffffffffc0201000 t ftrace_trampoline\t[__builtin__ftrace]\n";

TEST(kernel_modules_and_programs)
{
	const struct kernel_part *p;
	struct kallsyms k, bare;
	struct err err;

	REQUIRE(set_up());
	put_text("proc/kallsyms", symbols);
	put_text("proc/modules", "ext4 8192 1 jbd2,mbcache, Live 0xffffffffc0402000\n"
				 "other 4096 0 - Live 0xffffffffc0700000\n");
	put_id("sys/kernel/notes", 'k');
	put_id("sys/module/ext4/notes/.note.gnu.build-id", 'm');
	REQUIRE(kallsyms_load(&k, proc_dir, sys_dir, &err) == 0);
	EXPECT(!k.hidden);
	EXPECT_EQ(k.text_start, 0xffffffffaf000000);
	EXPECT_EQ(k.text_end, 0xffffffffaf001000);
	EXPECT_EQ(k.slide, 0x2e000000);
	EXPECT_EQ(k.build_id.n_bytes, 20);
	EXPECT_EQ(k.build_id.bytes[19], 'k');
	EXPECT_STR(name_of(&k.symtab, 0xffffffff810000ff), "_text");
	EXPECT_STR(name_of(&k.symtab, 0xffffffff81000100), "do_idle");
	EXPECT_STR(name_of(&k.symtab, 0xffffffff810002ff), "weak_one"); /* data does not count */
	EXPECT_STR(name_of(&k.symtab, 0xffffffff81000fff), "last_one");
	EXPECT_STR(name_of(&k.symtab, 0xffffffff80ffffff), "-");
	EXPECT_EQ(k.parts.n, 5);
	p = kallsyms_find_part(&k, "ext4");
	REQUIRE(p);
	EXPECT_EQ(p->kind, IMAGE_MODULE);
	EXPECT_EQ(p->start, 0xffffffffc0402000);
	EXPECT_EQ(p->end, 0xffffffffc0403000);
	EXPECT_EQ(p->build_id.bytes[0], 'm');
	EXPECT_STR(name_of(&p->symtab, 0x10), "ext4_a");
	EXPECT_STR(name_of(&p->symtab, 0x3f), "ext4_a");
	EXPECT_STR(name_of(&p->symtab, 0x40), "ext4_b");
	EXPECT_STR(name_of(&p->symtab, 0), "-");
	p = kallsyms_find_part(&k, "bpf_prog_1111111111111111_one");
	REQUIRE(p);
	EXPECT_EQ(p->kind, IMAGE_BPF);
	EXPECT_EQ(p->end, 0xffffffffc0501080); /* where the next begins */
	EXPECT_STR(name_of(&p->symtab, 0), "bpf_prog_1111111111111111_one");
	/* What begins on a page may end on a later one; a function of two programs is there
	 * twice. */
	EXPECT_STR(k.parts.v[3].name, "bpf_prog_2222222222222222_two");
	EXPECT_EQ(k.parts.v[3].end, 0xffffffffc0503000);
	EXPECT_STR(k.parts.v[4].name, "bpf_prog_1111111111111111_one");
	EXPECT_EQ(k.parts.v[4].start, 0xffffffffc0503000);
	EXPECT(k.parts.v[4].end > 0xffffffffc0504000);
	EXPECT(kallsyms_find_part(&k, "__builtin__ftrace") != NULL);
	for (size_t i = 1; i < k.parts.n; i++)
		EXPECT(k.parts.v[i - 1].end <= k.parts.v[i].start);
	REQUIRE(kallsyms_load_layout(&bare, proc_dir, sys_dir, &err) == 0);
	EXPECT(bare.symtab.n == 0 && bare.parts.n == k.parts.n);
	EXPECT(bare.text_start == k.text_start && bare.text_end == k.text_end);
	EXPECT_EQ(bare.slide, k.slide);
	for (size_t i = 0; i < bare.parts.n; i++) {
		EXPECT_STR(bare.parts.v[i].name, k.parts.v[i].name);
		EXPECT(bare.parts.v[i].start == k.parts.v[i].start);
		EXPECT(bare.parts.v[i].end == k.parts.v[i].end && !bare.parts.v[i].symtab.n);
	}
	kallsyms_release(&bare);
	kallsyms_release(&k);
	clean();
}

TEST(hidden_and_missing_kallsyms)
{
	struct kallsyms k;
	struct err err;
	struct image im = {.kind = IMAGE_KERNEL, .path = "[kernel]"};
	struct resolver *r;

	REQUIRE(set_up());
	EXPECT_EQ(kallsyms_load(&k, proc_dir, sys_dir, &err), -ENOENT);
	put_text("proc/kallsyms", "0000000000000000 T _text\n0000000000000000 t do_idle\n"
				  "0000000000000000 t ext4_a\t[ext4]\n");
	put_id("sys/kernel/notes", 'k');
	REQUIRE(kallsyms_load(&k, proc_dir, sys_dir, &err) == 0);
	EXPECT(k.hidden);
	EXPECT_EQ(k.symtab.n, 0);
	kallsyms_release(&k);
	r = resolver_new(&(struct resolver_opts){.proc_dir = proc_dir, .sys_dir = sys_dir});
	EXPECT_EQ(resolver_image(r, &im)->status, RESOLVE_HIDDEN);
	EXPECT(strstr(resolver_note(r, &im), "kptr_restrict") != NULL);
	resolver_free(r);
	put_text("proc/kallsyms", "");
	EXPECT_EQ(kallsyms_load(&k, proc_dir, sys_dir, &err), -EBADMSG);
	kallsyms_release(&k);
	clean();
}

/* A profile of one kernel is never given the names of another; what was cached stays. */
TEST(only_the_kernel_that_was_profiled)
{
	struct image im = {.kind = IMAGE_KERNEL, .path = "[kernel]"};
	struct image mod = {.kind = IMAGE_MODULE, .path = "/lib/modules/6.1/ext4.ko.xz"};
	char images[128];
	struct resolver_opts opts = {.cache_dir = images, .proc_dir = proc_dir, .sys_dir = sys_dir};
	struct resolver *r;
	struct procedure p;

	REQUIRE(set_up());
	snprintf(images, sizeof(images), "%s/images", dir);
	put_text("proc/kallsyms", symbols);
	put_id("sys/kernel/notes", 'k');
	put_id("sys/module/ext4/notes/.note.gnu.build-id", 'm');
	im.build_id.n_bytes = mod.build_id.n_bytes = 20;
	memset(im.build_id.bytes, 'x', 20);
	memset(mod.build_id.bytes, 'x', 20);
	r = resolver_new(&opts);
	EXPECT_EQ(resolver_image(r, &im)->status, RESOLVE_MISSING);
	EXPECT(!r->sources.kallsyms_read); /* it takes the kernel long to write */
	EXPECT_EQ(resolver_image(r, &mod)->status, RESOLVE_MISSING);
	memset(im.build_id.bytes, 'k', 20);
	memset(mod.build_id.bytes, 'm', 20);
	EXPECT_EQ(resolver_save(r, &im, -1, NULL), 0);
	EXPECT_EQ(resolver_save(r, &mod, -1, NULL), 0);
	resolver_free(r);
	put_id("sys/kernel/notes", 'n'); /* rebooted into another */
	put_id("sys/module/ext4/notes/.note.gnu.build-id", 'o');
	r = resolver_new(&opts);
	REQUIRE(resolver_find(r, &im, 0xffffffff81000123, &p));
	EXPECT_STR(p.name, "do_idle");
	REQUIRE(resolver_find(r, &mod, 0x31, &p)); /* no modules file: begins at its first symbol */
	EXPECT_STR(p.name, "ext4_b");
	resolver_free(r);
	clean();
}

/* The true one of this machine, when it can be seen. */
TEST(the_running_kernel)
{
	struct kallsyms k;
	struct err err;
	proc_list l = {0};
	unsigned n_lines;
	FILE *f;

	REQUIRE(kallsyms_load(&k, "/proc", "/sys", &err) == 0);
	if (k.hidden) {
		kallsyms_release(&k);
		SKIP("addresses are hidden here");
	}
	EXPECT(k.symtab.n > 10000);
	f = popen("awk 'NF == 3 && $2 ~ /[tTwW]/ {print $1, $3}' /proc/kallsyms | sort -u | wc -l",
		  "r");
	REQUIRE(f && fscanf(f, "%u", &n_lines) == 1);
	pclose(f);
	EXPECT_EQ(k.symtab.n, n_lines); /* nothing is lost between two reads of the file */
	symtab_find_name(&k.symtab, "schedule", &l);
	EXPECT_EQ(l.n, 1);
	EXPECT_EQ((k.text_start - k.slide) & 0xfff, 0);
	vec_release(&l);
	kallsyms_release(&k);
}

static void parse(const char *text, struct symtab *ret)
{
	perfmap_parse(text, strlen(text), ret);
}

TEST(perf_map_lines)
{
	struct symtab st;

	parse("7f0000001000 20 LazyCompile:~f /home/u/x.js:1:2 \n"
	      "0x7f0000002000 0x10 with prefix\r\n"
	      "nonsense\n"
	      "10 zz bad size\n"
	      "ffffffffffffffff 10 wraps around\n"
	      "123456789012345678 10 too many digits\n"
	      "7f0000003000 0 empty\n"
	      "7f0000003000 10 \n"
	      "7f0000004000 8 not ended",
	      &st);
	EXPECT_EQ(st.n, 3);
	EXPECT_STR(name_of(&st, 0x7f000000101f), "LazyCompile:~f /home/u/x.js:1:2");
	EXPECT_STR(name_of(&st, 0x7f0000001020), "-");
	EXPECT_STR(name_of(&st, 0x7f0000002000), "with prefix");
	EXPECT_STR(name_of(&st, 0x7f0000004007), "not ended");
	symtab_release(&st);
	parse("", &st);
	EXPECT_EQ(st.n, 0);
	symtab_release(&st);
}

/* Against a byte map painted in order of lines. */
TEST(later_lines_of_a_perf_map_win)
{
	struct t_rng r = {21};

	for (unsigned c = 0; c < t_cases(300); c++) {
		struct symtab st;
		char text[4096], want[200][8], *at = text;
		unsigned n = 1 + (unsigned)t_below(&r, 60);

		for (unsigned i = 0; i < 200; i++)
			strcpy(want[i], "-");
		for (unsigned i = 0; i < n; i++) {
			unsigned start = (unsigned)t_below(&r, 150);
			unsigned size = 1 + (unsigned)t_below(&r, 50);

			at += sprintf(at, "%x %x f%u\n", start, size, i);
			for (unsigned a = start; a < start + size; a++)
				sprintf(want[a], "f%u", i);
		}
		parse(text, &st);
		for (unsigned a = 0; a < 200; a++)
			EXPECT_STR(name_of(&st, a), want[a]);
		symtab_release(&st);
	}
}

TEST(perf_map_of_a_process_in_a_container)
{
	char images[128], path[160];
	struct image im = {.kind = IMAGE_JIT, .path = "[jit] node", .build_id = {4, {1, 2, 3, 4}}};
	struct resolver *r;
	struct procedure p;
	struct err err;

	REQUIRE(set_up());
	snprintf(images, sizeof(images), "%s/images", dir);
	put_text("proc/4242/status", "Name:\tnode\nPid:\t4242\nNSpid:\t4242\t17\nUid:\t0\n");
	put_text("proc/4242/root/tmp/perf-17.map", "1000 100 hot loop\n");
	r = resolver_new(&(struct resolver_opts){.cache_dir = images, .proc_dir = proc_dir});
	EXPECT_EQ(resolver_save_jit(r, &im, 4243, -1, &err), -ENOENT);
	EXPECT_EQ(resolver_save_jit(r, &im, 4242, -1, &err), 0);
	REQUIRE(resolver_find(r, &im, 0x10ff, &p));
	EXPECT_STR(p.name, "hot loop");
	resolver_free(r);
	/* A link, or a file of another user, is not followed. */
	snprintf(path, sizeof(path), "%s/proc/4242/root/tmp/perf-17.map", dir);
	EXPECT_EQ(chown(path, 12345, 12345), 0);
	r = resolver_new(&(struct resolver_opts){.cache_dir = images, .proc_dir = proc_dir});
	EXPECT_EQ(resolver_save_jit(r, &im, 4242, -1, &err), -EPERM);
	unlink(path);
	EXPECT_EQ(symlink("/etc/passwd", path), 0);
	EXPECT_EQ(resolver_save_jit(r, &im, 4242, -1, &err), -ELOOP);
	unlink(path);
	EXPECT_EQ(mkfifo(path, 0600), 0);
	EXPECT_EQ(resolver_save_jit(r, &im, 4242, -1, &err), -EPERM);
	/* What was opened while the process lived stays readable. */
	put_text("map", "2000 100 opened before\n");
	snprintf(path, sizeof(path), "%s/map", dir);
	_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	unlink(path);
	EXPECT_EQ(resolver_save_jit(r, &im, 4243, fd, &err), 0);
	resolver_free(r);
	r = resolver_new(&(struct resolver_opts){.cache_dir = images, .proc_dir = proc_dir});
	REQUIRE(resolver_find(r, &im, 0x2010, &p));
	EXPECT_STR(p.name, "opened before");
	resolver_free(r);
	clean();
}
