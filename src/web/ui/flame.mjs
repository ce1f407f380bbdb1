// SPDX-License-Identifier: BSD-2-Clause
// The page of one flame graph: reads the data that the page carries, shows it (flame_view.mjs), tells in words what is
// chosen, searches, and keeps the address.  Names reach the page as text only (textContent, fillText).
import { decode, decodeWhole, unpack } from "./flame_data.mjs";
import { nameOf } from "./flame_draw.mjs";
import { search } from "./flame_search.mjs";
import { flameView } from "./flame_view.mjs";
import { factsText, legendItems, percentText, tellChoice } from "./flame_words.mjs";

/** @type {(id: string) => any} */
const $ = (id) => document.getElementById(id);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
let flame, picture;
let chosen = {}; // what flame_view.mjs calls a choice

function tell() {
  const { head, boxes } = flame, parts = tellChoice(flame, chosen, picture.now.zoomed);
  $("details").replaceChildren(...parts.map(([tag, text]) => {
    const e = document.createElement(tag);
    e.textContent = text;
    return e;
  }));
  if (chosen.i >= 0)
    picture.canvas.setAttribute("aria-label", `Flame graph, ${nameOf(head, boxes, chosen.i)}: ${parts[1][1]}`);
}

// --- searching ---

function find(text) {
  let found = null;
  try {
    found = search(flame, text);
    $("matched").textContent = found ? `${percentText(found.amount, flame.head.total)} matched` : "";
  } catch (e) {
    $("matched").textContent = "not a regular expression";
  }
  picture.find(found);
}

// --- the address: #z=BOX&q=SEARCH&flip=1 ---

function address() {
  const p = new URLSearchParams(), { zoomed, flipped } = picture.now;
  if (zoomed)
    p.set("z", zoomed);
  if ($("search").value)
    p.set("q", $("search").value);
  if (flipped)
    p.set("flip", "1");
  return `#${p}`;
}

function keepAddress(isDecision) {
  try {
    history[isDecision ? "pushState" : "replaceState"](null, "", address());
  } catch (e) {
    location.hash = address(); // some browsers forbid it for files
  }
}

function takeAddress(atOnce) {
  const p = new URLSearchParams(location.hash.slice(1));
  const z = Number(p.get("z"));
  $("search").value = p.get("q") || "";
  find($("search").value);
  picture.zoom(Number.isInteger(z) && z > 0 && z < flame.boxes.n ? z : 0, atOnce);
  zoomed();
  flip(p.get("flip") === "1");
  picture.scrollToWhole();
}

function zoomed() {
  $("reset").disabled = picture.now.zoomed === 0;
  tell();
}

function flip(to) {
  picture.flip(to);
  $("flip").setAttribute("aria-pressed", String(to));
  tellFacts();
}

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey)
    return;
  if (event.key === "/" && event.target !== $("search")) {
    $("search").focus();
  } else if (event.key === "Escape") {
    picture.canvas.focus();
    picture.zoomOut();
  } else {
    return;
  }
  event.preventDefault();
}

// --- the page ---

function legend() {
  $("legend").replaceChildren(...legendItems(flame, picture.now.states, dark.matches ? "dark" : "light"));
}

function tellFacts() {
  $("facts").textContent = factsText(flame, picture.now.flipped);
}

// Makes the page around FLAME, which may be the outline of what comes.
function makePage() {
  const { head, boxes } = flame;
  $("title").textContent = $("title").title = head.title;
  $("account").textContent = head.account;
  $("states").hidden = !boxes.blocked;
  picture = flameView($("view"), {
    chose(choice) {
      chosen = choice;
      tell();
    },
    zoomed(i, byHand) {
      zoomed();
      if (byHand)
        keepAddress(true);
    },
  });
  picture.canvas.setAttribute("aria-label", "Flame graph");
  picture.canvas.setAttribute("aria-describedby", "details");
  legend();
  picture.show(flame);
}

// Shows the outline, which has no box that somebody could choose, for as long as the whole is not read.
async function showOutline() {
  $("view").inert = true;
  tellFacts();
  picture.scrollToWhole();
  performance.mark("first-picture");
  await seen();
}

async function showWhole() {
  if (document.readyState === "loading")
    await new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true }));
  flame = decodeWhole(flame.head, await unpack($("whole").textContent));
  picture.show(flame);
  $("view").inert = false;
}

// Waits until what was drawn is on the screen.  A page that nobody sees draws nothing.
function seen() {
  return new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, 100);
  });
}

// Begins to listen, with all of the picture.
function begin() {
  takeAddress(true);
  if (!performance.getEntriesByName("first-picture").length)
    performance.mark("first-picture");
  performance.mark("whole-picture");

  document.addEventListener("keydown", key);
  window.addEventListener("popstate", () => takeAddress(false));
  dark.addEventListener("change", legend);
  $("search").addEventListener("input", () => {
    find($("search").value);
    keepAddress(false);
  });
  $("tools").addEventListener("submit", (e) => e.preventDefault());
  $("reset").addEventListener("click", () => picture.zoomByHand(0));
  $("flip").addEventListener("click", () => {
    flip(!picture.now.flipped);
    keepAddress(false);
  });
  $("states").addEventListener("click", () => {
    picture.colourByStates(!picture.now.states);
    $("states").textContent = picture.now.states ? "Colour by code" : "Colour by state";
    legend();
  });
}

async function start() {
  if (!("DecompressionStream" in window)) {
    $("details").textContent = "This browser cannot unpack the data (no DecompressionStream); one of 2023 or later can.";
    return;
  }
  flame = decode(await unpack($("data").textContent));
  makePage();
  if (flame.head.outline && !location.hash)
    await showOutline();
  if (flame.head.outline)
    await showWhole();
  begin();
}

start();
