// SPDX-License-Identifier: BSD-2-Clause
// The flow of control in a procedure, as `dwell calc --json` tells it: a box a block, edges as wide as they are hot.  Texts
// reach the page as text only.
import { layOut } from "./graph_layout.mjs";

/** @typedef {{ start: string, end: string, percent: number, cycles: number, executions: number | null, confidence: string, cpi: number | null, best_cpi: number | null, bound: string | null, loops: number, instructions: number }} Block */

const SVG = "http://www.w3.org/2000/svg";
const LINE = 16, CHAR = 7.3, MOST_LINES = 8, MOST_CHARS = 46;
const MOST_BLOCKS = 150;
const MOST_WIDTH = 12;  // of an edge, in pixels

const number = (n, digits) => n === null || n === undefined ? "?" : n.toLocaleString("en", { maximumFractionDigits: digits });
const cut = (text, most) => text.length > most ? `${text.slice(0, most - 1)}…` : text;

function node(tag, attributes, ...children) {
  const e = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes))
    e.setAttribute(name, String(value));
  e.append(...children);
  return e;
}

function html(tag, className, ...children) {
  const e = document.createElement(tag);
  e.className = className;
  e.append(...children);
  return e;
}

// The blocks that are drawn, the hottest of too many, with their instructions.
function chooseBlocks(calc) {
  const hot = [...calc.blocks].sort((a, b) => b.cycles - a.cycles || (b.executions ?? 0) - (a.executions ?? 0)).slice(0, MOST_BLOCKS);
  const chosen = new Set(hot), rows = new Map();
  for (const row of calc.rows)
    rows.set(row.block, [...rows.get(row.block) ?? [], row]);
  return calc.blocks.filter((b) => chosen.has(b)).map((b) => ({ ...b, rows: rows.get(b.start) ?? [] }));
}

// The instructions that a box shows: all, or of many those that took most cycles.
function shownRows(block) {
  if (block.rows.length <= MOST_LINES)
    return block.rows;
  const most = new Set([...block.rows].sort((a, b) => (b.samples ?? 0) - (a.samples ?? 0)).slice(0, MOST_LINES - 1));
  return block.rows.filter((r) => most.has(r));
}

const headOf = (b) => `${b.start}  ${number(b.executions, 0)}×${b.executions !== null && /low|medium/.test(b.confidence) ? ` (${b.confidence})` : ""}`;
const costOf = (b) => `${b.percent.toFixed(2)} %  cpi ${number(b.cpi, 2)}${b.best_cpi === null ? "" : `, best ${number(b.best_cpi, 2)}`}`;
const lineOf = (r) => `${r.cpi === null ? "" : r.cpi.toFixed(1)}`.padStart(6) + ` ${(r.blame || "").padEnd(4)} ${cut(r.instruction ?? r.svma, MOST_CHARS - 12)}`;

function sizeOf(block) {
  const shown = shownRows(block);
  const lines = [headOf(block), costOf(block), ...shown.map(lineOf)];
  if (shown.length < block.rows.length)
    lines.push(`        … ${block.rows.length - shown.length} more`);
  block.lines = lines;
  block.w = Math.max(...lines.map((l) => l.length)) * CHAR + 18;
  block.h = lines.length * LINE + 10;
}

// The path of an edge: curves from point to point, or beside the blocks.
function pathOf({ back, lane, points }) {
  const [a, b] = [points[0], points.at(-1)];
  if (back)
    return `M${a.x} ${a.y}C${a.x} ${a.y + 26} ${lane} ${a.y + 26} ${lane} ${a.y - 4}V${b.y + 4}C${lane} ${b.y - 26} ${b.x} ${b.y - 26} ${b.x} ${b.y - 3}`;
  let path = `M${a.x} ${a.y}`;
  for (let i = 1; i < points.length; i++) {
    const p = points[i - 1], q = { x: points[i].x, y: points[i].y - (i === points.length - 1 ? 3 : 0) }, half = (p.y + q.y) / 2;
    path += `C${p.x} ${half} ${q.x} ${half} ${q.x} ${q.y}`;
  }
  return path;
}

// Fills ROOT with the graph of CALC.  KEPT.at is the block chosen, NOTE({ at }) told which is.  Returns { key(event) }.
export function showGraph(root, calc, kept = {}, note = /** @type {(changes: object) => void} */ (() => {})) {
  const blocks = chooseBlocks(calc), at = new Map(blocks.map((b, i) => [b.start, i]));
  const edges = calc.edges.filter((e) => at.has(e.from) && at.has(e.to)).map((e) => ({ from: at.get(e.from), to: at.get(e.to), n: e.executions }));
  const most = Math.max(1, ...edges.map((e) => e.n ?? 0)), hottest = Math.max(1e-9, ...blocks.map((b) => b.percent));
  blocks.forEach(sizeOf);
  const { width, height, paths } = layOut(blocks, edges);
  const svg = node("svg", { class: "graph", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Blocks and the ways between them" });
  const pane = html("div", "graph-pane", svg), details = html("div", "details");
  let zoom = 1, chosen = -1;

  function tip(target, text) {
    target.append(node("title", {}, text));
    return target;
  }

  edges.forEach((e, i) => {
    const wide = e.n === null ? 1 : Math.max(1, MOST_WIDTH * e.n / most), end = paths[i].points.at(-1), size = 4 + wide / 2;
    const says = `${blocks[e.from].start} to ${blocks[e.to].start}: ${e.n === null ? "how often is not known" : `${number(e.n, 0)} times`}`;
    svg.append(tip(node("path", { d: pathOf(paths[i]), class: `edge${e.n === null ? " unknown" : ""}${paths[i].back ? " back" : ""}`, "stroke-width": wide }), says),
      node("path", { d: `M${end.x} ${end.y}l${-size} ${-size - 3}h${2 * size}z`, class: `head${paths[i].back ? " back" : ""}` }));
  });
  const boxes = blocks.map((b, i) => {
    const heat = b.percent / hottest;
    const box = node("rect", { x: b.x, y: b.y, width: b.w, height: b.h, rx: 4, class: "box" });
    const warm = node("rect", { x: b.x, y: b.y, width: b.w, height: b.h, rx: 4, class: "warm", "fill-opacity": (0.6 * heat).toFixed(3) });
    const group = node("g", { class: "block", tabindex: 0, role: "button", "aria-label": `${headOf(b)}, ${costOf(b)}` }, box, warm);
    b.lines.forEach((line, k) => group.append(node("text", { x: b.x + 8, y: b.y + 17 + k * LINE, class: k < 2 ? "strong" : "", "xml:space": "preserve" }, line)));
    group.addEventListener("click", () => choose(i, false));
    group.addEventListener("focus", () => choose(i, false));
    svg.append(group);
    return group;
  });

  function cell(text, className = "") {
    return html("td", className, text);
  }

  function tell() {
    details.replaceChildren();
    if (chosen < 0) {
      details.append("Choose a block: its instructions are listed here.");
      return;
    }
    const b = blocks[chosen], table = html("table", "insns");
    details.append(html("b", "", headOf(b)), ` ${costOf(b)}${b.bound ? `, bound by ${b.bound}` : ""}, ${b.confidence}${b.loops ? `, in ${b.loops} loop${b.loops > 1 ? "s" : ""}` : ""}`);
    table.append(html("tr", "", ...["samples", "cpi", "best", "blame", "culprit", "pc", "instruction"].map((t) => html("th", "", t))));
    for (const r of b.rows)
      table.append(html("tr", "", cell(number(r.samples ?? 0, 1), "n"), cell(number(r.cpi, 2), "n"), cell(number(r.best_cpi, 2), "n"), cell(r.blame || ""), cell(r.culprit || ""), cell(r.svma), cell(r.instruction ?? "")));
    details.append(table);
  }

  function choose(i, scroll) {
    if (i === chosen)
      return;
    boxes[chosen]?.classList.remove("chosen");
    chosen = i;
    boxes[i]?.classList.add("chosen");
    tell();
    note({ at: i < 0 ? "" : blocks[i].start });
    if (i >= 0 && scroll)
      look(i);
  }

  // Scrolls so that block I is in the middle.
  function look(i) {
    const b = blocks[i];
    pane.scrollLeft = (b.x + b.w / 2) * zoom - pane.clientWidth / 2;
    pane.scrollTop = (b.y + b.h / 2) * zoom - pane.clientHeight / 2;
  }

  function zoomTo(z) {
    zoom = Math.min(3, Math.max(0.05, z));
    svg.setAttribute("width", String(width * zoom));
    svg.setAttribute("height", String(height * zoom));
    if (chosen >= 0)
      look(chosen);
  }

  const fit = () => zoomTo(Math.min(1, (pane.clientWidth - 4) / width));
  const hot = () => choose(blocks.reduce((best, b, i) => best < 0 || b.cycles > blocks[best].cycles ? i : best, -1), true);
  const button = (text, label, act) => {
    const b = document.createElement("button");
    b.type = "button";
    b.textContent = text;
    b.setAttribute("aria-label", label);
    b.addEventListener("click", act);
    return b;
  };
  const left = calc.blocks.length - blocks.length;
  const words = [`${blocks.length} blocks, ${edges.length} ways`, `edges are as wide as they are hot, the widest ${number(most, 0)} times`,
    edges.some((e) => e.n === null) ? "dotted: how often is not known" : "", left ? `${left} blocks with least time are left out` : ""].filter(Boolean);
  root.append(html("div", "tools", button("Hottest", "Hottest block", hot), button("−", "Smaller", () => zoomTo(zoom / 1.25)),
    button("+", "Larger", () => zoomTo(zoom * 1.25)), button("All", "All of it", fit), html("span", "soft", words.join("; "))), pane, details);
  tell();
  zoomTo(1);
  if (at.has(kept.at))
    choose(at.get(kept.at), true);
  else
    hot();
  return {
    key(event) {
      const acts = { h: hot, "+": () => zoomTo(zoom * 1.25), "-": () => zoomTo(zoom / 1.25), 0: fit, Escape: () => choose(-1, false) };
      if (event.ctrlKey || event.altKey || event.metaKey || !acts[event.key])
        return;
      acts[event.key]();
      event.preventDefault();
    },
  };
}

// What stands above the graph: cycles per instruction, and what they are of.
export function factsOf(calc) {
  return [`actual ${number(calc.cpi, 2)} cycles an instruction`, calc.best_cpi === null ? "" : `best case ${number(calc.best_cpi, 2)}`,
    `executions are of ${calc.executions_are_of}`, calc.model ? `model ${calc.model}` : "no model"].filter(Boolean).join(" · ");
}
