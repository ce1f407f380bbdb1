# SPDX-License-Identifier: BSD-2-Clause
"""Debian's clickhouse-server (packages.services) on loopback, on ports that were free, below a scratch directory and
without rights."""
import atexit
import contextlib
import gzip
import http.server
import os
import socket
import urllib.error
import urllib.request

from shipped import *

SERVER = "/usr/sbin/clickhouse-server"

CONFIG = """<?xml version="1.0"?><yandex>
<logger><level>warning</level><log>{dir}/log</log><errorlog>{dir}/err</errorlog></logger>
<http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><listen_host>{listen}</listen_host>
<path>{dir}/data/</path><tmp_path>{dir}/tmp/</tmp_path><users_config>users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>5368709</mark_cache_size>{more}</yandex>"""
USERS = """<?xml version="1.0"?><yandex><profiles><default/><reader><readonly>2</readonly></reader></profiles>
<users><fleet><password>geheim</password><networks><ip>127.0.0.1</ip><ip>{network}</ip></networks><profile>default</profile>
<quota>default</quota></fleet><looker><password>leise</password><networks><ip>127.0.0.1</ip></networks>
<profile>reader</profile><quota>default</quota></looker></users><quotas><default/></quotas></yandex>"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    def __init__(self, shards=(), listen=("127.0.0.1", "127.0.0.1")):
        """SHARDS: servers that are a cluster with this one, "shards".  LISTEN: the network that may ask besides, the address to listen at."""
        if not os.path.exists(SERVER):
            raise Skipped("package clickhouse-server is not installed")
        self.dir = tempfile.mkdtemp(prefix="dwell-clickhouse-")
        atexit.register(shutil.rmtree, self.dir, True)
        self.http, self.tcp = free_port(), free_port()
        more = "".join("<shard><replica><host>127.0.0.1</host><port>%d</port><user>fleet</user><password>geheim</password></replica></shard>" % p
                       for p in (self.tcp, *(s.tcp for s in shards)))
        for name, text in (("config.xml", CONFIG), ("users.xml", USERS)):
            with open(f"{self.dir}/{name}", "w") as f:
                f.write(text.format(dir=self.dir, http=self.http, tcp=self.tcp, network=listen[0], listen=listen[1], more=f"<remote_servers><shards>{more}</shards></remote_servers>"))
        for name in ("data", "tmp"):
            os.mkdir(f"{self.dir}/{name}")
        for path in (self.dir, *(f"{self.dir}/{n}" for n in os.listdir(self.dir))):
            os.chown(path, 65534, 65534)
        for name, text in (("login", "fleet\ngeheim\n"), ("wrong", "fleet\nfalsch\n"), ("looker", "looker\nleise\n")):
            with open(f"{self.dir}/{name}", "w", opener=lambda p, f: os.open(p, f, 0o600)) as f:
                f.write(text)
        os.environ["DWELL_LOGIN"] = f"{self.dir}/login"
        self.url, self.db = f"http://127.0.0.1:{self.http}/fleet", f"clickhouse://127.0.0.1:{self.http}/fleet"
        self.start()
        self.ask("CREATE DATABASE fleet", database="default")

    def start(self):
        self.process = subprocess.Popen([SERVER, f"--config-file={self.dir}/config.xml"], user=65534, group=65534, extra_groups=[],
                                        cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        atexit.register(self.process.kill)
        for _ in range(600):
            try:
                return self.ask("SELECT 1", database="default")
            except (urllib.error.URLError, ConnectionError):
                check(self.process.poll() is None, "the server runs")
                time.sleep(0.1)
        check(False, "the server answers")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def ask(self, sql, database="fleet"):
        r = urllib.request.Request(f"http://127.0.0.1:{self.http}/?database={database}", sql.encode(),
                                   {"X-ClickHouse-User": "fleet", "X-ClickHouse-Key": "geheim"})
        try:
            return urllib.request.urlopen(r, timeout=60).read().decode().strip()
        except urllib.error.HTTPError as e:
            e.msg += ": " + e.read().decode(errors="replace")[:400]
            raise

    def visible(self):
        """Samples that count, as readers count them."""
        return int(self.ask("SELECT sum(n) FROM counts WHERE batch IN (SELECT min(batch) FROM batches GROUP BY host, epoch, recording, segment)"))


def ship(server, *options, fails=False):
    p = dwell("ship", "--json", "--db", "db", "--state", "state", "--to", server.url, *options)
    check(p.returncode == (2 if fails else 0), "ship exits %d: %s" % (p.returncode, p.stderr.strip()))
    return p.stderr if fails else json.loads(p.stdout)


def stacks(db, *options):
    p = dwell("export", "--folded", "--db", db, *options)
    check(p.returncode == 0, p.stderr)
    return sorted(p.stdout.splitlines())


def n_samples(db, *options):
    return sum(int(line.rsplit(" ", 1)[1]) for line in stacks(db, *options))


def rows(db, by, *options):
    p = dwell("prof", "--json", "--by", by, "--epoch", "all", "--db", db, *options)
    check(p.returncode == 0, p.stderr)
    keys = by.split(",")
    return {tuple(r[k] for k in keys) if len(keys) > 1 else r[by]: r["counts"]["cycles"] for r in json.loads(p.stdout)["rows"]}


class Proxy:
    """Passes requests on to SERVER, but for those that REFUSES says: it is given a path and a body, and returns an answer or None."""

    def __init__(self, server, refuses=lambda path, body: None, tls=False):
        proxy = self
        self.refuses = refuses

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                said = proxy.refuses(self.path, gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body)
                headers, status = {}, 500
                if said is None:
                    keep = {k: v for k, v in self.headers.items() if k in ("X-ClickHouse-User", "X-ClickHouse-Key", "Content-Encoding", "Accept-Encoding")}
                    try:
                        with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{server.http}{self.path}", body, keep), timeout=60) as r:
                            said, status, headers = r.read(), r.status, r.headers
                    except urllib.error.HTTPError as e:
                        said, status = e.read(), e.code
                self.send_response(status)
                if headers and headers["Content-Encoding"]:
                    self.send_header("Content-Encoding", headers["Content-Encoding"])
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                with contextlib.suppress(BrokenPipeError):  # who asked was killed
                    self.wfile.write(said)

            def log_message(self, *args):
                pass

        self.http = serve(Handler, tls)
        self.port = self.http.server_address[1]
        self.url = f"http{'s' * tls}://localhost:{self.port}/fleet"
        self.db = f"clickhouse{'s' * tls}://localhost:{self.port}/fleet"
