// SPDX-License-Identifier: BSD-2-Clause
// Which boxes of a level are drawn, and which one is at a place.  The cost is that of the pixels, not of
// the boxes: many small ones are jumped over by binary search.

// The first place in LEVEL, from K on, whose box begins at AT or behind it.  It is mostly near: steps grow from one.
function lowerBound(level, x, k, at) {
  let step = 1;
  while (k + step < level.length && x[level[k + step - 1]] < at) {
    k += step;
    step *= 2;
  }
  let high = Math.min(k + step, level.length);
  while (k < high) {
    const mid = (k + high) >> 1;
    if (x[level[mid]] < at)
      k = mid + 1;
    else
      high = mid;
  }
  return k;
}

// Goes through what LEVEL shows between the amounts FROM and TO.  Calls BOX(i) for a box of LEAST or more, and
// RUN(first, last, begin, end) for neighbours that have less, by their places in LEVEL.
export function eachShown(boxes, level, from, to, least, box, run) {
  const { x, total } = boxes;
  let k = lowerBound(level, x, 0, from);
  if (k && x[level[k - 1]] + total[level[k - 1]] > from)
    k--;
  while (k < level.length && x[level[k]] < to) {
    const i = level[k];
    if (total[i] >= least) {
      box(i);
      k++;
      continue;
    }
    const first = k++;
    let end = x[i] + total[i];
    for (;;) {
      const j = lowerBound(level, x, k, end + least);
      // Of the boxes that begin within LEAST only the last one can be wide.
      const last = level[j - 1];
      if (j === k)
        break;
      if (total[last] >= least) {
        k = j - 1;
        if (k > first + 1)
          end = Math.max(end, x[level[k - 1]] + total[level[k - 1]]);
        break;
      }
      end = x[last] + total[last];
      k = j;
      if (end >= to)
        break;
    }
    run(first, k - 1, x[i], end);
  }
}

// The place in LEVEL of the box at amount X, or -1.
export function placeAt(boxes, level, at) {
  const k = lowerBound(level, boxes.x, 0, at + 1e-9) - 1;
  return k >= 0 && at <= boxes.x[level[k]] + boxes.total[level[k]] ? k : -1;
}

// The depth of the deepest box at or below I.
export function deepestBelow(boxes, i) {
  let deepest = boxes.depth[i];
  for (let k = i + 1; k < boxes.end[i]; k++)
    if (boxes.depth[k] > deepest)
      deepest = boxes.depth[k];
  return deepest;
}
