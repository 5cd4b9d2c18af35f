# SPDX-License-Identifier: Apache-2.0
"""10,000 texts: bytes equal the tool's, for any threads and batches."""

import concurrent.futures

import embert
import numpy as np
import pytest
from conftest import run_tool


@pytest.fixture(scope="module")
def expected(models, many_texts):
    """Vectors of the tool, from its shortest decimal numbers back to float32."""
    return np.array([line["embedding"] for line in run_tool("embed", models("intent"), texts=many_texts)], np.float32)


@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("batch_size", [1, 32, 1000])
def test_bytes_of_the_tool(models, many_texts, expected, threads, batch_size):
    with embert.SentenceTransformer(models("intent"), threads=threads) as model:
        vectors = model.encode(many_texts, batch_size=batch_size)
    assert vectors.tobytes() == expected.tobytes()


def test_bytes_from_eight_threads_of_python(models, many_texts, expected):
    with embert.SentenceTransformer(models("intent"), threads=2) as model, concurrent.futures.ThreadPoolExecutor(8) as pool:
        parts = pool.map(model.encode, [many_texts[i : i + 500] for i in range(0, len(many_texts), 500)])
        assert b"".join(part.tobytes() for part in parts) == expected.tobytes()


def test_bytes_of_minilm(minilm, many_texts):
    texts = many_texts[::20]
    with embert.SentenceTransformer(minilm) as model:
        vectors = model.encode(texts)
    tool = run_tool("embed", minilm, texts=texts)
    assert vectors.tobytes() == np.array([line["embedding"] for line in tool], np.float32).tobytes()


def test_labels_of_the_tool(models, intent_texts):
    texts = intent_texts[:500]
    with embert.pipeline("text-classification", models("intent")) as classify:
        ours = classify(texts)
    tool = run_tool("classify", models("intent"), texts=texts)
    assert ours == [{"label": line["label"], "score": line["score"]} for line in tool]
