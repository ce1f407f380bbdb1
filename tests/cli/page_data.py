"""The data block of a page that dwell wrote (view/page.h), decoded without any of the project's code."""
import base64
import json
import re
import struct
import zlib


class Block:
    """COUNTS are the block's WORDS numbers behind the length of its JSON text, HEAD is that text; number() reads on."""

    def __init__(self, page, words):
        self.bytes = zlib.decompress(base64.b64decode(re.search(r'id="data">([^<]*)<', page)[1], validate=True))
        n_head, *self.counts = struct.unpack_from("<%dI" % (words + 1), self.bytes)
        self.at = 4 * (words + 1) + n_head
        self.head = json.loads(self.bytes[4 * (words + 1):self.at])

    def number(self):
        x = shift = 0
        while True:
            byte = self.bytes[self.at]
            self.at += 1
            x |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return x

    def column(self, n):
        return [self.number() for _ in range(n)]

    def check_end(self):
        assert self.at == len(self.bytes)
