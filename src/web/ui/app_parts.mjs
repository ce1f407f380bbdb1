// SPDX-License-Identifier: BSD-2-Clause
// What a cgroup's path says: which unit of systemd, which container; and words that choose samples.
//
//     /system.slice/nginx.service/worker                                          unit nginx.service
//     /user.slice/user-1000.slice/session-3.scope                                 unit session-3.scope
//     /kubepods.slice/kubepods-pod7d1f.slice/cri-containerd-0123456789abcdef....scope   container cri-containerd-0123456789ab

// The innermost service, scope, socket or mount; where there is none, the innermost slice (systemd.unit(5)).
export function unitOf(cgroup) {
  const parts = cgroup.split("/").reverse();
  return parts.find((p) => /.\.(service|scope|socket|mount|swap)$/.test(p)) || parts.find((p) => /.\.slice$/.test(p));
}

const ID = /[0-9a-f]{32,64}/;

// The innermost part that is named as engines name containers: an id, behind the engine's name or below it.  An id has its first
// twelve digits, as engines show it.
export function containerOf(cgroup) {
  const parts = cgroup.split("/").filter(Boolean);
  for (let i = parts.length - 1; i >= 0; i--) {
    const name = parts[i].replace(/\.(scope|service)$/, "");
    if (ID.test(name) || /^(docker|cri-containerd|crio|libpod|containerd|lxc\.payload)[-.:]./.test(name) || /^(docker|lxc)$/.test(parts[i - 1] || ""))
      return name.replace(ID, (id) => id.slice(0, 12));
  }
  return undefined;
}

// The words of TEXT, which are separated by spaces: comm="Web Content" is one of them.
export function wordsOf(text) {
  return (text.match(/(?:[^\s"]|"[^"]*"?)+/g) || []).map((word) => word.replaceAll('"', ""));
}

// VALUE as a word of KEY.
export function wordOf(key, value) {
  const plain = value.replaceAll('"', "");
  return /\s/.test(plain) ? `${key}="${plain}"` : `${key}=${plain}`;
}
