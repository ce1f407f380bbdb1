// SPDX-License-Identifier: BSD-2-Clause
// Where blocks are drawn: none on another, control goes down but for loops, edges end at their blocks.
import assert from "node:assert/strict";
import { test } from "node:test";
import { layOut } from "../../src/web/ui/graph_layout.mjs";

const boxes = (n) => Array.from({ length: n }, (_, i) => ({ w: 60 + i % 7 * 20, h: 30 + i % 5 * 16 }));

function holds(blocks, edges) {
  const { width, height, paths } = layOut(blocks, edges);
  for (const [i, a] of blocks.entries()) {
    assert(a.x >= 0 && a.y >= 0 && a.x + a.w <= width && a.y + a.h <= height, "inside of the picture");
    for (const b of blocks.slice(i + 1))
      assert(a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y, "beside each other");
  }
  assert.equal(paths.length, edges.length);
  paths.forEach(({ back, points, lane }, i) => {
    const a = blocks[edges[i].from], b = blocks[edges[i].to], last = points.at(-1);
    assert.equal(points[0].y, a.y + a.h);
    assert.equal(last.y, b.y);
    assert(last.x >= b.x && last.x <= b.x + b.w);
    assert.equal(back, a.y >= b.y, "what goes back is what goes up");
    if (back)
      assert(lane <= width);
    for (let k = 1; !back && k < points.length; k++)
      assert(points[k].y >= points[k - 1].y, "down");
  });
  return paths;
}

test("a loop", () => {
  const blocks = boxes(4), paths = holds(blocks, [{ from: 0, to: 1 }, { from: 1, to: 2 }, { from: 2, to: 1 }, { from: 2, to: 3 }]);
  assert.deepEqual(paths.map((p) => p.back), [false, false, true, false]);
  assert.deepEqual([...blocks].sort((a, b) => a.y - b.y), blocks);
});

test("a block alone, one that repeats, none", () => {
  holds(boxes(1), []);
  holds(boxes(2), [{ from: 0, to: 0 }, { from: 0, to: 1 }]);
  holds([], []);
});

test("150 blocks with two ways each, some in no order, some unreached", () => {
  let seed = 1;
  const below = (n) => (seed = (seed * 48271) % 2147483647) % n;
  for (let turn = 0; turn < 20; turn++) {
    const edges = [];
    for (let b = 0; b < 150; b++) {
      if (below(9))
        edges.push({ from: b, to: Math.min(149, b + 1 + below(3)) });
      if (below(3) === 0)
        edges.push({ from: b, to: below(150) });
    }
    holds(boxes(150), edges);
  }
});

test("a chain of 20,000 blocks needs no stack", () => {
  const n = 20000;
  assert.equal(layOut(Array.from({ length: n }, () => ({ w: 10, h: 10 })), Array.from({ length: n - 1 }, (_, i) => ({ from: i, to: i + 1 }))).paths.length, n - 1);
});
