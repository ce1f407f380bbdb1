# SPDX-License-Identifier: BSD-2-Clause
"""Profiles pushed to servers of Pyroscope and OTLP: a server that takes each message apart by protoc.

The definitions are ours (tests/golden); DWELL_PROTOS names a directory with the public ones instead:
opentelemetry/ of opentelemetry-proto 1.11.0, and push/, types/ and google/ of Pyroscope's api directory."""
import collections
import gzip
import http.server
import os
import re
import sys

from shipped import *

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../golden")
PUBLIC = os.environ.get("DWELL_PROTOS")


def decode(kind, data):
    """DATA as protoc's text; a field that the definition does not have is a fault."""
    message, folder, file = {
        "push": ("dwell.test.PushRequest", "push", "push.proto"), "pprof": ("dwell.test.Profile", "pprof", "profile.proto"),
        "otlp": ("dwell.test.ProfilesData", "otlp", "profiles.proto")}[kind]
    folder = f"{GOLDEN}/{folder}"
    if PUBLIC:
        folder = PUBLIC
        message, file = {
            "push": ("push.v1.PushRequest", "push/v1/push.proto"), "pprof": ("google.v1.Profile", "google/v1/profile.proto"),
            "otlp": ("opentelemetry.proto.collector.profiles.v1development.ExportProfilesServiceRequest",
                     "opentelemetry/proto/collector/profiles/v1development/profiles_service.proto")}[kind]
    p = subprocess.run(["protoc", "--decode=" + message, "-I", folder, file], input=data, capture_output=True)
    check(p.returncode == 0, "protoc: %s" % p.stderr.decode()[:300])
    text = p.stdout.decode("utf-8", "replace")
    check(not re.search(r"^ *\d+[:{ ]", text, re.M), "unknown fields in %s" % kind)
    return text


def unescape(quoted):
    return re.sub(rb"\\([0-7]{3}|.)", lambda m: bytes([int(m[1], 8)]) if len(m[1]) == 3 else
                  {b"n": b"\n", b"r": b"\r", b"t": b"\t"}.get(m[1], m[1]), quoted.encode("latin1"))


def field(text, name):
    return re.findall(r'^ *%s: "((?:[^"\\]|\\.)*)"' % name, text, re.M)


class Receiver:
    """Takes pushes; ANSWERS are what it says next: a status, "cut" (takes it and hangs up); then always 200."""

    def __init__(self, tls=False):
        self.answers, self.samples, self.series, self.requests, self.headers = [], collections.Counter(), [], 0, {}
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                receiver.requests += 1
                receiver.headers = self.headers
                data = self.rfile.read(int(self.headers["Content-Length"]))
                answer = receiver.answers.pop(0) if receiver.answers else 200
                try:
                    if answer in (200, "cut", 500):
                        receiver.take(self.path, gzip.decompress(data) if self.headers["Content-Encoding"] == "gzip" else data)
                except Failed as e:
                    receiver.fault, answer = str(e), 400
                if answer == "cut":
                    self.close_connection = True
                    return
                try:
                    self.send_response(answer)
                    self.send_header("Content-Length", "8")
                    self.end_headers()
                    self.wfile.write(b"said so\n")
                except OSError:
                    pass  # the client was killed

            def log_message(self, *args):
                pass

        self.fault = None
        self.server = serve(Handler, tls)
        self.port = self.server.server_address[1]

    def take(self, path, data):
        if path.endswith("/v1development/profiles"):
            self.take_otlp(decode("otlp", data))
        else:
            check(path.endswith("/push.v1.PusherService/Push"), path)
            for series in re.split(r"^series \{$", decode("push", data), flags=re.M)[1:]:
                labels = dict(zip(field(series, "name"), field(series, "value")))
                self.series.append(labels)
                for raw in field(series, "raw_profile"):
                    self.take_pprof(labels, decode("pprof", gzip.decompress(unescape(raw))))

    def take_pprof(self, labels, text):
        n = sum(int(v[0]) for v in (re.findall(r"value: (-?\d+)", s) for s in re.split(r"^sample \{$", text, flags=re.M)[1:]))
        self.samples[labels["service_name"], labels["__name__"]] += n

    def take_otlp(self, text):
        """Samples of the profiles of type "samples", or of a type without a name of its own."""
        strings = field(text, "string_table")
        for profile in re.split(r"^ *profiles \{$", text, flags=re.M)[1:]:
            kind = strings[int(re.search(r"type_strindex: (\d+)", profile)[1])]
            self.samples["otlp", kind] += sum(int(n) for n in re.findall(r"^ *values: (\d+)$", profile.split("dictionary {")[0], re.M))


def push(url, *options, fails=False):
    p = dwell("ship", "--json", "--db", "db", "--state", "state", "--to", url, *options)
    check(p.returncode == (2 if fails else 0), "ship exits %d: %s" % (p.returncode, p.stderr.strip()))
    return (json.loads(p.stdout) if p.stdout else None), p.stderr


def pushed_once_to_each():
    """Each segment once; services by label, container, unit and command; a second pass sends nothing."""
    total = epoch(1) + epoch(2, "web2", "- - comm=server cgroup=/system.slice/nginx.service/worker")
    for kind in "pyroscope", "otlp":
        r = Receiver()
        url = f"{kind}+http://127.0.0.1:{r.port}/base/"
        said, errors = push(url, "--tenant", "shop")
        check(r.fault is None and errors == "", (r.fault, errors))
        check(said["segments"] == 2 and said["samples"] == total and said["repeated"] == 0, said)
        check(r.headers["X-Scope-OrgID"] == "shop", r.headers)
        n = r.requests
        said, _ = push(url)
        check(said["segments"] == 0 and r.requests == n, "a second pass sends nothing: %s" % said)
        if kind == "pyroscope":
            check(r.samples == {("server", "cycles"): 65, ("nginx", "cycles"): 75}, r.samples)
            check({s["hostname"] for s in r.series} == {"web1", "web2"}, r.series)
        else:
            check(r.samples["otlp", "samples"] == total, r.samples)
        os.remove("state")


def what_came_of_each_push_is_known():
    """A refusal is tried again and then set aside; a push without an answer is repeated, and named; a server that is down or busy costs nothing."""
    r = Receiver()
    url = f"pyroscope+http://127.0.0.1:{r.port}"
    first, second = epoch(1), epoch(2)
    r.answers = [400]
    said, errors = push(url, fails=True)
    check(said["segments"] == 1 and said["refused"] == 1 and "400: said so" in errors, (said, errors))
    for i in range(2):
        r.answers = [422]
        said, errors = push(url, fails=True)
    check("set aside" in errors, errors)
    n = r.requests
    said, errors = push(url)
    check(said["set_aside"] == 1 and r.requests == n, "it is tried no more: %s" % said)
    for answer in "cut", 500:
        third = epoch(3 if answer == "cut" else 4)
        r.answers = [answer]
        said, errors = push(url, fails=True)
        check(said is None, said)
        said, errors = push(url)
        check(said["repeated"] == third and "may count %d samples twice" % third in errors, (said, errors))
    fifth = epoch(5)
    for answer in 503, 429, 401:
        r.answers = [answer]
        push(url, fails=True)
    _, errors = push("pyroscope+http://127.0.0.1:1", fails=True)
    check("onnect" in errors, errors)
    said, errors = push(url)
    check(said["segments"] == 1 and said["repeated"] == 0 and errors == "", (said, errors))
    check(r.fault is None, r.fault)
    check(sum(r.samples.values()) == second + 2 * 85 + 2 * 95 + fifth, "what the server has: %s" % r.samples)


def killed_while_it_pushes():
    """A client that is killed at any time leaves each segment pushed, or in doubt and named."""
    r = Receiver()
    url = f"pyroscope+http://127.0.0.1:{r.port}"
    total = sum(epoch(n) for n in range(8))
    for i in range(10):
        p = subprocess.Popen([DWELL, "ship", "--json", "--db", "db", "--state", "state", "--to", url], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        n = r.requests
        wait_for(lambda: r.requests > n or p.poll() is not None, "a push")
        p.kill()
        p.wait()
    repeated = 0
    for _ in range(20):
        said, errors = push(url)
        repeated += said["repeated"]
        if not said["segments"]:
            break
    wait_for(lambda: sum(r.samples.values()) >= total, "what was sent")
    check(r.fault is None, r.fault)
    check(sum(r.samples.values()) >= total, "nothing is missing: %s of %d" % (r.samples, total))


def merged_before_it_was_pushed():
    """A segment that holds pushed ones and others: the others are counted as left out, nothing is sent twice."""
    r = Receiver()
    url = f"otlp+http://127.0.0.1:{r.port}"
    total = epoch(1)
    push(url)
    head, line = open("state").read().splitlines()
    words = line.split()
    check(words[4] == str(total) and words[5] == "pushed", line)
    for samples, left_out in ((total, 0), (total - 5, 5)):
        open("state", "w").write("\n".join((head, " ".join([words[0], "999", *words[2:4], str(samples), "pushed"]))) + "\n")
        n = r.requests
        said, errors = push(url)
        check(said["left_out"] == left_out and said["segments"] == 0 and r.requests == n, said)
        check(("5 of its" not in errors) and (not left_out or "60 of its 65 samples were pushed" in errors), errors)
    open("state", "w").write("junk\n")
    _, errors = push(url, fails=True)
    check("does not remember" in errors, errors)


def verified_by_certificate():
    """TLS: a certificate that nobody vouches for is refused; a file of authorities is enough; a login is sent."""
    sh("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=localhost",
       "-addext", "subjectAltName=DNS:localhost")
    r = Receiver(tls=True)
    url = f"pyroscope+https://localhost:{r.port}"
    total = epoch(1)
    _, errors = push(url, fails=True)
    check("certificate" in errors.lower() and r.requests == 0, errors)
    with open("login", "w", opener=lambda p, f: os.open(p, f, 0o600)) as f:
        f.write("me\ngeheim\n")
    said, _ = push(url, "--ca", "cert.pem", "--login", "login")
    check(said["samples"] == total and r.headers["Authorization"].startswith("Basic "), r.headers)
    for url in "pyroscope+http://a@b", "otlp+http://", "pyroscope+ftp://a", "otlp+http://h/a?b":
        _, errors = push(url, fails=True)
        check(errors.count("\n") == 1, errors)


def hostile_names_are_text():
    """Names that would be syntax elsewhere arrive as they are."""
    r = Receiver()
    epoch(1, "web1", "- - comm=x\"}{\\';-- cgroup=/a\"b")
    said, errors = push(f"pyroscope+http://127.0.0.1:{r.port}")
    check(r.fault is None and unescape(r.series[0]["service_name"]) == b"x\"}{\\';--", (r.fault, r.series))


if not shutil.which("protoc"):
    print("1..0 # SKIP protoc is not installed")
    sys.exit(0)
run(pushed_once_to_each, what_came_of_each_push_is_known, killed_while_it_pushes, merged_before_it_was_pushed, verified_by_certificate, hostile_names_are_text)
