/* SPDX-License-Identifier: BSD-2-Clause */
/* Little-endian numbers at any address.  They read the elements of arrays whose bounds were checked
 * as a whole; a cursor would check each element again.  memcpy becomes one instruction. */
#ifndef FORMATS_HPC_LE_H
#define FORMATS_HPC_LE_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t hpc_le16(const uint8_t *p)
{
	uint16_t x;

	memcpy(&x, p, sizeof(x));
	return le16toh(x);
}

static inline uint32_t hpc_le32(const uint8_t *p)
{
	uint32_t x;

	memcpy(&x, p, sizeof(x));
	return le32toh(x);
}

static inline uint64_t hpc_le64(const uint8_t *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof(x));
	return le64toh(x);
}

static inline double hpc_lef64(const uint8_t *p)
{
	uint64_t bits = hpc_le64(p);
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

static inline void hpc_put16(uint8_t *p, uint16_t x)
{
	x = htole16(x);
	memcpy(p, &x, sizeof(x));
}

static inline void hpc_put32(uint8_t *p, uint32_t x)
{
	x = htole32(x);
	memcpy(p, &x, sizeof(x));
}

static inline void hpc_put64(uint8_t *p, uint64_t x)
{
	x = htole64(x);
	memcpy(p, &x, sizeof(x));
}

static inline void hpc_putf64(uint8_t *p, double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	hpc_put64(p, bits);
}

#endif
