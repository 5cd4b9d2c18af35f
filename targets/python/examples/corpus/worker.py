# SPDX-License-Identifier: Apache-2.0
"""One worker: a model with one thread, and shards one after the other. The engine runs as many of them as there are cores."""

import dataclasses
import pathlib
import socket
import time
from typing import Dict, Optional, Union

import embert

from corpus import output, shards

Record = Dict[str, Union[str, int, float]]


@dataclasses.dataclass(frozen=True)
class Work:
    """What a worker has to know; the driver sends it. Paths are the same on all hosts."""

    model: str
    model_sha256: str
    output: str
    text_column: str


class Worker:
    def __init__(self, work: Work) -> None:
        self._work = work
        self._model: Optional[embert.SentenceTransformer] = None

    def embed(self, shard_json: str) -> Record:
        """Writes one shard of the output. What is wrong with the model or the input comes back as `error`: another try would
        end the same way, so the engine must not make one."""
        shard = shards.Shard.from_json(shard_json)
        begun = time.process_time()
        error = ""
        try:
            if self._model is None:
                self._model = open_model(self._work)
            ids, texts = shards.read(shard, self._work.text_column)
            vectors = self._model.encode_document(texts, show_progress_bar=False)
            output.write(pathlib.Path(self._work.output) / shard.name, ids, texts, vectors)
        except (ValueError, OSError) as problem:
            error = f"{type(problem).__name__}: {problem}"
        return {
            "shard": shard.name,
            "texts": 0 if error else shard.rows,
            "seconds": time.process_time() - begun,
            "error": error,
        }


def open_model(work: Work) -> embert.SentenceTransformer:
    """The model file is mapped read-only, so all workers of a host share its pages. It may be replaced, by rename only, while
    workers run: they keep the file that they opened, and a worker that starts later is refused here."""
    model = embert.SentenceTransformer(work.model, threads=1)
    if model.digest != work.model_sha256:
        found = model.digest
        model.close()
        raise embert.ModelFileError(
            f"{work.model}: worker on {socket.gethostname()} refused: its model has SHA-256 {found}, "
            f"the driver's has {work.model_sha256}; put the driver's file there"
        )
    return model
