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
  const rects = rectsByFill(), texts = [];
  const left = (amount) => (amount - look.from) / perPixel;
  for (let row = Math.floor(look.top / ROW); row * ROW < look.top + look.height; row++) {
    const depth = look.flipped ? look.nLevels - 1 - row : row;
    if (depth < 0 || depth >= levels.length || row >= look.nLevels)
      continue;
    const y = row * ROW - look.top;
    const paint = (x0, x1, fill, name) => {
      rects.add(fill, x0, y, Math.max(x1 - x0 - (x1 - x0 > 3 ? 1 : 0), 0.7), ROW - 1);
      const room = Math.floor((x1 - x0 - 7) / charWidth);
      if (name && room >= 2)
        texts.push([cut(name, room), x0 + 3, y + ROW / 2]);
    };
    // Runs of small boxes with less than a pixel between them are one rectangle.
    let run = null;
    const endRun = () => {
      if (run)
        paint(run.x0, run.x1, run.fill, "too small");
      run = null;
    };
    eachShown(boxes, levels[depth], look.from, look.to, perPixel / 2,
      (i) => {
        endRun();
        const begin = left(boxes.x[i]), end = left(boxes.x[i] + boxes.total[i]);
        paint(Math.max(0, begin), Math.min(look.width, end), fillOfBox(head, boxes, i, look), nameOf(head, boxes, i));
      },
      (first, last, begin, end) => {
        const hit = look.found && some(levels[depth], first, last, (i) => look.found.frames[boxes.frame[i]]);
        const fill = hit ? MATCH[look.theme] : fillOf("small", 0, look.theme);
        const x0 = Math.max(0, left(begin)), x1 = Math.min(look.width, left(end));
        if (run && run.fill === fill && x0 < run.x1 + 1) {
          run.x1 = x1;
        } else {
          endRun();
          run = { x0, x1, fill };
        }
      });
    endRun();
  }
  rects.paint(ctx);
  ctx.fillStyle = INK[look.theme];
  for (const t of texts)
    ctx.fillText(...t);
  const i = look.chosen;
  if (i >= 0) {
    const row = look.flipped ? look.nLevels - 1 - boxes.depth[i] : boxes.depth[i];
    ctx.strokeStyle = INK[look.theme];
    ctx.lineWidth = 2;
    ctx.strokeRect(left(boxes.x[i]) + 1, row * ROW - look.top + 1, Math.max(boxes.total[i] / perPixel - 3, 1), ROW - 3);
  }
}

// Rectangles wait until all of one colour can be painted: setting a colour costs more than a rectangle.
function rectsByFill() {
  const byFill = new Map();
  return {
    add(fill, ...rect) {
      const list = byFill.get(fill);
      if (list)
        list.push(rect);
      else
        byFill.set(fill, [rect]);
    },
    paint(ctx) {
      for (const [fill, list] of byFill) {
        ctx.fillStyle = fill;
        for (const rect of list)
          ctx.fillRect(...rect);
      }
    },
  };
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
