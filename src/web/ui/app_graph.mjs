// SPDX-License-Identifier: BSD-2-Clause
// One procedure's flow of control, with the same parts as the page of `dwell calc -o x.html`.
import { el } from "./app_dom.mjs";
import { factsOf, showGraph } from "./graph_view.mjs";

// Shows CALC in PARENT.  KEPT has at of the address; NOTE(changes) keeps it.
export function graphPicture(parent, calc, kept, note) {
  parent.append(el("h2", {}, calc.procedure), el("p", { class: "facts soft" }, factsOf(calc)));
  return showGraph(parent, calc, kept, note);
}
