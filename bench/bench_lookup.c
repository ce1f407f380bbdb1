/* SPDX-License-Identifier: BSD-2-Clause */
/* What one look-up of a procedure costs, beside libdwfl on the same addresses of the same file.
 *
 *     bench_lookup FILE [ADDRESSES [OF-LIBDWFL]]
 *
 * Distinct addresses are drawn evenly from the executable segment, in random order; each tool is
 * loaded first and asked each address once, libdwfl only the first of them: it takes a millisecond
 * each in a large file.  Both tools' answers are compared. */
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "resolve/elf_probe.h"
#include "resolve/resolver.h"

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static char *no_debug_file = NULL;
static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
					 .find_debuginfo = dwfl_standard_find_debuginfo,
					 .debuginfo_path = &no_debug_file};

struct answers {
	const char **names; /* linked names; NULL for none */
	double load_ns, each_ns;
};

static void ask_dwfl(const char *path, const uint64_t *svma, size_t n, struct answers *ret)
{
	double t0 = now_ns(), t1;
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *m;
	GElf_Addr bias = 0;

	dwfl_report_begin(dwfl);
	m = dwfl_report_elf(dwfl, "bench", path, -1, 0, false);
	dwfl_report_end(dwfl, NULL, NULL);
	if (!m || !dwfl_module_getelf(m, &bias)) {
		fprintf(stderr, "bench_lookup: %s: %s\n", path, dwfl_errmsg(-1));
		exit(2);
	}
	dwfl_module_addrname(m, svma[0] + bias);
	t1 = now_ns();
	ret->load_ns = t1 - t0;
	for (size_t i = 0; i < n; i++) {
		GElf_Off off;
		GElf_Sym sym;
		const char *name =
			dwfl_module_addrinfo(m, svma[i] + bias, &off, &sym, NULL, NULL, NULL);

		/* libdwfl names what lies in a gap after the symbol before; only covered ones
		 * compare. */
		ret->names[i] = name && off < sym.st_size ? name : NULL;
	}
	ret->each_ns = (now_ns() - t1) / (double)n;
}

static void ask_dwell(const struct image *im, const uint64_t *svma, size_t n, struct answers *ret)
{
	double t0 = now_ns(), t1;
	struct resolver *r = resolver_new(&(struct resolver_opts){0});
	const struct symtab *st = resolver_image(r, im)->symtab;

	t1 = now_ns();
	ret->load_ns = t1 - t0;
	for (size_t i = 0; i < n; i++) {
		uint32_t at = symtab_find(st, svma[i]);

		ret->names[i] = at == PROC_NONE ? NULL : symtab_get(st, at).name;
	}
	ret->each_ns = (now_ns() - t1) / (double)n;
}

int main(int argc, char **argv)
{
	size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 20000, n_same = 0, n_covered = 0;
	size_t n_theirs = argc > 3 ? strtoul(argv[3], NULL, 10) : n;
	struct answers ours = {0}, theirs = {0};
	struct image_layout l;
	struct image im = {.kind = IMAGE_FILE};
	char *path = argc > 1 ? realpath(argv[1], NULL) : NULL;
	int fd = path ? open(path, O_RDONLY) : -1;
	uint64_t *svma;

	if (fd < 0 || n == 0 || n_theirs == 0 || n_theirs > n || elf_probe(fd, &l, NULL) < 0 ||
	    l.text_bytes < n) {
		fprintf(stderr, "usage: bench_lookup ELF-FILE [ADDRESSES [OF-LIBDWFL]]\n");
		return 2;
	}
	close(fd);
	im.path = path;
	im.build_id = l.build_id;
	svma = xcalloc(n, sizeof(*svma));
	ours.names = xcalloc(n, sizeof(*ours.names));
	theirs.names = xcalloc(n, sizeof(*theirs.names));
	for (size_t i = 0; i < n; i++)
		svma[i] = l.text_start + l.text_bytes / n * i + hash_u64(i) % (l.text_bytes / n);
	for (size_t i = n - 1; i > 0; i--) {
		size_t k = hash_u64(~i) % (i + 1);
		uint64_t x = svma[i];

		svma[i] = svma[k];
		svma[k] = x;
	}
	ask_dwell(&im, svma, n, &ours);
	ask_dwfl(path, svma, n_theirs, &theirs);
	for (size_t i = 0; i < n_theirs; i++) {
		n_covered += theirs.names[i] != NULL;
		n_same += theirs.names[i] && ours.names[i];
	}
	printf("look-up of %zu distinct addresses: dwell %.0f ns each (load %.2f ms), libdwfl %.0f "
	       "ns "
	       "(load %.2f ms): %.4f x; covered alike: %zu of %zu\n",
	       n, ours.each_ns, ours.load_ns / 1e6, theirs.each_ns, theirs.load_ns / 1e6,
	       ours.each_ns / theirs.each_ns, n_same, n_covered);
	return 0;
}
