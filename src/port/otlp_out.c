/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples as OTLP profiles of opentelemetry-proto 1.11.0 (docs/formats/otlp.md): one message
 * ProfilesData, a profile for each column.  Element 0 of each table is the zero value. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text_table.h"
#include "formats/otlp_fields.h"
#include "formats/protobuf.h"
#include "port/exporters.h"

struct otlp_attribute {
	const char *key, *text; /* TEXT NULL: NUMBER */
	uint64_t number;
};

struct otlp_out {
	const struct stacks *s;
	struct wr out, message, inner, value, dictionary;
	struct text_table strings;
	struct arena arena;
	uint32_t *mapping_of, *location_of, *stack_of; /* 0: not made */
	VEC(uint64_t) numbers;
	VEC(struct otlp_attribute) attributes;
	struct index attribute_ix;
	VEC(uint64_t) owner_numbers; /* of attributes */
	VEC(size_t) of_owner;	     /* by owner: the first of its numbers, and behind the last */
};

/* --- the dictionary --- */

static bool same_attribute(const void *owner, uint32_t i, const void *key)
{
	const struct otlp_attribute *a = &((const struct otlp_out *)owner)->attributes.v[i],
				    *b = key;

	return a->number == b->number && strcmp(a->key, b->key) == 0 && !a->text == !b->text &&
	       (!a->text || strcmp(a->text, b->text) == 0);
}

/* The number of an attribute in the table: of TEXT, or NUMBER when TEXT is NULL. */
static uint64_t put_attribute(struct otlp_out *o, const char *key, const char *text,
			      uint64_t number)
{
	const struct otlp_attribute new = {key, text, number};
	const uint64_t hash = hash_pair(hash_str(key), text ? hash_str(text) : number);
	uint32_t i = index_find(&o->attribute_ix, hash, same_attribute, o, &new);

	if (i != INDEX_NONE)
		return i;
	i = (uint32_t)o->attributes.n;
	vec_push(&o->attributes, new);
	index_add(&o->attribute_ix, hash, i);
	if (text)
		pb_put_bytes(&o->value, ANY_STRING, text, strlen(text));
	else
		pb_put_u64(&o->value, ANY_INT, number);
	pb_put_u64(&o->inner, ATTRIBUTE_KEY, text_table_intern(&o->strings, key));
	pb_put_message(&o->inner, ATTRIBUTE_VALUE, &o->value);
	pb_put_message(&o->dictionary, DICTIONARY_ATTRIBUTE, &o->inner);
	return i;
}

static void put_otlp_mappings(struct otlp_out *o)
{
	const struct stacks *s = o->s;
	uint32_t n = 1;

	pb_put_bytes(&o->dictionary, DICTIONARY_MAPPING, "", 0);
	for (size_t i = 0; i < s->images.n; i++) {
		const struct stack_image *im = &s->images.v[i];
		uint64_t id;

		if (!im->is_used)
			continue;
		pb_put_u64(&o->message, OTLP_MAPPING_START, im->start);
		pb_put_u64(&o->message, OTLP_MAPPING_LIMIT, im->end);
		pb_put_u64(&o->message, OTLP_MAPPING_FILE,
			   text_table_intern(&o->strings, im->path));
		if (*im->build_id) {
			id = put_attribute(o, "process.executable.build_id.gnu", im->build_id, 0);
			pb_put_packed(&o->message, OTLP_MAPPING_ATTRIBUTES, &id, 1);
		}
		pb_put_message(&o->dictionary, DICTIONARY_MAPPING, &o->message);
		o->mapping_of[i] = n++;
	}
}

/* Functions keep their numbers: function 0 of struct stacks is none. */
static void put_otlp_functions(struct otlp_out *o)
{
	const struct stacks *s = o->s;

	pb_put_bytes(&o->dictionary, DICTIONARY_FUNCTION, "", 0);
	for (size_t i = 1; i < s->functions.n; i++) {
		const struct stack_function *f = &s->functions.v[i];

		pb_put_u64(&o->message, OTLP_FUNCTION_NAME,
			   text_table_intern(&o->strings, f->name));
		pb_put_u64(&o->message, OTLP_FUNCTION_SYSTEM_NAME,
			   text_table_intern(&o->strings, f->linked));
		pb_put_u64(&o->message, OTLP_FUNCTION_FILE,
			   text_table_intern(&o->strings, f->file));
		pb_put_u64(&o->message, OTLP_FUNCTION_START_LINE, f->line);
		pb_put_message(&o->dictionary, DICTIONARY_FUNCTION, &o->message);
	}
}

static const char *frame_type(const struct stacks *s, const struct stack_function *f)
{
	if (stacks_is_kernel(s, f))
		return "kernel";
	return f->image != STACK_NO_IMAGE && s->images.v[f->image].kind == IMAGE_JIT ? "jit"
										     : "native";
}

static void put_otlp_locations(struct otlp_out *o)
{
	const struct stacks *s = o->s;
	uint32_t n = 1;

	pb_put_bytes(&o->dictionary, DICTIONARY_LOCATION, "", 0);
	for (size_t i = 1; i < s->places.n; i++) {
		const struct stack_place *pl = &s->places.v[i];
		uint64_t type;

		if (!pl->is_used)
			continue;
		type = put_attribute(
			o, "profile.frame.type",
			frame_type(s, &s->functions.v[s->lines.v[pl->first_line].function]), 0);
		if (pl->image != STACK_NO_IMAGE)
			pb_put_u64(&o->message, OTLP_LOCATION_MAPPING, o->mapping_of[pl->image]);
		pb_put_u64(&o->message, OTLP_LOCATION_ADDRESS, pl->svma);
		for (uint32_t k = 0; k < pl->n_lines; k++) {
			const struct stack_line *l = &s->lines.v[pl->first_line + k];

			pb_put_u64(&o->inner, OTLP_LINE_FUNCTION, l->function);
			pb_put_u64(&o->inner, OTLP_LINE_LINE, l->line);
			pb_put_message(&o->message, OTLP_LOCATION_LINES, &o->inner);
		}
		pb_put_packed(&o->message, OTLP_LOCATION_ATTRIBUTES, &type, 1);
		pb_put_message(&o->dictionary, DICTIONARY_LOCATION, &o->message);
		o->location_of[i] = n++;
	}
}

/* A stack for each node that has values. */
static void put_otlp_stacks(struct otlp_out *o)
{
	const struct stacks *s = o->s;
	uint32_t n = 1;

	pb_put_bytes(&o->dictionary, DICTIONARY_STACK, "", 0);
	vec_each (v, &s->values) {
		if (o->stack_of[v->node])
			continue;
		o->numbers.n = 0;
		for (uint32_t node = v->node; node; node = s->nodes.v[node].parent)
			vec_push(&o->numbers, o->location_of[s->nodes.v[node].place]);
		pb_put_packed(&o->message, OTLP_STACK_LOCATIONS, o->numbers.v, o->numbers.n);
		pb_put_message(&o->dictionary, DICTIONARY_STACK, &o->message);
		o->stack_of[v->node] = n++;
	}
}

static void put_owner_attributes(struct otlp_out *o)
{
	vec_each (w, &o->s->owners) {
		const struct {
			const char *key, *text;
		} texts[] = {{"thread.name", w->comm},
			     {"process.executable.path", w->exe},
			     {"linux.cgroup.path", w->cgroup},
			     {"dwell.label", w->label},
			     {"container.name", w->container[CONTAINER_NAME]},
			     {"container.image.name", w->container[CONTAINER_IMAGE]},
			     {"k8s.pod.name", w->container[CONTAINER_POD]},
			     {"k8s.namespace.name", w->container[CONTAINER_NAMESPACE]},
			     {"service.name", stacks_service(w, &o->arena)},
			     {"service.version", w->container[CONTAINER_VERSION]},
			     {"dwell.tenant", w->container[CONTAINER_TENANT]}};

		vec_push(&o->of_owner, o->owner_numbers.n);
		for (size_t i = 0; i < n_elems(texts); i++)
			if (texts[i].text && *texts[i].text)
				vec_push(&o->owner_numbers,
					 put_attribute(o, texts[i].key, texts[i].text, 0));
		if (w->pid)
			vec_push(&o->owner_numbers, put_attribute(o, "process.pid", NULL, w->pid));
		if (w->tid)
			vec_push(&o->owner_numbers, put_attribute(o, "thread.id", NULL, w->tid));
	}
	vec_push(&o->of_owner, o->owner_numbers.n);
}

static void put_dictionary(struct otlp_out *o)
{
	static const uint8_t zeros[16] = {0};

	pb_put_bytes(&o->dictionary, DICTIONARY_ATTRIBUTE, "", 0);
	vec_push(&o->attributes, (struct otlp_attribute){"", NULL, 0});
	put_otlp_mappings(o);
	put_otlp_functions(o);
	put_otlp_locations(o);
	put_otlp_stacks(o);
	put_owner_attributes(o);
	pb_put_bytes(&o->message, OTLP_LINK_TRACE, zeros, 16);
	pb_put_bytes(&o->message, OTLP_LINK_SPAN, zeros, 8);
	pb_put_message(&o->dictionary, DICTIONARY_LINK, &o->message);
}

/* --- profiles --- */

static void put_value_type(struct otlp_out *o, struct wr *to, uint32_t field, const char *type,
			   const char *unit)
{
	pb_put_u64(&o->inner, OTLP_TYPE_TYPE, text_table_intern(&o->strings, type));
	pb_put_u64(&o->inner, OTLP_TYPE_UNIT, text_table_intern(&o->strings, unit));
	pb_put_message(to, field, &o->inner);
}

static void put_otlp_samples(struct otlp_out *o, struct wr *to, unsigned c)
{
	const struct stacks *s = o->s;

	for (size_t i = 0; i < s->values.n; i++) {
		const struct stack_value *v = &s->values.v[i];
		const uint64_t n = stacks_amounts(s, i)[c];
		const size_t first = o->of_owner.v[v->owner];

		if (!n)
			continue;
		pb_put_u64(&o->message, OTLP_SAMPLE_STACK, o->stack_of[v->node]);
		pb_put_packed(&o->message, OTLP_SAMPLE_ATTRIBUTES, o->owner_numbers.v + first,
			      o->of_owner.v[v->owner + 1] - first);
		pb_put_packed(&o->message, OTLP_SAMPLE_VALUES, &n, 1);
		pb_put_message(to, OTLP_PROFILE_SAMPLES, &o->message);
	}
}

static void put_otlp_profile(struct otlp_out *o, struct wr *scope, unsigned c)
{
	const struct stacks *s = o->s;
	const struct stack_column *col = &s->columns.v[c];
	const struct stack_column *of = &s->columns.v[c + !stacks_tells(s, c)];
	const uint64_t hash[2] = {hash_pair(s->start_ns, hash_str(s->host)),
				  hash_pair(hash_str(col->name), col->total)};
	struct wr profile = {0};

	put_value_type(o, &profile, OTLP_PROFILE_SAMPLE_TYPE, col->name, col->unit);
	put_otlp_samples(o, &profile, c);
	pb_put_fixed64(&profile, OTLP_PROFILE_TIME, s->start_ns);
	pb_put_u64(&profile, OTLP_PROFILE_DURATION,
		   s->end_ns > s->start_ns ? s->end_ns - s->start_ns : 0);
	if (of->period) {
		put_value_type(o, &profile, OTLP_PROFILE_PERIOD_TYPE, of->name, of->unit);
		pb_put_u64(&profile, OTLP_PROFILE_PERIOD, of->period);
	}
	pb_put_bytes(&profile, OTLP_PROFILE_ID, hash, sizeof(hash));
	pb_put_message(scope, OTLP_SCOPE_PROFILES, &profile);
	wr_release(&profile);
}

static void put_key_value(struct otlp_out *o, struct wr *to, const char *key, const char *text)
{
	if (!*text)
		return;
	pb_put_text(&o->value, ANY_STRING, text);
	pb_put_text(&o->inner, KEY_VALUE_KEY, key);
	pb_put_message(&o->inner, KEY_VALUE_VALUE, &o->value);
	pb_put_message(to, OTLP_RESOURCE_ATTRIBUTES, &o->inner);
}

int otlp_out_write(const struct stacks *s, struct out_stream *out, struct exporter_result *ret,
		   struct err *err)
{
	struct otlp_out o = {.s = s};
	struct wr scope = {0}, resource = {0};

	(void)err;
	o.mapping_of = xcalloc(s->images.n + 1, sizeof(*o.mapping_of));
	o.location_of = xcalloc(s->places.n + 1, sizeof(*o.location_of));
	o.stack_of = xcalloc(s->nodes.n + 1, sizeof(*o.stack_of));
	text_table_intern(&o.strings, "");
	put_dictionary(&o);
	pb_put_text(&o.inner, OTLP_SCOPE_NAME, "dwell");
	pb_put_message(&scope, OTLP_SCOPE_SCOPE, &o.inner);
	for (unsigned c = 0; c < s->columns.n; c++)
		if (s->columns.v[c].total)
			put_otlp_profile(&o, &scope, c);
	put_key_value(&o, &o.message, "host.name", s->host);
	put_key_value(&o, &o.message, "process.command_line", s->command);
	pb_put_message(&resource, OTLP_RESOURCE_RESOURCE, &o.message);
	pb_put_message(&resource, OTLP_RESOURCE_SCOPES, &scope);
	pb_put_message(&o.out, OTLP_DATA_RESOURCES, &resource);
	vec_each (text, &o.strings.texts)
		pb_put_bytes(&o.dictionary, DICTIONARY_STRING, *text, strlen(*text));
	pb_put_message(&o.out, OTLP_DATA_DICTIONARY, &o.dictionary);
	str_addn(&out->text, (const char *)o.out.v, o.out.n);
	ret->n = s->columns.v[s->main_column].total;
	wr_release(&scope);
	wr_release(&resource);
	wr_release(&o.out);
	wr_release(&o.message);
	wr_release(&o.inner);
	wr_release(&o.value);
	wr_release(&o.dictionary);
	text_table_release(&o.strings);
	vec_release(&o.numbers);
	vec_release(&o.of_owner);
	vec_release(&o.owner_numbers);
	vec_release(&o.attributes);
	index_release(&o.attribute_ix);
	arena_release(&o.arena);
	free(o.mapping_of);
	free(o.location_of);
	free(o.stack_of);
	return 0;
}
