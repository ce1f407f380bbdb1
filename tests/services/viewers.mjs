// SPDX-License-Identifier: BSD-2-Clause
// Exports as npm's speedscope shows them, in a browser: of each format that it reads, each procedure has the samples
// that it has in the recording.  Prints TAP.
//
// DWELL_SPEEDSCOPE names an unpacked package; else npm fetches one, and without it the tests are skipped.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Browser, findBrowser } from "./browser.mjs";

const SPEEDSCOPE = "speedscope@1.25.0";
const WEBGL = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]; // it draws with it
const dir = mkdtempSync(join(tmpdir(), "dwell-viewers."));
const dwell = (...args) => execFileSync(process.env.DWELL, args, { cwd: dir, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

// No two sums are alike.
const STACKS = `main;parse;read 40
main;parse 130
main;solve;inner;read 500
main;solve;inner 600
main;std::vector<int, std::allocator<int> >::push_back 7000
idle 8000
`;
const SELF = { read: 540, parse: 130, inner: 600, "std::vector<int, std::allocator<int> >::push_back": 7000, idle: 8000, main: 0, solve: 0 };

const TIMED = { first: 3, second: 11, third: 40 };

function fetchSpeedscope() {
  if (process.env.DWELL_SPEEDSCOPE)
    return process.env.DWELL_SPEEDSCOPE;
  const done = spawnSync("npm", ["install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund", SPEEDSCOPE],
    { encoding: "utf8", timeout: 240000 });
  return done.status === 0 ? join(dir, "node_modules/speedscope") : undefined;
}

// Times have samples of recordings alone: one of a program with these functions, a second apart.
function makeRecording() {
  const code = Object.keys(TIMED).map((name) => `int ${name}(int i) { return i + 1; }`).join("\n");
  execFileSync("cc", ["-shared", "-fPIC", "-o", "prog", "-xc", "-"], { cwd: dir, input: code });
  const symbols = Object.fromEntries(execFileSync("nm", ["prog"], { cwd: dir, encoding: "utf8" }).split("\n").map((l) => l.split(" ")).map(([at, , name]) => [name, at]));
  const lines = ["event cycles 1000", `image file ${join(dir, "prog")}`, "owner - - comm=worker", "thread 11 11 1000 0"];
  let at = 0;
  for (const [name, n] of Object.entries(TIMED)) {
    lines.push(`sample ${symbols[name]} ${n}`);
    for (let i = 0; i < n; i++)
      lines.push(`point ${++at * 1000000} ${symbols[name]}`);
  }
  execFileSync(process.env.MKDB, ["timed"], { cwd: dir, input: lines.join("\n") + "\n" });
}

// Rows of the table "Sandwich": {name: own samples}.
const TABLE = `(() => {
  const rows = [...document.querySelectorAll("tr")].map((r) => [...r.querySelectorAll("td")].map((c) => c.innerText.trim()));
  return rows.filter((r) => r.length >= 3).map((r) => [r[2], r[1]]);
})()`;

async function shown(browser, home, file, n) {
  const page = await browser.open(`file://${join(home, "dist/release/index.html")}#localProfilePath=none.js`, { height: 800 });
  try {
    await page.until("window.speedscope !== undefined");
    await page.run(`speedscope.loadFileFromBase64(${JSON.stringify(file)}, ${JSON.stringify(readFileSync(join(dir, file)).toString("base64"))})`);
    await page.until(`/Sandwich/.test(document.body.innerText)`);
    await page.key("3");
    await page.until(`${TABLE}.length >= ${n}`);
    return Object.fromEntries(await page.run(TABLE));
  } finally {
    await page.close();
  }
}

// "70,000 (8.0%)" or "39.50s (75%)": a number, here of seconds where that is time.
const number = (text) => Number(text.split(" (")[0].replaceAll(",", "").replace(/s$/, ""));

const tests = [["--speedscope", "a.speedscope.json"], ["--folded", "a.folded"], ["--pprof", "a.pb.gz"], ["--perf-script", "a.perf.txt"]];
console.log(`1..${tests.length}`);
let home, browser;
writeFileSync(join(dir, "in.folded"), STACKS);
if (findBrowser())
  home = fetchSpeedscope();
if (home)
  browser = await Browser.start(...WEBGL);
for (const [i, [option, file]] of tests.entries()) {
  if (!browser) {
    console.log(`ok ${i + 1} - ${option} # SKIP no browser, or no ${SPEEDSCOPE} of npm`);
    continue;
  }
  try {
    const timed = option === "--perf-script";
    const self = timed ? TIMED : SELF;
    if (timed)
      makeRecording();
    dwell("export", option, "-o", file, "--db", timed ? "timed" : "in.folded");
    const rows = await shown(browser, home, file, Object.keys(self).length);
    // It gives each sample the time until the next: seconds, less the last sample's or half of it.
    for (const [name, own] of Object.entries(self))
      assert.ok(Math.abs(number(rows[name] ?? "none") - own) <= (timed ? 1 : 0), `${name} in ${JSON.stringify(rows)}`);
    console.log(`ok ${i + 1} - ${option}`);
  } catch (e) {
    console.log(`not ok ${i + 1} - ${option}\n# ${String(e.stack).replaceAll("\n", "\n# ")}`);
  }
}
await browser?.close();
rmSync(dir, { recursive: true, force: true });
