// SPDX-License-Identifier: BSD-2-Clause
// Time as a heat map: a column for each minute, or for some of them, a row for each of those who used most of it.  Dragging, or Shift with the
// arrow keys, chooses a time.
import { el, count, short } from "./app_dom.mjs";

const ROW = 18, NAMES = 150, MOST_ROWS = 16;

// ROWS as of `dwell epochs --minutes`, of STEP minutes each; KEY says whose samples stand together; CHOOSE(since, until) is told a choice.
export function heatMap(rows, step, key, event, choose) {
  const of = rows.filter((r) => r.event === event && r.minute); // of some samples nobody knows when
  const minutes = [...new Set(of.map((r) => r.minute))].sort();
  const first = Date.parse(minutes[0]) / 60000, n = minutes.length ? (Date.parse(minutes[minutes.length - 1]) / 60000 - first) / step + 1 : 0;
  const owners = new Map();
  for (const r of of) {
    const name = r[key] === null || r[key] === undefined ? "-" : String(r[key]);
    const o = owners.get(name) || owners.set(name, { name, total: 0, at: new Map() }).get(name);
    const m = (Date.parse(r.minute) / 60000 - first) / step;
    o.total += r.samples;
    o.at.set(m, (o.at.get(m) || 0) + r.samples);
  }
  const all = [...owners.values()].sort((a, b) => b.total - a.total), shown = all.slice(0, MOST_ROWS), rest = all.slice(MOST_ROWS);
  const most = shown.reduce((x, o) => Math.max(x, ...o.at.values()), 1); // the others together may have more
  if (rest.length) {
    const o = { name: `${rest.length} others`, total: 0, at: new Map() };
    for (const x of rest)
      for (const [m, s] of x.at)
        o.at.set(m, (o.at.get(m) || 0) + s);
    shown.push(o);
  }
  const canvas = el("canvas", { tabindex: 0, role: "img", "aria-label": `${n * step} minutes, ${shown.length} rows; drag or Shift with arrows chooses a time` });
  const says = el("p", { class: "soft", "aria-live": "polite" }, n > 1 ? "Drag to choose a time." : "");
  let width = 0, drag = null, key0 = 0;

  const timeOf = (m) => new Date((first + m * step) * 60000).toISOString().slice(0, 16) + "Z";
  const left = () => Math.min(NAMES, width / 3);
  const minuteAt = (x) => Math.max(0, Math.min(n - 1, Math.floor((x - left()) / (width - left()) * n)));

  function paint() {
    const ratio = window.devicePixelRatio || 1, style = getComputedStyle(document.documentElement);
    const height = shown.length * ROW + ROW;
    width = canvas.clientWidth;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.height = `${height}px`;
    const c = canvas.getContext("2d"), wide = (width - left()) / n;
    c.scale(ratio, ratio);
    c.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    c.textBaseline = "middle";
    shown.forEach((o, y) => {
      c.fillStyle = style.getPropertyValue("--ink");
      c.fillText(short(o.name, 26), 0, y * ROW + ROW / 2, left() - 6);
      c.fillStyle = style.getPropertyValue("--more");
      for (const [m, s] of o.at) {
        c.globalAlpha = 0.08 + 0.92 * Math.min(1, s / most);
        c.fillRect(left() + m * wide, y * ROW + 1, Math.max(wide - (wide > 3 ? 1 : 0), 0.5), ROW - 2);
      }
      c.globalAlpha = 1;
    });
    c.fillStyle = style.getPropertyValue("--soft");
    const every = Math.max(1, Math.ceil(n / Math.max(1, Math.floor((width - left()) / 110))));
    for (let m = 0; m < n; m += every)
      c.fillText(timeOf(m).slice(5, 16).replace("T", " "), left() + m * wide, shown.length * ROW + ROW / 2);
    if (drag) {
      const [a, b] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to) + 1];
      c.strokeStyle = style.getPropertyValue("--ink");
      c.lineWidth = 2;
      c.strokeRect(left() + a * wide, 1, (b - a) * wide, shown.length * ROW - 2);
    }
  }

  function tell(x, y) {
    const o = shown[Math.floor(y / ROW)], m = minuteAt(x);
    if (drag)
      says.textContent = `${timeOf(Math.min(drag.from, drag.to))} to ${timeOf(Math.max(drag.from, drag.to) + 1)}`;
    else if (o && x >= left())
      says.textContent = `${short(o.name)}: ${count(o.at.get(m) || 0)} samples in ${step === 1 ? "the minute" : `the ${step} minutes`} of ${timeOf(m)}`;
  }

  function finish() {
    if (!drag)
      return;
    const [a, b] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to) + 1];
    drag = null;
    choose(timeOf(a), timeOf(b));
  }

  canvas.addEventListener("pointerdown", (e) => {
    if (e.offsetX < left() || n < 2)
      return;
    canvas.setPointerCapture(e.pointerId);
    drag = { from: minuteAt(e.offsetX), to: minuteAt(e.offsetX) };
    paint();
  });
  canvas.addEventListener("pointermove", (e) => {
    if (drag) {
      drag.to = minuteAt(e.offsetX);
      paint();
    }
    tell(e.offsetX, e.offsetY);
  });
  canvas.addEventListener("pointerup", finish);
  canvas.addEventListener("keydown", (e) => {
    if (e.key !== "ArrowLeft" && e.key !== "ArrowRight" && e.key !== "Enter")
      return;
    e.preventDefault();
    if (e.key === "Enter") {
      finish();
      return;
    }
    key0 = Math.max(0, Math.min(n - 1, key0 + (e.key === "ArrowRight" ? 1 : -1)));
    drag = { from: e.shiftKey && drag ? drag.from : key0, to: key0 };
    paint();
    tell(0, -1);
  });
  const place = el("div", { class: "heat" }, canvas, says, ...rows.filter((r) => r.event === event && r.from).map((r) =>
    el("p", { class: "soft" }, `${count(r.samples)} samples came between ${r.from} and ${r.until}; their minutes are not known.`)));
  new ResizeObserver(paint).observe(place);
  return place;
}
