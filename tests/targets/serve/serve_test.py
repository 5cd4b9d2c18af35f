#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The HTTP server over loopback: each route, each refusal with its status, and clients that misbehave.   serve_test.py EMBERT"""

from __future__ import annotations

import base64
import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from typing import Any, ClassVar, Dict, List, Sequence

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from running_server import JSON_TYPE, ROOT, Reply, Server, make_models, tool_json  # noqa: E402

TOOL = ""
SENTENCES = (ROOT / "targets/demo/sentences.txt").read_text(encoding="utf-8").splitlines()[:40]
EMBEDDINGS = "/v1/embeddings"


def float32_bytes(values: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


class ServerCase(unittest.TestCase):
    models: ClassVar[Dict[str, str]]
    folder: ClassVar["tempfile.TemporaryDirectory[str]"]

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.models = make_models(TOOL, pathlib.Path(cls.folder.name))

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def serve(self, *arguments: str, **options: Any) -> Server:
        return Server(TOOL, self.models["embed"], "intents=" + self.models["intent"], "--threads", "2", *arguments, **options)

    def expect(self, reply: Reply, status: int, part: str = "") -> None:
        self.assertEqual(reply.status, status, reply.body[:300])
        error = reply.json()["error"]
        self.assertEqual(set(error), {"message", "type", "param", "code"})
        self.assertIn(part, error["message"])
        self.assertLess(len(reply.body), 4000)


class Routes(ServerCase):
    server: ClassVar[Server]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.server = Server(TOOL, cls.models["embed"], "intents=" + cls.models["intent"], "--threads", "2")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.server.__exit__()
        super().tearDownClass()

    def embed(self, text: object, **fields: object) -> Any:
        reply = self.server.post(EMBEDDINGS, {"model": "embed", "input": text, **fields})
        self.assertEqual(reply.status, 200, reply.body[:300])
        return reply.json()

    def test_embeddings_are_those_of_the_tool(self) -> None:
        expected = tool_json(TOOL, "embed", self.models["embed"], texts=SENTENCES)
        answer = self.embed(SENTENCES)
        self.assertEqual([entry["embedding"] for entry in answer["data"]], [line["embedding"] for line in expected])
        self.assertEqual([entry["index"] for entry in answer["data"]], list(range(len(SENTENCES))))
        tokens = sum(line["tokens"] for line in expected)
        self.assertEqual(answer["usage"], {"prompt_tokens": tokens, "total_tokens": tokens})
        self.assertEqual((answer["object"], answer["model"]), ("list", "embed"))
        one = self.embed(SENTENCES[0])
        self.assertEqual(one["data"][0]["embedding"], expected[0]["embedding"])

    def test_numbers_are_written_as_the_tool_writes_them(self) -> None:
        reply = self.server.post(EMBEDDINGS, {"model": "embed", "input": SENTENCES[0]})
        line = json.dumps(tool_json(TOOL, "embed", self.models["embed"], SENTENCES[0])[0]["embedding"], separators=(",", ":"))
        self.assertIn(line.encode(), reply.body)

    def test_base64_has_the_bytes_of_float32(self) -> None:
        vectors = self.embed(SENTENCES[:5])["data"]
        for entry, packed in zip(vectors, self.embed(SENTENCES[:5], encoding_format="base64")["data"]):
            self.assertEqual(base64.b64decode(packed["embedding"], validate=True), float32_bytes(entry["embedding"]))

    def test_fields_that_are_null_are_left_out(self) -> None:
        nothing = dict.fromkeys(("encoding_format", "dimensions", "prompt", "user"))
        self.assertEqual(self.embed("a cat", **nothing), self.embed("a cat"))

    def test_dimensions(self) -> None:
        expected = tool_json(TOOL, "embed", self.models["embed"], SENTENCES[0], "--dimensions", "7")[0]["embedding"]
        self.assertEqual(self.embed(SENTENCES[0], dimensions=7)["data"][0]["embedding"], expected)

    def test_token_ids_are_what_the_model_reads(self) -> None:
        tokens = self.server.post("/tokenize", {"model": "embed", "input": SENTENCES[:3]}).json()["data"]
        vectors = [entry["embedding"] for entry in self.embed(SENTENCES[:3])["data"]]
        self.assertEqual([entry["embedding"] for entry in self.embed([one["ids"] for one in tokens])["data"]], vectors)
        self.assertEqual(self.embed(tokens[0]["ids"])["data"][0]["embedding"], vectors[0])

    def test_long_texts_are_cut_and_say_so(self) -> None:
        answer = self.embed(["word " * 5000, "short"])
        self.assertEqual([entry.get("truncated") for entry in answer["data"]], [True, None])

    def test_classify(self) -> None:
        expected = tool_json(TOOL, "classify", self.models["intent"], "--top", "3", texts=SENTENCES)
        answer = self.server.post("/v1/classify", {"model": "intents", "input": SENTENCES, "top": 3}).json()
        for i, (line, entry) in enumerate(zip(expected, answer["data"])):
            self.assertEqual(entry, {"index": i, **{key: value for key, value in line.items() if key != "text"}})
        rejected = self.server.post(
            "/v1/classify", {"model": "intents", "input": "zzz", "threshold": 1, "reject_label": "none"}
        ).json()
        self.assertEqual(rejected["data"][0]["label"], "none")

    def test_rerank(self) -> None:
        query, documents = SENTENCES[0], SENTENCES[1:9]
        expected = tool_json(TOOL, "rerank", self.models["intent"], "--label", "weather", query, *documents)[0]["documents"]
        asked = {"model": "intents", "query": query, "documents": [*documents[:7], {"text": documents[7]}], "label": "weather"}
        results = self.server.post("/v1/rerank", {**asked, "return_documents": True}).json()["results"]
        self.assertEqual(
            [(one["document"]["text"], one["index"], one["relevance_score"]) for one in results],
            [(one["document"], one["index"], one["score"]) for one in expected],
        )
        best = self.server.post("/v1/rerank", {**asked, "top_n": 2}).json()["results"]
        self.assertEqual([one["index"] for one in best], [one["index"] for one in expected[:2]])
        self.assertNotIn("document", best[0])

    def test_tokenize(self) -> None:
        expected = tool_json(TOOL, "tokenize", self.models["embed"], texts=SENTENCES[:5])
        answer = self.server.post("/tokenize", {"model": "embed", "input": SENTENCES[:5]}).json()
        self.assertEqual(answer["data"], [{"index": i, **line} for i, line in enumerate(expected)])

    def test_models_health_metrics(self) -> None:
        listed = self.server.get("/v1/models").json()
        self.assertEqual([model["id"] for model in listed["data"]], ["embed", "intents"])
        self.assertEqual(self.server.get("/v1/models/intents").json(), listed["data"][1])
        self.assertEqual(self.server.get("/health").json(), {"status": "ok"})
        self.assertEqual(self.server.ask("HEAD", "/health").body, b"")
        self.embed("a text")
        metrics = self.server.get("/metrics")
        self.assertTrue(metrics.headers["content-type"].startswith("text/plain; version=0.0.4"))
        values = dict(line.rsplit(" ", 1) for line in metrics.body.decode().splitlines() if not line.startswith("#"))
        self.assertGreaterEqual(int(values['embert_requests_total{route="embeddings",status="200"}']), 1)
        self.assertGreaterEqual(int(values['embert_texts_total{model="embed"}']), 1)
        self.assertEqual(values['embert_waiting_requests{model="embed"}'], "0")

    def test_refused_requests(self) -> None:
        embed: Dict[str, Any] = {"model": "embed", "input": "a"}
        deep = b"[" * 100000
        cases: List[Any] = [
            (404, EMBEDDINGS, {**embed, "model": "none"}, 'no model "none"; there are embed, intents'),
            (404, "/v2", embed, "there is no such path"),
            (400, EMBEDDINGS, {"input": "a"}, "model is missing"),
            (400, EMBEDDINGS, {**embed, "model": 7}, "model is no text"),
            (400, EMBEDDINGS, {"model": "embed"}, "input is missing"),
            (400, EMBEDDINGS, {**embed, "input": {}}, "type object"),
            (400, EMBEDDINGS, {**embed, "input": None}, "input is missing"),
            (400, EMBEDDINGS, {**embed, "input": []}, "at least one text"),
            (400, EMBEDDINGS, {**embed, "input": ["a", 7]}, "input[1]"),
            (400, EMBEDDINGS, {**embed, "input": [1, "a"]}, "token id"),
            (400, EMBEDDINGS, {**embed, "input": [-1]}, "token id is not a whole number from 0 to"),
            (400, EMBEDDINGS, {**embed, "input": [1.5]}, "token id"),
            (400, EMBEDDINGS, {**embed, "input": [10**9]}, "token id"),
            (400, EMBEDDINGS, {**embed, "input": [2**63]}, "token id"),
            (400, EMBEDDINGS, {**embed, "input": [[]]}, "empty list"),
            (400, EMBEDDINGS, {**embed, "input": [[1], 2]}, "input[1] is no list"),
            (400, EMBEDDINGS, {**embed, "input": [1] * 600}, "the model reads at most"),
            (400, EMBEDDINGS, {**embed, "input": "a\0b"}, "NUL"),
            (400, EMBEDDINGS, {**embed, "dimensions": 0}, "dimensions is 0"),
            (400, EMBEDDINGS, {**embed, "dimensions": 100000}, "a whole number from 1 to"),
            (400, EMBEDDINGS, {**embed, "dimensions": "7"}, "dimensions"),
            (400, EMBEDDINGS, {**embed, "dimensions": [0] * 100000}, "..."),
            (400, EMBEDDINGS, {**embed, "encoding_format": "int8"}, "float or base64"),
            (400, EMBEDDINGS, {**embed, "encoding": "float"}, 'unknown option "encoding"'),
            (400, EMBEDDINGS, {**embed, "prompt": "none"}, "prompt"),
            (400, "/v1/classify", embed, "embed: the model has no classifier"),
            (400, "/v1/rerank", {"model": "embed", "query": "a", "documents": ["b"]}, "it can do: embed, similarity"),
            (400, "/v1/rerank", {"model": "intents", "query": "a", "documents": ["b"]}, "sort by which"),
            (400, "/v1/rerank", {"model": "intents", "query": 7, "documents": ["b"]}, "query"),
            (400, "/v1/rerank", {"model": "intents", "query": "a", "documents": "b", "label": "weather"}, "takes a list"),
            (400, "/v1/rerank", {"model": "intents", "query": "a", "documents": [], "label": "weather"}, "at least one"),
            (400, "/v1/classify", {"model": "intents", "input": "a", "top": 0}, "top is 0"),
            (400, "/v1/classify", {"model": "intents", "input": "a", "threshold": 2}, "threshold"),
            (400, "/v1/classify", {"model": "intents", "input": [["a"]]}, "list of two texts"),
            (400, "/tokenize", {"model": "embed", "input": 7}, "takes a text"),
            (400, EMBEDDINGS, b"", "no JSON"),
            (400, EMBEDDINGS, b"{", "no JSON"),
            (400, EMBEDDINGS, b"[]", "no JSON object"),
            (400, EMBEDDINGS, b'{"input": "\xff"}', "byte"),
            (400, EMBEDDINGS, b'{"input": "\\ud800"}', "byte"),
            (400, EMBEDDINGS, b'{"input": "a"}\0', "NUL"),
            (400, EMBEDDINGS, b'{"input": 1e999}', "out of range"),
            (400, EMBEDDINGS, b'{"input": [' + b"9" * 5000 + b"]}", ""),
            (400, EMBEDDINGS, deep, "levels"),
            (400, EMBEDDINGS, b'{"input":' + deep, "levels"),
            (400, EMBEDDINGS, json.dumps({str(i): 0 for i in range(100)}).encode(), "keys"),
            (413, EMBEDDINGS, {**embed, "input": ["a"] * 2049}, "2,048 (--max-texts)"),
            (413, EMBEDDINGS, {**embed, "input": ["a"] * 100000}, "--max-texts"),
            (413, EMBEDDINGS, b"x" * (9 << 20), "--max-body"),
        ]  # fmt: skip
        for status, path, body, part in cases:
            with self.subTest(path=path, body=str(body)[:80]):
                reply = self.server.post(path, body)
                self.expect(reply, status, part)
                self.assertNotIn(self.folder.name.encode(), reply.body)
        self.expect(self.server.get("/v1/models/none"), 404, "no model")
        self.expect(self.server.get(EMBEDDINGS), 405, "takes POST")
        self.expect(self.server.post("/health", {}), 405, "takes GET")
        self.expect(self.server.post(EMBEDDINGS, embed, {}), 415, "application/json")
        self.expect(self.server.post(EMBEDDINGS, embed, {**JSON_TYPE, "Content-Encoding": "gzip"}), 415, "compressed")

    def test_heads_that_break_the_grammar(self) -> None:
        good = b"POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        cases = [
            (400, b"GET /health\r\n\r\n"), (400, b"GET  HTTP/1.1\r\nHost: localhost\r\n\r\n"), (400, b"\r\n\r\n"),
            (400, b"GET health HTTP/1.1\r\nHost: localhost\r\n\r\n"), (400, b"GET /health HTTP/1.1\r\n\r\n"),
            (400, b"BREW /health HTTP/1.1\r\nHost: localhost\r\n\r\n"), (400, b"get /health HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            (400, b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: b\r\n\r\n"),
            (400, b"GET /health HTTP/1.1\r\nHost : localhost\r\n\r\n"), (400, b"GET /health HTTP/1.1\r\nHost: localhost\r\n b\r\n\r\n"),
            (400, b"GET /health HTTP/1.1\r\nHost: localhost\nX: b\r\n\r\n"), (400, b"GET /health HTTP/1.1\r\nHost: localhost\0\r\n\r\n"),
            (400, b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n"), (505, b"GET /health HTTP/2.0\r\nHost: localhost\r\n\r\n"),
            (414, b"GET /" + b"a" * 2000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            (431, b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 20000 + b"\r\n\r\n"),
            (431, b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + b"X: a\r\n" * 5000 + b"\r\n"), (431, b"a" * 100000),
            (400, good + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}"), (400, good + b"Content-Length: -1\r\n\r\n{}"),
            (400, good + b"Content-Length: 1a\r\n\r\n{}"), (400, good + b"Content-Length: \r\n\r\n{}"),
            (413, good + b"Content-Length: 99999999999999999999999\r\n\r\n{}"),
            (411, good + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
            (400, good + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}"),
            (417, good + b"Content-Length: 2\r\nExpect: a miracle\r\n\r\n{}"), (400, good + b"Content-Length: 20\r\n\r\n{}"),
        ]  # fmt: skip
        for status, request in cases:
            with self.subTest(request=request[:80]):
                head, _, body = self.server.raw(request).partition(b"\r\n\r\n")
                self.assertEqual(int(head.split(b" ")[1]), status)
                self.assertEqual(
                    json.loads(body)["error"]["type"], "server_error" if status >= 500 else "invalid_request_error"
                )

    def test_ranges_and_compression_are_passed_over(self) -> None:
        headers = {**JSON_TYPE, "Range": "bytes=0-1,0-1,0-1", "Accept-Encoding": "gzip, br"}
        reply = self.server.post("/tokenize", {"model": "embed", "input": "a"}, headers)
        self.assertEqual(reply.status, 200)
        self.assertEqual(reply.json()["data"][0]["text"], "a")

    def test_requests_on_one_connection(self) -> None:
        body = b'{"model":"embed","input":"a"}'
        one = (
            b"POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
            % (len(body), body)
        )
        refused = one.replace(b"/tokenize", b"/unknown!")
        last = one.replace(b"Host: localhost", b"Host: localhost\r\nConnection: close")
        received = self.server.raw(one * 20 + refused + one + last + one)
        self.assertEqual(received.count(b"HTTP/1.1 200"), 22)
        self.assertEqual(received.count(b"HTTP/1.1 404"), 1)

    def test_expect_continue(self) -> None:
        with self.server.connect() as connection:
            connection.sendall(
                b"POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 29\r\n"
                b"Expect: 100-continue\r\nConnection: close\r\n\r\n"
            )
            self.assertTrue(connection.recv(1000).startswith(b"HTTP/1.1 100"))
            connection.sendall(b'{"model":"embed","input":"a"}')
            self.assertTrue(connection.recv(1000).startswith(b"HTTP/1.1 200"))

    def test_clients_at_once_get_their_own_answers(self) -> None:
        expected = {text: self.embed(text)["data"][0]["embedding"] for text in SENTENCES}
        labels = {
            text: self.server.post("/v1/classify", {"model": "intents", "input": text, "top": 1}).json()["data"]
            for text in SENTENCES
        }

        def client(number: int) -> None:
            for i in range(30):
                texts = [SENTENCES[(number * 7 + i * k) % len(SENTENCES)] for k in range(1, 2 + i % 4)]
                got = [entry["embedding"] for entry in self.embed(texts)["data"]]
                self.assertEqual(got, [expected[text] for text in texts])
                answer = self.server.post("/v1/classify", {"model": "intents", "input": texts[0], "top": 1}).json()
                self.assertEqual(answer["data"], labels[texts[0]])

        with concurrent.futures.ThreadPoolExecutor(16) as clients:
            for done in [clients.submit(client, number) for number in range(16)]:
                done.result()


class Limits(ServerCase):
    def test_key(self) -> None:
        with self.serve(key="secret-1") as server:
            self.expect(server.get("/v1/models"), 401, "Bearer KEY")
            for wrong in ("Bearer secret-2", "Bearer secret-", "Bearer secret-11", "Basic secret-1", "secret-1", "Bearer ", ""):
                self.expect(server.get("/v1/models", {"Authorization": wrong}), 401)
            self.expect(server.post("/nothing", {}), 401)
            self.assertEqual(server.get("/v1/models", {"Authorization": "Bearer secret-1"}).status, 200)
            self.assertEqual(server.get("/health").status, 200)
        path = pathlib.Path(self.folder.name) / "key"
        path.write_text("secret-3\n", encoding="ascii")
        with self.serve("--api-key-file", str(path)) as server:
            self.assertEqual(server.get("/v1/models", {"Authorization": "bearer secret-3"}).status, 200)

    def test_without_a_key_host_is_this_machine(self) -> None:
        with self.serve() as server:
            for own in ("localhost", "LocalHost:8080", "127.0.0.1", "127.0.0.1:1", "127.9.8.7", "[::1]", "[::1]:8080", "0.0.0.0:8080", "[::]",
                        "mybox", "my-box:8080", "localhost.", "ip6-localhost", "app.localhost:8080", "host.docker.internal"):  # fmt: skip
                self.assertEqual(server.get("/v1/models", {"Host": own}).status, 200, own)
            for other in ("rebound.example", "rebound.example:8080", "localhost.example", "127.0.0.1.example", "127.0.0.1:8080.example",
                          "a.localhost.example", "internal.example", ".localhost", "10.0.0.1", "[::2]", "::1", "[::1", "127.0.0.1 ,a", "", "0" * 9000):  # fmt: skip
                for path in ("/v1/models", "/health", "/metrics"):
                    self.expect(server.get(path, {"Host": other}), 403, "call the server by localhost")
            body = {"model": "embed", "input": "a"}
            self.expect(server.post(EMBEDDINGS, body, {**JSON_TYPE, "Host": "rebound.example"}), 403, "--api-key-file")
            self.assertIn(b" 200 ", server.raw(b"GET /health HTTP/1.0\r\n\r\n"))  # from no browser
        with self.serve(key="secret") as server:
            headers = {"Host": "rebound.example", "Authorization": "Bearer secret"}
            self.assertEqual(server.get("/v1/models", headers).status, 200)

    def test_limits_of_a_request(self) -> None:
        with self.serve("--max-texts", "3", "--max-body", "2000", "--max-tokens", "8") as server:

            def embed(texts: object) -> Reply:
                return server.post(EMBEDDINGS, {"model": "embed", "input": texts})

            self.assertEqual(embed(["a"] * 3).status, 200)
            self.expect(embed(["a"] * 4), 413, "--max-texts")
            self.expect(embed([[1]] * 4), 413, "--max-texts")
            self.expect(embed("a" * 2000), 413, "--max-body")
            self.expect(embed([1] * 9), 400, "at most 8")
            self.assertTrue(embed("a b c d e f g h i j").json()["data"][0]["truncated"])

    def test_memory(self) -> None:
        with self.serve("--max-memory", "1000000") as server:
            self.expect(server.post(EMBEDDINGS, {"model": "embed", "input": ["a"] * 2000}), 413, "--max-memory")
            self.assertEqual(server.post(EMBEDDINGS, {"model": "embed", "input": "a"}).status, 200)
        # A number takes more memory than the two bytes that it is in the body.
        numbers = {"model": "embed", "input": [1] * 500000}
        with self.serve("--max-memory", "16000000") as server:
            self.expect(server.post(EMBEDDINGS, numbers), 413, "--max-memory")
        with self.serve("--max-memory", "64000000") as server:
            self.expect(server.post(EMBEDDINGS, numbers), 400, "at most")

    def test_a_name_may_have_slashes(self) -> None:
        with Server(TOOL, "org/embed=" + self.models["embed"]) as server:
            self.assertEqual(server.get("/v1/models/org/embed").json()["id"], "org/embed")
            self.assertEqual(server.post(EMBEDDINGS, {"model": "org/embed", "input": "a"}).status, 200)

    def test_head_and_body_have_one_time_limit(self) -> None:
        head = b"POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 29\r\n\r\n"
        with self.serve("--timeout", "3") as server, server.connect() as client:
            client.sendall(head[:-2])
            time.sleep(2)
            client.sendall(head[-2:])
            begun = time.monotonic()
            self.assertIn(b" 400 ", client.recv(1000))
            self.assertLess(time.monotonic() - begun, 2)

    def test_who_has_no_key_takes_no_memory(self) -> None:
        head = b"POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 8000000\r\n%s\r\n"
        key = {"Authorization": "Bearer secret"}
        asked = {"model": "embed", "input": "a", "user": "u" * 200000}
        with self.serve("--max-memory", "65000000", key="secret") as server:
            for more in (b"", b"Expect: 100-continue\r\n"):
                with server.connect() as stranger:
                    stranger.sendall(head % more)
                    self.assertTrue(stranger.recv(1000).startswith(b"HTTP/1.1 401"))
                    # The server still listens to what the stranger may send.
                    self.assertEqual(server.post(EMBEDDINGS, asked, {**JSON_TYPE, **key}).status, 200)
            # The connection ends also where the body that the stranger keeps back is small.
            with server.connect() as stranger:
                stranger.sendall(head.replace(b"8000000", b"1000") % b"Expect: 100-continue\r\n")
                self.assertIn(b"Connection: close", stranger.recv(1000))
            # A request gives its memory back after its answer, so the next client may come too early.
            for _ in range(100):
                with server.connect() as client:
                    client.sendall(head % b"Authorization: Bearer secret\r\nExpect: 100-continue\r\n")
                    if not client.recv(1000).startswith(b"HTTP/1.1 100"):
                        time.sleep(0.02)
                        continue
                    self.expect(server.post(EMBEDDINGS, asked, {**JSON_TYPE, **key}), 429, "--max-memory")
                    break
            else:
                self.fail("the client with the key is never asked for its body")

    def test_queue(self) -> None:
        texts = ["a long text that takes its time, again and again " * 20] * 2000
        with self.serve("--max-queue", "1") as server, concurrent.futures.ThreadPoolExecutor(4) as clients:
            replies = [clients.submit(server.post, EMBEDDINGS, {"model": "embed", "input": texts}) for _ in range(4)]
            statuses = sorted(reply.result().status for reply in replies)
            self.assertEqual(statuses[0], 200)
            self.assertEqual(statuses[-1], 429)
            self.assertEqual(server.post(EMBEDDINGS, {"model": "embed", "input": "a"}).status, 200)

    def test_slow_clients_harm_nobody(self) -> None:
        with self.serve("--connections", "8", "--timeout", "3") as server:
            silent = [server.connect() for _ in range(8)]
            self.assertEqual(server.get("/health").status, 200)  # one of the silent ones has to go
            slow = [server.connect() for _ in range(6)]
            for connection in slow[:3]:
                connection.sendall(b"GET /health HTTP/1.1\r\nX: ")
            for connection in slow[3:]:
                connection.sendall(
                    b"POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
                )
            ends = time.monotonic() + 30
            open_ones = list(slow)
            while open_ones and time.monotonic() < ends:
                self.assertEqual(server.get("/health").status, 200)
                for connection in list(open_ones):
                    try:
                        connection.sendall(b"a")
                        connection.settimeout(0.05)
                        if connection.recv(100):
                            open_ones.remove(connection)
                    except socket.timeout:
                        pass
                    except OSError:
                        open_ones.remove(connection)
            self.assertEqual(open_ones, [])
            for connection in silent + slow:
                connection.close()

    def test_more_clients_than_connections(self) -> None:
        with self.serve("--connections", "2", "--timeout", "20") as server:
            busy = [server.connect() for _ in range(2)]
            for connection in busy:
                connection.sendall(b"GET /health HTTP/1.1\r\nX: ")
            time.sleep(0.5)
            with server.connect() as third:
                self.assertIn(b" 429 ", third.recv(1000))
            busy[0].sendall(b"a\r\nHost: localhost\r\n\r\n")
            self.assertIn(b" 200 ", busy[0].recv(1000))
            for connection in busy:
                connection.close()
            self.assertLess(server.threads(), 12)

    def test_cut_connections(self) -> None:
        body = json.dumps({"model": "embed", "input": SENTENCES * 20}).encode()
        request = (
            b"POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            % len(body)
            + body
        )
        with self.serve() as server:
            for i in range(40):
                connection = server.connect()
                connection.sendall(request[: len(request) * i // 39])
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.close()
            self.assertEqual(server.get("/health").status, 200)

    def test_large_bodies_leave_no_memory(self) -> None:
        with self.serve() as server:
            for _ in range(20):
                self.expect(server.post(EMBEDDINGS, b"x" * (10 << 20)), 413)
            before = server.resident_bytes()
            for _ in range(5):
                self.expect(server.post(EMBEDDINGS, b'{"model":"embed","input":[' + b"1," * (1 << 20) + b"1]}"), 400, "at most")
            self.assertLess(server.resident_bytes() - before, 64 << 20)

    @unittest.skipIf(os.environ.get("EMBERT_SANITIZE"), "NOT TESTED: a lack of memory ends a program with sanitizers")
    def test_a_request_without_memory_does_not_end_the_server(self) -> None:
        # Threads with an arena of their own would have room in it.
        with self.serve(environment={"MALLOC_ARENA_MAX": "1"}) as server:
            self.assertEqual(server.post(EMBEDDINGS, {"model": "embed", "input": "a"}).status, 200)
            body = json.dumps({"model": "embed", "input": "a", "user": "u" * (7 << 20)}).encode()
            unlimited = server.limit_memory(server.virtual_bytes() + (1 << 20))
            with contextlib.suppress(OSError, http.client.HTTPException):  # an answer, or a closed connection
                self.expect(server.post(EMBEDDINGS, body), 503, "no memory")
            server.limit_memory(unlimited)
            self.assertEqual(server.post(EMBEDDINGS, {"model": "embed", "input": "a"}).status, 200)


class ModelFiles(ServerCase):
    def test_a_file_may_change_while_it_is_served(self) -> None:
        model = pathlib.Path(self.folder.name) / "changing.emb"
        model.write_bytes(pathlib.Path(self.models["embed"]).read_bytes())
        with Server(TOOL, str(model), "--threads", "1") as server:
            before = server.post(EMBEDDINGS, {"input": SENTENCES[0]})
            os.truncate(model, 0)
            after = server.post(EMBEDDINGS, {"input": SENTENCES[1:] + SENTENCES[:1]})
            self.assertEqual(after.status, 200, after.body[:300])
            self.assertEqual(after.json()["data"][-1]["embedding"], before.json()["data"][0]["embedding"])


class Stopping(ServerCase):
    def test_what_is_in_flight_is_answered(self) -> None:
        with self.serve() as server:
            idle = server.connect()
            expected = server.post(EMBEDDINGS, {"model": "embed", "input": SENTENCES}).json()["data"]
            replies: List[Reply] = []
            asked = {"model": "embed", "input": SENTENCES * 40}
            threads = [threading.Thread(target=lambda: replies.append(server.post(EMBEDDINGS, asked))) for _ in range(6)]
            for thread in threads:
                thread.start()
            waiting = 'embert_waiting_requests{model="embed"} 6'
            while waiting not in server.get("/metrics").body.decode() and any(thread.is_alive() for thread in threads):
                time.sleep(0.001)
            code, written = server.stop()
            for thread in threads:
                thread.join()
            self.assertEqual(code, 0, written)
            self.assertEqual([reply.status for reply in replies], [200] * 6)
            for reply in replies:
                self.assertEqual(
                    [entry["embedding"] for entry in reply.json()["data"]], [entry["embedding"] for entry in expected] * 40
                )
            self.assertEqual(idle.recv(10), b"")
            idle.close()

    def test_wrong_calls(self) -> None:
        empty = pathlib.Path(self.folder.name) / "empty"
        empty.write_bytes(b"")
        model = self.models["embed"]
        cases = [(1, [model, model], "two models have the name"), (2, ["/none.emb"], "/none.emb"),
                 (2, [model, "--api-key-file", str(empty)], "empty"), (2, [model, "--bind", "203.0.113.1"], "cannot listen"),
                 (1, [model, "--max-texts", "0"], "--max-texts"), (1, [model, "--max-bodi", "5"], "--max-body"),
                 (1, [model, "--port", "70000"], "--port"), (1, [], "MODEL")]  # fmt: skip
        for code, arguments, part in cases:
            with self.subTest(arguments=arguments):
                port = [] if "--port" in arguments else ["--port", "0"]
                done = subprocess.run([TOOL, "serve", *port, *arguments], capture_output=True, timeout=60, check=False)
                self.assertEqual((done.returncode, part in done.stderr.decode()), (code, True), done.stderr)


class OfficialClient(ServerCase):
    def test_openai(self) -> None:
        try:
            import openai
        except ImportError:
            reason = "the official client: the package openai is not installed (pip install openai)"
            print(f"[  NOTICE  ] NOT TESTED: {reason}")
            self.skipTest(reason)
        with self.serve(key="secret") as server:
            client = openai.OpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key="secret", max_retries=0)
            expected = tool_json(TOOL, "embed", self.models["embed"], texts=SENTENCES)
            answer = client.embeddings.create(model="embed", input=SENTENCES, encoding_format="float")
            self.assertEqual([entry.embedding for entry in answer.data], [line["embedding"] for line in expected])
            packed = client.embeddings.create(model="embed", input=SENTENCES[0])  # base64 inside
            self.assertEqual(float32_bytes(packed.data[0].embedding), float32_bytes(expected[0]["embedding"]))
            self.assertEqual(len(client.embeddings.create(model="embed", input="a", dimensions=5).data[0].embedding), 5)
            self.assertEqual([model.id for model in client.models.list()], ["embed", "intents"])
            self.assertEqual(client.models.retrieve("intents").id, "intents")
            with self.assertRaises(openai.NotFoundError):
                client.embeddings.create(model="none", input="a")
            with self.assertRaises(openai.BadRequestError):
                client.embeddings.create(model="embed", input=[])
            with self.assertRaises(openai.AuthenticationError):
                openai.OpenAI(base_url=client.base_url, api_key="wrong", max_retries=0).models.list()


if __name__ == "__main__":
    TOOL = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=2)
