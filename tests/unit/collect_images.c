/* SPDX-License-Identifier: BSD-2-Clause */
/* Which file is mapped: told apart, opened at first sight, never opened wrongly. */
#include "machine/images.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t.h"

static struct {
	struct profile profile;
	struct images images;
	char dir[64], path[128];
} w;

/* A "program" here is a file whose first byte is its build-id, repeated; byte
 * 0 means it has none. */
static int probe(int fd, struct image_layout *ret, struct err *err)
{
	uint8_t b;

	if (pread(fd, &b, 1, 0) != 1)
		return -EBADMSG;
	*ret = (struct image_layout){.hashed = b == 0,
				     .text_start = 0x10000,
				     .text_bytes = 0x1000,
				     .n_loads = 1,
				     .loads = {{0x1000, 0x11000, 0x500}}};
	ret->build_id.n_bytes = b ? 20 : 16;
	memset(ret->build_id.bytes, b ? b : 0xee, ret->build_id.n_bytes);
	return 0;
}

static void begin(void)
{
	profile_init(&w.profile);
	images_init(&w.images, &w.profile, probe, NULL);
	snprintf(w.dir, sizeof(w.dir), "/tmp/dwell-images-XXXXXX");
	EXPECT(mkdtemp(w.dir) != NULL);
	snprintf(w.path, sizeof(w.path), "%s/file", w.dir);
}

static void end(void)
{
	images_release(&w.images);
	profile_check(&w.profile);
	profile_release(&w.profile);
	unlink(w.path);
	EXPECT_EQ(rmdir(w.dir), 0);
}

static void write_file(uint8_t id)
{
	FILE *f = fopen(w.path, "w");

	fputc(id, f);
	fclose(f);
}

static struct build_id id_of(uint8_t b)
{
	struct build_id id = {.n_bytes = 20};

	memset(id.bytes, b, 20);
	return id;
}

/* The image of file PATH with that build-id told (0: inode told instead). */
static struct image image_of(const char *path, uint8_t told, uint64_t ino, uint32_t *ret_code)
{
	struct image_ref ref = {.path = path, .ino = ino, .dev = ino ? 8 : 0};
	uint32_t code;

	if (told)
		ref.build_id = id_of(told);
	code = images_intern(&w.images, &ref);
	if (ret_code)
		*ret_code = code;
	return w.profile.images.v[w.images.codes.v[code].image];
}

TEST(a_file_is_one_image_however_it_is_told)
{
	struct stat st;
	uint32_t a, b, c;
	struct image im;

	begin();
	write_file(7);
	stat(w.path, &st);
	im = image_of(w.path, 7, 0, &a);
	EXPECT_EQ(im.kind, IMAGE_FILE);
	EXPECT_EQ(im.flags, 0);
	EXPECT_EQ(im.text_bytes, 0x1000);
	image_of(w.path, 7, 0, &b);
	EXPECT_EQ(a, b);
	image_of(w.path, 0, st.st_ino, &c);
	EXPECT_EQ(w.images.codes.v[a].image, w.images.codes.v[c].image);
	EXPECT_EQ(images_find_build_id(&w.images, &(struct build_id[]){id_of(7)}[0]), a);
	EXPECT_EQ(images_find_build_id(&w.images, &(struct build_id[]){id_of(8)}[0]), INDEX_NONE);
	end();
}

TEST(a_replaced_file_is_not_taken_for_the_old_one)
{
	struct image old, new;

	begin();
	write_file(7);
	old = image_of(w.path, 7, 0, NULL);
	write_file(8);
	new = image_of(w.path, 8, 0, NULL);
	EXPECT(!build_id_same(&old.build_id, &new.build_id));
	EXPECT_EQ(new.flags, 0);
	end();

	/* Seen only after it was replaced: the kernel's word stands,
	 * addresses stay file offsets. */
	begin();
	write_file(8);
	old = image_of(w.path, 7, 0, NULL);
	EXPECT_EQ(old.build_id.bytes[0], 7);
	EXPECT_EQ(old.flags, IMAGE_OFFSETS);
	end();
}

/* The file system says the same of an open file. */
TEST(the_generation_of_an_inode)
{
	uint32_t code, told = 0, asked = 0;
	struct statfs fs;
	struct stat st;
	int fd;

	if (statfs("/tmp", &fs) < 0 ||
	    (fs.f_type != EXT4_SUPER_MAGIC && fs.f_type != XFS_SUPER_MAGIC))
		SKIP("/tmp is on no ext4 or XFS");
	begin();
	write_file(7);
	stat(w.path, &st);
	image_of(w.path, 0, st.st_ino, &code);
	fd = open(w.path, O_RDONLY | O_CLOEXEC);
	REQUIRE(ioctl(fd, FS_IOC_GETVERSION, &asked) >= 0);
	close(fd);
	EXPECT(images_generation(&w.images, code, &told));
	EXPECT_EQ(told, asked);
	/* A record told of another file. */
	image_of(w.path, 0, st.st_ino + 1, &code);
	EXPECT(!images_generation(&w.images, code, &told));
	end();
}

TEST(another_inode_is_another_file)
{
	struct stat st;
	struct image im;

	begin();
	write_file(7);
	stat(w.path, &st);
	im = image_of(w.path, 0, st.st_ino + 1, NULL);
	EXPECT_EQ(im.flags, IMAGE_OFFSETS);
	EXPECT_EQ(im.build_id.n_bytes, 0);
	end();
}

TEST(a_file_without_build_id_is_known_by_its_hash)
{
	struct stat st;
	struct image im;

	begin();
	write_file(0);
	stat(w.path, &st);
	im = image_of(w.path, 0, st.st_ino, NULL);
	EXPECT_EQ(im.flags, IMAGE_HASHED);
	EXPECT_EQ(im.build_id.n_bytes, 16);
	end();
}

TEST(deleted_is_a_mark_not_a_name)
{
	char path[160];
	struct image im;

	begin();
	snprintf(path, sizeof(path), "%s (deleted)", w.path);
	im = image_of(path, 7, 0, NULL);
	EXPECT_STR(im.path, w.path);
	EXPECT(im.flags & IMAGE_DELETED);
	end();
}

TEST(nameless_memory)
{
	static const char *const names[] = {
		"//anon", "", "[heap]", "[stack]", "/dev/zero", "/SYSV00000000", "anon_inode:[x]"};
	uint32_t first, code;

	begin();
	first = images_intern(&w.images, &(struct image_ref){.path = names[0], .ino = 1});
	for (unsigned i = 0; i < n_elems(names); i++) {
		code = images_intern(&w.images, &(struct image_ref){.path = names[i], .ino = i});
		EXPECT_EQ(w.images.codes.v[code].kind, CODE_ANON);
		EXPECT_EQ(code, first);
	}
	/* Programs are run from memfds too: a build-id says that this is one. */
	code = images_intern(&w.images,
			     &(struct image_ref){.path = "/memfd:jit (deleted)", .ino = 1});
	EXPECT_EQ(w.images.codes.v[code].kind, CODE_ANON);
	EXPECT_EQ(w.profile.images.n, 0); /* their image depends on the process */
	code = images_intern(&w.images, &(struct image_ref){.path = "/memfd:prog (deleted)",
							    .build_id = id_of(3)});
	EXPECT_EQ(w.images.codes.v[code].kind, CODE_FILE);
	end();
}

TEST(what_is_not_a_regular_file_is_never_opened)
{
	struct image im;

	begin();
	REQUIRE(mkfifo(w.path, 0600) == 0);
	alarm(60); /* opening a FIFO nobody writes to would hang */
	im = image_of(w.path, 7, 0, NULL);
	alarm(0);
	EXPECT_EQ(im.flags, IMAGE_OFFSETS);
	im = image_of(w.dir, 7, 0, NULL);
	EXPECT_EQ(im.flags, IMAGE_OFFSETS);
	end();
}

/* The stated address the profile got for file offset OFF. */
static uint64_t svma_of(uint32_t code, uint64_t off)
{
	place_id place = images_place(&w.images, code, off, 0);

	return w.profile.places.v[place].svma;
}

TEST(offsets_become_stated_addresses)
{
	uint32_t code;

	begin();
	write_file(7);
	image_of(w.path, 7, 0, &code);
	EXPECT(!w.images.codes.v[code].sampled);
	EXPECT_EQ(svma_of(code, 0x1010), 0x11010);
	EXPECT_EQ(svma_of(code, 0x5000), 0x5000);
	EXPECT(w.images.codes.v[code].sampled);
	image_of("/nonexistent/x", 9, 0, &code);
	EXPECT_EQ(svma_of(code, 0x1010), 0x1010);
	end();
}

TEST(the_vdso_is_one_image)
{
	struct image_layout vdso = {
		.build_id = id_of(5), .n_loads = 1, .loads = {{0, 0x100, 0x1000}}};
	uint32_t a, b;

	begin();
	images_release(&w.images);
	images_init(&w.images, &w.profile, probe, &vdso);
	a = images_intern(&w.images,
			  &(struct image_ref){.path = "[vdso]", .pid = 1, .start = 0x7000});
	b = images_intern(&w.images,
			  &(struct image_ref){.path = "[vdso]", .pid = 2, .start = 0x9000});
	EXPECT_EQ(a, b);
	EXPECT_EQ(w.profile.images.v[w.images.codes.v[a].image].kind, IMAGE_VDSO);
	EXPECT_EQ(w.profile.images.v[w.images.codes.v[a].image].build_id.bytes[0], 5);
	EXPECT_EQ(svma_of(a, 0x20), 0x120);
	end();
}

/* A process whose root has a link to a place outside of it: that is looked for inside. */
TEST(links_in_a_root_stay_below_it)
{
	char root[80], link[96];
	struct image_ref ref = {0};
	pid_t pid;
	int ready[2];
	char byte;

	begin();
	write_file(7);
	snprintf(root, sizeof(root), "%s/root", w.dir);
	snprintf(link, sizeof(link), "%s/lib", root);
	EXPECT_EQ(mkdir(root, 0755), 0);
	EXPECT_EQ(symlink(w.dir, link), 0);
	REQUIRE(pipe(ready) == 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (chroot(root) < 0 || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	ref = (struct image_ref){.path = "/lib/file", .pid = (uint32_t)pid};
	if (read(ready[0], &byte, 1) == 1) {
		uint32_t code = images_intern(&w.images, &ref);

		EXPECT(!w.images.codes.v[code].has_layout);
	}
	close(ready[0]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink(link);
	rmdir(root);
	end();
}

/* --- layouts that come later --- */

static bool answered;

static int probe_later(int fd, struct image_layout *ret, struct err *err)
{
	char self[40];
	int rc, own;

	if (!answered)
		return -EAGAIN;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	own = open(self, O_RDONLY | O_CLOEXEC); /* FD is O_PATH */
	rc = own < 0 ? -errno : probe(own, ret, err);
	close(own);
	return rc;
}

static uint32_t begin_later(uint8_t id)
{
	uint32_t code;

	begin();
	answered = false;
	w.images.probe = probe_later;
	images_ask(&w.images);
	write_file(id);
	image_of(w.path, 0, 0, &code);
	return code;
}

TEST(samples_do_not_wait_for_a_layout)
{
	uint32_t code = begin_later(7);
	place_id early = images_place(&w.images, code, 0x1010, 0), *to;
	image_id stand_in = w.profile.places.v[early].image;

	EXPECT(w.images.codes.v[code].asked && w.images.codes.v[code].fd >= 0);
	EXPECT(!images_take(&w.images));
	EXPECT(images_moves(&w.images, false) == NULL);
	EXPECT_EQ(images_n_awaited(&w.images, 0), 1);
	/* Stored before it came: by path and offset, never as the stand-in. */
	to = images_moves(&w.images, true);
	REQUIRE(to != NULL);
	EXPECT_EQ(w.profile.places.v[to[early]].svma, 0x1010);
	EXPECT_STR(w.profile.images.v[w.profile.places.v[to[early]].image].path, w.path);
	EXPECT_EQ(w.profile.images.v[w.profile.places.v[to[early]].image].build_id.n_bytes, 0);
	free(to);
	answered = true;
	EXPECT(images_take(&w.images) && images_any_came(&w.images));
	EXPECT_EQ(images_n_awaited(&w.images, 0), 0);
	to = images_moves(&w.images, false);
	REQUIRE(to != NULL);
	EXPECT_EQ(w.profile.places.v[to[early]].svma, 0x11010);
	EXPECT(w.profile.places.v[to[early]].image != stand_in);
	EXPECT_EQ(svma_of(code, 0x1010), 0x11010);
	free(to);
	images_moved(&w.images);
	EXPECT(!images_any_came(&w.images) && images_moves(&w.images, false) == NULL);
	end();
}

static unsigned n_probed;

static int probe_counted(int fd, struct image_layout *ret, struct err *err)
{
	n_probed++;
	return probe_later(fd, ret, err);
}

TEST(a_file_without_samples_is_not_read)
{
	for (unsigned paths = 0; paths < 2; paths++) {
		uint32_t code = begin_later(7);

		n_probed = 0;
		w.images.probe = probe_counted;
		EXPECT(!images_take(&w.images));
		EXPECT_EQ(images_n_awaited(&w.images, 0), 0);
		EXPECT_EQ(n_probed, 0);
		if (paths)
			images_add_number(&w.images, code);
		else
			images_place(&w.images, code, 0x1010, 0);
		EXPECT_EQ(n_probed, 1);
		EXPECT_EQ(w.images.asked.n, 1);
		end();
	}
}

TEST(a_file_that_is_known_needs_no_stand_in)
{
	uint32_t code = begin_later(7);

	answered = true;
	EXPECT_EQ(svma_of(code, 0x1010), 0x11010);
	EXPECT(!w.images.asked.n && !images_any_came(&w.images));
	end();
}

TEST(all_files_are_read_when_asked_for)
{
	uint32_t code = begin_later(7);

	images_want_all(&w.images);
	EXPECT_EQ(w.images.asked.n, 1);
	answered = true;
	EXPECT(images_take(&w.images));
	EXPECT(w.images.codes.v[code].has_layout);
	EXPECT_EQ(images_find_build_id(&w.images, &(struct build_id[]){id_of(7)}[0]), code);
	end();
}

TEST(two_files_that_are_awaited_are_not_one)
{
	uint32_t a = begin_later(7), b;
	place_id x, y, *to;

	image_of("/proc/self/exe", 0, 0, &b);
	x = images_place(&w.images, a, 0x1010, 0);
	y = images_place(&w.images, b, 0x1010, 0);
	EXPECT(x != y);
	answered = true;
	images_take(&w.images);
	to = images_moves(&w.images, false);
	REQUIRE(to != NULL);
	EXPECT(to[x] != to[y]);
	free(to);
	end();
}

TEST(a_file_that_is_no_program_stays_by_offset)
{
	uint32_t code = begin_later(7);
	place_id early = images_place(&w.images, code, 0x1010, 0), *to;

	EXPECT_EQ(truncate(w.path, 0), 0);
	answered = true;
	EXPECT(images_take(&w.images));
	EXPECT(!w.images.codes.v[code].has_layout && w.images.codes.v[code].fd < 0);
	to = images_moves(&w.images, false);
	REQUIRE(to != NULL);
	EXPECT_EQ(w.profile.places.v[to[early]].svma, 0x1010);
	EXPECT_EQ(w.profile.images.v[w.profile.places.v[to[early]].image].flags, IMAGE_OFFSETS);
	free(to);
	end();
}

static size_t allocated(void)
{
	const struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* Who bounds a recorder's memory adds this up; arrays have room for twice as much. */
TEST(memory_of_files_is_what_is_counted)
{
	size_t before, counted, dictionary, took;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	SKIP("there mallinfo2 says nothing");
#endif
	begin();
	before = allocated();
	dictionary = profile_bytes(&w.profile);
	for (unsigned i = 0; i < 20000; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/nowhere/program-%u", i);
		images_intern(&w.images,
			      &(struct image_ref){.dev = 1, .ino = 1000 + i, .path = path});
	}
	took = allocated() - before;
	counted = images_bytes(&w.images);
	dictionary = profile_bytes(&w.profile) - dictionary;
	EXPECT_EQ(w.images.codes.n, 20000);
	EXPECT(counted + dictionary <= took + took / 10);
	EXPECT(2 * (counted + dictionary) >= took);
	end();
}
