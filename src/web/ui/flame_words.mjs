// SPDX-License-Identifier: BSD-2-Clause
// What a flame graph says in words: amounts, the box that is chosen, the whole, and what colours mean.  FLAME is that of
// flame_data.mjs, a choice that of flame_view.mjs.
import { kindOf, nameOf } from "./flame_draw.mjs";
import { CHANGES, KINDS, STATES, fillOf } from "./flame_kinds.mjs";
import { numberText } from "./number_text.mjs";

function amountText({ head: { unit, scale } }, n) {
  if (unit === "ns")
    return n >= 1e9 ? `${(n / 1e9).toFixed(2)} s` : n >= 1e6 ? `${(n / 1e6).toFixed(2)} ms` : `${(n / 1e3).toFixed(1)} us`;
  return scale === 1 ? `${numberText(n)} ${n === 1 ? unit.slice(0, -1) : unit}` : Number((n * scale).toPrecision(6)).toString();
}

export function percentText(n, whole) {
  return whole ? `${((100 * n) / whole).toFixed(2)} %` : "";
}

// What boxes have that two sets share, or one has: AMOUNTS maps a column of boxes to its sum.
function shareText(flame, amounts) {
  const { head, boxes } = flame;
  if (!head.sides) {
    const n = amounts(boxes.total);
    return `${amountText(flame, n)}, ${percentText(n, head.total)} of all`;
  }
  const was = amounts(boxes.was), is = amounts(boxes.is);
  const [a, b] = head.sides.map((s) => s.total);
  const more = (100 * is) / b - (100 * was) / a;
  return `A: ${amountText(flame, was)}, ${percentText(was, a)}. B: ${amountText(flame, is)}, ${percentText(is, b)}, ${more < 0 ? "" : "+"}${more.toFixed(2)} points`;
}

// What threads did in the time of box I.
function statesText({ boxes }, i) {
  const waits = boxes.runnable[i], blocks = boxes.blocked[i];
  const parts = [["running", boxes.total[i] - waits - blocks], ["runnable", waits], ["blocked", blocks]];
  return `. ${parts.filter(([, n]) => n > 0).map(([state, n]) => `${STATES[state].says} ${percentText(n, boxes.total[i])}`).join(", ")}`;
}

function tellRun(flame, { depth, first, last }) {
  const { boxes, levels } = flame;
  const run = levels[depth].box.subarray(first, last + 1);
  const count = run.reduce((n, i) => n + (boxes.small[i] || 1), 0);
  const share = shareText(flame, (column) => run.reduce((n, i) => n + column[i], 0));
  return [["b", `${count} ${count === 1 ? "box" : "boxes"} too small to draw `], ["span", `${share} together; zoom in to see them`]];
}

// What is chosen, as [element, text], the name first; ZOOMED is the box that fills the picture.
export function tellChoice(flame, choice, zoomed) {
  const { head, boxes } = flame, { i } = choice;
  if (choice.run)
    return tellRun(flame, choice.run);
  if (!(i >= 0))
    return [["span", "Point at a box, or tap it, to see what it is. Click or Enter zooms in, Esc out, / searches."]];
  const n = boxes.total[i], parts = [["b", `${nameOf(head, boxes, i)} `]];
  let where = shareText(flame, (column) => column[i]);
  if (head.sides)
    where += `: ${CHANGES[head.changes[boxes.change[i]]].says}`;
  else if (zoomed)
    where += `, ${percentText(n, boxes.total[zoomed])} of what is shown`;
  if (!head.sides && !head.depth && boxes.self[i] && boxes.self[i] !== n)
    where += `; itself ${amountText(flame, boxes.self[i])}, ${percentText(boxes.self[i], head.total)}`;
  if (boxes.blocked)
    where += statesText(flame, i);
  parts.push(["span", where]);
  if (i) {
    const f = boxes.frame[i], image = head.images[head.image[f]], file = head.files[head.file[f]];
    let what = `. ${KINDS[kindOf(head, boxes, i)].says}`;
    if (image)
      what += `, ${image}`;
    if (file)
      what += `, ${file}${head.line[f] ? `:${head.line[f]}` : ""}`;
    parts.push(["span", what]);
  }
  return parts;
}

// Items of a list that says what the colours mean that are there.
export function legendItems({ head, boxes }, byStates, theme) {
  const used = new Set(["small"]);
  if (boxes.blocked && byStates) {
    Object.keys(STATES).forEach((k) => used.add(k));
  } else if (head.sides) {
    const seen = new Uint8Array(head.changes.length);
    for (let i = 1; i < boxes.n; i++)
      seen[boxes.change[i]] = 1;
    head.changes.forEach((c, k) => seen[k] && used.add(c));
  } else {
    head.kind.forEach((k) => used.add(head.kinds[k]));
  }
  const says = { ...STATES, ...KINDS, ...CHANGES };
  return Object.keys(says).filter((k) => used.has(k)).map((k) => {
    const item = document.createElement("li"), patch = document.createElement("canvas");
    const ctx = patch.getContext("2d");
    patch.width = patch.height = 12;
    ctx.fillStyle = fillOf(k, 0, theme);
    ctx.fillRect(0, 0, 12, 12);
    item.append(patch, says[k].says);
    return item;
  });
}

// What the picture is of, and which way it stands.
export function factsText(flame, flipped) {
  const { head, boxes } = flame, side = flipped ? "above" : "below";
  return `${head.event}: `
    + (head.sides ? `A ${amountText(flame, boxes.was[0])}, B ${amountText(flame, boxes.is[0])}; boxes are as wide as their shares together` : amountText(flame, boxes.total[0]))
    + (!head.sides && boxes.total[0] < head.total ? `, ${percentText(boxes.total[0], head.total)} of all` : "")
    + (head.callers ? `; ${side} each procedure who called it` : `; ${side} each procedure what it called`)
    + (head.depth ? `; at most ${head.depth} levels` : "")
    + (head.least ? `; less than ${amountText(flame, head.least)} is summed` : "");
}
