/* SPDX-License-Identifier: BSD-2-Clause */
/* See control.h.  Every byte of either side may be hostile: nothing is taken over that was not
 * looked at, and no length is believed before it was compared. */
#include "daemon/control.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/vec.h"

static const char *const verbs[CONTROL_N_VERBS] = {
	[CONTROL_FLUSH] = "flush",   [CONTROL_EPOCH] = "epoch",	    [CONTROL_LABEL_ME] = "label",
	[CONTROL_STATUS] = "status", [CONTROL_METRICS] = "metrics", [CONTROL_QUIT] = "quit",
};

const char *control_verb_name(enum control_verb verb)
{
	return verbs[verb];
}

static bool is_plain(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] < ' ' || s[i] == 0x7f)
			return false;
	return true;
}

static int parse_argument(enum control_verb verb, const char *arg, size_t n,
			  struct control_request *ret, struct err *err)
{
	if (verb == CONTROL_LABEL_ME) {
		if (!n || n > CONTROL_LABEL)
			return err_set(err, -EINVAL, "a label has 1 to %d bytes", CONTROL_LABEL);
		memcpy(ret->label, arg, n);
		ret->label[n] = '\0';
		return 0;
	}
	if (!n)
		return 0;
	if (verb == CONTROL_FLUSH && n == 4 && memcmp(arg, "tree", 4) == 0) {
		ret->tree = true;
		return 0;
	}
	if (verb != CONTROL_STATUS || n != 4 || memcmp(arg, "json", 4) != 0)
		return err_set(err, -EINVAL, "%s does not take that argument", verbs[verb]);
	ret->json = true;
	return 0;
}

int control_parse_request(const char *line, size_t n, struct control_request *ret, struct err *err)
{
	const char *space = memchr(line, ' ', n);
	size_t n_verb = space ? (size_t)(space - line) : n;

	*ret = (struct control_request){0};
	if (n >= CONTROL_LINE)
		return err_set(err, -EINVAL, "the request is too long");
	if (!is_plain(line, n))
		return err_set(err, -EINVAL, "the request has bytes that are no text");
	for (unsigned i = 0; i < CONTROL_N_VERBS; i++) {
		if (strlen(verbs[i]) != n_verb || memcmp(verbs[i], line, n_verb) != 0)
			continue;
		ret->verb = (enum control_verb)i;
		return parse_argument(ret->verb, space ? space + 1 : line + n,
				      space ? n - n_verb - 1 : 0, ret, err);
	}
	return err_set(err, -EINVAL, "no such request");
}

void control_format_request(const struct control_request *r, struct str *out)
{
	str_add(out, verbs[r->verb]);
	if (r->verb == CONTROL_LABEL_ME)
		str_addf(out, " %s", r->label);
	if (r->json)
		str_add(out, " json");
	if (r->tree)
		str_add(out, " tree");
	str_addc(out, '\n');
}

void control_put_ok(struct str *out, const char *text, size_t n)
{
	str_addf(out, "ok %zu\n", n);
	str_addn(out, text, n);
}

void control_put_error(struct str *out, const char *msg)
{
	size_t n = strcspn(msg, "\n");

	str_add(out, "error ");
	str_addn(out, msg, n < CONTROL_LINE - 8 ? n : CONTROL_LINE - 8);
	str_addc(out, '\n');
}

static bool all_digits(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] < '0' || s[i] > '9')
			return false;
	return true;
}

static int parse_length(const char *digits, size_t n, uint64_t *ret)
{
	char text[16];

	if (!n || n >= sizeof(text) || !all_digits(digits, n))
		return -EBADMSG;
	memcpy(text, digits, n);
	text[n] = '\0';
	return str_parse_u64(text, 10, ret);
}

int control_parse_answer(const char *bytes, size_t n, const char **ret_text, size_t *ret_n,
			 struct err *err)
{
	const char *end = memchr(bytes, '\n', n < CONTROL_LINE ? n : CONTROL_LINE);
	size_t n_line = end ? (size_t)(end - bytes) : 0;
	uint64_t n_text;

	if (!end)
		return n < CONTROL_LINE ? 0 : err_set(err, -EBADMSG, "the answer is none");
	if (n_line >= 6 && memcmp(bytes, "error ", 6) == 0)
		return err_set(err, -EREMOTEIO, "%.*s", (int)(n_line - 6), bytes + 6);
	if (n_line < 4 || memcmp(bytes, "ok ", 3) != 0 ||
	    parse_length(bytes + 3, n_line - 3, &n_text) < 0 || n_text > CONTROL_ANSWER)
		return err_set(err, -EBADMSG, "the answer is none");
	if (n - n_line - 1 < n_text)
		return 0;
	*ret_text = end + 1;
	*ret_n = n_text;
	return 1;
}
