# SPDX-License-Identifier: Apache-2.0
"""embert.haystack: an indexing and a query pipeline on the document store in memory, also from YAML."""

from typing import Any

import embert
import numpy as np
import pytest
from questions import QUERIES, TEXTS

pytest.importorskip("haystack", reason="!!!! SKIPPED: haystack-ai is not installed; the Haystack adapter is not tested")

from embert.haystack import EmbertDocumentEmbedder, EmbertTextEmbedder  # noqa: E402
from haystack import Document, Pipeline  # noqa: E402
from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever  # noqa: E402
from haystack.components.writers import DocumentWriter  # noqa: E402
from haystack.document_stores.in_memory import InMemoryDocumentStore  # noqa: E402


def test_pipelines(sentence_model: str) -> None:
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    indexing = Pipeline()
    indexing.add_component("embedder", EmbertDocumentEmbedder(sentence_model))
    indexing.add_component("writer", DocumentWriter(store))
    indexing.connect("embedder.documents", "writer.documents")
    indexing.run({"embedder": {"documents": [Document(content=text) for text in TEXTS]}})
    assert store.count_documents() == len(TEXTS)

    querying = Pipeline()
    querying.add_component("embedder", EmbertTextEmbedder(sentence_model))
    querying.add_component("retriever", InMemoryEmbeddingRetriever(store, top_k=1))
    querying.connect("embedder.embedding", "retriever.query_embedding")
    for query, text in zip(QUERIES, TEXTS):
        found = querying.run({"embedder": {"text": query}})["retriever"]["documents"]
        assert found[0].content == text


def test_yaml(models: Any) -> None:
    pipeline = Pipeline()
    pipeline.add_component("text", EmbertTextEmbedder(models("sentence"), threads=1, truncate_dim=8))
    pipeline.add_component(
        "documents",
        EmbertDocumentEmbedder(
            models("sentence"), threads=1, truncate_dim=8, meta_fields_to_embed=["title"], embedding_separator=": "
        ),
    )
    copy = Pipeline.loads(pipeline.dumps(), allowed_modules=["embert.haystack"])
    assert copy.to_dict() == pipeline.to_dict()
    documents = [Document(content="a cat", meta={"title": "dog"}), Document(content="dog: a cat")]
    result = copy.run({"text": {"text": "dog: a cat"}, "documents": {"documents": documents}})
    embedded = result["documents"]["documents"]
    assert len(embedded[0].embedding) == 8
    assert embedded[0].embedding == embedded[1].embedding == result["text"]["embedding"]
    assert documents[0].embedding is None, "the documents given stay as they are"


def test_prompts(models: Any) -> None:
    with embert.SentenceTransformer(models("prompted")) as model:
        expected = model.encode(["query: a cat", "passage: a cat"], prompt="")
    query = EmbertTextEmbedder(models("prompted")).run(text="a cat")["embedding"]
    document = EmbertDocumentEmbedder(models("prompted")).run(documents=[Document(content="a cat")])["documents"][0].embedding
    assert np.array_equal(np.array([query, document], np.float32), expected)


def test_wrong_inputs(models: Any) -> None:
    with pytest.raises(TypeError, match="text: a string is expected, found list"):
        EmbertTextEmbedder(models("sentence")).run(text=["a cat"])
    with pytest.raises(TypeError, match=r"documents\[1\]: a Document is expected, found str"):
        EmbertDocumentEmbedder(models("sentence")).run(documents=[Document(content="a cat"), "a dog"])
    assert EmbertDocumentEmbedder(models("sentence")).run(documents=[]) == {"documents": []}
