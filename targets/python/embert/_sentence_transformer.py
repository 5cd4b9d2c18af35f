# SPDX-License-Identifier: Apache-2.0
"""Sentence vectors, with the interface of sentence-transformers 5."""

import ctypes
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _similarity
from ._binding import library
from ._binding.handle import Texts
from ._binding.texts import as_list, check_text, pack
from ._model import Model, StrPath, positive, require_task
from ._precision import Form, form_of
from ._progress import Bar, wanted
from ._refuse import ENCODE, OPEN, refuse
from ._tokenizer import Tokenizer

Sentences = Union[str, Sequence[str], "npt.NDArray[Any]"]


class SentenceTransformer(Model):
    """A model that makes a vector of a text.

    `path` is a model file (`embert.convert`, `embert convert`) or a Hugging Face folder, which is converted once into
    `cache_folder` (default: XDG_CACHE_HOME/embert, else ~/.cache/embert). `threads` is how many texts are computed at the same
    time (default: one for each processor). `prompts` are added to those of the model; a prompt that is given in both is taken
    from here.
    """

    def __init__(
        self,
        path: StrPath,
        *,
        threads: Optional[int] = None,
        prompts: Optional[Mapping[str, str]] = None,
        default_prompt_name: Optional[str] = None,
        similarity_fn_name: Optional[str] = None,
        truncate_dim: Optional[int] = None,
        cache_folder: Optional[StrPath] = None,
        **torch_arguments: Any,
    ) -> None:
        refuse("SentenceTransformer()", torch_arguments, OPEN)
        self._similarity_fn_name = _similarity.checked_name(similarity_fn_name)
        super().__init__(path, threads=threads, cache_folder=cache_folder)
        require_task(self, "embed", SentenceTransformer)
        self._dimension: int = self.info["header"]["vector_size"]
        try:
            self.truncate_dim = truncate_dim
            self.prompts = self._merged_prompts(prompts)
            self.default_prompt_name: Optional[str] = default_prompt_name or self.info.get("default_prompt_name")
            if self.default_prompt_name is not None:
                self._prompt_named(self.default_prompt_name)
        except BaseException:
            self.close()
            raise

    def _merged_prompts(self, prompts: Optional[Mapping[str, str]]) -> Dict[str, str]:
        # As in sentence-transformers, these two names are always there.
        merged = {"query": "", "document": "", **(self.info.get("prompts") or {})}
        if not isinstance(prompts, (Mapping, type(None))):
            raise TypeError(f"prompts is {prompts!r}: give a dict of names and texts")
        for name, text in (prompts or {}).items():
            check_text(name, "a name of prompts")
            merged[name] = _checked_prompt(text, f"prompts[{name!r}]")
        return merged

    # ---- Vectors ----------------------------------------------------------------------------------------------------

    def encode(
        self,
        sentences: Sentences,
        *,
        prompt_name: Optional[str] = None,
        prompt: Optional[str] = None,
        batch_size: int = 32,
        show_progress_bar: Optional[bool] = None,
        precision: str = "float32",
        convert_to_numpy: bool = True,
        normalize_embeddings: bool = False,
        truncate_dim: Optional[int] = None,
        bit_order: str = "msb",
        **torch_arguments: Any,
    ) -> "npt.NDArray[Any]":
        """Returns the vector of a str, shape (dimensions,), or those of a list, shape (len(sentences), dimensions).

        `prompt`, else the prompt of `prompt_name`, else the default prompt is put before each text. `truncate_dim` cuts a
        vector; cut vectors of a model that makes vectors of length 1 have length 1 again. `precision`:

        - "float32"
        - "int8": each vector scaled by its largest magnitude to -127..127
        - "int8-unit": [-1, 1] mapped to -128..127 as sqlite-vec's vec_quantize_int8(v, 'unit'); for vectors of length 1
        - "ubinary": a bit a dimension, 1 above 0, packed as numpy.packbits; with bit_order="lsb" as sqlite-vec
        - "binary": the same bytes minus 128, as sentence-transformers packs them

        A text gets the same bytes whatever the batch, the threads and the machine. Differences to sentence-transformers: an
        empty list gives shape (0, dimensions), and int8 does not take its ranges from the texts of the call.
        """
        refuse("encode()", {"convert_to_numpy": convert_to_numpy, **torch_arguments}, ENCODE)
        form = form_of(precision, bit_order)
        batch = positive("batch_size", batch_size)
        items, is_single = as_list(sentences, "sentences")
        packed = pack(items, "sentences")
        options = library.VectorOptions(
            size=ctypes.sizeof(library.VectorOptions),
            normalize=1 if normalize_embeddings else 0,
            dimensions=self._checked_dim(truncate_dim) or self._truncate_dim or 0,
            format=form.format,
            prompt=self._prompt(prompt, prompt_name).encode(),
        )
        vectors = self._vectors(Texts(packed, batch_size=batch), options, form, wanted(show_progress_bar))
        return vectors[0] if is_single else vectors

    def _vectors(self, texts: Texts, options: library.VectorOptions, form: Form, is_shown: bool) -> "npt.NDArray[Any]":
        vector_bytes = ctypes.c_size_t()
        with self._handle as pointer:
            library.check(library.hosted_vector_bytes(pointer, ctypes.byref(options), ctypes.byref(vector_bytes)))
        vectors = np.empty((texts.count, vector_bytes.value // np.dtype(form.dtype).itemsize), form.dtype)
        if texts.count == 0:
            return vectors
        bar = Bar("Texts", is_shown)
        try:
            self._handle.run(
                texts,
                lambda model, struct: int(
                    library.hosted_embed(model, struct, ctypes.byref(options), vectors.ctypes.data, vectors.nbytes)
                ),
                (lambda done, total: bar.show(done, total, f"{done:,}/{total:,}")) if is_shown else None,
            )
        finally:
            bar.end()
        return vectors

    def encode_query(
        self, sentences: Sentences, *, prompt_name: Optional[str] = None, prompt: Optional[str] = None, **arguments: Any
    ) -> "npt.NDArray[Any]":
        """`encode` with the prompt "query" of the model, if it has one."""
        return self._encode_as(["query"], sentences, prompt_name, prompt, arguments)

    def encode_document(
        self, sentences: Sentences, *, prompt_name: Optional[str] = None, prompt: Optional[str] = None, **arguments: Any
    ) -> "npt.NDArray[Any]":
        """`encode` with the first of the prompts "document", "passage" and "corpus" that the model has."""
        return self._encode_as(["document", "passage", "corpus"], sentences, prompt_name, prompt, arguments)

    def _encode_as(
        self,
        names: List[str],
        sentences: Sentences,
        prompt_name: Optional[str],
        prompt: Optional[str],
        arguments: Dict[str, Any],
    ) -> "npt.NDArray[Any]":
        if prompt is None and prompt_name is None:
            # Without such a prompt there is none, also no default prompt.
            prompt = next((self.prompts[name] for name in names if self.prompts.get(name)), "")
        return self.encode(sentences, prompt_name=prompt_name, prompt=prompt, **arguments)

    # ---- Prompts ----------------------------------------------------------------------------------------------------

    def _prompt_named(self, name: str) -> str:
        if not isinstance(name, str) or name not in self.prompts:
            raise ValueError(f"prompt_name={name!r}: {self.path} has {', '.join(map(repr, self.prompts))}")
        return self.prompts[name]

    def _prompt(self, prompt: Optional[str], name: Optional[str]) -> str:
        if prompt is None:
            name = self.default_prompt_name if name is None else name
            prompt = "" if name is None else self._prompt_named(name)
        return _checked_prompt(prompt, "prompt")

    # ---- Sizes ------------------------------------------------------------------------------------------------------

    @property
    def truncate_dim(self) -> Optional[int]:
        return self._truncate_dim

    @truncate_dim.setter
    def truncate_dim(self, value: Optional[int]) -> None:
        self._truncate_dim = self._checked_dim(value)

    def _checked_dim(self, value: Optional[int]) -> Optional[int]:
        if value is None:
            return None
        if positive("truncate_dim", value) > self._dimension:
            raise ValueError(f"truncate_dim={value}: the vectors of {self.path} have {self._dimension} dimensions")
        return int(value)

    def get_sentence_embedding_dimension(self) -> int:
        """Dimensions of a vector as `encode` makes it without `truncate_dim`."""
        return self._truncate_dim or self._dimension

    def get_embedding_dimension(self) -> int:
        """The newer name of `get_sentence_embedding_dimension`."""
        return self.get_sentence_embedding_dimension()

    @property
    def max_seq_length(self) -> int:
        """The longest text in tokens; longer ones are cut. Setting it opens the file again."""
        return self._handle.max_tokens

    @max_seq_length.setter
    def max_seq_length(self, value: int) -> None:
        most = self.info["header"]["max_positions"]
        if positive("max_seq_length", value) > most:
            raise ValueError(f"max_seq_length={value}: {self.path} has {most} positions")
        self._set_max_tokens(int(value))

    def get_max_seq_length(self) -> int:
        return self.max_seq_length

    # ---- Similarity -------------------------------------------------------------------------------------------------

    @property
    def similarity_fn_name(self) -> str:
        """ "cosine", "dot", "euclidean" or "manhattan"; the last two are negative distances."""
        return self._similarity_fn_name

    @similarity_fn_name.setter
    def similarity_fn_name(self, name: Optional[str]) -> None:
        self._similarity_fn_name = _similarity.checked_name(name)

    def similarity(self, embeddings1: Any, embeddings2: Any) -> "npt.NDArray[np.float32]":
        """Similarity of each vector of the first with each of the second, shape (len(embeddings1), len(embeddings2))."""
        return _similarity.similarity(self._similarity_fn_name, embeddings1, embeddings2)

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> "npt.NDArray[np.float32]":
        """Similarity of embeddings1[i] with embeddings2[i], shape (len(embeddings1),)."""
        return _similarity.similarity_pairwise(self._similarity_fn_name, embeddings1, embeddings2)

    # ---- Tokens -----------------------------------------------------------------------------------------------------

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer; it closes with the model."""
        return Tokenizer._of(self)

    def tokenize(self, texts: Sentences) -> Dict[str, "npt.NDArray[np.int64]"]:
        """Returns input_ids, token_type_ids and attention_mask, each [len(texts)][tokens of the longest]."""
        encodings = self.tokenizer.encode_batch(as_list(texts, "texts")[0])
        shape = (len(encodings), max((len(encoding.ids) for encoding in encodings), default=0))
        names = {"input_ids": "ids", "token_type_ids": "type_ids", "attention_mask": "attention_mask"}
        padding = {"input_ids": (self.info["tokenizer"] or {}).get("pad_id") or 0}
        arrays = {name: np.full(shape, padding.get(name, 0), np.int64) for name in names}
        for row, encoding in enumerate(encodings):
            for name, attribute in names.items():
                values = getattr(encoding, attribute)
                arrays[name][row, : len(values)] = values
        return arrays


def _checked_prompt(text: Any, name: str) -> str:
    """Refuses what the library cannot put before a text: it takes a prompt up to its first zero."""
    check_text(text, name)
    if "\0" in text:
        raise ValueError(f"{name} has a zero character; remove it")
    return str(text)
