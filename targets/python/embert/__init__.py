# SPDX-License-Identifier: Apache-2.0
"""BERT-family encoders in int8: sentence vectors, labels, entities and answers, with the same bits on every processor."""

from ._binding.errors import ModelFileError
from ._convert import convert, inspect, verify
from ._cross_encoder import CrossEncoder
from ._pipelines import pipeline
from ._sentence_transformer import SentenceTransformer
from ._tokenizer import Encoding, Tokenizer

__all__ = [
    "CrossEncoder",
    "Encoding",
    "ModelFileError",
    "SentenceTransformer",
    "Tokenizer",
    "convert",
    "inspect",
    "pipeline",
    "verify",
]


def __getattr__(name: str) -> str:
    if name == "__version__":
        from importlib.metadata import version  # takes longer than the rest of the import

        return version("embert")
    raise AttributeError(f"module 'embert' has no attribute {name!r}")
