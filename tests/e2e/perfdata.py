#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What perf recorded, beside what perf itself says of it.

perf prints every sample with its address and image; dwell counts places.  A place is an address less
where its image was mapped, so of one thread there are as many places as addresses, with the same
counts: those are compared, sorted, for each event, thread, command name and chain of images.  The
recordings are those of $DWELL_FIXTURES, made by others on other machines (skipped where it is not
there), and recordings made here with the perf there is."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess

from e2e import DWELL, Failed, Skipped, check, enough, least, longer, note, prog, run, sh

FIXTURES = pathlib.Path(os.environ.get("DWELL_FIXTURES", "")) / "perfdata"

# Those that perf 6.1 cannot open, with the samples they have (its later versions say so).
FOREIGN = {"sleep.compressed.data": 8, "sleep.compressed2.data": 7, "sleep.compressed2.pipe.data": 7, "sleep.data": 7,
           "cpp-inlining__cpp-inlining.perf.data": 539, "perf_with_trace_offcpu.data": 2369,
           "perf_with_callchain_record.data": 21}


def image_name(kind, path, build_id, ids):
    """An image as perf would call it; files that are the same have one name here, their build-id."""
    if kind in ("file", "vdso") and build_id:
        ids[path] = build_id
        return build_id
    return {"unknown": "?", "kernel": "[kernel]", "module": "[module]", "anon": "[anon]", "bpf": "[bpf]",
            "mark": "[mark]"}.get(kind, path)


def perf_name(dso):
    if dso in ("[unknown]", "[vsyscall]"):
        return "?"
    if re.match(r"\[(guest\.)?kernel[^]]*\]", dso):
        return "[kernel]"
    if re.match(r"(//anon|\[heap\]|\[stack|/SYSV|/dev/zero|anon_inode|/anon_hugepage|/tmp/perf-\d+\.map|/memfd:)", dso):
        return "[anon]"
    if dso.startswith("bpf_prog") or dso == "bpf_trampoline":
        return "[bpf]"
    if dso == "[vdso]" or dso.startswith("/"):
        if re.search(r"\.ko(\.\w+)?$", dso):
            return "[module]"
        return re.sub(r" \(deleted\)$", "", dso)
    return "[module]" if dso.startswith("[") else dso


def build_ids(path):
    """{path: build-id} as the file tells; perf also asks files that are here."""
    out = subprocess.run(["perf", "buildid-list", "-i", path], capture_output=True, text=True, check=False).stdout
    return {name: i for i, _, name in (line.partition(" ") for line in out.splitlines())}


def fold(samples):
    """{(event, comm, pid, tid, images): sorted counts of the distinct chains}"""
    groups = collections.defaultdict(collections.Counter)
    for (event, comm, pid, tid, frames), n in samples.items():
        groups[event, comm, pid, tid, tuple(i for i, _ in frames)][tuple(a for _, a in frames)] += n
    return {k: sorted(v.values()) for k, v in groups.items()}


def perf_samples(path, chains, ids=()):
    fields = "comm,pid,tid,event,ip,sym,dso"
    p = subprocess.run(["perf", "script", "--no-itrace", "--no-inline", "--max-stack", "1024", "-F", fields, "-i", path,
                        *([] if chains else ["-G"])],
                       capture_output=True, text=True, errors="surrogateescape", check=False)
    if p.returncode:
        raise Skipped("perf cannot read it: " + p.stderr.strip()[-100:])
    samples, head, frames = collections.Counter(), None, []

    def add():
        if head:
            samples[(*head, tuple(frames))] += 1

    ids = {**build_ids(path), **dict(ids)}
    frame = re.compile(r"\s*([0-9a-f]+) .*\(((?:/|\[|bpf_).*)\)$")
    for line in p.stdout.splitlines():
        m = re.match(r"\s*(.*\S)\s+(-?\d+)/(-?\d+)\s+(\S+):\s*(|[0-9a-f]+ .*)$", line)
        if m and not line.startswith("\t"):
            add()
            comm, pid, tid, event, rest = m.groups()
            head, frames = (plain(event), comm, max(int(pid), 0), max(int(tid), 0)), []  # -1: a task that is gone
            if not rest:
                continue
            line = rest
        m = frame.match(line)
        if m:
            dso = perf_name(m.group(2))
            frames.append((ids.get(dso, dso), m.group(1)))
        elif line.strip():
            raise Failed("perf says: " + line)
    add()
    return samples


def our_samples(path, chains, *argv, ids=None):
    out = subprocess.run([prog("perfvalues"), *argv, path], capture_output=True, text=True,
                         errors="surrogateescape", check=False)
    check(out.returncode == 0, "%s: %s" % (path, out.stderr))
    samples, ids = collections.Counter(), {} if ids is None else ids
    for line in out.stdout.splitlines():
        v = json.loads(line)
        if "counter" in v or v["event"].startswith("arm_spe"):  # of samples that are there; perf does not make them
            continue
        frames = [(image_name(kind, name, build_id, ids), svma) for kind, name, svma, build_id in v["frames"]]
        if not chains:
            frames = frames[:1]
        frames = tuple(f for f in frames if f[0] != "[mark]")
        samples[plain(v["event"]), v["comm"], v["pid"], v["tid"], frames] += v["count"]
    return samples


def plain(event):
    """Without modifiers: where a file does not tell its events' names perf shows some that nobody gave."""
    return re.sub(r":[a-zA-Z]+$", "", event)


def both(path, chains, *argv):
    ids = {}
    try:
        ours = our_samples(path, chains, *argv, ids=ids)
    except Failed:
        perf_samples(path, chains)  # can it?
        raise
    return perf_samples(path, chains, ids), ours


def drop_empty(theirs, ours):
    """The kernel could write no chain: perf then prints nothing at all, dwell has the sampled place."""
    heads = {key[:4] for key in theirs if not key[4]}
    for samples in (theirs, ours):
        for key in [k for k in samples if k[:4] in heads and len(k[4]) < 2]:
            samples[(*key[:4], (("no chain", 0),))] += samples.pop(key)


def compare(path, chains=False, argv=("--no-files",), sums=False):
    """With SUMS only those of each group: a shell that executes itself anew has the same code at two addresses."""
    theirs, ours = both(path, chains, *argv)
    n = sum(theirs.values())
    check(n == sum(ours.values()), "%s: perf has %d samples, dwell %d" % (path, n, sum(ours.values())))
    if chains:
        drop_empty(theirs, ours)
    a, b = fold(theirs), fold(ours)
    if sums:
        a, b = ({k: sum(v) for k, v in x.items()} for x in (a, b))
    wrong = [k for k in a.keys() | b.keys() if a.get(k) != b.get(k)]
    for k in sorted(wrong, key=str)[:6]:
        note("%s: perf %s, dwell %s" % (k, a.get(k), b.get(k)))
    check(not wrong, "%s: %d of %d groups differ" % (path, len(wrong), len(a)))
    return n


# Chains that cannot be held against perf's: copies of stacks, whose images are not here, and the hardware's, where perf puts a
# procedure's entry in place of the sampled address.
NO_CHAINS = {"contentsize.data", "vector_static_gcc__perf.data", "vector_static_gcc__perf.data.zstd",
             "vector_static_gcc__perf.lbr.data"}


def fixtures():
    if not FIXTURES.is_dir():
        raise Skipped("DWELL_FIXTURES names no recordings")
    return sorted(p for p in FIXTURES.rglob("*") if p.suffix not in (".txt", ".md", ".hex", ".bin") and p.is_file())


def others_recordings():
    """Every recording perf reads has the samples perf says, at the places perf says."""
    n = n_files = 0
    for path in fixtures():
        try:
            n += compare(str(path))
            if path.name not in NO_CHAINS:
                compare(str(path), chains=True)
            n_files += 1
        except Skipped:
            note("%s: perf cannot open it" % path.name)
    note("%d recordings, %d samples" % (n_files, n))
    check(n_files >= 20, "only %d recordings could be compared" % n_files)


def foreign_recordings():
    """What this perf cannot open has the samples that its makers say."""
    there = {p.name: p for p in fixtures()}
    for name, n in FOREIGN.items():
        if name in there:
            ours = sum(our_samples(str(there[name]), False, "--no-files").values())
            check(ours == n, "%s: %d samples, not %d" % (name, ours, n))


def facts_of(path, *argv):
    """The samples of a recording: ({bit: value}, {counter: value}) of each, as (event, frames, sorted items)."""
    out = subprocess.run([prog("perfvalues"), "--no-files", *argv, path], capture_output=True, text=True, errors="surrogateescape",
                         check=False)
    check(out.returncode == 0, "%s: %s" % (path, out.stderr))
    samples = {}
    for line in out.stdout.splitlines():
        v = json.loads(line)
        key = v["event"], json.dumps(v["frames"]), json.dumps(v["facts"], sort_keys=True)
        one = samples.setdefault(key, [0, {}])
        if "counter" in v:
            one[1][v["counter"]] = v["sum"]
        else:
            one[0] += v["count"]
    return [(event, json.loads(frames), json.loads(bits), counters, n)
            for (event, frames, bits), (n, counters) in samples.items()]


def registers(path):
    """perf report -D: for each sample {field: number} of the registers that it decodes."""
    text = subprocess.run(["perf", "report", "-D", "-i", path], capture_output=True, text=True, check=False).stdout
    samples = []
    for line in text.splitlines():
        m = re.match(r"(ibs_op_ctl|IbsOpRip|ibs_op_data\d?|ibs_fetch_ctl|ic_ibs_ext_ctl):\t", line)
        if m and m[1] in ("ibs_op_ctl", "ibs_fetch_ctl"):
            samples.append({})
        if m:
            samples[-1].update((k, int(v)) for k, v in re.findall(r"([A-Z]\w+) +(\d+)", line))
    return samples


def instruction_sampling():
    """Each bit and counter of AMD's registers is what perf prints of the field it comes from."""
    names = {"load": "LdOp", "store": "StOp", "l1tlbmiss": "DcL1TlbMiss", "l2tlbmiss": "DcL2TlbMiss", "misaligned": "DcMisAcc",
             "locked": "DcLockedOp", "swprefetch": "SwPf", "fetchcomplete": "Comp", "icmiss": "IcMiss",
             "l1itlbmiss": "L1TlbMiss", "l2itlbmiss": "L2TlbMiss"}
    counters = {"inflight": "TagToRetCtr", "comptoret": "CompToRetCtr", "latency": "DcMissLat", "tlblatency": "TlbRefillLat",
                "memreqs": "OpDcMissOpenMemReqs", "accessbytes": "OpMemWidth", "fetchlatency": "Lat", "itlblatency": "IbsItlbRefillLat"}
    n = 0
    for kind in ("op", "fetch"):
        path = FIXTURES / "synthetic" / ("ibs_%s_raw.perf.data" % kind)
        if not path.is_file():
            raise Skipped("DWELL_FIXTURES names no recordings")
        theirs, ours = registers(str(path)), facts_of(str(path))
        check(len(theirs) == sum(s[4] for s in ours), "%s: %d samples, perf decodes %d" % (path.name, len(ours), len(theirs)))
        for _, _, bits, sums, _ in ours:
            def fits(regs):
                return (all(bool(regs[names[b]]) == v for b, v in bits.items() if b in names) and
                        all(regs[counters[c]] == v for c, v in sums.items() if c in counters))
            found = next((r for r in theirs if fits(r)), None)
            check(found is not None, "%s: perf has no sample with %s %s" % (path.name, bits, sums))
            theirs.remove(found)
            n += sum(b in names for b in bits) + sum(c in counters for c in sums)
            if kind == "op":
                check(bits["retired"] and "replays" not in bits and "map_stall" not in bits, "%s" % bits)
                if found["LdOp"] or found["StOp"]:
                    check(bits["l1hit"] == (not found["DcMiss"]), "%s" % bits)
            else:
                check("retired" not in bits and bits["early_kill"] == (not found["Comp"]), "%s" % bits)
    note("%d bits and counters" % n)
    check(n > 40, "only %d bits and counters were compared" % n)


def named_fields():
    """Fields that a user names, of the same samples; a file that is wrong is shown with the place."""
    path = FIXTURES / "synthetic" / "ibs_op_raw.perf.data"
    if not path.is_file():
        raise Skipped("DWELL_FIXTURES names no recordings")
    text = 'bit nomab = ibs_op.data3[16] "no miss buffer"\ncounter cur = ibs_op.ctl[58:32]\n'
    theirs = sorted((bool(r["DcMissNoMabAlloc"]), r["CurCnt"]) for r in registers(str(path)))
    ours = sorted((bits["nomab"], sums["cur"]) for _, _, bits, sums, _ in facts_of(str(path), "--facts", text))
    check(ours == theirs, "perf %s, dwell %s" % (theirs, ours))
    pathlib.Path("facts").write_text(text.replace("data3[16]", "data7[16]"), encoding="ascii")
    p = subprocess.run([DWELL, "import", "--db", "db", "--facts", "facts", path], capture_output=True, text=True, check=False)
    check(p.returncode == 2 and "facts:1:13: no such field" in p.stderr and "^" in p.stderr, p.stderr)
    pathlib.Path("facts").write_text(text, encoding="ascii")
    sh(DWELL, "import", "--db", "db", "--facts", "facts", path)


def data_sources():
    """Where loads got their data, as perf prints it of the same samples."""
    n = 0
    for path in fixtures():
        out = subprocess.run(["perf", "script", "-i", str(path), "-F", "event,ip,weight,data_src"], capture_output=True, text=True,
                             check=False).stdout
        theirs = collections.Counter()
        for weight_or_src in re.findall(r"\|OP (?:LOAD|STORE)\|.*", out):
            m = re.match(r"\|OP (\w+)\|LVL (.*?)\|SNP (.*?)\|TLB (.*?)\|LCK (.*?)\|BLK\s+\S+\s+(\d+)", weight_or_src)
            check(m, weight_or_src)
            theirs[m[1] == "LOAD", m[2].startswith("L1 "), m[2].startswith("L2 "), m[2].startswith("L3 "),
                   False if "L1 or L2 hit" in m[4] else True if "miss" in m[4] else None, m[5] == "Yes", int(m[6])] += 1
        if not theirs:
            continue
        ours = collections.Counter()
        for _, _, bits, sums, k in facts_of(str(path)):
            if "load" in bits:
                check(k == 1, "two equal samples: their latencies are added")
                ours[bits["load"], bits["l1hit"], bits["l2hit"], bits["l3hit"], bits.get("l2tlbmiss"), bits["locked"],
                     sums["latency"]] += k
        check(ours == theirs, "%s: perf %s, dwell %s" % (path.name, theirs - ours, ours - theirs))
        n += sum(theirs.values())
    check(n >= 14, "only %d samples have a data source" % n)


def branches():
    """Samples whose newest branch is the sampled instruction know that it is a branch, and was taken."""
    n = n_known = 0
    for path in fixtures():
        out = subprocess.run(["perf", "script", "-i", str(path), "-F", "ip,brstack"], capture_output=True, text=True, check=False).stdout
        hits, ip, seen = collections.Counter(), None, False
        for line in out.splitlines():  # the sampled address, perhaps its callers below it, then branches
            words = line.split()
            if ip is None and words and re.fullmatch("[0-9a-f]+", words[0]):
                ip = words.pop(0)
            m = re.match(r"0x([0-9a-f]+)/0x[0-9a-f]+/([MP-])", words[0]) if words else None
            if m:
                hits[m[2]] += m[1] == ip
                ip, seen = None, True
        if not seen:
            continue
        ours = collections.Counter()
        for _, _, bits, _, k in facts_of(str(path)):
            if bits.get("branch"):
                ours["-" if "mispredicted" not in bits else "M" if bits["mispredicted"] else "P"] += k
        check(+hits == ours, "%s: perf %s, dwell %s" % (path.name, hits, ours))
        n += 1
        n_known += sum(ours.values())
    note("%d recordings, %d samples of branches" % (n, n_known))
    if not n:
        raise Skipped("no recording has branches")


def statistical_profiling():
    """Each bit and counter of Arm's records is what perf prints of the packet it comes from."""
    path = FIXTURES / "synthetic" / "arm_spe.perf.data"
    if not path.is_file():
        raise Skipped("DWELL_FIXTURES names no recordings")
    text = subprocess.run(["perf", "report", "-D", "-i", str(path)], capture_output=True, text=True, check=False).stdout
    theirs, one = [], []
    for packet in re.findall(r"^\.  [0-9a-f]{8}:  (?:[0-9a-f]{2} )+ +(\S.*?)\s*$", text, re.M):
        one.append(packet)
        if packet.startswith("TS ") or packet == "END":
            theirs.append(" | ".join(one))
            one = []
    ours = facts_of(str(path))
    check(len(theirs) == 5 == sum(s[4] for s in ours), "%d records, %d samples" % (len(theirs), len(ours)))
    for _, frames, bits, sums, _ in ours:
        at = next((t for t in theirs if re.search(r"\bPC 0x(ff)?%x " % (frames[0][2] & (1 << 56) - 1), t)), None)
        check(at, "perf has no record at %#x: %s" % (frames[0][2], theirs))
        expected = {"inflight": int(re.search(r"LAT (\d+) TOT", at)[1])}
        for name, packet in (("issuelatency", "ISSUE"), ("tlblatency", "XLAT")):
            m = re.search(r"LAT (\d+) " + packet, at)
            if m:
                expected[name] = int(m[1])
        check(sums == expected, "%s: %s" % (at, sums))
        check(bits["retired"] == ("RETIRED" in at) and bits["load"] == ("LD " in at) and bits["branch"] == (" B " in " " + at) and
              bits["cond"] == ("B COND" in at) and bits.get("l1hit", False) == ("L1D-ACCESS" in at), "%s: %s" % (at, bits))
        if bits["cond"]:
            check(bits["taken"] == ("NOT-TAKEN" not in at), at)


def damaged_recording():
    """A recording that is corrupt on purpose: an error with the place, and what is before it on demand."""
    path = next((p for p in fixtures() if "corrupted" in p.name), None)
    if not path:
        raise Skipped("it is not there")
    p = subprocess.run([DWELL, "import", "--db", "db", path], capture_output=True, text=True, check=False)
    check(p.returncode == 2 and "0xbfd0" in p.stderr, "exit %d: %s" % (p.returncode, p.stderr))
    check(not os.path.exists("db"), "something was imported")
    p = subprocess.run([DWELL, "import", "--force", "--db", "db", path], capture_output=True, text=True, check=False)
    check(p.returncode == 0 and "0xbfd0" in p.stderr, "exit %d: %s" % (p.returncode, p.stderr))


def record(*argv, name="perf.data", work=None, **kw):
    """Records with perf; skips where this machine or perf cannot."""
    work = work or [prog("burn"), str(longer(0.2))]
    p = subprocess.run(["perf", "record", "-q", "-o", name, *argv, "--", *work], capture_output=True, check=False, **kw)
    if p.returncode:
        raise Skipped("perf record %s: %s" % (" ".join(argv), p.stderr.decode(errors="replace").strip()[-200:]))
    return p.stdout


def held(*argv, chains=False, at_least=1, sums=False, **kw):
    record(*argv, **kw)
    n = compare("perf.data", chains, sums=sums)
    enough(n, at_least, "samples: " + " ".join(argv))
    note("%s: %d samples" % (" ".join(argv) or "plain", n))


CLOCK = ("-e", "cpu-clock", "-F", "4000")


def plain_samples():
    held(*CLOCK, at_least=100)
    held("-e", "cpu-clock", "-c", "500000", at_least=100)
    held(*CLOCK, "-W", "-d", "--phys-data", "--sample-cpu", "--data-page-size", "--code-page-size")
    held(*CLOCK, "--user-regs=ip,sp", "--intr-regs=ip,sp")
    held(*CLOCK, "-k", "mono")
    held(*CLOCK, "--buildid-mmap")
    held(*CLOCK, "-T", "--per-thread")
    held(*CLOCK, "--no-buildid")


def frame_pointers():
    held(*CLOCK, "-g", work=[prog("calls_fp")], chains=True)
    held(*CLOCK, "-g", "-z", work=[prog("calls_fp")], chains=True)


def copied_stacks():
    """Walked with dwell's own tables: where perf comes to the end so does dwell, by the same images."""
    record(*CLOCK, "--call-graph", "dwarf", work=[prog("calls")])
    theirs, ours = both("perf.data", True)
    check(sum(theirs.values()) == sum(ours.values()), "perf has %d samples, dwell %d" % (sum(theirs.values()), sum(ours.values())))

    def by_images(samples):
        c = collections.Counter()
        for (_, comm, pid, tid, frames), n in samples.items():
            c[comm, pid, tid, tuple(i for i, _ in frames)] += n
        return c

    a, b = by_images(theirs), by_images(ours)
    n = sum(a.values())
    same = sum((a & b).values())
    note("%d of %d chains are of the same images" % (same, n))
    for chain, k in (a - b).most_common(3):
        note("perf %d: %s" % (k, chain[3]))
    for chain, k in (b - a).most_common(3):
        note("dwell %d: %s" % (k, chain[3]))
    least(same, n, 0.9, "chains that are the same")


def several_events():
    held("-e", "cpu-clock,task-clock,page-faults,minor-faults,context-switches,dummy:u", work=[prog("calls")])
    held("-e", "cpu-clock/period=1000000/", "-e", "page-faults/period=1/", "-g", chains=True, work=[prog("calls_fp")])


def groups():
    """What the members of a group counted, in each image: perf has it as the periods of samples that it makes of them."""
    record("-e", "{cpu-clock,task-clock,page-faults}:S", "-c", "1000000", work=[prog("calls")])
    theirs, ours = collections.Counter(), collections.Counter()
    ids = build_ids("perf.data")
    for line in sh("perf", "script", "-F", "event,period,ip,sym,dso", "-i", "perf.data").splitlines():
        m = re.match(r"\s*(\d+)\s+(\S+):\s+[0-9a-f]+ .*\(((?:/|\[).*)\)$", line)
        check(m, line)
        dso = perf_name(m[3])
        theirs[plain(m[2]), ids.get(dso, dso)] += int(m[1])
    for line in sh(prog("perfvalues"), "--no-files", "perf.data").splitlines():
        v = json.loads(line)
        ours[plain(v["event"]), image_name(*v["frames"][0][:2], v["frames"][0][3], {})] += v["sum"] or v["count"]
    check(theirs == ours and len(theirs) > 2, "perf %s, dwell %s" % (theirs, ours))
    note("%d counts" % sum(theirs.values()))


def tracepoints():
    held("-e", "sched:sched_switch,sched:sched_process_exec,raw_syscalls:sys_enter", "-a", "-R", sums=True, work=["sh", "-c", "true; true"])


def system_wide():
    busy = ["sh", "-c", "%s 0.1 & %s 0.1; wait; ls / | wc -l" % (prog("burn"), prog("burn"))]
    held(*CLOCK, "-a", work=busy, sums=True)
    held(*CLOCK, "-C", "0", work=busy, sums=True)
    held(*CLOCK, "-a", "-g", "--switch-events", "--namespaces", "--all-cgroups", work=busy, chains=True, sums=True)
    check(any(json.loads(line)["cgroup"] for line in sh(prog("perfvalues"), "perf.data").splitlines()), "no cgroup")


def threads():
    held(*CLOCK, "-s", work=[prog("calls")])
    held(*CLOCK, work=["sh", "-c", "%s 0.1; %s 0.1 & wait" % (prog("calls"), prog("burn"))])


def pipes():
    """Through a pipe, plain and compressed, into a file and straight into dwell."""
    for argv in ((), ("-z",), ("-g",)):
        data = record(*CLOCK, *argv, name="-")
        pathlib.Path("pipe.data").write_bytes(data)
        n = compare("pipe.data", "-g" in argv, argv=())
        p = subprocess.run([DWELL, "import", "--json", "--db", "db", "-"], input=data, capture_output=True, check=False)
        check(p.returncode == 0, p.stderr.decode())
        check(json.loads(p.stdout)[0]["samples"] == n, "%s: %s" % (argv, p.stdout))


def own_directory():
    """perf's threads write files of their own, in a directory."""
    record(*CLOCK, "-a", "--threads", work=["sh", "-c", "%s 0.2" % prog("burn")])
    check(os.path.isdir("perf.data"), "perf made no directory")
    compare("perf.data", argv=(), sums=True)


def into_a_database():
    """What is imported is what reading the file itself shows."""
    record(*CLOCK, "-g", work=[prog("calls_fp")])
    sh(DWELL, "import", "--db", "db", "perf.data")
    for argv in (("prof", "--json", "--by", "procedure"), ("tree", "--json"), ("list", "--json", "burn", prog("calls_fp"))):
        a, b = (json.loads(sh(DWELL, argv[0], "--db", db, *argv[1:])) for db in ("db", "perf.data"))
        for row in a["rows"] + b["rows"]:
            if row.get("image") == "[unknown]":  # a kernel's addresses in no known image are not stored
                row["svma"] = None
        check(a["rows"] == b["rows"] and a["rows"], "dwell %s shows something else" % argv[0])
    rows = {r["procedure"]: r["counts"]["cpu-clock"] for r in json.loads(sh(DWELL, "prof", "--json", "--by", "procedure",
                                                                                              "--db", "db"))["rows"]}
    least(rows.get("burn", 0), sum(rows.values()), 0.8, "burn")


def elsewhere():
    """Images are found below --symfs and by build-id, and not where another file is now."""
    shutil.copy(prog("burn"), "prog")
    env = dict(os.environ, HOME=os.getcwd())
    record(*CLOCK, "--no-buildid-cache", work=["./prog", "0.2"], env=env)
    where = os.getcwd()

    def named(*argv):
        sh(DWELL, "import", "--db", "db", *argv, "perf.data", env=env)
        rows = json.loads(sh(DWELL, "prof", "--json", "--by", "procedure", "--db", "db", env=env))["rows"]
        return sum(r["counts"]["cpu-clock"] for r in rows if r["procedure"] == "burn_here")

    n = named()
    enough(n, 1, "samples in its code that are named")
    os.makedirs("sys/" + where)
    shutil.move("prog", "sys/" + where)
    shutil.copy(prog("burn_rebuilt"), "prog")
    shutil.rmtree("db")
    check(named() == 0, "a file that is another one was taken")
    shutil.rmtree("db")
    check(named("--symfs", "sys") == n, "--symfs does not help")
    shutil.rmtree("db")
    build_id = re.search(r"Build ID: ([0-9a-f]+)", sh("readelf", "-n", "sys/" + where + "/prog")).group(1)
    cache = pathlib.Path(".debug/.build-id") / build_id[:2] / build_id[2:]
    cache.mkdir(parents=True)
    shutil.copy("sys/" + where + "/prog", cache / "elf")
    check(named() == n, "perf's build-id cache does not help")


if __name__ == "__main__":
    run(others_recordings, foreign_recordings, instruction_sampling, named_fields, data_sources, branches, statistical_profiling,
        damaged_recording, plain_samples, frame_pointers, copied_stacks, several_events, groups, tracepoints, system_wide, threads, pipes,
        own_directory, into_a_database, elsewhere)
