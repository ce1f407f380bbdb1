# SPDX-License-Identifier: BSD-2-Clause
"""Names of containers, out of the files that runtimes keep on their host: a process in a cgroup that is named as
a runtime names it, beside the files as it writes them (docs/formats/container.md)."""
import secrets

from e2e import *

RATE = "-e", "cpu-clock", "-c", 1000003
CONTAINERD = "/run/containerd/io.containerd.runtime.v2.task/k8s.io"
CRIO = "/run/containers/storage/overlay-containers"
DOCKER = "/var/lib/docker/containers"
PODMAN = "/var/lib/containers/storage/overlay-containers"
WISHES = "--version-from", "annotation:example.com/version,env:VERSION", "--tenant-from", "env:TENANT"


@contextlib.contextmanager
def file_at(path, text):
    """A runtime's file; afterwards nothing is left that was not there."""
    made = os.path.dirname(path)
    while not os.path.exists(os.path.dirname(made)):
        made = os.path.dirname(made)
    made = path if os.path.exists(os.path.dirname(path)) else made
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "x") as f:
        f.write(text)
    try:
        yield
    finally:
        shutil.rmtree(made) if os.path.isdir(made) else os.unlink(made)


def oci(annotations, *env):
    return json.dumps({"ociVersion": "1.1.0", "process": {"env": ["PATH=/bin", *env]}, "annotations": annotations})


def name_of(cgroup_name, path, text, *argv):
    """What is said of a process in that cgroup while the runtime's file says TEXT."""
    shutil.rmtree("db", True)
    with cgroup(cgroup_name) as at, file_at(path, text), burning() as p:
        join(at, p.pid)
        record(*RATE, "-a", *WISHES, *argv, "-d", longer(1.5))
        p.kill()
        p.wait()
    return tuple(value_of(key, at) for key in ("container", "image-tag", "pod", "namespace", "version", "tenant"))


def value_of(key, path):
    """What KEY says of all samples in cgroup PATH; None: nothing."""
    p = dwell("prof", "--json", "--by", key, "--cgroup", "/" + os.path.basename(path), "--db", "db")
    if p.returncode:
        one_line(p, "no sample here says its " + key)
        return None
    rows = json.loads(p.stdout)["rows"]
    check(len(rows) == 1, "one %s: %s" % (key, rows))
    enough(rows[0]["counts"]["cpu-clock"], 20, "samples in it: %s" % rows)
    return rows[0][key]


def containerd():
    for engine in "bpf", "ring":
        id = secrets.token_hex(32)
        got = name_of("cri-containerd-%s.scope" % id, "%s/%s/config.json" % (CONTAINERD, id), oci({
            "io.kubernetes.cri.container-type": "container", "io.kubernetes.cri.container-name": "web",
            "io.kubernetes.cri.image-name": "docker.io/library/nginx:1.27", "io.kubernetes.cri.sandbox-name": "front-5d9f7",
            "io.kubernetes.cri.sandbox-namespace": "shop"}, "VERSION=7", "TENANT=acme"), "--engine", engine)
        check(got == ("web", "docker.io/library/nginx:1.27", "front-5d9f7", "shop", "7", "acme"), got)


def crio():
    id = secrets.token_hex(32)
    got = name_of("crio-%s.scope" % id, "%s/%s/userdata/config.json" % (CRIO, id), oci({
        "io.kubernetes.container.name": "db", "io.kubernetes.cri-o.ImageName": "quay.io/pg:16",
        "io.kubernetes.pod.name": "pg-0", "io.kubernetes.pod.namespace": "shop", "io.kubernetes.cri-o.ContainerType": "container",
        "io.kubernetes.cri-o.Annotations": json.dumps({"example.com/version": "16.3"})}, "VERSION=0"))
    check(got == ("db", "quay.io/pg:16", "pg-0", "shop", "16.3", None), got)


def docker():
    id = secrets.token_hex(32)
    got = name_of("docker-%s.scope" % id, "%s/%s/config.v2.json" % (DOCKER, id), json.dumps({
        "ID": id, "Name": "/cache", "Config": {"Image": "redis:7", "Env": ["TENANT=acme", "SECRET=x"],
                                               "Labels": {"example.com/version": "7.2"}}}))
    check(got == ("cache", "redis:7", None, None, "7.2", "acme"), got)


def podman():
    id, path = secrets.token_hex(32), PODMAN + "/containers.json"
    if os.path.exists(path):
        raise Skipped("podman's list of containers is there")
    got = name_of("libpod-%s.scope" % id, path, json.dumps([{"id": secrets.token_hex(32), "names": ["other"]}, {
        "id": id, "names": ["mail"], "metadata": json.dumps({"image-name": "docker.io/library/postfix:3", "name": "mail"})}]))
    check(got == ("mail", "docker.io/library/postfix:3", None, None, None, None), got)


IN_A_POD = """
sh -c 'echo 0 > "$0/cgroup.procs"; exec "$1" 30' "$1" "$2" & burn=$!
shift 2
unshare -m sh -c 'mount -t tmpfs none /run && ! ls /run/containerd 2> /dev/null && exec "$@"' sh "$@"
rc=$?; kill $burn; exit $rc
"""


def recorder_in_a_container():
    """A recorder that has the node's processes but not its files finds the runtime's below the root of process 1."""
    inside = ["unshare", "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*inside, "unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode:
        raise Skipped("no namespace of mounts and processes can be had")
    id = secrets.token_hex(32)
    text = oci({"io.kubernetes.cri.container-type": "container", "io.kubernetes.cri.container-name": "web"})
    with cgroup("cri-containerd-%s.scope" % id) as at, file_at("%s/%s/config.json" % (CONTAINERD, id), text):
        sh(*inside, "sh", "-c", IN_A_POD, "sh", at, prog("burn"), DWELL, "record", "--db", "db", *RATE, "-a", "-d", longer(1.5))
    check(value_of("container", at) == "web", "its name")


def hostile_files():
    """What is no such file, or is endless, names nobody and stops nothing."""
    for text in "{", "[" * 3000, '{"annotations": {"io.kubernetes.cri.container-name": "a\\u001b[2Jb"}}', "x" * (3 << 20), "[1]":
        id = secrets.token_hex(32)
        got = name_of("cri-containerd-%s.scope" % id, "%s/%s/config.json" % (CONTAINERD, id), text)
        want = "a?[2Jb" if "u001b" in text else "cri-containerd-" + id[:12]
        check(got == (want, None, None, None, None, None), got)


run(containerd, crio, docker, podman, recorder_in_a_container, hostile_files)
