/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers of fields of OTLP profiles in opentelemetry-proto 1.11.0: profiles/v1development,
 * resource/v1, common/v1. */
#ifndef FORMATS_OTLP_FIELDS_H
#define FORMATS_OTLP_FIELDS_H

enum otlp_data_field { OTLP_DATA_RESOURCES = 1, OTLP_DATA_DICTIONARY = 2 };

enum otlp_dictionary_field {
	DICTIONARY_MAPPING = 1,
	DICTIONARY_LOCATION = 2,
	DICTIONARY_FUNCTION = 3,
	DICTIONARY_LINK = 4,
	DICTIONARY_STRING = 5,
	DICTIONARY_ATTRIBUTE = 6,
	DICTIONARY_STACK = 7,
};

enum otlp_resource_field {
	OTLP_RESOURCE_RESOURCE = 1,
	OTLP_RESOURCE_SCOPES = 2,
	OTLP_RESOURCE_ATTRIBUTES = 1, /* of a Resource */
};

enum otlp_scope_field {
	OTLP_SCOPE_SCOPE = 1,
	OTLP_SCOPE_PROFILES = 2,
	OTLP_SCOPE_NAME = 1, /* of an InstrumentationScope */
};

enum otlp_profile_field {
	OTLP_PROFILE_SAMPLE_TYPE = 1,
	OTLP_PROFILE_SAMPLES = 2,
	OTLP_PROFILE_TIME = 3, /* fixed64 */
	OTLP_PROFILE_DURATION = 4,
	OTLP_PROFILE_PERIOD_TYPE = 5,
	OTLP_PROFILE_PERIOD = 6,
	OTLP_PROFILE_ID = 7,
};

enum otlp_type_field { OTLP_TYPE_TYPE = 1, OTLP_TYPE_UNIT = 2 };

enum otlp_sample_field {
	OTLP_SAMPLE_STACK = 1,
	OTLP_SAMPLE_ATTRIBUTES = 2,
	OTLP_SAMPLE_VALUES = 4,
};

enum otlp_stack_field { OTLP_STACK_LOCATIONS = 1 };

enum otlp_location_field {
	OTLP_LOCATION_MAPPING = 1,
	OTLP_LOCATION_ADDRESS = 2,
	OTLP_LOCATION_LINES = 3,
	OTLP_LOCATION_ATTRIBUTES = 4,
};

enum otlp_mapping_field {
	OTLP_MAPPING_START = 1,
	OTLP_MAPPING_LIMIT = 2,
	OTLP_MAPPING_FILE = 4,
	OTLP_MAPPING_ATTRIBUTES = 5,
};

enum otlp_line_field { OTLP_LINE_FUNCTION = 1, OTLP_LINE_LINE = 2 };

enum otlp_function_field {
	OTLP_FUNCTION_NAME = 1,
	OTLP_FUNCTION_SYSTEM_NAME = 2,
	OTLP_FUNCTION_FILE = 3,
	OTLP_FUNCTION_START_LINE = 4,
};

enum otlp_link_field { OTLP_LINK_TRACE = 1, OTLP_LINK_SPAN = 2 };

/* KeyValueAndUnit of the dictionary, KeyValue of resources, and AnyValue. */
enum otlp_attribute_field { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE = 2 };
enum otlp_key_value_field { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE = 2 };
enum otlp_any_field { ANY_STRING = 1, ANY_INT = 3 };

#endif
