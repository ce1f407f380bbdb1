// SPDX-License-Identifier: BSD-2-Clause
// Paints the boxes of a flame graph on a canvas.
import { INK, MATCH, STATES, fillOf } from "./flame_kinds.mjs";
import { shownOf } from "./flame_layout.mjs";
import { beginCanvas, labelList, pixelOf, pixelRows } from "./pixel_rows.mjs";

export const ROW = 18;
const SMALL_LABEL = -1, SMALL_TEXT = "too small";
const LABELS_MS = 3; // of a frame

export function kindOf(head, boxes, i) {
  return i ? head.kinds[head.kind[boxes.frame[i]]] : "owner";
}

// What decides the colour of box I, unless it is coloured by states.
export function lookOf(head, boxes, i) {
  const kind = kindOf(head, boxes, i);
  return head.sides && kind !== "small" ? head.changes[boxes.change[i]] : kind;
}

export function nameOf(head, boxes, i) {
  if (!i)
    return "all";
  return boxes.small[i] ? `${boxes.small[i]} too small` : head.name[boxes.frame[i]];
}

// The name of box I as a box has room for it: without arguments, and without what templates are made with.  What is too
// small is called so where ROOM has all of that.
function labelOf(head, boxes, i, room) {
  if (i === SMALL_LABEL || boxes.small[i])
    return room < SMALL_TEXT.length ? "" : i === SMALL_LABEL ? SMALL_TEXT : nameOf(head, boxes, i);
  return (i && head.label[boxes.frame[i]]) || nameOf(head, boxes, i);
}

// Makes a painter of FLAME on CANVAS.
//
//     painter.look({ theme, found, states })   what decides colours; call it when one of them changes
//     painter.paint({ width, height, top, from, to, flipped, nLevels })
//     painter.more()                           paints labels for which a frame had no time; true: all are there
//
// width and height are of the canvas in CSS pixels, top is how many are scrolled away, from and to are the amounts at
// the left and the right edge.  FOUND is what search found, or null.
export function flamePainter(canvas, flame) {
  const { head, boxes, levels } = flame;
  const rows = pixelRows(), labels = labelList();
  const matched = []; // by depth: SUMS, of what was FOUND
  let plain, ofFrame, ofChange, states, small, match, whole, theme, found = null;
  let ctx, dense;

  function look(how) {
    const { found: f } = how;
    if (how.theme !== theme)
      plain = Uint32Array.from(head.kind, (kind, i) => pixelOf(fillOf(head.kinds[kind], i, how.theme)));
    ({ theme } = how);
    small = pixelOf(fillOf("small", 0, theme));
    match = pixelOf(MATCH[theme]);
    whole = pixelOf(fillOf("owner", 0, theme));
    states = how.states && boxes.blocked ? ["running", "runnable", "blocked"].map((s) => pixelOf(STATES[s][theme][0])) : null;
    ofFrame = f ? plain.map((pixel, i) => f.frames[i] ? match : pixel) : plain;
    ofChange = head.sides ? Uint32Array.from(head.changes, (c) => pixelOf(fillOf(c, 0, theme))) : null;
    found = f;
  }

  // How many boxes of the level at DEPTH that match stand before each of its places.  Levels that are not seen are not counted.
  function matchedAt(depth) {
    const { n, box } = levels[depth], { hits } = found, was = matched[depth];
    if (was?.found === found)
      return was.sums;
    const sums = was ? was.sums : new Uint32Array(n + 1);
    matched[depth] = { found, sums };
    for (let k = 0, sum = 0; k < n; k++)
      sums[k + 1] = sum += hits[box[k]];
    return sums;
  }

  function pixelOfBox(i) {
    if (!i)
      return whole;
    const f = boxes.frame[i];
    if (ofChange && ofFrame[f] !== match && !boxes.small[i])
      return ofChange[boxes.change[i]];
    return ofFrame[f];
  }

  // Fills LINE between X0 and X1 with box I, which lies between B0 and B1, in parts of what its threads did.
  function fillStates(line, base, x0, x1, b0, b1, i) {
    const run = boxes.total[i] - boxes.runnable[i] - boxes.blocked[i];
    const e0 = Math.round(b0 + (b1 - b0) * run / boxes.total[i]);
    const e1 = Math.round(b1 - (b1 - b0) * boxes.blocked[i] / boxes.total[i]);
    const clip = (x) => base + Math.min(Math.max(x, x0), x1);
    line.fill(states[0], clip(x0), clip(e0));
    line.fill(states[1], clip(e0), clip(e1));
    line.fill(states[2], clip(e1), clip(x1));
  }

  function paintRow(line, base, width, level, depth, y, from, to) {
    const perPixel = (to - from) / width, { x, end, box } = level;
    const counts = found && matchedAt(depth);
    let runEnd = -9, runBegin = 0;
    const endRun = () => {
      if (runEnd - runBegin > 2 * 7 * dense)
        labels.add(runBegin + 3 * dense, y, runEnd - runBegin - 7 * dense, SMALL_LABEL);
      runEnd = -9;
    };
    const fillBox = (k) => {
      const b0 = (x[k] - from) / perPixel, b1 = (end[k] - from) / perPixel, i = box[k];
      const x0 = Math.max(0, Math.round(b0)), x1 = Math.min(width, Math.max(Math.round(b1), x0 + 1));
      const edge = x1 - x0 > 3 * dense ? Math.round(dense) : 0;
      if (runEnd >= 0)
        endRun();
      if (states && i && !found?.hits[i] && !boxes.small[i])
        fillStates(line, base, x0, x1 - edge, b0, b1, i);
      else
        line.fill(pixelOfBox(i), base + x0, base + x1 - edge);
      if (x1 - x0 > 21 * dense)
        labels.add(x0 + 3 * dense, y, x1 - x0 - 7 * dense, i);
    };
    const fillRun = (first, last) => {
      const x0 = Math.max(0, Math.floor((x[first] - from) / perPixel + 0.25));
      const x1 = Math.min(width, Math.max(Math.round((end[last] - from) / perPixel), x0 + 1));
      const hit = counts && counts[last + 1] > counts[first];
      line.fill(hit ? match : small, base + x0, base + x1);
      if (runEnd >= 0 && x0 < runEnd + 2) {
        runEnd = x1;
      } else {
        if (runEnd >= 0)
          endRun();
        runBegin = x0;
        runEnd = x1;
      }
    };
    const { list, n } = shownOf(level, from, to, perPixel / 2);
    for (let at = 0; at < n; at += 2)
      if (list[at + 1] < 0)
        fillBox(list[at]);
      else
        fillRun(list[at], list[at + 1]);
    if (runEnd >= 0)
      endRun();
  }

  function paint({ width: cssWidth, height: cssHeight, top, from, to, flipped, nLevels }) {
    const begun = beginCanvas(canvas, cssWidth, cssHeight), { width, height } = begun;
    ({ ctx, dense } = begun);
    const first = Math.max(0, Math.floor(top / ROW)), last = Math.min(nLevels, Math.ceil((top + cssHeight) / ROW));
    const line = rows.begin(width, Math.max(0, last - first));
    const high = ROW * dense, y0 = Math.round((first * ROW - top) * dense);
    labels.clear();
    for (let row = first; row < last; row++) {
      const depth = flipped ? nLevels - 1 - row : row;
      if (depth >= 0 && depth < levels.length)
        paintRow(line, (row - first) * width, width, levels[depth], depth, y0 + (row - first + 0.5) * high, from, to);
    }
    rows.show(ctx, y0, high);
    for (let row = first; row < last; row++)
      ctx.clearRect(0, Math.round(y0 + (row - first + 1) * high - dense), width, Math.round(dense));
    return more();
  }

  function more() {
    return labels.paint(ctx, dense, INK[theme], (i, room) => labelOf(head, boxes, i, room), LABELS_MS);
  }

  return { look, paint, more };
}
