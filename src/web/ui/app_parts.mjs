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

const MOST_NAMES = 100; // of recordings in an address: a question has at most 8 KiB (answers.h)

// The recordings that are read when none is named, of ROWS of `dwell epochs`, as --epoch takes them: the newest and those of
// its job; where it has none, each host's newest.  "": they are too many to be named.
export function newestOf(rows) {
  const newest = rows[rows.length - 1], latest = new Map(rows.map((r) => [r.host, r.epoch]));
  const chosen = new Set(newest?.job ? rows.filter((r) => r.job === newest.job).map((r) => r.epoch) : latest.values());
  const first = rows.findIndex((r) => chosen.has(r.epoch)), between = rows.slice(first);
  if (chosen.size > 2 && between.every((r) => chosen.has(r.epoch)))
    return `${rows[first].epoch}..${newest.epoch}`;
  return chosen.size > MOST_NAMES ? "" : [...chosen].sort().join(",");
}
