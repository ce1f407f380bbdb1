// The modules of a flame graph's page against simple-minded versions of the same, on random trees.  Prints TAP.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decode, decodeWhole, unpack } from "../../src/web/ui/flame_data.mjs";
import { CHANGES, INK, KINDS, MATCH, STATES } from "../../src/web/ui/flame_kinds.mjs";
import { eachShown, placeAt, shownOf } from "../../src/web/ui/flame_layout.mjs";
import { numberText } from "../../src/web/ui/number_text.mjs";
import { eachPixel, spanAt } from "../../src/web/ui/trace_data.mjs";
import { matcher, search } from "../../src/web/ui/flame_search.mjs";

const tests = [];
const test = (name, run) => tests.push({ name, run });

// Random numbers that are equal in every run.
function numbers(seed) {
  let x = seed;
  return (n) => {
    x = (x * 1103515245 + 12345) % 2147483648;
    return Math.floor((x / 2147483648) * n);
  };
}

// The data block of a tree given as [up, frame, self] for each box.
function block(boxes, names, kinds) {
  const head = {
    v: 1, title: "t", event: "e", unit: "samples", scale: 1, total: boxes.reduce((s, b) => s + b[2], 0), least: 0,
    callers: false, account: "", kinds: ["native", "small"], name: names, kind: kinds, image: names.map(() => 0),
    file: names.map(() => 0), line: names.map(() => 0), images: [""], files: [""],
  };
  const text = new TextEncoder().encode(JSON.stringify(head)), bytes = [];
  const add = (n) => {
    for (; n >= 128; n = Math.floor(n / 128))
      bytes.push((n % 128) | 128);
    bytes.push(n);
  };
  for (const column of [0, 1, 2])
    boxes.forEach((b) => add(b[column]));
  boxes.forEach((b) => kinds[b[1]] === 1 && add(7));
  const all = new Uint8Array(8 + text.length + bytes.length);
  new DataView(all.buffer).setUint32(0, text.length, true);
  new DataView(all.buffer).setUint32(4, boxes.length, true);
  all.set(text, 8);
  all.set(bytes, 8 + text.length);
  return all;
}

function randomFlame(seed, n) {
  const random = numbers(seed), boxes = [];
  let depth = 0;
  for (let i = 0; i < n; i++) {
    const up = i ? random(Math.min(depth + 1, 4)) : 0;
    depth = i ? depth + 1 - up : 1;
    boxes.push([up, random(20), random(10) ? random(4) : random(5000)]);
  }
  return decode(block(boxes, [...Array(20).keys()].map((k) => `f${k}`), Array(20).fill(0)));
}

test("a block is decoded: shape, sums, places", () => {
  //  a(5) { b(2^40) { c(3) } d(1) } e small(4)
  const { head, boxes, levels } = decode(block([[0, 0, 5], [0, 1, 2 ** 40], [0, 2, 3], [2, 3, 1], [2, 4, 4]], ["a", "b", "c", "d", ""], [0, 0, 0, 0, 1]));
  assert.equal(head.title, "t");
  assert.deepEqual([...boxes.depth], [0, 1, 2, 3, 2, 1]);
  assert.deepEqual([...boxes.parent], [-1, 0, 1, 2, 1, 0]);
  assert.deepEqual([...boxes.end], [6, 5, 4, 4, 5, 6]);
  assert.deepEqual([...boxes.total], [2 ** 40 + 13, 2 ** 40 + 9, 2 ** 40 + 3, 3, 1, 4]);
  assert.deepEqual([...boxes.x], [0, 0, 0, 0, 2 ** 40 + 3, 2 ** 40 + 9]);
  assert.equal(boxes.small[5], 7);
  assert.deepEqual(levels.map((l) => [...l.box]), [[0], [1, 5], [2, 4], [3]]);
  assert.deepEqual([...boxes.deepest], [3, 3, 3, 3, 2, 1]);
});

test("every wide box is drawn, and every other one is in a run", () => {
  for (let seed = 1; seed < 60; seed++) {
    const { boxes, levels } = randomFlame(seed, 3000), random = numbers(seed);
    const whole = boxes.total[0];
    for (const level of levels) {
      const from = random(2) ? 0 : random(whole), to = from + 1 + random(whole - from), least = 1 + random(whole / 200);
      const drawn = new Map();
      let right = -1;
      eachShown(level, from, to, least,
        (k) => {
          const i = level.box[k];
          assert(boxes.x[i] >= right);
          right = boxes.x[i] + boxes.total[i];
          drawn.set(i, "box");
        },
        (first, last) => {
          assert(level.x[first] >= right && last >= first);
          right = level.end[last];
          for (let k = first; k <= last; k++) {
            assert(k === first || level.x[k] < level.end[k - 1] + least, "neighbours");
            drawn.set(level.box[k], "run");
          }
        });
      for (const i of level.box) {
        const inside = boxes.x[i] < to && boxes.x[i] + boxes.total[i] > from;
        if (inside)
          assert.equal(drawn.get(i), boxes.total[i] >= least ? "box" : "run", `seed ${seed} box ${i}`);
      }
    }
  }
});

test("work goes by pixels, not by boxes", () => {
  const n = 200000, boxes = [[0, 0, 0]];
  for (let i = 0; i < n; i++)
    boxes.push([i ? 1 : 0, 1, 1]);
  const flame = decode(block(boxes, ["a", "b"], [0, 0]));
  let calls = 0, count = 0, looks = 0;
  // Reads of the column of ends tell how many boxes are looked at.
  const level = { ...flame.levels[2], end: new Proxy(flame.levels[2].end, { get: (v, k) => (looks++, v[k]) }) };
  eachShown(level, 0, n, n / 2000, () => calls++, (first, last) => {
    calls++;
    count += last - first + 1;
  });
  assert.equal(count, n);
  assert(calls <= 2000, `${calls} calls`);
  assert(looks <= 20000, `${looks} looks`);
});

test("what is shown of a level is kept until another part is asked for", () => {
  const { boxes, levels } = randomFlame(5, 3000), whole = boxes.total[0];
  const told = (level, from, to, least) => {
    const all = [];
    eachShown(level, from, to, least, (k) => all.push(k, -1), (first, last) => all.push(first, last));
    return all;
  };
  for (const level of levels) {
    const parts = [[0, whole, whole / 500], [whole / 3, whole / 2, whole / 90], [whole / 3, whole / 2, whole / 900], [0, whole, 0]];
    for (const part of parts) {
      const { list, n } = shownOf(level, ...part), kept = level.shown;
      assert.deepEqual([...list.subarray(0, n)], told(level, ...part));
      assert.equal(shownOf(level, ...part), kept, "asked for again");
    }
  }
});

test("numbers have commas as in English", () => {
  for (const n of [0, 1, 12, 999, 1000, 12345, 999999, 1000000, 2 ** 52, 0.5, 1234.5, 1234.56789, 999.9996, 1e15, 2e20, -1, -999, -1000, -1234567.25])
    assert.equal(numberText(n), n.toLocaleString("en"));
});

test("the box at a place", () => {
  const { boxes, levels } = randomFlame(9, 500);
  for (const level of levels)
    level.box.forEach((i, k) => {
      if (boxes.total[i])
        assert.equal(placeAt(level, boxes.x[i] + boxes.total[i] / 2), k);
    });
});

test("a search counts a sample once", () => {
  const flame = decode(block([[0, 0, 5], [0, 1, 3], [0, 0, 2], [3, 1, 1]], ["Alpha", "beta"], [0, 0]));
  assert.equal(search(flame, "alpha").amount, 10);
  assert.equal(search(flame, "eta").amount, 6);
  assert.equal(search(flame, "/^a/i").amount, 10);
  assert.equal(search(flame, "/^a/").amount, 0);
  assert.equal(search(flame, ""), null);
  assert.equal(matcher("a.b")("axb"), false);
  assert.throws(() => search(flame, "/(/"));
});

test("pixels of a time line", () => {
  for (let seed = 1; seed < 40; seed++) {
    const random = numbers(seed), t = { begin: [], end: [], state: [], sums: [[0], [0], [0]] };
    for (let k = 0, now = 0; k < 300; k++) {
      t.begin.push(now + (random(3) ? 0 : random(20)));
      now = t.begin[k] + 1 + random(random(5) ? 4 : 400);
      t.end.push(now);
      t.state.push(random(3));
      t.sums.forEach((sum, s) => sum.push(sum[k] + (t.state[k] === s ? now - t.begin[k] : 0)));
    }
    const length = t.end[299], from = random(length / 2), to = from + 1 + random(length - from), width = 1 + random(700);
    const per = (to - from) / width, seen = new Uint8Array(width);
    const inState = (s, a, b) => t.begin.reduce((sum, x, k) => sum + (t.state[k] === s ? Math.max(0, Math.min(b, t.end[k]) - Math.max(a, x)) : 0), 0);
    eachPixel(t, from, to, width, (x0, x1, k) => {
      assert(t.begin[k] <= from + x0 * per + 1e-6 && t.end[k] >= from + x1 * per - 1e-6, "the span has all of these pixels");
      seen.fill(1, x0, x1);
    }, (x, shares) => {
      shares.forEach((share, s) => assert(Math.abs(share - inState(s, from + x * per, from + (x + 1) * per) / per) < 1e-6, `seed ${seed} pixel ${x} state ${s}`));
      seen[x] = 1;
    });
    for (let x = 0; x < width; x++)
      if ([0, 1, 2].some((s) => inState(s, from + x * per, from + (x + 1) * per) > 1e-6))
        assert(seen[x], `seed ${seed} pixel ${x}`);
    for (let k = 0; k < 300; k++)
      assert.equal(spanAt(t, t.begin[k]), k);
  }
});

test("text on every colour has a contrast of 4.5 or more", () => {
  const light = (c) => {
    const [r, g, b] = [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16) / 255)
      .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  for (const theme of ["light", "dark"])
    for (const [name, fill] of [...Object.entries({ ...KINDS, ...CHANGES, ...STATES }).flatMap(([k, v]) => v[theme].map((c) => [k, c])), ["match", MATCH[theme]]]) {
      const [a, b] = [light(INK[theme]), light(fill)].sort((x, y) => y - x);
      assert((a + 0.05) / (b + 0.05) >= 4.5, `${theme} ${name} ${fill}`);
    }
});

test("a large page has an outline, then the whole", async () => {
  const dir = mkdtempSync(join(tmpdir(), "dwell-ui."));
  const n = 30000, paths = Array.from({ length: n }, (_, i) => `path\nframe ${(16 * (1 + i % 7)).toString(16)}\nsample ${(4096 + 16 * i).toString(16)} ${1 + i % 90}\n`);
  try {
    execFileSync(process.env.MKDB, ["db"], { cwd: dir, input: `event cycles 1\nimage file /x\nowner - - comm=a\n${paths.join("")}` });
    execFileSync(process.env.DWELL, ["flame", "--db", "db", "--by", "address", "-o", "x.html"], { cwd: dir });
    const page = readFileSync(join(dir, "x.html"), "utf8"), of = async (id) => unpack(new RegExp(`id="${id}">([^<]*)<`).exec(page)[1]);
    const outline = decode(await of("data")), whole = decodeWhole(outline.head, await of("whole"));
    assert.equal(outline.head.outline, true);
    assert(outline.boxes.n < 5100 && outline.boxes.n > 4000, String(outline.boxes.n));
    assert.equal(whole.boxes.n, 1 + 7 + n);
    assert.equal(whole.boxes.total[0], outline.boxes.total[0]);
    assert.deepEqual([...outline.boxes.small].reduce((a, b) => a + b, 0) + outline.boxes.small.filter((k) => !k).length, whole.boxes.n);
    // what the outline has of its own stands where the whole has it
    const places = (f) => new Map([...f.boxes.frame].map((frame, i) => [`${f.boxes.depth[i]} ${frame} ${f.boxes.total[i]}`, f.boxes.x[i]]));
    const there = places(whole);
    for (const [key, x] of places({ boxes: outline.boxes }))
      if (there.has(key))
        assert.equal(x, there.get(key), key);
    // what dwell web is given: an outline by the share of all, and the whole with a header of its own
    let data = new Uint8Array(execFileSync(process.env.DWELL, ["flame", "--db", "db", "--by", "address", "--data"], { cwd: dir, maxBuffer: 1 << 28 }));
    const blocks = [];
    while (data.length) {
      const n = new DataView(data.buffer, data.byteOffset).getUint32(0, true);
      blocks.push(decode(data.subarray(4, 4 + n)));
      data = data.subarray(4 + n);
    }
    assert.deepEqual(blocks.map((b) => [b.head.outline, b.boxes.total[0]]), [[true, whole.boxes.total[0]], [undefined, whole.boxes.total[0]]]);
    assert.equal(blocks[0].boxes.n, 1 + 7 + 7);
    assert.deepEqual(blocks[1].boxes.total, whole.boxes.total);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test("a page that dwell wrote", async () => {
  const dir = mkdtempSync(join(tmpdir(), "dwell-ui."));
  try {
    execFileSync(process.env.MKDB, ["db"], {
      cwd: dir, input: "event cycles 1\nimage file /x\nowner - - comm=</script>\nframe 10\nsample 20 3\nframe 20\nsample 30 4\n",
    });
    execFileSync(process.env.DWELL, ["flame", "--db", "db", "--by", "comm,address", "-o", "x.html"], { cwd: dir });
    const page = readFileSync(join(dir, "x.html"), "utf8");
    const { head, boxes } = decode(await unpack(/id="data">([^<]*)</.exec(page)[1]));
    assert.deepEqual([...boxes.total], [7, 7, 7, 7, 4]);
    execFileSync(process.env.MKDB, ["twice"], { cwd: dir, input: "event cycles 1\nimage file /x\nowner - - comm=a\nsample 20 14\n" });
    execFileSync(process.env.DWELL, ["flame", "--diff", "db", "twice", "--by", "address", "-o", "d.html"], { cwd: dir });
    const both = decode(await unpack(/id="data">([^<]*)</.exec(readFileSync(join(dir, "d.html"), "utf8"))[1]));
    assert.deepEqual([...both.boxes.was].sort(), [0, 4, 7, 7, 7]);
    assert.equal(both.boxes.is[0], 14);
    assert.equal(both.boxes.total[0], 28);
    for (const change of both.head.changes)
      assert(CHANGES[change], change);
    assert.equal(head.name[boxes.frame[1]], "</script>");
    for (const kind of head.kinds)
      assert(KINDS[kind], kind);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

console.log(`1..${tests.length}`);
for (const [i, { name, run }] of tests.entries()) {
  try {
    await run();
    console.log(`ok ${i + 1} - ${name}`);
  } catch (e) {
    console.log(`not ok ${i + 1} - ${name}\n# ${String(e.stack).replaceAll("\n", "\n# ")}`);
  }
}
