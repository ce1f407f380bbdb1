// SPDX-License-Identifier: BSD-2-Clause
// One side of a listing: rows of one height, of which only those in sight are nodes, so that a procedure of 100,000
// instructions scrolls as one of ten.
const ROW = 20;       // pixels, as list.css says
const LANE = 9;       // of one arrow
const BAR = 5;        // of one loop
const MOST_BARS = 3;
const BESIDE = 10;    // rows outside of what is seen

const SVG = "http://www.w3.org/2000/svg";

export function makePane(root, kind, choose) {
  /** @type {any[] & { arrows?: any[] }} */
  let rows = [];
  let about = null, column = 0, marked = new Set(), first = -1, last = -1, gutter = 0, bars = 0;
  const holder = document.createElement("div");
  holder.className = "rows";
  root.append(holder);

  function cell(parent, className, text) {
    const node = document.createElement("span");
    node.className = className;
    node.textContent = text;
    parent.append(node);
    return node;
  }

  function rowNode(row, i) {
    const node = document.createElement("div"), n = row.counts ? row.counts[column] : 0;
    node.className = `row ${row.kind}${marked.has(row.at) && row.kind === kind ? " chosen" : ""}`;
    node.style.top = `${i * ROW}px`;
    cell(node, "count", row.counts && n ? (Number.isInteger(n) ? String(n) : n.toPrecision(3)) : "");
    const share = cell(node, "share", row.counts && n && about?.adds && about.total ? `${(100 * n / about.total).toFixed(1)}%` : "");
    if (n && about?.adds && about.total)
      share.style.background = `linear-gradient(to left, rgba(var(--hot), .55) ${100 * n / about.total}%, transparent 0)`;
    cell(node, row.kind === "insn" ? "number svma" : kind === "insn" ? "number svma" : "number", row.label);
    if (gutter)
      cell(node, "gutter", "").style.width = `${gutter}px`;
    cell(node, "text", row.text);
    if (row.from)
      cell(node, "from", row.from);
    if (row.kind === kind)
      node.addEventListener("click", () => choose({ kind, at: row.at }, kind === "insn" ? "code" : "source"));
    return node;
  }

  // Loops as bars, jumps as arrows, of rows FROM to TO.
  function drawing(from, to, left) {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("class", "arrows");
    svg.style.left = `${left}px`;
    svg.style.top = "0";
    svg.setAttribute("width", String(gutter));
    svg.setAttribute("height", String(rows.length * ROW));
    const shape = (tag, attributes, colour, property) => {
      const node = document.createElementNS(SVG, tag);
      for (const [name, value] of Object.entries(attributes))
        node.setAttribute(name, value);
      node.style[property] = `var(${colour})`;
      svg.append(node);
    };
    for (let depth = 0; depth < bars; depth++)
      for (let i = from; i < to; i++) {
        const loop = rows[i].loops[depth];
        if (!loop)
          continue;
        let end = i;
        while (end + 1 < to && rows[end + 1].loops[depth] === loop)
          end++;
        const top = i === from && rows[i - 1]?.loops[depth] === loop ? 0 : 2, bottom = end + 1 === to ? 0 : 2;
        shape("rect", { x: 2 + depth * BAR, y: i * ROW + top, width: 3, height: (end + 1 - i) * ROW - top - bottom, rx: 1.5 }, `--loop${depth + 1}`, "fill");
        i = end;
      }
    const right = gutter - 6;
    for (const { target, sources, lane } of rows.arrows ?? []) {
      const lo = Math.min(target, ...sources), hi = Math.max(target, ...sources), x = right - 6 - lane * LANE, y = (i) => i * ROW + ROW / 2;
      if (hi < from || lo > to)
        continue;
      let path = `M${x} ${y(lo)}V${y(hi)}M${x} ${y(target)}H${right}`;
      for (const i of sources)
        path += `M${x} ${y(i)}H${right + 3}`;
      shape("path", { d: path, fill: "none", "stroke-width": 1.4 }, "--arrow", "stroke");
      shape("path", { d: `M${right + 3} ${y(target)}l-6 -3.5v7z` }, "--arrow", "fill");
    }
    return svg;
  }

  function draw(force) {
    const from = Math.max(0, Math.floor(root.scrollTop / ROW) - BESIDE);
    const to = Math.min(rows.length, Math.ceil((root.scrollTop + root.clientHeight) / ROW) + BESIDE);
    if (!force && from >= first && to <= last)
      return;
    first = Math.max(0, from - BESIDE);
    last = Math.min(rows.length, to + BESIDE);
    const nodes = [];
    for (let i = first; i < last; i++)
      nodes.push(rowNode(rows[i], i));
    holder.replaceChildren(...nodes);
    if (gutter && nodes.length) {
      const at = /** @type {HTMLElement} */ (nodes.map((node) => node.querySelector(".gutter")).find(Boolean));
      holder.append(drawing(first, last, at.offsetLeft));
    }
  }

  root.addEventListener("scroll", () => draw(false), { passive: true });
  new ResizeObserver(() => draw(true)).observe(root);

  const rowAt = (at) => rows.findIndex((row) => row.kind === kind && row.at === at);
  return {
    fill(next, nextAbout, nextColumn) {
      rows = next;
      about = nextAbout;
      column = nextColumn;
      bars = Math.min(MOST_BARS, rows.reduce((most, row) => Math.max(most, row.loops.length), 0));
      const lanes = (rows.arrows ?? []).reduce((most, arrow) => Math.max(most, arrow.lane + 1), 0);
      gutter = kind === "insn" && (bars || lanes) ? bars * BAR + lanes * LANE + 18 : 0;
      holder.style.height = `${rows.length * ROW}px`;
      holder.style.width = `${rows.reduce((most, row) => Math.max(most, row.text.length + (row.from?.length ?? 0)), 0) + 30}ch`;
      if (rows.length)
        draw(true);
    },
    mark(next) {
      marked = next;
      draw(true);
    },
    // Scrolls so that row AT is in sight.
    show(at) {
      const i = rowAt(at);
      if (i < 0)
        return;
      if (i * ROW < root.scrollTop || (i + 2) * ROW > root.scrollTop + root.clientHeight)
        root.scrollTop = Math.max(0, i * ROW - root.clientHeight / 3);
      draw(false);
    },
    beside(chosen, step) {
      const i = chosen?.kind === kind ? rowAt(chosen.at) : -1;
      for (let k = i + step; k >= 0 && k < rows.length; k += step)
        if (rows[k].kind === kind)
          return { kind, at: rows[k].at };
      return null;
    },
    tell(text) {
      const node = document.createElement("p");
      node.className = "why";
      node.textContent = text;
      root.replaceChildren(node);
    },
  };
}
