// SPDX-License-Identifier: BSD-2-Clause
// What boxes stand for and the colours they have: fill on light pages, fill on dark ones.  Text is
// INK on all fills of a theme; tests hold each pair to a contrast of 4.5.

export const INK = { light: "#1a1a1a", dark: "#f4f5f7" };
export const MATCH = { light: "#ff9bd2", dark: "#9c1f6b" };

export const KINDS = {
  native: { says: "native code", light: ["#f6c177", "#f3b562", "#f8cd92"], dark: ["#7a4a10", "#85521a", "#6e420d"] },
  inlined: { says: "inlined call", light: ["#f7e39a", "#f4dd86", "#f9e9b0"], dark: ["#5f5410", "#685c17", "#564c0d"] },
  kernel: { says: "kernel", light: ["#a3c4f3", "#93b9f0", "#b4cff6"], dark: ["#24497f", "#2b528c", "#1f4172"] },
  generated: { says: "generated code", light: ["#a8dba8", "#98d398", "#b9e3b9"], dark: ["#205c2c", "#276633", "#1b5226"] },
  script: { says: "Python, Java, Node ...", light: ["#c9b8f2", "#bfaaf0", "#d5c8f5"], dark: ["#47377f", "#50408b", "#3e3072"] },
  nameless: { says: "no symbol", light: ["#dcc7b0", "#d5bda3", "#e3d1bd"], dark: ["#57483a", "#5f5041", "#4f4134"] },
  mark: { says: "path cut off", light: ["#e3b7d9"], dark: ["#6b2f5f"] },
  wait: { says: "thread waits", light: ["#9ad7d4"], dark: ["#115a57"] },
  owner: { says: "process, thread, ...", light: ["#d5d9e0"], dark: ["#414856"] },
  small: { says: "too small to draw", light: ["#c4c4c4"], dark: ["#4a4a4a"] },
};

// How a box's share changed when two sets are compared.
export const CHANGES = {
  same: { says: "no change beyond chance", light: ["#dfe2e7"], dark: ["#3b414c"] },
  grew: { says: "grew", light: ["#f7b9a8"], dark: ["#7d4033"] },
  grew_much: { says: "grew by half or more", light: ["#ef8f78"], dark: ["#9c2f1c"] },
  new: { says: "new", light: ["#f0a040"], dark: ["#7a4a00"] },
  shrank: { says: "shrank", light: ["#b5d0f5"], dark: ["#33507c"] },
  shrank_much: { says: "shrank by a third or more", light: ["#84b0ee"], dark: ["#1f55a5"] },
  gone: { says: "gone", light: ["#5fc4c0"], dark: ["#0f5f5c"] },
};

// What threads did in the time of a box.
export const STATES = {
  running: { says: "running", light: ["#f6c177"], dark: ["#7a4a10"] },
  runnable: { says: "waiting for a CPU", light: ["#f28d7f"], dark: ["#8f2f22"] },
  blocked: { says: "blocked", light: ["#a3c4f3"], dark: ["#24497f"] },
};

// The fill of a frame of KIND, or of a change: one of a few shades, always the same one for the same number.
export function fillOf(kind, number, theme) {
  const shades = (KINDS[kind] || CHANGES[kind] || STATES[kind])[theme];
  return shades[number % shades.length];
}
