/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of runtimes about containers: what is read is printable, bounded and the same when it was
 * sent from one process to another; a wish and texts from another process are as foreign. */
#include "formats/container.h"

#include <string.h>

#include "fuzz.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	static const char *const seeds[] = {
		"{\"annotations\":{\"io.kubernetes.cri.container-name\":\"web\",\"v\":\"1\","
		"\"io.kubernetes.cri-o.Annotations\":\"{\\\"v\\\":\\\"2\\\"}\"},"
		"\"process\":{\"env\":[\"T=acme\",7]}}",
		"{\"Name\":\"/web\",\"Config\":{\"Image\":\"nginx\",\"Env\":[\"T=x\"],"
		"\"Labels\":{\"v\":\"3\"}}}",
		"[{\"id\":\"" ID
		"\",\"names\":[\"web\"],\"metadata\":\"{\\\"image-name\\\":\\\"x\\\"}\"}]",
	};

	if (i >= n_elems(seeds))
		return NULL;
	*ret_n = strlen(seeds[i]);
	return (uint8_t *)xstrdup(seeds[i]);
}

static void same_when_sent(const struct container_texts *t)
{
	struct container_texts back;
	struct wr w = {0};

	container_put_texts(t, &w);
	FUZZ_REQUIRE(container_get_texts(w.v, w.n, &back) >= 0);
	FUZZ_REQUIRE(memcmp(t->v[CONTAINER_NAME], back.v[CONTAINER_NAME],
			    strlen(t->v[CONTAINER_NAME]) + 1) == 0);
	wr_release(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct container_wish w = {.id = ID, .version = "annotation:v,env:V", .tenant = "env:T"};
	struct container_texts t;

	for (unsigned f = 0; f < CONTAINER_N_FILES; f++) {
		w.file = (enum container_file)f;
		if (container_read(data, n, &w, &t, NULL) < 0)
			continue;
		for (size_t i = 0; i < CONTAINER_N_TEXTS; i++)
			for (const char *at = t.v[i]; *at; at++)
				FUZZ_REQUIRE((uint8_t)*at >= ' ' && *at != 0x7f);
		same_when_sent(&t);
	}
	if (container_get_texts(data, n, &t) >= 0)
		same_when_sent(&t);
	if (container_get_wish(data, n, &w) >= 0)
		container_wish_check(w.version, NULL);
	return 0;
}
