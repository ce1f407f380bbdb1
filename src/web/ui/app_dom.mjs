// SPDX-License-Identifier: BSD-2-Clause
// Elements.  Texts become text nodes, so that no name is ever markup.
import { numberText } from "./number_text.mjs";

// An element: el("td", { class: "n", onclick: f }, "text", child, ...).
export function el(tag, props = {}, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (key.startsWith("on"))
      e.addEventListener(key.slice(2), value);
    else if (value === true)
      e.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined)
      e.setAttribute(key, value);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined));
  return e;
}

// A cell with a bar of SHARE, 0 to 1.
export function barCell(share, text) {
  const i = el("i");
  i.style.width = `${Math.max(0, Math.min(100, 100 * share)).toFixed(2)}%`;
  return el("td", { class: "n bar", "aria-label": text }, i, el("span", {}, text));
}

export function percent(n, whole) {
  return whole ? `${((100 * n) / whole).toFixed(2)} %` : "";
}

// N of an event; UNIT "ns": it is time.
export function amount(n, unit) {
  if (unit !== "ns")
    return count(n);
  return n >= 1e9 ? `${(n / 1e9).toFixed(2)} s` : n >= 1e6 ? `${(n / 1e6).toFixed(1)} ms` : n ? `${(n / 1e3).toFixed(0)} us` : "0";
}

export const count = numberText;

// Control characters and those that change the direction of text are shown as what they are.
export function shown(name) {
  return String(name).replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

// At most MOST characters, the middle left out.
export function short(name, most = 160) {
  const text = shown(name);
  return text.length <= most ? text : `${text.slice(0, most / 2)}…${text.slice(-most / 2)}`;
}
