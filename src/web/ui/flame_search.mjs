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

// Which frames match and which boxes, by number, each 1 or 0, and the amount of all boxes that do.  A box below another
// match counts once.
export function search({ head, boxes }, text) {
  const matches = matcher(text);
  if (!matches)
    return null;
  const images = head.images.map(matches);
  const frames = Uint8Array.from(head.name, (name, i) => images[head.image[i]] || matches(name) ? 1 : 0);
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
