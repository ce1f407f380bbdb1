// SPDX-License-Identifier: BSD-2-Clause
// The page of one flame graph: reads the data that the page carries, and turns clicks, keys and the address into what
// flame_draw.mjs paints.  Names reach the page as text only (textContent, fillText).
import { decode, unpack } from "./flame_data.mjs";
import { ROW, draw, kindOf, lookOf, nameOf } from "./flame_draw.mjs";
import { CHANGES, KINDS, fillOf } from "./flame_kinds.mjs";
import { deepestBelow, eachShown, placeAt } from "./flame_layout.mjs";
import { search } from "./flame_search.mjs";

const $ = (id) => document.getElementById(id);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const still = window.matchMedia("(prefers-reduced-motion: reduce)");

let flame;
let zoomed = 0;      // the box that is as wide as the page
let chosen = -1;     // the box that is told about
let told = null;     // { depth, first, last }: small boxes that are told about instead
let found = null;    // what search found
let flipped = false; // the whole at the bottom
let shown = { from: 0, to: 1 }, goal = null; // the amounts at the edges, and where they move to
let nLevels = 1;

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

// --- drawing ---

let frameAsked = false;

function redraw() {
  if (frameAsked)
    return;
  frameAsked = true;
  requestAnimationFrame(() => {
    frameAsked = false;
    paint();
  });
}

function paint() {
  const view = $("view"), canvas = $("canvas");
  const width = view.clientWidth, height = view.clientHeight;
  if (goal) {
    const done = still.matches ? 1 : Math.min(1, (performance.now() - goal.start) / 160);
    const ease = 1 - (1 - done) ** 3;
    shown = {
      from: goal.old.from + (goal.from - goal.old.from) * ease,
      to: goal.old.to + (goal.to - goal.old.to) * ease,
    };
    if (done === 1)
      goal = null;
    else
      redraw();
  }
  canvas.style.height = `${height}px`;
  $("spacer").style.height = `${Math.max(0, nLevels * ROW - height)}px`;
  draw(canvas, flame, {
    theme: dark.matches ? "dark" : "light",
    width, height, top: view.scrollTop, from: shown.from, to: shown.to, flipped, nLevels, found, chosen,
  });
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

function tell() {
  const { head, boxes, levels } = flame;
  if (told) {
    const run = levels[told.depth].subarray(told.first, told.last + 1);
    const count = run.reduce((n, i) => n + (boxes.small[i] || 1), 0);
    const share = shareText((column) => run.reduce((n, i) => n + column[i], 0));
    say([["b", `${count} boxes too small to draw `], ["span", `${share} together; zoom in to see them`]]);
    return;
  }
  if (chosen < 0) {
    say([["span", "Point at a box, or tap it, to see what it is."]]);
    return;
  }
  const i = chosen, n = boxes.total[i];
  const parts = [["b", `${nameOf(head, boxes, i)} `]];
  let where = shareText((column) => column[i]);
  if (head.sides)
    where += `: ${CHANGES[head.changes[boxes.change[i]]].says}`;
  else if (zoomed)
    where += `, ${percentText(n, boxes.total[zoomed])} of what is shown`;
  if (!head.sides && boxes.self[i] && boxes.self[i] !== n)
    where += `; itself ${amountText(boxes.self[i])}, ${percentText(boxes.self[i], head.total)}`;
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
  $("canvas").setAttribute("aria-label", `Flame graph, ${nameOf(head, boxes, i)}: ${where}`);
}

function choose(i, run = null) {
  if (i === chosen && !run && !told)
    return;
  chosen = i;
  told = run;
  tell();
  redraw();
}

// --- zooming, searching, flipping ---

function zoom(i, atOnce = false) {
  const { boxes } = flame;
  const from = boxes.x[i], to = from + Math.max(boxes.total[i], 1);
  zoomed = i;
  nLevels = deepestBelow(boxes, i) + 1;
  if (atOnce || still.matches) {
    shown = { from, to };
    goal = null;
  } else {
    goal = { from, to, old: shown, start: performance.now() };
  }
  $("reset").disabled = i === 0;
  redraw();
  tell();
}

function rowOf(i) {
  return flipped ? nLevels - 1 - flame.boxes.depth[i] : flame.boxes.depth[i];
}

function scrollTo(i) {
  const view = $("view"), y = rowOf(i) * ROW;
  if (y < view.scrollTop || y + ROW > view.scrollTop + view.clientHeight) {
    paint(); // the room to scroll in may have changed
    view.scrollTop = y - view.clientHeight / 3;
  }
}

function find(text) {
  const { head } = flame;
  try {
    found = search(flame, text);
    $("matched").textContent = found ? `${percentText(found.amount, head.total)} matched` : "";
  } catch (e) {
    found = null;
    $("matched").textContent = "not a regular expression";
  }
  redraw();
}

// --- the address: #z=BOX&q=SEARCH&flip=1 ---

function address() {
  const p = new URLSearchParams();
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
  setFlipped(p.get("flip") === "1");
  find($("search").value);
  zoom(Number.isInteger(z) && z > 0 && z < flame.boxes.n ? z : 0, atOnce);
  paint();
  $("view").scrollTop = flipped ? nLevels * ROW : 0;
}

function zoomByHand(i) {
  if (i === zoomed)
    return;
  zoom(i);
  keepAddress(true);
  scrollTo(i);
}

function setFlipped(to) {
  flipped = to;
  $("flip").setAttribute("aria-pressed", String(flipped));
}

// --- pointer and keys ---

function pick(event) {
  const { boxes, levels } = flame, view = $("view");
  const rect = $("canvas").getBoundingClientRect();
  const row = Math.floor((event.clientY - rect.top + view.scrollTop) / ROW);
  const depth = flipped ? nLevels - 1 - row : row;
  const perPixel = (shown.to - shown.from) / view.clientWidth;
  const at = shown.from + (event.clientX - rect.left) * perPixel;
  let hit = { i: -1, run: null };
  if (row < 0 || depth < 0 || depth >= levels.length)
    return hit;
  const k = placeAt(boxes, levels[depth], at);
  if (k >= 0 && boxes.total[levels[depth][k]] >= perPixel / 2)
    return { i: levels[depth][k], run: null };
  eachShown(boxes, levels[depth], at - perPixel, at + perPixel, perPixel / 2, () => {}, (first, last, begin, end) => {
    if (begin <= at + perPixel && end >= at - perPixel)
      hit = { i: -1, run: { depth, first, last } };
  });
  return hit;
}

let byTouch = false; // the pointer that is or was down

// A click on small boxes zooms into what they are called by, as far as that helps.
function click(event) {
  const { i, run } = pick(event);
  const target = run ? flame.boxes.parent[flame.levels[run.depth][run.first]] : i;
  if (byTouch && (run ? !told || told.first !== run.first || told.depth !== run.depth : i !== chosen))
    choose(i, run);
  else if (target >= 0)
    zoomByHand(target);
}

function neighbour(i, step) {
  const { boxes, levels } = flame;
  const level = levels[boxes.depth[i]];
  const k = placeAt(boxes, level, boxes.x[i] + boxes.total[i] / 2) + step;
  const other = level[k];
  return k >= 0 && k < level.length && boxes.x[other] < shown.to && boxes.x[other] + boxes.total[other] > shown.from ? other : i;
}

function key(event) {
  const { boxes } = flame;
  const i = chosen < 0 ? zoomed : chosen;
  const child = boxes.end[i] > i + 1 ? i + 1 : i;
  const parent = Math.max(0, boxes.parent[i]);
  const go = {
    ArrowDown: flipped ? parent : child,
    ArrowUp: flipped ? child : parent,
    ArrowLeft: neighbour(i, -1),
    ArrowRight: neighbour(i, 1),
  };
  if (event.ctrlKey || event.metaKey || event.altKey)
    return;
  if (event.key === "/" && event.target !== $("search")) {
    $("search").focus();
  } else if (event.key === "Escape") {
    $("canvas").focus();
    let up = zoomed;
    while (up && boxes.total[up] === boxes.total[zoomed])
      up = boxes.parent[up];
    zoomByHand(up);
  } else if (event.target !== $("canvas")) {
    return;
  } else if (event.key in go) {
    choose(go[event.key]);
    scrollTo(chosen);
  } else if (event.key === "Enter" && chosen >= 0) {
    zoomByHand(chosen);
  } else {
    return;
  }
  event.preventDefault();
}

// --- the page ---

function legend() {
  const { head, boxes } = flame;
  const used = new Set();
  for (let i = 1; i < boxes.n; i++)
    used.add(lookOf(head, boxes, i));
  used.add("small");
  const says = { ...KINDS, ...CHANGES };
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

function begin() {
  const { head, boxes } = flame;
  $("title").textContent = $("title").title = head.title;
  $("facts").textContent = `${head.event}: `
    + (head.sides ? `A ${amountText(boxes.was[0])}, B ${amountText(boxes.is[0])}; boxes are as wide as their shares together` : amountText(boxes.total[0]))
    + (!head.sides && boxes.total[0] < head.total ? `, ${percentText(boxes.total[0], head.total)} of all` : "")
    + (head.callers ? "; below each procedure who called it" : "; below each procedure what it called")
    + (head.least ? `; less than ${amountText(head.least)} is summed` : "");
  $("account").textContent = head.account;
  $("canvas").setAttribute("aria-label", "Flame graph");
  legend();
  takeAddress(true);
  tell();

  const canvas = $("canvas");
  canvas.addEventListener("pointerdown", (e) => {
    byTouch = e.pointerType === "touch";
  });
  canvas.addEventListener("pointermove", (e) => {
    if (e.pointerType === "touch")
      return; // it scrolls
    const { i, run } = pick(e);
    choose(i, run);
  });
  canvas.addEventListener("click", click);
  document.addEventListener("keydown", key);
  $("view").addEventListener("scroll", redraw);
  window.addEventListener("resize", redraw);
  window.addEventListener("popstate", () => takeAddress(false));
  dark.addEventListener("change", () => {
    legend();
    redraw();
  });
  $("search").addEventListener("input", () => {
    find($("search").value);
    keepAddress(false);
  });
  $("tools").addEventListener("submit", (e) => e.preventDefault());
  $("reset").addEventListener("click", () => zoomByHand(0));
  $("flip").addEventListener("click", () => {
    setFlipped(!flipped);
    keepAddress(false);
    paint();
    $("view").scrollTop = flipped ? nLevels * ROW : 0;
    redraw();
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
