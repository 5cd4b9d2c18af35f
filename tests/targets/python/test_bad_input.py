# SPDX-License-Identifier: Apache-2.0
"""Each mistake is an exception of a fitting type with one line."""

import errno
import os
import pathlib
import shutil

import embert
import numpy as np
import pytest


@pytest.fixture(scope="module")
def model(models):
    with embert.SentenceTransformer(models("sentence")) as opened:
        yield opened


def one_line(error) -> str:
    text = str(error.value)
    assert text and "\n" not in text
    return text


@pytest.mark.parametrize(
    "make", [embert.SentenceTransformer, embert.CrossEncoder, embert.Tokenizer, lambda path: embert.pipeline("ner", path)]
)
def test_a_name_on_a_hub_is_no_path(make):
    with pytest.raises(FileNotFoundError) as error:
        make("sentence-transformers/all-MiniLM-L6-v2")
    assert "huggingface-cli download sentence-transformers/all-MiniLM-L6-v2 --local-dir all-MiniLM-L6-v2" in one_line(error)


@pytest.mark.parametrize("call", [embert.inspect, lambda name: embert.convert(name, "out.emb")])
def test_a_name_on_a_hub_is_no_path_elsewhere(call):
    with pytest.raises(FileNotFoundError, match="huggingface-cli download"):
        call("sentence-transformers/all-MiniLM-L6-v2")


def test_empty_path_is_not_the_current_folder(models, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for call in (embert.SentenceTransformer, embert.inspect, lambda path: embert.convert(path, "out.emb")):
        with pytest.raises(ValueError, match="path is empty"):
            call("")
        with pytest.raises(ValueError, match="zero character"):
            call("a\0b")
    assert list(tmp_path.iterdir()) == []


def test_folder_without_a_model(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(embert.ModelFileError, match="has no config.json"):
        embert.SentenceTransformer(tmp_path / "folder", cache_folder=tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        embert.SentenceTransformer(tmp_path / "none.emb")
    assert "none.emb" in one_line(error) and "hub" not in one_line(error)
    for call in (embert.inspect, lambda path: embert.convert(path, tmp_path / "out.emb")):
        with pytest.raises(FileNotFoundError):
            call(tmp_path / "none.emb")


@pytest.mark.parametrize("path", [None, 7, b"model.emb"])
def test_path_of_another_type(path):
    with pytest.raises(TypeError, match="path is"):
        embert.SentenceTransformer(path)


@pytest.mark.parametrize("content", [b"", b"not a model", bytes(4096)])
def test_file_that_is_no_model(tmp_path, content):
    path = tmp_path / "wrong.emb"
    path.write_bytes(content)
    for call in (embert.SentenceTransformer, embert.inspect):
        with pytest.raises(embert.ModelFileError) as error:
            call(path)
        assert "wrong.emb" in one_line(error)


def test_wrong_blob_version(models, tmp_path):
    blob = bytearray(pathlib.Path(models("sentence")).read_bytes())
    versions = [i for i in range(4, 16, 4) if blob[i : i + 4] in (b"\3\0\0\0", b"\4\0\0\0")]
    blob[versions[0]] = 99
    path = tmp_path / "future.emb"
    path.write_bytes(blob)
    with pytest.raises(embert.ModelFileError, match="(?i)version"):
        embert.SentenceTransformer(path)


def test_damaged_model(models, tmp_path):
    blob = bytearray(pathlib.Path(models("sentence")).read_bytes())
    blob[len(blob) // 2] ^= 1
    path = tmp_path / "damaged.emb"
    path.write_bytes(blob)
    with pytest.raises(embert.ModelFileError, match="damaged.emb"):
        embert.SentenceTransformer(path)


def test_model_without_the_head(models):
    with pytest.raises(ValueError, match="CrossEncoder needs a model that can classify; this one can: embed"):
        embert.CrossEncoder(models("sentence"))
    with pytest.raises(ValueError, match="can tag"):
        embert.pipeline("ner", models("labels"))


@pytest.mark.parametrize(
    "item, kind", [(None, "None"), (7, "an int"), (b"bytes", "a bytes"), (["a"], "a list"), (1.5, "a float")]
)
def test_item_that_is_no_str(model, item, kind):
    with pytest.raises(TypeError) as error:
        model.encode(["a cat", "a dog", item])
    assert one_line(error) == f"sentences[2] is {kind}: give a str"


@pytest.mark.parametrize("sentences", [None, 7, b"a cat", {"a": "cat"}])
def test_no_list_of_str(model, sentences):
    with pytest.raises(TypeError, match="sentences is .*: give a str or a list of str"):
        model.encode(sentences)


def test_lone_surrogate(model):
    with pytest.raises(ValueError, match=r"sentences\[1\] has a lone surrogate U\+D800 at character 2"):
        model.encode(["a cat", "a \ud800"])
    with pytest.raises(ValueError, match=r"sentences\[0\]"):
        model.encode("\udfff")
    with pytest.raises(ValueError, match="prompt"):
        model.encode("a cat", prompt="\udfff")


def test_unknown_prompt(models):
    with embert.SentenceTransformer(models("prompted")) as model:
        with pytest.raises(ValueError) as error:
            model.encode("a cat", prompt_name="search")
        assert all(f"'{name}'" in one_line(error) for name in ("search", "query", "document", "passage", "clustering"))
    with pytest.raises(ValueError, match="'search'"):
        embert.SentenceTransformer(models("prompted"), default_prompt_name="search")


def test_truncate_dim(model, models):
    for value in (33, 10**9):
        with pytest.raises(ValueError, match=f"truncate_dim={value}: .* 32 dimensions"):
            model.encode("a cat", truncate_dim=value)
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="truncate_dim="):
            model.encode("a cat", truncate_dim=wrong)
    with pytest.raises(ValueError, match="32 dimensions"):
        embert.SentenceTransformer(models("sentence"), truncate_dim=33)


@pytest.mark.parametrize("precision", ["uint8", "float16", "int4", 8])
def test_precisions_that_embert_has_not(model, precision):
    with pytest.raises(ValueError, match="precision="):
        model.encode("a cat", precision=precision)


def test_uint8_says_why(model):
    with pytest.raises(ValueError, match="ranges from the batch"):
        model.encode("a cat", precision="uint8")


def test_bit_order(model):
    with pytest.raises(ValueError, match="bit_order"):
        model.encode("a cat", bit_order="big")
    for precision in ("float32", "int8", "binary"):
        with pytest.raises(ValueError, match='bit_order="lsb" goes with precision="ubinary"'):
            model.encode("a cat", precision=precision, bit_order="lsb")


def test_int8_unit_needs_vectors_of_length_one(models):
    with embert.SentenceTransformer(models("unnormalized")) as model:
        with pytest.raises(ValueError):
            model.encode("a cat", precision="int8-unit")
        assert model.encode("a cat", precision="int8-unit", normalize_embeddings=True).shape == (32,)


@pytest.mark.parametrize("batch_size", [0, -1, 2.0, None, True])
def test_batch_size(model, batch_size):
    with pytest.raises(ValueError, match="batch_size="):
        model.encode("a cat", batch_size=batch_size)


@pytest.mark.parametrize("threads", [0, -1, 1.5, "two", True])
def test_threads(models, threads):
    with pytest.raises(ValueError, match="threads="):
        embert.SentenceTransformer(models("sentence"), threads=threads)


def test_large_numbers_are_not_cut_to_32_bits(models):
    with embert.SentenceTransformer(models("sentence"), threads=2**32 + 1) as many:
        with embert.SentenceTransformer(models("sentence")) as all_processors:
            assert many.threads == all_processors.threads
    with pytest.raises(ValueError, match="64 positions"):
        embert.Tokenizer(models("sentence"), max_length=2**32 + 1)


@pytest.mark.parametrize("max_length", [0, -1, 1.5, "3", True])
def test_max_length(models, max_length):
    with pytest.raises(ValueError, match="max_length="):
        embert.Tokenizer(models("sentence"), max_length=max_length)


@pytest.mark.parametrize(
    "prompts, message",
    [
        ("abc", "prompts is 'abc': give a dict"),
        ({"query": 5}, r"prompts\['query'\] is an int"),
        ({5: "a"}, "a name of prompts is an int"),
        ({"query": "\udfff"}, r"prompts\['query'\] has a lone surrogate"),
        ({"query": "a\0"}, r"prompts\['query'\] has a zero character"),
    ],
)
def test_prompts(models, prompts, message):
    with pytest.raises((TypeError, ValueError), match=message):
        embert.SentenceTransformer(models("sentence"), prompts=prompts)


@pytest.mark.parametrize("argument", ["precision", "bit_order", "prompt_name"])
def test_name_that_is_a_list(model, argument):
    with pytest.raises(ValueError, match=f"{argument}="):
        model.encode("a cat", **{argument: ["int8"]})


@pytest.mark.parametrize("max_seq_length", [0, 65, None])
def test_max_seq_length(model, max_seq_length):
    with pytest.raises(ValueError, match="max_seq_length="):
        model.max_seq_length = max_seq_length
    assert model.max_seq_length == 64


@pytest.mark.parametrize(
    "arguments",
    [
        {"convert_to_tensor": True},
        {"convert_to_numpy": False},
        {"device": "cuda"},
        {"device": ["cpu", "cpu"]},
        {"output_value": "token_embeddings"},
        {"output_value": None},
        {"pool": {"processes": []}},
        {"chunk_size": 7},
    ],
)
def test_arguments_that_need_torch(model, arguments):
    with pytest.raises(ValueError) as error:
        model.encode("a cat", **arguments)
    assert next(iter(arguments)) in one_line(error) and "not supported" in one_line(error)


@pytest.mark.parametrize(
    "arguments",
    [
        {"device": "cuda"},
        {"trust_remote_code": True},
        {"backend": "onnx"},
        {"model_kwargs": {"a": 1}},
        {"revision": "main"},
        {"token": "secret"},
        {"modules": []},
    ],
)
def test_arguments_of_the_model_that_need_torch(models, arguments):
    for make in (embert.SentenceTransformer, embert.CrossEncoder):
        with pytest.raises(ValueError, match=next(iter(arguments))) as error:
            make(models("labels"), **arguments)
        assert "secret" not in one_line(error)


def test_unknown_arguments(model, models):
    with pytest.raises(TypeError, match="'normalise'"):
        model.encode("a cat", normalise=True)
    with pytest.raises(TypeError, match="'thread'"):
        embert.SentenceTransformer(models("sentence"), thread=2)


def test_similarity_name(models):
    with pytest.raises(ValueError, match="cosine, dot, euclidean, manhattan"):
        embert.SentenceTransformer(models("sentence"), similarity_fn_name="angle")


def test_use_after_close(models):
    model = embert.SentenceTransformer(models("sentence"))
    tokenizer = model.tokenizer
    model.close()
    model.close()
    assert model.closed
    for call in (lambda: model.encode("a cat"), lambda: tokenizer.encode("a cat"), lambda: setattr(model, "max_seq_length", 8)):
        with pytest.raises(RuntimeError) as error:
            call()
        assert one_line(error).endswith("sentence.emb: the model is closed")


def test_pipelines(models):
    with pytest.raises(ValueError, match="zero-shot"):
        embert.pipeline("zero-shot-classification", models("labels"))
    with pytest.raises(ValueError, match="give model="):
        embert.pipeline("ner")
    for arguments in ({"device": 0}, {"torch_dtype": "float16"}, {"tokenizer": object()}, {"device_map": {"": 0}}):
        with pytest.raises(ValueError, match=next(iter(arguments))):
            embert.pipeline("text-classification", models("labels"), **arguments)
    classify = embert.pipeline("text-classification", models("labels"))
    with pytest.raises(TypeError, match="'topk'"):
        classify("a cat", topk=2)
    with pytest.raises(ValueError, match="return_all_scores"):
        classify("a cat", return_all_scores=True)
    with pytest.raises(ValueError, match="function_to_apply"):
        classify("a cat", function_to_apply="tanh")
    with pytest.raises(ValueError, match="top_k"):
        classify("a cat", top_k=0)
    with pytest.raises(TypeError, match=r"inputs\[1\] is an int"):
        classify(["a cat", 7])
    with pytest.raises(ValueError, match=r"inputs\[0\]"):
        classify({"text": "a cat"})
    pair = {"text": "a cat", "text_pair": "a dog"}
    with pytest.raises(TypeError, match=r"inputs\[1\] is an int"):
        classify([pair, 7])
    with pytest.raises(ValueError, match=r"inputs\[2\]\[\"text_pair\"\] has a lone surrogate"):
        classify(["a", pair, {**pair, "text_pair": "\ud800"}])
    with pytest.raises(TypeError, match="batch_size"):
        classify("a cat", batch_sizes=2)
    answer = embert.pipeline("question-answering", models("qa"))
    with pytest.raises(ValueError, match="context 0 is empty"):
        answer(question="where?", context=" ")
    with pytest.raises(ValueError, match="context 1 has a lone surrogate"):
        answer(question=["where?", "why?"], context=["a cat", "\ud800"])
    with pytest.raises(ValueError, match="2 questions and 3 contexts"):
        answer(question=["a", "b"], context=["a", "b", "c"])
    with pytest.raises(ValueError, match="align_to_words"):
        answer(question="a", context="b", align_to_words=False)
    fill = embert.pipeline("fill-mask", models("mask"))
    with pytest.raises(ValueError, match="mask"):
        fill(["the [MASK]", "no such token"])
    with pytest.raises(ValueError, match="targets"):
        fill("the [MASK]", targets=["unaffable"])
    with pytest.raises(ValueError, match="targets has a lone surrogate"):
        fill("the [MASK]", targets=["\ud800"])
    with pytest.raises(ValueError) as error:
        fill("the [MASK]", targets=["two\nlines\x1b[31m"])
    assert "\n" not in str(error.value) and "\x1b" not in str(error.value)
    generate = embert.pipeline("text-generation", models("decoder"))
    for temperature in (float("nan"), float("inf"), np.float32("nan")):
        with pytest.raises(ValueError, match="temperature=(nan|inf): give a finite number"):
            generate("once", do_sample=True, temperature=temperature)
    with pytest.raises(ValueError, match="num_return_sequences"):
        embert.pipeline("text-generation", models("decoder"), num_return_sequences=3)


def test_cross_encoder(models):
    with embert.CrossEncoder(models("labels")) as model:
        with pytest.raises(TypeError, match=r"sentences\[1\] is 3 items"):
            model.predict([("a", "b"), ("a", "b", "c")])
        with pytest.raises(TypeError, match=r"sentences\[0\]\[1\] is None"):
            model.predict([("a", None)])
        with pytest.raises(TypeError, match="sentences is a str"):
            model.predict("a cat")
        with pytest.raises(ValueError, match="rank needs a model with one"):
            model.rank("a", ["b"])
        with pytest.raises(ValueError, match="activation_fn"):
            model.predict([("a", "b")], activation_fn="tanh")
        with pytest.raises(ValueError, match="convert_to_tensor"):
            model.predict([("a", "b")], convert_to_tensor=True)
    with pytest.raises(ValueError, match="num_labels=1"):
        embert.CrossEncoder(models("labels"), num_labels=1)
    with embert.CrossEncoder(models("rerank")) as model:
        with pytest.raises(TypeError, match=r"documents\[1\] is None"):
            model.rank("a", ["b", None])
        with pytest.raises(TypeError, match="query is None"):
            model.rank(None, ["b"])
        with pytest.raises(ValueError, match="top_k=-1"):
            model.rank("a", ["b", "c"], top_k=-1)
        with pytest.raises(ValueError, match=r"activation_fn gave shape \(\)"):
            model.predict([("a", "b")], activation_fn=lambda scores: None)


def test_tokenizer(models):
    with embert.Tokenizer(models("sentence")) as tokenizer:
        for call in (
            lambda: tokenizer.encode(["a"]),
            lambda: tokenizer.encode_batch("a"),
            lambda: tokenizer.encode(None),
            lambda: tokenizer.encode_batch(["a", ("a", "b")]),
            lambda: tokenizer.encode("a", 7),
        ):
            with pytest.raises(TypeError):
                call()
        with pytest.raises(ValueError, match=r"ids\[1\] is 99999"):
            tokenizer.decode([1, 99999])
        for ids, message in (
            (5, "ids is 5"),
            ([1, 1.5], r"ids\[1\] is 1.5"),
            (["a"], r"ids\[0\] is 'a'"),
            ([[1]], r"ids\[0\]"),
        ):
            with pytest.raises(TypeError, match=message):
                tokenizer.decode(ids)
        with pytest.raises(ValueError, match=r"ids\[0\] is 1099511627776"):
            tokenizer.decode([2**40])
        with pytest.raises(ValueError, match="pair has a lone surrogate"):
            tokenizer.encode("a", "\ud800")


def test_conversion(models, tmp_path):
    out = tmp_path / "out.emb"
    out.write_bytes(b"what was there")
    empty = tmp_path / "empty"
    empty.mkdir()
    for folder, error in ((tmp_path / "none", FileNotFoundError), (out, NotADirectoryError), (empty, embert.ModelFileError)):
        with pytest.raises(error) as raised:
            embert.convert(folder, out)
        assert str(folder) in one_line(raised)
    with pytest.raises(ValueError, match="embeddings"):
        embert.convert(models.folder("sentence"), out, embeddings="2bit")
    with pytest.raises(ValueError, match="layout"):
        embert.convert(models.folder("sentence"), out, layout="n4k4")
    with pytest.raises(ValueError, match="rounding"):
        embert.convert(models.folder("sentence"), out, rounding="up")
    with pytest.raises(ValueError):
        embert.convert(models.folder("sentence"), out, max_tokens=513)
    assert out.read_bytes() == b"what was there"
    with pytest.raises(OSError):
        embert.convert(models.folder("sentence"), tmp_path / "no-folder" / "out.emb", rounding="nearest")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "out.emb"]


def test_broken_folder(models, tmp_path):
    folder = tmp_path / "broken"
    shutil.copytree(models.folder("sentence"), folder)
    (folder / "config.json").write_text("{")
    with pytest.raises(embert.ModelFileError, match="config.json"):
        embert.SentenceTransformer(folder, cache_folder=tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_verification(models):
    with pytest.raises(ValueError, match="texts is empty"):
        embert.verify(models("sentence"), models.folder("sentence"), [])
    with pytest.raises(TypeError, match=r"texts\[0\] is an int"):
        embert.verify(models("sentence"), models.folder("sentence"), [7])
    with pytest.raises(FileNotFoundError):
        embert.verify(models("sentence"), "/no/such/folder", ["a cat"])


def test_errno_of_the_hub_name():
    with pytest.raises(OSError) as error:
        embert.SentenceTransformer("no-such-model")
    assert error.value.errno == errno.ENOENT and not os.path.exists("no-such-model")
