# SPDX-License-Identifier: Apache-2.0
"""precision="int8-unit" and bits of sqlite-vec's order are the bytes that sqlite-vec's own functions make."""

from typing import Any, Dict, List

import embert
import numpy as np
import numpy.typing as npt
import pytest

# Python's own sqlite3 is often built without extensions.
apsw = pytest.importorskip("apsw", reason="!!!! SKIPPED: apsw is not installed; sqlite-vec's packing is not compared")
sqlite_vec = pytest.importorskip("sqlite_vec", reason="!!!! SKIPPED: sqlite-vec is not installed; its packing is not compared")

TASKS: Dict[str, Any] = {
    "vec_quantize_int8(?, 'unit')": ({"precision": "int8-unit"}, np.int8),
    "vec_quantize_binary(?)": ({"precision": "ubinary", "bit_order": "lsb"}, np.uint8),
}


@pytest.fixture(scope="module")
def database() -> Any:
    connection = apsw.Connection(":memory:")
    connection.enable_load_extension(True)
    sqlite_vec.load(connection)
    return connection


@pytest.mark.parametrize("function", TASKS)
@pytest.mark.parametrize("truncate_dim", [None, 64])
def test_bytes(database: Any, sentence_model: str, intent_texts: List[str], function: str, truncate_dim: Any) -> None:
    arguments, dtype = TASKS[function]
    with embert.SentenceTransformer(sentence_model, truncate_dim=truncate_dim) as model:
        vectors = model.encode(intent_texts, normalize_embeddings=True)
        packed = model.encode(intent_texts, normalize_embeddings=True, **arguments)
    expected = quantized(database, function, vectors, dtype)
    assert packed.dtype == dtype and packed.shape == expected.shape
    wrong = np.flatnonzero((packed != expected).any(axis=1))
    assert wrong.size == 0, f"{wrong.size} of {len(packed)} vectors differ, the first is that of {intent_texts[wrong[0]]!r}"


def quantized(database: Any, function: str, vectors: "npt.NDArray[np.float32]", dtype: Any) -> "npt.NDArray[Any]":
    rows = [database.execute(f"select {function}", (vector.tobytes(),)).fetchone()[0] for vector in vectors]
    return np.array([np.frombuffer(row, dtype) for row in rows])


def test_search(database: Any, sentence_model: str, intent_texts: List[str]) -> None:
    """A table of int8 vectors takes the bytes as they are, and each text finds itself."""
    texts = intent_texts[:200]
    with embert.SentenceTransformer(sentence_model) as model:
        packed = model.encode(texts, precision="int8-unit", normalize_embeddings=True)
    database.execute(f"create virtual table texts using vec0(vector int8[{packed.shape[1]}])")
    for i, vector in enumerate(packed):
        database.execute("insert into texts(rowid, vector) values (?, vec_int8(?))", (i, vector.tobytes()))
    for i in range(0, len(texts), 10):
        found = database.execute(
            "select rowid, distance from texts where vector match vec_int8(?) and k = 1", (packed[i].tobytes(),)
        ).fetchone()
        assert found[1] == 0 and np.array_equal(packed[found[0]], packed[i])
