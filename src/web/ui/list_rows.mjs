// SPDX-License-Identifier: BSD-2-Clause
// The rows of both sides of a listing.  A row is { kind, at, numbers, label, text, from, loops }: KIND is "line", "insn",
// "file" or "gap"; AT its number in the listing, of a gap the first it stands for.

const added = (sum, counts) => counts ? counts.map((n, i) => n + (sum?.[i] ?? 0)) : sum;

// Joins rows that are left out: LIST without what is neither hot nor leads there.
function withGaps(list, what, row) {
  const rows = [];
  let gap = null;
  list.forEach((item, at) => {
    if (item.heat) {
      rows.push(...row(item, at));
      gap = null;
      return;
    }
    if (!gap)
      rows.push(gap = { kind: "gap", at, n: 0, counts: null, label: "", loops: [] });
    gap.n++;
    gap.counts = added(gap.counts, item.counts);
    gap.text = `… ${gap.n} ${what}${gap.n === 1 ? "" : "s"}`;
  });
  return rows;
}

const all = (list, row) => list.flatMap((item, at) => row(item, at));

export function rowsOfSource(listing, onlyHot) {
  const own = listing.files.indexOf(listing.file);
  let file = own;
  const row = (line, at) => {
    const rows = [];
    if (line.text === null && !line.counts)
      return rows;
    if (line.file !== file)
      rows.push({ kind: "file", at, counts: null, label: "", text: listing.files[line.file], loops: [] });
    file = line.file;
    rows.push({ kind: "line", at, counts: line.counts, label: String(line.line), text: expandTabs(line.text ?? ""), loops: [] });
    return rows;
  };
  return onlyHot ? withGaps(listing.lines, "line", row) : all(listing.lines, row);
}

export function rowsOfCode(listing, onlyHot) {
  let inlined = -1;
  const row = (insn, at) => {
    const from = insn.inlined !== inlined && insn.inlined >= 0 ? `‹${listing.names[insn.inlined]}›` : "";
    inlined = insn.inlined;
    return [{ kind: "insn", at, counts: insn.counts, label: insn.svma, text: insn.text ?? "", from, loops: insn.loops }];
  };
  const rows = onlyHot ? withGaps(listing.insns, "instruction", row) : all(listing.insns, row);
  rows.arrows = placeArrows(listing, rows);
  return rows;
}

// Arrows by rows: those whose ends are shown.
function placeArrows(listing, rows) {
  const rowOf = new Map(rows.map((row, i) => [row.kind === "insn" ? row.at : -1 - i, i]));
  const arrows = [];
  for (const [lo, hi, target, lane] of listing.arrows) {
    const sources = [];
    for (let i = lo; i <= hi; i++)
      if (listing.jumps[i] === target && i !== target && rowOf.has(i))
        sources.push(rowOf.get(i));
    if (rowOf.has(target) && sources.length)
      arrows.push({ target: rowOf.get(target), sources, lane });
  }
  return arrows;
}

function expandTabs(text) {
  let out = "";
  for (const c of text)
    out += c === "\t" ? " ".repeat(8 - out.length % 8) : c;
  return out;
}
