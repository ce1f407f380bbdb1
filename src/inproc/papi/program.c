/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the program and its libraries are: dl_iterate_phdr(3).  Text is the executable segments of
 * an object, data what is writable and in the file, bss the rest. */
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inproc/export.h"
#include "inproc/papi/result.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static PAPI_exe_info_t exe;
static PAPI_shlib_info_t libraries;

static void widen(vptr_t *start, vptr_t *end, uintptr_t from, uintptr_t to)
{
	if (!*end || from < (uintptr_t)*start)
		*start = (vptr_t)from;
	if (to > (uintptr_t)*end)
		*end = (vptr_t)to;
}

static void map_object(const struct dl_phdr_info *o, PAPI_address_map_t *m)
{
	for (int i = 0; i < o->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &o->dlpi_phdr[i];
		uintptr_t at = o->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD)
			continue;
		if (p->p_flags & PF_X) {
			widen(&m->text_start, &m->text_end, at, at + p->p_memsz);
		} else if (p->p_flags & PF_W) {
			widen(&m->data_start, &m->data_end, at, at + p->p_filesz);
			widen(&m->bss_start, &m->bss_end, at + p->p_filesz, at + p->p_memsz);
		}
	}
	snprintf(m->name, sizeof(m->name), "%.1023s", o->dlpi_name);
}

/* The first object is the program. */
static int map_program(struct dl_phdr_info *o, size_t n_bytes, void *unused)
{
	map_object(o, &exe.address_info);
	return 1;
}

EXPORT const PAPI_exe_info_t *PAPI_get_executable_info(void)
{
	ssize_t n;

	if (!papi_is_ready()) {
		papi_result(PAPI_ENOINIT);
		return NULL;
	}
	pthread_mutex_lock(&lock);
	if (!exe.address_info.text_end) {
		dl_iterate_phdr(map_program, NULL);
		n = readlink("/proc/thread-self/exe", exe.fullname, sizeof(exe.fullname) - 1);
		exe.fullname[n > 0 ? n : 0] = 0;
		memcpy(exe.address_info.name, exe.fullname, sizeof(exe.fullname));
	}
	pthread_mutex_unlock(&lock);
	return &exe;
}

/* The others, but for the kernel's, which has no file. */
static int map_library(struct dl_phdr_info *o, size_t n_bytes, void *ctx)
{
	int *n = ctx;
	PAPI_address_map_t *maps;

	if ((*n)++ == 0 || o->dlpi_name[0] != '/')
		return 0;
	maps = realloc(libraries.map, (size_t)(libraries.count + 1) * sizeof(*maps));
	if (!maps)
		return -1;
	libraries.map = maps;
	memset(&maps[libraries.count], 0, sizeof(*maps));
	map_object(o, &maps[libraries.count++]);
	return 0;
}

EXPORT const PAPI_shlib_info_t *PAPI_get_shared_lib_info(void)
{
	int n = 0, r;

	if (!papi_is_ready()) {
		papi_result(PAPI_ENOINIT);
		return NULL;
	}
	pthread_mutex_lock(&lock);
	libraries.count = 0;
	r = dl_iterate_phdr(map_library, &n);
	pthread_mutex_unlock(&lock);
	if (r == 0)
		return &libraries;
	papi_result(PAPI_ENOMEM);
	return NULL;
}
