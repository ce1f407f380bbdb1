// SPDX-License-Identifier: BSD-2-Clause
// Reads the data block of a flame graph (view/flame_html.c tells its layout).

// Unpacks base64 of zlib's format into bytes.
export async function unpack(base64) {
  const packed = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The boxes, one column per property, in preorder.  Box 0 is the whole; the file's boxes stand below it.
//   depth, parent, end   the boxes below I are those from I + 1 up to END[I]
//   frame                number in HEAD's columns of frames; -1 for the whole
//   self, total, x       amounts; X is the sum of what is left of it
//   small                how many boxes a small one stands for
// Of two sets self and total are what both have together, the first at the second's scale, and there are
//   was, is              totals of the first and the second, as counted
//   change               number in HEAD.changes
export function decode(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const headBytes = view.getUint32(0, true);
  const n = view.getUint32(4, true) + 1;
  let at = 8 + headBytes;
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(8, at)));
  const number = () => {
    let x = 0, scale = 1, b;
    do {
      b = bytes[at++];
      x += (b & 127) * scale;
      scale *= 128;
    } while (b & 128);
    return x;
  };
  const boxes = {
    n,
    depth: new Uint32Array(n), parent: new Int32Array(n), end: new Uint32Array(n), frame: new Int32Array(n),
    self: new Float64Array(n), total: new Float64Array(n), x: new Float64Array(n), small: new Uint32Array(n),
  };
  const { depth, parent, end, frame, self, total, x, small } = boxes;
  const path = [0];
  parent[0] = frame[0] = -1;
  for (let i = 1; i < n; i++) {
    depth[i] = depth[i - 1] + 1 - number();
    path[depth[i]] = i;
    parent[i] = path[depth[i] - 1];
  }
  for (let i = 1; i < n; i++)
    frame[i] = number();
  for (let i = 1; i < n; i++)
    self[i] = number();
  if (head.sides)
    takeSides(head, boxes, number);
  const isSmall = head.kinds.indexOf("small");
  for (let i = 1; i < n; i++)
    if (head.kind[frame[i]] === isSmall)
      small[i] = number();
  for (let i = n - 1; i >= 0; i--) {
    total[i] += self[i];
    if (!end[i])
      end[i] = i + 1;
    if (i) {
      total[parent[i]] += total[i];
      if (end[parent[i]] < end[i])
        end[parent[i]] = end[i];
    }
  }
  // Children begin where their parent does, one behind the other.
  const next = new Float64Array(n);
  for (let i = 1; i < n; i++) {
    x[i] = next[parent[i]];
    next[parent[i]] += total[i];
    next[i] = x[i];
  }
  return { head, boxes, levels: levelsOf(boxes) };
}

function takeSides(head, boxes, number) {
  const { n, self, parent } = boxes;
  const scale = head.sides[1].total / head.sides[0].total;
  const was = new Float64Array(n), is = Float64Array.from(self), change = new Uint8Array(n);
  for (let i = 1; i < n; i++) {
    was[i] = number();
    self[i] += was[i] * scale;
  }
  for (let i = 1; i < n; i++)
    change[i] = number();
  for (let i = n - 1; i > 0; i--) {
    was[parent[i]] += was[i];
    is[parent[i]] += is[i];
  }
  Object.assign(boxes, { was, is, change });
}

// For each depth its boxes, from left to right.
function levelsOf({ n, depth }) {
  const counts = [];
  for (let i = 0; i < n; i++)
    counts[depth[i]] = (counts[depth[i]] || 0) + 1;
  const levels = counts.map((c) => new Uint32Array(c));
  const filled = counts.map(() => 0);
  for (let i = 0; i < n; i++)
    levels[depth[i]][filled[depth[i]]++] = i;
  return levels;
}
