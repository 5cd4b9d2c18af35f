# SPDX-License-Identifier: Apache-2.0
"""Haystack: a component that embeds queries and one that embeds documents. Needs haystack-ai.

    from embert.haystack import EmbertDocumentEmbedder, EmbertTextEmbedder
    indexing.add_component("embedder", EmbertDocumentEmbedder("minilm.emb"))
    query.add_component("embedder", EmbertTextEmbedder("minilm.emb"))

Haystack loads components of other packages from YAML only if it is told to trust them:
Pipeline.loads(text, allowed_modules=["embert.haystack"]).
"""

import os
from dataclasses import replace
from typing import Any, Dict, List, Optional, Union

from haystack import Document, component, default_from_dict, default_to_dict

import embert

__all__ = ["EmbertDocumentEmbedder", "EmbertTextEmbedder"]


@component
class EmbertTextEmbedder:
    """One text in, its vector out, with the model's query prompt if it has one.

    `model` is the path of a model file or of a Hugging Face folder. The first run opens it, or
    warm_up() before that.
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
        self._opened: Optional[embert.SentenceTransformer] = None

    def warm_up(self) -> None:
        """Opens the model, once."""
        if self._opened is None:
            self._opened = embert.SentenceTransformer(self.model, threads=self.threads)

    def to_dict(self) -> Dict[str, Any]:
        """What a pipeline writes to YAML: the path and the options."""
        return default_to_dict(self, model=self.model, threads=self.threads, truncate_dim=self.truncate_dim)

    @classmethod
    def from_dict(cls, data: Dict[str, Any]) -> "EmbertTextEmbedder":
        """The component that to_dict() described; the model stays closed."""
        return default_from_dict(cls, data)

    @component.output_types(embedding=List[float])
    def run(self, text: str) -> Dict[str, Any]:
        """embedding: [dimension]."""
        if not isinstance(text, str):
            raise TypeError(
                f"text: a string is expected, found {type(text).__name__}; documents are for EmbertDocumentEmbedder"
            )
        self.warm_up()
        assert self._opened is not None
        return {"embedding": self._opened.encode_query(text, truncate_dim=self.truncate_dim).tolist()}


@component
class EmbertDocumentEmbedder:
    """Documents in, the same documents with their vectors out; the documents given stay as they are.

    What is embedded is the values of `meta_fields_to_embed` and the content, joined by
    `embedding_separator`, with the model's document prompt if it has one.
    """

    def __init__(
        self,
        model: Union[str, "os.PathLike[str]"],
        *,
        threads: Optional[int] = None,
        truncate_dim: Optional[int] = None,
        meta_fields_to_embed: Optional[List[str]] = None,
        embedding_separator: str = "\n",
        progress_bar: bool = False,
    ) -> None:
        self.model = os.fspath(model)
        self.threads = threads
        self.truncate_dim = truncate_dim
        self.meta_fields_to_embed = meta_fields_to_embed or []
        self.embedding_separator = embedding_separator
        self.progress_bar = progress_bar
        self._opened: Optional[embert.SentenceTransformer] = None

    def warm_up(self) -> None:
        """Opens the model, once."""
        if self._opened is None:
            self._opened = embert.SentenceTransformer(self.model, threads=self.threads)

    def to_dict(self) -> Dict[str, Any]:
        """What a pipeline writes to YAML: the path and the options."""
        return default_to_dict(
            self,
            model=self.model,
            threads=self.threads,
            truncate_dim=self.truncate_dim,
            meta_fields_to_embed=self.meta_fields_to_embed,
            embedding_separator=self.embedding_separator,
            progress_bar=self.progress_bar,
        )

    @classmethod
    def from_dict(cls, data: Dict[str, Any]) -> "EmbertDocumentEmbedder":
        """The component that to_dict() described; the model stays closed."""
        return default_from_dict(cls, data)

    def _text(self, document: Document) -> str:
        fields = [document.meta.get(field) for field in self.meta_fields_to_embed]
        return self.embedding_separator.join([*(str(field) for field in fields if field is not None), document.content or ""])

    @component.output_types(documents=List[Document])
    def run(self, documents: List[Document]) -> Dict[str, Any]:
        """documents: the same, in order, each with an embedding of [dimension]."""
        for index, document in enumerate(documents):
            if not isinstance(document, Document):
                raise TypeError(
                    f"documents[{index}]: a Document is expected, found {type(document).__name__}; "
                    "a query is for EmbertTextEmbedder"
                )
        self.warm_up()
        assert self._opened is not None
        vectors = self._opened.encode_document(
            [self._text(document) for document in documents],
            show_progress_bar=self.progress_bar,
            truncate_dim=self.truncate_dim,
        )
        return {"documents": [replace(document, embedding=vector.tolist()) for document, vector in zip(documents, vectors)]}
