/* SPDX-License-Identifier: BSD-2-Clause */
/* A hostile ELF file with DWARF: whatever it says, rows are ascending and inside what was asked
 * for, and single questions agree with them; chains of inlined calls end, and begin the same when
 * fewer are asked for. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "fuzz.h"
#include "resolve/inlines.h"

/* Real files, made by the compiler: versions 4 and 5, plain and compressed. */
uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	static const char *const options[] = {"-gdwarf-4", "-gdwarf-5", "-gdwarf-5 -gz",
					      "-gdwarf-4 -fdebug-types-section"};
	char path[] = "/tmp/dwell-fuzz-XXXXXX", cmd[512], *bytes = NULL;
	int fd;

	if (i >= sizeof(options) / sizeof(options[0]))
		return NULL;
	fd = mkstemp(path);
	FUZZ_REQUIRE(fd >= 0);
	close(fd);
	snprintf(cmd, sizeof(cmd),
		 "printf 'static inline int h(int x)\\n{ return x * 3; }\\nint f(int x)\\n{\\n"
		 " return x > 3 ? h(x) : 1;\\n}\\nint g(int x)\\n{ return f(x) + f(x + 1); }\\n' | "
		 "gcc %s -O2 -ffunction-sections -shared -nostdlib -Wl,-z,noseparate-code "
		 "-Wl,--build-id=none -x c -o %s -",
		 options[i], path);
	FUZZ_REQUIRE(system(cmd) == 0);
	FUZZ_REQUIRE(file_load(path, 1 << 20, &bytes, ret_n, NULL) == 0);
	unlink(path);
	return (uint8_t *)bytes;
}

static void check_inlines(struct lines *l, uint64_t svma)
{
	struct inline_scope all[INLINES_MAX], first[2];
	size_t n = inlines_find(l, svma, all, INLINES_MAX);

	FUZZ_REQUIRE(n <= INLINES_MAX);
	FUZZ_REQUIRE(inlines_find(l, svma, first, 2) == (n < 2 ? n : 2));
	for (size_t i = 0; i < n; i++) {
		FUZZ_REQUIRE(strlen(all[i].name) > 0);
		FUZZ_REQUIRE(!all[i].file || strlen(all[i].file) > 0);
		FUZZ_REQUIRE(i > 0 || (!all[i].file && !all[i].line));
		FUZZ_REQUIRE(i >= 2 ||
			     (first[i].name == all[i].name && first[i].file == all[i].file &&
			      first[i].line == all[i].line));
	}
}

/* The names alone are the same, from DWARF opened without lines.  What is hidden then may be what
 * is damaged, or all there is: NAMES may be NULL where L is not, and the other way round. */
static void check_names(struct lines *l, struct lines *names, uint64_t svma)
{
	struct inline_scope all[INLINES_MAX];
	const char *some[INLINES_MAX];
	size_t n = inlines_find(l, svma, all, INLINES_MAX);

	FUZZ_REQUIRE((names ? inlines_names(names, svma, some, INLINES_MAX) : 0) == n);
	for (size_t i = 0; i < n; i++)
		FUZZ_REQUIRE(strcmp(some[i], all[i].name) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	int fd = memfd_create("lines", MFD_CLOEXEC), code;
	struct line_row *rows;
	struct lines_extent extent;
	struct lines *l, *names;
	uint64_t last = 0;
	size_t n_rows;

	FUZZ_REQUIRE(fd >= 0 && file_write_all(fd, data, n) == 0);
	l = lines_open(fd, "/nowhere/lines", &code, NULL);
	FUZZ_REQUIRE(l ? code == 0 : code < 0);
	names = lines_open_scopes(fd, "/nowhere/lines", &code, NULL);
	FUZZ_REQUIRE(names ? code == 0 : code < 0);
	close(fd);
	if (!l) {
		lines_close(names);
		return 0;
	}
	n_rows = lines_range(l, 0x10, UINT64_MAX - 1, &rows);
	for (size_t i = 0; i < n_rows; i++) {
		const struct line_row *r = &rows[i];
		struct line at;

		FUZZ_REQUIRE(r->svma >= 0x10 && r->svma >= last && r->svma < r->end);
		last = r->end;
		FUZZ_REQUIRE(last <= UINT64_MAX - 1 && strlen(r->at.file) > 0);
		FUZZ_REQUIRE(lines_find(l, r->svma, &at) == 0);
		FUZZ_REQUIRE(at.file == r->at.file && at.line == r->at.line);
		if (lines_procedure(l, r->svma, r->end, &extent) == 0)
			FUZZ_REQUIRE(extent.first <= extent.last);
		check_inlines(l, r->svma);
		check_inlines(l, r->end - 1);
		check_names(l, names, r->svma);
	}
	free(rows);
	lines_close(l);
	lines_close(names);
	return 0;
}
