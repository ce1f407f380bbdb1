/* SPDX-License-Identifier: BSD-2-Clause */
/* Call paths for tests, and files of other tools made of them. */
#ifndef TESTS_STACKS_T_H
#define TESTS_STACKS_T_H

#include "port/exporters.h"
#include "port/importers.h"

/* main calls hot, which inlines add: of two threads, in two events, one of which is a clock. */
static inline void stacks_t_make(struct stacks *s)
{
	static const struct stack_owner owners[] = {
		{.comm = "make", .exe = "/bin/prog", .pid = 10, .tid = 10, .uid = 0},
		{.comm = "a worker", .pid = 10, .tid = 11, .uid = -1}};
	struct stack_line hot[2] = {{0, 3, "", 0, true}, {0, 12, ""}}, line = {0, 20, ""};
	uint32_t prog, kernel, path[3];
	struct stacks_maker m;

	*s = (struct stacks){0};
	stacks_make_begin(&m, s);
	stacks_make_column(&m, "cpu-clock", "count", STACK_SAMPLES, 1000000);
	stacks_make_column(&m, "cpu-clock", "nanoseconds", STACK_WEIGHT, 1000000);
	stacks_make_column(&m, "faults", "count", STACK_SAMPLES, 1);
	prog = stacks_make_image(&m, &(struct stack_image){.path = "/bin/prog",
							   .build_id = "00112233445566778899aabb",
							   .start = 0x401000,
							   .end = 0x402000,
							   .kind = IMAGE_FILE});
	kernel = stacks_make_image(
		&m,
		&(struct stack_image){.path = "[kernel]", .kind = IMAGE_KERNEL, .is_kernel = true});
	line.function = stacks_make_function(&m, &(struct stack_function){.name = "main",
									  .file = "prog.c",
									  .line = 18,
									  .image = prog,
									  .svma = 0x401000});
	hot[0].function = stacks_make_function(
		&m, &(struct stack_function){.name = "add", .file = "add.h", .image = prog});
	hot[1].function = stacks_make_function(&m, &(struct stack_function){.name = "hot",
									    .file = "prog.c",
									    .line = 9,
									    .image = prog,
									    .svma = 0x401030});
	path[0] = stacks_make_node(&m, 0, stacks_make_place(&m, prog, 0x401007, &line, 1));
	path[1] = stacks_make_node(&m, path[0], stacks_make_place(&m, prog, 0x401035, hot, 2));
	path[2] = stacks_make_node(&m, path[1],
				   stacks_make_frame(&m, "do_page_fault", "", 0, kernel));
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t *n = stacks_make_value(&m, path[i], stacks_make_owner(&m, &owners[i % 2]));

		n[0] += i + 1;
		n[1] += 1000000 * (i + 1);
		n[2] += i == 2 ? 7 : 0;
	}
	stacks_make_end(&m);
}

/* The file of format NAME (a row of exporters.c) made of these, in fresh memory. */
static inline uint8_t *stacks_t_file(const char *name, size_t *ret_n)
{
	struct out_stream out = {.fd = -1};
	struct exporter_result r = {0};
	struct stacks s;

	stacks_t_make(&s);
	for (size_t i = 0; i < n_exporters; i++)
		if (strcmp(exporters[i].name, name) == 0)
			exporters[i].write(&s, &out, &r, NULL);
	stacks_release(&s);
	str_release(&r.notes);
	*ret_n = out.text.n;
	return (uint8_t *)out.text.v;
}

static inline const struct importer *stacks_t_importer(const char *name)
{
	for (size_t i = 0; i < n_importers; i++)
		if (strcmp(importers[i].name, name) == 0)
			return &importers[i];
	return NULL;
}

static const char stacks_t_cpuprofile[] =
	"{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\",\"scriptId\":\"0\","
	"\"url\":\"\","
	"\"lineNumber\":-1,\"columnNumber\":-1},\"hitCount\":0,\"children\":[2]},{\"id\":2,"
	"\"callFrame\":"
	"{\"functionName\":\"fib\",\"scriptId\":\"9\",\"url\":\"file:///n.js\",\"lineNumber\":0,"
	"\"columnNumber\":12},\"hitCount\":2,\"children\":[3]},{\"id\":3,\"callFrame\":{"
	"\"functionName\":\"\","
	"\"url\":\"file:///"
	"n.js\",\"lineNumber\":4},\"hitCount\":1}],\"startTime\":1000,\"endTime\":4000,"
	"\"samples\":[2,2,3],\"timeDeltas\":[100,1000,1200]}";

static const char stacks_t_folded[] =
	"make;main;hot;add_[i] 3\nmake;main;do_page_fault_[k] 2.5\n"
	"# a comment\nmake;main;stub_[j] 1\n[truncated: no_table];hot 4\n";

#endif
