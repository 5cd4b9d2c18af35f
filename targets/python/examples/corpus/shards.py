# SPDX-License-Identifier: Apache-2.0
"""Input files, cut into shards: the unit that one worker does and that is done again after a crash."""

import dataclasses
import hashlib
import json
import pathlib
from typing import Any, BinaryIO, Dict, Iterator, List, Tuple

import pyarrow as pa
import pyarrow.parquet as pq

SUFFIXES = (".jsonl", ".parquet")
BLOCK_BYTES = 1 << 20


@dataclasses.dataclass(frozen=True)
class Shard:
    """Rows begin .. begin + rows - 1 of a file; of JSON Lines these bytes of it."""

    file: str
    begin: int
    rows: int
    byte_begin: int = 0
    byte_end: int = 0

    @property
    def name(self) -> str:
        """Name of the output file: sorted by name, shards of a file are in the order of its rows."""
        return f"{pathlib.PurePath(self.file).name}.{self.begin:012d}.parquet"

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    @staticmethod
    def from_json(text: str) -> "Shard":
        return Shard(**json.loads(text))


@dataclasses.dataclass(frozen=True)
class InputFile:
    name: str
    rows: int
    sha256: str


def plan(source: pathlib.Path, shard_texts: int) -> Tuple[List[InputFile], List[Shard]]:
    """Reads all input once: the digest of each file, and its shards of shard_texts rows, in order."""
    files: List[InputFile] = []
    shards: List[Shard] = []
    for path in input_files(source):
        rows, digest, ends = scan_json_lines(path, shard_texts) if path.suffix == ".jsonl" else scan_parquet(path)
        files.append(InputFile(path.name, rows, digest))
        for number, begin in enumerate(range(0, rows, shard_texts)):
            byte_range = (ends[number - 1] if number else 0, ends[number]) if ends else (0, 0)
            shards.append(Shard(str(path.resolve()), begin, min(shard_texts, rows - begin), *byte_range))
    return files, shards


def input_files(source: pathlib.Path) -> List[pathlib.Path]:
    """A file, or those of a folder by name."""
    paths = sorted(path for path in source.iterdir() if path.suffix in SUFFIXES) if source.is_dir() else [source]
    if not paths or any(path.suffix not in SUFFIXES for path in paths):
        raise ValueError(f"{source}: a file *.jsonl or *.parquet, or a folder of them, is expected")
    return paths


def scan_json_lines(path: pathlib.Path, shard_texts: int) -> Tuple[int, str, List[int]]:
    """Rows, SHA-256, and the byte at which each shard ends."""
    digest = hashlib.sha256()
    ends: List[int] = []
    rows = position = 0
    with path.open("rb") as file:
        for line in file:
            digest.update(line)
            rows += 1
            position += len(line)
            if rows % shard_texts == 0:
                ends.append(position)
    if rows % shard_texts:
        ends.append(position)
    return rows, digest.hexdigest(), ends


def scan_parquet(path: pathlib.Path) -> Tuple[int, str, List[int]]:
    with path.open("rb") as file:
        digest = hashlib.sha256()
        for block in blocks(file):
            digest.update(block)
    try:
        return pq.ParquetFile(path).metadata.num_rows, digest.hexdigest(), []
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path}: it is no Parquet file: {error}") from error


def blocks(file: BinaryIO) -> Iterator[bytes]:
    while block := file.read(BLOCK_BYTES):
        yield block


def read(shard: Shard, text_column: str) -> Tuple[List[str], List[str]]:
    """Ids and texts of a shard. A row without the column "id" gets "FILE:ROW"."""
    rows = json_rows(shard) if shard.file.endswith(".jsonl") else parquet_rows(shard, text_column)
    ids: List[str] = []
    texts: List[str] = []
    for number, row in enumerate(rows, shard.begin):
        text = row.get(text_column)
        if not isinstance(text, str):
            found = "a null or nothing" if text is None else type(text).__name__
            raise ValueError(f"{shard.file}: row {number}: {text_column}: a string is expected, found {found}")
        identity = row.get("id")
        ids.append(f"{pathlib.PurePath(shard.file).name}:{number}" if identity is None else str(identity))
        texts.append(text)
    if len(texts) != shard.rows:
        raise ValueError(f"{shard.file}: it was changed: {shard.rows} rows from {shard.begin} are expected, found {len(texts)}")
    return ids, texts


def json_rows(shard: Shard) -> Iterator[Dict[str, Any]]:
    with open(shard.file, "rb") as file:
        file.seek(shard.byte_begin)
        lines = file.read(shard.byte_end - shard.byte_begin).split(b"\n")
    for number, line in enumerate(lines if lines[-1] else lines[:-1], shard.begin):
        try:
            row: object = json.loads(line)
        except ValueError as error:
            raise ValueError(f"{shard.file}: row {number}: it is no JSON: {error}") from error
        if not isinstance(row, dict):
            raise ValueError(f"{shard.file}: row {number}: a JSON object is expected")
        yield row


def parquet_rows(shard: Shard, text_column: str) -> Iterator[Dict[str, Any]]:
    with pq.ParquetFile(shard.file) as file:
        if text_column not in file.schema_arrow.names:
            raise ValueError(f"{shard.file}: it has no column {text_column}; it has {', '.join(file.schema_arrow.names)}")
        columns = [name for name in ("id", text_column) if name in file.schema_arrow.names]
        first_row = 0
        for group in range(file.num_row_groups):
            group_rows = file.metadata.row_group(group).num_rows
            begin, end = max(shard.begin - first_row, 0), min(shard.begin + shard.rows - first_row, group_rows)
            if begin < end:
                yield from file.read_row_group(group, columns=columns).slice(begin, end - begin).to_pylist()
            first_row += group_rows
