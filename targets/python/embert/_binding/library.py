# SPDX-License-Identifier: Apache-2.0
"""The functions of libembert_hosted.so as ctypes calls them. Their meaning is in targets/hosted/embert_hosted.h."""

import ctypes
import os
from ctypes import POINTER, Structure, c_char_p, c_double, c_int, c_int32, c_size_t, c_uint32, c_void_p
from typing import Any, Callable

from .errors import exception_of

PROGRESS = ctypes.CFUNCTYPE(c_int, c_void_p, c_size_t, c_size_t)
STAGE = ctypes.CFUNCTYPE(c_int, c_void_p, c_char_p, c_double)


class OpenOptions(Structure):
    """embert_hosted_options"""

    _fields_ = [
        ("size", c_size_t),
        ("threads", c_uint32),
        ("max_tokens", c_uint32),
        ("isa", c_char_p),
        ("map", c_uint32),
        ("reserved", c_uint32),
    ]


class TextList(Structure):
    """embert_hosted_texts"""

    _fields_ = [
        ("size", c_size_t),
        ("count", c_size_t),
        ("bytes", c_char_p),
        ("offsets", c_void_p),
        ("pair_bytes", c_char_p),
        ("pair_offsets", c_void_p),
        ("progress", PROGRESS),
        ("progress_context", c_void_p),
        ("batch", c_uint32),
        ("reserved", c_uint32),
    ]


class VectorOptions(Structure):
    """embert_hosted_vector_options"""

    _fields_ = [
        ("size", c_size_t),
        ("pooling", c_uint32),
        ("normalize", c_uint32),
        ("dimensions", c_uint32),
        ("format", c_int),
        ("prompt", c_char_p),
        ("prompt_name", c_char_p),
        ("scale", c_void_p),
    ]


class Conversion(Structure):
    """embert_hosted_conversion"""

    _fields_ = [
        ("size", c_size_t),
        ("folder", c_char_p),
        ("output", c_char_p),
        ("options", c_char_p),
        ("progress", STAGE),
        ("progress_context", c_void_p),
    ]


class TextOrPair(Structure):
    """embert_text of embert.h"""

    _fields_ = [("text", c_char_p), ("text_bytes", c_size_t), ("pair", c_char_p), ("pair_bytes", c_size_t)]


class TokenizeOptions(Structure):
    """embert_tokenize_options of embert_tokenizer.h"""

    _fields_ = [
        ("size", c_size_t),
        ("max_tokens", c_int32),
        ("stride", c_int32),
        ("window", c_uint32),
        ("add_special_tokens", c_uint32),
        ("truncation", c_uint32),
        ("reserved", c_uint32),
    ]


class Tokens(Structure):
    """embert_tokens of embert_tokenizer.h"""

    _fields_ = [
        ("size", c_size_t),
        ("capacity", c_size_t),
        ("length", c_size_t),
        ("windows", c_uint32),
        ("ids", c_void_p),
        ("type_ids", c_void_p),
        ("byte_offsets", c_void_p),
        ("char_offsets", c_void_p),
        ("word_ids", c_void_p),
        ("sequence_ids", c_void_p),
    ]


class DetokenizeOptions(Structure):
    """embert_detokenize_options of embert_tokenizer.h"""

    _fields_ = [("size", c_size_t), ("skip_special", c_uint32), ("clean_up", c_uint32)]


class TextBuffer(Structure):
    """embert_text_buffer of embert_tokenizer.h"""

    _fields_ = [("text", c_void_p), ("capacity", c_size_t), ("bytes", c_size_t)]


def _load() -> ctypes.CDLL:
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = os.path.join(package, "libembert_hosted.so")
    if not os.path.exists(path):
        raise ImportError(
            f"{path} does not exist: this is the source folder of embert and not the installed package; "
            "run `pip install ./targets/python` in the repository, and start Python elsewhere"
        )
    return ctypes.CDLL(path)


_LIBRARY = _load()


def _function(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    function = getattr(_LIBRARY, name)
    function.restype = result
    function.argtypes = arguments
    return function  # type: ignore[no-any-return]


hosted_error = _function("embert_hosted_error", c_char_p)
hosted_open = _function("embert_hosted_open", c_int, c_char_p, POINTER(OpenOptions), POINTER(c_void_p))
hosted_close = _function("embert_hosted_close", None, c_void_p)
hosted_model = _function("embert_hosted_model", c_void_p, c_void_p)
hosted_threads = _function("embert_hosted_threads", c_uint32, c_void_p)
hosted_max_tokens = _function("embert_hosted_max_tokens", c_uint32, c_void_p)
hosted_vector_bytes = _function("embert_hosted_vector_bytes", c_int, c_void_p, POINTER(VectorOptions), POINTER(c_size_t))
hosted_embed = _function("embert_hosted_embed", c_int, c_void_p, POINTER(TextList), POINTER(VectorOptions), c_void_p, c_size_t)
hosted_score = _function("embert_hosted_score", c_int, c_void_p, POINTER(TextList), c_char_p, c_void_p)
hosted_run_task = _function("embert_hosted_run_task", c_int, c_void_p, c_char_p, POINTER(TextList), c_char_p, POINTER(c_void_p))
hosted_inspect = _function("embert_hosted_inspect", c_int, c_void_p, POINTER(c_void_p))
hosted_free = _function("embert_hosted_free", None, c_void_p)
hosted_convert = _function("embert_hosted_convert", c_int, POINTER(Conversion), POINTER(c_void_p))
hosted_verify = _function("embert_hosted_verify", c_int, c_void_p, c_char_p, POINTER(TextList), POINTER(c_void_p))
tokenize = _function("embert_tokenize", c_int, c_void_p, POINTER(TextOrPair), POINTER(TokenizeOptions), POINTER(Tokens))
token = _function("embert_token", c_int, c_void_p, c_uint32, POINTER(c_void_p), POINTER(c_size_t))
detokenize = _function(
    "embert_detokenize", c_int, c_void_p, c_void_p, c_size_t, POINTER(DetokenizeOptions), POINTER(TextBuffer)
)
status_name = _function("embert_status_name", c_char_p, c_int)


STATUS_OK = 0
STATUS_BUFFER_TOO_SMALL = 17


def check_status(status: int, what: str) -> None:
    """Raises ValueError for a status of the runtime that is not OK."""
    if status != STATUS_OK:
        raise ValueError(f"{what} ({status_name(status).decode()})")


def check(result: int) -> None:
    """Raises the exception of a call of this thread that failed."""
    if result != 0:
        raise exception_of(result, hosted_error().decode("utf-8", "replace"))


def take_json(pointer: c_void_p) -> str:
    """Returns the JSON of a call and frees the library's copy."""
    try:
        return ctypes.string_at(pointer).decode("utf-8")
    finally:
        hosted_free(pointer)
