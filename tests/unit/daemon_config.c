/* SPDX-License-Identifier: BSD-2-Clause */
/* The daemon's options and its file of the same words. */
#include "daemon/config.h"

#include <errno.h>

#include "store_t.h"

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	fputs(text, f);
	fclose(f);
}

static struct config c;
static config_args words;

/* Reads TEXT as the file and ARGV as the command line. */
static int read_both(const char *text, int argc, char **argv, struct err *err)
{
	struct scratch t = scratch_new();
	char path[64];
	int rc;

	config_release(&c);
	config_args_release(&words);
	snprintf(path, sizeof(path), "%s/conf", t.dir);
	write_file(path, text);
	rc = config_read(&c, path, argc, argv, &words, err);
	scratch_release(&t);
	return rc;
}

TEST(the_file_has_the_words_of_the_options)
{
	char *argv[] = {(char *)"dwelld"};
	struct err err;

	EXPECT_EQ(
		read_both("# a comment\n\n  freq   199  \nevent cpu-clock\nevent page-faults:7\r\n"
			  "label night shift\nepoch 1h\nmax-age 4w\nmax-size 2G\nkeep 7\nprune 0.5",
			  1, argv, &err),
		0);
	EXPECT_EQ(c.record.freq_hz, 199);
	EXPECT_EQ(c.record.events.n, 2);
	EXPECT_STR(c.record.events.v[1], "page-faults:7");
	EXPECT_STR(c.record.label, "night shift");
	EXPECT_EQ(c.epoch_ns, 3600000000000);
	EXPECT_EQ(c.flush_ns, 300000000000); /* the default */
	EXPECT_EQ(c.max_age_ns, 28 * 86400 * 1000000000ull);
	EXPECT_STR(c.max_size, "2G");
	EXPECT_EQ(c.n_keep, 7);
	EXPECT(c.prune == 0.5);
}

TEST(the_command_line_counts_more)
{
	char *argv[] = {(char *)"dwelld", (char *)"-e", (char *)"cycles", (char *)"--freq=50",
			(char *)"db"};
	struct err err;

	EXPECT_EQ(
		read_both("freq 199\nevent cpu-clock\nslot page-faults\nlabel x\n", 5, argv, &err),
		0);
	EXPECT_EQ(c.record.freq_hz, 50);
	EXPECT_EQ(c.record.events.n, 1);
	EXPECT_STR(c.record.events.v[0], "cycles");
	EXPECT_EQ(c.record.slots.n, 1);
	EXPECT_STR(c.record.label, "x");
	EXPECT_EQ(c.operands.n, 1);
}

/* What is recorded of call paths with FILE's words and ARG on the command line. */
static struct collector_opts calls_of(const char *file, const char *arg)
{
	char *argv[] = {(char *)"dwelld", (char *)arg, NULL};
	struct collector_opts o = {0};
	const char *why;
	struct plan plan;
	struct err err;

	EXPECT_EQ(read_both(file, arg ? 2 : 1, argv, &err), 0);
	EXPECT_EQ(config_plan(&c, &plan, &why, &err), 0);
	o.calls = plan.service.collect.calls;
	o.calls_optional = plan.service.collect.calls_optional;
	plan_release(&plan);
	return o;
}

TEST(call_paths_are_recorded_unless_told_otherwise)
{
	const struct {
		const char *file, *arg;
		enum call_graph calls;
		bool optional;
	} all[] = {
		{"event cpu-clock\n", NULL, CALLS_AUTO, true},
		{"", "-g", CALLS_AUTO, false},
		{"calls\n", NULL, CALLS_AUTO, false},
		{"", "--call-graph=dwarf", CALLS_DWARF, false},
		{"", "--call-graph=none", CALLS_NONE, false},
		{"call-graph none\n", NULL, CALLS_NONE, false},
		{"calls\n", "--call-graph=none", CALLS_NONE, false},
		{"call-graph none\n", "-g", CALLS_AUTO, false},
		{"call-graph dwarf\n", "-g", CALLS_DWARF, false},
		{"call-graph none\n", "--call-graph=fp", CALLS_FP, false},
	};

	for (size_t i = 0; i < n_elems(all); i++) {
		struct collector_opts o = calls_of(all[i].file, all[i].arg);

		EXPECT_EQ(o.calls, all[i].calls);
		EXPECT(o.calls == CALLS_NONE || o.calls_optional == all[i].optional);
	}
}

TEST(what_is_wrong_in_the_file_is_named)
{
	static const char *const bad[] = {"freq x\n", "frequency 3\n",	"--freq 3\n", "freq=3\n",
					  "db\n",     "config other\n", "help\n",     "-\n"};
	char *argv[] = {(char *)"dwelld"};
	struct err err;

	for (size_t i = 0; i < n_elems(bad); i++) {
		EXPECT_EQ(read_both(bad[i], 1, argv, &err), -EINVAL);
		EXPECT(strstr(err.msg, "/conf: "));
	}
	EXPECT_EQ(read_both("freq 3\nno such\n", 1, argv, &err), -EINVAL);
	config_release(&c);
	EXPECT_EQ(config_read(&c, "/no/such/file", 1, argv, &words, &err), -ENOENT);
	config_release(&c);
	config_args_release(&words);
	EXPECT_EQ(config_read(&c, NULL, 1, argv, &words, &err), 0);
}

TEST(nul_bytes_are_not_text)
{
	config_args argv = {0};
	struct err err;

	EXPECT_EQ(config_split("freq 1\0002\n", 9, &argv, &err), -EINVAL);
	EXPECT_STR(err.msg, "line 1: not text");
	config_args_release(&argv);
}

TEST(plans_say_what_does_not_go_together)
{
	static const char *const bad[][3] = {
		{"--freq=9", "--count=9", "-F and -c"},
		{"--event=cpu-clock", "--slot=page-faults", "-e and -slot"},
		{"--by=user", "--by=user", "'user'"},
		{"--call-graph=lbr", "--by=tid", "none of auto, fp, dwarf, none"},
		{"--flush=1ms", "--flush=1ms", "at least"},
		{"--db=x", "y", "more than one database"},
	};
	const char *why;
	struct plan plan;
	struct err err;

	for (size_t i = 0; i < n_elems(bad); i++) {
		char *argv[] = {(char *)"dwelld", (char *)bad[i][0], (char *)bad[i][1]};

		EXPECT_EQ(read_both("", 3, argv, &err), 0);
		EXPECT_EQ(config_plan(&c, &plan, &why, &err), -EINVAL);
		EXPECT(strstr(err.msg, bad[i][2]));
	}
}

TEST(slots_number_their_events)
{
	char *argv[] = {(char *)"dwelld", (char *)"--slot=cpu-clock+page-faults",
			(char *)"--slot=task-clock", (char *)"db"};
	const char *why;
	struct plan plan;
	struct err err;

	EXPECT_EQ(read_both("", 4, argv, &err), 0);
	if (config_plan(&c, &plan, &why, &err) < 0)
		SKIP("no software events here");
	EXPECT_EQ(plan.record.specs.n, 3);
	EXPECT_EQ(plan.record.slot.v[0], 0);
	EXPECT_EQ(plan.record.slot.v[1], 0);
	EXPECT_EQ(plan.record.slot.v[2], 1);
	EXPECT_STR(plan.db, "db");
	EXPECT(why == NULL);
	plan_release(&plan);
	config_release(&c);
	config_args_release(&words);
}
