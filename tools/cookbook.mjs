#!/usr/bin/env node
// SPDX-License-Identifier: BSD-2-Clause
// Makes the pictures of docs/cookbook.md anew, and prints the tables that stand beside them there:
//
//     tools/cookbook.mjs [BUILD]        as root, in a build; needs gcc, perf and Debian's chromium-headless-shell
//
// The programs are demo/loop.c and demo/wait.py; the recordings stay below /tmp/cookbook until the next run.  docs/pictures/
// calc.png is of a recording that others published: `dwell calc main -o main.html` as the cookbook says, then
// `tools/cookbook.mjs BUILD main.html`.  docs/flame.svg is made by `make demo`.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Browser } from "../tests/services/browser.mjs";

const top = dirname(dirname(fileURLToPath(import.meta.url))), pictures = join(top, "docs/pictures"), dir = "/tmp/cookbook";
const dwell = resolve(process.argv[2] || join(top, "build"), "dwell"), page = process.argv[3];
const env = { ...process.env, COLUMNS: "100", DWELLDB: join(dir, "db"), DWELL_JOB: "" };
const run = (program, ...args) => execFileSync(program, args, { cwd: dir, env, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
const record = (...args) => run(dwell, "record", ...args);

// Runs a command of the cookbook and prints what it says.
function show(...args) {
  console.log(`$ dwell ${args.join(" ")}`);
  console.log(run(dwell, ...args, "--no-pager"));
}

const draw = (name, ...args) => run(dwell, "flame", ...args, "-o", join(pictures, name));

const browser = await Browser.start();

// A picture of URL as WIDTH x HEIGHT, once UNTIL holds there and AND has been run.
async function shoot(name, url, until, { width = 1280, height = 640, and = "" } = {}) {
  const shown = await browser.open(url, { width, height });
  await shown.until(until);
  if (and)
    await shown.run(and);
  await new Promise((done) => setTimeout(done, 1000)); // labels come in later frames
  await shown.picture(join(pictures, name));
  const wrong = shown.troubles.filter((t) => !t.startsWith(`request: ${new URL(url).origin}/`) && !/ 40[04] /.test(t)); // what a perf.data has not
  if (wrong.length)
    throw new Error(`${name}: ${wrong}`);
  await shown.close();
}

// Pictures of `dwell web` of DB: [name, address, and] each.
async function shootWeb(db, ...views) {
  const server = spawn(dwell, ["web", "--db", db], { cwd: dir, env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((done) => server.on("exit", done));
  const [base, token] = String(await new Promise((done) => server.stdout.once("data", done))).trim().split("/#token=");
  try {
    for (const [name, address, and] of views)
      await shoot(name, `${base}/#${address}&token=${token}`, `/ ms$/.test(document.getElementById("status").textContent)`, { and });
  } finally {
    server.kill("SIGTERM");
    await ended;
  }
}

async function makeAll() {
  rmSync(dir, { recursive: true, force: true });
  for (const [version, ...options] of [["v1"], ["v2", "-DROWS"]]) {
    mkdirSync(join(dir, version), { recursive: true });
    run("cp", join(top, "demo/loop.c"), version);
    run("gcc", "-O1", "-g", ...options, `${dir}/${version}/loop.c`, "-o", `${version}/loop`);
  }
  run("cp", join(top, "demo/wait.py"), ".");

  record("-g", "--off-cpu", "--trace", "--wakers", "--db", "waits", "--", "/usr/bin/python3", "wait.py");
  show("prof", "--db", "waits", "--keep", "85", "--no-inclusive", "--no-header");
  show("prof", "--db", "waits", "--event", "cpu-clock", "--keep", "60", "--no-header");
  draw("service.svg", "--db", "waits", "--event", "cpu-clock", "--percent-limit", "1");
  draw("waits.svg", "--db", "waits", "--by", "tid", "--percent-limit", "0.3");
  await shootWeb("waits", ["page-service.png", "view=flame&event=cpu-clock&q=sign"], ["page-waits.png", "view=flame&by=tid"]);
  run(dwell, "trace", "--db", "waits", "--comm", "python3", "-o", "lines.html");
  await shoot("lines.png", `file://${dir}/lines.html`, `document.getElementById("facts").textContent !== ""`, { width: 1000, height: 330 });

  record("-g", "-F", "4000", "--db", "a", "--", `${dir}/v1/loop`);
  show("prof", "--db", "a", "--keep", "95", "--no-header");
  show("list", "multiply", "loop", "--db", "a", "--no-header");
  draw("loop.svg", "--db", "a", "--by", "line");
  await shootWeb("a", ["page-loop.png", "view=code&procedure=multiply"]);

  record("-g", "-F", "4000", "--label", "old", "--", `${dir}/v1/loop`);
  record("-g", "-F", "4000", "--label", "new", "--", `${dir}/v2/loop`);
  show("diff", "--absolute", "label=old", "label=new", "--no-header", "--epoch", "all");
  draw("changed.svg", "--diff", "label=old", "label=new", "--epoch", "all");
  await shootWeb(env.DWELLDB, ["page-changed.png", "view=compare&a=label%3Dold&b=label%3Dnew&abs=1&epoch=all"]);

  run("perf", "record", "-q", "-g", "-e", "cpu-clock", "-F", "2000", "-o", "perf.data", "--", `${dir}/v2/loop`);
  await shootWeb("perf.data", ["page-perf.png", "view=table"]);
}

try {
  if (page)
    await shoot("calc.png", `file://${resolve(page)}`, `document.readyState === "complete"`);
  else
    await makeAll();
} finally {
  await browser.close();
}
