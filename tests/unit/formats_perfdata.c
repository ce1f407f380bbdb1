/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data files: every record and section, of both byte orders, against its text; damage. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "formats/perfdata_impl.h"
#include "perfdata_all.h"
#include "port/perf_queue.h"
#include "port/perf_stream.h"
#include "t.h"

struct dump {
	struct perf_handler h;
	struct perfdata *pd;
	struct str text;
	struct str aux;
	VEC(uint64_t) times;
};

static int add_record(struct perf_handler *h, const struct perfdata_head *head, const uint8_t *p,
		      uint64_t off, struct err *err)
{
	struct dump *d = (struct dump *)h;
	struct perfdata_record r;
	int rc = perfdata_read_record(d->pd, head, p, &r);

	if (rc < 0)
		return err_set(err, rc, "record %u", head->type);
	perfdata_format_record(d->pd, &r, off, &d->text);
	vec_push(&d->times, r.id.time);
	return 0;
}

static void add_aux(struct perf_handler *h, const struct perfdata_record *auxtrace,
		    const uint8_t *piece, size_t n, uint64_t at)
{
	str_addn(&((struct dump *)h)->aux, (const char *)piece, n);
}

static int add_section(struct perf_handler *h, uint32_t feature, const uint8_t *bytes, size_t n,
		       struct err *err)
{
	struct dump *d = (struct dump *)h;
	struct perfdata other = {.big_endian = d->pd->big_endian};
	int rc;

	str_addf(&d->text, "== %s\n", perfdata_feature_name(feature));
	rc = perfdata_read_feature(&other, feature, bytes, n, &d->text, err);
	perfdata_release(&other);
	return rc;
}

/* Reads N bytes as a file. */
static int read_bytes(struct dump *d, struct perfdata *pd, const uint8_t *bytes, size_t n,
		      bool force, struct perf_stream_stats *ret_stats, struct err *err)
{
	int fd = memfd_create("perf.data", MFD_CLOEXEC);
	struct perf_stream_stats stats;
	struct str damage = {0};
	int rc;

	file_write_all(fd, bytes, n);
	lseek(fd, 0, SEEK_SET);
	*d = (struct dump){.h = {add_record, add_record, add_aux, add_section}, .pd = pd};
	rc = perf_stream_read(fd, "/nowhere", pd, &d->h, force ? &damage : NULL, &stats, err);
	str_release(&damage);
	if (ret_stats)
		*ret_stats = stats;
	close(fd);
	return rc;
}

static void dump_release(struct dump *d, struct perfdata *pd)
{
	str_release(&d->text);
	str_release(&d->aux);
	vec_release(&d->times);
	perfdata_release(pd);
}

/* The text of a file with everything in it. */
static char *everything(bool big_endian, bool pipe)
{
	struct pd_file f;
	struct perfdata pd;
	struct err err = {0};
	struct dump d;
	char *text;

	pd_everything(&f, big_endian, pipe);
	if (read_bytes(&d, &pd, f.out.v, f.out.n, false, NULL, &err) < 0)
		str_addf(&d.text, "error: %s\n", err.msg);
	EXPECT_STR(str_get(&d.aux), "0123456789abcdef");
	text = xstrdup(str_get(&d.text));
	dump_release(&d, &pd);
	pd_release(&f);
	return text;
}

static void expect_golden(const char *name, const char *text)
{
	char path[4096];
	char *want = NULL;

	snprintf(path, sizeof(path), "%s/perfdata/%s", T_GOLDEN, name);
	if (getenv("BLESS")) {
		FILE *f = fopen(path, "w");

		REQUIRE(f);
		fputs(text, f);
		fclose(f);
	}
	REQUIRE(file_load(path, 1 << 20, &want, NULL, NULL) == 0);
	EXPECT_STR(text, want);
	free(want);
}

TEST(every_record_and_section)
{
	char *little = everything(false, false), *big = everything(true, false);

	expect_golden("all.txt", little);
	EXPECT_STR(big, little);
	free(little);
	free(big);
}

TEST(pipes)
{
	char *little = everything(false, true), *big = everything(true, true);

	expect_golden("pipe.txt", little);
	EXPECT_STR(big, little);
	free(little);
	free(big);
}

/* The first generation of files says its byte order only by the size of the header. */
TEST(first_generation)
{
	for (unsigned be = 0; be < 2; be++) {
		struct pd_file f = {.big_endian = be, .old = true};
		struct perfdata pd;
		struct dump d;

		pd_event(&f, &pd_plain, 11);
		pd_comm(&f, 5, 5, "old", false, 10);
		pd_finish(&f);
		EXPECT_EQ(read_bytes(&d, &pd, f.out.v, f.out.n, false, NULL, NULL), 0);
		EXPECT_EQ(pd.big_endian, be);
		EXPECT(strstr(str_get(&d.text), "COMM misc 0 size 72 by 5/5 at 10"));
		dump_release(&d, &pd);
		pd_release(&f);
	}
}

/* Attrs of any size: what an older one lacks is 0, what a newer one has besides is passed over. */
TEST(sizes_of_attrs)
{
	for (unsigned size = 64; size <= 200; size += 8) {
		struct wr w = {0};
		struct pd_file f = {0};
		struct perfdata_attr a;
		struct perfdata pd = {.attr_entry_bytes = size + 16};
		struct perfdata_section *ids;

		pd_attr(&f, &w, &pd_rich);
		while (w.n < 200)
			wr_u8(&w, 0xff);
		w.n = size;
		wr_le64(&w, 1);
		wr_le64(&w, 2);
		EXPECT_EQ(perfdata_read_attrs(&pd, w.v, w.n, &ids, NULL), 0);
		a = pd.events.v[0].attr;
		EXPECT_EQ(a.sample_type, pd_rich.sample_type);
		EXPECT_EQ(a.branch_sample_type, size >= 80 ? pd_rich.branch_sample_type : 0);
		EXPECT_EQ(a.regs_intr, size >= 104 ? pd_rich.regs_intr : 0);
		EXPECT_EQ(a.aux_sample_size, size >= 120 ? 8 : 0);
		EXPECT_EQ(ids[0].off, 1);
		free(ids);
		perfdata_release(&pd);
		wr_release(&w);
	}
}

/* Two CPUs' records come one after another; rounds say what may go out. */
TEST(order_of_time)
{
	struct pd_file f = {0};
	struct perf_stream_stats stats;
	struct perfdata pd;
	struct dump d;

	pd_event(&f, &pd_plain, 11);
	for (uint64_t round = 0; round < 50; round++) {
		for (uint64_t cpu = 0; cpu < 4; cpu++)
			for (uint64_t i = 0; i < 20; i++)
				pd_comm(&f, 5, 5, "c", false, 1 + round * 100 + i * 7 + cpu * 13);
		pd_round(&f);
	}
	pd_finish(&f);
	EXPECT_EQ(read_bytes(&d, &pd, f.out.v, f.out.n, false, &stats, NULL), 0);
	EXPECT_EQ(stats.n_records, 4000);
	EXPECT_EQ(stats.n_late, 0);
	/* Never more waits than two rounds have. */
	EXPECT(stats.most_waiting <= 2 * 80 * (72 + sizeof(struct perf_waiting)));
	EXPECT_EQ(d.times.n, 4000 + 50); /* rounds, which have no time */
	for (uint64_t i = 0, last = 0; i < d.times.n; i++) {
		EXPECT(d.times.v[i] == 0 || d.times.v[i] >= last);
		last = d.times.v[i] ? d.times.v[i] : last;
	}
	dump_release(&d, &pd);
	pd_release(&f);
}

/* Compressed records, of either kind, in files and pipes, say what is in them. */
TEST(compressed)
{
	for (unsigned kind = 0; kind < 4; kind++) {
		struct pd_file f = {.pipe = kind & 1}, events = {.pipe = kind & 1};
		struct perfdata pd;
		struct dump d;
		size_t n = 0;

		pd_event(&f, &pd_plain, 11);
		pd_event(&events, &pd_plain, 11); /* which are never compressed */
		f.data.n = 0;
		for (unsigned i = 0; i < 20000; i++)
			pd_comm(&f, i, i, "worker", false, 1 + i);
		pd_compress(&f, kind & 2, 50001);
		wr_bytes(&events.data, f.data.v, f.data.n);
		pd_finish(&events);
		EXPECT_EQ(read_bytes(&d, &pd, events.out.v, events.out.n, false, NULL, NULL), 0);
		vec_each (t, &d.times)
			if (*t)
				EXPECT_EQ(*t, ++n);
		EXPECT_EQ(n, 20000);
		dump_release(&d, &pd);
		pd_release(&f);
		pd_release(&events);
	}
}

/* A file cut off anywhere is an error, and with `force` what is before the cut is read. */
TEST(truncated_at_every_byte)
{
	struct pd_file f;

	for (unsigned pipe = 0; pipe < 2; pipe++) {
		pd_everything(&f, false, pipe);
		for (size_t n = 0; n < f.out.n; n++) {
			struct perfdata pd;
			struct err err = {0};
			struct dump d;
			int rc = read_bytes(&d, &pd, f.out.v, n, false, NULL, &err);
			size_t whole = d.times.n;

			/* What a pipe gives may end behind any record. */
			if (!pipe || rc < 0) {
				EXPECT(rc == -ENODATA || rc == -EBADMSG);
				EXPECT(err.msg[0] != '\0');
			}
			dump_release(&d, &pd);
			if (n % 8 != 3)
				continue;
			rc = read_bytes(&d, &pd, f.out.v, n, true, NULL, &err);
			EXPECT(rc == 0 || n < 16 || !pipe);
			EXPECT(d.times.n >= whole);
			dump_release(&d, &pd);
		}
		pd_release(&f);
	}
}

/* A record whose end is nonsense has no time, and holds up no other. */
TEST(nonsense_at_the_end)
{
	struct pd_file f = {0};
	struct perf_stream_stats stats;
	struct perfdata pd;
	struct dump d;

	pd_event(&f, &pd_plain, 11);
	pd_event(&f, &pd_rich, 12);
	for (unsigned i = 0; i < 10; i++) {
		struct wr *w = pd_begin(&f, PERFDATA_KSYMBOL, 0);

		pd_64(&f, w, 0xffffffffc0000000);
		pd_32(&f, w, 0x200);
		pd_32(&f, w, 0);
		pd_text(w, "bpf_prog_1", 8);
		pd_id(&f, pd_plain.sample_type, 5, 5, UINT64_MAX / 2, 0xbad);
		pd_comm(&f, 5, 5, "c", false, 100 - i);
		pd_comm(&f, 5, 5, "c", false, 100 + i);
		pd_round(&f);
	}
	pd_finish(&f);
	EXPECT_EQ(read_bytes(&d, &pd, f.out.v, f.out.n, false, &stats, NULL), 0);
	EXPECT_EQ(stats.n_records, 30);
	EXPECT(stats.n_late < 10);
	EXPECT(strstr(str_get(&d.text), "ffffffffc0000000+200 type 0 flags 0 \"bpf_prog_1\""));
	vec_each (t, &d.times)
		EXPECT(*t <= 110);
	dump_release(&d, &pd);
	pd_release(&f);
}

TEST(no_word_without_a_place)
{
	struct pd_file f = {0};
	struct perfdata pd;
	struct err err = {0};
	struct dump d;

	pd_event(&f, &pd_plain, 11);
	pd_comm(&f, 5, 5, "c", false, 10);
	pd_begin(&f, PERFDATA_COMM, 0); /* of 0 bytes */
	pd_finish(&f);
	EXPECT_EQ(read_bytes(&d, &pd, f.out.v, f.out.n, false, NULL, &err), -EBADMSG);
	EXPECT_STR(err.msg, "the record at 0x148 cannot be of 0 bytes");
	dump_release(&d, &pd);
	pd_release(&f);
}

/* simpleperf says when it recorded, among other keys and values. */
TEST(meta_info)
{
	static const char section[] = "product_props\0x\0timestamp\0"
				      "1512869449";
	struct perfdata pd = {0};
	struct str text = {0};

	EXPECT_EQ(perfdata_read_feature(&pd, PERFDATA_F_META_INFO, (const uint8_t *)section,
					sizeof(section), &text, NULL),
		  0);
	EXPECT_EQ(pd.written_s, 1512869449);
	EXPECT_STR(str_get(&text), "product_props: x\ntimestamp: 1512869449\n");
	EXPECT_EQ(perfdata_read_feature(&pd, PERFDATA_F_META_INFO, (const uint8_t *)section,
					sizeof(section) - 1, NULL, NULL),
		  -EBADMSG);
	str_release(&text);
	perfdata_release(&pd);
}

/* An entry of the section BUILD_ID as perf before 5.11 wrote it: of 20 bytes, without a size. */
static uint8_t size_of_old_id(size_t n_bytes)
{
	struct wr w = {0};
	struct perfdata pd = {0};
	struct rd r;
	uint8_t size;

	wr_le32(&w, 0);
	wr_le16(&w, PERFDATA_MODE_USER);
	wr_le16(&w, 8 + 4 + 24 + 8);
	wr_le32(&w, 1);
	for (size_t i = 0; i < 24; i++)
		wr_u8(&w, i < n_bytes ? 0x57 : 0);
	wr_bytes(&w, "/bin/x\0", 8);
	r = rd_init(w.v, w.n);
	EXPECT(perfdata_read_build_id(&pd, &r, NULL, NULL) == 0);
	size = pd.build_ids.v[0].id.n_bytes;
	perfdata_release(&pd);
	wr_release(&w);
	return size;
}

TEST(short_build_ids_were_filled_up_with_zeros)
{
	EXPECT_EQ(size_of_old_id(8), 8);
	EXPECT_EQ(size_of_old_id(16), 16);
	EXPECT_EQ(size_of_old_id(20), 20);
	EXPECT_EQ(size_of_old_id(19), 20); /* of SHA-1, by chance */
	EXPECT_EQ(size_of_old_id(0), 20);
}
