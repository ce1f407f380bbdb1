// SPDX-License-Identifier: BSD-2-Clause
// One procedure: source lines and instructions with their samples, jumps and loops.
import { el, barCell, count, percent, shown } from "./app_dom.mjs";

export function codeTable(answer, event) {
  const amount = (r) => (r.counts && r.counts[event]) || 0;
  const rows = [], targets = new Map(), lines = answer.rows.filter((r) => r.svma === null || r.svma === undefined);
  const counted = answer.rows.some((r) => r.svma) ? answer.rows.filter((r) => r.svma) : lines;
  const whole = counted.reduce((n, r) => n + amount(r), 0) || 1, hottest = counted.reduce((n, r) => Math.max(n, amount(r)), 1);
  let hot = null;
  const bar = (r, most) => barCell(amount(r) / most, amount(r) ? percent(amount(r), whole) : "");
  for (const r of answer.rows) {
    const isLine = !r.svma;
    const row = isLine
      ? el("tr", { class: "line" }, bar(r, whole), el("td", { class: "n" }, amount(r) ? count(amount(r)) : ""), el("td", { class: "n" }, String(r.line ?? "")),
        el("td", { colspan: 2 }, shown(r.source ?? r.file ?? "").replaceAll("\\u0009", "    ")))
      : el("tr", { class: r.target ? "target" : "" }, bar(r, hottest), el("td", { class: "n" }, amount(r) ? count(amount(r)) : ""), el("td", { class: "soft" }, r.svma),
        el("td", { class: "loop", "aria-hidden": "true" }, "│".repeat(Math.min(r.loops || 0, 6))),
        el("td", {}, shown(r.instruction || ""), r.jump && r.jump !== r.svma ? el("button", { type: "button", class: "go", title: `Go to ${r.jump}`, onclick: () => goTo(r.jump) }, " ↦") : null));
    if (!isLine)
      targets.set(r.svma, row);
    rows.push(row);
    if (isLine === (counted === lines) && (!hot || amount(r) > hot.amount))
      hot = { amount: amount(r), row };
  }
  function goTo(svma) {
    const row = targets.get(svma);
    row?.scrollIntoView({ block: "center" });
    row?.querySelector("button, td")?.focus?.();
  }
  const table = el("table", { class: "code" }, el("thead", {}, el("tr", {}, el("th", { class: "n" }, "Of procedure"), el("th", { class: "n" }, "Samples"), el("th", {}, "Line, address"), el("th", {}, "Loops"), el("th", {}, "Source, instruction"))), el("tbody", {}, ...rows));
  table.showHot = () => hot?.row.scrollIntoView({ block: "center" });
  return table;
}
