// SPDX-License-Identifier: BSD-2-Clause
// Questions to the server.  A question is a command of dwell: /api/prof?by=comm is `dwell prof --json --by comm`.

let token = "";

export function useToken(text) {
  token = text;
}

// The address of the question NAME with PARAMS, whose empty ones are left out.
function questionOf(name, params) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params))
    for (const one of [value].flat())
      if (one !== undefined && one !== null && one !== "")
        query.append(key, one);
  return `/api/${name}?${query}`;
}

const fetchQuestion = (url, signal) => fetch(url, { signal, headers: token ? { "X-Dwell-Token": token } : {} });

// Asks before the page is there, for what it will ask first (app_first.mjs).
export function askEarly(name, params) {
  const url = questionOf(name, params), control = new AbortController(), response = fetchQuestion(url, control.signal);
  response.catch(() => {}); // whoever takes it is told
  /** @type {any} */ (window).dwellAsked = { url, control, response };
}

// The early answer to URL, which is taken once.  A question that is not this one ends an early one.
function takeEarly(url, signal) {
  const w = /** @type {any} */ (window), early = w.dwellAsked;
  w.dwellAsked = undefined;
  if (early && (early.url !== url || signal?.aborted)) {
    early.control.abort();
    return null;
  }
  if (early)
    signal?.addEventListener("abort", () => early.control.abort());
  return early?.response;
}

// The answer to NAME with PARAMS: an object, or the bytes of a picture.  Throws an Error with the server's words.
export async function ask(name, params, signal) {
  const url = questionOf(name, params);
  let response;
  try {
    response = await (takeEarly(url, signal) || fetchQuestion(url, signal));
  } catch (e) {
    if (e.name === "AbortError")
      throw e;
    throw new Error("dwell web does not answer any more; start it again");
  }
  if (!response.ok) {
    const said = await response.json().catch(() => ({}));
    throw new Error(said.error || `the server says ${response.status}`);
  }
  const isBytes = response.headers.get("Content-Type") === "application/octet-stream";
  return isBytes ? new Uint8Array(await response.arrayBuffer()) : response.json();
}
