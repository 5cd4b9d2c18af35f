#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes vectors.json: what the modules Pooling and Dense of sentence-transformers make of random hidden states.

python make_vectors.py > vectors.json      # needs torch and sentence-transformers (made with 2.14.1 and 5.7.0)
"""

import json
import sys

import torch
from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling

HIDDEN = 4
LENGTHS = [1, 2, 7, 30]
MODES = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
CHAINS = [[mode] for mode in MODES] + [list(MODES), ["lasttoken", "cls", "mean"]]
ACTIVATIONS = {
    "Tanh": torch.nn.Tanh,
    "Identity": torch.nn.Identity,
    "ReLU": torch.nn.ReLU,
    "GELU": torch.nn.GELU,
    "SiLU": torch.nn.SiLU,
}


def rounded(tensor):
    return [float(f"{value:.8g}") for value in tensor.flatten().tolist()]


def main():
    torch.manual_seed(15)
    states = [torch.randn(length, HIDDEN) * 3 for length in LENGTHS]
    cases = []
    for number, poolings in enumerate(CHAINS):
        name = list(ACTIVATIONS)[number % len(ACTIVATIONS)]
        dense = Dense(HIDDEN * len(poolings), 5, bias=number % 2 == 0, activation_function=ACTIVATIONS[name]())
        normalize = number % 3 == 1
        modules = [Pooling(HIDDEN, poolings)] + ([Normalize()] if normalize else []) + [dense]
        vectors, pooled = [], []
        for rows in states:
            features = {"token_embeddings": rows[None], "attention_mask": torch.ones(1, len(rows), dtype=torch.int64)}
            for module in modules:
                features = module(features)
                if isinstance(module, Pooling):
                    pooled += rounded(features["sentence_embedding"])
            vectors += rounded(features["sentence_embedding"])
        bias = dense.linear.bias if dense.bias else torch.zeros(5)
        cases.append(
            {
                "poolings": poolings,
                "normalize_input": normalize,
                "activation": name,
                "weight": rounded(dense.linear.weight),
                "bias": rounded(bias),
                "pooled": pooled,
                "vectors": vectors,
            }
        )
    json.dump(
        {"hidden": HIDDEN, "lengths": LENGTHS, "states": [v for s in states for v in rounded(s)], "cases": cases},
        sys.stdout,
        indent=None,
    )
    print()


if __name__ == "__main__":
    with torch.no_grad():
        main()
