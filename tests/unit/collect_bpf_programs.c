/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that are loaded, by the kernel's own list of names: needs root, as loading one does. */
#include "collect/bpf_programs.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "collect/log.h"
#include "machine/target.h"
#include "t.h"

struct seen {
	const char *kallsyms; /* all of it */
	size_t n, n_wrong;
	bool ours;
};

/* A function that the kernel lists at START has NAME there; one that has gone is not listed. */
static void compare(void *ctx, uint64_t start, uint64_t end, const char *name)
{
	struct seen *seen = ctx;
	char address[32];
	const char *at;

	snprintf(address, sizeof(address), "%016llx t ", (unsigned long long)start);
	at = strstr(seen->kallsyms, address);
	seen->n++;
	seen->n_wrong += end <= start || (at && (strncmp(at + 19, name, strlen(name)) != 0 ||
						 at[19 + strlen(name)] != '\t'));
	if (at && strstr(name, "_dwell_seen"))
		seen->ours = true;
}

static int load_program(void)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT}};

	return bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "dwell_seen", "BSD", insns, 2, NULL);
}

/* A program without types, and the log's, whose functions are named by theirs. */
TEST(names_are_the_kernels)
{
	struct log_opts o = {
		.n_events = 1, .n_cpus = cpus_possible(), .n_slots = 64, .n_spill = 64};
	struct seen seen = {0};
	struct log *l = NULL;
	char *text = NULL;
	struct err err;
	int fd;

	if (geteuid() != 0)
		SKIP("not root");
	fd = load_program();
	REQUIRE(fd >= 0);
	REQUIRE(log_open(&o, &l, &err) == 0);
	REQUIRE(file_load("/proc/kallsyms", 1 << 28, &text, NULL, &err) == 0);
	seen.kallsyms = text;
	bpf_programs_each(compare, &seen);
	EXPECT_EQ(seen.n_wrong, 0);
	if (!strstr(text, "_dwell_seen"))
		SKIP("the kernel hides its addresses, or does not compile programs");
	EXPECT(seen.ours);
	EXPECT(seen.n >= 2);
	free(text);
	log_close(l);
	close(fd);
}
