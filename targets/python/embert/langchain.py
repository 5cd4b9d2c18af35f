# SPDX-License-Identifier: Apache-2.0
"""LangChain: EmbertEmbeddings goes wherever LangChain takes Embeddings.

    from embert.langchain import EmbertEmbeddings
    store = InMemoryVectorStore(EmbertEmbeddings("minilm.emb"))

Needs langchain-core.
"""

import os
from typing import List, Optional, Union

from langchain_core.embeddings import Embeddings

import embert

__all__ = ["EmbertEmbeddings"]


class EmbertEmbeddings(Embeddings):
    """Documents get the model's document prompt and queries its query prompt, if it has them.

    `model` is a model file, a Hugging Face folder, or an embert.SentenceTransformer that is open
    already. The async methods of LangChain run these in a thread, which leaves the event loop free.
    """

    def __init__(
        self,
        model: Union[str, "os.PathLike[str]", embert.SentenceTransformer],
        *,
        threads: Optional[int] = None,
        truncate_dim: Optional[int] = None,
    ) -> None:
        if not isinstance(model, embert.SentenceTransformer):
            model = embert.SentenceTransformer(model, threads=threads)
        elif threads is not None:
            raise ValueError("threads: the model is open already; give its threads when opening it")
        self.model = model
        self.truncate_dim = truncate_dim

    def embed_documents(self, texts: List[str]) -> List[List[float]]:
        """A vector of [dimension] for each text."""
        vectors = self.model.encode_document(list(texts), truncate_dim=self.truncate_dim)
        return vectors.tolist()

    def embed_query(self, text: str) -> List[float]:
        """The vector of [dimension] of a question."""
        vector = self.model.encode_query(text, truncate_dim=self.truncate_dim)
        return vector.tolist()
