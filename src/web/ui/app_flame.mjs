// SPDX-License-Identifier: BSD-2-Clause
// A flame graph of the samples chosen, with the same parts as the page of `dwell flame`.
import { decode } from "./flame_data.mjs";
import { search } from "./flame_search.mjs";
import { flameView } from "./flame_view.mjs";
import { factsText, legendItems, percentText, tellChoice } from "./flame_words.mjs";
import { el, shown } from "./app_dom.mjs";
import { noteSoon } from "./app_state.mjs";
import { idOf, pathHashes, placeOf } from "./path_ids.mjs";

// Shows BYTES in PARENT.  KEPT has q, z (path_ids.mjs), flip and colour of the address; NOTE(changes, isDecision) keeps them; OPEN(procedure,
// image) shows code; MORE: further tools.  Where they are an outline, what is returned takes the whole.
export function flamePicture(parent, bytes, kept, note, open, ...more) {
  let flame = decode(bytes), { head, boxes } = flame;
  const place = el("div", { class: "flame" }), details = el("p", { class: "details", "aria-live": "polite" });
  const box = el("input", { type: "search", placeholder: "Search: name or /regex/", "aria-label": "Search for a name or /regex/", spellcheck: "false" });
  const matched = el("output"), facts = el("span"), legend = el("ul", { class: "legend tools", "aria-label": "Colours" });
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const reset = el("button", { type: "button", onclick: () => picture.zoomByHand(0) }, "Show all");
  const flip = el("button", { type: "button", onclick: () => {
    picture.flip(!picture.now.flipped);
    note({ flip: picture.now.flipped ? "1" : "" });
    tellWhole();
  } }, "Flip");
  const states = el("button", { type: "button", hidden: !boxes.blocked, onclick: () => {
    picture.colourByStates(!picture.now.states);
    note({ colour: picture.now.states ? "" : "code" });
    tellWhole();
  } });
  const code = el("button", { type: "button", hidden: true, onclick: () => open(head.name[boxes.frame[chosen]], head.images[head.image[boxes.frame[chosen]]]) }, "Code");
  parent.append(el("form", { class: "tools", onsubmit: (e) => e.preventDefault() }, box, matched, reset, flip, states, code, ...more), el("p", { class: "tools soft" }, facts), legend, place, details);
  let chosen = 0, now = {}, paths = null;

  function hashes() {
    const frames = head.name.map((name, f) => [name, head.images[head.image[f]], head.files[head.file[f]], head.line[f]].join("\n"));
    paths ||= pathHashes(boxes.n, (i) => i ? boxes.parent[i] : -1, (i) => i ? frames[boxes.frame[i]] : "");
    return paths;
  }

  function tell(choice = now) {
    now = choice;
    chosen = choice.i > 0 ? choice.i : 0;
    code.hidden = !chosen;
    details.replaceChildren(...tellChoice(flame, choice, picture.now.zoomed).map(([tag, text]) => el(tag, {}, shown(text))));
  }

  // What stands above the picture.
  function tellWhole() {
    facts.textContent = factsText(flame, picture.now.flipped);
    states.textContent = picture.now.states ? "Colour by code" : "Colour by state";
    legend.replaceChildren(...legendItems(flame, picture.now.states, dark.matches ? "dark" : "light"));
  }

  function find() {
    let found = null;
    try {
      found = search(flame, box.value);
      matched.textContent = found ? `${percentText(found.amount, head.total)} matched` : "";
    } catch (e) {
      matched.textContent = "not a regular expression";
    }
    picture.find(found);
  }

  const picture = flameView(place, {
    chose: tell,
    zoomed(i, byHand) {
      reset.disabled = i === 0;
      tell();
      if (byHand)
        note({ z: i ? idOf(hashes(), i) : "" }, true);
    },
  });
  picture.canvas.setAttribute("aria-label", "Flame graph");
  picture.show(flame);
  picture.flip(kept.flip === "1");
  if (kept.colour === "code")
    picture.colourByStates(false);
  box.value = kept.q || "";
  tellWhole();
  const { outline } = head;
  if (outline)
    showOutline();
  else
    showWhole();

  // Shows the outline for as long as the whole is not here; it has no box that somebody could choose.
  function showOutline() {
    place.inert = true;
    picture.scrollToWhole();
    if (kept.z || kept.q || kept.y)
      place.style.visibility = "hidden"; // it is not what the address says
    else
      performance.mark("first-picture");
  }

  function takeWhole(whole) {
    flame = decode(whole);
    ({ head, boxes } = flame);
    picture.show(flame);
    place.inert = false;
    place.style.visibility = "";
    showWhole();
  }

  function showWhole() {
    find();
    const z = kept.z ? placeOf(hashes(), kept.z) : 0;
    picture.zoom(Math.max(0, z), true);
    reset.disabled = !picture.now.zoomed;
    picture.scrollToWhole();
    tell(z > 0 ? { i: z } : {});
    tellWhole();
    if (z < 0)
      details.textContent = "What this address is zoomed to is not in the picture: other samples are chosen, or it is too small.";
    if (!performance.getEntriesByName("first-picture").length)
      performance.mark("first-picture");
    performance.mark("whole-picture");
    listen();
  }

  function listen() {
    box.addEventListener("input", () => {
      find();
      noteSoon({ q: box.value });
    });
  }

  return {
    outline, takeWhole,
    key(event) {
      if (event.key === "/" && event.target !== box)
        box.focus();
      else if (event.key === "Escape")
        picture.zoomOut();
      else
        return;
      event.preventDefault();
    },
  };
}
