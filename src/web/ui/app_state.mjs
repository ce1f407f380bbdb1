// SPDX-License-Identifier: BSD-2-Clause
// What is shown.  All of it is in the address, so that a link is an answer:
//
//     #view=table&epoch=latest&event=cpu-clock&only=comm%3Dcc1&by=procedure
//
// The token of the address that dwell web printed is taken out of it at once.

import { wordsOf } from "./app_parts.mjs";

const REST_MS = 150;
const listeners = [];
let late = 0; // the timer of what noteSoon was told
export let state = {};

function read() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

function tell() {
  listeners.forEach((f) => f(state));
}

// Takes the address; returns the token in it, if there is one.
export function begin() {
  const { token, ...rest } = read();
  state = rest;
  if (token !== undefined) {
    try {
      sessionStorage.setItem("token", token);
    } catch (e) {
      // a browser without storage keeps it as long as the page lives
    }
    history.replaceState(null, "", href({ y: state.y }));
  }
  window.addEventListener("popstate", () => {
    clearTimeout(late);
    late = 0;
    state = read();
    tell();
  });
  try {
    return token || sessionStorage.getItem("token") || "";
  } catch (e) {
    return token || "";
  }
}

export function onChange(f) {
  listeners.push(f);
}

// The address with CHANGES; a value of "" or undefined takes a key out.  What is shown anew is not scrolled (y).
export function href(changes) {
  const p = new URLSearchParams();
  for (const [key, value] of Object.entries({ ...state, y: "", ...changes }))
    if (value !== "" && value !== undefined && value !== null)
      p.set(key, value);
  return `#${p}`;
}

// Goes to CHANGES.  A DECISION is a step that Back undoes.
export function go(changes, isDecision = true) {
  settle();
  history[isDecision ? "pushState" : "replaceState"](null, "", href(changes));
  state = read();
  tell();
}

// Keeps CHANGES in the address without showing anything anew.
export function note(changes, isDecision = false) {
  settle();
  history[isDecision ? "pushState" : "replaceState"](null, "", href({ y: state.y, ...changes }));
  state = read();
}

// Keeps CHANGES in the address when no more come for a moment: a new address takes some milliseconds, and keys come fast.
export function noteSoon(changes) {
  state = { ...state, ...changes };
  clearTimeout(late);
  late = window.setTimeout(settle, REST_MS);
}

// Keeps in the address what noteSoon was told.
export function settle() {
  clearTimeout(late);
  if (late)
    history.replaceState(null, "", href({ y: state.y }));
  late = 0;
}

// The options that choose samples: those of the form, and `only`, whose words are KEY=VALUE.  Several values of a key are
// alternatives.
export function selection() {
  const { epoch, event, pm, only, since, until } = state;
  const chosen = { epoch, event, since, until };
  if (pm)
    Object.assign(chosen, { pm, event: undefined });
  for (const word of wordsOf(only || "")) {
    const at = word.indexOf("="), key = at > 0 ? word.slice(0, at) : "comm";
    chosen[key] = [chosen[key] ?? [], at > 0 ? word.slice(at + 1) : word].flat();
  }
  return chosen;
}
