// SPDX-License-Identifier: BSD-2-Clause
// `dwell web` in a browser: each view shows a real recording, obeys keys, is kept in its address, asks nobody else, and
// takes no name for markup; who may not ask is refused.  Prints TAP.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { connect } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { Browser, findBrowser } from "./browser.mjs";

const tests = [];
const only = process.argv[2] || ""; // of a test's name
const test = (name, how, run = how) => name.includes(only) && tests.push({ name, run, skip: how.skip });
const dir = mkdtempSync(join(tmpdir(), "dwell-web."));
const dwell = (...args) => execFileSync(process.env.DWELL, args, { cwd: dir, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
let browser, server;

// Serves DB; { base, token, end }.
async function serve(db, ...options) {
  const child = spawn(process.env.DWELL, ["web", "--db", db, ...options], { cwd: dir, stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (chunk) => { said += chunk; });
  const ended = new Promise((done) => child.on("exit", done));
  while (!said.includes("\n"))
    await Promise.race([new Promise((done) => child.stdout.once("data", done)), ended.then(() => { throw new Error("dwell web ended"); })]);
  const [base, token] = said.trim().split("/#token=");
  return { base, token, pid: child.pid, end: () => { child.kill("SIGTERM"); return ended; } };
}

// Opens ADDRESS of the page and has RUN look at it.
async function look(address, how, run, from = server) {
  const page = await browser.open(`${from.base}/#${address}&token=${from.token}`, { height: 800, ...how });
  try {
    await page.until(`/ ms$/.test(document.getElementById("status").textContent) || !document.getElementById("trouble").hidden`);
    await run(page);
    const foreign = page.troubles.filter((t) => !t.startsWith(`request: ${from.base}/`) && !/^log: Failed to load resource.* 40[04] /.test(t));
    assert.deepEqual(foreign, [], address);
    const wide = await page.run("document.documentElement.scrollWidth");
    assert(wide <= (how.width || 1280), `${address} is ${wide} wide in a window of ${how.width || 1280}`);
    assert(!(await page.run("location.href")).includes(from.token), "the token left the address");
  } finally {
    await page.close();
  }
}

const BOTH = [{ width: 1280 }, { width: 390, dark: true, touch: true }];
const main = (page) => page.run(`document.getElementById("main").innerText`);
const trouble = (page) => page.run(`document.getElementById("trouble").textContent`);

// Status and body of PATH with HEADERS.
const request = (path, headers = {}, base = server.base) => new Promise((done, fail) => get(`${base}${path}`, { headers, agent: false }, (r) => {
  let body = "";
  r.on("data", (chunk) => { body += chunk; });
  r.on("end", () => done({ status: r.statusCode, body, headers: r.headers }));
}).on("error", fail));

test("overview: what was recorded, and who used the time", async () => {
  for (const how of BOTH)
    await look("view=overview", how, async (page) => {
      assert.match(await main(page), /cpu-clock/);
      assert.match(await main(page), /cc1/);
    });
});

test("table: rows are sorted by click, a procedure opens its callers", async () => {
  for (const how of BOTH)
    await look("view=table", how, async (page) => {
      const first = () => page.run(`document.querySelector("tbody td.name").textContent`);
      const hottest = await first();
      await page.run(`document.querySelector("th button").click()`);
      assert.notEqual(await first(), hottest, "sorted the other way round");
      await page.run(`document.querySelector("tbody td.name button").click()`);
      await page.until(`/Called by/.test(document.getElementById("main").innerText)`);
      assert.match(await page.run("location.hash"), /view=around&.*procedure=|procedure=.*view=around/);
      await page.run("history.back()");
      await page.until(`/ rows/.test(document.getElementById("main").innerText)`);
    });
});

test("flame graph: drawn, searched, zoomed by keys, and a link is the same view", async () => {
  for (const how of BOTH)
    await look("view=flame", how, async (page) => {
      const colours = `(() => { const c = document.querySelector(".flame canvas");
        return new Set(new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer)).size; })()`;
      await page.until(`${colours} > 5`);
      await page.keys("/");
      for (const c of "cc1")
        await page.key(c);
      await page.until(`/[#&]q=cc1/.test(location.hash)`);
      await page.run(`document.querySelector(".flame canvas").focus()`);
      await page.keys("ArrowDown", "ArrowDown", "Enter");
      await page.until(`/z=[0-9a-f]{8}/.test(location.hash)`);
      const hash = await page.run("location.hash");
      await look(hash.slice(1), how, async (other) => {
        assert.equal(await other.run("location.hash"), hash);
        assert.equal(await other.run(`document.querySelector(".tools button").disabled`), false, "it is zoomed");
      });
    });
});

test("tree: arrow keys open and close", async () => {
  await look("view=tree", BOTH[0], async (page) => {
    const rows = () => page.run(`document.querySelectorAll("tbody tr").length`);
    const before = await rows();
    await page.run(`document.querySelector("tbody button").focus()`);
    await page.keys("ArrowLeft");
    assert(await rows() < before, "closed");
    await page.keys("ArrowRight");
    assert(await rows() > 1, "open again");
  });
});

test("code: instructions of a procedure with their samples", async () => {
  for (const how of BOTH)
    await look("view=code&procedure=hot_loop", how, async (page) => {
      assert.match(await main(page), /%[\s\S]*[0-9a-f]{4}/);
      assert.match(await main(page), /volatile unsigned s/);
      assert(await page.run(`document.querySelectorAll(".arrows path").length`) >= 2, "jumps have arrows");
      await page.run(`document.getElementById("code").focus()`);
      await page.keys("n", "ArrowDown");
      await page.until(`/at=insn/.test(location.hash)`);
    });
});

test("compare: what changed, in shares and in amounts, as a table and as a picture", async () => {
  for (const [start, n] of [[1700000000, 900], [1700001000, 300]])
    execFileSync(process.env.MKDB, ["changed"], { cwd: dir,
      input: `recording h ${start}\nevent cycles 1000\nowner - - comm=x\nimage file /bin/x\nsample 16 ${n}\nimage file /bin/y\nsample 16 1000\n` });
  const other = await serve("changed", "--listen", "127.0.0.1:0");
  const [a, b] = JSON.parse(dwell("epochs", "--json", "--db", "changed")).rows.map((r) => r.epoch);
  try {
    await look(`view=compare&a=${a}&b=${b}`, BOTH[0], async (page) => assert.match(await main(page), /2 procedures changed[\s\S]*-24.29 points[\s\S]*\+24.29 points|\+24.29 points[\s\S]*-24.29 points/), other);
    await look(`view=compare&abs=1&a=${a}&b=${b}`, BOTH[1], async (page) => assert.match(await main(page), /A \d{14}[\s\S]*B \d{14}[\s\S]*1 procedure changed[\s\S]*-31.58 % of A/), other);
    await look(`view=compare&picture=1&a=${a}&b=${b}`, BOTH[0], async (page) => page.until(`document.querySelector(".flame canvas")`), other);
  } finally {
    await other.end();
  }
});

test("threads: time lines with states, searched and zoomed; the address keeps both", async () => {
  dwell("record", "-g", "--off-cpu", "--trace", "--db", "lines", "--", "sh", "-c", "./hot; sleep 0.2; ./hot");
  const other = await serve("lines", "--listen", "127.0.0.1:0");
  try {
    for (const how of BOTH)
      await look("view=threads", how, async (page) => {
        const colours = `(() => { const c = document.querySelector(".flame canvas");
          return new Set(new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer)).size; })()`;
        await page.until(`${colours} > 3`);
        await page.run(`document.querySelector(".flame canvas").focus()`);
        await page.keys("+", "ArrowDown", "ArrowRight");
        await page.until(`/t=\\d+\\.\\.\\d+|t=\\d+/.test(decodeURIComponent(location.hash))`);
        assert.match(await main(page), /for [\d.]+ (ms|us|s)/, "what a thread did is told");
      }, other);
  } finally {
    await other.end();
  }
});

test("a recording with waits: every view is of wall time, as the commands are; other events can be chosen", async () => {
  dwell("record", "-g", "--off-cpu", "--db", "waits", "--", "sh", "-c", "./hot; sleep 0.3");
  const other = await serve("waits", "--listen", "127.0.0.1:0");
  const heads = (page) => page.run(`[...document.querySelectorAll("thead th")].filter((e) => e.getClientRects().length).map((e) => e.innerText.replace(/ .$/, "")).join("|")`);
  try {
    for (const how of BOTH) {
      await look("view=table", how, async (page) => {
        assert.match(await heads(page), how.touch ? /^Share\|With callees\|Procedure/ : /^Share\|wall\|With callees\|Procedure\|Image$/);
        await page.until(`document.getElementById("event").selectedOptions[0]?.textContent === "wall"`);
        assert.match(await main(page), how.touch ? /%/ : /\d (s|ms)\b/);
      }, other);
      await look("view=overview", how, async (page) => assert.match(await main(page), /What was recorded and lost[\s\S]*blocked\s+[\d.]+ m?s[\s\S]*cpu-clock\s+\d/), other);
      await look("view=flame", how, async (page) => {
        assert.match(await main(page), /wall: [\d.]+ m?s;[\s\S]*running[\s\S]*waiting for a CPU[\s\S]*blocked/);
        await page.run(`[...document.querySelectorAll(".tools button")].find((b) => b.textContent === "Colour by code").click()`);
        assert.match(await page.run("location.hash"), /colour=code/);
      }, other);
      await look("view=flame&colour=code", how, async (page) => assert.match(await main(page), /Colour by state/), other);
      await look("view=tree", how, async (page) => assert.match(await main(page), /\d (s|ms)\b/), other);
      await look("view=code&procedure=hot_loop", how, async (page) => assert.match(await main(page), /wall/), other);
    }
    await look("view=table&event=states", BOTH[0], async (page) => assert.match(await heads(page), /^Share\|wall\|running\|runnable\|blocked\|/), other);
    await look("view=table&event=cpu-clock", BOTH[0], async (page) => assert.match(await heads(page), /^Share\|cpu-clock\|With/), other);
  } finally {
    await other.end();
  }
});

test("errors of the query bar are those of the command, and stand under what is wrong", async () => {
  for (const how of BOTH)
    await look("view=table&pm=retired%5E%5E", how, async (page) => {
      assert.match(await trouble(page), /retired\^\^\n\s+\^/);
      assert.match(await page.until(`document.querySelector(".caret:not([hidden])")?.textContent`), /^ {8}\^ expected a sample set here$/);
      assert.equal(await page.run(`document.getElementById("pm").selectionStart`), 8);
    });
  await look("view=table&event=nothing", BOTH[0], async (page) => assert.match(await trouble(page), /no samples of event/));
});

test("the query bar completes keys, values, facts and operators at the caret", async () => {
  const options = `[...document.querySelectorAll(".options:not([hidden]) b")].map((b) => b.textContent).join(" ")`;
  const type = async (page, text) => {
    for (const c of text)
      await page.key(c);
  };
  await look("view=table", BOTH[0], async (page) => {
    const value = (id) => page.run(`document.getElementById("${id}").value`);
    await page.run(`document.getElementById("only").focus()`);
    await type(page, "com");
    await page.until(`${options} === "comm="`);
    await page.key("Tab");
    await page.until(`/\\bcc1\\b/.test(${options})`);
    await type(page, "c");
    await page.until(`/^cc1/.test(${options})`);
    await page.keys("ArrowDown", "Enter");
    assert.equal(await value("only"), "comm=cc1");
    assert.equal(await page.run(`document.getElementById("only-options").hidden`), true);
    await page.key("Enter");
    await page.until(`/only=comm%3Dcc1/.test(location.hash)`);
    await page.run(`document.getElementById("pm").focus()`);
    await type(page, "reti");
    await page.until(`/^retired/.test(${options})`);
    await page.key("Tab");
    assert.equal(await value("pm"), "retired");
    await type(page, "^!misp");
    await page.until(`/^mispredict/.test(${options})`);
    await page.keys("Tab");
    await type(page, ":lat");
    await page.until(`/^latency/.test(${options})`);
    await page.keys("ArrowDown", "Enter");
    assert.equal(await value("pm"), "retired^!mispredict:latency");
    await page.run(`document.getElementById("pm").value = "retired"; document.getElementById("pm").setSelectionRange(7, 7)`);
    await page.key("ArrowDown");
    await page.until(`${options} === "^ | : :: +"`);
    await page.key("Escape");
    assert.equal(await page.run(`document.getElementById("pm-options").hidden`), true);
  });
});

const VIEWS = ["view=overview", "view=flame", "view=table", "view=around&procedure=hot_loop", "view=tree", "view=code&procedure=hot_loop", "view=compare", "view=threads"];

// The least contrast of texts that are seen, as WCAG 2.2 reckons it, with the text that has it; and of fields' borders.
const CONTRAST = `(() => {
  const parse = (c) => { const [r, g, b, a = 1] = c.match(/[\\d.]+/g).map(Number); return { r, g, b, a }; };
  const over = (x, y) => ({ r: x.r * x.a + y.r * (1 - x.a), g: x.g * x.a + y.g * (1 - x.a), b: x.b * x.a + y.b * (1 - x.a), a: 1 });
  const part = (v) => v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4;
  const light = ({ r, g, b }) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  const backOf = (e) => {
    const backs = [];
    for (; e; e = e.parentElement)
      backs.push(parse(getComputedStyle(e).backgroundColor));
    return backs.reverse().reduce((under, b) => over(b, under), parse(getComputedStyle(document.body).backgroundColor));
  };
  const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  let least = { ratio: 99, n: 0 };
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some((c) => c.nodeType === 3 && c.data.trim()) || /^(INPUT|SELECT)$/.test(e.tagName);
    if (!own || !e.getClientRects().length || e.disabled || e.closest("noscript, option"))
      continue;
    const backs = [backOf(e)], bar = e.parentElement.querySelector(":scope > i");
    if (bar)
      backs.push(over({ ...parse(getComputedStyle(bar).backgroundColor), a: Number(getComputedStyle(bar).opacity) }, backs[0]));
    for (const back of backs) {
      const ratio = contrast(over(parse(getComputedStyle(e).color), back), back);
      least = ratio < least.ratio ? { ratio, text: e.textContent.slice(0, 40), tag: e.tagName + "." + e.className, n: least.n + 1 } : { ...least, n: least.n + 1 };
    }
  }
  const rims = [...document.querySelectorAll("input:not([type=checkbox]), select, button")].filter((e) => e.getClientRects().length && parseFloat(getComputedStyle(e).borderTopWidth));
  return { ...least, rim: Math.min(...rims.map((e) => contrast(parse(getComputedStyle(e).borderTopColor), backOf(e.parentElement)))) };
})()`;

test("every view fits both widths, its texts have a contrast of 4.5 or more, fields' borders of 3, dark and light", async () => {
  for (const width of [1280, 390])
    for (const dark of [false, true])
      for (const view of VIEWS)
        await look(view, { width, dark }, async (page) => {
          const { ratio, text, tag, n, rim } = await page.run(CONTRAST);
          assert(rim >= 3, `${view}, ${width}, ${dark ? "dark" : "light"}: ${rim.toFixed(2)} of a border`);
          assert(n > 10, `${view}: ${n} texts`);
          assert(ratio >= 4.5, `${view}, ${width}, ${dark ? "dark" : "light"}: ${ratio.toFixed(2)} of ${tag} "${text}"`);
        });
});

test("a link copied from one browser opens the same view in another", async () => {
  const steps = { "view=table": `document.querySelectorAll("th button")[1].click()`, "view=tree": `document.querySelector("tbody button").click()`,
    "view=code&procedure=hot_loop": `document.getElementById("next").click()`, "view=overview": "0", "view=compare": "0" };
  for (const [view, step] of Object.entries(steps))
    await look(view, BOTH[0], async (page) => {
      await page.run(step);
      const shown = await main(page), hash = await page.run("location.hash");
      if (step !== "0")
        assert.notEqual(hash, `#${view}`, "the address keeps the step");
      await look(hash.slice(1), { ...BOTH[0], context: true }, async (other) => assert.equal(await main(other), shown, view));
    });
});

test("an address names the newest recordings, and how far it is scrolled", async () => {
  const make = (n) => execFileSync(process.env.MKDB, ["long"], { cwd: dir, input: `event cycles 1000\nowner - - comm=a\n${Array.from({ length: n }, (_, i) => `image file /bin/p${i}\nsample 16 ${i + 1}\n`).join("")}` });
  make(300);
  const long = await serve("long", "--listen", "127.0.0.1:0");
  let link = "";
  try {
    await look("view=table&by=image", BOTH[0], async (page) => {
      await page.until(`/epoch=\\d{14}/.test(location.hash)`);
      await page.run(`document.getElementById("main").scrollTop = 2000`);
      await page.until(`/&y=2000/.test(location.hash)`);
      link = (await page.run("location.hash")).slice(1);
    }, long);
    await look("view=overview&by=image", BOTH[0], async (page) => { // 200 rows, which come as they are scrolled to
      await page.until(`document.querySelectorAll("section td.name").length > 20`);
      await page.run(`document.getElementById("main").scrollTop = 1e6`);
      await page.until(`[...document.querySelectorAll("section td.name")].some((e) => e.textContent.endsWith("/p100"))`);
    }, long);
    make(3); // newer, and shorter
    await look(link, { ...BOTH[0], context: true }, async (page) => {
      await page.until(`document.getElementById("main").scrollTop === 2000`);
      assert.match(await main(page), /300 rows/);
      await page.run(`[...document.querySelectorAll("#views a")].find((a) => a.textContent === "Tree").click()`);
      await page.until(`/view=tree/.test(location.hash)`);
      assert.doesNotMatch(await page.run("location.hash"), /&y=/, "another view is not scrolled");
      assert.match(await page.run("location.hash"), /epoch=\d{14}/);
    }, long);
    await look("view=table&by=image", BOTH[0], async (page) => assert.match(await main(page), /\b3 rows/), long);
    await look("view=overview", BOTH[0], async (page) => assert.match(await page.run(`performance.getEntriesByType("resource").map((r) => r.name).find((n) => /api.minutes/.test(n))`),
      /epoch=\d{14}/, "the heat map is of the recordings that the address names, as it is for who opens the link"), long);
  } finally {
    await long.end();
  }
});

test("a link means the same box, order, colour and sets when there are other samples", async () => {
  const make = (name, ...commands) => execFileSync(process.env.MKDB, [name], { cwd: dir, input: `event cycles 1000
${commands.map(([comm, n]) => `owner - - comm=${comm}\nimage file /bin/${comm}\nsample 16 ${n}\n`).join("")}` });
  make("few", ["aa", 100], ["bb", 50]);
  make("more", ["zz", 900], ["aa", 10], ["bb", 500], ["cc", 70]);
  const [few, more] = [await serve("few", "--listen", "127.0.0.1:0"), await serve("more", "--listen", "127.0.0.1:0")];
  const details = (page) => page.run(`document.querySelector(".details").textContent`);
  let link = "";
  try {
    await look("view=flame&by=comm", BOTH[0], async (page) => {
      await page.run(`document.querySelector(".flame canvas").focus()`);
      await page.keys("ArrowDown", "ArrowRight", "Enter");
      await page.until(`/z=/.test(location.hash)`);
      assert.match(await details(page), /bb/);
      link = (await page.run("location.hash")).slice(1).replace(/&?epoch=[^&]*/, ""); // the newest of the other
    }, few);
    await look(link, BOTH[0], async (page) => {
      await page.until(`document.querySelector(".tools button").disabled === false`);
      assert.match(await details(page), /bb/, "what the link is zoomed to is told");
      await page.run(`document.querySelector(".flame canvas").focus()`);
      await page.key("ArrowDown");
      assert.match(await details(page), /bb/, "the box that is as wide as the picture");
    }, more);
    await look(link.replace(/z=[0-9a-f]+/, "z=12345678"), BOTH[1], async (page) => assert.match(await details(page), /is not in the picture/), more);
  } finally {
    await few.end();
    await more.end();
  }
  await look("view=compare", BOTH[0], async (page) => assert.match(await page.run("location.hash"), /a=\d{14}&b=\d{14}/));
  for (const [view, at, key] of [["view=overview", ".sides", "s"], ["view=around&procedure=hot_loop", ".sides section:last-of-type", "s2?"]])
    await look(view, BOTH[0], async (page) => {
      await page.until(`document.querySelectorAll("${at} th button").length > 1`);
      await page.run(`document.querySelectorAll("${at} th button")[1].click()`);
      assert.match(await page.run("location.hash"), new RegExp(`[#&]${key}=`));
      const hash = await page.run("location.hash"), sorted = await page.run(`document.querySelectorAll("${at} th")[1].getAttribute("aria-sort")`);
      await look(hash.slice(1), { ...BOTH[0], context: true }, async (other) => assert.equal(await other.run(`document.querySelectorAll("${at} th")[1].getAttribute("aria-sort")`), sorted));
    });
});

test("names are no markup", async () => {
  const names = ["</script><script>window.hostile=1</script>", "<img/src=x/onerror=window.hostile=1>", "\u202egnp.exe", "\u0001\u001b[2J", "y".repeat(10000)];
  execFileSync(process.env.MKDB, ["hostile"], { cwd: dir,
    input: `event cycles 1\n${names.map((n, i) => `image file /${n}\nowner - - comm=${n.slice(0, 300)}\nsample ${16 + i} ${100 - i}`).join("\n")}\n` });
  const other = await serve("hostile", "--listen", "127.0.0.1:0");
  try {
    for (const view of ["overview", "table", "flame", "tree"])
      await look(`view=${view}`, BOTH[0], async (page) => {
        assert.equal(await page.run("window.hostile"), undefined);
        assert.equal(await page.run(`document.querySelectorAll("main script, main img").length`), 0);
      }, other);
  } finally {
    await other.end();
  }
});

test("who may not ask is refused", async () => {
  const { port } = new URL(server.base);
  assert.equal((await request("/api/prof")).status, 200);
  assert.equal((await request("/api/prof", { Host: "evil.example" })).status, 403, "another name (DNS rebinding)");
  assert.equal((await request("/api/prof", { Host: `evil.example:${port}` })).status, 403);
  assert.equal((await request("/api/prof", { Origin: "http://evil.example" })).status, 403, "another site");
  assert.equal((await request("/api/prof", { "X-Dwell-Token": "0".repeat(32) })).status, 401, "a wrong token");
  assert.equal((await request("/api/prof", { "X-Dwell-Token": server.token })).status, 200);
  for (const bad of ["/api/prof?db=/etc", "/api/list?path=/etc&procedure=x", "/api/flame?output=/tmp/x", "/api/diff?a=/etc&b=latest", "/api/flame-diff?a=latest&b=../x", "/api/record", "/api/prof?by"])
    assert.equal((await request(bad)).status, 400, bad);
  assert.equal((await request("/../../etc/passwd")).status, 404);
  assert.match((await request("/")).headers["content-security-policy"], /^default-src 'none'; script-src 'self'.*; img-src 'self'/);
  assert.match((await request("/")).body, /<link rel="icon" href="\/icon.svg"/);
  assert.equal((await request("/icon.svg")).headers["content-type"], "image/svg+xml");
  if (process.getuid() === 0) {
    const code = `require("node:http").get("${server.base}/api/prof", (r) => process.exit(r.statusCode === 401 ? 0 : 1))`;
    execFileSync(process.execPath, ["-e", code], { uid: 12345, gid: 12345, cwd: "/" });
  }
});

test("at all addresses: this machine's own with the token, no other name", async () => {
  const own = Object.values(networkInterfaces()).flat().find((a) => a.family === "IPv4" && !a.internal)?.address;
  const other = await serve("real", "--listen", "0.0.0.0:0");
  const { port } = new URL(other.base), token = { "X-Dwell-Token": other.token };
  try {
    for (const [address, given, status] of [["127.0.0.1", {}, 200], ["127.0.0.1", { ...token, Host: `10.1.2.3:${port}` }, 403], ["127.0.0.1", { ...token, Host: `evil.example:${port}` }, 403],
      ...own ? [[own, token, 200], [own, { ...token, Host: `evil.example:${port}` }, 403], [own, { ...token, Origin: "http://evil.example" }, 403],
        [own, { ...token, Origin: `http://${own}:${port}` }, 200], [own, { "X-Dwell-Token": "0" }, 401], [own, {}, 401]] : []])
      assert.equal((await request("/api/epochs", given, `http://${address}:${port}`)).status, status, `${address} ${JSON.stringify(given)}`);
  } finally {
    await other.end();
  }
});

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const port = () => Number(new URL(server.base).port);

// N connections that say TEXT; what came back on each, and which are open.
function crowd(n, text = "") {
  return Array.from({ length: n }, () => {
    const c = { said: "", open: true };
    c.socket = connect(port(), "127.0.0.1", () => c.socket.write(text)).on("error", () => {}).on("close", () => { c.open = false; })
      .on("data", (chunk) => { c.said += chunk; });
    return c;
  });
}

// Descriptors of the process that speaks HTTP.
const sockets = () => readdirSync(`/proc/${execFileSync("pgrep", ["-P", String(server.pid), "dwell-web"], { encoding: "utf8" }).trim()}/fd`).length;

test("1,000 connections: what is too much is told so, and a place that is left is free", async () => {
  const idle = crowd(1000);
  await pause(500);
  for (let i = 0; i < 400 && idle.filter((c) => c.open).length > 200; i++)
    await pause(50);
  const refused = idle.filter((c) => /^HTTP.1.1 503 [\s\S]*too many connections; close some/.test(c.said)).length;
  assert(refused >= 700, `${refused} were told`);
  idle.forEach((c) => c.socket.destroy());
  for (let i = 0; sockets() > 20; i++) {
    assert(i < 200, "places that are left are free");
    await pause(50);
  }
  assert.equal((await request("/api/prof")).status, 200);
});

test("another user's connections leave the owner room", { skip: process.getuid() !== 0 }, async () => {
  const code = `let open = 0, closed = 0; for (let i = 0; i < 400; i++) require("node:net").connect(${port()}, "127.0.0.1", () => open++)
    .on("error", () => {}).on("close", () => { if (++closed === 380) console.log("full"); });`;
  const other = spawn(process.execPath, ["-e", code], { uid: 12345, gid: 12345, cwd: "/", stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((done) => other.stdout.once("data", done)); // it holds the 20 that one guest may have
  assert.equal((await request("/api/prof")).status, 200);
  const own = crowd(150);
  await pause(300);
  for (let i = 0; own.some((c) => c.socket.connecting); i++) {
    assert(i < 200, "the owner's are taken");
    await pause(50);
  }
  const open = own.filter((c) => c.open && !c.said).length;
  own.forEach((c) => c.socket.destroy());
  other.kill("SIGKILL");
  assert.equal(open, 150, "the owner's");
});

test("requests of a megabyte, and paths with ..", async () => {
  const head = `Host: 127.0.0.1:${port()}\r\n`;
  for (const text of [`GET /api/prof?only=${"x".repeat(1 << 20)} HTTP/1.1\r\n${head}\r\n`, `GET / HTTP/1.1\r\n${head}X: ${"x".repeat(1 << 20)}\r\n\r\n`,
    `POST / HTTP/1.1\r\n${head}Content-Length: 1048576\r\n\r\n${"x".repeat(1 << 20)}`, `GET /api/prof?comm=${"x".repeat(9000)} HTTP/1.1\r\n${head}\r\n`]) {
    const [c] = crowd(1, text);
    while (c.open && !/\r\n\r\n[\s\S]/.test(c.said))
      await pause(20);
    assert.match(c.said, /^HTTP.1.1 (4(05|13|14|31)) /, text.slice(0, 30));
    c.socket.destroy();
  }
  for (const path of ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/app.js/../../../etc/passwd", "/api/../../etc/passwd", "/api/%2e%2e", "//etc/passwd"]) {
    const [c] = crowd(1, `GET ${path} HTTP/1.1\r\n${head}Connection: close\r\n\r\n`);
    while (c.open)
      await pause(20);
    assert.match(c.said, /^HTTP.1.1 40[04] /, path);
  }
});

// Processes that answer questions: children of the one that was started, but for the one that speaks HTTP.
const children = () => execFileSync("ps", ["--no-headers", "-o", "comm", "--ppid", String(server.pid)], { encoding: "utf8" })
  .split("\n").filter((c) => c && c.trim() !== "dwell-web").length;

test("clients that read nothing hold up nobody", async () => {
  const slow = crowd(20, `GET /api/tree HTTP/1.1\r\nHost: 127.0.0.1:${port()}\r\n\r\n`);
  slow.forEach((c) => c.socket.pause());
  for (let i = 0; i < 5; i++)
    assert.equal((await request("/api/prof")).status, 200);
  slow.forEach((c) => c.socket.destroy());
});

test("a browser that closes in the middle leaves nobody at work", async () => {
  for (let i = 0; i < 3; i++) {
    const gone = crowd(20, `GET /api/flame HTTP/1.1\r\nHost: 127.0.0.1:${port()}\r\n\r\n`);
    await pause(100 * (i + 1));
    gone.forEach((c) => c.socket.destroy());
  }
  for (let i = 0; children() || sockets() > 20; i++) {
    assert(i < 100, "children go on");
    await pause(100);
  }
  assert.equal((await request("/api/prof")).status, 200);
});

test("two tabs that ask for everything at once get it, or are told to ask again", async () => {
  const kinds = ["prof", "tree", "flame", "epochs", "minutes", "top", "prof?by=comm", "list?procedure=hot_loop", "flame-callers", "prof?by=line"];
  const tab = () => Promise.all(Array.from({ length: 40 }, (_, i) => request(`/api/${kinds[i % kinds.length]}`)));
  const many = (await Promise.all([tab(), tab()])).flat();
  assert(many.every((r) => r.status === 200 || r.status === 503 && /(ask|try) again/.test(r.body)), JSON.stringify(many.map((r) => [r.status, r.status === 200 ? "" : r.body])));
  assert(many.filter((r) => r.status === 200).length >= 32, `${many.filter((r) => r.status === 200).length} answers`);
  assert.equal((await request("/api/prof")).status, 200);
});

test("a database that changes under the page", async () => {
  const work = () => dwell("record", "--db", "growing", "--", "sh", "-c", "for i in 1 2 3 4 5; do gcc -S -o /dev/null x.c; done");
  work();
  const other = await serve("growing", "--listen", "127.0.0.1:0");
  await look("view=overview&by=comm", BOTH[0], async (page) => {
    const rows = () => page.run(`document.querySelectorAll(".recordings tbody tr").length`);
    await page.until(`document.querySelectorAll(".recordings tbody tr td.name").length === 1`);
    work();
    await page.run(`document.getElementById("query").requestSubmit()`);
    await page.until(`document.querySelectorAll(".recordings tbody tr td.name").length === 2`);
    const epochs = JSON.parse(dwell("epochs", "--json", "--db", "growing")).rows.map((r) => r.epoch);
    rmSync(join(dir, "growing", "epochs", epochs[0]), { recursive: true });
    await page.run(`location.hash = "view=table&epoch=${epochs[0]}"`);
    await page.until(`document.getElementById("trouble").textContent.includes("${epochs[0]}")`);
    assert(await rows() !== undefined);
  }, other);
  await other.end();
});

test("a database that goes away is a sentence", async () => {
  dwell("record", "--db", "short", "--", "sh", "-c", "for i in 1 2 3 4 5; do gcc -S -o /dev/null x.c; done");
  const other = await serve("short", "--listen", "127.0.0.1:0");
  rmSync(join(dir, "short"), { recursive: true });
  await look("view=table", BOTH[0], async (page) => assert.match(await trouble(page), /short/), other);
  await other.end();
});

function prepare() {
  writeFileSync(join(dir, "x.c"), Array.from({ length: 300 }, (_, i) => `int f${i}(int x) { int s = 0; for (int i = 0; i < x; i++) s += i * i % 7; return s; }\n`).join(""));
  writeFileSync(join(dir, "hot.c"), "volatile unsigned s; __attribute__((noinline)) void hot_loop(void) { for (unsigned i = 0; i < 1000; i++) s += i; }\n"
    + "int main(void) { for (int i = 0; i < 300000; i++) hot_loop(); return 0; }\n");
  execFileSync("gcc", ["-g", "-O1", "-o", "hot", "hot.c"], { cwd: dir });
  for (const n of [1, 2])
    dwell("record", "-g", "--db", "real", "--", "sh", "-c", `./hot; for i in ${Array(3 - n).fill("1").join(" ")}; do gcc -O2 -S -o x.s x.c; done; ./hot`);
}

async function main_() {
  console.log(`1..${tests.length}`);
  if (!findBrowser()) {
    tests.forEach((t, i) => console.log(`ok ${i + 1} ${t.name} # SKIP no browser`));
    return;
  }
  prepare();
  browser = await Browser.start();
  server = await serve("real", "--listen", "127.0.0.1:0");
  let failed = 0;
  for (const [i, t] of tests.entries()) {
    if (t.skip) {
      console.log(`ok ${i + 1} ${t.name} # SKIP root alone can be somebody else`);
      continue;
    }
    try {
      await t.run();
      console.log(`ok ${i + 1} ${t.name}`);
    } catch (e) {
      failed++;
      console.log(`not ok ${i + 1} ${t.name}\n${String(e.stack).replace(/^/gm, "# ")}`);
    }
  }
  await server.end();
  await browser.close();
  rmSync(dir, { recursive: true, force: true });
  process.exitCode = failed ? 1 : 0;
}

await main_();
