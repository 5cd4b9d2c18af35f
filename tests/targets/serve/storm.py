#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bad requests by the thousand against the server.   storm.py EMBERT [--requests 5000] [--seed 1] [--converter EMBERT]

Good requests are damaged: bytes of head or body are changed, cut out, doubled or swapped for others; the connection is cut
or its sending side closed early; JSON values are swapped for values of other types. After each hundred a good request must
have its own answer. In the end SIGTERM must end the server with 0, and its stderr must have no line of a sanitizer. Prints
how often each status came. Best with a build that has
-DEMBERT_SANITIZE=address,undefined.
"""

from __future__ import annotations

import argparse
import collections
import json
import pathlib
import random
import re
import socket
import struct
import sys
import tempfile
from typing import Any, Counter, List

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from running_server import Server, make_models  # noqa: E402

CLIENTS = 8
VALUES: List[Any] = [None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, -(2**63), 1e308, -0.0, "", "a", "\0", "é" * 999, "\U0001f600", [], [[]], {},
                     {"text": "a"}, [0], [[0]], [1, "a"], ["a"] * 5000, [[1] * 500] * 9, [list(range(300))], "x" * 200000]  # fmt: skip
GOOD: List[Any] = [
    ("POST", "/v1/embeddings", {"model": "embed", "input": "a text", "encoding_format": "base64", "dimensions": 5}),
    ("POST", "/v1/embeddings", {"model": "embed", "input": [[1, 2, 3], [4]]}),
    ("POST", "/v1/classify", {"model": "intent", "input": [["a", "b"]], "top": 2, "threshold": 0.5, "function": "softmax"}),
    ("POST", "/v1/rerank", {"model": "intent", "query": "a", "documents": ["b", {"text": "c"}], "label": "weather", "top_n": 1}),
    ("POST", "/tokenize", {"model": "embed", "input": ["a", "b"]}),
    ("GET", "/v1/models", None), ("GET", "/v1/models/embed", None), ("GET", "/health", None), ("GET", "/metrics", None),
]  # fmt: skip
HEADS = [b"Transfer-Encoding: chunked", b"Content-Length: 5", b"Content-Length: -5", b"Content-Encoding: gzip", b"Range: bytes=0-,0-,0-",
         b"Expect: 100-continue", b"Connection: close", b"Connection: keep-alive, upgrade", b"Upgrade: h2c", b"X: " + b"a" * 9000,
         b"Content-Type: multipart/form-data; boundary=a", b"Content-Type: application/x-www-form-urlencoded", b"Accept-Encoding: br",
         b" folded", b"no colon", b"Authorization: Bearer \xff", b"Host:", b": empty"]  # fmt: skip


def swap_value(generator: random.Random, value: Any) -> Any:
    """The value with one part of it swapped for another."""
    if isinstance(value, dict) and value and generator.random() < 0.9:
        key = generator.choice(list(value))
        name = generator.choice([key, key, key, "x", "", "é", key.upper()])
        return {**{k: v for k, v in value.items() if k != key}, name: swap_value(generator, value[key])}
    if isinstance(value, list) and value and generator.random() < 0.6:
        i = generator.randrange(len(value))
        return [*value[:i], swap_value(generator, value[i]), *value[i + 1 :]]
    return generator.choice(VALUES)


def damage_bytes(generator: random.Random, data: bytes) -> bytes:
    at = generator.randrange(len(data) + 1)
    to = min(len(data), at + generator.choice([1, 1, 2, 5, 50]))
    piece = bytes(
        generator.choice(b'\0\t\r\n {}[]",:\\/09aZ\x7f\x80\xc3\xff') for _ in range(generator.choice([0, 1, 1, 2, 9]))
    )
    return generator.choice([data[:at] + piece + data[to:], data[:at] + piece + data[at:], data[:to] + data[at:], data[:at]])


def bad_request(generator: random.Random) -> bytes:
    method, path, value = generator.choice(GOOD)
    body = b"" if value is None else json.dumps(value).encode()
    if value is not None and generator.random() < 0.5:
        body = json.dumps(swap_value(generator, value)).encode()
    if generator.random() < 0.3:
        body = damage_bytes(generator, body)
    if generator.random() < 0.05:
        body = generator.choice([b"[", b'{"a":', b'{"input":[', b'"', b"\xff", b"1,"]) * generator.choice(
            [1, 99, 99999, 1000000]
        )
    head = [f"{method} {path} HTTP/1.1".encode(), b"Host: localhost", b"Content-Type: application/json"]
    length = len(body) + generator.choice([0, 0, 0, 0, 0, 0, -1, 1, 1000])
    if generator.random() < 0.95:
        head.append(b"Content-Length: %d" % length)
    if generator.random() < 0.3:
        head.insert(generator.randrange(1, len(head) + 1), generator.choice(HEADS))
    lines = b"\r\n".join(head) + b"\r\n\r\n"
    if generator.random() < 0.2:
        lines = damage_bytes(generator, lines)
    return lines + body


def send(server: Server, generator: random.Random) -> str:
    """Sends one bad request; the status of the answer, or how the connection ended."""
    request = bad_request(generator)
    with server.connect() as connection:
        try:
            ending = generator.random()
            connection.sendall(request)
            if ending < 0.1:  # a reset
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return "cut by the client"
            connection.shutdown(socket.SHUT_WR)
            received = b""
            while part := connection.recv(65536):
                received += part
        except OSError:
            return "cut by the server"
    found = re.match(rb"HTTP/1\.1 (\d+) ", received)
    return found.group(1).decode() if found else "no answer"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("embert")
    parser.add_argument("--requests", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--converter", help="the tool that converts the models, where EMBERT has no converter")
    arguments = parser.parse_args()
    generator = random.Random(arguments.seed)
    counts: Counter[str] = collections.Counter()
    good = {"model": "embed", "input": "a text"}
    with tempfile.TemporaryDirectory() as folder:
        models = make_models(arguments.converter or arguments.embert, pathlib.Path(folder))
        with Server(
            arguments.embert, *models.values(), "--threads", "2", "--timeout", "10", "--connections", str(CLIENTS)
        ) as server:
            expected = server.post("/v1/embeddings", good).body
            for i in range(arguments.requests):
                counts[send(server, generator)] += 1
                if i % 100 == 99 and server.post("/v1/embeddings", good).body != expected:
                    print(f"after request {i}: a good request has another answer")
                    return 1
            print(f"resident memory: {server.resident_bytes() / 2**20:.0f} MB, threads: {server.threads()}")
            code, written = server.stop()
    for status, count in sorted(counts.items()):
        print(f"{count:6d}  {status}")
    bad_lines = [line for line in written.splitlines() if not line.startswith("embert:")]
    print("\n".join(bad_lines[:50]))
    internal = sum(count for status, count in counts.items() if status.startswith("5") and status != "505")
    print(
        f"seed {arguments.seed}, exit code {code}, {internal} answers with 5xx (but 505), {len(bad_lines)} lines that are not the server's"
    )
    return 0 if code == 0 and internal == 0 and not bad_lines else 1


if __name__ == "__main__":
    sys.exit(main())
