/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json.h"
#include "t.h"

#include <math.h>

TEST(json_layout)
{
	struct str s = {0};
	struct json j = json_init(&s, 1);

	json_begin(&j, '{');
	json_key(&j, "a");
	json_u64(&j, 1);
	json_key(&j, "b");
	json_begin(&j, '[');
	json_str(&j, "x\"\n\xff");
	json_bool(&j, true);
	json_end(&j, ']');
	json_key(&j, "c");
	json_begin(&j, '{');
	json_end(&j, '}');
	json_end(&j, '}');
	EXPECT_STR(
		str_get(&s),
		"{\n  \"a\": 1,\n  \"b\": [\"x\\\"\\u000a\xef\xbf\xbd\", true],\n  \"c\": {}\n}");
	str_release(&s);
}

TEST(json_numbers)
{
	struct str s = {0};
	struct json j = json_init(&s, 0);

	json_begin(&j, '[');
	json_double(&j, 0.1);
	json_double(&j, 1e300);
	json_double(&j, NAN);
	json_u64(&j, UINT64_MAX);
	json_i64(&j, -5);
	json_end(&j, ']');
	EXPECT_STR(str_get(&s), "[0.1, 1e+300, null, 18446744073709551615, -5]");
	str_release(&s);
}

TEST(json_writes_thousandths_and_copies)
{
	struct str s = {0};
	struct json j = json_init(&s, 0);

	json_begin(&j, '[');
	json_thousandths(&j, 0);
	json_thousandths(&j, 5);
	json_thousandths(&j, 1500);
	json_thousandths(&j, 2040);
	json_thousandths(&j, 3000);
	json_copies(&j, "null", 2);
	json_copies(&j, "7", 0);
	json_i64(&j, INT64_MIN);
	json_end(&j, ']');
	EXPECT_STR(str_get(&s), "[0, 0.005, 1.5, 2.04, 3, null, null, -9223372036854775808]");
	str_release(&s);
}

TEST(json_c1_controls)
{
	struct str s = {0};
	struct json j = json_init(&s, 0);

	json_str(&j, "\xc2\x9b\xc2\xa0");
	EXPECT_STR(str_get(&s), "\"\\u009b\xc2\xa0\"");
	str_release(&s);
}
