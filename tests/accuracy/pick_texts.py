#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes texts.tsv: the list of the 1,000 texts that accuracy_test reads.

  pick_texts.py SHARED_DIR [-o texts.tsv]

250 of each corpus: CLINC150 test, WNUT17 test, SQuAD 1.1 dev (125 questions, 125 contexts), WikiText-2 test. The records of
a corpus, in file order, are ranked by SHA-256("seed/corpus/number") and the first that qualify are taken: at least 5
tokens with bert-base-uncased, [CLS] and [SEP] included, and no text twice. The list has no text, which for two of the
corpora is under a share-alike licence: corpus, record number, kind and the text's CRC-32C. Needs the tokenizers package.
"""

import argparse
import hashlib
import json
import os

from tokenizers import Tokenizer

SEED = 20240
PER_KIND = {"sentence": 250, "question": 125, "context": 125, "paragraph": 250}


def crc32c(data):
    r = 0xFFFFFFFF
    for byte in data:
        r ^= byte
        for _ in range(8):
            r = (r >> 1) ^ (0x82F63B78 if r & 1 else 0)
    return r ^ 0xFFFFFFFF


def clinc150(shared):
    with open(os.path.join(shared, "data/intent/clinc150/data_full.json"), encoding="utf8") as f:
        return [("sentence", text) for text, _ in json.load(f)["test"]]


def wnut17(shared):
    records, tokens = [], []
    with open(os.path.join(shared, "data/ner/wnut17/emerging.test.annotated"), encoding="utf8", newline="\n") as f:
        for line in f.read().split("\n") + [""]:
            token = line.split("\t")[0].strip(" \r")
            if token:
                tokens.append(token)
            elif tokens:
                records.append(("sentence", " ".join(tokens)))
                tokens = []
    return records


def squad(shared):
    with open(os.path.join(shared, "data/qa/squad11_dev/dev-v1.1.reconstructed.json"), encoding="utf8") as f:
        data = json.load(f)["data"]
    records = []
    for article in data:
        for paragraph in article["paragraphs"]:
            records.append(("context", paragraph["context"]))
            records += [("question", qa["question"]) for qa in paragraph["qas"]]
    return records


def wikitext2(shared):
    with open(os.path.join(shared, "data/text/wikitext2/wiki.test.raw"), encoding="utf8", newline="\n") as f:
        lines = [line.strip(" \r") for line in f.read().split("\n")]
    return [("paragraph", line) for line in lines if line and not line.startswith("=")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shared_dir")
    parser.add_argument("-o", "--output", default=os.path.join(os.path.dirname(__file__), "texts.tsv"))
    arguments = parser.parse_args()
    vocabulary = "data/tokenizer/vocab/bert-base-uncased-tokenizer.json"
    tokenizer = Tokenizer.from_file(os.path.join(arguments.shared_dir, vocabulary))
    rows = ["# Made by pick_texts.py, seed %d: corpus, record number, kind, CRC-32C of the text" % SEED]
    for corpus in (clinc150, wnut17, squad, wikitext2):
        name, left, seen, picked = corpus.__name__, dict(PER_KIND), set(), []
        records = [(kind, text.strip(" ")) for kind, text in corpus(arguments.shared_dir)]
        hashes = [hashlib.sha256(("%d/%s/%d" % (SEED, name, i)).encode()).digest() for i in range(len(records))]
        for i in sorted(range(len(records)), key=hashes.__getitem__):
            kind, text = records[i]
            if left[kind] == 0 or text in seen or len(tokenizer.encode(text).ids) < 5:
                continue
            left[kind] -= 1
            seen.add(text)
            picked.append((i, kind, crc32c(text.encode())))
        assert len(picked) == 250, (name, len(picked))
        rows += ["%s\t%d\t%s\t%08x" % ((name,) + row) for row in sorted(picked)]
    with open(arguments.output, "w", encoding="utf8", newline="\n") as f:
        f.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
