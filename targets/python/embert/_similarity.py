# SPDX-License-Identifier: Apache-2.0
"""Similarities between vectors, as sentence-transformers computes them, in numpy."""

from typing import Any, Callable, Dict, Optional

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
_SMALLEST_NORM = 1e-12


def _rows(vectors: Any) -> Floats:
    rows = np.asarray(vectors, np.float32)
    return rows[np.newaxis] if rows.ndim == 1 else rows


def _unit(rows: Floats) -> Floats:
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.maximum(norms, _SMALLEST_NORM), np.float32)


def _cosine(a: Floats, b: Floats) -> Floats:
    return np.asarray(_unit(a) @ _unit(b).T)


def _dot(a: Floats, b: Floats) -> Floats:
    return np.asarray(a @ b.T)


def _distances(a: Floats, b: Floats, order: int) -> Floats:
    result = np.empty((len(a), len(b)), np.float32)
    for i, row in enumerate(a):  # one row at a time needs no array [a][b][dimensions]
        result[i] = -np.linalg.norm(b - row, order, axis=1)
    return result


_FUNCTIONS: Dict[str, Callable[[Floats, Floats], Floats]] = {
    "cosine": _cosine,
    "dot": _dot,
    "euclidean": lambda a, b: _distances(a, b, 2),
    "manhattan": lambda a, b: _distances(a, b, 1),
}
_PAIRWISE: Dict[str, Callable[[Floats, Floats], Floats]] = {
    "cosine": lambda a, b: np.asarray(np.sum(_unit(a) * _unit(b), axis=-1)),
    "dot": lambda a, b: np.asarray(np.sum(a * b, axis=-1)),
    "euclidean": lambda a, b: np.asarray(-np.linalg.norm(a - b, 2, axis=-1)),
    "manhattan": lambda a, b: np.asarray(-np.linalg.norm(a - b, 1, axis=-1)),
}


def checked_name(name: Optional[Any]) -> str:
    """Returns the name of a similarity; None is cosine. Takes the enum of sentence-transformers, too."""
    text = getattr(name, "value", name)
    if text is None:
        return "cosine"
    if not isinstance(text, str) or text not in _FUNCTIONS:
        raise ValueError(f"similarity_fn_name={text!r}: embert has {', '.join(_FUNCTIONS)}")
    return str(text)


def similarity(name: str, a: Any, b: Any) -> Floats:
    """Of each vector of a with each of b: shape (len(a), len(b))."""
    return _FUNCTIONS[name](_rows(a), _rows(b))


def similarity_pairwise(name: str, a: Any, b: Any) -> Floats:
    """Of a[i] with b[i]: shape (len(a),)."""
    return _PAIRWISE[name](np.asarray(a, np.float32), np.asarray(b, np.float32))
