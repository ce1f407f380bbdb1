// SPDX-License-Identifier: BSD-2-Clause
// Which boxes of a level are drawn, and which one is at a place.  The cost is that of the pixels, not of the boxes: an
// index over x jumps over those that are too small to draw.

// The boxes of each depth, from left to right: BOX are their numbers, X and END where they begin and end.  FIRST[B] is
// the first of them that begins in or behind bucket B; buckets are equally wide, one per box.
export function indexLevels({ n, depth, x, total }) {
  const counts = [];
  for (let i = 0; i < n; i++)
    counts[depth[i]] = (counts[depth[i]] || 0) + 1;
  const levels = counts.map((c) => ({ n: 0, box: new Uint32Array(c), x: new Float64Array(c), end: new Float64Array(c), first: null, low: 0, step: 1 }));
  for (let i = 0; i < n; i++) {
    const l = levels[depth[i]], k = l.n++;
    l.box[k] = i;
    l.x[k] = x[i];
    l.end[k] = x[i] + total[i];
  }
  for (const l of levels) {
    l.low = l.x[0];
    l.step = (l.end[l.n - 1] - l.low) / l.n || 1;
    l.first = new Uint32Array(l.n + 2).fill(l.n);
    for (let k = l.n - 1; k >= 0; k--)
      l.first[Math.min(l.n, Math.floor((l.x[k] - l.low) / l.step))] = k;
    for (let b = l.n; b >= 0; b--)
      if (l.first[b] > l.first[b + 1])
        l.first[b] = l.first[b + 1];
  }
  return levels;
}

// The place in LEVEL of the first box that begins at AT or behind it.
function seek(level, at) {
  const { x, first, n } = level;
  const b = (at - level.low) / level.step;
  if (!(b > 0))
    return 0;
  // Rounding may have put a box into the bucket beside its own.
  let k = b < n ? first[b | 0] : n, high = b < n ? Math.min(first[(b | 0) + 1] + 1, n) : n;
  while (k && x[k - 1] >= at)
    k--;
  while (high < n && x[high - 1] < at)
    high++;
  while (k < high) {
    const mid = (k + high) >> 1;
    if (x[mid] < at)
      k = mid + 1;
    else
      high = mid;
  }
  return k;
}

// Goes through what LEVEL shows between the amounts FROM and TO.  Calls BOX(k) for a box of LEAST or more, by its place
// in LEVEL, and RUN(first, last) for neighbours that have less.
export function eachShown(level, from, to, least, box, run) {
  const { x, end, n } = level;
  let k = seek(level, from);
  if (k && end[k - 1] > from)
    k--;
  while (k < n && x[k] < to) {
    if (end[k] - x[k] >= least) {
      box(k++);
      continue;
    }
    const first = k;
    let reach = end[k++];
    while (k < n && x[k] < reach + least && reach < to) {
      const j = x[n - 1] < reach + least ? n : seek(level, reach + least);
      // Only the last of the boxes that begin within LEAST can be wide.
      if (end[j - 1] - x[j - 1] >= least) {
        k = j - 1;
        break;
      }
      reach = end[j - 1];
      k = j;
    }
    run(first, k - 1);
  }
}

// The place in LEVEL of the box at amount AT, or -1.
export function placeAt(level, at) {
  const k = seek(level, at + 1e-9) - 1;
  return k >= 0 && at <= level.end[k] ? k : -1;
}
