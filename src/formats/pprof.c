/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes pprof's files; see pprof.h.  Field numbers are those of google/pprof's
 * proto/profile.proto. */
#include "formats/pprof.h"

#include "formats/gzip.h"
#include "formats/pprof_fields.h"
#include "formats/protobuf.h"

void pprof_writer_init(struct pprof_writer *w)
{
	*w = (struct pprof_writer){0};
	pprof_put_string(w, ""); /* string 0, as the format wants it */
}

uint32_t pprof_put_string(struct pprof_writer *w, const char *text)
{
	return text_table_intern(&w->strings, text);
}

static void put_type(struct pprof_writer *w, uint32_t field, const struct pprof_type *t)
{
	pb_put_u64(&w->message, TYPE_TYPE, t->type);
	pb_put_u64(&w->message, TYPE_UNIT, t->unit);
	pb_put_message(&w->out, field, &w->message);
}

void pprof_put_type(struct pprof_writer *w, const struct pprof_type *t)
{
	put_type(w, PROFILE_SAMPLE_TYPE, t);
	w->n_types++;
}

uint32_t pprof_put_mapping(struct pprof_writer *w, const struct pprof_mapping *m)
{
	pb_put_u64(&w->message, MAPPING_ID, ++w->n_mappings);
	pb_put_u64(&w->message, MAPPING_START, m->start);
	pb_put_u64(&w->message, MAPPING_LIMIT, m->limit);
	pb_put_u64(&w->message, MAPPING_OFFSET, m->offset);
	pb_put_u64(&w->message, MAPPING_FILE, m->file);
	pb_put_u64(&w->message, MAPPING_BUILD_ID, m->build_id);
	pb_put_bool(&w->message, MAPPING_HAS_FUNCTIONS, m->has_functions);
	pb_put_bool(&w->message, MAPPING_HAS_FILES, m->has_files);
	pb_put_bool(&w->message, MAPPING_HAS_LINES, m->has_lines);
	pb_put_bool(&w->message, MAPPING_HAS_INLINES, m->has_inlines);
	pb_put_message(&w->out, PROFILE_MAPPING, &w->message);
	return (uint32_t)w->n_mappings - 1;
}

uint32_t pprof_put_function(struct pprof_writer *w, const struct pprof_function *f)
{
	pb_put_u64(&w->message, FUNCTION_ID, ++w->n_functions);
	pb_put_u64(&w->message, FUNCTION_NAME, f->name);
	pb_put_u64(&w->message, FUNCTION_SYSTEM_NAME, f->system_name);
	pb_put_u64(&w->message, FUNCTION_FILE, f->file);
	pb_put_i64(&w->message, FUNCTION_START_LINE, f->start_line);
	pb_put_message(&w->out, PROFILE_FUNCTION, &w->message);
	return (uint32_t)w->n_functions - 1;
}

uint32_t pprof_put_location(struct pprof_writer *w, uint32_t mapping, uint64_t address,
			    const struct pprof_line *lines, size_t n_lines)
{
	pb_put_u64(&w->message, LOCATION_ID, ++w->n_locations);
	pb_put_u64(&w->message, LOCATION_MAPPING, mapping == PPROF_NONE ? 0 : mapping + 1);
	pb_put_u64(&w->message, LOCATION_ADDRESS, address);
	for (size_t i = 0; i < n_lines; i++) {
		pb_put_u64(&w->inner, LINE_FUNCTION, (uint64_t)lines[i].function + 1);
		pb_put_i64(&w->inner, LINE_LINE, lines[i].line);
		pb_put_message(&w->message, LOCATION_LINE, &w->inner);
	}
	pb_put_message(&w->out, PROFILE_LOCATION, &w->message);
	return (uint32_t)w->n_locations - 1;
}

static void put_packed_i64(struct wr *w, struct wr *room, uint32_t field, const int64_t *v,
			   size_t n)
{
	for (size_t i = 0; i < n; i++)
		wr_uleb(room, (uint64_t)v[i]);
	pb_put_message(w, field, room);
}

void pprof_put_sample(struct pprof_writer *w, const uint32_t *locations, size_t n_locations,
		      const int64_t *values, const struct pprof_label *labels, size_t n_labels)
{
	for (size_t i = 0; i < n_locations; i++)
		wr_uleb(&w->inner, (uint64_t)locations[i] + 1);
	pb_put_message(&w->message, SAMPLE_LOCATION, &w->inner);
	put_packed_i64(&w->message, &w->inner, SAMPLE_VALUE, values, w->n_types);
	for (size_t i = 0; i < n_labels; i++) {
		pb_put_u64(&w->inner, LABEL_KEY, labels[i].key);
		pb_put_u64(&w->inner, LABEL_TEXT, labels[i].text);
		pb_put_i64(&w->inner, LABEL_NUMBER, labels[i].number);
		pb_put_u64(&w->inner, LABEL_UNIT, labels[i].unit);
		pb_put_message(&w->message, SAMPLE_LABEL, &w->inner);
	}
	pb_put_message(&w->out, PROFILE_SAMPLE, &w->message);
}

void pprof_put_times(struct pprof_writer *w, uint64_t time_ns, uint64_t duration_ns)
{
	pb_put_u64(&w->out, PROFILE_TIME, time_ns);
	pb_put_u64(&w->out, PROFILE_DURATION, duration_ns);
}

void pprof_put_period(struct pprof_writer *w, const struct pprof_type *t, uint64_t period)
{
	put_type(w, PROFILE_PERIOD_TYPE, t);
	pb_put_u64(&w->out, PROFILE_PERIOD, period);
}

void pprof_put_default_type(struct pprof_writer *w, uint32_t type)
{
	pb_put_u64(&w->out, PROFILE_DEFAULT_TYPE, type);
}

void pprof_put_comment(struct pprof_writer *w, const char *text)
{
	const uint64_t number = pprof_put_string(w, text);

	pb_put_packed(&w->out, PROFILE_COMMENT, &number, 1);
}

void pprof_writer_finish(struct pprof_writer *w, struct str *out)
{
	vec_each (s, &w->strings.texts)
		pb_put_bytes(&w->out, PROFILE_STRING, *s, strlen(*s));
	gzip_pack(out, w->out.v, w->out.n);
	wr_release(&w->out);
	wr_release(&w->message);
	wr_release(&w->inner);
	text_table_release(&w->strings);
}
