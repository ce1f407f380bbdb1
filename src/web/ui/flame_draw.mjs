// SPDX-License-Identifier: BSD-2-Clause
// Paints boxes on a canvas.  Names are cut by counting characters of a font whose characters are equally wide.
import { INK, MATCH, fillOf } from "./flame_kinds.mjs";
import { eachShown } from "./flame_layout.mjs";

export const ROW = 18;
const FONT = '12px "DejaVu Sans Mono", Menlo, Consolas, monospace';

// What LOOK says: theme, width and height of the canvas in CSS pixels, top (pixels scrolled away), from and to
// (the amounts at the left and the right edge), flipped, nLevels, found (of search), chosen (a box).
export function draw(canvas, flame, look) {
  const { head, boxes, levels } = flame;
  const dense = window.devicePixelRatio || 1;
  const ctx = canvas.getContext("2d");
  if (canvas.width !== Math.round(look.width * dense) || canvas.height !== Math.round(look.height * dense)) {
    canvas.width = Math.round(look.width * dense);
    canvas.height = Math.round(look.height * dense);
  }
  ctx.setTransform(dense, 0, 0, dense, 0, 0);
  ctx.clearRect(0, 0, look.width, look.height);
  ctx.font = FONT;
  ctx.textBaseline = "middle";
  const charWidth = ctx.measureText("m").width;
  const perPixel = (look.to - look.from) / look.width;
  const left = (amount) => (amount - look.from) / perPixel;
  for (let row = Math.floor(look.top / ROW); row * ROW < look.top + look.height; row++) {
    const depth = look.flipped ? look.nLevels - 1 - row : row;
    if (depth < 0 || depth >= levels.length || row >= look.nLevels)
      continue;
    const y = row * ROW - look.top;
    const paint = (begin, end, fill, name) => {
      const x0 = Math.max(0, left(begin)), x1 = Math.min(look.width, left(end));
      ctx.fillStyle = fill;
      ctx.fillRect(x0, y, Math.max(x1 - x0 - (x1 - x0 > 3 ? 1 : 0), 0.7), ROW - 1);
      const room = Math.floor((x1 - x0 - 7) / charWidth);
      if (name && room >= 2) {
        ctx.fillStyle = INK[look.theme];
        ctx.fillText(cut(name, room), x0 + 3, y + ROW / 2);
      }
    };
    eachShown(boxes, levels[depth], look.from, look.to, perPixel / 2,
      (i) => paint(boxes.x[i], boxes.x[i] + boxes.total[i], fillOfBox(head, boxes, i, look), nameOf(head, boxes, i)),
      (first, last, begin, end) => {
        const hit = look.found && some(levels[depth], first, last, (i) => look.found.frames[boxes.frame[i]]);
        paint(begin, end, hit ? MATCH[look.theme] : fillOf("small", 0, look.theme), "too small");
      });
    const i = look.chosen;
    if (i >= 0 && boxes.depth[i] === depth) {
      ctx.strokeStyle = INK[look.theme];
      ctx.lineWidth = 2;
      ctx.strokeRect(left(boxes.x[i]) + 1, y + 1, Math.max(boxes.total[i] / perPixel - 3, 1), ROW - 3);
    }
  }
}

function some(level, first, last, test) {
  // A run can be long; what a pixel tells is the same after some thousand.
  for (let k = first; k <= last && k < first + 5000; k++)
    if (test(level[k]))
      return true;
  return false;
}

function cut(name, room) {
  return name.length <= room ? name : name.slice(0, Math.max(room - 1, 1)) + "\u2026";
}

export function kindOf(head, boxes, i) {
  return i ? head.kinds[head.kind[boxes.frame[i]]] : "owner";
}

// What decides the colour of box I.
export function lookOf(head, boxes, i) {
  const kind = kindOf(head, boxes, i);
  return head.sides && kind !== "small" ? head.changes[boxes.change[i]] : kind;
}

export function nameOf(head, boxes, i) {
  if (!i)
    return "all";
  return boxes.small[i] ? `${boxes.small[i]} too small` : head.name[boxes.frame[i]];
}

function fillOfBox(head, boxes, i, look) {
  if (i && look.found && look.found.frames[boxes.frame[i]])
    return MATCH[look.theme];
  return fillOf(lookOf(head, boxes, i), i ? boxes.frame[i] : 0, look.theme);
}
