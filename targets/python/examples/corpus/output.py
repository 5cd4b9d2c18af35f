# SPDX-License-Identifier: Apache-2.0
"""The output folder: a manifest, and a Parquet file for each finished shard.

A file with the name of a shard is whole: it is written under another name, flushed to the disk and renamed. So the folder
alone says what is finished, whoever was killed. Two workers that do the same shard write the same bytes. Readers of a
folder of Parquet files skip names that begin with a dot or an underscore, as these do.
"""

import dataclasses
import json
import os
import pathlib
import uuid
from typing import Any, Dict, Iterator, List, Set, Tuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from corpus.shards import InputFile, Shard

MANIFEST = "_manifest.json"
UNFINISHED = ".unfinished-"


@dataclasses.dataclass(frozen=True)
class Manifest:
    """What decides every byte of the output."""

    model_sha256: str
    text_column: str
    shard_texts: int
    files: List[InputFile]


def begin(folder: pathlib.Path, manifest: Manifest) -> None:
    """Makes the folder, or checks that it was begun with the same manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / MANIFEST
    expected = dataclasses.asdict(manifest)
    if path.exists():
        found: Dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        for key, value in expected.items():
            if found.get(key) != value:
                begun, now = difference(found.get(key), value)
                raise ValueError(
                    f"{path}: the output was begun with {key} {begun}, this run has {now}; "
                    "give the same, or another output folder"
                )
    elif any(folder.iterdir()):
        raise ValueError(f"{folder}: it has files but no {MANIFEST}; give an empty or a new folder")
    else:
        write_renamed(path, lambda unfinished: unfinished.write_text(json.dumps(expected, indent=1), encoding="utf-8"))
    remove_unfinished(folder)


def remove_unfinished(folder: pathlib.Path) -> None:
    """Removes what killed workers left half-written. One driver at a time has the folder."""
    for path in folder.glob(UNFINISHED + "*"):
        path.unlink(missing_ok=True)


def difference(found: Any, expected: Any) -> Tuple[Any, Any]:
    """Of two lists the first items that differ."""
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        return next((a, b) for a, b in zip(found, expected) if a != b)
    return found, expected


def finished(folder: pathlib.Path) -> Set[str]:
    """Names of the shards that are there."""
    return {name for name in os.listdir(folder) if name.endswith(".parquet") and not name.startswith(UNFINISHED)}


def write(path: pathlib.Path, ids: List[str], texts: List[str], vectors: "npt.NDArray[np.float32]") -> None:
    """vectors [len(texts)][dimension]."""
    vector_column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    table = pa.table({"id": pa.array(ids, pa.string()), "text": pa.array(texts, pa.string()), "vector": vector_column})
    # Vectors have no values in common, so a dictionary of them costs time and saves nothing.
    write_renamed(path, lambda unfinished: pq.write_table(table, unfinished, use_dictionary=False))


def write_renamed(path: pathlib.Path, write_to: Any) -> None:
    unfinished = path.with_name(f"{UNFINISHED}{uuid.uuid4().hex}")
    try:
        write_to(unfinished)
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def rows(folder: pathlib.Path, shards: List[Shard]) -> Iterator[Tuple[List[str], List[str], "npt.NDArray[np.float32]"]]:
    """All finished shards in the order of the input: ids, texts, vectors [rows][dimension]."""
    for shard in shards:
        table = pq.read_table(folder / shard.name).combine_chunks()
        if table.num_rows != shard.rows:
            raise ValueError(f"{folder / shard.name}: {shard.rows} rows are expected, found {table.num_rows}; remove it")
        column = table["vector"].combine_chunks()
        vectors = column.flatten().to_numpy().reshape(shard.rows, column.type.list_size)
        yield table["id"].to_pylist(), table["text"].to_pylist(), vectors
