// SPDX-License-Identifier: BSD-2-Clause
// The page of time lines: reads the data that the page carries, shows it (trace_view.mjs), and keeps the address.
import { unpack } from "./flame_data.mjs";
import { decodeTrace } from "./trace_data.mjs";
import { timeText } from "./trace_draw.mjs";
import { numberText } from "./number_text.mjs";
import { traceView } from "./trace_view.mjs";

/** @type {(id: string) => any} */
const $ = (id) => document.getElementById(id);

function keepAddress({ t, q }) {
  const p = new URLSearchParams();
  if (t)
    p.set("t", t);
  if (q)
    p.set("q", q);
  try {
    history.replaceState(null, "", `#${p}`);
  } catch (e) {
    location.hash = `#${p}`; // some browsers forbid the other for files
  }
}

function begin(trace) {
  const { head, threads } = trace;
  $("title").textContent = $("title").title = head.title;
  $("facts").textContent = `${threads.length} ${threads.length === 1 ? "thread" : "threads"}, ${timeText(head.length)}, ${numberText(head.points)} points; the hottest first`
    + (head.hasStates ? "" : "; waiting and blocking were not recorded (dwell record --off-cpu)")
    + (head.least ? `; what is shorter than ${timeText(head.least)} is joined` : "")
    + (head.dropped ? `; ${numberText(head.dropped)} points were dropped for want of room` : "");
  $("account").textContent = head.account;
  const ui = { view: $("view"), details: $("details"), search: $("search"), matched: $("matched"), legend: $("legend"), zoomIn: $("in"), zoomOut: $("out"), reset: $("reset") };
  const view = traceView(ui, trace, Object.fromEntries(new URLSearchParams(location.hash.slice(1))), keepAddress);
  view.canvas.setAttribute("aria-describedby", "details");
  document.addEventListener("keydown", view.key);
  $("tools").addEventListener("submit", (e) => e.preventDefault());
  performance.mark("first-picture");
}

async function start() {
  if (!("DecompressionStream" in window)) {
    $("details").textContent = "This browser cannot unpack the data (no DecompressionStream); one of 2023 or later can.";
    return;
  }
  begin(decodeTrace(await unpack($("data").textContent)));
}

start();
