// SPDX-License-Identifier: BSD-2-Clause
// Questions to the server.  A question is a command of dwell: /api/prof?by=comm is `dwell prof --json --by comm`.

let token = "";

export function useToken(text) {
  token = text;
}

// The answer to NAME with PARAMS, whose empty ones are left out: an object, or the bytes of a picture.  Throws an Error
// with the server's words.
export async function ask(name, params, signal) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params))
    for (const one of [value].flat())
      if (one !== undefined && one !== null && one !== "")
        query.append(key, one);
  let response;
  try {
    response = await fetch(`/api/${name}?${query}`, { signal, headers: token ? { "X-Dwell-Token": token } : {} });
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
