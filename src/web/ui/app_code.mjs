// SPDX-License-Identifier: BSD-2-Clause
// One procedure: its source beside its instructions, with the same parts as the page of `dwell list -o x.html`.
import { el } from "./app_dom.mjs";
import { showListing } from "./list_view.mjs";

// Shows LISTING in PARENT.  KEPT has at, hot and col of the address; NOTE(changes) keeps them.
export function codePicture(parent, listing, kept, note) {
  const pane = (id, label) => el("section", { id, class: "pane", tabindex: 0, "aria-label": label });
  parent.append(
    el("h2", { id: "title" }), el("p", { id: "facts", class: "soft" }),
    el("form", { id: "tools" },
      el("label", { id: "columns", hidden: true }, "Numbers of ", el("select", { id: "column" })),
      el("button", { type: "button", id: "hottest" }, "Hottest"), el("button", { type: "button", id: "next" }, "Next hot row"),
      el("label", {}, el("input", { type: "checkbox", id: "hot" }), " only what is hot"), el("output", { id: "where" })),
    el("div", { id: "panes" }, pane("source", "Source lines"), pane("code", "Instructions")),
    el("p", { id: "details", class: "details", "aria-live": "polite" }));
  return showListing(listing, kept, note);
}
