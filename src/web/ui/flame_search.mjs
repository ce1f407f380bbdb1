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

// Which frames match, by number, and the amount of all boxes that do.  A box below another match counts once.
export function search({ head, boxes }, text) {
  const matches = matcher(text);
  if (!matches)
    return null;
  const images = head.images.map(matches);
  const frames = head.name.map((name, i) => images[head.image[i]] || matches(name));
  let amount = 0;
  for (let i = 1; i < boxes.n; ) {
    if (frames[boxes.frame[i]]) {
      amount += boxes.total[i];
      i = boxes.end[i];
    } else {
      i++;
    }
  }
  return { frames, amount };
}
