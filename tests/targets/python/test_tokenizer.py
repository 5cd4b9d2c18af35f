# SPDX-License-Identifier: Apache-2.0
"""Tokenizer: the fields of the tokenizers package, and its values where that package is installed."""

import embert
import numpy as np
import pytest
from conftest import TINY_INTENT, run_tool

TEXTS = ["The cat's Mat!", "", "déjà-vu in HAMBURG", "  ", "[MASK] is a\tkitten, 東京", "walks " * 100, "\u200bfog\n"]


@pytest.fixture(scope="module")
def tokenizer(models):
    with embert.Tokenizer(models("sentence")) as opened:
        yield opened


def test_fields(tokenizer):
    encoding = tokenizer.encode("The cat, dozing")
    assert encoding.tokens == ["[CLS]", "the", "cat", ",", "d", "##o", "##z", "##ing", "[SEP]"]
    assert encoding.offsets == [(0, 0), (0, 3), (4, 7), (7, 8), (9, 10), (10, 11), (11, 12), (12, 15), (0, 0)]
    assert encoding.word_ids == [None, 0, 1, 2, 3, 3, 3, 3, None]
    assert encoding.type_ids == [0] * 9 and encoding.attention_mask == [1] * 9
    assert encoding.sequence_ids == [None, *[0] * 7, None]
    assert len(encoding) == len(encoding.ids) == 9 and encoding.ids[0] == 2


def test_offsets_are_characters_and_bytes(tokenizer):
    text = "déjà cat"
    encoding = tokenizer.encode(text)
    index = encoding.tokens.index("cat")
    begin, end = encoding.offsets[index]
    assert text[begin:end] == "cat"
    begin, end = encoding.byte_offsets[index]
    assert text.encode()[begin:end] == b"cat" and begin == 7


def test_pairs(tokenizer):
    encoding = tokenizer.encode("the cat", "a dog")
    assert encoding.tokens == ["[CLS]", "the", "cat", "[SEP]", "a", "dog", "[SEP]"]
    assert encoding.type_ids == [0, 0, 0, 0, 1, 1, 1]
    assert encoding.sequence_ids == [None, 0, 0, None, 1, 1, None]
    for pair in (("the cat", "a dog"), ["the cat", "a dog"]):
        assert tokenizer.encode_batch([pair])[0].ids == encoding.ids


def test_truncation(tokenizer, models):
    text = "walks " * 100
    assert len(tokenizer.encode(text)) == 64
    assert len(tokenizer.encode(text, truncation=False)) == 102
    assert len(tokenizer.encode(text * 20, truncation=False, add_special_tokens=False)) == 2000
    with embert.Tokenizer(models("sentence"), max_length=10) as short:
        assert len(short.encode(text)) == 10
        assert short.encode(text, "cat").tokens[-2:] == ["cat", "[SEP]"]


def test_decode(tokenizer):
    encoding = tokenizer.encode("the cat, dozing")
    assert tokenizer.decode(encoding.ids) == "the cat, dozing"
    assert tokenizer.decode(encoding.ids, skip_special_tokens=False) == "[CLS] the cat, dozing [SEP]"
    assert tokenizer.decode(np.array(encoding.ids)) == "the cat, dozing"
    apostrophe = tokenizer.encode("the cat's mat").ids
    assert tokenizer.decode(apostrophe) == "the cat ' s mat"
    assert tokenizer.decode(apostrophe, clean_up_tokenization_spaces=True) == "the cat's mat"
    assert tokenizer.decode_batch([encoding.ids, []]) == ["the cat, dozing", ""]
    assert tokenizer.get_vocab_size() == 99


def test_same_as_the_tool(tokenizer, models):
    for text, encoding in zip(TEXTS, tokenizer.encode_batch(TEXTS)):
        [tokens] = run_tool_tokenize(models("sentence"), text)
        assert encoding.ids == tokens["ids"] and encoding.tokens == tokens["tokens"]
        assert [list(pair) for pair in encoding.offsets] == tokens["char_offsets"]
        assert [list(pair) for pair in encoding.byte_offsets] == tokens["byte_offsets"]
        assert encoding.word_ids == tokens["word_ids"] and encoding.type_ids == tokens["type_ids"]


def run_tool_tokenize(model, text):
    import json
    import subprocess

    from conftest import TOOL

    result = subprocess.run([TOOL, "tokenize", model, "--json", "--", text], stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_same_as_the_tokenizers_package(models, intent_texts):
    tokenizers = pytest.importorskip("tokenizers", reason="!!!! SKIPPED: no package tokenizers to compare with")
    reference = tokenizers.Tokenizer.from_file(str(TINY_INTENT / "tokenizer.json"))
    with embert.Tokenizer(models("intent")) as tokenizer:
        reference.no_padding()
        reference.enable_truncation(tokenizer._model._handle.max_tokens)
        texts = TEXTS + intent_texts[:500]
        for text, ours, theirs in zip(texts, tokenizer.encode_batch(texts), reference.encode_batch(texts)):
            assert ours.ids == theirs.ids, text
            assert ours.tokens == theirs.tokens and ours.offsets == theirs.offsets and ours.word_ids == theirs.word_ids
            assert ours.type_ids == theirs.type_ids and ours.attention_mask == theirs.attention_mask
            assert tokenizer.decode(ours.ids) == reference.decode(theirs.ids)


def test_tool_is_of_this_package(models):
    assert run_tool("embed", models("sentence"), texts=["a cat"])[0]["tokens"] == 4
