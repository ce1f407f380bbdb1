// SPDX-License-Identifier: BSD-2-Clause
// The page of one flame graph: reads the data that the page carries, shows it (flame_view.mjs), tells in words what is
// chosen, searches, and keeps the address.  Names reach the page as text only (textContent, fillText).
import { decode, unpack } from "./flame_data.mjs";
import { kindOf, nameOf } from "./flame_draw.mjs";
import { CHANGES, KINDS, STATES, fillOf } from "./flame_kinds.mjs";
import { search } from "./flame_search.mjs";
import { flameView } from "./flame_view.mjs";

const $ = (id) => document.getElementById(id);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
let flame, picture;
let chosen = {}; // what flame_view.mjs calls a choice

// --- amounts as text ---

function amountText(n) {
  const { unit, scale } = flame.head;
  if (unit === "ns")
    return n >= 1e9 ? `${(n / 1e9).toFixed(2)} s` : n >= 1e6 ? `${(n / 1e6).toFixed(2)} ms` : `${(n / 1e3).toFixed(1)} us`;
  return scale === 1 ? `${n.toLocaleString("en")} ${n === 1 ? unit.slice(0, -1) : unit}` : Number((n * scale).toPrecision(6)).toString();
}

function percentText(n, whole) {
  return whole ? `${((100 * n) / whole).toFixed(2)} %` : "";
}

// What boxes have that two sets share, or one has: AMOUNTS maps a column of boxes to its sum.
function shareText(amounts) {
  const { head, boxes } = flame;
  if (!head.sides) {
    const n = amounts(boxes.total);
    return `${amountText(n)}, ${percentText(n, head.total)} of all`;
  }
  const was = amounts(boxes.was), is = amounts(boxes.is);
  const [a, b] = head.sides.map((s) => s.total);
  const more = (100 * is) / b - (100 * was) / a;
  return `A: ${amountText(was)}, ${percentText(was, a)}. B: ${amountText(is)}, ${percentText(is, b)}, ${more < 0 ? "" : "+"}${more.toFixed(2)} points`;
}

// --- telling ---

// Puts PARTS, [element, text], into the line of details.
function say(parts) {
  $("details").replaceChildren(...parts.map(([tag, text]) => {
    const e = document.createElement(tag);
    e.textContent = text;
    return e;
  }));
}

// What threads did in the time of box I.
function statesText(i) {
  const { boxes } = flame, waits = boxes.runnable[i], blocks = boxes.blocked[i];
  const parts = [["running", boxes.total[i] - waits - blocks], ["runnable", waits], ["blocked", blocks]];
  return `. ${parts.filter(([, n]) => n > 0).map(([state, n]) => `${STATES[state].says} ${percentText(n, boxes.total[i])}`).join(", ")}`;
}

function tell() {
  const { head, boxes, levels } = flame;
  if (chosen.run) {
    const { depth, first, last } = chosen.run;
    const run = levels[depth].box.subarray(first, last + 1);
    const count = run.reduce((n, i) => n + (boxes.small[i] || 1), 0);
    const share = shareText((column) => run.reduce((n, i) => n + column[i], 0));
    say([["b", `${count} ${count === 1 ? "box" : "boxes"} too small to draw `], ["span", `${share} together; zoom in to see them`]]);
    return;
  }
  if (!(chosen.i >= 0)) {
    say([["span", "Point at a box, or tap it, to see what it is."]]);
    return;
  }
  const { i } = chosen, n = boxes.total[i], { zoomed } = picture.now;
  const parts = [["b", `${nameOf(head, boxes, i)} `]];
  let where = shareText((column) => column[i]);
  if (head.sides)
    where += `: ${CHANGES[head.changes[boxes.change[i]]].says}`;
  else if (zoomed)
    where += `, ${percentText(n, boxes.total[zoomed])} of what is shown`;
  if (!head.sides && !head.depth && boxes.self[i] && boxes.self[i] !== n)
    where += `; itself ${amountText(boxes.self[i])}, ${percentText(boxes.self[i], head.total)}`;
  if (boxes.blocked)
    where += statesText(i);
  parts.push(["span", where]);
  if (i) {
    const f = boxes.frame[i], kind = kindOf(head, boxes, i);
    const image = head.images[head.image[f]], file = head.files[head.file[f]];
    let what = `. ${KINDS[kind].says}`;
    if (image)
      what += `, ${image}`;
    if (file)
      what += `, ${file}${head.line[f] ? `:${head.line[f]}` : ""}`;
    parts.push(["span", what]);
  }
  say(parts);
  picture.canvas.setAttribute("aria-label", `Flame graph, ${nameOf(head, boxes, i)}: ${where}`);
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
  const { head, boxes } = flame;
  const byStates = boxes.blocked && picture.now.states;
  const used = new Set(["small"]);
  if (byStates) {
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
  $("legend").replaceChildren(...Object.keys(says).filter((k) => used.has(k)).map((k) => {
    const item = document.createElement("li"), patch = document.createElement("canvas");
    const ctx = patch.getContext("2d");
    patch.width = patch.height = 12;
    ctx.fillStyle = fillOf(k, 0, dark.matches ? "dark" : "light");
    ctx.fillRect(0, 0, 12, 12);
    item.append(patch, says[k].says);
    return item;
  }));
}

// What the picture is of, and which way it stands.
function tellFacts() {
  const { head, boxes } = flame, side = picture.now.flipped ? "above" : "below";
  $("facts").textContent = `${head.event}: `
    + (head.sides ? `A ${amountText(boxes.was[0])}, B ${amountText(boxes.is[0])}; boxes are as wide as their shares together` : amountText(boxes.total[0]))
    + (!head.sides && boxes.total[0] < head.total ? `, ${percentText(boxes.total[0], head.total)} of all` : "")
    + (head.callers ? `; ${side} each procedure who called it` : `; ${side} each procedure what it called`)
    + (head.depth ? `; at most ${head.depth} levels` : "")
    + (head.least ? `; less than ${amountText(head.least)} is summed` : "");
}

function begin() {
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
  takeAddress(true);
  performance.mark("first-picture");

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
  if (!window.DecompressionStream) {
    $("details").textContent = "This browser cannot unpack the data (no DecompressionStream); one of 2023 or later can.";
    return;
  }
  flame = decode(await unpack($("data").textContent));
  begin();
}

start();
