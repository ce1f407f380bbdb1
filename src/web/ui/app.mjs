// SPDX-License-Identifier: BSD-2-Clause
// The page of `dwell web`: the views, and the form that chooses samples.  Each view asks a question and shows the answer.
import { ask, askParts, useToken } from "./app_ask.mjs";
import { completing, keyWords, setWords } from "./app_bar.mjs";
import { codePicture } from "./app_code.mjs";
import { amount, barCell, count, el, percent, short, shown } from "./app_dom.mjs";
import { flamePicture } from "./app_flame.mjs";
import { graphPicture } from "./app_graph.mjs";
import { heatMap } from "./app_heat.mjs";
import { containerOf, newestOf, unitOf as systemdUnitOf, wordOf } from "./app_parts.mjs";
import * as app from "./app_state.mjs";
import { sortedTable } from "./app_table.mjs";
import { threadsPicture } from "./app_threads.mjs";
import { callTree } from "./app_tree.mjs";

/** @type {(id: string) => any} */
const $ = (id) => document.getElementById(id);
// What time is split by; those that are parts of a cgroup's path are summed up here.
const KEYS = { comm: "command", image: "image", exe: "program", pid: "process", uid: "user", cgroup: "cgroup", unit: "unit", container: "container", label: "label" };
const FLAME_BY = ["procedure", "line", "address", "comm", "exe", "pid", "tid", "uid", "cgroup", "label"]; // the first three: the boxes; else above them
const MOST_PARTS = 20; // cgroups of one unit that a click can choose: a question has its limits
const MOST_ROWS = 20000; // of a table
const PARTS = { unit: systemdUnitOf, container: containerOf };
let running = null; // the question under way: an AbortController
let picture = null; // of the view that is shown, if it has one

const VIEWS = {
  overview: { name: "Overview", show: overview },
  flame: { name: "Flame graph", show: flame },
  table: { name: "Table", show: table },
  around: { name: "Callers and callees", show: around },
  tree: { name: "Tree", show: tree },
  code: { name: "Code", show: code },
  graph: { name: "Graph", show: graph },
  compare: { name: "Compare", show: compare },
  threads: { name: "Threads", show: threads },
};

// What is one view's own in the address.
const OWN = { y: "", z: "", s: "", s2: "", colour: "", o: "", at: "", col: "", hot: "", q: "", t: "" };

// --- parts ---

function eventOf(answer) {
  const names = (answer.events || []).map((e) => e.name);
  if (app.state.event && names.includes(app.state.event))
    return app.state.event;
  const counted = Object.keys(answer.rows?.[0]?.counts || answer.rows?.[0]?.inclusive || {});
  return counted[0] || names[0];
}

function wholeOf(answer, event) {
  const e = (answer.events || []).find((x) => x.name === event);
  return e ? e.amount ?? e.samples - (e.idle || 0) : answer.rows.reduce((n, r) => n + (r.counts?.[event] || 0), 0);
}

const unitOf = (answer, event) => (answer.events || []).find((e) => e.name === event)?.unit;

// What a table keeps in the address, as NAME.
const keptAs = (name) => ({ kept: { s: app.state[name] }, note: ({ s }) => app.note({ [name]: s }) });

// What the command says below its table: what is not named, not shown, not known.
function notesOf(answer) {
  const notes = (answer.notes || []).map((n) => el("li", {}, shown(n)));
  return notes.length ? el("details", { class: "soft" }, el("summary", {}, `${notes.length} ${notes.length === 1 ? "note" : "notes"}: rows without names, and what would name them`), el("ul", {}, ...notes)) : null;
}

function openCode(procedure, image) {
  app.go({ ...OWN, view: "code", procedure, image: image || "" });
}

function procedureButton(r) {
  const name = r.procedure || r.image || r.comm || "?";
  return el("td", { class: "name" }, r.procedure ? el("button", { type: "button", class: "go", title: "Callers and callees",
    onclick: () => app.go({ ...OWN, view: "around", procedure: r.procedure, image: r.image || "" }) }, short(name)) : short(name));
}

// The name of who used the time, which chooses that alone, where that can be said.
function ownerCell(r, key) {
  const chosen = r.only || (r[key] === null ? [] : [r[key]]), name = short(r[key] ?? "-");
  if (!chosen.length || chosen.length > MOST_PARTS)
    return el("td", { class: "name" }, name);
  const only = chosen.map((v) => wordOf(key in PARTS ? "cgroup" : key, String(v))).join(" ");
  return el("td", { class: "name" }, el("button", { type: "button", class: "go", title: "Only this",
    onclick: () => app.go({ ...OWN, view: "table", by: "procedure", ...(key === "image" ? { q: r.image } : { only }) }) }, name));
}

// KEEP: the name in the address of what rows are sorted by; none: it is not kept.
function rowsTable(answer, caption, key, { brief = false, keep = "" } = {}) {
  const event = eventOf(answer), whole = wholeOf(answer, event);
  const of = (r) => r.counts?.[event] || 0, incl = (r) => r.inclusive?.[event] ?? null;
  const events = Object.keys(answer.rows[0]?.counts || {}).filter((e) => !brief || e === event);
  /** @type {import("./app_table.mjs").Column[]} */
  const columns = [
    { name: "Share", number: true, value: of, cell: (r) => barCell(of(r) / (whole || 1), percent(of(r), whole)) },
    ...events.map((e) => ({ name: e, number: true, class: brief ? "" : "extra", value: (r) => r.counts[e] || 0, cell: (r) => typeof r.counts[e] === "number" ? amount(r.counts[e], unitOf(answer, e)) : "" })),
  ];
  if (answer.rows.some((r) => r.inclusive))
    columns.push({ name: "With callees", number: true, value: (r) => incl(r) || 0, cell: (r) => percent(incl(r) || 0, whole) });
  columns.push(key
    ? { name: key, class: "name", value: (r) => String(r[key] ?? ""), cell: (r) => ownerCell(r, key) }
    : { name: "Procedure", value: (r) => r.procedure || r.image || "", cell: procedureButton });
  if (!key)
    columns.push({ name: "Image", class: "soft", value: (r) => r.image || "", cell: (r) => short(r.image || "", 70) });
  return sortedTable(answer.rows, columns, { caption, ...(keep ? keptAs(keep) : {}) });
}

// Rows of ANSWER, by cgroup, as rows of the part KEY of its path.
function sumParts(answer, key) {
  const sums = new Map();
  for (const r of answer.rows) {
    const name = r.cgroup ? PARTS[key](r.cgroup) || "(none)" : "(none)";
    const sum = sums.get(name) || sums.set(name, { [key]: name, only: [], counts: {} }).get(name);
    if (r.cgroup)
      sum.only.push(r.cgroup);
    for (const [event, n] of Object.entries(r.counts))
      sum.counts[event] = (sum.counts[event] || 0) + (Number(n) || 0);
  }
  return { ...answer, rows: [...sums.values()] };
}

async function askBy(by, signal) {
  const answer = await ask("prof", { ...app.selection(), by: by in PARTS ? "cgroup" : by, limit: by in PARTS ? "" : 200 }, signal);
  return by in PARTS ? sumParts(answer, by) : answer;
}

const byChoice = (label, by, more = []) => el("select", { "aria-label": label, onchange: (e) => app.go({ by: e.target.value }) },
  ...more.map((k) => el("option", { value: k, selected: k === by }, k)), ...Object.entries(KEYS).map(([k, name]) => el("option", { value: k, selected: k === by }, name)));

function accountOf(answer) {
  const { recording = {}, events = [], losses = {} } = answer;
  const rows = events.map((e) => el("tr", {}, el("td", { class: "name" }, shown(e.name)), el("td", { class: "n" }, e.unit ? `${amount(e.amount, e.unit)}` : count(e.samples)),
    el("td", { class: "n extra" }, e.unit ? "" : e.freq_hz ? `${e.freq_hz} Hz` : count(e.period)), el("td", { class: "n" }, count(e.lost)),
    el("td", { class: "n" }, count(e.not_delivered || 0)), el("td", { class: "n extra" }, percent(e.kernel || 0, e.amount ?? e.samples))));
  return [
    el("p", { class: "soft" }, [recording.host, recording.kernel, recording.start && `${recording.start} to ${recording.end}`, recording.command].filter(Boolean).map((t) => short(t, 200)).join(" · ")),
    el("table", {}, el("thead", {}, el("tr", {}, ...["", "n", "n extra", "n", "n", "n extra"].map((c, i) => el("th", { class: c }, ["Event", "Samples", "Period", "Lost", "Not delivered", "Kernel"][i])))), el("tbody", {}, ...rows)),
    el("p", {}, Object.keys(losses).length ? `Lost: ${Object.entries(losses).map(([k, v]) => `${k} ${typeof v === "number" ? count(v) : JSON.stringify(v)}`).join(", ")}` : "Nothing was lost."),
  ];
}

// --- views: each returns what main shows ---

async function overview(signal) {
  const by = app.state.by in KEYS ? app.state.by : "comm";
  const [answer, epochs, all] = await Promise.all([askBy(by, signal), ask("epochs", {}, signal).catch(() => null),
    ask("prof", { ...app.selection(), event: app.state.pm ? undefined : "all", by: "image", limit: 1 }, signal)]);
  const named = app.state.epoch || newestOf(epochs?.rows || []) || "latest"; // as the address will say
  const minutes = epochs && await ask("minutes", { epoch: named, steps: 600 }, signal).catch(() => null);
  const several = new Set((minutes?.rows || []).map((r) => r.minute)).size > 1, key = by in PARTS ? "cgroup" : by;
  const hot = several && by !== "image" ? heatMap(minutes.rows, minutes.step_minutes || 1, key, eventOf(answer), (since, until) => app.go({ since, until })) : null;
  return [
    ...(hot ? [el("h2", {}, "When"), hot] : []),
    el("div", { class: "sides" },
      el("section", {}, el("h2", {}, "Who used it, by ", byChoice("Split by", by)), rowsTable(answer, "", by, { brief: true, keep: "s" })),
      el("div", {}, el("section", {}, el("h2", {}, "What was recorded and lost"), ...accountOf(all)),
        epochs ? el("section", { class: "recordings" }, el("h2", {}, "Recordings"), epochTable(epochs.rows)) : null)),
  ];
}

function epochTable(rows) {
  const most = Math.max(1, ...rows.map((r) => r.samples));
  return sortedTable(rows, [
    { name: "Recording", value: (r) => r.epoch, cell: (r) => el("td", { class: "name" }, el("button", { type: "button", class: "go", onclick: () => app.go({ epoch: r.epoch }) }, r.epoch)) },
    { name: "Samples", number: true, value: (r) => r.samples, cell: (r) => barCell(r.samples / most, count(r.samples)) },
    { name: "Seconds", number: true, value: (r) => r.seconds ?? 0, cell: (r) => r.seconds?.toFixed(1) ?? "" },
    { name: "Host", class: "extra", value: (r) => r.host, cell: (r) => short(r.host, 40) },
    { name: "State", value: (r) => r.state, cell: (r) => r.state },
    { name: "Label", value: (r) => r.label || "", cell: (r) => short(r.label || "", 40) },
  ], { caption: "", ...keptAs("s2") });
}

// Draws PARTS of an answer (app_ask.mjs), below ABOVE.
async function drawFlame(parts, above, ...tools) {
  const place = el("div", { class: "picture" }), { value } = await parts.next();
  $("main").replaceChildren(...above, place);
  const drawn = picture = flamePicture(place, value, app.state, (changes, isDecision) => app.note(changes, isDecision), openCode, ...tools);
  if (!drawn.outline)
    return;
  await seen();
  const whole = await parts.next();
  if (place.isConnected)
    drawn.takeWhole(whole.value);
}

// Waits until what was drawn is on the screen.  A page that nobody sees draws nothing.
function seen() {
  return new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, 100);
  });
}

async function flame(signal) {
  const by = FLAME_BY.includes(app.state.by) ? app.state.by : "procedure";
  const choice = el("select", { "aria-label": "Boxes are", onchange: (e) => app.go({ ...OWN, by: e.target.value }) },
    ...FLAME_BY.map((k) => el("option", { value: k, selected: k === by }, { tid: "thread", ...KEYS }[k] || k)));
  await drawFlame(askParts("flame", { ...app.selection(), focus: app.state.focus, by }, signal), [], el("label", {}, "By ", choice));
  return null;
}

async function table(signal) {
  const by = app.state.by || "procedure";
  const answer = by in PARTS ? await askBy(by, signal) : await ask("prof", { ...app.selection(), by, limit: MOST_ROWS }, signal);
  const all = answer.rows, isCut = all.length === MOST_ROWS, texts = all.map((r) => `${r.procedure || ""} ${r.image || ""} ${r[by] ?? ""}`.toLowerCase());
  const place = el("div"), matched = el("output");
  const box = el("input", { type: "search", id: "filter", placeholder: "Search in rows", "aria-label": "Only rows with this text", spellcheck: "false", value: app.state.q || "",
    oninput: () => {
      app.noteSoon({ q: box.value });
      fill();
    } });
  function fill() {
    const text = box.value.toLowerCase(), rows = text ? all.filter((_, i) => texts[i].includes(text)) : all;
    const event = eventOf(answer), whole = wholeOf(answer, event);
    matched.textContent = text ? `${percent(rows.reduce((n, r) => n + (r.counts?.[event] || 0), 0), whole)} matched` : "";
    const shownRows = rowsTable({ ...answer, rows }, `${count(rows.length)} rows${isCut ? ` of the ${count(MOST_ROWS)} with most samples; there may be more` : ""}`, by in KEYS ? by : "", { keep: "s" });
    place.replaceChildren(rows.length ? shownRows : el("p", {}, "No row has this text."));
    setTimeout(() => shownRows.watch($("main")));
  }
  fill();
  return [el("form", { class: "tools", onsubmit: (e) => e.preventDefault() }, el("label", {}, "By ", byChoice("Rows are", by, ["procedure", "line", "address"])), box, matched), notesOf(answer), place];
}

async function around(signal) {
  const { procedure, image } = app.state;
  if (!procedure)
    return [el("p", {}, "Choose a procedure in the table first.")];
  const of = (name) => ask("prof", { ...app.selection(), [name]: procedure }, signal).catch((e) => {
    if (e.name === "AbortError")
      throw e;
    return e;
  });
  const [callers, callees] = await Promise.all([of("callers"), of("callees")]);
  const side = (title, answer, keep) => el("section", {}, el("h2", {}, title), answer instanceof Error ? el("p", { class: "soft" }, answer.message)
    : answer.rows.length ? rowsTable(answer, "", "", { keep }) : el("p", { class: "soft" }, "none"));
  return [
    el("h2", {}, short(procedure), " ", el("span", { class: "soft" }, short(image || "", 80))),
    el("p", {}, el("a", { href: app.href({ ...OWN, view: "code" }) }, "Code"), " · ", el("a", { href: app.href({ ...OWN, view: "graph" }) }, "Graph"), " · ", el("a", { href: app.href({ ...OWN, view: "flame", focus: `^${procedure.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$` }) }, "Flame graph through it")),
    el("div", { class: "sides" }, side("Called by", callers, "s"), side("Calls", callees, "s2")),
  ];
}

async function tree(signal) {
  const answer = await ask("tree", { ...app.selection(), focus: app.state.focus, "percent-limit": 0.1 }, signal);
  const event = eventOf({ ...answer, rows: answer.rows.map((r) => ({ counts: r.inclusive })) });
  return [notesOf(answer), callTree(answer.rows, event, wholeOf({ ...answer, rows: [] }, event) || 1, unitOf(answer, event), (r) => openCode(r.name, r.image), app.state, app.note)];
}

async function code(signal) {
  const { procedure, image } = app.state;
  if (!procedure)
    return [el("p", {}, "Choose a procedure in the table, the tree or the flame graph first.")];
  const listing = await ask("listing", { ...app.selection(), procedure, image }, signal);
  const place = el("div", { class: "picture listing" });
  $("main").replaceChildren(place);
  picture = codePicture(place, listing, app.state, (changes) => app.note(changes));
  return null;
}

async function graph(signal) {
  const { procedure, image } = app.state;
  if (!procedure)
    return [el("p", {}, "Choose a procedure in the table, the tree or the flame graph first.")];
  // One event tells the time, others how often code ran: all are asked for.
  const calc = await ask("calc", { ...app.selection(), event: undefined, pm: undefined, procedure, image }, signal);
  const place = el("div", { class: "picture graph-page" });
  $("main").replaceChildren(place);
  picture = graphPicture(place, calc, app.state, (changes) => app.note(changes));
  return null;
}

async function compare(signal) {
  const epochs = (await ask("epochs", {}, signal)).rows.map((r) => r.epoch);
  const a = app.state.a || epochs[epochs.length - 2] || "", b = app.state.b || epochs[epochs.length - 1] || "";
  const field = (name, value) => el("label", {}, `${name.toUpperCase()} `, el("input", { id: `set-${name}`, value, list: "sets-of-samples", size: 24, spellcheck: "false" }));
  const form = el("form", { onsubmit: (e) => {
    e.preventDefault();
    app.go({ a: $("set-a").value, b: $("set-b").value });
  } }, field("a", a), field("b", b), el("datalist", { id: "sets-of-samples" }, ...epochs.map((e) => el("option", { value: e }))), el("button", {}, "Compare"),
  el("a", { href: app.href({ picture: app.state.picture ? "" : "1", a, b }) }, app.state.picture ? "as a table" : "as a flame graph"),
  app.state.picture ? null : el("a", { href: app.href({ abs: app.state.abs ? "" : "1", a, b }),
    title: "Shares: recordings of different length are comparable. Amounts: what shrank does not make the rest grow." }, app.state.abs ? "compare shares" : "compare amounts"));
  if (!a || !b || a === b)
    return [form, el("p", {}, "Two recordings, or words such as label=old, are compared; this database has fewer.")];
  app.note({ a, b }); // other recordings will be the newest
  const epoch = [a, b].some((set) => /^\d|epoch=/.test(set)) ? "" : app.state.epoch; // what names none is of the one chosen
  if (app.state.picture) {
    await drawFlame(askParts("flame-diff", { ...app.selection(), epoch, a, b }, signal), [form]);
    return null;
  }
  const answer = await ask(app.state.abs ? "diff-absolute" : "diff", { ...app.selection(), epoch, a, b }, signal);
  const changed = (r) => r.change_pct || 0, unit = app.state.abs ? "% of A" : "points";
  const sets = answer.sets.map(({ set, recording, samples }, i) => el("li", {}, el("b", {}, "AB"[i]), ` ${[set, recording?.command, recording?.start, `${count(samples)} samples`].filter(Boolean).map((t) => short(t, 80)).join(" · ")}`));
  const rows = sortedTable(answer.rows, [
    { name: "Change", number: true, value: (r) => Math.abs(changed(r)), cell: (r) => el("td", { class: `n ${changed(r) > 0 ? "more" : "less"}` }, `${changed(r) > 0 ? "+" : ""}${changed(r).toFixed(2)} ${unit}`) },
    { name: "A", number: true, class: "extra", value: (r) => r.a_pct, cell: (r) => barCell(r.a_pct / 100, `${r.a_pct.toFixed(2)} %, ${count(r.a)}`) },
    { name: "B", number: true, value: (r) => r.b_pct, cell: (r) => barCell(r.b_pct / 100, `${r.b_pct.toFixed(2)} %, ${count(r.b)}`) },
    { name: "By chance", number: true, class: "extra", title: "How likely a change as large is by chance", value: (r) => -r.p, cell: (r) => r.p < 0.001 ? "< 0.001" : r.p.toFixed(3) },
    { name: "Procedure", value: (r) => r.procedure || "", cell: procedureButton },
    { name: "Image", class: "soft", value: (r) => r.image || "", cell: (r) => short(r.image || "", 60) },
  ], { caption: `${count(answer.rows.length)} ${answer.rows.length === 1 ? "procedure" : "procedures"} changed beyond chance${answer.hidden ? `; ${count(answer.hidden.rows)} did not` : ""}`, ...keptAs("s") });
  return [form, el("ul", { class: "plain soft" }, ...sets), el("div", {}, rows)]; // names wrap in there
}

async function threads(signal) {
  const bytes = await ask("trace", app.selection(), signal);
  const place = el("div", { class: "picture" });
  $("main").replaceChildren(place);
  picture = threadsPicture(place, bytes, app.state, (changes) => app.note(changes));
  return null;
}

// --- the page ---

function showTrouble(text) {
  $("trouble").textContent = text;
  $("trouble").hidden = !text;
}

function fillViews(name) {
  $("views").replaceChildren(...Object.entries(VIEWS).map(([k, v]) => el("a", { href: app.href({ view: k, ...OWN }), "aria-current": k === name ? "page" : false }, v.name)));
}

// What can be scrolled in the view that is shown.
const scrollers = () => [$("main"), ...$("main").querySelectorAll(".flame, .pane, .graph-pane")];

// How far it is scrolled goes to the address when it rests.
let resting = 0;
function keepScroll() {
  clearTimeout(resting);
  resting = running ? 0 : setTimeout(() => {
    const at = scrollers().map((e) => Math.round(e.scrollTop));
    app.note({ y: at.some(Boolean) ? at.join(".") : "" });
  }, 200);
}

function takeScroll() {
  const { y } = app.state, at = (y || "0").split(".");
  scrollers().slice(0, at.length).forEach((e, i) => {
    e.scrollTop = Number(at[i]) || 0;
  });
}

async function show() {
  const name = VIEWS[app.state.view] ? app.state.view : "overview";
  running?.abort();
  clearTimeout(resting);
  const asked = running = new AbortController(), { signal } = asked;
  picture = null;
  const start = performance.now(), answer = VIEWS[name].show(signal); // asked before anything is laid out
  fillViews(name);
  $("views").querySelector("[aria-current]").scrollIntoView({ block: "nearest", inline: "nearest" });
  for (const key of ["only", "pm"])
    if (document.activeElement !== $(key))
      $(key).value = app.state[key] || "";
  for (const key of ["epoch", "event"])
    $(key).value = app.state[key] || "";
  const { since, until } = app.state;
  $("time").hidden = !since && !until;
  $("time").textContent = `${since || ""} to ${until || "now"} ✕`;
  $("status").textContent = "asking …";
  try {
    const parts = await answer;
    if (signal.aborted)
      return;
    if (parts)
      $("main").replaceChildren(...parts.filter(Boolean));
    for (const rows of $("main").querySelectorAll("table"))
      rows.watch?.($("main"));
    takeScroll();
    showTrouble("");
    $("status").textContent = `${VIEWS[name].name}, ${(performance.now() - start).toFixed(0)} ms`;
  } catch (e) {
    if (e.name === "AbortError" || signal.aborted)
      return;
    showTrouble(e.message);
    if (app.state.pm)
      setBar.tell(e.message);
    $("main").replaceChildren();
    $("status").textContent = "";
  } finally {
    if (running === asked)
      running = null;
  }
}

// Names the recordings in the address: others will be the newest.
function nameNewest(rows) {
  if (app.state.epoch || app.state.since || app.state.until || !rows.length)
    return;
  app.note({ epoch: newestOf(rows) });
  fillViews(VIEWS[app.state.view] ? app.state.view : "overview");
}

// What can be chosen: recordings and events.
async function fillForm() {
  const option = (value, text) => el("option", { value }, text);
  const epochs = await ask("epochs", {}).catch(() => ({ rows: [] }));
  const named = epochs.rows.map((r) => option(r.epoch, `${r.epoch} ${short(r.label || "", 20)}`));
  nameNewest(epochs.rows);
  const { epoch } = app.state, isNamed = !epoch || epoch === "all" || epochs.rows.some((r) => r.epoch === epoch);
  $("epoch").replaceChildren(option("", "latest"), option("all", "all"), ...(isNamed ? [] : [option(epoch, short(epoch, 40))]), ...named);
  $("epoch").value = epoch || "";
  const answer = await ask("prof", { epoch: app.state.epoch, event: "all", by: "image", limit: 1 }).catch(() => ({ events: [], recording: {} }));
  events = answer.events.map((e) => ({ word: e.name, says: `${count(e.samples)} samples` }));
  const names = answer.events.map((e) => e.name), timed = names.includes("blocked") ? ["wall", "states"] : [];
  $("event").replaceChildren(option("", timed[0] || "default"), ...timed.slice(1).map((e) => option(e, "running, runnable, blocked")), ...names.map((e) => option(e, e)));
  $("event").value = app.state.event || "";
  $("what").textContent = document.title = `dwell: ${[answer.recording.host, answer.recording.command].filter(Boolean).map((t) => short(t, 120)).join(", ")}`;
}

// --- completion ---

let events = [], facts = null;
const values = new Map();

// What the samples of the recording have as KEY, most samples first.
function valuesOf(key) {
  const where = `${app.state.epoch || ""} ${key}`;
  if (key === "event")
    return events;
  if (!/^(comm|exe|pid|uid|cgroup|label|image)$/.test(key))
    return [];
  if (!values.has(where))
    values.set(where, ask("prof", { epoch: app.state.epoch, by: key, limit: 100 }).then((a) => a.rows.filter((r) => r[key] !== null && !/\s/.test(r[key]))
      .map((r) => ({ word: String(r[key]), says: Object.entries(r.counts).map(([e, n]) => `${count(Number(n) || 0)} ${e}`)[0] || "" })), () => []));
  return values.get(where);
}

const CHOICES = [["comm", "command"], ["pid", "process"], ["tid", "thread"], ["exe", "program"], ["uid", "user"], ["cgroup", "container, unit"], ["label", "label of a process"],
  ["event", "what was counted"], ["host", "machine"], ["epoch", "recording"], ["since", "from this time on"], ["until", "up to this time"]].map(([k, says]) => ({ word: `${k}=`, says }));

completing($("only"), keyWords(CHOICES, valuesOf));
const setBar = completing($("pm"), async (text, caret) => {
  facts ||= await fetch("/facts.json").then((r) => r.json()).then(setWords).catch(() => null);
  return facts ? facts(text, caret) : { from: caret, to: caret, options: [] };
});

useToken(app.begin());
app.onChange(() => show().then(() => app.state.epoch || fillForm()));
$("main").addEventListener("scroll", keepScroll, { capture: true, passive: true });
$("query").addEventListener("submit", (e) => {
  e.preventDefault();
  app.go({ epoch: $("epoch").value, event: $("event").value, only: $("only").value.trim(), pm: $("pm").value.trim(), z: "", o: "", at: "" });
});
$("time").addEventListener("click", () => app.go({ since: "", until: "" }));
for (const key of ["epoch", "event"])
  $(key).addEventListener("change", () => $("query").requestSubmit());
document.addEventListener("keydown", (e) => {
  const at = /** @type {Element} */ (e.target);
  if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName) && e.key !== "Escape")
    return;
  const i = Number(e.key);
  const names = Object.keys(VIEWS);
  if (i >= 1 && i <= names.length)
    app.go({ view: names[i - 1], ...OWN });
  else
    picture?.key(e);
});
document.addEventListener("click", (e) => {
  const a = /** @type {Element} */ (e.target).closest?.("a[href^='#']");
  if (!a || e.ctrlKey || e.metaKey || e.shiftKey || e.button)
    return;
  e.preventDefault();
  app.settle();
  history.pushState(null, "", a.getAttribute("href"));
  window.dispatchEvent(new PopStateEvent("popstate"));
});
show().then(fillForm); // the picture comes first
