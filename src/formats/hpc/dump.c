/* SPDX-License-Identifier: BSD-2-Clause */
/* See dump.h.  Lines go out one by one, so a dump of any size takes no memory. */
#include "formats/hpc/dump.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/cleanup.h"

static void dump_put(struct hpc_dump *d)
{
	if (d->failed >= 0)
		d->failed = d->line(d->user, str_get(&d->text));
	str_reset(&d->text);
}

void hpc_dump_structure(struct hpc_dump *d, uint64_t offset, const char *structure, uint32_t index)
{
	if (index == HPC_NONE)
		str_addf(&d->text, "%08" PRIx64 " %s", offset, structure);
	else
		str_addf(&d->text, "%08" PRIx64 " %s %" PRIu32, offset, structure, index);
	dump_put(d);
}

void hpc_dump_field(struct hpc_dump *d, uint64_t offset, const char *field, const char *fmt, ...)
{
	_mem_ char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) >= 0)
		str_addf(&d->text, "%08" PRIx64 "   %s %s", offset, field, text);
	va_end(ap);
	dump_put(d);
}

const char *hpc_dump_quote(struct hpc_dump *d, const char *s)
{
	str_reset(&d->quoted);
	str_addc(&d->quoted, '"');
	for (; *s; s++) {
		unsigned char b = (unsigned char)*s;

		if (b == '"' || b == '\\')
			str_addf(&d->quoted, "\\%c", b);
		else if (b < 0x20 || b == 0x7f)
			str_addf(&d->quoted, "\\x%02x", b);
		else
			str_addc(&d->quoted, *s);
	}
	str_addc(&d->quoted, '"');
	return str_get(&d->quoted);
}

void hpc_dump_release(struct hpc_dump *d)
{
	str_release(&d->text);
	str_release(&d->quoted);
}
