/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a fuzz target without a fuzzer: every file of the command line, every input of fuzz_seed(),
 * each of them cut off at every byte (of those larger than $FUZZ_CUTS, default 4096: at so many
 * places), and $FUZZ_CASES (default 2000) mutations of each; with neither, mutations of the empty
 * input.
 * The mutations follow from $FUZZ_SEED (default 1) and the input's number alone, so a failure
 * repeats: on a crash, a sanitizer's report or an input that takes longer than 20 seconds, the
 * bytes are written to crash-<target>.bin in the working directory and the place is named on
 * stderr. Give that file to the same program to see it again.
 *
 * With --seeds DIRECTORY it runs nothing and writes the inputs of fuzz_seed() and the files of the
 * command line there, for libFuzzer to begin with. */
#include "fuzz.h"

#include <fcntl.h>
#include <stdbool.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HANG_SECONDS 60
#define MAX_GROWTH   256 /* bytes one mutation may insert */

void __sanitizer_set_death_callback(void (*f)(void)) __attribute__((weak));

static struct {
	const char *program, *seed_name;
	unsigned mutation; /* 0: the seed itself */
	bool cut;	   /* it ends too early */
	const uint8_t *bytes;
	size_t n;
} now;

static uint64_t rng;

static uint64_t below(uint64_t n)
{
	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	return (rng * 0x2545f4914f6cdd1dULL >> 11) % n;
}

/* May run in a signal handler. */
static void report(void)
{
	char path[256], msg[512];
	const char *name = strrchr(now.program, '/');
	int fd, n;

	snprintf(path, sizeof(path), "crash-%s.bin", name ? name + 1 : now.program);
	n = snprintf(msg, sizeof(msg), "%s: failed on %s, %s %u (%zu bytes kept in %s)\n",
		     now.program, now.seed_name, now.cut ? "cut at" : "mutation",
		     now.cut ? (unsigned)now.n : now.mutation, now.n, path);
	if (write(STDERR_FILENO, msg, (size_t)n) < 0)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0)
		return;
	if (write(fd, now.bytes, now.n) < 0)
		unlink(path);
	close(fd);
}

static void on_signal(int sig)
{
	report();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void run(const uint8_t *bytes, size_t n)
{
	uint8_t *exact = malloc(n ? n : 1); /* its own allocation, so that overruns are seen */

	memcpy(exact, bytes, n);
	now.bytes = exact;
	now.n = n;
	alarm(HANG_SECONDS);
	LLVMFuzzerTestOneInput(exact, n);
	alarm(0);
	now.bytes = NULL;
	now.n = 0;
	free(exact);
}

/* One random change of the N bytes at B (capacity N + MAX_GROWTH); returns the new length. */
static size_t mutate(uint8_t *b, size_t n)
{
	static const uint64_t edges[] = {0,	  1,	     0x7f,	 0x80,	     0xff,
					 0x7fff,  0xffff,    0x7fffffff, 0x80000000, 0xffffffff,
					 1 << 20, INT64_MAX, UINT64_MAX};
	size_t at, len, width;
	uint64_t v;

	if (n == 0)
		goto insert;
	switch (below(3)) { /* headers are at the beginning, tables and footers often at the end */
	case 0:
		at = below(n < 256 ? n : 256);
		break;
	case 1:
		at = n - 1 - below(n < 1024 ? n : 1024);
		break;
	default:
		at = below(n);
		break;
	}
	switch (below(8)) {
	case 0:
		b[at] ^= (uint8_t)(1u << below(8));
		return n;
	case 1:
		b[at] = (uint8_t)below(256);
		return n;
	case 2: /* a small step, as of a count or an offset */
		b[at] = (uint8_t)(b[at] + below(9) - 4);
		return n;
	case 3: /* a number at the edge of its range, little or big end first */
		width = (size_t)1 << below(4);
		v = edges[below(sizeof(edges) / sizeof(edges[0]))];
		if (width > n - at)
			return n;
		for (size_t i = 0; i < width; i++)
			b[at + i] = (uint8_t)(v >> 8 * i);
		return n;
	case 4:
		return at;
	case 5:
		len = 1 + below(n - at < 64 ? n - at : 64);
		memmove(b + at, b + at + len, n - at - len);
		return n - len;
	case 6: /* a piece copied over another */
		len = 1 + below(n - at < 64 ? n - at : 64);
		memmove(b + at, b + below(n - len + 1), len);
		return n;
	default:
		break;
	}
insert:
	at = below(n + 1);
	len = 1 + below(below(2) ? 4 : MAX_GROWTH);
	memmove(b + at + len, b + at, n - at);
	for (size_t i = 0; i < len; i++)
		b[at + i] = (uint8_t)below(256);
	return n + len;
}

static void run_cuts(const uint8_t *seed, size_t n_seed)
{
	const char *cuts = getenv("FUZZ_CUTS");
	const size_t most = cuts ? strtoul(cuts, NULL, 0) : 4096,
		     step = n_seed / (most + !most) + 1;

	now.cut = true;
	for (size_t n = 0; n < n_seed; n += step)
		run(seed, n);
	now.cut = false;
}

static void run_mutations(const char *name, unsigned number, const uint8_t *seed, size_t n_seed,
			  unsigned n_cases)
{
	const char *s = getenv("FUZZ_SEED");
	uint8_t *b = malloc(n_seed + 8 * MAX_GROWTH);

	rng = 0x9e3779b97f4a7c15ULL *
	      ((s ? strtoull(s, NULL, 0) : 1) + ((uint64_t)number << 32) + 1);
	now.seed_name = name;
	now.mutation = 0;
	run(seed, n_seed);
	run_cuts(seed, n_seed);
	for (unsigned i = 1; i <= n_cases; i++) {
		size_t n = n_seed;

		memcpy(b, seed, n);
		for (uint64_t k = 1 + below(below(2) ? 2 : 8); k; k--)
			n = mutate(b, n);
		now.mutation = i;
		run(b, n);
	}
	free(b);
}

static uint8_t *load(const char *path, size_t *ret_n)
{
	FILE *f = fopen(path, "rb");
	struct stat st;
	uint8_t *b;

	if (!f || fstat(fileno(f), &st) < 0) {
		perror(path);
		exit(2);
	}
	b = malloc((size_t)st.st_size + 1);
	*ret_n = fread(b, 1, (size_t)st.st_size, f);
	fclose(f);
	return b;
}

static int write_seed(const char *dir, const char *kind, unsigned i, const uint8_t *b, size_t n)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s-%u", dir, kind, i);
	f = fopen(path, "wb");
	if (f && fwrite(b, 1, n, f) == n && fclose(f) == 0)
		return 0;
	perror(path);
	return 2;
}

static int write_seeds(const char *dir, char **files, unsigned n_files)
{
	uint8_t *b;
	size_t n;
	int rc = 0;

	for (unsigned i = 0; i < n_files && rc == 0; i++) {
		b = load(files[i], &n);
		rc = write_seed(dir, "file", i, b, n);
		free(b);
	}
	for (unsigned i = 0; fuzz_seed && rc == 0 && (b = fuzz_seed(i, &n)); i++) {
		rc = write_seed(dir, "seed", i, b, n);
		free(b);
	}
	return rc;
}

int main(int argc, char **argv)
{
	const char *cases = getenv("FUZZ_CASES");
	unsigned n_cases = cases ? (unsigned)strtoul(cases, NULL, 0) : 2000, n_seeds = 0;
	const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM};
	uint8_t *b;
	size_t n;

	if (argc >= 3 && strcmp(argv[1], "--seeds") == 0)
		return write_seeds(argv[2], argv + 3, (unsigned)argc - 3);
	now.program = argv[0];
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(report);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!__sanitizer_set_death_callback || signals[i] == SIGABRT ||
		    signals[i] == SIGALRM)
			signal(signals[i], on_signal);
	for (int i = 1; i < argc; i++) {
		b = load(argv[i], &n);
		run_mutations(argv[i], n_seeds++, b, n, n_cases);
		free(b);
	}
	for (unsigned i = 0; fuzz_seed && (b = fuzz_seed(i, &n)); i++) {
		char name[32];

		snprintf(name, sizeof(name), "seed %u", i);
		run_mutations(name, n_seeds++, b, n, n_cases);
		free(b);
	}
	if (n_seeds == 0)
		run_mutations("the empty input", n_seeds++, (const uint8_t *)"", 0, n_cases);
	printf("%u seeds, cut at every byte, %u mutations of each: no crash\n", n_seeds, n_cases);
	return 0;
}
