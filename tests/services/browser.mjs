// SPDX-License-Identifier: BSD-2-Clause
// A small client of Chromium's DevTools protocol over --remote-debugging-pipe: messages are JSON ended by NUL on file
// descriptors 3 and 4.  It needs node 18 and nothing else.  The browser ends when its pipe does.
//
//     const browser = await Browser.start();
//     const page = await browser.open("file:///x.html", { width: 1280, height: 800 });
//     await page.until("document.title !== ''");
//     assert.deepEqual(page.troubles, []);
//     await browser.close();
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// /usr/bin/chromium-headless-shell is a script that leaves the browser behind when it is killed.
const PROGRAMS = [process.env.DWELL_CHROMIUM, "/usr/lib/chromium/chromium-headless-shell", "/usr/lib/chromium/chromium"];

// Path of an installed browser, or undefined.
export function findBrowser() {
  return PROGRAMS.find((p) => p && existsSync(p));
}

export class Browser {
  static async start(...options) {
    const b = new Browser();
    b.home = mkdtempSync(join(tmpdir(), "dwell-browser."));
    b.child = spawn(findBrowser(), ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
      "--no-first-run", "--remote-debugging-pipe", `--user-data-dir=${b.home}`, ...options],
      { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    b.ended = new Promise((done) => b.child.on("exit", done));
    b.asked = new Map();
    b.pages = new Map();
    b.nextId = 1;
    b.left = Buffer.alloc(0);
    b.child.stdio[4].on("data", (chunk) => b.#take(chunk));
    b.child.stdio[3].on("error", () => {});
    await b.send("Target.setDiscoverTargets", { discover: true });
    return b;
  }

  #take(chunk) {
    const parts = [this.left, chunk];
    let all = Buffer.concat(parts), at;
    while ((at = all.indexOf(0)) >= 0) {
      const message = JSON.parse(all.subarray(0, at).toString());
      all = all.subarray(at + 1);
      const asked = this.asked.get(message.id);
      if (asked) {
        this.asked.delete(message.id);
        if (message.error)
          asked.fail(new Error(`${asked.method}: ${message.error.message}`));
        else
          asked.done(message.result);
      } else if (this.pages.has(message.sessionId)) {
        this.pages.get(message.sessionId).happened(message.method, message.params);
      }
    }
    this.left = all;
  }

  send(method, params = {}, sessionId = undefined) {
    const id = this.nextId++;
    return new Promise((done, fail) => {
      this.asked.set(id, { done, fail, method });
      this.child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  // Opens URL in a page of its own.  HOW: width, height, dark, touch, density; context: another browser's, as it were, which
  // shares nothing with this one.
  async open(url, how = {}) {
    const { browserContextId } = how.context ? await this.send("Target.createBrowserContext") : {};
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank", browserContextId });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    this.pages.set(sessionId, page);
    for (const domain of ["Page", "Runtime", "Log", "Network"])
      await page.send(`${domain}.enable`);
    await page.send("Emulation.setDeviceMetricsOverride", {
      width: how.width || 1280, height: how.height || 800, deviceScaleFactor: how.density || 1, mobile: false,
    });
    await page.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: how.dark ? "dark" : "light" }] });
    if (how.touch)
      await page.send("Emulation.setTouchEmulationEnabled", { enabled: true });
    page.loaded = new Promise((done) => page.on("Page.loadEventFired", done));
    page.url = url;
    await page.send("Page.navigate", { url });
    await page.loaded;
    return page;
  }

  async close() {
    // it may end without an answer
    await Promise.race([this.send("Browser.close").catch(() => {}), this.ended]);
    await this.ended;
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Page {
  constructor(browser, sessionId, targetId) {
    Object.assign(this, { browser, sessionId, targetId, troubles: [], handlers: new Map() });
  }

  send(method, params) {
    return this.browser.send(method, params, this.sessionId);
  }

  on(method, handler) {
    this.handlers.set(method, [...(this.handlers.get(method) || []), handler]);
  }

  // Whatever a page must not do is a trouble: errors, messages, requests beyond its own document.
  happened(method, params) {
    if (method === "Runtime.exceptionThrown")
      this.troubles.push(`exception: ${params.exceptionDetails.exception?.description || params.exceptionDetails.text}`);
    else if (method === "Runtime.consoleAPICalled")
      this.troubles.push(`console: ${params.args.map((a) => a.value).join(" ")}`);
    else if (method === "Log.entryAdded")
      this.troubles.push(`log: ${params.entry.text}`);
    else if (method === "Network.requestWillBeSent" && params.documentURL.split("#")[0] === params.request.url.split("#")[0] && params.type === "Document")
      ; // the page itself
    else if (method === "Network.requestWillBeSent")
      this.troubles.push(`request: ${params.request.url.slice(0, 100)}`);
    else if (method === "Page.javascriptDialogOpening")
      this.troubles.push(`dialog: ${params.message}`);
    for (const handler of this.handlers.get(method) || [])
      handler(params);
  }

  // Value of EXPRESSION in the page.
  async run(expression) {
    const r = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (r.exceptionDetails)
      throw new Error(`${expression}: ${r.exceptionDetails.exception?.description || r.exceptionDetails.text}`);
    return r.result.value;
  }

  // Waits until EXPRESSION is true and returns its value.
  async until(expression, seconds = 60) {
    const ends = Date.now() + seconds * 1000;
    for (;;) {
      const value = await this.run(expression);
      if (value)
        return value;
      if (Date.now() > ends)
        throw new Error(`never true: ${expression}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  }

  // Presses and releases KEY: a character, or "Enter", "ArrowDown", ...
  async key(key) {
    const codes = { Enter: 13, Escape: 27, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, Tab: 9, Backspace: 8, Home: 36, End: 35 };
    const text = key.length === 1 ? key : key === "Enter" ? "\r" : undefined;
    const what = { key, text, windowsVirtualKeyCode: codes[key] || key.toUpperCase().charCodeAt(0) };
    await this.send("Input.dispatchKeyEvent", { type: text ? "keyDown" : "rawKeyDown", ...what });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...what, text: undefined });
  }

  async keys(...keys) {
    for (const k of keys)
      await this.key(k);
  }

  async move(x, y) {
    await this.send("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
  }

  async click(x, y) {
    await this.move(x, y);
    for (const type of ["mousePressed", "mouseReleased"])
      await this.send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
  }

  async wheel(x, y, deltaY, ctrl = false) {
    await this.send("Input.dispatchMouseEvent", { type: "mouseWheel", x, y, deltaX: 0, deltaY, modifiers: ctrl ? 2 : 0 });
  }

  // Writes a PNG of what is seen to FILE; of the whole page when FULL.
  async picture(file, full = false) {
    const { data } = await this.send("Page.captureScreenshot", { format: "png", captureBeyondViewport: full });
    writeFileSync(file, Buffer.from(data, "base64"));
  }

  async close() {
    await this.browser.send("Target.closeTarget", { targetId: this.targetId });
  }
}
