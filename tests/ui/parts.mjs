// SPDX-License-Identifier: BSD-2-Clause
// Units and containers out of the paths of cgroups, as systemd and engines of containers make them; words of the query bar;
// names of boxes in the address; answers in parts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { askParts } from "../../src/web/ui/app_ask.mjs";
import { containerOf, newestOf, unitOf, wordOf, wordsOf } from "../../src/web/ui/app_parts.mjs";
import { idOf, pathHashes, placeOf } from "../../src/web/ui/path_ids.mjs";

const ID = "0123456789abcdef".repeat(4);

test("units", () => {
  assert.equal(unitOf("/system.slice/nginx.service"), "nginx.service");
  assert.equal(unitOf("/system.slice/nginx.service/worker"), "nginx.service");
  assert.equal(unitOf("/user.slice/user-1000.slice/session-3.scope"), "session-3.scope");
  assert.equal(unitOf("/user.slice/user-1000.slice/user@1000.service/app.slice/app-editor.scope"), "app-editor.scope");
  assert.equal(unitOf("/user.slice/user-1000.slice"), "user-1000.slice");
  assert.equal(unitOf("/"), undefined);
  assert.equal(unitOf("/lxc/.service"), undefined);
});

test("containers", () => {
  assert.equal(containerOf(`/system.slice/docker-${ID}.scope`), "docker-0123456789ab");
  assert.equal(containerOf(`/docker/${ID}`), "0123456789ab");
  assert.equal(containerOf(`/docker/${ID}/init.scope`), "0123456789ab");
  assert.equal(containerOf(`/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod7d1f.slice/cri-containerd-${ID}.scope`), "cri-containerd-0123456789ab");
  assert.equal(containerOf(`/kubepods/besteffort/pod7d1f/${ID}`), "0123456789ab");
  assert.equal(containerOf(`/machine.slice/libpod-${ID}.scope/container`), "libpod-0123456789ab");
  assert.equal(containerOf("/lxc/web1"), "web1");
  assert.equal(containerOf("/lxc.payload.web1/system.slice/cron.service"), "lxc.payload.web1");
  assert.equal(containerOf("/system.slice/nginx.service"), undefined);
});

test("words", () => {
  assert.deepEqual(wordsOf('  comm=cc1  label="a b" "Web Content"'), ["comm=cc1", "label=a b", "Web Content"]);
  assert.deepEqual(wordsOf('comm="not clos'), ["comm=not clos"]);
  assert.deepEqual(wordsOf(""), []);
  for (const value of ["cc1", "Web Content", "a=b", "=", "tab\there"])
    assert.deepEqual(wordsOf(wordOf("comm", value)), [`comm=${value}`]);
});

test("the newest recordings have names", () => {
  const rows = (...each) => each.map(([epoch, host, job]) => ({ epoch, host, job: job || null }));
  assert.equal(newestOf([]), "");
  assert.equal(newestOf(rows(["1", "a"], ["2", "a"])), "2");
  assert.equal(newestOf(rows(["1", "a"], ["2", "b"], ["3", "a"])), "2,3");
  assert.equal(newestOf(rows(["1", "a"], ["2", "a", "j"], ["3", "a"], ["4", "a", "j"])), "2,4");
  assert.equal(newestOf(rows(["1", "a"], ["2", "a", "j"], ["3", "a", "j"], ["4", "a", "j"])), "2..4");
  const hosts = Array.from({ length: 200 }, (_, i) => [`${i % 2 ? "20261126T" : "20261125T"}${100000 + i}`, `host${i >> 1}`]);
  assert.equal(newestOf(rows(...hosts)).split(",").length, 100);
  assert.equal(newestOf(rows(["0", "first"], ["1", "a"], ...hosts, ["2", "a"])), "");
});

// Trees as [parent, name] of each place.
const hashesOf = (tree) => pathHashes(tree.length, (i) => tree[i][0], (i) => tree[i][1]);

test("ids of boxes mean the same path in another tree", () => {
  const before = [[-1, "all"], [0, "main"], [1, "work"], [2, "sort"], [1, "sort"], [0, "sort"]];
  const after = [[-1, "all"], [0, "init"], [1, "sort"], [0, "main"], [3, "sort"], [3, "idle"], [3, "work"], [6, "sort"], [0, "sort"]];
  const [was, is] = [hashesOf(before), hashesOf(after)];
  for (const [old, now] of [[0, 0], [1, 3], [2, 6], [3, 7], [4, 4], [5, 8]])
    assert.equal(placeOf(is, idOf(was, old)), now);
  assert.equal(placeOf(was, idOf(is, 1)), -1, "init was not there");
  assert.notEqual(idOf(hashesOf([[-1, "ab"], [0, "c"]]), 1), idOf(hashesOf([[-1, "a"], [0, "bc"]]), 1));
});

test("boxes of one path have ids of their own", () => {
  const hashes = hashesOf([[-1, "all"], [0, "f"], [0, "g"], [0, "f"], [3, "x"], [0, "f"]]);
  for (let i = 0; i < hashes.length; i++)
    assert.equal(placeOf(hashes, idOf(hashes, i)), i);
  for (const bad of ["", "3", "xyz", "00000000", `${idOf(hashes, 1)}-9`, "../..", `${idOf(hashes, 1)}-`])
    assert.equal(placeOf(hashes, bad), -1, bad);
});

// Parts of an answer that comes in CHUNKS, and the error it ends with.
async function partsOf(chunks, fails = false) {
  const body = new ReadableStream({
    start(controller) {
      chunks.forEach((c) => controller.enqueue(Uint8Array.from(c)));
      if (!fails)
        controller.close();
    },
    pull(controller) {
      controller.error(new TypeError("network error"));
    },
  });
  const was = globalThis.fetch, parts = [];
  globalThis.fetch = async () => new Response(body);
  try {
    for await (const part of askParts("flame", {}, undefined))
      parts.push([...part]);
  } catch (e) {
    parts.push(e.message);
  } finally {
    globalThis.fetch = was;
  }
  return parts;
}

test("answers in parts, wherever they are cut", async () => {
  const bytes = [3, 0, 0, 0, 7, 8, 9, 0, 0, 0, 0, 1, 0, 0, 0, 5], parts = [[7, 8, 9], [], [5]];
  for (let at = 0; at <= bytes.length; at++)
    assert.deepEqual(await partsOf([bytes.slice(0, at), bytes.slice(at)]), parts, String(at));
  assert.deepEqual(await partsOf(bytes.map((b) => [b])), parts);
  assert.deepEqual(await partsOf([]), []);
  const [first, said] = await partsOf([bytes.slice(0, 9)], true);
  assert.deepEqual(first, [7, 8, 9]);
  assert.match(said, /^the answer ended in the middle: it took more time or memory/);
});
