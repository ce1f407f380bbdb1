/* SPDX-License-Identifier: BSD-2-Clause */
/* See libbpf_said.h.  One listener for the process, as libbpf has one callback: objects are opened
 * one after the other, by one thread. */
#include "collect/libbpf_said.h"

#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char said[256];

static int keep_warning(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level != LIBBPF_WARN || said[0])
		return 0;
	vsnprintf(said, sizeof(said), fmt, ap);
	said[strcspn(said, "\n")] = '\0';
	return 0;
}

void libbpf_listen(void)
{
	said[0] = '\0';
	libbpf_set_print(keep_warning);
}

const char *libbpf_said(void)
{
	return said;
}
