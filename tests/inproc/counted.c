/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that profiles all its text and says what it spent where:
 *   counted SECONDS THREADS HZ ELEMENT_BITS BUCKET_BYTES [PLUGIN | large]
 * It leaves profile files in dcpi, its gmon.out, and plugin.out of the plugin; large: 200,000 more
 * ticks at the beginning of work_a. */
#include <dlfcn.h>
#include <string.h>
#include <sys/profil.h>

#include "dwell.h"
#include "turns.h"

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void begin(struct dwell_regions *r, unsigned flags)
{
	int n;
	struct prof *p = dwell_regions_get(r, &n);

	if (sprofil(p, n, NULL, flags))
		die("sprofil");
}

/* Loaded while profiling is on; the regions are told. */
static void use_plugin(struct dwell_regions *r, const char *path, unsigned flags)
{
	void *lib = dlopen(path, RTLD_NOW);
	void (*fn)(void);
	uint64_t t;

	*(void **)&fn = lib ? dlsym(lib, "plugin") : NULL;
	if (!fn || dwell_regions_update(r) < 1)
		die(path);
	begin(r, flags);
	t = cpu_ns();
	while (cpu_ns() < t + (uint64_t)(seconds * 1e9))
		fn();
	say("plugin", cpu_ns() - t);
	if (sprofil(NULL, 0, NULL, PROF_UINT) ||
	    dwell_regions_write_gmon(r, "libplugin_a.so", "plugin.out"))
		die("plugin.out");
	dlclose(lib);
	if (dwell_regions_update(r))
		die("something new");
}

static void add_many(struct dwell_regions *r)
{
	int n;
	struct prof *p = dwell_regions_get(r, &n);
	size_t at = (size_t)&work_a;

	for (int i = 0; i < n; i++)
		if (at - p[i].pr_off < (p[i].pr_size << 16) / p[i].pr_scale)
			((uint32_t *)p[i]
				 .pr_base)[((at - p[i].pr_off) * p[i].pr_scale >> 16) / 4] +=
				200000;
}

int main(int argc, char **argv)
{
	struct dwell_profil_settings s = {.size = sizeof(s)};
	struct dwell_regions_settings rs = {.size = sizeof(rs)};
	struct dwell_profil_status status = {.size = sizeof(status)};
	struct dwell_regions *r;

	if (argc < 6)
		return 2;
	seconds = atof(argv[1]);
	n_threads = atoi(argv[2]);
	s.hz = (unsigned)atoi(argv[3]);
	rs.flags = atoi(argv[4]) == 16	 ? PROF_USHORT
		   : atoi(argv[4]) == 32 ? PROF_UINT
					 : PROF_UINT64;
	rs.bucket_bytes = (unsigned)atoi(argv[5]);
	r = dwell_profil_configure(&s) ? NULL : dwell_regions_new(&rs);
	if (!r)
		die("dwell_regions_new");
	begin(r, rs.flags);
	work();
	if (argc > 6 && strcmp(argv[6], "large") == 0)
		add_many(r);
	else if (argc > 6)
		use_plugin(r, argv[6], rs.flags);
	if (sprofil(NULL, 0, NULL, PROF_UINT) || dwell_profil_status(&status))
		die("sprofil");
	say("ticks", status.n_ticks);
	say("outside", status.n_outside);
	if (dwell_regions_write_gmon(r, NULL, "gmon.out"))
		die("gmon.out");
	if (dwell_regions_write_dcpi(r, "dcpi") || dwell_regions_write_dcpi(r, "dcpi"))
		die("dcpi");
	if (dwell_regions_write_gmon(r, "nonesuch.so", "none.out") == 0)
		die("nonesuch.so");
	dwell_regions_free(r);
	return 0;
}
