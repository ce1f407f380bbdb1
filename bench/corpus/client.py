# SPDX-License-Identifier: BSD-2-Clause
"""Asks a web server on a Unix socket for pages, over and over, for SECONDS.

    client.py SOCKET SECONDS
"""
import socket
import sys
import time


def ask(s, path):
    s.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\nConnection: keep-alive\r\n\r\n" % path)
    got = b""
    while not got.endswith(b"0\r\n\r\n"):  # compressed answers are chunked
        part = s.recv(1 << 16)
        if not part:
            raise SystemExit("client.py: the server hung up")
        got += part
    if not got.startswith(b"HTTP/1.1 200"):
        raise SystemExit("client.py: %r" % got[:60])


end = time.monotonic() + float(sys.argv[2])
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
n = 0
while time.monotonic() < end:
    ask(s, b"/page.txt" if n % 4 else b"/")
    n += 1
    if n % 500 == 0:  # a server closes a connection after 1000 requests
        s.close()
        s = socket.socket(socket.AF_UNIX)
        s.connect(sys.argv[1])
print(n, "pages")
