# SPDX-License-Identifier: Apache-2.0
"""What the classes for a model share: open, close, pickle."""

import operator
import os
import threading
from typing import Any, Dict, Optional, Type, TypeVar, Union

from ._binding.errors import ModelFileError
from ._binding.handle import Handle
from ._folder_cache import model_file

StrPath = Union[str, "os.PathLike[str]"]
Self = TypeVar("Self", bound="Model")


class Model:
    """A model file, opened. Close it with `close()` or a `with` block, or leave it to Python.

    Any number of threads may use it at once. After a fork the child opens its own. A pickled model holds the path and the
    digest of the file; the other side opens the path again and refuses a file with another digest.
    """

    def __init__(
        self, path: StrPath, threads: Optional[int] = None, max_tokens: int = 0, cache_folder: Optional[StrPath] = None
    ) -> None:
        self._threads = 0 if threads is None else positive("threads", threads)
        self._source = os.path.abspath(checked_path(path))
        self._cache_folder = None if cache_folder is None else os.path.abspath(checked_path(cache_folder, "cache_folder"))
        self._digest: Optional[str] = None
        self._path = model_file(self._source, os.fspath(path), self._cache_folder)
        self._identity = _identity(self._path)
        self._handle = Handle(self._path, self._threads, max_tokens)
        self._swap = threading.RLock()

    @property
    def path(self) -> str:
        """The model file; of a Hugging Face folder the file that was made from it."""
        return self._path

    @property
    def threads(self) -> int:
        """How many texts are computed at the same time."""
        return self._handle.threads

    @property
    def digest(self) -> str:
        """SHA-256 of the model file, in hex."""
        if self._digest is None:
            if _identity(self._path) != self._identity:
                raise self._changed()
            self._digest = digest_of(self._path)
        return self._digest

    @property
    def info(self) -> Dict[str, Any]:
        """What `embert inspect --json` shows, but for sha256, which is `digest`."""
        return self._handle.info

    @property
    def closed(self) -> bool:
        return self._handle.closed

    def close(self) -> None:
        """Frees the model when the last call of another thread has ended. A second close does nothing."""
        with self._swap:  # or a thread that sets another length would open it again
            self._handle.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._path!r}, threads={self.threads})"

    def _set_max_tokens(self, max_tokens: int) -> None:
        """Opens the file again for texts of another length. The handle before is freed after the calls that use it."""
        with self._swap:
            if self.closed:
                raise RuntimeError(f"{self._path}: the model is closed")
            self._handle = self._opened_again(max_tokens)

    def _opened_again(self, max_tokens: int) -> Handle:
        """The path may name another file by now, or when the library opens it: both are refused."""
        if _identity(self._path) == self._identity:
            handle = Handle(self._path, self._threads, max_tokens)
            if _identity(self._path) == self._identity:
                return handle
            handle.close()
        raise self._changed()

    def _changed(self) -> ModelFileError:
        return ModelFileError(f"{self._path}: the file was changed after it was opened; open it again")

    def __getstate__(self) -> Dict[str, Any]:
        state = self.__dict__.copy()
        state["_digest"] = self.digest
        state["_max_tokens"] = self._handle.max_tokens
        for name in ("_handle", "_swap", "_path", "_identity"):
            del state[name]
        return state

    def __setstate__(self, state: Dict[str, Any]) -> None:
        max_tokens = state.pop("_max_tokens")
        self.__dict__.update(state)
        self._path = model_file(self._source, self._source, self._cache_folder)
        self._identity = _identity(self._path)
        found = digest_of(self._path)
        if found != self._digest:
            raise ModelFileError(
                f"{self._path}: the object was pickled with a model of SHA-256 {self._digest}, this file has {found}; "
                "put the same file there"
            )
        self._handle = self._opened_again(max_tokens)
        self._swap = threading.RLock()


def checked_path(path: object, name: str = "path") -> str:
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(text, str):
        raise TypeError(f"{name} is {path!r}: give a str or a pathlib.Path")
    if not text:
        raise ValueError(f"{name} is empty")  # os.path.abspath would make the current folder of it
    if "\0" in text:
        raise ValueError(f"{name} {text!r} has a zero character")  # the library would read the path up to it
    return text


def positive(name: str, value: Any) -> int:
    """Returns a number of at least 1; bool is none."""
    try:
        number = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise ValueError(f"{name}={value!r}: give a number from 1")
    return number


def digest_of(path: str) -> str:
    """SHA-256 of a file, in hex."""
    import hashlib

    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def _identity(path: str) -> Any:
    status = os.stat(path)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def require_task(model: Model, task: str, class_: Type[Any]) -> None:
    """Refuses a model without the task head that a class needs, and leaves it closed."""
    if task not in model.info["tasks"]:
        model.close()
        known = ", ".join(model.info["tasks"]) or "none"
        raise ValueError(f"{model.path}: {class_.__name__} needs a model that can {task}; this one can: {known}")
