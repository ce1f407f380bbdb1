// SPDX-License-Identifier: BSD-2-Clause
// Reads the data block of time lines (view/trace_html.c tells its layout).

// Returns { head, nodes, threads }.  NODES has parent and name by number.  Each of THREADS has what HEAD says of it and
// its spans by column, in order of time, in microseconds:
//   begin, end, state, node, waker (a thread's number + 1), wakerNode
//   sums[S]   how long all spans before each one were in state S
export function decodeTrace(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const [headBytes, nSpans, nNodes] = [0, 4, 8].map((at) => view.getUint32(at, true));
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(12, 12 + headBytes)));
  let at = 12 + headBytes;
  const column = (n, make, skip = 0) => {
    const v = new make(n);
    for (let i = skip; i < n; i++) {
      let b = bytes[at++], x = b & 127;
      for (let scale = 128; b & 128; scale *= 128) {
        b = bytes[at++];
        x += (b & 127) * scale;
      }
      v[i] = x;
    }
    return v;
  };
  const parent = column(nNodes, Uint32Array, 1), name = column(nNodes, Uint32Array, 1);
  for (let i = 1; i < nNodes; i++)
    parent[i] = i - parent[i];
  const begin = column(nSpans, Float64Array), end = column(nSpans, Float64Array);
  const state = column(nSpans, Uint8Array), node = column(nSpans, Uint32Array), waker = column(nSpans, Uint32Array);
  const places = column(waker.reduce((n, w) => n + (w ? 1 : 0), 0), Uint32Array), wakerNode = new Uint32Array(nSpans);
  for (let i = 0, k = 0; i < nSpans; i++)
    if (waker[i])
      wakerNode[i] = places[k++];
  let first = 0;
  const threads = head.threads.map((th, number) => {
    const of = (v) => v.subarray(first, first + th.spans);
    const t = { ...th, number, begin: of(begin), end: of(end), state: of(state), node: of(node), waker: of(waker), wakerNode: of(wakerNode) };
    t.sums = head.states.map(() => new Float64Array(th.spans + 1));
    let now = 0;
    for (let k = 0; k < th.spans; k++) {
      t.begin[k] += now;
      t.end[k] += t.begin[k];
      now = t.end[k];
      t.sums.forEach((sum, s) => {
        sum[k + 1] = sum[k] + (t.state[k] === s ? t.end[k] - t.begin[k] : 0);
      });
    }
    first += th.spans;
    return t;
  });
  return { head, nodes: { parent, name }, threads };
}

// The number of T's first span that ends behind TIME.
export function spanAt(t, time, from = 0) {
  let low = from, high = t.end.length;
  for (let step = 1; low + step < high; step *= 2) {
    if (t.end[low + step] > time) {
      high = low + step;
      break;
    }
    low += step;
  }
  while (low < high) {
    const mid = (low + high) >> 1;
    if (t.end[mid] <= time)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

// How long T was in state S from the beginning until TIME, which lies before the end of span K and not before that of
// K - 1.
function timeIn(t, s, k, time) {
  const part = k < t.end.length && t.state[k] === s ? Math.max(0, time - t.begin[k]) : 0;
  return t.sums[s][k] + part;
}

// Goes through the pixels of thread T between FROM and TO, WIDTH in all.  Calls WHOLE(x0, x1, k) for pixels that lie in
// span K alone, and MIXED(x, shares, first, last) for a pixel of several, or of none in part: what share of it each state
// has.  Its cost is that of the pixels, not of the spans.
export function eachPixel(t, from, to, width, whole, mixed) {
  const per = (to - from) / width, n = t.end.length, nStates = t.sums.length, shares = new Float64Array(nStates);
  let k = spanAt(t, from), x = 0;
  while (x < width && k < n) {
    const t0 = from + x * per;
    if (t.begin[k] >= t0 + per) { // nothing is here
      x = Math.max(x + 1, Math.floor((t.begin[k] - from) / per));
      continue;
    }
    const full = Math.min(width, Math.floor((t.end[k] - from) / per));
    if (t.begin[k] <= t0 && full > x) {
      whole(x, full, k);
      x = full;
      k = spanAt(t, from + x * per, k);
      continue;
    }
    const next = spanAt(t, t0 + per, k);
    for (let s = 0; s < nStates; s++)
      shares[s] = (timeIn(t, s, next, t0 + per) - timeIn(t, s, k, t0)) / per;
    mixed(x, shares, k, Math.min(next, n - 1));
    x++;
    k = next;
  }
}
