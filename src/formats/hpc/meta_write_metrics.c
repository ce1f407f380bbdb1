/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing the performance metrics of a meta.db, in either layout.
 *
 * The section has, one behind the other, its header, the metrics, their lists of scopes, their
 * lists of summaries, in the released layout the scopes, and all text.  Places are found by adding
 * up sizes in the order in which things are written, so nothing is kept. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "formats/hpc/meta_writer.h"

/* Where the parts of the metrics section are: header, metrics, lists of scopes, lists of summaries,
 * scopes, text. */
struct metrics_places {
	uint64_t metrics, insts, summaries, scopes, text;
	uint64_t metrics_text; /* behind the names of scopes */
};

/* The text of the section: names of scopes, then of each metric its name and its formulas.  The
 * places of strings are found by adding up sizes in this order. */
static uint64_t scopes_text(const struct hpc_metrics *ms, uint32_t n_scopes)
{
	uint64_t sz = 0;

	for (uint32_t i = 0; i < n_scopes; i++)
		sz += meta_text_size(ms->scopes[i].name);
	return sz;
}

static struct metrics_places place_metrics(const struct meta_writer *w)
{
	const struct hpc_metrics *ms = &w->model->metrics;
	uint64_t n_insts = 0, n_summaries = 0, p = meta_writer_at(w) + (w->page ? 0x10 : 0x20);
	struct metrics_places at;

	for (uint32_t i = 0; i < ms->n_metrics; i++) {
		n_insts += ms->metrics[i].n_scopes;
		n_summaries += ms->metrics[i].n_summaries;
	}
	at.metrics = p;
	at.insts = p += (uint64_t)ms->n_metrics * (w->page ? SZ_METRIC_PAGE : SZ_METRIC);
	at.summaries = p += n_insts * (w->page ? SZ_SCOPE_PAGE : SZ_SCOPE_INST);
	at.scopes = p += n_summaries * (w->page ? SZ_SUMMARY_PAGE : SZ_SUMMARY);
	at.text = p + (w->page ? 0 : (uint64_t)ms->n_scopes * SZ_SCOPE);
	at.metrics_text = at.text + scopes_text(ms, ms->n_scopes);
	return at;
}

static void write_metrics_text(struct meta_writer *w)
{
	const struct hpc_metrics *ms = &w->model->metrics;

	for (uint32_t i = 0; i < ms->n_scopes; i++)
		meta_writer_text(w, ms->scopes[i].name);
	for (uint32_t i = 0; i < ms->n_metrics; i++) {
		meta_writer_text(w, ms->metrics[i].name);
		for (uint32_t k = 0; k < ms->metrics[i].n_summaries; k++)
			meta_writer_text(w, ms->metrics[i].summaries[k].formula);
	}
}

static uint64_t metric_text_size(const struct hpc_metric *m)
{
	uint64_t sz = meta_text_size(m->name);

	for (uint32_t k = 0; k < m->n_summaries; k++)
		sz += meta_text_size(m->summaries[k].formula);
	return sz;
}

static void write_metrics_header(struct meta_writer *w, const struct metrics_places *at)
{
	const struct hpc_metrics *ms = &w->model->metrics;

	wr_le64(&w->buf, at->metrics);
	wr_le32(&w->buf, ms->n_metrics);
	wr_u8(&w->buf, w->page ? SZ_METRIC_PAGE : SZ_METRIC);
	wr_u8(&w->buf, w->page ? SZ_SCOPE_PAGE : SZ_SCOPE_INST);
	wr_u8(&w->buf, w->page ? SZ_SUMMARY_PAGE : SZ_SUMMARY);
	if (!w->page) {
		wr_u8(&w->buf, 0);
		wr_le64(&w->buf, at->scopes);
		wr_le16(&w->buf, (uint16_t)ms->n_scopes);
		wr_u8(&w->buf, SZ_SCOPE);
	}
	meta_writer_pad(w, 8);
}

static void write_released_metrics(struct meta_writer *w, struct metrics_places at)
{
	const struct hpc_metrics *ms = &w->model->metrics;
	uint64_t p_insts = at.insts, p_summaries = at.summaries, p;

	p = at.metrics_text;
	for (uint32_t i = 0; i < ms->n_metrics; i++) {
		const struct hpc_metric *m = &ms->metrics[i];

		wr_le64(&w->buf, p);
		wr_le64(&w->buf, p_insts);
		wr_le64(&w->buf, p_summaries);
		wr_le16(&w->buf, (uint16_t)m->n_scopes);
		wr_le16(&w->buf, (uint16_t)m->n_summaries);
		wr_le32(&w->buf, 0);
		p += metric_text_size(m);
		p_insts += (uint64_t)m->n_scopes * SZ_SCOPE_INST;
		p_summaries += (uint64_t)m->n_summaries * SZ_SUMMARY;
	}
	for (uint32_t i = 0; i < ms->n_metrics; i++)
		for (uint32_t k = 0; k < ms->metrics[i].n_scopes; k++) {
			const struct hpc_scope_inst *s = &ms->metrics[i].scopes[k];

			wr_le64(&w->buf, at.scopes + (uint64_t)s->scope * SZ_SCOPE);
			wr_le16(&w->buf, s->propMetricId);
			meta_writer_pad(w, 8);
		}
	p = at.metrics_text;
	for (uint32_t i = 0; i < ms->n_metrics; i++) {
		p += meta_text_size(ms->metrics[i].name);
		for (uint32_t k = 0; k < ms->metrics[i].n_summaries; k++) {
			const struct hpc_summary *s = &ms->metrics[i].summaries[k];

			wr_le64(&w->buf, at.scopes + (uint64_t)s->scope * SZ_SCOPE);
			wr_le64(&w->buf, p);
			wr_u8(&w->buf, s->combine);
			wr_u8(&w->buf, 0);
			wr_le16(&w->buf, s->statMetricId);
			wr_le32(&w->buf, 0);
			p += meta_text_size(s->formula);
		}
	}
	p = at.text;
	for (uint32_t i = 0; i < ms->n_scopes; i++) {
		wr_le64(&w->buf, p);
		wr_u8(&w->buf, ms->scopes[i].type);
		wr_u8(&w->buf, ms->scopes[i].propagationIndex);
		meta_writer_pad(w, 8);
		p += meta_text_size(ms->scopes[i].name);
	}
}

static uint32_t summaries_of(const struct hpc_metric *m, uint16_t scope)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < m->n_summaries; k++)
		n += m->summaries[k].scope == scope;
	return n;
}

static void write_page_summaries(struct meta_writer *w, const struct hpc_metric *m, uint16_t scope,
				 uint64_t p_text)
{
	p_text += meta_text_size(m->name);
	for (uint32_t k = 0; k < m->n_summaries; k++) {
		const struct hpc_summary *s = &m->summaries[k];

		if (s->scope == scope) {
			wr_le64(&w->buf, p_text);
			wr_u8(&w->buf, s->combine);
			wr_u8(&w->buf, 0);
			wr_le16(&w->buf, s->statMetricId);
			meta_writer_pad(w, 8);
		}
		p_text += meta_text_size(s->formula);
	}
}

static void write_page_metrics(struct meta_writer *w, struct metrics_places at)
{
	const struct hpc_metrics *ms = &w->model->metrics;
	uint64_t p_insts = at.insts, p_summaries = at.summaries, p;

	p = at.metrics_text;
	for (uint32_t i = 0; i < ms->n_metrics; i++) {
		wr_le64(&w->buf, p);
		wr_le16(&w->buf, (uint16_t)ms->metrics[i].n_scopes);
		meta_writer_pad(w, 8);
		wr_le64(&w->buf, p_insts);
		p += metric_text_size(&ms->metrics[i]);
		p_insts += (uint64_t)ms->metrics[i].n_scopes * SZ_SCOPE_PAGE;
	}
	for (uint32_t i = 0; i < ms->n_metrics; i++)
		for (uint32_t k = 0; k < ms->metrics[i].n_scopes; k++) {
			const struct hpc_scope_inst *s = &ms->metrics[i].scopes[k];
			uint32_t n = summaries_of(&ms->metrics[i], s->scope);

			wr_le64(&w->buf, at.text + scopes_text(ms, s->scope));
			wr_le16(&w->buf, (uint16_t)n);
			wr_le16(&w->buf, s->propMetricId);
			wr_le32(&w->buf, 0);
			wr_le64(&w->buf, p_summaries);
			p_summaries += (uint64_t)n * SZ_SUMMARY_PAGE;
		}
	p = at.metrics_text;
	for (uint32_t i = 0; i < ms->n_metrics; i++) {
		for (uint32_t k = 0; k < ms->metrics[i].n_scopes; k++)
			write_page_summaries(w, &ms->metrics[i], ms->metrics[i].scopes[k].scope, p);
		p += metric_text_size(&ms->metrics[i]);
	}
}

/* FORMATS.md "Performance Metrics section". */
void meta_writer_put_metrics(struct meta_writer *w)
{
	struct metrics_places at;

	meta_writer_begin(w, HPC_META_METRICS);
	at = place_metrics(w);
	write_metrics_header(w, &at);
	if (w->page)
		write_page_metrics(w, at);
	else
		write_released_metrics(w, at);
	write_metrics_text(w);
	meta_writer_end(w, HPC_META_METRICS);
}

/* HAS says of each scope whether metric M has an instance of it: in the page layout summaries hang
 * on instances. */
static void check_metric(struct meta_writer *w, const struct hpc_metric *m, uint8_t *has)
{
	uint32_t n_scopes = w->model->metrics.n_scopes;

	if (m->n_scopes > UINT16_MAX || m->n_summaries > UINT16_MAX)
		meta_writer_refuse(w, -E2BIG,
				   "metric %s has %" PRIu32 " scopes and %" PRIu32
				   " summaries, the format takes 65535",
				   m->name, m->n_scopes, m->n_summaries);
	memset(has, 0, n_scopes);
	for (uint32_t k = 0; k < m->n_scopes && w->rc >= 0; k++) {
		const struct hpc_scope_inst *s = &m->scopes[k];

		if (s->scope >= n_scopes || has[s->scope]++)
			meta_writer_refuse(w, -EINVAL,
					   "metric %s: scope %u is unknown or comes twice", m->name,
					   s->scope);
		else if (s->propMetricId > META_MAX_ID)
			meta_writer_refuse(w, -E2BIG, "metric %s: id %u, readers take at most %d",
					   m->name, s->propMetricId, META_MAX_ID);
	}
	for (uint32_t k = 0; k < m->n_summaries && w->rc >= 0; k++) {
		const struct hpc_summary *s = &m->summaries[k];

		if (s->scope >= n_scopes || (w->page && !has[s->scope]))
			meta_writer_refuse(w, -EINVAL,
					   "metric %s: a summary in scope %u, which it has not",
					   m->name, s->scope);
		else if (s->statMetricId > META_MAX_ID)
			meta_writer_refuse(w, -E2BIG, "metric %s: id %u, readers take at most %d",
					   m->name, s->statMetricId, META_MAX_ID);
	}
}

void meta_writer_check_metrics(struct meta_writer *w)
{
	const struct hpc_metrics *ms = &w->model->metrics;
	uint8_t *has = xcalloc(ms->n_scopes + (size_t)1, 1);

	if (ms->n_scopes > UINT16_MAX)
		meta_writer_refuse(w, -E2BIG, "%" PRIu32 " scopes, the format takes 65535",
				   ms->n_scopes);
	for (uint32_t i = 0; i < ms->n_metrics && w->rc >= 0; i++)
		check_metric(w, &ms->metrics[i], has);
	free(has);
}
