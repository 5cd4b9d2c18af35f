#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Static embeddings through the tool against the wheel model2vec: random tables of every kind that it saves.

    pip install model2vec
    python tests/converter/static_oracle.py build/release/targets/cli/embert targets/demo/tiny-intent/tokenizer.json FOLDER

Prints the cosines of each table to the wheel's vectors. Fails below 0.9999, and where a text without known tokens is not zeros.
"""

import pathlib
import subprocess
import sys

import numpy as np
from model2vec import StaticModel
from tokenizers import Tokenizer

LEAST_COSINE = 0.9999
TEXTS = ["the cat sat on the mat", "freeze my account", "set a timer for the pasta", "is it going to rain in Oslo", "the the the",
         "a " * 700, "naïve café 你好 Ω", "x", "\U0001f600", ""]  # fmt: skip


def tables(tokens):
    """Name -> vectors and the other arguments of StaticModel. Rows have lengths from 0.2 to 1.2, as frequent tokens weigh less."""
    random = np.random.default_rng(0)
    frequency = 1 / (1 + np.arange(tokens)) ** 0.3
    rows = (random.standard_normal((tokens, 256)) * (1.2 - frequency[:, None])).astype(np.float32)
    yield "float32", rows, {"normalize": True}
    yield "float16, not normalised", rows.astype(np.float16), {"normalize": False}
    yield "int8", (rows / np.abs(rows).max() * 127).astype(np.int8), {"normalize": True}
    yield "weights", rows, {"normalize": True, "weights": random.random(tokens)}
    yield (
        "mapping",
        rows[:500],
        {
            "normalize": True,
            "weights": random.random(tokens).astype(np.float32),
            "token_mapping": random.integers(0, 500, tokens),
        },
    )


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(tool, tokenizer_file, folder):
    tokenizer = Tokenizer.from_file(tokenizer_file)
    folder = pathlib.Path(folder)
    lines = "".join(text + "\n" for text in TEXTS)
    failed = 0
    for number, (name, rows, options) in enumerate(tables(tokenizer.get_vocab_size())):
        saved = folder / f"table{number}"
        StaticModel(rows, tokenizer, **options).save_pretrained(saved)
        expected = StaticModel.from_pretrained(saved).encode(TEXTS).astype(np.float64)
        run(tool, "convert", saved, "-o", folder / "static.emb")
        subprocess.run(
            [tool, "embed", folder / "static.emb", "--npy", folder / "static.npy"], input=lines, text=True, check=True
        )
        found = np.load(folder / "static.npy").astype(np.float64)
        lengths = np.linalg.norm(expected, axis=1), np.linalg.norm(found, axis=1)
        known = lengths[0] > 0
        cosines = (expected * found).sum(1)[known] / lengths[0][known] / lengths[1][known]
        good = cosines.min() >= LEAST_COSINE and not lengths[1][~known].any()
        failed += not good
        print(
            f"{name}: cosine mean {cosines.mean():.6f}, worst {cosines.min():.6f}, {(~known).sum()} texts of zeros{'' if good else ' FAILED'}"
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
