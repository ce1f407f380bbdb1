/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads pprof's files; see pprof.h.
 *
 * Messages may come in any order, so what refers to an element by id is settled at the end: an id
 * is looked up in an index of the elements that were read. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "formats/pprof.h"
#include "formats/pprof_fields.h"
#include "formats/protobuf.h"

/* Ids as they are in the file, by element. */
struct pprof_ids {
	VEC(uint64_t) id;
	struct index index;
};

struct pprof_reader {
	struct pprof *p;
	struct pprof_ids mappings, functions, locations;
	/* The mapping of each location, the function of each line, the location of each ref. */
	VEC(uint64_t) of_location, of_line, of_ref;
	VEC(size_t) n_values; /* by sample */
	bool bad;
};

static bool same_id(const void *owner, uint32_t i, const void *key)
{
	return ((const struct pprof_ids *)owner)->id.v[i] == *(const uint64_t *)key;
}

static uint32_t id_find(const struct pprof_ids *ids, uint64_t id)
{
	return index_find(&ids->index, hash_u64(id), same_id, ids, &id);
}

/* An id that two elements have means the first. */
static void id_add(struct pprof_ids *ids, uint64_t id)
{
	vec_push(&ids->id, id);
	if (id_find(ids, id) == INDEX_NONE)
		index_add(&ids->index, hash_u64(id), (uint32_t)ids->id.n - 1);
}

static void ids_release(struct pprof_ids *ids)
{
	vec_release(&ids->id);
	index_release(&ids->index);
}

/* A number of a string; one that does not fit 32 bits is in no table. */
static uint32_t string_number(struct pprof_reader *r, uint64_t v)
{
	r->bad |= v >= UINT32_MAX;
	return (uint32_t)v;
}

static struct pprof_type read_type(struct pprof_reader *r, struct rd *m)
{
	struct pprof_type t = {0};
	struct pb_field f;

	while (pb_next(m, &f)) {
		if (f.number == TYPE_TYPE)
			t.type = string_number(r, f.value);
		else if (f.number == TYPE_UNIT)
			t.unit = string_number(r, f.value);
	}
	r->bad |= m->bad;
	return t;
}

static void read_label(struct pprof_reader *r, struct rd *m)
{
	struct pprof_label l = {0};
	struct pb_field f;

	while (pb_next(m, &f)) {
		switch (f.number) {
		case LABEL_KEY:
			l.key = string_number(r, f.value);
			break;
		case LABEL_TEXT:
			l.text = string_number(r, f.value);
			break;
		case LABEL_NUMBER:
			l.number = (int64_t)f.value;
			break;
		case LABEL_UNIT:
			l.unit = string_number(r, f.value);
			break;
		default:
			r->p->n_unknown++;
		}
	}
	r->bad |= m->bad;
	vec_push(&r->p->labels, l);
}

static void read_sample(struct pprof_reader *r, struct rd *m)
{
	struct pprof_sample s = {.first_location = r->of_ref.n, .first_label = r->p->labels.n};
	const size_t first_value = r->p->values.n;
	struct pb_field f;
	uint64_t n;

	while (pb_next(m, &f)) {
		switch (f.number) {
		case SAMPLE_LOCATION:
			while (pb_next_number(&f, &n))
				vec_push(&r->of_ref, n);
			r->bad |= f.bytes.bad;
			break;
		case SAMPLE_VALUE:
			while (pb_next_number(&f, &n))
				vec_push(&r->p->values, (int64_t)n);
			r->bad |= f.bytes.bad;
			break;
		case SAMPLE_LABEL:
			read_label(r, &f.bytes);
			break;
		default:
			r->p->n_unknown++;
		}
	}
	r->bad |= m->bad;
	s.n_locations = r->of_ref.n - s.first_location;
	s.n_labels = r->p->labels.n - s.first_label;
	vec_push(&r->p->samples, s);
	vec_push(&r->n_values, r->p->values.n - first_value);
}

static void read_mapping(struct pprof_reader *r, struct rd *m)
{
	struct pprof_mapping x = {0};
	uint64_t id = 0;
	struct pb_field f;

	while (pb_next(m, &f)) {
		switch (f.number) {
		case MAPPING_ID:
			id = f.value;
			break;
		case MAPPING_START:
			x.start = f.value;
			break;
		case MAPPING_LIMIT:
			x.limit = f.value;
			break;
		case MAPPING_OFFSET:
			x.offset = f.value;
			break;
		case MAPPING_FILE:
			x.file = string_number(r, f.value);
			break;
		case MAPPING_BUILD_ID:
			x.build_id = string_number(r, f.value);
			break;
		case MAPPING_HAS_FUNCTIONS:
			x.has_functions = f.value;
			break;
		case MAPPING_HAS_FILES:
			x.has_files = f.value;
			break;
		case MAPPING_HAS_LINES:
			x.has_lines = f.value;
			break;
		case MAPPING_HAS_INLINES:
			x.has_inlines = f.value;
			break;
		default:
			r->p->n_unknown++;
		}
	}
	r->bad |= m->bad;
	id_add(&r->mappings, id);
	vec_push(&r->p->mappings, x);
}

static void read_line(struct pprof_reader *r, struct rd *m)
{
	struct pprof_line l = {0};
	uint64_t function = 0;
	struct pb_field f;

	while (pb_next(m, &f)) {
		if (f.number == LINE_FUNCTION)
			function = f.value;
		else if (f.number == LINE_LINE)
			l.line = (int64_t)f.value;
		else if (f.number != LINE_COLUMN)
			r->p->n_unknown++;
	}
	r->bad |= m->bad;
	vec_push(&r->p->lines, l);
	vec_push(&r->of_line, function);
}

static void read_location(struct pprof_reader *r, struct rd *m)
{
	struct pprof_location l = {.first_line = r->p->lines.n};
	uint64_t id = 0, mapping = 0;
	struct pb_field f;

	while (pb_next(m, &f)) {
		switch (f.number) {
		case LOCATION_ID:
			id = f.value;
			break;
		case LOCATION_MAPPING:
			mapping = f.value;
			break;
		case LOCATION_ADDRESS:
			l.address = f.value;
			break;
		case LOCATION_LINE:
			read_line(r, &f.bytes);
			break;
		case LOCATION_IS_FOLDED:
			break;
		default:
			r->p->n_unknown++;
		}
	}
	r->bad |= m->bad;
	l.n_lines = r->p->lines.n - l.first_line;
	id_add(&r->locations, id);
	vec_push(&r->p->locations, l);
	vec_push(&r->of_location, mapping);
}

static void read_function(struct pprof_reader *r, struct rd *m)
{
	struct pprof_function x = {0};
	uint64_t id = 0;
	struct pb_field f;

	while (pb_next(m, &f)) {
		switch (f.number) {
		case FUNCTION_ID:
			id = f.value;
			break;
		case FUNCTION_NAME:
			x.name = string_number(r, f.value);
			break;
		case FUNCTION_SYSTEM_NAME:
			x.system_name = string_number(r, f.value);
			break;
		case FUNCTION_FILE:
			x.file = string_number(r, f.value);
			break;
		case FUNCTION_START_LINE:
			x.start_line = (int64_t)f.value;
			break;
		default:
			r->p->n_unknown++;
		}
	}
	r->bad |= m->bad;
	id_add(&r->functions, id);
	vec_push(&r->p->functions, x);
}

static void read_field(struct pprof_reader *r, struct pb_field *f)
{
	struct pprof *p = r->p;

	switch (f->number) {
	case PROFILE_SAMPLE_TYPE:
		vec_push(&p->types, read_type(r, &f->bytes));
		break;
	case PROFILE_SAMPLE:
		read_sample(r, &f->bytes);
		break;
	case PROFILE_MAPPING:
		read_mapping(r, &f->bytes);
		break;
	case PROFILE_LOCATION:
		read_location(r, &f->bytes);
		break;
	case PROFILE_FUNCTION:
		read_function(r, &f->bytes);
		break;
	case PROFILE_STRING:
		vec_push(&p->strings,
			 (struct pprof_text){(const char *)f->bytes.p, rd_left(&f->bytes)});
		r->bad |= f->type != PB_BYTES;
		break;
	case PROFILE_TIME:
		p->time_ns = (int64_t)f->value;
		break;
	case PROFILE_DURATION:
		p->duration_ns = (int64_t)f->value;
		break;
	case PROFILE_PERIOD_TYPE:
		p->period_type = read_type(r, &f->bytes);
		break;
	case PROFILE_PERIOD:
		p->period = (int64_t)f->value;
		break;
	case PROFILE_DEFAULT_TYPE:
		p->default_type = string_number(r, f->value);
		break;
	case PROFILE_DROP_FRAMES:
	case PROFILE_KEEP_FRAMES:
	case PROFILE_COMMENT:
	case PROFILE_DOC_URL:
		break;
	default:
		p->n_unknown++;
	}
}

/* --- settling --- */

static int check_string(const struct pprof *p, uint32_t i, const char *what, struct err *err)
{
	return i < p->strings.n
		       ? 0
		       : err_set(err, -EBADMSG, "the %s is string %" PRIu32 ", and there are %zu",
				 what, i, p->strings.n);
}

static int check_strings(const struct pprof *p, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < p->types.n && rc >= 0; i++) {
		rc = check_string(p, p->types.v[i].type, "name of a sample type", err);
		rc = rc ? rc : check_string(p, p->types.v[i].unit, "unit of a sample type", err);
	}
	for (size_t i = 0; i < p->mappings.n && rc >= 0; i++) {
		rc = check_string(p, p->mappings.v[i].file, "file of a mapping", err);
		rc = rc ? rc
			: check_string(p, p->mappings.v[i].build_id, "build-id of a mapping", err);
	}
	for (size_t i = 0; i < p->functions.n && rc >= 0; i++) {
		const struct pprof_function *f = &p->functions.v[i];

		rc = check_string(p, f->name, "name of a function", err);
		rc = rc ? rc : check_string(p, f->system_name, "linked name of a function", err);
		rc = rc ? rc : check_string(p, f->file, "file of a function", err);
	}
	for (size_t i = 0; i < p->labels.n && rc >= 0; i++) {
		const struct pprof_label *l = &p->labels.v[i];

		rc = check_string(p, l->key, "key of a label", err);
		rc = rc ? rc : check_string(p, l->text, "text of a label", err);
		rc = rc ? rc : check_string(p, l->unit, "unit of a label", err);
	}
	rc = rc ? rc : check_string(p, p->period_type.type, "type of the period", err);
	rc = rc ? rc : check_string(p, p->period_type.unit, "unit of the period", err);
	return rc < 0 ? rc : check_string(p, p->default_type, "default sample type", err);
}

/* Sets *RET to the element of IDS that has ID; 0 is none where NONE is allowed. */
static int settle_id(const struct pprof_ids *ids, uint64_t id, bool none, const char *what,
		     uint32_t *ret, struct err *err)
{
	*ret = id || !none ? id_find(ids, id) : PPROF_NONE;
	return (id || !none) && *ret == INDEX_NONE
		       ? err_set(err, -EBADMSG, "there is no %s %" PRIu64, what, id)
		       : 0;
}

static int settle_ids(struct pprof_reader *r, struct err *err)
{
	struct pprof *p = r->p;
	int rc = 0;

	for (size_t i = 0; i < p->locations.n && rc >= 0; i++)
		rc = settle_id(&r->mappings, r->of_location.v[i], true, "mapping",
			       &p->locations.v[i].mapping, err);
	for (size_t i = 0; i < p->lines.n && rc >= 0; i++)
		rc = settle_id(&r->functions, r->of_line.v[i], true, "function",
			       &p->lines.v[i].function, err);
	for (size_t i = 0; i < r->of_ref.n && rc >= 0; i++) {
		uint32_t location;

		rc = settle_id(&r->locations, r->of_ref.v[i], false, "location", &location, err);
		vec_push(&p->refs, location);
	}
	for (size_t i = 0; i < p->samples.n && rc >= 0; i++)
		if (r->n_values.v[i] != p->types.n)
			rc = err_set(err, -EBADMSG,
				     "sample %zu has %zu values, and there are %zu sample types", i,
				     r->n_values.v[i], p->types.n);
	return rc;
}

int pprof_parse(const void *bytes, size_t n, struct pprof *ret, struct err *err)
{
	struct pprof_reader r = {.p = ret};
	struct rd all = rd_init(bytes, n);
	struct pb_field f;
	int rc = 0;

	*ret = (struct pprof){0};
	while (!r.bad && pb_next(&all, &f))
		read_field(&r, &f);
	if (all.bad || r.bad)
		rc = err_set(err, -EBADMSG, "damaged at byte %zu of %zu", rd_off(&all), n);
	else if (!ret->types.n || !ret->strings.n || ret->strings.v[0].n)
		rc = err_set(err, -EBADMSG, "is no profile of pprof: %s",
			     ret->types.n ? "its first string is not empty"
					  : "it has no sample types");
	if (rc >= 0)
		rc = check_strings(ret, err);
	if (rc >= 0)
		rc = settle_ids(&r, err);
	ids_release(&r.mappings);
	ids_release(&r.functions);
	ids_release(&r.locations);
	vec_release(&r.of_location);
	vec_release(&r.of_line);
	vec_release(&r.of_ref);
	vec_release(&r.n_values);
	return rc;
}

void pprof_release(struct pprof *p)
{
	vec_release(&p->strings);
	vec_release(&p->types);
	vec_release(&p->mappings);
	vec_release(&p->functions);
	vec_release(&p->lines);
	vec_release(&p->locations);
	vec_release(&p->samples);
	vec_release(&p->refs);
	vec_release(&p->labels);
	vec_release(&p->values);
}
