// SPDX-License-Identifier: BSD-2-Clause
// Which frames a search means.

// A test for names: TEXT as it stands, whatever the case, or /regex/ and /regex/i.  Null for no text; throws what
// the engine says of a wrong expression.
export function matcher(text) {
  const regex = /^\/(.+)\/(i?)$/.exec(text);
  if (!text)
    return null;
  if (regex) {
    const compiled = new RegExp(regex[1], regex[2]);
    return (name) => compiled.test(name);
  }
  const lower = text.toLowerCase();
  return (name) => name.toLowerCase().includes(lower);
}

const lowers = new WeakMap(); // a search asks for the same names with each key

function lowerNames(head) {
  let names = lowers.get(head);
  if (!names)
    lowers.set(head, names = head.name.map((name) => name.toLowerCase()));
  return names;
}

// 1 for each frame whose name or image TEXT matches, else 0.
function matchFrames(head, text) {
  const matches = matcher(text), isRegex = /^\/.+\/i?$/.test(text);
  const images = Uint8Array.from(head.images, (name) => matches(name) ? 1 : 0), any = images.includes(1);
  const names = isRegex ? head.name : lowerNames(head), wanted = text.toLowerCase();
  const frames = new Uint8Array(names.length);
  for (let f = 0; f < frames.length; f++)
    if (any && images[head.image[f]] || (isRegex ? matches(names[f]) : names[f].includes(wanted)))
      frames[f] = 1;
  return frames;
}

// Which frames match and which boxes, by number, each 1 or 0, and the amount of all boxes that do.  A box below another
// match counts once.
export function search({ head, boxes }, text) {
  if (!text)
    return null;
  const frames = matchFrames(head, text);
  const { n, frame, end, total } = boxes, hits = new Uint8Array(n);
  let amount = 0, counted = 0; // boxes before COUNTED are below a match
  for (let i = 1; i < n; i++) {
    if (!frames[frame[i]])
      continue;
    hits[i] = 1;
    if (i >= counted) {
      amount += total[i];
      counted = end[i];
    }
  }
  return { frames, hits, amount };
}
