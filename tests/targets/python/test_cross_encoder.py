# SPDX-License-Identifier: Apache-2.0
"""CrossEncoder: shapes, functions, ranking."""

import embert
import numpy as np
import pytest
from conftest import run_tool

PAIRS = [("the cat", "sat on the mat"), ("where is paris?", "in france."), ("", "fog"), ("once upon a time", "a king")]


@pytest.fixture(scope="module")
def one(models):
    with embert.CrossEncoder(models("rerank")) as opened:
        yield opened


@pytest.fixture(scope="module")
def three(models):
    with embert.CrossEncoder(models("labels")) as opened:
        yield opened


def test_one_label_is_one_dimensional(one):
    scores = one.predict(PAIRS)
    assert one.num_labels == 1 and scores.shape == (4,) and scores.dtype == np.float32
    assert ((scores > 0) & (scores < 1)).all()
    assert isinstance(one.predict(PAIRS[0]), np.float32) and one.predict(PAIRS[0]) == scores[0]
    assert one.predict(list(PAIRS[0])) == scores[0]
    assert np.array_equal(one.predict([list(pair) for pair in PAIRS]), scores)
    assert np.array_equal(one.predict(np.array(PAIRS)), scores)
    assert one.predict([]).shape == (0,)


def test_several_labels_are_logits(three):
    logits = three.predict(PAIRS)
    assert three.num_labels == 3 and logits.shape == (4, 3) and logits.dtype == np.float32
    assert three.predict(PAIRS[0]).shape == (3,)
    shares = three.predict(PAIRS, apply_softmax=True)
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert np.allclose(shares, expected, atol=1e-5)
    halves = three.predict(PAIRS, apply_softmax=True, activation_fn=lambda scores: scores / 2)
    assert np.allclose(halves, np.exp(logits / 2) / np.exp(logits / 2).sum(axis=1, keepdims=True), atol=1e-5)
    sigmoids = three.predict(PAIRS, apply_softmax=True, activation_fn="sigmoid")
    assert np.allclose(sigmoids.sum(axis=1), 1, atol=1e-5) and (sigmoids < 0.58).all()
    assert three.predict([]).shape == (0, 3)


def test_activation(one, models):
    logits = one.predict(PAIRS, activation_fn="none")
    assert np.allclose(one.predict(PAIRS), 1 / (1 + np.exp(-logits)), atol=1e-5)
    assert np.array_equal(one.predict(PAIRS, activation_fn=lambda scores: 2 * scores), 2 * logits)
    with embert.CrossEncoder(models("rerank"), activation_fn="identity") as raw:
        assert np.array_equal(raw.predict(PAIRS), logits)
    identity = type("Identity", (), {"__module__": "torch.nn.modules.linear"})()
    assert np.array_equal(one.predict(PAIRS, activation_fn=identity), logits)


@pytest.mark.parametrize("batch_size", [1, 3, 1000])
def test_batch_size_changes_nothing(three, batch_size):
    assert np.array_equal(three.predict(PAIRS * 20, batch_size=batch_size), np.tile(three.predict(PAIRS), (20, 1)))


def test_rank(one):
    documents = [pair[1] for pair in PAIRS]
    scores = one.predict([("the cat", document) for document in documents])
    ranked = one.rank("the cat", documents)
    assert [entry["corpus_id"] for entry in ranked] == sorted(range(4), key=lambda i: -scores[i])
    assert set(ranked[0]) == {"corpus_id", "score"} and ranked[0]["score"] == scores.max()
    best = one.rank("the cat", documents, top_k=2, return_documents=True)
    assert len(best) == 2 and best[0]["text"] == documents[best[0]["corpus_id"]]
    assert one.rank("the cat", []) == []


def test_same_as_the_tool(one, models):
    documents = [pair[1] for pair in PAIRS]
    import json
    import subprocess

    from conftest import TOOL  # noqa: F401

    result = subprocess.run(
        [TOOL, "rerank", models("rerank"), "the cat", *documents, "--json"], stdout=subprocess.PIPE, check=True
    )
    tool = json.loads(result.stdout)["documents"]
    ours = one.rank("the cat", documents, return_documents=True)
    assert [(entry["index"], entry["document"]) for entry in tool] == [(entry["corpus_id"], entry["text"]) for entry in ours]
    assert [np.float32(entry["score"]) for entry in tool] == [entry["score"] for entry in ours]


def test_max_length(models, one):
    assert one.max_seq_length == 64
    pair = ("the cat sat on the mat " * 5, "fog")
    with embert.CrossEncoder(models("rerank"), max_length=8) as short:
        assert short.max_seq_length == 8 and short.predict(pair) != one.predict(pair)


def test_tool_classifies_the_same(three, models):
    texts = run_tool("classify", models("labels"), "--function", "none", texts=["the cat"])
    assert len(texts[0]["scores"]) == three.num_labels
