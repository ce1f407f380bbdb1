/* SPDX-License-Identifier: BSD-2-Clause */
/* Unwind tables kept on disk: found again by file, refused when damaged, forged or somebody
 * else's. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "daemon/table_cache.h"
#include "resolve/answer.h"
#include "resolve/table_file.h"
#include "t.h"

static char dir[64], file[100], tables[100];
static struct file_stamp stamp;
static struct wr answer;
static int fd;

static void make_answer(void)
{
	struct unwind_rule rules[] = {{.cfa = UNWIND_CFA_NONE},
				      {.cfa = UNWIND_CFA_SP, .cfa_off = 24, .ra_at = -1}};
	struct unwind_row rows[] = {{4096, 0}, {4112, 1}};
	uint32_t blocks[] = {0, 2};

	answer.n = 0;
	answer_put_table(&(struct unwind_table){.first_off = 4096,
						.n_rules = 2,
						.rules = rules,
						.n_rows = 2,
						.rows = rows,
						.n_blocks = 1,
						.blocks = blocks},
			 &answer);
}

static void begin(void)
{
	snprintf(dir, sizeof(dir), "/tmp/table_cache.XXXXXX");
	REQUIRE(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/program", dir);
	snprintf(tables, sizeof(tables), "%s/tables", dir);
	fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	REQUIRE(fd >= 0 && file_write_all(fd, "program", 7) >= 0);
	REQUIRE(file_stamp_get(fd, &stamp, NULL) >= 0);
	make_answer();
}

static void end(void)
{
	char command[200];

	table_cache_end();
	close(fd);
	wr_release(&answer);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	EXPECT_EQ(system(command), 0);
}

/* Whether the table is found, by a recorder that begins. */
static bool is_kept(void)
{
	struct unwind_table t;
	bool found;

	table_cache_start(dir);
	found = table_cache_load(fd, &t) >= 0;
	if (found) {
		EXPECT_EQ(unwind_table_find(&t, 4096 + 20)->cfa_off, 24);
		unwind_table_release(&t);
	}
	table_cache_end();
	return found;
}

static void keep(void)
{
	table_cache_start(dir);
	table_cache_keep();
	table_cache_save(fd, &stamp, false, answer.v, answer.n);
	table_cache_end();
}

TEST(a_table_is_found_again_until_its_file_changes)
{
	struct stat st;

	begin();
	EXPECT(!is_kept());
	keep();
	EXPECT(is_kept());
	REQUIRE(stat(tables, &st) >= 0);
	EXPECT_EQ(st.st_mode & 0777, 0700);
	REQUIRE(file_write_all(fd, "more", 4) >= 0);
	EXPECT(!is_kept());
	keep(); /* it was read before it changed */
	EXPECT(!is_kept());
	end();
}

/* A file that ends at a terabyte would be read for an hour. */
TEST(a_kept_file_that_is_too_large_is_made_again)
{
	char command[300];

	begin();
	keep();
	snprintf(command, sizeof(command), "truncate -s 1T %s/*", tables);
	REQUIRE(system(command) == 0);
	EXPECT(!is_kept());
	keep();
	EXPECT(is_kept());
	end();
}

TEST(what_comes_before_the_database_is_kept_when_that_is_there)
{
	begin();
	table_cache_start(dir);
	table_cache_save(fd, &stamp, false, answer.v, answer.n);
	EXPECT(access(tables, F_OK) < 0);
	table_cache_keep();
	table_cache_end();
	EXPECT(is_kept());
	end();
}

TEST(a_full_disk_is_for_samples)
{
	struct unwind_table t;

	begin();
	keep();
	table_cache_start(dir);
	EXPECT(!table_cache_give_way(-EIO));
	REQUIRE(table_cache_load(fd, &t) >= 0);
	unwind_table_release(&t);
	EXPECT(table_cache_give_way(-ENOSPC));
	EXPECT_EQ(table_cache_load(fd, &t), -ENOENT);
	EXPECT(!table_cache_give_way(-ENOSPC)); /* nothing is left */
	table_cache_end();
	EXPECT(!is_kept());
	end();
}

TEST(a_note_is_found_again_until_its_file_changes)
{
	struct file_note note = {.has_content = true, .content = {7}}, found;

	note.layout.build_id = (struct build_id){.n_bytes = 2, .bytes = {1, 2}};
	note.layout.machine = 62;
	begin();
	table_cache_start(dir);
	EXPECT(!table_cache_load_note(fd, &found));
	table_cache_keep();
	table_cache_save(fd, &stamp, false, answer.v, answer.n);
	table_cache_save_note(fd, &stamp, false, &note);
	table_cache_end();
	EXPECT(is_kept()); /* the table is another file */
	table_cache_start(dir);
	REQUIRE(table_cache_load_note(fd, &found));
	EXPECT(found.has_content && found.content[0] == 7 && found.layout.machine == 62);
	EXPECT(build_id_same(&found.layout.build_id, &note.layout.build_id));
	REQUIRE(file_write_all(fd, "more", 4) >= 0);
	EXPECT(!table_cache_load_note(fd, &found));
	end();
}

TEST(what_is_of_the_machine_is_found_by_its_key)
{
	struct file_map map;
	const uint8_t *bytes;
	char name[160];
	size_t n;

	begin();
	table_cache_start(dir);
	EXPECT(!table_cache_load_machine(7, &map, &bytes, &n));
	table_cache_save_machine(7, (const uint8_t *)"types", 5);
	table_cache_keep();
	EXPECT(!table_cache_load_machine(8, &map, &bytes, &n));
	REQUIRE(table_cache_load_machine(7, &map, &bytes, &n));
	EXPECT_EQ(n, 5);
	EXPECT(memcmp(bytes, "types", 5) == 0);
	EXPECT_EQ(table_file_check(map.bytes, map.n_bytes, NULL), 0);
	file_map_close(&map);
	snprintf(name, sizeof(name), "sed -i s/types/typos/ %s/*.machine", tables);
	REQUIRE(system(name) == 0);
	EXPECT(!table_cache_load_machine(7, &map, &bytes, &n)); /* damaged: removed */
	snprintf(name, sizeof(name), "%s/0000000000000007.machine", tables);
	EXPECT(access(name, F_OK) < 0);
	end();
}

TEST(damaged_and_forged_notes_are_refused)
{
	const struct table_file_of of = {.stamp = {1, 2, 3, 4, 5}, .uid = 6};
	struct table_file_of other = of;
	struct file_note note = {.layout.build_id = {.n_bytes = 1}}, found;
	struct wr w = {0};

	table_file_put_note(&of, &note, &w);
	EXPECT_EQ(table_file_check(w.v, w.n, NULL), 0);
	REQUIRE(table_file_get_note(w.v, w.n, &of, &found, NULL) >= 0);
	for (size_t i = 0; i < w.n; i++) {
		w.v[i] ^= 4;
		EXPECT(table_file_get_note(w.v, w.n, &of, &found, NULL) < 0);
		EXPECT_EQ(table_file_check(w.v, w.n, NULL), -EBADMSG);
		w.v[i] ^= 4;
	}
	for (size_t n = 0; n < w.n; n++)
		EXPECT(table_file_get_note(w.v, n, &of, &found, NULL) < 0);
	other.uid = 0;
	EXPECT_EQ(table_file_get_note(w.v, w.n, &other, &found, NULL), -ESTALE);
	wr_release(&w);
}

TEST(a_directory_that_others_may_enter_is_not_used)
{
	begin();
	keep();
	REQUIRE(chmod(tables, 0750) >= 0);
	EXPECT(!is_kept());
	REQUIRE(chmod(tables, 0700) >= 0);
	EXPECT(is_kept());
	if (geteuid() == 0) { /* somebody else's */
		REQUIRE(chown(tables, 12345, 12345) >= 0);
		EXPECT(!is_kept());
		keep(); /* nothing is put there */
	}
	end();
}

TEST(tables_of_files_that_others_may_write_are_not_kept_by_root)
{
	begin();
	if (geteuid() == 0) {
		REQUIRE(fchmod(fd, 0666) >= 0 && file_stamp_get(fd, &stamp, NULL) >= 0);
		keep();
		EXPECT(!is_kept());
		REQUIRE(fchmod(fd, 0644) >= 0 && fchown(fd, 12345, 0) >= 0);
		REQUIRE(file_stamp_get(fd, &stamp, NULL) >= 0);
		keep();
		EXPECT(!is_kept());
	}
	end();
}

TEST(damaged_and_forged_tables_are_refused)
{
	const struct table_file_of of = {.stamp = {1, 2, 3, 4, 5}, .uid = 6};
	struct table_file_of other = of;
	struct unwind_table t;
	struct wr w = {0};

	begin();
	table_file_put(&of, answer.v, answer.n, &w);
	EXPECT_EQ(table_file_check(w.v, w.n, NULL), 0);
	REQUIRE(table_file_get(w.v, w.n, &of, &t, NULL) >= 0);
	unwind_table_release(&t);
	for (size_t i = 0; i < w.n; i++) {
		w.v[i] ^= 4;
		EXPECT(table_file_get(w.v, w.n, &of, &t, NULL) < 0);
		EXPECT_EQ(table_file_check(w.v, w.n, NULL), -EBADMSG);
		w.v[i] ^= 4;
	}
	for (size_t n = 0; n < w.n; n++)
		EXPECT(table_file_get(w.v, n, &of, &t, NULL) < 0);
	other.stamp.ctime_ns++;
	EXPECT_EQ(table_file_get(w.v, w.n, &other, &t, NULL), -ESTALE);
	other = of;
	other.uid = 0;
	EXPECT_EQ(table_file_get(w.v, w.n, &other, &t, NULL), -ESTALE);
	w.n = 0; /* a right checksum over a table that is none */
	answer.v[answer.n - 1] ^= 1;
	table_file_put(&of, answer.v, answer.n, &w);
	EXPECT_EQ(table_file_get(w.v, w.n, &of, &t, NULL), -EBADMSG);
	wr_release(&w);
	end();
}
