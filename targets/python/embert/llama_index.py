# SPDX-License-Identifier: Apache-2.0
"""LlamaIndex: EmbertEmbedding is an embed_model.

    from embert.llama_index import EmbertEmbedding
    index = VectorStoreIndex.from_documents(documents, embed_model=EmbertEmbedding("minilm.emb"))

Needs llama-index-core.
"""

import asyncio
import os
from typing import Any, Dict, List, Optional, Union

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import Field, PrivateAttr

import embert

__all__ = ["EmbertEmbedding"]


class EmbertEmbedding(BaseEmbedding):
    """Texts get the model's document prompt and queries its query prompt, if it has them.

    `model_name` is the path of a model file or of a Hugging Face folder; to_dict() and pickle keep
    the path and open it again. `embed_batch_size` is only how many texts LlamaIndex hands over at
    once: it changes no vector and no memory of the model.
    """

    threads: Optional[int] = Field(default=None, description="Texts computed at once; None: one a processor.", ge=1)
    truncate_dim: Optional[int] = Field(default=None, description="The first N dimensions; None: all.", ge=1)
    _model: embert.SentenceTransformer = PrivateAttr()

    def __init__(
        self,
        model_name: Union[str, "os.PathLike[str]"],
        *,
        threads: Optional[int] = None,
        truncate_dim: Optional[int] = None,
        embed_batch_size: int = 1024,
        **kwargs: Any,
    ) -> None:
        # pydantic sets the fields of this class, too, which a type checker does not see.
        fields: Dict[str, Any] = {"threads": threads, "truncate_dim": truncate_dim}
        super().__init__(model_name=os.fspath(model_name), embed_batch_size=embed_batch_size, **fields, **kwargs)
        self._model = embert.SentenceTransformer(self.model_name, threads=threads)

    @classmethod
    def class_name(cls) -> str:
        return "EmbertEmbedding"

    def _get_text_embeddings(self, texts: List[str]) -> List[List[float]]:
        vectors = self._model.encode_document(texts, truncate_dim=self.truncate_dim)
        return vectors.tolist()

    def _get_text_embedding(self, text: str) -> List[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> List[float]:
        vector = self._model.encode_query(query, truncate_dim=self.truncate_dim)
        return vector.tolist()

    # Each async method runs its sibling in a thread: the event loop goes on meanwhile.
    async def _aget_text_embeddings(self, texts: List[str]) -> List[List[float]]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)

    async def _aget_text_embedding(self, text: str) -> List[float]:
        return await asyncio.to_thread(self._get_text_embedding, text)

    async def _aget_query_embedding(self, query: str) -> List[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)
