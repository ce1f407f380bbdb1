/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's descriptions of tracepoints in perf.data. */
#include <string.h>

#include "base/wr.h"
#include "formats/perfdata.h"
#include "fuzz.h"

static void put_event(struct wr *w, const char *text)
{
	wr_le64(w, strlen(text));
	wr_bytes(w, text, strlen(text));
}

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	struct wr w = {0};

	if (i > 1)
		return NULL;
	wr_bytes(&w,
		 "\x17\x08\x44tracing"
		 "0.6",
		 14);
	wr_u8(&w, 0);
	wr_u8(&w, 8);
	wr_le32(&w, 4096);
	wr_bytes(&w, "header_page", 12);
	put_event(&w, "page");
	wr_bytes(&w, "header_event", 13);
	put_event(&w, "");
	wr_le32(&w, i);
	for (unsigned k = 0; k < i; k++)
		put_event(&w, "name: function\nID: 1\n");
	wr_le32(&w, 2);
	wr_bytes(&w, "sched", 6);
	wr_le32(&w, 2);
	put_event(&w, "name: sched_switch\nID: 316\nformat:\n");
	put_event(&w, "ID: 317\nname: sched_waking\n");
	wr_bytes(&w, "irq", 4);
	wr_le32(&w, i);
	for (unsigned k = 0; k < i; k++)
		put_event(&w, "name: softirq_entry");
	*ret_n = w.n;
	return w.v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct perfdata pd = {0};
	struct err err = {0};
	int rc = perfdata_read_tracing(&pd, data, n, &err);

	FUZZ_REQUIRE(rc == 0 || *err.msg);
	vec_each (t, &pd.tracepoints)
		FUZZ_REQUIRE(strchr(t->name, ':') != NULL);
	perfdata_release(&pd);
	return 0;
}
