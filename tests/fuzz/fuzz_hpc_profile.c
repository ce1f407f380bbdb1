/* SPDX-License-Identifier: BSD-2-Clause */
/* profile.db read, dumped, checked and transposed.  What the check finds nothing in can be
 * transposed, and nothing is found in the result. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "hpc/write/cct.h"
#include "formats/hpc/check/check.h"
#include "hpc_fuzz.h"

enum { N_CTXS = 64 }; /* the most that are transposed: a larger id is an error, not gigabytes */

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	struct wr w = hpc_fuzz_file(hand_profile, i);

	*ret_n = w.n;
	return w.v;
}

static char scratch[] = "/tmp/dwell-fuzz-XXXXXX";
static int scratch_fd = -1;

static void remove_scratch(void)
{
	unlinkat(scratch_fd, "cct.db", 0);
	rmdir(scratch);
}

static int scratch_dir(void)
{
	if (scratch_fd < 0) {
		FUZZ_REQUIRE(mkdtemp(scratch));
		scratch_fd = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		atexit(remove_scratch);
	}
	return scratch_fd;
}

static void transpose(const struct hpc_profile_db *db, bool sound)
{
	struct hpc_check c = {0};
	struct hpc_cct_db cct;
	struct file_map map;
	struct err err = {0};
	int rc = hpc_cct_build(scratch_dir(), "cct.db", db, N_CTXS,
			       &(struct hpc_cct_options){.memory_bytes = 200}, &err);

	FUZZ_REQUIRE(rc == 0 || (rc == -EBADMSG && *err.msg));
	FUZZ_REQUIRE(rc == 0 || !sound || strstr(err.msg, "but there are"));
	if (rc)
		return;
	FUZZ_REQUIRE(file_map_open(&map, scratch_dir(), "cct.db", true, NULL) == 0);
	FUZZ_REQUIRE(hpc_cct_db_open(&cct, map.bytes, map.n_bytes, "cct.db", NULL) == 0);
	hpc_check_cct(&c, map.bytes, map.n_bytes, "cct.db");
	FUZZ_REQUIRE(!sound || c.n_problems == 0);
	file_map_close(&map);
}

static void run(const uint8_t *bytes, size_t n)
{
	struct hpc_profile_db db;
	struct err err = {0};
	int rc = hpc_profile_db_open(&db, bytes, n, "x", &err);
	bool sound = hpc_fuzz_look(bytes, n, rc, &err, hpc_check_profile, hpc_profile_dump);

	if (rc)
		return;
	for (uint32_t i = 0; i < db.nProfiles && i < 100; i++) {
		struct hpc_profile p;
		double v;

		if (hpc_profile_open(&p, &db, i, NULL) == 0)
			for (uint32_t ctxId = 0; ctxId < 8; ctxId++)
				hpc_profile_value(&p, ctxId, 1, &v, NULL);
	}
	transpose(&db, sound);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	hpc_fuzz(data, n, hand_profile, run);
	return 0;
}
