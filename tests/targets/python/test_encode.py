# SPDX-License-Identifier: Apache-2.0
"""SentenceTransformer.encode: shapes, dtypes, prompts, precisions."""

import embert
import numpy as np
import pytest

TEXTS = ["the cat sat on the mat", "a dog in the fog", "where is paris?", "", "john smith lives in hamburg " * 9]
WIDTH = 32


@pytest.fixture(scope="module")
def model(models):
    with embert.SentenceTransformer(models("sentence"), threads=2) as opened:
        yield opened


@pytest.fixture(scope="module")
def prompted(models):
    with embert.SentenceTransformer(models("prompted")) as opened:
        yield opened


def test_str_is_one_dimensional(model):
    vector = model.encode(TEXTS[0])
    assert vector.shape == (WIDTH,) and vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("make", [list, tuple, np.array, iter, lambda texts: np.array(texts, object)])
def test_lists_are_two_dimensional(model, make):
    vectors = model.encode(make(TEXTS))
    assert vectors.shape == (len(TEXTS), WIDTH) and vectors.dtype == np.float32
    for text, vector in zip(TEXTS, vectors):
        assert np.array_equal(vector, model.encode(text))


@pytest.mark.parametrize("empty", [[], (), np.array([], str)])
def test_empty_list(model, empty):
    assert model.encode(empty).shape == (0, WIDTH)
    assert model.encode(empty, precision="ubinary").shape == (0, WIDTH // 8)
    assert model.encode(empty).dtype == np.float32


def test_numpy_str_of_no_dimension(model):
    assert model.encode(np.array("a cat")).shape == (WIDTH,)


@pytest.mark.parametrize("batch_size", [1, 3, 32, 1000, 5000])
def test_batch_size_changes_nothing(model, batch_size):
    assert np.array_equal(model.encode(TEXTS * 50, batch_size=batch_size), np.tile(model.encode(TEXTS), (50, 1)))


def test_normalize(models):
    with embert.SentenceTransformer(models("unnormalized")) as model:
        raw, unit = model.encode(TEXTS), model.encode(TEXTS, normalize_embeddings=True)
    lengths = np.linalg.norm(raw, axis=1)
    assert abs(lengths - 1).max() > 0.1
    assert np.allclose(np.linalg.norm(unit, axis=1), 1, atol=2e-3)
    assert np.allclose(raw / lengths[:, None], unit, atol=2e-3)


def test_truncate_dim(model, models):
    whole, cut = model.encode(TEXTS), model.encode(TEXTS, truncate_dim=8)
    assert cut.shape == (len(TEXTS), 8)
    assert np.allclose(cut, whole[:, :8] / np.linalg.norm(whole[:, :8], axis=1, keepdims=True), atol=1e-3)
    with embert.SentenceTransformer(models("sentence"), truncate_dim=8) as short:
        assert np.array_equal(short.encode(TEXTS), cut)
        assert short.get_sentence_embedding_dimension() == short.get_embedding_dimension() == 8
        assert short.encode(TEXTS, truncate_dim=16).shape[1] == 16


def test_int8_has_a_scale_a_vector(model):
    vectors = model.encode(TEXTS[:3])
    packed = model.encode(TEXTS[:3], precision="int8")
    assert packed.dtype == np.int8 and packed.shape == vectors.shape
    expected = vectors * (127 / abs(vectors).max(axis=1, keepdims=True))
    assert abs(packed - expected).max() <= 0.51 and (abs(packed).max(axis=1) == 127).all()
    assert np.array_equal(model.encode(TEXTS[0], precision="int8"), packed[0])


def test_int8_unit_is_the_map_of_sqlite_vec(model):
    vectors = model.encode(TEXTS[:3])
    step = np.float32(np.float32(2) / np.float32(255))
    expected = np.trunc((vectors + np.float32(1)) / step - np.float32(128)).astype(np.int8)
    packed = model.encode(TEXTS[:3], precision="int8-unit")
    assert packed.dtype == np.int8 and np.array_equal(packed, expected)


def test_bits(model):
    bits = model.encode(TEXTS[:3]) > 0
    packed = model.encode(TEXTS[:3], precision="ubinary")
    assert packed.dtype == np.uint8 and np.array_equal(packed, np.packbits(bits, axis=1))
    signed = model.encode(TEXTS[:3], precision="binary")
    assert signed.dtype == np.int8 and np.array_equal(signed, (packed.astype(int) - 128).astype(np.int8))
    lsb = model.encode(TEXTS[:3], precision="ubinary", bit_order="lsb")
    assert lsb.dtype == np.uint8 and np.array_equal(lsb, np.packbits(bits, axis=1, bitorder="little"))
    assert model.encode(TEXTS[0], precision="binary").shape == (WIDTH // 8,)


def test_prompts_of_the_model(prompted):
    assert prompted.prompts == {"query": "query: ", "document": "", "passage": "passage: ", "clustering": "cat "}
    assert prompted.default_prompt_name == "clustering"
    plain = prompted.encode(TEXTS, prompt="")
    assert np.array_equal(prompted.encode(TEXTS), prompted.encode(["cat " + text for text in TEXTS], prompt=""))
    assert not np.array_equal(prompted.encode(TEXTS), plain)


def test_prompt_goes_before_prompt_name_before_default(prompted):
    query = prompted.encode(["query: " + text for text in TEXTS], prompt="")
    assert np.array_equal(prompted.encode(TEXTS, prompt_name="query"), query)
    assert np.array_equal(prompted.encode(TEXTS, prompt="query: ", prompt_name="passage"), query)
    assert np.array_equal(prompted.encode_query(TEXTS), query)
    passage = prompted.encode(["passage: " + text for text in TEXTS], prompt="")
    assert np.array_equal(prompted.encode_document(TEXTS), passage)
    assert np.array_equal(prompted.encode_document(TEXTS, prompt_name="query"), query)
    assert np.array_equal(prompted.encode_query(TEXTS, prompt="passage: "), passage)


def test_query_without_such_a_prompt_has_none(models, model):
    with embert.SentenceTransformer(models("sentence"), prompts={"own": "dog "}, default_prompt_name="own") as own:
        assert np.array_equal(own.encode_query(TEXTS), model.encode(TEXTS))
        assert np.array_equal(own.encode(TEXTS), model.encode(["dog " + text for text in TEXTS]))
    assert model.prompts == {"query": "", "document": ""} and model.default_prompt_name is None


def test_prompts_of_the_argument_come_first(models, model):
    with embert.SentenceTransformer(models("prompted"), prompts={"query": "dog "}, default_prompt_name="query") as own:
        assert np.array_equal(own.encode(TEXTS), model.encode(["dog " + text for text in TEXTS]))


def test_similarities(model):
    a, b = model.encode(TEXTS[:2]), model.encode(TEXTS[:3])
    assert model.similarity_fn_name == "cosine"
    cosines = model.similarity(a, b)
    assert cosines.shape == (2, 3) and cosines.dtype == np.float32
    assert cosines[1, 1] == pytest.approx(1, abs=1e-5)
    assert model.similarity(a[0], b[0]).shape == (1, 1)
    assert np.allclose(model.similarity_pairwise(a, b[:2]), 1, atol=1e-5)
    expected = {
        "dot": a @ b.T,
        "euclidean": -np.sqrt(((a[:, None] - b[None]) ** 2).sum(-1)),
        "manhattan": -abs(a[:, None] - b[None]).sum(-1),
    }
    try:
        for name, values in expected.items():
            model.similarity_fn_name = name
            assert np.allclose(model.similarity(a, b), values, atol=1e-5)
            assert np.allclose(model.similarity_pairwise(a, b[:2]), values.diagonal(), atol=1e-5)
    finally:
        model.similarity_fn_name = "cosine"


def test_max_seq_length(models):
    with embert.SentenceTransformer(models("sentence")) as model:
        assert model.max_seq_length == model.get_max_seq_length() == 64
        before = model.encode(TEXTS[4])
        model.max_seq_length = 8
        assert model.max_seq_length == 8
        assert not np.array_equal(model.encode(TEXTS[4]), before)
        assert np.array_equal(model.encode(TEXTS[4]), model.encode(" ".join(TEXTS[4].split()[:6])))
        model.max_seq_length = 64
        assert np.array_equal(model.encode(TEXTS[4]), before)


def test_tokenize(model):
    tokens = model.tokenize(["the cat", "a dog in the fog"])
    assert {name: array.shape for name, array in tokens.items()} == {
        "input_ids": (2, 7),
        "token_type_ids": (2, 7),
        "attention_mask": (2, 7),
    }
    assert tokens["input_ids"].dtype == np.int64
    assert tokens["attention_mask"].sum(axis=1).tolist() == [4, 7]
    assert tokens["input_ids"][0, 4:].tolist() == [0, 0, 0]


def test_progress_bar(model, capsys):
    model.encode(TEXTS * 10, show_progress_bar=True)
    assert "100%" in capsys.readouterr().err
    model.encode(TEXTS * 10)
    assert capsys.readouterr().err == ""


def test_facts(model, models):
    assert model.path == models("sentence") and model.threads <= 2
    assert model.get_sentence_embedding_dimension() == WIDTH
    assert "SentenceTransformer(" in repr(model)


@pytest.mark.parametrize(
    "arguments",
    [
        {"convert_to_tensor": False},
        {"device": "cpu"},
        {"device": None},
        {"output_value": "sentence_embedding"},
        {"pool": None},
        {"convert_to_numpy": True},
        {"chunk_size": None},
    ],
)
def test_harmless_arguments_of_torch(model, arguments):
    assert model.encode("a cat", **arguments).shape == (WIDTH,)
