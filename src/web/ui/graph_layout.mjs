// SPDX-License-Identifier: BSD-2-Clause
// Where the blocks of a procedure are drawn: in rows, so that control goes down but for loops.
//
//     A -> B, B -> B, B -> C      A in row 0, B in row 1, C in row 2; B -> B goes back up
//
// An edge over several rows has a narrow place of its own in each, so that it passes between blocks.
const GAP_X = 28, GAP_Y = 46, PASS = 14, LANE = 14;
const SWEEPS = 6;

// The edges that go back: to a block that control came through.  NEXT are the numbers behind each block.
function findBack(n, next) {
  const state = new Uint8Array(n), back = new Set();
  for (let root = 0; root < n; root++) {
    const stack = state[root] ? [] : [[root, 0]];
    if (stack.length)
      state[root] = 1;
    while (stack.length) {
      const top = stack[stack.length - 1], edge = next[top[0]][top[1]++];
      if (!edge) {
        state[top[0]] = 2;
        stack.pop();
      } else if (state[edge.to] === 1) {
        back.add(edge);
      } else if (!state[edge.to]) {
        state[edge.to] = 1;
        stack.push([edge.to, 0]);
      }
    }
  }
  return back;
}

// The row of each block: behind all that lead there, edges BACK apart.
function findRows(n, edges, back) {
  const row = new Int32Array(n), waits = new Int32Array(n), next = Array.from({ length: n }, () => []);
  for (const e of edges)
    if (!back.has(e)) {
      waits[e.to]++;
      next[e.from].push(e.to);
    }
  const ready = [...waits.keys()].filter((b) => !waits[b]);
  for (let i = 0; i < ready.length; i++)
    for (const to of next[ready[i]]) {
      row[to] = Math.max(row[to], row[ready[i]] + 1);
      if (!--waits[to])
        ready.push(to);
    }
  return row;
}

const middle = (p) => p.x + p.w / 2;

// Orders the places of each row by where those they are joined to are.
function order(rows) {
  const of = (p, side) => p[side].length ? p[side].reduce((sum, q) => sum + q.at, 0) / p[side].length : p.at;
  const number = (row) => row.forEach((p, i) => {
    p.at = i - row.length / 2;
  });
  rows.forEach(number);
  for (let i = 0; i < SWEEPS; i++) {
    const down = i % 2 === 0;
    for (const row of down ? rows : [...rows].reverse()) {
      row.forEach((p) => {
        p.want = of(p, down ? "above" : "below");
      });
      row.sort((a, b) => a.want - b.want || a.at - b.at);
      number(row);
    }
  }
}

// Moves the places of a row to where they want to be, as far as those beside them let it.
function settle(row) {
  let groups = [];
  for (const p of row) {
    let group = { places: [p], width: p.w, want: p.want - p.w / 2, n: 1 };
    for (let last = groups.at(-1); last && last.want + last.width + GAP_X > group.want; last = groups.at(-1)) {
      const shift = last.width + GAP_X;
      group = { places: [...last.places, ...group.places], width: last.width + GAP_X + group.width, n: last.n + group.n,
        want: (last.want * last.n + (group.want - shift) * group.n) / (last.n + group.n) };
      groups = groups.slice(0, -1);
    }
    groups.push(group);
  }
  for (const group of groups) {
    let x = group.want;
    for (const p of group.places) {
      p.x = x;
      x += p.w + GAP_X;
    }
  }
}

function place(rows) {
  for (const row of rows) {
    let x = 0;
    for (const p of row) {
      p.x = x;
      x += p.w + GAP_X;
    }
  }
  for (let i = 0; i < SWEEPS; i++) {
    const down = i % 2 === 0;
    for (const row of down ? rows : [...rows].reverse()) {
      for (const p of row) {
        const joined = p[down ? "above" : "below"];
        p.want = joined.length ? joined.reduce((sum, q) => sum + middle(q), 0) / joined.length : middle(p);
      }
      settle(row);
    }
  }
}

// Lays BLOCKS ({ w, h }) and EDGES ({ from, to }, numbers of blocks) out.  Blocks get x and y.  Returns { width, height, paths }: of
// each edge the points it goes through, from the bottom of one block to the top of another; of one that goes back
// { back: true } and a lane beside the blocks.
export function layOut(blocks, edges) {
  const n = blocks.length, next = Array.from({ length: n }, () => []);
  for (const e of edges)
    next[e.from].push(e);
  const back = findBack(n, next), row = findRows(n, edges, back);
  const rows = Array.from({ length: n ? Math.max(...row) + 1 : 0 }, () => []);
  const places = blocks.map((b, i) => ({ w: b.w, h: b.h, x: 0, at: 0, want: 0, above: [], below: [], block: i }));
  places.forEach((p, i) => rows[row[i]].push(p));
  const through = edges.map((e) => {
    if (back.has(e))
      return [];
    const passes = [];
    let last = places[e.from];
    for (let r = row[e.from] + 1; r <= row[e.to]; r++) {
      const p = r === row[e.to] ? places[e.to] : { w: PASS, h: 0, x: 0, at: 0, want: 0, above: [], below: [], block: -1 };
      if (p.block < 0) {
        rows[r].push(p);
        passes.push({ p, r });
      }
      last.below.push(p);
      p.above.push(last);
      last = p;
    }
    return passes;
  });
  order(rows);
  place(rows);
  const left = rows.flat().reduce((least, p) => Math.min(least, p.x), Infinity);
  const tops = [];
  let y = 30;
  rows.forEach((r, i) => {
    tops[i] = y;
    y += Math.max(20, ...r.map((p) => p.h)) + GAP_Y;
  });
  let right = 0;
  places.forEach((p, i) => {
    blocks[i].x = p.x - left + 10;
    blocks[i].y = tops[row[i]];
    right = Math.max(right, blocks[i].x + p.w);
  });
  const bottoms = rows.map((r, i) => tops[i] + Math.max(20, ...r.map((p) => p.h)));
  let lanes = 0;
  const paths = edges.map((e, i) => {
    const a = blocks[e.from], b = blocks[e.to], from = { x: a.x + a.w / 2, y: a.y + a.h }, to = { x: b.x + b.w / 2, y: b.y };
    if (back.has(e)) {
      const beside = Math.max(...rows.slice(row[e.to], row[e.from] + 1).flat().map((p) => p.x - left + 10 + p.w));
      const x = beside + LANE * (1 + lanes++ % 8);
      right = Math.max(right, x);
      return { back: true, lane: x, points: [{ x: a.x + a.w * 0.75, y: a.y + a.h }, { x: b.x + b.w * 0.75, y: b.y }] };
    }
    return { back: false, lane: 0, points: [from, ...through[i].flatMap(({ p, r }) => [{ x: middle(p) - left + 10, y: tops[r] }, { x: middle(p) - left + 10, y: bottoms[r] }]), to] };
  });
  return { width: right + 20, height: y, paths };
}
