# SPDX-License-Identifier: Apache-2.0
"""BERT-family encoders in int8: sentence vectors, labels, entities and answers, with the same bits on every processor."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, List

if TYPE_CHECKING:
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

# A name's module is imported when the name is first used: all of them together take 15 ms, `import embert` alone 1 ms.
_MODULES = {
    "CrossEncoder": "._cross_encoder",
    "Encoding": "._tokenizer",
    "ModelFileError": "._binding.errors",
    "SentenceTransformer": "._sentence_transformer",
    "Tokenizer": "._tokenizer",
    "convert": "._convert",
    "inspect": "._convert",
    "pipeline": "._pipelines",
    "verify": "._convert",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version  # takes longer than the rest of the import

        return version("embert")
    if name not in _MODULES:
        raise AttributeError(f"module 'embert' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name], __name__), name)
    return value


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__, "__version__"})
