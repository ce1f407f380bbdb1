// SPDX-License-Identifier: BSD-2-Clause
// A tree of calls: folded but for its hottest path, opened by click, Enter or arrow keys.  KEPT has o of the address: the
// rows that stand otherwise than at first; NOTE(changes) keeps them.
import { idOf, pathHashes, placeOf } from "./path_ids.mjs";
import { amount, el, barCell, count, percent, short } from "./app_dom.mjs";

/** @type {(rows: any[], event: string, whole: number, unit: string, open: (row: any) => void, kept?: { o?: string }, note?: (changes: object) => void) => HTMLElement} */
export function callTree(rows, event, whole, unit, open, kept = {}, note = () => {}) {
  const below = new Map(), element = new Map();
  for (const r of rows)
    (below.get(r.parent) || below.set(r.parent, []).get(r.parent)).push(r);
  const body = el("tbody"), changed = new Set();
  const byId = new Map(rows.map((r) => [String(r.id), r])), insets = new Map();
  const numbers = new Map(rows.map((r, i) => [r.id, i]));
  const paths = pathHashes(rows.length, (i) => rows[i].parent === null ? -1 : numbers.get(rows[i].parent), (i) => [rows[i].kind, rows[i].name, rows[i].image].join("\n"));
  let isBuilt = false;
  const of = (r) => r.inclusive[event] || 0;

  function nameOf(r) {
    if (r.kind === "hidden")
      return `${count(r.hidden)} smaller`;
    return short(r.name || r.image || "?") + (r.inlined ? " (inlined)" : "");
  }

  // A row that is its parent's only one stands no further in than the parent.
  function insetOf(r) {
    if (!insets.has(r.id))
      insets.set(r.id, r.parent === null ? 0 : insetOf(byId.get(String(r.parent))) + (below.get(r.parent).length > 1 ? 1 : 0));
    return insets.get(r.id);
  }

  function line(r) {
    const children = below.get(r.id) || [];
    const toggle = el("button", { type: "button", class: "go", "aria-expanded": children.length ? "false" : false,
      onclick: () => setOpen(r, row.dataset.open !== "1") }, `${children.length ? "▸ " : "  "}${nameOf(r)}`);
    const name = el("td", { class: "name" }, toggle);
    if (r.name && r.kind === "procedure")
      name.append(" ", el("button", { type: "button", class: "go code-of", title: "Code", "aria-label": `Code of ${short(r.name, 60)}`, onclick: () => open(r) }, "≡"));
    const row = el("tr", { role: "row", "aria-level": r.depth + 1 }, barCell(of(r) / whole, percent(of(r), whole)),
      el("td", { class: "n" }, amount(r.exclusive[event] || 0, unit)), name, el("td", { class: "soft" }, r.image ? short(r.image, 60) : ""));
    name.style.paddingLeft = `${Math.min(insetOf(r), 40) * 10}px`;
    toggle.addEventListener("keydown", (e) => {
      if (e.key === "ArrowRight" || e.key === "ArrowLeft")
        setOpen(r, e.key === "ArrowRight");
      else if (e.key === "ArrowDown" || e.key === "ArrowUp")
        (e.key === "ArrowDown" ? row.nextElementSibling : row.previousElementSibling)?.querySelector("button").focus();
      else
        return;
      e.preventDefault();
    });
    element.set(r.id, { row, toggle });
    return row;
  }

  function setOpen(r, isOpen) {
    const { row, toggle } = element.get(r.id), children = below.get(r.id) || [];
    if (!children.length || (row.dataset.open === "1") === isOpen)
      return;
    row.dataset.open = isOpen ? "1" : "0";
    if (isBuilt) {
      const id = idOf(paths, numbers.get(r.id));
      if (!changed.delete(id))
        changed.add(id);
      note({ o: [...changed].slice(0, 200).join(".") });
    }
    toggle.setAttribute("aria-expanded", String(isOpen));
    toggle.textContent = `${isOpen ? "▾ " : "▸ "}${nameOf(r)}`;
    if (isOpen) {
      row.after(...children.map(line));
    } else {
      for (const c of children)
        remove(c);
    }
  }

  // Takes R and what is below it out of the document.
  function remove(r) {
    const e = element.get(r.id);
    if (!e)
      return;
    if (e.row.dataset.open === "1")
      (below.get(r.id) || []).forEach(remove);
    changed.delete(idOf(paths, numbers.get(r.id)));
    element.delete(r.id);
    e.row.remove();
  }

  const tops = below.get(null) || [];
  body.append(...tops.map(line));
  for (let r = tops[0]; r; r = (below.get(r.id) || [])[0]) {
    setOpen(r, true);
    if (r.depth > 40)
      break;
  }
  isBuilt = true;
  for (const id of (kept.o || "").split(".")) {
    const r = rows[placeOf(paths, id)], e = element.get(r?.id);
    if (e)
      setOpen(r, e.row.dataset.open !== "1");
  }
  return el("table", { role: "treegrid" }, el("thead", {}, el("tr", {}, el("th", { class: "n" }, "With what it calls"), el("th", { class: "n" }, "Itself"), el("th", {}, "Procedure"), el("th", { class: "soft" }, "Image"))), body);
}
