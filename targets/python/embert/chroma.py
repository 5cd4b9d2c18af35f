# SPDX-License-Identifier: Apache-2.0
"""Chroma: the embedding function "embert". Needs chromadb.

    from embert.chroma import EmbertEmbeddingFunction
    collection = client.create_collection("notes", embedding_function=EmbertEmbeddingFunction("minilm.emb"))

Chroma keeps the name and the configuration with the collection. A later process that imports
embert.chroma gets the collection with this function, without naming it again.
"""

import os
from typing import Any, Dict, List, Optional, Union

from chromadb.api.types import Documents, EmbeddingFunction, Embeddings, Space
from chromadb.utils.embedding_functions import register_embedding_function

import embert

__all__ = ["EmbertEmbeddingFunction"]

# get_config() has these keys: the arguments of the constructor, with their types.
CONFIG_TYPES = {"model": (str,), "threads": (int, type(None)), "truncate_dim": (int, type(None))}


@register_embedding_function
class EmbertEmbeddingFunction(EmbeddingFunction[Documents]):
    """Documents get the model's document prompt and queries its query prompt, if it has them.

    `model` is the path of a model file or of a Hugging Face folder.
    """

    def __init__(
        self,
        model: Union[str, "os.PathLike[str]"],
        *,
        threads: Optional[int] = None,
        truncate_dim: Optional[int] = None,
    ) -> None:
        self.model = os.fspath(model)
        self.threads = threads
        self.truncate_dim = truncate_dim
        self._opened = embert.SentenceTransformer(self.model, threads=threads)

    def __call__(self, input: Documents) -> Embeddings:
        """A float32 vector of [dimension] for each text."""
        return list(self._opened.encode_document(list(input), truncate_dim=self.truncate_dim))

    def embed_query(self, input: Documents) -> Embeddings:
        """The same for questions."""
        return list(self._opened.encode_query(list(input), truncate_dim=self.truncate_dim))

    @staticmethod
    def name() -> str:
        return "embert"

    def default_space(self) -> Space:
        """Vectors of sentence models are compared by their cosine."""
        return "cosine"

    def supported_spaces(self) -> List[Space]:
        return ["cosine", "l2", "ip"]

    def get_config(self) -> Dict[str, Any]:
        return {"model": self.model, "threads": self.threads, "truncate_dim": self.truncate_dim}

    @staticmethod
    def build_from_config(config: Dict[str, Any]) -> "EmbertEmbeddingFunction":
        EmbertEmbeddingFunction.validate_config(config)
        return EmbertEmbeddingFunction(**config)

    @staticmethod
    def validate_config(config: Dict[str, Any]) -> None:
        """Raises ValueError for a configuration that get_config() did not make."""
        if "model" not in config:
            raise ValueError("embert: the configuration has no model, the path of a model file or folder")
        for key, value in config.items():
            if key not in CONFIG_TYPES:
                raise ValueError(f"embert: the configuration has an unknown key {key}; known are {', '.join(CONFIG_TYPES)}")
            if not isinstance(value, CONFIG_TYPES[key]):
                raise ValueError(f"embert: {key} of the configuration has the type {type(value).__name__}")

    def validate_config_update(self, old_config: Dict[str, Any], new_config: Dict[str, Any]) -> None:
        """The path may change, as files move; the width of the vectors may not."""
        self.validate_config(new_config)
        if old_config.get("truncate_dim") != new_config.get("truncate_dim"):
            raise ValueError(
                "embert: truncate_dim of a collection is fixed, as its vectors have that width; make a new collection"
            )
