// SPDX-License-Identifier: BSD-2-Clause
// The pages that dwell writes, opened in a browser: each shows its recording, obeys keys, says nothing on the console,
// asks for nothing over the network, and takes no name for markup.  Prints TAP.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Browser, findBrowser } from "./browser.mjs";

const tests = [];
const test = (name, run) => tests.push({ name, run });
const dir = mkdtempSync(join(tmpdir(), "dwell-pictures."));
const dwell = (...args) => execFileSync(process.env.DWELL, args, { cwd: dir, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
const database = (name, text) => execFileSync(process.env.MKDB, [name], { cwd: dir, input: text });
const url = (file) => `file://${join(dir, file)}`;

let browser;

// Opens FILE at WIDTH, has RUN look at it, and holds that nothing went wrong in it.
async function look(file, how, run) {
  const page = await browser.open(url(file), { height: 800, ...how });
  try {
    await run(page);
    assert.deepEqual(page.troubles, [], `${file} in ${JSON.stringify(how)}`);
    const wide = await page.run("document.documentElement.scrollWidth");
    assert(wide <= (how.width || 1280), `${file} is ${wide} wide in a window of ${how.width || 1280}`);
  } finally {
    await page.close();
  }
}

const text = (page, id) => page.run(`document.getElementById("${id}").textContent`);
// Its picture is whole: an outline, which comes first, takes no keys.
const ready = (page) => page.until(`document.getElementById("facts").textContent !== "" && !document.querySelector("[inert]")`);

// How many different colours the picture has: 1 is a blank one.
const colours = (page) => page.run(`(() => {
  const c = document.getElementById("canvas"), d = new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer);
  return new Set(d).size;
})()`);

const BOTH = [{ width: 1280 }, { width: 390, dark: true, touch: true }];

// Records a compiler and sleeping threads.
function record() {
  writeFileSync(join(dir, "x.c"), `${"int f(int x) { int s = 0; for (int i = 0; i < x; i++) s += i * i % 7; return s; }\n"
    .repeat(300).split("\n").map((line, i) => line.replace("f(", `f${i}(`)).join("\n")}\n`);
  const work = `for i in 1 2 3; do gcc -O2 -S -o x.s x.c; sleep 0.1; done; ${process.execPath} -e 'let s = 0; for (let i = 0; i < 3e7; i++) s += i % 7;'`;
  dwell("record", "-g", "--off-cpu", "--trace", "--by", "tid", "--db", "real", "--", "sh", "-c", work);
  dwell("record", "-g", "--db", "again", "--", "sh", "-c", work);
}

for (const [what, args] of [["from the entries down", []], ["callers", ["--callers"]], ["by thread", ["--by", "comm,tid"]], ["wall time", ["--event", "wall"]],
  ["blocked time", ["--event", "blocked"]]])
  test(`a flame graph of a recording: ${what}`, async () => {
    dwell("flame", "--db", "real", ...args, "-o", "f.html");
    for (const how of BOTH)
      await look("f.html", how, async (page) => {
        await ready(page);
        assert(await colours(page) > 5, "it is drawn");
        await page.run(`document.getElementById("canvas").focus()`);
        await page.keys("ArrowDown", "ArrowDown");
        const told = await text(page, "details");
        assert.match(told, / of all/);
        await page.key("Enter");
        await page.until(`location.hash.includes("z=")`);
        assert.equal(await page.run(`document.getElementById("reset").disabled`), false);
        for (let i = 0; i < 3; i++)
          await page.key("Escape"); // a step each
        await page.until(`document.getElementById("reset").disabled`);
        await page.keys("/", "g", "c", "c");
        await page.until(`/ % matched/.test(document.getElementById("matched").textContent)`);
      });
  });

test("two recordings laid over each other", async () => {
  dwell("flame", "--diff", "real", "again", "--event", "cpu-clock", "-o", "d.html");
  for (const how of BOTH)
    await look("d.html", how, async (page) => {
      await ready(page);
      assert(await colours(page) > 3, "it is drawn");
      await page.run(`document.getElementById("canvas").focus()`);
      await page.key("ArrowDown");
      assert.match(await text(page, "details"), /A: .*B: .*points/);
    });
});

test("time lines of threads", async () => {
  dwell("trace", "--db", "real", "-o", "t.html");
  for (const how of BOTH)
    await look("t.html", how, async (page) => {
      await ready(page);
      assert(await colours(page) > 4, "it is drawn");
      await page.run(`document.getElementById("canvas").focus()`);
      await page.keys("ArrowDown", "ArrowRight");
      assert.match(await text(page, "details"), /(running|blocked|waiting for a CPU) for [0-9.]+ (us|ms|s) from/);
      await page.key("Enter");
      await page.until(`location.hash.includes("t=")`);
      await page.keys("Escape", "Escape", "Escape", "Escape", "Escape", "Escape", "Escape", "Escape", "Escape", "Escape", "Escape");
      await page.until(`document.getElementById("reset").disabled`);
      await page.keys("/", "c", "c", "1");
      await page.until(`/[1-9][0-9]* of [0-9]+ threads/.test(document.getElementById("matched").textContent)`);
    });
});

// A program whose time is in a loop of an inlined function, and in a procedure of 24,000 instructions.
function recordLoops() {
  writeFileSync(join(dir, "loops.c"), `#include <stdint.h>
static inline __attribute__((always_inline)) uint64_t mix(uint64_t s, uint64_t n) /* <img src=x onerror=alert(4)> */
{
\tfor (uint64_t i = 0; i < n; i++)
\t\ts = s * 6364136223846793005u + (i ^ s >> 7);
\treturn s;
}
__attribute__((noinline)) uint64_t large(uint64_t s) { __asm__ volatile(".rept 24000\\n add $1, %0\\n .endr" : "+r"(s)); return s; }
int main(void) { uint64_t s = 1; for (int i = 0; i < 3000; i++) s = large(mix(s, 20000)); return s == 3; }
`);
  execFileSync("gcc", ["-O1", "-g", "-o", "loops", "loops.c"], { cwd: dir });
  dwell("record", "--db", "loops.db", "-c", "500000", "-e", "cpu-clock", "--", "./loops");
}

const rowsIn = (page, side) => page.run(`document.querySelectorAll("#${side} .row").length`);

test("a listing: source and code side by side", async () => {
  recordLoops();
  dwell("list", "--db", "loops.db", "mix", "-o", "l.html");
  for (const how of BOTH)
    await look("l.html", how, async (page) => {
      await ready(page);
      assert.match(await text(page, "title"), /^mix, inlined into main/);
      assert.match(await text(page, "source"), /<img src=x onerror=alert\(4\)>/);
      assert(await page.run(`document.querySelectorAll("#code .arrows path").length`) >= 2, "a jump has an arrow");
      assert(await page.run(`document.querySelectorAll("#code .arrows rect").length`) >= 1, "a loop has a bar");
      assert.match(await text(page, "details"), /loops\.c:[45].*of the procedure.*of all/);
      const both = await page.run(`["source", "code"].map((side) => document.querySelectorAll("#" + side + " .row.chosen").length)`);
      assert(both[0] === 1 && both[1] >= 1, "an instruction and its line are marked");
      await page.keys("n", "n");
      assert.match(await text(page, "where"), /of [0-9]+ hot rows/);
      const all = await rowsIn(page, "code");
      await page.run(`document.getElementById("hot").click()`);
      assert(await rowsIn(page, "code") <= all);
      await page.run(`document.querySelector("#source .row.line").click()`);
      assert.equal(await page.run(`document.querySelectorAll("#source .row.chosen").length`), 1);
      await page.key("Escape");
      assert.equal(await page.run(`document.querySelectorAll(".row.chosen").length`), 0);
    });
});

test("a graph: blocks, ways between them, the hottest first", async () => {
  recordLoops();
  // As callgrind would count: once what is in no loop, 1000 times what is.
  const { rows, image } = JSON.parse(dwell("list", "--db", "loops.db", "main", "--asm", "--json"));
  writeFileSync(join(dir, "loops.counts"), `# callgrind format\npositions: instr line\nevents: Ir\nob=${image}\nfn=main\n${rows.map((r) => `${r.svma} 1 ${r.loops ? 1000 : 1}`).join("\n")}\n`);
  dwell("calc", "--db", "loops.db", "main", "--counts", "loops.counts", "--mhz", "2000", "-o", "g.html");
  for (const how of BOTH)
    await look("g.html", how, async (page) => {
      await page.until(`document.querySelectorAll(".graph .block").length > 2`);
      assert.equal(await page.run(`document.querySelectorAll(".graph .block.chosen").length`), 1);
      const widths = await page.run(`[...document.querySelectorAll(".graph .edge")].map((e) => Number(e.getAttribute("stroke-width")))`);
      assert(Math.max(...widths) === 12 && Math.min(...widths) === 1, "edges are as wide as they are hot");
      assert(await page.run(`document.querySelectorAll(".graph .edge.back").length`) >= 1, "a loop goes back");
      assert(await page.run(`document.querySelectorAll(".insns tr").length`) >= 2);
      await page.key("Escape");
      assert.equal(await page.run(`document.querySelectorAll(".graph .block.chosen").length`), 0);
      await page.key("h");
      assert.equal(await page.run(`document.querySelectorAll(".graph .block.chosen").length`), 1);
      assert.equal(await page.run("document.documentElement.scrollWidth > document.documentElement.clientWidth"), false);
    });
});

test("a listing of 24,000 instructions", async () => {
  dwell("list", "--db", "loops.db", "large", "-o", "large.html");
  await look("large.html", {}, async (page) => {
    await ready(page);
    assert(await rowsIn(page, "code") < 300, "rows out of sight are no nodes");
    await page.run(`document.getElementById("code").scrollTop = 20 * 20000`);
    await page.until(`/add/.test(document.getElementById("code").textContent)`);
    assert(await page.run(`document.getElementById("code").scrollTop`) > 20 * 19000);
  });
});

test("an SVG picture", async () => {
  dwell("flame", "--db", "real", "-o", "f.svg");
  await look("f.svg", {}, async (page) => {
    assert(await page.run("document.querySelectorAll('rect').length") > 20);
    assert.equal(await page.run("document.querySelectorAll('script').length"), 0);
  });
});

const HOSTILE = ["</script><script>alert(1)</script>", "<img src=http://127.0.0.1:9/x onerror=alert(2)>", "]]>&lt;&#x3c;", "\u202egnp.exe", "\u05d0\u05d1\u05d2 \u0627\u0644\u0639",
  "__proto__", "constructor", `long${"x".repeat(10000)}`, "'\"`${alert(3)}", "a\u0001b"];

test("hostile names are text", async () => {
  database("hostile", `event cycles 1\n${HOSTILE.map((n, i) => `image file /${n.replace(/[\n ]/g, "_")}\nowner - - comm=${n.replace(/[\n ]/g, "_").slice(0, 200)}\nsample ${16 + i} ${100 - i}`).join("\n")}\n`);
  for (const ext of ["html", "svg"]) {
    dwell("flame", "--db", "hostile", "--by", "comm,image", "-o", `h.${ext}`);
    for (const how of BOTH)
      await look(`h.${ext}`, ext === "svg" ? {} : how, async (page) => {
        if (ext === "html") {
          await ready(page);
          await page.run(`document.getElementById("canvas").focus()`);
          await page.keys("ArrowDown", "ArrowDown");
          for (let i = 0; i < HOSTILE.length; i++)
            await page.key("ArrowRight");
          await page.keys("/", "_", "p");
          await page.until(`/ % matched/.test(document.getElementById("matched").textContent)`);
        }
        assert.equal(await page.run("document.querySelectorAll('img, iframe').length"), 0);
        assert.equal(await page.run("document.scripts.length"), ext === "html" ? 2 : 0);
      });
  }
});

test("hostile names are text in time lines", async () => {
  database("lines", `event cpu-clock 1000000\n${HOSTILE.map((n, i) => `image file /${n.replace(/[\n ]/g, "_")}\nowner - - comm=${n.replace(/[\n ]/g, "_").slice(0, 200)}\n`
    + `sample 1000 1\nthread 7 ${7 + i} 1000 90000\npoint ${5000 + 3000 * i} 1000\npoint ${6000 + 3000 * i} 2000`).join("\n")}\n`);
  dwell("trace", "--db", "lines", "-o", "l.html");
  for (const how of BOTH)
    await look("l.html", how, async (page) => {
      await ready(page);
      await page.run(`document.getElementById("canvas").focus()`);
      for (let i = 0; i < HOSTILE.length; i++)
        await page.keys("ArrowDown", "ArrowRight");
      await page.keys("/", "x");
      await page.until(`/ of 10 threads/.test(document.getElementById("matched").textContent)`);
      assert.equal(await page.run("document.querySelectorAll('img, iframe').length"), 0);
      assert.equal(await page.run("document.scripts.length"), 2);
    });
});

test("a recursion of 4,000 levels and 30,000 names", async () => {
  const frames = Array.from({ length: 4000 }, (_, i) => `frame ${(0x1000 + 16 * (i % 7)).toString(16)}`).join("\n");
  const names = Array.from({ length: 30000 }, (_, i) => `image file /usr/lib/lib${i}.so\nsample 1000 ${1 + i % 9}`).join("\n");
  database("large", `event cycles 1\nimage file /tmp/x\nowner - - comm=x\n${frames}\nsample 1000 300000\npath\n${names}\n`);
  dwell("flame", "--db", "large", "--by", "image", "-o", "names.html");
  dwell("flame", "--db", "large", "--by", "address", "-o", "deep.html");
  for (const file of ["names.html", "deep.html"])
    await look(file, {}, async (page) => {
      await ready(page);
      assert(await colours(page) > 2, "it is drawn");
      await page.run(`document.getElementById("canvas").focus()`);
      await page.keys("ArrowDown", "Enter", "ArrowDown");
      assert.match(await text(page, "details"), / of all/);
      await page.click(5, 700);
      await page.key("Escape");
    });
});

test("an altered script does not run", async () => {
  writeFileSync(join(dir, "altered.html"), readFileSync(join(dir, "h.html"), "utf8").replace(/<script>/, "<script>document.title='altered';"));
  const page = await browser.open(url("altered.html"));
  await page.until("document.readyState === 'complete'");
  assert.notEqual(await page.run("document.title"), "altered");
  assert.equal(await text(page, "facts"), "");
  await page.close();
});

if (!findBrowser()) {
  console.log("1..0 # SKIP no chromium-headless-shell (tools/install-packages packages.services)");
  process.exit(0);
}
console.log(`1..${tests.length + 1}`);
try {
  record();
  browser = await Browser.start();
  console.log("ok 1 - recordings and a browser");
  for (const [i, { name, run }] of tests.entries()) {
    try {
      await run();
      console.log(`ok ${i + 2} - ${name}`);
    } catch (e) {
      console.log(`not ok ${i + 2} - ${name}\n# ${String(e.stack).replaceAll("\n", "\n# ")}`);
    }
  }
} catch (e) {
  console.log(`not ok 1 - recordings and a browser\n# ${String(e.stack + (e.stderr || "")).replaceAll("\n", "\n# ")}`);
}
await browser?.close();
rmSync(dir, { recursive: true, force: true });
