/* SPDX-License-Identifier: BSD-2-Clause */
/* V8 in an ELF file: Node.js, or a library that it is in.
 *
 * V8 exports its version, and variables called v8dbg_* for debuggers, which say where its objects
 * have what (tools/gen-postmortem-metadata.py).  Versions of which Node.js makes releases for years
 * are known (unwind/v8_state.h); each variable that is there must agree with what is known. */
#include <elf.h>
#include <string.h>

#include "base/rd.h"
#include "base/vec.h"
#include "resolve/interpreter_impl.h"
#include "unwind/v8_state.h"

#define MAJOR "_ZN2v88internal7Version6major_E"
#define MINOR "_ZN2v88internal7Version6minor_E"

enum v8_fact {
	FACT_FUNCTION,
	FACT_SHARED_TYPE,
	FACT_SCOPE,
	FACT_SHARED,
	FACT_LOCALS,
	FACT_CODE,
	FACT_ASYNC,
	FACT_PROMISE,
	FACT_CAPABILITY,
	FACT_CONTEXT,
	N_FACTS
};

static const char *const fact_names[N_FACTS] = {
	[FACT_FUNCTION] = "v8dbg_type_JSFunction__JS_FUNCTION_TYPE",
	[FACT_SHARED_TYPE] = "v8dbg_type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE",
	[FACT_SCOPE] = "v8dbg_type_ScopeInfo__SCOPE_INFO_TYPE",
	[FACT_SHARED] = "v8dbg_class_JSFunction__shared__SharedFunctionInfo",
	[FACT_LOCALS] = "v8dbg_scopeinfo_idx_first_vars",
	[FACT_CODE] = "v8dbg_type_Code__CODE_TYPE",
	[FACT_ASYNC] = "v8dbg_type_JSAsyncFunctionObject__JS_ASYNC_FUNCTION_OBJECT_TYPE",
	[FACT_PROMISE] = "v8dbg_type_JSPromise__JS_PROMISE_TYPE",
	[FACT_CAPABILITY] = "v8dbg_type_PromiseCapability__PROMISE_CAPABILITY_TYPE",
	[FACT_CONTEXT] = "v8dbg_class_JSFunction__context__Context",
};

struct v8_symbols {
	uint64_t major, minor, facts[N_FACTS]; /* svma; 0: not there */
};

static void v8_take_symbol(void *ctx, const char *name, uint64_t svma, uint64_t size)
{
	struct v8_symbols *v = ctx;

	(void)size;
	if (strcmp(name, MAJOR) == 0)
		v->major = svma;
	else if (strcmp(name, MINOR) == 0)
		v->minor = svma;
	else if (strncmp(name, "v8dbg_", 6) == 0)
		for (unsigned i = 0; i < N_FACTS; i++)
			if (strcmp(name, fact_names[i]) == 0)
				v->facts[i] = svma;
}

static bool v8_number(const struct elf_file *f, uint64_t svma, uint32_t *ret)
{
	uint8_t bytes[4];
	struct rd r = rd_init(bytes, sizeof(bytes));

	if (!svma || !interpreter_read(f, svma, bytes, sizeof(bytes)))
		return false;
	*ret = rd_le32(&r);
	return true;
}

static enum interpreter v8_interpreter(uint32_t major, uint32_t minor)
{
	static const struct {
		uint32_t major, minor;
		enum interpreter number;
	} known[] = {
		{9, 4, INTERPRETER_V8_9_4},   {10, 2, INTERPRETER_V8_10_2},
		{11, 3, INTERPRETER_V8_11_3}, {12, 4, INTERPRETER_V8_12_4},
		{13, 6, INTERPRETER_V8_13_6},
	};

	for (size_t i = 0; i < n_elems(known); i++)
		if (known[i].major == major && known[i].minor == minor)
			return known[i].number;
	return INTERPRETER_NONE;
}

/* Whether L agrees with what the file tells. */
static bool v8_is_usual(const struct elf_file *f, const struct v8_symbols *v,
			const struct v8_layout *l)
{
	const uint32_t want[N_FACTS] = {
		[FACT_FUNCTION] = l->function_type,	[FACT_SHARED_TYPE] = l->shared_type,
		[FACT_SCOPE] = l->scope_type,		[FACT_SHARED] = l->shared,
		[FACT_LOCALS] = l->first_local,		[FACT_CODE] = l->code_type,
		[FACT_ASYNC] = l->async_type,		[FACT_PROMISE] = l->promise_type,
		[FACT_CAPABILITY] = l->capability_type, [FACT_CONTEXT] = l->shared + 8u,
	};
	uint32_t found;

	for (unsigned i = 0; i < N_FACTS; i++)
		if (!v8_number(f, v->facts[i], &found) || found != want[i])
			return false;
	return true;
}

bool interpreter_may_be_v8(const struct elf_file *f)
{
	return interpreter_may_export(f, MAJOR);
}

enum interpreter_refusal interpreter_find_v8(struct elf_file *f, struct unwind_input *in)
{
	struct v8_symbols v = {0};
	uint32_t major, minor;
	enum interpreter number;

	interpreter_each_symbol(f, v8_take_symbol, &v);
	if (!v8_number(f, v.major, &major) || !v8_number(f, v.minor, &minor))
		return INTERPRETER_ACCEPTED; /* it is none */
	in->interpreter.version =
		INTERPRETER_VERSION_V8 | (major & 0x7fff) << 16 | (minor & 0xffff);
	if (f->machine != EM_X86_64)
		return INTERPRETER_OTHER_MACHINE;
	number = v8_interpreter(major, minor);
	if (number == INTERPRETER_NONE)
		return INTERPRETER_OTHER_VERSION;
	if (!v8_is_usual(f, &v, V8_LAYOUT(number)))
		return INTERPRETER_OTHER_OBJECTS;
	in->interpreter.number = number;
	return INTERPRETER_ACCEPTED;
}
