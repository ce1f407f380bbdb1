/* SPDX-License-Identifier: BSD-2-Clause */
/* See jitdump.h. */
#include "resolve/jitdump.h"

#include <errno.h>
#include <string.h>

#include "base/rd.h"

#define MAGIC	      0x4a695444u /* "JiTD", a number in the writer's byte order: spec III */
#define MAGIC_SWAPPED 0x4454694au
#define VERSION	      1

/* Bytes of records up to their variable part: spec IV, V, VI. */
#define RECORD_BYTES 16
#define LOAD_BYTES   (RECORD_BYTES + 40)
#define MOVE_BYTES   (RECORD_BYTES + 48)

static uint32_t read_u32(const struct jitdump *d, struct rd *r)
{
	uint32_t v = rd_le32(r);

	return d->big_endian ? __builtin_bswap32(v) : v;
}

static uint64_t read_u64(const struct jitdump *d, struct rd *r)
{
	uint64_t v = rd_le64(r);

	return d->big_endian ? __builtin_bswap64(v) : v;
}

int jitdump_read_header(const uint8_t *bytes, size_t n, struct jitdump *ret, struct err *err)
{
	struct rd r = rd_init(bytes, n);
	struct jitdump d = {0};
	uint32_t magic, version;

	if (n < JITDUMP_HEADER_BYTES)
		return err_set(err, -ENODATA, "jitdump: no header yet");
	magic = rd_le32(&r);
	d.big_endian = magic == MAGIC_SWAPPED;
	if (magic != MAGIC && magic != MAGIC_SWAPPED)
		return err_set(err, -EBADMSG, "jitdump: no such file: it begins with %#x", magic);
	version = read_u32(&d, &r);
	if (version != VERSION)
		return err_set(err, -EPROTONOSUPPORT, "jitdump: version %u, not %u", version,
			       VERSION);
	d.n_bytes = read_u32(&d, &r);
	d.machine = (uint16_t)read_u32(&d, &r);
	read_u32(&d, &r); /* padding */
	d.pid = read_u32(&d, &r);
	read_u64(&d, &r); /* when it was made */
	d.flags = read_u64(&d, &r);
	if (d.n_bytes < JITDUMP_HEADER_BYTES)
		return err_set(err, -EBADMSG, "jitdump: a header of %u bytes", d.n_bytes);
	*ret = d;
	return 0;
}

static int read_load(const struct jitdump *d, struct rd *r, bool cut_name,
		     struct jitdump_record *rec)
{
	uint64_t vma;
	const uint8_t *nul;
	size_t n_left;

	if (rec->n_bytes <= LOAD_BYTES)
		return -EBADMSG;
	read_u64(d, r); /* pid, tid */
	vma = read_u64(d, r);
	rec->avma = read_u64(d, r); /* code_addr, which perf goes by too */
	if (!rec->avma)
		rec->avma = vma;
	rec->n_code = read_u64(d, r);
	read_u64(d, r); /* code_index */
	if (r->bad)
		return -ENODATA;
	/* The name ends within the record even if nobody ended it. */
	n_left = rd_left(r);
	if (n_left > rec->n_bytes - LOAD_BYTES)
		n_left = rec->n_bytes - LOAD_BYTES;
	rec->name = (const char *)r->p;
	nul = n_left ? memchr(r->p, '\0', n_left) : NULL;
	if (!nul && !cut_name && n_left < rec->n_bytes - LOAD_BYTES)
		return -ENODATA;
	rec->n_name = nul ? (size_t)(nul - r->p) : n_left;
	return 0;
}

static int read_move(const struct jitdump *d, struct rd *r, struct jitdump_record *rec)
{
	uint64_t vma;

	if (rec->n_bytes < MOVE_BYTES)
		return -EBADMSG;
	read_u64(d, r); /* pid, tid */
	vma = read_u64(d, r);
	rec->old_avma = read_u64(d, r);
	rec->avma = read_u64(d, r); /* new_code_addr */
	if (!rec->avma)
		rec->avma = vma;
	rec->n_code = read_u64(d, r);
	read_u64(d, r); /* code_index */
	return r->bad ? -ENODATA : 0;
}

int jitdump_read_record(const struct jitdump *d, const uint8_t *bytes, size_t n, bool cut_name,
			struct jitdump_record *ret)
{
	struct rd r = rd_init(bytes, n);
	struct jitdump_record rec = {.kind = read_u32(d, &r)};
	int rc = 0;

	rec.n_bytes = read_u32(d, &r);
	rec.time = read_u64(d, &r);
	if (r.bad)
		return -ENODATA;
	if (rec.n_bytes < RECORD_BYTES)
		return -EBADMSG;
	if (rec.kind == JITDUMP_LOAD)
		rc = read_load(d, &r, cut_name, &rec);
	else if (rec.kind == JITDUMP_MOVE)
		rc = read_move(d, &r, &rec);
	if (rc >= 0)
		*ret = rec;
	return rc;
}
