// SPDX-License-Identifier: BSD-2-Clause
// Reads the data block of a flame graph (view/flame_html.c tells its layout).
import { indexLevels } from "./flame_layout.mjs";

// Unpacks base64 of zlib's format into bytes.
export async function unpack(base64) {
  const packed = bytesOf(base64);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function bytesOf(base64) {
  if ("fromBase64" in Uint8Array) // in browsers since 2025
    return /** @type {any} */ (Uint8Array).fromBase64(base64);
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++)
    bytes[i] = text.charCodeAt(i);
  return bytes;
}

// Returns { head, boxes, levels }: HEAD is what the block's JSON says, LEVELS are those of flame_layout.mjs.  HEAD.outline: the
// boxes are an outline; decodeWhole(head, bytes) returns the picture of a page's second block.
// Boxes have one column per property, in preorder.  Box 0 is the whole; the file's boxes stand below it.
//   depth, parent, end   the boxes below I are those from I + 1 up to END[I]
//   deepest              the greatest depth at or below I
//   frame                number in HEAD's columns of frames; -1 for the whole
//   self, total, x       amounts; X is the sum of what is left of it
//   small                how many boxes a small one stands for
// When two sets are compared, self and total are what both have together, the first at the second's scale, and there
// are
//   was, is              totals of the first and the second, as counted
//   change               number in HEAD.changes
// A picture of wall time has
//   runnable, blocked    the part of total in which threads waited for a CPU, or for something else
export function decode(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const headBytes = view.getUint32(0, true);
  const reader = { bytes, at: 8 + headBytes };
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(8, reader.at)));
  return takeFlame(head, view.getUint32(4, true), reader);
}

// Bytes are how many boxes there are, and their columns.
export function decodeWhole(head, bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return takeFlame(head, view.getUint32(0, true), { bytes, at: 4 });
}

function takeFlame(head, nBoxes, reader) {
  const n = nBoxes + 1;
  const depth = new Uint32Array(n), frame = new Int32Array(n), self = new Float64Array(n), small = new Uint32Array(n);
  const parent = new Int32Array(n), total = new Float64Array(n);
  const boxes = { n, depth, parent, end: new Uint32Array(n), deepest: new Uint32Array(n), frame, self, total, x: new Float64Array(n), small };
  takeColumn(reader, depth);
  takeColumn(reader, frame);
  takeColumn(reader, self);
  takeDepths(boxes);
  frame[0] = -1;
  if (head.sides)
    takeSides(head, boxes, reader);
  if (head.states)
    for (const state of ["runnable", "blocked"])
      sumUp(boxes, takeColumn(reader, boxes[state] = new Float64Array(n)));
  const isSmall = head.kinds.indexOf("small");
  if (head.kind.includes(isSmall))
    for (let i = 1; i < n; i++)
      if (head.kind[frame[i]] === isSmall)
        small[i] = takeNumber(reader);
  takeTotals(boxes);
  return { head, boxes, levels: indexLevels(boxes) };
}

function takeNumber(reader) {
  const { bytes } = reader;
  let b = bytes[reader.at++], x = b & 127;
  for (let scale = 128; b & 128; scale *= 128) {
    b = bytes[reader.at++];
    x += (b & 127) * scale;
  }
  return x;
}

// Fills COLUMN from place 1 on.
function takeColumn(reader, column) {
  const { bytes } = reader;
  let at = reader.at;
  for (let i = 1; i < column.length; i++) {
    let b = bytes[at++], x = b & 127;
    for (let scale = 128; b & 128; scale *= 128) {
      b = bytes[at++];
      x += (b & 127) * scale;
    }
    column[i] = x;
  }
  reader.at = at;
  return column;
}

// Makes depths and parents of how far each box goes up.
function takeDepths({ n, depth, parent }) {
  let path = new Int32Array(256);
  parent[0] = -1;
  for (let i = 1, d = 0; i < n; i++) {
    d += 1 - depth[i];
    if (d === path.length)
      path = grown(path);
    depth[i] = d;
    path[d] = i;
    parent[i] = path[d - 1];
  }
}

function grown(old) {
  const more = new old.constructor(old.length * 2);
  more.set(old);
  return more;
}

// Goes from the last box to the first, so that all below a box are known before the box itself.
function takeTotals({ n, depth, parent, end, deepest, self, total }) {
  for (let i = n - 1; i >= 0; i--) {
    const p = parent[i], sum = total[i] += self[i];
    if (!end[i])
      end[i] = i + 1;
    if (deepest[i] < depth[i])
      deepest[i] = depth[i];
    if (p < 0)
      continue;
    total[p] += sum;
    if (!end[p]) // I is the last of P's boxes
      end[p] = end[i];
    if (deepest[p] < deepest[i])
      deepest[p] = deepest[i];
  }
}

// Adds what each box has to its parents.
function sumUp({ n, parent }, column) {
  for (let i = n - 1; i > 0; i--)
    column[parent[i]] += column[i];
}

function takeSides(head, boxes, reader) {
  const { n, self } = boxes;
  const scale = head.sides[1].total / head.sides[0].total;
  const was = new Float64Array(n), is = Float64Array.from(self), change = new Uint8Array(n);
  takeColumn(reader, was);
  takeColumn(reader, change);
  for (let i = 1; i < n; i++)
    self[i] += was[i] * scale;
  sumUp(boxes, was);
  sumUp(boxes, is);
  Object.assign(boxes, { was, is, change });
}
