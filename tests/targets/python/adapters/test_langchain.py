# SPDX-License-Identifier: Apache-2.0
"""embert.langchain passes LangChain's own standard tests, and finds texts in a vector store."""

import asyncio
from typing import Any, Dict, Type

import embert
import numpy as np
import pytest
from questions import QUERIES, TEXTS

pytest.importorskip(
    "langchain_tests", reason="!!!! SKIPPED: langchain-tests is not installed; the LangChain adapter is not tested"
)

from embert.langchain import EmbertEmbeddings  # noqa: E402
from langchain_core.vectorstores import InMemoryVectorStore  # noqa: E402
from langchain_tests.integration_tests import EmbeddingsIntegrationTests  # noqa: E402
from langchain_tests.unit_tests import EmbeddingsUnitTests  # noqa: E402


class Standard:
    """What both classes of standard tests ask for."""

    @pytest.fixture(autouse=True)
    def _use(self, models: Any) -> None:
        self._path = models("prompted")

    @property
    def embeddings_class(self) -> Type[EmbertEmbeddings]:
        return EmbertEmbeddings

    @property
    def embedding_model_params(self) -> Dict[str, Any]:
        return {"model": self._path, "threads": 1}


class TestUnit(Standard, EmbeddingsUnitTests):
    pass


class TestIntegration(Standard, EmbeddingsIntegrationTests):
    pass


# pytest-asyncio, which langchain-tests brings, runs only the coroutines that are marked.
for coroutine in (EmbeddingsIntegrationTests.test_aembed_query, EmbeddingsIntegrationTests.test_aembed_documents):
    pytest.mark.asyncio(coroutine)


def test_prompts(models: Any) -> None:
    with embert.SentenceTransformer(models("prompted")) as model:
        adapter = EmbertEmbeddings(model)
        expected = model.encode(["query: a cat", "passage: a cat"], prompt="")
        assert np.array_equal(np.array(adapter.embed_query("a cat"), np.float32), expected[0])
        assert np.array_equal(np.array(adapter.embed_documents(["a cat"]), np.float32), expected[1:])


def test_truncation_and_empty_list(models: Any) -> None:
    adapter = EmbertEmbeddings(models("sentence"), truncate_dim=8)
    assert len(adapter.embed_query("a cat")) == 8
    assert adapter.embed_documents([]) == []


def test_threads_of_an_open_model(models: Any) -> None:
    with embert.SentenceTransformer(models("sentence")) as model:
        with pytest.raises(ValueError, match="threads: the model is open already"):
            EmbertEmbeddings(model, threads=1)


def test_vector_store(sentence_model: str) -> None:
    store = InMemoryVectorStore.from_texts(TEXTS, EmbertEmbeddings(sentence_model))
    for query, text in zip(QUERIES, TEXTS):
        assert store.similarity_search(query, k=1)[0].page_content == text
        assert asyncio.run(store.asimilarity_search(query, k=1))[0].page_content == text
