# SPDX-License-Identifier: Apache-2.0
"""Lists of str as the library reads them: all bytes in one object, and where each text begins and ends."""

from typing import Any, Iterable, List, Sequence, Tuple

import numpy as np
import numpy.typing as npt

Packed = Tuple[bytes, "npt.NDArray[np.uint64]"]


def pack(texts: Sequence[str], name: str) -> Packed:
    """Returns the UTF-8 of all texts, joined, and the offsets [count + 1]. `name` is the argument in messages."""
    try:
        encoded = list(map(str.encode, texts))
    except (TypeError, UnicodeEncodeError):
        raise _bad_text(texts, name) from None
    offsets = np.zeros(len(encoded) + 1, np.uint64)
    np.cumsum(np.fromiter(map(len, encoded), np.uint64, len(encoded)), out=offsets[1:])
    return b"".join(encoded), offsets


def check_text(text: Any, name: str) -> None:
    """Refuses what is no str, and lone surrogates."""
    if not isinstance(text, str):
        raise TypeError(f"{name} is {_kind(text)}: give a str")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{name} has a lone surrogate U+{ord(text[error.start]):04X} at character {error.start}: it is no text; "
            'decode the bytes with errors="replace", or remove it'
        ) from None


def _bad_text(texts: Sequence[Any], name: str) -> Exception:
    for index, text in enumerate(texts):
        try:
            check_text(text, f"{name}[{index}]")
        except (TypeError, ValueError) as error:
            return error
    return TypeError(f"{name}: the texts changed while they were read")


def _kind(value: object) -> str:
    if value is None:
        return "None"
    name = type(value).__name__
    return ("an " if name[0] in "aeiou" else "a ") + name


def as_list(texts: Any, name: str) -> Tuple[List[Any], bool]:
    """Returns the items, and whether the argument was a single str. Takes lists, tuples, arrays and what can be iterated."""
    if isinstance(texts, np.ndarray):
        texts = texts.tolist()
    if isinstance(texts, str):
        return [texts], True
    if isinstance(texts, (list, tuple)):
        return list(texts), False
    if isinstance(texts, (bytes, bytearray, memoryview, dict)) or not isinstance(texts, Iterable):
        raise TypeError(f"{name} is {_kind(texts)}: give a str or a list of str")
    return list(texts), False


def as_pairs(pairs: Sequence[Any], name: str) -> Tuple[List[Any], List[Any]]:
    """Returns first and second items of pairs."""
    first, second = [], []
    for index, pair in enumerate(pairs):
        if isinstance(pair, np.ndarray):
            pair = pair.tolist()
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            found = f"{len(pair)} items" if isinstance(pair, (list, tuple)) else _kind(pair)
            raise TypeError(f"{name}[{index}] is {found}: give a pair of str")
        for part, text in enumerate(pair):
            if not isinstance(text, str):
                raise TypeError(f"{name}[{index}][{part}] is {_kind(text)}: give a str")
        first.append(pair[0])
        second.append(pair[1])
    return first, second
