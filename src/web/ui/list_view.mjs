// SPDX-License-Identifier: BSD-2-Clause
// A listing: source lines on one side, instructions on the other, each with its numbers.  Names and texts reach the page
// as text only.  The elements that it fills are those of list.html, by their id; a document shows one listing.
import { makePane } from "./list_pane.mjs";
import { rowsOfCode, rowsOfSource } from "./list_rows.mjs";

/** @type {(id: string) => any} */
const $ = (id) => document.getElementById(id);

let listing, source, code;
let column = 0;       // whose numbers are shown
let onlyHot = false;
let chosen = null;    // { kind: "line" or "insn", at }
/** @type {(changes: object) => void} */
let note = () => {};  // told what of this the address is to keep

// --- words ---

const numberText = (n) => Number.isInteger(n) ? n.toLocaleString("en") : n.toPrecision(4);
const shareText = (n, of) => of > 0 ? `${(100 * n / of).toFixed(2)} %` : "";

function put(parent, tag, text) {
  const node = document.createElement(tag);
  node.textContent = text;
  parent.append(node, " ");
  return node;
}

// "1.5 s of wall": columns of time are called "wall(s)".
function amountText(n, { title }) {
  const timed = /^(.*)\(s\)$/.exec(title);
  return `${numberText(n)} ${timed ? `s of ${timed[1]}` : title}`;
}

function sharesText(n, about) {
  return about.adds && about.total ? ` (${shareText(n, about.total)} of the procedure, ${shareText(n, about.all)} of all)` : "";
}

function tellFacts() {
  const about = listing.columns[column];
  $("title").textContent = listing.short.join(", inlined into ");
  $("title").title = [listing.procedure, listing.into].filter(Boolean).join(", inlined into ");
  $("facts").textContent = "";
  if (about) {
    put($("facts"), "b", amountText(about.total, about));
    if (about.adds)
      put($("facts"), "span", `(${shareText(about.total, about.all)} of all)`);
  }
  put($("facts"), "span", `in ${listing.image ?? "an unknown image"}`);
  if (listing.kept)
    put($("facts"), "span", "· the file that was profiled is gone; its code was kept");
  if (listing.newer)
    put($("facts"), "span", "· the source was changed after the image was made");
  if (listing.candidates.length > 1)
    put($("facts"), "span", `· the hottest of ${listing.candidates.length} with the name`);
}

function tellChosen() {
  const details = $("details");
  details.textContent = "";
  if (!chosen) {
    details.textContent = "Choose a line or an instruction.";
    return;
  }
  const insn = chosen.kind === "insn" ? listing.insns[chosen.at] : null;
  const line = listing.lines[insn ? insn.line : chosen.at];
  if (insn)
    put(details, "b", `${insn.svma}  ${insn.text ?? ""}`);
  if (line)
    put(details, "b", `${listing.files[line.file]}:${line.line}`);
  if (insn && insn.inlined >= 0)
    put(details, "span", `· in ${listing.names[insn.inlined]}, inlined here`);
  if (insn && insn.loops.length)
    put(details, "span", `· in ${insn.loops.length === 1 ? "a loop" : `${insn.loops.length} loops, the innermost`} from ${insn.loops.at(-1)}`);
  const counts = (insn ?? line)?.counts;
  if (!counts)
    return;
  listing.columns.forEach((about, i) => {
    if (counts[i] || i === column)
      put(details, "span", `· ${amountText(counts[i], about)}${sharesText(counts[i], about)}`);
  });
}

// --- choosing ---

function choose(next, scroll) {
  chosen = next;
  const marks = { line: new Set(), insn: new Set() };
  if (next?.kind === "line") {
    marks.line.add(next.at);
    listing.insns.forEach((insn, i) => insn.line === next.at && marks.insn.add(i));
  } else if (next) {
    marks.insn.add(next.at);
    marks.line.add(listing.insns[next.at].line);
  }
  source.mark(marks.line);
  code.mark(marks.insn);
  tellChosen();
  const hot = hotRows(), i = hot.findIndex((row) => next && row.kind === next.kind && row.at === next.at);
  $("where").textContent = i < 0 ? "" : `${i + 1} of ${hot.length} hot rows`;
  note({ at: next ? `${next.kind}.${next.at}` : "", col: column || "", hot: onlyHot ? "1" : "" });
  if (!next || !scroll)
    return;
  const weight = (i) => listing.insns[i].counts?.[column] ?? 0;
  const insns = [...marks.insn].sort((a, b) => weight(b) - weight(a) || a - b);
  if (scroll !== "code" && insns.length)
    code.show(insns[0]);
  if (scroll !== "source" && marks.line.size)
    source.show([...marks.line][0]);
}

// Rows of the side with more to tell, the hottest first.
function hotRows() {
  const kind = listing.insns.length ? "insn" : "line", list = kind === "insn" ? listing.insns : listing.lines;
  return list.map((row, at) => ({ kind, at, n: row.counts?.[column] ?? 0, heat: row.heat })).filter((row) => row.heat === 2 && row.n > 0)
    .sort((a, b) => b.n - a.n || a.at - b.at);
}

function goHot(step) {
  const hot = hotRows();
  if (!hot.length)
    return;
  const now = step ? hot.findIndex((row) => chosen && row.kind === chosen.kind && row.at === chosen.at) : -1;
  const at = (now + 1) % hot.length;
  choose({ kind: hot[at].kind, at: hot[at].at }, "both");
}

// --- all of it ---

function fill() {
  source.fill(rowsOfSource(listing, onlyHot), listing.columns[column], column);
  code.fill(rowsOfCode(listing, onlyHot), listing.columns[column], column);
  tellFacts();
  choose(chosen, null);
}

function key(event) {
  const pane = document.activeElement === $("source") ? source : code;
  if (event.ctrlKey || event.altKey || event.metaKey || /^(INPUT|SELECT)$/.test(event.target.tagName))
    return;
  if (event.key === "n")
    goHot(true);
  else if (event.key === "h")
    goHot(false);
  else if (event.key === "Escape")
    choose(null, null);
  else if (event.key === "ArrowDown" || event.key === "ArrowUp")
    choose(pane.beside(chosen, event.key === "ArrowDown" ? 1 : -1) ?? chosen, "both");
  else
    return;
  event.preventDefault();
}

function named(list, names) {
  return list.map((values) => Object.fromEntries(names.map((name, i) => [name, values[i]])));
}

// Shows NEXT, what the data block of view/list_html.c says.  KEPT is what NOTE(changes) was told: at, col and hot.  Returns
// what the keys do: key(event).
export function showListing(next, kept = {}, toldTo = () => {}) {
  const [kind, at] = (kept.at || "").split(".");
  listing = next;
  column = Number(kept.col) < listing.columns.length ? Number(kept.col) || 0 : 0;
  onlyHot = kept.hot === "1";
  chosen = null;
  note = () => {};
  listing.lines = named(listing.lines, ["file", "line", "text", "heat", "counts"]);
  listing.insns = named(listing.insns, ["svma", "text", "line", "heat", "loops", "inlined", "counts"]);
  source = makePane($("source"), "line", (at, scroll) => choose(at, scroll));
  code = makePane($("code"), "insn", (at, scroll) => choose(at, scroll));
  if (!listing.lines.length)
    source.tell(listing.why_no_source || "No source lines are known.");
  if (!listing.insns.length)
    code.tell(listing.why_no_code || "No instructions are known.");
  listing.columns.forEach((about, i) => $("column").append(new Option(about.title, i)));
  $("columns").hidden = listing.columns.length < 2;
  $("column").addEventListener("change", () => { column = Number($("column").value); fill(); });
  $("hot").addEventListener("change", () => { onlyHot = $("hot").checked; fill(); });
  $("hottest").addEventListener("click", () => goHot(false));
  $("next").addEventListener("click", () => goHot(true));
  $("tools").addEventListener("submit", (event) => event.preventDefault());
  $("column").value = String(column);
  $("hot").checked = onlyHot;
  fill();
  if ((kind === "insn" ? listing.insns : kind === "line" ? listing.lines : [])[Number(at)])
    choose({ kind, at: Number(at) }, "both");
  else
    goHot(false);
  note = toldTo;
  return { key };
}
