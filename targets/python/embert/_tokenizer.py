# SPDX-License-Identifier: Apache-2.0
"""The tokenizer of a model, with the fields of the tokenizers package."""

import ctypes
from typing import Any, Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np

from ._binding import library
from ._binding.texts import as_list, as_pairs, check_text, pack
from ._model import Model, StrPath, positive

_NO_TRUNCATION = 0
_LONGEST_FIRST = 1
_FIRST_CAPACITY = 512

Offsets = List[Tuple[int, int]]
TextOrPair = Union[str, Tuple[str, str], List[str]]


class Encoding:
    """The tokens of a text or a pair. A special token has the offsets (0, 0) and the word id None."""

    __slots__ = ("ids", "type_ids", "tokens", "offsets", "byte_offsets", "word_ids", "sequence_ids", "attention_mask")

    def __init__(self, ids: List[int], type_ids: List[int], tokens: List[str]) -> None:
        self.ids = ids
        self.type_ids = type_ids
        self.tokens = tokens
        self.offsets: Offsets = []  # in characters: text[begin:end]
        self.byte_offsets: Offsets = []  # in the bytes of UTF-8
        self.word_ids: List[Optional[int]] = []
        self.sequence_ids: List[Optional[int]] = []
        self.attention_mask = [1] * len(ids)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Encoding(num_tokens={len(self)}, tokens={self.tokens})"


class Tokenizer:
    """Text to tokens and back. `path` is a model file or a Hugging Face folder, as for SentenceTransformer.

    Ids, offsets and word ids are those of Hugging Face's fast tokenizer. Texts longer than `max_length` tokens (default: the
    model's length) are cut, of a pair the longer one first.
    """

    def __init__(self, path: StrPath, *, max_length: Optional[int] = None, cache_folder: Optional[StrPath] = None) -> None:
        self._begin(
            Model(
                path,
                threads=1,
                max_tokens=0 if max_length is None else positive("max_length", max_length),
                cache_folder=cache_folder,
            )
        )

    def _begin(self, model: Model) -> None:
        self._model = model
        facts = model.info["tokenizer"]
        if facts is None:
            raise ValueError(f"{model.path}: the model was converted without a tokenizer")
        self._token_count: int = facts["tokens"]

    @classmethod
    def _of(cls, model: Model) -> "Tokenizer":
        """Returns the tokenizer of an opened model."""
        tokenizer = cls.__new__(cls)
        tokenizer._begin(model)
        return tokenizer

    def encode(
        self, text: str, pair: Optional[str] = None, *, add_special_tokens: bool = True, truncation: bool = True
    ) -> Encoding:
        """Returns the tokens of a text, or of a text and its pair."""
        texts, is_single = as_list(text, "text")
        if not is_single:
            raise TypeError("text is a list: use encode_batch")
        check_text(text, "text")
        if pair is not None:
            check_text(pair, "pair")
        return self._encode(texts[0], pair, add_special_tokens, truncation)

    def encode_batch(
        self, texts: Sequence[TextOrPair], *, add_special_tokens: bool = True, truncation: bool = True
    ) -> List[Encoding]:
        """Returns the tokens of each text; a tuple or list of two is a pair."""
        items, is_single = as_list(texts, "texts")
        if is_single:
            raise TypeError("texts is a str: use encode, or give a list")
        if any(isinstance(item, (tuple, list)) for item in items):
            first, second = as_pairs(items, "texts")
            pack(second, "texts")
        else:
            first, second = items, [None] * len(items)
        pack(first, "texts")
        return [self._encode(text, pair, add_special_tokens, truncation) for text, pair in zip(first, second)]

    def decode(self, ids: Iterable[int], skip_special_tokens: bool = True, clean_up_tokenization_spaces: bool = False) -> str:
        """Returns the text of ids: pieces of a word joined, a blank between words, none before . ? ! and a comma; with
        clean_up_tokenization_spaces none around apostrophes, either."""
        if not isinstance(ids, Iterable):
            raise TypeError(f"ids is {ids!r}: give a list of int")
        checked = []
        for index, token_id in enumerate(ids):
            if not isinstance(token_id, (int, np.integer)):
                raise TypeError(f"ids[{index}] is {token_id!r}: give an int")
            if not 0 <= token_id < self._token_count:
                raise ValueError(f"ids[{index}] is {token_id}: the vocabulary has {self._token_count} tokens")
            checked.append(token_id)
        if not checked:
            return ""
        array = np.array(checked, np.int32)
        options = library.DetokenizeOptions(
            size=ctypes.sizeof(library.DetokenizeOptions),
            skip_special=int(skip_special_tokens),
            clean_up=int(clean_up_tokenization_spaces),
        )
        text = library.TextBuffer(bytes=16 * array.size)
        with self._model._handle as pointer:
            model = library.hosted_model(pointer)
            status = library.STATUS_BUFFER_TOO_SMALL
            while status == library.STATUS_BUFFER_TOO_SMALL:
                room = ctypes.create_string_buffer(text.bytes)
                text = library.TextBuffer(text=ctypes.addressof(room), capacity=len(room))
                status = library.detokenize(model, array.ctypes.data, array.size, ctypes.byref(options), ctypes.byref(text))
        library.check_status(status, "ids")
        return room.raw[: text.bytes].decode("utf-8", "replace")

    def decode_batch(self, batch: Iterable[Iterable[int]], skip_special_tokens: bool = True) -> List[str]:
        return [self.decode(ids, skip_special_tokens) for ids in batch]

    def get_vocab_size(self) -> int:
        return self._token_count

    def close(self) -> None:
        """Frees the model; a second close does nothing."""
        self._model.close()

    def __enter__(self) -> "Tokenizer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _encode(self, text: str, pair: Optional[str], add_special_tokens: bool, truncation: bool) -> Encoding:
        text_bytes, pair_bytes = text.encode(), None if pair is None else pair.encode()
        given = library.TextOrPair(
            text=text_bytes, text_bytes=len(text_bytes), pair=pair_bytes, pair_bytes=len(pair_bytes or b"")
        )
        limit = self._model._handle.max_tokens if truncation else 0
        options = library.TokenizeOptions(
            size=ctypes.sizeof(library.TokenizeOptions),
            max_tokens=limit,
            add_special_tokens=int(add_special_tokens),
            truncation=_LONGEST_FIRST if truncation else _NO_TRUNCATION,
        )
        with self._model._handle as pointer:
            model = library.hosted_model(pointer)
            capacity = limit or _FIRST_CAPACITY
            while True:
                arrays = _TokenArrays(capacity)
                status = library.tokenize(model, ctypes.byref(given), ctypes.byref(options), ctypes.byref(arrays.struct))
                if status != library.STATUS_BUFFER_TOO_SMALL or arrays.struct.length <= capacity:
                    break
                capacity = arrays.struct.length
            library.check_status(status, "the text cannot be tokenised")
            ids = arrays.values("ids")
            return arrays.encoding([_token(model, token_id) for token_id in ids])


def _token(model: Any, token_id: int) -> str:
    string, size = ctypes.c_void_p(), ctypes.c_size_t()
    library.check_status(library.token(model, token_id, ctypes.byref(string), ctypes.byref(size)), f"token {token_id}")
    return ctypes.string_at(string, size.value).decode("utf-8", "replace") if size.value else ""


class _TokenArrays:
    """Room for the results of embert_tokenize, in one array: a row for each, offsets as two."""

    _ROWS = {"ids": 0, "type_ids": 1, "word_ids": 2, "sequence_ids": 3, "byte_offsets": 4, "char_offsets": 6}

    def __init__(self, capacity: int) -> None:
        self._values = np.zeros((8, capacity), np.int32)
        self.struct = library.Tokens(size=ctypes.sizeof(library.Tokens), capacity=capacity)
        for name, row in self._ROWS.items():
            setattr(self.struct, name, self._values[row].ctypes.data)

    def values(self, name: str) -> List[int]:
        row: List[int] = self._values[self._ROWS[name], : self.struct.length].tolist()
        return row

    def _offsets(self, name: str) -> Offsets:
        row = self._ROWS[name]
        pairs = self._values[row : row + 2].reshape(-1)[: 2 * self.struct.length]
        return list(zip(pairs[::2].tolist(), pairs[1::2].tolist()))

    def encoding(self, tokens: List[str]) -> Encoding:
        encoding = Encoding(self.values("ids"), self.values("type_ids"), tokens)
        encoding.offsets = self._offsets("char_offsets")
        encoding.byte_offsets = self._offsets("byte_offsets")
        encoding.word_ids = [None if word < 0 else word for word in self.values("word_ids")]
        encoding.sequence_ids = [None if text < 0 else text for text in self.values("sequence_ids")]
        return encoding
