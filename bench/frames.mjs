// SPDX-License-Identifier: BSD-2-Clause
// What frames of a flame graph cost in a browser:
//
//     node frames.mjs ROUNDS NAME=dwell:PAGE.html... NAME=web:DWELL:DATABASE... NAME=speedscope:INDEX.html:STACKS.txt...
//
// Pages take turns; "web" is the page of `dwell web`.  Each round opens a page anew, waits for its first picture, then
// zooms in and out, searches and hovers at the same places while the browser traces itself.  Prints a line of JSON for each
// page: first paint, when all boxes are there, and for the frames of zooming, of searching and of hovering milliseconds of script and layout (as the
// clock went, and of CPU), of the main thread in all, and between frames.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, extname } from "node:path";
import { Browser } from "../tests/services/browser.mjs";

const [WIDTH, HEIGHT] = [1600, 900];
const CATEGORIES = "devtools.timeline,disabled-by-default-devtools.timeline,toplevel,loading,blink.user_timing";
const SCRIPT_AND_LAYOUT = new Set(["EvaluateScript", "FunctionCall", "FireAnimationFrame", "EventDispatch", "TimerFire", "v8.compile",
  "UpdateLayoutTree", "Layout", "PrePaint", "Paint", "MinorGC", "MajorGC", "RunMicrotasks"]);

const PAUSE_MS = 300; // between zooms, which take less
const WEBGL = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]; // speedscope needs it
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// Milliseconds by which INTERVALS, [start, end] in microseconds, cover each of the stretches between EDGES.
function covered(intervals, edges) {
  const sums = new Float64Array(Math.max(0, edges.length - 1));
  intervals.sort((a, b) => a[0] - b[0]);
  let reach = -Infinity, k = 0;
  for (const [from, to] of intervals) {
    let at = Math.max(from, reach);
    reach = Math.max(reach, to);
    while (k + 1 < edges.length && edges[k + 1] <= at)
      k++;
    for (let i = k; i + 1 < edges.length && at < to; i++) {
      if (edges[i + 1] <= at)
        continue;
      const begin = Math.max(at, edges[i]);
      if (begin >= to)
        break;
      sums[i] += (Math.min(to, edges[i + 1]) - begin) / 1000;
      at = edges[i + 1];
    }
  }
  return [...sums];
}

// Frames of a trace: each goes from one commit of the main thread to the next.  Those that drew nothing are left out, where the
// picture is DRAWN anew, else those in which no script ran.
function framesOf(events, drawn) {
  const marks = events.filter((e) => e.name === "FireAnimationFrame" || e.name === "EventDispatch");
  const threads = new Map();
  for (const e of marks)
    threads.set(`${e.pid}.${e.tid}`, (threads.get(`${e.pid}.${e.tid}`) || 0) + 1);
  const main = [...threads].sort((a, b) => b[1] - a[1])[0]?.[0];
  const here = events.filter((e) => `${e.pid}.${e.tid}` === main);
  const edges = here.filter((e) => e.ph === "X" && e.name === "Commit").map((e) => e.ts + e.dur).sort((a, b) => a - b);
  const spans = (names) => here.filter((e) => e.ph === "X" && names(e.name)).map((e) => [e.ts, e.ts + (e.dur || 0), (e.tdur || 0) / 1000]);
  const script = spans((n) => SCRIPT_AND_LAYOUT.has(n)), clock = covered(script, edges), cpu = cpuOf(script, edges);
  const all = covered(spans((n) => n === "RunTask" || n === "ThreadControllerImpl::RunTask"), edges);
  const drew = covered(spans((n) => n === "FireAnimationFrame"), edges);
  return edges.slice(1).map((e, i) => ({ clock: clock[i], cpu: cpu[i], all: all[i], drew: drew[i], gap: (e - edges[i]) / 1000 })).filter((f) => drawn ? f.drew > 0 : f.clock > 0);
}

// Milliseconds of CPU of INTERVALS, [start, end, milliseconds], that lie in no other one, by where they end between EDGES.
function cpuOf(intervals, edges) {
  const sums = new Float64Array(Math.max(0, edges.length - 1));
  let reach = -Infinity, k = 0;
  for (const [from, to, ms] of intervals.sort((a, b) => a[0] - b[0] || b[1] - a[1])) {
    if (to <= reach)
      continue;
    reach = to;
    while (k + 1 < edges.length && edges[k + 1] < to)
      k++;
    if (k < sums.length && to > edges[k])
      sums[k] += ms;
  }
  return sums;
}

async function trace(page, run) {
  const events = [];
  page.on("Tracing.dataCollected", (p) => events.push(...p.value));
  const complete = new Promise((done) => page.on("Tracing.tracingComplete", done));
  await page.send("Tracing.start", { categories: CATEGORIES, transferMode: "ReportEvents" });
  await run();
  await page.send("Tracing.end");
  await complete;
  return events;
}

// Where a zoom begins: fractions of the picture's width, and levels.
const PLACES = [[0.1, 3], [0.5, 4], [0.3, 6], [0.8, 5], [0.62, 8], [0.05, 9], [0.45, 7], [0.93, 3], [0.2, 12], [0.7, 10]];

const WORDS = ["f1a", "a4", "main", "f2"]; // to search for, a letter at a time

async function typeWords(page) {
  for (const word of WORDS) {
    for (const c of word) {
      await page.key(c);
      await pause(120);
    }
    for (let k = 0; k < word.length; k++)
      await page.key("Backspace");
    await pause(PAUSE_MS);
  }
}

async function hoverFrom(page, top) {
  for (const [x, level] of PLACES)
    for (let k = 0; k < 12; k++) {
      await page.move(Math.round(WIDTH * Math.min(0.98, x + 0.004 * k)), top + (level % 6 + k % 3) * 18 + 9);
      await pause(16);
    }
}

// A flame graph of ours, in the element FIND.
const ours = (find, reset, search) => ({
  drawn: `performance.getEntriesByName("whole-picture").length ? performance.getEntriesByName("first-picture")[0].startTime : 0`,
  whole: `performance.getEntriesByName("whole-picture")[0].startTime`,
  top: (page) => page.run(`${find}.getBoundingClientRect().top`),
  async zoom(page) {
    const top = await this.top(page);
      for (const [x, level] of PLACES) {
        for (let k = 0; k < 3; k++) { // further in, at one place
          await page.click(Math.round(WIDTH * x), top + (level + k) * 18 + 9);
          await pause(PAUSE_MS);
        }
        await page.run(`${reset}.click()`);
        await pause(PAUSE_MS);
      }
  },
  async search(page) {
    await page.run(`${search}.focus()`);
    await typeWords(page);
  },
  async hover(page) {
    await hoverFrom(page, await this.top(page));
  },
});

const byId = (id) => `document.getElementById("${id}")`;
const kinds = {
  dwell: { url: ([file]) => `file://${file}`, ...ours(byId("view"), byId("reset"), byId("search")) },
  web: {
    async url([program, db]) {
      this.server?.kill();
      this.server = spawn(program, ["web", "--db", db, "--listen", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] });
      let said = "";
      while (!said.includes("\n"))
        said += await new Promise((done) => this.server.stdout.once("data", done));
      const [address, token] = said.trim().split("/#token=");
      return `${address}/#view=flame&by=address&token=${token}`;
    },
    ...ours(`document.querySelector(".flame")`, `[...document.querySelectorAll(".tools button")].find((b) => b.textContent === "Show all")`,
      `document.querySelector(".tools input[type=search]")`),
    end() {
      this.server?.kill();
    },
  },
  speedscope: {
    url: ([index, stacks], base) => `${base}${index}#profileURL=${encodeURIComponent(`${base}${stacks}`)}`,
    drawn: `[...document.querySelectorAll("canvas")].length >= 2 && document.body.innerText.includes("Left Heavy") ? performance.now() : 0`,
    async prepare(page) {
      await page.key("2"); // "Left Heavy": equal stacks are one, as in a flame graph
      await pause(1500);
    },
    async zoom(page) {
      const top = 133; // its rows have no level for the whole
      for (const [x, level] of PLACES) {
        for (let k = 0; k < 3; k++) {
          const at = [Math.round(WIDTH * x), top + (level + k) * 20];
          await page.move(...at);
          for (const clickCount of [1, 2])
            for (const type of ["mousePressed", "mouseReleased"])
              await page.send("Input.dispatchMouseEvent", { type, x: at[0], y: at[1], button: "left", clickCount });
          await pause(PAUSE_MS);
        }
        await page.key("0"); // all of it
        await pause(PAUSE_MS);
      }
    },
    async search(page) {
      const what = { key: "f", windowsVirtualKeyCode: 70, modifiers: 2 };
      for (const type of ["rawKeyDown", "keyUp"])
        await page.send("Input.dispatchKeyEvent", { type, ...what });
      await pause(PAUSE_MS);
      await typeWords(page);
      await page.key("Escape");
      await pause(PAUSE_MS);
    },
    hover: (page) => hoverFrom(page, 133),
  },
};

function quantile(numbers, q) {
  const v = [...numbers].sort((a, b) => a - b);
  return v.length ? v[Math.min(v.length - 1, Math.floor(q * v.length))] : null;
}

function serve() {
  const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".txt": "text/plain", ".wasm": "application/wasm" };
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url.split(/[?#]/)[0]);
    try {
      const body = readFileSync(path);
      response.writeHead(200, { "Content-Type": types[extname(path)] || "application/octet-stream" });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server)));
}

const [rounds, ...specs] = process.argv.slice(2);
const server = await serve(), base = `http://127.0.0.1:${server.address().port}`;
const pages = specs.map((s) => {
  const [, name, kind, rest] = /^([^=]+)=(\w+):(.*)$/.exec(s);
  return { name, kind, parts: rest.split(":"), paint: [], whole: [], frames: { zoom: [], search: [], hover: [] } };
});
for (let round = 0; round < Number(rounds); round++)
  for (const p of pages) {
    const kind = kinds[p.kind], browser = await Browser.start(...WEBGL);
    try {
      const page = await browser.open(await kind.url(p.parts, base), { width: WIDTH, height: HEIGHT });
      p.paint.push(await page.until(kind.drawn, 120));
      if (kind.whole)
        p.whole.push(await page.run(kind.whole));
      await kind.prepare?.(page);
      for (const action of Object.keys(p.frames))
        p.frames[action].push(...framesOf(await trace(page, () => kind[action](page)), action !== "hover"));
    } finally {
      kind.end?.();
      await browser.close();
    }
  }
server.close();
function figures(frames) {
  const of = (key, most = Infinity) => {
    const v = frames.map((f) => f[key]).filter((n) => n < most);
    return { median: quantile(v, 0.5), p99: quantile(v, 0.99), most: Math.max(...v) };
  };
  return { frames: frames.length, script_and_layout_ms: of("clock"), script_and_layout_cpu_ms: of("cpu"), main_thread_ms: of("all"),
    between_frames_ms: of("gap", PAUSE_MS / 3) };
}

for (const { name, paint, whole, frames } of pages)
  console.log(JSON.stringify({ name, first_paint_ms: quantile(paint, 0.5), whole_ms: quantile(whole, 0.5), ...figures(frames.zoom), search: figures(frames.search), hover: figures(frames.hover) }));
