# SPDX-License-Identifier: Apache-2.0
"""Runs `embert serve` on a free port and talks HTTP with it, byte by byte where a test wants that."""

from __future__ import annotations

import http.client
import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

ROOT = pathlib.Path(__file__).resolve().parents[3]
JSON_TYPE = {"Content-Type": "application/json"}


class Reply(NamedTuple):
    status: int
    headers: Dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """The server while it runs, as a context manager."""

    def __init__(
        self, tool: str, *arguments: str, key: Optional[str] = None, environment: Optional[Dict[str, str]] = None
    ) -> None:
        environment = {**os.environ, **(environment or {})}
        environment.pop("EMBERT_API_KEY", None)
        if key is not None:
            environment["EMBERT_API_KEY"] = key
        self.process = subprocess.Popen([tool, "serve", *arguments, "--port", "0"], stderr=subprocess.PIPE, env=environment)
        assert self.process.stderr is not None
        line = self.process.stderr.readline().decode()
        found = re.search(r"listens on .*127\.0\.0\.1:(\d+)", line)
        if found is None:
            self.process.kill()
            raise AssertionError(f"the server did not start: {line}{self.process.stderr.read().decode()}")
        self.port = int(found.group(1))

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        assert self.process.stderr is not None
        self.process.stderr.close()

    def stop(self) -> Tuple[int, str]:
        """The exit code after SIGTERM, and what the server wrote."""
        self.process.send_signal(signal.SIGTERM)
        _, written = self.process.communicate(timeout=120)
        return self.process.returncode, written.decode()

    def connect(self) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=120)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def ask(
        self, method: str, path: str, body: Union[None, bytes, object] = None, headers: Optional[Dict[str, str]] = None
    ) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            connection.request(method, path, data, JSON_TYPE if headers is None else headers)
            answer = connection.getresponse()
            return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def post(self, path: str, body: Union[bytes, object], headers: Optional[Dict[str, str]] = None) -> Reply:
        return self.ask("POST", path, body, headers)

    def get(self, path: str, headers: Optional[Dict[str, str]] = None) -> Reply:
        return self.ask("GET", path, headers={} if headers is None else headers)

    def raw(self, request: bytes) -> bytes:
        """What the server writes until it closes the connection."""
        with self.connect() as connection:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            received = b""
            while part := connection.recv(65536):
                received += part
            return received

    def virtual_bytes(self) -> int:
        return self._memory()[0]

    def resident_bytes(self) -> int:
        return self._memory()[1]

    def _memory(self) -> List[int]:
        """The numbers of /proc/PID/statm in bytes."""
        pages = pathlib.Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()
        return [int(number) * os.sysconf("SC_PAGE_SIZE") for number in pages]

    def limit_memory(self, most: int) -> int:
        """Limits the server's virtual memory; returns the limit before."""
        before, hard = resource.prlimit(self.process.pid, resource.RLIMIT_AS)
        resource.prlimit(self.process.pid, resource.RLIMIT_AS, (most, hard))
        return before

    def threads(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/task"))


def tool_json(tool: str, *arguments: str, texts: Optional[List[str]] = None) -> List[Any]:
    """The lines of a subcommand with --json."""
    lines = "".join(text + "\n" for text in texts or []).encode()
    done = subprocess.run([tool, *arguments, "--json"], input=lines, capture_output=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def make_models(tool: str, folder: pathlib.Path) -> Dict[str, str]:
    """A model of vectors without a classifier, and the bundled classifier."""
    sources = {"embed": "targets/web/tiny-embed", "intent": "targets/demo/tiny-intent"}
    models = {name: str(folder / f"{name}.emb") for name in sources}
    texts = ROOT / "targets/demo/sentences.txt"
    for name, source in sources.items():
        subprocess.run(
            [tool, "convert", str(ROOT / source), "-o", models[name], "--calibration", str(texts), "--quiet"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    return models
