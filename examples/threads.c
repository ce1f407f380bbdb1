/* SPDX-License-Identifier: BSD-2-Clause */
/* Profiles all text of a program with threads, for gprof and for dwell:
 *     gcc -g threads.c -o threads $(pkg-config --cflags --libs dwell) -lpthread
 *     ./threads && gprof -p threads gmon.out && dwell prof --db profiles */
#include <dwell.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/profil.h>

__attribute__((noinline)) static unsigned long add(unsigned long n)
{
	volatile unsigned long sum = 0;

	for (unsigned long i = 0; i < n; i++)
		sum += i;
	return sum;
}

__attribute__((noinline)) static unsigned long divide(unsigned long n)
{
	volatile unsigned long sum = 1;

	for (unsigned long i = 1; i < n; i++)
		sum += sum / i;
	return sum;
}

static void *run(void *unused)
{
	for (int i = 0; i < 20; i++) {
		add(1000000);
		divide(500000);
	}
	return unused;
}

int main(void)
{
	const struct dwell_profil_settings often = {.size = sizeof(often), .hz = 1000};
	struct dwell_profil_status status = {.size = sizeof(status)};
	struct dwell_regions *regions;
	pthread_t threads[4];
	struct prof *p;
	int n;

	dwell_profil_configure(&often);
	regions = dwell_regions_new(NULL);
	if (!regions) {
		perror("dwell_regions_new");
		return 1;
	}
	p = dwell_regions_get(regions, &n);
	if (sprofil(p, n, NULL, PROF_UINT)) {
		perror("sprofil");
		return 1;
	}
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	sprofil(NULL, 0, NULL, PROF_UINT);
	if (dwell_profil_status(&status) || dwell_regions_write_gmon(regions, NULL, "gmon.out") ||
	    dwell_regions_write_dcpi(regions, "profiles")) {
		perror("writing");
		return 1;
	}
	printf("%llu ms of CPU time in gmon.out and profiles\n",
	       (unsigned long long)(status.n_counted * status.tick / 1000000));
	dwell_regions_free(regions);
	return 0;
}
