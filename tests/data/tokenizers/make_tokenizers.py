#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the folders beside it: small tokenizers of each kind, and what the package tokenizers makes of a few hundred texts.

    python make_tokenizers.py      # needs tokenizers and sentencepiece (made with 0.23.3 and 0.2.3)

The vocabularies are trained on sentences of ../tiny-intent/test.tsv. Scores are rounded to the grid that sentencepiece's have.
"""

import csv
import json
import random
import tempfile
from pathlib import Path

import sentencepiece
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

FOLDER = Path(__file__).resolve().parent
DEMO = FOLDER.parents[2] / "targets" / "demo" / "tiny-intent" / "tokenizer.json"
PIECES = 600
# Rules for a charsmap of our own: full-width forms, ligatures, spaces, half-width kana with their marks, what is dropped.
RULES = {"\ufb01": "fi", "\ufb02": "fl", "\u00a0": " ", "\u3000": " ", "\u2026": "...", "\u00bd": "1/2", "\uff76": "\u30ab", "\uff76\uff9e": "\u30ac",
         "\u212b": "\u00e5", "a\u030a": "\u00e5", "\u200b": "", "\u2460": "1", "\u1e9b\u0323": "\u1e69"}  # fmt: skip
RULES |= {chr(0xFF01 + i): chr(0x21 + i) for i in range(94)}
EDGES = ["", " ", "   ", "\t\n", "a", " a", "a ", "  a  b  ", "a\u0000b", "\ufeffhi", "a\u200bb", "a\u00a0b\u3000c", "\u2581", "\u2581a \u2581", "\u0120the",
         "<s>", "</s>", "a<mask>b", "a <mask> b", "[MASK]", "[CLS]a[SEP]", "<mask><mask>", "<unk>", "<s >", "don't I'll we've he's I'd you're I'm",
         "DON'T", "'s", "can''t", "12,345.67", "3\u00bd kg", "50%", "$5.00", "a-b_c/d", "C++", "x=y*2", "(a)", "\"q\"", "``q''", "a,b;c:d!e?f",
         "\ufb01ne \ufb02ow", "\uff21\uff22\uff23\uff01", "\uff76\uff9e", "\uff76", "\u2460\u2461", "na\u00efve caf\u00e9", "cafe\u0301", "\u212bngstr\u00f6m a\u030a",
         "\u1e9b\u0323", "\u0130stanbul \u0131", "STRASSE stra\u00dfe", "\u03a3\u03a3 \u03c3\u03c2", "\u0434\u043e\u0431\u0440\u044b\u0439 \u0434\u0435\u043d\u044c",
         "\u4f60\u597d\u4e16\u754c", "\u3053\u3093\u306b\u3061\u306f", "\uc548\ub155", "\u1112\u1161\u11ab", "\u05e9\u05c1\u05dc\u05d5\u05dd", "\u0645\u0631\u062d\u0628\u0627",
         "\u0928\u092e\u0938\u094d\u0924\u0947", "\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea", "\u2764\ufe0f", "e\u0301\u0316\u0327", "\u0301a", "a" * 40,
         "ab" * 30, "what" * 20, "the quick brown fox jumps over the lazy dog", "x\r\ny", "\u2028a\u2029", "  \u3000 ", "tab\tbar", "a\u2026b", "\u00ad", "\U000e0041", "\ud7ff\ue000"]  # fmt: skip


def train_unigram(sentences):
    with tempfile.TemporaryDirectory() as folder:
        rules, text, model = (Path(folder) / name for name in ("rules.tsv", "text.txt", "model"))
        rules.write_text(
            "".join(
                f"{' '.join(f'{ord(c):X}' for c in key)}\t{' '.join(f'{ord(c):X}' for c in value)}\n"
                for key, value in sorted(RULES.items())
            ),
            encoding="utf-8",
        )
        text.write_text("\n".join(sentences), encoding="utf-8")
        sentencepiece.SentencePieceTrainer.Train(
            input=str(text),
            model_prefix=str(model),
            vocab_size=PIECES,
            model_type="unigram",
            normalization_rule_tsv=str(rules),
            num_threads=1,
            minloglevel=2,
        )
        return read_fields(Path(f"{model}.model").read_bytes())


def read_fields(data):
    """Pieces with scores, and the charsmap of a sentencepiece model: fields of protocol buffers."""
    from sentencepiece import sentencepiece_model_pb2

    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(data)
    return [(piece.piece, piece.score) for piece in model.pieces], model.normalizer_spec.precompiled_charsmap


def unigram_of(pieces, charsmap, steps):
    """XLM-R's ids: <s> <pad> </s> <unk>, the pieces behind sentencepiece's own three, <mask>."""
    vocab = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    vocab += [(piece, round(score * 2**16) / 2**16) for piece, score in pieces[3:]]
    tokenizer = Tokenizer(models.Unigram(vocab, 3, False))
    tokenizer.normalizer = normalizers.Sequence([*steps, normalizers.Precompiled(charsmap)])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace("\u2581", "always")]
    )
    tokenizer.add_special_tokens(
        ["<s>", "<pad>", "</s>", "<unk>", AddedToken("<mask>", lstrip=True, normalized=True, special=True)]
    )
    tokenizer.decoder = decoders.Metaspace("\u2581", "always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return tokenizer


def train_byte_pair(sentences):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=PIECES,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
    )
    tokenizer.train_from_iterator(sentences, trainer)
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False, special=True)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False)
    return tokenizer


def write_cases(tokenizer, texts, name):
    cases = []
    for text in texts:
        encoding = tokenizer.encode(text)
        decoded = [tokenizer.decode(encoding.ids, skip_special_tokens=skip) for skip in (False, True)]
        cases.append([encoding.ids, [place for pair in encoding.offsets for place in pair], *decoded])
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    (FOLDER / f"{name}.cases.json").write_text(f"[\n{lines}\n]\n")


def main():
    with open(FOLDER.parent / "tiny-intent" / "test.tsv", encoding="utf-8") as file:
        sentences = [row["text"] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    chosen = random.Random(15).sample(sentences, 120)
    texts = EDGES + chosen[:60] + [sentence.upper() for sentence in chosen[60:80]]
    texts += [f"{a.capitalize()}.  {b}<mask> ({a[:9]})" for a, b in zip(chosen[80:100], chosen[100:])]
    (FOLDER / "texts.json").write_text("[\n" + ",\n".join(json.dumps(text) for text in texts) + "\n]\n")
    pieces, charsmap = train_unigram(sentences)
    accents = [
        normalizers.Replace("``", '"'),
        normalizers.Replace("''", '"'),
        normalizers.NFKD(),
        normalizers.StripAccents(),
        normalizers.Lowercase(),
    ]
    tokenizers = {
        "unigram": unigram_of(pieces, charsmap, []),
        "unigram-lowercase": unigram_of(pieces, charsmap, accents),
        "byte-pair": train_byte_pair(sentences),
    }
    for name, tokenizer in tokenizers.items():
        (FOLDER / f"{name}.json").write_text(json.dumps(json.loads(tokenizer.to_str()), separators=(",", ":")) + "\n")
        write_cases(tokenizer, texts, name)
    word_piece = Tokenizer.from_file(str(DEMO))
    word_piece.no_truncation()
    word_piece.no_padding()
    write_cases(word_piece, texts, "word-piece")


if __name__ == "__main__":
    main()
