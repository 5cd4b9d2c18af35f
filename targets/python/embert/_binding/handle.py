# SPDX-License-Identifier: Apache-2.0
"""An opened model of the library, freed after its last call."""

import ctypes
import json
import math
import os
import threading
from typing import Any, Callable, Dict, List, Optional

import numpy as np

from . import library
from .interrupt import Interruptible, is_main_thread
from .texts import Packed, check_text

# The library's limit for the texts of one pass. More would change memory only.
MOST_TEXTS_OF_A_PASS = 1024
_MOST_UINT32 = 0xFFFFFFFF


class Texts:
    """Arguments of a call with many texts."""

    def __init__(self, texts: Packed, pairs: Optional[Packed] = None, batch_size: int = 0) -> None:
        self._keep_alive = (texts, pairs)
        self.count = len(texts[1]) - 1
        self.struct = library.TextList(size=ctypes.sizeof(library.TextList), count=self.count)
        self.struct.bytes, self.struct.offsets = texts[0], texts[1].ctypes.data
        if pairs is not None:
            self.struct.pair_bytes, self.struct.pair_offsets = pairs[0], pairs[1].ctypes.data
        self.struct.batch = min(batch_size, MOST_TEXTS_OF_A_PASS)


def options_json(options: Dict[str, Any]) -> bytes:
    """Options as the library reads them. Refuses values that JSON does not have; takes numbers of numpy."""
    plain = {}
    for name, value in options.items():
        argument = name.replace("-", "_")
        is_list = isinstance(value, list)
        plain[name] = [_plain(argument, item) for item in value] if is_list else _plain(argument, value)
    return json.dumps(plain).encode()


def _plain(argument: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        check_text(value, argument)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{argument}={value}: give a finite number")
    return value


class Handle:
    """Any number of threads may call it. `close` returns at once; calls that still run go on, and the last one frees the model."""

    def __init__(self, path: str, threads: int, max_tokens: int) -> None:
        self._pointer = ctypes.c_void_p()
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._calls = 0
        self._closed = False
        self.path = path
        # Workers of one host share the pages of the file, which a new version replaces by a rename.
        options = library.OpenOptions(size=ctypes.sizeof(library.OpenOptions), map=1)
        # ctypes would drop the higher bits. The library uses no more threads than processors, and refuses so many tokens.
        options.threads, options.max_tokens = min(threads, _MOST_UINT32), min(max_tokens, _MOST_UINT32)
        Interruptible().run(lambda: library.hosted_open(os.fsencode(path), ctypes.byref(options), ctypes.byref(self._pointer)))
        self.threads: int = library.hosted_threads(self._pointer)
        self.max_tokens: int = library.hosted_max_tokens(self._pointer)
        # Callers get this dict and may change it, so num_labels is kept apart.
        self.info = self.inspect()
        # `hosted_score` takes no size of the array and writes so many scores for a text.
        self.num_labels = len(self.info["labels"])

    def __enter__(self) -> ctypes.c_void_p:
        if os.getpid() != self._process:
            raise RuntimeError(
                f"{self.path}: the model was opened before a fork and cannot be used in the child; open it in the child, "
                'or start processes with multiprocessing\'s "spawn" or "forkserver"'
            )
        with self._lock:
            if self._closed:
                raise RuntimeError(f"{self.path}: the model is closed")
            self._calls += 1
        return self._pointer

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._calls -= 1
            is_last = self._closed and self._calls == 0
        if is_last:
            self._free()

    def close(self) -> None:
        if os.getpid() != self._process:
            return  # the threads are the parent's
        with self._lock:
            is_last = not self._closed and self._calls == 0
            self._closed = True
        if is_last:
            self._free()

    @property
    def closed(self) -> bool:
        return self._closed

    def _free(self) -> None:
        library.hosted_close(self._pointer)
        self._pointer = ctypes.c_void_p()

    def __del__(self) -> None:
        if getattr(self, "_closed", True) is False and self._pointer:
            self.close()

    def run(
        self, texts: Texts, call: Callable[[ctypes.c_void_p, Any], int], report: Optional[Callable[[int, int], None]] = None
    ) -> None:
        """Calls `call(model, texts)` with a progress function: it calls `report(done, total)`, and lets Ctrl-C end the call."""
        interruptible = Interruptible()

        def progress(_context: Optional[int], done: int, total: int) -> int:
            return interruptible.step(lambda: report(done, total) if report else None)

        if report is not None or is_main_thread():
            texts.struct.progress = library.PROGRESS(progress)
        with self as pointer:
            interruptible.run(lambda: call(pointer, ctypes.byref(texts.struct)))

    def run_task(self, task: str, texts: Texts, options: Dict[str, Any]) -> List[Dict[str, Any]]:
        """Runs a task of the tool; returns an object for each text."""
        json_text = ctypes.c_void_p()
        option_text = options_json(options)
        self.run(
            texts,
            lambda model, struct: int(
                library.hosted_run_task(model, task.encode(), struct, option_text, ctypes.byref(json_text))
            ),
        )
        return json.loads(library.take_json(json_text))  # type: ignore[no-any-return]

    def inspect(self) -> Dict[str, Any]:
        json_text = ctypes.c_void_p()
        with self as pointer:
            library.check(library.hosted_inspect(pointer, ctypes.byref(json_text)))
        return json.loads(library.take_json(json_text))  # type: ignore[no-any-return]
