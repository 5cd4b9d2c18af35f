# SPDX-License-Identifier: Apache-2.0
"""The model file of a path. A Hugging Face folder is converted once; its file stays in a cache, named by a digest of what the
folder holds."""

import errno
import os
import re
import sys
from typing import List, Optional, Tuple

from ._binding.errors import ModelFileError

_READ_FOR_CONVERSION = (".json", ".txt", ".safetensors", ".model")
_MOST_FILES = 10_000  # and folders
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")


def model_file(path: str, given: str, cache_folder: Optional[str]) -> str:
    """Returns the model file for `path`; `given` is what the user wrote."""
    if os.path.isdir(path):
        return _converted(path, cache_folder)
    if os.path.exists(path):
        if not os.access(path, os.R_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), given)
        return path
    raise no_such_file(given)


def no_such_file(given: str) -> FileNotFoundError:
    """The error for a path that does not exist; for what may be a name on the hub, how to get the folder."""
    if _HUB_NAME.fullmatch(given) and not given.endswith(".emb"):
        folder = given.rsplit("/", 1)[-1]
        return FileNotFoundError(
            errno.ENOENT,
            "no such file or folder, and embert uses no network; if this is a name on the Hugging Face hub, fetch the folder "
            f"with `huggingface-cli download {given} --local-dir {folder}` (newer: `hf download`) or git clone, "
            f'and give "{folder}"',
            given,
        )
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), given)


def cache_root(cache_folder: Optional[str]) -> str:
    """The argument, else the folder `embert` of XDG_CACHE_HOME, else ~/.cache/embert."""
    if cache_folder is not None:
        return cache_folder
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "embert")


def _converted(folder: str, cache_folder: Optional[str]) -> str:
    from ._convert import convert

    if not os.path.exists(os.path.join(folder, "config.json")):
        raise ModelFileError(f"{folder}: has no config.json; give a Hugging Face folder of a model, or a model file")
    root = cache_root(cache_folder)
    name = re.sub(r"[^\w.-]", "_", os.path.basename(folder)) or "model"
    path = os.path.join(root, f"{name}-{_folder_digest(folder)[:32]}.emb")
    if os.path.exists(path):
        return path
    os.makedirs(root, exist_ok=True)
    with _Lock(root):
        if not os.path.exists(path):  # the process that had the lock before may have made it
            if sys.stderr is not None:  # it is None where the file is closed
                print(f"embert: converting {folder} (once; the result stays in {path})", file=sys.stderr)
            convert(folder, path, show_progress_bar=sys.stderr is not None and sys.stderr.isatty())
    return path


class _Lock:
    """One conversion at a time: others wait for its result. The file appears whole and is the same from every process, so
    where a file system has no locks a conversion is at worst done twice."""

    def __init__(self, root: str) -> None:
        self._root = root

    def __enter__(self) -> None:
        import fcntl

        self._folder = os.open(self._root, os.O_RDONLY)
        try:
            fcntl.flock(self._folder, fcntl.LOCK_EX)
        except OSError:
            pass
        except BaseException:
            os.close(self._folder)
            raise

    def __exit__(self, *_: object) -> None:
        os.close(self._folder)


def _folder_digest(folder: str) -> str:
    """SHA-256 over this version of embert and the names and contents of the files that conversion may read."""
    import hashlib

    from . import __version__

    digest = hashlib.sha256(f"embert {__version__}\n".encode())
    for name in sorted(_files(folder)):
        path = os.path.join(folder, name)
        digest.update(f"{name}\n{os.path.getsize(path)}\n".encode("utf-8", "surrogateescape"))
        with open(path, "rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
    return digest.hexdigest()


def _files(folder: str) -> List[str]:
    """Files at any depth, because modules.json and the list of shards may name any path in the folder."""
    files: List[str] = []
    folders = [("", frozenset((_identity(os.stat(folder)),)))]  # with the identities of all folders on the way there
    for inside, above in folders:
        for entry in os.scandir(os.path.join(folder, inside)):
            name = inside + entry.name
            if entry.is_file() and name.endswith(_READ_FOR_CONVERSION):
                files.append(name)
            elif entry.is_dir() and _identity(entry.stat()) not in above:  # else a link that leads round in a circle
                folders.append((f"{name}/", above | {_identity(entry.stat())}))
        if len(files) + len(folders) > _MOST_FILES:
            raise ModelFileError(
                f"{folder}: has more than {_MOST_FILES:,} files and folders; give the folder of one model alone, "
                "or a file made with embert.convert"
            )
    return files


def _identity(status: os.stat_result) -> Tuple[int, int]:
    return status.st_dev, status.st_ino
