/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell doctor`: what this user on this machine can record, and what each missing part needs. */
#include <errno.h>

#include "cmd/cmd.h"
#include "cmd/doctor_process.h"
#include "collect/probe_machine.h"

static const struct emit_col columns[] = {
	{.key = "check", .type = EMIT_STR, .in = EMIT_IN_JSON | EMIT_IN_CSV},
	{.key = "what", .title = "for", .type = EMIT_STR},
	{.key = "state", .type = EMIT_STR},
	{.key = "found", .type = EMIT_STR, .cut = TEXT_FOLD},
	{.key = "remedy", .type = EMIT_STR, .in = EMIT_IN_JSON | EMIT_IN_CSV},
};

static const char *verdict(const struct probe_report *r)
{
	if (r->bpf)
		return "This user can record the whole machine (engine bpf).";
	if (r->system_wide)
		return "This user can record the whole machine (engine ring: without BPF).";
	if (r->own_programs)
		return "This user can record own programs only, not the whole machine (engine "
		       "ring).";
	return "This user can record nothing on this machine.";
}

static void add_remedies(struct emit *e, const struct probe_report *r)
{
	bool any = false;

	for (size_t i = 0; i < r->rows.n; i++) {
		const struct probe_row *row = &r->rows.v[i];
		struct str text = {0};

		if (!row->remedy)
			continue;
		text_show(&text, row->remedy);
		emit_text(e, "%s  %s: %s\n", any ? "" : "\nWhat would give more:\n", row->what,
			  str_get(&text));
		str_release(&text);
		any = true;
	}
}

int cmd_doctor(struct cmd *c)
{
	uint64_t pid = UINT64_MAX;
	const struct opt table[] = {
		{"p pid", OPT_U64, &pid, "PID", "what call paths show of this process's runtimes"},
		{0},
	};
	struct probe_report report;
	struct probe_env env;
	opt_list operands = {0};
	int rc = cmd_parse(c, "[-p PID] [OPTIONS]", table, false, &operands);

	if (rc == 0 && operands.n)
		rc = err_set(&c->err, -EINVAL, "unexpected operand '%s'", operands.v[0]);
	vec_release(&operands);
	if (rc != 0)
		return rc;
	if (pid != UINT64_MAX)
		return doctor_process(c, pid);
	probe_env_host(&env);
	probe_machine(&env, &report);
	emit_begin(&c->emit);
	if (emit_json(&c->emit)) {
		struct json *j = emit_json(&c->emit);

		json_key(j, "system_wide");
		json_bool(j, report.system_wide);
		json_key(j, "own_programs");
		json_bool(j, report.own_programs);
		json_key(j, "engine");
		json_str(j, report.bpf ? "bpf" : report.own_programs ? "ring" : NULL);
	}
	emit_rows_by(&c->emit, "feature");
	emit_table(&c->emit, "rows", columns, n_elems(columns));
	vec_each (row, &report.rows) {
		const struct emit_cell cells[] = {
			{.s = row->id},
			{.s = row->what},
			{.s = probe_state_name(row->state)},
			{.s = row->found},
			{.s = row->remedy, .none = !row->remedy},
		};

		emit_row(&c->emit, cells);
	}
	emit_table_end(&c->emit);
	add_remedies(&c->emit, &report);
	emit_text(&c->emit, "\n%s\n", verdict(&report));
	emit_end(&c->emit);
	rc = report.system_wide ? 0 : CMD_NOTHING;
	probe_report_release(&report);
	return rc;
}
