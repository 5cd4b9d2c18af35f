# SPDX-License-Identifier: Apache-2.0
"""The driver: plans the shards, lets an engine do those that are missing, shows progress, and ends with one digest."""

import argparse
import json
import os
import pathlib
import sys
import threading
import time
from types import TracebackType
from typing import Callable, Dict, Iterable, List, Optional, Protocol, Type

import embert

from corpus import output, shards
from corpus.digest import OutputDigest
from corpus.worker import Record, Work

REPORT_SECONDS = 1.0


class Engine(Protocol):
    """Ray or Spark. `workers` is how many shards it does at the same time."""

    workers: int

    def embed(self, work: Work, shard_jsons: List[str]) -> Iterable[Record]:
        """Calls Worker.embed once for each shard, in any order, and again where a worker was lost."""

    def stop(self) -> None: ...


def main(description: str, start: Callable[[int], Engine]) -> None:
    """`start(workers)` starts the engine or connects to it."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("input", type=pathlib.Path, help="*.jsonl or *.parquet, or a folder of them")
    parser.add_argument("output", type=pathlib.Path, help="folder for Parquet files with id, text and vector")
    parser.add_argument("--model", required=True, help="model file; all hosts have it at this path")
    parser.add_argument("--text", default="text", help="name of the column with the texts")
    parser.add_argument("--workers", type=positive, default=len(os.sched_getaffinity(0)), help="one core each")
    parser.add_argument("--shard-texts", type=positive, default=2000, help="texts of a shard: what a crash of a worker costs")
    arguments = parser.parse_args()
    try:
        print(json.dumps(embed_corpus(arguments, start)))
    except (ValueError, OSError) as error:
        sys.exit(f"{parser.prog}: {error}")


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number}: give a number from 1")
    return number


def embed_corpus(arguments: argparse.Namespace, start: Callable[[int], Engine]) -> Dict[str, object]:
    """Returns what the run prints at its end."""
    with embert.SentenceTransformer(arguments.model, threads=1) as model:
        work = Work(model.path, model.digest, str(arguments.output.resolve()), arguments.text)
    files, parts = shards.plan(arguments.input, arguments.shard_texts)
    output.begin(arguments.output, output.Manifest(work.model_sha256, work.text_column, arguments.shard_texts, files))
    there = output.finished(arguments.output)
    missing = [part for part in parts if part.name not in there]
    result: Dict[str, object] = {
        "texts": sum(part.rows for part in parts),
        "shards": len(parts),
        "finished_before": len(parts) - len(missing),
    }
    if missing:
        result.update(run_engine(arguments, start, work, missing))
        output.remove_unfinished(arguments.output)
    digest = OutputDigest()
    for rows in output.rows(arguments.output, parts):
        digest.add(*rows)
    return {**result, "digest": digest.hexdigest()}


def run_engine(
    arguments: argparse.Namespace, start: Callable[[int], Engine], work: Work, missing: List[shards.Shard]
) -> Dict[str, object]:
    engine = start(arguments.workers)
    processor_seconds = 0.0
    try:
        with Progress(arguments.output, missing, engine.workers) as progress:
            for record in engine.embed(work, [part.to_json() for part in missing]):
                if record["error"]:
                    raise ValueError(record["error"])
                processor_seconds += float(record["seconds"])
        texts, seconds = progress.texts(), progress.seconds()
    finally:
        engine.stop()
    return {
        "workers": engine.workers,
        "seconds": round(seconds, 3),
        "sentences_per_second": round(texts / seconds, 1),
        # A worker has one thread: a second of its processor time is a second of a core.
        "sentences_per_second_a_core": round(texts / processor_seconds, 1),
    }


class Progress:
    """Counts the files of the output folder in a thread of its own: what is there is done, with any engine."""

    def __init__(self, folder: pathlib.Path, missing: List[shards.Shard], workers: int) -> None:
        self._folder = folder
        self._rows = {part.name: part.rows for part in missing}
        self._workers = workers
        self._begun = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._report, daemon=True)

    def __enter__(self) -> "Progress":
        self._thread.start()
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self._seconds = time.monotonic() - self._begun
        self._ended.set()
        self._thread.join()

    def texts(self) -> int:
        """Texts of this run that are done."""
        return sum(self._rows.get(name, 0) for name in output.finished(self._folder))

    def seconds(self) -> float:
        return self._seconds

    def _report(self) -> None:
        total = sum(self._rows.values())
        shown = -1
        while shown < total and not self._ended.wait(REPORT_SECONDS):
            shown = self._show(shown, total)
        self._show(shown, total)

    def _show(self, shown: int, total: int) -> int:
        texts = self.texts()
        if texts != shown:
            rate = texts / (time.monotonic() - self._begun)
            print(
                f"{texts:,} of {total:,} texts, {rate:,.0f} sentences/s, {rate / self._workers:,.0f} a worker",
                file=sys.stderr,
                flush=True,
            )
        return texts
