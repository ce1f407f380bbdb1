/* SPDX-License-Identifier: BSD-2-Clause */
/* Profiles of pprof: whatever is taken has numbers in range. */
#include "formats/gzip.h"
#include "formats/pprof.h"
#include "fuzz.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	const struct pprof_line lines[] = {{1, 5}, {0, 7}};
	const uint32_t path[] = {1, 0};
	const int64_t values[] = {3, 3000};
	struct pprof_writer w;
	struct str file = {0};
	struct wr bytes = {0};

	if (i > 1)
		return NULL;
	pprof_writer_init(&w);
	pprof_put_type(&w, &(struct pprof_type){pprof_put_string(&w, "samples"),
						pprof_put_string(&w, "count")});
	pprof_put_type(&w, &(struct pprof_type){pprof_put_string(&w, "cpu"),
						pprof_put_string(&w, "nanoseconds")});
	pprof_put_mapping(&w, &(struct pprof_mapping){.start = 0x401000,
						      .limit = 0x402000,
						      .file = pprof_put_string(&w, "/bin/x"),
						      .build_id = pprof_put_string(&w, "00ff")});
	pprof_put_function(&w, &(struct pprof_function){.name = pprof_put_string(&w, "main")});
	pprof_put_function(&w, &(struct pprof_function){.name = pprof_put_string(&w, "hot")});
	pprof_put_location(&w, 0, 0x401010, lines + 1, 1);
	pprof_put_location(&w, PPROF_NONE, 0, lines, 2);
	pprof_put_sample(&w, path, 2, values,
			 &(struct pprof_label){pprof_put_string(&w, "comm"),
					       pprof_put_string(&w, "x"), 0, 0},
			 1);
	pprof_put_comment(&w, "made by a test");
	pprof_writer_finish(&w, &file);
	if (i == 0) { /* as mutations reach it */
		FUZZ_REQUIRE(gzip_unpack((const uint8_t *)file.v, file.n,
					 &(struct gzip_limits){.most = 1 << 20}, &bytes,
					 NULL) == 0);
		str_release(&file);
		*ret_n = bytes.n;
		return bytes.v;
	}
	*ret_n = file.n;
	return (uint8_t *)file.v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct wr bytes = {0};
	struct pprof p;

	if (gzip_probe(data, n)) {
		if (gzip_unpack(data, n, &(struct gzip_limits){.most = 1 << 20}, &bytes, NULL) < 0)
			return 0;
		FUZZ_REQUIRE(bytes.n <= 1 << 20);
		data = bytes.v;
		n = bytes.n;
	}
	if (pprof_parse(data, n, &p, NULL) == 0) {
		FUZZ_REQUIRE(p.values.n == p.samples.n * p.types.n);
		vec_each (r, &p.refs)
			FUZZ_REQUIRE(*r < p.locations.n);
		vec_each (l, &p.lines)
			FUZZ_REQUIRE(l->function == PPROF_NONE || l->function < p.functions.n);
	}
	pprof_release(&p);
	wr_release(&bytes);
	return 0;
}
