// SPDX-License-Identifier: BSD-2-Clause
// Time lines of threads inside an element: turns the pointer, keys and an address into what trace_draw.mjs paints, and tells
// in words what is chosen.  Names reach the page as text only.
//
//     const v = traceView(ui, trace, kept, keep);
//     v.take({ t, q });        the stretch of time "FROM..TO" in microseconds, and the search
//     v.key(event);            a key of the page
//
// UI: the elements view (with a height of its own), details, search, matched, legend, zoomIn, zoomOut and reset.  TRACE is of
// trace_data.mjs.  KEEP({ t, q }) is told what an address must have to show the same again.
import { STATES, fillOf } from "./flame_kinds.mjs";
import { matcher } from "./flame_search.mjs";
import { spanAt } from "./trace_data.mjs";
import { AXIS, ROW, nameWidth, timeText, tracePainter } from "./trace_draw.mjs";

const ZOOM_MS = 160;
const LEAST_US = 20; // the shortest time that is shown

export function traceView(ui, trace, kept, keep) {
  const make = (tag, id) => ui.view.appendChild(Object.assign(document.createElement(tag), { id }));
  const [canvas, mark, band, spacer] = [["canvas", "canvas"], ["div", "mark"], ["div", "band"], ["div", "spacer"]].map((a) => make(...a));
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");
  band.hidden = true;
  mark.className = "row";
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", "Time lines");
  const paint = tracePainter(canvas, trace);
  let rows = [];                        // numbers of the threads shown
  let shown = { from: 0, to: 1 }, goal = null;
  let marked = null;                    // by node: what search found
  let chosen = { row: -1, span: -1 };
  let width = 0, height = 0, asked = false;

  // --- drawing ---

  function redraw() {
    if (asked)
      return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      if (goal) {
        const done = still.matches ? 1 : Math.min(1, (performance.now() - goal.start) / ZOOM_MS), ease = 1 - (1 - done) ** 3;
        shown = { from: goal.old.from + (goal.from - goal.old.from) * ease, to: goal.old.to + (goal.to - goal.old.to) * ease };
        if (done === 1)
          goal = null;
        else
          redraw();
      }
      draw();
    });
  }

  function draw() {
    paint({ theme: dark.matches ? "dark" : "light", width, height, top: ui.view.scrollTop, from: shown.from, to: shown.to, marked, rows });
    placeMark();
  }

  function measure() {
    width = ui.view.clientWidth;
    height = ui.view.clientHeight;
    canvas.style.height = `${height}px`;
    spacer.style.height = `${Math.max(0, AXIS + rows.length * ROW - height)}px`;
    redraw();
  }

  const left = () => nameWidth(width);
  const xOf = (time) => left() + (time - shown.from) / (shown.to - shown.from) * (width - left());
  const timeOf = (x) => shown.from + (x - left()) / (width - left()) * (shown.to - shown.from);

  function placeMark() {
    const t = trace.threads[rows[chosen.row]], k = chosen.span;
    const x0 = t && k >= 0 ? Math.max(left(), xOf(t.begin[k])) : left(), x1 = t && k >= 0 ? Math.min(width, xOf(t.end[k])) : width;
    mark.hidden = !t || x1 < x0;
    if (mark.hidden)
      return;
    mark.style.width = `${Math.max(4, x1 - x0)}px`;
    mark.style.transform = `translate(${Math.min(x0, width - 4)}px, ${AXIS + chosen.row * ROW}px)`;
  }

  // --- telling ---

  function say(parts) {
    ui.details.replaceChildren(...parts.map(([tag, text]) => Object.assign(document.createElement(tag), { textContent: text })));
  }

  function threadText(t) {
    return trace.head.byProcess ? `${t.name} ${t.tid}${t.tid === t.pid ? "" : ` of ${t.pid}`}` : t.name;
  }

  // The call path of node N, innermost first.
  function pathText(n) {
    const { parent, name } = trace.nodes, frames = [];
    for (let k = n; k; k = parent[k])
      frames.push(trace.head.names[name[k]]);
    return frames.join(" < ");
  }

  // What part of the time shown thread T was in each state.
  function sharesText(t) {
    const { states, length } = trace.head;
    return states.map((s, i) => [STATES[s].says, t.sums[i][t.spans]]).filter(([, n]) => n > 0)
      .map(([s, n]) => `${s} ${timeText(n)}, ${(100 * n / length).toFixed(2)} %`).join("; ");
  }

  function tell() {
    const t = trace.threads[rows[chosen.row]], k = chosen.span;
    if (!t) {
      say([["span", "Point at a thread, or tap it, to see what it did. Drag over a stretch of time to zoom in."]]);
      return;
    }
    const parts = [["b", `${threadText(t)} `]];
    if (k < 0) {
      parts.push(["span", `${sharesText(t)}${t.dropped ? `; ${t.dropped} points were dropped for want of room` : ""}`]);
    } else {
      parts.push(["span", `${STATES[trace.head.states[t.state[k]]].says} for ${timeText(t.end[k] - t.begin[k])} from ${timeText(trace.head.from + t.begin[k], trace.head.length)} on. `]);
      if (t.node[k])
        parts.push(["code", pathText(t.node[k])]);
      if (t.waker[k])
        parts.push(["span", ` Woken by ${threadText(trace.threads[t.waker[k] - 1])} in `], ["code", pathText(t.wakerNode[k])]);
    }
    say(parts);
    canvas.setAttribute("aria-label", `Time lines, ${threadText(t)}: ${ui.details.textContent}`);
  }

  function choose(row, span) {
    if (row === chosen.row && span === chosen.span)
      return;
    chosen = { row, span };
    placeMark();
    tell();
  }

  // --- zooming and searching ---

  function zoomTo(from, to, byHand = true) {
    const { length } = trace.head, wide = Math.min(Math.max(to - from, Math.min(LEAST_US, length)), length);
    const begin = Math.min(Math.max(0, (from + to - wide) / 2), length - wide);
    if (byHand)
      goal = { from: begin, to: begin + wide, old: shown, start: performance.now() };
    else
      [shown, goal] = [{ from: begin, to: begin + wide }, null];
    ui.reset.disabled = ui.zoomOut.disabled = wide >= length;
    redraw();
    if (byHand)
      keepAddress(begin, begin + wide);
  }

  function zoomBy(factor, at = null) {
    const { from, to } = goal || shown, middle = at ?? (from + to) / 2;
    zoomTo(middle - (middle - from) * factor, middle + (to - middle) * factor);
  }

  function find(text) {
    const { nodes, head, threads } = trace;
    let matches = null;
    marked = null;
    ui.matched.textContent = "";
    try {
      matches = matcher(text);
    } catch (e) {
      ui.matched.textContent = "not a regular expression";
    }
    rows = threads.map((t) => t.number);
    if (matches) {
      const names = head.names.map((n) => matches(n));
      marked = new Uint8Array(nodes.parent.length);
      for (let i = 1; i < marked.length; i++)
        marked[i] = names[nodes.name[i]] || marked[nodes.parent[i]] ? 1 : 0;
      let time = 0, whole = 0;
      const has = threads.map((t) => {
        let own = 0;
        for (let k = 0; k < t.spans; k++)
          own += marked[t.node[k]] ? t.end[k] - t.begin[k] : 0;
        time += own;
        whole += t.sums.reduce((n, sum) => n + sum[t.spans], 0);
        return own > 0 || matches(threadText(t));
      });
      rows = rows.filter((i) => has[i]);
      ui.matched.textContent = `${rows.length} of ${threads.length} threads; ${(whole ? 100 * time / whole : 0).toFixed(2)} % of their time`;
    }
    chosen = { row: -1, span: -1 };
    tell();
    measure();
  }

  function keepAddress(from, to) {
    keep({ t: from > 0 || to < trace.head.length ? `${Math.round(from)}..${Math.round(to)}` : "", q: ui.search.value });
  }

  // Shows the stretch of time and the search of ADDRESS: { t, q }.
  function take(address) {
    const range = /^(\d+)\.\.(\d+)$/.exec(address.t || "");
    ui.search.value = address.q || "";
    find(ui.search.value);
    zoomTo(range ? Number(range[1]) : 0, range ? Number(range[2]) : trace.head.length, false);
  }

  // --- pointer and keys ---

  function pick(event) {
    const rect = canvas.getBoundingClientRect(), x = event.clientX - rect.left, y = event.clientY - rect.top;
    const row = y < AXIS ? -1 : Math.floor((y - AXIS + ui.view.scrollTop) / ROW), t = trace.threads[rows[row]];
    if (!t || x < left())
      return { row: t ? row : -1, span: -1, x };
    const time = timeOf(x), k = spanAt(t, time);
    return { row, span: k < t.spans && t.begin[k] <= time ? k : -1, x };
  }

  let drag = null;

  function onDown(event) {
    const { x } = pick(event);
    if (event.pointerType !== "touch" && event.button === 0 && x >= left())
      drag = { x, now: x };
    if (drag)
      canvas.setPointerCapture(event.pointerId);
  }

  function onMove(event) {
    const hit = pick(event);
    if (drag) {
      drag.now = Math.min(Math.max(hit.x, left()), width);
      band.hidden = Math.abs(drag.now - drag.x) < 4;
      band.style.left = `${Math.min(drag.x, drag.now)}px`;
      band.style.width = `${Math.abs(drag.now - drag.x)}px`;
      band.style.top = `${ui.view.scrollTop}px`;
      band.style.height = `${height}px`;
    } else if (event.pointerType !== "touch") {
      choose(hit.row, hit.span);
    }
  }

  function onUp(event) {
    if (drag && Math.abs(drag.now - drag.x) >= 4) {
      const times = [drag.x, drag.now].map(timeOf).sort((a, b) => a - b);
      zoomTo(...times);
    } else {
      const { row, span } = pick(event);
      choose(row, span);
    }
    drag = null;
    band.hidden = true;
  }

  function onWheel(event) {
    if (!event.ctrlKey)
      return;
    event.preventDefault();
    zoomBy(event.deltaY < 0 ? 0.7 : 1 / 0.7, timeOf(event.clientX - canvas.getBoundingClientRect().left));
  }

  function scrollToRow() {
    const view = ui.view, y = chosen.row * ROW;
    if (y < view.scrollTop || y + AXIS + ROW > view.scrollTop + height)
      view.scrollTop = y - height / 3;
  }

  // Moves to the neighbour STEP away in the chosen thread, which is then seen.
  function toSpan(step) {
    const t = trace.threads[rows[chosen.row]];
    if (!t || !t.spans)
      return;
    const k = chosen.span < 0 ? spanAt(t, shown.from) : chosen.span + step;
    choose(chosen.row, Math.min(Math.max(0, k), t.spans - 1));
    const [begin, end] = [t.begin[chosen.span], t.end[chosen.span]], long = shown.to - shown.from;
    if (end < shown.from || begin > shown.to)
      zoomTo(begin - long / 3, begin + 2 * long / 3);
  }

  function toWaker() {
    const t = trace.threads[rows[chosen.row]], k = chosen.span, waker = t && k >= 0 ? t.waker[k] : 0;
    const row = waker ? rows.indexOf(waker - 1) : -1;
    if (row < 0)
      return;
    const w = trace.threads[waker - 1], at = spanAt(w, t.end[k]);
    choose(row, at < w.spans && w.begin[at] <= t.end[k] ? at : -1);
    scrollToRow();
  }

  function toRow(step) {
    choose(Math.min(Math.max(0, chosen.row + step), rows.length - 1), -1);
    scrollToRow();
  }

  function zoomToChosen() {
    const t = trace.threads[rows[chosen.row]], k = chosen.span;
    if (t && k >= 0)
      zoomTo(t.begin[k] - (t.end[k] - t.begin[k]) * 0.5, t.end[k] + (t.end[k] - t.begin[k]) * 0.5);
  }

  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey)
      return;
    const inSearch = event.target === ui.search;
    const go = {
      ArrowDown: () => toRow(1), ArrowUp: () => toRow(-1), ArrowLeft: () => toSpan(-1), ArrowRight: () => toSpan(1),
      Enter: zoomToChosen, "+": () => zoomBy(0.5), "-": () => zoomBy(2), w: toWaker, "/": () => ui.search.focus(),
    };
    if (event.key === "Escape") {
      canvas.focus();
      zoomBy(4);
    } else if (inSearch || !(event.key in go) || (event.key === "Enter" && event.target !== canvas)) {
      return;
    } else {
      go[event.key]();
    }
    event.preventDefault();
  }

  function legend() {
    const used = trace.head.states.filter((s, i) => trace.threads.some((t) => t.sums[i][t.spans] > 0));
    ui.legend.replaceChildren(...used.map((s) => {
      const item = document.createElement("li"), patch = document.createElement("canvas"), ctx = patch.getContext("2d");
      patch.width = patch.height = 12;
      ctx.fillStyle = fillOf(s, 0, dark.matches ? "dark" : "light");
      ctx.fillRect(0, 0, 12, 12);
      item.append(patch, STATES[s].says);
      return item;
    }));
  }

  legend();
  width = ui.view.clientWidth;
  height = ui.view.clientHeight;
  take(kept);
  measure();
  draw();

  new ResizeObserver(measure).observe(ui.view);
  canvas.addEventListener("pointerdown", onDown);
  canvas.addEventListener("pointermove", onMove);
  canvas.addEventListener("pointerup", onUp);
  canvas.addEventListener("dblclick", zoomToChosen);
  canvas.addEventListener("wheel", onWheel, { passive: false });
  ui.view.addEventListener("scroll", redraw);
  dark.addEventListener("change", () => {
    legend();
    redraw();
  });
  ui.search.addEventListener("input", () => {
    find(ui.search.value);
    keepAddress(shown.from, shown.to);
  });
  ui.zoomIn.addEventListener("click", () => zoomBy(0.5));
  ui.zoomOut.addEventListener("click", () => zoomBy(2));
  ui.reset.addEventListener("click", () => zoomTo(0, trace.head.length));
  return { canvas, take, key };
}
