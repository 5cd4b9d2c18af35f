# SPDX-License-Identifier: Apache-2.0
"""One digest of ids, texts and vectors in the order of the input, whatever the shards, the workers and the machines.

From the folder of this file's package, the digest that a distributed run must have, of vectors by the tool or by one process
(--prompt "" is for models without a prompt for documents; else its name):

    embert embed minilm.emb --prompt "" --jsonl --npy vectors.npy < texts.jsonl
    python3 -m corpus.digest texts.jsonl --npy vectors.npy
    python3 -m corpus.digest texts.jsonl --model minilm.emb
"""

import argparse
import hashlib
import pathlib
from typing import List

import numpy as np
import numpy.typing as npt

from corpus import shards


class OutputDigest:
    """SHA-256 over each row: length and UTF-8 of the id, length and UTF-8 of the text, the vector as float32. Lengths are 8
    bytes; all is little-endian."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def add(self, ids: List[str], texts: List[str], vectors: "npt.NDArray[np.float32]") -> None:
        """vectors [len(texts)][dimension]."""
        vectors = np.ascontiguousarray(vectors, "<f4")
        for identity, text, vector in zip(ids, texts, vectors):
            for part in (identity.encode(), text.encode()):
                self._digest.update(len(part).to_bytes(8, "little"))
                self._digest.update(part)
            self._digest.update(vector.data)

    def hexdigest(self) -> str:
        return self._digest.hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description="Digest that the output of a distributed run must have")
    parser.add_argument("input", type=pathlib.Path, help="*.jsonl or *.parquet, or a folder of them")
    parser.add_argument("--text", default="text", help="name of the column with the texts")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--npy", type=pathlib.Path, help="vectors of the tool: embert embed --npy")
    source.add_argument("--model", help="computes the vectors here, in one process")
    arguments = parser.parse_args()
    files, parts = shards.plan(arguments.input, 10_000)
    digest = OutputDigest()
    if arguments.npy:
        vectors = np.load(arguments.npy, mmap_mode="r")
        count = sum(file.rows for file in files)
        if len(vectors) != count:
            parser.exit(
                2, f"{arguments.npy}: {count} vectors are expected, as {arguments.input} has texts, found {len(vectors)}\n"
            )
    else:
        import embert

        model = embert.SentenceTransformer(arguments.model)
    done = 0
    for part in parts:
        ids, texts = shards.read(part, arguments.text)
        digest.add(ids, texts, vectors[done : done + len(texts)] if arguments.npy else model.encode_document(texts))
        done += len(texts)
    print(digest.hexdigest())


if __name__ == "__main__":
    main()
