# SPDX-License-Identifier: Apache-2.0
"""The same calls with sentence_transformers and transformers: shapes, dtypes, fields, and values as near as int8 allows."""

import inspect
import logging

import embert
import numpy as np
import pytest
from conftest import minilm_folder

sentence_transformers = pytest.importorskip(
    "sentence_transformers", reason="!!!! SKIPPED: no sentence_transformers, nothing is compared with it"
)
transformers = pytest.importorskip("transformers", reason="!!!! SKIPPED: no transformers, nothing is compared with it")
transformers.utils.logging.set_verbosity_error()

TEXTS = ["the cat sat on the mat", "a dog in the fog", "where is paris?", "john smith lives in hamburg", "once upon a time"]
PAIRS = [("the cat", "sat on the mat"), ("where is paris?", "in france."), ("once upon a time", "a king")]


@pytest.fixture(autouse=True)
def quiet():
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)


def cosines(ours, theirs):
    ours, theirs = np.atleast_2d(ours).astype(float), np.atleast_2d(theirs).astype(float)
    return (ours * theirs).sum(1) / np.linalg.norm(ours, axis=1) / np.linalg.norm(theirs, axis=1)


SCRIPT = [
    lambda model: model.encode("a cat"),
    lambda model: model.encode(TEXTS),
    lambda model: model.encode(tuple(TEXTS)),
    lambda model: model.encode(np.array(TEXTS)),
    lambda model: model.encode(TEXTS, batch_size=2, normalize_embeddings=True),
    lambda model: model.encode(TEXTS, truncate_dim=16),
    lambda model: model.encode("a cat", truncate_dim=16, normalize_embeddings=True),
    lambda model: model.encode(TEXTS, prompt="query: "),
    lambda model: model.encode(TEXTS, prompt_name="query"),
    lambda model: model.encode_query(TEXTS),
    lambda model: model.encode_query("a cat"),
    lambda model: model.encode_document(TEXTS),
    lambda model: np.asarray(model.similarity(model.encode(TEXTS), model.encode(TEXTS[:2]))),
    lambda model: np.asarray(model.similarity(model.encode(TEXTS[0]), model.encode(TEXTS))),
    lambda model: np.asarray(model.similarity_pairwise(model.encode(TEXTS), model.encode(TEXTS))),
]
PACKED = [
    lambda model: model.encode(TEXTS, precision="int8"),
    lambda model: model.encode(TEXTS, precision="binary"),
    lambda model: model.encode(TEXTS, precision="ubinary"),
    lambda model: model.encode("a cat", precision="ubinary"),
]


def both(models, name):
    folder = str(models.folder(name))
    return embert.SentenceTransformer(models(name)), sentence_transformers.SentenceTransformer(folder, device="cpu")


@pytest.mark.parametrize("name", ["sentence", "unnormalized"])
def test_vectors(models, name):
    ours, theirs = both(models, name)
    for number, step in enumerate(SCRIPT):
        mine, reference = step(ours), step(theirs)
        assert (mine.shape, mine.dtype) == (reference.shape, reference.dtype), number
        assert cosines(mine, reference).min() > 0.99, number
    for number, step in enumerate(PACKED):
        mine, reference = step(ours), step(theirs)
        assert (mine.shape, mine.dtype) == (reference.shape, reference.dtype), number


def test_default_prompt(models):
    ours, theirs = both(models, "prompted")
    assert ours.prompts == theirs.prompts and ours.default_prompt_name == theirs.default_prompt_name
    for step in (lambda model: model.encode(TEXTS), lambda model: model.encode_query(TEXTS)):
        assert cosines(step(ours), step(theirs)).min() > 0.99
    assert cosines(ours.encode(TEXTS), ours.encode(TEXTS, prompt="")).min() < 0.99
    for model in (ours, theirs):
        with pytest.raises(ValueError):
            model.encode(TEXTS, prompt_name="search")


def test_facts(models):
    ours, theirs = both(models, "sentence")
    assert ours.prompts == theirs.prompts and ours.default_prompt_name == theirs.default_prompt_name
    assert ours.max_seq_length == theirs.max_seq_length and ours.similarity_fn_name == theirs.similarity_fn_name
    assert ours.get_sentence_embedding_dimension() == theirs.get_sentence_embedding_dimension()
    mine = ours.tokenize(TEXTS)
    for name, tensor in theirs.tokenize(TEXTS).items():
        if name in mine:
            assert np.array_equal(mine[name], tensor.numpy()) and mine[name].dtype == tensor.numpy().dtype
    assert {"input_ids", "attention_mask"} <= set(mine)


@pytest.mark.parametrize("name", ["cosine", "dot", "euclidean", "manhattan"])
def test_similarities(models, name):
    ours, theirs = both(models, "unnormalized")
    ours.similarity_fn_name = theirs.similarity_fn_name = name
    a, b = theirs.encode(TEXTS), theirs.encode(TEXTS[:3])
    assert np.allclose(ours.similarity(a, b), theirs.similarity(a, b).numpy(), atol=1e-4)
    assert np.allclose(ours.similarity_pairwise(a[:3], b), theirs.similarity_pairwise(a[:3], b).numpy(), atol=1e-4)


@pytest.mark.parametrize("name", ["rerank", "labels"])
def test_cross_encoders(models, name):
    ours = embert.CrossEncoder(models(name))
    theirs = sentence_transformers.CrossEncoder(str(models.folder(name)), device="cpu")
    assert ours.num_labels == theirs.num_labels and ours.max_seq_length == theirs.max_seq_length
    steps = [
        lambda model: model.predict(PAIRS),
        lambda model: model.predict(PAIRS[0]),
        lambda model: model.predict([list(pair) for pair in PAIRS], batch_size=2),
    ]
    if name == "labels":
        steps.append(lambda model: model.predict(PAIRS, apply_softmax=True))
    for number, step in enumerate(steps):
        mine, reference = step(ours), step(theirs)
        assert (np.shape(mine), mine.dtype) == (np.shape(reference), reference.dtype), number
        assert np.allclose(mine, reference, atol=0.2), number
    if name == "rerank":
        documents = [pair[1] for pair in PAIRS]
        mine, reference = (model.rank("the cat", documents, return_documents=True) for model in (ours, theirs))
        assert [set(entry) for entry in mine] == [set(entry) for entry in reference]
        assert {entry["text"] for entry in mine} == {entry["text"] for entry in reference}
        assert type(mine[0]["score"]) is type(reference[0]["score"])


def same_form(ours, theirs):
    """Lists of equal length, objects with the same keys and types of values; whole floats are all numbers."""
    if isinstance(theirs, list):
        assert isinstance(ours, list) and len(ours) == len(theirs), (ours, theirs)
        for mine, reference in zip(ours, theirs):
            same_form(mine, reference)
    elif isinstance(theirs, dict):
        assert set(ours) == set(theirs), (ours, theirs)
        for key, reference in theirs.items():
            same_form(ours[key], reference)
    elif isinstance(theirs, (float, np.floating)):
        assert isinstance(ours, float) and ours == pytest.approx(float(theirs), abs=0.2)
    else:
        assert type(ours) is type(theirs), (ours, theirs)


PIPELINES = [
    (
        "text-classification",
        "labels",
        [
            lambda run: run(TEXTS[0]),
            lambda run: run(TEXTS),
            lambda run: run(TEXTS[0], top_k=None),
            lambda run: run(TEXTS, top_k=2),
            lambda run: run({"text": "the cat", "text_pair": "a dog"}),
            lambda run: run(TEXTS[0], function_to_apply="sigmoid"),
        ],
    ),
    ("text-classification", "rerank", [lambda run: run(TEXTS[0]), lambda run: run(TEXTS, top_k=1)]),
    (
        "fill-mask",
        "mask",
        [
            lambda run: run("the [MASK] sat"),
            lambda run: run(["the [MASK] sat"]),
            lambda run: run(["the [MASK]", "a [MASK] sat"]),
            lambda run: run("the [MASK] [MASK]", top_k=2),
            lambda run: run("the [MASK]", targets=["cat", "dog"]),
        ],
    ),
    (
        "text-generation",
        "decoder",
        [
            lambda run: run("once upon a time", do_sample=False, max_new_tokens=4),
            lambda run: run(["once upon a time"] * 2, do_sample=False, max_new_tokens=4),
            lambda run: run("once upon a time", do_sample=False, max_new_tokens=4, return_full_text=False),
        ],
    ),
]


@pytest.mark.parametrize("task, name, calls", PIPELINES)
def test_pipelines(models, task, name, calls):
    ours = embert.pipeline(task, models(name))
    theirs = transformers.pipeline(task, str(models.folder(name)), device="cpu")
    for call in calls:
        try:
            same_form(call(ours), call(theirs))
        except AssertionError as error:
            raise AssertionError(inspect.getsource(call)) from error


@pytest.mark.parametrize("aggregation", ["none", "simple", "first", "average", "max"])
def test_entities(models, aggregation):
    """Where int8 and float32 choose the same labels, all fields but the score are equal."""
    ours = embert.pipeline("ner", models("ner"), aggregation_strategy=aggregation)
    theirs = transformers.pipeline("ner", str(models.folder("ner")), aggregation_strategy=aggregation, device="cpu")
    equal = 0
    for text in [*TEXTS, "The Cat's mat, Hamburg!", "John Smithing"]:
        mine, reference = ours(text), theirs(text)
        assert {key for entity in mine for key in entity} <= {key for entity in reference for key in entity} or not reference
        strip = [
            [{key: value for key, value in entity.items() if key != "score"} for entity in run] for run in (mine, reference)
        ]
        equal += strip[0] == strip[1]
    assert equal >= 4


def test_minilm(intent_texts, minilm):
    ours = embert.SentenceTransformer(minilm)
    theirs = sentence_transformers.SentenceTransformer(str(minilm_folder()), device="cpu")
    texts = intent_texts[:200]
    found = cosines(ours.encode(texts), theirs.encode(texts))
    print(f"cosines with sentence_transformers: mean {found.mean():.5f}, worst {found.min():.5f}")
    assert found.mean() >= 0.9992 and found.min() >= 0.995
    assert ours.max_seq_length == theirs.max_seq_length
