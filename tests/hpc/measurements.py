# SPDX-License-Identifier: BSD-2-Clause
"""`dwell hpc` of hpcrun's measurements beside the databases that hpcprof made of them: HPCToolkit's own test data.
DWELL_HPCTOOLKIT names a checkout of HPCToolkit (2024.01.99 or later); without it nothing is tested.

    measurements.py DWELL

Both are read by `dwell tree` and `dwell prof --by thread`: same contexts, and each metric of each the same to 12 digits.
Of GPUs all metrics that are not 0 are compared.  What is expected to differ: numbers of contexts; modules that hpcrun names by a path below its directory, which have their
whole path here; code that nobody knows, which has no module there; metrics of time lines' first point, at which a thread does not run yet."""
import json
import os
import subprocess
import sys
import tempfile

NAMES = ("small", "loops-cputime-t", "loops-perf", "loops-cuda-nvidia-t", "loops-cuda-nvidiapc-t", "loops-hip-amd-t",
         "recursion-cuda-nvidiapc-t")


def run(*args):
    return subprocess.run(args, capture_output=True, text=True, check=True).stdout


def rows(dwell, command, db, metric):
    """The rows with their paths, without what numbers of contexts decide."""
    said = json.loads(run(dwell, command, "--json", "--event", metric, *(["--depth", "40"] if command == "tree" else
                                                                         ["--by", "thread"]), db))
    path, ret = [], []
    for r in said["rows"]:
        name = (r.get("kind"), r.get("name"), "" if r.get("name") == "[unknown]" else os.path.basename(r.get("image") or ""))
        path[r.get("depth", 0):] = [name]
        numbers = [(k, round(v, 9)) for kind in ("inclusive", "exclusive", "counts") if kind in r
                   for k, v in sorted(r[kind].items())]
        ret.append((tuple(path), tuple(numbers)))
    return sorted(ret, key=repr)


def metrics(dwell, name, db):
    if name.startswith("loops-perf"):
        return ["perf::cpu-clock", "perf::task-clock"]
    if "cuda" in name or "hip" in name:
        return [e["name"] for e in json.loads(run(dwell, "prof", "--json", "--all-metrics", db))["events"]]
    return ["CPUTIME (sec)"]


def main():
    dwell, top = sys.argv[1], os.environ.get("DWELL_HPCTOOLKIT")
    if not top:
        print("1..0 # SKIP DWELL_HPCTOOLKIT is not set")
        return
    n = 0
    with tempfile.TemporaryDirectory() as work:
        for name in NAMES:
            own = os.path.join(work, name)
            theirs = os.path.join(top, "tests/data/dbase", name + ".nostruct.d")
            run(dwell, "hpc", "--no-sources", "--foreign", "-o", own, os.path.join(top, "tests/data/meas", name + ".m"))
            for metric in metrics(dwell, name, theirs):
                for command in ("tree", "prof"):
                    n += 1
                    a, b = (rows(dwell, command, db, metric) for db in (own, theirs))
                    same = a == b and len(a) > 0
                    print(f"{'ok' if same else 'not ok'} {n} - {name}, {metric}, {command}: {len(a)} rows")
                    for x, y in zip(a, b):
                        if x != y:
                            print(f"# {x}\n# {y}")
    print(f"1..{n}")


main()
