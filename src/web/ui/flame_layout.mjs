// SPDX-License-Identifier: BSD-2-Clause
// Which boxes of a level are drawn, and which one is at a place.  The cost is that of the pixels, not of the boxes: an
// index over x jumps over those that are too small to draw.

// Fills X: children begin where their parent does, one behind the other.  Returns the boxes of each depth, from left to
// right: BOX are their numbers, X and END where they begin and end.  FIRST[B] is the first of them that begins in or behind
// bucket B; buckets are equally wide, one per box.  Levels that nobody looks at have no FIRST.
export function indexLevels({ n, depth, x, total, deepest }) {
  const nLevels = deepest[0] + 1, begins = new Uint32Array(nLevels + 1), next = new Float64Array(nLevels + 1);
  const box = new Uint32Array(n), left = new Float64Array(n), right = new Float64Array(n);
  for (let i = 0; i < n; i++)
    begins[depth[i] + 1]++;
  for (let d = 0; d < nLevels; d++)
    begins[d + 1] += begins[d];
  const at = begins.slice();
  for (let i = 0; i < n; i++) {
    const d = depth[i], k = at[d]++, from = next[d], to = from + total[i];
    next[d] = to;
    next[d + 1] = from;
    box[k] = i;
    x[i] = left[k] = from;
    right[k] = to;
  }
  return Array.from({ length: nLevels }, (_, d) => {
    const from = begins[d], to = begins[d + 1];
    return { n: to - from, box: box.subarray(from, to), x: left.subarray(from, to), end: right.subarray(from, to), first: null, low: 0, step: 1, shown: null };
  });
}

function makeBuckets(l) {
  const { n, x } = l, low = l.low = x[0], step = l.step = (l.end[n - 1] - low) / n || 1;
  const first = l.first = new Uint32Array(n + 2).fill(n);
  for (let k = n - 1; k >= 0; k--)
    first[Math.min(n, Math.floor((x[k] - low) / step))] = k;
  for (let b = n; b >= 0; b--)
    if (first[b] > first[b + 1])
      first[b] = first[b + 1];
}

// The place in LEVEL of the first box that begins at AT or behind it.
function seek(level, at) {
  if (!level.first)
    makeBuckets(level);
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

// What eachShown tells, as N numbers: the place of a box and -1, or those of the first and the last of what is too small.
// LEVEL keeps it until another part is asked for: a search gives the same boxes other colours.
export function shownOf(level, from, to, least) {
  const was = level.shown;
  if (was && was.from === from && was.to === to && was.least === least)
    return was;
  let list = was ? was.list : new Int32Array(64), n = 0;
  const add = (a, b) => {
    if (n === list.length) {
      const more = new Int32Array(2 * n);
      more.set(list);
      list = more;
    }
    list[n++] = a;
    list[n++] = b;
  };
  eachShown(level, from, to, least, (k) => add(k, -1), add);
  return level.shown = { from, to, least, list, n };
}

// The place in LEVEL of the box at amount AT, or -1.
export function placeAt(level, at) {
  const k = seek(level, at + 1e-9) - 1;
  return k >= 0 && at <= level.end[k] ? k : -1;
}
