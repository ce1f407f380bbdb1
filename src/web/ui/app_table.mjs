// SPDX-License-Identifier: BSD-2-Clause
// A table that is sorted by clicking its heads, and of which only what is on the screen is in the document.
import { el } from "./app_dom.mjs";

const ROW = 25, AHEAD = 20;

/**
 * VALUE is what is sorted by, CELL a td or text; CLASS "extra": not on narrow screens.
 * @typedef {{ name: string, title?: string, number?: boolean, class?: string, value: (row: any) => any, cell: (row: any) => any }} Column
 */

/**
 * KEPT has s of the address: the column that is sorted by, with "-" before it from the largest down; NOTE(changes) keeps it.
 * @param {any[]} rows
 * @param {Column[]} columns
 * @param {{ sort?: number, caption?: string, kept?: { s?: string }, note?: (changes: object) => void }} how
 */
export function sortedTable(rows, columns, { sort = 0, caption = "", kept = {}, note = () => {} }) {
  const asked = columns.findIndex((c) => c.name === (kept.s || "").replace(/^-/, ""));
  let order = rows.map((_, i) => i), by = asked < 0 ? sort : asked, down = asked < 0 ? columns[sort].number : kept.s.startsWith("-");
  const body = el("tbody"), above = el("tr"), below = el("tr"), head = el("tr");
  const table = el("table", {}, el("caption", { class: "soft" }, caption), el("thead", {}, head), body);
  let first = -1, scroller = null;

  function sortRows() {
    const { value } = columns[by], sign = down ? -1 : 1;
    order = rows.map((_, i) => i).sort((a, b) => {
      const x = value(rows[a]), y = value(rows[b]);
      return (x < y ? -sign : x > y ? sign : 0) || a - b;
    });
  }

  function heads() {
    head.replaceChildren(...columns.map((c, i) => el("th", { class: `${c.number ? "n" : ""} ${c.class || ""}`.trim(), scope: "col", "aria-sort": i === by ? (down ? "descending" : "ascending") : false },
      el("button", { type: "button", title: c.title || false, onclick: () => {
        down = i === by ? !down : !!c.number;
        by = i;
        sortRows();
        note({ s: `${down ? "-" : ""}${columns[by].name}` });
        heads();
        head.children[i].firstChild.focus();
        first = -1;
        fill();
      } }, c.name + (i === by ? (down ? " ▾" : " ▴") : "")))));
  }

  function rowOf(i) {
    return el("tr", {}, ...columns.map((c) => {
      const cell = c.cell(rows[i]);
      if (cell instanceof HTMLTableCellElement && c.class)
        cell.classList.add(c.class);
      return cell instanceof HTMLTableCellElement ? cell : el("td", { class: `${c.number ? "n" : ""} ${c.class || ""}`.trim() }, cell);
    }));
  }

  function fill() {
    const n = order.length;
    const top = scroller ? scroller.scrollTop - table.offsetTop : 0, high = scroller ? scroller.clientHeight : 800;
    const from = Math.max(0, Math.min(n, Math.floor(top / ROW) - AHEAD)), to = Math.min(n, from + Math.ceil(high / ROW) + 2 * AHEAD);
    if (from === first)
      return;
    first = from;
    above.style.height = `${from * ROW}px`;
    below.style.height = `${(n - to) * ROW}px`;
    body.replaceChildren(above, ...order.slice(from, to).map(rowOf), below);
  }

  // Up and down go from row to row.
  body.addEventListener("keydown", (e) => {
    const row = e.target.closest("tr"), next = e.key === "ArrowDown" ? row?.nextElementSibling : e.key === "ArrowUp" ? row?.previousElementSibling : null;
    if (!next?.querySelector("button"))
      return;
    e.preventDefault();
    next.querySelector("button").focus();
  });

  sortRows();
  heads();
  fill();
  // Rows come as ELEMENT is scrolled, for as long as the table is there.
  table.watch = (element) => {
    if (scroller)
      return;
    scroller = element;
    element.addEventListener("scroll", function follow() {
      if (table.isConnected)
        fill();
      else
        element.removeEventListener("scroll", follow);
    }, { passive: true });
    first = -1;
    fill();
  };
  return table;
}
