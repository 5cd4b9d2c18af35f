# SPDX-License-Identifier: Apache-2.0
"""embert.pipeline: call shapes and fields of transformers, values of the tool."""

import time

import embert
import numpy as np
import pytest
from conftest import run_tool
from embert._pipelines import generation, token_classification
from embert._tokenizer import Encoding

TEXTS = ["john smith lives in hamburg", "The cat's mat", "where is paris?"]


@pytest.fixture(scope="module")
def classify(models):
    with embert.pipeline("text-classification", models("labels")) as opened:
        yield opened


@pytest.fixture(scope="module")
def ner(models):
    with embert.pipeline("ner", model=models("ner"), device="cpu") as opened:
        yield opened


@pytest.fixture(scope="module")
def qa(models):
    with embert.pipeline("question-answering", models("qa"), threads=1) as opened:
        yield opened


@pytest.fixture(scope="module")
def fill(models):
    with embert.pipeline("fill-mask", models("mask")) as opened:
        yield opened


def test_classification_shapes(classify, models):
    best = classify(TEXTS[0])
    assert isinstance(best, list) and set(best[0]) == {"label", "score"} and len(best) == 1
    assert classify(TEXTS) == [classify(text)[0] for text in TEXTS]
    ranked = classify(TEXTS[0], top_k=None)
    assert [len(ranked), ranked[0]] == [3, best[0]] and sum(label["score"] for label in ranked) == pytest.approx(1, abs=1e-4)
    assert classify(TEXTS, top_k=2)[0] == ranked[:2]
    assert classify([]) == []
    with embert.pipeline("sentiment-analysis", models("labels"), top_k=2) as two:
        assert two(TEXTS) == classify(TEXTS, top_k=2)


def test_classification_of_pairs(classify):
    pair = {"text": "the cat", "text_pair": "a dog"}
    assert set(classify(pair)) == {"label", "score"}
    mixed = classify([TEXTS[0], pair, TEXTS[1]])
    assert mixed == [classify(TEXTS[0])[0], classify(pair), classify(TEXTS[1])[0]]


def test_classification_is_that_of_the_tool(classify, models):
    tool = run_tool("classify", models("labels"), texts=TEXTS)
    assert classify(TEXTS, top_k=None) == [result["scores"] for result in tool]
    raw = run_tool("classify", models("labels"), "--function", "none", texts=TEXTS)
    assert classify(TEXTS, top_k=None, function_to_apply="none") == [result["scores"] for result in raw]


def test_tokens(ner):
    entities = ner(TEXTS[0])
    assert entities and set(entities[0]) == {"entity", "score", "index", "word", "start", "end"}
    for entity in entities:
        assert TEXTS[0][entity["start"] : entity["end"]] == entity["word"].replace("##", "")
        assert entity["index"] >= 1 and "-" in entity["entity"]
    assert ner(TEXTS)[0] == entities and len(ner(TEXTS)) == 3


def test_tokens_that_share_a_character():
    """Byte-level BPE splits a character that it does not know: the pieces have its offsets all."""
    encoding = Encoding([5, 6, 7, 8], [0] * 4, ["a", "\u00f0\u0141", "\u013a", "b"])
    encoding.offsets = [(0, 1), (1, 2), (1, 2), (2, 3)]
    encoding.word_ids = [0, 1, 1, 1]
    entities = [{"label": "B-x", "score": 0.5, "char_offsets": encoding.offsets[i]} for i in (1, 2, 3)]
    found = token_classification._token_entities(entities, token_classification._text_tokens(encoding), encoding)
    assert [(entity["index"], entity["word"]) for entity in found] == [(i, encoding.tokens[i]) for i in (1, 2, 3)]


def test_batch_size_changes_nothing(classify, models):
    assert classify(TEXTS, batch_size=2) == classify(TEXTS)
    with embert.pipeline("text-classification", models("labels"), batch_size=8) as batched:
        assert batched(TEXTS) == classify(TEXTS)
        with pytest.raises(ValueError, match="batch_size=0"):
            batched(TEXTS, batch_size=0)


@pytest.mark.parametrize("aggregation", ["simple", "first", "average", "max"])
def test_entities(ner, models, aggregation):
    tool = run_tool("tag", models("ner"), "--aggregation", aggregation, texts=TEXTS)
    for text, ours, theirs in zip(TEXTS, ner(TEXTS, aggregation_strategy=aggregation), tool):
        assert len(ours) == len(theirs["entities"])
        for entity, expected in zip(ours, theirs["entities"]):
            assert set(entity) == {"entity_group", "score", "word", "start", "end"}
            assert [entity["start"], entity["end"]] == expected["char_offsets"]
            assert entity["entity_group"] == expected["label"] and entity["score"] == expected["score"]
            assert entity["word"].replace(" ", "") == text[entity["start"] : entity["end"]].lower().replace(" ", "")


def test_entities_of_long_texts(ner):
    text = " ".join(TEXTS) * 20
    for entity in ner(text):
        assert text[entity["start"] : entity["end"]].lower() == entity["word"].replace("##", "")
    assert max(entity["index"] for entity in ner(text)) > 64


def test_answers(qa, models):
    question, context = "where is the cat?", "the cat sat on the mat. the dog lives in hamburg."
    best = qa(question=question, context=context)
    assert set(best) == {"score", "start", "end", "answer"} and context[best["start"] : best["end"]] == best["answer"]
    assert qa({"question": question, "context": context}) == best
    assert qa([{"question": question, "context": context}] * 2) == [best, best]
    assert qa(question=[question, question], context=context) == [best, best]
    top = qa(question=question, context=context, top_k=3)
    assert isinstance(top, list) and top[0] == best and top[0]["score"] >= top[1]["score"]
    long = qa(question=question, context=context * 30)
    assert (context * 30)[long["start"] : long["end"]] == long["answer"]
    with embert.pipeline("question-answering", models("qa"), top_k=3) as three:
        assert three(question=question, context=context) == top


def test_masks(fill, models):
    words = fill("the [MASK] sat on the mat")
    assert len(words) == 5 and set(words[0]) == {"score", "token", "token_str", "sequence"}
    assert words[0]["token_str"].removeprefix("##") in words[0]["sequence"]
    tool = run_tool("fill-mask", models("mask"), texts=["the [MASK] sat on the mat"])[0]["masks"][0]["words"]
    assert [(word["token"], word["score"]) for word in words] == [(word["id"], word["score"]) for word in tool]
    assert fill(["the [MASK] sat on the mat"]) == words
    assert fill(["the [MASK] sat on the mat", "a [MASK]"])[0] == words
    two = fill("the [MASK] [MASK]", top_k=2)
    assert len(two) == 2 and len(two[0]) == 2
    chosen = fill("the [MASK] sat", targets=["cat", "dog"])
    assert {word["token_str"] for word in chosen} == {"cat", "dog"}
    assert len(fill("the [MASK] sat", targets="cat")) == 1
    assert fill("the [MASK] sat", top_k=np.int64(2)) == fill("the [MASK] sat", top_k=2)


def test_generation(models):
    with embert.pipeline("text-generation", models("decoder"), max_new_tokens=5) as generate:
        [result] = generate("once upon a time")
        assert set(result) == {"generated_text"} and result["generated_text"].startswith("once upon a time")
        [new] = generate("once upon a time", return_full_text=False)
        assert "once upon a time" + new["generated_text"] == result["generated_text"]
        assert generate(["once upon a time", "the king"])[0] == [result]
        [ids] = generate("once upon a time", return_tensors=True)
        tool = run_tool("generate", models("decoder"), "--max-new-tokens", "5", texts=["once upon a time"])
        assert ids["generated_token_ids"] == tool[0]["ids"]
        assert new["generated_text"].strip() == tool[0]["generated"].removeprefix("##")
        drawn = generate("once upon a time", do_sample=True, seed=7, temperature=2.0, top_k=20, top_p=0.9)
        assert drawn == generate("once upon a time", do_sample=True, seed=7, temperature=2.0, top_k=20, top_p=0.9)
        generate("once upon a time", num_beams=3)


def test_generated_ids_without_a_token_have_no_text(models):
    with embert.Tokenizer(models("decoder")) as tokenizer:
        beyond = tokenizer.get_vocab_size()
        [known] = tokenizer.encode("king", add_special_tokens=False).ids
        assert generation._continuation(tokenizer, "the", [beyond, known, beyond + 1]) == " king"


def test_transformation(models):
    with embert.pipeline("text2text-generation", models("pair")) as transform:
        [result] = transform("the cat", max_new_tokens=6)
        tool = run_tool("generate", models("pair"), "--max-new-tokens", "6", texts=["the cat"])
        assert result == {"generated_text": tool[0]["generated"]}
        assert transform(["the cat"] * 2, max_new_tokens=6) == [result, result]


def test_entities_of_a_long_text_in_linear_time(ner):
    """Time of the processor for ten times the words; a search of all tokens for each entity takes a hundred times as long."""
    seconds = []
    for words in (3000, 30000):
        begin = time.process_time()
        entities = ner("word " * words)
        seconds.append(time.process_time() - begin)
        assert all(entity["end"] - entity["start"] <= 4 for entity in entities)
    assert seconds[1] < 30 * seconds[0]


def test_too_many_new_tokens_are_refused(models):
    with embert.pipeline("text-generation", models("decoder")) as generate:
        with pytest.raises(ValueError, match="max-new-tokens"):
            generate("once upon a time", max_new_tokens=1000)
