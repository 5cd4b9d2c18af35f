# SPDX-License-Identifier: Apache-2.0
"""Forms of a vector. None depends on the other vectors of a call."""

from typing import Any, NamedTuple

import numpy as np


class Form(NamedTuple):
    format: int  # embert_vector_format
    dtype: Any


_FORMS = {
    ("float32", "msb"): Form(0, np.float32),
    ("int8", "msb"): Form(2, np.int8),
    ("int8-unit", "msb"): Form(3, np.int8),
    ("ubinary", "msb"): Form(4, np.uint8),
    ("binary", "msb"): Form(5, np.int8),
    ("ubinary", "lsb"): Form(6, np.uint8),
}


def form_of(precision: object, bit_order: object) -> Form:
    """Returns the form for the arguments of `encode`."""
    if isinstance(precision, str) and precision == "uint8":
        raise ValueError(
            'precision="uint8": sentence-transformers takes its ranges from the batch, so that a text gets other bytes in another '
            'batch; use "int8", "int8-unit" or "ubinary", which depend on the text alone'
        )
    if precision is None:
        precision = "float32"
    if not isinstance(precision, str) or precision not in {name for name, _ in _FORMS}:
        known = ", ".join(dict.fromkeys(name for name, _ in _FORMS))
        raise ValueError(f"precision={precision!r}: embert has {known}")
    if not isinstance(bit_order, str) or bit_order not in ("msb", "lsb"):
        raise ValueError(f'bit_order={bit_order!r}: give "msb", the first value in the highest bit, or "lsb"')
    if (precision, bit_order) not in _FORMS:
        raise ValueError(f'bit_order="lsb" goes with precision="ubinary", as sqlite-vec packs bits, and not with {precision!r}')
    return _FORMS[str(precision), str(bit_order)]
