# SPDX-License-Identifier: Apache-2.0
"""embert.llama_index makes an index in memory and finds its texts; no network, no language model."""

import asyncio
import pickle
from typing import Any

import embert
import numpy as np
import pytest
from questions import QUERIES, TEXTS

pytest.importorskip(
    "llama_index.core", reason="!!!! SKIPPED: llama-index-core is not installed; the LlamaIndex adapter is not tested"
)

from embert.llama_index import EmbertEmbedding  # noqa: E402
from llama_index.core import VectorStoreIndex  # noqa: E402
from llama_index.core.schema import TextNode  # noqa: E402


def test_index_and_retrieval(sentence_model: str) -> None:
    index = VectorStoreIndex([TextNode(text=text) for text in TEXTS], embed_model=EmbertEmbedding(sentence_model))
    retriever = index.as_retriever(similarity_top_k=1)
    for query, text in zip(QUERIES, TEXTS):
        assert retriever.retrieve(query)[0].node.get_content() == text
        assert asyncio.run(retriever.aretrieve(query))[0].node.get_content() == text


def test_prompts_and_batches(models: Any) -> None:
    adapter = EmbertEmbedding(models("prompted"), embed_batch_size=2)
    with embert.SentenceTransformer(models("prompted")) as model:
        expected = model.encode(["query: a cat", *(f"passage: {text}" for text in TEXTS)], prompt="")
    assert np.array_equal(np.array(adapter.get_query_embedding("a cat"), np.float32), expected[0])
    assert np.array_equal(np.array(adapter.get_text_embedding(TEXTS[0]), np.float32), expected[1])
    assert np.array_equal(np.array(adapter.get_text_embedding_batch(TEXTS), np.float32), expected[1:])
    assert np.array_equal(np.array(asyncio.run(adapter.aget_text_embedding_batch(TEXTS)), np.float32), expected[1:])


def test_copies(models: Any) -> None:
    adapter = EmbertEmbedding(models("sentence"), threads=1, truncate_dim=8)
    vector = adapter.get_text_embedding("a cat")
    assert len(vector) == 8
    for copy in (EmbertEmbedding.from_dict(adapter.to_dict()), pickle.loads(pickle.dumps(adapter))):
        assert (copy.model_name, copy.threads, copy.truncate_dim) == (adapter.model_name, 1, 8)
        assert copy.get_text_embedding("a cat") == vector
