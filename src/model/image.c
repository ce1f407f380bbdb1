/* SPDX-License-Identifier: BSD-2-Clause */
/* See image.h. */
#include "model/image.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

static const char *const kind_names[N_IMAGE_KINDS] = {
	[IMAGE_UNKNOWN] = "unknown", [IMAGE_FILE] = "file", [IMAGE_KERNEL] = "kernel",
	[IMAGE_MODULE] = "module",   [IMAGE_BPF] = "bpf",   [IMAGE_VDSO] = "vdso",
	[IMAGE_JIT] = "jit",	     [IMAGE_ANON] = "anon", [IMAGE_MARK] = "mark",
	[IMAGE_SCRIPT] = "script",
};

const char *image_kind_name(enum image_kind k)
{
	return kind_names[k];
}

bool image_layout_svma(const struct image_layout *l, uint64_t off, uint64_t *ret_svma)
{
	for (uint32_t i = 0; i < l->n_loads; i++) {
		const struct image_load *s = &l->loads[i];

		if (off - s->off < s->n_bytes) {
			*ret_svma = s->svma + (off - s->off);
			return true;
		}
	}
	return false;
}

bool image_digest_known(const uint8_t digest[IMAGE_DIGEST_BYTES])
{
	static const uint8_t zeros[IMAGE_DIGEST_BYTES];

	return memcmp(digest, zeros, sizeof(zeros)) != 0;
}

bool image_digest_same(const uint8_t a[IMAGE_DIGEST_BYTES], const uint8_t b[IMAGE_DIGEST_BYTES])
{
	return memcmp(a, b, IMAGE_DIGEST_BYTES) == 0;
}

bool image_digest_fits(const uint8_t a[IMAGE_DIGEST_BYTES], const uint8_t b[IMAGE_DIGEST_BYTES])
{
	return !image_digest_known(a) || !image_digest_known(b) || image_digest_same(a, b);
}

bool build_id_same(const struct build_id *a, const struct build_id *b)
{
	return a->n_bytes == b->n_bytes && memcmp(a->bytes, b->bytes, a->n_bytes) == 0;
}

void build_id_format(const struct build_id *b, char ret[2 * BUILD_ID_MAX + 1])
{
	str_hex(b->bytes, b->n_bytes, ret);
}

int build_id_parse(const char *hex, struct build_id *ret)
{
	struct build_id b = {0};
	int n = str_unhex(hex, b.bytes, sizeof(b.bytes));

	if (n <= 0)
		return -EINVAL;
	b.n_bytes = (uint8_t)n;
	*ret = b;
	return 0;
}
