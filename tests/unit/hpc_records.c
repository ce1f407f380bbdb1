/* SPDX-License-Identifier: BSD-2-Clause */
/* Records come back by group, in the order they were added, from memory and from a file. */
#include <errno.h>
#include <stdlib.h>

#include "base/file.h"
#include "hpc/records.h"
#include "t.h"

/* Adds N records with groups below N_GROUPS, in order or not, and reads them again. */
static void round_trip(struct t_rng *r, size_t n, uint32_t n_groups, bool sorted,
		       size_t buffer_bytes)
{
	struct hpc_record *all = xcalloc(n + 1, sizeof(*all));
	struct records records;
	struct records_reader reader;
	struct err err = {0};
	size_t n_read = 0;

	records_init(&records, "/tmp", buffer_bytes);
	for (size_t i = 0; i < n; i++) {
		uint64_t group = sorted ? (uint64_t)n_groups * i / n : t_below(r, n_groups);

		all[i] = (struct hpc_record){.n = t_rand(r),
					     .group = (uint32_t)group,
					     .ctx = (uint32_t)i,
					     .event = (uint16_t)t_below(r, 9),
					     .input = (uint16_t)t_below(r, 3)};
		EXPECT_EQ(records_add(&records, &all[i], &err), 0);
	}
	EXPECT_EQ(records_finish(&records, n_groups, &err), 0);
	EXPECT_EQ(records.fd >= 0, n * sizeof(*all) > buffer_bytes);
	records_reader_init(&reader, &records);
	for (uint32_t g = 0; g < n_groups; g++) {
		const struct hpc_record *got;
		size_t at = 0;
		int k;

		records_begin(&reader, g);
		while ((k = records_next(&reader, &got, &err)) > 0)
			for (int i = 0; i < k; i++, n_read++) {
				while (at < n && all[at].group != g)
					at++;
				EXPECT(at < n && memcmp(&all[at], &got[i], sizeof(*got)) == 0);
				at++;
			}
		EXPECT_EQ(k, 0);
	}
	EXPECT_EQ(n_read, n);
	records_reader_release(&reader);
	records_release(&records);
	free(all);
}

TEST(records_come_back)
{
	struct t_rng r = {3};

	round_trip(&r, 0, 1, false, 1000);
	round_trip(&r, 5000, 7, false, 1 << 20);
	round_trip(&r, 5000, 7, true, 1 << 20);
	round_trip(&r, 5000, 7, false, 24 * 100);
	round_trip(&r, 5000, 900, true, 24 * 100);
	round_trip(&r, 3000, 100000, false, 24 * 64); /* two passes of sorting */
	round_trip(&r, 20000, 1, true, 24 * 15000);   /* a run longer than what is read at once */
	round_trip(&r, 10, 3, false, 1);
}

static int no_space(enum file_op op, size_t n_bytes)
{
	(void)n_bytes;
	return op == FILE_WRITE ? -ENOSPC : 0;
}

TEST(a_full_disk_is_an_error)
{
	struct records records;
	struct err err = {0};
	int rc = 0;

	records_init(&records, "/tmp", 24 * 10);
	file_fault = no_space;
	for (uint32_t i = 0; i < 100 && !rc; i++)
		rc = records_add(&records, &(struct hpc_record){.n = 1, .ctx = i}, &err);
	file_fault = NULL;
	EXPECT_EQ(rc, -ENOSPC);
	EXPECT(strstr(err.msg, "/tmp"));
	records_release(&records);
}
