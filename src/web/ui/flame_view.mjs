// SPDX-License-Identifier: BSD-2-Clause
// A flame graph inside an element: draws it, zooms, and tells what the pointer or the keys are on.
//
//     const v = flameView(element, { chose(choice) {}, zoomed(i, byHand) {} });
//     v.show(flame);               of flame_data.mjs, all of it
//     v.zoom(i, atOnce);           box I becomes as wide as the element
//     v.zoomOut();                 by one step
//     v.find(found);               marks what flame_search.mjs found, in the next frame but one: a frame has time to search or to
//                                  paint; null: nothing
//     v.flip(on);                  the whole at the bottom
//     v.colourByStates(on);        of wall time: by what threads did, else by what code is
//     v.now                        { zoomed, flipped, states }
//
// A CHOICE is { i } for a box, { run: { depth, first, last } } for small ones by their places in the level, or {}.
// ELEMENT must have a height of its own.  Names reach the page as text only (fillText).
import { ROW, flamePainter } from "./flame_draw.mjs";
import { eachShown, placeAt } from "./flame_layout.mjs";

const ZOOM_MS = 160;

export function flameView(element, on) {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");
  const make = (tag, id) => element.appendChild(Object.assign(document.createElement(tag), { id }));
  const canvas = make("canvas", "canvas"), mark = make("div", "mark"), spacer = make("div", "spacer");
  const now = { zoomed: 0, flipped: false, states: true };
  let flame = null, painter = null, found = null;
  let shown = { from: 0, to: 1 }, goal = null; // the amounts at the edges, and where they move to
  let nLevels = 1, chosen = {};
  let width = 0, height = 0, room = -1;
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");

  // --- drawing ---

  let asked = false, labelsLeft = false;

  function redraw() {
    if (asked || !flame)
      return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      frame();
    });
  }

  function frame() {
    if (goal) {
      const done = still.matches ? 1 : Math.min(1, (performance.now() - goal.start) / ZOOM_MS);
      const ease = 1 - (1 - done) ** 3;
      shown = {
        from: goal.old.from + (goal.from - goal.old.from) * ease,
        to: goal.old.to + (goal.to - goal.old.to) * ease,
      };
      if (done === 1)
        goal = null;
    }
    paint();
    if (goal)
      redraw();
    else
      finishLabels();
  }

  // Labels for which a frame had no time come in the next ones.
  function finishLabels() {
    if (!labelsLeft)
      return;
    requestAnimationFrame(() => {
      if (asked || !labelsLeft)
        return;
      labelsLeft = !painter.more();
      finishLabels();
    });
  }

  function paint() {
    const need = Math.max(0, nLevels * ROW - height);
    if (need !== room) {
      room = need;
      spacer.style.height = `${need}px`;
    }
    labelsLeft = !painter.paint({ width, height, top: element.scrollTop, from: shown.from, to: shown.to, flipped: now.flipped, nLevels });
    placeMark();
  }

  function restyle() {
    if (!painter)
      return;
    painter.look({ theme: dark.matches ? "dark" : "light", found, states: now.states });
    redraw();
  }

  function measure() {
    width = element.clientWidth;
    height = element.clientHeight;
    canvas.style.height = `${height}px`;
    room = -1;
    redraw();
  }

  // The frame around the chosen box is an element, so that the pointer's way repaints nothing.
  function placeMark() {
    const { i } = chosen;
    const { boxes } = flame;
    const x0 = i >= 0 ? (boxes.x[i] - shown.from) / (shown.to - shown.from) * width : 0;
    const x1 = i >= 0 ? (boxes.x[i] + boxes.total[i] - shown.from) / (shown.to - shown.from) * width : 0;
    const begin = Math.max(0, x0), end = Math.min(width, x1);
    mark.hidden = !(i >= 0 && end > begin);
    if (mark.hidden)
      return;
    mark.style.width = `${Math.max(3, end - begin - 1)}px`;
    mark.style.transform = `translate(${Math.min(begin, width - 3)}px, ${rowOf(i) * ROW}px)`;
  }

  // --- choosing and zooming ---

  function choose(choice) {
    const same = choice.i === chosen.i && choice.run?.depth === chosen.run?.depth && choice.run?.first === chosen.run?.first;
    if (same)
      return;
    chosen = choice;
    placeMark();
    on.chose(chosen);
  }

  function zoom(i, atOnce = false) {
    const { boxes } = flame;
    const from = boxes.x[i], to = from + Math.max(boxes.total[i], 1);
    now.zoomed = i;
    nLevels = boxes.deepest[i] + 1;
    if (atOnce || still.matches) {
      shown = { from, to };
      goal = null;
    } else {
      goal = { from, to, old: shown, start: performance.now() };
    }
    redraw();
  }

  function zoomByHand(i) {
    if (i === now.zoomed)
      return;
    zoom(i);
    on.zoomed(i, true);
    scrollTo(i);
  }

  // Boxes that only continue one another are one step.
  function zoomOut() {
    const { boxes } = flame;
    let up = now.zoomed;
    while (up && boxes.total[up] === boxes.total[now.zoomed])
      up = boxes.parent[up];
    zoomByHand(up);
  }

  function rowOf(i) {
    return now.flipped ? nLevels - 1 - flame.boxes.depth[i] : flame.boxes.depth[i];
  }

  function scrollTo(i) {
    const y = rowOf(i) * ROW;
    if (y < element.scrollTop || y + ROW > element.scrollTop + height) {
      paint(); // the room to scroll in may have changed
      element.scrollTop = y - height / 3;
    }
  }

  function scrollToWhole() {
    paint();
    element.scrollTop = now.flipped ? nLevels * ROW : 0;
    redraw();
  }

  // --- pointer and keys ---

  function pick(event) {
    const { levels } = flame, rect = canvas.getBoundingClientRect();
    const row = Math.floor((event.clientY - rect.top + element.scrollTop) / ROW);
    const depth = now.flipped ? nLevels - 1 - row : row, level = levels[depth];
    const perPixel = (shown.to - shown.from) / width, least = perPixel / 2 / (window.devicePixelRatio || 1);
    const at = shown.from + (event.clientX - rect.left) * perPixel;
    let hit = {};
    if (row < 0 || !level)
      return hit;
    const k = placeAt(level, at);
    if (k >= 0 && level.end[k] - level.x[k] >= least)
      return { i: level.box[k] };
    eachShown(level, at - perPixel, at + perPixel, least, () => {}, (first, last) => {
      if (level.x[first] <= at + perPixel && level.end[last] >= at - perPixel)
        hit = { run: { depth, first, last } };
    });
    return hit;
  }

  let byTouch = false; // the pointer that is or was down

  // A click on small boxes zooms into what they are called by, as far as that helps.  A finger's first tap only tells.
  function click(event) {
    const hit = pick(event), { i, run } = hit;
    const isNew = run ? run.first !== chosen.run?.first || run.depth !== chosen.run?.depth : i !== chosen.i;
    if (byTouch && isNew)
      choose(hit);
    else if (run)
      zoomByHand(Math.max(0, flame.boxes.parent[flame.levels[run.depth].box[run.first]]));
    else if (i >= 0)
      zoomByHand(i);
  }

  function neighbour(i, step) {
    const { boxes, levels } = flame, level = levels[boxes.depth[i]];
    const k = placeAt(level, boxes.x[i] + boxes.total[i] / 2) + step;
    return k >= 0 && k < level.n && level.x[k] < shown.to && level.end[k] > shown.from ? level.box[k] : i;
  }

  function key(event) {
    const { boxes } = flame, i = chosen.i ?? now.zoomed;
    const child = boxes.end[i] > i + 1 ? i + 1 : i, parent = Math.max(0, boxes.parent[i]);
    const go = {
      ArrowDown: now.flipped ? parent : child,
      ArrowUp: now.flipped ? child : parent,
      ArrowLeft: neighbour(i, -1),
      ArrowRight: neighbour(i, 1),
    };
    if (event.ctrlKey || event.metaKey || event.altKey)
      return;
    if (event.key in go) {
      choose({ i: go[event.key] });
      scrollTo(chosen.i);
    } else if (event.key === "Enter" && chosen.i >= 0) {
      zoomByHand(chosen.i);
    } else {
      return;
    }
    event.preventDefault();
  }

  canvas.addEventListener("pointerdown", (e) => {
    byTouch = e.pointerType === "touch";
  });
  canvas.addEventListener("pointermove", (e) => {
    if (e.pointerType !== "touch") // a finger scrolls
      choose(pick(e));
  });
  canvas.addEventListener("click", click);
  canvas.addEventListener("keydown", key);
  element.addEventListener("scroll", redraw);
  new ResizeObserver(measure).observe(element);
  dark.addEventListener("change", restyle);

  return {
    now, canvas, zoom, zoomOut, zoomByHand,
    show(f) {
      flame = f;
      chosen = {};
      painter = flamePainter(canvas, flame);
      width = element.clientWidth;
      height = element.clientHeight;
      canvas.style.height = `${height}px`;
      zoom(0, true);
      restyle();
    },
    find(f) {
      if (f === found)
        return;
      found = f;
      requestAnimationFrame(restyle);
    },
    flip(to) {
      if (now.flipped === to)
        return;
      now.flipped = to;
      scrollToWhole();
    },
    colourByStates(to) {
      now.states = to;
      restyle();
    },
    scrollToWhole,
  };
}
