# SPDX-License-Identifier: BSD-2-Clause
"""A program asks a slow server, which is a thread of it, and works on each answer."""
import hashlib
import http.client
import http.server
import json
import threading
import time

ROWS = [{"id": i, "name": "row %d" % i, "price": i * 1.25} for i in range(600)]


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.08)  # its disk
        body = json.dumps(ROWS, indent=1).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


def ask(address):
    connection = http.client.HTTPConnection(*address)
    connection.request("GET", "/")
    rows = json.loads(connection.getresponse().read())
    connection.close()
    return rows


def render(rows):
    return "\n".join("%(id)d %(name)s %(price).2f" % row for row in rows)


def sign(text):
    data = text.encode()
    for _ in range(9000):
        data = hashlib.sha256(data).digest()
    return data.hex()


server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
threading.Thread(target=server.serve_forever, daemon=True).start()
for _ in range(60):
    sign(render(ask(server.server_address)))
