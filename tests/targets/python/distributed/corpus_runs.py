# SPDX-License-Identifier: Apache-2.0
"""Runs of the examples, as processes that a test can watch and kill."""

import contextlib
import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from typing import Any, Callable, Dict, Iterator, List, Tuple

ROOT = pathlib.Path(__file__).resolve().parents[4]
EXAMPLES = ROOT / "targets" / "python" / "examples"
WORKERS = 2
# Nothing here takes as long on a busy machine.
PATIENCE_SECONDS = 900.0

# Ray kills workers when the machine's memory is full, whoever fills it.
ENVIRONMENT = {"RAY_memory_monitor_refresh_ms": "0", "RAY_USAGE_STATS_ENABLED": "0", "PYSPARK_PYTHON": sys.executable}


def starter(engine: str) -> List[str]:
    """What a user writes before the arguments of an example."""
    script = str(EXAMPLES / f"{engine}_embed.py")
    if engine == "ray":
        return [sys.executable, script]
    spark = importlib.util.find_spec("pyspark")
    assert spark is not None and spark.submodule_search_locations
    # A driver, and executors of one core: each is a Java process with a Python worker of its own.
    return [f"{spark.submodule_search_locations[0]}/bin/spark-submit", "--master", f"local-cluster[{WORKERS},1,1024]", script]


class Process:
    """A process by its id, from /proc."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def parent(self) -> int:
        # The name in brackets may have spaces.
        return int(self._read("stat").rpartition(")")[2].split()[1] or 0)

    def begun(self) -> str:
        """Time of its start; empty if it is not running. With the id this names a process for ever."""
        fields = self._read("stat").rpartition(")")[2].split()
        return "" if fields[0] == "Z" else fields[19]

    def command(self) -> str:
        return self._read("cmdline").replace("\0", " ")

    def modes_of(self, path: str) -> List[str]:
        """How it maps a file: "r--s" is read-only and shared."""
        lines = self._read("maps").splitlines()
        return [line.split()[1] for line in lines if line.endswith(path) or line.endswith(f"{path} (deleted)")]

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def _read(self, name: str) -> str:
        try:
            return pathlib.Path(f"/proc/{self.pid}/{name}").read_text(encoding="utf-8", errors="replace")
        except (OSError, ProcessLookupError):
            return ") Z 0" if name == "stat" else ""


class Run:
    """A run of one of the examples."""

    def __init__(self, engine: str, source: pathlib.Path, output: pathlib.Path, model: str, shard_texts: int) -> None:
        self.output = output
        self._model = model
        self._seen: Dict[int, str] = {}  # what the run started, with the time of its start
        self._errors = output.with_name(f"{output.name}.stderr").open("w+")
        self._process = subprocess.Popen(
            [*starter(engine), str(source), str(output), "--model", model, "--workers", str(WORKERS),
             "--shard-texts", str(shard_texts)],
            env={**os.environ, **ENVIRONMENT}, stdout=subprocess.PIPE, stderr=self._errors, stdin=subprocess.DEVNULL, text=True,
            start_new_session=True)  # fmt: skip

    def finished(self) -> Dict[str, Tuple[int, int]]:
        """Shards that are there: name to inode and time of the last change."""
        with contextlib.suppress(FileNotFoundError):
            return {
                entry.name: (entry.inode(), entry.stat().st_mtime_ns)
                for entry in os.scandir(self.output)
                if entry.name.endswith(".parquet")
            }
        return {}

    def wait_for_shards(self, count: int) -> None:
        self._wait(lambda: len(self.finished()) >= count, f"{count} finished shards")

    def workers(self) -> List[Process]:
        """Processes of this run that have the model mapped, but the driver, which opens it for a moment."""
        return [
            process
            for process in self._descendants()
            if process.modes_of(self._model) and str(EXAMPLES) not in process.command()
        ]

    def wait_for_workers(self, count: int) -> List[Process]:
        self._wait(lambda: len(self.workers()) >= count, f"{count} workers")
        return self.workers()

    def kill_driver(self) -> None:
        """SIGKILL for the driver; what it started must end by itself, or is ended here."""
        self._descendants()
        self._process.kill()
        self._process.wait()
        deadline = time.monotonic() + 30
        while self._left() and time.monotonic() < deadline:
            time.sleep(0.1)
        self._end_what_is_left()

    def end(self) -> Tuple[int, str]:
        """Exit code, and all that was written: spark-submit puts both streams of the script into stdout, and Ray writes there."""
        output, _ = self._process.communicate(timeout=PATIENCE_SECONDS)
        self._end_what_is_left()
        return self._process.returncode, self.errors() + output

    def result(self) -> Dict[str, Any]:
        """What a run prints that must succeed."""
        code, output = self.end()
        assert code == 0, output[-4000:]
        result: Dict[str, Any] = json.loads(output.splitlines()[-1])
        return result

    def errors(self) -> str:
        self._errors.flush()
        self._errors.seek(0)
        return self._errors.read()

    def close(self) -> None:
        if self._process.poll() is None:
            self.kill_driver()
        self._errors.close()

    def _wait(self, is_so: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not is_so():
            assert self._process.poll() is None, f"the run ended before there were {what}: {self.errors()[-4000:]}"
            assert time.monotonic() < deadline, f"{what}: not after {PATIENCE_SECONDS:.0f} s"
            time.sleep(0.005)

    def _descendants(self) -> List[Process]:
        processes = [Process(int(name)) for name in os.listdir("/proc") if name.isdigit()]
        parents = {process.pid: process.parent() for process in processes}
        # A process whose parent has ended stays one of the run.
        found = {self._process.pid, *(process.pid for process in self._left())}
        new = found
        while new:
            new = {pid for pid, parent in parents.items() if parent in found} - found
            found |= new
        for pid in found - self._seen.keys() - {self._process.pid}:
            self._seen[pid] = Process(pid).begun()
        return self._left()

    def _left(self) -> List[Process]:
        return [Process(pid) for pid, begun in self._seen.items() if begun and Process(pid).begun() == begun]

    def _end_what_is_left(self) -> None:
        for process in self._left():
            process.kill()


@contextlib.contextmanager
def run(engine: str, source: pathlib.Path, output: pathlib.Path, model: str, shard_texts: int) -> Iterator[Run]:
    started = Run(engine, source, output, model, shard_texts)
    try:
        yield started
    finally:
        started.close()


def host_of(worker: Process) -> Process:
    """The Java process of Spark that started a Python worker."""
    process = worker
    while "CoarseGrainedExecutorBackend" not in process.command():
        assert process.pid > 1, f"process {worker.pid} is no worker of Spark"
        process = Process(process.parent())
    return process
