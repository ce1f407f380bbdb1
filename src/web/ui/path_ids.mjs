// SPDX-License-Identifier: BSD-2-Clause
// Names for boxes and rows in the address.  Their numbers mean something else as soon as there are more samples; so a box is
// called by the path that leads to it:
//
//     main > work > sort      "9ad1c4b7" whatever else is drawn
//     main > work > sort      "9ad1c4b7-1": the second one of that path, at another address

// FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/) of TEXT, going on from ABOVE.
function hashText(text, above) {
  let h = above;
  for (let i = 0; i < text.length; i++)
    h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  return Math.imul(h ^ 0x10000, 16777619) >>> 0; // "a", "b" is another path than "ab"
}

// A hash for each of N places, of which PARENT(i) stands before i, or is -1, and KEY(i) is a text.
export function pathHashes(n, parent, key) {
  const hashes = new Uint32Array(n);
  for (let i = 0; i < n; i++)
    hashes[i] = hashText(key(i), parent(i) < 0 ? 2166136261 : hashes[parent(i)]);
  return hashes;
}

export function idOf(hashes, i) {
  let before = 0;
  for (let k = hashes.indexOf(hashes[i]); k < i; k = hashes.indexOf(hashes[i], k + 1))
    before++;
  return hashes[i].toString(16).padStart(8, "0") + (before ? `-${before}` : "");
}

// The place that ID means; -1: none.
export function placeOf(hashes, id) {
  const [, hex, before = "0"] = /^([0-9a-f]{8})(?:-(\d+))?$/.exec(id) || [];
  let at = hex ? hashes.indexOf(parseInt(hex, 16)) : -1;
  for (let k = Number(before); k > 0 && at >= 0; k--)
    at = hashes.indexOf(hashes[at], at + 1);
  return at;
}
