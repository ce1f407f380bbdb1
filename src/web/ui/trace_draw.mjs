// SPDX-License-Identifier: BSD-2-Clause
// Paints time lines on a canvas: an axis, then a row for each thread, its name at the left.
import { INK, MATCH, STATES } from "./flame_kinds.mjs";
import { beginCanvas, pixelOf, pixelRows } from "./pixel_rows.mjs";
import { eachPixel } from "./trace_data.mjs";

export const ROW = 22;   // a thread
export const AXIS = 22;  // above the threads
const LINES = 6;         // of pixels in a row: a pixel that has several states is divided as finely
const SMALL = '12px "DejaVu Sans Mono", Menlo, Consolas, monospace';
const SOFT = { light: "#555b66", dark: "#a9b0bd" };
const GRID = { light: "#e3e6eb", dark: "#2c313a" };

// How wide names are beside a picture of WIDTH.
export function nameWidth(width) {
  return Math.min(260, Math.max(110, Math.round(width * 0.2)));
}

// "1.5 s", "20 ms", "3 us"
export function timeText(us, exact = us) {
  const digits = (v) => Number(v.toPrecision(6)).toString();
  return Math.abs(exact) >= 1e6 ? `${digits(us / 1e6)} s` : Math.abs(exact) >= 1e3 ? `${digits(us / 1e3)} ms` : `${digits(us)} us`;
}

// A time on an axis of steps of STEP, in the unit that MOST has.
function axisText(us, step, most) {
  const [unit, name] = most >= 1e6 ? [1e6, "s"] : most >= 1e3 ? [1e3, "ms"] : [1, "us"];
  return `${(us / unit).toFixed(Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9)))} ${name}`;
}

// A step of 1, 2 or 5 times a power of ten, so that LENGTH has at most COUNT of them.
export function stepOf(length, count) {
  const least = Math.max(length / Math.max(1, count), 1), ten = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= least);
}

// Paints TRACE on CANVAS.  LOOK: theme, width, height, top (pixels scrolled away), from, to, marked (by node; null), and
// rows: the numbers of the threads shown.
export function tracePainter(canvas, trace) {
  const rows = pixelRows();
  return function paint(look) {
    const { theme, from, to } = look;
    const { ctx, dense, width, height } = beginCanvas(canvas, look.width, look.height);
    const left = Math.round(nameWidth(look.width) * dense), bars = width - left;
    const fills = trace.head.states.map((s) => pixelOf(STATES[s][theme][0])), hit = pixelOf(MATCH[theme]);
    const first = Math.max(0, Math.floor(look.top / ROW)), last = Math.min(look.rows.length, Math.ceil((look.top + look.height - AXIS) / ROW));
    const pixels = rows.begin(width, Math.max(0, last - first) * LINES);
    for (let row = first; row < last; row++)
      paintThread(trace.threads[look.rows[row]], pixels, ((row - first) * LINES) * width + left, width, bars, look, fills, hit);
    const top = Math.round((AXIS + first * ROW - look.top) * dense), high = ROW * dense;
    paintGrid(ctx, look, { left, bars, height, dense });
    rows.show(ctx, top, high / LINES);
    for (let row = first; row <= last; row++) // the gap between rows
      ctx.clearRect(0, Math.round(top + (row - first) * high - 2 * dense), width, Math.round(3 * dense));
    paintNames(ctx, look, first, last, top, high, left, dense, trace);
    ctx.clearRect(0, 0, width, AXIS * dense);
    paintAxis(ctx, look, { left, bars, dense }, trace.head.from);
  };

  function paintThread(t, pixels, base, stride, bars, look, fills, hit) {
    const { marked } = look;
    eachPixel(t, look.from, look.to, bars, (x0, x1, k) => {
      const fill = marked && marked[t.node[k]] ? hit : fills[t.state[k]];
      const end = x1 - x0 > 12 && t.end[k] <= look.to ? x1 - 1 : x1; // so that spans can be told apart
      for (let l = 0; l < LINES; l++)
        pixels.fill(fill, base + l * stride + x0, base + l * stride + end);
    }, (x, shares, k, last) => {
      let found = false;
      for (let i = k; marked && i <= last && i < k + 100; i++)
        found = found || marked[t.node[i]] === 1;
      // From below: what ran, what waited, what was blocked.
      let line = LINES;
      for (let s = 0; s < shares.length; s++) {
        const n = shares[s] > 0 ? Math.min(line, Math.max(1, Math.round(shares[s] * LINES))) : 0;
        for (let i = 0; i < n; i++)
          pixels[base + --line * stride + x] = found && s === 0 ? hit : fills[s];
      }
    });
  }

  function paintGrid(ctx, look, { left, bars, height, dense }) {
    const step = stepOf(look.to - look.from, bars / dense / 90);
    ctx.fillStyle = GRID[look.theme];
    for (let time = Math.ceil(look.from / step) * step; time < look.to; time += step)
      ctx.fillRect(Math.round(left + (time - look.from) / (look.to - look.from) * bars), AXIS * dense, Math.max(1, Math.round(dense)), height);
  }

  function paintAxis(ctx, look, { left, bars, dense }, zero) {
    const step = stepOf(look.to - look.from, bars / dense / 90);
    ctx.font = SMALL.replace("12px", `${11 * dense}px`);
    ctx.textBaseline = "middle";
    ctx.fillStyle = SOFT[look.theme];
    for (let time = Math.ceil(look.from / step) * step; time < look.to; time += step) {
      const x = left + (time - look.from) / (look.to - look.from) * bars, text = axisText(zero + time, step, zero + look.to);
      ctx.fillText(text, x + 3 * dense, AXIS / 2 * dense);
      ctx.fillRect(Math.round(x), AXIS / 2 * dense, Math.max(1, Math.round(dense)), AXIS / 2 * dense);
    }
  }

  function paintNames(ctx, look, first, last, top, high, left, dense, { threads, head }) {
    ctx.font = SMALL.replace("12px", `${12 * dense}px`);
    ctx.textBaseline = "middle";
    ctx.fillStyle = INK[look.theme];
    const room = Math.floor((left - 8 * dense) / ctx.measureText("m").width);
    for (let row = first; row < last; row++) {
      const t = threads[look.rows[row]], number = head.byProcess ? ` ${t.tid}` : "";
      const name = t.name.length > room - number.length ? `${t.name.slice(0, Math.max(1, room - number.length - 1))}\u2026` : t.name;
      ctx.fillText(name + number, 6 * dense, top + (row - first + 0.5) * high);
    }
  }
}
