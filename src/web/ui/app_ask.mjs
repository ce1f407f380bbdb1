// SPDX-License-Identifier: BSD-2-Clause
// Questions to the server.  A question is a command of dwell: /api/prof?by=comm is `dwell prof --json --by comm`.

let token = "";

export function useToken(text) {
  token = text;
}

// The answer to NAME with PARAMS, whose empty ones are left out: an object, or bytes.  Throws an Error with the server's
// words.
export async function ask(name, params, signal) {
  const response = await begin(name, params, signal);
  const isBytes = response.headers.get("Content-Type") === "application/octet-stream";
  return isBytes ? new Uint8Array(await response.arrayBuffer()) : response.json();
}

// The parts of the answer to NAME with PARAMS, each behind its length (u32), as soon as they are here.
export async function* askParts(name, params, signal) {
  const reader = (await begin(name, params, signal)).body.getReader();
  let chunks = [], n = 0;

  // The next SIZE bytes; null at the end.
  async function take(size) {
    while (n < size) {
      const { done, value } = await reader.read();
      if (done)
        return null;
      chunks.push(value);
      n += value.length;
    }
    const all = joined(chunks, n);
    chunks = [all.subarray(size)];
    n -= size;
    return all.subarray(0, size);
  }
  try {
    for (let head; (head = await take(4));)
      yield await take(new DataView(head.buffer, head.byteOffset).getUint32(0, true));
  } catch (e) {
    throw e.name === "AbortError" ? e : new Error("the answer ended in the middle: it took more time or memory than it may have, or dwell web has ended");
  }
}

function joined(chunks, n) {
  if (chunks.length === 1)
    return chunks[0];
  const all = new Uint8Array(n);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

async function begin(name, params, signal) {
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
  return response;
}
