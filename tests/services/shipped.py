# SPDX-License-Identifier: BSD-2-Clause
"""What tests of `dwell ship` share: an epoch to be sent, and a server in this process that takes it."""
import http.server
import os
import ssl
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
from e2e import *

MKDB = os.environ.get("MKDB", "build/tests/cli/mkdb")


def epoch(n, host="web1", owner="-  - comm=server", db="db"):
    """An epoch N hours after the first one, with 10 procedures' samples."""
    text = f"recording {host} {1609459200 + n * 3600}\nmeta {host} {1609459200 + n * 3600} 3600 server\nevent cycles 1000\n"
    text += f"image file /usr/bin/server\nowner {owner}\n"
    text += "".join(f"frame {0x1000 + i * 16:x}\nsample {0x2000 + i * 16:x} {n + i + 1}\n" for i in range(10)) + "loss ring_full 3\n"
    subprocess.run([MKDB, db], input=text, text=True, check=True)
    return sum(n + i + 1 for i in range(10))


def serve(handler, tls=False):
    """A server of HANDLER at a port of its own; with TLS by ./cert.pem and ./key.pem."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain("cert.pem", "key.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
