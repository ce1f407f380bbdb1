// SPDX-License-Identifier: BSD-2-Clause
// Numbers as texts.

// N with three decimals at most and commas between thousands, as toLocaleString("en") writes it, which loads a browser's
// tables of languages first: 30 ms of the first picture.
export function numberText(n) {
  if (!(Math.abs(n) < 1e15))
    return n.toLocaleString("en");
  const [whole, part] = String(Math.round(n * 1000) / 1000).split(".");
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (part ? `.${part}` : "");
}
