// SPDX-License-Identifier: BSD-2-Clause
// Units and containers out of the paths of cgroups, as systemd and engines of containers make them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { containerOf, unitOf, wordOf, wordsOf } from "../../src/web/ui/app_parts.mjs";

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
