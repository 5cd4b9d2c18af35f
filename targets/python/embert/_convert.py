# SPDX-License-Identifier: Apache-2.0
"""Conversion of a Hugging Face folder, and comparison of a model with its folder."""

import ctypes
import errno
import json
import os
from typing import Any, Callable, Dict, Optional, Sequence, Union

from ._binding import library
from ._binding.errors import ModelFileError
from ._binding.handle import Handle, Texts, options_json
from ._binding.interrupt import Interruptible, is_main_thread
from ._binding.texts import as_list, pack
from ._folder_cache import no_such_file
from ._model import Model, StrPath, checked_path, positive
from ._progress import Bar, wanted

ProgressFunction = Callable[[str, float], None]


def convert(
    folder: StrPath,
    out: StrPath,
    *,
    calibration: Optional[StrPath] = None,
    calibration_ids: Optional[StrPath] = None,
    rounding: str = "gptq",
    embeddings: str = "8bit",
    precision: str = "balanced",
    layout: str = "n16k4",
    max_tokens: Optional[int] = None,
    keep_vocabulary: Optional[StrPath] = None,
    scripts: Optional[Sequence[str]] = None,
    vocabulary_size: Optional[int] = None,
    threads: Optional[int] = None,
    show_progress_bar: Optional[bool] = None,
    progress: Optional[ProgressFunction] = None,
) -> Dict[str, Any]:
    """Makes the model file `out` of a Hugging Face folder and returns the report of `embert convert --report`.

    The file appears whole or not at all; an existing one survives a conversion that fails. `calibration` is a file with texts,
    one a line (default: built-in text); `calibration_ids` one with token ids, for folders without tokenizer. `rounding` is
    "gptq" or "nearest" (fast). `embeddings` is "8bit" or "4bit": half the space for the word embeddings; the report has the cosine
    of both. `precision` is "balanced", "fast" (without its multiply-adds, at most 8 % more at 128 tokens) or "high" (about twice as many): how
    close to float32 the model is. `layout="n8k16"` is for processors with i8mm alone, whose kernels then need not reorder the
    weights; "n16k4" for all. `max_tokens` is the default length of a text. `progress(stage, done)` is called with a name
    such as "calibrate" and 0..1; what it raises ends the conversion. The bytes of the file do not depend on `threads`.

    Of a vocabulary that is too large for a board, these tokens stay: with `keep_vocabulary` those that the texts of a file
    use, one a line; with `scripts` those of Unicode scripts, such as ["Latin", "Cyrillic"]; with `vocabulary_size` so many,
    the most frequent ones first. A text of kept tokens has the same vector as before.
    """
    if isinstance(scripts, str):
        raise TypeError('scripts is a string: give a list, such as ["Latin"]')
    options: Dict[str, Any] = {"rounding": rounding, "embeddings": embeddings, "precision": precision, "layout": layout}
    for name, value in (
        ("calibration", calibration),
        ("calibration-ids", calibration_ids),
        ("keep-vocabulary", keep_vocabulary),
    ):
        if value is not None:
            options[name] = _existing_file(value)
    for name, number in (("max-tokens", max_tokens), ("vocabulary-size", vocabulary_size), ("threads", threads)):
        if number is not None:
            options[name] = positive(name.replace("-", "_"), number)
    if scripts is not None:
        options["scripts"] = list(scripts)
    source = _existing_folder(folder)
    is_shown = wanted(show_progress_bar)
    bar = Bar("Converting", is_shown)
    interruptible = Interruptible()

    def stage(_context: Optional[int], name: bytes, done: float) -> int:
        def report() -> None:
            bar.show(done, 1.0, name.decode())
            if progress is not None:
                progress(name.decode(), done)

        return interruptible.step(report)

    conversion = library.Conversion(
        size=ctypes.sizeof(library.Conversion),
        folder=os.fsencode(source),
        output=os.fsencode(checked_path(out)),
        options=options_json(options),
    )
    if is_shown or progress is not None or is_main_thread():
        conversion.progress = library.STAGE(stage)
    report_text = ctypes.c_void_p()
    try:
        interruptible.run(lambda: library.hosted_convert(ctypes.byref(conversion), ctypes.byref(report_text)))
    except ModelFileError as error:
        raise ModelFileError(f"{source}: {error}") from None  # the converter names files of the folder
    finally:
        bar.end()
    return json.loads(library.take_json(report_text))  # type: ignore[no-any-return]


def inspect(path: StrPath) -> Dict[str, Any]:
    """Returns what `embert inspect --json` shows of a model file, but for sha256: sizes, tokenizer, tasks, labels, prompts, memory."""
    text = checked_path(path)
    if not os.path.exists(text):
        raise no_such_file(text)
    handle = Handle(text, 1, 0)
    try:
        return handle.inspect()
    finally:
        handle.close()


def verify(
    model: Union[Model, StrPath],
    folder: StrPath,
    texts: Sequence[str],
    *,
    threads: Optional[int] = None,
    show_progress_bar: Optional[bool] = None,
) -> Dict[str, Any]:
    """Compares a model with the float32 model of its folder on texts; returns what `embert verify --json` shows."""
    source = _existing_folder(folder)
    if not isinstance(model, Model):
        with Model(model, threads=threads) as opened:
            return verify(opened, source, texts, show_progress_bar=show_progress_bar)
    items, _ = as_list(texts, "texts")
    if not items:
        raise ValueError("texts is empty: give texts to compare on")
    json_text = ctypes.c_void_p()
    is_shown = wanted(show_progress_bar)
    bar = Bar("Comparing", is_shown)
    try:
        model._handle.run(
            Texts(pack(items, "texts")),
            lambda pointer, struct: int(library.hosted_verify(pointer, os.fsencode(source), struct, ctypes.byref(json_text))),
            (lambda done, total: bar.show(done, total, f"{done:,}/{total:,}")) if is_shown else None,
        )
    finally:
        bar.end()
    return json.loads(library.take_json(json_text))  # type: ignore[no-any-return]


def _existing_folder(folder: StrPath) -> str:
    path = checked_path(folder)
    if os.path.isdir(path):
        return path
    if os.path.exists(path):
        raise NotADirectoryError(errno.ENOTDIR, "a Hugging Face folder with config.json and model.safetensors is needed", path)
    raise no_such_file(path)


def _existing_file(file: StrPath) -> str:
    path = checked_path(file)
    if not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    return path
