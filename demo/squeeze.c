/* SPDX-License-Identifier: BSD-2-Clause */
/* The demonstration's compressor: LZ77 with hash chains over a 32 KiB window, as gzip does it, the
 * result in bytes instead of Huffman codes.  Small enough to read beside its profile.
 *
 *     squeeze FILE [TIMES]      prints the size before and after
 *
 * Output: a literal run is its length - 1 (below 128) and the bytes; a match is 128 + length - 3
 * and the distance in two bytes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WINDOW = 32768,
	HASH_BITS = 15,
	MIN_MATCH = 3,
	MAX_MATCH = 130,
	MAX_CHAIN = 256,
	MAX_RUN = 128
};

struct matcher {
	const uint8_t *text;
	size_t n;
	int32_t head[1 << HASH_BITS]; /* last position with this hash, -1 none */
	int32_t prev[WINDOW];	      /* the one before, by position modulo WINDOW */
};

struct match {
	size_t length, distance;
};

static uint32_t hash3(const uint8_t *p)
{
	return (uint32_t)(p[0] << 16 | p[1] << 8 | p[2]) * 2654435761u >> (32 - HASH_BITS);
}

static void remember(struct matcher *m, size_t at)
{
	if (at + MIN_MATCH > m->n)
		return;
	uint32_t h = hash3(m->text + at);

	m->prev[at % WINDOW] = m->head[h];
	m->head[h] = (int32_t)at;
}

static size_t common_prefix(const uint8_t *a, const uint8_t *b, size_t max)
{
	size_t n = 0;

	while (n < max && a[n] == b[n])
		n++;
	return n;
}

/* The longest earlier text equal to what stands at AT.  Kept a procedure of its own for the
 * profile. */
static __attribute__((noipa)) struct match longest_match(const struct matcher *m, size_t at)
{
	struct match best = {0, 0};
	size_t max = m->n - at < MAX_MATCH ? m->n - at : MAX_MATCH;
	int chain = MAX_CHAIN;

	if (max < MIN_MATCH)
		return best;
	for (int32_t p = m->head[hash3(m->text + at)]; p >= 0 && chain-- > 0;
	     p = m->prev[p % WINDOW]) {
		if (at - (size_t)p >= WINDOW)
			break;
		/* A better match must also agree in the byte behind the best one so far. */
		if (best.length && m->text[p + best.length] != m->text[at + best.length])
			continue;
		size_t length = common_prefix(m->text + p, m->text + at, max);

		if (length > best.length) {
			best.length = length;
			best.distance = at - (size_t)p;
			if (length == max)
				break;
		}
	}
	return best;
}

static size_t put_run(uint8_t *out, const uint8_t *run, size_t n)
{
	if (!n)
		return 0;
	out[0] = (uint8_t)(n - 1);
	memcpy(out + 1, run, n);
	return n + 1;
}

/* Compresses N bytes into OUT, which has room for 2 * N + 16; returns the size. */
static size_t squeeze(struct matcher *m, const uint8_t *text, size_t n, uint8_t *out)
{
	size_t at = 0, run = 0, size = 0;

	m->text = text;
	m->n = n;
	memset(m->head, 0xff, sizeof(m->head));
	while (at < n) {
		struct match best = longest_match(m, at);

		if (best.length < MIN_MATCH) {
			remember(m, at++);
			if (++run == MAX_RUN) {
				size += put_run(out + size, text + at - run, run);
				run = 0;
			}
			continue;
		}
		size += put_run(out + size, text + at - run, run);
		run = 0;
		out[size++] = (uint8_t)(128 + best.length - MIN_MATCH);
		out[size++] = (uint8_t)best.distance;
		out[size++] = (uint8_t)(best.distance >> 8);
		for (size_t i = 0; i < best.length; i++)
			remember(m, at++);
	}
	return size + put_run(out + size, text + at - run, run);
}

int main(int argc, char **argv)
{
	static struct matcher m;
	FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
	int times = argc > 2 ? atoi(argv[2]) : 1;
	size_t n, size = 0;
	uint8_t *text, *out;

	if (!f) {
		fprintf(stderr, "squeeze: usage: squeeze FILE [TIMES]\n");
		return 2;
	}
	fseek(f, 0, SEEK_END);
	n = (size_t)ftell(f);
	rewind(f);
	text = malloc(n + 1);
	out = malloc(2 * n + 16);
	if (!text || !out || fread(text, 1, n, f) != n)
		return 1;
	fclose(f);
	for (int i = 0; i < times; i++)
		size = squeeze(&m, text, n, out);
	printf("%zu bytes, squeezed %zu\n", n, size);
	free(text);
	free(out);
	return 0;
}
