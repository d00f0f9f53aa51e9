#!/usr/bin/env python3
"""Does a page hold the JSON of the same dump, and nothing of the net?

    page.py PAGE.html DUMP.json
SPDX-License-Identifier: Apache-2.0"""

import base64
import json
import re
import sys
import zlib


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        page = file.read()
    with open(sys.argv[2], encoding="utf-8") as file:
        dump = json.load(file)
    data = re.search(r'<script id="data" type="text/plain">([A-Za-z0-9+/=]*)</script>', page)
    assert data, "no data in the page"
    assert json.loads(zlib.decompress(base64.b64decode(data.group(1)))) == dump
    rest = page.replace(data.group(1), "")
    assert not re.search(r"https?:|//[a-z]+\.|\bsrc=|@import|url\(", rest), "the net"
    print(f"{len(page)} bytes")


main()
