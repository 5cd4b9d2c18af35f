# SPDX-License-Identifier: Apache-2.0
"""embert.chroma: a collection on disk finds its texts, and a later client gets it with its function by the stored name."""

import pathlib
from typing import Any, Dict

import embert
import numpy as np
import pytest
from questions import QUERIES, TEXTS

chromadb = pytest.importorskip("chromadb", reason="!!!! SKIPPED: chromadb is not installed; the Chroma adapter is not tested")

from chromadb.config import Settings  # noqa: E402
from chromadb.utils.embedding_functions import known_embedding_functions  # noqa: E402
from embert.chroma import EmbertEmbeddingFunction  # noqa: E402


def client(path: pathlib.Path) -> Any:
    return chromadb.PersistentClient(str(path), Settings(anonymized_telemetry=False))


def test_collection(sentence_model: str, tmp_path: pathlib.Path) -> None:
    collection = client(tmp_path).create_collection(
        "notes", embedding_function=EmbertEmbeddingFunction(sentence_model, threads=1)
    )
    collection.add(ids=[str(i) for i in range(len(TEXTS))], documents=TEXTS)
    assert collection.configuration["hnsw"]["space"] == "cosine"
    chromadb.api.client.SharedSystemClient.clear_system_cache()
    again = client(tmp_path).get_collection("notes")
    assert again.configuration["embedding_function"].get_config() == {
        "model": sentence_model,
        "threads": 1,
        "truncate_dim": None,
    }
    found = again.query(query_texts=QUERIES, n_results=1)
    assert [documents[0] for documents in found["documents"]] == TEXTS


def test_prompts(models: Any) -> None:
    function = EmbertEmbeddingFunction(models("prompted"))
    with embert.SentenceTransformer(models("prompted")) as model:
        expected = model.encode(["query: a cat", "passage: a cat"], prompt="")
    assert np.array_equal(np.array(function.embed_query(["a cat"])), expected[:1])
    assert np.array_equal(np.array(function(["a cat"])), expected[1:])


def test_protocol(models: Any) -> None:
    function = EmbertEmbeddingFunction(models("sentence"), truncate_dim=8)
    assert known_embedding_functions[function.name()] is EmbertEmbeddingFunction
    assert function.default_space() in function.supported_spaces()
    copy = EmbertEmbeddingFunction.build_from_config(function.get_config())
    assert np.array_equal(np.array(copy(["a cat"])), np.array(function(["a cat"])))
    assert np.array(copy(["a cat"])).shape == (1, 8)
    assert not function.is_legacy()


@pytest.mark.parametrize(
    "config, message",
    [
        ({}, "no model"),
        ({"model": 3}, "model of the configuration has the type int"),
        ({"model": "a.emb", "device": "cuda"}, "unknown key device"),
    ],
)
def test_wrong_configurations(config: Dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EmbertEmbeddingFunction.build_from_config(config)


def test_configuration_updates(models: Any) -> None:
    function = EmbertEmbeddingFunction(models("sentence"))
    old = function.get_config()
    function.validate_config_update(old, {**old, "model": "elsewhere.emb"})
    with pytest.raises(ValueError, match="truncate_dim of a collection is fixed"):
        function.validate_config_update(old, {**old, "truncate_dim": 8})
