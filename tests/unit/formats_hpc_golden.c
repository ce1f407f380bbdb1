/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/golden/hpctoolkit/KIND-LAYOUT.db of profile.db, cct.db and trace.db must be written to the
 * byte, and are shown as their .txt; with T_BLESS=1 the files are made. */
#include "base/cleanup.h"
#include "base/str.h"
#include "formats/hpc/dump.h"
#include "hpc/write/trace.h"
#include "hpc_tensor_t.h"
#include "hpc/write/cct.h"

/* Two threads, one of them empty, and their summary. */
static void write_files(const struct tensor_dir *d, enum hpc_layout layout)
{
	const struct hpc_trace_elem line[] = {
		{1700000000000000000, 3}, {1700000000001000000, 0}, {1700000000005000000, 1}};
	struct hpc_trace_writer *w;
	struct hpc_profile_db db;
	struct tensor t;
	uint8_t *bytes;
	size_t n;

	tensor_init(&t, 4, 4, 3);
	*tensor_at(&t, 0, 0, 0) = 18.75;
	*tensor_at(&t, 0, 3, 2) = 0.1;
	*tensor_at(&t, 1, 0, 2) = 12.5;
	*tensor_at(&t, 1, 1, 0) = 12.5;
	*tensor_at(&t, 1, 1, 2) = 12.5;
	*tensor_at(&t, 3, 0, 2) = 6.25;
	*tensor_at(&t, 3, 1, 1) = -1e300;
	*tensor_at(&t, 3, 3, 2) = 6.25;
	EXPECT_EQ(tensor_write_profiles(&t, d->fd, "profile.db", layout, 1, NULL), 0);
	bytes = tensor_load(d, "profile.db", &n);
	REQUIRE(hpc_profile_db_open(&db, bytes, n, "profile.db", NULL) == 0);
	EXPECT_EQ(hpc_cct_build(d->fd, "cct.db", &db, 0, NULL, NULL), 0);
	EXPECT_EQ(hpc_trace_create(&w, d->fd, "trace.db", layout, 3, NULL), 0);
	EXPECT_EQ(hpc_trace_put(w, 1, line, n_elems(line), NULL), 0);
	EXPECT_EQ(hpc_trace_put(w, 2, NULL, 0, NULL), 0);
	EXPECT_EQ(hpc_trace_put(w, 3, line + 1, 2, NULL), 0);
	EXPECT_EQ(hpc_trace_finish(w, NULL), 0);
	free(bytes);
	tensor_release(&t);
}

static int add_line(void *user, const char *text)
{
	str_addf(user, "%s\n", text);
	return 0;
}

/* Compares BYTES with a golden file, or makes it. */
static void hold_against(const char *name, const void *bytes, size_t n)
{
	_mem_ char *path = xasprintf("%s/hpctoolkit/%s", T_GOLDEN, name);
	_mem_ char *want = NULL;
	struct err err = {0};
	size_t n_want;

	if (getenv("T_BLESS")) {
		_file_ FILE *f = fopen(path, "w");

		EXPECT(f && fwrite(bytes, 1, n, f) == n);
	}
	if (file_load(path, 1 << 20, &want, &n_want, &err) < 0)
		t_fail_("%s", err.msg);
	else if (n != n_want || memcmp(bytes, want, n) != 0)
		t_fail_("%s is not what is written now", path);
}

TEST(golden_files_are_written_and_shown)
{
	static const struct {
		const char *name, *file;
		int (*dump)(struct hpc_dump *d, const void *bytes, size_t n, const char *name,
			    struct err *err);
	} kinds[] = {{"profile", "profile.db", hpc_profile_dump},
		     {"cct", "cct.db", hpc_cct_dump},
		     {"trace", "trace.db", hpc_trace_dump}};

	for (enum hpc_layout l = HPC_RELEASED; l <= HPC_PAGE; l++) {
		struct tensor_dir d;

		REQUIRE(tensor_dir_open(&d));
		write_files(&d, l);
		for (size_t k = 0; k < n_elems(kinds); k++) {
			_mem_ char *db = xasprintf("%s-%s.db", kinds[k].name, hpc_layout_name(l));
			_mem_ char *txt = xasprintf("%s-%s.txt", kinds[k].name, hpc_layout_name(l));
			struct str text = {0};
			struct hpc_dump dump = {.line = add_line, .user = &text};
			size_t n;
			_mem_ uint8_t *bytes = tensor_load(&d, kinds[k].file, &n);

			EXPECT_EQ(kinds[k].dump(&dump, bytes, n, kinds[k].file, NULL), 0);
			hold_against(db, bytes, n);
			hold_against(txt, str_get(&text), text.n);
			hpc_dump_release(&dump);
			str_release(&text);
		}
		tensor_dir_close(&d);
	}
}
