/* SPDX-License-Identifier: BSD-2-Clause */
/* What children say of generated code: whatever the file has, an answer is sound; whatever an
 * answer has, it is taken or refused. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "jitdumps.h"
#include "resolve/jitcode.h"
#include "resolve/jitread.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	static const char map[] = "1000 10 first\n1008 20 second one\nffff";
	struct wr w = {0};

	if (i == 0) {
		jd_header(&w);
		jd_load(&w, 0x1000, 16, "first");
		jd_load(&w, 0x1008, 16, "second");
		jd_move(&w, 0x1008, 0x2000, 16);
	} else if (i == 1) {
		wr_bytes(&w, map, sizeof(map) - 1);
	} else if (i == 2) { /* an answer: one procedure */
		wr_bytes(&w, "\4\100\0\1\5\200\40\20\0\3abc", 13);
	} else {
		return NULL;
	}
	*ret_n = w.n;
	return w.v;
}

static int take(struct jitcode *j, const uint8_t *bytes, size_t n)
{
	struct rd r = rd_init(bytes, n);
	bool more;
	int rc = jitcode_begin(j, &r, &more, NULL);

	return rc < 0 ? rc : jitcode_take(j, &r, UINT64_MAX, NULL);
}

static void read_as(int fd, bool map)
{
	struct jitcode *j = jitcode_new();
	struct wr question = {0}, answer = {0};

	jitcode_question(j, map, true, &question);
	if (jitread(fd, question.v, question.n, &answer, NULL) == 0)
		FUZZ_REQUIRE(take(j, answer.v, answer.n) != -EBADMSG);
	wr_release(&question);
	wr_release(&answer);
	jitcode_free(j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct jitcode *j = jitcode_new();
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct symtab st;

	if (fd >= 0 && write(fd, data, n) == (ssize_t)n) {
		struct wr answer = {0};

		read_as(fd, false);
		read_as(fd, true);
		jitread(fd, data, n, &answer, NULL); /* any bytes may be a question */
		wr_release(&answer);
	}
	close(fd);
	if (take(j, data, n) == 0) {
		jitcode_symbols(j, &st);
		symtab_release(&st);
	}
	jitcode_free(j);
	return 0;
}
