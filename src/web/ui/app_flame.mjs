// SPDX-License-Identifier: BSD-2-Clause
// A flame graph of the samples chosen, with the same parts as the page of `dwell flame`.
import { decode } from "./flame_data.mjs";
import { kindOf, nameOf } from "./flame_draw.mjs";
import { KINDS } from "./flame_kinds.mjs";
import { search } from "./flame_search.mjs";
import { flameView } from "./flame_view.mjs";
import { el, percent, shown } from "./app_dom.mjs";

// Shows BYTES in PARENT.  KEPT has q, z and flip of the address; NOTE(changes, isDecision) keeps them; OPEN(procedure,
// image) shows code.
export function flamePicture(parent, bytes, kept, note, open) {
  const flame = decode(bytes), { head, boxes } = flame;
  const place = el("div", { class: "flame" }), details = el("p", { class: "details", "aria-live": "polite" });
  const box = el("input", { type: "search", placeholder: "Search: name or /regex/", "aria-label": "Search for a name or /regex/", spellcheck: "false" });
  const matched = el("output");
  const reset = el("button", { type: "button", onclick: () => picture.zoomByHand(0) }, "Show all");
  const flip = el("button", { type: "button", onclick: () => {
    picture.flip(!picture.now.flipped);
    note({ flip: picture.now.flipped ? "1" : "" });
  } }, "Flip");
  const code = el("button", { type: "button", hidden: true, onclick: () => open(head.name[boxes.frame[chosen]], head.images[head.image[boxes.frame[chosen]]]) }, "Code");
  parent.append(el("form", { class: "tools", onsubmit: (e) => e.preventDefault() }, box, matched, reset, flip, code), place, details);
  let chosen = 0;

  function tell(choice) {
    chosen = choice.i > 0 ? choice.i : 0;
    code.hidden = !chosen;
    if (choice.run)
      details.replaceChildren(`${choice.run.last - choice.run.first + 1} boxes too small to draw; zoom in to see them`);
    else if (choice.i >= 0)
      details.replaceChildren(el("b", {}, shown(nameOf(head, boxes, choice.i))), ` ${percent(boxes.total[choice.i], head.total || boxes.total[0])} of all`
        + (choice.i ? `; itself ${percent(boxes.self[choice.i], head.total || boxes.total[0])}. ${KINDS[kindOf(head, boxes, choice.i)]?.says || ""}, ${shown(head.images[head.image[boxes.frame[choice.i]]] || "")}` : ""));
    else
      details.replaceChildren("Point at a box to see what it is; click or Enter zooms in, Esc out, / searches.");
  }

  function find() {
    let found = null;
    try {
      found = search(flame, box.value);
      matched.textContent = found ? `${percent(found.amount, head.total)} matched` : "";
    } catch (e) {
      matched.textContent = "not a regular expression";
    }
    picture.find(found);
  }

  const picture = flameView(place, {
    chose: tell,
    zoomed(i, byHand) {
      reset.disabled = i === 0;
      if (byHand)
        note({ z: i || "" }, true);
    },
  });
  picture.canvas.setAttribute("aria-label", "Flame graph");
  picture.show(flame);
  picture.flip(kept.flip === "1");
  box.value = kept.q || "";
  find();
  const z = Number(kept.z);
  picture.zoom(Number.isInteger(z) && z > 0 && z < boxes.n ? z : 0, true);
  picture.scrollToWhole();
  tell({});
  box.addEventListener("input", () => {
    find();
    note({ q: box.value });
  });
  performance.mark("first-picture");
  return {
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
