// SPDX-License-Identifier: BSD-2-Clause
// Time lines of threads, with the same parts as the page of `dwell trace -o x.html`.
import { el } from "./app_dom.mjs";
import { decodeTrace } from "./trace_data.mjs";
import { timeText } from "./trace_draw.mjs";
import { traceView } from "./trace_view.mjs";

// Shows BYTES in PARENT.  KEPT has t and q of the address; NOTE(changes) keeps them.
export function threadsPicture(parent, bytes, kept, note) {
  const trace = decodeTrace(bytes), { head, threads } = trace;
  const button = (text, label) => el("button", { type: "button", "aria-label": label }, text);
  const ui = {
    view: el("div", { class: "flame" }), details: el("p", { class: "details", "aria-live": "polite" }),
    search: el("input", { type: "search", placeholder: "Search: thread, procedure or /regex/", "aria-label": "Search for a thread, a procedure or /regex/", spellcheck: "false" }),
    matched: el("output"), legend: el("ul", { class: "legend", "aria-label": "Colours" }),
    zoomIn: button("+", "Zoom in"), zoomOut: button("\u2212", "Zoom out"), reset: button("Show all", "Show all"),
  };
  parent.append(
    el("p", { class: "tools soft" }, `${threads.length} threads, ${timeText(Number(head.length.toPrecision(3)))}, the hottest first${head.hasStates ? "" : "; waiting and blocking were not recorded (dwell record --off-cpu)"}`),
    el("form", { class: "tools", onsubmit: (e) => e.preventDefault() }, ui.search, ui.matched, ui.zoomIn, ui.zoomOut, ui.reset, ui.legend),
    ui.view, ui.details);
  const view = traceView(ui, trace, kept, note);
  return { key: view.key };
}
