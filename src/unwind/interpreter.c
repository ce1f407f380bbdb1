/* SPDX-License-Identifier: BSD-2-Clause */
/* See interpreter.h. */
#include "unwind/interpreter.h"

#include <stdio.h>

static const char *const refusals[N_INTERPRETER_REFUSALS] = {
	[INTERPRETER_OTHER_MACHINE] = "its frames are known on x86-64 only",
	[INTERPRETER_WITHOUT_SYMBOLS] =
		"it does not export both _PyRuntime and _PyEval_EvalFrameDefault",
	[INTERPRETER_TOO_OLD] = "it is older than 3.8",
	[INTERPRETER_OTHER_VERSION] = "the frames of this version are not known",
	[INTERPRETER_OTHER_BUILD] = "it is a build without the global lock, or not what it says",
	[INTERPRETER_OTHER_OBJECTS] = "its objects are not as those of its version",
	[INTERPRETER_WITHOUT_TABLES] = "its tables for debuggers do not tell where its code is",
	[INTERPRETER_OTHER_THREADS] =
		"its frames are known of builds for one thread in PHP, for many "
		"in Perl",
	[INTERPRETER_WITHOUT_LOOP] =
		"its loop or its threads are not found: a library as libruby.so is expected",
	[INTERPRETER_DAMAGED] = "its loop lies in no segment of code",
};

/* CPython, Include/patchlevel.h: a byte each of major, minor and micro. */
void interpreter_version_text(const struct unwind_interpreter *i, char ret[24])
{
	ret[0] = 0;
	if (i->version & INTERPRETER_VERSION_V8) {
		snprintf(ret, 24, "%u.%u", i->version >> 16 & 0x7fff, i->version & 0xffff);
		return;
	}
	if (i->version & INTERPRETER_VERSION_HOTSPOT) {
		if (i->version & 0xffff)
			snprintf(ret, 24, "%u", i->version & 0xffff);
		return;
	}
	if (i->version & INTERPRETER_VERSION_GO) {
		if (i->version & 0xffff)
			snprintf(ret, 24, "1.%u.%u", i->version >> 8 & 0xff, i->version & 0xff);
		return;
	}
	if (i->version &
	    (INTERPRETER_VERSION_PHP | INTERPRETER_VERSION_PERL | INTERPRETER_VERSION_RUBY)) {
		if (i->version & 0xffff)
			snprintf(ret, 24, "%u.%u", i->version >> 8 & 0xff, i->version & 0xff);
		return;
	}
	if (i->version && !(i->version & 0xffff)) /* no release has such a number */
		snprintf(ret, 24, "%u.%u", i->version >> 24, i->version >> 16 & 255);
	else if (i->version)
		snprintf(ret, 24, "%u.%u.%u", i->version >> 24, i->version >> 16 & 255,
			 i->version >> 8 & 255);
}

const char *interpreter_refusal_text(const struct unwind_interpreter *i)
{
	return i->refusal < N_INTERPRETER_REFUSALS ? refusals[i->refusal] : NULL;
}

/* tests/e2e/{python,node,java,php,perl,ruby,go}.py and
 * tests/services/{rooms,nodes,javas,scripts,gos}.py run these. */
bool interpreter_is_verified(const struct unwind_interpreter *i)
{
	if (INTERPRETER_IS_GO(i->number))
		return (i->version >> 8 & 0xff) == 15 || (i->version >> 8 & 0xff) == 19 ||
		       (i->version >> 8 & 0xff) == 24;
	return i->number == INTERPRETER_PYTHON_3_9 || i->number == INTERPRETER_PYTHON_3_11 ||
	       i->number == INTERPRETER_PYTHON_3_13 || i->number == INTERPRETER_PYTHON_3_14 ||
	       INTERPRETER_IS_V8(i->number) || INTERPRETER_IS_HOTSPOT(i->number) ||
	       INTERPRETER_IS_PHP(i->number) || INTERPRETER_IS_PERL(i->number) ||
	       i->number == INTERPRETER_RUBY_2_7 || i->number == INTERPRETER_RUBY_3_1 ||
	       i->number == INTERPRETER_RUBY_3_3;
}

const char *interpreter_name(const struct unwind_interpreter *i)
{
	return i->version & INTERPRETER_VERSION_V8	  ? "V8"
	       : i->version & INTERPRETER_VERSION_GO	  ? "Go"
	       : i->version & INTERPRETER_VERSION_HOTSPOT ? "HotSpot"
	       : i->version & INTERPRETER_VERSION_PHP	  ? "PHP"
	       : i->version & INTERPRETER_VERSION_PERL	  ? "Perl"
	       : i->version & INTERPRETER_VERSION_RUBY	  ? "Ruby"
							  : "CPython";
}
